"""What is shown of equations, whatever the language: the terms of a form, and the sentences, formulas and paths of a derivation.

    L x' + N x + f = -A x + B u + B_1 u'
                 y =  C x + D u + D_1 u' + f_y

Terms that vanish are left out. With the sign "+" the equation is `L x' = A x + B u` with A negated; N and f keep their
place on the left. Text, LaTeX and JSON read what stands here and decide nothing but how it is written.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeVar, final

from tellegen.core.names import unused
from tellegen.equations.matrices import Matrix, Sparse, Vector, dot, negative, transposed
from tellegen.expressions import ONE, ZERO, Expression, symbol, to_text, total
from tellegen.expressions.elimination import with_definitions
from tellegen.expressions.simplification import readable, readable_terms
from tellegen.graph.signals import Delayed, Sampled, Table
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.signals.formulas import NestedText, as_written

if TYPE_CHECKING:  # the forms print themselves, so they import their printers
    from tellegen.equations.forms.hamiltonian import HamiltonianSystem
    from tellegen.equations.forms.state_space import StateSpaceForm
    from tellegen.equations.signal_equations import SignalEquations
    from tellegen.equations.system import EquationSystem

# A derivation


@final
@dataclass(frozen=True)
class CausalPath:
    """A path by the names of the elements it passes. Its gain is `forward` times `cofactor`, over the determinant named `delta`.

    `eliminated` names the members of larger algebraic loops: then the gain is what elimination found for all paths through them.
    """

    forward: Expression
    stops: tuple[str, ...]
    cofactor: Expression = ONE
    delta: str = ""
    eliminated: tuple[str, ...] = ()

    @property
    def gain(self) -> Expression:
        """The share of the path in an entry, over parameters and the name of the determinant."""
        whole = self.forward * self.cofactor
        return whole / symbol(self.delta) if self.delta else whole


@final
@dataclass(frozen=True)
class AlgebraicLoop:
    """Resistive elements that decide each other: the gains of the elementary loops, and the determinant 1 - their sum.

    Of at most three elements no two loops are without a common element, so that no products of loops arise. `rounds` is empty for a
    larger loop, which is solved by elimination.
    """

    name: str
    members: tuple[str, ...]
    rounds: tuple[CausalPath, ...] = ()

    @property
    def determinant(self) -> Expression:
        """Delta."""
        return ONE - total(path.forward for path in self.rounds)


@final
@dataclass(frozen=True)
class Sentence:
    """Prose, with names between backquotes and letters of mathematics between dollars; a `listed` one is a line of a list."""

    text: str
    listed: bool = False

    @property
    def plain(self) -> str:
        """The text without its marks."""
        return self.text.replace("`", "").replace("$", "")


@final
@dataclass(frozen=True)
class NamedFormula:
    """A name and what it is equal to."""

    name: str
    value: Expression


@final
@dataclass(frozen=True)
class ShownMatrix:
    """A matrix with its letter. `explained` tells that its entries stand above, so that they need not be listed once more."""

    name: str
    rows: Matrix
    explained: bool = False


@final
@dataclass(frozen=True)
class ExplainedEntry:
    """An entry of a matrix, counted from 1, as the sum of the gains of paths; `column` 0 stands for a vector."""

    matrix: str
    row: int
    column: int
    value: Expression
    paths: tuple[CausalPath, ...]

    @property
    def place(self) -> str:
        """The entry as it is written: A[1,2], f[1]."""
        return f"{self.matrix}[{self.row},{self.column}]" if self.column else f"{self.matrix}[{self.row}]"


Item = Sentence | NamedFormula | ShownMatrix | AlgebraicLoop | ExplainedEntry


@final
@dataclass(frozen=True)
class ExplanationSection:
    """One step of a derivation."""

    title: str
    items: tuple[Item, ...]


# Terms of a form

Sign = Literal["-", "+"]
"""The sign in front of A: "-" of the Mechatronics paper, "+" of the lecture and of POG_Modeler."""


class SignedMatrix(NamedTuple):
    """A matrix inside a sum, with its sign."""

    negative: bool
    letter: str
    rows: Matrix


class MatrixSum(NamedTuple):
    """A sum of matrices times one vector, `(J - R) grad_H`; without a vector, a column of its own. A prime marks x' and u'."""

    shares: tuple[SignedMatrix, ...]
    vector: str
    factors: tuple[Expression, ...]
    negative: bool = False

    @property
    def dotted(self) -> bool:
        """Whether the factors are rates."""
        return self.vector.endswith("'")


class EquationSides(NamedTuple):
    """An equation: its terms left and right of the sign."""

    left: tuple[MatrixSum, ...]
    right: tuple[MatrixSum, ...]


def matrix_sum(
    vector: str,
    factors: tuple[str, ...] | tuple[Expression, ...],
    *shares: tuple[str, Matrix],
    negative: bool = False,
    kept: bool = False,
) -> MatrixSum:
    """A term of an equation from matrices with their letters, `-R` for one that is subtracted.

    Matrices of zeros are left out, but for the first one where it is `kept` because it makes the form.
    """
    # By identity with ZERO: what is zero in hiding would be shown as the formula that it is.
    shown = [share for k, share in enumerate(shares) if (kept and k == 0) or not vanishes(share[1])]
    signed = tuple(SignedMatrix(letter.startswith("-"), letter.removeprefix("-"), rows) for letter, rows in shown)
    return MatrixSum(signed, vector, tuple(symbol(f) if isinstance(f, str) else f for f in factors), negative)


def vanishes(rows: Matrix) -> bool:
    """Whether a matrix holds nothing but zeros, or nothing at all."""
    return all(e is ZERO for row in rows for e in row)


def signed_power_matrix(equations: "EquationSystem", sign: Sign) -> Matrix:
    """A as it stands in the equation of a sign convention."""
    A = equations.matrices["A"]
    return A if sign == "-" else negative(A)


def state_equation(equations: "EquationSystem", sign: Sign) -> EquationSides:
    """The terms of `L x' + N x + f = -A x + B u + B_1 u'`; A and B stay where they vanish: they make the form."""
    x, u = equations.states, equations.inputs
    m, f = equations.matrices, equations.vectors["f"]
    A = signed_power_matrix(equations, sign)
    left = (
        matrix_sum("x'", x, ("L", m["L"]), kept=True),
        matrix_sum("x", x, ("N", m["N"])),
        matrix_sum("", (), ("f", _column(f))),
    )
    right = (
        matrix_sum("x", x, ("A", A), negative=sign == "-", kept=True),
        # Where only the rates of inputs count, as for a source on a storage alone, a B of zeros would say nothing.
        matrix_sum("u", u, ("B", m["B"]), kept=bool(u) and vanishes(m["B_1"])),
        matrix_sum("u'", u, ("B_1", m["B_1"])),
    )
    return EquationSides(_filled(*left), _filled(*right))


def rate_equation(form: "StateSpaceForm") -> EquationSides:
    """The terms of `x' = A x + B u + B_1 u' + f`."""
    x, u, m = form.states, form.inputs, form.matrices
    right = (
        matrix_sum("x", x, ("A", m["A"]), kept=True),
        matrix_sum("u", u, ("B", m["B"]), kept=bool(u) and vanishes(m["B_1"])),
        matrix_sum("u'", u, ("B_1", m["B_1"])),
        matrix_sum("", (), ("f", _column(form.vectors["f"]))),
    )
    return EquationSides((), _filled(*right))


def output_equation(equations: "EquationSystem | StateSpaceForm") -> EquationSides:
    """The terms of `y = C x + D u + D_1 u' + f_y`."""
    x, u = equations.states, equations.inputs
    m, f_y = equations.matrices, equations.vectors["f_y"]
    right = (
        matrix_sum("x", x, ("C", m["C"]), kept=bool(x)),
        matrix_sum("u", u, ("D", m["D"]), kept=not x),
        matrix_sum("u'", u, ("D_1", m["D_1"])),
        matrix_sum("", (), ("f_y", _column(f_y))),
    )
    return EquationSides((), _filled(*right))


def hamiltonian_state(form: "HamiltonianSystem") -> EquationSides:
    """Both sides of `E x' + E_1 x + f = (J - R) grad_H + (g - P) u`; f stands right. The left one is empty for x' alone."""
    m, x = form.matrices, form.states
    left: tuple[MatrixSum, ...] = ()
    if "E" in m:
        left = (matrix_sum("x'", x, ("E", m["E"])), matrix_sum("x", x, ("E_1", m["E_1"])))
    right = (
        matrix_sum("grad_H", form.grad_H, ("J", m["J"]), ("-R", m["R"]), kept=True),
        matrix_sum("u", form.inputs, ("g", m["g"]), ("-P", m["P"]), kept=bool(form.inputs)),
        matrix_sum("", (), ("f", _column(form.f)), negative=True),
    )
    return EquationSides(_filled(*left), _filled(*right))


