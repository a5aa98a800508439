"""How elements, fields, moduli and the file around a scheme are written: kinds, values, laws, names, initial values and
causality.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import final

from tellegen.core.domains import DOMAINS, Domain, Side, Variable, other_side
from tellegen.core.errors import TellegenError
from tellegen.core.names import is_name, numbered
from tellegen.core.units import Dimension
from tellegen.elements import ElementKind, Role, kinds_of
from tellegen.expressions import ONE, ZERO, Expression, Number, Pow, symbol, to_text
from tellegen.expressions.simplification import NamedParts
from tellegen.graph import Field, Port, PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT
from tellegen.graph.power_graph import argument as argument_symbol
from tellegen.graph.signals import Value
from tellegen.model.dimensions import NoDimension, without_marks
from tellegen.model.laws import Law, LawForm
from tellegen.model.model import Model, SystemPort, state_variables
from tellegen.model.signals import SignalDefinition
from tellegen.notations.network.fields import argument_letters, direct_kind, energy_law, energy_letters, stiff_kind
from tellegen.notations.pog.matrices import modulus_dimension
from tellegen.notations.quantities import UnitTexts, parse_marked
from tellegen.notations.signals.blocks import FORMULA
from tellegen.notations.signals.formulas import readable_dimensions
from tellegen.notations.symbols import symbols_still_named
from tellegen.notations.yaml.writing import quoted, sentence_text
from tellegen.schemes import rules
from tellegen.schemes.bond_graph_scheme import default_variable
from tellegen.schemes.names import variable_name


def refuse_loose_ends(graph: PowerGraph) -> None:
    """Refuse to write what hangs at one terminal, where only networks have a place for it.

    Raises: GraphError (G204).
    """
    if graph.has_loose_end():
        raise rules.NO_LADDER.error(
            "a terminal of the model stands alone at its node, and nothing passes there",
            where=graph.name,
            fix="join it, or remove its element: `tellegen check` names it; a network may keep it",
        )


def element_kind(port: Port) -> ElementKind:
    """The kind of element that a port belongs to; a storage whose coefficient is a reciprocal is given by its stiffness."""
    law, domain = port.law, port.domain
    if isinstance(law, SourceLaw):
        return next(k for k in kinds_of(domain, "source") if k.side == law.side)
    if isinstance(law, ResistiveLaw):
        role: Role = "resistive" if law.potential is None else "potential"
        return next(k for k in kinds_of(domain, role) if k.side == law.side)
    kinds = [k for k in kinds_of(domain, "storage") if k.side == law.side]
    # `1/K` was given as a stiffness and `C` as a compliance: the form of the coefficient remembers which.
    return min(kinds, key=lambda k: k.inverse != _is_reciprocal(law.inertia))


def weightless_kind(port: Port) -> ElementKind | None:
    """The kind of a storage that keeps nothing by its nature; None for all other ports."""
    if not isinstance(port.law, StorageLaw) or port.law.inertia is not ZERO:
        return None
    return next((k for k in kinds_of(port.domain, "storage") if k.weightless and k.side == port.law.side), None)


def _is_reciprocal(expression: Expression | None) -> bool:
    return isinstance(expression, Pow) and expression.exponent is -ONE


def element_value(port: Port, kind: ElementKind) -> Expression | None:
    """The parameter of a linear element, as its kind wants it."""
    law = port.law
    if isinstance(law, StorageLaw):
        return law.inertia if law.inertia is None or not kind.inverse else ONE / law.inertia
    if isinstance(law, ResistiveLaw):
        return law.coefficient if law.potential is None else law.expression
    return None


def element_law(port: Port) -> Law | None:
    """The law of a nonlinear element in the letters of its domain; None for linear elements and sources.

    Raises: GraphError when its parameters have the names of all letters.
    """
    law = port.law
    # Linear laws are a parameter of their kind; the text of a law would hide it from limits and from units.
    if isinstance(law, SourceLaw) or (isinstance(law, ResistiveLaw) and law.linear):
        return None
    if isinstance(law, ResistiveLaw):
        if law.potential is not None:
            return Law("potential", "", law.potential, law.side, to_text(law.potential))
        assert law.expression is not None, "a law without coefficient has an expression"
        return _law(port, "resistive", law.side, other_side(law.side), law.expression)
    if law.inertia is not None:
        return None
    # A storage keeps the form in which its law was given: an energy, an output, or a content.
    if law.energy is not None and law.content is None:
        return _law(port, "energy", None, "energy" if law.keeps_energy_variable else law.side, law.energy)
    if law.output is not None:
        return _law(port, "output", law.side, "energy", law.output)
    assert law.content is not None, "a nonlinear storage has a content, an output or an energy"
    return _law(port, "content", "energy", law.side, law.content)


def _law(port: Port, form: LawForm, left: str | None, argument: str, expression: Expression) -> Law:
    domain = DOMAINS[port.domain]
    side: Side = port.law.side
    text = "" if isinstance(port.law, SourceLaw) else port.law.text
    used = expression.free_symbols - {ARGUMENT}
    # A parameter that has the name of any letter would be read as the variable.
    # All letters of the element are refused, not only the one used: another reader may take the law for the other
    # variable.
    reserved = {letter for word in ("across", "through", "energy") for letter in _letters(domain, side, word)}
    if used & reserved:
        name = min(used & reserved)
        raise rules.NO_LAW_TEXT.error(
            f"the law of '{port.element}' uses the parameter '{name}', which is a letter of its variables",
            where=port.element,
            fix=f"rename the parameter '{name}'",
            place=port.place,
        )
    if (
        left is not None
        and (said := _said(text, _letters(domain, side, left), expression))
        and (said[0] in _letters(domain, side, argument))
    ):
        return Law(form, said[0], said[1], side, text)
    letter = _letters(domain, side, argument)[0]
    written = expression.substitute({ARGUMENT: symbol(letter)})
    text = to_text(written) if left is None else f"{_letters(domain, side, left)[0]} = {to_text(written)}"
    return Law(form, letter, written, side, text)


def _said(text: str, left: Sequence[str], expression: Expression) -> tuple[str, Expression] | None:
    """The letter and the formula of a law as its author wrote it, with the units in it, if that still is the law."""
    gives, _, formula = text.partition("=")
    if gives.strip() not in left:
        return None
    try:
        found = without_marks(parse_marked(formula, None))
    except TellegenError:
        return None
    letter = next((n for n in found.free_symbols if found.substitute({n: argument_symbol()}) is expression), None)
    return None if letter is None else (letter, found)


def _letters(domain: Domain, side: Side, word: str) -> tuple[str, ...]:
    variable: Variable = domain.energy(side) if word == "energy" else domain.power(word)  # type: ignore[arg-type]
    return variable.letters if word == "energy" else (*variable.letters, word)


def element_details(
    port: Port, name: str, decides: Side, *, default: ElementKind | None, ties: bool, named: Iterable[Side] = ()
) -> dict[str, str]:
    """The keys under `elements` that an element of this name needs; empty where the notation says it all.

    `default` is the kind that a reader would take, `ties` tells that causality had a choice among storages, and `named` are the
    power variables that the notation names already.
    """
    kind = element_kind(port)
    details: dict[str, str] = {}
    value, law = element_value(port, kind), element_law(port)
    if law is not None and law.form == "potential":
        assert kind.quantity is not None, "weights have a quantity"
        details |= {kind.quantity.key: to_text(value or ZERO), "energy": law.text}
    elif law is not None:
        details["energy" if law.form == "energy" else "law"] = law.text
    elif (
        value is ZERO
    ):  # zero by its nature, a sensor or a weightless point: a number could be changed, a law could not
        # Which variable vanishes is what tells a massless point from an ideal sensor.
        left = "energy" if isinstance(port.law, StorageLaw) else port.law.side
        details["law"] = f"{_letters(DOMAINS[port.domain], port.law.side, left)[0]} = 0"
    # An element whose parameter has its own name needs no line at all, as in files that people write.
    elif value is not None and (value is not symbol(name) or kind is not default):
        assert kind.quantity is not None, "what has a value has a quantity"
        details[kind.quantity.key] = to_text(value)
    details |= _names(port, name, kind, set(named))
    if port.initial is not None:
        # Without a unit it is read as the output.
        unit = DOMAINS[port.domain].energy(port.law.side).unit
        plain = port.initial_content and isinstance(port.initial, Number)
        details["initial"] = f"{to_text(port.initial)} {unit}" if plain else to_text(port.initial)
    causality = _causality(port, decides, ties)
    return details | ({"causality": causality} if causality else {})


def _names(port: Port, name: str, kind: ElementKind, named: set[Side]) -> dict[str, str]:
    domain = DOMAINS[port.domain]
    sides: tuple[Side, Side] = ("across", "through")
    found = {
        domain.power(side).word: port.variable(side)
        for side in sides
        if side not in named and port.variable(side) != default_variable(port, name, side)
    }
    found |= {domain.energy(kind.side).word: state for state in named_content(port, name).values()}
    # A name with an index belongs to a vector item, which gives it again when the file is read.
    return {word: variable for word, variable in found.items() if "[" not in variable}


def named_content(port: Port, name: str) -> dict[str, str]:
    """The name that the author gave to what a storage keeps, where that is a state: runs and limits know it by this name."""
    if not isinstance(port.law, StorageLaw) or not port.law.keeps_energy_variable:
        return {}
    usual = f"{DOMAINS[port.domain].energy(port.law.side).symbol}_{name}"
    return {} if port.state == usual else {"energy": port.state}


def _causality(port: Port, decides: Side, ties: bool) -> str:
    if isinstance(port.law, SourceLaw):
        return ""
    if port.prefer is not None and port.forced:
        return f"force {port.prefer}"
    # Said only where a reader had a choice: with no ties the same causality follows by itself.
    if isinstance(port.law, StorageLaw) and ties and not port.law.keeps_energy_variable:
        return "integral" if decides == port.law.side else "derivative"
    return port.prefer or ""


def member_kind(port: Port, *, stiff: bool = False) -> ElementKind:
    """The kind of a port of a field: the one whose parameter multiplies, because the matrix does; else the `stiff` one."""
    return (stiff_kind if stiff else direct_kind)(element_kind(port))


def field_laws(field: Field, ports: Sequence[Port] | Mapping[int, Port]) -> tuple[Law, ...]:
    """The law of each port of a field that has no matrix, in letters with the number of the port; empty for others.

    Raises: GraphError (G207) when a parameter has the name of such a letter.
    """
    members = [ports[k] for k in field.ports]
    kinds = [member_kind(port) for port in members]
    if (energy := field_energy(field, ports)) is not None:
        return energy_law(kinds, energy).laws
    return _resistive(field, members, kinds) if field.by_laws else ()


def field_energy(field: Field, ports: Sequence[Port] | Mapping[int, Port]) -> Expression | None:
    """The energy of a field in letters with the numbers of its ports, where its laws are derivatives of one.

    Raises: GraphError (G207) when a parameter has the name of such a letter.
    """
    if field.energy is None:
        return None
    states = [ports[k].state for k in field.ports]
    letters = energy_letters([member_kind(ports[k]) for k in field.ports])
    # States are replaced by letters below, so that only other names can clash with these.
    _refuse_clash(field, letters, field.energy.free_symbols - set(states))
    return field.energy.substitute(dict(zip(states, map(symbol, letters), strict=True)))


def _resistive(field: Field, members: Sequence[Port], kinds: Sequence[ElementKind]) -> tuple[Law, ...]:
    letters = argument_letters(kinds, [port.law.side for port in members])
    names = [port.variable(other_side(port.law.side)) for port in members]
    told = dict(zip(names, map(symbol, letters), strict=True))
    found = []
    for k, (port, kind, letter) in enumerate(zip(members, kinds, letters, strict=True), 1):
        assert isinstance(port.law, ResistiveLaw), "a field without energy is resistive"
        written: Expression = port.law.value_at(symbol(ARGUMENT))
        _refuse_clash(field, letters, written.free_symbols - {*names, ARGUMENT})
        written = written.substitute({**told, ARGUMENT: symbol(letter)})
        left = f"{kind.domain.power(port.law.side).letters[0]}_{k}"
        found.append(Law("resistive", letter, written, port.law.side, f"{left} = {to_text(written)}"))
    return tuple(found)


def _refuse_clash(field: Field, letters: Sequence[str], used: frozenset[str]) -> None:
    """A parameter that has the name of a letter would be read as the variable."""
    if clash := sorted(used & set(letters)):
        what = f"the law of '{field.element}' uses the parameter '{clash[0]}', which is a letter of its variables"
        raise rules.NO_LAW_TEXT.error(what, where=field.element, fix=f"rename the parameter '{clash[0]}'")


ModulusEnd = tuple[str, Side]
"""A domain and one of its variables."""

LONGEST = 1_000
LONGEST_PART = 100
"""A modulus of more than LONGEST characters is read by nobody, and beyond ten times that by no file: its parts get names."""


@final
class ModulusTexts:
    """Writes K of `x_2 = K x_1`. Without a model, parameters are plain numbers, which fit any unit.

    `parts` are parameters to be added to the file, each after those that it reads: parts of long moduli, under names that are none
    of those `taken`. Where these are not said, moduli stay whole.
    """

    def __init__(self, model: Model | None, taken: Iterable[str] | None = None) -> None:
        self._variables: dict[str, Dimension] = {}
        if model is not None:
            self._variables = {**state_variables(model.elements), **readable_dimensions(model)}
        self._units = UnitTexts({} if model is None else model.parameters, self._variables)
        self._whole = taken is None
        self._named = NamedParts(LONGEST_PART, numbered("k", frozenset(taken or ())))
        self.parts: dict[str, str] = {}

    def text(self, K: Expression, one: ModulusEnd, two: ModulusEnd) -> str:
        """The text of a modulus between two variables."""
        wanted = modulus_dimension((DOMAINS[one[0]], one[1]), (DOMAINS[two[0]], two[1]))
        found = self._units.measure(K)
        # A plain number has the unit that is asked for; a formula of another dimension needs one said, or reading it
        # back would fail.
        agrees = isinstance(K, Number) or isinstance(found, NoDimension) or found == wanted
        text = to_text(K) if agrees else self._units.text(K, wanted)
        if self._whole or len(text) <= LONGEST:
            return text
        # Units go in first: a part cut out of the formula afterwards would not know which unit was meant.
        return self._by_parts(K if agrees else self._units.annotated(K, wanted, False))

    def _by_parts(self, K: Expression) -> str:
        """The text over parameters for parts of the modulus; K has its units in it, so that each part has the right ones."""
        short = self._named.short(K)
        # Earlier parts stay as they are, since moduli already written refer to them by name.
        for name, part in list(self._named.definitions.items())[len(self.parts) :]:
            found = self._units.measure(part)
            if isinstance(found, tuple):
                self._variables[name] = found
            self.parts[name] = self._units.text(part, None)
        return self._units.text(short, None)

    def of_bonds(self, K: Expression, kind: str, domains: tuple[str, str]) -> str:
        """The text of a modulus from bond to bond: TF relates flows, GY the flow of one to the effort of the other."""
        one, two = (DOMAINS[name] for name in domains)
        return self.text(K, (one.name, one.flow), (two.name, two.flow if kind == "TF" else two.effort))


Detail = str | Sequence["Detail"]
"""What stands behind a key: a text, a list of them, or the rows of a matrix."""
GIVE_MODEL = "give the model that the scheme was raised from: 'model=...'"


def mode_details(element: str, settings: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The kind and the settings of an element with modes.

    Raises: GraphError (G230) where the model that knows them is not at hand.
    """
    # The scheme shows the element as it is in one mode; written like that, the switch would never open.
    if element not in settings:
        what = f"'{element}' has modes, and the scheme does not know their settings"
        raise rules.NO_MODES.error(what, where=element, fix=GIVE_MODEL)
    return {key: PlainYaml(text) for key, text in settings[element].items()}


