"""The port-Hamiltonian form: its structure, its power balance without rounding, and its agreement with the POG form."""

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import tellegen as tg
from support import exact
from support.amount import small_now
from support.bond_graphs import Graph, graphs
from support.evaluated import CONFLICTS, legal
from support.networks import Network, agree, element, equations, law, model
from support.strategies import networks
from support.vector_graphs import VectorGraph, vector_graphs
from tellegen.core.errors import EquationError, TellegenError
from tellegen.equations.forms.hamiltonian import HamiltonianName, HamiltonianSystem, port_hamiltonian
from tellegen.equations.printing.text import hamiltonian_to_text
from tellegen.equations.system import EquationSystem
from tellegen.expressions import MINUS_ONE, ONE, ZERO, Expression, evaluate_exact, is_zero, symbol
from tellegen.expressions.elimination import with_definitions
from tellegen.model.model import Element
from tellegen.notations.reading import read_model

seeds = st.integers(0, 2**16)
EXAMPLES = [example.name for example in tg.examples()]

FORCE = element("F", "force source", "frame", "m")
MASS = element("m", "mass", "m", "frame")
CURRENT = element("I", "current source", "gnd", "a")
LEAK = element("R", "resistor", "a", "gnd")


def chosen(chance: random.Random, names: Sequence[str]) -> dict[str, Fraction]:
    return {name: Fraction(chance.randint(1, 40), chance.randint(1, 9)) for name in names}


class Point:
    """A port-Hamiltonian system at given parameters, states and inputs, as exact numbers; sines and the like are rounded."""

    def __init__(self, form: HamiltonianSystem, values: Mapping[str, Fraction]) -> None:
        self.form = form
        self.rounded = False
        self.values = dict(values)
        for name, e in form.where.items():
            self.values[name] = self.at(e)
        self.n, self.m = len(form.states), len(form.inputs)
        self.given_rates: list[Fraction] = []

    def at(self, expression: Expression) -> Fraction:
        try:
            return evaluate_exact(expression, self.values)
        except ValueError:
            self.rounded = True
            return Fraction(expression.evaluate({name: float(v) for name, v in self.values.items()}))

    def matrix(self, name: HamiltonianName) -> exact.Rows:
        return [[self.at(e) for e in row] for row in self.form.matrices[name]]

    def vector(self, entries: Sequence[Expression]) -> list[Fraction]:
        return [self.at(e) for e in entries]

    @cached_property
    def e(self) -> list[Fraction]:
        return self.vector(self.form.grad_H)

    @cached_property
    def u(self) -> list[Fraction]:
        return [self.values[name] for name in self.form.inputs]

    @cached_property
    def driven(self) -> list[Fraction]:
        """(J - R) grad_H + (g - P) u - f."""
        inner = exact.times(exact.plus(self.matrix("J"), self.matrix("R"), -1), self.e)
        outer = exact.times(exact.plus(self.matrix("g"), self.matrix("P"), -1), self.u)
        return [a + b - c for a, b, c in zip(inner, outer, self.vector(self.form.f), strict=True)]

    @cached_property
    def y(self) -> list[Fraction]:
        """(g + P)^T grad_H + (S + N) u + f_y."""
        reading = exact.transposed(exact.plus(self.matrix("g"), self.matrix("P")), self.m)
        direct = exact.times(exact.plus(self.matrix("S"), self.matrix("N")), self.u)
        rest = self.vector(self.form.f_y)
        return [a + b + c for a, b, c in zip(exact.times(reading, self.e), direct, rest, strict=True)]

    @cached_property
    def rate(self) -> list[Fraction]:
        if not self.form.co_energy:
            return self.driven
        right = [[a - b] for a, b in zip(self.driven, self.moved, strict=True)]
        if self.form.multipliers:
            assert exact.times(self.matrix("E"), self.given_rates) == [row[0] for row in right] or self.rounded
            return self.given_rates
        found = exact.solve_dense(self.matrix("E"), right)
        assert found is not None
        return [row[0] for row in found]

    @cached_property
    def moved(self) -> list[Fraction]:
        """E_1 x."""
        return exact.times(self.matrix("E_1"), [self.values[name] for name in self.form.states])

    @property
    def stored(self) -> Fraction:
        """The rate of H and of what heat adds along the motion, from these functions themselves."""
        assert self.form.H is not None
        assert self.form.H_heat is not None
        H = with_definitions(self.form.H + self.form.H_heat, self.form.where)
        moving = [*zip(self.form.states, self.rate, strict=True)]
        moving += [(name, self.at(e)) for name, e in self.form.displacements.items()]
        return sum((self.at(H.derivative(name)) * rate for name, rate in moving), Fraction(0))

    @cached_property
    def dissipation(self) -> exact.Rows:
        """[[R, P], [P^T, S]]."""
        P = self.matrix("P")
        upper = [[*r, *p] for r, p in zip(self.matrix("R"), P, strict=True)]
        return upper + [[*p, *s] for p, s in zip(exact.transposed(P, self.m), self.matrix("S"), strict=True)]

    def assert_structure(self) -> None:
        for name, size, sign in (("J", self.n, -1), ("R", self.n, 1), ("S", self.m, 1), ("N", self.m, -1)):
            found = self.matrix(name)  # type: ignore[arg-type]
            assert exact.transposed(found, size) == [[sign * e for e in row] for row in found], name

    def assert_power_balance(self) -> None:
        """What is supplied is stored or dissipated."""
        z = [*self.e, *self.u]
        lost = exact.dot(z, exact.times(self.dissipation, z))
        lost += exact.dot(self.e, self.vector(self.form.f)) + exact.dot(self.u, self.vector(self.form.f_y))
        supplied = exact.dot(self.y, self.u)
        if self.rounded:
            # Rounded sines leave an error of the largest term, and terms may cancel.
            largest = max(abs(float(e * rate)) for e, rate in zip(self.e, self.driven, strict=True))
            assert float(self.stored) == pytest.approx(float(supplied - lost), rel=1e-9, abs=1e-10 * largest)
        else:
            assert self.stored == supplied - lost


