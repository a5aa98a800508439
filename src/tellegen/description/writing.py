"""A model as a file that a person would have written: one line per element, values with units."""

import json
import re
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal, Inexact
from fractions import Fraction
from types import MappingProxyType

from tellegen.core.domains import DOMAINS, Variable
from tellegen.core.errors import TellegenError
from tellegen.core.names import is_name, named_after
from tellegen.core.units import DIMENSIONLESS, Dimension, parse_unit
from tellegen.description.closures import closure_texts, closures_of
from tellegen.description.curves import curve_keys
from tellegen.description.dimensions import (
    UNKNOWN,
    DimensionError,
    Measure,
    Open,
    measure_of,
    needs_number,
    si_unit,
    without_marks,
)
from tellegen.description.fields import entry_dimension
from tellegen.description.keys import CONNECTION, Form, form_of, make_form, port_dimension
from tellegen.description.law_tables import table_text
from tellegen.description.model import (
    Element,
    Experiment,
    Law,
    MatrixField,
    Model,
    Multiport,
    Parameter,
    SignalDefinition,
    Switching,
)
from tellegen.description.parts.writing import KeptParts, kept_parts, part_keys, port_texts
from tellegen.description.quantities import parse_marked
from tellegen.description.signals.blocks import FORMULA
from tellegen.description.signals.writing import Text, formula_text, readable, signal_keys
from tellegen.description.stiffness import stiff_kind, stiffness_dimension
from tellegen.description.variables import state_variables
from tellegen.elements import START, ElementKind, schedule_key
from tellegen.expressions import (
    ONE,
    ZERO,
    Add,
    Call,
    Expression,
    Number,
    Symbol,
    number,
    postorder,
    rebuild,
    symbol,
    to_text,
    total,
)

NOTHING: Mapping[str, str] = {}

WIDEST = 24
"""Names are padded to the longest, but not beyond this."""


def to_yaml(model: Model) -> str:
    """The text of a file that `read_model` turns into the same model (comments and places aside)."""
    writer = _Writer(model, kept_parts(model))
    structure = [writer.parts(), writer.network()]
    described = structure if writer.kept.first else structure[::-1]
    begin = [writer.head(), writer.ports(), writer.parameters(), writer.displacements()]
    end = [writer.closures(), writer.signals(), writer.experiment(), writer.layout()]
    return "\n".join(text for text in [*begin, *described, *end] if text)


def file_around(model: Model, notation: str, details: str, further: Mapping[str, str] = NOTHING) -> str:
    """The text of a file whose elements stand in another notation than the network: all else is as `to_yaml` writes it.

    `further` are texts of parameters that the notation needs besides those of the model.
    """
    writer = _Writer(model)
    writer.inline, writer.implied = set(), set()
    parts = [
        writer.head(),
        writer.ports(),
        writer.parameters(further),
        writer.displacements(),
        writer.signals(),
        notation,
        details,
    ]
    return "\n".join(part for part in (*parts, writer.experiment()) if part)


def mode_settings(model: Model) -> dict[str, dict[str, str]]:
    """What the elements with modes need, beside their nodes: their kind, settings, schedules and first modes."""
    writer = _Writer(model)
    return {
        e.name: {"kind": e.kind.name, **dict(writer.modes(e, e.switching))}
        for e in model.elements
        if e.switching is not None
    }


# Texts

_PLAIN = re.compile(
    r"[A-Za-z0-9_(.+/°µμΩΩ-][^\x00-\x1f\x7f-\x9f,\[\]{}#&*!|>'\"%@`:]*(?:[*%][^\x00-\x1f\x7f-\x9f,\[\]{}#&!|>'\"@`:]*)*"
)


def quoted(text: str) -> str:
    """The text as YAML reads it back, inside brackets or outside: plain where that is safe, else in double quotes."""
    if _PLAIN.fullmatch(text) and text == text.strip() and not text.startswith(("- ", "-", ".")) and text != "...":
        return text
    if re.fullmatch(r"-[0-9.][0-9A-Za-z.*/^() +-]*", text) and text == text.strip():
        return text  # a negative quantity
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\x7f")


def sentence(text: str) -> str:
    """A text on a line of its own, where commas and apostrophes do no harm."""
    safe = re.fullmatch(r"[A-Za-z0-9(](?:[^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff:#]|:(?=\S))*", text)
    return text if safe and text == text.strip() else quoted(text)


