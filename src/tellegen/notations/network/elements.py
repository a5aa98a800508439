"""One line of a network as it was read, and the elements that lines become, those with modes and those of heat ports among them.

A mass with a height has an element beside it that keeps the energy m g h of its height. A height that nobody described is a
displacement of its own, which the velocity of the mass moves upwards.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, NoReturn, final

from tellegen.core.domains import DOMAINS, THERMAL_DOMAINS, Side
from tellegen.core.errors import Finding, Place
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import KINDS, ElementKind, Setting
from tellegen.expressions import ZERO, Expression, Number, Symbol, symbol, to_text
from tellegen.model.dimensions import NUMBER, Measure, si_unit, user_names, without_marks
from tellegen.model.laws import Law
from tellegen.model.model import NOTHING, Element, Parameter, Switching, known_variables, variable_name
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import (
    CopyIndices,
    DrivenSource,
    HeatPort,
    MassHeight,
    NamePattern,
    ReadAsContent,
    ReadingContext,
)
from tellegen.notations.migrations import keeps_content
from tellegen.notations.network import rules
from tellegen.notations.network.keys import LineForm
from tellegen.notations.parameters import finite_value
from tellegen.notations.quantities import QuantityReading, parse_marked, read_plain
from tellegen.notations.signals.formulas import SECOND, parse_formula
from tellegen.notations.yaml.document import Node, Scalar


class SettingLine(NamedTuple):
    """What a line says for one setting."""

    reading: QuantityReading
    node: Scalar


class SwitchingLine:
    """What the line of an element with modes says after its kind; inside a `repeat` values depend on the indices."""

    def __init__(self, context: ReadingContext, name: str, kind: ElementKind, indices: tuple[str, ...]) -> None:
        self.context, self.name, self.kind, self.indices = context, name, kind, indices
        self.settings: dict[str, SettingLine] = {}
        self.schedule: tuple[SettingLine, ...] = ()
        self.start = ""
        self.commands: list[str] = []

    def read_setting(self, key: Scalar, node: Node, of: str) -> None:
        """Read one setting."""
        setting = next(s for s in self.kind.settings if s.key == of)
        if of in self.settings:
            what = f"{self.name} has '{of}' twice"
            raise self.context.error(notations_rules.VALUE_TWICE, key, what, fix="keep one of them", where=self.name)
        scalar = self.context.formula(node, f"the {setting.word} of {self.name}")
        wanted = _dimension(setting)
        self.settings[of] = self._read(scalar, setting.word, wanted, formula=setting.formula)
        self._exclude(key, setting.part)

    def read_schedule(self, key: Scalar, node: Node, _: str) -> None:
        """Read the times at which a switch begins and ends to let power pass."""
        texts = self.context.texts(node, f"the schedule of {self.name}")
        self.schedule = tuple(self._read(text, "schedule", SECOND, formula=False) for text in texts)
        self._exclude(key, "schedule")
        times = [line.reading.expression for line in self.schedule]
        plain = [time.rational for time in times if isinstance(time, Number)]
        if len(plain) == len(times) and any(b <= a for a, b in pairwise(plain)):
            what, fix = f"the times of {self.name} do not rise", "list them in the order in which they come"
            raise self.context.error(rules.BAD_SCHEDULE, node, what, fix=fix, where=self.name)

    def read_start(self, key: Scalar, node: Node, _: str) -> None:
        """Read the mode in which a run begins."""
        text = self.context.scalar(node, f"the start of {self.name}")
        if text.text not in self.kind.modes:
            fix = did_you_mean(text.text, self.kind.modes) or f"the modes are {listing(self.kind.modes)}"
            what = f"'{text.text}' is not a mode of the {self.kind.name} {self.name}"
            raise self.context.error(rules.UNKNOWN_MODE, text, what, fix=fix, where=self.name)
        self.start = text.text

    def _read(self, scalar: Scalar, word: str, wanted: Dimension | None, *, formula: bool) -> SettingLine:
        """A reading whose names and dimension are checked when everything is known; those of a formula for each copy."""
        # A control or a gap may read signals, states and time, which are known at the end.
        if formula and read_plain(scalar.text) is None:
            marked = parse_formula(self.context, scalar, f"the {word} of {self.name}")
            return SettingLine(QuantityReading(without_marks(marked), marked), scalar)
        counters: dict[str, Measure] = dict.fromkeys(self.indices, NUMBER)
        subject = f"the {word} of {self.name}"
        return SettingLine(self.context.checked_quantity(scalar, wanted, subject, names=counters), scalar)

    def _exclude(self, key: Scalar, part: str) -> None:
        """A switch has one command, a stop one law of contact."""
        if part in ("control", "schedule", "stiffness", "restitution"):
            self.commands.append(key.text)
        if len(self.commands) > 1:
            what = f"the {self.kind.name} {self.name} has {' and '.join(map(repr, self.commands))}"
            raise self.context.error(rules.TWO_COMMANDS, key, what, fix="keep one of them", where=self.name)

    def modes_of(self, name: str, key: Scalar, copy: CopyIndices = ()) -> Switching:
        """What the line says about its element, or about one copy of it; plain values become parameters such as `F_c_belt`."""
        context, counters = self.context, dict(zip(self.indices, copy, strict=True))
        settings: dict[str, Expression] = {}
        for setting in self.kind.settings:
            given = self.settings.get(setting.key)
            if given is not None:
                settings[setting.key] = self._value(setting, name, given.reading, counters)
                if setting.formula and given.reading.marked is not None:
                    marked, subject = given.reading.marked.substitute(counters), f"the {setting.word} of {name}"
                    context.formulas.append((marked, _dimension(setting), subject, given.node))
            elif setting.needed:
                settings[setting.key] = self._symbol(setting, name, key)
        schedule = tuple(time.reading.expression.substitute(counters) for time in self.schedule)
        if self.kind.behaviour == "stop" and not settings.keys() & {"K", "restitution"}:
            fix = "add 'K' and 'b' for an elastic contact, or 'restitution' for a rigid one"
            what = f"the {self.kind.name} {name} has no law of contact"
            raise context.error(rules.NO_CONTACT, key, what, fix=fix, where=name)
        formulas = {} if copy else {k: line for k, line in self.settings.items() if line.reading.marked is not None}
        return Switching(settings, schedule, self.start, {key: line.node.text for key, line in formulas.items()})

    def _value(self, setting: Setting, name: str, reading: QuantityReading, counters: Mapping[str, int]) -> Expression:
        expression = reading.expression.substitute(counters) if counters else reading.expression
        own = f"{setting.key}_{name}"
        if reading.marked is not None or own in self.context.parameters or not setting.unit:
            return expression
        self.context.parameters[own] = Parameter(own, expression, reading.dimension, reading.unit)
        return symbol(own)

    def _symbol(self, setting: Setting, name: str, key: Scalar) -> Expression:
        """A setting that nobody gave: the parameter of its name, which stays a symbol where it has no value."""
        own, context = f"{setting.key}_{name}", self.context
        if own not in context.parameters:
            dimension = parse_unit(setting.unit).dimension
            context.parameters[own] = Parameter(own, None, dimension, setting.unit, context.place(key))
            fix = f"add '{own}' to the parameters, or '{setting.key}: ...' to its line"
            context.note_symbol(f"the {setting.word} of {name}", fix, name, context.place(key))
        return symbol(own)


def _dimension(setting: Setting) -> Dimension | None:
    """The dimension that a setting must have; None where any will do."""
    return parse_unit(setting.unit).dimension if setting.unit else None


def check_switching(
    elements: Iterable[Element], values: Mapping[str, float], constant: frozenset[str]
) -> list[Finding]:
    """What is wrong with the settings of elements with modes; `constant` are the names of what never changes."""
    findings: list[Finding] = []
    for element in elements:
        if element.switching is not None:
            findings += _sizes(element, element.switching, values)
            findings += _gap(element, element.switching, constant)
    return findings


def _sizes(element: Element, switching: Switching, values: Mapping[str, float]) -> Iterable[Finding]:
    known: dict[str, float] = {}
    for setting in element.kind.settings:
        expression = switching.settings.get(setting.key)
        # Commands and gaps have either sign, and a clutch is open where its capacity is none.
        free = setting.formula and element.kind.behaviour != "friction"
        if expression is None or free or any(name not in values for name in expression.free_symbols):
            continue
        try:
            value = known[setting.part] = finite_value(expression, values)
        except ArithmeticError as reason:
            what = f"the {setting.word} of {element.name} has no value: {reason}"
            yield _wrong_size(element, what, "give a formula that has a finite value")
            continue
        if value < 0 or (setting.part == "restitution" and value > 1):
            range_ = "between 0 and 1" if setting.part == "restitution" else "that is not negative"
            yield _wrong_size(element, f"the {setting.word} of {element.name} is {value:g}", f"give a value {range_}")
    if {"breakaway", "factor"} <= known.keys():
        what = f"{element.name} has a breakaway value and a factor for it"
        yield _wrong_size(element, what, "keep one of them")
    if known.get("factor", 1.0) < 1.0:
        what = f"{element.name} breaks away at {known['factor']:g} times what it slides at"
        yield _wrong_size(element, what, "give a factor that is not below one")
    capacity = switching.settings.get("tau_c", switching.settings.get("F_c"))
    constant = capacity is not None and values.keys() >= capacity.free_symbols
    if element.kind.behaviour == "clutch" and switching.start == "open" and constant:
        what = f"{element.name} begins open, and its constant capacity holds it from the start"
        yield _wrong_size(element, what, "give a capacity that a signal sets, or another start")
    if known.get("breakaway", float("inf")) < known.get("limit", 0.0):
        what = f"{element.name} breaks away at {known['breakaway']:g} and slides at {known['limit']:g}"
        yield _wrong_size(element, what, "give a breakaway value that is not below the sliding one")


def _wrong_size(element: Element, what: str, fix: str) -> Finding:
    return rules.WRONG_SIZE.finding(what, where=element.name, fix=fix, place=element.place)


def _gap(element: Element, switching: Switching, constant: frozenset[str]) -> Iterable[Finding]:
    gap = switching.settings.get("gap")
    if gap is not None and gap.free_symbols <= constant:
        yield rules.GAP_STAYS.finding(
            f"the gap of {element.name} depends on no displacement",
            where=element.name,
            fix="name a displacement under 'displacements', such as 'x: v_m', and write 'gap: 0.1 m - x'",
            place=element.place,
        )


NO_COUNTERS: Mapping[str, int] = {}

Indices = tuple[str, ...]

Names = Mapping[str, str | NamePattern]


@final
@dataclass(slots=True)
class ElementLine:
    """One line of a network as it is written; inside a `repeat` names are patterns and values depend on the indices."""

    key: Scalar
    place: Place
    form: LineForm
    name: str | NamePattern
    nodes: tuple[str | NamePattern, ...]
    value: QuantityReading | None = None
    law: Law | None = None
    initial: QuantityReading | None = None
    variables: Names | None = None
    prefer: Side | None = None
    forced: bool = False
    notes: dict[str, str] | None = None
    value_node: Scalar | None = None
    initial_node: Scalar | None = None
    switching: SwitchingLine | None = None
    signal: Expression | None = None
    signal_text: str = ""
    signal_node: Scalar | None = None
    heat: str | NamePattern | None = None
    height_node: Scalar | None = None
    initial_content: bool = False

    def begin_modes(self, context: ReadingContext, indices: Indices) -> None:
        """Get ready for the keys of an element with modes."""
        if self.form.kind.role == "switching":
            self.switching = SwitchingLine(context, self.key.text, self.form.kind, indices)


def read_source_signal(
    context: ReadingContext, line: ElementLine, name: str, counters: Mapping[str, int]
) -> Expression:
    """What drives the source of a line, or of one copy of it; it is checked when all signals and variables are known."""
    assert line.signal_node is not None, "only lines with a signal are asked for it"
    if line.form.kind.domain.name == "heat" and line.form.kind.side == "across":
        context.check_from_ambient(line.signal_node, f"the signal of {name}")
    marked = parse_formula(context, line.signal_node, f"the signal of {name}", counters)
    context.driven.append(DrivenSource(name, marked, line.form.initial, line.signal_node))
    return without_marks(marked)


def add_element(
    context: ReadingContext,
    line: ElementLine,
    name: str,
    nodes: tuple[str, ...],
    *,
    value: Expression | None,
    law: Law | None,
    initial: Expression | None,
    variables: Mapping[str, str] | None = None,
    switching: Switching | None = None,
    heat: str | None = None,
    signal: Expression | None = None,
    counters: Mapping[str, int] = NO_COUNTERS,
) -> None:
    """Add an element to the network, and the parameter that its value becomes."""
    kind = line.form.kind
    if name in context.elements:
        _refuse_twice(context, line, name)
    if nodes[0] == nodes[1] or (len(nodes) == 4 and nodes[2] == nodes[3]):
        what = f"both ends of the {kind.name} {name} are at '{nodes[0] if nodes[0] == nodes[1] else nodes[2]}'"
        fix = "connect it between two nodes, or remove it"
        raise context.error(notations_rules.SHORTED, line.key, what, fix=fix, where=name)
    if value is not None:
        # A plain number becomes a parameter of the name of the element, so that runs and studies can change it.
        if line.value is not None and line.value.marked is None and name not in context.parameters:
            context.parameters[name] = Parameter(name, value, line.value.dimension, line.value.unit, line.place)
            value = symbol(name)
    elif law is None and kind.role not in ("source", "switching") and not kind.weightless:
        value = symbol(name)
        if name not in context.parameters:
            _stay_symbol(context, line, name)
    for side, chosen in variables.items() if variables else ():
        owner = context.variables.setdefault(chosen, name)
        # Identity will do: an element hands in one text for all its variables.
        if owner is not name:
            what = f"{owner} and {name} both name a variable '{chosen}'"
            fix = f"choose another name for the {side} variable"
            raise context.error(notations_rules.VARIABLE_TWICE, line.key, what, fix=fix, where=name)
    content = line.initial_content
    if context.version_1 and initial not in (None, ZERO) and keeps_content(kind, law) and not content:
        content = True
        if line.initial_node is not None:
            context.read_as_content.append(ReadAsContent(name, kind, line.initial_node))
    context.elements[name] = Element(
        name=name,
        kind=kind,
        nodes=nodes,
        value=value,
        law=law,
        variables=variables or NOTHING,
        initial=initial,
        prefer=line.prefer,
        forced=line.forced,
        place=line.place,
        notes=line.notes or NOTHING,
        signal=line.signal if signal is None else signal,
        signal_text=line.signal_text,
        switching=switching,
        initial_content=content,
    )
    if heat is not None:
        context.heated.append(HeatPort(name, heat, line.key))
    if (node := line.height_node) is not None:
        marked = parse_marked(node.text, context.text_place(node), counters)
        context.heights.append(MassHeight(name, marked, node))
    if kind.role == "potential" and law is None:
        what = f"the {kind.name} {name} does not say which energy it keeps"
        fix = f"add 'energy: ...', a formula of displacements, such as '{name}: {{{kind.name}: [{nodes[0]}], energy: m*g*z}}'"
        raise context.error(rules.NO_POTENTIAL, line.key, what, fix=fix, where=name)


def add_element_of_line(context: ReadingContext, line: ElementLine) -> None:
    """Add the element of a line outside any `repeat`, where names and values are what they are."""
    name = line.name
    assert isinstance(name, str), "outside a 'repeat' a name is a text"
    add_element(
        context,
        line,
        name,
        line.nodes,  # type: ignore[arg-type]  # texts, as the name is
        value=None if line.value is None else line.value.expression,
        law=line.law,
        initial=None if line.initial is None else line.initial.expression,
        variables=line.variables,  # type: ignore[arg-type]
        switching=None if line.switching is None else line.switching.modes_of(name, line.key),
        heat=line.heat,  # type: ignore[arg-type]
    )


def _refuse_twice(context: ReadingContext, line: ElementLine, name: str) -> NoReturn:
    first = context.elements[name].place
    inside = isinstance(line.name, str) and first == line.place
    fix = "inside a 'repeat' a name needs every index, such as 'R[i]'" if inside else "rename one of them"
    at = "" if inside or first is None else f", first in line {first.line}"
    what = f"'{name}' is described twice{at}"
    raise context.error(notations_rules.DESCRIBED_TWICE, line.key, what, fix=fix, where=name)


def _stay_symbol(context: ReadingContext, line: ElementLine, name: str) -> None:
    form = line.form
    unit = form.kind.quantity.unit if form.kind.quantity else ""
    context.parameters[name] = Parameter(name, None, form.dimension, unit or si_unit(form.dimension), line.place)
    key = form.kind.quantity.key if form.kind.quantity else "value"
    context.note_symbol(name, f"add '{name}' to the parameters, or '{key}: ...' to its line", name, line.place)


OF_ELEMENTS = ("power.", "energy.")
"""What elements take and keep is for signals to read: it follows from their variables."""


def allow_variables(context: ReadingContext, first: int) -> None:
    """Let the formulas met since `first` of them waited use variables of elements too, which are known when all elements are."""
    pending = context.pending
    for k in range(first, len(pending)):
        letters = pending[k].names
        if all(name in letters or context.is_known(name) for name in user_names(pending[k].marked)):
            continue  # most formulas read parameters only, and there may be many
        pending[k] = pending[k]._replace(names=_WithVariables(context, pending[k].names))


class _WithVariables(Mapping[str, Measure]):
    """Letters and indices of a formula, and the variables of elements."""

    def __init__(self, context: ReadingContext, letters: Mapping[str, Measure]) -> None:
        self._context, self._letters = context, letters

    def __getitem__(self, name: str) -> Measure:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, Measure]:
        # Looked up when it is asked: elements further down bring variables too.
        variables = known_variables(self._context.elements.values())
        plain = {name: dimension for name, dimension in variables.items() if not name.startswith(OF_ELEMENTS)}
        return {**plain, **self._letters}


def add_heat_sources(context: ReadingContext) -> None:
    """Add the source of every heat port; all elements are known by now."""
    if not context.heated:
        return
    domains = _domains_of_nodes(context)
    for heated in context.heated:
        base, bracket, index = heated.element.partition("[")
        name = f"{base}_heat{bracket}{index}"  # `R_heat`, `R_heat[3]`
        if name in context.elements:
            what = f"the heat of '{heated.element}' is brought by a source '{name}', but an element has that name"
            fix = f"rename the element '{name}'"
            raise context.error(rules.HEAT_NAME_TAKEN, heated.key, what, fix=fix, where=heated.element)
        domain = domains.get(heated.node)
        if domain is None:
            what = f"the heat of '{heated.element}' goes to '{heated.node}', which is no node of a thermal element"
            fix = f"add '{heated.node}' to the model, as in 'C: {{heat capacity: [{heated.node}], C: 40 J/K}}'"
            if domains:
                fix = did_you_mean(heated.node, domains) or f"the thermal nodes are {listing(domains)}"
            raise context.error(rules.NO_THERMAL_NODE, heated.key, what, fix=fix, where=heated.element)
        context.elements[name] = _heat_source(context, name, heated, domain)


def _heat_source(context: ReadingContext, name: str, heated: HeatPort, domain: str) -> Element:
    place = context.place(heated.key)
    nodes = (DOMAINS[domain].reference, heated.node)
    power: Expression = symbol(f"power.{heated.element}")
    if DOMAINS[domain].heat_books:
        return Element(name, KINDS["heat flow source"], nodes, place=place, signal=power)
    # Heat flows into a heat capacity as it is; entropy flows by heat over absolute temperature.
    temperature = symbol(_temperature(context, heated))
    return Element(name, KINDS["entropy flow source"], nodes, place=place, signal=power / temperature)


def _temperature(context: ReadingContext, heated: HeatPort) -> str:
    """The name of the temperature of a node of entropy flows."""
    reference = DOMAINS["thermal"].reference
    for element in context.elements.values():
        decides = element.kind.role == "storage" or (element.kind.role == "source" and element.kind.side == "across")
        if decides and element.kind.domains == ("thermal",) and element.nodes == (heated.node, reference):
            return variable_name(element, "across")
    what = f"the heat of '{heated.element}' goes to '{heated.node}', where nothing decides the temperature"
    fix = f"put an entropy capacity or a temperature source at '{heated.node}'"
    raise context.error(rules.NO_HEAT_TEMPERATURE, heated.key, what, fix=fix, where=heated.element)


def _domains_of_nodes(context: ReadingContext) -> dict[str, str]:
    """The thermal nodes that are no references, with their domain."""
    found: dict[str, str] = {}
    for element in context.elements.values():
        for k, node in enumerate(element.nodes):
            domain = element.kind.domains[k // 2]
            if domain in THERMAL_DOMAINS and node != DOMAINS[domain].reference:
                found.setdefault(node, domain)
    return found


GRAVITY = "gravity"
METRE, ACCELERATION = parse_unit("m").dimension, parse_unit("m/s^2").dimension


def read_gravity(context: ReadingContext, node: Node) -> Expression:
    """The acceleration of free fall; a plain number becomes the parameter of that name, so that a run can change it."""
    reading = context.quantity(context.scalar(node, GRAVITY), GRAVITY)
    settled = context.settled(reading, ACCELERATION, GRAVITY, context.scalar(node, GRAVITY))
    if settled.marked is None and GRAVITY not in context.parameters:
        place = context.place(node)
        context.parameters[GRAVITY] = Parameter(GRAVITY, settled.expression, settled.dimension, settled.unit, place)
        return symbol(GRAVITY)
    return settled.expression


def add_weights(context: ReadingContext) -> None:
    """Add the weights of the masses with a height, when all masses are known.

    Raises: DescriptionError (D156) where no gravity is given.
    """
    for height in context.heights:
        if context.gravity is None:
            what = f"the mass {height.mass} has a height, but no gravity pulls it"
            fix = "write 'gravity: 9.81 m/s^2' at the top of the file"
            raise context.error(rules.NO_GRAVITY, height.node, what, fix=fix, where=height.mass)
        _add_weight(context, height, context.elements[height.mass], context.gravity)


def _add_weight(context: ReadingContext, height: MassHeight, mass: Element, gravity: Expression) -> None:
    assert mass.value is not None, "a mass with a height has a value"
    marked = height.marked
    # A new name is the height itself: it rises as fast as the mass.
    if isinstance(marked, Symbol) and not context.is_known(marked.name):
        context.displacements[marked.name] = symbol(variable_name(mass, "across"))
    found = context.check_later(marked, METRE, f"the height of {mass.name}", height.node)
    energy = mass.value * gravity * without_marks(found)
    name, kind = f"{mass.name}.weight", KINDS["weight"]
    law = Law("potential", "", energy, kind.side, to_text(energy))
    weight = Element(name, kind, mass.nodes, None, law, place=mass.place)
    context.elements[name] = replace(weight, notes=mass.notes)
