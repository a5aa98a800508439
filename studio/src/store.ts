// What the page knows, and what it does when the server says something. Components read it and call its methods.
import { useSyncExternalStore } from "react";
import { Connection, type Link } from "./connection";
import { TextModel } from "./text";
import type {
  ViewDrawn, ElementFacts, ExportDone, Failed, FlowDone, FormsDone, FromPage, Hello, UndoState, LimitDone, Opened, ParameterFacts, ViewPicture, RefineDone, RunDone,
  SnapshotLine, Structure, Theme, ToPage, View,
} from "./protocol";

/** A stretch of time of a run, as fine as the screen shows it. */
export interface Fine {
  begin: number;
  end: number;
  t: Float64Array;
  rows: Map<string, Float64Array>;
}

export interface KeptRun {
  done: RunDone;
  number: number;
  t: Float64Array;
  rows: Float64Array[];
  frequencies: Float64Array;
  responses: Float64Array[];
  pinned: boolean;
  fine: Fine | null;
  at: Date;
  values: Record<string, string>;
}

export interface Notice {
  id: number;
  tone: "note" | "error";
  text: string;
  fix: string;
}

/** A limit that is looked at: whether its account is known, whether it is taken, and what was shown before. */
interface Trial {
  limits: Record<string, string>;
  known: boolean;
  taken: boolean;
  tab: Tab;
}

export interface Shown {
  picture: ViewPicture;
  version: number;
  stale: string;
}

export type Tab = "plots" | "power" | "poles" | "runs" | "findings" | "limit" | "forms" | "snapshots";
export type Panes = View[];

const MOST_RUNS = 20;
const FAST_S = 0.8;
const FIRST = 4;
const MOST_TAKEN = 4 * 2 ** 20;
/** A stretch with so many points of its own is fine enough. */
const ENOUGH = 1500;
const LOOK_MS = 150;
const VIEWS_MS = 400;
const NOTICE_MS = 7000;
const NOTE_MS = 3000;

export interface State {
  link: Link;
  hello: Hello | null;
  file: Opened | null;
  history: UndoState;
  structure: Structure | null;
  shown: Map<View, Shown>;
  runs: KeptRun[];
  current: KeptRun | null;
  running: { id: number; reached: number; until: number; live: boolean } | null;
  seconds: number;
  held: Record<string, string>;
  chosen: string[];
  hovered: string[];
  nodes: string[];
  variables: string[];
  notices: Notice[];
  panes: Panes;
  tab: Tab;
  theme: "light" | "dark";
  themeChoice: "light" | "dark" | "system";
  power: boolean;
  flows: Map<View, FlowDone>;
  moment: number;
  limit: LimitDone | null;
  trying: boolean;
  forms: FormsDone | "asked" | null;
  locked: boolean;
  inserting: boolean;
  typed: string;
  helping: boolean;
  snapshots: SnapshotLine[];
  /** On a narrow screen one view is seen at a time, or the parameters: which. */
  narrow: boolean;
  face: View | "inspector";
}

const DEFAULT_PANES: Panes = ["network", "pog", "bond", "equations"];
const narrowScreen = matchMedia("(max-width: 1000px)");
const systemDark = matchMedia("(prefers-color-scheme: dark)");

function kept<T>(key: string, fallback: T): T {
  try {
    const found = localStorage.getItem(`tellegen.${key}`);
    return found === null ? fallback : (JSON.parse(found) as T);
  } catch {
    return fallback;
  }
}

