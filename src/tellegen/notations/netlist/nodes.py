"""Points of a netlist as nodes with a domain, and its names made different: those of parameters first, then those of variables.

Elements that name one parameter share it. A variable has a name of its own, so a second one of the same name gets a number.

A connection block may join any two domains, so its kind is known only here.
"""

import functools
import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import final

from tellegen.core.domains import DOMAINS, REFERENCES, Side
from tellegen.core.names import is_name, numbered
from tellegen.core.union_find import UnionFind
from tellegen.elements import ElementKind, connection
from tellegen.expressions import RESERVED_WORDS
from tellegen.model.model import Parameter
from tellegen.notations.netlist import rules
from tellegen.notations.netlist.lines import NetlistBranch, NetlistFindings, NetlistLabel, NetlistWire
from tellegen.notations.netlist.reading import LineReader

KEY_OF_SIDE: Mapping[Side, str] = MappingProxyType({"across": "En", "through": "Fn"})
_SIDE_OF_KEY: Mapping[str, Side] = MappingProxyType({"En": "across", "Fn": "through"})
_BLOCK_VARIABLES: Mapping[str, str] = MappingProxyType(
    {"En1": "across_1", "En2": "across_2", "Fn1": "through_1", "Fn2": "through_2"}
)


_connection = functools.cache(connection)
"""One kind for all blocks that are alike; there are few domains, so few are kept."""


@final
class NetlistNames:
    """Hands out names, each once: a name that is taken gets the next free number, and never one that the file uses."""

    def __init__(self, labels: set[str], taken: Iterable[str] = ()) -> None:
        self.labels = labels
        self.taken = set(taken)
        self._next: dict[str, int] = {}

    def give(self, name: str) -> str:
        """The name itself where it is free, else with a number."""
        if name in self.taken:
            name = self._numbered(name)
        self.taken.add(name)
        return name

    def invent(self, name: str) -> str:
        """A name that the file does not use: this one, or with a number."""
        return self.give(self._numbered(name) if name in self.labels else name)

    def _numbered(self, name: str) -> str:
        # `x_` would become `x__2`, and no name has two underscores in a row.
        base, k = name.rstrip("_"), self._next.get(name, 2)
        while f"{base}_{k}" in self.taken or f"{base}_{k}" in self.labels:
            k += 1
        self._next[name] = k + 1
        return f"{base}_{k}"


def automatic_name(branch: NetlistBranch) -> str:
    """The name that POG_Modeler gives by itself: the letter of the code and the number of the element, from 1."""
    return f"{branch.kind.netlist[1:] or 'K' if branch.kind else 'K'}{branch.ordinal}"


_Wanted = tuple[int, str, str, NetlistLabel]
"""A name wanted: the number of the branch, the option that gives the name, the variable, and the name."""


