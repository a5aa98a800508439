"""Functional mock-up units at work: their libraries unpacked and loaded, and a host in C that calls them for signals."""

import atexit
import ctypes
import os
import platform
import shutil
import struct
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from tellegen.compiler import rules
from tellegen.compiler.context import MAKE, Array, address_of
from tellegen.compiler.toolchain import build_files
from tellegen.core.archives import ArchiveError, archive_members, member_bytes
from tellegen.core.errors import TellegenError
from tellegen.model.mockup_units import MockupUnit, UnitSignal, UnitUse

PLAIN = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.POINTER(ctypes.c_double))
"""A Python function, as the host calls it: number of the signal, arguments."""

FUNCTIONS: Final[tuple[tuple[str, str], ...]] = (
    ("", ""),  # instantiate: by kind
    ("SetupExperiment", ""),
    ("EnterInitializationMode", "EnterInitializationMode"),
    ("ExitInitializationMode", "ExitInitializationMode"),
    ("Reset", "Reset"),
    ("FreeInstance", "FreeInstance"),
    ("Terminate", "Terminate"),
    ("SetReal", "SetFloat64"),
    ("GetReal", "GetFloat64"),
    ("SetTime", "SetTime"),
    ("SetContinuousStates", "SetContinuousStates"),
    ("GetContinuousStates", "GetContinuousStates"),
    ("GetDerivatives", "GetContinuousStateDerivatives"),
    ("GetEventIndicators", "GetEventIndicators"),
    ("EnterEventMode", "EnterEventMode"),
    ("EnterContinuousTimeMode", "EnterContinuousTimeMode"),
    ("NewDiscreteStates", "UpdateDiscreteStates"),
    ("DoStep", "DoStep"),
    ("GetFMUstate", "GetFMUState"),
    ("SetFMUstate", "SetFMUState"),
    ("FreeFMUstate", "FreeFMUState"),
    ("CompletedIntegratorStep", "CompletedIntegratorStep"),
)
"""The functions of a unit in the order of `unit_host.c`, in FMI 2.0 and 3.0."""

STEPPING: Final = frozenset(["DoStep"])
EXCHANGING: Final = frozenset(
    (
        "SetTime",
        "SetContinuousStates",
        "GetContinuousStates",
        "GetDerivatives",
        "GetContinuousStateDerivatives",
        "GetEventIndicators",
        "EnterEventMode",
        "EnterContinuousTimeMode",
        "NewDiscreteStates",
        "UpdateDiscreteStates",
        "CompletedIntegratorStep",
    )
)
KEEPING: Final = frozenset(["GetFMUstate", "SetFMUstate", "FreeFMUstate", "GetFMUState", "SetFMUState", "FreeFMUState"])


class TgUnit(ctypes.Structure):
    """The struct of `unit_host.c`, field by field."""

    _fields_ = (
        *((name, ctypes.c_int) for name in ["fmi", "steps", "n_x", "n_u", "n_p", "n_y", "n_z", "keeps", "completed"]),
        *((name, ctypes.c_void_p) for name in ["u", "p", "y"]),
        *((name, ctypes.c_char_p) for name in ["name", "token", "resources", "resources_uri"]),
        ("f", ctypes.c_void_p * len(FUNCTIONS)),
        ("every", ctypes.c_double),
        ("start", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ["instance", "known", "rates", "outputs", "indicators", "held", "first"]),
        *((name, ctypes.c_int) for name in ["is_known", "epoch", "restarts", "room"]),
        ("kept", ctypes.c_void_p),
        ("soon", ctypes.c_void_p),
        ("count", ctypes.c_long),
        ("next", ctypes.c_double),
        ("said", ctypes.c_char * 160),
    )


class TgEntry(ctypes.Structure):
    """What one signal asks."""

    _fields_ = (
        ("unit", ctypes.c_void_p),
        ("what", ctypes.c_int),
        ("place", ctypes.c_int),
        ("function", ctypes.c_void_p),
    )


class TgHost(ctypes.Structure):
    """The signals of one model; none of them before `make` was called."""

    _fields_ = (("entries", ctypes.c_void_p), ("make", ctypes.c_void_p))


QUESTIONS: Final = {"rate": 0, "output": 1, "indicator": 2}


