"""Who decides what in small networks that an engineer would draw, and what is said when nobody or two would."""

import random

import pytest

from support.networks import (
    Network,
    Part,
    agree,
    causality,
    deciding,
    element,
    equations,
    integral,
    law,
    model,
    network,
)
from tellegen.causality.exact import demands, exact_causality, generic_residue
from tellegen.core.errors import CausalityError, EquationError, Finding, TellegenError
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model

V = ("V", "voltage source", "a", "gnd")
I = ("I", "current source", "gnd", "a")  # noqa: E741
R = ("R", "resistor", "a", "gnd")
TORQUE = ("T", "torque source", "frame", "s")
INERTIA = ("J", "inertia", "s", "frame")
LOAD = ("b", "friction", "l", "frame")


def refused(of: Model | Network) -> Finding:
    with pytest.raises(TellegenError) as caught:
        equations(of)
    assert len(caught.value.findings) == 1
    return caught.value.finding


def locked(of: Model | Network) -> Finding:
    """The warning about storages that stand still, in a model that is derived all the same."""
    equations(of)
    return next(finding for finding in causality(of).findings if finding.code == "K206")


def notices(of: Model | Network) -> list[str]:
    return [finding.what for finding in causality(of).findings]


# -- storages that depend on each other ----------------------------------------------------------------------------------------


def test_two_capacitors_in_parallel_leave_one_in_derivative_causality() -> None:
    pair = network(I, ("C_1", "capacitor", "a", "gnd"), ("C_2", "capacitor", "a", "gnd"))
    causal = causality(pair)
    assert integral(causal) == {"C_1"}
    assert [(d.port, d.on) for d in causal.dependent] == [(2, (1,))]
    assert notices(pair) == ["'C_2' is in derivative causality: V_C_2 depends on 'C_1'"]
    assert [path.kind for path in causal.paths] == ["storage-storage"]
    assert agree(equations(pair).matrices["L"], [["C_1 + C_2"]])


def test_inductors_in_series_share_one_current() -> None:
    line = network(V, ("L_1", "inductor", "a", "b"), ("L_2", "inductor", "b", "gnd"))
    assert integral(causality(line)) == {"L_2"}  # grounded before floating
    assert agree(equations(line).matrices["L"], [["L_1 + L_2"]])


def test_a_star_of_inductors_keeps_all_but_one() -> None:
    star = network(
        V,
        ("R_1", "resistor", "a", "b"),
        ("R_2", "resistor", "a", "c"),
        ("L_1", "inductor", "b", "m"),
        ("L_2", "inductor", "c", "m"),
        ("L_3", "inductor", "m", "gnd"),
    )
    causal = causality(star)
    assert integral(causal) == {"L_1", "L_3"}
    names = [port.element for port in causal.graph.ports]
    assert [sorted(names[k] for k in d.on) for d in causal.dependent] == [["L_1", "L_3"]]
    assert agree(equations(star).matrices["L"], [["L_1 + L_2", "-L_2"], ["-L_2", "L_2 + L_3"]])


def test_inertias_on_both_sides_of_a_gear_count_once() -> None:
    geared = network(TORQUE, INERTIA, ("n", "gear", "s", "frame", "l", "frame"), ("J_l", "inertia", "l", "frame"), LOAD)
    system = equations(geared)
    assert system.states == ("omega_J",)
    assert agree(system.matrices["L"], [["J + J_l/n^2"]])
    assert agree(system.matrices["A"], [["b/n^2"]])
    assert causality(geared).method == "elimination"


def test_a_capacitor_across_a_source_brings_the_derivative_of_the_input() -> None:
    stiff = network(V, R, ("C", "capacitor", "a", "gnd"))
    system = equations(stiff)
    assert system.states == ()
    assert agree(system.matrices["D"], [["1/R"]])
    assert agree(system.matrices["D_1"], [["C"]])
    assert notices(stiff) == ["'C' follows the source 'V': the equations contain the derivative of the input"]
    assert [path.kind for path in causality(stiff).paths] == ["source-storage"]