@final
class NameAssignment:
    """The names of all branches: `parameter_of` and `variables` have an entry for each, `parameters` and `sizes` are by name.

    The parameter of a source, and of a connection block with a number for a modulus, is the empty text. The size of a
    parameter that is a symbol is nan.
    """

    def __init__(self, reader: LineReader) -> None:
        self.reader = reader
        self.findings = reader.findings
        self.branches = reader.branches
        self.labels = {label.name for branch in self.branches for label in branch.labels.values()}
        self.labels.update(branch.relation.modulus.name for branch in self.branches if branch.relation)
        self.parameters: dict[str, Parameter] = {}
        self.sizes: dict[str, float] = {}
        self.parameter_of: list[str] = []
        self.variables: list[dict[str, str]] = [{} for _ in self.branches]
        self._name_parameters()
        self._name_variables()

    # Parameters

    def _name_parameters(self) -> None:
        # Parameters get their names first: they stand in tables and papers, variables can be told apart by a number.
        names = NetlistNames(self.labels, RESERVED_WORDS)
        legal: dict[str, str] = {}
        for branch in self.branches:
            label = branch.relation.modulus if branch.relation else branch.labels.get("Kn")
            name = ""
            if branch.kind is None or branch.kind.role == "source" or (branch.relation and label and not label.name):
                pass  # a source has no parameter, and a modulus may be a number
            elif label is None or not label.name:
                name = names.invent(automatic_name(branch))
            else:
                name = legal.get(label.name, "")
                if not name:
                    name = legal[label.name] = self._legal(names, label, branch)
            self.parameter_of.append(name)
            if name:
                self._define(name, label, branch)

    def _legal(self, names: NetlistNames, label: NetlistLabel, branch: NetlistBranch) -> str:
        name = names.give(label.name)
        if name != label.name:
            self._suffixed(label, name, "is a word of formulas", branch)
        return name

    def _define(self, name: str, label: NetlistLabel | None, branch: NetlistBranch) -> None:
        value, size = (label.value, label.size) if label else (None, math.nan)
        if value is None:
            value, size = self.reader.default("Kn0", branch)
        known = self.parameters.get(name)
        if known is None or known.expression is None:
            if known is None or value is not None:
                self.parameters[name] = Parameter(name, value, place=branch.place)
                self.sizes[name] = size
        elif label is not None and label.value is not None and self.sizes[name] != size:
            self._report_two_values(known, label, branch)

    def _report_two_values(self, known: Parameter, label: NetlistLabel, branch: NetlistBranch) -> None:
        name = known.name
        line = known.place.line if known.place else 0
        what = f"'{name}' is {self.sizes[name]:g} at line {line} and {label.size:g} here"
        fix = "give the two parameters different names, or the same value"
        self.findings.error(rules.TWO_VALUES, what, branch.line, label.field, fix=fix, members=[name])

    # Variables

    def _name_variables(self) -> None:
        """Inputs and the outputs of storages have the first right to a name, in the order of lines; then all others."""
        names = NetlistNames(self.labels, {*self.parameters, *RESERVED_WORDS})
        rest: list[_Wanted] = []
        for k, branch in enumerate(self.branches):
            if branch.relation is not None or branch.kind is None:
                rest += [(k, key, _BLOCK_VARIABLES[key], label) for key, label in branch.labels.items()]
            else:
                self._name_own_variable(names, k, branch.kind, rest)
        for k, key, variable, label in rest:
            self._name_variable(names, k, variable, label)
            if label.value is not None:
                self._report_value_ignored(self.branches[k], key, label)

    def _name_own_variable(self, names: NetlistNames, k: int, kind: ElementKind, rest: list[_Wanted]) -> None:
        """Name the variable that an element decides; what else it names is put off, into `rest`."""
        labels = self.branches[k].labels
        own = KEY_OF_SIDE[kind.side] if kind.role in ("storage", "source") else ""
        if kind.role == "source" and not (own in labels and labels[own].name):
            self.variables[k][kind.side] = names.invent(automatic_name(self.branches[k]))
        for key, label in labels.items():
            if key == own:
                self._name_variable(names, k, kind.side, label)
            elif key in _SIDE_OF_KEY:
                rest.append((k, key, _SIDE_OF_KEY[key], label))
            elif key == "Qn" and kind.role == "storage":
                rest.append((k, key, "energy", label))
            elif key == "Qn" or kind.role == "source":
                what = f"'{key}' says nothing about this {kind.name}"
                self.findings.notice(rules.NO_EFFECT, what, self.branches[k].line, label.field - 1, fix="remove it")

    def _name_variable(self, names: NetlistNames, k: int, variable: str, label: NetlistLabel) -> None:
        if not label.name:
            return
        name = names.give(label.name)
        if name != label.name:
            reason = "names something else already" if label.name not in self.parameters else "is a parameter"
            self._suffixed(label, name, reason, self.branches[k])
        self.variables[k][variable] = name

    def _suffixed(self, label: NetlistLabel, name: str, reason: str, branch: NetlistBranch) -> None:
        what = f"'{label.name}' {reason}: here it is called '{name}'"
        fix = f"write '{name}', or another name"
        self.findings.notice(rules.SUFFIXED, what, branch.line, label.field, fix=fix, members=[name])

    def _report_value_ignored(self, branch: NetlistBranch, key: str, label: NetlistLabel) -> None:
        kind = branch.kind
        if kind is not None and kind.role in ("storage", "source"):
            right = KEY_OF_SIDE[kind.side]
            fix = f"give the value to the {kind.domain.power(kind.side).word}, after {right}"
            owner = kind.name
        else:
            fix, owner = "remove the value", kind.name if kind else "connection block"
        what = f"the value {label.size:g} after {key[:2]} has no effect on this {owner}"
        self.findings.notice(rules.VALUE_IGNORED, what, branch.line, label.field, fix=fix)


def find_nodes(reader: LineReader) -> dict[str, str]:
    """The node of each point; connection blocks get their kinds on the way."""
    nodes = _joined_points(reader.points, reader.wires)
    domain_of = _domains(reader.branches, nodes)
    _find_connection_kinds(reader, nodes, domain_of)
    _rename_references(reader, nodes, domain_of)
    _name_the_frame(reader.branches, nodes)
    _name_for_files(nodes)
    return nodes


def _name_for_files(nodes: dict[str, str]) -> None:
    """Give nodes names that a model file can say: points of a netlist may be called by any word, such as `7x`."""
    free = numbered("n", set(nodes.values()))
    found = dict.fromkeys(nodes.values())
    new = {node: next(free) for node in found if not (is_name(node) or (node.isascii() and node.isdigit()))}
    for point, node in nodes.items():
        nodes[point] = new.get(node, node)


