"""Equations in LaTeX, as the lecture sets them: each matrix over a brace with its letter. Needs amsmath.

TeX knows no length beyond 5.7 m, and a page none beyond its margins.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from tellegen.core.errors import TellegenError
from tellegen.core.language import Phrases
from tellegen.core.names import numbered
from tellegen.equations.matrices import Matrix
from tellegen.equations.printing import explanation as shown
from tellegen.equations.printing.explanation import EquationSides, MatrixSum, Sign
from tellegen.expressions import (
    ONE,
    ZERO,
    Add,
    Call,
    Expression,
    Number,
    latex_name,
    number,
    parse,
    postorder,
    to_latex,
    to_text,
    total,
)
from tellegen.expressions.simplification import NamedParts, readable
from tellegen.expressions.symbols import GREEK
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.signals.formulas import NestedText, WrittenPiece, written_pieces

if TYPE_CHECKING:
    from tellegen.equations.forms.descriptor import DescriptorSystem
    from tellegen.equations.forms.hamiltonian import HamiltonianSystem
    from tellegen.equations.forms.state_space import StateSpaceForm
    from tellegen.equations.forms.transfer import TransferMatrix
    from tellegen.equations.signal_equations import SignalEquations
    from tellegen.equations.steps import Explanation
    from tellegen.equations.system import EquationSystem, OperatingPoint

PrintedSystem = TypeVar("PrintedSystem", "EquationSystem", "StateSpaceForm")

LONGEST_LINE = 400
"""Characters of LaTeX: about two thirds of them are commands, so this is about the width of a page."""
WIDEST = 200
"""Equations of more characters, written as text, have names for their long entries: a page takes about half as many."""
LONGEST_MATRICES = 4_000
"""Equations whose matrices take more characters than this have names for parts of their entries."""
LONGEST_PART = 60
"""Characters of a part without a name, written as text."""


def _equation_lines(left: str, right: Expression) -> list[str]:
    """`left &= right`, a long sum over several lines: the next ones begin with `&\\qquad`."""
    # Only sums can be broken: a line may begin with a plus, not inside a fraction.
    whole = to_latex(right)
    if len(whole) <= LONGEST_LINE or not isinstance(right, Add):
        return [f"{left} &= {whole}"]
    first, *rest = _pieces(right)
    return [f"{left} &= {first}", *(rf"&\qquad {piece if piece.startswith('-') else f'+ {piece}'}" for piece in rest)]


def _pieces(sum_: Add) -> list[str]:
    """The sum as texts of about one line each, whose sum it is."""
    terms = [number(c) * term for term, c in sum_.terms]
    terms += [number(sum_.constant)] if sum_.constant else []
    groups: list[list[Expression]] = [[]]
    length = 0
    for term in terms:
        size = len(to_latex(term))
        if groups[-1] and length + size > LONGEST_LINE:
            groups.append([])
            length = 0
        groups[-1].append(term)
        length += size
    return [to_latex(total(group)) for group in groups]


Change = Callable[[Expression], Expression]


NO_NAMES: Mapping[str, Expression] = {}

MOST_COLUMNS = 10
"""amsmath's bmatrix has room for so many columns; a wider matrix is an array."""

_NAMES_OF_SUMMARIES = {"E": "E", "E(x)": r"E(\mathbf{x})", "V": "V", "V(q)": "V(q)", "P_d": "P_{d}"}


def equations_to_latex(equations: "EquationSystem", *, sign: Sign = "-", environment: str = "align*") -> str:
    r"""The equations in an amsmath environment: `align`, `align*`, or `aligned` to stand inside $$.

    State equation, output equation, unknowns, energy, dissipated power, dependent storages, and the names used.
    """
    state, output = shown.state_equation(equations, sign), shown.output_equation(equations)
    names, brief = _named_entries(equations, state, output)
    return _with_short_names(
        brief,
        lambda *change: [*_lines(brief, sign, *change), *_entries(names, change[1])],
        environment,
        names.definitions,
    )


