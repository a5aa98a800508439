"""Causality in every combination of modes."""

from collections.abc import Iterator
from itertools import product
from math import prod

from tellegen.causality import rules
from tellegen.causality.assignment import assign_causality
from tellegen.core.errors import CausalityError, Finding
from tellegen.graph import PowerGraph

MOST_COMBINATIONS = 64
"""So many combinations of modes are tried beforehand; a run meets only a few of them anyway."""


def combinations(graph: PowerGraph) -> Iterator[dict[str, str]]:
    """All combinations of modes, that of the start first."""
    names = [graph.ports[k].element for k in graph.switching]
    for words in product(*(law.modes for law in graph.switching.values())):
        yield dict(zip(names, words, strict=True))


def impossible_modes(graph: PowerGraph) -> list[Finding]:
    """A notice for each reason why modes exclude each other, where there are few enough combinations to try them all."""
    if not graph.switching or prod(len(law.modes) for law in graph.switching.values()) > MOST_COMBINATIONS:
        return []
    found: dict[str, Finding] = {}
    for mode in combinations(graph):
        try:
            assign_causality(graph.in_mode(mode))
        except CausalityError as error:
            for finding in error.findings:
                notice = _notice(finding, mode)
                found.setdefault(notice.what, notice)
    return list(found.values())


def _notice(finding: Finding, mode: dict[str, str]) -> Finding:
    """The error as a notice that says in which modes the other elements are."""
    named = [name for name in finding.members if name in mode and name != finding.where]
    if not named and finding.where not in mode:
        named = list(mode)
    state = " and ".join(f"'{name}' is '{mode[name]}'" for name in named)
    what = f"{finding.what}, while {state}" if named else finding.what
    return rules.IMPOSSIBLE_MODE.finding(what, where=finding.where, place=finding.place, members=finding.members)
