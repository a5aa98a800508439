"""The kinds of element: what a kind is, the registry, the catalogue that fills it (a line each), and advice on words that are none.

A kind says which role its ports play in the power structure and which linear law its parameter stands for. The reader of files,
the JSON Schema, the Python calls, the netlist reader and the documentation are all made from the registry. The order of the
catalogue is that of messages, schema and reference.

Power goes from side 1 (first two nodes) to side 2 (last two nodes): across_1*through_1 = across_2*through_2, through_1 entering at
the first node and through_2 leaving at the third.

`heat`: temperature and heat flow, as engineers use them. Their product is no power: a heat flow is one by itself, and heat is
what the books count. `thermal`: absolute temperature and entropy flow, the true pair. There a conductor is a coupling, because it
passes all its power on and only adds entropy. Neither has a second storage: nothing keeps the integral of a temperature.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.names import did_you_mean, listing
from tellegen.core.shipped import part_names

Role = Literal["storage", "potential", "resistive", "source", "coupling", "switching"]
"""What a port does with power: keep it as a content or as a height, lose it, bring it, pass it on, or change its mind (an element
with modes)."""

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


def coupling_of_relation(left: tuple[Side, int], right: tuple[Side, int]) -> tuple[CouplingType, bool]:
    """The coupling of a relation `left = K*right` between variables of ports 1 and 2."""
    # x_1 = K y_2 says of the conjugates that they run back: y'_2 = K x'_1.
    forward = left[1] == 2
    return COUPLING_OF[right[0], left[0]] if forward else COUPLING_OF[other_side(left[0]), other_side(right[0])]


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
        # A word of two meanings would be read as the one that was registered last.
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


def coupling_kind(domains: tuple[str, str], coupling: CouplingType, reciprocal: bool = False) -> ElementKind:
    """The kind of a coupling with a name of its own where there is one, such as a lever; else a connection.

    A kind that passes on heat is none of them: its modulus is more than its parameter.
    """
    for kind in KINDS.values():
        found = (kind.role, kind.domains, kind.coupling, kind.reciprocal, kind.heat)
        if found == ("coupling", domains, coupling, reciprocal, ""):
            return kind
    return connection(domains, coupling, reciprocal=reciprocal)


def connection(domains: tuple[str, str], coupling: CouplingType, *, reciprocal: bool = False) -> ElementKind:
    """A connection block between any two domains, as POG draws it, for couplings that have no name of their own.

    Its modulus K is that of `across_1 = K*across_2` or `through_2 = K*across_1`; `reciprocal` gives `across_2 = K*across_1` or
    `across_1 = K*through_2`.
    """
    law = next(law for law, kind in CONNECTION_LAWS.items() if kind == (coupling, reciprocal))
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


def multiport_kind(domains: tuple[str, ...]) -> ElementKind:
    """The kind of a connection of several ports, each of its domain."""
    return ElementKind(
        "multiport", "coupling", domains, "passes power between several ports", "", coupling="transformer"
    )


CONNECTION_LAWS: dict[str, tuple[CouplingType, bool]] = {
    "across_1 = K*across_2": ("transformer", False),
    "across_2 = K*across_1": ("transformer", True),
    "through_2 = K*across_1": ("gyrator", False),
    "across_1 = K*through_2": ("gyrator", True),
}
"""What a coupling is, and whether its modulus is the reciprocal one, by its law."""


START = "start"
"""The key that says in which mode a run begins."""


def schedule_key(kind: ElementKind) -> str:
    """The key that lists the times at which a switch begins and ends to let power pass; empty for other kinds."""
    return kind.modes[1] if kind.behaviour == "switch" else ""


KINDS_BY_WORD = {
    "battery": ("voltage source",),
    "bearing": ("friction",),
    "body": ("mass", "inertia"),
    "capacity": ("capacitor", "heat capacity", "accumulator"),
    "dashpot": ("damper",),
    "flywheel": ("inertia",),
    "generator": ("dc machine", "voltage source"),
    "insulation": ("thermal resistor",),
    "load": ("resistor", "mass", "inertia"),
    "motor": ("dc machine", "hydraulic motor", "linear motor"),
    "orifice": ("restriction",),
    "pipe": ("hydraulic resistor", "fluid inertia"),
    "rotor": ("inertia",),
    "shaft": ("torsion spring", "inertia"),
    "supply": ("voltage source", "pressure source"),
    "tank": ("accumulator",),
    "valve": ("restriction", "on-off valve", "check valve"),
}
"""Words that name several kinds at once, or one that is spelt otherwise."""

ADVICE = {
    "ground": "a reference is a node, not an element: write 'gnd' (or 'frame', 'tank', 'ambient') among the nodes of elements",
    "use": "a system used as an element stands under 'parts:', beside 'network:'",
    "wire": "elements with a node in common are joined: give both the same node",
}
"""Words for what is described in another way."""


def kind_advice(word: str, further: tuple[str, ...] = ()) -> str:
    """What to do about a word that is no kind of element; `further` are words that may stand there too."""
    plain = word.lower()
    if plain in ADVICE:
        return ADVICE[plain]
    # `tyre` is no kind, and yet it is there; a battery is both, and a kind of the same words comes after a part.
    part = plain.replace(" ", "_")
    ready = f"part of the library: under 'parts:' write 'NAME: {{use: {part}}}', and join its ports"
    if plain in KINDS_BY_WORD:
        kinds = f"{'one of' if len(KINDS_BY_WORD[plain]) > 1 else 'the kind is'} {listing(KINDS_BY_WORD[plain])}"
        return f"{kinds}; there is also a {ready}" if part in part_names() else kinds
    if part in part_names():
        return f"it is a {ready}"
    known = (*KINDS, *further)
    containing = [kind for kind in known if plain in kind.split()]
    # `rack and pinion` says more than the kind is called.
    containing = containing or [kind for kind in known if set(kind.split()) <= set(plain.split())]
    if containing:
        return f"did you mean {listing(containing)}?"
    return did_you_mean(word, known) or f"the kinds are {listing([*kind_names(), *further], 60)}"


# The catalogue

# Under its domains each line has: the name and its aliases | the law | the key, the word and the unit of its parameter | what it
# does | further marks: the code of netlists, `grounded` for a storage against the reference, `energy=` where it is not linear.
# The law alone tells the role, so that a line cannot contradict itself: `q = C*v` keeps what is on its left, `F = K*x` is a
# storage given the other way round, `v = R*i` loses power, `v = input` brings it. A ruled text keeps a kind on one line, which a
# call of eight arguments does not.
_TABLE = """
electrical:
  capacitor | q = C*v | C, capacitance, F | stores charge between its plates | eC
  inductor | phi = L*i | L, inductance, H | stores flux in its coil | eL
  resistor | v = R*i | R, resistance, ohm | turns electric power into heat | eR
  conductance | i = G*v | G, conductance, S | a resistor given by its conductance | eG
  voltage source | v = input | - | imposes the voltage of its first node against its second | eV
  current source | i = input | - | drives a current from its first node to its second | eI
