"""`imported`: a file of another tool as the text of a model file, by its ending. Each reader is a function of the path.

A functional mock-up unit becomes a model file of its own: signals that others join, and parameters that they set.
"""

import inspect
import re
from collections.abc import Callable, Container
from dataclasses import replace
from pathlib import Path
from typing import Any

from tellegen.core.errors import Finding
from tellegen.core.files import read_bytes
from tellegen.core.names import NAME, RESERVED, TIME, did_you_mean, listing, unused
from tellegen.expressions import RESERVED_WORDS
from tellegen.importing import rules
from tellegen.importing.bond_graph_tools import read_bond_graph_tools
from tellegen.importing.imported import Imported
from tellegen.importing.spice.reading import read_spice
from tellegen.importing.twenty_sim.reading import read_twenty_sim
from tellegen.model.mockup_units import MockupUnit, UnitVariable
from tellegen.notations.loading import FOREIGN, NETLIST_SUFFIX, SPICE, holds_spice_deck
from tellegen.notations.mockup_units import MOST_NAMED, MockupUnitError, read_unit
from tellegen.notations.netlist.loading import read_netlist
from tellegen.notations.writing import to_yaml

MOST_BYTES = 512 * 1024 * 1024
STEPS = 1000
"""Exchanges with a unit that steps by itself, in its experiment, where nobody says how often."""


def read_unit_file(path: Path, name: str, *, every: str | None = None) -> Imported:
    """The text of a model whose signals ask a unit; `every` is the time between two exchanges with one that steps by itself.

    Raises: DescriptionError (D312) for a file that is no unit, or none that can be used.
    """
    try:
        unit = read_unit(path)
    except MockupUnitError as error:
        raise rules.CANNOT_READ.error(
            f"'{path}' is no unit that can be used: {error}",
            fix="export a unit of FMI 2.0 or 3.0 whose inputs and outputs are real numbers",
        ) from error
    findings: list[Finding] = []
    if every is None and "model exchange" not in unit.identifiers:
        every = f"{(unit.until or 1.0) / STEPS!r} s"
        what = f"the unit is for co-simulation alone: it is asked every {every}"
        findings.append(rules.UNIT_TOLD.finding(what, fix="give another time: --every '1 ms'"))
    file = f"{name}.fmu"
    text = _Text(unit, file, every, findings).text()
    # The model reads the unit beside it: where it is elsewhere, it comes along.
    beside: dict[str, str | bytes] = {} if path.name == file else {file: read_bytes(path, MOST_BYTES)}
    return Imported(text, beside, tuple(findings))


class _Text:
    """The lines of the file."""

    def __init__(self, unit: MockupUnit, file: str, every: str | None, findings: list[Finding]) -> None:
        self.unit, self.file, self.every = unit, file, every
        self.taken = {TIME, *RESERVED, *RESERVED_WORDS}
        self.own = self._named("unit")
        self.inputs = [(self._named(v.name), v) for v in unit.inputs]
        self.outputs = [(self._named(v.name), v) for v in unit.outputs]
        if not unit.outputs:
            self.outputs = [(self._named(v.name), v) for v in unit.states]
        room = MOST_NAMED - len(unit.inputs) - len(unit.states)
        known = [v for v in unit.parameters if v.start is not None]
        self.parameters = [(self._named(v.name), v) for v in known[: max(room, 0)]]
        if len(known) > len(self.parameters):
            what = f"{len(known) - len(self.parameters)} parameters of the unit keep their values: it has {len(known)}"
            findings.append(rules.UNIT_TOLD.finding(what, fix="name those that are to be changed in its 'parameters'"))

    def text(self) -> str:
        """The whole file."""
        unit = self.unit
        kind = "model exchange" if self.every is None else "co-simulation"
        about = f"Functional mock-up unit (FMI {unit.version}.0, {kind})" + (f": {unit.about}" if unit.about else "")
        lines = [f"system: {_quoted(unit.name)}", f"about: {_quoted(about)}", ""]
        if self.parameters:
            lines += ["parameters:", *(f"  {n}: {_number(v.start)}{_told(v)}" for n, v in self.parameters), ""]
        ports = [f"inputs: [{', '.join(n for n, _ in self.inputs)}]"] if self.inputs else []
        ports += [f"outputs: [{', '.join(n for n, _ in self.outputs)}]"] if self.outputs else []
        lines += [f"signal ports: {{{', '.join(ports)}}}", "", "signals:"] if ports else ["signals:"]
        lines += [f"  {n}: {_number(v.start)}{_told(v)}" for n, v in self.inputs]
        lines += [f"  {self.own}:", f"    fmu: {_quoted(self.file)}"]
        for word, given in (("inputs", self.inputs), ("parameters", self.parameters)):
            if given:
                lines.append(f"    {word}: {{{', '.join(f'{_key(v.name)}: {n}' for n, v in given)}}}")
        if self.every is not None:
            lines.append(f"    every: {self.every}")
        lines += [f"  {n}: {{output: {_key(v.name)}, of: {self.own}}}{_told(v)}" for n, v in self.outputs]
        if unit.until is not None:
            shown = f", outputs: [{', '.join(n for n, _ in self.outputs[:8])}]" if self.outputs else ""
            lines += ["", f"experiment: {{until: {unit.until!r} s{shown}}}"]
        return "\n".join([*lines, ""])

    def _named(self, name: str) -> str:
        """A name for the model, near that of the unit."""
        return _free(re.sub("__+", "_", re.sub("[^A-Za-z0-9]+", "_", name)).strip("_"), self.taken)


