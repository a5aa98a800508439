"""Every name of a model means the same in all of its forms: efforts, flows, powers and energies, of merged storages too."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import tellegen as tg
from conditioning.models import BESIDE_A_SOURCE, DOMAINS, DRIVEN_ARM, JOINED_ENTROPIES
from conditioning.test_coupled_storages import MODELS as COUPLED
from conditioning.test_forms_are_shown import CAM
from conditioning.test_joint_forces import FOUR_BAR, RUBBING, SLIDE
from support.networks import Network
from support.strategies import networks
from tellegen.causality import assign_causality
from tellegen.compiler import compile_model
from tellegen.conditioning import FORMS
from tellegen.conditioning.constraints import constrained_model
from tellegen.core.errors import ConditioningError, TellegenError
from tellegen.graph import lower
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.results.run import Run

RTOL = 1e-9
CLOSE = 1e5 * RTOL
"""Forces contain rates, whose errors are larger than those of states by the rate of the fastest motion."""

EXACT = tuple(form for form in FORMS if form != "parasitic")
MERGED = ("field", "lagrange", "hamilton")

CUT_SET = """
system: cut-set beside a source
network:
  I: {current source: [gnd, a]}
  R_0: {resistor: [a, gnd], R: 2 ohm}
  L_1: {inductor: [a, b], L: 1 H}
  L_2: {inductor: [b, c], L: 2 H, voltage: v_second}
  R: {resistor: [c, gnd], R: 1 ohm}
experiment: {until: 1 s, inputs: {I: 5 A}}
"""
TEXTS = {
    **DOMAINS,
    **COUPLED,
    "cut-set": CUT_SET,
    "entropies": JOINED_ENTROPIES,
    "loop beside a source": BESIDE_A_SOURCE,
    "driven arm": DRIVEN_ARM,
    "cam": CAM,
    "slide": SLIDE,
    "four-bar": FOUR_BAR,
    "rubbing pin": RUBBING,
}
EXAMPLES = {"crank_rod": 0.2, "planetary_gear": 0.5, "mobile_manipulator": 0.5, "piston_cylinder": 0.05}


def model_named(name: str) -> Model:
    return read_model(TEXTS[name]) if name in TEXTS else tg.load(name)


@cache
def run_of(name: str, form: str) -> Run | None:
    """The run of a form, or of the model as it is; None where the model does not have the form."""
    model = model_named(name)
    try:
        made = model if form == "plain" else tg.condition(model, form)
    except ConditioningError as error:
        if error.code not in ("C103", "C104", "C105"):
            raise
        return None
    return tg.simulate(made, EXAMPLES.get(name), rtol=RTOL, samples=12)


def names_of(run: Run) -> list[str]:
    """Every name that a run answers to."""
    return list(dict.fromkeys((*run.names, *(observable.name for observable in run.catalogue.observables))))


def scale(values: NDArray[np.float64]) -> float:
    return float(np.max(np.abs(values), initial=0.0))


def scales(run: Run) -> dict[str, float]:
    """The largest value of each name; what should vanish, such as the gap of a loop, is measured by others of its unit."""
    own = {name: scale(run.values(name)) for name in names_of(run)}
    largest: dict[str, float] = {}
    for name, value in own.items():
        largest[run.unit(name)] = max(value, largest.get(run.unit(name), 0.0))
    return {name: value if value > 1e-9 else max(largest[run.unit(name)], 1.0) for name, value in own.items()}


LARGE = ("four-bar", "rubbing pin", "cam", *EXAMPLES)
CASES = [
    pytest.param(name, form, marks=pytest.mark.slow if name in LARGE and form != "field" else ())
    for name in (*TEXTS, *EXAMPLES)
    for form in EXACT
]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_every_name_has_the_value_that_it_has_in_the_model_itself(name: str, form: str) -> None:
    plain, run = run_of(name, "plain"), run_of(name, form)
    assert plain is not None
    if run is None:
        return  # what models have no such form is tested elsewhere
    sizes = scales(plain)
    assert not [wanted for wanted in names_of(plain) if wanted not in run]
    for wanted in names_of(plain):
        found = np.abs(run.values(wanted) - plain.values(wanted))
        assert np.max(found) <= CLOSE * sizes[wanted], wanted
        assert run.unit(wanted) == plain.unit(wanted), wanted


@pytest.mark.parametrize("form", MERGED)
@pytest.mark.parametrize("name", ["inductor cut-set", "gears", "joined bodies", "slide", "sled"])
def test_elements_and_books_are_those_of_the_model_itself(name: str, form: str) -> None:
    """By element, too: effort, flow and power, what passes through a gear, and what the books say."""
    plain, run = run_of(name, "plain"), run_of(name, form)
    if run is None:
        return
    assert plain is not None
    for port in plain.graph.ports:
        for side in ("across", "through", "power"):
            wanted, found = (getattr(r, side)(port.element).values for r in (plain, run))
            assert found == pytest.approx(wanted, abs=CLOSE * max(scale(wanted), 1.0)), (port.element, side)
    for coupling in plain.graph.couplings:
        try:
            wanted = plain.power(coupling.element).values
        except tg.SimulationError:
            continue  # other ways lead round it
        assert run.power(coupling.element).values == pytest.approx(wanted, abs=CLOSE * max(scale(wanted), 1.0))
    books, its = plain.energy, run.energy
    handled = books.books.handled
    for entry in ("supplied", "stored", "dissipated", "modulation"):
        assert getattr(its, entry) == pytest.approx(getattr(books, entry), abs=1e-6 * handled), entry
    assert its.by_element() == pytest.approx(books.by_element(), abs=1e-5 * handled)
    assert run.stored_energy.values == pytest.approx(plain.stored_energy.values, rel=1e-6)


def test_the_ports_of_a_field_have_names_of_their_own() -> None:
    """What the whole field takes is there, too, and no name of an element stands for it."""
    run, plain = run_of("cut-set", "field"), run_of("cut-set", "plain")
    assert run is not None
    assert plain is not None
    whole = plain.values("V_L_1") + plain.values("v_second")
    assert run.values("V_IC_L_1") == pytest.approx(whole, rel=1e-6)
    assert run.state_names == ("phi_IC_L_1",)
    assert run.values("phi_IC_L_1") == pytest.approx(3 * plain.values("I_L_1"), rel=1e-6)
    assert not [name for name in run.names if name.startswith(("power.IC", "energy.IC"))]


@pytest.mark.parametrize("name", ["cut-set", "coils", "joined bodies", "gears", "sled", "slide"])
def test_names_stay_in_the_text_of_a_form(name: str) -> None:
    """A form that was written and is read again has the powers and energies of the elements, and the same books."""
    plain = run_of(name, "plain")
    assert plain is not None
    text = tg.to_yaml(tg.condition(model_named(name), "field").model)
    again = tg.simulate(read_model(text), rtol=RTOL, samples=12)
    sizes = scales(plain)
    for wanted in plain.names:
        found = np.abs(again.values(wanted) - plain.values(wanted))
        assert np.max(found) <= CLOSE * sizes[wanted], wanted
    assert again.energy.supplied == pytest.approx(plain.energy.supplied, abs=1e-6 * plain.energy.books.handled)


@pytest.mark.parametrize("name", ["capacitor loop", "inductor cut-set", "gears", "springs", "sled"])
def test_parasitic_elements_leave_every_name_and_change_values_little(name: str) -> None:
    """Springs and dampers swing at first, and their error falls with the stiffness: a percent, after the first sixth of the run."""
    plain, run = run_of(name, "plain"), run_of(name, "parasitic")
    assert plain is not None
    assert run is not None
    sizes = scales(plain)
    for wanted in names_of(plain):
        found = np.abs(run.values(wanted) - plain.values(wanted))[2:]
        assert np.max(found) <= 1e-2 * sizes[wanted], wanted


CALLED_LIKE_LETTERS = """
system: chambers whose parameters are called like the variables of laws
parameters: {V: 1e-12 m^3/Pa, V_1: 2e-12 m^3/Pa, P: 3e-12 m^3/Pa, q: 2e-12 m^3/Pa, G: 1e-11 m^3/(Pa*s)}
network:
  Q:   {flow source: [tank, a]}
  C_1: {accumulator: [a, tank], C: V}
  C_2: {accumulator: [a, b], C: V_1}
  C_3: {accumulator: [b, tank], C: P}
  C_4: {accumulator: [b, tank], C: q}
  G:   {leak: [b, tank]}
