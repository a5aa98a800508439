"""Characters that are obeyed and not shown."""

import re

HIDDEN = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What editors do not show, or show elsewhere: control characters, separators of lines and directions of writing."""


def visible(text: str) -> str:
    """The text with `\\x1b` for each character that would be obeyed and not shown: by a terminal, or by a reader of XML."""
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)
