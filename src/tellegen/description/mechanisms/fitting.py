"""Where a mechanism starts: positions in which its loops fit, and the coordinates that follow from each loop there."""

from collections.abc import Mapping as TypingMapping
from typing import final

from tellegen.core.errors import TellegenError
from tellegen.core.names import listing
from tellegen.description.context import Context
from tellegen.description.document import Mapping, Scalar
from tellegen.description.mechanisms import rules
from tellegen.description.mechanisms.assembly import assembled, closest, residuals
from tellegen.description.mechanisms.loops import Loop, choices, close, equations_of
from tellegen.description.mechanisms.tree import Tree
from tellegen.description.mechanisms.values import GROUND, Joint
from tellegen.description.values import definition_order, evaluate_in_order


@final
class Fitting:
    """The loops of a tree where it starts. `given` are initial values that somebody wrote, `start` those of all their coordinates.

    Raises: DescriptionError for a loop that fits nowhere (M110), that is over-constrained or singular where it starts (M111), or
    whose given positions leave a gap above the tolerance (M113).
    """

    def __init__(self, context: Context, tree: Tree, given: TypingMapping[str, float]) -> None:
        self.tree = tree
        self.given = given
        order, _ = definition_order(context.parameters)
        self.known, _ = evaluate_in_order(context.parameters, order)
        self.start: dict[str, float] = {}
        self.loops = self._loops() if tree.closing else []

    def _loops(self) -> list[Loop]:
        """The loops with the coordinates that follow from each, chosen where the mechanism starts."""
        tree = self.tree
        values = self._assemble()
        taken: set[str] = set()
        found: list[Loop] = []
        for joint in tree.closing:
            possible = choices(tree, joint, taken, values)
            if not possible:
                raise self._redundant(joint, taken, values)
            taken |= set(possible[0])
            found.append(close(tree, joint, possible[0]))
        return found

    def _assemble(self) -> dict[str, float]:
        """Values of parameters and of coordinates where all loops fit."""
        tree, known = self.tree, self.known
        equations = [e for joint in tree.closing for e in equations_of(tree, joint)]
        names = {name for e in equations for name in e.free_symbols}
        # A length without a value is a symbol: any will do to see which coordinates follow.
        fill = {name: 1.0 + 0.1 * k for k, name in enumerate(sorted(names - known.keys() - tree.coordinates.keys()))}
        values = {**known, **fill, **dict.fromkeys(tree.coordinates, 0.0), **self.given}
        if not fill:
            self._check_given(values)
        inside = [name for name in tree.coordinates if name in names]
        free = [name for name in inside if name not in self.given]
        guesses = {name: 0.1 * (k + 1) for k, name in enumerate(inside)} | dict(self.given)
        self.start = guesses
        for unknown in (free, inside):
            if unknown and (found := assembled(equations, unknown, values, guesses)) is not None:
                self.start = {**guesses, **found}
                return {**values, **found}
        if not fill:
            raise self._impossible(closest(equations, inside, values, guesses))
        return {**values, **guesses}

    # -- what can be wrong -----------------------------------------------------------------------------------------------------

    def _gap(self, joint: Joint, values: TypingMapping[str, float]) -> float:
        return max(map(abs, residuals(equations_of(self.tree, joint), values)))

    def _check_given(self, values: TypingMapping[str, float]) -> None:
        """Initial values that say where every body of a loop is must close it, where a tolerance is asked for."""
        wanted = self.tree.mechanism.tolerance
        if wanted is None or not wanted.free_symbols <= values.keys():
            return
        tolerance = wanted.evaluate(values)
        for joint in self.tree.closing:
            names = {name for e in equations_of(self.tree, joint) for name in e.free_symbols}
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

    def _impossible(self, values: TypingMapping[str, float]) -> TellegenError:
        worst = max(self.tree.closing, key=lambda joint: self._gap(joint, values))
        what = f"the loop closed by '{worst.name}' fits in no position: {_members(worst)} leave a gap of at least"
        return rules.IMPOSSIBLE.error(
            f"{what} {self._gap(worst, values):.3g}{' m' if worst.kind == 'revolute' else ''}",
            where=worst.name,
            fix="check the lengths and the positions of the fixed points, or the initial values",
            place=worst.place,
            members=[worst.name],
        )

    def _redundant(self, joint: Joint, taken: set[str], values: TypingMapping[str, float]) -> TellegenError:
        held = self.tree.mechanism.independent
        free = [n for n in self.tree.coordinates if n not in taken and n not in held]
        words = _lost_direction(self.tree, joint, free, values)
        what = f"the loop closed by '{joint.name}' is over-constrained or singular where it starts: {words}"
        fix = "take the joint away or replace it by a pad, or start from another position"
        if held:
            fix = f"{fix}; or take a name out of 'independent'"
        return rules.REDUNDANT.error(what, where=joint.name, fix=fix, place=joint.place, members=[joint.name])


def _members(joint: Joint) -> str:
    return listing([name for name in (joint.first.body, joint.second.body) if name != GROUND])


def _lost_direction(tree: Tree, joint: Joint, free: list[str], values: TypingMapping[str, float]) -> str:
    """The direction in which the coordinates that are left cannot move the gap of a joint."""
    equations = equations_of(tree, joint)
    columns = [[e.derivative(name).evaluate(values) for e in equations] for name in free]
    columns = [c for c in columns if any(abs(x) > 1e-12 for x in c)]
    if not columns:
        return f"no coordinate is left that moves {_members(joint)} there"
    if joint.kind == "revolute":
        x, y = max(columns, key=lambda c: c[0] ** 2 + c[1] ** 2)
        size = (x * x + y * y) ** 0.5
        return f"nothing moves {_members(joint)} in the direction ({-y / size:.3g}, {x / size:.3g}) there"
    return f"the angle and the position of {_members(joint)} cannot both be held there"


def given_positions(context: Context, root: Mapping) -> dict[str, float]:
    """What the experiment says about initial values, as numbers; what cannot be read is reported with the experiment."""
    experiment = root.get("experiment")
    initial = experiment.get("initial") if isinstance(experiment, Mapping) else None
    if not isinstance(initial, Mapping):
        return {}
    order, _ = definition_order(context.parameters)
    values, _ = evaluate_in_order(context.parameters, order)
    found: dict[str, float] = {}
    for key, node in initial.items():
        if isinstance(node, Scalar):
            try:
                found[key.text] = context.quantity(node, "an initial value").expression.evaluate(values)
            except (TellegenError, ArithmeticError, ValueError, KeyError):
                continue
    return found
