"""The equations of a model in the POG form, as a value: with rows of what is measured, with numbers in place of parameters, and
with short names inlined.

The outputs of the POG form are conjugate to its inputs, so that `y^T u` is a power. A measured variable is anything else that
somebody wants to see: it takes no power, and no test of dissipation asks for it.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, ClassVar, Literal, final

from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.core.ordering import in_order
from tellegen.equations import rules
from tellegen.equations.matrices import Matrix, Vector, zeros
from tellegen.equations.printing.explanation import ElementModes, Sign
from tellegen.equations.printing.latex import equations_to_latex
from tellegen.equations.printing.record import equations_to_record
from tellegen.equations.printing.text import equations_to_text
from tellegen.equations.signal_equations import NO_SIGNALS, SignalEquations
from tellegen.expressions import ONE, ZERO, Expression, number, to_text
from tellegen.expressions.elimination import LONGEST, leaf_count, used_names, with_definitions
from tellegen.expressions.simplification import shortened
from tellegen.expressions.symbols import written_with
from tellegen.expressions.sympy_view import matrix_view
from tellegen.expressions.waves import joined_sines

if TYPE_CHECKING:
    from tellegen.causality import CausalGraph


@final
@dataclass(frozen=True)
class Measured:
    """`C x + D u + D_1 u' + rest` for each name; `rest` is what is not linear in states and inputs."""

    names: tuple[str, ...] = ()
    C: Matrix = ()
    D: Matrix = ()
    D_1: Matrix = ()
    rest: Vector = ()

    def changed(self, change: Callable[[Expression], Expression]) -> "Measured":
        """The same with every expression changed."""
        if not self.names:
            return self
        C, D, D_1 = (tuple(tuple(map(change, row)) for row in m) for m in (self.C, self.D, self.D_1))
        return Measured(self.names, C, D, D_1, tuple(map(change, self.rest)))

    def entries(self) -> list[Expression]:
        """Every expression."""
        return [e for m in (self.C, self.D, self.D_1) for row in m for e in row] + list(self.rest)


NOTHING_MEASURED = Measured()


@final
@dataclass(frozen=True)
class LinearPart:
    """An expression as `row x + row_u u + rest`."""

    row: Vector
    row_u: Vector
    rest: Expression


def linear_part(
    expression: Expression,
    states: Sequence[str],
    inputs: Sequence[str],
    variables: Iterable[str],
    where: Mapping[str, Expression],
) -> LinearPart:
    """The coefficients of states and inputs; where one of them varies with `variables`, all of the expression is rest."""
    varying = set(variables)
    moving: dict[str, Expression] = {}
    for name, meaning in where.items():
        # A name may stand for something that varies; it has to be written out to be differentiated.
        if meaning.free_symbols & (varying | moving.keys()):
            moving[name] = meaning
    written = with_definitions(expression, moving)
    row, row_u = (tuple(written.derivative(name) for name in names) for names in (states, inputs))
    # Coefficients that vary with the state would make C move; the whole expression goes into the rest then.
    if any(e.free_symbols & varying for e in (*row, *row_u)):
        return LinearPart((ZERO,) * len(row), (ZERO,) * len(row_u), expression)
    at_rest: dict[str, Expression] = dict.fromkeys((*states, *inputs), ZERO)
    return LinearPart(row, row_u, written.substitute(at_rest))


def with_measured_outputs(system: "EquationSystem", outputs: Sequence[str] | None = None) -> "EquationSystem":
    """The system whose outputs are those named, or by default its own and then all that is measured.

    A displacement that an output reads becomes a state where the model is linear otherwise.

    Raises: EquationError (E132) for a name that is neither an output, a state nor measured.
    """
    measured = system.measured
    # Most models have no detectors, and stay the object they were.
    if outputs is None and not measured.names:
        return system
    system = _with_displacements(system)
    measured = system.measured
    m, n = system.matrices, len(system.states)
    nothing = (ZERO,) * len(system.inputs)
    rows = dict(zip(measured.names, zip(measured.C, measured.D, measured.D_1, measured.rest, strict=True), strict=True))
    for k, name in enumerate(system.states):
        rows[name] = tuple(ONE if j == k else ZERO for j in range(n)), nothing, nothing, ZERO
    own = zip(m["C"], m["D"], m["D_1"], system.vectors["f_y"], strict=True)
    rows |= dict(zip(system.outputs, own, strict=True))  # the same row, where it is a state
    new = [name for name in measured.names if name not in system.outputs]
    wanted = [*system.outputs, *new] if outputs is None else list(dict.fromkeys(outputs))
    for name in wanted:
        if name not in rows:
            raise no_such_output(name, rows, system.name)
    chosen = [rows[name] for name in wanted]
    matrices: dict[MatrixName, Matrix] = {
        "C": tuple(row[0] for row in chosen),
        "D": tuple(row[1] for row in chosen),
        "D_1": tuple(row[2] for row in chosen),
    }
    return replace(
        system,
        outputs=tuple(wanted),
        matrices={**m, **matrices},
        vectors={**system.vectors, "f_y": tuple(row[3] for row in chosen)},
        measured=NOTHING_MEASURED,
        dissipated_power=ZERO,
    )


def no_such_output(name: str, known: Iterable[str], model: str) -> Exception:
    """The error about an output that nothing in the model is."""
    names = list(known)
    fix = did_you_mean(name, names[:2000]) or f"some that are: {listing(names, 20)}"
    return rules.NO_SUCH_OUTPUT.error(f"'{name}' is nothing that can be measured in '{model}'", where=model, fix=fix)


def _with_displacements(system: "EquationSystem") -> "EquationSystem":
    """The system with the displacements that measured rows read as states, if it is linear and so are they."""
    measured = system.measured
    names = [n for n in system.displacements if any(n in e.free_symbols for e in measured.rest)]
    # As states of a nonlinear model they would change nothing: its rows may read displacements as they are.
    if not names or not replace(system, measured=NOTHING_MEASURED).linear:
        return system
    variables = (*system.states, *system.inputs, *system.displacements)
    states = (*system.states, *names)
    rates = [linear_part(system.displacements[n], states, system.inputs, variables, system.where) for n in names]
    rows = [linear_part(e, names, (), variables, system.where) for e in measured.rest]
    if any(part.rest is not ZERO for part in (*rates, *rows)):
        return system
    n, m, more = len(system.states), len(system.inputs), len(names)
    own: dict[MatrixName, Matrix] = {
        k: tuple((*row, *(ZERO,) * more) for row in system.matrices[k]) for k in ("L", "A", "N", "C")
    }
    ones = tuple(tuple(ONE if j == n + k else ZERO for j in range(n + more)) for k in range(more))
    below: dict[MatrixName, Matrix] = {
        **system.matrices,
        "L": own["L"] + ones,
        "A": own["A"] + tuple(tuple(-e for e in part.row) for part in rates),
        "N": own["N"] + zeros(more, n + more),
        "B": system.matrices["B"] + tuple(part.row_u for part in rates),
        "B_1": system.matrices["B_1"] + zeros(more, m),
        "C": own["C"],
    }
    C = tuple((*row, *part.row) for row, part in zip(measured.C, rows, strict=True))
    return replace(
        system,
        states=states,
        matrices=below,
        vectors={**system.vectors, "f": (*system.vectors["f"], *(ZERO,) * more)},
        displacements={name: rate for name, rate in system.displacements.items() if name not in names},
        measured=replace(measured, C=C, rest=(ZERO,) * len(rows)),
    )


class PrintedForm:
    """A form of equations that prints itself. `printers` write it as text, in an environment of LaTeX, and as a record."""

    printers: ClassVar[tuple[Callable[..., str], Callable[..., str], Callable[..., dict[str, object]]]]
    parameters: Mapping[str, Expression | None]
    symbols: Mapping[str, str]

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def to_text(self) -> str:
        """The form as text for a terminal."""
        return self.printers[0](self)

    def constants(self) -> set[str]:
        """The names that stand before variables in a product: parameters, and gains with names of their own."""
        return {*self.parameters, *getattr(self, "where", ())}

    def to_latex(self) -> str:
        """The form as an amsmath `align*` environment."""
        with written_with(self.symbols, self.constants()):
            return self.printers[1](self)

    def to_json(self) -> dict[str, object]:
        """The record that `derive --json` prints: names, and formulas in Python syntax."""
        return self.printers[2](self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_latex_(self) -> str:
        with written_with(self.symbols, self.constants()):
            return f"$$\n{self.printers[1](self, environment='aligned')}\n$$"


MatrixName = Literal["L", "A", "B", "C", "D", "N", "B_1", "D_1"]
VectorName = Literal["f", "f_y"]


@final
@dataclass(frozen=True)
class Algebraic:
    """Unknowns without a derivative, and the residuals that vanish at their solution."""

    unknowns: tuple[str, ...] = ()
    residuals: Vector = ()


@final
@dataclass(frozen=True)
class OperatingPoint:
    """Values by name, and where they come from, in words: "steady state, inputs as at t = 2 s"."""

    values: Mapping[str, float]
    origin: str = ""


@final
@dataclass(frozen=True)
class EquationSystem(PrintedForm):
    """`L x' + N x + f = -A x + B u + B_1 u'`, `y = C x + D u + D_1 u' + f_y`, `0 = residual(x, u, w)`.

    L is symmetric and positive semidefinite; A_s dissipates and A_w redistributes. N, f, B_1, D_1, f_y and the algebraic part are
    zero or empty for most models. Entries are over parameters, states, inputs, unknowns, and the names listed in `where`, in order.
    `signals` are causal and beside the power equations; moduli and coefficients may read them, and what they drive is an input.
    `dependent` expresses the outputs of the storages in derivative causality (the rows of T and T_u below the identity), `measured`
    what detectors read beside the outputs y. A linearised model holds about `point`, in deviations from it.

    `matrices` and `vectors` hold our own expressions; `eq.L`, `eq.A`, ... are SymPy's view of them.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[MatrixName, Matrix]
    vectors: Mapping[VectorName, Vector]
    stored_energy: Expression | None
    dissipated_power: Expression
    potential_energy: Expression = ZERO
    algebraic: Algebraic = Algebraic()
    where: Mapping[str, Expression] = field(default_factory=dict)
    dependent: Mapping[str, Expression] = field(default_factory=dict)
    initial: Mapping[str, Expression] = field(default_factory=dict)
    displacements: Mapping[str, Expression] = field(default_factory=dict)
    signals: SignalEquations = NO_SIGNALS
    measured: Measured = NOTHING_MEASURED
    point: OperatingPoint | None = None
    origin: "CausalGraph | None" = field(default=None, compare=False, repr=False)
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    printers = equations_to_text, equations_to_latex, equations_to_record

    @property
    def linear(self) -> bool:
        """Whether the matrices hold neither states nor inputs and no further terms are left."""
        variables = {*self.states, *self.inputs, *self.displacements, *self.algebraic.unknowns, *self.signals.names}
        # First what is cheap to see: a large linear model passes in one walk over its entries.
        if self.algebraic.unknowns or any(e is not ZERO for vector in self.vectors.values() for e in vector):
            return False
        entries = (e for matrix in self.matrices.values() for row in matrix for e in row)
        return not any(variables & e.free_symbols for e in (*entries, *self.where.values()))

    @property
    def modes(self) -> dict[str, ElementModes]:
        """The modes of the elements that have some, and the mode in which these equations hold."""
        if self.origin is None:
            return {}
        graph = self.origin.graph
        return {
            graph.ports[k].element: ElementModes(tuple(law.modes), graph.mode_of(k))
            for k, law in graph.switching.items()
        }

    @property
    def symmetric_part(self) -> Matrix:
        """A_s, the part of A that dissipates."""
        return _half_sum(self.matrices["A"], 1)

    @property
    def skew_part(self) -> Matrix:
        """A_w, the part of A that only redistributes."""
        return _half_sum(self.matrices["A"], -1)

    def is_zero(self, name: "MatrixName | VectorName") -> bool:
        """Whether a matrix or vector vanishes."""
        if name in self.vectors:
            return all(e is ZERO for e in self.vectors[name])  # type: ignore[index]
        return all(e is ZERO for row in self.matrices[name] for e in row)  # type: ignore[index]

    def with_entries(self, change: Callable[[Expression], Expression]) -> "EquationSystem":
        """The system with every expression in it changed."""
        energy = self.stored_energy
        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            vectors={name: tuple(map(change, v)) for name, v in self.vectors.items()},
            algebraic=Algebraic(self.algebraic.unknowns, tuple(map(change, self.algebraic.residuals))),
            dependent={name: change(e) for name, e in self.dependent.items()},
            signals=self.signals.changed(change),
            measured=self.measured.changed(change),
            stored_energy=None if energy is None else change(energy),
            dissipated_power=change(self.dissipated_power),
            potential_energy=change(self.potential_energy),
        )

    def everywhere(self, change: Callable[[Expression], Expression]) -> "EquationSystem":
        """The same, and rates of displacements and the meanings of names too."""
        where = {name: change(e) for name, e in self.where.items()}
        displacements = {name: change(rate) for name, rate in self.displacements.items()}
        return replace(self.with_entries(change), where=where, displacements=displacements)

    def entries(self) -> list[Expression]:
        """Every expression of the equations."""
        flat = [e for m in self.matrices.values() for row in m for e in row]
        vectors = [e for v in self.vectors.values() for e in v]
        energy = [] if self.stored_energy is None else [self.stored_energy]
        others = [
            *self.algebraic.residuals,
            *self.dependent.values(),
            *self.signals.entries(),
            *self.measured.entries(),
        ]
        return [*flat, *vectors, *others, *energy, self.dissipated_power, self.potential_energy]

    # -- Printouts -------------------------------------------------------------------------------------------------------------

    def to_text(self, sign: Sign = "-") -> str:
        """The equations as text for a terminal."""
        return equations_to_text(self, sign=sign)

    def to_latex(self, sign: Sign = "-") -> str:
        """The equations as an amsmath `align*` environment."""
        with written_with(self.symbols, self.constants()):
            return equations_to_latex(self, sign=sign)

    def to_json(self, sign: Sign = "-") -> dict[str, object]:
        """The record that `derive --json` prints: names, values of parameters, matrices of formulas in Python syntax."""
        return equations_to_record(self, sign)

    # -- SymPy's view ----------------------------------------------------------------------------------------------------------

    L = matrix_view("The energy matrix", lambda eq: eq.matrices["L"])
    A = matrix_view("The power matrix, in the sign of `L x' = -A x + B u`,", lambda eq: eq.matrices["A"])
    B = matrix_view("The input matrix", lambda eq: eq.matrices["B"])
    C = matrix_view("The output matrix", lambda eq: eq.matrices["C"])
    D = matrix_view("The input-output matrix", lambda eq: eq.matrices["D"])
    A_s = matrix_view("The symmetric part of A", lambda eq: eq.symmetric_part)
    A_w = matrix_view("The skew part of A", lambda eq: eq.skew_part)


