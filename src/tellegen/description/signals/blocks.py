"""The table of signal blocks: words, keys, defaults and meaning. Reader, JSON Schema and reference page are made from it."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal, NamedTuple, final

from tellegen.core.units import Dimension
from tellegen.description.dimensions import NUMBER, UNKNOWN, Measure, Open, like, product_of
from tellegen.description.signals import expansion
from tellegen.description.signals.expansion import Fresh, Given
from tellegen.description.signals.values import SignalDefinition
from tellegen.expressions import ZERO
from tellegen.expressions.rules import DIVISION

Reads = Literal["formula", "formulas", "constant", "time", "limits", "word", "table", "nodes", "arguments"]
"""What a key holds.

- formula: an expression of variables, signals, parameters and time; formulas: a list of them
- constant: an expression of parameters; time: one in seconds, positive
- limits: two formulas, the lower one first
- word: one of a few; table: points or a file; nodes: two nodes; arguments: what a Python function is given
"""

FORMULA = "formula"
PYTHON = "python"
SECOND: Measure = Dimension(s=1)


@final
class Key(NamedTuple):
    """A key of a block. `default` is what stands where it is left out, as it would be written; empty for `none`."""

    name: str
    reads: Reads
    summary: str
    default: str = ""
    required: bool = False
    words: tuple[str, ...] = ()
    from_zero: bool = False


Measures = Mapping[str, tuple[Measure, ...]]
"""What is known about the units of the settings of a block, by key."""


@final
class Block(NamedTuple):
    """A kind of signal block; its first key is its word. `measure` gives the unit of its output, from those of its settings."""

    summary: str
    keys: tuple[Key, ...]
    expand: Callable[[Given], Iterator[SignalDefinition]]
    measure: Callable[[Measures], Measure]
    example: str

    @property
    def word(self) -> str:
        """The word of the block."""
        return self.keys[0].name


# Units


def _one(found: Measures, *keys: str) -> Measure:
    """What settings of one kind have in common."""
    return like([m for key in keys for m in found.get(key, ())], "joins")


def _times(gain: Measure, measure: Measure) -> Measure:
    """The unit of a product with a gain; a bare number may carry any unit."""
    return UNKNOWN if isinstance(gain, Open) else product_of([gain, measure])


def _gained(found: Measures, gain: str, key: str) -> list[Measure]:
    return [_times(g, m) for g, m in zip(found.get(gain, ()), found.get(key, ()), strict=False)]


def _over_time(measure: Measure, power: int) -> Measure:
    return measure if isinstance(measure, Open) else measure.times(Dimension(s=power))


def _measure_integral(found: Measures) -> Measure:
    rate = _over_time(_one(found, "integral"), 1)
    # A bare number may carry any unit, and so may its integral.
    return like([UNKNOWN if rate is NUMBER else rate, *found.get("initial", ()), *found.get("limits", ())], "joins")


def _measure_pid(found: Measures) -> Measure:
    shares = _gained(found, "K_p", "pid")
    shares += [_over_time(m, 1) for m in _gained(found, "K_i", "pid")]
    shares += [_over_time(m, -1) for m in _gained(found, "K_d", "pid")]
    return like([*shares, *found.get("limits", ()), *found.get("initial", ())], "joins")


def _measure_feedback(found: Measures) -> Measure:
    ahead = _gained(found, "reference gain", "reference") if "reference gain" in found else found.get("reference", ())
    return like([*_gained(found, "gains", "state feedback"), *ahead], "joins")


def _measure_derivative(found: Measures) -> Measure:
    slope = _over_time(_one(found, "derivative", "initial"), -1)
    return UNKNOWN if slope is NUMBER else slope


def _nothing_known(found: Measures) -> Measure:
    return UNKNOWN


def _like_of(*keys: str) -> Callable[[Measures], Measure]:
    return lambda found: _one(found, *keys)


# The table

_INITIAL = Key("initial", "constant", "its value at the start", "0")
_LIMITS = Key("limits", "limits", "the lowest and the highest value")
_EVERY = Key("every", "time", "the period", required=True)
_OFFSET = Key("offset", "time", "the time of the first sample", "0 s", from_zero=True)

_ROWS = (
    Block(
        "a formula of variables, states, displacements, signals, parameters and the time `t`; a plain text means this block",
        (Key(FORMULA, "formula", "the formula; it may use the shapes", required=True),),
        expansion.itself,
        _like_of(FORMULA),
        "e: omega_ref - omega_m",
    ),
    Block(
        "the integral of its input; with limits it stops there until the input turns back",
        (Key("integral", "formula", "what is integrated", required=True), _INITIAL, _LIMITS),
        expansion.integral,
        _measure_integral,
        "x: {integral: e, initial: 0, limits: [-1, 1]}",
    ),
    Block(
        "a controller `K_p*e + K_i*(integral of e) + K_d*(filtered derivative of e)`; with `every`, computed once a period",
        (
            Key("pid", "formula", "the error `e`", required=True),
            Key("K_p", "formula", "the proportional gain", "0"),
            Key("K_i", "formula", "the integral gain, for each second"),
            Key("K_d", "formula", "the derivative gain, in seconds; it needs a filter"),
            Key("filter", "time", "the time constant of the derivative"),
            _LIMITS,
            Key(
                "anti-windup",
                "word",
                "how the integral part is kept back: it stops within a thousandth beyond a limit, or is drawn back",
                "clamp",
                words=("clamp", "back-calculation"),
            ),
            Key("tracking", "time", "the time constant of back-calculation", "K_p/K_i"),
            Key("initial", "constant", "the integral part at the start", "0"),
            Key("every", "time", "the period of a sampled controller"),
            _OFFSET,
        ),
        expansion.pid,
        _measure_pid,
        "V: {pid: e, K_p: 0.2, K_i: 8, K_d: 1e-4, filter: 1 ms, limits: [-24 V, 24 V]}",
    ),
    Block(
        "a rational function of s, coefficients from the highest power on; its states start at zero",
        (
            Key("transfer function", "formula", "its input", required=True),
            Key("numerator", "formulas", "the coefficients above", required=True),
            Key("denominator", "formulas", "the coefficients below", required=True),
        ),
        expansion.transfer_function,
        _nothing_known,
        "y_f: {transfer function: y, numerator: [1], denominator: [0.1, 1]}",
    ),
    Block(
        "its input through a filter of first order",
        (
            Key("low pass", "formula", "its input", required=True),
            Key("time constant", "time", "how slow it is", required=True),
            _INITIAL,
        ),
        expansion.low_pass,
        _like_of("low pass", "initial"),
        "y_f: {low pass: y, time constant: 10 ms}",
    ),
    Block(
        "the derivative of its input, filtered: `s/(filter*s + 1)`",
        (
            Key("derivative", "formula", "its input", required=True),
            Key("filter", "time", "the time constant of the filter", required=True),
            Key("initial", "constant", "the value of the input before the start", "0"),
        ),
        expansion.derivative,
        _measure_derivative,
        "a: {derivative: v, filter: 1 ms}",
    ),
    Block(
        "`reference gain*reference` less the sum of gains times states",
        (
            Key("state feedback", "formulas", "what is fed back", required=True),
            Key("gains", "formulas", "one gain for each", required=True),
            Key("reference", "formula", "the reference", "0"),
            Key("reference gain", "formula", "what multiplies the reference", "1"),
        ),
        expansion.state_feedback,
        _measure_feedback,
        "u: {state feedback: [I_a, omega_m], gains: [1, 0.1], reference: r}",
    ),
    Block(
        "its input a constant time later",
        (
            Key("delay", "formula", "its input", required=True),
            Key("by", "time", "how much later", required=True),
            Key("initial", "constant", "its value until that time has passed", "0"),
        ),
        expansion.itself,
        _like_of("delay", "initial"),
        "d: {delay: y, by: 5 ms}",
    ),
    Block(
        "its input at the times offset, offset + every, ..., held in between; samples of one instant read the values from before",
        (
            Key("sample", "formula", "its input", required=True),
            _EVERY,
            _OFFSET,
            Key("initial", "constant", "its value before the first sample", "0"),
        ),
        expansion.itself,
        _like_of("sample", "initial"),
        "h: {sample: y, every: 1 ms}",
    ),
    Block(
        "the multiple of a step that is nearest to its input",
        (
            Key("quantise", "formula", "its input", required=True),
            Key("step", "formula", "the distance of two values", required=True),
        ),
        expansion.quantise,
        _like_of("quantise", "step"),
        "q: {quantise: y, step: 0.01}",
    ),
    Block(
        "its input, but never beyond the limits",
        (Key("saturate", "formula", "its input", required=True), _LIMITS._replace(required=True)),
        expansion.saturate,
        _like_of("saturate", "limits"),
        "s: {saturate: y, limits: [0, 1]}",
    ),
    Block(
        "zero while its input is between the limits, beyond them the distance to the nearer one",
        (
            Key("dead zone", "formula", "its input", required=True),
            _LIMITS._replace(required=True, summary="where the zone begins and ends"),
        ),
        expansion.dead_zone,
        _like_of("dead zone", "limits"),
        "z: {dead zone: y, limits: [-0.1, 0.1]}",
    ),
    Block(
        "values between points `[time, value]`, given here or in two columns of a CSV or Parquet file beside the model; beyond the "
        "points the last value holds. `cubic` joins them by cubics with the slopes of Fritsch and Butland (1984): smooth, and "
        "monotonic where the points are, so that nothing overshoots",
        (
            Key("table", "table", "the points, or `{file: run.csv, time: t, column: v}`", required=True),
            Key("at", "formula", "where the table is read", "t"),
            Key(
                "interpolation",
                "word",
                "what holds between points",
                "linear",
                words=("linear", "previous", "cubic"),
            ),
        ),
        expansion.table,
        _like_of("table"),
        "m: {table: {file: run.csv, time: t, column: v}, interpolation: linear}",
    ),
    Block(
        "an ideal sensor: the across variable between two nodes, a voltage or a relative speed",
        (Key("across", "nodes", "the two nodes; one means against the reference", required=True),),
        expansion.itself,
        _like_of("across"),
        "v: {across: [a, b]}",
    ),
    Block(
        "a Python function of the arguments, given in a program and never in a file; slow",
        (
            Key(PYTHON, "arguments", "what the function is given", required=True),
            Key("function", "arguments", "the function"),
        ),
        expansion.itself,
        _nothing_known,
        'net.signal("u", python=["omega", "t"], function=law)',
    ),
)

BLOCKS: dict[str, Block] = {block.word: block for block in _ROWS}
"""Every signal block, by its word."""


def expand(definition: SignalDefinition, fresh: Fresh) -> tuple[SignalDefinition, ...]:
    """The elementary signals of a definition, its own output among them.

    Elementary are the blocks formula, integral, sample, delay, table, across and python.

    Raises: DescriptionError for a block that divides by a setting of zero (D009), or that cannot be made of these.
    """
    try:
        return tuple(BLOCKS[definition.block].expand(Given(definition, fresh)))
    except ZeroDivisionError:
        zeros = [f"'{key}'" for key, given in definition.settings.items() if given is ZERO]
        raise DIVISION.error(
            f"the {definition.block} {definition.name} divides by zero",
            where=definition.name,
            fix=f"give {' or '.join(zeros)} another value, or leave it out" if zeros else "look at its settings",
            place=definition.place,
        ) from None
