// The row above the views: the file, undo and redo, the run, power, export.
import { useEffect, useRef, useState, type ReactNode } from "react";
import { store, useStudio } from "./store";

const FIGURE: [string, string][] = [["svg", "SVG"], ["pdf", "PDF"], ["png", "PNG"], ["tex", "TikZ"]];
const figure = (what: string): [string, string, string][] => FIGURE.map(([format, label]) => [what, format, label]);

const EXPORTS: [string, [string, string, string][]][] = [
  ["Schematic", figure("network")],
  ["Bond graph", figure("bond")],
  ["POG", figure("pog")],
  ["Mechanism", figure("mechanism")],
  ["Equations", [["equations", "tex", "LaTeX"], ["equations", "svg", "SVG"], ["equations", "pdf", "PDF"]]],
  ["Derivation", [["steps", "txt", "text"], ["steps", "tex", "LaTeX"]]],
  ["Curves", figure("curves")],
  ["Bode diagram", figure("bode")],
  ["Poles", figure("poles")],
  ["Energy", figure("energy")],
  ["Data", [["data", "csv", "CSV"], ["data", "nc", "netCDF"], ["data", "mat", "MAT"]]],
  ["Model as", [["model", "network", "network"], ["model", "bond", "bond graph"], ["model", "pog", "POG"]]],
  ["For tools", [["tool", "python", "Python"], ["tool", "fmu", "FMU"], ["tool", "modelica", "Modelica"], ["tool", "simulink", "Simulink"], ["tool", "c", "C"]]],
  ["Everything", [["report", "html", "report"]]],
];

export function ThemeButton() {
  const { themeChoice } = useStudio();
  const next = themeChoice === "system" ? "light" : themeChoice === "light" ? "dark" : "system";
  const sign = { system: "◐", light: "☀", dark: "☾" }[themeChoice];
  return (
    <button type="button" className="icon" title={`Colours: ${themeChoice}`} aria-label={`Colours: ${themeChoice}; change to ${next}`} onClick={() => store.setTheme(next)} data-testid="theme">
      {sign}
    </button>
  );
}

export function Toolbar() {
  const { file, history, structure, running, power, current, locked } = useStudio();
  const stale = store.isStale();
  const [colours, setColours] = useState<"seen" | "colour" | "mono">("seen");
  if (!file) return null;
  const name = history.saved || file.file.replace("example:", "");
  return (
    <header className="toolbar">
      <button type="button" className="icon" onClick={() => store.gallery()} title="All models" aria-label="All models" data-testid="gallery">☰</button>
      <div className="file">
        <b>{name}</b>
        <span data-testid="saved">{history.refusal ? history.refusal : history.saved ? "saved" : "example: a copy is written when you change it"}{history.refusal && <button type="button" className="plain" onClick={() => store.copy()} data-testid="copy">Edit a copy</button>}</span>
      </div>
      <div className="group">
        <button type="button" onClick={() => store.undo()} disabled={!history.undo} title={history.undo ? `Undo: ${history.undo} (Ctrl+Z)` : "Nothing to undo"} data-testid="undo">Undo</button>
        <button type="button" onClick={() => store.redo()} disabled={!history.redo} title={history.redo ? `Redo: ${history.redo} (Ctrl+Shift+Z)` : "Nothing to redo"} data-testid="redo">Redo</button>
      </div>
      <button type="button" onClick={() => store.set({ inserting: true })} title="Insert an element (/)" data-testid="insert">Insert</button>
      <div className="group run">
        {running && !running.live
          ? <button type="button" className="main stop" onClick={() => store.stop()} data-testid="run">Stop</button>
          : <button type="button" className="main" onClick={() => store.run()} disabled={!structure?.ok} title="Run the experiment (Ctrl+Enter)" data-testid="run">Run</button>}
        <Until />
        <span className="state" data-testid="run-state">
          {running && !running.live && running.until > 0 ? `${Math.round((100 * running.reached) / running.until)} %` : stale ? "curves of an earlier text" : current ? `${current.done.rows} rows in ${(1000 * current.done.seconds).toFixed(0)} ms` : ""}
        </span>
      </div>
      <span className="grow" />
      <button type="button" aria-pressed={power} onClick={() => store.togglePower()} title="The flow of power on the figures (P)" data-testid="power">Power</button>
      <Menu label="Export" testid="export">
        <label className="menu-row" onClick={(event) => event.stopPropagation()}>
          <span>Colours</span>
          <select value={colours} onChange={(event) => setColours(event.target.value as typeof colours)} data-testid="export-colours">
            <option value="seen">as they are seen</option><option value="colour">for white paper</option><option value="mono">black on white</option>
          </select>
        </label>
        {EXPORTS.map(([title, items]) => (
          <div key={title} className="menu-row">
            <span>{title}</span>
            {items.map(([what, format, label]) => (
              <button key={format} type="button" onClick={() => store.export(what, format, colours)} data-testid={`export-${what}-${format}`}>{label}</button>
            ))}
          </div>
        ))}
      </Menu>
      <button type="button" aria-pressed={locked} onClick={() => store.lock()} title={locked ? "Items of figures stay where they are; click to move them" : "Items of figures can be dragged; click to lock them"} data-testid="lock">Lock</button>
      <ThemeButton />
      <button type="button" className="icon" onClick={() => store.set({ helping: true })} title="Keys (?)" aria-label="Keys" data-testid="help">?</button>
    </header>
  );
}

/** How long the experiment is. */
function Until() {
  const { structure, current, history } = useStudio();
  const [text, setText] = useState("");
  const until = structure?.until ?? "";
  useEffect(() => setText(until), [until]);
  const settle = () => {
    if (text.trim() && text !== until) store.gesture("set", { path: ["experiment", "until"], text: text.trim() });
  };
  const suits = history.refusal || current?.done.version !== structure?.version ? "" : (current?.done.suits ?? "");
  return (
    <>
      <label className="until">
        until
        <input value={text} size={7} placeholder="2 s" onChange={(event) => setText(event.target.value)} onBlur={settle} onKeyDown={(event) => event.key === "Enter" && settle()} data-testid="until" />
      </label>
      {suits && <button type="button" title={`The motion lasts about ${suits}: run so long`} onClick={() => store.gesture("set", { path: ["experiment", "until"], text: suits })} data-testid="suits">{suits}?</button>}
    </>
  );
}

function Menu({ label, testid, children }: { label: string; testid: string; children: ReactNode }) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return undefined;
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === "Escape" : !place.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener("pointerdown", away);
    addEventListener("keydown", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("keydown", away);
    };
  }, [open]);
  return (
    <div className="menu" ref={place}>
      <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} data-testid={testid}>{label}</button>
      {open && <div className="menu-body" onClick={() => setOpen(false)}>{children}</div>}
    </div>
  );
}
