"""A report as a value: sections of words, formulas, pictures, tables and listings, whatever it is written as."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.language import Language
from tellegen.plots import Panel


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
    """A figure as SVG, with what it shows in words for those who do not see it. One that moves is printed as its stills.

    The curves of `panels` can be read off where the page has a script; the SVG shows them elsewhere.
    """

    name: str
    svg: str
    caption: str
    stills: tuple[Still, ...] = ()
    panels: tuple[Panel, ...] = ()


@final
@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows under a head, which may be empty, and a title."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""


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


@final
@dataclass(frozen=True, slots=True)
class Prose:
    """A sentence with formulas between dollars, in LaTeX; a `listed` one is a line of a list."""

    text: str
    listed: bool = False


@final
@dataclass(frozen=True, slots=True)
class Beside:
    """Blocks with the picture of what they speak of: beside them where there is room, else below."""

    blocks: "tuple[PageBlock, ...]"
    picture: PagePicture | None = None


@final
@dataclass(frozen=True, slots=True)
class Slider:
    """A value that a reader may move, in the unit that it is shown in: times `factor`, plus `offset`, it is SI.

    `low` and `high` are the ends; between them a `geometric` one moves by equal ratios.
    """

    name: str
    reference: int
    value: float
    low: float
    high: float
    unit: str = ""
    factor: float = 1.0
    offset: float = 0.0
    geometric: bool = False


@final
@dataclass(frozen=True, slots=True)
class LiveRun:
    """A model that runs in the page: its WebAssembly, what can be moved, and the references of what the figure `shows`."""

    code: bytes
    sliders: tuple[Slider, ...]
    variables: Mapping[str, int]
    until: float
    rtol: float
    shows: str


PageBlock = Paragraph | Prose | PageFormulas | PagePicture | PageTable | Listing | Folded | Beside | LiveRun


@final
@dataclass(frozen=True, slots=True)
class PageSection:
    """A heading and what stands under it."""

    title: str
    blocks: tuple[PageBlock, ...]

    @property
    def anchor(self) -> str:
        """The name of the section in links."""
        return "-".join("".join(c if c.isalnum() else " " for c in self.title.lower()).split())


@final
@dataclass(frozen=True, slots=True)
class Report:
    """All sections, in order. `links` tell the elements that a name of the model belongs to, `language` that of its words."""

    title: str
    about: str
    sections: tuple[PageSection, ...]
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    language: Language = "en"

    @property
    def errors(self) -> int:
        """How many mistakes it shows: of the model, of sections that could not be made, and of a run that failed."""
        return sum(
            isinstance(block, Paragraph) and block.error for section in self.sections for block in section.blocks
        )


def pictures(report: Report) -> Iterator[PagePicture]:
    """Every picture of a report, those that are folded away too."""
    for section in report.sections:
        for block in section.blocks:
            yield from _pictures_of(block)


def _pictures_of(block: PageBlock) -> Iterator[PagePicture]:
    if isinstance(block, PagePicture):
        yield block
    elif isinstance(block, Beside) and block.picture is not None:
        yield block.picture
    elif isinstance(block, Folded):
        for inner in block.blocks:
            yield from _pictures_of(inner)
