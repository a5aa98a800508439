"""The lanes of a ladder: how many there are, the domain of each, what letters mean there, and what stands beside what."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import final

from tellegen.core.domains import DOMAINS, Domain, Side, other_side
from tellegen.core.units import Dimension
from tellegen.elements import ElementKind, Role, kinds_of
from tellegen.notations.context import ReadingContext
from tellegen.notations.network.keys import SIDES, has_dimension
from tellegen.notations.pog import rules
from tellegen.notations.pog.ladder import (
    MATRICES,
    NONE,
    RESISTIVE,
    STORAGES,
    SWITCHING,
    BlockItem,
    LadderBlock,
    LadderBranch,
    LadderConnection,
    LadderDomains,
    LadderField,
    LadderSection,
    LadderTransfer,
    ReadPart,
    Way,
    given_side,
    item_words,
    lanes_of,
    part_widths,
    taken_side,
)
from tellegen.notations.yaml.document import Scalar

_MECHANICS = ("translational", "rotational")
_AT_HOME = {
    "L": ("electrical", "hydraulic"),
    "M": ("translational",),
    "m": ("translational",),
    "J": ("rotational",),
    "E": _MECHANICS,
    "K": (*_MECHANICS, "hydraulic", "magnetic"),
}
"""The domains of letters that do not mean something everywhere."""


def domain_words(letter: str) -> str:
    """The domains of a letter, in words."""
    return " and ".join(_AT_HOME.get(letter, tuple(DOMAINS)))


@cache
def domains_of(letter: str, dimension: Dimension) -> tuple[str, ...]:
    """The domains in which a letter can stand for an element with a parameter of this dimension."""
    return tuple(d.name for d in DOMAINS.values() if any(has_dimension(k, dimension) for k in letter_kinds(letter, d)))


@cache
def letter_kinds(letter: str, domain: Domain) -> tuple[ElementKind, ...]:
    """The kinds that a letter can stand for in a domain, the one that a bare number means first."""
    if domain.name not in _AT_HOME.get(letter, DOMAINS):
        return ()
    role: Role = "storage" if letter in STORAGES else "switching" if letter == SWITCHING else "resistive"
    found = kinds_of(domain.name, role)
    if role == "switching":
        return tuple(found)
    if role == "storage":
        fitting = [k for k in found if k.side == _storage_side(letter, domain)]
        heights = [k for k in kinds_of(domain.name, "potential") if k.side == _storage_side(letter, domain)]
        # K divides: a bare number behind it is a stiffness; behind C, L or E it multiplies.
        return (*sorted(fitting, key=lambda k: k.inverse != (letter == "K")), *heights)
    sides: dict[str, Side] = {"R": domain.effort, "d": "across", "D": "across"}
    return tuple(sorted(found, key=lambda k: k.side != sides.get(letter, "through")))


def _storage_side(letter: str, domain: Domain) -> Side:
    if letter == "I":
        return domain.flow
    if letter in ("C", "K"):  # a stiffness is the reciprocal of a compliance
        return domain.effort
    return "across" if letter in ("M", "m", "J") else "through"


def field_kind(word: str, domain: Domain, way: Way) -> ElementKind | None:
    """The kind of the members of a field in one lane; None where the word stands for nothing there."""
    if word in STORAGES or word in RESISTIVE:
        return next((k for k in letter_kinds(word, domain) if k.inverse == (word == "K")), None)
    role: Role = "storage" if word == "energy" else "resistive"
    side = taken_side(way) if word == "power" else given_side(way)
    return next((k for k in kinds_of(domain.name, role) if k.side == side and not k.inverse), None)


@final
@dataclass(slots=True, eq=False)
class LaneStage:
    """The parts between two connections; a side ladder begins in the stage that it leaves."""

    parts: list[ReadPart] = field(default_factory=list)
    widths: list[tuple[int, str, ReadPart]] = field(default_factory=list)
    found: list[tuple[Domain, str] | None] = field(default_factory=list)

    @property
    def width(self) -> int:
        """The number of lanes."""
        return len(self.found)

    def domain(self, lane: int) -> Domain:
        """The domain of a lane."""
        known = self.found[lane]
        assert known is not None, "a stage without a domain was refused"
        return known[0]


class LaneStages:
    """Which stage each part belongs to, and the stage behind each connection. Parts are known by identity."""

    def __init__(self, context: ReadingContext, parts: list[ReadPart]) -> None:
        self.context = context
        self._stage: dict[int, LaneStage] = {}
        self._behind: dict[int, LaneStage] = {}
        self._all: list[LaneStage] = []
        self._walk(parts, self._new())
        for stage in self._all:
            self._settle_width(stage)
        for stage in self._all:
            self._settle_domains(stage)

    def of(self, part: ReadPart) -> LaneStage:
        """The stage of a part; of a connection, the one before it."""
        return self._stage[id(part)]

    def behind(self, connection: LadderConnection[Scalar]) -> LaneStage:
        """The stage behind a connection."""
        return self._behind[id(connection)]

    def _new(self) -> LaneStage:
        self._all.append(LaneStage())
        return self._all[-1]

    def _walk(self, parts: list[ReadPart], stage: LaneStage) -> None:
        for part in parts:
            self._stage[id(part)] = stage
            stage.parts.append(part)
            stage.widths += [(n, reason, part) for n, reason in part_widths(part)]
            # Behind a connection the lanes may have another number and other domains, so a new stage begins.
            if isinstance(part, LadderConnection):
                stage, before = self._new(), stage
                self._behind[id(part)] = stage
                rows, columns = (len(part.K), len(part.K[0])) if part.K else (1, 1)
                shape = f"'{part.name.text}' with {rows} x {columns} entries" if part.K else f"'{part.name.text}'"
                before.widths.append((columns, shape, part))
                stage.widths.append((rows, shape, part))
            elif isinstance(part, LadderBranch):
                self._walk(part.ladder.parts, stage)

    def _settle_width(self, stage: LaneStage) -> None:
        known: tuple[int, str, ReadPart] | None = None
        for n, reason, part in stage.widths:
            if known is not None and n != known[0]:
                lanes = "1 lane" if n == 1 else f"{n} lanes"
                what = f"{reason} fits {lanes}, but {known[1]} fits {known[0]}"
                fix = (
                    "give every block as many lanes as the section before it; the rows and columns of K count lanes too"
                )
                raise self.context.error(rules.WRONG_WIDTH, part.node, what, fix=fix)
            known = known or (n, reason, part)
        stage.found = [None] * (1 if known is None else known[0])
        for block in stage.parts:
            for item in block.items if isinstance(block, LadderBlock) else ():
                if max(lanes_of(item)) >= stage.width:
                    what = f"{item_words(item)} stands in lane {max(lanes_of(item)) + 1} of {stage.width}"
                    raise self.context.error(rules.WRONG_WIDTH, block.node, what, fix="number its lanes from 1")

    def _settle_domains(self, stage: LaneStage) -> None:
        for part in stage.parts:
            for lane, domain, reason in self._evidence(part, stage.width):
                known = stage.found[lane]
                if known is not None and not known[0].told_by_units:
                    continue  # a unit that two domains share does not speak against the one that was named
                if known is not None and known[0] is not domain:
                    what = f"the blocks would be {known[0].name} and {domain.name}: {known[1]}, but {reason}"
                    fix = "put a 'connect' between the two domains"
                    raise self.context.error(rules.TWO_DOMAINS, part.node, what, fix=fix)
                stage.found[lane] = known or (domain, reason)
        lanes = [k + 1 for k, known in enumerate(stage.found) if known is None]
        if lanes:
            first = next((p for p in stage.parts if not isinstance(p, LadderConnection)), stage.parts[0])
            fix = f"add '- domain: electrical' (or {', '.join(list(DOMAINS)[1:])}) before it, or give parameters their units"
            what = "the domain of this block is not known"
            if stage.width > 1:
                what = f"the domain of lane {lanes[0]} of this block is not known"
                fix = "add '- domain: [electrical, ...]' with a word for each lane before it, or give parameters their units"
            raise self.context.error(rules.NO_DOMAIN, first.node, what, fix=fix)

    def _evidence(self, part: ReadPart, width: int) -> list[tuple[int, Domain, str]]:
        if isinstance(part, LadderDomains):
            words = part.words if len(part.words) > 1 else part.words * width
            return [(lane, DOMAINS[word], f"the ladder says {word}") for lane, word in enumerate(words)]
        items = part.items if isinstance(part, LadderBlock) else ()
        return [found for item in items for found in self._of_item(item)]

    def _of_item(self, item: BlockItem[Scalar]) -> list[tuple[int, Domain, str]]:
        if isinstance(item, LadderTransfer):
            return []
        if isinstance(item, LadderField):
            rows = enumerate(zip(lanes_of(item), item.matrix, strict=False))  # laws have no entry whose unit would tell
            named = [(lane, item.word, row[k].text) for k, (lane, row) in rows]
        else:
            named = [(lane, entry.letter, entry.name) for lane, entry in enumerate(item) if entry is not None]
        found = []
        for lane, letter, name in named:
            parameter = self.context.parameters.get(name)
            if parameter is None or parameter.dimension is None or letter in (*MATRICES, SWITCHING):
                continue
            fitting = [d for d in domains_of(letter, parameter.dimension) if DOMAINS[d].told_by_units]
            if len(fitting) == 1:
                found.append((lane, DOMAINS[fitting[0]], f"'{name}' is given in {parameter.unit}"))
        return found


def working_parts(parts: Iterable[ReadPart]) -> list[ReadPart]:
    """What stands in a ladder, without the words of domains."""
    return [part for part in parts if not isinstance(part, LadderDomains)]


def strong_parts(parts: Iterable[ReadPart]) -> list[ReadPart]:
    """Blocks, connections and branches: all but sections and the words of domains."""
    return [part for part in working_parts(parts) if not isinstance(part, LadderSection)]


def check_neighbours(context: ReadingContext, parts: list[ReadPart], entry: LadderBranch[Scalar] | None = None) -> None:
    """Connections stand between blocks, sections apart from each other; `entry` is the branch of a side ladder.

    Raises: DescriptionError for the first one out of place.
    """
    work, strong = working_parts(parts), strong_parts(parts)
    for one, two in pairwise(work):
        if isinstance(one, LadderSection) and isinstance(two, LadderSection):
            fix = "remove one of them: nothing stands between them"
            raise context.error(rules.LOOSE_CONNECTION, two.node, "two sections follow each other", fix=fix)
    for one, two in pairwise(strong):
        # Two matrices in a row leave open which variables lie between them, unless both say it.
        if isinstance(one, LadderConnection) and isinstance(two, LadderConnection) and not (one.gives and two.takes):
            what = "two connections follow each other"
            fix = "put a series or parallel block between them, or write their product as one modulus"
            raise context.error(rules.LOOSE_CONNECTION, two.node, what, fix=fix)
    _check_ends(context, work, strong, entry)
    for part in work:
        if isinstance(part, LadderBranch):
            check_neighbours(context, part.ladder.parts, part)


def _check_ends(
    context: ReadingContext, work: list[ReadPart], strong: list[ReadPart], entry: LadderBranch[Scalar] | None
) -> None:
    if not strong:
        section = work[-1] if work else None
        if not isinstance(section, LadderSection) or section.sources is None:
            node = entry.node if entry is not None else work[0].node
            fix = "say which variable is given: 'section: {across: v, through: F, given: F}'"
            raise context.error(rules.LOOSE_CONNECTION, node, "a branch has no block and no given variable", fix=fix)
        return
    ends = [(strong[-1], work[-1])] + ([(strong[0], work[0])] if entry is None else [])
    if entry is not None and isinstance(work[0], LadderSection) and len(work) > 1:
        fix = "remove it: the branch shares the variables of the section that it leaves"
        raise context.error(rules.LOOSE_CONNECTION, work[0].node, "a section begins a branch", fix=fix)
    for part, end in reversed(ends):
        told = isinstance(end, LadderSection) and end.sources is not None
        if isinstance(part, LadderConnection) and not told:
            fix = "write it between a series or parallel block and another one"
            if isinstance(end, LadderSection):
                fix += ", or say which variable of the section is given: 'section: {across: v, through: F, given: v}'"
            raise context.error(rules.LOOSE_CONNECTION, part.node, "a connection has nothing on one side", fix=fix)


def imposed_side(section: LadderSection, beside: ReadPart | None, lane: int) -> Side | None:
    """The variable of a section that a source imposes in a lane, None without a source: as given, else what the block takes."""
    if section.sources is None:
        assert isinstance(beside, LadderBlock | LadderBranch), "a section that says nothing stands beside a block"
        return taken_side(beside.lane_way(lane))
    source = section.imposed(lane)
    if source is None:
        return None
    return next(side for side in SIDES if section.variable(side, lane).text == source.name)


def source_names(parts: list[ReadPart], *, branch: bool = False) -> Iterator[str]:
    """The variables that the sections at the ends of a ladder and of its branches impose."""
    work, strong = working_parts(parts), strong_parts(parts)
    ends = [(work[0], strong[0])] if strong and not branch else []
    ends.append((work[-1], strong[-1] if strong else work[-1]))
    for section, beside in ends:
        if isinstance(section, LadderSection):
            for lane in range(len(section.across)):
                side = imposed_side(section, beside, lane)
                if side is not None:
                    yield section.variable(side, lane).text
    for part in work:
        if isinstance(part, LadderBranch):
            yield from source_names(part.ladder.parts, branch=True)


# -- connections ---------------------------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class ConnectionPlace:
    """A connection among the working parts of a ladder, and the branch that the ladder leaves, if any."""

    connection: LadderConnection[Scalar]
    work: list[ReadPart]
    position: int
    entry: LadderBranch[Scalar] | None

    def sides_before(self, context: ReadingContext, width: int) -> tuple[Side, ...]:
        """The variables x_1 of a connection: what the block, the source or the branch before it gives."""
        if self.connection.takes:
            return _spread(context, self.connection, self.connection.takes, width, "takes")
        before = next(
            (p for p in reversed(self.work[: self.position]) if isinstance(p, LadderBlock | LadderBranch)), None
        )
        giver = before or self.entry
        if giver is not None:
            return tuple(given_side(giver.lane_way(lane)) for lane in range(width))
        return tuple(_imposed_at(self.work[0], lane) or "through" for lane in range(width))

    def sides_after(self, context: ReadingContext, width: int) -> tuple[Side, ...]:
        """The variables x_2 of a connection: what the block behind it takes, or what a source behind it is told."""
        if self.connection.gives:
            return _spread(context, self.connection, self.connection.gives, width, "gives")
        behind = next((p for p in self.work[self.position + 1 :] if isinstance(p, LadderBlock | LadderBranch)), None)
        if behind is not None:
            return tuple(taken_side(behind.lane_way(lane)) for lane in range(width))
        return tuple(other_side(_imposed_at(self.work[-1], lane) or "across") for lane in range(width))


def _imposed_at(end: ReadPart, lane: int) -> Side | None:
    assert isinstance(end, LadderSection), "a ladder that ends in a connection was refused"
    return imposed_side(end, None, lane)


def _spread(
    context: ReadingContext, part: LadderConnection[Scalar], sides: tuple[Side, ...], width: int, word: str
) -> tuple[Side, ...]:
    if len(sides) not in (1, width):
        what = f"'{word}' of '{part.name.text}' has {len(sides)} words for {width} lanes"
        raise context.error(rules.WRONG_WIDTH, part.node, what, fix="give one word, or one for each lane")
    return sides if len(sides) == width else sides * width


# -- names ---------------------------------------------------------------------------------------------------------------------


def section_names(work: list[ReadPart], stores: Callable[[int, int], bool]) -> dict[tuple[int, int], str]:
    """The names that sections give to the variables which blocks beside them share, by number of the block and lane.

    `stores` tells whether an element of a block decides that variable. Blocks are numbered without sections; of equal ones in a
    row the first that stores has the name, else the one beside the section. At the last section the source takes it then.
    """
    strong = strong_parts(work)
    names: dict[tuple[int, int], str] = {}
    named: set[tuple[int, int]] = set()
    position = 0
    for section in work:
        if not isinstance(section, LadderSection):
            position += 1
            continue
        imposed = {source.name for source in section.sources or () if source is not None}
        for beside in (position - 1, position):
            block = strong[beside] if 0 <= beside < len(strong) else None
            if not isinstance(block, LadderBlock):
                continue
            for lane in range(len(section.across)):
                run, alike = _run(strong, beside, lane), beside
                while alike + 1 < len(strong) and _run(strong, alike + 1, lane) == run:
                    alike += 1
                storing = next((k for k in range(run, alike + 1) if stores(k, lane)), None)
                if (run, lane) in named or (section is work[-1] and storing is None):
                    continue
                name = section.variable(given_side(block.lane_way(lane)), lane).text
                if name not in imposed and name != NONE:  # else the source has it
                    names[beside if storing is None else storing, lane] = name
                    named.add((run, lane))
    return names


def _run(strong: list[ReadPart], position: int, lane: int) -> int:
    """The first of the blocks in a row that share a variable in this lane."""
    while position > 0:
        before, here = strong[position - 1], strong[position]
        if not isinstance(before, LadderBlock) or not isinstance(here, LadderBlock):
            break
        if before.lane_way(lane) != here.lane_way(lane):
            break
        position -= 1
    return position
