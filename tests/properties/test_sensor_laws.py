"""Every sensor of a random network against nodal analysis: in the transfer matrix, the closed form, its linearisation and a run.

A sensor reads the across variable between two nodes, or the through variable of a port or of a side of a coupling.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import permutations
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import assume, given, settings

import tellegen as tg
from support import exact
from support.amount import SLOW
from support.evaluated import Evaluated, legal
from support.networks import Network, Part
from support.no_compiler import no_compiler
from support.nodal import DOMAINS_OF_PAIRS, Row, Table
from support.strategies import laplace_points, networks
from tellegen.core.domains import DOMAINS
from tellegen.core.errors import GraphError
from tellegen.elements import KINDS
from tellegen.equations.derivation import measured_equations
from tellegen.equations.forms.linearisation import linearise_equations
from tellegen.equations.system import EquationSystem, with_measured_outputs
from tellegen.expressions import symbol
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.model.signals import SignalDefinition

T = TypeVar("T")

MOST_PAIRS = 3
MOST_THROUGHS = 4


@dataclass(frozen=True)
class Sensor:
    """A signal, and what it reads of the unknowns of nodal analysis."""

    signal: SignalDefinition
    row: Row


Sensors = Mapping[str, Sensor]


def across_sensors(table: Table) -> list[tuple[tuple[str, str], Row]]:
    """Every ordered pair of nodes that ports join."""
    groups: dict[str, set[str]] = {}
    for part in table.ports:
        ends = [_named(node, part.kind) for node in part.nodes]
        joined = set(ends).union(*(groups.get(end, {end}) for end in ends))
        groups |= dict.fromkeys(joined, joined)
    found = []
    for group in {frozenset(g) for g in groups.values()}:
        for pair in permutations(sorted(group), 2):
            row: Row = {}
            for node, sign in zip(pair, (1, -1), strict=True):
                column = table.column[node]
                if column is not None:
                    row[column] = row.get(column, Fraction(0)) + sign
            found.append((pair, row))
    return found


def through_sensors(table: Table) -> Iterator[tuple[str, Row]]:
    """The through variables of ports, and of both sides of couplings; those of sources count out of them."""
    for part in table.ports:
        if not (part.is_source and KINDS[part.kind].side == "through"):
            (name,), gives = throughs_of(part), -1 if part.is_source else 1
            yield name, {table.branch[part.name].through: Fraction(gives)}
    for part in table.couplings:
        for name, branch in zip(throughs_of(part), table.sides[part.name], strict=True):
            yield name, {branch.through: Fraction(1)}


def throughs_of(part: Part) -> list[str]:
    """The names of its through variables."""
    letters = [DOMAINS[domain].through.symbol for domain in KINDS[part.kind].domains]
    if len(letters) == 1:
        return [f"{letters[0]}_{part.name}"]
    return [f"{letter}_{part.name.removesuffix('_')}_{k}" for k, letter in enumerate(letters, 1)]


def _named(node: str, kind: str) -> str:
    translational = kind in ("mass", "spring", "compliance", "damper", "mobility", "velocity source", "force source")
    return f"{'m' if translational else 'r'}:{node}" if node == "frame" else node


def sensors_of(network: Network, s: Fraction) -> Sensors:
    """Some of them: a few pairs of nodes in both directions, and a few through variables."""
    table = Table(network)
    pairs = _some(across_sensors(table), MOST_PAIRS, s)
    pairs = [one for one in across_sensors(table) if any(one[0] in (pair, pair[::-1]) for pair, _ in pairs)]
    found = {}
    for k, (pair, row) in enumerate(pairs):
        nodes = tuple(node.split(":")[-1] for node in pair)
        found[f"across_{k}"] = Sensor(SignalDefinition(f"across_{k}", "across", {"across": nodes}), row)
    for k, (name, row) in enumerate(_some(list(through_sensors(table)), MOST_THROUGHS, s)):
        if is_told(network, name):
            found[f"through_{k}"] = Sensor(reading(f"through_{k}", name), row)
    return found


def reading(signal: str, name: str) -> SignalDefinition:
    return SignalDefinition(signal, "formula", {"formula": symbol(name)}, texts={"formula": name})


def is_told(network: Network, name: str) -> bool:
    """Whether Kirchhoff's laws give it by the ports: what goes round among couplings alone is refused by its name."""
    try:
        lower(with_sensors(network, {"read": Sensor(reading("read", name), {})}))
    except GraphError as error:
        if error.code != "G121" or sum(part.kind in DOMAINS_OF_PAIRS for part in network.parts) < 2:
            raise
        return False
    return True


