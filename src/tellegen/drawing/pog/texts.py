"""What stands in the blocks of a POG figure: names of variables, gains, laws, values, and the equations of a legend.

Variables of elements and of two-ports keep their names, energy variables take the subscript of their element. What runs on
between two elements of a junction has no name of its own in the model; it gets the letter of its domain and a number: V_1.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import final

from tellegen.core.domains import DOMAINS, Side, other_side
from tellegen.drawing import formulas
from tellegen.drawing.formulas import figure_latex
from tellegen.drawing.options import Options
from tellegen.drawing.pog.placement import text_size, width_of
from tellegen.drawing.pog.plan import BoxPlan
from tellegen.expressions import ONE, ZERO, Expression, Number, Symbol, is_zero, postorder, symbol, to_latex
from tellegen.graph.power_graph import ARGUMENT, ResistiveLaw, StorageLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.graph.signals import Value
from tellegen.results.units import ratio_unit
from tellegen.scenes.lettering import name_latex, number_latex, unit_latex
from tellegen.schemes.gains import OUTLINE, is_outlined
from tellegen.schemes.pog_scheme import Matrix, PogScheme, SchemeBlock


@final
class PogNames:
    """The names of one scheme in LaTeX."""

    def __init__(self, scheme: PogScheme) -> None:
        graph = scheme.causal.graph
        bonds = () if scheme.bond_graph is None else scheme.bond_graph.bonds
        joined = {name for bond in bonds for name in (bond.effort, bond.flow)}
        own = {name for port in graph.ports for name in (port.across, port.through)}
        self._shown = {} if scheme.bond_graph is None else formulas.short_names(scheme.bond_graph)
        self._numbered_names = frozenset(self._shown)
        self._asked: dict[str, None] = {}
        self._called: dict[str, str] = {}
        self._energies = formulas.energy_names(scheme.elements.values(), graph)
        named = {law.name for law in graph.signals if isinstance(law, Value) and law.named}
        # A new name must be none of a variable, a parameter or a signal, shown or not: the legend may have it.
        self._taken = {*joined, *taken_names(graph), *scheme.signals(), *self._shown.values()}
        for section in scheme.sections.values():
            # Sections between two elements of a junction have variables that no element has; readers need a name to talk of them.
            for name in (section.across, section.through):
                if name not in own | joined | named and name not in self._shown:
                    side: Side = "across" if name == section.across else "through"
                    self._shown[name] = self._numbered(DOMAINS[section.domain].power(side).symbol)

    def explained(self) -> dict[str, str]:
        """The numbered names that a figure has asked for, and those that they stand for."""
        return formulas.explained_names(
            {name: self._shown[name] for name in self._asked if name in self._numbered_names}
        )

    def variable(self, name: str) -> str:
        """A variable of a section."""
        self._asked[name] = None
        return name_latex(self.shown(name))

    def shown(self, name: str) -> str:
        """The name by which the figure calls a variable."""
        return self._shown.get(name, name)

    def energy(self, block: SchemeBlock) -> str:
        """The energy variable of a storage; empty where the block has none."""
        return name_latex(self._energies.get(block.element, block.energy)) if block.energy else ""

    def call(self, name: str, shown: str) -> None:
        """Say how a variable is written in formulas."""
        self._called[name] = shown

    def formula(self, expression: Expression) -> str:
        """A formula with names as they stand in the figure."""
        return to_latex(expression, lambda name: self._called.get(name) or self.variable(name))

    def fresh(self, symbol: str) -> str:
        """A variable that no section has: the letter with the next number."""
        return name_latex(self._numbered(symbol))

    def _numbered(self, symbol: str) -> str:
        # Neither V_1 nor V1: both are set alike, and readers would take one for the other.
        number = 1
        while f"{symbol}_{number}" in self._taken or f"{symbol}{number}" in self._taken:
            number += 1
        self._taken.add(f"{symbol}_{number}")
        return f"{symbol}_{number}"


def _letter_latex(letter: str, element: str) -> str:
    """A letter with an element as its subscript: a law, a gain, a matrix."""
    return name_latex(f"{letter}_{element.replace('.', '_')}")


WIDEST = 110.0
"""A text that is wider than this gets a letter, and an equation in the legend."""
LONGEST, LONGEST_MATRIX = 45, 160
"""The terms and factors of an equation that a legend shows; nested fractions take long to set, and longer to read."""
MOST_ENTRIES = 24
"""Nobody reads more rows or columns under a figure, and setting them takes long."""
DERIVATIVE = "s"
INTEGRATOR = r"\frac{1}{s}"


@final
class PogTexts:
    """Texts of one scheme; `legend` collects the equations that explain them."""

    def __init__(self, scheme: PogScheme, options: Options) -> None:
        self.scheme = scheme
        self.options = options
        self.names = PogNames(scheme)
        self.legend: dict[str, str] = {}
        self.left_out: dict[str, None] = {}
        graph = scheme.causal.graph
        self._values = formulas.ParameterValues(graph)
        self._arguments = {name: self._read_by(graph.position_dependent[name]) for name in graph.position_dependent}
        self._switching = {graph.ports[k].element for k in graph.switching}

    def read_by_all(self, expressions: Iterable[Expression]) -> tuple[str, ...]:
        """What moves in some expressions, each name once."""
        return tuple(dict.fromkeys(name for e in expressions for name in self._read_by(e)))

    def called(self, letter: str, matrix: Matrix) -> str:
        """The letter of a matrix with what it depends on."""
        return with_arguments(letter, self.read_by_all(entry for row in matrix for entry in row))

    def explain(self, letter: str, expression: Expression) -> None:
        """An equation of the legend; one that is too long for a figure is left out and counted."""
        if is_too_long(expression):
            self.left_out[letter] = None
        else:
            self.legend.setdefault(letter, self.names.formula(expression))

    def explain_matrix(self, letter: str, matrix: Matrix) -> None:
        """A matrix in the legend, unless it is too long."""
        if is_too_large(matrix, [entry for row in matrix for entry in row], LONGEST_MATRIX):
            self.left_out[letter] = None
        else:
            self.legend.setdefault(letter, matrix_latex(matrix, self.entry))

    def entry(self, expression: Expression) -> str:
        """An entry of a matrix: its formula, or its value where values are asked for."""
        return self.number(expression) or figure_latex(expression)

    def explain_varying(self, expressions: Iterable[Expression]) -> None:
        """Equations for the moving parameters that occur in some expressions."""
        for name in dict.fromkeys(name for e in expressions for name in sorted(e.free_symbols)):
            if name in self._arguments and self._call(name) not in self.legend:
                self.explain(name_latex(name), self.scheme.causal.graph.position_dependent[name])

    def _read_by(self, expression: Expression) -> tuple[str, ...]:
        """The displacements, states and signals that a moving parameter reads."""
        found = formulas.signals_read_by(self.scheme.causal.graph, expression)
        return tuple(name for name in found if not name.startswith(OUTLINE))

    # -- boxes -----------------------------------------------------------------------------------------------------------------

    def boxes(self, block: SchemeBlock) -> tuple[BoxPlan, ...]:
        """The boxes of an elaboration block in the order of the signal."""
        # A storage integrates what comes to it and then asks its law; a derivative block goes the same way backwards.
        gain = self.gain_box(block)
        if block.kind == "storage":
            return BoxPlan("integrator", INTEGRATOR), gain
        if block.kind == "derivative":
            return gain, BoxPlan("derivative", DERIVATIVE)
        return (gain,)

    def gain_box(self, block: SchemeBlock) -> BoxPlan:
        """The box with the gain or the law of a block."""
        if block.field:
            return self._row(block)
        # A switch has one resistance closed and another one open: its letter stands for both.
        item = self.scheme.elements.get(block.element)
        if item is not None and item.port.element in self._switching:
            return BoxPlan("gain", name_latex(block.element))
        if block.gain is None:
            return BoxPlan("gain", self._law(block))
        # What is told by several ports has more inputs than one.
        matrix = None if block.terms else ((block.gain,),)
        return BoxPlan("gain", self._gain(block, block.gain), value=self._value(block, block.gain), matrix=matrix)

    def transposed(self, box: BoxPlan) -> BoxPlan:
        """The box on the other line of a scalar connection; its value is written once."""
        return BoxPlan("transposed", box.text, box.side, matrix=box.matrix)

    # -- gains -----------------------------------------------------------------------------------------------------------------

    def _gain(self, block: SchemeBlock, gain: Expression) -> str:
        if number := self.number(gain):
            return number
        # Too long a formula is not even set: that alone takes long.
        text = "" if is_too_long(gain) else self.expression(gain)
        if text and width_of(text, text_size(text)) <= WIDEST:
            return text
        return self._named(("K" if block.kind == "connection" else "g", block.element), gain)

    def expression(self, gain: Expression) -> str:
        """A formula; a moving parameter has its arguments."""
        return self._moving(gain) or self.names.formula(gain)

    def _moving(self, gain: Expression) -> str | None:
        """A moving parameter with its arguments; None where the gain is anything else."""
        if gain is ZERO:
            return None
        # It may stand as it is, with a minus, or below a fraction bar: in all of them its arguments are shown.
        for form, text in (
            (gain, "{}"),
            (-gain, "-{}"),
            (ONE / gain, r"\frac{{1}}{{{}}}"),
            (-ONE / gain, r"-\frac{{1}}{{{}}}"),
        ):
            if isinstance(form, Symbol) and form.name in self._arguments:
                return text.format(self._called(form.name))
        return None

    def _called(self, name: str) -> str:
        call = self._call(name)
        self.explain(call, self.scheme.causal.graph.position_dependent[name])
        return call

    def _call(self, name: str) -> str:
        """A moving parameter with its arguments."""
        return with_arguments(name_latex(name), self._arguments[name])

    def _named(self, name: tuple[str, str], expression: Expression) -> str:
        letter, element = name
        text = _letter_latex(letter, element)
        call = with_arguments(text, self._read_by(expression))
        self.explain(call, expression)
        return call

    # -- laws ------------------------------------------------------------------------------------------------------------------

    def _law(self, block: SchemeBlock) -> str:
        """A law that is not linear, as a function with an equation in the legend."""
        law = block.law
        if isinstance(law, StorageLaw):
            if law.output is not None:
                letter = _letter_latex("h", block.element)
                self._explain(letter, law.output, block.energy, self.names.energy(block))
                return rf"{letter}(\cdot)"
            letter = _letter_latex("Phi", block.element)
            if law.content is not None:
                self._explain(letter, law.content, block.output)
            # The law gives momentum or charge from flow or effort; behind an integrator it is asked the other way.
            return rf"{letter}^{{-1}}(\cdot)" if block.kind == "storage" else rf"{letter}(\cdot)"
        letter = _letter_latex("f", block.element)
        if isinstance(law, ResistiveLaw) and law.expression is not None and law.potential is not None:
            # A weight reads where it is, and not the velocity that comes in.
            self.explain(with_arguments(letter, self._read_by(law.expression)), law.expression)
            return rf"{letter}(\cdot)"
        if isinstance(law, ResistiveLaw) and law.expression is not None:
            item = self.scheme.elements[block.element]
            direct = item.decides == law.side
            self._explain(letter, law.expression, block.input if direct else block.output)
            return rf"{letter}(\cdot)" if direct else rf"{letter}^{{-1}}(\cdot)"
        return rf"{letter}(\cdot)"

    def _explain(self, letter: str, law: Expression, argument: str, shown: str = "") -> None:
        of = symbol(argument)
        called = shown or self.names.variable(argument)
        self.names.call(argument, called)
        self.explain(f"{letter}({called})", law.substitute({ARGUMENT: of}))

    def _row(self, block: SchemeBlock) -> BoxPlan:
        """A port of a field: a row of its matrix or its own law, with what the other ports bring as further inputs."""
        graph = self.scheme.causal.graph
        field = next(f for f in graph.fields if f.element == block.field)
        members = [b for b in self.scheme.blocks.values() if b.field == block.field and b.name != block.name]
        if field.energy is not None or field.by_laws:
            return self._law_of_port(block, members)
        elements = [graph.ports[k].element for k in field.ports]
        own = elements.index(self.scheme.elements[block.element].port.element)
        letter = _letter_latex("M", block.field).replace("M", bold("M"), 1)
        self.explain_matrix(letter, field.matrix)
        if isinstance(block.law, StorageLaw):
            others = [self.names.energy(b) for b in members]
            return BoxPlan("gain", rf"\left({letter}^{{-1}}\right)_{{{own + 1}}}", side=",\\,".join(others))
        told = [self.names.variable(name) for name, _ in block.terms]
        return BoxPlan("gain", rf"\left({letter}\right)_{{{own + 1}}}", side=",\\,".join(told))

    def _law_of_port(self, block: SchemeBlock, members: Sequence[SchemeBlock]) -> BoxPlan:
        """A port of a field that has a law for each port: a function of what all of them are told, with its equation."""
        storage = isinstance(block.law, StorageLaw)
        law = block.law.output if isinstance(block.law, StorageLaw) else None
        if isinstance(block.law, ResistiveLaw):
            law = block.law.expression
        letter = _letter_latex("h" if storage else "f", block.element)
        assert law is not None, "such a field has a law for each port"
        called = {
            self._told(b): self.names.energy(b) if storage else self.names.variable(b.input) for b in (block, *members)
        }
        read = [name for name in called if name == self._told(block) or name in law.free_symbols]
        for name in read:
            self.names.call(name, called[name])
        own, others = read[0], [called[name] for name in read[1:]]
        shown = rf"{letter}({','.join([called[own], *others])})"
        self.explain(shown, law.substitute({ARGUMENT: symbol(own)}))
        return BoxPlan("gain", rf"{letter}(\cdot)", side=",\\,".join(others))

    def _told(self, block: SchemeBlock) -> str:
        """The name under which the laws of a field read what a port is told: its state, or its power variable."""
        if block.energy:
            return block.energy
        port = self.scheme.elements[block.element].port
        assert isinstance(port.law, ResistiveLaw), "a field without states resists"
        return port.variable(other_side(port.law.side))

    # -- values ----------------------------------------------------------------------------------------------------------------

    def _value(self, block: SchemeBlock, gain: Expression) -> str:
        """What is written beside a gain: the value of its parameter, or its own, with the unit."""
        if self.options.labels != "both" or isinstance(gain, Number):
            return ""
        # The gain may be the reciprocal of a parameter: 1/L_a is explained by the value of L_a, which people know.
        told, given = block.output_unit, block.energy_unit or block.input_unit
        for form, units in ((gain, (told, given)), (ONE / gain, (given, told))):
            if isinstance(form, Symbol) and form.name in self._values.numbers:
                return f"{name_latex(form.name)} = {self._values.latex(form, _gain_unit(block, *units))}"
        # Where the gain has one parameter its value says more than that of the gain, which one can work out.
        names = [name for name in gain.free_symbols if name in self._values.numbers]
        if len(names) == 1 and len(gain.free_symbols) == 1:
            return f"{name_latex(names[0])} = {number_latex(self._values.numbers[names[0]])}"
        number = self._number(gain)
        unit = _gain_unit(block, told, given)
        return "" if number is None else rf"= {number}\,{unit_latex(unit)}" if unit else f"= {number}"

    def number(self, gain: Expression) -> str:
        """The value of a formula where values stand instead of symbols; empty where they do not, or it has none."""
        return (self._number(gain) or "") if self.options.labels == "values" else ""

    def _number(self, gain: Expression) -> str | None:
        value = self._values.value(gain)
        return None if value is None else number_latex(value)


def _gain_unit(block: SchemeBlock, above: str, below: str) -> str:
    """The unit of a gain; that of an electric machine tells both its sides: N*m/A, not Wb."""
    if not above or not below:
        return ""
    # In SI the torque constant of a motor has the unit of a flux; nobody in a workshop knows it by that.
    electric = block.kind == "connection" and not {"A", "V"}.isdisjoint((above, below))
    unit = ratio_unit(above, below).replace("/(rad/s)", "*s/rad") if electric else formulas.unit_ratio(above, below)
    return "" if unit == "1" else unit


def formula_size(expression: Expression) -> int:
    """How many names, numbers and operations a formula shows when it is written out."""
    found: dict[Expression, int] = {}
    # Equal parts of an expression are one object, so each is counted once and added wherever it is written.
    for node in postorder(expression):
        found[node] = 1 + sum(found[arg] for arg in node.args)
    return found[expression]


def is_too_long(expression: Expression) -> bool:
    """Whether a formula is better left to the equations of the model."""
    return is_outlined(expression) or formula_size(expression) > LONGEST


def is_too_large(matrix: Matrix, entries: Sequence[Expression], longest: int) -> bool:
    """Whether a matrix is better left to the equations of the model, for its rows, for one entry or for all that count."""
    wide = max(len(matrix), len(matrix[0]) if matrix else 0) > MOST_ENTRIES
    return wide or any(map(is_too_long, entries)) or sum(map(formula_size, entries)) > longest


_TRANSPOSED, _INVERSE, _BOTH = r"\mathrm{T}", "-1", r"-\mathrm{T}"
_POWERS = (_TRANSPOSED, _INVERSE)


def raised_letter(text: str, exponent: str) -> str:
    """A letter with an exponent, before what it depends on; the transpose of one that is a transpose by name is plain."""
    letter, bracket, rest = text.partition("(")
    plain, power, own = letter.rpartition("^")
    asked = {own[1:-1], exponent} if power and own[1:-1] in _POWERS else set[str]()
    if len(asked) == 1:
        return f"{plain}{bracket}{rest}"
    if asked == {_TRANSPOSED, _INVERSE}:
        letter, exponent = plain, _BOTH
    return f"{letter}^{{{exponent}}}{bracket}{rest}"


def transposed_letter(text: str, size: int) -> str:
    """The letter of a transposed matrix; a single entry is its own transpose."""
    return text if size == 1 else raised_letter(text, r"\mathrm{T}")


def inverse_letter(text: str, size: int) -> str:
    """The letter of an inverse matrix; a single entry has a fraction."""
    return rf"\frac{{1}}{{{text}}}" if size == 1 else raised_letter(text, "-1")


def indexed_letter(text: str, *indices: str) -> str:
    """A letter with those indices that are there."""
    shown = ",".join(word for word in indices if word)
    return f"{text}_{{{shown}}}" if shown else text


def with_arguments(text: str, names: tuple[str, ...]) -> str:
    """A letter with what it depends on, where there is anything."""
    return f"{text}({listed_names(names)})" if names else text


def is_null(matrix: Matrix) -> bool:
    """Whether a matrix has no entry that could be anything but zero."""
    return all(is_zero(entry) for row in matrix for entry in row)


def bold(letter: str) -> str:
    """The letter of a vector or a matrix."""
    return rf"\mathbf{{{letter}}}"


def listed_names(names: tuple[str, ...]) -> str:
    """The arguments of a function; a dot for more than two."""
    return ", ".join(map(name_latex, names)) if len(names) <= 2 else r"\cdot"


def matrix_latex(rows: Matrix, entry: Callable[[Expression], str] = figure_latex) -> str:
    """A matrix in brackets; a single entry has none."""
    if len(rows) == 1 and len(rows[0]) == 1:
        return entry(rows[0][0])
    body = r" \\ ".join(" & ".join(map(entry, row)) for row in rows)
    return rf"\begin{{bmatrix}} {body} \end{{bmatrix}}"


def column_latex(names: tuple[str, ...]) -> str:
    """A vector as a row with a transposition sign."""
    return entries_latex(list(map(name_latex, names)))


def entries_latex(entries: Sequence[str]) -> str:
    """Entries as a row with a transposition sign; of many, the first ones and the last."""
    # The first ones show how the names go on, the last one how far.
    shown = entries if len(entries) <= MOST_ENTRIES else [*entries[:3], r"\cdots", entries[-1]]
    # The braces are for ziamath, which cannot raise an environment.
    return rf"{{\begin{{bmatrix}} {' & '.join(shown)} \end{{bmatrix}}}}^{{\mathrm{{T}}}}"