def test_a_loop_of_capacitors_with_a_source_brings_the_derivative_into_both_equations() -> None:
    loop = network(V, ("C_1", "capacitor", "a", "b"), ("C_2", "capacitor", "b", "gnd"), ("R", "resistor", "b", "gnd"))
    system = equations(loop)
    assert system.states == ("V_C_2",)
    assert agree(system.matrices["L"], [["C_1 + C_2"]])
    assert agree(system.matrices["B_1"], [["C_1"]])
    assert not system.is_zero("D_1")
    assert system.is_zero("B")


def test_an_inductor_that_nothing_returns_through_is_always_without_current() -> None:
    bridge = network(V, R, ("L", "inductor", "a", "b"), ("C", "capacitor", "b", "c"), ("R_2", "resistor", "b", "c"))
    assert "'L' is in derivative causality: I_L is always zero" in notices(bridge)
    assert equations(bridge).states == ("V_C",)


def test_the_same_inductor_between_two_isolated_halves_is_no_locked_loop() -> None:
    isolated = network(
        V, ("n", "transformer", "a", "gnd", "b", "c"), ("R", "resistor", "b", "c"), ("L", "inductor", "gnd", "c")
    )
    assert "'L' is in derivative causality: I_L is always zero" in notices(isolated)


# -- ties ----------------------------------------------------------------------------------------------------------------------


def test_a_grounded_storage_is_preferred_to_a_floating_one() -> None:
    loop = network(
        I,
        ("A", "capacitor", "a", "b"),
        ("B", "capacitor", "a", "gnd"),
        ("C", "capacitor", "b", "gnd"),
        ("R", "resistor", "b", "gnd"),
    )
    assert integral(causality(loop)) == {"B", "C"}


def test_among_equals_the_name_decides_and_not_the_order_of_lines() -> None:
    lines = [I, ("B", "capacitor", "a", "gnd"), ("A", "capacitor", "a", "gnd"), R]
    assert integral(causality(network(*lines))) == integral(causality(network(*lines[::-1]))) == {"A"}


def test_rows_follow_the_order_of_description() -> None:
    lines = [("L", "inductor", "a", "b"), V, ("C", "capacitor", "b", "gnd")]
    assert equations(network(*lines)).states == ("I_L", "V_C")
    assert equations(network(*lines[::-1])).states == ("V_C", "I_L")


# -- what the user asks for ----------------------------------------------------------------------------------------------------


def test_a_preference_decides_between_equal_storages() -> None:
    source = element("I", "current source", "gnd", "a")
    plain = element("C_1", "capacitor", "a", "gnd")
    assert integral(causality(model(source, plain, element("C_2", "capacitor", "a", "gnd", prefer="across")))) == {
        "C_2"
    }
    follower = element("C_1", "capacitor", "a", "gnd", prefer="through")
    assert integral(causality(model(source, follower, element("C_2", "capacitor", "a", "gnd")))) == {"C_2"}


def test_a_preference_costs_no_state() -> None:
    system = equations(
        model(
            element("V", "voltage source", "a", "gnd"),
            element("R", "resistor", "a", "b"),
            element("C", "capacitor", "b", "gnd", prefer="through"),
        )
    )
    assert system.states == ("V_C",)


def test_a_resistive_element_may_prefer_its_causality() -> None:
    def divider(prefer: str) -> dict[str, str]:
        return dict(
            deciding(
                causality(
                    model(
                        element("V", "voltage source", "a", "gnd"),
                        element("R_1", "resistor", "a", "b", prefer="through" if prefer == "R_1" else None),
                        element("R_2", "resistor", "b", "gnd", prefer="through" if prefer == "R_2" else None),
                    )
                )
            )
        )

    assert divider("R_1") == {"V": "across", "R_1": "through", "R_2": "across"}
    assert divider("R_2") == {"V": "across", "R_1": "across", "R_2": "through"}


def test_a_forced_storage_wins_over_an_equal_one() -> None:
    pair = model(
        element("I", "current source", "gnd", "a"),
        element("C_1", "capacitor", "a", "gnd", prefer="through", forced=True),
        element("C_2", "capacitor", "a", "gnd"),
    )
    assert integral(causality(pair)) == {"C_2"}


