"""What blocks are made of: every block becomes formulas, integrals, samples, delays, tables and functions.

Names of inner signals begin with the name of the block: `V_integral` is the integral part of the controller `V`.
"""

from collections.abc import Callable, Iterator
from typing import final

from tellegen.core.names import TIME
from tellegen.description.signals import rules
from tellegen.description.signals.values import SignalDefinition, SignalSetting
from tellegen.expressions import ONE, ZERO, Expression, Number, call, logic, relation, symbol, total

Parts = Iterator[SignalDefinition]
Fresh = Callable[[str], str]
"""Makes a name that nothing else has."""

CLAMPING = ONE / 1000
"""The width, beside the parts of a controller, in which clamping stops its integral.

An integral that stops dead at a limit often has no motion to follow: going on drives the output beyond the limit, standing still
lets it fall back, again and again in no time. Over a width it finds the rate at which the output stays at the limit.
"""
TINY = ONE / 10**60


@final
class Given:
    """The settings of one block, with its defaults."""

    def __init__(self, definition: SignalDefinition, fresh: Fresh) -> None:
        self.definition = definition
        self.fresh = fresh
        self.name = definition.name
        self.settings = definition.settings

    def __contains__(self, key: str) -> bool:
        return key in self.settings

    def expression(self, key: str, default: Expression = ZERO) -> Expression:
        """The formula of a key."""
        found = self.settings.get(key, default)
        assert isinstance(found, Expression), f"'{key}' holds a formula"
        return found

    def several(self, key: str) -> tuple[Expression, ...]:
        """The formulas of a key that holds a list."""
        found = self.settings.get(key, ())
        assert isinstance(found, tuple), f"'{key}' holds a list"
        return tuple(e for e in found if isinstance(e, Expression))

    def word(self, key: str, default: str) -> str:
        """The word of a key."""
        found = self.settings.get(key, default)
        assert isinstance(found, str), f"'{key}' holds a word"
        return found

    def inner(self, suffix: str) -> str:
        """A name for an inner signal."""
        return self.fresh(f"{self.name}_{suffix}")

    def part(self, name: str, block: str, **settings: SignalSetting) -> SignalDefinition:
        """An inner signal, or the block's own output."""
        own = name == self.name
        dimension, unit = (self.definition.dimension, self.definition.unit) if own else (None, "")
        return SignalDefinition(name, block, settings, dimension, self.definition.place, unit=unit)

    def formula(self, name: str, expression: Expression) -> SignalDefinition:
        """An inner signal that is a formula."""
        return self.part(name, "formula", formula=expression)

    def limited(self, x: Expression) -> Expression:
        """x between the limits of the block, x itself where it has none."""
        limits = self.several("limits")
        return call("min", call("max", x, limits[0]), limits[1]) if limits else x


def itself(given: Given) -> Parts:
    """A block that needs no others."""
    yield given.definition


def integral(given: Given) -> Parts:
    """The integral; with limits it stops there until its input turns back."""
    rate = given.expression("integral")
    limits = given.several("limits")
    if limits:
        x = symbol(given.name)
        outward = logic(
            "or",
            logic("and", relation(">=", x, limits[1]), relation(">", rate, ZERO)),
            logic("and", relation("<=", x, limits[0]), relation("<", rate, ZERO)),
        )
        rate = call("if", outward, ZERO, rate)
    yield given.part(given.name, "integral", integral=rate, initial=given.expression("initial"))


def pid(given: Given) -> Parts:
    """P + I + D of the error, the derivative filtered, the output limited, the integral kept from winding up."""
    yield from _sampled_pid(given) if "every" in given else _continuous_pid(given)


def _continuous_pid(given: Given) -> Parts:
    e = given.expression("pid")
    terms = [given.expression("K_p") * e]
    if "K_d" in given:
        T_f = given.expression("filter")
        filtered = given.inner("filter")
        slope = (e - symbol(filtered)) / T_f
        yield given.part(filtered, "integral", integral=slope, initial=ZERO)
        terms.append(given.expression("K_d") * slope)
    if "K_i" not in given:
        yield given.formula(given.name, given.limited(total(terms)))
        return
    state = given.inner("integral")
    asked = total([*terms, symbol(state)])
    rate = given.expression("K_i") * e
    if "limits" in given:
        unlimited = given.inner("unlimited")
        yield given.formula(unlimited, asked)
        asked = symbol(unlimited)
        rate = _kept_from_winding_up(given, asked, rate, size=_magnitude([*terms, symbol(state)]))
    yield given.part(state, "integral", integral=rate, initial=given.expression("initial"))
    yield given.formula(given.name, given.limited(asked))


def _kept_from_winding_up(given: Given, asked: Expression, rate: Expression, *, size: Expression) -> Expression:
    if given.word("anti-windup", "clamp") == "back-calculation":
        return rate + (symbol(given.name) - asked) / given.expression("tracking", _tracking_time(given))
    low, high = given.several("limits")
    width = CLAMPING * size
    upwards = call("max", rate, ZERO) * _share(ONE - (asked - high) / width)
    return upwards + call("min", rate, ZERO) * _share(ONE - (low - asked) / width)


def _magnitude(parts: list[Expression]) -> Expression:
    """How large the parts of a controller are, where they cancel, too: smooth, and never zero."""
    return call("sqrt", total([*(x**2 for x in parts), TINY]))


def _share(x: Expression) -> Expression:
    return call("min", call("max", x, ZERO), ONE)


