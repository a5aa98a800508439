"""The lines of elements and fields in a model file: kind, nodes, then what else there is to say."""

from collections.abc import Iterable

from tellegen.core.domains import DOMAINS, Side, Variable
from tellegen.core.errors import TellegenError
from tellegen.core.names import is_name, named_after
from tellegen.core.units import Dimension, parse_unit
from tellegen.description.curves import curve_keys
from tellegen.description.dimensions import (
    without_marks,
)
from tellegen.description.fields import entry_dimension
from tellegen.description.keys import CONNECTION, Form, form_of, make_form, port_dimension
from tellegen.description.law_tables import table_text
from tellegen.description.model import Element, Model, Parameter, Switching
from tellegen.description.quantities import parse_marked
from tellegen.description.relations import Law, MatrixField, Multiport
from tellegen.description.signals.writing import formula_text, readable
from tellegen.description.stiffness import stiff_kind, stiffness_dimension
from tellegen.description.unit_texts import UnitTexts, number_text
from tellegen.description.variables import state_variables
from tellegen.description.yaml_texts import line_text, list_text, mapping_text, quoted, tree_text
from tellegen.elements import START, ElementKind, schedule_key
from tellegen.expressions import (
    ONE,
    ZERO,
    Expression,
    Number,
    Symbol,
    symbol,
    to_text,
)


