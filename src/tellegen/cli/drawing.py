"""How `draw` makes a figure of a model and writes its file."""

from pathlib import Path
from typing import NamedTuple

from tellegen.cli import output
from tellegen.drawing import draw
from tellegen.drawing.figures import check_suffix
from tellegen.drawing.notations import scene_maker
from tellegen.workflow import WOULD_OVERWRITE


class DrawOptions(NamedTuple):
    """What the options of `draw` ask for."""

    theme: str
    labels: str
    numbers: bool
    names: bool
    bands: bool
    max_width: float
    scale: float


def save_figure(model: str, notation: str, target: Path, chosen: DrawOptions, *, force: bool) -> None:
    """Draw a model and write the file; what cannot be written is refused before anything is drawn."""
    check_suffix(target)
    scene_maker(notation)
    if target.exists() and not force:
        fix = "choose another name, or force it (--force)"
        raise WOULD_OVERWRITE.error(f"'{target}' is there already", fix=fix)
    figure = draw(
        model,
        notation,
        theme=chosen.theme,
        labels=chosen.labels,
        bond_numbers=chosen.numbers,
        section_numbers=chosen.numbers,
        names=chosen.names,
        bands=chosen.bands,
        max_width=chosen.max_width,
        scale=chosen.scale,
    )
    figure.save(target)
    output.write(f"{target}: {figure}")
