"""What the fastest known oscillation of the inputs asks of a run: enough rows to show it, and steps that do not miss it."""

import math
from collections.abc import Iterator, Mapping
from typing import Final

from tellegen.core.names import TIME
from tellegen.expressions import Call, Expression, derivative, postorder
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw
from tellegen.simulation.problem import DEFAULT_ROWS

ROWS_A_PERIOD: Final = 20
STEPS_A_PERIOD: Final = 32
"""Solvers look for events in between, too."""
MOST_ROWS: Final = 50_001
MOST_VALUES: Final = 5_000_000
"""Beyond these the rows no longer follow the inputs: whoever wants them asks for them."""

_TURN: Final = {"sin": 2 * math.pi, "cos": 2 * math.pi, "tan": math.pi, "floor": 1.0}
"""By how much the argument of a function grows in one of its periods."""

_CASES: Final = ("if", "max", "min", "sign")


def default_rows(graph: PowerGraph, values: Mapping[str, float], until: float, variables: int) -> int:
    """Rows for a run until a time. Models with modes have rows at every change beside these."""
    if graph.switching or not math.isfinite(until):
        return DEFAULT_ROWS
    turns = max((abs(rate) * until for rate in _frequencies(graph, values, until)), default=0.0)
    most = min(MOST_ROWS, MOST_VALUES // max(variables, 1))
    return max(DEFAULT_ROWS, min(math.ceil(turns * ROWS_A_PERIOD) + 1, most))


def longest_step(graph: PowerGraph, values: Mapping[str, float], until: float) -> float:
    """How long steps may be where laws or signals have cases: while a diode blocks, no state feels what will open it."""
    if not math.isfinite(until) or not (graph.switching or any(map(_has_cases, _cased(graph)))):
        return math.inf
    fastest = max((abs(rate) for rate in _frequencies(graph, values, until)), default=0.0)
    return 1.0 / (STEPS_A_PERIOD * fastest) if fastest > 0.0 else math.inf


def _has_cases(formula: Expression) -> bool:
    return any(isinstance(node, Call) and node.name in _CASES for node in postorder(formula))


def _cased(graph: PowerGraph) -> Iterator[Expression]:
    """The formulas whose cases may depend on what an input does."""
    yield from _formulas(graph)
    for port in graph.ports:
        if isinstance(port.law, ResistiveLaw) and port.law.expression is not None:
            yield port.law.expression


def _frequencies(graph: PowerGraph, values: Mapping[str, float], until: float) -> Iterator[float]:
    """The frequencies at both ends of the run of what turns with time alone."""
    known = values.keys() | {TIME}
    for node in (node for formula in _formulas(graph) for node in postorder(formula)):
        if isinstance(node, Call) and node.name in _TURN and TIME in node.free_symbols and node.free_symbols <= known:
            rate = derivative(node.arguments[0], TIME)
            for t in (0.0, until):
                try:
                    found = rate.evaluate({**values, TIME: t})
                except (ArithmeticError, ValueError):
                    continue
                if math.isfinite(found):
                    yield found / _TURN[node.name]


def _formulas(graph: PowerGraph) -> Iterator[Expression]:
    for port in graph.ports:
        if isinstance(port.law, SourceLaw) and port.law.signal is not None:
            yield port.law.signal
    for law in graph.signals:
        yield from (given for name in ("expression", "rate") if (given := getattr(law, name, None)) is not None)
