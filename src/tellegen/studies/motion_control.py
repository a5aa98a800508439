"""Motions that are wanted: the inputs that produce them, tau = W^-1 (M q'' + C q' + R q' + G), and the controller that tracks them.

W is solved through W^T W, which is definite wherever W has full rank, so that no pivot vanishes along the motion.

`invert` follows outputs of any model and gives values by time. What is here stays beside it because the Lagrange form gives inputs
as formulas over coordinates and rates: the terms M, C, R and G of a controller, which signals of a model then say. Both give the
same numbers on the same course; a test holds them against each other on arms at random.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tellegen.conditioning import rules
from tellegen.conditioning.constraint_forces import EntryNames, solved_definite
from tellegen.conditioning.constraints import constrained_model
from tellegen.conditioning.equations_of_motion import LagrangeSystem, lagrange_of
from tellegen.conditioning.opened_constraints import formula_signal, fresh_name
from tellegen.core.errors import TellegenError
from tellegen.core.names import TIME, did_you_mean, listing
from tellegen.equations.matrices import Matrix, Vector, dot, product
from tellegen.equations.start import model_start
from tellegen.experiments.input_signals import InputSignal, with_input_signals
from tellegen.experiments.quantities import Quantity, expression_of
from tellegen.expressions import ZERO, Expression, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.graph import lower
from tellegen.graph.signals import breaks_of
from tellegen.model.kinematics import solve_positions
from tellegen.model.model import Closure, Model
from tellegen.model.signals import Signal
from tellegen.notations.loading import AnyModel, as_model
from tellegen.studies.inversion import driven_element, jumps_at

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
    # All refusals first: the formulas below assume one course for each speed.
    carried = _check_motion(form, motion, closures)
    chosen = _chosen(form, by)
    # Names are written out before time is put in, or they would hide what moves.
    plain = replace(form.with_entries(lambda e: with_definitions(e, form.where)), where={})
    speeds = {nu: motion[q].derivative(TIME) for q, nu in zip(form.q, form.nu, strict=False)}
    rates = [speed.derivative(TIME) for speed in speeds.values()]
    along = plain.with_entries(lambda e: e.substitute({**motion, **speeds}))
    # Weights do what the model says, other inputs what the experiment says.
    courses = {**along.loads, **others}
    given = [ZERO if name in chosen else courses.get(name, ZERO) for name in form.tau]
    needed = needed_efforts(along, rates, list(speeds.values()))
    # What the other inputs do already is taken off the right side.
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
    # W^T W is definite where W has full rank: no pivot can vanish on the way, whatever the order.
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
        # Signals by name, so that a run shows the wanted motion beside the real one.
        signals[position] = reference[q]
        signals[rate] = reference[q].derivative(TIME)
        signals[second] = signals[rate].derivative(TIME)
        signals[error] = symbol(position) - symbol(q)
        # Computed torque: the acceleration that makes e'' + K_d e' + K_p e = 0.
        signals[command] = symbol(second) + K_d * (symbol(rate) - symbol(nu)) + K_p * symbol(error)
        wanted.append(symbol(command))
    efforts = needed_efforts(form, wanted, [symbol(nu) for nu in form.nu])
    # A weight helps or hinders by itself; the controller has to know it.
    loads = [ZERO if name in chosen else form.loads.get(name, ZERO) for name in form.tau]
    shared = tuple(named.kept(e - dot(row, loads)) for e, row in zip(efforts, form.matrices["W"], strict=True))
    inputs = solved_inputs(form, shared, chosen, named)
    definitions = {n: formula_signal(n, e) for n, e in {**signals, **named.where}.items()}
    elements = tuple(driven_element(e, inputs) for e in model.elements)
    # A source that follows the controller follows no course of the experiment any more.
    courses = {n: course for n, course in model.experiment.inputs.items() if n not in inputs}
    experiment = replace(model.experiment, inputs=courses)
    return replace(model, elements=elements, signals={**model.signals, **definitions}, experiment=experiment, source="")


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
        # A quasi-speed has no coordinate whose second derivative would be its rate.
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
    # Their rates would need their own courses: an ODE, and no integral.
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
    # Fewer inputs than speeds: underactuated, so that not every motion can be produced.
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


Array = NDArray[np.float64]

CLOSE: Final = 1e-10
"""How well integrals along a motion agree with their halves."""

HALVINGS: Final = 12
"""How often an interval of time is halved at most."""


@final
@dataclass(frozen=True)
class InputTrajectories:
    """The inputs that produce a motion, as formulas of time and as numbers. `found` has them with names for long parts.

    Coordinates that loops decide, or that a motion carries along as it does elongations of springs, stand in the formulas by name;
    `start` is where they are at time zero.
    """

    found: InverseDynamics
    values: Mapping[str, float]
    start: Mapping[str, float] = field(default_factory=dict)

    @property
    def courses(self) -> dict[str, Expression]:
        """Each input as a formula of time, parameters, coordinates of loops and forces of springs: inputs for `simulate`."""
        return {name: self.found.written(name) for name in self.found.inputs}

    def at(self, times: ArrayLike) -> dict[str, Array]:
        """The inputs at given times, for the sizes of actuators."""
        moments = np.asarray(times, dtype=float)
        found: dict[str, list[float]] = {name: [] for name in self.found.inputs}
        at, before = dict(self.start), 0.0
        for t in moments.tolist():
            values = {**self.values, TIME: t}
            # Row by row: what a motion carries along depends on the way, not on the moment alone.
            carried = self._carried(before, t, at)
            at = {**self._followed(values, at), **carried}
            before = t
            values |= at
            for name, formula in self.found.where.items():
                values[name] = formula.evaluate(values)
            for name, formula in self.found.inputs.items():
                found[name].append(formula.evaluate(values))
        return {name: np.array(column) for name, column in found.items()}

    def _followed(self, values: Mapping[str, float], near: Mapping[str, float]) -> dict[str, float]:
        """Where loops put the coordinates that they decide.

        Raises: ConditioningError (C109) where a loop does not reach round.
        """
        closures = self.found.closures
        if not closures:
            return {}
        known = {**values, **{n: e.evaluate(values) for n, e in self.found.motion.items()}}
        equations = [e for closure in closures for e in closure.equations]
        unknown = [name for closure in closures for name in closure.solves]
        fitting = solve_positions(equations, unknown, {**near, **known}, near)
        if fitting is None:
            raise rules.BAD_MOTION.error(
                f"at t = {values[TIME]:g} s the loops {listing([c.name for c in closures])} fit in no position",
                where=closures[0].name,
                fix="choose a motion that the mechanism can make",
            )
        return fitting

    def _carried(self, since: float, until: float, near: Mapping[str, float]) -> dict[str, float]:
        """Where the motion takes the coordinates that it carries along, from where they were."""
        rates = self.found.carried
        if not rates or since == until:
            return {name: near[name] for name in rates}
        ways = _integral(lambda t: self._rates(t, near), since, until)
        return {name: near[name] + way for name, way in zip(rates, ways.tolist(), strict=True)}

    def _rates(self, t: float, near: Mapping[str, float]) -> Array:
        values = {**self.values, TIME: t}
        values |= self._followed(values, near)
        return np.array([rate.evaluate(values) for rate in self.found.carried.values()])


def _integral(rates: Callable[[float], Array], since: float, until: float, halvings: int = HALVINGS) -> Array:
    """An integral over time, halved until two halves say what the whole says."""
    middle = 0.5 * (since + until)
    whole = _gauss(rates, since, until)
    halves = _gauss(rates, since, middle) + _gauss(rates, middle, until)
    # Kinks of tables and friction never agree to the last digit: at the finest step the halves are taken as they are.
    if halvings == 0 or np.allclose(whole, halves, rtol=CLOSE, atol=CLOSE * abs(until - since)):
        return halves
    return _integral(rates, since, middle, halvings - 1) + _integral(rates, middle, until, halvings - 1)


def _gauss(rates: Callable[[float], Array], since: float, until: float) -> Array:
    # Exact for polynomials up to degree nine, as quintic courses and their squares are.
    nodes, weights = np.polynomial.legendre.leggauss(5)
    half = 0.5 * (until - since)
    moments = since + half * (nodes + 1.0)
    return np.asarray(half * sum(w * rates(t) for w, t in zip(weights.tolist(), moments.tolist(), strict=True)))


def inverse_dynamics(
    model: AnyModel, motion: Mapping[str, InputSignal], *, by: Sequence[str] = ()
) -> InputTrajectories:
    """The inputs that produce a motion: sizes of actuators, feed-forward.

    `motion` gives each coordinate a course: a number, a formula of time, a shape such as "quintic(0, 1, from=0, to=2)". Those that
    loops decide follow. `by` names the inputs asked for where there are more than coordinates; the others do what the experiment
    says.

    Raises: ConditioningError for a model without Lagrange form (C105), inputs that cannot produce the motion (C108), a motion that
    leaves a coordinate out, or jumps or bends on the way (C109).
    """
    described = as_model(model)
    constraints = constrained_model(described)
    form = lagrange_of(constraints)
    given = {n: s.expression for n, s in described.experiment.inputs.items() if s.expression is not None}
    wanted = motion_formulas(described, motion)
    _refuse_kinks(wanted, form.values())
    found = inverse_dynamics_of(form, wanted, by, given, described.closures)
    start = model_start(described) if described.closures or found.carried else {}
    start |= {n: form.springs[n].evaluate(start) for n in found.carried if n in form.springs}
    return InputTrajectories(found, form.values(), {n: v for n, v in start.items() if n in form.q})


def feedback_linearise(
    model: AnyModel,
    reference: Mapping[str, InputSignal],
    *,
    K_p: Quantity,
    K_d: Quantity,
    by: Sequence[str] = (),
) -> Model:
    """The model with a controller that tracks a motion: tau = W^-1 (M (q_d'' + K_d e' + K_p e) + C q' + R q' + G).

    The controller consists of signals, which the sources of `by` (all, without it) follow; the error of each coordinate obeys
    e'' + K_d e' + K_p e = 0.

    Raises: ConditioningError as `inverse_dynamics`.
    """
    described = as_model(model)
    gains = (expression_of(K_p, None, "K_p"), expression_of(K_d, None, "K_d"))
    return tracking_controller(described, motion_formulas(described, reference), *gains, by)


def _refuse_kinks(motion: Mapping[str, Expression], values: Mapping[str, float]) -> None:
    """Raises: ConditioningError (C109) where a coordinate or its rate jumps on the way, which no finite input makes it do."""
    for name, course in motion.items():
        for known in breaks_of(course, values.keys()):
            t = known.at.evaluate(values)
            for word, formula in (("jumps", course), ("bends", course.derivative(TIME))):
                # At t = 0 the model may start with any speed.
                if t > 0.0 and jumps_at(formula, t, values):
                    raise rules.BAD_MOTION.error(
                        f"the motion of '{name}' {word} at t = {t:g} s, which no finite input makes it do",
                        where=name,
                        fix="go from one value to the next smoothly, as by quintic(...)",
                    )


def motion_formulas(model: Model, motion: Mapping[str, InputSignal]) -> dict[str, Expression]:
    """The courses of coordinates as formulas.

    Raises: ConditioningError (C109) for a course that has no second derivative, such as a table or a Python function.
    """
    graph = lower(model)
    found: dict[str, Expression] = {}
    for name, course in motion.items():
        is_table = isinstance(course, Signal) and course.expression is None
        if is_table or (callable(course) and not isinstance(course, Signal | Expression | str)):
            what = f"the motion of '{name}' is {'a table' if is_table else 'a Python function'}, which has no second derivative"
            raise rules.BAD_MOTION.error(
                what, where=name, fix="write it as a formula of t, or as a shape such as quintic(...)"
            )
        _, courses = with_input_signals(graph, {name: course})
        written = courses[name]
        formula = written.expression if isinstance(written, Signal) else written
        assert isinstance(formula, Expression), "courses without functions are formulas"
        found[name] = formula
    return found
