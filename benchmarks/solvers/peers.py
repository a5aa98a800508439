"""The other programs, each where it is installed: how to set up a problem, and how to solve it at a tolerance."""

# ruff: noqa: PLC0415  a peer is loaded when it is measured

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, final

from benchmarks.solvers import hand_written
from benchmarks.solvers.problems import SAMPLES, Problem, rhs_of

if TYPE_CHECKING:
    from benchmarks.solvers.problems import Array


class AbstractPeer(ABC):
    """A program that solves a problem. `set_up` is timed apart and gives a function of the tolerance, which is timed too."""

    name: str
    package: str

    def installed(self) -> bool:
        """Whether it can be measured here."""
        return find_spec(self.package) is not None

    def takes(self, problem: Problem) -> bool:
        """Whether the problem is worth its time: some would run for minutes."""
        return True

    @abstractmethod
    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        """Everything that is done once a model."""

    def in_order(self, found: "Array") -> "Array":
        """What was found with its columns in the order of the problem; this is not timed."""
        return found


@final
class HandWritten(AbstractPeer):
    """C written by hand: CVODE for P1 and P2, a Taylor series for P3."""

    name = "hand-written C"
    package = "sksundae"

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        hand_written.build()
        self.problem = problem
        return lambda tolerance: hand_written.solve(problem, tolerance)

    def in_order(self, found: "Array") -> "Array":
        return hand_written.in_order(self.problem, found)


@final
class OfOrder8(AbstractPeer):
    """C written by hand for P1: an explicit Runge-Kutta pair of order 8, with nothing around it."""

    name = "hand-written C, order 8"
    package = "sksundae"

    def takes(self, problem: Problem) -> bool:
        return problem.name.startswith("P1")

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        hand_written.build()
        return lambda tolerance: hand_written.solve(problem, tolerance, order_8=True)


@final
class SciPy(AbstractPeer):
    """`solve_ivp` with its best method for the problem; for P3 the action of the exponential on the state and a constant input."""

    name = "SciPy"
    package = "scipy"

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        import numpy as np
        from scipy.integrate import solve_ivp

        if problem.name.startswith("P3"):
            return _exponential_of_scipy(problem)
        times = np.linspace(0.0, problem.until, SAMPLES)
        start = np.zeros(len(problem.states))
        rhs = rhs_of(problem)
        method: Any = "LSODA" if problem.stiff else "DOP853"

        def solve(tolerance: float) -> "Array":
            found = solve_ivp(rhs, (0.0, problem.until), start, method, times, rtol=tolerance, atol=tolerance * 1e-2)
            return np.asarray(found.y.T)

        return solve


def _exponential_of_scipy(problem: Problem) -> Callable[[float], "Array"]:
    import numpy as np
    from scipy.sparse import block_array, csr_array, diags_array
    from scipy.sparse.linalg import expm_multiply

    n = problem.size
    coupling: Any = csr_array(diags_array([-1.0, 1.0], offsets=[0, -1], shape=(n, n)))
    size = 2 * n + 1  # the last state is the constant input
    push = csr_array(([1.0], ([0], [0])), shape=(n, 1))
    whole: Any = block_array(
        [[None, coupling, push], [-coupling.T, None, None], [None, None, csr_array((1, 1))]], format="csr"
    )
    start: Any = np.zeros(size)
    start[-1] = 1.0

    def solve(tolerance: float) -> "Array":
        rows = expm_multiply(whole, start, 0.0, problem.until, SAMPLES, endpoint=True)
        return np.asarray(rows)[:, :-1]

    return solve


@final
class CasADi(AbstractPeer):
    """CVODES behind CasADi's symbols, with its derivatives."""

    name = "CasADi"
    package = "casadi"

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        import casadi as ca
        import numpy as np

        y, t = ca.SX.sym("y", len(problem.states)), ca.SX.sym("t")
        rate = _rhs_with(ca, problem, t, y)
        times = np.linspace(0.0, problem.until, SAMPLES)
        built: dict[float, Any] = {}

        def solve(tolerance: float) -> "Array":
            if tolerance not in built:
                options: dict[str, Any] = {"abstol": tolerance * 1e-2, "reltol": tolerance, "max_num_steps": 10_000_000}
                if not problem.stiff:
                    options |= {"linear_multistep_method": "adams", "nonlinear_solver_iteration": "functional"}
                built[tolerance] = ca.integrator(
                    "run", "cvodes", {"x": y, "t": t, "ode": rate}, 0.0, times[1:], options
                )
            rows = np.array(built[tolerance](x0=np.zeros(len(problem.states)))["xf"]).T
            return np.vstack([np.zeros(len(problem.states)), rows])

        return solve


