"""Inversion of paths, orientations, Mason's rule and pictures of a reduction, against the blocks solved with numbers."""

from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import assume, given

import tellegen as tg
from schemes.answers import Array, answer_at, signals_at
from schemes.comparing import causal_of, written_out
from support.networks import agree
from support.pog_texts import Pog, pogs
from tellegen.core.errors import GraphError, TellegenError
from tellegen.equations.derivation import derive_equations
from tellegen.equations.system import EquationSystem, MatrixName
from tellegen.expressions import is_zero, parse
from tellegen.notations.reading import read_model
from tellegen.schemes import (
    PogScheme,
    change_sign,
    check_signs,
    elementary_loops,
    flip,
    invert_path,
    orientations,
    path_gains,
    pog,
    reduce_loop,
    reduction_pictures,
    split_scheme,
    switch_signs,
)
from tellegen.schemes.algebra.signal_paths import Loop, port_paths

Found = TypeVar("Found")
POINTS = (0.3, 2.0, 17.0)


def scheme_of(text: str) -> PogScheme:
    return pog(causal_of(text))


def two(first: str, second: str) -> PogScheme:
    """Two electrical elements between two sections, each with the source that its junction takes."""
    given = ["V" if line.startswith("series") else "I" for line in (first, second)]
    ends = [f"  - section: {{across: V_{k}, through: I_{k}, given: [{side}_{k}]}}\n" for k, side in enumerate(given, 1)]
    return scheme_of(f"system: two\npog:\n  - domain: electrical\n{ends[0]}  - {first}\n  - {second}\n{ends[1]}")


def values_of(scheme: PogScheme) -> dict[str, float]:
    """A number for each parameter, none like another."""
    return {name: 0.5 + 0.37 * k for k, name in enumerate(scheme.causal.graph.parameters)}


def assert_same_answers(one: PogScheme, two: PogScheme, values: Mapping[str, float]) -> None:
    assert (one.inputs, [o.signal for o in one.outputs]) == (two.inputs, [o.signal for o in two.outputs])
    for s in POINTS:
        np.testing.assert_allclose(answer_at(two, s, values), answer_at(one, s, values), rtol=1e-8, atol=1e-12)


def exchanged(answer: Array, k: int) -> Array:
    """The answers once input k and output k have changed places."""
    n = len(answer)
    others = [j for j in range(n) if j != k]
    found = np.zeros_like(answer)
    found[k, k] = 1 / answer[k, k]
    found[k, others] = -answer[k, others] / answer[k, k]
    found[others, k] = answer[others, k] / answer[k, k]
    found[np.ix_(others, others)] = answer[np.ix_(others, others)] - np.outer(found[others, k], answer[k, others])
    return found


def assert_exchanged(one: PogScheme, two: PogScheme, k: int, values: Mapping[str, float]) -> None:
    signs = np.array([o.sign for o in one.outputs], dtype=float)
    for s in POINTS:
        before = signs[:, None] * answer_at(one, s, values)
        after = signs[:, None] * answer_at(two, s, values)
        np.testing.assert_allclose(after, exchanged(before, k), rtol=1e-7, atol=1e-10)


def attempted(step: Callable[[], Found]) -> tuple[Found | None, str]:
    """What a step gives, or the code of its refusal."""
    try:
        return step(), ""
    except GraphError as error:
        return None, error.code


def loop_of(scheme: PogScheme, *blocks: str) -> Loop:
    return next(loop for loop in elementary_loops(scheme) if set(loop.blocks) == set(blocks))


@pytest.fixture
def motor_pump() -> PogScheme:
    return tg.pog(tg.load("dc_motor_pump"))


# -- inversion -----------------------------------------------------------------------------------------------------------------


def test_the_loop_of_the_lecture_inverted(motor_pump: PogScheme) -> None:
    found = invert_path(motor_pump, loop_of(motor_pump, "J_m", "b_m"), derivative=True)
    assert found.account == "inverted the loop through b_m, J_m; J_m in derivative causality"
    inertia, friction = found.scheme.blocks["J_m"], found.scheme.blocks["b_m"]
    assert (inertia.kind, inertia.input, inertia.output) == ("derivative", "omega_m", "tau_J_m")
    assert (inertia.input_unit, inertia.output_unit) == ("rad/s", "N*m")
    assert friction.gain is not None
    assert agree([[friction.gain]], [["1/b_m"]])
    assert found.scheme.states == ("L_a", "C_0")
    assert check_signs(found.scheme).consistent
    assert_same_answers(motor_pump, found.scheme, values_of(motor_pump))


