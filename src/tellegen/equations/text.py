"""Equations as text for terminals, laid out as papers write them."""

from collections.abc import Iterable, Mapping, Sequence

from tellegen.equations.display import (
    Sides,
    Sign,
    Term,
    output_equation,
    readings,
    state_equation,
    summaries,
)
from tellegen.equations.readable_forms import (
    Equations,
    SparseForm,
    TransferForm,
)
from tellegen.equations.text_blocks import equation_text
from tellegen.equations.text_rows import (
    NO_UNITS,
    WIDTH,
    entries_by_row,
    indented,
    joining_sign,
    lists_of_names,
    named_block,
    parameters_to_text,
    prime_of,
    products,
    row_count,
    signals_block,
    sum_text,
    wrapped,
)
from tellegen.expressions import ZERO, to_text


def equations_to_text(
    equations: Equations,
    *,
    sign: Sign = "-",
    width: int = WIDTH,
    unicode: bool = True,
    units: Mapping[str, str] = NO_UNITS,
) -> str:
    """The equations with matrices in brackets, then names, energy, what the names stand for, and the parameters.

    `unicode` off keeps to ASCII; `units` gives SI units of parameters and variables where they are known. Matrices
    wider than `width`, or of more than a dozen states, are written as one equation a row.
    """
    parts = [equations.name, indented(_form(equations, sign))]
    if equations.states:
        parts.append(equation_text(state_equation(equations, sign), equations.states, "", width, unicode))
    if equations.outputs:
        parts.append(equation_text(output_equation(equations), equations.outputs, "y", width, unicode))
    parts.append(named_block("measured", readings(equations), width))
    parts.append(lists_of_names(equations, units))
    parts.append("\n".join(wrapped(f"{name} = {to_text(e)}", width, "") for name, e in summaries(equations)))
    parts.append(named_block("displacements", {f"{n}'": e for n, e in equations.displacements.items()}, width))
    parts.append(named_block("dependent storages", equations.dependent, width))
    if equations.algebraic.unknowns:
        parts.append(f"unknowns  {', '.join(equations.algebraic.unknowns)}")
        parts.append("\n".join(wrapped(f"0 = {to_text(e)}", width, "") for e in equations.algebraic.residuals))
    parts.append(signals_block(equations.signals, width))
    parts.append(named_block("where", equations.where, width))
    parts.append(parameters_to_text(equations.parameters, equations.values(), units))
    return "\n\n".join(part for part in parts if part) + "\n"


def relation_to_text(names: Sequence[str], terms: Sequence[Term], *, width: int = WIDTH, unicode: bool = True) -> str:
    """Variables as a sum of matrices times vectors: `x = T z + T_u u`."""
    return equation_text(Sides((), tuple(terms)), names, "x", width, unicode)


def descriptor_to_text(form: SparseForm, *, width: int = WIDTH) -> str:
    """The descriptor form, one equation a row."""
    general = "E w' = F w + G u" + (" + h" if form.h else "") + ",   y = H w" + (" + D u" if form.D else "")
    left, right, inputs = (entries_by_row(m) for m in (form.E, form.F, form.G))
    lines = []
    for k in range(row_count(form)):
        rates = sum_text([(e, f"{form.unknowns[j]}'") for j, e in left.get(k, ())])
        terms = [*products(right.get(k, ()), form.unknowns), *products(inputs.get(k, ()), form.inputs)]
        lines.append(wrapped(f"{rates} = {sum_text(terms, form.h.get(k, ZERO))}", width))
    reading, direct = entries_by_row(form.H), entries_by_row(form.D)
    for k, name in enumerate(form.outputs):
        terms = [*products(reading.get(k, ()), form.unknowns), *products(direct.get(k, ()), form.inputs)]
        lines.append(wrapped(f"{name} = {sum_text(terms)}", width))
    names = [("unknowns (w)", form.unknowns), ("inputs (u)", form.inputs), ("outputs (y)", form.outputs)]
    listed = "\n".join(wrapped(f"{title}  {', '.join(given)}", width, "") for title, given in names if given)
    return "\n\n".join([form.name, indented(general), "\n".join(lines), listed]) + "\n"


def transfer_to_text(form: TransferForm, *, width: int = WIDTH) -> str:
    """The transfer matrix, one line an entry: output over input."""
    s = form.variable
    parts = [form.name, indented(f"y({s}) = G({s}) u({s})")]
    lines = [
        wrapped(f"{output}/{given} = {to_text(e)}", width)
        for output, row in zip(form.outputs, form.entries, strict=True)
        for given, e in zip(form.inputs, row, strict=True)
    ]
    parts += ["\n".join(lines), named_block("where", form.where, width)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _form(equations: Equations, sign: Sign) -> str:
    written = []
    if equations.states:
        sides = state_equation(equations, sign)
        written.append(f"{_letters(sides.left)} = {_letters(sides.right)}")
    if equations.outputs:
        written.append(f"y = {_letters(output_equation(equations).right)}")
    return ",   ".join(written)


def _letters(terms: Iterable[Term]) -> str:
    text = ""
    for term in terms:
        letter = term.matrix if term.alone else f"{term.matrix} {term.vector}{prime_of(term)}"
        text += joining_sign(text, term.negative) + letter
    return text
