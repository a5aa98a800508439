"""Karnopp's procedure: artificial flow sources, one for each generalised speed, until every bond has its causality.

Karnopp, Lagrange's Equations for Complex Bond Graph Systems, 1977: the efforts that come in at the artificial sources, read along
causal paths, are the equations of Lagrange.
"""

from collections.abc import Iterator

from tellegen.conditioning.constrained import Constrained, constrained
from tellegen.conditioning.lagrange import LagrangeSystem, lagrange_of, lagrange_sections
from tellegen.core.domains import DOMAINS
from tellegen.core.names import TIME
from tellegen.description.model import Model
from tellegen.equations.explanation import Item, Relation, Section, Sentence
from tellegen.equations.matrices import dot
from tellegen.equations.port_variables import PortVariables
from tellegen.equations.resistive import solve_resistive
from tellegen.equations.steps import Derivation
from tellegen.equations.structure import causal_structure
from tellegen.expressions import Expression, symbol
from tellegen.expressions.entries import NamedEntries, substituted
from tellegen.graph import SourceLaw


def lagrange_steps(model: Model) -> Derivation:
    """The Lagrange form of a model, by the procedure that makes it.

    Raises: ConditioningError (C105) naming a coordinate without inertia.
    """
    found = constrained(model)
    form = lagrange_of(found)
    sections = (_sources(found), *_artificial(found, form), _efforts(form), *lagrange_sections(form))
    return Derivation(form.name, "-", form.q, form.tau, (), form.parameters, sections, dict(form.where))


def _sources(found: Constrained) -> Section:
    ports = found.causal.graph.ports
    items: list[Item] = []
    for k in found.causal.sources:
        law = ports[k].law
        assert isinstance(law, SourceLaw), "sources have inputs"
        word = "effort" if law.side == DOMAINS[ports[k].domain].effort else "flow"
        items.append(Sentence(f"`{ports[k].element}` imposes its {word}", listed=True))
    return Section("Sources get their causality", tuple(items) or (Sentence("There are no sources."),))


def _artificial(found: Constrained, form: LagrangeSystem) -> Iterator[Section]:
    """One section for each artificial source: the flows that it decides together with those before it."""
    flows = _flows(found)
    known: set[str] = set()
    speeds = set(form.nu)
    owners = {found.causal.graph.ports[k].state: found.causal.graph.ports[k].element for k in found.causal.integral}
    for number, (q, nu) in enumerate(zip(form.q, form.nu, strict=False), 1):
        known.add(nu)
        text = f"An artificial flow source at the 1-junction of `{owners[nu]}` imposes `{nu}`, the rate of `{q}`."
        items: list[Item] = [Sentence(text)]
        decided = [name for name, e in flows.items() if (e.free_symbols & speeds) and e.free_symbols & speeds <= known]
        if decided:
            items.append(Sentence("Causality spreads; these flows are decided now:"))
            items += [Relation(name, flows.pop(name)) for name in decided]
        yield Section(f"Artificial source {number}", tuple(items))


def _flows(found: Constrained) -> dict[str, Expression]:
    """The flow of every port that is no speed itself, by the speeds."""
    graph = found.causal.graph
    variables = (name for p in graph.ports for name in (p.across, p.through, p.state))
    field = NamedEntries(graph.parameters, (*variables, *graph.moving, *graph.displacements, TIME))
    structure = causal_structure(found.causal, field)
    told = solve_resistive(structure, field)
    names = [p.variable(DOMAINS[p.domain].flow) for p in graph.ports]
    states = set(found.system.states)
    wanted = [name for name in dict.fromkeys(names) if name not in states]
    flows = PortVariables(structure, told).replacements(wanted)
    dependent = {name: found.written(e) for name, e in found.system.dependent.items() if name in wanted}
    return {name: substituted(e, field.where) for name, e in {**flows, **dependent}.items()}


def _efforts(form: LagrangeSystem) -> Section:
    """The efforts at the artificial sources: momenta, and what changes them."""
    m = form.matrices
    nu, tau = [symbol(name) for name in form.nu], [symbol(name) for name in form.tau]
    items: list[Item] = [Sentence("The inertias give the momenta $p = M nu$ at the artificial sources:")]
    items += [Relation(f"p_{name}", dot(row, nu)) for name, row in zip(form.nu, m["M"], strict=True)]
    items.append(Sentence("All efforts that come in at an artificial source add up to the rate of its momentum:"))
    for i, name in enumerate(form.nu):
        turned = [row[i] for row in m["C"]]
        effort = dot(turned, nu) - dot(m["R"][i], nu) - form.G[i] - form.f[i] + dot(m["W"][i], tau)
        items.append(Relation(f"p_{name}'", effort))
    items.append(Sentence("With $M' = C + C^T$ this is the Lagrange form."))
    return Section("Efforts at the artificial sources", tuple(items))
