"""A scene with every kind of shape, for the tests of back ends."""

from tellegen.scenes.geometry import Box
from tellegen.scenes.scene import Band, Block, Bond, Curve, Dot, Label, Origin, Ring, Scene, Section, Sum, Wire

SHAPES = (
    Band(Box(10, 10, 250, 290), "electrical", Origin(domain="electrical")),
    Band(Box(250, 10, 490, 290), "hydraulic"),
    Section((60, 30), (60, 200)),
    Wire(((20, 50), (101, 50)), True, origin=Origin("V_a", "lead", "1")),
    Wire(((200, 50), (119, 50)), True, origin=Origin("V_b", "lead")),
    Sum((110, 50), ((1.0, 0.0),), origin=Origin("sum", "sum", sign=-1)),
    Block(Box(90, 80, 130, 120), origin=Origin("L_a", "integrator")),
    Label(r"\frac{1}{s}", (110, 100), 15, origin=Origin("L_a", "integrator")),
    Wire(((110, 59), (110, 80)), True),
    Wire(((110, 120), (110, 190))),
    Wire(((20, 190), (240, 190)), weight="bold", origin=Origin(part="lead")),
    Dot((110, 190), "bold"),
    Bond(((290, 60), (390, 60)), "end", 1, origin=Origin("L_a", "bond", "1")),
    Bond(((290, 100), (390, 100)), "start", -1, True, origin=Origin("m & <x>", "bond", "2")),
    Ring((294.5, 100), 10, True, "warning"),
    Bond(((290, 140), (350, 140), (350, 200), (420, 200)), "end", 1, size=3),
    Wire(((300, 240), (400, 240)), True, "signal", "quiet", Origin(part="lead")),
    Wire(((300, 255), (400, 255)), True, "double", "ink", Origin(part="lead")),
    Label("I_a", (335, 49), 15, level="baseline"),
    Label("electrical & 50 %", (130, 260), 12, math=False, slanted=True, tone="quiet"),
    Label(r"\mathrm{I}{:}\,L_{a}", (400, 60), 18, "left"),
    Curve(
        (("M", ((420, 100),)), ("Q", ((450, 80), (480, 100))), ("C", ((480, 130), (440, 130), (430, 110)))), closed=True
    ),
    Curve((("M", ((440, 230),)), ("L", ((470, 230),)), ("L", ((455, 250),)), ("Z", ())), filled=True, tone="power"),
)

SCENE = Scene("Everything", "one of each & <more>", Box(0, 0, 500, 300), SHAPES)
