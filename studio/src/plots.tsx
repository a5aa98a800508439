// Curves over time with uPlot: a panel for each unit, pinned runs in broken lines, two cursors with their difference.
import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import type { RunCurve } from "./protocol";
import { store, useStudio, type KeptRun } from "./store";

export const TONES = {
  light: ["#0058A0", "#D55E00", "#009E73", "#882255", "#5C4400", "#220066"],
  dark: ["#8FD0FF", "#E06A10", "#3CC79B", "#E08CC8", "#E6C34A", "#A79CFF"],
};
const DASHES: number[][] = [[], [6, 4], [2, 3], [10, 4, 2, 4]];

export const told = (value: number | null | undefined): string => (value === null || value === undefined || Number.isNaN(value) ? "" : Number(value.toPrecision(5)).toString().replace("-", "−"));

export function Plots() {
  const { current, runs, variables } = useStudio();
  const [choosing, setChoosing] = useState(false);
  const [log, setLog] = useState("");
  const [over, setOver] = useState("");
  if (!current) return <p className="none">No run yet: Run follows the experiment of the text.</p>;
  const { curves } = current.done;
  const across = curves.find((one) => one.name === over);
  const beside = runs.filter((one) => one.pinned && one.number !== current.number);
  const panels = new Map<string, RunCurve[]>();
  for (const name of variables) {
    const curve = curves.find((one) => one.name === name);
    if (curve) panels.set(curve.unit, [...(panels.get(curve.unit) ?? []), curve]);
  }
  return (
    <div className="plots" data-testid="plots" data-run={current.number} data-id={current.done.id} data-live={String(current.done.live)} data-scales={log} data-fine={current.fine ? `${current.fine.begin} ${current.fine.end}` : ""}>
      <div className="panels">
        {across
          ? [...panels.values()].map((group) => <Phase key={group.map((one) => one.name).join()} across={across} curves={group} run={current} />)
          : [...panels.values()].map((group) => <Panel key={group.map((one) => one.name).join()} curves={group} run={current} beside={beside} log={log} />)}
      </div>
      <div className="chooser">
        <select value={over} aria-label="Horizontal axis" title="Over time, or over another variable" onChange={(event) => setOver(event.target.value)} data-testid="over">
          <option value="">over time</option>
          {curves.map((one) => <option key={one.name} value={one.name}>over {one.name}</option>)}
        </select>
        <select value={log} aria-label="Scales" title="What is not positive is not on a logarithmic axis" disabled={across !== undefined} onChange={(event) => setLog(event.target.value)} data-testid="log">
          <option value="">linear</option><option value="y">log</option><option value="x">log time</option><option value="xy">log both</option>
        </select>
        <button type="button" aria-expanded={choosing} onClick={() => setChoosing(!choosing)} data-testid="variables">Variables</button>
        {choosing && (
          <div className="variables">
            {curves.map((one) => (
              <label key={one.name}>
                <input type="checkbox" checked={variables.includes(one.name)} onChange={(event) => store.set({ variables: event.target.checked ? [...variables, one.name] : variables.filter((name) => name !== one.name) })} data-testid={`variable-${one.name}`} />
                <span dangerouslySetInnerHTML={{ __html: one.mathml }} /> <span className="unit">{one.sort === "variable" ? "" : one.sort}</span>
              </label>
            ))}
          </div>
        )}
      </div>
    </div>
  );
}

