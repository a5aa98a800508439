// Completion and hover of the text pane, from the JSON Schema of model files and from the model itself.
import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";
import type { EditorView, Tooltip } from "@codemirror/view";
import type { Store } from "./store";

type Schema = Record<string, unknown>;

function record(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}

/** What a reference stands for. */
function resolved(schema: Schema, root: Schema): Schema {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  let found: unknown = root;
  for (const word of reference.replace("#/", "").split("/")) found = record(found)[word];
  return { ...record(found), ...schema, $ref: undefined };
}

/** The schemas that one key leads to: alternatives and patterns are all looked into. */
function below(schema: Schema, key: string, root: Schema): Schema[] {
  const whole = resolved(schema, root);
  const found: Schema[] = [];
  const own = record(whole["properties"])[key];
  if (own) found.push(resolved(record(own), root));
  for (const [pattern, value] of Object.entries(record(whole["patternProperties"]))) {
    if (!own && matches(pattern, key)) found.push(resolved(record(value), root));
  }
  for (const word of ["oneOf", "anyOf", "allOf"]) {
    const parts = whole[word];
    if (Array.isArray(parts)) for (const part of parts) found.push(...below(record(part), key, root));
  }
  return found;
}

function matches(pattern: string, key: string): boolean {
  try {
    return new RegExp(pattern).test(key);
  } catch {
    return false;
  }
}

/** The keys that a schema knows, with their meanings. */
function keysOf(schema: Schema, root: Schema): Map<string, string> {
  const whole = resolved(schema, root);
  const found = new Map<string, string>();
  for (const [key, value] of Object.entries(record(whole["properties"]))) {
    found.set(key, String(resolved(record(value), root)["description"] ?? ""));
  }
  for (const word of ["oneOf", "anyOf", "allOf"]) {
    const parts = whole[word];
    if (Array.isArray(parts)) for (const part of parts) for (const [key, about] of keysOf(record(part), root)) if (!found.has(key)) found.set(key, about);
  }
  return found;
}

/** The keys from the root of a text to a place, by indentation and open braces. */
export function pathAt(lines: string[], line: number, column: number): string[] {
  const path: string[] = [];
  const text = lines[line] ?? "";
  const before = text.slice(0, column);
  let indent = before.trim() ? (/^\s*/.exec(text)?.[0].length ?? 0) : column;
  const key = /^\s*(?:- )?([^\s:{[][^:{[]*):\s*(.*)$/.exec(before);
  if (key && /[{[]/.test(key[2] ?? "")) path.unshift((key[1] ?? "").trim());
  for (let k = line - 1; k >= 0 && indent > 0; k -= 1) {
    const above = lines[k] ?? "";
    if (!above.trim() || above.trim().startsWith("#")) continue;
    const depth = /^\s*/.exec(above)?.[0].length ?? 0;
    if (depth >= indent) continue;
    const name = /^\s*(?:- )?([^:]+):/.exec(above)?.[1];
    if (name) path.unshift(name.trim());
    indent = depth;
  }
  return path;
}

export function completions(context: CompletionContext, store: Store): CompletionResult | null {
  const root = record(store.state.hello?.schema);
  const doc = context.state.doc;
  const line = doc.lineAt(context.pos);
  const column = context.pos - line.from;
  const word = context.matchBefore(/[\w][\w ]*|/);
  const from = word ? word.from + (/^\s*/.exec(word.text)?.[0].length ?? 0) : context.pos;
  if (!context.explicit && (!word || word.from === word.to)) return null;
  const path = pathAt(doc.toString().split("\n"), line.number - 1, column);
  const before = line.text.slice(0, column);
  const options: Completion[] = [];
  const { structure, hello } = store.state;
  if (path[0] === "network" && /\{\s*[\w ]*$/.test(before)) {
    for (const kind of hello?.palette ?? []) {
      if (kind.group === "bond graph") continue;
      const nodes = Array.from({ length: kind.terminals }, (_, k) => `n${k + 1}`).join(", ");
      options.push({ label: kind.word, detail: kind.group, info: kind.summary, type: "class", apply: `${kind.word}: [${nodes}]` });
    }
  } else if (path[0] === "network" && /\[[^\]]*$/.test(before)) {
    for (const node of structure?.nodes ?? []) options.push({ label: node, type: "variable" });
  } else if (/:\s+\S*$/.test(before) && !/[{[,]\s*\w*$/.test(before)) {
    for (const one of structure?.parameters ?? []) options.push({ label: one.name, detail: one.text, type: "variable" });
  } else {
    let schemas: Schema[] = [root];
    for (const key of path) schemas = schemas.flatMap((schema) => below(schema, key, root));
    for (const schema of schemas) {
      for (const [key, about] of keysOf(schema, root)) {
        if (!options.some((one) => one.label === key)) options.push({ label: key, info: about, type: "property", apply: `${key}: ` });
      }
    }
  }
  return options.length ? { from, options, validFor: /^[\w ]*$/ } : null;
}

export function describe(view: EditorView, at: number, store: Store): Tooltip | null {
  const line = view.state.doc.lineAt(at);
  const range = view.state.wordAt(at);
  if (!range) return null;
  const root = record(store.state.hello?.schema);
  const before = line.text.slice(0, range.from - line.from);
  const key = /([\w ]+):/.exec(line.text.slice(Math.max(0, before.search(/[\w ]*$/))))?.[1]?.trim() ?? "";
  const kind = store.state.hello?.palette.find((one) => one.word === key && /\{\s*[\w ]*$/.test(before));
  let words = kind ? `${kind.summary}${kind.unit ? ` (${kind.key || "unit"} in ${kind.unit})` : ""}` : "";
  if (!words) {
    const path = pathAt(view.state.doc.toString().split("\n"), line.number - 1, range.from - line.from);
    let schemas: Schema[] = [root];
    for (const step of path) schemas = schemas.flatMap((schema) => below(schema, step, root));
    for (const schema of schemas) words ||= keysOf(schema, root).get(key) ?? "";
  }
  if (!words) {
    const name = view.state.sliceDoc(range.from, range.to);
    const parameter = store.state.structure?.parameters.find((one) => one.name === name);
    if (parameter) words = `${parameter.name} = ${parameter.text}`;
  }
  if (!words) return null;
  return {
    pos: range.from, end: range.to, above: true,
    create: () => {
      const dom = document.createElement("div");
      dom.className = "cm-about";
      dom.textContent = words;
      return { dom };
    },
  };
}
