"""The house stays one: a class has its name for itself, calls are read by names, and no folder is a warehouse."""

import ast
from collections import Counter, defaultdict

from layering.sources import MODULES, PACKAGE

MOST_FILES = 25
MOST_BY_PLACE = 6


def test_two_public_classes_have_two_names() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in MODULES:
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module.at(node.lineno))
    repeated = {name: found for name, found in places.items() if len(found) > 1}
    assert not repeated, f"one of them needs a word of its own, or an underscore: {repeated}"


def test_arguments_beyond_six_are_given_by_name() -> None:
    calls = ((module, node) for module in MODULES for node in ast.walk(module.tree) if isinstance(node, ast.Call))
    long = [module.at(node.lineno) for module, node in calls if len(node.args) > MOST_BY_PLACE]
    assert not long, f"a reader cannot tell which is which: {long}"


def test_a_folder_holds_what_a_person_can_hold_in_the_head() -> None:
    counted = Counter(module.path.parent.relative_to(PACKAGE).as_posix() for module in MODULES)
    assert not {folder: count for folder, count in counted.items() if count > MOST_FILES}
