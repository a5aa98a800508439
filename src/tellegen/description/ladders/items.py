"""Reads the elements of a block: one for each lane, with a matrix, or by a transfer function."""

from tellegen.core.errors import TellegenError
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Node, Scalar, Sequence
from tellegen.description.fields import LAWS
from tellegen.description.files import clip
from tellegen.description.ladders import rules
from tellegen.description.ladders.blocks import (
    MATRICES,
    NONE,
    RESISTIVE,
    STORAGES,
    SWITCHING,
    Entry,
    FieldItem,
    Item,
    TransferItem,
)
from tellegen.description.lines import reserved
from tellegen.expressions import RESERVED_WORDS


def read_name(context: Context, text: Scalar, subject: str) -> str:
    """The text of a node, which must be a name that formulas can use."""
    if text.text in RESERVED_WORDS:
        raise reserved(context, text, subject)
    return context.name(text, subject)


def read_matrix(context: Context, node: Node, subject: str) -> tuple[tuple[Scalar, ...], ...]:
    """The rows of a matrix, all of one length."""
    rows = list(node) if isinstance(node, Sequence) else []
    if not rows or not all(isinstance(row, Sequence) for row in rows):
        fix = "write it row by row: '[[1, 2], [3, 4]]'"
        raise context.error(rules.BAD_BLOCK, node, f"{subject} is not a list of rows", fix=fix)
    found = tuple(tuple(context.texts(row, subject)) for row in rows)
    if len({len(row) for row in found}) > 1 or not found[0]:
        what = f"the rows of {subject} have {', '.join(str(len(row)) for row in found)} entries"
        raise context.error(rules.WRONG_WIDTH, node, what, fix="give all rows the same number of entries")
    return found


