"""Laws that are infinitely steep at zero, such as that of an orifice, softened where the tolerance hides it.

The flow of Q = K*sqrt(P) changes without bound while P changes by less than a run can tell from zero, so that no solver settles
there. With s = sqrt(x^2 + d^2), a law f(x) is replaced by

    f(0) + |x|/s (f(s) - f(0)) where x > 0,   f(0) + |x|/s (f(-s) - f(0)) where x < 0

which is K x/(x^2 + d^2)^(1/4) for an orifice of both ways (Merritt, Hydraulic Control Systems, 1967), nothing where nothing passes,
and f itself where x is far from zero. To have the same flow, x moves by no more than d: one tolerance of the largest across or
through variable that is given.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from tellegen.core.domains import Side, other_side
from tellegen.core.names import TIME, identifier, unused
from tellegen.expressions import ZERO, Expression, call, number, postorder, relation, symbol
from tellegen.expressions.nodes import Mul, Number, Pow
from tellegen.graph import PowerGraph, ResistiveLaw, SourceLaw, StorageLaw
from tellegen.graph.power_graph import ARGUMENT, argument

LEAST_SIZE: Final = 1e-3
"""What counts as the size of a variable of which nothing is given, in SI units: default tolerances take the same."""

NEAR: Final = 1e-8
NEARER: Final = 1e-12
"""Where a law is looked at, beside the size of its argument."""

STEEPER: Final = 5.0
JUMP: Final = 0.5
"""From near to nearer the secant of a steep law grows so many times, and the law falls below this share: else it jumps."""

LOOKS: Final = 256


def soften_laws(
    graph: PowerGraph,
    values: Mapping[str, float],
    start: Mapping[str, float],
    inputs: Mapping[str, float],
    until: float,
    rtol: float,
) -> PowerGraph:
    """The graph with its infinitely steep laws softened.

    The width of each is a parameter of the graph, so that another tolerance needs no other program. `start` and `inputs` are
    initial values and constant inputs by name.
    """
    sizes: dict[tuple[str, Side], float] = {}
    widths: dict[str, Expression | None] = {}
    ports = list(graph.ports)
    for k, port in enumerate(ports):
        law = port.law
        if not isinstance(law, ResistiveLaw) or law.expression is None or not _has_roots(law.expression):
            continue
        side = other_side(law.side)
        if (port.domain, side) not in sizes:
            sizes[port.domain, side] = _size(graph, port.domain, side, values, start, inputs, until)
        size = sizes[port.domain, side]
        if is_steep(law.expression, values, size):
            name = unused(f"softness_{identifier(port.element)}", graph.parameters)
            widths[name] = number(rtol * size)
            ports[k] = replace(port, law=replace(law, expression=softened(law.expression, symbol(name))))
    return replace(graph, ports=tuple(ports), parameters={**graph.parameters, **widths}) if widths else graph


def softened(law: Expression, width: Expression) -> Expression:
    """The law without its steep place."""
    x = argument()
    s = call("sqrt", x * x + width * width)
    middle, above, below = (law.substitute({ARGUMENT: at}) for at in (ZERO, s, -s))
    rise = call("if", relation(">", x, ZERO), above - middle, middle - below)  # an event: a solver would step over it
    return middle + rise * x / s


def is_steep(law: Expression, values: Mapping[str, float], size: float) -> bool:
    """Whether the slope of a law grows without bound towards zero, where it is continuous. Names without a value count as one."""
    known = {name: values.get(name, 1.0) for name in law.free_symbols}
    try:
        middle = law.evaluate({**known, ARGUMENT: 0.0})
        far, near = (_rise(law, known, middle, share * size) for share in (NEAR, NEARER))
    except (ArithmeticError, ValueError):
        return False
    return far > 0.0 and near < JUMP * far and near / NEARER > STEEPER * far / NEAR


def _rise(law: Expression, known: Mapping[str, float], middle: float, x: float) -> float:
    """How far a law is from its value at zero, on the side where it is farther."""
    return max(abs(law.evaluate({**known, ARGUMENT: at}) - middle) for at in (x, -x))


def _has_roots(law: Expression) -> bool:
    """Whether a law holds a power below one of something: nothing else is steep where it is continuous."""
    for node in postorder(law):
        if isinstance(node, Mul) and any(0 < q < 1 for _, q in node.factors):
            return True
        if isinstance(node, Pow) and not (isinstance(node.exponent, Number) and not 0 < node.exponent.value < 1):
            return True
    return False


def _size(
    graph: PowerGraph,
    domain: str,
    side: Side,
    values: Mapping[str, float],
    start: Mapping[str, float],
    inputs: Mapping[str, float],
    until: float,
) -> float:
    """The largest value that initial values and sources give to a kind of variable."""
    found = [LEAST_SIZE]
    for port in graph.ports:
        law = port.law
        if port.domain != domain or isinstance(law, ResistiveLaw) or law.side != side:
            continue
        if isinstance(law, StorageLaw) and not law.keeps_energy_variable:
            found.append(abs(start.get(port.state, 0.0)))
        elif isinstance(law, SourceLaw):
            found += _course(law, values, inputs, until)
    return max(x for x in found if math.isfinite(x))


def _course(law: SourceLaw, values: Mapping[str, float], inputs: Mapping[str, float], until: float) -> Iterator[float]:
    """Sizes of what a source gives; nothing where it follows other signals."""
    if law.signal is None:
        yield abs(inputs.get(law.input, 0.0))
    elif law.signal.free_symbols <= {*values, TIME}:
        for k in range(LOOKS + 1):
            try:
                yield abs(law.signal.evaluate({**values, TIME: until * k / LOOKS}))
            except (ArithmeticError, ValueError):
                return
