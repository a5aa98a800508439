"""CVODE and IDA from the libraries of scikit-sundae, called step by step with functions of Python behind them.

As in native/sundials.c the norm is the maximum norm, and linear systems are solved here: the library sees a matrix of one row.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Final, final

import numpy as np

from tellegen.simulation.plain.job_view import Array, JobView, StoppedError, doubles
from tellegen.simulation.plain.linear import Factors, Jacobian
from tellegen.simulation.plain.sundials_functions import (
    JACOBIAN,
    NORM,
    RESIDUAL,
    RHS,
    SET_UP,
    SOLVE,
    SYSTEM,
    replace_operation,
    sundials_function,
)
from tellegen.simulation.solvers import jobs
from tellegen.simulation.solvers.jobs import Job

SHARE: Final = 0.5
SHARE_ANEW: Final = 0.1
"""Of the tolerance that a single step may use; models that are sampled or delayed begin anew with steps of low order."""

_BDF: Final = 2
_ONE_STEP: Final = 2
_TSTOP: Final = 1
_MOST_FAILED_TESTS: Final = 40


@final
class MultistepSolver:
    """A solver of the library that stands where the job does; `reached` and `y`, `yp` are the end of its last step."""

    def __init__(self, view: JobView, *, implicit: bool) -> None:
        self.view, self.implicit = view, implicit
        self._word = "IDA" if implicit else "CVode"
        self._n = view.n
        self._error: BaseException | None = None
        self._jacobian = Jacobian(view)
        self._slopes: Array = np.zeros(0)
        self._system: Array = np.zeros(0)
        self._factors: Factors | None = None
        self._keep: list[Any] = []
        self._free: list[Callable[[], object]] = []
        self._context = ctypes.c_void_p()
        self.last_step = 0.0
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    # -- what a run does with it -----------------------------------------------------------------------------------------------

    def step(self, stop: float) -> tuple[float, bool]:
        """One step, not beyond `stop`: the time reached, and whether that is it. Raises StoppedError where there is none."""
        reached, context = ctypes.c_double(self.view.job.t), self.view.context
        context.failed = 0
        where = (self._memory, stop, ctypes.byref(reached), self._y, self._yp)
        flag = (
            self._call("Solve", *where, _ONE_STEP)
            if self.implicit
            else self._call("", self._memory, stop, self._y, ctypes.byref(reached), _ONE_STEP)
        )
        if self._error is not None:
            raise self._error
        if flag < 0:
            raise StoppedError(_status(flag, self.view.job, failed=bool(context.failed)))
        return reached.value, flag == _TSTOP

    @property
    def y(self) -> Array:
        """The variables at the end of the last step."""
        return self._data(self._y)

    @property
    def yp(self) -> Array:
        """Their rates there, of implicit models."""
        return self._data(self._yp)

    def at(self, t: float) -> tuple[Array, Array]:
        """Variables and rates at a time of the last step, by the polynomial of the solver."""
        found = []
        for order in range(2):
            self._check(self._call("GetDky", self._memory, t, order, self._value))
            found.append(self._data(self._value).copy())
        return found[0], found[1]

    def restart(self) -> None:
        """Begin anew where the job stands."""
        self.y[:] = self.view.y
        if self.implicit:
            self.yp[:] = self.view.yp
        rates = (self._yp,) if self.implicit else ()
        self._check(self._call("ReInit", self._memory, self.view.job.t, self._y, *rates))

    def stop_at(self, stop: float) -> None:
        """No step goes beyond this."""
        self._check(self._call("SetStopTime", self._memory, stop))

    def close(self) -> None:
        """Give everything back, and tell the job how many steps were rejected."""
        if self._free and getattr(self, "_memory", None):
            failures, last = ctypes.c_long(), ctypes.c_double()
            self._call("GetNumErrTestFails", self._memory, ctypes.byref(failures))
            self._call("GetLastStep", self._memory, ctypes.byref(last))
            self.view.job.rejected += failures.value
            self.view.job.last_step = last.value
        self._factors = None  # SuperLU can only free them in the thread that made them, which is this one
        while self._free:
            self._free.pop()()

    # -- opening ---------------------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        view, job = self.view, self.view.job
        self._check(sundials_function("SUNContext_Create")(0, ctypes.byref(self._context)))
        self._free.append(lambda: sundials_function("SUNContext_Free")(ctypes.byref(self._context)))
        sundials_function("SUNContext_ClearErrHandlers")(self._context)  # findings are ours to report
        self._y = self._vector(view.n)
        replace_operation(self._y, "N_VWrmsNorm_Serial", self._kept(NORM(self._norm)))
        self._yp, self._tolerances, self._value = (self._vector(view.n) for _ in range(3))
        share = SHARE_ANEW if job.n_groups or job.history else SHARE
        self._data(self._tolerances)[:] = share * view.atol
        self.y[:], self.yp[:] = view.y, view.yp
        solver, matrix = self._linear_solver()
        init = [*([RESIDUAL(self._call_residual)] if self.implicit else [RHS(self._call_rhs)])]
        memory = (
            sundials_function("IDACreate")(self._context)
            if self.implicit
            else sundials_function("CVodeCreate")(_BDF, self._context)
        )
        self._memory = memory
        pointer = ctypes.c_void_p(memory)
        self._free.append(lambda: self._call("Free", ctypes.byref(pointer)))
        rates = (self._yp,) if self.implicit else ()
        self._check(self._call("Init", memory, self._kept(init[0]), job.t, self._y, *rates))
        self._check(self._call("SVtolerances", memory, share * job.rtol, self._tolerances))
        self._check(self._call("SetLinearSolver", memory, solver, matrix))
        if self.implicit:
            self._check(self._call("SetJacFn", memory, self._kept(JACOBIAN(self._make_jacobian))))
        else:
            self._check(self._call("SetLinSysFn", memory, self._kept(SYSTEM(self._make_system))))
            self._check(self._call("SetMaxHnilWarns", memory, -1))
        self._check(self._call("SetMaxStep", memory, job.max_step))
        self._check(self._call("SetInitStep", memory, job.first_step))
        self._check(self._call("SetMaxErrTestFails", memory, _MOST_FAILED_TESTS))

    def _linear_solver(self) -> tuple[int, int]:
        vector, matrix = self._vector(1), sundials_function("SUNDenseMatrix")(1, 1, self._context)
        self._free.append(lambda: sundials_function("SUNMatDestroy")(matrix))
        solver = sundials_function("SUNLinSol_Dense")(vector, matrix, self._context)
        self._free.append(lambda: sundials_function("SUNLinSolFree")(solver))
        replace_operation(solver, "SUNLinSolSetup_Dense", self._kept(SET_UP(self._set_up)))
        replace_operation(solver, "SUNLinSolSolve_Dense", self._kept(SOLVE(self._solve)))
        return solver, matrix

    def _vector(self, size: int) -> int:
        made: int = sundials_function("N_VNew_Serial")(size, self._context)
        self._free.append(lambda: sundials_function("N_VDestroy")(made))
        return made

    def _kept(self, callback: Any) -> Any:
        """The address of a callback that lives as long as this."""
        self._keep.append(callback)
        return ctypes.cast(callback, ctypes.c_void_p)

    def _call(self, name: str, *arguments: Any) -> int:
        return int(sundials_function(self._word + name)(*arguments) or 0)

    def _check(self, flag: int) -> None:
        if flag:
            self.view.job.detail = flag
            raise StoppedError(jobs.LIBRARY)

    def _data(self, vector: int) -> Array:
        return doubles(sundials_function("N_VGetArrayPointer")(vector), self._n)

    # -- what the library calls ------------------------------------------------------------------------------------------------

    def _answer(self, function: Callable[[], object]) -> int:
        """0, or 1 where a shorter step may help; other errors are raised when the library has come back."""
        try:
            function()
        except StoppedError:
            return 1
        except BaseException as error:  # nothing can be raised through the library
            self._error = error
            return -1
        return 0

    def _norm(self, x: int, weights: int) -> float:
        return float(np.max(np.abs(self._data(x) * self._data(weights)), initial=0.0))

    def _call_rhs(self, t: float, y: int, out: int, _user: int) -> int:
        def rates() -> None:
            self._data(out)[:] = self.view.rhs(t, self._data(y))

        return self._answer(rates)

    def _call_residual(self, t: float, y: int, yp: int, out: int, _user: int) -> int:
        def residual() -> None:
            self._data(out)[:] = self.view.residual(t, self._data(y), self._data(yp))

        return self._answer(residual)

    def _make_system(self, t: float, y: int, _f: int, _m: int, keep: int, renewed: Any, gamma: float, *_: int) -> int:
        """I - gamma J; J is kept while the library finds it good enough."""

        def system() -> None:
            if not keep:
                self._slopes = self._jacobian.rates(t, self._data(y))
            renewed[0] = int(not keep)
            self._system = np.where(self._jacobian.rows == self._jacobian.of, 1.0, 0.0) - gamma * self._slopes

        return self._answer(system)

    def _make_jacobian(self, t: float, cj: float, y: int, yp: int, *_: int) -> int:
        ones = np.ones(self._jacobian.size)

        def system() -> None:
            self._system = self._jacobian.residual(t, self._data(y), self._data(yp), ones, cj * ones)

        return self._answer(system)

    def _set_up(self, _solver: int, _matrix: int) -> int:
        def factor() -> None:
            self._factors = self._jacobian.factors(self._system)

        return self._answer(factor)

    def _solve(self, _solver: int, _matrix: int, x: int, b: int, _tolerance: float) -> int:
        def solve() -> None:
            assert self._factors is not None, "the library sets systems up before it solves them"
            self._data(x)[:] = self._factors.solve(self._data(b).copy())

        return self._answer(solve)


def _status(flag: int, job: Job, *, failed: bool) -> int:
    """Why the library made no step."""
    job.detail = flag
    if failed:
        return jobs.NOT_FINITE
    if flag in (-2, -3):
        return jobs.TINY_STEP
    if flag in (-4, -5, -6):
        return jobs.NO_CONVERGENCE
    return jobs.NOT_FINITE if -11 <= flag <= -8 else jobs.LIBRARY