def test_a_loop_inverted_twice_is_the_scheme_itself(motor_pump: PogScheme) -> None:
    loop = loop_of(motor_pump, "J_m", "b_m")
    once = invert_path(motor_pump, loop, derivative=True).scheme
    twice = invert_path(once, (*loop.signals[::-1], loop.signals[-1]), derivative=True).scheme
    assert twice.blocks == motor_pump.blocks
    assert twice.sections == motor_pump.sections
    assert twice.states == motor_pump.states
    assert twice.causal.decides == motor_pump.causal.decides
    assert {n: set(s.inputs) for n, s in twice.summations.items()} == {
        n: set(s.inputs) for n, s in motor_pump.summations.items()
    }


def test_an_input_and_its_output_change_places(motor_pump: PogScheme) -> None:
    found = invert_path(motor_pump, ["V_a", "V_L_a", "I_a"], derivative=True)
    assert found.account == (
        "inverted the path V_a to I_a through L_a: I_a is the input now; L_a in derivative causality"
    )
    assert found.scheme.inputs == ("I_a", "Q_0")
    assert found.scheme.outputs[0].signal == "V_a"
    assert found.scheme.elements["V_a"].kind == "Sf"
    assert_exchanged(motor_pump, found.scheme, 0, values_of(motor_pump))
    behind = derive_equations(found.scheme.causal)
    assert behind.states == ("omega_m", "P_0")
    assert not behind.is_zero("D_1")  # the voltage over the inductor is the rate of its current


def test_strokes_follow_the_inversion(motor_pump: PogScheme) -> None:
    found = invert_path(motor_pump, loop_of(motor_pump, "J_m", "b_m"), derivative=True).scheme
    assert found.bond_graph is not None
    for bond in found.bond_graph.bonds:
        for end in (bond.tail, bond.head):
            if end in found.elements:
                assert bond.brings(end) == found.elements[end].decides
    for name, junction in found.bond_graph.junctions.items():
        assert sum(b.receives(name) == junction.shares for b in found.bond_graph.bonds_of(name)) == 1


@pytest.mark.parametrize(
    ("path", "code", "text"),
    [
        (["omega_n", "tau_b_m"], "G206", "did you mean 'omega_m'"),
        (["V_a", "omega_m"], "G209", "no line leads from 'V_a' to 'omega_m'"),
        (["V_a", "omega_m"], "G209", "from 'V_a' lines lead to V_L_a"),
        (["V_a"], "G209", "each once"),
        (["V_a", "V_L_a", "I_a"], "G210", "'L_a' is a storage: inverted, it would differentiate 'I_a'"),
        (["V_a", "V_L_a", "I_a"], "G210", "ask for derivative causality"),
        (["I_a", "V_R_a"], "G210", "leads from no input to its own output"),
        (["I_a", "V_R_a"], "G210", "V_a -> I_a, Q_0 -> P_0"),
    ],
)
def test_refused_inversions(motor_pump: PogScheme, path: list[str], code: str, text: str) -> None:
    with pytest.raises(GraphError) as error:
        invert_path(motor_pump, path)
    assert error.value.code == code
    assert text in str(error.value)


def test_a_loop_of_two_elements_of_a_vector_block_is_inverted(motor_pump: PogScheme) -> None:
    whole = pog(motor_pump.causal, vectorial=True)
    values = values_of(whole)
    static = [loop for loop in elementary_loops(whole) if {"J_m", "b_m"} <= set(loop.blocks) and len(loop.blocks) == 2]
    found = invert_path(whole, static[0], derivative=True)
    assert found.account.endswith("J_m in derivative causality")
    assert found.scheme.vector is not None
    assert found.scheme.vector.states == ("I_a", "P_0")
    assert_same_answers(whole, found.scheme, values)


