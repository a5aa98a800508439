"""Coefficients of the solvers: explicit Runge-Kutta pairs, and poles of the exponential of stiff linear models.

The poles lie on a parabola around the negative axis (Weideman and Trefethen, Parabolic and hyperbolic contours for computing the
Bromwich integral, Mathematics of Computation 76, 2007). Instead of the weights of their quadrature the best ones are taken: fitted
to the exponential on the negative axis and on a line beside it, with its first two slopes at zero, where constants and ramps of
an input live. That halves the number of poles for the same error.
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, final

import numpy as np
from numpy.typing import NDArray

Row = Mapping[int, float]
"""The coefficients of one stage that are not zero, by the number of the earlier stage."""


@final
@dataclass(frozen=True)
class Tableau:
    """An embedded pair whose last stage is the first of the next step.

    Stage i reads y + h sum a[i][j] k_j at time t + c[i] h. The result is y + h sum b[j] k_j; k of the result counts as one more
    stage. Two estimates of the error are combined: `error` and the coarser `second_error`. The interpolant has the further stages
    `dense_a` (at times t + dense_c h) and, beside the four numbers that both ends give, the rows `dense_b`.
    """

    name: str
    order: int
    c: tuple[float, ...]
    a: tuple[Row, ...]
    b: Row
    error: Row
    second_error: Row
    dense_c: tuple[float, ...]
    dense_a: tuple[Row, ...]
    dense_b: tuple[Row, ...]
    stability: float
    """How far the region of stability reaches on the negative real axis."""
    source: str


DORMAND_PRINCE_8: Final = Tableau(
    name="Dormand-Prince 8(5,3)",
    order=8,
    c=(
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
    ),
    a=(
        {},
        {0: 0.05260015195876773},
        {0: 0.0197250569845379, 1: 0.0591751709536137},
        {0: 0.02958758547680685, 2: 0.08876275643042054},
        {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
        {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
        {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
        {
            0: 0.03709200011850479,
            3: 0.17038392571223998,
            4: 0.10726203044637328,
            5: -0.015319437748624402,
            6: 0.008273789163814023,
        },
        {
            0: 0.6241109587160757,
            3: -3.3608926294469414,
            4: -0.868219346841726,
            5: 27.59209969944671,
            6: 20.154067550477894,
            7: -43.48988418106996,
        },
        {
            0: 0.47766253643826434,
            3: -2.4881146199716677,
            4: -0.590290826836843,
            5: 21.230051448181193,
            6: 15.279233632882423,
            7: -33.28821096898486,
            8: -0.020331201708508627,
        },
        {
            0: -0.9371424300859873,
            3: 5.186372428844064,
            4: 1.0914373489967295,
            5: -8.149787010746927,
            6: -18.52006565999696,
            7: 22.739487099350505,
            8: 2.4936055526796523,
            9: -3.0467644718982196,
        },
        {
            0: 2.273310147516538,
            3: -10.53449546673725,
            4: -2.0008720582248625,
            5: -17.9589318631188,
            6: 27.94888452941996,
            7: -2.8589982771350235,
            8: -8.87285693353063,
            9: 12.360567175794303,
            10: 0.6433927460157636,
        },
    ),
    b={
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    error={
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    second_error={
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
    dense_c=(0.1, 0.2, 0.7777777777777778),
    dense_a=(
        {
            0: 0.056167502283047954,
            6: 0.25350021021662483,
            7: -0.2462390374708025,
            8: -0.12419142326381637,
            9: 0.15329179827876568,
            10: 0.00820105229563469,
            11: 0.007567897660545699,
            12: -0.008298,
        },
        {
            0: 0.03183464816350214,
            5: 0.028300909672366776,
            6: 0.053541988307438566,
            7: -0.05492374857139099,
            10: -0.00010834732869724932,
            11: 0.0003825710908356584,
            12: -0.00034046500868740456,
            13: 0.1413124436746325,
        },
        {
            0: -0.42889630158379194,
            5: -4.697621415361164,
            6: 7.683421196062599,
            7: 4.06898981839711,
            8: 0.3567271874552811,
            12: -0.0013990241651590145,
            13: 2.9475147891527724,
            14: -9.15095847217987,
        },
    ),
    dense_b=(
        {
            0: -8.428938276109013,
            5: 0.5667149535193777,
            6: -3.0689499459498917,
            7: 2.38466765651207,
            8: 2.117034582445028,
            9: -0.871391583777973,
            10: 2.2404374302607883,
            11: 0.6315787787694688,
            12: -0.08899033645133331,
            13: 18.148505520854727,
            14: -9.194632392478356,
            15: -4.436036387594894,
        },
        {
            0: 10.427508642579134,
            5: 242.28349177525817,
            6: 165.20045171727028,
            7: -374.5467547226902,
            8: -22.113666853125306,
            9: 7.733432668472264,
            10: -30.674084731089398,
            11: -9.332130526430229,
            12: 15.697238121770845,
            13: -31.139403219565178,
            14: -9.35292435884448,
            15: 35.81684148639408,
        },
        {
            0: 19.985053242002433,
            5: -387.0373087493518,
            6: -189.17813819516758,
            7: 527.8081592054236,
            8: -11.57390253995963,
            9: 6.8812326946963,
            10: -1.0006050966910838,
            11: 0.7777137798053443,
            12: -2.778205752353508,
            13: -60.19669523126412,
            14: 84.32040550667716,
            15: 11.99229113618279,
        },
        {
            0: -25.69393346270375,
            5: -154.18974869023643,
            6: -231.5293791760455,
            7: 357.6391179106141,
            8: 93.40532418362432,
            9: -37.45832313645163,
            10: 104.0996495089623,
            11: 29.8402934266605,
            12: -43.53345659001114,
            13: 96.32455395918828,
            14: -39.17726167561544,
            15: -149.72683625798564,
        },
    ),
    stability=6.1,
    source="Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 2nd edition, section II.5 and code DOP853",
)


Array = NDArray[np.float64]
Complexes = NDArray[np.complex128]

LANES: Final = 12
DEGREE: Final = 24
WIDE: Final = 3.0
OFF_AXIS: Final = 1.0
PLACE: Final = 7.5
SPACING: Final = 0.1833
"""Of the parabola for so many poles, found by search."""

ERROR: Final = 1e-10
"""A bound of what the sum misses of the exponential, rounding included."""


class Poles(ctypes.Structure):
    """The struct `tg_poles` of native/rational.c."""

    _fields_ = (
        ("error", ctypes.c_double),
        ("re", ctypes.c_double * LANES),
        ("im", ctypes.c_double * LANES),
        ("weights", (ctypes.c_double * (2 * LANES)) * DEGREE),
    )


def exponential_poles() -> Complexes:
    """The poles of the upper half plane; their mirror images belong to them."""
    return np.asarray(PLACE * (1.0 + 1j * SPACING * (np.arange(LANES) + 0.5)) ** 2)


def exponential_weights(times: Array) -> Array:
    """For each time the weights of Re 1/(x - z), then those of -Im 1/(x - z): real and imaginary parts of complex weights."""
    z = exponential_poles()
    axis = -np.concatenate([[0.0], np.logspace(-3, 6, 500)])
    beside = -np.concatenate([[0.0], np.logspace(-2, 2, 60)]) + 1j * OFF_AXIS
    here, above, below = 1 / (axis[:, None] - z), 1 / (beside[:, None] - z), 1 / (beside[:, None] - z.conj())
    off = np.hstack([(above + below) / 2, 1j * (above - below) / 2])
    slopes = np.vstack([-1 / z**2, -2 / z**3])
    fitted = np.vstack([np.hstack([here.real, -here.imag]), np.hstack([slopes.real, -slopes.imag]), off.real, off.imag])
    turned = np.exp(np.outer(beside, times))
    wanted = np.vstack([np.exp(np.outer(axis, times)), times, times**2, turned.real, turned.imag])
    size = np.linalg.norm(fitted, axis=0)
    found = np.linalg.lstsq(fitted / size, wanted, rcond=1e-15)[0]
    return np.asarray((found / size[:, None]).T)


def chebyshev_weights() -> Array:
    """The weights as Chebyshev series over the window."""
    nodes = np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
    values = exponential_weights(1 / WIDE + (1 - 1 / WIDE) * (nodes + 1) / 2)
    return np.asarray(np.polynomial.chebyshev.chebfit(nodes, values, DEGREE - 1), dtype=float)


@cache
def pole_table() -> Poles:
    """The table for the solver; it lives as long as the process."""
    z, made = exponential_poles(), Poles(ERROR)
    made.re[:], made.im[:] = z.real.tolist(), z.imag.tolist()
    for row, values in zip(made.weights, chebyshev_weights(), strict=True):
        # the sum in C takes real parts times real parts and imaginary times imaginary ones: Re(w / (x - z))
        row[:] = np.concatenate([values[:LANES], -values[LANES:]]).tolist()
    return made
