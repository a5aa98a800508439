"""The page of the benchmarks is written from the JSON of one run."""

import pytest

from benchmarks.harness import Row, as_json
from write_benchmarks import PAGE, figures, page_with

RECORD = {"machine": "Python 3, 2 cores", "start": [as_json(Row("import tellegen", seconds=0.02, check="ran"))]}


def test_tables_take_the_place_of_those_before() -> None:
    page = page_with(PAGE.read_text(encoding="utf-8"), figures(RECORD))
    assert "| import tellegen |  0.020 | ran   |" in page
    assert "### `start`\n\nHow long does it take to start?" in page
    assert page.count("## Figures") == page.count("## Add one") == 1
    assert page_with(page, figures(RECORD)) == page


def test_a_page_without_the_place_is_left_alone() -> None:
    with pytest.raises(SystemExit, match="has no section '## Figures'"):
        page_with("nothing", figures(RECORD))
