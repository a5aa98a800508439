"""A model as a file that a person would have written: one line per element, values with units."""

from collections.abc import Iterable, Mapping

from tellegen.core.names import named_after
from tellegen.core.units import Dimension
from tellegen.description.closures import closure_texts, closures_of
from tellegen.description.element_lines import ElementLines
from tellegen.description.model import Experiment, Model
from tellegen.description.parts.writing import KeptParts, kept_parts, part_keys, port_texts
from tellegen.description.signals.blocks import FORMULA
from tellegen.description.signals.values import SignalDefinition
from tellegen.description.signals.writing import signal_keys
from tellegen.description.variables import state_variables
from tellegen.description.yaml_texts import line_text, list_text, mapping_text, nested_text, quoted, sentence, tree_text
from tellegen.expressions import (
    to_text,
)

NOTHING: Mapping[str, str] = {}

WIDEST = 24
"""Names are padded to the longest, but not beyond this."""


def to_yaml(model: Model) -> str:
    """The text of a file that `read_model` turns into the same model (comments and places aside)."""
    writer = _Writer(model, kept_parts(model))
    structure = [writer.parts(), writer.network()]
    described = structure if writer.kept.first else structure[::-1]
    begin = [writer.head(), writer.ports(), writer.parameters(), writer.displacements()]
    end = [writer.closures(), writer.signals(), writer.geometry(), writer.experiment(), writer.layout()]
    return "\n".join(text for text in [*begin, *described, *end] if text)


def file_around(model: Model, notation: str, details: str, further: Mapping[str, str] = NOTHING) -> str:
    """The text of a file whose elements stand in another notation than the network: all else is as `to_yaml` writes it.

    `further` are texts of parameters that the notation needs besides those of the model.
    """
    writer = _Writer(model)
    writer.elements.write_every_parameter()
    parts = [
        writer.head(),
        writer.ports(),
        writer.parameters(further),
        writer.displacements(),
        writer.signals(),
        notation,
        details,
    ]
    return "\n".join(part for part in (*parts, writer.experiment()) if part)


def mode_settings(model: Model) -> dict[str, dict[str, str]]:
    """What the elements with modes need, beside their nodes: their kind, settings, schedules and first modes."""
    lines = ElementLines(model)
    return {
        e.name: {"kind": e.kind.name, **dict(lines.modes(e, e.switching))}
        for e in model.elements
        if e.switching is not None
    }


