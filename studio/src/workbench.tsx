// A model that is open: views in panes, the inspector beside them, the dock below.
import { useEffect } from "react";
import { Dock } from "./dock";
import { Insert } from "./insert";
import { editValue, Inspector } from "./inspector";
import { Keys } from "./keys";
import { Pane, VIEWS } from "./pane";
import type { View } from "./protocol";
import { keep, store, useStudio } from "./store";
import { Toolbar } from "./toolbar";

const LAYOUTS: [string, string, View[]][] = [
  ["▦", "Four views", ["network", "pog", "bond", "equations"]],
  ["◫", "Text and two views", ["text", "network", "pog"]],
  ["▥", "Two views", ["network", "bond"]],
  ["▢", "One view", ["network"]],
];

export function Workbench() {
  const { panes, inserting, helping, narrow, face } = useStudio();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => keyed(event);
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);
  return (
    <div className={narrow ? "workbench narrow" : "workbench"}>
      <Toolbar />
      {narrow && <Faces />}
      {narrow
        ? face !== "inspector" && <main className="panes of-1"><Pane key={face} view={face} /></main>
        : <main className={`panes of-${panes.length}`}>{panes.map((view, k) => <Pane key={k} view={view} place={k} />)}</main>}
      {!narrow && <Divider name="inspector" sideways />}
      {(!narrow || face === "inspector") && <Inspector layouts={narrow ? null : <Layouts />} />}
      <Divider name="dock" />
      <Dock />
      {inserting && <Insert />}
      {helping && <Keys />}
    </div>
  );
}

function Layouts() {
  const { panes } = useStudio();
  return (
    <div className="layouts" role="group" aria-label="Layout">
      {LAYOUTS.map(([sign, title, views]) => (
        <button key={title} type="button" className="icon" title={title} aria-label={title} aria-pressed={panes.length === views.length} onClick={() => store.setPanes(views)} data-testid={`layout-${views.length}`}>{sign}</button>
      ))}
    </div>
  );
}

/** On a narrow screen the views stand behind each other, and the parameters with them. */
function Faces() {
  const { face } = useStudio();
  return (
    <div className="faces tabs" role="tablist" aria-label="Views">
      {[...VIEWS, ["inspector", "Parameters"] as const].map(([one, words]) => (
        <button key={one} type="button" role="tab" aria-selected={face === one} onClick={() => store.face(one)} data-testid={`face-${one}`}>{words}</button>
      ))}
    </div>
  );
}

/** The keys that work everywhere but where something is typed. */
function keyed(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const typing = target.closest("input, textarea, select, .cm-editor") !== null;
  const command = event.ctrlKey || event.metaKey;
  const key = event.key.toLowerCase();
  if (command && key === "enter") store.run();
  else if (command && !typing && key === "z") event.shiftKey ? store.redo() : store.undo();
  else if (command && !typing && key === "y") store.redo();
  else if (command && !typing && key === "d") store.whenDone(() => store.duplicate());
  else if (typing || command || event.altKey) return;
  else if (event.key === "/") store.set({ inserting: true });
  else if (event.key === "?") store.set({ helping: true });
  else if (event.key === "Delete" || event.key === "Backspace") store.whenDone(() => store.deleteChosen());
  else if (key === "j" && store.state.nodes.length === 2) store.joinNodes();
  else if (event.key === ".") store.whenDone(() => store.insertAgain());
  else if (event.shiftKey && key === "f" && store.state.chosen.length) store.whenDone(() => store.turn());
  else if (event.shiftKey && key === "r" && store.state.chosen.length) store.whenDone(() => store.rotate());
  else if (key === "p") store.togglePower();
  else if (event.key === "Enter" && target === document.body) editValue();
  else if (key === "f2") document.querySelector<HTMLInputElement>("[data-testid=rename]")?.focus();
  else if (event.key === "Escape") {
    store.set({ inserting: false, helping: false, nodes: [] });
    store.choose([]);
    return;
  } else if (/^[a-z]$/.test(key)) store.set({ inserting: true, typed: event.key });
  else return;
  event.preventDefault();
}

/** A line that is dragged, or moved by arrows, to give the inspector or the dock more room. */
function Divider({ name, sideways = false }: { name: "inspector" | "dock"; sideways?: boolean }) {
  const property = `--${name}`;
  const size = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue(property)) || 0;
  const set = (wanted: number) => {
    const most = (sideways ? innerWidth : innerHeight) * 0.6;
    const found = Math.round(Math.max(sideways ? 180 : 110, Math.min(most, wanted)));
    document.documentElement.style.setProperty(property, `${found}px`);
    keep(name, found);
  };
  useEffect(() => {
    const kept = Number(localStorage.getItem(`tellegen.${name}`) ?? 0);
    if (kept) set(kept);
  }, []);
  return (
    <div
      className={`divider ${name}`} role="separator" tabIndex={0} aria-label={`Size of the ${name}`} aria-orientation={sideways ? "vertical" : "horizontal"}
      aria-valuenow={size()} aria-valuemin={110} aria-valuemax={1000}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={(event) => event.buttons && set(sideways ? innerWidth - event.clientX : innerHeight - event.clientY)}
      onKeyDown={(event) => {
        const step = { ArrowLeft: 20, ArrowUp: 20, ArrowRight: -20, ArrowDown: -20 }[event.key];
        if (step) set(size() + step);
      }}
    />
  );
}
