"""A circuit of a deck as the text of a model file: the names that its things get, and the lines that its cards become."""

import contextlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple, final

from tellegen.core.errors import Place, Rule
from tellegen.core.files import clip
from tellegen.core.names import joined
from tellegen.core.union_find import UnionFind, strong_components
from tellegen.importing.imported import GivenNames, node_names, plain_name
from tellegen.importing.spice import rules
from tellegen.importing.spice.deck import GROUND, MOST_LEVELS, Card, Circuit, DeckParameter, ElementCard, ReadDeck, node
from tellegen.importing.spice.values import (
    DeckValue,
    FollowsError,
    Measured,
    SourceCourse,
    Span,
    ValueProblemError,
    read_formula,
)
from tellegen.notations.yaml.writing import line_text, list_text, quoted, sentence_text, tree_text

GMIN = "1e-12 S"
"""What SPICE itself puts beside its junctions."""
V_T = "25.864926 mV"
"""k T/q at 27 degrees Celsius."""
MOST_PARTS = 200_000
MOST_VARIANTS = 1000


class Skip(Exception):  # noqa: N818  it is no error of the program
    """The card cannot be written; its finding is kept already."""


@final
@dataclass(slots=True)
class DeckJob:
    """One deck on its way: what all its circuits share."""

    deck: ReadDeck
    name: str
    diodes: str
    span: Span
    uic: bool
    initial: Mapping[str, str]
    known: Mapping[str, float]
    writers: Mapping[str, Callable[["CircuitWriter", ElementCard], None]]
    parts: dict[tuple[int, tuple[str, ...]], "CircuitWriter"] = field(default_factory=dict)
    writing: list[Circuit] = field(default_factory=list)
    files: dict[str, "CircuitWriter"] = field(default_factory=dict)


class Sensor(NamedTuple):
    """A voltage that signals read: from one node to another."""

    plus: str
    minus: str


