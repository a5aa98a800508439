"""Names that sections give: known to equations, runs, figures and files, with the values that the ladder gives them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support.evaluated import CONFLICTS
from tellegen.core.errors import TellegenError
from tellegen.equations.derivation import measured_equations
from tellegen.equations.system import with_measured_outputs
from tellegen.expressions import evaluate_exact
from tellegen.model.model import Model
from tellegen.notations.reading import read_model
from tellegen.scenes.lettering import name_latex
from tellegen.scenes.scene import Label, Scene
from tellegen.schemes.translation import NOTATIONS, Notation, translation

MOTOR = """system: motor and pump
parameters: {L_a: 2 mH, R_a: 0.5 ohm, K_m: 0.15 N*m/A, J_m: 1e-3 kg*m^2, b_m: 2e-3 N*m*s, K_p: 1e-6 m^3/rad, C_0: 2e-12 m^3/Pa,
  alpha_p: 2e-11 m^3/(Pa*s)}
pog:
  - section: [V_a, I_a]
  - series: [L:L_a]
  - section: [V_r, I_a]
  - series: [R:R_a]
  - section: [E_m, I_a]
  - connect: K_m
  - section: [omega_m, C_m]
  - parallel: [J:J_m, b:b_m]
  - section: [omega_m, C_p]
  - connect: K_p
  - section: [P_0, Q_p]
  - parallel: [C:C_0]
  - section: [P_0, Q_u]
  - parallel: [G:alpha_p]
  - section: [P_0, Q_0]
