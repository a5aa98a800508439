"""Figures that stay as they are: the places of items, written into the file of their model."""

import os
from collections.abc import Mapping
from pathlib import Path

from tellegen.description.layouts import write_places
from tellegen.description.opening import NETLIST, read
from tellegen.drawing import rules
from tellegen.drawing.bond_moved import places_in
from tellegen.drawing.geometry import Point
from tellegen.drawing.notations import draw

Places = Mapping[str, tuple[float, float]]


def keep_layout(file: str | os.PathLike[str], places: Places | None = None) -> dict[str, Point]:
    """Write into the `layout` of a file where the items of its bond graph stand, and give these places back.

    Without `places` all items are kept where they are drawn now: after a change of the model they stay, and what is new finds a
    place between them. With `places`, by name, only these are put somewhere. Everything else in the file stays as it is.

    Raises: FigureError for an item that is not there (F160) or a file that has no layout (F161); DescriptionError where the file
    cannot be read or written.
    """
    path = Path(file)
    if path.suffix.lower() == NETLIST or not path.is_file():
        told = "a netlist says where its elements are drawn" if path.is_file() else f"there is no file '{path}'"
        raise rules.NO_LAYOUT.error(f"no layout can be kept: {told}", fix="give the YAML file of a model")
    scene = draw(read(path), "bond", places=dict(places or {})).scene
    found = places_in(scene)
    kept = found if places is None else {name: found[name] for name in places}
    write_places(path, "bond", kept)
    return kept
