"""Runs, limits, flows of power and files to export, for pages. Called in worker processes."""

import math
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from zipfile import ZipFile

import numpy as np
import numpy.typing as npt

from tellegen.analysis.poles import Pole
from tellegen.causality import assign_causality
from tellegen.conditioning.forms import condition_model
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.files import read_bytes
from tellegen.drawing import animate, draw
from tellegen.equations.derivation import derive_equations
from tellegen.equations.steps import derivation_steps
from tellegen.equations.system import EquationSystem
from tellegen.experiments.analysing import analyse
from tellegen.experiments.simulating import simulate
from tellegen.exporting.exports import export_model
from tellegen.graph import lower
from tellegen.importing.imports import imported
from tellegen.model.model import Model
from tellegen.plots.axes import engineering
from tellegen.plots.texts import variable_latex
from tellegen.reduction import Reduction, reduce_model
from tellegen.reporting.formulas import inline_formula, readable_unit
from tellegen.reporting.reports import element_links, report
from tellegen.results import Run
from tellegen.scenes.pictures import Picture
from tellegen.scenes.strokes import THEMES
from tellegen.scenes.writers.svg import SvgWriter
from tellegen.schemes.translation import translation
from tellegen.server import rules
from tellegen.server.protocol import (
    Channel,
    Export,
    FlowDone,
    FormLine,
    FormsDone,
    LimitDone,
    PoleLine,
    RefineDone,
    RunCurve,
    RunDone,
    Theme,
    View,
)
from tellegen.server.views import inline_svg, model_of
from tellegen.simulation.solvers.stretch import Watch
from tellegen.studies.conditioning import SUITS, compare_conditioning
from tellegen.studies.losses import trajectory_loss

Array = npt.NDArray[np.float64]

MOST_POINTS = 4000
"""A curve of more points is shown by the lowest and the highest of each stretch: no screen has more columns."""
MOST_VALUES = 5_000_000
"""Of a run with more numbers than this the variables that it shows are sent: a page answers within a second."""
MOST_CHANNELS = 12
"""A Bode diagram of more channels shows nothing to anybody."""
MOST_POLES = 80
"""Models with more states are not made linear beside each run."""
BODE_POINTS = 200
FAR = 20.0
"""An end of a run so much later or earlier than the motion lasts shows a step or a point."""
PREFIXES = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))
FEW = 24
"""Up to so many elements have their powers and energies in a run."""
FINE = 16_000
"""Rows of a stretch that is looked at closely, before they are thinned."""
PAUSE_S = 0.1
"""Progress is not told more often than this."""

Tell = Callable[[float, float], None]


def run(
    asked: tuple[int, int, bool],
    source: tuple[str, str, str],
    parameters: Mapping[str, str],
    tell: Tell,
    stop: threading.Event,
) -> tuple[RunDone, list[bytes]]:
    """The experiment of a text, with values of parameters beside it; `asked` is its number, the version, whether it is live.

    The numbers come as arrays of doubles: times, the curves, frequencies, then gain and phase of each channel.
    """
    began = perf_counter()
    number, version, live = asked
    model = model_of(*source)
    until = model.experiment.until
    last = began

    def progress(reached: float) -> None:
        nonlocal last
        if (now := perf_counter()) - last > PAUSE_S:
            last = now
            tell(reached, float(until.evaluate({})) if until is not None and not until.free_symbols else 0.0)

    found = simulate(model, parameters=parameters or None, on_failure="return", progress=Watch(progress, stop))
    names, left_out = shown_names(found)
    t, rows = thinned(found.t, found.table(names) if len(found.t) else np.empty((0, len(names))))
    links = element_links(model)
    curves = tuple(_curve(found, name, row, links) for name, row in zip(names, rows, strict=True))
    # Who cancelled a run does not wait for its poles.
    states = len(found.state_names) if found.status != "cancelled" else 0
    poles, channels, frequencies, responses = _linear(model, parameters, states)
    books = found.energy.to_json() if len(found.t) else {}
    done = RunDone(
        id=number,
        version=version,
        live=live,
        status=found.status,
        finding="" if found.finding is None else f"{found.finding.code}: {found.finding.what}",
        solver=found.solver,
        seconds=perf_counter() - began,
        rows=len(found.t),
        points=len(t),
        parameters=dict(parameters),
        curves=curves,
        left_out=left_out,
        shown=found.shown or (*found.state_names, *found.displacement_names) or found.output_names,
        final={name: value for name, value in found.final().items() if math.isfinite(value)},
        books={word: value for word, value in books.items() if math.isfinite(value)},
        poles=poles,
        suits=suitable_end(poles, float(found.t[-1]) if len(found.t) else 0.0),
        channels=channels,
        frequencies=len(frequencies),
    )
    numbers = [t, *rows, frequencies, *responses]
    return done, [np.ascontiguousarray(one, dtype="<f8").tobytes() for one in numbers]