translational:
  mass | p = m*v | m, mass, kg | stores momentum, against the frame | mM grounded
  weightless point | p = 0 | - | a point without mass whose velocity is a state, because what moves \
with it has inertia | grounded
  spring | F = K*x | K, stiffness, N/m | stores displacement; F = K x | mK
  compliance | x = E*F | E, compliance, m/N | a spring given by its compliance | mE
  damper | F = b*v | b, damping, N*s/m | linear friction; F = b v | mB
  mobility | v = d*F | d, mobility, m/(N*s) | a damper given by v = d F | mD
  velocity source | v = input | - | imposes a velocity between its nodes | mV
  force source | F = input | - | pushes its second node away from its first | mF
  weight | F = dE/dx | F, pull, N | keeps potential energy E of displacements, and pulls its first node to where E falls
rotational:
  inertia | p = J*omega | J, moment of inertia, kg*m^2 | stores angular momentum, against the frame | rJ grounded
  weightless shaft | p = 0 | - | a shaft without inertia whose angular velocity is a state, because \
what moves with it has inertia | grounded
  torsion spring, rotational spring | tau = K*theta | K, stiffness, N*m/rad | stores angle; tau = K theta | rK
  torsion compliance, rotational compliance | theta = E*tau | E, compliance, rad/(N*m) | a torsion \
spring given by its compliance | rE
  friction, rotational damper | tau = b*omega | b, friction, N*m*s | linear friction; tau = b omega | rB
  rotational mobility | omega = d*tau | d, mobility, rad/(N*m*s) | friction given by omega = d tau | rD
  speed source, angular velocity source | omega = input | - | imposes an angular velocity between its nodes | rW
  torque source | tau = input | - | turns its second node against its first | rT
  rotational weight | tau = dE/dtheta | tau, pull, N*m | keeps potential energy E of displacements, and turns \
