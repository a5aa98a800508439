"""The Lagrange form M(q) nu' + C(q, nu) nu + R nu + G(q) = W tau, q' = Q(q) nu, read from a bond graph.

With all storages of inertia as x = T nu: M = T^T L T and C = T^T L T', so that M' = C + C^T always. Only where the constraints are
holonomic is C nu that of Christoffel's symbols. Gyrators between inertias add their skew matrix to C. G stands on the left side.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from tellegen.conditioning.constrained import Constrained, constrained
from tellegen.conditioning.coordinates import coordinates_of, sums
from tellegen.core.names import identifier
from tellegen.description.model import Model
from tellegen.equations.explanation import Item, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.matrices import Matrix, Vector, plus
from tellegen.equations.steps import Derivation
from tellegen.equations.system import parameter_values
from tellegen.expressions import HALF, ZERO, Expression, is_zero, number, to_python
from tellegen.expressions.entries import substituted
from tellegen.expressions.sympy_view import matrix_to_sympy


@final
@dataclass(frozen=True)
class LagrangeSystem:
    """`M nu' + C nu + R nu + G + f = W tau`, `q' = kinematics`. Where each coordinate has its own speed, qd = nu.

    `f` holds what is neither linear in the speeds nor a function of the coordinates, such as Coulomb friction; most have none.
    `loads` are the inputs that the model gives by a formula of coordinates and parameters, such as weights. `springs` are
    coordinates that are elongations, by the states of their springs.
    """

    name: str
    q: tuple[str, ...]
    nu: tuple[str, ...]
    tau: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    matrices: Mapping[str, Matrix]
    G: Vector
    f: Vector
    kinematics: Mapping[str, Expression]
    where: Mapping[str, Expression] = field(default_factory=dict)
    loads: Mapping[str, Expression] = field(default_factory=dict)
    springs: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def qd(self) -> tuple[str, ...]:
        """The names of the rates of the coordinates."""
        return self.nu if self.plain else tuple(f"{q}_dot" for q in self.q)

    @property
    def plain(self) -> bool:
        """Whether the speeds are the rates of the coordinates, one by one."""
        return [str(e) for e in self.kinematics.values()] == list(self.nu)

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def with_entries(self, change: Callable[[Expression], Expression]) -> "LagrangeSystem":
        """The system with every expression in it changed."""
        return replace(
            self,
            matrices={name: tuple(tuple(map(change, row)) for row in m) for name, m in self.matrices.items()},
            G=tuple(map(change, self.G)),
            f=tuple(map(change, self.f)),
            kinematics={q: change(e) for q, e in self.kinematics.items()},
            where={n: change(e) for n, e in self.where.items()},
            loads={n: change(e) for n, e in self.loads.items()},
            springs={n: change(e) for n, e in self.springs.items()},
        )

    def numeric(self) -> "LagrangeSystem":
        """The system with numbers in place of its parameters."""
        numbers: dict[str, Expression] = {name: number(value) for name, value in self.values().items()}
        written = self.with_entries(lambda e: substituted(e, self.where))
        return replace(written, where={}).with_entries(lambda e: e.substitute(numbers))

    def explained(self) -> Derivation:
        """The form as sections: equations, coordinates, matrices."""
        return Derivation(
            self.name, "-", self.q, self.tau, (), self.parameters, lagrange_sections(self), dict(self.where)
        )

    def to_text(self) -> str:
        """The form as text for a terminal."""
        title, _, rest = self.explained().to_text().partition("\n")
        return f"{title.removesuffix(', step by step')}\n{rest}"

    def to_latex(self) -> str:
        """The form as LaTeX. Needs amsmath."""
        return self.explained().to_latex()

    def to_json(self) -> dict[str, object]:
        """The record that `derive --form lagrange --json` prints."""
        record: dict[str, object] = {
            "q": _names(self.q),
            "qd": _names(self.qd),
            "tau": _names(self.tau),
            "parameters": {identifier(n): self.values().get(n) for n in self.parameters},
            **{name: [[to_python(e) for e in row] for row in rows] for name, rows in self.matrices.items()},
            "G": [to_python(e) for e in self.G],
        }
        if any(e is not ZERO for e in self.f):
            record["f"] = [to_python(e) for e in self.f]
        if not self.plain:
            record["nu"] = _names(self.nu)
            record["kinematics"] = {identifier(q): to_python(e) for q, e in self.kinematics.items()}
        if self.where:
            record["where"] = {identifier(n): to_python(e) for n, e in self.where.items()}
        return record

    def __str__(self) -> str:
        return self.to_text()

    @property
    def M(self) -> Any:
        """The inertia matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["M"])

    @property
    def C(self) -> Any:
        """The Coriolis matrix as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["C"])

    @property
    def R(self) -> Any:
        """The matrix of dissipation as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["R"])

    @property
    def W(self) -> Any:
        """The matrix of the inputs as a SymPy matrix."""
        return matrix_to_sympy(self.matrices["W"])


