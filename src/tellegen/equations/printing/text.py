"""Forms of equations and their derivations as plain text for terminals, laid out as papers write them."""

import textwrap
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tellegen.core.language import Phrases
from tellegen.equations.matrices import Matrix
from tellegen.equations.printing import explanation as shown
from tellegen.equations.printing.explanation import EquationSides, MatrixSum, Sign
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Add, Expression, to_text, total
from tellegen.expressions.simplification import readable
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.signals.formulas import NestedText

if TYPE_CHECKING:
    from tellegen.equations.forms.descriptor import DescriptorSystem
    from tellegen.equations.forms.hamiltonian import HamiltonianSystem
    from tellegen.equations.forms.state_space import StateSpaceForm
    from tellegen.equations.forms.transfer import TransferMatrix
    from tellegen.equations.signal_equations import SignalEquations
    from tellegen.equations.steps import Explanation
    from tellegen.equations.system import EquationSystem, OperatingPoint

WIDTH = 100
"""How wide a printout is where nobody says."""

NO_UNITS: Mapping[str, str] = {}
NO_NAMES: Mapping[str, Expression] = {}


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


def _rates(displacements: Mapping[str, Expression], width: int) -> str:
    return _named("displacements", {f"{name}'": e for name, e in displacements.items()}, width)


def _signals(signals: "SignalEquations", width: int) -> str:
    """The formulas of variables with names of their own, of signals and of their states."""
    lines = []
    for line in shown.signal_lines(signals):
        texts = ", ".join(map(to_text, line.inside)) if line.written is None else _as_written(line.word, line.written)
        left = f"{line.name}'" if line.is_rate else line.name
        lines.append(_wrapped(f"{left} = {f'{line.word}({texts})' if line.word else texts}", width))
    parts = [_named("variables", signals.named, width), "\n".join(["signals", *lines]) if lines else ""]
    return "\n\n".join(part for part in parts if part)


def _as_written(word: str, keys: Mapping[str, NestedText]) -> str:
    """The keys of a block as its arguments; what stands behind its own word comes first, without a key."""
    return ", ".join(
        _nested(text) if key in (word, FORMULA) else f"{key}={_nested(text)}" for key, text in keys.items()
    )


def _nested(found: NestedText) -> str:
    if isinstance(found, str):
        return found
    if isinstance(found, Mapping):
        return f"{{{', '.join(f'{key}: {_nested(text)}' for key, text in found.items())}}}"
    return f"[{', '.join(map(_nested, shown.ends_of(found)))}]"


def _variables(form: "EquationSystem | HamiltonianSystem | StateSpaceForm", units: Mapping[str, str]) -> str:
    """States, inputs and outputs with their units."""
    titles = {"states (x)": form.states, "inputs (u)": form.inputs, "outputs (y)": form.outputs}
    lines = []
    for title, names in titles.items():
        if names:
            listed = ", ".join(f"{name} [{units[name]}]" if units.get(name) else name for name in names)
            lines.append(_wrapped(f"{title.ljust(11)}  {listed}", WIDTH, ""))
    return "\n".join(lines)


def _named(title: str, names: Mapping[str, Expression], width: int) -> str:
    """Names with their formulas under a title; nothing without names."""
    if not names:
        return ""
    return "\n".join([title, *(_wrapped(f"{name} = {to_text(readable(e))}", width) for name, e in names.items())])


