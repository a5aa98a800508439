// Below the views: curves, energy over time, poles and Bode, runs beside each other, findings, and what a limit did.
import { useEffect, useState } from "react";
import { Poles } from "./poles";
import { Plots } from "./plots";
import { store, useStudio, type KeptRun, type Tab } from "./store";

const TABS: [Tab, string][] = [["plots", "Curves"], ["power", "Energy"], ["poles", "Poles and Bode"], ["runs", "Runs"], ["findings", "Findings"], ["limit", "Limit"], ["forms", "Forms"], ["snapshots", "Snapshots"]];

/** The notice of a storage that others decide. */
const DEPENDENT = "K201";

export function Dock() {
  const { tab, structure, runs, limit, power, forms } = useStudio();
  const dependent = structure?.findings.some((one) => one.code === DEPENDENT) ?? false;
  const errors = structure?.findings.filter((one) => one.severity === "error").length ?? 0;
  const counts: Partial<Record<Tab, number>> = { findings: structure?.findings.length ?? 0, runs: runs.length };
  return (
    <section className="dock" aria-label="Results">
      <div className="tabs" role="tablist">
        {TABS.filter(([one]) => (one !== "limit" || limit) && (one !== "forms" || forms || dependent)).map(([one, words]) => (
          <button key={one} type="button" role="tab" aria-selected={tab === one} className={one === "findings" && errors ? "wrong" : ""} onClick={() => store.set({ tab: one })} data-testid={`tab-${one}`}>
            {words}{counts[one] ? <span className="count">{counts[one]}</span> : null}
          </button>
        ))}
        {power && <Scrubber />}
      </div>
      <div className="dock-body" role="tabpanel">
        {tab === "plots" && <Plots />}
        {tab === "power" && <Energy />}
        {tab === "poles" && <Poles />}
        {tab === "runs" && <Runs />}
        {tab === "findings" && <Findings />}
        {tab === "limit" && <Limit />}
        {tab === "forms" && <Forms />}
        {tab === "snapshots" && <Snapshots />}
      </div>
    </section>
  );
}

