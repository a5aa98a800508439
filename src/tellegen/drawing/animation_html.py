"""Animations as a page of their own: a drawing, a button and a slider over time, in plain JavaScript and nothing from outside."""

import json
from collections.abc import Sequence
from html import escape

from tellegen.drawing.animation_svg import Frames
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Scene
from tellegen.drawing.svg import Writer
from tellegen.drawing.themes import PAPER, THEMES

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
body {{ margin: 1rem; background: {paper}; color: {ink}; font: 15px sans-serif; }}
svg {{ max-width: 100%; height: auto; }}
.frame {{ display: none; }}
.frame.shown {{ display: inline; }}
form {{ display: flex; gap: 0.8rem; align-items: center; max-width: 60rem; }}
input {{ flex: 1; }}
output {{ min-width: 7em; font-variant-numeric: tabular-nums; }}
</style>
</head>
<body>
{drawing}
<form>
<button type="button" aria-label="play or pause">Play</button>
<input type="range" min="0" max="{last}" value="0" step="1" aria-label="time">
<output>{first}</output>
</form>
<script>
{script}
</script>
</body>
</html>
"""

SCRIPT = """const times = %(times)s, pause = %(pause)s;
const frames = document.querySelectorAll(".frame");
const button = document.querySelector("button"), slider = document.querySelector("input");
const output = document.querySelector("output");
let timer = 0;
function show(number) {
  frames.forEach((frame, k) => frame.classList.toggle("shown", k === number));
  slider.value = number;
  output.textContent = "t = " + times[number] + " s";
}
function stop() { clearInterval(timer); timer = 0; button.textContent = "Play"; }
function play() {
  timer = setInterval(() => show((Number(slider.value) + 1) %% frames.length), pause);
  button.textContent = "Pause";
}
button.addEventListener("click", () => timer ? stop() : play());
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
show(0);
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
"""


def to_html(still: Scene, frames: Frames, times: Sequence[float], seconds: float, options: Options) -> str:
    """The animation as a page. It plays at once, unless the reader asked the system for less motion."""
    theme = THEMES[options.theme]
    writer = Writer(still, theme, options.zoom(still.box.width), symbols=True)
    groups = [f'<g class="frame{" shown" * (k == 0)}">{writer.bare(shapes)}</g>' for k, shapes in enumerate(frames)]
    told = [f"{time:.4g}" for time in times]
    script = SCRIPT % {"times": json.dumps(told), "pause": round(1000 * seconds / len(frames))}
    return PAGE.format(
        title=escape(still.title),
        paper=theme.colour(PAPER),
        ink=theme.colour("ink"),
        drawing=writer.document(groups),
        last=len(frames) - 1,
        first=f"t = {told[0]} s",
        script=script,
    )
