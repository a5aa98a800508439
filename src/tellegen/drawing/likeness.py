"""Figures like earlier ones: what a figure, or the file of one, remembers is kept as far as the model still has it."""

import os
from collections.abc import Callable
from dataclasses import replace
from math import dist
from pathlib import Path
from statistics import median_low

from tellegen.description.layouts import PLACED
from tellegen.drawing import rules
from tellegen.drawing.bond_moved import STILL
from tellegen.drawing.figures import Figure
from tellegen.drawing.memories import Remembered
from tellegen.drawing.remembered import remembered
from tellegen.drawing.remembering import NothingRememberedError, recall

Earlier = Figure | str | os.PathLike[str]
"""A figure, or the file of one."""
KEPT, ANEW = "kept the places of", "laid out anew"
"""What notes begin with."""
ALIKE = 1 / 3
"""Figures that have less than this share of the smaller one in common are of different models."""


def drawn_like(earlier: Earlier, notation: str, make: Callable[[Remembered | None], Figure]) -> Figure:
    """A figure like an earlier one; its notes say what was kept, or why it is laid out anew.

    Raises: FigureError (F162) where there is no such file, or no figure of this kind is like another.
    """
    if notation not in PLACED:
        told = f"figures drawn as '{notation}' follow from the model alone"
        raise rules.NOT_LIKE.error(f"nothing can be kept: {told}", fix="draw it as 'bond', 'pog' or 'network'")
    name, found = _recalled(earlier)
    if isinstance(found, Remembered) and found.notation != notation:
        found = f"it is drawn as '{found.notation}'"
    if isinstance(found, Remembered):
        figure = make(found)
        new = remembered(figure.scene)
        if new is not None and _alike(new, found):
            return replace(figure, notes=(_kept(name, new, found), *figure.notes))
        found = "it is of another model" if new is not None else "this figure follows from the model alone"
    figure = make(None)
    return replace(figure, notes=(f"{ANEW}, not like {name}: {found}", *figure.notes))


def _recalled(earlier: Earlier) -> tuple[str, Remembered | str]:
    """What an earlier figure is called, and what it remembers, or why it does not."""
    if isinstance(earlier, Figure):
        return "the earlier figure", remembered(earlier.scene) or "figures of its kind follow from the model alone"
    if not isinstance(earlier, str | os.PathLike):
        told = f"'{type(earlier).__name__}' is neither a figure nor the name of a file"
        raise rules.NOT_LIKE.error(f"nothing can be kept: {told}", fix="give a figure, or the file of one")
    path = Path(earlier)
    if not path.is_file():
        raise rules.NOT_LIKE.error(f"nothing can be kept: there is no file '{path}'", fix="give the file of a figure")
    try:
        return str(path), recall(path)
    except NothingRememberedError as error:
        return str(path), str(error)


def _alike(new: Remembered, old: Remembered) -> bool:
    common = len(new.places.keys() & old.places.keys())
    return common > 0 and common >= ALIKE * min(len(new.places), len(old.places))


def _kept(name: str, new: Remembered, old: Remembered) -> str:
    added = len(new.places.keys() - old.places.keys())
    moved = _moved(new, old)
    told = [f"{added} {'item is' if added == 1 else 'items are'} new"] if added else []
    told += [f"{moved} had to move"] if moved else []
    return f"{KEPT} {name}" + (f" ({', '.join(told)})" if told else "")


def _moved(new: Remembered, old: Remembered) -> int:
    """How many items are not where they were, beside the way that all have in common."""
    ways = [(x - old.places[k][0], y - old.places[k][1]) for k, (x, y) in new.places.items() if k in old.places]
    common = median_low([x for x, _ in ways]), median_low([y for _, y in ways])
    return sum(dist(way, common) > STILL for way in ways)
