"""The page of what is read of files of other tools, made from the tables that their readers use."""

from collections.abc import Callable, Iterable

from tellegen.importing.bond_graph_tools import JUNCTIONS, KINDS
from tellegen.importing.spice.deck import ANALYSES, DROPPED
from tellegen.importing.spice.reading import CARDS, REFUSED
from tellegen.importing.spice.values import REFUSED_SHAPES, SHAPES
from tellegen.importing.twenty_sim.laws import DOMAINS
from tellegen.notations.loading import FOREIGN

Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]

COMMANDS = (
    ("`.tran STEP STOP [uic]`", "`until`; without `uic` also `start: steady`, the operating point of SPICE"),
    ("`.ic V(a)=5`", "`initial` of the capacitors between `a` and the ground"),
    (
        "`.param`, `{...}`, `'...'`",
        "parameters with their formulas; a number keeps its digits and its prefix: `100n` is `100 nF`",
    ),
    (
        "`.subckt`, `.ends`, `X`",
        "a part in a file of its own, with ports and parameters; several where ports meet in different ways",
    ),
    (
        "`.model`",
        "the values of diodes (`D`), switches (`SW`, `CSW`) and transistors (`NPN`, `PNP`, `NMOS`, `PMOS`), "
        "before or after their use",
    ),
    ("`.func f(x) {...}`, `.param f(x)=...`", "written out where it is used"),
    (
        "`.if`, `.elseif`, `.else`, `.endif`",
        "the cards count whose condition holds; parameters of the deck itself decide",
    ),
    ("`.include`, `.lib`", "read where the file lies in the folder of the deck"),
    ("`.global`", "nodes that subcircuits share get a port"),
    ("`.print`, `.plot`, `.save`, `.probe`", "`outputs`: voltages of nodes, as signals, and currents of elements"),
    (
        "title, `*`, `;`, `$`, `//`, `+`, `.control`",
        "the system; comments and programs of the shell dropped; lines joined; capitals count in no name",
    ),
)
"""What becomes of the commands of a deck."""

SHAPE_WORDS = {"pulse": "trapezoid(...)", "sin": "sine(...), or a formula", "exp": "a formula", "pwl": "table(...)"}
SHAPE_WORDS |= dict.fromkeys(("sffm", "am"), "a formula")
COMPONENT_WORDS = {
    "0": "0-junction",
    "1": "1-junction",
    "port": "a port, or a junction of two bonds inside",
    "R": "R",
    "C": "C",
    "I": "I",
}


def imported_page(head: str, table: Table) -> str:
    """What of each kind of file is read."""
    commands = [command for command in DROPPED if command not in (".print", ".plot", ".save", ".probe", ".end")]
    parts = [
        head,
        "# Files of other tools",
        "[How to import](../howto/import.md) tells what to do with them, and who checked what.",
        table(("ending", "what it is"), [(f"`{ending}`", word) for ending, word in FOREIGN.items()]),
        "## SPICE: elements",
        table(
            ("card", "becomes", "told and left out"),
            [(card.form, card.becomes, card.left_out) for card in CARDS.values()],
        ),
        "Refused, all of them in one answer: "
        + "; ".join(f"`{letter.upper()}` ({what})" for letter, what in REFUSED.items())
        + "; and `LAPLACE` of controlled sources.",
        "## SPICE: commands",
        table(("command", "becomes"), COMMANDS),
        f"Told and left out: {_listed(ANALYSES)}.",
        f"Dropped, because they say nothing about the circuit: {_listed(commands)}. All others are refused.",
        "## SPICE: courses of sources",
        table(("in the deck", "in the model"), [(f"`{shape.upper()}`", f"`{SHAPE_WORDS[shape]}`") for shape in SHAPES]),
        f"Refused: {_listed(word.upper() for word in REFUSED_SHAPES)}. `AC` says nothing about a run over time and is left out.",
        "## 20-sim: domains of ports",
        table(
            ("port", "domain", "effort", "flow"),
            [
                (f"`{word}`", found.name or "told by `--domain-of`", _listed(found.effort), _listed(found.flow))
                for word, found in DOMAINS.items()
            ],
        ),
        "Equations decide what a submodel is, not its name in a library: `p.e = r*p.f` is an R, `state = int(p.f); p.e =\n"
        "state/c` a C, `p.u = L*ddt(p.i)` an I, an effort without a port variable a source. Two ports that keep their power\n"
        "are a TF or a GY, modulated where they read a signal. Components with signal ports alone become formulas and\n"
        "integrals. Matrices, `code`, `dll`, `if` and sampled blocks are refused by name.",
        "## BondGraphTools: components",
        table(
            ("component", "becomes", "parameters with their defaults"),
            [
                (
                    f"`{word}`",
                    COMPONENT_WORDS.get(kind.letters, kind.letters),
                    ", ".join(f"`{key}={value}`" if value else f"`{key}`" for key, value in kind.parameters),
                )
                for word, kind in KINDS.items()
            ],
        ),
        f"Junctions ({_listed(JUNCTIONS)}) and all else are of the electrical domain. `base/PH`, `elec/BJT` and the components of\n"
        "`biochem` are refused by name.",
    ]
    return "\n\n".join(parts) + "\n"


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
