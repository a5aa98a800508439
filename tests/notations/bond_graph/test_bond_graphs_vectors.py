"""Vector bonds, matrix moduli and fields of bond graphs, against the same systems written bond by bond."""

from fractions import Fraction

import pytest

import tellegen
from support import exact
from support.evaluated import Evaluated
from support.networks import agree
from tellegen.equations.system import EquationSystem
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml

PMSM = """
system: Three-phase permanent magnet synchronous motor
parameters: {p: 3, R: 2.6 ohm, L_e: 10 mH, M_0: 8 mH, phi_c: 0.121 Wb, J: 4.1e-5 kg*m^2, b: 2e-4 N*m*s,
  K_1: -p*phi_c*sin(p*theta), K_2: -p*phi_c*sin(p*theta - 2*pi/3), K_3: -p*phi_c*sin(p*theta - 4*pi/3)}
displacements: {theta: omega}
bond graph:
  - Se:V_1 -> i[1]
  - Se:V_2 -> i[2]
  - Se:V_3 -> i[3]
  - 1[3]:i (electrical) -> R:R
  - i -> I:coils
  - i -> MGY:rotor -> 1:shaft (omega, rotational)
  - shaft -> I:J
  - shaft -> R:b
  - Se:tau -> shaft
elements:
  coils: {current: [I_1, I_2, I_3], matrix: [[L_e, -M_0/2, -M_0/2], [-M_0/2, L_e, -M_0/2], [-M_0/2, -M_0/2, L_e]]}
  rotor: {K: [[K_1, K_2, K_3]]}
"""


def derived(text: str) -> EquationSystem:
    found = tellegen.derive(read_model(text))
    assert isinstance(found, EquationSystem)
    return found


def kinds(model: Model) -> dict[str, str]:
    return {element.name: element.kind.name for element in model.elements}


def test_a_three_phase_motor_with_vector_bonds_has_the_record_of_its_network() -> None:
    assert derived(PMSM).to_json() == tellegen.derive("pmsm").to_json()


def test_a_vector_item_is_one_item_of_the_model() -> None:
    model = read_model(PMSM)
    assert model.vectors == {"R": ("R[1]", "R[2]", "R[3]")}
    assert [field.name for field in model.fields] == ["coils"]
    (coupling,) = lower(model).couplings
    assert (len(coupling.side_1), len(coupling.side_2)) == (3, 1)


def test_a_vector_source_has_an_input_for_each_component() -> None:
    system = derived("system: x\nbond graph:\n  - Se[2]:V -> 1:i (I, electrical)\n  - i -> I:L\n  - i -> R:R\n")
    assert system.inputs == ("V[1]", "V[2]")
    assert system.states == ("I[1]", "I[2]")
    assert {name for row in system.matrices["A"] for e in row for name in e.free_symbols} == {"R[1]", "R[2]"}


def test_the_size_of_a_vector_can_be_a_parameter() -> None:
    text = "system: x\nparameters: {n: 3}\nbond graph:\n  - Se[n]:V -> 1:i (electrical)\n  - i -> I:L\n"
    assert len(derived(text).states) == 3


def test_one_parameter_serves_all_components_and_a_list_gives_one_each() -> None:
    text = "system: x\nparameters: {R: 2 ohm, L: 1 H}\nbond graph:\n  - Se[2]:V -> 1:i (electrical)\n  - i -> I:L\n  - i -> R:R\n"
    assert agree(derived(text).matrices["A"], [["R", "0"], ["0", "R"]])
    listed = text.replace("{R: 2 ohm, L: 1 H}", "{R_a: 2 ohm, L: 1 H}") + "elements: {R: {R: [R_a, 3*R_a]}}\n"
    assert agree(derived(listed).matrices["A"], [["R_a", "0"], ["0", "3*R_a"]])


