"""Bond graphs of mechanisms in pieces: nothing is lost, nothing overlaps, texts can be read, names are short and each used once."""

import re
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings

import tellegen as tg
from support.examples import causal_example
from support.mechanisms import Chain, closed_chains, open_chains
from tellegen.causality import assign_causality
from tellegen.drawing import Figure, draw
from tellegen.drawing.bond.owners import Owners
from tellegen.drawing.bond.parting import base_name, collapsed
from tellegen.drawing.bond.pen import OTHER_END
from tellegen.drawing.bond.piece_texts import PieceTexts, words
from tellegen.drawing.bond.sheet import word_plan
from tellegen.drawing.options import DEFAULTS
from tellegen.graph import lower
from tellegen.notations.loading import as_model
from tellegen.notations.reading import read_model
from tellegen.scenes.ink import check_scene
from tellegen.scenes.scene import Block, Bond, Label
from tellegen.schemes import BondGraphScheme, bond_graph

PAGE = "181 mm"
HIGHEST = 257.0
"""What an A4 page has between margins of 20 mm."""
MECHANISMS = ["crank_rod_mechanism", "rapson_slide", "planar_robot", "mobile_manipulator"]
LARGE = ["andrews_squeezer", "five_bar", "piston_cylinder", "trolley_folder", "rolling_disk"]
FORMS = ["derivative", "residual", "parasitic", "field", "lagrange"]


@cache
def opened(name: str) -> BondGraphScheme:
    return bond_graph(causal_example(name))


def shown(figure: Figure) -> set[str]:
    return {shape.origin.element for shape in figure.scene.shapes}


def texts(figure: Figure, *parts: str) -> list[str]:
    labels = [shape for shape in figure.scene.shapes if isinstance(shape, Label)]
    return [label.text for label in labels if not parts or label.origin.part in parts]


def check_figure(figure: Figure, scheme: BondGraphScheme) -> None:
    """What every figure in pieces must have."""
    fields = {item.field for item in scheme.one_ports.values() if item.field}
    wanted = [name for name, item in scheme.one_ports.items() if item.field not in fields]
    assert check_scene(figure.scene, [*wanted, *scheme.two_ports, *fields]) == ()
    assert figure.text_points >= 7


@pytest.mark.parametrize("name", [*MECHANISMS, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_everything_is_in_a_piece_and_can_be_read(name: str) -> None:
    figure = draw(name, "bond", max_width=PAGE)
    check_figure(figure, opened(name))
    model = as_model(name)
    if model.mechanism is not None:
        captions = texts(figure, "caption")
        for word in (*model.mechanism.bodies, *model.mechanism.joints):
            assert word == "ground" or any(caption.startswith(word.replace("_", " ")) for caption in captions)


# With springs and dampers in place of constraints it has most pieces, and takes as long as all others.
@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=[pytest.mark.slow] * (form == "parasitic")) for form in FORMS]
)
def test_the_mobile_manipulator_is_on_one_page_in_every_form(form: str) -> None:
    figure = draw(tg.condition("mobile_manipulator", form), "bond", max_width=PAGE)
    assert check_scene(figure.scene) == ()
    assert figure.text_points >= 7
    assert figure.scene.box.height * figure.zoom * 25.4 / 96 <= HIGHEST
    letters = " ".join(texts(figure, "name"))
    assert ("rSe" in letters) == (form == "residual")
    assert ("IC" in letters) == (form in ("field", "lagrange"))


def test_every_modulus_of_the_slide_has_a_name() -> None:
    """The contacts and the friction of a prismatic member: each factor of its equations, by name and in the table."""
    figure = draw("rapson_slide", "bond", max_width=PAGE, moduli=True)
    named = texts(figure, "modulus")
    assert sorted(named, key=lambda name: int(re.findall(r"\d+", name)[0])) == [
        rf"\mu_{k}" if k < 10 else rf"\mu_{{{k}}}" for k in range(1, len(named) + 1)
    ]
    table = {equation.partition(" = ")[0]: equation for equation in texts(figure, "legend")}
    assert set(table) == set(named)
    scheme = opened("rapson_slide")
    assert len(named) == len(scheme.two_ports)


def test_names_of_moduli_step_aside() -> None:
    model = as_model("rapson_slide")
    taken = replace(model, parameters={**model.parameters, "mu_1": model.parameters["d"]})
    named = texts(draw(taken, "bond", moduli=True), "modulus")
    assert named
    assert not any(name.startswith(r"\mu_") for name in named)


@pytest.mark.parametrize("name", MECHANISMS)
def test_each_junction_is_told_what_it_shares_exactly_once(name: str) -> None:
    """Collapsing junctions and giving them to pieces keeps causality: one bond brings the variable of each junction."""
    scheme, turned = collapsed(opened(name))
    owners = Owners(scheme, as_model(name).mechanism)
    for junction, item in owners.scheme.junctions.items():
        bonds = owners.scheme.bonds_of(junction)
        bringing = [bond for bond in bonds if bond.brings(bond.other(junction)) == item.shares]
        assert len(bringing) == 1, junction
    for junction in owners.scheme.junctions:
        for bond in owners.scheme.bonds_of(junction):
            other = bond.other(junction)
            if other in owners.scheme.one_ports and owners.of[other] != owners.of[junction]:
                assert owners.kinds[owners.of[other]] == "field"
    numbers = [bond.number for bond in owners.scheme.bonds]
    assert len(numbers) == len(set(numbers))
    assert turned <= owners.scheme.one_ports.keys()