def _with_short_names(
    form: "EquationSystem | HamiltonianSystem | StateSpaceForm",
    lines: Callable[[Change, Change], list[str]],
    environment: str,
    named: Mapping[str, Expression] = NO_NAMES,
) -> str:
    """The lines of a form; where its matrices are wide, over names for long entries and for parts of other formulas.

    So are what entries `named` by their places stand for, where that is long.
    """
    if not _is_wide({**form.matrices, "": (tuple(named.values()),)}):
        return _environment(environment, lines(_itself, _itself))
    short = NamedParts(LONGEST_PART, numbered("k", {*_names_of(form), *named}))
    written = lines(short.part, short.short)
    return _environment(environment, [*written, *_parts(short, written)])


def _named_entries(
    form: PrintedSystem, state: EquationSides, output: EquationSides
) -> tuple[shown.PlaceNames[PrintedSystem], PrintedSystem]:
    """The form with names for the long entries of an equation that would be wider than a page, and these names."""
    names = shown.PlaceNames(form)
    brief = form
    for sides, letters in ((state, shown.STATE_LETTERS), (output, shown.OUTPUT_LETTERS)):
        if shown.width_of(sides) > WIDEST:
            brief = names.shortened(letters)
    return names, brief


def _entries(names: shown.PlaceNames[Any], formula: Change) -> list[str]:
    """What named entries stand for, with the variables that move them."""
    lines = []
    for name, e in names.definitions.items():
        read = ", ".join(map(latex_name, names.reads(name)))
        left = rf"{latex_name(name)}\left({read}\right)" if read else latex_name(name)
        lines += _equation_lines(left, readable(formula(e)))
    return lines


def relation_to_latex(
    names: Iterable[str], terms: Iterable[MatrixSum], where: Mapping[str, Expression], *, environment: str = "align*"
) -> str:
    """Variables x as a sum of matrices times vectors, `x = T z + T_u u`, and what the names in it stand for."""
    left = _braced(_column(map(latex_name, names)), r"\mathbf{x}")
    return _environment(environment, [f"{left} &= {_sums(terms)}", *_definitions(where)])


def _parts(short: NamedParts, lines: Iterable[str]) -> list[str]:
    """What the names in the lines stand for."""
    wanted: dict[str, list[str]] = {}
    text = "\n".join(lines)
    # Backwards, since a definition reads earlier ones: what no line shows need not be told.
    for name, e in reversed(list(short.definitions.items())):
        if latex_name(name) in text:
            wanted[name] = _equation_lines(latex_name(name), e)
            text += "\n".join(wanted[name])
    return [line for name in reversed(wanted) for line in wanted[name]]


def _lines(given: "EquationSystem", sign: Sign, entry: Change, formula: Change) -> list[str]:
    """The lines: matrices with their entries changed, all else with its formulas changed."""
    brief = given.with_entries(entry)
    lines = _equations(brief, shown.state_equation(brief, sign), shown.output_equation(brief))
    lines += _definitions(shown.measured_formulas(given), formula)
    lines += [line for e in given.algebraic.residuals for line in _equation_lines("0", formula(e))]
    energies = {_NAMES_OF_SUMMARIES[name]: e for name, e in shown.summaries(given, sign)}
    rates = {dotted(name): readable(e) for name, e in given.displacements.items()}
    lines += [line for name, e in {**energies, **rates}.items() for line in _equation_lines(name, formula(e))]
    lines += _definitions(given.dependent, formula)
    lines += [*_signals(given.signals), *_point(given.point)]
    return lines + _definitions(given.where, formula)


def _point(point: "OperatingPoint | None") -> list[str]:
    """The operating point of a linearised form: its variables with a bar."""
    if point is None or not point.values:
        return []
    lines = [
        rf"\bar{{{latex_name(name)}}} &= {to_latex(number(float(f'{v:.6g}')))}" for name, v in point.values.items()
    ]
    return [rf"{lines[0]} \qquad \text{{(linearised {point.origin})}}", *lines[1:]]


def _equations(
    form: "EquationSystem | HamiltonianSystem | StateSpaceForm", state: EquationSides, output: EquationSides
) -> list[str]:
    lines: list[str] = []
    if form.states:
        rates = _braced(_column(map(dotted, form.states)), r"\dot{\mathbf{x}}")
        lines.append(f"{_sums(state.left) or rates} &= {_sums(state.right)}")
    if form.outputs:
        head = _braced(_column(map(latex_name, form.outputs)), r"\mathbf{y}")
        lines.append(f"{head} &= {_sums(output.right)}")
    return lines


