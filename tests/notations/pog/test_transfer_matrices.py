"""Elaboration blocks given by a matrix of transfer functions: realised by passive elements, or refused with the reason."""

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support import exact
from support.evaluated import Evaluated, legal
from support.networks import Network, Part
from tellegen import derive
from tellegen.core.errors import TellegenError
from tellegen.equations.system import EquationSystem
from tellegen.notations.reading import read_model
from tellegen.synthesis.algebra import Polynomial, add, multiply, polynomial
from tellegen.synthesis.realisation import realise_matrix

POINTS = (0.7j, 0.2 + 1.3j, 3 - 0.4j)
Functions = Sequence[Sequence[Polynomial]]


def numbers(p: Polynomial) -> str:
    """Coefficients of falling powers, as a file writes them."""
    return "[" + ", ".join(str(c) for c in reversed(p or (Fraction(0),))) + "]"


def ladder(
    numerators: Functions, denominator: Polynomial, letter: str = "R", way: str = "series", own: str = "L"
) -> str:
    """Lanes with a storage each, and the matrix beside them."""
    lanes = range(1, len(numerators) + 1)
    rows = "[" + ", ".join("[" + ", ".join(numbers(n) for n in row) + "]" for row in numerators) + "]"
    across, through = (", ".join(f"{v}_{k}" for k in lanes) for v in ("V", "I"))
    storages = ", ".join(f"{own}:{own}_{k}" for k in lanes)
    parameters = ", ".join(f"{own}_{k}: 2" for k in lanes)
    return (
        f"system: x\nparameters: {{{parameters}}}\npog:\n  - domain: electrical\n  - section: [[{across}], [{through}]]\n"
        f"  - {way}: [[{storages}], {{{letter}: load, numerator: {rows}, denominator: {numbers(denominator)}}}]\n"
    )


def matrix_at(numerators: Functions, denominator: Polynomial, s: complex) -> np.ndarray:
    def at(p: Polynomial) -> complex:
        return complex(sum(float(c) * s**k for k, c in enumerate(p)))

    return np.array([[at(n) for n in row] for row in numerators]) / at(denominator)


def numeric(text: str) -> dict[str, np.ndarray]:
    found = derive(read_model(text))
    assert isinstance(found, EquationSystem)
    values = found.values()
    for name, e in found.where.items():
        values[name] = e.evaluate(values)
    n, m = len(found.states), len(found.inputs)
    widths = {"L": n, "A": n, "N": n, "C": n}
    return {
        name: np.array([[e.evaluate(values) for e in row] for row in rows], float).reshape(
            len(rows), widths.get(name, m)
        )
        for name, rows in found.matrices.items()
    }


def transfer(m: dict[str, np.ndarray], s: complex) -> np.ndarray:
    x = np.linalg.solve(s * m["L"] + m["A"], m["B"] + s * m["B_1"])
    found: np.ndarray = m["C"] @ x + m["D"] + s * m["D_1"]
    return found


def check(numerators: Functions, denominator: Polynomial, points: Sequence[complex], letter: str = "R") -> None:
    """The realised model has the transfer matrix, and is passive."""
    way, own = ("series", "L") if letter == "R" else ("parallel", "C")
    m = numeric(ladder(numerators, denominator, letter, way, own))
    size = len(numerators)
    for s in points:
        whole = 2 * s * np.eye(size) + matrix_at(numerators, denominator, s)
        expected = np.linalg.inv(whole)
        assert transfer(m, s) == pytest.approx(expected, rel=1e-8, abs=1e-9 * np.abs(expected).max())
    W = np.block([[m["A"], -m["B"]], [m["C"], m["D"]]])
    W = (W + W.T) / 2
    assert np.linalg.eigvalsh(W).min() >= -1e-9 * max(1.0, np.abs(W).max())
    assert np.linalg.eigvalsh(m["L"]).min() > 0


def p(*falling: int | Fraction) -> Polynomial:
    return polynomial(reversed([Fraction(c) for c in falling]))