def point(form: HamiltonianSystem, seed: int | str, parameters: Mapping[str, Fraction] | None = None) -> Point:
    """The form at random states and inputs, and random rates of the inputs that hold the output of a storage."""
    chance = random.Random(seed)
    names = (*form.parameters, *form.states, *form.inputs, *form.displacements, *form.signals.names)
    values = {**chosen(chance, names), **(parameters or {})}
    if not form.multipliers:
        return Point(form, values)
    rates = chosen(chance, form.multipliers)
    held = {}
    for name in form.multipliers:  # the constraint 0 = u - v
        row = form.states.index(name)
        (v,), (u,) = _places(form.matrices["J"][row]), _places(form.matrices["g"][row])
        assert (form.matrices["J"][row][v], form.matrices["g"][row][u]) == (MINUS_ONE, ONE)
        values[form.states[v]] = values[form.inputs[u]]
        held[v] = rates[name]
    return _with_supply(form, values, held)


def _with_supply(form: HamiltonianSystem, values: dict[str, Fraction], held: Mapping[int, Fraction]) -> Point:
    """What the sources supply so that the held outputs have the given rates, and the rates of the other states."""
    places = [form.states.index(name) for name in form.multipliers]
    idle = Point(form, values | dict.fromkeys(form.multipliers, Fraction(0)))
    E, J = idle.matrix("E"), idle.matrix("J")
    unknown = [j for j in range(idle.n) if j not in held]  # rates, and supplies in the places of the multipliers
    rows = [i for i in range(idle.n) if i not in places]
    left = [[-J[i][j] if j in places else E[i][j] for j in unknown] for i in rows]
    right = [[idle.driven[i] - idle.moved[i] - sum(E[i][j] * rate for j, rate in held.items())] for i in rows]
    found = exact.solve_dense(left, right)
    assert found is not None
    solved = {j: row[0] for j, row in zip(unknown, found, strict=True)} | dict(held)
    here = Point(form, values | {form.states[j]: solved[j] for j in places})
    here.given_rates = [Fraction(0) if j in places else solved[j] for j in range(here.n)]
    return here


def assert_same_as_pog(form: HamiltonianSystem, system: EquationSystem, here: Point) -> None:
    """L x' and y at the same power variables."""
    values = {**here.values, **dict(zip(system.states, here.e, strict=True))}
    for name, e in system.where.items():
        values[name] = evaluate_exact(e, values)
    m = {key: [[evaluate_exact(e, values) for e in row] for row in rows] for key, rows in system.matrices.items()}
    x, u = here.e, here.u
    driven = [b - a for a, b in zip(exact.times(m["A"], x), exact.times(m["B"], u), strict=True)]
    assert here.driven == driven
    assert here.y == [a + b for a, b in zip(exact.times(m["C"], x), exact.times(m["D"], u), strict=True)]
    if not form.co_energy:
        states = [[here.values[name]] for name in form.states]
        assert exact.solve_dense(m["L"], states) == [[e] for e in x]


