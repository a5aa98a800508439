"""Write docs/gallery/numbers.md: each number told for the published systems, what Tellegen finds, and how near both must be.

python tools/published_numbers.py

tests/systems/test_published_numbers.py computes every row again.
"""

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import final

import published_drives as drives
import published_mechanisms as mechanisms
from published_drives import BELTS, NUTS, SPLINE
from published_mechanisms import NEAREST, RIGHT_ANGLE, STRAIGHT

PAGE = Path(__file__).resolve().parent.parent / "docs/gallery/numbers.md"

EXACT, RUN, FEW = 1e-9, 1e-8, 0.05
"""How near closed forms, trajectories at rtol 1e-10, and what was told with two digits (as maxima of a cycle were) must be."""
NOISE = 1e-12
"""What rounding leaves, which is another on each machine."""
ORDER = 0.02
"""Orders of convergence are slopes between few points."""


@final
@dataclass(frozen=True)
class PublishedNumber:
    """A number that was told, the function that finds it here, and the allowed difference: relative, or absolute."""

    what: str
    told: float
    unit: str
    ours: Callable[[], float]
    rel: float = 0.0
    abs: float = 0.0

    @property
    def key(self) -> str:
        """Its name among the tests."""
        return re.sub(r"[^a-z0-9]+", "-", self.what.lower()).strip("-")

    @property
    def allowed(self) -> float:
        """The largest difference."""
        return self.rel * abs(self.told) + self.abs

    def row(self, ours: float) -> str:
        """The line of the page; digits that the allowed difference leaves open are not shown."""
        unit = f" {self.unit}" if self.unit else ""
        limit = f"{self.abs:g}{unit}" if self.abs else f"{self.rel:g} relative"
        if abs(ours) < NOISE:
            return f"| {self.what} | {self.told:g}{unit} | below {NOISE:g}{unit} | {limit} |"
        figures = 3 if self.allowed >= ORDER * abs(ours) else math.ceil(-math.log10(self.allowed / abs(ours))) + 2
        return f"| {self.what} | {self.told:.12g}{unit} | {ours:.{figures}g}{unit} | {limit} |"


@final
@dataclass(frozen=True)
class LostNumber:
    """A number that is told but cannot be found again, and why."""

    what: str
    told: str
    why: str


