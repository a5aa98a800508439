"""SI units of the variables of a model, and the units in which variables are shown."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.compiler.context import Array
from tellegen.core.domains import DOMAINS
from tellegen.core.names import TIME
from tellegen.core.units import Dimension, describe, dimension_of, parse_unit
from tellegen.expressions import ZERO, Call, Expression, Relation, postorder, symbol
from tellegen.expressions.nodes import Add
from tellegen.graph import PowerGraph, SourceLaw, StorageLaw
from tellegen.graph.signals import Delayed, Integral, Sampled, SignalLaw, Value
from tellegen.model.dimensions import UNKNOWN, DimensionError, Measure, is_plain_factor, measure_of, terms_alike
from tellegen.notations import rules

SECOND = Dimension(s=1)


def variable_units(graph: PowerGraph) -> dict[str, str]:
    """The units of power variables, states, inputs, displacements and signals by name; "" where a unit is not known."""
    units: dict[str, str] = {}
    for port in graph.ports:
        domain = DOMAINS[port.domain]
        units |= {port.across: domain.across.unit, port.through: domain.through.unit}
        if isinstance(port.law, StorageLaw) and port.law.keeps_energy_variable:
            units[port.state] = domain.energy(port.law.side).unit
    return _Inference(graph, units).units if graph.displacements or graph.signals else units


@final
class _Inference:
    """The units of displacements and signals, from those of what they read; then of what they are added to or drive."""

    def __init__(self, graph: PowerGraph, units: Mapping[str, str]) -> None:
        self.graph = graph
        # Written as somebody said it, and as the dimension alone tells: `rad/s` comes before `1/s`.
        self.said: dict[str, str] = {TIME: "s", **units}
        self.plain: dict[str, str] = {}
        self.signals = {signal.name for signal in graph.signals}
        self.stated = {signal.name: signal.unit for signal in graph.signals if signal.unit}
        count = -1
        # Rates may read signals and signals displacements, and a reference has the unit of what it is compared with.
        while len(self.said) + len(self.plain) > count:
            count = len(self.said) + len(self.plain)
            for name, rate in graph.displacements.items():
                self._settle_integral(name, rate)
            for signal in graph.signals:
                self._settle_signal(signal)
            for signal in reversed(graph.signals):
                self._look_back(signal)
            for port in graph.ports:
                if isinstance(port.law, SourceLaw) and port.law.signal is not None:
                    self._pass_on(terms_alike(port.law.signal), self.said[port.variable(port.law.side)], "")

    @property
    def units(self) -> dict[str, str]:
        """What was found; "" where nothing was."""
        found = dict.fromkeys((*self.graph.displacements, *self.signals), "") | self.plain | self.said
        delayed = [signal.name for signal in self.graph.signals if isinstance(signal, Delayed)]
        return found | {f"{name} before its delay": found[name] for name in delayed}

    def _settle_signal(self, signal: SignalLaw) -> None:
        if isinstance(signal, Integral):
            self._settle_integral(signal.name, signal.rate)
        elif isinstance(signal, Value | Sampled | Delayed):
            self._settle(signal.name, *self._of(signal.expression, self.stated.get(signal.name, "")))
        else:
            self._settle(signal.name, "", self.stated.get(signal.name, ""))

    def _settle_integral(self, name: str, rate: Expression) -> None:
        """What is integrated, times a second; of a lag x' = a (u - x) with a constant a, the unit of u."""
        stated, pace = self.stated.get(name, ""), rate.derivative(name)
        if pace is not ZERO and pace.free_symbols <= self.graph.parameters.keys():
            self._settle(name, *self._of(rate / pace - symbol(name), stated))
            return
        found = (integral_unit(unit) for unit in self._of(rate))
        said, plain = (u if not (u and stated) or dimension_of(u) == dimension_of(stated) else "" for u in found)
        self._settle(name, said, plain or stated)

    def _settle(self, name: str, said: str, plain: str) -> None:
        if said:
            self.said.setdefault(name, said)
        elif plain:
            self.plain.setdefault(name, plain)

    def _of(self, formula: Expression, stated: str = "") -> tuple[str, str]:
        """The unit of a formula: as what it is a sum of is written, and as its dimension tells."""
        said = (self.said[name] for name in terms_alike(formula) if self.said.get(name))
        dimension = dimension_of(stated) if stated else self._dimension(formula)
        if dimension is None:
            return next(said, ""), ""
        return next((u for u in said if dimension_of(u) == dimension), ""), stated or _si_word(dimension)

    def _dimension(self, formula: Expression) -> Dimension | None:
        try:
            found = measure_of(formula, self._measure, is_plain_factor)
        except DimensionError:  # units that were written out are numbers by now
            return None
        return found if isinstance(found, Dimension) else None

    def _measure(self, name: str) -> Measure:
        unit = self.said.get(name) or self.plain.get(name)
        return dimension_of(unit) if unit else self.graph.dimensions.get(name, UNKNOWN)

    def _look_back(self, signal: SignalLaw) -> None:
        """Signals without a unit that stand beside something with one."""
        for formula in _formulas(signal):
            for node in postorder(formula):
                if isinstance(node, Add):
                    for alike in _differences(node):
                        self._pass_on(terms_alike(alike), *self._of(alike))
                if isinstance(node, Add | Call | Relation):
                    self._pass_on(terms_alike(node), *self._of(node))
        if isinstance(signal, Value | Sampled | Delayed):
            own = self.said.get(signal.name, ""), self.plain.get(signal.name, "")
            self._pass_on(terms_alike(signal.expression), *own)

    def _pass_on(self, names: Iterable[str], said: str, plain: str) -> None:
        for name in names if said or plain else ():
            known = self.plain.get(name)
            if name in self.signals and (not known or dimension_of(known) == dimension_of(said or plain)):
                self._settle(name, said, plain)


