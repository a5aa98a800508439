"""The page of the benchmarks is written from the JSON of one run."""

from typing import Any

import pytest

from benchmarks.harness import Row, as_json, table
from write_benchmarks import PAGE, figures, page_with, page_with_some

RECORD: dict[str, Any] = {
    "machine": "Python 3, 2 cores",
    "start": [as_json(Row("import tellegen", seconds=0.02, check="ran"))],
}
TABLE = table([Row("import tellegen", seconds=0.02, check="ran")]) + "\n"


def test_tables_take_the_place_of_those_before() -> None:
    page = page_with(PAGE.read_text(encoding="utf-8"), figures(RECORD))
    assert "| import tellegen |  0.020 | ran   |" in page
    assert "### `start`\n\nHow long does it take to start?" in page
    assert page.count("## Figures") == page.count("## Add one") == 1
    assert page_with(page, figures(RECORD)) == page


def test_tables_of_some_benchmarks_stand_at_the_end_and_take_the_place_of_those_before() -> None:
    page = PAGE.read_text(encoding="utf-8")
    once = page_with_some(page, RECORD)
    assert once.startswith(page.rstrip())
    assert "### `start`\n\nHow long does it take to start?" in once
    assert once.endswith("Python 3, 2 cores; `python -m benchmarks start`.\n\n" + TABLE)
    other = page_with_some(once, {"machine": "another", "limits": RECORD["start"]})
    assert page_with_some(other, RECORD) == other
    assert page_with_some(other, RECORD | {"machine": "a third"}) == other.replace(RECORD["machine"], "a third")


def test_a_page_without_the_place_is_left_alone() -> None:
    with pytest.raises(SystemExit, match="has no section '## Figures'"):
        page_with("nothing", figures(RECORD))
