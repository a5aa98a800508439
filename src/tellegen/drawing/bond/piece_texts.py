"""The texts of the pieces of a mechanism: short, since the caption of a piece says what they belong to."""

import re
from collections.abc import Collection, Iterator
from string import ascii_lowercase
from typing import final

from tellegen.core.domains import Side
from tellegen.drawing import formulas
from tellegen.drawing.bond.owners import ENTRY, Owners, Piece
from tellegen.drawing.bond.parting import base_name
from tellegen.drawing.bond.plan import BondTexts, BondWarnings, ItemText
from tellegen.drawing.formulas import figure_latex
from tellegen.drawing.options import Options
from tellegen.expressions import ZERO, Expression
from tellegen.expressions.symbols import GREEK
from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.model.bond_graph import DETECTORS, SINKS, PowerBond
from tellegen.model.mechanism import RIGID
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, default_variable

WIDEST = 74.0
"""A modulus that is wider than this gets a name, and is written under the figure."""
TALLEST = 22.0
"""The same of its height: a fraction would reach into the row above."""


@final
class PieceTexts:
    """Texts of the pieces of one bond graph."""

    def __init__(self, scheme: BondGraphScheme, owners: Owners, options: Options, turned: Collection[str] = ()) -> None:
        self.scheme, self.owners, self.options, self.turned = scheme, owners, options, turned
        self.texts = BondTexts(scheme, options)
        self.warnings = BondWarnings(scheme)
        self.nodes = owners.nodes
        self.known = frozenset(self._known())
        self.moduli: dict[str, str] = {}
        """The names of moduli, by their two-ports."""
        self.lettered: dict[int, str] = {}
        """What stands at both ends of bonds between junctions without names, by the numbers of these."""
        self._name_moduli()

    def domain(self, name: str) -> str:
        """The domain of an item."""
        return self.texts.domain(name)

    def _known(self) -> Iterator[str]:
        """The variables that an author has named, or that mechanisms have: what else a bond carries has a made-up name."""
        for port in self.scheme.causal.graph.ports:
            for name in (port.across, port.through):
                side: Side = "across" if name == port.across else "through"
                if "." in name or name != default_variable(port, port.element, side):
                    yield name

    def is_sink(self, bond: PowerBond) -> bool:
        """Whether a bond leads to a residual sink that decides a force."""
        return self.warnings.is_sink(bond)

    def warned(self, bond: PowerBond) -> bool:
        """Whether a bond is drawn as a warning."""
        return self.warnings.marks(bond)

    # -- moduli ----------------------------------------------------------------------------------------------------------------

    def _name_moduli(self) -> None:
        letter = "mu"
        taken = taken_names(self.scheme.causal.graph) | set(self.scheme.causal.graph.parameters)
        while any(
            name == letter or (name.startswith(f"{letter}_") and name[len(letter) + 1 :].isdigit()) for name in taken
        ):
            letter = {"mu": "m", "m": "n"}.get(letter, letter + "'")
        named = [
            name for name, item in self.scheme.two_ports.items() if self.options.moduli or self._is_long(item.modulus)
        ]
        for piece in self.owners.pieces:
            for name in piece.items:
                if name in named:
                    self.moduli[name] = f"{letter}_{len(self.moduli) + 1}"

    def _is_long(self, modulus: Expression) -> bool:
        box = set_math(figure_latex(modulus), 15.0).box
        return box.width > WIDEST or box.height > TALLEST

    def table(self) -> list[str]:
        """The named moduli, one equation for each."""
        return [
            f"{name_latex(name)} = {figure_latex(self.scheme.two_ports[item].modulus)}"
            for item, name in self.moduli.items()
        ]

    # -- items -----------------------------------------------------------------------------------------------------------------

    def item(self, name: str, piece: Piece) -> ItemText:
        """Letters with a parameter or a modulus; the name of an element without one is told in words."""
        letters = self.scheme.kind_of(name)
        if name in self.scheme.two_ports:
            two_port = self.scheme.two_ports[name]
            modulus = self.moduli.get(name, "")
            return ItemText(letters, modulus=name_latex(modulus) if modulus else figure_latex(two_port.modulus))
        if name in self.scheme.junctions:
            return ItemText(letters)
        text = self.texts.item(name)
        port = self.scheme.one_ports[name].port
        if (joint := self.owners.joint_of(name)) is not None and letters in (*SINKS, *DETECTORS):
            # The force of a joint is that of a flow which is zero; that of springs is measured.
            if isinstance(port.law, ResistiveLaw):
                return ItemText("Sf", "0") if joint.kind in RIGID else ItemText("De")
            return ItemText(letters)
        if isinstance(port.law, StorageLaw) and port.law.inertia is ZERO:
            return ItemText(text.letters, "0")
        path = self.owners.path(name)
        if text.parameter == name_latex(name) and "." in path:
            tail = path.partition(".")[2] if path.partition(".")[0] == piece.name else path
            tail = re.sub(r"_[xy]$", "", tail)
            text = ItemText(text.letters, words(tail), signals=text.signals)
        return text

    def variables(self, bond: PowerBond, leaf: str, piece: Piece) -> tuple[str, str]:
        """What stands beside the bond of an element: what its junction does not share, or what is not told there."""
        effort, flow = self._variable(bond, leaf, "effort", piece), self._variable(bond, leaf, "flow", piece)
        junction = bond.other(leaf)
        shared = self.scheme.kind_of(junction)
        if shared == "1" and self.note(junction, piece):
            flow = ""
        if shared == "0" and self.note(junction, piece):
            effort = ""
        return effort, flow

    def _variable(self, bond: PowerBond, leaf: str, side: str, piece: Piece) -> str:
        item = self.scheme.one_ports[leaf]
        own = bond.effort if side == "effort" else bond.flow
        rate = {"I": "effort", "C": "flow"}.get(item.kind)
        if rate == side and leaf in self.texts.energies and item.letters != "IC":
            energy = self.texts.energies[leaf]
            if "." in item.port.element and energy.endswith(leaf.partition("_")[2]):
                symbol = energy.partition("_")[0]
                tail = {"mx": "x", "my": "y", "J": "theta"}.get(item.port.element.rpartition(".")[2], "")
                energy = f"{symbol}_{tail or item.port.element.rpartition('.')[2]}"
            return self._signed(leaf, formulas.dotted_latex(name_latex(energy)))
        # The flow of a reaction is zero.
        zero = (item.letters in (*SINKS, *DETECTORS) and side == "flow") or own not in self.known
        return "" if zero else self._signed(leaf, short_latex(own, piece.name))

    def _signed(self, leaf: str, text: str) -> str:
        return f"-{text}" if leaf in self.turned else text

    def note(self, name: str, piece: Piece | None) -> str:
        """What a junction shares, where that has a name that people know; `piece` is where it is written."""
        if name not in self.scheme.junctions:
            return ""
        variable = self.scheme.junctions[name].variable
        node = self.nodes.get(base_name(name), "")
        if self.scheme.kind_of(name) == "0":
            # The force of an inertia is told at its bond.
            reactions = (b.other(name) for b in self.scheme.bonds_of(name) if b.other(name) in self.scheme.one_ports)
            own = next(
                (
                    self.scheme.one_ports[o]
                    for o in reactions
                    if self.scheme.one_ports[o].letters in (*SINKS, *DETECTORS)
                ),
                None,
            )
            variable = variable if own is None else own.port.through
            told = variable in self.known and (
                "." not in variable or self.owners.kinds.get(variable.partition(".")[0]) == "joint"
            )
            return short_latex(variable, piece.name if piece else "") if told else ""
        if variable in self.known and "." not in variable:
            return name_latex(variable)
        inside = piece.name if piece else ""
        owner, _, tail = node.partition(".")
        if owner in self.owners.kinds:
            point, _, axis = tail.rpartition(".")
            point = "" if point in ("origin", "centre") else point
            if not tail:
                return _velocity("omega" if self.domain(name) == "rotational" else "v", "", "", owner, inside)
            return _velocity("v", axis, point, owner, inside)
        return short_latex(variable, inside) if variable in self.known else ""

    def end(self, bond: PowerBond, name: str, piece: Piece, *, inside: bool = False) -> str:
        """The name at the end of a bond that goes on elsewhere: a velocity, or the piece that has it."""
        other = bond.other(name)
        passes = self.scheme.kind_of(other) == "1" and self.scheme.kind_of(name) != "1"
        if passes and (told := self.note(other, piece if inside else None)):
            return told
        if not inside:
            return words(self.owners.of[other])
        if told := self.note(other, piece):
            return told
        path = ENTRY.sub(r"\1", self.owners.path(other))
        if path and path != piece.name:
            return words(path.partition(".")[2] or path)
        # Its own name would lead nowhere, unless the other end tells at which junction the bond begins.
        return words(piece.name) if self.note(name, piece) else self._letter(bond)

    def _letter(self, bond: PowerBond) -> str:
        """The letter at both ends of a bond between junctions that nobody has named."""
        k = list(self.lettered).index(bond.number) if bond.number in self.lettered else len(self.lettered)
        primes = "'" * (k // 26)
        self.lettered[bond.number] = rf"\text{{({ascii_lowercase[k % 26]}{primes})}}"
        return self.lettered[bond.number]

    def rank(self, name: str) -> tuple[int, str]:
        """The order of velocities in a fan: along x, turning, along y, others."""
        node = self.nodes.get(base_name(name), name)
        if self.domain(name) == "rotational":
            return 1, node
        return (0, node) if node.endswith(".x") else (2, node) if node.endswith(".y") else (3, node)


def _velocity(letter: str, axis: str, point: str, owner: str, inside: str) -> str:
    marks = [axis] if axis else []
    marks += [_words(point)] if point else []
    marks += [_words(owner)] if owner != inside else []
    symbol = {"omega": r"\omega", "v": "v"}[letter]
    return rf"{symbol}_{{{','.join(marks)}}}" if marks else symbol


def short_latex(variable: str, owner: str) -> str:
    """A variable with its path as a subscript in words; without the part that the caption tells."""
    head, dot, tail = variable.partition(".")
    if not dot:
        return name_latex(variable)
    letter, _, index = tail.partition("_")
    marks = [mark for mark in re.split(r"_", index) if mark]
    if letter in ("vx", "vy"):
        letter, marks = "v", [letter[1], *marks]
    symbol = name_latex(letter)
    subscript = ",".join(
        [*(m if len(m) == 1 or m.isdigit() else _words(m) for m in marks), *([] if head == owner else [_words(head)])]
    )
    return rf"{symbol}_{{{subscript}}}" if subscript else symbol


def _words(name: str) -> str:
    return rf"\text{{{name.replace('_', ' ')}}}"


def words(name: str) -> str:
    """A name as words; one that is a letter with marks stays a symbol."""
    first = name.partition("_")[0]
    return (
        name_latex(name) if "." not in name and (len(first) == 1 or first in GREEK) else _words(name.replace(".", " "))
    )
