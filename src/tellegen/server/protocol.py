"""What the studio and its pages say to each other: one JSON object a message, its `kind` the name of a class below in lower case.

The types of the pages are made from these classes: `python tools/studio_types.py` writes `studio/src/protocol.ts`. Arrays of
numbers follow their message in the same binary frame.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, final, get_args

from tellegen.scenes.writers.scene_json import from_record

View = Literal["network", "bond", "pog", "mechanism", "equations", "steps", "text"]
"""What a pane can show."""
Theme = Literal["colour", "dark"]
Severity = Literal["error", "warning", "notice"]

# -- From a page -------------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class Open:
    """Show a file, or `example:<name>`. Who was there before says which text it still has, and from which life of the server."""

    file: str
    epoch: str = ""
    version: int = 0
    text: str = ""


@final
@dataclass(frozen=True, slots=True)
class New:
    """Begin a new model under a free name, as a network or as a bond graph."""

    name: str = "model"
    notation: Literal["network", "bond graph"] = "network"


@final
@dataclass(frozen=True, slots=True)
class Take:
    """Take over a file that was dragged into the page: a model, or a file of another tool that is imported."""

    id: int
    file: str
    text: str


@final
@dataclass(frozen=True, slots=True)
class Update:
    """One change of the text, in sections of CodeMirror, and the client that made it."""

    changes: tuple[object, ...]
    client: str


@final
@dataclass(frozen=True, slots=True)
class Push:
    """Changes that somebody typed, for a version of the text."""

    version: int
    updates: tuple[Update, ...]


@final
@dataclass(frozen=True, slots=True)
class Gesture:
    """An edit by its name, with what it needs."""

    id: int
    name: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Undo:
    """Take the last step back."""


@final
@dataclass(frozen=True, slots=True)
class Redo:
    """Do it again."""


@final
@dataclass(frozen=True, slots=True)
class Show:
    """Which views are on the screen, and in which colours."""

    views: tuple[View, ...]
    theme: Theme = "colour"


@final
@dataclass(frozen=True, slots=True)
class Simulate:
    """Run the model; `parameters` are values beside the text, of a slider that is still held. `live` says that it is."""

    id: int
    parameters: Mapping[str, str] = field(default_factory=dict)
    live: bool = False


@final
@dataclass(frozen=True, slots=True)
class Cancel:
    """End a run, and keep what is finished."""

    id: int


@final
@dataclass(frozen=True, slots=True)
class Refine:
    """A stretch of time of an earlier run, as fine as a screen shows it."""

    id: int
    run: int
    variables: tuple[str, ...]
    begin: float
    end: float


@final
@dataclass(frozen=True, slots=True)
class Snapshot:
    """Keep the text as it is under a name, take it back, or forget it; `list` only asks which there are."""

    id: int
    act: Literal["list", "keep", "restore", "forget"]
    name: str = ""


@final
@dataclass(frozen=True, slots=True)
class Flow:
    """The power and the energies of a run over time, laid over a figure."""

    id: int
    view: View
    frames: int = 60


@final
@dataclass(frozen=True, slots=True)
class PreviewLimit:
    """What a limit would make of the model; the gesture `limit` takes it."""

    id: int
    limits: Mapping[str, str]


@final
@dataclass(frozen=True, slots=True)
class CompareForms:
    """The forms that treat dependent storages, each run; the gesture `condition` takes one."""

    id: int


@final
@dataclass(frozen=True, slots=True)
class Export:
    """A file of a figure, of equations, of the run, of the model in another language, or of everything.

    Figures have the colours of `theme`, with the powers of the time `at` where one is given; curves are those of `variables`.
    """

    id: int
    what: str
    format: str
    theme: Literal["colour", "dark", "mono"] = "colour"
    variables: tuple[str, ...] = ()
    at: str = ""


FromPage = (
    Open
    | New
    | Take
    | Push
    | Gesture
    | Undo
    | Redo
    | Show
    | Simulate
    | Cancel
    | Refine
    | Snapshot
    | Flow
    | PreviewLimit
    | CompareForms
    | Export
)

# -- To a page ---------------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class ModelCard:
    """A model that can be opened: a file, or an example."""

    file: str
    title: str
    about: str


@final
@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """A kind of element: its word, where it belongs, its parameter with the unit, how many nodes it joins, and what else its line
    may say: keys with what they mean.
    """

    word: str
    group: str
    summary: str
    key: str
    unit: str
    terminals: int
    domains: tuple[str, ...]
    symbol: str
    settings: Mapping[str, str] = field(default_factory=dict)


@final
@dataclass(frozen=True, slots=True)
class Hello:
    """What there is when a page comes: files, examples, kinds, the schema of files."""

    version: str
    folder: str
    file: str
    files: tuple[ModelCard, ...]
    examples: tuple[ModelCard, ...]
    palette: tuple[PaletteEntry, ...]
    schema: Mapping[str, object]


@final
@dataclass(frozen=True, slots=True)
class Opened:
    """The text of a file. `changes` lead there from the text that the page had, if it had one."""

    file: str
    epoch: str
    version: int
    text: str
    refusal: str
    is_new: bool
    changes: tuple[object, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class Updates:
    """Changes of the text, with what they were."""

    version: int
    updates: tuple[Update, ...]
    label: str
    cause: str


@final
@dataclass(frozen=True, slots=True)
class Rebase:
    """Changes were for an earlier version: they are to be sent again."""

    version: int


@final
@dataclass(frozen=True, slots=True)
class UndoState:
    """What undo and redo would do, and whether the file has been written."""

    undo: str
    redo: str
    saved: str
    refusal: str


@final
@dataclass(frozen=True, slots=True)
class Remedy:
    """What a button beside a finding does: a gesture."""

    label: str
    name: str
    arguments: Mapping[str, object]


@final
@dataclass(frozen=True, slots=True)
class FindingLine:
    """A finding with its place in the text: lines and columns count from 1, 0 where it has none; and the elements it speaks of.

    `follows` names an entry of the text that is wrong itself: mended there, this finding is gone.
    """

    code: str
    severity: Severity
    what: str
    why: str
    fix: str
    line: int
    column: int
    length: int
    members: tuple[str, ...]
    elements: tuple[str, ...]
    follows: str
    remedies: tuple[Remedy, ...]


@final
@dataclass(frozen=True, slots=True)
class ElementFacts:
    """An element: its kind, its domain, its nodes, what the text says of it, and its parameters."""

    name: str
    kind: str
    domain: str
    nodes: tuple[str, ...]
    settings: Mapping[str, str]
    parameters: tuple[str, ...]
    variables: tuple[str, ...]
    own: bool


@final
@dataclass(frozen=True, slots=True)
class ParameterFacts:
    """A parameter: its text, its number and unit where it is a plain value, its name as a formula, and who uses it.

    `path` leads to its text in the file: among the parameters, or in the line of the element that it belongs to. `limits` says that
    it can be taken to zero or to infinity, `span` how far a slider goes that begins at 0, and `moved_by` the
    parameters with a number of their own that a formula follows.
    """

    name: str
    text: str
    number: float
    unit: str
    shown_unit: str
    plain: bool
    own: bool
    path: tuple[str, ...]
    mathml: str
    elements: tuple[str, ...]
    limits: bool
    span: float
    moved_by: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class ViewPicture:
    """A view as SVG, as lines of MathML, or as plain text; or why there is none. `places` are the centres of what can be moved."""

    view: View
    svg: str = ""
    places: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    text: str = ""
    reason: str = ""


@final
@dataclass(frozen=True, slots=True)
class ViewDrawn:
    """A view of a version of the text; views come one by one, as they are ready."""

    version: int
    picture: ViewPicture


@final
@dataclass(frozen=True, slots=True)
class Structure:
    """What a version of the text says: findings, elements and parameters. Its views follow."""

    version: int
    ok: bool
    name: str
    about: str
    notation: str
    rows: Mapping[str, str]
    findings: tuple[FindingLine, ...]
    elements: tuple[ElementFacts, ...]
    parameters: tuple[ParameterFacts, ...]
    nodes: tuple[str, ...]
    states: tuple[str, ...]
    links: Mapping[str, tuple[str, ...]]
    until: str
    inputs: Mapping[str, str]
    seconds: float


@final
@dataclass(frozen=True, slots=True)
class RunCurve:
    """A variable of a run: its unit, how its name is written, the elements that it belongs to, and of which sort it is."""

    name: str
    unit: str
    factor: float
    shown_unit: str
    mathml: str
    elements: tuple[str, ...]
    sort: str


@final
@dataclass(frozen=True, slots=True)
class PoleLine:
    """A pole, with what it means."""

    real: float
    imaginary: float
    frequency: float
    damping: float


@final
@dataclass(frozen=True, slots=True)
class Channel:
    """A channel from an input to an output; its gain in dB and its phase follow the frequencies in the numbers."""

    output: str
    input: str


@final
@dataclass(frozen=True, slots=True)
class RunDone:
    """A run. The numbers in the frame: times, then a row for each curve; then frequencies, then gain and phase by channel.

    `left_out` says why the powers and energies of the elements are not among the curves, and `suits` another end, where the motion
    is over long before this one or has hardly begun.
    """

    id: int
    version: int
    live: bool
    status: str
    finding: str
    solver: str
    seconds: float
    rows: int
    points: int
    parameters: Mapping[str, str]
    curves: tuple[RunCurve, ...]
    left_out: str
    shown: tuple[str, ...]
    final: Mapping[str, float]
    books: Mapping[str, float]
    poles: tuple[PoleLine, ...]
    suits: str
    channels: tuple[Channel, ...]
    frequencies: int


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: its time, and where it ends."""

    id: int
    reached: float
    until: float