def _wrapped(text: str, width: int, indent: str = "  ", hanging: int = 6) -> str:
    """Lines no wider than asked where spaces allow it; what follows the first is set in."""
    return textwrap.fill(
        text,
        max(width, 40),
        initial_indent=indent,
        subsequent_indent=indent + " " * hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _sum(terms: Iterable[tuple[Expression, str]], rest: Expression = ZERO) -> str:
    text = ""
    for entry, factor in terms:
        text = _with_term(text, entry, factor, False)
    return _with_term(text, rest, "", False) or "0"


def _with_term(text: str, entry: Expression, factor: str, negative: bool) -> str:
    """The sum with one more term, its sign in front."""
    if entry is ZERO:
        return text
    written = to_text(entry)
    if isinstance(entry, Add) and (factor or negative):
        written = f"({written})"
    # The sign of an entry joins that of its term: `- -a*x` is not written.
    elif written.startswith("-"):
        written, negative = written[1:], not negative
    if factor and entry in (ONE, MINUS_ONE):
        written = factor
    # x/C reads better than 1/C*x.
    elif factor and written.startswith("1/"):
        written = f"{factor}{written[1:]}"
    elif factor:
        written = f"{written}*{factor}"
    return text + shown.joint(text, negative) + written


def _indented(text: str) -> str:
    return textwrap.indent(text, "  ")


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


def _equation_text(sides: EquationSides, names: Sequence[str], width: int, unicode: bool) -> str:
    """The equation with matrices; with each matrix by itself where that is too wide; row by row where even that is.

    `names` stand left where no matrix does.
    """
    written = _in_matrices(sides, names, width, unicode)
    if written:
        return written
    rows = ((_row(sides.left, k) if sides.left else name, _row(sides.right, k)) for k, name in enumerate(names))
    return "\n".join(_wrapped(f"{left} = {right}", width) for left, right in rows)


def _in_matrices(sides: EquationSides, names: Sequence[str], width: int, unicode: bool) -> str:
    """The equation with its matrices, beside each other or each by itself; nothing where even these are too wide."""
    sums = [*sides.left, *sides.right]
    # Blocks of large matrices are made entry by entry and then thrown away for being too wide; so they are counted first.
    if max([len(names), *(len(each.factors) for each in sums)]) <= MOST_STATES:
        left = _blocks(sides.left, unicode) if sides.left else [_vector(names, unicode)]
        whole = _beside([*left, _word(" = "), *_blocks(sides.right, unicode)])
        # Three layouts, from the one a paper would choose to the one that always fits.
        if whole.width + 2 <= width:
            return _indented(_text_of(whole))
        # g^T and P^T stand among the matrices already, as g and P.
        shares = [share for each in sums for share in each.shares if not share.letter.endswith("^T")]
        single = [_named_matrix(share.letter, share.rows, unicode) for share in shares]
        gradients = [
            each for each in sums if each.vector == "grad_H" and shares and shares[0].letter.strip("[]") in {"J", "E"}
        ]
        single += [_beside([_word("grad_H = "), _factors(gradients[0], unicode)])] if gradients else []
        if all(block.width + 2 <= width for block in single):
            return _indented("\n\n".join(_text_of(_beside(group)) for group in _fitting_groups(single, width - 2)))
    return ""


PrintedSystem = TypeVar("PrintedSystem", "EquationSystem", "StateSpaceForm")


def _with_names(
    form: PrintedSystem, equation: Callable[[PrintedSystem], EquationSides], width: int, unicode: bool
) -> tuple[PrintedSystem, Mapping[str, Expression]]:
    """The form with names for its long entries where it only then has matrices on a page, and what they stand for."""
    sides = equation(form)
    if _in_matrices(sides, form.states, width, unicode):
        return form, NO_NAMES
    names = shown.PlaceNames(form)
    brief = names.shortened(shown.STATE_LETTERS)
    return (
        (brief, names.definitions) if _in_matrices(equation(brief), form.states, width, unicode) else (form, NO_NAMES)
    )


def _blocks(sums: Iterable[MatrixSum], unicode: bool) -> list[TextBlock]:
    blocks: list[TextBlock] = []
    for each in sums:
        many = len(each.shares) > 1 or (each.shares[0].negative and bool(each.vector))
        opening = shown.joint(blocks, each.negative) + ("(" if many else "")
        blocks += [_word(opening)] if opening else []
        for k, share in enumerate(each.shares):
            sign = shown.joint(k, share.negative)
            blocks += [_word(sign)] if sign else []
            blocks.append(_matrix(share.rows, unicode))
        blocks += [_word(")")] if many else []
        blocks += [_word(" "), _factors(each, unicode)] if each.vector else []
    return blocks


def _row(sums: Iterable[MatrixSum], k: int) -> str:
    """Row k of a sum of matrices times vectors."""
    text = ""
    for each in sums:
        if not each.vector:
            text = _with_term(text, each.shares[0].rows[k][0], "", each.negative)
            continue
        for j, factor in enumerate(each.factors):
            if factor is ZERO:  # the slope of H by a coordinate that it does not read
                continue
            entry = total(-s.rows[k][j] if s.negative else s.rows[k][j] for s in each.shares)
            written = f"({to_text(factor)})" if isinstance(factor, Add) else to_text(factor)
            if written.startswith("-"):  # its sign goes to the entry: no two signs stand beside each other
                entry, written = -entry, written[1:]
            text = _with_term(text, entry, f"{written}'" if each.dotted else written, each.negative)
    return text or "0"


def _matrix(rows: Matrix, unicode: bool) -> TextBlock:
    return _bracketed([[to_text(e) for e in row] for row in rows], unicode)


def _vector(names: Iterable[str], unicode: bool) -> TextBlock:
    return _bracketed([[name] for name in names], unicode)


def _factors(each: MatrixSum, unicode: bool) -> TextBlock:
    return _vector([to_text(e) + ("'" if each.dotted else "") for e in each.factors], unicode)


def _named_matrix(letter: str, rows: Matrix, unicode: bool) -> TextBlock:
    """A matrix behind its letter: `A = [...]`."""
    return _beside([_word(f"{letter} = "), _matrix(rows, unicode)])


def _bracketed(cells: Sequence[Sequence[str]], unicode: bool) -> TextBlock:
    """Cells in tall brackets, columns under each other."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.center(w) for cell, w in zip(row, widths, strict=True)) for row in cells]
    if len(lines) < 2:
        return TextBlock(tuple(f"[{line}]" for line in lines) or ("[]",))
    opening, closing = _BRACKETS[unicode]
    last = len(lines) - 1
    edge = [0 if k == 0 else 2 if k == last else 1 for k in range(len(lines))]
    return TextBlock(tuple(f"{opening[e]} {line} {closing[e]}" for e, line in zip(edge, lines, strict=True)))


def _word(text: str) -> TextBlock:
    return TextBlock((text,))


def _beside(blocks: Sequence[TextBlock]) -> TextBlock:
    """Blocks beside each other, their middles in one line."""
    height = max(len(block.lines) for block in blocks)
    # Signs and names stand beside the middle row of tall brackets.
    middle = (height - 1) // 2
    columns = []
    for block in blocks:
        above = middle - (len(block.lines) - 1) // 2
        below = height - above - len(block.lines)
        blank = " " * block.width
        columns.append([*[blank] * above, *block.lines, *[blank] * below])
    return TextBlock(tuple("".join(parts) for parts in zip(*columns, strict=True)))


def _fitting_groups(blocks: Iterable[TextBlock], width: int) -> list[list[TextBlock]]:
    """As many blocks side by side as fit."""
    gap = _word("    ")
    lines: list[list[TextBlock]] = []
    for block in blocks:
        if lines and sum(b.width for b in lines[-1]) + gap.width + block.width <= width:
            lines[-1] += [gap, block]
        else:
            lines.append([block])
    return lines


def _text_of(block: TextBlock) -> str:
    return "\n".join(line.rstrip() for line in block.lines)


def equations_to_text(
    equations: "EquationSystem",
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
    brief, names = _with_names(equations, lambda form: shown.state_equation(form, sign), width, unicode)
    own = _own_names(equations)
    parts = _equations(brief, shown.state_equation(brief, sign), shown.output_equation(brief), width, unicode)
    parts.append(_named("measured", shown.measured_formulas(equations), width))
    parts.append(_variables(equations, units))
    parts.append(
        "\n".join(
            _wrapped(f"{_aside(name, own)} = {to_text(e)}", width, "") for name, e in shown.summaries(equations, sign)
        )
    )
    parts.append(_rates(equations.displacements, width))
    parts.append(_named("dependent storages", equations.dependent, width))
    parts.append(_point(equations.point, units))
    return _joined([*parts, *_ending(equations, units, width, names)])


def relation_to_text(
    names: Sequence[str], terms: Iterable[MatrixSum], *, width: int = WIDTH, unicode: bool = True
) -> str:
    """Variables as a sum of matrices times vectors: `x = T z + T_u u`."""
    return _equation_text(EquationSides((), tuple(terms)), names, width, unicode)


def descriptor_to_text(form: "DescriptorSystem", *, width: int = WIDTH) -> str:
    """The descriptor form, one equation a row."""
    general = "E w' = F w + G u" + (" + h" if form.h else "") + ",   y = H w" + (" + D u" if form.D else "")
    w, u, rates = form.unknowns, form.inputs, [f"{name}'" for name in form.unknowns]
    left, right = shown.terms_by_row((form.E, rates)), shown.terms_by_row((form.F, w), (form.G, u))
    reading = shown.terms_by_row((form.H, w), (form.D, u))
    last = max([*left, *right, *form.h], default=-1)
    lines = [f"{_sum(left.get(k, ()))} = {_sum(right.get(k, ()), form.h.get(k, ZERO))}" for k in range(last + 1)]
    lines += [f"{name} = {_sum(reading.get(k, ()))}" for k, name in enumerate(form.outputs)]
    names = [("unknowns (w)", w), ("inputs (u)", u), ("outputs (y)", form.outputs)]
    listed = "\n".join(_wrapped(f"{title}  {', '.join(given)}", width, "") for title, given in names if given)
    body = "\n".join(_wrapped(line, width) for line in lines)
    return "\n\n".join([form.name, _indented(general), body, listed]) + "\n"


def transfer_to_text(form: "TransferMatrix", *, width: int = WIDTH) -> str:
    """The transfer matrix, one line an entry: output over input."""
    s = form.variable
    parts = [form.name, _indented(f"y({s}) = G({s}) u({s})")]
    lines = [
        _wrapped(f"{output}/{given} = {to_text(e)}", width)
        for output, row in zip(form.outputs, form.entries, strict=True)
        for given, e in zip(form.inputs, row, strict=True)
    ]
    parts += ["\n".join(lines), _named("where", form.where, width), _point(form.point, NO_UNITS)]
    return _joined(parts)


def _equations(
    form: "EquationSystem | HamiltonianSystem | StateSpaceForm",
    state: EquationSides,
    output: EquationSides,
    width: int,
    unicode: bool,
) -> list[str]:
    """The name of a form, its equations with letters, and the equations themselves."""
    state, output = (_stepped_aside(sides, _own_names(form)) for sides in (state, output))
    parts = []
    letters = []
    if form.states:
        rates = _letters(state.left) or "x'"
        letters.append(f"{rates} = {_letters(state.right)}")
        parts.append(_equation_text(state, [f"{name}'" for name in form.states], width, unicode))
    if form.outputs:
        letters.append(f"y = {_letters(output.right)}".replace("(g^T + P^T)", "(g + P)^T"))
        parts.append(_equation_text(output, form.outputs, width, unicode))
    general = ",   ".join(letters)
    return [form.name, _indented(general + ASIDE * ("[" in general)), *parts]


ASIDE = "   (in [ ]: letters of the form, which the model has too)"


def _own_names(form: "EquationSystem | HamiltonianSystem | StateSpaceForm") -> frozenset[str]:
    """What the author has called something: a letter of the form that is among them steps aside."""
    return frozenset((*form.parameters, *form.states, *form.inputs, *form.outputs, *form.displacements, *form.where))


def _aside(letter: str, names: Container[str]) -> str:
    return f"[{letter}]" if letter in names else letter


def _stepped_aside(sides: EquationSides, names: Container[str]) -> EquationSides:
    """The equation with the letters of its matrices in brackets where they are names of the model."""

    def aside(each: MatrixSum) -> MatrixSum:
        shares = []
        for share in each.shares:
            letter, transposed, _ = share.letter.partition("^T")
            shares.append(share._replace(letter=_aside(letter, names) + transposed))
        vector, dot, _ = each.vector.partition("'")
        return each._replace(shares=tuple(shares), vector=_aside(vector, names) + dot)

    return EquationSides(tuple(map(aside, sides.left)), tuple(map(aside, sides.right)))


def _letters(sums: Iterable[MatrixSum]) -> str:
    text = ""
    for each in sums:
        inner = ""
        for share in each.shares:
            inner += shown.joint(inner, share.negative) + share.letter
        inner = f"({inner})" if len(each.shares) > 1 or inner.startswith("-") else inner
        text += shown.joint(text, each.negative) + inner + (f" {each.vector}" if each.vector else "")
    return text


def _point(point: "OperatingPoint | None", units: Mapping[str, str]) -> str:
    """The operating point of a linearised form."""
    if point is None:
        return ""
    lines = [f"  {name} = {value:.6g} {units.get(name, '')}".rstrip() for name, value in point.values.items()]
    return "\n".join([f"linearised {point.origin}".rstrip(), *lines])


def _ending(
    form: "EquationSystem | HamiltonianSystem | StateSpaceForm",
    units: Mapping[str, str],
    width: int,
    names: Mapping[str, Expression] = NO_NAMES,
) -> list[str]:
    """What every form tells last: unknowns, signals, what names stand for, parameters."""
    parts = []
    if form.algebraic.unknowns:
        parts.append(f"unknowns  {', '.join(form.algebraic.unknowns)}")
        parts.append("\n".join(_wrapped(f"0 = {to_text(e)}", width, "") for e in form.algebraic.residuals))
    parts += [
        _signals(form.signals, width),
        _named("where", {**form.where, **names}, width),
    ]
    return [*parts, parameters_to_text(form.parameters, form.values(), units)]


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


MULTIPLIER_NOTE = "these sources decide outputs of storages: E is singular, and they supply what keeps 0 = u - v"


def hamiltonian_to_text(
    form: "HamiltonianSystem", *, width: int = WIDTH, unicode: bool = True, units: Mapping[str, str] = NO_UNITS
) -> str:
    """The port-Hamiltonian form with matrices in brackets, then names, energy and what the names stand for."""
    parts = _equations(form, shown.hamiltonian_state(form), shown.hamiltonian_output(form), width, unicode)
    parts.append(_variables(form, units))
    if form.multipliers:
        parts.append(_wrapped(f"multipliers  {', '.join(form.multipliers)}  ({MULTIPLIER_NOTE})", width, ""))
    own = _own_names(form)
    for name, note, e in shown.energy_functions(form):
        written = f"{_aside(name, own)} = {'no closed form' if e is None else to_text(e)}"
        parts.append(_wrapped(f"{written}   ({note})" if note else written, width, ""))
    parts.append(_named("energy variables", form.energy_variables, width))
    parts.append(_rates(form.displacements, width))
    return _joined([*parts, *_ending(form, units, width)])


def state_space_to_text(
    form: "StateSpaceForm", *, width: int = WIDTH, unicode: bool = True, units: Mapping[str, str] = NO_UNITS
) -> str:
    """The state-space form with matrices in brackets, then names and what the names stand for."""
    brief, names = _with_names(form, shown.rate_equation, width, unicode)
    parts = _equations(brief, shown.rate_equation(brief), shown.output_equation(brief), width, unicode)
    parts += [_variables(form, units), _rates(form.displacements, width), _point(form.point, units)]
    return _joined([*parts, *_ending(form, units, width, names)])


def steps_to_text(steps: "Explanation", *, width: int = WIDTH, unicode: bool = True) -> str:
    """The derivation as numbered sections; an entry with one path takes one line, others one line a path."""
    say = Phrases(steps.language)
    parts = [say("steps.title", name=steps.name)]
    for n, section in enumerate(steps.sections, 1):
        lines = [line for item in section.items for line in _item_lines(item, width, unicode)]
        parts.append("\n".join([f"{n}. {section.title}", "", *lines]).replace("\n\n\n", "\n\n").rstrip())
    return _joined([*parts, _named(say("steps.where"), steps.where, width)])


def _item_lines(item: shown.Item, width: int, unicode: bool) -> list[str]:
    if isinstance(item, shown.Sentence):
        return [_wrapped(item.plain, width, "    " if item.listed else "  ", hanging=2 * item.listed)]
    if isinstance(item, shown.NamedFormula):
        return [_wrapped(f"{item.name} = {to_text(item.value)}", width, "      ")]
    if isinstance(item, shown.ExplainedEntry):
        return list(_entry_lines(item, width))
    if isinstance(item, shown.AlgebraicLoop):
        return list(_loop_lines(item, width))
    return ["", *_matrix_lines(item, width, unicode), ""]


def _matrix_lines(item: shown.ShownMatrix, width: int, unicode: bool) -> list[str]:
    name, rows = item.name, item.rows
    block = _named_matrix(name, rows, unicode)
    if block.width + 4 <= width and len(rows) <= MOST_STATES:
        return [f"    {line.rstrip()}" for line in block.lines]
    # Its entries stand above, one by one.
    if item.explained:
        return [f"    {name} has the entries above; it is wider than this page."]
    filled = [(i, j, e) for i, row in enumerate(rows, 1) for j, e in enumerate(row, 1) if e is not ZERO]
    return [_wrapped(f"{name}[{i},{j}] = {to_text(e)}", width, "    ") for i, j, e in filled]


def _entry_lines(entry: shown.ExplainedEntry, width: int) -> Iterable[str]:
    value = to_text(entry.value)
    if len(entry.paths) == 1 and to_text(entry.paths[0].gain) == value:
        yield _wrapped(f"{entry.place} = {value}: {_route(entry.paths[0])}", width, "    ")
        return
    yield _wrapped(f"{entry.place} = {value}", width, "    ")
    for path in entry.paths:
        yield _wrapped(f"{to_text(path.gain)}: {_route(path)}", width, "      ")


def _route(path: shown.CausalPath) -> str:
    return " -> ".join(path.stops)


def _loop_lines(loop: shown.AlgebraicLoop, width: int) -> Iterable[str]:
    for path in loop.rounds:
        yield _wrapped(f"loop {_route(path)}: {to_text(path.gain)}", width, "    ")
    yield _wrapped(f"{loop.name} = {to_text(loop.determinant)}", width, "    ")
