"""Chunks of runs as another process makes them: the study as a text, rows of values, and what came of them.

A run is a pure function of its row, so that it does not matter who makes it, or how often.
"""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.studies.runs import rules
from tellegen.studies.runs.model_runs import Made, ModelRuns, Plan, RunSettings
from tellegen.studies.runs.store import (
    generator,
    open_store,
    plain_plan,
    plain_settings,
    read_plan,
    read_settings,
    token_of,
)

Array = NDArray[np.float64]

KEPT_MODELS: Final = 2
"""A worker keeps so many studies ready, compiled for its own processor."""


class ChunkMade(NamedTuple):
    """What came of a chunk: its runs, or None where the worker wrote them into the store; or why it makes none."""

    made: Made | None
    refused: Finding | None = None


def study_text(runs: ModelRuns, plan: Plan) -> str:
    """All that a worker needs to know of a study, its values apart.

    Raises: SimulationError (S415) for settings without a text.
    """
    told = {
        "generator": generator(),
        "model": to_yaml(runs.model),
        "settings": plain_settings(runs.settings),
        "keep": [kept.text for kept in runs.kept],
        "names": list(runs.names),
        "first": [runs.base_value(name) for name in runs.names],
        "plan": plain_plan(plan),
    }
    return json.dumps(told)


def make_chunk(text: str, rows: Array, first: int, folder: str = "", token: str = "") -> ChunkMade:
    """Make the runs of some rows, which are those from number `first` on.

    Where the folder of the store can be seen from here, with the token that its writer left there, they are written into it.
    """
    told = json.loads(text)
    if told["generator"] != generator():
        what = (
            f"a worker has Tellegen {' '.join(generator())}, and the study was begun by {' '.join(told['generator'])}"
        )
        return ChunkMade(None, rules.OTHER_VERSION.finding(what, fix="install the same version everywhere"))
    runs, plan, lock = _ready(text, told)
    if plan.how == "batch":
        made = runs.make(rows, plan)
    else:
        with lock:  # runs of Python take turns in any case
            made = runs.make(rows, plan)
    if made.interrupted:
        raise KeyboardInterrupt
    if folder and token and token_of(Path(folder)) == token:
        open_store(Path(folder)).write(slice(first, first + len(rows)), made, runs)
        return ChunkMade(None)
    return ChunkMade(made)


_known: dict[str, tuple[ModelRuns, Plan, threading.Lock]] = {}
_preparing = threading.Lock()


def _ready(text: str, told: Mapping[str, Any]) -> tuple[ModelRuns, Plan, threading.Lock]:
    """The model ready for these runs, kept from chunk to chunk."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    with _preparing:
        if digest not in _known:
            while len(_known) >= KEPT_MODELS:
                _known.pop(next(iter(_known)))
            settings = RunSettings(**read_settings(told["settings"]))
            runs = ModelRuns(read_model(told["model"]), told["names"], told["first"], settings, told["keep"])
            _known[digest] = runs, read_plan(told["plan"]), threading.Lock()
        return _known[digest]


def joined(runs: ModelRuns, count: int, parts: Sequence[tuple[slice, Made]]) -> Made:
    """The runs of all chunks; those of chunks that are not there were not made."""
    whole = runs.nothing_made(count)
    for part, made in parts:
        whole.out[part], whole.rows[part], whole.status[part] = made.out, made.rows, made.status
        whole.steps[part], whole.reached[part] = made.steps, made.reached
        whole.findings.update({part.start + number: finding for number, finding in made.findings.items()})
        whole.interrupted.extend(made.interrupted)
    return whole


# -- Through a pipe: a line of JSON, and the bytes of arrays ----------------------------------------------------------------------


def write_order(stream: IO[bytes], text: str, rows: Array, first: int) -> None:
    """Ask for a chunk."""
    _write(stream, {"text": text, "first": first}, [rows])


def read_order(stream: IO[bytes]) -> tuple[str, Array, int] | None:
    """The chunk that is asked for; None where nobody asks any more."""
    try:
        told, (rows,) = _read(stream)
    except EOFError:
        return None
    return told["text"], rows, told["first"]


def write_answer(stream: IO[bytes], found: ChunkMade) -> None:
    """Give what came of a chunk."""
    made = found.made
    refused = None if found.refused is None else _plain(found.refused)
    if made is None:
        _write(stream, {"refused": refused}, [])
        return
    findings = {str(number): _plain(finding) for number, finding in made.findings.items()}
    _write(stream, {"findings": findings}, [made.out, made.rows, made.status, made.steps, made.reached])


def read_answer(stream: IO[bytes]) -> ChunkMade:
    """What came of a chunk.

    Raises: EOFError where the other end is gone.
    """
    told, arrays = _read(stream)
    if not arrays:
        return ChunkMade(None, None if told["refused"] is None else _finding(told["refused"]))
    findings = {int(number): _finding(finding) for number, finding in told["findings"].items()}
    names = ("out", "rows", "status", "steps", "reached")
    made: dict[str, Any] = dict(zip(names, arrays, strict=True))
    return ChunkMade(Made(**made, findings=findings, interrupted=[]))


def _write(stream: IO[bytes], told: Mapping[str, Any], arrays: Sequence[NDArray[Any]]) -> None:
    shapes = [(array.dtype.str, array.shape) for array in arrays]
    stream.write(json.dumps({**told, "arrays": shapes}).encode() + b"\n")
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def _read(stream: IO[bytes]) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    line = stream.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    told, arrays = json.loads(line), []
    for kind, shape in told["arrays"]:
        size = int(np.prod(shape)) * np.dtype(kind).itemsize
        content = stream.read(size)
        if len(content) < size:
            raise EOFError
        arrays.append(np.frombuffer(content, dtype=kind).reshape(shape).copy())
    return told, arrays


def _plain(finding: Finding) -> dict[str, Any]:
    """A finding without its place, which is one in the text that was sent."""
    return {name: value for name, value in asdict(finding).items() if name != "place"}


def _finding(told: Mapping[str, Any]) -> Finding:
    return Finding(**{**told, "members": tuple(told["members"])})
