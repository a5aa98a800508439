"""Text of C in which all real numbers are of one kind: of generated code, which is written in double, the same in float."""

import re
from collections.abc import Mapping
from typing import Final, Literal

import numpy as np

from tellegen.exporting import rules
from tellegen.expressions.functions import FUNCTIONS

Real = Literal["float", "double"]

_TOKEN: Final = re.compile(
    r"(?P<text>/\*.*?\*/|\"[^\"]*\"|#include[^\n]*)|(?P<word>[A-Za-z_]\w*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)",
    re.DOTALL,
)
_CALLED: Final = {f.c for f in FUNCTIONS.values() if f.c and f.c != "tellegen_sign"} | {"pow", "fmod"}
_SINGLE: Final = {"double": "float", "HUGE_VAL": "HUGE_VALF", **{name: f"{name}f" for name in _CALLED}}


def real_text(text: str, real: Real, words: Mapping[str, str]) -> str:
    """The text with other words for some of its words, and, for `float`, with numbers and functions of single precision.

    Raises: ExportError (X407) for a number that is too large for it.
    """

    def changed(token: re.Match[str]) -> str:
        word, found = token["word"], token[0]
        if word:
            # The functions of math.h have another name for each kind, and a call of the wrong one is slow and silent.
            return words[word] if word in words else _SINGLE.get(word, word) if real == "float" else word
        if token["number"] and real == "float" and any(mark in found for mark in ".eE"):
            return _single(found)
        return found

    return _TOKEN.sub(changed, text)


def _single(text: str) -> str:
    if abs(float(text)) > float(np.finfo(np.float32).max):
        raise rules.UNKNOWN_OPTION.error(f"{text} is too large for a float", fix="give real='double' (--real double)")
    return f"{text}f"