class _Writer:
    """Writes the sections of one model; what `kept` parts bring along stands in their files."""

    def __init__(self, model: Model, kept: KeptParts = KeptParts()) -> None:  # noqa: B008  # a value that never changes
        self.model = model
        self.kept = kept
        self.elements = ElementLines(model)

    def head(self) -> str:
        about = f"about: {sentence(self.model.about)}\n" if self.model.about else ""
        return f"system: {sentence(self.model.name)}\n{about}"

    def parameters(self, further: Mapping[str, str] = NOTHING) -> str:
        hidden = {*self.elements.inline, *self.elements.implied, *self.kept.names}
        shown = {n: p for n, p in self.model.parameters.items() if n not in hidden}
        lines = [f"  {quoted(name)}: {self.elements.parameter(p)}".rstrip() for name, p in shown.items()]
        lines += [f"  {quoted(name)}: {quoted(text)}" for name, text in further.items()]
        return "parameters:\n" + "\n".join(lines) + "\n" if lines else ""

    def displacements(self) -> str:
        shown = {name: rate for name, rate in self.model.displacements.items() if name not in self.kept.names}
        rates = {name: to_text(rate) for name, rate in shown.items()}
        return f"displacements: {mapping_text(rates)}\n" if rates else ""

    def closures(self) -> str:
        inside = {closure.name for closure in closures_of(self.kept.parts)}
        own = [closure for closure in self.model.closures if closure.name not in inside]
        return f"closures: {tree_text(closure_texts(own))}\n" if own else ""

    def geometry(self) -> str:
        geometry = self.model.geometry
        return f"geometry: {tree_text(geometry.texts)}\n" if geometry is not None and geometry.texts else ""

    def ports(self) -> str:
        ports, signals = self.model.ports, self.model.signal_ports
        text = f"ports: {tree_text(port_texts(ports))}\n" if ports else ""
        named = {"inputs": list(signals.inputs), "outputs": list(signals.outputs)}
        offered = {key: names for key, names in named.items() if names}
        return text + (f"signal ports: {tree_text(offered)}\n" if offered else "")

    def parts(self) -> str:
        lines = [
            f"  {quoted(part.name)}: {tree_text(part_keys(part, self.elements.formula))}\n" for part in self.kept.parts
        ]
        return "parts:\n" + "".join(lines) if lines else ""

    def network(self) -> str:
        written = [(quoted(name), line) for name, line in self.lines()]
        width = min(max([len(name) for name, _ in written], default=0), WIDEST) + 1
        lines = [f"  {name + ':':<{width}} {line}" for name, line in written]
        if not lines and self.kept.parts:
            return ""
        return "network:\n" + "\n".join(lines) + "\n" if lines else "network: {}\n"

    def lines(self) -> Iterable[tuple[str, str]]:
        """Names and lines of the elements; a field has one line, in the place of its first member."""
        first = {field.members[0]: field for field in self.model.fields}
        others = {member for field in self.model.fields for member in field.members[1:]}
        for element in self.model.elements:
            if element.name in self.kept.names:
                continue
            if element.name in first:
                yield first[element.name].name, self.elements.field(first[element.name])
            elif element.name not in others:
                yield element.name, self.elements.line(element)

    def signals(self) -> str:
        shown = {name: s for name, s in self.model.signals.items() if name not in self.kept.names}
        written = [(quoted(name), self.signal(definition)) for name, definition in shown.items()]
        width = min(max([len(name) for name, _ in written], default=0), WIDEST) + 1
        return "signals:\n" + "".join(f"  {name + ':':<{width}} {line}\n" for name, line in written) if written else ""

    def signal(self, definition: SignalDefinition) -> str:
        keys = list(signal_keys(definition, self.elements.units.text, frozenset(self.model.signals)))
        if definition.block == FORMULA:
            return quoted(str(keys[0][1]))
        return line_text([(key, nested_text(text)) for key, text in keys])

    def layout(self) -> str:
        """Where items stand in figures, a line each."""
        lines: list[str] = []
        for notation, places in self.model.layout.items():
            lines += [f"  {notation}:", *(f"    {quoted(name)}: [{x:g}, {y:g}]" for name, (x, y) in places.items())]
        return "\n".join(["layout:", *lines, ""]) if lines else ""

    def experiment(self) -> str:
        experiment = self.model.experiment
        if experiment == Experiment():
            return ""
        lines = []
        if experiment.until is not None:
            lines.append(f"until: {quoted(self.elements.units.text(experiment.until, Dimension(s=1)))}")
        if experiment.inputs:
            lines.append(f"inputs: {mapping_text({name: signal.text for name, signal in experiment.inputs.items()})}")
        if experiment.initial:
            known = state_variables(self.model.elements)
            here = self._contents_of_fields()
            starts = experiment.initial.items()
            texts = {here.get(name, name): self.elements.units.text(value, known.get(name)) for name, value in starts}
            lines.append(f"initial: {mapping_text(texts)}")
        if experiment.outputs:
            lines.append(f"outputs: {list_text(experiment.outputs)}")
        if experiment.units:
            lines.append(f"units: {mapping_text(experiment.units)}")
        lines += [f"{key}: {value!r}" for key in ("rtol", "atol") if (value := getattr(experiment, key)) is not None]
        return "experiment:\n" + "".join(f"  {line}\n" for line in lines)

    def _contents_of_fields(self) -> dict[str, str]:
        """What members of fields store, by the names that they have and the names that a reader gives them."""
        elements = {element.name: element for element in self.model.elements}
        found = {}
        for field in self.model.fields:
            for k, member in enumerate(field.members, start=1):
                element = elements[member]
                letter = element.kind.domain.energy(element.kind.side).symbol
                own = element.variables.get("energy") or named_after(letter, member)
                found[own] = named_after(letter, f"{field.name}[{k}]")
        return found
