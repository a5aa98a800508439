"""What can go wrong when a report is written."""

from tellegen.core.errors import Rulebook

RULES = Rulebook("X")

BAD_REPORT_SUFFIX = RULES.rule(
    "X301",
    "report of an unknown format",
    meaning="A report was to be written to a file whose ending says no format that there is.",
    why="the ending decides: .html (one page with everything in it), .md (Markdown, pictures beside it) or .pdf",
)
REPORT_NOT_WRITTEN = RULES.rule(
    "X302",
    "report that cannot be written",
    meaning="The system refused to write the file of a report.",
    why="the folder may be missing, full or not yours",
)
NO_BROWSER = RULES.rule(
    "X303",
    "no browser to print with",
    meaning="A report was asked for as PDF, which a browser without a window prints, and there is none.",
    why="the page is made of HTML, MathML and SVG; Chromium or Chrome sets it on paper",
)
WOULD_OVERWRITE = RULES.rule(
    "X304",
    "report over a file that exists",
    meaning="The file of a report is there already.",
    why="what is in it would be lost",
)