@final
class UnitHost:
    """The signals of one model that units answer, and those that Python functions do, behind one function in C.

    No library of a unit is loaded before one of its signals is asked for: a model may be read, compiled and drawn without.
    """

    def __init__(self, functions: Sequence[Callable[..., float]], plain: Callable[[int, Any], float]) -> None:
        self._functions = functions
        self.uses = tuple(dict.fromkeys(f.use for f in functions if isinstance(f, UnitSignal)))
        self.units: list[_LoadedUnit] = []
        self._plain, self._make = PLAIN(plain), MAKE(self._made)
        self._library = _host_library(self.uses[0].unit)
        self._host = TgHost(make=ctypes.cast(self._make, ctypes.c_void_p).value)
        self._one_at_a_time = threading.Lock()
        self.function = ctypes.cast(self._library.tg_external, ctypes.c_void_p).value
        self.address: int | None = ctypes.addressof(self._host)
        self._refused = ""

    def _made(self) -> int:
        """Load the units. Gives 1 where one cannot be."""
        with self._one_at_a_time:
            if self._host.entries:
                return 0
            try:
                self._load()
            # Nothing can be raised through C; without units it must not go on.
            except Exception as error:
                self._refused = error.finding.what if isinstance(error, TellegenError) else str(error)
                return 1
        return 0

    def _load(self) -> None:
        self.units = [_LoadedUnit(use) for use in self.uses]
        self._entries = (TgEntry * len(self._functions))()
        for entry, function in zip(self._entries, self._functions, strict=True):
            if isinstance(function, UnitSignal):
                entry.unit = ctypes.addressof(self.units[self.uses.index(function.use)].struct)
                entry.what, entry.place = QUESTIONS[function.question], function.place
            else:
                entry.function = ctypes.cast(self._plain, ctypes.c_void_p).value
        end = self._library.tg_unit_end
        end.argtypes = [ctypes.c_void_p]
        for unit in self.units:
            atexit.register(_ended, end, unit)
        # Last: who sees them may call them.
        self._host.entries = ctypes.addressof(self._entries)

    @property
    def said(self) -> str:
        """Why a unit could not be loaded, or what one said that refused something."""
        return self._refused or next(
            (said for u in self.units if (said := u.struct.said.decode("ascii", "replace"))), ""
        )

    @property
    def next_event(self) -> float:
        """The next time event of all units that have said one."""
        times = [float(unit.struct.next) for unit in self.units if unit.struct.instance and unit.use.events]
        return min(times, default=np.inf)

    def begin_again(self) -> None:
        """Initialise all units anew when they are asked next, with what they are given then."""
        for unit in self.units:
            unit.struct.restarts = 1

    def first_states(self) -> dict[str, float]:
        """The states that the units had behind their initialisation, by their names in the model."""
        found = [(use.states, unit.first) for use, unit in zip(self.uses, self.units, strict=False) if use.states]
        return {name: float(value) for names, values in found for name, value in zip(names, values, strict=False)}

    def event(self, use: UnitUse, states: Array) -> Array | None:
        """An event of a unit at its last arguments: its states behind it; None where it failed."""
        unit, found, next_time = (
            self.units[self.uses.index(use)],
            np.array(states, dtype=float),
            ctypes.c_double(np.inf),
        )
        place = address_of(found) if len(found) else None
        call = self._library.tg_unit_event
        call.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        status = call(ctypes.addressof(unit.struct), place, ctypes.addressof(next_time))
        return None if status else found


def _ended(end: Any, unit: "_LoadedUnit") -> None:
    end(ctypes.addressof(unit.struct))


@final
class _LoadedUnit:
    """A unit with its library, and the arrays that it is given."""

    def __init__(self, use: UnitUse) -> None:
        unit = use.unit
        self.use = use
        folder = _unpacked(unit)
        library = _loaded(unit, folder, unit.identifiers[use.kind])
        exchange = use.kind == "model exchange"
        self.struct = TgUnit()
        counts = {"n_x": len(unit.states) if exchange else 0, "n_u": len(use.inputs), "n_p": len(use.parameters)}
        counts |= {"n_y": len(unit.outputs), "n_z": unit.indicators if exchange else 0}
        for name, count in counts.items():
            setattr(self.struct, name, count)
        self.struct.fmi, self.struct.steps = int(unit.version), int(not exchange)
        self.struct.keeps = int(unit.keeps[use.kind])
        self.struct.completed = int(unit.asks_steps and exchange)
        references = {"u": use.inputs, "p": use.parameters, "y": tuple(v.reference for v in unit.outputs)}
        self._arrays: dict[str, Any] = {
            name: np.array(found or (0,), dtype=np.uint32) for name, found in references.items()
        }
        room = 2 + counts["n_x"] + counts["n_u"] + counts["n_p"]
        sizes = {"known": room, "rates": counts["n_x"], "outputs": counts["n_y"], "indicators": counts["n_z"]}
        sizes |= {"held": counts["n_u"], "first": counts["n_x"]}
        self._arrays |= {name: np.zeros(max(size, 1)) for name, size in sizes.items()}
        for name, values in self._arrays.items():
            setattr(self.struct, name, address_of(values))
        self.first: Array = self._arrays["first"]
        resources = folder / "resources"
        self.struct.name, self.struct.token = unit.name.encode(), unit.token.encode()
        self.struct.resources = os.fsencode(str(resources) + os.sep)
        self.struct.resources_uri = resources.as_uri().encode()
        self.struct.every, self.struct.next = use.every, np.inf
        for k, address in enumerate(_addresses(unit, library, exchange=exchange)):
            self.struct.f[k] = address
        # Kept here, for C is given their bare addresses.
        self._library = library


