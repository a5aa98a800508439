"""A feed drive of library parts is the drive written as one network: the same equations, the same trajectories."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tellegen as tg
from support.transfers import same_transfer
from tellegen.equations.system import EquationSystem
from tellegen.expressions import symbol
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

PARTS = """\
system: Feed drive
parameters: {lead_s: 20 mm, m_l: 15 kg}
parts:
  motor: {use: pmsm, J: 6e-5 kg*m^2, ports: {phase_1: a_1, phase_2: a_2, phase_3: a_3, star: gnd, shaft: w_1}}
  belt:  {use: belt, K: 3e5 N/m, ports: {input: w_1, output: w_2}}
  screw: {use: ball_screw, lead: lead_s/2, ports: {shaft: w_2, nut: x}}
network:
  load: {mass: [x], m: m_l}
  V_1: {voltage source: [a_1]}
  V_2: {voltage source: [a_2]}
  V_3: {voltage source: [a_3]}
  F:   {force source: [x]}
"""


def drives() -> tuple[Model, Model]:
    """The drive of parts, and the same by hand; a name `part_name` stands for `part.name` there."""
    flat = (Path(__file__).parent / "feed_drive_flat.yaml").read_text(encoding="utf-8")
    return read_model(PARTS), read_model(flat)


WHOLE, PLAIN = (tg.derive(model) for model in drives())


def plain(name: str) -> str:
    """The name that the flat drive has for it."""
    return name.replace(".", "_")


def test_the_drives_have_the_same_record() -> None:
    one, two = (str(system.to_json()) for system in (WHOLE, PLAIN))
    assert one.replace("__", "_") == two
    same_transfer(*drives(), at={"theta": 0.3})


def test_the_equations_are_equal_as_formulas() -> None:
    names = {*WHOLE.parameters, *WHOLE.states, *WHOLE.inputs, *WHOLE.displacements, *WHOLE.where}
    renamed = {name: symbol(plain(name)) for name in names}
    assert [e.substitute(renamed) for e in WHOLE.entries()] == PLAIN.entries()
    assert {plain(n): e.substitute(renamed) for n, e in WHOLE.where.items()} == PLAIN.where


@given(st.data())
def test_the_equations_are_equal_at_any_point(data: st.DataObject) -> None:
    """Up to rounding: sums are taken in the order of their names, and names differ."""
    sizes = st.floats(0.1, 10)
    known = {name: data.draw(sizes, label=name) for name in [*WHOLE.parameters, *WHOLE.states, *WHOLE.displacements]}
    known |= {name: data.draw(sizes, label=name) for name in WHOLE.inputs}
    there = {plain(name): value for name, value in known.items()}
    assert entries(WHOLE, known) == pytest.approx(entries(PLAIN, there), rel=1e-12, abs=1e-12)


def entries(system: EquationSystem, known: dict[str, float]) -> list[float]:
    everything = dict(known)
    for name, expression in system.where.items():
        everything[name] = expression.evaluate(everything)
    return [expression.evaluate(everything) for expression in system.entries()]


def test_the_trajectories_are_equal() -> None:
    tones = {f"V_{k}": tg.sine(20.0, 5.0, phase=-2.0943951 * (k - 1)) for k in (1, 2, 3)}
    runs = [tg.simulate(m, until=0.3, rtol=1e-9, inputs={**tones, "F": -30.0}) for m in drives()]
    moved = np.abs(runs[0].values("screw.v")).max()
    assert moved > 1e-3
    for name in (*runs[0].state_names, "motor.theta", "screw.v"):
        one, two = runs[0].values(name), runs[1].values(plain(name))
        assert one == pytest.approx(two, rel=1e-9, abs=1e-9 * np.abs(two).max())
    assert runs[0].energy.residual == pytest.approx(runs[1].energy.residual, abs=1e-9)
