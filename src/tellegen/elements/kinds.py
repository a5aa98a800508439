"""What a kind of element is, the registry of all kinds, and advice on words that are none.

A kind says which role its ports play in the power structure and which linear law its parameter stands for. The reader of files,
the JSON Schema, the Python calls, the netlist reader and the documentation are all made from the registry, which the catalogue
fills.
"""

from dataclasses import dataclass
from typing import Literal, final

from tellegen.core.domains import DOMAINS, Domain, Side
from tellegen.core.names import did_you_mean, listing

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
    if plain in KINDS_BY_WORD:
        return f"{'one of' if len(KINDS_BY_WORD[plain]) > 1 else 'the kind is'} {listing(KINDS_BY_WORD[plain])}"
    known = (*KINDS, *further)
    containing = [kind for kind in known if plain in kind.split()]
    if containing:
        return f"did you mean {listing(containing)}?"
    return did_you_mean(word, known) or f"the kinds are {listing([*kind_names(), *further], 60)}"
