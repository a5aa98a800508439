"""The bold letters of a bond graph of vectors, each for one vector only, and what they stand for, as equations under the figure."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.drawing import formulas
from tellegen.drawing.formulas import bold_latex, figure_latex
from tellegen.drawing.options import Options
from tellegen.drawing.pog.texts import entries_latex, is_too_large, matrix_latex
from tellegen.expressions import ONE, ZERO, Expression, Symbol
from tellegen.graph import ResistiveLaw, StorageLaw
from tellegen.model.bond_graph import PowerBond
from tellegen.scenes.lettering import name_latex
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, Matrix, OnePort, TwoPort
from tellegen.schemes.names import common_stem, plain_name

_NUMBERED = re.compile(r"_\d+$")
LONGEST = 60
"""The terms and factors of all entries of a matrix under a figure."""


@final
class VectorNames:
    """Names of the variables of vector bonds: what the names of the components have in common.

    What a junction shares comes first. A letter that stands for another vector already takes the item beside the bond as its
    subscript.
    """

    def __init__(self, scheme: BondGraphScheme) -> None:
        self.scheme = scheme
        self.of: dict[str, str] = {}
        self._taken: set[str] = set()
        bonds = [bond for bond in scheme.bonds if bond.size > 1]
        for bond in bonds:
            for end in (bond.tail, bond.head):
                if end in scheme.junctions:
                    shares = scheme.junctions[end].shares
                    self._name(bond, bond.variable(shares), DOMAINS[bond.domain].power(shares).symbol, end)
        for bond in bonds:
            for side in ("across", "through"):
                item = next((end for end in (bond.head, bond.tail) if end not in scheme.junctions), bond.head)
                self._name(bond, bond.variable(side), DOMAINS[bond.domain].power(side).symbol, item)

    def _name(self, bond: PowerBond, listed: str, letter: str, item: str) -> None:
        if listed in self.of:
            return
        stem = common_stem(components_of(listed)) or letter
        # What a two-port passes on has no name of its own: the numbers of its ports tell nothing of all of them.
        stems = [] if item in self.scheme.two_ports and _NUMBERED.search(stem) else [stem]
        further = (f"{letter}_{item}_{k}" for k in count(2))
        name = next(name for name in chain(stems, [f"{letter}_{item}"], further) if name not in self._taken)
        self._taken.add(name)
        self.of[listed] = name


def components_of(listed: str) -> list[str]:
    """The names in a list such as `[I_1, I_2]`."""
    return listed[1:-1].split(", ")


def shown_name(item: OnePort | TwoPort) -> str:
    """The name of a vector item as a path through parts, where its scheme has it in one word."""
    path = item.port.element.partition("[")[0] if isinstance(item, OnePort) else "_".join(item.origins[:1])
    values = {*values_of_parts(item)} if isinstance(item, OnePort) else set()
    common = next(iter(values)) if len(values) == 1 else None
    if isinstance(common, Symbol) and plain_name(common.name) == item.name:
        return common.name
    return path if plain_name(path) == item.name else item.name


def vector_legend(scheme: BondGraphScheme, names: VectorNames, options: Options) -> tuple[str, ...]:
    """What the bold letters of a figure stand for; nothing where only the letters are asked for."""
    if options.matrices == "named":
        return ()
    legend = dict(_vectors(scheme, names))
    entries: list[Expression] = []
    for letter, matrix in _matrices(scheme):
        inside = [entry for row in matrix for entry in row if entry is not ZERO]
        if not is_too_large(matrix, inside, LONGEST):
            legend.setdefault(letter, _diagonal(matrix) or matrix_latex(matrix))
            entries += inside
    moving = scheme.causal.graph.position_dependent
    for name in dict.fromkeys(name for entry in entries for name in sorted(entry.free_symbols) if name in moving):
        if not is_too_large(((moving[name],),), [moving[name]], LONGEST):
            legend.setdefault(name_latex(name), figure_latex(moving[name]))
    return tuple(f"{letter} = {text}" for letter, text in legend.items())


def _vectors(scheme: BondGraphScheme, names: VectorNames) -> Iterator[tuple[str, str]]:
    """The variables that vector junctions share, and those that vector sources give."""
    shown = {junction.variable for junction in scheme.junctions.values() if junction.size > 1}
    for item in scheme.sources():
        if item.parts:
            (bond,) = scheme.bonds_of(item.name)
            shown.add(bond.variable(item.decides))
    for listed, name in names.of.items():
        if listed in shown:
            yield bold_latex(name), entries_latex(list(map(name_latex, components_of(listed))))


def _matrices(scheme: BondGraphScheme) -> Iterator[tuple[str, Matrix]]:
    """The matrices of vector elements, and of two-ports."""
    fields = {field.element: field for field in scheme.causal.graph.fields}
    for item in scheme.one_ports.values():
        if item.parts and _is_field(item):
            yield bold_latex(shown_name(item)), fields[item.field].matrix
        elif values := values_of_parts(item):
            shown = [ONE / value for value in values] if are_reciprocals(values) else values
            yield (
                bold_latex(shown_name(item)),
                tuple(tuple(e if i == j else ZERO for j in range(len(shown))) for i, e in enumerate(shown)),
            )
    for two_port in scheme.two_ports.values():
        if two_port.matrix:
            yield bold_latex(shown_name(two_port)), two_port.matrix


def _is_field(item: OnePort) -> bool:
    return bool(item.field) and len({part.field for part in item.parts}) == 1


def values_of_parts(item: OnePort) -> list[Expression]:
    """The values of the components of an element in the reading of bond graphs; nothing where laws are no numbers."""
    values: list[Expression] = []
    for part in item.parts:
        law = part.port.law
        value = (
            law.inertia if isinstance(law, StorageLaw) else law.coefficient if isinstance(law, ResistiveLaw) else None
        )
        if value is None or value is ZERO or part.field:
            return []
        values.append(formulas.in_bond_graphs(part, value))
    return values


def are_reciprocals(values: Sequence[Expression]) -> bool:
    """Whether values are those of springs: reciprocals of parameters."""
    return bool(values) and all(isinstance(ONE / value, Symbol) for value in values)


def _diagonal(matrix: Matrix) -> str:
    """A diagonal matrix by its entries, one of equal entries by one; empty where it is none."""
    off = any(entry is not ZERO for i, row in enumerate(matrix) for j, entry in enumerate(row) if i != j)
    if off or len(matrix) != len(matrix[0]):
        return ""
    listed = [figure_latex(row[i]) for i, row in enumerate(matrix)]
    inside = ",\\,".join(listed)
    return rf"\mathrm{{diag}}\left({inside}\right)"