def _joined_points(order: dict[str, int], wires: list[NetlistWire]) -> dict[str, str]:
    """The node of each point: the first label met of those that wires join."""
    # Wires may come in any order and number; the first label that was met stays the name of the node.
    groups = UnionFind(len(order))
    labels = sorted(order, key=order.__getitem__)
    number = {label: k for k, label in enumerate(labels)}
    for wire in wires:
        groups.join(number[wire.points[0]], number[wire.points[1]])
    first: dict[int, str] = {}
    for k, label in enumerate(labels):
        first.setdefault(groups.find(k), label)
    return {label: first[groups.find(number[label])] for label in order}


def _domains(branches: list[NetlistBranch], nodes: dict[str, str]) -> dict[str, str]:
    """The domain of each node: that of its elements, and the same at both ends of a side of a connection block."""
    blocks = [branch for branch in branches if branch.relation is not None]
    if not blocks and not REFERENCES.intersection(nodes.values()):
        return {}  # nobody asks
    found: dict[str, str] = {}
    for branch in branches:
        if branch.kind is not None:
            for point in branch.points:
                found.setdefault(nodes[point], branch.kind.domains[0])
    _spread(found, [(nodes[top], nodes[bottom]) for block in blocks for top, bottom in block.sides()])
    return found


def _spread(domain_of: dict[str, str], sides: list[tuple[str, str]]) -> None:
    """Carry domains along the sides of connection blocks: both points of a side belong to one domain."""
    neighbours: dict[str, list[str]] = {}
    for top, bottom in sides:
        neighbours.setdefault(top, []).append(bottom)
        neighbours.setdefault(bottom, []).append(top)
    known = [node for node in neighbours if node in domain_of]
    while known:
        node = known.pop()
        for other in neighbours[node]:
            if other not in domain_of:
                domain_of[other] = domain_of[node]
                known.append(other)


# Connection blocks


def _find_connection_kinds(reader: LineReader, nodes: dict[str, str], domain_of: dict[str, str]) -> None:
    was_faultless = not reader.findings.errors  # a line that was refused could have said the domain
    for branch in reader.branches:
        relation = branch.relation
        if relation is None:
            continue
        domains = [domain_of.get(nodes[top]) for top, _ in branch.sides()]
        if domains[0] is not None and domains[1] is not None:
            ends = domains[0], domains[1]
            branch.kind = _connection(ends, relation.coupling, reciprocal=relation.reciprocal)
        elif was_faultless:
            _report_no_domain(reader.findings, branch, domains.index(None))


def _report_no_domain(findings: NetlistFindings, branch: NetlistBranch, side: int) -> None:
    top, bottom = branch.sides()[side]
    what = f"no element stands at the points '{top}' and '{bottom}' of side {side + 1}: its domain is unknown"
    fix = f"join an element to the point '{top}', such as 'rJ, {top}, {bottom}'"
    findings.error(rules.NO_DOMAIN, what, branch.line, fix=fix)


# Words that mean the reference of a domain


def _rename_references(reader: LineReader, nodes: dict[str, str], domain_of: dict[str, str]) -> None:
    names = NetlistNames(set(nodes), nodes)
    # A point may be labelled `gnd` in a circuit of pipes: there the word would join it to the electrical ground.
    for word in sorted(REFERENCES.intersection(nodes.values())):
        domain = domain_of.get(word)
        if domain is None or DOMAINS[domain].reference == word:
            continue
        name = names.give(word)
        line = next(b.line for b in reader.branches if word in map(nodes.__getitem__, b.points))
        what = f"the {domain} point '{word}' is called '{name}': '{word}' is the reference of another domain"
        reader.findings.notice(rules.POINT_RENAMED, what, line, fix="give the point another label")
        for label, node in nodes.items():
            if node == word:
                nodes[label] = name


def _name_the_frame(branches: list[NetlistBranch], nodes: dict[str, str]) -> None:
    """Masses and inertias move against the frame: the node that all of a part have behind them is called so."""
    grounded = [b for b in branches if b.kind is not None and b.kind.grounded]
    if not grounded:
        return
    parts = _parts(branches, nodes)
    behind: dict[tuple[int, str], set[str]] = {}
    for branch in grounded:
        assert branch.kind is not None, "grounded branches have a kind"
        node = nodes[branch.points[1]]
        behind.setdefault((parts[node], branch.kind.domains[0]), set()).add(node)
    # Where masses of one part have different nodes behind them, none can be the frame; they are told as wrong later.
    frames = {next(iter(found)) for found in behind.values() if len(found) == 1}
    for label, node in nodes.items():
        if node in frames:
            nodes[label] = "frame"


def _parts(branches: list[NetlistBranch], nodes: dict[str, str]) -> dict[str, int]:
    """A number for each node: the same for all that branches join without crossing a connection block."""
    number = {node: k for k, node in enumerate(dict.fromkeys(nodes.values()))}
    groups = UnionFind(len(number))
    for branch in branches:
        for top, bottom in branch.sides():
            groups.join(number[nodes[top]], number[nodes[bottom]])
    return {node: groups.find(k) for node, k in number.items()}