def decimal_text(value: int | Fraction) -> str | None:
    """The number as a decimal that is exactly it, or None where there is none of a reasonable length."""
    fraction = Fraction(value)
    try:
        exact = Context(prec=40, traps=[Inexact]).divide(Decimal(fraction.numerator), Decimal(fraction.denominator))
    except Inexact:
        return None
    digits = exact.normalize(Context(prec=40))
    exponent = digits.adjusted()
    if -4 <= exponent < 7:
        return f"{digits:f}"
    return f"{digits:e}".replace("e+", "e")


def number_text(value: int | Fraction, unit: str) -> str:
    """A number with a unit; `1 ohm/3` where no decimal is exact."""
    decimal = decimal_text(value)
    if decimal is not None:
        return f"{decimal} {unit}" if unit else decimal
    fraction = Fraction(value)
    if not unit:
        return f"{fraction.numerator}/{fraction.denominator}"
    return f"{fraction.numerator} {unit}/{fraction.denominator}"


class UnitTexts:
    """Expressions as texts whose units agree: `3*d` that was `3 N * d` becomes `3*(1 N)*d`."""

    def __init__(
        self,
        parameters: Mapping[str, Parameter],
        variables: Mapping[str, Dimension],
        signals: Mapping[str, SignalDefinition] = MappingProxyType({}),
    ) -> None:
        self.parameters = parameters
        self.variables = variables
        self.formulas = {n: p.expression for n, p in parameters.items() if p.dimension is None}
        self.formulas |= {n: _own_formula(s) for n, s in signals.items() if s.dimension is None}
        self.used: list[str] = []
        self._measures: dict[str, Measure] = {}

    def text(self, expression: Expression, wanted: Dimension | None, unit: str = "", *, keep: bool = False) -> str:
        """The text of an expression; `keep` means that its dimension must follow from the text alone."""
        if isinstance(expression, Number):
            return self._number(expression, wanted, unit)
        if wanted is not None:
            expression = self.annotated(expression, wanted, keep)
        elif self.measure(expression) is None:  # terms that do not agree: lengths that were numbers
            expression = self.mended(expression)
        return re.sub(r"\?([0-9]+)", lambda match: f"(1 {self.used[int(match[1])]})", to_text(expression))

    def _number(self, expression: Number, wanted: Dimension | None, unit: str) -> str:
        if wanted is None:
            return number_text(expression.rational, "")
        words = unit or si_unit(wanted)
        try:
            found = parse_unit(words)
        except TellegenError:
            return number_text(expression.rational, "")
        shown = number_text((expression.rational - found.offset) / found.factor, words)
        if found.dimension == wanted and "/" not in shown.replace(words, ""):
            return shown
        return number_text(expression.rational, si_unit(wanted))

    def measure(self, expression: Expression) -> Measure | None:
        """The dimension as a reader would find it, or None where terms do not agree."""
        try:
            return measure_of(expression, self._known)
        except DimensionError:
            return None

    def _known(self, name: str) -> Measure:
        if name.startswith("?"):
            return parse_unit(self.used[int(name[1:])]).dimension
        if name in self.formulas:
            return self._found(name)
        parameter = self.parameters.get(name)
        known = self.variables.get(name) if parameter is None else parameter.dimension
        return UNKNOWN if known is None else known

    def _found(self, name: str) -> Measure:
        """What a reader finds for a name whose unit nobody said: that of its formula as it is written."""
        if name not in self._measures:
            self._measures[name] = UNKNOWN  # of a name that its own formula reads
            formula = self.formulas[name]
            if formula is not None:
                self._measures[name] = self.measure(formula) or self.measure(self.mended(formula)) or UNKNOWN
        return self._measures[name]

    def annotated(self, expression: Expression, wanted: Dimension, keep: bool) -> Expression:
        """The expression times units where a reader would otherwise find another dimension."""
        found = self.measure(expression)
        if found == wanted or found is UNKNOWN or (isinstance(found, Open) and not keep):
            return expression
        if isinstance(expression, Add):
            terms = [self.annotated(number(c) * term, wanted, False) for term, c in expression.terms]
            return total([*terms, number(expression.constant)])
        if found is None:
            expression = self.mended(expression)
            found = self.measure(expression)
        if found is None or found == wanted or found is UNKNOWN:
            return expression
        return expression * self.unit(wanted if isinstance(found, Open) else wanted.over(found))

    def mended(self, expression: Expression) -> Expression:
        """The expression with numbers as arguments of functions, and with sums of like terms inside products."""
        new: dict[Expression, Expression] = {}
        for node in postorder(expression):
            args = [new[arg] for arg in node.args]
            if isinstance(node, Call) and needs_number(node.name):
                args = [self.annotated(arg, DIMENSIONLESS, False) for arg in args]
            made = rebuild(node, tuple(args)) if args else node
            if isinstance(made, Add) and self.measure(made) is None:
                first = next(m for term, _ in made.terms if isinstance(m := self.measure(term), tuple))
                made = self.annotated(made, first, False)
            new[node] = made
        return new[expression]

    def unit(self, dimension: Dimension) -> Expression:
        """A symbol that stands for one of a unit until the text is written."""
        words = si_unit(dimension)
        if "^(" in words:  # no file can say a root of a unit
            return number(1)
        self.used.append(words)
        return symbol(f"?{len(self.used) - 1}")