def _free(name: str, taken: set[str]) -> str:
    plain = name if NAME.fullmatch(name) else f"x_{name}" if name else "x"
    found = _unused(plain, taken)
    taken.add(found)
    return found


def _unused(name: str, taken: Container[str]) -> str:
    # Underscores do not double, and a number may follow any name.
    return name if name not in taken else unused(f"{name}_2".replace("__", "_"), taken, "1")


def _number(value: float | None) -> str:
    return repr(value or 0.0)


def _told(variable: UnitVariable) -> str:
    """What a variable is, as a comment."""
    unit = f"[{variable.unit}]" if variable.unit else ""
    told = " ".join(f"{unit} {variable.about}".split())
    return f"  # {told}" if told else ""


def _key(name: str) -> str:
    return name if NAME.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    plain = " ".join(text.split())
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pog_netlist(path: Path, name: str) -> Imported:
    return Imported(to_yaml(read_netlist(path)))


READERS: dict[str, Callable[..., Imported]] = {
    "POG_Modeler netlist": _pog_netlist,
    SPICE: read_spice,
    "20-sim model": read_twenty_sim,
    "functional mock-up unit": read_unit_file,
    "BondGraphTools model": read_bond_graph_tools,
}
"""The reader of each kind of file, by its word in `FOREIGN`. It takes the path and the stem of the file to be written, after which
it names the files beside it; its keywords are its options."""


def imported(path: Path, name: str, **options: Any) -> Imported:
    """A file of another tool as the text of a model file of the stem `name`.

    Raises: DescriptionError for an ending that no tool has (D309), an option that its reader does not know (D311), and with
    everything that is wrong in the file.
    """
    word = FOREIGN.get(path.suffix.lower())
    # A deck has any name: what stands in it tells.
    if word in (None, FOREIGN[NETLIST_SUFFIX]) and holds_spice_deck(path):
        word = SPICE
    if word is None:
        fix = f"these are read: {listing([f'{end} ({word})' for end, word in FOREIGN.items()], 20)}"
        closed = path.suffix.lower() in _AS_UNITS
        fix = "export it there as a functional mock-up unit (.fmu), and import that" if closed else fix
        raise rules.UNKNOWN_ENDING.error(f"'{path}' has the ending of no file that is read", fix=fix)
    reader = READERS[word]
    known = inspect.getfullargspec(reader).kwonlyargs
    for option in options:
        if option not in known:
            fix = did_you_mean(option, known) or (f"it takes {listing(known)}" if known else "leave it out")
            raise rules.UNKNOWN_OPTION.error(f"the reader of a {word} has no option '{option}'", fix=fix)
    found = reader(path, name, **options)
    told = "".join(
        f"# {line}\n" for finding in found.findings for line in f"{finding.severity}: {finding.what}".splitlines()
    )
    return replace(found, text=told + found.text)


_AS_UNITS = {".mo", ".moe", ".slx", ".mdl", ".ame", ".ssc"}
"""Files of languages and of closed formats, whose tools all write functional mock-up units."""
