"""Where loops of a mechanism fit, which coordinates follow from each, and the equations between velocities that close it.

A revolute joint closes a loop with two equations g = 0 in the coordinates. Of the speeds in g' = sum d_k w_k two follow. The
joint holds the velocities of its points together along two vectors, each at a right angle to the d of one of the two: each row
then has one of them as its only unknown, with the factor d_1 x d_2. So nothing is ever divided by but this determinant, which
vanishes in the true singular positions of the loop and nowhere else.

Which coordinates follow is a matter of values: those whose determinant vanishes nowhere on the way round, as far as such exist.
The crank of a slider crank decides its slide in every position, the slide has dead centres.
"""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.expressions import ONE, ZERO, Expression, number, sqrt
from tellegen.model import kinematics
from tellegen.model.mechanism import GROUND, ORIGIN, BodyPoint, Joint
from tellegen.notations.context import ReadingContext
from tellegen.notations.mechanism import rules
from tellegen.notations.parameters import known_values

GOOD = 0.05
"""Of several choices the first is taken whose determinant is at least this share of the best one."""

SAFE = 0.02
"""Coordinates decide a loop on a way where their determinant stays above this share of its largest value."""

SINGULAR = 1e-5
"""A determinant below this share of the product of its columns counts as zero: in a singular position, Newton's method comes no
closer than the root of its tolerance."""


@final
@dataclass(frozen=True)
class VelocityRow:
    """One velocity that a joint sets to zero: the difference of the velocities of its points along a vector.

    `turning` is the factor of the angular velocity of the first body in it. A row without a vector holds the angle alone.
    """

    along: kinematics.Vector
    turning: Expression = ZERO


@final
@dataclass(frozen=True)
class KinematicLoop:
    """A loop: its equations between positions, the coordinates and speeds that they decide, and the rows between velocities.

    `margin` tells how far it is from a singular position: the sine between the directions that it solves for.
    """

    joint: Joint
    equations: tuple[Expression, ...]
    solves: tuple[str, ...]
    follows: tuple[str, ...]
    rows: tuple[VelocityRow, ...]
    margin: Expression


class _Gap:
    """The gap between the two sides of a joint that closes a loop."""

    def __init__(self, tree: kinematics.MechanismTree, joint: Joint) -> None:
        self.tree, self.joint = tree, joint
        self.between = kinematics.vector_sum(
            tree.position(joint.first), kinematics.opposite_vector(tree.position(joint.second))
        )
        one, two = (tree.poses[mark.body].angle for mark in (joint.first, joint.second))
        self.turn = one.turned(joint.settings.get("angle", ZERO)).expression - two.expression
        self.axis = kinematics.unit_vector(tree.axis(joint))


def _equations_of(tree: kinematics.MechanismTree, joint: Joint) -> tuple[Expression, ...]:
    """What is zero where a joint that closes a loop fits: lengths, and for a joint that holds an angle the angle first."""
    gap = _Gap(tree, joint)
    if joint.slides:
        return gap.turn, kinematics.cross_product(gap.axis, gap.between)
    return kinematics.components(gap.between) if joint.turns else (gap.turn, *kinematics.components(gap.between))


def _close_loop(tree: kinematics.MechanismTree, joint: Joint, solves: tuple[str, ...]) -> KinematicLoop:
    """The loop that a joint closes, with the coordinates that shall follow from it."""
    gap = _Gap(tree, joint)
    rows: list[VelocityRow] = []
    if joint.slides:
        rows.append(
            VelocityRow(
                kinematics.perpendicular(gap.axis),
                -kinematics.cross_product(gap.between, kinematics.perpendicular(gap.axis)),
            )
        )
        margin = _equations_of(tree, joint)[1].derivative(solves[1])
    else:
        one, two = (_scaled(kinematics.partial_derivative(gap.between, name)) for name in solves[-2:])
        # d x v is v along d turned anticlockwise: the row for one coordinate leaves out what the other one moves
        rows.extend((VelocityRow(kinematics.perpendicular(two)), VelocityRow(kinematics.perpendicular(one))))
        margin = kinematics.cross_product(one, two)
    if not joint.turns:
        rows.insert(0, VelocityRow(()))
    follows = tuple(next(iter(tree.coordinates[name].rates)) for name in solves)
    return KinematicLoop(joint, _equations_of(tree, joint), solves, follows, tuple(rows), margin)