def _is_wide(matrices: Mapping[Any, Matrix]) -> bool:
    # Numbers are short; a large matrix is nearly all of them.
    entries = (e for rows in matrices.values() for row in rows for e in row if not isinstance(e, Number))
    return sum(len(to_latex(e)) for e in entries) > LONGEST_MATRICES


def _names_of(form: "EquationSystem | HamiltonianSystem | StateSpaceForm") -> set[str]:
    entries = [e for rows in form.matrices.values() for row in rows for e in row]
    read = (*entries, *form.where.values(), *form.displacements.values())
    names = set().union(*(e.free_symbols for e in read))
    return {*names, *form.parameters, *form.states, *form.inputs, *form.outputs, *form.where}


def _itself(expression: Expression) -> Expression:
    return expression


def _signals(signals: "SignalEquations") -> Iterator[str]:
    yield from _definitions(signals.named)
    for line in shown.signal_lines(signals):
        texts = (
            ",\\; ".join(map(to_latex, line.inside))
            if line.written is None
            else _as_written(line, line.written, signals.names)
        )
        right = rf"\operatorname{{{line.word}}}\left({texts}\right)" if line.word else texts
        # A sum of shapes takes a line for each where one line would be too long.
        first, *rest = right.split(r" + \operatorname{") if len(right) > LONGEST_LINE else [right]
        yield f"{dotted(line.name) if line.is_rate else latex_name(line.name)} &= {first}"
        yield from (rf"&\qquad + \operatorname{{{piece}" for piece in rest)


def _as_written(line: shown.SignalStatement, keys: Mapping[str, NestedText], names: frozenset[str]) -> str:
    """The keys of a block as its arguments; what stands behind its own word comes first, without a key."""
    parts = []
    for key, text in keys.items():
        name = latex_name(key) if "_" in key else rf"\text{{{key}}}"
        found = rf"\text{{{_escaped(str(text))}}}" if key in line.words else _nested(text, names)
        parts.append(found if key in (line.word, FORMULA) else f"{name} = {found}")
    return _NEXT.join(parts)


_NEXT = r",\; "


def _nested(found: NestedText, names: frozenset[str]) -> str:
    if isinstance(found, str):
        return written_latex(found, names)
    if isinstance(found, Mapping):
        parts = [rf"\text{{{_escaped(key)}}}: {_nested(text, names)}" for key, text in found.items()]
        return rf"\{{{_NEXT.join(parts)}\}}"
    return rf"\left[{_NEXT.join(_nested(text, names) for text in shown.ends_of(found))}\right]"


def written_latex(text: str, names: frozenset[str]) -> str:
    """A formula as its author wrote it, quantities with their units and shapes by their names; `names` are no units."""
    # Quantities and shapes stand as names while the formula around them is set.
    pieces = list(written_pieces(text, names))
    holders = {f"held_{k}": piece for k, piece in enumerate(pieces)}
    plain, at = "", 0
    for name, piece in holders.items():
        plain, at = f"{plain}{text[at : piece.begin]}{name}", piece.end
    plain += text[at:]
    if plain == "held_0":
        return _piece(pieces[0], names)
    try:
        found = to_latex(_formula_or_condition(plain))
    except TellegenError:  # a word, a path
        return "\\ldots" if text == "..." else rf"\text{{{_escaped(text)}}}"
    for name, piece in holders.items():
        # `6*pi*(1 rad)` has its brackets for readers.
        bracketed = text[: piece.begin].endswith("(") and text[piece.end :].startswith(")")
        made = _piece(piece, names)
        found = found.replace(latex_name(name), rf"\left({made}\right)" if bracketed else made)
    return found


def _formula_or_condition(text: str) -> Expression:
    try:
        return parse(text)
    except TellegenError:
        chosen = parse(f"if({text}, 1, 0)")
        # What always holds, or never, is no choice any more.
        if isinstance(chosen, Call) and chosen.name == "if":
            return chosen.arguments[0]
        raise


