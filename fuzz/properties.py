"""A property as the tests state it, tried with the examples of a seed; the one that fails is made small and told as text."""

import inspect
import random
import signal
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import update_wrapper
from importlib import import_module
from itertools import product
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import UnsatisfiedAssumption

LONGEST = 60.0
"""Seconds of processor time that one example may take; what takes longer is told as a hang."""
SHRINKING = 20.0
"""Seconds for making a counterexample smaller; who repeats it has no such bound."""


class _EnoughError(BaseException):
    """Ends the examples of a property at once: no `Exception`, which would be taken for one that fails."""


@dataclass(frozen=True)
class Property:
    """A function of a module, and which of the values of its parameters where it is stated for several."""

    module: str
    function: str
    case: int = 0

    def __str__(self) -> str:
        return f"{self.module}:{self.function}" + (f":{self.case}" if self.case else "")

    @staticmethod
    def read(text: str) -> "Property":
        """The property that a text names, as it is shown."""
        module, function, *case = text.split(":")
        return Property(module, function, int(case[0]) if case else 0)

    def stated(self) -> Any:
        """The function that tries examples, as Hypothesis made it."""
        return getattr(import_module(self.module), self.function)


@dataclass
class Outcome:
    """What came of examples: how many held, how many said nothing, and the smallest one that failed."""

    held: int = 0
    left_out: int = 0
    failure: str = ""
    models: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """By what failures of one kind are known: the exception and where it was raised."""
        return self.failure.partition("\n")[0]


def use_settings() -> None:
    """Examples at random and no memory of earlier ones; to be called before modules of tests are imported."""
    settings.register_profile(
        "fuzz",
        max_examples=100,
        deadline=None,
        database=None,
        derandomize=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    settings.load_profile("fuzz")


def properties_of(modules: Sequence[str]) -> Iterator[Property]:
    """The properties that need nothing but examples, in the order of the files."""
    for name in modules:
        for word, found in vars(import_module(name)).items():
            if getattr(found, "is_hypothesis_test", False) and found.__module__ == name:
                yield from (Property(name, word, k) for k in range(len(_cases(found))))


def _cases(function: Callable[..., None]) -> list[dict[str, Any]]:
    """The values of a function's parameters, one set for each run of the test; none where it asks for a fixture."""
    sets: list[list[dict[str, Any]]] = []
    for mark in getattr(function, "pytestmark", ()):
        if mark.name == "parametrize":
            names, values = mark.args[:2]
            split = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
            rows = [getattr(value, "values", value if len(split) > 1 else (value,)) for value in values]
            sets.append([dict(zip(split, row, strict=True)) for row in rows])
    found = [{name: value for one in chosen for name, value in one.items()} for chosen in product(*sets)]
    wanted = set(inspect.signature(function).parameters)
    return [one for one in found if set(one) == wanted]


def attack(this: Property, number: int, until: float, *, bounded: bool = True) -> Outcome:
    """Try the examples of the seed `number` until one fails, there are no more, or `time.monotonic` is `until`."""
    function, outcome = this.stated(), Outcome()
    judge = function.hypothesis.inner_test
    random.seed(number)  # generators that ask for chance beside Hypothesis get the same numbers again

    over = False

    def counted(*given: Any, **drawn: Any) -> None:
        nonlocal over
        end = until + (SHRINKING if outcome.failure else 0.0)
        if over := bounded and time.monotonic() > end:
            raise _EnoughError
        try:
            with _limited():
                judge(*given, **drawn)
        except UnsatisfiedAssumption:
            outcome.left_out += 1
            raise
        except Exception as mistake:
            _note(outcome, mistake, drawn)
            raise
        except _EnoughError as late:
            _note(outcome, late, drawn)
            raise
        outcome.held += 1

    function.hypothesis.inner_test = update_wrapper(counted, judge)
    try:
        seed(number)(function)(**_cases(function)[this.case])
    except _EnoughError:
        pass
    except Exception as mistake:
        # An example that was not tried draws less than before, which Hypothesis takes for a mistake of the property. What it raises
        # otherwise has its notes: the smallest example, and what was drawn on the way.
        outcome.failure = outcome.failure if over else _told(mistake)
    finally:
        function.hypothesis.inner_test = judge
    return outcome


@contextmanager
def _limited() -> Iterator[None]:
    def late(*_: object) -> None:
        raise _EnoughError(f"an example took more than {LONGEST:g} s of processor time")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _told(mistake: BaseException) -> str:
    ours = [f for f in traceback.extract_tb(mistake.__traceback__) if "hypothesis" not in f.filename]
    at = f" in {ours[-1].filename.rpartition('/')[2]}, {ours[-1].name}" if ours else ""
    return f"{type(mistake).__name__.lstrip('_')}{at}\n{''.join(traceback.format_exception(mistake))}"


def _note(outcome: Outcome, mistake: BaseException, drawn: dict[str, Any]) -> None:
    """Keep the smallest example that failed, by the length of its text."""
    shown = "\n".join(f"{name} = {value!r}" for name, value in drawn.items())
    if not outcome.failure or len(shown) <= len(outcome.failure.rpartition("\nwith\n")[2]):
        outcome.failure = f"{_told(mistake)}\nwith\n{shown}"
        outcome.models = [text for value in drawn.values() if isinstance(text := getattr(value, "text", None), str)]
