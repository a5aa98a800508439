"""The lines of a netlist read one by one, labels and connection blocks included, into branches, wires, options and positions."""

import math
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import final

from tellegen.core.domains import BY_CODE, Side
from tellegen.core.errors import Place, TellegenError
from tellegen.core.files import clip
from tellegen.core.names import NAME, did_you_mean, is_name, listing, nearest
from tellegen.elements import KINDS, ElementKind, coupling_of_relation
from tellegen.expressions import Expression, number, parse
from tellegen.model.model import NOTHING
from tellegen.notations.netlist import lines, rules

_LABEL = re.compile(rf"-?({NAME.pattern})(?:\s*=\s*(\S.*))?")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_LATEX = re.compile(r"[\\{}\s]")


@final
class LabelReader:
    """Reads labels; a text that was read before is looked up. What cannot be read is raised as RefusedLineError."""

    def __init__(self, findings: lines.NetlistFindings) -> None:
        self.findings = findings
        self.values: dict[str, tuple[Expression, float]] = {}
        self._cleaned: dict[str, str] = {}

    def label(self, line: int, field: int, text: str) -> lines.NetlistLabel:
        """The label in a field: a name, a name and a value, or `=value`."""
        match = _LABEL.fullmatch(text)
        if match is not None:
            name, value = match.groups()
        else:
            given, equals, value = text.partition("=")
            name = self._clean(line, field, given.strip())
            if equals and not value.strip():
                fix = f"write '{name}=3' or '{name}'"
                raise self.findings.refuse(rules.BAD_VALUE, "no value stands after '='", line, field, fix=fix)
        if not value:
            return lines.NetlistLabel(name, None, math.nan, field)
        known = self.values.get(value) or self.value(line, field, value.strip())
        return lines.NetlistLabel(name, *known, field)

    def _clean(self, line: int, field: int, given: str) -> str:
        """A legal name for a label in the manner of LaTeX: `T_{1}` is T_1, `\\omega` omega, `_F_x` F_x."""
        label = given.removeprefix("-").strip()
        if not label and given != "-":
            return ""
        if label in self._cleaned:
            return self._cleaned[label]
        name = re.sub("_+", "_", _LATEX.sub("", label)).lstrip("_")
        if not is_name(name):
            raise self._refuse_label(line, field, label)
        self._cleaned[label] = name
        if name != label:
            what = f"'{clip(label)}' is called '{name}'"
            self.findings.notice(rules.RENAMED, what, line, field, fix=f"write '{name}'")
        return name

    def _refuse_label(self, line: int, field: int, label: str) -> lines.RefusedLineError:
        shown = clip(label)
        if _PLAIN_NUMBER.fullmatch(label):
            what = f"the number {shown} stands where a name is expected"
            fix = f"write a name before it: 'K_1={shown}'"
        else:
            what = f"'{shown}' cannot be a name" if label else "a name is missing"
            fix = "use a letter, then letters, digits and underscores, such as R_a"
        return self.findings.refuse(rules.BAD_LABEL, what, line, field, fix=fix)

    def value(self, line: int, field: int, text: str) -> tuple[Expression, float]:
        """The value that a text stands for, and its size."""
        known = self.values.get(text)
        if known is not None:
            return known
        try:
            made = _plain_value(text) if _PLAIN_NUMBER.fullmatch(text) else _calculated(text)
        except TellegenError as error:
            raise self._refuse_value(line, field, text, error.what) from None
        except (ArithmeticError, ValueError, TypeError, KeyError):
            raise self._refuse_value(line, field, text, "it has no finite value") from None
        self.values[text] = made
        return made

    def _refuse_value(self, line: int, field: int, text: str, reason: str) -> lines.RefusedLineError:
        what = f"'{clip(text)}' is not a number: {clip(reason, 120)}"
        fix = "write a number, such as 0.003 or 3*1e-3"
        return self.findings.refuse(rules.BAD_VALUE, what, line, field, fix=fix)


