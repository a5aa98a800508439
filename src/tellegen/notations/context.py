"""What the parts of the reader share: the file, what was found in it so far, checks that wait for the whole file, and names.

Names may have indices: `n[3]` is a text, and `n[i-1]` inside a `repeat` a pattern that gives a text for each copy.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, final

from tellegen.core.errors import DescriptionError, Finding, Place, Rule, TellegenError
from tellegen.core.names import NAME, did_you_mean, is_dotted, is_name, listing, nearest
from tellegen.core.units import DIMENSIONLESS, Dimension, is_unit, parse_unit, unit_advice
from tellegen.elements import ElementKind
from tellegen.expressions import RESERVED_WORDS, Expression, Number, parse
from tellegen.model.bond_graph import BondEnds
from tellegen.model.dimensions import (
    NUMBER,
    UNKNOWN,
    DimensionError,
    Measure,
    NoDimension,
    dimension_in_words,
    is_any_factor,
    measure_of,
    si_unit,
    user_names,
    without_marks,
)
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Parameter
from tellegen.model.signals import SignalDefinition
from tellegen.notations import rules
from tellegen.notations.grammar import Record
from tellegen.notations.network import rules as network_rules
from tellegen.notations.quantities import NO_INDICES, QuantityReading, not_finite_error, read_plain, read_quantity
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode

# More would hide the first ones: a file that is no model at all has an error on each line.
MOST_ERRORS = 50
MOST_NOTICES = 20
ROOMS = (223.0, 323.0)
"""In K: temperatures that rooms have, -50 to 50 degC."""
_JOINED = re.compile(r"[*/]([A-Za-z]+)")


NO_NAMES: Mapping[str, Measure] = MappingProxyType({})


CopyIndices = tuple[int, ...]
"""The values of the indices, outer ones first, that tell one copy of a repeated structure from the others."""

# Without zeros in front, so that `n[03]` is computed and becomes the one name `n[3]`.
_LITERAL = re.compile(rf"{NAME.pattern}\[(?:0|[1-9][0-9]*)(?:,(?:0|[1-9][0-9]*))*\]")
_INDEXED = re.compile(r"([^\[\]]*)\[(.*)\]\s*", re.DOTALL)


class NotWholeError(Exception):
    """An index came out as something that does not count."""

    def __init__(self, text: str, value: object) -> None:
        super().__init__(text)
        self.text, self.value = text, value


@final
class NamePattern:
    """A name whose indices depend on the copy."""

    __slots__ = ("base", "parts", "text")

    def __init__(self, base: str, parts: list[Callable[[CopyIndices], int]], text: str) -> None:
        self.base, self.parts, self.text = base, parts, text

    def at(self, copy: CopyIndices) -> str:
        """The name in one copy."""
        if len(self.parts) == 1:
            return f"{self.base}[{self.parts[0](copy)}]"
        return f"{self.base}[{','.join([str(part(copy)) for part in self.parts])}]"


def name_at(name: str | NamePattern, copy: CopyIndices) -> str:
    """A name in one copy, whether or not it has indices."""
    return name if isinstance(name, str) else name.at(copy)


class PendingCheck(NamedTuple):
    """A text whose names and dimension are checked when all parameters are known.

    `wanted` is the dimension it must have (None: any), `subject` says what it is, as in `the resistance of R_a`. `names` gives the
    measures of letters and indices, which are no parameters.
    """

    marked: Expression
    wanted: Dimension | None
    subject: str
    where: Callable[[], Place]
    names: Mapping[str, Measure] = NO_NAMES
    pure: Callable[[int | Fraction], bool] = is_any_factor


class DrivenSource(NamedTuple):
    """The formula that drives a source, whose names and unit are checked when all variables are known."""

    source: str
    marked: Expression
    wanted: Dimension
    node: Scalar


class HeatPort(NamedTuple):
    """A dissipator and the node that its heat goes to; the domain of the node is known when all elements are."""

    element: str
    node: str
    key: Scalar


class MassHeight(NamedTuple):
    """A mass and the formula of its height, whose names and unit are checked when everything is known."""

    mass: str
    marked: Expression
    node: Scalar


class ReadAsContent(NamedTuple):
    """An initial value that version 1 of the format read as what a storage holds, whatever its unit."""

    element: str
    kind: ElementKind
    node: Scalar


class StopReadingError(Exception):
    """Reading stops: what follows would not help."""


@final
class ReadingContext:
    """The state of one reading. Errors are collected, so that a file is corrected in one go."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.file = document.file
        self.errors: list[Finding] = []
        self.notes: list[Finding] = []
        self.elements: dict[str, Element] = {}
        self.parameters: dict[str, Parameter] = {}
        self.displacements: dict[str, Expression] = {}
        self.positions: set[str] = (
            set()
        )  # of a mechanism, which follow from its coordinates: they may be told where it starts
        self.same_nodes: dict[str, str] = {}  # of points of bodies that stand where a joint holds another point
        self.fields: list[MatrixField] = []
        self.vectors: dict[str, tuple[str, ...]] = {}
        self.bond_numbers: dict[int, BondEnds] = {}
        self.signals: dict[str, SignalDefinition] = {}
        self.signal_names: frozenset[str] = frozenset()  # known before the signals are read: they are no units
        self.signal_measures: dict[str, Measure] = {}
        self.driven: list[DrivenSource] = []
        self.heated: list[HeatPort] = []
        self.heights: list[MassHeight] = []
        self.gravity: Expression | None = None
        self.version_1 = False  # whether the file is of before
        self.read_as_content: list[ReadAsContent] = []
        self.told: tuple[str, ...] = ()  # what changed since
        self.functions: Mapping[str, Callable[..., float]] = {}
        self.folder: Path | None = None  # where the tables of a model lie that is no file
        self.variables: dict[str, str] = {}
        self.counts: dict[str, int] = {}  # whole numbers that ranges may use
        self.counted: set[str] = set()  # those of them that ranges and indices did use
        self.given_counts: Mapping[str, int] = {}  # those that a larger system gives this one, as a part of it
        self.broken: set[str] = set()  # names whose description failed: known, but nothing more can be said
        self.pending: list[PendingCheck] = []
        # Those that may read signals and time too: a formula, what it must be in, how messages call it, where it stands.
        self.formulas: list[tuple[Expression, Dimension | None, str, Scalar]] = []
        self.without_value: int = 0

    # Findings

    def place(self, node: Node) -> Place:
        """Where a node stands, with what the user wrote."""
        return self.document.place(node)

    def text_place(self, node: Scalar, at: int = 0) -> Place:
        """Where character `at` of a text stands."""
        return self.document.place(node, at, node.text[at:])

    def error(
        self, rule: Rule, node: Node, what: str, *, fix: str = "", why: str | None = None, where: str = ""
    ) -> TellegenError:
        """An error under a rule, at a node."""
        return rule.error(what, fix=fix, why=why, where=where, place=self.place(node))

    def collect(self, error: TellegenError) -> None:
        """Keep the findings of an error and go on."""
        self.add_errors(error.findings)

    @contextmanager
    def collecting(self, *names: str) -> Iterator[None]:
        """Keep the errors of what is done inside and go on; `names` are what could then not be read."""
        try:
            yield
        except TellegenError as error:
            self.broken.update(names)
            self.collect(error)

    def add_errors(self, findings: Iterable[Finding]) -> None:
        """Keep errors; raises EnoughError when enough are there."""
        self.errors.extend(findings)
        if len(self.errors) >= MOST_ERRORS:
            raise StopReadingError

    def raise_errors(self) -> None:
        """Raises: DescriptionError with all errors, if there are any."""
        if self.errors:
            raise DescriptionError(self.errors[:MOST_ERRORS])

    def note_symbol(self, subject: str, fix: str, where: str, place: Place | None) -> None:
        """Count what has no value; the first ones are told."""
        self.without_value += 1
        if self.without_value <= MOST_NOTICES:
            what = f"{subject} has no value: it stays a symbol"
            self.notes.append(rules.NO_VALUE.finding(what, where=where, fix=fix, place=place))

    def require_new(self, name: Scalar) -> None:
        """Raises: DescriptionError (D105) for the name of an element that is there."""
        if name.text in self.elements:
            what = f"'{name.text}' is described twice"
            raise self.error(rules.DESCRIBED_TWICE, name, what, fix="rename one of them")

    def put_in_front(self, others: Container[str]) -> None:
        """Put the elements that are not among these before them."""
        own = {name: element for name, element in self.elements.items() if name not in others}
        rest = {name: element for name, element in self.elements.items() if name in others}
        self.elements.clear()
        self.elements.update(own | rest)

    # Shapes

    def mapping(self, node: Node, subject: str) -> MappingNode:
        """The node, which must be a mapping."""
        if not isinstance(node, MappingNode):
            # A key with nothing behind it is how people leave a section for later: it counts as an empty mapping.
            if isinstance(node, Scalar) and not node.text and not node.quoted:
                return MappingNode((), (), node.line, node.column, node.length)
            raise self.error(rules.WRONG_SHAPE, node, f"{subject} is not a mapping", fix="write 'key: value' pairs")
        return node

    def scalar(self, node: Node, subject: str) -> Scalar:
        """The node, which must be a text."""
        if not isinstance(node, Scalar):
            raise self.error(rules.WRONG_SHAPE, node, f"{subject} is not a single text", fix="write one value")
        return node

    def formula(self, node: Node, subject: str) -> Scalar:
        """The node, which must be the text of an expression."""
        text = self.scalar(node, subject)
        if not text.text.strip():
            what = f"{subject} is empty"
            raise self.error(rules.WRONG_SHAPE, text, what, fix="write a number with its unit, or leave the key out")
        # Inside braces YAML ends a plain text at a comma: in `{V: step(1 V, 2 s)}` a second key `2 s)` begins there.
        if "(" in text.text and not text.quoted and self._is_cut(text):
            what = f"{subject} is cut at a comma: '{text.text}'"
            raise self.error(rules.CUT_AT_COMMA, text, what, fix="put the whole value in quotes")
        return text

    def _is_cut(self, text: Scalar) -> bool:
        end = self.document.end(text)
        return text.text.count("(") > text.text.count(")") and self.document.text[end : end + 1] == ","

    def is_rest(self, key: Scalar, node: Node) -> bool:
        """Whether a key is what follows the comma in a value that was cut there; the cut itself is reported."""
        # What was cut off stands as a key without a value; to call it unknown would tell one slip twice.
        empty = isinstance(node, Scalar) and not node.length
        return (
            empty
            and key.text.count(")") > key.text.count("(")
            and self.document.text[: self.document.start(key)].rstrip().endswith(",")
        )

    def texts(self, node: Node, subject: str) -> list[Scalar]:
        """The texts of a list; one text `a, b` counts as a list as well."""
        if isinstance(node, SequenceNode):
            return [self.scalar(item, f"an entry of {subject}") for item in node]
        return self._split(self.scalar(node, subject))

    def _split(self, node: Scalar) -> list[Scalar]:
        found = []
        # In `R[1,2], b` one comma parts texts; the other belongs to the indices of a name.
        for start, piece in split_at_commas(node.text, "[", "]"):
            column = self.text_place(node, start + len(piece) - len(piece.lstrip())).column
            found.append(Scalar(piece.strip(), node.line, column, len(piece.strip()), False))
        return found

    def needed(
        self, node: MappingNode, key: str, what: str, fix: str, *, where: str = "", at: Node | None = None
    ) -> Node:
        """The value of a key that must be there."""
        found = node.get(key)
        if found is None:
            raise self.error(rules.MISSING_KEY, node if at is None else at, what, fix=fix, where=where)
        return found

    def record(self, node: Node, record: Record, subject: str, known_as: str = "") -> MappingNode:
        """The node, which must be a mapping with the keys of a record; errors about other keys are collected."""
        mapping = self.mapping(node, subject)
        self.check_keys(mapping, record.names, known_as or subject)
        return mapping

    def check_keys(self, node: MappingNode, known: Iterable[str], subject: str) -> None:
        """Collect an error for each key that is not known."""
        words = list(known)
        for key in node.keys:
            if key.text not in words and not self.is_rest(key, node.values[node.position(key.text) or 0]):
                self.collect(self.unknown_key(key, words, subject))

    def unknown_key(self, key: Scalar, known: Iterable[str], subject: str) -> TellegenError:
        """The error for a key that means nothing here."""
        words = list(known)
        # The decimal comma of many languages: `{R: 1,5 ohm}` has a second key `5 ohm`.
        fix = did_you_mean(key.text, words) or f"the keys here are {listing(words, 20)}"
        if key.text[:1].isdigit():
            fix = "a decimal number has a point and no comma, which starts a new entry"
        return self.error(rules.UNKNOWN_KEY, key, f"'{key.text}' is not a key of {subject}", fix=fix)

    def name(self, node: Scalar, subject: str) -> str:
        """The text of a node, which must be a name."""
        if not (is_name(node.text) or is_dotted(node.text)):
            raise self.bad_name(node, subject)
        return node.text

    def refuse_reserved(self, node: Scalar, subject: str) -> None:
        """Raises: DescriptionError (D103) for a name that means something else in formulas."""
        if node.text in RESERVED_WORDS:
            what = f"'{node.text}' cannot name {subject}: it has a meaning of its own in formulas"
            raise self.error(rules.BAD_NAME, node, what, why="a formula could not use it", fix="choose another name")

    def bad_name(self, node: Scalar, subject: str) -> TellegenError:
        """The error for a name that is none."""
        fix = "start with a letter; then letters, digits and single underscores"
        if not node.text.isascii():
            fix = "use the letters a to z and A to Z, digits and single underscores"
        elif node.text.partition(" ")[0].isdigit():
            fix = "start with a letter; a decimal number has a point and no comma, which starts a new entry"
        return self.error(rules.BAD_NAME, node, f"'{node.text}' cannot name {subject}", fix=fix)

    # Names with indices

    def read_name(self, node: Scalar, indices: tuple[str, ...], subject: str) -> str | NamePattern:
        """A name, a name with whole numbers as indices, or inside a `repeat` a pattern."""
        text = node.text
        # A name inside a part, `left.omega`, is taken as it is: whether it is there is asked later.
        if is_dotted(text):
            return text
        if "[" not in text:
            if not is_name(text):
                raise self.bad_name(node, subject)
            return text
        return self._read_indexed(node, indices, subject)

    def read_node(self, node: Scalar, indices: tuple[str, ...]) -> str | NamePattern:
        """A node: as a name, or a whole number as netlists have them."""
        text = node.text
        if is_dotted(text):
            return text
        if "[" in text:
            return self._read_indexed(node, indices, "a node")
        if is_name(text) or (text.isascii() and text.isdigit()):
            return text
        fix = "nodes are names such as 'a', whole numbers, or 'n[3]'"
        raise self.error(rules.BAD_NODE, node, f"'{text}' cannot name a node", fix=fix)

    def _read_indexed(self, node: Scalar, indices: tuple[str, ...], subject: str) -> str | NamePattern:
        if _LITERAL.fullmatch(node.text):
            return node.text
        match = _INDEXED.fullmatch(node.text)
        if match is None or not is_name(match.group(1).strip()):
            raise self.bad_name(node, subject)
        base, inner = match.group(1).strip(), match.group(2)
        expressions = [self.integer_expression(node, text, indices) for _, text in split_at_commas(inner)]
        parts = [_index_function(e, indices, node.text) for e in expressions]
        pattern = NamePattern(base, parts, node.text)
        if any(e.free_symbols for e in expressions):
            return pattern
        try:
            return pattern.at(())
        except NotWholeError as problem:
            raise self.not_whole_error(node, problem, "") from None

    def integer_expression(self, node: Scalar, text: str, indices: tuple[str, ...]) -> Expression:
        """An expression of indices and of parameters that are whole numbers, these replaced by their values."""
        parsed = parse(text, place=self.text_place(node, max(node.text.find(text), 0)))
        # These parameters decide how many elements there are: another value makes another model.
        self.counted |= parsed.free_symbols & self.counts.keys()
        for name in sorted(parsed.free_symbols):
            if name not in indices and name not in self.counts:
                raise self._unknown_index(node, name, indices)
        return parsed.substitute(
            {name: n for name, n in self.counts.items() if name in parsed.free_symbols and name not in indices}
        )

    def _unknown_index(self, node: Scalar, name: str, indices: tuple[str, ...]) -> TellegenError:
        if name in self.parameters:
            what = f"'{name}' is not a whole number, so it cannot count"
            fix = f"give '{name}' as a whole number without a unit"
            return self.error(network_rules.BAD_RANGE, node, what, fix=fix)
        known = [*indices, *self.counts]
        close = nearest(name, known)
        fix = f"did you mean '{close}'?" if close else f"known here: {listing(known)}" if known else "use whole numbers"
        return self.error(rules.UNKNOWN_NAME, node, f"'{node.text}' uses '{name}', which is not an index here", fix=fix)

    def not_whole_error(self, node: Scalar, problem: NotWholeError, copy: str) -> TellegenError:
        """The error for an index that does not count."""
        at = f" for {copy}" if copy else ""
        what = f"an index of '{problem.text}' is {problem.value}{at}"
        return self.error(network_rules.NOT_WHOLE, node, what, fix="indices are whole numbers from 0")

    # Quantities

    def quantity(self, node: Node, subject: str) -> QuantityReading:
        """The reading of a text with units."""
        scalar = self.formula(node, subject)
        return read_quantity(scalar.text, lambda: self.text_place(scalar))

    def check_later(
        self,
        marked: Expression,
        wanted: Dimension | None,
        subject: str,
        node: Scalar,
        names: Mapping[str, Measure] = NO_NAMES,
        *,
        pure: Callable[[int | Fraction], bool] = is_any_factor,
    ) -> Expression:
        """The formula in SI units; its names and its dimension are checked when all parameters are known."""
        self.pending.append(PendingCheck(marked, wanted, subject, partial(self.text_place, node), names, pure))
        return without_marks(marked)

    def checked_quantity(
        self,
        node: Scalar,
        wanted: Dimension | None,
        subject: str,
        indices: Mapping[str, int] = NO_INDICES,
        names: Mapping[str, Measure] = NO_NAMES,
    ) -> QuantityReading:
        """A quantity of a given dimension, which is checked at once, or, for a formula, when all parameters are known."""
        reading = read_quantity(node.text, partial(self.text_place, node), indices)
        if reading.marked is not None:
            self.check_later(reading.marked, wanted, subject, node, names)
        else:
            self.check_plain(reading, wanted, subject, self.place(node))
        return reading

    def check_plain(self, reading: QuantityReading, wanted: Dimension | None, subject: str, place: Place) -> None:
        """Collect an error for a number in another unit; a bare number fits any."""
        if wanted is not None and reading.dimension not in (None, wanted):
            assert reading.dimension is not None, "a bare number was let through"
            self.add_errors([self.wrong_dimension(subject, reading.dimension, wanted, place)])

    def check_from_ambient(self, node: Scalar, subject: str) -> None:
        """Notice (D497) a temperature that looks absolute where temperatures count from the ambient.

        Raises: DescriptionError (D492) for degC or degF.
        """
        reading = read_plain(node.text)
        if reading is None or not reading.unit:
            return
        unit = parse_unit(reading.unit)
        if unit.offset:
            what = f"{subject} is {node.text.strip()}, and temperatures of the domain 'heat' count from the ambient"
            fix = (
                "give the difference to the ambient in K, or use the domain 'thermal', whose temperatures are absolute"
            )
            raise self.error(rules.SCALE_FROM_AMBIENT, node, what, fix=fix)
        if unit.dimension == parse_unit("K").dimension and ROOMS[0] <= reading.expression.evaluate({}) <= ROOMS[1]:
            what = f"{subject} is {node.text.strip()} above the ambient, for temperatures of the domain 'heat' count from there"
            fix = "where the absolute temperature is meant, take the ambient's from it, and add that to what is shown"
            self.notes.append(rules.LIKE_A_ROOM.finding(what, fix=fix, place=self.place(node)))

    def settled(
        self, reading: QuantityReading, wanted: Dimension, subject: str, node: Scalar, indices: tuple[str, ...] = ()
    ) -> QuantityReading:
        """A reading whose dimension is checked: at once if only numbers and indices stand in it, else when parameters are known."""
        if reading.marked is None:
            if reading.dimension is not None and reading.dimension != wanted:
                raise DescriptionError(self.wrong_dimension(subject, reading.dimension, wanted, self.place(node)))
            return reading
        counters: dict[str, Measure] = dict.fromkeys(indices, NUMBER)
        pending = PendingCheck(reading.marked, wanted, subject, partial(self.text_place, node), counters)
        # Numbers and indices alone settle it now; parameters may stand further down in the file.
        if any(name not in counters for name in user_names(reading.marked)):
            self.pending.append(pending)
            return reading
        measure = self.check(pending)
        if isinstance(measure, NoDimension):
            return QuantityReading(reading.expression)
        return QuantityReading(reading.expression, None, measure, si_unit(measure))

    def check(self, pending: PendingCheck) -> Measure:
        """Names known and dimensions consistent; gives what is known about the unit. Errors are collected."""
        unknown = [name for name in user_names(pending.marked) if name not in pending.names and not self.is_known(name)]
        if unknown:
            self.add_errors(self.unknown_name(name, pending) for name in unknown)
            # One finding for one slip: the dimension of a formula with an unknown name would be wrong for that reason
            # alone.
            return UNKNOWN
        try:
            measure = measure_of(pending.marked, lambda name: self._measure(name, pending.names), pending.pure)
        except DimensionError as problem:
            rule = rules.MIXED_SUM if problem.mixed else rules.FUNCTION_OF_UNIT
            what = f"{pending.subject} {problem.what}"
            self.add_errors([rule.finding(what, fix="check the units of its parts", place=pending.where())])
            return UNKNOWN
        if pending.wanted is not None and not isinstance(measure, NoDimension) and measure != pending.wanted:
            self.add_errors([self.wrong_dimension(pending.subject, measure, pending.wanted, pending.where())])
        return measure

    def dimension_of(self, reading: QuantityReading) -> Dimension | None:
        """The dimension of a formula as far as its names are known now; None where nothing follows, or something is wrong."""
        if reading.marked is None:
            return reading.dimension
        try:
            measure = measure_of(reading.marked, lambda name: self._measure(name, {}))
        except DimensionError:
            return None
        return None if isinstance(measure, NoDimension) else measure

    def dimension_of_text(self, node: Scalar, counters: Mapping[str, int] | None = None) -> Dimension | None:
        """The dimension of a text as far as it is known now; None for plain numbers, and where nothing can be said."""
        try:
            return self.dimension_of(read_quantity(node.text, lambda: self.text_place(node), counters or {}))
        except TellegenError:
            return None

    def wrong_dimension(self, subject: str, found: Dimension, wanted: Dimension, place: Place) -> Finding:
        """The finding for a quantity in a unit of something else; it also says where a parameter was read as a unit."""
        if wanted == DIMENSIONLESS:
            what = f"{subject} is in {dimension_in_words(found)}, not a number"
            fix = "give a number, or an angle in rad or deg"
        else:
            has = "is a number" if found == DIMENSIONLESS else f"is in {dimension_in_words(found)}"
            what, fix = (
                f"{subject} {has}, not in {dimension_in_words(wanted)}",
                f"give it in {dimension_in_words(wanted)}",
            )
        # `3 N*d` with a parameter d: behind a number d is a day, which no message about dimensions would lead to.
        for word in _JOINED.findall(place.text):
            if is_unit(word) and (self.is_known(word) or word in self.variables):
                meant = "parameter" if word in self.parameters else "variable"
                fix = f"'{word}' behind a number is read as a unit: put spaces around the operator before it to mean the {meant}"
        return rules.WRONG_DIMENSION.finding(what, fix=fix, place=place)

    def is_known(self, name: str) -> bool:
        """Whether expressions may use the name."""
        described = name in self.parameters or name in self.displacements or name in self.signals
        return described or self.is_broken(name)

    def may_be_hidden(self, name: str) -> bool:
        """Whether a line that could not be read may define the name: variables are known with their element alone."""
        return self.is_broken(name) or not self.signal_names.issuperset(self.broken)

    def is_broken(self, name: str) -> bool:
        """Whether the description of a name failed, or that of the part that it is in: the reason has been said."""
        if name in self.broken or "." not in name or not self.broken:
            return name in self.broken
        # The name of a part comes before those inside it, and a block of parts fails under the name without its
        # indices.
        part = name.partition(".")[0].partition("[")[0]
        return any(part == other.partition("[")[0] for other in self.broken)

    def _measure(self, name: str, names: Mapping[str, Measure]) -> Measure:
        if name in names:
            return names[name]
        parameter = self.parameters.get(name)
        if parameter is None:
            return self.signal_measures.get(name, UNKNOWN)
        return UNKNOWN if parameter.dimension is None else parameter.dimension

    def unknown_name(self, name: str, pending: PendingCheck) -> Finding:
        """The finding for a name that is no parameter."""
        place = pending.where()
        if name.lower() in ("nan", "inf", "infinity"):
            return not_finite_error(
                f"{pending.subject} uses '{name}', which is not a finite number", place, place.text
            ).finding
        # The nearest of 200 000 names would take longer to find than the file takes to read.
        known = [*pending.names, *self.parameters, *self.displacements, *self.signals]
        fix = did_you_mean(name, known[:2000]) or unit_advice(name) or f"add '{name}' to the parameters"
        what = f"{pending.subject} uses '{name}', which is not a parameter"
        at = place.text.find(name)
        spot = place._replace(column=place.column + at, text=name) if at >= 0 else place
        return rules.UNKNOWN_NAME.finding(what, fix=fix, place=spot)


