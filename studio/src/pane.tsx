// One pane: a view by its word, in whatever way that view is shown.
import { useEffect, useRef, useState } from "react";
import { Figure } from "./figure";
import type { View } from "./protocol";
import { store, useStudio } from "./store";

export const VIEWS: [View, string][] = [
  ["network", "Schematic"], ["bond", "Bond graph"], ["pog", "POG"], ["mechanism", "Mechanism"], ["equations", "Equations"],
  ["steps", "Derivation"], ["text", "Text"],
];

/** A view; without a `place` of its own it stands behind a tab that says which one it is. */
export function Pane({ view, place }: { view: View; place?: number }) {
  const { shown, structure, power } = useStudio();
  const one = shown.get(view);
  const words = VIEWS.find(([word]) => word === view)?.[1] ?? view;
  const figure = view !== "text" && view !== "equations" && view !== "steps";
  return (
    <section className={`pane ${one?.stale ? "stale" : ""}`} aria-label={words} data-testid={`pane-${view}`} data-version={structure?.version ?? -1} data-drawn={one?.version ?? -1}>
      <div className="pane-head">
        {place !== undefined && (
          <select aria-label="View of this pane" value={view} onChange={(event) => store.setPane(place, event.target.value as View)} data-testid={`pane-select-${place}`}>
            {VIEWS.map(([word, label]) => <option key={word} value={word}>{label}</option>)}
          </select>
        )}
        {(view === "mechanism" || (view === "network" && structure?.notation === "mechanism")) && one?.picture.svg && <button type="button" className="icon" aria-pressed={power} onClick={() => store.togglePower()} title="Let it move as in the run (P)" data-testid="move">▶ Move</button>}
        {one?.stale && <span className="reason" role="status">{one.stale}</span>}
      </div>
      {view === "text" ? <TextPane /> : figure ? <Figure view={view} /> : <Formulas view={view} />}
    </section>
  );
}

function TextPane() {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { dom } = store.text.view;
    host.current?.append(dom);
    store.text.view.requestMeasure();
    return () => dom.remove();
  }, []);
  return <div className="text" ref={host} />;
}

/** Equations as MathML that the server wrote; a wide formula is set smaller. */
function Formulas({ view }: { view: "equations" | "steps" }) {
  const { shown, chosen, hovered, structure } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const one = shown.get(view);
  const lines = one?.picture.lines ?? [];
  const body = lines.join("\n");
  useEffect(() => {
    if (!host.current) return undefined;
    const watcher = new ResizeObserver(() => setWidth(host.current?.clientWidth ?? 0));
    watcher.observe(host.current);
    return () => watcher.disconnect();
  }, []);
  useEffect(() => {
    for (const line of host.current?.querySelectorAll<HTMLElement>(".formula") ?? []) {
      line.style.fontSize = "";
      const room = line.clientWidth;
      const need = line.scrollWidth;
      if (need > room + 1) line.style.fontSize = `${Math.max(9, (15 * room) / need)}px`;
    }
  }, [body, width]);
  useEffect(() => light(host.current, [...chosen, ...hovered]), [body, chosen, hovered]);
  if (!one || (one.picture.reason && !structure?.elements.length)) return <Waiting />;
  if (one.picture.reason) return <p className="none">{one.picture.reason}</p>;
  if (one.picture.text) return <pre className="steps" tabIndex={0}>{one.picture.text}</pre>;
  return (
    <div
      className="formulas" ref={host} tabIndex={0} role="group" aria-label="Equations"
      onPointerOver={(event) => store.hover(linked(event.target))} onPointerLeave={() => store.hover([])}
      onClick={(event) => store.choose(linked(event.target))}
    >
      {lines.map((line, k) => <div key={k} className="formula" dangerouslySetInnerHTML={{ __html: line }} />)}
    </div>
  );
}

/** What is said of a text in which nothing stands yet. */
const BLANK = ["G107", "D101", "D401"];

export function Waiting() {
  const { structure } = useStudio();
  const wrong = structure?.findings.find((one) => one.severity === "error");
  if (!structure) return <p className="none">Drawing …</p>;
  if (!structure.elements.length) {
    const begun = wrong && !BLANK.includes(wrong.code);
    return (
      <div className="none empty">
        <p>{begun ? "Not a model yet." : "An empty page."}</p>
        {begun && <p>{wrong.what}</p>}
        <button type="button" onClick={() => store.set({ inserting: true })}>Insert an element</button> <span>or press <kbd>/</kbd></span>
      </div>
    );
  }
  return <p className="none">{wrong?.what ?? "Drawing …"}</p>;
}

/** The names that something on a page stands for. */
export function linked(target: EventTarget | null): string[] {
  const node = (target as Element | null)?.closest?.("[data-element], [data-link]") as HTMLElement | SVGElement | null;
  const words = node?.dataset["link"] ?? node?.dataset["element"] ?? "";
  return words ? words.split(" ").flatMap((word) => store.elementsOf(word)) : [];
}

/** Light everything that stands for some names. */
export function light(root: Element | null, names: string[]): void {
  if (!root) return;
  const wanted = new Set(names);
  for (const node of root.querySelectorAll<HTMLElement | SVGElement>("[data-element], [data-link]")) {
    const words = (node.dataset["link"] ?? node.dataset["element"] ?? "").split(" ");
    const lit = words.some((word) => wanted.has(word) || store.elementsOf(word).some((name) => wanted.has(name)));
    node.classList.toggle("lit", lit);
  }
}
