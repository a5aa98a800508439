"""Networks in Python, with calls that read like the drawing.

>>> net = Network("RL circuit")
>>> net.voltage_source("V", "a", "gnd")
>>> net.resistor("R", "a", "b", R="10 ohm")
>>> net.inductor("L", "b", "gnd", L="2 mH", current="I_L")
>>> net.experiment(until="1 ms", inputs={"V": "step(24 V)"})
>>> net.model().inputs
('V',)

The calls are written down as lines of the file format, and `model` reads them: one grammar, one set of checks.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import final

from tellegen.core.names import did_you_mean, listing
from tellegen.description import rules
from tellegen.description.keys import CONNECTION
from tellegen.description.model import Model
from tellegen.description.reading import read_model
from tellegen.description.writing import number_text, quoted, sentence
from tellegen.elements import KINDS
from tellegen.expressions import Expression, Number, number, to_text

Value = str | int | float | Fraction | Expression
"""What a value may be: a text with a unit, a number in SI, or an expression."""


def value_text(value: Value) -> str:
    """A value as it stands in a file."""
    if isinstance(value, str):
        return value
    if isinstance(value, Number):
        return number_text(value.rational, "")
    if isinstance(value, Expression):
        return to_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # the reader says what is wrong with it
    return number_text(number(value).rational, "")


@final
class Network:
    """A network under construction.

    Each kind of element is a method: `net.voltage_source("V", "a", "gnd")`, `net.dc_machine("motor", "a", "gnd", "shaft",
    "frame", K="K_m")`. First the name, then the nodes, then keys as in a file, with `_` for a space.
    """

    def __init__(self, name: str, about: str = "") -> None:
        self.name = name
        self.about = about
        self._parameters: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._experiment: dict[str, object] = {}

    def parameter(self, name: str, value: Value | None = None) -> None:
        """Name a constant; without a value it stays a symbol."""
        _require_new(name, self._parameters, "parameter")
        self._parameters[name] = "" if value is None else value_text(value)

    def parameters(self, **values: Value | None) -> None:
        """Name several constants at once."""
        for name, value in values.items():
            self.parameter(name, value)

    def add(
        self, kind: str, name: str, *nodes: str | int, **settings: Value | Iterable[str] | Mapping[str, str]
    ) -> None:
        """Add an element of a kind, between nodes, with its value and whatever else its line may say."""
        _require_new(name, self._lines, "element")
        pairs = [(kind, _list(nodes)), *[(key.replace("_", " "), _setting(value)) for key, value in settings.items()]]
        pairs = [(_file_key(key), text) for key, text in pairs]
        self._lines[name] = "{" + ", ".join(f"{quoted(key)}: {text}" for key, text in pairs) + "}"

    def experiment(
        self,
        *,
        until: Value | None = None,
        inputs: Mapping[str, Value] | None = None,
        initial: Mapping[str, Value] | None = None,
        outputs: Iterable[str] = (),
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Say how long to run, with which inputs, from where; a later call replaces an earlier one."""
        given = {
            "until": until,
            "inputs": inputs,
            "initial": initial,
            "outputs": tuple(outputs),
            "rtol": rtol,
            "atol": atol,
        }
        self._experiment = {key: value for key, value in given.items() if value not in (None, (), {})}

    def text(self) -> str:
        """The network as the text of a file."""
        lines = [f"system: {sentence(self.name)}"]
        lines += [f"about: {sentence(self.about)}"] if self.about else []
        lines += ["parameters:"] if self._parameters else []
        lines += [
            f"  {quoted(name)}: {quoted(value) if value else ''}".rstrip() for name, value in self._parameters.items()
        ]
        lines += ["network:" if self._lines else "network: {}"]
        lines += [f"  {quoted(name)}: {line}" for name, line in self._lines.items()]
        lines += ["experiment:"] if self._experiment else []
        lines += [f"  {key}: {_part(value)}" for key, value in self._experiment.items()]
        return "\n".join(lines) + "\n"

    def model(self) -> Model:
        """The model, checked as a file would be; messages point into `text()`.

        Raises: DescriptionError with every error found.
        """
        return read_model(self.text(), file=f"<{self.name}>")

    def __getattr__(self, word: str) -> Callable[..., None]:
        """The method of a kind of element."""
        kind = word.replace("_", " ")
        if word.startswith("_") or (kind not in KINDS and kind != CONNECTION):
            words = [known.replace(" ", "_") for known in [*KINDS, CONNECTION]]
            hint = did_you_mean(word, words) or f"kinds of element are {listing(words, 60)}"
            raise AttributeError(f"a network has no '{word}': {hint}", name=word, obj=self)

        def add(name: str, *nodes: str | int, **settings: Value | Iterable[str] | Mapping[str, str]) -> None:
            self.add(kind, name, *nodes, **settings)

        add.__name__ = word
        add.__doc__ = KINDS[kind].summary if kind in KINDS else "a power-conserving connection between two domains"
        return add

    def __dir__(self) -> list[str]:
        """The methods, those of the kinds of element among them."""
        return sorted({*super().__dir__(), *(word.replace(" ", "_") for word in [*KINDS, CONNECTION])})


def _require_new(name: str, taken: Mapping[str, str], subject: str) -> None:
    if name in taken:
        raise rules.DESCRIBED_TWICE.error(
            f"the {subject} '{name}' is described twice", where=name, fix="rename one of them"
        )


def _file_key(key: str) -> str:
    """`across 1` was `across_1`; all other keys have spaces in a file."""
    return key.replace(" ", "_") if key[:-1] in ("across ", "through ") else key


def _setting(value: Value | Iterable[str] | Mapping[str, str]) -> str:
    if isinstance(value, str | int | float | Fraction | Expression):
        return quoted(value_text(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(key)}: {quoted(text)}" for key, text in value.items()) + "}"
    return _list(value)


def _list(items: Iterable[str | int]) -> str:
    return "[" + ", ".join(quoted(str(item)) for item in items) + "]"


def _part(value: object) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(key)}: {quoted(value_text(text))}" for key, text in value.items()) + "}"
    if isinstance(value, tuple):
        return _list(value)
    assert isinstance(value, str | int | float | Fraction | Expression), "the arguments have types"
    return quoted(value_text(value))
