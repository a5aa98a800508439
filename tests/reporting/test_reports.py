"""A report shows a model whole, in one file that needs nothing else; one with mistakes shows the mistakes."""

import json
import re
import subprocess
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html import unescape
from itertools import islice
from pathlib import Path
from urllib.parse import unquote
from xml.etree.ElementTree import fromstring

import pytest

import tellegen as tg
from command_line import tellegen
from tellegen.core.errors import Finding
from tellegen.notations.reading import read_model
from tellegen.reporting import reports
from tellegen.reporting.formulas import LINE, WIDEST, formula_lines, page_lines, to_mathml, width_of
from tellegen.reporting.html import to_html
from tellegen.reporting.pages import (
    Folded,
    Listing,
    PageFormulas,
    PagePicture,
    PageSection,
    PageTable,
    Paragraph,
    Report,
)
from tellegen.reporting.reports import FRAMES, Subject, equations_section, findings_section, notices_section
from tellegen.reporting.writing import write_report
from tellegen.scenes.typesetting import set_math

QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ALONE = [*QUIET, "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND"]

WRONG = """system: Two supplies
network:
  V_1: {voltage source: [a, gnd]}
  V_2: {voltage source: [a, gnd]}
  R:   {resistor: [a, gnd], R: 10 ohm}
"""

GROWS = """system: Grows without bound
parameters: {C: 1 F, g: 1 A/V^3}
network:
  I: {current source: [gnd, a]}
  C: {capacitor: [a, gnd]}
  G: {resistor: [a, gnd], law: i = -g*u^3}
experiment: {until: 10 s, inputs: {I: 1 A}}
"""

CANCELLED = Finding("S125", "notice", "the run was cancelled at t = 1 ms")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    """A report, and its page."""
    file = tmp_path_factory.mktemp("report") / "motor.html"
    return tg.report("dc_motor_pump", file), file


@pytest.fixture(scope="module")
def motor(made: tuple[Report, Path]) -> Path:
    return made[1]