def shown_names(found: Run) -> tuple[list[str], str]:
    """What is sent of a run: its variables, and the powers and energies of not too many elements; of a long one what it shows.

    Beside it why powers and energies are left out, where they are.
    """
    if (count := len(found.t) * len(found.names)) > MOST_VALUES:
        limit = f"{MOST_VALUES // 1_000_000} million"
        return list(
            found.final()
        ), f"This run has {count / 1e6:.3g} million numbers; of more than {limit} only what is shown is sent."
    others = [name for name in found.names if name.startswith(("power.", "energy."))]
    variables = [name for name in found.names if name not in set(others)]
    if len(others) > 2 * FEW:
        return variables, f"Powers and energies are sent of up to {FEW} elements; this model has more."
    return [*variables, *others], ""


def _curve(found: Run, name: str, row: Array, links: Mapping[str, Sequence[str]]) -> RunCurve:
    sort, _, element = name.partition(".")
    is_power = sort in {"power", "energy"} and bool(element)
    groups = {"state": found.state_names, "displacement": found.displacement_names, "input": found.input_names}
    of = next((word for word, known in groups.items() if name in known), "variable")
    largest = float(np.nanmax(np.abs(row), initial=0.0))
    factor, unit = engineering(found.unit(name), largest)
    shown = inline_formula(unit) if unit else ""
    return RunCurve(
        name=name,
        unit=readable_unit(found.unit(name)),
        factor=factor,
        shown_unit=shown,
        mathml=inline_formula(variable_latex(name)),
        elements=(element,) if is_power else tuple(links.get(name, ())),
        sort=sort if is_power else of,
    )