def _piece(piece: WrittenPiece, names: frozenset[str]) -> str:
    if not piece.shape:
        mantissa, _, power = piece.number.lower().partition("e")
        factor = "" if mantissa in ("1", "1.") else rf"{mantissa} \cdot "
        value = rf"{factor}10^{{{int(power)}}}" if power else mantissa
        return rf"{value}\,{_unit(piece.unit)}"
    arguments = []
    for argument in piece.arguments:
        key, given, value = argument.partition("=")
        is_named = bool(given) and key.strip().isidentifier() and not value.startswith("=")
        name = rf"\text{{{key.strip()}}} = " if is_named else ""
        arguments.append(name + written_latex(value.strip() if is_named else argument, names))
    return rf"\operatorname{{{piece.shape}}}\left({_NEXT.join(arguments)}\right)"


def _unit(unit: str) -> str:
    """A unit in upright letters, after the SI brochure."""
    text = unit.replace("ohm", r"\Omega ").replace("*", r"\,").replace("%", r"\%").replace("µ", r"\mu ")
    text = re.sub(r"\^(?:\(([^)]*)\)|(-?\d+))", lambda found: f"^{{{found[1] or found[2]}}}", text)
    return rf"\mathrm{{{text}}}"


def _escaped(text: str) -> str:
    return re.sub(r"([_&%#$])", r"\\\1", text)


def hamiltonian_to_latex(form: "HamiltonianSystem", *, environment: str = "align*") -> str:
    """The port-Hamiltonian form: state equation, outputs, unknowns, energy, and the names used."""
    return _with_short_names(form, lambda *change: _hamiltonian_lines(form, *change), environment)


def _hamiltonian_lines(given: "HamiltonianSystem", entry: Change, formula: Change) -> list[str]:
    """The lines: matrices with their entries changed, all else with its formulas changed."""
    brief = given.with_entries(entry)
    lines = _equations(brief, shown.hamiltonian_state(brief), shown.hamiltonian_output(brief))
    lines += [line for e in given.algebraic.residuals for line in _equation_lines("0", formula(e))]
    for name, note, e in shown.energy_functions(given):
        lines += [] if e is None else _equation_lines(latex_name(name) if note else name, formula(e))
    lines += _definitions(given.energy_variables, formula)
    lines += _definitions(given.displacements, formula, dotted)
    lines += _signals(given.signals)
    return lines + _definitions(given.where, formula)


def state_space_to_latex(form: "StateSpaceForm", *, environment: str = "align*") -> str:
    """The state-space form: rates of the states, outputs, unknowns, and the names used."""
    names, brief = _named_entries(form, shown.rate_equation(form), shown.output_equation(form))
    return _with_short_names(
        brief,
        lambda *change: [*_state_space_lines(brief, *change), *_entries(names, change[1])],
        environment,
        names.definitions,
    )


def _state_space_lines(given: "StateSpaceForm", entry: Change, formula: Change) -> list[str]:
    brief = given.with_entries(entry)
    lines = _equations(brief, shown.rate_equation(brief), shown.output_equation(brief))
    lines += [line for e in given.algebraic.residuals for line in _equation_lines("0", formula(e))]
    lines += _definitions(given.displacements, formula, dotted)
    lines += [*_signals(given.signals), *_point(given.point)]
    return lines + _definitions(given.where, formula)


def steps_to_latex(steps: "Explanation") -> str:
    r"""The derivation as paragraphs: sentences, lists, and formulas in `align*`. Needs amsmath."""
    parts = [_section(n, section) for n, section in enumerate(steps.sections, 1)]
    if steps.where:
        parts.append(f"{Phrases(steps.language)('steps.where')}\n{_environment('align*', _definitions(steps.where))}")
    return "\n\n".join(parts)


def transfer_to_latex(form: "TransferMatrix", *, environment: str = "align*") -> str:
    """The transfer matrix as a matrix of fractions."""
    left = _braced(_column(map(latex_name, form.outputs)), r"\mathbf{y}")
    matrix = _braced(_matrix(form.entries), rf"\mathbf{{G}}({latex_name(form.variable)})")
    right = _braced(_column(map(latex_name, form.inputs)), r"\mathbf{u}")
    lines = [f"{left} &= {matrix} {right}", *_definitions(form.where), *_point(form.point)]
    return _environment(environment, lines)