class ItemReader:
    """Reads the elements of one block."""

    def __init__(self, context: Context, word: str) -> None:
        self.context = context
        self.word = word

    def _refuse(self, what: str, fix: str, node: Node) -> TellegenError:
        return self.context.error(rules.BAD_BLOCK, node, what, fix=fix)

    def read(self, entry: Node, given: Node) -> list[Item]:
        """The elements that stand behind the word of an entry."""
        nodes = list(given) if isinstance(given, Sequence) else self.context.texts(given, f"'{self.word}'")
        if not nodes:
            fix = f"write its elements, such as '{self.word}: [R:R_a]', or remove it"
            raise self._refuse(f"the {self.word} block is empty", fix, entry)
        return [self._item(node) for node in nodes]

    def _item(self, node: Node) -> Item:
        if isinstance(node, Mapping):
            return self._described(node)
        if isinstance(node, Sequence):
            texts = [self.context.scalar(text, f"an element of '{self.word}'") for text in node]
            entries = tuple(None if text.text == NONE else self._entry(text) for text in texts)
            if all(entry is None for entry in entries):
                raise self._refuse("an element has no lane", "write at least one element in it", node)
            return entries
        return (self._entry(self.context.scalar(node, f"an entry of '{self.word}'")),)

    def _entry(self, text: Scalar) -> Entry:
        letter, colon, name = (part.strip() for part in text.text.partition(":"))
        plain = letter.removeprefix("-").strip()
        if not colon or plain not in (*STORAGES, *RESISTIVE, SWITCHING):
            fix = "write a letter, a colon and a name, such as 'L:L_a' or 'R:R_a'"
            raise self.context.error(rules.BAD_LETTER, text, f"'{clip(text.text)}' is no element of a ladder", fix=fix)
        at = Scalar(name, text.line, text.column, text.length, text.quoted)
        return Entry(plain, read_name(self.context, at, "an element"), text, letter.startswith("-"))

    def _described(self, node: Mapping) -> Item:
        """An element with a matrix or with a transfer function."""
        word = node.keys[0].text
        keys = [key.text for key in node.keys]
        if not {"numerator", "denominator", "matrix", LAWS} & set(keys):
            fix = "put no space behind the colon: 'L:L_a'"
            raise self._refuse(f"an entry of '{self.word}' is not a single text", fix, node)
        if word not in (*STORAGES, *RESISTIVE, *MATRICES):
            fix = "write a letter before its name: '{L: coils, matrix: [[L_1, M], [M, L_2]]}', or 'energy', 'power' or 'static'"
            raise self.context.error(rules.BAD_LETTER, node, f"'{clip(word)}' is no element of a ladder", fix=fix)
        name = self.context.scalar(node.values[0], "the name of an element")
        read_name(self.context, name, "an element")
        if "matrix" in keys or LAWS in keys:
            return self._field(word, name, node)
        return self._transfer(word, name, node)

    def _field(self, word: str, name: Scalar, node: Mapping) -> FieldItem:
        matrix: tuple[tuple[Scalar, ...], ...] = ()
        laws: tuple[Scalar, ...] = ()
        initial: tuple[Scalar, ...] = ()
        causality: tuple[Scalar, ...] = ()
        lanes: tuple[int, ...] = ()
        variables = []
        for key, value in zip(node.keys[1:], node.values[1:], strict=True):
            if key.text == "matrix":
                matrix = read_matrix(self.context, value, f"the matrix of '{name.text}'")
            elif key.text == LAWS:
                laws = tuple(self.context.texts(value, f"the laws of '{name.text}'"))
            elif key.text == "lanes":
                lanes = self._lanes(name, value)
            elif key.text == "causality":
                causality = tuple(self.context.texts(value, f"the causality of {name.text}"))
            elif key.text == "initial":
                initial = tuple(self.context.texts(value, f"the initial values of {name.text}"))
            else:
                variables.append((key.text, tuple(self.context.texts(value, f"the names of the {key.text}"))))
        if laws and matrix:
            raise self._refuse(f"'{name.text}' has a matrix and laws", "keep one of them", node)
        if matrix and len(matrix) != len(matrix[0]):
            what = f"the matrix of '{name.text}' has {len(matrix)} rows and {len(matrix[0])} columns"
            raise self.context.error(
                rules.WRONG_WIDTH, node, what, fix="the matrix of an elaboration block is square", where=name.text
            )
        size = len(laws or matrix)
        if lanes and len(lanes) != size:
            said, each = (f"{size} laws", "law") if laws else (f"a matrix of {size} rows", "row")
            what = f"'{name.text}' names {len(lanes)} lanes for {said}"
            raise self.context.error(rules.WRONG_WIDTH, node, what, fix=f"name a lane for each {each}", where=name.text)
        return FieldItem(word, name, matrix, tuple(variables), initial, lanes, causality, laws)

    def _lanes(self, name: Scalar, node: Node) -> tuple[int, ...]:
        found = []
        for text in self.context.texts(node, f"the lanes of {name.text}"):
            if not text.text.isdecimal() or not 0 < int(text.text) < 10_000 or int(text.text) - 1 in found:
                what = f"'{clip(text.text)}' is no lane for '{name.text}'"
                raise self.context.error(rules.WRONG_WIDTH, text, what, fix="number lanes from 1, each once")
            found.append(int(text.text) - 1)
        return tuple(found)

    def _transfer(self, word: str, name: Scalar, node: Mapping) -> TransferItem:
        self.context.check_keys(node, (word, "numerator", "denominator"), f"the transfer function {name.text}")
        if word not in (*RESISTIVE, "power", "static"):
            fix = "write R, d for across over through, G, b for through over across; 'power' gives what the block takes"
            what = f"'{word}' does not say which variable the transfer function '{name.text}' gives"
            raise self.context.error(rules.BAD_LETTER, node, what, fix=fix, where=name.text)
        top, bottom = node.get("numerator"), node.get("denominator")
        if top is None or bottom is None:
            missing = "numerator" if top is None else "denominator"
            fix = "give both, as coefficients of falling powers of s: 'numerator: [1, 3], denominator: [1, 2]'"
            raise self._refuse(f"the transfer function '{name.text}' has no {missing}", fix, node)
        denominator = tuple(self.context.texts(bottom, "the denominator"))
        return TransferItem(word, name, self._numerators(name, top), denominator)

    def _numerators(self, name: Scalar, node: Node) -> tuple[tuple[tuple[Scalar, ...], ...], ...]:
        if not isinstance(node, Sequence) or not any(isinstance(item, Sequence) for item in node):
            return ((tuple(self.context.texts(node, "the numerator")),),)
        rows = [list(row) if isinstance(row, Sequence) else [row] for row in node]
        if any(len(row) != len(rows) for row in rows):
            what = f"the transfer matrix '{name.text}' has {len(rows)} rows of {', '.join(str(len(r)) for r in rows)} entries"
            fix = "give a square matrix of numerators: 'numerator: [[[1, 2], [1]], [[1], [1, 3]]]'"
            raise self.context.error(rules.WRONG_WIDTH, node, what, fix=fix, where=name.text)
        return tuple(tuple(tuple(self.context.texts(entry, "a numerator")) for entry in row) for row in rows)
