"""The equations of motion of a model with dependent storages: the form of Lagrange, and the port-Hamiltonian one.

Lagrange: M(q) nu' + C(q, nu) nu + R nu + G(q) = W tau, q' = Q(q) nu. With all storages of inertia as x = T nu: M = T^T L T and
C = T^T L T', so that M' = C + C^T always. Only where the constraints are holonomic is C nu that of Christoffel's symbols. Gyrators
between inertias add their skew matrix to C. G stands on the left side. Karnopp, Lagrange's Equations for Complex Bond Graph
Systems, 1977: the efforts that come in at the artificial sources, read along causal paths, are the equations of Lagrange.

Hamilton: x = (q, p), x' = (J - R) grad H + g u - f. p = M z are the contents of the independent storages together with those that
follow them, q the displacements, q' = Q z, and H contains the potential V(q) of the weights. Then

    J = [[0, Q], [-Q^T, S - A_w]],   R = [[0, 0], [0, A_s]],   g = [[0], [B]]

where S is the gyroscopic block of constraints that are not holonomic: without it the equations are those of another machine as soon
as the coordinates that the constraints read move.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import final

from tellegen.conditioning import rules
from tellegen.conditioning.constraints import ConstrainedModel, constrained_model
from tellegen.conditioning.fields import MergedStorages, merged_inertias, named_inverse, named_matrix
from tellegen.conditioning.opened_constraints import fresh_name
from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.language import ENGLISH, Language, Phrases
from tellegen.core.names import TIME, identifier, listing, named_after
from tellegen.equations.matrices import Matrix, Vector, dot, negative, plus, solved_linear_system
from tellegen.equations.outputs import PortVariables
from tellegen.equations.printing.explanation import ExplanationSection, Item, NamedFormula, Sentence, ShownMatrix
from tellegen.equations.steps import Explanation
from tellegen.equations.structure import causal_structure, solve_resistive
from tellegen.equations.system import EquationSystem, MatrixName, parameter_values
from tellegen.expressions import HALF, ONE, ZERO, Expression, Symbol, is_zero, number, symbol, to_python, total
from tellegen.expressions.elimination import NamedEntries, with_definitions
from tellegen.expressions.sympy_view import matrix_view
from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.model.model import Model


@final
@dataclass(frozen=True)
class GeneralisedCoordinates:
    """Coordinates q with their rates, the speeds nu, and what the springs give by the coordinates.

    Places are those of the states: `inertial` of the speeds, `elastic` of the springs. `own` are coordinates that nobody described:
    they count from the unloaded springs, or from anywhere where no spring is.
    """

    found: ConstrainedModel
    inertial: tuple[int, ...]
    elastic: tuple[int, ...]

    @property
    def system(self) -> EquationSystem:
        """The equations of the independent storages."""
        return self.found.system

    @cached_property
    def nu(self) -> tuple[str, ...]:
        """The speeds."""
        return tuple(self.system.states[i] for i in self.inertial)

    @cached_property
    def _by_speed(self) -> dict[str, str]:
        """The coordinate of each speed: the displacement with that rate, or a name made for it.

        A quasi-speed, which moves displacements otherwise, has none.
        """
        model = self.found.model
        rates = {q: self.found.written(e) for q, e in self.system.displacements.items()}
        # A displacement whose rate is one speed is the coordinate of that speed; combinations are no such coordinate.
        known = {e.name: q for q, e in rates.items() if isinstance(e, Symbol)}
        moving = {name for e in rates.values() for name in e.free_symbols}
        taken = {*model.parameters, *model.displacements, *model.signals, *self.system.states}
        named = {}
        for i, speed in zip(self.inertial, self.nu, strict=True):
            port = self._port(i)
            letter = DOMAINS[port.domain].energy(other_side(port.law.side)).symbol
            if speed in known:
                named[speed] = known[speed]
            # A speed that moves other displacements without being the rate of one is a quasi-speed, and has no
            # coordinate.
            elif speed not in moving:
                named[speed] = fresh_name(named_after(letter, port.element), taken)
        return named

    @cached_property
    def own(self) -> frozenset[str]:
        """Coordinates that no displacement of the model names."""
        return frozenset(q for q in self._by_speed.values() if q not in self.system.displacements)

    @cached_property
    def rates(self) -> Mapping[str, Expression]:
        """The rates of all coordinates by the speeds, those of the speeds first."""
        # Coordinates of speeds first: q and nu then belong together by place.
        found: dict[str, Expression] = {q: symbol(speed) for speed, q in self._by_speed.items()}
        found |= {q: self.found.written(e) for q, e in self.system.displacements.items()}
        return found | self._free_springs

    @property
    def q(self) -> tuple[str, ...]:
        """The coordinates."""
        return tuple(self.rates)

    # -- springs ---------------------------------------------------------------------------------------------------------------

    @cached_property
    def _stretching(self) -> Matrix:
        """The rates of the energy variables of the springs by the speeds."""
        A = self.system.matrices["A"]
        return tuple(tuple(-self.found.written(A[s][i]) for i in self.inertial) for s in self.elastic)

    @cached_property
    def _free_springs(self) -> dict[str, Expression]:
        """Springs whose elongation is a coordinate of its own, with its rate."""
        speeds = [symbol(name) for name in self.nu]
        names = self._spring_names
        return {names[k]: dot(row, speeds) for k, row in enumerate(self._stretching) if not self._follows(row)}

    @cached_property
    def _spring_names(self) -> tuple[str, ...]:
        taken = {
            *self._by_speed.values(),
            *self.found.model.parameters,
            *self.system.displacements,
            *self.system.states,
        }
        names = []
        for s in self.elastic:
            port = self._port(s)
            law = port.law
            # Then the state is the elongation itself, and keeps its name.
            own = isinstance(law, StorageLaw) and law.keeps_energy_variable
            letter = DOMAINS[port.domain].energy(law.side).symbol
            names.append(port.state if own else fresh_name(named_after(letter, port.element), taken))
        return tuple(names)

    def _follows(self, row: Vector) -> bool:
        """Whether an elongation is a constant combination of coordinates that count from the unloaded springs."""
        moving = {*self.system.displacements, *self.system.states, *self.found.causal.graph.position_dependent}
        used = {self._by_speed.get(speed, "") for e, speed in zip(row, self.nu, strict=True) if e is not ZERO}
        # A described coordinate may count from anywhere, but an elongation counts from the unloaded spring.
        return used <= self.own and all(moving.isdisjoint(e.free_symbols) for e in row)

    def elongations(self) -> Vector:
        """The energy variables of the springs by the coordinates."""
        coordinates = [symbol(self._by_speed[speed]) if speed in self._by_speed else ZERO for speed in self.nu]
        rows = zip(self._stretching, self._spring_names, strict=True)
        return tuple(dot(row, coordinates) if self._follows(row) else symbol(name) for row, name in rows)

    def free_elongations(self) -> dict[str, Expression]:
        """Elongations that are coordinates of their own, by the states of the springs."""
        L = self.system.matrices["L"]
        forces = [symbol(self.system.states[s]) for s in self.elastic]
        by_states = {
            name: symbol(name)
            if self._law(s).inertia is None
            else dot([self.found.written(L[s][j]) for j in self.elastic], forces)
            for s, name in zip(self.elastic, self._spring_names, strict=True)
        }
        return {name: by_states[name] for name in self._free_springs}

    def spring_forces(self) -> Vector:
        """The outputs of the springs by the coordinates."""
        contents = self.elongations()
        # Curved springs by their law, the others by the inverse of the energy matrix, which fields may couple.
        nonlinear = {k: self._force(s, contents[k]) for k, s in enumerate(self.elastic) if self._law(s).inertia is None}
        if nonlinear:
            return tuple(nonlinear.get(k) or contents[k] / self._inertia(s) for k, s in enumerate(self.elastic))
        L = self.block("L", self.elastic, self.elastic)
        inverse = solved_linear_system(L, tuple((e,) for e in contents), 1, self.system.parameters) if L else ()
        assert inverse is not None, "the energy matrix of independent storages is regular"
        return tuple(row[0] for row in inverse)

    def _force(self, place: int, content: Expression) -> Expression:
        law = self._law(place)
        if law.output is None:
            port = self._port(place)
            raise rules.NO_LAGRANGE_FORM.error(
                f"the law of '{port.element}' cannot be solved for its force",
                where=port.element,
                fix="write the law as a force by an elongation",
                place=port.place,
            )
        return law.output.substitute({"@": content})

    def _inertia(self, place: int) -> Expression:
        inertia = self._law(place).inertia
        return ONE if inertia is None else inertia

    # -- places ----------------------------------------------------------------------------------------------------------------

    def block(self, name: MatrixName, rows: Sequence[int], columns: Sequence[int]) -> Matrix:
        """Part of a matrix of the equations, written out but for slopes of moving parameters."""
        matrix = self.system.matrices[name]
        return tuple(tuple(self.found.readable(matrix[i][j]) for j in columns) for i in rows)

    def _port(self, place: int) -> Port:
        return self.found.causal.graph.ports[self.found.causal.integral[place]]

    def _law(self, place: int) -> StorageLaw:
        law = self._port(place).law
        assert isinstance(law, StorageLaw), "states belong to storages"
        return law


def coordinates_of(found: ConstrainedModel) -> GeneralisedCoordinates:
    """The coordinates of a model.

    Raises: ConditioningError (C105) naming what has no inertia.
    """
    ports = found.causal.graph.ports
    places = enumerate(found.causal.integral)
    # Storages of flow are inertias (mass, inductance): their states are speeds.
    inertial = tuple(i for i, k in places if ports[k].law.side == DOMAINS[ports[k].domain].flow)
    elastic = tuple(i for i in range(len(found.causal.integral)) if i not in inertial)
    made = GeneralisedCoordinates(found, inertial, elastic)
    _refuse(made)
    return made


def _refuse(made: GeneralisedCoordinates) -> None:
    """What stands in the way of second-order equations: speeds that no inertia decides."""
    system, found = made.system, made.found
    if not made.inertial:
        raise _no_form(found, f"no state of '{system.name}' is the speed of an inertia", found.model.name)
    # Second-order equations need speeds that inertias decide; an algebraic unknown has none.
    if system.algebraic.unknowns:
        what = f"{listing(system.algebraic.unknowns)} follow from laws of resistive elements, not from inertias"
        raise _no_form(found, what, found.model.name)
    # A spring that a damper or a source moves has an elongation which no speed gives.
    for s in made.elastic:
        port = ports_of(found)[s]
        row = [*(system.matrices["A"][s][j] for j in made.elastic), system.vectors["f"][s]]
        if any(e is not ZERO for e in row):
            coordinate = DOMAINS[port.domain].energy(port.law.side).word
            what = f"the {coordinate} of '{port.element}' is a coordinate without inertia: resistive elements decide its rate"
            raise _no_form(found, what, port.element)
        sources = [u for u, e in zip(system.inputs, system.matrices["B"][s], strict=True) if e is not ZERO]
        if sources:
            what = f"'{port.element}' is moved by the source {listing(sources)}, which has no inertia"
            raise _no_form(found, what, port.element)
        # What such a spring stores follows from speeds too, so its force is no function of the coordinates.
        shared = [system.states[i] for i in made.inertial if not is_zero(system.matrices["L"][s][i])]
        if shared:
            what = f"the energy of '{port.element}' is shared with {listing(shared)}, and its force reads accelerations"
            raise _no_form(found, what, port.element)
    if not system.is_zero("B_1"):
        pairs = [u for j, u in enumerate(system.inputs) if any(row[j] is not ZERO for row in system.matrices["B_1"])]
        raise _no_form(found, f"the source {listing(pairs)} decides the velocity of an inertia", pairs[0])


def ports_of(found: ConstrainedModel) -> list[Port]:
    """The ports of the states."""
    return [found.causal.graph.ports[k] for k in found.causal.integral]


def _no_form(found: ConstrainedModel, what: str, where: str) -> TellegenError:
    return rules.NO_LAGRANGE_FORM.error(
        f"'{found.model.name}' has no Lagrange form: {what}",
        where=where,
        fix=f"give it an inertia at '{where}', or choose the form field or hamilton",
        members=[where],
    )


def row_products(rows: Matrix, factors: Sequence[Expression]) -> Vector:
    """The products of the rows of a matrix with a vector."""
    return tuple(total(e * x for e, x in zip(row, factors, strict=True)) for row in rows)


@final
@dataclass(frozen=True)
class LagrangeSystem:
    """`M nu' + C nu + R nu + G + f = W tau`, `q' = kinematics`. Where each coordinate has its own speed, qd = nu.

    Robots are written M q'' + C q' + R q' + G = K^T tau + J^T F: K has the rows of W^T that belong to torques, J those of the
    `forces`, which are Jacobians of the points where they act. `f` holds what is neither linear in the speeds nor a function of
    the coordinates, such as Coulomb friction; most have none. `loads` are the inputs that the model gives by a formula of
    coordinates and parameters. `springs` are coordinates that are elongations, by the states of their springs.
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
    forces: tuple[str, ...] = ()
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def torques(self) -> tuple[str, ...]:
        """The inputs that are no forces."""
        return tuple(name for name in self.tau if name not in self.forces)

    def speeds_at(self, inputs: Sequence[str]) -> Matrix:
        """The rows of W^T of some inputs: the speeds against which they do work, by nu."""
        columns = [self.tau.index(name) for name in inputs]
        return tuple(tuple(row[j] for row in self.matrices["W"]) for j in columns)

    @property
    def qd(self) -> tuple[str, ...]:
        """The names of the rates of the coordinates."""
        return self.nu if self.plain else tuple(f"{q}_dot" for q in self.q)

    @property
    def plain(self) -> bool:
        """Whether the speeds are the rates of the coordinates, one by one."""
        # Compared as texts: rates are symbols exactly where a coordinate has its own speed.
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
        written = self.with_entries(lambda e: with_definitions(e, self.where))
        return replace(written, where={}).with_entries(lambda e: e.substitute(numbers))

    def explained(self) -> Explanation:
        """The form as sections: equations, coordinates, matrices."""
        return Explanation(
            self.name,
            "-",
            self.q,
            self.tau,
            (),
            self.parameters,
            sections=lagrange_sections(self),
            where=dict(self.where),
            symbols=self.symbols,
        )

    def to_text(self) -> str:
        """The form as text for a terminal."""
        return self.explained().form_text()

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
        for name, inputs, key in (("K", self.torques, "torques"), ("J", self.forces, "forces")):
            if inputs:
                record |= {name: [[to_python(e) for e in row] for row in self.speeds_at(inputs)], key: _names(inputs)}
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

    M = matrix_view("The inertia matrix", lambda form: form.matrices["M"])
    C = matrix_view("The Coriolis matrix", lambda form: form.matrices["C"])
    R = matrix_view("The matrix of dissipation", lambda form: form.matrices["R"])
    W = matrix_view("The matrix of the inputs", lambda form: form.matrices["W"])
    K = matrix_view("The speeds at the torques, by nu,", lambda form: form.speeds_at(form.torques))
    J = matrix_view("The Jacobian of the forces", lambda form: form.speeds_at(form.forces))


