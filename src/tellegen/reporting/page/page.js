"use strict";
// What a report does in a browser: one element lights up in all views, figures are zoomed, curves are read off. It asks nobody
// for anything, and a page without it shows the same.
(() => {
  const root = document.documentElement;
  const every = (selector, from = document) => [...from.querySelectorAll(selector)];

  // -- Light and dark ---------------------------------------------------------------------------------------------------------
  const toggle = document.querySelector("nav button");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const redraw = [];
  function setTheme(theme) {
    root.dataset.theme = theme;
    toggle.textContent = theme === "dark" ? toggle.dataset.light : toggle.dataset.dark;
    for (const draw of redraw) draw();
  }
  toggle.hidden = false;
  toggle.addEventListener("click", () => setTheme(root.dataset.theme === "dark" ? "light" : "dark"));
  system.addEventListener("change", () => setTheme(system.matches ? "dark" : "light"));

  // -- Contents ---------------------------------------------------------------------------------------------------------------
  const links = new Map(every("nav a").map((link) => [link.hash.slice(1), link]));
  const watch = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const [id, link] of links) link.classList.toggle("here", id === entry.target.id);
    }
  }, { rootMargin: "0px 0px -80% 0px" });
  every("h2[id]").forEach((head) => watch.observe(head));

  // -- One element in all views -------------------------------------------------------------------------------------------------
  const byElement = new Map();
  const namesOf = (node) => (node.dataset.link ?? node.dataset.element).split(" ");
  function enlist(node) {
    for (const name of namesOf(node)) {
      if (!byElement.has(name)) byElement.set(name, new Set());
      byElement.get(name).add(node);
    }
  }
  every("[data-element], [data-link]").forEach(enlist);
  let lit = [], shown = "", pinned = false;
  function light(names) {
    shown = names.join(" ");
    for (const node of lit) node.classList.remove("lit");
    lit = names.flatMap((name) => [...(byElement.get(name) ?? [])]);
    for (const node of lit) node.classList.add("lit");
  }
  // Many symbols are strokes with nothing between them: what is inside their outline points at them too.
  const outlines = new WeakMap();
  function outlinesOf(svg) {
    const found = new Map();
    for (const node of svg.querySelectorAll('[data-element][data-part="symbol"]')) {
      const { x, y, width, height } = node.getBBox(), known = found.get(node.dataset.element);
      const [left, top, right, bottom] = known ?? [x, y, x, y];
      found.set(node.dataset.element, [
        Math.min(left, x), Math.min(top, y), Math.max(right, x + width), Math.max(bottom, y + height)]);
    }
    const area = ([left, top, right, bottom]) => (right - left) * (bottom - top);
    return [...found].sort((one, two) => area(one[1]) - area(two[1]));
  }
  function pointedAt(event) {
    const node = event.target.closest?.("[data-element], [data-link]"), svg = event.target.closest?.("figure svg");
    if (node || !svg?.getScreenCTM) return node ? namesOf(node) : [];
    if (!outlines.has(svg)) outlines.set(svg, outlinesOf(svg));
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const inside = ([, [left, top, right, bottom]]) => left <= x && x <= right && top <= y && y <= bottom;
    return outlines.get(svg).find(inside)?.[0].split(" ") ?? [];
  }
  document.addEventListener("pointermove", (event) => {
    const names = pinned ? null : pointedAt(event);
    if (names && names.join(" ") !== shown) light(names);
  });
  document.addEventListener("click", (event) => {
    const names = pointedAt(event);
    pinned = names.length > 0 && !event.target.closest(".u-legend");
    light(names);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { pinned = false; light([]); }
  });

  // -- Figures that are zoomed ----------------------------------------------------------------------------------------------------
  for (const figure of every("figure.zooms")) {
    const svg = figure.querySelector("svg"), home = svg.viewBox.baseVal;
    const whole = { x: home.x, y: home.y, width: home.width, height: home.height };
    let view = { ...whole };
    const show = () => {
      svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
      figure.classList.toggle("zoomed", view.width < whole.width);
    };
    const reset = () => { view = { ...whole }; show(); };
    function zoom(by, clientX, clientY) {
      const box = svg.getBoundingClientRect();
      const u = clientX === undefined ? 0.5 : (clientX - box.left) / box.width;
      const v = clientY === undefined ? 0.5 : (clientY - box.top) / box.height;
      const width = Math.min(whole.width, Math.max(whole.width / 40, view.width / by));
      const share = width / view.width;
      if (width === whole.width) return reset();
      view = { x: view.x + u * view.width * (1 - share), y: view.y + v * view.height * (1 - share), width, height: view.height * share };
      show();
    }
    const tools = document.createElement("div");
    tools.className = "tools";
    for (const [text, label, act] of [["+", "zoom in", () => zoom(1.5)], ["\u2212", "zoom out", () => zoom(1 / 1.5)], ["\u21ba", "whole figure", reset]]) {
      const button = document.createElement("button");
      button.type = "button"; button.textContent = text; button.title = label; button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      tools.append(button);
    }
    figure.append(tools);
    svg.addEventListener("wheel", (event) => {
      // The page scrolls as usual; with Ctrl, as for a map, the figure is zoomed.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoom(Math.exp(-event.deltaY / 300), event.clientX, event.clientY);
    }, { passive: false });
    svg.addEventListener("dblclick", (event) => (view.width < whole.width ? reset() : zoom(2, event.clientX, event.clientY)));
    let held = null;
    svg.addEventListener("pointerdown", (event) => {
      if (view.width >= whole.width) return;
      held = { x: event.clientX, y: event.clientY, view: { ...view } };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      if (!held) return;
      const scale = held.view.width / svg.getBoundingClientRect().width;
      view = { ...held.view, x: held.view.x - (event.clientX - held.x) * scale, y: held.view.y - (event.clientY - held.y) * scale };
      show();
    });
    for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });
  }

  // -- Curves -------------------------------------------------------------------------------------------------------------------
  const number = (value) => (value === null || value === undefined ? "" : Number(value.toPrecision(5)).toString().replace("-", "\u2212"));
  for (const figure of every("figure.plot")) {
    const panels = JSON.parse(figure.querySelector("script").textContent);
    const titles = figure.querySelector("template").content;
    const host = document.createElement("div");
    host.className = "curves";
    figure.prepend(host);
    figure.classList.add("drawn");
    let made = [];
    const draw = () => {
      for (const plot of made) plot.destroy();
      host.replaceChildren();
      made = panels.map((panel, k) => {
        const style = getComputedStyle(root), ink = style.getPropertyValue("--ink"), grid = style.getPropertyValue("--grid");
        const tones = root.dataset.theme === "dark" ? panel.dark : panel.light;
        const place = document.createElement("div");
        place.append(titles.querySelector(`[data-panel="${k}"]`).cloneNode(true));
        host.append(place);
        const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
        const curves = panel.y.map((_, c) => ({
          label: titles.querySelector(`[data-curve="${k} ${c}"]`).cloneNode(true),
          stroke: tones[c], width: 1.6, dash: panel.dash[c], points: { show: false }, pxAlign: 0, value: (_plot, value) => number(value),
        }));
        const last = k === panels.length - 1;
        const x = titles.querySelector(`[data-x="${k}"]`).cloneNode(true);
        const plot = new uPlot({
          width: host.clientWidth, height: last ? 210 : 180,
          scales: { x: { time: false, distr: panel.xlog ? 3 : 1 }, y: { distr: panel.ylog ? 3 : 1 } },
          axes: [
            { ...axis, size: 34, values: (_plot, ticks) => ticks.map(number) },
            // Angles are read in parts of a turn.
            { ...axis, size: 62, values: (_plot, ticks) => ticks.map(number), ...(panel.turns ? { incrs: [15, 45, 90, 180, 360] } : {}) },
          ],
          series: [{ label: x, value: (_plot, value) => number(value) }, ...curves],
          cursor: { sync: { key: `${figure.id} ${panel.sync}` }, focus: { prox: 24 }, drag: { x: true, y: true, uni: 24 } },
          focus: { alpha: 0.35 },
          hooks: { drawAxes: [(plot) => figure.showBehind?.(plot, k)], setSeries: [(plot, c) => { if (!pinned && c) light(namesIn(plot, c)); }] },
        }, [panel.x, ...panel.y], place);
        every(".u-series", plot.root).forEach((row, c) => {
          const names = row.querySelector("[data-link]");
          if (c && names) { row.dataset.link = names.dataset.link; enlist(row); }
        });
        return plot;
      });
    };
    // What the page computes itself takes the place of what was written.
    figure.showCurves = (k, x, y) => {
      [panels[k].x, panels[k].y] = [x, y];
      made[k]?.setData([x, ...y]);
    };
    const namesIn = (plot, c) => every(".u-series", plot.root)[c]?.dataset.link?.split(" ") ?? [];
    redraw.push(draw);
    let width = 0;
    new ResizeObserver(() => {
      if (host.clientWidth === width) return;
      width = host.clientWidth;
      for (const plot of made) plot.setSize({ width, height: plot.height });
    }).observe(host);
  }
  setTheme(system.matches ? "dark" : "light");
})();
