"""What a code means: every rule of the package, found by its code or by words of its title."""

import difflib
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from tellegen.core.errors import LAYERS, Rule, Rulebook
from tellegen.core.names import enumeration
from tellegen.workflow.rules import NO_SUCH_CODE

PACKAGE = Path(__file__).parent.parent
MOST_PROPOSED = 5


class PlacedRule(NamedTuple):
    """A rule and the module that declares it."""

    rule: Rule
    module: str

    @property
    def file(self) -> str:
        """The source file of the module, from the root of the repository."""
        return f"src/{self.module.replace('.', '/')}.py"

    @property
    def ending(self) -> str:
        """The ending of a file with the example: most are model files, others netlists or decks."""
        return next((ending for word, ending in _ENDINGS.items() if word in self.module), ".yaml")


_ENDINGS = {"netlist": ".txt", "spice": ".cir", "twenty_sim": ".emx", "bond_graph_tools": ".bg"}
"""The endings of examples, by a word in the name of the module that declares the rule."""


def explain(code: str) -> Rule:
    """The rule with a code: what it means, why it holds, a file that breaks it and one that keeps it.

    `print(explain("K101").to_text())` shows what `tellegen explain K101` does.

    Raises: DescriptionError (D306) for a code that there is not, with those that are near or whose titles have such words.

    >>> explain("K101").title
    'two sources decide the same variable'
    """
    wanted = code.strip().upper()
    # Only the layers of this letter are loaded: a code of causality needs no drawing.
    found = {placed.rule.code: placed.rule for placed in rules(wanted[:1])} if wanted else {}
    if wanted in found:
        return found[wanted]
    near = [f"{rule.code} ({rule.title})" for rule in _near(code.strip(), [placed.rule for placed in rules()])]
    fix = f"perhaps: {enumeration(near, MOST_PROPOSED)}" if near else "codes are a letter and three digits, as K101"
    raise NO_SUCH_CODE.error(f"there is no code '{code}'", fix=fix)


def rules(letter: str = "") -> Iterator[PlacedRule]:
    """The rules whose codes begin with a letter, else all, in the order of layers and codes."""
    letters = [letter] if letter else list(LAYERS)
    for each in letters:
        placed = (
            PlacedRule(rule, module)
            for module in _modules().get(each, ())
            for book in vars(import_module(module)).values()
            if isinstance(book, Rulebook) and book.layer == each
            for rule in book.rules.values()
        )
        yield from sorted(placed, key=lambda found: found.rule.code)


@cache
def _modules() -> dict[str, list[str]]:
    """The modules that make a rulebook, by its letter. They are found by their text, so that a new one need be told nowhere."""
    found: dict[str, list[str]] = {}
    # Read as text: to look for rules by importing would load the whole package, numbers and figures included.
    for path in sorted(PACKAGE.rglob("*.py")):
        for letter in dict.fromkeys(re.findall(r'^\w+ = Rulebook\("(\w)"[,)]', path.read_text(encoding="utf-8"), re.M)):
            name = ".".join(("tellegen", *path.relative_to(PACKAGE).with_suffix("").parts))
            found.setdefault(letter, []).append(name.removesuffix(".__init__"))
    return found


def _near(text: str, known: list[Rule]) -> list[Rule]:
    """The rules that a text may mean: titles that contain its words, else codes and titles that are spelt alike."""
    words = text.lower().split()
    # Words of a title are meant more often than a code is mistyped.
    told = [rule for rule in known if words and all(word in rule.title.lower() for word in words)]
    if told:
        return told
    codes = difflib.get_close_matches(text.upper(), [rule.code for rule in known], MOST_PROPOSED, 0.7)
    titles = difflib.get_close_matches(text.lower(), [rule.title.lower() for rule in known], MOST_PROPOSED, 0.6)
    return [rule for rule in known if rule.code in codes or rule.title.lower() in titles]
