"""The kinds of element with modes: switches, diodes and what blocks one way, dry friction, clutches, stops."""

from tellegen.core.domains import DOMAINS
from tellegen.elements.kinds import Behaviour, ElementKind, Setting, register

START = "start"
"""The key that says in which mode a run begins."""


def schedule_key(kind: ElementKind) -> str:
    """The key that lists the times at which a switch begins and ends to let power pass; empty for other kinds."""
    return kind.modes[1] if kind.behaviour == "switch" else ""


def _switch(name: str, domain: str, modes: tuple[str, str], resistance: str, summary: str, *aliases: str) -> None:
    settings = (
        Setting("control", "control", "", "control", formula=True),
        Setting("R_on", f"resistance when {modes[1]}", resistance, "resistance"),
    )
    across, through = _letters(domain)
    _register(name, domain, "switch", modes, settings, f"{across} = 0 or {through} = 0", summary, aliases)


def _one_way(
    name: str, domain: str, modes: tuple[str, str], settings: tuple[Setting, ...], summary: str, *aliases: str
) -> None:
    across, through = _letters(domain)
    law = f"{through} = 0 and {across} <= 0, or {across} = 0 and {through} >= 0"
    _register(name, domain, "one way", modes, settings, law, summary, aliases)


def _friction(name: str, domain: str, letter: str, unit: str, viscous: str, summary: str, *aliases: str) -> None:
    word = DOMAINS[domain].through.word
    settings = (
        Setting(f"{letter}_c", f"Coulomb {word}", unit, "limit", needed=True),
        Setting(f"{letter}_s", f"breakaway {word}", unit, "breakaway"),
        Setting("b", "viscous friction", viscous, "viscous"),
    )
    across, through = _letters(domain)
    law = f"{across} = 0, or {through} = {letter}_c*sign({across}) + b*{across}"
    _register(name, domain, "friction", ("stick", "forward", "backward"), settings, law, summary, aliases)


def _clutch(name: str, domain: str, letter: str, unit: str, summary: str, *aliases: str) -> None:
    settings = (Setting(f"{letter}_c", "capacity", unit, "limit", needed=True, formula=True),)
    across, through = _letters(domain)
    law = f"{across} = 0, or {through} = {letter}_c*sign({across})"
    _register(name, domain, "clutch", ("engaged", "forward", "backward", "open"), settings, law, summary, aliases)


def _stop(name: str, domain: str, units: tuple[str, str, str], summary: str, *aliases: str) -> None:
    settings = (
        Setting("gap", "gap", units[0], "gap", needed=True, formula=True),
        Setting("K", "stiffness", units[1], "stiffness"),
        Setting("b", "damping", units[2], "damping"),
        Setting("restitution", "coefficient of restitution", "1", "restitution"),
    )
    across, through = _letters(domain)
    law = f"{through} = max(0, b*{across} - K*gap), or {across} = 0"
    _register(name, domain, "stop", ("open", "contact"), settings, law, summary, aliases)


def _letters(domain: str) -> tuple[str, str]:
    return DOMAINS[domain].across.letters[0], DOMAINS[domain].through.letters[0]


def _register(
    name: str,
    domain: str,
    behaviour: Behaviour,
    modes: tuple[str, ...],
    settings: tuple[Setting, ...],
    law: str,
    summary: str,
    aliases: tuple[str, ...],
) -> None:
    register(
        ElementKind(
            name,
            "switching",
            (domain,),
            summary,
            law,
            aliases=aliases,
            behaviour=behaviour,
            settings=settings,
            modes=modes,
        )
    )


_switch(
    "switch",
    "electrical",
    ("open", "closed"),
    "ohm",
    "ideal switch, closed where its control is positive or by a schedule",
)
_one_way(
    "diode",
    "electrical",
    ("blocking", "conducting"),
    (Setting("V_f", "forward voltage", "V", "threshold"), Setting("R_on", "on resistance", "ohm", "resistance")),
    "lets current pass from its first node to its second only",
)
_friction(
    "dry friction",
    "translational",
    "F",
    "N",
    "N*s/m",
    "sticks up to the breakaway force, then slides against the Coulomb force",
    "coulomb friction",
)
_clutch(
    "linear clutch",
    "translational",
    "F",
    "N",
    "holds up to its capacity, which a signal may set, and slips beyond",
    "linear brake",
)
_one_way("ratchet", "translational", ("free", "locked"), (), "keeps its first node from moving ahead of its second")
_stop(
    "hard stop",
    "translational",
    ("m", "N/m", "N*s/m"),
    "pushes back while the gap is closed; the gap closes as the first node moves ahead of the second",
    "end stop",
)
_friction(
    "rotational dry friction",
    "rotational",
    "tau",
    "N*m",
    "N*m*s",
    "sticks up to the breakaway torque, then slides against the Coulomb torque",
    "dry bearing",
    "rotational coulomb friction",
)
_clutch(
    "clutch",
    "rotational",
    "tau",
    "N*m",
    "holds up to its capacity, which a signal may set, and slips beyond",
    "friction clutch",
    "brake",
)
_one_way(
    "freewheel",
    "rotational",
    ("free", "locked"),
    (),
    "keeps its first node from turning ahead of its second",
    "one-way clutch",
    "overrunning clutch",
)
_stop(
    "rotational stop",
    "rotational",
    ("rad", "N*m/rad", "N*m*s"),
    "pushes back while the gap is closed; the gap closes as the first node turns ahead of the second",
    "angle stop",
)
_switch(
    "shutoff valve",
    "hydraulic",
    ("shut", "open"),
    "Pa*s/m^3",
    "ideal valve, open where its control is positive or by a schedule",
    "on-off valve",
)
_one_way(
    "check valve",
    "hydraulic",
    ("shut", "open"),
    (
        Setting("P_c", "cracking pressure", "Pa", "threshold"),
        Setting("R_on", "resistance when open", "Pa*s/m^3", "resistance"),
    ),
    "lets fluid pass from its first node to its second only",
)
