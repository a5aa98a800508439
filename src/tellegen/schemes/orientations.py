"""The equivalent schemes of one model: as it is, with one loop or one input path inverted, and each of them upside-down."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import other_side
from tellegen.core.errors import GraphError
from tellegen.core.names import did_you_mean
from tellegen.schemes import rules
from tellegen.schemes.inversion import invert_path
from tellegen.schemes.loops import elementary_loops
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.rewriting import Rewriting
from tellegen.schemes.sign_changes import change_sign
from tellegen.schemes.signal_paths import SignalPath, port_paths, read_path

MOST_LOOPS = 200


@final
@dataclass(frozen=True, slots=True)
class Orientation:
    """One way to draw a scheme. Where its path may not be inverted there is no scheme, and `why_not` tells the reason."""

    path: str
    signals: tuple[str, ...]
    scheme: PogScheme | None
    why_not: str = ""

    @property
    def upside_down(self) -> PogScheme | None:
        """The same with the upper and lower line exchanged."""
        return None if self.scheme is None else flip(self.scheme).scheme

    def __str__(self) -> str:
        return f"{self.path}: {self.why_not or 'may be drawn'}"


def orientations(scheme: PogScheme, *, most: int = MOST_LOOPS) -> tuple[Orientation, ...]:
    """The scheme itself, then what the inversion of each loop and of each path from an input to its own output gives.

    Two connected elements have four: as they are, with the inner loop inverted, with the path of the left section, with that of the
    right one. A storage allows none that would put it into derivative causality.

    Raises: GraphError (G208) when there are more than `most` loops.
    """
    first = Orientation("as it is", (), scheme)
    return (first, *(_orientation(scheme, name, path) for name, path in _candidates(scheme, most)))


def _candidates(scheme: PogScheme, most: int) -> Iterator[tuple[str, SignalPath]]:
    for loop in elementary_loops(scheme, most=most):
        path = read_path(scheme, loop)
        names = dict.fromkeys(block.element for block in path.blocks)
        yield f"loop through {', '.join(names)}", path
    for name, path in port_paths(scheme):
        yield f"path from {name} to {path.signals[-1]}", path


def _orientation(scheme: PogScheme, name: str, path: SignalPath) -> Orientation:
    try:
        return Orientation(name, path.signals, invert_path(scheme, path.signals).scheme)
    except GraphError as problem:
        return Orientation(name, path.signals, None, f"{problem.what}; {problem.finding.why}")


def flip(scheme: PogScheme) -> Rewriting:
    """The scheme upside-down: what was on the upper line is on the lower one."""
    sections = {name: replace(s, upper=other_side(s.upper)) for name, s in scheme.sections.items()}
    return Rewriting(replace(scheme, sections=sections), "turned upside-down")


def switch_signs(scheme: PogScheme, summation: str) -> Rewriting:
    """The scheme with all signs of a summation switched, that of its output too, which counts the other way from there on.

    Raises: GraphError (G206) where no summation has this output.
    """
    if summation not in scheme.summations:
        known = list(scheme.summations)
        fix = did_you_mean(summation, known) or f"the summations give {', '.join(known[:20]) or 'nothing'}"
        raise rules.NO_SUCH_SIGNAL.error(f"no summation gives '{summation}'", where=summation, fix=fix)
    account = f"switched all signs of the summation of {summation}"
    return Rewriting(change_sign(scheme, [summation]).scheme, account)
