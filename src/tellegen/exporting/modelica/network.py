"""A system as a network: a component for each element, joined at nodes, as the model is described."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, final

from tellegen.core.domains import DOMAINS, other_side
from tellegen.core.names import TIME, unused
from tellegen.elements import ElementKind
from tellegen.exporting import rules
from tellegen.exporting.diagram_building import refuse_latch
from tellegen.exporting.diagram_start import DiagramStart
from tellegen.exporting.modelica.elements import LETTER, ElementClasses
from tellegen.exporting.modelica.signals import SignalLines
from tellegen.exporting.modelica.words import FormulaPrinter, modelica_name, modelica_number, with_unit
from tellegen.expressions import ONE, ZERO, Expression, symbol, total
from tellegen.graph.power_graph import Coupling, Port, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.signals import External, Value
from tellegen.graph.switching import command_signals
from tellegen.model.model import Element
from tellegen.results.units import variable_units

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
        self.classes = ElementClasses()
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
