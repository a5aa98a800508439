"""The rules that a POG_Modeler netlist keeps (codes D200 to D249); examples here are netlists."""

from tellegen.core.errors import Rulebook


def _charging(
    source: str = "eV, 1, 0, En, V_a=10",
    resistor: str = "eR, 1, 2, Kn, R_a=20",
    capacitor: str = "eC, 2, 0, Kn, C_1=0.003, En, V_1=3",
    more: str = "",
) -> str:
    """A source that charges a capacitor through a resistor, with one line exchanged."""
    return "".join(f"{line}\n" for line in (source, resistor, capacitor, more) if line)


def _motor(block: str = "CB, [2; 3], [0; b], Kn, F2=K_m*F1", load: str = "rJ, 3, b, Kn, J_m, En, w_1") -> str:
    """A motor with a flywheel, the connection block or the load exchanged."""
    return "".join(f"{line}\n" for line in ("eV, 1, 0, En, V_a", "eR, 1, 2, Kn, R_a", block, load) if line)


RULES = Rulebook("D", _charging())

# The file as a whole

CANNOT_READ = RULES.rule(
    "D200",
    "the netlist cannot be read",
    meaning="There is no such file, it is a folder or a device, or it may not be opened.",
    why="a netlist is read from an ordinary file",
)
NOT_TEXT = RULES.rule(
    "D201",
    "the netlist is not a text",
    meaning="The file holds control characters, as programs, pictures and archives do.",
    why="a netlist is a plain text, one line an element",
)
TOO_LARGE = RULES.rule(
    "D202",
    "the netlist is too large",
    meaning="The file has more than 64 MiB or more than five million lines.",
    why="a wrong file must not exhaust the memory",
)
LINE_TOO_LONG = RULES.rule(
    "D203",
    "the line is too long",
    meaning="A line has more than 10 000 characters, or one option of it more than 1 000.",
    why="no element has that many options: line ends were lost, or this is no netlist",
)
EMPTY = RULES.rule(
    "D204",
    "no element",
    meaning="There is no line of an element in the netlist, only options, connections, comments or nothing.",
    why="there is no system to read",
    example="**, Gr, Si\n",
)

# Lines

