"""Elements with modes from their lines: settings, schedules and the mode in which a run begins."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from tellegen.core.errors import Finding
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Dimension, parse_unit
from tellegen.elements import ElementKind, Setting
from tellegen.expressions import Expression, Number, symbol
from tellegen.model.dimensions import NUMBER, Measure, without_marks
from tellegen.model.model import Element, Parameter, Switching
from tellegen.notations import rules as notations_rules
from tellegen.notations.context import MOST_NOTICES, PendingCheck, ReadingContext
from tellegen.notations.indexed_names import CopyIndices
from tellegen.notations.network import rules
from tellegen.notations.parameters import finite_value
from tellegen.notations.quantities import QuantityReading, read_plain, read_quantity
from tellegen.notations.signals.formulas import parse_formula
from tellegen.notations.signals.shapes import SECOND
from tellegen.notations.yaml.document import Node, Scalar


class SettingLine(NamedTuple):
    """What a line says for one setting."""

    reading: QuantityReading
    node: Scalar


class SwitchingLine:
    """What the line of an element with modes says after its kind; inside a `repeat` values depend on the indices."""

    def __init__(self, context: ReadingContext, name: str, kind: ElementKind, indices: tuple[str, ...]) -> None:
        self.context = context
        self.name = name
        self.kind = kind
        self.indices = indices
        self.settings: dict[str, SettingLine] = {}
        self.schedule: tuple[SettingLine, ...] = ()
        self.start = ""
        self.commands: list[str] = []

    def read_setting(self, key: Scalar, node: Node, of: str) -> None:
        """Read one setting."""
        setting = next(s for s in self.kind.settings if s.key == of)
        if of in self.settings:
            raise self.context.error(
                notations_rules.VALUE_TWICE,
                key,
                f"{self.name} has '{of}' twice",
                fix="keep one of them",
                where=self.name,
            )
        scalar = self.context.formula(node, f"the {setting.word} of {self.name}")
        wanted = _dimension(setting)
        self.settings[of] = self._read(scalar, setting.word, wanted, formula=setting.formula)
        self._exclude(key, setting.part)

    def read_schedule(self, key: Scalar, node: Node) -> None:
        """Read the times at which a switch begins and ends to let power pass."""
        texts = self.context.texts(node, f"the schedule of {self.name}")
        self.schedule = tuple(self._read(text, "schedule", SECOND, formula=False) for text in texts)
        self._exclude(key, "schedule")
        times = [line.reading.expression for line in self.schedule]
        plain = [time.rational for time in times if isinstance(time, Number)]
        if len(plain) == len(times) and any(b <= a for a, b in pairwise(plain)):
            what = f"the times of {self.name} do not rise"
            raise self.context.error(
                rules.BAD_SCHEDULE,
                node,
                what,
                fix="list them in the order in which they come",
                where=self.name,
            )

    def read_start(self, node: Node) -> None:
        """Read the mode in which a run begins."""
        text = self.context.scalar(node, f"the start of {self.name}")
        if text.text not in self.kind.modes:
            fix = did_you_mean(text.text, self.kind.modes) or f"the modes are {listing(self.kind.modes)}"
            what = f"'{text.text}' is not a mode of the {self.kind.name} {self.name}"
            raise self.context.error(rules.UNKNOWN_MODE, text, what, fix=fix, where=self.name)
        self.start = text.text

    def _read(self, scalar: Scalar, word: str, wanted: Dimension | None, *, formula: bool) -> SettingLine:
        """A reading whose names and dimension are checked when everything is known; those of a formula for each copy."""
        if formula and read_plain(scalar.text) is None:
            marked = parse_formula(self.context, scalar, f"the {word} of {self.name}")
            return SettingLine(QuantityReading(without_marks(marked), marked), scalar)
        reading = read_quantity(scalar.text, lambda: self.context.text_place(scalar))
        subject = f"the {word} of {self.name}"
        counters: dict[str, Measure] = dict.fromkeys(self.indices, NUMBER)
        if reading.marked is not None:
            pending = PendingCheck(reading.marked, wanted, subject, lambda: self.context.text_place(scalar), counters)
            self.context.pending.append(pending)
        elif wanted is not None and reading.dimension not in (None, wanted):
            assert reading.dimension is not None, "a bare number fits any unit"
            place = self.context.place(scalar)
            self.context.add_errors([self.context.wrong_dimension(subject, reading.dimension, wanted, place)])
        return SettingLine(reading, scalar)

    def _exclude(self, key: Scalar, part: str) -> None:
        """A switch has one command, a stop one law of contact."""
        if part in ("control", "schedule", "stiffness", "restitution"):
            self.commands.append(key.text)
        if len(self.commands) > 1:
            what = f"the {self.kind.name} {self.name} has {' and '.join(map(repr, self.commands))}"
            raise self.context.error(rules.TWO_COMMANDS, key, what, fix="keep one of them", where=self.name)


def _dimension(setting: Setting) -> Dimension | None:
    """The dimension that a setting must have; None where any will do."""
    return parse_unit(setting.unit).dimension if setting.unit else None


def switching_of(
    context: ReadingContext, line: SwitchingLine, name: str, key: Scalar, copy: CopyIndices = ()
) -> Switching:
    """What the line says about one element, or about one copy of it; plain values become parameters such as `F_c_belt`."""
    counters = dict(zip(line.indices, copy, strict=True))
    settings: dict[str, Expression] = {}
    for setting in line.kind.settings:
        given = line.settings.get(setting.key)
        if given is not None:
            settings[setting.key] = _value(context, setting, name, given.reading, counters)
            if setting.formula and given.reading.marked is not None:
                marked, wanted = given.reading.marked.substitute(counters), _dimension(setting)
                context.formulas.append((marked, wanted, f"the {setting.word} of {name}", given.node))
        elif setting.needed:
            settings[setting.key] = _symbol(context, setting, name, key)
    schedule = tuple(time.reading.expression.substitute(counters) for time in line.schedule)
    _check_stop(context, line.kind, name, settings, key)
    texts = (
        {}
        if copy
        else {key: given.node.text for key, given in line.settings.items() if given.reading.marked is not None}
    )
    return Switching(settings, schedule, line.start, texts)


def _value(
    context: ReadingContext, setting: Setting, name: str, reading: QuantityReading, counters: Mapping[str, int]
) -> Expression:
    expression = reading.expression.substitute(counters) if counters else reading.expression
    own = f"{setting.key}_{name}"
    if reading.marked is not None or own in context.parameters or not setting.unit:
        return expression
    context.parameters[own] = Parameter(own, expression, reading.dimension, reading.unit)
    return symbol(own)


def _symbol(context: ReadingContext, setting: Setting, name: str, key: Scalar) -> Expression:
    """A setting that nobody gave: the parameter of its name, which stays a symbol where it has no value."""
    own = f"{setting.key}_{name}"
    if own not in context.parameters:
        dimension = parse_unit(setting.unit).dimension
        context.parameters[own] = Parameter(own, None, dimension, setting.unit, context.place(key))
        context.without_value += 1
        if context.without_value <= MOST_NOTICES:
            fix = f"add '{own}' to the parameters, or '{setting.key}: ...' to its line"
            what = f"the {setting.word} of {name} has no value: it stays a symbol"
            context.notes.append(notations_rules.NO_VALUE.finding(what, where=name, fix=fix, place=context.place(key)))
    return symbol(own)


def _check_stop(
    context: ReadingContext, kind: ElementKind, name: str, settings: Mapping[str, Expression], key: Scalar
) -> None:
    if kind.behaviour != "stop":
        return
    if "K" not in settings and "restitution" not in settings:
        fix = "add 'K' and 'b' for an elastic contact, or 'restitution' for a rigid one"
        what = f"the {kind.name} {name} has no law of contact"
        raise context.error(rules.NO_CONTACT, key, what, fix=fix, where=name)


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
        if expression is None or setting.formula or any(name not in values for name in expression.free_symbols):
            continue
        value = known[setting.part] = finite_value(expression, values)
        if value < 0 or (setting.part == "restitution" and value > 1):
            range_ = "between 0 and 1" if setting.part == "restitution" else "that is not negative"
            yield _wrong_size(element, f"the {setting.word} of {element.name} is {value:g}", f"give a value {range_}")
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
