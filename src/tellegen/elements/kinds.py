"""The kinds of element that a network is made of, by domain.

A kind says which role its ports play in the power structure and which linear law its parameter stands for. The reader of files,
the JSON Schema, the Python calls, the netlist reader and the documentation are all made from this table.
"""

from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side

Role = Literal["storage", "resistive", "source", "coupling", "switching"]
"""What a port does with power: keep it, lose it, bring it, pass it on, or change its mind (an element with modes)."""

Behaviour = Literal["switch", "one way", "friction", "clutch", "stop"]
"""How an element with modes changes them: told to, by the signs of its variables, by a limit of its force, by a gap."""

CouplingType = Literal["transformer", "gyrator"]
"""In the across / through reading: a transformer relates like variables, a gyrator crosses them."""

ACTS_ON: dict[tuple[CouplingType, bool], tuple[Side, Side]] = {
    ("transformer", False): ("through", "through"),  # through_2 = K through_1, across_1 = K across_2
    ("transformer", True): ("across", "across"),  # across_2 = K across_1, through_1 = K through_2
    ("gyrator", False): ("across", "through"),  # through_2 = K across_1, through_1 = K across_2
    ("gyrator", True): ("through", "across"),  # across_2 = K through_1, across_1 = K through_2
}
"""The power variables z_1 and z_2 with z_2 = K z_1, of a coupling and of its reciprocal."""

