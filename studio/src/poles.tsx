// Poles in their plane, and the Bode diagram of one channel. Both are numbers of the server; here they are only drawn.
import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { told, TONES } from "./plots";
import type { PoleLine } from "./protocol";
import { useStudio, type KeptRun } from "./store";

export function Poles() {
  const { current } = useStudio();
  const [channel, setChannel] = useState(0);
  if (!current?.done.poles.length) return <p className="none">{current ? "This model has no poles to show: it has no steady state, or no states." : "Run the model first."}</p>;
  const k = Math.min(channel, current.done.channels.length - 1);
  return (
    <div className="poles">
      <Plane poles={current.done.poles} />
      <table data-testid="poles">
        <thead><tr><th>pole [1/s]</th><th>frequency [rad/s]</th><th>damping</th></tr></thead>
        <tbody>{current.done.poles.map((one, row) => <tr key={row}><td>{told(one.real)}{one.imaginary ? ` ± ${told(Math.abs(one.imaginary))}j` : ""}</td><td>{told(one.frequency)}</td><td>{told(one.damping)}</td></tr>)}</tbody>
      </table>
      {k >= 0 && (
        <div className="bode">
          <label>Bode <select value={k} onChange={(event) => setChannel(Number(event.target.value))} data-testid="channel">
            {current.done.channels.map((one, row) => <option key={row} value={row}>{one.output} from {one.input}</option>)}
          </select></label>
          <div className="bode-panels"><Response run={current} row={2 * k} unit="dB" /><Response run={current} row={2 * k + 1} unit="deg" /></div>
        </div>
      )}
    </div>
  );
}

/** The complex plane: crosses for poles, the imaginary axis, and circles of frequency. */
function Plane({ poles }: { poles: PoleLine[] }) {
  const most = Math.max(1e-12, ...poles.map((one) => one.frequency)) * 1.15;
  const right = Math.max(0.15 * most, ...poles.map((one) => 1.15 * one.real));
  const scale = 100 / most;
  return (
    <svg className="plane" viewBox={`-104 -104 ${104 + scale * right} 208`} role="img" aria-label={`Poles: ${poles.map((one) => `${told(one.real)} ± ${told(Math.abs(one.imaginary))}j`).join("; ")}`}>
      {[0.25, 0.5, 0.75, 1].map((share) => <circle key={share} r={100 * share} className="ring" />)}
      <line x1={-104} x2={scale * right} y1={0} y2={0} className="axis" />
      <line x1={0} x2={0} y1={-104} y2={104} className="axis strong" />
      {poles.flatMap((one, k) => [one.imaginary, ...(one.imaginary ? [-one.imaginary] : [])].map((imaginary, side) => (
        <path key={`${k} ${side}`} className={one.real > 0 ? "pole unstable" : "pole"} d={`M${scale * one.real - 3.4} ${-scale * imaginary - 3.4} l6.8 6.8 m0 -6.8 l-6.8 6.8`} />
      )))}
      <text x={-102} y={-94}>{told(most)} rad/s</text>
    </svg>
  );
}

function Response({ run, row, unit }: { run: KeptRun; row: number; unit: string }) {
  const { theme } = useStudio();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const place = host.current;
    if (!place || !run.frequencies.length) return undefined;
    const style = getComputedStyle(document.documentElement);
    const [ink, grid] = [style.getPropertyValue("--quiet"), style.getPropertyValue("--grid")];
    const axis: uPlot.Axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
    const x: uPlot.Axis = { ...axis, grid: { ...axis.grid, filter: decades }, ticks: { ...axis.ticks, filter: decades } };
    const values = Array.from(run.responses[row] ?? [], (value) => (Number.isFinite(value) ? value : null));
    const plot = new uPlot({
      width: Math.max(160, place.clientWidth), height: Math.max(90, place.clientHeight - 4), legend: { show: false }, padding: [8, 8, 0, 0],
      scales: { x: { time: false, distr: 3 } },
      axes: [{ ...x, size: 26, space: 30, filter: decades, values: (_plot, ticks) => ticks.map((one) => (one === null ? "" : `10${raised(Math.round(Math.log10(one)))}`)) }, { ...axis, size: 46, label: unit, labelSize: 16, values: (_plot, ticks) => ticks.map(told), ...(unit === "deg" ? { incrs: [15, 45, 90, 180, 360] } : {}) }],
      series: [{}, { stroke: TONES[theme][0], width: 1.8, points: { show: false } }],
      cursor: { sync: { key: "frequency" } },
    }, [Array.from(run.frequencies), values], place);
    const watcher = new ResizeObserver(() => plot.setSize({ width: Math.max(160, place.clientWidth), height: Math.max(90, place.clientHeight - 4) }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      plot.destroy();
    };
  }, [run, row, theme, unit]);
  return <div className="plot" ref={host} />;
}

/** Of the marks of a logarithmic axis those that are powers of ten, and not too many of them. */
function decades(plot: uPlot, splits: (number | null)[]): (number | null)[] {
  const whole = splits.filter((one): one is number => one !== null && Math.abs(Math.log10(one) - Math.round(Math.log10(one))) < 1e-9);
  const each = Math.max(1, Math.ceil(whole.length / Math.max(1, plot.width / 44)));
  return splits.map((one) => (one !== null && whole.includes(one) && whole.indexOf(one) % each === 0 ? one : null));
}

function raised(power: number): string {
  return [...String(power)].map((digit) => (digit === "-" ? "\u207b" : "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"[Number(digit)])).join("");
}
