"""Values that follow from one another through thousands of decimals: exact they would be longer than any number may be."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tellegen as tg
from tellegen.expressions import number, symbol
from tellegen.expressions.elimination import NamedEntries
from tellegen.expressions.nodes import PRIME, Expression
from tellegen.notations.reading import read_model

DECIMALS = st.integers(1, 9999).map(lambda k: Fraction(k, 1000))


def modulo(q: Fraction) -> int:
    return q.numerator * pow(q.denominator, -1, PRIME) % PRIME


@pytest.mark.slow
@settings(max_examples=10)
@given(st.lists(DECIMALS, min_size=3, max_size=7), DECIMALS)
def test_residues_of_long_values_are_those_of_the_exact_ones(factors: list[Fraction], shift: Fraction) -> None:
    values: list[Fraction] = [shift]
    definitions: dict[str, Expression] = {"p_0": number(shift)}
    for k in range(1, 2500):
        by = factors[k % len(factors)]
        definitions[f"p_{k}"] = by * symbol(f"p_{k - 1}") + (shift if k % 3 else 0)
        values.append(by * values[-1] + (shift if k % 3 else 0))
    entries = NamedEntries(definitions)
    p, before, two = symbol("p_2499"), symbol("p_2498"), symbol("p_2400")
    last, earlier, third = values[2499], values[2498], values[2400]
    assert entries.entry(p).residues[2] == modulo(last)
    assert entries.entry((p - before) ** 2 / two).residues[2] == modulo((last - earlier) ** 2 / third)
    assert entries.entry(p**30).residues[2] == pow(modulo(last), 30, PRIME)


def product(prefix: str, factors: list[int]) -> dict[str, Expression]:
    found: dict[str, Expression] = {f"{prefix}_0": number(Fraction(factors[0], 1000))}
    for k, factor in enumerate(factors[1:], 1):
        found[f"{prefix}_{k}"] = Fraction(factor, 1000) * symbol(f"{prefix}_{k - 1}")
    return found


@pytest.mark.parametrize(("last", "cost"), [(1017, 1000), (1019, 0)])
def test_what_vanishes_with_long_values_is_the_last_pivot(last: int, cost: int) -> None:
    factors = [1001 + k % 16 for k in range(2000)] + [1017]
    entries = NamedEntries(product("p", factors) | product("q", [last, *factors[-2::-1]]))
    difference = entries.entry(symbol("p_2000") - symbol("q_2000"))
    assert not entries.is_zero(difference)
    assert entries.cost(difference) // 1000 * 1000 == cost


def test_short_values_stay_exact_in_functions() -> None:
    definitions = {"a": number(-3), "b": symbol("a") + 3}
    entries = NamedEntries(definitions)
    assert entries.entry(abs(symbol("b"))).residues[2] == 0
    assert entries.entry(abs(symbol("a"))).residues[2] == 3


def test_a_chain_of_decimal_parameters_is_derived() -> None:
    chain = "\n".join(f"  p_{k}: 1.0{k % 7 + 1}7*p_{k - 1} - 0.04{k % 9} ohm" for k in range(1, 2501))
    text = f"""system: Chain
parameters:
  p_0: 1.013 ohm
{chain}
network:
  V: {{voltage source: [a, gnd]}}
  R: {{resistor: [a, b], R: p_2500}}
  C: {{capacitor: [b, gnd], C: 1 uF}}
"""
    model = read_model(text)
    assert tg.check(model).ok
    assert tuple(tg.derive(model).states) == ("V_C",)