def test_a_path_through_more_than_two_elements_of_a_mesh_is_not_inverted() -> None:
    whole = pog(causal_of(MESH), vectorial=True)
    long = next(loop for loop in elementary_loops(whole) if len(set(loop.blocks)) > 3)
    with pytest.raises(GraphError, match="leads through more than two elements of a mesh") as error:
        invert_path(whole, long, derivative=True)
    assert error.value.code == "G210"


MESH = """
system: three capacitors and a delta
network:
  I: {current source: [gnd, a]}
  C_1: {capacitor: [a, gnd], C: 1 F}
  C_2: {capacitor: [b, gnd], C: 2 F}
  C_3: {capacitor: [c, gnd], C: 3 F}
  L_1: {inductor: [a, b], L: 1 H}
  L_2: {inductor: [b, c], L: 2 H}
  L_3: {inductor: [c, a], L: 3 H}
"""


def test_a_law_that_can_be_inverted_is_asked_backwards() -> None:
    text = (
        "system: x\nparameters: {r: 1, c: 2, L: 1}\nnetwork:\n  V: {voltage source: [a, gnd]}\n"
        "  R: {resistor: [a, b], law: v = r*i + c*i^3}\n  L: {inductor: [b, gnd]}\n"
    )
    scheme = scheme_of(text)
    found = invert_path(scheme, loop_of(scheme, "R", "L"), derivative=True).scheme
    assert (found.blocks["R"].input, found.blocks["R"].output) == (scheme.blocks["R"].output, scheme.blocks["R"].input)
    assert found.blocks["R"].law == scheme.blocks["R"].law
    turning = scheme_of(text.replace("r*i + c*i^3", "c*i^2"))
    with pytest.raises(GraphError, match="the law of 'R' has no inverse"):
        invert_path(turning, loop_of(turning, "R", "L"), derivative=True)


trees = pogs(lanes=1)


def legal(drawn: Pog) -> tuple[PogScheme, dict[str, float]]:
    """The ladder of a drawn text; those without equations are passed over."""
    try:
        causal = causal_of(drawn.text)
        derive_equations(causal)
    except TellegenError:
        assume(False)
        raise
    assume(all(dependence.on for dependence in causal.dependent))
    scheme = pog(causal, derivative=True)
    assume(scheme.ladders and all(block.gain is not None for block in scheme.blocks.values()))
    return scheme, {name: float(value) for name, value in drawn.values.items()}