/** The time at which powers are shown; it plays by itself unless less motion is wanted. */
function Scrubber() {
  const { flows, moment } = useStudio();
  const flow = [...flows.values()][0];
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  useEffect(() => {
    if (!flow || still || store.state.moment > 0) return undefined;
    let begun = 0;
    let frame = 0;
    const step = (now: number) => {
      begun ||= now;
      const share = Math.min(1, (now - begun) / 6000);
      store.set({ moment: share });
      if (share < 1) frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
    const stop = () => cancelAnimationFrame(frame);
    addEventListener("pointerdown", stop, { once: true });
    return () => {
      stop();
      removeEventListener("pointerdown", stop);
    };
  }, [flow]);
  const times = flow?.times ?? [0];
  const t = times[Math.round(moment * (times.length - 1))] ?? 0;
  return (
    <label className="scrubber">
      <button type="button" className="icon" aria-label="Play" onClick={() => store.set({ moment: 0, flows: new Map(flows) })}>▶</button>
      <input type="range" min={0} max={1000} value={Math.round(moment * 1000)} aria-label="Time of the powers" aria-valuetext={`${t.toPrecision(3)} s`} onChange={(event) => store.set({ moment: Number(event.target.value) / 1000 })} data-testid="scrubber" />
      <span data-testid="scrub-time">t = {t.toPrecision(3)} s</span>
    </label>
  );
}

const number = (value: number): string => Number(value.toPrecision(4)).toString().replace("-", "−");

function Energy() {
  const { current, moment, power } = useStudio();
  if (!current) return <p className="none">Run the model to see its energy.</p>;
  const { done } = current;
  const { residual, ...books } = done.books;
  const k = Math.round((power ? moment : 1) * (done.points - 1));
  const at = current.t[k] ?? 0;
  const energies = done.curves.map((curve, row) => ({ curve, value: current.rows[row]?.[k] ?? 0 })).filter((one) => one.curve.sort === "energy");
  const most = Math.max(1e-300, ...done.curves.flatMap((curve, row) => (curve.sort === "energy" ? [...(current.rows[row] ?? [])].map(Math.abs) : [])));
  return (
    <div className="energy">
      <table data-testid="books">
        <caption>Energy books [J]</caption>
        <tbody>
          {Object.entries(books).filter(([word, value]) => value !== 0 || ["supplied", "stored", "dissipated"].includes(word)).map(([word, value]) => <tr key={word}><th scope="row">{word}</th><td>{number(value)}</td></tr>)}
          <tr><th scope="row">residual</th><td data-testid="residual">{(residual ?? 0).toExponential(1).replace("-", "−")} of the energy handled</td></tr>
        </tbody>
      </table>
      <div className="bars">
        <p>stored at t = {number(at)} s</p>
        {done.left_out && <p className="hint left-out" data-testid="left-out">{done.left_out} The books are of the whole run.</p>}
        {energies.map(({ curve, value }) => (
          <div key={curve.name} className="bar" data-link={curve.elements.join(" ")}>
            <span dangerouslySetInnerHTML={{ __html: curve.mathml }} />
            <meter min={0} max={most} value={Math.abs(value)} aria-label={curve.name} />
            <span>{number(value)} J</span>
          </div>
        ))}
      </div>
    </div>
  );
}

function Runs() {
  const { runs, current } = useStudio();
  if (!runs.length) return <p className="none">No runs yet.</p>;
  const pinned = runs.filter((one) => one.pinned);
  // What is pinned, beside what is now; else the latest few.
  const beside = pinned.length ? runs.filter((one) => one.pinned || one.number === current?.number) : runs.slice(-4);
  const names = [...new Set(beside.flatMap((one) => Object.keys(one.values)))].filter((name) => new Set(beside.map((one) => one.values[name] ?? "–")).size > 1);
  const finals = current?.done.shown ?? [];
  return (
    <div className="runs">
      <table>
        <thead><tr><th>run</th><th>at</th><th>solver</th><th>time</th><th>status</th><th>residual</th><th>compare</th></tr></thead>
        <tbody>
          {[...runs].reverse().map((run) => (
            <tr key={run.number} className={run === current ? "current" : ""}>
              <td><button type="button" className="plain" onClick={() => store.set({ current: run })} data-testid={`run-${run.number}`}>#{run.number}</button></td>
              <td>{run.at.toLocaleTimeString()}</td><td>{run.done.solver}</td><td>{(1000 * run.done.seconds).toFixed(0)} ms</td><td>{run.done.status}</td>
              <td>{run.done.books["residual"]?.toExponential(0).replace("-", "−") ?? ""}</td>
              <td><label><input type="checkbox" checked={run.pinned} onChange={() => store.pin(run)} data-testid={`pin-${run.number}`} /> pinned</label></td>
            </tr>
          ))}
        </tbody>
      </table>
      <table data-testid="compare">
        <caption>{names.length ? "What differs" : "At the end of each run"}</caption>
        <thead><tr><th />{beside.map((one) => <th key={one.number}>#{one.number}</th>)}</tr></thead>
        <tbody>
          {names.map((name) => <tr key={name}><th scope="row">{name}</th>{beside.map((one) => <td key={one.number}>{one.values[name] ?? "–"}</td>)}</tr>)}
          {finals.map((name) => <tr key={name}><th scope="row">{name} at the end</th>{beside.map((one: KeptRun) => <td key={one.number}>{name in one.done.final ? number(one.done.final[name] ?? 0) : "–"}</td>)}</tr>)}
        </tbody>
      </table>
    </div>
  );
}

function Findings() {
  const { structure } = useStudio();
  const findings = structure?.findings ?? [];
  if (!findings.length) return <p className="none">Nothing to complain of.</p>;
  return (
    <ul className="findings">
      {findings.map((one, k) => (
        <li key={k} className="finding" data-severity={one.severity}>
          <p><b>{one.code}</b> {one.what}</p>
          {one.why && <p className="why">because {one.why}</p>}
          {one.fix && <p className="fix">try: {one.fix}</p>}
          <p className="remedies">
            {one.remedies.map((remedy) => <button key={remedy.label} type="button" onClick={() => store.gesture(remedy.name, remedy.arguments)} data-testid="remedy">{remedy.label}</button>)}
            {one.code === DEPENDENT && <button type="button" onClick={() => store.compareForms()}>All forms side by side</button>}
            {one.members.map((name) => <button key={name} type="button" className="plain" onClick={() => store.choose([name])}>{name}</button>)}
          </p>
        </li>
      ))}
    </ul>
  );
}

function Limit() {
  const { limit, trying } = useStudio();
  if (!limit) return null;
  const written = Object.entries(limit.limits).map(([name, value]) => `${name} → ${value === "inf" ? "∞" : value}`).join(", ");
  return (
    <div className="limit" data-testid="limit">
      <div className="account">
        <h2>{written}</h2>
        <p data-testid="limit-states">{limit.before.length} states {trying ? "would become" : "become"} {limit.after.length}{limit.removed.length > 0 && <>: {limit.removed.join(", ")} {limit.removed.length === 1 ? "follows" : "follow"} from the others</>}.</p>
        {trying && <p className="hint" data-testid="limit-trial">Let the slider go here to take the limit; move it back to keep the parameter.</p>}
        {limit.poles.length > 0 && <p>Removed poles: {limit.poles.join(", ")}</p>}
        {limit.loss.length > 0 && (
          <table data-testid="loss"><caption>What it costs</caption><tbody>
            {limit.loss.map(([name, words]) => <tr key={name}><th scope="row">{name}</th><td>{words}</td></tr>)}
          </tbody></table>
        )}
        {limit.note && <p className="hint">{limit.note}</p>}
        {!trying && <button type="button" onClick={() => store.undo()} data-testid="limit-undo">Undo the limit</button>}
      </div>
      {limit.svg && <div className="drawing" dangerouslySetInnerHTML={{ __html: limit.svg }} />}
    </div>
  );
}

/** Dependent storages in each of their forms: what a run costs, how exact it is, and the equations; a button writes the form. */
function Forms() {
  const { forms, structure } = useStudio();
  const [read, setRead] = useState("");
  if (forms === "asked") return <p className="none" role="status">Each form is run, and once more a hundred times finer …</p>;
  if (!forms) {
    return (
      <div className="none">
        <p>Some storages follow from others. There are six ways to treat them.</p>
        <button type="button" onClick={() => store.compareForms()} disabled={!structure?.ok} data-testid="forms-compare">Compare them</button>
      </div>
    );
  }
  const shown = forms.forms.find((one) => one.form === read);
  const off = (value: number) => value.toExponential(1).replace("-", "−");
  return (
    <div className="forms">
      <table data-testid="forms">
        <caption>Errors are against the {forms.reference} form, run a hundred times finer</caption>
        <thead><tr><th>form</th><th /><th>solver</th><th>time</th><th>steps</th><th>states</th><th>error</th><th>of forces</th><th>violation</th><th>energy</th><th>for controllers</th></tr></thead>
        <tbody>
          {forms.forms.map((one) => (
            <tr key={one.form}>
              <th scope="row">{one.form}</th>
              <td>
                <button type="button" aria-pressed={read === one.form} onClick={() => setRead(read === one.form ? "" : one.form)}>Equations</button>{" "}
                <button type="button" onClick={() => store.gesture("condition", { form: one.form })} title="Write the model in this form; undo brings it back" data-testid={`form-${one.form}`}>Take it</button>
              </td>
              <td>{one.solver}</td><td>{(1000 * one.seconds).toFixed(0)} ms</td><td>{one.steps}</td>
              <td>{one.states}{one.excess > 0 && ` (${one.excess} more)`}</td><td>{off(one.relative)}</td><td>{off(one.forces)}</td><td>{off(one.violation)}</td><td>{off(one.energy)}</td>
              <td title={one.suits}>{one.suits.split(":")[0]}</td>
            </tr>
          ))}
          {forms.refused.map(([form, why]) => <tr key={form}><th scope="row">{form}</th><td colSpan={10}>{why}</td></tr>)}
        </tbody>
      </table>
      {shown && <pre tabIndex={0}>{shown.text}</pre>}
    </div>
  );
}

/** The text under names: what differs from it now, and the way back. */
function Snapshots() {
  const { snapshots, file } = useStudio();
  const [name, setName] = useState("");
  const [read, setRead] = useState("");
  useEffect(() => store.snapshot("list"), [file]);
  const keepIt = () => {
    if (name.trim()) store.snapshot("keep", name.trim());
    setName("");
  };
  const shown = snapshots.find((one) => one.name === read);
  return (
    <div className="snapshots">
      <div className="begun">
        <label className="field">
          <span>Keep the model as it is, as</span>
          <input value={name} placeholder="before the gear" onChange={(event) => setName(event.target.value)} onKeyDown={(event) => event.key === "Enter" && keepIt()} data-testid="snapshot-name" />
        </label>
        <button type="button" onClick={keepIt} disabled={!name.trim()} data-testid="snapshot-keep">Keep</button>
      </div>
      {snapshots.length > 0 && (
        <table data-testid="snapshots">
          <thead><tr><th>snapshot</th><th>kept at</th><th>since then</th><th /></tr></thead>
          <tbody>
            {snapshots.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th><td>{one.at}</td>
                <td>
                  {one.changes.length
                    ? <button type="button" aria-pressed={read === one.name} onClick={() => setRead(read === one.name ? "" : one.name)} data-testid={`differs-${one.name}`}>what differs</button>
                    : "nothing differs"}
                </td>
                <td>
                  <button type="button" disabled={!one.changes.length} onClick={() => store.snapshot("restore", one.name)} title="One step, which undo takes back" data-testid={`restore-${one.name}`}>Go back to it</button>{" "}
                  <button type="button" className="plain" onClick={() => store.snapshot("forget", one.name)} data-testid={`forget-${one.name}`}>forget</button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {shown && shown.changes.length > 0 && (
        <pre tabIndex={0} aria-label={`What differs from ${shown.name}`} data-testid="differences">
          {shown.changes.map((line, k) => <span key={k} data-sign={line[0] === "@" ? "@" : line[0]}>{line}{"\n"}</span>)}
        </pre>
      )}
    </div>
  );
}