def _own_formula(definition: SignalDefinition) -> Expression | None:
    """The formula of a signal that is nothing else."""
    formula = definition.settings.get(FORMULA) if definition.block == FORMULA else None
    return formula if isinstance(formula, Expression) else None


class _Writer:
    """Writes the sections of one model; what `kept` parts bring along stands in their files."""

    def __init__(self, model: Model, kept: KeptParts = KeptParts()) -> None:  # noqa: B008  # a value that never changes
        self.model = model
        self.kept = kept
        variables = {**state_variables(model.elements), **readable(model)}
        self.units = UnitTexts(model.parameters, variables, model.signals)
        self.inline = {e.name for e in model.elements if self._is_inline(e)}
        self.implied = {e.name for e in model.elements if self._is_implied(e)}
        self.implied |= {name for e in model.elements for name in self._implied_settings(e)}

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

    def head(self) -> str:
        about = f"about: {sentence(self.model.about)}\n" if self.model.about else ""
        return f"system: {sentence(self.model.name)}\n{about}"

    def parameters(self, further: Mapping[str, str] = NOTHING) -> str:
        hidden = {*self.inline, *self.implied, *self.kept.names}
        shown = {n: p for n, p in self.model.parameters.items() if n not in hidden}
        lines = [f"  {quoted(name)}: {self.parameter(p)}".rstrip() for name, p in shown.items()]
        lines += [f"  {quoted(name)}: {quoted(text)}" for name, text in further.items()]
        return "parameters:\n" + "\n".join(lines) + "\n" if lines else ""

    def parameter(self, parameter: Parameter) -> str:
        if keys := curve_keys(parameter, self._part_text):
            return _tree(keys)
        if parameter.expression is None:
            return ""
        return quoted(self.units.text(parameter.expression, parameter.dimension, parameter.unit, keep=True))

    def displacements(self) -> str:
        shown = {name: rate for name, rate in self.model.displacements.items() if name not in self.kept.names}
        rates = {name: to_text(rate) for name, rate in shown.items()}
        return f"displacements: {_mapping(rates)}\n" if rates else ""

    def closures(self) -> str:
        inside = {closure.name for closure in closures_of(self.kept.parts)}
        own = [closure for closure in self.model.closures if closure.name not in inside]
        return f"closures: {_tree(closure_texts(own))}\n" if own else ""

    # Hierarchy

    def ports(self) -> str:
        ports, signals = self.model.ports, self.model.signal_ports
        text = f"ports: {_tree(port_texts(ports))}\n" if ports else ""
        named = {"inputs": list(signals.inputs), "outputs": list(signals.outputs)}
        offered = {key: names for key, names in named.items() if names}
        return text + (f"signal ports: {_tree(offered)}\n" if offered else "")

    def parts(self) -> str:
        lines = [f"  {quoted(part.name)}: {_tree(part_keys(part, self._part_text))}\n" for part in self.kept.parts]
        return "parts:\n" + "".join(lines) if lines else ""

    def _part_text(self, expression: Expression, written: str, dimension: Dimension | None, unit: str) -> str:
        names = frozenset(self.model.signals)
        return formula_text(expression, written, names, lambda e: self.units.text(e, dimension, unit, keep=True))

    # Elements

    def network(self) -> str:
        written = [(quoted(name), line) for name, line in self.lines()]
        width = min(max([len(name) for name, _ in written], default=0), WIDEST) + 1
        lines = [f"  {name + ':':<{width}} {line}" for name, line in written]
        if not lines and self.kept.parts:
            return ""
        return "network:\n" + "\n".join(lines) + "\n" if lines else "network: {}\n"

    def lines(self) -> Iterable[tuple[str, str]]:
        """Names and lines of the elements; a field has one line, in the place of its first member."""
        first = {field.members[0]: field for field in self.model.fields}
        others = {member for field in self.model.fields for member in field.members[1:]}
        for element in self.model.elements:
            if element.name in self.kept.names:
                continue
            if element.name in first:
                yield first[element.name].name, self.field(first[element.name])
            elif element.name not in others:
                yield element.name, self.line(element)

    def field(self, field: MatrixField) -> str:
        by_name = {element.name: element for element in self.model.elements if element.name in field.members}
        members = [by_name[name] for name in field.members]
        kinds = [member.kind if field.stiffness is None else stiff_kind(member.kind) for member in members]
        mixed = len({kind.name for kind in kinds}) > 1
        pairs = [("field" if mixed else f"{kinds[0].name} field", _list(n for member in members for n in member.nodes))]
        pairs += [("kinds", _list(kind.name for kind in kinds))] if mixed else []
        for side in ("across", "through"):
            if all(side in member.variables for member in members):
                word = side if mixed else _word(members[0], make_form(kinds[0]), side)
                pairs.append((word, _list(member.variables[side] for member in members)))
        starts = [(member.initial, make_form(member.kind).initial) for member in members if member.initial is not None]
        if starts:
            pairs.append(("initial", _list(self.units.text(start, unit) for start, unit in starts)))
        return _line([*pairs, self.field_law(field, members, kinds)])

    def _contents_of_fields(self) -> dict[str, str]:
        """What members of fields store, by the names that they have and the names that a reader gives them."""
        elements = {element.name: element for element in self.model.elements}
        found = {}
        for field in self.model.fields:
            for k, member in enumerate(field.members, start=1):
                element = elements[member]
                letter = element.kind.domain.energy(element.kind.side).symbol
                own = element.variables.get("energy") or named_after(letter, member)
                found[own] = named_after(letter, f"{field.name}[{k}]")
        return found

    def field_law(self, field: MatrixField, members: list[Element], kinds: list[ElementKind]) -> tuple[str, str]:
        if field.energy is not None:
            return "energy", quoted(to_text(field.energy))
        if field.letters:
            return "law", _list(quoted(member.law.text) for member in members if member.law is not None)
        dimension = entry_dimension if field.stiffness is None else stiffness_dimension
        rows = [
            _list(self.units.text(entry, dimension(one, two)) for two, entry in zip(kinds, row, strict=True))
            for one, row in zip(kinds, field.stiffness or field.matrix, strict=True)
        ]
        return "matrix", "[" + ", ".join(rows) + "]"

    def multiport(self, element: Element, relation: Multiport) -> str:
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
        return _line([("multiport", _list(element.nodes)), ("domains", _list(domains)), ("relation", _list(texts))])

    def line(self, element: Element) -> str:
        kind = element.kind
        if element.multiport is not None:
            return self.multiport(element, element.multiport)
        form = form_of(kind.name) or make_form(kind)
        nodes = element.nodes[:1] if kind.grounded and element.nodes[1] == kind.domain.reference else element.nodes
        pairs = [(kind.name, _list(nodes))]
        pairs += self.relation(element) if kind.name == CONNECTION else self.value(element, form)
        pairs += self.modes(element, element.switching) if element.switching is not None else []
        pairs += self.driver(element, form)
        pairs += [self.law(element.law, element)] if element.law else []
        pairs += [(_word(element, form, side), quoted(name)) for side, name in element.variables.items()]
        if element.initial is not None:
            pairs.append(("initial", quoted(self.units.text(element.initial, form.initial))))
        if element.prefer is not None:
            pairs.append(("causality", _causality(element)))
        if element.notes:
            pairs.append(("notes", _mapping(element.notes)))
        return _line(pairs)

    def law(self, law: Law, element: Element) -> tuple[str, str]:
        """A law as a formula, or by its points."""
        if law.table is None:
            return _law_key(law), quoted(law_text(law, element))
        return "law", table_text(law, element.kind)

    def value(self, element: Element, form: Form) -> list[tuple[str, str]]:
        if element.value is None or element.kind.quantity is None:
            return []
        key = element.kind.quantity.key
        own = self._own(element)
        if element.value is ZERO and element.kind.role == "resistive":  # a number would become a parameter
            return [("law", f"{element.kind.domain.power(element.kind.side).letters[0]} = 0")]
        if own is None:
            return [(key, quoted(self.units.text(element.value, form.dimension)))]
        return [(key, self.parameter(own))] if element.name in self.inline else []

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
            pairs.append((schedule_key(element.kind), _list(times)))
        return pairs + ([(START, switching.start)] if switching.start else [])

    def relation(self, element: Element) -> list[tuple[str, str]]:
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
        return [("domains", _list(kind.domains)), ("relation", quoted(relation))]

    # Signals

    def driver(self, element: Element, form: Form) -> list[tuple[str, str]]:
        """What drives a source."""
        course = element.signal
        if course is None:
            return []
        names = frozenset(self.model.signals)
        text = formula_text(course, element.signal_text, names, lambda e: self.units.text(e, form.initial))
        return [("signal", quoted(text))]

    def signals(self) -> str:
        shown = {name: s for name, s in self.model.signals.items() if name not in self.kept.names}
        written = [(quoted(name), self.signal(definition)) for name, definition in shown.items()]
        width = min(max([len(name) for name, _ in written], default=0), WIDEST) + 1
        return "signals:\n" + "".join(f"  {name + ':':<{width}} {line}\n" for name, line in written) if written else ""

    def signal(self, definition: SignalDefinition) -> str:
        keys = list(signal_keys(definition, self.units.text, frozenset(self.model.signals)))
        if definition.block == FORMULA:
            return quoted(str(keys[0][1]))
        return _line([(key, _nested(text)) for key, text in keys])

    def layout(self) -> str:
        """Where items stand in figures, a line each."""
        lines: list[str] = []
        for notation, places in self.model.layout.items():
            lines += [f"  {notation}:", *(f"    {quoted(name)}: [{x:g}, {y:g}]" for name, (x, y) in places.items())]
        return "\n".join(["layout:", *lines, ""]) if lines else ""

    # The experiment

    def experiment(self) -> str:
        experiment = self.model.experiment
        if experiment == Experiment():
            return ""
        lines = []
        if experiment.until is not None:
            lines.append(f"until: {quoted(self.units.text(experiment.until, Dimension(s=1)))}")
        if experiment.inputs:
            lines.append(f"inputs: {_mapping({name: signal.text for name, signal in experiment.inputs.items()})}")
        if experiment.initial:
            known = state_variables(self.model.elements)
            here = self._contents_of_fields()
            starts = experiment.initial.items()
            texts = {here.get(name, name): self.units.text(value, known.get(name)) for name, value in starts}
            lines.append(f"initial: {_mapping(texts)}")
        if experiment.outputs:
            lines.append(f"outputs: {_list(experiment.outputs)}")
        if experiment.units:
            lines.append(f"units: {_mapping(experiment.units)}")
        lines += [f"{key}: {value!r}" for key in ("rtol", "atol") if (value := getattr(experiment, key)) is not None]
        return "experiment:\n" + "".join(f"  {line}\n" for line in lines)


def _list(texts: Iterable[str]) -> str:
    return "[" + ", ".join(map(quoted, texts)) + "]"


def _nested(text: Text) -> str:
    if isinstance(text, str):
        return quoted(text)
    return "[" + ", ".join(quoted(entry) if isinstance(entry, str) else _list(entry) for entry in text) + "]"


def _line(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key}: {value}" for key, value in pairs) + "}"


def _tree(value: object) -> str:
    """Texts, lists and mappings of texts in braces and brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{quoted(str(key))}: {_tree(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_tree, value)) + "]"
    return quoted(str(value))


def _mapping(texts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{quoted(key)}: {quoted(value)}" for key, value in texts.items()) + "}"


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
