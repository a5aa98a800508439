"""Names and values after Kn, En, Fn and Qn: `R_a`, `R_a=20`, `T_{1}`, and arithmetic of numbers such as `3*1e-3`."""

import math
import re
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import NAME, is_name, listing
from tellegen.description.files import clip
from tellegen.description.netlists import rules
from tellegen.description.netlists.findings import Findings, RefusedLineError
from tellegen.description.netlists.lines import Label
from tellegen.expressions import Expression, number, parse

_LABEL = re.compile(rf"-?({NAME.pattern})(?:\s*=\s*(\S.*))?")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_LATEX = re.compile(r"[\\{}\s]")


@final
class LabelReader:
    """Reads labels; a text that was read before is looked up. What cannot be read is raised as RefusedLineError."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.values: dict[str, tuple[Expression, float]] = {}
        self._cleaned: dict[str, str] = {}

    def label(self, line: int, field: int, text: str) -> Label:
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
            return Label(name, None, math.nan, field)
        known = self.values.get(value) or self.value(line, field, value.strip())
        return Label(name, *known, field)

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

    def _refuse_label(self, line: int, field: int, label: str) -> RefusedLineError:
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

    def _refuse_value(self, line: int, field: int, text: str, reason: str) -> RefusedLineError:
        what = f"'{clip(text)}' is not a number: {clip(reason, 120)}"
        fix = "write a number, such as 0.003 or 3*1e-3"
        return self.findings.refuse(rules.BAD_VALUE, what, line, field, fix=fix)


def _plain_value(text: str) -> tuple[Expression, float]:
    size = float(text)
    is_lost = size == 0 and text.lower().split("e")[0].strip("+-.0")  # too small to be kept
    if not math.isfinite(size) or is_lost or len(text) > 300:
        raise OverflowError(text)
    return number(int(text) if text.lstrip("+-").isdigit() else size), size


def _calculated(text: str) -> tuple[Expression, float]:
    expression = parse(text)
    if expression.free_symbols:
        raise rules.BAD_VALUE.error(f"{listing(sorted(expression.free_symbols))} has no value")
    size = expression.evaluate({})
    if not math.isfinite(size):
        raise OverflowError(text)
    return expression, size