def with_named_variables(model: Model, graph: PowerGraph, said: Container[str], renamed: Mapping[str, str]) -> Model:
    """The model with signals for the variables to which the author gave names, without those that the notation has `said`.

    The experiment speaks of `renamed` variables by their names in the file.
    """
    signals = {name: definition for name, definition in model.signals.items() if name not in said}
    for law in graph.signals:
        if isinstance(law, Value) and law.named and law.name not in model.signals and law.name not in said:
            texts, unit = {FORMULA: to_text(law.expression)}, law.unit
            signals[law.name] = SignalDefinition(
                law.name, FORMULA, {FORMULA: law.expression}, texts=texts, unit=unit, between=law.between
            )
    # Names of parts and of copies are other names in these notations.
    symbols = {name: text for name, text in symbols_still_named(model).items() if is_name(name)}
    told = model.experiment
    experiment = replace(
        told,
        initial={renamed.get(name, name): value for name, value in told.initial.items()},
        inputs={renamed.get(name, name): value for name, value in told.inputs.items()},
        outputs=tuple(renamed.get(name, name) for name in told.outputs),
        units={renamed.get(name, name): unit for name, unit in told.units.items()},
    )
    return replace(model, signals=signals, symbols=symbols, experiment=experiment)


def without_index(scalars: Mapping[str, Port], sections: Container[str] = ()) -> dict[str, str]:
    """The names that variables with an index, those of copies, get in a file where their elements stand alone.

    A section that carries the variable names it, else the element does. Where it is called otherwise, so are its books.
    """
    sides: tuple[Side, Side] = ("across", "through")
    variables = {
        old: made if (made := variable_name(old)) in sections else default_variable(port, name, side)
        for name, port in scalars.items()
        for side in sides
        if "[" in (old := port.variable(side))
    }
    called = ((port.element, name) for name, port in scalars.items() if port.element != name)
    return variables | {f"{book}.{old}": f"{book}.{new}" for old, new in called for book in ("power", "energy")}


