"""`draw`: a model, a scheme or equations as a `Figure`, new or like an earlier one; `save` writes it in any format."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from tellegen.causality import assign_causality, assign_with_conflicts
from tellegen.conditioning.forms import Conditioned
from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.bond.owners import Owners
from tellegen.drawing.bond.parting import collapsed
from tellegen.drawing.bond.scene import bond_scene
from tellegen.drawing.bond.sheet import sheet_scene
from tellegen.drawing.bond.vector import vector_bond_scene
from tellegen.drawing.formulas import equation_scene
from tellegen.drawing.mechanism.scene import mechanism_scene
from tellegen.drawing.memory import EarlierFigure, Memory, draw_like, misplaced_items
from tellegen.drawing.options import DEFAULTS, READABLE, Options, read_options, with_layout
from tellegen.drawing.overlay.results import SANKEY, result_scene
from tellegen.drawing.pog.scene import model_pog_scene, pog_scene
from tellegen.drawing.pog.steps import STEPS, Steps, reduction_scene, steps_scene
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.equations.derivation import derive_equations
from tellegen.equations.forms.descriptor import DescriptorSystem
from tellegen.equations.forms.hamiltonian import HamiltonianSystem
from tellegen.equations.forms.state_space import StateSpaceForm
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.system import EquationSystem
from tellegen.experiments.quantities import Quantity
from tellegen.expressions.symbols import NO_SYMBOLS, written_with
from tellegen.graph import PowerGraph, lower
from tellegen.notations.layout import PLACED_FIGURES, write_positions
from tellegen.notations.loading import NETLIST_SUFFIX, AnyModel, as_model, read
from tellegen.results import Run
from tellegen.scenes.geometry import Point
from tellegen.scenes.ink import cut_into_pages
from tellegen.scenes.pictures import Picture
from tellegen.scenes.scene import Scene
from tellegen.scenes.strokes import ThemeName
from tellegen.scenes.writers.raster import to_pdf_pages
from tellegen.scenes.writers.tikz import to_bondgraphs
from tellegen.schemes import BondGraphScheme, PogScheme, ReductionPictures, bond_graph, pog
from tellegen.schemes.residual_sinks import with_free_sinks

SMALL = 6.0
"""A network whose bond graph would have smaller texts, in points, is read part by part."""


@final
@dataclass(frozen=True, slots=True)
class Figure(Picture):
    """A scene, and how it is drawn. All formats show the same picture. `notes` say what was kept of an earlier figure.

    >>> from tellegen.drawing import draw
    >>> draw("rlc", "bond").svg().startswith("<svg")
    True
    """

    scene: Scene
    options: Options = DEFAULTS
    notes: tuple[str, ...] = ()

    @property
    def zoom(self) -> float:
        """The size at which it is drawn: the scale asked for, and less where its rows are wider than it may be."""
        return self.options.zoom(self.scene.box.width)

    def tikz(self, *, standalone: bool = False) -> str:
        r"""The figure as a tikzpicture to \input, or as a whole document; with the option `macros` in styles of another package.

        Raises: FigureError (F102) where that package draws no such figures.
        """
        if self.options.macros == "bondgraphs":
            picture = to_bondgraphs(self.scene, scale=self.zoom, standalone=standalone)
        else:
            picture = Picture.tikz(self, standalone=standalone)  # slots make another class: `super()` would not know it
        return picture + Memory.of(self.scene).tex()

    @property
    def theme(self) -> ThemeName:
        """Its colours."""
        return self.options.theme

    @property
    def memory(self) -> str:
        """What its files remember: where everything stands."""
        return Memory.of(self.scene).text()

    @property
    def pages(self) -> tuple[Scene, ...]:
        """The scene, or its pages where it is higher than a page may be; what cannot be cut stays whole."""
        height = self.options.max_height
        return (self.scene,) if height is None else cut_into_pages(self.scene, height / self.zoom)

    def pdf(self) -> bytes:
        """The figure as a PDF, with a page of its own size, or several as high as they may be."""
        if len(pages := self.pages) == 1:
            return Picture.pdf(self)
        return to_pdf_pages(pages, theme=self.theme, scale=self.zoom)

    def __str__(self) -> str:
        box = self.scene.box
        told = f"{self.scene.title} ({box.width:g} x {box.height:g}, {len(self.scene.shapes)} shapes)"
        # What was asked for by `scale` is no surprise; that a figure came out smaller because of its width is told.
        smaller = self.zoom / self.options.scale
        if smaller == 1:
            return told
        points = self.text_points
        least = f"{READABLE:g} at {READABLE / points * smaller * box.width:.0f} and " if points < READABLE else ""
        return (
            f"{told}, drawn at {100 * smaller:.0f} % to be {smaller * box.width:.0f} wide: its smallest text has "
            f"{points:.1f} points, and would have {least}{points / smaller:.1f} at {box.width:.0f}"
        )


Derived = EquationSystem | StateSpaceForm | DescriptorSystem | TransferMatrix | HamiltonianSystem
Finished = BondGraphScheme | PogScheme | ReductionPictures | Derived | Run
"""What is drawn as what it is."""
Drawable = AnyModel | Finished | Steps


def draw(
    what: Drawable,
    notation: str = "",
    *,
    run: Run | None = None,
    at: Quantity | None = None,
    like: EarlierFigure | None = None,
    **options: object,
) -> Figure:
    """A figure of a model, of a scheme, or of equations.

    `what` is a model, a file or the name of a built-in example; `notation` is then `bond` for a bond graph, `pog` for a
    Power-Oriented Graph (where nothing is said), `network` for the physical schematic, `mechanism` for bodies and joints, or
    `equations`. A scheme, the pictures of a reduction or a set of equations are drawn as what they are. The options are those of
    `Options`: `theme="mono"`, `labels="values"`, `bond_numbers=True`, ...

    Steps stand side by side: those of a reduction (`steps`, of what `reduce` gives back), a list of a scheme and of operations on
    it, and what `orientations` finds.

    With a `run` of the model, or a time `at` which it is looked at, the powers and energies of that moment are laid over a POG, a
    bond graph, a schematic or a mechanism, which then is where it is at that time; a model without a run is simulated. A run alone,
    or `sankey`, is a Sankey diagram of its energy.

    A bond graph, a POG or a schematic `like` an earlier one, a figure or the file of one, keeps its items where they are there:
    after a small change of the model nothing moves but what must make room. `notes` of the figure say what was kept.

    Raises: FigureError for notations, options and values that do not exist (F101 to F103), for a place of something that is not
    there (F160), an earlier figure that is none (F162), what has no steps (F190), or where a result does not fit the figure (F200,
    F201, F205); TellegenError of the layer that cannot go on.

    >>> draw("dc_motor_pump", "bond", theme="mono").scene.title
    'Bond graph: DC motor driving a hydraulic pump'
    """
    chosen = read_options(options)
    # Read once: its symbols hold for all that is drawn of it.
    what = as_model(what) if isinstance(what, str | os.PathLike) else what
    with written_with(_symbols_of(what), _constants_of(what)):
        return _draw(what, notation, run, at, like, chosen)


def _symbols_of(what: Drawable) -> Mapping[str, str]:
    if isinstance(what, list | tuple | ReductionPictures | BondGraphScheme | PogScheme):
        first = what[0] if isinstance(what, list | tuple) and what else what
        return first.causal.graph.symbols if isinstance(first, BondGraphScheme | PogScheme) else NO_SYMBOLS
    if isinstance(what, Derived):
        return what.symbols
    return what.graph.symbols if isinstance(what, Run) else as_model(what).symbols


def _constants_of(what: Drawable) -> Iterable[str] | None:
    """The parameters of what is drawn, which stand before variables in its formulas."""
    first = what[0] if isinstance(what, list | tuple) and what else what
    if isinstance(first, BondGraphScheme | PogScheme):
        return _gains(first.causal.graph)
    if isinstance(what, Run):
        return _gains(what.graph)
    if isinstance(what, Derived | ReductionPictures | BondGraphScheme | PogScheme | list | tuple):
        return None  # they bring their own
    read_one = as_model(what)
    try:
        # Parts have parameters of their own, which the graph knows by their names in the whole.
        return _gains(lower(read_one))
    except TellegenError:
        return read_one.parameters


def _gains(graph: PowerGraph) -> set[str]:
    """Parameters and moving gains, a ratio H of an angle among them."""
    return {*graph.parameters, *graph.position_dependent}


def _draw(
    what: Drawable, notation: str, run: Run | None, at: Quantity | None, like: EarlierFigure | None, chosen: Options
) -> Figure:
    if like is None:
        return _drawn_figure(what, notation, run, at, chosen)
    # Schemes and equations have no model to be drawn again from, and steps no places.
    if isinstance(what, Finished | list | tuple):
        told = "only the figure of a model can be drawn like an earlier one"
        raise rules.NOT_LIKE.error(told, fix="draw(model, 'bond', like=figure)")
    # The note on what was kept comes first: it is what one asked for.
    figure, note = draw_like(
        like, notation or "pog", lambda kept: _drawn_figure(what, notation, run, at, replace(chosen, earlier=kept))
    )
    return replace(figure, notes=(note, *figure.notes))


def _drawn_figure(what: Drawable, notation: str, run: Run | None, at: Quantity | None, options: Options) -> Figure:
    scene = _scene_of(what, notation, run, at, options)
    missed = (f"'{name}' could not be put where it shall stand" for name in misplaced_items(scene, options.places))
    return Figure(scene, options, (*scene.notes, *missed))


def _scene_of(what: Drawable, notation: str, run: Run | None, at: Quantity | None, options: Options) -> Scene:
    # A run, or a time, asks for a result, whatever it is laid over; then what has only one way to be drawn; then models.
    if isinstance(what, Run) or run is not None or at is not None:
        return result_scene(what, notation, run, at, options)
    if isinstance(what, BondGraphScheme):
        return bond_scene(what, options)
    if isinstance(what, PogScheme):
        return pog_scene(what, options)
    if isinstance(what, ReductionPictures):
        return reduction_scene(what, options)
    if isinstance(what, Derived):
        return equation_scene(what, options)
    if isinstance(what, list | tuple):
        return steps_scene(what, options)
    return scene_maker(notation)(what, options)


def scene_maker(notation: str) -> Callable[[AnyModel, Options], Scene]:
    """The function that draws a model in a notation.

    Raises: FigureError (F103) for a notation that does not exist.
    """
    word = notation or "pog"
    if word not in NOTATIONS:
        fix = did_you_mean(word, NOTATIONS) or f"choose one of {listing(NOTATIONS)}"
        raise rules.NO_SUCH_NOTATION.error(f"there is no kind of figure '{word}'", fix=fix)
    return NOTATIONS[word]


def _bond(model: AnyModel, options: Options) -> Scene:
    # A figure helps most where causality contradicts itself: the conflict is drawn, not refused.
    # Residual sinks are shown, where a conditioned model has sources driven by formulas.
    read = (
        model.picture
        if isinstance(model, Conditioned)
        else with_free_sinks(as_model(model), joints=options.reactions == "sink")
    )
    causal = assign_with_conflicts(lower(read))
    if options.vectorial:
        return vector_bond_scene(pog(causal), options)
    placed = with_layout(options, read, "bond")
    owners: Owners | None = None
    if not (options.whole or placed.places or placed.earlier):
        opened, turned = collapsed(bond_graph(causal))
        owners = Owners(opened, read.mechanism)
        if {"body", "joint", "multiport"} & {piece.kind for piece in owners.pieces} and len(owners.pieces) > 1:
            return sheet_scene(owners, options, turned)
    whole = bond_scene(bond_graph(causal, vectors=not options.moduli, lanes="joined"), placed)
    # Vector bonds show a network in one, as long as it can be read.
    small = options.max_width is not None and Figure(whole, options).text_points < SMALL
    return sheet_scene(owners, options, turned) if owners is not None and small and len(owners.pieces) > 1 else whole


def _pog(model: AnyModel, options: Options) -> Scene:
    read = as_model(model)
    return model_pog_scene(assign_causality(lower(read)), with_layout(options, read, "pog"))


def _equations(model: AnyModel, options: Options) -> Scene:
    read = as_model(model)
    derived = derive_equations(assign_causality(lower(read)))
    return equation_scene(derived, options, title=f"Equations: {read.name}")


def _network(model: AnyModel, options: Options) -> Scene:
    # The network of a mechanism follows from its bodies and joints: these are the schematic that its author has in mind.
    read = as_model(model)
    return schematic_scene(read, options) if read.mechanism is None else mechanism_scene(read, options)


NOTATIONS: Mapping[str, Callable[[AnyModel, Options], Scene]] = {
    "bond": _bond,
    "pog": _pog,
    "network": _network,
    "mechanism": lambda model, options: mechanism_scene(as_model(model), options),
    "equations": _equations,
    SANKEY: lambda model, options: result_scene(model, SANKEY, None, None, options),
    STEPS: steps_scene,
}
"""What a model can be drawn as."""


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
    if path.suffix.lower() == NETLIST_SUFFIX or not os.path.isfile(path):
        told = "a netlist says where its elements are drawn" if os.path.isfile(path) else f"there is no file '{path}'"
        raise rules.NO_LAYOUT.error(f"no layout can be kept: {told}", fix="give the YAML file of a model")
    # Drawn with the places that are asked for: what could not stand where it shall is kept where it does.
    found = Memory()
    if notation in PLACED_FIGURES:
        found = Memory.of(draw(read(path), notation, places=dict(places or {}), whole=True).scene)
    if not found:
        told = f"no places are kept of figures drawn as '{notation}'"
        raise rules.NO_LAYOUT.error(told, fix=f"draw it as {listing(PLACED_FIGURES)}")
    # Items that were not named are left to the layout: a file with all places would keep a small model from ever moving again.
    kept = dict(found.places) if places is None else {name: at for name, at in found.places.items() if name in places}
    write_positions(path, notation, kept)
    return kept
