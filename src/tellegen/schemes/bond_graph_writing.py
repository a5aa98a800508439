"""A bond graph in the notation of files: the lines of `bond graph:` and what stands under `elements:`."""

from collections.abc import Mapping, Sequence

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.elements import ElementKind
from tellegen.expressions import ONE, Expression, symbol, to_text
from tellegen.graph import SourceLaw, StorageLaw
from tellegen.graph.signal_lowering import named_variables
from tellegen.graph.signals import Value
from tellegen.model.bond_graph import DETECTORS, SINKS
from tellegen.model.model import Model
from tellegen.notations.bond_graph.lines import bond_graph_lines
from tellegen.notations.bond_graph.network import one_port_kinds
from tellegen.notations.bond_graph.reading import KINDS_KEY, NONE
from tellegen.notations.writing import file_with_notation, mode_settings
from tellegen.notations.yaml.writing import quoted
from tellegen.schemes import element_texts, rules
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort, TwoPort

Details = Mapping[str, Mapping[str, element_texts.Detail]]


def to_lines(scheme: BondGraphScheme) -> list[str]:
    """The lines of `bond graph:`, one-ports in the order of description. `to_details` says the rest.

    Raises: GraphError for fields in a scheme of scalar bonds.
    """
    _refuse_fields(scheme)
    return bond_graph_lines(scheme.graph)


def to_details(
    scheme: BondGraphScheme, model: Model | None = None, moduli: element_texts.ModulusTexts | None = None
) -> Details:
    """What stands under `elements:`, by element: values and names that differ from the element's own, laws, causality, matrices.

    The settings of elements with modes are those of the `model` that the scheme was raised from.

    Raises: GraphError for fields in a scheme of scalar bonds, for laws that cannot be written, and for modes without a model.
    """
    _refuse_fields(scheme)
    moduli = moduli or element_texts.ModulusTexts(model)
    modes = {} if model is None else mode_settings(model)
    parts = [part for item in scheme.one_ports.values() for part in (item.parts or (item,))]
    # Where storages depend on each other, a reader could choose other states: the file has to say which ones are meant.
    ties = any(part.causality == "derivative" for part in parts)
    found: dict[str, Mapping[str, element_texts.Detail]] = {}
    for name, item in scheme.one_ports.items():
        details = _vector_details(scheme, item, ties) if item.parts else _details(item, name, ties, noted=True)
        # What the element does now is only one of its modes; the settings of the model say all of them.
        if item.letters == "Sw":
            law = element_texts.element_kind(item.port).quantity
            own = {key: text for key, text in details.items() if key not in ("law", law.key if law else "")}
            details = element_texts.mode_details(item.port.element, modes) | own
        if details:
            found[name] = details
    for name, two_port in scheme.two_ports.items():
        if two_port.matrix:
            found[name] = {"K": _moduli(scheme, two_port, moduli)}
        else:
            said = _port_names(scheme, two_port)
            if two_port.modulus is not symbol(name):
                said = {"K": moduli.of_bonds(two_port.modulus, two_port.kind, two_port.domains), **said}
            if said:
                found[name] = said
    return found


def _port_names(scheme: BondGraphScheme, two_port: TwoPort) -> dict[str, str]:
    """The names that the author gave to the variables of a two-port."""
    graph = scheme.causal.graph
    chosen = {name for c in graph.couplings if c.element in two_port.origins for name in c.names.values()}
    # A junction may have the name of another element's variable: then the one chosen here is a second name of the same value.
    second = {
        to_text(law.expression): law.name for law in graph.signals if isinstance(law, Value) and law.name in chosen
    }
    return {
        f"{side}_{1 if bond.head == two_port.name else 2}": name
        for bond in scheme.bonds_of(two_port.name)
        for side, shown in (("across", bond.across), ("through", bond.through))
        if (name := shown if shown in chosen else second.get(shown)) is not None
    }


