"""What `explain` says of a rule cannot lie: its example breaks the rule, what stands instead keeps it.."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import generate_docs
from tellegen.causality import assign_causality
from tellegen.core.errors import Finding, TellegenError
from tellegen.core.shipped import part_names
from tellegen.equations.checking import loops_of_several_values
from tellegen.equations.derivation import derive_equations
from tellegen.graph import lower
from tellegen.notations.loading import read
from tellegen.workflow.explaining import PlacedRule, rules
from tellegen.workflow.importing import imported_and_written

RULES = list(rules())
SHOWN = [placed for placed in RULES if placed.rule.example]

WITHOUT_EXAMPLE = {
    **{f"G20{k}": "a scheme asked for, not something in a file" for k in (1, 2, 3, 4, 6, 7, 8)},
    "G209": "a path asked for, not something in a file",
    **{f"G21{k}": "an operation on a scheme, not something in a file" for k in range(4)},
    "G230": "a scheme asked for, not something in a file",
    **{f"G23{k}": "an operation on a scheme, not something in a file" for k in range(1, 6)},
    "F180": "a figure asked for, not something in a file",
    "F181": "a figure asked for, not something in a file",
    "F182": "a figure asked for, not something in a file",
    "F183": "a figure asked for, not something in a file",
    "F150": "a scheme made by hand, not something in a file",
    "F151": "a scheme made by hand, not something in a file",
    "F152": "a scheme made by hand, not something in a file",
    "F153": "a figure asked for, not something in a file",
    "F160": "a figure asked for, not something in a file",
    "F161": "a figure asked for, not something in a file",
    "F162": "a figure asked for, not something in a file",
    "F190": "a figure asked for, not something in a file",
    "F191": "stages that a figure does not have",
    "L101": "an exercise asked for, not something in a file",
    "L102": "an exercise asked for, not something in a file",
    "L103": "variants asked for, not something in a file",
    "L104": "a sheet that is no sheet",
    "L105": "a file that the system refuses",
    "L110": "a file of answers",
    "L111": "a file of answers",
    "L112": "a file of answers",
    "L113": "a file of answers",
    "G240": "a scheme asked for, not something in a file",
    "D053": "a conversion asked for in Python, not something in a file",
    "D069": "a file that is too large would make a page that is too large",
    "D070": "control characters and broken UTF-8 cannot be shown on a page",
    "D072": "a missing file is broken by no file",
    "D073": "an edit asked for, not something in a file",
    "D074": "a file that cannot be written, not something in it",
    "D720": "names of files come from a page, not from a model",
    "D721": "names of files come from a page, not from a model",
    "D722": "bytes, rights and sizes of files are broken by no text",
    "D723": "gestures come from a page, not from a model",
    "D724": "gestures come from a page, not from a model",
    "D725": "whether pages are built is a matter of the installation",
    "D726": "time and memory are a matter of the machine",
    "D727": "ports are a matter of the machine",
    "D728": "how many files a folder has is no matter of a model",
    "D729": "names of snapshots come from a page, not from a model",
    "D200": "a missing file is broken by no file",
    "D201": "control characters cannot be shown on a page",
    "D202": "a file that is too large would make a page that is too large",
    "D203": "nobody reads an example of ten thousand characters",
    "D240": "a page is UTF-8, so it cannot show a file that is not",
    "D300": "a name given to a command, not something in a file",
    "D301": "a name given to a command, not something in a file",
    "D302": "a file that is there already, not something in it",
    "D303": "a form asked for, not something in a file",
    "D486": "a notation asked for, not something in a file",
    "D304": "a file given to a command, not something in it",
    "D305": "an operating point asked for, not something in a file",
    "D306": "a code asked for, not something in a file",
    "D309": "a file of another tool, not a model file",
    "D310": "a file of another tool, not a model file",
    "D311": "an option of a command, not something in a file",
    "D312": "a missing file is broken by no file",
    "D317": "a deck that is too large would make a page that is too large",
    "D603": "nobody reads an example of seventeen files",
    "E107": "matrices without a model, not something in a file",
    "E121": "a closed loop asked for, not something in a file",
    "E122": "a closed loop asked for, not something in a file",
    "G122": "a course given to a run, not something in a file",
    "G123": "a course given to a run, not something in a file",
    "G124": "a course left out of a run, not something in a file",
    "G108": "a mode asked for, not something in a file",
    "K205": "combinations of modes are tried by 'check', not on the way to the equations",
    **{
        f"S{k}": "something asked of a run or met on the way, not something in a file"
        for k in range(101, 129)
        if k != 117
    },
    **{f"N10{k}": "a compiler or a cache of this machine, not something in a file" for k in range(1, 5)},
    **{f"N10{k}": "numbers or signals asked for when a model is compiled" for k in range(5, 10)},
    "N111": "a cache of this machine, not something in a file",
    "N112": "a unit of somebody, and its library",
    "D010": "met where formulas are worked out, with values that are not those of the file",
    **{f"N11{k}": "values given to a run, not something in a file" for k in (3, 4)},
    "D325": "said about a unit of somebody, not about a model file",
    "N110": "met when a model is compiled, after its equations",
    **{f"S17{k}": "something asked of a run or met on the way, not something in a file" for k in (5, 6, 7, 8)},
    **{f"S13{k}": "something met during a run, not in a file" for k in (0, 1)},
    "E104": "a form asked for, not something in a file",
    **{f"T1{k:02}": "a limit asked for, not something in a file" for k in range(1, 11)},
    **{f"T11{k}": "a connection made elastic, not something in a file" for k in range(1, 4)},
    **{f"T30{k}": "a study asked for, not something in a file" for k in range(1, 7)},
    **{f"T20{k}": "a limit asked for, not something in a file" for k in range(1, 5)},
    "E130": "an operation on equations, not something in a file",
    "E131": "an operation on equations, not something in a file",
    "E132": "an output asked for, not something in a file",
    "E133": "an output asked for, not something in a file",
    "E134": "an input asked for, not something in a file",
    **{f"E14{k}": "an inverse asked for, not something in a file" for k in range(3)},
    **{f"S45{k}": "an inverse asked for, not something in a file" for k in range(1, 7)},
    **{f"S46{k}": "a controller asked for, not something in a file" for k in range(1, 4)},
    **{f"C1{k:02}": "a form or a motion asked for, not something in a file" for k in range(1, 12)},
    "T130": "a transformation asked for, not something in a file",
    "T140": "a limit asked for, not something in a file",
    "E105": "numbers asked for, not something in a file",
    "E110": "values given to a run, not something in a file",
    "E106": "an operating point asked for, not something in a file",
    **{f"E20{k}": "an analysis asked for, not something in a file" for k in range(1, 6)},
    **{f"S2{k:02}": "something asked of a run, not something in a file" for k in range(1, 11)},
    **{f"S30{k}": "something given to a call, not something in a file" for k in range(1, 8)},
    "S309": "where a run begins, not something that a file is refused for",
    "S308": "a formula that switches millions of times: the run would take long",
    "S179": "met during a run, not something in a file",
    "S132": "met during a run, not something in a file",
    **{f"S4{k:02}": "many runs asked for, not something in a file" for k in range(1, 20)},
    **{f"S43{k}": "a graphics card asked for, not something in a file" for k in range(2)},
    **{f"S4{k}": "a fit asked for, not something in a file" for k in range(20, 30)},
    "S340": "positions given to a run, not something in a file",
    "S341": "met during a run, not something in a file",
    "S342": "initial values given to a run, not something that a file is refused for",
    "S343": "where a run begins, not something that a file is refused for",
    **{f"F10{k}": "a figure asked for, not something in a file" for k in range(1, 8)},
    **{f"F20{k}": "a figure of a run asked for, not something in a file" for k in range(7)},
    "X001": "a package that is missing, not something in a file",
    **{f"X30{k}": "a report asked for, not something in a file" for k in range(1, 6)},
    **{f"X4{k:02}": "an export asked for, not something in a file" for k in range(1, 15)},
    **{f"X20{k}": "a file of a run, not a model file" for k in range(1, 4)},
}
"""Rules that no example on a page can break, each with the reason."""


def findings_of(text: str, path: Path) -> list[Finding]:
    """Everything found on the way from a file to its equations."""
    path.write_text(text, encoding="utf-8")
    found: list[Finding] = []
    try:
        if path.suffix not in (".yaml", ".txt"):
            found += imported_and_written(path, path.with_suffix(".yaml"), force=True).findings
            path = path.with_suffix(".yaml")
        model = read(path)
        found += model.findings
        graph = lower(model)
        found += graph.findings
        causal = assign_causality(graph)
        found += causal.findings
        found += loops_of_several_values(derive_equations(causal))
    except TellegenError as error:
        found += error.findings
    return found


def findings_for(placed: PlacedRule, text: str, folder: Path) -> list[Finding]:
    return findings_of(text, folder / f"model{placed.ending}")


def code_of(placed: PlacedRule) -> str:
    return placed.rule.code


def test_codes_are_used_once() -> None:
    twice = [code for code, count in Counter(p.rule.code for p in RULES).items() if count > 1]
    assert not twice


def test_rules_without_example_are_listed_with_their_reason() -> None:
    assert {p.rule.code for p in RULES if not p.rule.example} == set(WITHOUT_EXAMPLE)


def test_rules_with_an_example_say_what_to_write_instead() -> None:
    assert not [p.rule.code for p in SHOWN if not p.rule.instead]


@pytest.mark.parametrize("placed", SHOWN, ids=code_of)
def test_example_breaks_the_rule(placed: PlacedRule, tmp_path: Path) -> None:
    found = findings_for(placed, placed.rule.example, tmp_path)
    mine = [f for f in found if f.code == placed.rule.code]
    assert mine, f"{placed.rule.code} is not among the findings:\n" + "\n".join(map(str, found))
    assert {f.severity for f in mine} == {placed.rule.severity}


@pytest.mark.parametrize("placed", [p for p in SHOWN if p.rule.instead], ids=code_of)
def test_what_stands_instead_is_right(placed: PlacedRule, tmp_path: Path) -> None:
    found = findings_for(placed, placed.rule.instead, tmp_path)
    wrong = [f for f in found if f.code == placed.rule.code or f.severity == "error"]
    assert not wrong, "\n".join(map(str, wrong))


def test_pages_are_those_of_the_code() -> None:
    run = subprocess.run(
        [sys.executable, generate_docs.__file__, "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("part", part_names())
def test_each_part_of_the_library_stands_in_a_machine(part: str) -> None:
    assert generate_docs.machines_with(part), f"no page of the gallery and no example uses '{part}'"