its first node to where E falls
hydraulic:
  accumulator, hydraulic capacitor, chamber | V = C*P | C, capacity, m^3/Pa | stores volume under pressure; V = C P | iC
  stiff chamber | P = K*V | K, stiffness, Pa/m^3 | an accumulator given by its stiffness; P = K V | iK
  fluid inertia, hydraulic inductor | Gamma = L*Q | L, inertance, Pa*s^2/m^3 | stores the momentum of the fluid in a line | iL
  hydraulic resistor, restriction | P = R*Q | R, resistance, Pa*s/m^3 | laminar restriction; P = R Q | iR
  leak, hydraulic conductance | Q = G*P | G, conductance, m^3/(Pa*s) | laminar leakage; Q = G P | iG
  pressure source | P = input | - | imposes the pressure of its first node against its second | iP
  flow source | Q = input | - | drives a flow from its first node to its second | iQ
electrical electrical:
  transformer | across_1 = n*across_2 | n, turns ratio, 1 | voltage down and current up by the turns ratio
  gyrator | across_1 = r*through_2 | r, gyration resistance, ohm | turns voltage into current and back
translational translational:
  lever | across_1 = n*across_2 | n, arm ratio, 1 | velocity down and force up by the ratio of its arms
rotational rotational:
  gear | across_1 = n*across_2 | n, gear ratio, 1 | speed down and torque up by the gear ratio
  belt | across_1 = n*across_2 | n, ratio of its pulleys, 1 | speed down and torque up by the ratio of its pulleys
hydraulic hydraulic:
  pressure intensifier | across_1 = n*across_2 | n, area ratio, 1 | pressure down and flow up by the ratio of its areas
electrical rotational:
  dc machine | across_1 = K*across_2 | K, torque constant, N*m/A | voltage K omega, torque K I
electrical translational:
  voice coil, linear motor | across_1 = K*across_2 | K, force constant, N/A | voltage K v, force K I
rotational translational:
  rack, wheel | across_2 = r*across_1 | r, pinion radius, m/rad | velocity r omega, torque r F
  pulley | across_2 = r*across_1 | r, radius, m/rad | velocity r omega of its belt or rope, torque r F
  screw, ball screw | across_2 = h*across_1 | h, lead per radian, m/rad | velocity h omega, torque h F
rotational hydraulic:
  pump | through_2 = K*across_1 | K, displacement per radian, m^3/rad | flow K omega, torque K P
hydraulic rotational:
  hydraulic motor | through_2 = K*across_1 | K, displacement per radian, m^3/rad | torque K P, flow K omega
hydraulic translational:
  piston, cylinder | through_2 = A*across_1 | A, area, m^2 | force A P, flow A v
magnetic:
  permeance | Phi = P*F | P, permeance, H | keeps flux: a path through iron or air
  reluctance, air gap | F = R*Phi | R, reluctance, 1/H | a permeance given by its reciprocal; F = R Phi
  magnetic resistor | F = R*dPhi | R, magnetic resistance, S | eddy currents that oppose a change of flux; F = R dPhi
  shorted turn, eddy loop | dPhi = r*F | r, resistance, ohm | one closed turn round the path, by its electrical resistance
  mmf source, magnetomotive force source | F = input | - | imposes a magnetomotive force, such as that of a magnet
  flux rate source | dPhi = input | - | drives flux from its first node to its second
electrical magnetic:
  coil, winding | across_1 = N*through_2 | N, turns, 1 | voltage N dPhi, magnetomotive force N I
heat:
  heat capacity, thermal mass | H = C*T | C, capacity, J/K | keeps heat; its temperature counts from the ambient | grounded
  thermal conductor | Q = G*T | G, conductance, W/K | lets heat pass; Q = G T
  thermal resistor | T = R*Q | R, resistance, K/W | a thermal conductor given by its resistance
  temperature source | T = input | - | imposes a temperature
  heat flow source, heat source | Q = input | - | brings heat from its first node to its second
thermal:
  entropy capacity | S = C*log(T) | C, capacity, J/K | keeps entropy; its energy is C T, T \
absolute: give it an initial temperature | grounded energy=C*T
  absolute temperature source | T = input | - | imposes a temperature
  entropy flow source | dS = input | - | brings entropy from its first node to its second
