"""The table of signal blocks: words, keys, defaults, meaning, and the elementary signals that each block becomes.

Names of inner signals begin with the name of the block: `V_integral` is the integral part of the controller `V`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple, final

from tellegen.core.units import Dimension
from tellegen.expressions import ZERO
from tellegen.expressions.rules import DIVISION
from tellegen.model.dimensions import NUMBER, UNKNOWN, Measure, NoDimension, common_measure, product_measure
from tellegen.model.signals import SignalDefinition
from tellegen.notations.grammar import MAP, NODE, QUANTITY, TABLE_OR_POINTS, Key, Leaf, Listed, Record, Words, schema_of
from tellegen.notations.signals import expansions, latches
from tellegen.notations.signals.block_settings import BlockSettings, NameMaker
from tellegen.notations.signals.units import GIVEN_NAMES

# What a key holds.
INPUT = Leaf("formula", QUANTITY.shape)
"""An expression of variables, signals, parameters and time."""
FORMULAS = Leaf("formulas", schema_of(Listed(QUANTITY, 1, text=True)))
CONSTANT = Leaf("constant", QUANTITY.shape)
"""An expression of parameters."""
PERIOD = Leaf("time", QUANTITY.shape)
"""One in seconds: positive, or zero too where it is zero when left out."""
ZERO_TIME = "0 s"
LIMITS = Leaf("limits", schema_of(Listed(QUANTITY, 2, 2, text=True)))
"""Two formulas, the lower one first."""
POINTS = Leaf("table", schema_of(TABLE_OR_POINTS))
GRID = Leaf("grid", schema_of(MAP))
ENDS = Leaf("nodes", schema_of(Listed(NODE, 1, 2, text=True)))
NEIGHBOURS = Leaf("neighbours", schema_of(Listed(NODE, 2, 2, text=True)))
"""Two elements of a ladder."""
ARGUMENTS = Leaf("arguments", FORMULAS.shape)
"""What a Python function is given."""

CONDITION = Leaf("condition", QUANTITY.shape)
"""A condition, or a signal that is more than zero where it holds."""
STATES = Leaf("states", {"type": "object"})
"""What is said of each state of a machine, by its name."""
UNIT = Leaf("unit", {"type": "string"})
"""The file of a functional mock-up unit."""
GIVEN = Leaf("given", {"type": "object"})
"""Formulas by the names of the inputs of a unit."""
PRESET = Leaf("given", {"type": "object"})
"""Constants by the names of its parameters."""
NAMED = Leaf("named", {"type": "string"})
"""The name of a variable of a unit."""

FORMULA = "formula"
PYTHON = "python"
FUNCTION = "function"
"""The key of a Python function, which no file can hold."""
SECOND: Measure = Dimension(s=1)
FREQUENCY: Measure = Dimension(s=-1)


Measures = Mapping[str, tuple[Measure, ...]]
"""What is known about the units of the settings of a block, by key."""


@final
class SignalBlock(NamedTuple):
    """A kind of signal block; its first key is its word. `measure` gives the unit of its output, from those of its settings."""

    summary: str
    keys: tuple[Key, ...]
    expand: Callable[[BlockSettings], Iterator[SignalDefinition]]
    measure: Callable[[Measures], Measure]
    example: str

    @property
    def word(self) -> str:
        """The word of the block."""
        return self.keys[0].name

    @property
    def record(self) -> Record:
        """The mapping of the block in a file; keys without a sentence hold what the reader keeps beside others."""
        return Record(
            tuple(key for key in self.keys if key.name != FUNCTION and key.summary),
            self.summary,
        )


# Units


def _one(found: Measures, *keys: str) -> Measure:
    """What settings of one kind have in common."""
    return common_measure([m for key in keys for m in found.get(key, ())], "joins")


def _times(gain: Measure, measure: Measure) -> Measure:
    """The unit of a product with a gain; a bare number may carry any unit."""
    return UNKNOWN if isinstance(gain, NoDimension) else product_measure([gain, measure])


def _gained(found: Measures, gain: str, key: str) -> list[Measure]:
    return [_times(g, m) for g, m in zip(found.get(gain, ()), found.get(key, ()), strict=False)]


def _over_time(measure: Measure, power: int) -> Measure:
    return measure if isinstance(measure, NoDimension) else measure.times(Dimension(s=power))


def _measure_integral(found: Measures) -> Measure:
    rate = _over_time(_one(found, "integral"), 1)
    # A bare number may carry any unit, and so may its integral.
    return common_measure(
        [UNKNOWN if rate is NUMBER else rate, *found.get("initial", ()), *found.get("limits", ())], "joins"
    )


def _measure_pid(found: Measures) -> Measure:
    shares = _gained(found, "K_p", "pid")
    shares += [_over_time(m, 1) for m in _gained(found, "K_i", "pid")]
    shares += [_over_time(m, -1) for m in _gained(found, "K_d", "pid")]
    return common_measure([*shares, *found.get("limits", ()), *found.get("initial", ())], "joins")


def _measure_feedback(found: Measures) -> Measure:
    ahead = _gained(found, "reference gain", "reference") if "reference gain" in found else found.get("reference", ())
    return common_measure([*_gained(found, "gains", "state feedback"), *ahead], "joins")


def _measure_derivative(found: Measures) -> Measure:
    slope = _over_time(_one(found, "derivative", "initial"), -1)
    return UNKNOWN if slope is NUMBER else slope


def _measure_filter(found: Measures) -> Measure:
    common_measure([*found.get("corner", ()), FREQUENCY], "joins")
    return _one(found, "filter")


def _measure_relay(found: Measures) -> Measure:
    _one(found, "relay", "hysteresis")
    return _one(found, "height")


def _in_seconds(found: Measures) -> Measure:
    return SECOND


def _nothing_known(found: Measures) -> Measure:
    return UNKNOWN


def _like_of(*keys: str) -> Callable[[Measures], Measure]:
    return lambda found: _one(found, *keys)


# The table

_INITIAL = Key("initial", CONSTANT, "its value at the start", default="0")
_LIMITS = Key("limits", LIMITS, "the lowest and the highest value")
_EVERY = Key("every", PERIOD, "the period", required=True)
_OFFSET = Key("offset", PERIOD, "the time of the first sample", default=ZERO_TIME)

_ROWS = (
    SignalBlock(
        "a formula of variables, states, displacements, signals, parameters and the time `t`; a plain text means this block",
        (
            Key(FORMULA, INPUT, "the formula; it may use the shapes", required=True),
            Key("between", NEIGHBOURS, "two elements: the formula is what a power section between them passes on"),
        ),
        expansions.expand_itself,
        _like_of(FORMULA),
        "e: omega_ref - omega_m",
    ),
    SignalBlock(
        "the integral of its input; with limits it stops there until the input turns back",
        (Key("integral", INPUT, "what is integrated", required=True), _INITIAL, _LIMITS),
        expansions.expand_integral,
        _measure_integral,
        "x: {integral: e, initial: 0, limits: [-1, 1]}",
    ),
    SignalBlock(
        "a controller `K_p*e + K_i*(integral of e) + K_d*(filtered derivative of e)`; with `every`, computed once a period",
        (
            Key("pid", INPUT, "the error `e`", required=True),
            Key("K_p", INPUT, "the proportional gain", default="0"),
            Key("K_i", INPUT, "the integral gain, for each second"),
            Key("K_d", INPUT, "the derivative gain, in seconds; it needs a filter"),
            Key("filter", PERIOD, "the time constant of the derivative"),
            _LIMITS,
            Key(
                "anti-windup",
                Words(("clamp", "back-calculation")),
                "how the integral part is kept back: it stops within a thousandth beyond a limit, or is drawn back",
                default="clamp",
            ),
            Key("tracking", PERIOD, "the time constant of back-calculation", default="K_p/K_i"),
            Key("initial", CONSTANT, "the integral part at the start", default="0"),
            Key("every", PERIOD, "the period of a sampled controller"),
            _OFFSET,
        ),
        expansions.expand_pid,
        _measure_pid,
        "V: {pid: e, K_p: 0.2, K_i: 8, K_d: 1e-4, filter: 1 ms, limits: [-24 V, 24 V]}",
    ),
    SignalBlock(
        "a rational function of s, coefficients from the highest power on; its states start at zero",
        (
            Key("transfer function", INPUT, "its input", required=True),
            Key("numerator", FORMULAS, "the coefficients above", required=True),
            Key("denominator", FORMULAS, "the coefficients below", required=True),
        ),
        expansions.expand_transfer_function,
        _nothing_known,
        "y_f: {transfer function: y, numerator: [1], denominator: [0.1, 1]}",
    ),
    SignalBlock(
        "its input through a filter of first order",
        (
            Key("low pass", INPUT, "its input", required=True),
            Key("time constant", PERIOD, "how slow it is", required=True),
            _INITIAL,
        ),
        expansions.expand_low_pass,
        _like_of("low pass", "initial"),
        "y_f: {low pass: y, time constant: 10 ms}",
    ),
    SignalBlock(
        "the derivative of its input, filtered: `s/(filter*s + 1)`",
        (
            Key("derivative", INPUT, "its input", required=True),
            Key("filter", PERIOD, "the time constant of the filter", required=True),
            Key("initial", CONSTANT, "the value of the input before the start", default="0"),
        ),
        expansions.expand_derivative,
        _measure_derivative,
        "a: {derivative: v, filter: 1 ms}",
    ),
    SignalBlock(
        "its input through a Butterworth filter, down by 3 dB at its corner; its states start at zero",
        (
            Key("filter", INPUT, "its input", required=True),
            Key("corner", FORMULAS, "the corner frequency, or `[low, high]` of a band pass", required=True),
            Key("order", CONSTANT, "how steep: 20 dB a decade for each, a number from 1 to 10", default="2"),
            Key("pass", Words(("low", "high", "band")), "what passes", default="low"),
        ),
        expansions.expand_filter,
        _measure_filter,
        "y_f: {filter: y, corner: 50 Hz, order: 4}",
    ),
    SignalBlock(
        "its input, without any lag where that is slow enough; else it goes on at a limit of its rate until it meets the input",
        (
            Key("rate limit", INPUT, "its input", required=True),
            _LIMITS._replace(required=True, summary="the lowest and the highest rate"),
            Key("time constant", PERIOD, "how much earlier than it should it may be on its way", default="1 us"),
            _INITIAL,
            Key("every", PERIOD, "the period of a sampled one, which needs no time constant"),
            _OFFSET,
        ),
        expansions.expand_rate_limit,
        _like_of("rate limit", "initial"),
        "r_l: {rate limit: r, limits: [-2 V/s, 2 V/s]}",
    ),
    SignalBlock(
        "`height` for a share of each period, the duty, which is read when the period begins; or the mean of that",
        (
            Key("pwm", INPUT, "the duty, from 0 to 1", required=True),
            _EVERY,
            _OFFSET,
            Key("height", INPUT, "its value while it is on", default="1"),
            Key("as", Words(("switched", "averaged")), "each switching, or the mean over a period", default="switched"),
        ),
        expansions.expand_pwm,
        _like_of("height"),
        "s: {pwm: d, every: 50 us}",
    ),
    SignalBlock(
        "normal noise of a deviation, drawn anew in each period and held: white up to some half of the sampling frequency. Another "
        "seed draws other numbers, the same seed the same ones, in every tool",
        (
            Key("noise", INPUT, "its standard deviation", required=True),
            _EVERY,
            _OFFSET,
            Key("seed", CONSTANT, "any number", default="1"),
        ),
        expansions.expand_noise,
        _like_of("noise"),
        "n: {noise: 2 mV, every: 1 ms, seed: 7}",
    ),
    SignalBlock(
        "Clarke's transformation of three phases, amplitudes kept: along the axis alpha of the first phase, beta, or their mean",
        (
            Key("clarke", FORMULAS, "the three phases", required=True),
            Key("axis", Words(("alpha", "beta", "zero")), "along which axis", default="alpha"),
        ),
        expansions.expand_clarke,
        _like_of("clarke"),
        "i_alpha: {clarke: [i_a, i_b, i_c], axis: alpha}",
    ),
    SignalBlock(
        "Park's transformation of three phases, amplitudes kept: along the axis d at an angle, q ahead of it, or their mean",
        (
            Key("park", FORMULAS, "the three phases", required=True),
            Key("angle", INPUT, "the electrical angle of d from the first phase", required=True),
            Key("axis", Words(("d", "q", "zero")), "along which axis", default="d"),
        ),
        expansions.expand_park,
        _like_of("park"),
        "i_q: {park: [i_a, i_b, i_c], angle: p*theta, axis: q}",
    ),
    SignalBlock(
        "one of three phases of what is told along d and q, or along alpha and beta without an angle",
        (
            Key("inverse park", FORMULAS, "along d and along q", required=True),
            Key("angle", INPUT, "the electrical angle of d from the first phase", default="0"),
            Key("phase", Words(("a", "b", "c")), "which phase", default="a"),
        ),
        expansions.expand_inverse_park,
        _like_of("inverse park"),
        "v_b: {inverse park: [v_d, v_q], angle: p*theta, phase: b}",
    ),
    SignalBlock(
        "`reference gain*reference` less the sum of gains times states",
        (
            Key("state feedback", FORMULAS, "what is fed back", required=True),
            Key("gains", FORMULAS, "one gain for each", required=True),
            Key("reference", INPUT, "the reference", default="0"),
            Key("reference gain", INPUT, "what multiplies the reference", default="1"),
        ),
        expansions.expand_state_feedback,
        _measure_feedback,
        "u: {state feedback: [I_a, omega_m], gains: [1, 0.1], reference: r}",
    ),
    SignalBlock(
        "its input a constant time later",
        (
            Key("delay", INPUT, "its input", required=True),
            Key("by", PERIOD, "how much later", required=True),
            Key("initial", CONSTANT, "its value until that time has passed", default="0"),
        ),
        expansions.expand_itself,
        _like_of("delay", "initial"),
        "d: {delay: y, by: 5 ms}",
    ),
    SignalBlock(
        "its input at the times offset, offset + every, ..., held in between; samples of one instant read the values from before",
        (
            Key("sample", INPUT, "its input", required=True),
            _EVERY,
            _OFFSET,
            Key("initial", CONSTANT, "its value before the first sample", default="0"),
        ),
        expansions.expand_itself,
        _like_of("sample", "initial"),
        "h: {sample: y, every: 1 ms}",
    ),
    SignalBlock(
        "1 from the instant on at which its input rises to half of the hysteresis, 0 from where it falls to minus half of it: a "
        "thermostat is a relay of the missing temperature",
        (
            Key("relay", INPUT, "its input", required=True),
            Key("hysteresis", INPUT, "how far apart switching on and off are", required=True),
            Key("height", INPUT, "its value while it is on", default="1"),
            Key("initial", CONSTANT, "1 where it is on before the start", default="0"),
        ),
        latches.expand_relay,
        _measure_relay,
        "on: {relay: 293 K - T, hysteresis: 1 K}",
    ),
    SignalBlock(
        "how often a condition has become true; one that is true at the start counts",
        (
            Key("count", CONDITION, "the condition: a comparison, or a signal that is more than zero", required=True),
            Key("reset", CONDITION, "while it holds the counter stays at zero"),
            _INITIAL,
        ),
        latches.expand_count,
        _nothing_known,
        "n: {count: x > 1 mm, reset: t < 1 s}",
    ),
    SignalBlock(
        "for how long a condition has held; zero while it does not",
        (Key("timer", CONDITION, "the condition: a comparison, or a signal that is more than zero", required=True),),
        latches.expand_timer,
        _in_seconds,
        "late: {timer: T > 350 K}",
    ),
    SignalBlock(
        "its input at the instant at which a condition last became true",
        (
            Key("hold", INPUT, "its input", required=True),
            Key("when", CONDITION, "the condition: a comparison, or a signal that is more than zero", required=True),
            _INITIAL._replace(summary="its value before the first of these instants"),
        ),
        latches.expand_hold,
        _like_of("hold", "initial"),
        "peak: {hold: x, when: v < 0}",
    ),
    SignalBlock(
        "a machine with states, the first one at the start; each other is entered as soon as its condition holds, and the one that "
        "stands first where several do. Of each state is said `when` it is entered, `from` which others (from all where that is "
        "left out), `after` how long the state before must have lasted, and which `value` the signal has in it (its number from 0)",
        (
            Key(
                "states",
                STATES,
                "`{NAME: {when: condition, from: [OTHER], after: time, value: formula}}`",
                required=True,
            ),
            Key(latches.NAMES, NAMED),
            *(Key(word, FORMULAS) for word in latches.STATE_KEYS),
        ),
        latches.expand_states,
        _like_of("value"),
        "P: {states: {idle: {value: 0 W}, run: {when: T < 290 K, from: idle, value: 2 kW}, stop: {when: t > 1 h, value: 0 W}}}",
    ),
    SignalBlock(
        "the multiple of a step that is nearest to its input",
        (
            Key("quantise", INPUT, "its input", required=True),
            Key("step", INPUT, "the distance of two values", required=True),
        ),
        expansions.expand_quantisation,
        _like_of("quantise", "step"),
        "q: {quantise: y, step: 0.01}",
    ),
    SignalBlock(
        "its input, but never beyond the limits",
        (Key("saturate", INPUT, "its input", required=True), _LIMITS._replace(required=True)),
        expansions.expand_saturation,
        _like_of("saturate", "limits"),
        "s: {saturate: y, limits: [0, 1]}",
    ),
    SignalBlock(
        "zero while its input is between the limits, beyond them the distance to the nearer one",
        (
            Key("dead zone", INPUT, "its input", required=True),
            _LIMITS._replace(required=True, summary="where the zone begins and ends"),
        ),
        expansions.expand_dead_zone,
        _like_of("dead zone", "limits"),
        "z: {dead zone: y, limits: [-0.1, 0.1]}",
    ),
    SignalBlock(
        "values between points `[time, value]`, given here or in two columns of a CSV or Parquet file beside the model; beyond the "
        "points the last value holds. `cubic` joins them by cubics with the slopes of Fritsch and Butland (1984): smooth, and "
        "monotonic where the points are, so that nothing overshoots. Where time leads the table, solvers stop at its points",
        (
            Key("table", POINTS, "the points, or `{file: run.csv, time: t, column: v}`", required=True),
            Key("at", INPUT, "where the table is read", default="t"),
            Key("interpolation", Words(("linear", "previous", "cubic")), "what holds between points", default="linear"),
        ),
        expansions.expand_table,
        _like_of("table"),
        "m: {table: {file: run.csv, time: t, column: v}, interpolation: linear}",
    ),
    SignalBlock(
        "values over two arguments, as maps of motors, pumps and turbines tell them, given here or in a CSV file beside the "
        "model (its first line has the columns behind an empty place, each other line a row and its values); beyond the grid the "
        "last value holds. `cubic` is smooth, and rises and falls only where the values do, along rows and columns",
        (
            Key(
                "map",
                GRID,
                "`{rows: [...], columns: [...], values: [[...], ...]}`, or `{file: eta.csv}`",
                required=True,
            ),
            Key("at", FORMULAS, "where it is read: the place among the rows, and among the columns", required=True),
            Key("interpolation", Words(("linear", "cubic")), "what holds between points", default="linear"),
        ),
        expansions.expand_map,
        _like_of("map"),
        "eta: {map: {file: eta.csv, row unit: rpm, column unit: N*m}, at: [omega, tau]}",
    ),
    SignalBlock(
        "an ideal sensor: the across variable between two nodes, a voltage or a relative speed",
        (Key("across", ENDS, "the two nodes; one means against the reference", required=True),),
        expansions.expand_itself,
        _like_of("across"),
        "v: {across: [a, b]}",
    ),
    SignalBlock(
        "a Python function of the arguments, given in a program and never in a file; slow",
        (Key(PYTHON, ARGUMENTS, "what the function is given", required=True), Key(FUNCTION, ARGUMENTS, "the function")),
        expansions.expand_itself,
        _nothing_known,
        'net.signal("u", python=["omega", "t"], function=law)',
    ),
    SignalBlock(
        "a functional mock-up unit beside the model, of FMI 2.0 or 3.0: its first output. Without `every` it is for model "
        "exchange: its states are states of the model, its events restart the run. With `every` it is for co-simulation: it "
        "steps by itself, and its outputs are held. Its machine code runs when the model is simulated",
        (
            Key("fmu", UNIT, "the file", required=True),
            Key("inputs", GIVEN, "formulas by the names of its inputs; others stay zero or as the unit has them"),
            Key("parameters", PRESET, "constants by the names of its parameters, in its own units"),
            Key("every", PERIOD, "the time between two exchanges"),
            *(Key(name, NAMED) for name in GIVEN_NAMES.values()),
        ),
        expansions.expand_unit,
        _nothing_known,
        "ball: {fmu: ball.fmu, parameters: {e: 0.8}}",
    ),
    SignalBlock(
        "a further output, or a state, of a functional mock-up unit",
        (
            Key("output", NAMED, "the name that the unit has for it", required=True),
            Key("of", INPUT, "the signal that brings the unit", required=True),
        ),
        expansions.expand_output,
        _nothing_known,
        "h: {output: h, of: ball}",
    ),
)

BLOCKS: dict[str, SignalBlock] = {block.word: block for block in _ROWS}
"""Every signal block, by its word."""


def expand_signal(definition: SignalDefinition, fresh: NameMaker) -> tuple[SignalDefinition, ...]:
    """The elementary signals of a definition, its own output among them.

    Elementary are the blocks formula, integral, sample, latch, delay, table, across and python.

    Raises: DescriptionError for a block that divides by a setting of zero (D009), or that cannot be made of these.
    """
    try:
        return tuple(BLOCKS[definition.block].expand(BlockSettings(definition, fresh)))
    except ZeroDivisionError:
        zeros = [f"'{key}'" for key, given in definition.settings.items() if given is ZERO]
        what = f"the {definition.block} {definition.name} divides by zero"
        fix = f"give {' or '.join(zeros)} another value, or leave it out" if zeros else "look at its settings"
        raise DIVISION.error(what, where=definition.name, fix=fix, place=definition.place) from None