def sliding_distance(tree: kinematics.MechanismTree, joint: Joint) -> Expression:
    """The distance along a prismatic joint that closes a loop."""
    gap = _Gap(tree, joint)
    return kinematics.cross_product(gap.between, kinematics.perpendicular(gap.axis)) * -1


def _scaled(vector: kinematics.Vector) -> kinematics.Vector:
    """The vector by the length of its first part: a unit vector as a rule, so that what the joint passes on are forces."""
    along, across, _ = vector[0]
    length = along if across is ZERO else across if along is ZERO else sqrt(along * along + across * across)
    return tuple(kinematics.RotatingVector(part.along / length, part.across / length, part.angle) for part in vector)


def _candidate_coordinates(tree: kinematics.MechanismTree, joint: Joint, taken: set[str]) -> list[str]:
    """Coordinates that a loop can decide, those first that are furthest from the ground: what drives stands on it as a rule."""
    held = set(tree.mechanism.independent)
    names = {s for e in _equations_of(tree, joint) for s in e.free_symbols}
    # Where a body rolls, its coordinates have rates of several speeds: none of these follows from one equation.
    direct = [name for name in tree.ranked if set(tree.coordinates[name].rates.values()) == {ONE}]
    return [name for name in reversed(direct) if name in names and name not in taken and name not in held]


def _solvable_coordinates(
    tree: kinematics.MechanismTree, joint: Joint, taken: set[str], values: Mapping[str, float], good: float = GOOD
) -> list[tuple[str, ...]]:
    """Sets of coordinates that a loop can decide at a position, the ones to take first in front."""
    equations = _equations_of(tree, joint)
    free = _candidate_coordinates(tree, joint, taken)
    columns = {name: [e.derivative(name).evaluate(values) for e in equations] for name in free}
    rated = []
    for names in combinations(free, len(equations)):
        ordered = _angle_first(names, equations[0]) if not joint.turns else names
        if ordered is not None and (size := _relative_determinant([columns[n] for n in ordered])) > SINGULAR:
            rated.append((size, ordered))
    best = max((size for size, _ in rated), default=0.0)
    return [names for size, names in rated if size >= good * best]


def _angle_first(names: tuple[str, ...], angle: Expression) -> tuple[str, ...] | None:
    """The coordinates with one in front that the equation of the angle decides; None where it decides none of them."""
    first = next((name for name in names if angle.derivative(name) is not ZERO), None)
    return None if first is None else (first, *(name for name in names if name != first))


def _relative_determinant(columns: list[list[float]]) -> float:
    """The determinant beside the product of the lengths of its columns: one for right angles, zero for dependent columns."""
    lengths = [sum(x * x for x in column) ** 0.5 for column in columns]
    if not all(lengths):
        return 0.0
    scaled = [[x / length for x in column] for column, length in zip(columns, lengths, strict=True)]
    return abs(_determinant(scaled))


def _determinant(columns: list[list[float]]) -> float:
    """By the minors of the first column: there are three columns at most."""
    if not columns:
        return 1.0
    minors = ([column[:k] + column[k + 1 :] for column in columns[1:]] for k in range(len(columns)))
    return sum(
        (-x if k % 2 else x) * _determinant(minor) for k, (x, minor) in enumerate(zip(columns[0], minors, strict=True))
    )


STRIDE, STRIDES = 0.5, 13
"""Ways on which loops are moved: radians a step, and steps once round."""

Matrix = list[list[float]]


