"""Events that follow each other ever faster: a motion that stays on a border, and whose run would have no end.

A relay on a plant of second order switches ever faster, though never in no time. Where the number of events doubles again and again
in equal times, and would pass all bounds before the end of the run, the run ends there. A count that grows otherwise is no matter:
a pulse width modulator, early or late, or a comparator behind a chirp may switch as often as it likes.

Steps of CVODE and IDA are known to their tolerance only: where thousands of events come and go within it, such a run ends, too.
"""

from collections import Counter, deque
from itertools import pairwise
from math import log2
from typing import Final, final

from tellegen.core.errors import Finding
from tellegen.simulation import hybrid_rules
from tellegen.simulation.trajectory import Happening

MANY_CHANGES: Final = 4096
"""Changes of mode take longer than events that stay in one: those are counted in native/job.h, further."""
MOST_EVENTS: Final = 1e9
LONGER: Final = 1.1
SHORTER: Final = 0.5
DOUBLINGS: Final = 6
LATELY: Final = 100


@final
class Doublings:
    """Counts changes of mode, and knows when their number doubled."""

    def __init__(self, until: float) -> None:
        self.until = until
        self.count = 0
        self.at: deque[float] = deque(maxlen=DOUBLINGS)
        self.lately: deque[str] = deque(maxlen=LATELY)

    def note(self, happening: Happening) -> Finding | None:
        """Count a change; gives a finding where changes follow each other ever faster."""
        self.count += 1
        self.lately.append(happening.element)
        if self.count & (self.count - 1):
            return None
        self.at.append(happening.t)
        if self.count < MANY_CHANGES or not self._endless():
            return None
        return ever_faster(happening.t, self.count, list(self.lately), "changed its mode")

    def _endless(self) -> bool:
        spans = [after - before for before, after in pairwise(self.at)]
        steady = all(SHORTER * before <= after <= LONGER * before for before, after in pairwise(spans))
        return steady and self.until - self.at[-1] > spans[-1] * log2(MOST_EVENTS / self.count)


def within_tolerance(t: float, count: int, lately: list[str], where: str) -> Finding:
    """The finding for so many events by a time, between which no variable moves by its tolerance any more."""
    element = Counter(lately).most_common(1)[0][0]
    return hybrid_rules.CHATTERING.finding(
        f"by t = {t:.6g} s there were {count} events, and between the last ones nothing moves by more than its tolerance: "
        f"'{element}' jumped to and fro again and again",
        where=where,
        fix=f"ask for a finer tolerance, or let 'auto' choose the solver, if the condition of '{element}' has a narrow hysteresis; "
        "else give it one, sample it, or replace the jump by a steep slope with limits",
        members=sorted(set(lately)),
    )


def ever_faster(t: float, count: int, lately: list[str], what: str, where: str = "") -> Finding:
    """The finding for so many events by a time; `lately` names the elements behind the last ones."""
    element = Counter(lately).most_common(1)[0][0]
    return hybrid_rules.CHATTERING.finding(
        f"by t = {t:.6g} s there were {count} events, and they follow each other ever faster: '{element}' {what} again and again",
        where=where or element,
        fix=f"give the condition of '{element}' a hysteresis, sample it, or replace the jump by a steep slope with limits",
        members=sorted(set(lately)),
    )
