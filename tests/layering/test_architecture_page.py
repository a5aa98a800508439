"""ARCHITECTURE.md is true: its folders are those of the package, its arrows are functions, its layers are those that tests hold."""

import re
from importlib import import_module
from pathlib import Path

import pytest

from layering.sources import PACKAGE
from layering.test_layers_import_leftwards import LAYERS

PAGE = (Path(__file__).parents[2] / "ARCHITECTURE.md").read_text(encoding="utf-8")
ARROWS = re.findall(r"`([a-z_]+(?:\.[A-Za-z_]+)+)`", PAGE.split("## Folders")[0])


def test_every_folder_of_the_package_stands_on_the_page_and_no_other() -> None:
    listed = re.findall(r"^      (\w+) {2,}\S", PAGE, re.M)
    assert set(listed) == {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}


@pytest.mark.parametrize("arrow", ARROWS)
def test_every_arrow_is_a_function(arrow: str) -> None:
    words = arrow.split(".")
    last = next(
        k
        for k, word in enumerate(words)
        if k
        and not (PACKAGE.joinpath(*words[: k + 1])).is_dir()
        and not PACKAGE.joinpath(*words[:k], f"{word}.py").is_file()
    )
    found = import_module(".".join(("tellegen", *words[:last])))
    for word in words[last:]:
        found = getattr(found, word)
    assert callable(found)


def test_the_layers_are_those_that_the_tests_hold() -> None:
    told = re.search(r"A layer imports layers to its left: `([^`]+)`", PAGE)
    assert told is not None
    assert re.sub(r"\s+", " ", told[1]).replace(" | ", " ").split(", ") == LAYERS
