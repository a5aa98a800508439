"""Fields by stiffnesses and resistive fields by laws: one model in all notations, kept by every translation."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from support.networks import agree, equations
from tellegen import bond_graph, pog, simulate
from tellegen.causality import assign_causality
from tellegen.core.errors import DescriptionError, TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.schemes import bond_graph_text, ladder_text, network_of

STIFF = {
    "network": """
system: Frame
parameters: {k_1: 100 N/m, k_2: 50 N/m, m_1: 1 kg, m_2: 2 kg}
network:
  F: {force source: [frame, a]}
  m_1: {mass: [a]}
  m_2: {mass: [d]}
  k: {spring field: [a, frame, d, frame], matrix: [[k_1 + k_2, -k_2], [-k_2, k_2]]}
""",
    "bond graph": """
system: Frame
parameters: {k_1: 100 N/m, k_2: 50 N/m, m_1: 1 kg, m_2: 2 kg}
bond graph:
  - Se:F -> 1:a (translational) -> I:m_1
  - 1:d (translational) -> I:m_2
  - a -> C:k[1]
  - d -> k[2]
elements: {k: {K: [[k_1 + k_2, -k_2], [-k_2, k_2]]}}
""",
    "pog": """
system: Frame
parameters: {k_1: 100 N/m, k_2: 50 N/m, m_1: 1 kg, m_2: 2 kg}
pog:
  - domain: translational
  - section: {across: [v_1, v_2], through: [F, F_2], given: [F]}
  - parallel: [[M:m_1, M:m_2], {K: k, matrix: [[k_1 + k_2, -k_2], [-k_2, k_2]]}]
""",
}
LAWS = "[V_1 = R*i_1 + k*i_1*i_2^2, V_2 = R*i_2 + k*i_1^2*i_2]"
CURVED = {
    "network": f"""
system: Pair
parameters: {{k: 0.4, R: 2 ohm, L: 1 H, C: 1.5 F}}
network:
  V: {{voltage source: [a]}}
  L: {{inductor: [a, d]}}
  C: {{capacitor: [c], initial: 1 V}}
  r: {{resistor field: [d, gnd, c, gnd], law: {LAWS}}}
""",
    "bond graph": f"""
system: Pair
parameters: {{k: 0.4, R: 2 ohm, L: 1 H, C: 1.5 F}}
bond graph:
  - Se:V -> 1:i (electrical) -> I:L
  - 0:v (electrical) -> C:C
  - i -> R:r[1]
  - v -> r[2]
elements: {{r: {{law: {LAWS}}}, C: {{initial: 1 V}}}}
""",
    "pog": f"""
system: Pair
parameters: {{k: 0.4, R: 2 ohm, L: 1 H, C: 1.5 F}}
pog:
  - domain: electrical
  - section: {{across: [V, V_2], through: [I_1, I_2], given: [V]}}
  - mixed: [[L:L, C:C], {{R: r, law: {LAWS}}}]
    ways: [series, parallel]
elements: {{C: {{initial: 1 V}}}}
""",
}


def as_network(model: Model) -> str:
    found = network_of(assign_causality(lower(model)), model=model)
    return to_yaml(replace(model, elements=found.elements, fields=found.fields, source="", parts=()))


WRITERS: Mapping[str, Callable[[Model], str]] = {
    "file": lambda model: to_yaml(replace(model, source="")),
    "network": as_network,
    "bond graph": lambda model: bond_graph_text(bond_graph(model), model=model),
    "pog": lambda model: ladder_text(pog(model), model=model),
}


def rates(system: EquationSystem, at: Mapping[str, float]) -> dict[str, float]:
    """The rates of the states, by the storage they belong to; unknowns by Newton's method from zero."""
    values = {**system.values(), **at}
    unknowns = system.algebraic.unknowns
    for name, e in system.where.items():
        values[name] = e.evaluate(values)
    w = np.zeros(len(unknowns))
    for _ in range(50):
        values |= dict(zip(unknowns, w, strict=True))
        left = np.array([r.evaluate(values) for r in system.algebraic.residuals])
        slope = [[r.derivative(n).evaluate(values) for n in unknowns] for r in system.algebraic.residuals]
        w = w - np.linalg.solve(np.array(slope), left) if unknowns else w
    values |= dict(zip(unknowns, w, strict=True))

    def matrix(name: str) -> np.ndarray:
        return np.array([[e.evaluate(values) for e in row] for row in system.matrices[name]])  # type: ignore[index]

    x = np.array([values[n] for n in system.states])
    u = np.array([values[n] for n in system.inputs])
    f = np.array([e.evaluate(values) for e in system.vectors["f"]])
    found = np.linalg.solve(matrix("L"), matrix("B") @ u - matrix("A") @ x - f)
    assert system.origin is not None
    ports = [system.origin.graph.ports[k] for k in system.origin.integral]
    return {port.element: rate for port, rate in zip(ports, found, strict=True)}


