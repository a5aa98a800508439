"""Initial values on the lines of storages: the unit tells whether the output is meant or what is held."""

import pytest

import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.elements import KINDS, ElementKind
from tellegen.equations.start import model_start
from tellegen.notations.reading import read_model

STORAGES = [
    kind
    for kind in dict.fromkeys(KINDS.values())
    if kind.role == "storage" and kind.quantity is not None and not kind.energy and kind.domains != ("heat",)
]


def lone(kind: ElementKind, line: str) -> str:
    """One storage beside a resistive element of its domain, so that it is a state."""
    loss = next(k for k in KINDS.values() if k.role == "resistive" and k.domains == kind.domains)
    assert loss.quantity is not None
    beside = f"{{{loss.name}: [a], {loss.quantity.key}: 1}}"
    return f"system: s\nnetwork:\n  S: {{{kind.name}: [a], {line}}}\n  R: {beside}\n"


def start(text: str) -> float:
    model = read_model(text)
    (state,) = tg.derive(model).states
    return model_start(model)[state]


@pytest.mark.parametrize("kind", STORAGES, ids=lambda kind: kind.name)
def test_a_linear_storage_starts_by_its_output_or_by_what_it_holds(kind: ElementKind) -> None:
    assert kind.quantity is not None
    value = f"{kind.quantity.key}: 4"
    output, held = kind.domain.power(kind.side).unit, kind.domain.energy(kind.side).unit
    inertia = 1 / 4 if kind.inverse else 4
    assert start(lone(kind, f"{value}, initial: 3 {output}")) == pytest.approx(3.0, rel=1e-14)
    assert start(lone(kind, f"{value}, initial: 3 {held}")) == pytest.approx(3.0 / inertia, rel=1e-14)


@pytest.mark.parametrize("kind", [kind for kind in STORAGES if not kind.inverse], ids=lambda kind: kind.name)
@pytest.mark.parametrize("given", ["output", "held"])
def test_a_bent_storage_starts_by_its_output_or_by_what_it_holds(kind: ElementKind, given: str) -> None:
    """y = q + q^3/10 keeps what it holds, q = y + y^3/10 its output; either may be given."""
    out, content = kind.domain.power(kind.side), kind.domain.energy(kind.side)
    unit = out.unit if given == "output" else content.unit
    for left, right, keeps in ((out, content, True), (content, out, False)):
        x = right.letters[0]
        found = start(lone(kind, f"law: {left.letters[0]} = {x} + {x}^3/10, initial: 2 {unit}"))
        # The state is what the law reads: given directly, or solved for.
        direct = (given == "held") == keeps
        assert (found if direct else found + found**3 / 10) == pytest.approx(2.0, rel=1e-12)


def test_a_parameter_says_by_its_unit_what_is_meant() -> None:
    network = "network:\n  C: {capacitor: [a], C: 2 uF, initial: s_0}\n  R: {resistor: [a], R: 1 ohm}\n"
    text = "system: s\nparameters: {s_0: 6 uC}\n" + network
    assert start(text) == pytest.approx(3.0, rel=1e-14)
    assert start(text.replace("6 uC", "6 V")) == pytest.approx(6.0, rel=1e-14)


def test_other_units_are_refused() -> None:
    with pytest.raises(DescriptionError) as caught:
        read_model("system: s\nnetwork:\n  C: {capacitor: [a], C: 2 uF, initial: 3 A}\n")
    assert "initial value of C" in str(caught.value)


@pytest.mark.parametrize("notation", ["network", "bond", "pog"])
def test_notations_keep_what_is_meant(notation: str) -> None:
    text = "system: s\nnetwork:\n  C: {capacitor: [a], C: 2 uF, initial: 3 uC}\n  R: {resistor: [a], R: 1 ohm}\n"
    again = tg.translate(read_model(text), notation)  # type: ignore[arg-type]
    assert start(again) == pytest.approx(1.5, rel=1e-14)
