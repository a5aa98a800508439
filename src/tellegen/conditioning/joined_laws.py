"""Storages with nonlinear laws that follow one other each: together they are one storage, whose content is the sum of theirs.

Where a storage d follows another one by a constant, v_d = t_d v, the two take t_d (q_d(t_d v))' and q(v)': one storage with the
content q(v) + t_d q_d(t_d v) takes the same. So it is for capacitors beside each other, saturating coils in series and joined
bodies. No matrix tells that, and no formula gives v by the content, so that the state stays v.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from tellegen.conditioning import rules
from tellegen.conditioning.fields import FieldModel, port_of_field, with_members
from tellegen.conditioning.merging import Merged
from tellegen.conditioning.starting import Starts
from tellegen.core.errors import TellegenError
from tellegen.description.model import Element
from tellegen.description.relations import Law
from tellegen.expressions import ONE, ZERO, Expression, symbol, to_text, total
from tellegen.graph import Port, StorageLaw


def joined_field(merged: Merged) -> FieldModel:
    """The model with one storage for each that others follow, with the sum of their contents.

    Raises: ConditioningError (C104) where a storage follows several others, or by what moves, or its law has no content.
    """
    _refuse(merged)
    changed = {merged.port(k).element: _joined(merged, i) for i, k in enumerate(merged.members)}
    return FieldModel(with_members(merged, changed), Starts())


def contents(merged: Merged) -> Mapping[str, Expression]:
    """What each joined storage keeps, by its output; those whose kind says their energy are left out."""
    kept = {i for i in range(len(merged.speeds)) if all(_is_kept(merged, d) for d, _ in _group(merged, i))}
    return {z: total(_shares(merged, i, symbol(z))) for i, z in enumerate(merged.speeds) if i not in kept}


def _joined(merged: Merged, i: int) -> Element:
    """The storage in the place of a member and of those that follow it."""
    port, speed = port_of_field(merged, i), merged.speeds[i]
    if all(_is_kept(merged, d) for d, _ in _group(merged, i)):
        values = [merged.found.elements[merged.port(merged.storages[d]).element].value for d, _ in _group(merged, i)]
        return replace(port, value=total(value for value in values if value is not None))
    content = total(_shares(merged, i, symbol(speed)))
    letter = port.kind.domain.energy(port.kind.side).letters[0]
    law = Law("content", speed, content, port.kind.side, f"{letter} = {to_text(content)}")
    return replace(port, value=None, law=law)


def _group(merged: Merged, i: int) -> Iterator[tuple[int, Expression]]:
    """The places of a member and of those that follow it, each with its factor."""
    return ((d, row[i]) for d, row in enumerate(merged.T) if row[i] is not ZERO)


def _shares(merged: Merged, i: int, z: Expression) -> Iterator[Expression]:
    for d, factor in _group(merged, i):
        port = merged.port(merged.storages[d])
        assert isinstance(port.law, StorageLaw), "only storages follow others"
        content = port.law.content_at(factor * z)
        if content is None or port.law.output is not None:
            raise _not_linear(port, "whose law gives no content by what it decides")
        yield factor * content


def _is_kept(merged: Merged, d: int) -> bool:
    """Whether a storage is of a kind that says its energy, in proportion to its value: an entropy capacity."""
    element = merged.found.elements[merged.port(merged.storages[d]).element]
    return bool(element.kind.energy) and element.value is not None


def _refuse(merged: Merged) -> None:
    moving = {*merged.found.system.displacements, *merged.found.causal.graph.moving, *merged.found.system.states}
    coupled = {k for field in merged.found.causal.graph.fields for k in field.ports}
    for d, (k, row) in enumerate(zip(merged.storages, merged.T, strict=True)):
        factors = [e for e in row if e is not ZERO]
        if len(factors) != 1:
            raise _not_linear(merged.port(k), "and follows several others")
        if moving & factors[0].free_symbols:
            raise _not_linear(merged.port(k), "and follows others by what moves")
        if k in coupled or (_is_kept(merged, d) and factors[0] is not ONE):
            raise _not_linear(merged.port(k), "and shares a field with others")


def _not_linear(port: Port, why: str) -> TellegenError:
    return rules.NOT_LINEAR.error(
        f"'{port.element}' is among storages that are not linear, {why}, so that they have no law in common",
        where=port.element,
        fix="choose the form derivative, residual or parasitic",
        place=port.place,
    )
