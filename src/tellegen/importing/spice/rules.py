"""The rules that a SPICE deck keeps; examples here are decks."""

from tellegen.core.errors import Rulebook


def _rc(resistor: str = "R1 in out 1k", more: str = "", capacitor: str = "C1 out 0 100n") -> str:
    """A source that charges a capacitor, with one line exchanged."""
    lines = ("RC low pass", "V1 in 0 PULSE(0 5 0 1u 1u 1m 2m)", resistor, capacitor, more, ".tran 1u 4m", ".end")
    return "".join(f"{line}\n" for line in lines if line)


_DIODE = "D1 out 0 DX\n.model DX D(IS=1e-12)"
_HALVES = ".subckt half a b\nR1 a b {r}\n.ends\nX1 in out half\n"

RULES = Rulebook("D", _rc())

NOT_READ = RULES.rule(
    "D307",
    "card that is not read",
    meaning="The deck has elements, sources or commands that there is nothing for here. All of them are told in one answer.",
    why="a circuit without one of its elements is another circuit",
    example=_rc("J1 in b out JX\nR1 in out 1k"),
    instead=_rc(),
)
LEFT_OUT = RULES.rule(
    "D308",
    "left out of a deck",
    meaning="Something of a card is not in the model: an analysis, what temperatures do, the charge of a channel, the hysteresis of a switch.",
    why="the rest of the card says what is meant without it, but results may differ",
    example=_rc(more="D1 out 0 DX\n.model DX D(IS=1e-12 CJSW=10p)"),
    instead=_rc(more=_DIODE),
    severity="warning",
)
BAD_CARD = RULES.rule(
    "D313",
    "card that makes no sense",
    meaning="A card has too few words, a word that is no number, a name that another card has already, or an end without a beginning.",
    why="each card has its own order of nodes, names and values",
    example=_rc("R1 in out"),
)
UNKNOWN_NAME = RULES.rule(
    "D314",
    "name that the deck does not define",
    meaning="A card uses a model, a subcircuit, a parameter, a coil or a source that is nowhere in the deck.",
    why="nothing sensible can be assumed in its place",
    example=_rc("R1 in out {r1}"),
    instead=_rc("R1 in out {r1}", more=".param r1=1k"),
)
GOES_ROUND = RULES.rule(
    "D315",
    "deck that contains itself",
    meaning="A subcircuit uses itself, or a file includes itself, by way of others or at once.",
    why="the circuit would have no end",
    example=_rc("X1 in out loop", more=".subckt loop a b\nX1 a b loop\n.ends"),
    instead=_rc("X1 in out loop", more=".subckt loop a b\nR1 a b 1k\n.ends"),
)
OUTSIDE = RULES.rule(
    "D316",
    "included file that is not read",
    meaning="A deck includes a file that is not there, is no text, or lies outside the folder of the deck.",
    why="a deck from elsewhere must not read files that it does not own",
    example=_rc(more=".include ../../models.lib"),
)
TOO_LARGE = RULES.rule(
    "D317",
    "deck that is too large",
    meaning="The deck has more lines, levels, files or characters in one card than any circuit that somebody wrote.",
    why="a wrong file must not exhaust the memory",
)
PERFECT = RULES.rule(
    "D318",
    "coils that are coupled perfectly",
    meaning="A coupling factor is one or more, or minus one or less.",
    why="with k = 1 the matrix of the coils is singular: two currents share one flux, so no state belongs to their difference",
    example=_rc(more="L1 out 0 1m\nL2 b 0 1m\nR2 b 0 1k\nK1 L1 L2 1"),
    instead=_rc(more="L1 out 0 1m\nL2 b 0 1m\nR2 b 0 1k\nK1 L1 L2 0.999"),
)
EMPTY = RULES.rule(
    "D319",
    "deck without a circuit",
    meaning="There is no element in the deck; its first line is always its title, whatever it says.",
    why="there is no system to read",
    example="R1 in 0 1k\n.end\n",
)
