r"""Names, formulas and values of a model as LaTeX, the same in all figures, and its equations as a figure of their own.

Names are set as in equations. The rate of an energy variable takes the subscript of its element, \dot{\phi}_a for L_a, as long as
no other storage of the figure would get the same.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from itertools import count
from typing import Protocol

from tellegen.core.domains import DOMAINS
from tellegen.core.errors import TellegenError
from tellegen.core.ordering import in_order
from tellegen.core.units import describe, parse_unit
from tellegen.drawing.options import DEFAULTS, LabelChoice, Options
from tellegen.expressions import ONE, ZERO, Expression, Number, Symbol, to_latex
from tellegen.expressions.evaluation import evaluate
from tellegen.graph import PowerGraph, ResistiveLaw, StorageLaw
from tellegen.graph.signal_lowering import taken_names
from tellegen.results.units import ratio_unit
from tellegen.scenes.geometry import Box, Point, union
from tellegen.scenes.lettering import name_latex, quantity_latex
from tellegen.scenes.scene import MARGIN, Align, Label, Origin, Scene, framed_scene, label_box
from tellegen.scenes.typesetting import set_math
from tellegen.schemes.bond_graph_scheme import BondGraphScheme, OnePort
from tellegen.schemes.names import plain_name


def dotted_latex(latex: str) -> str:
    r"""The rate of a variable: the dot stands over its letter."""
    letter, mark, subscript = latex.partition("_")
    return rf"\dot{{{letter}}}{mark}{subscript}"


def bold_latex(name: str) -> str:
    """The name of a vector: its letter is bold and upright."""
    return bolded(name_latex(name))


def bolded(latex: str) -> str:
    """A symbol with its letter bold and upright."""
    symbol, mark, subscript = latex.partition("_")
    word = symbol.removeprefix(r"\mathrm{").removesuffix("}") if symbol.startswith(r"\mathrm{") else symbol
    if word.startswith("\\"):
        letter = rf"\boldsymbol{{{word}}}"
    else:
        letter = rf"\mathbf{{{word}}}" if len(word) == 1 else rf"\textbf{{{word}}}"
    return f"{letter}{mark}{subscript}"


def formula_latex(expression: Expression) -> str:
    """A formula on one line: a plain reciprocal has a slash instead of a fraction bar."""
    # A fraction bar would make every row of a figure as high as its one reciprocal.
    for sign, form in (("", expression), ("-", -expression)):
        if form is not ZERO and isinstance(inverse := ONE / form, Symbol):
            return f"{sign}1/{name_latex(inverse.name)}"
    return figure_latex(expression)


def figure_latex(expression: Expression) -> str:
    """A formula with names as they stand in figures."""
    return to_latex(expression, name_latex)


def energy_names(items: Iterable[OnePort], graph: PowerGraph) -> dict[str, str]:
    """The energy variable of each storage, by its name."""
    storages = [(item, item.port.law) for item in items if isinstance(item.port.law, StorageLaw)]
    symbols = {item.name: DOMAINS[item.domain].energy(law.side).symbol for item, law in storages}
    # phi_a for L_a, as people say it, unless two storages would then share a name.
    short = {name: f"{symbol}_{name.partition('_')[2] or name}" for name, symbol in symbols.items()}
    taken = Counter([*short.values(), *taken_names(graph)])
    names: dict[str, str] = {}
    for item, law in storages:
        name = item.name
        if law.keeps_energy_variable:  # it is a state, and has the name that equations and results know
            names[name] = item.port.state
        else:
            names[name] = short[name] if taken[short[name]] == 1 else f"{symbols[name]}_{name}"
    return names


def in_bond_graphs(item: OnePort, coefficient: Expression) -> Expression:
    """The coefficient of an element in the reading of bond graphs, where R is effort over flow whichever way its law is stated."""
    law, domain = item.port.law, DOMAINS[item.domain]
    return ONE / coefficient if isinstance(law, ResistiveLaw) and law.side != domain.effort else coefficient


UNREADABLE = 3
"""Parts of a subscript that nobody gave, from which on it is no name to speak of."""


def short_names(scheme: BondGraphScheme) -> dict[str, str]:
    """Variables of two-ports without the number of their side, where the number tells nothing: `tau_motor_2` is `tau_motor`.

    A name that is put together from those of three items or more is numbered: `explained_names` says what it stands for.
    """
    names = {name for bond in scheme.bonds for name in (bond.effort, bond.flow) if bond.size == 1}
    # A name of one side only is shortened where no other variable would then be called so.
    ends = tuple(f"_{name}" for name in scheme.two_ports)
    short = {name: stem for name in names if (stem := re.sub(r"_\d+$", "", name)) != name and stem.endswith(ends)}
    taken = Counter([*short.values(), *(names | taken_names(scheme.causal.graph))])
    found = {name: stem for name, stem in short.items() if taken[stem] == 1}
    used = {*taken, *found.values()}
    items = {*scheme.junctions, *scheme.two_ports, *(plain_name(port.element) for port in scheme.causal.graph.ports)}
    for name in dict.fromkeys(name for bond in scheme.bonds for name in (bond.effort, bond.flow) if bond.size == 1):
        letter, _, behind = found.get(name, name).partition("_")
        if behind.count("_") + 1 >= UNREADABLE and _is_composed(behind, items):
            number = next(k for k in count(1) if not {f"{letter}_{k}", f"{letter}{k}"} & used)
            found[name] = f"{letter}_{number}"
            used.add(found[name])
    return found


def _is_composed(text: str, items: Container[str]) -> bool:
    """Whether a text is made of the names of several items, one after the other, or of one and a number: nobody gave it."""
    parts = text.split("_")
    for k in range(1, len(parts)):
        rest = "_".join(parts[k:])
        ends = rest in items or all(part.isdigit() for part in parts[k:]) or _is_composed(rest, items)
        if "_".join(parts[:k]) in items and ends:
            return True
    return False


def explained_names(short: Mapping[str, str]) -> dict[str, str]:
    """In LaTeX: the numbered ones of short names, and the names that they stand for, which runs and files have."""
    return {name_latex(new): name_latex(name) for name, new in short.items() if not name.startswith(new)}


def signals_read_by(graph: PowerGraph, expression: Expression) -> tuple[str, ...]:
    """The displacements, states and signals that a formula reads, through moving parameters too."""
    # By name, so that the order in which an expression was built is not seen in a figure; each once, in a dictionary.
    found: dict[str, None] = {}
    for name in sorted(expression.free_symbols):
        if name in graph.position_dependent:
            found |= dict.fromkeys(signals_read_by(graph, graph.position_dependent[name]))
        elif name not in graph.parameters:
            found[name] = None
    return tuple(found)


def listed_latex(names: Iterable[str], most: int = 2) -> str:
    """A few names, and dots for the rest."""
    shown = list(names)
    return ",\\,".join(map(name_latex, shown[:most])) + (r",\ldots" if len(shown) > most else "")


class ParameterValues:
    """The numbers of a model's parameters, and what they make of formulas."""

    def __init__(self, graph: PowerGraph) -> None:
        self.numbers: dict[str, float] = {}
        # Parameters that define each other in a ring never become ready, and simply have no value here.
        formulas = {name: given for name, given in graph.parameters.items() if given is not None}
        # In whatever order they are described; what has no value leaves those that are made of it without one.
        for name in in_order({name: given.free_symbols for name, given in formulas.items()}):
            value = self.value(formulas[name])
            if value is not None:
                self.numbers[name] = value

    def value(self, expression: Expression) -> float | None:
        """The value of a formula, or None where something in it has none."""
        if not expression.free_symbols <= self.numbers.keys():
            return None
        try:
            return evaluate(expression, self.numbers)
        except (TellegenError, ArithmeticError, ValueError):
            return None  # outside the domain of a function: it stays a symbol

    def latex(self, expression: Expression, unit: str) -> str | None:
        """The value of a formula with its unit: 2 mH."""
        value = self.value(expression)
        return None if value is None else quantity_latex(value, unit)


