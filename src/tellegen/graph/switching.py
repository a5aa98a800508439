"""Elements with modes as laws: what each behaviour asks of its port in each mode, and when it leaves it.

All guards use the port's own variables ACROSS and THROUGH. The sign of ACROSS is that of the first node against the second.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from tellegen.core.domains import Side
from tellegen.core.names import TIME, did_you_mean, listing, named_after
from tellegen.elements import Behaviour
from tellegen.expressions import HALF, ONE, ZERO, Expression, call, logic, relation, symbol
from tellegen.graph import power_graph, rules
from tellegen.graph.signals import Break, Value, breaks_of
from tellegen.model.model import Element, Switching

Settings = Mapping[str, Expression]
Laws = dict[str, power_graph.ResistiveLaw]
Transitions = dict[str, tuple[power_graph.Transition, ...]]

FREE = power_graph.ResistiveLaw("through", ZERO, invertible=False)
"""Nothing passes: an open switch."""
HELD = power_graph.ResistiveLaw("across", ZERO, invertible=False)
"""No difference across: a closed switch, sticking friction."""


def switching_law(element: Element, parameters: Mapping[str, Expression | None]) -> power_graph.SwitchingLaw:
    """The modes of an element and when it changes them, the mode in which a run begins first."""
    kind, given = element.kind, element.switching
    assert kind.behaviour is not None, "a kind with modes has a behaviour"
    assert given is not None, "an element with modes has settings"
    # Kinds name their settings as their domain does (R_on, b, k); behaviours read them by what they are for.
    settings = {s.part: given.settings[s.key] for s in kind.settings if s.key in given.settings}
    commands = command_signals(element, parameters)
    # By name, so that the guard of a switch and a figure of its command are one signal.
    settings |= {part: symbol(command.name) for part, command in commands.items()}
    modes, transitions = _BEHAVIOURS[kind.behaviour](kind.modes, settings)
    if kind.behaviour == "clutch" and not commands:
        del modes["open"]  # a constant capacity holds for ever
        transitions = {k: tuple(t for t in found if t.to != "open") for k, found in transitions.items() if k != "open"}
    start = given.start or _start(given, kind.modes)
    # The first mode of a law is where a run begins.
    modes = {start: modes[start], **modes}
    return power_graph.SwitchingLaw(modes, {word: transitions.get(word, ()) for word in modes})


def command_signals(element: Element, parameters: Mapping[str, Expression | None]) -> dict[str, Value]:
    """The signals that an element follows, by what they are for: the control or the schedule of a switch, capacities that move."""
    given = element.switching
    behaviour = element.kind.behaviour
    if given is None or behaviour not in ("switch", "clutch", "friction"):
        return {}
    found: dict[str, Value] = {}
    for setting in element.kind.settings[:1] if behaviour == "switch" else element.kind.settings:
        name, unit = named_after(setting.key, element.name), setting.unit or "1"
        if given.schedule:
            breaks = tuple(Break(time) for time in given.schedule)
            found["control"] = Value(name, _scheduled(given.schedule), breaks, element.place, unit)
            break
        command = given.settings.get(setting.key)
        # A constant capacity needs no signal: it is a parameter, which a sweep may change without another program.
        if command is None or (behaviour != "switch" and command.free_symbols <= parameters.keys()):
            continue
        part = "control" if behaviour == "switch" else setting.part
        found[part] = Value(name, command, breaks_of(command, parameters), element.place, unit)
    return found


def _scheduled(times: tuple[Expression, ...]) -> Expression:
    """1 between the first time and the second, the third and the fourth, ..., else 0; without a last time for ever."""
    t = symbol(TIME)
    inside = []
    for k in range(0, len(times), 2):
        begun = relation(">=", t, times[k])
        # Half open intervals: at the time itself the new state holds, so that no instant belongs to both.
        inside.append(logic("and", begun, relation("<", t, times[k + 1])) if k + 1 < len(times) else begun)
    return call("if", logic("or", *inside), ONE, ZERO)


def _start(given: Switching, modes: tuple[str, ...]) -> str:
    """A schedule that begins at zero begins with the passing mode."""
    return modes[1] if given.schedule and given.schedule[0] is ZERO else modes[0]


def put_into_mode(graph: power_graph.PowerGraph, mode: Mapping[str, str]) -> power_graph.PowerGraph:
    """The graph with the elements named in `mode` in the modes given there.

    Raises: GraphError (G108) for an element without modes or a mode that it does not have.
    """
    modes = {graph.ports[k].element: tuple(law.modes) for k, law in graph.switching.items()}
    for name, word in mode.items():
        if name not in modes:
            known = f"elements with modes are {listing(modes)}" if modes else "no element of this system has modes"
            raise rules.NO_SUCH_MODE.error(f"'{name}' has no modes", fix=did_you_mean(name, modes) or known)
        if word not in modes[name]:
            fix = did_you_mean(word, modes[name]) or f"its modes are {listing(modes[name])}"
            raise rules.NO_SUCH_MODE.error(f"'{name}' has no mode '{word}'", where=name, fix=fix)
    return graph.in_mode(mode) if mode else graph


# -- Behaviours ------------------------------------------------------------------------------------------------------------------


def _switch(modes: tuple[str, ...], settings: Settings) -> tuple[Laws, Transitions]:
    off, on = modes
    laws = {off: FREE, on: _resistance(settings)}
    control = settings.get("control")
    if control is None:
        return laws, {}
    # A control of zero opens, and a signal may rest at zero: so the guards are never zero themselves.
    closes = call("if", relation(">", control, ZERO), ONE, -ONE)
    return laws, {off: (power_graph.Transition(on, closes),), on: (power_graph.Transition(off, -closes),)}


def _one_way(modes: tuple[str, ...], settings: Settings) -> tuple[Laws, Transitions]:
    blocking, conducting = modes
    # With a threshold the diode conducts like a source in series; its law is a formula then, no coefficient.
    threshold = settings.get("threshold", ZERO)
    law = _resistance(settings)
    if threshold is not ZERO:
        slope = settings.get("resistance", ZERO)
        law = power_graph.ResistiveLaw(
            "across", None, threshold + slope * power_graph.argument(), invertible=slope is not ZERO
        )
    return {blocking: FREE, conducting: law}, {
        blocking: (power_graph.Transition(conducting, symbol(power_graph.ACROSS) - threshold),),
        conducting: (power_graph.Transition(blocking, -symbol(power_graph.THROUGH)),),
    }


def _friction(modes: tuple[str, ...], settings: Settings) -> tuple[Laws, Transitions]:
    stick, forward, backward = modes
    limit, viscous = settings["limit"], settings.get("viscous", ZERO)
    breakaway = settings.get("breakaway", limit * settings.get("factor", ONE))
    laws = {stick: HELD, forward: _slip(limit, viscous), backward: _slip(-limit, viscous)}
    return laws, {
        stick: (
            power_graph.Transition(forward, symbol(power_graph.THROUGH) - breakaway),
            power_graph.Transition(backward, -symbol(power_graph.THROUGH) - breakaway),
        ),
        # Slipping ends where the speed would change its sign: friction never drives.
        forward: (power_graph.Transition(stick, -symbol(power_graph.ACROSS)),),
        backward: (power_graph.Transition(stick, symbol(power_graph.ACROSS)),),
    }


def _clutch(modes: tuple[str, ...], settings: Settings) -> tuple[Laws, Transitions]:
    *slipping, apart = modes
    laws, transitions = _friction(tuple(slipping), settings)
    laws[apart] = FREE
    pressed = relation(">", settings["limit"], ZERO)
    # Guards are never zero themselves, or a control that rests at zero would fire and cancel for ever.
    released = power_graph.Transition(apart, call("if", pressed, -ONE, ONE))
    transitions = {word: (*found, released) for word, found in transitions.items()}
    # Which way a clutch slips when it is pressed depends on the speeds at that moment.
    ways = (
        relation("==", symbol(power_graph.ACROSS), ZERO),
        relation(">", symbol(power_graph.ACROSS), ZERO),
        relation("<", symbol(power_graph.ACROSS), ZERO),
    )
    transitions[apart] = tuple(
        power_graph.Transition(word, call("if", logic("and", pressed, way), ONE, -ONE))
        for word, way in zip(slipping, ways, strict=True)
    )
    return laws, transitions


def _stop(modes: tuple[str, ...], settings: Settings) -> tuple[Laws, Transitions]:
    apart, contact = modes
    closed = -settings["gap"]
    across, through = symbol(power_graph.ACROSS), symbol(power_graph.THROUGH)
    restitution = settings.get("restitution")
    # A rigid stop: contact is an impact, which changes the speed at once, and then a held position.
    if restitution is not None:
        # Only an approach is an impact: after it the gap may still count as closed for a rounding error.
        hits = call("min", closed, across)
        return {apart: FREE, contact: HELD}, {
            apart: (power_graph.Transition(contact, hits, restitution, settings["gap"]),),
            contact: (power_graph.Transition(apart, -through),),
        }
    stiffness, damping = settings["stiffness"], settings.get("damping", ZERO)
    force = stiffness * closed + damping * power_graph.argument()
    # What presses the stop in comes back, and the books call it stored.
    kept = power_graph.ElasticPart(HALF * stiffness * closed**2, damping * across**2)
    # Without damping the force reads the gap alone and does not depend on the speed, so it cannot be solved for it.
    law = power_graph.ResistiveLaw("through", None, force, invertible="damping" in settings, elastic=kept)
    free = replace(FREE, elastic=power_graph.ElasticPart(ZERO, ZERO))
    # A damped stop must not pull: contact ends where its force would change its sign, though the gap is still closed.
    pushes = force.substitute({power_graph.ARGUMENT: across})
    return {apart: free, contact: law}, {
        apart: (power_graph.Transition(contact, call("min", closed, pushes)),),
        contact: (power_graph.Transition(apart, call("max", -closed, -pushes)),),
    }


def _resistance(settings: Settings) -> power_graph.ResistiveLaw:
    value = settings.get("resistance")
    return HELD if value is None else power_graph.ResistiveLaw("across", value)


def _slip(force: Expression, viscous: Expression) -> power_graph.ResistiveLaw:
    side: Side = "through"
    return power_graph.ResistiveLaw(
        side, None, force + viscous * power_graph.argument(), invertible=viscous is not ZERO
    )


_BEHAVIOURS: dict[Behaviour, Callable[[tuple[str, ...], Settings], tuple[Laws, Transitions]]] = {
    "switch": _switch,
    "one way": _one_way,
    "friction": _friction,
    "clutch": _clutch,
    "stop": _stop,
}
