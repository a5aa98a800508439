"""What the studio refuses: files that it must not touch, gestures that no edit can follow."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("D")

OUTSIDE = RULES.rule(
    "D720",
    "file outside the folder",
    meaning="The studio was asked for a file that does not lie in the folder that it serves, or that a link leads out of.",
    why="a page in a browser may touch the folder that it was opened for, and nothing else of the machine",
)
NO_MODEL_FILE = RULES.rule(
    "D721",
    "no model file",
    meaning="The studio was asked for a file that is no model file: its name does not end in .yaml or .yml, or it is not there.",
    why="the studio opens, makes and writes model files only",
)
NOT_TO_BE_EDITED = RULES.rule(
    "D722",
    "file that cannot be edited",
    meaning="The file can be looked at but not written back as it was: it is read-only, too large, or has line ends of several kinds.",
    why="an edit must leave everything else in a file as it is",
)
NO_SUCH_GESTURE = RULES.rule(
    "D723",
    "no such gesture",
    meaning="A gesture was asked for that does not exist, or without what it needs.",
    why="figures are edited by gestures that the studio knows, each of which is an edit of the text",
)
GESTURE_DOES_NOT_FIT = RULES.rule(
    "D724",
    "gesture that does not fit",
    meaning="What a gesture would change is not written in this file, or not in a way that it can change.",
    why="a figure also shows what comes from parts, repeated lines and the ladder of a POG; these are edited as text",
)
NO_CLIENT = RULES.rule(
    "D725",
    "studio without its pages",
    meaning="The pages of the studio are not in this installation: a checkout builds them with Node.",
    why="the pages are written in TypeScript and built once; wheels carry them built",
)
TOOK_TOO_LONG = RULES.rule(
    "D726",
    "work that took too long",
    meaning="A view or a run of the studio was ended because it took more time or memory than one request may.",
    why="one model must not stop the others, nor the machine",
)
PORT_TAKEN = RULES.rule(
    "D727",
    "port that is taken",
    meaning="The studio cannot listen at the port that it was asked for.",
    why="one port of a machine belongs to one program",
)
FULL_FOLDER = RULES.rule(
    "D728",
    "folder that is full",
    meaning="A new model was asked for in a folder that has as many as the studio lists.",
    why="a page that makes one file after the other, by mistake or by malice, must not fill the disk",
)
SNAPSHOT = RULES.rule(
    "D729",
    "snapshot that cannot be",
    meaning="A snapshot was asked for under a name that no file can have, that is not there, or beside too many others.",
    why="snapshots are files beside the model, in the folder '.tellegen', each under its name",
)
