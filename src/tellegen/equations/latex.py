r"""Equations in LaTeX, as the lecture sets them: each matrix over a brace with its letter. Needs amsmath."""

from collections.abc import Iterable, Mapping

from tellegen.equations.display import (
    Equations,
    Sign,
    SparseForm,
    SparseRows,
    Term,
    TransferForm,
    output_equation,
    state_equation,
    summaries,
)
from tellegen.equations.matrices import Matrix
from tellegen.expressions import ONE, ZERO, Add, Expression, latex_name, to_latex

MOST_COLUMNS = 10
"""amsmath's bmatrix has room for so many columns; a wider matrix is an array."""

_NAMES_OF_SUMMARIES = {"E": "E", "P_d": "P_{d}"}


def equations_to_latex(equations: Equations, *, sign: Sign = "-", environment: str = "align*") -> str:
    r"""The equations in an amsmath environment: `align`, `align*`, or `aligned` to stand inside $$.

    State equation, output equation, unknowns, energy, dissipated power, dependent storages, and the names used.
    """
    lines: list[str] = []
    if equations.states:
        sides = state_equation(equations, sign)
        lines.append(f"{_terms(sides.left)} &= {_terms(sides.right)}")
    if equations.outputs:
        left = _braced(_column(map(latex_name, equations.outputs)), r"\mathbf{y}")
        lines.append(f"{left} &= {_terms(output_equation(equations).right)}")
    lines += [f"0 &= {to_latex(e)}" for e in equations.algebraic.residuals]
    lines += [f"{_NAMES_OF_SUMMARIES[name]} &= {to_latex(e)}" for name, e in summaries(equations)]
    lines += _definitions(equations.dependent)
    lines += _definitions(equations.where)
    return _environment(environment, lines)


def transfer_to_latex(form: TransferForm, *, environment: str = "align*") -> str:
    """The transfer matrix as a matrix of fractions."""
    left = _braced(_column(map(latex_name, form.outputs)), r"\mathbf{y}")
    matrix = _braced(_matrix(form.entries), rf"\mathbf{{G}}({latex_name(form.variable)})")
    right = _braced(_column(map(latex_name, form.inputs)), r"\mathbf{u}")
    return _environment(environment, [f"{left} &= {matrix} {right}", *_definitions(form.where)])


def descriptor_to_latex(form: SparseForm, *, environment: str = "align*") -> str:
    """The descriptor form, one equation a row."""
    rows: dict[int, tuple[list[str], list[str]]] = {}
    _collect(rows, form.E, [dotted(name) for name in form.unknowns], 0)
    _collect(rows, form.F, [latex_name(name) for name in form.unknowns], 1)
    _collect(rows, form.G, [latex_name(name) for name in form.inputs], 1)
    for k, e in form.h.items():
        rows.setdefault(k, ([], []))[1].append(to_latex(e))
    outputs: dict[int, tuple[list[str], list[str]]] = {}
    _collect(outputs, form.H, [latex_name(name) for name in form.unknowns], 1)
    _collect(outputs, form.D, [latex_name(name) for name in form.inputs], 1)
    lines = [f"{_sum(rows[k][0])} &= {_sum(rows[k][1])}" for k in sorted(rows)]
    lines += [
        f"{latex_name(name)} &= {_sum(outputs[k][1] if k in outputs else [])}" for k, name in enumerate(form.outputs)
    ]
    return _environment(environment, lines)


def dotted(name: str) -> str:
    r"""The derivative of a variable: the dot stands over the letter, `\dot{\omega}_{m}`."""
    letter, brace, subscript = latex_name(name).partition("_{")
    return rf"\dot{{{letter}}}{brace}{subscript}"


def _environment(name: str, lines: Iterable[str]) -> str:
    body = " \\\\\n".join(f"  {line}" for line in lines)
    return f"\\begin{{{name}}}\n{body}\n\\end{{{name}}}"


def _definitions(names: Mapping[str, Expression]) -> list[str]:
    return [f"{latex_name(name)} &= {to_latex(e)}" for name, e in names.items()]


def _terms(terms: Iterable[Term]) -> str:
    text = ""
    for term in terms:
        sign = "-" if term.negative else "+" if text else ""
        text += f" {sign} " if text else sign
        text += _braced(_matrix(term.rows), _letter(term.matrix))
        if term.vector:
            text += " " + _factor(term)
    return text


def _factor(term: Term) -> str:
    names = map(dotted if term.dotted else latex_name, term.factors)
    letter = rf"\mathbf{{{term.vector}}}"
    return _braced(_column(names), rf"\dot{{{letter}}}" if term.dotted else letter)


def _letter(matrix: str) -> str:
    letter, _, subscript = matrix.partition("_")
    return rf"\mathbf{{{letter}}}_{{{subscript}}}" if subscript else rf"\mathbf{{{letter}}}"


def _braced(body: str, label: str) -> str:
    return rf"\underbrace{{{body}}}_{{{label}}}"


def _matrix(rows: Matrix) -> str:
    return _bracketed([[to_latex(e) for e in row] for row in rows])


def _column(cells: Iterable[str]) -> str:
    return _bracketed([[cell] for cell in cells])


def _bracketed(cells: list[list[str]]) -> str:
    body = r" \\ ".join(" & ".join(row) for row in cells)
    columns = max((len(row) for row in cells), default=0)
    if columns <= MOST_COLUMNS:
        return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"
    return rf"\left[\begin{{array}}{{{'c' * columns}}} {body} \end{{array}}\right]"


def _collect(rows: dict[int, tuple[list[str], list[str]]], matrix: SparseRows, factors: list[str], side: int) -> None:
    for (i, j), e in sorted(matrix.items(), key=lambda item: item[0]):
        rows.setdefault(i, ([], []))[side].append(_product(e, factors[j]))


def _product(entry: Expression, factor: str) -> str:
    if entry is ONE:
        return factor
    written = to_latex(entry)
    if written == "-1":
        return f"-{factor}"
    return rf"\left({written}\right) {factor}" if isinstance(entry, Add) else f"{written} {factor}"


def _sum(terms: list[str]) -> str:
    text = ""
    for term in terms:
        text += term if not text else f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text or to_latex(ZERO)