def test_every_part_of_the_model_is_there(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    titles = re.findall(r"<h2 id=\"[^\"]+\">([^<]+)</h2>", page)
    assert titles[:5] == ["Figures", "Experiment", "Motion", "Equations", "Parameters"]
    assert titles[-2:] == ["The model", "How to make this page again"]
    assert {"Properties", "Reductions", "Experiment", "Energy"} <= set(titles)
    assert page.count("<math") >= 4
    assert "voltage source" in page


def test_page_is_small_and_loads_nothing(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    assert motor.stat().st_size < 5_000_000
    plain = re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"(?:src|href)=\"(?!#|data:)", plain)
    assert sum(map(len, re.findall(r"<script>.*?</script>", page, flags=re.DOTALL))) < 150_000


def test_only_the_script_of_the_page_may_run(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'" in page
    assert not re.search(r"<[^>]* on\w+=", page.replace(script, ""))


def test_parameters_have_the_units_of_the_file_and_what_it_says_of_them(made: tuple[Report, Path]) -> None:
    (section,) = [section for section in made[0].sections if section.title == "Parameters"]
    (table,) = section.blocks
    assert isinstance(table, PageTable)
    assert table.rows[:2] == (("L_a", "2", "mH", "armature inductance"), ("R_a", "0.5", "Ω", "armature resistance"))
    assert table.rows[3][1:3] == ("0.001", "kg·m²")


def test_nothing_of_a_page_is_text_of_a_terminal(made: tuple[Report, Path]) -> None:
    shown = [(s.title, block) for s in made[0].sections for block in s.blocks if isinstance(block, Listing)]
    assert [title for title, _ in shown] == ["The model", "How to make this page again"]


def test_page_shows_who_gave_energy_and_the_motion(motor: Path) -> None:
    page = motor.read_text(encoding="utf-8")
    assert "Who gave energy and who took it" in page
    drawn = [unquote(data) for data in re.findall(r"svg\+xml;charset=utf-8,([^\"]+)", page)]
    assert sum(picture.count("<animate ") for picture in drawn) == FRAMES
    assert page.index(">Motion<") < page.index(">Energy<")


def test_motion_that_is_too_large_is_left_to_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(reports, "LARGEST_MOTION", 1000)
    made = tg.report("rlc", tmp_path / "rlc.html")
    (moving,) = [section for section in made.sections if section.title == "Motion"]
    assert "tellegen draw rlc --as bond --animate" in str(moving.blocks[0])


def test_progress_names_the_sections(tmp_path: Path) -> None:
    heard: list[str] = []
    tg.report("rlc", tmp_path / "rlc.html", progress=heard.append)
    assert heard[:3] == ["Findings", "Figures", "Experiment"]


def test_limits_lead_to_smaller_models_one_after_another(tmp_path: Path) -> None:
    chain = [{"J_m": 0}, {"b_m": 0}]
    made = tg.report("dc_motor_pump", tmp_path / "motor.html", limits=chain)
    (found,) = [section for section in made.sections if section.title == "Reductions"]
    first, second = (block.text for block in found.blocks if isinstance(block, Paragraph) and "remain" in block.text)
    assert first.startswith("J_m = 0: 2 of 3 states remain (I_a, P_0). Still told by formulas: omega_m.")
    assert second.startswith("b_m = 0 as well: 1 of 3 states remain (I_a).")
    (table,) = [block for block in found.blocks if isinstance(block, PageTable)]
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


def test_pdf_without_a_browser_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(tg.ExportError, match=r"X303.*no Chromium or Chrome") as caught:
        tg.report("rlc", tmp_path / "page.pdf")
    assert "write the report as .html" in caught.value.finding.fix


def test_model_with_mistakes_gets_a_report_that_shows_them(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    made = tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    titles = ["Findings", "Figures", "Parameters", "The model", "How to make this page again"]
    assert [section.title for section in made.sections] == titles
    assert "K101" in str(made.sections[0].blocks[0])
    assert [block.name for block in made.sections[1].blocks if isinstance(block, PagePicture)] == ["network", "bond"]
    assert "No Power-Oriented Graph: 'V_2' cannot impose its voltage" in str(made.sections[1].blocks[-1])
    assert WRONG.splitlines()[2] in made.sections[3].blocks[-1].text  # type: ignore[union-attr]


def test_properties_of_a_model_without_values_say_what_they_need_and_are_no_mistake(tmp_path: Path) -> None:
    text = "system: s\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b]}\n  L: {inductor: [b, gnd]}\n"
    (tmp_path / "plain.yaml").write_text(text, encoding="utf-8")
    made = tg.report(tmp_path / "plain.yaml", tmp_path / "plain.md")
    shown = {section.title: section.blocks for section in made.sections}
    assert shown["Properties"] == (Paragraph("Poles and responses need numbers: 'R', 'L' have no value."),)
    assert made.errors == 0


def test_notices_keep_their_lines(tmp_path: Path) -> None:
    words = Paragraph("notice D134: R has no value\n  in R\n  because numbers need one")
    made = Report("t", "", (PageSection("s", (words, Paragraph("one line"))),))
    assert '<p class="lines">notice D134: R has no value\n' in to_html(made)
    assert "<p>one line</p>" in to_html(made)
    write_report(made, tmp_path / "t.md")
    assert "no value  \n  in R  \n  because" in (tmp_path / "t.md").read_text(encoding="utf-8")


def test_report_counts_the_mistakes_it_shows(made: tuple[Report, Path], tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text(WRONG.replace("resistor", "resistr"), encoding="utf-8")
    target = str(tmp_path / "wrong.md")
    told = tellegen("report", str(tmp_path / "wrong.yaml"), "-o", target)
    assert (told.returncode, told.stdout) == (0, f"written to {target}: it shows 1 error\n")
    assert made[0].errors == 0


def test_run_that_fails_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "grows.yaml").write_text(GROWS, encoding="utf-8")
    made = tg.report(tmp_path / "grows.yaml", tmp_path / "grows.md")
    page = (tmp_path / "grows.md").read_text(encoding="utf-8")
    assert page.count("error S110") == made.errors == 1
    assert "> error S110" in page.partition("## Experiment")[2]
    assert "No limits were tried, since the experiment fails." in page


def test_experiment_that_cannot_start_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "symbols.yaml").write_text(GROWS.replace("C: 1 F, ", ""), encoding="utf-8")
    made = tg.report(tmp_path / "symbols.yaml", tmp_path / "symbols.md")
    page = (tmp_path / "symbols.md").read_text(encoding="utf-8")
    assert page.count("error N105") == made.errors == 1
    assert "> error N105" in page.partition("## Experiment")[2]
    assert not {"Energy", "Motion"} & {section.title for section in made.sections}
    assert "No limits were tried, since the experiment fails." in page


def test_experiment_that_is_cancelled_shows_what_is_finished_and_tries_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cancelled(model: tg.Model, **options: object) -> tg.Run:
        run = tg.simulate(model, 1e-3)
        return replace(run, trajectory=replace(run.trajectory, status="cancelled", finding=CANCELLED))

    monkeypatch.setattr(reports, "simulate", cancelled)
    made = tg.report("rlc", tmp_path / "rlc.md")
    shown = {section.title: section.blocks for section in made.sections}
    assert shown["Reductions"] == (Paragraph("No limits were tried, since the experiment was cancelled."),)
    assert "the run was cancelled at t = 1 ms" in str(shown["Experiment"][0])
    assert "Energy" in shown


def test_page_that_is_there_is_not_replaced_unasked(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine", encoding="utf-8")
    heard: list[str] = []
    with pytest.raises(tg.ExportError, match=r"X304.*'.*page.html' is there already") as caught:
        tg.report("spring_damper", page, progress=heard.append)
    assert "force=True, --force" in caught.value.finding.fix
    assert not heard
    assert page.read_text(encoding="utf-8") == "mine"
    tg.report("spring_damper", page, force=True)
    assert page.read_text(encoding="utf-8") != "mine"


def test_file_that_cannot_be_read_gets_a_report_too(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("system: [", encoding="utf-8")
    made = tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    assert "D0" in str(made.sections[0].blocks[0])


@pytest.mark.parametrize(("name", "message"), [("page.docx", "X301.*'.docx'"), ("page", "X301.*'page'")])
def test_unknown_format_is_refused_before_any_work(name: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(tg.ExportError, match=message):
        tg.report("rlc", tmp_path / name)


def test_folder_that_is_missing_is_said_before_any_work(tmp_path: Path) -> None:
    heard: list[str] = []
    with pytest.raises(tg.ExportError, match=r"X302.*there is no folder"):
        tg.report("spring_damper", tmp_path / "nowhere" / "page.html", progress=heard.append)
    assert not heard


@pytest.mark.parametrize("name", ["spring_dampr", "nowhere.yaml"])
def test_a_model_that_is_not_there_gets_no_report(name: str, tmp_path: Path) -> None:
    with pytest.raises(tg.TellegenError, match=name):
        tg.report(name, tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_large_model_gets_a_page_that_is_still_small(tmp_path: Path) -> None:
    sections = "".join(
        f"  R{k}: {{resistor: [n{k}, n{k + 1}], R: 1 ohm}}\n  C{k}: {{capacitor: [n{k + 1}, gnd], C: 1 uF}}\n"
        for k in range(250)
    )
    (tmp_path / "ladder.yaml").write_text(
        f"system: Ladder\nnetwork:\n  V: {{voltage source: [n0, gnd]}}\n{sections}"
        "experiment: {until: 1 ms, inputs: {V: 1 V}}\n",
        encoding="utf-8",
    )
    made = tg.report(tmp_path / "ladder.yaml", tmp_path / "ladder.html")
    assert (tmp_path / "ladder.html").stat().st_size < 2_000_000
    shown = {section.title: section.blocks for section in made.sections}
    assert "tellegen draw ladder.yaml" in str(shown["Figures"][0])
    assert isinstance(shown["Parameters"][0], Folded)
    assert isinstance(shown["Equations"][0], Folded)
    assert shown["Equations"][0].title == "The equations of 250 states, line by line"
    assert "tellegen analyse ladder.yaml" in str(shown["Properties"][0])
    (curves,) = (block for block in shown["Experiment"] if isinstance(block, PagePicture))
    assert curves.caption == "The experiment over time: 8 of 250 variables"


def test_text_of_a_model_cannot_become_html() -> None:
    nasty = "</script><script>alert(1)</script>"
    blocks = (Paragraph(nasty), Listing(nasty), PageTable((nasty,), ((nasty,),)), PagePicture("x", "<svg/>", nasty))
    page = to_html(Report(nasty, nasty, (PageSection(nasty, blocks),), {nasty: (nasty,)}))
    assert "<script>alert" not in page
    assert page.count("</script>") == 1


def test_lines_of_formulas_leave_matrices_whole() -> None:
    latex = r"\begin{align*} \begin{bmatrix} a & b \\ c & d \end{bmatrix} x &= y \\ E &= m \end{align*}"
    first, second = formula_lines(latex)
    assert first == r"\begin{bmatrix} a & b \\ c & d \end{bmatrix} x = y"
    assert second == "E = m"
    assert "<mtable>" in to_mathml(first)
    assert to_html(Report("t", "", (PageSection("s", (PageFormulas((first, second)),)),))).count("<math") == 2


# -- In a browser -----------------------------------------------------------------------------------------------------------------

OPENED = """<!DOCTYPE html><body><script>
const pages = PAGES, found = {};
for (const page of pages) {
  const frame = document.createElement("iframe");
  frame.onload = () => {
    const inside = frame.contentDocument;
    const blank = Array.from(inside.images).filter(image => !image.naturalWidth).length;
    found[page] = [inside.title, blank];
    if (Object.keys(found).length === pages.length) document.body.textContent = JSON.stringify(found);
  };
  frame.src = page;
  document.body.append(frame);
}
</script></body>"""


def check_in_a_browser(pages: list[Path], browser: str, folder: Path) -> None:
    """One browser opens all pages: none may complain, want the network, leave a picture blank or be heavy."""
    index = folder / "index.html"
    index.write_text(OPENED.replace("PAGES", json.dumps([page.as_uri() for page in pages])), encoding="utf-8")
    log = [
        "--enable-logging=stderr",
        "--v=0",
        f"--user-data-dir={folder / 'profile'}",
        "--allow-file-access-from-files",
    ]
    done = subprocess.run(
        [browser, *ALONE, *log, "--dump-dom", index.as_uri()], capture_output=True, text=True, check=False, timeout=300
    )
    assert "CONSOLE" not in done.stderr, done.stderr
    found = json.loads(unescape(re.sub("<[^>]*>", "", done.stdout)))
    for page in pages:
        title, blank = found[page.as_uri()]
        assert title, page.name
        assert blank == 0, page.name
        assert page.stat().st_size < 5_000_000, page.name


def test_browser_opens_pages_of_all_kinds_without_errors_or_network(
    motor: Path, system_tool: Callable[[str], str], tmp_path: Path
) -> None:
    """Of a network, modes and a mechanism, and of a model with mistakes; the slow test below opens that of every example."""
    browser = system_tool("chromium")
    kinds = ("bouncing_ball", "rolling_disk")
    pages = [motor, *(tmp_path / f"{name}.html" for name in kinds), tmp_path / "wrong.html"]
    for name in kinds:
        tg.report(name, tmp_path / f"{name}.html")
    (tmp_path / "wrong.yaml").write_text(WRONG, encoding="utf-8")
    tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    check_in_a_browser(pages, browser, tmp_path)


@pytest.mark.slow
def test_browser_opens_the_page_of_every_example(system_tool: Callable[[str], str], tmp_path: Path) -> None:
    browser = system_tool("chromium")
    pages = [tmp_path / f"{example.name}.html" for example in tg.examples()]
    for page in pages:
        tg.report(page.stem, page)
    check_in_a_browser(pages, browser, tmp_path)


# -- On paper ---------------------------------------------------------------------------------------------------------------------


def test_matrices_of_a_wide_equation_follow_below_it() -> None:
    latex = tg.derive("mobile_manipulator").to_latex()
    lines = page_lines(latex)
    assert (
        lines[0]
        == r"\mathbf{L} \dot{\mathbf{x}} + \mathbf{N} \mathbf{x} = -\mathbf{A} \mathbf{x} + \mathbf{B} \mathbf{u}"
    )
    told = [line.partition(" = ")[0] for line in lines]
    for letter in (r"\mathbf{L}", r"\mathbf{N}", r"\mathbf{A}", r"\mathbf{B}", r"\mathbf{x}", r"\mathbf{u}"):
        assert told.count(letter) == 1
    assert max(width_of(to_mathml(line)) for line in lines[:7]) < WIDEST


def test_long_entries_of_a_wide_matrix_are_told_below_it_and_equal_ones_once() -> None:
    long, wide = r"\frac{a + b + c + d + e + f}{g}", " & ".join("a + b + c" for _ in range(8))
    rows = rf"{long} & {wide} \\ {long} & {wide}"
    matrix = rf"\left[\begin{{array}}{{{'c' * 9}}} {rows} \end{{array}}\right]"
    latex = rf"\begin{{align*}} \underbrace{{{matrix}}}_{{\mathbf{{A}}}} &= 0 \end{{align*}}"
    equation, shown, entry = page_lines(latex)
    assert equation == r"\mathbf{A} = 0"
    assert long not in shown
    assert shown.count("a + b + c") == 16
    assert entry == rf"\mathbf{{A}}_{{1,1}} = \mathbf{{A}}_{{2,1}} = {long}"


def test_where_a_matrix_stays_too_wide_shorter_entries_are_told_below_it_too() -> None:
    row = " & ".join("a + b + c" for _ in range(14))
    latex = (
        rf"\begin{{align*}} \underbrace{{\begin{{bmatrix}} {row} \end{{bmatrix}}}}_{{\mathbf{{A}}}} &= 0 \end{{align*}}"
    )
    _, shown, entry = page_lines(latex)
    assert "a + b" not in shown
    assert entry.startswith(r"\mathbf{A}_{1,1} = \mathbf{A}_{1,2} = ")
    assert entry.endswith(" = a + b + c")


def test_long_sums_go_on_in_lines_that_fit_on_paper() -> None:
    terms = [rf"\frac{{a_{{{k}}} + b}}{{c}}" for k in range(40)]
    product = r" \left(x + y\right)"
    first, *others = page_lines(rf"\begin{{align*}} P &= {' + '.join(terms)}{product} - d \end{{align*}}")
    assert first.startswith("P = ")
    assert len(others) > 2
    assert all(line.startswith((r"\qquad + \frac", r"\qquad - d")) for line in others)
    assert max(width_of(to_mathml(line)) for line in (first, *others)) <= LINE
    assert [term for line in (first, *others) for term in re.findall(r"a_\{\d+\}", line)] == [
        f"a_{{{k}}}" for k in range(40)
    ]


def test_equations_of_a_model_with_modes_say_in_which_mode_they_hold(tmp_path: Path) -> None:
    subject = Subject("Belt", (), "", "stick_slip", tg.load("stick_slip"))
    told = next(iter(equations_section(subject)))
    command = "tellegen derive stick_slip --mode friction=forward"
    assert told == Paragraph(f"In the mode of the start: friction stick. '{command}' tells those of another mode.")
    assert tellegen(*command.split()[1:], folder=tmp_path).returncode == 0


def test_names_of_a_mechanism_are_folded_away_after_what_they_stand_in() -> None:
    subject = Subject("Five bars", (), "", "five_bar", tg.load("five_bar"))
    first, rest = islice(equations_section(subject), 2)
    assert isinstance(first, PageFormulas)
    assert isinstance(rest, Folded)
    (names,) = rest.blocks
    assert isinstance(names, PageFormulas)
    assert 60 <= len(first.lines) < 80
    assert (*first.lines, *names.lines) == page_lines(subject.equations.to_latex())
    assert " = " in names.lines[0]


def test_narrow_equations_stay_as_they_are() -> None:
    latex = tg.derive("dc_motor").to_latex()
    assert page_lines(latex) == formula_lines(latex)


def test_widths_of_formulas_are_foreseen(tmp_path: Path, system_tool: Callable[[str], str]) -> None:
    examples = ("mobile_manipulator", "dc_motor_pump", "crank_rod")
    lines = [line for name in examples for line in page_lines(tg.derive(name).to_latex())]
    measured = _measured(lines, system_tool("chromium"), tmp_path)
    # A fifth of an em beside: what one broad letter of a formula of three is off.
    ratios = [(width_of(to_mathml(line)) + 0.2) / width for line, width in zip(lines, measured, strict=True)]
    assert min(ratios) > 0.9
    assert max(ratios) < 1.6


MEASURE = """<script>
document.body.textContent = Array.from(document.querySelectorAll("div"), d => d.getBoundingClientRect().width / 16).join(" ");
</script>"""


def _measured(lines: list[str], browser: str, folder: Path) -> list[float]:
    """The widths of formulas in em, as a browser sets them."""
    shown = "".join(f'<div style="display: table; font-size: 16px">{to_mathml(line)}</div>' for line in lines)
    (folder / "widths.html").write_text(f"<!DOCTYPE html><body>{shown}{MEASURE}</body>", encoding="utf-8")
    options = [*ALONE, f"--user-data-dir={folder / 'profile'}", "--window-size=20000,800", "--dump-dom"]
    page = (folder / "widths.html").as_uri()
    done = subprocess.run([browser, *options, page], capture_output=True, text=True, check=False, timeout=120)
    return [float(word) for word in re.sub("<[^>]*>", "", done.stdout).split()]


def test_on_paper_nothing_is_folded_away_and_what_moves_is_shown_at_four_moments(
    made: tuple[Report, Path], tmp_path: Path, system_tool: Callable[[str], str]
) -> None:
    system_tool("chromium")
    file = tmp_path / "page.pdf"
    write_report(made[0], file)
    read = [system_tool("pdftotext"), str(file), "-"]
    text = subprocess.run(read, capture_output=True, text=True, check=True).stdout
    assert "The states are the output power variables of the storages" in text
    assert {"t = 0.172 s", "t = 0.328 s", "t = 0.5 s"} <= set(re.findall(r"t = [\d.]+ s", text))


def test_short_tables_and_listings_stay_whole_on_paper_and_long_ones_do_not() -> None:
    def page(lines: int) -> str:
        blocks = (PageTable(("name",), tuple((f"{k}",) for k in range(lines))), Listing("line\n" * lines))
        return to_html(Report("t", "", (PageSection("s", blocks),)))

    assert '<div class="scroll whole">' in page(10)
    assert '<pre class="whole">' in page(10)
    assert 'class="scroll">' in page(100)
    assert "<pre>" in page(100)
    assert re.search(r"@media print \{.*\.whole[^}]*break-inside: avoid", page(1), re.DOTALL)


def test_wide_formulas_say_how_wide_they_are_and_parts_of_a_sum_have_their_rows() -> None:
    wide = " + ".join("x" for _ in range(40))
    page = to_html(Report("t", "", (PageSection("s", (PageFormulas(("x = 1", f"y = {wide}", rf"\qquad + {wide}")),)),)))
    assert '<div class="formula"><math' in page
    assert len(re.findall(r'<div class="formula alone" style="--em: \d+">', page)) == 2


def test_notices_of_one_kind_are_one_line() -> None:
    notices = tuple(Finding("K201", "notice", f"'C{k}' depends", why="they share") for k in range(7))
    other = Finding("G101", "notice", "'x' hangs at one terminal")
    warning = Finding("S120", "warning", "energy is missing")
    subject = Subject("m", (*notices, warning, other), "", "m")
    (told,) = findings_section(subject)
    assert isinstance(told, Paragraph)
    assert told.strong
    many, one = notices_section(subject)
    assert isinstance(many, Folded)
    assert many.title == "7 notices K201: they share"
    assert isinstance(one, Paragraph)


# -- How to make it again ---------------------------------------------------------------------------------------------------------


def commands_of(made: Report) -> list[str]:
    (block,) = made.sections[-1].blocks
    assert isinstance(block, Listing)
    return block.text.splitlines()


def test_page_says_how_it_was_made_with_its_limits_and_without_folders(tmp_path: Path) -> None:
    (tmp_path / "my motor.yaml").write_text(
        "system: Motor\nnetwork:\n  V: {voltage source: [a, gnd]}\n  R: {resistor: [a, b], R: 1 ohm}\n"
        "  L: {inductor: [b, c], L: 1 mH}\n  C: {capacitor: [c, gnd], C: 1 uF}\n",
        encoding="utf-8",
    )
    made = tg.report(tmp_path / "my motor.yaml", tmp_path / "motor.html", limits=[{"L": 0}, {"R": 0}])
    assert commands_of(made) == [
        "$ tellegen report 'my motor.yaml' -o report.html --limit L=0 --limit R=0",
        "$ tellegen derive 'my motor.yaml' --steps",
        "$ tellegen analyse 'my motor.yaml'",
    ]
    assert str(tmp_path) not in (tmp_path / "motor.html").read_text(encoding="utf-8")


def test_page_of_a_model_with_mistakes_leads_to_check(tmp_path: Path) -> None:
    (tmp_path / "wrong.yaml").write_text("system: [", encoding="utf-8")
    made = tg.report(tmp_path / "wrong.yaml", tmp_path / "wrong.html")
    assert made.title == "wrong.yaml"
    assert commands_of(made)[0] == "$ tellegen check wrong.yaml"
    assert not any("simulate" in line for line in commands_of(made))


def test_matrix_of_one_long_entry_is_told_in_one_line() -> None:
    long = " + ".join("a" for _ in range(60))
    latex = rf"\begin{{align*}} \underbrace{{\begin{{bmatrix}} {long} \end{{bmatrix}}}}_{{\mathbf{{L}}}} &= 0 \end{{align*}}"
    assert page_lines(latex) == (r"\mathbf{L} = 0", rf"\mathbf{{L}} = \begin{{bmatrix}} {long} \end{{bmatrix}}")


@pytest.mark.parametrize(
    ("latex", "told"), [(r"\text{a < b}", "a < b"), (r"\text{a \& b\_c}", "a & b_c"), (r"x \text{5\% > y}", "x5% > y")]
)
def test_signs_in_words_are_no_markup(latex: str, told: str) -> None:
    assert "".join(fromstring(to_mathml(latex)).itertext()).replace("\xa0", " ") == told
    assert set_math(latex, 10.0).outlines


def test_a_thermostat_with_states_has_a_report_and_a_figure_of_its_equations(tmp_path: Path) -> None:
    model = read_model(THERMOSTAT)
    tg.report(model, tmp_path / "report.html")
    assert "when" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert tg.draw(model, "equations").svg().startswith("<")


THERMOSTAT = """
system: Room
network:
  heater: {heat source: [ambient, room], signal: Q}
  C:      {heat capacity: [room], C: 200 kJ/K, temperature: T}
signals:
  on:   {relay: 20 K - T, hysteresis: 1 K}
  mode: {states: {idle: {when: on < 0.5}, heat: {when: on > 0.5 and T < 30 K, after: 60 s}}}
  Q:    1 kW*mode
"""
