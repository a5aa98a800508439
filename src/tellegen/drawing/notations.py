"""`draw`: a model, a scheme made from it, or its equations, as a figure."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from tellegen.causality import assign_causality, assign_with_conflicts
from tellegen.conditioning.forms import Conditioned
from tellegen.core.names import did_you_mean, listing
from tellegen.description.model import Model
from tellegen.description.opening import AnyModel, as_model
from tellegen.drawing import rules
from tellegen.drawing.bond_lane_scene import vector_bond_scene
from tellegen.drawing.bond_scene import bond_scene
from tellegen.drawing.earlier import elsewhere
from tellegen.drawing.equation_scene import equation_scene
from tellegen.drawing.figures import Figure
from tellegen.drawing.likeness import Earlier, drawn_like
from tellegen.drawing.mechanism_scene import mechanism_scene
from tellegen.drawing.network_scene import network_scene
from tellegen.drawing.options import Options, read_options, with_layout
from tellegen.drawing.overlay_results import SANKEY, result_scene
from tellegen.drawing.pog_layout import model_pog_scene, pog_scene
from tellegen.drawing.pog_steps import reduction_scene
from tellegen.drawing.scene import Scene
from tellegen.drawing.step_scenes import STEPS, Steps, steps_scene
from tellegen.equations.assembly import derive_equations
from tellegen.equations.descriptor import DescriptorSystem
from tellegen.equations.hamiltonian_system import HamiltonianSystem
from tellegen.equations.system import EquationSystem
from tellegen.equations.transfer import TransferMatrix
from tellegen.experiments.quantities import Quantity
from tellegen.graph import lower
from tellegen.results import Run
from tellegen.schemes import BondGraphScheme, PogScheme, ReductionPictures, bond_graph, pog

Derived = EquationSystem | DescriptorSystem | TransferMatrix | HamiltonianSystem
Finished = BondGraphScheme | PogScheme | ReductionPictures | Derived | Run
"""What is drawn as what it is."""
Drawable = AnyModel | Finished | Steps


def draw(
    what: Drawable,
    notation: str = "",
    *,
    run: Run | None = None,
    at: Quantity | None = None,
    like: Earlier | None = None,
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
    if like is None:
        return _drawn(what, notation, run, at, chosen)
    if isinstance(what, Finished | list | tuple):
        told = "only the figure of a model can be drawn like an earlier one"
        raise rules.NOT_LIKE.error(told, fix="draw(model, 'bond', like=figure)")
    return drawn_like(
        like, notation or "pog", lambda kept: _drawn(what, notation, run, at, replace(chosen, earlier=kept))
    )


def _drawn(what: Drawable, notation: str, run: Run | None, at: Quantity | None, options: Options) -> Figure:
    scene = _scene(what, notation, run, at, options)
    missed = (f"'{name}' could not be put where it shall stand" for name in elsewhere(scene, options))
    return Figure(scene, options, (*scene.notes, *missed))


def _scene(what: Drawable, notation: str, run: Run | None, at: Quantity | None, options: Options) -> Scene:
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
    read = _shown(model)
    causal = assign_with_conflicts(lower(read))
    if options.vectorial:
        return vector_bond_scene(pog(causal), options)
    return bond_scene(bond_graph(causal, vectors=True), with_layout(options, read, "bond"))


def _shown(model: AnyModel) -> Model:
    """The model that a bond graph shows: residual sinks, where a conditioned model has sources driven by formulas."""
    return model.picture if isinstance(model, Conditioned) else as_model(model)


def _pog(model: AnyModel, options: Options) -> Scene:
    read = as_model(model)
    return model_pog_scene(assign_causality(lower(read)), with_layout(options, read, "pog"))


def _equations(model: AnyModel, options: Options) -> Scene:
    read = as_model(model)
    derived = derive_equations(assign_causality(lower(read)))
    return equation_scene(derived, options, title=f"Equations: {read.name}")


def _network(model: AnyModel, options: Options) -> Scene:
    read = as_model(model)
    return network_scene(read, options) if read.mechanism is None else mechanism_scene(read, options)


def _mechanism(model: AnyModel, options: Options) -> Scene:
    return mechanism_scene(as_model(model), options)


def _sankey(model: AnyModel, options: Options) -> Scene:
    return result_scene(model, SANKEY, None, None, options)


NOTATIONS: Mapping[str, Callable[[AnyModel, Options], Scene]] = {
    "bond": _bond,
    "pog": _pog,
    "network": _network,
    "mechanism": _mechanism,
    "equations": _equations,
    SANKEY: _sankey,
    STEPS: steps_scene,
}
"""What a model can be drawn as."""