def lagrange_form(model: Model, coordinates: Sequence[str] = ()) -> LagrangeSystem:
    """The Lagrange form of a model; `coordinates` are displacements, or outputs of inertias, that should be independent.

    Raises: ConditioningError (C105) naming a coordinate without inertia, (C106) for coordinates that cannot be chosen.
    """
    return lagrange_of(constrained_model(model, coordinates))


def lagrange_of(found: ConstrainedModel) -> LagrangeSystem:
    """The Lagrange form of a model whose causality is known."""
    made = coordinates_of(found)
    system, at = made.system, made.inertial
    A = made.block("A", at, at)
    # The skew part of A is what gyrators exchange: it does no work, and stands with C; the symmetric part dissipates.
    skew = half_sum(A, -1)
    f = tuple(found.written(system.vectors["f"][i]) for i in at)
    moving = {*system.states, *system.inputs}
    # What does not depend on speeds is a force of position, and belongs to G.
    resting = tuple(e if moving.isdisjoint(e.free_symbols) else ZERO for e in f)
    springs = row_products(made.block("A", at, made.elastic), made.spring_forces())
    kept = {n: e for n, e in system.where.items() if n in found.model.parameters or n in found.slopes}
    parameters = found.causal.graph.parameters
    at_rest = {*made.q, *parameters, *kept}
    sources = [found.causal.graph.ports[k] for k in found.causal.sources]
    return LagrangeSystem(
        name=system.name,
        q=made.q,
        nu=made.nu,
        tau=system.inputs,
        parameters=parameters,
        matrices={
            "M": made.block("L", at, at),
            "C": plus(made.block("N", at, at), skew),
            "R": half_sum(A, 1),
            "W": made.block("B", at, range(len(system.inputs))),
        },
        G=tuple(a + b for a, b in zip(springs, resting, strict=True)),
        f=tuple(e if r is ZERO else ZERO for e, r in zip(f, resting, strict=True)),
        kinematics=made.rates,
        where=kept,
        loads={name: e for name, e in system.signals.drivers.items() if e.free_symbols <= at_rest},
        springs=made.free_elongations(),
        forces=tuple(
            port.source.input for port in sources if port.domain == "translational" and port.law.side == "through"
        ),
    )