def descriptor_to_latex(form: "DescriptorSystem", *, environment: str = "align*") -> str:
    """The descriptor form, one equation a row."""
    w, u = ([latex_name(name) for name in names] for names in (form.unknowns, form.inputs))
    left = shown.terms_by_row((form.E, [dotted(name) for name in form.unknowns]))
    right, reading = shown.terms_by_row((form.F, w), (form.G, u)), shown.terms_by_row((form.H, w), (form.D, u))
    rows = sorted({*left, *right, *form.h})
    lines = [f"{_sum(left.get(k, ()))} &= {_sum(right.get(k, ()), form.h.get(k))}" for k in rows]
    lines += [f"{latex_name(name)} &= {_sum(reading.get(k, ()))}" for k, name in enumerate(form.outputs)]
    return _environment(environment, lines)


def dotted(name: str) -> str:
    r"""The derivative of a variable: the dot stands over the letter, `\dot{\omega}_{m}`."""
    letter, brace, subscript = latex_name(name).partition("_{")
    return rf"\dot{{{letter}}}{brace}{subscript}"


def _section(n: int, section: shown.ExplanationSection) -> str:
    return "\n".join([rf"\paragraph{{{n}. {section.title}}}", items_to_latex(section.items)])


def items_to_latex(items: Iterable[shown.Item]) -> str:
    """Items of a derivation; neighbours of one kind share an environment."""
    parts: list[tuple[str, list[str]]] = []
    for item in items:
        kind, lines = item_lines(item)
        if parts and parts[-1][0] == kind:
            parts[-1][1].extend(lines)
        else:
            parts.append((kind, lines))
    return "\n".join(_body(kind, lines) for kind, lines in parts)


def item_lines(item: shown.Item) -> tuple[str, list[str]]:
    """The environment of an item, and its lines there; prose stands in none, or in a list."""
    if isinstance(item, shown.Sentence):
        return ("itemize", [rf"\item {prose(item.text)}"]) if item.listed else ("", [prose(item.text)])
    if isinstance(item, shown.NamedFormula):
        return "align*", [f"{_quotient(item.name)} &= {to_latex(item.value)}"]
    if isinstance(item, shown.ExplainedEntry):
        whole = f"{_place(item)} &= {to_latex(item.value)}"
        if len(item.paths) == 1 and item.paths[0].gain == item.value:
            return "align*", [f"{whole} && {_route(item.paths[0])}"]
        return "align*", [whole, *(rf"&\quad {to_latex(path.gain)} && {_route(path)}" for path in item.paths)]
    if isinstance(item, shown.AlgebraicLoop):
        rounds = [rf"&\quad {to_latex(path.gain)} && {_route(path)}" for path in item.rounds]
        return "align*", [*rounds, f"{latex_name(item.name)} &= {to_latex(item.determinant)}"]
    return "align*", [f"{_letter(item.name)} &= {_matrix(item.rows)}"]


def _body(kind: str, lines: list[str]) -> str:
    if kind == "itemize":
        return "\n".join([r"\begin{itemize}", *(f"  {line}" for line in lines), r"\end{itemize}"])
    return _environment(kind, lines) if kind else " ".join(lines)


def _place(entry: shown.ExplainedEntry) -> str:
    letter, _, subscript = entry.matrix.partition("_")
    below = ",".join(
        [*([subscript] if subscript else []), str(entry.row), *([str(entry.column)] if entry.column else [])]
    )
    return f"{letter}_{{{below}}}"


def _route(path: shown.CausalPath) -> str:
    return r" \to ".join(map(_stop, path.stops))


def _stop(stop: str) -> str:
    """A name, or the members of a loop in parentheses."""
    if not stop.startswith("("):
        return latex_name(stop)
    return f"({', '.join(latex_name(name) for name in stop[1:-1].split(', '))})"


def _quotient(name: str) -> str:
    """A name; the slope `dq/dV` is a fraction of differentials, the rate `theta'` has a dot."""
    if name.endswith("'"):
        return rf"\dot{{{latex_name(name[:-1])}}}"
    above, slash, below = name.partition("/")
    return rf"\frac{{d{latex_name(above[1:])}}}{{d{latex_name(below[1:])}}}" if slash else latex_name(name)


_IN_PROSE = re.compile(r"`([^`]+)`|\$([^$]+)\$")


def prose(text: str) -> str:
    """A sentence with its names and letters in mathematics."""
    return _IN_PROSE.sub(lambda found: f"${latex_name(found[1]) if found[1] else _symbols(found[2])}$", text)


