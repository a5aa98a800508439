"""Animations as SVG: every frame is a group that is visible for its share of the time, by the animation of SVG itself."""

from collections.abc import Sequence

from tellegen.drawing.options import Options
from tellegen.drawing.scene import Scene, Shape
from tellegen.drawing.svg import Writer, number
from tellegen.drawing.themes import THEMES

Frames = Sequence[tuple[Shape, ...]]


def to_animated_svg(still: Scene, frames: Frames, seconds: float, options: Options) -> str:
    """The animation as an SVG document. A viewer that does not animate shows the first frame."""
    writer = Writer(still, THEMES[options.theme], options.zoom(still.box.width), symbols=True)
    count = len(frames)
    groups = [
        f"<g{'' if k == 0 else VISIBLE_LATER}>{_shown(k, count, seconds)}{writer.bare(shapes)}</g>"
        for k, shapes in enumerate(frames)
    ]
    return writer.document(groups)


VISIBLE_LATER = ' visibility="hidden"'


def _shown(frame: int, count: int, seconds: float) -> str:
    """When a frame is visible."""
    start, end = number(frame / count), number((frame + 1) / count)
    moments = [("0", "hidden"), (start, "visible"), (end, "hidden")]
    if frame == 0:
        moments = moments[1:]
    if frame == count - 1:
        moments = moments[:-1]
    keys, values = (";".join(column) for column in zip(*moments, strict=True))
    return (
        f'<animate attributeName="visibility" calcMode="discrete" dur="{number(seconds)}s" repeatCount="indefinite" '
        f'keyTimes="{keys}" values="{values}"/>'
    )
