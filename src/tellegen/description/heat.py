"""Heat ports: `R: {resistor: [a, b], heat: w}` brings what R dissipates into the node w, by a source that the power drives."""

from tellegen.core.domains import DOMAINS, THERMAL_DOMAINS
from tellegen.core.names import did_you_mean, listing
from tellegen.description import heat_rules as rules
from tellegen.description.context import Context, Heated
from tellegen.description.model import Element
from tellegen.description.variables import variable_name
from tellegen.elements import KINDS
from tellegen.expressions import Expression, symbol


def add_heat_sources(context: Context) -> None:
    """Add the source of every heat port; all elements are known by now."""
    if not context.heated:
        return
    domains = _domains_of_nodes(context)
    for heated in context.heated:
        name = _source_name(heated.element)
        if name in context.elements:
            what = f"the heat of '{heated.element}' is brought by a source '{name}', but an element has that name"
            raise context.error(
                rules.HEAT_NAME_TAKEN, heated.key, what, fix=f"rename the element '{name}'", where=heated.element
            )
        domain = domains.get(heated.node)
        if domain is None:
            raise context.error(
                rules.NO_THERMAL_NODE,
                heated.key,
                f"the heat of '{heated.element}' goes to '{heated.node}', which is no node of a thermal element",
                fix=_nearest(heated.node, domains),
                where=heated.element,
            )
        context.elements[name] = _source(context, name, heated, domain)


def _source(context: Context, name: str, heated: Heated, domain: str) -> Element:
    place = context.place(heated.key)
    nodes = (DOMAINS[domain].reference, heated.node)
    power: Expression = symbol(f"power.{heated.element}")
    if DOMAINS[domain].heat_books:
        return Element(name, KINDS["heat flow source"], nodes, place=place, signal=power)
    temperature = symbol(_temperature(context, heated))
    return Element(name, KINDS["entropy flow source"], nodes, place=place, signal=power / temperature)


def _temperature(context: Context, heated: Heated) -> str:
    """The name of the temperature of a node of entropy flows."""
    reference = DOMAINS["thermal"].reference
    for element in context.elements.values():
        decides = element.kind.role == "storage" or (element.kind.role == "source" and element.kind.side == "across")
        if decides and element.kind.domains == ("thermal",) and element.nodes == (heated.node, reference):
            return variable_name(element, "across")
    what = f"the heat of '{heated.element}' goes to '{heated.node}', where nothing decides the temperature"
    fix = f"put an entropy capacity or a temperature source at '{heated.node}'"
    raise context.error(rules.NO_HEAT_TEMPERATURE, heated.key, what, fix=fix, where=heated.element)


def _domains_of_nodes(context: Context) -> dict[str, str]:
    """The thermal nodes that are no references, with their domain."""
    found: dict[str, str] = {}
    for element in context.elements.values():
        for k, node in enumerate(element.nodes):
            domain = element.kind.domains[k // 2]
            if domain in THERMAL_DOMAINS and node != DOMAINS[domain].reference:
                found.setdefault(node, domain)
    return found


def _source_name(element: str) -> str:
    """The name of the source that brings the heat of an element: `R_heat`, `R_heat[3]`."""
    base, bracket, index = element.partition("[")
    return f"{base}_heat{bracket}{index}"


def _nearest(node: str, domains: dict[str, str]) -> str:
    if not domains:
        return f"add '{node}' to the model, as in 'C: {{heat capacity: [{node}], C: 40 J/K}}'"
    return did_you_mean(node, domains) or f"the thermal nodes are {listing(domains)}"
