"""Gains that are too long to be written keep their zeros, their equalities and their values modulo a prime."""

import pytest

from support.networks import Network, causality, network
from tellegen.drawing import draw
from tellegen.expressions import ONE, ZERO, Expression, is_zero, symbol
from tellegen.expressions.elimination import NamedEntries, TooManyNamesError
from tellegen.expressions.nodes import PRIME
from tellegen.scenes.scene import Label
from tellegen.schemes import gains, pog
from tellegen.schemes.gains import OUTLINE, UndeterminedError, is_outlined, outlined_gains


def _mesh(side: int) -> Network:
    """A square mesh of resistors from a source to two capacitors."""
    parts = [("V", "voltage source", "n0_0", "gnd")]
    for i in range(side):
        for j in range(side):
            if j + 1 < side:
                parts.append((f"Rh_{i}_{j}", "resistor", f"n{i}_{j}", f"n{i}_{j + 1}"))
            if i + 1 < side:
                parts.append((f"Rv_{i}_{j}", "resistor", f"n{i}_{j}", f"n{i + 1}_{j}"))
    last = side - 1
    parts += [("C_1", "capacitor", f"n{last}_{last}", "gnd"), ("C_2", "capacitor", f"n0_{last}", "gnd")]
    return network(*parts)


def _value(entry: Expression) -> tuple[int, int]:
    """The residues that the name of an outline tells."""
    (name,) = entry.free_symbols
    one, two = (int(word, 16) for word in name.removeprefix(OUTLINE).split("_"))
    return (one, two) if entry == symbol(name) else (-one % PRIME, -two % PRIME)


def test_outlines_have_the_values_of_the_gains(monkeypatch: pytest.MonkeyPatch) -> None:
    causal = causality(_mesh(4))
    written = pog(causal).vector
    monkeypatch.setattr(gains, "MOST_NAMES", 0)
    outlined = pog(causal).vector
    assert written is not None
    assert outlined is not None
    pairs = [
        (w, o) for m in ("A", "B") for a, b in zip(getattr(written, m), getattr(outlined, m), strict=True)
        for w, o in zip(a, b, strict=True)
    ]  # fmt: skip
    assert len(pairs) == 6
    assert all(is_outlined(o) and not is_outlined(w) for w, o in pairs)
    assert [w.residues() for w, _ in pairs] == [_value(o) for _, o in pairs]
    assert is_zero(outlined.A[0][1] - outlined.A[1][0]), "a mesh of resistors is reciprocal"
    assert outlined.L == written.L


def test_a_figure_with_outlines_has_the_blocks_of_the_written_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def texts() -> list[str]:
        return [
            s.text for s in draw(mesh, "pog").scene.shapes if isinstance(s, Label) and s.origin.part.endswith(" text")
        ]

    mesh = _mesh(4).model()
    written = texts()
    monkeypatch.setattr(gains, "MOST_NAMES", 0)
    assert texts() == written
    assert r"\mathbf{A}" in written
    assert "too long for a figure" in draw(mesh, "pog").scene.about


def test_simple_gains_stay_numbers_and_zero_is_seen() -> None:
    a, b = symbol("a"), symbol("b")
    equations = [("y", [("u", a), ("v", ONE)]), ("z", [("y", b), ("v", -b)])]
    found = outlined_gains(equations, ["u", "v", "y", "z"], ["y", "z", "u"])
    assert found["y"]["v"] is ONE
    assert found["u"] == {"u": ONE}
    assert found["z"].get("v", ZERO) is ZERO
    assert _value(found["z"]["u"]) == (a * b).residues()


def test_signals_that_follow_from_nothing_are_told() -> None:
    with pytest.raises(UndeterminedError):
        outlined_gains([("y", [("z", ONE)]), ("z", [("y", ONE)])], ["y", "z"], ["y"])


def test_no_more_names_than_allowed() -> None:
    field = NamedEntries({}, most=1)
    long = [sum((symbol(f"{letter}_{k}") for k in range(30)), start=ZERO) for letter in "ab"]
    assert field.named(long[0]) == field.named(long[0])
    with pytest.raises(TooManyNamesError):
        field.named(long[1])
