"""The solvers of this folder by the names of those in C."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from tellegen.simulation.plain.explicit_run import runge_kutta_run
from tellegen.simulation.plain.fixed_step import discrete_gradient_run, midpoint_run
from tellegen.simulation.plain.job_view import JobView, StoppedError
from tellegen.simulation.plain.multistep_run import cvode_run, ida_run
from tellegen.simulation.plain.starts import consistent, equilibrium
from tellegen.simulation.solvers.jobs import Job

SOLVERS: Final[Mapping[str, Callable[[JobView], int]]] = {
    "tg_runge_kutta": runge_kutta_run,
    "tg_cvode": cvode_run,
    "tg_ida": ida_run,
    "tg_midpoint": midpoint_run,
    "tg_discrete_gradient": discrete_gradient_run,
    "tg_consistent": consistent,
    "tg_equilibrium": equilibrium,
}


def plain_solver(name: str) -> Callable[[Job], int]:
    """A solver in Python: takes a job, gives back its status."""
    solver = SOLVERS[name]

    def run(job: Job) -> int:
        try:
            with np.errstate(all="ignore"):  # what is not finite is reported, not warned about
                return solver(JobView(job))
        except StoppedError as stopped:
            return stopped.status

    return run
