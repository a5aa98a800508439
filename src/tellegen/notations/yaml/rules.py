"""The rules that a model file keeps as a text, whatever it means, and plain words for YAML's complaints."""

import re
from functools import partial
from typing import NamedTuple

from tellegen.core.errors import Rulebook
from tellegen.notations.rules import charging, with_slip

_GOOD = charging()
_with = partial(with_slip, _GOOD)
_MAX_EXAMPLE_DEPTH = 21

RULES = Rulebook("D", _GOOD)

SYNTAX = RULES.rule(
    "D060",
    "the text is not YAML",
    meaning="The file cannot be read as YAML: a bracket, quote, colon or indentation is not as it must be.",
    why="the rest of the file cannot be understood without it",
    example=_with("[a, b]}", "[a, b}"),
)
DUPLICATE_KEY = RULES.rule(
    "D061",
    "a key stands twice",
    meaning="The same key stands twice in one mapping.",
    why="only one of the two could count, and the other would be lost without a word",
    example=_with("  R: {resistor: [a, b]}", "  C: {resistor: [a, b]}"),
)
REFERENCE = RULES.rule(
    "D062",
    "anchors and aliases",
    meaning="The file uses a YAML anchor (`&name`) or alias (`*name`).",
    why="a short file with aliases can stand for an endless one, and a value would change far from where it is read",
    example=_with("  R: {resistor: [a, b]}", "  R: &same {resistor: [a, b]}"),
)
TAG = RULES.rule(
    "D063",
    "tags",
    meaning="The file uses a YAML tag (`!name` or `!!name`).",
    why="opening a file never builds objects or runs code, so a tag has nothing to name",
    example=_with("R: 2 kohm", "R: !!float 2"),
)
SEVERAL_DOCUMENTS = RULES.rule(
    "D064",
    "several documents in one file",
    meaning="The file has a second YAML document, after a line `---`.",
    why="a file describes one system",
    example=_GOOD + "---\nsystem: Another\n",
)
MERGE_KEY = RULES.rule(
    "D065",
    "merge keys",
    meaning="The file uses the YAML merge key `<<`.",
    why="a value would come from a place that the reader does not see",
    example=_with("  R: {resistor: [a, b]}", "  R: {resistor: [a, b], <<: {R: 1 ohm}}"),
)
NOT_A_MAPPING = RULES.rule(
    "D066",
    "the file is not a mapping",
    meaning="The outermost level of the file is a list or a single value instead of lines `key: value`.",
    why="a model is made of named parts",
    example="- system: Charging a capacitor\n- network\n",
)
KEY_NOT_TEXT = RULES.rule(
    "D067",
    "a key is not a text",
    meaning="A key is a list, a mapping or nothing at all.",
    why="things are found by name",
    example=_with("{resistor: [a, b]}", "{[resistor]: [a, b]}"),
)
TOO_DEEP = RULES.rule(
    "D068",
    "nested too deep",
    meaning="Lists and mappings are nested deeper than a model ever needs.",
    why="the depth is bounded so that no file can exhaust the memory",
    example=_with("R: 2 kohm", "R: " + "[" * _MAX_EXAMPLE_DEPTH + "2 kohm" + "]" * _MAX_EXAMPLE_DEPTH),
)
TOO_LARGE = RULES.rule(
    "D069",
    "too large",
    meaning="The file is larger, or has more values, than the reader accepts.",
    why="the size is bounded so that no file can exhaust the memory",
)
NOT_TEXT = RULES.rule(
    "D070",
    "not a text",
    meaning="The file is not UTF-8, or holds control or invisible characters.",
    why="a model file is a plain text that any editor shows as it is",
)
EMPTY = RULES.rule(
    "D071",
    "the file is empty",
    meaning="There is nothing in the file but blanks and comments.",
    why="there is no system to read",
    example="# nothing yet\n",
)
CANNOT_READ = RULES.rule(
    "D072",
    "the file cannot be read",
    meaning="There is no such file, it is a folder or a device, or it may not be opened.",
    why="a model is read from an ordinary file",
)
EDIT_DOES_NOT_FIT = RULES.rule(
    "D073",
    "the edit does not fit the file",
    meaning="An edit names something that is not in the file, or would make another file than the one asked for.",
    why="an edit changes the thing it names and nothing else",
)
CANNOT_WRITE = RULES.rule(
    "D074",
    "the file cannot be written",
    meaning="The folder is missing or may not be written to, or the name belongs to a folder or a device.",
    why="a file is written beside its old version and then takes its name, so that nothing is lost halfway",
)


