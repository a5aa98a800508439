// A figure that the server drew, as it is: selected, zoomed and dragged here, never laid out here.
import { memo, useEffect, useRef, useState } from "react";
import { light, linked, Waiting } from "./pane";
import type { View } from "./protocol";
import { store, useStudio } from "./store";

interface Box { x: number; y: number; width: number; height: number }
interface Press { names: string[]; node: string; more: boolean; x: number; y: number }
interface Drag { name: string; x: number; y: number; moved: boolean; groups: SVGElement[] }

const MOVABLE: View[] = ["network", "bond", "pog"];
const GRID = 5;


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

  const down = (event: React.PointerEvent) => {
    const target = event.target as Element;
    if (event.button !== 0 || target.closest(".zoom")) return;
    // Kept from here: a new figure may take the place of this one before the button is let go.
    const wire = view === "network" ? target.closest<SVGElement>("[data-part=wire], [data-part=rail]") : null;
    const node = wire?.dataset["element"] ? "" : (wire?.dataset["port"] ?? "");
    press.current = { names: linked(target), node, more: event.shiftKey, x: event.clientX, y: event.clientY };
    const name = target.closest<SVGElement>("[data-element]")?.dataset["element"];
    const at = place(event.clientX, event.clientY);
    if (name && at && MOVABLE.includes(view) && !power && name in (one?.picture.places ?? {}) && !store.state.history.refusal) {
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
    press.current = null;
    if (!held?.moved) {
      if (pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) < GRID) {
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
  if (!one || (one.picture.reason && !structure?.elements.length)) return <Waiting />;
  if (one.picture.reason) return <p className="none">{one.picture.reason}</p>;
  return (
    <div
      className={`figure ${zoomed ? "zoomed" : ""}`} ref={host} role="group" aria-label={`Figure: ${view}`}
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerLeave={() => store.hover([])} onDoubleClick={reset}
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

function middle(box: Box): { x: number; y: number } {
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** The figure itself is put in once for each text of it, so that what is lit and zoomed stays. */
const Drawing = memo(function Drawing({ svg }: { svg: string }) {
  return <div className="drawing" dangerouslySetInnerHTML={{ __html: svg }} />;
});