def test_a_forced_causality_against_a_source_names_the_source() -> None:
    finding = refused(
        model(
            element("V", "voltage source", "a", "gnd"),
            element("C", "capacitor", "a", "gnd", prefer="across", forced=True),
            element("R", "resistor", "a", "gnd"),
        )
    )
    assert finding.code == "K102"
    assert finding.what == "'C' would have to follow: its voltage is decided by 'V'"
    assert finding.fix == "put a resistive element or a storage in series with 'C', or remove one of 'C', 'V'"


def test_an_independent_storage_cannot_be_forced_to_follow() -> None:
    with pytest.raises(EquationError) as caught:
        equations(
            model(
                element("V", "voltage source", "a", "gnd"),
                element("R", "resistor", "a", "b"),
                element("C", "capacitor", "b", "gnd", prefer="through", forced=True),
            )
        )
    assert caught.value.code == "E101"
    assert "'C'" in caught.value.what


# -- conflicts -----------------------------------------------------------------------------------------------------------------


def test_two_voltage_sources_in_parallel_are_named_both() -> None:
    finding = refused(network(V, ("W", "voltage source", "a", "gnd"), R))
    assert (finding.code, finding.where, finding.members) == ("K101", "W", ("W", "V"))
    assert finding.what == "'W' cannot impose its voltage: 'V' decides it already"
    assert finding.fix == "put a resistive element or a storage in series with 'W', or remove one of 'W', 'V'"


def test_two_current_sources_in_series_are_named_both() -> None:
    finding = refused(network(I, ("K", "current source", "a", "b"), ("R", "resistor", "b", "gnd")))
    assert (finding.code, finding.members) == ("K101", ("K", "I"))
    assert finding.what == "'K' cannot impose its current: 'I' decides it already"
    assert "in parallel with 'K'" in finding.fix


def test_a_loop_of_three_sources_names_all_of_them() -> None:
    finding = refused(network(V, ("W", "voltage source", "a", "b"), ("X", "voltage source", "b", "gnd"), R))
    assert finding.code == "K101"
    assert set(finding.members) == {"V", "W", "X"}
    assert "decide it already" in finding.what


def test_two_speed_sources_on_one_gear_contradict_each_other() -> None:
    finding = refused(
        network(
            ("w", "speed source", "s", "frame"),
            ("n", "gear", "s", "frame", "l", "frame"),
            ("v", "speed source", "l", "frame"),
            LOAD,
        )
    )
    assert finding.code == "K101"
    assert finding.what == "'w' cannot impose its angular velocity: 'v' decides it already"


def test_gears_of_unequal_ratio_in_parallel_lock_what_they_join() -> None:
    finding = locked(
        network(
            TORQUE,
            INERTIA,
            ("g_1", "gear", "s", "frame", "l", "frame"),
            ("g_2", "gear", "s", "frame", "l", "frame"),
            LOAD,
        )
    )
    assert finding.what == "'J' is locked: the ratios of 'g_1', 'g_2' do not agree"
    assert set(finding.members) == {"J", "g_1", "g_2"}


@pytest.mark.parametrize("valued", [False, True])
def test_gears_of_equal_ratio_in_parallel_share_their_load_in_no_definite_way(valued: bool) -> None:
    """Equal by name, or by the given numbers."""
    names = ("n_1", "n_2") if valued else ("n", "n")
    two = "s", "frame", "l", "frame"
    line = network(TORQUE, INERTIA, LOAD)
    gears = [Part(f"g_{k}", "gear", two, line.parts[0].value, name) for k, name in enumerate(names)]
    finding = refused(Network((*line.parts, *gears), valued))
    assert finding.code == "K105"
    assert finding.what == "what circulates between 'g_0', 'g_1' is not determined: their ratios agree"


def test_only_the_couplings_of_the_loop_are_named() -> None:
    finding = locked(
        network(
            TORQUE,
            INERTIA,
            ("g_1", "gear", "s", "frame", "l", "frame"),
            ("g_2", "gear", "s", "frame", "l", "frame"),
            ("g_3", "gear", "l", "frame", "o", "frame"),
            ("b", "friction", "o", "frame"),
        )
    )
    assert set(finding.members) == {"J", "g_1", "g_2"}


