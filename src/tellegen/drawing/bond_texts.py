"""What stands at the items and bonds of a bond graph figure: letters, parameters or values, efforts and flows."""

from dataclasses import dataclass
from typing import final

from tellegen.core.domains import DOMAINS
from tellegen.description.bond_graphs.graph import SINKS
from tellegen.drawing.naming import (
    Values,
    bold_latex,
    dotted_latex,
    energy_names,
    formula_latex,
    listed_latex,
    name_latex,
    read_by,
    short_names,
    unit_ratio,
)
from tellegen.drawing.options import Options
from tellegen.drawing.typesetting import COLON, set_math
from tellegen.expressions import ONE, ZERO, Expression, Number
from tellegen.graph import ResistiveLaw, SourceLaw, StorageLaw
from tellegen.results.units import ratio
from tellegen.schemes.bond_graph_scheme import Bond, BondGraphScheme, OnePort, TwoPort

WIDEST = 90.0
"""A parameter that is wider than this is replaced by the name of its element."""


@final
@dataclass(frozen=True, slots=True)
class ItemText:
    """The texts of an item: letters, what follows them after a colon, a modulus above, and the signals that move it.

    What has no letters is no item: the name of what a bond that is cut leads to.
    """

    letters: str
    parameter: str = ""
    modulus: str = ""
    signals: str = ""
    note: str = ""

    def latex(self, *, reversed_: bool = False) -> str:
        """`I: L_a`; or `V_a: Se` where the bond comes from the right."""
        if not self.letters:
            return self.parameter
        letters = rf"\mathrm{{{self.letters}}}"
        if not self.parameter:
            return letters
        return f"{self.parameter}{COLON}{letters}" if reversed_ else f"{letters}{COLON}{self.parameter}"


