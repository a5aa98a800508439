// Beside the views: what is selected, and all parameters with sliders whose ends are limits.
import { useEffect, useState, type ReactNode } from "react";
import type { ElementFacts, ParameterFacts } from "./protocol";
import { store, useStudio } from "./store";

const DECADES = 1;
const STEPS = 400;

export function Inspector({ layouts }: { layouts: ReactNode }) {
  const { structure, chosen, nodes } = useStudio();
  const element = chosen[0] ? store.element(chosen[0]) : undefined;
  const all = structure?.parameters ?? [];
  const own = element ? all.filter((one) => one.elements.includes(element.name)) : [];
  const rest = all.filter((one) => !own.includes(one));
  return (
    <aside className="inspector" aria-label="Inspector">
      <div className="inspector-head"><h1>{structure?.name ?? ""}</h1>{layouts}</div>
      {structure && <p className="states" data-testid="states">{structure.states.length ? `${structure.states.length} ${structure.states.length === 1 ? "state" : "states"}: ${structure.states.join(", ")}` : "no states"}</p>}
      {element && <Chosen element={element} />}
      {nodes.length > 0 && (
        <div className="chosen" data-testid="nodes">
          <h2>{nodes.length === 1 ? "Node" : "Nodes"} {nodes.join(", ")}</h2>
          {nodes.length === 2
            ? <button type="button" onClick={() => store.joinNodes()} data-testid="join">Join them (J)</button>
            : <p className="hint">Shift and click another wire to join it; Insert puts an element here.</p>}
          {nodes.length === 1 && <Rename name={nodes[0] ?? ""} />}
        </div>
      )}
      {own.map((one) => <Parameter key={one.name} parameter={one} strong />)}
      {element && structure && element.name in structure.inputs && <Input name={element.name} text={structure.inputs[element.name] ?? ""} strong />}
      {structure && Object.keys(structure.inputs).length > 0 && !element && (
        <>
          <h2>Inputs</h2>
          {Object.entries(structure.inputs).map(([name, text]) => <Input key={name} name={name} text={text} />)}
        </>
      )}
      {rest.length > 0 && <h2>{element ? "Other parameters" : "Parameters"}</h2>}
      {rest.map((one) => <Parameter key={one.name} parameter={one} />)}
      <Elements />
    </aside>
  );
}

/** All elements as buttons: the way to each of them for a keyboard. */
function Elements() {
  const { structure, chosen } = useStudio();
  const elements = structure?.elements ?? [];
  if (!elements.length) return null;
  return (
    <>
      <h2>Elements</h2>
      <div className="elements">
        {elements.map((one) => (
          <button
            key={one.name} type="button" aria-pressed={chosen.includes(one.name)} onClick={() => store.choose([one.name])}
            onPointerEnter={() => store.hover([one.name])} onPointerLeave={() => store.hover([])} data-domain={one.domain} data-testid={`element-${one.name}`}
          >{one.name}</button>
        ))}
      </div>
    </>
  );
}

function Chosen({ element }: { element: ElementFacts }) {
  const { structure } = useStudio();
  const network = structure?.notation === "network";
  // What has a slider below is not told twice.
  const below = structure?.parameters.filter((one) => one.path[1] === element.name).map((one) => one.path[2]) ?? [];
  return (
    <div className="chosen" data-testid="chosen" data-domain={element.domain}>
      <h2>{element.name} <span>{element.kind}</span></h2>
      {element.variables.length > 0 && <p className="hint">{element.variables.join(", ")}</p>}
      {element.own && network
        ? (
          <div className="terminals" role="group" aria-label="Nodes">
            {element.nodes.map((node, k) => <Field key={k} label={k ? "–" : "at"} text={node} testid={`terminal-${k}`} settle={(value) => store.gesture("connect", { name: element.name, terminal: k, node: value })} />)}
          </div>
        )
        : <p className="hint">{element.nodes.join(" – ")}</p>}
      {Object.entries(element.settings).filter(([key]) => !below.includes(key)).map(([key, text]) => (
        <Field key={key} label={key} text={text} testid={`setting-${key}`} settle={(value) => store.gesture("set", { path: ["network", element.name, key], text: value, selected: element.name })} />
      ))}
      {element.own && network && <More key={element.name} element={element} />}
      {element.own
        ? (
          <div className="row">
            <Rename name={element.name} />
            {network && <button type="button" onClick={() => store.duplicate()} title="Another one beside it (Ctrl+D)" data-testid="duplicate">Twice</button>}
            {network && element.nodes.length === 2 && <button type="button" onClick={() => store.turn()} title="The other way round: its nodes change places (Shift+F)" data-testid="turn">Turn</button>}
            {network && element.nodes.length === 2 && <button type="button" onClick={() => store.rotate()} title="Its symbol a quarter further, in the schematic alone (Shift+R)" data-testid="rotate">Rotate</button>}
            <button type="button" onClick={() => store.deleteChosen()} title="Delete" data-testid="delete">Delete</button>
          </div>
        )
        : <p className="hint">It comes from a part or a repeated line: edit it in the text.</p>}
    </div>
  );
}