def point(system: EquationSystem, by_element: Mapping[str, float]) -> dict[str, float]:
    assert system.origin is not None
    ports = system.origin.graph.ports
    at = {ports[k].state: by_element[ports[k].element] for k in system.origin.integral}
    return at | dict.fromkeys(system.inputs, by_element["input"])


PLACE = {"m_1": 0.3, "m_2": -0.7, "k[1]": 2.0, "k[2]": -1.1, "L": 0.8, "C": -0.5, "input": 1.7}


# -- one model in all notations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("notation", STIFF)
def test_stiffnesses_are_kept_as_their_inverse(notation: str) -> None:
    system = equations(read_model(STIFF[notation]))
    ports = system.origin.graph.ports if system.origin else ()
    order = (
        [[ports[k].element for k in system.origin.integral].index(n) for n in ("k[1]", "k[2]")] if system.origin else []
    )
    L = [[system.matrices["L"][i][j] for j in order] for i in order]
    assert agree(L, [["1/k_1", "1/k_1"], ["1/k_1", "1/k_1 + 1/k_2"]])


@pytest.mark.parametrize("notation", CURVED)
def test_laws_of_a_resistive_field_read_what_all_ports_are_told(notation: str) -> None:
    system = equations(read_model(CURVED[notation]))
    found = rates(system, point(system, PLACE))
    # L i' = V - V_1 with V_1 = (R + k i_2^2) i_1, and V_C = V_2 = (R + k i_1^2) i_2
    i_1, v = 0.8, -0.5
    i_2 = v / (2 + 0.4 * i_1**2)
    assert found["L"] == pytest.approx(1.7 - (2 + 0.4 * i_2**2) * i_1)
    assert found["C"] == pytest.approx(-i_2 / 1.5)


def test_a_run_with_such_laws_follows_an_integration_by_hand_and_its_books_close() -> None:
    run = simulate(read_model(CURVED["network"]), until=3, inputs={"V": 5}, rtol=1e-10, atol=1e-12)

    def slope(_: float, x: np.ndarray) -> list[float]:
        i_2 = x[1] / (2 + 0.4 * x[0] ** 2)
        return [5 - (2 + 0.4 * i_2**2) * x[0], -i_2 / 1.5]

    by_hand = solve_ivp(slope, (0, 3), [0.0, 1.0], rtol=1e-11, atol=1e-13, method="DOP853").y[:, -1]
    assert [run.final()[name] for name in ("I_L", "V_C")] == pytest.approx(list(by_hand), rel=1e-8)
    assert abs(run.energy.residual) < 1e-8


def test_laws_that_answer_each_other_become_unknowns() -> None:
    """Voltages given at both ports and conductances between: both currents are unknowns of one loop."""
    text = CURVED["network"].replace("L: {inductor: [a, d]}", "R_a: {resistor: [a, d], R: 1 ohm}")
    text = text.replace("C: {capacitor: [c], initial: 1 V}", "R_c: {resistor: [c, a], R: 2 ohm}\n  C: {capacitor: [a]}")
    text = text.replace("V: {voltage source: [a]}", "I: {current source: [gnd, a]}")
    system = equations(read_model(text))
    assert len(system.algebraic.unknowns) == 2
    run = simulate(read_model(text), until=1, inputs={"I": 3})
    assert abs(run.energy.residual) < 1e-8


@pytest.mark.parametrize("notation", STIFF)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_field_of_stiffnesses_survives_every_translation(notation: str, writer: str) -> None:
    model = read_model(STIFF[notation])
    again = equations(read_model(WRITERS[writer](model)))
    base = equations(model)
    assert rates(again, point(again, PLACE)) == pytest.approx(rates(base, point(base, PLACE)))


@pytest.mark.parametrize("notation", CURVED)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_field_by_laws_survives_every_translation(notation: str, writer: str) -> None:
    model = read_model(CURVED[notation])
    again = equations(read_model(WRITERS[writer](model)))
    base = equations(model)
    assert rates(again, point(again, PLACE)) == pytest.approx(rates(base, point(base, PLACE)))