def lagrange_sections(form: LagrangeSystem, say: Phrases = ENGLISH) -> tuple[ExplanationSection, ...]:
    """The equation, what its letters stand for, and the matrices."""
    speeds = "q'" if form.plain else "nu"
    rates = "q''" if form.plain else "nu'"
    shown = [n for n in ("M", "C", "R") if n in ("M",) or not _vanishes(form.matrices[n])]
    terms = [f"{n}*{rates if n == 'M' else speeds}" for n in shown]
    terms += ["G"] * (not _vanishes((form.G,))) + ["f"] * (not _vanishes((form.f,)))
    right = " + ".join([*["K^T*tau"] * bool(form.torques), "J^T*F"]) if form.forces else "W*tau"
    equation = f"${' + '.join(terms)} = {right}$".replace("*", " ")
    items: list[Item] = [Sentence(equation)]
    items.append(Sentence(f"$q$ = {_listed(form.q)}"))
    items.append(Sentence(f"${speeds}$ = {_listed(form.nu)}"))
    if form.torques or not form.forces:
        items.append(Sentence(f"$tau$ = {_listed(form.torques) or say('lagrange.nothing')}"))
    if form.forces:
        items.append(Sentence(f"$F$ = {_listed(form.forces)}"))
    if not form.plain:
        items += [NamedFormula(f"{q}'", e) for q, e in form.kinematics.items()]
    matrices: list[Item] = [ShownMatrix(n, form.matrices[n]) for n in shown]
    if form.forces:
        given = (("K", form.torques), ("J", form.forces))
        matrices += [ShownMatrix(n, form.speeds_at(inputs)) for n, inputs in given if inputs]
    else:
        matrices.append(ShownMatrix("W", form.matrices["W"]))
    for name, vector in (("G", form.G), ("f", form.f)):
        if not _vanishes((vector,)):
            matrices.append(ShownMatrix(name, tuple((e,) for e in vector)))
    shown_as = (say("lagrange.form"), items), (say("lagrange.matrices"), matrices)
    equation_and_letters, entries = (ExplanationSection(title, tuple(found)) for title, found in shown_as)
    return equation_and_letters, entries