def test_names_initial_values_and_causality_may_differ_by_component() -> None:
    text = (
        "system: x\nbond graph:\n  - Se[2]:V -> 1:i (electrical)\n  - i -> I:L\n  - i -> R:R\n"
        "elements: {L: {current: [I_a, I_b], initial: [1 A, 2 A]}, R: {voltage: U}}\n"
    )
    model = read_model(text)
    assert {e.name: e.initial.value for e in model.elements if e.initial is not None} == {"L[1]": 1, "L[2]": 2}  # type: ignore[attr-defined]
    assert [e.variables for e in model.elements if e.name.startswith("L")] == [{"through": "I_a"}, {"through": "I_b"}]
    assert [e.variables for e in model.elements if e.name.startswith("R")] == [{"across": "U[1]"}, {"across": "U[2]"}]


def test_a_rectangular_transformer_maps_flows_by_its_matrix_and_efforts_by_the_transposed_one() -> None:
    """f_b = K f_a with K 1 x 2: the load r at b is seen at a as K^T r K."""
    text = (
        "system: x\nbond graph:\n  - Se[2]:e -> 1:a (translational)\n  - a -> I:m\n  - a -> TF:K -> 1:b (rotational)\n"
        "  - b -> R:r\nelements: {K: {K: [[3 rad/m, 5 rad/m]]}}\n"
    )
    assert agree(derived(text).matrices["A"], [["9*r", "15*r"], ["15*r", "25*r"]])


def test_a_rectangular_gyrator_maps_flows_to_efforts() -> None:
    """e_b = K f_a with K 1 x 2, e_a = K^T f_b."""
    text = (
        "system: x\nbond graph:\n  - Se[2]:e -> 1:a (electrical)\n  - a -> I:L\n  - a -> GY:K -> 1:b (rotational)\n"
        "  - b -> I:J\n  - b -> R:r\nelements: {K: {K: [[k_1, k_2]]}}\nparameters: {k_1: , k_2: }\n"
    )
    A = derived(text).matrices["A"]
    assert agree(A, [["0", "0", "k_1"], ["0", "0", "k_2"], ["-k_1", "-k_2", "r"]])


def test_a_scalar_modulus_serves_a_square_vector_transformer() -> None:
    text = (
        "system: x\nparameters: {n: 2}\nbond graph:\n  - Se[2]:e -> 1:a (rotational)\n  - a -> TF:n -> 1[2]:b (rotational)\n"
        "  - b -> I:J\n  - b -> R:r\n"
    )
    assert agree(derived(text).matrices["B"], [["1/n", "0"], ["0", "1/n"]])


def test_components_of_one_two_port_may_lead_to_different_domains() -> None:
    text = (
        "system: x\nbond graph:\n  - Se:tau -> 1:w (rotational) -> I:J\n  - w -> TF:screw\n"
        "  - screw[1] -> 1:v (translational)\n  - screw[2] -> 1:u (rotational)\n  - v -> R:b_v\n  - u -> R:b_u\n"
        "elements: {screw: {K: [[h], [n]]}}\nparameters: {h: 2 mm/rad, n: 3}\n"
    )
    assert agree(derived(text).matrices["A"], [["b_v*h^2 + b_u*n^2"]])


# -- fields --------------------------------------------------------------------------------------------------------------------

TRANSFORMER = """
system: coupled coils
bond graph:
  - Se:V_1 -> i[1]
  - 1[2]:i (electrical) -> I:coils
  - i -> R:R
  - Se:V_2 -> i[2]
"""


def test_the_matrix_of_a_field_of_storages_is_the_energy_matrix() -> None:
    text = TRANSFORMER + "elements: {coils: {matrix: [[L_1, M], [M, L_2]]}}\nparameters: {L_1: , L_2: , M: }\n"
    assert agree(derived(text).matrices["L"], [["L_1", "M"], ["M", "L_2"]])