def test_coulomb_friction_on_a_force_source_has_no_speed() -> None:
    finding = refused(
        model(
            element("F", "force source", "frame", "m"),
            element("c", "damper", "m", "frame", law=law("resistive", "v", "F_c*sign(v)", "through")),
        )
    )
    assert finding.code == "K103"
    assert finding.what == "'c' would have to follow: its force is decided by 'F'"
    assert (
        finding.why
        == "a law that stays level, jumps or turns back has one value for every argument, but not one argument for every value"
    )


def test_coulomb_friction_behind_a_spring_is_refused_for_its_law() -> None:
    finding = refused(
        model(
            element("v", "velocity source", "a", "frame"),
            element("K", "spring", "a", "b"),
            element("c", "damper", "b", "frame", law=law("resistive", "v", "F_c*sign(v)", "through")),
        )
    )
    assert finding.code == "K103"
    assert finding.what == "'K' and 'c' both decide the force, and 'c' cannot follow"


def test_coulomb_friction_on_a_mass_is_told_its_speed() -> None:
    causal = causality(
        model(
            element("F", "force source", "frame", "m"),
            element("m", "mass", "m", "frame"),
            element("c", "damper", "m", "frame", law=law("resistive", "v", "F_c*sign(v)", "through")),
        )
    )
    assert deciding(causal)["c"] == "through"
    assert integral(causal) == {"m"}


def test_all_conflicts_are_reported_at_once() -> None:
    with pytest.raises(CausalityError) as caught:
        causality(network(V, ("W", "voltage source", "a", "gnd"), ("X", "voltage source", "a", "gnd"), R))
    assert [finding.where for finding in caught.value.findings] == ["W", "X"]


# -- loops of resistive elements -----------------------------------------------------------------------------------------------


def test_resistors_between_a_source_and_ground_are_solved_together() -> None:
    divider = network(
        V, ("R_1", "resistor", "a", "b"), ("R_2", "resistor", "b", "gnd"), ("R_3", "resistor", "a", "gnd")
    )
    causal = causality(divider)
    assert [path.members for path in causal.paths] == [("R_1", "R_2")]
    assert notices(divider) == ["2 resistive elements are solved together: 'R_1', 'R_2'"]


def test_a_capacitor_separates_resistors() -> None:
    rc = network(V, ("R_1", "resistor", "a", "b"), ("C", "capacitor", "b", "gnd"), ("R_2", "resistor", "b", "gnd"))
    assert causality(rc).paths == ()
    assert notices(rc) == []


def junction_loops(ratio: str, other: str) -> list[tuple[str, ...]]:
    """An autotransformer, which loops onto itself, and a plain transformer behind it."""
    causal = causality(
        model(
            element("V", "voltage source", "a", "gnd"),
            element("t", "transformer", "a", "b", "b", "gnd", value=ratio),
            element("R", "resistor", "b", "d"),
            element("u", "transformer", "d", "gnd", "e", "gnd", value=other),
            element("C", "capacitor", "e", "gnd"),
            element("G", "conductance", "e", "gnd"),
        )
    )
    return [path.members for path in causal.paths if path.kind == "junction loop"]


def test_an_autotransformer_is_a_solvable_loop_inside_the_junction_structure() -> None:
    assert junction_loops("n", "k") == [("t",)]


def test_a_coupling_that_shares_only_its_parameter_is_no_member_of_a_junction_loop() -> None:
    assert junction_loops("n", "n") == [("t",)]


def test_a_junction_loop_is_seen_where_the_modulus_is_a_number() -> None:
    assert junction_loops("2", "k") == [("t",)]


def test_junction_loops_do_not_depend_on_the_order_of_lines() -> None:
    parallel = [(name, "transformer", "gnd", "b", "gnd", "c") for name in ("s", "t")]
    sources = [("V", "voltage source", "gnd", "f"), ("C_1", "capacitor", "f", "gnd")]
    coils = [(f"L_{k}", "inductor", node, "gnd") for k, node in enumerate("aaabc")]
    loose = [("C_2", "capacitor", "d", "gnd"), ("C_3", "capacitor", "gnd", "d")]
    lines = [*coils, *sources, *parallel, ("u", "transformer", "gnd", "a", "gnd", "b"), *loose]

    def loops(seed: int) -> frozenset[frozenset[str]]:
        causal = causality(network(*random.Random(seed).sample(lines, len(lines))))
        return frozenset(frozenset(path.members) for path in causal.paths if path.kind == "junction loop")

    assert len({loops(seed) for seed in range(40)}) == 1


