"""Every form of a model is the same machine: coordinates, states and forces of constraints agree, and the books close."""

from functools import cache

import numpy as np
import pytest

import tellegen as tg
from conditioning.models import BEHIND_A_SOURCE, CAPACITOR_LOOP, DOMAINS, GEARS, JOINED_ENTROPIES, model_of
from tellegen.conditioning import FORMS
from tellegen.conditioning.constraints import constrained_model
from tellegen.conditioning.opened_constraints import open_constraints
from tellegen.results.run import Run

EXACT = tuple(form for form in FORMS if form != "parasitic")


@cache
def run_of(name: str, form: str) -> Run | None:
    """The run of a form; None where the model does not have it."""
    model = tg.load("crank_rod") if name == "crank_rod" else model_of(DOMAINS[name])
    try:
        return tg.simulate(tg.condition(model, form), rtol=1e-10, samples=40)
    except tg.ConditioningError:
        return None


def apart(one: Run, two: Run, names: tuple[str, ...]) -> float:
    """The largest difference, relative to the size of each variable."""
    sizes = {name: float(np.max(np.abs(two.values(name)))) or 1.0 for name in names}
    return max(float(np.max(np.abs(one.values(n) - two.values(n)))) / sizes[n] for n in names)


@pytest.mark.parametrize("name", ["crank_rod", *DOMAINS])
@pytest.mark.parametrize("form", EXACT)
def test_forms_agree_with_the_model_as_it_was(name: str, form: str) -> None:
    run = run_of(name, form)
    if run is None:
        assert form == "lagrange", "only the Lagrange form may not exist"
        return
    model = tg.load("crank_rod") if name == "crank_rod" else model_of(DOMAINS[name])
    plain = tg.simulate(model, rtol=1e-10, samples=40)
    names = (*plain.state_names, *plain.displacement_names)
    assert apart(run, plain, names) < 1e-8
    assert abs(run.energy.residual) < 1e-8


@pytest.mark.parametrize("name", ["crank_rod", *DOMAINS])
@pytest.mark.parametrize("form", EXACT[1:])
def test_forces_of_constraints_are_variables_of_every_form(name: str, form: str) -> None:
    one, two = run_of(name, form), run_of(name, "derivative")
    assert two is not None
    forces = tuple(n for n in two.names if n.startswith("lambda_") and "." not in n)
    assert forces
    if one is not None:
        assert apart(one, two, forces) < 1e-6


@pytest.mark.parametrize("name", DOMAINS)
def test_parasitic_elements_come_close(name: str) -> None:
    model = model_of(DOMAINS[name])
    exact = tg.condition(model, "derivative")
    plain = tg.simulate(exact, rtol=1e-9, samples=40)
    names = tuple(exact.found.system.states)
    soft, stiff = (
        apart(tg.simulate(tg.condition(model, "parasitic", stiffness=k), rtol=1e-8, samples=40), plain, names)
        for k in _two_stiffnesses(model)
    )
    assert stiff < 0.3 * soft
    assert stiff < 0.01


def test_parasitic_springs_begin_with_the_force_of_the_rigid_model() -> None:
    """Without a jolt: the force stays close from the first instant on, for other inputs, too."""
    for inputs in ({}, {"F": 30.0}):
        rigid, elastic = (
            tg.simulate(tg.condition("crank_rod", form), 0.02, inputs=inputs, rtol=1e-8, samples=20)
            for form in ("derivative", "parasitic")
        )
        assert elastic.values("lambda_m_p") == pytest.approx(rigid.values("lambda_m_p"), rel=2e-3)


def test_a_single_speed_without_inertia_of_its_own_has_the_lagrange_form() -> None:
    """The disk rolls on at its speed, round a circle of radius v/omega."""
    run = tg.simulate(tg.condition("rolling_disk", "lagrange"), samples=20)
    assert run.values("x") == pytest.approx(1.5 / 0.8 * np.sin(0.8 * run.t), abs=1e-8)


def _two_stiffnesses(model: tg.Model) -> tuple[dict[str, float], dict[str, float]]:
    suggested = tg.condition(model, "parasitic").stiffnesses
    return dict(suggested), {name: 20 * value for name, value in suggested.items()}


def test_residual_sinks_are_drawn_between_storages() -> None:
    mechanical = str(tg.bond_graph(tg.condition("crank_rod", "residual")))
    electrical = str(tg.bond_graph(tg.condition(model_of(CAPACITOR_LOOP), "residual")))
    assert "rSe:r_m_p" in mechanical
    assert "rSf:r_C_" in electrical