def hamiltonian_output(form: "HamiltonianSystem") -> EquationSides:
    """The terms of `y = (g + P)^T grad_H + (S + N) u + f_y`."""
    m, n = form.matrices, len(form.inputs)
    g, P = transposed(m["g"], n), transposed(m["P"], n)
    right = (
        matrix_sum("grad_H", form.grad_H, ("g^T", g), ("P^T", P), kept=bool(form.states)),
        matrix_sum("u", form.inputs, ("S", m["S"]), ("N", m["N"]), kept=not form.states),
        matrix_sum("", (), ("f_y", _column(form.f_y))),
    )
    return EquationSides((), _filled(*right))


def _column(vector: Vector) -> Matrix:
    return tuple((e,) for e in vector)


def _filled(*sums: MatrixSum) -> tuple[MatrixSum, ...]:
    return tuple(each for each in sums if each.shares)


# Long entries

LONG = 24
"""An entry of more characters has a name where an equation would be wider than a line."""
STATE_LETTERS, OUTPUT_LETTERS = ("L", "N", "f", "A", "B", "B_1"), ("C", "D", "D_1", "f_y")


NamedSystem = TypeVar("NamedSystem", "EquationSystem", "StateSpaceForm")


@final
class PlaceNames(Generic[NamedSystem]):
    """Names for the long entries of a form by their places: L_12 for what stands in the first row of L in its second column."""

    def __init__(self, form: NamedSystem) -> None:
        self.definitions: dict[str, Expression] = {}
        self._form: NamedSystem = form
        self._names: dict[Expression, Expression] = {}
        self._taken = {*form.parameters, *form.states, *form.inputs, *form.outputs, *form.displacements, *form.where}
        self._variables = (*form.displacements, *form.states, *form.inputs, *form.algebraic.unknowns)
        self._taken |= {*form.algebraic.unknowns, *form.signals.names}

    def shortened(self, letters: Iterable[str]) -> NamedSystem:
        """The form with names for the long entries of some of its matrices and vectors."""
        wanted = set(letters)
        matrices = {
            letter: tuple(
                tuple(self._entry(letter, i, j, e) for j, e in enumerate(row, 1)) for i, row in enumerate(m, 1)
            )
            for letter, m in self._form.matrices.items()
            if letter in wanted
        }
        vectors = {
            letter: tuple(self._entry(letter, i, 0, e) for i, e in enumerate(v, 1))
            for letter, v in self._form.vectors.items()
            if letter in wanted
        }
        changed = {**self._form.matrices, **matrices}, {**self._form.vectors, **vectors}
        self._form = replace(self._form, matrices=changed[0], vectors=changed[1])
        return self._form

    def reads(self, name: str) -> tuple[str, ...]:
        """The variables that a named entry moves with, in their order."""
        read = with_definitions(self.definitions[name], self._form.where).free_symbols
        return tuple(variable for variable in self._variables if variable in read)

    def _entry(self, letter: str, i: int, j: int, entry: Expression) -> Expression:
        if entry is ZERO or len(to_text(entry)) <= LONG:
            return entry
        if entry not in self._names:
            # L_1_12 is read as one place where L_112 would be two.
            apart = "_" if max(i, j) > 9 else ""
            wanted = f"{letter}_{i}{apart}{j}" if j else f"{letter}_{i}"
            name = unused(wanted, self._taken)
            self._taken.add(name)
            self.definitions[name] = entry
            self._names[entry], self._names[-entry] = symbol(name), -symbol(name)
        return self._names[entry]


