"""A model as a file that a person would have written: one line per element, values with units, parts as parts."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import final

from tellegen.core.domains import DOMAINS, REFERENCES, Side, Variable
from tellegen.core.errors import TellegenError
from tellegen.core.names import is_name, joined, named_after, unused
from tellegen.core.shipped import SUFFIX
from tellegen.core.units import Dimension, dimension_of, parse_unit
from tellegen.elements import START, ElementKind, coupling_kind, schedule_key
from tellegen.expressions import ONE, ZERO, Expression, Number, Symbol, symbol, to_text
from tellegen.model.dimensions import without_marks
from tellegen.model.laws import Law, MatrixField, Multiport
from tellegen.model.model import (
    NOTHING,
    Element,
    Experiment,
    Model,
    Parameter,
    ParameterSlope,
    Part,
    Switching,
    SystemPort,
    state_units,
    state_variables,
)
from tellegen.model.signals import SignalDefinition
from tellegen.notations.grammar import AT, PART, SOURCE
from tellegen.notations.layout import TURNED
from tellegen.notations.network.fields import entry_dimension, stiff_kind, stiffness_dimension
from tellegen.notations.network.keys import (
    CONNECTION,
    SIDES,
    LineForm,
    form_of,
    initial_dimension,
    make_form,
    port_dimension,
)
from tellegen.notations.network.laws import table_text
from tellegen.notations.parameters import FormulaWriter, closure_texts, closures_of_parts, curve_keys
from tellegen.notations.parts.instances import part_instance, written_names
from tellegen.notations.quantities import UnitTexts, number_text, parse_marked
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.signals.formulas import formula_text, readable_dimensions, signal_keys
from tellegen.notations.symbols import symbols_still_named
from tellegen.notations.yaml.writing import line_text, list_text, quoted, sentence_text, tree_text


class ElementWriter:
    """Writes the lines of elements and fields, and values with their units."""

    def __init__(self, model: Model) -> None:
        self.model = model
        variables = {**state_variables(model.elements), **readable_dimensions(model)}
        self.units = UnitTexts(model.parameters, variables, model.signals)
        self.inline = {e.name for e in model.elements if self._is_inline(e)}
        self.implied = {e.name for e in model.elements if self._is_implied(e)}
        self.implied |= {name for e in model.elements for name in self._implied_settings(e)}

    def write_every_parameter(self) -> None:
        """Leave no value to the lines of elements: another notation has none."""
        self.inline, self.implied = set(), set()

    def _own(self, element: Element) -> Parameter | None:
        """The parameter that an element takes by its own name."""
        if isinstance(element.value, Symbol) and element.value.name == element.name:
            return self.model.parameters.get(element.name)
        return None

    def _is_inline(self, element: Element) -> bool:
        """A value of `R[3]` stands on its line; those with plain names have a list of their own, to be looked up and changed."""
        own = self._own(element)
        return (
            own is not None
            and not is_name(own.name)
            and isinstance(own.expression, Number)
            and element.kind.name != CONNECTION
        )

    def _is_implied(self, element: Element) -> bool:
        """A parameter without value that the reader adds by itself."""
        own = self._own(element)
        return own is not None and own.expression is None and element.kind.name != CONNECTION

    def _implied_settings(self, element: Element) -> Iterable[str]:
        """Parameters without value that the reader adds by itself for settings of an element with modes."""
        for key, value in element.switching.settings.items() if element.switching is not None else ():
            own = self.model.parameters.get(f"{key}_{element.name}")
            if own is not None and own.expression is None and value is symbol(own.name):
                yield own.name

    def line(self, element: Element) -> str:
        """The line of an element: its kind with the nodes, then what else there is to say."""
        kind = element.kind
        if element.multiport is not None:
            return self._multiport(element, element.multiport)
        # A connection has no word of its own: its form is made from what it joins.
        form = form_of(kind.name) or make_form(kind)
        nodes = element.nodes[:1] if kind.grounded and element.nodes[1] == kind.domain.reference else element.nodes
        pairs = [(kind.name, list_text(nodes))]
        pairs += self._relation(element) if kind.name == CONNECTION else self._value(element, form)
        pairs += self.modes(element, element.switching) if element.switching is not None else []
        pairs += self._driver(element, form)
        pairs += [self._law(element.law, element)] if element.law else []
        pairs += [(_word(element, form, side), quoted(name)) for side, name in element.variables.items()]
        if element.initial is not None:
            pairs.append(("initial", quoted(self._start(element, form))))
        if element.prefer is not None:
            pairs.append(("causality", _causality(element)))
        if element.notes:
            pairs.append(("notes", tree_text(element.notes)))
        return line_text(pairs)

    def _start(self, element: Element, form: LineForm) -> str:
        held, kind = element.initial_content, element.kind
        unit = kind.domain.energy(kind.side).unit if held else _output_unit(kind)
        return self.units.text(element.initial or ZERO, initial_dimension(form, held), unit)

    def _value(self, element: Element, form: LineForm) -> list[tuple[str, str]]:
        if element.value is None or element.kind.quantity is None:
            return []
        key = element.kind.quantity.key
        own = self._own(element)
        if element.value is ZERO and element.kind.role == "resistive":  # a number would become a parameter
            return [("law", f"{element.kind.domain.power(element.kind.side).letters[0]} = 0")]
        if own is None:
            return [(key, quoted(self.units.text(element.value, form.dimension)))]
        return [(key, self.parameter(own))] if element.name in self.inline else []

    def parameter(self, parameter: Parameter) -> str:
        """The value of a parameter with its unit, or the points of its curve; nothing where it has none."""
        if keys := curve_keys(parameter, self.formula):
            return tree_text(keys)
        if parameter.expression is None:
            return ""
        return quoted(self.units.text(parameter.expression, parameter.dimension, parameter.unit, keep=True))

    def formula(self, expression: Expression, written: str, dimension: Dimension | None, unit: str) -> str:
        """A formula as it was written, if that still is the formula; else from its expression."""
        names = frozenset(self.model.signals)
        return formula_text(expression, written, names, lambda e: self.units.text(e, dimension, unit, keep=True))

    def _driver(self, element: Element, form: LineForm) -> list[tuple[str, str]]:
        course = element.signal
        if course is None:
            return []
        names = frozenset(self.model.signals)
        text = formula_text(
            course, element.signal_text, names, lambda e: self.units.text(e, form.initial, _output_unit(element.kind))
        )
        return [("signal", quoted(text))]

    def _law(self, law: Law, element: Element) -> tuple[str, str]:
        """A law as a formula, or by its points."""
        if law.table is None:
            return _law_key(law), quoted(_law_text(law, element))
        return "law", table_text(law, element.kind)

    def modes(self, element: Element, switching: Switching) -> list[tuple[str, str]]:
        """The settings of an element with modes."""
        pairs = []
        for setting in element.kind.settings:
            value = switching.settings.get(setting.key)
            if value is not None and f"{setting.key}_{element.name}" not in self.implied:
                wanted = parse_unit(setting.unit).dimension if setting.unit else None
                written = switching.texts.get(setting.key) if setting.formula else None
                pairs.append((setting.key, quoted(written or self.units.text(value, wanted))))
        if switching.schedule:
            times = [self.units.text(time, Dimension(s=1)) for time in switching.schedule]
            pairs.append((schedule_key(element.kind), list_text(times)))
        return pairs + ([(START, switching.start)] if switching.start else [])

    def _relation(self, element: Element) -> list[tuple[str, str]]:
        kind = element.kind
        value = element.value if element.value is not None else symbol(element.name)
        left, _, right = kind.law.partition(" = ")
        form = make_form(kind)
        text = (
            self.units.text(value, form.dimension) if not isinstance(value, Number) else number_text(value.rational, "")
        )
        factor = text if isinstance(value, Symbol) else f"({text})"
        other = right.split("*")[1]
        relation = f"{left} = {other}" if value is ONE else f"{left} = {factor}*{other}"
        return [("domains", list_text(kind.domains)), ("relation", quoted(relation))]

    def _multiport(self, element: Element, relation: Multiport) -> str:
        given = [f"{side}_{port + 1}" for port, side in zip(relation.given, relation.given_sides, strict=True)]
        gives = [f"{side}_{port + 1}" for port, side in zip(relation.gives, relation.gives_sides, strict=True)]
        domains = element.kind.domains
        texts = []
        for left, row in zip(gives, relation.K, strict=True):
            wanted = [port_dimension(domains, left).over(port_dimension(domains, name)) for name in given]
            terms = [
                f"({self.units.text(entry, unit, keep=True)})*{name}"
                for entry, unit, name in zip(row, wanted, given, strict=True)
                if entry is not ZERO
            ]
            texts.append(f"{left} = " + " + ".join(terms or ["0"]))
        return line_text(
            [("multiport", list_text(element.nodes)), ("domains", list_text(domains)), ("relation", list_text(texts))]
        )

    def field(self, field: MatrixField) -> str:
        """The line of a field."""
        by_name = {element.name: element for element in self.model.elements if element.name in field.members}
        members = [by_name[name] for name in field.members]
        kinds = [member.kind if field.stiffness is None else stiff_kind(member.kind) for member in members]
        mixed = len({kind.name for kind in kinds}) > 1
        pairs = [
            ("field" if mixed else f"{kinds[0].name} field", list_text(n for member in members for n in member.nodes))
        ]
        pairs += [("kinds", list_text(kind.name for kind in kinds))] if mixed else []
        for side in SIDES:
            if any(side in member.variables for member in members):
                word = side if mixed else _word(members[0], make_form(kinds[0]), side)
                pairs.append((word, list_text(_variable(member, side) for member in members)))
        if any(member.initial is not None for member in members):
            pairs.append(("initial", list_text(self._start(member, make_form(member.kind)) for member in members)))
        return line_text([*pairs, self._field_law(field, members, kinds)])

    def _field_law(self, field: MatrixField, members: list[Element], kinds: list[ElementKind]) -> tuple[str, str]:
        if field.energy is not None:
            return "energy", quoted(to_text(field.energy))
        if field.letters:
            return "law", list_text(quoted(member.law.text) for member in members if member.law is not None)
        dimension = entry_dimension if field.stiffness is None else stiffness_dimension
        rows = [
            list_text(self.units.text(entry, dimension(one, two)) for two, entry in zip(kinds, row, strict=True))
            for one, row in zip(kinds, field.stiffness or field.matrix, strict=True)
        ]
        return "matrix", "[" + ", ".join(rows) + "]"


def _variable(element: Element, side: Side) -> str:
    """The name of a power variable: what the element chose, or what it is called without a choice."""
    return element.variables.get(side) or named_after(element.kind.domain.power(side).symbol, element.name)


def _output_unit(kind: ElementKind) -> str:
    """The unit of what an element decides, as people write it: `rad/s`, where the dimension alone says `s^-1`."""
    return kind.domain.power(kind.side).unit


def _word(element: Element, form: LineForm, side: str) -> str:
    """The word of the domain for a variable; `across_1` where both sides of a coupling have one."""
    domain = element.kind.domain
    if side == "energy":
        return domain.energy(element.kind.side).word
    if element.kind.role != "coupling":
        return domain.power("across" if side == "across" else "through").word
    name, _, port = side.partition("_")
    of_port = DOMAINS[element.kind.domains[int(port) - 1]]
    variable: Variable = of_port.across if name == "across" else of_port.through
    return variable.word if form.keys[variable.word][:2] == ("variable", side) else side


def _causality(element: Element) -> str:
    side = element.prefer or element.kind.side
    word: str = side
    if element.kind.role == "storage":
        word = "integral" if side == element.kind.side else "derivative"
    return f"force {word}" if element.forced else word


def _law_key(law: Law) -> str:
    return {"energy": "energy", "coenergy": "coenergy", "potential": "energy"}.get(law.form, "law")


def _law_text(law: Law, element: Element) -> str:
    """The law as its user wrote it, if that still is the law; else from its expression."""
    written = law.text.partition("=")[2] if _law_key(law) == "law" else law.text
    try:
        # Expressions are kept once each, so the text still holds if it leads to the very same one.
        if without_marks(parse_marked(written, None)) is law.expression:
            return law.text
    except TellegenError:
        pass
    if _law_key(law) != "law":
        return to_text(law.expression)
    domain = element.kind.domain
    left = domain.energy(element.kind.side) if law.form == "content" else domain.power(law.gives)
    return f"{left.letters[0]} = {to_text(law.expression)}"


@final
@dataclass(frozen=True, slots=True)
class KeptParts:
    """Parts that can be written as parts, and the names that they bring along."""

    parts: tuple[Part, ...] = ()
    names: frozenset[str] = frozenset()
    first: bool = False


def _kept_parts(model: Model) -> KeptParts:
    """The parts of which every element, parameter and signal is still the one that the file of the part gives."""
    elements = {element.name: element for element in model.elements}
    fields = {field.name: field for field in model.fields}
    kept: list[Part] = []
    names: set[str] = set()
    for part in model.parts:
        if not (is_name(part.use) or part.use.endswith(SUFFIX)):
            continue  # built in Python: no file holds it
        made = part_instance(part)
        wanted: tuple[tuple[Mapping[str, object], Mapping[str, object]], ...] = (
            (made.elements, elements),
            (_without_slopes(made.parameters), _without_slopes(model.parameters)),
            (made.displacements, model.displacements),
            (made.signals, model.signals),
            ({field.name: field for field in made.fields}, fields),
        )
        if all(there.get(name) == value for here, there in wanted for name, value in here.items()):
            kept.append(part)
            names |= {name for here, _ in wanted for name in here}
    first = bool(model.elements) and model.elements[0].name in names
    prefixes = tuple(f"{part.name}." for part in kept)
    # An element inside a part that its file does not have would be lost: then all is written out.
    inside = all(name in names for name in elements if name.startswith(prefixes))
    return KeptParts(tuple(kept), frozenset(names), first) if inside else KeptParts()


def _without_slopes(parameters: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Parameters to compare: the value of a slope follows from what else is set."""
    return {
        name: replace(p, expression=None) if isinstance(p.curve, ParameterSlope) else p
        for name, p in parameters.items()
    }


