"""`design`: controllers and observers whose gains follow from a model, written as signals with numbers into the text of its file.

The plant is what `analyse` finds: linearised at its operating point, with all other controllers at work. Controllers of one
channel reach a crossover with a phase margin: the angle and the gain that C(j w) needs there decide two numbers (K. J. Åström and
T. Hägglund, Advanced PID Control, 2006). A quadratic regulator weighs each name by the size that it may have (A. E. Bryson and
Y.-C. Ho, Applied Optimal Control, 1975), and its dual, an observer, by the sizes of noise and disturbances.
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, final, get_args

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize
import scipy.signal

from tellegen.analysis.linear_model import Array, ComplexArray, LinearModel, energy_coordinates, to_scipy
from tellegen.analysis.poles import Pole, channel, conjugate_pairs
from tellegen.analysis.responses import transfer_values
from tellegen.analysis.summary import Analysis
from tellegen.core.names import did_you_mean, identifier, listing
from tellegen.core.shipped import example_file
from tellegen.core.units import Dimension, parse_unit
from tellegen.experiments.analysing import analyse
from tellegen.experiments.quantities import Quantity, value_of
from tellegen.model.model import Model
from tellegen.notations.loading import AnyModel, as_model
from tellegen.notations.reading import read_model
from tellegen.notations.writing import to_yaml
from tellegen.notations.yaml.document import Document, MappingNode, Node, Scalar, read_document
from tellegen.notations.yaml.writing import Tree, add_entry, entry_source, find, remove, set_scalar, tree_of
from tellegen.studies import rules

Kind = Literal["pi", "lead", "pid", "lqr", "poles", "observer"]

INTEGRAL_CORNER: Final = 0.1
"""Where the integral of a `pid` ends, beside the crossover: it costs 6 degrees there, which the lead gives back."""
LARGEST_LEAD: Final = 75.0
"""Degrees; beyond it noise is amplified more than sixty times."""
WIDE: Final = 1e4
"""Crossovers are looked for so far on both sides of all corners."""
FREQUENCIES: Final = 4000
OUT_OF_REACH: Final = 1e-9
"""An input that moves a mode by less, beside what it moves else, does not reach it."""
FREQUENCY: Final = Dimension(s=-1)


@final
@dataclass(frozen=True, slots=True)
class Margins:
    """How far a loop is from instability: the smallest phase margin (degrees) at the frequencies (rad/s) where the gain is one,
    and by how much the gain may grow or must not fall (factors).
    """

    crossovers: tuple[float, ...]
    phase: float
    gain_up: float
    gain_down: float

    def __str__(self) -> str:
        """In words, for a comment."""
        where = " and ".join(f"{w:.6g}" for w in self.crossovers)
        told = f"gain one at {where} rad/s, phase margin {self.phase:.4g} degrees"
        if math.isfinite(self.gain_up):
            told += f", gain may grow {self.gain_up:.4g} times"
        return told + (f", may fall to {self.gain_down:.4g} times" if self.gain_down > 0 else "")


@final
@dataclass(frozen=True, eq=False)
class Design:
    """What was designed: the text of the model file with it, its gains by name, and what it does to the plant.

    `signals` are the entries of the new signals. `poles` are those of the closed loop, of an observer those of its error. `margins`
    are those of the loop of one channel, else None. `about` says in words what the plant was and what is reached.
    """

    kind: str
    signals: Mapping[str, Tree]
    gains: Mapping[str, float]
    poles: tuple[Pole, ...]
    about: tuple[str, ...]
    margins: Margins | None = None
    text: str = ""
    file: str = "<text>"

    @property
    def model(self) -> Model:
        """The model with its controller."""
        return read_model(self.text, file=self.file)

    def to_json(self) -> dict[str, object]:
        """The record of `design --json`, but for the text."""
        record: dict[str, object] = {"kind": self.kind, "gains": dict(self.gains), "reached": list(self.about)}
        record["poles"] = [[pole.value.real, pole.value.imag] for pole in self.poles]
        if (found := self.margins) is not None:
            record["margins"] = {
                "crossovers": list(found.crossovers),
                "phase": found.phase,
                "gain_up": found.gain_up if math.isfinite(found.gain_up) else None,
                "gain_down": found.gain_down,
            }
        return record

    def __str__(self) -> str:
        """What was designed, in a few lines."""
        gains = "\n".join(f"  {name} = {value:.6g}" for name, value in self.gains.items())
        return "\n".join((*self.about, gains))


def design(
    model: AnyModel,
    kind: Kind,
    *,
    inputs: Sequence[str],
    measure: Sequence[str] = (),
    reference: str = "",
    crossover: Quantity | None = None,
    phase_margin: float = 60.0,
    sizes: Mapping[str, Quantity] | None = None,
    poles: Iterable[complex | str] = (),
    name: str = "",
    at: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
) -> Design:
    """A controller or an observer from the linear model of a model, as signals with numbers in the text of its file.

    `pi`, `lead` and `pid` drive the first of `inputs` so that the first of `measure` follows `reference`, a formula: the loop has
    gain one at the frequency `crossover` (rad/s, or a text in Hz) and there the `phase_margin` in degrees.

    `lqr` drives all `inputs` by the states so that the integral of the sum of (y / size)^2 is least, over the names in `sizes`:
    states, other variables, and each of the inputs. `poles` places the poles of the loop. Both go to the operating point, or with
    `reference` to where the measured output has its value.

    `observer` estimates all states from `measure` and the `inputs` that it knows, with `poles` for its error, or as the Kalman
    filter whose noises are `sizes` (densities, for each square root of Hz): of what is measured, of inputs, of rates of states.

    A source is driven through the experiment, a signal of the model gets the controller as its formula. `at` and `parameters` say
    where the model is linearised, as in `analyse`.

    Raises: SimulationError where it is asked for wrongly (S461), the loop cannot be (S462), or a mode is out of reach (S463).
    """
    if kind not in get_args(Kind):
        fix = did_you_mean(str(kind), get_args(Kind)) or f"the kinds are {listing(get_args(Kind))}"
        raise rules.WRONG_DESIGN.error(f"'{kind}' is no kind of controller", fix=fix)
    described = as_model(model)
    task = _Task.of(
        described,
        kind,
        tuple(inputs),
        tuple(measure),
        analyse(described, at=at, parameters=parameters, **_asked(described, inputs, (*measure, *(sizes or ())))),
    )
    task = replace(task, reference=reference, name=name)
    if kind == "observer":
        made = _observer(task, sizes or {}, tuple(poles))
    elif kind in ("lqr", "poles"):
        made = _state_feedback(task, sizes or {}, tuple(poles))
    else:
        made = _one_channel(task, crossover, phase_margin)
    document = _document_of(model, described)
    changed = _with_signals(document, made, {} if kind == "observer" else task.drives)
    return replace(made, text=changed.content, file=document.file)


def _asked(model: Model, inputs: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """Where the plant is cut and what is looked at in it; a name that is no input is told by `analyse` with the nearest one."""
    signals = [name for name in inputs if name in model.signals]
    looked_at = [name for name in dict.fromkeys(names) if name not in {*inputs, *model.inputs}]
    return {"outputs": looked_at, "as_inputs": signals or None}


@final
@dataclass(frozen=True, eq=False)
class _Task:
    """The plant and what is asked of it: `plant` in the states of the model, `values` what its names are at the operating point."""

    model: Model
    kind: str
    linear: LinearModel
    units: Mapping[str, str]
    inputs: tuple[str, ...]
    measure: tuple[str, ...]
    reference: str = ""
    name: str = ""

    @staticmethod
    def of(model: Model, kind: str, inputs: tuple[str, ...], measure: tuple[str, ...], found: Analysis) -> "_Task":
        linear, units, signals = found.model, found.units, any(name in model.signals for name in inputs)
        loop = found.closed_loop
        # Other controllers stay at work where the inputs are still there with them.
        if not signals and loop is not None and loop.linear is not None:
            linear = loop.linear.model
        for word, names, there in (("input", inputs, linear.inputs), ("output", measure, linear.outputs)):
            if not names and (word == "input" or kind not in ("lqr", "poles")):
                raise rules.WRONG_DESIGN.error(
                    f"a design of kind '{kind}' needs an {word}", fix=f"name one of {listing(there)}"
                )
            for name in (n for n in names if n not in there):
                fix = did_you_mean(name, there) or f"the {word}s are {listing(there, 20)}"
                raise rules.WRONG_DESIGN.error(f"'{name}' is no {word} of '{model.name}'", fix=fix)
        return _Task(model, kind, linear, units, inputs, measure)

    @property
    def columns(self) -> list[int]:
        return [self.linear.inputs.index(name) for name in self.inputs]

    def row(self, name: str) -> tuple[Array, Array]:
        """What a name reads of states and of all inputs."""
        if name in self.linear.states:
            return np.eye(len(self.linear.states))[self.linear.states.index(name)], np.zeros(len(self.linear.inputs))
        k = self.linear.outputs.index(name)
        return self.linear.C[k], self.linear.D[k]

    def value(self, name: str) -> float:
        """The value at the operating point: zero where the model is linear, which is alike everywhere.

        Raises: SimulationError (S461) for a variable of a nonlinear model that is no state.
        """
        if not self.linear.point or name in self.linear.point:
            return self.linear.point.get(name, 0.0)
        fix = f"name a state: {listing(self.linear.states, 20)}"
        raise rules.WRONG_DESIGN.error(f"the value of '{name}' at the operating point is not kept", fix=fix)

    def deviation(self, name: str, told: str = "") -> str:
        """A name without its value at the operating point."""
        value = self.value(name)
        told = told or name
        return (
            told
            if not value
            else f"{told} {'-' if value > 0 else '+'} {_quantity(abs(value), self.units.get(name, ''))}"
        )

    def signal(self, k: int = 0) -> str:
        """What the signal that gives an input is called: a signal of the model keeps its name."""
        u = self.inputs[k]
        return u if u in self.model.signals else (self.name if k == 0 else "") or f"{identifier(u)}_control"

    @property
    def drives(self) -> dict[str, str]:
        """The sources that follow a new signal, by name."""
        return {u: self.signal(k) for k, u in enumerate(self.inputs) if u not in self.model.signals}

    @property
    def plant_in_words(self) -> str:
        at = f", linearised {self.linear.origin}" if self.linear.point else ""
        return f"Designed ({self.kind}) for '{self.linear.name}' from {listing(self.inputs)}{at}."

    def size(self, name: str, given: Quantity) -> float:
        unit = self.units.get(name, "")
        found = value_of(given, parse_unit(unit).dimension if unit else None, f"the size of {name}")
        if found <= 0:
            raise rules.WRONG_DESIGN.error(f"the size of {name} is {found:g}", fix="give a positive size")
        return found


def _number(value: float) -> str:
    return f"{value:.12g}"


def _quantity(value: float, unit: str) -> str:
    return f"{_number(value)} {unit}".strip()


def _in_sum(text: str) -> str:
    """A formula that something is taken from: in brackets where it might hold a comparison or a condition."""
    return f"({text})" if re.search(r"[<>=?]|\b(?:and|or|if)\b", text) else text


def _pole_text(pole: Pole) -> str:
    value = pole.value
    return f"{value.real:.5g} ± {value.imag:.5g}j" if pole.is_pair else f"{value.real:.5g}"


def _closed_text(what: str, values: npt.ArrayLike) -> str:
    return f"Poles of the {what} in 1/s: {', '.join(map(_pole_text, conjugate_pairs(values)))}."


def _sum_text(terms: Iterable[tuple[float, str]], begun: str = "") -> str:
    """A sum of products, without those that vanish."""
    told = begun
    for factor, text in ((f, t) for f, t in terms if f):
        sign = (" - " if told else "-") if factor < 0 else " + " if told else ""
        share = "" if abs(factor) == 1 else f"{_number(abs(factor))}*"
        told += f"{sign}{share}({text})" if " " in text else f"{sign}{share}{text}"
    return told or "0"


# -- One channel ---------------------------------------------------------------------------------------------------------------


def _one_channel(task: _Task, crossover: Quantity | None, margin: float) -> Design:
    """A `pi`, `lead` or `pid` with the crossover and the phase margin."""
    if crossover is None or not task.reference:
        missing = "a crossover" if crossover is None else "a reference"
        raise rules.WRONG_DESIGN.error(f"a design of kind '{task.kind}' needs {missing}", fix=f"give {missing}")
    omega = _frequency(crossover)
    if not 0 < margin < 180:
        raise rules.WRONG_DESIGN.error(f"a phase margin of {margin:g} degrees", fix="ask for one between 0 and 180")
    row, column = task.linear.channel(task.measure[0], task.inputs[0])
    space = channel(energy_coordinates(task.linear), row, column)
    if space.D_1.any():
        to_scipy(task.linear)  # refuses it with the reason

    def plant(w: Array) -> ComplexArray:
        return np.asarray(transfer_values(space, np.asarray(1j * np.atleast_1d(w), dtype=complex))[:, 0, 0])

    there = complex(plant(np.array([omega]))[0])
    if not np.isfinite(there) or not abs(there):
        what = f"{task.inputs[0]} does not move {task.measure[0]} at {omega:g} rad/s"
        raise rules.OUT_OF_REACH.error(what, fix="choose another crossover")
    refused = None
    for sign in (1.0, -1.0):
        # What C(j w) has to turn the plant by, and the sign that a plant of negative gain needs.
        needed = (margin - 180.0 - math.degrees(np.angle(sign * there)) + 180.0) % 360.0 - 180.0
        gains = _gains(task.kind, omega, needed, sign / abs(there))
        if gains is None:
            refused = refused or (needed, "")
            continue
        A, B, C, D = _controller(gains)
        margins = _margins(task.linear, plant, partial(_controller_values, gains), omega)
        poles = np.linalg.eigvals(_closed((space.A, space.B, space.C, space.D), (A, B, C, D)))
        if poles.real.max(initial=-1.0) >= 0:
            refused = (needed, "the closed loop is unstable with it")
        elif margins.phase < margin - 1e-6:
            worst = f"the gain is one at {listing([f'{w:.5g}' for w in margins.crossovers])} rad/s too"
            refused = (needed, f"{worst}, with a margin of {margins.phase:.4g} degrees")
        else:
            text = {key: _number(value) for key, value in gains.items()}
            entry: dict[str, Tree] = {"pid": f"{_in_sum(task.reference)} - {task.measure[0]}", **text}
            signals = _with_offset(task, entry) if task.kind == "lead" else {task.signal(): entry}
            about = (
                task.plant_in_words,
                f"From {task.inputs[0]} to {task.measure[0]}: {margins}.",
                _closed_text("closed loop", poles),
            )
            return Design(task.kind, signals, gains, conjugate_pairs(poles), about, margins)
    assert refused is not None, "each sign is refused or returned"
    raise _out_of_reach(task, omega, margin, *refused)


def _out_of_reach(task: _Task, omega: float, margin: float, needed: float, reason: str) -> Exception:
    low, high = _TURNS[task.kind]
    angle = margin - 180.0 - needed
    why = reason or (
        f"the plant turns by {angle:.4g} degrees there, so that the controller would have to turn by {needed:.4g}, and "
        f"a {task.kind} turns by {low:.4g} to {high:.4g}"
    )
    others = [kind for kind, (least, most) in _TURNS.items() if least < needed < most and kind != task.kind]
    fix = (
        f"take a {' or a '.join(others)}" if others and not reason else "ask for another crossover or a smaller margin"
    )
    what = f"no {task.kind} gives a crossover of {omega:.6g} rad/s with a phase margin of {margin:g} degrees"
    return rules.OUT_OF_REACH.error(what, where=task.linear.name, why=why, fix=fix)


_TURNS: Final = {
    "pi": (-90.0, 0.0),
    "lead": (0.0, LARGEST_LEAD),
    "pid": (-math.degrees(math.atan(INTEGRAL_CORNER)), LARGEST_LEAD - math.degrees(math.atan(INTEGRAL_CORNER))),
}
"""By how many degrees each kind can turn at the crossover."""


def _gains(kind: str, omega: float, needed: float, gain: float) -> dict[str, float] | None:
    """The settings of a pid block that turns by `needed` degrees and has `gain` (with a sign) there; None where none does."""
    low, high = _TURNS[kind]
    if not low < needed < high:
        return None
    if kind == "pi":
        turn = math.radians(needed)
        return {"K_p": gain * math.cos(turn), "K_i": -gain * omega * math.sin(turn)}
    lead = math.radians(needed)
    if kind == "pid":
        lead += math.atan(INTEGRAL_CORNER)
        gain /= math.hypot(1.0, INTEGRAL_CORNER)
    # K (T s + 1)/(a T s + 1), whose largest turn stands at the crossover.
    share = (1 - math.sin(lead)) / (1 + math.sin(lead))
    T, K = 1 / (omega * math.sqrt(share)), gain * math.sqrt(share)
    filtered, K_d = share * T, K * (1 - share) * T
    if kind == "lead":
        return {"K_p": K, "K_d": K_d, "filter": filtered}
    # Times (1 + w_i/s): the lag that the integral makes of the filtered part goes to its gain and takes it from the derivative.
    corner = INTEGRAL_CORNER * omega
    return {"K_p": K + K_d * corner, "K_i": K * corner, "K_d": K_d * (1 - corner * filtered), "filter": filtered}


Space = tuple[Array, Array, Array, Array]


def _controller(gains: Mapping[str, float]) -> Space:
    """The states of a pid block from the error to its output: the integral, and the filter of the derivative."""
    A, B, C, D = [], [], [], gains["K_p"]
    if "K_i" in gains:
        A, B, C = [0.0], [gains["K_i"]], [1.0]
    if "K_d" in gains:
        rate = 1 / gains["filter"]
        A, B, C, D = [*A, -rate], [*B, rate], [*C, -gains["K_d"] * rate], D + gains["K_d"] * rate
    return np.diag(A), np.array(B).reshape(-1, 1), np.array(C).reshape(1, -1), np.array([[D]])


def _controller_values(gains: Mapping[str, float], w: Array) -> ComplexArray:
    s = 1j * np.asarray(w)
    turned = gains["K_p"] + gains.get("K_i", 0.0) / s
    return np.asarray(turned + gains.get("K_d", 0.0) * s / (gains.get("filter", 0.0) * s + 1))


def _closed(plant: Space, controller: Space) -> Array:
    """The matrix of the loop with u = C(s) (r - y)."""
    A, B, C, D = plant
    a, b, c, d = controller
    inner = np.linalg.inv(np.eye(len(D)) + D @ d)
    back = np.linalg.inv(np.eye(len(d)) + d @ D)
    return np.asarray(np.block([[A - B @ back @ d @ C, B @ back @ c], [-b @ inner @ C, a - b @ inner @ D @ c]]))


def _margins(
    model: LinearModel,
    plant: Callable[[Array], ComplexArray],
    controller: Callable[[Array], ComplexArray],
    omega: float,
) -> Margins:
    """All crossovers of gain and of phase, found on a grid over all corners and refined."""
    corners = [abs(v) for v in np.linalg.eigvals(energy_coordinates(model).A) if abs(v) > 0] + [omega]
    w = np.unique(np.append(np.geomspace(min(corners) / WIDE, max(corners) * WIDE, FREQUENCIES), omega))
    # Resonances are narrow: the grid is finer about each corner.
    w = np.unique(np.concatenate([w, *(corner * np.geomspace(0.8, 1.25, 401) for corner in corners)]))

    def loop(at: Array) -> ComplexArray:
        return plant(at) * controller(np.atleast_1d(at))

    values = loop(w)
    found = [omega, *_roots(w, np.log(np.abs(values)), lambda x: math.log(abs(loop(np.array([x]))[0])))]
    crossovers = sorted({round(x, 12): x for x in found if x == omega or abs(x / omega - 1) > 1e-6}.values())
    phases = np.degrees(np.angle(-loop(np.array(crossovers))))
    factors = []
    for x in _roots(w, values.imag, lambda x: float(loop(np.array([x]))[0].imag)):
        there = complex(loop(np.array([x]))[0])
        if there.real < 0:
            factors.append(1 / abs(there))
    up = min((f for f in factors if f > 1), default=math.inf)
    down = max((f for f in factors if f < 1), default=0.0)
    return Margins(tuple(crossovers), float(np.abs(phases).min()), up, down)


def _roots(w: Array, values: Array, of: Callable[[float], float]) -> Iterator[float]:
    for k in np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0):
        yield float(scipy.optimize.brentq(of, w[k], w[k + 1], xtol=1e-12, rtol=1e-12))


def _frequency(given: Quantity) -> float:
    """In rad/s: a text in Hz counts turns."""
    found = value_of(given, FREQUENCY, "the crossover")
    turns = isinstance(given, str) and given.rstrip().endswith("Hz")
    if found <= 0:
        raise rules.WRONG_DESIGN.error(f"a crossover at {found:g} rad/s", fix="ask for a positive frequency")
    return found * 2 * math.pi if turns else found


# -- All states ----------------------------------------------------------------------------------------------------------------


def _state_feedback(task: _Task, sizes: Mapping[str, Quantity], poles: tuple[complex | str, ...]) -> Design:
    """u = u_0 - K (x - x_0) + N (r - y_0), K by weights or by poles."""
    model = to_scipy(task.linear)
    A, B = np.asarray(model.A), np.asarray(model.B)[:, task.columns]
    _refuse_out_of_reach(task, A, B, all_of_them=task.kind == "poles")
    K = _regulator(task, A, B, sizes) if task.kind == "lqr" else _placed(task, A, B, poles)
    closed = A - B @ K
    N = _reference_gains(task, closed, B, K)
    signals: dict[str, Tree] = {}
    gains: dict[str, float] = {}
    for k, u in enumerate(task.inputs):
        gains |= {
            f"{u} by {x}" if len(task.inputs) > 1 else x: float(K[k, j]) for j, x in enumerate(task.linear.states)
        }
        entry: dict[str, Tree] = {
            "state feedback": [task.deviation(x) for x in task.linear.states],
            "gains": [_number(value) for value in K[k]],
            "reference": task.deviation(task.measure[0], _in_sum(task.reference)) if N is not None else "0",
        }
        if N is not None:
            entry["reference gain"] = _number(N[k])
        signals |= _with_offset(task, entry, k)
    about = (task.plant_in_words, _closed_text("closed loop", np.linalg.eigvals(closed)))
    return Design(task.kind, signals, gains, conjugate_pairs(np.linalg.eigvals(closed)), about)


def _with_offset(task: _Task, entry: Mapping[str, Tree], k: int = 0) -> dict[str, Tree]:
    """The entry, with the value of the input at the operating point beside it where that is not zero."""
    u, name = task.inputs[k], task.signal(k)
    u_0 = task.value(u)
    if not u_0:
        return {name: entry}
    inner = f"{name}_deviation"
    return {name: f"{_quantity(u_0, task.units.get(u, ''))} + {inner}", inner: entry}


def _regulator(task: _Task, A: Array, B: Array, sizes: Mapping[str, Quantity]) -> Array:
    """The gains that make the integral of all (y / size)^2 least."""
    missing = [u for u in task.inputs if u not in sizes]
    states = [name for name in sizes if name not in task.inputs]
    if missing or not states:
        needed = f"the size of {missing[0]}" if missing else "the size of a state or another variable"
        raise rules.WRONG_DESIGN.error(f"a quadratic regulator needs {needed}", fix="give how large each may be")
    task_size = {name: task.size(name, given) for name, given in sizes.items()}
    rows = [task.row(_known(task, name)) for name in states]
    C, D = np.array([c for c, _ in rows]), np.array([d for _, d in rows])[:, task.columns]
    W = np.diag([task_size[name] ** -2 for name in states])
    R = np.diag([task_size[u] ** -2 for u in task.inputs]) + D.T @ W @ D
    S = C.T @ W @ D
    P = _riccati(task, (A, B, C.T @ W @ C, R, S))
    return np.asarray(np.linalg.solve(R, B.T @ P + S.T), dtype=float)


def _riccati(task: _Task, parts: tuple[Array, Array, Array, Array, Array]) -> Array:
    A, B, Q, R, S = parts
    try:
        P = np.asarray(scipy.linalg.solve_continuous_are(A, B, Q, R, s=S), dtype=float)
        rates = np.linalg.eigvals(A - B @ np.linalg.solve(R, B.T @ P + S.T)).real
        if rates.max(initial=-1.0) < 0:
            return P
    except np.linalg.LinAlgError:
        pass
    what = f"no gains make the '{task.kind}' of '{task.linear.name}' settle"
    fix = (
        "give the size of a variable that shows the motion"
        if task.kind == "lqr"
        else "give the size of a disturbance that moves it"
    )
    raise rules.MODE_OUT_OF_REACH.error(what, where=task.linear.name, fix=fix)


def _known(task: _Task, name: str) -> str:
    known = (*task.linear.states, *task.linear.outputs)
    if name not in known:
        fix = did_you_mean(name, known) or f"some that are: {listing(known, 20)}"
        raise rules.WRONG_DESIGN.error(f"'{name}' is no variable of '{task.linear.name}'", fix=fix)
    return name


def _placed(task: _Task, A: Array, B: Array, given: tuple[complex | str, ...]) -> Array:
    """The gains that put the poles of A - B K where they are asked for."""
    try:
        asked = [
            complex(value.replace(" ", "").replace("i", "j")) if isinstance(value, str) else complex(value)
            for value in given
        ]
    except ValueError:
        fix = "write them as -50 and -40+30j, in 1/s"
        raise rules.WRONG_DESIGN.error(
            f"poles that cannot be read: {listing([str(v) for v in given])}", fix=fix
        ) from None
    if len(asked) != len(A):
        fix = f"give one for each state: {listing(task.linear.states, 20)}"
        raise rules.WRONG_DESIGN.error(f"{len(asked)} poles for {len(A)} states", fix=fix)
    try:
        found: Any = scipy.signal.place_poles(A, B, asked, maxiter=200)
    except ValueError as problem:
        fix = "give conjugate pairs, and no pole more often than there are inputs (of an observer: outputs)"
        raise rules.WRONG_DESIGN.error("the poles cannot be placed", why=str(problem), fix=fix) from None
    return np.asarray(found.gain_matrix, dtype=float)


def _reference_gains(task: _Task, closed: Array, B: Array, K: Array) -> Array | None:
    """How much each input is moved for each unit of the reference, so that the measured output rests there."""
    if not task.reference:
        return None
    if not task.measure:
        raise rules.WRONG_DESIGN.error("a reference without an output", fix="name the output that follows it")
    c, d = task.row(task.measure[0])
    d = d[task.columns]
    at_rest = d - (c - d @ K) @ np.linalg.solve(closed, B)
    if np.abs(at_rest).max(initial=0.0) <= OUT_OF_REACH * np.abs(c).max(initial=0.0):
        what = f"{listing(task.inputs)} leave {task.measure[0]} at rest where it is"
        raise rules.MODE_OUT_OF_REACH.error(what, where=task.linear.name, fix="give a reference for another output")
    return np.asarray(at_rest / (at_rest @ at_rest))


def _refuse_out_of_reach(task: _Task, A: Array, B: Array, *, all_of_them: bool) -> None:
    """Refuse modes that the columns of B do not move: all, or those that do not settle by themselves."""
    # Measured in energy, so that volts and pascals can be compared.
    T = energy_coordinates(task.linear).back
    T = T.T if task.kind == "observer" else np.asarray(np.linalg.inv(T), dtype=float)
    balanced, columns = T @ A @ np.linalg.inv(T), T @ B
    columns = columns / np.where((sizes := np.linalg.norm(columns, axis=0)) > 0, sizes, 1.0)
    speed = float(np.linalg.norm(balanced, 2)) or 1.0
    for pole in conjugate_pairs(np.linalg.eigvals(balanced)):
        settles = pole.value.real < -1e-9 * speed
        if settles and not all_of_them:
            continue
        shifted = np.hstack([(balanced - pole.value * np.eye(len(A))) / speed, columns])
        U, found, _ = np.linalg.svd(shifted)
        if found[-1] > OUT_OF_REACH:
            continue
        shares = np.abs(U[:, -1])
        taking = [x for x, share in zip(task.linear.states, shares, strict=True) if share > 0.1 * shares.max()]
        seen = task.kind == "observer"
        by = listing(task.measure if seen else task.inputs)
        what = f"the mode {_pole_text(pole)} 1/s ({listing(taking, 5)}) is not {'seen in' if seen else 'moved by'} {by}"
        fix = "measure something that shows it" if seen else "drive another input too"
        raise rules.MODE_OUT_OF_REACH.error(what, where=task.linear.name, fix=fix)


# -- Observers -----------------------------------------------------------------------------------------------------------------


def _observer(task: _Task, sizes: Mapping[str, Quantity], poles: tuple[complex | str, ...]) -> Design:
    """x^' = A x^ + B u + G (y - y^), G by poles or by the sizes of noises."""
    if bool(sizes) == bool(poles):
        raise rules.WRONG_DESIGN.error(
            "an observer follows from its poles or from the sizes of noises", fix="give one of both"
        )
    model = to_scipy(task.linear)
    A, B = np.asarray(model.A), np.asarray(model.B)
    rows = [task.row(name) for name in task.measure]
    C, D = np.array([c for c, _ in rows]), np.array([d for _, d in rows])
    _refuse_out_of_reach(task, A.T, C.T, all_of_them=bool(poles))
    G = _placed(task, A.T, C.T, poles).T if poles else _filter_gains(task, (A, B, C, D), sizes)
    estimates = {x: f"{identifier(x)}_estimate" for x in task.linear.states}
    innovations = {y: f"{identifier(y)}_innovation" for y in task.measure}
    by_states = [task.deviation(x, estimates[x]) for x in task.linear.states]
    by_inputs = [task.deviation(u) for u in task.inputs]
    signals: dict[str, Tree] = {}
    for i, x in enumerate(task.linear.states):
        terms = [*zip(A[i], by_states, strict=True), *zip(B[i, task.columns], by_inputs, strict=True)]
        rate = _sum_text([*terms, *zip(G[i], innovations.values(), strict=True)])
        start = task.value(x)
        signals[estimates[x]] = {"integral": rate, "initial": _quantity(start, task.units.get(x, "") if start else "")}
    for k, y in enumerate(task.measure):
        shown = [*zip(-C[k], by_states, strict=True), *zip(-D[k, task.columns], by_inputs, strict=True)]
        signals[innovations[y]] = _sum_text(shown, task.deviation(y))
    gains = {
        f"{x} by {y}": float(G[i, k]) for i, x in enumerate(task.linear.states) for k, y in enumerate(task.measure)
    }
    closed = A - G @ C
    about = (
        task.plant_in_words,
        f"Estimates from {listing(task.measure)}.",
        _closed_text("error", np.linalg.eigvals(closed)),
    )
    return Design(task.kind, signals, gains, conjugate_pairs(np.linalg.eigvals(closed)), about)