@pytest.mark.parametrize(
    ("domain", "junction", "matrix"),
    [
        ("electrical", "1", "R"),
        ("translational", "1", "b"),
        ("hydraulic", "1", "R"),
        ("electrical", "0", "G"),
        ("hydraulic", "0", "G"),
    ],
)
def test_a_resistive_field_is_given_by_either_matrix(domain: str, junction: str, matrix: str) -> None:
    storage, source = ("I", "Se") if junction == "1" else ("C", "Sf")
    text = (
        f"system: x\nbond graph:\n  - {source}[2]:u -> {junction}:j ({domain})\n  - j -> {storage}:x\n  - j -> R:r\n"
        f"elements: {{r: {{{matrix}: [[a, b_], [c, d_]]}}}}\nparameters: {{a: , b_: , c: , d_: }}\n"
    )
    assert agree(derived(text).matrices["A"], [["a", "b_"], ["c", "d_"]])


def test_a_storage_field_may_join_two_domains() -> None:
    """A piezo stack: charge and displacement by voltage and force."""
    text = (
        "system: x\nparameters: {C: 1 nF, d: 1e-9 m/V, s: 1e-8 m/N}\nbond graph:\n  - Se:V -> 1:i (electrical) -> R:R\n"
        "  - i -> C:piezo[1]\n  - 1:v (translational) -> piezo[2]\n  - v -> I:m\nelements: {piezo: {matrix: [[C, d], [d, s]]}}\n"
    )
    model = read_model(text)
    assert kinds(model)["piezo[1]"] == "capacitor"
    assert kinds(model)["piezo[2]"] == "compliance"
    system = derived(text)
    assert agree(system.matrices["L"], [["C", "d", "0"], ["d", "s", "0"], ["0", "0", "m"]])
    assert derived(to_yaml(model)).to_json() == system.to_json()


MAGNET = """
system: electromagnet
parameters: {R: 1 ohm, L_0: 0.1 H*m, x_0: 5 mm, m: 0.1 kg, b: 1 N*s/m}
bond graph:
  - Se:V -> 1:i (electrical) -> R:R
  - i -> IC:magnet[1]
  - 1:v (v, translational) -> magnet[2]
  - v -> I:m
  - v -> R:b
  - Se:F -> v
elements: {magnet: {ports: [I, C], energy: phi_1^2*(x_0 + x_2)/(2*L_0)}}
"""
MAGNET_BY_LAWS = MAGNET.replace(
    "energy: phi_1^2*(x_0 + x_2)/(2*L_0)", "law: [i_1 = phi_1*(x_0 + x_2)/L_0, F_2 = phi_1^2/(2*L_0)]"
)


MAGNET_VALUES = {
    "R": Fraction(1),
    "L_0": Fraction(1, 10),
    "x_0": Fraction(1, 200),
    "m": Fraction(1, 10),
    "b": Fraction(1),
}


def rates(model: Evaluated, x: list[Fraction], u: list[Fraction]) -> list[Fraction]:
    """x' from L x' + f = -A x + B u with a diagonal L."""
    f = [model.at(e, x, u) for e in model.system.vectors["f"]]
    driven = zip(exact.times(model.B, u), exact.times(model.A, x), f, strict=True)
    return [(b - a - c) / model.L[i][i] for i, (b, a, c) in enumerate(driven)]


def test_an_ic_field_has_the_derivatives_of_its_energy_as_outputs() -> None:
    system = derived(MAGNET)
    assert system.states == ("phi_magnet[1]", "x_magnet[2]", "v")
    x, u = [Fraction(1, 5), Fraction(1, 100), Fraction(3)], [Fraction(2), Fraction(7)]
    current, force = Fraction(1, 5) * Fraction(3, 200) * 10, Fraction(1, 25) * 5
    assert rates(Evaluated(system, MAGNET_VALUES), x, u) == [2 - current, Fraction(3), (7 - 3 - force) * 10]


def test_power_into_an_ic_field_is_stored() -> None:
    system = derived(MAGNET)
    model = Evaluated(system, MAGNET_VALUES)
    x, u = [Fraction(1, 3), Fraction(1, 50), Fraction(-2)], [Fraction(5), Fraction(-4)]
    energy = system.stored_energy
    assert energy is not None
    moving = zip(system.states, rates(model, x, u), strict=True)
    stored = sum((model.at(energy.derivative(name), x, u) * rate for name, rate in moving), Fraction(0))
    y = [a + model.at(b, x, u) for a, b in zip(exact.times(model.C, x), system.vectors["f_y"], strict=True)]
    assert exact.dot(y, u) == stored + model.dissipated(x, u)


