"""Files of BondGraphTools, judged by the constitutive relations that its libraries state."""

from pathlib import Path

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import judge_bond_graphs
import tellegen as tg
from tellegen.core.errors import DescriptionError
from tellegen.importing.bond_graph_tools import read_bond_graph_tools
from tellegen.notations.reading import read_model

HEAD = "version: 0.1\nroot: top\nmodels:\n"


def model_of(folder: Path, text: str) -> tg.Model:
    path = folder / "model.bg"
    path.write_text(text, encoding="utf-8")
    return read_model(read_bond_graph_tools(path, "model").text)


def error_of(folder: Path, text: str) -> str:
    with pytest.raises(DescriptionError) as caught:
        model_of(folder, text)
    return caught.value.code


def poles_by_relations(kinds: dict[str, tuple[str, float]], bonds: list[tuple[str, str]]) -> list[complex]:
    """The poles of a bond graph as the libraries state it: flows count into components, a 1-junction gives its bonds signs."""
    # Unknowns: an effort and a flow at each end of each bond, and a content for each storage.
    ends = [(k, side) for k in range(len(bonds)) for side in (0, 1)]
    e = {end: k for k, end in enumerate(ends)}
    f = {end: len(ends) + k for k, end in enumerate(ends)}
    states = [name for name, (kind, _) in kinds.items() if kind in "CI"]
    content = {name: 2 * len(ends) + k for k, name in enumerate(states)}
    size = 2 * len(ends) + len(states)
    rows: list[NDArray[np.float64]] = []
    rates: list[NDArray[np.float64]] = []

    def row(terms: dict[int, float], rate: dict[int, float] | None = None) -> None:
        rows.append(np.array([terms.get(k, 0.0) for k in range(size)]))
        rates.append(np.array([(rate or {}).get(k, 0.0) for k in range(size)]))

    for k in range(len(bonds)):
        row({e[k, 0]: 1, e[k, 1]: -1})
        row({f[k, 0]: 1, f[k, 1]: 1})
    for name, (kind, value) in kinds.items():
        mine = [(k, side) for k, bond in enumerate(bonds) for side in (0, 1) if bond[side] == name]
        if kind in "01":
            shared, summed = (e, f) if kind == "0" else (f, e)
            # A bond that leaves a 1-junction counts the other way.
            signs = [1.0 if kind == "0" or side == 1 else -1.0 for _, side in mine]
            for end, sign in zip(mine[1:], signs[1:], strict=True):
                row({shared[mine[0]]: signs[0], shared[end]: -sign})
            row({summed[end]: sign for end, sign in zip(mine, signs, strict=True)})
        elif kind == "R":
            row({e[mine[0]]: 1, f[mine[0]]: -value})
        elif kind == "TF":
            row({e[mine[1]]: 1, e[mine[0]]: -value})
            row({f[mine[0]]: 1, f[mine[1]]: value})
        elif kind == "GY":
            row({e[mine[1]]: 1, f[mine[0]]: value})
            row({e[mine[0]]: 1, f[mine[1]]: -value})
        else:
            given_, by = (e, f) if kind == "C" else (f, e)
            row({content[name]: 1, given_[mine[0]]: -value})
            row({by[mine[0]]: 1}, {content[name]: 1})
    values = scipy.linalg.eigvals(np.array(rows), np.array(rates))
    return [complex(v) for v in values if np.isfinite(v) and abs(v) < 1e6]


@st.composite
def bond_graphs(draw: st.DrawFn) -> tuple[dict[str, tuple[str, float]], list[tuple[str, str]]]:
    """A tree of junctions with one-ports, two-ports between some of them, and bonds that point either way."""
    kinds: dict[str, tuple[str, float]] = {}
    bonds: list[tuple[str, str]] = []

    def bond(one: str, other: str) -> None:
        bonds.append((one, other) if draw(st.booleans()) else (other, one))

    for k in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from("01"))
        kinds[f"j{k}"] = (kind, 0.0)
        kinds[f"R{k}"] = ("R", draw(st.integers(1, 9)) / 2)
        bond(f"R{k}", f"j{k}")
        # The storage of its kind can always be free; of the other one, now and then.
        kinds[f"S{k}"] = ("C" if kind == "0" else "I", draw(st.integers(1, 9)) / 4)
        bond(f"S{k}", f"j{k}")
        if k:
            above = f"j{draw(st.integers(0, k - 1))}"
            if draw(st.booleans()):
                kinds[f"T{k}"] = (draw(st.sampled_from(["TF", "GY"])), draw(st.integers(1, 5)) / 2)
                bond(above, f"T{k}")
                bond(f"T{k}", f"j{k}")
            else:
                bond(above, f"j{k}")
    return kinds, bonds