def width_of(sides: EquationSides) -> int:
    """How many characters the widest row of an equation with matrices has, about."""
    found = 0
    for each in (*sides.left, *sides.right):
        for share in each.shares:
            columns = zip(*share.rows, strict=True)
            found += sum(max(len(to_text(e)) for e in column) + 2 for column in columns) + 4
        found += max((len(to_text(e)) for e in each.factors), default=0) + 4
    return found


# Lines beside the matrices


class ElementModes(NamedTuple):
    """The words for the modes of an element, and the one that equations hold in."""

    words: tuple[str, ...]
    now: str


class SignalStatement(NamedTuple):
    """What is said of a signal: its name, whether its rate is given, a word such as `delay`, and what stands in it.

    Formulas and rates have no word and one expression. `written` are the keys of a block, or of a formula with shapes, with the
    texts of their author; the word is then that of the block, and `words` are the keys that hold a word and no formula.
    """

    name: str
    is_rate: bool
    word: str
    inside: tuple[Expression, ...]
    written: Mapping[str, NestedText] | None = None
    words: frozenset[str] = frozenset()


def signal_lines(signals: "SignalEquations") -> Iterator[SignalStatement]:
    """The signals, those that their author wrote by the name of a block or a shape as that; what drives inputs comes last."""
    lines = list(_lines_of_laws(signals))
    definitions = {law.name: law.definition for law in signals.laws if law.definition is not None}
    written = {d.name: found for d in definitions.values() if (found := as_written(d, signals.names)) is not None}
    meant = {d.name: d for d in definitions.values()}
    shares = {name: d.name for name, d in definitions.items() if d.name in written}
    # A share of a block that something else reads stays: its name would stand there without a meaning.
    formulas = [e for line in lines if line.name not in shares for e in line.inside]
    formulas += [e for d in definitions.values() if d.name in written for e in d.formulas()]
    read = frozenset[str]().union(*(e.free_symbols for e in formulas))
    for line in lines:
        whole = shares.get(line.name)
        if whole is None and line.name in written and line.name not in signals.names:
            whole = line.name  # an input, whose course is one of the signals
        if whole == line.name:
            block, settings = meant[whole].block, meant[whole].settings
            words = frozenset(key for key, held in settings.items() if isinstance(held, str))
            yield SignalStatement(line.name, False, "" if block == FORMULA else block, (), written[whole], words)
        elif whole is None or (line.name in read and whole in signals.names):
            yield line


