"""Signals beside the power equations: over states, displacements, inputs, unknowns, other signals, parameters and time."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME
from tellegen.equations import rules
from tellegen.expressions import ONE, ZERO, Call, Expression, postorder, total
from tellegen.expressions.elimination import with_definitions
from tellegen.graph.signals import Delayed, External, Integral, Sampled, SignalLaw, Table, Value
from tellegen.model.signals import SignalDefinition, SignalSetting


@final
@dataclass(frozen=True)
class SignalEquations:
    """Signals in their order, and which expression drives which input; empty for most models."""

    laws: tuple[SignalLaw, ...] = ()
    drivers: Mapping[str, Expression] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The names of the signals."""
        return frozenset(law.name for law in self.laws)

    @property
    def values(self) -> dict[str, Expression]:
        """Signals that are formulas."""
        return {law.name: law.expression for law in self.laws if isinstance(law, Value)}

    @property
    def named(self) -> dict[str, Expression]:
        """Power variables to which the author gave names, beside those of ports."""
        return {law.name: law.expression for law in self.laws if isinstance(law, Value) and law.named}

    @property
    def states(self) -> dict[str, Expression]:
        """Signals with a rate: the states of controllers and filters."""
        return {law.name: law.rate for law in self.laws if isinstance(law, Integral)}

    @property
    def initial(self) -> dict[str, Expression]:
        """Initial values of the signal states."""
        return {law.name: law.initial for law in self.laws if isinstance(law, Integral)}

    @property
    def others(self) -> tuple[Sampled | Delayed | Table | External, ...]:
        """Signals with a memory of another kind, tables and functions."""
        return tuple(law for law in self.laws if isinstance(law, Sampled | Delayed | Table | External))

    def changed(self, change: Callable[[Expression], Expression]) -> "SignalEquations":
        """The same with every formula of variables changed; periods and initial values stay."""
        laws = tuple(_changed(law, change) for law in self.laws)
        return SignalEquations(laws, {name: change(e) for name, e in self.drivers.items()})

    def entries(self) -> list[Expression]:
        """Every formula of variables."""
        found: list[Expression] = list(self.drivers.values())

        def keep(expression: Expression) -> Expression:
            found.append(expression)
            return expression

        for law in self.laws:
            _changed(law, keep)
        return found


def _changed(law: SignalLaw, change: Callable[[Expression], Expression]) -> SignalLaw:
    if law.definition is not None:
        law = replace(law, definition=_redefined(law.definition, change))
    if isinstance(law, Integral):
        return replace(law, rate=change(law.rate))
    if isinstance(law, Table):
        return replace(law, argument=change(law.argument))
    if isinstance(law, External):
        return replace(law, arguments=tuple(map(change, law.arguments)))
    return replace(law, expression=change(law.expression))


def _redefined(definition: SignalDefinition, change: Callable[[Expression], Expression]) -> SignalDefinition:
    """The definition over what its formulas read now; what reads the same names stays as it is written."""

    def of(held: SignalSetting) -> SignalSetting:
        if isinstance(held, tuple):
            return tuple(one(part) if isinstance(part, Expression) else part for part in held)  # type: ignore[return-value]
        return one(held) if isinstance(held, Expression) else held

    def one(formula: Expression) -> Expression:
        changed = change(formula) if formula.free_symbols else formula
        return formula if changed.free_symbols == formula.free_symbols else changed

    settings = {key: of(held) for key, held in definition.settings.items()}
    return replace(definition, settings=settings)


NO_SIGNALS = SignalEquations()

_JUMPING = ("if", "floor", "ceil", "sign")


def jumps(expression: Expression) -> str:
    """The first function in a formula that makes it jump; empty for a formula that does not."""
    calls = (node.name for node in postorder(expression) if isinstance(node, Call))
    return next((name for name in calls if name in _JUMPING), "")


class SignalRates:
    """How fast signals change, by the chain rule over displacements, time and signal states."""

    def __init__(
        self,
        signals: SignalEquations,
        displacements: Mapping[str, Expression],
        moving: Mapping[str, Expression],
        constants: Collection[str],
    ) -> None:
        self.signals = {law.name: law for law in signals.laws}
        self.rates = {**displacements, TIME: ONE}
        self.moving = moving
        self.constants = constants

    def of(self, name: str) -> Expression:
        """The rate of a signal.

        Raises: EquationError naming the signal where it has none that is known.
        """
        # Kept by name: a chain of filters would be differentiated again for everyone who reads its end.
        if name in self.rates:
            return self.rates[name]
        law = self.signals[name]
        if isinstance(law, Integral):
            self.rates[name] = law.rate
            return law.rate
        if not isinstance(law, Value):
            raise _no_rate(law, f"it is {_KINDS[type(law)]}")
        if word := jumps(law.expression):
            raise _no_rate(law, f"its formula jumps: it uses '{word}'")
        self.rates[name] = ZERO  # a loop of signals was refused or has a memory in it
        # A moving parameter hides displacements, whose rates are part of the chain rule.
        written = with_definitions(law.expression, self.moving)
        self.rates[name] = total(written.derivative(n) * self._rate_of(n, law) for n in sorted(written.free_symbols))
        return self.rates[name]

    def _rate_of(self, name: str, law: Value) -> Expression:
        if name in self.rates or name in self.signals:
            return self.of(name)
        if name in self.constants:
            return ZERO
        raise _no_rate(law, f"it reads '{name}', whose own rate would be needed")


_KINDS: Mapping[type, str] = {
    Sampled: "sampled, so that it jumps",
    Delayed: "delayed",
    Table: "read from a table, which bends at its points",
    External: "a Python function",
}


def _no_rate(law: SignalLaw, why: str) -> TellegenError:
    return rules.NO_SIGNAL_RATE.error(
        f"a dependent storage moves with the signal '{law.name}', and its rate is not known: {why}",
        where=law.name,
        fix="make it a smooth function of time, displacements and integrals, or put a compliance beside the storage",
        place=law.place,
    )
