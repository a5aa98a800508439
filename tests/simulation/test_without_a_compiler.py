"""Without a C compiler runs are slow, not impossible."""

import numpy as np
import pytest

import tellegen
from simulation.hand_written import falling, implicit_diode, pendulum, sampled_integrator, switched_decay, van_der_pol
from tellegen.core.errors import SimulationError
from tellegen.simulation import elimination_order, hybrid, integration
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem


@pytest.fixture(autouse=True)
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (integration, elimination_order):
        monkeypatch.setattr(module, "can_compile", lambda: False)


def test_smooth_models_are_advanced_by_scipy() -> None:
    run = integrate(Problem(pendulum(), 5.0, y0={"omega": 1.0}, rtol=1e-9, atol=1e-9))
    energy = 0.5 * run.of("omega") ** 2 + 1 - np.cos(run.of("theta"))
    assert run.solver == "SciPy DOP853"
    assert run.reason.endswith("there is no C compiler")
    assert energy == pytest.approx(0.5, rel=1e-7)


def test_stiff_models_too() -> None:
    run = integrate(Problem(van_der_pol(1e-5), 0.5, y0={"x": 2.0}, rtol=1e-6, atol=1e-8))
    assert run.solver == "SciPy BDF"
    assert run.status == "finished"


def test_breaks_samples_and_books_are_kept() -> None:
    run = integrate(Problem(switched_decay(), 2.0, rtol=1e-9, atol=1e-11, times=np.array([0.7, 2.0])))
    jump = 1 - np.exp(-0.7)
    assert run.y[:, 0] == pytest.approx([jump, 3 + (jump - 3) * np.exp(-1.3)], rel=1e-7)
    assert run.books is not None
    assert abs(run.books.residual) < 1e-7
    run = integrate(Problem(sampled_integrator(), 1.0, y0={"x": 2.0}, rtol=1e-9, times=np.arange(11) / 10))
    assert run.y[-1, 0] == pytest.approx(2.0 * 0.9**10, rel=1e-7)
    assert run.memory is not None
    assert np.asarray(run.memory)[:, 0] == pytest.approx(-run.y[:, 0], rel=1e-7), "rows know what was held"
    assert run.yp[:, 0] == pytest.approx(np.asarray(run.memory)[:, 0], rel=1e-7)


def test_what_cannot_be_done_is_said() -> None:
    with pytest.raises(
        SimulationError, match="without a C compiler this model cannot be advanced: it has events"
    ) as raised:
        integrate(Problem(falling(terminal=True), 1.0))
    assert raised.value.code == "S101"
    with pytest.raises(SimulationError, match="it is implicit"):
        integrate(Problem(implicit_diode(), 1.0))


def test_modes_need_one_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hybrid, "can_compile", lambda: False)
    with pytest.raises(SimulationError, match="a model with modes needs a C compiler"):
        tellegen.simulate("clutch_drive")
