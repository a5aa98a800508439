"""Responses of a linear model: Bode, step, impulse, the gain at rest, and their figures."""

import math
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, Unpack, final

import numpy as np
import scipy

from tellegen.analysis import rules
from tellegen.analysis.linear_model import Array, ComplexArray, LinearModel, StateSpace, energy_coordinates
from tellegen.analysis.poles import INTEGRATOR_SHARE, Pole, poles, zeros
from tellegen.plots import Line, Look, Panel, Plot, panels_plot
from tellegen.scenes.lettering import name_latex

DECADES = 1.5
"""How far a Bode diagram reaches beyond the poles and zeros."""

SMALL = 1e8
"""Up to so many frequencies times cubes of states each one is solved by itself, which costs less than loading SciPy."""

SETTLED = 7.0
"""A step response is shown for so many of the slowest time constants: e^-7 is a thousandth."""


@final
@dataclass(frozen=True, eq=False)
class Bode:
    """G(j w): `response` is an array over frequency, output and input; frequencies are in rad/s."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    frequency: Array
    response: ComplexArray

    @property
    def magnitude(self) -> Array:
        """The gain, in the unit of the output over the unit of the input."""
        return np.abs(self.response)

    @property
    def decibel(self) -> Array:
        """The gain in dB; minus infinity where nothing passes."""
        with np.errstate(divide="ignore"):
            return np.asarray(20.0 * np.log10(self.magnitude))

    @property
    def phase(self) -> Array:
        """The phase in degrees, continuous along the frequency."""
        return np.degrees(np.unwrap(np.angle(self.response), axis=0))


@final
@dataclass(frozen=True, eq=False)
class TimeResponse:
    """Outputs over time from rest, one input at a time: `values` is an array over time, output and input."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    t: Array
    values: Array


def bode(model: LinearModel, frequencies: Array | None = None, *, points: int = 400) -> Bode:
    """The frequency response; where no frequencies (rad/s) are given, over all poles and zeros and somewhat further."""
    chosen = _frequencies(model, points) if frequencies is None else np.asarray(frequencies, dtype=float)
    return Bode(
        model.inputs,
        model.outputs,
        chosen,
        transfer_values(energy_coordinates(model), np.asarray(1j * chosen, dtype=complex)),
    )


def transfer_values(space: StateSpace, s: ComplexArray) -> ComplexArray:
    """G(s) at complex frequencies: an array over frequency, output and input; infinite at a pole."""
    direct = space.D[None] + s[:, None, None] * space.D_1[None]
    if not space.A.size:
        return np.asarray(direct, dtype=complex)
    if len(s) * len(space.A) ** 3 <= SMALL:
        with suppress(np.linalg.LinAlgError):  # at a pole
            shifted = s[:, None, None] * np.eye(len(space.A)) - space.A
            return np.asarray(space.C @ np.linalg.solve(shifted, space.B[None].astype(complex)) + direct)
    # Triangular once, so that each frequency costs one back-substitution; all of them go through it together, row by row, because
    # the time of hundreds of small solutions is that of calling them.
    T, Z = scipy.linalg.schur(space.A.astype(complex), output="complex")
    B, C = Z.conj().T @ space.B, space.C @ Z
    states = np.zeros((len(T), len(s), B.shape[1]), dtype=complex)
    with np.errstate(divide="ignore", invalid="ignore"):
        for k in reversed(range(len(T))):
            states[k] = (B[k] + np.tensordot(T[k, k + 1 :], states[k + 1 :], 1)) / (s - T[k, k])[:, None]
        found = np.einsum("ik,ksj->sij", C, states) + direct
    return np.where(np.isfinite(found), found, np.inf)


