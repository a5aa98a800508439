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
from pathlib import Path
from typing import final

from tellegen.core.memory import without_collector
from tellegen.core.names import did_you_mean, listing
from tellegen.elements import KINDS
from tellegen.expressions import Expression, Number, number, to_text
from tellegen.model.model import Model
from tellegen.notations import rules as notations_rules
from tellegen.notations.network.keys import CONNECTION, form_of
from tellegen.notations.quantities import number_text
from tellegen.notations.reading import model_of_document
from tellegen.notations.signals import rules as signals_rules
from tellegen.notations.signals.blocks import BLOCKS
from tellegen.notations.yaml.document import read_document
from tellegen.notations.yaml.writing import line_text, list_text, quoted, sentence_text, tree_text

Value = str | int | float | Fraction | Expression
"""What a value may be: a text with a unit, a number in SI, or an expression."""


_SECTIONS = (
    "parameters",
    "displacements",
    "ports",
    "signal ports",
    "parts",
    "network",
    "signals",
    "symbols",
    "experiment",
)


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
        self.name, self.about = name, about
        self._sections: dict[str, dict[str, str]] = {title: {} for title in _SECTIONS}
        self._given: dict[str, Model] = {}
        self._parts_first = False
        self._functions: dict[str, Callable[..., float]] = {}

    def _put(self, section: str, name: str, subject: str, line: str) -> None:
        if name in self._sections[section]:
            what = f"the {subject} '{name}' is described twice"
            raise notations_rules.DESCRIBED_TWICE.error(what, where=name, fix="rename one of them")
        self._sections[section][name] = line

    def parameter(self, name: str, value: Value | None = None) -> None:
        """Name a constant; without a value it stays a symbol."""
        text = "" if value is None else value_text(value)
        self._put("parameters", name, "parameter", quoted(text) if text else "")

    def parameters(self, **values: Value | None) -> None:
        """Name several constants at once."""
        for name, value in values.items():
            self.parameter(name, value)

    def symbols(self, **symbols: str) -> None:
        r"""Say how names are written in figures, formulas and plots: `net.symbols(K_1=r"K_\tau")`."""
        for name, text in symbols.items():
            self._put("symbols", name, "symbol", quoted(text))

    def displacement(self, name: str, rate: Value) -> None:
        """Name an angle or a position that values may read, by its rate: `net.displacement("x", "v_m")`."""
        self._put("displacements", name, "displacement", quoted(value_text(rate)))

    def add(
        self, kind: str, name: str, *nodes: str | int, **settings: Value | Iterable[str] | Mapping[str, str]
    ) -> None:
        """Add an element of a kind, between nodes, with its value and whatever else its line may say."""
        pairs = [(kind, _nodes(nodes)), *[(_file_key(kind, key), _text(value)) for key, value in settings.items()]]
        self._put("network", name, "element", line_text((quoted(key), text) for key, text in pairs))

    def port(self, name: str, *nodes: str | int, source: str = "") -> None:
        """Offer a port to larger systems: one node against the reference, two nodes, or the place of a source."""
        self._put("ports", name, "port", f"{{source: {quoted(source)}}}" if source else _nodes(nodes))

    def signal_ports(self, *, inputs: Iterable[str] = (), outputs: Iterable[str] = ()) -> None:
        """Offer signals: those that a larger system may give a formula, and those that are meant to be read."""
        given = {"inputs": tuple(inputs), "outputs": tuple(outputs)}
        self._sections["signal ports"] = {key: _text(names) for key, names in given.items() if names}

    def part(
        self,
        name: str,
        use: "str | Model | Network",
        *,
        ports: Mapping[str, str | Iterable[str]] | None = None,
        signals: Mapping[str, Value] | None = None,
        parameters: Mapping[str, Value] | None = None,
        names: Mapping[str, str] | Iterable[str] | None = None,
        **bindings: Value,
    ) -> None:
        """Add a system as a part: a file, a part of the library by its name, or a model built in Python.

        `net.part("left", "dc_motor", ports={"electrical": "a", "shaft": "s"}, K="K_m")`. `ports` joins ports to nodes (a port to
        one node or to two), `signals` gives formulas to signal inputs, `names` calls what is inside by other names than
        `left.omega`, and all other keywords are parameters of the part.
        Files lie in the folder where the program runs, or below.
        """
        # No file and no part of the library can be called so: brackets do not stand in names.
        called = use if isinstance(use, str) else f"<{name}>"
        if not isinstance(use, str):
            self._given[called] = use.model() if isinstance(use, Network) else use
        given = {"ports": ports, "signals": signals, "names": names, "parameters": {**(parameters or {}), **bindings}}
        # The elements of parts stand where they were added first, as in a file.
        self._parts_first = self._parts_first or not (self._sections["network"] or self._sections["parts"])
        pairs = [("use", quoted(called)), *((key, _text(value)) for key, value in given.items() if value)]
        self._put("parts", name, "part", line_text(pairs))

    def signal(
        self,
        name: str,
        formula: Value | None = None,
        *,
        function: Callable[..., float] | None = None,
        **settings: Value | Iterable[Value] | Mapping[str, object],
    ) -> None:
        """Add a signal: a formula, or a block by keywords as in a file, its own word first, with `_` for a space.

        `net.signal("e", "omega_ref - omega")`, `net.signal("V", pid="e", K_p=0.2, K_i=8, limits=["-24 V", "24 V"])`. A Python
        function of variables is `net.signal("u", python=["omega", "t"], function=law)`: each value costs a call, so it is slow.
        """
        if (formula is None) == (not settings):
            what = f"the signal '{name}' has {'a formula and a block' if settings else 'neither a formula nor a block'}"
            raise signals_rules.BAD_SETTING.error(what, where=name, fix="give a formula, or the keys of one block")
        if (function is not None) != ("python" in settings):
            what = f"the signal '{name}' has {'no arguments for its function' if function else 'no function'}"
            fix = "write python=[...] for what it is given and function=... for itself"
            raise signals_rules.MISSING_SETTING.error(what, where=name, fix=fix)
        block = _text({_signal_key(key): value for key, value in settings.items()})
        self._put("signals", name, "signal", block if formula is None else quoted(value_text(formula)))
        if function is not None:
            self._functions[name] = function

    def experiment(
        self,
        *,
        until: Value | None = None,
        inputs: Mapping[str, Value] | None = None,
        initial: Mapping[str, Value] | None = None,
        start: str | None = None,
        outputs: Iterable[str] = (),
        rtol: float | None = None,
        atol: float | None = None,
    ) -> None:
        """Say how long to run, with which inputs, from where; a later call replaces an earlier one."""
        given = {
            "until": until,
            "inputs": inputs,
            "initial": initial,
            "start": start,
            "outputs": tuple(outputs),
            "rtol": rtol,
            "atol": atol,
        }
        said = {key: value for key, value in given.items() if value not in (None, (), {})}
        self._sections["experiment"] = {key: _text(value) for key, value in said.items()}

    def text(self) -> str:
        """The network as the text of a file."""
        lines = [f"system: {sentence_text(self.name)}"]
        lines += [f"about: {sentence_text(self.about)}"] if self.about else []
        for title, section in self._sections.items():
            if title == "parts":
                structure = [_section(word, self._sections[word]) for word in ("parts", "network")]
                first, second = structure if self._parts_first else structure[::-1]
                lines += [*first, *second] or ["network: {}"]
            elif title != "network":
                lines += _section(title, section)
        return "\n".join(lines) + "\n"

    def model(self) -> Model:
        """The model, checked as a file would be; messages point into `text()`.

        Raises: DescriptionError with every error found.
        """
        with without_collector():
            document = read_document(self.text(), f"<{self.name}>")
            return model_of_document(document, self._functions, self._given, Path.cwd())

    def __getattr__(self, word: str) -> Callable[..., None]:
        """The method of a kind of element."""
        kind = word.replace("_", " ")
        # Python asks objects for names such as `__deepcopy__`; these are no kinds of element.
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