def parameter_latex(
    name: str, expression: Expression | None, value: str | None, choice: LabelChoice, size: float, widest: float
) -> str:
    """What stands beside an element: its parameter, or its name where that is long or a number, with the value asked for."""
    symbol = name_latex(name)
    if expression is not None and not isinstance(expression, Number):
        formula = formula_latex(expression)
        # A long formula pushes all its neighbours apart; the name stands for it, and the formula is in the equations.
        symbol = symbol if set_math(formula, size).box.width > widest else formula
    if expression is None or value is None or choice == "symbols":
        return symbol
    return value if choice == "values" else f"{symbol} = {value}"


def time_label(time: float, at: Point, size: float) -> Label:
    """The time that a figure shows, `t = 2 ms`."""
    # Four digits, since the times of frames are even parts of a run and have many more that say nothing.
    return Label(
        rf"t = {quantity_latex(float(f'{time:.4g}'), 's')}", at, size, "left", "baseline", origin=Origin(part="time")
    )


def unit_ratio(above: str, below: str) -> str:
    """The unit of one quantity over another, under its own name where it has one."""
    return describe(parse_unit(ratio_unit(above, below)).dimension).split(" ", 1)[0]


SIZE, GAP, SPACE = 17.0, 18.0, 6.0
WIDEST_LEFT = 300.0
"""What is wider on the left of a sign of equality, as large matrices are, begins at the margin."""


