"""Gestures are edits of the text: comments and order stay, and the model is what the gesture says."""

import random
import re
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.core.shipped import SYSTEMS, example_names
from tellegen.notations.reading import read_model
from tellegen.server.document import OpenDocument
from tellegen.server.folder import EMPTY_PAGE
from tellegen.server.gestures import GESTURES, Edit, gesture
from tellegen.server.protocol import Structure
from tellegen.server.views import picture, structure

MOTOR = (SYSTEMS / "dc_motor_pump.yaml").read_text()


def act(text: str, word: str, /, **arguments: object) -> Edit:
    return gesture(text, "model.yaml", str(SYSTEMS), word, arguments)


def changed_lines(old: str, new: str) -> tuple[list[str], list[str]]:
    before, after = old.split("\n"), new.split("\n")
    return [line for line in before if line not in after], [line for line in after if line not in before]


def test_a_value_is_set_where_it_stands() -> None:
    made = act(MOTOR, "set", path=["parameters", "J_m"], text="2e-3 kg*m^2").text
    assert changed_lines(MOTOR, made) == (
        ["  J_m: 1e-3 kg*m^2        # rotor and pump"],
        ["  J_m: 2e-3 kg*m^2        # rotor and pump"],
    )
    assert act("system: A\nnetwork:\n  m: {mass: [a]}\n", "set", path=["parameters", "m"], text="1 kg").text == (
        "system: A\nparameters:\n  m: 1 kg\n\nnetwork:\n  m: {mass: [a]}\n"
    )
    assert (
        "until: 3 s"
        in act("system: A\nnetwork:\n  m: {mass: [a]}\n", "set", path=["experiment", "until"], text="3 s").text
    )


def test_an_element_is_put_in_at_nodes_beside_another_one_and_in_series() -> None:
    at = act(MOTOR, "insert", kind="resistor", nodes=["a"], value="3 ohm")
    assert at.selected == "R_1"
    model = read_model(at.text)
    assert next(one.nodes for one in model.elements if one.name == "R_1") == ("a", "gnd")
    assert changed_lines(MOTOR, at.text)[0] == []
    beside = read_model(act(MOTOR, "insert", kind="capacitor", beside="R_a").text)
    assert next(one.nodes for one in beside.elements if one.name == "C_1") == ("b", "c")
    series = read_model(act(MOTOR, "insert", kind="inductor", beside="R_a", way="series").text)
    nodes = {one.name: one.nodes for one in series.elements}
    assert nodes["R_a"][1] == nodes["L_1"][0]
    assert nodes["L_1"][1] == "c"
    grounded = read_model(act(MOTOR, "insert", kind="inertia", beside="b_m").text)
    assert next(one.nodes for one in grounded.elements if one.name == "J_1") == ("shaft", "frame")


@pytest.mark.parametrize("kind", ["resistor", "mass", "spring", "pump", "dc machine", "gear"])
def test_what_is_put_into_an_empty_page_is_a_model(kind: str) -> None:
    page = EMPTY_PAGE.format(name="New", notation="network")
    made = act(page, "insert", kind=kind)
    assert [one.kind.name for one in read_model(made.text).elements] == [kind]


def test_an_element_in_series_leaves_one_node_and_one_beside_others_leaves_two() -> None:
    model = read_model(act(MOTOR, "delete", name="R_a").text)
    nodes = {one.name: one.nodes for one in model.elements}
    assert "R_a" not in nodes
    assert "R_a" not in model.parameters
    assert nodes["L_a"][1] == nodes["motor"][0]
    parallel = read_model(act(MOTOR, "delete", name="b_m").text)
    assert {one.nodes for one in parallel.elements if one.name == "J_m"} == {("shaft", "frame")}
    source = act(MOTOR, "delete", name="Q_0").text
    assert "flow source" not in source
    assert "-2e-5" not in source


def test_what_was_moved_or_rotated_and_goes_takes_its_place_along() -> None:
    moved = act(act(MOTOR, "move", notation="network", name="b_m", x=300, y=200).text, "rotate", name="b_m").text
    model = read_model(moved)
    assert model.layout["network"]["b_m"] == (300, 200)
    assert model.turned == {"b_m": 90}
    assert act(moved, "delete", name="b_m").text == act(MOTOR, "delete", name="b_m").text
    for small in (act(moved, "limit", limits={"b_m": "0"}).text, tg.reduce(model, {"b_m": 0})):
        assert tg.draw(read_model(small) if isinstance(small, str) else small, "network").notes == ()
    renamed = read_model(act(moved, "rename", name="b_m", new="rubbing").text)
    assert (list(renamed.layout["network"]), list(renamed.turned)) == (["rubbing"], ["rubbing"])


