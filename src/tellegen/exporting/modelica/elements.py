"""Elements as classes of Modelica: connectors by domain, and a class for each kind of element that a system has.

The across variable `v` of an element counts from its first connector to its second; the through variable `f` enters at the first.
"""

from collections.abc import Iterable, Iterator
from typing import Final, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.names import identifier
from tellegen.elements import ElementKind
from tellegen.exporting.modelica.words import modelica_name, modelica_text, modelica_unit
from tellegen.graph.power_graph import Branch, Coupling

LETTER: Final[dict[Side, str]] = {"across": "v", "through": "f"}
"""The variables of a connector and of an element with two of them."""

NEARLY_IDEAL: Final = {"electrical": ("1e-6", "1e-9"), "hydraulic": ("1e3", "1e-17")}
"""The resistance of what is closed, where none is given, and what leaks through what is open, in SI units.

An ideal switch takes a storage its freedom where it opens the only way of a current, and tools keep their states."""

SLOWEST: Final = "1e-4"
"""Impacts below this speed, in SI units, end in rest: there are infinitely many of them."""


@final
class ElementClasses:
    """The classes in use, by name, each after what it needs."""

    def __init__(self) -> None:
        self.classes: dict[str, list[str]] = {}

    def lines(self) -> Iterator[str]:
        """All of them, with an empty line behind each."""
        for lines in self.classes.values():
            yield from lines
            yield ""

    def ground(self, domain: Domain) -> str:
        """The class of a reference."""
        name = f"{class_word(domain.reference)}Of{class_word(domain.name)}" if domain.reference == "frame" else ""
        return self._add(
            name or class_word(domain.reference),
            f"where the {domain.across.word} is zero",
            [f"{self._connector(domain)} plus;"],
            ["plus.v = 0;"],
            extends="",
        )

    def storage(self, kind: ElementKind) -> str:
        """A linear storage with a constant value."""
        out, told = LETTER[kind.side], LETTER[other_side(kind.side)]
        if kind.quantity is None:
            return self._port(class_word(kind.name), kind.domain, kind.summary, [], [f"{told} = 0;"])
        key = kind.quantity.key
        law = f"der({out}) = {key}*{told};" if kind.inverse else f"{key}*der({out}) = {told};"
        return self._port(class_word(kind.name), kind.domain, kind.summary, [_parameter(kind)], [law])

    def resistive(self, kind: ElementKind) -> str:
        """A linear dissipator with a constant value."""
        assert kind.quantity is not None, "a linear element has a value"
        law = f"{LETTER[kind.side]} = {kind.quantity.key}*{LETTER[other_side(kind.side)]};"
        return self._port(class_word(kind.name), kind.domain, kind.summary, [_parameter(kind)], [law])

    def source(self, kind: ElementKind) -> str:
        """A source of what `u` says."""
        unit = modelica_unit(kind.domain.power(kind.side).unit)
        given = [f'input Real u(unit="{unit}");']
        return self._port(class_word(kind.name), kind.domain, kind.summary, given, [f"{LETTER[kind.side]} = u;"])

    def law(self, domain: Domain, side: Side) -> str:
        """A power variable that the system gives a formula."""
        about = f"its {domain.power(side).word} follows a formula"
        name = f"{class_word(domain.name)}{class_word(side)}Law"
        return self._port(name, domain, about, ["input Real law;"], [f"{LETTER[side]} = law;"])

    def storage_by_content(self, domain: Domain, side: Side) -> str:
        """A storage whose content the system gives a formula of outputs."""
        about = f"what it keeps ({domain.energy(side).word}) follows a formula"
        told = LETTER[other_side(side)]
        return self._port(
            f"{class_word(domain.name)}{class_word(side)}StorageByContent",
            domain,
            about,
            ["input Real content;", "Real stored;"],
            ["stored = content;", f"der(stored) = {told};"],
        )

    def storage_by_slope(self, domain: Domain, side: Side) -> str:
        """A storage of which only the slope of its content is a formula."""
        about = f"how its {domain.energy(side).word} rises follows a formula"
        law = f"slope*der({LETTER[side]}) = {LETTER[other_side(side)]};"
        name = f"{class_word(domain.name)}{class_word(side)}StorageBySlope"
        return self._port(name, domain, about, ["input Real slope;"], [law])

    def storage_by_law(self, domain: Domain, side: Side) -> str:
        """A storage whose output the system gives a formula of contents."""
        about = f"its {domain.power(side).word} follows a formula of what is kept ({domain.energy(side).word})"
        return self._port(
            f"{class_word(domain.name)}{class_word(side)}StorageByLaw",
            domain,
            about,
            ["input Real law;", "Real stored;"],
            [f"{LETTER[side]} = law;", f"der(stored) = {LETTER[other_side(side)]};"],
        )

    def switch(self, kind: ElementKind) -> str:
        """A switch or a valve that follows `control`."""
        given = ["input Real control;", *_nearly_ideal(kind), "Boolean closed;"]
        laws = ["closed = control > 0;", "0 = if closed then v - R_on*f else f - G_off*v;"]
        return self._port(class_word(kind.name), kind.domain, kind.summary, given, laws)

    def one_way(self, kind: ElementKind) -> str:
        """A diode or a check valve: a point on its characteristic moves with `s`."""
        given = ["parameter Real threshold = 0;", *_nearly_ideal(kind), "Real s;", "Boolean off;"]
        laws = ["off = s < 0;", "v = threshold + (if off then s else R_on*s);", "f = if off then G_off*s else s;"]
        return self._port(class_word(kind.name), kind.domain, kind.summary, given, laws)

    def stop(self, kind: ElementKind) -> str:
        """A stop that pushes while its gap is closed, and never pulls."""
        given = ["input Real gap;", "parameter Real K = 0;", "parameter Real b = 0;"]
        laws = ["f = if gap < 0 then max(0, b*v - K*gap) else 0;"]
        return self._port(class_word(kind.name), kind.domain, kind.summary, given, laws)

    def rigid_stop(self, kind: ElementKind) -> str:
        """A stop that holds what has come to rest at it; the system changes speeds at an impact."""
        given = ["input Real gap;", "parameter Real restitution;", f"parameter Real slowest = {SLOWEST};"]
        given.append("discrete Boolean held(start=false, fixed=true);")
        laws = [
            "0 = if held then der(v) else f;",
            "when {gap <= 0, f < 0} then",
            "  held = gap <= 0 and v >= 0 and v < slowest;",
            "end when;",
        ]
        return self._port(f"Rigid{class_word(kind.name)}", kind.domain, kind.summary, given, laws)

    def coupling(self, coupling: Coupling, kind: ElementKind) -> tuple[str, str]:
        """The class of a coupling of two ports, and the key of its modulus."""
        (one,), (two,) = coupling.side_1, coupling.side_2
        key = kind.quantity.key if kind.quantity is not None else "K"
        name = class_word(kind.name)
        # A connection has no name of its own: domains and what it relates tell one from another.
        if kind.name in ("connection", "multiport") or kind.heat:
            words = (one.domain, one.side, "to", two.domain, two.side)
            name = "".join(map(class_word, words))
        given, laws = self._ends([("1", one)], "")
        more = self._ends([("2", two)], "-")
        given += [*more[0], f"input Real {key};"]
        laws += more[1]
        laws.append(f"{LETTER[two.side]}_2 = {key}*{LETTER[one.side]}_1;")
        laws.append(f"{LETTER[other_side(one.side)]}_1 = {key}*{LETTER[other_side(two.side)]}_2;")
        about = kind.summary if kind.name != "connection" else "passes power between two domains"
        return self._add(name, about, given, laws, extends=""), key

    def matrix_coupling(self, coupling: Coupling, entries: dict[tuple[int, int], str]) -> str:
        """The class of one coupling of several ports; `entries` are the inputs for places of its matrix that are not zero."""
        given, laws = self._ends([(f"1_{k}", b) for k, b in enumerate(coupling.side_1, 1)], "")
        more = self._ends([(f"2_{k}", b) for k, b in enumerate(coupling.side_2, 1)], "-")
        given += more[0]
        laws += more[1]
        given += [f"input Real {word};" for word in entries.values()]
        for j, two in enumerate(coupling.side_2):
            terms = [
                f"{word}*{LETTER[coupling.side_1[i].side]}_1_{i + 1}" for (row, i), word in entries.items() if row == j
            ]
            laws.append(f"{LETTER[two.side]}_2_{j + 1} = {' + '.join(terms) or '0'};")
        for i, one in enumerate(coupling.side_1):
            terms = [
                f"{word}*{LETTER[other_side(coupling.side_2[j].side)]}_2_{j + 1}"
                for (j, column), word in entries.items()
                if column == i
            ]
            laws.append(f"{LETTER[other_side(one.side)]}_1_{i + 1} = {' + '.join(terms) or '0'};")
        return self._add(
            f"CouplingOf_{identifier(coupling.element)}", "passes power between its ports", given, laws, extends=""
        )

    def _ends(self, branches: Iterable[tuple[str, Branch]], sign: str) -> tuple[list[str], list[str]]:
        """The connectors and variables of some ports of a coupling; power enters at side 1 and leaves at side 2."""
        given: list[str] = []
        laws: list[str] = []
        for n, branch in branches:
            given += [f"{self._connector(DOMAINS[branch.domain])} plus_{n}, minus_{n};", f"Real v_{n}, f_{n};"]
            laws += [
                f"v_{n} = plus_{n}.v - minus_{n}.v;",
                f"f_{n} = {sign}plus_{n}.f;",
                f"plus_{n}.f + minus_{n}.f = 0;",
            ]
        return given, laws

    def _port(self, name: str, domain: Domain, about: str, given: list[str], laws: list[str]) -> str:
        return self._add(name, about, given, laws, extends=self._base(domain))

    def _base(self, domain: Domain) -> str:
        pin, units = self._connector(domain), (modelica_unit(domain.across.unit), modelica_unit(domain.through.unit))
        name = f"{pin}Port"
        given = [f"{pin} plus, minus;", f'Real v(unit="{units[0]}");', f'Real f(unit="{units[1]}");']
        laws = ["v = plus.v - minus.v;", "f = plus.f;", "plus.f + minus.f = 0;"]
        return self._add(name, "an element between two points", given, laws, extends="", word="partial model")

    def _connector(self, domain: Domain) -> str:
        name = class_word(domain.name)
        across, through = domain.across, domain.through
        self.classes.setdefault(
            name,
            [
                f"connector {name} {modelica_text(f'{across.word} and {through.word}')}",
                f'  Real v(unit="{modelica_unit(across.unit)}");',
                f'  flow Real f(unit="{modelica_unit(through.unit)}");',
                f"end {name};",
            ],
        )
        return name

    def _add(
        self, name: str, about: str, given: list[str], laws: list[str], *, extends: str, word: str = "model"
    ) -> str:
        written = modelica_name(name)
        lines = [f"{word} {written} {modelica_text(about)}"]
        lines += [f"  extends {extends};"] if extends else []
        lines += [*(f"  {line}" for line in given), "equation", *(f"  {line}" for line in laws), f"end {written};"]
        self.classes.setdefault(written, lines)
        return written


def _parameter(kind: ElementKind) -> str:
    assert kind.quantity is not None, "a linear element has a value"
    unit = modelica_unit(kind.quantity.unit)
    return f'parameter Real {kind.quantity.key}(unit="{unit}") {modelica_text(kind.quantity.word)};'


def _nearly_ideal(kind: ElementKind) -> list[str]:
    closed, leak = NEARLY_IDEAL[kind.domain.name]
    return [f"parameter Real R_on = {closed};", f"parameter Real G_off = {leak};"]


def class_word(words: str) -> str:
    """The name of a class: `DcMachine` of a dc machine."""
    return "".join(word[:1].upper() + word[1:] for word in words.replace("-", " ").replace("_", " ").split())
