"""The lines of a netlist read one by one, into branches, wires, options and positions."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import final

from tellegen.core.domains import BY_CODE, Side
from tellegen.core.errors import Place
from tellegen.core.names import did_you_mean, nearest
from tellegen.description.files import clip
from tellegen.description.model import NOTHING
from tellegen.description.netlists import rules
from tellegen.description.netlists.connections import RELATION_FORM, read_pair, read_relation
from tellegen.description.netlists.findings import Findings, RefusedLineError
from tellegen.description.netlists.labels import LabelReader
from tellegen.description.netlists.lines import Branch, Wire, pieces_of, without_comment
from tellegen.description.netlists.options import DEFAULTS, NAMES, PHYSICS, SPELLINGS
from tellegen.elements import KINDS, ElementKind
from tellegen.expressions import Expression

MAX_LINE = 10_000

_NO_VALUE = (None, math.nan)
_KIND_OF_CODE = {kind.netlist: kind for kind in KINDS.values() if kind.netlist}
_UNDEFINED = frozenset(f"{code}U" for code in BY_CODE)
_CODES = (*_KIND_OF_CODE, "CB", "--", "*P", "**")
_POINT = re.compile(r"[A-Za-z0-9_]+")
_OUTS: Mapping[str, Side | None] = MappingProxyType(
    {"Effort": "across", "E": "across", "Flow": "through", "F": "through", "Vuoto": None}
)


@final
class LineReader:
    """Reads lines. Names are not yet made different, points not yet joined; `points` has the order they were met in."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.labels = LabelReader(findings)
        self.branches: list[Branch] = []
        self.points: dict[str, int] = {}
        self.wires: list[Wire] = []
        self.options: dict[str, str] = {}
        self.positions: dict[str, str] = {}

    def read(self) -> None:
        """Read all lines; errors are kept, and raised at the end of everything by whoever builds the model."""
        for line, text in enumerate(self.findings.lines, 1):
            if text and not text.isspace():
                try:
                    self._line(line, text)
                except RefusedLineError:  # its finding is kept; the next lines are read all the same
                    continue
        if not self.branches and not self.findings.errors:
            raise rules.EMPTY.error(
                "the netlist has no element",
                fix="write lines such as 'eR, 1, 2, Kn, R_a'",
                place=Place(self.findings.file, 1, 1),
            )

    def value_of(self, option: str) -> tuple[Expression | None, float]:
        """The value of an option of the system and its size, if the file gives it."""
        return self.labels.values.get(self.options.get(option, ""), _NO_VALUE)

    def default(self, option: str, branch: Branch) -> tuple[Expression | None, float]:
        """The value that the file gives to what has none on a branch (Kn0, In0, En0, Fn0), if it does."""
        text = (branch.notes or NOTHING).get(option) or self.options.get(option)
        return self.labels.values.get(text, _NO_VALUE) if text else _NO_VALUE

    def _line(self, line: int, text: str) -> None:
        if len(text) > MAX_LINE:
            what = f"the line has {len(text)} characters"
            raise self.findings.refuse(rules.LINE_TOO_LONG, what, line, fix="write one element a line")
        if "%" in text:
            text = without_comment(text)
        pieces = pieces_of(text)
        if pieces is None:
            raise self._refuse_brackets(line, text)
        fields = [piece.strip() for piece in pieces]
        if not fields[-1]:
            fields.pop()  # a comma at the end, or a comment alone in its line
            if not fields:
                return
        head = fields[0]
        kind = _KIND_OF_CODE.get(head)
        if kind is not None:
            self._element(line, kind, fields)
        elif head == "--":
            self._wire(line, fields)
        elif head == "**":
            self._system(line, fields)
        elif head == "CB":
            self._block(line, fields)
        elif head == "*P":
            self._placement(line, fields)
        else:
            raise self._refuse_code(line, head)

    def _refuse_brackets(self, line: int, text: str) -> RefusedLineError:
        counts = [f"{text.count(sign)} '{sign}'" for sign in "[](){}" if sign in text]
        what = f"brackets do not match: there are {' and '.join(counts)}"
        return self.findings.refuse(rules.BRACKETS, what, line, fix="close each bracket in its own line, as in [3; 4]")

    def _refuse_code(self, line: int, head: str) -> RefusedLineError:
        if head in _UNDEFINED:
            kinds = [kind for kind in _KIND_OF_CODE.values() if kind.role == "source" and kind.netlist[0] == head[0]]
            choice = " or ".join(f"{kind.netlist} ({kind.name})" for kind in kinds)
            what = f"'{head}' draws a generator without saying what it imposes"
            return self.findings.refuse(rules.UNDEFINED_GENERATOR, what, line, 0, fix=f"write {choice}")
        if len(self.findings.lines) == 1 and Path(head).suffix:
            fix = f"to read a file, give a Path: Path('{clip(head)}')"
        elif len(words := re.split(r"[;\s]+", head)) > 1 and words[0] in _CODES:
            fix = f"separate fields by commas: {', '.join(words[:3])}, ..."
        elif re.match(r"[\w ]+:(\s|$)", head):
            fix = "this looks like a model file: let its name end in .yaml"
        else:
            own = [code for code in _CODES if code[0] == head[:1]] if len(head) == 2 else []
            fix = did_you_mean(head, _CODES) or f"the codes are {' '.join(own or _CODES)}; a comment starts with %"
        what = f"'{clip(head)}' is not the code of an element" if head else "the line starts without a code"
        return self.findings.refuse(rules.UNKNOWN_CODE, what, line, 0, fix=fix)

    # Element lines

    def _element(self, line: int, kind: ElementKind, fields: list[str]) -> None:
        place = self.findings.line_place(line)
        branch = Branch(place, len(self.branches) + 1, kind, self._two_points(line, fields))
        self.branches.append(branch)
        labels = branch.labels
        for k in range(3, len(fields), 2):
            key, text = fields[k], fields[k + 1]
            if key in NAMES:
                if key in labels:
                    raise self._refuse_twice(line, k)
                labels[key] = self.labels.label(line, k + 1, text)
                if text[:1] == "-":
                    branch.note(key, text.partition("=")[0].rstrip())
            else:
                self._branch_option(branch, k, key, text)

    # Points

    def _two_points(self, line: int, fields: list[str]) -> tuple[str, str]:
        count = len(fields)
        if count < 3:
            what = f"'{fields[0]}' needs two points, and {count - 1} {'is' if count == 2 else 'are'} given"
            fix = f"write '{fields[0]}, 1, 2' and then the options"
            raise self.findings.refuse(rules.MISSING_POINT, what, line, fix=fix)
        self._require_pairs(line, count)
        one, two = fields[1], fields[2]
        if one in self.points and two in self.points:
            return one, two
        return self._point(line, 1, one), self._point(line, 2, two)

    def _point(self, line: int, field: int, text: str) -> str:
        if text in self.points:
            return text
        label, equals, position = text.partition("=")
        label = label.rstrip()
        if not _POINT.fullmatch(label):
            what = f"'{clip(text)}' is not the label of a point" if text else "a point is missing between two commas"
            fix = "use letters, digits and underscores, such as 3 or a"
            raise self.findings.refuse(rules.BAD_POINT, what, line, field, fix=fix)
        if equals:
            self.positions[label] = position.strip()
        self.points.setdefault(label, len(self.points))
        return label

    def _placement(self, line: int, fields: list[str]) -> None:
        for k, text in enumerate(fields[1:], 1):
            label, equals, position = text.partition("=")
            if not equals or not position.strip() or not _POINT.fullmatch(label.strip()):
                what = f"'{clip(text)}' does not place a point"
                fix = "write 'a=(2+1*1i)': label, x and y"
                raise self.findings.refuse(rules.BAD_PLACEMENT, what, line, k, fix=fix)
            self.positions[label.strip()] = position.strip()

    # Options

    def _require_pairs(self, line: int, count: int) -> None:
        if count % 2 == 0:
            what = "the options after the points do not come in pairs"
            fix = "write each option with its value: 'Kn, R_a, Ln, 0.8'"
            raise self.findings.refuse(rules.ODD_FIELDS, what, line, count - 1, fix=fix)

    def _refuse_twice(self, line: int, field: int) -> RefusedLineError:
        what = "this option stands twice in the line"
        return self.findings.refuse(rules.OPTION_TWICE, what, line, field, fix="remove one of the two")

    def _branch_option(self, branch: Branch, field: int, key: str, text: str) -> None:
        short = SPELLINGS.get(key)
        if short is None:
            short = self._unknown_option(branch.line, field, key)
        elif short in PHYSICS:
            if branch.notes and short in branch.notes:
                raise self._refuse_twice(branch.line, field)
            if short == "Pin":
                branch.pin = self._sign(branch.line, field + 1, text)
            elif short == "Out":
                branch.out = self._output(branch.line, field + 1, text)
            else:
                self.labels.value(branch.line, field + 1, text)
        if branch.notes is None:
            branch.notes = {}
        branch.notes[short] = text

    def _unknown_option(self, line: int, field: int, key: str) -> str:
        """The option as it is kept: under the name it was given."""
        close = nearest(key, SPELLINGS) if len(key) < 40 and not self.findings.is_full(rules.UNKNOWN_OPTION) else None
        fix = f"did you mean '{close}'?" if close else "remove it if it is a slip"
        unknown = f"'{clip(key)}' is not an option of POG_Modeler; it is kept without effect"
        what = unknown if key else "an option has no name"
        self.findings.notice(rules.UNKNOWN_OPTION, what, line, field, fix=fix)
        return key

    def _sign(self, line: int, field: int, text: str) -> int:
        if text not in ("1", "-1", "+1"):
            fix = "write 1 (power enters the element) or -1 (power leaves it)"
            raise self.findings.refuse(rules.BAD_PIN, f"the value of Pin is '{clip(text)}'", line, field, fix=fix)
        return int(text)

    def _output(self, line: int, field: int, text: str) -> Side | None:
        if text not in _OUTS:
            fix = did_you_mean(text, _OUTS) or "write Effort, Flow or Vuoto"
            what = f"'{clip(text)}' is not an output variable"
            raise self.findings.refuse(rules.BAD_OUT, what, line, field, fix=fix)
        return _OUTS[text]

    def _pairs(self, line: int, fields: list[str], first: int) -> dict[str, str]:
        found = {}
        for k in range(first, len(fields), 2):
            short = SPELLINGS.get(fields[k])
            if short is None:
                short = self._unknown_option(line, k, fields[k])
            found[short] = fields[k + 1]
        return found

    # Lines of wires and of the system

    def _wire(self, line: int, fields: list[str]) -> None:
        one, two = self._two_points(line, fields)
        if one == two:
            what = f"the point '{one}' is joined with itself"
            self.findings.notice(rules.SELF_CONNECTION, what, line, fix="remove the line, or write the other point")
        self.wires.append(Wire((one, two), self._pairs(line, fields, 3) or NOTHING, line))

    def _system(self, line: int, fields: list[str]) -> None:
        self._require_pairs(line, len(fields))
        found = self._pairs(line, fields, 1)
        for k, key in enumerate(found):
            if key in DEFAULTS or key == "sTfin":
                self.labels.value(line, 2 * k + 2, found[key])
        self.options.update(found)

    # Connection blocks

    def _block(self, line: int, fields: list[str]) -> None:
        if len(fields) < 3:
            what = "'CB' needs its top points and its bottom points"
            fix = "write 'CB, [3; 4], [A; B], Kn, F2=K_m*F1'"
            raise self.findings.refuse(rules.MISSING_POINT, what, line, fix=fix)
        self._require_pairs(line, len(fields))
        branch = Branch(self.findings.line_place(line), len(self.branches) + 1, None, self._block_points(line, fields))
        for k in range(3, len(fields), 2):
            self._block_option(branch, k, fields[k], fields[k + 1])
        if branch.relation is None:
            what, fix = "the connection block has no relation", f"{RELATION_FORM}, after Kn"
            raise self.findings.refuse(rules.BAD_RELATION, what, line, fix=fix)
        self.branches.append(branch)

    def _block_points(self, line: int, fields: list[str]) -> tuple[str, ...]:
        """Top and bottom of the first side, then of the second."""
        tops, bottoms = (read_pair(self.findings, line, k, fields[k]) for k in (1, 2))
        texts = (tops[0], bottoms[0], tops[1], bottoms[1])
        return tuple(self._point(line, 1 + k % 2, text) for k, text in enumerate(texts))

    def _block_option(self, branch: Branch, field: int, key: str, text: str) -> None:
        line = branch.line
        if key == "Kn":
            if branch.relation is not None:
                raise self._refuse_twice(line, field)
            branch.relation = read_relation(self.labels, line, field + 1, text)
        elif key in ("En", "Fn"):
            if f"{key}1" in branch.labels:
                raise self._refuse_twice(line, field)
            for side, name in enumerate(read_pair(self.findings, line, field + 1, text), 1):
                branch.labels[f"{key}{side}"] = self.labels.label(line, field + 1, name)
            if "-" in text:
                branch.note(key, text)
        else:
            self._branch_option(branch, field, key, text)
