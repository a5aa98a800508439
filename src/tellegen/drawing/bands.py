"""The words under the areas of domains: the same size, colour and wording in every notation."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from tellegen.drawing.geometry import Point
from tellegen.drawing.scene import Band, Label, Origin, label_box

CAPTION, CAPTION_DROP = 12.0, 20.0
"""The size of captions, and how far under an area their baseline is."""

_CAPTIONS = {"translational": "mechanical, translational", "rotational": "mechanical, rotational", "heat": "thermal"}


def caption_of(domain: str) -> str:
    """What a domain is called under its area: its name, unless engineers say more."""
    return _CAPTIONS.get(domain, domain)


def caption_label(text: str, at: Point, domain: str, number: str = "") -> Label:
    """A caption; the `number` tells those of one figure apart."""
    origin = Origin(part="caption", port=number, domain=domain)
    return Label(text, at, CAPTION, level="baseline", math=False, slanted=True, tone="quiet", origin=origin)


def captions_along(bands: Iterable[Band], y: float, used: int = 0) -> Iterator[Label]:
    """A word for each run of neighbours of one domain, where it fits; `used` numbers are taken by others."""
    ordered = sorted(bands, key=lambda band: band.box.left)
    for number, (domain, run) in enumerate(groupby(ordered, key=lambda band: band.domain), used + 1):
        boxes = [band.box for band in run]
        left, right = boxes[0].left, boxes[-1].right
        label = caption_label(caption_of(domain), ((left + right) / 2, y), domain, str(number))
        # A caption that reaches beyond its area would name the neighbour; the colour says enough then.
        if label_box(label).width < right - left:
            yield label