@pytest.mark.parametrize("model", ["crank_rod", "mobile_manipulator", CAPACITOR_LOOP], ids=["rod", "arm", "capacitors"])
def test_residual_sinks_leave_no_storage_in_derivative_causality(model: str) -> None:
    read = model_of(model) if "system:" in model else tg.load(model)
    before, after = tg.bond_graph(read), tg.bond_graph(tg.condition(read, "residual"))
    storages = [item for item in after.one_ports.values() if item.causality]
    assert any(item.causality == "derivative" for item in before.one_ports.values())
    assert {item.causality for item in storages} == {"integral"}


def test_a_field_is_drawn_as_one_item() -> None:
    assert "IC" in str(tg.bond_graph(tg.condition("mobile_manipulator", "field")))


@pytest.mark.parametrize("form", FORMS)
def test_conditioned_models_are_models(form: str) -> None:
    conditioned = tg.condition("crank_rod", form)
    assert tg.check(conditioned).ok
    assert str(tg.pog(conditioned))
    again = tg.simulate(model_of(tg.to_yaml(conditioned.model)), 0.2, rtol=1e-9, samples=10)
    plain = tg.simulate(conditioned, 0.2, rtol=1e-9, samples=10)
    assert apart(again, plain, ("theta",)) < 1e-7


@pytest.mark.parametrize("form", FORMS)
def test_equations_are_printed(form: str) -> None:
    conditioned = tg.condition("crank_rod", form)
    text, latex, record = conditioned.to_text(), conditioned.to_latex(), conditioned.to_json()
    assert text.startswith(f"Crank and connecting rod, {form} form\n")
    assert "v_p = H*omega" in text
    assert r"\begin{align*}" in latex
    assert record["form"] == form
    assert record["constraints"] == [
        {"storage": "m_p", "output": "v_p", "follows": ["J_m"], "paths": ["storage-storage"], "force": "lambda_m_p"}
    ]


def test_the_raw_set_shows_each_storage_with_its_force() -> None:
    text = tg.condition("crank_rod", "derivative").to_text()
    assert "v_p' = (lambda_m_p - F - b_p*v_p)/m_p" in text
    assert "c_v_p = v_p - H*omega" in text


@pytest.mark.parametrize("form", EXACT)
def test_starts_and_parameters_are_given_by_the_names_of_the_model(form: str) -> None:
    plain, run = (
        tg.simulate(
            model,
            0.3,
            initial={"omega": 20.0, "theta": "1 rad"},
            parameters={"m_p": 1.5},
            rtol=1e-10,
            samples=20,
        )
        for model in (tg.load("crank_rod"), tg.condition("crank_rod", form))
    )
    assert apart(run, plain, ("theta", "omega")) < 1e-8


def test_inputs_are_those_of_the_model() -> None:
    plain, run = (
        tg.simulate(model, 0.5, inputs={"tau": "sine(2 N*m, 3 Hz)", "F": 10.0}, rtol=1e-10, samples=20)
        for model in (tg.load("crank_rod"), tg.condition("crank_rod", "residual"))
    )
    assert apart(run, plain, ("theta",)) < 1e-8


def test_a_connection_is_opened_where_it_brings_the_velocity() -> None:
    """The force of the rod, with friction and load behind it; not only what the mass takes."""
    (opening,) = open_constraints(constrained_model(tg.load("crank_rod"))).openings
    assert opening.nodes[1] == "piston"
    run = tg.simulate(tg.condition("crank_rod", "derivative"), 0.3, samples=20)
    carried = run.values("F_m_p") + run.values("F_b_p") + run.values("F")
    assert run.values("lambda_m_p") == pytest.approx(carried, rel=1e-9, abs=1e-9)


def test_every_storage_has_a_state_in_the_residual_form() -> None:
    conditioned = tg.condition(model_of(GEARS), "residual")
    assert not constrained_model(conditioned.model).causal.dependent
    assert len(conditioned.forces) == 2


def test_drift_decays_at_the_rate_asked_for() -> None:
    """A start that breaks the constraint, which only the residual form can have, is forgotten like exp(-alpha t)."""
    conditioned = tg.condition("crank_rod", "residual", drift=5.0)
    broken = tg.simulate(conditioned.model, 0.4, initial={"v_p": 0.1}, rtol=1e-10, samples=40)
    difference = broken.values("v_lambda_m_p")
    assert abs(difference[0]) == pytest.approx(0.1, rel=1e-6)
    assert abs(difference[-1]) == pytest.approx(0.1 * np.exp(-2.0), rel=1e-4)


