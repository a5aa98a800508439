"""The part of a program that some of its variables need."""

from tellegen.compiler.steps import SCALED, LawGroup, LinearRows, Lookup, split_steps
from tellegen.expressions import ONE, symbol


def test_members_that_lead_nowhere_are_left_out() -> None:
    scaled = LawGroup(SCALED, [10, 11, 12], [[0, 1, 2]], [[symbol("a"), symbol("b"), symbol("c")]])
    sums = LinearRows()
    sums.add(20, [(10, ONE), (12, ONE)])
    sums.add(21, [(11, ONE)])
    steps, _, read = split_steps([scaled, sums], [20])
    assert steps == [
        LawGroup(SCALED, [10, 12], [[0, 2]], [[symbol("a"), symbol("c")]]),
        LinearRows([20], [0, 2], [10, 12], [ONE, ONE]),
    ]
    assert read >= {0, 2}
    assert read.isdisjoint({1, 11, 21})


def test_a_row_that_another_row_of_its_step_reads_is_kept() -> None:
    sums = LinearRows()
    sums.add(20, [(0, ONE), (1, ONE)])
    sums.add(21, [(20, ONE), (2, ONE)])
    assert split_steps([sums], [21])[0] == [sums]


def test_readings_are_kept_where_they_are_read() -> None:
    table, other = Lookup("table", 0, 10, [0]), Lookup("table", 1, 11, [1])
    assert split_steps([table, other], [10]) == ([table], [other], {0, 10})
