"""The table "Where to add" in ARCHITECTURE.md is true: a toy is added by each of its rows, in the files that the row names alone.

The toys of `toys.py` are written into a copy of the package, and each is then used as one that comes with it: on the command line
and, where Python has the same, in Python. One process runs all commands: starting Python takes longer than any of them.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from layering.sources import PACKAGE
from layering.toys import ADDITIONS, MODELS, NEW, Edit

ARCHITECTURE = PACKAGE.parents[1] / "ARCHITECTURE.md"

COMMANDS = {
    "check the kind": "check circuit.yaml",
    "derive the kind": "derive circuit.yaml --json",
    "simulate the kind": "simulate circuit.yaml --json",
    "draw the kind": "draw circuit.yaml --as network -o circuit.json",
    "simulate the modes": "simulate valve.yaml --json",
    "derive the domain": "derive vessel.yaml",
    "simulate the domain": "simulate vessel.yaml --json",
    "draw the network": "draw vessel.yaml --as network -o network.json",
    "draw the bond graph": "draw vessel.yaml --as bond -o bond.json",
    "draw the POG": "draw vessel.yaml --as pog -o pog.json",
    "simulate the joint": "simulate sledge.yaml --json",
    "draw the joint": "draw sledge.yaml --as mechanism -o sledge.json",
    "the form as text": "derive circuit.yaml --form toy",
    "the form in LaTeX": "derive circuit.yaml --form toy --latex",
    "the form as JSON": "derive circuit.yaml --form toy --json",
    "the solver": "simulate circuit.yaml --solver toy --step 0.01 --json",
    "the solver without its step": "simulate circuit.yaml --solver toy",
    "the figure": "draw circuit.yaml -o circuit.toy",
    "the export": "export circuit.yaml --to toy -o exported",
    "the kind of figure": "draw circuit.yaml --as toy -o name.json",
    "the run": "simulate circuit.yaml -o run.toy",
    "the command": "count circuit.yaml",
    "all commands": "--help",
    "help": "derive --help",
    "help of figures": "draw --help",
    "help of runs": "simulate --help",
    "the option": "derive circuit.yaml --instead vessel.yaml --json",
    "the option of runs": "simulate circuit.yaml --brief --json",
    "the option of figures": "draw circuit.yaml --playful -o playful.toy",
}

PROGRAM = """
import contextlib, io, json, sys
import tellegen
from tellegen.cli.main import main

def run(words):
    sys.argv = ["tellegen", *words.split()]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as end:
            return end.code, out.getvalue(), err.getvalue()