N = PublishedNumber
NUMBERS: dict[str, tuple[PublishedNumber, ...]] = {
    "The POG lecture": (
        N("loops of the motor with pump, each with an odd number of minus signs", 5, "", drives.odd_loops, EXACT),
        N("determinant of the reduced A, over its closed form", 1, "", drives.determinant_over_closed_form, EXACT),
        N("order of convergence for J_m to 0", 1, "", drives.order_in_the_inertia, abs=ORDER),
    ),
    "The corking machine": (
        N("angle of the groove of the screw", 1.26262725568, "rad", drives.screw_angle, EXACT),
        N("lead of the screw", 0.02, "m", drives.lead, EXACT),
        N("determinant of T_s H_2^T, over its closed form", 1, "", drives.groove_determinant_over_closed_form, EXACT),
        N("inductance of the motor, homopolar", 2, "mH", partial(drives.inductance, 0), EXACT),
        N("inductance of the motor, both others", 14, "mH", partial(drives.inductance, 2), EXACT),
        N("inductance with the diagonal as printed", -6, "mH", partial(drives.inductance, 0, printed=True), EXACT),
        N("sum of the torques of the phases, over p phi_c", 0, "", partial(drives.phase_torques, 1), abs=NOISE),
        N("sum of their squares, over (p phi_c)^2", 1.5, "", partial(drives.phase_torques, 2), EXACT),
        N(
            "error of the recovered force of the spline nut, 10 Hz",
            1.1e-4,
            "",
            partial(drives.nut_force_error, SPLINE),
            FEW,
        ),
        N("slower ringing of the balls, about", 5e3, "rad/s", partial(drives.ringing, 0), 0.06),
        N("faster ringing of the balls, about", 6e3, "rad/s", partial(drives.ringing, -1), 0.06),
        N(
            "order for K to infinity, smooth torque",
            1,
            "",
            partial(drives.order_in_the_stiffness, smooth=True),
            abs=ORDER,
        ),
        N(
            "order for K to infinity, step of torque",
            0.5,
            "",
            partial(drives.order_in_the_stiffness, smooth=False),
            abs=ORDER,
        ),
        N("cycle, extended and stiff nuts, x", 2.58e-7, "m", partial(drives.cycle_error, "x", NUTS), FEW),
        N("cycle, extended and stiff nuts, theta", 8.1e-5, "rad", partial(drives.cycle_error, "theta", NUTS), FEW),
        N("cycle, extended and rigid belts, x", 5.0e-6, "m", partial(drives.cycle_error, "x", BELTS), FEW),
        N("cycle, extended and rigid belts, theta", 1.6e-3, "rad", partial(drives.cycle_error, "theta", BELTS), FEW),
        N("cycle, tracking error of x", 0.17, "mm", partial(drives.tracking_error, "x", 1000), FEW),
        N(
            "cycle, tracking error of theta",
            3.1,
            "degrees",
            partial(drives.tracking_error, "theta", math.degrees(1)),
            FEW,
        ),
    ),
    "The crank and connecting rod": (
        N("angle of the crank after 1 s", 53.4272962109, "rad", partial(mechanisms.crank_at_one_second, "theta"), RUN),
        N(
            "speed of the crank after 1 s",
            80.4768484635,
            "rad/s",
            partial(mechanisms.crank_at_one_second, "omega"),
            RUN,
        ),
        N("order of the angle for K to infinity", 1, "", mechanisms.order_of_the_rod, abs=ORDER),
    ),
    "The Rapson slide": (
        N("first angle", 0.6435011, "rad", partial(mechanisms.rigid_at, "theta", 0.0), abs=5e-8),
        N("angle after 1 s", 0.698368541665, "rad", partial(mechanisms.rigid_at, "theta", 1.0), RUN),
        N("speed after 1 s", 0.117270932839, "rad/s", partial(mechanisms.rigid_at, "omega", 1.0), RUN),
        N("N_1 after 1 s", -0.440951104652, "N", partial(mechanisms.force_at_one_second, 0), RUN),
        N("N_2 after 1 s", 0.303593172449, "N", partial(mechanisms.force_at_one_second, 1), RUN),
        N("angle after 5 s under a force the other way", 0.20104436, "rad", mechanisms.turned_back, abs=5e-9),
        # The instants have eight digits, and the tiller turns by about one radian per second.
        N(
            f"angle at {RIGHT_ANGLE} s",
            math.pi / 2,
            "rad",
            partial(mechanisms.rigid_at, "theta", RIGHT_ANGLE),
            abs=1e-7,
        ),
        N(f"angle at {STRAIGHT} s", math.pi, "rad", partial(mechanisms.rigid_at, "theta", STRAIGHT), abs=1e-7),
        N(f"smallest distance, at {NEAREST} s", 2.30390175, "m", partial(mechanisms.rigid_at, "l", NEAREST), abs=5e-9),
        N("rate of the distance then", 0, "m/s", partial(mechanisms.rigid_at, "v_l", NEAREST), abs=1e-8),
        N(
            "elastic and rigid contacts, N_1 from 1 s on",
            1e-3,
            "N",
            partial(mechanisms.contact_error, 1e3, later=True),
            FEW,
        ),
        N("the same without damping, at 1 s", 0.23, "N", partial(mechanisms.contact_error, 0.0, later=False), FEW),
        N("elastic and rigid slide, angle in 5 s", 9.4e-5, "rad", partial(mechanisms.turned_away, 1e3), FEW),
        N("the same with a tenth of the damping", 9.4e-5, "rad", partial(mechanisms.turned_away, 1e2), FEW),
        N("the same with ten times the damping", 9.4e-5, "rad", partial(mechanisms.turned_away, 1e4), FEW),
        N("order of the angle for k_b, k_p to infinity", 1, "", mechanisms.order_of_the_contacts, abs=ORDER),
    ),
    "The mobile manipulator": (
        N("determinant of A in (8), over L", 1.5 * math.sqrt(3), "", mechanisms.wheel_determinant, EXACT),
        N("first entry of A^T A", 1.5, "", partial(mechanisms.wheel_product, 0, 0), EXACT),
        N("last entry of A^T A, 3 L^2", 0.12, "m^2", partial(mechanisms.wheel_product, 2, 2), EXACT),
        N("entry of A^T A beside the diagonal", 0, "", partial(mechanisms.wheel_product, 0, 1), abs=NOISE),
        N("mass that a wheel adds", 40, "kg", mechanisms.wheel_mass, EXACT),
        N("integral of the error in scenario 1", 0.00235618731, "m s", mechanisms.circle_error, RUN),
        N("Hamilton's form with S beside Lagrange's", 0, "", partial(mechanisms.forms_apart, "hamilton"), abs=9e-11),
        N("residual form beside Lagrange's", 0, "", partial(mechanisms.forms_apart, "residual"), abs=1.4e-9),
        N(
            "parasitic form beside Lagrange's, k = 1e6",
            0,
            "",
            partial(mechanisms.forms_apart, "parasitic", 1e6),
            abs=4e-6,
        ),
    ),
}

