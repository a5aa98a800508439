"""`influence`: which names decide what a run gives, by Sobol's indices over distributions or by slopes at one point."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Literal, Unpack, final

import numpy as np
from numpy.typing import NDArray

from tellegen.core.errors import Finding, TellegenError
from tellegen.core.names import did_you_mean
from tellegen.core.tables import table_lines
from tellegen.experiments.input_signals import InputSignal
from tellegen.experiments.quantities import Quantity
from tellegen.experiments.rules import BAD_CHOICE
from tellegen.notations.loading import AnyModel, as_model
from tellegen.plots import BarSpan, Look, Plot, spans_plot
from tellegen.studies.runs import rules
from tellegen.studies.runs.response import Response, response
from tellegen.studies.runs.table import shares_drawn
from tellegen.studies.runs.variation import Variation, drawn_values, is_distribution

Array = NDArray[np.float64]
Method = Literal["sobol", "local"]

WIDE: Final = 0.1
LEVEL: Final = 0.95
RESAMPLED: Final = 200
MOMENTS: Final = 4096
"""Draws from which the deviation of a distribution is taken."""


@final
@dataclass(frozen=True)
class Influence:
    """The shares of the variance of each number that belong to each name: alone (`first`), and with all others (`total`).

    Arrays are by number and name; the `_bounds` hold lower and upper ends with 95 %, in the last dimension, and are equal to the
    shares where these come from slopes.
    """

    title: str
    of: tuple[str, ...]
    names: tuple[str, ...]
    first: Array
    total: Array
    first_bounds: Array
    total_bounds: Array
    method: Method
    runs: int
    findings: tuple[Finding, ...] = ()

    def plot(self, **look: Unpack[Look]) -> Plot:
        """Two bars for each name, alone and with all others, with their bounds."""
        sections = {
            of: {
                name: [
                    BarSpan(*(100.0 * float(v) for v in (shares[k, i], *bounds[k, i])))
                    for shares, bounds in ((self.first, self.first_bounds), (self.total, self.total_bounds))
                ]
                for i, name in enumerate(self.names)
            }
            for k, of in enumerate(self.of)
        }
        kinds = ("alone", "with all others")
        return spans_plot(self.title, sections, kinds, words="share of the variance", unit="%", **look)

    def to_json(self) -> dict[str, object]:
        """The indices, as `tellegen influence --json` prints them."""
        told = {}
        for k, of in enumerate(self.of):
            told[of] = {
                name: {
                    "first": float(self.first[k, i]),
                    "first_bounds": self.first_bounds[k, i].tolist(),
                    "total": float(self.total[k, i]),
                    "total_bounds": self.total_bounds[k, i].tolist(),
                }
                for i, name in enumerate(self.names)
            }
        return {"method": self.method, "runs": self.runs, "of": told}

    def __str__(self) -> str:
        lines = [self.title]
        for k, of in enumerate(self.of):
            rows: list[tuple[str, ...]] = [(of, "alone", "with 95 %", "in all", "with 95 %")]
            for i in np.argsort(-self.total[k], kind="stable").tolist():
                (a, b), (c, d) = self.first_bounds[k, i], self.total_bounds[k, i]
                first, total = f"{self.first[k, i]:.3f}", f"{self.total[k, i]:.3f}"
                rows.append((self.names[i], first, f"{a:.3f} to {b:.3f}", total, f"{c:.3f} to {d:.3f}"))
            lines += ["", *table_lines(rows)]
        lines += ["", f"{self.runs} runs" if self.method == "sobol" else "by slopes at the medians"]
        lines += [part for finding in self.findings for part in ("", str(finding))]
        return "\n".join(line.rstrip() for line in lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def influence(
    model: AnyModel,
    vary: Mapping[str, Variation],
    of: Sequence[str],
    until: Quantity | None = None,
    *,
    draws: int = 1024,
    method: Method = "sobol",
    inputs: Mapping[str, InputSignal] | None = None,
    initial: Mapping[str, Quantity] | None = None,
    parameters: Mapping[str, Quantity] | None = None,
    solver: str = "auto",
    rtol: Quantity | None = None,
    seed: int = 0,
    threads: int | None = None,
) -> Influence:
    """Which names decide the numbers `of` runs, which `sweep` could keep, where they follow distributions.

    `method="sobol"` gives first and total indices with bounds; each draw takes two runs more than there are names. `"local"` gives
    the shares of slopes times deviations at the medians.

    >>> import tellegen as tg
    >>> vary = {name: tg.normal("100 %", "5 %") for name in ("R_a", "b_m")}
    >>> found = tg.influence("dc_motor_pump", vary, ["max(I_a)"], draws=64)
    >>> found.names[int(found.total[0].argmax())]
    'R_a'

    Raises: SimulationError for a name, a distribution or a request that makes no sense, before any run.
    """
    if method not in ("sobol", "local"):
        fix = did_you_mean(method, ("sobol", "local")) or "choose sobol or local"
        raise BAD_CHOICE.error(f"'{method}' is not a choice of method", fix=fix)
    described = as_model(model)
    for name, variation in vary.items():
        if not is_distribution(variation):
            raise rules.NO_DRAWS.error(
                f"'{name}' follows no distribution", where=name, fix="give one, such as uniform(1, 2)"
            )
    asked = response(
        described,
        tuple(vary),
        of,
        until,
        inputs=inputs,
        initial=initial,
        parameters=parameters,
        solver=solver,
        rtol=rtol,
        threads=threads,
    )
    if method == "local":
        return _local(described.name, asked, vary)
    if isinstance(draws, bool) or draws != int(draws) or draws < 2:
        raise rules.NO_DRAWS.error(
            f"{draws} draws are asked for", fix="give a whole number above one; a power of two is best"
        )
    return _sobol(described.name, asked, vary, int(draws), seed)


def _sobol(title: str, asked: Response, vary: Mapping[str, Variation], draws: int, seed: int) -> Influence:
    from scipy.stats import bootstrap  # noqa: PLC0415  SciPy is loaded by who draws

    # Sobol's points are even in powers of two alone, and the estimator asks for such.
    n, d = 2 ** int(np.ceil(np.log2(draws))), len(vary)
    shares = shares_drawn(2 * d, n, "sobol", seed)
    A, B = (_points(asked, vary, part) for part in (shares[:, :d], shares[:, d:]))
    mixed = []
    for k in range(d):
        part = A.copy()
        part[:, k] = B[:, k]
        mixed.append(part)
    found = asked(np.concatenate([A, B, *mixed])).reshape(d + 2, n, len(asked.of))
    bad = ~np.isfinite(found).all(axis=(0, 2))
    if bad.any():
        # each draw belongs to d + 2 runs: one that fails would spoil all sums
        finding = asked.failure(
            np.concatenate([A, B, *mixed])[np.flatnonzero(~np.isfinite(found).all(axis=2).ravel())[0]]
        )
        raise finding
    by_number = found.transpose(0, 2, 1)

    def told(chosen: NDArray[np.int64]) -> Array:
        return _sobol_indices(by_number[..., chosen])

    first, total = shares_found = told(np.arange(n))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what does not vary has no interval: it is its own
        spread = bootstrap(
            [np.arange(n)], told, n_resamples=RESAMPLED, confidence_level=LEVEL, rng=np.random.default_rng(seed)
        ).confidence_interval
    low, high = (np.where(np.isfinite(end), end, shares_found) for end in (spread.low, spread.high))
    bounds = np.stack([low, high], axis=-1)
    wide = max(float(np.max(part[..., 1] - part[..., 0])) for part in bounds)
    findings: tuple[Finding, ...] = ()
    if wide > WIDE:
        what = f"the bounds of an index are {wide:.2g} apart"
        findings = (rules.WIDE_INDEX.finding(what, where=title, fix=f"draw {4 * n} times"),)
    ends = {"first_bounds": bounds[0], "total_bounds": bounds[1]}
    return Influence(
        title, asked.of, tuple(vary), first, total, **ends, method="sobol", runs=(d + 2) * n, findings=findings
    )


def _sobol_indices(by_number: Array) -> Array:
    """Alone and in all, by number and name, from values by run (A, B, then A with one column of B), number and draw.

    Saltelli et al., "Variance based sensitivity analysis of model output", Computer Physics Communications 181 (2010), 259-270.
    """
    centred = by_number - by_number[:2].mean(axis=(0, 2))[:, None]
    (A, B), mixed = centred[:2], centred[2:]
    whole = centred[:2].var(axis=(0, 2))
    alone, rest = (B * (mixed - A)).mean(axis=2), 0.5 * ((A - mixed) ** 2).mean(axis=2)
    # What never varies has no shares.
    return np.stack([np.divide(part, whole, out=np.zeros_like(part), where=whole > 0).T for part in (alone, rest)])


def _points(asked: Response, vary: Mapping[str, Variation], shares: Array) -> Array:
    drawn = [drawn_values(name, v, shares[:, k], asked.readings[name]) for k, (name, v) in enumerate(vary.items())]
    return np.column_stack(drawn)


def _local(title: str, asked: Response, vary: Mapping[str, Variation]) -> Influence:
    middle = (np.arange(MOMENTS) + 0.5) / MOMENTS
    values = _points(asked, vary, np.repeat(middle[:, None], len(vary), axis=1))
    at, deviation = np.median(values, axis=0), np.std(values, axis=0)
    findings: tuple[Finding, ...] = ()
    try:
        slopes = asked.slopes(at)[1]
    except TellegenError as reason:
        if reason.code not in ("S126", "S175", "S178"):
            raise
        slopes = asked.differences(at)
        findings = (rules.NO_TRUE_SLOPES.finding(f"differences stand for slopes: {reason.what}", where=title),)
    parts = (slopes * deviation) ** 2
    whole = parts.sum(axis=1, keepdims=True)
    shares = np.divide(parts, whole, out=np.zeros_like(parts), where=whole > 0.0)
    bounds = np.stack([shares, shares], axis=-1)
    ends = {"first_bounds": bounds, "total_bounds": bounds}
    return Influence(
        title, asked.of, tuple(vary), shares, shares, **ends, method="local", runs=asked.runs, findings=findings
    )
