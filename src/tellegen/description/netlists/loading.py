"""A netlist file or text as a model: the way in. The text is checked as a whole before its lines are read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from tellegen.core.errors import Place, TellegenError
from tellegen.description.files import MAX_BYTES, find_forbidden, read_bytes, reason, without_collector
from tellegen.description.model import Model
from tellegen.description.netlists import rules
from tellegen.description.netlists.building import ModelBuilder
from tellegen.description.netlists.findings import Findings
from tellegen.description.netlists.lines import Wire
from tellegen.description.netlists.reading import LineReader

MAX_LINES = 5_000_000

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@final
@dataclass(frozen=True, slots=True)
class Netlist:
    """A netlist that was read: its model, and what it says about the drawing beside the notes of the elements.

    `options` are those of the `**` lines under their short names, the last one of each; `wires` are the `--` lines in
    order; `positions` are the texts that place points, such as `(2+1*1i)`. Points are labels as written, before wires
    make them nodes.
    """

    model: Model
    options: Mapping[str, str]
    wires: tuple[Wire, ...]
    positions: Mapping[str, str]


def read_netlist(source: Path | str, *, file: str = "<netlist>") -> Model:
    """The model of a netlist file (a `Path`) or of a netlist text (a `str`, then `file` names it in messages).

    States, inputs and outputs follow the order of lines. Names without a value stay symbols. Outputs are counted so
    that output times input is the power supplied, `Pin, 1` or not.

    Raises: DescriptionError with everything found (at most 50 errors, codes D200 to D221, and D130 to D133 for values).

    >>> model = read_netlist("eV, 1, 0, En, V_a\\neL, 1, 2, Kn, L_a, Fn, I_a\\neR, 2, 0, Kn, R_a=3")
    >>> [element.name for element in model.elements]
    ['V_a', 'L_a', 'R_a']
    """
    return load_netlist(source, file=file).model


def load_netlist(source: Path | str, *, file: str = "<netlist>") -> Netlist:
    """The netlist of a file or a text, with its drawing; see `read_netlist`."""
    old_encoding = False
    if isinstance(source, Path):
        file = str(source)
        text, old_encoding = _read_file(source)
    else:
        text = source
    text = text.removeprefix("\ufeff")
    _check_text(text, file)
    with without_collector():
        return _load(file, text, old_encoding)


def _load(file: str, text: str, old_encoding: bool) -> Netlist:
    """The work of `load_netlist`; what it needs on the way is gone when the collector looks again."""
    findings = Findings(file, text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))
    if old_encoding:
        what = "the file is not UTF-8: it was read as Windows-1252"
        findings.notice(rules.OLD_ENCODING, what, 1, fix="save the file as UTF-8")
    reader = LineReader(findings)
    reader.read()
    model = ModelBuilder(reader, _title(file)).build()
    return Netlist(model, reader.options, tuple(reader.wires), reader.positions)


def _title(file: str) -> str:
    return Path(file).stem if file and not file.startswith("<") else "netlist"


def _read_file(path: Path) -> tuple[str, bool]:
    """The text of a file, and whether it was not UTF-8."""
    try:
        data = read_bytes(path, MAX_BYTES)
    except (OSError, ValueError) as error:
        what = f"'{path}' cannot be read: {reason(error, absent='there is no such file')}"
        raise rules.CANNOT_READ.error(what, fix="check the name and the folder") from error
    if len(data) > MAX_BYTES:
        raise _too_large(f"the file is larger than {MAX_BYTES // 2**20} MiB", str(path))
    try:
        return data.decode("utf-8"), False
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace"), True


def _check_text(text: str, file: str) -> None:
    if len(text) > MAX_BYTES:
        raise _too_large(f"the text has more than {MAX_BYTES} characters", file)
    if text.count("\n") > MAX_LINES:
        raise _too_large(f"there are more than {MAX_LINES} lines", file)
    if (found := find_forbidden(_CONTROL, text, file)) is not None:
        character, place = found
        what = f"{character} cannot stand in a netlist"
        raise rules.NOT_TEXT.error(what, fix="give a POG_Modeler .txt file", place=place)


def _too_large(what: str, file: str) -> TellegenError:
    fix = "write repeated structure as a YAML model, by a count"
    return rules.TOO_LARGE.error(what, fix=fix, place=Place(file, 1, 1))
