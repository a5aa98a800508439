"""A model that runs in its page: its code as WebAssembly, what can be moved there, between which ends, in the units of its file.

The code is that of a functional mock-up unit in co-simulation (its modes, breaks, samples, delays and implicit steps), called by
five functions; any page runs it, without server, library or network. Mathematics comes from the browser, memory from the unit
itself (native/live.h), so that it imports nothing else.
"""

import importlib.util
import math
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Unit, parse_unit
from tellegen.equations.system import parameter_values
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, exchanged
from tellegen.exporting.fmu.description import References
from tellegen.exporting.fmu.source import instance_source
from tellegen.exporting.fmu.unit import compiled_by
from tellegen.model.model import Model
from tellegen.reporting.formulas import readable_unit
from tellegen.reporting.pages import LiveRun, Slider
from tellegen.reporting.writing import BAD_SLIDER
from tellegen.results import Run

RTOL: Final = 1e-6
"""Within which a page keeps its states: nobody sees more on a screen, and a slider is to move them at once."""
SHARE: Final = 0.2
"""Of that each step keeps so much: errors of thousands of steps add up, and the page promises the run."""
TIMEOUT_S: Final = 300.0
CALLS: Final = ("restore", "set", "begin", "reach", "value")
HEADERS: Final = ("math", "stdio", "stdlib", "string")
"""Of the library of C; each is `live.h` here."""
FLAGS: Final = (
    *("-std=gnu99", "-O2", "-nostdlib", "-fno-builtin", "-fvisibility=hidden", "-ffp-contract=off", "-w"),
    *("-Wl,--no-entry", "-Wl,--strip-all", *(f"-Wl,--export=tg_page_{call}" for call in CALLS)),
)
_NATIVE: Final = Path(__file__).parent / "native"


@final
@dataclass(frozen=True)
class Adjustable:
    """A parameter, or an input that is constant, by its reference; the value is SI."""

    name: str
    reference: int
    value: float
    unit: str


@final
@dataclass(frozen=True)
class LiveUnit:
    """A model as one file of C, what can be set, and the references of what can be read, all in SI."""

    source: str
    settings: tuple[Adjustable, ...]
    variables: Mapping[str, int]
    until: float
    rtol: float

    def code(self) -> bytes:
        """The WebAssembly.

        Raises: ExportError where there is no compiler for it, or it failed (X411).
        """
        return _compiled(self.source, _compiler())


def live_unit(model: Model, rtol: float = RTOL) -> LiveUnit:
    """The unit of a model with its experiment; inputs that are constant there can be set, courses are inside.

    Raises: ExportError for what no unit can hold (X401, X402, X408, X409).
    """
    made = _exchanged(model)
    references = References(made)
    calls = (_NATIVE / "live.c").read_text(encoding="ascii")
    source = instance_source(
        made, "typedef int tg_environment; /* nobody is told anything */", calls, rtol=SHARE * rtol
    )
    settings = [
        Adjustable(
            variable.name.removeprefix("parameter."), references.of(variable), variable.start or 0.0, variable.unit
        )
        for role in ("parameter", "input")
        for variable in made.by_role.get(role, ())
    ]
    shown = (variable for role in ("state", "input", "observable") for variable in made.by_role.get(role, ()))
    return LiveUnit(source, tuple(settings), {v.name: references.of(v) for v in shown}, made.setup.until, rtol)


def _exchanged(model: Model) -> Exchanged:
    try:
        return exchanged(model, "constants", with_delays=True)
    except TellegenError as refused:
        # A storage that follows a constant takes its rate, which is zero as long as nobody sets it.
        if refused.finding.code != rules.RATE_OF_INPUT.code:
            raise
        return exchanged(model, "experiment", with_delays=True)


def _compiler() -> tuple[str, ...]:
    """What compiles to WebAssembly: the package ziglang, else a clang that has the linker for it.

    Raises: ExportError (X411) where there is neither.
    """
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-freestanding")
    clang = shutil.which("clang")
    if clang is not None and shutil.which("wasm-ld") is not None:
        return (clang, "--target=wasm32")
    raise rules.PLATFORM.error("a page needs a compiler for WebAssembly", fix="pip install ziglang")