def _filter_gains(task: _Task, parts: Space, sizes: Mapping[str, Quantity]) -> Array:
    """The gains of the Kalman filter."""
    A, B, C, D = parts
    missing = [y for y in task.measure if y not in sizes]
    if missing:
        raise rules.WRONG_DESIGN.error(f"the filter needs the size of the noise of {missing[0]}", fix="give it")
    # The noise of what is measured is its own; all else moves states.
    n, inputs = len(A), task.linear.inputs
    noises = [name for name in sizes if name not in task.measure]
    unknown = [name for name in noises if name not in inputs and name not in task.linear.states]
    if unknown:
        known = (*inputs, *task.linear.states)
        fix = did_you_mean(unknown[0], known) or f"the inputs and states are {listing(known, 20)}"
        raise rules.WRONG_DESIGN.error(f"'{unknown[0]}' is no input, state or measured output", fix=fix)
    moved = [
        (B[:, inputs.index(v)], D[:, inputs.index(v)]) if v in inputs else (_unit(n, task, v), np.zeros(len(D)))
        for v in noises
    ]
    # A rate of a state is noise of a unit of its own, so a number in SI is taken as it is.
    how_large = {v: task.size(v, sizes[v]) for v in sizes}
    weights = np.diag([how_large[v] ** 2 for v in noises])
    E = np.array([b for b, _ in moved]).T.reshape(n, len(noises))
    F = np.array([d for _, d in moved]).T.reshape(len(D), len(noises))
    V = np.diag([how_large[y] ** 2 for y in task.measure]) + F @ weights @ F.T
    S = E @ weights @ F.T
    P = _riccati(task, (A.T, C.T, E @ weights @ E.T, V, S))
    return np.asarray(np.linalg.solve(V, C @ P + S.T).T, dtype=float)


