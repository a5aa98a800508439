"""Figures that stay as they are: the places of items, written into the file of their model."""

import os
from collections.abc import Mapping
from pathlib import Path

from tellegen.core.names import listing
from tellegen.description.layouts import PLACED, write_places
from tellegen.description.opening import NETLIST, read
from tellegen.drawing import rules
from tellegen.drawing.geometry import Point
from tellegen.drawing.notations import draw
from tellegen.drawing.remembered import remembered

Places = Mapping[str, tuple[float, float]]


def keep_layout(
    file: str | os.PathLike[str], places: Places | None = None, *, notation: str = "bond"
) -> dict[str, Point]:
    """Write into the `layout` of a file where the items of its bond graph, POG or schematic stand, and give these places back.

    Without `places` all items are kept where they are drawn now: after a change of the model they stay, and what is new finds a
    place between them. With `places`, by name, only these are put somewhere. Everything else in the file stays as it is.

    Raises: FigureError for an item that is not there (F160), a file that has no layout or a kind of figure without one (F161);
    DescriptionError where the file cannot be read or written.
    """
    path = Path(file)
    if path.suffix.lower() == NETLIST or not path.is_file():
        told = "a netlist says where its elements are drawn" if path.is_file() else f"there is no file '{path}'"
        raise rules.NO_LAYOUT.error(f"no layout can be kept: {told}", fix="give the YAML file of a model")
    found = remembered(draw(read(path), notation, places=dict(places or {})).scene) if notation in PLACED else None
    if found is None:
        told = f"no places are kept of figures drawn as '{notation}'"
        raise rules.NO_LAYOUT.error(told, fix=f"draw it as {listing(PLACED)}")
    kept = dict(found.places) if places is None else {name: at for name, at in found.places.items() if name in places}
    write_places(path, notation, kept)
    return kept
