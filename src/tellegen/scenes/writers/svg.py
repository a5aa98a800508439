"""Scenes as SVG: the reference back end. Glyphs are paths, so that every viewer shows the same letters without fonts.

Each shape is a group with an `id` and `data-` attributes that say what it stands for; layers are groups in the order of drawing.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from html import escape

from tellegen.core.hidden_characters import visible
from tellegen.scenes import strokes
from tellegen.scenes.geometry import Outline, Point, outline_points, shifted
from tellegen.scenes.scene import Scene, Shape

ALIKE = 0.005
"""Outlines of letters whose points are nearer than this, in pixels, differ by rounding only."""


def to_svg(
    scene: Scene, *, theme: strokes.ThemeName = "colour", scale: float = 1, symbols: bool = False, memory: str = ""
) -> str:
    """The scene as an SVG document. With `symbols`, equal letters are drawn once and used again: smaller, for screens.

    `memory` is what the file remembers of the figure, beside what can be seen.
    """
    return SvgWriter(scene, strokes.THEMES[theme], scale, symbols=symbols, memory=memory).document()


def number(value: float) -> str:
    """A coordinate with at most three decimals, without a needless zero or sign."""
    # Three decimals are what scenes have; anything more would only make files larger.
    text = f"{value:.3f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _escaped(text: str) -> str:
    # No escape of XML can stand for a control character: one of them would make the whole figure unreadable.
    return escape(visible(text), quote=False)


def path_data(outline: Outline, dx: float = 0, dy: float = 0) -> str:
    """The `d` attribute of an outline."""
    return " ".join(
        letter + ",".join(f"{number(x + dx)} {number(y + dy)}" for x, y in points) for letter, points in outline
    )


class SvgWriter:
    """Collects the lines of one document."""

    def __init__(self, scene: Scene, theme: strokes.Theme, scale: float, *, symbols: bool, memory: str = "") -> None:
        self.scene, self.theme, self.scale, self.memory = scene, theme, scale, memory
        # How often a name was used, since ids must be unique in a document.
        self.used: Counter[str] = Counter()
        self.symbols: dict[str, str] | None = {} if symbols else None
        self.letters: dict[str, dict[tuple[Point, ...], str]] = {}

    def bare(self, shapes: Iterable[Shape]) -> str:
        """Shapes without attributes, in the order of layers: for the frames of an animation."""
        return "".join(self._primitive(item) for shape in strokes.layered(shapes) for item in strokes.primitives(shape))

    def document(self, further: Iterable[str] = ()) -> str:
        """The document; `further` lines are drawn over the scene."""
        box = self.scene.box
        # Drawn before the head of the document is written: only then is it known which symbols there are.
        layers = [line for layer in strokes.LAYERS for line in self._layer(layer)]
        size = f'width="{number(box.width * self.scale)}" height="{number(box.height * self.scale)}"'
        view = " ".join(map(number, (box.left, box.top, box.width, box.height)))
        corner = f'x="{number(box.left)}" y="{number(box.top)}"'
        ground = f'width="{number(box.width)}" height="{number(box.height)}" fill="{self.theme.colour(strokes.PAPER)}"'
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="{view}" role="img">',
            f"<title>{_escaped(self.scene.title)}</title>",
            f"<desc>{_escaped(self.scene.about)}</desc>",
            *([f"<metadata>{_escaped(self.memory)}</metadata>"] if self.memory else ()),
            *self._definitions(),
            f"<rect {corner} {ground}/>",
            *layers,
            *further,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"

    def _definitions(self) -> list[str]:
        if not self.symbols:
            return []
        return [
            "<defs>",
            *(f'<symbol id="{name}" overflow="visible"><path d="{d}"/></symbol>' for d, name in self.symbols.items()),
            "</defs>",
        ]

    def _layer(self, layer: str) -> list[str]:
        shapes = [shape for shape in self.scene.shapes if strokes.LAYER_OF[type(shape)] == layer]
        return [f'<g id="{layer}">', *(self._group(shape) for shape in shapes), "</g>"]

    def _group(self, shape: Shape) -> str:
        inside = "".join(self._primitive(item) for item in strokes.primitives(shape))
        kind, origin = type(shape).__name__.lower(), shape.origin
        # Ids are made of what a shape stands for, so that scripts and styles find it; the second one alike has a number.
        name = "-".join(word for word in (origin.element, origin.port, origin.part) if word) or kind
        self.used[name] += 1
        unique = name if self.used[name] == 1 else f"{name}-{self.used[name]}"
        words = {
            "id": f"s-{unique}",
            "class": kind,
            "data-element": origin.element,
            "data-port": origin.port,
            "data-part": origin.part,
            "data-sign": "-1" if origin.sign < 0 else "",
            "data-domain": origin.domain,
        }
        attributes = "".join(f' {key}="{escape(visible(value))}"' for key, value in words.items() if value)
        return f"<g{attributes}>{inside}</g>"

    def _primitive(self, item: strokes.Primitive) -> str:
        match item:
            case strokes.PenPath():
                return f'<path d="{path_data(item.outline)}"{self._pen(item)}/>'
            case strokes.Circle():
                x, y = item.centre
                return f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(item.radius)}"{self._pen(item)}/>'
            case strokes.Glyphs():
                return self._glyphs(item)

    def _pen(self, item: strokes.PenPath | strokes.Circle) -> str:
        text = f' fill="{self.theme.colour(item.fill) if item.fill else "none"}"'
        if item.stroke:
            text += f' stroke="{self.theme.colour(item.stroke)}" stroke-width="{number(item.width)}"'
        if isinstance(item, strokes.PenPath) and item.cap != "butt":
            text += f' stroke-linecap="{item.cap}"'
        if isinstance(item, strokes.PenPath) and item.join != "miter":
            text += f' stroke-linejoin="{item.join}"'
        if item.dash:
            text += f' stroke-dasharray="{" ".join(map(number, item.dash))}"'
        return text

    def _glyphs(self, item: strokes.Glyphs) -> str:
        x, y = item.placed.start
        fill = self.theme.colour(item.fill)
        outlines = item.placed.text.outlines
        if self.symbols is None:
            return f'<path d="{" ".join(path_data(outline, x, y) for outline in outlines)}" fill="{fill}"/>'
        uses: list[str] = []
        for outline in outlines:
            # A symbol is drawn from where its outline begins: the same letter elsewhere in a text then is the same symbol.
            left, top = outline[0][1][0]
            name = self._symbol(outline, left, top)
            uses.append(f'<use href="#{name}" x="{number(x + left)}" y="{number(y + top)}"/>')
        return f'<g fill="{fill}">{"".join(uses)}</g>'

    def _symbol(self, outline: Outline, left: float, top: float) -> str:
        """The name of the symbol for an outline, from where it begins; outlines that nobody can tell apart share one."""
        assert self.symbols is not None
        steps = "".join(step for step, _ in outline)
        points = shifted(outline_points(outline), -left, -top)
        # Only letters of the same steps can be alike, so few have to be compared.
        known = self.letters.setdefault(steps, {})
        for other, name in known.items():
            if all(abs(x - u) < ALIKE and abs(y - v) < ALIKE for (x, y), (u, v) in zip(points, other, strict=True)):
                return name
        data = path_data(outline, -left, -top)
        # Several figures on one page share a namespace of ids, so that a name is made from what it stands for.
        known[points] = name = f"t-{sha256(data.encode()).hexdigest()[:12]}"
        self.symbols[data] = name
        return name