@final
class _Ways:
    """Positions in which all loops fit, on ways from the start in all directions: whether coordinates decide loops everywhere."""

    def __init__(self, equations: Sequence[Expression], names: Sequence[str], start: Mapping[str, float]) -> None:
        self.equations, self.names, self.start = equations, list(names), start
        self.slopes = [[e.derivative(name) for name in self.names] for e in equations]

    def decide(self, chosen: Sequence[str], count: int) -> bool:
        """Whether the first equations, so many, decide the chosen coordinates on all ways: their determinant keeps its sign."""
        columns = [self.names.index(name) for name in chosen]
        found = [_signed_determinant([[row[k] for k in columns] for row in J[:count]]) for J in self.matrices]
        largest = max(map(abs, found))
        return min(x if found[0] > 0 else -x for x in found) > SAFE * largest

    def have_room(self, tree: kinematics.MechanismTree) -> bool:
        """Whether all equations hold independent motions at the start, so that each loop can have coordinates of its own."""
        free = [k for k, name in enumerate(self.names) if name not in tree.mechanism.independent]
        rows = [[row[k] for k in free] for row in self.matrices[0]]
        sizes = [math.hypot(*row) for row in rows]
        if not all(sizes):
            return False
        pairs = [
            [sum(x * y for x, y in zip(one, two, strict=True)) / (a * b) for two, b in zip(rows, sizes, strict=True)]
            for one, a in zip(rows, sizes, strict=True)
        ]
        return _signed_determinant(pairs) > SINGULAR**2

    def hold(self, chosen: Sequence[str], count: int) -> bool:
        """Whether the first equations, so many, decide the chosen coordinates at the start."""
        columns = [self.names.index(name) for name in chosen]
        rows = [[row[k] for k in columns] for row in self.matrices[0][:count]]
        size = math.prod(math.hypot(*row) for row in rows)
        return abs(_signed_determinant(rows)) > SAFE * size

    @cached_property
    def matrices(self) -> list[Matrix]:
        """The slopes of all equations by all coordinates, at each position; the start is the first."""
        first = self._matrix(self.start)
        freedoms = len(self.names) - len(self.equations)
        chance = random.Random(1)  # the same ways every time: a model must not change from one reading to the next
        found = [first]
        for _ in range(max(freedoms, 0)):
            way = [chance.uniform(-1.0, 1.0) for _ in self.names]
            for ahead in (way, [-x for x in way]):
                found.extend(self._along(first, ahead))
        return found

    def _along(self, J: Matrix, way: list[float]) -> Iterator[Matrix]:
        """From the start straight on, as far as the loops let it."""
        at = dict(self.start)
        for _ in range(STRIDES):
            # What the loops forbid is taken from the direction; the rest goes on as it came.
            against = kinematics.least_step(J, [sum(x * y for x, y in zip(row, way, strict=True)) for row in J])
            if against is None:
                return
            way = [x - y for x, y in zip(way, against, strict=True)]
            longest = max(map(abs, way))
            if not longest:
                return
            way = [x / longest for x in way]
            guesses = {name: at[name] + STRIDE * x for name, x in zip(self.names, way, strict=True)}
            moved = kinematics.nearest_position(self.equations, self.slopes, self.names, {**at, **guesses})
            if moved is None:
                return
            at |= moved
            J = self._matrix(at)
            yield J

    def _matrix(self, at: Mapping[str, float]) -> Matrix:
        return [[slope.evaluate(at) for slope in row] for row in self.slopes]


def _signed_determinant(matrix: Matrix) -> float:
    """By elimination with the largest pivots."""
    rows, found = [list(row) for row in matrix], 1.0
    for k in range(len(rows)):
        pivot = max(range(k, len(rows)), key=lambda r: abs(rows[r][k]))
        if not rows[pivot][k]:
            return 0.0
        if pivot != k:
            rows[k], rows[pivot], found = rows[pivot], rows[k], -found
        found *= rows[k][k]
        for r in range(k + 1, len(rows)):
            factor = rows[r][k] / rows[k][k]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return found


def _equations(tree: kinematics.MechanismTree) -> list[Expression]:
    return [e for joint in tree.closing for e in _equations_of(tree, joint)]


Told = Iterator[tuple[str, Expression]]
"""Names of positions with their formulas."""


def _angles(tree: kinematics.MechanismTree) -> Told:
    """The angles of bodies that turn with others, which are no coordinates."""
    for name, body in tree.mechanism.bodies.items():
        if body.angle and body.angle not in tree.coordinates:
            yield body.angle, tree.poses[name].angle.expression


def _distances(tree: kinematics.MechanismTree, *, of_all: bool = False) -> Told:
    """The distances of prismatic joints, of those that close loops or of all."""
    for joint in tree.mechanism.joints.values() if of_all else tree.closing:
        if joint.slides:
            yield joint.names["distance"], sliding_distance(tree, joint)


def _places(tree: kinematics.MechanismTree) -> Told:
    """Where the origins of bodies are."""
    for name, body in tree.mechanism.bodies.items():
        yield from zip(body.at, kinematics.components(tree.position(BodyPoint(name, ORIGIN))), strict=False)


LENGTH = "m"


