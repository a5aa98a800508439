"""The analysis of a model as one value: ask it for poles, zeros, responses, ranks and the split of power."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from tellegen.analysis import printing
from tellegen.analysis.control_view import to_control
from tellegen.analysis.linear_model import Array, LinearModel
from tellegen.analysis.plotting import plot_bode, plot_response
from tellegen.analysis.poles import Pole, poles, stiffness_ratio
from tellegen.analysis.power_split import PowerSplit
from tellegen.analysis.responses import Bode, Response, bode, dc_gain, impulse_response, step_response
from tellegen.analysis.structure import Passivity, Reach, controllability, observability, passivity
from tellegen.analysis.zeros import zeros

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True)
class ClosedLoop:
    """The model together with its controllers: the inputs that they drive, and the poles; None where `reason` forbids them."""

    driven: tuple[str, ...]
    poles: tuple[Pole, ...] | None
    reason: str = ""


@final
@dataclass(frozen=True, eq=False)
class Analysis:
    """What linear analysis says about a model; nonlinear models are linearised at `model.point`.

    `power` is the split of power in steady state, None where there is none. Numbers are in SI units, which `units` gives by name.
    Poles and all else are those of the plant: sources that controllers drive are inputs. `closed_loop` counts the controllers in;
    it is None for a model without any. `modes` are those in which elements that switch, stick or stop were linearised.
    """

    model: LinearModel
    units: Mapping[str, str] = field(default_factory=dict)
    power: PowerSplit | None = None
    closed_loop: ClosedLoop | None = None
    modes: Mapping[str, str] = field(default_factory=dict)

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

    def bode(self, frequencies: Array | None = None, *, points: int = 400) -> Bode:
        """The frequency response, at angular frequencies or over all poles and zeros."""
        return bode(self.model, frequencies, points=points)

    def step_response(self, until: float | None = None, *, points: int = 500) -> Response:
        """The outputs after a step of one unit in each input."""
        return step_response(self.model, until, points=points)

    def impulse_response(self, until: float | None = None, *, points: int = 500) -> Response:
        """The outputs after an impulse of one unit times second in each input."""
        return impulse_response(self.model, until, points=points)

    def to_control(self) -> Any:
        """The model as a `control.StateSpace` of python-control."""
        return to_control(self.model)

    def plot(self, *, figure: "Figure | None" = None) -> "Figure":
        """The Bode diagram."""
        return plot_bode(self.bode(), figure=figure)

    def plot_step(self, until: float | None = None, *, figure: "Figure | None" = None) -> "Figure":
        """The step response as a figure."""
        return plot_response(self.step_response(until), dict(self.units), figure=figure)

    def to_json(self, *, points: int = 100) -> dict[str, object]:
        """The record that `analyse --json` prints: names, numbers and units."""
        return printing.to_record(self, points)

    def __str__(self) -> str:
        return printing.to_text(self)