def parameter_values(parameters: Mapping[str, Expression | None]) -> dict[str, float]:
    """Numbers for the parameters that have a value, whatever their order; a parameter of a valueless one has none.

    Raises: EquationError (E110) where the values of some give no number for another, such as a division by zero.
    """
    values: dict[str, float] = {}
    formulas = {name: e for name, e in parameters.items() if e is not None}
    # Parameters may stand in any order in a file. What waits for one without a value has none itself.
    for name in in_order({name: e.free_symbols for name, e in formulas.items()}):
        values[name] = _computed(name, formulas[name], values)
    return {name: values[name] for name in parameters if name in values}


def _computed(name: str, expression: Expression, values: Mapping[str, float]) -> float:
    try:
        value = expression.evaluate(values)
    # Python says "math range error", which tells an engineer nothing.
    except OverflowError:
        reason = "it is too large for a number"
    except (ArithmeticError, ValueError) as problem:
        reason = str(problem)
    else:
        # An infinite parameter would run through a whole simulation before anything noticed.
        if isfinite(value):
            return value
        reason = f"the result is {value}"
    made_of = sorted(expression.free_symbols)
    fix = f"change {listing(made_of)}, of which it is made" if made_of else "give a finite number"
    raise rules.NOT_COMPUTABLE.error(f"the value of {name} cannot be computed: {reason}", fix=fix)