def _unit(n: int, task: _Task, state: str) -> Array:
    return np.asarray(np.eye(n)[task.linear.states.index(state)])


# -- The text ------------------------------------------------------------------------------------------------------------------


def _document_of(model: AnyModel, described: Model) -> Document:
    """The file that a model was read from; written anew where it was made in Python."""
    text = model if isinstance(model, str) else model.__fspath__() if isinstance(model, os.PathLike) else ""
    if text:
        file = Path(text)
        if not file.is_file() and example_file(text).is_file():
            file = example_file(text)
        if file.suffix in (".yaml", ".yml"):
            return read_document(file)
    return read_document(to_yaml(described))


def _with_signals(document: Document, made: Design, drives: Mapping[str, str]) -> Document:
    """The file with the signals of the design under a comment, and sources that follow them in its experiment."""
    if (section := document.root.get("signals")) is None:
        text = document.text.rstrip("\n") + "\n\nsignals:\n"
        lines = "".join(f"  {entry_source(name, value, False, False)}\n" for name, value in made.signals.items())
        document = read_document(text + lines, document.file)
    else:
        for name, value in made.signals.items():
            old = section.get(name) if isinstance(section, MappingNode) else None
            if old is not None:
                document = remove(document, ("signals", name))
            document = add_entry(document, ("signals",), name, _with_limits(value, old))
    for source, signal in drives.items():
        document = _following(document, source, signal)
    # Above the line of the first new signal, as deep as it stands.
    signals = find(document, ("signals",))
    assert isinstance(signals, MappingNode), "entries were added to it"
    key = signals.key(next(iter(made.signals)))
    assert key is not None, "it was added"
    start = document.line_starts[key.line - 1]
    line = document.text[start:]
    indent = line[: len(line) - len(line.lstrip(" "))]
    note = "".join(f"{indent}# {text}\n" for text in made.about)
    return read_document(document.text[:start] + note + document.text[start:], document.file)


def _with_limits(new: Tree, old: Node | None) -> Tree:
    """A controller within the limits of the one whose place it takes."""
    if not (isinstance(new, Mapping) and "pid" in new and isinstance(old, MappingNode) and "pid" in old):
        return new
    kept = ("limits", "anti-windup") if "K_i" in new else ("limits",)
    return {**new, **{key: tree_of(found) for key in kept if (found := old.get(key)) is not None}}


def _following(document: Document, source: str, signal: str) -> Document:
    """The file whose experiment lets a source follow a signal."""
    for path, key in (((), "experiment"), (("experiment",), "inputs")):
        node = find(document, path)
        if isinstance(node, MappingNode) and node.get(key) is None:
            value: Tree = {"inputs": {source: signal}} if key == "experiment" else {source: signal}
            return add_entry(document, path, key, value)
    inputs = find(document, ("experiment", "inputs"))
    if isinstance(inputs, MappingNode) and (old := inputs.get(source)) is not None:
        if isinstance(old, Scalar):
            return set_scalar(document, ("experiment", "inputs", source), signal)
        document = remove(document, ("experiment", "inputs", source))
    return add_entry(document, ("experiment", "inputs"), source, signal)
