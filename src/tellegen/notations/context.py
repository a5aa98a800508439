"""What the parts of the reader share: the file, what was found in it so far, and the checks that must wait for the whole file."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, final

from tellegen.core.errors import DescriptionError, Finding, Place, Rule, TellegenError
from tellegen.core.names import did_you_mean, is_dotted, is_name, listing
from tellegen.core.units import DIMENSIONLESS, Dimension, is_unit, parse_unit, unit_advice
from tellegen.expressions import Expression
from tellegen.model.dimensions import (
    UNKNOWN,
    DimensionError,
    Measure,
    NoDimension,
    dimension_in_words,
    is_any_factor,
    measure_of,
    user_names,
    without_marks,
)
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Parameter
from tellegen.model.signals import SignalDefinition
from tellegen.notations import rules
from tellegen.notations.grammar import Record
from tellegen.notations.quantities import NO_INDICES, QuantityReading, not_finite_error, read_plain, read_quantity
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode

# More would hide the first ones: a file that is no model at all has an error on each line.
MOST_ERRORS = 50
MOST_NOTICES = 20
_JOINED = re.compile(r"[*/]([A-Za-z]+)")


NO_NAMES: Mapping[str, Measure] = MappingProxyType({})


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
        self.same_nodes: dict[str, str] = {}  # of points of bodies that stand where a joint holds another point
        self.fields: list[MatrixField] = []
        self.vectors: dict[str, tuple[str, ...]] = {}
        self.signals: dict[str, SignalDefinition] = {}
        self.signal_names: frozenset[str] = frozenset()  # known before the signals are read: they are no units
        self.signal_measures: dict[str, Measure] = {}
        self.driven: list[DrivenSource] = []
        self.heated: list[HeatPort] = []
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

    def add_errors(self, findings: Iterable[Finding]) -> None:
        """Keep errors; raises EnoughError when enough are there."""
        self.errors.extend(findings)
        if len(self.errors) >= MOST_ERRORS:
            raise StopReadingError

    def raise_errors(self) -> None:
        """Raises: DescriptionError with all errors, if there are any."""
        if self.errors:
            raise DescriptionError(self.errors[:MOST_ERRORS])

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
            raise self.error(
                rules.WRONG_SHAPE, text, f"{subject} is empty", fix="write a number with its unit, or leave the key out"
            )
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
        found, depth, start = [], 0, 0
        for at, letter in enumerate(node.text + ","):
            # In `R[1,2], b` one comma parts texts; the other belongs to the indices of a name.
            depth += (letter == "[") - (letter == "]")
            if letter == "," and depth <= 0:
                piece = node.text[start:at]
                shift = start + len(piece) - len(piece.lstrip())
                column = self.text_place(node, shift).column
                found.append(Scalar(piece.strip(), node.line, column, len(piece.strip()), False))
                start = at + 1
        return found if node.text.strip() else []

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

    def reserved_name(self, node: Scalar, subject: str) -> TellegenError:
        """The error for a name that means something else in formulas."""
        what = f"'{node.text}' cannot name {subject}: it has a meaning of its own in formulas"
        return self.error(rules.BAD_NAME, node, what, why="a formula could not use it", fix="choose another name")

    def bad_name(self, node: Scalar, subject: str) -> TellegenError:
        """The error for a name that is none."""
        fix = "start with a letter; then letters, digits and single underscores"
        if not node.text.isascii():
            fix = "use the letters a to z and A to Z, digits and single underscores"
        elif node.text.partition(" ")[0].isdigit():
            fix = "start with a letter; a decimal number has a point and no comma, which starts a new entry"
        return self.error(rules.BAD_NAME, node, f"'{node.text}' cannot name {subject}", fix=fix)

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
        elif wanted is not None and reading.dimension is not None and reading.dimension != wanted:
            self.add_errors([self.wrong_dimension(subject, reading.dimension, wanted, self.place(node))])
        return reading

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

    def wrong_dimension(self, subject: str, found: Dimension, wanted: Dimension, place: Place) -> Finding:
        """The finding for a quantity in a unit of something else; it also says where a parameter was read as a unit."""
        taken = [word for word in _JOINED.findall(place.text) if is_unit(word) and word in self.parameters]
        finding = wrong_dimension(subject, found, wanted, place)
        # `3 N*d` with a parameter d: behind a number d is a day, which no message about dimensions would lead to.
        if not taken:
            return finding
        fix = f"'{taken[0]}' behind a number is read as a unit: put spaces around the operator before it to mean the parameter"
        return replace(finding, fix=fix)

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


def refuse_scale(context: ReadingContext, node: Scalar, subject: str) -> None:
    """Raises: DescriptionError (D492) for degC or degF where temperatures count from the ambient."""
    reading = read_plain(node.text)
    if reading is not None and reading.unit and parse_unit(reading.unit).offset:
        what = f"{subject} is {node.text.strip()}, and temperatures of the domain 'heat' count from the ambient"
        fix = "give the difference to the ambient in K, or use the domain 'thermal', whose temperatures are absolute"
        raise context.error(rules.SCALE_FROM_AMBIENT, node, what, fix=fix)


def wrong_dimension(subject: str, found: Dimension, wanted: Dimension, place: Place) -> Finding:
    """The finding for a quantity in a unit of something else."""
    if wanted == DIMENSIONLESS:
        what = f"{subject} is in {dimension_in_words(found)}, not a number"
        fix = "give a number, or an angle in rad or deg"
    else:
        has = "is a number" if found == DIMENSIONLESS else f"is in {dimension_in_words(found)}"
        what, fix = f"{subject} {has}, not in {dimension_in_words(wanted)}", f"give it in {dimension_in_words(wanted)}"
    return rules.WRONG_DIMENSION.finding(what, fix=fix, place=place)
