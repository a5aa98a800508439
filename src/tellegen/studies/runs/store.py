"""Studies in a folder: a Zarr group that grows by whole chunks, is resumed after any end, and that one writer at a time adds to.

A chunk is done when its `status` is there, which is written last; nobody else keeps count. Files appear by renaming, and the folder
itself does, once its table is written.
"""

import errno
import hashlib
import json
import math
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Final, final

import numpy as np

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.expressions import Expression
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.simulation import batches
from tellegen.simulation.solvers.sources import solver_files
from tellegen.studies.runs import rules
from tellegen.studies.runs.model_runs import Made, ModelRuns, Plan, RunSettings
from tellegen.studies.runs.study import Study, StudyError
from tellegen.studies.runs.table import DRAW, RunTable

VERSION: Final = 1
MARK: Final = "tellegen_study"

CHUNK_S: Final = 3.0
LEAST_CHUNK: Final = 64
MOST_CHUNK: Final = 100_000
CHUNK_BYTES: Final = 64 * 2**20
"""A chunk is some seconds of work, and never so large that losing it would matter."""

SPARE_BYTES: Final = 2**24
"""What a study leaves free on the disk."""

BEAT_S: Final = 5.0
SILENT_S: Final = 60.0
"""How often a writer says that it is there, and after what time one on another machine counts as gone."""
NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""Of a disk, of a quota, and of what a file may hold."""


@final
@dataclass(frozen=True)
class StudySpec:
    """All that decides the numbers of a study, in values that JSON can hold: what a store is known by."""

    model: str
    settings: dict[str, Any]
    keep: tuple[str, ...]
    names: tuple[str, ...]
    shape: dict[str, int]
    drawn: dict[str, Any]
    """How the table was drawn: draws, by, seed; empty where nothing was."""

    def digests(self, cases: RunTable) -> dict[str, str]:
        """A digest of each part: those that differ say what is different."""
        drawn = {key: value for key, value in self.drawn.items() if key != "draws"} if self.grows else self.drawn
        parts: dict[str, Any] = {
            "model": self.model,
            "settings": self.settings,
            "what is kept": list(self.keep),
            "generator": generator(),
        }
        if self.grows:
            parts["values"] = [list(self.names), drawn, cases.values[:1].tolist()]
        else:
            parts["values"] = [list(self.names), drawn, dict(self.shape), _digest(cases.values.tobytes())]
        return {name: _digest(json.dumps(part, sort_keys=True).encode()) for name, part in parts.items()}

    @property
    def grows(self) -> bool:
        """Whether more draws would extend the table: its first rows stay what they are."""
        return tuple(self.shape) == (DRAW,) and self.drawn.get("by") in ("sobol", "random")


def spec_of(runs: ModelRuns, cases: RunTable, drawn: Mapping[str, Any]) -> StudySpec:
    """What a study is known by.

    Raises: SimulationError (S415) for settings that no file can hold.
    """
    given = plain_settings(runs.settings)
    keep = tuple(kept.text for kept in runs.kept)
    return StudySpec(to_yaml(runs.model), given, keep, cases.names, dict(cases.shape), dict(drawn))


def stored_model(model: Model) -> Model:
    """The model as its text says it: who resumes a study has no other, and the numbers shall be the same to the last bit."""
    return read_model(to_yaml(model))


@final
class Store:
    """A study in a folder. `group` is the Zarr group."""

    def __init__(self, folder: Path, group: Any) -> None:
        self.folder, self.group = folder, group
        attributes = dict(group.attrs)
        if attributes.get(MARK) != VERSION:
            found = attributes.get(MARK)
            what = f"'{folder}' is a study of version {found}" if found else f"'{folder}' holds no study"
            raise rules.NO_STUDY.error(what, where=str(folder), fix="name a folder that `sweep` has written")
        self.attributes = attributes
        spec = attributes["spec"]
        self.spec = StudySpec(**{**spec, "keep": tuple(spec["keep"]), "names": tuple(spec["names"])})
        self.plan = read_plan(attributes["plan"])
        self.chunk = int(attributes["chunk"])

    @property
    def count(self) -> int:
        """How many runs it has room for."""
        return int(self.group["status"].shape[0])

    def cases(self) -> RunTable:
        """The table of values."""
        columns = [np.asarray(self.group[f"vary/{name}"][: self.count]) for name in self.spec.names]
        return RunTable(self.spec.names, np.column_stack(columns), dict(self.spec.shape))

    def runs(self) -> ModelRuns:
        """The model ready for these runs, from its text."""
        settings = RunSettings(**read_settings(self.spec.settings))
        return prepared(read_model(self.spec.model), self.cases(), settings, self.spec.keep)

    def missing(self) -> Iterator[slice]:
        """The chunks that are not done."""
        status = np.asarray(self.group["status"][:])
        for first in range(0, self.count, self.chunk):
            part = slice(first, min(first + self.chunk, self.count))
            if (status[part] == batches.UNMADE).any():
                yield part

    def write(self, part: slice, made: Made, runs: ModelRuns) -> None:
        """Write a whole chunk; its status comes last.

        Raises: SimulationError (S405) where the disk is full: what was written before stays.
        """
        try:
            for k, kept in enumerate(runs.numbers):
                self.group[_array(kept.text)][part] = made.out[:, k]
            for k, kept in enumerate(runs.rows):
                self.group[_array(kept.text)][part] = made.rows[..., k]
            self.group["steps"][part] = np.minimum(made.steps, 2**31 - 1)
            self.group["reached"][part] = made.reached
            self.group["status"][part] = made.status
        except OSError as reason:
            if reason.errno not in NO_ROOM:
                raise
            fix = "make room, and resume it: chunks that are done stay"
            raise rules.DISK_FULL.error(
                f"the disk of '{self.folder}' is full", where=str(self.folder), fix=fix
            ) from None

    def study(self, runs: ModelRuns, seconds: float = 0.0) -> Study:
        """What is there, as a study."""
        g, count = self.group, self.count
        out = [np.asarray(g[_array(kept.text)][:count], dtype=float) for kept in runs.numbers]
        rows = [np.asarray(g[_array(kept.text)][:count], dtype=float) for kept in runs.rows]
        made = Made(
            out=np.column_stack(out) if out else np.zeros((count, 0)),
            rows=np.stack(rows, axis=-1) if rows else np.zeros((count, 0, 0)),
            status=np.asarray(g["status"][:]),
            steps=np.asarray(g["steps"][:count], dtype=np.int64),
            reached=np.asarray(g["reached"][:count]),
            findings={},
            interrupted=[],
        )
        error = self.group.attrs.get("error")
        told = StudyError(*error) if error else None
        return Study(
            runs=runs,
            cases=self.cases(),
            plan=self.plan,
            made=made,
            error=told,
            seconds=seconds,
            settings=self.spec.drawn,
        )

    def keep_error(self, error: StudyError | None) -> None:
        """Write how far runs are off."""
        if error is not None:
            self.group.attrs["error"] = list(error)

    def extended(self, cases: RunTable, spec: StudySpec) -> "Store":
        """The same study with more draws; what is done stays."""
        count = len(cases)
        if count <= self.count:
            return self
        for name, array in _arrays(self.group):
            array.resize((count, *array.shape[1:]))
            if name.startswith("vary/"):
                array[:] = cases.values[:, cases.names.index(name.removeprefix("vary/"))]
        self.group.attrs["spec"] = asdict(spec)
        return Store(self.folder, self.group)


def _arrays(group: Any) -> Iterator[tuple[str, Any]]:
    """The arrays over runs; the status comes last, for its length is that of the study."""
    for name, array in group["vary"].arrays():
        yield f"vary/{name}", array
    for name, array in group.arrays():
        if name not in ("status", "t"):
            yield name, array
    yield "status", group["status"]


def open_store(folder: Path) -> Store:
    """A study that was begun.

    Raises: SimulationError (S412) where there is none.
    """
    zarr = _zarr()
    try:
        group = zarr.open_group(folder, mode="r+")
    except (FileNotFoundError, ValueError, KeyError, OSError):
        raise rules.NO_STUDY.error(
            f"'{folder}' holds no study", where=str(folder), fix="name a folder that `sweep` has written"
        ) from None
    return Store(folder, group)


def begin_store(folder: Path, spec: StudySpec, runs: ModelRuns, cases: RunTable, plan: Plan, *, anew: bool) -> Store:
    """A new study, or the one that is there where it is the same.

    Raises: SimulationError (S403) where the folder holds another one, (S405) where the disk is too small, (S412) where the folder
        holds something else.
    """
    if folder.exists() and not anew:
        found = open_store(folder)
        _check_same(found, spec, cases)
        return found.extended(cases, spec)
    if folder.exists() and any(folder.iterdir()):
        open_store(folder)  # who begins anew loses a study, and never what else a folder holds
    chunk = chunk_of(plan, runs, len(cases))
    _check_room(folder, runs, len(cases))
    # Under another name until its table is whole: a folder that exists is a study.
    beside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        _create(beside, spec, runs, cases, plan, chunk)
        if folder.exists():
            shutil.rmtree(folder)
        beside.rename(folder)
    except OSError as reason:
        if reason.errno in NO_ROOM:
            raise rules.DISK_FULL.error(f"the disk of '{folder}' is full", fix="make room, or keep less") from None
        raise rules.NO_STUDY.error(
            f"'{folder}' cannot be written: {reason.strerror}", fix="choose another folder"
        ) from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return open_store(folder)


def _create(folder: Path, spec: StudySpec, runs: ModelRuns, cases: RunTable, plan: Plan, chunk: int) -> None:
    attributes = {
        MARK: VERSION,
        "version": _version(),
        "title": runs.model.name,
        "spec": asdict(spec),
        "digests": spec.digests(cases),
        "plan": plain_plan(plan),
        "chunk": chunk,
    }
    group = _zarr().create_group(folder, zarr_format=3, attributes=attributes)
    count, nan = len(cases), float("nan")

    def add(name: str, dtype: str, fill: float, **more: Any) -> Any:
        return group.create_array(name, dtype=dtype, fill_value=fill, **more)

    for k, name in enumerate(cases.names):
        about = {"units": runs.unit(name), "long_name": name}
        made = add(
            f"vary/{name}", "f8", nan, shape=(count,), chunks=(count,), dimension_names=["run"], attributes=about
        )
        made[:] = cases.values[:, k]
    for kept in runs.kept:
        about = {"units": kept.unit, "long_name": kept.text}
        rows = (len(runs.row_times(runs.ready.until)),) if kept.is_rows else ()
        names = ["run", "t"] if kept.is_rows else ["run"]
        shape, real = (count, *rows), "f4" if plan.single else "f8"
        add(_array(kept.text), real, nan, shape=shape, chunks=(chunk, *rows), dimension_names=names, attributes=about)
    if runs.rows:
        times = runs.row_times(runs.ready.until)
        made = add(
            "t", "f8", nan, shape=times.shape, chunks=times.shape, dimension_names=["t"], attributes={"units": "s"}
        )
        made[:] = times
    add("steps", "i4", 0, shape=(count,), chunks=(chunk,), dimension_names=["run"])
    add("reached", "f8", nan, shape=(count,), chunks=(chunk,), dimension_names=["run"], attributes={"units": "s"})
    about = {"long_name": "0 where the run finished, -1 where it was not made"}
    add("status", "i1", batches.UNMADE, shape=(count,), chunks=(chunk,), dimension_names=["run"], attributes=about)


def chunk_of(plan: Plan, runs: ModelRuns, count: int) -> int:
    """Runs of a chunk: some seconds of work, at least 64, at most 64 MB."""
    by_time = int(CHUNK_S / plan.seconds) if plan.seconds > 0.0 else MOST_CHUNK
    by_room = CHUNK_BYTES // bytes_of_run(runs)
    return max(1, min(max(by_time, LEAST_CHUNK), MOST_CHUNK, max(by_room, 1), max(count, 1)))


def bytes_of_run(runs: ModelRuns) -> int:
    """What one run takes on the disk at most."""
    rows = len(runs.row_times(runs.ready.until)) * len(runs.rows)
    return 8 * (len(runs.names) + len(runs.numbers) + rows) + 16


def _check_room(folder: Path, runs: ModelRuns, count: int) -> None:
    free = shutil.disk_usage(folder.absolute().parent).free
    needed = bytes_of_run(runs) * count
    if needed + SPARE_BYTES > free:
        what = f"{count} runs need {needed / 1e9:.3g} GB, and {free / 1e9:.3g} GB are free"
        raise rules.DISK_FULL.error(
            what, where=str(folder), fix="keep fewer rows, or fewer runs, or choose another disk"
        )


def _check_same(found: Store, spec: StudySpec, cases: RunTable) -> None:
    ours, theirs = spec.digests(cases), found.attributes["digests"]
    other = [name for name in ours if theirs.get(name) != ours[name]]
    if not other and spec.grows:
        known = found.cases().values
        both = min(len(known), len(cases))
        other = [] if known[:both].tobytes() == cases.values[:both].tobytes() else ["values"]
    if not other and len(cases) < found.count:
        what = f"'{found.folder}' holds {found.count} draws of this study, and {len(cases)} are asked for"
        fix = "ask for as many or more, go on with it (--resume), or choose another folder"
        raise rules.OTHER_STUDY.error(what, where=str(found.folder), fix=fix, members=("draws",))
    if other:
        what = (
            f"'{found.folder}' holds another study: {listing(other)} {'is' if len(other) == 1 else 'are'} not the same"
        )
        fix = "choose another folder, or begin anew (--force, force=True)"
        raise rules.OTHER_STUDY.error(what, where=str(found.folder), fix=fix, members=other)


# -- One writer at a time --------------------------------------------------------------------------------------------------------


@final
class Writing:
    """The right to write into a folder; it must be shown to be alive."""

    def __init__(self, file: Path, token: str) -> None:
        self._file, self._beaten = file, time.monotonic()
        self.token = token
        """What others find in the file if they see the same disk."""

    def beat(self) -> None:
        """Say that the writer is there, now and then."""
        if time.monotonic() - self._beaten >= BEAT_S:
            self._beaten = time.monotonic()
            with suppress(OSError):
                os.utime(self._file)


@contextmanager
def writing(folder: Path) -> Iterator[Writing]:
    """The right to write into the folder of a study, given back at the end.

    Raises: SimulationError (S404) where somebody else has it.
    """
    # Beside the folder: whoever opens the group shall find nothing but arrays there.
    file, token = _mark_of(folder), secrets.token_hex(8)
    told = json.dumps({"host": socket.gethostname(), "process": os.getpid(), "token": token}).encode()
    while True:
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileNotFoundError:
            what = f"'{folder}' cannot be written: there is no folder '{folder.parent}'"
            raise rules.NO_STUDY.error(what, fix="make the folder, or choose another") from None
        except (PermissionError, NotADirectoryError) as reason:
            what = f"'{folder}' cannot be written: {reason.strerror}"
            raise rules.NO_STUDY.error(what, where=str(folder), fix="choose another folder") from None
        except FileExistsError:
            if not _is_left_over(file):
                what = f"'{folder}' is being written by {_who(file)}"
                fix = f"wait for it, or remove '{file.name}' if nobody is"
                raise rules.WRITTEN_ELSEWHERE.error(what, where=str(folder), fix=fix) from None
            # Renamed first: of two that find it left over, one alone can take it away.
            with suppress(OSError):
                gone = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
                file.rename(gone)
                gone.unlink()
            continue
        with open(descriptor, "wb") as stream:
            stream.write(told)
        break
    try:
        yield Writing(file, token)
    finally:
        file.unlink(missing_ok=True)


def _mark_of(folder: Path) -> Path:
    return folder.absolute().with_name(f"{folder.name}.running")


def token_of(folder: Path) -> str:
    """What the writer of a study has left beside its folder; empty where nobody writes, or another disk is seen from here."""
    try:
        return str(json.loads(_mark_of(folder).read_text(encoding="utf-8"))["token"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _is_left_over(file: Path) -> bool:
    """Whether its writer is gone: its process on this machine, or its heartbeat from another one."""
    try:
        known, age = json.loads(file.read_text(encoding="utf-8") or "{}"), time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return True
    except ValueError:
        known, age = {}, time.time() - file.stat().st_mtime
    if known.get("host") != socket.gethostname():
        return age > SILENT_S
    try:
        os.kill(int(known["process"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, KeyError, ValueError):
        return False
    return False


def _who(file: Path) -> str:
    with suppress(OSError, ValueError, KeyError):
        known = json.loads(file.read_text(encoding="utf-8"))
        return f"process {known['process']} on {known['host']}"
    return "somebody else"


# -- Values for files ------------------------------------------------------------------------------------------------------------


def prepared(model: Model, cases: RunTable, settings: RunSettings, keep: tuple[str, ...]) -> ModelRuns:
    """The model ready for the runs of a store, by the first row that it takes."""
    first: TellegenError | None = None
    for row in cases.values:
        try:
            return ModelRuns(model, cases.names, row.tolist(), settings, keep)
        except TellegenError as error:
            first = first or error
    raise first or rules.NO_STUDY.error("the study has no runs", fix="begin it anew")


def stored_settings(settings: RunSettings) -> RunSettings:
    """The settings as a file holds them.

    Raises: SimulationError (S415) for what no file can hold.
    """
    return replace(settings, **read_settings(plain_settings(settings)))


def plain_settings(settings: RunSettings) -> dict[str, Any]:
    """The settings in values that JSON can hold.

    Raises: SimulationError (S415) for what no file can hold.
    """
    return {one.name: _plain(one.name, getattr(settings, one.name)) for one in fields(RunSettings)}


def read_settings(told: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the settings from what JSON held."""
    return {**told, "times": _times(told["times"])}


