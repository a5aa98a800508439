"""The areas of the domains behind a schematic in columns: stripes of each gap, which meet in the middle of the boxes."""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise

from tellegen.drawing.bond_bands import CAPTION, CAPTION_DROP, CAPTIONS
from tellegen.drawing.geometry import Box
from tellegen.drawing.network_bands import PAD, areas_of
from tellegen.drawing.network_column_scene import ColumnDrawing, StrandPlace
from tellegen.drawing.options import Options
from tellegen.drawing.overlaps import ink_box
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Band, Label, Origin, Shape

CAPTION_RISE = 9.0
"""From the top of a figure to the baseline of the words above it."""


def column_bands(drawing: ColumnDrawing, options: Options) -> list[Shape]:
    """The bands of a drawing, with words under those at the bottom, and above it for domains that are only at the top."""
    area = ink_box(drawing.shapes).grown(PAD)
    cuts = [area.left, *((left + right) / 2 for left, right in drawing.edges), area.right]
    bands = [
        band
        for gap, (left, right) in zip(drawing.strands, pairwise(cuts), strict=True)
        for band in _stripes(gap, Box(left, area.top, right, area.bottom))
    ]
    if not options.shows_captions:
        return list(bands)
    lowest = [band for band in bands if band.box.bottom == area.bottom]
    below = list(_captions(lowest, area.bottom + CAPTION_DROP, 0))
    named = {label.origin.domain for label in below}
    highest = [band for band in bands if band.box.top == area.top and band.domain not in named]
    above = _captions(highest, area.top - CAPTION_RISE, len(bands))
    return [*bands, *below, *above]


def _stripes(gap: list[StrandPlace], area: Box) -> Iterator[Band]:
    """A stripe for strands of one domain under each other, and one for each strand that goes through several."""
    groups: list[list[StrandPlace]] = []
    for strand in gap:
        if groups and len(strand.strand.domains) == 1 and strand.strand.domains == groups[-1][0].strand.domains:
            groups[-1].append(strand)
        else:
            groups.append([strand])
    borders = [
        (above[-1].y + above[-1].ink.bottom + below[0].y + below[0].ink.top) / 2 for above, below in pairwise(groups)
    ]
    for group, (top, bottom) in zip(groups, pairwise([area.top, *borders, area.bottom]), strict=False):
        strand = group[0]
        stripe = Box(area.left - strand.x, top, area.right - strand.x, bottom)
        for domain, box in areas_of(strand.layout, stripe):
            yield Band(box.moved(strand.x, 0.0), domain, Origin(domain=domain))


def _captions(bands: Iterable[Band], y: float, used: int) -> Iterator[Label]:
    """A word for each run of neighbours of one domain, where it fits."""
    ordered = sorted(bands, key=lambda band: band.box.left)
    for number, (domain, run) in enumerate(groupby(ordered, key=lambda band: band.domain), used + 1):
        boxes = [band.box for band in run]
        left, right = boxes[0].left, boxes[-1].right
        origin = Origin(part="caption", port=str(number), domain=domain)
        at = (left + right) / 2, y
        label = Label(CAPTIONS[domain], at, CAPTION, "centre", "baseline", False, True, "quiet", origin)
        if label_box(label).width < right - left:
            yield label
