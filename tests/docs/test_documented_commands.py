"""Every command and every Python block of the documentation runs, and prints what the page shows."""

import doctest
import re
from pathlib import Path

import pytest

import tellegen as tg
from code_blocks import (
    ROOT,
    Block,
    blocks,
    commands,
    commands_in_text,
    ends_by_itself,
    is_ours,
    is_plot,
    matches,
    pages,
    pictures,
    run,
    run_in_shell,
    shell_commands,
    shows_error,
)
from refresh_outputs import CommandFailedError, refreshed
from tellegen.cli.main import COMMANDS, load_command
from tellegen.workflow.explaining import rules

PAGES = [page for page in pages() if any(b.language in {"console", "python", "sh"} for b in blocks(page))]
OPTIONS = {
    name: {option for one in load_command(name).params for option in (*one.opts, *one.secondary_opts)}
    for name in COMMANDS
}
"""The options of each command."""
CODES = {placed.rule.code for placed in rules()} | {"index"}


def page_name(page: Path) -> str:
    return str(page.relative_to(ROOT))


LONG = (
    *(
        f"docs/gallery/{page}.md"
        for page in (
            "corking_machine",
            "crank_rod",
            "electric_car",
            "excavator",
            "gripper",
            "hybrid",
            "heat_pump_house",
            "identification",
            "mobile_manipulator",
            "parts_at_work",
            "rapson_slide",
            "robot_joint",
            "robots",
            "press",
            "wind_turbine",
        )
    ),
    *(f"docs/howto/{page}.md" for page in ("draw", "export", "live-pages", "reduce", "size-an-actuator", "teach")),
    "docs/lectures/pog.md",
    "docs/reference/commands.md",
    "docs/theory/errata.md",
)
"""Pages with seconds of computing each."""


def marked(page: Path) -> object:
    return pytest.param(page, marks=pytest.mark.slow if page_name(page) in LONG else (), id=page_name(page))


@pytest.mark.parametrize("page", [marked(page) for page in PAGES])
def test_documented_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        if block.language == "console":
            run_console(block, tmp_path)
        elif block.language == "sh":
            run_shell(block, tmp_path)
        elif block.language == "python":
            run_python(block, names, page_name(page))
    run_commands_in_text(page, tmp_path)
    for picture in pictures(page):
        drawn = tmp_path / picture.name
        if drawn.is_file() and not is_plot(text := drawn.read_text(encoding="utf-8")):
            assert text == picture.read_text(encoding="utf-8"), (
                f"{picture.name} is not what is drawn now: run 'make docs'"
            )


def run_commands_in_text(page: Path, folder: Path) -> None:
    """Run the commands in the sentences of a page that name a built-in example or a file of the page."""
    models = {example.name for example in tg.examples()} | {file.name for file in folder.iterdir()}
    for command in filter(ends_by_itself, commands_in_text(page)):
        if models & {*command.words.split()[2:3]}:
            status, output = run(command, folder)
            assert status == 0, f"line {command.line}: `{command.words}`\n{output}"


@pytest.mark.slow
def test_commands_of_the_first_tutorial_run_as_processes_of_their_own(tmp_path: Path) -> None:
    """As a reader types them into a shell; for the other pages they run inside the tests."""
    for block in blocks(ROOT / "docs/tutorials/first_model.md"):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        for command in filter(is_ours, commands(block) if block.language == "console" else ()):
            status, output = run_in_shell(command.words, tmp_path)
            assert status == 0, f"$ {command.words}\n{output}"
            assert command.output is None or matches(command.output, output), f"$ {command.words}\n{output}"
    assert {file.name for file in tmp_path.iterdir()} >= {"fan_network.svg", "fan_run.svg", "heavy.csv"}


def run_console(block: Block, folder: Path) -> None:
    """Run the `tellegen` commands of a block; one whose output shows an error must end with 1."""
    for command in filter(ends_by_itself, filter(is_ours, commands(block))):
        status, output = run(command, folder)
        assert status == int(shows_error(command)), f"line {command.line}: $ {command.words}\n{output}"
        if command.output is not None:
            assert matches(command.output, output), f"line {command.line}: $ {command.words}\n{output}"


def run_shell(block: Block, folder: Path) -> None:
    """Run the `tellegen` commands of a block for a shell, but for benchmarks, which take minutes."""
    for command in filter(ends_by_itself, filter(is_ours, shell_commands(block))):
        if " bench " not in command.words:
            status, output = run(command, folder)
            assert status == 0, f"line {command.line}: {command.words}\n{output}"


def run_python(block: Block, names: dict[str, object], page: str) -> None:
    """Run a block in the names of its page; one with `>>>` must also print what it shows."""
    if ">>>" not in block.text:
        exec(compile(block.text, f"{page}:{block.line}", "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, page, page, block.line)
    complaints: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=complaints.append, clear_globs=False)
    names.update(test.globs)
    assert not runner.failures, "".join(complaints)


@pytest.mark.parametrize("page", pages(), ids=page_name)
def test_commands_that_pages_name_have_the_options_they_are_shown_with(page: Path) -> None:
    """Also where a sentence names a command without a model, which cannot run."""
    shown = [*commands_in_text(page), *(c for b in blocks(page) if b.language == "sh" for c in shell_commands(b))]
    for words in (command.words.split() for command in filter(is_ours, shown)):
        options = {re.split("=", word)[0] for word in words if re.match("--?[a-z]", word)}
        if words[1] in OPTIONS:
            assert options <= OPTIONS[words[1]] | {"--help", "-h"}, " ".join(words)
        else:
            assert words[1] in {"COMMAND", "--help"}, " ".join(words)


def test_a_page_is_left_alone_where_a_command_fails(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ tellegen check no_such_model\nno_such_model: no errors\n```\n", encoding="utf-8")
    with pytest.raises(CommandFailedError, match="no_such_model"):
        refreshed(page)


def test_documented_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = {
        word for page in pages() for word in re.findall(r"(?:`|\$ )make ([a-z-]+)", page.read_text(encoding="utf-8"))
    }
    assert named <= targets


def test_links_between_pages_lead_somewhere() -> None:
    dead = [
        f"{page_name(page)}: {target}"
        for page in pages()
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not leads_somewhere(page, target)
    ]
    assert not dead


def leads_somewhere(page: Path, target: str) -> bool:
    """Whether a link leads to a file, or from one page of the site to that of a code, which is made with the site."""
    found = re.fullmatch(r"(?:\.\./)?errors/(\w+)\.md", target)
    if found and ROOT / "docs" in page.parents:
        return found[1] in CODES
    return (page.parent / target).exists()


def test_links_to_headings_lead_to_one() -> None:
    dead = [
        f"{page_name(page)}: {target}#{anchor}"
        for page in pages()
        for target, anchor in re.findall(r"\]\(([^)#:\s]*\.md)?#([^)]+)\)", page.read_text(encoding="utf-8"))
        if anchor not in anchors(page.parent / target if target else page)
    ]
    assert not dead


def anchors(page: Path) -> set[str]:
    """What links to the headings of a page are made of: words in small letters, joined by hyphens."""
    headings = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_what_changes_from_run_to_run_may_be_left_out_of_a_line() -> None:
    shown = "solving  ... s, ... steps\n\nenergy [J]\n...\n"
    assert matches(shown, "solving  0.1 s, 20 steps\n\nenergy [J]\n  supplied 2\n  stored 1\n")
    assert not matches(shown, "solving  0.1 s\n\nenergy [J]\n")
    assert not matches("a ... c\n", "a\nb c\n")
