"""Forms of equations and their derivations as plain text for terminals, laid out as papers write them."""

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tellegen.equations.printing.explanation import (
    AlgebraicLoop,
    CausalPath,
    ExplainedEntry,
    Item,
    NamedFormula,
    Sentence,
    ShownMatrix,
)
from tellegen.equations.printing.terms import (
    EquationSides,
    HamiltonianForm,
    MatrixSum,
    MatrixTerm,
    ReadableEquations,
    ReadableExplanation,
    ReadableSignals,
    Sign,
    SignedMatrix,
    SparseForm,
    SparseRows,
    TransferForm,
    energy_functions,
    hamiltonian_output,
    hamiltonian_state,
    measured_formulas,
    output_equation,
    signal_lines,
    state_equation,
    summaries,
)
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Add, Expression, to_text, total

WIDTH = 100
"""How wide a printout is where nobody says."""

NO_UNITS: Mapping[str, str] = {}


def parameters_to_text(
    parameters: Mapping[str, Expression | None], values: Mapping[str, float], units: Mapping[str, str] = NO_UNITS
) -> str:
    """A table of the parameters: name, value in SI units, unit, formula; a dash for a value that is left open."""
    if not parameters:
        return ""
    rows = []
    for name, expression in parameters.items():
        value = f"{values[name]:.12g}" if name in values else "-"
        formula = f"= {to_text(expression)}" if expression is not None and expression.free_symbols else ""
        rows.append((name, value, units.get(name, ""), formula))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(["parameters", *(f"  {line}" for line in lines)])


def joining_sign(before: str, negative: bool) -> str:
    """The sign between what was written and the next term."""
    if not before:
        return "-" if negative else ""
    return " - " if negative else " + "


def prime_of(term: MatrixTerm) -> str:
    """The prime of a derivative, where the term has one."""
    return "'" if term.dotted else ""


def rates_block(displacements: Mapping[str, Expression], width: int) -> str:
    """What the displacements change with."""
    return named_block("displacements", {f"{name}'": e for name, e in displacements.items()}, width)


def signals_block(signals: ReadableSignals, width: int) -> str:
    """The formulas of signals and of their states."""
    lines = []
    for name, is_rate, word, inside in signal_lines(signals):
        texts = ", ".join(map(to_text, inside))
        left = f"{name}'" if is_rate else name
        lines.append(wrapped(f"{left} = {f'{word}({texts})' if word else texts}", width))
    return "\n".join(["signals", *lines]) if lines else ""


def lists_of_names(equations: ReadableEquations | HamiltonianForm, units: Mapping[str, str]) -> str:
    """States, inputs and outputs with their units."""
    titles = {"states (x)": equations.states, "inputs (u)": equations.inputs, "outputs (y)": equations.outputs}
    lines = []
    for title, names in titles.items():
        if names:
            shown = ", ".join(f"{name} [{units[name]}]" if units.get(name) else name for name in names)
            lines.append(wrapped(f"{title.ljust(11)}  {shown}", WIDTH, ""))
    return "\n".join(lines)


def named_block(title: str, names: Mapping[str, Expression], width: int) -> str:
    """Names with their formulas under a title; nothing without names."""
    if not names:
        return ""
    return "\n".join([title, *(wrapped(f"{name} = {to_text(e)}", width) for name, e in names.items())])


def indented(text: str) -> str:
    """The text two columns further in."""
    return textwrap.indent(text, "  ")


