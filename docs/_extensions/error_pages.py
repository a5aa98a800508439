"""A page for each code of an error, warning or notice, made from its rule before the site is read.

They are kept nowhere else: `tellegen explain K101` tells the same in a terminal. Pages that stand already and say the same are left
alone, so that a second build reads what changed only.
"""

from collections.abc import Iterable
from pathlib import Path

from sphinx.application import Sphinx

from tellegen.core.errors import LAYERS, SEVERITIES, Rule, cut_lines, sentence
from tellegen.workflow.explaining import PlacedRule, rules

INTRODUCTION = """\
Each thing that `tellegen check` finds has a code. A code is never used again for something else.
An *error* stops the model, a *warning* does not, a *notice* is worth knowing.
`tellegen explain K101` prints a page in the terminal."""


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when a build begins."""
    app.connect("builder-inited", lambda app: write_pages(Path(app.srcdir) / "errors"))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_pages(folder: Path) -> None:
    """Write the page of every rule and their index; pages of rules that are gone are removed."""
    made = pages()
    folder.mkdir(exist_ok=True)
    for page in folder.glob("*.md"):
        if page.name not in made:
            page.unlink()
    for name, text in made.items():
        page = folder / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """The pages by the names of their files."""
    placed = list(rules())
    return {f"{one.rule.code}.md": _page(one) for one in placed} | {"index.md": _index([one.rule for one in placed])}


def _page(placed: PlacedRule) -> str:
    rule = placed.rule
    fence = "text" if placed.is_about_netlists else "yaml"
    parts = [
        f"# {rule.code}: {rule.title}",
        f"Severity: **{rule.severity}** ({SEVERITIES[rule.severity]}). Layer: {rule.layer}.",
        sentence(rule.meaning),
        "## Why",
        sentence(rule.why),
    ]
    if rule.example:
        parts += ["## Example", f"```{fence}\n{cut_lines(rule.example)}\n```"]
    if rule.instead:
        parts += ["## Instead", f"```{fence}\n{cut_lines(rule.instead)}\n```"]
    return "\n\n".join([*parts, f"Declared in `{placed.file}`. [All codes](index.md)"]) + "\n"


def _index(known: Iterable[Rule]) -> str:
    """The table of all rules, by layer."""
    parts = ["# Errors, warnings and notices", INTRODUCTION]
    for letter, title in LAYERS.items():
        rows = [
            f"| [{rule.code}]({rule.code}.md) | {rule.severity} | {rule.title.replace('|', chr(92) + '|')} |"
            for rule in known
            if rule.code[0] == letter
        ]
        if rows:
            parts += [f"## {letter}. {title}", "\n".join(["| code | severity | what |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"