UNKNOWN_CODE = RULES.rule(
    "D205",
    "unknown code",
    meaning="A line starts with something else than the code of an element, `CB`, `--`, `*P`, `**` or `%`.",
    why="the first field says what the line describes",
    example=_charging(resistor="eS, 1, 2, Kn, R_a"),
)
UNDEFINED_GENERATOR = RULES.rule(
    "D206",
    "a generator that is undefined",
    meaning="The codes eU, mU, rU, iU draw a port whose generator is left open.",
    why="somebody must impose one of the two power variables, and equations differ by which",
    example=_charging(source="eU, 1, 0, En, V_a"),
)
MISSING_POINT = RULES.rule(
    "D207",
    "missing points",
    meaning="A line has fewer than two points.",
    why="a branch lies between two points: its across variable is the difference between them",
    example=_charging(resistor="eR, 1"),
)
ODD_FIELDS = RULES.rule(
    "D208",
    "an option without a value",
    meaning="The fields after the points do not come in pairs `Par, Val`.",
    why="each option is followed by its value; with one field too few or too many all that follow are misread",
    example=_charging(resistor="eR, 1, 2, Kn, R_a, An"),
    instead=_charging(resistor="eR, 1, 2, Kn, R_a, An, -90"),
)
BRACKETS = RULES.rule(
    "D209",
    "brackets that do not match",
    meaning="A bracket is opened and not closed in its line, or closed and not opened.",
    why="a comma inside brackets does not part fields, so the fields cannot be told apart",
    example=_motor("CB, [2; 3, [0; b], Kn, F2=K_m*F1"),
    instead=_motor(),
)
BAD_POINT = RULES.rule(
    "D210",
    "not a point",
    meaning="The label of a point has other characters than letters, digits and underscores.",
    why="a point is found again by its label; a label that holds other signs is a field out of place",
    example=_charging(resistor="eR, 1, En=V, Kn, R_a").replace("En=V", "2?"),
)
SHORTED = RULES.rule(
    "D211",
    "shorted element",
    meaning="Both ends of a branch are the same point, directly or through `--` lines.",
    why="its across variable is zero whatever happens: no power passes, and a source would contradict it",
    example=_charging(more="eR, 2, a, Kn, R_b\n--, a, 2"),
    instead=_charging(more="eR, 2, a, Kn, R_b\n--, a, 0"),
)
BAD_LABEL = RULES.rule(
    "D212",
    "not a name",
    meaning="A name after Kn, En or Fn cannot be carried into equations and code.",
    why="a name is a letter, then letters, digits and underscores; only braces and backslashes of LaTeX are taken away",
    example=_charging(resistor="eR, 1, 2, Kn, 20"),
    instead=_charging(resistor="eR, 1, 2, Kn, R_a=20"),
)
BAD_VALUE = RULES.rule(
    "D213",
    "not a number",
    meaning="What stands after `=` is not a finite number, nor arithmetic of numbers such as `3*1e-3` or `sqrt(2)`.",
    why="reading a netlist computes numbers and never runs code; other names have no value here",
    example=_charging(resistor="eR, 1, 2, Kn, R_a=abc"),
    instead=_charging(resistor="eR, 1, 2, Kn, R_a=2*1e3"),
)
OPTION_TWICE = RULES.rule(
    "D214",
    "an option stands twice",
    meaning="One line names the same variable or parameter twice, or says twice what decides its sign.",
    why="only one of the two could count, and the other would be lost without a word",
    example=_charging(resistor="eR, 1, 2, Kn, R_a, Kn, R_b"),
)
BAD_PIN = RULES.rule(
    "D215",
    "neither 1 nor -1",
    meaning="The value of Pin is not 1 (power enters the element) or -1 (power leaves it).",
    why="a sign has two values",
    example=_charging(source="eV, 1, 0, En, V_a, Pin, 2"),
    instead=_charging(source="eV, 1, 0, En, V_a, Pin, -1"),
)
BAD_OUT = RULES.rule(
    "D216",
    "unknown output variable",
    meaning="The value of Out is not Effort (the across variable), Flow (the through variable) or Vuoto (no demand).",
    why="an element decides one of its two power variables",
    example=_charging(resistor="eR, 1, 2, Kn, R_a, Out, Both"),
    instead=_charging(resistor="eR, 1, 2, Kn, R_a, Out, Flow"),
)
TWO_VALUES = RULES.rule(
    "D217",
    "one parameter, two values",
    meaning="Two elements name the same parameter and give it different values.",
    why="a parameter is one number; two elements that share its name share its value",
    example=_charging(more="eR, 2, 0, Kn, R_a=30"),
    instead=_charging(more="eR, 2, 0, Kn, R_b=30"),
)
BAD_PAIR = RULES.rule(
    "D218",
    "not a pair in brackets",
    meaning="Points and names of a connection block come in pairs `[first; second]`, one for each side.",
    why="a connection block has two branches: the first goes from the first top point to the first bottom point",
    example=_motor("CB, 2, 0, Kn, F2=K_m*F1"),
    instead=_motor(),
)
BAD_RELATION = RULES.rule(
    "D219",
    "a connection that is no connection",
    meaning="The relation of a connection block is not like `F2=K*F1`, with a variable of each side and a modulus.",
    why="a connection passes on the power, E1*F1 = E2*F2, so one positive modulus gives both relations",
    example=_motor("CB, [2; 3], [0; b], Kn, F2=-K_m*F1"),
    instead=_motor("CB, [2; b], [0; 3], Kn, F2=K_m*F1"),
)
NO_DOMAIN = RULES.rule(
    "D220",
    "a side without a domain",
    meaning="A side of a connection block meets no element, only other connection blocks or nothing.",
    why="only the elements at a point say which domain it belongs to: the block itself may join any two",
    example=_motor(load=""),
    instead=_motor(),
)
BAD_PLACEMENT = RULES.rule(
    "D221",
    "not a placement",
    meaning="A field of a `*P` line is not `point=(x+y*1i)`.",
    why="the line gives points their positions in the drawing",
    example=_charging(more="*P, 1"),
    instead=_charging(more="*P, 1=(0+1*1i)"),
)

