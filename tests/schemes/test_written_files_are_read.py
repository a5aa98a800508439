"""Whatever is written is read again and gives the same equations: all models, in every notation and by ways of two."""

from itertools import product
from pathlib import Path

import pytest

import tellegen as tg
from support.all_models import ModelFile, all_models
from support.amount import SLOW
from support.same_equations import differences
from tellegen.core.errors import TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.model.model import Model
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.schemes.translation import NOTATIONS, Notation

QUICK = 40
"""Of so many models one is written in the default tests, in one way."""

WAYS: tuple[tuple[Notation, ...], ...] = (*((one,) for one in NOTATIONS), *product(NOTATIONS, repeat=2))

OPEN_TERMINALS = {"G204", "G240"}
"""A terminal at which nothing else ends has no place in a bond graph or a ladder, and the refusal says so."""


def equations(model: Model) -> EquationSystem:
    found = tg.derive(model)
    assert isinstance(found, EquationSystem)
    return found


def translated(model: Model, notation: Notation) -> str:
    """Nothing where a terminal stands open."""
    try:
        return tg.translate(model, notation)
    except TellegenError as refused:
        if refused.code not in OPEN_TERMINALS:
            raise
        return ""


def marked() -> list[object]:
    files = [file for file in all_models() if file.right]
    return [pytest.param(f, marks=[] if k % QUICK == 0 else pytest.mark.slow, id=str(f)) for k, f in enumerate(files)]


@pytest.mark.parametrize("file", marked())
def test_translations_give_the_same_equations(file: ModelFile, tmp_path: Path) -> None:
    model = tg.read(file.put(tmp_path))
    try:
        before = equations(model)
    except TellegenError:  # rules of later layers have right files that are not asked for equations
        return
    for way in WAYS if SLOW else WAYS[:3]:
        again = tmp_path / "again.yaml"
        now = model
        for notation in way:
            text = translated(now, notation)
            if not text:
                break
            again.write_text(text, encoding="utf-8")
            now = tg.read(again)
        else:
            assert differences(before, equations(now)) == [], f"{way}: {again.read_text(encoding='utf-8')}"


def test_other_equations_are_told_apart() -> None:
    """The measure itself: a value, a sign and a law that differ are differences."""
    text = "system: x\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 2}\n  L: {inductor: [b], LAW}\n"
    one, two = (equations(read_model(text.replace("LAW", law))) for law in ("L: 3", "law: phi = 3*i + i^3"))
    assert differences(one, two)
    assert not differences(one, one)
    assert differences(one, equations(read_model(text.replace("LAW", "L: 3").replace("R: 2", "R: 4"))))
    turned = text.replace("LAW", "L: 3").replace("[a]", "[gnd, a]")
    assert differences(one, equations(read_model(turned)))


def test_a_conductor_of_entropy_is_written_with_its_parameter() -> None:
    """Its modulus is made of its parameter and both temperatures: written as the parameter, it would be made of itself again."""
    net = Network("Two bodies")
    net.entropy_capacity("hot", "a", energy="100*T", initial="400 K", temperature="T_1")
    net.entropy_capacity("cold", "b", energy="100*T", initial="300 K", temperature="T_2")
    net.entropy_conductor("G", "a", "absolute_zero", "b", "absolute_zero", G="5 W/K")
    before = equations(net.model())
    for way in WAYS:
        now = net.model()
        for notation in way:
            now = read_model(tg.translate(now, notation))
        assert differences(before, equations(now)) == [], way


def test_sensors_between_nodes_are_written_where_there_are_no_nodes() -> None:
    text = (
        "system: x\nparameters: {L: 10 mH, R: 1 ohm}\nnetwork:\n  V: {voltage source: [a, gnd], signal: V_c}\n"
        "  L: {inductor: [a, b], current: I}\n  R: {resistor: [b, gnd]}\nsignals: {V_c: {across: [a, b]}}\n"
    )
    before = equations(read_model(text))
    for way in WAYS:
        now = read_model(text)
        for notation in way:
            now = read_model(tg.translate(now, notation))
        assert differences(before, equations(now)) == [], way