@settings(max_examples=25, deadline=None)
@given(bond_graphs())
def test_any_bond_graph_has_the_poles_of_its_relations(
    tmp_path_factory: pytest.TempPathFactory, graph: tuple[dict[str, tuple[str, float]], list[tuple[str, str]]]
) -> None:
    kinds, bonds = graph
    letters = {"0": "", "1": "", "R": "r=", "C": "C=", "I": "L=", "TF": "r=", "GY": "R="}
    components = [
        f"{name} base/{kind} {letters[kind]}{value if letters[kind] else ''}" for name, (kind, value) in kinds.items()
    ]
    text = HEAD + "  /:\n    components:\n" + "".join(f"    - {line.strip()}\n" for line in components)
    text += "    netlist:\n" + "".join(f"    - {one} {other}\n" for one, other in bonds)
    model = model_of(tmp_path_factory.mktemp("bg"), text)
    eq = tg.derive(model)
    values = {name: p.expression.evaluate({}) for name, p in model.parameters.items() if p.expression is not None}
    energy, loss = (np.array([[e.evaluate(values) for e in row] for row in eq.matrices[word]]) for word in ("L", "A"))
    found = scipy.linalg.eigvals(-loss, energy)
    wanted = poles_by_relations(kinds, bonds)
    # As polynomials, in which equal poles need no order.
    assert len(found) == len(wanted)
    np.testing.assert_allclose(np.poly(found), np.poly(wanted), rtol=1e-6, atol=1e-9)


def test_models_inside_others_are_joined_at_their_ports(tmp_path: Path) -> None:
    text = HEAD + (
        "  /:\n    components:\n    - A source\n    - B load\n    - n base/0\n    netlist:\n    - A.out n\n    - B n\n"
        "  source:\n    components:\n    - S base/Sf f=2\n    - p base/SS\n    - n base/0\n"
        "    netlist:\n    - S n\n    - n p\n    ports:\n    - p out\n"
        "  load:\n    components:\n    - p base/SS\n    - R base/R 5\n    - s base/1\n    - C base/C 0.5\n    - q base/R 1\n"
        "    netlist:\n    - p s\n    - s R\n    - C s\n    - s q\n    ports:\n    - p A\n"
    )
    model = model_of(tmp_path, text.replace("    - C base/C 0.5\n", "").replace("    - C s\n", ""))
    # 2 A through 5 ohm and 1 ohm in series.
    assert tg.equilibrium(model).run.final()["V_A_S"] == pytest.approx(12.0)


def test_a_diode_follows_its_law_whichever_way_its_bond_points(tmp_path: Path) -> None:
    voltages = []
    for bonds in ("    - s D\n", "    - D s\n"):
        text = (
            HEAD
            + "  /:\n    components:\n    - S base/Se e=0.5\n    - s base/1\n    - D elec/Di Is=1e-6 n=1\n    - R base/R 100\n"
        )
        model = model_of(tmp_path, text + f"    netlist:\n    - S s\n    - s R\n{bonds}")
        voltages.append(tg.equilibrium(model).run.final()["I_S"])
    forward, backward = voltages
    assert forward > 1e-3
    assert backward == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("version: 0.2\nmodels: {}\n", "D321"),
        (HEAD + "  /:\n    components:\n    - Re biochem/Re\n    - B elec/BJT\n", "D320"),
        (HEAD + "  /:\n    components:\n    - R base/R r=much\n", "D321"),
        (HEAD + "  /:\n    components:\n    - R base/R r=1\n    netlist:\n    - R S\n", "D321"),
        (HEAD + "  /:\n    components:\n    - R base/R r=1\n    - R base/R r=1\n", "D321"),
        (HEAD + "  /:\n    components:\n    - A a\n  a:\n    components:\n    - A a\n", "D321"),
        (HEAD + "  /:\n    components: &a\n    - *a\n", "D065"),
    ],
)
def test_what_makes_no_sense_is_told(tmp_path: Path, text: str, code: str) -> None:
    found = error_of(tmp_path, text)
    assert found == code or (code == "D065" and found.startswith("D06"))


MIXED = """version: 0.1
root: mixed
models:
  /:
    components: [A source, s base/1, R base/R r=10, L base/I L=0.5, D elec/Di Is=1e-6 n=1, G base/GY R=2, p base/0,
      C base/C 0.02, T base/TF r=2, q base/1, M base/I 0.3, E base/R 1]
    netlist: [A.out s, s R, L s, s G, G p, D p, p C, p T, T q, q M, E q]
  source:
    components: [S base/Sf f=2, n base/0, g base/R 5, o base/SS]
    netlist: [S n, n g, n o]
    ports: [o out]
"""


@pytest.mark.slow
def test_the_judge_of_published_files_puts_the_same_relations_together(tmp_path: Path) -> None:
    path = tmp_path / "mixed.bg"
    path.write_text(MIXED, encoding="utf-8")
    found = judge_bond_graphs.compare(path)
    assert found.compared == 2 * len("RLDCMEg")
    # What implicit steps of second order leave.
    assert found.worst < 1e-3
