"""Which plan suits a scheme: its ladders, vector lanes, or one vector block; and the checks before it is drawn."""

from dataclasses import replace
from string import ascii_lowercase

from tellegen.causality import CausalGraph, assign_causality
from tellegen.core.names import listing
from tellegen.drawing import rules
from tellegen.drawing.earlier import earlier_lines
from tellegen.drawing.options import Options
from tellegen.drawing.pog_lanes import LanePlanner, has_lanes
from tellegen.drawing.pog_legend import LEFT_OUT
from tellegen.drawing.pog_merged import merged_ladders
from tellegen.drawing.pog_meshes import FEW, LinkedLadders, linked_ladders
from tellegen.drawing.pog_plan import FigurePlan, LadderPlan
from tellegen.drawing.pog_scalar import ScalarPlanner
from tellegen.drawing.pog_texts import Texts
from tellegen.drawing.pog_vector import VectorPlanner
from tellegen.graph import SourceLaw
from tellegen.schemes.collapsing import collapsed_graph
from tellegen.schemes.gain_checks import wrong_gains
from tellegen.schemes.lane_walk import NoLanesError
from tellegen.schemes.pog_raising import pog
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.signs import check_signs
from tellegen.schemes.stars import star_graph
from tellegen.schemes.trees import parts

MANY = 12
"""More cuts than this nobody follows."""


def plan_of(scheme: PogScheme, options: Options) -> FigurePlan:
    """The plan of a scheme, whose signs and path gains are checked.

    Raises: FigureError (F150, F151, F152).
    """
    plan = _planned(scheme, options)
    check_gains(scheme)
    return plan


def _planned(scheme: PogScheme, options: Options) -> FigurePlan:
    _check(scheme)
    texts = Texts(scheme, options)
    if scheme.parts:
        return _figure(
            scheme, _split(scheme, texts, options), texts, ("Vector blocks that are told each other's states.",)
        )
    reason = "" if scheme.vector is None else _why_vectorial(scheme)
    # A vector block without a reason is one that was asked for.
    if options.lanes and (reason or (scheme.vector is None and has_lanes(scheme))):
        plan = lanes_plan(scheme, options)
        if plan is not None:
            return plan
    star = star_plan(scheme, options) if options.lanes and scheme.vector is None else None
    if star is not None:
        return star
    if scheme.vector is not None and reason and options.meshes != "vector":
        linked = linked_ladders(scheme, FEW if options.meshes == "auto" else MANY, earlier_lines(options))
        if linked is not None:
            return _linked(linked, options)
    if scheme.vector is not None:
        ladder = VectorPlanner(scheme, scheme.vector, texts, options).ladder()
        if not ladder.columns:
            return _figure(scheme, (), texts, ("Nothing moves: the model has neither states nor inputs.",))
        return _figure(scheme, (ladder,), texts, (reason,) if reason else ())
    planner = ScalarPlanner(scheme, texts)
    ladders = tuple(map(planner.ladder, scheme.ladders))
    return _figure(scheme, ladders, texts, ())


def plan_of_model(causal: CausalGraph, options: Options) -> tuple[FigurePlan, PogScheme]:
    """The plan of the POG of a model, and its scheme: storages that depend on others share one block of a ladder where they can.

    Raises: FigureError (F150, F151), or F152 where the path gains of the scheme are not those of the model.
    """
    together = bool(causal.derivative) and not options.vectorial and not options.derivative
    earlier = earlier_lines(options)
    scheme = pog(causal, derivative=options.derivative or together, vectorial=options.vectorial, earlier=earlier)
    check_gains(scheme)
    plan = _merged(scheme, options) if together else None
    if plan is not None:
        return plan, scheme
    shown = pog(causal, earlier=earlier) if together and scheme.vector is None else scheme
    return _planned(shown, options) if shown is scheme else plan_of(shown, options), shown


