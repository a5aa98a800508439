"""The names of a netlist made different: those of parameters first, then those of variables.

Elements that name one parameter share it. A variable has a name of its own, so a second one of the same name gets a number.
"""

import math
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import final

from tellegen.core.domains import Side
from tellegen.description.model import Parameter
from tellegen.description.netlists import rules
from tellegen.description.netlists.lines import Branch, Label
from tellegen.description.netlists.reading import LineReader
from tellegen.elements import ElementKind
from tellegen.expressions import RESERVED_WORDS

KEY_OF_SIDE: Mapping[Side, str] = MappingProxyType({"across": "En", "through": "Fn"})
_SIDE_OF_KEY: Mapping[str, Side] = MappingProxyType({"En": "across", "Fn": "through"})
_BLOCK_VARIABLES: Mapping[str, str] = MappingProxyType(
    {"En1": "across_1", "En2": "across_2", "Fn1": "through_1", "Fn2": "through_2"}
)


@final
class Namespace:
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
        base, k = name.rstrip("_"), self._next.get(name, 2)
        while f"{base}_{k}" in self.taken or f"{base}_{k}" in self.labels:
            k += 1
        self._next[name] = k + 1
        return f"{base}_{k}"


def automatic_name(branch: Branch) -> str:
    """The name that POG_Modeler gives by itself: the letter of the code and the number of the element, from 1."""
    return f"{branch.kind.netlist[1:] or 'K' if branch.kind else 'K'}{branch.ordinal}"


_Wanted = tuple[int, str, str, Label]
"""A name wanted: the number of the branch, the option that gives the name, the variable, and the name."""


@final
class Naming:
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
        names = Namespace(self.labels, RESERVED_WORDS)
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

    def _legal(self, names: Namespace, label: Label, branch: Branch) -> str:
        name = names.give(label.name)
        if name != label.name:
            self._suffixed(label, name, "is a word of formulas", branch)
        return name

    def _define(self, name: str, label: Label | None, branch: Branch) -> None:
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

    def _report_two_values(self, known: Parameter, label: Label, branch: Branch) -> None:
        name = known.name
        line = known.place.line if known.place else 0
        what = f"'{name}' is {self.sizes[name]:g} at line {line} and {label.size:g} here"
        fix = "give the two parameters different names, or the same value"
        self.findings.error(rules.TWO_VALUES, what, branch.line, label.field, fix=fix, members=[name])

    # Variables

    def _name_variables(self) -> None:
        """Inputs and the outputs of storages have the first right to a name, in the order of lines; then all others."""
        names = Namespace(self.labels, {*self.parameters, *RESERVED_WORDS})
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

    def _name_own_variable(self, names: Namespace, k: int, kind: ElementKind, rest: list[_Wanted]) -> None:
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

    def _name_variable(self, names: Namespace, k: int, variable: str, label: Label) -> None:
        if not label.name:
            return
        name = names.give(label.name)
        if name != label.name:
            reason = "names something else already" if label.name not in self.parameters else "is a parameter"
            self._suffixed(label, name, reason, self.branches[k])
        self.variables[k][variable] = name

    def _suffixed(self, label: Label, name: str, reason: str, branch: Branch) -> None:
        what = f"'{label.name}' {reason}: here it is called '{name}'"
        fix = f"write '{name}', or another name"
        self.findings.notice(rules.SUFFIXED, what, branch.line, label.field, fix=fix, members=[name])

    def _report_value_ignored(self, branch: Branch, key: str, label: Label) -> None:
        kind = branch.kind
        if kind is not None and kind.role in ("storage", "source"):
            right = KEY_OF_SIDE[kind.side]
            fix = f"give the value to the {kind.domain.power(kind.side).word}, after {right}"
            owner = kind.name
        else:
            fix, owner = "remove the value", kind.name if kind else "connection block"
        what = f"the value {label.size:g} after {key[:2]} has no effect on this {owner}"
        self.findings.notice(rules.VALUE_IGNORED, what, branch.line, label.field, fix=fix)
