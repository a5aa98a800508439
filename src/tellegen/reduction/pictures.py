"""The reduction on the POG scheme: for each storage at its limit the loop, the inverted loop, and the simplified scheme."""

from dataclasses import dataclass
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.graph import StorageLaw
from tellegen.reduction.limited import at_limits
from tellegen.reduction.reduction import Reduction
from tellegen.schemes import PogScheme, ReductionPictures, pog, reduction_pictures


@final
@dataclass(frozen=True)
class SchemePictures:
    """The pictures of each storage that vanishes, one after the other; `why_not` tells where the scheme cannot show the rest.

    The scheme of one reduction is the first picture of the next one, so that `simplified` is the scheme of the reduced model.
    """

    stages: tuple[ReductionPictures, ...]
    why_not: str = ""

    @property
    def simplified(self) -> PogScheme | None:
        """The last scheme; None where no storage could be taken out."""
        return self.stages[-1].simplified if self.stages else None

    def __str__(self) -> str:
        lines = [f"{stage.element}:\n{stage}" for stage in self.stages]
        return "\n".join([*lines, *([self.why_not] if self.why_not else [])])


def scheme_pictures(reduction: Reduction) -> SchemePictures:
    """How a reduction looks on the scheme of the full model, storage by storage.

    A limit of a resistive element, of a coupling or of part of a field has no loop to invert, nor has a mesh: `why_not` says so.
    """
    graph = reduction.causal.graph
    vanishing = at_limits(reduction.original, graph, reduction.limits).vanishing
    storages = {p.element for p in graph.ports if isinstance(p.law, StorageLaw)}
    others = [name for name in vanishing if name not in storages]
    if others or not vanishing:
        name = others[0] if others else str(reduction.limits[0])
        return SchemePictures((), f"{name} is no storage that vanishes: its limit inverts no loop")
    scheme = pog(reduction.causal, derivative=True)
    stages: list[ReductionPictures] = []
    for element in vanishing:
        try:
            found = reduction_pictures(scheme, element)
        except TellegenError as reason:
            return SchemePictures(tuple(stages), f"{element} is taken out of the equations only: {reason.what}")
        stages.append(found)
        scheme = found.simplified
    return SchemePictures(tuple(stages))
