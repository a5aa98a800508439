// The text pane: one CodeMirror for the whole life of the page, so that nothing typed is lost when the pane is hidden. What is typed
// goes to the server as changes for a version; what others change comes back the same way.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { collab, getSyncedVersion, receiveUpdates, sendableUpdates } from "@codemirror/collab";
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { searchKeymap } from "@codemirror/search";
import { ChangeSet, Compartment, EditorState, StateEffect, StateField, Text, Transaction } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, highlightActiveLine, hoverTooltip, keymap, lineNumbers, type DecorationSet } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { completions, describe } from "./completion";
import type { FindingLine, Opened, Update } from "./protocol";
import type { Store } from "./store";

const PUSH_MS = 60;
const client = crypto.randomUUID();

const point = StateEffect.define<number>();
const pointed = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, transaction) {
    let found = marks.map(transaction.changes);
    for (const effect of transaction.effects) {
      if (effect.is(point)) found = effect.value < 0 ? Decoration.none : Decoration.set([Decoration.line({ class: "cm-pointed" }).range(effect.value)]);
    }
    return found;
  },
  provide: (field) => EditorView.decorations.from(field),
});

const colours = HighlightStyle.define([
  { tag: tags.propertyName, class: "tok-key" },
  { tag: tags.definition(tags.propertyName), class: "tok-key" },
  { tag: tags.comment, class: "tok-comment" },
  { tag: tags.lineComment, class: "tok-comment" },
  { tag: tags.string, class: "tok-string" },
  { tag: tags.squareBracket, class: "tok-bracket" },
  { tag: tags.brace, class: "tok-bracket" },
]);

export class TextModel {
  readonly view: EditorView;
  private file = "";
  private base = Text.empty;
  private inFlight = false;
  private timer: number | undefined;
  private readonly locked = new Compartment();
  private quiet = false;

  constructor(private readonly store: Store) {
    this.view = new EditorView({
      state: this.fresh("", 0),
      dispatch: (transaction) => this.dispatch(transaction),
    });
  }

