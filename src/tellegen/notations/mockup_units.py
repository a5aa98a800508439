"""A functional mock-up unit of FMI 2.0 or 3.0 beside a model: its description, and whether it has what a signal asks of it.

Nothing in the file is run.
"""

import math
import os
import re
from pathlib import Path
from typing import Final, Literal
from xml.etree import ElementTree as ET

from tellegen.core.archives import ArchiveError, archive_members, member_bytes
from tellegen.core.errors import TellegenError
from tellegen.core.files import failure_reason
from tellegen.core.names import did_you_mean, listing
from tellegen.model.mockup_units import MockupUnit, UnitKind, UnitVariable
from tellegen.notations.context import ReadingContext
from tellegen.notations.signals import rules
from tellegen.notations.yaml.document import Scalar

MOST_BYTES: Final = 32 * 1024 * 1024
"""Of a description."""
MOST_NAMED: Final = 60
"""States, inputs and parameters of a unit: what its signals are given stands in one call."""
DESCRIPTION: Final = "modelDescription.xml"

_KINDS: Final[dict[str, UnitKind]] = {"ModelExchange": "model exchange", "CoSimulation": "co-simulation"}


class MockupUnitError(ValueError):
    """A unit that cannot be used. The text says why."""


def read_unit(path: Path) -> MockupUnit:
    """What a file says about the unit in it.

    Raises: MockupUnitError where it says nothing that can be used.
    """
    try:
        members = archive_members(path)
        if DESCRIPTION not in members:
            raise MockupUnitError(f"there is no {DESCRIPTION} in it")
        text = member_bytes(path, members[DESCRIPTION], MOST_BYTES)
    except ArchiveError as error:
        raise MockupUnitError(str(error)) from error
    except (OSError, ValueError) as error:
        raise MockupUnitError(str(error) if isinstance(error, MockupUnitError) else failure_reason(error)) from error
    # Entities are how a short text becomes a long one; descriptions have none.
    if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
        raise MockupUnitError("its description declares entities")
    try:
        root = ET.fromstring(text)
    except ET.ParseError as error:
        raise MockupUnitError(f"its description is no XML: {error}") from error
    try:
        return _unit(path, root)
    except (KeyError, TypeError) as error:
        raise MockupUnitError(f"its description lacks {error}") from error
    except (ValueError, OverflowError, RecursionError) as error:
        raise MockupUnitError(str(error)) from error


def _unit(path: Path, root: ET.Element) -> MockupUnit:
    version = root.get("fmiVersion", "")
    known: Literal["2", "3"] = "3" if version.startswith("3.") else "2"
    if not re.fullmatch(r"[23]\.\d[\w.+-]*", version):
        raise MockupUnitError(f"it is of FMI {version[:20] or 'of no version'}, and FMI 2.0 and 3.0 are read")
    kinds = {kind: found for word, kind in _KINDS.items() if (found := root.find(word)) is not None}
    if not kinds:
        raise MockupUnitError("it is neither for model exchange nor for co-simulation")
    identifiers = {kind: _identifier(found) for kind, found in kinds.items()}
    read = _variables_2(root) if known == "2" else _variables_3(root)
    exchange = kinds.get("model exchange")
    states, indicators = (_states_2 if known == "2" else _states_3)(root, read) if exchange is not None else ((), 0)
    saves = "canGetAndSetFMUstate" if known == "2" else "canGetAndSetFMUState"
    skips = "completedIntegratorStepNotNeeded"
    asks = exchange is not None and _flag(exchange, skips if known == "2" else "needsCompletedIntegratorStep") != (
        known == "2"
    )
    experiment = root.find("DefaultExperiment")
    stop = None if experiment is None else experiment.get("stopTime")
    return MockupUnit(
        path=str(path),
        name=" ".join(root.get("modelName", path.stem)[:200].split()),
        version=known,
        token=root.attrib["guid" if known == "2" else "instantiationToken"],
        identifiers=identifiers,
        keeps={kind: _flag(found, saves) for kind, found in kinds.items()},
        asks_steps=asks,
        inputs=_named(read, "input"),
        outputs=_named(read, "output"),
        parameters=_named(read, "parameter"),
        states=states,
        indicators=indicators,
        until=None if stop is None else _finite(stop),
        about=root.get("description", "")[:500],
    )


Variables = list[tuple[ET.Element, ET.Element | None, UnitVariable | None]]
"""Each variable of a description: its element, that of its type where there is one, and what it is if it is real."""


def _variables_2(root: ET.Element) -> Variables:
    found: Variables = []
    for element in root.findall("ModelVariables/ScalarVariable"):
        real = element.find("Real")
        found.append((element, real, None if real is None else _variable(element, real)))
    return found


def _variables_3(root: ET.Element) -> Variables:
    found: Variables = []
    for element in root.findall("ModelVariables/*"):
        plain = element.tag == "Float64" and element.find("Dimension") is None
        found.append((element, element, _variable(element, element) if plain else None))
    return found


