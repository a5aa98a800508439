"""Motion given, inputs asked for: tau = W^-1 (M q'' + C q' + R q' + G), and the controller that tracks a motion.

W is solved through W^T W, which is definite wherever W has full rank, so that no pivot vanishes along the motion.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import final

from tellegen.conditioning import rules
from tellegen.conditioning.constraint_forces import EntryNames, solved_definite
from tellegen.conditioning.constraints import constrained_model
from tellegen.conditioning.lagrange import LagrangeSystem, lagrange_of
from tellegen.conditioning.opened_constraints import formula_signal, fresh_name
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.equations.matrices import Matrix, Vector, dot, product
from tellegen.expressions import ZERO, Expression, symbol, to_text
from tellegen.expressions.elimination import with_definitions
from tellegen.model.model import Closure, Element, Model

NOTHING: Mapping[str, Expression] = {}


@final
@dataclass(frozen=True)
class InverseDynamics:
    """Inputs by time that produce a motion, over the names of `where`, in order, and the motion: coordinates and their rates.

    Where loops decide further coordinates, inputs read these by name, and `closures` tell where they are. `carried` are coordinates
    that no loop decides, such as elongations of springs, with their rates along the motion: inputs read these by name too.
    """

    form: LagrangeSystem
    motion: Mapping[str, Expression]
    inputs: Mapping[str, Expression]
    where: Mapping[str, Expression] = field(default_factory=dict)
    closures: tuple[Closure, ...] = ()
    carried: Mapping[str, Expression] = field(default_factory=dict)

    def written(self, name: str) -> Expression:
        """An input as a formula of time, of parameters and of what a run knows by name: coordinates and states of springs."""
        return with_definitions(self.inputs[name], self.where).substitute(self.form.springs)


def inverse_dynamics_of(
    form: LagrangeSystem,
    motion: Mapping[str, Expression],
    by: Sequence[str] = (),
    others: Mapping[str, Expression] = NOTHING,
    closures: tuple[Closure, ...] = (),
) -> InverseDynamics:
    """The inputs that produce a motion: every coordinate that has a speed of its own as a formula of time.

    `by` names the inputs asked for, where not all are; `others` says what the rest do. Weights do what the model says.

    Raises: ConditioningError (C108) where the inputs do not act in every direction, (C109) for a motion that leaves something out.
    """
    carried = _check_motion(form, motion, closures)
    chosen = _chosen(form, by)
    plain = replace(form.with_entries(lambda e: with_definitions(e, form.where)), where={})
    speeds = {nu: motion[q].derivative(TIME) for q, nu in zip(form.q, form.nu, strict=False)}
    rates = [speed.derivative(TIME) for speed in speeds.values()]
    along = plain.with_entries(lambda e: e.substitute({**motion, **speeds}))
    courses = {**along.loads, **others}
    given = [ZERO if name in chosen else courses.get(name, ZERO) for name in form.tau]
    needed = needed_efforts(along, rates, list(speeds.values()))
    efforts = tuple(e - dot(row, given) for e, row in zip(needed, along.matrices["W"], strict=True))
    named = EntryNames("w", {*form.parameters, *form.q, *form.nu, *form.tau, TIME})
    inputs = solved_inputs(along, efforts, chosen, named)
    moved = {name: along.kinematics[name] for name in carried}
    return InverseDynamics(form, {**motion, **speeds}, inputs, named.where, closures, moved)


def needed_efforts(form: LagrangeSystem, rates: Sequence[Expression], speeds: Sequence[Expression]) -> Vector:
    """M rates + (C + R) speeds + G + f."""
    m = form.matrices
    rows = range(len(form.nu))
    moved = [dot(m["M"][i], rates) + dot(m["C"][i], speeds) + dot(m["R"][i], speeds) for i in rows]
    return tuple(moved[i] + form.G[i] + form.f[i] for i in rows)


def solved_inputs(
    form: LagrangeSystem, efforts: Vector, chosen: Sequence[str], named: EntryNames
) -> dict[str, Expression]:
    """The chosen inputs that give the efforts: W tau = efforts.

    Raises: ConditioningError (C108) naming the direction in which no input acts.
    """
    columns = [form.tau.index(name) for name in chosen]
    W = tuple(tuple(row[j] for j in columns) for row in form.matrices["W"])
    _check_directions(form, W, chosen)
    turned: Matrix = tuple(tuple(row[j] for row in W) for j in range(len(columns)))
    right = tuple((named.kept(dot(row, efforts)),) for row in turned)
    found = solved_definite(product(turned, W, len(columns)), right, named)
    if found is None:
        raise _no_inverse(form, f"some of {listing(chosen)} act in one direction", chosen)
    return {name: row[0] for name, row in zip(chosen, found, strict=True)}


def tracking_controller(
    model: Model, reference: Mapping[str, Expression], K_p: Expression, K_d: Expression, by: Sequence[str] = ()
) -> Model:
    """The model with a controller that makes the error of each coordinate obey e'' + K_d e' + K_p e = 0.

    tau = W^-1 (M (q_d'' + K_d e' + K_p e) + C q' + R q' + G), as signals that drive the sources.

    Raises: ConditioningError (C108, C109) as `inverse_of`.
    """
    read = lagrange_of(constrained_model(model))
    names = {n: e for n, e in read.where.items() if n not in model.parameters}
    form = read.with_entries(lambda e: with_definitions(e, names))
    _check_motion(form, reference, model.closures)
    form = form.with_entries(lambda e: e.substitute(read.springs))
    chosen = _chosen(form, by)
    taken = {*model.parameters, *model.signals, *(e.name for e in model.elements), *form.q, *form.nu, *form.tau}
    named = EntryNames("k", taken)
    signals: dict[str, Expression] = {}
    wanted: list[Expression] = []
    for q, nu in zip(form.q, form.nu, strict=False):
        new = [fresh_name(f"{q}_{ending}", named.taken) for ending in ("d", "d_rate", "d_rate_2", "e", "v")]
        named.taken |= {*new}
        position, rate, second, error, command = new
        signals[position] = reference[q]
        signals[rate] = reference[q].derivative(TIME)
        signals[second] = signals[rate].derivative(TIME)
        signals[error] = symbol(position) - symbol(q)
        signals[command] = symbol(second) + K_d * (symbol(rate) - symbol(nu)) + K_p * symbol(error)
        wanted.append(symbol(command))
    efforts = needed_efforts(form, wanted, [symbol(nu) for nu in form.nu])
    loads = [ZERO if name in chosen else form.loads.get(name, ZERO) for name in form.tau]
    shared = tuple(named.kept(e - dot(row, loads)) for e, row in zip(efforts, form.matrices["W"], strict=True))
    inputs = solved_inputs(form, shared, chosen, named)
    definitions = {n: formula_signal(n, e) for n, e in {**signals, **named.where}.items()}
    elements = tuple(_driven(e, inputs) for e in model.elements)
    courses = {n: course for n, course in model.experiment.inputs.items() if n not in inputs}
    experiment = replace(model.experiment, inputs=courses)
    return replace(model, elements=elements, signals={**model.signals, **definitions}, experiment=experiment, source="")


def _driven(element: Element, inputs: Mapping[str, Expression]) -> Element:
    name = element.variables.get(element.kind.side, element.name)
    is_driven = element.kind.role == "source" and name in inputs
    return replace(element, signal=inputs[name], signal_text=to_text(inputs[name])) if is_driven else element


def _chosen(form: LagrangeSystem, by: Sequence[str]) -> tuple[str, ...]:
    """The inputs asked for: those named, or all that the model does not give itself.

    Raises: ConditioningError (C108) for names that are no inputs.
    """
    for name in by:
        if name not in form.tau:
            fix = did_you_mean(name, form.tau) or f"the inputs are {listing(form.tau, 20)}"
            raise rules.NO_INVERSE.error(f"'{name}' is no input of '{form.name}'", where=name, fix=fix)
    return tuple(by) or tuple(name for name in form.tau if name not in form.loads)


def _check_motion(
    form: LagrangeSystem, motion: Mapping[str, Expression], closures: Sequence[Closure]
) -> tuple[str, ...]:
    """Refuse motions that say too little or too much; what comes back are the coordinates that a motion carries along."""
    led = form.q[: len(form.nu)]
    carried = _check_coordinates(form, led, {name for closure in closures for name in closure.solves})
    for name in motion:
        if name not in led:
            fix = did_you_mean(name, led) or f"the coordinates are {listing(led, 20)}"
            follows = " that moves by itself" if name in form.q else ""
            raise rules.BAD_MOTION.error(f"'{name}' is no coordinate of '{form.name}'{follows}", where=name, fix=fix)
    for name in led:
        if name not in motion:
            what = f"the motion says nothing about '{name}'"
            raise rules.BAD_MOTION.error(what, where=name, fix=f"give '{name}' a course, such as 0")
    for name, course in motion.items():
        unknown = course.free_symbols - form.parameters.keys() - {TIME}
        if unknown:
            what = f"the motion of '{name}' reads {listing(sorted(unknown))}"
            raise rules.BAD_MOTION.error(what, where=name, fix="write it as a formula of time and of parameters")
    return carried


def _check_coordinates(form: LagrangeSystem, led: Sequence[str], followed: Set[str]) -> tuple[str, ...]:
    """Each speed is the rate of a coordinate; what else the equations read follows from loops or by an integral along the motion.

    The latter, such as the elongation of a spring, have rates that do not read them in turn.
    """
    for q, nu in zip(led, form.nu, strict=False):
        if form.kinematics[q] is not symbol(nu):
            raise rules.BAD_MOTION.error(
                f"the speed '{nu}' of '{form.name}' is the rate of no coordinate, so that no motion of one gives it",
                where=nu,
                fix="describe the model with one displacement for each speed",
            )
    read = {name for e in (*form.G, *form.f, *form.where.values()) for name in e.free_symbols}
    read |= {name for m in form.matrices.values() for row in m for e in row for name in e.free_symbols}
    further = [q for q in form.q[len(form.nu) :] if q not in followed]
    more = tuple(q for q in further if q in read)
    if any(name in further for q in more for name in form.kinematics[q].free_symbols):
        raise rules.BAD_MOTION.error(
            f"'{form.name}' has more coordinates than speeds: {listing(more)} cannot be given a motion of their own",
            where=form.name,
            fix="describe the model with one displacement for each speed",
        )
    return more


def _check_directions(form: LagrangeSystem, W: Matrix, chosen: Sequence[str]) -> None:
    """No coordinate without input, and as many inputs as there are speeds."""
    led = form.q[: len(form.nu)]
    idle = [q for q, row in zip(led, W, strict=True) if all(e is ZERO for e in row)]
    if idle:
        raise _no_inverse(form, f"no input acts along {listing(idle)}", idle)
    count = f"{len(chosen)} inputs ({listing(chosen)}) act on {len(form.nu)} coordinates ({listing(led)})"
    if len(chosen) < len(form.nu):
        raise _no_inverse(form, f"{count}, which cannot all move as they like", led)
    if len(chosen) > len(form.nu):
        raise _no_inverse(form, f"{count}, so that many courses give one motion", chosen)


def _no_inverse(form: LagrangeSystem, what: str, members: Sequence[str]) -> TellegenError:
    return rules.NO_INVERSE.error(
        f"no inputs of '{form.name}' follow from a motion: {what}",
        where=members[0],
        fix="choose one input for each coordinate (by=...), or add sources",
        members=members,
    )
