"""A model as WebAssembly that any page can run: no server, no library, no network.

The code is that of a functional mock-up unit in co-simulation (its modes, breaks, samples, delays and implicit steps), called by
five functions. Mathematics comes from the browser, memory from the unit itself (native/live.h), so that it imports nothing else.
"""

import importlib.util
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from tellegen.core.errors import TellegenError
from tellegen.exporting import rules
from tellegen.exporting.exchanged import Exchanged, exchanged
from tellegen.exporting.fmu.description import References
from tellegen.exporting.fmu.source import instance_source
from tellegen.exporting.fmu.unit import compiled_by
from tellegen.model.model import Model

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
