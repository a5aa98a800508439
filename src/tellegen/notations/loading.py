"""Models by name: a built-in example, a file, a network built in Python."""

import os
import re
from pathlib import Path
from typing import Protocol, runtime_checkable

from tellegen.core.errors import Rulebook, TellegenError
from tellegen.core.names import did_you_mean, listing
from tellegen.core.shipped import example_file, example_names
from tellegen.model.model import Model
from tellegen.notations.netlist.loading import read_netlist
from tellegen.notations.network.builder import Network
from tellegen.notations.reading import read_model

RULES = Rulebook("D")

NO_SUCH_MODEL = RULES.rule(
    "D300",
    "no such model",
    meaning="The text names neither a file nor a built-in example.",
    why="a model is a file, or a built-in example by its name",
)
NO_SUCH_EXAMPLE = RULES.rule(
    "D301",
    "no such example",
    meaning="No built-in example has this name.",
    why="built-in examples are loaded by the names that 'tellegen examples' lists",
)

NOT_A_MODEL_FILE = RULES.rule(
    "D310",
    "a file of another tool",
    meaning="A file of another tool was given where a model file is wanted.",
    why="files of other tools are imported first: what could not be read of them is told then, and the model file can be looked at",
)

NETLIST_SUFFIX = ".txt"
SPICE = "SPICE deck"
FOREIGN = {
    NETLIST_SUFFIX: "POG_Modeler netlist",
    **dict.fromkeys((".cir", ".net", ".sp", ".ckt"), SPICE),
    ".emx": "20-sim model",
    ".fmu": "functional mock-up unit",
    ".bg": "BondGraphTools model",
}
"""The files of other tools that can be imported, by their endings."""
_ENDINGS = (".yaml", ".yml", *FOREIGN)
MOST_CHARACTERS = 100_000
"""So much of a file tells what it is."""
_DECK_CARD = re.compile(
    r"\.(?:tran|op|ac|dc|ends?|subckt|model|param|inc(?:lude)?|lib|ic|options?|print|plot|meas(?:ure)?|temp|global)\b",
    re.I,
)
_DECK_ELEMENT = re.compile(r"[a-z]\w*(?:\s+[^\s:,]+){3,}", re.I)
_PASSIVE = re.compile(r"[rclvi]\w*\s+\w+\s+\w+\s+(?:[-+.\d{]|(?:dc|ac|pulse|sin|pwl|exp)\b)", re.I)
"""What prose is not."""


@runtime_checkable
class Modelled(Protocol):
    """What stands for a model of its own, such as a reduction."""

    @property
    def model(self) -> Model:
        """The model."""


AnyModel = Model | Network | Modelled | str | os.PathLike[str]


def load(name: str) -> Model:
    """A built-in system by its name.

    Raises: DescriptionError (D301) with the nearest name.

    >>> load("dc_motor_pump").inputs
    ('V_a', 'Q_0')
    """
    names, name = example_names(), os.fspath(name)
    if name not in names:
        fix = did_you_mean(name, names) or f"the examples are {listing(names, 40)}"
        raise NO_SUCH_EXAMPLE.error(f"there is no built-in example '{name}'", fix=fix)
    return read_model(example_file(name))


def read(path: str | os.PathLike[str]) -> Model:
    """The model in a file: a POG_Modeler netlist where the name ends in `.txt`, else YAML.

    Raises: DescriptionError with everything found; for a file of another tool (D310) with the command that imports it.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending in FOREIGN and ending != NETLIST_SUFFIX:
        raise _not_a_model(file, FOREIGN[ending])
    try:
        return read_netlist(file) if ending == NETLIST_SUFFIX else read_model(file)
    except TellegenError:
        if holds_spice_deck(file):
            raise _not_a_model(file, SPICE) from None
        raise


def _not_a_model(file: Path, word: str) -> TellegenError:
    target = file.with_suffix(".yaml")
    target = file.with_name(f"{file.stem}_model.yaml") if target == file else target
    fix = f"import it: tellegen import {file} -o {target}"
    return NOT_A_MODEL_FILE.error(f"'{file}' is a {word}, no model file", fix=fix)


def holds_spice_deck(file: Path) -> bool:
    """Whether a file is a SPICE deck, whatever its name: cards with a dot, or lines of elements alone, below a title."""
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            lines = opened.read(MOST_CHARACTERS).splitlines()[1:]
    except (OSError, ValueError):  # no file can have a name with a NUL in it
        return False
    told = [line.strip() for line in lines if line.strip() and line.lstrip()[0] not in "*+;$"]
    elements = [line for line in told if _DECK_ELEMENT.match(line)]
    return bool(elements) and (any(_DECK_CARD.match(line) for line in told) or all(map(_PASSIVE.match, told)))


def open_model(text: str) -> Model:
    """The model that a text names: a file, or a built-in example.

    Raises: DescriptionError (D300) when it is neither, or with what is wrong in the file.
    """
    names = example_names()
    # A file of that name beside the program comes first: somebody put it there.
    if text in names and not os.path.isfile(text):
        return load(text)
    if _looks_like_a_file(text):
        return read(text)
    near = next((f"did you mean the file '{text}{end}'?" for end in _ENDINGS if os.path.isfile(text + end)), "")
    fix = near or did_you_mean(text, names) or "give a file, or one of the names that 'tellegen examples' lists"
    raise NO_SUCH_MODEL.error(f"'{text}' is neither a file nor a built-in example", fix=fix)


def as_model(model: AnyModel) -> Model:
    """The model behind whatever stands for one: itself, what a network builds, a reduction, a file, a built-in example."""
    if isinstance(model, Model):
        return model
    if isinstance(model, Network):
        return model.model()
    if isinstance(model, str):
        return open_model(model)
    if isinstance(model, Modelled):
        return model.model
    return read(model)


def _looks_like_a_file(text: str) -> bool:
    path = Path(text)
    # What has an ending or a folder was meant as a file, so the message is about the file.
    # Not path.exists, which raises for a name that no file can have.
    return text != "" and (path.suffix.lower() in _ENDINGS or path.name != text or os.path.exists(path))
