"""`read_twenty_sim`: a model of 20-sim (`.emx`) as a bond graph.

Nodes of iconic diagrams become junctions of what they share; a component with two ends stands on a junction between its nodes.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path as FilePath
from typing import final

from tellegen.core.domains import DOMAINS as OUR_DOMAINS
from tellegen.core.domains import Domain
from tellegen.core.errors import DescriptionError, Finding, Place, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.expressions import ONE, ZERO, Expression, is_zero, parse, symbol, to_text
from tellegen.importing import rules as importing_rules
from tellegen.importing.imported import GivenNames, Imported
from tellegen.importing.twenty_sim import rules
from tellegen.importing.twenty_sim.laws import (
    DOMAINS,
    PRODUCT,
    STORAGE_UNITS,
    DeclaredParameter,
    PortLaw,
    SidopsEquations,
    TwoPortLaw,
    in_terms_of,
    is_mechanical,
    one_port,
    read_equations,
    signal_formula,
    two_port,
    written_unit,
)
from tellegen.importing.twenty_sim.parsing import FlatModel, Path, PortEnd, Submodel, TwentySimFile, flatten, read_file
from tellegen.importing.twenty_sim.statements import NoLawError
from tellegen.notations.yaml.writing import quoted, sentence_text, tree_text

MOST_FINDINGS = 50
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")


def read_twenty_sim(path: FilePath, name: str, *, domain_of: Sequence[str] = ()) -> Imported:
    """A model of 20-sim as the text of a model file; `domain_of` tells domains of generic ports: `["L=electrical"]`.

    Raises: DescriptionError with every submodel that is not read (D322) and every region without a domain (D324), or for a file
    that makes no sense (D323).
    """
    del name
    domains: dict[str, str] = {}
    for given in domain_of:
        key, equals, word = given.partition("=")
        if not equals or word not in OUR_DOMAINS:
            fix = did_you_mean(word, OUR_DOMAINS) or f"write NAME=DOMAIN, one of {', '.join(OUR_DOMAINS)}"
            raise importing_rules.UNKNOWN_OPTION.error(f"'{given}' names no domain", fix=fix)
        domains[key.strip()] = word
    writer = _Writer(read_file(path), str(path), domains)
    return Imported(writer.text(path.stem), findings=tuple(writer.warnings))


@final
class _Writer:
    """Turns a flat model into lines of a bond graph."""

    def __init__(self, file: TwentySimFile, source: str, domains: dict[str, str]) -> None:
        self.file, self.source, self.given = file, source, domains
        self.flat: FlatModel = flatten(file.model, source)
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self.names = GivenNames()
        self.bonds: list[tuple[str, str]] = []
        self.kinds: dict[str, str] = {}
        self.owners: dict[str, Path] = {}
        self.known: dict[str, str] = {}
        self.parameters: dict[str, str] = {}
        self.elements: dict[str, dict[str, str]] = {}
        self.signals: dict[str, object] = {}
        self.inputs: dict[str, str] = {}
        self.read: dict[Path, SidopsEquations] = {}
        self.references: set[int] = set()
        self.variables: dict[str, str] = {}
        self.two_ports: set[str] = set()
        self.pending: list[tuple[str, Path, PortLaw]] = []
        self.item: dict[Path, str] = {}
        self.plugs: dict[PortEnd, str] = {}
        self.node_items: dict[int, str] = {}
        self.shared: dict[str, tuple[Path, DeclaredParameter]] = {}

    # Errors

    def _refuse(self, path: Path, why: str) -> None:
        component = self.flat.components.get(path) or self.flat.composites[path]
        library = f" ({component.library.removesuffix('.emx')})" if component.library else ""
        shown = "\\".join(path) or "the model"
        self.errors.append(
            rules.NOT_READ.finding(
                f"'{shown}'{library} is not read: {why}",
                fix="replace it by elements of bond graphs, or export the model as a functional mock-up unit",
                place=Place(self.source, component.line, 1),
            )
        )

    # The whole

    def text(self, stem: str) -> str:
        """The text of the model file."""
        self._read_equations()
        self._name_components()
        self._find_references()
        for path in self.flat.components:
            try:
                self._component(path)
            except NoLawError as problem:
                self._refuse(path, str(problem))
            except ZeroDivisionError:
                self._refuse(path, "its equations divide by what is zero at rest")
        for wire in self.flat.bonds:
            self._bond(wire.tail, wire.head)
        self._raise()
        regions = self._regions()
        self._raise()
        for name, path, law in self.pending:
            self._law(name, path, law, OUR_DOMAINS[regions[name]])
        for path, component in self.flat.components.items():
            self._signals(path, component)
        self._raise()
        return self._written(stem, regions)

    def _raise(self) -> None:
        if self.errors:
            raise DescriptionError(self.errors[:MOST_FINDINGS])

    def _read_equations(self) -> None:
        for path, component in (*self.flat.components.items(), *self.flat.composites.items()):
            try:
                if component.implementation not in ("eq", "bg", "dv", ""):
                    raise NoLawError(f"its implementation is '{component.implementation}'")
                self.read[path] = read_equations(component)
            except NoLawError as problem:
                self._refuse(path, str(problem))
                continue
            for name, parameter in self.read[path].parameters.items():
                if parameter.shared and parameter.text:
                    self.shared[name] = (path, parameter)
        self._raise()

    def _name_components(self) -> None:
        last: dict[str, int] = {}
        for path in self.flat.components:
            last[path[-1]] = last.get(path[-1], 0) + 1
        for path in self.flat.components:
            name = path[-1] if last[path[-1]] == 1 else "_".join(path)
            self.item[path] = self.names.give(name, "x")
            self.owners[self.item[path]] = path

    # Who is joined to whom

    def _find_references(self) -> None:
        """Grounds and fixed worlds: a component that holds what its one node shares at zero."""
        for path, component in self.flat.components.items():
            powers = [port for port in component.ports.values() if port.domain in DOMAINS]
            if len(powers) != 1 or powers[0].shape != "psi" or component.knot:
                continue
            across = f"{powers[0].name}.{'f' if is_mechanical(powers[0].domain) else 'e'}"
            formula = self.read[path].formulas.get(across)
            if formula is not None and is_zero(formula):
                self.references.add(self.flat.nodes[PortEnd(path, powers[0].name)])

    def _node(self, end: PortEnd) -> str:
        """The junction of a node; empty for a reference."""
        number = self.flat.nodes[end]
        if number in self.references:
            return ""
        if number not in self.node_items:
            port = self.flat.port(end)
            knots = [e.path for e, n in self.flat.nodes.items() if n == number and self._is_node(e.path)]
            name = self.item[knots[0]] if knots else self.names.give(f"n_{len(self.node_items) + 1}", "n")
            self.kinds[name] = "1" if is_mechanical(port.domain) else "0"
            self.node_items[number] = name
        name = self.node_items[number]
        self._tell_domain(name, self.flat.port(end).domain)
        return name

    def _is_node(self, path: Path) -> bool:
        component = self.flat.components.get(path)
        return (
            component is not None and component.knot and any(port.shape == "psi" for port in component.ports.values())
        )

    def _tell_domain(self, item: str, word: str) -> None:
        if word in DOMAINS and DOMAINS[word].name:
            self.known[item] = DOMAINS[word].name

    def _junction(self, kind: str, hint: str) -> str:
        name = self.names.give(hint, "j")
        self.kinds[name] = kind
        return name

    def _component(self, path: Path) -> None:
        """The item of a component, and its bonds to nodes."""
        component, found, name = self.flat.components[path], self.read[path], self.item[path]
        powers = [port for port in component.ports.values() if port.domain != "signal"]
        for port in powers:
            if port.domain not in DOMAINS:
                raise NoLawError(f"its port '{port.name}' is of the domain '{port.domain}'")
            if port.sized:
                raise NoLawError(f"its port '{port.name}' is a vector")
        if not powers or self._is_node(path):
            return
        if found.junction in ("0", "1"):
            self.kinds[name] = found.junction
            self._tell_domain(name, powers[0].domain)
        elif len(powers) == 1:
            end = PortEnd(path, powers[0].name)
            if powers[0].shape == "psi" and self.flat.nodes[end] in self.references:
                return
            self._one_port(path, one_port(found, powers[0].name))
        elif len(powers) == 2:
            first, second = sorted(powers, key=lambda port: port.way != "in")
            if (first.way, second.way) != ("in", "out"):
                raise NoLawError("its two ports do not point through it")
            self._two_port(path, two_port(found, first.name, second.name), (first.name, second.name))
        else:
            raise NoLawError(f"it has {len(powers)} ports")

    def _one_port(self, path: Path, law: PortLaw) -> None:
        component, name = self.flat.components[path], self.item[path]
        port = next(port for port in component.ports.values() if port.domain != "signal")
        if law.letters in ("C", "I") and port.way == "out":
            raise NoLawError("it is a storage that counts power out of it")
        sensor = law.letters in ("Se", "Sf") and is_zero(law.formula)
        # Behind a sensor stands the junction of what it reads.
        kind = (
            {"Se": "1", "Sf": "0"}[law.letters]
            if sensor
            else ("1" if law.more is not None and law.gives == "e" else "0")
        )
        parts = (
            [(name, law)]
            if law.more is None
            else [(name, law._replace(more=None)), (self.names.give(f"{name}_R", "R"), law.more)]
        )
        at = name
        if sensor or law.more is not None:
            at = self._junction(kind, f"{name}_j")
            self.item[path] = at
        for part, one in parts:
            self.owners[part] = path
            if sensor:
                self.kinds[part] = "Df" if one.letters == "Se" else "De"
            else:
                self.kinds[part] = one.letters
            self.pending.append((part, path, one))
            if part != at:
                self.bonds.append((at, part))
        self._tell_domain(at, port.domain)
        self._join_nodes(path, port.name, at, gives=not sensor and law.letters in ("Se", "Sf") and law.more is None)

    def _join_nodes(self, path: Path, port: str, item: str, *, gives: bool) -> None:
        """Bond a component to the node or the nodes of a port of an iconic diagram."""
        shape = self.flat.components[path].ports[port].shape
        if shape == "psi":
            node = self._node(PortEnd(path, port))
            if node:
                self.bonds.append((item, node) if gives else (node, item))
        elif shape == "delta":
            high, low = (self._node(PortEnd(path, port, side)) for side in ("high", "low"))
            domain = self.flat.components[path].ports[port].domain
            between = self._junction("0" if is_mechanical(domain) else "1", f"{self.item[path]}_{port}")
            self._tell_domain(between, domain)
            self.bonds.append((item, between) if gives else (between, item))
            bonds = [(low, between), (between, high)] if gives else [(high, between), (between, low)]
            self.bonds += [bond for bond in bonds if all(bond)]

    def _two_port(self, path: Path, law: TwoPortLaw, ports: tuple[str, str]) -> None:
        name = self.item[path]
        self.kinds[name] = law.letters
        self.two_ports.add(name)
        for port, gives in zip(ports, (False, True), strict=True):
            side = self._junction("0", f"{name}_{port}")
            self.bonds.append((name, side) if gives else (side, name))
            self._tell_domain(side, self.flat.components[path].ports[port].domain)
            self.plugs[PortEnd(path, port)] = side
            self._join_nodes(path, port, side, gives=gives)
        if law.modulus.free_symbols & self._signal_ports(path):
            self.kinds[name] = f"M{law.letters}"
            self.elements.setdefault(name, {})["K"] = self._formula(path, law.modulus)
        else:
            self._own_value(name, path, law.modulus, "")

    def _signal_ports(self, path: Path) -> set[str]:
        return {port.name for port in self.flat.components[path].ports.values() if port.domain == "signal"}

    def _bond(self, tail: PortEnd, head: PortEnd) -> None:
        """A bond between ports of efforts and flows; between two components stands a junction."""
        one, other = self._bonded(tail), self._bonded(head)
        if not one or not other:
            return
        # Which way a component counts its power is told by its port; a junction takes the arrow.
        ways = [self._way(tail), self._way(head)]
        turned = ways[0] == "in" or ways[1] == "out"
        junctions = [self.kinds.get(item) in ("0", "1") for item in (one, other)]
        if turned and not all(junctions) and any(junctions):
            one, other = other, one
        if any(junctions):
            self.bonds.append((one, other))
            return
        between = self._junction("0", f"{one}_{other}")
        for item, way in ((one, ways[0]), (other, ways[1])):
            self.bonds.append((item, between) if way == "out" else (between, item))

    def _bonded(self, end: PortEnd) -> str:
        if end in self.plugs:
            return self.plugs[end]
        if end in self.flat.nodes:
            return self._node(end)
        if end.path in self.flat.components:
            return self.item[end.path]
        # A port of a model inside passes on both variables: a junction of two bonds.
        self.plugs[end] = self._junction("0", "_".join((*end.path, end.port)))
        self._tell_domain(self.plugs[end], self.flat.port(end).domain)
        return self.plugs[end]

    def _way(self, end: PortEnd) -> str:
        """Which way a component counts power at a port, as its item here does: sources give it, all else takes it."""
        if end.path not in self.flat.components or end in self.plugs or end in self.flat.nodes:
            return "none"
        kind = self.kinds.get(self.item[end.path], "")
        return "none" if kind in ("0", "1") else "out" if kind in ("Se", "Sf") else "in"

    # Domains

    def _regions(self) -> dict[str, str]:
        """The domain of each item."""
        near: dict[str, list[str]] = {}
        for one, other in self.bonds:
            if one not in self.two_ports and other not in self.two_ports:
                near.setdefault(one, []).append(other)
                near.setdefault(other, []).append(one)
            else:
                near.setdefault(one, [])
                near.setdefault(other, [])
        for key, word in self.given.items():
            path = tuple(key.split("\\"))
            hit = [
                item for item, owner in self.owners.items() if owner == path or (len(path) == 1 and owner[-1] == key)
            ]
            if not hit:
                known = sorted({owner[-1] for owner in self.owners.values()})
                fix = did_you_mean(key, known) or "name a component by its path"
                raise importing_rules.UNKNOWN_OPTION.error(f"there is no component '{key}'", fix=fix)
            for item in hit:
                self.known.setdefault(item, word)
                self.known.setdefault(self.item[self.owners[item]], word)
        found: dict[str, str] = {}
        for start in (item for item in near if item not in self.two_ports):
            if start in found:
                continue
            region, waiting = {start}, [start]
            while waiting:
                for item in near[waiting.pop()]:
                    if item not in region:
                        region.add(item)
                        waiting.append(item)
            words = {self.known[item] for item in region if item in self.known}
            if len(words) != 1:
                self._tell_region(region, words)
            found |= dict.fromkeys(region, next(iter(words), "electrical"))
        return found | dict.fromkeys((name for name, _, _ in self.pending if name not in found), "electrical")

    def _tell_region(self, region: Iterable[str], words: set[str]) -> None:
        members = ["\\".join(self.owners[item]) for item in region if item in self.owners]
        shown = ", ".join(f"'{member}'" for member in sorted(members)[:6]) or "a port"
        verb = "has" if len(members) < 2 else "have"
        what = f"{shown} would be {' and '.join(sorted(words))} at once" if words else f"{shown} {verb} no domain"
        first = sorted(members)[0] if members else "NAME"
        self.errors.append(
            rules.NO_DOMAIN.finding(
                what, fix=f"say it: --domain-of '{first}=electrical'", place=Place(self.source, 1, 1)
            )
        )

    # Laws and values

    def _law(self, name: str, path: Path, law: PortLaw, domain: Domain) -> None:
        """The law, the value or the course of a component with one port."""
        effort, flow = (domain.power(side).letters[0] for side in (domain.effort, domain.flow))
        port = next(port for port in self.flat.components[path].ports.values() if port.domain != "signal")
        out = port.way == "out"
        if self.kinds[name] in ("De", "Df"):
            self.variables[f"{name}.{'f' if self.kinds[name] == 'Df' else 'e'}"] = name
            return
        if law.letters in ("Se", "Sf"):
            value = -law.formula if law.letters == "Sf" and not out else law.formula
            if value.free_symbols & (self._signal_ports(path) | {"time"}):
                self.kinds[name] = f"M{law.letters}"
                self.elements.setdefault(name, {})["signal"] = self._formula(path, value)
            else:
                self.inputs[name] = self._formula(path, value)
        elif law.letters == "R":
            sign = -1 if out else 1
            by = symbol("given_variable") * sign
            formula = law.formula.substitute({f"{port.name}.{'f' if law.gives == 'e' else 'e'}": by})
            formula = formula if law.gives == "e" else formula * sign
            text = self._formula(path, formula).replace("given_variable", flow if law.gives == "e" else effort)
            self.elements.setdefault(name, {})["law"] = f"{effort if law.gives == 'e' else flow} = {text}"
        else:
            self._own_value(name, path, law.formula, STORAGE_UNITS[domain.name][law.letters == "I"])
            start = self._start(name, path, law, domain)
            if start:
                self.elements.setdefault(name, {})["initial"] = start

    def _own_value(self, name: str, path: Path, formula: Expression, unit: str) -> None:
        """The parameter of an element by its own name, which is that of the component where it is its only factor."""
        declared = self.read[path].parameters.get(str(formula))
        if declared is None or declared.shared or formula is not symbol(str(formula)):
            self.parameters[name] = self._formula(path, formula, unit)
            return
        key = "\\".join((*path, str(formula)))
        self.variables[f"parameter {key}"] = name
        value = self._value(path, self.file.parameters.get(key) or f"{declared.text} {declared.unit}".strip())
        self.parameters[name] = f"{value} {unit}".strip() if _NUMBER.fullmatch(value) else value

    def _start(self, name: str, path: Path, law: PortLaw, domain: Domain) -> str:
        """The initial value of what a storage decides; empty where it is zero."""
        content = domain.energy(domain.effort if law.letters == "C" else domain.flow).unit
        found = self.read[path]
        port = next(port for port in self.flat.components[path].ports.values() if port.domain != "signal")
        prefix = "\\".join(path) + "\\"
        for key, text in self.file.initial.items():
            number = _NUMBER.match(text)
            if not key.startswith(prefix) or number is None or float(number[0]) == 0:
                continue
            variable = key.removeprefix(prefix).removesuffix("_initial")
            base, _, letter = variable.partition(".")
            words = DOMAINS[port.domain]
            if base == port.name and letter in ((*words.effort, "e") if law.letters == "C" else (*words.flow, "f")):
                return number[0]
            formula = found.formulas.get(variable)
            if formula is not None and formula.free_symbols & found.integrals.keys() == {str(formula)}:
                return f"({number[0]} {content})/{name}"
        for _, start in found.integrals.values():
            if start is not None and not is_zero(start):
                return f"({self._formula(path, start)})*(1 {content})/{name}"
        return ""

    def _formula(self, path: Path, formula: Expression, unit: str = "") -> str:
        """A formula with our names for parameters and signals; a bare number gets the unit."""
        changed: dict[str, Expression] = {}
        bare = True
        for name in formula.free_symbols:
            parameter = self._parameter(path, name)
            if parameter is not None:
                changed[name] = symbol(parameter)
                bare &= _NUMBER.fullmatch(self.parameters[parameter]) is not None
            elif name == "time":
                changed[name] = symbol("seconds_now")
            elif name == "sampletime":
                changed[name] = parse(self._period().partition(" ")[0])
            elif name in self._signal_ports(path):
                changed[name] = self._driven(path, name)
            elif name.startswith(PRODUCT) and name.removeprefix(PRODUCT) in self._signal_ports(path):
                changed[name] = self._driven(path, name.removeprefix(PRODUCT), product=True)
        # A formula counts seconds there; here time is a quantity.
        text = to_text(formula.substitute(changed)).replace("seconds_now", "(t/(1 s))")
        return f"{text}*(1 {unit})" if unit and bare and changed else f"{text} {unit}".strip() if bare else text

    def _parameter(self, path: Path, name: str) -> str | None:
        """The name here of a parameter of a component; None where it has none of that name."""
        declared = self.read[path].parameters.get(name)
        owner = path
        if declared is None or (declared.shared and not declared.text):
            if name not in self.shared:
                return None
            owner, declared = self.shared[name]
        own = f"{self.item.get(owner) or '_'.join(owner) or 'model'}_{name}" if not declared.shared else name
        key = "\\".join((*owner, name))
        known = self.variables.get(f"parameter {key}")
        if known is None:
            known = self.variables[f"parameter {key}"] = self.names.give(own, "p")
            self.parameters[known] = self._value(
                owner, self.file.parameters.get(key) or f"{declared.text} {declared.unit}".strip()
            )
        return known

    def _value(self, owner: Path, text: str) -> str:
        number = _NUMBER.match(text)
        unit = text[number.end() :].strip() if number is not None else ""
        if number is not None and re.fullmatch(r"[A-Za-z0-9./*^()-]*", unit) and not re.match(r"[-*/^(]", unit):
            return f"{number[0]} {written_unit(unit)}".strip()
        try:
            return self._formula(owner, parse(re.sub(r"\s[A-Za-z][\w./]*$", "", text)))
        except TellegenError:
            self._refuse(owner, f"the value '{text[:40]}' of a parameter cannot be read")
            return "0"

    # Signals

    def _driven(self, path: Path, port: str, *, product: bool = False) -> Expression:
        """What a signal port is given: the sum, or the product, of all that lead to it."""
        given: Expression = ONE if product else ZERO
        for end in self.flat.sources(PortEnd(path, port)):
            name = symbol(self._signal_name(end))
            given = given * name if product else given + name
        return given

    def _signal_name(self, end: PortEnd) -> str:
        key = f"signal {end.path} {end.port}"
        if key not in self.variables:
            outs = [
                port
                for port in self.flat.components[end.path].ports.values()
                if port.domain == "signal" and port.way == "out"
            ]
            powers = any(port.domain != "signal" for port in self.flat.components[end.path].ports.values())
            base = "_".join(end.path) if end.path not in self.item else self.item[end.path]
            name = base if len(outs) == 1 and not powers else f"{base}_{end.port}"
            self.variables[key] = name if name == base else self.names.give(name, "s")
        return self.variables[key]

    def _signals(self, path: Path, component: Submodel) -> None:
        """The signals that a component gives to others."""
        wanted = {end.port for heads in self.flat.drivers.values() for end in heads if end.path == path}
        for port in component.ports.values():
            if port.domain != "signal" or port.way != "out" or port.name not in wanted:
                continue
            if port.sized and port.name in wanted:
                self._refuse(path, f"its port '{port.name}' is a vector")
                continue
            try:
                self._signal(path, component, port.name)
            except NoLawError as problem:
                self._refuse(path, str(problem))

    def _signal(self, path: Path, component: Submodel, port: str) -> None:
        found, name = self.read[path], self._signal_name(PortEnd(path, port))
        power = self._power_names(path)
        formula = signal_formula(found, port, power)
        if found.junction in ("0", "1") and not formula.free_symbols - power:
            self.variables.setdefault(f"{self.item[path]}.shared", self.names.give(f"{name}_", "v"))
            self.signals[name] = self.variables[f"{self.item[path]}.shared"]
            return
        if formula.free_symbols & found.slopes.keys():
            raise NoLawError("it takes a derivative")
        changed = {one: self._power_variable(path, one) for one in formula.free_symbols & power}
        changed |= self._kept(path, formula, name)
        if name not in self.signals:
            self.signals[name] = self._formula(path, formula.substitute(changed))

    def _kept(self, path: Path, formula: Expression, asked: str) -> dict[str, Expression]:
        """The signals of the integrals and samples that a formula reads."""
        found = self.read[path]
        changed = {one: self._integral(path, one, asked) for one in formula.free_symbols & found.integrals.keys()}
        changed |= {one: self._sample(path, one, asked) for one in formula.free_symbols & found.samples.keys()}
        return changed

    def _sample(self, path: Path, memory: str, asked: str) -> Expression:
        """The signal of what a component samples. Samples of one instant read what was before it, which for the value of the sample
        before is that value."""
        key = f"sample {path} {memory}"
        if key in self.variables:
            return symbol(self.variables[key])
        found = self.read[path]
        name = self.variables[key] = self.names.give(f"{asked}_sample", "s")
        value = found.samples[memory]
        inner = in_terms_of(found, value.inner)
        power = self._power_names(path)
        if inner.free_symbols & found.slopes.keys():
            raise NoLawError("it takes a derivative")
        changed = {one: self._power_variable(path, one) for one in inner.free_symbols & power}
        changed |= self._kept(path, inner, asked)
        variable = next((one for one, e in found.formulas.items() if e is symbol(memory)), "")
        line: dict[str, object] = {"sample": self._formula(path, inner.substitute(changed)), "every": self._period()}
        line |= {"offset": self._period()} if value.before else {}
        self.signals[name] = line | self._initial(path, variable, value.start)
        return symbol(name)

    def _period(self) -> str:
        """How often samples are taken."""
        periods = self.file.periods
        if len(periods) != 1 or not _NUMBER.fullmatch(periods[0]) or float(periods[0]) <= 0:
            told = "no experiment tells how often" if not periods else "not all of them equally often"
            raise NoLawError(f"it takes samples, and {told}")
        return f"{periods[0]} s"

    def _power_names(self, path: Path) -> set[str]:
        ports = self.flat.components[path].ports.values()
        return {f"{port.name}.{x}" for port in ports if port.domain != "signal" for x in "ef"}

    def _integral(self, path: Path, memory: str, asked: str) -> Expression:
        """The signal of an integral of a component, written once; the signal `asked` reads it, or another integral."""
        key = f"integral {path} {memory}"
        if key in self.variables:
            return symbol(self.variables[key])
        found, ports = self.read[path], self.flat.components[path].ports
        variable = next((name for name, e in found.formulas.items() if e is symbol(memory)), "")
        if variable in ports and ports[variable].way == "out":
            name = self._signal_name(PortEnd(path, variable))
        else:
            name = self.names.give(f"{asked}_integral", "s")
        # Named before it is read: integrals may stand in each other.
        self.variables[key] = name
        inner = in_terms_of(found, found.integrals[memory][0])
        if inner.free_symbols & found.slopes.keys():
            raise NoLawError("it takes a derivative")
        power = self._power_names(path)
        changed = {one: self._power_variable(path, one) for one in inner.free_symbols & power}
        changed |= self._kept(path, inner, asked)
        start = self._initial(path, variable, found.integrals[memory][1])
        self.signals[name] = {"integral": self._formula(path, inner.substitute(changed)), **start}
        return symbol(name)

    def _initial(self, path: Path, variable: str, start: Expression | None) -> dict[str, str]:
        kept = self.file.initial.get("\\".join((*path, f"{variable}_initial")), "") if variable else ""
        number = _NUMBER.match(kept)
        if number is not None and float(number[0]):
            return {"initial": number[0]}
        return {"initial": self._formula(path, start)} if start is not None and not is_zero(start) else {}

    def _power_variable(self, path: Path, variable: str) -> Expression:
        """The name of the effort or flow of a component, given to it where nothing has read it before."""
        items = [item for item, owner in self.owners.items() if owner == path and item in self.kinds]
        letter = variable[-1]
        key = f"{items[-1] if items else ''}.{letter}"
        if items and key in self.variables:
            return symbol(self.variables[key])
        if len(items) != 1 or self.kinds[items[0]].startswith(("TF", "GY", "M", "0", "1")):
            raise NoLawError("a signal reads its effort or flow, which has no name here")
        name = self.variables[key] = self.names.give(f"{letter}_{items[0]}", "v")
        self.elements.setdefault(items[0], {})[f"{letter} of {items[0]}"] = name
        return symbol(name)

    # The text

    def _written(self, stem: str, regions: dict[str, str]) -> str:
        told: set[str] = set()
        open_ports = [
            end for end, item in self.plugs.items() if not end.path and sum(item in bond for bond in self.bonds) < 2
        ]
        if open_ports:
            shown = ", ".join(f"'{end.port}'" for end in open_ports)
            what = f"the model is a part of another one: its ports {shown} are joined to nothing"
            raise rules.WRONG_FILE.error(what, fix="import the whole model", place=Place(self.source, 1, 1))
        lines = [f"  - {self._shown(a, regions, told)} -> {self._shown(b, regions, told)}\n" for a, b in self.bonds]
        if not lines and not self.signals:
            what = f"there is nothing in '{self.source}' that takes part in power or signals"
            raise rules.WRONG_FILE.error(what, fix="save the whole model", place=Place(self.source, 1, 1))
        parts = [f"system: {sentence_text(stem)}\n", _section("parameters", self.parameters)]
        parts.append(_section("signals", {key: tree_text(value) for key, value in self.signals.items()}, plain=True))
        if lines:
            parts.append("bond graph:\n" + "".join(lines))
        elements = {
            name: self._keys(keys, OUR_DOMAINS[regions.get(name, "electrical")]) for name, keys in self.elements.items()
        }
        parts.append(_section("elements", {name: tree_text(keys) for name, keys in elements.items()}, plain=True))
        experiment: dict[str, object] = {}
        if _NUMBER.fullmatch(self.file.until) and float(self.file.until) > 0:
            experiment["until"] = f"{self.file.until} s"
        if self.inputs:
            experiment["inputs"] = self.inputs
        parts.append(_section("experiment", {key: tree_text(value) for key, value in experiment.items()}, plain=True))
        return "\n".join(part for part in parts if part)

    def _keys(self, keys: dict[str, str], domain: Domain) -> dict[str, str]:
        """The keys of an element; its effort and flow by the words of its domain."""
        words = {"e": domain.power(domain.effort).word, "f": domain.power(domain.flow).word}
        return {words[key[0]] if " of " in key else key: value for key, value in keys.items()}

    def _shown(self, item: str, regions: dict[str, str], told: set[str]) -> str:
        if item in told:
            return item
        told.add(item)
        if item not in self.kinds:
            what = f"a bond ends at '{item}', which has no port of power"
            raise rules.WRONG_FILE.error(what, fix="save the whole model", place=Place(self.source, 1, 1))
        kind = self.kinds[item]
        if kind not in ("0", "1"):
            return f"{kind}:{item}"
        variable = self.variables.get(f"{item}.shared")
        return f"{kind}:{item} ({', '.join(filter(None, (variable, regions[item])))})"


def _section(name: str, lines: dict[str, str], *, plain: bool = False) -> str:
    if not lines:
        return ""
    return f"{name}:\n" + "".join(f"  {key}: {text if plain else quoted(text)}\n" for key, text in lines.items())