@pytest.mark.parametrize("name", MECHANISMS)
def test_bonds_share_the_flow_or_the_effort_of_their_junction(name: str) -> None:
    scheme, turned = collapsed(opened(name))
    owners = Owners(scheme, as_model(name).mechanism)
    for junction, item in owners.scheme.junctions.items():
        for bond in owners.scheme.bonds_of(junction):
            # What was behind a junction that is gone now meets this one with the name that it had there.
            if bond.other(junction) not in turned:
                assert bond.variable(item.shares) == opened(name).junctions[base_name(junction)].variable


NETWORKS = ["corking_machine", "corking_machine_extended"]


@pytest.mark.parametrize("name", [*MECHANISMS, *NETWORKS])
def test_every_name_at_the_end_of_a_bond_leads_on(name: str) -> None:
    """A bond that goes on in its own piece has a velocity at one end, or one letter at both."""
    scheme, turned = collapsed(opened(name))
    owners = Owners(scheme, as_model(name).mechanism)
    told = PieceTexts(owners.scheme, owners, DEFAULTS, turned)
    pieces = {piece.name: piece for piece in owners.pieces}
    for bond in owners.scheme.bonds:
        if owners.of[bond.tail] == owners.of[bond.head]:
            piece = pieces[owners.of[bond.tail]]
            ends = [told.end(bond, end, piece, inside=True) for end in (bond.tail, bond.head)]
            assert ends[0] == ends[1] in told.lettered.values() or any(end != words(piece.name) for end in ends)


def test_a_network_of_parts_is_read_part_by_part_where_it_is_too_large_for_one_figure() -> None:
    captions = texts(draw("corking_machine", "bond", max_width=PAGE), "caption")
    assert {"screw motor", "spline motor", "network"} <= set(captions)
    owners = Owners(collapsed(opened("corking_machine"))[0], None)
    assert {owners.of[name] for name in ("V_e1", "V_e2", "screw_motor_R_1", "screw_motor_J")} == {"screw_motor"}
    assert {owners.of[name] for name in ("K_ce", "m_a", "pulley_1e")} == {"network"}


def test_phases_are_one_vector_bond_where_one_figure_can_be_read() -> None:
    figure = draw("pmsm", "bond", max_width=PAGE)
    assert "network" not in texts(figure, "caption")
    assert texts(figure, "size").count("3") == 4  # source, coils, resistors and rotor
    assert figure.text_points >= 7


def test_level_bonds_between_words_are_level() -> None:
    for name in ("crank_rod_mechanism", "rapson_slide"):
        scene = draw(name, "bond").scene
        words_end = max(s.box.bottom for s in scene.shapes if isinstance(s, Block) and s.origin.part == "word")
        for bond in (s for s in scene.shapes if isinstance(s, Bond) and max(y for _, y in s.points) < words_end):
            assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(bond.points))


def test_words_are_joined_by_as_many_variables_as_pass() -> None:
    owners = Owners(collapsed(opened("crank_rod_mechanism"))[0], as_model("crank_rod_mechanism").mechanism)
    joined = {frozenset((link.tail, link.head)): link.size for link in word_plan(owners.scheme, owners).links}
    assert joined[frozenset(("word bearing", "word crank"))] == 3  # two forces, and friction
    assert joined[frozenset(("word crank", "word crank_pin"))] == 2
    assert joined[frozenset(("word crank_pin", "word rod"))] == 2
    assert joined[frozenset(("word source tau", "word crank"))] == 1


def test_names_of_inner_things_are_short() -> None:
    for name in MECHANISMS:
        figure = draw(name, "bond")
        for text in texts(figure, "note", "effort", "flow", OTHER_END):
            assert text.count(",") <= 2, text
            assert not re.search(r"mathrm\{v[xy]\}", text), text


@pytest.mark.parametrize("name", ["crank_rod_mechanism", "planar_robot"])
def test_reactions_are_flows_of_zero_or_right_residual_sinks(name: str) -> None:
    flows = Counter(text.replace(r"\mathrm", "") for text in texts(draw(name, "bond"), "name"))
    assert any("Sf" in text for text in flows)
    assert not any("rS" in text for text in flows)
    figure = draw(name, "bond", reactions="sink")
    assert any("rSe" in text for text in texts(figure, "name"))
    assert check_scene(figure.scene) == ()
    # A sink decides its force: its stroke is at the other end, and no storage follows another.
    assert not any(
        getattr(shape, "tone", "") == "warning" and getattr(shape, "dashed", False) for shape in figure.scene.shapes
    )


def test_whole_draws_it_in_one() -> None:
    figure = draw("crank_rod_mechanism", "bond", whole=True)
    assert not texts(figure, "caption", "word")
    assert not any(shape.origin.part == OTHER_END for shape in figure.scene.shapes)


@settings(max_examples=2, deadline=None)
@given(chain=open_chains(most=3))
def test_small_random_chains(chain: Chain) -> None:
    drawn_chain(chain)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(chain=open_chains(most=7))
def test_random_chains(chain: Chain) -> None:
    drawn_chain(chain)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(chain=closed_chains(most=7))
def test_random_loops(chain: Chain) -> None:
    drawn_chain(chain)


def drawn_chain(chain: Chain) -> None:
    """A random mechanism in pieces, with its reactions as flows of zero and as sinks."""
    model = read_model(chain.text())
    scheme = bond_graph(assign_causality(lower(model)))
    check_figure(draw(model, "bond", max_width=PAGE), scheme)
    assert check_scene(draw(model, "bond", max_width=PAGE, reactions="sink", moduli=True).scene) == ()