def lagrange_form(model: Model, coordinates: Sequence[str] = ()) -> LagrangeSystem:
    """The Lagrange form of a model; `coordinates` are displacements, or outputs of inertias, that should be independent.

    Raises: ConditioningError (C105) naming a coordinate without inertia, (C106) for coordinates that cannot be chosen.
    """
    return lagrange_of(constrained(model, coordinates))


def lagrange_of(found: Constrained) -> LagrangeSystem:
    """The Lagrange form of a model whose causality is known."""
    made = coordinates_of(found)
    system, at = made.system, made.inertial
    A = made.block("A", at, at)
    skew = _half(A, -1)
    f = tuple(found.written(system.vectors["f"][i]) for i in at)
    moving = {*system.states, *system.inputs}
    resting = tuple(e if moving.isdisjoint(e.free_symbols) else ZERO for e in f)
    springs = sums(made.block("A", at, made.elastic), made.spring_forces())
    kept = {n: e for n, e in system.where.items() if n in found.model.parameters or n in found.slopes}
    parameters = found.causal.graph.parameters
    at_rest = {*made.q, *parameters, *kept}
    return LagrangeSystem(
        name=system.name,
        q=made.q,
        nu=made.nu,
        tau=system.inputs,
        parameters=parameters,
        matrices={
            "M": made.block("L", at, at),
            "C": plus(made.block("N", at, at), skew),
            "R": _half(A, 1),
            "W": made.block("B", at, range(len(system.inputs))),
        },
        G=tuple(a + b for a, b in zip(springs, resting, strict=True)),
        f=tuple(e if r is ZERO else ZERO for e, r in zip(f, resting, strict=True)),
        kinematics=made.rates,
        where=kept,
        loads={name: e for name, e in system.signals.drivers.items() if e.free_symbols <= at_rest},
        springs=made.free_elongations(),
    )


def lagrange_sections(form: LagrangeSystem) -> tuple[Section, ...]:
    """The equation, what its letters stand for, and the matrices."""
    speeds = "q'" if form.plain else "nu"
    rates = "q''" if form.plain else "nu'"
    shown = [n for n in ("M", "C", "R") if n in ("M",) or not _vanishes(form.matrices[n])]
    terms = [f"{n}*{rates if n == 'M' else speeds}" for n in shown]
    terms += ["G"] * (not _vanishes((form.G,))) + ["f"] * (not _vanishes((form.f,)))
    equation = f"${' + '.join(terms)} = W*tau$".replace("*", " ")
    items: list[Item] = [Sentence(equation)]
    items.append(Sentence(f"$q$ = {_listed(form.q)}"))
    items.append(Sentence(f"${speeds}$ = {_listed(form.nu)}"))
    items.append(Sentence(f"$tau$ = {_listed(form.tau) or 'nothing'}"))
    if not form.plain:
        items += [Relation(f"{q}'", e) for q, e in form.kinematics.items()]
    matrices: list[Item] = [ShownMatrix(n, form.matrices[n]) for n in (*shown, "W")]
    for name, vector in (("G", form.G), ("f", form.f)):
        if not _vanishes((vector,)):
            matrices.append(ShownMatrix(name, tuple((e,) for e in vector)))
    return Section("Lagrange form", tuple(items)), Section("Matrices", tuple(matrices))


def _half(matrix: Matrix, sign: int) -> Matrix:
    n = range(len(matrix))
    return tuple(tuple(ZERO if is_zero(e := HALF * (matrix[i][j] + sign * matrix[j][i])) else e for j in n) for i in n)


def _vanishes(rows: Matrix) -> bool:
    return all(e is ZERO for row in rows for e in row)


def _names(names: Sequence[str]) -> list[str]:
    return [identifier(name) for name in names]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
