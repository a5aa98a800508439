"""Models written by hand in C with the interface of compiled ones: what solvers are tested on does not depend on the compiler."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tellegen.compiler.numeric_model import (
    BreakTimes,
    EventFunction,
    NumericModel,
    SampleGroup,
    SparsityPattern,
    dense_pattern,
    pattern_of_rows,
)

_EXPLICIT = """
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {{
  int bad = tg_rhs(c, t, y, r);
  for (int i = 0; i < {n}; i++) r[i] = yp[i] - r[i];
  return bad;
}}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp, const double *dp,
               double *dr) {{
  static const double none[{n} + 1];
  int bad = tg_rhs_tangent(c, t, y, dy ? dy : none, dp, dr);
  for (int i = 0; i < {n}; i++) dr[i] = (dyp ? dyp[i] : 0) - dr[i];
  return bad;
}}
"""

_NO_BOOKS = """
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {
  for (int i = 0; i < 5; i++) power[i] = 0;
  return 0;
}
"""


def explicit_model(
    rhs: str,
    tangent: str,
    states: Sequence[str],
    *,
    balance: str = "",
    head: str = "",
    more: str = "",
    pattern: SparsityPattern | None = None,
    **fields: Any,
) -> NumericModel:
    """A model from the statements of its right-hand side (`d[i] = ...` of y, p, t) and of its tangent (`e[i] = ...` of v, dp)."""
    n = len(states) + len(fields.get("displacements", ())) + len(fields.get("signal_states", ()))
    source = f"""
#include <math.h>
{head}
int tg_rhs(tg_context *c, double t, const double *y, double *d) {{
  const double *p = c->parameters;
  (void)p; (void)t;
  {rhs}
  for (int i = 0; i < {n}; i++)
    if (!isfinite(d[i])) {{ c->failed = 1 + i; return 1; }}
  return 0;
}}
int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *v, const double *dp, double *e) {{
  static const double none[64];
  const double *p = c->parameters;
  if (!dp) dp = none;
  (void)p; (void)t;
  {tangent}
  return 0;
}}
{_EXPLICIT.format(n=n)}
"""
    if balance:
        source += f"""
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {{
  const double *p = c->parameters;
  for (int i = 0; i < 5; i++) power[i] = 0;
  (void)p;
  {balance}
  return 0;
}}
"""
    else:
        source += _NO_BOOKS
    return NumericModel.from_c(source + more, states=states, pattern=pattern or dense_pattern(n), **fields)


def decay(rate: float = 2.0, **fields: Any) -> NumericModel:
    """x' = -k x, dissipating k x^2 of the energy x^2 / 2."""
    return explicit_model(
        "d[0] = -p[0] * y[0];",
        "e[0] = -p[0] * v[0] - dp[0] * y[0];",
        ["x"],
        balance="power[1] = p[0] * y[0] * y[0]; power[4] = 0.5 * y[0] * y[0];",
        parameters={"k": rate},
        **fields,
    )


def oscillator(**fields: Any) -> NumericModel:
    """A mass of 1 kg on a spring of 1 N/m without loss: v' = -F, F' = v, the energy (v^2 + F^2) / 2."""
    return explicit_model(
        "d[0] = -y[1]; d[1] = y[0];",
        "e[0] = -v[1]; e[1] = v[0];",
        ["v", "F"],
        balance="power[4] = 0.5 * (y[0] * y[0] + y[1] * y[1]);",
        linear=True,
        **fields,
    )


def pendulum(**fields: Any) -> NumericModel:
    """omega' = -sin(theta), theta' = omega: an energy that is not quadratic."""
    return explicit_model(
        "d[0] = -sin(y[1]); d[1] = y[0];",
        "e[0] = -cos(y[1]) * v[1]; e[1] = v[0];",
        ["omega"],
        balance="power[4] = 0.5 * y[0] * y[0] + 1 - cos(y[1]);",
        displacements=("theta",),
        variables=("omega", "theta"),
        **fields,
    )