def _compiled(source: str, compiler: tuple[str, ...]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="tellegen-") as name:
        folder = Path(name)
        text, code = folder / "unit.c", folder / "unit.wasm"
        text.write_text(source, encoding="ascii")
        shutil.copy(_NATIVE / "live.h", folder)
        for header in HEADERS:
            (folder / f"{header}.h").write_text('#include "live.h"\n', encoding="ascii")
        call = (*compiler, *FLAGS, "-isystem", str(folder), "-o", str(code), str(text))
        return compiled_by(call, code, TIMEOUT_S, "the page", "WebAssembly", "pip install -U ziglang")


SPAN: Final = 5.0
"""A slider goes from a fifth of its value to five times it, where nobody says more."""


def live_run(model: Model, asked: Sequence[str], shows: str) -> LiveRun:
    """The model with its experiment, for the page; `asked` are NAME or NAME=LOW:HIGH, none for all that can be moved.

    Raises: ExportError for what a page cannot run (X402, X408, X409, X411), or for a slider that cannot be (X305).
    """
    unit = live_unit(model)
    sliders = _sliders(model, unit.settings, asked)
    return LiveRun(unit.code(), sliders, unit.variables, unit.until, unit.rtol, shows)


def kernel_run(run: Run, model: Model, asked: Sequence[str], shows: str, rtol: float) -> LiveRun:
    """The same for a page that asks the Python beside it for its curves: nothing is compiled, and nothing refused.

    Raises: ExportError for a slider that cannot be (X305).
    """
    values = parameter_values({name: item.expression for name, item in model.parameters.items()})
    settings = [
        Adjustable(name, -1, values[name], item.unit)
        for name, item in model.parameters.items()
        if name in values and name not in model.counts and not (item.expression and item.expression.free_symbols)
    ]
    courses = model.experiment.inputs
    for name in run.trajectory.segments[0].model.inputs:
        formula = courses[name].expression if name in courses else None
        if formula is None or not formula.free_symbols:
            settings.append(Adjustable(name, -1, float(run.values(name)[0]), run.unit(name)))
    variables = {name: k for k, name in enumerate(run.names)}
    return LiveRun(b"", _sliders(model, settings, asked), variables, float(run.t[-1]), rtol, shows)


def _sliders(model: Model, settings: Sequence[Adjustable], asked: Sequence[str]) -> tuple[Slider, ...]:
    ends = dict(map(_split, asked)) or {setting.name: "" for setting in settings}
    return tuple(_slider(model, settings, name, text) for name, text in ends.items())


def _split(asked: str) -> tuple[str, str]:
    name, _, ends = asked.partition("=")
    return name.strip(), ends.strip()


def _slider(model: Model, settings: Sequence[Adjustable], name: str, text: str) -> Slider:
    setting = next((setting for setting in settings if setting.name == name), None)
    if setting is None:
        names = [setting.name for setting in settings]
        fix = did_you_mean(name, names) or (f"there are {listing(names)}" if names else "leave it out")
        raise BAD_SLIDER.error(f"'{name}' cannot be moved", where=name, fix=fix)
    word, measured = _unit_of_file(model, setting)
    value = (setting.value - float(measured.offset)) / float(measured.factor)
    low, high = _ends(name, text) if text else _around(value)
    return Slider(
        name,
        setting.reference,
        value,
        low,
        high,
        unit=readable_unit(word),
        factor=float(measured.factor),
        offset=float(measured.offset),
        geometric=low > 0 and high / low > SPAN,
    )


def _unit_of_file(model: Model, setting: Adjustable) -> tuple[str, Unit]:
    known = model.parameters.get(setting.name)
    word = known.unit if known is not None and known.unit else setting.unit
    return word, parse_unit(word or "1")


def _around(value: float) -> tuple[float, float]:
    if value == 0:
        return -1.0, 1.0
    return (value / SPAN, value * SPAN) if value > 0 else (value * SPAN, value / SPAN)


def _ends(name: str, text: str) -> tuple[float, float]:
    """The ends that somebody gave, in the unit of the file."""
    try:
        low, high = map(float, text.split(":"))
    except ValueError:
        low = high = math.nan
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise BAD_SLIDER.error(
            f"'{text}' is no interval", where=name, fix=f"give {name}=LOW:HIGH, such as {name}=0.1:2"
        )
    return low, high
