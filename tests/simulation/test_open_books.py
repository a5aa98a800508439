"""Books that do not close are a warning, unless the tolerance leaves powers open for so long that it explains what is missing."""

import numpy as np
import pytest

from simulation.hand_written import decay, explicit_model
from tellegen import simulate
from tellegen.compiler.numeric_model import NumericModel
from tellegen.notations.reading import read_model
from tellegen.simulation.energy_books import ModelRows, checked_books
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem
from tellegen.simulation.trajectory import Books

CHARGED = """
system: capacitor at its source
parameters: {R: 1 kohm, C: 1 uF}
network:
  V: {voltage source: [a, gnd]}
  R: {resistor: [a, b]}
  C: {capacitor: [b, gnd], voltage: v}
experiment: {until: 1e30 s, inputs: {V: 5 V}}
"""
SWITCHED = CHARGED.replace(
    "R: {resistor: [a, b]}", 'S: {switch: [a, c], control: "if(t < 1 s, 0, 1)"}\n  R: {resistor: [c, b]}'
)


def lossy(source: str = "0.0") -> NumericModel:
    """A law that loses twice what its books say."""
    return explicit_model(
        f"d[0] = {source} - 2 * y[0];",
        "e[0] = -2 * v[0];",
        ["x"],
        balance=f"power[0] = {source} * y[0]; power[1] = y[0] * y[0]; power[4] = 0.5 * y[0] * y[0];",
    )


def test_books_that_do_not_close_are_a_warning() -> None:
    run = integrate(Problem(lossy(), 1.0, y0={"x": 1.0}))
    assert run.status == "finished"
    assert run.finding is not None
    assert (run.finding.code, run.finding.severity) == ("S120", "warning")


@pytest.mark.parametrize("solver", ["auto", "cvode", "ida"])
@pytest.mark.parametrize("until", [1e10, 1e30])
def test_a_capacitor_may_rest_at_its_source_for_ever(solver: str, until: float) -> None:
    """A current of rounding flows all the time, and what it carries is no loss."""
    run = simulate(read_model(CHARGED), until=until, solver=solver)
    assert run.finding is None
    assert run.energy.finding() is None


@pytest.mark.parametrize("rows", [3, 12, 29])
def test_few_rows_excuse_no_gap(rows: int) -> None:
    """What powers are open by at a dozen rows tells nothing of the time between them."""
    run = simulate(read_model(CHARGED), until=1e20, samples=rows - 1)
    assert run.energy.books.explained == 0.0
    whole = simulate(read_model(CHARGED), until=1e20)
    assert whole.energy.books.explained > 0.0


def test_so_it_may_behind_a_switch() -> None:
    run = simulate(read_model(SWITCHED), until=1e20)
    assert [event.what for event in run.events] == ["open to closed"]
    assert run.finding is None
    assert "S120" not in str(run)


def test_the_summary_says_what_the_tolerance_leaves_open() -> None:
    run = simulate(read_model(CHARGED), until=1e20)
    books = run.energy.books
    assert abs(books.difference) < books.explained
    # a voltage off by a millionth of 5 V drives 5 nA, which takes 25 nW from the source
    assert books.explained == pytest.approx(25e-9 * 1e20, rel=0.1)
    assert f"within the {books.explained:.1e} J that the tolerance leaves open" in str(run)


BALANCED = """
system: rod held upright
displacements: {theta: omega}
network:
  T: {torque source: [frame, a], signal: "9.81 N*m*sin(theta) + u"}
  J: {inertia: [a], J: 1 kg*m^2, angular velocity: omega}
signals: {u: {state feedback: [theta, omega], gains: [30 N*m, 8 N*m*s]}}
experiment: {until: 5 s, initial: {theta: 0.8 rad}}
"""


def test_what_was_stored_on_the_way_counts_as_handled() -> None:
    """It starts and ends at rest: all that the source gave has come back to it."""
    run = simulate(read_model(BALANCED))
    assert abs(run.energy.supplied) < 1e-6
    assert run.energy.books.handled > 0.1
    assert abs(run.energy.residual) < 1e-6


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_powers_of_a_higher_degree_than_the_motion_are_booked(solver: str) -> None:
    """Between breaks the voltage is a polynomial, which steps of any length follow without an error."""
    model = """
system: delayed decay
network:
  I: {current source: [gnd, a], signal: "-d*1 S"}
  C: {capacitor: [a, gnd], C: 1 F, voltage: v, initial: 1 V}
signals: {d: {delay: v, by: 1 s, initial: 1 V}}
experiment: {until: 2.5 s}
"""
    run = simulate(read_model(model), solver=solver, rtol=1e-12)
    assert abs(run.energy.residual) < 1e-9


@pytest.mark.parametrize("until", [1.0, 1e4, 1e9])
def test_no_tolerance_excuses_a_law_that_loses_energy(until: float) -> None:
    run = integrate(Problem(lossy("1.0"), until, y0={"x": 1.0}, solver="cvode"))
    assert run.books is not None
    assert run.finding is not None
    assert run.finding.code == "S120"


@pytest.mark.parametrize(("joules", "open_"), [(1e-3, True), (1e-25, False)])
def test_books_of_energies_below_those_of_heat_say_nothing(joules: float, open_: bool) -> None:
    model, nothing = decay(), np.zeros((0, 1))
    part = ModelRows(model, model.new_context(), np.array([1e-9]), np.zeros(0), nothing, nothing)
    _, finding = checked_books(Books(supplied=joules, stored_end=2 * joules), 1e-6, "decay", lambda: [part])
    assert (finding is not None) == open_
