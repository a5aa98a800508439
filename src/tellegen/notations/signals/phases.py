"""Signal blocks of machines with three phases: Clarke's and Park's transformations, both ways.

They keep amplitudes: a balanced system of amplitude 1 has an arrow of length 1. A power told by two axes takes a factor of 3/2.
"""

from tellegen.expressions import PI, Expression, call, total
from tellegen.notations.signals.block_settings import BlockSettings, SignalParts

PHASES = 3


def _lag(k: int) -> Expression:
    """The angle by which a phase comes later than the first."""
    return 2 * PI * k / PHASES


def expand_clarke(given: BlockSettings) -> SignalParts:
    """What three phases are along an axis at rest, or all together."""
    yield given.formula(given.name, _along(given, "clarke", {"alpha": 0 * PI, "beta": PI / 2}))


def expand_park(given: BlockSettings) -> SignalParts:
    """What three phases are along an axis that turns, or all together."""
    angle = given.expression("angle")
    yield given.formula(given.name, _along(given, "park", {"d": angle, "q": angle + PI / 2}))


def _along(given: BlockSettings, key: str, axes: dict[str, Expression]) -> Expression:
    phases, axis = _phases(given, key, PHASES), given.word("axis", next(iter(axes)))
    if axis == "zero":
        return total(phases) / PHASES
    return 2 * total(call("cos", axes[axis] - _lag(k)) * phase for k, phase in enumerate(phases)) / PHASES


def expand_inverse_park(given: BlockSettings) -> SignalParts:
    """One of three phases of an arrow that is told along axes that turn, or at rest without an angle."""
    d, q = _phases(given, "inverse park", 2)
    angle = given.expression("angle") - _lag("abc".index(given.word("phase", "a")))
    yield given.formula(given.name, d * call("cos", angle) - q * call("sin", angle))


def _phases(given: BlockSettings, key: str, count: int) -> tuple[Expression, ...]:
    found = given.several(key)
    if len(found) != count:
        raise given.refused(f"'{key}' has {len(found)} formulas", fix=f"give {count}")
    return found