def test_energy_is_kept_by_the_discrete_gradient() -> None:
    conditioned = tg.condition("mobile_manipulator", "hamilton")
    rest = dict.fromkeys(conditioned.base.inputs, 0.0)
    start = {"omega_0": 1.0, "vx_0": 0.3, "omega_1": 2.0}
    run = tg.simulate(conditioned, 2, inputs=rest, initial=start, solver="discrete-gradient", step=0.02, samples=25)
    energy = np.asarray(run.stored_energy)
    assert float(np.max(np.abs(energy - energy[0]))) < 1e-11 * energy[0]


# -- wrong input ---------------------------------------------------------------------------------------------------------------


def test_an_unknown_form_is_refused_with_the_nearest_word() -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C101: 'residul' is no form of a model(.|\n)*did you mean 'residual'"
    ):
        tg.condition("crank_rod", "residul")


def test_a_model_without_dependent_storages_has_nothing_to_condition() -> None:
    with pytest.raises(tg.ConditioningError, match="C102: no storage of 'DC motor' depends on others"):
        tg.condition("dc_motor", "residual")


def test_a_storage_behind_a_source_is_named_with_it() -> None:
    with pytest.raises(tg.ConditioningError, match="C103: 'C_1' follows the source 'V'"):
        tg.condition(model_of(BEHIND_A_SOURCE), "residual")


@pytest.mark.parametrize(
    ("form", "close"), [("derivative", 1e-7), ("residual", 1e-9), ("parasitic", 1e-5), ("field", 1e-9)]
)
def test_joined_entropy_capacities_are_one(form: str, close: float) -> None:
    """(C_1 + C_2) log(T/T_0) is the entropy that came in; the second one takes its share of the flow."""
    run = tg.simulate(tg.condition(model_of(JOINED_ENTROPIES), form), rtol=1e-9, samples=5)
    assert run.values("T_C_1") == pytest.approx(300 * np.exp(0.5 * run.t / 400), rel=close)
    assert run.values("T_C_2") == pytest.approx(run.values("T_C_1"), rel=close)
    assert run.values("lambda_C_2")[1:] == pytest.approx(0.375, rel=1e-4)


def test_entropy_capacities_have_no_energy_by_a_matrix() -> None:
    with pytest.raises(tg.ConditioningError, match="C104: 'C_1' has a law that is not linear"):
        tg.condition(model_of(JOINED_ENTROPIES), "hamilton")


@pytest.mark.parametrize("stiffness", [0.0, -1.0, float("nan"), float("inf")])
def test_a_stiffness_is_positive(stiffness: float) -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C107: the stiffness at 'm_p' would be .*\n(.|\n)*give a positive number"
    ):
        tg.condition("crank_rod", "parasitic", stiffness=stiffness)


def test_a_stiffness_names_a_force() -> None:
    with pytest.raises(
        tg.ConditioningError, match=r"C107: 'lambda_m' is the force of no constraint(.|\n)*'lambda_m_p'"
    ):
        tg.condition("crank_rod", "parasitic", stiffness={"lambda_m": 1e6})


def test_coordinates_are_outputs_of_storages() -> None:
    with pytest.raises(tg.ConditioningError, match=r"C106: 'thetta' is the output of no storage(.|\n)*'theta'"):
        tg.condition("crank_rod", "lagrange", coordinates=["thetta"])
    with pytest.raises(tg.ConditioningError, match="C106: 'v_p' cannot be chosen beside the others: 'omega' decide it"):
        tg.condition("crank_rod", "lagrange", coordinates=["theta", "v_p"])


def test_other_coordinates_give_the_same_motion() -> None:
    model = model_of(GEARS)
    plain = tg.simulate(model, rtol=1e-10, samples=20)
    for chosen in ("omega_1", "omega_3"):
        conditioned = tg.condition(model, "lagrange", coordinates=[chosen])
        run = tg.simulate(conditioned, rtol=1e-10, samples=20)
        assert chosen in run.state_names
        assert apart(run, plain, ("omega_1", "omega_2", "omega_3")) < 1e-8


def test_the_derivative_form_goes_on_from_rest_where_an_input_begins_to_move() -> None:
    """Loads that cancel leave rates that are rounding errors; a restart at the kink of an input must not ask for more."""
    run = tg.simulate(tg.condition("corking_machine", "derivative"), 0.6, samples=20)
    assert run.status == "finished"
    assert np.abs(run.values("x")[run.t < 0.5]).max() < 1e-12
    assert abs(run.values("x")[-1]) > 1e-5