def _port_texts(ports: Mapping[str, SystemPort]) -> dict[str, str | list[str] | dict[str, str]]:
    return {
        name: {SOURCE: port.source} if port.source else {AT: port.at} if port.at else _ends(port.nodes, port.domain)
        for name, port in ports.items()
    }


def _part_keys(part: Part, text: FormulaWriter) -> dict[str, object]:
    """The keys of the line of a part: texts, lists and mappings of them."""
    keys: dict[str, object] = {"use": part.use}
    if part.ports:
        keys["ports"] = {name: _ends(nodes, part.model.ports[name].domain) for name, nodes in part.ports.items()}
    if part.names:
        keys["names"] = written_names(part)
    if part.signals:
        signals = part.model.signals
        units = {name: signals[name].dimension if name in signals else None for name in part.signals}
        keys["signals"] = {n: text(e, part.texts.get(n, ""), units[n], "") for n, e in part.signals.items()}
    bound: dict[str, object] = {
        name: curve_keys(p, text) or text(p.expression, part.texts.get(name, ""), p.dimension, p.unit)
        for name, p in part.bindings.items()
        if p.expression is not None
    }
    # A parameter that is called like a key of the line, such as `use`, must stand one level deeper.
    hidden = {name: value for name, value in bound.items() if name in PART.names}
    keys |= {name: value for name, value in bound.items() if name not in PART.names}
    return keys | ({"parameters": hidden} if hidden else {})


