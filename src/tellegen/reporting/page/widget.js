// The page of a model in a frame of a notebook: what it asks goes to the kernel, what the kernel answers goes back.
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.srcdoc = model.get("page");
  frame.title = "A model with sliders";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 1px solid #8886; border-radius: 4px; background: #fff`;
  const names = model.get("order");
  let mine = false;
  const hear = ({ source, data }) => {
    if (source !== frame.contentWindow || data?.tellegen !== "values") return;
    mine = true;
    model.set("params", Object.fromEntries(names.map((name, k) => [name, data.values[k]])));
    model.save_changes();
    mine = false;
    model.send({ si: data.si, times: data.times, names: data.names });
  };
  const answer = ({ said }, [bytes]) => {
    const rows = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    frame.contentWindow?.postMessage({ tellegen: "rows", rows, said }, "*");
  };
  const move = () => {
    if (mine) return;
    const told = model.get("params");
    frame.contentWindow?.postMessage({ tellegen: "move", values: names.map((name) => told[name] ?? null) }, "*");
  };
  addEventListener("message", hear);
  model.on("msg:custom", answer);
  model.on("change:params", move);
  el.append(frame);
  return () => {
    removeEventListener("message", hear);
    model.off("msg:custom", answer);
    model.off("change:params", move);
  };
}
export default { render };
