"""Names, numbers and units as LaTeX, the same in all pictures."""

import re
from functools import lru_cache

from tellegen.expressions import latex_name

_BRACED = re.compile(r"_\{(\w|\\[A-Za-z]+|\\text\{[\w, ]*\})\}")
"""A subscript that is one thing: a letter, a Greek letter, or a text."""
_PREFIXES = {-12: "p", -9: "n", -6: r"\mu ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_WITHOUT_PREFIX = {"kg", "s", "rad", ""}
"""Units whose prefixes nobody reads aloud: a mass of 2 g may be the inertia of something measured in kg."""


_ALONG = re.compile(r"\\mathrm\{([vaFp])([xyz])\}(?:_(.+))?")
"""The component of a vector along an axis: `vx_0` is the velocity of 0 along x."""
_WORDS = re.compile(r"(?<=[A-Za-z]{2}),(?=[A-Za-z]{2})")
"""A comma between two words: they are read as words, with a space."""
_LONG = re.compile(r"\\mathrm\{([A-Za-z]{3,})\}_\\text\{([A-Za-z]{2,}(?: [A-Za-z]{2,})*)(?:,(\d+))?\}")
"""A name of words only."""


def name_latex(name: str) -> str:
    """A name or path as it stands in a figure: components as people write them, names of words as words.

    Without braces that LaTeX does not need: each pair doubles the work of setting.
    """
    return _as_read(latex_name(name))


@lru_cache(maxsize=10_000)
def _as_read(latex: str) -> str:
    latex = _BRACED.sub(lambda found: f"_{found[1]}", _WORDS.sub(" ", latex))
    if long := _LONG.fullmatch(latex):
        return rf"\text{{{' '.join(filter(None, long.groups()))}}}"
    if along := _ALONG.fullmatch(latex):
        letter, axis, rest = along.groups()
        inside = rest[1:-1] if rest and rest[0] == "{" else rest
        return f"{letter}_{{{axis},{inside}}}" if inside else f"{letter}_{axis}"
    return latex


def number_latex(value: float) -> str:
    """A number with four digits that count."""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    if not exponent:
        return mantissa
    scale = f"10^{{{int(exponent)}}}"
    return scale if mantissa == "1" else rf"{mantissa} \cdot {scale}"


def quantity_latex(value: float, unit: str) -> str:
    """A value in SI with its unit, and a prefix where the unit is one word that takes one."""
    if unit.isalpha() and unit not in _WITHOUT_PREFIX and not 0.1 <= abs(value) < 1000 and value:
        digits, _, exponent = f"{value:.3e}".partition("e")
        power = 3 * (int(exponent) // 3)
        if power in _PREFIXES:
            number = float(digits) * 10 ** (int(exponent) - power)
            return rf"{number:.4g}\,{unit_latex(unit, _PREFIXES[power])}"
    return rf"{number_latex(value)}\,{unit_latex(unit)}" if unit else number_latex(value)


def unit_latex(unit: str, prefix: str = "") -> str:
    """A unit in upright letters."""
    if unit == "ohm":
        return rf"\mathrm{{{prefix}}}\Omega" if prefix else r"\Omega"
    # In upright letters, after the SI brochure: only quantities are slanted.
    text = unit.replace("ohm", r"\Omega ").replace("*", r"\,").replace("%", r"\%")
    text = re.sub(r"\^(?:\(([^)]*)\)|(-?\d+))", lambda found: f"^{{{found[1] or found[2]}}}", text)
    return rf"\mathrm{{{prefix}{text}}}"
