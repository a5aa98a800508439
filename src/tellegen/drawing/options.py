"""How a figure is drawn: one value with a default for every choice. Unknown words are refused with the nearest known one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from math import isfinite, nan
from typing import Any, Literal, get_args, get_type_hints

from tellegen.core.names import did_you_mean, listing
from tellegen.core.options import option
from tellegen.drawing import rules
from tellegen.drawing.memory import NO_MEMORY, Memory
from tellegen.model.model import Model
from tellegen.notations.layout import ItemPositions
from tellegen.scenes.pictures import width_in_pixels
from tellegen.scenes.rules import BAD_OPTION
from tellegen.scenes.strokes import ThemeName

READABLE = 5.0
"""Texts of fewer points can hardly be read in print."""
SCREEN = 1100.0
"""Where no width is asked for, rows longer than a screen go on below."""
# Steps, not a search: every width is a layout of the whole figure.
ROOMY = (1.2, 1.4)
"""What was not cut into rows before may be so much wider, and the figure is drawn smaller."""
MOST_COMPARED = 200
"""Figures with more items are drawn in one way only, however they were before."""
ON_SCREEN = 0.7
"""Where no width is asked for, what is wider still is drawn no smaller than this: one scrolls rather than guesses."""

LabelChoice = Literal["symbols", "values", "both"]
"""Names of parameters, their values with units, or `L_a = 2 mH`; in the blocks of a POG values are numbers in SI."""
VectorStyle = Literal["bold", "double"]
MacroChoice = Literal["own", "bondgraphs"]
"""TikZ with styles of its own, or bond graphs in those of the LaTeX package bondgraphs."""
MeshChoice = Literal["auto", "linked", "vector"]
"""A POG whose junctions close meshes: ladders cut at linked sections (a and a'), one vector block, or cuts where few are enough."""
Style = Literal["flat", "solid"]
"""Bodies of a mechanism as outlines, or seen from the side with their depth and shade."""
ReactionChoice = Literal["flow", "sink"]
"""What the force of a joint comes from: a flow that is zero, or a residual sink that decides it."""
MatrixChoice = Literal["auto", "named", "shown"]
"""Matrices of vector blocks: letters only, their entries under the figure, or entries where there are few of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a figure shows and how wide it may be; `tellegen draw` has the same options, and a few for its file.

    `bands` are the areas in the colour of a domain and `captions` the words under them. `variables` are the efforts and flows of
    bonds, `names` the names of junctions. `max_width` is how wide a figure may be at 100 %, in CSS pixels or as a length (`85 mm`):
    a long one continues on a new row, and what cannot be so narrow is drawn smaller. Without it figures are made for screens, and
    large ones may be wider. `max_height` is how high the pages of a PDF may be. `scale` is the size of the whole figure, after
    that. `dimensions` are the numbers of variables at ticks through the wires of vectors in POGs; vector bonds always have theirs.

    A POG draws like branches as `lanes` of one vector ladder where it has them. `derivative` draws dependent storages as derivative
    blocks, `vectorial` the whole model as one vector block; a bond graph is then one of vector bonds. `displacements` adds
    the integrators of displacements to a vector block. `places` are where items of a bond graph shall stand, by name, before those
    in the layout of the file.
    """

    theme: ThemeName = option("colour", "colour, mono (for print) or dark.", read=str)
    labels: LabelChoice = option("symbols", "symbols, values or both.", read=str)
    names: bool = option(False, "Name the junctions.")
    bands: bool = option(True, "Show domains as coloured areas.")
    vectorial: bool = option(False, "One vector block (pog), or vector bonds for like branches (bond).")
    whole: bool = option(False, "Draw a mechanism in one, not in pieces (bond).")
    reactions: ReactionChoice = option(
        "flow", "flow or sink: reactions of joints as Sf: 0, or as residual sinks rSe (bond).", read=str
    )
    moduli: bool = option(False, "Open multiports into transformers with named moduli, and list these (bond).")
    derivative: bool = option(False, "Draw dependent storages as derivative blocks (pog).")
    power_directions: bool = option(
        False, "Show in which direction power counts as positive (pog).", flag="--directions"
    )
    meshes: MeshChoice = option(
        "auto", "auto, linked or vector: a meshed model cut at linked sections, or as one block (pog).", read=str
    )
    lanes: bool = option(True, "Show like branches as one vector ladder (pog).")
    matrices: MatrixChoice = option(
        "auto", "auto, named or shown: entries of the matrices under the figure (pog).", read=str
    )
    vectors: VectorStyle = option("bold", "bold or double: the wires of vectors (pog).", read=str)
    dimensions: bool = option(
        False, "Tick the wires of vectors, with the numbers of variables (pog); angles, lengths and masses (mechanism)."
    )
    displacements: bool = option(False, "Add the integrators of displacements to a vector block (pog).")
    style: Style = option("flat", "flat or solid (mechanism): bodies as lines, or with depth and shade.", read=str)
    macros: MacroChoice = option(
        "own", "own or bondgraphs (bond, .tex): TikZ with its own styles, or those of the LaTeX package.", read=str
    )
    max_width: float | None = option(
        None,
        "How wide a figure may be: '85 mm', '3.4 in', or pixels of CSS. Longer rows go on below, and what is still wider "
        "is drawn smaller; it is said how small its texts become. Without it figures are made for screens.",
        metavar="WIDTH",
        read=str,
    )
    max_height: float | None = option(
        None,
        "How high a page may be, as a length like the width: a PDF goes on on further pages, cut where nothing is.",
        metavar="HEIGHT",
        read=str,
    )
    scale: float = option(1, "The size of the whole figure.")
    variables: bool = True
    captions: bool = True
    bond_numbers: bool = False
    section_numbers: bool = False
    places: ItemPositions = field(default_factory=dict)
    earlier: Memory = field(default=NO_MEMORY, repr=False)

    def zoom(self, width: float) -> float:
        """The size at which a figure of a width is drawn: the scale asked for, and less where it is wider than it may be."""
        # A width that was asked for is kept, whatever becomes of the texts; the notes of a figure tell how small they are.
        least = ON_SCREEN if self.max_width is None else 0.0
        return self.scale * max(min(1.0, self.room / width), least)

    @property
    def room(self) -> float:
        """How wide rows may become."""
        return SCREEN if self.max_width is None else self.max_width

    def like_earlier(self) -> "Iterator[Options]":
        """Ways to draw a figure like an earlier one: with its order and without, as wide as it may be and somewhat wider."""
        # Its rows may have been cut elsewhere, so it is also tried without the earlier order, and with rows as wide as before.
        yield self
        if self.earlier and len(self.earlier.places) <= MOST_COMPARED:
            for lines in dict.fromkeys((self.earlier.lines, ())):
                for wide in (1.0, *ROOMY):
                    if lines != self.earlier.lines or wide > 1.0:
                        yield replace(self, max_width=wide * self.room, earlier=replace(self.earlier, lines=lines))

    @property
    def shows_bands(self) -> bool:
        """Whether domains are shown as areas: not in print."""
        return self.bands and self.theme != "mono"

    @property
    def shows_captions(self) -> bool:
        """Whether domains are named under their areas."""
        return self.shows_bands and self.captions


DEFAULTS = Options()


def with_layout(options: Options, model: Model, notation: str) -> Options:
    """The options with the places that the file of a model gives to the items of such figures, beside those asked for."""
    # What is asked for in the call outweighs the file: one tries something before one keeps it.
    kept = model.layout.get(notation)
    return options if not kept else replace(options, places={**kept, **options.places})


def read_options(chosen: Mapping[str, object], base: Options = DEFAULTS) -> Options:
    """Options with some choices changed.

    Raises: FigureError for an option that does not exist (F101) or a value that it does not have (F102).
    """
    # What an earlier figure remembers is no choice of words: `like` gives it.
    known = {option.name for option in fields(Options)} - {"earlier"}
    for name in chosen:
        if name not in known:
            fix = did_you_mean(name, known) or f"the options are {listing(sorted(known), len(known))}"
            raise rules.NO_SUCH_OPTION.error(f"there is no option '{name}' for figures", fix=fix)
    # The types of the fields say what values there are, so that a new option needs no line here.
    kinds = get_type_hints(Options)
    return replace(base, **{name: _checked(name, value, kinds[name]) for name, value in chosen.items()})


def _checked(name: str, value: object, kind: Any) -> Any:
    if name == "places":
        return _checked_places(value)
    if name in ("max_width", "max_height"):
        if value is None:
            return None
        kind, value = float, width_in_pixels(value, name) or value if isinstance(value, str) else value
    if choices := get_args(kind):
        if value in choices:
            return value
        fix = did_you_mean(str(value), choices) or f"choose one of {listing(choices)}"
        raise BAD_OPTION.error(f"'{value}' is no value of the option '{name}'", fix=fix)
    if kind is bool:
        if isinstance(value, bool):
            return value
        raise BAD_OPTION.error(f"'{value}' is no value of the option '{name}'", fix="say True or False")
    if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value > 0:
        return float(value)
    raise BAD_OPTION.error(f"'{value}' is no value of the option '{name}'", fix="give a positive number")


def _checked_places(value: object) -> ItemPositions:
    if not isinstance(value, Mapping):
        raise BAD_OPTION.error(f"'{value}' is no value of the option 'places'", fix="give {name: (x, y)}")
    found: dict[str, tuple[float, float]] = {}
    for name, place in value.items():
        # Whatever is no pair of numbers becomes one that is refused below with what was given.
        try:
            x, y = (float(part) for part in place)
        except (TypeError, ValueError):
            x = y = nan
        if not (isfinite(x) and isfinite(y)):
            raise BAD_OPTION.error(f"'{place}' is no place of '{name}'", fix="give two numbers, (x, y)")
        found[str(name)] = x, y
    return found
