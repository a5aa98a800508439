"""The JSON Schema of bond graphs and ladders agrees with the reader."""

import pytest

from support.model_schema import VALIDATOR, is_valid, plain
from tellegen.core.errors import DescriptionError
from tellegen.notations.reading import read_model

PARAMETERS = "system: T\nparameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s}\n"
GRAPH = PARAMETERS + (
    "bond graph:\n  - Se:V -> 1:i (I, electrical) -> I:L\n  - i -> R:R\n  - i -> GY:K -> 1:w -> I:J\n  - w -> R:b\n"
    "elements:\n  L: {initial: 3 A, causality: integral}\n  b: {law: tau = 3*omega}\n  K: {K: 0.2 N*m/A}\n"
)
VECTORS = (
    "system: T\nbond graph:\n  - MSe[2]:V -> 1:i (electrical)\n  - i -> I:coils\n  - i -> MGY:K -> 1:w (omega, rotational)\n"
    "  - w -> I:J\n  - i[1] -> R:R\n  - w -> Df:speed\n  - 3 rad/s - speed => 2 V*s => V\n"
    "elements:\n  coils: {matrix: [[3 mH, 1 mH], [1 mH, 2 mH]], initial: [1 A, 2 A]}\n  K: {K: [[0.1 N*m/A, 0.2 N*m/A]]}\n"
)
LADDER = PARAMETERS + (
    "pog:\n  - domain: electrical\n  - section: [V, I]\n  - series: [L:L, R:R]\n  - connect: K\n  - parallel: [J:J, b:b]\n"
    "  - section: omega, tau\nelements: {J: {initial: 3 rad/s, notes: {x: y}}}\n"
)


NUMBERED = GRAPH.replace("-> 1:i", "-1-⇀ 1:i").replace("i -> R:R", "i -22-7 R:R").replace("w -> R:b", "w -3-> R:b")


@pytest.mark.parametrize(
    "text", [GRAPH, VECTORS, LADDER, NUMBERED], ids=["bond graph", "vector bonds", "ladder", "numbers"]
)
def test_a_system_in_this_notation_keeps_the_schema_and_reads(text: str) -> None:
    VALIDATOR.validate(plain(text))
    read_model(text.replace(", b: 1e-3 N*m*s", "").replace("K: 0.1 N*m/A, ", "") if "law" in text else text)


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (GRAPH, "Se:V ->", "Se:V -"),
        (GRAPH, "Se:V ->", "Se:V -3 ->"),
        (GRAPH, "Se:V ->", "Se:V -37"),
        (GRAPH, "Se:V", "SE:V"),
        (GRAPH, "R:R", "R:2R"),
        (GRAPH, "-> I:L", "->"),
        (GRAPH, "(I, electrical)", "(I, electrical"),
        (GRAPH, "Se:V -> 1:i", "{a: b}\n  - Se:V -> 1:i"),
        (GRAPH, "initial: 3 A", "inital: 3 A"),
        (GRAPH, "bond graph:", "network: {}\nbond graph:"),
        (GRAPH, "bond graph:", "bondgraph:"),
        (VECTORS, "MSe[2]:V", "MSe[2:V"),
        (VECTORS, "i[1]", "i[]"),
        (VECTORS, "=> V", "=> 3 V"),
        (VECTORS, "3 rad/s - speed =>", "=>"),
        (VECTORS, "matrix:", "matrx:"),
        (LADDER, "series:", "serie:"),
        (LADDER, "series: [", "series: [X:Y, "),
        (LADDER, "[V, I]", "[V]"),
        (LADDER, "[V, I]", "[V, I, W]"),
        (LADDER, "domain: electrical", "domain: electric"),
        (LADDER, "  - connect: K", "  - {connect: K, domain: rotational}"),
        (LADDER, "connect: K", "connect: 2*K"),
        (LADDER, "[L:L, R:R]", "[]"),
        (LADDER, "pog:", "POG:"),
    ],
)
def test_a_slip_breaks_the_schema_and_the_reader_refuses_it_too(text: str, old: str, new: str) -> None:
    assert old in text
    broken = text.replace(old, new, 1)
    assert not is_valid(broken)
    with pytest.raises(DescriptionError):
        read_model(broken)


@pytest.mark.parametrize(
    "text", ["system: T\n", "system: T\nbond graph: []\n", "system: T\npog: []\n", "system: T\npog: x\n"]
)
def test_a_file_that_describes_nothing_breaks_the_schema(text: str) -> None:
    assert not is_valid(text)
    with pytest.raises(DescriptionError):
        read_model(text)


def test_elements_belong_to_a_bond_graph_or_a_ladder() -> None:
    assert not is_valid(
        "system: T\nnetwork: {R: {resistor: [a]}, V: {voltage source: [a]}}\nelements: {R: {R: 3 ohm}}\n"
    )
