"""Signal blocks that remember what has happened: relays, counters, timers, what is held from an instant on, machines with states.

All are made of latches, which take another value at the instant at which their condition changes.
"""

from collections.abc import Iterable

from tellegen.core.names import TIME
from tellegen.expressions import ONE, ZERO, Call, Condition, Expression, call, logic, number, relation, symbol
from tellegen.model.signals import SignalDefinition
from tellegen.notations.signals.block_settings import BlockSettings, SignalParts

NAMES = "states named"
"""Where the names of the states of a machine stand, and from which others each is entered."""
STATE_KEYS = ("when", "after", "value")
"""What is said of a state, but for `from`."""
LINE = "\n"
"""Stands between states, where what is said of all of them is one text."""


def condition_value(condition: Condition) -> Expression:
    """A condition as a number: 1 where it holds, else 0."""
    return call("if", condition, ONE, ZERO)


def condition_of(value: Expression) -> Condition:
    """A number as a condition: more than zero holds."""
    if isinstance(value, Call) and value.name == "if" and value.arguments[1:] == (ONE, ZERO):
        found = value.arguments[0]
        assert isinstance(found, Condition), "an `if` begins with a condition"
        return found
    return relation(">", value, ZERO)


def expand_relay(given: BlockSettings) -> SignalParts:
    """On above half of the hysteresis, off below minus half of it, in between as before."""
    input_, half = given.expression("relay"), given.expression("hysteresis") / 2
    level = "height" in given
    name = given.inner("on") if level else given.name
    below = call("if", relation("<=", input_, -half), ZERO, symbol(name))
    held = call("if", relation(">=", input_, half), ONE, below)
    yield given.part(name, "latch", latch=held, initial=given.expression("initial"))
    if level:
        yield given.formula(given.name, given.expression("height") * symbol(name))


def expand_count(given: BlockSettings) -> SignalParts:
    """One more at each instant at which the condition becomes true."""
    begins, was = _beginning(given, "count")
    yield was
    own = symbol(given.name)
    counted = call("if", begins, own + 1, own)
    if "reset" in given:
        counted = call("if", condition_of(given.expression("reset")), ZERO, counted)
    yield given.part(given.name, "latch", latch=counted, initial=given.expression("initial"))


def expand_timer(given: BlockSettings) -> SignalParts:
    """How long the condition has held."""
    begins, was = _beginning(given, "timer")
    yield was
    since = given.inner("since")
    yield given.part(since, "latch", latch=call("if", begins, symbol(TIME), symbol(since)), initial=ZERO)
    holds = relation(">", symbol(was.name), ONE / 2)
    yield given.formula(given.name, call("if", holds, symbol(TIME) - symbol(since), ZERO))


def expand_hold(given: BlockSettings) -> SignalParts:
    """The input at the instant at which the condition last became true."""
    begins, was = _beginning(given, "when")
    yield was
    held = call("if", begins, given.expression("hold"), symbol(given.name))
    yield given.part(given.name, "latch", latch=held, initial=given.expression("initial"))


def _beginning(given: BlockSettings, key: str) -> tuple[Condition, SignalDefinition]:
    """The condition that another one has just become true, and the latch that remembers whether it was."""
    condition, name = condition_of(given.expression(key)), given.inner("was")
    was = given.part(name, "latch", latch=condition_value(condition), initial=ZERO)
    return logic("and", condition, relation("<", symbol(name), ONE / 2)), was


def states_named(text: str) -> list[tuple[str, tuple[str, ...]]]:
    """The states of a machine, and from which others each is entered (from all, where none is told)."""
    lines = (line.split(" ") for line in text.split(LINE))
    return [(name, tuple(others)) for name, *others in lines]


def states_text(states: Iterable[tuple[str, Iterable[str]]]) -> str:
    """The same as one text: lists of names would be nodes."""
    return LINE.join(" ".join((name, *others)) for name, others in states)


def expand_states(given: BlockSettings) -> SignalParts:
    """The number of the state, or its value; the first whose condition holds is entered."""
    states = states_named(given.word(NAMES, ""))
    numbers = {name: number(k) for k, (name, _) in enumerate(states)}
    conditions, after, values = (given.several(key) for key in STATE_KEYS)
    valued = any(value is not number(k) for k, value in enumerate(values))
    timed = any(time is not ZERO for time in after)
    name = given.inner("state") if valued else given.name
    now, since = symbol(name), given.inner("since") if timed else ""
    following: Expression = now
    for k in reversed(range(len(states))):
        if conditions[k] is ZERO:
            continue
        _, others = states[k]
        entered = [relation("!=", now, number(k)), condition_of(conditions[k])]
        if others:
            entered[0] = logic("or", *(relation("==", now, numbers[other]) for other in others))
        if after[k] is not ZERO:
            entered.append(relation(">=", symbol(TIME) - symbol(since), after[k]))
        following = call("if", logic("and", *entered), number(k), following)
    if timed:
        following_name = given.inner("next")
        yield given.formula(following_name, following)
        following = symbol(following_name)
    yield given.part(name, "latch", latch=following, initial=ZERO)
    if timed:
        moves = call("if", relation("!=", following, now), symbol(TIME), symbol(since))
        yield given.part(since, "latch", latch=moves, initial=ZERO)
    if valued:
        told = values[-1]
        for k in reversed(range(len(states) - 1)):
            told = call("if", relation("==", now, number(k)), values[k], told)
        yield given.formula(given.name, told)
