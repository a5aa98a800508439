"""Branches to elements: what each line says, checked against physics and written with the signs and names of a model."""

import math
from typing import final

from tellegen.core.domains import Side, other_side
from tellegen.description import rules as model_rules
from tellegen.description.model import NOTHING, Element, Experiment, Model
from tellegen.description.netlists import rules
from tellegen.description.netlists.geometry import sketch_of
from tellegen.description.netlists.lines import Branch
from tellegen.description.netlists.naming import KEY_OF_SIDE, Namespace, Naming, automatic_name
from tellegen.description.netlists.nodes import find_nodes
from tellegen.description.netlists.reading import LineReader
from tellegen.description.signals.values import Signal
from tellegen.elements import ElementKind
from tellegen.expressions import Expression, symbol

_ABOUT = "Read from a POG_Modeler netlist."


@final
class ModelBuilder:
    """Makes the model of lines that were read."""

    def __init__(self, reader: LineReader, title: str) -> None:
        self.reader = reader
        self.title = title
        self.findings = reader.findings
        self.branches = reader.branches
        self.nodes = find_nodes(reader)
        self.names = Naming(reader)

    def build(self) -> Model:
        """The model; raises every error found on the way."""
        self._check_branches()
        self.findings.raise_errors()
        elements = self._elements()
        experiment = self._experiment(elements)
        notices = self.findings.all_notices()
        sketch = sketch_of(self.reader, elements, self.nodes)
        return Model(
            self.title, elements, self.names.parameters, experiment, notices, self.findings.file, _ABOUT, sketch=sketch
        )

    # Checks

    def _check_branches(self) -> None:
        nodes, sizes = self.nodes, self.names.sizes
        for branch, parameter in zip(self.branches, self.names.parameter_of, strict=True):
            points = branch.points
            if nodes[points[0]] == nodes[points[1]] or (len(points) == 4 and nodes[points[2]] == nodes[points[3]]):
                self._report_short(branch)
            if parameter:
                if not sizes[parameter] > 0:
                    self._check_size(branch, parameter, sizes[parameter])
            elif branch.relation is not None:
                self._check_size(branch, "", branch.relation.modulus.size)

    def _report_short(self, branch: Branch) -> None:
        one, two = next(side for side in branch.sides() if self.nodes[side[0]] == self.nodes[side[1]])
        same, joined = f"both ends are the point '{one}'", f"its ends '{one}' and '{two}' are joined by '--' lines"
        what = f"the element is shorted: {same if one == two else joined}"
        self.findings.error(rules.SHORTED, what, branch.line, fix="remove it, or change a point")

    def _check_size(self, branch: Branch, name: str, size: float) -> None:
        """Physics of the value; a symbol has none (nan) and passes."""
        kind = branch.kind
        if kind is None or size > 0 or math.isnan(size):
            return
        findings, line = self.findings, branch.line
        what = f"the value of this {kind.name}, '{name}', is {size:g}"
        if kind.role == "storage":
            rule = model_rules.NEGATIVE_STORAGE if size < 0 else model_rules.EMPTY_STORAGE
            findings.error(rule, what, line, fix="give a positive value")
        elif kind.role == "coupling":
            if size == 0:
                findings.error(model_rules.NO_PASSAGE, "the modulus is zero", line, fix="give another value")
        elif size < 0:
            findings.notice(model_rules.ACTIVE_ELEMENT, what, line, fix="check the sign of the value")

    # Elements

    def _elements(self) -> tuple[Element, ...]:
        taken = Namespace(self.names.labels)
        elements = []
        rows = zip(self.branches, self.names.parameter_of, self.names.variables, strict=True)
        for branch, parameter, variables in rows:
            kind = branch.kind
            assert kind is not None, "every branch has its kind once errors are raised"
            wanted = variables[kind.side] if kind.role == "source" else parameter or automatic_name(branch)
            name = taken.give(wanted)
            if name != wanted and kind.role != "source":
                self._report_shared(branch, parameter, name)
            elements.append(self._element(branch, kind, name, parameter, variables))
        return tuple(elements)

    def _report_shared(self, branch: Branch, parameter: str, name: str) -> None:
        what = f"the parameter '{parameter}' stands for another element too: this one is called '{name}'"
        fix = "give each element a parameter of its own, if they may differ"
        self.findings.notice(rules.SHARED_PARAMETER, what, branch.line, fix=fix, members=[name])

    def _element(
        self, branch: Branch, kind: ElementKind, name: str, parameter: str, variables: dict[str, str]
    ) -> Element:
        ends = self._ends(branch, kind)
        if ends != branch.points:
            branch.note("points", ", ".join(branch.points))
        prefer = branch.out
        if branch.pin is not None or prefer is not None:
            prefer = self._check_options(branch, kind)
        value: Expression | None = symbol(parameter) if parameter else None
        if branch.relation is not None and not parameter:
            value = branch.relation.modulus.value
        return Element(
            name,
            kind,
            ends,
            value,
            None,
            variables or NOTHING,
            self._initial(branch, kind) if kind.role == "storage" else None,
            prefer,
            prefer is not None,
            branch.place,
            branch.notes or NOTHING,
        )

    def _ends(self, branch: Branch, kind: ElementKind) -> tuple[str, ...]:
        """The nodes of an element, in the order in which its variables are counted."""
        nodes, points = self.nodes, branch.points
        if len(points) != 2:
            return tuple([nodes[point] for point in points])
        first, second = nodes[points[0]], nodes[points[1]]
        return (second, first) if _is_turned(branch, kind) else (first, second)

    def _initial(self, branch: Branch, kind: ElementKind) -> Expression | None:
        key = KEY_OF_SIDE[kind.side]
        label = branch.labels.get(key)
        if label is not None and label.value is not None:
            return label.value
        return self.reader.default(f"{key}0", branch)[0]

    def _check_options(self, branch: Branch, kind: ElementKind) -> Side | None:
        """Say what Pin and Out do here; gives the output variable demanded."""
        findings, line = self.findings, branch.line
        if branch.pin == 1 and kind.role == "source":
            output = kind.domain.power(other_side(kind.side)).word
            what = f"Pin, 1 on a source: its output, the {output}, has the other sign than in POG_Modeler"
            fix = "read the output as what gives, times the input, the power supplied"
            findings.notice(rules.OUTPUT_SIGN, what, line, fix=fix)
        elif branch.pin == -1 and kind.role in ("storage", "resistive"):
            turned = kind.domain.power("across" if _is_turned(branch, kind) else "through").word
            what = f"Pin, -1 on this {kind.name}: its {turned} is counted the other way, so that power enters"
            findings.notice(rules.REVERSED, what, line, fix="remove Pin")
        elif branch.pin is not None and kind.role == "coupling":
            findings.notice(rules.NO_EFFECT, "Pin says nothing about a connection block", line, fix="remove it")
        if branch.out is not None and kind.role in ("source", "coupling"):
            findings.notice(rules.NO_EFFECT, f"Out says nothing about a {kind.name}", line, fix="remove it")
            return None
        return branch.out

    # The experiment

    def _experiment(self, elements: tuple[Element, ...]) -> Experiment:
        inputs = {}
        for branch, element in zip(self.branches, elements, strict=True):
            if element.kind.role == "source" and (signal := self._signal(branch, element.kind)) is not None:
                inputs[element.variables[element.kind.side]] = signal
        until, seconds = self.reader.value_of("sTfin")
        return Experiment(until=until if seconds > 0 else None, inputs=inputs)

    def _signal(self, branch: Branch, kind: ElementKind) -> Signal | None:
        label = branch.labels.get(KEY_OF_SIDE[kind.side])
        value, size = (label.value, label.size) if label is not None else (None, math.nan)
        if value is None:
            value, size = self.reader.default("In0", branch)
        return None if value is None else Signal("constant", (value,), f"{size:.15g}")


def _is_turned(branch: Branch, kind: ElementKind) -> bool:
    """Whether the through variable that the element decides runs from its second point to its first.

    Our through sources drive from their first node to their second, while here the flow leaves at the first point.
    """
    if kind.side == "across":
        return False
    return branch.pin != 1 if kind.role == "source" else branch.pin == -1 and kind.role == "storage"
