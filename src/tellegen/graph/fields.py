"""Fields of the power graph: ports that share one matrix or one energy."""

from dataclasses import replace

from tellegen.core.domains import other_side
from tellegen.description.model import Model
from tellegen.description.relations import MatrixField
from tellegen.expressions import ZERO, symbol
from tellegen.graph.laws import ResistiveLaw, StorageLaw, argument
from tellegen.graph.power_graph import Field, Port


def fields_of(model: Model, ports: list[Port]) -> tuple[Field, ...]:
    """The fields of a model; the ports that belong to them are changed where their laws read each other."""
    at = {port.element: k for k, port in enumerate(ports)} if model.fields else {}
    return tuple(_field(f, [at[member] for member in f.members], ports) for f in model.fields)


def _field(field: MatrixField, members: list[int], ports: list[Port]) -> Field:
    """A field; the laws of its ports, which read all its energy variables, get the names of the states for them."""
    if field.energy is None and field.letters:
        _read_each_other(field, members, ports)
        return Field(field.name, tuple(members), field.matrix, by_laws=True)
    if field.energy is None:
        _couple(field, members, ports)
        return Field(field.name, tuple(members), field.matrix, stiffness=field.stiffness)
    states = {letter: symbol(ports[k].state) for letter, k in zip(field.letters, members, strict=True)}
    for k, letter in zip(members, field.letters, strict=True):
        others = {name: state for name, state in states.items() if name != letter}
        law = ports[k].law
        assert isinstance(law, StorageLaw), "only storages have an energy"
        assert law.output is not None, "the law of such a port gives its output"
        share = field.energy.substitute({**others, letter: argument()}) if k == members[0] else ZERO
        ports[k] = replace(ports[k], law=replace(law, output=law.output.substitute(others), energy=share))
    return Field(field.name, tuple(members), field.matrix, field.energy.substitute(states))


def _read_each_other(field: MatrixField, members: list[int], ports: list[Port]) -> None:
    """Laws of a resistive field get the names of what the other ports are told."""
    told = {
        letter: symbol(ports[k].variable(other_side(ports[k].law.side)))
        for letter, k in zip(field.letters, members, strict=True)
    }
    for k, letter in zip(members, field.letters, strict=True):
        law = ports[k].law
        assert isinstance(law, ResistiveLaw), "only resistive laws are told something"
        assert law.expression is not None, "a port of such a field has a law"
        others = {name: e for name, e in told.items() if name != letter}
        expression = law.expression.substitute(others)
        reads = expression is not law.expression
        ports[k] = replace(ports[k], law=replace(law, expression=expression, coupled=reads))


def _couple(field: MatrixField, members: list[int], ports: list[Port]) -> None:
    """Tell the laws of resistive ports that their variable also follows other ports."""
    for i, (k, row) in enumerate(zip(members, field.matrix, strict=True)):
        law = ports[k].law
        if isinstance(law, ResistiveLaw) and any(e is not ZERO for j, e in enumerate(row) if j != i):
            ports[k] = replace(ports[k], law=replace(law, invertible=True, coupled=True))
