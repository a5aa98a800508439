"""Residual sinks of a described bond graph have the strokes and half arrows of those that conditioning draws."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.model.bond_graph import SINKS
from tellegen.notations.reading import read_model
from tellegen.schemes import BondGraphScheme
from tellegen.schemes.translation import translation


def chain(count: int, sinks: bool, chance: random.Random) -> str:
    """Inertias that are rigidly joined one to the next, or their duals: capacities side by side; with a sink at each joint."""
    rotational = chance.random() < 0.5
    shared, between, store, source, sink = ("1", "0", "I", "Se", "rSe") if rotational else ("0", "1", "C", "Sf", "rSf")
    domain = "rotational" if rotational else "electrical"
    lines = [f"{source}:u -> {shared}:n1 ({domain})"]
    for k in range(1, count + 1):
        lines.append(f"n{k} -> {store}:s{k}")
        if chance.random() < 0.5:
            lines.append(f"n{k} -> R:r{k}")
        if k < count:
            lines += [f"n{k} -> {between}:j{k}", f"j{k} -> {shared}:n{k + 1}"]
            if sinks:
                lines.append(f"{sink}:x{k} -> j{k}" if chance.random() < 0.5 else f"j{k} -> {sink}:x{k}")
    values = ", ".join(f"{name}: {chance.randint(1, 9)}" for k in range(1, count + 1) for name in (f"s{k}", f"r{k}"))
    body = "\n".join(f"  - {line}" for line in lines)
    return f"system: chain\nparameters: {{{values}}}\nbond graph:\n{body}\n"


def sinks_of(scheme: BondGraphScheme) -> list[tuple[str, bool, bool]]:
    """The letters of every sink, whether it decides what its junction receives, and whether its half arrow leaves it."""
    found = []
    for name, item in scheme.one_ports.items():
        if item.letters in SINKS:
            (bond,) = scheme.bonds_of(name)
            found.append((item.letters, bond.receives(bond.other(name)) == item.decides, bond.tail == name))
    return sorted(found)


@settings(max_examples=30)
@given(st.integers(2, 5), st.integers(0, 2**16))
def test_sinks_of_a_user_are_drawn_as_those_of_conditioning(count: int, seed: int) -> None:
    written = read_model(chain(count, True, random.Random(seed)))
    scheme = tg.bond_graph(written)
    stores = [item.causality for item in scheme.one_ports.values() if item.causality]
    assert stores == ["integral"] * count
    plain = read_model(chain(count, False, random.Random(seed)))
    assert sinks_of(scheme) == sinks_of(tg.bond_graph(tg.condition(plain, "residual")))
    checked = tg.check(written)
    assert "K201" not in {finding.code for finding in checked.findings}
    assert not checked.dependent
    assert set(checked.held_by_sinks) == set(tg.check(plain).dependent)
    # Whatever is drawn, the equations are those without sinks.
    one, two = tg.derive(written), tg.derive(plain)
    assert one.states == two.states
    again = tg.bond_graph(read_model(translation(written, "bond")))
    assert sinks_of(again) == sinks_of(scheme)


def test_a_sink_that_keeps_no_constraint_reads_and_frees_nothing() -> None:
    text = "system: x\nparameters: {C: 1 F, R: 1 ohm}\nbond graph:\n  - Sf:I -> 0:n (electrical)\n  - n -> C:C\n"
    scheme = tg.bond_graph(read_model(text + "  - n -> R:R\n  - n -> rSe:x\n"))
    assert [item.causality for item in scheme.one_ports.values() if item.causality] == ["integral"]
    assert scheme.one_ports["x"].kind == "R"


def test_the_force_of_a_sink_is_read_in_a_run() -> None:
    model = read_model(
        "system: x\nparameters: {J_1: 1 kg*m^2, J_2: 2 kg*m^2}\nbond graph:\n  - Se:tau -> 1:a (rotational)\n  - a -> I:J_1\n"
        "  - a -> 0:t\n  - rSe:F -> t\n  - t -> 1:b\n  - b -> I:J_2\n"
    )
    run = tg.simulate(model, until=0.1, inputs={"tau": 3})
    assert abs(run.values("tau_F")[-1]) == pytest.approx(2.0, rel=1e-6)