@given(trees)
def test_any_loop_may_be_inverted_where_derivatives_are_allowed(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    for loop in elementary_loops(scheme)[:6]:
        found = invert_path(scheme, loop, derivative=True).scheme
        assert_same_answers(scheme, found, values)
        assert check_signs(found).consistent
        assert found.states == tuple(n for n, b in found.elements.items() if b.causality == "integral")
        if {scheme.blocks[name].kind for name in loop.blocks} <= {"static", "connection"}:
            one, two = derive_equations(scheme.causal), derive_equations(found.causal)
            for row, line in zip(one.matrices["A"], two.matrices["A"], strict=True):
                for a, b in zip(row, line, strict=True):
                    # Which resistor decides does not matter to the equations.
                    assert is_zero(written_out(one, a) - written_out(two, b))


@given(trees)
def test_any_input_may_change_places_with_its_output(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    for name, path in port_paths(scheme):
        k = scheme.inputs.index(name)
        found = invert_path(scheme, path.signals, derivative=True).scheme
        assert check_signs(found).consistent
        assert_exchanged(scheme, found, k, values)


@given(trees)
def test_what_may_be_drawn_otherwise_answers_alike(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    for orientation in orientations(scheme)[1:]:
        assert (orientation.scheme is None) == bool(orientation.why_not)
        if orientation.scheme is not None and orientation.signals[0] == orientation.signals[-1]:
            assert_same_answers(scheme, orientation.scheme, values)
        if orientation.scheme is not None:  # no state is lost
            assert set(scheme.states) <= set(orientation.scheme.states)


# -- orientations ----------------------------------------------------------------------------------------------------------------


def drawn_as(scheme: PogScheme) -> dict[str, str]:
    return {o.path: o.why_not.partition(":")[0] for o in orientations(scheme)}


def test_two_resistors_have_the_four_schemes_of_the_lecture() -> None:
    scheme = two("parallel: [R:R_1]", "series: [R:R_2]")
    found = orientations(scheme)
    assert [o.path for o in found] == [
        "as it is",
        "loop through R_1, R_2",
        "path from I_1 to V_1",
        "path from V_2 to I_2",
    ]
    assert all(o.scheme is not None for o in found)
    flipped = [o.upside_down for o in found]
    assert all(s is not None and {x.upper for x in s.sections.values()} == {"through"} for s in flipped)


def test_a_capacitor_and_a_resistor_allow_the_output_path_alone() -> None:
    assert drawn_as(two("parallel: [C:C_1]", "series: [R:R_1]")) == {
        "as it is": "",
        "loop through C_1, R_1": "'C_1' is a storage",
        "path from I_1 to V_1": "'C_1' is a storage",
        "path from V_2 to I_2": "",
    }


def test_two_storages_have_one_scheme_alone() -> None:
    found = drawn_as(two("parallel: [C:C_1]", "series: [L:L_2]"))
    assert [name for name, why_not in found.items() if not why_not] == ["as it is"]


def test_upside_down_changes_lines_and_nothing_else(motor_pump: PogScheme) -> None:
    flipped = flip(motor_pump)
    assert flipped.account == "turned upside-down"
    assert [s.variable(s.upper) for s in flipped.scheme.sections.values()][:2] == ["I_a", "I_a"]
    assert flip(flipped.scheme).scheme == motor_pump
    assert_same_answers(motor_pump, flipped.scheme, values_of(motor_pump))


@pytest.mark.parametrize("name", ["V_L_a", "tau_J_m_b_m", "Q_C_0"])
def test_all_signs_of_a_summation_may_be_switched(motor_pump: PogScheme, name: str) -> None:
    found = switch_signs(motor_pump, name)
    assert found.account == f"switched all signs of the summation of {name}"
    assert found.scheme.summations[name].inputs == tuple((n, -s) for n, s in motor_pump.summations[name].inputs)
    assert_same_answers(motor_pump, found.scheme, values_of(motor_pump))
    assert all(loop.odd for loop in elementary_loops(found.scheme))


def test_a_summation_that_is_not_there(motor_pump: PogScheme) -> None:
    with pytest.raises(GraphError, match="did you mean 'V_L_a'"):
        switch_signs(motor_pump, "V_La")


# -- Mason's rule ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "transfer"),
    [
        (("J_m", "b_m"), "1/(J_m*s + b_m)"),
        (("L_a", "R_a"), "1/(L_a*s + R_a)"),
        (("C_0", "alpha_p"), "1/(C_0*s + alpha_p)"),
    ],
)
def test_masons_rule_of_the_lecture(motor_pump: PogScheme, blocks: tuple[str, str], transfer: str) -> None:
    found = reduce_loop(motor_pump, loop_of(motor_pump, *blocks))
    block = found.scheme.blocks["_".join(blocks)]
    assert (block.kind, block.variable) == ("transfer", "s")
    assert block.gain is not None
    assert is_zero(block.gain - parse(transfer))
    assert found.account == f"reduced the loop through {', '.join(blocks)} to {block.gain}"
    assert len(found.scheme.sections) == len(motor_pump.sections) - 1
    assert [c.name for c in found.scheme.ladders[0].columns if c.name == block.name] == [block.name]
    assert check_signs(found.scheme).consistent
    assert_same_answers(motor_pump, found.scheme, values_of(motor_pump))
    whole = found.scheme.elements[block.element]
    assert [part.name for part in whole.parts] == list(blocks)
    assert not {*blocks} & {*found.scheme.elements}
    assert list(found.scheme.sources()) == list(motor_pump.sources())


def test_loops_are_reduced_one_after_the_other(motor_pump: PogScheme) -> None:
    scheme = motor_pump
    for blocks in (("J_m", "b_m"), ("L_a", "R_a"), ("C_0", "alpha_p")):
        scheme = reduce_loop(scheme, loop_of(scheme, *blocks)).scheme
    assert scheme.states == ()
    assert [c.name for c in scheme.ladders[0].columns] == ["L_a_R_a", "motor", "J_m_b_m", "pump", "C_0_alpha_p"]
    assert_same_answers(motor_pump, scheme, values_of(motor_pump))


def test_a_parameter_named_s_keeps_its_name() -> None:
    scheme = scheme_of(
        "system: x\nparameters: {s: 2, R: 3}\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b]}\n"
        "  L: {inductor: [b, gnd], L: s}\n"
    )
    block = reduce_loop(scheme, loop_of(scheme, "R", "L")).scheme.blocks["L_R"]
    assert block.variable == "s_2"


@pytest.mark.parametrize(
    ("blocks", "text"),
    [
        (("L_a", "motor", "J_m", "motor_transposed"), "are all used outside"),
        (("J_m", "pump", "C_0", "pump_transposed"), "are all used outside"),
    ],
)
def test_loops_that_are_no_transfer_function(motor_pump: PogScheme, blocks: tuple[str, ...], text: str) -> None:
    with pytest.raises(GraphError, match=text) as error:
        reduce_loop(motor_pump, loop_of(motor_pump, *blocks))
    assert error.value.code == "G211"


def test_transfer_blocks_have_no_state_equations(motor_pump: PogScheme) -> None:
    reduced = reduce_loop(motor_pump, loop_of(motor_pump, "J_m", "b_m")).scheme
    with pytest.raises(GraphError, match="J_m_b_m is a transfer function"):
        path_gains(reduced)


def test_paths_are_inverted_before_loops_are_reduced(motor_pump: PogScheme) -> None:
    reduced = reduce_loop(motor_pump, loop_of(motor_pump, "J_m", "b_m")).scheme
    with pytest.raises(GraphError, match="invert the path first"):
        invert_path(reduced, ["V_a", "V_L_a", "I_a"], derivative=True)


@given(trees)
def test_reduced_loops_answer_alike(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    for loop in elementary_loops(scheme)[:6]:
        found, code = attempted(partial(reduce_loop, scheme, loop))
        assert code in ("", "G211")
        if found is not None:
            assert_same_answers(scheme, found.scheme, values)


# -- pictures of a reduction ------------------------------------------------------------------------------------------------------


def test_pictures_of_the_lecture(motor_pump: PogScheme) -> None:
    found = reduction_pictures(motor_pump, "J_m")
    assert str(found).splitlines() == [
        "a) the loop omega_m -> tau_b_m -> tau_J_m_b_m -> tau_J_m -> omega_m",
        "b) inverted the loop through b_m, J_m; J_m in derivative causality",
        "c) 'J_m' vanishes: tau_J_m = 0",
    ]
    names = [column.name for column in found.simplified.ladders[0].columns]
    assert names == ["L_a", "R_a", "motor", "b_m", "pump", "C_0", "alpha_p"]
    assert "tau_b_m = C_m - C_p" in str(found.simplified)
    A, B = path_gains(found.simplified)
    assert agree(A, [["R_a + K_m^2/b_m", "-K_m*K_p/b_m"], ["-K_m*K_p/b_m", "alpha_p + K_p^2/b_m"]])
    assert agree(B, [["1", "0"], ["0", "1"]])
    reduced = tg.reduce("dc_motor_pump", {"J_m": 0}).equations
    assert reduced.matrices["A"] == A
    behind = derive_equations(found.simplified.causal)
    assert all(behind.matrices[name] == reduced.matrices[name] for name in ("L", "A", "B", "C", "D"))


@given(trees)
def test_pictures_end_where_the_storage_is_zero(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    for name in [n for n, b in scheme.blocks.items() if b.kind in ("storage", "derivative")]:
        found, code = attempted(partial(reduction_pictures, scheme, name))
        assert code in ("", "G212")
        if found is None:
            continue
        assert_same_answers(scheme, found.inverted, values)
        assert name not in found.simplified.blocks
        assert_small_limit(found.inverted, found.simplified, name, values)


def assert_small_limit(full: PogScheme, small: PogScheme, name: str, values: Mapping[str, float]) -> None:
    """The simplified scheme answers as the inverted one does with the coefficient of the storage at zero."""
    parameter = str(next(iter(full.blocks[name].gain.free_symbols)))  # type: ignore[union-attr]
    gain = full.blocks[name].gain
    assert gain is not None
    at_zero = 0.0 if gain.evaluate({**values, parameter: 2.0}) > gain.evaluate({**values, parameter: 1.0}) else 1e300
    for s in POINTS:
        try:
            known = signals_at(full, s, {**values, parameter: at_zero})
        except np.linalg.LinAlgError:
            continue  # the limit does not exist, which the reduction of equations tells
        left = signals_at(small, s, values)
        for signal, row in left.items():
            if signal in known:
                np.testing.assert_allclose(row, known[signal], rtol=1e-7, atol=1e-9)


@given(trees)
def test_pictures_end_with_the_equations_of_the_reduction(drawn: Pog) -> None:
    scheme, values = legal(drawn)
    model = read_model(drawn.text)
    for name in [n for n, b in scheme.blocks.items() if b.kind in ("storage", "derivative")]:
        found, _ = attempted(partial(reduction_pictures, scheme, name))
        gain = scheme.blocks[name].gain
        if found is None or gain is None:
            continue
        rising = gain.evaluate({**values, name: 2.0}) > gain.evaluate({**values, name: 1.0})
        vanishes = 0 if rising == (scheme.blocks[name].kind == "derivative") else inf
        try:
            expected = tg.reduce(model, {name: vanishes}).equations
        except TellegenError:
            continue  # the limit does not exist
        drawn_equations = derive_equations(found.simplified.causal)
        order = [drawn_equations.inputs.index(n) for n in expected.inputs]
        for s in POINTS:
            known = answer_of(drawn_equations, s, values)[np.ix_(order, order)]
            np.testing.assert_allclose(known, answer_of(expected, s, values), rtol=1e-7, atol=1e-9)


def answer_of(system: EquationSystem, s: float, values: Mapping[str, float]) -> Array:
    """C (s L + A)^-1 (B + s B_1) + D + s D_1."""
    known = {**system.values(), **values}
    n, m = len(system.states), len(system.inputs)

    def matrix(name: MatrixName, rows: int, columns: int) -> Array:
        entries = [[written_out(system, e).evaluate(known) for e in row] for row in system.matrices[name]]
        return np.array(entries, dtype=float).reshape(rows, columns)

    pencil = s * matrix("L", n, n) + matrix("A", n, n)
    driven = matrix("B", n, m) + s * matrix("B_1", n, m)
    direct = matrix("D", m, m) + s * matrix("D_1", m, m)
    found: Array = matrix("C", m, n) @ np.linalg.solve(pencil, driven) + direct
    return found


@pytest.mark.parametrize(
    ("element", "text"),
    [("J_n", "did you mean 'J_m'"), ("b_m", "'b_m' is no storage of the scheme")],
)
def test_what_has_no_pictures(motor_pump: PogScheme, element: str, text: str) -> None:
    with pytest.raises(GraphError, match=text) as error:
        reduction_pictures(motor_pump, element)
    assert error.value.code == "G212"


def test_a_storage_that_nothing_else_decides_has_no_pictures() -> None:
    scheme = scheme_of("system: x\nnetwork:\n  F: {force source: [frame, a]}\n  m: {mass: [a], m: 2 kg}\n")
    with pytest.raises(GraphError, match="add an element that decides"):
        reduction_pictures(scheme, "m")


def test_one_name_may_stand_alone(motor_pump: PogScheme) -> None:
    assert change_sign(motor_pump, "I_a") == change_sign(motor_pump, ["I_a"])
    assert split_scheme(motor_pump, "I_a") == split_scheme(motor_pump, ["I_a"])


THREE_PAIRS = """system: test
parameters: {p1: , p2: , k1: , p3: , p4: , k2: , p5: , p6: }
pog:
  - domain: [electrical]
  - section: [a1, t1]
  - series: [-C:p1]
  - series branch:
      - series: [-C:p2]
  - connect: k1
  - domain: [electrical]
  - series: [-C:p3]
  - series branch:
      - series: [-C:p4]
  - connect: k2
  - domain: [electrical]
  - series: [-C:p5]
  - series branch:
      - series: [-C:p6]
  - section: [a2, t2]
"""


@pytest.mark.parametrize("gone", ["p1", "p2"])
def test_storages_that_followed_each_other_become_integrators_together(gone: str) -> None:
    """Without p1, p3 and p5 lie on one loop, which no other storage interrupts."""
    found = reduction_pictures(pog(causal_of(THREE_PAIRS), derivative=True), gone)
    assert set(found.simplified.states) == {"p1", "p2", "p3", "p4", "p5", "p6"} - {gone}
    assert found.accounts[-1].endswith("p5, p3 in integral causality again")