# Two-ports by hand. Series arm Z_1 and shunt arm Z_2: Z = [[Z_1 + Z_2, Z_2], [Z_2, Z_2]].
CASES: dict[str, tuple[Functions, Polynomial]] = {
    # Z_1 = 1, Z_2 = R, L and C in parallel, 3 s/(s^2 + s + 2): complex poles
    "complex poles": ([[p(1, 4, 2), p(3, 0)], [p(3, 0), p(3, 0)]], p(1, 1, 2)),
    # Z_1 = 1 + (s + 3)/(s + 1)^2, Z_2 = 1: a double pole
    "double pole": ([[p(2, 5, 5), p(1, 2, 1)], [p(1, 2, 1), p(1, 2, 1)]], p(1, 2, 1)),
    # 2 s, an inductor in series: a pole at infinity; 1/s, a capacitor in shunt: a pole at zero
    "poles at zero and infinity": ([[p(2, 0, 1), p(1)], [p(1), p(1)]], p(1, 0)),
    # L and C in parallel in shunt: poles at +-2j
    "poles on the axis": ([[p(1, 3, 4), p(3, 0)], [p(3, 0), p(3, 0)]], p(1, 0, 4)),
    # a gyrator behind an RC: not symmetric
    "not symmetric": ([[p(1, 3), p(-2, -4)], [p(2, 4), p(1, 3)]], p(1, 2)),
    # complex residues on the axis: a gyrator loaded by a resonator
    "Hermitian residues": ([[p(2, 0), p(1)], [p(-1), p(2, 0)]], p(1, 0, 1)),
    "constant": ([[p(2), p(1)], [p(-1), p(2)]], p(1)),
    "rank one": ([[p(1, 1), p(1, 1)], [p(1, 1), p(1, 1)]], p(1, 1, 1)),
}


@pytest.mark.parametrize("letter", ["R", "G"])
@pytest.mark.parametrize("case", CASES)
def test_a_matrix_is_realised_by_passive_elements(case: str, letter: str) -> None:
    check(*CASES[case], POINTS, letter)


MIXED = """
system: x
parameters: {L_1: 2, J_2: 2}
pog:
  - domain: [electrical, rotational]
  - section: {across: [V, omega], through: [I, tau], given: [V, tau]}
  - mixed: [[L:L_1, J:J_2], {power: load, numerator: NUMERATORS, denominator: DENOMINATOR}]
    ways: [series, parallel]
"""


@pytest.mark.parametrize("case", CASES)
def test_a_matrix_joins_lanes_of_several_domains_and_ways(case: str) -> None:
    """A current and a speed, told to a matrix that gives a voltage and a torque."""
    numerators, denominator = CASES[case]
    rows = "[" + ", ".join("[" + ", ".join(numbers(n) for n in row) + "]" for row in numerators) + "]"
    m = numeric(MIXED.replace("NUMERATORS", rows).replace("DENOMINATOR", numbers(denominator)))
    for s in POINTS:
        expected = np.linalg.inv(2 * s * np.eye(2) + matrix_at(numerators, denominator, s))
        assert transfer(m, s) == pytest.approx(expected, rel=1e-8, abs=1e-9 * np.abs(expected).max())
    W = np.block([[m["A"], -m["B"]], [m["C"], m["D"]]])
    assert np.linalg.eigvalsh(W + W.T).min() >= -1e-9 * max(1.0, np.abs(W).max())


def test_a_letter_means_in_each_lane_what_it_means_there() -> None:
    """R is effort over flow: voltage over current, and torque over angular velocity."""
    text = MIXED.replace("power: load", "R: load").replace("NUMERATORS", "[[[1], [0]], [[0], [3]]]")
    found = numeric(text.replace("DENOMINATOR", "[1]"))
    assert np.diag(found["A"]) == pytest.approx([1, 3])


def test_a_letter_that_a_lane_does_not_know_is_refused() -> None:
    text = MIXED.replace("power: load", "energy: load").replace("NUMERATORS", "[[[1], [0]], [[0], [3]]]")
    with pytest.raises(TellegenError) as caught:
        read_model(text.replace("DENOMINATOR", "[1]"))
    assert "'energy' does not say which variable" in caught.value.what
    assert "'power'" in caught.value.finding.fix


