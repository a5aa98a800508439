"""What a run shows: variables by name and element, with units, and the physics that must hold between them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tellegen as tg
from tellegen.core.errors import SimulationError
from tellegen.notations.reading import read_model
from tellegen.results import Run


@pytest.fixture(scope="module")
def run() -> Run:
    return tg.simulate("dc_motor_pump", samples=200, rtol=1e-9)


# Variables by name


def test_a_variable_is_a_labelled_array_with_its_unit(run: Run) -> None:
    array = run["P_0"]
    assert (array.name, array.dims, array.attrs["units"], array["t"].attrs["units"]) == ("P_0", ("t",), "Pa", "s")
    assert np.all(array.values == run.values("P_0"))


def test_groups_hold_their_variables(run: Run) -> None:
    assert list(run.states) == ["I_a", "omega_m", "P_0"]
    assert list(run.inputs) == ["V_a", "Q_0"]
    assert list(run.outputs) == ["I_a", "P_0"]
    assert list(run.displacements) == []


def test_what_is_saved_names_an_output_that_is_a_state_once(run: Run) -> None:
    sections = ("V_r", "Q_u", "E_m", "C_m", "C_p", "Q_p")
    assert run.names[:11] == ("I_a", "omega_m", "P_0", *sections, "V_a", "Q_0")
    assert [n for n in run.names if n.startswith("energy.")] == ["energy.L_a", "energy.J_m", "energy.C_0"]
    assert len(set(run.names)) == len(run.names)


def test_an_unknown_name_is_refused_with_the_nearest(run: Run) -> None:
    with pytest.raises(SimulationError) as error:
        run["omega_n"]
    assert error.value.code == "S201"
    assert error.value.what == "the run has no 'omega_n'"
    assert error.value.finding.fix == "did you mean 'omega_m'?"


def test_a_run_knows_what_it_has(run: Run) -> None:
    assert "I_a" in run
    assert "power.R_a" in run
    assert "nonsense" not in run


def test_a_displacement_has_the_unit_of_its_rate_times_seconds() -> None:
    found = tg.simulate("crank_rod", 0.01, samples=5)
    assert found.unit("theta") == "rad"
    assert list(found.displacements) == ["theta"]


# By element


def test_both_readings_name_the_same_two_variables(run: Run) -> None:
    assert np.array_equal(run.across("R_a"), run.effort("R_a"))
    assert np.array_equal(run.across("b_m"), run.flow("b_m"))
    assert run.effort("b_m").attrs["units"] == "N*m"


def test_power_is_the_product_of_the_two_variables(run: Run) -> None:
    for element in ("R_a", "b_m", "alpha_p", "L_a"):
        expected = (run.across(element) * run.through(element)).values
        assert run.power(element).values == pytest.approx(expected, rel=1e-12)


def test_what_sources_give_is_what_the_others_take(run: Run) -> None:
    given = run.power("V_a") + run.power("Q_0")
    taken = sum(run.power(e) for e in ("L_a", "R_a", "J_m", "b_m", "C_0", "alpha_p"))
    assert np.abs(given - taken).max() <= 1e-9 * np.abs(given).max()


def test_power_through_a_coupling_is_what_lies_behind_it_takes(run: Run) -> None:
    # the machine turns current into torque: its power is that of the armature voltage behind L_a and R_a
    entering = run.power("V_a") - run.power("L_a") - run.power("R_a")
    assert run.power("motor").values == pytest.approx(entering.values, abs=1e-9 * float(np.abs(entering).max()))
    assert run.power("motor").attrs["units"] == "W"


def test_power_through_a_coupling_that_is_bypassed_is_that_of_its_sides() -> None:
    text = (
        "system: bypass\nnetwork:\n  V: {voltage source: [a, gnd]}\n  T: {transformer: [a, gnd, b, gnd], n: 2}\n"
        "  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [b, gnd], C: 1 F}\n  R_2: {resistor: [b, gnd], R: 1 ohm}\n"
    )
    run = tg.simulate(read_model(text), 1, inputs={"V": "sine(1 V, 1 Hz)"}, samples=5)
    entering = run.values("V") * (run.values("I_V") - run.values("I_R"))
    assert run.power("T").values == pytest.approx(entering, abs=1e-9 * float(np.abs(entering).max()))
    taken = sum(run.power(name).values for name in ("R", "C", "R_2")) - run.power("V").values
    assert np.abs(taken).max() <= 1e-9 * float(np.abs(entering).max())


def test_power_that_goes_round_among_couplings_is_refused() -> None:
    text = (
        "system: two levers\nnetwork:\n  F: {force source: [frame, a]}\n  T: {lever: [a, frame, b, frame], arm ratio: 2}\n"
        "  S: {lever: [a, frame, b, frame], arm ratio: 3}\n  m: {mass: [b], m: 1 kg}\n"
    )
    run = tg.simulate(read_model(text), 1, inputs={"F": 1.0}, samples=5)
    with pytest.raises(SimulationError) as error:
        run.power("T")
    assert error.value.code == "S203"


def test_the_stored_energy_is_the_sum_of_the_storages(run: Run) -> None:
    parts = np.sum([run.values(f"energy.{e}") for e in ("L_a", "J_m", "C_0")], axis=0)
    assert run.stored_energy.values == pytest.approx(parts, rel=1e-14)
    assert run.energy.stored == pytest.approx(parts[-1] - parts[0], rel=1e-12)


def test_an_unknown_element_is_refused_with_the_nearest(run: Run) -> None:
    with pytest.raises(SimulationError) as error:
        run.power("R_b")
    assert error.value.finding.fix == "did you mean 'R_a'?"


# Energy books


@pytest.mark.parametrize("name", ["dc_motor_pump", "crank_rod", "quarter_car", "loudspeaker", "pmsm", "planetary_gear"])
def test_energies_of_elements_add_up_to_the_books(name: str) -> None:
    found = tg.simulate(
        name, rtol=1e-9, samples=100
    )  # few rows: the books must ask for more where these are too far apart
    books, energies = found.energy.books, found.energy.by_element()
    tolerance = 2e-6 * books.handled + abs(books.difference)
    inputs = {e for e in energies if e in found.input_names}
    assert sum(energies[e] for e in inputs) == pytest.approx(found.energy.supplied, abs=tolerance)
    stores = found.catalogue.elements("energy")
    for element in stores:
        held = found.values(f"energy.{element}")
        assert energies[element] == pytest.approx(held[-1] - held[0], abs=tolerance)
    lost = sum(e for name, e in energies.items() if name not in inputs and name not in stores)
    assert lost == pytest.approx(found.energy.dissipated, abs=tolerance)


def test_books_that_close_have_no_finding(run: Run) -> None:
    assert abs(run.energy.residual) < 1e-7
    assert run.energy.finding() is None


def test_the_record_of_the_books_balances(run: Run) -> None:
    books = run.energy.to_json()
    assert list(books) == ["stored", "supplied", "dissipated", "modulation", "impulsive", "residual"]
    assert books["supplied"] == pytest.approx(books["stored"] + books["dissipated"], rel=1e-7)


def test_a_negative_resistor_shows_as_generated() -> None:
    model = read_model(
        "system: active\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  C: {capacitor: [b, gnd], C: 1 F, voltage: V_C}\n  R_n: {resistor: [b, gnd], R: -2 ohm}\n"
    )
    found = tg.simulate(model, 1, inputs={"V": 1.0}, samples=50)
    assert found.energy.generated > 0
    assert "generated" in found.energy.to_json()
    assert abs(found.energy.residual) < 1e-5


# Other shapes


def test_resampling_agrees_with_simulating_at_those_times(run: Run) -> None:
    times = np.linspace(0.01, 0.49, 77)
    expected = tg.simulate("dc_motor_pump", times=times, until=0.5, rtol=1e-9)
    found = run.resampled(times)
    for name in ("I_a", "omega_m", "P_0", "power.R_a"):
        scale = np.abs(expected.values(name)).max()
        assert found.values(name) == pytest.approx(expected.values(name), abs=1e-4 * scale)


def test_resampling_outside_the_run_is_refused(run: Run) -> None:
    with pytest.raises(SimulationError) as error:
        run.resampled(np.array([0.0, 0.6]))
    assert error.value.code == "S205"
    assert error.value.finding.fix == "choose times from 0 s to 0.5 s"


def test_refining_simulates_again(run: Run) -> None:
    again = run.refined(np.array([0.0, 0.123, 0.5]))
    assert again.t.tolist() == [0.0, 0.123, 0.5]
    assert again.values("I_a")[-1] == pytest.approx(run.values("I_a")[-1], rel=1e-8)


def test_comparing_names_what_differs_most(run: Run) -> None:
    other = tg.simulate("dc_motor_pump", samples=200, rtol=1e-9, parameters={"R_a": 0.51})
    found = run.compare(other, "I_a", "P_0")
    assert set(found.differences) == {"I_a", "P_0"}
    assert found.worst in found.differences
    assert 1e-4 < found.relative < 0.1
    assert run.compare(run).relative == 0.0


def test_runs_with_nothing_in_common_cannot_be_compared(run: Run) -> None:
    with pytest.raises(SimulationError) as error:
        run.compare(tg.simulate("rlc", samples=5))
    assert error.value.code == "S204"


@pytest.mark.parametrize("other", [3, "run.nc", None])
def test_a_run_is_compared_with_runs_only(run: Run, other: Any) -> None:
    with pytest.raises(SimulationError) as error:
        run.compare(other)
    assert error.value.code == "S204"
    assert f"{other!r} is none" in str(error.value)
    assert "read_run" in str(error.value)


# Printouts


def test_the_text_tells_solver_final_values_and_books(run: Run) -> None:
    text = str(run)
    assert text.splitlines()[0] == "DC motor driving a hydraulic pump"
    for words in ("solver", "at t = 0.5 s", "supplied", "residual"):
        assert words in text


def test_the_notebook_shows_a_short_table(run: Run) -> None:
    html = run._repr_html_()
    assert "<table>" in html
    assert "omega_m" in html


def test_plots_have_one_panel_for_each_unit(run: Run) -> None:
    plot = run.plot("I_a", "P_0", "power.R_a", "power.b_m")
    assert [(panel.names, panel.unit) for panel in plot.panels] == [
        (("I_a",), "A"),
        (("P_0",), "Pa"),
        (("power.R_a", "power.b_m"), "W"),
    ]
    assert {(panel.x_title, panel.x_unit) for panel in plot.panels} == {("t", "s")}
    assert plot._repr_svg_().startswith("<svg")


def test_panels_say_what_stands_together(run: Run) -> None:
    plot = run.plot(panels=[["power.R_a"], ["power.b_m", "power.L_a"]])
    assert [panel.names for panel in plot.panels] == [("power.R_a",), ("power.b_m", "power.L_a")]
    with pytest.raises(SimulationError, match="'I_a' is in A and 'omega_m' in rad/s: a panel has one axis") as error:
        run.plot(panels=[["I_a", "omega_m"]])
    assert error.value.finding.code == "S210"
    for names, panels, against in ((["I_b"], (), "t"), ([], [["I_b"]], "t"), (["I_a"], (), "I_b")):
        with pytest.raises(SimulationError) as error:
            run.plot(*names, panels=panels, against=against)
        assert (error.value.finding.code, error.value.finding.fix) == ("S201", "did you mean 'I_a'?")


def test_other_runs_stand_beside_in_broken_lines(run: Run, tmp_path: Path) -> None:
    later = tg.simulate("dc_motor_pump", parameters={"R_a": 1.0}, progress=False)
    kept = tg.read_run(run.save(tmp_path / "run.csv"))
    (panel,) = run.plot("I_a", beside={"R_a = 1 ohm": later, "kept": kept}).panels
    assert panel.names == ("I_a", "I_a, R_a = 1 ohm", "I_a, kept")
    assert [line.look for line in panel.lines] == [(0, 0), (0, 1), (0, 2)]
    assert panel.lines[1].y == pytest.approx(later.values("I_a"))
    assert "I_a" in kept
    assert "I_b" not in kept


def test_a_phase_plot_has_a_variable_on_both_axes(run: Run) -> None:
    (panel,) = run.plot_phase("I_a", "omega_m").panels
    assert (panel.names, panel.unit, panel.x_title, panel.x_unit) == (("omega_m",), "rad/s", "I_a", "A")
    assert panel.lines[0].x == pytest.approx(run.values("I_a"))


def test_the_books_are_drawn_as_bars(run: Run) -> None:
    shapes = run.energy.plot().scene.shapes
    bars = {shape.origin.element for shape in shapes if shape.origin.part == "bar"}
    assert bars == {name for name, energy in run.energy.by_element().items() if energy}


# Sampled signals

SAMPLED = (
    "system: sampled\nparameters: {R: 1 ohm, L: 1 H}\nsignals:\n  e: 5 A - I_L\n  u: {sample: 2*e, every: 0.1 s}\nnetwork:\n"
    "  V: {voltage source: [a, gnd], signal: u}\n  R: {resistor: [a, b]}\n  L: {inductor: [b, gnd], current: I_L}\n"
    "experiment: {until: 1 s}\n"
)


@pytest.mark.parametrize("solver", ["auto", "cvode", "runge-kutta"])
def test_a_sampled_signal_holds_its_value_from_instant_to_instant(solver: str) -> None:
    found = tg.simulate(read_model(SAMPLED), times=np.arange(0.05, 1, 0.1), rtol=1e-10, solver=solver)
    current, expected = 0.0, []
    for _ in range(10):
        held = 2 * (5 - current)
        expected.append(held)
        current = held + (current - held) * np.exp(-0.1)
    assert found.values("u") == pytest.approx(np.array(expected), rel=1e-8)
    assert np.array_equal(found.values("V"), found.values("u"))


def test_energies_of_elements_know_the_jumps_of_sampled_signals() -> None:
    found = tg.simulate(read_model(SAMPLED), samples=20, rtol=1e-10)
    assert found.energy.by_element()["V"] == pytest.approx(found.energy.supplied, rel=1e-6)


def test_a_coupling_has_no_single_effort(run: Run) -> None:
    with pytest.raises(SimulationError, match="'motor' has several ports, so it has no single effort or flow"):
        run.effort("motor")
    with pytest.raises(SimulationError, match="the run has no 'gearbox'"):
        run.effort("gearbox")


def test_a_cancelled_run_is_not_followed_to_its_end() -> None:
    """Books of a run that ended early come from its rows alone."""
    made = tg.simulate("dc_motor_pump", samples=50)

    def again(times: object) -> object:
        raise AssertionError("simulated again")

    early = replace(made, trajectory=replace(made.trajectory, status="cancelled"), again=again)  # type: ignore[arg-type]
    assert set(early.energy.by_element()) == set(made.energy.by_element())
    assert str(early)


def test_both_sides_of_a_machine_have_an_effort_and_a_flow() -> None:
    run = tg.simulate("dc_motor_pump")
    assert run.effort("motor.2").values == pytest.approx(0.15 * run.flow("motor.1").values)  # K_m I_a
    assert run.effort("motor.1").values == pytest.approx(0.15 * run.flow("motor.2").values)
    assert run.through("pump.1").attrs["units"] == "N*m"
    assert run.across("pump.2").values == pytest.approx(run.values("P_0"))
    assert (run.effort("pump.1") * run.flow("pump.1")).values == pytest.approx(run.power_values("pump"), rel=1e-9)


@pytest.mark.parametrize(
    "name", ["rotational_first", "planetary_gear", "pmsm", "corking_shaft", "corking_machine", "crank_rod_mechanism"]
)
def test_what_enters_a_coupling_leaves_it(name: str) -> None:
    run = tg.simulate(name)
    for coupling in run.graph.couplings:
        count, first = len(coupling.side_1) + len(coupling.side_2), len(coupling.side_1)
        sides = [f"{coupling.element}.{k + 1}" for k in range(count)]
        powers = np.array([run.across(side).values * run.through(side).values for side in sides])
        left = powers[:first].sum(axis=0) - powers[first:].sum(axis=0)
        assert np.abs(left).max() <= 1e-12 * max(np.abs(powers).max(), 1e-12), coupling.element


def test_a_side_that_a_coupling_does_not_have_is_refused_with_those_it_has() -> None:
    run = tg.simulate("dc_motor_pump")
    with pytest.raises(SimulationError, match=r"ask for one of 'motor\.1', 'motor\.2'"):
        run.effort("motor")
    with pytest.raises(SimulationError, match=r"the run has no 'motor\.3'"):
        run.effort("motor.3")


def test_a_run_is_compared_with_measured_columns(run: Run) -> None:
    columns = {"t": run.t, "I_a": run.values("I_a") + 0.25}
    found = run.compare(columns)
    assert list(found.differences) == ["I_a"]
    assert found.differences["I_a"].largest == pytest.approx(0.25)
    with pytest.raises(tg.SimulationError, match="S204"):
        run.compare({"I_a": run.values("I_a")})


def test_a_run_is_compared_with_a_data_frame(run: Run) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": run.t, "I_a": run.values("I_a") + 0.5})
    for given in (frame, frame.set_index("t")):
        assert run.compare(given).differences["I_a"].largest == pytest.approx(0.5)
    with pytest.raises(tg.SimulationError, match="'I_a' holds what is no number"):
        run.compare(frame.assign(I_a="much"))