def bond_graph_text(scheme: BondGraphScheme, *, model: Model | None = None) -> str:
    """The scheme as the text of a model file.

    Parameters are plain numbers in SI units. With the `model` that the scheme was raised from, its
    parameters with their units, its signals and its experiment are part of the file.

    Raises: GraphError (G204) where a terminal stands alone at a node, or a modulus of zero leaves a junction with one bond.
    """
    element_texts.refuse_loose_ends(scheme.causal.graph)
    if alone := [name for name in scheme.junctions if len(scheme.bonds_of(name)) == 1]:
        what = f"a modulus of zero leaves the junction '{alone[0]}' with one bond"
        raise rules.NO_LADDER.error(what, where=alone[0], fix="write it as a network or as a ladder")
    lines = "bond graph:\n" + "".join(f"  - {quoted(line)}\n" for line in to_lines(scheme))
    graph = scheme.causal.graph
    taken = [*graph.parameters, *graph.position_dependent, *graph.displacements, *scheme.one_ports, *scheme.two_ports]
    taken += [name for port in graph.ports for name in (port.element, port.across, port.through, port.state)]
    moduli = element_texts.ModulusTexts(model, taken)
    details = to_details(scheme, model, moduli)
    if model is not None:
        # Nodes are gone in a bond graph: ports of the model need junctions of the same name, or they are refused by name.
        said = {name for two_port in scheme.two_ports.values() for name in _port_names(scheme, two_port).values()}
        scalars = {name: item.port for name, item in scheme.one_ports.items() if not item.parts}
        named = element_texts.with_named_variables(model, graph, said, element_texts.without_index(scalars))
        kept = element_texts.with_ports(named, scheme.junctions, "bond graph")
        return file_with_notation(kept, lines, element_texts.details_text(details), moduli.parts)
    # Without their blocks, names of signals would be free symbols in the file; variables of sections nobody reads there.
    if names := sorted({signal.name for signal in graph.signals} - set(named_variables(graph))):
        what = f"the sources follow signals such as '{names[0]}', and the scheme does not have their blocks"
        raise rules.NO_MODES.error(what, where=names[0], fix=element_texts.GIVE_MODEL, members=names[:50])
    return element_texts.file_text(graph, lines, details, moduli.parts)


def _refuse_fields(scheme: BondGraphScheme) -> None:
    for name, item in scheme.one_ports.items():
        # A port of a field alone would lose the entries beside the diagonal, which is another model.
        if item.field and not item.parts:
            what = f"'{name}' is a port of the field '{item.field}', and scalar bonds have no place for its matrix"
            raise rules.NO_SCALAR_BOND.error(what, where=item.field, fix="raise the model with 'vectors=True'")


# -- details -------------------------------------------------------------------------------------------------------------------


def _moduli(scheme: BondGraphScheme, two_port: TwoPort, moduli: element_texts.ModulusTexts) -> list[list[str]]:
    """The matrix of a two-port; the bonds on one side may be of several domains."""
    # Units of an entry depend on the domains of its two bonds, which differ from entry to entry in a mixed matrix.
    into: dict[int, str] = {}
    out: dict[int, str] = {}
    for bond in scheme.bonds_of(two_port.name):
        if bond.head == two_port.name:
            into[bond.head_port] = bond.domain
        else:
            out[bond.tail_port] = bond.domain
    one, two = two_port.domains
    return [
        [moduli.of_bonds(e, two_port.kind, (into.get(j, one), out.get(i, two))) for j, e in enumerate(row, start=1)]
        for i, row in enumerate(two_port.matrix, start=1)
    ]


def _details(item: OnePort, name: str, ties: bool, *, noted: bool) -> dict[str, element_texts.Detail]:
    """What one scalar element needs; `noted` when its lines name its variable."""
    named: tuple[Side, ...] = (item.port.law.side,) if noted and item.item().variables else ()
    if item.letters in DETECTORS:
        named = (other_side(item.port.law.side),)
    details: dict[str, element_texts.Detail] = {}
    details |= element_texts.element_details(
        item.port, name, item.decides, default=_default_kind(item), ties=ties, named=named
    )
    # De and Df say by themselves that the other variable is zero: a law beside them would be read as a contradiction.
    if item.letters in (*DETECTORS, *SINKS):
        quantity = element_texts.element_kind(item.port).quantity
        details.pop(quantity.key if quantity else "", None)
        details.pop("law", None)
    return details