def test_laws_of_a_field_give_the_energy_they_derive_from() -> None:
    by_energy, by_laws = derived(MAGNET), derived(MAGNET_BY_LAWS)
    assert by_energy.stored_energy is not None
    assert by_laws.stored_energy is not None
    one, two = Evaluated(by_energy, MAGNET_VALUES), Evaluated(by_laws, MAGNET_VALUES)
    x, u = [Fraction(1, 3), Fraction(1, 50), Fraction(-2)], [Fraction(5), Fraction(-4)]
    assert one.at(by_energy.stored_energy, x, u) == two.at(by_laws.stored_energy, x, u)
    assert rates(one, x, u) == rates(two, x, u)


def test_a_field_with_an_energy_comes_back_as_a_network() -> None:
    model = read_model(MAGNET)
    text = to_yaml(model)
    assert "field: [i_2, gnd, v, frame], kinds: [inductor, compliance]" in text
    assert derived(text).to_json() == derived(MAGNET).to_json()


# -- what moves, sensors and sinks ---------------------------------------------------------------------------------------------


def test_a_modulus_may_follow_a_state() -> None:
    """A separately excited motor: e = k I_f omega."""
    text = (
        "system: x\nparameters: {k: 0.1 H}\nbond graph:\n  - Se:V_f -> 1:f (I_f, electrical) -> I:L_f\n"
        "  - Se:V_a -> 1:a (I_a, electrical) -> I:L_a\n  - a -> MGY:motor -> 1:w (omega, rotational)\n  - w -> I:J\n"
        "  - w -> MR:brake\nelements: {motor: {K: k*I_f}, brake: {b: 2 N*m*s/A*I_f}}\n"
    )
    system = derived(text)
    expected = [["0", "0", "0"], ["0", "0", "I_f*k"], ["0", "-I_f*k", "2*I_f"]]
    assert agree(system.matrices["A"], expected)
    assert derived(to_yaml(read_model(text))).to_json() == system.to_json()


@pytest.mark.parametrize(
    ("word", "junction", "variable"), [("De", "0", "V_C"), ("Df", "1", "I_L")], ids=["effort", "flow"]
)
def test_a_detector_reads_a_variable_and_changes_no_equation(word: str, junction: str, variable: str) -> None:
    storage = "C:C" if junction == "0" else "I:L"
    source = "Sf:u" if junction == "0" else "Se:u"
    text = f"system: x\nbond graph:\n  - {source} -> {junction}:j (electrical) -> {storage}\n  - j -> R:R\n"
    plain, with_sensor = derived(text), derived(text + f"  - j -> {word}:seen\n")
    record = with_sensor.to_json()
    assert record.pop("measured") == {"names": ["seen"], "C": [["1"]], "D": [["0"]]}
    assert record == plain.to_json()
    model = read_model(text + f"  - j -> {word}:seen\nsignals: {{double: 2*seen}}\n")
    (port,) = [p for p in lower(model).ports if p.element == "seen"]
    assert "seen" in (port.across, port.through)
    assert variable in plain.states


SPEED_CONTROL = """
system: speed control
parameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s, k_p: 0.5 V*s}
bond graph:
  - MSe:V -> 1:i
  - i -> I:L
  - i -> R:R
  - i -> GY:K -> 1:w (omega)
  - w -> I:J
  - w -> R:b
  - w -> Df:speed
  - 100 rad/s - speed => k_p => V
"""


def test_a_signal_bond_drives_a_source() -> None:
    model = read_model(SPEED_CONTROL)
    (signal,) = [e.signal for e in model.elements if e.signal is not None]
    assert agree([[signal]], [["k_p*(100 - speed)"]])
    direct = SPEED_CONTROL.replace("100 rad/s - speed => k_p => V", "w -> Df:speed_2").replace("MSe:V", "Se:V")
    driven = derived(SPEED_CONTROL).to_json()
    assert driven.pop("driven") == {"V": "k_p*(100 - omega)"}
    assert driven.pop("measured") == {"names": ["speed"], "C": [["0", "1"]], "D": [["0"]]}
    assert driven | {"measured": derived(direct).to_json()["measured"]} == derived(direct).to_json()


