// A figure that the server drew, as it is: selected, zoomed and dragged here, never laid out here.
import { memo, useEffect, useRef, useState } from "react";
import { light, linked, Waiting } from "./pane";
import type { FindingLine, View } from "./protocol";
import { store, useStudio } from "./store";
import { editValue } from "./inspector";

interface Box { x: number; y: number; width: number; height: number }
interface Press { names: string[]; node: string; more: boolean; x: number; y: number; from: DOMPoint | null }
interface Drag { name: string; x: number; y: number; moved: boolean; groups: SVGElement[] }

const MOVABLE: View[] = ["network", "bond", "pog"];
const GRID = 5;
const NEAR = 24;
const SAMPLES = 16;

export function Figure({ view }: { view: View }) {
  const { shown, chosen, hovered, nodes, flows, power, moment, structure } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  const [zoomed, setZoomed] = useState(false);
  const drag = useRef<Drag | null>(null);
  const press = useRef<Press | null>(null);
  const pan = useRef<{ x: number; y: number; box: Box } | null>(null);
  const whole = useRef<Box | null>(null);
  const one = shown.get(view);
  const flow = power ? flows.get(view) : undefined;
  const svg = flow?.svg ?? one?.picture.svg ?? "";

  const drawing = () => host.current?.querySelector<SVGSVGElement>("svg") ?? null;
  const box = (): Box => {
    const { x, y, width, height } = drawing()!.viewBox.baseVal;
    return { x, y, width, height };
  };
  const setBox = (to: Box) => drawing()?.setAttribute("viewBox", `${to.x} ${to.y} ${to.width} ${to.height}`);

  useEffect(() => {
    const found = drawing();
    if (!found) return;
    found.removeAttribute("width");
    found.removeAttribute("height");
    const before = whole.current;
    whole.current = box();
    // A line is thinner than a hand is steady.
    for (const path of view === "network" ? found.querySelectorAll("[data-part=wire] path, [data-part=rail] path") : []) {
      const wide = path.cloneNode() as SVGElement;
      for (const name of path.getAttributeNames()) if (name !== "d") wide.removeAttribute(name);
      wide.setAttribute("class", "hit");
      path.before(wide);
    }
    // Between the lines of a symbol, and between letters, it is meant too.
    const groups = [...found.querySelectorAll<SVGGElement>("g[data-element]")];
    for (const [k, { x, y, width, height }] of groups.map((group) => group.getBBox()).entries()) {
      const area = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ x, y, width, height, class: "area" })) area.setAttribute(name, String(value));
      groups[k]?.prepend(area);
    }
    // A small change of the figure keeps the look at it; a new figure is shown whole.
    if (!before || !zoomed) setZoomed(false);
  }, [svg]);
  useEffect(() => light(host.current, [...chosen, ...hovered]), [svg, chosen, hovered]);
  useEffect(() => {
    for (const node of host.current?.querySelectorAll<SVGElement>("[data-part=wire], [data-part=rail]") ?? []) {
      node.classList.toggle("lit", nodes.includes(node.dataset["port"] ?? ""));
    }
  }, [svg, nodes]);
  useEffect(() => {
    const found = drawing();
    if (!found) return;
    let over = found.querySelector<SVGGElement>("g.flow");
    if (!flow) return over?.remove();
    if (!over) {
      over = document.createElementNS("http://www.w3.org/2000/svg", "g");
      over.setAttribute("class", "flow");
      found.append(over);
    }
    const k = Math.min(flow.frames.length - 1, Math.round(moment * (flow.frames.length - 1)));
    over.innerHTML = flow.frames[k] ?? "";
  }, [svg, flow, moment]);
  useEffect(() => badge(drawing(), structure?.findings ?? []), [svg, structure]);
  useEffect(() => {
    const turned = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const at = place(event.clientX, event.clientY);
      if (at) zoom(Math.exp(-event.deltaY / 300), at);
    };
    const element = host.current;
    element?.addEventListener("wheel", turned, { passive: false });
    return () => element?.removeEventListener("wheel", turned);
  });

  const place = (clientX: number, clientY: number): DOMPoint | null => {
    const matrix = drawing()?.getScreenCTM()?.inverse();
    return matrix ? new DOMPoint(clientX, clientY).matrixTransform(matrix) : null;
  };
  const zoom = (by: number, at: { x: number; y: number }) => {
    const home = whole.current;
    if (!home || !drawing()) return;
    const now = box();
    const width = Math.min(home.width, Math.max(home.width / 40, now.width / by));
    const share = width / now.width;
    setZoomed(width < home.width);
    setBox(width === home.width ? home : { x: at.x - (at.x - now.x) * share, y: at.y - (at.y - now.y) * share, width, height: now.height * share });
  };
  const reset = () => {
    if (whole.current) setBox(whole.current);
    setZoomed(false);
  };

  /** The node whose wire lies under the pointer, where no element does. */
  const nodeAt = (event: React.PointerEvent) => {
    if (view !== "network") return "";
    for (const found of document.elementsFromPoint(event.clientX, event.clientY)) {
      const group = found.closest<SVGElement>("[data-element], [data-part=wire], [data-part=rail]");
      if (group && host.current?.contains(group)) return group.dataset["element"] ? "" : (group.dataset["port"] ?? "");
    }
    return "";
  };
  /** The node of the wire that ends or passes nearest to where something was let go: leads of symbols are short. */
  const nearestNode = (event: React.PointerEvent, own: string) => {
    let [best, found] = [NEAR, ""];
    for (const wire of host.current?.querySelectorAll<SVGPathElement>(".hit") ?? []) {
      const matrix = wire.getScreenCTM();
      const length = wire.getTotalLength();
      for (let k = 0; matrix && k <= SAMPLES; k += 1) {
        const at = wire.getPointAtLength((length * k) / SAMPLES).matrixTransform(matrix);
        const off = Math.hypot(at.x - event.clientX, at.y - event.clientY);
        const node = wire.closest<SVGElement>("[data-port]")?.dataset["port"] ?? "";
        if (off < best && node !== own) [best, found] = [off, node];
      }
    }
    return found;
  };
  /** A line from the wire that is held to the pointer; nothing takes it away. */
  const draw = (to: DOMPoint | null) => {
    const found = drawing();
    const from = press.current?.from;
    let line = found?.querySelector<SVGLineElement>("line.wiring");
    if (!found || !from || !to) return line?.remove();
    if (!line) {
      line = document.createElementNS("http://www.w3.org/2000/svg", "line");
      line.setAttribute("class", "wiring");
      found.append(line);
    }
    for (const [name, value] of [["x1", from.x], ["y1", from.y], ["x2", to.x], ["y2", to.y]] as const) line.setAttribute(name, String(value));
  };

  const down = (event: React.PointerEvent) => {
    const target = event.target as Element;
    if (event.button !== 0 || target.closest(".zoom")) return;
    // Kept from here: a new figure may take the place of this one before the button is let go.
    const node = nodeAt(event);
    press.current = { names: linked(target), node, more: event.shiftKey, x: event.clientX, y: event.clientY, from: place(event.clientX, event.clientY) };
    const name = target.closest<SVGElement>("[data-element]")?.dataset["element"];
    const at = place(event.clientX, event.clientY);
    if (name && at && MOVABLE.includes(view) && !power && !store.state.locked && name in (one?.picture.places ?? {}) && !store.state.history.refusal) {
      const groups = [...(host.current?.querySelectorAll<SVGElement>(`[data-element="${CSS.escape(name)}"]`) ?? [])];
      drag.current = { name, x: at.x, y: at.y, moved: false, groups };
    } else if (zoomed) pan.current = { x: event.clientX, y: event.clientY, box: box() };
  };
  const move = (event: React.PointerEvent) => {
    store.hover(linked(event.target));
    const held = drag.current;
    if (held) {
      const at = place(event.clientX, event.clientY);
      if (!at) return;
      const [dx, dy] = [at.x - held.x, at.y - held.y];
      if (!held.moved && Math.hypot(dx, dy) < GRID) return;
      if (!held.moved) host.current?.setPointerCapture(event.pointerId);
      held.moved = true;
      for (const group of held.groups) group.setAttribute("transform", `translate(${dx} ${dy})`);
    } else if (press.current?.node && event.buttons === 1 && !store.state.history.refusal) {
      if (far(press.current, event)) draw(place(event.clientX, event.clientY));
    } else if (pan.current) {
      const scale = pan.current.box.width / (host.current?.clientWidth ?? 1);
      const { x, y, box: from } = pan.current;
      setBox({ ...from, x: from.x - (event.clientX - x) * scale, y: from.y - (event.clientY - y) * scale });
    }
  };
  const up = (event: React.PointerEvent) => {
    const held = drag.current;
    const pressed = press.current;
    drag.current = null;
    pan.current = null;
    draw(null);
    press.current = null;
    if (pressed?.node && far(pressed, event)) {
      const other = nodeAt(event) || nearestNode(event, pressed.node);
      if (other && other !== pressed.node) store.gesture("join", { first: other, second: pressed.node });
      else if (!other) store.notice("note", `The wire of ${pressed.node} ends nowhere.`, "Drag it onto another wire to make one node of both.");
      return;
    }
    if (!held?.moved) {
      if (pressed && !far(pressed, event)) {
        if (pressed.node) store.chooseNode(pressed.node, pressed.more);
        else store.choose(pressed.names);
      }
      return;
    }
    const at = place(event.clientX, event.clientY);
    const from = one?.picture.places[held.name];
    if (!at || !from) return;
    const snapped = (value: number) => Math.round(value / GRID) * GRID;
    store.gesture("move", { notation: view, name: held.name, x: snapped(from[0] + at.x - held.x), y: snapped(from[1] + at.y - held.y) });
  };
  const twice = (event: React.MouseEvent) => {
    const names = linked(event.target);
    if ((event.target as Element).closest(".zoom")) return;
    // The field of the value is there once the choice is shown.
    if (names.length) requestAnimationFrame(() => editValue());
    else if (view === "network" || view === "bond") store.set({ inserting: true });
  };
  if (!one || (one.picture.reason && !structure?.elements.length)) return <Waiting />;
  if (one.picture.reason) return <p className="none">{one.picture.reason}</p>;
  return (
    <div
      className={`figure ${zoomed ? "zoomed" : ""}`} ref={host} role="group" aria-label={`Figure: ${view}`}
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => (store.hover([]), draw(null))} onDoubleClick={twice}
    >
      <Drawing svg={svg} />
      <div className="zoom">
        <button type="button" className="icon" aria-label="Zoom in" onClick={(event) => (event.stopPropagation(), zoom(1.5, middle(box())))}>+</button>
        <button type="button" className="icon" aria-label="Zoom out" onClick={(event) => (event.stopPropagation(), zoom(1 / 1.5, middle(box())))}>−</button>
        {zoomed && <button type="button" className="icon" aria-label="Whole figure" onClick={(event) => (event.stopPropagation(), reset())}>⤢</button>}
      </div>
    </div>
  );
}

