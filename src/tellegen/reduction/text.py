"""A reduction as text: the reduced equations, the transformation, what stands for what was removed, and what was lost."""

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tellegen.equations.display import Sign, Term, vanishes
from tellegen.equations.latex import equations_to_latex, relation_to_latex
from tellegen.equations.text import equations_to_text, relation_to_text
from tellegen.equations.text_rows import NO_UNITS, WIDTH
from tellegen.expressions import Expression, to_text
from tellegen.expressions.entries import used_names

if TYPE_CHECKING:
    from tellegen.reduction.reduction import Reduction


def reduction_to_text(
    reduction: "Reduction",
    *,
    sign: Sign = "-",
    width: int = WIDTH,
    unicode: bool = True,
    units: Mapping[str, str] = NO_UNITS,
) -> str:
    """The reduced equations, then x = T z + T_u u, the variables that were removed, the poles and the findings."""
    equations = equations_to_text(reduction.equations, sign=sign, width=width, unicode=unicode, units=units)
    needed = used_names([*reduction.recovered.values(), *_entries(reduction)], reduction.where)
    new = {name: e for name, e in reduction.where.items() if name in needed}
    parts = [equations.rstrip(), _limits(reduction), _transformation(reduction, width, unicode)]
    parts += [_block("removed", {**reduction.recovered, **new}, width), _poles(reduction)]
    parts += [str(finding) for finding in reduction.findings]
    return "\n\n".join(part for part in parts if part) + "\n"


def reduction_to_latex(reduction: "Reduction", *, sign: Sign = "-", environment: str = "align*") -> tuple[str, ...]:
    """The reduced equations and x = T z + T_u u, each in an amsmath environment."""
    equations = equations_to_latex(reduction.equations, sign=sign, environment=environment)
    if not _terms(reduction):
        return (equations,)
    names = used_names(_entries(reduction), reduction.glossary.where)
    where = {name: e for name, e in reduction.glossary.where.items() if name in names}
    return equations, relation_to_latex(reduction.full_states, _terms(reduction), where, environment=environment)


def _entries(reduction: "Reduction") -> list[Expression]:
    return [e for M in (reduction.transformation, reduction.input_transformation) for row in M for e in row]


def _terms(reduction: "Reduction") -> tuple[Term, ...]:
    """T z + T_u u, without what is zero."""
    small = reduction.equations
    terms = (
        Term(False, "T", "z", False, reduction.transformation, small.states),
        Term(False, "T_u", "u", False, reduction.input_transformation, small.inputs),
    )
    return tuple(term for term in terms if term.factors and not vanishes(term.rows))


def _transformation(reduction: "Reduction", width: int, unicode: bool) -> str:
    terms = _terms(reduction)
    if not terms:
        return ""
    sum_of_terms = " + ".join(f"{term.matrix} {term.vector}" for term in terms)
    title = f"x = {sum_of_terms}   (x the full states{', z those kept' if terms[0].matrix == 'T' else ''})"
    relation = relation_to_text(reduction.full_states, terms, width=width, unicode=unicode)
    return "\n\n".join([title, relation, *_by_rates(reduction)])


def _by_rates(reduction: "Reduction") -> list[str]:
    """What the rows of constraint forces are: these are no sums of states."""
    names = [name for name in reduction.full_states if name in reduction.constraints.wanted]
    if not names:
        return []
    follow = "follows from rates: its row is free" if len(names) == 1 else "follow from rates: their rows are free"
    return [f"{', '.join(names)} {follow}, and zero where it may be"]


def _limits(reduction: "Reduction") -> str:
    kept, frozen = reduction.equations.states, set(reduction.equations.inputs)
    gone = [name for name in reduction.full_states if name not in kept]
    lines = [
        f"limits         {', '.join(map(str, reduction.limits))}",
        f"full states    {', '.join(reduction.full_states) or '(none)'}",
        f"states kept    {', '.join(kept) or '(none)'}",
    ]
    still = [name for name in gone if name in frozen]
    lines += [f"frozen         {', '.join(still)}"] if still else []
    gone = [name for name in gone if name not in frozen]
    lines += [f"removed        {', '.join(gone)}"] if gone else []
    lines += [f"indeterminate  {', '.join(reduction.indeterminate)}"] if reduction.indeterminate else []
    return "\n".join(lines)


def _block(title: str, names: Mapping[str, Expression], width: int) -> str:
    if not names:
        return ""
    lines = [
        "\n".join(textwrap.wrap(f"{name} = {to_text(e)}", width, initial_indent="  ", subsequent_indent=" " * 6))
        for name, e in names.items()
    ]
    return "\n".join([title, *lines])


def _poles(reduction: "Reduction") -> str:
    account = reduction.account
    rows = {"removed": account.removed_poles, "kept": account.kept_poles, "reduced": account.reduced_poles}
    lines = [f"  {word:<8} {_written(poles)}" for word, poles in rows.items() if poles]
    return "\n".join(["poles (rad/s)", *lines]) if lines else ""


def _written(poles: tuple[complex, ...]) -> str:
    texts = []
    for pole in poles:
        if pole.imag > 0:
            texts.append(f"{pole.real + 0.0:.5g} ± {pole.imag:.5g}j")
        elif pole.imag == 0:
            texts.append(f"{pole.real + 0.0:.5g}")  # a zero without a sign
    return ", ".join(texts)