def _vector_details(scheme: BondGraphScheme, item: OnePort, ties: bool) -> dict[str, element_texts.Detail]:
    """Lists with an entry for each component; one text where all are the same, and the matrix of a field."""
    kinds = [
        element_texts.member_kind(part.port) if item.field else element_texts.element_kind(part.port)
        for part in item.parts
    ]
    each = [_details(part, part.port.element, ties, noted=False) for part in item.parts]
    field = next((f for f in scheme.causal.graph.fields if f.element == item.field), None)
    found: dict[str, element_texts.Detail] = {}
    if item.letters == "IC":
        found["ports"] = [part.kind for part in item.parts]
    own = [
        kind.quantity.key for part in item.parts if (kind := element_texts.element_kind(part.port)).quantity is not None
    ]
    # What the matrix or the laws of a field say must not be said again for its ports.
    said = {"law", "energy", *own} if field else set()
    for key in dict.fromkeys(key for details in each for key in details if key not in said):
        # A list has an entry for each component, so one that has nothing to say gets a word that means nothing.
        texts = [details.get(key, _filler(key, part)) for details, part in zip(each, item.parts, strict=True)]
        # One text for all is how a user writes a vector item with equal components.
        found[key] = texts if len(set(map(str, texts))) > 1 else texts[0]
    if field is not None and (energy := element_texts.field_energy(field, scheme.causal.graph.ports)) is not None:
        found["energy"] = to_text(energy)
    elif field is not None and field.by_laws:
        found["law"] = [law.text for law in element_texts.field_laws(field, scheme.causal.graph.ports)]
    # A field that was given by its stiffness is written by it: inverted twice, its entries would grow.
    elif field is not None and field.stiffness is not None:
        quantity = element_texts.member_kind(item.parts[0].port, stiff=True).quantity
        assert quantity is not None, "a spring has a stiffness"
        found[quantity.key] = _matrix(field.stiffness)
    elif field is not None:
        found |= _field_matrix(item, kinds, field.matrix)
    return found


def _filler(key: str, part: OnePort) -> str:
    """What stands in a list for a component that says nothing about a key, which may be a word of another domain."""
    kind = element_texts.element_kind(part.port)
    if kind.quantity is not None and key == kind.quantity.key:
        return to_text(element_texts.element_value(part.port, kind) or ONE)
    return NONE


def _field_matrix(
    item: OnePort, kinds: Sequence[ElementKind], rows: Sequence[Sequence[Expression]]
) -> dict[str, element_texts.Detail]:
    """The matrix of a field, with the kind or the kinds of its ports where a reader would take others."""
    plain = all(kind is _default_kind(part) for kind, part in zip(kinds, item.parts, strict=True))
    # Storage fields have one reading; a resistive matrix may give efforts or flows, which only the kinds tell.
    if plain or isinstance(item.port.law, StorageLaw):
        return {"matrix": _matrix(rows)}
    if len({kind.name for kind in kinds}) == 1 and kinds[0].quantity is not None:
        return {kinds[0].quantity.key: _matrix(rows)}
    return {KINDS_KEY: [kind.name for kind in kinds], "matrix": _matrix(rows)}


def _matrix(rows: Sequence[Sequence[Expression]]) -> element_texts.Detail:
    return [[to_text(entry) for entry in row] for row in rows]


def _default_kind(item: OnePort) -> ElementKind | None:
    """The kind that a reader takes for the letters of a one-port."""
    return None if isinstance(item.port.law, SourceLaw) else one_port_kinds(item.kind, DOMAINS[item.domain])[0]
