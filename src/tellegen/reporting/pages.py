"""A report as a value: sections of words, formulas, pictures, tables and listings, whatever it is written as."""

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. `strong` for what must not be missed, `error` where that is a mistake."""

    text: str
    strong: bool = False
    error: bool = False


@final
@dataclass(frozen=True, slots=True)
class PageFormulas:
    """Formulas in LaTeX, one below the other."""

    lines: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class Still:
    """One moment of a picture that moves."""

    svg: str
    caption: str


@final
@dataclass(frozen=True, slots=True)
class PagePicture:
    """A figure as SVG, with what it shows in words for those who do not see it. One that moves is printed as its stills."""

    name: str
    svg: str
    caption: str
    stills: tuple[Still, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """A text shown as it is: a model, a command and what it prints."""

    text: str
    language: str = ""


@final
@dataclass(frozen=True, slots=True)
class Folded:
    """What only some readers want to see: shown on request, and in print."""

    title: str
    blocks: "tuple[PageBlock, ...]"


PageBlock = Paragraph | PageFormulas | PagePicture | PageTable | Listing | Folded


@final
@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and what stands under it. Subsections are sections of `level` 3."""

    title: str
    blocks: tuple[PageBlock, ...]
    level: int = 2

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All sections, in order."""

    title: str
    about: str
    sections: tuple[PageSection, ...]

    @property
    def errors(self) -> int:
        """How many mistakes it shows: of the model, of sections that could not be made, and of a run that failed."""
        return sum(
            isinstance(block, Paragraph) and block.error for section in self.sections for block in section.blocks
        )