def dc_gain(model: LinearModel) -> Array:
    """What each constant input of one unit leaves of each output in the end: G(0), infinite where an integrator is driven."""
    space = energy_coordinates(model)
    found = poles(model)
    rates = [p.natural_frequency for p in found if p.value != 0]
    if not space.A.size:
        return space.D
    if len(rates) == len(found):
        return _without_rounding(space, np.array(rates))
    # An integrator: near zero the gain of a driven channel grows like 1/s, the others have come to rest.
    # Far below all rates that decay, so that only integrators still move there.
    slow = 1e-6 * min(rates, default=1.0)
    near, nearer = transfer_values(space, 1j * np.array([slow, slow / 8]))
    # Eight times slower, a gain of 1/s grows by eight, and one at rest does not: four lies between them.
    grows = np.abs(nearer) > 4 * np.abs(near)
    return np.where(grows, np.inf, near.real)


def _without_rounding(space: StateSpace, rates: Array) -> Array:
    """G(0), zero where it is nothing beside G at the poles: an input that a spring blocks leaves no velocity, not 1e-17 m/s."""
    gain = space.D - space.C @ np.linalg.solve(space.A, space.B)
    # Beside the poles and not at them: without losses the gain there is infinite.
    largest = np.abs(transfer_values(space, np.asarray(1.01j * rates, dtype=complex))).max(axis=0)
    return np.where(np.abs(gain) > 1e-13 * len(space.A) * largest, gain, 0.0)


def step_response(model: LinearModel, until: float | None = None, *, points: int = 500) -> TimeResponse:
    """The outputs after a step of one unit at t = 0 in each input, exact on an even grid.

    Raises: EquationError (E203) when an output holds the derivative of an input.
    """
    space, t = _proper(model), _grid(model, until, points)
    n, m = space.B.shape
    # The exponential of the model with its held input: states and input after one step of the grid.
    # One exponential for all steps of the grid: exact for a held input, however stiff the model.
    held = scipy.linalg.expm(np.block([[space.A, space.B], [np.zeros((m, n + m))]]) * (t[1] - t[0]))
    A, B = held[:n, :n], held[:n, n:]
    states = np.zeros((len(t), n, m))
    for k in range(1, len(t)):
        states[k] = A @ states[k - 1] + B
    return TimeResponse(model.inputs, model.outputs, t, space.C @ states + space.D)


def impulse_response(model: LinearModel, until: float | None = None, *, points: int = 500) -> TimeResponse:
    """The outputs after an impulse of one unit times second at t = 0 in each input.

    An impulse that passes directly to an output (D) is at t = 0 and is not shown.

    Raises: EquationError (E203) when an output holds the derivative of an input.
    """
    space, t = _proper(model), _grid(model, until, points)
    A = scipy.linalg.expm(space.A * (t[1] - t[0]))
    states = np.zeros((len(t), *space.B.shape))
    # An impulse puts B into the states at once.
    states[0] = space.B
    for k in range(1, len(t)):
        states[k] = A @ states[k - 1]
    return TimeResponse(model.inputs, model.outputs, t, space.C @ states)


def _proper(model: LinearModel) -> StateSpace:
    space = energy_coordinates(model)
    if space.D_1.any():
        row = int(np.argwhere(space.D_1)[0][0])
        raise rules.IMPROPER.error(
            f"the output {model.outputs[row]} holds the derivative of an input",
            where=model.name,
            fix="put a small resistive element between the source and the storage",
        )
    return space


def _grid(model: LinearModel, until: float | None, points: int) -> Array:
    return np.linspace(0.0, horizon(poles(model)) if until is None else until, max(points, 2))


def horizon(found: tuple[Pole, ...]) -> float:
    """A time in which the slowest pole has settled; where nothing decays, some periods of what oscillates."""
    fastest = max((p.natural_frequency for p in found), default=0.0)
    decays = [p.time_constant for p in found if p.value.real < -INTEGRATOR_SHARE * fastest]
    # What never decays is shown for some of its periods.
    others = [2 * math.pi / p.natural_frequency for p in found if p.natural_frequency > INTEGRATOR_SHARE * fastest]
    return SETTLED * max(decays or others or [1.0])


def _frequencies(model: LinearModel, points: int) -> Array:
    # Zeros of single channels too: dips of a curve are as much of it as its resonances.
    dips = [zero for y in model.outputs for u in model.inputs for zero in zeros(model, y, u)]
    corners = [p.natural_frequency for p in (*poles(model), *zeros(model), *dips) if p.natural_frequency > 0]
    low, high = (min(corners), max(corners)) if corners else (1.0, 1.0)
    return np.geomspace(low * 10**-DECADES, high * 10**DECADES, points)