  private fresh(text: string, version: number): EditorState {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="nonce"]')?.content ?? "";
    return EditorState.create({
      doc: text,
      extensions: [
        EditorView.cspNonce.of(nonce),
        collab({ startVersion: version, clientID: client }),
        lineNumbers(), lintGutter(), drawSelection(), highlightActiveLine(), bracketMatching(), closeBrackets(), pointed,
        yaml(), syntaxHighlighting(colours), indentUnit.of("  "), EditorState.tabSize.of(2),
        autocompletion({ override: [(context) => completions(context, this.store)] }),
        hoverTooltip((view, at) => describe(view, at, this.store)),
        keymap.of([
          { key: "Mod-z", run: () => (this.store.undo(), true), preventDefault: true },
          { key: "Mod-y", run: () => (this.store.redo(), true), preventDefault: true },
          { key: "Mod-Shift-z", run: () => (this.store.redo(), true), preventDefault: true },
          { key: "Escape", run: () => (this.view.contentDOM.blur(), true) },
          ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...defaultKeymap, indentWithTab,
        ]),
        this.locked.of([]),
        EditorView.contentAttributes.of({ "aria-label": "Text of the model", tabindex: "0" }),
      ],
    });
  }

  private dispatch(transaction: Transaction): void {
    this.view.update([transaction]);
    if (transaction.docChanged) this.schedule();
    if (transaction.selection && !this.quiet && transaction.isUserEvent("select")) this.chooseAtCursor();
  }

  // -- To and from the server ----------------------------------------------------------------------------------------------------

  /** A file that was not open before, unless an end of this page left something of it unsent. */
  restart({ file, version, text, refusal }: Opened): void {
    this.file = file;
    this.inFlight = false;
    this.view.setState(this.fresh(text, version));
    this.base = this.view.state.doc;
    this.setLocked(refusal);
    if (!refusal) this.recover(text);
  }

  /** The same file after the socket came back: what is still unsent follows what others changed. */
  resume({ version, changes, text, refusal }: Opened): void {
    const pending = sendableUpdates(this.view.state).map((update) => update.changes);
    const moved = ChangeSet.fromJSON(changes as never);
    let rest = moved;
    const kept: ChangeSet[] = [];
    for (const change of pending) {
      kept.push(change.map(rest));
      rest = rest.map(change, true);
    }
    this.inFlight = false;
    this.view.setState(this.fresh(text, version));
    this.base = this.view.state.doc;
    for (const change of kept) this.view.dispatch({ changes: change });
    this.setLocked(refusal);
    this.flush();
  }

  receive(version: number, updates: Update[]): void {
    const own = getSyncedVersion(this.view.state);
    // What a page heard already comes again after a rebase.
    const news = updates.slice(Math.max(0, own - version));
    if (own < version || !news.length) return;
    const made = news.map((one) => ({ changes: ChangeSet.fromJSON(one.changes as never), clientID: one.client }));
    for (const one of made) this.base = one.changes.apply(this.base);
    if (made.some((one) => one.clientID === client)) this.inFlight = false;
    this.view.dispatch(receiveUpdates(this.view.state, made));
    this.forget();
    if (sendableUpdates(this.view.state).length) this.schedule();
  }

  pushAgain(): void {
    this.inFlight = false;
    this.schedule();
  }

  /** The text as the server has it, as far as this page knows. */
  confirmed(): string {
    return this.base.toString();
  }

  version(): number {
    return getSyncedVersion(this.view.state);
  }

  private schedule(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.flush(), PUSH_MS);
    this.guard();
  }

  flush(): void {
    window.clearTimeout(this.timer);
    const updates = sendableUpdates(this.view.state);
    if (!updates.length || this.inFlight) return;
    const told = updates.map((one) => ({ changes: one.changes.toJSON() as unknown[], client }));
    this.inFlight = this.store.send({ kind: "push", version: this.version(), updates: told });
  }

  // -- What an end of the tab must not lose ----------------------------------------------------------------------------------------

  private key(): string {
    return `tellegen.unsent.${this.file}`;
  }

  private guard(): void {
    try {
      if (sendableUpdates(this.view.state).length) {
        localStorage.setItem(this.key(), JSON.stringify({ base: this.confirmed(), text: this.view.state.doc.toString() }));
      } else localStorage.removeItem(this.key());
    } catch {
      // Without storage the server still has everything but the last tenth of a second.
    }
  }

  private forget(): void {
    if (!sendableUpdates(this.view.state).length) this.guard();
  }

  private recover(text: string): void {
    try {
      const found = localStorage.getItem(this.key());
      if (found === null) return;
      const left = JSON.parse(found) as { base: string; text: string };
      localStorage.removeItem(this.key());
      if (left.base !== text || left.text === text) return;
      this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert: left.text } });
      this.store.notice("note", "What you typed before the page ended was brought back.", "Undo takes it away again.");
    } catch {
      // What cannot be read is not recovered.
    }
  }

  leave(): void {
    this.flush();
  }

  // -- What is shown ---------------------------------------------------------------------------------------------------------------

  /** A text that cannot be written back is not typed into. */
  setLocked(refusal: string): void {
    this.view.dispatch({ effects: this.locked.reconfigure(refusal ? EditorState.readOnly.of(true) : []) });
  }

  diagnose(findings: FindingLine[]): void {
    const { doc } = this.view.state;
    const diagnostics: Diagnostic[] = [];
    for (const one of findings) {
      if (one.line < 1 || one.line > doc.lines) continue;
      const line = doc.line(one.line);
      const from = Math.min(line.to, line.from + Math.max(0, one.column - 1));
      const to = Math.min(line.to, Math.max(from + 1, from + one.length));
      diagnostics.push({
        from, to: Math.max(from, to), severity: one.severity === "notice" ? "info" : one.severity,
        message: `${one.code}: ${one.what}${one.fix ? `\ntry: ${one.fix}` : ""}`,
        actions: one.remedies.map((remedy) => ({ name: remedy.label, apply: () => this.store.gesture(remedy.name, remedy.arguments) })),
      });
    }
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** The line of an element is marked and scrolled into view. */
  point(name: string): void {
    const { doc } = this.view.state;
    for (let k = 1; k <= doc.lines; k += 1) {
      const line = doc.line(k);
      const found = /^\s+(?:- )?([\w.[\]]+)\s*:\s*\{/.exec(line.text);
      const bond = line.text.includes("->") && new RegExp(`[:\\s]${escaped(name)}(\\W|$)`).test(line.text);
      if (found?.[1] !== name && !bond) continue;
      this.quiet = true;
      this.view.dispatch({ effects: [point.of(line.from), EditorView.scrollIntoView(line.from, { y: "nearest" })] });
      this.quiet = false;
      return;
    }
    this.view.dispatch({ effects: point.of(-1) });
  }

  private chooseAtCursor(): void {
    const line = this.view.state.doc.lineAt(this.view.state.selection.main.head);
    const name = /^\s+([\w.[\]]+)\s*:/.exec(line.text)?.[1];
    const { structure, chosen } = this.store.state;
    if (!name || !structure) return;
    const elements = structure.elements.some((one) => one.name === name) ? [name] : (structure.parameters.find((one) => one.name === name)?.elements ?? []);
    if (elements.length && elements.join() !== chosen.join()) this.store.set({ chosen: elements, nodes: [] });
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
