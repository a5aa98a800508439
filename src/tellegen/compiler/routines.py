"""The functions of a model as statements and results: what the C writer prints and the interpreter runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

from tellegen.compiler.forms import Explicit, Flat, Implicit
from tellegen.compiler.statements import (
    Let,
    Newton,
    Statement,
    Tangents,
    needed_statements,
    operation_count,
    variables_in,
    variables_read,
)
from tellegen.compiler.steps import variable
from tellegen.expressions import ZERO, Expression, call, relation, total
from tellegen.graph.signals import Sampled

LONG_RATES = 280
"""Operations of f beyond which a compiler is busy for long: what a run can do without, or not at once, is left out."""

DEAR = 10
"""How many sums or products cost as much as a sine."""


@final
@dataclass(frozen=True)
class Routine:
    """A function of model.h: its statements, and its results in order.

    `leaves` says where each variable that no statement sets comes from: `("y", 3)` is y[3]. A failure in result k is that of the
    model's variable `first + k`; of an unknown solved inside, that of `unknown`.
    """

    name: str
    statements: Sequence[Statement]
    results: Sequence[Expression]
    leaves: Mapping[int, tuple[str, int]]
    first: int = 0
    unknown: int = 0
    checked: bool = True

    def words_read(self) -> set[str]:
        """Which of the arguments are read: y, yp, dy, ..."""
        read = variables_in(self.results).union(*map(variables_read, self.statements))
        return {self.leaves[k][0] for k in read if k in self.leaves}

    def values_kept(self) -> int:
        """Up to where in the values of the context the systems inside keep their solutions."""
        return _values_kept(self.statements)


def _values_kept(statements: Iterable[Statement]) -> int:
    systems = [s for s in statements if isinstance(s, Newton)]
    inner = (_values_kept((*s.body, *s.slopes)) for s in systems)
    return max((*(s.scratch + len(s.unknowns) for s in systems), *inner), default=0)


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
            ("m", program.memory),
            ("p", [flat.parameters[name] for name in self.base]),
        ):
            self.leaves |= {k: (word, i) for i, k in enumerate(numbers)}

    def all(self) -> list[Routine]:
        """Every routine that the model has."""
        return [*self.values(), *self.slopes()]

    def values(self) -> list[Routine]:
        """The routines without slopes."""
        found = [self._routine("residual", self.form.statements, self.form.residuals)]
        found += [self._observe(), *self._books(), self._events(), *self._samples()]
        if self.explicit is not None:
            found += self._rates(self.explicit, next(routine for routine in found if routine.name == "powers"))
        return found

    def _rates(self, explicit: Explicit, powers: Routine) -> list[Routine]:
        """The rates, and the rates with the powers at the same point where that spares work: books ask for both."""
        rates = self._routine("rhs", explicit.statements, explicit.rates)
        if operation_count(rates.statements, rates.results) > LONG_RATES:
            return [rates]
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
        results = [
            total(self._values(books.supplied)),
            lost,
            made,
            total(self._values(books.modulation)),
        ]
        stored = [total(self._values(books.stored))]
        everything, first = self._everything(), len(self.form.y)
        return [
            self._routine("powers", everything, results, first),
            self._routine("stored", everything, stored, first),
        ]

    def _events(self) -> Routine:
        results = [self.flat.value(k) for _, k in self.flat.program.events]
        statements = needed_statements(self._everything(), results)
        return Routine("events", statements, results, self.leaves, unknown=self.unknown, checked=False)

    def _samples(self) -> list[Routine]:
        """One routine for each group of signals sampled together, named by its number."""
        program = self.flat.program
        found = []
        for g, members in enumerate(sample_groups(program.samples)):
            results = list(map(variable, program.memory))
            for i in members:
                results[i] = self.flat.value(program.samples[i][1])
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
