"""Tables of signals, laws and curves: points in the file of the model, or columns of a CSV or Parquet file beside it."""

import csv
import io
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, final

from tellegen.core.errors import Rule, TellegenError
from tellegen.core.files import MAX_BYTES, failure_reason, read_bytes
from tellegen.core.names import did_you_mean, listing
from tellegen.core.units import Unit, parse_unit
from tellegen.model.dimensions import NUMBER, Measure
from tellegen.model.signals import MapPoints, Points
from tellegen.notations.context import ReadingContext
from tellegen.notations.grammar import INTERPOLATIONS, MAP, TABLE
from tellegen.notations.quantities import read_plain
from tellegen.notations.signals import rules
from tellegen.notations.yaml.document import MappingNode, Node, Scalar, SequenceNode


@final
class TableReading(NamedTuple):
    """The points of a table and what is known about the units of both numbers."""

    points: Points
    of_points: Measure
    of_values: Measure

    def exact_points(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The points as the decimals that they were written as: a law of 0.1 has the slope that its user sees."""
        found = zip(self.points.points, self.points.values, strict=True)
        return tuple((Fraction(repr(x)), Fraction(repr(y))) for x, y in found)


@final
class MapReading(NamedTuple):
    """The grid of a map and what is known about its units."""

    grid: MapPoints
    of_rows: Measure
    of_columns: Measure
    of_values: Measure


MOST_COLUMNS = 200
"""Each column of a map is a table of its own."""


def read_interpolation(context: ReadingContext, name: str, node: MappingNode) -> tuple[str, str]:
    """The word for what holds between the points of a law or a curve, and what to write where it is none."""
    given = node.get("interpolation")
    word = INTERPOLATIONS[0] if given is None else context.scalar(given, f"the interpolation of {name}").text
    if word in INTERPOLATIONS:
        return word, ""
    return word, did_you_mean(word, INTERPOLATIONS) or f"write {' or '.join(INTERPOLATIONS)}"


def read_table(context: ReadingContext, name: str, node: Node) -> TableReading:
    """The table of a signal or a law: a list of points, or a mapping with points or with a file and its columns."""
    return _TableReader(context, name, node).read()


def read_map(context: ReadingContext, name: str, node: Node) -> MapReading:
    """The map of a signal: rows, columns and values, or a file."""
    mapping = context.record(node, MAP, f"the map of {name}")
    return (_MapFileReader if mapping.get("file") is not None else _MapReader)(context, name, mapping).read_map()


class _TableReader:
    """Reads one table: points in the file of the model, or two columns of a file beside it."""

    def __init__(self, context: ReadingContext, name: str, node: Node) -> None:
        self.context, self.name, self.node = context, name, node
        self.on_scale = False

    def _refuse(self, rule: Rule, node: Node, what: str, fix: str) -> TellegenError:
        return self.context.error(rule, node, what, fix=fix, where=self.name)

    def read(self) -> TableReading:
        if isinstance(self.node, SequenceNode):
            return self._of_points(self.node)
        mapping = self.context.record(self.node, TABLE, f"the table of {self.name}")
        listed = mapping.get("points")
        if listed is not None and mapping.get("file") is None:
            return self._of_points(listed)
        return _FileReader(self.context, self.name, mapping).read_columns()

    def _of_points(self, node: Node) -> TableReading:
        self.node = node
        columns: tuple[list[float], list[float]] = ([], [])
        measures: tuple[list[Measure], list[Measure]] = ([], [])
        for row in node if isinstance(node, SequenceNode) else ():
            entries = self.context.texts(row, f"a point of {self.name}")
            if len(entries) != 2:
                what = f"a point of {self.name} has {len(entries)} number{'' if len(entries) == 1 else 's'}, not 2"
                raise self._refuse(rules.BAD_TABLE, row, what, "write [time, value]")
            for entry, column, found in zip(entries, columns, measures, strict=True):
                column.append(self._number(entry, found))
        units = [self._common(found) for found in measures]
        return TableReading(self.checked(*columns), units[0], units[1])

    def _number(self, entry: Scalar, found: list[Measure]) -> float:
        reading = read_plain(entry.text)
        if reading is None:
            what = f"'{entry.text}' in the table of {self.name} is not a number"
            raise self._refuse(rules.TABLE_GAP, entry, what, "write a number, with its unit if it has one")
        if reading.dimension is not None:
            found.append(reading.dimension)
        self.on_scale |= bool(reading.unit and parse_unit(reading.unit).offset)
        return float(reading.expression.evaluate({}))

    def _common(self, found: list[Measure]) -> Measure:
        kinds = list(dict.fromkeys(found))
        if len(kinds) > 1:
            what = f"the table of {self.name} mixes units"
            raise self._refuse(rules.SIGNAL_UNITS, self.node, what, "give a column in one unit")
        return kinds[0] if kinds else NUMBER

    def checked(self, points: list[float], values: list[float], source: str = "") -> Points:
        """The points, which must be two or more, finite and sorted."""
        if len(points) < 2:
            what = f"the table of {self.name} has {len(points)} point{'' if len(points) == 1 else 's'}"
            raise self._refuse(rules.BAD_TABLE, self.node, what, "give two points or more, each [time, value]")
        for row, pair in enumerate(zip(points, values, strict=True), start=1):
            if not all(map(math.isfinite, pair)):
                what = f"point {row} of the table of {self.name} is not finite"
                raise self._refuse(rules.TABLE_GAP, self.node, what, "leave the point out, or fill the gap")
        for row, (before, after) in enumerate(pairwise(points), start=2):
            # A law or a signal has one value at each place; a jump is written with the shape `table`.
            if after <= before:
                what = (
                    f"the points of the table of {self.name} do not rise: point {row} is at {after:g}, after {before:g}"
                )
                raise self._refuse(rules.UNSORTED_TABLE, self.node, what, "sort the points, each place once")
        return Points(tuple(points), tuple(values), source, self.on_scale)


class _FileReader(_TableReader):
    """Reads two columns of a file."""

    def __init__(self, context: ReadingContext, name: str, node: MappingNode) -> None:
        super().__init__(context, name, node)
        self.keys = node
        self.file = self._text("file")

    def _text(self, key: str) -> Scalar:
        found = self.keys.get(key)
        if found is None:
            fix = "write {file: run.csv, time: t, column: v}, or {points: [[0, 1], [1, 2]]}"
            raise self._refuse(rules.BAD_TABLE, self.node, f"the table of {self.name} has no '{key}'", fix)
        return self.context.scalar(found, f"the {key} of the table of {self.name}")

    def read_columns(self) -> TableReading:
        """The points in the file."""
        self.columns = (self._text("time"), self._text("column"))
        path = self._path()
        data = self._bytes(path)
        columns = self._parquet(data) if path.suffix.lower() == ".parquet" else self._csv(data)
        units = [self._unit(key) for key in ("time unit", "unit")]
        scaled = [
            [float(value * unit.factor + unit.offset) if unit else value for value in column]
            for column, unit in zip(columns, units, strict=True)
        ]
        source = f"{self.file.text}: {self.columns[0].text}, {self.columns[1].text}"
        measures: list[Measure] = [unit.dimension if unit else NUMBER for unit in units]
        return TableReading(self.checked(scaled[0], scaled[1], source), measures[0], measures[1])

    def _unit(self, key: str) -> Unit | None:
        if self.keys.get(key) is None:
            return None
        text = self._text(key)
        unit = parse_unit(text.text, self.context.text_place(text))
        self.on_scale |= bool(unit.offset)
        return unit

    def _path(self) -> Path:
        """The file, which must lie in the folder of the model or below it."""
        model = Path(self.context.file)
        beside = model.parent if os.path.isfile(model) else self.context.folder
        if beside is None:
            what = f"the model of the table {self.name} is no file, so nothing lies beside it: '{self.file.text}'"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "give the points themselves: {points: [...]}")
        # Links are followed before the question is asked: one could lead out of the folder.
        folder = beside.resolve()
        path = (folder / self.file.text).resolve()
        if not path.is_relative_to(folder):
            what = f"the table of {self.name} reads '{self.file.text}', which is outside the folder of the model"
            raise self._refuse(rules.OUTSIDE_FOLDER, self.file, what, "put the file beside the model")
        return path

    def _bytes(self, path: Path) -> bytes:
        try:
            data = read_bytes(path, MAX_BYTES)
        except (OSError, ValueError) as error:
            names = _names_in(path.parent)
            fix = did_you_mean(path.name, names) or "put the file beside the model"
            what = f"the table of {self.name} cannot read '{self.file.text}': {failure_reason(error)}"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, fix) from error
        if len(data) > MAX_BYTES:
            what = f"'{self.file.text}' is larger than {MAX_BYTES // 2**20} MiB"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "keep fewer points")
        return data

    def _lines(self, data: bytes) -> Iterator[list[str]]:
        try:
            # Spreadsheets put a byte order mark before the first title.
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            what = f"'{self.file.text}' is neither a CSV file in UTF-8 nor a .parquet file"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "save it as CSV with a line of titles") from error
        # Where decimals have a comma, spreadsheets part columns by semicolons.
        delimiter = ";" if text.partition("\n")[0].count(";") else ","
        return iter(csv.reader(io.StringIO(text), delimiter=delimiter))

    def _csv(self, data: bytes) -> list[list[float]]:
        rows = self._lines(data)
        titles = [title.strip() for title in next(rows, [])]
        places = [self._place(column, titles) for column in self.columns]
        found: list[list[float]] = [[], []]
        for line, row in enumerate(rows, start=2):
            if not any(entry.strip() for entry in row):
                continue
            for column, place in zip(found, places, strict=True):
                column.append(self._entry(row[place] if place < len(row) else "", line))
        return found

    def _entry(self, text: str, line: int) -> float:
        try:
            return float(text)
        except ValueError:
            shown = f"'{text.strip()}'" if text.strip() else "nothing"
            what = f"line {line} of '{self.file.text}' has {shown} where a number belongs"
            raise self._refuse(
                rules.TABLE_GAP, self.file, what, "leave the line out, or fill the gap; decimals have a point"
            ) from None

    def _parquet(self, data: bytes) -> list[list[float]]:
        try:
            import pyarrow.parquet  # noqa: PLC0415 - it takes a while to load, and few models have such a table
        except ImportError as error:
            what = f"'{self.file.text}' is a Parquet file, and the package that reads it is not installed"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "pip install pyarrow, or use CSV") from error
        try:
            read = pyarrow.parquet.read_table(io.BytesIO(data))
        except (OSError, ValueError) as error:
            what = f"'{self.file.text}' is not a Parquet file"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "save it again, or use CSV") from error
        found = []
        for column in self.columns:
            self._place(column, read.column_names)
            entries = read.column(column.text).to_pylist()
            found.append([self._entry("" if e is None else str(e), row) for row, e in enumerate(entries, start=1)])
        return found

    def _place(self, column: Scalar, titles: list[str]) -> int:
        if column.text not in titles:
            fix = did_you_mean(column.text, titles) or f"its columns are {listing(titles, 20)}"
            what = f"'{self.file.text}' has no column '{column.text}'"
            raise self._refuse(rules.NO_TABLE_FILE, column, what, fix)
        return titles.index(column.text)


class _MapReader(_TableReader):
    """Reads a map that stands in the file of the model."""

    def __init__(self, context: ReadingContext, name: str, node: MappingNode) -> None:
        super().__init__(context, name, node)
        self.keys = node

    def read_map(self) -> MapReading:
        """The grid."""
        found: list[list[Measure]] = [[], [], []]
        rows, columns = (
            self._numbers(self.keys.get(w), measures) for w, measures in zip(("rows", "columns"), found, strict=False)
        )
        lines = self.keys.get("values")
        values = [self._numbers(line, found[2]) for line in (lines.items if isinstance(lines, SequenceNode) else ())]
        return MapReading(self.made_grid(rows, columns, values), *map(self._common, found))

    def _numbers(self, node: Node | None, found: list[Measure]) -> list[float]:
        texts = () if node is None else self.context.texts(node, f"the map of {self.name}")
        return [self._number(text, found) for text in texts]

    def made_grid(
        self, rows: list[float], columns: list[float], values: list[list[float]], source: str = ""
    ) -> MapPoints:
        """The grid, which must be full, finite and sorted."""
        self._check_sorted("rows", rows)
        self._check_sorted("columns", columns)
        if len(columns) > MOST_COLUMNS:
            what = f"the map of {self.name} has {len(columns)} columns"
            raise self._refuse(
                rules.BAD_TABLE, self.node, what, f"give {MOST_COLUMNS} or fewer; exchange rows and columns"
            )
        if len(values) != len(rows):
            what = f"the map of {self.name} has {len(values)} lines of values and {len(rows)} rows"
            raise self._refuse(rules.BAD_TABLE, self.node, what, "give a line of values for each row")
        for k, line in enumerate(values, start=1):
            if len(line) != len(columns):
                what = (
                    f"line {k} of the map of {self.name} has {len(line)} values, and there are {len(columns)} columns"
                )
                raise self._refuse(rules.BAD_TABLE, self.node, what, "give a value for each column")
            if not all(map(math.isfinite, line)):
                what = f"line {k} of the map of {self.name} has a value that is not finite"
                raise self._refuse(rules.TABLE_GAP, self.node, what, "fill the gap")
        return MapPoints(tuple(rows), tuple(columns), tuple(map(tuple, values)), source, self.on_scale)

    def _check_sorted(self, word: str, places: list[float]) -> None:
        if len(places) < 2:
            what = f"the map of {self.name} has {len(places)} {word.removesuffix('s' if len(places) == 1 else '')}"
            raise self._refuse(rules.BAD_TABLE, self.node, what, "give two or more")
        if not all(map(math.isfinite, places)) or any(after <= before for before, after in pairwise(places)):
            what = f"the {word} of the map of {self.name} do not rise"
            raise self._refuse(rules.UNSORTED_TABLE, self.node, what, "sort them, each place once")


class _MapFileReader(_FileReader):
    """Reads a map from a file."""

    def read_map(self) -> MapReading:
        """The grid."""
        lines = [line for line in self._lines(self._bytes(self._path())) if any(entry.strip() for entry in line)]
        if not lines:
            what = f"'{self.file.text}' is empty"
            raise self._refuse(rules.NO_TABLE_FILE, self.file, what, "give a line of columns, then one for each row")
        units = [self._unit(key) for key in ("row unit", "column unit", "unit")]

        def scaled(k: int, text: str, line: int) -> float:
            unit, value = units[k], self._entry(text, line)
            return float(value * unit.factor + unit.offset) if unit else value

        columns = [scaled(1, entry, 1) for entry in lines[0][1:]]
        rows = [scaled(0, line[0], n) for n, line in enumerate(lines[1:], start=2)]
        values = [[scaled(2, entry, n) for entry in line[1:]] for n, line in enumerate(lines[1:], start=2)]
        grid = _MapReader(self.context, self.name, self.keys).made_grid(rows, columns, values, self.file.text)
        measures: list[Measure] = [unit.dimension if unit else NUMBER for unit in units]
        return MapReading(grid, *measures)


def _names_in(folder: Path) -> Iterator[str]:
    try:
        yield from sorted(entry.name for entry in folder.iterdir() if entry.is_file())
    except OSError:
        return