_SYMBOL = re.compile(r"(?P<letters>[A-Za-z]+)(?:_(?P<below>\w+))?(?P<entry>\[i,j\])?(?P<above>\^(?:T|-1))?")
_SCALARS, _VECTORS = frozenset("EHPV"), frozenset("xyuzqpfw")


def _symbols(text: str) -> str:
    """Letters of a sentence: matrices and vectors are bold, their entries are not."""
    return _SYMBOL.sub(_symbol, text)


def _symbol(found: re.Match[str]) -> str:
    letters, below, entry = found["letters"], found["below"], found["entry"]
    if letters in GREEK:
        letters = rf"\boldsymbol{{\{letters}}}"
    elif (
        not entry
        and len(letters) == 1
        and ((letters.isupper() and letters not in _SCALARS) or (letters in _VECTORS and not below))
    ):
        letters = rf"\mathbf{{{letters}}}"
    above = {"^T": r"^{\mathrm{T}}", "^-1": "^{-1}"}.get(found["above"] or "", "")
    return letters + (f"_{{{below}}}" if below else "") + ("_{ij}" if entry else "") + above


def _environment(name: str, lines: Iterable[str]) -> str:
    body = " \\\\\n".join(f"  {line}" for line in lines)
    return f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}"


def _definitions(
    names: Mapping[str, Expression], formula: Change = _itself, written: Callable[[str], str] = latex_name
) -> list[str]:
    return [line for name, e in names.items() for line in _equation_lines(written(name), readable(formula(e)))]


def _sums(sums: Iterable[MatrixSum]) -> str:
    text = ""
    for each in sums:
        text += shown.joint(text, each.negative)
        inner = ""
        for share in each.shares:
            inner += shown.joint(inner, share.negative) + _braced(_matrix(share.rows), _letter(share.letter))
        text += rf"\left({inner}\right)" if len(each.shares) > 1 else inner
        text += f" {_factors(each)}" if each.vector else ""
    return text


def _factors(each: MatrixSum) -> str:
    if each.vector == "grad_H":
        return _braced(_column(map(to_latex, each.factors)), r"\nabla H")
    names = [dotted(to_text(e)) if each.dotted else to_latex(e) for e in each.factors]
    vector = each.vector.removesuffix("'")
    letter = rf"\mathbf{{{vector}}}"
    return _braced(_column(names), rf"\dot{{{letter}}}" if each.dotted else letter)


def _letter(matrix: str) -> str:
    matrix, power, transposed = matrix.partition("^")
    if power:
        return rf"\mathbf{{{matrix}}}^{{\mathsf {transposed}}}"
    letter, _, subscript = matrix.partition("_")
    return rf"\mathbf{{{letter}}}_{{{subscript}}}" if subscript else rf"\mathbf{{{letter}}}"


def _braced(body: str, label: str) -> str:
    return rf"\underbrace{{{body}}}_{{{label}}}"


def _matrix(rows: Matrix) -> str:
    return _bracketed([[to_latex(readable(e)) for e in row] for row in rows])


def _column(cells: Iterable[str]) -> str:
    return _bracketed([[cell] for cell in cells])


def _bracketed(cells: list[list[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in cells)
    columns = max((len(row) for row in cells), default=0)
    # amsmath stops at ten columns with an error; an array has to be told how many it has.
    if columns <= MOST_COLUMNS:
        return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'c' * columns}}} {body} \end{{array}}\right]"


def _product(entry: Expression, factor: str) -> str:
    if entry is ONE:
        return factor
    written = to_latex(entry)
    if written == "-1":
        return f"-{factor}"
    # Behind a function without parentheses the factor would belong to its argument.
    if not isinstance(entry, Add) and any(isinstance(node, Call) for node in postorder(entry)):
        return f"-{factor} {written[1:]}" if written.startswith("-") else f"{factor} {written}"
    return rf"\left({written}\right) {factor}" if isinstance(entry, Add) else f"{written} {factor}"


def _sum(terms: Iterable[tuple[Expression, str]], rest: Expression | None = None) -> str:
    text = ""
    for term in (*(_product(e, factor) for e, factor in terms), *([] if rest is None else [to_latex(rest)])):
        text += term if not text else f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text or to_latex(ZERO)