"""
USUAL = (
    "V_1",
    "I_1",
    "x_1",
    "zero_1",
    "N_1",
    "s1",
    "V_x",
    "tau",
    "phi_1",
    "Q_u",
    "K_1",
    "T_a",
    "b_1",
    "across_1",
    "u_1",
)


@dataclass
class Chain:
    """A random ladder of one lane: its entries, the names of its sections, and what each block asks of those beside it."""

    entries: list[str] = field(default_factory=list)
    sections: list[tuple[str, str]] = field(default_factory=list)
    laws: list[tuple[str, float]] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        lines = [*self.entries, f"  - section: [{', '.join(self.sections[-1])}]"]
        return "\n".join(["system: chain", f"parameters: {{{', '.join(self.parameters)}}}", "pog:", *lines, ""])

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for section in self.sections for name in section))


def chain_of(seed: int) -> Chain:
    chance = random.Random(seed)
    names = iter([*chance.sample(USUAL, len(USUAL)), *(f"v_{k}" for k in range(99))])
    found = Chain(sections=[(next(names), next(names))])
    count, domain = chance.randint(2, 7), "electrical"
    found.entries.append("  - domain: electrical")
    for k in range(count):
        across, through = found.sections[-1]
        found.entries.append(f"  - section: [{across}, {through}]")
        last = found.laws[-1][0] if found.laws else "connect"
        kinds = ["R", "L", "G", "C"] + (["connect"] if last != "connect" and k < count - 1 else [])
        kind, value = chance.choice(kinds), chance.randint(1, 9)
        if kind == "connect":
            found.entries += [f"  - connect: k{k}", f"  - domain: {(domain := chance.choice([domain, 'hydraulic']))}"]
        else:
            way = "series" if kind in "RL" else "parallel"
            found.entries.append(f"  - {way}: [{kind}:e{k}]")
        found.parameters.append(f"{'k' if kind == 'connect' else 'e'}{k}: {value}")
        found.laws.append((kind, value))
        across, through = (across, next(names)) if kind in "GC" else (next(names), through)
        found.sections.append((across, next(names)) if kind == "connect" else (across, through))
    return found


def legal(chain: Chain) -> Model:
    """The model; chains whose sources fight are passed over."""
    try:
        model = read_model(chain.text)
        system = tg.derive(model)
    except TellegenError as error:
        assume(error.code not in CONFLICTS)
        raise
    assume(system.is_zero("B_1") and system.is_zero("D_1"))
    assert not [finding for finding in model.findings if finding.code == "D465"]
    return model


def rows_of(model: Model, names: list[str]) -> dict[str, np.ndarray]:
    """Each name over states and inputs."""
    system = with_measured_outputs(measured_equations(model, names), tuple(names))
    values = {n: evaluate_exact(e, {}) for n, e in system.parameters.items() if e is not None}
    for name, e in system.where.items():
        values[name] = evaluate_exact(e, values)
    C, D = ([[evaluate_exact(e, values) for e in row] for row in system.matrices[m]] for m in ("C", "D"))
    return {name: np.array([*c, *d], float) for name, c, d in zip(names, C, D, strict=True)}


def broken_laws(chain: Chain, rows: dict[str, np.ndarray], x: np.ndarray) -> Iterator[str]:
    """The blocks whose laws the variables of the sections beside them do not obey."""
    value = {name: float(row @ x) for name, row in rows.items()}
    # At the right end a through variable that is imposed counts into the ladder.
    last = chain.laws[-1][0]
    for k, (kind, size) in enumerate(chain.laws):
        (a, f), (b, g) = (tuple(value[n] for n in section) for section in chain.sections[k : k + 2])
        if k == len(chain.laws) - 1 and last in "GC":
            g = -g
        expected = {"R": (a - b, size * f), "G": (f - g, size * a), "connect": (a * f, b * g)}.get(kind, (0.0, 0.0))
        if expected[0] != pytest.approx(expected[1], rel=1e-9, abs=1e-9):
            yield f"{kind} {k}: {expected}"


@settings(max_examples=60)
@given(st.integers(0, 2**20))
def test_every_name_of_a_section_has_the_value_that_the_blocks_beside_it_ask_for(seed: int) -> None:
    chain = chain_of(seed)
    rows = rows_of(legal(chain), chain.names)
    chance = np.random.default_rng(seed)
    assert not list(broken_laws(chain, rows, chance.normal(size=len(next(iter(rows.values()))))))


@given(st.integers(0, 2**20), st.sampled_from(NOTATIONS))
@example(7471, "bond").via("what a coupling that is written the other way round gives stands on the right of its law")
def test_names_of_sections_survive_in_every_notation(seed: int, notation: Notation) -> None:
    chain = chain_of(seed)
    model = legal(chain)
    again = read_model(translation(model, notation))
    wanted, found = rows_of(model, chain.names), rows_of(again, chain.names)
    states, inputs = (tg.derive(m).states + tg.derive(m).inputs for m in (model, again))
    assume(set(states) == set(inputs))  # of storages that depend on each other another one may be the state
    order = [inputs.index(name) for name in states]
    for name in chain.names:
        assert found[name][order] == pytest.approx(wanted[name], rel=1e-9, abs=1e-12), name


def texts_of(scene: Scene) -> set[str]:
    return {shape.text for shape in scene.shapes if isinstance(shape, Label)}


@settings(max_examples=15)
@given(st.integers(0, 2**20))
def test_the_figure_of_a_ladder_has_every_name(seed: int) -> None:
    chain = chain_of(seed)
    model = legal(chain)
    scheme = tg.pog(model)
    assume(scheme.ladders and not scheme.vectorial)
    assert {name_latex(name) for name in chain.names} <= texts_of(tg.draw(model, "pog").scene)


def test_the_motor_of_the_lecture_has_its_letters_everywhere(tmp_path: object) -> None:
    model = read_model(MOTOR)
    equations = tg.derive(model)
    named = {name: str(e) for name, e in equations.signals.named.items()}
    assert named == {
        "V_r": "I_a*R_a + K_m*omega_m",
        "Q_u": "P_0*alpha_p - Q_0",
        "E_m": "K_m*omega_m",
        "C_m": "I_a*K_m",
        "C_p": "K_p*P_0",
        "Q_p": "K_p*omega_m",
    }
    run = tg.simulate(model, until=0.01, inputs={"V_a": 24, "Q_0": 0})
    last = run.final()
    assert last["C_m"] == pytest.approx(0.15 * last["I_a"], rel=1e-9)
    assert last["V_r"] == pytest.approx(0.5 * last["I_a"] + last["E_m"], rel=1e-9)
    bond = texts_of(tg.draw(model, "bond").scene)
    assert {name_latex(name) for name in ("E_m", "C_m", "C_p", "Q_p")} <= bond
    small = tg.reduce(model, {"J_m": 0}).model
    assert {"V_r", "C_m"} <= tg.simulate(small, until=0.01, inputs={"V_a": 24, "Q_0": 0}).final().keys()


def test_a_part_keeps_the_names_of_its_sections() -> None:
    whole = tg.Network("two")
    inner = replace(read_model(MOTOR), name="motor")
    whole.part("left", inner)
    assert "left.V_r" in whole.model().signals


def test_one_name_for_two_variables_is_told() -> None:
    model = read_model(MOTOR.replace("[P_0, Q_u]", "[P_0, Q_p]"))
    (finding,) = [f for f in model.findings if f.code == "D465"]
    assert "'Q_p', which is another variable at 'K_p'" in finding.what
    with pytest.raises(TellegenError, match="D464"):
        read_model(MOTOR.replace("[V_r, I_a]", "[R_a, I_a]"))


def test_a_variable_of_a_section_may_stay_without_a_name() -> None:
    model = read_model(MOTOR.replace("[V_r, I_a]", "[none, I_a]"))
    assert "none" not in model.signals
    with pytest.raises(TellegenError, match="which has no name"):
        read_model(MOTOR.replace("[V_a, I_a]", "[none, I_a]"))


@given(st.lists(st.sampled_from("RC"), min_size=1, max_size=5), st.sampled_from(["", "-"]))
def test_the_last_section_counts_what_its_source_answers_into_the_ladder(blocks: list[str], sign: str) -> None:
    """Resistors and capacitors between two voltages, from rest: the flow of the last section is what its source gives."""
    kinds = [*blocks, "R"]
    entries = "".join(f"  - {'series' if kind == 'R' else 'parallel'}: [{kind}:e{k}]\n" for k, kind in enumerate(kinds))
    values = ", ".join(f"e{k}: {'3 ohm' if kind == 'R' else '1 mF'}" for k, kind in enumerate(kinds))
    end = f"  - section: {{across: V_2, through: I_2, given: {sign}V_2}}\n"
    start = "  - series: [R:e]\n"
    text = f"system: chain\nparameters: {{e: 2 ohm, {values}}}\npog:\n  - section: [V_1, I_1]\n{start}{entries}{end}"
    model = read_model(text)
    assert not [finding for finding in model.findings if finding.code == "D465"]
    run = tg.simulate(model, until=2e-3, inputs={"V_1": 5, "V_2": 1}, progress=False)
    taken = run.power("V_2")  # at one volt it is what flows out of the source
    assert run.values("I_2") == pytest.approx(taken, rel=1e-9)
    again = tg.simulate(read_model(tg.translate(model, "pog")), until=2e-3, inputs={"V_1": 5, "V_2": 1}, progress=False)
    assert again.values("I_2") == pytest.approx(run.values("I_2"), rel=1e-6, abs=1e-9)