def test_the_number_of_storages_is_the_least() -> None:
    """Three ports that see one resonance: two states, whatever the size of the matrix."""
    found = realise_matrix([[p(1, 1)] * 3 for _ in range(3)], p(1, 1, 1))
    assert (len(found.g), len(found.c)) == (2, 1)


@pytest.mark.parametrize(
    ("numerators", "denominator", "reason"),
    [
        ([[p(1), p(2)], [p(2), p(1)]], p(1, 1), "the Hermitian part has the eigenvalue -0.5 at omega = 1 rad/s"),
        ([[p(1, 1), p(3)], [p(-1), p(1, 1)]], p(1, 2, 1), "the Hermitian part has the eigenvalue"),
        ([[p(1), p(0)], [p(0), p(1)]], p(1, -1), "a pole to the right of the imaginary axis, at s = 1"),
        ([[p(1), p(0)], [p(0), p(1)]], p(1, 0, 0), "it has a pole of order 2 at s = 0"),
        ([[p(1), p(2)], [p(2), p(1)]], p(1, 0), "its residue at s = 0 is not positive semidefinite"),
        ([[p(1), p(1)], [p(2), p(1)]], p(1, 0), "its residue at s = 0 is not symmetric"),
        ([[p(1, 0), p(2, 0)], [p(2, 0), p(1, 0)]], p(1, 0, 4), "its residue at omega = 2 rad/s is not positive"),
        ([[p(1, 0), p(1, 0)], [p(2, 0), p(1, 0)]], p(1, 0, 4), "its residue at omega = 2 rad/s is not Hermitian"),
        ([[p(1, 0), p(0)], [p(0), p(-1, 0)]], p(1), "its residue at infinity is not positive semidefinite"),
        ([[p(1, 0), p(1, 0)], [p(0), p(1, 0)]], p(1), "its residue at infinity is not symmetric"),
        ([[p(1, 0, 0), p(0)], [p(0), p(1)]], p(1), "a numerator has 2 degrees more than the denominator"),
        ([[p(1), p(0)], [p(0), p(1)]], p(0), "its denominator is zero"),
    ],
)
def test_a_matrix_that_is_not_positive_real_is_refused_with_the_reason(
    numerators: Functions, denominator: Polynomial, reason: str
) -> None:
    with pytest.raises(TellegenError) as caught:
        read_model(ladder(numerators, denominator))
    assert caught.value.code == "D462"
    assert reason in caught.value.what
    assert caught.value.finding.where == "load"


def test_a_matrix_with_too_many_states_is_refused() -> None:
    """Seven resonances, the same at both ports, with damping that the poles share: fourteen states each."""
    bottoms = [p(1, 1, k) for k in range(1, 8)]
    bottom = reduce(multiply, bottoms)
    sum_of = reduce(add, (multiply(p(1, 0), reduce(multiply, (b for b in bottoms if b is not own))) for own in bottoms))
    with pytest.raises(TellegenError) as caught:
        read_model(ladder([[sum_of, p(0)], [p(0), sum_of]], bottom))
    assert caught.value.code == "D463"
    assert "2 ports and a stable denominator of degree 14: more than 24 states" in caught.value.what
    assert "sum of matrices" in caught.value.finding.fix


# -- random two-ports ----------------------------------------------------------------------------------------------------------

KINDS = ("resistor", "capacitor", "inductor")
PAIRS = (("a", "gnd"), ("b", "gnd"), ("c", "gnd"), ("a", "b"), ("a", "c"), ("b", "c"))


