"""Members of fields in files: their kinds, and the laws of fields that are not given by a matrix."""

from collections.abc import Mapping, Sequence

from tellegen.core.domains import other_side
from tellegen.description.fields import energy_law, energy_letters
from tellegen.description.relations import Law
from tellegen.description.resistive_laws import argument_letters
from tellegen.description.stiffness import direct_kind, stiff_kind
from tellegen.elements import ElementKind
from tellegen.expressions import Expression, symbol, to_text
from tellegen.graph import Field, Port, ResistiveLaw
from tellegen.graph.laws import ARGUMENT
from tellegen.schemes import rules
from tellegen.schemes.element_texts import element_kind


def member_kind(port: Port, *, stiff: bool = False) -> ElementKind:
    """The kind of a port of a field: the one whose parameter multiplies, because the matrix does; else the `stiff` one."""
    return (stiff_kind if stiff else direct_kind)(element_kind(port))


def field_laws(field: Field, ports: Sequence[Port] | Mapping[int, Port]) -> tuple[Law, ...]:
    """The law of each port of a field that has no matrix, in letters with the number of the port; empty for others.

    Raises: GraphError (G207) when a parameter has the name of such a letter.
    """
    members = [ports[k] for k in field.ports]
    kinds = [member_kind(port) for port in members]
    if field.energy is not None:
        letters = energy_letters(kinds)
        states = [port.state for port in members]
        own = dict(zip(states, map(symbol, letters), strict=True))
        _refuse_clash(field, letters, field.energy.free_symbols - set(states))
        return energy_law(kinds, field.energy.substitute(own)).laws
    return _resistive(field, members, kinds) if field.by_laws else ()


def _resistive(field: Field, members: Sequence[Port], kinds: Sequence[ElementKind]) -> tuple[Law, ...]:
    letters = argument_letters(kinds, [port.law.side for port in members])
    names = [port.variable(other_side(port.law.side)) for port in members]
    told = dict(zip(names, map(symbol, letters), strict=True))
    found = []
    for k, (port, kind, letter) in enumerate(zip(members, kinds, letters, strict=True), 1):
        assert isinstance(port.law, ResistiveLaw), "a field without energy is resistive"
        written: Expression = port.law.value_at(symbol(ARGUMENT))
        _refuse_clash(field, letters, written.free_symbols - {*names, ARGUMENT})
        written = written.substitute({**told, ARGUMENT: symbol(letter)})
        left = f"{kind.domain.power(port.law.side).letters[0]}_{k}"
        found.append(Law("resistive", letter, written, port.law.side, f"{left} = {to_text(written)}"))
    return tuple(found)


def _refuse_clash(field: Field, letters: Sequence[str], used: frozenset[str]) -> None:
    """A parameter that has the name of a letter would be read as the variable."""
    if clash := sorted(used & set(letters)):
        what = f"the law of '{field.element}' uses the parameter '{clash[0]}', which is a letter of its variables"
        raise rules.NO_LAW_TEXT.error(what, where=field.element, fix=f"rename the parameter '{clash[0]}'")
