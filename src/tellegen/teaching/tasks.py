"""What an exercise asks: a figure with something left out, what the answers to it look like, and what each is worth.

Causal strokes are the plainest: every junction, two-port and source is asked whether it can live with them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, Protocol, final

from tellegen.causality import assign_causality
from tellegen.core.domains import DOMAINS
from tellegen.core.language import Phrases
from tellegen.core.names import did_you_mean, listing
from tellegen.drawing import Figure, draw
from tellegen.drawing.stages import scalar_bond_graph, with_strokes
from tellegen.graph import SourceLaw, StorageLaw, lower
from tellegen.model.bond_graph import PowerBond
from tellegen.model.model import Model
from tellegen.schemes import BondGraphScheme
from tellegen.schemes.bond_graph_scheme import OnePort
from tellegen.schemes.strokes import CausalStroke, StrokeSearch, stroke_sequence
from tellegen.teaching import rules

Hidden = Literal["strokes", "equations", "signs", "values", "reduction"]
"""What an exercise leaves out."""
Answers = Mapping[str, str]
"""Answers by what they answer: a bond, a summation, a parameter; equations are counted from 1."""


@final
@dataclass(frozen=True, slots=True)
class Mark:
    """Whether one answer is right, and why not."""

    item: str
    right: bool
    reason: str = ""


class Task(Protocol):
    """One exercise about one model."""

    @property
    def word(self) -> str:
        """The key under which answers stand."""

    @property
    def items(self) -> tuple[str, ...]:
        """What is asked for."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Formulas in LaTeX that the student is given."""

    @property
    def given(self) -> tuple[str, ...]:
        """What the student is told in words."""

    @property
    def figure(self) -> Figure:
        """The figure to complete."""

    @property
    def solved(self) -> Figure:
        """The complete figure."""

    def solution(self) -> Answers:
        """Right answers."""

    def answers(self, model: Model) -> Answers:
        """The answers that a student gives by a model."""

    def reasons(self) -> tuple[str, ...]:
        """The solution in sentences."""

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """What each answer is worth, in the order in which a teacher looks at them."""


def refuse_unknown(answers: Answers, known: tuple[str, ...], what: str) -> None:
    """Refuse answers to what was not asked.

    Raises: LessonError (L112).
    """
    for name in answers:
        if name not in known:
            fix = did_you_mean(name, known) or f"asked for are {listing(known, 20)}"
            raise rules.UNKNOWN_ITEM.error(f"'{name}' is no {what} of this sheet", where=name, fix=fix)


def missing(items: tuple[str, ...], answers: Answers, say: Phrases) -> dict[str, Mark]:
    """A mark for each item without an answer."""
    return {item: Mark(item, False, say("grade.missing")) for item in items if not answers.get(item, "").strip()}