def plot_bode(bode: Bode, **look: Unpack[Look]) -> Plot:
    """Gain and phase over frequency: one stack an input, one curve an output."""
    told = "gains in dB, of numbers in SI units, and phases in degrees"
    return panels_plot("Bode diagram", [_bode_stack(bode, j) for j in range(len(bode.inputs))], about=told, **look)


def _bode_stack(bode: Bode, j: int) -> tuple[Panel, Panel]:
    decibel, phase = bode.decibel[:, :, j], bode.phase[:, :, j]
    # A channel through which nothing passes is minus infinity everywhere, and has no curve.
    passing = [i for i in range(len(bode.outputs)) if np.isfinite(decibel[:, i]).any()]
    channels = [(bode.outputs[i], bode.inputs[j]) for i in passing]
    named = [(f"{y}/{u}", rf"{name_latex(y)}/{name_latex(u)}") for y, u in channels]
    gains, phases = (
        tuple(
            Line(name, bode.frequency, values[:, i], latex=latex)
            for (name, latex), i in zip(named, passing, strict=True)
        )
        for values in (decibel, phase)
    )
    over: dict[str, Any] = {"x_title": r"\omega", "x_unit": "rad/s", "x_kind": "log"}
    return (
        Panel(gains, "dB", r"\text{gain}", kind="decibel", **over),
        Panel(phases, "deg", r"\text{phase}", kind="phase", **over),
    )


def plot_response(response: TimeResponse, units: dict[str, str], **look: Unpack[Look]) -> Plot:
    """Outputs over time: one stack an input, one panel an output."""
    stacks = [
        [
            Panel(
                (Line(f"{y} from {u}", response.t, response.values[:, i, j], latex=_from(y, u)),),
                unit=units.get(y, ""),
            )
            for i, y in enumerate(response.outputs)
        ]
        for j, u in enumerate(response.inputs)
    ]
    return panels_plot("Step response", stacks, **look)


def _from(output: str, source: str) -> str:
    return rf"{name_latex(output)}\text{{ from }}{name_latex(source)}"


CLUSTER = 20.0
"""Poles so many times farther away than others have a map of their own: beside them the others would be one point."""
MOST_MAPS = 3


def plot_poles(model: LinearModel, **look: Unpack[Look]) -> Plot:
    """Poles and zeros in the complex plane, with equal scales; where some are much faster than others, the slow ones once more."""
    marks = {"poles": _points(poles(model)), "zeros": _points(zeros(model))}
    sizes = np.sort(np.abs(np.concatenate(list(marks.values()))))
    # The largest of each cluster: what is faster is left out of its map.
    ends = [one for one, next_ in pairwise(sizes.tolist()) if next_ > CLUSTER * one > 0] if len(sizes) else []
    limits = [math.inf, *reversed(ends)][:MOST_MAPS]
    return panels_plot("Poles and zeros", [[_map(marks, limit)] for limit in limits], **look)


def _points(found: tuple[Pole, ...]) -> ComplexArray:
    values = np.array([pole.value for pole in found], dtype=complex)
    # Of a conjugate pair only one is listed.
    return np.concatenate([values, values[values.imag != 0].conj()])


def _map(marks: dict[str, ComplexArray], limit: float) -> Panel:
    signs: dict[str, Literal["x", "o"]] = {"poles": "x", "zeros": "o"}
    near = {word: values[np.abs(values) <= limit] for word, values in marks.items()}
    lines = tuple(
        Line(word, values.real, values.imag, latex=rf"\text{{{word}}}", look=(k, 0), mark=signs[word])
        for k, (word, values) in enumerate(near.items())
        if len(values)
    )
    return Panel(lines, "1/s", r"\mathrm{Im}\,s", x_title=r"\mathrm{Re}\,s", x_unit="1/s", equal=True)
