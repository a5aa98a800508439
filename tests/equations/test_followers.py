"""Laws, moduli and rates that read variables of other elements, which follow from states and inputs, or from themselves."""

import pytest

import tellegen as tg
from tellegen.equations.system import EquationSystem
from tellegen.notations.reading import read_model

CIRCLE = read_model(
    """
system: resistor that reads the current which it decides
parameters: {R_1: 1 ohm, R_2: 2 ohm, R_3: 3 ohm, k: 0.5 A^-1, C: 1 mF, v_0: 1 V, i_0: 1 A}
network:
  V:   {voltage source: [a, gnd]}
  R_1: {resistor: [a, b]}
  R_2: {resistor: [b, gnd], law: i = i_0*(1 + k*abs(i_3))*tanh(v/v_0)}
  R_3: {resistor: [b, c], current: i_3}
  C:   {capacitor: [c, gnd]}
experiment: {until: 10 ms, inputs: {V: 5 V}}
"""
)


def undefined(system: EquationSystem) -> set[str]:
    known = {*system.states, *system.inputs, *system.parameters, *system.where, *system.displacements}
    entries = [*system.entries(), *system.displacements.values()]
    return {name for e in entries for name in e.free_symbols} - known - {*system.algebraic.unknowns}


def test_a_law_that_decides_what_it_reads_leaves_an_unknown() -> None:
    system = tg.derive(CIRCLE)
    assert set(system.algebraic.unknowns) == {"V_R_2", "i_3"}
    assert not undefined(system)


def test_the_unknowns_are_those_of_the_compiled_model() -> None:
    system, run = tg.derive(CIRCLE), tg.simulate(CIRCLE)
    names = ("V_C", "V", "V_R_2", "i_3")
    end = {**run.parameters, **{name: float(run[name][-1]) for name in names}}
    assert [e.evaluate(end) for e in system.algebraic.residuals] == pytest.approx([0.0, 0.0], abs=1e-9)