def half_sum(matrix: Matrix, sign: int) -> Matrix:
    """The symmetric part of a matrix, (A + A^T)/2, or with sign -1 the skew one."""
    n = range(len(matrix))
    return tuple(tuple(ZERO if is_zero(e := HALF * (matrix[i][j] + sign * matrix[j][i])) else e for j in n) for i in n)


def _vanishes(rows: Matrix) -> bool:
    return all(e is ZERO for row in rows for e in row)


def _names(names: Sequence[str]) -> list[str]:
    return [identifier(name) for name in names]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def lagrange_steps(model: Model, language: Language = "en") -> Explanation:
    """The Lagrange form of a model, by the procedure that makes it, told in a language.

    Raises: ConditioningError (C105) naming a coordinate without inertia.
    """
    found = constrained_model(model)
    form, say = lagrange_of(found), Phrases(language)
    procedure = (_sources(found, say), *_artificial(found, form, say), _efforts(form, say))
    return replace(form.explained(), sections=(*procedure, *lagrange_sections(form, say)), language=language)


def _sources(found: ConstrainedModel, say: Phrases) -> ExplanationSection:
    ports = found.causal.graph.ports
    items: list[Item] = []
    for k in found.causal.sources:
        law = ports[k].law
        assert isinstance(law, SourceLaw), "sources have inputs"
        word = "effort" if law.side == DOMAINS[ports[k].domain].effort else "flow"
        items.append(Sentence(say(f"lagrange.{word}", element=ports[k].element), listed=True))
    none = Sentence(say("lagrange.no_sources"))
    return ExplanationSection(say("lagrange.title_sources"), tuple(items) or (none,))


