"""The rules of runs through several modes (codes S130 to S139)."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("S")

NO_MODE = RULES.rule(
    "S130",
    "no mode that agrees with itself",
    meaning="At an instant every combination of modes would be left again at once, or cannot be.",
    why="ideal elements leave no way for what must flow, or command each other",
)
CHATTERING = RULES.rule(
    "S131",
    "chattering",
    meaning="Modes changed, or formulas jumped, again and again: a hundred times within a billionth of the run while nothing moved by more "
    "than its tolerance (with 'cvode' and 'ida' thousands of times, however long it took), or ever faster, so that their number doubled "
    "in equal times and would pass a billion before the end.",
    why="two modes send each other back: the motion stays on the border between them, which neither of them describes",
)