def _plain_value(text: str) -> tuple[Expression, float]:
    size = float(text)
    is_lost = size == 0 and text.lower().split("e")[0].strip("+-.0")  # too small to be kept
    if not math.isfinite(size) or is_lost or len(text) > 300:
        raise OverflowError(text)
    # POG_Modeler reckons in doubles: what is no whole number is the nearest of these.
    return number(int(text) if text.lstrip("+-").isdigit() else size), size


def _calculated(text: str) -> tuple[Expression, float]:
    expression = parse(text)
    if expression.free_symbols:
        raise rules.BAD_VALUE.error(f"{listing(sorted(expression.free_symbols))} has no value")
    size = expression.evaluate({})
    if not math.isfinite(size):
        raise OverflowError(text)
    return expression, size


RELATION_FORM = "write a relation such as F2=K_m*F1: a variable E or F of each side, a name or a number between"

_RELATION = re.compile(r"([EF])([12]) ?= ?(.*?) ?\* ?([EF])([12])")
_SIDE_OF: Mapping[str, Side] = MappingProxyType({"E": "across", "F": "through"})


def _read_pair(findings: lines.NetlistFindings, line: int, field: int, text: str) -> tuple[str, str]:
    """The two texts of `[first; second]`."""
    parts = [part.strip() for part in text[1:-1].split(";")]
    if text[:1] != "[" or text[-1:] != "]" or len(parts) != 2:
        what = f"'{clip(text)}' is not a pair"
        raise findings.refuse(rules.BAD_PAIR, what, line, field, fix="write one for each side in brackets: [3; 4]")
    return parts[0], parts[1]


def _read_relation(labels: LabelReader, line: int, field: int, text: str) -> lines.BlockRelation:
    """The relation that a text after Kn states."""
    match = _RELATION.fullmatch(" ".join(text.split()))
    findings = labels.findings
    if match is None:
        what = f"'{clip(text)}' is not the relation of a connection block"
        raise findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    left, left_side, modulus, right, right_side = match.groups()
    if left_side == right_side:
        what = f"'{clip(text)}' relates two variables of side {left_side}"
        raise findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    # A negative modulus is a block with its points exchanged; one of the two ways to write it is enough.
    if modulus.startswith("-"):
        fix = "write the modulus without its minus and exchange the two points of one side: [2; b], [0; 3]"
        raise findings.refuse(rules.BAD_RELATION, f"the modulus of '{clip(text)}' has a minus", line, field, fix=fix)
    coupling, reciprocal = coupling_of_relation((_SIDE_OF[left], int(left_side)), (_SIDE_OF[right], int(right_side)))
    return lines.BlockRelation(coupling, reciprocal, _modulus(labels, line, field, modulus))


def _modulus(labels: LabelReader, line: int, field: int, text: str) -> lines.NetlistLabel:
    """A name, `name=value`, or a number: then the label has no name."""
    if text[:1].isdecimal() or text[:1] in ("(", ".") or (text.endswith(")") and "=" not in text):
        expression, size = labels.value(line, field, text)
        return lines.NetlistLabel("", expression, size, field)
    label = labels.label(line, field, text)
    if not label.name:
        what = "the relation has no modulus"
        raise labels.findings.refuse(rules.BAD_RELATION, what, line, field, fix=RELATION_FORM)
    return label


