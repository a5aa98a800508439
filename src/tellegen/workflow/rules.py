"""What can be wrong with the words of a call: forms, notations, operating points, codes and files."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

WOULD_OVERWRITE = RULES.rule(
    "D302",
    "file that exists already",
    meaning="The file to be written is there already.",
    why="what is in it would be lost",
)

NO_SUCH_FORM = RULES.rule(
    "D303",
    "no such form",
    meaning="Equations were asked for in a form that does not exist.",
    why="the forms are pog (L x' = -A x + B u), ph (port-Hamiltonian), lagrange, dae (descriptor form) and tf (transfer matrix)",
)

NO_SUCH_NOTATION = RULES.rule(
    "D486",
    "no such notation",
    meaning="A model was to be translated into a notation that does not exist.",
    why="a model file has one of three: network (elements between nodes), bond (a bond graph) and pog (a Power-Oriented Graph)",
)

NOTHING_TO_IMPORT = RULES.rule(
    "D304",
    "nothing to import",
    meaning="The file to be imported is a model file already.",
    why="import turns files of other tools into model files",
)

NO_SUCH_VARIABLE = RULES.rule(
    "D305",
    "no such variable",
    meaning="An operating point gives a value to something that is neither a state nor an input.",
    why="an operating point is made of states and inputs",
)

NO_SUCH_CODE = RULES.rule(
    "D306",
    "no such code",
    meaning="A code was to be explained that no rule has.",
    why="each code is a letter for the layer and three digits, and it stands in the message that it belongs to",
)
