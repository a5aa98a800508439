"""A projection keeps L symmetric and positive and W positive semidefinite, and comes near the transfer function."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import tellegen as tg
from tellegen.cli.main import run
from tellegen.equations.system import EquationSystem, with_values
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.studies.projection import Method

MISSING = "pyMOR is not installed: pip install 'tellegen[pymor]'"


def line(cells: int, *, inductive: bool, impedance: float = 1.0) -> Model:
    R = f"R: {impedance!r}"
    lines = ["system: line", "network:", "  V: {voltage source: [s, gnd]}", "  R_0: {resistor: [s, n1], " + R + "}"]
    for k in range(1, cells + 1):
        far = f"n{k + 1}" if k < cells else "gnd"
        lines.append(f"  C_{k}: {{capacitor: [n{k}, gnd], C: {(1 + 0.1 * k) / impedance!r}}}")
        lines.append(f"  R_{k}: {{resistor: [n{k}, {f'm{k}' if inductive else far}], {R}}}")
        if inductive:
            lines.append(f"  L_{k}: {{inductor: [m{k}, {far}], L: {0.5 * impedance!r}}}")
    return read_model("\n".join(lines))


def numbers(symbolic: EquationSystem) -> list[NDArray[np.float64]]:
    system = with_values(symbolic)
    return [np.array([[e.evaluate({}) for e in row] for row in system.matrices[m]]) for m in ("L", "A", "B", "C", "D")]


def gain(system: EquationSystem, s: complex) -> complex:
    L, A, B, C, D = numbers(system)
    return complex((C @ np.linalg.solve(s * L + A, B) + D)[0, 0])


@pytest.mark.parametrize(("inductive", "method"), [(True, "moments"), (False, "moments"), (False, "balanced")])
def test_projection_is_a_pog_near_the_full_model(inductive: bool, method: Method) -> None:
    pytest.importorskip("pymor", reason=MISSING)
    model = line(12, inductive=inductive)
    found = tg.project(model, 6, method=method)
    L, A, B, C, D = numbers(found.equations)
    assert np.array_equal(L, L.T)
    assert np.linalg.eigvalsh(L).min() > 0.5
    W = np.block([[A, -B], [C, D]])
    assert np.linalg.eigvalsh(W + W.T).min() > -1e-12 * np.abs(W).max()
    # The basis serves the whole band, so the error counts against the largest gain, which is near 1/R_0.
    full, small = ([gain(e, 1j * w) for w in (0.1, 0.3, 1.0, 3.0, 10.0)] for e in (found.full, found.equations))
    assert max(abs(a - b) for a, b in zip(full, small, strict=True)) < 0.02 * max(map(abs, full))


def test_more_states_lose_less() -> None:
    pytest.importorskip("pymor", reason=MISSING)
    model = line(12, inductive=False)

    def loss(states: int) -> float:
        found = tg.project(model, states, method="balanced")
        return max(abs(gain(found.equations, 1j * w) - gain(found.full, 1j * w)) for w in (0.01, 0.1, 1.0, 10.0))

    assert loss(8) < 0.1 * loss(4) < 0.1 * loss(2)


def test_stored_energy_and_loss_are_those_of_the_matrices() -> None:
    pytest.importorskip("pymor", reason=MISSING)
    found = tg.project("dc_motor_pump", 2).equations
    values = {name: 0.3 + 0.7 * k for k, name in enumerate((*found.states, *found.inputs))}
    x, u = (np.array([values[n] for n in names]) for names in (found.states, found.inputs))
    L, A, B, C, D = numbers(found)
    assert found.stored_energy is not None
    assert found.stored_energy.evaluate(values) == pytest.approx(x @ L @ x / 2)
    supplied = u @ (C @ x + D @ u)
    assert found.dissipated_power.evaluate(values) == pytest.approx(supplied - x @ (-A @ x + B @ u))


@pytest.mark.parametrize(("inductive", "method"), [(True, "moments"), (False, "balanced")])
def test_units_do_not_decide(inductive: bool, method: Method) -> None:
    pytest.importorskip("pymor", reason=MISSING)
    ohms = tg.project(line(8, inductive=inductive), 4, method=method)
    megohms = tg.project(line(8, inductive=inductive, impedance=1e6), 4, method=method)
    for w in (0.1, 1.0, 10.0):
        assert gain(megohms.equations, 1j * w) * 1e6 == pytest.approx(gain(ohms.equations, 1j * w), rel=1e-6)


def test_balancing_comes_near_with_few_states() -> None:
    """Twice the first Hankel singular value left out bounds what any model of the order must lose: balancing loses little more."""
    pytest.importorskip("pymor", reason=MISSING)
    model = line(12, inductive=True)
    assert tg.project(model, 2, method="balanced").error < 0.06
    assert tg.project(model, 6, method="balanced").error < 1e-3
    free = tg.project(model, 6)
    assert free.error == min(tg.project(model, 6, method=m).error for m in ("balanced", "moments"))


def test_balanced_model_is_passive_though_its_ports_have_no_resistance() -> None:
    pytest.importorskip("pymor", reason=MISSING)
    found = tg.project(line(12, inductive=True), 5, method="balanced")
    L, A, B, C, D = numbers(found.equations)
    W = np.block([[A, -B], [C, D]])
    assert np.array_equal(L, np.eye(5))
    assert np.linalg.eigvalsh(W + W.T).min() > -1e-8 * np.abs(W).max()


PROJECTED = [
    ("line", 3, "moments"),
    ("line", 3, "balanced"),
    ("dc_motor_pump", 2, "moments"),
    ("corking_shaft", 4, "balanced"),
]


@pytest.mark.parametrize(("name", "states", "method"), PROJECTED)
def test_a_projection_is_a_network_with_these_equations(name: str, states: int, method: Method) -> None:
    pytest.importorskip("pymor", reason=MISSING)
    found = tg.project(line(6, inductive=True) if name == "line" else name, states, method=method)
    for model in (found.model, read_model(to_yaml(found.model))):
        derived = tg.derive(model)
        assert (derived.states, derived.inputs) == (found.equations.states, found.equations.inputs)
        assert derived.outputs == found.full.outputs
        for one, two in zip(numbers(derived), numbers(found.equations), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12 * np.abs(two).max(initial=0.0))
        assert not tg.check(model).findings
    assert f"Projected: {states} of" in found.model.about


def test_a_projection_runs_as_its_equations_say_and_keeps_books() -> None:
    pytest.importorskip("pymor", reason=MISSING)
    found = tg.project("dc_motor_pump", 2)
    run_ = tg.simulate(found, until=0.3)
    L, A, B, C, D = numbers(found.equations)
    M = np.linalg.solve(L, A)
    u = np.array([24.0, -2e-5])
    settled = np.linalg.solve(M, np.linalg.solve(L, B @ u))
    values, vectors = np.linalg.eig(M)
    z = settled - (vectors * np.exp(-values * 0.3)) @ np.linalg.solve(vectors, settled.astype(complex))
    y = C @ z.real + D @ u
    assert run_["I_a"].values[-1] == pytest.approx(y[0], rel=1e-5)
    assert run_["P_0"].values[-1] == pytest.approx(y[1], rel=1e-5)
    assert abs(run_.energy.residual) < 1e-6


def test_a_projection_starts_where_the_full_model_does() -> None:
    pytest.importorskip("pymor", reason=MISSING)
    model = read_model(to_yaml(line(6, inductive=False)) + "experiment: {until: 1 s, initial: {V_C_1: 2 V}}\n")
    found = tg.project(model, 3)
    starts = tg.derive(found.model).initial
    assert {name: e.evaluate({}) for name, e in starts.items()} == pytest.approx(
        {name: e.evaluate({}) for name, e in found.equations.initial.items()}
    )
    assert any(e.evaluate({}) for e in starts.values())


@pytest.mark.slow
def test_a_projection_is_drawn_and_reduced_again(tmp_path: Path) -> None:
    pytest.importorskip("pymor", reason=MISSING)
    file = tmp_path / "small.yaml"
    assert run(["reduce", "dc_motor_pump", "--order", "2", "-o", str(file)]) == 0
    assert run(["reduce", "dc_motor_pump", "--order", "2", "-o", str(file)]) == 1, "a file is not replaced unasked"
    for notation in ("pog", "bond", "network"):
        assert tg.draw(str(file), notation)
    assert tg.derive(tg.reduce(str(file), {"x_1": 0})).states == ("z_2",)


@pytest.mark.slow
def test_record_of_a_projection(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pymor", reason=MISSING)
    assert run(["reduce", "dc_motor_pump", "--order", "2", "--method", "moments", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["states"] == ["z_1", "z_2"]
    assert record["method"] == "moments"
    assert 0 < record["error"] < 1
    assert (len(record["V"]), len(record["V"][0])) == (3, 2)
    assert record["origin"]["states"] == ["I_a", "omega_m", "P_0"]
    assert run(["reduce", "dc_motor_pump", "--order", "2"]) == 0
    assert "2 of 3 states" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "states", "method", "said"),
    [
        ("crank_rod", 1, "moments", "not linear"),
        ("dc_motor_pump", 3, "moments", "ask for 1 to 2"),
        ("dc_motor_pump", 0, "moments", "ask for 1 to 2"),
        ("dc_motor_pump", 2, "balance", "did you mean 'balanced'"),
    ],
)
def test_models_that_cannot_be_projected(model: str, states: int, method: str, said: str) -> None:
    with pytest.raises(tg.ReductionError) as error:
        tg.project(model, states, method=method)  # type: ignore[arg-type]
    assert error.value.code == "T306"
    assert said in str(error.value)


def test_missing_package_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymor", None)
    for name in [n for n in sys.modules if n.startswith("pymor.")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(tg.ExportError, match=r"tellegen\[pymor\]"):
        tg.project("dc_motor_pump", 2)