def robertson() -> NumericModel:
    """Robertson's reactions (Bari test set, ROBER)."""
    return explicit_model(
        "d[0] = -0.04 * y[0] + 1e4 * y[1] * y[2]; d[2] = 3e7 * y[1] * y[1]; d[1] = -d[0] - d[2];",
        "e[0] = -0.04 * v[0] + 1e4 * (y[1] * v[2] + v[1] * y[2]); e[2] = 6e7 * y[1] * v[1]; e[1] = -e[0] - e[2];",
        ["a", "b", "c"],
    )


def van_der_pol(eps: float = 1e-6) -> NumericModel:
    """Van der Pol's oscillator, scaled (Bari test set, VDPOL)."""
    return explicit_model(
        "d[0] = y[1]; d[1] = ((1 - y[0] * y[0]) * y[1] - y[0]) / p[0];",
        "e[0] = v[1]; e[1] = ((1 - y[0] * y[0]) * v[1] - (2 * y[0] * y[1] + 1) * v[0]) / p[0]"
        "- dp[0] * ((1 - y[0] * y[0]) * y[1] - y[0]) / (p[0] * p[0]);",
        ["x", "z"],
        parameters={"eps": eps},
    )


def hires() -> NumericModel:
    """High irradiance response (Bari test set, HIRES)."""
    rhs = """
    double w = 280 * y[5] * y[7];
    d[0] = -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007;
    d[1] = 1.71 * y[0] - 8.75 * y[1];
    d[2] = -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4];
    d[3] = 8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3];
    d[4] = -1.745 * y[4] + 0.43 * (y[5] + y[6]);
    d[5] = -w + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6];
    d[6] = w - 1.81 * y[6];
    d[7] = -d[6];"""
    tangent = """
    double w = 280 * (y[5] * v[7] + v[5] * y[7]);
    e[0] = -1.71 * v[0] + 0.43 * v[1] + 8.32 * v[2];
    e[1] = 1.71 * v[0] - 8.75 * v[1];
    e[2] = -10.03 * v[2] + 0.43 * v[3] + 0.035 * v[4];
    e[3] = 8.32 * v[1] + 1.71 * v[2] - 1.12 * v[3];
    e[4] = -1.745 * v[4] + 0.43 * (v[5] + v[6]);
    e[5] = -w + 0.69 * v[3] + 1.71 * v[4] - 0.43 * v[5] + 0.69 * v[6];
    e[6] = w - 1.81 * v[6];
    e[7] = -e[6];"""
    return explicit_model(rhs, tangent, [f"y{k}" for k in range(1, 9)])


def rc_ladder(n: int) -> NumericModel:
    """The RC ladder of the published benchmark: R_i = 1/i, C_i = 1/i^2, a sine of 10 Hz, all powers in branches."""
    rhs = """
    double left = {0} * 1.0;
    for (int i = 0; i < NN; i++) {{
      double right = i < NN - 1 ? (i + 2.0) * (x[i] - x[i + 1]) : 0;
      if (i == 0) left = {0};
      out[i] = (left - right) * (i + 1.0) * (i + 1.0);
      left = right;
    }}"""
    value = "(sin(62.83185307179586 * t) - y[0])"
    return explicit_model(
        "const double *x = y; double *out = d;" + rhs.format(value),
        "const double *x = v; double *out = e;" + rhs.format("(-v[0])"),
        [f"v{i}" for i in range(1, n + 1)],
        head=f"#define NN {n}",
        balance="""
        double u = sin(62.83185307179586 * t), i0 = u - y[0];
        power[0] = u * i0; power[1] = i0 * i0;
        for (int i = 0; i + 1 < NN; i++) power[1] += (i + 2.0) * (y[i] - y[i + 1]) * (y[i] - y[i + 1]);
        for (int i = 0; i < NN; i++) power[4] += 0.5 * y[i] * y[i] / ((i + 1.0) * (i + 1.0));""",
        pattern=pattern_of_rows([[k for k in (i - 1, i, i + 1) if 0 <= k < n] for i in range(n)], n),
        linear=True,
        small=False,
    )