@final
@dataclass(frozen=True)
class StrokesTask:
    """For each bond, by its number: the item at the end where its stroke stands."""

    scheme: BondGraphScheme
    say: Phrases
    sequence: tuple[CausalStroke, ...]
    word: str = field(default="strokes", init=False)
    shown: tuple[str, ...] = field(default=(), init=False)

    @cached_property
    def solved(self) -> Figure:
        """The bond graph; answers name junctions and bonds, so these have their names and numbers."""
        return draw(self.scheme, names=True, bond_numbers=True)

    @property
    def figure(self) -> Figure:
        """The same without strokes."""
        return replace(self.solved, scene=with_strokes(self.solved.scene, ()))

    @property
    def items(self) -> tuple[str, ...]:
        """The numbers of the bonds."""
        return tuple(str(bond.number) for bond in self.scheme.bonds)

    @property
    def given(self) -> tuple[str, ...]:
        """The bonds with the items at their ends."""
        kind = self.scheme.kind_of
        return tuple(
            self.say("exercise.bond", bond=b.number, tail=f"{kind(b.tail)}:{b.tail}", head=f"{kind(b.head)}:{b.head}")
            for b in self.scheme.bonds
        )

    def solution(self) -> Answers:
        """Its own strokes."""
        return {str(stroke.bond): stroke.end for stroke in self.sequence}

    def answers(self, model: Model) -> Answers:
        """The strokes of the bond graph of a model, at the bonds of this one that join the same items."""
        own = {frozenset((b.tail, b.head)): b.number for b in self.scheme.bonds}
        found = scalar_bond_graph(assign_causality(lower(model)))
        ends = {frozenset((b.tail, b.head)): b.head if b.stroke == "head" else b.tail for b in found.bonds}
        return {str(number): ends[pair] for pair, number in own.items() if pair in ends}

    def reasons(self) -> tuple[str, ...]:
        """The strokes in the order of their assignment."""
        return tuple(
            self.say("exercise.stroke", bond=s.bond, end=s.end, reason=s.reason(self.say)) for s in self.sequence
        )

    def marks(self, answers: Answers) -> tuple[Mark, ...]:
        """A mark for each bond, in the order of causal assignment; another assignment that is as good is right as well."""
        refuse_unknown(answers, self.items, "bond")
        ends = {int(item): self._end(item, text) for item, text in answers.items() if text.strip()}
        if len(ends) == len(self.items) and self._as_good(ends):
            return tuple(Mark(str(stroke.bond), True) for stroke in self.sequence)
        left_out = missing(self.items, answers, self.say)
        return tuple(left_out.get(str(s.bond)) or self._mark(s, ends) for s in self.sequence)

    def _mark(self, stroke: CausalStroke, ends: Mapping[int, str]) -> Mark:
        bond, end = self._bond(stroke.bond), ends[stroke.bond]
        if end == stroke.end:
            return Mark(str(stroke.bond), True)
        broken = next((text for name in (bond.tail, bond.head) if (text := self._broken(name, ends))), "")
        return Mark(str(stroke.bond), False, f"{broken} {stroke.reason(self.say)}".strip())

    def _bond(self, number: int) -> PowerBond:
        return next(bond for bond in self.scheme.bonds if bond.number == number)

    def _end(self, item: str, text: str) -> str:
        """The item that an answer names: by its name, with its letters before it, or as tail or head."""
        bond = self._bond(int(item))
        words = {"tail": bond.tail, "head": bond.head}
        words |= {name: name for name in (bond.tail, bond.head)}
        words |= {f"{self.scheme.kind_of(name)}:{name}": name for name in (bond.tail, bond.head)}
        end = words.get("".join(text.split()))
        if end is None:
            what = f"bond {item} has no end '{text[:80]}'"
            fix = f"say '{bond.tail}' or '{bond.head}', the item where the stroke stands"
            raise rules.UNKNOWN_ITEM.error(what, where=item, fix=fix)
        return end

    # What strokes must obey

    def _as_good(self, ends: Mapping[int, str]) -> bool:
        """Whether all rules hold, and as many storages are in integral causality as can be."""
        items = [*self.scheme.junctions, *self.scheme.two_ports]
        if any(self._broken(name, ends) for name in items) or any(self._denied(one, ends) for one in self._one_ports()):
            return False
        best = {bond.number: bond.head if bond.stroke == "head" else bond.tail for bond in self.scheme.bonds}
        return self._integral(ends) == self._integral(best)

    def _one_ports(self) -> Iterator[OnePort]:
        yield from self.scheme.one_ports.values()

    def _gives(self, one: OnePort, ends: Mapping[int, str]) -> str:
        (bond,) = self.scheme.bonds_of(one.name)
        domain = DOMAINS[one.domain]
        return domain.flow if ends[bond.number] == one.name else domain.effort

    def _denied(self, one: OnePort, ends: Mapping[int, str]) -> bool:
        """Whether an element that has no choice is given another one."""
        forced = isinstance(one.port.law, SourceLaw) or one.port.forced or not getattr(one.port.law, "invertible", True)
        keeps = isinstance(one.port.law, StorageLaw) and one.port.law.keeps_energy_variable
        return (forced or keeps) and self._gives(one, ends) != one.decides

    def _integral(self, ends: Mapping[int, str]) -> int:
        storages = (one for one in self._one_ports() if isinstance(one.port.law, StorageLaw))
        return sum(self._gives(one, ends) == one.port.law.side for one in storages)

    def _broken(self, name: str, ends: Mapping[int, str]) -> str:
        """The rule of a junction or a two-port that strokes break, in words; empty where they keep it or are not all there."""
        bonds = self.scheme.bonds_of(name)
        if name in self.scheme.one_ports or any(bond.number not in ends for bond in bonds):
            return ""
        letters = self.scheme.kind_of(name)
        item = f"{letters}:{name}"
        if name in self.scheme.junctions:
            at = sum(ends[bond.number] == name for bond in bonds)
            bringing = at if letters == "0" else len(bonds) - at
            key = "zero" if letters == "0" else "one"
            return "" if bringing == 1 else self.say(f"grade.{key}", item=item, count=bringing)
        matrices = {two.name: two.matrix for two in self.scheme.two_ports.values() if two.matrix}
        search = StrokeSearch(self.scheme.graph, matrices)
        for bond in bonds:
            follows = search.follows(name, bond) if bond.number in search.strokes else []
            search.put(bond, ends[bond.number])
            if follows is None:
                break
        agreed = search.follows(name, bonds[0])
        agrees = agreed is not None and all(ends[bond.number] == end for bond, end in agreed)
        return "" if agrees else self.say("grade.two_port", item=item)


def strokes_task(model: Model, say: Phrases) -> StrokesTask:
    """The exercise of the strokes of a model.

    Raises: TellegenError where the model has no causality.
    """
    scheme = scalar_bond_graph(assign_causality(lower(model)))
    return StrokesTask(scheme, say, stroke_sequence(scheme))
