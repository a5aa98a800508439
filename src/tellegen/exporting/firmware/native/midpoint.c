/* The implicit midpoint rule, of order 2: stable however stiff the model is, and a lossless one keeps its energy where that is quadratic.
 * Its rate k = f(y + h k/2) is found by Newton's method. */
enum { TG_MOST_CORRECTIONS = 25 };

static int tg_advance(tg_context *c, double n, const double *y, double *step) {
  const double t = TG_STEP * (n + 0.5), half = 0.5 * TG_STEP;
  double middle[TG_SIZE(TG_Y)], rate[TG_SIZE(TG_Y)], slopes[TG_SIZE(TG_Y * TG_Y)], dy[TG_SIZE(TG_Y)], df[TG_SIZE(TG_Y)];
  double before = HUGE_VAL;
  for (int i = 0; i < TG_Y; i++) middle[i] = y[i];
  for (int round = 0; round < TG_MOST_CORRECTIONS; round++) {
    double moved = 0.0;
    if (tg_rhs(c, t, middle, rate)) return 1;
    for (int j = 0; j < TG_Y; j++) {
      for (int i = 0; i < TG_Y; i++) dy[i] = i == j ? 1.0 : 0.0;
      if (tg_rates_along(c, t, middle, dy, 0, 0, df)) return 1;
      for (int i = 0; i < TG_Y; i++) slopes[i * TG_Y + j] = dy[i] - half * df[i];
    }
    for (int i = 0; i < TG_Y; i++) df[i] = middle[i] - y[i] - half * rate[i];
    if (tg_solve(TG_Y, slopes, df)) return 1;
    for (int i = 0; i < TG_Y; i++) {
      middle[i] -= df[i];
      moved = fmax(moved, fabs(df[i]) / (TG_EPSILON + fabs(middle[i])));
    }
    if (!(moved * 0.0 == 0.0)) return 1;
    /* What does not shrink any more is rounding, where it is small. */
    if (moved <= 8.0 * TG_EPSILON || (moved <= TG_SMALL && moved >= 0.5 * before)) {
      for (int i = 0; i < TG_Y; i++) step[i] = 2.0 * (middle[i] - y[i]);
      return 0;
    }
    before = moved;
  }
  return 1;
}
