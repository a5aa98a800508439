"""The integrators of displacements, behind the last column of a POG: they read its lower line, and no power flows there."""

from tellegen.drawing.geometry import box_about
from tellegen.drawing.pog_measures import LEAD, SMALL, box_size, text_size
from tellegen.drawing.pog_pen import LEAD_PART, Node, Pen
from tellegen.drawing.pog_plan import IntegralPlan
from tellegen.drawing.scene import Block, Label, Origin


def draw_integral(pen: Pen, plan: IntegralPlan, node: Node) -> None:
    """The blocks to the right of a node, one after the other, and the name of what comes out."""
    start = node.edge("right")
    for box in plan.boxes:
        width, height = box_size(box.text)
        left = start[0] + LEAD
        frame = box_about((left + width / 2, node.y), width, height)
        pen.wire((start, (left, node.y)), True, plan.weight, Origin(part="wire"))
        pen.box(Block(frame, origin=Origin(part=box.part)), box.text, text_size(box.text))
        start = (frame.right, node.y)
    end = start[0] + LEAD
    pen.wire((start, (end, node.y)), True, plan.weight, Origin(part=LEAD_PART))
    pen.add(Label(plan.label, (end + 6, node.y), size=SMALL, align="left", origin=Origin(part="displacements")))