told = {name: run(words) for name, words in json.loads(sys.argv[1]).items()}
told["package"] = 0, tellegen.__file__, ""
told["the option in Python"] = 0, " ".join(tellegen.derive("circuit.yaml", instead="vessel.yaml").states), ""
told["the shape in Python"] = 0, str(tellegen.simulate("vessel.yaml", inputs={"mu": tellegen.still(2)}).final()["mu"]), ""
told["the command in Python"] = 0, str(tellegen.count("circuit.yaml")), ""
told["the option of runs in Python"] = 0, str(tellegen.simulate("circuit.yaml", brief=True).final()["v_C"]), ""
tellegen.draw("circuit.yaml", playful=True).save("python.toy")
print(json.dumps(told))
"""


class Answer(NamedTuple):
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def record(self) -> Any:
        """What it printed, as JSON; the command must have succeeded."""
        assert self.status == 0, self.err
        return json.loads(self.out)


class Workshop(NamedTuple):
    """The copy of the package with all toys, and what commands said there."""

    folder: Path
    place: Mapping[str, str]
    answers: Mapping[str, Answer]

    def file(self, name: str, command: str) -> str:
        """A file that a command wrote."""
        assert self.answers[command].status == 0, self.answers[command].err
        return (self.folder / name).read_text(encoding="utf-8")

    def drawn(self, name: str, command: str) -> set[tuple[str, str]]:
        """What the shapes of a figure stand for: elements, and the parts of them."""
        origins = [shape.get("origin", {}) for shape in json.loads(self.file(name, command))["shapes"]]
        return {(origin.get("element", ""), origin.get("part", "")) for origin in origins}


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    """All toys in one copy, all commands in one process: a copy and a library of solvers for each would take minutes."""
    folder = tmp_path_factory.mktemp("adding")
    unused = shutil.ignore_patterns("__pycache__", "tellegen_solvers.*")
    shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=unused)
    for row, edits in ADDITIONS.items():
        for edit in edits:
            add(row, edit, folder / PACKAGE.name)
    for name, text in MODELS.items():
        (folder / name).write_text(text.lstrip(), encoding="utf-8")
    place = {
        **os.environ,
        "COLUMNS": "150",
        "PYTHONPATH": str(folder),
        "TELLEGEN_CACHE": str(folder / "cache"),
    }
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(COMMANDS)],
        cwd=folder,
        env=place,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stderr
    answers = {name: Answer(*told) for name, told in json.loads(run.stdout.splitlines()[-1]).items()}
    assert Path(answers["package"].out).is_relative_to(folder), "the copy is what ran"
    return Workshop(folder, place, answers)


def add(row: str, edit: Edit, package: Path) -> None:
    """Write a new file, or put a text into one that is there."""
    file, place, more = edit
    path, gone = package / file, f"the place for {row} is gone:"
    if place == NEW:
        assert path.parent.is_dir(), f"{gone} there is no folder for {file}"
        assert not path.exists(), f"{file} is a new file"
        path.write_text(more, encoding="utf-8")
        return
    assert path.is_file(), f"{gone} there is no file {file}"
    text = path.read_text(encoding="utf-8")
    found = re.search(place, text, re.MULTILINE | re.DOTALL)
    assert found, f"{gone} nothing in {file} matches {place!r}"
    path.write_text(text[: found.end()] + more + text[found.end() :], encoding="utf-8")


def told_rows() -> dict[str, str]:
    """The table of ARCHITECTURE.md: what is added, and where."""
    table = ARCHITECTURE.read_text(encoding="utf-8").partition("## Where to add")[2]
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)
    return {what: where for what, where in rows if what != "what"}


def named_places(where: str) -> set[str]:
    """The files and folders of the package that a cell names between backquotes."""
    words = (word.removeprefix("tellegen/").rstrip("/") for word in re.findall(r"`([^`]+)`", where))
    return {word for word in words if (PACKAGE / word).exists()}


@pytest.mark.parametrize("row", ADDITIONS)
def test_the_table_names_what_has_to_be_written(row: str) -> None:
    rows = told_rows()
    assert row in rows, f"the table has no row '{row}'"
    # A new file stands in a folder that is named.
    written = {str(Path(file).parent) if place == NEW else file for file, place, _ in ADDITIONS[row]}
    assert named_places(rows[row]) == written


def test_the_table_names_nothing_that_is_gone() -> None:
    paths = {word for where in told_rows().values() for word in re.findall(r"`([^`]+)`", where) if "/" in word}
    roots = PACKAGE, PACKAGE.parent, ARCHITECTURE.parent
    assert not {path for path in paths if not any((root / path).exists() for root in roots)}


CHARGED = 6 * (1 - exp(-2))
"""The state of a storage of 0.5 behind a resistance of 2 after two seconds, two time constants, under an input of 6."""


def test_an_element_kind(workshop: Workshop) -> None:
    assert "no errors" in workshop.answers["check the kind"].out
    assert workshop.answers["derive the kind"].record["A"] == [["1/R"]]
    assert workshop.answers["simulate the kind"].record["final"]["I_V"] == pytest.approx((6 - CHARGED) / 2, rel=1e-5)
    assert ("R", "symbol") in workshop.drawn("circuit.json", "draw the kind")


def test_an_element_with_modes(workshop: Workshop) -> None:
    assert workshop.answers["simulate the modes"].record["final"]["v_C"] == pytest.approx(CHARGED, rel=1e-5)


def test_a_domain(workshop: Workshop) -> None:
    derived = workshop.answers["derive the domain"]
    assert derived.status == 0, derived.err
    assert "mu_C [J/mol]" in derived.out
    assert workshop.answers["simulate the domain"].record["final"]["mu_C"] == pytest.approx(CHARGED, rel=1e-5)
    for name in ("network", "bond", "pog"):
        command = {"network": "draw the network", "bond": "draw the bond graph", "pog": "draw the POG"}[name]
        assert {"R", "C"} <= {element for element, _ in workshop.drawn(f"{name}.json", command)}
    assert r"\\dot{N}" in workshop.file("bond.json", "draw the bond graph")


def test_a_signal_block(workshop: Workshop) -> None:
    final = workshop.answers["simulate the kind"].record["final"]
    assert final["V"] == 6
    assert final["v_C"] == pytest.approx(CHARGED, rel=1e-5)


def test_a_joint(workshop: Workshop) -> None:
    # The mass over the damping is half a second, and the run takes one.
    final = workshop.answers["simulate the joint"].record["final"]
    assert final["v_x"] == pytest.approx(3 * exp(-2), rel=1e-5)
    assert ("T", "joint") in workshop.drawn("sledge.json", "draw the joint")


def test_a_form_of_equations(workshop: Workshop) -> None:
    assert workshop.answers["the form as text"].out == "1 states: v_C\n"
    assert workshop.answers["the form in LaTeX"].out == "n = 1\n"
    assert workshop.answers["the form as JSON"].record == {"states": ["v_C"]}
    assert "toy: a list" in workshop.answers["help"].out


def test_a_solver(workshop: Workshop) -> None:
    record = workshop.answers["the solver"].record
    assert record["solver"] == "toy"
    # Of fourth order: the steps are those between rows, 2 ms or 2/1000 time constants, and the energy is kept as exactly.
    assert record["final"]["v_C"] == pytest.approx(CHARGED, rel=1e-10)
    assert abs(record["energy"]["residual"]) < 1e-6 * record["energy"]["supplied"]
    assert "keeps its step" in workshop.answers["the solver without its step"].err


def test_a_format_of_figures(workshop: Workshop) -> None:
    assert workshop.file("circuit.toy", "the figure").splitlines() == ["C", "R", "as usual"]


def test_a_tool_to_export_to(workshop: Workshop) -> None:
    assert workshop.file("exported/circuit.toy", "the export").split() == ["V", "R", "C"]


def test_an_option(workshop: Workshop) -> None:
    assert "--instead" in workshop.answers["help"].out
    assert workshop.answers["the option"].record["states"] == ["mu_C"]
    assert workshop.answers["the option in Python"].out == "mu_C"
    assert "--brief" in workshop.answers["help of runs"].out
    for final in (
        workshop.answers["the option of runs"].record["final"]["v_C"],
        float(workshop.answers["the option of runs in Python"].out),
    ):
        assert final == pytest.approx(6 * (1 - exp(-1)), rel=1e-5)
    assert "--playful" in workshop.answers["help of figures"].out
    assert workshop.file("playful.toy", "the option of figures").endswith("as asked for")
    assert (workshop.folder / "python.toy").read_text(encoding="utf-8").endswith("as asked for")


def test_a_unit_and_a_function_in_formulas(workshop: Workshop) -> None:
    assert workshop.answers["simulate the kind"].record["final"]["u"] == 6  # two times log2(8) times half of 2 V


def test_a_shape_over_time(workshop: Workshop) -> None:
    assert workshop.answers["simulate the domain"].record["final"]["mu"] == 6
    assert workshop.answers["the shape in Python"].out == "2.0"


def test_a_kind_of_figure(workshop: Workshop) -> None:
    assert workshop.drawn("name.json", "the kind of figure") == {("Toy circuit", "name")}


def test_a_format_of_runs(workshop: Workshop) -> None:
    assert "v_C" in workshop.file("run.toy", "the run").split()


def test_a_command(workshop: Workshop) -> None:
    assert workshop.answers["the command"].out == "3\n"
    program = [sys.executable, "-m", "tellegen", "count", "circuit.yaml"]
    assert subprocess.check_output(program, cwd=workshop.folder, env=workshop.place, text=True) == "3\n"
    assert workshop.answers["the command in Python"].out == "3"
    assert "Count the elements of a model." in workshop.answers["all commands"].out
