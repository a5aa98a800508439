"""A reduction as text for terminals: the reduced equations, what stands for what was removed, and what was lost."""

import textwrap
from collections.abc import Mapping

from tellegen.equations.display import Sign
from tellegen.equations.text import NO_UNITS, WIDTH, equations_to_text
from tellegen.expressions import Expression, to_text
from tellegen.expressions.entries import used_names
from tellegen.reduction.reduction import Reduction


def reduction_to_text(
    reduction: Reduction,
    *,
    sign: Sign = "-",
    width: int = WIDTH,
    unicode: bool = True,
    units: Mapping[str, str] = NO_UNITS,
) -> str:
    """The reduced equations, then the variables that were removed, the poles and the findings."""
    equations = equations_to_text(reduction.equations, sign=sign, width=width, unicode=unicode, units=units)
    needed = used_names(reduction.recovered.values(), reduction.where)
    new = {name: e for name, e in reduction.where.items() if name in needed}
    parts = [equations.rstrip(), _limits(reduction), _block("removed", {**reduction.recovered, **new}, width)]
    parts += [_poles(reduction), *map(str, reduction.findings)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _limits(reduction: Reduction) -> str:
    lines = [f"limits       {', '.join(map(str, reduction.limits))}"]
    lines.append(f"full states  {', '.join(reduction.full_states)}")
    if reduction.indeterminate:
        lines.append(f"indeterminate  {', '.join(reduction.indeterminate)}")
    return "\n".join(lines)


def _block(title: str, names: Mapping[str, Expression], width: int) -> str:
    if not names:
        return ""
    lines = [
        "\n".join(textwrap.wrap(f"{name} = {to_text(e)}", width, initial_indent="  ", subsequent_indent=" " * 6))
        for name, e in names.items()
    ]
    return "\n".join([title, *lines])


def _poles(reduction: Reduction) -> str:
    account = reduction.account
    rows = {"removed": account.removed_poles, "kept": account.kept_poles, "reduced": account.reduced_poles}
    lines = [f"  {word:<8} {_written(poles)}" for word, poles in rows.items() if poles]
    return "\n".join(["poles (rad/s)", *lines]) if lines else ""


def _written(poles: tuple[complex, ...]) -> str:
    texts = []
    for pole in poles:
        if pole.imag > 0:
            texts.append(f"{pole.real:.5g} ± {pole.imag:.5g}j")
        elif pole.imag == 0:
            texts.append(f"{pole.real:.5g}")
    return ", ".join(texts)
