"""Slopes of long models are compiled when they are first asked for, and are then the same as ever."""

from pathlib import Path

import numpy as np
import pytest

from tellegen.causality import CausalGraph, assign_causality
from tellegen.compiler import code, compiling
from tellegen.compiler.compiling import compile_model
from tellegen.compiler.numeric_model import NumericModel
from tellegen.compiler.toolchain import Build, broken_compiler
from tellegen.graph import lower
from tellegen.notations.reading import read_model
from tellegen.simulation.integration import integrate
from tellegen.simulation.problem import Problem

TEXT = """system: swing
parameters: {r: 0.2 ohm, k: 3 V/A^3}
network:
  C: {capacitor: [a, gnd], C: 2, initial: 1}
  L: {inductor: [a, b], L: 0.5}
  R: {resistor: [b, gnd], law: "V = r*I + k*I^3"}
"""

Y, DIRECTION = np.array([0.7, -0.4]), np.array([0.3, 1.1])


def causal() -> CausalGraph:
    return assign_causality(lower(read_model(TEXT)))


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NumericModel:
    monkeypatch.setenv("TELLEGEN_CACHE", str(tmp_path))
    monkeypatch.setattr(code, "LONG_RATES", 0)
    return compile_model(causal(), backend="c")


def test_slopes_are_left_out_until_they_are_asked_for(model: NumericModel) -> None:
    assert model.slopes_wait
    assert "tangent_y" not in model.source
    model.rhs_tangent(0.0, Y, DIRECTION)
    assert not model.slopes_wait


def test_slopes_compiled_later_are_those_of_the_whole_model(model: NumericModel) -> None:
    whole = compile_model(causal(), backend="python")
    along = np.linspace(0.5, 1.5, len(model.parameters))
    for dp in (None, along):
        assert model.rhs_tangent(0.0, Y, DIRECTION, dp) == pytest.approx(whole.rhs_tangent(0.0, Y, DIRECTION, dp))
        given = (0.0, Y, DIRECTION, DIRECTION, Y, dp)
        assert model.tangent(*given) == pytest.approx(whole.tangent(*given))
    assert model.linear == whole.linear


def test_differences_stand_in_for_slopes_that_wait(model: NumericModel) -> None:
    into, context = np.empty(2), model.new_context()
    assert model.prepared_difference(0.0, Y, DIRECTION, into, context)() == 0
    assert into == pytest.approx(model.rhs_tangent(0.0, Y, DIRECTION), rel=1e-5)


def test_a_run_that_is_not_stiff_compiles_no_slopes(model: NumericModel) -> None:
    assert integrate(Problem(model, 1.0)).status == "finished"
    assert model.slopes_wait


@pytest.mark.parametrize("solver", ["cvode", "ida"])
def test_implicit_solvers_have_slopes_compiled(model: NumericModel, solver: str) -> None:
    plain = integrate(Problem(model, 1.0, rtol=1e-8))
    other = integrate(Problem(model, 1.0, rtol=1e-8, solver=solver))
    assert not model.slopes_wait
    assert other.y[-1] == pytest.approx(plain.y[-1], rel=1e-5)


@pytest.mark.parametrize("trouble", [None, OSError("no space left on device")])
def test_slopes_that_cannot_be_compiled_any_more_are_made_by_python(
    model: NumericModel, monkeypatch: pytest.MonkeyPatch, trouble: OSError | None
) -> None:
    """The compiler broke, or the disk is full, since the model was compiled: the run goes on, slowly, and says so."""

    def build(source: str, *, small: bool = True) -> Build:
        if trouble is not None:
            raise trouble
        return Build(None, (broken_compiler("cc was killed"),))

    monkeypatch.setattr(compiling, "build", build)
    plain = integrate(Problem(model, 1.0, rtol=1e-8))
    assert not model.later_findings
    slow = integrate(Problem(model, 1.0, rtol=1e-8, solver="cvode"))
    assert slow.status == "finished"
    assert slow.y[-1] == pytest.approx(plain.y[-1], rel=1e-5)
    findings = list(model.later_findings)
    assert len(findings) == 1
    finding = findings[0]
    assert finding.code == "N102"
    assert ("cc was killed" if trouble is None else "no space left") in finding.what
