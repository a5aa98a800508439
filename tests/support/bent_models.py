"""Random models full of tables: laws, signals and maps, with straight lines and cubics between their points."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

HOW = ("linear", "cubic")


def bent_model(seed: int) -> str:
    """A mass on a spring whose law is a table, driven by tables of time and speed and by a map of speed and way."""
    rng = np.random.default_rng(seed)

    def how() -> str:
        return str(rng.choice(HOW))

    def points(span: float, least: int = 2) -> Sequence[float]:
        return [float(x) for x in np.sort(rng.uniform(-span, span, int(rng.integers(least, 9)))).round(7)]

    def table(x: Sequence[float], y: NDArray[np.float64]) -> str:
        return f"table: [{', '.join(f'[{a}, {b:.6g}]' for a, b in zip(x, y, strict=True))}], interpolation: {how()}"

    way = points(2e-3, 3)
    force = np.cumsum(np.diff(way, prepend=way[0]) * rng.uniform(2e3, 6e4, len(way)))
    law = table(way, force - np.interp(0.0, way, force))
    rows, columns = points(1.0), points(2e-3)
    values = rng.uniform(-3.0, 3.0, (len(rows), len(columns))).round(4).tolist()
    time, speed = points(1.0), points(0.5)
    return f"""
system: A mass on a bent spring
parameters: {{m: 2 kg, F: 30 N, b: 20 N*s/m}}
network:
  m: {{mass: [x], velocity: v, initial: 0.2 m/s}}
  k: {{spring: [x, frame], force: F_k, displacement: x_k, law: {{{law}}}}}
  b: {{damper: [x, frame]}}
  S: {{force source: [frame, x], signal: F*f + g + h}}
signals:
  f: {{{table(time, np.sin(time))}, at: t/(1 s) - 0.5}}
  g: {{{table(speed, rng.uniform(-10.0, 10.0, len(speed)))}, at: v}}
  h: {{map: {{rows: {rows}, columns: {columns}, values: {values}}}, at: [v, x_k], interpolation: {how()}}}
experiment: {{until: 1 s}}
"""
