import { store } from "./store";

const KEYS: [string, string][] = [
  ["/", "insert an element: type its kind, then Enter"],
  ["R, C, L, M, K, B …", "insert by letter, of the domain of what is selected; . inserts the last kind again"],
  ["Double click", "on an element: change its value; on the paper: insert"],
  ["Click", "select an element in any view; Shift and click on a wire selects a second node"],
  ["Delete", "delete what is selected"],
  ["J", "join two selected nodes; or drag one wire onto another"],
  ["Shift+F", "turn what is selected round: its two nodes change places"],
  ["Shift+R", "rotate the symbol of what is selected by a quarter; the file keeps it, and the model stays as it is"],
  ["Ctrl+D", "another one like it, beside it"],
  ["Enter", "change the value of what is selected"],
  ["F2", "rename what is selected"],
  ["Ctrl+Z, Ctrl+Shift+Z", "undo, redo"],
  ["Ctrl+Enter", "run"],
  ["P", "the flow of power"],
  ["Drag", "move an item of a figure; its place is kept in the file"],
  ["A file", "dragged into the page becomes one of the folder; decks and files of other tools are imported"],
  ["Ctrl and wheel", "zoom a figure; ⤢ shows all of it"],
  ["Esc", "select nothing"],
];

export function Keys() {
  return (
    <div className="insert keys" role="dialog" aria-label="Keys">
      <h2>Keys</h2>
      <dl>{KEYS.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}</dl>
      <button type="button" autoFocus onClick={() => store.set({ helping: false })}>Close</button>
    </div>
  );
}