def _addresses(unit: MockupUnit, library: ctypes.CDLL, *, exchange: bool) -> list[int | None]:
    """The functions of a unit, where they are needed. Raises: TellegenError for one that is missing."""
    found: list[int | None] = []
    for k, names in enumerate(FUNCTIONS):
        name = names[0 if unit.version == "2" else 1]
        if k == 0:
            name = (
                "Instantiate"
                if unit.version == "2"
                else f"Instantiate{'ModelExchange' if exchange else 'CoSimulation'}"
            )
        unused = (name in STEPPING and exchange) or (name in EXCHANGING and not exchange)
        unused = unused or (name in KEEPING and not unit.keeps["model exchange" if exchange else "co-simulation"])
        if not name or unused:
            found.append(None)
            continue
        try:
            found.append(ctypes.cast(getattr(library, f"fmi{unit.version}{name}"), ctypes.c_void_p).value)
        except AttributeError:
            raise _refused(unit, f"its library has no fmi{unit.version}{name}") from None
    return found


def platform_folder(version: str) -> tuple[str, str]:
    """The folder of libraries for this machine, and the ending of their names."""
    system = {"win32": "windows", "darwin": "darwin"}.get(sys.platform, "linux")
    ending = {"windows": ".dll", "darwin": ".dylib"}.get(system, ".so")
    bits = 8 * struct.calcsize("P")
    if version == "2":
        return f"{'win' if system == 'windows' else system}{bits}", ending
    machine = "aarch64" if platform.machine().lower() in ("arm64", "aarch64") else "x86_64" if bits == 64 else "x86"
    return f"{machine}-{system}", ending


_FOLDERS: dict[str, Path] = {}
"""Where units are unpacked in this process, by file and its last change."""


def _unpacked(unit: MockupUnit) -> Path:
    """The library for this machine and the resources, in a folder of our own that goes with the process.

    Raises: TellegenError where there is no library for this machine, or the file cannot be unpacked.
    """
    path = Path(unit.path)
    try:
        state = path.stat()
        key = f"{path.resolve()} {state.st_mtime_ns} {state.st_size}"
        if key in _FOLDERS:
            return _FOLDERS[key]
        members = archive_members(path)
        wanted = (f"binaries/{platform_folder(unit.version)[0]}/", "resources/")
        folder = Path(tempfile.mkdtemp(prefix="tellegen-unit-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, info in members.items():
            if name.startswith(wanted):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(member_bytes(path, info))
    except (ArchiveError, OSError) as error:
        raise _refused(unit, str(error)) from error
    (folder / "resources").mkdir(exist_ok=True)
    _FOLDERS[key] = folder
    return folder


_LIBRARIES: dict[Path, ctypes.CDLL] = {}


def _loaded(unit: MockupUnit, folder: Path, identifier: str) -> ctypes.CDLL:
    place, ending = platform_folder(unit.version)
    file = folder / "binaries" / place / f"{identifier}{ending}"
    if file not in _LIBRARIES:
        if not file.exists():
            raise _refused(unit, f"it has no library for this machine (binaries/{place}/{identifier}{ending})")
        try:
            _LIBRARIES[file] = ctypes.CDLL(str(file))
        except OSError as error:
            raise _refused(unit, f"its library cannot be loaded: {error}") from error
    return _LIBRARIES[file]


def _host_library(unit: MockupUnit) -> ctypes.CDLL:
    source = Path(__file__).with_name("unit_host.c").read_text(encoding="ascii")
    built = build_files({"unit_host.c": source})
    if built.library is None:
        raise _refused(unit, f"units are called from C, and {built.why}")
    library = built.library
    library.tg_external.restype = ctypes.c_double
    return library


def _refused(unit: MockupUnit, why: str) -> TellegenError:
    return rules.UNIT_NOT_RUN.error(
        f"the unit '{unit.name}' ({Path(unit.path).name}) cannot be run: {why}",
        where=unit.name,
        fix="ask for a unit for this machine, or export the model there again",
    )