class LatexEquations(Protocol):
    """Anything that can write itself as lines of LaTeX in an `align*` environment."""

    def to_latex(self) -> str:
        """The equations in LaTeX."""


def equation_scene(equations: LatexEquations, options: Options = DEFAULTS, *, title: str = "Equations") -> Scene:
    """The figure of a set of equations, in glyphs of its own: no LaTeX is needed to see it."""
    del options  # equations have no options of their own; the theme is a matter of the back end
    source = equations.to_latex()
    body = re.sub(r"\\(?:begin|end)\{align\*?\}", "", source)
    # Lines end with a break and a new line; the break inside a matrix has no new line behind it and ends none.
    lines = [_sides(line.strip()) for line in body.split(" \\\\\n") if line.strip()]
    widths = [set_math(left, SIZE).box.width if left else 0.0 for left, _ in lines]
    # Signs of equality stand below each other; what is left of the widest would push all others to the edge of the page.
    margin = -SPACE - max((width for width in widths if width <= WIDEST_LEFT), default=0.0)
    labels: list[Label] = []
    top = 0.0
    for number, ((left, right), width) in enumerate(zip(lines, widths, strict=True), 1):
        sign = margin + width + SPACE if width > WIDEST_LEFT else 0.0
        # Both sides stand about the left end of the sign of equality, and lines as far apart as their inks need.
        sides: tuple[tuple[str, str, float, Align], ...] = (
            ("left", left, sign - SPACE, "right"),
            ("right", right, sign, "left"),
        )
        pair = [
            Label(text, (x, 0), SIZE, align, "baseline", origin=Origin(part=part, port=str(number)))
            for part, text, x, align in sides
            if text
        ]
        boxes = [label_box(label) for label in pair]
        baseline = top - min(box.top for box in boxes)
        labels += [replace(label, at=(label.at[0], baseline)) for label in pair]
        top = baseline + max(box.bottom for box in boxes) + GAP
    ink = union(map(label_box, labels)) if labels else Box(0, 0, 0, 0)
    frame = Box(ink.left - MARGIN, -MARGIN, ink.right + MARGIN, max(top - GAP, 0.0) + MARGIN)
    return framed_scene(title, " ".join(source.split()), frame, labels)


def _sides(line: str) -> tuple[str, str]:
    if line.startswith("&"):  # a long sum goes on
        return "", line[1:].strip()
    left, mark, right = line.partition("&=")
    # A minus behind the sign of equality is a sign, not an operation: it stands close.
    text = re.sub(r"^-", "{-}", right.strip())
    return (left.strip(), f"= {text}") if mark else (line, "")