# -- size ----------------------------------------------------------------------------------------------------------------------


def ladder(sections: int) -> Network:
    parts = [("V", "voltage source", "n0", "gnd")]
    for k in range(sections):
        parts += [(f"R{k}", "resistor", f"n{k}", f"n{k + 1}"), (f"C{k}", "capacitor", f"n{k + 1}", "gnd")]
    return network(*parts)


def grid(n: int) -> Network:
    """Resistors along rows, inductors along columns, a capacitor at every node."""
    parts = [("I", "current source", "gnd", "n0_0")]
    for i in range(n):
        for j in range(n):
            parts.append((f"C{i}_{j}", "capacitor", f"n{i}_{j}", "gnd"))
            if j + 1 < n:
                parts.append((f"R{i}_{j}", "resistor", f"n{i}_{j}", f"n{i}_{j + 1}"))
            if i + 1 < n:
                parts.append((f"L{i}_{j}", "inductor", f"n{i}_{j}", f"n{i + 1}_{j}"))
    return network(*parts)


def resistive_grid(n: int) -> Network:
    parts = [("I", "current source", "gnd", "n0_0"), ("C", "capacitor", f"n{n - 1}_{n - 1}", "gnd")]
    for i in range(n):
        for j in range(n):
            parts += [(f"R{i}_{j}", "resistor", f"n{i}_{j}", f"n{i}_{j + 1}")] if j + 1 < n else []
            parts += [(f"G{i}_{j}", "conductance", f"n{i}_{j}", f"n{i + 1}_{j}")] if i + 1 < n else []
    return network(*parts)


@pytest.mark.parametrize("large", [ladder(500), grid(30), resistive_grid(30)], ids=["ladder", "grid", "resistive grid"])
def test_large_networks_take_the_normal_tree_and_agree_with_elimination(large: Network) -> None:
    graph = lower(large.model())
    causal = causality(large)
    assert causal.method == "normal tree"
    assert exact_causality(graph, demands(graph), generic_residue).decides == causal.decides


def test_a_ladder_keeps_all_its_states_and_has_no_loop() -> None:
    causal = causality(ladder(500))
    assert len(causal.integral) == 500
    assert causal.paths == ()


def test_a_resistive_grid_is_one_loop() -> None:
    causal = causality(resistive_grid(30))
    assert [len(path.members) for path in causal.paths] == [2 * 30 * 29]


GYRATOR = """\
system: gyrator as a field
parameters: {r: 2 ohm, R: 1 ohm}
network:
  I:   {current source: [gnd, a]}
  X_1: {%s}
  X_2: {%s}
  g:   {resistor field: [a, gnd, b, gnd], matrix: [[0, r], [-r, 0]]}
  R:   {resistor: [b, gnd]}
"""


def test_a_field_that_only_passes_power_on_makes_nothing_zero() -> None:
    """Its diagonal is zero, as that of an ideal switch, but its ports decide for each other."""
    text = GYRATOR % ("capacitor: [a, gnd], C: 1 F", "capacitor: [b, gnd], C: 1 F")
    system = equations(read_model(text))
    assert system.states == ("V_X_1", "V_X_2")
    assert agree(system.matrices["A"], [["0", "-1/r"], ["1/r", "1/R"]])


def test_storages_that_a_field_joins_rigidly_are_refused() -> None:
    """The voltage of the capacitor is r times the current of the inductor, whatever else happens."""
    text = "system: x\nparameters: {r: 2 ohm}\nnetwork:\n  V: {voltage source: [c, gnd]}\n  C: {capacitor: [a, gnd], C: 1 F}\n"
    text += "  L: {inductor: [c, b], L: 1 H}\n  g: {resistor field: [a, gnd, b, gnd], matrix: [[0, r], [-r, 0]]}\n"
    with pytest.raises(EquationError) as caught:
        equations(read_model(text))
    finding = caught.value.findings[0]
    assert finding.code == "E103"
    assert "a field that only passes power on is a connection" in finding.fix