def star_plan(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan of a model whose like branches at one node are lanes; None where it has none."""
    graph = None if scheme.causal.derivative else star_graph(scheme.causal.graph)
    if graph is None:
        return None
    starred = pog(assign_causality(graph))
    check_gains(starred)
    return None if starred.causal.derivative else lanes_plan(starred, options)


def _split(scheme: PogScheme, texts: Texts, options: Options) -> tuple[LadderPlan, ...]:
    """A ladder for each part of a vector block that was split; letters tell them apart."""
    few = len(scheme.parts) <= len(ascii_lowercase)
    indices = ascii_lowercase if few else map(str, range(1, len(scheme.parts) + 1))
    return tuple(
        VectorPlanner(scheme, block, texts, options, part=index).ladder()
        for index, block in zip(indices, scheme.parts, strict=False)
    )


def _linked(linked: LinkedLadders, options: Options) -> FigurePlan:
    texts = Texts(linked.scheme, options)
    planner = ScalarPlanner(linked.scheme, texts, linked.links)
    ladders = tuple(map(planner.ladder, linked.scheme.ladders))
    pairs = sorted({letter.rstrip("'") for letter in linked.links.values()})
    names = ", ".join(f"{letter} and {letter}'" for letter in pairs)
    note = f"Its junctions close a mesh, which is cut here: {names} are the same section."
    return _figure(linked.scheme, ladders, texts, (note,))


def _merged(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan with one block for the storages that move together; None where the rest of the model is no ladder."""
    dependent = [scheme.causal.graph.ports[k].element for k in scheme.causal.derivative]
    verb = "depends" if len(dependent) == 1 else "depend"
    note = f"No scalar POG: {listing(dependent)} {verb} on other storages. One block stands for them together."
    if scheme.vector is None:  # a ladder whose dependent storages are derivative blocks; no vector block was needed
        merged = merged_ladders(scheme, options)
        return None if merged is None else _figure(scheme, *merged, (note,))
    collapsed = collapsed_graph(scheme) if options.lanes else None
    plan = None if collapsed is None else lanes_plan(pog(assign_causality(collapsed)), options)
    return None if plan is None else replace(plan, notes=(note, *plan.notes), about=f"{plan.about} {note}")


def lanes_plan(scheme: PogScheme, options: Options) -> FigurePlan | None:
    """The plan of a vector ladder; None where the model has none."""
    if scheme.causal.derivative and scheme.vector is not None:
        return None  # lanes would be derivative blocks, which nobody asked for
    if any(
        name not in scheme.blocks for name, item in scheme.elements.items() if not isinstance(item.port.law, SourceLaw)
    ):
        return None  # an element went, in a reduction: its place in the lanes would be empty
    texts = Texts(scheme, options)
    try:
        ladder = LanePlanner(scheme, texts).ladder()
    except NoLanesError:
        return None
    return _figure(scheme, (ladder,), texts, ())


def _why_vectorial(scheme: PogScheme) -> str:
    """Why a model is drawn as one vector block."""
    graph = scheme.causal.graph
    dependent = [graph.ports[k].element for k in scheme.causal.derivative]
    if dependent:
        verb = "depends" if len(dependent) == 1 else "depend"
        what = f"{listing(dependent)} {verb} on other storages, and a POG has integral causality"
        return f"No scalar POG: {what}. This is its vector form."
    if scheme.bond_graph is None:
        return "No scalar POG: its junctions admit no strokes. This is its vector form."
    if not all(part.is_tree() for part in parts(scheme.bond_graph)):
        return "No scalar POG: its junctions close a mesh. This is its vector form."
    return ""


def _figure(scheme: PogScheme, ladders: tuple[LadderPlan, ...], texts: Texts, notes: tuple[str, ...]) -> FigurePlan:
    modes = scheme.causal.graph.mode
    if modes:
        notes += (f"Modes: {', '.join(f'{element} {mode}' for element, mode in modes.items())}.",)
    if texts.left_out:
        notes += (LEFT_OUT,)
    legend = tuple(f"{name} = {text}" for name, text in texts.legend.items())
    states, inputs = len(scheme.states), len(scheme.inputs)
    about = f"Power-Oriented Graph with {states} states and {inputs} inputs. {' '.join(notes)}".strip()
    return FigurePlan(f"POG: {scheme.name}", about, ladders, legend, notes)


def check_gains(scheme: PogScheme) -> None:
    """Refuse a scheme whose path gains are not those of the model behind it.

    Raises: FigureError (F152).
    """
    wrong = wrong_gains(scheme)
    if wrong:
        raise rules.WRONG_GAINS.error(
            f"the paths of '{scheme.name}' bring something else to {listing(wrong)} than the model does",
            where=wrong[0],
            fix="make the scheme with `pog`",
            members=list(wrong),
        )


def _check(scheme: PogScheme) -> None:
    """Refuse a scheme that would make power out of nothing. Transfer blocks hide what a check needs."""
    if any(block.kind == "transfer" for block in scheme.blocks.values()):
        return
    check = check_signs(scheme)
    if not check.consistent:
        raise rules.WRONG_SIGNS.error(
            f"the signs of '{scheme.name}' do not conserve power: {check.problems[0]}",
            where=scheme.name,
            fix="correct the summation named, or make the scheme with `pog`",
            members=list(check.problems),
        )
