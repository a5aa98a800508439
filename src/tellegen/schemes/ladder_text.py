"""A POG in the notation of files: the entries of `pog:` and what stands under `elements:`.

Tree-like schemes are ladders with branches. Others are vector ladders where their lanes run side by side, and otherwise one or two
vector blocks, so that every scheme has a text.
"""

from collections.abc import Mapping

from tellegen.description.model import Model
from tellegen.description.writing import file_around, mode_settings
from tellegen.expressions import to_text
from tellegen.graph import SourceLaw
from tellegen.schemes import rules
from tellegen.schemes.block_ladders import block_ladder
from tellegen.schemes.file_text import Yaml, details_text, file_text, with_ports
from tellegen.schemes.ladder_entries import Details, Entry, LadderFormat
from tellegen.schemes.ladder_lines import ladder_lines
from tellegen.schemes.lane_ladders import lane_ladder
from tellegen.schemes.lane_walk import NoLanesError
from tellegen.schemes.names import plain_name, variable_name
from tellegen.schemes.pog_scheme import PogScheme
from tellegen.schemes.tree_ladders import tree_ladder
from tellegen.schemes.trees import parts
from tellegen.schemes.written import WrittenLadder


def to_ladder(scheme: PogScheme) -> list[Entry]:
    """The entries of `pog:`. `to_ladder_details` says the rest.

    Raises: GraphError (G204) for what the notation has no entry for.
    """
    return LadderFormat(scheme).write(_ladder(scheme))[0]


def to_ladder_details(scheme: PogScheme, model: Model | None = None) -> Details:
    """What stands under `elements:`, by element. The settings of elements with modes are those of the `model`.

    Raises: GraphError (G230) for modes without a model.
    """
    return _settled(scheme, LadderFormat(scheme).write(_ladder(scheme))[1], model)


def ladder_text(scheme: PogScheme, parameters: Mapping[str, str] | None = None, *, model: Model | None = None) -> str:
    """The scheme as the text of a model file.

    Parameters are plain numbers in SI units, or as `parameters` gives them. With the `model` that the scheme was raised from, its
    parameters with their units, its signals and its experiment are part of the file; without, what signals drive is an input.

    Raises: GraphError (G204) for what the notation has no entry for, G230 for modes, and for moduli and laws that read signals,
    without the model; G240 for ports of the model at nodes that belong to no element.
    """
    if all(isinstance(port.law, SourceLaw) for port in scheme.causal.graph.ports):
        what = "nothing stores or loses energy, so that the ladder would have no elaboration block"
        raise rules.NO_LADDER.error(what, where=scheme.causal.graph.name, fix="add a storage or a resistive element")
    writing = LadderFormat(scheme, model, short=True)
    entries, details = writing.write(_ladder(scheme))
    parts = writing.moduli.parts
    details = _settled(scheme, details, model)
    lines = "pog:\n" + ladder_lines(entries)
    if model is not None:
        return file_around(with_ports(model, (), "ladder"), lines, details_text({**details, **_driven(scheme)}), parts)
    _refuse_signals(scheme)
    return file_text(scheme.causal.graph, lines, details, {**(parameters or {}), **parts})


def _settled(scheme: PogScheme, details: Details, model: Model | None) -> Details:
    """The details, with the settings of elements with modes."""
    graph = scheme.causal.graph
    modes = {} if model is None else mode_settings(model)
    found = dict(details)
    for element in (graph.ports[k].element for k in graph.switching):
        if element not in modes:
            what = f"'{element}' has modes, and the scheme does not know their settings"
            fix = "give the model that the scheme was raised from: 'model=...'"
            raise rules.NO_MODES.error(what, where=element, fix=fix)
        name = plain_name(element)
        found[name] = {key: Yaml(text) for key, text in modes[element].items()} | dict(found.get(name, {}))
    return found


def _driven(scheme: PogScheme) -> Details:
    """What drives the sources that follow signals."""
    found: Details = {}
    for item in scheme.sources():
        law = item.port.law
        if isinstance(law, SourceLaw) and law.signal is not None:
            found[variable_name(law.input)] = {"signal": to_text(law.signal)}
    return found


def _refuse_signals(scheme: PogScheme) -> None:
    graph = scheme.causal.graph
    names = {signal.name for signal in graph.signals}
    entries = [e for c in graph.couplings for row in c.K for e in row]
    entries += [e for field in graph.fields for row in field.matrix for e in row]
    entries += [b.gain for b in scheme.blocks.values() if b.gain is not None]
    read = sorted(names & {name for e in entries for name in e.free_symbols})
    if read:
        what = f"a modulus or a law reads the signal '{read[0]}', and the scheme does not have its block"
        raise rules.NO_MODES.error(
            what, where=read[0], fix="give the model that the scheme was raised from", members=read
        )


def _ladder(scheme: PogScheme) -> WrittenLadder:
    graph = scheme.bond_graph
    if graph is not None and not scheme.causal.graph.fields:
        found = parts(graph)
        if len(found) == 1 and found[0].is_tree():
            return tree_ladder(graph, found[0])
    try:
        return lane_ladder(scheme)
    except NoLanesError:
        return block_ladder(scheme)
