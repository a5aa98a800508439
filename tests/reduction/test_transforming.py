"""Congruent transformations with a T of the user: regular, rectangular and singular ones."""

import numpy as np
import pytest

import tellegen as tg
from support.networks import agree
from support.transfers import POINTS, transfer_at
from tellegen.core.errors import ReductionError
from tellegen.expressions import is_zero, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.reduction import congruent_transformation

FULL = tg.derive("dc_motor_pump")
REDUCED_T = [["1", "0"], ["K_m/b_m", "-K_p/b_m"], ["0", "1"]]


def test_the_transformation_of_the_lecture_reduces_the_model() -> None:
    massless = tg.derive("dc_motor_pump").with_entries(lambda e: e.substitute({"J_m": tg.parse("0")}))
    found = congruent_transformation(massless, REDUCED_T)
    assert found.equations.states == ("I_a", "P_0")
    assert (found.regular, found.energetic) == (False, True)
    assert str(found) == "x = T z with z = I_a, P_0: 3 states tied to 2"
    expected = tg.reduce("dc_motor_pump", {"J_m": 0}).equations
    for name in ("L", "A", "B", "C", "D"):
        assert agree(found.equations.matrices[name], [[str(e) for e in row] for row in expected.matrices[name]])


def test_a_regular_transformation_is_noticed_by_no_input() -> None:
    T = [["1", "1", "0"], ["0", "2", "K_m"], ["1", "0", "-1"]]
    found = congruent_transformation(FULL, T)
    assert found.equations.states == ("z_1", "z_2", "z_3")
    assert found.regular
    assert found.account == "x = T z with z = z_1, z_2, z_3: a change of coordinates"
    for s in POINTS:
        before, after = transfer_at(FULL, s, FULL.values()), transfer_at(found.equations, s, FULL.values())
        assert np.abs(after / before - 1).max() < 1e-6
    L = found.equations.matrices["L"]
    assert all(L[i][j] == L[j][i] for i in range(3) for j in range(3))


def test_a_singular_transformation_is_allowed_and_told() -> None:
    found = congruent_transformation(FULL, [[1, 1], [0, 0], [2, 2]], states=["a", "b"])
    assert (found.regular, found.energetic) == (False, False)
    assert found.account.endswith(
        "the new energy matrix is singular: some combination of the new states stores nothing"
    )
    assert found.equations.states == ("a", "b")


@pytest.mark.parametrize(
    ("T", "options", "text"),
    [
        ([[1, 0], [0, 1]], {}, "T has 2 rows for 3 states"),
        ([[1, 0], [0], [0, 1]], {}, "T has rows of 1, 2 entries, where 2 are needed"),
        ([["K_mm"], [0], [1]], {}, "did you mean 'K_m'"),
        ([[1], [0], [1]], {"T_u": [[0], [0], [0]]}, "T_u has rows of 1 entries, where 2 are needed"),
        ([[1], [0], [1]], {"states": ["a", "b"]}, "2 names are given for 1 new states"),
        ([[1], [0], [1]], {"states": ["R_a"]}, "'R_a' cannot be the name of a state"),
        ([[2], [0], [1]], {"states": ["I_a"]}, "makes another variable of it"),
        (
            [[1, 1], [0, 0], [0, 0]],
            {"T_u": [[0, 0], [1, 0], [0, 0]]},
            "T^T L T is singular, and T_u ties states to inputs",
        ),
    ],
)
def test_transformations_that_do_not_fit(T: list[list[object]], options: dict[str, object], text: str) -> None:
    with pytest.raises(ReductionError) as error:
        congruent_transformation(FULL, T, **options)  # type: ignore[arg-type]
    assert error.value.code == "T130"
    assert text in str(error.value)


def test_a_state_may_follow_an_input() -> None:
    """The inductor led by a source of its own current: its row of T is zero, its row of T_u one."""
    one = congruent_transformation(FULL, [[0, 0], [1, 0], [0, 1]], T_u=[[1, 0], [0, 0], [0, 0]])
    assert one.equations.states == ("omega_m", "P_0")
    assert not one.equations.is_zero("D_1")


def test_matrices_that_read_states_read_the_new_ones() -> None:
    """N of a mechanism is a multiple of its speed, whatever the speed is called."""
    full = tg.derive("crank_rod")
    found = congruent_transformation(full, [[2]], states=["w"]).equations
    names = {name for e in (*found.entries(), *found.where.values()) for name in e.free_symbols}
    assert "omega" not in names
    N, before = (with_definitions(s.matrices["N"][0][0], s.where) for s in (found, full))
    assert is_zero(N - 4 * before.substitute({"omega": 2 * symbol("w")}))