class CircuitWriter:
    """Writes one circuit; `merged` tells for each port of a subcircuit which node it is: its own, an earlier one or the ground."""

    def __init__(self, job: DeckJob, circuit: Circuit, merged: Mapping[str, str]) -> None:
        self.job, self.circuit, self.merged = job, circuit, merged
        self.findings = job.deck.findings
        self.is_top = circuit.parent is None
        self.names = GivenNames()
        self.parameters: dict[str, str] = {}
        self.settings: dict[str, str] = {}
        self.captured: dict[str, str] = {}
        self.global_ports: list[str] = []
        self.signals: dict[str, object] = {}
        self.network: list[tuple[str, str]] = []
        self.parts: list[tuple[str, dict[str, object]]] = []
        self.inputs: dict[str, str] = {}
        self.outputs: list[str] = []
        self.sensors: dict[Sensor, str] = {}
        self.loaded: set[str] = {GROUND}
        self.imposed: set[str] = set()
        self.part_count = 0
        self.joins: list[tuple[str, str]] = []
        self.stiff: dict[str, list[tuple[str, str]]] = {"coil": [], "diode": []}
        self.starts_at_zero = False
        self._kept_settings: dict[tuple[str, str], str] = {}
        self._file_name = ""
        cards = circuit.elements.values()
        self.coupled = _coupled(card for card in cards if card.letter == "k")
        self.read_currents = {low for card in cards if card.letter in "befgh" for low in _sources_read(card)}
        self.nodes = node_names(self._all_nodes())
        self.elements = {low: self.names.give(card.name, "E") for low, card in circuit.elements.items()}

    # Nodes

    def _all_nodes(self) -> list[str]:
        """The nodes in the order in which elements name them; a word that is none does no harm."""
        found = dict.fromkeys(self.circuit.ports)
        for card in self.circuit.elements.values():
            words = card.words if card.letter == "x" else card.words[:4]
            found.update(dict.fromkeys(node(word) for word in words))
        found.pop(GROUND, None)
        return list(found)

    def node(self, word: str) -> str:
        """The node that a word means here, in small letters."""
        found = node(word)
        if (
            not self.is_top
            and found in self.job.deck.global_nodes
            and found not in self.circuit.ports
            and found not in self.global_ports
        ):
            self.global_ports.append(found)
        return self.merged.get(found, found)

    def node_name(self, found: str) -> str:
        """The name of a node in the file."""
        if found == GROUND:
            return "gnd"
        if found not in self.nodes:
            self.nodes = self.nodes | {found: node_names([*self.nodes, found])[found]}
        return self.nodes[found]

    def ends(self, card: ElementCard, count: int = 2) -> list[str]:
        """The nodes of an element.

        Raises: Skip where it has fewer.
        """
        if len(card.words) < count:
            self.wrong(card.card, f"'{card.name}' has fewer than {count} nodes", "write the nodes behind the name")
        return [self.node(word) for word in card.words[:count]]

    # Findings

    def error(self, rule: Rule, what: str, place: Place | None, fix: str) -> None:
        """Keep an error."""
        self.findings.error(rule, what, place, fix)

    def wrong(self, card: Card, what: str, fix: str, rule: Rule = rules.BAD_CARD) -> None:
        """Keep an error of a card, and leave the card.

        Raises: Skip.
        """
        self.error(rule, what, card.place, fix)
        raise Skip

    def left_out(self, card: Card, what: str, fix: str) -> None:
        """Keep a warning."""
        self.findings.left_out(what, card.place, fix)

    # Values

    def value(self, text: str, card: Card, measured: Measured | None = None) -> DeckValue:
        """The value that a word tells, or the formula of a source.

        Raises: Skip.
        """
        try:
            return read_formula(text, self.parameter, measured, self.circuit.function)
        except ValueProblemError as problem:
            rule = rules.UNKNOWN_NAME if "there is no" in str(problem) else rules.BAD_CARD
            rule = rules.NOT_READ if isinstance(problem, FollowsError) else rule
            name = card.text.split(None, 1)[0]
            self.wrong(
                card,
                f"the value '{clip(text, 60)}' of '{name}': {clip(str(problem), 100)}",
                "give a number, or a formula of parameters in braces",
                rule,
            )
            raise

    def number(self, value: DeckValue) -> float | None:
        """The size of a value, where it is the same in every use of the circuit."""
        return value.number(self.job.known if self.is_top else {})

    def parameter(self, low: str) -> str:
        """The name here of a parameter of the deck; empty where there is none. What is defined further out is handed in."""
        if low in self.parameters:
            return self.parameters[low]
        if (own := self.circuit.parameter(low)) is not None:
            self.parameters[low] = self._parameter_name(own)
            return self.parameters[low]
        parent = self.circuit.parent
        if parent is None or all(circuit.parameter(low) is None for circuit in parent.outwards()):
            return ""
        self.captured[low] = self.parameters[low] = self.names.give(low, "p")
        return self.parameters[low]

    def _parameter_name(self, parameter: DeckParameter) -> str:
        """Its own name; where an element has that name too, they share it if the parameter is the value of the element."""
        low = parameter.name.lower()
        card = self.circuit.elements.get(low)
        if (
            card is not None
            and card.letter in "rcl"
            and len(card.words) > 2
            and card.words[2].strip("{}' ").lower() == low
        ):
            return self.elements[low]
        return self.names.give(parameter.name, "p")

    def write_parameters(self) -> None:
        """The values of the parameters of the circuit."""
        for low, parameter in self.circuit.own_parameters().items():
            try:
                value = self.value(parameter.text, parameter.card)
            except Skip:
                continue
            self.settings[self.parameter(low)] = value.text

    def setting(self, name: str, text: str) -> str:
        """A parameter of our own, such as one of a model; the same one for all elements that read it."""
        if (name, text) not in self._kept_settings:
            known = self._kept_settings[name, text] = self.names.give(name, "p")
            self.settings[known] = text
        return self._kept_settings[name, text]

    # Lines

    def add(self, name: str, kind: str, ends: Iterable[str], *pairs: tuple[str, str], imposes: bool = False) -> None:
        """The line of an element."""
        found = list(ends)
        (self.imposed if imposes else self.loaded).update(found)
        if kind == "inductor":
            self.stiff["coil"] += [(name, end) for end in found]
        elif kind == "conductance":
            self.stiff["diode"] += [(name, end) for end in found] if any(key == "law" for key, _ in pairs) else []
        elif kind != "current source":
            self.joins += pairwise(found)
        nodes = list_text(map(self.node_name, found))
        self.network.append((name, line_text([(kind, nodes), *((key, quoted(text)) for key, text in pairs)])))

    def sensor(self, plus: str, minus: str) -> str:
        """The signal of the voltage between two nodes."""
        wanted = Sensor(plus, minus)
        if wanted not in self.sensors:
            ends = [plus] if minus == GROUND else [plus, minus]
            name = self.names.give(joined("v", *(plain_name(self.node_name(end), "n") for end in ends)), "v")
            self.sensors[wanted] = name
            self.signals[name] = {"across": [self.node_name(plus), self.node_name(minus)]}
            self.imposed |= {plus, minus}
        return self.sensors[wanted]

    def current(self, element: str, card: ElementCard) -> str:
        """The current of a voltage source or a coil, as SPICE counts it.

        Raises: Skip.
        """
        found = self.circuit.elements.get(element.lower())
        if found is None or found.letter not in "vl":
            what = f"'{card.name}' reads the current of '{element}', which is no voltage source of this circuit"
            fix = "put a voltage source of 0 V where the current is to be read"
            self.wrong(card.card, what, fix, rules.UNKNOWN_NAME)
            raise Skip
        # The current of a source enters at its first node in SPICE, and leaves there here.
        return f"{'-' if found.letter == 'v' else ''}I_{self.elements[found.name.lower()]}"

    def is_shorted(self, card: ElementCard, ends: list[str]) -> bool:
        """Whether both nodes are one; where the card itself says so, it is told."""
        if ends[0] != ends[1]:
            return False
        if card.words[0].lower() == card.words[1].lower():
            self.left_out(card.card, f"'{card.name}' has both ends at one node and is left out", "remove the card")
        return True

    def course(self, name: str, course: SourceCourse) -> str:
        """The text of a course; a long table becomes a signal."""
        if not course.points:
            return course.text
        found = self.names.give(f"{name}_course", "s")
        self.signals[found] = {"table": [list(point) for point in course.points]}
        return found

    def load_open_nodes(self) -> None:
        """Put the conductance that SPICE puts beside its junctions beside what only sources and sensors meet."""
        for found in dict.fromkeys([*self.circuit.ports, *self.nodes]):
            here = self.merged.get(found, found)
            if here in self.loaded or (here not in self.imposed and here not in self.circuit.ports):
                continue
            self.add(self.names.give(f"gmin_{self.node_name(here)}", "g"), "conductance", [here, GROUND], ("G", GMIN))

    def tell_caught_diodes(self) -> None:
        """Warn of diodes that take the current of a coil where nothing else could: no solver gets past L*gmin."""
        groups = self.groups
        outside = {groups[end] for end in (GROUND, *self.circuit.ports) if end in groups}
        coils = {groups[end]: name for name, end in self.stiff["coil"]}
        for name, end in self.stiff["diode"]:
            group = groups[end]
            if group in coils and group not in outside:
                what = f"'{coils[group]}' drives its current through '{name}', where there is no capacitance: "
                what += f"no solver gets past L times {GMIN}"
                card = self.circuit.elements.get(name.split(".")[0].lower())
                fix = "put a capacitor beside the diode, or import with --diodes ideal"
                self.findings.left_out(what, card.card.place if card is not None else None, fix)
                return

    @cached_property
    def groups(self) -> dict[str, int]:
        """What hangs together without coils and diodes: each node with the number of its group, when all is written."""
        ends = (end for two in self.stiff.values() for _, end in two)
        places = {end: k for k, end in enumerate(dict.fromkeys([GROUND, *chain(*self.joins), *ends]))}
        groups = UnionFind(len(places))
        for one, other in self.joins:
            groups.join(places[one], places[other])
        return {end: groups.find(k) for end, k in places.items()}

    def _link(self, card: ElementCard, inner: "CircuitWriter", at: Mapping[str, str]) -> None:
        """Join here what a part joins inside; a coil and a diode that a group of its ports meets stand here, too."""
        groups = inner.groups
        met: dict[int, str] = {groups[GROUND]: GROUND}
        for port in inner.open_ports():
            if port in groups:
                # No node of a deck has a space.
                self.joins.append((met.setdefault(groups[port], f"{card.name} {groups[port]}"), at[port]))
        for kind, found in inner.stiff.items():
            first = {groups[end]: name for name, end in reversed(found)}
            self.stiff[kind] += [(f"{card.name}.{first[k]}", end) for k, end in met.items() if k in first]

    # Parts

    def part(self, card: ElementCard) -> None:
        """A subcircuit that is used.

        Raises: Skip; DescriptionError for a subcircuit that contains itself (D315), or too many of them (D317).
        """
        words = [word for word in card.words if word.lower() != "params:"]
        circuit = self.circuit.subcircuit(words[-1]) if words else None
        if circuit is None:
            name = words[-1] if words else "?"
            self.wrong(
                card.card,
                f"'{card.name}' uses the subcircuit '{name}', which there is not",
                "define it, or include its file",
                rules.UNKNOWN_NAME,
            )
            return
        if len(words) - 1 != len(circuit.ports):
            what = f"'{card.name}' has {len(words) - 1} nodes, and the subcircuit '{circuit.name}' has {len(circuit.ports)}"
            self.wrong(card.card, what, "give one node for each port")
        outside = [self.node(word) for word in words[:-1]]
        if any(port == GROUND != end for port, end in zip(circuit.ports, outside, strict=True)):
            what = f"'{card.name}' joins a port of '{circuit.name}' that is the ground to something else"
            self.wrong(card.card, what, "give the port another name, or join it to the ground")
        inner = self._written(circuit, outside, card)
        at = dict(zip(circuit.ports, outside, strict=True)) | {found: self.node(found) for found in inner.global_ports}
        ports = {inner.port_name(port): self.node_name(at[port]) for port in inner.open_ports()}
        self.loaded |= {at[port] for port in inner.open_ports()}
        self._link(card, inner, at)
        self.starts_at_zero |= inner.starts_at_zero
        given = {inner.captured[low]: self.parameter(low) for low in inner.captured}
        for low, text in card.options.items():
            if circuit.parameter(low) is None:
                self.wrong(
                    card.card,
                    f"the subcircuit '{circuit.name}' has no parameter '{low}'",
                    "remove it, or add it to the card .subckt",
                    rules.UNKNOWN_NAME,
                )
            given[inner.parameter(low)] = self.value(text, card.card).text
        line: dict[str, object] = {"use": inner.file_name(), "ports": ports}
        line |= {"parameters": given} if given else {}
        self.parts.append((self.elements[card.name.lower()], line))
        self.part_count += 1 + inner.part_count
        if self.part_count > MOST_PARTS:
            what = f"the deck has more than {MOST_PARTS} subcircuits, those inside others counted"
            raise rules.TOO_LARGE.error(what, fix="import one of its subcircuits", place=card.card.place)

    def _written(self, circuit: Circuit, outside: list[str], card: ElementCard) -> "CircuitWriter":
        """The writer of a subcircuit with ports that meet as they do here."""
        if circuit in self.job.writing:
            what = f"the subcircuit '{circuit.name}' uses itself"
            raise rules.GOES_ROUND.error(what, fix="remove the card", place=card.card.place)
        if len(self.job.writing) >= MOST_LEVELS or len(self.job.parts) >= MOST_VARIANTS:
            what = (
                f"subcircuits use each other more than {MOST_LEVELS} levels deep, or in more than {MOST_VARIANTS} ways"
            )
            raise rules.TOO_LARGE.error(what, fix="import one of its subcircuits", place=card.card.place)
        first: dict[str, str] = {}
        merged = {
            port: GROUND if end == GROUND else first.setdefault(end, port)
            for port, end in zip(circuit.ports, outside, strict=True)
        }
        key = (id(circuit), tuple(merged.values()))
        if key not in self.job.parts:
            self.job.writing.append(circuit)
            made = CircuitWriter(self.job, circuit, merged)
            made.write()
            self.job.parts[key] = made
            self.job.writing.pop()
        return self.job.parts[key]

    def open_ports(self) -> list[str]:
        """The ports that are neither the ground nor an earlier one."""
        ports = (port for port in [*self.circuit.ports, *self.global_ports] if port != GROUND)
        return [port for port in ports if self.merged.get(port, port) == port]

    def port_name(self, port: str) -> str:
        """A port by the name of its node; a number gets a letter before it."""
        return plain_name(self.node_name(port), "p")

    def file_name(self) -> str:
        """The file of this part, beside the model."""
        if not self._file_name:
            stem = f"{self.job.name}_{plain_name(self.circuit.name, 'x')}"
            taken = {name.lower() for name in self.job.files}
            ends = chain([""], (f"_{count}" for count in range(2, MOST_VARIANTS + 2)))
            self._file_name = next(name for end in ends if (name := f"{stem}{end}.yaml").lower() not in taken)
            self.job.files[self._file_name] = self
        return self._file_name

    # The whole

    def write(self) -> None:
        """Write all cards."""
        for card in self.circuit.elements.values():
            with contextlib.suppress(Skip):
                self.job.writers[card.letter](self, card)
        self.tell_caught_diodes()
        self.load_open_nodes()
        self.write_parameters()

    def text(self, title: str, experiment: Mapping[str, object] | None = None) -> str:
        """The text of the file."""
        # Parameters may have called for others meanwhile.
        given = dict.fromkeys(self.captured.values(), "") | self.settings
        sections = [f"system: {sentence_text(title)}\n"]
        if not self.is_top:
            ports = {self.port_name(port): self.node_name(port) for port in self.open_ports()}
            sections.append(f"ports: {tree_text(ports)}\n")
        sections.append(_section("parameters", [(name, quoted(text) if text else "") for name, text in given.items()]))
        sections.append(_section("signals", [(name, tree_text(text)) for name, text in self.signals.items()]))
        sections.append(_section("parts", [(name, tree_text(line)) for name, line in self.parts]))
        sections.append(_section("network", self.network))
        if experiment:
            sections.append(_section("experiment", [(key, tree_text(held)) for key, held in experiment.items()]))
        return "\n".join(section for section in sections if section)


