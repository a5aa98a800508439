// Made by tools/studio_types.py from src/tellegen/server/protocol.py: change it there.

export type View = "network" | "bond" | "pog" | "mechanism" | "equations" | "steps" | "text";

export type Theme = "colour" | "dark";

export type Severity = "error" | "warning" | "notice";

/** Show a file, or `example:<name>`. Who was there before says which text it still has, and from which life of the server. */
export interface Open {
  kind: "open";
  file: string;
  epoch: string;
  version: number;
  text: string;
}

/** Begin a new model under a free name, as a network or as a bond graph. */
export interface New {
  kind: "new";
  name: string;
  notation: "network" | "bond graph";
}

/** Take over a file that was dragged into the page: a model, or a file of another tool that is imported. */
export interface Take {
  kind: "take";
  id: number;
  file: string;
  text: string;
}

/** One change of the text, in sections of CodeMirror, and the client that made it. */
export interface Update {
  changes: unknown[];
  client: string;
}

/** Changes that somebody typed, for a version of the text. */
export interface Push {
  kind: "push";
  version: number;
  updates: Update[];
}

/** An edit by its name, with what it needs. */
export interface Gesture {
  kind: "gesture";
  id: number;
  name: string;
  arguments: Record<string, unknown>;
}

/** Take the last step back. */
export interface Undo {
  kind: "undo";
}

/** Do it again. */
export interface Redo {
  kind: "redo";
}

/** Which views are on the screen, and in which colours. */
export interface Show {
  kind: "show";
  views: View[];
  theme: Theme;
}

/** Run the model; `parameters` are values beside the text, of a slider that is still held. `live` says that it is. */
export interface Simulate {
  kind: "simulate";
  id: number;
  parameters: Record<string, string>;
  live: boolean;
}

/** End a run, and keep what is finished. */
export interface Cancel {
  kind: "cancel";
  id: number;
}

/** A stretch of time of an earlier run, as fine as a screen shows it. */
export interface Refine {
  kind: "refine";
  id: number;
  run: number;
  variables: string[];
  begin: number;
  end: number;
}

/** Keep the text as it is under a name, take it back, or forget it; `list` only asks which there are. */
export interface Snapshot {
  kind: "snapshot";
  id: number;
  act: "list" | "keep" | "restore" | "forget";
  name: string;
}

/** The power and the energies of a run over time, laid over a figure. */
export interface Flow {
  kind: "flow";
  id: number;
  view: View;
  frames: number;
}

/** What a limit would make of the model; the gesture `limit` takes it. */
export interface PreviewLimit {
  kind: "previewlimit";
  id: number;
  limits: Record<string, string>;
}

/** The forms that treat dependent storages, each run; the gesture `condition` takes one. */
export interface CompareForms {
  kind: "compareforms";
  id: number;
}

/** A file of a figure, of equations, of the run, of the model in another language, or of everything. */
export interface Export {
  kind: "export";
  id: number;
  what: string;
  format: string;
  theme: "colour" | "dark" | "mono";
  variables: string[];
  at: string;
}

/** A model that can be opened: a file, or an example. */
export interface ModelCard {
  file: string;
  title: string;
  about: string;
}

/** A kind of element: its word, where it belongs, its parameter with the unit, how many nodes it joins, and what else its line */
export interface PaletteEntry {
  word: string;
  group: string;
  summary: string;
  key: string;
  unit: string;
  terminals: number;
  domains: string[];
  symbol: string;
  settings: Record<string, string>;
}

/** What there is when a page comes: files, examples, kinds, the schema of files. */
export interface Hello {
  kind: "hello";
  version: string;
  folder: string;
  file: string;
  files: ModelCard[];
  examples: ModelCard[];
  palette: PaletteEntry[];
  schema: Record<string, unknown>;
}

/** The text of a file. `changes` lead there from the text that the page had, if it had one. */
export interface Opened {
  kind: "opened";
  file: string;
  epoch: string;
  version: number;
  text: string;
  refusal: string;
  is_new: boolean;
  changes: unknown[];
}

/** Changes of the text, with what they were. */
export interface Updates {
  kind: "updates";
  version: number;
  updates: Update[];
  label: string;
  cause: string;
}

/** Changes were for an earlier version: they are to be sent again. */
export interface Rebase {
  kind: "rebase";
  version: number;
}

/** What undo and redo would do, and whether the file has been written. */
export interface UndoState {
  kind: "undostate";
  undo: string;
  redo: string;
  saved: string;
  refusal: string;
}

/** What a button beside a finding does: a gesture. */
export interface Remedy {
  label: string;
  name: string;
  arguments: Record<string, unknown>;
}

/** A finding with its place in the text: lines and columns count from 1, 0 where it has none; and the elements it speaks of. */
export interface FindingLine {
  code: string;
  severity: Severity;
  what: string;
  why: string;
  fix: string;
  line: number;
  column: number;
  length: number;
  members: string[];
  elements: string[];
  follows: string;
  remedies: Remedy[];
}

/** An element: its kind, its domain, its nodes, what the text says of it, and its parameters. */
export interface ElementFacts {
  name: string;
  kind: string;
  domain: string;
  nodes: string[];
  settings: Record<string, string>;
  parameters: string[];
  variables: string[];
  own: boolean;
}