def test_a_junction_that_was_moved_and_has_another_name_now_leaves_the_figure_as_it_is() -> None:
    text = "system: S\nbond graph:\n  - Se:V (electrical) -> 1:i -> R:R\n  - 1:i -> 0:v -> C:C\n  - 0:v -> R:G\n"
    moved = act(text, "move", notation="bond", name="v", x=400, y=200).text
    assert picture(moved, "model.yaml", str(SYSTEMS), "bond", "colour").places["v"] == pytest.approx((400, 200), abs=5)
    other = re.sub(r"0:v\b", "0:w", moved)
    assert picture(other, "model.yaml", str(SYSTEMS), "bond", "colour").svg
    with pytest.raises(tg.FigureError, match="F160"):
        tg.draw(read_model(other), "bond")


def test_a_symbol_is_rotated_by_quarters_and_back_and_only_where_it_has_two_ends() -> None:
    texts = [MOTOR]
    for angle in (90, 270, None):
        texts.append(act(texts[-1], "rotate", name="R_a").text)
        assert read_model(texts[-1]).turned.get("R_a") == angle
    assert texts[-1].rstrip() == MOTOR.rstrip()
    with pytest.raises(tg.TellegenError, match="no two ends"):
        act(MOTOR, "rotate", name="J_m")


def test_a_word_of_the_grammar_is_no_name() -> None:
    text = (
        "system: S\nnetwork:\n  m: {mass: [a]}\n  b: {damper: [a, frame], b: 2*b}\nparameters: {m: 1 kg, b: 1 N*s/m}\n"
    )
    made = act(text, "rename", name="b", new="rubbing").text
    assert "rubbing: {damper: [a, frame], b: 2*rubbing}" in made
    assert "rubbing: 1 N*s/m" in made
    mass = act("system: S\nnetwork:\n  mass: {mass: [a], m: 1 kg}\n", "rename", name="mass", new="body").text
    assert "body: {mass: [a], m: 1 kg}" in mass


def test_a_section_that_ended_at_what_is_gone_has_no_place_any_more() -> None:
    made = act(MOTOR, "delete", name="R_a").text
    assert "between: [L_a, R_a]" in MOTOR
    assert "L_a, R_a]" not in made
    assert "between: [C_0, alpha_p]" in made
    assert tg.check(read_model(made)).ok


def test_names_change_wherever_they_are_written() -> None:
    made = act(MOTOR, "rename", name="V_a", new="supply").text
    model = read_model(made)
    assert model.inputs == ("supply", "Q_0")
    assert "supply: step(24 V)" in made
    renamed = read_model(act(MOTOR, "rename", name="J_m", new="J_1").text)
    assert tg.derive(renamed).states == tg.derive(read_model(MOTOR)).states
    assert "J_1" in renamed.parameters
    assert {
        node for one in read_model(act(MOTOR, "rename", name="shaft", new="axle").text).elements for node in one.nodes
    } >= {"axle"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rename", {"name": "J_m", "new": "L_a"}),
        ("rename", {"name": "J_m", "new": "two words"}),
        ("rename", {"name": "nobody", "new": "x"}),
        ("delete", {"name": "nobody"}),
        ("join", {"first": "a", "second": "nowhere"}),
        ("connect", {"name": "R_a", "terminal": 7, "node": "a"}),
        ("connect", {"name": "R_a", "terminal": 0, "node": "a, b"}),
        ("insert", {"kind": "resister"}),
        ("insert", {"kind": "resistor", "name": "R_a"}),
        ("insert", {"kind": "resistor", "nodes": ["a]: {"]}),
        ("insert", {"kind": "resistor", "nodes": "a"}),
        ("set", {"path": [], "text": "1"}),
        ("move", {"notation": "bond", "name": "L_a", "x": "here", "y": 0}),
        ("replace", {"line": 900, "column": 1, "old": "x", "new": "y"}),
        ("limit", {"limits": {}}),
        ("unlock", {}),
        ("turn", {"name": "J_m"}),
        ("turn", {"name": "motor"}),
        ("explode", {}),
    ],
)
def test_what_does_not_fit_is_refused_with_a_remedy(name: str, arguments: dict[str, object]) -> None:
    with pytest.raises(tg.TellegenError) as error:
        act(MOTOR, name, **arguments)
    assert error.value.code in {"D723", "D724"}
    assert error.value.finding.fix or name == "explode"


def test_values_stay_texts_whatever_they_hold() -> None:
    made = act(MOTOR, "set", path=["parameters", "J_m"], text='1\n  evil: "yes"').text
    assert set(read_tree(made)["parameters"]) == set(read_tree(MOTOR)["parameters"])