def _artificial(found: ConstrainedModel, form: LagrangeSystem, say: Phrases) -> Iterator[ExplanationSection]:
    """One section for each artificial source: the flows that it decides together with those before it."""
    # All flows by speeds; each artificial source decides those that read only speeds imposed so far (Karnopp 1977).
    flows = _flows(found)
    known: set[str] = set()
    speeds = set(form.nu)
    owners = {found.causal.graph.ports[k].state: found.causal.graph.ports[k].element for k in found.causal.integral}
    for count, (q, nu) in enumerate(zip(form.q, form.nu, strict=False), 1):
        known.add(nu)
        text = say("lagrange.artificial", element=owners[nu], speed=nu, coordinate=q)
        items: list[Item] = [Sentence(text)]
        decided = [name for name, e in flows.items() if (e.free_symbols & speeds) and e.free_symbols & speeds <= known]
        if decided:
            items.append(Sentence(say("lagrange.spreads")))
            items += [NamedFormula(name, flows.pop(name)) for name in decided]
        yield ExplanationSection(say("lagrange.title_artificial", number=count), tuple(items))


def _flows(found: ConstrainedModel) -> dict[str, Expression]:
    """The flow of every port that is no speed itself, by the speeds."""
    graph = found.causal.graph
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    field = NamedEntries(graph.parameters, (*variables, *graph.position_dependent, *graph.displacements, TIME))
    structure = causal_structure(found.causal, field)
    told = solve_resistive(structure, field)
    names = [p.variable(DOMAINS[p.domain].flow) for p in graph.ports]
    states = set(found.system.states)
    wanted = [name for name in dict.fromkeys(names) if name not in states]
    flows = PortVariables(structure, told).replacements(wanted)
    dependent = {name: found.written(e) for name, e in found.system.dependent.items() if name in wanted}
    return {name: with_definitions(e, field.where) for name, e in {**flows, **dependent}.items()}