def test_a_file_keeps_the_stiffnesses_as_they_were_given() -> None:
    written = to_yaml(replace(read_model(STIFF["network"]), source=""))
    assert '{spring field: [a, frame, d, frame], matrix: [[k_1 + k_2, "-k_2"], ["-k_2", k_2]]}' in written


@pytest.mark.parametrize("notation", STIFF)
@pytest.mark.parametrize("writer", WRITERS)
def test_every_translation_keeps_the_stiffnesses_as_they_were_given(notation: str, writer: str) -> None:
    model = read_model(STIFF[notation])
    (field,) = model.fields
    (again,) = read_model(WRITERS[writer](model)).fields
    assert again.stiffness == field.stiffness
    assert again.stiffness is not None


def test_a_matrix_of_compliances_stays_one() -> None:
    text = STIFF["network"].replace("spring field", "compliance field").replace("N/m", "m/N")
    model = read_model(text)
    for write in WRITERS.values():
        (again,) = read_model(write(model)).fields
        assert (again.matrix, again.stiffness) == (model.fields[0].matrix, None)


def test_ports_may_give_different_variables() -> None:
    """A hybrid field: the voltage of one port and the current of the other."""
    text = CURVED["network"].replace(LAWS, "[V_1 = R*i_1 + k*V_2, i_2 = V_2*abs(V_2)/(R*1 V) - k*i_1]")
    system = equations(read_model(text))
    assert not system.algebraic.unknowns
    found = rates(system, point(system, PLACE))
    assert found["L"] == pytest.approx(1.7 - 2 * 0.8 + 0.4 * 0.5)
    assert found["C"] == pytest.approx(-(-(0.5**2) / 2 - 0.4 * 0.8) / 1.5)


# -- what is refused -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "old", "new", "code", "what", "fix"),
    [
        (STIFF["network"], "k_1 + k_2, -k_2", "k_2, -k_2", "D470", "no force when x_1 = 1, x_2 = 1", "fewer ports"),
        (STIFF["pog"], "k_1 + k_2, -k_2", "k_2, -k_2", "D470", "no force when x_1 = 1, x_2 = 1", "fewer ports"),
        (STIFF["bond graph"], "k_1 + k_2, -k_2", "k_2, -k_2", "D470", "no force when", "fewer ports"),
        (STIFF["network"], "[-k_2, k_2]", "[k_2, k_2]", "D166", "is not conservative", "symmetric"),
        (
            STIFF["network"],
            "spring field: [a, frame, d, frame],",
            "field: [a, frame, d, frame], kinds: [spring, compliance],",
            "D470",
            "holds stiffnesses for spring and the inverse for others",
            "write compliance in their place",
        ),
        (
            STIFF["network"],
            "spring field: [a, frame, d, frame], matrix: [[k_1 + k_2, -k_2], [-k_2, k_2]]",
            "compliance field: [a, frame, d, frame], matrix: [[1 m/N, 2 m/N], [2 m/N, 1 m/N]]",
            "D471",
            "the field 'k' stores -0.375 J at F_1 = -1, F_2 = 0.5",
            "positive definite",
        ),
        (STIFF["network"], "[-k_2, k_2]", "[-k_2, 1/k_2]", "D121", "not in N/m", ""),
        (CURVED["network"], "V_2 = R", "V_3 = R", "D150", "is no law of a port of r", "did you mean"),
        (CURVED["network"], "V_2 = R*i_2", "V_1 = R*i_1", "D150", "port 1 of 'r' has two laws", "keep one"),
        (CURVED["network"], ", V_2 = R*i_2 + k*i_1^2*i_2", "", "D150", "no law for its port 2", "add 'v_2 = ...'"),
        (CURVED["network"], "k*i_1^2*i_2", "k*V_1", "D150", "reads 'V_1', which another law", "use 'i_1'"),
        (CURVED["network"], "k*i_1^2*i_2", "k*V_2", "D150", "reads what it gives", "use 'i_2'"),
        (CURVED["network"], "k*i_1^2*i_2", "q*i_2", "D120", "'q'", ""),
        (CURVED["pog"], "V_2 = R", "V_9 = R", "D150", "is no law of a port of r", ""),
        (
            CURVED["pog"],
            f"law: {LAWS}",
            f"law: {LAWS}, matrix: [[1, 0], [0, 1]]",
            "D451",
            "a matrix and laws",
            "one of them",
        ),
        (CURVED["pog"], f"law: {LAWS}", "law: [V_1 = R*i_1]", "D461", "'r' with 1 law", "lanes"),
        (CURVED["bond graph"], f"law: {LAWS}", "energy: i_1^2", "D155", "stores nothing", "a law for each port"),
    ],
)
def test_a_slip_is_named_with_its_repair(text: str, old: str, new: str, code: str, what: str, fix: str) -> None:
    assert old in text
    with pytest.raises(DescriptionError) as caught:
        read_model(text.replace(old, new, 1))
    finding = caught.value.finding
    assert finding.code == code, finding
    assert what in finding.what
    assert fix in finding.fix


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("k: 0.4", "k: -4", "the field 'r' is active: it gives"),
        (
            f"law: {LAWS}",
            "matrix: [[1 ohm, 3 ohm], [1 ohm, 1 ohm]]",
            "is active: it gives 0.75 W at i_1 = -1, i_2 = 0.5",
        ),
        (f"law: {LAWS}", "matrix: [[0 ohm, 1 ohm], [1 ohm, 0 ohm]]", "is active: it gives"),
    ],
)
def test_a_field_that_gives_power_is_warned_of(old: str, new: str, what: str) -> None:
    findings = [f for f in read_model(CURVED["network"].replace(old, new)).findings if f.code == "D472"]
    assert [f.severity for f in findings] == ["warning"]
    assert what in findings[0].what


