"""Random networks in which some elements have a curved law, and their rates from first principles by Newton's method."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from support.networks import Network, Part
from support.nodal import ACROSS_STORED, LAWS, Branch, Table, is_resistive, is_storage
from support.strategies import networks
from tellegen.elements import KINDS

Array = NDArray[np.float64]

LETTERS: Mapping[str, tuple[str, str, str, str]] = {
    "V": ("v", "i", "q", "phi"),
    "v": ("v", "F", "p", "x"),
    "omega": ("omega", "tau", "p", "theta"),
    "P": ("P", "Q", "V", "Gamma"),
}
"""By the across variable of a domain: the letters of across, through and what a storage of either keeps."""

DOMAIN: Mapping[str, str] = {
    **dict.fromkeys(("capacitor", "inductor", "resistor", "conductance"), "V"),
    **dict.fromkeys(("mass", "spring", "compliance", "damper", "mobility"), "v"),
    **dict.fromkeys(("inertia", "torsion spring", "torsion compliance", "friction", "rotational mobility"), "omega"),
    **dict.fromkeys(("accumulator", "stiff chamber", "fluid inertia", "hydraulic resistor", "leak"), "P"),
}


@dataclass(frozen=True)
class CurvedNetwork:
    """A network; the parts named in `cubic` have a cubic term with that coefficient beside their linear one."""

    linear: Network
    cubic: Mapping[str, float]

    @property
    def text(self) -> str:
        """The model file."""
        known = {part.parameter: part.value for part in self.linear.parts if part.parameter and not part.is_source}
        lines = ["system: Curved", "parameters:", *(f"  {name}: {value}" for name, value in known.items()), "network:"]
        return "\n".join([*lines, *map(self._line, self.linear.parts)]) + "\n"

    def _line(self, part: Part) -> str:
        nodes = f"  {part.name}: {{{part.kind}: [{', '.join(part.nodes)}]"
        if part.is_source:
            return nodes + "}"
        if part.name in self.cubic:
            return f"{nodes}, law: {self.law(part)}}}"
        quantity = KINDS[part.kind].quantity
        assert quantity is not None
        return f"{nodes}, {quantity.key}: {part.parameter or part.value}}}"

    def __repr__(self) -> str:
        return self.text

    def law(self, part: Part) -> str:
        """The formula of a curved law: what is given is an odd function of what is told, both growing together."""
        given, told = self._sides(part)
        a, b = float(part.value), self.cubic[part.name]
        return f"{given} = {a!r}*{told} + {b!r}*{told}^3"

    def _sides(self, part: Part) -> tuple[str, str]:
        v, i, kept_v, kept_i = LETTERS[DOMAIN[part.kind]]
        return {
            "i = p s v": (kept_v, v),
            "v = p s i": (kept_i, i),
            "s v = p i": (v, kept_v),
            "s i = p v": (i, kept_i),
            "v = p i": (v, i),
            "i = p v": (i, v),
        }[LAWS[part.kind]]

    def rates(self, states: Mapping[str, float], inputs: Mapping[str, float]) -> dict[str, float] | None:
        """The rates of the states by the elements that have them; None where Newton's method does not settle.

        The state of a storage is its output, or what it keeps where the curved law tells the output from that.
        """
        table = Table(self.linear)
        fixed = [*table.kirchhoff(), *table.coupled(lambda part: part.value)]
        A = np.zeros((len(fixed), table.count))
        for r, row in enumerate(fixed):
            for c, e in row.items():
                A[r, c] = float(e)
        w = np.zeros(table.count)
        for _ in range(200):
            laws = [self._residual(part, table, w, states, inputs) for part in table.ports]
            residual = np.concatenate([A @ w, [value for value, _ in laws]])
            J = np.vstack([A, *(slope for _, slope in laws)])
            if np.linalg.matrix_rank(J) < table.count:
                return None
            change = (
                np.linalg.solve(J, residual) if len(J) == table.count else np.linalg.lstsq(J, residual, rcond=None)[0]
            )
            w = w - change
            if np.abs(change).max() < 1e-13 * (1 + np.abs(w).max()):
                break
        else:
            return None
        return {p.name: self._rate(p, table, w, states) for p in table.ports if is_storage(p)}

    def _residual(
        self, part: Part, table: Table, w: Array, states: Mapping[str, float], inputs: Mapping[str, float]
    ) -> tuple[float, Array]:
        branch = table.branch[part.name]
        across, through = _across(branch, table.count), np.eye(table.count)[branch.through]
        law = LAWS[part.kind]
        if part.is_source:
            row = across if law == "v = u" else through
            return float(row @ w) - inputs[part.name], row
        if is_resistive(part):
            given, told = (across, through) if law == "v = p i" else (through, across)
            a, b, x = float(part.value), self.cubic.get(part.name, 0.0), float(told @ w)
            return float(given @ w) - a * x - b * x**3, given - (a + 3 * b * x**2) * told
        row = across if law in ACROSS_STORED else through
        return float(row @ w) - self._output(part, states), row

    def _output(self, part: Part, states: Mapping[str, float]) -> float:
        x = states[part.name]
        if part.name in self.cubic and LAWS[part.kind] in ("s v = p i", "s i = p v"):
            return float(part.value) * x + self.cubic[part.name] * x**3
        return x

    def _rate(self, part: Part, table: Table, w: Array, states: Mapping[str, float]) -> float:
        branch, law = table.branch[part.name], LAWS[part.kind]
        told = float(
            (np.eye(table.count)[branch.through] if law in ACROSS_STORED else _across(branch, table.count)) @ w
        )
        a, b, x = float(part.value), self.cubic.get(part.name, 0.0), states[part.name]
        if law in ("s v = p i", "s i = p v"):
            return told if part.name in self.cubic else a * told
        return told / (a + 3 * b * x**2)


def _across(branch: Branch, count: int) -> Array:
    row = np.zeros(count)
    for node, sign in ((branch.plus, 1.0), (branch.minus, -1.0)):
        if node is not None:
            row[node] += sign
    return row


@st.composite
def curved_networks(draw: st.DrawFn) -> CurvedNetwork:
    """A legal or illegal network with one to four curved laws."""
    linear = draw(networks())
    linear = Network(linear.parts, valued=True)
    own = [p.name for p in linear.parts if (is_storage(p) or is_resistive(p))]
    count = draw(st.integers(1, 4))
    chosen = draw(st.lists(st.sampled_from(own), min_size=1, max_size=count, unique=True)) if own else []
    return CurvedNetwork(linear, {name: draw(st.integers(1, 30)) / 10 for name in chosen})
