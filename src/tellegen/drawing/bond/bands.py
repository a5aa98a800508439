"""The areas of the domains behind a bond graph, where they can be told apart by straight cuts."""

from collections.abc import Callable, Iterable
from itertools import combinations, pairwise

from tellegen.drawing.bands import CAPTION_DROP, caption_label, caption_of
from tellegen.drawing.bond.layout import BondLayout
from tellegen.drawing.bond.plan import BondPlan
from tellegen.drawing.geometry import Box, union
from tellegen.drawing.ink import inks
from tellegen.drawing.options import Options
from tellegen.drawing.scene import Band, Label, Shape, label_box

PAD_SIDE, PAD_TOP, PAD_BOTTOM = 34.0, 34.0, 30.0
FRAME_SIDE, FRAME_TOP, FRAME_BOTTOM = 14.0, 20.0, 16.0
CAPTION_GAP = 8.0
REGION = 12.0


def bands_of(plan: BondPlan, layout: BondLayout, ink: Box, options: Options) -> tuple[list[Shape], Box]:
    """Bands with their captions, and the box of the whole figure; nothing where domains cannot be told apart."""
    parts = _parts(plan, layout)
    if not options.shows_bands or len({domain for regions, _ in parts for domain, _ in regions}) < 2:
        return [], ink
    bands: list[Band] = []
    borders = [layout.at[node.name][0] for node in plan.nodes.values() if not node.domain and node.name in layout.at]
    for regions, part in parts:
        own = ink if len(parts) == 1 else part  # bonds that close meshes may lie beyond all items
        area = Box(ink.left - PAD_SIDE, own.top - PAD_TOP, ink.right + PAD_SIDE, own.bottom + PAD_BOTTOM)
        found = _columns(regions, area, borders) or _boxes(regions)
        if not found:
            return [], ink
        bands += found
    captions = [label for label in _captions(bands) if options.shows_captions and layout.pen.is_free(label_box(label))]
    whole = union([ink, *(band.box for band in bands), *map(label_box, captions)])
    bottom = max(band.box.bottom for band in bands) + (CAPTION_DROP if captions else 0.0)
    bottom = max(bottom, whole.bottom) + FRAME_BOTTOM
    return [*bands, *captions], Box(whole.left - FRAME_SIDE, whole.top - FRAME_TOP, whole.right + FRAME_SIDE, bottom)


def _captions(bands: list[Band]) -> Iterable[Label]:
    """A word under each band, in short where the band is narrow; none where it would lie on the one before."""
    before: list[Box] = []
    for number, band in enumerate(bands, 1):
        at, words = (band.box.centre[0], band.box.bottom + CAPTION_DROP), caption_of(band.domain)
        label = caption_label(words, at, band.domain, str(number))
        if label_box(label).width > band.box.width:
            label = caption_label(words.split()[-1], at, band.domain, str(number))
        box = label_box(label).grown(CAPTION_GAP / 2)
        if not any(box.overlaps(other) for other in before):
            before.append(box)
            yield label


Region = tuple[str, Box]


def _parts(plan: BondPlan, layout: BondLayout) -> list[tuple[list[Region], Box]]:
    """For each connected part of the figure its regions of one domain, and the box round all its ink."""
    whole = _groups(plan, lambda one, two: True)
    region = _groups(plan, lambda one, two: bool(one) and one == two)
    domains = {node.element: node.domain for node in plan.nodes.values()}
    boxes: dict[int, dict[tuple[int, str], list[Box]]] = {}
    for shape in layout.pen.shapes:
        element = shape.origin.element
        if element in whole:
            found = boxes.setdefault(whole[element], {}).setdefault((region[element], domains[element]), [])
            found.extend(ink.box for ink in inks(shape))
    return [
        (
            [(domain, union(found)) for (_, domain), found in regions.items() if domain],
            union(b for f in regions.values() for b in f),
        )
        for regions in boxes.values()
    ]


def _groups(plan: BondPlan, together: Callable[[str, str], bool]) -> dict[str, int]:
    """A number for each element, equal for those that are linked and belong together by their domains."""
    near: dict[str, list[str]] = {node.element: [] for node in plan.nodes.values()}
    for link in plan.links:
        tail, head = plan.nodes[link.tail], plan.nodes[link.head]
        if together(tail.domain, head.domain):
            near[tail.element].append(head.element)
            near[head.element].append(tail.element)
    numbers: dict[str, int] = {}
    for start in near:
        stack = [start] if start not in numbers else []
        number = len(numbers)
        while stack:
            name = stack.pop()
            if name not in numbers:
                numbers[name] = number
                stack += near[name]
    return numbers


def _columns(regions: list[Region], area: Box, borders: list[float]) -> list[Band]:
    """Bands over the whole height, cut through the two-port between neighbours; nothing where regions stand over each other."""
    ordered = sorted(regions, key=lambda region: region[1].left)
    if any(one[1].right > two[1].left for one, two in pairwise(ordered)):
        return []
    between = [(one[1].right, two[1].left) for one, two in pairwise(ordered)]
    cuts = [next((x for x in borders if left <= x <= right), (left + right) / 2) for left, right in between]
    cuts = [area.left, *cuts, area.right]
    made: list[Band] = []
    for (domain, _), (left, right) in zip(ordered, pairwise(cuts), strict=True):
        joined = made.pop().box.left if made and made[-1].domain == domain else left
        made.append(Band(Box(joined, area.top, right, area.bottom), domain))
    return made


def _boxes(regions: list[Region]) -> list[Band]:
    """A box round each region; nothing where two of them overlap."""
    bands = [Band(box.grown(REGION), domain) for domain, box in regions]
    return [] if any(one.box.overlaps(two.box) for one, two in combinations(bands, 2)) else bands