/** Curves of one unit. The data are replaced while a slider is held; the plot is made anew only when its curves are others. */
function Panel({ curves, run, beside, log }: { curves: RunCurve[]; run: KeptRun; beside: KeptRun[]; log: string }) {
  const { theme, chosen, hovered } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [marks, setMarks] = useState<number[]>([]);
  const drawnMarks = useRef(marks);
  const shape = `${theme} ${log} ${curves.map((one) => `${one.name} ${one.factor}`).join()} ${beside.map((one) => one.number).join()}`;
  const data = useMemo(() => joined(curves, run, beside, log), [shape, run]);
  useEffect(() => {
    const place = host.current;
    if (!place) return undefined;
    const style = getComputedStyle(document.documentElement);
    const [ink, grid] = [style.getPropertyValue("--quiet"), style.getPropertyValue("--grid")];
    const axis: uPlot.Axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const lines = [run, ...beside].flatMap((_, r) => curves.map((curve, k): uPlot.Series => ({
      label: r ? `${curve.name} #${beside[r - 1]?.number}` : curve.name, stroke: TONES[theme][k % 6], width: r ? 1.2 : 1.8, dash: DASHES[r % 4] ?? [],
      points: { show: false }, spanGaps: true, pxAlign: 0, value: (_plot, value) => told(value),
    })));
    const made = new uPlot({
      width: Math.max(160, place.clientWidth), height: Math.max(90, place.clientHeight - 4),
      legend: { show: false }, padding: [8, 18, 0, 0],
      scales: { x: { time: false, distr: log.includes("x") ? 3 : 1 }, y: { distr: log.includes("y") ? 3 : 1 } },
      axes: [{ ...axis, size: 26, values: (_plot, ticks) => ticks.map(told) }, { ...axis, size: 52, values: (_plot, ticks) => ticks.map(told) }],
      series: [{ label: "t" }, ...lines],
      cursor: { sync: { key: "time" }, focus: { prox: 24 }, drag: { x: true, y: true, uni: 24 } },
      focus: { alpha: 0.35 },
      hooks: {
        setSeries: [(_plot, k) => store.hover(k ? (curves[(k - 1) % curves.length]?.elements ?? []) : [])],
        setCursor: [(drawn) => readOff(place, drawn, curves)],
        draw: [(drawn) => drawMarks(drawn, drawnMarks.current, ink)],
        setScale: [(drawn, key) => {
          if (key !== "x") return;
          zoomOthers(drawn);
          place.parentElement?.setAttribute("data-until", String(drawn.scales["x"]?.max ?? ""));
        }],
      },
    }, data, place);
    made.over.addEventListener("click", (event) => {
      const at = made.posToVal(event.offsetX, "x");
      setMarks((known) => (known.length === 1 ? [...known, at] : [at]));
    });
    plot.current = made;
    together.add(made);
    const watcher = new ResizeObserver(() => made.setSize({ width: Math.max(160, place.clientWidth), height: Math.max(90, place.clientHeight - 4) }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      together.delete(made);
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    // Who looks at a stretch of time goes on looking at it while a slider is held.
    const { min, max } = made.scales["x"] ?? {};
    const old = made.data[0];
    const whole = min == null || max == null || !old.length || (min <= (old[0] ?? 0) && max >= (old[old.length - 1] ?? 0));
    made.setData(data, whole);
    if (!whole) made.setScale("x", { min, max });
  }, [data]);
  useEffect(() => {
    drawnMarks.current = marks;
    plot.current?.redraw(false);
  }, [marks]);
  const lit = curves.map((one) => one.elements.some((name) => chosen.includes(name) || hovered.includes(name)));
  useEffect(() => {
    const made = plot.current;
    if (!made) return;
    made.series.forEach((series, k) => {
      if (k) series.width = (lit[(k - 1) % curves.length] ? 3.4 : k > curves.length ? 1.2 : 1.8) * devicePixelRatio;
    });
    made.redraw(false);
  }, [lit.join(), data]);
  const unit = curves[0]?.shown_unit ?? "";
  const [a, b] = marks;
  return (
    <figure className="panel">
      <figcaption>
        {curves.map((one, k) => (
          <span key={one.name} className={lit[k] ? "name lit" : "name"} style={{ color: TONES[theme][k % 6] }} data-link={one.elements.join(" ")} onClick={() => store.choose(one.elements)}>
            <span dangerouslySetInnerHTML={{ __html: one.mathml }} /><output data-curve={one.name} />
          </span>
        ))}
        {unit && <span className="unit">in <span dangerouslySetInnerHTML={{ __html: unit }} /></span>}
        {a !== undefined && b !== undefined && <span className="delta" data-testid="delta">Δt = {told(Math.abs(b - a))} s{curves.map((one) => `, Δ${one.name} = ${told(difference(one, run, a, b))}`)}</span>}
      </figcaption>
      <div className="plot" ref={host} />
    </figure>
  );
}

const WIDE = 320;
const HIGH = 170;
const EDGE = { left: 50, right: 10, top: 8, bottom: 24 };

/** Curves over another variable: what the states do, without the time. */
function Phase({ across, curves, run }: { across: RunCurve; curves: RunCurve[]; run: KeptRun }) {
  const { theme } = useStudio();
  const rowOf = (curve: RunCurve) => {
    const row = run.rows[run.done.curves.findIndex((one) => one.name === curve.name)] ?? new Float64Array();
    return row.map((value) => value / curve.factor);
  };
  const { x, rows, horizontal, vertical } = useMemo(() => {
    const x = rowOf(across);
    const rows = curves.map(rowOf);
    return { x, rows, horizontal: rangeOf([x]), vertical: rangeOf(rows) };
  }, [across, curves, run]);
  const right = (value: number) => EDGE.left + ((value - horizontal[0]) / (horizontal[1] - horizontal[0])) * (WIDE - EDGE.left - EDGE.right);
  const up = (value: number) => HIGH - EDGE.bottom - ((value - vertical[0]) / (vertical[1] - vertical[0])) * (HIGH - EDGE.top - EDGE.bottom);
  const ticks = ([least, most]: [number, number]) => [0, 1, 2, 3, 4].map((k) => least + (k * (most - least)) / 4);
  return (
    <figure className="panel">
      <figcaption>
        {curves.map((one, k) => <span key={one.name} className="name" style={{ color: TONES[theme][k % 6] }} dangerouslySetInnerHTML={{ __html: one.mathml }} />)}
        <span className="unit">over <span dangerouslySetInnerHTML={{ __html: across.mathml }} /></span>
      </figcaption>
      <svg className="phase" viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={`${curves.map((one) => one.name).join(", ")} over ${across.name}`} data-testid="phase">
        {ticks(horizontal).map((value) => <g key={value}><path d={`M${right(value)} ${EDGE.top}V${HIGH - EDGE.bottom}`} /><text x={right(value)} y={HIGH - 8} textAnchor="middle">{told(Number(value.toPrecision(3)))}</text></g>)}
        {ticks(vertical).map((value) => <g key={value}><path d={`M${EDGE.left} ${up(value)}H${WIDE - EDGE.right}`} /><text x={EDGE.left - 5} y={up(value) + 3} textAnchor="end">{told(Number(value.toPrecision(3)))}</text></g>)}
        {rows.map((row, k) => <polyline key={curves[k]?.name} stroke={TONES[theme][k % 6]} points={Array.from(x, (value, n) => `${right(value).toFixed(1)},${up(row[n] ?? 0).toFixed(1)}`).join(" ")} />)}
      </svg>
    </figure>
  );
}

/** The least and the greatest of some rows, never the same. */
function rangeOf(rows: Float64Array[]): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (const row of rows) for (const value of row) [least, most] = [Math.min(least, value), Math.max(most, value)];
  if (!(least < most)) [least, most] = Number.isFinite(least) ? [least - 1, least + 1] : [0, 1];
  return [least, most];
}

/** Plots over time show the same stretch of it. */
const together = new Set<uPlot>();
let zooming = false;

function zoomOthers(plot: uPlot): void {
  const { min, max } = plot.scales["x"] ?? {};
  if (zooming || min == null || max == null) return;
  zooming = true;
  store.look(min, max);
  for (const other of together) if (other !== plot && other.status === 1) other.setScale("x", { min, max });
  zooming = false;
}

/** The two times between which differences are told. */
function drawMarks(plot: uPlot, marks: number[], ink: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = ink;
  ctx.lineWidth = 1;
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  marks.forEach((t, k) => {
    const x = Math.round(plot.valToPos(t, "x", true)) + 0.5;
    if (x < bbox.left || x > bbox.left + bbox.width) return;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText("AB"[k] ?? "", x + 4 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
  });
  ctx.restore();
}

function difference(curve: RunCurve, run: KeptRun, a: number, b: number): number {
  const coarse = run.rows[run.done.curves.findIndex((one) => one.name === curve.name)];
  const finer = run.fine?.rows.get(curve.name);
  const at = (t: number) => {
    const close = run.fine && finer && t >= run.fine.begin && t <= run.fine.end;
    return close ? between(run.fine!.t, finer, t) : coarse ? between(run.t, coarse, t) : NaN;
  };
  return (at(Math.max(a, b)) - at(Math.min(a, b))) / curve.factor;
}

/** The values at the cursor, beside the names. */
function readOff(place: HTMLElement, plot: uPlot, curves: RunCurve[]): void {
  const k = plot.cursor.idx;
  const caption = place.parentElement?.querySelector("figcaption");
  curves.forEach((curve, row) => {
    const output = caption?.querySelector<HTMLOutputElement>(`output[data-curve="${CSS.escape(curve.name)}"]`);
    if (output) output.textContent = k === null || k === undefined ? "" : ` ${told(plot.data[row + 1]?.[k] as number | null)}`;
  });
}

/** Rows of the runs over one axis; where runs have other times they are joined. */
function joined(curves: RunCurve[], run: KeptRun, beside: KeptRun[], log: string): uPlot.AlignedData {
  const least = log.includes("x") ? 0 : -Infinity;
  const low = log.includes("y") ? 0 : -Infinity;
  const tables = [run, ...beside].map((one): uPlot.AlignedData => {
    const rows = curves.map((curve) => {
      const k = one.done.curves.findIndex((other) => other.name === curve.name);
      const row = one.rows[k];
      return row ? spliced(one, row, one.fine?.rows.get(curve.name)).map((value) => value / curve.factor) : spliced(one, one.t, one.fine?.t).map(() => null);
    });
    const t = spliced(one, one.t, one.fine?.t);
    // A logarithm has no place for what is not positive.
    const first = Math.max(0, t.findIndex((time) => time > least));
    return [t.slice(first), ...rows.map((row) => row.slice(first).map((value) => (value !== null && value > low ? value : null)))] as uPlot.AlignedData;
  });
  const [first] = tables;
  return tables.length === 1 && first ? first : uPlot.join(tables);
}

/** A row of a run, with its finer points where somebody looks closely; a curve that has none there keeps its own at their times. */
function spliced({ t, fine }: KeptRun, row: Float64Array, finer: Float64Array | undefined): number[] {
  if (!fine) return Array.from(row);
  const from = t.findIndex((time) => time >= fine.begin);
  let to = t.findIndex((time) => time > fine.end);
  if (to < 0) to = t.length;
  const middle = finer ?? fine.t.map((time) => between(t, row, time));
  return [...row.slice(0, Math.max(0, from)), ...middle, ...row.slice(to)];
}

function between(t: Float64Array, row: Float64Array, time: number): number {
  let k = t.findIndex((one) => one >= time);
  if (k < 0) k = t.length - 1;
  const [a, b] = [t[k - 1] ?? time, t[k] ?? time];
  const share = b > a ? (time - a) / (b - a) : 1;
  return (row[k - 1] ?? row[k] ?? NaN) * (1 - share) + (row[k] ?? NaN) * share;
}