def _differences(node: Add) -> Iterator[Expression]:
    """The differences that a sum holds with one factor: a gain times (a - b) is written out as its two terms."""
    factors = dict(node.terms)
    for term, factor in factors.items():
        others = [other for other, weight in factors.items() if weight == -factor]
        if factor > 0 and factor != 1 and len(others) == 1:
            yield term - others[0]


def _formulas(signal: SignalLaw) -> Iterator[Expression]:
    for word in ("expression", "rate", "argument"):
        if (formula := getattr(signal, word, None)) is not None:
            yield formula


def integral_unit(unit: str) -> str:
    """The unit of the integral over time: that of an angular velocity is an angle."""
    if not unit:
        return ""
    # By its text: rad/s becomes rad, where dimensions alone would give 1.
    if unit.endswith("/s"):
        return unit.removesuffix("/s")
    if unit == "W":
        return "J"
    return _si_word(parse_unit(unit).dimension.times(SECOND))


def _si_word(dimension: Dimension) -> str:
    return describe(dimension).split(" ", 1)[0]


def behind_number(unit: str) -> str:
    """A unit as it stands behind a number: nothing for `1`."""
    return "" if unit == "1" else unit


def ratio_unit(above: str, below: str) -> str:
    """The unit of one quantity over another: `A/V`, `1` where they are the same."""
    if above == below:
        return "1"
    if not below or below == "1":
        return above
    over = f"({above})" if "/" in above else above or "1"
    return f"{over}/({below})" if "*" in below or "/" in below else f"{over}/{below}"


@final
@dataclass(frozen=True)
class DisplayUnits:
    """The unit that each variable is shown in; those not named are shown in SI."""

    units: Mapping[str, str] = field(default_factory=dict)

    def unit(self, name: str, si: str) -> str:
        """The unit that a variable is shown in, `si` where none was chosen."""
        return self.units.get(name, si)

    def shown(self, name: str, values: Array) -> Array:
        """SI values as numbers of the unit that is shown."""
        unit = self.units.get(name)
        return values if unit is None else in_unit(values, unit)

    def shown_value(self, name: str, value: float) -> float:
        """One SI value as a number of the unit that is shown."""
        unit = self.units.get(name)
        return value if unit is None else parse_unit(unit).from_si(value)


def in_unit(values: Array, unit: str) -> Array:
    """SI values as numbers of a unit."""
    found = parse_unit(unit)
    # Numerator and denominator apart: 1/60 as one float would round before it multiplies.
    return (values - float(found.offset)) * found.factor.denominator / found.factor.numerator


def to_si(numbers: Array, unit: str) -> Array:
    """Numbers of a unit as SI values."""
    found = parse_unit(unit)
    return numbers * found.factor.numerator / found.factor.denominator + float(found.offset)


def si_of(unit: str) -> str:
    """The SI unit of what a unit measures; one that is SI already stays as it is written."""
    found = parse_unit(unit)
    return unit if found.factor == 1 and not found.offset else _si_word(found.dimension)


def check_unit(name: str, unit: str, si: str, *, from_ambient: bool) -> None:
    """Refuse a unit that measures something else than the variable.

    Raises: DescriptionError for what is no unit (D050) or measures another quantity (D493), and for a temperature scale where
    temperatures count from the ambient (D492).
    """
    wanted = parse_unit(unit)
    if si and parse_unit(si).dimension != wanted.dimension:
        fitting = describe(parse_unit(si).dimension)
        what = f"'{name}' is in {si} and cannot be shown in {unit}"
        raise rules.BAD_DISPLAY_UNIT.error(what, where=name, fix=f"choose a unit of {fitting}")
    if wanted.offset and from_ambient:
        what = f"'{name}' counts from the ambient, and {unit} has a zero of its own"
        fix = "show it in K, or describe the system in the domain 'thermal', whose temperatures are absolute"
        raise rules.SCALE_FROM_AMBIENT.error(what, where=name, fix=fix)
