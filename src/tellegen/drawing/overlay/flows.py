"""What a run says about the items of a figure: power through sections and bonds, energy stored, power lost."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.domains import DOMAINS
from tellegen.graph import ResistiveLaw, SourceLaw
from tellegen.model.bond_graph import PowerBond
from tellegen.results import Run
from tellegen.results.element_variables import SectionPowers, sources_of, supplying
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort
from tellegen.schemes.pog_scheme import PogScheme

Array = NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class PowerFlows:
    """Rows of a run by what they belong to.

    `powers` are those of sections (by name, positive to the right) or of bonds (by `bond <number>`, positive along the half arrow),
    as far as they follow from the run. `stored` and `lost` go by the name of an item.
    """

    powers: Mapping[str, Array]
    stored: Mapping[str, Array]
    lost: Mapping[str, Array]
    items: Mapping[str, str] = field(default_factory=dict)
    """The items by the elements that they stand for."""


SUPPLIED, LOST = "all supplied", "all lost"
"""The powers of a vector block: what its inputs bring in, and what its matrix A takes."""


def pog_flows(scheme: PogScheme, run: Run, carried: Mapping[str, tuple[str, ...]]) -> PowerFlows:
    """The flows of a POG figure. `carried` are the sections of the scheme and the elements whose powers make up that of a section.

    A vector block has no order of sections; what all sources give and all losses take is known.
    """
    stored, lost = _by_item(scheme.elements, run)
    items = {item.port.element: name for name, item in scheme.elements.items()}
    if scheme.vectorial and not carried:
        zero = np.zeros(len(run.t))
        given = [run.power_values(element) for element in sorted(supplying(run.graph))]
        return PowerFlows({SUPPLIED: sum(given, start=zero), LOST: sum(lost.values(), start=zero)}, stored, lost, items)
    sections = SectionPowers(scheme, run.channels)
    known = {name: sections.power(name) for name in sections.names}
    taken = _taken(run)
    powers: dict[str, Array] = {}
    for shown, names in carried.items():
        through = [name for name in names if name in scheme.sections]
        if all(name in known for name in through):
            # A connection among the elements takes nothing.
            rows = [
                *(known[name] for name in through),
                *(taken[name] for name in dict.fromkeys(names) if name in taken),
            ]
            powers[shown] = np.asarray(sum(rows, start=np.zeros(len(run.t))))
    return PowerFlows(powers, stored, lost, items)


def _taken(run: Run) -> dict[str, Array]:
    """The power that goes into each element: sources give theirs."""
    giving = sources_of(run.graph)
    return {
        element: -run.power_values(element) if element in giving else run.power_values(element)
        for element in run.catalogue.elements("power")
    }


def bond_flows(scheme: BondGraphScheme, run: Run) -> PowerFlows:
    """The flows of a bond graph figure."""
    powers = {f"bond {number}": rows for number, rows in bond_powers(scheme, run).items()}
    return PowerFlows(powers, *_by_item(scheme.one_ports, run))


def bond_powers(scheme: BondGraphScheme, run: Run) -> dict[int, Array]:
    """The powers of bonds by number.

    Those of elements are known. Junctions, transformers and gyrators neither store nor lose, so that all bonds of one but the last
    give the last; in a mesh the variables of a bond give its power where the run has both.
    """
    known = {bond.number: power for bond in scheme.bonds if (power := _at_element(bond, scheme, run)) is not None}
    inner = (*scheme.junctions, *scheme.two_ports)
    _balance(scheme, inner, known)
    for bond in scheme.bonds:
        if bond.number not in known and (power := _product(bond, run)) is not None:
            known[bond.number] = power
            _balance(scheme, inner, known)
    return known


def _at_element(bond: PowerBond, scheme: BondGraphScheme, run: Run) -> Array | None:
    """The power of a bond at an element with no other bond, along the half arrow."""
    for end in (bond.head, bond.tail):
        item = scheme.one_ports.get(end)
        if item is None or len(scheme.bonds_of(end)) > 1:
            continue
        elements = elements_of_item(item)
        if not all(run.catalogue.of("power", element) for element in elements):
            return None
        given = isinstance(item.port.law, SourceLaw)  # the power of a source counts where it leaves
        total = sum((run.power_values(element) for element in elements), start=np.zeros(len(run.t)))
        return total if (end == bond.head) != given else -total
    return None


def _product(bond: PowerBond, run: Run) -> Array | None:
    if bond.size > 1 or bond.through not in run or bond.across not in run:
        return None
    through = run.values(bond.through)
    return through if DOMAINS[bond.domain].heat_books else through * run.values(bond.across)


def _balance(scheme: BondGraphScheme, inner: Iterable[str], known: dict[int, Array]) -> None:
    """Complete what follows from the balance of items that conserve power, in place."""
    waiting = list(inner)
    while waiting:
        item = waiting.pop()
        bonds = scheme.bonds_of(item)
        unknown = [bond for bond in bonds if bond.number not in known]
        if len(unknown) != 1:
            continue
        last = unknown[0]
        arriving = sum(known[b.number] * (1 if b.head == item else -1) for b in bonds if b is not last)
        known[last.number] = np.asarray(-arriving if last.head == item else arriving, dtype=float)
        other = last.other(item)
        if other not in scheme.one_ports:
            waiting.append(other)


def elements_of_item(item: OnePort) -> tuple[str, ...]:
    """The elements that an item stands for, as a run calls them."""
    return tuple(part.port.element for part in item.parts or (item,))


def _by_item(items: Mapping[str, OnePort], run: Run) -> tuple[dict[str, Array], dict[str, Array]]:
    stored: dict[str, Array] = {}
    lost: dict[str, Array] = {}
    for name, item in items.items():
        elements = elements_of_item(item)
        if all(run.catalogue.of("energy", element) for element in elements):
            stored[name] = sum((run.values(f"energy.{e}") for e in elements), start=np.zeros(len(run.t)))
        elif isinstance(item.port.law, ResistiveLaw) and all(run.catalogue.of("power", e) for e in elements):
            lost[name] = sum((run.power_values(e) for e in elements), start=np.zeros(len(run.t)))
    return stored, lost
