"""How kinds of one role are registered: their linear laws follow from the domain."""

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.elements.kinds import CouplingType, ElementKind, Quantity, Role, register


def register_storage(
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
    """A storage with the linear law that its domain and its side give."""
    d = DOMAINS[domain]
    energy, power = d.energy(side), d.power(side)
    law = (
        f"{power.letters[0]} = {key}*{energy.letters[0]}"
        if inverse
        else f"{energy.letters[0]} = {key}*{power.letters[0]}"
    )
    return register_kind(
        "storage", name, (domain,), law, side, Quantity(key, word, unit), inverse=inverse, netlist=netlist, **more
    )


def register_resistive(
    name: str, domain: str, side: Side, key: str, word: str, unit: str, *, netlist: str = "", **more: object
) -> ElementKind:
    """A resistive element with the linear law of its side."""
    d = DOMAINS[domain]
    law = f"{d.power(side).letters[0]} = {key}*{d.power(other_side(side)).letters[0]}"
    return register_kind("resistive", name, (domain,), law, side, Quantity(key, word, unit), netlist=netlist, **more)


def register_source(name: str, domain: str, side: Side, *, netlist: str = "", **more: object) -> ElementKind:
    """A source of the variable of its side."""
    power = DOMAINS[domain].power(side)
    return register_kind("source", name, (domain,), f"{power.letters[0]} = input", side, None, netlist=netlist, **more)


def register_coupling(
    name: str,
    domains: tuple[str, str],
    coupling: CouplingType,
    law: str,
    key: str,
    word: str,
    unit: str,
    **more: object,
) -> ElementKind:
    """A coupling of two ports."""
    return register_kind("coupling", name, domains, law, "across", Quantity(key, word, unit), coupling=coupling, **more)


def register_kind(
    role: Role, name: str, domains: tuple[str, ...], law: str, side: Side, quantity: Quantity | None, **more: object
) -> ElementKind:
    """A kind with the law that is given."""
    summary = str(more.pop("summary", ""))
    return register(ElementKind(name, role, domains, summary, law, side, quantity, **more))  # type: ignore[arg-type]