@st.composite
def two_ports(draw: st.DrawFn) -> Network:
    """R, L and C between the ports a and b, a node c and ground, some with a gyrator; the ports are driven by currents."""
    values = st.sampled_from([Fraction(1), Fraction(2), Fraction(1, 3), Fraction(5, 2)])
    parts = [Part("I_1", "current source", ("gnd", "a")), Part("I_2", "current source", ("gnd", "b"))]
    for k, nodes in enumerate(PAIRS):
        for j in range(draw(st.integers(0, 2))):
            parts.append(Part(f"e{k}{j}", draw(st.sampled_from(KINDS)), nodes, draw(values)))
    if draw(st.booleans()):
        parts.append(Part("gyrator", "gyrator", ("a", "gnd", "b", "gnd"), draw(values)))
    ends = [node for part in parts for node in part.nodes]
    assume(ends.count("a") > 1 and ends.count("b") > 1 and ends.count("c") != 1)
    return Network(tuple(parts))


def functions(found: Evaluated) -> tuple[list[list[Polynomial]], Polynomial]:
    """The transfer matrix of a network over one denominator, by exact values at whole numbers."""
    points = [Fraction(k) for k in range(1, found.n + 4)]
    bottoms = [determinant(exact.plus(found.A, found.L, s)) for s in points]
    values = [found.transfer_matrix(s) for s in points]
    assume(all(bottoms) and all(v is not None for v in values))

    def through(ys: Sequence[Fraction]) -> Polynomial:
        total: Polynomial = ()
        for x, y in zip(points, ys, strict=True):
            others = [other for other in points if other != x]
            term = polynomial([y / prod(x - other for other in others)])
            for other in others:
                term = multiply(term, polynomial([-other, 1]))
            total = add(total, term)
        return total

    entries = [
        [through([v[i][j] * d for v, d in zip(values, bottoms, strict=True) if v is not None]) for j in range(found.m)]
        for i in range(found.m)
    ]
    return entries, through(bottoms)


def determinant(matrix: exact.Rows) -> Fraction:
    work, found = [list(row) for row in matrix], Fraction(1)
    for k in range(len(work)):
        pivot = next((i for i in range(k, len(work)) if work[i][k]), None)
        if pivot is None:
            return Fraction(0)
        if pivot != k:
            work[k], work[pivot], found = work[pivot], work[k], -found
        found *= work[k][k]
        for i in range(k + 1, len(work)):
            ratio = work[i][k] / work[k][k]
            work[i] = [a - ratio * b for a, b in zip(work[i], work[k], strict=True)]
    return found


@given(two_ports(), st.floats(0.05, 4))
def test_the_impedance_of_any_two_port_is_realised(network: Network, omega: float) -> None:
    found = legal(network)
    numerators, denominator = functions(found)
    assume(any(entry for row in numerators for entry in row))
    check(numerators, denominator, [0.3 + 1j * omega], "R")


@given(two_ports(), st.sampled_from([Fraction(1, 100), Fraction(1)]))
def test_a_two_port_with_a_negative_resistance_at_its_port_is_refused(network: Network, excess: Fraction) -> None:
    """Less resistance than nothing at every frequency: the least eigenvalue over all frequencies, and a little more."""
    numerators, denominator = functions(legal(network))
    grid = [1j * w for w in (0.011, 0.13, 0.7, 1.9, 7.3, 31.0)]
    parts = [matrix_at(numerators, denominator, s) for s in grid]
    least = min(float(np.linalg.eigvalsh((g + g.conj().T) / 2).min()) for g in parts)
    assume(np.isfinite(least))
    taken = Fraction(least).limit_denominator(10**6) + excess
    changed = [
        [add(n, denominator, -taken) if i == j else n for j, n in enumerate(row)] for i, row in enumerate(numerators)
    ]
    with pytest.raises(TellegenError) as caught:
        read_model(ladder(changed, denominator))
    assert caught.value.code == "D462"
    assert "eigenvalue" in caught.value.what


def test_coefficients_beyond_the_range_of_numbers_are_told() -> None:
    text = "system: mount\nparameters: {m: 2 kg}\npog:\n  - section: [v, F]\n"
    text += "  - parallel: [m:m, {b: mount, numerator: [1e308, 5], denominator: [1, 2]}]\n"
    with pytest.raises(TellegenError, match="D463: the realisation of 'mount' loses too many digits"):
        read_model(text)