# -- linear models -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", small_now(EXAMPLES))
def test_an_example_keeps_the_power_balance_and_the_values_of_its_pog_form(name: str) -> None:
    system = tg.derive(name)
    form = port_hamiltonian(system)
    given = {name: Fraction(value) for name, value in system.values().items()}
    for seed in range(3):
        here = point(form, f"{name}{seed}", given)
        here.assert_power_balance()
        if here.rounded:
            continue
        here.assert_structure()
        there = point(form, f"{name}{seed}, other parameters")
        there.assert_power_balance()
        if system.linear:
            assert exact.is_positive_semidefinite(there.dissipation)
        if system.linear and not form.multipliers:
            assert_same_as_pog(form, system, there)


@given(networks(many_sources=True), seeds)
def test_a_random_network_keeps_the_power_balance_and_the_values_of_its_pog_form(network: Network, seed: int) -> None:
    evaluated = legal(network)
    form = port_hamiltonian(evaluated.system)
    assert bool(form.multipliers) == evaluated.has_input_rates
    here = point(form, seed, network.values)
    here.assert_structure()
    here.assert_power_balance()
    assert exact.is_positive_semidefinite(here.dissipation)
    if not form.multipliers:
        assert_same_as_pog(form, evaluated.system, here)


@given(networks(many_sources=True))
def test_a_random_network_has_one_name_for_each_variable(network: Network) -> None:
    evaluated = legal(network)
    form = port_hamiltonian(evaluated.system)
    names = [*form.parameters, *form.states, *form.inputs, *form.where]
    assert len(set(names)) == len(names)
    known = {*names, *form.algebraic.unknowns}
    entries = [e for m in form.matrices.values() for row in m for e in row]
    assert all(e.free_symbols <= known for e in (*entries, *form.grad_H, *form.f, *form.f_y))


@settings(suppress_health_check=[HealthCheck.filter_too_much])
@given(networks(many_sources=True), seeds)
def test_sources_that_hold_storages_supply_what_the_pog_form_says(network: Network, seed: int) -> None:
    evaluated = legal(network)
    assume(evaluated.has_input_rates)
    system = evaluated.system
    form = port_hamiltonian(system)
    here = point(form, seed, network.values)
    rates = dict(zip(form.states, here.rate, strict=True))
    held = {
        form.inputs[u]: rates[form.states[v]]
        for name in form.multipliers
        for v in _places(form.matrices["J"][form.states.index(name)])
        for u in _places(form.matrices["g"][form.states.index(name)])
    }
    x, u_rate = [here.values[name] for name in system.states], [held.get(name, Fraction(0)) for name in form.inputs]
    assert evaluated.rate(x, here.u, u_rate) == [rates[name] for name in system.states]
    assert evaluated.output(x, here.u, u_rate) == here.y


@given(st.one_of(graphs(), vector_graphs()), seeds)
def test_a_random_bond_graph_keeps_the_power_balance(graph: Graph | VectorGraph, seed: int) -> None:
    try:
        system = equations(read_model(graph.text))
    except TellegenError as error:
        assume(error.code not in (*CONFLICTS, "D408", "E103"))  # laws of fields that cannot be used as asked
        raise
    assert system.origin is not None
    assume(all(finding.code != "K106" for finding in system.origin.findings))
    form = port_hamiltonian(system)
    here = point(
        form, seed, graph.values if isinstance(graph, Graph) else None
    )  # those of vectors stand in their matrices
    here.assert_structure()
    here.assert_power_balance()
    assert exact.is_positive_semidefinite(here.dissipation)


def _places(row: Sequence[Expression]) -> list[int]:
    return [j for j, e in enumerate(row) if e is not ZERO]


def test_the_motor_with_pump_has_the_energy_variables_of_the_lecture() -> None:
    form = tg.derive("dc_motor_pump", form="ph")
    assert form.states == ("phi_L_a", "p_J_m", "V_C_0")
    assert agree([form.grad_H], [["phi_L_a/L_a", "p_J_m/J_m", "V_C_0/C_0"]])
    assert agree(form.matrices["J"], [["0", "-K_m", "0"], ["K_m", "0", "-K_p"], ["0", "K_p", "0"]])
    assert agree(form.matrices["R"], [["R_a", "0", "0"], ["0", "b_m", "0"], ["0", "0", "alpha_p"]])
    assert agree(form.matrices["g"], [["1", "0"], ["0", "0"], ["0", "1"]])
    assert form.H is not None
    assert agree([[form.H]], [["phi_L_a^2/(2*L_a) + p_J_m^2/(2*J_m) + V_C_0^2/(2*C_0)"]])


