"""Laws of inverses: degrees are those of transfer functions, and a model fed with what was found does what was prescribed."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tellegen as tg
from support import exact
from support.amount import FEWER
from support.evaluated import CONFLICTS
from support.networks import Network
from support.nodal import Table, _across
from support.strategies import networks
from tellegen.core.errors import CausalityError, EquationError
from tellegen.graph import lower
from tellegen.notations.reading import read_model

FAR = [Fraction(10) ** 12, Fraction(10) ** 13]
"""Where a transfer function is its highest power, whatever the numbers of the network."""


def degree(network: Network, source: str, element: str, side: str) -> int | None:
    """How many powers of s the transfer function from a source to a variable falls by, by nodal analysis; None where it is zero."""
    table = Table(network)
    k = [part.name for part in table.sources].index(source)
    values = []
    for s in FAR:
        found = exact.solve(table.rows(s), table.count, len(table.sources))
        assume(found is not None)
        assert found is not None
        row = _across(table.branch[element]) if side == "across" else {table.branch[element].through: Fraction(1)}
        values.append(sum((e * found[c][k] for c, e in row.items()), Fraction(0)))
    if values[0] == 0:
        return None
    return -round(float(np.log10(abs(float(values[1] / values[0])))))


@FEWER
@given(networks(many_sources=True), st.data())
def test_the_relative_degree_is_that_of_the_transfer_function(network: Network, data: st.DataObject) -> None:
    valued = Network(network.parts, valued=True)
    model = valued.model()
    graph = lower(model)
    source = data.draw(st.sampled_from([p for p in network.parts if p.is_source]))
    port = data.draw(st.sampled_from(graph.ports))
    side = data.draw(st.sampled_from(["across", "through"]))
    name = port.across if side == "across" else port.through
    input_ = next(p.law.input for p in graph.ports if p.element == source.name)  # type: ignore[union-attr]
    # The source itself decides its own variable: that is degree zero too.
    expected = degree(valued, source.name, port.element, side)
    assert tried_degree(model, name, input_, expected) == expected


def tried_degree(model: tg.Model, name: str, input_: str, expected: int | None) -> int | None:
    """The degree that the inverse tells; None where it tells that no input acts."""
    try:
        return tg.invert(model, prescribe=[name], for_=[input_]).degrees[name]
    except CausalityError as error:
        assume(error.code not in CONFLICTS)
        raise
    except EquationError as error:
        # Where the rate of the input counts there is no inverse to look at, whether the output meets it or not.
        assume(error.code != "E142" or (expected is not None and expected < 0))
        if error.code in ("E140", "E142"):
            return expected if error.code == "E142" else None
        raise


# -- Chains through which an output follows its course

LAWS_OF_FRICTION = [
    "b: 0.02 N*m*s",
    "law: tau = 0.02 N*m*s*omega + 1e-4 N*m*s^2*omega*abs(omega)",
    "law: tau = 0.3 N*m*tanh(omega/(20 rad/s))",
]


@dataclass
class Chain:
    """A drive from a voltage to a pressure, with what may stand between."""

    text: str
    outputs: list[str]


@st.composite
def chains(draw: st.DrawFn) -> Chain:
    lines = ["V: {voltage source: [a, gnd]}"]
    node, outputs = "a", []
    if draw(st.booleans()):
        law = draw(st.sampled_from(["R: 0.8 ohm", "law: v = 0.8 ohm*i + 0.01 V/A^3*i^3"]))
        lines.append(f"R: {{resistor: [{node}, b], {law}}}")
        node = "b"
    if draw(st.booleans()):
        law = draw(st.sampled_from(["L: 3 mH", "law: phi = 10 mWb*tanh(i/(20 A))"]))
        lines.append(f"L: {{inductor: [{node}, c], {law}, current: i_L}}")
        outputs.append("i_L")
        node = "c"
    # An ideal source at an ideal motor would decide the speed: its rate counts then.
    if node == "a":
        lines.append("R: {resistor: [a, c], R: 0.5 ohm}")
        node = "c"
    lines += [
        f"motor: {{dc machine: [{node}, gnd, s, frame], K: 0.2 N*m/A}}",
        "J: {inertia: [s], J: 0.01 kg*m^2, angular velocity: w}",
    ]
    lines.append(f"b: {{friction: [s, frame], {draw(st.sampled_from(LAWS_OF_FRICTION))}}}")
    outputs += ["w", "tau_b"]
    shaft = "s"
    if draw(st.booleans()):
        lines += [
            "gear: {gear: [s, frame, g, frame], n: 3}",
            "J_2: {inertia: [g], J: 0.05 kg*m^2, angular velocity: w_2}",
        ]
        outputs.append("w_2")
        shaft = "g"
    if draw(st.booleans()):
        law = draw(st.sampled_from(["K: 40 N*m/rad", "law: tau = 40 N*m/rad*(theta + 2*theta^3)"]))
        lines += [f"k: {{torsion spring: [{shaft}, e], {law}}}", f"d: {{friction: [{shaft}, e], b: 0.3 N*m*s}}"]
        lines.append("J_3: {inertia: [e], J: 0.03 kg*m^2, angular velocity: w_3}")
        outputs.append("w_3")
        shaft = "e"
    if draw(st.booleans()):
        law = draw(
            st.sampled_from(["G: 2e-11 m^3/(Pa*s)", "law: Q = P*(2e-11 m^3/(Pa*s)) + P*abs(P)*(1e-17 m^3/(Pa^2*s))"])
        )
        lines += [
            f"pump: {{pump: [{shaft}, frame, o, tank], K: 1e-6 m^3/rad}}",
            "C: {accumulator: [o, tank], C: 1e-12 m^3/Pa, pressure: p}",
        ]
        lines.append(f"leak: {{leak: [o, tank], {law}}}")
        outputs.append("p")
    text = "system: chain\nnetwork:\n" + "".join(f"  {line}\n" for line in lines) + "experiment: {until: 1 s}\n"
    return Chain(text, outputs)


SIZES = {"i_L": 3.0, "w": 20.0, "tau_b": 0.2, "w_2": 6.0, "w_3": 6.0, "p": 2e5}


@FEWER
@given(chains(), st.data())
def test_a_model_fed_with_the_inputs_found_does_what_was_prescribed(chain: Chain, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(chain.outputs))
    model = read_model(chain.text)
    course = f"{SIZES[name]}*(1 - cos(2*t/(1 s)))/2"
    found = tg.invert(model, prescribe={name: course}, for_=["V"], samples=4000)
    wanted = SIZES[name] * (1 - np.cos(2 * found.t)) / 2
    assert found.values(name) == pytest.approx(wanted, abs=1e-5 * SIZES[name])
    assert sum(found.equations.degrees.values()) + found.equations.remaining == len(found.equations.rates)
    # Straight lines between 4000 points are off by 1e-7 of a curve that bends like this one; the rest is what a run may be off.
    start = dict(zip(found.run.state_names, found.run.table(found.run.state_names)[0].tolist(), strict=True))
    fed = tg.simulate(
        model, inputs={"V": tg.table(found.t.tolist(), found.values("V").tolist())}, initial=start, rtol=1e-8
    )
    wanted = SIZES[name] * (1 - np.cos(2 * fed.t)) / 2
    assert fed.values(name) == pytest.approx(wanted, abs=1e-4 * SIZES[name])
    assert found.run.energy.residual < 1e-5
