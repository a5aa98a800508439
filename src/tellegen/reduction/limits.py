"""Limits that a user asks for, and where their parameters occur in a model: which elements they act on, which places keep the
value.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import did_you_mean, enumeration, listing
from tellegen.expressions import ZERO, Expression, Number, number, parse, symbol, to_text
from tellegen.expressions.elimination import with_definitions
from tellegen.model.laws import MatrixField
from tellegen.model.model import Element, Model
from tellegen.reduction import rules

Target = float | int | str | Expression
Limits = Mapping[str, Target] | Iterable[str]
"""`{"J_m": 0, "K": inf, "M_0": "L_e"}`, or the same as texts: `["J_m=0", "K=inf", "M_0=L_e"]`; `"J_m=0"` is one limit."""

_INFINITE = {"inf", "infinity", "oo", "+inf", "∞"}


@final
@dataclass(frozen=True)
class Limit:
    """A name and what it tends to; None stands for infinity."""

    name: str
    to: Expression | None

    @property
    def order(self) -> int:
        """1 for zero, -1 for infinity, 0 for a value: the power of something small that the parameter is like."""
        # Powers of something small: p = e^1 tends to zero, p = e^-1 to infinity.
        if self.to is None:
            return -1
        return 1 if self.to is ZERO else 0

    @property
    def value(self) -> str:
        """What it tends to, as a text."""
        return "inf" if self.to is None else to_text(self.to)

    def __str__(self) -> str:
        return f"{self.name}={self.value}"


def read_limits(limits: Limits) -> tuple[Limit, ...]:
    """The limits that a mapping or texts stand for, each once.

    Raises: ReductionError when one cannot be read, when two contradict each other, or when there is none.
    """
    # A string is iterable, and `J_m=0` would be read letter by letter.
    texts = [limits] if isinstance(limits, str) else limits  # one text is one limit, not its letters
    pairs = texts.items() if isinstance(texts, Mapping) else [_split(text) for text in texts]
    found: dict[str, Limit] = {}
    for name, target in pairs:
        limit = Limit(name.strip(), _target(name, target))
        # The same limit twice is harmless; two values of one parameter are not.
        earlier = found.setdefault(limit.name, limit)
        if earlier != limit:
            raise rules.CONTRADICTING_LIMITS.error(
                f"'{limit.name}' would tend to {earlier.value} and to {limit.value}",
                where=limit.name,
                fix="give one of them",
            )
    if not found:
        raise rules.BAD_LIMIT.error("no limit is given", fix="write a limit such as 'J_m=0' or 'K=inf'")
    return tuple(found.values())


def _split(text: str) -> tuple[str, str]:
    name, equals, target = text.partition("=")
    if not equals or not name.strip() or not target.strip():
        raise rules.BAD_LIMIT.error(f"'{text}' is not a limit", fix="write a limit such as 'J_m=0' or 'K=inf'")
    return name, target


def _target(name: str, target: Target) -> Expression | None:
    if isinstance(target, Expression):
        found = target
    elif isinstance(target, str):
        if target.strip().lower() in _INFINITE:
            return None
        try:
            found = parse(target)
        except TellegenError as reason:
            raise rules.BAD_LIMIT.error(
                f"'{name}={target}' is not a limit: {reason.what}",
                where=name,
                fix=f"write '{name}=0', '{name}=inf', or another parameter",
            ) from reason
    elif target == math.inf:
        return None
    elif math.isfinite(target):
        found = number(target)
    else:
        raise rules.BAD_LIMIT.error(f"'{name}' cannot tend to {target}", where=name, fix=f"write '{name}=inf'")
    # p -> 2 p is no limit at all.
    if name in found.free_symbols:
        raise rules.BAD_LIMIT.error(
            f"'{name}' would tend to '{to_text(found)}', which contains it", where=name, fix="give another parameter"
        )
    # Texts such as 0.0 have to be the one ZERO that identity tests look for.
    return ZERO if isinstance(found, Number) and found.rational == 0 else found


ROLES = ("storage", "resistive", "coupling")
"""A limit acts on the storages with its parameter; where there are none on resistive elements, then on couplings."""


@final
@dataclass(frozen=True)
class LimitTargets:
    """For each element and field that limits act on, the limits; and for each limit, in words, the places that keep the value.

    `marks` are names that stand for the values of elements and entries of fields which are limited by their own name.
    """

    acting: Mapping[str, tuple[Limit, ...]]
    keeping: Mapping[str, tuple[str, ...]]
    marks: Mapping[str, Expression]
    definitions: Mapping[str, Expression]

    def value(self, name: str, expression: Expression) -> Expression:
        """The expression of an element or entry of that name, in terms of what tends to something."""
        return with_definitions(self.marks.get(name, expression), self.definitions)

    def on(self, name: str) -> dict[str, Limit]:
        """The limits that act on an element or field, by the name that stands for each in its expressions."""
        marked = self._marked
        return {_mark(x.name) if _mark(x.name) in marked else x.name: x for x in self.acting[name]}

    @property
    def _marked(self) -> set[str]:
        return {name for e in self.marks.values() for name in e.free_symbols}


def find_limit_targets(model: Model, limits: tuple[Limit, ...]) -> LimitTargets:
    """Where each limit acts.

    Raises: ReductionError (T101) for a limit that names nothing, or whose parameter occurs in no law.
    """
    return _Finder(model, limits).targets()


def entry_name(name: str, i: int, j: int) -> str:
    """The name of an entry of a field, counted from 0: `coils[1,2]`."""
    return f"{name}[{i + 1},{j + 1}]"


_BLOCK = re.compile(r"(?P<name>.+?)(\[(?P<rows>\d+(:\d+)?),(?P<columns>\d+(:\d+)?)\])?")


def _entries_in(text: str, owner: MatrixField) -> list[tuple[int, int]]:
    """The entries of a field that `coils[1,2]`, the block `coils[1:2,1:2]` or `coils` alone names; none where it names no such."""
    found = _BLOCK.fullmatch(text)
    if found is None or found["name"] != owner.name:
        return []
    count = len(owner.members)
    rows, columns = (_indices(found[word], count) for word in ("rows", "columns"))
    return [(i, j) for i in rows for j in columns]


def _indices(text: str | None, count: int) -> range:
    """The numbers, counted from 0, that `2` or `1:3` names; all of them where nothing is said."""
    if text is None:
        return range(count)
    first, _, last = text.partition(":")
    start, end = int(first), int(last or first)
    return range(start - 1, end) if 1 <= start <= end <= count else range(0)


def _reach(limit: Limit, definitions: Mapping[str, Expression]) -> set[str]:
    """The parameter of a limit, and those whose value contains it."""
    through = (name for name, e in definitions.items() if limit.name in with_definitions(e, definitions).free_symbols)
    return {limit.name, *through}


def _mark(name: str) -> str:
    return f"@{name}"


@final
@dataclass
class _Finder:
    model: Model
    limits: tuple[Limit, ...]
    marks: dict[str, Expression] = field(default_factory=dict)

    def targets(self) -> LimitTargets:
        definitions = self._definitions()
        acting: dict[str, list[Limit]] = {}
        keeping: dict[str, tuple[str, ...]] = {}
        for limit in self.limits:
            self._refuse_unknown_target(limit)
            # A name that is a parameter is one; else it may be an element, or an entry of a field.
            direct = self._by_own_name(limit)
            if direct:
                acting.setdefault(direct, []).append(limit)
                continue
            users = self._users(limit, definitions)
            # Where a parameter occurs in a storage and elsewhere, the limit means the storage (m_a is also in the
            # weight): the other places keep the value.
            chosen = next((users[role] for role in ROLES if users[role]), [])
            if not chosen:
                raise self._acts_on_nothing(limit)
            # Only a modulus reads it: in a mechanism the same length may also place the bodies of a loop.
            if chosen is users["coupling"]:
                self._refuse_length_of_loop(limit, definitions)
            for name in chosen:
                acting.setdefault(name, []).append(limit)
            others = [f"'{name}'" for role in ROLES for name in users[role] if name not in chosen]
            keeping[limit.name] = (*others, *self._further(limit, definitions))
        return LimitTargets({n: tuple(found) for n, found in acting.items()}, keeping, self.marks, definitions)

    def _definitions(self) -> dict[str, Expression]:
        """Parameters whose value contains a parameter of a limit, directly or not."""
        wanted = {limit.name for limit in self.limits}
        found: dict[str, Expression] = {}
        grown = True
        while grown:
            # Repeated until nothing new is reached: a parameter may depend on a limit through several others.
            reach = wanted | found.keys()
            new = {
                name: p.expression
                for name, p in self.model.parameters.items()
                if p.expression is not None and name not in reach and reach & p.expression.free_symbols
            }
            found |= new
            grown = bool(new)
        return found

    def _by_own_name(self, limit: Limit) -> str:
        """The element or field whose own value, or entry, the limit names; empty where the name is a parameter."""
        if limit.name in self.model.parameters:
            return ""
        members = {m: (f, k) for f in self.model.fields for k, m in enumerate(f.members)}
        if limit.name in members:
            owner, k = members[limit.name]
            return self._mark_entry(limit, owner, k, k)
        for owner in self.model.fields:
            entries = _entries_in(limit.name.replace(" ", ""), owner)
            for i, j in entries:
                self._mark_entry(limit, owner, i, j)
            if entries:
                return owner.name
        element = next((e for e in self.model.elements if e.name == limit.name and e.value is not None), None)
        if element is None:
            raise self._unknown(limit)
        self.marks[element.name] = symbol(_mark(limit.name))
        return element.name

    def _mark_entry(self, limit: Limit, owner: MatrixField, i: int, j: int) -> str:
        for a, b in ((i, j), (j, i)):
            self.marks[entry_name(owner.name, a, b)] = symbol(_mark(limit.name))
        return owner.name

    def _users(self, limit: Limit, definitions: Mapping[str, Expression]) -> dict[str, list[str]]:
        """Elements and fields whose law contains the parameter, by role."""
        users: dict[str, list[str]] = {role: [] for role in ROLES}
        inside = {member: f.name for f in self.model.fields for member in f.members}
        reach = _reach(limit, definitions)
        entries = {f.name: [e for row in f.matrix for e in row] for f in self.model.fields}
        entries |= {f.name: [f.energy] for f in self.model.fields if f.energy is not None}
        for element in self.model.elements:
            name = inside.get(element.name, element.name)
            role = element.kind.role
            if role not in users or name in users[role]:
                continue
            formulas = entries[name] if name in entries else list(formulas_of(element))
            # Reading through definitions: `J = m r^2` tends to zero with m.
            if any(reach & formula.free_symbols for formula in formulas):
                users[role].append(name)
        return users

    def _refuse_length_of_loop(self, limit: Limit, definitions: Mapping[str, Expression]) -> None:
        """A limit of the ratios alone would leave the positions where they were, and take the joints apart."""
        reach = _reach(limit, definitions)
        loops = [c.name for c in self.model.closures if any(reach & e.free_symbols for e in c.equations)]
        if loops:
            raise rules.NO_LIMIT.error(
                f"'{limit.name}' also places the bodies of {'the loop' if len(loops) == 1 else 'the loops'} {listing(loops)}",
                where=limit.name,
                why="the bodies of a loop stand where its lengths let them: with other lengths the limit would start elsewhere",
                fix=f"give '{limit.name}' another value, or describe the mechanism that is left in the limit",
                members=loops,
            )

    def _further(self, limit: Limit, definitions: Mapping[str, Expression]) -> list[str]:
        """Places beside the laws: inputs, initial values, rates of displacements, signals, settings of elements with modes."""
        reach = _reach(limit, definitions)
        experiment = self.model.experiment
        found = [
            f"the input '{n}'" for n, s in experiment.inputs.items() for e in s.arguments if reach & e.free_symbols
        ]
        found += [f"the initial value of '{n}'" for n, e in experiment.initial.items() if reach & e.free_symbols]
        found += [f"the rate of '{n}'" for n, e in self.model.displacements.items() if reach & e.free_symbols]
        for name, definition in self.model.signals.items():
            if any(isinstance(e, Expression) and reach & e.free_symbols for e in definition.settings.values()):
                found.append(f"the signal '{name}'")
        for element in self.model.elements:
            settings = element.switching.settings.values() if element.switching is not None else ()
            if any(reach & e.free_symbols for e in settings):
                found.append(f"the settings of '{element.name}'")
        return list(dict.fromkeys(found))

    def _unknown(self, limit: Limit) -> Exception:
        known = [*self.model.parameters, *(e.name for e in self.model.elements if e.value is not None)]
        owner = next((f for f in self.model.fields if limit.name.partition("[")[0] == f.name), None)
        if owner is not None:
            count = len(owner.members)
            fix = f"'{owner.name}' has {count} rows and columns: write '{owner.name}[1,{count}]' or '{owner.name}[1:2,1:2]'"
            what = f"'{limit.name}' is no entry and no block of the field '{owner.name}'"
            return rules.NO_SUCH_PARAMETER.error(what, where=owner.name, fix=fix)
        fix = did_you_mean(limit.name, known) or f"the parameters are {listing(self.model.parameters, 40)}"
        return rules.NO_SUCH_PARAMETER.error(
            f"'{limit.name}' is neither a parameter nor an element with a value", where=self.model.name, fix=fix
        )

    def _refuse_unknown_target(self, limit: Limit) -> None:
        known = (*self.model.parameters, *(e.name for e in self.model.elements if e.value is not None))
        unknown = sorted((limit.to.free_symbols if limit.to is not None else frozenset()) - {*known})
        if unknown:
            raise rules.BAD_LIMIT.error(
                f"'{limit}' names '{unknown[0]}', which is no parameter",
                where=limit.name,
                fix=did_you_mean(unknown[0], known)
                or f"write '{limit.name}=0', '{limit.name}=inf', or another parameter",
            )

    def _acts_on_nothing(self, limit: Limit) -> Exception:
        used = sorted(
            {n for e in self.model.elements for f in formulas_of(e) for n in f.free_symbols} & {*self.model.parameters}
        )
        elsewhere = self._further(limit, self._definitions())
        only = f", only in {enumeration(elsewhere)}" if elsewhere else ""
        return rules.NO_SUCH_PARAMETER.error(
            f"the parameter '{limit.name}' occurs in the law of no element{only}",
            where=self.model.name,
            fix=f"give '{limit.name}' another value"
            + (f", or take a parameter of an element: {listing(used)}" if used else ""),
        )


def formulas_of(element: Element) -> Iterator[Expression]:
    """What limits of its parameters act on."""
    if element.value is not None:
        yield element.value
    if element.law is not None:
        yield element.law.expression
    if element.multiport is not None:
        for row in element.multiport.K:
            yield from row


def without_index(name: str) -> str:
    """The name of an element or variable that is alone now: `coils[2]` of a field that was broken up becomes `coils_2`."""
    return name.replace("[", "_").replace(",", "_").replace("]", "")
