"""The analysis of a model as one value: ask it for poles, zeros, responses, ranks and the split of power, as text or as a
record.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack, final

from tellegen.analysis.linear_model import Array, LinearModel, to_control, to_pymor, to_scipy, transfer_functions
from tellegen.analysis.poles import (
    Passivity,
    Pole,
    Reach,
    controllability,
    observability,
    passivity,
    poles,
    stiffness_ratio,
    zeros,
)
from tellegen.analysis.responses import (
    Bode,
    TimeResponse,
    bode,
    dc_gain,
    impulse_response,
    plot_bode,
    plot_poles,
    plot_response,
    step_response,
)
from tellegen.core.names import identifier
from tellegen.core.tables import TitledTable, tables_html, tables_text
from tellegen.equations.forms.transfer import TransferMatrix
from tellegen.equations.rules import NOT_CONTINUOUS
from tellegen.plots import Look, Plot
from tellegen.results.units import behind_number, ratio_unit

QUIET = 1e-12
"""Elements with less than this share of the power exchanged neither give nor take."""


@final
@dataclass(frozen=True)
class PowerSplit:
    """Powers in W by element, the largest first: what each gives into the model and what each takes out of it.

    `given` and `taken` have equal sums, but for what the storages hold back.
    """

    given: Mapping[str, float]
    taken: Mapping[str, float]

    @property
    def total(self) -> float:
        """The power that enters."""
        return sum(self.given.values())

    def share(self, element: str) -> float:
        """Which part of the power that enters an element takes; negative for one that gives."""
        power = self.taken.get(element, 0.0) - self.given.get(element, 0.0)
        return power / self.total if self.total else 0.0


def split_power(powers: Mapping[str, float]) -> PowerSplit:
    """The split of powers that are positive into each element."""
    # What is given is taken: each watt is counted on both sides.
    exchanged = sum(map(abs, powers.values())) / 2
    # Rounding makes every element give or take a little: such shares would only be noise in the table.
    audible = {name: p for name, p in powers.items() if abs(p) > QUIET * exchanged}
    ordered = sorted(audible.items(), key=lambda entry: -abs(entry[1]))
    return PowerSplit({n: -p for n, p in ordered if p < 0}, {n: p for n, p in ordered if p > 0})


def poles_to_text(poles: Sequence[Pole]) -> str:
    """A table of poles."""
    return "\n".join(line.rstrip() for line in TitledTable("poles", _pole_rows(poles)).lines())


def pole_record(pole: Pole) -> dict[str, object]:
    """A pole in numbers: 1/s, rad/s, s; a time constant that is infinite is null."""
    return {
        **_complex(pole.value),
        "natural_frequency": pole.natural_frequency,
        "damping": pole.damping,
        "time_constant": _finite(pole.time_constant),
    }


def _closed_loop_table(loop: "ClosedLoop") -> TitledTable:
    # Not every loop has poles in s; why this one has none is told instead.
    if loop.poles is None:
        return TitledTable(f"no poles of the closed loop: {loop.reason}")
    point = loop.linear.model if loop.linear is not None else None
    where = f", linearised {point.origin}" if point is not None and point.origin else ""
    title = f"poles of the closed loop; {', '.join(loop.driven)} controlled{where}"
    return TitledTable(title, _pole_rows(loop.poles), headed=True)


def _channel_records(found: "Analysis") -> Iterator[dict[str, object]]:
    model, gains = found.model, found.dc_gain
    for i, y in enumerate(model.outputs):
        for j, u in enumerate(model.inputs):
            yield {
                "output": identifier(y),
                "input": identifier(u),
                "dc_gain": _finite(gains[i, j]),
                "unit": ratio_unit(found.units.get(y, ""), found.units.get(u, "")),
                "zeros": [_complex(z.value) for z in found.zeros(y, u)],
            }


def _bode_record(found: "Analysis", points: int) -> dict[str, object]:
    bode = found.bode(points=points)
    channels = [
        {
            "output": identifier(y),
            "input": identifier(u),
            "magnitude": bode.magnitude[:, i, j].tolist(),
            "phase": bode.phase[:, i, j].tolist(),
        }
        for i, y in enumerate(bode.outputs)
        for j, u in enumerate(bode.inputs)
    ]
    return {
        "units": {"frequency": "rad/s", "phase": "deg"},
        "frequency": bode.frequency.tolist(),
        "channels": channels,
    }


def _pole_rows(poles: Sequence[Pole]) -> list[tuple[str, ...]]:
    head = ("value [1/s]", "natural frequency [rad/s]", "[Hz]", "damping", "time constant [s]")
    rows = [
        (
            complex_text(p.value, both=p.is_pair),
            f"{p.natural_frequency:.5g}",
            f"{p.natural_frequency / (2 * math.pi):.5g}",
            f"{p.damping:.4g}",
            f"{p.time_constant:.5g}" if math.isfinite(p.time_constant) else "-",
        )
        for p in poles
    ]
    return [head, *rows] if rows else []


def _channel_rows(found: "Analysis") -> Iterator[tuple[str, ...]]:
    model, gains = found.model, found.dc_gain
    for j, u in enumerate(model.inputs):
        for i, y in enumerate(model.outputs):
            zeros = ", ".join(complex_text(z.value, both=True) for z in found.zeros(y, u)) or "-"
            yield u, y, f"{gains[i, j]:.5g}", ratio_unit(found.units.get(y, ""), found.units.get(u, "")), zeros


def _structure(found: "Analysis") -> list[tuple[str, str]]:
    control, observe, model = found.controllability, found.observability, found.model
    words = {True: "yes", False: "no", None: "not decided by W"}
    # "0 of 2 states" would be read as a flaw of the machine, where nobody has said what moves or shows it.
    return [
        (
            "controllable",
            f"{control.rank} of {control.states} states" if model.inputs else "no inputs: --as-inputs names some",
        ),
        (
            "observable",
            f"{observe.rank} of {observe.states} states" if model.outputs else "no outputs: --outputs names some",
        ),
        ("passive", words[found.passivity.passive]),
    ]


def _power_rows(power: PowerSplit) -> list[tuple[str, ...]]:
    given = [(name, "gives", f"{p:.5g}", f"{100 * p / power.total:.1f} %") for name, p in power.given.items()]
    taken = [(name, "takes", f"{p:.5g}", f"{100 * power.share(name):.1f} %") for name, p in power.taken.items()]
    return [*given, *taken] or [("nothing flows",)]


def complex_text(value: complex, *, both: bool = False) -> str:
    """`-3 + 4j`; with `both`, `-3 ± 4j` for a conjugate pair; a real number without its imaginary part."""
    if value.imag == 0:
        return f"{value.real:.5g}"
    sign = "±" if both else "+" if value.imag > 0 else "-"
    return f"{value.real:.5g} {sign} {abs(value.imag):.5g}j"


def _identifiers(names: Sequence[str]) -> list[str]:
    return [identifier(name) for name in names]


def _complex(value: complex) -> dict[str, object]:
    return {"re": value.real, "im": value.imag}


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class LinearAnalysis:
    """What linear analysis says about the matrices of a model; numbers are in SI units, which `units` gives by name."""

    model: LinearModel
    units: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def poles(self) -> tuple[Pole, ...]:
        """The poles, slowest first; of a conjugate pair the one above the real axis."""
        return poles(self.model)

    @cached_property
    def stiffness_ratio(self) -> float:
        """How much faster the fastest decay is than the slowest."""
        return stiffness_ratio(self.poles)

    def zeros(self, output: str | None = None, input_: str | None = None) -> tuple[Pole, ...]:
        """The zeros of a channel, or without names the transmission zeros of the whole model."""
        return zeros(self.model, output, input_)

    @cached_property
    def dc_gain(self) -> Array:
        """What a constant input of one unit leaves of each output: rows are outputs, columns inputs."""
        return dc_gain(self.model)

    def bode(self, frequencies: Array | None = None, *, points: int = 400) -> Bode:
        """The frequency response, at angular frequencies or over all poles and zeros."""
        return bode(self.model, frequencies, points=points)

    def step_response(self, until: float | None = None, *, points: int = 500) -> TimeResponse:
        """The outputs after a step of one unit in each input."""
        return step_response(self.model, until, points=points)

    def impulse_response(self, until: float | None = None, *, points: int = 500) -> TimeResponse:
        """The outputs after an impulse of one unit times second in each input."""
        return impulse_response(self.model, until, points=points)

    def transfer_functions(self) -> TransferMatrix:
        """The transfer functions with numbers: rows are outputs, columns inputs."""
        return transfer_functions(self.model)

    def to_control(self) -> Any:
        """The model as a `control.StateSpace` of python-control."""
        return to_control(self.model)

    def to_scipy(self) -> Any:
        """The model as a `scipy.signal.StateSpace`; `model.states`, `model.inputs` and `model.outputs` are the names."""
        return to_scipy(self.model)

    def to_pymor(self) -> Any:
        """The model for pyMOR: a `PHLTIModel` where it is port-Hamiltonian as it stands, else an `LTIModel`."""
        return to_pymor(self.model)

    def plot(self, **look: Unpack[Look]) -> Plot:
        """The Bode diagram."""
        return plot_bode(self.bode(), **look)

    def plot_step(self, until: float | None = None, **look: Unpack[Look]) -> Plot:
        """The step response as a plot."""
        return plot_response(self.step_response(until), dict(self.units), **look)

    def plot_poles(self, **look: Unpack[Look]) -> Plot:
        """The poles (x) and the transmission zeros (o) in the complex plane."""
        return plot_poles(self.model, **look)


@final
@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """A model with its controllers at work: its poles, or None where `reason` forbids them.

    `driven` are the sources and signals at which the plant was cut. `linear` has all else: zeros, responses, transfer functions.
    """

    driven: tuple[str, ...]
    poles: tuple[Pole, ...] | None
    reason: str = ""
    linear: LinearAnalysis | None = None

    def to_control(self) -> Any:
        """The closed loop as a `control.StateSpace` of python-control.

        Raises: EquationError (E121) where there is no linear closed loop.
        """
        return self._linear().to_control()

    def bode(self, frequencies: Array | None = None, *, points: int = 400) -> Bode:
        """The frequency response from references and free inputs.

        Raises: EquationError (E121) where there is no linear closed loop.
        """
        return self._linear().bode(frequencies, points=points)

    def transfer_functions(self) -> TransferMatrix:
        """The transfer functions from references and free inputs, with numbers.

        Raises: EquationError (E121) where there is no linear closed loop.
        """
        return self._linear().transfer_functions()

    def _linear(self) -> LinearAnalysis:
        if self.linear is None:
            raise NOT_CONTINUOUS.error(f"there is no linear closed loop: {self.reason}", fix="simulate the loop")
        return self.linear


@final
@dataclass(frozen=True, eq=False)
class Analysis(LinearAnalysis):
    """What linear analysis says about a model; nonlinear models are linearised at `model.point`, which `model.origin` names.

    `power` is the split of power in steady state, None where there is none. Poles and all else are those of the plant: the model
    cut open at `cut`, whose sources and signals are inputs; `held` are sampled and delayed signals that keep their values.
    `closed_loop` counts the controllers in; it is None where no loop was cut. `modes` are those in which elements that switch,
    stick or stop were linearised.
    """

    power: PowerSplit | None = None
    closed_loop: ClosedLoop | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    cut: tuple[str, ...] = ()
    held: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def controllability(self) -> Reach:
        """How many states the inputs reach, and the poles that they do not."""
        return controllability(self.model)

    @cached_property
    def observability(self) -> Reach:
        """How many states the outputs show, and the poles that they do not."""
        return observability(self.model)

    @cached_property
    def passivity(self) -> Passivity:
        """Whether the model can only store and lose."""
        return passivity(self.model)

    def to_json(self, *, points: int = 100) -> dict[str, object]:
        """The record that `analyse --json` prints: names, numbers and units; what is infinite is null."""
        model, passivity = self.model, self.passivity
        record: dict[str, object] = {
            "name": model.name,
            "states": _identifiers(model.states),
            "inputs": _identifiers(model.inputs),
            "outputs": _identifiers(model.outputs),
            "units": {
                identifier(n): self.units.get(n, "")
                for n in dict.fromkeys((*model.states, *model.inputs, *model.outputs))
            },
        }
        if model.point:
            record["point"] = {identifier(n): v for n, v in model.point.items()}
            record["linearised"] = model.origin
        if self.cut:
            record["cut"] = _identifiers(self.cut)
        if self.held:
            record["held"] = {identifier(n): v for n, v in self.held.items()}
        if self.modes:
            record["modes"] = {identifier(n): mode for n, mode in self.modes.items()}
        record |= {
            "poles": [pole_record(p) for p in self.poles],
            "zeros": [_complex(z.value) for z in self.zeros()],
            "stiffness_ratio": _finite(self.stiffness_ratio),
            "channels": [*_channel_records(self)],
            "controllable": {"rank": self.controllability.rank, "states": self.controllability.states},
            "observable": {"rank": self.observability.rank, "states": self.observability.states},
            "passive": passivity.passive,
            "bode": _bode_record(self, points),
        }
        if (loop := self.closed_loop) is not None:
            record["controlled_inputs"] = _identifiers(loop.driven)
            record["closed_loop_poles"] = None if loop.poles is None else [pole_record(p) for p in loop.poles]
            if loop.linear is not None and (point := loop.linear.model.point):
                record["closed_loop_point"] = {identifier(n): v for n, v in point.items()}
        if self.power is not None:
            record["power"] = {
                "unit": "W",
                "given": {identifier(n): p for n, p in self.power.given.items()},
                "taken": {identifier(n): p for n, p in self.power.taken.items()},
            }
        return record

    def point_tables(self) -> list[TitledTable]:
        """Where it holds: the point, the modes, and what is held."""
        model = self.model
        tables: list[TitledTable] = []
        if model.point:
            point = [(n, f"{v:.6g} {behind_number(self.units.get(n, ''))}") for n, v in model.point.items()]
            tables.append(TitledTable(f"linearised {model.origin}".rstrip(), point))
        if self.modes:
            tables.append(TitledTable("in the mode", [*self.modes.items()]))
        if self.held:
            tables.append(TitledTable("held as sampled", [(n, f"{v:.6g}") for n, v in self.held.items()]))
        return tables

    def pole_table(self, found: Sequence[Pole]) -> TitledTable:
        """A table of poles of the plant."""
        # A source that only follows the time closes no loop, and there is nothing to tell a plant from.
        title = "poles" if self.closed_loop is None else f"poles of the plant, cut open at {', '.join(self.cut)}"
        rows = _pole_rows(found)
        return TitledTable(title if rows else "no poles: the model is static", rows, headed=True)

    def tables(self) -> list[TitledTable]:
        """What it found, part by part: point, poles, channels, structure and power."""
        tables = [*self.point_tables(), self.pole_table(self.poles)]
        if self.poles:
            tables.append(TitledTable(f"stiffness ratio  {self.stiffness_ratio:.4g}"))
        if self.closed_loop is not None:
            tables.append(_closed_loop_table(self.closed_loop))
        # Without inputs or outputs there is a table of nothing.
        if channels := list(_channel_rows(self)):
            head = ("from", "to", "gain at rest", "unit", "zeros [1/s]")
            tables.append(TitledTable("channels", [head, *channels], headed=True))
        tables.append(TitledTable("structure", _structure(self)))
        if self.power is not None:
            tables.append(TitledTable("power in steady state [W]", _power_rows(self.power)))
        return tables

    def __str__(self) -> str:
        """The analysis as an engineer reads it on a terminal."""
        return tables_text(self.model.name, self.tables())

    def _repr_html_(self) -> str:
        return tables_html(self.model.name, self.tables())


@final
@dataclass(frozen=True, eq=False)
class NearestPoles:
    """The poles of an analysis that are nearest to a point of the plane, up to a count: of the plant, and of the closed loop."""

    found: Analysis
    point: complex
    count: int

    @property
    def plant(self) -> tuple[Pole, ...]:
        """Those of the plant, nearest first."""
        return self._nearest(self.found.poles)

    @property
    def closed_loop(self) -> ClosedLoop | None:
        """The closed loop with those poles alone."""
        loop = self.found.closed_loop
        return loop if loop is None or loop.poles is None else replace(loop, poles=self._nearest(loop.poles))

    def _nearest(self, poles: Sequence[Pole]) -> tuple[Pole, ...]:
        return tuple(sorted(poles, key=lambda pole: abs(pole.value - self.point))[: self.count])

    def to_json(self) -> dict[str, object]:
        """The record that `analyse --poles --json` prints."""
        record: dict[str, object] = {"poles": [pole_record(pole) for pole in self.plant]}
        if (loop := self.closed_loop) is not None:
            record["cut"] = _identifiers(self.found.cut)
            record["closed_loop_poles"] = None if loop.poles is None else [pole_record(pole) for pole in loop.poles]
        model = self.found.model
        if model.point:
            record |= {"point": {identifier(n): v for n, v in model.point.items()}, "linearised": model.origin}
        return record

    def __str__(self) -> str:
        tables = [*self.found.point_tables(), self.found.pole_table(self.plant)]
        tables += [] if self.closed_loop is None else [_closed_loop_table(self.closed_loop)]
        return tables_text(self.found.model.name, tables)