def read_tree(text: str) -> dict[str, dict[str, object]]:
    from tellegen.notations.yaml.document import read_document
    from tellegen.notations.yaml.writing import tree_of

    found: dict[str, dict[str, object]] = tree_of(read_document(text).root)
    return found


def test_an_element_is_turned_round_and_a_second_turn_brings_it_back() -> None:
    turned = act(MOTOR, "turn", name="V_a").text
    assert next(one.nodes for one in read_model(turned).elements if one.name == "V_a") == ("gnd", "a")
    at_end = [tg.simulate(read_model(text), 0.5).final()["I_a"] for text in (MOTOR, turned)]
    alone = tg.simulate(read_model(MOTOR), 0.5, inputs={"V_a": 0}).final()["I_a"]
    assert at_end[1] - alone == pytest.approx(alone - at_end[0], rel=1e-4)
    assert act(turned, "turn", name="V_a").text == MOTOR


def test_a_limit_keeps_the_comments_of_what_stays() -> None:
    made = act(MOTOR, "limit", limits={"J_m": "0"}).text
    assert tg.derive(read_model(made)).states == ("I_a", "P_0")
    gone, new = changed_lines(MOTOR, made)
    assert [line.split(":")[0].strip() for line in gone] == ["about", "J_m", "J_m"]
    assert [line.split(":")[0].strip() for line in new] == ["about"]


def test_dependent_storages_are_put_into_another_form_and_comments_stay() -> None:
    text = (SYSTEMS / "crank_rod.yaml").read_text()
    made = act(text, "condition", form="parasitic")
    assert "sized for a relative error" in made.note
    assert not tg.check(read_model(made.text)).dependent
    assert "# connecting rod" in made.text
    assert tg.derive(read_model(act(text, "condition", form="lagrange").text)).states == ("omega",)
    with pytest.raises(tg.TellegenError, match="C101"):
        act(text, "condition", form="sideways")


def test_a_finding_of_a_dependent_storage_offers_what_can_be_done() -> None:
    shown = structure(1, (SYSTEMS / "crank_rod.yaml").read_text(), "crank_rod.yaml", str(SYSTEMS))
    remedies = {remedy.label: remedy for remedy in shown.findings[0].remedies}
    assert remedies["m_p \N{RIGHTWARDS ARROW} 0"].arguments == {"limits": {"m_p": "0"}}
    for remedy in remedies.values():
        text = (SYSTEMS / "crank_rod.yaml").read_text()
        assert not tg.check(read_model(act(text, remedy.name, **remedy.arguments).text)).dependent


def test_items_of_figures_stay_where_they_are_put() -> None:
    made = act(MOTOR, "move", notation="bond", name="L_a", x=120.0, y=40.0).text
    assert read_model(made).layout["bond"]["L_a"] == (120, 40)
    assert act(made, "unlock").text.rstrip() == MOTOR.rstrip()


def test_a_remedy_writes_the_word_that_was_meant() -> None:
    wrong = MOTOR.replace("{resistor:", "{resistr:")
    shown = structure(1, wrong, "model.yaml", str(SYSTEMS))
    remedy = shown.findings[0].remedies[0]
    assert act(wrong, remedy.name, **remedy.arguments).text == MOTOR


def test_a_bond_graph_grows_by_lines_and_shrinks() -> None:
    text = EMPTY_PAGE.format(name="New", notation="bond graph")
    for kind in ("Se", "R", "C"):
        text = act(text, "insert", kind=kind, nodes=[] if kind == "Se" else ["j_1"]).text
    assert read_model(text).inputs == ("Se_1",)
    assert tg.derive(read_model(text)).states == ("V_C_1",)
    fewer = act(text, "delete", name="R_1").text
    assert "R_1" not in fewer
    longer = act(text, "insert", kind="j_1 -> I:coil").text
    assert "  - j_1 -> I:coil\n" in longer