def _half_sum(matrix: Matrix, sign: int) -> Matrix:
    half = number(Fraction(1, 2))
    n = len(matrix)
    return tuple(tuple(half * (matrix[i][j] + sign * matrix[j][i]) for j in range(n)) for i in range(n))


def number_of(expression: Expression, values: Mapping[str, float], model: str) -> float:
    """The value of an expression of parameters.

    Raises: EquationError naming the parameters without a value, or the expression that has none.
    """
    refuse_missing([name for name in expression.free_symbols if name not in values], model)
    try:
        return expression.evaluate(values)
    except (ArithmeticError, ValueError) as reason:
        raise rules.NO_OPERATING_POINT.error(
            f"'{to_text(expression)}' cannot be computed: {reason}",
            where=model,
            fix="check the values of its parameters",
        ) from reason


def refuse_missing(missing: Iterable[str], model: str) -> None:
    """Raises: EquationError naming parameters without a value, if there are any."""
    names = sorted(set(missing))
    if names:
        raise rules.NO_VALUE.error(
            f"{listing(names)} {'has' if len(names) == 1 else 'have'} no value",
            where=model,
            fix=f"give a value under 'parameters', such as '{names[0]}: 1'",
            members=names,
        )


def with_values(system: EquationSystem) -> EquationSystem:
    """The system with every parameter replaced by its value, and every name of `where` that is then a number.

    Raises: EquationError naming a parameter without a value.
    """
    values = system.values()
    # By shortest decimals: 0.1 stays 0.1 in the printout.
    numbers: dict[str, Expression] = {name: number(value) for name, value in values.items()}
    variables = {*system.states, *system.inputs, *system.displacements, *system.algebraic.unknowns}
    variables |= {*system.signals.names} | (
        {TIME} - system.parameters.keys()
    )  # a parameter may have the letter of time

    def value(expression: Expression) -> Expression:
        if variables.isdisjoint(expression.free_symbols):
            return number(number_of(expression, values, system.name))
        return expression.substitute(numbers)

    where: dict[str, Expression] = {}
    for name, expression in system.where.items():
        if variables.isdisjoint(expression.free_symbols):
            values[name] = number_of(expression, values, system.name)
            numbers[name] = number(values[name])
        else:
            where[name] = expression.substitute(numbers)
            variables.add(name)
    rates = {name: value(e) for name, e in system.displacements.items()}
    return replace(system.with_entries(value), where=where, displacements=rates)