@pytest.mark.parametrize(
    "law", ["v = R*i + 1 V/A^3*i^3", "v = 1*i", "v = 0.3*i + 1*i^3", "v = R*i - 1*i^3", "v = R*i + R*(1 A^-2)*i^3"]
)
def test_a_factor_of_one_is_written_and_read_like_any_other(law: str) -> None:
    """It is not seen in what is written: `i^3` is a voltage there as `2*i^3` is."""
    text = (
        "system: x\nparameters: {R: 2 ohm}\nnetwork:\n  V: {voltage source: [a]}\n  L: {inductor: [a, b], L: 1 H}\n"
        f"  r: {{resistor: [b], law: {law}}}\n  R: {{resistor: [a]}}\n"
    )
    model = read_model(text)
    for notation in NOTATIONS:
        assert differences(equations(model), equations(read_model(tg.translate(model, notation)))) == []


def test_the_inertia_of_a_difference_of_speeds_is_written_by_every_command() -> None:
    text = 'system: s\nbond graph: ["Sf:v (translational) -> 0:F", F -> 1:d, d -> I:m, d -> R:b, F -> R:b_2]\n'
    model = read_model(text)
    assert differences(equations(model), equations(read_model(tg.to_yaml(model)))) == []
    smaller = tg.reduce(model, {"b": 0})
    assert differences(equations(smaller.model), equations(read_model(tg.to_yaml(smaller.model)))) == []


def test_points_of_a_netlist_may_have_any_name(tmp_path: Path) -> None:
    """What is imported is read again, whatever words or numbers its points are called by."""
    netlist = tmp_path / "circuit.txt"
    netlist.write_text("eV, 1e400, 0, En, V_a=10\neR, 1e400, 7x, Kn, R_a=20\neC, 7x, 0, Kn, C_1=0.003, En, V_1=3\n")
    again = read_model(tg.import_model(netlist))
    assert differences(equations(tg.read(netlist)), equations(again)) == []


@pytest.mark.parametrize("law", ["v = 0", "v = 2*i^3", "v = 2*i"])
def test_a_letter_in_a_law_means_what_it_means_everywhere(law: str) -> None:
    """A current that its author calls v is no voltage: the law is read, and read again in every notation."""
    text = (
        "system: x\nnetwork:\n  V: {voltage source: [a]}\n  L: {inductor: [a, b], L: 1 H}\n"
        f"  r: {{resistor: [b], law: {law}, current: v}}\n  R: {{resistor: [a], R: 1 ohm}}\n"
    )
    model = read_model(text)
    assert (
        differences(
            equations(model),
            equations(read_model(text.replace("v = ", "voltage drop = ").replace("voltage drop", "across"))),
        )
        == []
    )
    for notation in NOTATIONS:
        assert differences(equations(model), equations(read_model(tg.translate(model, notation)))) == []


def test_what_a_storage_keeps_has_the_name_of_its_author_in_a_network() -> None:
    """Signals and ports read it by that name."""
    text = (
        "system: x\nports: {p: f}\nsignal ports: {outputs: [x]}\nsignals: {y: 2*x}\nnetwork:\n"
        "  k: {spring: [f, frame], law: F = 3*x + 2*x^3, displacement: x}\n  m: {mass: [f], m: 1 kg}\n"
    )
    model = read_model(text)
    assert differences(equations(model), equations(read_model(tg.translate(model, "network")))) == []


def test_ports_follow_nodes_that_become_one() -> None:
    """Each winding has a reference of its own, and in the network both are one point: ports and sensors are there, too."""
    text = (
        "system: x\nports: {p: [a, b], q: [c, d]}\nsignals: {u: {across: [c, d]}}\nnetwork:\n"
        "  ideal: {transformer: [a, b, c, d], n: 2}\n  R: {resistor: [a, b], R: 1 ohm}\n  C: {capacitor: [c, d], C: 1 F}\n"
    )
    model = read_model(text)
    again = read_model(tg.translate(model, "network"))
    assert again.ports.keys() == model.ports.keys()
    assert differences(equations(model), equations(again)) == []