def _some(found: list[T], most: int, s: Fraction) -> list[T]:
    start = s.numerator % max(len(found), 1)
    return (found[start:] + found[:start])[:most]


def with_sensors(network: Network, sensors: Sensors) -> Model:
    model = replace(network, valued=True).model()
    return replace(model, signals={name: sensor.signal for name, sensor in sensors.items()})


def by_nodal_analysis(network: Network, sensors: Sensors, s: Fraction) -> dict[str, list[Fraction]]:
    """What each sensor reads of each source."""
    table = Table(network)
    solved = exact.solve(table.rows(s), table.count, len(table.sources))
    assume(solved is not None)
    assert solved is not None
    sources = range(len(table.sources))
    return {
        name: [sum((e * solved[column][j] for column, e in sensor.row.items()), Fraction(0)) for j in sources]
        for name, sensor in sensors.items()
    }


def rows_of(system: EquationSystem, network: Network, s: Fraction) -> dict[str, list[Fraction]]:
    """The rows of the outputs of a linear system at values of its parameters."""
    rows = Evaluated(system, network.values).transfer_matrix(s)
    assume(rows is not None)
    assert rows is not None
    return dict(zip(system.outputs, rows, strict=True))


@settings(max_examples=50 if SLOW else 10)
@given(networks(), laplace_points)
def test_every_sensor_reads_what_nodal_analysis_says(network: Network, s: Fraction) -> None:
    legal(network)
    sensors = sensors_of(network, s)
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


@settings(max_examples=8 if SLOW else 3)
@given(networks(), laplace_points)
def test_a_run_reads_its_sensors_and_powers_as_nodal_analysis_does(network: Network, s: Fraction) -> None:
    """The rows that nodal analysis was compared with give, at the states and inputs of a run, what its sensors say."""
    legal(network)
    sensors = sensors_of(network, s)
    model = with_sensors(network, sensors)
    system = with_measured_outputs(measured_equations(model, sensors), tuple(sensors))
    inputs = {name: 1.0 + k for k, name in enumerate(system.inputs)}
    assume(system.is_zero("B_1") and system.is_zero("D_1"))
    with no_compiler():  # every model here is another program, and runs for two rows
        run = tg.simulate(model, until=0.01, times=[0.01], inputs=inputs, progress=False)
    last = run.final()
    rows = Evaluated(system, network.values)
    x, u = ([Fraction(last[name]) for name in names] for names in (system.states, system.inputs))
    for name, C, D in zip(sensors, rows.C, rows.D, strict=True):
        wanted = sum((a * b for a, b in zip([*C, *D], [*x, *u], strict=True)), Fraction(0))
        size = max(abs(float(a * b)) for a, b in zip([*C, *D, Fraction(1)], [*x, *u, Fraction(1)], strict=True))
        assert last[name] == pytest.approx(float(wanted), abs=1e-9 * size), name
    balance(run, network)


def balance(run: tg.Run, network: Network) -> None:
    """A power is what the two variables say, the same on both sides of a coupling; powers of all ports add up to nothing."""
    powers = []
    for part in network.parts:
        sides = [f"{part.name}.{k}" for k in (1, 2)] if part.kind in DOMAINS_OF_PAIRS else [part.name]
        if len(sides) > 1 and not all(is_told(network, name) for name in throughs_of(part)):
            continue
        power = float(run.power(part.name)[-1])
        for side in sides:
            product = float(run.across(side)[-1]) * float(run.through(side)[-1])
            assert power == pytest.approx(product, rel=1e-9, abs=1e-9), part.name
        if len(sides) == 1:
            powers.append(-power if part.is_source else power)
    assert sum(powers) == pytest.approx(0.0, abs=1e-8 * max(1.0, *map(abs, powers)))