def _ends(nodes: tuple[str, str], domain: str) -> str | list[str]:
    return nodes[0] if nodes[1] == DOMAINS[domain].reference else list(nodes)


WIDEST = 24
"""Names are padded to the longest, but not beyond this."""


def to_yaml(model: Model) -> str:
    """The text of a file that `read_model` turns into the same model (comments and places aside)."""
    model = replace(_with_own_nodes(model), symbols=symbols_still_named(model))
    writer = _ModelWriter(model, _kept_parts(model))
    structure = [writer.parts(), writer.network()]
    # Elements keep their order by the order of these sections, and with it states and equations keep theirs.
    described = structure if writer.kept.first else structure[::-1]
    begin = [writer.head(), writer.ports(), writer.parameters(), writer.displacements()]
    end = [
        writer.closures(),
        writer.signals(),
        writer.geometry(),
        writer.symbols(),
        writer.experiment(),
        writer.layout(),
    ]
    return "\n".join(text for text in [*begin, *described, *end] if text)


def _with_own_nodes(model: Model) -> Model:
    """The model as a network can say it: what stores against the reference but stands elsewhere, a transformer joins to its pair.

    Bond graphs may ask for the inertia of a difference of speeds, and limits may move a mass between two points.
    """
    floating = {e.name for e in model.elements if e.kind.grounded and e.nodes[1] not in REFERENCES}
    if not floating:
        return model
    names, nodes = {e.name for e in model.elements}, {n for e in model.elements for n in e.nodes}
    elements: list[Element] = []
    for element in model.elements:
        elements.append(element)
        if element.name not in floating:
            continue
        own = (unused(element.name, nodes), element.kind.domain.reference)
        name = unused(joined(element.name, "ends"), names)
        nodes.add(own[0])
        names.add(name)
        kind = coupling_kind((element.kind.domains[0],) * 2, "transformer")
        elements[-1:] = [
            replace(element, nodes=own),
            Element(name, kind, (*own, *element.nodes), ONE, place=element.place),
        ]
    return replace(model, elements=tuple(elements))


