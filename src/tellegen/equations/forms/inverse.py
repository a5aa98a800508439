"""The inverse of a model: what inputs must be so that outputs follow a course.

Each output is differentiated along the motion until an input that is asked for appears in it: r times, its relative degree. The
highest derivatives together are equations for the inputs (Hirschorn 1979; Isidori, Nonlinear Control Systems, 1995, section 5.1).
What is left of the states moves by itself: the zero dynamics.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from typing import final

from tellegen.core.names import TIME, identifier, listing
from tellegen.equations import rules
from tellegen.equations.forms.closed_loop import energy_names, signals_written_in
from tellegen.equations.forms.linearisation import right_sides
from tellegen.equations.matrices import Matrix, Vector, solved, zeros
from tellegen.equations.system import EquationSystem, MatrixName, with_measured_outputs
from tellegen.expressions import ONE, ZERO, Expression, is_zero, number, symbol, to_text, total
from tellegen.expressions.elimination import NamedEntries, leaf_count, solve_definite, with_definitions
from tellegen.expressions.nodes import Add, Mul
from tellegen.expressions.printing import to_latex, to_python
from tellegen.expressions.simplification import NamedParts, shortened
from tellegen.expressions.waves import joined_sines

LONGEST = 72
"""Parts of formulas with more characters than this get a name."""


def course_names(output: str, degree: int, taken: Iterable[str] = ()) -> tuple[str, ...]:
    """The names of the course of an output and of its derivatives: `x_d`, `x_d_rate`, `x_d_rate_2`, ..."""
    known = {*taken}
    plain = identifier(output)
    names = [f"{plain}_d", f"{plain}_d_rate", *(f"{plain}_d_rate_{k}" for k in range(2, degree + 1))][: degree + 1]
    # All of them with one ending more, so that they still read as one family.
    while known.intersection(names):
        names = [f"{name}_" for name in names]
    return tuple(names)


@final
@dataclass(frozen=True)
class InverseSystem:
    """Inputs by outputs: `chains` has each output with its derivatives that no input acts on, `highest` the next derivative.

    `plant` has the inputs asked for and the outputs that are given a course. `courses` names these with their derivatives. Where
    the inputs act in proportion, `formulas` says what they must be, over states, time and the names of the courses; else the
    highest derivatives are equations for them. `followers` are coordinates that loops decide. It
    `turns` where how the inputs act moves along the motion.
    """

    plant: EquationSystem
    rates: Mapping[str, Expression]
    chains: tuple[Vector, ...]
    highest: Vector
    courses: tuple[tuple[str, ...], ...]
    formulas: Mapping[str, Expression]
    followers: frozenset[str] = frozenset()
    turns: bool = False

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.plant.name

    @property
    def inputs(self) -> tuple[str, ...]:
        """The inputs asked for."""
        return self.plant.inputs

    @property
    def degrees(self) -> dict[str, int]:
        """The relative degree of each output: how often its course is differentiated."""
        return {name: len(chain) for name, chain in zip(self.plant.outputs, self.chains, strict=True)}

    @property
    def states(self) -> tuple[str, ...]:
        """States that are free of each other: what loops of a mechanism decide is none."""
        return tuple(name for name in self.rates if name not in self.followers)

    @property
    def remaining(self) -> int:
        """How many states the outputs leave to themselves."""
        return len(self.states) - sum(self.degrees.values())

    @cached_property
    def written(self) -> tuple[dict[str, Expression], dict[str, Expression]]:
        """What the inputs follow from, as short formulas, and the names for long parts of them."""
        taken = {identifier(n) for n in (*self.plant.parameters, *self.rates, *self.plant.algebraic.unknowns)}
        parts = NamedParts(LONGEST, (name for k in count(1) if (name := f"c_{k}") not in taken))
        shown = self.formulas or dict(zip([names[-1] for names in self.courses], self.highest, strict=True))
        variables, wanted = [*self.rates, *self.plant.algebraic.unknowns], [names[-1] for names in self.courses]
        found = {name: parts.short(_in_order(e, variables, wanted)) for name, e in shown.items()}
        return found, parts.definitions

    def to_text(self) -> str:
        """The relative degrees and the formulas, for a terminal."""
        found, parts = self.written
        inputs = ", ".join(self.inputs)
        lines = [f"{self.name}: {inputs} so that {', '.join(self.plant.outputs)} {_follows(self.plant.outputs)}", ""]
        for (name, degree), names in zip(self.degrees.items(), self.courses, strict=True):
            lines.append(f"relative degree of {name}  {degree}, with the course {', '.join(names)}")
        left = self.remaining
        lines.append(f"states left to themselves  {left} of {len(self.states)}")
        unsolved = "" if self.formulas else f", solved for {inputs}"
        lines += ["", *(f"  {name} = {to_text(e)}{unsolved}" for name, e in found.items())]
        if parts:
            lines += ["", "where", *(f"  {name} = {to_text(e)}" for name, e in parts.items())]
        residuals = zip(self.plant.algebraic.unknowns, self.plant.algebraic.residuals, strict=True)
        if self.plant.algebraic.unknowns:
            lines += ["", "with", *(f"  {name}: 0 = {to_text(e)}" for name, e in residuals)]
        return "\n".join(lines)

    def to_latex(self) -> str:
        """The formulas as an amsmath `align*` environment."""
        found, parts = self.written
        rows = [rf"{to_latex(symbol(name))} &= {to_latex(e)}" for name, e in (*found.items(), *parts.items())]
        return "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"

    def to_json(self) -> dict[str, object]:
        """Names and formulas in Python syntax: `inputs` over `where`, states, parameters and the names of the courses."""
        found, parts = self.written
        return {
            "relative_degree": {identifier(name): degree for name, degree in self.degrees.items()},
            "courses": {identifier(n): list(names) for n, names in zip(self.plant.outputs, self.courses, strict=True)},
            "states": len(self.states),
            "remaining": self.remaining,
            "solved": bool(self.formulas),
            "inputs": {identifier(name): to_python(e) for name, e in found.items()},
            "where": {name: to_python(e) for name, e in parts.items()},
        }

    def __str__(self) -> str:
        return self.to_text()


def _in_order(expression: Expression, variables: Sequence[str], wanted: Sequence[str]) -> Expression:
    """A formula by its variables where it is linear in them, else by what is `wanted`; each coefficient as short as it gets."""
    by = [name for name in (*wanted, *variables) if name in expression.free_symbols]
    coefficients = {name: expression.derivative(name) for name in by}
    if any(e.free_symbols.intersection(by) for e in coefficients.values()):
        coefficients = {name: coefficients[name] for name in by if name in wanted}
    if any(e.free_symbols.intersection(coefficients) for e in coefficients.values()):
        return joined_sines(expression)
    rest = expression.substitute(dict.fromkeys(coefficients, ZERO))
    terms = [_short(e) * symbol(name) for name, e in coefficients.items() if not is_zero(e)]
    return total([*terms, _short(rest)])


def _short(expression: Expression) -> Expression:
    return min((shortened(joined_sines(e)) for e in (expression, _multiplied(expression))), key=leaf_count)


def _multiplied(expression: Expression) -> Expression:
    """The expression with a product of a sum and names written as a sum of products: what is divided often cancels there."""
    if isinstance(expression, Add):
        return total([number(expression.constant), *(number(c) * _multiplied(term) for term, c in expression.terms)])
    if isinstance(expression, Mul):
        sums = [base for base, q in expression.factors if isinstance(base, Add) and q == 1]
        if len(sums) == 1:
            (inner,) = sums
            others = expression / inner
            parts = [number(c) * term for term, c in inner.terms]
            return total([others * inner.constant, *(_multiplied(others * part) for part in parts)])
    return expression


def _follows(names: Sequence[str]) -> str:
    return "follows a course" if len(names) == 1 else "follow a course"


def invert_equations(
    system: EquationSystem, outputs: Sequence[str], inputs: Sequence[str], names: Iterable[str] = ()
) -> InverseSystem:
    """The inverse of a model from outputs, which it measures, to as many of its inputs; both are known names.

    `names` are what else means something in the model, so that no course is called like it.

    Raises: EquationError where no input reaches an output (E140), where the inputs do not act independently (E141), or where the
    rate of an input would count (E142).
    """
    plant = _plant(system, outputs, inputs)
    motion = _Motion(plant, inputs)
    chains: list[Vector] = []
    highest: list[Expression] = []
    for output, expression in zip(outputs, right_sides(plant)[2], strict=True):
        *chain, last = motion.chain(output, expression)
        chains.append(tuple(chain))
        highest.append(last)
    taken = {*plant.parameters, *motion.taken, *outputs, *system.signals.names, *names}
    courses = tuple(course_names(name, len(chain), taken) for name, chain in zip(outputs, chains, strict=True))
    formulas = motion.solved(tuple(highest), [names[-1] for names in courses], outputs)
    turns = any(e.free_symbols - plant.parameters.keys() for row in map(motion.gains, highest) for e in row)
    return InverseSystem(plant, motion.rates, tuple(chains), tuple(highest), courses, formulas, turns=turns)


def _plant(system: EquationSystem, outputs: Sequence[str], inputs: Sequence[str]) -> EquationSystem:
    """The model over time with the inputs asked for, the outputs that follow a course, and everything written out."""
    # A signal that storages share their energy by would have to be differentiated, as a source that fixes one.
    moving = [name for name in inputs if name in energy_names(system)]
    signals = [name for name in outputs if name in system.signals.names]
    chosen = with_measured_outputs(system, [name for name in outputs if name not in signals])
    written = _with_states_shown(signals_written_in(chosen, inputs, signals), outputs)
    columns = [written.inputs.index(name) for name in inputs]
    rows = [written.outputs.index(name) for name in outputs]
    m = written.matrices
    rate = [
        name
        for name, j in zip(inputs, columns, strict=True)
        if any(row[j] is not ZERO for row in m["B_1"]) or any(m["D_1"][i][j] is not ZERO for i in rows)
    ]
    if moving or rate:
        name = (moving or rate)[0]
        raise rules.RATE_OF_INPUT.error(
            f"the rate of '{name}' counts in '{system.name}', so that no course of an output gives '{name}' itself",
            where=name,
            fix=f"put a small resistance or compliance between '{name}' and the storage that it fixes",
        )
    definitions = written.where
    plain = written.everywhere(lambda e: with_definitions(e, definitions))
    at_rest = {name: ZERO for name in written.inputs if name not in inputs}
    plain = plain.everywhere(lambda e: e.substitute(at_rest)) if at_rest else plain
    m = plain.matrices
    by_input: tuple[MatrixName, ...] = ("B", "B_1")
    by_both: tuple[MatrixName, ...] = ("D", "D_1")
    picked: dict[MatrixName, Matrix] = {
        **m,
        **{name: tuple(tuple(row[j] for j in columns) for row in m[name]) for name in by_input},
        **{name: tuple(tuple(m[name][i][j] for j in columns) for i in rows) for name in by_both},
        "C": tuple(m["C"][i] for i in rows),
    }
    return replace(
        plain,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        matrices=picked,
        vectors={**plain.vectors, "f_y": tuple(plain.vectors["f_y"][i] for i in rows)},
        where={},
    )


def _with_states_shown(system: EquationSystem, names: Iterable[str]) -> EquationSystem:
    """The system whose outputs are also those names that are states of signals."""
    states = [name for name in names if name not in system.outputs and name in system.displacements]
    m, more = system.matrices, len(states)
    rows: dict[MatrixName, Matrix] = {
        **m,
        "C": m["C"] + zeros(more, len(system.states)),
        "D": m["D"] + zeros(more, len(system.inputs)),
        "D_1": m["D_1"] + zeros(more, len(system.inputs)),
    }
    seen = (*system.vectors["f_y"], *map(symbol, states))
    return replace(system, outputs=(*system.outputs, *states), matrices=rows, vectors={**system.vectors, "f_y": seen})


class _Motion:
    """Derivatives along the motion of a plant, and how its inputs act on them."""

    def __init__(self, plant: EquationSystem, inputs: Sequence[str]) -> None:
        self.plant = plant
        self.inputs = inputs
        self.taken = {*plant.states, *plant.displacements, *plant.algebraic.unknowns, *inputs, TIME}
        self.given = {name: number(value) for name, value in plant.values().items()}
        forces = right_sides(plant)[0]
        speeds = self._accelerations(forces)
        self.rates = {**dict(zip(plant.states, speeds, strict=True)), **plant.displacements}

    def _accelerations(self, forces: Vector) -> Vector:
        """The rates of the states: L x' = forces."""
        field = NamedEntries(self.plant.parameters, self.taken)
        n = len(forces)
        rows = [{j: field.entry(e) for j, e in enumerate(row) if e is not ZERO} for row in self.plant.matrices["L"]]
        right = [{n + i: field.entry(ONE)} for i in range(n)]
        # By pivots of the diagonal: L is definite, and one beside it may vanish at rest.
        inverse = solve_definite(rows, right, range(n), field)
        return tuple(
            with_definitions(total(e.expression * forces[j - n] for j, e in inverse[i].items()), field.where)
            for i in range(n)
        )

    @cached_property
    def _reached(self) -> dict[str, set[str]]:
        """For each name what it follows from at once or by its rate."""
        w = self.plant.algebraic
        reads = {name: set(e.free_symbols) for name, e in self.rates.items()}
        together = set().union(*(e.free_symbols for e in w.residuals)) if w.residuals else set()
        return reads | dict.fromkeys(w.unknowns, together)

    def _is_reached(self, expression: Expression) -> bool:
        waiting, seen = [*expression.free_symbols], set()
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += self._reached.get(name, ())
        return not seen.isdisjoint(self.inputs)

    def chain(self, output: str, expression: Expression) -> list[Expression]:
        """The output and its derivatives, up to the first in which an input acts.

        Raises: EquationError (E140) where none ever does.
        """
        found = [expression]
        reached = self._is_reached(expression)
        while reached and all(map(self._vanishes, self.gains(found[-1]))):
            found.append(self.derivative(found[-1]))
            # A state takes one integration to be reached, so that no path is longer than there are states.
            reached = len(found) <= len(self.rates) + 1
        if not reached:
            verb = "does" if len(self.inputs) == 1 else "do"
            raise rules.NO_INPUT_REACHES.error(
                f"{listing(self.inputs, 20)} {verb} not act on '{output}' in '{self.plant.name}'",
                where=output,
                fix="ask for an input that a causal path leads from, or prescribe another output",
                members=[output, *self.inputs],
            )
        return found

    def _vanishes(self, gain: Expression) -> bool:
        # With the values given too: an input behind a modulus of zero has no path, whatever the letters say.
        return is_zero(gain) or is_zero(gain.substitute(self.given))

    def derivative(self, expression: Expression) -> Expression:
        """The derivative along the motion of what no input acts on."""
        direct = self._along(expression)
        unknowns = [n for n in self.plant.algebraic.unknowns if n in expression.free_symbols]
        return total([direct, *(expression.derivative(n) * self._unknown_rates[n] for n in unknowns)])

    def _along(self, expression: Expression) -> Expression:
        moving = [n for n in sorted(expression.free_symbols) if n in self.rates]
        return total([expression.derivative(TIME), *(expression.derivative(n) * self.rates[n] for n in moving)])

    def gains(self, expression: Expression) -> Vector:
        """How the inputs act on an expression at once, through algebraic unknowns too."""
        unknowns = [n for n in self.plant.algebraic.unknowns if n in expression.free_symbols]
        return tuple(
            total([expression.derivative(u), *(expression.derivative(n) * self._unknown_gains[n][j] for n in unknowns)])
            for j, u in enumerate(self.inputs)
        )

    @cached_property
    def _unknown_gains(self) -> dict[str, Vector]:
        """How the inputs act on the unknowns: g(w, x, u) = 0 gives dw/du = -(dg/dw)^-1 dg/du."""
        w = self.plant.algebraic
        columns = tuple(tuple(-r.derivative(u) for u in self.inputs) for r in w.residuals)
        return dict(zip(w.unknowns, self._through_residuals(columns, len(self.inputs)), strict=True))

    @cached_property
    def _unknown_rates(self) -> dict[str, Expression]:
        """The rates of the unknowns while the inputs stay as they are."""
        w = self.plant.algebraic
        rows = self._through_residuals(tuple((-self._along(r),) for r in w.residuals), 1)
        return {name: row[0] for name, row in zip(w.unknowns, rows, strict=True)}

    def _through_residuals(self, right: Matrix, columns: int) -> Matrix:
        w = self.plant.algebraic
        field = NamedEntries(self.plant.parameters, self.taken)
        slopes = tuple(tuple(r.derivative(name) for name in w.unknowns) for r in w.residuals)
        found = solved(slopes, right, columns, field)
        if found is None:
            raise rules.NO_OPERATING_POINT.error(
                f"the algebraic loop of {listing(w.unknowns)} has no unique solution",
                where=self.plant.name,
                fix="put a state into the loop",
            )
        return tuple(tuple(with_definitions(e, field.where) for e in row) for row in found)

    def solved(self, highest: Vector, wanted: Sequence[str], outputs: Sequence[str]) -> dict[str, Expression]:
        """The inputs that give the highest derivatives the values named; empty where they do not act in proportion.

        Raises: EquationError (E141) where the inputs do not act independently.
        """
        acting = tuple(self.gains(e) for e in highest)
        at_rest: dict[str, Expression] = dict.fromkeys(self.inputs, ZERO)
        right = tuple((symbol(name) - e.substitute(at_rest),) for name, e in zip(wanted, highest, strict=True))
        field = NamedEntries(self.plant.parameters, {*self.taken, *wanted})
        hidden = tuple(tuple(ZERO if self._vanishes(e) else e for e in row) for row in acting)
        found = solved(hidden, right, 1, field)
        if found is None:
            raise rules.NOT_INDEPENDENT.error(
                f"{listing(self.inputs, 20)} do not act independently on {listing(outputs, 20)}: what one of them does to the "
                "highest derivatives, the others do too",
                where=outputs[0],
                fix="prescribe an output that only one of the inputs reaches first, or put an integrator before that input",
                members=[*outputs, *self.inputs],
            )
        # An unknown that an input moves at once hides a curve, whatever its gain looks like.
        unknowns = self.plant.algebraic.unknowns
        curved = {*self.inputs, *(n for n in unknowns if not all(map(self._vanishes, self._unknown_gains[n])))}
        if any(curved & e.free_symbols for row in (*acting, *right) for e in row):
            return {}
        return {u: with_definitions(row[0], field.where) for u, row in zip(self.inputs, found, strict=True)}