def test_a_resistor_at_a_source_gives_dissipation_between_state_and_input() -> None:
    form = tg.derive("transformer_tank", form="ph")
    assert agree(form.matrices["g"], [["0"], ["0"]])
    assert agree(form.matrices["P"], [["-n/R_s"], ["0"]])
    assert agree(form.matrices["S"], [["1/R_s"]])


def test_dependent_storages_that_couple_states_share_their_contents() -> None:
    system = tg.derive("cauer_low_pass")
    form = port_hamiltonian(system)
    assert form.states == tuple(form.energy_variables)
    assert "E" not in form.matrices
    assert not form.co_energy
    # The outputs of the storages are what H grows by; their formulas stand under "where".
    assert form.grad_H == tuple(map(symbol, system.states))
    for name, row in zip(form.states, system.matrices["L"], strict=True):
        content = sum((e * symbol(x) for e, x in zip(row, system.states, strict=True)), ZERO)
        assert is_zero(form.energy_variables[name] - content)


def assert_canonical(system: EquationSystem, form: HamiltonianSystem, seed: str) -> None:
    """At a random point: grad_H is the gradient of H, and the rates are those of the POG form."""
    assert form.H is not None
    chance = random.Random(seed)
    coordinates = [name for name in form.states if name not in form.energy_variables]
    names = (*form.parameters, *form.states, *form.inputs, *form.displacements)
    given = {name: chance.uniform(0.2, 1.2) for name in names} | {n: float(v) for n, v in form.values().items()}

    def at(e: Expression, values: Mapping[str, float], where: Mapping[str, Expression]) -> float:
        return with_definitions(e, where).evaluate(dict(values))

    H = with_definitions(form.H, form.where)
    gradient = [at(e, given, form.where) for e in form.grad_H]
    size = max(map(abs, gradient), default=1.0)
    assert gradient == pytest.approx(
        [H.derivative(name).evaluate(given) for name in form.states], rel=1e-8, abs=1e-9 * size
    )

    def times(name: HamiltonianName, vector: Sequence[float]) -> list[float]:
        return [
            sum(at(e, given, form.where) * v for e, v in zip(row, vector, strict=True)) for row in form.matrices[name]
        ]

    u = [given[name] for name in form.inputs]
    terms = zip(times("J", gradient), times("R", gradient), times("g", u), times("P", u), form.f, strict=True)
    rates = dict(zip(form.states, (a - b + c - d - at(f, given, form.where) for a, b, c, d, f in terms), strict=True))
    # The same point in the variables of the POG form: L z' = -N z - A z + B u - f, and p' = L z' + (N + N^T) z.
    z = gradient[len(coordinates) :]
    there = given | dict(zip(system.states, z, strict=True))
    m = {key: [[at(e, there, system.where) for e in row] for row in system.matrices[key]] for key in ("A", "B", "N")}
    f = [at(e, there, system.where) for e in system.vectors["f"]]
    for k, name in enumerate(form.states[len(coordinates) :]):
        expected = sum(row[k] * v for row, v in zip(m["N"], z, strict=True)) - f[k]
        expected += sum(b * v for b, v in zip(m["B"][k], u, strict=True)) - sum(
            a * v for a, v in zip(m["A"][k], z, strict=True)
        )
        assert rates[name] == pytest.approx(expected, rel=1e-7, abs=1e-8 * max(map(abs, rates.values())))
    for name in coordinates:
        assert rates[name] == pytest.approx(at(system.displacements[name], there, system.where), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(
    "name", ["cauer_low_pass", "crank_rod", "planar_robot", "mobile_manipulator", "corking_machine"]
)
def test_models_with_dependent_storages_have_nothing_on_the_left(name: str) -> None:
    system = tg.derive(name)
    form = port_hamiltonian(system)
    assert "E" not in form.matrices
    for seed in range(2):
        assert_canonical(system, form, f"{name} {seed}")


def test_the_rolling_base_has_the_gyroscopic_block_of_its_wheels() -> None:
    """Its constraints are not holonomic: S[x0, phi0] = -3 I_w vy/(2 r^2), S[y0, phi0] = 3 I_w vx/(2 r^2)."""
    form = port_hamiltonian(tg.derive("mobile_manipulator"))
    x, y, phi = (form.states.index(f"p_{name}") for name in ("m_bx", "m_by", "I_b"))
    J = form.matrices["J"]
    for seed in range(3):
        values = {name: random.Random(f"{seed} {name}").uniform(0.2, 1) for name in (*form.states, *form.where)}
        values |= {name: float(value) for name, value in form.values().items()}
        wheels = 3 * values["I_w"] / (2 * values["r"] ** 2)
        assert J[x][phi].evaluate(values) == pytest.approx(-wheels * values["vy_0"], rel=1e-9)
        assert J[y][phi].evaluate(values) == pytest.approx(wheels * values["vx_0"], rel=1e-9)
        assert J[x][y] is ZERO


@st.composite
def moving_chains(draw: st.DrawFn) -> str:
    """Masses behind a crank, each at a ratio of its angle or of the mass before it, with dampers, springs and forces."""
    count = draw(st.integers(1, 3))
    lines = ["system: chain", "parameters: {r: 1 m}", "displacements: {theta: omega}", "network:"]
    lines += ["  T: {torque source: [frame, n0]}", "  J: {inertia: [n0], J: 2, angular velocity: omega}"]
    for k in range(1, count + 1):
        ratio = draw(st.sampled_from(["sin(theta)", "(2 + cos(theta))", f"{k}*theta", "3"]))
        before = draw(st.integers(0, k - 1))
        ends = ["rotational" if before == 0 else "translational", "translational"]
        behind = draw(st.sampled_from(["frame", "car"]))
        lines.append(
            f"  c{k}: {{connection: [n{before}, frame, n{k}, {behind}], domains: [{', '.join(ends)}], "
            f"relation: across_2 = {'r*' if before == 0 else ''}{ratio}*across_1}}"
        )
        lines.append(f"  m{k}: {{mass: [n{k}], m: {k + 1}}}")
        if draw(st.booleans()):
            lines.append(f"  b{k}: {{damper: [n{k}, frame], b: {k}}}")
        if draw(st.booleans()):
            lines.append(f"  F{k}: {{force source: [frame, n{k}]}}")
    lines += ["  car: {mass: [car], m: 5}", "  K: {spring: [car, frame], K: 7}"]
    return "\n".join(lines) + "\n"


@settings(max_examples=25)
@given(moving_chains(), seeds)
def test_random_moving_chains_have_the_form_with_nothing_on_the_left(text: str, seed: int) -> None:
    system = tg.derive(read_model(text))
    form = port_hamiltonian(system)
    assert "E" not in form.matrices
    assert_canonical(system, form, f"{seed}")


def test_a_dependent_storage_beside_one_state_adds_to_its_content() -> None:
    parts = [element(name, "capacitor", "a", "gnd") for name in ("C_1", "C_2")]
    form = port_hamiltonian(equations(model(CURRENT, *parts, LEAK)))
    assert not form.co_energy
    assert agree([form.grad_H], [["q_C_1/(C_1 + C_2)"]])


def test_three_coupled_coils_keep_their_currents() -> None:
    form = tg.derive("pmsm", form="ph")
    assert form.co_energy == form.states == ("I_1", "I_2", "I_3", "omega")
    assert agree([form.matrices["E"][0]], [["L_e", "-M_0/2", "-M_0/2", "0"]])


def test_a_name_that_is_taken_gets_a_trailing_underscore() -> None:
    text = (
        "system: s\nparameters: {q_C: 1 ohm}\nnetwork:\n  I: {current source: [gnd, a]}\n  C: {capacitor: [a]}\n"
        "  R: {resistor: [a], R: q_C}\n"
    )
    assert tg.derive(read_model(text), form="ph").states == ("q_C_",)


def test_numbers_take_the_place_of_parameters() -> None:
    form = tg.derive("dc_motor", form="ph", numeric=True)
    assert agree(form.matrices["R"], [["0.8", "0"], ["0", "0.0002"]])
    assert agree([form.grad_H], [["500*phi_L", "10000*p_J"]])


def test_a_parameter_without_a_value_is_named() -> None:
    parts = (CURRENT, element("C", "capacitor", "a", "gnd"), LEAK)
    with pytest.raises(EquationError, match="'R' has no value"):
        port_hamiltonian(equations(model(*parts))).numeric()


# -- nonlinear models ----------------------------------------------------------------------------------------------------------


def damper(formula: str, *nodes: str, name: str = "c") -> Element:
    return element(name, "damper", *(nodes or ("m", "frame")), law=law("resistive", "v", formula, "through"))


def test_a_spring_given_by_its_force_keeps_its_displacement() -> None:
    spring = element("s", "spring", "m", "frame", law=law("output", "x", "K*x + k*x^3", "through"))
    form = port_hamiltonian(equations(model(FORCE, MASS, spring)))
    assert form.states == ("p_m", "x_s")
    assert agree([form.grad_H], [["p_m/m", "K*x_s + k*x_s^3"]])
    assert agree(form.matrices["J"], [["0", "-1"], ["1", "0"]])
    assert form.H is not None
    assert agree([[form.H]], [["p_m^2/(2*m) + K*x_s^2/2 + k*x_s^4/4"]])
    here = point(form, 1)
    here.assert_structure()
    here.assert_power_balance()


def test_a_charge_of_the_voltage_gives_the_co_energy_form() -> None:
    charge = element("C", "capacitor", "a", "gnd", law=law("content", "v", "C_0*v + k*v^3"))
    form = port_hamiltonian(equations(model(CURRENT, charge, LEAK)))
    assert form.co_energy == form.states == ("V_C",)
    assert agree(form.matrices["E"], [["C_0 + 3*k*V_C^2"]])
    point(form, 2).assert_power_balance()


def test_a_content_with_an_offset_is_solved_for_its_output() -> None:
    flux = element("L", "inductor", "a", "gnd", law=law("content", "i", "phi_0 + L_0*i", "through"))
    form = port_hamiltonian(equations(model(CURRENT, flux, LEAK)))
    assert form.states == ("phi_L",)
    assert agree([form.grad_H], [["(phi_L - phi_0)/L_0"]])
    assert agree([[form.energy_variables["phi_L"]]], [["phi_0 + L_0*I_L"]])
    point(form, 3).assert_power_balance()


def test_the_two_kinds_of_laws_together_keep_the_power_balance() -> None:
    charge = element("C", "capacitor", "a", "gnd", law=law("content", "v", "C_0*v + k*v^3"))
    flux = element("L", "inductor", "a", "gnd", law=law("output", "phi", "a*phi + b*phi^3", "through"))
    form = port_hamiltonian(equations(model(CURRENT, charge, flux, LEAK)))
    assert form.states == ("V_C", "phi_L")
    assert form.co_energy == ("V_C",)
    here = point(form, 4)
    here.assert_structure()
    here.assert_power_balance()


def test_drag_is_a_resistance_that_depends_on_the_state() -> None:
    form = port_hamiltonian(equations(model(FORCE, MASS, damper("b*v*abs(v)"))))
    assert agree(form.matrices["R"], [["b*abs(p_m/m)"]])
    assert agree([form.f], [["0"]])
    point(form, 5).assert_power_balance()


def test_friction_that_is_no_product_with_the_speed_stays_a_term_of_its_own() -> None:
    form = port_hamiltonian(equations(model(FORCE, MASS, damper("F_c*sign(v)"))))
    assert agree([form.f], [["F_c*sign(p_m/m)"]])
    assert form.to_json()["f"] == ["F_c*sign(p_m/m)"]
    assert "- f" in str(form)
    point(form, 6).assert_power_balance()


def test_drag_between_two_masses_stays_a_term_of_its_own() -> None:
    masses = [element(name, "mass", name, "frame") for name in ("m", "k")]
    form = port_hamiltonian(equations(model(FORCE, *masses, damper("b*v*abs(v)", "m", "k"))))
    assert len([e for e in form.f if str(e) != "0"]) == 2
    here = point(form, 7)
    here.assert_structure()
    here.assert_power_balance()


def test_unknowns_of_a_nonlinear_loop_are_kept() -> None:
    one = element("R_1", "resistor", "p", "a", law=law("resistive", "i", "a*i + b*i^3"))
    two = element("R_2", "resistor", "a", "gnd", law=law("resistive", "i", "c*i + d*i^3"))
    three = element("C", "capacitor", "p", "gnd")
    system = equations(model(CURRENT, one, two, three))
    form = port_hamiltonian(system)
    assert form.algebraic.unknowns == system.algebraic.unknowns
    assert system.algebraic.unknowns
    assert "algebraic" in form.to_json()


# -- sources that hold storages, and heat --------------------------------------------------------------------------------------

READS_ITS_SOURCE = """
system: s
parameters: {k: 1 s/rad}
network:
  w: {angular velocity source: [a, frame]}
  n: {connection: [a, frame, b, frame], domains: [rotational, rotational], relation: across_2 = (1 + k*w)*across_1}
  J: {inertia: [b], J: 1 kg*m^2}
  R: {friction: [b, frame], b: 2 N*m*s}
"""
HELD = "system: s\nnetwork:\n  V: {voltage source: [a]}\n  C: {capacitor: [a]}\n  R: {resistor: [a]}\n"


def test_the_output_that_a_source_holds_is_a_state_tied_to_the_input() -> None:
    form = tg.derive(read_model(HELD), form="ph")
    assert (form.states, form.multipliers) == (("V_C", "I_V"), ("I_V",))
    assert agree(form.matrices["E"], [["C", "0"], ["0", "0"]])
    assert agree(form.matrices["J"], [["0", "1"], ["-1", "0"]])
    assert agree(form.matrices["R"], [["1/R", "0"], ["0", "0"]])
    assert agree(form.matrices["g"], [["0"], ["1"]])
    assert form.H is not None
    assert agree([[form.H]], [["C*V_C^2/2"]])


def test_a_held_output_that_no_storage_has_alone_is_named_after_its_source() -> None:
    text = HELD.replace("{capacitor: [a]}", "{capacitor: [a, b]}") + "  C_2: {capacitor: [b]}\n"
    form = tg.derive(read_model(text), form="ph")
    assert "V_V" in form.states
    point(form, 9).assert_power_balance()


def test_a_crank_turned_by_a_source_keeps_the_power_balance() -> None:
    text = """
system: Crank at a given speed
parameters: {r: 0.1 m, m: 2 kg, b: 3 N*s/m}
network:
  w: {angular velocity source: [a, frame]}
  crank: {connection: [a, frame, p, frame], domains: [rotational, translational], relation: across_2 = -r*sin(theta)*across_1}
  m: {mass: [p]}
  b: {damper: [p, frame], b: b}
displacements: {theta: w}
"""
    form = tg.derive(read_model(text), form="ph")
    assert not all(e is ZERO for row in form.matrices["E_1"] for e in row)
    for seed in range(3):
        here = point(form, seed)
        here.assert_power_balance()


def test_a_motor_that_warms_up_keeps_a_balance_of_power_and_one_of_heat() -> None:
    form = tg.derive("motor_heating", form="ph")
    assert form.H is not None
    assert form.H_heat is not None
    assert agree([[form.H]], [["phi_L_a^2/(2*L_a) + p_J_m^2/(2*J_m)"]])
    assert agree([[form.H_heat]], [["H_C_w^2/(2*C_w) + H_C_h^2/(2*C_h)"]])
    assert "R_a_heat = R_0*phi_L_a^2" in str(form)
    here = point(form, 10)
    for function, part in ((form.H, (0, 1)), (form.H_heat, (2, 3))):
        stored = sum(here.at(function.derivative(form.states[i])) * here.rate[i] for i in part)
        lost = sum(here.e[i] * here.matrix("R")[i][j] * here.e[j] for i in part for j in part)
        assert stored == sum(here.y[i] * here.u[i] for i in part) - lost


def test_heat_is_said_to_be_no_energy() -> None:
    form = tg.derive("two_masses_heat", form="ph")
    assert "H_heat = H_C_1^2/(2*C_1) + H_C_2^2/(2*C_2)   (J*K;" in str(form)
    assert "\nH = " not in str(form)
    assert form.to_json()["H_heat"] == "H_C_1**2/(2*C_1) + H_C_2**2/(2*C_2)"
    assert r"H_{\text{heat}}" in form.to_latex()


def test_the_multipliers_are_listed_with_their_reason() -> None:
    form = tg.derive("stick_slip", form="ph")
    assert "multipliers  F_belt  (these sources decide outputs of storages" in str(form)
    assert form.to_json()["multipliers"] == ["F_belt"]


def test_a_modulus_that_reads_the_source_before_a_storage_moves_with_what_the_source_supplies() -> None:
    form = tg.derive(read_model(READS_ITS_SOURCE), form="ph")
    assert (form.states, form.multipliers) == (("omega_w", "tau_w"), ("tau_w",))
    assert list(form.where) == ["omega_w_rate"]
    assert form.H is not None
    for seed in range(10):
        here = Point(form, chosen(random.Random(seed), (*form.parameters, *form.states, *form.inputs)))
        rate, supplied, omega = (here.values[name] for name in ("omega_w_rate", "tau_w", "omega_w"))
        # The row of the storage holds, and what is stored is what the source supplies less what friction takes.
        assert here.matrix("E")[0][0] * rate + here.moved[0] == here.driven[0]
        stored = here.at(form.H.derivative("omega_w")) * rate
        assert stored == supplied * omega - here.matrix("R")[0][0] * omega**2


# -- what cannot be ------------------------------------------------------------------------------------------------------------


def test_matrices_without_a_model_do_not_tell_which_storage_a_source_meets() -> None:
    with pytest.raises(EquationError, match="matrices alone"):
        port_hamiltonian(replace(tg.derive("stick_slip"), origin=None))


# -- printouts -----------------------------------------------------------------------------------------------------------------

MOTOR = """\
DC motor

  x' = ([J] - [R]) grad_H + g u,   y = g^T grad_H   (in [ ]: letters of the form, which the model has too)

  ⎡ phi_L' ⎤ = (⎡ 0  -K ⎤ - ⎡ R  0 ⎤) ⎡ phi_L/L ⎤ + ⎡ 1  0 ⎤ ⎡  V  ⎤
  ⎣  p_J'  ⎦    ⎣ K  0  ⎦   ⎣ 0  b ⎦  ⎣  p_J/J  ⎦   ⎣ 0  1 ⎦ ⎣ tau ⎦

  ⎡   I   ⎤ = ⎡ 1  0 ⎤ ⎡ phi_L/L ⎤
  ⎣ omega ⎦   ⎣ 0  1 ⎦ ⎣  p_J/J  ⎦

states (x)   phi_L, p_J
inputs (u)   V, tau
outputs (y)  I, omega

H = p_J^2/(2*J) + phi_L^2/(2*L)

energy variables
  phi_L = I*L
  p_J = J*omega

parameters
  L  0.002
  R  0.8
  K  0.06
  J  0.0001
  b  0.0002
"""


def test_the_motor_as_text() -> None:
    assert str(tg.derive("dc_motor", form="ph")) == MOTOR


def test_a_narrow_terminal_gets_each_matrix_by_itself_and_then_rows() -> None:
    form = tg.derive("dc_motor_pump", form="ph")
    single = hamiltonian_to_text(form, width=70)
    assert "J = ⎢ K_m   0    -K_p ⎥" in single
    assert "grad_H = ⎢  p_J_m/J_m  ⎥" in single
    rows = hamiltonian_to_text(form, width=20)
    assert "phi_L_a' = -R_a*phi_L_a/L_a - K_m*p_J_m/J_m + V_a" in " ".join(rows.split())


CHARGED = """
system: a charge of the voltage
network:
  I: {current source: [gnd, a]}
  C: {capacitor: [a, gnd], law: q = 2*v + v^3}
  R: {resistor: [a, gnd], R: 1}
"""


def test_the_record_has_the_names_of_the_contract() -> None:
    record = tg.derive("dc_motor", form="ph").to_json()
    assert list(record) == ["x", "H", "grad_H", "J", "R", "g", "u", "y", "parameters"]
    assert record["grad_H"] == ["phi_L/L", "p_J/J"]
    assert record["J"] == [["0", "-K"], ["K", "0"]]
    more = tg.derive("cauer_low_pass", form="ph").to_json()
    assert {"where", "P", "S"} <= more.keys()
    assert {"E", "co_energy"} <= tg.derive(read_model(CHARGED), form="ph").to_json().keys()
    assert "N" not in more


def test_latex_braces_every_matrix() -> None:
    text = tg.derive("transformer_tank", form="ph").to_latex()
    assert text.startswith("\\begin{align*}")
    for letter in ("J", "R", "g", "P", "S"):
        assert f"\\mathbf{{{letter}}}" in text
    assert "\\nabla H" in text


def test_sympy_shows_the_matrices() -> None:
    form = tg.derive("rlc", form="ph")
    assert (form.J + form.J.T).is_zero_matrix
    assert form.R == form.R.T
    assert form.g.shape == (2, 1)
    assert form.P.shape == (2, 1)
    assert (form.S.shape, form.N.shape) == ((1, 1), (1, 1))


def test_no_two_signs_stand_beside_each_other() -> None:
    """A slope of H that begins with a minus gives its sign to its term."""
    found = port_hamiltonian(tg.derive("crank_rod_mechanism")).to_text()
    assert not re.search(r"[-+*/] ?-", found.replace("e-", ""))