def test_parts_between_which_a_locked_ring_lets_no_power_pass_stay_one_model() -> None:
    text = (
        "system: locked\nbond graph:\n  - Se:tau -> 1:a (rotational)\n  - a -> 1:b\n  - a -> TF:k -> b\n  - a -> R:r\n"
        "  - b -> TF:n -> 0:c (electrical)\n  - c -> I:L_1\n  - c -> C:C_1\n"
        "elements: {k: {K: 2}, n: {K: 3}, r: {b: 1}, L_1: {L: 1}, C_1: {C: 1}}\n"
    )
    model = read_model(text)
    for way in WAYS:
        now = model
        for notation in way:
            now = read_model(tg.translate(now, notation))
        assert differences(equations(model), equations(now)) == [], way


@pytest.mark.parametrize("way", [w for w in WAYS if w[0] != "bond" and w != ("network", "bond")])
def test_a_shorted_winding_keeps_its_place(way: tuple[Notation, ...]) -> None:
    """Nodes short it; the other winding drives its current. A bond from a junction to itself is refused."""
    text = (
        "system: x\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 2}\n"
        "  M: {inductor field: [gnd, gnd, b, gnd], matrix: [[5, 2], [2, 7]]}\n"
    )
    now = model = read_model(text)
    for notation in way:
        now = read_model(tg.translate(now, notation))
    assert differences(equations(model), equations(now)) == []
    with pytest.raises(TellegenError, match=r"G202.*\n(.*\n)*.*make it a ladder"):
        tg.translate(model, "bond")


@pytest.mark.parametrize("way", WAYS[:3])
def test_an_element_with_modes_stays_one_where_no_bond_graph_has_strokes(way: tuple[Notation, ...]) -> None:
    text = (
        "system: bridge\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R_1: {resistor: [a, b], R: 1}\n"
        "  R_2: {resistor: [a, c], R: 1}\n  C_1: {capacitor: [b, gnd], C: 1}\n  D: {diode: [c, b]}\n"
        "  L: {inductor: [c, gnd], L: 1}\n  C_2: {capacitor: [a, c], C: 1}\n  C_3: {capacitor: [b, c], C: 1}\n"
        "  M: {inductor field: [gnd, gnd, b, gnd], matrix: [[5, 2], [2, 7]]}\n"
    )
    now = model = read_model(text if way != ("bond",) else text.replace("  M:", "  # M:"))
    for notation in way:
        now = read_model(tg.translate(now, notation))
    assert [e.name for e in now.elements if e.kind.modes] == ["D"]
    assert differences(equations(model), equations(now)) == []


def test_what_is_left_of_a_shorted_winding_has_names_that_are_read() -> None:
    text = (
        "system: x\nnetwork:\n  V: {voltage source: [a]}\n  R: {resistor: [a, b], R: 2}\n  R_2: {resistor: [b, c], R: 1}\n"
        "  M: {inductor field: [gnd, gnd, c, gnd], matrix: [[5, 2], [2, 7]]}\n"
    )
    small = tg.reduce(read_model(text), {"R": 0}).model
    assert differences(equations(small), equations(read_model(to_yaml(small)))) == []


def test_a_modulus_of_zero_that_leaves_a_junction_alone_is_refused() -> None:
    text = (
        "system: x\nnetwork:\n  F: {force source: [a, frame]}\n  m: {mass: [a], m: 1}\n  k: {spring: [a, b], K: 3}\n"
        "  b: {damper: [b, frame], b: 1}\n  g: {rack: [w, frame, b, frame], r: 1}\n  J: {inertia: [w], J: 1}\n"
    )
    model = tg.reduce(read_model(text), {"g": 0}).model
    with pytest.raises(TellegenError, match=r"G204.*a modulus of zero leaves the junction"):
        tg.translate(model, "bond")
    again = read_model(tg.translate(model, "pog"))
    assert differences(equations(model), equations(again)) == []
