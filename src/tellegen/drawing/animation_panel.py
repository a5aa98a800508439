"""Powers and energies beside a moving mechanism: a column of names with their marks at the right of the motion."""

from dataclasses import replace

from tellegen.drawing.animation_motion import Motion
from tellegen.drawing.geometry import Box
from tellegen.drawing.moving import moved
from tellegen.drawing.overlay_flows import Array
from tellegen.drawing.overlay_scene import Overlay
from tellegen.drawing.scene import Shape


def with_panel(motion: Motion, panel: Overlay | None, times: Array) -> Motion:
    """The motion with a panel at its right, both at the same times; the motion tells the time."""
    if panel is None:
        return motion
    scene, beside = motion.still, panel.still
    height = max(scene.box.height, beside.box.height)
    box = Box(0, 0, scene.box.width + beside.box.width, height)
    dx, drop = scene.box.width, height - scene.box.height

    def both(main: tuple[Shape, ...], marks: tuple[Shape, ...]) -> tuple[Shape, ...]:
        shown = (shape for shape in marks if shape.origin.part != "time")
        return (*(moved(s, 0, drop) for s in main), *(moved(s, dx, 0) for s in shown))

    frames = tuple(both(*pair) for pair in zip(motion.frames, panel.frames(times), strict=True))
    about = f"{scene.about}, with powers and energies"
    return Motion(replace(scene, box=box, about=about, shapes=both(scene.shapes, beside.shapes)), frames)
