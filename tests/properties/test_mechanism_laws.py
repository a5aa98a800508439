"""Laws of mechanics that hold for any planar chain: M is symmetric and positive, M' = C + C^T; forces against a plain solver."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.mechanisms import Chain, Link, closed_chains, evaluated, multibody, open_chains, weights
from support.no_compiler import no_compiler
from tellegen.equations.system import EquationSystem
from tellegen.notations.reading import read_model


def point(chain: Chain, system: EquationSystem) -> dict[str, float]:
    """A position of the chain, and speeds."""
    angles = {f"b{k}.phi": link.angle for k, link in enumerate(chain.links)}
    rest = {name: 0.3 for name in system.displacements if name not in angles}
    speeds = {name: 0.7 - 0.4 * k for k, name in enumerate(system.states)}
    return {name: value for name, value in angles.items() if name in system.displacements} | rest | speeds


def rates(system: EquationSystem, at: dict[str, float]) -> dict[str, float]:
    known = {**{n: float(v) for n, v in system.values().items()}, **at}
    for name, expression in system.where.items():
        known[name] = expression.evaluate(known)
    return {name: rate.evaluate(known) for name, rate in system.displacements.items()}


def check_inertia(chain: Chain) -> None:
    system = tg.derive(read_model(chain.text()))
    at = point(chain, system)
    M, C = evaluated(system, "L", at), evaluated(system, "N", at)
    assert np.allclose(M, M.T, rtol=1e-10, atol=1e-12 * np.abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0
    moving, h = rates(system, at), 1e-6
    ahead, behind = ({**at, **{n: at[n] + sign * h * v for n, v in moving.items()}} for sign in (1, -1))
    change = (evaluated(system, "L", ahead) - evaluated(system, "L", behind)) / (2 * h)
    assert np.allclose(C + C.T, change, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(C).max()))


@settings(max_examples=25)
@given(open_chains())
def test_the_mass_matrix_of_an_open_chain_is_positive_and_its_rate_is_c_plus_its_transpose(chain: Chain) -> None:
    check_inertia(chain)


@settings(max_examples=15)
@given(closed_chains())
def test_the_mass_matrix_of_a_closed_chain_is_positive_and_its_rate_is_c_plus_its_transpose(chain: Chain) -> None:
    check_inertia(chain)


CHAINS = [
    Chain(
        (Link(-1, 1.2, 0.3, (0.4, 0.1), (0.9, 0.0), 0.4, 1.5), Link(0, 0.8, 0.1, (0.3, -0.1), (0.6, 0.2), -1.1, -0.7))
    ),
    Chain(
        (
            Link(-1, 1.0, 0.2, (0.5, 0.0), (1.0, 0.0), 1.0, 0.5),
            Link(0, 0.7, 0.1, (0.2, 0.1), (0.5, 0.1), 0.2, -1.0),
            Link(0, 0.9, 0.1, (0.3, 0.0), (0.6, 0.0), 2.2, 2.0),
            Link(2, 0.4, 0.0, (0.2, 0.0), (0.4, 0.0), -0.3, 0.4),
        )
    ),
    Chain(
        (
            Link(-1, 1.0, 0.2, (0.2, 0.05), (0.4, 0.0), 1.1, 0.0),
            Link(0, 0.7, 0.1, (0.3, 0.0), (0.9, 0.0), 0.1, 0.0),
            Link(1, 0.9, 0.1, (0.3, 0.1), (0.7, 0.0), -1.9, 0.0),
        ),
        closed=True,
    ),
]


@pytest.mark.parametrize("chain", CHAINS, ids=["double pendulum", "tree with a point mass", "four-bar linkage"])
def test_accelerations_and_joint_forces_are_those_of_a_plain_multibody_solver(chain: Chain) -> None:
    run = tg.simulate(read_model(chain.text()), samples=200)
    count = len(chain.links)
    names = [f"j{k}" for k in range(count)] + (["last"] if chain.closed else [])
    system = multibody(chain)
    for row in (0, 100, 200):
        angles = [float(run.values(f"b{k}.phi")[row]) for k in range(count)]
        speeds = [float(run.values(f"b{k}.omega")[row]) for k in range(count)]
        accelerations, forces = system.solve(angles, speeds, weights(chain))
        independent = [k for k in range(count) if f"b{k}.omega" in run.state_names]
        for k in independent:
            found = run.trajectory.yp[row, run.state_names.index(f"b{k}.omega")]
            assert found == pytest.approx(accelerations[3 * k + 2], rel=1e-7, abs=1e-7)
        for name, force in zip(names, forces, strict=True):
            # The solver of the test adds G^T lambda on the left: lambda is the force of the second body on the first.
            assert run.values(f"{name}.F_x")[row] == pytest.approx(force[0], rel=1e-6, abs=1e-6), name
            assert run.values(f"{name}.F_y")[row] == pytest.approx(force[1], rel=1e-6, abs=1e-6), name


@pytest.mark.parametrize("chain", CHAINS, ids=["double pendulum", "tree with a point mass", "four-bar linkage"])
def test_energy_is_conserved_without_friction(chain: Chain) -> None:
    """What the bodies gain by falling is the potential energy that they lose, and nothing is supplied."""
    run = tg.simulate(read_model(chain.text()))
    assert run.trajectory.books is not None
    assert abs(run.trajectory.books.residual) < 1e-8  # ten times the tolerance asked of the file
    height = sum(
        link.mass * (_height(run, chain, k, -1) - _height(run, chain, k, 0)) for k, link in enumerate(chain.links)
    )
    assert run.energy.potential == pytest.approx(9.81 * height, rel=1e-6, abs=1e-8)
    assert run.energy.supplied == 0.0
    assert run.energy.stored + run.energy.potential == pytest.approx(0.0, abs=1e-8 * abs(run.energy.potential))


def _height(run: tg.Run, chain: Chain, k: int, row: int) -> float:
    def at(j: int, pair: tuple[float, float]) -> float:
        if j < 0:
            return 0.0
        phi = float(run.values(f"b{j}.phi")[row])
        link = chain.links[j]
        base = at(link.parent, chain.links[link.parent].tip if link.parent >= 0 else (0.0, 0.0))
        return base + math.sin(phi) * pair[0] + math.cos(phi) * pair[1]

    return at(k, chain.links[k].centre)


POINTS = {"origin": (0.0, 0.0), "centre": (0.0, 0.0), "hub": (0.0, 0.0), "tip": (0.5, 0.25)}
ARM = """\
system: Arm
mechanism:
  gravity: [0 m/s^2, -9.81 m/s^2]
  bodies:
    arm: {{mass: 2 kg, inertia: 0.1 kg*m^2, angle: phi, angular velocity: omega, {centre} points: {{tip: [0.5 m, 0.25 m],
      hub: [0 m, 0 m]}}}}
  joints: {{p: {{revolute: [ground.origin, arm.{held}]}}}}
