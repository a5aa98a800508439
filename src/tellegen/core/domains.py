"""The one table of physical domains: both readings of the power variables, energy variables, symbols and SI units.

Across / through (POG, Firestone) and effort / flow (bond graphs) are two readings of the same two variables. They agree in the
electrical and hydraulic domains and swap in mechanics. Nothing else in the code knows the difference.

Temperature and entropy flow are the true pair of heat: temperatures are absolute. Temperature and heat flow are what engineers use:
their product is no power, temperatures count from the ambient.

The product of pressure and mass flow is no power. Gas potential and mass flow are the true pair: the potential is the work that a
kilogram of gas can do until it is at the pressure of the atmosphere.
"""

from dataclasses import dataclass
from typing import Literal, final

Side = Literal["across", "through"]
"""Which of the two power variables of a port."""


def other_side(side: Side) -> Side:
    """The conjugate power variable."""
    return "through" if side == "across" else "across"


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """A power or energy variable: its word, the letter that names it in results, the letters that laws may use, its unit."""

    word: str
    symbol: str
    letters: tuple[str, ...]
    unit: str


@final
@dataclass(frozen=True, slots=True)
class Domain:
    """A physical domain. `across_energy` is the integral of the through variable (stored by D_e), and the reverse.

    `code` is the letter of netlists, empty where they have none. In a domain of `heat_books` the through variable is a power by
    itself, so that energies are counted by it and not by the product. A domain that is not `told_by_units` shares its units with
    another one: a bond graph or a ladder must name it.
    """

    name: str
    code: str
    reference: str
    across: Variable
    through: Variable
    across_energy: Variable
    through_energy: Variable
    effort: Side
    heat_books: bool = False
    told_by_units: bool = True

    @property
    def flow(self) -> Side:
        """The side that a bond graph calls flow."""
        return other_side(self.effort)

    def power(self, side: Side) -> Variable:
        """The power variable of a side."""
        return self.across if side == "across" else self.through

    def energy(self, side: Side) -> Variable:
        """The energy variable of a storage whose output is the power variable of `side`."""
        return self.across_energy if side == "across" else self.through_energy


ELECTRICAL = Domain(
    name="electrical",
    code="e",
    reference="gnd",
    across=Variable("voltage", "V", ("v", "V", "u"), "V"),
    through=Variable("current", "I", ("i", "I"), "A"),
    across_energy=Variable("charge", "q", ("q", "Q"), "C"),
    through_energy=Variable("flux", "phi", ("phi", "lambda_"), "Wb"),
    effort="across",
)
TRANSLATIONAL = Domain(
    name="translational",
    code="m",
    reference="frame",
    across=Variable("velocity", "v", ("v",), "m/s"),
    through=Variable("force", "F", ("F", "f"), "N"),
    across_energy=Variable("momentum", "p", ("p",), "N*s"),
    through_energy=Variable("displacement", "x", ("x",), "m"),
    effort="through",
)
ROTATIONAL = Domain(
    name="rotational",
    code="r",
    reference="frame",
    across=Variable("angular velocity", "omega", ("omega", "w"), "rad/s"),
    through=Variable("torque", "tau", ("tau", "T"), "N*m"),
    across_energy=Variable("angular momentum", "p", ("p",), "N*m*s"),
    through_energy=Variable("angle", "theta", ("theta",), "rad"),
    effort="through",
)
HYDRAULIC = Domain(
    name="hydraulic",
    code="i",
    reference="tank",
    across=Variable("pressure", "P", ("P", "p"), "Pa"),
    through=Variable("flow rate", "Q", ("Q",), "m^3/s"),
    across_energy=Variable("volume", "V", ("V",), "m^3"),
    through_energy=Variable("pressure momentum", "Gamma", ("Gamma", "phi"), "Pa*s"),
    effort="across",
)

THERMAL = Domain(
    name="thermal",
    code="",
    reference="absolute_zero",
    across=Variable("temperature", "T", ("T",), "K"),
    through=Variable("entropy flow", "dS", ("dS",), "W/K"),
    across_energy=Variable("entropy", "S", ("S",), "J/K"),
    through_energy=Variable("temperature integral", "Theta", ("Theta",), "K*s"),
    effort="across",
)
HEAT = Domain(
    name="heat",
    code="",
    reference="ambient",
    across=Variable("temperature", "T", ("T",), "K"),
    through=Variable("heat flow", "Q", ("Q",), "W"),
    across_energy=Variable("heat", "H", ("H",), "J"),
    through_energy=Variable("temperature integral", "Theta", ("Theta",), "K*s"),
    effort="across",
    heat_books=True,
)
MAGNETIC = Domain(
    name="magnetic",
    code="",
    reference="mgnd",
    across=Variable("magnetomotive force", "F", ("F", "mmf"), "A"),
    through=Variable("flux rate", "dPhi", ("dPhi",), "V"),
    across_energy=Variable("flux", "Phi", ("Phi", "phi"), "Wb"),
    through_energy=Variable("magnetomotive impulse", "Gamma", ("Gamma",), "A*s"),
    effort="across",
    told_by_units=False,
)
PNEUMATIC = Domain(
    name="pneumatic",
    code="",
    reference="atmosphere",
    across=Variable("gas potential", "mu", ("mu",), "J/kg"),
    through=Variable("mass flow", "dm", ("dm",), "kg/s"),
    across_energy=Variable("gas mass", "m", ("m",), "kg"),
    through_energy=Variable("potential integral", "Gamma", ("Gamma",), "J*s/kg"),
    effort="across",
)

DOMAINS: dict[str, Domain] = {
    d.name: d for d in (ELECTRICAL, TRANSLATIONAL, ROTATIONAL, HYDRAULIC, THERMAL, HEAT, MAGNETIC, PNEUMATIC)
}
THERMAL_DOMAINS = (THERMAL.name, HEAT.name)
BY_CODE: dict[str, Domain] = {d.code: d for d in DOMAINS.values() if d.code}
REFERENCES = frozenset(d.reference for d in DOMAINS.values())