def split_at_commas(text: str, opening: str = "([", closing: str = ")]") -> list[tuple[int, str]]:
    """The pieces between commas outside parentheses, each with where it starts."""
    pieces: list[tuple[int, str]] = []
    depth = start = 0
    for at, letter in enumerate(text + ","):
        depth += (letter in opening) - (letter in closing)
        if letter == "," and depth <= 0:
            pieces.append((start, text[start:at]))
            start = at + 1
    return pieces if text.strip() else []


def _index_function(expression: Expression, indices: tuple[str, ...], text: str) -> Callable[[CopyIndices], int]:
    """The expression as a function of the copy. Sums of multiples of indices, which are nearly all, need no expression at work."""
    # Every copy needs its names, and a model may have 200 000: whole numbers and a closure, where that is enough.
    slopes = [expression.derivative(name) for name in indices]
    affine = all(isinstance(s, Number) for s in slopes)
    start = expression.substitute(dict.fromkeys(indices, 0)) if affine else None
    if isinstance(start, Number) and type(start.rational) is int:
        weights = [(p, s.rational) for p, s in enumerate(slopes) if isinstance(s, Number) and s.rational]
        if all(type(w) is int for _, w in weights):
            return _affine(weights, start.rational, text)  # type: ignore[arg-type]  # each weight was looked at

    def general(copy: CopyIndices) -> int:
        value = expression.substitute(dict(zip(indices, copy, strict=False)))
        if not (isinstance(value, Number) and type(value.rational) is int and value.rational >= 0):
            raise NotWholeError(text, value)
        return value.rational

    return general


def _affine(weights: list[tuple[int, int]], start: int, text: str) -> Callable[[CopyIndices], int]:
    def several(copy: CopyIndices) -> int:
        value = start + sum([w * copy[p] for p, w in weights])
        if value < 0:
            raise NotWholeError(text, value)
        return value

    if len(weights) != 1:
        return several
    ((position, weight),) = weights

    def single(copy: CopyIndices) -> int:
        value = weight * copy[position] + start
        if value < 0:
            raise NotWholeError(text, value)
        return value

    return single