def _rhs_with(ca: Any, problem: Problem, t: Any, y: Any) -> Any:
    """The right-hand side in CasADi's symbols."""
    c, n = problem.constants, problem.size
    if problem.name.startswith("P1"):
        R, L, d = c["R"], c["L"], c["d"]
        u = R * ca.sin(y[0]) - d
        H = -R * ca.sin(y[0]) - R * ca.cos(y[0]) * u / ca.sqrt(L**2 - u**2)
        J = c["J_m"] + c["m_p"] * H**2
        torque = c["tau"] - (c["b_m"] + c["b_p"] * H**2) * y[1] - c["m_p"] * H * ca.jacobian(H, y)[0] * y[1] ** 2
        return ca.vertcat(y[1], torque / J)
    if problem.name.startswith("P2"):
        v, f = y[:n], y[n:]
        rate = ca.vertcat(0, v[:-1]) - v
        link = f + c["d"] * rate
        push = link - ca.vertcat(link[1:], 0) - c["F_c"] * ca.tanh(v / c["v_c"])
        push[n - 1] += c["F"] * ca.sin(2 * ca.pi * c["f"] * t)
        return ca.vertcat(push / c["m"], c["k"] * rate)
    i, v = y[:n], y[n:]
    return ca.vertcat(ca.vertcat(1, v[:-1]) - v, i - ca.vertcat(i[1:], 0))


@final
class Diffrax(AbstractPeer):
    """JAX: Dopri8, and Kvaerno5 for the stiff problem."""

    name = "diffrax"
    package = "diffrax"

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        import diffrax
        import jax
        import jax.numpy as jnp
        import numpy as np

        jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
        term = diffrax.ODETerm(_rhs_of_jax(jnp, problem))
        times = jnp.linspace(0.0, problem.until, SAMPLES)
        method = diffrax.Kvaerno5() if problem.stiff else diffrax.Dopri8()

        def run_once(tolerance: float) -> Any:
            control = diffrax.PIDController(rtol=tolerance, atol=tolerance * 1e-2)
            start = jnp.zeros(len(problem.states))
            save = diffrax.SaveAt(ts=times)
            return diffrax.diffeqsolve(
                term,
                method,
                0.0,
                problem.until,
                None,
                start,
                saveat=save,
                stepsize_controller=control,
                max_steps=10_000_000,
            ).ys

        run = jax.jit(run_once)
        run(1e-3).block_until_ready()
        return lambda tolerance: np.asarray(run(tolerance).block_until_ready())


def _rhs_of_jax(jnp: Any, problem: Problem) -> Callable[..., Any]:
    c, n = problem.constants, problem.size
    if problem.name.startswith("P1"):
        R, L, d = c["R"], c["L"], c["d"]

        def crank(t: Any, y: Any, _: object) -> Any:
            s, k = jnp.sin(y[0]), jnp.cos(y[0])
            u = R * s - d
            root = jnp.sqrt(L**2 - u**2)
            H = -R * s - R * k * u / root
            dH = -R * k + R * s * u / root - (R * k) ** 2 * (1 / root + u**2 / root**3)
            torque = c["tau"] - (c["b_m"] + c["b_p"] * H**2) * y[1] - c["m_p"] * H * dH * y[1] ** 2
            return jnp.stack([y[1], torque / (c["J_m"] + c["m_p"] * H**2)])

        return crank
    if problem.name.startswith("P2"):

        def chain(t: Any, y: Any, _: object) -> Any:
            v, f = y[:n], y[n:]
            rate = -jnp.diff(v, prepend=0.0)
            link = f + c["d"] * rate
            push = link - jnp.append(link[1:], 0.0) - c["F_c"] * jnp.tanh(v / c["v_c"])
            push = push.at[-1].add(c["F"] * jnp.sin(2 * jnp.pi * c["f"] * t))
            return jnp.concatenate([push / c["m"], c["k"] * rate])

        return chain
    return lambda t, y, _: jnp.concatenate([-jnp.diff(y[n:], prepend=1.0), y[:n] - jnp.append(y[1:n], 0.0)])


@final
class PathSim(AbstractPeer):
    """Blocks in Python: a Runge-Kutta pair of order 8, and one that is implicit for the stiff problem."""

    name = "PathSim"
    package = "pathsim"

    def set_up(self, problem: Problem) -> Callable[[float], "Array"]:
        import numpy as np
        from pathsim import Connection, Simulation
        from pathsim.blocks import ODE, Scope
        from pathsim.solvers import ESDIRK54, RKDP87

        rhs, start = rhs_of(problem), np.zeros(len(problem.states))

        def solve(tolerance: float) -> "Array":
            block = ODE(lambda y, u, t: rhs(t, y), start)
            interval = problem.until / (SAMPLES - 1)
            scope = Scope()
            simulation = Simulation(
                [block, scope],
                [Connection(block[0], scope[0]), Connection(block[1], scope[1])],
                dt=1e-4,
                Solver=ESDIRK54 if problem.stiff else RKDP87,
                tolerance_lte_rel=tolerance,
                tolerance_lte_abs=tolerance * 1e-2,
                log=False,
            )
            rows = [start]
            for _ in range(SAMPLES - 1):
                simulation.run(interval, reset=False, adaptive=True)
                rows.append(np.array(block.engine.get()))
            return np.array(rows)

        return solve


PEERS: tuple[AbstractPeer, ...] = (HandWritten(), OfOrder8(), SciPy(), CasADi(), Diffrax(), PathSim())