def with_ports(model: Model, nodes: Container[str], notation: str) -> Model:
    """The model with ports that a notation can say: places of sources, nodes with a name, and the two nodes of an element.

    Raises: GraphError (G240) for a port that is none of them.
    """
    # Backwards, so that of several elements between the same nodes the one described first wins.
    ends = {(e.nodes[0], e.nodes[1]): e.name for e in reversed(model.elements) if len(e.nodes) == 2}
    kept = {}
    for name, port in model.ports.items():
        if port.source or port.at or (port.nodes[0] in nodes and port.nodes[1] == DOMAINS[port.domain].reference):
            kept[name] = port
        elif port.nodes in ends:
            kept[name] = replace(port, at=ends[port.nodes])
        else:
            raise _lost(port, notation)
    return replace(model, ports=kept)


def _lost(port: SystemPort, notation: str) -> TellegenError:
    ends = " and ".join(f"'{node}'" for node in port.nodes if node != DOMAINS[port.domain].reference)
    kind = next(k for k in kinds_of(port.domain, "source") if k.side == "through")
    return rules.LOST_PORT.error(
        f"the port '{port.name}' is at {ends}, where no element ends alone, and a {notation} has no names for nodes",
        where=port.name,
        fix=f"put a {kind.name} there and write '{port.name}: {{source: ...}}'",
        place=port.place,
    )