LOST: tuple[LostNumber, ...] = (
    LostNumber(
        "corking machine, simulation and measurement (figure 16)",
        "1 mm, 3 degrees",
        "the measurement was not published, nor parameters, gains or moves; "
        "[a file of measurements](corking_machine.md#beside-a-measurement) can be laid over the simulation",
    ),
    LostNumber(
        "crank and rod, difference to another program",
        "0.00071273",
        "has no unit, and parameters, start and duration are not printed; "
        "[bodies and joints](crank_rod.md#with-a-heavy-rod) stand for the other program here",
    ),
    LostNumber(
        "manipulator, errors of Table 1",
        "0.1838 to 0.1861, and 0.0021",
        "equivalent forms have equal errors ([shown for six](mobile_manipulator.md#table-1)); "
        "0.0021 is near the 0.00236 of our gains",
    ),
    LostNumber(
        "manipulator, times of Table 1",
        "2.302, 0.495, 0.453, 0.732 s",
        "they belong to a machine and a solver; [ratios are drawn beside ours](mobile_manipulator.md#table-1)",
    ),
    LostNumber(
        "manipulator, canonical form (17) beside the right one",
        "2 m, 2 rad in 5 s",
        "the torques are not told; with three times those of the example's wheels {canonical}",
    ),
)

HEAD = """# The papers, number by number

Numbers that the five texts print, or that other programs found for their systems with the parameters of the built-in
examples (the texts print almost none), beside what Tellegen finds. This page is made by `make docs`; the tests compute each
line again and fail where it is further away than its last column says: 1e-9 for closed forms, 1e-8 for trajectories, 5 % for
what was told with two digits.
"""
SPLINE_NOTE = """
The load behind the error of the recovered force is not told. At 10 Hz and with K = 5e7 N/m it is

| what acts on the shaft | error of F_sr |
|---|---|
{rows}
"""
LOADS: dict[str, drives.Sources] = {
    "torque on the pulley of the screw": (1, 0, 0, 0),
    "torque on the pulley of the spline": (0, 1, 0, 0),
    "force along the shaft": (0, 0, 1, 0),
    "torque round the shaft": (0, 0, 0, 1),
    "all four": (1, 1, 1, 1),
    "torques on the pulley of the spline and round the shaft, as above": SPLINE,
}


def page() -> str:
    """The page, from values computed now."""
    return "\n".join([HEAD, *_tables(), *_lost()])


def _tables() -> Iterator[str]:
    for title, numbers in NUMBERS.items():
        rows = "\n".join(number.row(number.ours()) for number in numbers)
        yield f"## {title}\n\n| what | told | found here | allowed difference |\n|---|---|---|---|\n{rows}\n"
        if title == "The corking machine":
            loads = "\n".join(f"| {what} | {drives.nut_force_error(load):.2e} |" for what, load in LOADS.items())
            yield SPLINE_NOTE.strip().format(rows=loads) + "\n"


def _lost() -> Iterator[str]:
    yield "## Numbers that nobody can find again\n\n| what | told | why |\n|---|---|---|"
    canonical = f"it is {mechanisms.canonical_error():.1f} m"
    for number in LOST:
        yield f"| {number.what} | {number.told} | {number.why.format(canonical=canonical)} |"
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