/** At each element that a finding speaks of stands a sign with its words: the worst one, where there are several. */
function badge(drawing: SVGSVGElement | null, findings: FindingLine[]): void {
  drawing?.querySelector("g.badges")?.remove();
  const serious = findings.filter((one) => one.severity !== "notice").sort((one, other) => one.severity.localeCompare(other.severity));
  if (!drawing || !serious.length) return;
  const over = document.createElementNS(SVG, "g");
  over.setAttribute("class", "badges");
  drawing.append(over);
  // As large on every figure, however small that is drawn.
  const size = 1.1 / (drawing.getScreenCTM()?.a || 1);
  for (const name of new Set(serious.flatMap((one) => one.elements))) {
    const group = drawing.querySelector<SVGGElement>(`[data-element="${CSS.escape(name)}"]:not([data-part=name], [data-part=value])`) ?? drawing.querySelector<SVGGElement>(`[data-element="${CSS.escape(name)}"]`);
    const own = serious.filter((one) => one.elements.includes(name));
    if (!group || !own[0]) continue;
    const box = group.getBBox();
    const sign = document.createElementNS(SVG, "g");
    sign.setAttribute("class", `badge ${own[0].severity}`);
    sign.setAttribute("role", "img");
    sign.setAttribute("data-testid", `badge-${name}`);
    sign.setAttribute("transform", `translate(${box.x + box.width} ${box.y}) scale(${size})`);
    sign.innerHTML = `<title></title><path d="${own[0].severity === "error" ? "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0" : "M0 -7L7 5.5H-7Z"}"/><path class="mark" d="M0 -3.4V1M0 3v0.6"/>`;
    const words = own.map((one) => `${one.code}: ${one.what}${one.fix ? ` (try: ${one.fix})` : ""}`).join("\n");
    sign.setAttribute("aria-label", words);
    sign.querySelector("title")!.textContent = words;
    sign.addEventListener("click", () => store.set({ tab: "findings" }));
    over.append(sign);
  }
}

const SVG = "http://www.w3.org/2000/svg";

function far(press: Press, event: React.PointerEvent): boolean {
  return Math.hypot(event.clientX - press.x, event.clientY - press.y) >= GRID;
}

function middle(box: Box): { x: number; y: number } {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The figure itself is put in once for each text of it, so that what is lit and zoomed stays. */
const Drawing = memo(function Drawing({ svg }: { svg: string }) {
  return <div className="drawing" dangerouslySetInnerHTML={{ __html: svg }} />;
});
