"""`read_bond_graph_tools`: a file of BondGraphTools (`.bg`, version 0.1) as a bond graph, and the rules that such a file keeps.

A component's variables count into it whichever way its bond points; at a 1-junction the arrow decides the sign. So a bond that
leaves a component here enters it by a 0-junction of two bonds, which passes on the effort and turns the flow. Ports of models
inside others are such junctions too. Facts of the format: its own source, github.com/BondGraphTools/BondGraphTools.
"""

import re
from pathlib import Path
from typing import NamedTuple, final

from tellegen.core.errors import Place, Rule, Rulebook, TellegenError
from tellegen.core.files import clip
from tellegen.core.names import joined, unused
from tellegen.expressions import RESERVED_WORDS
from tellegen.importing.imported import Imported
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, SequenceNode, read_document
from tellegen.notations.yaml.writing import quoted, sentence_text


def _loop(resistor: str = "R1 base/R r=100", bond: str = "R1 kcl") -> str:
    """A source with a resistor and a capacitor, with one line exchanged."""
    return f"""\
version: 0.1
root: RC
models:
  /:
    components:
    - {resistor}
    - C1 base/C C=0.01
    - S base/Sf
    - kcl base/0
    netlist:
    - {bond}
    - kcl C1
    - S kcl
"""


RULES = Rulebook("D", _loop())

NOT_READ = RULES.rule(
    "D320",
    "component of BondGraphTools that is not read",
    meaning="A component is of a library that there is nothing for, such as the biochemical one, or has a law of its own.",
    why="basic components and the diode have counterparts here; chemical potentials and port-Hamiltonian blocks have none",
    example=_loop("R1 biochem/Re k=1"),
)
WRONG_FILE = RULES.rule(
    "D321",
    "file of BondGraphTools that makes no sense",
    meaning="A part of the file is missing, a name is used that no component has, or a value is no number.",
    why="a file of version 0.1 has models, each with components (`NAME library/KIND values`) and a netlist (`TAIL HEAD`)",
    example=_loop(bond="R2 kcl"),
)


MOST_LEVELS = 16
MOST_COMPONENTS = 100_000
VERSION = "0.1"

JUNCTIONS = ("0", "1")
PORT = "port"
"""What a component `SS` is that a model offers as a port."""


@final
class _ComponentKind(NamedTuple):
    """A component of the libraries: its letters here, its parameters with their defaults, and the units of a circuit."""

    letters: str
    parameters: tuple[tuple[str, str], ...]
    unit: str = ""


KINDS: dict[str, _ComponentKind] = {
    "base/0": _ComponentKind("0", ()),
    "base/1": _ComponentKind("1", ()),
    "base/R": _ComponentKind("R", (("r", "1000"),), "ohm"),
    "base/C": _ComponentKind("C", (("C", "1000"),), "F"),
    "base/I": _ComponentKind("I", (("L", "2000"),), "H"),
    "base/Se": _ComponentKind("Se", (("e", ""),), "V"),
    "base/Sf": _ComponentKind("Sf", (("f", ""),), "A"),
    "base/SS": _ComponentKind(PORT, (("f", ""), ("e", ""))),
    "base/TF": _ComponentKind("TF", (("r", "1"),)),
    "base/GY": _ComponentKind("GY", (("R", "1"),), "ohm"),
    "elec/Di": _ComponentKind("R", (("Is", ""), ("n", "1"), ("Vt", "0.0258563"))),
}
"""The components that are read. Others of `base` and `elec`, and all of `biochem`, are refused by name."""


class _Component(NamedTuple):
    name: str
    kind: str
    values: dict[str, str]
    place: Place


class _End(NamedTuple):
    """An end of a bond: a component, and which of its ports."""

    component: _Component
    port: int


def read_bond_graph_tools(path: Path, name: str) -> Imported:
    """A bond graph of BondGraphTools as the text of a model file, in the units of circuits.

    Raises: DescriptionError with every component that is not read (D320), or for what makes no sense (D321).
    """
    del name
    document = read_document(path)
    return Imported(_Reading(document).text(path.stem))