@final
class LoopAssembly:
    """The loops of a tree where it starts. `given` are initial values that somebody wrote, `start` those of all their coordinates.

    Raises: DescriptionError for a loop that fits nowhere (M110), that is over-constrained or singular where it starts (M111), or
    whose given positions leave a gap above the tolerance (M113).
    """

    def __init__(self, context: ReadingContext, tree: kinematics.MechanismTree, given: Mapping[str, float]) -> None:
        self.tree, self.given = tree, given
        self.known = known_values(context.parameters)
        self.start: dict[str, float] = {}
        self.loops = self._loops() if tree.closing else []

    def followers(self) -> dict[str, tuple[Expression, str]]:
        """Angles and distances that are coordinates in another order of lines, with their units; none without loops."""
        if not self.tree.closing:
            return {}
        turning = {name: (formula, "rad") for name, formula in _angles(self.tree) if formula.free_symbols}
        return turning | {name: (formula, LENGTH) for name, formula in _distances(self.tree)}

    def _loops(self) -> list[KinematicLoop]:
        """The loops with the coordinates that follow from each, chosen where the mechanism starts."""
        tree = self.tree
        values = self._assemble()
        chosen = self._chosen(values, self._ways(values), ())
        return [_close_loop(tree, joint, names) for joint, names in zip(tree.closing, chosen, strict=True)]

    def _chosen(
        self, values: Mapping[str, float], ways: _Ways, before: tuple[tuple[str, ...], ...]
    ) -> tuple[tuple[str, ...], ...]:
        """The coordinates that follow from each loop, once those `before` have theirs.

        What one loop takes may be all that another has, though others would do for the first: then it takes the next that it can.
        Where the loops can be held at all there is such a choice, for their determinant is a sum of products of one minor of each.
        """
        tree = self.tree
        if len(before) == len(tree.closing):
            return before
        joint, taken = tree.closing[len(before)], [name for names in before for name in names]
        possible = _solvable_coordinates(tree, joint, set(taken), values)
        if not possible:
            raise self._redundant(joint, set(taken), values)
        count = sum(len(_equations_of(tree, one)) for one in tree.closing[: len(before) + 1])
        everywhere = (names for names in possible if ways.decide((*taken, *names), count))
        best = possible[0] if len(possible) == 1 else next(everywhere, possible[0])
        try:
            return self._chosen(values, ways, (*before, best))
        except TellegenError as first:
            others = _solvable_coordinates(tree, joint, set(taken), values, good=0.0) if ways.have_room(tree) else []
            for names in others:
                if names != best and ways.hold((*taken, *names), count):
                    with suppress(TellegenError):
                        return self._chosen(values, ways, (*before, names))
            raise first from None

    def _ways(self, values: Mapping[str, float]) -> _Ways:
        equations = _equations(self.tree)
        names = {name for e in equations for name in e.free_symbols}
        return _Ways(equations, [name for name in self.tree.ranked if name in names], values)

    def _assemble(self) -> dict[str, float]:
        """Values of parameters and of coordinates where all loops fit.

        Sought in the tree that the mechanism has in plain order, and told in the coordinates of the tree as described: of several
        positions the order of lines must not choose one.
        """
        tree, known = kinematics.build_tree(kinematics.in_plain_order(self.tree.mechanism)), self.known
        equations = _equations(tree)
        names = {name for e in (*equations, *_equations(self.tree)) for name in e.free_symbols}
        places = tree.coordinates.keys() | self.tree.coordinates.keys()
        # A length without a value is a symbol: any will do to see which coordinates follow.
        fill = {name: 1.0 + 0.1 * k for k, name in enumerate(sorted(names - known.keys() - places))}
        values = {**known, **fill, **dict.fromkeys(tree.coordinates, 0.0), **self.given}
        if not fill:
            self._check_given({**dict.fromkeys(self.tree.coordinates, 0.0), **values})
        said = self._said_beside(tree)
        inside = [name for name in tree.ranked if any(name in e.free_symbols for e in (*equations, *said))]
        free = [name for name in inside if name not in self.given]
        # All different and none zero: stretched or folded linkages are singular, and those are the round angles.
        guesses = {name: 0.1 * (k + 1) for k, name in enumerate(inside)} | dict(self.given)
        # First what somebody said about the start is held; where it fits nowhere it is a guess like the others.
        for unknown, wanted in ((free, [*equations, *said]), (inside, equations)):
            if unknown and (found := kinematics.solve_positions(wanted, unknown, values, guesses)) is not None:
                return self._told({**values, **guesses, **found}, tree)
        if not fill:
            raise self._impossible(kinematics.closest_positions(equations, inside, values, guesses), tree)
        return self._told({**values, **guesses}, tree)

    def _said_beside(self, tree: kinematics.MechanismTree) -> list[Expression]:
        """Equations for what somebody said about angles and distances that are no coordinates of a tree."""
        told = {**dict(_angles(tree)), **dict(_distances(tree))}
        return [told[name] - number(value) for name, value in self.given.items() if name in told]

    def _told(self, values: dict[str, float], tree: kinematics.MechanismTree) -> dict[str, float]:
        """A position of another tree of the mechanism in the coordinates of its own; those of loops are its start."""
        told = dict(values)
        for name, formula in (*_angles(tree), *_distances(tree, of_all=True), *_places(tree)):
            if name in self.tree.coordinates and name not in tree.coordinates:
                told[name] = formula.evaluate(values)
        inside = {name for e in _equations(self.tree) for name in e.free_symbols}
        guessed = [n for n in self.tree.coordinates if n in inside]
        self.start = {**self.given, **{name: told[name] for name in guessed}}
        return {**dict.fromkeys(self.tree.coordinates, 0.0), **told}

    # -- what can be wrong -----------------------------------------------------------------------------------------------------

    def _gap(self, joint: Joint, values: Mapping[str, float]) -> float:
        return _gap_of(self.tree, joint, values)

    def _check_given(self, values: Mapping[str, float]) -> None:
        """Initial values that say where every body of a loop is must close it, where a tolerance is asked for."""
        wanted = self.tree.mechanism.tolerance
        if wanted is None or not wanted.free_symbols <= values.keys():
            return
        tolerance = wanted.evaluate(values)
        for joint in self.tree.closing:
            names = {name for e in _equations_of(self.tree, joint) for name in e.free_symbols}
            inside = [name for name in self.tree.coordinates if name in names]
            gap = self._gap(joint, values)
            if self.given.keys() >= set(inside) and gap > tolerance:
                raise rules.DOES_NOT_FIT.error(
                    f"with the initial values of {listing(inside)} the joint '{joint.name}' has a gap of {gap:.3g} m; "
                    f"the tolerance is {tolerance:.3g} m",
                    where=joint.name,
                    fix=f"leave out the initial value of {listing(inside[-2:])}, which follow, or correct them",
                    place=joint.place,
                    members=[joint.name],
                )

    def _impossible(self, values: Mapping[str, float], tree: kinematics.MechanismTree) -> TellegenError:
        worst = max(tree.closing, key=lambda joint: _gap_of(tree, joint, values))
        what = f"the loop closed by '{worst.name}' fits in no position: {_members(worst)} leave a gap of at least"
        return rules.IMPOSSIBLE.error(
            f"{what} {_gap_of(tree, worst, values):.3g}{' m' if worst.turns else ''}",
            where=worst.name,
            fix="check the lengths and the positions of the fixed points, or the initial values",
            place=worst.place,
            members=[worst.name],
        )

    def _redundant(self, joint: Joint, taken: set[str], values: Mapping[str, float]) -> TellegenError:
        held = self.tree.mechanism.independent
        free = [n for n in self.tree.coordinates if n not in taken and n not in held]
        words = _lost_direction(self.tree, joint, free, values)
        what = f"the loop closed by '{joint.name}' is over-constrained or singular where it starts: {words}"
        fix = "take the joint away or replace it by a pad, or start from another position"
        if held:
            fix = f"{fix}; or take a name out of 'independent'"
        return rules.REDUNDANT.error(what, where=joint.name, fix=fix, place=joint.place, members=[joint.name])


def _gap_of(tree: kinematics.MechanismTree, joint: Joint, values: Mapping[str, float]) -> float:
    return max(map(abs, kinematics.residuals(_equations_of(tree, joint), values)))


def _members(joint: Joint) -> str:
    return listing([name for name in (joint.first.body, joint.second.body) if name != GROUND])


def _lost_direction(tree: kinematics.MechanismTree, joint: Joint, free: list[str], values: Mapping[str, float]) -> str:
    """The direction in which the coordinates that are left cannot move the gap of a joint."""
    equations = _equations_of(tree, joint)
    columns = [[e.derivative(name).evaluate(values) for e in equations] for name in free]
    columns = [c for c in columns if any(abs(x) > 1e-12 for x in c)]
    if not columns:
        return f"no coordinate is left that moves {_members(joint)} there"
    if joint.turns:
        x, y = max(columns, key=lambda c: c[0] ** 2 + c[1] ** 2)
        size = (x * x + y * y) ** 0.5
        return f"nothing moves {_members(joint)} in the direction ({-y / size:.3g}, {x / size:.3g}) there"
    return f"the angle and the position of {_members(joint)} cannot both be held there"
