"""A result as a figure: powers and energies of a run laid over another figure, at one time or at many, or as a Sankey diagram.

A bar is the energy of a storage, or of all that a body holds; a dotted arrow is what a resistive element takes; a plain arrow
beside a source points up where it gives power, down where it takes some. A mechanism is drawn where it is at that time.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Literal, final, get_args

import numpy as np

from tellegen.causality import assign_causality
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import rules
from tellegen.drawing.bond.scene import bond_scene
from tellegen.drawing.formulas import time_label
from tellegen.drawing.mechanism.pose import MechanismPose
from tellegen.drawing.mechanism.scene import coordinates_at, mechanism_scene
from tellegen.drawing.options import Options, with_layout
from tellegen.drawing.overlay import marks
from tellegen.drawing.overlay.marks import Array, OverlayMark, PowerFlows
from tellegen.drawing.pog.ladders import FEW_CUTS, linked_ladders
from tellegen.drawing.pog.scene import MANY_CUTS, plan_model_pog, plan_scene
from tellegen.drawing.schematic.scene import schematic_scene
from tellegen.experiments.quantities import SECOND, Quantity, value_of
from tellegen.experiments.simulating import simulate
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw, lower
from tellegen.model.model import Model
from tellegen.notations.loading import Modelled, as_model
from tellegen.notations.network.builder import Network
from tellegen.results import Run
from tellegen.results.element_variables import lifted, supplying
from tellegen.scenes.geometry import Box, Point, box_outline, hull, union
from tellegen.scenes.ink import Pen, ink_box
from tellegen.scenes.lettering import name_latex, quantity_latex
from tellegen.scenes.scene import (
    MARGIN,
    Align,
    Curve,
    Label,
    Origin,
    Scene,
    Shape,
    Tone,
    framed_scene,
    label_box,
    moved,
    tidy,
)
from tellegen.schemes import bond_graph

StreamKind = Literal["supplied", "stored", "lifted", "dissipated", "moved", "impacts", "others", "missing"]
"""How energy came or went: `moved` is the work of what moves parameters, `missing` what the books do not close by."""

SMALL = 2e-3
"""Streams under this part of all energy are shown as one."""
MISSING = 1e-3
"""A gap of the books under this part is the tolerance of the solver."""
ROUNDING = 1e-12
"""What is under this part of the largest stream is no energy, but what rounding left of none."""


@final
@dataclass(frozen=True, slots=True)
class EnergyStream:
    """Energy in J, positive, that an element gave to the system or took from it. Some streams are of no one element."""

    name: str
    energy: float
    gives: bool
    manner: StreamKind
    domain: str = ""


def energy_streams(run: Run) -> tuple[EnergyStream, ...]:
    """The streams of a run, givers first, the largest first. What goes in comes out, but for what is `missing`.

    Storages count by what they gained or lost. Heat that dissipators bring into thermal ports stays inside the system.
    """
    found = sorted(_streams(run), key=lambda stream: (not stream.gives, -stream.energy))
    total = max(_sum(found, gives=True), _sum(found, gives=False))
    return tuple(s for gives in (True, False) for s in _few([s for s in found if s.gives == gives], SMALL * total))


def _streams(run: Run) -> Iterator[EnergyStream]:
    """The streams of the books, without those that are rounding only, and what the books do not close by."""
    streams = list(_all(run))
    least = ROUNDING * max(stream.energy for stream in streams)
    streams = [stream for stream in streams if stream.energy > least]
    yield from streams
    gap = _sum(streams, gives=False) - _sum(streams, gives=True)
    handled = max(_sum(streams, gives=True), _sum(streams, gives=False))
    if abs(gap) > MISSING * handled:
        yield _signed_stream("", gap, "missing")


def _all(run: Run) -> Iterator[EnergyStream]:
    taken, weights = run.energy.by_element(), set(lifted(run.graph))
    for port in run.graph.ports:
        # Heat that one element gives to another inside the system is counted at neither.
        if port.transferred or port.element not in taken:
            continue
        if isinstance(port.law, StorageLaw) or port.element in weights:
            # By what it holds at the end and held at the start: the integral of its power has the errors of all steps.
            rows = run.values(f"energy.{port.element}")
            manner: StreamKind = "lifted" if port.element in weights else "stored"
            yield _signed_stream(port.element, -float(rows[-1] - rows[0]), manner, port.domain)
        elif isinstance(port.law, SourceLaw):
            yield _signed_stream(port.element, taken[port.element], "supplied", port.domain)
        else:
            yield _signed_stream(port.element, -taken[port.element], "dissipated", port.domain)
    yield _signed_stream("", run.energy.modulation, "moved")
    yield _signed_stream("", -run.energy.impulsive, "impacts")


def _signed_stream(name: str, given: float, manner: StreamKind, domain: str = "") -> EnergyStream:
    return EnergyStream(name, abs(given), given > 0, manner, domain)


def _few(streams: list[EnergyStream], least: float) -> list[EnergyStream]:
    """Streams with the small ones as one, where there are several of them."""
    large = [stream for stream in streams if stream.energy >= least]
    small = [stream for stream in streams if stream.energy < least]
    if len(small) < 2:
        return streams
    # Streams of several domains together have no colour of their own.
    domains = {stream.domain for stream in small}
    domain = domains.pop() if len(domains) == 1 else ""
    return [*large, EnergyStream("", sum(s.energy for s in small), small[0].gives, "others", domain)]


def _sum(streams: Iterable[EnergyStream], *, gives: bool) -> float:
    return sum(stream.energy for stream in streams if stream.gives == gives)


HEIGHT = 300.0
"""Of all energy."""
REACH = 210.0
"""From the bar in the middle to those of the elements."""
BAR, MIDDLE = 8.0, 14.0
"""Widths of bars."""
PITCH, GAP, APART = 38.0, 12.0, 4.0
"""Between the middles of two streams, between their edges, and between their texts."""
STREAM_NAME, STREAM_NOTE = 16.0, 12.0
WORDS: dict[StreamKind, tuple[str, str]] = {
    "supplied": ("supplied", "taken out"),
    "stored": ("given by storage", "stored"),
    "lifted": ("given by height", "potential"),
    "dissipated": ("generated", "dissipated"),
    "moved": ("moving parameters", "moving parameters"),
    "impacts": ("impacts", "impacts"),
    "others": ("others", "others"),
    "missing": ("missing", "missing"),
}
"""What a giver and a taker is said to do."""


@final
@dataclass(frozen=True, slots=True)
class PlacedStream:
    """A stream with the tops of its two ends and its height."""

    stream: EnergyStream
    outer: float
    inner: float
    height: float


def sankey_scene(run: Run) -> Scene:
    """The energy of a run as a diagram: the width of a stream is its energy.

    Raises: FigureError (F206) where no energy moved.
    """
    # What has a scale of its own is the bar in the middle: both sides are drawn to the height of the larger one.
    streams = energy_streams(run)
    given, taken = ([s for s in streams if s.gives == gives] for gives in (True, False))
    total = max(_sum(streams, gives=True), _sum(streams, gives=False))
    if not total > 0:
        raise rules.NO_ENERGY.error(
            f"in the run of '{run.name}' no energy moved", where=run.name, fix="give it an input or an initial value"
        )
    shapes: list[Shape] = []
    for side in (given, taken):
        for placed in _placed(side, HEIGHT / total):
            shapes += _stream_shapes(placed)
    bar = Box(-MIDDLE / 2, -HEIGHT / 2, MIDDLE / 2, HEIGHT / 2)
    shapes.append(Curve(box_outline(bar), filled=True, closed=True, tone="quiet", origin=Origin(part="total")))
    text, above = quantity_latex(float(f"{total:.3g}"), "J"), (0, -HEIGHT / 2 - 10)
    shapes.append(Label(text, above, STREAM_NAME, level="baseline", origin=Origin(part="total energy")))
    points = [point for shape in shapes if isinstance(shape, Curve) for _, ends in shape.outline for point in ends]
    frame = union([hull(points), *(label_box(shape) for shape in shapes if isinstance(shape, Label))]).grown(MARGIN)
    told = ", ".join(f"{s.name or s.manner} {'gave' if s.gives else 'took'} {s.energy:.3g} J" for s in streams)
    return framed_scene(f"Energy: {run.name}", told, frame, shapes)


def _placed(streams: list[EnergyStream], scale: float) -> Iterator[PlacedStream]:
    """Streams under each other: together at the bar, apart at their elements, both about the same middle."""
    heights = [stream.energy * scale for stream in streams]
    # A thin stream still needs two lines of text beside it, and the names of parts have subscripts that hang low.
    inks = [union(map(label_box, _texts(stream, (0.0, 0.0)))) for stream in streams]
    texts = [one.bottom - two.top + APART for one, two in pairwise(inks)]
    steps = [max(GAP + (a + b) / 2, PITCH, text) for (a, b), text in zip(pairwise(heights), texts, strict=True)]
    first, last = (heights[0], heights[-1]) if heights else (0.0, 0.0)
    middle = -(first / 2 + sum(steps) + last / 2) / 2 + first / 2
    inner = -sum(heights) / 2
    for stream, height, step in zip(streams, heights, [*steps, 0.0], strict=True):
        yield PlacedStream(stream, middle - height / 2, inner, height)
        middle += step
        inner += height


def _stream_shapes(placed: PlacedStream) -> Iterator[Shape]:
    stream = placed.stream
    way = -1 if stream.gives else 1
    origin = _origin(stream, "stream")
    tone: Tone = marks.domain_tone(stream.domain) if stream.domain else "quiet"
    # A gap in the books is the fault of a solver or a model, and is shown as one.
    tone = "warning" if stream.manner == "missing" else tone
    near, far = way * MIDDLE / 2, way * REACH
    ribbon = _ribbon((far, placed.outer), (near, placed.inner), placed.height)
    yield Curve(ribbon, "hair", tone=tone, origin=origin, closed=True, pale=True)
    bar = Box(min(far, far + way * BAR), placed.outer, max(far, far + way * BAR), placed.outer + placed.height)
    yield Curve(box_outline(bar), filled=True, closed=True, tone=tone, origin=_origin(stream, "bar"))
    yield from _texts(stream, (far + way * (BAR + 8), placed.outer + placed.height / 2))


def _ribbon(far: Point, near: Point, height: float) -> tuple[tuple[str, tuple[Point, ...]], ...]:
    # Level at both ends, by a cubic whose inner points stand half-way: a stream then has its true width where it begins and ends.
    (x, y), (u, v) = far, near
    half = (x + u) / 2
    return (
        ("M", ((x, y),)),
        ("C", ((half, y), (half, v), (u, v))),
        ("L", ((u, v + height),)),
        ("C", ((half, v + height), (half, y + height), (x, y + height))),
        ("Z", ()),
    )


def _texts(stream: EnergyStream, at: Point) -> tuple[Label, Label]:
    """The name of the element over its energy; what is of no one element has words in place of a name."""
    x, y = at
    align: Align = "right" if stream.gives else "left"
    words = WORDS[stream.manner][0 if stream.gives else 1]
    energy = quantity_latex(float(f"{stream.energy:.3g}"), "J")
    if stream.name:
        name = Label(
            name_latex(stream.name), (x, y - 3), STREAM_NAME, align, "baseline", origin=_origin(stream, "name")
        )
        energy = rf"{energy}\text{{ {words}}}"
    else:
        origin = _origin(stream, "name")
        name = Label(words, (x, y - 4), STREAM_NOTE, align, "baseline", math=False, slanted=True, origin=origin)
    told = Label(energy, (x, y + 13), STREAM_NOTE, align, "baseline", tone="quiet", origin=_origin(stream, "energy"))
    below = label_box(name).bottom + APART - label_box(told).top
    return name, replace(told, at=(x, y + 13 + max(below, 0.0)))


def _origin(stream: EnergyStream, part: str) -> Origin:
    side = "gives" if stream.gives else "takes"
    return Origin(stream.name, part, side if stream.name else f"{stream.manner} {side}", 1, stream.domain)


OverlaidNotation = Literal["pog", "bond"]
"""The notations whose sections or bonds have a power each."""
LEGEND, LEGEND_WIDTH = 26.0, 230.0
"""The row under a figure that tells the time and the scale."""
NOTE, VALUE = 13.0, 11.0
"""Sizes of texts."""


MarkShift = Callable[[int, str], Point]


@final
@dataclass(frozen=True, eq=False)
class Overlay:
    """A figure with places for what a run measured. The widest arrow and the full bars are the largest values of the whole run."""

    still: Scene
    marks: tuple[OverlayMark, ...]
    run: Run
    measure: Callable[[Run], PowerFlows]
    most_power: float
    spans: tuple[tuple[float, float], ...]
    """For each mark of stored energy, its least and its largest value; zero to `most_power` for the others."""

    def frames(self, times: Array, *, values: bool = False, shift: MarkShift | None = None) -> list[tuple[Shape, ...]]:
        """What the marks show at some times; with `values`, the powers of sections in numbers.

        `shift` tells how far what a mark stands beside has moved: of an element, in a frame.

        Raises: SimulationError (S205) for times outside the run.
        """
        flows = self.measure(self.run.resampled(times))
        rows = [_rows(mark, flows) for mark in self.marks]
        return [
            (*self._shapes([row[k] for row in rows], values, shift and partial(shift, k)), self._time(t))
            for k, t in enumerate(times)
        ]

    def at(self, time: float) -> Scene:
        """The figure at one time.

        Raises: SimulationError (S205) for a time outside the run.
        """
        (shapes,) = self.frames(np.array([time]), values=True)
        about = f"{self.still.about} Powers and energies at t = {time:g} s."
        return tidy(replace(self.still, about=about.strip(), shapes=(*self.still.shapes, *shapes)))

    def _shapes(
        self, values: list[float], with_numbers: bool, shift: Callable[[str], Point] | None = None
    ) -> list[Shape]:
        found: list[Shape] = []
        marks_here = self.marks if shift is None else [mark.moved(*shift(mark.keys[0])) for mark in self.marks]
        for mark, (least, most), value in zip(marks_here, self.spans, values, strict=True):
            found += marks.mark_shapes(mark, value - least, most - least)
            if with_numbers and mark.kind == "power" and mark.numbered:
                found.append(self._number(mark, value))
        return found

    def _number(self, mark: OverlayMark, value: float) -> Label:
        """The power of a section, under its arrow."""
        (x, y), origin = mark.centre, Origin(part="flow value", port=mark.keys[0], domain=mark.domain)
        text = quantity_latex(_shown(value, self.most_power), "W")
        return Label(text, (x, y + 15), VALUE, tone=mark.tone, origin=origin)

    def _time(self, time: float) -> Label:
        box = self.still.box
        return time_label(time, (box.left + MARGIN, box.bottom - LEGEND / 2 + 4), NOTE)


def overlay_of(run: Run, notation: OverlaidNotation, options: Options, graph: PowerGraph | None = None) -> Overlay:
    """The figure of a run in a notation, with places for its powers and energies.

    `graph` is the model that is drawn: that of the run, or the same one without its experiment.
    """
    drawn = run.graph if graph is None else graph
    scene, measure = _pog(drawn, options) if notation == "pog" else _bond(drawn, options)
    return overlay_on(scene, run, measure, marks.pog_marks if notation == "pog" else marks.bond_marks)


def overlay_on(
    scene: Scene,
    run: Run,
    measure: Callable[[Run], PowerFlows],
    places: Callable[[Scene, PowerFlows], tuple[OverlayMark, ...]],
) -> Overlay:
    """A scene with what a run measured at the places that are found for it."""
    flows = measure(run)
    found = places(scene, flows)
    rows = [_rows(mark, flows) for mark in found]
    # Energies have scales of their own: a full bar is the most that this storage held, whatever the others hold.
    powers = [row for mark, row in zip(found, rows, strict=True) if mark.kind != "stored"]
    # One scale for all frames: an arrow that grew while its power falls would be a lie. Steps that failed have no numbers.
    most = max((float(np.nanmax(np.abs(row), initial=0.0)) for row in powers), default=0.0)
    spans = tuple(_span(row) if mark.kind == "stored" else (0.0, most) for mark, row in zip(found, rows, strict=True))
    return Overlay(*_framed(scene, found, most), run, measure, most, spans)


def _pog(graph: PowerGraph, options: Options) -> tuple[Scene, Callable[[Run], PowerFlows]]:
    """The ladder of a run, where it has one. A section of vector lanes shows the power of all lanes together."""
    # Room is made as for the arrows that tell where power counts as positive; those of the run then take their places.
    wanted = replace(options, power_directions=True)
    plan, scheme = plan_model_pog(assign_causality(graph), wanted)
    sections = [section for ladder in plan.ladders for section in ladder.all_sections()]
    # The plan may show a ladder that was cut at a mesh: then its sections are those of the ladder, not of the vector block.
    meshed = scheme.vectorial and options.meshes != "vector" and not any(section.lanes for section in sections)
    most = FEW_CUTS if options.meshes == "auto" else MANY_CUTS
    linked = linked_ladders(scheme, most, options.earlier.lines) if meshed else None
    shown = scheme if linked is None else linked.scheme
    carried = {section.name: section.carries for section in sections if section.carries}
    scene = plan_scene(plan, wanted)
    return replace(scene, shapes=marks.without_power_directions(scene.shapes)), lambda at: marks.pog_flows(
        shown, at, carried
    )


def _bond(graph: PowerGraph, options: Options) -> tuple[Scene, Callable[[Run], PowerFlows]]:
    scheme = bond_graph(assign_causality(graph), vectors=True, lanes="joined")
    return bond_scene(scheme, options), lambda at: marks.bond_flows(scheme, at)


def _rows(mark: OverlayMark, flows: PowerFlows) -> Array:
    table = {"power": flows.powers, "stored": flows.stored, "lost": flows.lost}[mark.kind]
    found: Array = np.sum([table[key] for key in mark.keys], axis=0)
    return found


def _span(row: Array) -> tuple[float, float]:
    """From empty to full: energies may be counted from a level in the middle."""
    least = float(np.nanmin(row, initial=0.0))
    return min(0.0, least), float(np.nanmax(row, initial=least))


def _framed(scene: Scene, found: tuple[OverlayMark, ...], most: float) -> tuple[Scene, tuple[OverlayMark, ...]]:
    """Room for the marks, and a row under the figure: the time at its left, the scale of the arrows at its right."""
    # Marks at their largest, so that the figure has one size for all times.
    shapes = [shape for mark in found for shape in marks.mark_shapes(mark, 1.0, 1.0)]
    full = union([scene.box, *([ink_box(shapes).grown(2)] if shapes else ())])
    # Marks may reach over the edge of the figure; it then is moved and made wider.
    dx, dy = -full.left, -full.top
    box = Box(0, 0, max(full.width, LEGEND_WIDTH), full.height + LEGEND)
    placed = tuple(moved(shape, dx, dy) for shape in scene.shapes)
    return replace(scene, box=box, shapes=(*placed, *_scale(box, most))), tuple(mark.moved(dx, dy) for mark in found)


def _scale(box: Box, most: float) -> list[Shape]:
    """The widest arrow and what it stands for."""
    if not most:
        return []
    y = box.bottom - LEGEND / 2
    origin = Origin(part="scale")
    text = quantity_latex(_shown(most, most), "W")
    label = Label(text, (box.right - MARGIN, y + 4), NOTE, "right", "baseline", origin=origin)
    widest = OverlayMark("power", ("scale",), (label_box(label).left - 8 - marks.LENGTH / 2, y))
    return [*marks.mark_shapes(widest, 1.0, 1.0), label]


def _shown(value: float, most: float) -> float:
    """A value with three digits, and zero for what is nothing beside the largest one."""
    return float(f"{value:.3g}") if abs(value) > marks.NOTHING * most else 0.0


NAMED = ("name", "body name", "joint name")
MECHANICAL = "translational"
"""The colour of bodies."""
PANEL, ROW, PANEL_NAME = 60.0, 40.0, 15.0
"""Where the names of a panel begin, the height of its rows, and the size of its texts."""


def network_overlay(model: Model, run: Run, options: Options, time: float, *, bodies: bool = False) -> Overlay:
    """The schematic of a model, or its mechanism at a time of a run, with places for powers and energies.

    `bodies` asks for those of a network that has a schematic too.
    """
    if model.mechanism is None and not bodies:
        scene = schematic_scene(model, options)
    else:
        # Its bodies are drawn where they are at that time, or the powers would stand at the wrong places.
        (row,) = coordinates_at(MechanismPose(model), run.resampled(np.array([time])))
        scene = mechanism_scene(model, options, row)
    return physical_overlay(scene, run)


def physical_overlay(scene: Scene, run: Run) -> Overlay:
    """A scene of elements or bodies with places for powers and energies beside their names."""
    names = [s.origin.element for s in scene.shapes if isinstance(s, Label) and s.origin.part in NAMED]
    return overlay_on(scene, run, lambda at: _flows(names, at), _marks)


def panel_overlay(model: Model, run: Run, options: Options) -> Overlay | None:
    """The names of what a mechanism shows in a column, with places for powers and energies.

    Beside bodies that move, marks would jump about. None where a run measured nothing of them.
    """
    named = [s for s in mechanism_scene(model, options).shapes if isinstance(s, Label) and s.origin.part in NAMED]
    flows = _flows([label.origin.element for label in named], run)
    kept = {name for table in (flows.powers, flows.stored, flows.lost) for name in table}
    texts = {label.origin.element: label.text for label in named if label.origin.element in kept}
    if not texts:
        return None
    labels = tuple(
        Label(text, (PANEL, ROW * (k + 1)), PANEL_NAME, "left", origin=Origin(name, "name"))
        for k, (name, text) in enumerate(texts.items())
    )
    scene = Scene("", "", Box(0, 0, 2 * PANEL, ROW * (len(labels) + 1)), labels)
    return overlay_on(scene, run, lambda at: _flows(texts, at), _marks)


def _flows(names: Iterable[str], run: Run) -> PowerFlows:
    """What elements and bodies hold, take and give, by the names that they have in the figure."""
    powers: dict[str, Array] = {}
    stored: dict[str, Array] = {}
    lost: dict[str, Array] = {}
    sources, weights = supplying(run.graph), set(lifted(run.graph))
    for name in names:
        # A body and a field have a port for each direction or lane; a run names them after it: body.x, field[1].
        inside = f"{name}.", f"{name}["
        ports = [p for p in run.graph.ports if p.element == name or p.element.startswith(inside)]
        holding = [p.element for p in ports if isinstance(p.law, StorageLaw) and run.catalogue.of("energy", p.element)]
        # The bar of a body is its motion: only what is nothing but a weight shows its height.
        holding = holding or [p.element for p in ports if p.element in weights]
        taking = [p.element for p in ports if isinstance(p.law, ResistiveLaw) and run.catalogue.of("power", p.element)]
        if name in sources and run.catalogue.of("power", name):
            powers[name] = run.power_values(name)
        elif holding:
            stored[name] = marks.total_energy(run, holding)
        elif taking:
            lost[name] = marks.total_power(run, taking)
    return PowerFlows(powers, stored, lost)


def _marks(scene: Scene, flows: PowerFlows) -> tuple[OverlayMark, ...]:
    """Marks beside the names, each where nothing else is."""
    pen = Pen()
    domains: dict[str, str] = {}
    for shape in scene.shapes:
        pen.put(shape)
        # A label has no domain of its own; the symbol that it names has.
        if isinstance(shape, Curve) and shape.origin.domain:
            domains.setdefault(shape.origin.element, shape.origin.domain)
    found: list[OverlayMark] = []
    for shape in scene.shapes:
        if not isinstance(shape, Label) or shape.origin.part not in NAMED:
            continue
        name = shape.origin.element
        label = replace(shape, origin=replace(shape.origin, domain=domains.get(name, MECHANICAL)))
        if name in flows.powers:
            found += marks.first_free(marks.arrows_beside(label), pen)
        elif name in flows.stored:
            found += marks.first_free(marks.bars_beside(label), pen)
        elif name in flows.lost:
            found += marks.first_free(marks.losses_beside(label), pen)
    return tuple(found)


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
        return sankey_scene(shown_run(what, run)[0])
    if word not in PHYSICAL:
        overlaid_notation(word)
    model = drawn_model(what) if word in PHYSICAL else None
    if model is not None and word == "mechanism":
        MechanismPose(model)  # a model without a mechanism is refused before it is simulated
    shown, graph = shown_run(what, run)
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


def overlaid_notation(word: str) -> OverlaidNotation:
    """A notation that a result can be laid over.

    Raises: FigureError (F200) for another one.
    """
    for notation in get_args(OverlaidNotation):
        if word == notation:
            found: OverlaidNotation = notation
            return found
    known = (*get_args(OverlaidNotation), *PHYSICAL)
    fix = did_you_mean(word, known) or f"draw it as {listing(known)}"
    raise rules.NO_OVERLAY.error(f"'{word}' figures have no place for powers", fix=fix)


def shown_run(what: object, run: object) -> tuple[Run, PowerGraph | None]:
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
        told = f"what was given as 'run' is of the kind '{type(run).__name__}'"
        raise rules.NOT_A_RUN.error(told, fix="give what tellegen.simulate(model) gives back")
    # Elements are compared, not values: a run with other parameters may well be looked at in this figure.
    drawn, measured = ({port.element for port in one.ports} for one in (graph, run.graph))
    apart = sorted(drawn ^ measured)
    if apart:
        raise rules.OTHER_RUN.error(
            f"the run of '{run.name}' is not one of '{graph.name}': {listing(apart)} "
            f"{'is' if len(apart) == 1 else 'are'} in one of them only",
            where=graph.name,
            fix="simulate the model that is drawn, or draw the run: tellegen.draw(run, 'pog')",
        )
    return run, graph
