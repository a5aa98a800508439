"""LaTeX for a page: lines taken out of their environment, and MathML, which browsers show without scripts or fonts."""

import re

_ENVIRONMENT = re.compile(r"\\(begin|end)\{(\w+\*?)\}")


def formula_lines(latex: str) -> tuple[str, ...]:
    """The lines of an `align*` or `aligned` environment, without their alignment marks."""
    body = re.sub(r"^\s*\\begin\{align(?:ed|\*)?\}|\\end\{align(?:ed|\*)?\}\s*$", "", latex.strip())
    lines: list[str] = []
    depth, start = 0, 0
    for found in re.finditer(r"\\(begin|end)\{\w+\*?\}|\\\\", body):
        if found[0] == r"\\":
            if depth == 0:
                lines.append(body[start : found.start()])
                start = found.end()
        else:
            depth += 1 if found[1] == "begin" else -1
    lines.append(body[start:])
    return tuple(text for line in lines if (text := _without_marks(line).strip()))


def _without_marks(line: str) -> str:
    """The line without the `&` that align it: those outside of matrices."""
    depth, kept = 0, []
    for piece in re.split(r"(\\begin\{\w+\*?\}|\\end\{\w+\*?\}|&)", line):
        if _ENVIRONMENT.fullmatch(piece):
            depth += 1 if piece.startswith(r"\begin") else -1
        if piece == "&" and depth == 0:
            continue
        kept.append(piece)
    return "".join(kept)


def to_mathml(latex: str) -> str:
    """One formula as a MathML element of its own line."""
    from latex2mathml.converter import convert  # noqa: PLC0415  its tables of symbols are read when a page has formulas

    return str(convert(latex, display="block"))