@pytest.mark.parametrize("law", [LAWS, "[V_1 = R*i_1 - k*i_2, V_2 = R*i_2 + k*i_1]", "[V_1 = k*i_2, V_2 = -k*i_1]"])
def test_a_field_that_loses_or_passes_power_is_not(law: str) -> None:
    model = read_model(CURVED["network"].replace(LAWS, law))
    assert not [f for f in model.findings if f.code == "D472"]


# -- properties ----------------------------------------------------------------------------------------------------------------


@given(st.lists(st.floats(0.1, 10).map(lambda v: round(v, 2)), min_size=6, max_size=6))
def test_the_energy_of_a_field_is_that_of_its_stiffnesses(k: list[float]) -> None:
    """Three springs to the frame and three between: F = K x, and the field stores x^T K x / 2."""
    K = np.diag(k[:3]).astype(float)
    for value, (i, j) in zip(k[3:], ((0, 1), (0, 2), (1, 2)), strict=True):
        K[i, i] += value
        K[j, j] += value
        K[i, j] -= value
        K[j, i] -= value
    rows = "[" + ", ".join("[" + ", ".join(f"{x:.2f}" for x in row) + "]" for row in K) + "]"
    text = "system: x\nnetwork:\n" + "".join(f"  m_{n}: {{mass: [{n}], m: 1}}\n" for n in "acd")
    text += f"  k: {{spring field: [a, frame, c, frame, d, frame], matrix: {rows}}}\n"
    system = equations(read_model(text))
    L = np.array([[e.evaluate({**system.values()}) for e in row] for row in system.matrices["L"]])[3:, 3:]
    assert np.linalg.inv(np.round(K, 2)) == pytest.approx(L, rel=1e-9)


MAGNET = """
system: Test
network:
  magnet: {field: [a, gnd, x, frame], kinds: [inductor, compliance], energy: phi_1^2*(4e-3 m + x_2)/(4e-5 H*m), initial: [INITIAL]}
  R: {resistor: [a], R: 2 ohm}
  m: {mass: [x], m: 0.1 kg}
"""


def test_an_energy_of_several_variables_may_begin_with_what_its_ports_hold() -> None:
    model = read_model(MAGNET.replace("INITIAL", "2 mWb, -1 mm"))
    for found in (model, read_model(to_yaml(model))):
        run = simulate(found, until=1e-3)
        assert run.values("phi_magnet[1]")[0] == pytest.approx(2e-3)
        assert run.values("x_magnet[2]")[0] == pytest.approx(-1e-3)


def test_one_output_of_an_energy_of_several_variables_does_not_say_what_is_held() -> None:
    with pytest.raises(TellegenError) as caught:
        simulate(read_model(MAGNET.replace("INITIAL", "1 A, 1 N")), until=1e-3)
    assert caught.value.findings[0].code == "S303"
