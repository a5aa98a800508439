"""POGs of fields, sensors and cut meshes: what stands in their blocks, what has no block, and what sections are called."""

from tellegen.causality import assign_causality
from tellegen.drawing import check_scene, draw
from tellegen.drawing.options import DEFAULTS
from tellegen.drawing.pog.plan import FigurePlan
from tellegen.drawing.pog.scene import plan_model_pog
from tellegen.expressions import ZERO
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.scene import Block, Label, Scene, Section
from tellegen.schemes import bond_graph, path_gains, pog

MAGNET = """
system: Electromagnet
parameters: {R: 1 ohm, L_0: 0.1 H*m, x_0: 5 mm, m: 0.1 kg, b: 1 N*s/m}
bond graph:
  - Se:V -> 1:i (electrical) -> R:R
  - i -> IC:magnet[1]
  - 1:v (v, translational) -> magnet[2]
  - v -> I:m
  - v -> R:b
elements: {magnet: {ports: [I, C], energy: phi_1^2*(x_0 + x_2)/(2*L_0)}}
"""
VALVE = """
system: Orifices that share a jet
parameters: {R: 1e9 Pa*s/m^3, k: 1e18 Pa*s^3/m^9, L_1: 1e7 Pa*s^2/m^3, L_2: 2e7 Pa*s^2/m^3}
bond graph:
  - Se:P_1 -> 1:a (Q_a, hydraulic) -> I:L_1
  - a -> R:valve[1]
  - Se:P_2 -> 1:b (Q_b, hydraulic) -> I:L_2
  - b -> R:valve[2]
elements: {valve: {law: [P_1 = R*Q_1 + k*Q_1*Q_2^2, P_2 = R*Q_2 + k*Q_1^2*Q_2]}}
"""
SPEED = """
system: Speed control
parameters: {L: 2 mH, R: 1 ohm, K: 0.1 N*m/A, J: 1e-3 kg*m^2, b: 1e-3 N*m*s, k_p: 0.5 V*s}
bond graph:
  - MSe:V -> 1:i -> I:L
  - i -> R:R
  - i -> GY:K -> 1:w (omega) -> I:J
  - w -> R:b
  - w -> Df:speed
  - 100 rad/s - speed => k_p => V
"""
WALL = """
system: Wall
network:
  T_i: {absolute temperature source: [i, absolute_zero]}
  G_1: {entropy conductor: [i, absolute_zero, a, absolute_zero], G: 5 W/K}
  C_a: {entropy capacity: [a], C: 1000 J/K, initial: 290 K}
"""
TANKS = """
system: Tanks in a ring
network:
  Q: {flow source: [tank, a]}
  C_a: {accumulator: [a, tank], C: 1e-4 m^3/Pa}
  C_b: {accumulator: [b, tank], C: 1e-4 m^3/Pa}
  C_c: {accumulator: [c, tank], C: 1e-4 m^3/Pa}
  R_ab: {hydraulic resistor: [a, b], R: 1e6 Pa*s/m^3}
  R_bc: {hydraulic resistor: [b, c], R: 1e6 Pa*s/m^3}
  R_ca: {hydraulic resistor: [c, a], R: 1e6 Pa*s/m^3}
  G_c: {leak: [c, tank], G: 1e-8 m^3/(Pa*s)}
"""
HEATED = """
system: Winding that heats up
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b], L: 1 mH}
  R: {resistor: [b, gnd], R: 1 ohm, heat: winding}
  C_w: {heat capacity: [winding], C: 30 J/K}
"""
BEARING = """
system: Bearing with cross damping
parameters: {m: 3 kg, c: 100 N*s/m, g: 30 N*s/m}
bond graph:
  - Se:F_x -> 1:vx (v_x, translational) -> I:m_x
  - vx -> R:film[1]
  - Se:F_y -> 1:vy (v_y, translational) -> I:m_y
  - vy -> R:film[2]
elements: {film: {matrix: [[c, g], [-g, c]]}, m_x: {m: m}, m_y: {m: m}}
"""


def model(text: str) -> Model:
    return read_model(text)


def plan(text: str) -> FigurePlan:
    return plan_model_pog(assign_causality(lower(model(text))), DEFAULTS)[0]


def drawn(text: str, notation: str = "pog") -> Scene:
    scene = draw(model(text), notation).scene
    assert check_scene(scene) == ()
    return scene


def texts(scene: Scene, part: str) -> list[str]:
    return [shape.text for shape in scene.shapes if isinstance(shape, Label) and shape.origin.part == part]


def test_a_field_given_by_its_energy_shows_the_law_of_each_port() -> None:
    assert [line.replace(" ", "") for line in plan(MAGNET).legend] == [
        r"h_\text{magnet,1}(\phi_\text{magnet,1},x_\text{magnet,2})"
        r"=\frac{\phi_\text{magnet,1}\left(x_0+x_\text{magnet,2}\right)}{L_0}",
        r"h_\text{magnet,2}(x_\text{magnet,2},\phi_\text{magnet,1})=\frac{\phi_\text{magnet,1}^{2}}{2L_0}",
    ]
    assert not any("mathbf{M}" in text for text in texts(drawn(MAGNET), "gain"))


def test_a_resistive_field_given_by_laws_shows_them_and_is_not_linear() -> None:
    assert plan(VALVE).legend[0] == r"f_\text{valve,1}(Q_a,Q_b) = Q_a R + Q_a Q_b^{2} k"
    scheme = pog(assign_causality(lower(model(VALVE))))
    assert all(block.gain is None for block in scheme.blocks.values() if block.field)
    assert path_gains(scheme).A == ((ZERO, ZERO), (ZERO, ZERO))


def test_a_sensor_has_no_block_and_is_told_under_the_figure() -> None:
    scene = drawn(SPEED)
    assert not any(shape.origin.element == "speed" for shape in scene.shapes if isinstance(shape, Block))
    assert plan(SPEED).legend == (r"\mathrm{speed} = \omega",)


def test_a_junction_without_elements_makes_no_section_more() -> None:
    scene = drawn(WALL)
    assert sum(isinstance(shape, Section) for shape in scene.shapes) == 2
    assert r"\dot{S}_{T_i}" in texts(scene, "variable")


def test_what_runs_between_elements_is_numbered_where_a_mesh_is_cut() -> None:
    assert not any("," in text for text in texts(drawn(TANKS), "variable"))


def test_ladders_stand_in_the_order_of_description() -> None:
    first, second = plan(HEATED).ladders
    assert [ladder.entry.domain for ladder in (first, second) if ladder.entry] == ["electrical", "heat"]
    assert texts(drawn(HEATED), "caption") == ["electrical", "thermal"]


def test_a_field_stands_between_the_junctions_of_its_ports() -> None:
    scheme = bond_graph(assign_causality(lower(model(BEARING))), vectors=True)
    assert [bond.size for bond in scheme.bonds_of("film")] == [1, 1]
    assert {bond.other("film") for bond in scheme.bonds_of("film")} == {"vx", "vy"}
    drawn(BEARING, "bond")
