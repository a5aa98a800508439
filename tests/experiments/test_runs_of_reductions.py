"""The run of a reduced model still has the variables that the limit removed."""

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError

NUTS = {"K_se": "inf", "K_sr": "inf"}


def test_forces_of_rigid_nuts_are_those_of_stiff_ones() -> None:
    smooth = "quintic(0, 1 N*m, from=0 s, to=0.08 s)"
    models = ("corking_shaft", tg.reduce("corking_shaft", NUTS))
    full, rigid = (tg.simulate(m, inputs={"tau_te": smooth, "tau_tr": smooth}, rtol=1e-9, samples=200) for m in models)
    assert rigid.unit("F_sr") == "N"
    assert "F_sr" in rigid
    for name in ("F_se", "F_sr"):
        size = np.abs(full.values(name)).max()
        assert rigid.values(name) == pytest.approx(full.values(name), abs=1e-3 * size)
    assert rigid["F_sr"].attrs["units"] == "N"
    both = rigid.table(["omega_te", "F_sr"])
    assert both[:, 1] == pytest.approx(rigid.values("F_sr"))
    assert both[:, 0] == pytest.approx(rigid.values("omega_te"))


def test_a_speed_without_inertia_is_found_from_currents_and_pressures() -> None:
    run = tg.simulate(tg.reduce("dc_motor_pump", {"J_m": 0}))
    v = run.parameters
    expected = (v["K_m"] * run.values("I_a") - v["K_p"] * run.values("P_0")) / v["b_m"]
    assert run.values("omega_m") == pytest.approx(expected)
    assert run.values("omega_m", "rpm") == pytest.approx(expected * 60 / (2 * np.pi))
    assert run.resampled(11).values("omega_m")[[0, -1]] == pytest.approx(expected[[0, -1]])
    assert run.plot("omega_m", "I_a").panels[0].unit == "rad/s"


def test_a_variable_that_never_was_is_refused_with_the_nearest_one() -> None:
    run = tg.simulate(tg.reduce("dc_motor_pump", {"J_m": 0}))
    assert "omega_n" not in run
    with pytest.raises(SimulationError, match="the run has no 'omega_n'"):
        run.values("omega_n")
