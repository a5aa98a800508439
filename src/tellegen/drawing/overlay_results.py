"""Which figure shows a result: a Sankey diagram of its energy, or its powers laid over a scheme at one time."""

from typing import TypeGuard

from tellegen.core.names import did_you_mean, listing
from tellegen.description import Model, Network
from tellegen.description.opening import Modelled, as_model
from tellegen.drawing import rules
from tellegen.drawing.mechanism_pose import Pose
from tellegen.drawing.options import Options, with_layout
from tellegen.drawing.overlay_network import network_overlay
from tellegen.drawing.overlay_scene import OVERLAID, Overlaid, overlay_of
from tellegen.drawing.sankey_scene import sankey_scene
from tellegen.drawing.scene import Scene
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.graph import PowerGraph, lower
from tellegen.results import Run

SANKEY = "sankey"
PHYSICAL = ("network", "mechanism")
"""The notations that show the parts of a model themselves."""


def result_scene(what: object, notation: str, run: object, at: Quantity | None, options: Options) -> Scene:
    """The figure of a run, or of a model with one. Without a time, the end of the run is shown.

    Raises: FigureError (F200, F201, F205, F206); SimulationError (S205) for a time outside the run.
    """
    word = notation or (SANKEY if isinstance(what, Run) and at is None else "pog")
    if word == SANKEY:
        if at is not None:
            what_ = "a Sankey diagram shows the energy of a whole run"
            raise rules.NO_OVERLAY.error(what_, fix="leave the time out, or draw a 'pog' or a 'bond' graph")
        return sankey_scene(run_of(what, run)[0])
    if word not in PHYSICAL:
        overlaid_notation(word)
    model = drawn_model(what) if word in PHYSICAL else None
    if model is not None and word == "mechanism":
        Pose(model)  # a model without a mechanism is refused before it is simulated
    shown, graph = run_of(what, run)
    time = float(shown.t[-1]) if at is None else value_of(at, SECOND, "the time of the figure")
    if model is not None:
        return network_overlay(model, shown, options, time, bodies=word == "mechanism").at(time)
    if not isinstance(what, Run):
        options = with_layout(options, as_model(what), word)  # type: ignore[arg-type]  # `run_of` refused what else it may be
    return overlay_of(shown, overlaid_notation(word), options, graph).at(time)


def drawn_model(what: object) -> Model:
    """The model whose schematic or mechanism is drawn.

    Raises: FigureError (F200) for a run alone, which does not know the shape of its model.
    """
    if isinstance(what, Run):
        told = "a run alone does not know the shape of its model"
        raise rules.NO_OVERLAY.error(told, where=what.name, fix="give the model too: draw(model, 'network', run=run)")
    return as_model(what)  # type: ignore[arg-type]  # what else is given is refused by `run_of`


def overlaid_notation(word: str) -> Overlaid:
    """A notation that a result can be laid over.

    Raises: FigureError (F200) for another one.
    """
    if not _is_overlaid(word):
        known = (*OVERLAID, *PHYSICAL)
        fix = did_you_mean(word, known) or f"draw it as {listing(known)}"
        raise rules.NO_OVERLAY.error(f"'{word}' figures have no place for powers", fix=fix)
    return word


def _is_overlaid(word: str) -> TypeGuard[Overlaid]:
    return word in OVERLAID


def run_of(what: object, run: object) -> tuple[Run, PowerGraph | None]:
    """The run that is shown, and the model that is drawn: None where that is the run's own.

    A model without a run is simulated with the experiment that it describes.

    Raises: FigureError for a run of another model (F201), or something that is neither (F205).
    """
    if isinstance(what, Run) and run is None:
        return what, None
    if not isinstance(what, Model | Network | Modelled | str) and not hasattr(what, "__fspath__"):
        kind = type(what).__name__
        raise rules.NOT_A_RUN.error(f"a {kind} has no result", fix="give the model and its run, or the run alone")
    model = as_model(what)
    graph = lower(model)
    if run is None:
        return simulate(model, progress=False), graph
    if not isinstance(run, Run):
        kind = type(run).__name__
        raise rules.NOT_A_RUN.error(
            f"what was given as 'run' is of the kind '{kind}'", fix="give what tellegen.simulate(model) gives back"
        )
    _check_same(graph, run)
    return run, graph


def _check_same(graph: PowerGraph, run: Run) -> None:
    drawn, measured = ({port.element for port in one.ports} for one in (graph, run.graph))
    apart = sorted(drawn ^ measured)
    if apart:
        raise rules.OTHER_RUN.error(
            f"the run of '{run.name}' is not one of '{graph.name}': {listing(apart)} "
            f"{'is' if len(apart) == 1 else 'are'} in one of them only",
            where=graph.name,
            fix="simulate the model that is drawn, or draw the run: tellegen.draw(run, 'pog')",
        )