def _efforts(form: LagrangeSystem, say: Phrases) -> ExplanationSection:
    """The efforts at the artificial sources: momenta, and what changes them."""
    m = form.matrices
    nu, tau = [symbol(name) for name in form.nu], [symbol(name) for name in form.tau]
    items: list[Item] = [Sentence(say("lagrange.momenta"))]
    items += [NamedFormula(f"p_{name}", dot(row, nu)) for name, row in zip(form.nu, m["M"], strict=True)]
    items.append(Sentence(say("lagrange.efforts")))
    for i, name in enumerate(form.nu):
        turned = [row[i] for row in m["C"]]
        effort = dot(turned, nu) - dot(m["R"][i], nu) - form.G[i] - form.f[i] + dot(m["W"][i], tau)
        items.append(NamedFormula(f"p_{name}'", effort))
    items.append(Sentence(say("lagrange.closing")))
    return ExplanationSection(say("lagrange.title_efforts"), tuple(items))


@final
@dataclass(frozen=True)
class HamiltonForm:
    """States q and p, the energy H with its gradient, and the matrices J, R and g; `speeds` gives z by the states.

    `where` are names for entries of M and of its inverse, in order. `S` is the gyroscopic block, part of J. Where a storage follows
    a source, g_1 u' stands beside g u, and H leaves out what the sources give to such storages by themselves.
    """

    q: tuple[str, ...]
    p: tuple[str, ...]
    inputs: tuple[str, ...]
    energy: str
    H: Expression
    grad_H: Vector
    speeds: Mapping[str, Expression]
    J: Matrix
    R: Matrix
    g: Matrix
    S: Matrix
    f: Vector
    g_1: Matrix = ()
    where: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def holonomic(self) -> bool:
        """Whether the gyroscopic block vanishes."""
        return all(e is ZERO for row in self.S for e in row)

    def to_json(self) -> dict[str, object]:
        """The record of the form, with the keys of `derive --form ph --json`."""
        record: dict[str, object] = {
            "x": [identifier(name) for name in (*self.q, *self.p)],
            "H": to_python(self.H),
            "grad_H": [to_python(e) for e in self.grad_H],
            **{
                name: [[to_python(e) for e in row] for row in rows]
                for name, rows in (("J", self.J), ("R", self.R), ("g", self.g), ("gyroscopic", self.S))
            },
            "u": [identifier(name) for name in self.inputs],
            "speeds": {identifier(n): to_python(e) for n, e in self.speeds.items()},
            "where": {identifier(n): to_python(e) for n, e in self.where.items()},
        }
        if self.g_1:
            record["g_1"] = [[to_python(e) for e in row] for row in self.g_1]
        return record | ({"f": [to_python(e) for e in self.f]} if any(e is not ZERO for e in self.f) else {})


