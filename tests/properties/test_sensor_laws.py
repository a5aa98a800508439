"""Every sensor of a random network against nodal analysis: in the transfer matrix, the closed form, its linearisation and a run."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings

import tellegen as tg
from support import exact
from support.evaluated import Evaluated, legal
from support.networks import Network
from support.nodal import Table
from support.strategies import laplace_points, networks
from tellegen.equations.derivation import measured_equations
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.system import EquationSystem, with_measured_outputs
from tellegen.model.model import Model
from tellegen.model.signals import SignalDefinition

MOST_PAIRS = 3
Sensors = dict[str, tuple[str, str, bool]]
"""Two nodes as Table names them, and whether translation is meant."""


def sensors_of(network: Network) -> Sensors:
    """A sensor for every ordered pair of nodes that ports join, in both directions."""
    found: Sensors = {}
    table = Table(network)
    groups: dict[str, set[str]] = {}
    for part in table.ports:
        ends = [_named(node, part.kind) for node in part.nodes]
        joined = set(ends).union(*(groups.get(end, {end}) for end in ends))
        groups |= dict.fromkeys(joined, joined)
    for group in {frozenset(g) for g in groups.values()}:
        for a, b in permutations(sorted(group), 2):
            found[f"sensor_{len(found)}"] = a, b, a.startswith("m:") or b.startswith("m:")
    return found


def _named(node: str, kind: str) -> str:
    translational = kind in ("mass", "spring", "compliance", "damper", "mobility", "velocity source", "force source")
    return f"{'m' if translational else 'r'}:{node}" if node == "frame" else node


def with_sensors(network: Network, sensors: Sensors) -> Model:
    model = replace(network, valued=True).model()
    signals = {
        name: SignalDefinition(name, "across", {"across": tuple(n.split(":")[-1] for n in pair)})
        for name, (*pair, _) in sensors.items()
    }
    return replace(model, signals=signals)


def by_nodal_analysis(network: Network, sensors: Sensors, s: Fraction) -> dict[str, list[Fraction]]:
    """What each sensor reads of each source."""
    table = Table(network)
    solved = exact.solve(table.rows(s), table.count, len(table.sources))
    assume(solved is not None)
    assert solved is not None

    def potential(node: str, j: int) -> Fraction:
        column = table.column[node]
        return Fraction(0) if column is None else solved[column][j]

    sources = range(len(table.sources))
    return {name: [potential(a, j) - potential(b, j) for j in sources] for name, (a, b, _) in sensors.items()}


def rows_of(system: EquationSystem, network: Network, s: Fraction) -> dict[str, list[Fraction]]:
    """The rows of the outputs of a linear system at values of its parameters."""
    rows = Evaluated(system, network.values).transfer_matrix(s)
    assume(rows is not None)
    assert rows is not None
    return dict(zip(system.outputs, rows, strict=True))


def sampled(sensors: Sensors, s: Fraction) -> Sensors:
    """A few pairs of nodes, in both directions."""
    names = list(sensors)
    start = s.numerator % len(names)
    pairs = {sensors[name][:2] for name in (names[start:] + names[:start])[:MOST_PAIRS]}
    return {n: found for n, found in sensors.items() if found[:2] in pairs or found[1::-1] in pairs}


@settings(max_examples=50)
@given(networks(), laplace_points)
def test_every_sensor_reads_what_nodal_analysis_says(network: Network, s: Fraction) -> None:
    legal(network)
    sensors = sampled(sensors_of(network), s)
    model = with_sensors(network, sensors)
    wanted = by_nodal_analysis(network, sensors, s)
    measured = with_measured_outputs(measured_equations(model, sensors), tuple(sensors))
    assert rows_of(measured, network, s) == wanted
    loop = tg.derive(model, closed=True)
    closed = rows_of(loop, network, s)
    assert {name: closed[name] for name in sensors} == wanted
    numbers = rows_of(linearise_equations(loop, {}), network, s)
    for name in sensors:
        assert np.array(numbers[name], float) == pytest.approx(np.array(wanted[name], float), rel=1e-6, abs=1e-9)


@settings(max_examples=4)
@given(networks(couplings=False), laplace_points)
def test_a_run_reads_its_sensors_as_nodal_analysis_does(network: Network, s: Fraction) -> None:
    """The rows that nodal analysis was compared with give, at the states and inputs of a run, what its sensors say."""
    legal(network)
    sensors = sampled(sensors_of(network), s)
    model = with_sensors(network, sensors)
    system = with_measured_outputs(measured_equations(model, sensors), tuple(sensors))
    inputs = {name: 1.0 + k for k, name in enumerate(system.inputs)}
    assume(system.is_zero("B_1"))
    run = tg.simulate(model, until=0.1, times=[0.1], inputs=inputs)
    last = run.final()
    rows = Evaluated(system, network.values)
    x, u = ([Fraction(last[name]) for name in names] for names in (system.states, system.inputs))
    for name, C, D in zip(sensors, rows.C, rows.D, strict=True):
        wanted = sum((a * b for a, b in zip([*C, *D], [*x, *u], strict=True)), Fraction(0))
        size = max(abs(float(a * b)) for a, b in zip([*C, *D, Fraction(1)], [*x, *u, Fraction(1)], strict=True))
        assert last[name] == pytest.approx(float(wanted), abs=1e-9 * size), name