COUPLING_OF: dict[tuple[Side, Side], tuple[CouplingType, bool]] = {sides: kind for kind, sides in ACTS_ON.items()}
"""The coupling with z_2 = K z_1, by the power variables z_1 and z_2."""


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A parameter of a kind: the key that sets it (`R`), its word (`resistance`) and its SI unit."""

    key: str
    word: str
    unit: str


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """A further key of a kind with modes, and its part in the behaviour. `needed`: where nobody gives it, it stays a symbol.

    A `formula` may read signals, states, displacements and time; others read parameters only.
    """

    key: str
    word: str
    unit: str
    part: str
    needed: bool = False
    formula: bool = False


@final
@dataclass(frozen=True, slots=True)
class ElementKind:
    """A kind of element.

    `side` is the power variable that the element's law gives: the output of a storage in integral causality, the left side of a
    resistive law, the variable that a source imposes. `inverse` marks a storage whose parameter divides (a stiffness: F = K x).
    A coupling has two ports; `law` is then the relation that defines its modulus. A kind with modes has a `behaviour`, `settings`
    and the words of its `modes`; `side` is then the power variable that it lets free in its first one. A storage that is not linear
    has an `energy` of its key and its output; a coupling that passes on heat has that `heat` of its key and both temperatures.
    """

    name: str
    role: Role
    domains: tuple[str, ...]
    summary: str
    law: str
    side: Side = "across"
    quantity: Quantity | None = None
    inverse: bool = False
    coupling: CouplingType | None = None
    reciprocal: bool = False
    aliases: tuple[str, ...] = ()
    netlist: str = ""
    grounded: bool = False
    behaviour: Behaviour | None = None
    settings: tuple[Setting, ...] = ()
    modes: tuple[str, ...] = ()
    energy: str = ""
    heat: str = ""

    @property
    def domain(self) -> Domain:
        """The domain of the first port."""
        return DOMAINS[self.domains[0]]

    @property
    def weightless(self) -> bool:
        """Whether it is a storage that keeps nothing: its output is a state because what moves with it has inertia."""
        return self.role == "storage" and self.quantity is None

    @property
    def terminals(self) -> int:
        """How many nodes the element joins."""
        return 2 * len(self.domains)

    @property
    def words(self) -> tuple[str, ...]:
        """The name and its aliases."""
        return (self.name, *self.aliases)


KINDS: dict[str, ElementKind] = {}
"""Every word that names a kind (aliases too), and the kind."""


def register(kind: ElementKind) -> ElementKind:
    """Add a kind to the registry; a word can name one kind only."""
    for word in kind.words:
        if word in KINDS:
            raise ValueError(f"'{word}' names an element kind already: {KINDS[word].name}")
        KINDS[word] = kind
    return kind


def kind_names() -> list[str]:
    """The names of the kinds, aliases left out, in order of registration."""
    return list(dict.fromkeys(kind.name for kind in KINDS.values()))


def kinds_of(domain: str, role: Role) -> list[ElementKind]:
    """The kinds of a role that live in one domain."""
    return [k for k in dict.fromkeys(KINDS.values()) if k.role == role and set(k.domains) == {domain}]


def kind_of_netlist(code: str) -> ElementKind | None:
    """The kind behind a POG_Modeler code such as `eR`."""
    return _BY_NETLIST_CODE.get(code)


def _storage(
    name: str,
    domain: str,
    side: Side,
    key: str,
    word: str,
    unit: str,
    *,
    inverse: bool = False,
    netlist: str = "",
    **more: object,
) -> ElementKind:
    d = DOMAINS[domain]
    energy, power = d.energy(side), d.power(side)
    law = (
        f"{power.letters[0]} = {key}*{energy.letters[0]}"
        if inverse
        else f"{energy.letters[0]} = {key}*{power.letters[0]}"
    )
    return _register(
        "storage", name, (domain,), law, side, Quantity(key, word, unit), inverse=inverse, netlist=netlist, **more
    )


def _resistive(
    name: str, domain: str, side: Side, key: str, word: str, unit: str, *, netlist: str = "", **more: object
) -> ElementKind:
    d = DOMAINS[domain]
    law = f"{d.power(side).letters[0]} = {key}*{d.power(other_side(side)).letters[0]}"
    return _register("resistive", name, (domain,), law, side, Quantity(key, word, unit), netlist=netlist, **more)


def _source(name: str, domain: str, side: Side, *, netlist: str = "", **more: object) -> ElementKind:
    power = DOMAINS[domain].power(side)
    return _register("source", name, (domain,), f"{power.letters[0]} = input", side, None, netlist=netlist, **more)


def _coupling(
    name: str,
    domains: tuple[str, str],
    coupling: CouplingType,
    law: str,
    key: str,
    word: str,
    unit: str,
    **more: object,
) -> ElementKind:
    return _register("coupling", name, domains, law, "across", Quantity(key, word, unit), coupling=coupling, **more)


def _register(
    role: Role, name: str, domains: tuple[str, ...], law: str, side: Side, quantity: Quantity | None, **more: object
) -> ElementKind:
    summary = str(more.pop("summary", ""))
    return register(ElementKind(name, role, domains, summary, law, side, quantity, **more))  # type: ignore[arg-type]


# Electrical
_storage(
    "capacitor",
    "electrical",
    "across",
    "C",
    "capacitance",
    "F",
    netlist="eC",
    summary="stores charge between its plates",
)
_storage("inductor", "electrical", "through", "L", "inductance", "H", netlist="eL", summary="stores flux in its coil")
_resistive(
    "resistor", "electrical", "across", "R", "resistance", "ohm", netlist="eR", summary="turns electric power into heat"
)
_resistive(
    "conductance",
    "electrical",
    "through",
    "G",
    "conductance",
    "S",
    netlist="eG",
    summary="a resistor given by its conductance",
)
_source(
    "voltage source",
    "electrical",
    "across",
    netlist="eV",
    summary="imposes the voltage of its first node against its second",
)
_source(
    "current source",
    "electrical",
    "through",
    netlist="eI",
    summary="drives a current from its first node to its second",
)

# Translational mechanics
_storage(
    "mass",
    "translational",
    "across",
    "m",
    "mass",
    "kg",
    netlist="mM",
    grounded=True,
    summary="stores momentum, against the frame",
)
_register(
    "storage",
    "weightless point",
    ("translational",),
    "p = 0",
    "across",
    None,
    grounded=True,
    summary="a point without mass whose velocity is a state, because what moves with it has inertia",
)
_storage(
    "spring",
    "translational",
    "through",
    "K",
    "stiffness",
    "N/m",
    inverse=True,
    netlist="mK",
    summary="stores displacement; F = K x",
)
_storage(
    "compliance",
    "translational",
    "through",
    "E",
    "compliance",
    "m/N",
    netlist="mE",
    summary="a spring given by its compliance",
)
_resistive(
    "damper", "translational", "through", "b", "damping", "N*s/m", netlist="mB", summary="linear friction; F = b v"
)
_resistive(
    "mobility", "translational", "across", "d", "mobility", "m/(N*s)", netlist="mD", summary="a damper given by v = d F"
)
_source("velocity source", "translational", "across", netlist="mV", summary="imposes a velocity between its nodes")
_source("force source", "translational", "through", netlist="mF", summary="pushes its second node away from its first")

# Rotational mechanics
_storage(
    "inertia",
    "rotational",
    "across",
    "J",
    "moment of inertia",
    "kg*m^2",
    netlist="rJ",
    grounded=True,
    summary="stores angular momentum, against the frame",
)
_register(
    "storage",
    "weightless shaft",
    ("rotational",),
    "p = 0",
    "across",
    None,
    grounded=True,
    summary="a shaft without inertia whose angular velocity is a state, because what moves with it has inertia",
)
_storage(
    "torsion spring",
    "rotational",
    "through",
    "K",
    "stiffness",
    "N*m/rad",
    inverse=True,
    netlist="rK",
    aliases=("rotational spring",),
    summary="stores angle; tau = K theta",
)
_storage(
    "torsion compliance",
    "rotational",
    "through",
    "E",
    "compliance",
    "rad/(N*m)",
    netlist="rE",
    aliases=("rotational compliance",),
    summary="a torsion spring given by its compliance",
)
_resistive(
    "friction",
    "rotational",
    "through",
    "b",
    "friction",
    "N*m*s",
    netlist="rB",
    aliases=("rotational damper",),
    summary="linear friction; tau = b omega",
)
_resistive(
    "rotational mobility",
    "rotational",
    "across",
    "d",
    "mobility",
    "rad/(N*m*s)",
    netlist="rD",
    summary="friction given by omega = d tau",
)
_source(
    "speed source",
    "rotational",
    "across",
    netlist="rW",
    aliases=("angular velocity source",),
    summary="imposes an angular velocity between its nodes",
)
_source("torque source", "rotational", "through", netlist="rT", summary="turns its second node against its first")

# Hydraulics
_storage(
    "accumulator",
    "hydraulic",
    "across",
    "C",
    "capacity",
    "m^3/Pa",
    netlist="iC",
    aliases=("hydraulic capacitor", "chamber"),
    summary="stores volume under pressure; V = C P",
)
_storage(
    "stiff chamber",
    "hydraulic",
    "across",
    "K",
    "stiffness",
    "Pa/m^3",
    inverse=True,
    netlist="iK",
    summary="an accumulator given by its stiffness; P = K V",
)
_storage(
    "fluid inertia",
    "hydraulic",
    "through",
    "L",
    "inertance",
    "Pa*s^2/m^3",
    netlist="iL",
    aliases=("hydraulic inductor",),
    summary="stores the momentum of the fluid in a line",
)
_resistive(
    "hydraulic resistor",
    "hydraulic",
    "across",
    "R",
    "resistance",
    "Pa*s/m^3",
    netlist="iR",
    aliases=("restriction",),
    summary="laminar restriction; P = R Q",
)
_resistive(
    "leak",
    "hydraulic",
    "through",
    "G",
    "conductance",
    "m^3/(Pa*s)",
    netlist="iG",
    aliases=("hydraulic conductance",),
    summary="laminar leakage; Q = G P",
)
_source(
    "pressure source",
    "hydraulic",
    "across",
    netlist="iP",
    summary="imposes the pressure of its first node against its second",
)
_source("flow source", "hydraulic", "through", netlist="iQ", summary="drives a flow from its first node to its second")

# Couplings. Power goes from side 1 (first two nodes) to side 2 (last two nodes): across_1*through_1 = across_2*through_2, through_1
# entering at the first node and through_2 leaving at the third.
_coupling(
    "transformer",
    ("electrical", "electrical"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "turns ratio",
    "1",
    summary="voltage down and current up by the turns ratio",
)
_coupling(
    "gyrator",
    ("electrical", "electrical"),
    "gyrator",
    "across_1 = r*through_2",
    "r",
    "gyration resistance",
    "ohm",
    reciprocal=True,
    summary="turns voltage into current and back",
)
_coupling(
    "lever",
    ("translational", "translational"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "arm ratio",
    "1",
    summary="velocity down and force up by the ratio of its arms",
)
_coupling(
    "gear",
    ("rotational", "rotational"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "gear ratio",
    "1",
    aliases=("belt",),
    summary="speed down and torque up by the gear ratio",
)
_coupling(
    "pressure intensifier",
    ("hydraulic", "hydraulic"),
    "transformer",
    "across_1 = n*across_2",
    "n",
    "area ratio",
    "1",
    summary="pressure down and flow up by the ratio of its areas",
)
_coupling(
    "dc machine",
    ("electrical", "rotational"),
    "transformer",
    "across_1 = K*across_2",
    "K",
    "torque constant",
    "N*m/A",
    summary="voltage K omega, torque K I",
)
_coupling(
    "voice coil",
    ("electrical", "translational"),
    "transformer",
    "across_1 = K*across_2",
    "K",
    "force constant",
    "N/A",
    aliases=("linear motor",),
    summary="voltage K v, force K I",
)
_coupling(
    "rack",
    ("rotational", "translational"),
    "transformer",
    "across_2 = r*across_1",
    "r",
    "pinion radius",
    "m/rad",
    reciprocal=True,
    aliases=("pulley", "wheel"),
    summary="velocity r omega, torque r F",
)
_coupling(
    "screw",
    ("rotational", "translational"),
    "transformer",
    "across_2 = h*across_1",
    "h",
    "lead per radian",
    "m/rad",
    reciprocal=True,
    aliases=("ball screw",),
    summary="velocity h omega, torque h F",
)
_coupling(
    "pump",
    ("rotational", "hydraulic"),
    "gyrator",
    "through_2 = K*across_1",
    "K",
    "displacement per radian",
    "m^3/rad",
    summary="flow K omega, torque K P",
)
_coupling(
    "hydraulic motor",
    ("hydraulic", "rotational"),
    "gyrator",
    "through_2 = K*across_1",
    "K",
    "displacement per radian",
    "m^3/rad",
    summary="torque K P, flow K omega",
)
_coupling(
    "piston",
    ("hydraulic", "translational"),
    "gyrator",
    "through_2 = A*across_1",
    "A",
    "area",
    "m^2",
    aliases=("cylinder",),
    summary="force A P, flow A v",
)

_BY_NETLIST_CODE = {kind.netlist: kind for kind in KINDS.values() if kind.netlist}


def connection(domains: tuple[str, str], coupling: CouplingType, *, reciprocal: bool = False) -> ElementKind:
    """A connection block between any two domains, as POG draws it, for couplings that have no name of their own.

    Its modulus K is that of `across_1 = K*across_2` or `through_2 = K*across_1`; `reciprocal` gives `across_2 = K*across_1` or
    `across_1 = K*through_2`.
    """
    law = _CONNECTION_LAWS[coupling, reciprocal]
    return ElementKind(
        name="connection",
        role="coupling",
        domains=domains,
        summary="a power-conserving connection between two domains",
        law=law,
        quantity=Quantity("K", "modulus", ""),
        coupling=coupling,
        reciprocal=reciprocal,
    )


_CONNECTION_LAWS: dict[tuple[CouplingType, bool], str] = {
    ("transformer", False): "across_1 = K*across_2",
    ("transformer", True): "across_2 = K*across_1",
    ("gyrator", False): "through_2 = K*across_1",
    ("gyrator", True): "across_1 = K*through_2",
}
