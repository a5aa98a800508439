"""Networks built by calls are the networks that files describe."""

from fractions import Fraction

import pytest

from tellegen.core.errors import DescriptionError
from tellegen.expressions import number, parse, symbol
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model


def rlc() -> Network:
    net = Network("RLC", about="A series circuit")
    net.parameter("R", "10 ohm")
    net.voltage_source("V", "a", "gnd")
    net.inductor("L", "a", "b", L="2 mH", current="I_L")
    net.resistor("R", "b", "c")
    net.capacitor("C", "c", C=1e-6, initial="3 V")
    net.experiment(until="0.5 s", inputs={"V": "step(24 V)"}, outputs=["I_L"], rtol=1e-8)
    return net


def test_calls_read_like_the_drawing() -> None:
    model = rlc().model()
    assert (model.name, model.about, model.inputs) == ("RLC", "A series circuit", ("V",))
    assert [e.nodes for e in model.elements] == [("a", "gnd"), ("a", "b"), ("b", "c"), ("c", "gnd")]
    assert model.elements[1].variables == {"through": "I_L"}
    assert model.parameters["C"].expression is number(1e-6)
    assert model.elements[3].initial is number(3)
    assert (model.experiment.until, model.experiment.rtol) == (number(0.5), 1e-8)


def test_the_text_of_a_network_is_a_file() -> None:
    net = rlc()
    again = read_model(net.text(), file="<RLC>")
    assert again == net.model()


def test_any_kind_can_be_added_by_its_words() -> None:
    net = Network("Motor")
    net.parameters(K_m="0.15 N*m/A", J=2, n=None)
    net.add("dc machine", "motor", "c", "gnd", "shaft", "frame", K="K_m", angular_velocity="omega")
    net.add("gear", "G", "shaft", "frame", "out", "frame", n=symbol("n"), across_2="omega_2")
    net.inertia("J", "out", causality="derivative")
    net.connection(
        "X", 1, 0, "out", "frame", domains=["electrical", "rotational"], relation="F2 = K_m*F1", notes={"An": "-90"}
    )
    model = net.model()
    assert model.elements[0].variables == {"across_2": "omega"}
    assert model.elements[1].variables == {"across_2": "omega_2"}
    assert model.elements[2].prefer == "through"
    assert model.elements[3].nodes == ("1", "0", "out", "frame")
    assert model.elements[3].notes == {"An": "-90"}


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        (3, number(3)),
        (0.1, number(Fraction(1, 10))),
        (Fraction(1, 3), number(Fraction(1, 3))),
        ("2 kohm", number(2000)),
        (number(7), number(7)),
    ],
)
def test_values_may_be_numbers_texts_and_expressions(value: str | float | Fraction, expression: object) -> None:
    net = Network("T")
    net.resistor("R_1", "a", R=value)
    assert net.model().parameters["R_1"].expression is expression


def test_an_expression_of_parameters_is_kept() -> None:
    net = Network("T")
    net.parameter("a", "3 ohm")
    net.resistor("R_1", "x", R=2 * symbol("a"))
    assert net.model().elements[0].value is parse("2*a")


def test_an_unknown_kind_gets_the_nearest_word() -> None:
    with pytest.raises(AttributeError, match=r"a network has no 'resistro': did you mean 'resistor'\?"):
        Network("T").resistro("R", "a")


def test_the_kinds_are_listed_for_completion() -> None:
    assert {"voltage_source", "dc_machine", "connection", "parameter"} <= set(dir(Network("T")))


def test_wrong_calls_are_told_as_wrong_files_are() -> None:
    net = Network("T")
    net.resistor("R_1", "a", "a", R="2 kohn")
    net.add("resistr", "R_2", "a")
    net.capacitor("C", "a", C=float("nan"))
    with pytest.raises(DescriptionError) as caught:
        net.model()
    assert [f.code for f in caught.value.findings] == ["D050", "D110", "D124"]
    assert caught.value.finding.place is not None
    assert caught.value.finding.place.file == "<T>"


def test_the_same_name_twice_is_refused_at_once() -> None:
    net = Network("T")
    net.resistor("R", "a")
    with pytest.raises(DescriptionError, match="the element 'R' is described twice"):
        net.resistor("R", "b")


def test_a_name_with_an_index_and_odd_texts_survive() -> None:
    net = Network("It's: odd, # very", about="two\nlines: {x}")
    net.resistor("R[3]", "n[3]", "n[4]", R="1 ohm/3", notes={"a, b": "c: d #"})
    model = net.model()
    assert (model.name, model.about) == ("It's: odd, # very", "two\nlines: {x}")
    assert model.elements[0].nodes == ("n[3]", "n[4]")
    assert model.elements[0].notes == {"a, b": "c: d #"}
