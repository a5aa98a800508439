"""The functions of a small model: its program written out, and from that what the C writer prints and the interpreter runs.

There is the implicit form F(t, y, yp) and, where it can be had, the explicit form f(t, y). Algebraic unknowns are solved inside by
Newton's method; a coupled mass matrix inside by elimination. Where rates have a say in the unknowns, as in friction by the force of
a rigid joint, both are solved for together. All this is possible for small systems only; the others keep their unknowns in y and
have no explicit form.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import final

from tellegen.compiler.program import Program
from tellegen.compiler.statements import (
    Let,
    Newton,
    Read,
    Routine,
    Solve,
    Statement,
    Tangents,
    Terms,
    expressions_of,
    needed_statements,
    operation_count,
    reached_from,
    targets_of,
    variables_in,
    variables_read,
)
from tellegen.compiler.steps import Lookup, Step, variable
from tellegen.core.names import TIME
from tellegen.core.union_find import UnionFind
from tellegen.expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Mul,
    Number,
    Symbol,
    call,
    postorder,
    relation,
    substitute_all,
    total,
)
from tellegen.expressions.elimination import Elimination, ResidueField
from tellegen.expressions.evaluation import residues
from tellegen.graph.signals import Sampled


@final
@dataclass
class Flat:
    """The statements of a program. `parameters` gives the variable of each parameter; `value` what a variable stands for."""

    program: Program
    names: list[str]
    parameters: dict[str, int]
    core: list[Statement] = field(default_factory=list)
    observing: list[Statement] = field(default_factory=list)
    copies: dict[str, Expression] = field(default_factory=dict)

    def fresh(self, name: str) -> int:
        """A new variable."""
        self.names.append(name)
        return len(self.names) - 1

    def value(self, k: int) -> Expression:
        """The expression of a variable: itself, or what it is a copy of."""
        return self.copies.get(f"%{k}", variable(k))


def flatten(program: Program) -> Flat:
    """Write a program out."""
    names = list(program.names)
    parameters: dict[str, int] = {}
    # Parameters become variables too: slopes by them are then slopes like all others.
    for name in (*program.parameters, *program.formulas):
        if name not in parameters:
            parameters[name] = len(names)
            names.append(name)
    flat = Flat(program, names, parameters)
    writer = _Writer(flat)
    flat.core = [*writer.formulas(program.formulas), *writer.statements(program.core)]
    flat.observing = list(writer.statements(program.observing))
    return flat


@final
class _Writer:
    def __init__(self, flat: Flat) -> None:
        self.flat = flat
        self._parameter = {name: variable(k) for name, k in flat.parameters.items()}

    def formulas(self, formulas: Mapping[str, Expression]) -> Iterator[Statement]:
        """Parameters given by others."""
        for name, formula in formulas.items():
            yield Let(self.flat.parameters[name], formula.substitute(self._parameter))

    def statements(self, steps: Iterable[Step]) -> Iterator[Statement]:
        """Every member of every step, copies left out."""
        for step in steps:
            if isinstance(step, Lookup):
                arguments = tuple(self.flat.value(k) for k in step.arguments)
                yield Read(step.kind, step.number, step.target, arguments)
                continue
            for r, target in enumerate(step.targets):
                yield from self._let(target, step.formula(r))

    def _let(self, target: int, value: Expression) -> Iterator[Statement]:
        known = self._parameter, self.flat.copies
        named = {name: found[name] for found in known for name in value.free_symbols if name in found}
        (written,) = substitute_all((value,), named)
        if _is_copy(written):
            # It is put in wherever the variable is read: fewer statements, and zeros and signs cancel at once.
            self.flat.copies[f"%{target}"] = written
        else:
            yield Let(target, written)


def _is_copy(value: Expression) -> bool:
    """Whether a value is a number or a variable, with a sign or without."""
    if isinstance(value, Mul) and value.coefficient == -1 and len(value.factors) == 1:
        base, q = value.factors[0]
        return q == 1 and isinstance(base, Symbol)
    return isinstance(value, Symbol | Number)


LARGEST_SOLVED = 30
"""More unknowns, or more states in one block of the mass matrix, are left to a solver of differential-algebraic equations."""


@final
@dataclass(frozen=True)
class Implicit:
    """F and what it needs. `hidden` unknowns are solved inside and so are no part of y."""

    statements: list[Statement]
    residuals: list[Expression]
    y: list[int]
    rates: list[int]
    hidden: list[int]


@final
@dataclass(frozen=True)
class Explicit:
    """f and what it needs."""

    statements: list[Statement]
    rates: list[Expression]


def implicit_form(flat: Flat) -> Implicit:
    """F as the program has it, its unknowns hidden."""
    program = flat.program
    residuals = [flat.value(k) for k in program.residuals]
    plain = Implicit(flat.core, residuals, program.y, program.rates, [])
    # A model without algebraic unknowns in y can be explicit, and explicit solvers are the quickest: so they are hidden
    # first.
    return plain if not program.unknowns else _hidden(flat, plain) or plain


def _hidden(flat: Flat, plain: Implicit) -> Implicit | None:
    """The same with its unknowns solved inside; None where they are too many, or where they do not follow from the states."""
    unknowns = flat.program.unknowns
    first = len(plain.y) - len(unknowns)
    # Inside, a full matrix is eliminated at every call: beyond this a solver with a sparse one does better.
    if len(unknowns) > LARGEST_SOLVED:
        return None
    # Then Newton inside would need the rates before f has given them.
    if reached_from(flat.core, plain.rates) & variables_in(plain.residuals[first:]):
        return _together(flat, plain, first)
    statements, _ = _with_newton(flat, flat.core, unknowns, plain.residuals[first:])
    return Implicit(statements, plain.residuals[:first], plain.y[:first], plain.rates[:first], list(unknowns))


def _together(flat: Flat, plain: Implicit, first: int) -> Implicit | None:
    """Unknowns that rates have a say in: rates follow from them, and both are solved for; F is then given rates less these.

    None where the equations are linear, which a solver of differential-algebraic equations does as well, or leave a rate open.
    """
    y, rates = plain.y[:first], plain.rates[:first]
    # As if the unknowns were known: rates in terms of them.
    free = _explicit(flat, Implicit(plain.statements, plain.residuals[:first], y, rates, []))
    if free is None:
        return None
    moving = reached_from(flat.core, rates)
    # What reads rates comes after them, and is what the unknowns are then solved from.
    core: list[Statement] = [*free.statements, *(Let(k, e) for k, e in zip(rates, free.rates, strict=True))]
    core += [s for s in flat.core if not moving.isdisjoint(targets_of(s))]
    unknowns, residuals = flat.program.unknowns, plain.residuals[first:]
    _, whole = _with_newton(flat, core, unknowns, residuals)
    if whole.linear or not _has_full_rank(whole.jacobian):
        return None
    # What follows from one linear equation alone (a sliding speed) may be zero: no tolerance could be asked of it.
    alone = {i: j for i, row in enumerate(whole.jacobian) if (j := _only(row)) is not None and not row[j].free_symbols}
    known = list(alone.values())
    # They are solved for first, apart: the others then start from a system in which they are known.
    if known:
        core, _ = _with_newton(flat, core, [unknowns[j] for j in known], [residuals[i] for i in alone])
    rest = [j for j in range(len(unknowns)) if j not in known]
    left = [r for i, r in enumerate(residuals) if i not in alone]
    statements, _ = _with_newton(flat, core, [unknowns[j] for j in rest], left, len(known))
    # F must be asked for at any yp, but the unknowns follow from the true rates: so F is yp less these.
    given = [flat.fresh(f"{flat.names[k]}'") for k in y]
    less = [variable(k) - variable(rate) for k, rate in zip(given, rates, strict=True)]
    return Implicit(statements, less, y, given, [unknowns[j] for j in (*known, *rest)])


def _only(row: tuple[Expression, ...]) -> int | None:
    """The place of the only entry of a row; None where there are more."""
    places = [j for j, e in enumerate(row) if e is not ZERO]
    return places[0] if len(places) == 1 else None


def _has_full_rank(jacobian: tuple[tuple[Expression, ...], ...]) -> bool:
    """Whether the entries of a Jacobian leave no row without a pivot of its own, whatever the values."""
    # At random values modulo a prime: what vanishes there vanishes everywhere, but for a chance of 1e-18.
    rows = [{j: value for j, e in enumerate(row) if (value := (residues(e) or (1,))[0])} for row in jacobian]
    return not Elimination(rows, ResidueField()).eliminate_all(range(len(jacobian)))


def _with_newton(
    flat: Flat, core: list[Statement], unknowns: list[int], residuals: list[Expression], scratch: int = 0
) -> tuple[list[Statement], Newton]:
    """Statements with one that solves for unknowns, before what needs them."""
    # Only what the residuals need stands in the loop: it runs several times a call.
    asked = needed_statements(core, residuals)
    moving = reached_from(asked, unknowns)
    # What does not depend on the unknowns is computed once, before the loop.
    body = tuple(s for s in asked if not moving.isdisjoint(targets_of(s)))
    inside = set(body)
    before = [s for s in asked if s not in inside]
    newton = _newton(flat, unknowns, before, body, tuple(residuals), scratch)
    done = {*body, *before}
    after = [s for s in core if s not in done]
    # The body once more behind the Newton, at its solution: what follows reads values from it.
    return [*before, newton, *body, *after], newton


def _newton(
    flat: Flat,
    unknowns: list[int],
    before: list[Statement],
    body: tuple[Statement, ...],
    residuals: tuple[Expression, ...],
    scratch: int,
) -> Newton:
    slopes: list[Statement] = []
    columns: list[list[Expression]] = []
    own = set(body)
    for w in unknowns:
        tangents = Tangents({w: ONE}, flat.fresh)
        tangents.follow(body)
        columns.append([tangents.tangent(e) for e in residuals])
        slopes += [s for s in tangents.statements if s not in own]
    jacobian = tuple(tuple(column[i] for column in columns) for i in range(len(residuals)))
    entries = [e for row in jacobian for e in row]
    moving = reached_from((*body, *slopes), unknowns)
    # Slopes that do not depend on the unknowns: one step from anywhere ends at the solution, unless a law jumps between.
    read = (*(e for s in body for e in expressions_of(s)), *residuals)
    bent = any(isinstance(s, Read) for s in body) or any(_may_jump(e, moving) for e in read)
    linear = not bent and moving.isdisjoint(variables_in(entries))
    terms = Terms(flat.fresh)
    # A linear system has the solution that elimination gives, whatever cancels.
    if not linear:
        terms.follow((*before, *body))
    sizes = tuple(terms.size(e) for e in residuals) if not linear else ()
    return Newton(
        tuple(unknowns),
        body,
        tuple(slopes),
        residuals,
        jacobian,
        measures=tuple(needed_statements(terms.statements, sizes)),
        terms=sizes,
        linear=linear,
        scratch=scratch,
        places=tuple(map(flat.program.unknowns.index, unknowns)),
        limit=flat.fresh("limit"),
    )


def _may_jump(expression: Expression, moving: set[int]) -> bool:
    """Whether a function of what moves stands in an expression: a sign has no slope, and is no constant."""
    calls = [node for node in postorder(expression) if isinstance(node, Call)]
    return any(not moving.isdisjoint(variables_in((node,))) for node in calls)


def explicit_form(flat: Flat, form: Implicit) -> Explicit | None:
    """F = M yp - g solved for yp; None where yp does not enter that way or the matrix is too large or unknowns are left."""
    return None if flat.program.unknowns and not form.hidden else _explicit(flat, form)


def _explicit(flat: Flat, form: Implicit) -> Explicit | None:
    moving = reached_from(form.statements, form.rates)
    # A search inside whose residuals feel the rates is no affine function of them.
    if any(isinstance(s, Newton) and not moving.isdisjoint(targets_of(s)) for s in form.statements):
        return None
    mass, slopes = _mass(flat, form, moving)
    if mass is None:
        return None
    # F is affine in yp, so F at yp = 0 is -g: the right-hand side of M yp = g.
    at_rest = {f"%{k}": ZERO for k in form.rates}
    statements: list[Statement] = []
    for statement in form.statements:
        if moving.isdisjoint(targets_of(statement)):
            statements.append(statement)
            continue
        if not isinstance(statement, Let):
            return None
        k = flat.fresh(f"{flat.names[statement.target]} at rest")
        statements.append(Let(k, statement.value.substitute(at_rest)))
        at_rest[f"%{statement.target}"] = variable(k)  # type: ignore[assignment]
    right = [-e for e in substitute_all(tuple(form.residuals), at_rest)]
    return _solved(flat, [*statements, *slopes], mass, right)


MassRows = list[dict[int, Expression]]


def _mass(flat: Flat, form: Implicit, moving: set[int]) -> tuple[MassRows | None, list[Statement]]:
    """The matrix M by rows, and the statements that its entries need; None where an entry depends on rates."""
    rows: MassRows = [{} for _ in form.residuals]
    slopes: list[Statement] = []
    dynamic = [s for s in form.statements if not moving.isdisjoint(targets_of(s))]
    own = set(dynamic)
    # One column of M for each rate: following only what it reaches keeps this linear in the size of large models.
    users = _users(dynamic, form.residuals)
    for j, rate in enumerate(form.rates):
        following, residuals = _reached(users, rate, dynamic)
        tangents = Tangents({rate: ONE}, flat.fresh)
        tangents.follow([dynamic[k] for k in following])
        slopes += [s for s in tangents.statements if s not in own]
        for i in residuals:
            entry = tangents.tangent(form.residuals[i])
            if entry is not ZERO:
                rows[i][j] = entry
    entries = [e for row in rows for e in row.values()]
    read = variables_in(entries)
    slopes = needed_statements(slopes, entries)
    for statement in slopes:
        read |= variables_read(statement)
    # A mass that depends on rates is none: F is then not affine in them.
    return (rows if moving.isdisjoint(read) else None), slopes


Users = dict[int, tuple[list[int], list[int]]]
"""By variable: the numbers of the statements and of the residuals that read it."""


def _users(statements: Sequence[Statement], residuals: Sequence[Expression]) -> Users:
    users: Users = defaultdict(lambda: ([], []))
    for k, statement in enumerate(statements):
        for v in variables_read(statement):
            users[v][0].append(k)
    for i, residual in enumerate(residuals):
        for v in variables_in([residual]):
            users[v][1].append(i)
    return users


def _reached(users: Users, start: int, statements: Sequence[Statement]) -> tuple[list[int], list[int]]:
    """The statements and residuals that depend on a variable, in order: a rate of a large model enters few of them."""
    following, residuals, seen, left = set[int](), set[int](), {start}, [start]
    while left:
        readers, ends = users[left.pop()]
        residuals.update(ends)
        for k in readers:
            if k not in following:
                following.add(k)
                left += [v for v in targets_of(statements[k]) if v not in seen]
                seen.update(targets_of(statements[k]))
    return sorted(following), sorted(residuals)


def _solved(flat: Flat, statements: list[Statement], mass: MassRows, right: list[Expression]) -> Explicit | None:
    size = len(mass)
    # A chain of gears couples a few rates, the rest of the model stays apart: each block is solved by itself.
    groups = UnionFind(size)
    for i, row in enumerate(mass):
        for j in row:
            groups.join(i, j)
    blocks: dict[int, list[int]] = {}
    for i in range(size):
        blocks.setdefault(groups.find(i), []).append(i)
    rates: list[Expression] = [ZERO] * size
    for block in blocks.values():
        # A row without an entry leaves a rate open: the equation is algebraic.
        if len(block) > LARGEST_SOLVED or any(not mass[i] for i in block):
            return None
        # A division, and no system: what most states need.
        if len(block) == 1:
            (i,) = block
            rates[i] = right[i] / mass[i][i]
            continue
        targets = tuple(flat.fresh(f"{flat.names[flat.program.y[i]]}'") for i in block)
        matrix = tuple(tuple(mass[i].get(j, ZERO) for j in block) for i in block)
        statements.append(Solve(targets, matrix, tuple(right[i] for i in block)))
        for i, k in zip(block, targets, strict=True):
            rates[i] = variable(k)
    return Explicit(statements, rates)


LONG_RATES = 280
"""Operations of f beyond which a compiler is busy for long: what a run can do without, or not at once, is left out."""

DEAR = 10
"""How many sums or products cost as much as a sine."""


@final
class Routines:
    """Makes the routines of one model."""

    def __init__(self, flat: Flat, form: Implicit, explicit: Explicit | None, base: Sequence[str]) -> None:
        self.flat = flat
        self.form = form
        self.explicit = explicit
        program = flat.program
        self.base = base
        self.unknown = len(form.y) + len(program.observables)
        self.leaves: dict[int, tuple[str, int]] = {program.time: ("t", 0)}
        for word, numbers in (
            ("y", form.y),
            ("yp", form.rates),
            ("u", program.inputs),
            ("m", program.signals.memory),
            ("p", [flat.parameters[name] for name in self.base]),
        ):
            self.leaves |= {k: (word, i) for i, k in enumerate(numbers)}

    def all(self) -> list[Routine]:
        """Every routine that the model has."""
        return [*self.values(), *self.slopes()]

    def values(self) -> list[Routine]:
        """The routines without slopes."""
        found = [self._routine("residual", self.form.statements, self.form.residuals)]
        found += [self._observe(), *self._books(), self._events(), *self._contents(), *self._samples()]
        if self.explicit is not None:
            found += self._rates(self.explicit, next(routine for routine in found if routine.name == "powers"))
        return found

    def _rates(self, explicit: Explicit, powers: Routine) -> list[Routine]:
        """The rates, and the rates with the powers at the same point where that spares work: books ask for both."""
        rates = self._routine("rhs", explicit.statements, explicit.rates)
        # A long function would be compiled twice.
        if operation_count(rates.statements, rates.results) > LONG_RATES:
            return [rates]
        # What rates and powers share is written once: that is what a common call spares.
        own = set(explicit.statements)
        given = [Let(k, rate) for k, rate in zip(self.form.rates, explicit.rates, strict=True)]
        together = [*explicit.statements, *given, *(s for s in powers.statements if s not in own)]
        both = self._routine("rhs_powers", together, [*explicit.rates, *powers.results])
        # An explicit method asks for rates twice as often as for powers.
        spares = 2 * (_cost(both) - _cost(rates)) < _cost(powers)
        return [rates, both] if spares else [rates]

    def _routine(
        self, name: str, statements: Sequence[Statement], results: Sequence[Expression], first: int = 0
    ) -> Routine:
        return Routine(name, needed_statements(statements, results), results, self.leaves, first, self.unknown)

    def _everything(self) -> list[Statement]:
        return [*self.form.statements, *self.flat.observing]

    def _observe(self) -> Routine:
        results = [self.flat.value(k) for _, k in self.flat.program.observables]
        return self._routine("observe", self._everything(), results, len(self.form.y))

    def _books(self) -> list[Routine]:
        """The powers, which every step asks for, and the stored energy, which only the ends of a run do."""
        books = self.flat.program.books
        powers = [total(self._values(ports)) for ports in books.resistive]
        # not by `max`, whose function in C is slow and takes zero for what is not a number
        lost = total(call("if", relation("<", p, ZERO), ZERO, p) for p in powers)
        made = total(call("if", relation("<", p, ZERO), -p, ZERO) for p in powers)
        results = [total(self._values(books.supplied)), lost, made, total(self._values(books.modulation))]
        stored = [total(self._values(books.stored))]
        everything, first = self._everything(), len(self.form.y)
        return [self._routine("powers", everything, results, first), self._routine("stored", everything, stored, first)]

    def _events(self) -> Routine:
        results = [self.flat.value(k) for _, k in self.flat.program.events]
        statements = needed_statements(self._everything(), results)
        return Routine("events", statements, results, self.leaves, unknown=self.unknown, checked=False)

    def _contents(self) -> list[Routine]:
        """What storages with bent laws keep, and the slopes of their laws: what steps are checked by."""
        results = self._values(k for _, *both in self.flat.program.contents for k in both)
        return [self._routine("contents", self._everything(), results, len(self.form.y))] if results else []

    def _samples(self) -> list[Routine]:
        """One routine for each group of signals sampled together, named by its number."""
        program = self.flat.program
        found = []
        for g, members in enumerate(sample_groups(program.signals.samples)):
            # Signals that are not sampled at this instant keep what they held.
            results = list(map(variable, program.signals.memory))
            for i in members:
                results[i] = self.flat.value(program.signals.samples[i][1])
            found.append(self._routine(f"sample_{g}", self._everything(), results))
        return found

    def _values(self, numbers: Iterable[int]) -> list[Expression]:
        return [self.flat.value(k) for k in numbers]

    # -- tangents --------------------------------------------------------------------------------------------------------------

    def slopes(self) -> list[Routine]:
        """Tangents with and without parameters: most are asked without, and then cost less."""
        form, explicit = self.form, self.explicit
        along = {"dy": form.y, "dyp": form.rates}
        parameters = {"dp": [self.flat.parameters[name] for name in self.base]}
        found = [
            self._tangent("tangent_y", form.statements, form.residuals, along),
            self._tangent("tangent_p", form.statements, form.residuals, along | parameters),
        ]
        if explicit is not None:
            states = {"dy": form.y}
            found += [
                self._tangent("rhs_tangent_y", explicit.statements, explicit.rates, states),
                self._tangent("rhs_tangent_p", explicit.statements, explicit.rates, states | parameters),
            ]
        return found

    def along(self, outputs: Iterable[int], following: Iterable[int]) -> list[Routine]:
        """Slopes of the rates, and of some observables, along states, inputs and parameters; of an explicit model.

        Observables that are `following` the states have rates as well: their own function, and slopes behind those of the others.
        """
        assert self.explicit is not None, "only explicit models are given to others"
        program, explicit = self.flat.program, self.explicit
        along = {"dy": self.form.y, "du": program.inputs, "dp": [self.flat.parameters[name] for name in self.base]}
        shown, told = ([self.flat.value(program.observables[k][1]) for k in places] for places in (outputs, following))
        together = self._with_rates()
        if not told:
            moving, rates, found = explicit.statements, explicit.rates, []
        else:
            moving, followers = self._in_time(together, told)
            rates, found = [*explicit.rates, *followers], [self._routine("following", moving, followers)]
        return [
            *found,
            self._tangent("rates_along", moving, rates, along),
            self._tangent("outputs_along", together, [*shown, *told], along),
        ]

    def _in_time(
        self, statements: Sequence[Statement], results: Sequence[Expression]
    ) -> tuple[list[Statement], list[Expression]]:
        """The rates of results as the states move, and the statements that they need."""
        seeds = {k: variable(rate) for k, rate in zip(self.form.y, self.form.rates, strict=True)}
        tangents = Tangents({self.flat.program.time: ONE, **seeds}, self.flat.fresh)
        tangents.follow(needed_statements(statements, results))
        # Tangents read the rates, which are known behind the statements only.
        own = set(statements)
        behind = [s for s in tangents.statements if s not in own]
        return [*statements, *behind], [tangents.tangent(e) for e in results]

    def from_states(self, told: Iterable[int]) -> tuple[Routine, Routine]:
        """The rates of an explicit model, and what is told of it, as functions of time and states.

        `told` counts time, then variables, then observables.
        """
        assert self.explicit is not None, "only explicit models have rates"
        rates = self._routine("rhs", self.explicit.statements, self.explicit.rates)
        program = self.flat.program
        channels = [program.time, *self.form.y, *(k for _, k in program.observables)]
        shown = [self.flat.value(channels[place]) for place in told]
        return rates, self._routine("told", self._with_rates(), shown)

    def _with_rates(self) -> list[Statement]:
        """All statements, with the rates that those which observe read."""
        assert self.explicit is not None, "only explicit models have rates"
        own = set(self.explicit.statements)
        given = [Let(k, rate) for k, rate in zip(self.form.rates, self.explicit.rates, strict=True)]
        return [*self.explicit.statements, *given, *(s for s in self._everything() if s not in own)]

    def constants(self, name: str, formulas: Sequence[Expression]) -> Routine:
        """Formulas of parameters and of time."""
        known = {name: variable(k) for name, k in self.flat.parameters.items()}
        known[TIME] = variable(self.flat.program.time)
        return self._routine(name, self.flat.core, substitute_all(tuple(formulas), known))

    def _tangent(
        self,
        name: str,
        statements: Sequence[Statement],
        results: Sequence[Expression],
        along: Mapping[str, Sequence[int]],
    ) -> Routine:
        leaves = dict(self.leaves)
        seeds: dict[int, Expression] = {}
        for word, numbers in along.items():
            for i, k in enumerate(numbers):
                d = self.flat.fresh(f"{word}[{i}]")
                leaves[d] = (word, i)
                seeds[k] = variable(d)
        tangents = Tangents(seeds, self.flat.fresh)
        tangents.follow(needed_statements(statements, results))
        found = [tangents.tangent(e) for e in results]
        return Routine(name, needed_statements(tangents.statements, found), found, leaves, unknown=self.unknown)


def _cost(routine: Routine) -> int:
    """What a call costs, in sums and products: calls of functions cost as much as several of them."""
    return operation_count(routine.statements, routine.results, function=DEAR)


def sample_groups(samples: Sequence[tuple[Sampled, int]]) -> list[list[int]]:
    """The places in memory of signals with one period and one offset."""
    groups: dict[tuple[Expression, Expression], list[int]] = {}
    for i, (law, _) in enumerate(samples):
        groups.setdefault((law.period, law.offset), []).append(i)
    return list(groups.values())