@final
@dataclass(frozen=True, slots=True)
class RefineDone:
    """A stretch of a run: in the numbers its times, then a row for each of the variables that it has."""

    id: int
    run: int
    begin: float
    end: float
    points: int
    variables: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class SnapshotLine:
    """A text that was kept: its name, when, and the lines in which it differs from the present one, as `diff` writes them."""

    name: str
    at: str
    changes: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class SnapshotsDone:
    """The texts that were kept of this file, the latest first."""

    id: int
    snapshots: tuple[SnapshotLine, ...]


@final
@dataclass(frozen=True, slots=True)
class FlowDone:
    """A figure of a run: what stands still, and what is over it at each time."""

    id: int
    view: View
    svg: str
    frames: tuple[str, ...]
    times: tuple[float, ...]


@final
@dataclass(frozen=True, slots=True)
class LimitDone:
    """What a limit did or would do: the steps as a figure, states before and after, how far the curves are apart."""

    id: int
    limits: Mapping[str, str]
    svg: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    removed: tuple[str, ...]
    poles: tuple[str, ...]
    loss: tuple[tuple[str, str], ...]
    note: str


@final
@dataclass(frozen=True, slots=True)
class FormLine:
    """One form of the dependent storages: its equations, what a run of it cost, and how far it is from the most accurate one."""

    form: str
    suits: str
    solver: str
    seconds: float
    steps: int
    states: int
    excess: int
    relative: float
    forces: float
    violation: float
    energy: float
    text: str


