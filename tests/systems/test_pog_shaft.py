"""The vectorial POG of the corking machine's shaft against equations (3) and (4) of its paper (Mechatronics 24, 2014), exactly."""

import random
from fractions import Fraction

from support import exact
from support.evaluated import Evaluated
from tellegen.causality import assign_causality
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.notations.reading import read_model

PARAMETERS = [
    "J_2e",
    "J_2r",
    "b_2e",
    "b_2r",
    "K_se",
    "K_sr",
    "d_se",
    "d_sr",
    "m_a",
    "J_a",
    "b_m",
    "b_j",
    "r_a",
    "c",
    "s",
]
SHAFT = """\
system: shaft
parameters: {PARAMETERS}
pog:
  - domain: rotational
  - section: [[omega_te, omega_tr], [tau_te, tau_tr]]
  - parallel: [[J:J_2e, J:J_2r], [b:b_2e, b:b_2r]]
  - connect: {name: H_1, K: [[r_a*c, 0], [r_a*s, 0], [0, r_a], [0, 0]]}
  - domain: translational
  - series: [[K:K_se, none, K:K_sr, none], [none, b:d_se, none, b:d_sr]]
  - connect: {name: H_2, K: [["-s", c, 0, 1], [r_a*c, r_a*s, r_a, 0]]}
  - domain: [translational, rotational]
  - parallel: [[m:m_a, J:J_a], [b:b_m, b:b_j]]
  - section: [[v_a, omega_a], [F_x, F_theta]]
elements: {K_se: {force: F_se}, K_sr: {force: F_sr}}
""".replace("PARAMETERS", ", ".join(f"{name}: " for name in PARAMETERS))

Rows = list[list[Fraction]]


def turned(a: Rows) -> Rows:
    return [list(row) for row in zip(*a, strict=True)]


def times(*factors: Rows) -> Rows:
    found = factors[0]
    for factor in factors[1:]:
        found = exact.product(found, factor, len(factor[0]))
    return found


def diagonal(*entries: Fraction) -> Rows:
    return [[e if i == j else Fraction(0) for j in range(len(entries))] for i, e in enumerate(entries)]


def plus(a: Rows, b: Rows, sign: int = 1) -> Rows:
    return [[x + sign * y for x, y in zip(r, q, strict=True)] for r, q in zip(a, b, strict=True)]


def test_the_ladder_of_the_paper_has_equations_3_and_4_at_random_exact_points() -> None:
    system = derive_equations(assign_causality(lower(read_model(SHAFT))))
    assert system.states == ("omega_te", "omega_tr", "F_se", "F_sr", "v_a", "omega_a")
    chance = random.Random(3)
    for _ in range(5):
        v = {name: Fraction(chance.randint(1, 20), chance.randint(1, 9)) for name in PARAMETERS}
        r, c, s, zero, one = v["r_a"], v["c"], v["s"], Fraction(0), Fraction(1)
        H_1 = [[r * c, zero], [r * s, zero], [zero, r], [zero, zero]]
        H_2 = [[-s, c, zero, one], [r * c, r * s, r, zero]]
        T_s = [[one, zero, zero, zero], [zero, zero, one, zero]]
        D_s = diagonal(zero, v["d_se"], zero, v["d_sr"])
        B_2, B_a = diagonal(v["b_2e"], v["b_2r"]), diagonal(v["b_m"], v["b_j"])
        none = [[zero, zero], [zero, zero]]
        blocks = [
            [
                plus(B_2, times(turned(H_1), D_s, H_1)),
                times(turned(H_1), turned(T_s)),
                plus(none, times(turned(H_1), D_s, turned(H_2)), -1),
            ],
            [plus(none, times(T_s, H_1), -1), none, times(T_s, turned(H_2))],
            [
                plus(none, times(H_2, D_s, H_1), -1),
                plus(none, times(H_2, turned(T_s)), -1),
                plus(B_a, times(H_2, D_s, turned(H_2))),
            ],
        ]
        expected = [[e for block in line for e in block[i]] for line in blocks for i in range(2)]
        model = Evaluated(system, v)
        assert expected == model.A
        assert diagonal(v["J_2e"], v["J_2r"], 1 / v["K_se"], 1 / v["K_sr"], v["m_a"], v["J_a"]) == model.L