def _winding_up(asked: Expression, rate: Expression, low: Expression, high: Expression) -> Expression:
    """Whether the output stands at a limit and the integral would drive it further."""
    return logic(
        "or",
        logic("and", relation(">", asked, high), relation(">", rate, ZERO)),
        logic("and", relation("<", asked, low), relation("<", rate, ZERO)),
    )


def _tracking_time(given: Given) -> Expression:
    """The time of the controller's own integral part, K_p/K_i."""
    return given.expression("K_p") / given.expression("K_i")


def _sampled_pid(given: Given) -> Parts:
    """The same with backward differences, computed once a period; what is sampled reads the values from before."""
    e, h = given.expression("pid"), given.expression("every")
    timing = {"every": h, "offset": given.expression("offset")}
    terms = [given.expression("K_p") * e]
    if "K_d" in given:
        before, held, new = given.inner("error"), given.inner("derivative"), given.inner("slope")
        T_f = given.expression("filter")
        slope = (T_f * symbol(held) + given.expression("K_d") * (e - symbol(before))) / (T_f + h)
        yield given.formula(new, slope)
        yield given.part(before, "sample", sample=e, initial=ZERO, **timing)
        yield given.part(held, "sample", sample=symbol(new), initial=ZERO, **timing)
        terms.append(symbol(new))
    if "K_i" not in given:
        yield given.part(given.name, "sample", sample=given.limited(total(terms)), initial=ZERO, **timing)
        return
    state, unlimited = given.inner("integral"), given.inner("unlimited")
    step = given.expression("K_i") * h * e
    asked = symbol(unlimited)
    yield given.formula(unlimited, total([*terms, symbol(state), step]))
    kept = symbol(state) + (_sampled_step(given, asked, step, h) if "limits" in given else step)
    yield given.part(state, "sample", sample=kept, initial=given.expression("initial"), **timing)
    yield given.part(given.name, "sample", sample=given.limited(asked), initial=ZERO, **timing)


def _sampled_step(given: Given, asked: Expression, step: Expression, h: Expression) -> Expression:
    low, high = given.several("limits")
    if given.word("anti-windup", "clamp") == "back-calculation":
        return step + h * (given.limited(asked) - asked) / given.expression("tracking", _tracking_time(given))
    return call("if", _winding_up(asked, step, low, high), ZERO, step)


def transfer_function(given: Given) -> Parts:
    """The controllable canonical form: a chain of integrals, the last one fed back.

    Raises: DescriptionError for one that is not proper.
    """
    numerator, denominator = _trimmed(given.several("numerator")), _trimmed(given.several("denominator"))
    if not denominator or len(numerator) > len(denominator):
        what = f"the transfer function {given.name} has a numerator of degree {len(numerator) - 1}"
        what += f" and a denominator of degree {len(denominator) - 1}" if denominator else " and the denominator 0"
        fix = "add a pole: a longer denominator"
        raise rules.IMPROPER.error(what, where=given.name, fix=fix, place=given.definition.place)
    u, n = given.expression("transfer function"), len(denominator) - 1
    a = [e / denominator[0] for e in denominator]
    b = [ZERO] * (n + 1 - len(numerator)) + [e / denominator[0] for e in numerator]
    names = [given.inner(str(k + 1)) for k in range(n)]
    x = [symbol(name) for name in names]
    for k, name in enumerate(names):
        last = u - total(a[n - j] * x[j] for j in range(n))
        yield given.part(name, "integral", integral=x[k + 1] if k + 1 < n else last, initial=ZERO)
    output = b[0] * u + total((b[n - j] - a[n - j] * b[0]) * x[j] for j in range(n))
    yield given.formula(given.name, output)


def _trimmed(coefficients: tuple[Expression, ...]) -> list[Expression]:
    """Coefficients from the highest power on, zeros before it left out."""
    found = list(coefficients)
    while found and isinstance(found[0], Number) and not found[0].rational:
        found.pop(0)
    return found


def low_pass(given: Given) -> Parts:
    """y' = (u - y)/T."""
    rate = (given.expression("low pass") - symbol(given.name)) / given.expression("time constant")
    yield given.part(given.name, "integral", integral=rate, initial=given.expression("initial"))


def derivative(given: Given) -> Parts:
    """s/(T s + 1) of its input."""
    state = given.inner("filter")
    slope = (given.expression("derivative") - symbol(state)) / given.expression("filter")
    yield given.part(state, "integral", integral=slope, initial=given.expression("initial"))
    yield given.formula(given.name, slope)


def state_feedback(given: Given) -> Parts:
    """u = N r - K x."""
    products = [k * x for k, x in zip(given.several("gains"), given.several("state feedback"), strict=True)]
    ahead = given.expression("reference gain", ONE) * given.expression("reference")
    yield given.formula(given.name, ahead - total(products))


def saturate(given: Given) -> Parts:
    """The input between two limits."""
    yield given.formula(given.name, given.limited(given.expression("saturate")))


def dead_zone(given: Given) -> Parts:
    """Zero between two limits, beyond them the distance to the nearer one."""
    y, (low, high) = given.expression("dead zone"), given.several("limits")
    yield given.formula(given.name, call("max", y - high, ZERO) + call("min", y - low, ZERO))


def quantise(given: Given) -> Parts:
    """The nearest multiple of the step."""
    step = given.expression("step")
    yield given.formula(given.name, step * call("floor", given.expression("quantise") / step + ONE / 2))


def table(given: Given) -> Parts:
    """Points read at time, or at the value of a formula."""
    at, how = given.expression("at", symbol(TIME)), given.word("interpolation", "linear")
    yield given.part(given.name, "table", table=given.settings["table"], at=at, interpolation=how)