def test_a_detector_may_stand_at_the_beginning_of_a_signal_bond() -> None:
    text = SPEED_CONTROL.replace("w -> Df:speed\n", "speed_2 -> w\n").replace(
        "100 rad/s - speed => k_p => V", "Df:speed_2 => -k_p => V"
    )
    (signal,) = [e.signal for e in read_model(text).elements if e.signal is not None]
    assert agree([[signal]], [["-k_p*speed_2"]])


def test_a_residual_sink_between_inertias_leaves_the_equations_and_reads_the_constraint_force() -> None:
    text = (
        "system: x\nbond graph:\n  - Se:F -> 1:a (v, translational) -> I:m_1\n  - a -> 0:joint -> 1:c -> I:m_2\n"
        "  - c -> R:b\n"
    )
    rigid = derived(text)
    constrained = derived(text + "  - joint -> rSe:force\n")
    assert constrained.to_json() == rigid.to_json()
    ports = lower(read_model(text + "  - joint -> rSe:force\n")).ports
    (sink,) = [p for p in ports if p.element == "force"]
    assert sink.through == "F_force"


# -- names and units -----------------------------------------------------------------------------------------------------------


def test_the_name_of_a_junction_between_two_ports_goes_to_a_sensor() -> None:
    text = (
        "system: x\nparameters: {J: 1 kg*m^2, b: 1 N*m*s}\nbond graph:\n  - Se:tau (rotational) -> TF:n\n"
        "  - n -> 1:z (omega_z, rotational)\n"
        "  - z -> TF:h -> 1:y\n  - y -> I:J\n  - y -> R:b\n"
    )
    model = read_model(text)
    (sensor,) = [e for e in model.elements if "omega_z" in e.variables.values()]
    assert (sensor.name, sensor.kind.role) == ("omega_z", "resistive")
    record = derived(text).to_json()
    assert record.pop("measured") == {"names": ["omega_z"], "C": [["1/h"]], "D": [["0"]]}
    assert record == derived(text.replace("omega_z, ", "")).to_json()


def test_a_parameter_given_by_a_formula_chooses_the_kind_by_its_unit() -> None:
    text = (
        "system: x\nparameters: {K_0: 3 N/m, K: 2*K_0, b: 1 N*s/m}\nbond graph:\n  - Sf:v -> 1:e -> C:K\n  - e -> R:b\n"
    )
    assert kinds(read_model(text))["K"] == "spring"
    assert kinds(read_model(text.replace("3 N/m", "3 m/N")))["K"] == "compliance"


def test_a_rigid_bond_stays_without_a_parameter_in_a_file() -> None:
    text = (
        "system: x\nbond graph:\n  - Sf:u -> 0:a (electrical) -> C:C_a\n  - 0:b -> C:C_b\n  - 0:c -> C:C_c\n"
        "  - a -> 1:j -> b\n  - c -> j\n  - j -> I:L\n  - a -> 1:k -> c\n  - b -> k\n  - k -> R:R\n"
    )
    model = read_model(text)
    rigid = [e for e in model.elements if e.kind.name == "connection"]
    assert rigid
    again = read_model(to_yaml(model))
    assert again.parameters.keys() == model.parameters.keys()
    assert derived(to_yaml(model)).to_json() == derived(text).to_json()


def test_switches_and_diodes_are_items_of_a_bond_graph() -> None:
    text = (
        "system: x\nbond graph:\n  - Se:V -> 1:i (electrical) -> I:L\n  - i -> Sw:D\n  - i -> R:R\n"
        "elements: {D: {kind: diode}}\n"
    )
    model = read_model(text)
    assert kinds(model)["D"] == "diode"
    assert set(lower(model).switching) == {[e.name for e in model.elements].index("D")}
