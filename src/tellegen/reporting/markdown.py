"""A report as Markdown, with its pictures as files beside it."""

from collections.abc import Iterator

from tellegen.reporting.pages import Block, Folded, Formulas, Listing, Picture, Report, Table, Words


def to_markdown(report: Report, folder: str) -> str:
    """The text of the page; its pictures lie in a folder beside it."""
    parts = [f"# {report.title}", report.about]
    for section in report.sections:
        parts.append(f"{'#' * section.level} {section.title}")
        parts += [text for block in section.blocks for text in _block(block, folder)]
    return "\n\n".join(part for part in parts if part) + "\n"


def pictures(report: Report) -> Iterator[Picture]:
    """Every picture of a report, those that are folded away too."""
    for section in report.sections:
        for block in section.blocks:
            yield from _pictures_of(block)


def _pictures_of(block: Block) -> Iterator[Picture]:
    if isinstance(block, Picture):
        yield block
    elif isinstance(block, Folded):
        for inner in block.blocks:
            yield from _pictures_of(inner)


def _block(block: Block, folder: str) -> Iterator[str]:
    match block:
        case Words(text, strong):
            yield "\n".join(f"> {line}" for line in text.splitlines()) if strong else "  \n".join(text.splitlines())
        case Formulas(lines):
            yield from (f"$$\n{line}\n$$" for line in lines)
        case Picture(name, _, caption):
            yield f"![{caption}]({folder}/{name}.svg)"
            yield f"*{caption}*"
        case Table(head, rows):
            yield "\n".join(map(_row, [head, tuple("---" for _ in head), *rows]))
        case Listing(text, language):
            fence = "````" if "```" in text else "```"
            yield f"{fence}{language}\n{text.rstrip()}\n{fence}"
        case Folded(title, blocks):
            yield f"**{title}**"
            for inner in blocks:
                yield from _block(inner, folder)


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
