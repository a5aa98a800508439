"""A report shows a model whole, in one file that needs nothing else; one with mistakes shows the mistakes."""

import re
import subprocess
from base64 import b64decode
from collections.abc import Callable
from pathlib import Path

import pytest

import tellegen as tg
from tellegen.reporting import run_sections
from tellegen.reporting.formulas import formula_lines, to_mathml
from tellegen.reporting.html import to_html
from tellegen.reporting.pages import Formulas, Listing, Picture, Report, Section, Table, Words
from tellegen.reporting.run_sections import FRAMES

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ALONE = [*QUIET, "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"]

WRONG = """system: Two supplies
network:
  V_1: {voltage source: [a, gnd]}
  V_2: {voltage source: [a, gnd]}
  R:   {resistor: [a, gnd], R: 10 ohm}
"""


@pytest.fixture(scope="module")
def motor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "motor.html"
    tg.report("dc_motor_pump", file)
    return file


def test_every_part_of_the_model_is_there(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    titles = re.findall(r"<h2 id=\"[^\"]+\">([^<]+)</h2>", page)
    assert titles[:4] == ["Findings", "Figures", "Parameters", "Equations"]
    assert titles[-2:] == ["The model", "How to make this page again"]
    assert {"Properties", "Reductions", "Experiment", "Energy"} <= set(titles)
    assert page.count("<math") >= 4
    assert "voltage source" in page


def test_page_is_small_and_loads_nothing(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    assert motor.stat().st_size < 5_000_000
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", page)
    assert "<script" not in page


def test_page_shows_who_gave_energy_and_the_motion(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    assert "Who gave energy and who took it" in page
    drawn = [b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", page)]
    assert sum(picture.count("<animate ") for picture in drawn) == FRAMES
    assert page.index(">Energy<") < page.index(">Motion<")


def test_motion_that_is_too_large_is_left_to_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(run_sections, "LARGEST_MOTION", 1000)
    made = tg.report("rlc", tmp_path / "rlc.html")
    (moving,) = [section for section in made.sections if section.title == "Motion"]
    assert "tellegen draw rlc --as bond --animate" in str(moving.blocks[0])


def test_browser_opens_it_without_errors_or_network(
    motor: Path, system_tool: Callable[[str], str], tmp_path: Path
) -> None:
    browser = system_tool("chromium")
    log = ["--enable-logging=stderr", "--v=0", f"--user-data-dir={tmp_path}", "--dump-dom"]
    done = subprocess.run(
        [browser, *ALONE, *log, motor.as_uri()], capture_output=True, text=True, check=False, timeout=120
    )
    assert "<h1>DC motor driving a hydraulic pump</h1>" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_progress_names_the_sections(tmp_path: Path) -> None:
    heard: list[str] = []
    tg.report("rlc", tmp_path / "rlc.html", progress=heard.append)
    assert heard[:3] == ["Findings", "Figures", "Parameters"]


def test_limits_lead_to_smaller_models_one_after_another(tmp_path: Path) -> None:
    chain = [{"J_m": 0}, {"b_m": 0}]
    made = tg.report("dc_motor_pump", tmp_path / "motor.html", limits=chain)
    (found,) = [section for section in made.sections if section.title == "Reductions"]
    first, second = (block.text for block in found.blocks if isinstance(block, Words) and "remain" in block.text)
    assert first.startswith("J_m = 0: 2 of 3 states remain (I_a, P_0). Still told by formulas: omega_m.")
    assert second.startswith("b_m = 0 as well: 1 of 3 states remain (I_a).")
    (table,) = [block for block in found.blocks if isinstance(block, Table)]
    assert table.head == ("limits", "I_a [A]", "P_0 [Pa]")
    losses = [float(row[1]) for row in table.rows]
    alone = tg.simulate(tg.reduce("dc_motor_pump", chain[0]), samples=1000, rtol=1e-9)
    full = tg.simulate("dc_motor_pump", times=alone.t, rtol=1e-9)
    assert losses[0] == pytest.approx(full.compare(alone, "I_a").differences["I_a"].largest, rel=0.01)
    assert losses[1] > losses[0]


def test_limit_that_does_not_exist_is_told_in_its_section(tmp_path: Path) -> None:
    made = tg.report("rlc", tmp_path / "rlc.html", limits=[{"nothing": 0}])
    (found,) = [section for section in made.sections if section.title == "Reductions"]
    assert "'nothing'" in str(found.blocks[0])
    assert "Experiment" in [section.title for section in made.sections]


def test_markdown_has_its_pictures_beside_it(tmp_path: Path) -> None:
    tg.report("rlc", tmp_path / "rlc.md")
    text = (tmp_path / "rlc.md").read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert shown
    assert all((tmp_path / name).read_text(encoding="utf-8").startswith("<svg") for name in shown)


def test_pdf_is_printed_by_a_browser(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    system_tool("chromium")
    tg.report("spring_damper", tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_pdf_without_a_browser_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tg.ExportError, match=r"X303.*no Chromium or Chrome") as caught:
        tg.report("rlc", tmp_path / "page.pdf")
    assert "write the report as .html" in caught.value.finding.fix


def test_model_with_mistakes_gets_a_report_that_shows_them(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    made = tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    assert [section.title for section in made.sections] == ["Findings", "The model", "How to make this page again"]
    assert "K101" in str(made.sections[0].blocks[0])
    assert WRONG.splitlines()[2] in made.sections[1].blocks[0].text  # type: ignore[union-attr]


def test_file_that_cannot_be_read_gets_a_report_too(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("system: [", encoding="utf-8")
    made = tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    assert "D0" in str(made.sections[0].blocks[0])


@pytest.mark.parametrize(("name", "message"), [("page.docx", "X301.*'.docx'"), ("page", "X301.*'page'")])
def test_unknown_format_is_refused_before_any_work(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(tg.ExportError, match=message):
        tg.report("rlc", tmp_path / name)


def test_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(tg.ExportError, match="X302"):
        tg.report("spring_damper", tmp_path / "nowhere" / "page.html")


def test_text_of_a_model_cannot_become_html() -> None:
    nasty = "<script>alert(1)</script>"
    blocks = (Words(nasty), Listing(nasty), Table((nasty,), ((nasty,),)), Picture("x", "<svg/>", nasty))
    page = to_html(Report(nasty, nasty, (Section(nasty, blocks),)))
    assert "<script>" not in page


def test_lines_of_formulas_leave_matrices_whole() -> None:
    latex = r"\begin{align*} \begin{bmatrix} a & b \\ c & d \end{bmatrix} x &= y \\ E &= m \end{align*}"
    first, second = formula_lines(latex)
    assert first == r"\begin{bmatrix} a & b \\ c & d \end{bmatrix} x = y"
    assert second == "E = m"
    assert "<mtable>" in to_mathml(first)
    assert to_html(Report("t", "", (Section("s", (Formulas((first, second)),)),))).count("<math") == 2