def lc_ladder(n: int, source: str = "1.0", loss: float = 0.0) -> NumericModel:
    """n sections of 1 H and 1 F between a source and a load of 1 ohm; `loss` is a conductance beside each capacitor."""
    body = """
    const double *i = {x}, *u = {x} + NN;
    {o}[0] = {s} - u[0];
    for (int k = 1; k < NN; k++) {o}[k] = u[k - 1] - u[k];
    for (int k = 0; k < NN; k++) {o}[NN + k] = i[k] - (k < NN - 1 ? i[k + 1] : u[k]) - LOSS * u[k];"""
    currents = [[k, n + k] + ([n + k - 1] if k else []) for k in range(n)]
    voltages = [[k, n + k] + ([k + 1] if k < n - 1 else []) for k in range(n)]
    return explicit_model(
        body.format(x="y", o="d", s=f"({source})"),
        body.format(x="v", o="e", s="0"),
        [f"i{k}" for k in range(1, n + 1)] + [f"u{k}" for k in range(1, n + 1)],
        head=f"#define NN {n}\n#define LOSS {loss!r}",
        balance=f"""
        power[0] = ({source}) * y[0]; power[1] = y[2 * NN - 1] * y[2 * NN - 1];
        for (int k = 0; k < 2 * NN; k++) power[4] += 0.5 * y[k] * y[k];
        for (int k = 0; k < NN; k++) power[1] += LOSS * y[NN + k] * y[NN + k];""",
        pattern=pattern_of_rows([sorted(row) for row in currents + voltages], 2 * n),
        linear=True,
        small=False,
    )


def switched_decay() -> NumericModel:
    """x' = u(t) - x with u jumping from 1 to 3 at t = 0.7 s."""
    return explicit_model(
        "d[0] = (t < 0.7 ? 1.0 : 3.0) - y[0];",
        "e[0] = -v[0];",
        ["x"],
        balance="double u = t < 0.7 ? 1.0 : 3.0; power[0] = u * y[0]; power[1] = y[0] * y[0]; power[4] = 0.5 * y[0] * y[0];",
        breaks=(BreakTimes(0.7),),
        linear=True,
    )


def falling(*, terminal: bool, direction: int = -1) -> NumericModel:
    """A mass falling from height h: an event where the height passes zero."""
    return explicit_model(
        "d[0] = -9.81; d[1] = y[0];",
        "e[0] = 0; e[1] = v[0];",
        ["v"],
        balance="power[4] = 0.5 * y[0] * y[0] + 9.81 * y[1];",
        displacements=("h",),
        variables=("v", "h"),
        events=[EventFunction("ground", "floor", direction, "transition" if terminal else "restart")],
        more="int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) { g[0] = y[1]; return 0; }",
    )


def sampled_integrator() -> NumericModel:
    """x' = m, where m is x sampled every 0.1 s and negated."""
    return explicit_model(
        "d[0] = c->memory[0];",
        "e[0] = 0;",
        ["x"],
        memory=("m",),
        initial_memory=np.zeros(1),
        sample_groups=(SampleGroup(0.1, 0.0, (0,)),),
        more="""int tg_sample(tg_context *c, double t, const double *y, const double *yp, int g, double *m) {
          m[0] = -y[0]; return 0; }""",
    )


def implicit_diode() -> NumericModel:
    """A capacitor of 1 F discharged through a resistor and a diode in series: the current w solves v = R w + V log(1 + w/I)."""
    source = """
#include <math.h>
#define R 2.0
#define V 0.1
#define I 0.01
int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  if (!(1 + y[1] / I > 0)) { c->failed = 2; return 1; }
  r[0] = yp[0] + y[1];
  r[1] = y[0] - R * y[1] - V * log1p(y[1] / I);
  return 0;
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp, const double *dp,
               double *dr) {
  static const double none[2];
  if (!dy) dy = none;
  if (!dyp) dyp = none;
  dr[0] = dyp[0] + dy[1];
  dr[1] = dy[0] - (R + V / (I + y[1])) * dy[1];
  return 0;
}
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {
  power[0] = power[2] = power[3] = 0;
  power[1] = y[0] * y[1];
  power[4] = 0.5 * y[0] * y[0];
  return 0;
}
"""
    return NumericModel.from_c(source, states=["v"], unknowns=["w"], name="diode", initial={"v": 1.0})