def hamilton_of(found: ConstrainedModel) -> HamiltonForm:
    """The form of a model whose storages are linear.

    Raises: ConditioningError (C104) for a storage with another law.
    """
    # All storages, not only those that others follow: H is the energy of the whole model.
    merged = merged_inertias(found.whole)
    M, names = named_matrix(merged)
    inverse, more = named_inverse(merged, M, names)
    system = found.system
    q = tuple(system.displacements)
    taken = {*found.model.parameters, *system.states, *q}
    p = tuple(fresh_name(f"p_{speed}", taken) for speed in merged.speeds)
    momenta = [symbol(name) for name in p]
    speeds = {z: dot(row, momenta) for z, row in zip(merged.speeds, inverse, strict=True)}
    slopes = merged.coordinate_slopes()
    V = system.potential_energy
    climbs = [V.derivative(name) for name in q]
    pulls = [dot(column, climbs) for column in zip(*merged.kinematics(), strict=True)] if q else [ZERO] * len(p)
    rest = [found.written(e) - pull for e, pull in zip(system.vectors["f"], pulls, strict=True)]
    S = merged.gyroscopic()
    A = tuple(tuple(found.written(e) for e in row) for row in system.matrices["A"])
    return HamiltonForm(
        q=q,
        p=p,
        inputs=system.inputs,
        energy=fresh_name("H", taken),
        H=HALF * dot(momenta, list(speeds.values())) + V,
        # At fixed momenta the kinetic energy falls where the co-energy at fixed speeds grows: dH/dq = dV/dq - dT*/dq.
        grad_H=(
            *(climb - slopes[name] for climb, name in zip(climbs, q, strict=True)),
            *(symbol(name) for name in merged.speeds),
        ),
        speeds=speeds,
        J=_interconnection(merged, plus(S, negative(half_sum(A, -1)))),
        R=_padded(half_sum(A, 1), len(q)),
        g=_below(len(q), _matrix_written(found, system.matrices["B"])),
        g_1=() if system.is_zero("B_1") else _below(len(q), _matrix_written(found, system.matrices["B_1"])),
        S=S,
        f=tuple(ZERO if is_zero(e) else e for e in rest),
        where={**names, **more},
    )


def _interconnection(merged: MergedStorages, inner: Matrix) -> Matrix:
    """J from Q and from the block that couples momenta."""
    Q = merged.kinematics()
    # J is skew by construction: Q above, -Q^T below.
    count = len(Q)
    top = ((*(ZERO,) * count, *row) for row in Q)
    below = ((*(-Q[k][i] for k in range(count)), *row) for i, row in enumerate(inner))
    return (*top, *below)


def _padded(matrix: Matrix, count: int) -> Matrix:
    """The matrix with `count` rows and columns of zeros before it."""
    width = count + len(matrix)
    return (*((ZERO,) * width for _ in range(count)), *((*(ZERO,) * count, *row) for row in matrix))


def _below(count: int, matrix: Matrix) -> Matrix:
    """The matrix with `count` rows of zeros above it."""
    return (*((ZERO,) * len(row) for row in matrix[:1] for _ in range(count)), *matrix)


def _matrix_written(found: ConstrainedModel, matrix: Matrix) -> Matrix:
    return tuple(tuple(found.written(e) for e in row) for row in matrix)