class ElementLines:
    """Writes the lines of elements and fields, and values with their units."""

    def __init__(self, model: Model) -> None:
        self.model = model
        variables = {**state_variables(model.elements), **readable(model)}
        self.units = UnitTexts(model.parameters, variables, model.signals)
        self.inline = {e.name for e in model.elements if self._is_inline(e)}
        self.implied = {e.name for e in model.elements if self._is_implied(e)}
        self.implied |= {name for e in model.elements for name in self._implied_settings(e)}

    def write_every_parameter(self) -> None:
        """Leave no value to the lines of elements: another notation has none."""
        self.inline, self.implied = set(), set()

    def _own(self, element: Element) -> Parameter | None:
        """The parameter that an element takes by its own name."""
        if isinstance(element.value, Symbol) and element.value.name == element.name:
            return self.model.parameters.get(element.name)
        return None

    def _is_inline(self, element: Element) -> bool:
        """A value of `R[3]` stands on its line; those with plain names have a list of their own, to be looked up and changed."""
        own = self._own(element)
        return (
            own is not None
            and not is_name(own.name)
            and isinstance(own.expression, Number)
            and element.kind.name != CONNECTION
        )

    def _is_implied(self, element: Element) -> bool:
        """A parameter without value that the reader adds by itself."""
        own = self._own(element)
        return own is not None and own.expression is None and element.kind.name != CONNECTION

    def _implied_settings(self, element: Element) -> Iterable[str]:
        """Parameters without value that the reader adds by itself for settings of an element with modes."""
        for key, value in element.switching.settings.items() if element.switching is not None else ():
            own = self.model.parameters.get(f"{key}_{element.name}")
            if own is not None and own.expression is None and value is symbol(own.name):
                yield own.name

    def line(self, element: Element) -> str:
        """The line of an element: its kind with the nodes, then what else there is to say."""
        kind = element.kind
        if element.multiport is not None:
            return self._multiport(element, element.multiport)
        form = form_of(kind.name) or make_form(kind)
        nodes = element.nodes[:1] if kind.grounded and element.nodes[1] == kind.domain.reference else element.nodes
        pairs = [(kind.name, list_text(nodes))]
        pairs += self._relation(element) if kind.name == CONNECTION else self._value(element, form)
        pairs += self.modes(element, element.switching) if element.switching is not None else []
        pairs += self._driver(element, form)
        pairs += [self._law(element.law, element)] if element.law else []
        pairs += [(_word(element, form, side), quoted(name)) for side, name in element.variables.items()]
        if element.initial is not None:
            pairs.append(("initial", quoted(self.units.text(element.initial, form.initial))))
        if element.prefer is not None:
            pairs.append(("causality", _causality(element)))
        if element.notes:
            pairs.append(("notes", mapping_text(element.notes)))
        return line_text(pairs)

    def _value(self, element: Element, form: Form) -> list[tuple[str, str]]:
        if element.value is None or element.kind.quantity is None:
            return []
        key = element.kind.quantity.key
        own = self._own(element)
        if element.value is ZERO and element.kind.role == "resistive":  # a number would become a parameter
            return [("law", f"{element.kind.domain.power(element.kind.side).letters[0]} = 0")]
        if own is None:
            return [(key, quoted(self.units.text(element.value, form.dimension)))]
        return [(key, self.parameter(own))] if element.name in self.inline else []

    def parameter(self, parameter: Parameter) -> str:
        """The value of a parameter with its unit, or the points of its curve; nothing where it has none."""
        if keys := curve_keys(parameter, self.formula):
            return tree_text(keys)
        if parameter.expression is None:
            return ""
        return quoted(self.units.text(parameter.expression, parameter.dimension, parameter.unit, keep=True))

    def formula(self, expression: Expression, written: str, dimension: Dimension | None, unit: str) -> str:
        """A formula as it was written, if that still is the formula; else from its expression."""
        names = frozenset(self.model.signals)
        return formula_text(expression, written, names, lambda e: self.units.text(e, dimension, unit, keep=True))

    def _driver(self, element: Element, form: Form) -> list[tuple[str, str]]:
        """What drives a source."""
        course = element.signal
        if course is None:
            return []
        names = frozenset(self.model.signals)
        text = formula_text(course, element.signal_text, names, lambda e: self.units.text(e, form.initial))
        return [("signal", quoted(text))]

    def _law(self, law: Law, element: Element) -> tuple[str, str]:
        """A law as a formula, or by its points."""
        if law.table is None:
            return _law_key(law), quoted(law_text(law, element))
        return "law", table_text(law, element.kind)

    def modes(self, element: Element, switching: Switching) -> list[tuple[str, str]]:
        """The settings of an element with modes."""
        pairs = []
        for setting in element.kind.settings:
            value = switching.settings.get(setting.key)
            if value is not None and f"{setting.key}_{element.name}" not in self.implied:
                wanted = parse_unit(setting.unit).dimension if setting.unit else None
                written = switching.texts.get(setting.key) if setting.formula else None
                pairs.append((setting.key, quoted(written or self.units.text(value, wanted))))
        if switching.schedule:
            times = [self.units.text(time, Dimension(s=1)) for time in switching.schedule]
            pairs.append((schedule_key(element.kind), list_text(times)))
        return pairs + ([(START, switching.start)] if switching.start else [])

    def _relation(self, element: Element) -> list[tuple[str, str]]:
        kind = element.kind
        value = element.value if element.value is not None else symbol(element.name)
        left, _, right = kind.law.partition(" = ")
        form = make_form(kind)
        text = (
            self.units.text(value, form.dimension) if not isinstance(value, Number) else number_text(value.rational, "")
        )
        factor = text if isinstance(value, Symbol) else f"({text})"
        other = right.split("*")[1]
        relation = f"{left} = {other}" if value is ONE else f"{left} = {factor}*{other}"
        return [("domains", list_text(kind.domains)), ("relation", quoted(relation))]

    def _multiport(self, element: Element, relation: Multiport) -> str:
        given = [f"{side}_{port + 1}" for port, side in zip(relation.given, relation.given_sides, strict=True)]
        gives = [f"{side}_{port + 1}" for port, side in zip(relation.gives, relation.gives_sides, strict=True)]
        domains = element.kind.domains
        texts = []
        for left, row in zip(gives, relation.K, strict=True):
            wanted = [port_dimension(domains, left).over(port_dimension(domains, name)) for name in given]
            terms = [
                f"({self.units.text(entry, unit, keep=True)})*{name}"
                for entry, unit, name in zip(row, wanted, given, strict=True)
                if entry is not ZERO
            ]
            texts.append(f"{left} = " + " + ".join(terms or ["0"]))
        return line_text(
            [("multiport", list_text(element.nodes)), ("domains", list_text(domains)), ("relation", list_text(texts))]
        )

    def field(self, field: MatrixField) -> str:
        """The line of a field."""
        by_name = {element.name: element for element in self.model.elements if element.name in field.members}
        members = [by_name[name] for name in field.members]
        kinds = [member.kind if field.stiffness is None else stiff_kind(member.kind) for member in members]
        mixed = len({kind.name for kind in kinds}) > 1
        pairs = [
            ("field" if mixed else f"{kinds[0].name} field", list_text(n for member in members for n in member.nodes))
        ]
        pairs += [("kinds", list_text(kind.name for kind in kinds))] if mixed else []
        sides: tuple[Side, Side] = ("across", "through")
        for side in sides:
            if any(side in member.variables for member in members):
                word = side if mixed else _word(members[0], make_form(kinds[0]), side)
                pairs.append((word, list_text(_variable(member, side) for member in members)))
        if any(member.initial is not None for member in members):
            starts = [(member.initial or ZERO, make_form(member.kind).initial) for member in members]
            pairs.append(("initial", list_text(self.units.text(start, unit) for start, unit in starts)))
        return line_text([*pairs, self._field_law(field, members, kinds)])

    def _field_law(self, field: MatrixField, members: list[Element], kinds: list[ElementKind]) -> tuple[str, str]:
        if field.energy is not None:
            return "energy", quoted(to_text(field.energy))
        if field.letters:
            return "law", list_text(quoted(member.law.text) for member in members if member.law is not None)
        dimension = entry_dimension if field.stiffness is None else stiffness_dimension
        rows = [
            list_text(self.units.text(entry, dimension(one, two)) for two, entry in zip(kinds, row, strict=True))
            for one, row in zip(kinds, field.stiffness or field.matrix, strict=True)
        ]
        return "matrix", "[" + ", ".join(rows) + "]"


