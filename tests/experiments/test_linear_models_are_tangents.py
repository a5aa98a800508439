"""A linear model is the tangent of the compiled right-hand side: A, B, C and D equal finite differences of what a run computes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.amount import every
from tellegen.analysis.linear_model import LinearModel
from tellegen.causality import assign_causality
from tellegen.compiler import compile_model
from tellegen.compiler.context import ModelContext
from tellegen.compiler.numeric_model import NumericModel
from tellegen.experiments.linearising import Linearisation
from tellegen.experiments.steady_state import ConstantPast
from tellegen.graph import lower
from tellegen.graph.signal_lowering import drive_given_inputs
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.simulation.solvers.stretch import SolverSettings, prepare
from tellegen.simulation.starting import consistent_start

Array = np.ndarray


@dataclass
class Compiled:
    """A compiled model at a time, sampled and delayed signals held."""

    model: NumericModel
    context: ModelContext
    t: float

    @staticmethod
    def of(model: Model, values: Mapping[str, float], t: float) -> "Compiled":
        graph = drive_given_inputs(lower(model), Linearisation.of(model, at={}).follows)
        made = compile_model(assign_causality(graph))
        context = made.new_context(None, {name: values[name] for name in made.inputs if name in values})
        context.memory[: len(made.memory)] = [values[name] for name in made.memory]
        if made.delays:
            past = ConstantPast(np.array([values[delay.name] for delay in made.delays]))
            past.tie(context)
            context.kept = past  # type: ignore[attr-defined]
        return Compiled(made, context, t)

    def at(self, values: Mapping[str, float]) -> dict[str, float]:
        """Rates by the name of the state with a prime, and all variables, at values of states and inputs."""
        m = self.model
        for name in m.inputs:
            self.context.inputs[m.inputs.index(name)] = values[name]
        y = np.array([values.get(name, 0.0) for name in m.names])
        settings = SolverSettings(1e-12, np.full(m.size, 1e-14))
        found = consistent_start(prepare(m), self.context, settings, self.t, y)
        seen = m.observe(self.t, found.y, found.yp, self.context)
        rates = {f"{name}'": float(rate) for name, rate in zip(m.names, found.yp, strict=True)}
        own = dict(zip(m.names, map(float, found.y), strict=True))
        return {**{o.name: float(v) for o, v in zip(m.observables, seen, strict=True)}, **own, **rates}

    def slopes(self, values: Mapping[str, float], of: Sequence[str], by: Sequence[str], sizes: Array) -> Array:
        columns = []
        for name, h in zip(by, sizes, strict=True):
            ends = [self.at({**values, name: values[name] + way * h}) for way in (1, -1)]
            columns.append([(ends[0][n] - ends[1][n]) / (2 * h) for n in of])
        return np.array(columns).T.reshape(len(of), len(by))


def is_tangent(linear: LinearModel, code: Compiled, values: Mapping[str, float], rel: float = 2e-5) -> None:
    by = (*linear.states, *linear.inputs)
    sizes = np.array([1e-5 * max(abs(values[name]), 1e-3) for name in by])
    rates = [f"{name}'" for name in linear.states]
    found = code.slopes(values, (*rates, *linear.outputs), by, sizes)
    n = len(linear.states)
    upper = np.linalg.solve(linear.L, np.hstack([-linear.A, linear.B]))
    expected = np.vstack([upper, np.hstack([linear.C, linear.D])])
    assert expected.shape == found.shape == (n + len(linear.outputs), n + len(linear.inputs))
    # Differences are as good as the rounding of the largest term of their row.
    here = code.at(values)
    size = np.array([abs(here[name]) for name in (*rates, *linear.outputs)])
    rounding = 1e-10 * size[:, None] / sizes[None, :] + 1e-9 * np.abs(expected * sizes).max(axis=1)[:, None] / sizes
    assert np.all(np.abs(found - expected) <= rel * np.abs(expected) + rounding + 1e-9)


# All examples


@pytest.mark.parametrize("name", every(2, [example.name for example in tg.examples()]))
def test_the_linear_model_of_an_example_is_the_tangent_of_its_code(name: str) -> None:
    """With all its controllers at work, samples held, away from the start and from all symmetry."""
    model = tg.load(name)
    start = Linearisation.of(model, at={}, as_inputs=())
    rng = np.random.default_rng(len(name))
    moving = (*start.system.states, *start.system.displacements)
    at = {
        n: start.start.get(n, 0.0) * (1 + 0.03 * rng.standard_normal()) + 0.02 * rng.standard_normal() for n in moving
    }
    found = Linearisation.of(model, at=at, as_inputs=())
    values = dict(found.point(strict=False).values)
    is_tangent(tg.analyse(model, at=at, as_inputs=()).model, Compiled.of(model, values, found.time), values)


def test_a_wrong_tangent_is_seen() -> None:
    model = tg.load("planar_robot")
    found = Linearisation.of(model, at={"phi_1": 0.5, "omega_2": 1.0}, as_inputs=())
    values = dict(found.point(strict=False).values)
    linear = tg.analyse(model, at={"phi_1": 0.5, "omega_2": 1.0}).model
    is_tangent(linear, Compiled.of(model, values, found.time), values)
    with pytest.raises(AssertionError):
        is_tangent(replace(linear, A=linear.A * 1.001), Compiled.of(model, values, found.time), values)


# Random models: a converter on a battery, a motor and a weight, with a controller

SIZES = st.floats(0.2, 2.0)

CONTROLLERS = {
    "none": "'0.5 + 0*w'",
    "constant": "'0.6'",
    "in time": "'0.5 + 0.1*sin(3 s^-1*t)'",
    "of a state": "'0.5 - 0.02 s*w + 0.01 A^-1*i*sin(x)'",
    "pid": "{pid: r - w, K_p: 0.05 s, K_i: 0.2}",
    "limited pid": "{pid: r - w, K_p: 0.05 s, K_i: 0.2, limits: [-5, 5]}",
    "filter": "{low pass: 'p', time constant: 0.3 s}",
    "table": "{table: [[-9, -1], [-1, 0.2], [0.5, 0.7], [9, 3]], at: 0.1 s*w, interpolation: cubic}",
    "sample": "{sample: 0.4 + 0.01 s*w, every: 1 ms}",
    "delay": "{delay: 0.4 + 0.01 s*w, by: 1 ms}",
}
WINDS = {
    "none": "'0 N*m'",
    "drag": "'-0.05 N*m*s^2*w*abs(w)'",
    "spring": "'-0.7 N*m*sin(x)'",
    "table": "{table: [[-20 s^-1, 3 N*m], [0 s^-1, 0 N*m], [2 s^-1, -1 N*m], [20 s^-1, -5 N*m]], at: w}",
}


@st.composite
def drives(draw: st.DrawFn) -> tuple[str, str]:
    """The text of a model and of its plant, in which the command to the converter is the parameter `d_0`."""
    a, b, c = draw(SIZES), draw(SIZES), draw(SIZES)
    controller = CONTROLLERS[draw(st.sampled_from(sorted(CONTROLLERS)))]
    wind = WINDS[draw(st.sampled_from(sorted(WINDS)))]
    by_modulus = draw(st.booleans())
    lines = (
        "  bat: {voltage source: [a, gnd], signal: U}\n"
        "  S: {connection: [a, gnd, b, gnd], domains: [electrical, electrical], relation: across_2 = d*across_1}\n"
        if by_modulus
        else "  bat: {voltage source: [b, gnd], signal: U*d}\n"
    )
    law = draw(st.sampled_from(["v = R*i", "v = R*i + R_3*i^3", "v = R*i*(1 + p)"]))
    text = f"""\