class Wording(NamedTuple):
    """Plain words for one of YAML's complaints. `opened` says what the context mark of the complaint shows."""

    what: str
    fix: str
    opened: str = ""


_INDENT = "entries of one mapping start in the same column; check the spaces and the line above"
INDENTATION = Wording("the indentation does not fit the lines above", _INDENT, "the mapping")
TRAILING = Wording("something follows the end of a value", "put the whole value in quotes, or separate it by a comma")
UNDER_A_VALUE = Wording("an entry stands below a line that already has a value", _INDENT)
LONG_KEY = Wording("a key is longer than 1024 characters", "use a shorter key")

# Parts of the messages of libyaml and of PyYAML's own parser, the more special first.
WORDINGS: tuple[tuple[str, Wording], ...] = (
    ("',' or '}'", Wording("a ',' or '}' is missing", "separate entries by commas and close the brace", "the '{'")),
    ("',' or ']'", Wording("a ',' or ']' is missing", "separate items by commas and close the bracket", "the '['")),
    ("unexpected end of stream", Wording("a quotation mark is never closed", "close the quotation mark", "the quote")),
    ("unexpected ':'", Wording("a ':' stands without a space behind it", "write a space after ':'")),
    ("document separator", Wording("a line '---' or '...' stands inside a value", "close the value before it", "it")),
    ("document indicator", Wording("a line '---' or '...' stands inside a value", "close the value before it", "it")),
    ("mapping values are not allowed", Wording("a second ':' stands here", "put a text that contains ': ' in quotes")),
    ("could not find expected ':'", Wording("a ':' is missing after a key", "write 'key: value'", "the key")),
    ("expected '-' indicator", Wording("a list item does not start with '-'", "start each item with '- '", "the list")),
    ("sequence entries are not allowed", Wording("a list item '-' stands here", "start the list on a line of its own")),
    ("mapping keys are not allowed", Wording("a key cannot start here", "start the mapping on a line of its own")),
    ("expected node content", Wording("a value is missing", "write the value, or '' for an empty text")),
    ("but found ','", Wording("a value is missing before ','", "write the value or take the comma away")),
    ("unknown escape character", Wording("an unknown '\\' escape", "write \\\\ for a backslash, or use '...' quotes")),
    (
        "expected hexdecimal",
        Wording("a '\\' escape lacks its digits", "write \\\\ for a backslash, or use '...' quotes"),
    ),
    (
        "hexadecimal numbers",
        Wording("a '\\' escape lacks its digits", "write \\\\ for a backslash, or use '...' quotes"),
    ),
    ("tab character", Wording("a tab stands in the indentation", "indent with spaces")),
    ("document start", Wording("text follows the end of the model", "indent it like the lines above, or remove it")),
    ("expected alphabetic or numeric", Wording("'*' or '&' starts a value", "put the value in quotes")),
    ("exceeded max depth", Wording("brackets are nested too deep", "check the brackets")),
    ("directive", Wording("a line starts with '%'", "put the text in quotes")),
)
UNNAMED = Wording("the text cannot be read as YAML", "check brackets, quotes, colons and indentation")


def wording_of(problem: str, before: str, character: str) -> Wording:
    """Plain words for a complaint that points at `character`, with `before` to its left in the same line."""
    if "cannot start any token" in problem:
        if character == "\t":
            return Wording("a tab stands where a value or a key starts", "use spaces instead of tabs")
        return Wording(f"a value cannot start with '{character}'", "put the value in quotes")
    if character == "[" and (name := re.search(r"[A-Za-z]\w*$", before)) is not None and "',' or '" in problem:
        return Wording("a name with an index stands in brackets without quotes", f"put it in quotes: '{name[0]}[1]'")
    if "expected key" in problem or "expected <block end>" in problem:
        return _after_an_entry(before, character)
    if "mapping values are not allowed" in problem and ":" not in before:
        return LONG_KEY if len(before) > 1024 else UNDER_A_VALUE
    return next((words for part, words in WORDINGS if part in problem), UNNAMED)


def _after_an_entry(before: str, character: str) -> Wording:
    """Words for something that is no entry of the mapping around it."""
    if character == "}" and (opened := re.match(r"\s*([^\s:{]+) *\{", before)) is not None:
        return Wording(f"a ':' is missing between '{opened[1]}' and '{{'", f"write '{opened[1]}: {{...}}'")
    if character and character in ")]}":
        return Wording(f"the '{character}' closes nothing", "take it away, or open the bracket")
    if character == ":" and not before.strip():
        return Wording("a key is missing before ':'", "write 'key: value'")
    return TRAILING if before.strip() else INDENTATION