MOST_POINTS = 6
"""A longer list is shown by its ends."""


def ends_of(texts: Sequence[NestedText]) -> Sequence[NestedText]:
    """A list as far as it is shown."""
    return texts if len(texts) <= MOST_POINTS else [*texts[:2], "...", texts[-1]]


def _lines_of_laws(signals: "SignalEquations") -> Iterator[SignalStatement]:
    named = signals.named
    for name, value in signals.values.items():
        if name not in named:
            yield SignalStatement(name, False, "", (readable(value),))
    for name, rate in signals.states.items():
        yield SignalStatement(name, True, "", (rate,))
    # Signals with a memory have no formula of the same instant; a word tells what they are.
    for law in signals.others:
        if isinstance(law, Sampled) and law.is_latch:
            yield SignalStatement(law.name, False, "latch", (law.expression,))
        elif isinstance(law, Sampled):
            yield SignalStatement(law.name, False, "sample", (law.expression, law.period))
        elif isinstance(law, Delayed):
            yield SignalStatement(law.name, False, "delay", (law.expression, law.by))
        elif isinstance(law, Table):
            yield SignalStatement(law.name, False, "table", (law.argument,))
        else:
            yield SignalStatement(law.name, False, "function", law.arguments)
    for name, value in signals.drivers.items():
        yield SignalStatement(name, False, "", (value,))


def summaries(equations: "EquationSystem", sign: Sign) -> Iterator[tuple[str, Expression]]:
    """The scalar lines below the matrices: stored and potential energy and dissipated power, where they say something.

    With the sign of L x' = A x + B u the power is the share of A in E', which is negative where something dissipates.
    """
    taken = {*equations.parameters, *equations.states, *equations.inputs, *equations.outputs, *equations.where}
    if equations.stored_energy is not None and equations.stored_energy is not ZERO:
        yield "E(x)" if "E" in taken else "E", readable_terms(equations.stored_energy)
    if equations.potential_energy is not ZERO:
        yield "V(q)" if "V" in taken else "V", readable_terms(equations.potential_energy)
    if equations.dissipated_power is not ZERO:
        yield "P_d", readable_terms(equations.dissipated_power if sign == "-" else -equations.dissipated_power)


def measured_formulas(equations: "EquationSystem") -> dict[str, Expression]:
    """What is measured, each as one formula; rates of inputs have a prime."""
    rows = equations.measured
    x, u = ([symbol(name) for name in names] for names in (equations.states, equations.inputs))
    rates = [symbol(f"{name}'") for name in equations.inputs]
    return {
        name: dot(rows.C[k], x) + dot(rows.D[k], u) + dot(rows.D_1[k], rates) + rows.rest[k]
        for k, name in enumerate(rows.names)
    }


HEAT_NOTE = "J*K; temperature times heat flow is no power, so H_heat falls as heat spreads but is no energy"


def _energy_label(form: "HamiltonianSystem") -> str:
    """H, or H(x) where H is a name of the model."""
    # A magnetic field or a height is called H, too.
    return "H(x)" if "H" in {*form.parameters, *form.states, *form.inputs, *form.where} else "H"


def energy_functions(form: "HamiltonianSystem") -> list[tuple[str, str, Expression | None]]:
    """H with its name, and what capacities of heat add with a word about it; a model of heat alone has no H."""
    shown: list[tuple[str, str, Expression | None]] = []
    if form.H is not ZERO or form.H_heat is ZERO:
        shown.append((_energy_label(form), "", form.H))
    if form.H_heat is not ZERO:
        shown.append(("H_heat", HEAT_NOTE, form.H_heat))
    return shown


# Sums


def joint(before: object, negative: bool) -> str:
    """The sign between what was written and the next term."""
    if not before:
        return "-" if negative else ""
    return " - " if negative else " + "


def terms_by_row(*parts: tuple[Sparse, Sequence[str]]) -> dict[int, list[tuple[Expression, str]]]:
    """The entries of sparse matrices with the names that they multiply, row by row."""
    rows: dict[int, list[tuple[Expression, str]]] = {}
    for matrix, names in parts:
        for (i, j), e in sorted(matrix.items(), key=lambda item: item[0]):
            rows.setdefault(i, []).append((e, names[j]))
    return rows