def file_with_notation(model: Model, notation: str, details: str, further: Mapping[str, str] = NOTHING) -> str:
    """The text of a file whose elements stand in another notation than the network: all else is as `to_yaml` writes it.

    `further` are texts of parameters that the notation needs besides those of the model.
    """
    writer = _ModelWriter(model)
    writer.elements.write_every_parameter()
    parts = [
        writer.head(),
        writer.ports(),
        writer.parameters(further),
        writer.displacements(),
        writer.closures(),
        writer.signals(),
        notation,
        details,
        writer.symbols(),
    ]
    return "\n".join(part for part in (*parts, writer.experiment()) if part)


def mode_settings(model: Model) -> dict[str, dict[str, str]]:
    """What the elements with modes need, beside their nodes: their kind, settings, schedules and first modes."""
    lines = ElementWriter(model)
    return {
        e.name: {"kind": e.kind.name, **dict(lines.modes(e, e.switching))}
        for e in model.elements
        if e.switching is not None
    }


def _aligned(section: str, lines: Iterable[tuple[str, str]]) -> str:
    """A section with a line for each name, the names padded to one width; nothing where there are none."""
    written = [(quoted(name), line) for name, line in lines]
    width = min(max([len(name) for name, _ in written], default=0), WIDEST) + 1
    body = "".join(f"  {name + ':':<{width}} {line}\n" for name, line in written)
    return f"{section}:\n{body}" if written else ""


