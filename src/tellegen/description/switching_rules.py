"""The rules for elements with modes (codes D480 to D489)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")


def _chopper(line: str) -> str:
    return f"system: chopper\nnetwork:\n  V: {{voltage source: [a]}}\n  S: {line}\n  R: {{resistor: [b], R: 1 ohm}}\n"


def _stopped(line: str) -> str:
    return (
        "system: stopped\ndisplacements: {x: v_m}\nnetwork:\n  F: {force source: [m]}\n  m: {mass: [m], m: 1 kg}\n"
        f"  stop: {line}\n"
    )


def _sliding(line: str) -> str:
    return f"system: sliding\nnetwork:\n  F: {{force source: [m]}}\n  m: {{mass: [m], m: 1 kg}}\n  belt: {line}\n"


UNKNOWN_MODE = RULES.rule(
    "D480",
    "no such mode",
    meaning="A mode was named that the element does not have.",
    why="each kind with modes has its own words for them: a switch is open or closed, dry friction sticks or slips",
    example=_chopper("{switch: [a, b], start: shut}"),
    instead=_chopper("{switch: [a, b], start: closed}"),
)
TWO_COMMANDS = RULES.rule(
    "D481",
    "settings that exclude each other",
    meaning="An element with modes is given two settings of which only one can hold.",
    why="a switch follows its control or its schedule, a stop is elastic or rigid",
    example=_chopper("{switch: [a, b], control: 'sin(t)', closed: [1 s, 2 s]}"),
    instead=_chopper("{switch: [a, b], closed: [1 s, 2 s]}"),
)
BAD_SCHEDULE = RULES.rule(
    "D482",
    "schedule that goes backwards",
    meaning="The times of a schedule do not rise.",
    why="a switch closes at the first time, opens at the second, and so on",
    example=_chopper("{switch: [a, b], closed: [2 s, 1 s]}"),
    instead=_chopper("{switch: [a, b], closed: [1 s, 2 s]}"),
)
GAP_STAYS = RULES.rule(
    "D483",
    "gap that cannot close",
    meaning="The gap of a stop depends on no displacement.",
    why="a stop pushes back while its gap is closed, so the gap must change with the motion",
    example=_stopped("{hard stop: [m, frame], gap: 0.1 m, K: 1e6 N/m}"),
    instead=_stopped("{hard stop: [m, frame], gap: 0.1 m - x, K: 1e6 N/m}"),
)
NO_CONTACT = RULES.rule(
    "D484",
    "stop without a law of contact",
    meaning="A stop has neither a stiffness nor a coefficient of restitution.",
    why="it must be said what happens at contact: an elastic force, or an impact of rigid bodies",
    example=_stopped("{hard stop: [m, frame], gap: 0.1 m - x}"),
    instead=_stopped("{hard stop: [m, frame], gap: 0.1 m - x, restitution: 0.5}"),
)
WRONG_SIZE = RULES.rule(
    "D485",
    "value that an element with modes cannot have",
    meaning="A setting is negative, a restitution is above 1, or friction breaks away below its sliding force.",
    why="friction and diodes take power and never bring it, an impact returns at most the speed it met",
    example=_sliding("{dry friction: [m, frame], F_c: 5 N, F_s: 3 N}"),
    instead=_sliding("{dry friction: [m, frame], F_c: 5 N, F_s: 7 N}"),
)
