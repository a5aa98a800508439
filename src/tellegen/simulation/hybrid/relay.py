"""Runs through modes that are known, in C: Python decides each change once, and the same one again without it (native/modes.c)."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from tellegen.compiler.context import Array, address_of
from tellegen.core.errors import Finding
from tellegen.simulation.hybrid.account import BLOCK, HybridAccount
from tellegen.simulation.hybrid.mode_choice import ModeChoice, ModeTrial
from tellegen.simulation.hybrid.mode_models import Mode, ModeModel, ModeModels
from tellegen.simulation.problem import Problem
from tellegen.simulation.solvers.jobs import Job
from tellegen.simulation.solvers.library import function_address, library
from tellegen.simulation.solvers.stretch import JobArrays, RunRows, SolverSettings, StatePoint, StretchEnd, make_job
from tellegen.simulation.trajectory import Effort

MOST_CHANGES: Final = 4096
"""Changes of mode between two looks of Python."""
MOST_BITS: Final = 63

PROBE_SHARE: Final = 1e-6
"""How far a mode is looked ahead, beside the last step."""
CHATTER_SHARE: Final = 1e-9
"""Many events within this share of the run, in which no storage moves by its tolerance, are no motion."""

_pointer, _int, _long, _double = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double


def _fields(*groups: tuple[Any, str]) -> tuple[tuple[str, Any], ...]:
    return tuple((name, kind) for kind, names in groups for name in names.split())


class _Answer(ctypes.Structure):
    """The struct `tg_answer`."""

    _fields_ = _fields((ctypes.c_uint64, "against jumps"), (_pointer, "then other"))


class _Try(ctypes.Structure):
    """The struct `tg_try`."""

    _fields_ = _fields((_int, "mode left"), (_pointer, "answers"))


class _Way(ctypes.Structure):
    """The struct `tg_way`."""

    _fields_ = _fields((ctypes.c_uint64, "fired"), (_pointer, "first other"))


class _Mode(ctypes.Structure):
    """The struct `tg_mode`."""

    _fields_ = _fields(
        (_pointer, "job run begin"),
        (_double, "max_step tolerance"),
        (_pointer, "place observed carried held guards"),
        (_int, "n_dependent n_own"),
        (_pointer, "dependent own relation pull inertia y yp ahead rates guard later channels signs out_y out_yp ways"),
        (_long, "next_stop"),
    )


_RECENT = 32


class _Modes(ctypes.Structure):
    """The struct `tg_modes`."""

    _fields_ = (
        *_fields((_pointer, "modes"), (_int, "n_storages n_carried n_held")),
        *_fields((_pointer, "outputs after scale largest carry hold has room end times"), (_long, "n_times rows")),
        *_fields((_pointer, "wide_y wide_yp"), (_int, "width"), (_double, "until share resolution brief")),
        *_fields((_pointer, "states changes"), (_long, "n_changes most_changes")),
        ("recent", _double * _RECENT),
        *_fields((_long, "n_recent"), (_int, "mode status"), (_double, "t last_step"), (_long, "detail")),
        ("books", _double * 4),
        *_fields((_long, "steps rejected rhs_calls jacobians factorisations turns n_sampled")),
        *_fields((_double, "progress"), (_int, "cancel")),
        ("job", Job),
    )


_CHANGE = np.dtype([("t", "f8"), ("supplied", "f8"), ("lost", "f8"), ("rows", "i8"), ("from", "i4"), ("to", "i4")])


@final
class _Numbers:
    """Names that several modes share, numbered as they are met."""

    def __init__(self) -> None:
        self.of: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.of.setdefault(name, len(self.of))


@final
@dataclass
class _Known:
    """A mode with its struct, and the arrays and jobs that it points to. `tries` are its ways, by what fired."""

    number: int
    model: ModeModel
    struct: _Mode
    arrays: dict[str, NDArray[Any]]
    enterable: bool
    rows: RunRows
    tries: dict[int, _Try] = field(default_factory=dict)
    made_for: tuple[object, ...] = ()
    behind: tuple[Job, JobArrays, SolverSettings] | None = None


SolverOf = Callable[[ModeModel], tuple[str, SolverSettings] | None]


@final
@dataclass(frozen=True)
class Relayed:
    """What a call did: the modes by their numbers, the first and the last, how that ended and since when it lasts, and the changes.

    `states` are y and yp before and after each change, where rows are asked for there; `rows` were written by now.
    """

    modes: Sequence[ModeModel]
    first: int
    model: ModeModel
    end: StretchEnd
    since: StatePoint
    changes: NDArray[Any]
    states: Array | None
    rows: int


@final
class ModeRelay:
    """The modes of one run that C knows, and the ways between them that it has seen Python go."""

    def __init__(self, models: ModeModels, problem: Problem, account: HybridAccount, choice: ModeChoice) -> None:
        self._models, self._problem, self._account, self._choice = models, problem, account, choice
        self._known: dict[Mode, _Known] = {}
        self._carried, self._held, self._guards = _Numbers(), _Numbers(), _Numbers()
        self._structs: list[object] = []
        self._answers: dict[tuple[int, int, int], _Try] = {}
        self._limit = -np.inf
        self._sizes: tuple[int, ...] = ()
        self._arrays: dict[str, NDArray[Any]] = {}
        self._changes = np.zeros(MOST_CHANGES, dtype=_CHANGE)
        self._samples = np.zeros((0, 1))
        span = problem.until - problem.t0
        self.struct = _Modes(share=PROBE_SHARE, resolution=1e-6 * problem.until, brief=CHATTER_SHARE * span)

    def suits(self, trial: ModeTrial) -> bool:
        """Whether C can advance in this mode: no past is shared, and nothing has to be looked at again soon."""
        model = trial.model.model
        guards = sum(event.kind == "transition" for event in model.events)
        # What a stop still keeps when it lets go is booked where each change is decided.
        watched = self._models.past or self._models.keeping or trial.undecided
        return model.backend == "c" and not watched and guards <= MOST_BITS

    # -- What is known ---------------------------------------------------------------------------------------------------------

    def learn(self, before: ModeModel, signs: Sequence[int], way: Sequence[ModeTrial | Finding]) -> None:
        """Remember which modes were tried after some events, and what spoke against each but the last."""
        # A mode that cannot be is passed in silence next time; one that had no start this time may have one then.
        tried = [trial for trial in way if not self._models.is_impossible(trial)]
        if not tried or any(isinstance(one, Finding) or one.undecided for one in tried):
            return
        trials = [trial for trial in tried if isinstance(trial, ModeTrial)]
        known = [self._met(trial.model) for trial in trials]
        begun = self._met(before)
        if not all(one.enterable for one in known):
            return
        fired = sum(1 << k for k, sign in enumerate(signs) if sign and begun.arrays["guards"][k] >= 0)
        previous: _Try | None = begun.tries.get(fired)
        if previous is None:
            previous = begun.tries[fired] = self._new_try(known[0], before)
            begun.struct.ways = self._kept(_Way(fired, ctypes.addressof(previous), begun.struct.ways))
        for trial, following in zip(trials, known[1:], strict=False):
            verdict = trial.against, self._jumps(trial)
            key = (ctypes.addressof(previous), *verdict)
            if key not in self._answers:
                then = self._answers[key] = self._new_try(following, before)
                previous.answers = self._kept(_Answer(*verdict, ctypes.addressof(then), previous.answers))
            previous = self._answers[key]

    def _new_try(self, known: _Known, before: ModeModel) -> _Try:
        made = _Try(known.number, int(known.model.mode == before.mode), None)
        self._structs.append(made)
        return made

    def _jumps(self, trial: ModeTrial) -> int:
        """The dependent storages that would have to jump, a bit for each, where that takes an impulse."""
        if trial.smooth:
            return 0
        dependent = self._met(trial.model).arrays["dependent"].tolist()
        return sum(1 << k for k, i in enumerate(dependent) if trial.handover.mismatch[i] != 0.0)

    def _kept(self, struct: Any) -> int:
        self._structs.append(struct)
        return ctypes.addressof(struct)

    def _met(self, model: ModeModel) -> _Known:
        if model.mode not in self._known:
            self._known[model.mode] = self._new(model)
        return self._known[model.mode]

    def _new(self, model: ModeModel) -> _Known:
        numeric, n = model.model, max(model.model.size, 1)
        others = np.full(n, -1, dtype=np.int32)
        for k, name in model.others:
            others[k] = self._carried(name)
        arrays: dict[str, NDArray[Any]] = {
            "place": model.independent.astype(np.int32),
            "observed": model.observed.astype(np.int32),
            "carried": others,
            "held": np.array([self._held(name) for name in numeric.memory] or [0], dtype=np.int32),
            "guards": np.array(
                [self._guards(e.name) if e.kind == "transition" else -1 for e in numeric.events] or [-1],
                dtype=np.int32,
            ),
            "signs": np.zeros(len(numeric.events) + 1, dtype=np.int32),
            "channels": np.zeros(len(numeric.observables) + 1),
            **{name: np.zeros(n) for name in ("y", "yp", "ahead", "rates")},
            **{name: np.zeros(len(numeric.events) + 1) for name in ("guard", "later")},
        }
        struct = _Mode()
        exchange = self._exchange(model) if model.causal.dependent else {}
        if exchange:
            struct.n_dependent, struct.n_own = len(exchange["dependent"]), len(exchange["own"])
            arrays.update({name: values if values.size else np.zeros(1) for name, values in exchange.items()})
        for name, values in arrays.items():
            setattr(struct, name, address_of(values))
        struct.begin = None if numeric.explicit else function_address("tg_consistent")
        rows = RunRows.at(self._account.times[: BLOCK + 1], numeric.size)
        struct.out_y, struct.out_yp = address_of(rows.y), address_of(rows.yp)
        enterable = bool(exchange) or not model.causal.dependent
        return _Known(len(self._known), model, struct, arrays, enterable, rows)

    def _exchange(self, model: ModeModel) -> dict[str, NDArray[Any]]:
        """How storages are handed over to this mode, where that is the same linear relation each time; else nothing."""
        storages, graph = self._models.storages, self._models.graph
        plans = model.plans
        if "partners" not in plans or "relation" not in plans or graph.displacements or graph.position_dependent:
            return {}
        own, dependent = plans["partners"]
        among = [*own, *dependent]
        without_size = any(storages.law(i).inertia is None and len(storages.partners(i)) == 1 for i in among)
        if without_size or len(dependent) > MOST_BITS:
            return {}
        inertia = storages.inertia(among, np.zeros(len(storages.ports)), storages.environment({}))
        motion = np.vstack([np.eye(len(own)), plans["relation"]])
        moved = motion.T @ inertia[:, len(own) :]
        pull = np.linalg.solve(motion.T @ inertia @ motion, moved) if own else np.zeros((0, len(dependent)))
        return {
            "own": np.array(own, dtype=np.int32),
            "dependent": np.array(dependent, dtype=np.int32),
            "relation": np.ascontiguousarray(plans["relation"], dtype=float),
            "pull": np.ascontiguousarray(pull),
            "inertia": np.ascontiguousarray(inertia),
        }

    # -- One call --------------------------------------------------------------------------------------------------------------

    def advance(self, trial: ModeTrial, reach: float, solver: SolverOf, running: list[Any]) -> "Relayed":
        """Advance from the start of a mode, through all changes that are known.

        `solver` gives for each mode that was entered before the function in C and its settings; `running` is who can be stopped.
        """
        known, at, w = self._met(trial.model), trial.standing, self.struct
        if not at.t < self._limit:
            self._limit = reach
        self._prepare(at.t, solver)
        n = known.model.model.size
        known.arrays["y"][:n], known.arrays["yp"][:n] = at.y[:n], at.yp[:n]
        w.mode, w.t, w.last_step = known.number, at.t, 0.0
        running[:] = [w, w.job]
        function = library().tg_run_modes
        function.argtypes, function.restype = [ctypes.c_void_p], ctypes.c_int
        function(ctypes.addressof(w))
        running.clear()
        modes = list(self._known.values())
        last, changes = modes[w.mode], self._changes[: w.n_changes]
        end = self._ended(last)
        self._choice.scale = self._arrays["scale"][: w.n_storages].copy()
        self._choice.largest.update(zip(self._guards.of, self._arrays["largest"].tolist(), strict=False))
        self._account.samples += [self._samples[: w.n_sampled].copy()] if w.n_sampled else []
        since = float(changes["t"][-1]) if len(changes) else at.t
        return Relayed(
            modes=[one.model for one in modes],
            first=known.number,
            model=last.model,
            end=end,
            since=replace(end.standing, t=since),
            changes=changes,
            states=self._arrays.get("states"),
            rows=int(w.rows),
        )

    def _prepare(self, t: float, solver: SolverOf) -> None:
        """Point the struct to what the present call needs."""
        w, account = self.struct, self._account
        y, yp = account.room(max(1, *(known.model.model.size for known in self._known.values())))
        # A mode that is not known here may have made the rows wider.
        width = y.shape[1]
        sizes = (len(self._known), len(self._carried.of), len(self._held.of), len(self._guards.of), width)
        if sizes != self._sizes:
            self._sizes, self._arrays = sizes, self._new_arrays(width)
            for name, array in self._arrays.items():
                setattr(w, name, address_of(array))
            w.n_storages, w.n_carried, w.n_held = len(self._models.storages.ports), sizes[1], sizes[2]
            w.width = width
        self._arrays["scale"][: w.n_storages] = self._choice.scale
        for name, k in self._guards.of.items():
            self._arrays["largest"][k] = self._choice.largest.get(name, 0.0)
        w.wide_y, w.wide_yp = address_of(y), address_of(yp)
        w.n_times, w.rows = len(account.times), account.done
        w.until, w.n_changes, w.most_changes = self._limit, 0, MOST_CHANGES
        w.steps = w.rejected = w.rhs_calls = w.jacobians = w.factorisations = w.turns = w.n_sampled = 0
        w.books[:] = [0.0] * 4
        w.progress = t
        for known in self._known.values():
            self._prepare_mode(known, t, solver(known.model))

    def _new_arrays(self, width: int) -> dict[str, NDArray[Any]]:
        count = len(self._models.storages.ports)
        made: dict[str, NDArray[Any]] = {
            "modes": np.array([ctypes.addressof(known.struct) for known in self._known.values()], dtype=np.uint64),
            **{name: np.zeros(count + 1) for name in ("outputs", "after", "scale")},
            "largest": np.zeros(len(self._guards.of) + 1),
            "carry": np.zeros(len(self._carried.of) + 1),
            "hold": np.zeros(len(self._held.of) + 1),
            "has": np.zeros(len(self._held.of) + 1, dtype=np.int8),
            "room": np.zeros(8 * (count + 1)),
            "end": np.zeros(2 * width),
            "times": self._account.times if len(self._account.times) else np.zeros(1),
            "changes": self._changes,
        }
        if self._problem.rows_at_changes:
            made["states"] = np.zeros((MOST_CHANGES, 4, width))
        return made

    def _prepare_mode(self, known: _Known, t: float, by: tuple[str, SolverSettings] | None) -> None:
        """The job of a mode: made again where its solver or the end of the call is another one."""
        # A mode that was only tried has no solver yet: its functions are called all the same.
        settings = by[1] if by is not None else self._choice.settings(known.model)
        wanted = (by and by[0], id(settings), self._limit)
        if known.made_for == wanted:
            return
        model, struct = known.model, known.struct
        nowhere = StatePoint(t, np.zeros(model.model.size), np.zeros(model.model.size))
        job, arrays = make_job(model.prepared, model.context, settings, known.rows, nowhere, self._limit)
        known.made_for, known.behind = wanted, (job, arrays, settings)
        # Samples of all modes stand in one log, which has room for all that come.
        if len(arrays.log.sample_log) > len(self._samples):
            self._samples = arrays.log.sample_log
        job.log_size = job.next_time = 0
        struct.job, struct.next_stop = ctypes.addressof(job), 0
        struct.run = None if by is None else function_address(by[0])
        struct.max_step, struct.tolerance = settings.max_step, float(max(settings.atol.tolist(), default=0.0))
        self._log = address_of(self._samples) if len(self._samples) else None
        for one in self._known.values():
            if one.behind is not None:
                one.behind[0].sample_log, one.behind[0].sample_room = self._log, len(self._samples)

    def _ended(self, known: _Known) -> StretchEnd:
        w, model, arrays = self.struct, known.model, known.arrays
        n, events = model.model.size, len(model.model.events)
        return StretchEnd(
            w.status,
            StatePoint(w.t, arrays["y"][:n].copy(), arrays["yp"][:n].copy()),
            Effort(w.steps, w.rejected, w.rhs_calls, w.jacobians, w.factorisations),
            energies=np.array(w.books[:]),
            signs=tuple(arrays["signs"][:events].tolist()),
            detail=w.detail,
            failed=model.context.failed,
            last_step=w.last_step,
            turns=w.turns,
        )
