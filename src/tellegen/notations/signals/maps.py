"""The signal block `map`: values over two arguments, as in the maps of motors, pumps and turbines.

It becomes tables of one argument: a table along the rows for each column, and one that tells the way between two columns. So
every tool that knows tables knows maps.
"""

from itertools import pairwise

from tellegen.expressions import ZERO, Expression, as_expression, call, symbol, total
from tellegen.model.signals import MapPoints, Points
from tellegen.notations.signals.block_settings import BlockSettings, SignalParts

TINY = as_expression(1e-60)


def expand_map(given: BlockSettings) -> SignalParts:
    """The value at two places."""
    grid, how = given.settings["map"], given.word("interpolation", "linear")
    assert isinstance(grid, MapPoints), "the reader has read a grid"
    row, column = given.several("at")
    along: list[Expression] = []
    for k in range(len(grid.columns)):
        points = Points(grid.rows, tuple(line[k] for line in grid.values))
        name = given.inner(f"column_{k + 1}", alike=True)
        yield given.part(name, "table", table=points, at=row, interpolation=how)
        along.append(symbol(name))
    shares = []
    for k, (low, high) in enumerate(pairwise(grid.columns)):
        name = given.inner(f"share_{k + 1}")
        yield given.part(name, "table", table=Points((low, high), (0.0, 1.0)), at=column, interpolation="linear")
        shares.append(symbol(name))
    widths = [as_expression(high - low) for low, high in pairwise(grid.columns)]
    rises = [high - low for low, high in pairwise(along)]
    if how == "linear":
        yield given.formula(given.name, along[0] + total(s * rise for s, rise in zip(shares, rises, strict=True)))
        return
    slopes = _monotone_slopes(widths, [rise / width for rise, width in zip(rises, widths, strict=True)])
    steps = zip(shares, rises, widths, pairwise(slopes), strict=True)
    yield given.formula(given.name, along[0] + total(_risen(s, rise, width, *ends) for s, rise, width, ends in steps))


def _risen(s: Expression, rise: Expression, width: Expression, first: Expression, last: Expression) -> Expression:
    """How far a cubic with the slopes of both ends has risen at a share of the way."""
    return rise * (3 * s**2 - 2 * s**3) + width * (first * (s**3 - 2 * s**2 + s) + last * (s**3 - s**2))


def _monotone_slopes(widths: list[Expression], rises: list[Expression]) -> list[Expression]:
    """Slopes of Fritsch and Butland (1984), as tables of one argument have them, where values are not known before the run."""
    found = [rises[0]]
    for (h, k), (left, right) in zip(pairwise(widths), pairwise(rises), strict=True):
        # The harmonic mean, weighted by the distances; zero at a peak. Without a quotient of what may be zero.
        weighted = (2 * k + h) * right + (k + 2 * h) * left
        found.append(3 * (h + k) * call("max", left * right, ZERO) * weighted / (weighted**2 + TINY))
    return [*found, rises[-1]]