experiment: {until: 1 s, inputs: {Q: 1e-5 m^3/s}}
"""


def test_parameters_may_be_called_like_the_variables_of_laws() -> None:
    """Otherwise the volume of the field would stand for a parameter, in its laws and in the text of the model."""
    model = read_model(CALLED_LIKE_LETTERS)
    made = tg.condition(model, "hamilton")
    plain, run, again = (tg.simulate(m, samples=5) for m in (model, made, read_model(tg.to_yaml(made.model))))
    for name in ("P_C_1", "P_C_3", "Q_C_2", "energy.C_4"):
        assert run.values(name) == pytest.approx(plain.values(name), rel=1e-4), name
        assert again.values(name) == pytest.approx(plain.values(name), rel=1e-4), name


# -- any network ---------------------------------------------------------------------------------------------------------------


def observed(model: Model, start: Mapping[str, float], inputs: Mapping[str, float]) -> dict[str, float]:
    """Every observable of a linear model at a point, with the rates and unknowns that its equations ask for."""
    numeric = compile_model(assign_causality(lower(model)), backend="python")
    context = numeric.new_context(None, {name: inputs[name] for name in numeric.inputs})
    size, unknown = numeric.size, len(numeric.unknowns)
    y = np.array([start.get(name, 0.0) for name in numeric.names])

    def parts(w: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        known = size - unknown
        return np.concatenate([y[:known], w[known:]]), np.concatenate([w[:known], np.zeros(unknown)])

    def residual(w: NDArray[np.float64]) -> NDArray[np.float64]:
        return numeric.residual(0.0, *parts(w), context)

    rest = residual(np.zeros(size))
    slopes = np.stack([residual(column) - rest for column in np.eye(size)], axis=1)
    values = numeric.observe(0.0, *parts(np.asarray(np.linalg.solve(slopes, -rest), dtype=np.float64)), context)
    return {o.name: float(value) for o, value in zip(numeric.observables, values, strict=True)}


@settings(deadline=None, phases=[Phase.generate])
@given(networks(), st.sampled_from(EXACT), st.integers(0, 1000))
def test_names_of_any_network_mean_the_same_in_every_form(network: Network, form: str, seed: int) -> None:
    try:
        model = replace(network, valued=True).model()
        system = constrained_model(model).system
        made = tg.condition(model, form)
    except TellegenError:
        assume(False)
    assume(system.states and not system.algebraic.unknowns)
    random = np.random.default_rng(seed)
    start = {name: float(random.uniform(-1, 1)) for name in system.states}
    inputs = {name: float(random.uniform(-1, 1)) for name in system.inputs}
    values = {name: float(Fraction(value)) for name, value in network.values.items()}
    begun = made.begun(start, values, inputs)
    starts = {name: e.evaluate({}) for name, e in begun.experiment.initial.items()}
    wanted, found = observed(model, start, inputs), observed(begun, {**start, **starts}, inputs)
    size = max(map(abs, wanted.values()))
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-6 * (1 + size)), name