class _Reading:
    """One file being read: its components and bonds with those of models inside."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.components: dict[str, _Component] = {}
        self.bonds: list[tuple[_End, _End]] = []
        self.refused: list[TellegenError] = []
        self.names: dict[str, str] = {}
        root = document.root
        version = root.get("version")
        if not isinstance(version, Scalar) or version.text != VERSION:
            raise self._wrong(
                version or root, "the file is not of version 0.1", "save it with BondGraphTools 0.4 or later"
            )
        found = root.get("models")
        self.models = found if isinstance(found, MappingNode) else None
        if self.models is None or not len(self.models.keys):
            raise self._wrong(root, "there are no 'models' in the file", "save the model with BondGraphTools")
        top = root.get("root")
        first = top.text if isinstance(top, Scalar) and top.text in self.models else "/"
        self.title = top.text if isinstance(top, Scalar) else ""
        self._build(first if first in self.models else self.models.keys[0].text, "", [])
        if self.refused:
            raise type(self.refused[0])([error.finding for error in self.refused[:50]])

    def _wrong(self, node: Node, what: str, fix: str, rule: Rule = WRONG_FILE) -> TellegenError:
        return rule.error(what, fix=fix, place=self.document.place(node))

    def _listed(self, model: MappingNode, key: str) -> list[Scalar]:
        found = model.get(key)
        if found is None:
            return []
        if not isinstance(found, SequenceNode):
            raise self._wrong(found, f"'{key}' is no list", "write one line for each")
        for one in found.items:
            if not isinstance(one, Scalar):
                raise self._wrong(one, f"a line of '{key}' is no text", "write one line for each")
        return [one for one in found.items if isinstance(one, Scalar)]

    def _build(self, key: str, prefix: str, above: list[str]) -> dict[str, _Component]:
        """Add the components and bonds of a model; gives the ports that it offers."""
        assert self.models is not None, "looked at before"
        model = self.models.get(key)
        if not isinstance(model, MappingNode):
            raise self._wrong(self.models, f"there is no model '{clip(key)}' in the file", "write it under 'models'")
        if key in above or len(above) >= MOST_LEVELS:
            what = (
                f"the model '{clip(key)}' contains itself"
                if key in above
                else f"models are more than {MOST_LEVELS} levels deep"
            )
            raise self._wrong(model, what, "remove one of its components")
        own: dict[str, _Component] = {}
        inner: dict[str, dict[str, _Component]] = {}
        for line in self._listed(model, "components"):
            words = line.text.split()
            if len(words) < 2:
                raise self._wrong(line, f"'{clip(line.text)}' names no component", "write NAME library/KIND values")
            path = f"{prefix}{words[0]}"
            if words[0] in own or words[0] in inner:
                raise self._wrong(line, f"there are two components '{words[0]}'", "give one another name")
            if "/" in words[1] and words[1] not in self.models:
                own[words[0]] = self._component(line, path, words)
            else:
                inner[words[0]] = self._build(words[1], f"{path}.", [*above, key])
        for line in self._listed(model, "netlist"):
            words = line.text.split()
            if len(words) != 2:
                raise self._wrong(line, f"'{clip(line.text)}' is no bond", "write TAIL HEAD")
            tail, head = (self._end(line, word, own, inner) for word in words)
            self.bonds.append((tail, head))
        ports: dict[str, _Component] = {}
        for line in self._listed(model, "ports"):
            words = line.text.split()
            if len(words) != 2 or words[0] not in own:
                raise self._wrong(line, f"'{clip(line.text)}' is no port", "write COMPONENT PORT")
            ports[words[1]] = own[words[0]]
        return ports

    def _component(self, line: Scalar, path: str, words: list[str]) -> _Component:
        kind = KINDS.get(words[1])
        place = self.document.place(line)
        if kind is None:
            what = f"'{path}' is a component '{clip(words[1])}', which is not read"
            self.refused.append(self._wrong(line, what, f"these are read: {', '.join(KINDS)}", NOT_READ))
            kind = _ComponentKind("R", ())
        values = dict(kind.parameters)
        known = {key.lower(): key for key in values}
        for place_of, word in enumerate(words[2:]):
            key, equals, text = word.rpartition("=")
            low = key.lower() if equals else [*known, ""][min(place_of, len(known))]
            if words[1] not in KINDS:
                break
            if low not in known or not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
                raise self._wrong(
                    line, f"'{clip(word)}' is no value of '{path}'", f"give numbers to {', '.join(values) or 'none'}"
                )
            values[known[low]] = text
        made = _Component(path, words[1], values, place)
        self.components[path] = made
        if len(self.components) > MOST_COMPONENTS:
            raise self._wrong(line, f"there are more than {MOST_COMPONENTS} components", "save a part of the model")
        return made

    def _end(
        self, line: Scalar, word: str, own: dict[str, _Component], inner: dict[str, dict[str, _Component]]
    ) -> _End:
        name, _, port = word.partition(".")
        if name in own:
            return _End(own[name], int(port) if port in ("0", "1") else -1)
        ports = inner.get(name)
        if ports is None:
            raise self._wrong(line, f"there is no component '{clip(name)}'", "write it under 'components'")
        port = port or next(iter(ports), "")
        if port not in ports:
            raise self._wrong(line, f"'{clip(name)}' has no port '{clip(port)}'", "write it under 'ports' of its model")
        return _End(ports[port], -1)

    # As a bond graph

    def text(self, stem: str) -> str:
        """The text of a model file."""
        self._give_names()
        lines: list[str] = []
        told: set[str] = set()
        count = 0
        sides: dict[str, list[int]] = {}
        bonds = []
        for tail, head in self.bonds:
            # A two-port without numbers is bonded at its first port, then at its second.
            ends = [self._with_port(end, sides) for end in (tail, head)]
            backwards = [self._enters(ends[0]), self._leaves(ends[1])]
            if not any(backwards) and (self._is_junction(ends[0]) or self._is_junction(ends[1])):
                bonds.append((ends[0].component.name, ends[1].component.name))
                continue
            if backwards == [True, False] and ends[1].component.kind == "base/0":
                bonds.append((ends[1].component.name, ends[0].component.name))
                continue
            if backwards == [False, True] and ends[0].component.kind == "base/0":
                bonds.append((ends[1].component.name, ends[0].component.name))
                continue
            count += 1
            between = f"{ends[0].component.name}.{ends[1].component.name}.{count}"
            self.names[between] = unused(f"n_{count}", set(self.names.values()))
            for end, turned in zip(ends, (backwards[0], not backwards[1]), strict=True):
                name = end.component.name
                bonds.append((between, name) if turned else (name, between))
        for one, other in bonds:
            lines.append(f"  - {self._item(one, told)} -> {self._item(other, told)}")
        parameters, elements, inputs = self._values()
        parts = [f"system: {sentence_text(self.title or stem)}\n"]
        parts += (
            ["parameters:\n" + "".join(f"  {key}: {text}\n" for key, text in parameters.items())] if parameters else []
        )
        parts += ["bond graph:\n" + "".join(f"{line}\n" for line in lines)]
        parts += ["elements:\n" + "".join(f"  {key}: {text}\n" for key, text in elements.items())] if elements else []
        parts += (
            ["experiment:\n  inputs: {" + ", ".join(f"{k}: {v}" for k, v in inputs.items()) + "}\n"] if inputs else []
        )
        return "\n".join(parts)

    def _give_names(self) -> None:
        taken: set[str] = set(RESERVED_WORDS)
        for path in self.components:
            plain = re.sub(r"[^A-Za-z0-9]+", "_", path).strip("_") or "x"
            name = unused(joined(plain) if plain[0].isalpha() else f"x{plain}", taken, "x")
            taken.add(name)
            self.names[path] = name

    def _is_junction(self, end: _End) -> bool:
        return KINDS[end.component.kind].letters in (*JUNCTIONS, PORT)

    def _with_port(self, end: _End, sides: dict[str, list[int]]) -> _End:
        if KINDS[end.component.kind].letters not in ("TF", "GY"):
            return end
        used = sides.setdefault(end.component.name, [])
        port = end.port if end.port >= 0 else next((k for k in (0, 1) if k not in used), 1)
        used.append(port)
        return _End(end.component, port)

    def _enters(self, end: _End) -> bool:
        """Whether a bond enters this end in our notation: power counts into storages, losses, and the first side of a two-port."""
        letters = KINDS[end.component.kind].letters
        return letters in ("R", "C", "I") or (letters in ("TF", "GY") and end.port == 0)

    def _leaves(self, end: _End) -> bool:
        letters = KINDS[end.component.kind].letters
        return letters in ("Se", "Sf") or (letters in ("TF", "GY") and end.port == 1)

    def _item(self, path: str, told: set[str]) -> str:
        name = self.names[path]
        if path in told:
            return name
        told.add(path)
        component = self.components.get(path)
        letters = "0" if component is None else KINDS[component.kind].letters
        letters = "0" if letters == PORT else letters
        return f"{letters}:{name} (electrical)" if letters in JUNCTIONS else f"{letters}:{name}"

    def _values(self) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
        parameters: dict[str, str] = {}
        elements: dict[str, str] = {}
        inputs: dict[str, str] = {}
        for path, component in self.components.items():
            kind, name = KINDS[component.kind], self.names[path]
            if component.kind == "elec/Di":
                missing = [key for key, text in component.values.items() if not text]
                if missing:
                    what = f"the diode '{path}' has no value for {', '.join(missing)}"
                    raise WRONG_FILE.error(what, fix="write it behind the component", place=component.place)
                scale, ideality, thermal = component.values.values()
                law = f"i = {scale} A*(exp(v/({ideality}*{thermal} V)) - 1)"
                elements[name] = "{law: " + quoted(law) + "}"
            elif kind.letters in ("Se", "Sf"):
                value = next(iter(component.values.values()))
                if value:
                    inputs[name] = f"{value} {kind.unit}"
            elif kind.letters not in (*JUNCTIONS, PORT):
                parameters[name] = self._parameter(kind.letters, component, kind.unit)
        return parameters, elements, inputs

    def _parameter(self, letters: str, component: _Component, unit: str) -> str:
        value = next(iter(component.values.values()))
        if letters == "TF":  # e_1 = r e_0 there, e_a = m e_b here
            return f"1/({value})"
        # e_0 = R f_1 with both flows into it there; along the arrows here.
        turned = value.removeprefix("-") if value.startswith("-") else f"-{value}"
        return f"{turned} {unit}" if letters == "GY" else f"{value} {unit}"