pneumatic:
  gas capacity | m = C*mu | C, capacity, kg^2/J | keeps gas; about one pressure, where its law is a line | grounded
  gas conductor | dm = G*mu | G, conductance, kg^2/(J*s) | lets gas pass; dm = G mu
  gas resistor | mu = R*dm | R, resistance, J*s/kg^2 | a gas conductor given by its resistance
  gas potential source | mu = input | - | imposes a gas potential, R T ln(P/P_0) for a pressure P
  mass flow source | dm = input | - | drives gas from its first node to its second
thermal thermal:
  entropy conductor | heat = G*(T_1 - T_2) | G, conductance, W/K | passes on the heat G (T_1 - T_2), and adds entropy
  radiator | heat = k*(T_1^4 - T_2^4) | k, radiation constant, W/K^4 | passes on the heat k (T_1^4 - T_2^4), and adds entropy
"""


def _kinds() -> Iterator[ElementKind]:
    domains: tuple[str, ...] = ()
    for line in _TABLE.strip().splitlines():
        if line.startswith(" "):
            yield _kind(domains, *line.strip().split(" | "))
        else:
            domains = tuple(line.removesuffix(":").split())


def _kind(domains: tuple[str, ...], words: str, law: str, parameter: str, summary: str, marks: str = "") -> ElementKind:
    name, *aliases = words.split(", ")
    codes = [mark for mark in marks.split() if mark != "grounded" and "=" not in mark]
    kind = ElementKind(
        name,
        "coupling",
        domains,
        summary,
        law,
        quantity=None if parameter == "-" else Quantity(*parameter.split(", ")),
        aliases=tuple(aliases),
        netlist="".join(codes),
        grounded="grounded" in marks.split(),
        energy=marks.partition("energy=")[2],
    )
    return _coupling(kind) if len(domains) == 2 else _one_port(kind)


def _coupling(kind: ElementKind) -> ElementKind:
    """A kind of two ports: the variables of its law tell a transformer from a gyrator, and which way its modulus is counted."""
    left, _, right = kind.law.partition(" = ")
    if left == "heat":  # it crosses a temperature and an entropy flow
        law = f"across_1*through_1 = {right.replace('T_', 'across_')}"
        return replace(kind, law=law, coupling="gyrator", heat=right)
    assert kind.quantity is not None, "a coupling has a modulus"
    # Whatever the letter of the modulus, the four ways to relate two sides are told by the variables.
    coupling, reciprocal = CONNECTION_LAWS[re.sub(rf"\b{kind.quantity.key}\b", "K", kind.law)]
    return replace(kind, coupling=coupling, reciprocal=reciprocal)


def _one_port(kind: ElementKind) -> ElementKind:
    """A kind of one port: what its law gives, by what, is its role and its side."""
    left, _, right = kind.law.partition(" = ")
    domain = kind.domain
    if right == "input":
        return replace(kind, role="source", side=_side(domain, left))
    kept = {domain.energy(side).letters[0]: side for side in _SIDES}
    if left in kept:
        return replace(kind, role="storage", side=kept[left])
    side = _side(domain, left)
    if right.startswith("dE/"):
        return replace(kind, role="potential", side=side)
    # By what is stored: a stiffness gives the output, so its parameter divides in the energy.
    if right.endswith(f"*{domain.energy(side).letters[0]}"):
        return replace(kind, role="storage", side=side, inverse=True)
    assert right.endswith(f"*{domain.power(other_side(side)).letters[0]}"), f"'{kind.law}' is a law of the domain"
    return replace(kind, role="resistive", side=side)


_SIDES: tuple[Side, Side] = ("across", "through")


def _side(domain: Domain, letter: str) -> Side:
    return next(side for side in _SIDES if domain.power(side).letters[0] == letter)


for _found in _kinds():
    register(_found)


# Kinds with modes


def _modes(
    behaviour: Behaviour, domain: str, words: str, modes: str, law: str, settings: tuple[Setting, ...], summary: str
) -> None:
    """A kind with modes; in its law `a` and `t` stand for the across and the through variable."""
    name, *aliases = words.split(", ")
    letters = {"a": DOMAINS[domain].across.letters[0], "t": DOMAINS[domain].through.letters[0]}
    # One line for all domains: the letters of the variables are those of each domain.
    law = re.sub(r"\b[at]\b", lambda found: letters[found[0]], law)
    register(
        ElementKind(
            name,
            "switching",
            (domain,),
            summary,
            law,
            aliases=tuple(aliases),
            behaviour=behaviour,
            settings=settings,
            modes=tuple(modes.split(", ")),
        )
    )


def _switch(domain: str, words: str, modes: str, resistance: str, summary: str) -> None:
    control = Setting("control", "control", "", "control", formula=True)
    on = Setting("R_on", f"resistance when {modes.split(', ')[1]}", resistance, "resistance")
    _modes("switch", domain, words, modes, "a = 0 or t = 0", (control, on), summary=summary)


def _one_way(domain: str, words: str, modes: str, summary: str, *settings: Setting) -> None:
    _modes("one way", domain, words, modes, "t = 0 and a <= 0, or a = 0 and t >= 0", settings, summary=summary)


def _friction(domain: str, words: str, letter: str, units: tuple[str, str]) -> None:
    word = DOMAINS[domain].through.word
    _modes(
        "friction",
        domain,
        words,
        "stick, forward, backward",
        f"a = 0, or t = {letter}_c*sign(a) + b*a",
        (
            Setting(f"{letter}_c", f"Coulomb {word}", units[0], "limit", needed=True, formula=True),
            Setting(f"{letter}_s", f"breakaway {word}", units[0], "breakaway", formula=True),
            Setting("factor", f"breakaway {word} over the Coulomb {word}", "1", "factor"),
            Setting("b", "viscous friction", units[1], "viscous"),
        ),
        summary=f"sticks up to the breakaway {word}, then slides against the Coulomb {word}",
    )


def _clutch(domain: str, words: str, letter: str, unit: str) -> None:
    capacity = Setting(f"{letter}_c", "capacity", unit, "limit", needed=True, formula=True)
    law = f"a = 0, or t = {letter}_c*sign(a)"
    summary = "holds up to its capacity, which a signal may set, and slips beyond"
    _modes("clutch", domain, words, "engaged, forward, backward, open", law, (capacity,), summary=summary)


def _stop(domain: str, words: str, units: tuple[str, str, str], moves: str) -> None:
    _modes(
        "stop",
        domain,
        words,
        "open, contact",
        "t = max(0, b*a - K*gap), or a = 0",
        (
            Setting("gap", "gap", units[0], "gap", needed=True, formula=True),
            Setting("K", "stiffness", units[1], "stiffness"),
            Setting("b", "damping", units[2], "damping"),
            Setting("restitution", "coefficient of restitution", "1", "restitution"),
        ),
        summary=f"pushes back while the gap is closed; the gap closes as the first node {moves} ahead of the second",
    )


_switch(
    "electrical", "switch", "open, closed", "ohm", "ideal switch, closed where its control is positive or by a schedule"
)
_one_way(
    "electrical",
    "diode",
    "blocking, conducting",
    "lets current pass from its first node to its second only",
    Setting("V_f", "forward voltage", "V", "threshold"),
    Setting("R_on", "on resistance", "ohm", "resistance"),
)
_friction("translational", "dry friction, coulomb friction", "F", ("N", "N*s/m"))
_clutch("translational", "linear clutch, linear brake", "F", "N")
_one_way("translational", "ratchet", "free, locked", "keeps its first node from moving ahead of its second")
_stop("translational", "hard stop, end stop", ("m", "N/m", "N*s/m"), "moves")
_friction("rotational", "rotational dry friction, dry bearing, rotational coulomb friction", "tau", ("N*m", "N*m*s"))
_clutch("rotational", "clutch, friction clutch, brake", "tau", "N*m")
_one_way(
    "rotational",
    "freewheel, one-way clutch, overrunning clutch",
    "free, locked",
    "keeps its first node from turning ahead of its second",
)
_stop("rotational", "rotational stop, angle stop", ("rad", "N*m/rad", "N*m*s"), "turns")
_switch(
    "hydraulic",
    "shutoff valve, on-off valve",
    "shut, open",
    "Pa*s/m^3",
    "ideal valve, open where its control is positive or by a schedule",
)
_one_way(
    "hydraulic",
    "check valve",
    "shut, open",
    "lets fluid pass from its first node to its second only",
    Setting("P_c", "cracking pressure", "Pa", "threshold"),
    Setting("R_on", "resistance when open", "Pa*s/m^3", "resistance"),
)