def _tree_line(section: str, tree: Mapping[str, object]) -> str:
    return f"{section}: {tree_text(tree)}\n" if tree else ""


class _ModelWriter:
    """Writes the sections of one model; what `kept` parts bring along stands in their files."""

    def __init__(self, model: Model, kept: KeptParts = KeptParts()) -> None:
        self.model, self.kept = model, kept
        self.elements = ElementWriter(model)

    def head(self) -> str:
        about = f"about: {sentence_text(self.model.about)}\n" if self.model.about else ""
        return f"system: {sentence_text(self.model.name)}\n{about}"

    def parameters(self, further: Mapping[str, str] = NOTHING) -> str:
        # What the lines of elements say, what the reader adds by itself and what files of parts say is not said again.
        hidden = {*self.elements.inline, *self.elements.implied, *self.kept.names}
        shown = {n: p for n, p in self.model.parameters.items() if n not in hidden}
        lines = [f"  {quoted(name)}: {self.elements.parameter(p)}".rstrip() for name, p in shown.items()]
        lines += [f"  {quoted(name)}: {quoted(text)}" for name, text in further.items()]
        return "parameters:\n" + "\n".join(lines) + "\n" if lines else ""

    def displacements(self) -> str:
        shown = {name: rate for name, rate in self.model.displacements.items() if name not in self.kept.names}
        return _tree_line("displacements", {name: to_text(rate) for name, rate in shown.items()})

    def closures(self) -> str:
        inside = {closure.name for closure in closures_of_parts(self.kept.parts)}
        return _tree_line("closures", closure_texts(c for c in self.model.closures if c.name not in inside))

    def geometry(self) -> str:
        geometry = self.model.geometry
        return "" if geometry is None else _tree_line("geometry", geometry.texts)

    def ports(self) -> str:
        signals = self.model.signal_ports
        named = {"inputs": list(signals.inputs), "outputs": list(signals.outputs)}
        offered = {key: names for key, names in named.items() if names}
        return _tree_line("ports", _port_texts(self.model.ports)) + _tree_line("signal ports", offered)

    def parts(self) -> str:
        texts = {part.name: tree_text(_part_keys(part, self.elements.formula)) for part in self.kept.parts}
        lines = [f"  {quoted(name)}: {text}\n" for name, text in texts.items()]
        return "parts:\n" + "".join(lines) if lines else ""

    def network(self) -> str:
        empty = "" if self.kept.parts else "network: {}\n"
        return _aligned("network", self.lines()) or empty

    def lines(self) -> Iterable[tuple[str, str]]:
        """Names and lines of the elements; a field has one line, in the place of its first member."""
        first = {field.members[0]: field for field in self.model.fields}
        others = {member for field in self.model.fields for member in field.members[1:]}
        for element in self.model.elements:
            if element.name in self.kept.names:
                continue
            if element.name in first:
                yield first[element.name].name, self.elements.field(first[element.name])
            elif element.name not in others:
                yield element.name, self.elements.line(element)

    def signals(self) -> str:
        shown = {name: s for name, s in self.model.signals.items() if name not in self.kept.names}
        return _aligned("signals", ((name, self.signal(definition)) for name, definition in shown.items()))

    def symbols(self) -> str:
        symbols = {**self.model.symbols, **self.model.counted_symbols}
        return _aligned("symbols", ((name, quoted(text)) for name, text in symbols.items()))

    def signal(self, definition: SignalDefinition) -> str:
        keys = list(signal_keys(definition, self.elements.units.text, frozenset(self.model.signals)))
        # A limit may have taken one of the two elements away.
        there = {element.name for element in self.model.elements}
        if definition.between is not None and there.issuperset(definition.between):
            keys.append(("between", list(definition.between)))
        elif definition.block == FORMULA:
            return quoted(str(keys[0][1]))
        return line_text([(key, tree_text(text)) for key, text in keys])

    def layout(self) -> str:
        """Where items stand in figures, a line each."""
        lines: list[str] = []
        for notation, places in self.model.layout.items():
            lines += [f"  {notation}:", *(f"    {quoted(name)}: [{x:g}, {y:g}]" for name, (x, y) in places.items())]
        if self.model.turned:
            lines += [f"  {TURNED}:", *(f"    {quoted(name)}: {angle}" for name, angle in self.model.turned.items())]
        return "\n".join(["layout:", *lines, ""]) if lines else ""

    def experiment(self) -> str:
        experiment = self.model.experiment
        if experiment == Experiment():
            return ""
        lines = []
        if experiment.until is not None:
            lines.append(f"until: {quoted(self.elements.units.text(experiment.until, Dimension(s=1)))}")
        if experiment.inputs:
            lines.append(f"inputs: {tree_text({name: signal.text for name, signal in experiment.inputs.items()})}")
        if experiment.initial:
            known = state_units(self.model.elements)
            # A reader names what members of fields store by the name of the field, whatever these members were called.
            here = self._contents_of_fields()
            starts = experiment.initial.items()
            texts = {here.get(name, name): self._start(value, known.get(name)) for name, value in starts}
            lines.append(f"initial: {tree_text(texts)}")
        if experiment.start != Experiment().start:
            lines.append(f"start: {experiment.start}")
        if experiment.outputs:
            lines.append(f"outputs: {list_text(experiment.outputs)}")
        if experiment.units:
            lines.append(f"units: {tree_text(experiment.units)}")
        lines += [f"{key}: {value!r}" for key in ("rtol", "atol") if (value := getattr(experiment, key)) is not None]
        return "experiment:\n" + "".join(f"  {line}\n" for line in lines)

    def _start(self, value: Expression, unit: str | None) -> str:
        dimension = None if unit is None else dimension_of(unit or "1")
        return self.elements.units.text(value, dimension, unit or "")

    def _contents_of_fields(self) -> dict[str, str]:
        """What members of fields store, by the names that they have and the names that a reader gives them."""
        elements = {element.name: element for element in self.model.elements}
        found = {}
        for field in self.model.fields:
            for k, member in enumerate(field.members, start=1):
                element = elements[member]
                letter = element.kind.domain.energy(element.kind.side).symbol
                own = element.variables.get("energy") or named_after(letter, member)
                found[own] = named_after(letter, f"{field.name}[{k}]")
        return found