MAX_LINE, MAX_FIELD = 10_000, 1_000

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

    def __init__(self, findings: lines.NetlistFindings) -> None:
        self.findings = findings
        self.labels = LabelReader(findings)
        self.branches: list[lines.NetlistBranch] = []
        self.points: dict[str, int] = {}
        self.wires: list[lines.NetlistWire] = []
        self.options: dict[str, str] = {}
        self.positions: dict[str, str] = {}

    def read(self) -> None:
        """Read all lines; errors are kept, and raised at the end of everything by whoever builds the model."""
        for line, text in enumerate(self.findings.lines, 1):
            if text and not text.isspace():
                try:
                    self._line(line, text)
                except lines.RefusedLineError:  # its finding is kept; the next lines are read all the same
                    continue
        if not self.branches and not self.findings.errors:
            fix = "write lines such as 'eR, 1, 2, Kn, R_a'"
            raise rules.EMPTY.error("the netlist has no element", fix=fix, place=Place(self.findings.file, 1, 1))

    def value_of(self, option: str) -> tuple[Expression | None, float]:
        """The value of an option of the system and its size, if the file gives it."""
        return self.labels.values.get(self.options.get(option, ""), _NO_VALUE)

    def default(self, option: str, branch: lines.NetlistBranch) -> tuple[Expression | None, float]:
        """The value that the file gives to what has none on a branch (Kn0, In0, En0, Fn0), if it does."""
        text = (branch.notes or NOTHING).get(option) or self.options.get(option)
        return self.labels.values.get(text, _NO_VALUE) if text else _NO_VALUE

    def _line(self, line: int, text: str) -> None:
        if len(text) > MAX_LINE:
            what = f"the line has {len(text)} characters"
            raise self.findings.refuse(rules.LINE_TOO_LONG, what, line, fix="write one element a line")
        if "%" in text:
            text = lines.without_comment(text)
        pieces = lines.fields_of(text)
        if pieces is None:
            raise self._refuse_brackets(line, text)
        fields = [piece.strip() for piece in pieces]
        # A name as long as this could stand in no other file.
        if (
            len(text) > MAX_FIELD
            and (long := next((k for k, field in enumerate(fields) if len(field) > MAX_FIELD), -1)) >= 0
        ):
            what = f"one option of the line has {len(fields[long])} characters"
            raise self.findings.refuse(rules.LINE_TOO_LONG, what, line, long, fix="begin a new line for each element")
        if not fields[-1]:
            fields.pop()  # a comma at the end, or a comment alone in its line
            if not fields:
                return
        head = fields[0]
        # Elements first: nearly all lines of a large file are of them.
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

    def _refuse_brackets(self, line: int, text: str) -> lines.RefusedLineError:
        counts = [f"{text.count(sign)} '{sign}'" for sign in "[](){}" if sign in text]
        what = f"brackets do not match: there are {' and '.join(counts)}"
        return self.findings.refuse(rules.BRACKETS, what, line, fix="close each bracket in its own line, as in [3; 4]")

    def _refuse_code(self, line: int, head: str) -> lines.RefusedLineError:
        if head in _UNDEFINED:
            kinds = [kind for kind in _KIND_OF_CODE.values() if kind.role == "source" and kind.netlist[0] == head[0]]
            choice = " or ".join(f"{kind.netlist} ({kind.name})" for kind in kinds)
            what = f"'{head}' draws a generator without saying what it imposes"
            return self.findings.refuse(rules.UNDEFINED_GENERATOR, what, line, 0, fix=f"write {choice}")
        # A name of a file that was given as text is the likeliest slip of a program.
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
        branch = lines.NetlistBranch(place, len(self.branches) + 1, kind, self._two_points(line, fields))
        self.branches.append(branch)
        labels = branch.labels
        for k in range(3, len(fields), 2):
            key, text = fields[k], fields[k + 1]
            if key in lines.NAMES:
                if key in labels:
                    raise self._refuse_twice(line, k)
                labels[key] = self.labels.label(line, k + 1, text)
                # The sign is that of the label in the drawing; what the variable counts is decided by the points.
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
        # Points that were met before need no second look.
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

    def _refuse_twice(self, line: int, field: int) -> lines.RefusedLineError:
        what = "this option stands twice in the line"
        return self.findings.refuse(rules.OPTION_TWICE, what, line, field, fix="remove one of the two")

    def _branch_option(self, branch: lines.NetlistBranch, field: int, key: str, text: str) -> None:
        short = lines.SPELLINGS.get(key)
        if short is None:
            short = self._unknown_option(branch.line, field, key)
        elif short in lines.PHYSICS:
            if branch.notes and short in branch.notes:
                raise self._refuse_twice(branch.line, field)
            if short == "Pin":
                branch.pin = self._sign(branch.line, field + 1, text)
            elif short == "Out":
                branch.out = self._output(branch.line, field + 1, text)
            else:
                self.labels.value(branch.line, field + 1, text)
        if short:
            branch.note(short, text)

    def _unknown_option(self, line: int, field: int, key: str) -> str:
        """The option as it is kept: under the name it was given. What has none is left out, for a file could not say it again."""
        close = (
            nearest(key, lines.SPELLINGS) if len(key) < 40 and not self.findings.is_full(rules.UNKNOWN_OPTION) else None
        )
        fix = f"did you mean '{close}'?" if close else "remove it if it is a slip"
        unknown = f"'{clip(key)}' is not an option of POG_Modeler; it is kept without effect"
        what = unknown if key else "an option has no name; its value is left out"
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
            short = lines.SPELLINGS.get(fields[k])
            if short is None:
                short = self._unknown_option(line, k, fields[k])
            if short:
                found[short] = fields[k + 1]
        return found

    # Lines of wires and of the system

    def _wire(self, line: int, fields: list[str]) -> None:
        one, two = self._two_points(line, fields)
        if one == two:
            what = f"the point '{one}' is joined with itself"
            self.findings.notice(rules.SELF_CONNECTION, what, line, fix="remove the line, or write the other point")
        self.wires.append(lines.NetlistWire((one, two), self._pairs(line, fields, 3) or NOTHING, line))

    def _system(self, line: int, fields: list[str]) -> None:
        self._require_pairs(line, len(fields))
        found = self._pairs(line, fields, 1)
        for k in range(1, len(fields), 2):
            short = lines.SPELLINGS.get(fields[k])
            if short in lines.DEFAULTS or short == "sTfin":
                self.labels.value(line, k + 1, fields[k + 1])
        self.options.update(found)

    # Connection blocks

    def _block(self, line: int, fields: list[str]) -> None:
        if len(fields) < 3:
            what = "'CB' needs its top points and its bottom points"
            fix = "write 'CB, [3; 4], [A; B], Kn, F2=K_m*F1'"
            raise self.findings.refuse(rules.MISSING_POINT, what, line, fix=fix)
        self._require_pairs(line, len(fields))
        branch = lines.NetlistBranch(
            self.findings.line_place(line), len(self.branches) + 1, None, self._block_points(line, fields)
        )
        for k in range(3, len(fields), 2):
            self._block_option(branch, k, fields[k], fields[k + 1])
        if branch.relation is None:
            what, fix = "the connection block has no relation", f"{RELATION_FORM}, after Kn"
            raise self.findings.refuse(rules.BAD_RELATION, what, line, fix=fix)
        self.branches.append(branch)

    def _block_points(self, line: int, fields: list[str]) -> tuple[str, ...]:
        """Top and bottom of the first side, then of the second."""
        tops, bottoms = (_read_pair(self.findings, line, k, fields[k]) for k in (1, 2))
        texts = (tops[0], bottoms[0], tops[1], bottoms[1])
        return tuple(self._point(line, 1 + k % 2, text) for k, text in enumerate(texts))

    def _block_option(self, branch: lines.NetlistBranch, field: int, key: str, text: str) -> None:
        line = branch.line
        if key == "Kn":
            if branch.relation is not None:
                raise self._refuse_twice(line, field)
            branch.relation = _read_relation(self.labels, line, field + 1, text)
        elif key in ("En", "Fn"):
            if f"{key}1" in branch.labels:
                raise self._refuse_twice(line, field)
            for side, name in enumerate(_read_pair(self.findings, line, field + 1, text), 1):
                branch.labels[f"{key}{side}"] = self.labels.label(line, field + 1, name)
            if "-" in text:
                branch.note(key, text)
        else:
            self._branch_option(branch, field, key, text)
