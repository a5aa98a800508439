"use strict";
// A model that runs in the page: sliders set its values, it is begun again, and its curves take the place of those written. Where
// the page has no code of its own, whoever shows the page is asked for the rows: the Python beside a notebook.
(() => {
  const ROWS = 600, FRAME_MS = 14;
  // Four digits are read at a glance.
  const rounded = (value) => {
    const short = Number(value.toPrecision(4)), size = Math.abs(short);
    return size && (size < 1e-3 || size >= 1e6) ? short.toExponential() : String(short);
  };

  async function open(form) {
    const data = JSON.parse(form.querySelector("script").textContent);
    const bytes = Uint8Array.from(atob(data.code), (letter) => letter.charCodeAt(0));
    const model = bytes.length ? (await WebAssembly.instantiate(bytes, { Math })).instance.exports : null;
    const figure = document.getElementById(data.shows);
    const panels = JSON.parse(figure.querySelector("script").textContent);
    const said = form.querySelector("output");
    // Each panel shows its own part of the run, at so many points.
    const even = ([from, to]) => Array.from({ length: ROWS + 1 }, (_, k) => from + (k * (to - from)) / ROWS);
    const spans = panels.map(({ x }) => [x[0], x.at(-1)]);
    const times = [...new Set(spans.flatMap(even))].sort((a, b) => a - b);
    const inside = spans.map(([from, to]) => [times.findIndex((t) => t >= from), times.findLastIndex((t) => t <= to) + 1]);
    // The curves that the model itself can tell, panel by panel.
    const read = panels.map((panel) => panel.names.map((name) => data.variables[name]));
    const values = data.sliders.map(([, value]) => value);

    function* rows() {
      model.tg_page_restore();
      data.sliders.forEach(([reference, , , , factor, offset], k) => model.tg_page_set(reference, values[k] * factor + offset));
      let failed = model.tg_page_begin(data.until);
      const made = read.map((panel) => panel.map(() => new Array(times.length).fill(null)));
      for (let row = 0; row < times.length && !failed; row++) {
        failed = model.tg_page_reach(times[row]);
        read.forEach((panel, k) => panel.forEach((reference, c) => {
          const [factor, offset] = panels[k].shown;
          const value = reference === undefined || failed ? NaN : (model.tg_page_value(reference) - offset) / factor;
          made[k][c][row] = Number.isFinite(value) ? value : null;
        }));
        yield failed ? times[row] : undefined;
      }
      showRows(made);
    }
    function showRows(made) {
      read.forEach((panel, k) => {
        // Curves of other things stay as they were written.
        const [from, to] = inside[k];
        if (panel.every((reference) => reference !== undefined)) figure.showCurves(k, times.slice(from, to), made[k].map((y) => y.slice(from, to)));
      });
    }

    // The run as it was written stays behind the curves that move, pale.
    figure.showBehind = (plot, k) => {
      const { ctx } = plot, { x, y } = panels[k];
      if (values.every((value, j) => value === data.sliders[j][1])) return;
      ctx.save();
      ctx.rect(plot.bbox.left, plot.bbox.top, plot.bbox.width, plot.bbox.height);
      ctx.clip();
      ctx.globalAlpha = 0.3;
      y.forEach((curve, c) => {
        ctx.strokeStyle = plot.series[c + 1].stroke();
        ctx.lineWidth = 1.6 * devicePixelRatio;
        ctx.beginPath();
        curve.forEach((value, row) => {
          if (value !== null && plot.series[c + 1].show) ctx.lineTo(plot.valToPos(x[row], "x", true), plot.valToPos(value, "y", true));
        });
        ctx.stroke();
      });
      ctx.restore();
    };

    const finished = () => {
      const took = performance.now() - began;
      if (!said.value) said.value = `One run: ${took < 10 ? took.toFixed(1) : took.toFixed(0)} ms.`;
      form.dataset.runs = Number(form.dataset.runs ?? 0) + 1;
    };

    // -- Rows from outside ------------------------------------------------------------------------------------------------------
    // One question at a time: while it is answered, only the latest values wait.
    let waiting = false, newer = false;
    function ask() {
      if (waiting) { newer = true; return; }
      waiting = true;
      const si = data.sliders.map(([, , , , factor, offset], k) => values[k] * factor + offset);
      parent.postMessage({ tellegen: "values", values: [...values], si, times, names: panels.map((panel) => panel.names) }, "*");
    }
    if (!model) addEventListener("message", ({ source, data: told }) => {
      if (source !== parent) return;
      if (told.tellegen === "rows") {
        waiting = false;
        said.value = told.said ?? "";
        let at = 0;
        const made = read.map((panel, k) => panel.map(() => Array.from(told.rows.subarray(at, (at += times.length)), (value) => {
          const [factor, offset] = panels[k].shown;
          return Number.isFinite(value) ? (value - offset) / factor : null;
        })));
        if (told.rows.length) showRows(made);
        finished();
        if (newer) { newer = false; ask(); }
      } else if (told.tellegen === "move") {
        told.values.forEach((value, k) => { if (value !== null && value !== values[k]) { values[k] = value; show(k); newer = true; } });
        if (newer) { newer = false; begin(); }
      }
    });

    let run = null, began = 0, asked = 0;
    function go() {
      asked = 0;
      const until = performance.now() + FRAME_MS;
      for (;;) {
        const { done, value } = run.next();
        if (value !== undefined) said.value = `No step leads on from t = ${rounded(value)} s: the curves end there.`;
        if (done) {
          finished();
          run = null;
          return;
        }
        if (performance.now() > until) break;
      }
      asked = requestAnimationFrame(go);
    }
    function begin() {
      began = performance.now();
      said.value = "";
      if (!model) return ask();
      run = rows();
      asked ||= requestAnimationFrame(go);
    }

    // -- Sliders ----------------------------------------------------------------------------------------------------------------
    const at = (k, share) => {
      const [, , low, high, , , geometric] = data.sliders[k];
      return geometric ? low * (high / low) ** share : low + (high - low) * share;
    };
    const share = (k, value) => {
      const [, , low, high, , , geometric] = data.sliders[k];
      return geometric ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    };
    const fields = [...form.querySelectorAll("label")].map((label) => label.querySelectorAll("input"));
    const show = (k) => {
      fields[k][0].value = share(k, values[k]);
      fields[k][1].value = rounded(values[k]);
    };
    fields.forEach(([slider, field], k) => {
      show(k);
      slider.addEventListener("input", () => {
        values[k] = at(k, Number(slider.value));
        field.value = rounded(values[k]);
        begin();
      });
      field.addEventListener("change", () => {
        if (field.value === "" || !Number.isFinite(field.valueAsNumber)) return show(k);
        values[k] = field.valueAsNumber;
        slider.value = share(k, values[k]);
        begin();
      });
    });
    form.addEventListener("reset", (event) => {
      event.preventDefault();
      data.sliders.forEach(([, value], k) => { values[k] = value; show(k); });
      begin();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    begin();
  }
  for (const form of document.querySelectorAll("form.live")) open(form);
})();