def with_short_names_inlined(system: EquationSystem, temporary: Collection[str]) -> EquationSystem:
    """The system with temporary names inlined that are short or used once, and short fractions brought together."""
    # Names that a user gave keep the form that he wrote.
    joined_where = {name: joined_sines(e) if name in temporary else e for name, e in system.where.items()}
    system = _inlined(replace(system, where=joined_where), temporary)
    known: dict[Expression, Expression] = {}
    meshed = any(name in temporary for name in system.where)
    # Bringing fractions together takes polynomials of all the symbols in them, which a mesh has many of.
    longest = 8 if meshed else 2 * LONGEST  # a mesh keeps its names, and its entries as elimination left them

    def shorter(expression: Expression) -> Expression:
        if expression not in known:
            joined = joined_sines(expression)
            known[expression] = joined_sines(shortened(joined)) if leaf_count(joined) <= longest else joined
        return known[expression]

    # Sums of squares read best as they are.
    power = joined_sines(system.dissipated_power)
    energy = None if system.stored_energy is None else joined_sines(system.stored_energy)
    return replace(system.with_entries(shorter), dissipated_power=power, stored_energy=energy, signals=system.signals)


def _inlined(system: EquationSystem, temporary: Collection[str]) -> EquationSystem:
    where = dict(system.where)
    entries = system.entries()
    # Inlining one name may leave another short, or used once, so it goes on while it finds one.
    while where:
        uses = used_names(entries, where)
        short = {
            name: e
            for name, e in where.items()
            if name not in uses
            or (name in temporary and ((uses[name] == 1 and leaf_count(e) <= LONGEST) or leaf_count(e) <= 3))
        }
        if not short:
            break
        where = {name: with_definitions(e, short) for name, e in where.items() if name not in short}
        entries = [with_definitions(e, short) for e in entries]
        system = system.with_entries(lambda e, short=short: with_definitions(e, short))  # type: ignore[misc]
        # Several short names together can make an entry as long as those that were given names; then it is enough.
        if any(leaf_count(e) > 2 * LONGEST for e in entries):
            break
    return replace(system, where=where)