def _variable(element: Element, side: Side) -> str:
    """The name of a power variable: what the element chose, or what it is called without a choice."""
    return element.variables.get(side) or named_after(element.kind.domain.power(side).symbol, element.name)


def _word(element: Element, form: Form, side: str) -> str:
    """The word of the domain for a variable; `across_1` where both sides of a coupling have one."""
    domain = element.kind.domain
    if side == "energy":
        return domain.energy(element.kind.side).word
    if element.kind.role != "coupling":
        return domain.power("across" if side == "across" else "through").word
    name, _, port = side.partition("_")
    of_port = DOMAINS[element.kind.domains[int(port) - 1]]
    variable: Variable = of_port.across if name == "across" else of_port.through
    return variable.word if form.keys.get(variable.word) == ("variable", side) else side


def _causality(element: Element) -> str:
    side = element.prefer or element.kind.side
    word: str = side
    if element.kind.role == "storage":
        word = "integral" if side == element.kind.side else "derivative"
    return f"force {word}" if element.forced else word


def _law_key(law: Law) -> str:
    return law.form if law.form in ("energy", "coenergy") else "law"


def law_text(law: Law, element: Element) -> str:
    """The law as its user wrote it, if that still is the law; else from its expression."""
    written = law.text.partition("=")[2] if _law_key(law) == "law" else law.text
    try:
        if without_marks(parse_marked(written, None)) is law.expression:
            return law.text
    except TellegenError:
        pass
    if _law_key(law) != "law":
        return to_text(law.expression)
    domain = element.kind.domain
    left = domain.energy(element.kind.side) if law.form == "content" else domain.power(law.gives)
    return f"{left.letters[0]} = {to_text(law.expression)}"