system: Drive
parameters: {{U: 24 V, R: {a} ohm, K: {b} N*m/A, r: 3 rad/s, R_3: 0.2 V*A^-3, d_0: 0}}
mechanism:
  gravity: 9.81 m/s^2
  bodies:
    bob: {{mass: {c} kg, inertia: 0.1 kg*m^2, centre: [0.3 m, 0.1 m], angle: x, angular velocity: w}}
  joints:
    pin: {{revolute: [ground, bob], friction: {a} N*m*s}}
network:
{lines}  L: {{inductor: [b, c], L: {b} H, current: i}}
  R: {{resistor: [c, e], law: {law}}}
  M: {{dc machine: [e, gnd, bob, frame], K: K}}
  wind: {{torque source: [frame, bob], signal: T_w}}
  tau: {{torque source: [frame, bob]}}
signals:
  T_w: {wind}
  p: '0.1 A^-1*i + 0.1 s*w'
  d: COMMAND
experiment: {{until: 2 s, inputs: {{tau: 0.3 N*m}}}}
"""
    return text.replace("COMMAND", controller), text.replace("COMMAND", "d_0")


POINTS = st.tuples(*[st.floats(-1.95, 1.95).filter(lambda v: abs(v) > 0.05)] * 3)
"""Away from the corners of the tables, at 0 and 2, where there is no tangent."""


@given(drives(), POINTS)
@settings(max_examples=settings.default.max_examples // 4 if settings.default else 12)
def test_a_linear_model_is_the_tangent_of_the_code(texts: tuple[str, str], at: tuple[float, float, float]) -> None:
    model, plant = (read_model(text) for text in texts)
    point = dict(zip(("i", "w", "x"), at, strict=True))
    found = Linearisation.of(model, at=point, as_inputs=())
    values = dict(found.point(strict=False).values)
    is_tangent(
        tg.analyse(model, at=point, as_inputs=(), outputs=["i", "V_R"]).model, Compiled.of(model, values, 2.0), values
    )
    # Cut open at the command, it is the model in which the command is a number.
    cut = tg.analyse(model, at=point, as_inputs=["d"], outputs=["V_R"]).model
    if "d" in cut.inputs:
        renamed = replace(cut, inputs=tuple("d_0" if n == "d" else n for n in cut.inputs))
        number = {**values, "d_0": values["d"]}
        is_tangent(renamed, WithCommand.of(plant, number, 2.0), number)


class WithCommand(Compiled):
    """The compiled plant, in which the command is a parameter."""

    def at(self, values: Mapping[str, float]) -> dict[str, float]:
        self.context = self.model.new_context({"d_0": values["d_0"]}, {n: values[n] for n in self.model.inputs})
        return super().at(values)

    @staticmethod
    def of(model: Model, values: Mapping[str, float], t: float) -> "WithCommand":
        made = Compiled.of(model, values, t)
        return WithCommand(made.model, made.context, made.t)


CHOPPER = """
system: chopper
parameters: {n_0: 2}
network:
  V: {voltage source: [a, gnd]}
  T: {transformer: [a, gnd, b, gnd], n: N}
  L: {inductor: [b, c], L: 0.1 mH}
  C: {capacitor: [c, gnd], C: 100 uF}
  R: {resistor: [c, gnd], R: 5 ohm}
