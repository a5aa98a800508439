"""What is found while a netlist is read, each with the place of its field in the text."""

from collections.abc import Iterable
from typing import final

from tellegen.core.errors import DescriptionError, Finding, Place, Rule
from tellegen.description.context import MOST_ERRORS, MOST_NOTICES
from tellegen.description.files import clip
from tellegen.description.netlists.lines import pieces_of, without_comment


class RefusedLineError(Exception):
    """A line that cannot be used; the finding is already kept."""


@final
class Findings:
    """What was found, with places worked out only when needed; stops at too many errors.

    Lines count from 1, fields of a line from 0; the field -1 is the whole line.
    """

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file = file
        self.lines = lines
        self.errors: list[Finding] = []
        self.notices: dict[str, list[Finding]] = {}
        self.unsaid: dict[str, int] = {}

    def error(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep an error; raises DescriptionError when enough are there."""
        self.errors.append(rule.finding(what, fix=fix, place=self.place(line, field), members=members))
        if len(self.errors) >= MOST_ERRORS:
            self.raise_errors()

    def refuse(self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "") -> RefusedLineError:
        """Keep an error and give what to raise to leave the line."""
        self.error(rule, what, line, field, fix=fix)
        return RefusedLineError()

    def notice(
        self, rule: Rule, what: str, line: int, field: int = -1, *, fix: str = "", members: Iterable[str] = ()
    ) -> None:
        """Keep a notice or a warning, up to a number of each rule; the rest is counted."""
        if self.is_full(rule):
            self.unsaid[rule.code] = self.unsaid.get(rule.code, 0) + 1
        else:
            finding = rule.finding(what, fix=fix, place=self.place(line, field), members=members)
            self.notices.setdefault(rule.code, []).append(finding)

    def is_full(self, rule: Rule) -> bool:
        """Whether further notices of a rule are only counted."""
        return rule.code in self.unsaid or len(self.notices.get(rule.code, ())) >= MOST_NOTICES

    def raise_errors(self) -> None:
        """Raises: DescriptionError with all errors so far, if there are any."""
        if self.errors:
            raise DescriptionError(self.errors)

    def all_notices(self) -> tuple[Finding, ...]:
        """Notices in the order of lines; where some were left out, a last one says how many."""
        found = [finding for kept in self.notices.values() for finding in kept]
        found.sort(key=lambda finding: finding.place.line if finding.place else 0)
        for code, count in self.unsaid.items():
            last = self.notices[code][-1]
            found.append(Finding(code, last.severity, f"{count} more like this were found", why=last.why))
        return tuple(found)

    def place(self, line: int, field: int = -1) -> Place:
        """Where a field of a line stands."""
        text = without_comment(self.lines[line - 1])
        if field < 0:
            return Place(self.file, line, len(text) - len(text.lstrip()) + 1, clip(text.strip()))
        pieces = pieces_of(text)
        if pieces is None or field >= len(pieces):
            return Place(self.file, line, len(text.rstrip()) + 1, clip(text.strip()))
        piece = pieces[field]
        column = sum(map(len, pieces[:field])) + field + len(piece) - len(piece.lstrip()) + 1
        return Place(self.file, line, column, clip(piece.strip()))

    def line_place(self, line: int) -> Place:
        """The place of a line as a whole; made for each element, so the column is not worked out."""
        return Place(self.file, line, 1, clip(self.lines[line - 1].strip()))
