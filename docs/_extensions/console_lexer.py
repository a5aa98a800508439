"""Blocks of the pages keep their looks: a fence may name a file, and a console block shows output that is no shell code."""

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic, Text
from sphinx.application import Sphinx


class ConsoleLexer(RegexLexer):
    """A command after a dollar sign, and what it prints."""

    name = "Tellegen console"
    tokens = {  # noqa: RUF012  the interface of Pygments
        "root": [
            (r"^(\$ )(.*\n)", bygroups(Generic.Prompt, Text)),
            (r"^.*\n", Generic.Output),
        ]
    }


def setup(app: Sphinx) -> dict[str, bool]:
    """Use the lexer for `console`."""
    app.add_lexer("console", ConsoleLexer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
