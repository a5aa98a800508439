"""A system as a network: a class for each kind of element, a component for each element, joined at nodes.

Connectors differ by domain. The across variable `v` of an element counts from its first connector to its second; the through
variable `f` enters at the first.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.names import TIME, identifier, unused
from tellegen.elements import ElementKind
from tellegen.exporting import rules
from tellegen.exporting.diagram_building import refuse_latch
from tellegen.exporting.diagram_start import DiagramStart
from tellegen.exporting.modelica.signals import SignalLines
from tellegen.exporting.modelica.words import (
    FormulaPrinter,
    modelica_name,
    modelica_number,
    modelica_text,
    modelica_unit,
    with_unit,
)
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.graph.power_graph import Branch, Coupling, Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.signals import External, Value
from tellegen.graph.switching import command_signals
from tellegen.model.model import Element
from tellegen.results.units import variable_units

LETTER: Final[dict[Side, str]] = {"across": "v", "through": "f"}
"""The variables of a connector and of an element with two of them."""

NEARLY_IDEAL: Final = {"electrical": ("1e-6", "1e-9"), "hydraulic": ("1e3", "1e-17")}
"""The resistance of what is closed, where none is given, and what leaks through what is open, in SI units.

An ideal switch takes a storage its freedom where it opens the only way of a current, and tools keep their states."""

SLOWEST: Final = "1e-4"
"""Impacts below this speed, in SI units, end in rest: there are infinitely many of them."""


@final
class _ElementClasses:
    """The classes in use, by name, each after what it needs."""

    def __init__(self) -> None:
        self.classes: dict[str, list[str]] = {}

    def lines(self) -> Iterator[str]:
        """All of them, with an empty line behind each."""
        for lines in self.classes.values():
            yield from lines
            yield ""

    def ground(self, domain: Domain) -> str:
        """The class of a reference."""
        name = f"{_class_word(domain.reference)}Of{_class_word(domain.name)}" if domain.reference == "frame" else ""
        return self._add(
            name or _class_word(domain.reference),
            f"where the {domain.across.word} is zero",
            [f"{self._connector(domain)} plus;"],
            ["plus.v = 0;"],
            extends="",
        )

    def storage(self, kind: ElementKind) -> str:
        """A linear storage with a constant value."""
        out, told = LETTER[kind.side], LETTER[other_side(kind.side)]
        if kind.quantity is None:
            return self._port(_class_word(kind.name), kind.domain, kind.summary, [], [f"{told} = 0;"])
        key = kind.quantity.key
        law = f"der({out}) = {key}*{told};" if kind.inverse else f"{key}*der({out}) = {told};"
        return self._port(_class_word(kind.name), kind.domain, kind.summary, [_parameter(kind)], [law])

    def resistive(self, kind: ElementKind) -> str:
        """A linear dissipator with a constant value."""
        assert kind.quantity is not None, "a linear element has a value"
        law = f"{LETTER[kind.side]} = {kind.quantity.key}*{LETTER[other_side(kind.side)]};"
        return self._port(_class_word(kind.name), kind.domain, kind.summary, [_parameter(kind)], [law])

    def source(self, kind: ElementKind) -> str:
        """A source of what `u` says."""
        unit = modelica_unit(kind.domain.power(kind.side).unit)
        given = [f'input Real u(unit="{unit}");']
        return self._port(_class_word(kind.name), kind.domain, kind.summary, given, [f"{LETTER[kind.side]} = u;"])

    def law(self, domain: Domain, side: Side) -> str:
        """A power variable that the system gives a formula."""
        about = f"its {domain.power(side).word} follows a formula"
        name = f"{_class_word(domain.name)}{_class_word(side)}Law"
        return self._port(name, domain, about, ["input Real law;"], [f"{LETTER[side]} = law;"])

    def storage_by_content(self, domain: Domain, side: Side) -> str:
        """A storage whose content the system gives a formula of outputs."""
        about = f"what it keeps ({domain.energy(side).word}) follows a formula"
        told = LETTER[other_side(side)]
        return self._port(
            f"{_class_word(domain.name)}{_class_word(side)}StorageByContent",
            domain,
            about,
            ["input Real content;", "Real stored;"],
            ["stored = content;", f"der(stored) = {told};"],
        )

    def storage_by_slope(self, domain: Domain, side: Side) -> str:
        """A storage of which only the slope of its content is a formula."""
        about = f"how its {domain.energy(side).word} rises follows a formula"
        law = f"slope*der({LETTER[side]}) = {LETTER[other_side(side)]};"
        name = f"{_class_word(domain.name)}{_class_word(side)}StorageBySlope"
        return self._port(name, domain, about, ["input Real slope;"], [law])

    def storage_by_law(self, domain: Domain, side: Side) -> str:
        """A storage whose output the system gives a formula of contents."""
        about = f"its {domain.power(side).word} follows a formula of what is kept ({domain.energy(side).word})"
        return self._port(
            f"{_class_word(domain.name)}{_class_word(side)}StorageByLaw",
            domain,
            about,
            ["input Real law;", "Real stored;"],
            [f"{LETTER[side]} = law;", f"der(stored) = {LETTER[other_side(side)]};"],
        )

    def switch(self, kind: ElementKind) -> str:
        """A switch or a valve that follows `control`."""
        given = ["input Real control;", *_nearly_ideal(kind), "Boolean closed;"]
        laws = ["closed = control > 0;", "0 = if closed then v - R_on*f else f - G_off*v;"]
        return self._port(_class_word(kind.name), kind.domain, kind.summary, given, laws)

    def one_way(self, kind: ElementKind) -> str:
        """A diode or a check valve: a point on its characteristic moves with `s`."""
        given = ["parameter Real threshold = 0;", *_nearly_ideal(kind), "Real s;", "Boolean off;"]
        laws = ["off = s < 0;", "v = threshold + (if off then s else R_on*s);", "f = if off then G_off*s else s;"]
        return self._port(_class_word(kind.name), kind.domain, kind.summary, given, laws)

    def stop(self, kind: ElementKind) -> str:
        """A stop that pushes while its gap is closed, and never pulls."""
        given = ["input Real gap;", "parameter Real K = 0;", "parameter Real b = 0;"]
        laws = ["f = if gap < 0 then max(0, b*v - K*gap) else 0;"]
        return self._port(_class_word(kind.name), kind.domain, kind.summary, given, laws)

    def rigid_stop(self, kind: ElementKind) -> str:
        """A stop that holds what has come to rest at it; the system changes speeds at an impact."""
        given = ["input Real gap;", "parameter Real restitution;", f"parameter Real slowest = {SLOWEST};"]
        given.append("discrete Boolean held(start=false, fixed=true);")
        laws = [
            "0 = if held then der(v) else f;",
            "when {gap <= 0, f < 0} then",
            "  held = gap <= 0 and v >= 0 and v < slowest;",
            "end when;",
        ]
        return self._port(f"Rigid{_class_word(kind.name)}", kind.domain, kind.summary, given, laws)

    def coupling(self, coupling: Coupling, kind: ElementKind) -> tuple[str, str]:
        """The class of a coupling of two ports, and the key of its modulus."""
        (one,), (two,) = coupling.side_1, coupling.side_2
        key = kind.quantity.key if kind.quantity is not None else "K"
        name = _class_word(kind.name)
        # A connection has no name of its own: domains and what it relates tell one from another.
        if kind.name in ("connection", "multiport") or kind.heat:
            words = (one.domain, one.side, "to", two.domain, two.side)
            name = "".join(map(_class_word, words))
        given, laws = self._ends([("1", one)], "")
        more = self._ends([("2", two)], "-")
        given += [*more[0], f"input Real {key};"]
        laws += more[1]
        laws.append(f"{LETTER[two.side]}_2 = {key}*{LETTER[one.side]}_1;")
        laws.append(f"{LETTER[other_side(one.side)]}_1 = {key}*{LETTER[other_side(two.side)]}_2;")
        about = kind.summary if kind.name != "connection" else "passes power between two domains"
        return self._add(name, about, given, laws, extends=""), key

    def matrix_coupling(self, coupling: Coupling, entries: dict[tuple[int, int], str]) -> str:
        """The class of one coupling of several ports; `entries` are the inputs for places of its matrix that are not zero."""
        given, laws = self._ends([(f"1_{k}", b) for k, b in enumerate(coupling.side_1, 1)], "")
        more = self._ends([(f"2_{k}", b) for k, b in enumerate(coupling.side_2, 1)], "-")
        given += more[0]
        laws += more[1]
        given += [f"input Real {word};" for word in entries.values()]
        for j, two in enumerate(coupling.side_2):
            terms = [
                f"{word}*{LETTER[coupling.side_1[i].side]}_1_{i + 1}" for (row, i), word in entries.items() if row == j
            ]
            laws.append(f"{LETTER[two.side]}_2_{j + 1} = {' + '.join(terms) or '0'};")
        for i, one in enumerate(coupling.side_1):
            terms = [
                f"{word}*{LETTER[other_side(coupling.side_2[j].side)]}_2_{j + 1}"
                for (j, column), word in entries.items()
                if column == i
            ]
            laws.append(f"{LETTER[other_side(one.side)]}_1_{i + 1} = {' + '.join(terms) or '0'};")
        return self._add(
            f"CouplingOf_{identifier(coupling.element)}", "passes power between its ports", given, laws, extends=""
        )

    def _ends(self, branches: Iterable[tuple[str, Branch]], sign: str) -> tuple[list[str], list[str]]:
        """The connectors and variables of some ports of a coupling; power enters at side 1 and leaves at side 2."""
        given: list[str] = []
        laws: list[str] = []
        for n, branch in branches:
            given += [f"{self._connector(DOMAINS[branch.domain])} plus_{n}, minus_{n};", f"Real v_{n}, f_{n};"]
            laws += [
                f"v_{n} = plus_{n}.v - minus_{n}.v;",
                f"f_{n} = {sign}plus_{n}.f;",
                f"plus_{n}.f + minus_{n}.f = 0;",
            ]
        return given, laws

    def _port(self, name: str, domain: Domain, about: str, given: list[str], laws: list[str]) -> str:
        return self._add(name, about, given, laws, extends=self._base(domain))

    def _base(self, domain: Domain) -> str:
        pin, units = self._connector(domain), (modelica_unit(domain.across.unit), modelica_unit(domain.through.unit))
        name = f"{pin}Port"
        given = [f"{pin} plus, minus;", f'Real v(unit="{units[0]}");', f'Real f(unit="{units[1]}");']
        laws = ["v = plus.v - minus.v;", "f = plus.f;", "plus.f + minus.f = 0;"]
        return self._add(name, "an element between two points", given, laws, extends="", word="partial model")

    def _connector(self, domain: Domain) -> str:
        name = _class_word(domain.name)
        across, through = domain.across, domain.through
        self.classes.setdefault(
            name,
            [
                f"connector {name} {modelica_text(f'{across.word} and {through.word}')}",
                f'  Real v(unit="{modelica_unit(across.unit)}");',
                f'  flow Real f(unit="{modelica_unit(through.unit)}");',
                f"end {name};",
            ],
        )
        return name

    def _add(
        self, name: str, about: str, given: list[str], laws: list[str], *, extends: str, word: str = "model"
    ) -> str:
        written = modelica_name(name)
        lines = [f"{word} {written} {modelica_text(about)}"]
        lines += [f"  extends {extends};"] if extends else []
        lines += [*(f"  {line}" for line in given), "equation", *(f"  {line}" for line in laws), f"end {written};"]
        self.classes.setdefault(written, lines)
        return written


def _parameter(kind: ElementKind) -> str:
    assert kind.quantity is not None, "a linear element has a value"
    unit = modelica_unit(kind.quantity.unit)
    return f'parameter Real {kind.quantity.key}(unit="{unit}") {modelica_text(kind.quantity.word)};'


def _nearly_ideal(kind: ElementKind) -> list[str]:
    closed, leak = NEARLY_IDEAL[kind.domain.name]
    return [f"parameter Real R_on = {closed};", f"parameter Real G_off = {leak};"]


def _class_word(words: str) -> str:
    """The name of a class: `DcMachine` of a dc machine."""
    return "".join(word[:1].upper() + word[1:] for word in words.replace("-", " ").replace("_", " ").split())


HELD: Final = ("friction", "clutch")
"""Behaviours whose modes fix a speed: what moves then changes what a tool integrates."""


@final
class SystemNetwork:
    """The lines of the system and the classes of its elements."""

    def __init__(self, printer: FormulaPrinter, names: dict[str, str], start: DiagramStart) -> None:
        self.printer, self.names, self.start = printer, names, start
        self.graph = start.setup.graph
        self.elements = {e.name: e for e in start.setup.model.elements}
        self.units = variable_units(self.graph)
        self.classes = _ElementClasses()
        self._refuse()
        self.components = self._component_names()
        self.following = {d.port for d in start.setup.causal.dependent}
        self.fields = {k: field for field in self.graph.fields for k in field.ports}
        self._name_variables()
        self.formulas = self._formulas()
        laws = tuple(law for law in self.graph.signals if not isinstance(law, Value))
        self.signals = SignalLines(laws, start, printer, self.formulas, self._before())
        self.lines = [*self._ports(), *self._couplings()]

    def declarations(self) -> list[str]:
        """Components and variables."""
        found = [*self.lines, *self._grounds()]
        for name in self.graph.displacements:
            first = modelica_number(self.start.initial(name))
            found.append(f"Real {self.names[name]}{with_unit(self.units.get(name, ''), start=first, fixed='true')};")
        outputs = self.start.setup.model.experiment.outputs
        for name in self.formulas:
            word = "output Real" if name in outputs else "Real"
            found.append(f"{word} {self.names[name]}{with_unit(self.units.get(name, ''))};")
        found += self.signals.declarations()
        return [*found, *(f"{line};" for line in self._shown())]

    def equations(self) -> list[str]:
        """Connections, and formulas beside them."""
        text = self.printer.print
        found = list(self._connections())
        found += [f"der({self.names[name]}) = {text(rate)};" for name, rate in self.graph.displacements.items()]
        found += [f"{self.names[name]} = {text(e)};" for name, e in self.formulas.items()]
        return [*found, *self.signals.equations(), *self._impacts()]

    # -- Names ---------------------------------------------------------------------------------------------------------------

    def _component_names(self) -> list[str]:
        """Of ports and couplings; a class of the same name would be hidden."""
        made = [*(port.element for port in self.graph.ports), *(c.element for c in self.graph.couplings)]
        taken = {self.names[TIME].partition(".")[0], *(text.partition(".")[0] for text in self.names.values())}
        found = []
        for own in made:
            # Classes begin with a capital and a small letter, as some elements do.
            name = f"{own}_" if own[:1].isupper() and own[1:2].islower() else own
            name = unused(name, taken)
            taken.add(name)
            found.append(name)
        self.taken = taken
        return [modelica_name(name) for name in found]

    def _name_variables(self) -> None:
        """How what formulas read is written: as variables of components, or as variables of the system."""
        for port, component in zip(self.graph.ports, self.components, strict=False):
            for side in ("across", "through"):
                reference = f"{component}.{LETTER[side]}"
                # What a source answers counts out of it; a component counts all of it into itself.
                turned = isinstance(port.law, SourceLaw) and port.law.side != side
                self.names[port.variable(side)] = f"(-{reference})" if turned else reference
            if isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
                self.names[port.state] = f"{component}.stored"
        own = [*self.graph.displacements, *self.graph.position_dependent, *(law.name for law in self.graph.signals)]
        for name in own:
            free = unused(name, self.taken)
            self.taken.add(free)
            self.names[name] = modelica_name(free)

    def _before(self) -> Mapping[str, str]:
        """What may change as soon as a sample is taken: all but states."""
        states = {port.state for port in self.graph.ports}
        names = {port.variable(side) for port in self.graph.ports for side in ("across", "through")} - states
        return {name: f"pre({self.names[name]})" for name in names}

    def _formulas(self) -> dict[str, Expression]:
        values = {law.name: law.expression for law in self.graph.signals if isinstance(law, Value)}
        return {**self.graph.position_dependent, **values}

    # -- Components ----------------------------------------------------------------------------------------------------------

    def _ports(self) -> Iterator[str]:
        for k, (port, component) in enumerate(zip(self.graph.ports, self.components, strict=False)):
            made, settings = self._port(k, port)
            yield f"{made} {component}{_modified(settings)};"

    def _port(self, k: int, port: Port) -> tuple[str, dict[str, str]]:
        """The class of a port, and what it is given."""
        element, law = self.elements.get(port.element), port.law
        if k in self.graph.switching:
            assert element is not None, "what has modes is an element"
            return self._switching(element)
        kind = element.kind if element is not None and element.kind.domains == (port.domain,) else None
        if isinstance(law, StorageLaw):
            return self._storage(k, port, kind)
        if isinstance(law, ResistiveLaw):
            return self._resistive(k, port, kind)
        domain = DOMAINS[port.domain]
        given = {"u": self._course(law)}
        return (
            (self.classes.source(kind), given)
            if kind is not None and kind.role == "source"
            else (self.classes.law(domain, law.side), {"law": given["u"]})
        )

    def _course(self, law: SourceLaw) -> str:
        if law.signal is not None:
            return self.printer.print(law.signal)
        course = self.start.setup.model.experiment.inputs.get(law.input)
        formula = None if course is None else course.expression
        if formula is not None and formula.free_symbols <= self.start.setup.parameters.keys():
            return self.printer.print(formula)
        return modelica_number(self.start.setup.inputs.get(law.input, 0.0))

    def _storage(self, k: int, port: Port, kind: ElementKind | None) -> tuple[str, dict[str, str]]:
        law, domain = port.storage, DOMAINS[port.domain]
        output = symbol(port.variable(law.side))
        begun = {} if k in self.following else self._begun(port)
        field = self.fields.get(k)
        if law.keeps_energy_variable:
            assert law.output is not None, "a law that keeps its content gives the output"
            value = law.output.substitute({"@": symbol(port.state)})
            return self.classes.storage_by_law(domain, law.side), {"law": self.printer.print(value), **begun}
        if field is not None:
            row = field.matrix[field.ports.index(k)]
            others = (self.graph.ports[j] for j in field.ports)
            content = total(
                e * symbol(other.variable(other.storage.side)) for e, other in zip(row, others, strict=True)
            )
            return self.classes.storage_by_content(domain, law.side), {"content": self.printer.print(content), **begun}
        if law.inertia is not None and law.inertia.free_symbols <= self.graph.parameters.keys():
            if law.inertia is ZERO:
                return self.classes.law(domain, other_side(law.side)), {"law": "0", **begun}
            if kind is not None and kind.quantity is not None and kind.role == "storage":
                value = ONE / law.inertia if kind.inverse else law.inertia
                return self.classes.storage(kind), {kind.quantity.key: self.printer.print(value), **begun}
        content_of = law.content_at(output) if law.inertia is not None else None
        if content_of is not None:
            given = {"content": self.printer.print(content_of), **begun}
            return self.classes.storage_by_content(domain, law.side), given
        slope = self.printer.print(law.inertia_at(output))
        return self.classes.storage_by_slope(domain, law.side), {"slope": slope, **begun}

    def _begun(self, port: Port) -> dict[str, str]:
        variable = "stored" if port.storage.keeps_energy_variable else LETTER[port.storage.side]
        return {variable: f"(start={modelica_number(self.start.initial(port.state))}, fixed=true)"}

    def _resistive(self, k: int, port: Port, kind: ElementKind | None) -> tuple[str, dict[str, str]]:
        law, domain = port.resistive, DOMAINS[port.domain]
        told = symbol(port.variable(other_side(law.side)))
        field = self.fields.get(k)
        if field is not None and not field.by_laws:
            row = field.matrix[field.ports.index(k)]
            others = (self.graph.ports[j] for j in field.ports)
            value = total(
                e * symbol(other.variable(other_side(other.resistive.side)))
                for e, other in zip(row, others, strict=True)
            )
        else:
            constant = law.coefficient is not None and law.coefficient.free_symbols <= self.graph.parameters.keys()
            own = kind is not None and kind.role == "resistive" and kind.quantity is not None and kind.side == law.side
            if kind is not None and own and constant and law.coefficient is not None:
                assert kind.quantity is not None, "asked for above"
                return self.classes.resistive(kind), {kind.quantity.key: self.printer.print(law.coefficient)}
            value = law.value_at(told)
        return self.classes.law(domain, law.side), {"law": self.printer.print(value)}

    def _switching(self, element: Element) -> tuple[str, dict[str, str]]:
        kind, given = element.kind, element.switching
        assert given is not None, "an element with modes has settings"
        values = {s.part: self.printer.print(given.settings[s.key]) for s in kind.settings if s.key in given.settings}
        if kind.behaviour == "switch":
            commands = command_signals(element, self.graph.parameters)
            starts_closed = given.start == kind.modes[1]
            control = self.names[commands["control"].name] if commands else "1" if starts_closed else "(-1)"
            return self.classes.switch(kind), {"control": control, **_renamed(values, resistance="R_on")}
        if kind.behaviour == "one way":
            return self.classes.one_way(kind), _renamed(values, threshold="threshold", resistance="R_on")
        if "restitution" in values:
            return self.classes.rigid_stop(kind), _renamed(values, gap="gap", restitution="restitution")
        return self.classes.stop(kind), _renamed(values, gap="gap", stiffness="K", damping="b")

    def _couplings(self) -> Iterator[str]:
        components = self.components[len(self.graph.ports) :]
        for coupling, component in zip(self.graph.couplings, components, strict=True):
            made, settings = self._coupling(coupling)
            yield f"{made} {component}{_modified(settings)};"

    def _coupling(self, coupling: Coupling) -> tuple[str, dict[str, str]]:
        element = self.elements.get(coupling.element)
        if element is not None and len(coupling.side_1) == len(coupling.side_2) == 1:
            made, key = self.classes.coupling(coupling, element.kind)
            return made, {key: self.printer.print(coupling.K[0][0])}
        entries = {
            (j, i): f"k_{j + 1}_{i + 1}" for j, row in enumerate(coupling.K) for i, e in enumerate(row) if e is not ZERO
        }
        given = {word: self.printer.print(coupling.K[j][i]) for (j, i), word in entries.items()}
        return self.classes.matrix_coupling(coupling, entries), given

    # -- Connections ---------------------------------------------------------------------------------------------------------

    def _grounds(self) -> Iterator[str]:
        for k, node in enumerate(self.graph.nodes):
            if node.reference and self._ends().get(k):
                yield f"{self.classes.ground(DOMAINS[node.domain])} {self._ground_name(k)};"

    def _ground_name(self, k: int) -> str:
        node = self.graph.nodes[k]
        first = next(j for j, other in enumerate(self.graph.nodes) if other.name == node.name and other.reference)
        plain = node.name if first == k else f"{node.name}_{node.domain}"
        return modelica_name(unused(plain, self.taken))

    def _connections(self) -> Iterator[str]:
        """All connectors at a node, one after the other."""
        for k, ends in self._ends().items():
            pins = [f"{self._ground_name(k)}.plus", *ends] if self.graph.nodes[k].reference else ends
            yield from (f"connect({one}, {two});" for one, two in pairwise(pins))

    def _ends(self) -> dict[int, list[str]]:
        """The connectors at each node."""
        found: dict[int, list[str]] = {k: [] for k in range(len(self.graph.nodes))}
        for port, component in zip(self.graph.ports, self.components, strict=False):
            found[port.plus].append(f"{component}.plus")
            found[port.minus].append(f"{component}.minus")
        for coupling, component in zip(self.graph.couplings, self.components[len(self.graph.ports) :], strict=True):
            single = coupling.element in self.elements and len(coupling.side_1) == len(coupling.side_2) == 1
            for side, branches in ((1, coupling.side_1), (2, coupling.side_2)):
                for n, branch in enumerate(branches, 1):
                    place = str(side) if single else f"{side}_{n}"
                    found[branch.plus].append(f"{component}.plus_{place}")
                    found[branch.minus].append(f"{component}.minus_{place}")
        return found

    def _shown(self) -> Iterator[str]:
        """Names that the author gave to states and outputs."""
        names = dict.fromkeys(
            (*(p.state for p in self.graph.ports if p.state), *self.start.setup.model.experiment.outputs)
        )
        outputs = self.start.setup.model.experiment.outputs
        for name in names:
            own = (
                name in self.graph.displacements
                or name in self.formulas
                or name in {law.name for law in self.graph.signals}
            )
            if own or name not in self.names or name in self.taken:
                continue
            word = "output Real" if name in outputs else "Real"
            yield f"{word} {modelica_name(name)}{with_unit(self.units.get(name, ''))} = {self.names[name]}"

    # -- Impacts -------------------------------------------------------------------------------------------------------------

    def _impacts(self) -> Iterator[str]:
        """What a rigid stop does to the speeds on both of its sides, by the momentum that passes."""
        for k, component in enumerate(self.components[: len(self.graph.ports)]):
            if k in self.graph.switching and self._is_rigid(k):
                bodies = self._bodies(k)
                yield f"when {component}.gap <= 0 then"
                for own, sign in zip(bodies, "-+", strict=True):
                    if own is not None:
                        yield f"  reinit({self.components[own]}.v, {self._speed_after(own, bodies, component, sign)});"
                yield "end when;"

    def _speed_after(self, own: int, bodies: Sequence[int | None], component: str, sign: str) -> str:
        lightness = [f"1/{self.printer.enclosed_text(self._inertia(j))}" for j in bodies if j is not None]
        share = (
            ""
            if len(lightness) == 1
            else f"*(1/{self.printer.enclosed_text(self._inertia(own))})/({' + '.join(lightness)})"
        )
        closing = f"pre({component}.v)"
        bounce = f"(if {closing} < {component}.slowest then 1 else 1 + {component}.restitution)"
        return f"pre({self.components[own]}.v) {sign} {bounce}*{closing}{share}"

    def _inertia(self, k: int) -> Expression:
        inertia = self.graph.ports[k].storage.inertia
        assert inertia is not None, "a body has a constant inertia"
        return inertia

    def _is_rigid(self, k: int) -> bool:
        given = self.elements[self.graph.ports[k].element].switching
        return given is not None and "restitution" in given.settings

    def _bodies(self, k: int) -> tuple[int | None, int | None]:
        """The storage that moves with each end of a stop; None for the frame.

        Raises: ExportError (X401) where anything else moves with it.
        """
        port = self.graph.ports[k]
        return self._body(port.plus, port), self._body(port.minus, port)

    def _body(self, node: int, stop: Port) -> int | None:
        if self.graph.nodes[node].reference:
            return None
        joined = [j for j, port in enumerate(self.graph.ports) if node in (port.plus, port.minus)]
        laws = [(j, self.graph.ports[j].law) for j in joined if self.graph.ports[j] is not stop]
        bodies = [j for j, law in laws if isinstance(law, StorageLaw) and law.side == "across"]
        tied = any(isinstance(law, SourceLaw) and law.side == "across" for _, law in laws)
        tied = tied or any(node in coupling.nodes for coupling in self.graph.couplings)
        tied = tied or any(j in self.graph.switching and self._is_rigid(j) for j, _ in laws)
        if len(bodies) == 1 and not tied and bodies[0] not in self.following and bodies[0] not in self.fields:
            body = self.graph.ports[bodies[0]]
            inertia = body.storage.inertia
            if inertia is not None and inertia.free_symbols <= self.graph.parameters.keys() and body.plus == node:
                return bodies[0]
        raise rules.MODES.error(
            f"the impact of '{stop.element}' changes more than the speed of one body on each side",
            where=stop.element,
            fix="export it to fmu or simulink, or give the stop a stiffness and a damping",
        )

    def _refuse(self) -> None:
        """Raises: ExportError (X401, X402)."""
        for k in self.graph.switching:
            element = self.elements[self.graph.ports[k].element]
            kind = element.kind
            mechanical = kind.behaviour == "one way" and kind.domain.effort == "through"
            if kind.behaviour in HELD or mechanical:
                raise rules.MODES.error(
                    f"'{element.name}' is a {kind.name}, which fixes a speed at times",
                    where=element.name,
                    fix="export it to fmu or simulink, or describe it by a steep law",
                )
        for law in self.graph.signals:
            if isinstance(law, External):
                raise rules.SIGNALS.error(
                    f"the signal '{law.name}' is a Python function, which is not exported",
                    where=law.name,
                    fix="give it as a formula or a table",
                )
            refuse_latch(law)


def _modified(settings: Mapping[str, str]) -> str:
    """What a component is given; starts stand in parentheses of their own."""
    parts = [f"{key}{text}" if text.startswith("(start=") else f"{key}={text}" for key, text in settings.items()]
    return f"({', '.join(parts)})" if parts else ""


def _renamed(values: Mapping[str, str], **words: str) -> dict[str, str]:
    return {word: values[part] for part, word in words.items() if part in values}