network:
  d: {{damper: [arm.{point}.{axis}, frame], b: 3 N*s/m}}
signals: {{u: {{across: [arm.{point}.{axis}]}}}}
experiment: {{until: 0.2 s, initial: {{phi: 0.3, omega: 2 rad/s}}}}
"""


@settings(max_examples=8)
@given(st.sampled_from(sorted(POINTS)), st.sampled_from(sorted(POINTS)), st.sampled_from("xy"), st.booleans())
def test_every_point_of_a_body_is_a_node_wherever_it_stands(held: str, point: str, axis: str, central: bool) -> None:
    centre = "" if central else "centre: [0.3 m, 0 m],"
    model = read_model(ARM.format(held=held, point=point, axis=axis, centre=centre))
    assert not [finding for finding in tg.check(model).findings if finding.code == "G101"]
    with no_compiler():
        run = tg.simulate(model, samples=4)
    places = {**POINTS, "centre": (0.0, 0.0) if central else (0.3, 0.0)}
    dx, dy = (places[point][k] - places[held][k] for k in (0, 1))
    phi, omega = run.values("phi"), run.values("omega")
    moves = {"x": -omega * (dx * np.sin(phi) + dy * np.cos(phi)), "y": omega * (dx * np.cos(phi) - dy * np.sin(phi))}
    assert np.allclose(run.values("v_d"), moves[axis], atol=1e-9)
    assert np.allclose(run.values("u"), moves[axis], atol=1e-9)