def thinned(t: Array, table: Array) -> tuple[Array, Array]:
    """Curves by their extremes, where they have more points than a screen has columns; all over the same times.

    A table has a row for each time; what comes back has one for each curve.
    """
    if len(t) <= MOST_POINTS:
        return t, table.T
    size = -(-len(t) // (MOST_POINTS // 2))
    stretches = -(-len(t) // size)
    # The last stretch is filled up with the last row: it has its extremes, and no row is left out.
    spare = stretches * size - len(t)
    made = np.empty((table.shape[1], 2 * stretches + 1))
    stretch = np.arange(stretches)
    for row, column in zip(made, table.T, strict=True):
        cut = np.pad(column, (0, spare), mode="edge").reshape(stretches, size)
        least, most = cut.argmin(axis=1), cut.argmax(axis=1)
        # In the order in which they come; within one column of the screen the exact place cannot be seen.
        row[0:-1:2] = cut[stretch, np.minimum(least, most)]
        row[1:-1:2] = cut[stretch, np.maximum(least, most)]
        row[-1] = column[-1]
    whole = np.pad(t, (0, spare), mode="edge").reshape(stretches, size)
    times = np.append(whole[:, (0, size // 2)].ravel(), t[-1])
    return times, made


def _linear(
    model: Model, parameters: Mapping[str, str], states: int
) -> tuple[tuple[PoleLine, ...], tuple[Channel, ...], Array, list[Array]]:
    """Poles and the Bode diagram of the model in its steady state; nothing where it has none."""
    nothing = np.empty(0)
    if not 0 < states <= MOST_POLES:
        return (), (), nothing, []
    try:
        found = analyse(model, parameters=parameters or None)
        poles = tuple(map(_pole, found.poles))
        count = len(found.model.inputs) * len(found.model.outputs)
        if not 0 < count <= MOST_CHANNELS:
            return poles, (), nothing, []
        bode = found.bode(points=BODE_POINTS)
    except (TellegenError, ArithmeticError, np.linalg.LinAlgError):
        return (), (), nothing, []
    channels: list[Channel] = []
    rows: list[Array] = []
    for i, output in enumerate(bode.outputs):
        for j, input_ in enumerate(bode.inputs):
            channels.append(Channel(output, input_))
            rows += [bode.decibel[:, i, j], bode.phase[:, i, j]]
    return poles, tuple(channels), bode.frequency, rows


def suitable_end(poles: Sequence[PoleLine], until: float) -> str:
    """The end of a run that shows the whole motion, where the one that was chosen is far from it: five time constants of the
    slowest pole that decays, else ten periods of the slowest that swings.
    """
    decays = [-pole.real for pole in poles if pole.real < -1e-9 * pole.frequency]
    swings = [abs(pole.imaginary) for pole in poles if pole.imaginary]
    wanted = 5 / min(decays) if decays else 20 * math.pi / min(swings) if swings else 0.0
    if not (0 < wanted < math.inf) or not until or 1 / FAR <= until / wanted <= FAR:
        return ""
    # The next of 1, 2 and 5: ends are round numbers.
    power = 10.0 ** math.floor(math.log10(wanted))
    round_one = next(step * power for step in (1, 2, 5, 10) if step * power >= wanted * (1 - 1e-9))
    factor, prefix = next((one for one in PREFIXES if round_one >= one[0]), PREFIXES[-1])
    return f"{round_one / factor:.3g} {prefix}s"


def _pole(pole: Pole) -> PoleLine:
    value = complex(pole.value)
    return PoleLine(value.real, value.imag, abs(value), pole.damping if math.isfinite(pole.damping) else 1.0)


def refine(
    asked: tuple[int, int, tuple[float, float]],
    source: tuple[str, str, str],
    parameters: Mapping[str, str],
    variables: Sequence[str],
    _tell: Tell,
    stop: threading.Event,
) -> tuple[RefineDone, list[bytes]]:
    """A run again, with as many rows in a stretch of time as a screen shows, or as the run itself has there where that is more.

    `asked` is the number of the message, that of the run, and the ends of the stretch.
    """
    number, of, (begin, end) = asked
    model = model_of(*source)
    nothing: tuple[RefineDone, list[bytes]] = RefineDone(number, of, 0.0, 0.0, 0, ()), []
    if not (math.isfinite(begin) and math.isfinite(end)):
        return nothing
    until = model.experiment.until
    begin = max(0.0, begin)
    if until is not None and not until.free_symbols:
        end = min(end, float(until.evaluate({})))
    if not begin < end:
        return nothing
    times = np.linspace(begin, end, FINE)
    found = simulate(
        model,
        end,
        parameters=parameters or None,
        times=times,
        on_failure="return",
        progress=Watch(lambda _t: None, stop),
    )
    known = [name for name in variables if name in found.names]
    if found.status != "finished" or not known:
        return nothing
    t, rows = thinned(found.t, found.table(known))
    done = RefineDone(number, of, begin, end, len(t), tuple(known))
    return done, [np.ascontiguousarray(one, dtype="<f8").tobytes() for one in (t, *rows)]


# -- Flows of power ----------------------------------------------------------------------------------------------------------------


def flow(number: int, text: str, file: str, folder: str, view: View, frames: int, theme: Theme) -> FlowDone:
    """The figure of the experiment with powers and energies over it, or the mechanism in motion, at even times."""
    model = model_of(text, file, folder)
    shown = animate(model, view, frames=max(2, min(frames, 120)), theme=theme)
    writer = SvgWriter(shown.still, THEMES[theme], shown.options.zoom(shown.still.box.width), symbols=True)
    # Frames first: what letters they need is then in the document.
    drawn = tuple(writer.bare(shapes) for shapes in shown.frames)
    return FlowDone(number, view, inline_svg(writer.document()), drawn, shown.times)


# -- Limits ------------------------------------------------------------------------------------------------------------------------


def limit(number: int, text: str, file: str, folder: str, limits: Mapping[str, str], theme: Theme) -> LimitDone:
    """What limits make of a model: the steps on the POG, the states, the poles that go, and how far the curves are apart."""
    model = model_of(text, file, folder)
    found = reduce_model(model, limits)
    svg, note = "", ""
    try:
        svg = inline_svg(draw(found, "steps", theme=theme).svg(symbols=True))
    except TellegenError as error:
        note = error.what
    before, after = found.full_states, found.equations.states
    removed = tuple(name for name in before if name not in after)
    poles = tuple(f"{_number(pole)} rad/s" for pole in found.account.removed_poles if pole.imag >= 0)
    return LimitDone(
        id=number,
        limits=limits,
        svg=svg,
        before=before,
        after=after,
        removed=removed,
        poles=poles,
        loss=tuple(_loss(found)),
        note=note,
    )


def _loss(found: Reduction) -> Iterator[tuple[str, str]]:
    if found.original.experiment.until is None:
        return
    try:
        loss = trajectory_loss(found.original, found, rtol=1e-7)
    except TellegenError as error:
        yield "", f"No comparison: {error.what}"
        return
    for name, one in loss.variables.items():
        words = f"differs by at most {one.largest:.3g} {readable_unit(one.unit)}, {_percent(one.relative)} of its size"
        yield name, words + (" (removed)" if one.recovered else "")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def _number(pole: complex) -> str:
    part = f" \N{PLUS-MINUS SIGN} {pole.imag:.4g}j" if pole.imag else ""
    return f"{pole.real:.4g}{part}".replace("-", "\N{MINUS SIGN}")


# -- Forms of dependent storages ---------------------------------------------------------------------------------------------------


def forms(number: int, text: str, file: str, folder: str) -> FormsDone:
    """The forms that treat the dependent storages of a model, side by side on its experiment.

    Raises: ConditioningError where no storage depends on others; SimulationError.
    """
    model = model_of(text, file, folder)
    found = compare_conditioning(model)
    lines = tuple(
        FormLine(
            form=form,
            suits=SUITS[form],
            solver=record.run.solver,
            seconds=record.run.trajectory.setup_s + record.run.trajectory.solve_s,
            steps=record.run.trajectory.steps,
            states=record.states,
            excess=record.excess,
            relative=_finite(record.relative),
            forces=_finite(record.forces),
            violation=_finite(record.violation),
            energy=_finite(record.energy),
            text=condition_model(model, form).to_text(),
        )
        for form, record in found.records.items()
    )
    refused = tuple((form, why.what) for form, why in found.refused.items())
    return FormsDone(number, found.reference, lines, refused)


def _finite(value: float) -> float:
    """A number that JSON has; what grew without bound is as large as it can be."""
    return value if math.isfinite(value) else math.copysign(1e300, value)


def taken(name: str, text: str) -> str:
    """The model file that a file of another tool becomes, with comments on what was left out.

    Raises: DescriptionError for what cannot be read, or what becomes several files.
    """
    with TemporaryDirectory() as place:
        ending = Path(name).suffix.lower()
        # Only what tells the reader what it is is taken from a name that comes from a page.
        path = Path(place, f"dropped{ending if re.fullmatch(r'[.][a-z0-9]{1,8}', ending) else ''}")
        path.write_text(text, encoding="utf-8", errors="replace", newline="")
        try:
            found = imported(path, Path(name).stem)
        except TellegenError as error:
            # Where it lay for a moment says nothing to anybody.
            raise type(error)(tuple(_of_file(one, str(path), name) for one in error.findings)) from error
    if found.beside:
        what = f"'{name}' becomes several files"
        raise rules.NO_MODEL_FILE.error(what, fix=f"import it in its folder: tellegen import {name}")
    return found.text


def _of_file(found: Finding, path: str, name: str) -> Finding:
    place = found.place._replace(file=name) if found.place is not None else None
    words = {word: getattr(found, word).replace(path, name) for word in ("what", "fix", "where")}
    return replace(found, place=place, **words)


# -- Files -------------------------------------------------------------------------------------------------------------------------

MEDIA: Mapping[str, str] = {
    "svg": "image/svg+xml", "pdf": "application/pdf", "png": "image/png", "tex": "text/x-tex", "csv": "text/csv",
    "txt": "text/plain", "html": "text/html", "yaml": "application/yaml", "py": "text/x-python", "nc": "application/x-netcdf",
}  # fmt: skip


def export(source: tuple[str, str, str], asked: Export) -> tuple[str, str, bytes]:
    """A file: its name, its type, its bytes.

    What is asked for is a view, `equations`, `curves`, `bode`, `poles`, `energy`, `data`, `report`, `model` or a tool.

    Raises: TellegenError of the layer that writes it.
    """
    model = model_of(*source)
    what, format = asked.what, asked.format
    stem = Path(source[1]).stem or "model"
    if format in _WRITTEN and what in _WRITTEN[format]:
        return f"{stem}_{what}.{format}", MEDIA[format], _WRITTEN[format][what](model).encode()
    if what == "model":
        return f"{stem}_{format}.yaml", MEDIA["yaml"], translation(model, format).encode()  # type: ignore[arg-type]
    with TemporaryDirectory() as place:
        if what == "tool":
            return _of_tool(export_model(model, format, place, name=stem))
        target = Path(place, f"{stem}_{what}.{format}" if what not in {"data", "report"} else f"{stem}.{format}")
        if what == "data":
            simulate(model, on_failure="return", progress=False).save(target)
        elif what == "report":
            report(model, target)
        else:
            _picture(model, asked).save(target)
        return target.name, MEDIA.get(format, "application/octet-stream"), _bytes(target)


def _system(model: Model) -> EquationSystem:
    return derive_equations(assign_causality(lower(model)))


_WRITTEN: Mapping[str, Mapping[str, Callable[[Model], str]]] = {
    "tex": {
        "equations": lambda model: _system(model).to_latex(),
        "steps": lambda model: derivation_steps(_system(model)).to_latex(),
    },
    "txt": {"steps": lambda model: derivation_steps(_system(model)).to_text()},
}
"""What is a text and no picture, by format and view."""


def _picture(model: Model, asked: Export) -> Picture:
    """A figure, or a plot of the experiment, as the page shows it."""
    match asked.what:
        case "curves":
            return simulate(model, progress=False).plot(*asked.variables, theme=asked.theme)
        case "bode":
            return analyse(model).plot(theme=asked.theme)
        case "poles":
            return analyse(model).plot_poles(theme=asked.theme)
        case "energy":
            return draw(model, "sankey", theme=asked.theme)
        case view:
            return draw(model, view, at=asked.at or None, theme=asked.theme)


def _of_tool(paths: Sequence[Path]) -> tuple[str, str, bytes]:
    """The file of a tool; several in one archive."""
    if len(paths) == 1:
        return paths[0].name, "application/octet-stream", _bytes(paths[0])
    with TemporaryDirectory() as place:
        target = Path(place, f"{paths[0].stem}.zip")
        with ZipFile(target, "w") as archive:
            for path in paths:
                archive.write(path, path.name)
        return target.name, "application/zip", _bytes(target)


def _bytes(path: Path) -> bytes:
    return read_bytes(path, 256 * 1024 * 1024)
