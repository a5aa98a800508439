"use strict";
// A model that runs in the page: sliders set its values, it is begun again, and its curves take the place of those written.
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
    const { instance } = await WebAssembly.instantiate(bytes, { Math });
    const model = instance.exports, figure = document.getElementById(data.shows);
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

    let run = null, began = 0, asked = 0;
    function go() {
      asked = 0;
      const until = performance.now() + FRAME_MS;
      for (;;) {
        const { done, value } = run.next();
        if (value !== undefined) said.value = `No step leads on from t = ${rounded(value)} s: the curves end there.`;
        if (done) {
          const took = performance.now() - began;
          if (!said.value) said.value = `One run: ${took < 10 ? took.toFixed(1) : took.toFixed(0)} ms.`;
          form.dataset.runs = Number(form.dataset.runs ?? 0) + 1;
          run = null;
          return;
        }
        if (performance.now() > until) break;
      }
      asked = requestAnimationFrame(go);
    }
    function begin() {
      run = rows();
      began = performance.now();
      said.value = "";
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
