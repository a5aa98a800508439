"""What an editor would send back, looked for in all examples and in random stars, meshes, bridges and graphs with awkward names."""

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.bond_graphs import Graph, graphs
from support.networks import Network, Part
from support.strategies import networks
from tellegen.core.errors import TellegenError
from tellegen.core.shipped import example_names
from tellegen.drawing import Figure, draw
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.ink import check_scene
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Bond, Label, Scene, label_box

PAGE = "181 mm"
SHARED = {r"\mathrm{1}": "flow", r"\mathrm{0}": "effort", "1": "flow", "0": "effort"}
NEAR = 12.0
"""Bonds end so near to the ink of their junction."""
KINDS = ("resistor", "capacitor", "inductor")
AWKWARD = (
    *(
        "I_1",
        "V_1",
        "I_2",
        "V_2",
        "F_1",
        "v_1",
        "e_1",
        "f_1",
        "q",
        "x",
        "u",
        "L",
        "A",
        "K_1",
        "R_1",
        "omega_1",
        "tau_1",
        "Q_1",
    ),
    *("P_1", "mu_1", "phi_1", "V_n1", "I_n0_n1", "V_L", "I_x", "lower_return_line", "coil_of_the_second_stage"),
)
"""Names that figures choose themselves for what has none, and long ones."""


def unequal_junctions(scene: Scene) -> Iterator[str]:
    """Junctions at which bonds have different flows (1) or efforts (0), or different sizes; rates are told by what stores them."""
    bonds = [shape for shape in scene.shapes if isinstance(shape, Bond)]
    labels = [shape for shape in scene.shapes if isinstance(shape, Label)]
    for junction in (label for label in labels if label.origin.part == "name" and label.text in SHARED):
        box = label_box(junction).grown(NEAR)
        here = [b for b in bonds if box.contains(b.points[0]) or box.contains(b.points[-1])]
        ports = {bond.origin.port for bond in here}
        told = {
            label.text
            for label in labels
            if label.origin.port in ports and label.origin.part == SHARED[junction.text] and r"\dot" not in label.text
        }
        if len(told) > 1 or len({bond.size for bond in here}) > 1:
            yield f"{junction.text} at {junction.at}: {sorted(told)}, sizes {sorted(bond.size for bond in here)}"


def stolen_names(scene: Scene, model: Model) -> set[str]:
    """Variables at bonds and sections that are called as a parameter is."""
    own = {name_latex(name) for name in model.parameters}
    parts = "effort", "flow", "variable"
    return own.intersection(s.text for s in scene.shapes if isinstance(s, Label) and s.origin.part in parts)


def defects(figure: Figure, model: Model | None = None, points: float = 0.0) -> list[object]:
    """All that is wrong with a figure: what overlaps, junctions, names, and texts that are smaller than so many points."""
    found: list[object] = [*check_scene(figure.scene), *unequal_junctions(figure.scene)]
    found += [] if model is None else sorted(stolen_names(figure.scene, model))
    return found if figure.text_points >= points else [*found, figure.text_points]


EXAMPLES = example_names()


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] * (k % 9 != 4)) for k, n in enumerate(EXAMPLES)]
)
def test_examples_on_a_page(name: str) -> None:
    for notation in ("bond", "pog", "network"):
        assert defects(draw(name, notation, max_width=PAGE), points=5.5) == [], notation


@st.composite
def structures(draw: st.DrawFn) -> Network:
    """Stars of like branches, grids, rings with a bridge and chains, all with names that figures may want for themselves."""
    shape, count = draw(st.sampled_from(["star", "grid", "bridge", "chain"])), draw(st.integers(3, 6))
    ends: list[tuple[str, str]] = [("n0", "gnd")]
    match shape:
        case "star":
            ends += [pair for k in range(1, count + 1) for pair in (("n0", f"n{k}"), (f"n{k}", "gnd"))]
        case "grid":
            ends += [(f"n{k}", f"n{k + 1}") for k in range(count)] + [(f"n{k}", f"n{k + 2}") for k in range(count - 1)]
        case "bridge":
            ends += [("n0", "n1"), ("n0", "n2"), ("n1", "gnd"), ("n2", "gnd"), ("n1", "n2"), ("n2", "n1")]
        case "chain":
            ends += [pair for k in range(count) for pair in ((f"n{k}", f"n{k + 1}"), (f"n{k + 1}", "gnd"))]
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=len(ends), max_size=len(ends)))
    names = draw(st.permutations(AWKWARD))[: len(ends)]
    one, two = (draw(st.sampled_from(KINDS)) for _ in range(2))
    parts = [Part("U", "voltage source", ("n0", "gnd"), parameter="U")]
    for k, (name, nodes) in enumerate(zip(names, ends, strict=True)):
        # The branches of a star are alike, all others may be of any kind.
        kind = (one, two)[k % 2] if shape == "star" and k else kinds[k]
        parts.append(Part(name, kind, nodes, parameter=name))
    return Network(tuple(parts[:1] + parts[2:]))


@settings(max_examples=6, deadline=None)
@given(structures(), st.sampled_from(["bond", "pog", "network"]))
def test_structures_with_awkward_names(described: Network, notation: str) -> None:
    model = described.model()
    try:
        figure = draw(model, notation, max_width=PAGE)
    except TellegenError:
        assert notation != "network"  # a ring of capacitors about the source has no causality
        return
    assert defects(figure, model, points=5.0) == []


@settings(max_examples=6, deadline=None)
@given(networks(couplings=True), st.randoms(use_true_random=False), st.sampled_from(["bond", "pog"]))
def test_networks_with_awkward_names(described: Network, chance: Random, notation: str) -> None:
    names = dict(
        zip((part.name for part in described.parts), chance.sample(AWKWARD, len(described.parts)), strict=True)
    )
    parts = [
        replace(part, name=names[part.name], parameter=names.get(part.parameter, part.parameter))
        for part in described.parts
    ]
    model = described.with_parts(parts).model()
    try:
        figure = draw(model, notation)
    except TellegenError:
        return
    assert defects(figure, model) == []


@settings(max_examples=6, deadline=None)
@given(graphs())
def test_junctions_of_any_bond_graph(graph: Graph) -> None:
    """Described as a bond graph: its own junctions, or those that a simplification leaves."""
    assert defects(draw(read_model(graph.text), "bond", whole=True)) == []