@final
@dataclass(frozen=True, slots=True)
class FormsDone:
    """The forms side by side; `refused` tells why others are not there."""

    id: int
    reference: str
    forms: tuple[FormLine, ...]
    refused: tuple[tuple[str, str], ...]


@final
@dataclass(frozen=True, slots=True)
class ExportDone:
    """A file; its bytes are in the frame."""

    id: int
    file: str
    media: str


@final
@dataclass(frozen=True, slots=True)
class Did:
    """A gesture was made; `note` says what is worth knowing, `selected` what it made."""

    id: int
    note: str
    selected: str


@final
@dataclass(frozen=True, slots=True)
class Failed:
    """What was asked for cannot be had: what, why, and what to do."""

    id: int
    code: str
    what: str
    why: str
    fix: str


ToPage = (
    Hello
    | Opened
    | Updates
    | Rebase
    | UndoState
    | Structure
    | ViewDrawn
    | RunDone
    | Progress
    | RefineDone
    | SnapshotsDone
    | FlowDone
    | LimitDone
    | FormsDone
    | ExportDone
    | Did
    | Failed
)

_ASKED: Mapping[str, type] = {kind.__name__.lower(): kind for kind in get_args(FromPage)}


def read_message(record: object) -> FromPage:
    """What a page says.

    Raises: ValueError, TypeError or KeyError where it says something else.
    """
    if not isinstance(record, dict) or record.get("kind") not in _ASKED:
        raise ValueError("no message of the studio")
    found: FromPage = from_record({k: v for k, v in record.items() if k != "kind"}, _ASKED[record["kind"]])
    return found


def to_record(message: ToPage) -> dict[str, Any]:
    """What a page is told, as JSON has it."""
    return {"kind": type(message).__name__.lower(), **asdict(message)}