def _section(title: str, lines: Mapping[str, str]) -> list[str]:
    return [f"{title}:", *(f"  {quoted(name)}: {line}".rstrip() for name, line in lines.items())] if lines else []


def _file_key(kind: str, key: str) -> str:
    """The key of a keyword: `across_1` and `R_on` are keys themselves; in all others an underscore stands for a space."""
    form = form_of(kind)
    known = key[:-1] in ("across_", "through_") or (form is not None and key in form.keys)
    return key if known else key.replace("_", " ")


def _signal_key(key: str) -> str:
    """The key of a keyword: `K_p` is a key itself; in others an underscore stands for a space or a hyphen."""
    known = {k.name for block in BLOCKS.values() for k in block.keys}
    return next((word for word in (key, key.replace("_", " "), key.replace("_", "-")) if word in known), key)


def _text(value: object) -> str:
    """A value, a list or a mapping as it stands in a file."""
    return tree_text(_plain(value))


def _plain(value: object) -> object:
    if isinstance(value, str | int | float | Fraction | Expression):
        return value_text(value)
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    assert isinstance(value, Iterable), "a setting is a value, a list or a mapping"
    return [_plain(part) for part in value]


def _nodes(nodes: Iterable[str | int]) -> str:
    return list_text(map(str, nodes))  # numbers name nodes as they are written, `001` is no `1`