export function keep(key: string, value: unknown): void {
  try {
    localStorage.setItem(`tellegen.${key}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing is no reason to stop.
  }
}

export class Store {
  state: State;
  readonly text: TextModel;
  private readonly connection: Connection;
  private readonly watchers = new Set<() => void>();
  private numbers = 0;
  private counted = 0;
  private asked = new Map<number, (message: ToPage) => void>();
  private liveInFlight = 0;
  private liveNext: Record<string, string> | null = null;
  private ranVersion = -1;
  private runWanted = false;
  private ownRun = 0;
  private trial: Trial | null = null;
  private looking: number | undefined;
  private waiting: number | undefined;
  private stretch: [number, number] | null = null;
  private refining = new Set<string>();
  private lastInserted: Record<string, unknown> | null = null;
  private gestures = 0;
  private creating = false;
  private after: (() => void)[] = [];

  constructor() {
    const choice = kept<State["themeChoice"]>("theme", "system");
    this.state = {
      link: "connecting", hello: null, file: null, history: { kind: "undostate", undo: "", redo: "", saved: "", refusal: "" },
      structure: null, shown: new Map(), runs: [], current: null, running: null, seconds: 0, held: {}, chosen: [], hovered: [],
      nodes: [], variables: [], notices: [], panes: kept("panes", DEFAULT_PANES), tab: "plots", theme: resolved(choice),
      themeChoice: choice, power: false, flows: new Map(), moment: 0, limit: null, trying: false, forms: null, locked: kept("locked", false), inserting: false, typed: "", helping: false,
      snapshots: [], narrow: narrowScreen.matches, face: "network",
    };
    this.text = new TextModel(this);
    this.connection = new Connection({ link: (link) => this.linked(link), message: (m, numbers) => this.heard(m, numbers) });
    systemDark.addEventListener("change", () => this.setTheme(this.state.themeChoice));
    narrowScreen.addEventListener("change", ({ matches }) => {
      this.set({ narrow: matches });
      if (this.state.file) this.show();
    });
    document.documentElement.dataset.theme = this.state.theme;
  }

  begin(): void {
    // The address says what is open: its arrows lead from model to model, and back to the gallery.
    addEventListener("popstate", () => {
      const file = new URLSearchParams(location.hash.slice(1)).get("file");
      if (!file) this.gallery();
      else if (file !== this.state.file?.file) this.open(file);
    });
    void this.connection.begin();
  }

  watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  set(change: Partial<State>): void {
    this.state = { ...this.state, ...change };
    for (const watcher of this.watchers) watcher();
  }

  send(message: FromPage): boolean {
    return this.connection.send(message);
  }

  /** Ask something that is answered by its number. */
  ask(make: (id: number) => FromPage, answered: (message: ToPage) => void): number {
    const id = ++this.numbers;
    this.asked.set(id, answered);
    if (!this.send(make(id))) {
      this.asked.delete(id);
      this.gestures = 0;
      this.notice("error", "The studio cannot be reached just now.", "It is tried again; what you type is kept.");
    }
    return id;
  }

  // -- Life of the connection --------------------------------------------------------------------------------------------------

  private linked(link: Link): void {
    this.set({ link, ...(link === "open" ? {} : { running: null }) });
    if (link !== "open") {
      this.liveInFlight = 0;
      this.creating = false;
      this.trial = null;
      this.asked.clear();
      this.gestures = 0;
      this.after = [];
    }
  }

  private heard(message: ToPage, numbers: ArrayBuffer | null): void {
    switch (message.kind) {
      case "hello": return this.welcomed(message);
      case "opened": return this.opened(message);
      case "updates":
        this.text.receive(message.version, message.updates);
        if (message.cause === "disk") this.notice("note", "The file was changed by another program; the change is here now.", "Undo takes it back.");
        return;
      case "rebase": return this.text.pushAgain();
      case "undostate":
        // The rights of a file may change while it is open.
        if (message.refusal !== this.state.history.refusal) this.text.setLocked(message.refusal);
        return this.set({ history: message });
      case "structure": return this.structured(message);
      case "viewdrawn": return this.drawn(message);
      case "rundone": return this.ran(message, numbers);
      case "refinedone": return this.refined(message, numbers);
      case "progress":
        if (this.state.running?.id === message.id) this.set({ running: { ...this.state.running, reached: message.reached, until: message.until } });
        return;
      case "failed": return this.failed(message);
      case "exportdone": this.download(message, numbers); break;
      default: break;
    }
    if ("id" in message) this.answered(message.id, message);
  }

  private answered(id: number, message: ToPage): void {
    const then = this.asked.get(id);
    this.asked.delete(id);
    then?.(message);
  }

  private welcomed(hello: Hello): void {
    this.set({ hello });
    const before = this.state.file;
    if (before) {
      const text = this.text.confirmed();
      this.send({ kind: "open", file: before.file, epoch: before.epoch, version: this.text.version(), text });
      return;
    }
    const wanted = new URLSearchParams(location.hash.slice(1)).get("file") ?? hello.file;
    if (wanted) this.open(wanted);
  }

  private opened(message: Opened): void {
    this.creating = false;
    const again = this.state.file !== null && message.changes.length > 0 && this.state.file.file === message.file;
    if (again) this.text.resume(message);
    else this.text.restart(message);
    const fresh = again ? {} : {
      structure: null, shown: new Map(), runs: [], current: null, chosen: [], nodes: [], variables: [], flows: new Map(), limit: null, trying: false, forms: null, snapshots: [],
      power: false, tab: "plots" as Tab, held: {}, running: null, seconds: 0,
    };
    if (!again) {
      this.trial = null;
      this.ranVersion = -1;
      this.counted = 0;
      this.stretch = null;
    }
    this.set({ file: message, ...fresh });
    this.remember(message.file);
    this.show();
    if (message.refusal) this.notice("note", `This file can be looked at only: ${message.refusal}.`, "Edit a copy, beside its name, makes another one of it.");
  }

  private remember(file: string): void {
    const hash = `#${new URLSearchParams({ file })}`;
    if (location.hash !== hash) history.pushState(null, "", hash);
    document.title = `${file.replace("example:", "")} - Tellegen studio`;
  }

  private failed(message: Failed): void {
    const { running } = this.state;
    this.creating = false;
    if (running?.id === message.id) this.set({ running: null });
    if (message.id === this.liveInFlight) this.liveInFlight = 0;
    // A run that nobody asked for met a text that is no model: its findings say that, where who types wants to be left alone.
    if (message.id === this.ownRun && !/^[SN]/.test(message.code)) return this.answered(message.id, message);
    this.notice("error", message.code ? `${message.code}: ${message.what}` : message.what, message.fix);
    this.answered(message.id, message);
  }

  notice(tone: Notice["tone"], text: string, fix = ""): void {
    const id = ++this.numbers;
    const notices = [...this.state.notices.filter((one) => one.text !== text), { id, tone, text, fix }].slice(-3);
    this.set({ notices });
    setTimeout(() => this.dismiss(id), tone === "note" && !fix ? NOTE_MS : NOTICE_MS);
  }

  dismiss(id: number): void {
    if (this.state.notices.some((one) => one.id === id)) this.set({ notices: this.state.notices.filter((one) => one.id !== id) });
  }

  // -- Files -------------------------------------------------------------------------------------------------------------------

  open(file: string): void {
    this.send({ kind: "open", file, epoch: "", version: 0, text: "" });
  }

  create(notation: "network" | "bond graph"): void {
    // Who clicks twice wants one model.
    if (this.creating) return;
    this.creating = true;
    this.send({ kind: "new", name: notation === "network" ? "model" : "bond_graph", notation });
  }

  /** Files that were dragged into the page: the last one is open then. */
  async take(files: Iterable<File>): Promise<void> {
    this.text.flush();
    for (const file of files) {
      if (file.size > MOST_TAKEN) {
        this.notice("error", `${file.name} is larger than ${MOST_TAKEN / 2 ** 20} MB.`, "Import it at the command line: tellegen import.");
        continue;
      }
      const text = await file.text();
      this.ask((id) => ({ kind: "take", id, file: file.name, text }), () => undefined);
    }
  }

  /** Keep the text under a name, take a kept one back, forget it, or only ask which there are. */
  snapshot(act: "list" | "keep" | "restore" | "forget", name = ""): void {
    this.text.flush();
    this.ask((id) => ({ kind: "snapshot", id, act, name }), (answer) => {
      if (answer.kind === "snapshotsdone") this.set({ snapshots: answer.snapshots });
    });
  }

  /** The text as a new file beside this one. */
  copy(): void {
    const { file } = this.state;
    if (file) this.ask((id) => ({ kind: "take", id, file: file.file.replace("example:", ""), text: this.text.confirmed() }), () => undefined);
  }

  gallery(): void {
    this.text.leave();
    if (location.hash) history.pushState(null, "", location.pathname);
    document.title = "Tellegen studio";
    this.set({ file: null, structure: null, runs: [], current: null });
    location.reload();
  }

  // -- Views -------------------------------------------------------------------------------------------------------------------

  /** The views that are on the screen. */
  views(): View[] {
    const { narrow, face, panes } = this.state;
    return narrow ? (face === "inspector" ? [] : [face]) : [...new Set(panes)];
  }

  face(face: State["face"]): void {
    this.set({ face });
    this.show();
  }

  /** Say which views are on the screen. */
  show(): void {
    const theme: Theme = this.state.theme === "dark" ? "dark" : "colour";
    this.send({ kind: "show", views: this.views(), theme });
    if (this.state.power) this.fetchFlows();
  }

  setPane(k: number, view: View): void {
    const panes = [...this.state.panes];
    const other = panes.indexOf(view);
    const old = panes[k];
    if (other >= 0 && old) panes[other] = old;
    panes[k] = view;
    this.setPanes(panes);
  }

  setPanes(panes: Panes): void {
    keep("panes", panes);
    this.set({ panes });
    this.show();
  }

  setTheme(choice: State["themeChoice"]): void {
    keep("theme", choice);
    const theme = resolved(choice);
    document.documentElement.dataset.theme = theme;
    this.set({ themeChoice: choice, theme, flows: new Map() });
    if (this.state.file) this.show();
  }

  private structured(structure: Structure): void {
    const wrong = structure.findings.find((one) => one.severity === "error");
    const last = this.state.structure;
    const broken = !structure.elements.length;
    const change: Partial<State> = { structure };
    if (broken && last?.elements.length) {
      // The text is no model just now: what was valid stays, with the reason.
      const { elements, parameters, nodes, links } = last;
      change.structure = { ...structure, elements, parameters, nodes, links };
      change.shown = new Map([...this.state.shown].map(([view, one]) => [view, { ...one, stale: wrong?.what ?? "nothing is described" }]));
    }
    this.set(change);
    this.text.diagnose(structure.findings);
    this.runAfterViews();
    if (this.state.power && structure.ok) this.fetchFlows();
    if (this.state.tab === "snapshots") this.snapshot("list");
  }

  private drawn({ picture, version }: ViewDrawn): void {
    const before = this.state.shown.get(picture.view)?.picture;
    const keeps = picture.reason && before && !before.reason;
    const one = keeps ? { picture: before, version, stale: picture.reason } : { picture, version, stale: "" };
    this.set({ shown: new Map(this.state.shown).set(picture.view, one) });
    this.runAfterViews();
  }

  /** What is looked at comes first: the run waits for the views of its text, but not for long. */
  private runAfterViews(): void {
    const { structure, shown } = this.state;
    window.clearTimeout(this.waiting);
    const drawn = this.views().every((view) => view === "text" || shown.get(view)?.version === structure?.version);
    if (drawn) this.runIfQuick();
    else this.waiting = window.setTimeout(() => this.runIfQuick(), VIEWS_MS);
  }

  // -- Runs --------------------------------------------------------------------------------------------------------------------

  /** Whether the curves are those of the text as it is. */
  isStale(): boolean {
    const { structure, current } = this.state;
    return structure !== null && current !== null && current.done.version !== structure.version;
  }

  private runIfQuick(): void {
    const { structure, seconds, running } = this.state;
    if (!structure?.ok || !structure.until || structure.version === this.ranVersion) return;
    if (seconds > FAST_S) return;
    if (running && !running.live) {
      this.runWanted = true;
      return;
    }
    this.run();
    this.ownRun = this.state.running?.id ?? 0;
  }

  run(): void {
    const { structure } = this.state;
    if (!structure) return;
    if (!structure.until) {
      this.notice("error", "The model does not say how long to run.", "Give an end time beside the Run button.");
      return;
    }
    this.runWanted = false;
    this.ranVersion = structure.version;
    const id = this.ask((number) => ({ kind: "simulate", id: number, parameters: {}, live: false }), () => undefined);
    this.set({ running: { id, reached: 0, until: 0, live: false } });
  }

  stop(): void {
    const { running } = this.state;
    if (!running) return;
    // The button is free at once; what is finished follows.
    this.send({ kind: "cancel", id: running.id });
    this.set({ running: null });
  }

  /** A slider is held: curves follow while the last run was quick. */
  hold(parameters: Record<string, string>): void {
    this.set({ held: { ...this.state.held, ...parameters } });
    // One run at a time, always of the newest values: what is slower follows at its own pace.
    if (this.state.seconds > FAST_S || !this.state.structure?.until) return;
    this.liveNext = this.state.held;
    this.runLive();
  }

  private runLive(): void {
    if (this.liveInFlight || !this.liveNext) return;
    const parameters = this.liveNext;
    this.liveNext = null;
    this.liveInFlight = this.ask((id) => ({ kind: "simulate", id, parameters, live: true }), () => undefined);
  }

  release(parameter: ParameterFacts, text: string): void {
    const held = { ...this.state.held };
    delete held[parameter.name];
    this.liveNext = null;
    this.set({ held });
    if (text !== parameter.text) this.gesture("set", { path: parameter.path, text });
  }

  private ran(done: RunDone, numbers: ArrayBuffer | null): void {
    if (done.id === this.liveInFlight) this.liveInFlight = 0;
    this.asked.delete(done.id);
    const run = unpacked(done, numbers ?? new ArrayBuffer(0), this.counted + 1);
    const known = this.state.variables.filter((name) => done.curves.some((one) => one.name === name));
    const variables = known.length ? known : done.shown.slice(0, 6);
    // The first run shares the machine with the first views, and any run with what else is at work: two slow ones in a row count.
    const before = this.state.current?.done.seconds ?? done.seconds / FIRST;
    const change: Partial<State> = { current: run, variables, seconds: Math.min(done.seconds, before) };
    if (!done.live) {
      this.counted += 1;
      run.values = Object.fromEntries((this.state.structure?.parameters ?? []).map((one) => [one.name, one.text]));
      const runs = [...this.state.runs, run];
      const spare = runs.length > MOST_RUNS ? runs.findIndex((one) => !one.pinned) : -1;
      if (spare >= 0) runs.splice(spare, 1);
      change.runs = runs;
      if (this.state.running?.id === done.id) change.running = null;
      if (done.status !== "finished") this.notice(done.status === "failed" ? "error" : "note", done.finding || `The run was ${done.status}.`);
    }
    this.set(change);
    if (!done.live) this.refine();
    if (done.live) this.runLive();
    else if (this.runWanted) this.run();
  }

  /** A stretch of time is looked at: where curves have few points there, finer ones are fetched. */
  look(begin: number, end: number): void {
    window.clearTimeout(this.looking);
    if (begin !== this.stretch?.[0] || end !== this.stretch[1]) this.refining.clear();
    this.stretch = [begin, end];
    this.looking = window.setTimeout(() => this.refine(), LOOK_MS);
  }

  private refine(): void {
    const { current, runs, variables } = this.state;
    if (!this.stretch || !current) return;
    const [begin, end] = this.stretch;
    const key = (run: KeptRun) => `${run.done.id} ${variables.join()}`;
    const coarse = [current, ...runs.filter((one) => one.pinned && one.number !== current.number)].find((run) => {
      const { t, fine, done } = run;
      const first = t[0] ?? 0;
      const last = t[t.length - 1] ?? 0;
      // Each run is asked once for a stretch, whatever came of it.
      if (done.live || (begin <= first && end >= last) || this.refining.has(key(run))) return false;
      if (fine && fine.begin <= begin && fine.end >= end && fine.end - fine.begin < 2 * (end - begin) && variables.every((name) => fine.rows.has(name))) return false;
      return t.reduce((count, time) => count + Number(time >= begin && time <= end), 0) < ENOUGH;
    });
    if (!coarse) return;
    this.refining.add(key(coarse));
    const names = variables.filter((name) => coarse.done.curves.some((one) => one.name === name));
    // A little more than is seen, so that the lines lead out of it.
    const more = 0.1 * (end - begin);
    this.ask((id) => ({ kind: "refine", id, run: coarse.done.id, variables: names, begin: begin - more, end: end + more }), () => undefined);
  }

  private refined(done: RefineDone, numbers: ArrayBuffer | null): void {
    this.asked.delete(done.id);
    if (!done.points || !numbers) return;
    const t = new Float64Array(numbers, 0, done.points);
    const rows = new Map(done.variables.map((name, k) => [name, new Float64Array(numbers, 8 * done.points * (k + 1), done.points)]));
    const fine: Fine = { begin: done.begin, end: done.end, t, rows };
    const made = (run: KeptRun) => (run.done.id === done.run ? { ...run, fine } : run);
    const current = this.state.current && made(this.state.current);
    const runs = this.state.runs.map((run) => (current && run.number === current.number && run.done.id === done.run ? current : made(run)));
    this.set({ current, runs });
    // Pinned runs follow, one after the other.
    this.refine();
  }

  pin(run: KeptRun): void {
    const runs = this.state.runs.map((one) => (one === run ? { ...one, pinned: !one.pinned } : one));
    const current = this.state.current === run ? (runs.find((one) => one.number === run.number) ?? null) : this.state.current;
    this.set({ runs, current });
  }

  // -- Power over time ---------------------------------------------------------------------------------------------------------

  togglePower(): void {
    const power = !this.state.power;
    this.set({ power, flows: new Map() });
    if (power) this.fetchFlows();
  }

  private fetchFlows(): void {
    for (const view of this.views()) {
      if (view === "equations" || view === "steps" || view === "text") continue;
      this.ask((id) => ({ kind: "flow", id, view, frames: 60 }), (answer) => {
        if (answer.kind === "flowdone") this.set({ flows: new Map(this.state.flows).set(view, answer) });
      });
    }
  }

  // -- Gestures ----------------------------------------------------------------------------------------------------------------

  gesture(name: string, args: Record<string, unknown>): void {
    this.text.flush();
    this.gestures += 1;
    const { chosen } = this.state;
    this.ask((id) => ({ kind: "gesture", id, name, arguments: args }), (answer) => {
      this.gestures -= 1;
      if (answer.kind === "did" && answer.note) this.notice("note", answer.note, "");
      // Who has chosen something else meanwhile means that.
      if (answer.kind === "did" && answer.selected && this.state.chosen === chosen) this.choose([answer.selected]);
      while (!this.gestures && this.after.length) this.after.shift()?.();
    });
  }

  /** What depends on the selection waits for the gestures before it: who types faster than they are answered means their result. */
  whenDone(act: () => void): void {
    if (this.gestures) this.after.push(act);
    else act();
  }

  undo(): void {
    this.text.flush();
    this.send({ kind: "undo" });
  }

  redo(): void {
    this.text.flush();
    this.send({ kind: "redo" });
  }

  /** A parameter at its end: what the limit would make of the model is fetched and shown. */
  tryLimit(parameter: string, value: "0" | "inf"): void {
    const limits = { [parameter]: value };
    if (this.trial?.limits[parameter] === value) return;
    const trial: Trial = { limits, known: false, taken: false, tab: this.trial?.tab ?? this.state.tab };
    this.trial = trial;
    this.text.flush();
    this.ask((id) => ({ kind: "previewlimit", id, limits }), (answer) => {
      if (this.trial !== trial) return;
      if (answer.kind !== "limitdone") return void (this.trial = null);
      trial.known = true;
      this.set({ limit: answer, tab: "limit", trying: true });
      if (trial.taken) this.takeLimit();
    });
  }

  /** The limit that is tried is taken, as one step; where its account is not there yet, once it is. */
  takeLimit(): void {
    const { trial } = this;
    if (!trial) return;
    trial.taken = true;
    if (!trial.known) return;
    this.trial = null;
    this.set({ trying: false });
    this.gesture("limit", { limits: trial.limits });
  }

  /** The slider has left its end: nothing was done. */
  leaveLimit(): void {
    if (!this.trial || this.trial.taken) return;
    const { tab } = this.trial;
    this.trial = null;
    if (this.state.trying) this.set({ trying: false, limit: null, tab: tab === "limit" ? "plots" : tab });
  }

  /** The forms of dependent storages side by side: runs of all of them, so that it is asked for. */
  compareForms(): void {
    this.text.flush();
    this.set({ forms: "asked", tab: "forms" });
    this.ask((id) => ({ kind: "compareforms", id }), (answer) => this.set({ forms: answer.kind === "formsdone" ? answer : null }));
  }

  lock(): void {
    keep("locked", !this.state.locked);
    this.set({ locked: !this.state.locked });
  }

  insert(args: Record<string, unknown>): void {
    this.lastInserted = args;
    this.gesture("insert", args);
  }

  /** The last kind again, at what is selected now. */
  insertAgain(): void {
    const { chosen, nodes } = this.state;
    if (!this.lastInserted) return;
    const { kind, value, way } = this.lastInserted;
    this.gesture("insert", { kind, value, way: way ?? "parallel", nodes, ...(chosen[0] ? { beside: chosen[0] } : {}) });
  }

  /** Another element like the one that is selected, beside it. */
  duplicate(): void {
    const element = this.element(this.state.chosen[0] ?? "");
    if (!element?.own) return;
    const value = this.state.structure?.parameters.find((one) => one.name === element.parameters[0])?.text ?? "";
    this.gesture("insert", { kind: element.kind, beside: element.name, nodes: element.nodes.filter((_, k) => element.nodes.length > 2 || k === 0), way: "parallel", value });
  }

  /** The element that is selected the other way round. */
  turn(): void {
    const name = this.state.chosen[0];
    if (name) this.gesture("turn", { name });
  }

  /** The symbol of the element that is selected, a quarter further. */
  rotate(): void {
    const name = this.state.chosen[0];
    if (name) this.gesture("rotate", { name });
  }

  deleteChosen(): void {
    const name = this.state.chosen[0];
    if (!name) return;
    this.set({ chosen: [] });
    this.gesture("delete", { name });
  }

  joinNodes(): void {
    const [first, second] = this.state.nodes;
    if (!first || !second) return;
    this.set({ nodes: [] });
    this.gesture("join", { first, second });
  }

  // -- What is selected --------------------------------------------------------------------------------------------------------

  choose(chosen: string[]): void {
    this.set({ chosen, nodes: [] });
    const name = chosen[0];
    if (name) this.text.point(name);
  }

  chooseNode(node: string, more: boolean): void {
    const others = more ? this.state.nodes.filter((one) => one !== node).slice(-1) : [];
    this.set({ nodes: [...others, node], chosen: [] });
  }

  hover(hovered: string[]): void {
    if (hovered.join(" ") !== this.state.hovered.join(" ")) this.set({ hovered });
  }

  element(name: string): ElementFacts | undefined {
    return this.state.structure?.elements.find((one) => one.name === name);
  }

  /** The elements that a name of a figure stands for: itself, or those of a variable or a node. */
  elementsOf(name: string): string[] {
    const { structure } = this.state;
    if (!structure || structure.elements.some((one) => one.name === name)) return [name];
    return structure.links[name] ?? [name];
  }

  // -- Files out ---------------------------------------------------------------------------------------------------------------

  /** A file of what is seen: in these colours, with these curves, and with the powers where they are shown. */
  export(what: string, format: string, colours: "seen" | "mono" | "colour"): void {
    const { theme, variables, power, moment, flows } = this.state;
    const times = flows.get(what as View)?.times;
    const at = power && times ? `${times[Math.round(moment * (times.length - 1))] ?? 0} s` : "";
    const tone = colours === "seen" ? (theme === "dark" ? "dark" : "colour") : colours;
    this.ask((id) => ({ kind: "export", id, what, format, theme: tone, variables, at }), () => undefined);
  }

  private download(done: ExportDone, bytes: ArrayBuffer | null): void {
    const url = URL.createObjectURL(new Blob([bytes ?? new ArrayBuffer(0)], { type: done.media }));
    const link = document.createElement("a");
    link.href = url;
    link.download = done.file;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    this.notice("note", `${done.file} was written to your downloads.`, "");
  }
}

function resolved(choice: State["themeChoice"]): "light" | "dark" {
  return choice === "system" ? (systemDark.matches ? "dark" : "light") : choice;
}

function unpacked(done: RunDone, numbers: ArrayBuffer, number: number): KeptRun {
  let at = 0;
  const next = (count: number): Float64Array => {
    const found = new Float64Array(numbers, at, count);
    at += 8 * count;
    return found;
  };
  const t = next(done.points);
  const rows = done.curves.map(() => next(done.points));
  const frequencies = next(done.frequencies);
  const responses = done.channels.flatMap(() => [next(done.frequencies), next(done.frequencies)]);
  return { done, number, t, rows, frequencies, responses, pinned: false, fine: null, at: new Date(), values: {} };
}

export const store = new Store();

export function useStudio(): State {
  return useSyncExternalStore(store.watch, () => store.state);
}
