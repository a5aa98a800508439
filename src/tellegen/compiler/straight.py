"""Rates as straight lines, without branches or calls of a library: one text for vector registers and for graphics cards.

What differs between runs is a short list of values; all other parameters and inputs are numbers in the text. Parts of formulas that
these values alone decide are worked out once a run, and small systems are written out. Tables are polynomials between their points,
which lie in constant arrays; an interval is searched for in as many halvings for every argument. Behind the rates stands on which
side of every bend of formulas and tables they are.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final, final

import numpy as np

from tellegen.causality import CausalGraph
from tellegen.compiler.code import explicit_routines
from tellegen.compiler.context import Array, monotone_slopes
from tellegen.compiler.observation import kinks
from tellegen.compiler.statements import (
    Let,
    Newton,
    Read,
    Routine,
    Solve,
    Statement,
    expressions_of,
    needed_statements,
    operation_count,
)
from tellegen.compiler.steps import variable
from tellegen.expressions import (
    MINUS_ONE,
    ONE,
    ZERO,
    Add,
    Call,
    Condition,
    Expression,
    Mul,
    Number,
    Symbol,
    call,
    logic,
    number,
    postorder,
    power,
    product,
    rebuild,
    total,
)
from tellegen.expressions.c import CWriter
from tellegen.expressions.nodes import intern_symbol
from tellegen.graph.signals import Table

LARGEST_WRITTEN: Final = 6
"""Systems of more unknowns are not written out."""
A_READ: Final = 12
"""What a table counts among operations."""

FIXED, OF_RUN, MOVING = range(3)
"""What decides a value: numbers, what is given to a run, or where the run stands."""

TRUE: Final = logic("and")

Place = tuple[str, int]
"""A parameter ("p") or an input ("u"), by its number."""


class NotStraightError(Exception):
    """A model whose rates are no straight lines. The text says why, as a part of a sentence."""


@final
@dataclass(frozen=True)
class StraightCode:
    """C functions `tg_settle`, `tg_rates` and `tg_told`, between macros that say where numbers lie.

    `tg_settle` works the constants of a run out from its values; `tg_rates` gives f(t, y), `tg_told` what is asked for beside.
    """

    text: str
    size: int
    values: int
    constants: int
    told: int
    bends: int
    """Numbers behind the rates: they change where these bend."""
    operations: int
    """Of rates."""


def support() -> str:
    """The functions that the text calls, in C."""
    return Path(__file__).with_name("straight.h").read_text(encoding="ascii")


def straight_code(
    causal: CausalGraph, values: Mapping[Place, float], varied: Sequence[Place], told: Sequence[int] = ()
) -> StraightCode:
    """The rates of a model, and the channels `told` (time, then variables, then observables).

    Places in `varied` are given to each run, in this order; the others have their `values`.

    Raises: NotStraightError saying why there is none.
    """
    explicit = explicit_routines(causal, told)
    if explicit is None:
        raise NotStraightError("the rates do not follow from the states by formulas")
    *found, read = explicit
    fixed = {place: value for place, value in values.items() if place not in varied}
    # Kept apart, for they are asked for at other times; constants of a run serve both.
    constants, rows = _Constants(varied), _Rows()
    try:
        rates, shown = (_Simplified(routine, fixed, constants) for routine in found)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        raise NotStraightError(f"with these numbers a formula has no value ({error})") from error
    lines, bends = rates.function(_Reads(read, rows))
    sides = [f"TG_OUT({k}) = {side};" for k, side in enumerate(bends, len(rates.results))]
    text = "\n".join(
        (
            _function("tg_rates", "TG_RATES", [*lines, *sides]),
            _function("tg_told", "TG_TOLD", shown.function(_Reads(read, rows))[0]),
        )
    )
    settled = _function("tg_settle", "TG_SETTLE", constants.lines())
    reads = sum(isinstance(statement, Read) for statement in rates.statements)
    operations = operation_count(found[0].statements, found[0].results) + A_READ * reads
    return StraightCode(
        "\n".join((rows.text(), settled, text)),
        size=len(rates.results),
        values=len(varied),
        constants=len(constants.made),
        told=len(told),
        bends=len(bends),
        operations=operations,
    )


def _function(name: str, macro: str, lines: Iterable[str]) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"{macro}_BEGIN({name})\n{body}\n{macro}_END\n"


@final
@dataclass
class _Constants:
    """What is worked out once a run: `made` are formulas of values given to it and of those before."""

    varied: Sequence[Place]
    made: dict[Expression, Symbol] = field(default_factory=dict)
    fresh: Iterable[int] = field(default_factory=lambda: count(10_000_000))
    level: dict[str, int] = field(default_factory=dict)
    value: dict[str, float] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    of_value: dict[float, Symbol] = field(default_factory=dict)
    of_place: dict[Place, Symbol] = field(default_factory=dict)

    def leaf(self, place: Place) -> Symbol:
        """What a run is given."""
        known = self.of_place.get(place)
        if known is None:
            known = self.of_place[place] = self._symbol(OF_RUN, f"TG_VALUE({self.varied.index(place)})")
        return known

    def number(self, value: float) -> Expression:
        """A number in the text."""
        if value in (0.0, 1.0, -1.0):
            return {0.0: ZERO, 1.0: ONE, -1.0: MINUS_ONE}[value]
        known = self.of_value.get(value)
        if known is None:
            text = repr(value) if math.isfinite(value) else f"({value!r})"
            known = self.of_value[value] = self._symbol(FIXED, f"({text})" if value < 0 else text)
            self.value[known.name] = value
        return known

    def named(self, formula: Expression) -> Expression:
        """A part that moves nothing, as a number or a name."""
        if isinstance(formula, Number) or (isinstance(formula, Symbol) and formula not in self.of_place.values()):
            return formula
        if isinstance(formula, Condition):
            # No number holds it; its parts have names, or it is decided.
            if self.level_of(formula) == OF_RUN:
                return rebuild(formula, tuple(self.named(arg) for arg in formula.args))
            return TRUE if formula.evaluate(self.value) else logic("not", TRUE)
        if self.level_of(formula) == FIXED:
            value = formula.evaluate(self.value)
            if not math.isfinite(value):
                raise ValueError("not a finite number")
            return self.number(value)
        known = self.made.get(formula)
        if known is None:
            known = self.made[formula] = self._symbol(OF_RUN, f"TG_CONSTANT({len(self.made)})")
        return known

    def level_of(self, formula: Expression) -> int:
        """What decides a formula."""
        return max((self.level.get(name, MOVING) for name in formula.free_symbols), default=FIXED)

    def _symbol(self, level: int, text: str) -> Symbol:
        found = intern_symbol(f"%{next(iter(self.fresh))}")
        self.level[found.name], self.names[found.name] = level, text
        return found

    def lines(self) -> list[str]:
        """The statements that work them out."""
        writer = CWriter(self.names, straight=True)
        writer.count(self.made)
        lines: list[str] = []
        for k, formula in enumerate(self.made):
            text = writer.write(formula)
            lines += writer.lines
            writer.lines = []
            lines.append(f"TG_CONSTANT({k}) = {text};")
        return lines


@final
class _Simplified:
    """A routine whose fixed values are numbers, and whose constants of a run have names."""

    def __init__(self, routine: Routine, fixed: Mapping[Place, float], constants: _Constants) -> None:
        self.constants = constants
        self.known: dict[Expression, Expression] = {}
        self.names: dict[str, str] = constants.names
        self.time = ""
        for k, (word, i) in routine.leaves.items():
            if word in ("p", "u"):
                value = fixed.get((word, i))
                found = constants.leaf((word, i)) if value is None else constants.number(float(value))
                self.known[variable(k)] = found
            elif word in ("t", "y"):
                self.names[f"%{k}"] = "TG_T" if word == "t" else f"TG_Y({i})"
                self.time = f"%{k}" if word == "t" else self.time
        self.statements: list[Statement] = []
        for statement in routine.statements:
            self._follow(statement)
        self.results = [self.constants.named(e) if self._is_still(e) else e for e in map(self._made, routine.results)]
        self.statements = needed_statements(self.statements, self.results)
        self._turn_together()

    def _is_still(self, formula: Expression) -> bool:
        return self.constants.level_of(formula) < MOVING

    def _follow(self, statement: Statement) -> None:
        match statement:
            case Let(target, value):
                found = self._made(value)
                # What does not move needs no statement: it is put in wherever it is read, and named where that is.
                if self._is_still(found) or isinstance(found, Symbol):
                    self.known[variable(target)] = found
                else:
                    self.statements.append(Let(target, found))
                    self.names[f"%{target}"] = f"v{target}"
            case Solve(targets, matrix, right):
                if len(targets) > LARGEST_WRITTEN:
                    raise NotStraightError(f"{len(targets)} rates have to be solved for together")
                if all(self.constants.level_of(self._made(e)) == FIXED for row in matrix for e in row):
                    self._follow_solved(targets, matrix, right)
                    return
                rows = tuple(tuple(self._named(e) for e in row) for row in matrix)
                self.statements.append(Solve(targets, rows, tuple(map(self._named, right))))
                self.names |= {f"%{k}": f"v{k}" for k in targets}
            case Read("table" | "slope", _, target, (place,)):
                self.statements.append(replace(statement, arguments=(self._named(place),)))
                self.names[f"%{target}"] = f"v{target}"
            case _:
                newton = isinstance(statement, Newton)
                raise NotStraightError("unknowns are searched for" if newton else "signals are read from the past")

    def _follow_solved(
        self, targets: Sequence[int], matrix: Sequence[Sequence[Expression]], right: Sequence[Expression]
    ) -> None:
        """A system whose matrix is all numbers: products with the numbers of its inverse."""
        values = [[self._made(e).evaluate(self.constants.value) for e in row] for row in matrix]
        try:
            inverse = np.linalg.inv(np.array(values))
        except np.linalg.LinAlgError as error:
            raise ValueError("a singular system") from error
        known = [self._named(e) for e in right]
        for target, row in zip(targets, inverse, strict=True):
            found = total(self.constants.number(float(x)) * e for x, e in zip(row, known, strict=True))
            self.statements.append(Let(target, found))
            self.names[f"%{target}"] = f"v{target}"

    def _named(self, formula: Expression) -> Expression:
        found = self._made(formula)
        return self.constants.named(found) if self._is_still(found) else found

    def _made(self, formula: Expression) -> Expression:
        """The formula with what does not move collected, and named beside what does."""
        for node in postorder(formula):
            if node not in self.known:
                self.known[node] = self._node(node)
        return self.known[formula]

    def _node(self, node: Expression) -> Expression:
        args = tuple(self.known[arg] for arg in node.args)
        if not args:
            return node
        if all(map(self._is_still, args)):
            return rebuild(node, args)
        if isinstance(node, Mul):
            return self._product(node)
        if isinstance(node, Add):
            return self._sum(node)
        named = tuple(self.constants.named(arg) if self._is_still(arg) else arg for arg in args)
        found = rebuild(node, named)
        if isinstance(found, Call) and found.name == "if" and found.args[1] is found.args[2]:
            return found.args[1]
        return found

    def _product(self, node: Mul) -> Expression:
        powers = [(self.known[base], q) for base, q in node.factors]
        still = [power(base, number(q)) for base, q in powers if self._is_still(base)]
        moving = [power(base, number(q)) for base, q in powers if not self._is_still(base)]
        if not still:
            return product((number(node.coefficient), *moving))
        return product((self.constants.named(product((number(node.coefficient), *still))), *moving))

    def _sum(self, node: Add) -> Expression:
        terms = [(self.known[term], q) for term, q in node.terms]
        still = total((number(node.constant), *(number(q) * term for term, q in terms if self._is_still(term))))
        moving = [self._scaled(term, q) for term, q in terms if not self._is_still(term)]
        return total((self.constants.named(still), *moving))

    def _scaled(self, term: Expression, q: object) -> Expression:
        """A term times a number, which is drawn into a factor that does not move."""
        scale = number(q)  # type: ignore[arg-type]
        if scale is ONE or not isinstance(term, Mul):
            return scale * term
        still = [(base, e) for base, e in term.factors if self._is_still(base)]
        if not still or scale is MINUS_ONE:
            return scale * term
        rest = product(power(base, number(e)) for base, e in term.factors if not self._is_still(base))
        factor = product((scale, number(term.coefficient), *(power(base, number(e)) for base, e in still)))
        return product((self.constants.named(factor), rest))

    def _turn_together(self) -> None:
        """Waves whose angles differ by what does not move (the phases of a machine) follow from the sine and the cosine of one.

        Each costs as much as twenty products, and sine and cosine of one angle together hardly more than one of them.
        """
        formulas = [e for s in self.statements for e in expressions_of(s)]
        waves = [n for n in postorder(*formulas, *self.results) if isinstance(n, Call) and n.name in ("sin", "cos")]
        parts = {node.args[0]: self._without_still(node.args[0]) for node in waves}
        shared = {moving for moving, many in Counter(moving for moving, _ in parts.values()).items() if many > 1}
        made: dict[Expression, Expression] = {}

        def changed(formula: Expression) -> Expression:
            for node in postorder(formula):
                if node not in made:
                    whole = rebuild(node, tuple(made[arg] for arg in node.args))
                    if isinstance(node, Call) and node in known and known[node][1] is not ZERO:
                        whole = self._shifted(node.name, made[known[node][0]], known[node][1])
                    made[node] = whole
            return made[formula]

        known = {node: parts[node.args[0]] for node in waves if parts[node.args[0]][0] in shared}
        if known:
            for moving, _ in known.values():
                changed(moving)
            self.statements = [_with_changed(statement, changed) for statement in self.statements]
            self.results = list(map(changed, self.results))

    def _without_still(self, angle: Expression) -> tuple[Expression, Expression]:
        """The part of an angle that moves, and the rest."""
        if not isinstance(angle, Add):
            return angle, ZERO
        moving = total(number(q) * term for term, q in angle.terms if not self._is_still(term))
        return moving, total(
            (number(angle.constant), *(number(q) * term for term, q in angle.terms if self._is_still(term)))
        )

    def _shifted(self, name: str, angle: Expression, by: Expression) -> Expression:
        """sin(angle + by) or cos(angle + by)."""
        along, across = (self.constants.named(call(word, by)) for word in ("cos", "sin"))
        sine, cosine = call("sin", angle), call("cos", angle)
        return along * sine + across * cosine if name == "sin" else along * cosine - across * sine

    # -- As text ---------------------------------------------------------------------------------------------------------------

    def function(self, reads: "_Reads") -> tuple[list[str], list[str]]:
        """The lines of a function, whose results are `TG_OUT(i)`, and numbers that change where it bends."""
        bends = self._bends()
        writer = CWriter(self.names, straight=True)
        writer.count(e for s in self.statements for e in expressions_of(s))
        writer.count((*self.results, *bends))
        lines: list[str] = []

        def written(formula: Expression) -> str:
            text = writer.write(formula)
            lines.extend(writer.lines)
            writer.lines = []
            return text

        for statement in self.statements:
            if isinstance(statement, Let):
                text = written(statement.value)
                lines.append(f"const double v{statement.target} = {text};")
            elif isinstance(statement, Solve):
                matrix = [[written(e) for e in row] for row in statement.matrix]
                right = [written(e) for e in statement.right]
                lines.extend(_eliminated(statement.targets, matrix, right))
            elif isinstance(statement, Read):
                lines.extend(reads.lines(statement, written(statement.arguments[0])))
        for i, result in enumerate(self.results):
            text = written(result)
            lines.append(f"TG_OUT({i}) = {text};")
        sides = [(f"({written(bend)} > 0.0 ? 1.0 : 0.0)", 2) for bend in bends]
        return lines, _packed([*sides, *reads.sides.values()])

    def _bends(self) -> list[Expression]:
        """What is zero where formulas bend; those that time alone decides are stops of a run."""
        formulas = [e for s in self.statements for e in expressions_of(s)]
        found = dict.fromkeys(bend for node in postorder(*formulas, *self.results) for bend in kinks(node))
        return [e for e in found if self.constants.level_of(e) == MOVING and not e.free_symbols <= {self.time}]


def _with_changed(statement: Statement, changed: Callable[[Expression], Expression]) -> Statement:
    """A statement of straight lines with other formulas."""
    match statement:
        case Let(target, value):
            return Let(target, changed(value))
        case Solve(targets, matrix, right):
            return Solve(targets, tuple(tuple(map(changed, row)) for row in matrix), tuple(map(changed, right)))
        case Read():
            return replace(statement, arguments=tuple(map(changed, statement.arguments)))
        case _:
            return statement


MOST_SIDES: Final = 1 << 24
"""Whole numbers up to here are exact in single precision."""


def _packed(sides: Sequence[tuple[str, int]]) -> list[str]:
    """Digits, each with how many values it has, as few numbers."""
    packed, weight = list[str](), MOST_SIDES
    for text, count_of_values in sides:
        if weight * count_of_values > MOST_SIDES:
            packed.append(text)
            weight = count_of_values
        else:
            packed[-1] += f" + {float(weight)!r}*{text}"
            weight *= count_of_values
    return packed


@final
class _Rows:
    """Constant arrays of a text, each once."""

    def __init__(self) -> None:
        self._names: dict[tuple[float, ...], str] = {}

    def name(self, row: Iterable[float]) -> str:
        """The name of an array with these numbers."""
        return self._names.setdefault(tuple(map(float, row)), f"tg_row_{len(self._names)}")

    def text(self) -> str:
        """All of them."""
        lists = ((name, ", ".join(map(repr, row))) for row, name in self._names.items())
        return "\n".join(f"TG_TABLE double {name}[] = {{{numbers}}};" for name, numbers in lists)


@final
class _Reads:
    """How a function reads tables: those with the same points share a search at a place. `sides` says in which interval each is."""

    def __init__(self, tables: Sequence[Table], rows: _Rows) -> None:
        self._tables, self._rows = tables, rows
        self._searched: dict[tuple[str, str], str] = {}
        self.sides: dict[str, tuple[str, int]] = {}

    def lines(self, statement: Read, place: str) -> list[str]:
        """The lines that set the target of a statement.

        Beyond the points the last value holds, and what is not a number stays none.
        """
        table = self._tables[statement.number]
        points, pieces = self._rows.name(table.points), _pieces(table)
        first, last = (f"{points}[{k}]" for k in (0, len(table.points) - 1))
        lines: list[str] = []
        tag = self._searched.get((points, place))
        if tag is None:
            tag = self._searched[points, place] = str(statement.target)
            lines.append(f"const double a{tag} = {place}, b{tag} = a{tag} < {first} ? {first} : a{tag};")
            lines.append(f"const double x{tag} = b{tag} > {last} ? {last} : b{tag};")
            lines += _search(points, len(table.points), tag)
            lines.append(f"const double d{tag} = x{tag} - {points}[i{tag}];")
        self._watch(table, tag, first, last)
        if statement.kind == "slope":
            pieces = [power * row for power, row in enumerate(pieces)][1:] or [0.0 * pieces[0]]
        rows = [f"{self._rows.name(row)}[i{tag}]" for row in pieces]
        # 0 times the way from the point is not a number where the argument is none
        value = f"{rows[0]} + 0.0*d{tag}" if len(rows) == 1 else rows[-1]
        for row in rows[-2::-1]:
            value = f"{row} + d{tag}*({value})"
        if statement.kind == "slope":
            value = f"a{tag} <= {first} ? 0.0 : {value}"
        return [*lines, f"const double v{statement.target} = {value};"]

    def _watch(self, table: Table, tag: str, first: str, last: str) -> None:
        """Lines bend at all points, cubics at both ends alone."""
        begun = f"(a{tag} > {first} ? 1.0 : 0.0)"
        if table.interpolation != "cubic":
            self.sides[tag] = (f"((double)i{tag} + {begun})", len(table.points) + 1)
        elif tag not in self.sides:
            self.sides[tag] = (f"({begun} + (a{tag} >= {last} ? 1.0 : 0.0))", 3)


def _search(points: str, size: int, tag: str) -> list[str]:
    """The last point that x does not come before: the same halvings for every x, so that lanes go through them together."""
    lines, found, width = list[str](), "0", size
    while width > 1:
        half = width // 2
        width -= half
        name = f"i{tag}_{width}" if width > 1 else f"i{tag}"
        beyond = f"{found} + {half}" if found != "0" else str(half)
        lines.append(f"const int {name} = x{tag} >= {points}[{beyond}] ? {beyond} : {found};")
        found = name
    return lines or [f"const int i{tag} = 0;"]


def _pieces(table: Table) -> list[Array]:
    """The coefficients of a table behind each of its points, in rising powers of the way from there."""
    points, values = np.array(table.points, dtype=float), np.array(table.values, dtype=float)
    if table.interpolation == "previous" or len(points) == 1:
        return [values]
    h = np.diff(points)
    # nobody is between two equal points, where values jump, nor behind the last one
    rise = np.divide(np.diff(values), h, out=np.zeros(len(h)), where=h > 0.0)
    if table.interpolation == "linear":
        return [values, np.append(rise, 0.0)]
    slopes = monotone_slopes(points, values)
    first, last = slopes[:-1], slopes[1:]
    square, cube = (3.0 * rise - 2.0 * first - last) / h, (first + last - 2.0 * rise) / h**2
    return [values, *(np.append(row, 0.0) for row in (first, square, cube))]


def _eliminated(targets: Sequence[int], matrix: Sequence[Sequence[str]], right: Sequence[str]) -> list[str]:
    """Gaussian elimination with partial pivoting, written out: rows are exchanged by selects."""
    n, lines, tag = len(targets), list[str](), targets[0]
    names = count()

    def named(text: str) -> str:
        name = f"e{tag}_{next(names)}"
        lines.append(f"const double {name} = {text};")
        return name

    rows = [[named(entry) for entry in (*row, b)] for row, b in zip(matrix, right, strict=True)]
    for k in range(n):
        for i in range(k + 1, n):
            above, below = rows[k], rows[i]
            swap = f"e{tag}_{next(names)}"
            lines.append(f"const int {swap} = fabs({below[k]}) > fabs({above[k]});")
            pairs = [(above[j], below[j]) for j in range(k, n + 1)]
            rows[k] = [*above[:k], *(named(f"{swap} ? {b} : {a}") for a, b in pairs)]
            rows[i] = [*below[:k], *(named(f"{swap} ? {a} : {b}") for a, b in pairs)]
        for i in range(k + 1, n):
            factor = named(f"tg_over({rows[i][k]}, {rows[k][k]})")
            rest = [named(f"{rows[i][j]} - {factor}*{rows[k][j]}") for j in range(k + 1, n + 1)]
            rows[i] = [*rows[i][: k + 1], *rest]
    found: list[str] = []
    for k in reversed(range(n)):
        less = "".join(f" - {rows[k][k + 1 + j]}*{name}" for j, name in enumerate(found))
        lines.append(f"const double v{targets[k]} = tg_over({rows[k][n]}{less}, {rows[k][k]});")
        found.insert(0, f"v{targets[k]}")
    return lines
