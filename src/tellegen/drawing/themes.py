"""Which colours the words of a scene mean, on paper and on screens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from tellegen.drawing.options import ThemeName

PAPER = "paper"
"""The paint of the background, and of the inside of blocks."""


@final
@dataclass(frozen=True, slots=True)
class Theme:
    """`paints` gives a colour to every tone and to the paper, `bands` to every domain."""

    paints: Mapping[str, str]
    bands: Mapping[str, str]

    def colour(self, paint: str) -> str:
        """The colour of a tone, of `paper`, of `band:<domain>`, or of `shade:<tone>:<per cent>` between the last two."""
        word, _, domain = paint.partition(":")
        if word == "shade":
            tone, _, share = domain.partition(":")
            return _between(self.colour(f"band:{tone}"), self.paints[tone], int(share) / 100)
        return self.bands.get(domain, self.paints[PAPER]) if word == "band" else self.paints[paint]


def _between(start: str, end: str, share: float) -> str:
    """The colour so far on the way from one to another."""
    pairs = zip(bytes.fromhex(start[1:]), bytes.fromhex(end[1:]), strict=True)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in pairs)


def _paints(ink: str, paper: str, quiet: str, warning: str, power: str, domains: str) -> dict[str, str]:
    names = ("electrical", "translational", "rotational", "hydraulic", "thermal", "magnetic")
    return {"ink": ink, PAPER: paper, "quiet": quiet, "warning": warning, "power": power} | dict(
        zip(names, domains.split(), strict=True)
    )


def _bands(
    electrical: str, rotational: str, translational: str, hydraulic: str, heat: str, magnetic: str
) -> dict[str, str]:
    return {
        "electrical": electrical,
        "rotational": rotational,
        "translational": translational,
        "hydraulic": hydraulic,
        "thermal": heat,
        "heat": heat,
        "magnetic": magnetic,
    }


_LIGHT_BANDS = _bands("#E8F0FA", "#EAF5EC", "#F6EAF2", "#FBF1E6", "#F3EFE4", "#EDEBF7")

THEMES: Mapping[ThemeName, Theme] = {
    "colour": Theme(
        _paints(
            "#000000", "#FFFFFF", "#555555", "#C45500", "#1B6E3C", "#1F5FA8 #9A3D7A #2C7A43 #B26413 #7F6A1E #5B4FA3"
        ),
        _LIGHT_BANDS,
    ),
    "mono": Theme(_paints("#000000", "#FFFFFF", "#555555", "#000000", "#000000", " ".join(["#000000"] * 6)), {}),
    "dark": Theme(
        _paints(
            "#E8E8E8", "#16181D", "#8A8A8A", "#FFA14A", "#6FCF97", "#7FB2F0 #E39BC9 #7CCB93 #F0B36B #D3BE6A #B3A8F0"
        ),
        _bands("#1C2431", "#1B2A20", "#2B2029", "#2C251B", "#2A271C", "#23212F"),
    ),
}