/** What the line of an element may say beside what it says: a key of the list gets a field. */
function More({ element }: { element: ElementFacts }) {
  const { hello, history } = useStudio();
  const [key, setKey] = useState("");
  const settings = hello?.palette.find((one) => one.word === element.kind)?.settings ?? {};
  const left = Object.entries(settings).filter(([name]) => !(name in element.settings));
  if (!left.length || history.refusal) return null;
  return (
    <>
      <select className="more" value="" aria-label="Add a setting" onChange={(event) => setKey(event.target.value)} data-testid="more">
        <option value="">Add …</option>
        {left.map(([name, about]) => <option key={name} value={name}>{name}: {about}</option>)}
      </select>
      {key && !(key in element.settings) && (
        <Field label={key} text="" hint={settings[key]} begin testid={`setting-${key}`} settle={(value) => store.gesture("set", { path: ["network", element.name, key], text: value, selected: element.name })} />
      )}
    </>
  );
}

function Rename({ name }: { name: string }) {
  return <Field label="name" text={name} testid="rename" settle={(value) => store.gesture("rename", { name, new: value })} />;
}

function Input({ name, text, strong = false }: { name: string; text: string; strong?: boolean }) {
  return (
    <div className={`parameter input ${strong ? "strong" : ""}`}>
      <Field label={name} text={text} testid={`input-${name}`} settle={(value) => store.gesture("set", { path: ["experiment", "inputs", name], text: value })} />
    </div>
  );
}

/** A text that is settled by Enter or by leaving it, and forgotten by Escape. */
function Field({ label, text, testid, settle, hint, begin = false }: { label: string; text: string; testid: string; settle: (text: string) => void; hint?: string | undefined; begin?: boolean }) {
  const { history } = useStudio();
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const done = () => {
    const value = typed.trim();
    if (value && value !== text) settle(value);
    else setTyped(text);
  };
  return (
    <label className="field">
      <span>{label}</span>
      <input
        value={typed} readOnly={history.refusal !== ""} onChange={(event) => setTyped(event.target.value)} onBlur={done} data-testid={testid} spellCheck={false}
        placeholder={hint} autoFocus={begin}
        onKeyDown={(event) => {
          if (event.key === "Enter") done();
          if (event.key === "Escape") setTyped(text);
        }}
      />
    </label>
  );
}

function Parameter({ parameter, strong = false }: { parameter: ParameterFacts; strong?: boolean }) {
  const { held, history } = useStudio();
  const locked = history.refusal !== "";
  const text = held[parameter.name] ?? parameter.text;
  const [typed, setTyped] = useState(text);
  useEffect(() => setTyped(text), [text]);
  const settle = () => {
    const value = typed.trim();
    if (value && value !== parameter.text) store.gesture("set", { path: parameter.path, text: value });
    else setTyped(parameter.text);
  };
  return (
    <div className={`parameter ${strong ? "strong" : ""}`} data-link={parameter.elements.join(" ")} onPointerEnter={() => store.hover(parameter.elements)} onPointerLeave={() => store.hover([])}>
      <label className="field">
        <span dangerouslySetInnerHTML={{ __html: parameter.mathml }} />
        <input
          aria-label={`Value of ${parameter.name}`} value={typed} readOnly={!parameter.own || locked} spellCheck={false} data-testid={`value-${parameter.name}`}
          onChange={(event) => setTyped(event.target.value)} onBlur={settle} onKeyDown={(event) => event.key === "Enter" && settle()}
        />
      </label>
      {parameter.plain ? !locked && <Slider parameter={parameter} /> : <Follows parameter={parameter} />}
    </div>
  );
}