/** A parameter: its text, its number and unit where it is a plain value, its name as a formula, and who uses it. */
export interface ParameterFacts {
  name: string;
  text: string;
  number: number;
  unit: string;
  shown_unit: string;
  plain: boolean;
  own: boolean;
  path: string[];
  mathml: string;
  elements: string[];
  limits: boolean;
  span: number;
  moved_by: string[];
}

/** A view as SVG, as lines of MathML, or as plain text; or why there is none. `places` are the centres of what can be moved. */
export interface ViewPicture {
  view: View;
  svg: string;
  places: Record<string, [number, number]>;
  lines: string[];
  text: string;
  reason: string;
}

/** A view of a version of the text; views come one by one, as they are ready. */
export interface ViewDrawn {
  kind: "viewdrawn";
  version: number;
  picture: ViewPicture;
}

/** What a version of the text says: findings, elements and parameters. Its views follow. */
export interface Structure {
  kind: "structure";
  version: number;
  ok: boolean;
  name: string;
  about: string;
  notation: string;
  rows: Record<string, string>;
  findings: FindingLine[];
  elements: ElementFacts[];
  parameters: ParameterFacts[];
  nodes: string[];
  states: string[];
  links: Record<string, string[]>;
  until: string;
  inputs: Record<string, string>;
  seconds: number;
}

/** A variable of a run: its unit, how its name is written, the elements that it belongs to, and of which sort it is. */
export interface RunCurve {
  name: string;
  unit: string;
  factor: number;
  shown_unit: string;
  mathml: string;
  elements: string[];
  sort: string;
}

/** A pole, with what it means. */
export interface PoleLine {
  real: number;
  imaginary: number;
  frequency: number;
  damping: number;
}

/** A channel from an input to an output; its gain in dB and its phase follow the frequencies in the numbers. */
export interface Channel {
  output: string;
  input: string;
}

/** A run. The numbers in the frame: times, then a row for each curve; then frequencies, then gain and phase by channel. */
export interface RunDone {
  kind: "rundone";
  id: number;
  version: number;
  live: boolean;
  status: string;
  finding: string;
  solver: string;
  seconds: number;
  rows: number;
  points: number;
  parameters: Record<string, string>;
  curves: RunCurve[];
  left_out: string;
  shown: string[];
  final: Record<string, number>;
  books: Record<string, number>;
  poles: PoleLine[];
  suits: string;
  channels: Channel[];
  frequencies: number;
}

/** How far a run is: its time, and where it ends. */
export interface Progress {
  kind: "progress";
  id: number;
  reached: number;
  until: number;
}

/** A stretch of a run: in the numbers its times, then a row for each of the variables that it has. */
export interface RefineDone {
  kind: "refinedone";
  id: number;
  run: number;
  begin: number;
  end: number;
  points: number;
  variables: string[];
}

/** A text that was kept: its name, when, and the lines in which it differs from the present one, as `diff` writes them. */
export interface SnapshotLine {
  name: string;
  at: string;
  changes: string[];
}

/** The texts that were kept of this file, the latest first. */
export interface SnapshotsDone {
  kind: "snapshotsdone";
  id: number;
  snapshots: SnapshotLine[];
}

/** A figure of a run: what stands still, and what is over it at each time. */
export interface FlowDone {
  kind: "flowdone";
  id: number;
  view: View;
  svg: string;
  frames: string[];
  times: number[];
}

/** What a limit did or would do: the steps as a figure, states before and after, how far the curves are apart. */
export interface LimitDone {
  kind: "limitdone";
  id: number;
  limits: Record<string, string>;
  svg: string;
  before: string[];
  after: string[];
  removed: string[];
  poles: string[];
  loss: [string, string][];
  note: string;
}

/** One form of the dependent storages: its equations, what a run of it cost, and how far it is from the most accurate one. */
export interface FormLine {
  form: string;
  suits: string;
  solver: string;
  seconds: number;
  steps: number;
  states: number;
  excess: number;
  relative: number;
  forces: number;
  violation: number;
  energy: number;
  text: string;
}

/** The forms side by side; `refused` tells why others are not there. */
export interface FormsDone {
  kind: "formsdone";
  id: number;
  reference: string;
  forms: FormLine[];
  refused: [string, string][];
}

/** A file; its bytes are in the frame. */
export interface ExportDone {
  kind: "exportdone";
  id: number;
  file: string;
  media: string;
}

/** A gesture was made; `note` says what is worth knowing, `selected` what it made. */
export interface Did {
  kind: "did";
  id: number;
  note: string;
  selected: string;
}

/** What was asked for cannot be had: what, why, and what to do. */
export interface Failed {
  kind: "failed";
  id: number;
  code: string;
  what: string;
  why: string;
  fix: string;
}

export type FromPage = Open | New | Take | Push | Gesture | Undo | Redo | Show | Simulate | Cancel | Refine | Snapshot | Flow | PreviewLimit | CompareForms | Export;

export type ToPage = Hello | Opened | Updates | Rebase | UndoState | Structure | ViewDrawn | RunDone | Progress | RefineDone | SnapshotsDone | FlowDone | LimitDone | FormsDone | ExportDone | Did | Failed;