def random_gesture(random: random.Random, text: str) -> tuple[str, dict[str, object]]:
    """A gesture that may fit or not, on names that the text has."""
    shown = structure(0, text, "model.yaml", str(SYSTEMS))
    elements = [one.name for one in shown.elements] or ["x"]
    nodes = [*shown.nodes, "gnd", "frame", "fresh"]
    parameters = [one.name for one in shown.parameters] or ["x"]
    kinds = ["resistor", "capacitor", "inductor", "mass", "spring", "damper", "voltage source", "force source", "gear"]
    name = random.choice(
        ["insert", "insert", "delete", "join", "connect", "rename", "set", "move", "limit", "turn", "rotate"]
    )
    arguments: dict[str, dict[str, object]] = {
        "insert": {
            "kind": random.choice(kinds),
            "nodes": random.sample(nodes, random.randint(0, 2)),
            "beside": random.choice(["", "", random.choice(elements)]),
            "way": random.choice(["parallel", "series"]),
        },
        "delete": {"name": random.choice(elements)},
        "join": {"first": random.choice(nodes), "second": random.choice(nodes)},
        "connect": {"name": random.choice(elements), "terminal": random.randint(0, 4), "node": random.choice(nodes)},
        "rename": {"name": random.choice([*elements, *nodes]), "new": f"n{random.randint(1, 30)}"},
        "set": {"path": ["parameters", random.choice(parameters)], "text": f"{random.randint(1, 9)}"},
        "move": {
            "notation": random.choice(["bond", "network"]),
            "name": random.choice(elements),
            "x": random.randint(0, 400),
            "y": 10,
        },
        "limit": {"limits": {random.choice(parameters): random.choice(["0", "inf"])}},
        "turn": {"name": random.choice(elements)},
        "rotate": {"name": random.choice(elements)},
    }
    return name, arguments[name]


def figures_of(shown: Structure, text: str) -> int:
    """How many of schematic and bond graph there are; they show the elements that the text has, or say why not."""
    found = 0
    for view in ("network", "bond") if shown.ok else ():
        made = picture(text, "model.yaml", str(SYSTEMS), view, "colour")
        assert bool(made.svg) != bool(made.reason)
        assert "to be put anywhere" not in made.reason, "what is gone left its place in the layout"
        drawn = set(re.findall(r'data-element="([^"]+)"', made.svg))
        known = {one.name for one in shown.elements}
        if made.svg and view == "network":
            weightless = {one.name for one in shown.elements if one.kind.startswith("weightless")}
            own = {one.name for one in shown.elements if one.own}
            assert not own - drawn - weightless, own - drawn
        elif made.svg and known:
            # Fields of several ports are drawn as one; each name leads to an element that the page knows.
            assert known & {name for word in drawn for name in (word, *shown.links.get(word, ()))}, drawn
        found += bool(made.svg)
    return found


def test_a_bond_graph_leads_to_the_elements_of_parts() -> None:
    text = (SYSTEMS / "rapson_slide.yaml").read_text()
    made = picture(text, "model.yaml", str(SYSTEMS), "bond", "colour")
    assert 'data-element="slide_K_1"' in made.svg
    assert structure(1, text, "model.yaml", str(SYSTEMS)).links["slide_K_1"] == ("slide.K_1",)


def play(folder: Path, count: int, seed: int, *, drawn_each: int) -> None:
    """Random gestures, undo and redo on one document; after each the file is the text, and undo leads back to the beginning."""
    chance = random.Random(seed)
    examples = [name for name in example_names() if "network:" in (SYSTEMS / f"{name}.yaml").read_text()]
    path = folder / f"model_{seed}.yaml"
    first = EMPTY_PAGE.format(name="New", notation="network")
    document = OpenDocument.new(path.name, path, first)
    document.write()
    done = refused = right = figures = 0
    for k in range(count):
        if k % 20 == 9:  # models do not grow for ever, and others are tried too
            document.edit("another", (SYSTEMS / f"{chance.choice(examples)}.yaml").read_text())
        if chance.random() < 0.15:
            document.undo()
        elif chance.random() < 0.08:
            document.redo()
        else:
            name, arguments = random_gesture(chance, document.text)
            try:
                made = act(document.text, name, **arguments)
            except tg.TellegenError:
                refused += 1
                continue
            document.edit(made.label, made.text)
            done += 1
        assert path.read_text() == document.text
        # Whatever physics says of it, the file is YAML that the reader takes apart and can say something about.
        shown = structure(k, document.text, path.name, str(SYSTEMS))
        right += shown.ok
        if shown.ok and right % drawn_each == 0:
            figures += figures_of(shown, document.text)
        read_tree(document.text)
    assert done > count // 4
    assert refused > 0
    assert figures >= right // drawn_each > 0, right
    texts = [document.text]
    while document.undo():
        texts.append(document.text)
    for text in reversed(texts[:-1]):
        assert document.redo()
        assert document.text == text


def test_random_gestures_leave_text_and_history_consistent(tmp_path: Path) -> None:
    play(tmp_path, 60, seed=1, drawn_each=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 12))
def test_ten_thousand_random_gestures(tmp_path: Path, seed: int) -> None:
    play(tmp_path, 1000, seed, drawn_each=10)


def test_every_gesture_is_told_in_a_sentence() -> None:
    assert all((act.__doc__ or "").strip() for act in GESTURES.values())