def wrapped(text: str, width: int, indent: str = "  ", hanging: int = 6) -> str:
    """Lines no wider than asked where spaces allow it; what follows the first is set in."""
    return textwrap.fill(
        text,
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def row_text(terms: Iterable[MatrixTerm], k: int) -> str:
    """Row k of a sum of matrices times vectors."""
    text = ""
    for term in terms:
        if term.alone:
            text = append_term(text, term.rows[k][0], "", term.negative)
            continue
        for entry, factor in zip(term.rows[k], term.factors, strict=True):
            text = append_term(text, entry, f"{factor}{prime_of(term)}", term.negative)
    return text or "0"


def sum_text(terms: Iterable[tuple[Expression, str]], rest: Expression = ZERO) -> str:
    """A sum of entries times names."""
    text = ""
    for entry, factor in terms:
        text = append_term(text, entry, factor, False)
    return append_term(text, rest, "", False) or "0"


def append_term(text: str, entry: Expression, factor: str, negative: bool) -> str:
    """The sum with one more term, its sign in front."""
    if entry is ZERO:
        return text
    written = to_text(entry)
    if isinstance(entry, Add) and (factor or negative):
        written = f"({written})"
    elif written.startswith("-"):
        written, negative = written[1:], not negative
    if factor and entry in (ONE, MINUS_ONE):
        written = factor
    elif factor and written.startswith("1/"):
        written = f"{factor}{written[1:]}"
    elif factor:
        written = f"{written}*{factor}"
    return text + joining_sign(text, negative) + written


def products(row: Iterable[tuple[int, Expression]], names: Sequence[str]) -> list[tuple[Expression, str]]:
    """The entries of a row with the names that they multiply."""
    return [(e, names[j]) for j, e in row]


def entries_by_row(matrix: SparseRows) -> dict[int, list[tuple[int, Expression]]]:
    """The entries of a sparse matrix, row by row."""
    rows: dict[int, list[tuple[int, Expression]]] = {}
    for (i, j), e in sorted(matrix.items(), key=lambda item: item[0]):
        rows.setdefault(i, []).append((j, e))
    return rows


def row_count(form: SparseForm) -> int:
    """How many equations a sparse form has."""
    filled = [i for m in (form.E, form.F, form.G) for i, _ in m]
    return max([*filled, *form.h], default=-1) + 1


MOST_STATES = 12
"""Beyond this width, or so many states, equations are written row by row instead of with matrices."""

_BRACKETS = {True: ("⎡⎢⎣", "⎤⎥⎦"), False: ("[[[", "]]]")}


class TextBlock(NamedTuple):
    """Lines of equal width, joined to others by their middle line."""

    lines: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many columns it takes."""
        return len(self.lines[0]) if self.lines else 0


def equation_text(sides: EquationSides, names: Sequence[str], head: str, width: int, unicode: bool) -> str:
    """The equation with matrices; with each matrix by itself where that is too wide; row by row where even that is."""
    widest = max((len(term.factors) for term in (*sides.left, *sides.right)), default=0)
    if max(len(names), widest) <= MOST_STATES:
        whole = beside(_blocks_of(sides, names, head, unicode))
        if whole.width + 2 <= width:
            return indented(text_of_block(whole))
        single = [named_matrix(term, unicode) for term in (*sides.left, *sides.right)]
        if all(block.width + 2 <= width for block in single):
            return indented("\n\n".join(text_of_block(beside(group)) for group in fitting_groups(single, width - 2)))
    return "\n".join(row_equations(sides, names, head, width))


def _blocks_of(sides: EquationSides, names: Sequence[str], head: str, unicode: bool) -> list[TextBlock]:
    left = [vector_block(names, unicode)] if head else _terms(sides.left, unicode)
    return [*left, word_block(" = "), *_terms(sides.right, unicode)]


def _terms(terms: Iterable[MatrixTerm], unicode: bool) -> list[TextBlock]:
    blocks: list[TextBlock] = []
    for term in terms:
        sign = ("-" if term.negative else "") if not blocks else (" - " if term.negative else " + ")
        if sign:
            blocks.append(word_block(sign))
        blocks.append(_matrix(term, unicode))
        if not term.alone:
            blocks += [word_block(" "), vector_block([f"{name}{prime_of(term)}" for name in term.factors], unicode)]
    return blocks


def _matrix(term: MatrixTerm, unicode: bool) -> TextBlock:
    return bracketed([[to_text(e) for e in row] for row in term.rows], unicode)


def vector_block(names: Iterable[str], unicode: bool) -> TextBlock:
    """Names in a tall bracket."""
    return bracketed([[name] for name in names], unicode)


def named_matrix(term: MatrixTerm, unicode: bool) -> TextBlock:
    """A matrix behind its letter: `A = [...]`."""
    return beside([word_block(f"{term.matrix} = "), _matrix(term, unicode)])


def bracketed(cells: Sequence[Sequence[str]], unicode: bool) -> TextBlock:
    """Cells in tall brackets, columns under each other."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.center(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
    if len(lines) < 2:
        return TextBlock(tuple(f"[{line}]" for line in lines) or ("[]",))
    opening, closing = _BRACKETS[unicode]
    last = len(lines) - 1
    edge = [0 if k == 0 else 2 if k == last else 1 for k in range(len(lines))]
    return TextBlock(tuple(f"{opening[e]} {line} {closing[e]}" for e, line in zip(edge, lines, strict=True)))


def word_block(text: str) -> TextBlock:
    """A text of one line."""
    return TextBlock((text,))


def beside(blocks: Sequence[TextBlock]) -> TextBlock:
    """Blocks beside each other, their middles in one line."""
    height = max(len(block.lines) for block in blocks)
    middle = (height - 1) // 2
    columns = []
    for block in blocks:
        above = middle - (len(block.lines) - 1) // 2
        below = height - above - len(block.lines)
        blank = " " * block.width
        columns.append([*[blank] * above, *block.lines, *[blank] * below])
    return TextBlock(tuple("".join(parts) for parts in zip(*columns, strict=True)))


def fitting_groups(blocks: Iterable[TextBlock], width: int) -> list[list[TextBlock]]:
    """As many blocks side by side as fit."""
    gap = word_block("    ")
    lines: list[list[TextBlock]] = []
    for block in blocks:
        if lines and sum(b.width for b in lines[-1]) + gap.width + block.width <= width:
            lines[-1] += [gap, block]
        else:
            lines.append([block])
    return lines


def text_of_block(block: TextBlock) -> str:
    """The lines of a block as one text."""
    return "\n".join(line.rstrip() for line in block.lines)


def row_equations(sides: EquationSides, names: Sequence[str], head: str, width: int) -> Iterable[str]:
    """One equation for each row, where matrices would be too wide."""
    for k, name in enumerate(names):
        left = name if head else row_text(sides.left, k)
        yield wrapped(f"{left} = {row_text(sides.right, k)}", width)


def equations_to_text(
    equations: ReadableEquations,
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
    parts.append(named_block("measured", measured_formulas(equations), width))
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


def relation_to_text(
    names: Sequence[str], terms: Sequence[MatrixTerm], *, width: int = WIDTH, unicode: bool = True
) -> str:
    """Variables as a sum of matrices times vectors: `x = T z + T_u u`."""
    return equation_text(EquationSides((), tuple(terms)), names, "x", width, unicode)


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


def _form(equations: ReadableEquations, sign: Sign) -> str:
    written = []
    if equations.states:
        sides = state_equation(equations, sign)
        written.append(f"{_letters(sides.left)} = {_letters(sides.right)}")
    if equations.outputs:
        written.append(f"y = {_letters(output_equation(equations).right)}")
    return ",   ".join(written)


def _letters(terms: Iterable[MatrixTerm]) -> str:
    text = ""
    for term in terms:
        letter = term.matrix if term.alone else f"{term.matrix} {term.vector}{prime_of(term)}"
        text += joining_sign(text, term.negative) + letter
    return text


MULTIPLIER_NOTE = "these sources decide outputs of storages: E is singular, and they supply what keeps 0 = u - v"


def hamiltonian_to_text(
    form: HamiltonianForm, *, width: int = WIDTH, unicode: bool = True, units: Mapping[str, str] = NO_UNITS
) -> str:
    """The port-Hamiltonian form with matrices in brackets, then names, energy and what the names stand for."""
    left, right = hamiltonian_state(form)
    reading = hamiltonian_output(form)
    rates = [f"{name}'" for name in form.states]
    parts = [form.name, indented(_hamiltonian_letters(form, left, right, reading))]
    if form.states:
        parts.append(_grouped(left, right, rates, width, unicode))
    if form.outputs:
        parts.append(_grouped((), reading, form.outputs, width, unicode))
    parts.append(lists_of_names(form, units))
    if form.multipliers:
        parts.append(wrapped(f"multipliers  {', '.join(form.multipliers)}  ({MULTIPLIER_NOTE})", width, ""))
    for name, note, e in energy_functions(form):
        written = f"{name} = {'no closed form' if e is None else to_text(e)}"
        parts.append(wrapped(f"{written}   ({note})" if note else written, width, ""))
    parts.append(named_block("energy variables", form.energy_variables, width))
    parts.append(rates_block(form.displacements, width))
    if form.algebraic.unknowns:
        parts.append(f"unknowns  {', '.join(form.algebraic.unknowns)}")
        parts.append("\n".join(wrapped(f"0 = {to_text(e)}", width, "") for e in form.algebraic.residuals))
    parts.append(signals_block(form.signals, width))
    parts.append(named_block("where", form.where, width))
    parts.append(parameters_to_text(form.parameters, form.values(), units))
    return "\n\n".join(part for part in parts if part) + "\n"


def _hamiltonian_letters(
    form: HamiltonianForm, left: Sequence[MatrixSum], right: Sequence[MatrixSum], reading: Sequence[MatrixSum]
) -> str:
    written = []
    if form.states:
        rates = _group_letters(left) or "x'"
        written.append(f"{rates} = {_group_letters(right)}")
    if form.outputs:
        letters = _group_letters(reading).replace("(g^T + P^T)", "(g + P)^T")
        written.append(f"y = {letters}")
    return ",   ".join(written)


def _group_letters(groups: Iterable[MatrixSum]) -> str:
    text = ""
    for group in groups:
        inner = ""
        for share in group.shares:
            inner += joining_sign(inner, share.negative) + share.matrix
        inner = f"({inner})" if len(group.shares) > 1 or inner.startswith("-") else inner
        factor = f" {group.vector}" + ("'" if group.dotted else "") if group.vector else ""
        text += joining_sign(text, group.negative) + inner + factor
    return text


def _grouped(
    left: Sequence[MatrixSum], right: Sequence[MatrixSum], names: Sequence[str], width: int, unicode: bool
) -> str:
    """Like `equation_text`, for sums of matrices in parentheses; `names` stand left where no matrix does."""
    groups = [*left, *right]
    if max(len(names), *(len(group.factors) for group in groups)) <= MOST_STATES:
        head = _group_blocks(left, unicode) if left else [vector_block(names, unicode)]
        whole = beside([*head, word_block(" = "), *_group_blocks(right, unicode)])
        if whole.width + 2 <= width:
            return indented(text_of_block(whole))
        shares = [share for group in groups for share in group.shares if not share.matrix.endswith("^T")]
        single = [beside([word_block(f"{s.matrix} = "), _share(s, unicode)]) for s in shares]
        vectors = [group for group in groups if group.vector == "grad_H" and shares and shares[0].matrix in {"J", "E"}]
        single += [beside([word_block("grad_H = "), _cells(vectors[0], unicode)])] if vectors else []
        if all(block.width + 2 <= width for block in single):
            return indented("\n\n".join(text_of_block(beside(group)) for group in fitting_groups(single, width - 2)))
    return "\n".join(_group_rows(left, right, names, width))


def _group_blocks(groups: Iterable[MatrixSum], unicode: bool) -> list[TextBlock]:
    blocks: list[TextBlock] = []
    for group in groups:
        sign = ("-" if group.negative else "") if not blocks else (" - " if group.negative else " + ")
        many = len(group.shares) > 1 or (group.shares[0].negative and bool(group.vector))
        blocks += [word_block(sign + ("(" if many else ""))] if sign or many else []
        for k, share in enumerate(group.shares):
            joint = joining_sign("before" if k else "", share.negative)
            blocks += [word_block(joint)] if joint else []
            blocks.append(_share(share, unicode))
        blocks += [word_block(")")] if many else []
        blocks += [word_block(" "), _cells(group, unicode)] if group.vector else []
    return blocks


def _share(share: SignedMatrix, unicode: bool) -> TextBlock:
    return bracketed([[to_text(e) for e in row] for row in share.rows], unicode)


def _cells(group: MatrixSum, unicode: bool) -> TextBlock:
    return vector_block([to_text(e) + ("'" if group.dotted else "") for e in group.factors], unicode)


def _group_rows(
    left: Sequence[MatrixSum], right: Sequence[MatrixSum], names: Sequence[str], width: int
) -> Iterable[str]:
    for k, name in enumerate(names):
        head = _group_row(left, k) if left else name
        yield wrapped(f"{head} = {_group_row(right, k)}", width)


def _group_row(groups: Iterable[MatrixSum], k: int) -> str:
    text = ""
    for group in groups:
        if not group.vector:
            text = append_term(text, group.shares[0].rows[k][0], "", group.negative)
            continue
        for j, factor in enumerate(group.factors):
            entry = total(-s.rows[k][j] if s.negative else s.rows[k][j] for s in group.shares)
            written = to_text(factor) + ("'" if group.dotted else "")
            written = f"({written})" if isinstance(factor, Add) else written
            text = append_term(text, entry, written, group.negative)
    return text or "0"


def steps_to_text(steps: ReadableExplanation, *, width: int = WIDTH, unicode: bool = True) -> str:
    """The derivation as numbered sections; an entry with one path takes one line, others one line a path."""
    parts = [f"{steps.name}, step by step"]
    for n, section in enumerate(steps.sections, 1):
        lines = [line for item in section.items for line in _item_lines(item, width, unicode)]
        parts.append("\n".join([f"{n}. {section.title}", "", *lines]).replace("\n\n\n", "\n\n").rstrip())
    parts.append(named_block("where", steps.where, width))
    return "\n\n".join(part for part in parts if part) + "\n"


def _item_lines(item: Item, width: int, unicode: bool) -> list[str]:
    if isinstance(item, Sentence):
        return [wrapped(item.plain, width, "    " if item.listed else "  ", hanging=2 * item.listed)]
    if isinstance(item, NamedFormula):
        return [wrapped(f"{item.name} = {to_text(item.value)}", width, "      ")]
    if isinstance(item, ExplainedEntry):
        return list(_entry_lines(item, width))
    if isinstance(item, AlgebraicLoop):
        return list(_loop_lines(item, width))
    return ["", *_shown_matrix(item, width, unicode), ""]


def _shown_matrix(shown: ShownMatrix, width: int, unicode: bool) -> list[str]:
    name, rows = shown.name, shown.rows
    term = MatrixTerm(False, name, "", False, rows, ())
    block = named_matrix(term, unicode)
    if block.width + 4 <= width and len(rows) <= MOST_STATES:
        return [f"    {line.rstrip()}" for line in block.lines]
    if shown.explained:
        return [f"    {name} has the entries above; it is wider than this page."]
    filled = [(i, j, e) for i, row in enumerate(rows, 1) for j, e in enumerate(row, 1) if e is not ZERO]
    return [wrapped(f"{name}[{i},{j}] = {to_text(e)}", width, "    ") for i, j, e in filled]


def _entry_lines(entry: ExplainedEntry, width: int) -> Iterable[str]:
    value = to_text(entry.value)
    if len(entry.paths) == 1 and to_text(entry.paths[0].gain) == value:
        yield wrapped(f"{entry.place} = {value}: {_route(entry.paths[0])}", width, "    ")
        return
    yield wrapped(f"{entry.place} = {value}", width, "    ")
    for path in entry.paths:
        yield wrapped(f"{to_text(path.gain)}: {_route(path)}", width, "      ")


def _route(path: CausalPath) -> str:
    return " -> ".join(path.stops)


def _loop_lines(loop: AlgebraicLoop, width: int) -> Iterable[str]:
    for path in loop.rounds:
        yield wrapped(f"loop {_route(path)}: {to_text(path.gain)}", width, "    ")
    yield wrapped(f"{loop.name} = {to_text(loop.determinant)}", width, "    ")
