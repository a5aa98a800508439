"""The derivation of the POG form step by step, as a teacher would write it: choice of states, energy matrix, entries by their
paths, checks.

The procedure is that of the POG lecture ("From POG scheme to state space model"): states are the output power variables of the
storages, L holds the coefficients of their constitutive relations, and every entry of A, B, C and D is the sum of the gains of the
paths that cross no integrator.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import final

from tellegen.causality import CausalGraph
from tellegen.core.domains import DOMAINS
from tellegen.core.hidden_characters import visible
from tellegen.core.language import Language, Phrases
from tellegen.core.names import named_after, unused
from tellegen.equations.forms.hamiltonian import energy_names
from tellegen.equations.matrices import Matrix, dot, negative, zeros
from tellegen.equations.outputs import PortVariables
from tellegen.equations.paths import MOST_COUPLED, PathFinder
from tellegen.equations.printing.explanation import (
    CausalPath,
    ExplainedEntry,
    ExplanationSection,
    Item,
    NamedFormula,
    Sentence,
    ShownMatrix,
    Sign,
)
from tellegen.equations.printing.latex import steps_to_latex
from tellegen.equations.printing.record import steps_to_record
from tellegen.equations.printing.text import steps_to_text
from tellegen.equations.structure import causal_structure, solve_resistive
from tellegen.equations.system import EquationSystem, MatrixName, VectorName, parameter_values
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.elimination import NamedEntries, used_names, with_definitions
from tellegen.expressions.symbols import written_with
from tellegen.graph import Port, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT

MOST_STATES_SHOWN = 6
"""The matrices of models with more states are not written out once more."""


@final
class _Lesson:
    """Writes the sections about a system and its causal graph, in the sign that it is told in."""

    def __init__(self, system: EquationSystem, causal: CausalGraph, sign: Sign, say: Phrases) -> None:
        self.system, self.causal, self.sign, self.say = system, causal, sign, say
        self.ports = causal.graph.ports
        self.energy_names = energy_names(system)
        variables = [name for p in self.ports for name in (p.across, p.through, p.state)]
        self.taken = frozenset({*system.parameters, *system.where, *variables, *self.energy_names})
        # Made once for all sections: it solves the interconnection again, with every coupling marked.
        self.finder = PathFinder(causal, self.taken)

    # Which variables are states, inputs and outputs, and what else the equations read

    def choice(self) -> ExplanationSection:
        items: list[Item] = list(self._modes())
        if self.causal.integral:
            items.append(Sentence(self.say("steps.states")))
        for n, k in enumerate(self.causal.integral, 1):
            items.append(Sentence(f"$x_{n}$ = `{self.ports[k].state}`, {self._meaning(k)}", listed=True))
        items += self._dependent_storages()
        items += self._displacements()
        if self.causal.sources:
            items.append(Sentence(self.say("steps.inputs")))
        for n, (k, u, y) in enumerate(
            zip(self.causal.sources, self.system.inputs, self.system.outputs, strict=True), 1
        ):
            items.append(
                Sentence(
                    self.say("steps.source", number=n, input=u, output=y, element=self.ports[k].element), listed=True
                )
            )
        items += self._signals()
        items += self._heat()
        return ExplanationSection(self.say("steps.title_variables"), tuple(items))

    def _modes(self) -> Iterator[Item]:
        """The mode in which causality, and so all that follows, holds."""
        modes = [f"`{element}`: {modes.now}" for element, modes in self.system.modes.items()]
        if modes:
            yield Sentence(self.say("steps.modes", modes=", ".join(modes)))

    def _heat(self) -> Iterator[Item]:
        """What is told of power and dissipation does not hold where the through variable is a heat flow."""
        hot = [self.ports[k].state for k in self.causal.integral if DOMAINS[self.ports[k].domain].heat_books]
        if hot:
            names = ", ".join(f"`{name}`" for name in hot)
            yield Sentence(self.say("steps.heat", names=names))

    def _displacements(self) -> Iterator[Item]:
        """The displacements, whose rates are no power equations."""
        if self.system.displacements:
            yield Sentence(self.say("steps.displacements"))
        for name, rate in self.system.displacements.items():
            yield NamedFormula(f"{name}'", rate)

    def _signals(self) -> Iterator[Item]:
        """Signals carry no power: what they drive is an input here, and what reads them moves with time."""
        driven = [
            p.law.input
            for p in self.ports
            if isinstance(p.law, SourceLaw) and p.law.signal is not None and not p.transferred
        ]
        if hot := [p.law.input for p in self.ports if isinstance(p.law, SourceLaw) and p.transferred]:
            names = ", ".join(f"`{name}`" for name in hot)
            yield Sentence(self.say("steps.losses", names=names))
        if driven:
            names = ", ".join(f"`{name}`" for name in driven)
            yield Sentence(self.say("steps.driven", names=names))
        used = {
            name for matrix in self.system.matrices.values() for row in matrix for e in row for name in e.free_symbols
        }
        read = [f"`{signal.name}`" for signal in self.causal.graph.signals if signal.name in used]
        if len(read) == 1:
            yield Sentence(self.say("steps.signal", name=read[0]))
        elif read:
            yield Sentence(self.say("steps.signals", names=", ".join(read)))

    def _meaning(self, k: int) -> str:
        port, law = self.ports[k], self.ports[k].storage
        domain = DOMAINS[port.domain]
        if law.keeps_energy_variable:
            word = domain.energy(law.side).word
            kept, output = self.say.quantity(word), self.say.quantity(domain.power(law.side).word)
            return self.say("steps.kept", quantity=kept, element=port.element, output=output)
        return self.say("steps.output", quantity=self.say.quantity(domain.power(law.side).word), element=port.element)

    def _dependent_storages(self) -> Iterator[Item]:
        if self.causal.dependent:
            yield Sentence(self.say("steps.followers"))
        for dependence, (name, value) in zip(self.causal.dependent, self.system.dependent.items(), strict=True):
            element = self.ports[dependence.port].element
            on = ", ".join(f"`{self.ports[k].element}`" for k in dependence.on)
            key = "steps.depends" if on else "steps.zero"
            yield Sentence(self.say(key, name=name, element=element, names=on), listed=True)
            yield NamedFormula(name, value)

    # The constitutive relations, and the energy matrix that they make

    def energy(self) -> ExplanationSection:
        if not self.causal.integral and not self.causal.dependent:
            return ExplanationSection(self.say("steps.title_energy"), ())
        items: list[Item] = [Sentence(self.say("steps.relations"))]
        for k, name in zip(self.causal.integral, self.energy_names, strict=True):
            items.append(self._content(self.ports[k], name, symbol(self.ports[k].state)))
        for k, name in zip(self.causal.derivative, self.system.dependent, strict=True):
            items.append(self._content(self.ports[k], self._free_name(self.ports[k]), symbol(name)))
        if self.causal.dependent:
            items += self._congruence()
        elif self.causal.integral:
            items.append(Sentence(self.say("steps.coefficients")))
        items += [ShownMatrix("L", self.system.matrices["L"])] if self.causal.integral else []
        if not self.system.is_zero("N"):
            items.append(Sentence(self.say("steps.moving")))
            items.append(ShownMatrix("N", self.system.matrices["N"]))
        return ExplanationSection(self.say("steps.title_energy"), tuple(items))

    def _free_name(self, port: Port) -> str:
        letter = DOMAINS[port.domain].energy(port.storage.side).symbol
        return unused(named_after(letter, port.element), self.taken)

    def _content(self, port: Port, name: str, output: Expression) -> NamedFormula:
        law = port.storage
        if law.output is not None:
            return NamedFormula(port.variable(law.side), law.output.substitute({ARGUMENT: symbol(name)}))
        if law.content is not None:
            return NamedFormula(name, law.content.substitute({ARGUMENT: output}))
        # An energy function of the output tells dq/dx, and its integral may have no closed form.
        if law.inertia is None:  # the slope is all that is known
            return NamedFormula(f"d{name}/d{output}", law.inertia_at(output))
        return NamedFormula(name, self._coupled_content(port, law.inertia * output))

    def _coupled_content(self, port: Port, alone: Expression) -> Expression:
        """The content of a storage that belongs to a field: by the outputs of all its ports."""
        for coupled in self.causal.graph.fields:
            members = [self.ports[k] for k in coupled.ports]
            if port in members:
                outputs = [symbol(p.variable(p.storage.side)) for p in members if isinstance(p.law, StorageLaw)]
                return dot(coupled.matrix[members.index(port)], outputs)
        return alone

    def _congruence(self) -> Iterator[Item]:
        """The outputs of all storages by those of the independent ones."""
        states, inputs = self.system.states, self.system.inputs
        n = len(states)
        followers = tuple(self.system.dependent.values())
        T: Matrix = tuple(tuple(ONE if i == j else ZERO for j in range(n)) for i in range(n))
        # Followers are linear in states and inputs, so their slopes are the rows of T.
        T += tuple(tuple(e.derivative(x) for x in states) for e in followers)
        T_u: Matrix = zeros(n, len(inputs))
        T_u += tuple(tuple(e.derivative(u) for u in inputs) for e in followers)
        driven = any(e is not ZERO for row in T_u for e in row)
        names = ", ".join(f"`{name}`" for name in (*states, *self.system.dependent))
        share = " + T_u u" if driven else ""
        yield Sentence(self.say("steps.all_outputs", names=names, sum=f"$T x{share}$"))
        if states:
            yield ShownMatrix("T", T)
        if driven:
            yield ShownMatrix("T_u", T_u)
        if states:
            yield Sentence(self.say("steps.congruence"))

    # Each entry by the paths that make it

    def state_entries(self) -> ExplanationSection:
        if not self.causal.integral:
            return ExplanationSection(self.say("steps.title_states"), ())
        # With L x' = -A x + B u the gains of paths stand in A with the opposite sign.
        key = "steps.paths_minus" if self.sign == "-" else "steps.paths_plus"
        items: list[Item] = [Sentence(self.say(key))]
        items += self._loops()
        A = self.system.matrices["A"]
        items += self._entries("A", A, self.causal.integral, self.causal.integral, -1)
        items += self._entries("B", self.system.matrices["B"], self.causal.integral, self.causal.sources, 1)
        items += self._curved("f", self.causal.integral)
        items.append(Sentence(self.say("steps.rest")))
        # Larger matrices would be read nowhere; their entries stand above.
        if self.system.inputs and len(self.system.states) <= MOST_STATES_SHOWN:
            shown = A if self.sign == "-" else negative(A)
            items += [Sentence(self.say("steps.matrices")), ShownMatrix("A", shown, explained=True)]
            items.append(ShownMatrix("B", self.system.matrices["B"], explained=True))
        return ExplanationSection(self.say("steps.title_states"), tuple(items))

    def _loops(self) -> Iterator[Item]:
        for loop in self.finder.loops:
            names = ", ".join(f"`{name}`" for name in loop.members)
            if loop.rounds:
                yield Sentence(self.say("steps.loop", names=names, name=loop.name))
                yield loop
            else:
                yield Sentence(self.say("steps.large_loop", names=names, most=MOST_COUPLED))

    def output_entries(self) -> ExplanationSection:
        if not self.causal.sources:
            return ExplanationSection(self.say("steps.title_outputs"), ())
        # Without states there was no section on A, and the loops have not been told.
        items: list[Item] = [] if self.causal.integral else list(self._loops())
        items.insert(
            0,
            Sentence(self.say("steps.output_paths")),
        )
        items += self._entries("C", self.system.matrices["C"], self.causal.sources, self.causal.integral, -1)
        items += self._entries("D", self.system.matrices["D"], self.causal.sources, self.causal.sources, -1)
        items += self._curved("f_y", self.causal.sources)
        if self.system.is_zero("D"):
            items.append(Sentence(self.say("steps.no_feedthrough")))
        items += self._rates()
        return ExplanationSection(self.say("steps.title_outputs"), tuple(items))

    def _rates(self) -> Iterator[Item]:
        names: tuple[MatrixName, ...] = ("B_1", "D_1")
        shown = [name for name in names if not self.system.is_zero(name)]
        if shown:
            both = {"before": "$B_1 = -T^T L_0 T_u$", "last": "$D_1 = T_u^T L_0 (T_u + T L^-1 B_1)$"}
            laws = f", {self.say('list.and', **both)}" if self.system.linear else ""
            yield Sentence(self.say("steps.rates", laws=laws))
        for name in shown:
            yield ShownMatrix(name, self.system.matrices[name])

    def _entries(
        self, name: MatrixName, matrix: Matrix, told: Sequence[int], decided: Sequence[int], sign: int
    ) -> Iterator[Item]:
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                if value is not ZERO:
                    paths = self._explained(name, told[i], decided[j], value, sign)
                    yield self._signed(ExplainedEntry(name, i + 1, j + 1, value, paths))

    def _signed(self, entry: ExplainedEntry) -> ExplainedEntry:
        if self.sign == "-" or entry.matrix != "A":
            return entry
        paths = tuple(_scaled(path, -1) for path in entry.paths)
        return replace(entry, value=-entry.value, paths=paths)

    def _explained(self, name: str, told: int, decided: int, value: Expression, sign: int) -> tuple[CausalPath, ...]:
        """The paths of an entry, with what remains for loops solved by elimination or for rates of storages; they add up to it."""
        start, end = self._name_of(decided), self._end_of(told)
        found = self.finder.between(told, decided)
        paths = [_placed(_scaled(path, sign), start, end) for path in found]
        # Paths must add up to the entry. What is left goes through a loop that was eliminated, or is the rate of a
        # storage; anything else means that the system is not that of this graph.
        rest = value - total(path.gain for path in paths)
        if self._vanishes(rest):
            return tuple(paths)
        members = self.finder.eliminated_between(told, decided)
        if not members and not self._sees_rates(name, told):
            raise ValueError(f"{name} from '{start}' to '{end}' is not what its paths give: was the system changed?")
        if not members:
            # A source that moves a dependent storage sees its inertia, which no path without integrator explains.
            members = tuple(self.ports[d.port].element for d in self.causal.dependent if told in d.on)
            return (*paths, CausalPath(rest, (start, *members, end), eliminated=members))
        # Without a path of its own the entry is all elimination's.
        rest = value if not paths else rest
        return (*paths, CausalPath(rest, (start, f"({', '.join(members)})", end), eliminated=members))

    def _sees_rates(self, name: str, told: int) -> bool:
        """Whether an output contains rates of states, because its source decides a storage, or a moving T adds to B."""
        decides = any(told in dependence.on for dependence in self.causal.dependent)
        return decides and (name in {"C", "D"} or bool(self.system.displacements))

    def _name_of(self, k: int) -> str:
        port = self.ports[k]
        return port.law.input if isinstance(port.law, SourceLaw) else port.state

    def _end_of(self, k: int) -> str:
        if isinstance(self.ports[k].law, SourceLaw):
            return self.system.outputs[self.causal.sources.index(k)]
        return self.ports[k].state

    def _curved(self, name: VectorName, told: Sequence[int]) -> Iterator[Item]:
        """The paths from nonlinear laws, whose decided variables are not linear in states and inputs."""
        if self.system.is_zero(name):
            return
        decided = self._nonlinear()
        yield Sentence(self.say("steps.curved", name=f"${name}$"))
        for k, value in decided.items():
            yield NamedFormula(self.ports[k].variable(self.causal.decides[k]), value)
        for i, k in enumerate(told):
            value = self.system.vectors[name][i]
            if value is not ZERO:
                yield ExplainedEntry(name, i + 1, 0, value, self._shares(name, k, value, decided))
        if self.system.algebraic.unknowns:
            names = ", ".join(f"`{unknown}`" for unknown in self.system.algebraic.unknowns)
            yield Sentence(self.say("steps.unknowns", names=names))

    def _shares(
        self, name: str, told: int, value: Expression, decided: Mapping[int, Expression]
    ) -> tuple[CausalPath, ...]:
        """The paths from nonlinear laws to one port, each times the variable that the law decides; they add up to the value."""
        paths: list[CausalPath] = []
        rest, end = value, self._end_of(told)
        for k, law in decided.items():
            start = self.ports[k].variable(self.causal.decides[k])
            for path in self.finder.between(told, k):
                placed = _placed(_scaled(path, -1), start, end)
                rest = rest - placed.gain * law
                # In f the path carries the variable that a law decides, not a state: it is a factor of the gain.
                paths.append(CausalPath(placed.forward * symbol(start), placed.stops, placed.cofactor, placed.delta))
        if self._vanishes(rest):
            return tuple(paths)
        members = [m for k in decided for m in self.finder.eliminated_between(told, k)]
        # Laws that read each other pass on more than paths of gains tell: what is left comes from them all the same.
        members = members or [self.ports[k].element for k in decided]
        unique = tuple(dict.fromkeys(members))
        return (*paths, CausalPath(rest, (f"({', '.join(unique)})", end), eliminated=unique))

    def _nonlinear(self) -> dict[int, Expression]:
        """What the ports with nonlinear laws decide."""
        # Solved once more, because the system keeps only what its rows need.
        arithmetic = NamedEntries(self.system.parameters, self.taken, prefix="c")
        structure = causal_structure(self.causal, arithmetic)
        told = solve_resistive(structure, arithmetic)
        known = PortVariables(structure, told)
        written = {k: with_definitions(e, arithmetic.where) for k, e in told.decided.items()}
        kept = {*self.system.states, *self.system.algebraic.unknowns}
        return {k: _over_states(e, known, kept) for k, e in written.items()}

    # What the matrices must be, and are

    def checks(self) -> ExplanationSection:
        items: list[Item] = [Sentence(self._count(), listed=True)]
        if self.causal.integral:
            symmetric = self._equal(self.system.matrices["L"], 1)
            items.append(Sentence(self.say("steps.symmetric" if symmetric else "steps.not_symmetric"), listed=True))
            items += self._parts()
        if self.system.potential_energy is not ZERO:
            items.append(Sentence(self.say("steps.weights"), listed=True))
            items.append(NamedFormula("V", self.system.potential_energy))
        if self.system.dissipated_power is not ZERO:
            items.append(Sentence(self.say("steps.dissipate"), listed=True))
            power = self.system.dissipated_power
            items.append(NamedFormula("P_d", power if self.sign == "-" else -power))
        else:
            items.append(Sentence(self.say("steps.lossless"), listed=True))
        if self.causal.integral and self.causal.sources:
            items.append(Sentence(self._reciprocity(), listed=True))
        return ExplanationSection(self.say("steps.title_checks"), tuple(items))

    def _count(self) -> str:
        followers, states = len(self.causal.dependent), len(self.causal.integral)
        counts = (("storage", states + followers), ("state", states))
        told = {f"{w}s": self.say(f"steps.{w}_{'one' if n == 1 else 'many'}", number=n) for w, n in counts}
        return self.say("steps.count", dependent=followers, **told)

    def _parts(self) -> Iterator[Item]:
        """The parts of A; where a storage is given by its output, f holds some of their entries."""
        # There A acts on outputs that are functions of the state, so its symmetric part says nothing about losses.
        if any(self.ports[k].storage.keeps_energy_variable for k in self.causal.integral):
            return
        if self.system.is_zero("A"):
            yield Sentence(self.say("steps.no_exchange"), listed=True)
            return
        # A skew matrix takes no power: x^T A x = 0.
        if self._equal(self.system.matrices["A"], -1):
            yield Sentence(self.say("steps.skew"), listed=True)
            return
        if self._equal(self.system.matrices["A"], 1):
            yield Sentence(self.say("steps.no_skew"), listed=True)
            return
        yield Sentence(self.say("steps.two_parts"), listed=True)
        flipped = self.sign == "+"
        for name, part in (("A_s", self.system.symmetric_part), ("A_w", self.system.skew_part)):
            yield ShownMatrix(name, negative(part) if flipped else part)

    def _vanishes(self, rest: Expression) -> bool:
        """Whether nothing is left; moduli may read dependent storages, which entries show as what they follow from."""
        return is_zero(self.finder.written(rest, {**self.system.where, **self.system.dependent}))

    def _equal(self, matrix: Matrix, sign: int) -> bool:
        """Whether a matrix is its transpose times a sign."""
        n = len(matrix)
        pairs = [(matrix[i][j], sign * matrix[j][i]) for i in range(n) for j in range(i + 1)]
        return all(self._vanishes(a - b) for a, b in pairs)

    def _reciprocity(self) -> str:
        B, C = self.system.matrices["B"], self.system.matrices["C"]
        pairs = [(B[i][j], C[j][i]) for i in range(len(B)) for j in range(len(C))]
        # The same path leads there and back, with the same gain, because the interconnection is skew.
        if all(self._vanishes(b - c) for b, c in pairs):
            return self.say("steps.reciprocal")
        return self.say("steps.not_reciprocal")


def _scaled(path: CausalPath, sign: int) -> CausalPath:
    return replace(path, forward=path.forward if sign > 0 else -path.forward)


def _over_states(law: Expression, known: PortVariables, kept: set[str]) -> Expression:
    """What a law decides, with the variables that it reads written over states, inputs and unknowns, which are kept."""
    replaced = known.replacements(sorted(law.free_symbols - kept))
    return law.substitute(replaced) if replaced else law


def _placed(path: CausalPath, start: str, end: str) -> CausalPath:
    return replace(path, stops=(start, *path.stops, end))


@final
@dataclass(frozen=True)
class Explanation:
    """The steps from a causal graph to its equations. Formulas are over the parameters, variables, determinants and `where`."""

    name: str
    sign: Sign
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: Mapping[str, Expression | None]
    sections: tuple[ExplanationSection, ...]
    where: Mapping[str, Expression] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    language: Language = "en"

    def values(self) -> dict[str, float]:
        """The values of the parameters that have one."""
        return parameter_values(self.parameters)

    def entries(self) -> tuple[ExplainedEntry, ...]:
        """The explained entries of all matrices."""
        return tuple(i for section in self.sections for i in section.items if isinstance(i, ExplainedEntry))

    def to_text(self) -> str:
        """The steps as text for a terminal."""
        return steps_to_text(self)

    def form_text(self) -> str:
        """The same for equations that are only explained: a form has no steps that its title could promise."""
        title, _, rest = self.to_text().partition("\n")
        return f"{title.removesuffix(Phrases(self.language)('steps.title', name=''))}\n{rest}"

    def to_latex(self) -> str:
        """The steps as LaTeX paragraphs. Needs amsmath."""
        with written_with(self.symbols, {*self.parameters, *self.where}):
            return steps_to_latex(self)

    def to_json(self) -> dict[str, object]:
        """The record that `derive --steps --json` prints."""
        return steps_to_record(self)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        # Paragraphs of LaTeX need amsmath, which notebooks have only for single formulas.
        return f"<pre>{escape(visible(self.to_text()))}</pre>"


def derivation_steps(system: EquationSystem, *, sign: Sign = "-", language: Language = "en") -> Explanation:
    """How the equations of a model follow, step by step.

    `system` is what `derive_equations` gives: with symbols, and with the causal graph that it came from. With sign "+" the
    equations are `L x' = A x + B u`, so that the entries of A are the gains themselves.

    Raises: ValueError for a system whose entries are not those of its network (numbers, or a linearisation).

    >>> from tellegen.workflow.deriving import derive
    >>> steps = derivation_steps(derive("dc_motor"))
    >>> [section.title for section in steps.sections][1]
    'Energy matrix'
    """
    if system.origin is None:
        raise ValueError("a system without its causal graph cannot be explained: derive it from a model")
    lesson = _Lesson(system, system.origin, sign, Phrases(language))
    sections = [
        lesson.choice(),
        lesson.energy(),
        lesson.state_entries(),
        lesson.output_entries(),
        lesson.checks(),
    ]
    where = {**system.where, **lesson.finder.where}
    shown = [e for section in sections for item in section.items for e in _formulas(item)]
    # Of names that no shown formula reads, nothing is said.
    needed = used_names(shown, where)
    return Explanation(
        name=system.name,
        sign=sign,
        states=system.states,
        inputs=system.inputs,
        outputs=system.outputs,
        parameters=system.parameters,
        sections=tuple(section for section in sections if section.items),
        where={name: e for name, e in where.items() if name in needed},
        symbols=system.symbols,
        language=language,
    )


def _formulas(item: Item) -> list[Expression]:
    if isinstance(item, NamedFormula):
        return [item.value]
    if isinstance(item, ShownMatrix):
        return [e for row in item.rows for e in row]
    if isinstance(item, ExplainedEntry):
        return [item.value, *(path.gain for path in item.paths)]
    return [] if isinstance(item, Sentence) else [path.forward for path in item.rounds]