experiment: {until: 0.05 s, inputs: {V: 24 V}}
"""


@pytest.mark.parametrize("name", ["T", "n"])
def test_a_modulus_is_an_input_by_its_element_or_by_its_key(name: str) -> None:
    """As the parameter in its place is, written as a number, a formula or the parameter itself."""
    by_parameter = tg.analyse(read_model(CHOPPER.replace("N}", "n_0}")), as_inputs=["n_0"])
    for written in ("2", "n_0", "4/n_0"):
        found = tg.analyse(read_model(CHOPPER.replace("N}", f"{written}}}")), as_inputs=[name])
        assert found.model.inputs == ("V", name)
        np.testing.assert_allclose(found.model.B, by_parameter.model.B, rtol=1e-9)
        np.testing.assert_allclose(found.model.D, by_parameter.model.D, rtol=1e-9)
        linear = tg.linearise(read_model(CHOPPER.replace("N}", f"{written}}}")), as_inputs=[name])
        assert linear.inputs == ("V", name)


def test_a_loop_is_cut_open_at_a_modulus() -> None:
    text = CHOPPER.replace("N}", "1/d}") + "signals: {d: {pid: 12 V - V_C, K_p: 1e-3 V^-1, K_i: 5 V^-1*s^-1}}\n"
    plant = tg.analyse(read_model(text), as_inputs=["T"])
    assert [pole.value for pole in plant.poles] == pytest.approx([complex(-1000, 9949.874)], rel=1e-6)
    assert plant.closed_loop is not None
    by_signal = tg.analyse(read_model(text), as_inputs=["d"])
    # dn/dd = -1/d^2 = -4 at d = 0.5.
    np.testing.assert_allclose(by_signal.model.B[:, 1], -4 * plant.model.B[:, 1], rtol=1e-9)
