"""What the answer of a source is called, where a storage that follows others stands beside it."""

from tellegen.causality.causal_graph import CausalGraph
from tellegen.core.domains import other_side
from tellegen.graph import SourceLaw, StorageLaw


def followers_beside_sources(causal: CausalGraph) -> dict[int, str]:
    """For each source of a through variable the across variable of a dependent storage at the same nodes: it is the same one.

    The velocity at which a force acts on a mass is that of the mass, whether the mass is a state or follows others. Signs agree
    where the two lie in opposite directions between the nodes: what a source gives, the storage takes.
    """
    ports = causal.graph.ports
    followers: dict[tuple[int, int], str] = {}
    for k in causal.derivative:
        port, law = ports[k], ports[k].law
        if isinstance(law, StorageLaw) and law.side == "across" and not law.keeps_energy_variable:
            followers.setdefault((port.plus, port.minus), port.across)
    for k in causal.integral:  # a state at the same nodes has the better name
        followers.pop((ports[k].plus, ports[k].minus), None)
    found = {}
    for k in causal.sources:
        law = ports[k].law
        assert isinstance(law, SourceLaw), "sources have the law of a source"
        between = (ports[k].minus, ports[k].plus)
        if other_side(law.side) == "across" and between in followers:
            found[k] = followers[between]
    return found
