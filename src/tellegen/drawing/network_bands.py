"""The areas of the domains behind a row of a schematic, cut through the two-ports between them."""

from collections.abc import Iterable
from itertools import pairwise

from tellegen.drawing.bond_bands import CAPTION, CAPTION_DROP, CAPTIONS
from tellegen.drawing.geometry import Box
from tellegen.drawing.network_layout import BODY, CELLS, Layout
from tellegen.drawing.options import Options
from tellegen.drawing.placing import label_box
from tellegen.drawing.scene import Band, Label, Origin, Shape

PAD = 16.0
"""Round the ink of a row."""


def bands_behind(layout: Layout, ink: Box, options: Options) -> list[Shape]:
    """The bands of a row whose ink is in a box, with the words that fit under them."""
    bands: list[Shape] = [Band(box, domain, Origin(domain=domain)) for domain, box in areas_of(layout, ink.grown(PAD))]
    if not options.shows_captions:
        return bands
    return [*bands, *_captions(band for band in bands if isinstance(band, Band))]


def areas_of(layout: Layout, area: Box) -> list[tuple[str, Box]]:
    """Domains from left to right in an area, each with its part of it."""
    stations = layout.plan.stations
    nodes = [k for k, station in enumerate(stations) if station.element is None]
    cuts, domains = [area.left], [stations[nodes[0]].domain] if nodes else []
    for one, two in pairwise(nodes):
        if stations[one].domain != stations[two].domain:
            cuts.append(_cut(layout, one, two))
            domains.append(stations[two].domain)
    cuts.append(area.right)
    spans = zip(domains, pairwise(cuts), strict=True) if domains else ()
    return [(domain, Box(left, area.top, right, area.bottom)) for domain, (left, right) in spans]


def _cut(layout: Layout, one: int, two: int) -> float:
    """Through the two-port between two nodes, or half way between them."""
    between = next((k for k in range(one + 1, two) if k in layout.boxes), None)
    if between is not None:
        return layout.middle(between)
    end = layout.lefts[CELLS * one + BODY] + layout.widths[CELLS * one + BODY]
    return (end + layout.lefts[CELLS * two + BODY]) / 2


def _captions(bands: Iterable[Band]) -> Iterable[Label]:
    for number, band in enumerate(bands, 1):
        at = band.box.centre[0], band.box.bottom + CAPTION_DROP
        origin = Origin(part="caption", port=str(number), domain=band.domain)
        label = Label(CAPTIONS[band.domain], at, CAPTION, "centre", "baseline", False, True, "quiet", origin)
        if label_box(label).width < band.box.width:
            yield label
