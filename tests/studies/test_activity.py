"""Activity ranks elements, and the limits it proposes are tried."""

import json

import pytest

import tellegen as tg
from tellegen.cli.main import run
from tellegen.notations.reading import read_model
from tellegen.studies.suggestion import Activity

SWINGING = """
system: mass on a spring
parameters: {m: 1 kg, k: 4 N/m, b: 1e-9 N*s/m}
network:
  m: {mass: [body], velocity: v}
  k: {spring: [body, frame], force: F_k}
  b: {damper: [body, frame]}
experiment:
  until: 2*pi
  initial: {v: 1 m/s}
"""


def test_activity_of_an_oscillator_counts_every_exchange() -> None:
    # Two periods: the mass gives up and takes back E = 1/2 J twice in each, so 8 E pass through mass and spring alike.
    found = tg.activity(tg.simulate(read_model(SWINGING), rtol=1e-9))
    assert found.energies["m"] == pytest.approx(8 * 0.5, rel=1e-3)
    assert found.energies["k"] == pytest.approx(8 * 0.5, rel=1e-3)
    assert found.energies["b"] < 1e-8
    assert sum(found.shares.values()) == pytest.approx(1.0)


def test_activity_does_not_depend_on_the_rows_of_the_run() -> None:
    coarse = tg.activity(tg.simulate(read_model(SWINGING), samples=20, rtol=1e-9))
    assert coarse.energies["m"] == pytest.approx(4.0, rel=0.01)


def test_dissipators_have_the_activity_of_their_books_and_sources_none() -> None:
    run_ = tg.simulate("dc_motor_pump")
    found, books = tg.activity(run_), run_.energy.by_element()
    for name in ("R_a", "b_m", "alpha_p"):  # what they take never comes back
        assert found.energies[name] == pytest.approx(books[name], rel=2e-3)
    assert not {"V_a", "Q_0"} & found.energies.keys()
    assert list(found.energies.values()) == sorted(found.energies.values(), reverse=True)


def test_least_active_elements_fill_a_share() -> None:
    found = Activity({"a": 90.0, "b": 8.0, "c": 1.5, "d": 0.5})
    assert found.least(0.01) == ["d"]
    assert found.least(0.02) == ["d", "c"]
    assert found.least(0.001) == []


def test_run_at_rest_has_no_activity() -> None:
    resting = tg.activity(tg.simulate(read_model(SWINGING), initial={"v": 0}))
    assert resting.total == 0
    assert set(resting.shares.values()) == {0.0}


def test_stiff_rod_is_proposed_rigid_and_its_loss_is_that_of_the_reduction() -> None:
    found = tg.suggest_limits("crank_rod_elastic")
    (proposal,) = found.proposals
    assert (proposal.element, proposal.limit) == ("K", "K=inf")
    assert proposal.loss is not None
    direct = tg.trajectory_loss("crank_rod_elastic", ["K=inf"])
    assert proposal.loss.relative_rms == pytest.approx(direct.relative_rms, rel=1e-4)


def test_small_inductance_is_proposed_to_vanish() -> None:
    model = read_model("""
system: relay
parameters: {L: 1 uH, R: 1 ohm, C: 1 mF}
network:
  V: {voltage source: [a, gnd]}
  L: {inductor: [a, b]}
  R: {resistor: [b, c]}
  C: {capacitor: [c, gnd]}
experiment: {until: 10 ms, inputs: {V: 1 V}}
""")
    (proposal,) = tg.suggest_limits(model).proposals
    assert proposal.limit == "L=0"
    assert proposal.loss is not None
    assert proposal.loss.relative_rms < 1e-3


def test_element_that_cannot_be_removed_says_why() -> None:
    model = read_model("""
system: bent spring
parameters: {m: 1 kg, b: 1 N*s/m}
network:
  F: {force source: [frame, body]}
  m: {mass: [body], velocity: v}
  b: {damper: [body, frame]}
  k: {spring: [body, frame], law: F = 1e-6*x + 1e-6*x^3}
experiment: {until: 1 s, inputs: {F: 1 N}}
""")
    (proposal,) = tg.suggest_limits(model).proposals
    assert proposal.loss is None
    assert "no single value" in proposal.reason


@pytest.mark.slow
def test_shared_parameter_is_not_taken_from_the_others() -> None:
    model = read_model("""
system: two dampers
parameters: {m: 1 kg, b: 1 N*s/m, k: 1e9 N/m}
network:
  F: {force source: [frame, body]}
  m: {mass: [body], velocity: v}
  brake: {damper: [body, frame], b: b}
  k: {spring: [body, far], force: F_k}
  tail: {mass: [far], m: 1 g, velocity: v_t}
  rub: {damper: [body, far], b: b}
experiment: {until: 3 s, inputs: {F: "ramp(1 N/s)"}}
""")
    limits = {p.element: p.limit for p in tg.suggest_limits(model).proposals}
    assert limits["rub"].startswith("rub=")
    assert limits["k"] == "k=inf"


@pytest.mark.slow
def test_expected_losses_are_near_those_of_the_limits() -> None:
    # Constant voltages instead of the cycle: a tenth of a second from rest.
    machine = "corking_machine_extended"
    volts = dict(zip(("V_e1", "V_e2", "V_e3", "V_r1", "V_r2", "V_r3"), 2 * (0.0, 5.0, -5.0), strict=True))
    inputs, rest = volts | {"F_x": -17.658, "F_theta": 0.0}, dict.fromkeys(tg.derive(machine).states, 0.0)
    found = tg.suggest_limits(machine, tried=3, until=0.1, inputs=inputs, initial=rest)
    taken = [p for p in found.proposals if p.loss is not None]
    assert len(taken) == 3
    assert [p.loss is None for p in found.proposals] == sorted(p.loss is None for p in found.proposals)
    for p in taken:
        assert p.loss is not None
        assert p.expected == pytest.approx(p.loss.relative_rms, rel=0.3)
    assert {p.limit for p in found.proposals} >= {"K_ce=inf", "m_a=0"}, "storages lose their state"
    assert len(tg.suggest_limits(machine, most=2, tried=0, until=0.1, inputs=inputs, initial=rest).proposals) == 2


# -- the command -----------------------------------------------------------------------------------------------------------------


def test_commands_print_tables_and_records(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reduce", "crank_rod_elastic", "--suggest"]) == 0
    assert "K=inf" in capsys.readouterr().out
    assert run(["reduce", "crank_rod_elastic", "--suggest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proposals"][0]["limit"] == "K=inf"
    assert run(["reduce", "crank_rod_elastic", "--limit", "K=inf", "--loss", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worst"] in ("omega", "theta", "v_F")
    assert run(["reduce", "crank_rod_elastic", "--limit", "K=inf", "--study"]) == 0
    assert "order 1.00" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "give a limit"),
        (["--suggest", "--limit", "K=inf"], "takes none"),
        (["--limit", "K=inf", "--loss", "--study"], "choose one"),
        (["--limit", "K=inf", "--study", "--latex"], "choose one"),
    ],
)
def test_options_that_exclude_each_other(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reduce", "crank_rod_elastic", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.replace("│", " ").split())
