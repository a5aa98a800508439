"""A sheet of all built-in examples in all notations, and the plot of each experiment, to be looked at: build/sheet/index.html.

    python tools/sheet.py [EXAMPLE ...]

A figure is judged by eye; what `check_scene` finds, and texts that are too small at the width of a page, stand under it.
"""

import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from html import escape
from pathlib import Path

import tellegen as tg
from tellegen.drawing import check_scene
from tellegen.scenes.pictures import Picture

SHEET = Path(__file__).resolve().parent.parent / "build" / "sheet"
VIEWS = ("network", "bond", "pog", "mechanism")
PAGE = "181 mm"
"""The width of two columns of a journal, at which figures are looked at."""
HEAD = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>All examples</title>
<style>body { font: 15px sans-serif; margin: 24px auto; max-width: 1200px; }
figure { margin: 16px 0; } img { width: 181mm; border: 1px solid #ddd; }
figcaption { color: #555; } .found { color: #c00; }</style><h1>All examples</h1>
"""


def drawn(example: str) -> str:
    """The part of the sheet for one example; its pictures are written beside it."""
    parts = [f"<h2>{escape(example)}</h2>"]
    model = tg.load(example)
    for view in VIEWS:
        try:
            figure = tg.draw(model, view, max_width=PAGE)
        except tg.TellegenError as error:
            if view != "mechanism":
                parts.append(f'<p class="found">{view}: {escape(str(error.what))}</p>')
            continue
        parts.append(_shown(figure, f"{example}-{view}", check_scene(figure.scene)))
    if model.experiment.until is not None:
        try:
            parts.append(_shown(tg.simulate(model, progress=False).plot(max_width=PAGE), f"{example}-run", []))
        except tg.TellegenError as error:
            parts.append(f'<p class="found">run: {escape(str(error.what))}</p>')
    return "\n".join(parts)


def _shown(picture: Picture, name: str, found: Iterable[object]) -> str:
    picture.save(SHEET / f"{name}.svg")
    told = "".join(f'<br><span class="found">{escape(str(defect))}</span>' for defect in found)
    return f'<figure><img src="{name}.svg" alt="{name}"><figcaption>{name}{told}</figcaption></figure>'


def main(asked: list[str]) -> None:
    """Draw the examples that were asked for, or all."""
    SHEET.mkdir(parents=True, exist_ok=True)
    names = asked or [example.name for example in tg.examples()]
    with ProcessPoolExecutor() as pool:
        parts = list(pool.map(drawn, names))
    (SHEET / "index.html").write_text(HEAD + "\n".join(parts), encoding="utf-8")
    print(f"open {SHEET / 'index.html'}")


if __name__ == "__main__":
    main(sys.argv[1:])