/** What a slider may write, from its left end at 0 to its right end at 1. */
interface Scale { rest: number; at: (position: number) => number }

/** From a tenth of the value to ten times as much, of its sign; a value of 0 grows to what is usual, both ways but for elements. */
function scaleOf({ number, span, limits }: ParameterFacts): Scale {
  if (number !== 0) return { rest: 0.5, at: (position) => number * 10 ** (DECADES * (2 * position - 1)) };
  return limits ? { rest: 0, at: (position) => span * position } : { rest: 0.5, at: (position) => span * (2 * position - 1) };
}

const ENDS = { "0": "zero", inf: "infinity" };

/** At the ends of a slider stand the limits: what they make of the model is shown there, and letting go takes them. */
function Slider({ parameter }: { parameter: ParameterFacts }) {
  const [scale, setScale] = useState(() => scaleOf(parameter));
  const [at, setAt] = useState(scale.rest);
  const [holding, setHolding] = useState(false);
  useEffect(() => {
    if (holding) return;
    const found = scaleOf(parameter);
    setScale(found);
    setAt(found.rest);
  }, [parameter.number, parameter.span, holding]);
  const hasEnds = parameter.limits && parameter.number !== 0;
  const end = hasEnds && (at === 0 || at === 1) ? (at === 0 ? "0" : "inf") : null;
  const textAt = (position: number) => (position === scale.rest ? parameter.text : `${Number(scale.at(position).toPrecision(3))}${parameter.unit ? ` ${parameter.unit}` : ""}`);
  const slide = (position: number) => {
    setHolding(true);
    setAt(position);
    if (hasEnds && (position === 0 || position === 1)) return store.tryLimit(parameter.name, position === 0 ? "0" : "inf");
    store.leaveLimit();
    store.hold({ [parameter.name]: textAt(position) });
  };
  const letGo = (takes: boolean) => {
    if (!holding) return;
    setHolding(false);
    if (!end) return store.release(parameter, textAt(at));
    store.release(parameter, parameter.text);
    setAt(scale.rest);
    if (takes) store.takeLimit();
    else store.leaveLimit();
  };
  const button = (value: "0" | "inf", sign: string) => (
    <button
      type="button" className={end === value ? "end reached" : "end"} title={`${parameter.name} to ${ENDS[value]}: a smaller model`} aria-label={`${parameter.name} ${sign}`}
      onClick={() => (store.tryLimit(parameter.name, value), store.takeLimit())} data-testid={`${value === "0" ? "zero" : "inf"}-${parameter.name}`}
    >{sign}</button>
  );
  return (
    <div className="slider">
      {hasEnds && button("0", "→0")}
      <input
        type="range" min={0} max={STEPS} value={Math.round(at * STEPS)} aria-label={`Slider of ${parameter.name}`} aria-valuetext={end ? ENDS[end] : textAt(at)} data-testid={`slider-${parameter.name}`}
        onChange={(event) => slide(Number(event.target.value) / STEPS)} onPointerUp={() => letGo(true)} onKeyUp={(event) => letGo(event.key !== "Escape")} onBlur={() => letGo(false)}
      />
      {hasEnds && button("inf", "→∞")}
    </div>
  );
}

/** Why a parameter has no slider, with the way to those that move it. */
function Follows({ parameter }: { parameter: ParameterFacts }) {
  if (!parameter.moved_by.length) return <p className="hint follows" data-testid={`follows-${parameter.name}`}>{parameter.own ? "a formula without parameters: edit its text" : "its value stands in a part"}</p>;
  return (
    <p className="hint follows" data-testid={`follows-${parameter.name}`}>
      a formula; it moves with{" "}
      {parameter.moved_by.map((name) => <button key={name} type="button" className="plain" onClick={() => document.querySelector<HTMLInputElement>(`[data-testid="slider-${CSS.escape(name)}"]`)?.focus()}>{name}</button>)}
    </p>
  );
}

/** The value of what is selected, ready to be typed over. */
export function editValue(): void {
  const places = [".parameter.strong .field input", ".chosen [data-testid^=setting]", ".chosen [data-testid=rename]"];
  const field = places.map((one) => document.querySelector<HTMLInputElement>(one)).find((one) => one !== null);
  field?.focus();
  field?.select();
}
