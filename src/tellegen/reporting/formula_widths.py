"""How wide a formula will be, before any browser sets it: enough to choose a size at which it fits on paper."""

from xml.etree.ElementTree import Element, fromstring

SMALL = 0.75
"""The size of an index beside that of its letter."""
COLUMN_GAP = 1.0
ROOT_SIGN = 1.0
NARROW = frozenset("()[]{}|,.;′'")
WIDE = frozenset("=+-−⟶→≥≤<>∧∨")
"""Signs that stand between others, with room on both sides."""
INVISIBLE = frozenset("\u2061\u2062\u2063&")


def width_of(mathml: str) -> float:
    """About the width of a formula in em; rather too much than too little."""
    return _width(fromstring(mathml))


def _width(node: Element) -> float:
    tag = node.tag.rpartition("}")[2]
    parts = [_width(child) for child in node]
    match tag:
        case "mi" | "mn" | "mo" | "mtext":
            return sum(map(_letter, node.text or ""))
        case "mspace":
            return _length(node.get("width", "0"))
        case "mfrac":
            return max(parts, default=0) + 0.3
        case "mtable":
            return _table(node)
        case "munder" | "mover" | "munderover":
            return max(parts[0], *(SMALL * part for part in parts[1:]))
        case "msub" | "msup":
            return parts[0] + SMALL * parts[1]
        case "msubsup":
            return parts[0] + SMALL * max(parts[1:])
        case "msqrt" | "mroot":
            return sum(parts) + ROOT_SIGN
    return sum(parts)


def _table(table: Element) -> float:
    """The widest cell of each column, and the gaps between columns."""
    rows = [[_width(cell) for cell in row] for row in table]
    columns = max(map(len, rows), default=0)
    widest = [max(row[k] for row in rows if k < len(row)) for k in range(columns)]
    return sum(widest) + COLUMN_GAP * columns


def _letter(letter: str) -> float:
    if letter in INVISIBLE:
        return 0.0
    if letter in NARROW:
        return 0.48
    return 1.45 if letter in WIDE else 0.65


def _length(text: str) -> float:
    """A width as MathML writes it: `2em`, or a length that is too small to count."""
    return float(text[:-2]) if text.endswith("em") else 0.0