@final
class BondTexts:
    """Texts of one bond graph."""

    def __init__(self, scheme: BondGraphScheme, options: Options) -> None:
        self.scheme, self.options = scheme, options
        self.graph = scheme.causal.graph
        self.values = Values(self.graph)
        parts = [part for item in scheme.one_ports.values() for part in (item.parts or (item,))]
        self.energies = energy_names([*scheme.one_ports.values(), *parts])
        self.short = short_names(scheme)

    def domain(self, element: str) -> str:
        """The domain of an item; empty for a two-port between domains."""
        if element in self.scheme.two_ports:
            domains = set(self.scheme.two_ports[element].domains)
            return domains.pop() if len(domains) == 1 else ""
        item = self.scheme.junctions.get(element) or self.scheme.one_ports[element]
        return item.domain

    def item(self, element: str, *, named: bool = True) -> ItemText:
        """The texts of an item; only one of several equal junctions is named."""
        letters = self.scheme.kind_of(element)
        if element in self.scheme.junctions:
            note = name_latex(self.scheme.junctions[element].name) if self.options.names and named else ""
            return ItemText(letters, note=note)
        if element in self.scheme.two_ports:
            return self._two_port(letters, self.scheme.two_ports[element])
        return self._one_port(letters, self.scheme.one_ports[element])

    def shared(self, junction: str) -> str:
        """The variable that the bonds of a junction share."""
        item = self.scheme.junctions[junction]
        return bold_latex(item.name) if item.parts else name_latex(item.variable)

    def variables(self, bond: Bond) -> tuple[str, str]:
        """Effort and flow of a bond: rates of energy variables at storages, bold letters on vector bonds."""
        storage = next((self.scheme.one_ports[end] for end in (bond.head, bond.tail) if self._stores(end)), None)
        effort, flow = self._vector(bond, bond.effort), self._vector(bond, bond.flow)
        if storage is None:
            return effort, flow
        energy = self.energies[self._component(storage, bond).name]
        rate = dotted_latex(bold_latex(energy) if bond.size > 1 else name_latex(energy))
        return (rate, flow) if storage.kind == "I" else (effort, rate)

    def _stores(self, name: str) -> bool:
        item = self.scheme.one_ports.get(name)
        return item is not None and item.kind in ("I", "C") and name in self.energies and item.letters != "IC"

    @staticmethod
    def _component(storage: OnePort, bond: Bond) -> OnePort:
        """The storage of a field that a scalar bond ends at; the whole on a vector bond."""
        port = bond.head_port if bond.head == storage.name else bond.tail_port
        return storage.parts[port - 1] if storage.parts and port and bond.size == 1 else storage

    def _vector(self, bond: Bond, name: str) -> str:
        if bond.size == 1:
            return name_latex(self.short.get(name, name))
        # The name of a vector bond lists its components: `[I_1, I_2, I_3]` is the vector I.
        first = name.strip("[]").split(",")[0].strip().partition("[")[0]
        stem = first.rstrip("0123456789").rstrip("_") or first
        return bold_latex(stem)

    # -- parameters ------------------------------------------------------------------------------------------------------------

    def _one_port(self, letters: str, item: OnePort) -> ItemText:
        if item.parts:
            return ItemText(letters, bold_latex(item.name))
        expression, unit = self._expression(item)
        return ItemText(letters, self._parameter(item.name, expression, unit), signals=self._signals(item))

    def _two_port(self, letters: str, item: TwoPort) -> ItemText:
        entries = [entry for row in item.matrix for entry in row] or [item.modulus]
        moved = dict.fromkeys(name for entry in entries for name in read_by(self.graph, entry))
        signals = listed_latex(moved)
        if item.matrix:
            return ItemText(letters, modulus=bold_latex(item.name), signals=signals)
        return ItemText(letters, modulus=self._parameter(item.name, item.modulus, modulus_unit(item)), signals=signals)

    def _parameter(self, name: str, expression: Expression | None, unit: str) -> str:
        if expression is None:
            return name_latex(name)
        symbol = name_latex(name) if isinstance(expression, Number) else formula_latex(expression)
        if set_math(symbol, 18).box.width > WIDEST:
            symbol = name_latex(name)
        value = self.values.latex(expression, unit) if self.options.labels != "symbols" else None
        if value is None:
            return symbol
        return value if self.options.labels == "values" else f"{symbol} = {value}"

    def _expression(self, item: OnePort) -> tuple[Expression | None, str]:
        """The coefficient in the reading of bond graphs, and its unit: R = e/f, C = q/e, I = p/f."""
        law, domain = item.port.law, DOMAINS[item.domain]
        effort, flow = domain.power(domain.effort).unit, domain.power(domain.flow).unit
        if isinstance(law, StorageLaw) and law.inertia is not None:
            return law.inertia, unit_ratio(domain.energy(law.side).unit, domain.power(law.side).unit)
        if isinstance(law, ResistiveLaw) and law.coefficient not in (None, ZERO):
            assert law.coefficient is not None, "just asked"
            own = law.coefficient if law.side == domain.effort else ONE / law.coefficient
            return own, unit_ratio(effort, flow)
        return None, ""

    def _signals(self, item: OnePort) -> str:
        law = item.port.law
        if isinstance(law, SourceLaw):
            if item.letters in SINKS:
                return ""  # it reads its own force
            return listed_latex(read_by(self.graph, law.signal)) if law.signal is not None else ""
        moved = law.coefficient if isinstance(law, ResistiveLaw) else law.inertia
        return listed_latex(read_by(self.graph, moved)) if moved is not None else ""


def modulus_unit(item: TwoPort) -> str:
    """The unit of a modulus: f_b over f_a of a transformer, e_b over f_a of a gyrator. An electric machine has N*m/A, not Wb."""
    here, there = (DOMAINS[name] for name in item.domains)
    electric = next((k for k, domain in enumerate((here, there)) if domain.name == "electrical"), None)
    if item.kind == "GY" and electric is not None and here is not there:
        wires, shaft = (here, there) if electric == 0 else (there, here)
        unit = ratio(shaft.power(shaft.effort).unit, wires.power(wires.flow).unit)
    else:
        side = there.flow if item.kind == "TF" else there.effort
        unit = unit_ratio(there.power(side).unit, here.power(here.flow).unit)
    return "" if unit == "1" else unit