def file_text(
    graph: PowerGraph, scheme: str, details: Mapping[str, Mapping[str, Detail]], named: Mapping[str, str]
) -> str:
    """The text of a file; parameters are plain numbers in SI units, `named` are those for parts of long moduli."""
    parts = [f"system: {sentence_text(graph.name)}\n", _parameters(graph, named)]
    if graph.displacements:
        rates = "".join(f"  {name}: {quoted(to_text(rate))}\n" for name, rate in graph.displacements.items())
        parts.append("displacements:\n" + rates)
    parts += [scheme, details_text(details)]
    return "\n".join(part for part in parts if part)


def _parameters(graph: PowerGraph, parts: Mapping[str, str]) -> str:
    # Moving parameters are formulas of displacements and stand in the same section of a file.
    known = {**graph.parameters, **graph.position_dependent}
    texts = {name: "" if value is None else quoted(to_text(value)) for name, value in known.items()} | {**parts}
    lines = [f"  {quoted(name)}: {text}".rstrip() + "\n" for name, text in texts.items()]
    return "parameters:\n" + "".join(lines) if lines else ""


class PlainYaml(str):
    """A text that stands in a file as it is."""

    __slots__ = ()


def _listed(text: Detail) -> str:
    if isinstance(text, str):
        return text if isinstance(text, PlainYaml) else quoted(text)
    return "[" + ", ".join(map(_listed, text)) + "]"


def details_text(details: Mapping[str, Mapping[str, Detail]]) -> str:
    """The part `elements:` of a file; empty where there is nothing to say."""
    lines = [
        f"  {name}: {{" + ", ".join(f"{key}: {_listed(text)}" for key, text in keys.items()) + "}\n"
        for name, keys in details.items()
    ]
    return "elements:\n" + "".join(lines) if lines else ""
