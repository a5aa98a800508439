// Type to insert: the kinds that fit what is typed, put in at what is selected. It blocks nothing; Escape closes it.
import { useMemo, useState } from "react";
import type { ElementFacts, PaletteEntry } from "./protocol";
import { store, useStudio } from "./store";

const FEW = 80;
const ALL = "all";
const DOMAINS = ["electrical", "translational", "rotational", "hydraulic"];

export function Insert() {
  const { hello, structure, chosen, nodes, typed: begun } = useStudio();
  const [typed, setTyped] = useState(begun);
  const [group, setGroup] = useState(ALL);
  const [row, setRow] = useState(0);
  const [way, setWay] = useState<"parallel" | "series">("parallel");
  const [domain, setDomain] = useState("electrical");
  const bond = isBondGraph();
  const found = useMemo(() => {
    const { kind } = split(typed, hello?.palette ?? []);
    const fits = (hello?.palette ?? []).filter((one) => (one.group === "bond graph") === bond && (group === ALL || one.group.includes(group)));
    const words = kind.toLowerCase();
    const here = domainHere(structure?.elements ?? [], chosen, nodes);
    // What is called so comes first, then what has this letter, then what begins so, then what only belongs there; always what fits
    // the place before the others.
    const rank = (one: PaletteEntry) => {
      const word = one.word.toLowerCase();
      const near = one.domains[0] === here ? 0 : 1;
      return near + (word === words ? 0 : one.symbol.toLowerCase() === words ? 2 : word.startsWith(words) ? 4 : word.includes(words) ? 6 : one.group.includes(words) ? 8 : NONE);
    };
    return fits.filter((one) => rank(one) < NONE).sort((a, b) => rank(a) - rank(b)).slice(0, FEW);
  }, [typed, hello, bond, group, structure, chosen, nodes]);
  const groups = useMemo(() => [...new Set((hello?.palette ?? []).filter((one) => one.group !== "bond graph").flatMap((one) => one.domains))], [hello]);
  const element = chosen[0] ? store.element(chosen[0]) : undefined;
  const close = () => store.set({ inserting: false, typed: "" });
  const put = (entry: PaletteEntry | undefined) => {
    if (!entry && !typed.includes("->")) return;
    store.whenDone(() => place(entry, typed, way, domain));
    setTyped("");
    setRow(0);
  };
  const where = bond ? (junction(chosen)[0] ? `at junction ${chosen[0]}` : "at a new junction") : nodes.length ? `at ${nodes.join(", ")}` : element ? `beside ${element.name}` : "at a new node";
  return (
    <div className="insert" role="dialog" aria-label="Insert an element" data-testid="insert-box" onKeyDown={(event) => event.key === "Escape" && close()}>
      <input
        autoFocus value={typed} placeholder={bond ? "R, C, I, Se, Sf, 1, 0 … or a line: Se:V -> 1:i" : "spring, resistor, mass …   then nodes and a value: spring n1 frame 2 kN/m"}
        aria-label="Kind of element" role="combobox" aria-expanded="true" aria-controls="kinds" aria-activedescendant={`kind-${row}`} data-testid="insert-text"
        onChange={(event) => (setTyped(event.target.value), setRow(0))}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setRow(Math.min(row + 1, found.length - 1));
          else if (event.key === "ArrowUp") setRow(Math.max(row - 1, 0));
          else if (event.key === "Enter") put(found[row]);
          else return;
          event.preventDefault();
        }}
      />
      <p className="where">
        <span data-testid="insert-where">{where}</span>
        {element && !bond && (
          <span className="ways" role="group" aria-label="How">
            {(["parallel", "series"] as const).map((one) => <button key={one} type="button" aria-pressed={way === one} onClick={() => setWay(one)} data-testid={`way-${one}`}>{one}</button>)}
          </span>
        )}
        {bond && !structure?.elements.length && (
          <select aria-label="Domain" value={domain} onChange={(event) => setDomain(event.target.value)}>{DOMAINS.map((one) => <option key={one}>{one}</option>)}</select>
        )}
        <button type="button" onClick={close} data-testid="insert-close">Close</button>
      </p>
      {!bond && (
        <p className="ways groups" role="group" aria-label="Domain">
          {[ALL, ...groups].map((one) => <button key={one} type="button" aria-pressed={group === one} data-domain={one} onClick={() => (setGroup(one), setRow(0))}>{one}</button>)}
        </p>
      )}
      <ul id="kinds" role="listbox" aria-label="Kinds">
        {found.map((one, k) => (
          <li key={one.word} id={`kind-${k}`} role="option" aria-selected={k === row} onClick={() => put(one)} data-domain={one.domains[0] ?? ""}>
            <b>{one.word}</b> <span className="group">{one.group}</span> <span className="about">{one.summary}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

const NONE = 10;

function isBondGraph(): boolean {
  return store.state.structure?.notation === "bond graph" || store.text.confirmed().includes("\nbond graph:");
}

/** Put in what was typed, at what is selected by now: a kind, nodes that are there or new, and a value with its unit. */
function place(entry: PaletteEntry | undefined, typed: string, way: "parallel" | "series", domain: string): void {
  const { chosen, nodes, hello } = store.state;
  const bond = isBondGraph();
  if (bond && typed.includes("->")) return store.gesture("insert", { kind: typed.trim() });
  if (!entry) return;
  const { rest } = split(typed, hello?.palette ?? []);
  const words = rest.split(/\s+/).filter(Boolean);
  const value = rest.match(/(?:^|\s)([-+]?[\d.][\d.eE+-]*(?:\s+\S+)?)\s*$/)?.[1] ?? "";
  const named = value ? words.slice(0, words.length - value.split(/\s+/).length) : words;
  const args: Record<string, unknown> = { kind: entry.word, nodes: named.length ? named : bond ? junction(chosen) : nodes, value, domain };
  // What was put in a moment ago is selected, and may not be drawn yet: the server knows its nodes.
  const element = chosen[0] ? store.element(chosen[0]) : undefined;
  if (chosen[0] && !named.length && !bond && entry.terminals === 2) Object.assign(args, { beside: chosen[0], way });
  else if (element && !named.length && !bond && entry.terminals === 1) args["nodes"] = element.nodes.slice(0, 1);
  store.insert(args);
}

/** The domain of what is selected, else the one that most elements belong to. */
function domainHere(elements: ElementFacts[], chosen: string[], nodes: string[]): string {
  const near = elements.filter((one) => chosen.includes(one.name) || one.nodes.some((node) => nodes.includes(node)));
  const counted = new Map<string, number>();
  for (const one of near.length ? near : elements) counted.set(one.domain, (counted.get(one.domain) ?? 0) + 1);
  return [...counted].sort((a, b) => b[1] - a[1])[0]?.[0] ?? "";
}

/** A junction of a bond graph may be selected by its own name or by that of an element at it. */
function junction(chosen: string[]): string[] {
  const name = chosen[0];
  if (!name) return [];
  const line = store.text.confirmed().split("\n").find((text) => text.includes("->") && new RegExp(`(^|[\\s:])${name}(\\s|$|\\()`).test(text));
  const items = line?.replace(/^\s*-\s*/, "").split("->").map((item) => item.trim()) ?? [];
  const word = items.find((item) => /^[01]:/.test(item)) ?? items.find((item) => !item.includes(":")) ?? "";
  const found = /^(?:[01]:)?(\w+)/.exec(word)?.[1];
  return found ? [found] : [];
}

/** The kind at the beginning of what is typed: the longest that there is, else all of it. */
function split(typed: string, palette: PaletteEntry[]): { kind: string; rest: string } {
  const text = typed.trim();
  const words = palette.map((one) => one.word).filter((word) => text.toLowerCase().startsWith(`${word.toLowerCase()} `));
  const kind = words.sort((a, b) => b.length - a.length)[0];
  return kind ? { kind: text.slice(0, kind.length), rest: text.slice(kind.length).trim() } : { kind: text, rest: "" };
}
