"""What the answers of sources are called: as a state, as a storage that follows others beside the source, or as the source says."""

from collections.abc import Callable

from tellegen.causality.causal_graph import CausalGraph
from tellegen.core.domains import other_side
from tellegen.graph import SourceLaw, StorageLaw


def names_of_answers(causal: CausalGraph, state_told_to: Callable[[int], str]) -> dict[int, str]:
    """The name of the conjugate variable of each source, no two alike.

    The velocity at which a force acts on a mass is that of the mass, whether the mass is a state or follows others; a state at the
    same nodes has the better name. Where two sources act on one storage, the first one's answer has its name; the second takes that
    of another storage there, or its own. `state_told_to` gives the state that answers a source, or an empty text.
    """
    beside = _followers_beside(causal)
    states = {(causal.graph.ports[k].plus, causal.graph.ports[k].minus) for k in causal.integral}
    found: dict[int, str] = {}
    taken = {""}
    for k in causal.sources:
        port = causal.graph.ports[k]
        law = port.law
        assert isinstance(law, SourceLaw), "sources have the law of a source"
        followers = beside.get(k, [])
        closest = [] if (port.minus, port.plus) in states else followers
        names = [*closest, state_told_to(k), *followers, port.variable(other_side(law.side))]
        found[k] = next(name for name in names if name not in taken)
        taken.add(found[k])
    return found


def _followers_beside(causal: CausalGraph) -> dict[int, list[str]]:
    """For each source of a through variable the across variables of the dependent storages at the same nodes: they are the same.

    Signs agree where the two lie in opposite directions between the nodes: what a source gives, the storage takes.
    """
    ports = causal.graph.ports
    followers: dict[tuple[int, int], list[str]] = {}
    for k in causal.derivative:
        port, law = ports[k], ports[k].law
        if isinstance(law, StorageLaw) and law.side == "across" and not law.keeps_energy_variable:
            followers.setdefault((port.plus, port.minus), []).append(port.across)
    return {
        k: followers.get((ports[k].minus, ports[k].plus), []) for k in causal.sources if causal.follows(k) == "across"
    }
