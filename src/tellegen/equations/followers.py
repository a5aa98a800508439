"""What laws, moduli and rates of displacements read beside states and inputs, written over these.

A friction that reads a normal force may decide it in turn. Such a circle is torn: one variable of it becomes an algebraic unknown,
whose residual says what it follows from.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from tellegen.equations.port_variables import Settled
from tellegen.equations.system import Algebraic, EquationSystem
from tellegen.expressions import Expression, symbol


def without_followers(system: EquationSystem, read: Iterable[str], settled: Settled) -> EquationSystem:
    """The system without those of the names in `read` that follow from states, inputs and unknowns.

    What only rates of states decide keeps its name.
    """
    names = list(read)
    formulas = _formulas(names, settled)
    if not formulas:
        return system
    written, torn = _ordered(formulas, settled.formulas.keys())
    known = {name: written[name] for name in names if name in written}

    def change(e: Expression) -> Expression:
        return e if known.keys().isdisjoint(e.free_symbols) else e.substitute(known)

    changed = system.with_entries(change)
    residuals = tuple(symbol(name) - formulas[name].substitute(written) for name in torn)
    loops = changed.algebraic
    return replace(
        changed,
        where={name: change(e) for name, e in system.where.items()},
        displacements={name: change(e) for name, e in system.displacements.items()},
        algebraic=Algebraic((*loops.unknowns, *torn), (*loops.residuals, *residuals)),
    )


def _formulas(read: Sequence[str], settled: Settled) -> dict[str, Expression]:
    """What each name stands for, one step away; and so the names that these formulas read."""
    found: dict[str, Expression] = {}
    seen: set[str] = set()
    waiting = list(read)
    while waiting:
        seen.update(waiting)
        new = settled.followed(waiting)
        found |= new
        names = dict.fromkeys(name for e in new.values() for name in sorted(settled.following(e)))
        waiting = [name for name in names if name not in seen]
    return found


def _ordered(formulas: Mapping[str, Expression], signals: Set[str]) -> tuple[dict[str, Expression], list[str]]:
    """The names written out in an order in which each needs earlier ones alone, and those that were torn for that."""
    needs = {name: e.free_symbols & formulas.keys() for name, e in formulas.items()}
    written: dict[str, Expression] = {}
    torn: list[str] = []
    while waiting := [name for name in formulas if name not in written and name not in torn]:
        ready = [name for name in waiting if needs[name] <= {*written, *torn}]
        for name in ready:
            written[name] = formulas[name].substitute({n: written[n] for n in needs[name] if n in written})
        if not ready:
            torn.append(_most_needed(waiting, needs, signals))
    return written, torn


def _most_needed(waiting: Iterable[str], needs: Mapping[str, frozenset[str]], signals: Set[str]) -> str:
    """The variable that most others of a circle read, rather than a signal; what only follows from the circle is not asked."""
    circle = list(waiting)
    while True:
        uses = {name: sum(name in needs[other] for other in circle) for name in circle}
        used = [name for name in circle if uses[name]]
        if len(used) == len(circle):
            return max(circle, key=lambda name: (name not in signals, uses[name]))
        circle = used
