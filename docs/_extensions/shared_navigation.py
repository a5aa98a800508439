"""One sidebar for all pages of errors: they stand in no table of contents, so it is the same for each of them.

Sphinx resolves the whole tree of contents again for every page, which for hundreds of them was half of the time of a build.
"""

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Before the theme asks for the sidebar of a page, let pages share it."""
    kept: dict[tuple[str, str], str] = {}

    def share(app: Sphinx, page: str, _template: str, context: dict[str, Any], _tree: nodes.document | None) -> None:
        listed = {name for names in app.env.toctree_includes.values() for name in names}
        if page not in listed and "toctree" in context:
            context["toctree"] = _once(context["toctree"], str(PurePosixPath(page).parent), kept)

    app.connect("html-page-context", share, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _once(resolve: Callable[..., str], folder: str, kept: dict[tuple[str, str], str]) -> Callable[..., str]:
    """The function that makes the sidebar, which remembers it for a folder: there all links are the same."""

    def found(**options: Any) -> str:
        key = (folder, repr(sorted(options.items())))
        if key not in kept:
            kept[key] = resolve(**options)
        return kept[key]

    return found
