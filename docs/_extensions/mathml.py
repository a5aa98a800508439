"""Mathematics as MathML, which browsers show without scripts, fonts or a network."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

_PRIMED = re.compile(r"<msup>(<mi>[^<]*</mi>)<mi>(&#x0203[23];)</mi></msup>")
"""A prime is a raised sign by itself: as an exponent it would be raised, and made smaller, once more."""


def _mathml(latex: str, display: str) -> str:
    return _PRIMED.sub(r'<mrow>\1<mo lspace="0" rspace="0">\2</mo></mrow>', convert(latex, display=display))


def _inline(writer: HTML5Translator, node: nodes.Element) -> None:
    writer.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _display(writer: HTML5Translator, node: nodes.Element) -> None:
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(_mathml(node.astext(), "block"))
    writer.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