def _variable(element: ET.Element, real: ET.Element) -> UnitVariable:
    start, name = real.get("start"), element.attrib["name"]
    if not name.isprintable():
        raise MockupUnitError(f"its variable {name[:80]!r} has characters that nobody sees")
    return UnitVariable(
        name,
        _reference(element),
        real.get("unit", ""),
        None if start is None else _finite(start),
        element.get("description", "")[:200],
    )


def _states_2(root: ET.Element, read: Variables) -> tuple[tuple[UnitVariable, ...], int]:
    states = []
    for unknown in root.findall("ModelStructure/Derivatives/Unknown"):
        rate = _at(read, int(unknown.attrib["index"]))[1]
        if rate is None or "derivative" not in rate.attrib:
            raise MockupUnitError("one of its rates is no derivative")
        states.append(_real(_at(read, int(rate.attrib["derivative"])), "state"))
    return tuple(states), _count(root.get("numberOfEventIndicators", "0"))


def _states_3(root: ET.Element, read: Variables) -> tuple[tuple[UnitVariable, ...], int]:
    by_reference = {_reference(element): (element, real, variable) for element, real, variable in read}
    states = []
    for unknown in root.findall("ModelStructure/ContinuousStateDerivative"):
        rate = by_reference[_reference(unknown)]
        states.append(_real(by_reference[int(rate[0].attrib["derivative"])], "state"))
    indicators = root.findall("ModelStructure/EventIndicator")
    for unknown in indicators:
        _real(by_reference[_reference(unknown)], "event indicator")
    return tuple(states), len(indicators)


def _at(read: Variables, index: int) -> tuple[ET.Element, ET.Element | None, UnitVariable | None]:
    if not 1 <= index <= len(read):
        raise MockupUnitError(f"its description has no variable {index}")
    return read[index - 1]


def _real(found: tuple[ET.Element, ET.Element | None, UnitVariable | None], word: str) -> UnitVariable:
    if found[2] is None:
        raise MockupUnitError(f"its {word} '{found[0].get('name', '')[:80]}' is no real number")
    return found[2]


def _named(read: Variables, causality: str) -> tuple[UnitVariable, ...]:
    """The variables of a causality. Parameters that are no real numbers keep their values; inputs and outputs must be real."""
    chosen = [entry for entry in read if entry[0].get("causality") == causality]
    if causality != "parameter":
        return tuple(_real(entry, causality) for entry in chosen)
    return tuple(variable for _, _, variable in chosen if variable is not None)


def _identifier(element: ET.Element) -> str:
    name = element.attrib["modelIdentifier"]
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,200}", name):
        raise MockupUnitError(f"'{name[:80]}' names no library")
    return name


def _flag(element: ET.Element, word: str) -> bool:
    return element.get(word, "false") in ("true", "1")


def _reference(element: ET.Element) -> int:
    found = int(element.attrib["valueReference"])
    if not 0 <= found < 2**32:
        raise MockupUnitError(f"{found} is no value reference")
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise MockupUnitError(f"'{text[:40]}' is no finite number")
    return value


def _count(text: str) -> int:
    found = int(text)
    if not 0 <= found <= 10_000:
        raise MockupUnitError(f"it has {found} event indicators")
    return found


def unit_beside(context: ReadingContext, name: str, file: Scalar) -> MockupUnit:
    """The unit in a file that lies in the folder of the model or below it; nothing of it is run.

    Raises: DescriptionError (D523) for one that cannot be used.
    """

    def refused(why: str, fix: str = "put a unit of FMI 2.0 or 3.0 beside the model") -> TellegenError:
        what = f"the signal {name} cannot use the unit '{file.text[:200]}': {why}"
        return context.error(rules.UNIT_NOT_READ, file, what, fix=fix, where=name)

    model = Path(context.file)
    beside = model.parent if os.path.isfile(model) else context.folder
    if beside is None:
        raise refused("the model is no file, so nothing lies beside it", "save the model beside the unit")
    folder = beside.resolve()
    path = (folder / file.text).resolve()
    if not path.is_relative_to(folder):
        raise refused("it is outside the folder of the model", "put the unit beside the model")
    try:
        return read_unit(path)
    except MockupUnitError as error:
        raise refused(str(error)) from error


def check_use(unit: MockupUnit, kind: UnitKind, names: dict[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """What is wrong with what a unit is asked for, and what to do; None where nothing is."""
    if kind not in unit.identifiers:
        offered = listing(unit.identifiers)
        fix = "give 'every: 1 ms'" if kind == "model exchange" else "leave 'every' out"
        return f"it is for {offered.replace(chr(39), '')} alone", fix
    for key, known in (("inputs", unit.inputs), ("parameters", unit.parameters)):
        there = [variable.name for variable in known]
        for name in names.get(key, ()):
            if name not in there:
                fix = did_you_mean(name, there) or (f"its {key} are {listing(there)}" if there else f"it has no {key}")
                return f"it has no {key[:-1]} '{name}'", fix
    asked = sum(map(len, names.values())) + (len(unit.states) if kind == "model exchange" else 0)
    if asked > MOST_NAMED:
        return f"it has {asked} states, inputs and parameters, and at most {MOST_NAMED} are given", "give fewer"
    if not unit.outputs and not (unit.states and kind == "model exchange"):
        return "it has no output", "export it with outputs"
    return None