_CURRENT_READ = re.compile(r"\bi\s*\(\s*(\w[\w.]*)\s*\)", re.IGNORECASE)


def _sources_read(card: ElementCard) -> list[str]:
    """The sources whose currents a card may read, in small letters."""
    named = [word.lower() for word in card.words[2:]] if card.letter in "fh" else []
    return [*named, *(match[1].lower() for match in _CURRENT_READ.finditer(card.card.text))]


def _coupled(cards: Iterable[ElementCard]) -> dict[str, list[ElementCard]]:
    """The cards that couple each coil, by way of others too."""
    listed = list(cards)
    near: dict[str, list[str]] = {}
    for card in listed:
        coils = [word.lower() for word in card.words[:-1]]
        for one, other in pairwise(coils):
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)
    groups = {coil: k for k, group in enumerate(strong_components(near)) for coil in group}
    members: dict[int, list[ElementCard]] = {}
    for card in listed:
        if card.words and card.words[0].lower() in groups:
            members.setdefault(groups[card.words[0].lower()], []).append(card)
    return {coil: members.get(group, []) for coil, group in groups.items()}


def _section(name: str, lines: Iterable[tuple[str, str]]) -> str:
    listed = list(lines)
    if not listed:
        return ""
    widest = min(24, max(len(key) for key, _ in listed)) + 1
    return f"{name}:\n" + "".join(f"  {f'{key}:':<{widest}} {text}".rstrip() + "\n" for key, text in listed)
