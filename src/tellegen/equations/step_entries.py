"""The sections of a derivation that tell each entry by the paths that make it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import final

from tellegen.equations.explanation import ExplainedEntry, Item, Path, Relation, Section, Sentence, ShownMatrix
from tellegen.equations.lessons import AbstractTeller, Lesson
from tellegen.equations.matrices import Matrix, negative
from tellegen.equations.paths import MOST_COUPLED
from tellegen.equations.port_variables import PortVariables
from tellegen.equations.resistive import solve_resistive
from tellegen.equations.structure import causal_structure
from tellegen.equations.system import MatrixName, VectorName
from tellegen.expressions import ZERO, Expression, is_zero, symbol, total
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.graph import SourceLaw

MOST_STATES_SHOWN = 6
"""The matrices of models with more states are not written out once more."""


def entry_sections(lesson: Lesson) -> tuple[Section, Section]:
    """Sections 3 and 4: the entries of A and B, and those of C and D."""
    teller = _EntryTeller(lesson)
    return teller.state_entries(), teller.output_entries()


@final
class _EntryTeller(AbstractTeller):
    """Tells each entry by the paths that make it."""

    def state_entries(self) -> Section:
        if not self.causal.integral:
            return Section("Matrices A and B", ())
        minus = "minus the gain" if self.sign == "-" else "the gain"
        items: list[Item] = [
            Sentence(
                f"$A[i,j]$ is {minus} of the paths from the state $x_j$ to the input of the storage of $x_i$ that cross no other "
                "integrator, and $B[i,j]$ the gain of those from the input $u_j$."
            )
        ]
        items += self._loops()
        A = self.system.matrices["A"]
        items += self._entries("A", A, self.causal.integral, self.causal.integral, -1)
        items += self._entries("B", self.system.matrices["B"], self.causal.integral, self.causal.sources, 1)
        items += self._curved("f", self.causal.integral)
        items.append(Sentence("All other entries are zero."))
        if self.system.inputs and len(self.system.states) <= MOST_STATES_SHOWN:
            shown = A if self.sign == "-" else negative(A)
            items += [Sentence("So the matrices are:"), ShownMatrix("A", shown, explained=True)]
            items.append(ShownMatrix("B", self.system.matrices["B"], explained=True))
        return Section("Matrices A and B", tuple(items))

    def _loops(self) -> Iterator[Item]:
        for loop in self.finder.loops:
            names = ", ".join(f"`{name}`" for name in loop.members)
            if loop.rounds:
                yield Sentence(
                    f"{names} decide each other. By Mason's rule a path through them counts gain times cofactor over `{loop.name}`:"
                )
                yield loop
            else:
                yield Sentence(
                    f"{names} decide each other. They are more than {MOST_COUPLED} or coupled by a field, so this loop is "
                    "solved by elimination."
                )

    def output_entries(self) -> Section:
        if not self.causal.sources:
            return Section("Matrices C and D", ())
        items: list[Item] = [] if self.causal.integral else list(self._loops())
        items.insert(
            0,
            Sentence(
                "$C[i,j]$ and $D[i,j]$ are the gains of the paths to the output $y_i$, from the state $x_j$ and from the "
                "input $u_j$."
            ),
        )
        items += self._entries("C", self.system.matrices["C"], self.causal.sources, self.causal.integral, -1)
        items += self._entries("D", self.system.matrices["D"], self.causal.sources, self.causal.sources, -1)
        items += self._curved("f_y", self.causal.sources)
        if self.system.is_zero("D"):
            items.append(
                Sentence("$D$ is zero: no path leads from an input to an output without crossing an integrator.")
            )
        items += self._rates()
        return Section("Matrices C and D", tuple(items))

    def _rates(self) -> Iterator[Item]:
        names: tuple[MatrixName, ...] = ("B_1", "D_1")
        shown = [name for name in names if not self.system.is_zero(name)]
        if shown:
            laws = ", $B_1 = -T^T L_0 T_u$ and $D_1 = T_u^T L_0 (T_u + T L^-1 B_1)$" if self.system.linear else ""
            yield Sentence(
                f"Sources that decide the output of a storage bring in the derivatives of their inputs{laws}:"
            )
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
        """The entry in the sign that was asked for."""
        if self.sign == "-" or entry.matrix != "A":
            return entry
        paths = tuple(_scaled(path, -1) for path in entry.paths)
        return ExplainedEntry(entry.matrix, entry.row, entry.column, -entry.value, paths)

    def _explained(self, name: str, told: int, decided: int, value: Expression, sign: int) -> tuple[Path, ...]:
        """The paths of an entry, with what remains for loops solved by elimination or for rates of storages; they add up to it."""
        start, end = self._name_of(decided), self._end_of(told)
        found = self.finder.between(told, decided)
        paths = [_placed(_scaled(path, sign), start, end) for path in found]
        rest = value - total(path.gain for path in paths)
        if is_zero(self.finder.written(rest, self.system.where)):
            return tuple(paths)
        members = self.finder.eliminated_between(told, decided)
        if not members and not self._sees_rates(name, told):
            raise ValueError(f"{name} from '{start}' to '{end}' is not what its paths give: was the system changed?")
        if not members:
            members = tuple(self.ports[d.port].element for d in self.causal.dependent if told in d.on)
            return (*paths, Path(rest, (start, *members, end), eliminated=members))
        rest = value if not paths else rest
        return (*paths, Path(rest, (start, f"({', '.join(members)})", end), eliminated=members))

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
        yield Sentence(f"Laws that are not linear decide the following; ${name}$ collects what they pass on:")
        for k, value in decided.items():
            yield Relation(self.ports[k].variable(self.causal.decides[k]), value)
        for i, k in enumerate(told):
            value = self.system.vectors[name][i]
            if value is not ZERO:
                yield ExplainedEntry(name, i + 1, 0, value, self._shares(name, k, value, decided))
        if self.system.algebraic.unknowns:
            names = ", ".join(f"`{unknown}`" for unknown in self.system.algebraic.unknowns)
            yield Sentence(f"In them {names} are unknowns that laws in a loop leave to be solved for.")

    def _shares(self, name: str, told: int, value: Expression, decided: Mapping[int, Expression]) -> tuple[Path, ...]:
        """The paths from nonlinear laws to one port, each times the variable that the law decides; they add up to the value."""
        paths: list[Path] = []
        rest, end = value, self._end_of(told)
        for k, law in decided.items():
            start = self.ports[k].variable(self.causal.decides[k])
            for path in self.finder.between(told, k):
                placed = _placed(_scaled(path, -1), start, end)
                rest = rest - placed.gain * law
                paths.append(Path(placed.forward * symbol(start), placed.stops, placed.cofactor, placed.delta))
        if is_zero(self.finder.written(rest, self.system.where)):
            return tuple(paths)
        members = [m for k in decided for m in self.finder.eliminated_between(told, k)]
        if not members:
            raise ValueError(f"{name} at '{end}' is not what its paths give: was the system changed?")
        unique = tuple(dict.fromkeys(members))
        return (*paths, Path(rest, (f"({', '.join(unique)})", end), eliminated=unique))

    def _nonlinear(self) -> dict[int, Expression]:
        """What the ports with nonlinear laws decide."""
        arithmetic = NamedEntries(self.system.parameters, self.taken, prefix="c")
        structure = causal_structure(self.causal, arithmetic)
        told = solve_resistive(structure, arithmetic)
        known = PortVariables(structure, told)
        written = {k: substituted(e, arithmetic.where) for k, e in told.decided.items()}
        return {k: _over_states(e, known, set(self.system.states)) for k, e in written.items()}


def _scaled(path: Path, sign: int) -> Path:
    forward = path.forward if sign > 0 else -path.forward
    return Path(forward, path.stops, path.cofactor, path.delta, path.eliminated)


def _over_states(law: Expression, known: PortVariables, states: set[str]) -> Expression:
    """What a law decides, with the variables of other elements that it reads written over states and inputs."""
    replaced = known.replacements(sorted(law.free_symbols - states))
    return law.substitute(replaced) if replaced else law


def _placed(path: Path, start: str, end: str) -> Path:
    return Path(path.forward, (start, *path.stops, end), path.cofactor, path.delta, path.eliminated)
