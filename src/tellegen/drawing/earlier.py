"""POGs and schematics like earlier ones: their items stand where an earlier figure had them, or where a person put them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import dist, inf
from statistics import fmean

from tellegen.core.names import did_you_mean, listing
from tellegen.description.layouts import Places
from tellegen.drawing import rules
from tellegen.drawing.geometry import Point
from tellegen.drawing.memories import Lines
from tellegen.drawing.options import Options
from tellegen.drawing.remembered import remembered
from tellegen.drawing.scene import Scene
from tellegen.drawing.stretching import Wish, stretched

MOST_NAMED = 12
"""Items that a message names."""
ROOMY = (1.2, 1.4)
"""What was not cut into rows before may be so much wider, and the figure is drawn smaller."""
MOST_COMPARED = 200
"""Larger figures are drawn in one way only."""
NEAR = 5.0
"""What is so near to its place is there."""


def check_places(options: Options, names: Iterable[str], what: str) -> None:
    """Refuse a place for something that a figure cannot have.

    Raises: FigureError (F160).
    """
    known = list(dict.fromkeys(names))
    for name in options.places:
        if name not in known:
            fix = did_you_mean(name, known) or f"the items are {listing(known, MOST_NAMED)}"
            raise rules.NO_SUCH_ITEM.error(f"there is no '{name}' in {what} to be put anywhere", fix=fix)


def earlier_lines(options: Options) -> Lines:
    """The names along the lines of an earlier figure."""
    return () if options.earlier is None else options.earlier.lines


def earlier_places(options: Options) -> Places:
    """Where everything stood in an earlier figure."""
    return {} if options.earlier is None else options.earlier.places


def settled(scene: Scene, options: Options) -> Scene:
    """The scene with its items where they were, or where a person put them; these come first."""
    found = remembered(scene)
    if found is None or not (options.places or options.earlier):
        return scene
    return stretched(scene, found.places, _wishes(dict(found.places), options))


def choices(options: Options) -> Iterator[Options]:
    """Ways to draw a figure like an earlier one: with its order and without, as wide as it may be and somewhat wider."""
    yield options
    if options.earlier is not None and len(options.earlier.places) <= MOST_COMPARED:
        for lines in dict.fromkeys((options.earlier.lines, ())):
            for wide in (1.0, *ROOMY):
                if lines != options.earlier.lines or wide > 1.0:
                    yield replace(options, max_width=wide * options.room, earlier=replace(options.earlier, lines=lines))


def most_like(scenes: Iterable[Scene], options: Options) -> Scene:
    """Of several figures of a model the one that has most where an earlier one had it, the first of equal ones."""
    best, least = None, inf
    for scene in scenes:
        far = _farness(scene, options)
        if best is None or far < least - NEAR:
            best, least = scene, far
        if least <= NEAR:
            break
    assert best is not None, "there is at least one way to draw a figure"
    return best


def _farness(scene: Scene, options: Options) -> float:
    """How far things are from where they were, in the mean."""
    found, before = remembered(scene), earlier_places(options)
    both = [] if found is None else [name for name in found.places if name in before]
    if found is None or not both:
        return 0.0
    return fmean(dist(found.places[name], before[name]) for name in both)


def elsewhere(scene: Scene, options: Options) -> tuple[str, ...]:
    """The items that a person put somewhere, and that could not stand there."""
    found = remembered(scene)
    places = {} if found is None else found.places
    return tuple(name for name, at in options.places.items() if name in places and dist(at, places[name]) > NEAR)


def _wishes(here: dict[str, Point], options: Options) -> dict[str, Wish]:
    """Where each item shall be. What a person put somewhere outweighs all the rest, which stays as it was, or as usual."""
    put = {name: at for name, at in options.places.items() if name in here}
    before = earlier_places(options)
    usual = not before and 2 * len(put) <= len(here)
    rest = {name: here[name] if usual else before.get(name) for name in here if name not in put}
    weight = 1 + len(rest)
    return {name: (at, weight) for name, at in put.items()} | {
        name: (at, 1) for name, at in rest.items() if at is not None
    }
