"""How Sphinx builds the documentation site: `make docs` writes it to build/site. Nothing on it is loaded from elsewhere."""

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Tellegen"
release = version = installed_version("tellegen")
language = "en"
# An option is written with two hyphens, never with a dash.
smartquotes = False

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "mathml",
    "console_lexer",
    "signatures",
    "error_pages",
    "shared_navigation",
]
source_suffix = {".md": "markdown"}
exclude_patterns = ["_extensions", "notebooks"]
# Pages of errors are reached from their index: hundreds of them in the sidebar would help nobody. Some show broken YAML on purpose.
suppress_warnings = ["toc.not_included", "misc.highlighting_failure"]

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 4
myst_fence_as_directive = []

# Docstrings name things between single backticks.
default_role = "literal"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False}
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = "Tellegen"
html_static_path = ["_static"]
html_css_files = ["tellegen.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"sidebar_hide_name": False, "navigation_with_keys": True}