def plain_plan(plan: Plan) -> dict[str, Any]:
    """How runs are made, in values that JSON can hold."""
    return {**asdict(plan), "max_step": plan.max_step if math.isfinite(plan.max_step) else "inf"}


def read_plan(told: Mapping[str, Any]) -> Plan:
    """How runs are made, from what JSON held."""
    return Plan(**{**told, "max_step": _number(told["max_step"]), "varied": tuple(told.get("varied", ()))})


def generator() -> list[str]:
    """What decides the numbers besides model and values: the version, and a digest of the solvers."""
    return [_version(), solver_files()["digest.h"]]


def _plain(where: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(name, one) for name, one in value.items()}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Expression):
        return str(value)
    if hasattr(value, "text") and hasattr(value, "shape"):
        return value.text
    if isinstance(value, tuple):
        return [_plain(where, one) for one in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        what = f"'{where}' is given as {value!r}, which no file can hold"
        raise rules.NOT_STORED.error(
            what, where=where, fix="give a number, or a text with a unit or a formula"
        ) from None


def _times(times: Any) -> tuple[float, ...] | None:
    return None if times is None else tuple(times)


def _number(value: Any) -> float:
    return float(value)


def _array(text: str) -> str:
    """The name of an array: a slash would make a group of it."""
    return text.replace("/", "|")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _version() -> str:
    return metadata.version("tellegen")


def _zarr() -> Any:
    try:
        return import_module("zarr")
    except ImportError:
        raise rules.NO_PACKAGE.error(
            "a study in a folder needs the package zarr, which is not installed", fix="pip install 'tellegen[studies]'"
        ) from None
