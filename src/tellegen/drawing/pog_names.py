r"""How the variables of a POG are called in a figure: as in the bond graph of the same model.

Variables of elements and of two-ports keep their names, energy variables take the subscript of their element. What runs on
between two elements of a junction has no name of its own in the model; it gets the letter of its domain and a number: V_1.
"""

from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.drawing.naming import energy_names, name_latex, short_names
from tellegen.expressions import Expression, to_latex
from tellegen.schemes.pog_scheme import Block, PogScheme, Section


@final
class PogNames:
    """The names of one scheme in LaTeX."""

    def __init__(self, scheme: PogScheme) -> None:
        graph = scheme.causal.graph
        bonds = () if scheme.bond_graph is None else scheme.bond_graph.bonds
        joined = {name for bond in bonds for name in (bond.effort, bond.flow)}
        own = {name for port in graph.ports for name in (port.across, port.through)}
        self._shown = {} if scheme.bond_graph is None else short_names(scheme.bond_graph)
        self._called: dict[str, str] = {}
        self._energies = energy_names(scheme.elements.values())
        self._taken = {*own, *joined, *graph.parameters, *scheme.signals(), *self._shown.values()}
        for section in scheme.sections.values():
            for name in (section.across, section.through):
                if name not in own and name not in joined and name not in self._shown:
                    self._shown[name] = self._numbered(_symbol(section, name))

    def variable(self, name: str) -> str:
        """A variable of a section."""
        return name_latex(self._shown.get(name, name))

    def energy(self, block: Block) -> str:
        """The energy variable of a storage; empty where the block has none."""
        return name_latex(self._energies.get(block.element, block.energy)) if block.energy else ""

    def call(self, name: str, shown: str) -> None:
        """Say how a variable is written in formulas."""
        self._called[name] = shown

    def formula(self, expression: Expression) -> str:
        """A formula with names as they stand in the figure."""
        return to_latex(expression, lambda name: self._called.get(name) or self.variable(name))

    def fresh(self, symbol: str) -> str:
        """A variable that no section has: the letter with the next number."""
        return name_latex(self._numbered(symbol))

    def _numbered(self, symbol: str) -> str:
        number = 1
        while f"{symbol}_{number}" in self._taken or f"{symbol}{number}" in self._taken:
            number += 1
        self._taken.add(f"{symbol}_{number}")
        return f"{symbol}_{number}"


def _symbol(section: Section, name: str) -> str:
    return DOMAINS[section.domain].power("across" if name == section.across else "through").symbol


def letter_latex(letter: str, element: str) -> str:
    """A letter with an element as its subscript: a law, a gain, a matrix."""
    return name_latex(f"{letter}_{element.replace('.', '_')}")
