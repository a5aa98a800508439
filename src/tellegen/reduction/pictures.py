"""The reduction on the POG scheme: for each element at its limit the loop, the inverted loop, and the simplified scheme."""

from dataclasses import dataclass, replace
from typing import final

from tellegen.causality import assign_causality
from tellegen.core.errors import TellegenError
from tellegen.description.model import Model
from tellegen.graph import lower
from tellegen.reduction.limited import Limited, at_limits
from tellegen.reduction.reduction import Reduction
from tellegen.schemes import PogScheme, ReductionPictures, cut_pictures, frozen_pictures, pog, reduction_pictures


@final
@dataclass(frozen=True)
class SchemePictures:
    """The pictures of each element that goes, one after the other; `why_not` tells where the scheme cannot show the rest.

    The scheme of one reduction is the first picture of the next one, so that `simplified` is the scheme of the reduced model.
    `notes` tell what was done to the scheme before.
    """

    stages: tuple[ReductionPictures, ...]
    why_not: str = ""
    notes: tuple[str, ...] = ()

    @property
    def simplified(self) -> PogScheme | None:
        """The last scheme; None where no element could be taken out."""
        return self.stages[-1].simplified if self.stages else None

    def __str__(self) -> str:
        lines = [f"{stage.element}:\n{stage}" for stage in self.stages]
        return "\n".join([*self.notes, *lines, *([self.why_not] if self.why_not else [])])


def scheme_pictures(reduction: Reduction) -> SchemePictures:
    """How a reduction looks on the scheme of the full model: links that are cut, storages that freeze, then what vanishes.

    A field that loses rank is split first into what vanishes and what is left. `why_not` says where a law admits no inverse.
    """
    graph = reduction.causal.graph
    limited = at_limits(reduction.original, graph, reduction.limits)
    known = {port.element for port in graph.ports}
    split = [name for name in (*limited.vanishing, *limited.frozen) if name not in known]
    model = _split_model(reduction, limited) if split else reduction.original
    notes = (f"{', '.join(split)} first stand beside what is left of their field",) if split else ()
    scheme = pog(assign_causality(lower(model)) if split else reduction.causal, derivative=True)
    stages: list[ReductionPictures] = []
    for name in (*_cut(reduction, limited), *limited.frozen, *limited.vanishing):
        try:
            if name in limited.frozen:
                found = frozen_pictures(scheme, name)
            elif name in limited.vanishing:
                found = reduction_pictures(scheme, name, zero=limited.vanishing[name])
            else:
                model = _with_coupling(model, limited, name)
                found = cut_pictures(scheme, name, pog(assign_causality(lower(model)), derivative=True))
        except TellegenError as reason:
            why_not = f"{name} is taken out of the equations only: {reason.what}"
            return SchemePictures(tuple(stages), why_not, notes)
        stages.append(found)
        scheme = found.simplified
    return SchemePictures(tuple(stages), notes=notes)


def _cut(reduction: Reduction, limited: Limited) -> list[str]:
    """The couplings of which a modulus vanishes."""
    before = {e.name: e for e in reduction.original.elements}
    couplings = [e for e in limited.model.elements if e.kind.role == "coupling" and e.name in before]
    return [e.name for e in couplings if e != before[e.name]]


def _with_coupling(model: Model, limited: Limited, name: str) -> Model:
    at_limit = next(e for e in limited.model.elements if e.name == name)
    return replace(model, elements=tuple(at_limit if e.name == name else e for e in model.elements))


def _split_model(reduction: Reduction, limited: Limited) -> Model:
    """The model whose fields are split, in which nothing has gone yet."""
    before = {e.name: e for e in reduction.original.elements}
    inside = {m for f in limited.model.fields for m in f.members}
    elements = tuple(e if e.name in inside else before.get(e.name, e) for e in limited.model.elements)
    return replace(limited.model, elements=elements)