# Notices

UNKNOWN_OPTION = RULES.rule(
    "D230",
    "unknown option",
    meaning="The help of POG_Modeler does not list this option. It is kept and has no effect.",
    why="an option that is skipped in silence could be a slip of the pen",
    example="**, Grr, Si\n" + _charging(),
    instead="**, Gr, Si\n" + _charging(),
    severity="notice",
)
RENAMED = RULES.rule(
    "D231",
    "a name in LaTeX",
    meaning="Braces, backslashes or leading underscores were taken from a name.",
    why="a name is a letter, then letters, digits and single underscores, so that it can stand in equations and code",
    example=_charging(resistor="eR, 1, 2, Kn, R_{a}=20"),
    severity="notice",
)
SUFFIXED = RULES.rule(
    "D232",
    "one name, two things",
    meaning="A name stands for different things; the later one got a number.",
    why="equations tell variables apart by their names; inputs and storages have the first right to a name",
    example=_charging(resistor="eR, 1, 2, Kn, R_a=20, En, V_a"),
    instead=_charging(resistor="eR, 1, 2, Kn, R_a=20, En, V_R"),
    severity="notice",
)
VALUE_IGNORED = RULES.rule(
    "D233",
    "a value without effect",
    meaning="A value is given to a variable that follows from others.",
    why="an initial value belongs to the variable that a storage keeps, an input to the one that a source imposes",
    example=_charging(resistor="eR, 1, 2, Kn, R_a=20, En, V_R=3"),
    severity="notice",
)
OUTPUT_SIGN = RULES.rule(
    "D234",
    "output of the other sign",
    meaning="A source has Pin, 1. Its input keeps its sign, its output has the other sign than POG_Modeler's.",
    why="outputs are counted so that output times input is the power that the source supplies, for every source alike",
    example=_charging(source="eV, 1, 0, En, V_a=10, Pin, 1"),
    severity="notice",
)
REVERSED = RULES.rule(
    "D235",
    "power that leaves a passive element",
    meaning="Pin, -1 stands on a storage or a resistive element: one of its two power variables is turned round.",
    why="power is counted positive into storages and resistive elements, for every element alike",
    example=_charging(resistor="eR, 1, 2, Kn, R_a=20, Pin, -1"),
    severity="notice",
)
SHARED_PARAMETER = RULES.rule(
    "D236",
    "elements that share a parameter",
    meaning="Several elements name the same parameter. They share its value; the later ones got a number as elements.",
    why="equations and results tell elements apart by their names",
    example=_charging(more="eR, 2, 0, Kn, R_a"),
    instead=_charging(more="eR, 2, 0, Kn, R_b"),
    severity="notice",
)
SELF_CONNECTION = RULES.rule(
    "D237",
    "a connection of a point with itself",
    meaning="Both points of a `--` line are the same.",
    why="it joins nothing; perhaps another point was meant",
    example=_charging(more="--, 2, 2"),
    severity="notice",
)
POINT_RENAMED = RULES.rule(
    "D238",
    "a point with the name of a reference",
    meaning="A point is called gnd, frame, tank or ambient and is not of that domain; it got a number.",
    why="points of a netlist have no meaning of their own, while those words are the references of their domains",
    example=_charging().replace(" 0,", " tank,"),
    severity="notice",
)
NO_EFFECT = RULES.rule(
    "D239",
    "an option without effect",
    meaning="An option stands on a line that it says nothing about, such as a parameter on a source.",
    why="a source follows its input and has no parameter, and the variable that it decides is fixed",
    example=_charging(source="eV, 1, 0, En, V_a=10, Kn, K_a"),
    severity="notice",
)
OLD_ENCODING = RULES.rule(
    "D240",
    "a text in an old encoding",
    meaning="The file is not UTF-8; it was read as Western European text (Windows-1252).",
    why="accents in comments are often saved so, and they change nothing in the model",
    severity="notice",
)
