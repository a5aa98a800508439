/* A linearly implicit method of order 2 that damps whatever is faster than the step, in the same time at each: two rates, their slopes, and
 * two linear systems (Verwer, Spee, Blom and Hundsdorfer 1999, ROS2). Its order needs no slopes by the time. */
static int tg_advance(tg_context *c, double n, const double *y, double *moved) {
  const double gamma = 1.7071067811865475 * TG_STEP, begin = TG_STEP * (n + tg_inside(n)), end = TG_STEP * (n + 1.0 - tg_inside(n));
  double system[TG_SIZE(TG_Y * TG_Y)], copy[TG_SIZE(TG_Y * TG_Y)], first[TG_SIZE(TG_Y)], second[TG_SIZE(TG_Y)];
  double dy[TG_SIZE(TG_Y)], df[TG_SIZE(TG_Y)];
  if (tg_rhs(c, begin, y, first)) return 1;
  for (int j = 0; j < TG_Y; j++) {
    for (int i = 0; i < TG_Y; i++) dy[i] = i == j ? 1.0 : 0.0;
    if (tg_rates_along(c, begin, y, dy, 0, 0, df)) return 1;
    for (int i = 0; i < TG_Y; i++) system[i * TG_Y + j] = copy[i * TG_Y + j] = dy[i] - gamma * df[i];
  }
  if (tg_solve(TG_Y, copy, first)) return 1;
  for (int i = 0; i < TG_Y; i++) dy[i] = y[i] + TG_STEP * first[i];
  if (tg_rhs(c, end, dy, second)) return 1;
  for (int i = 0; i < TG_Y; i++) second[i] -= 2.0 * first[i];
  if (tg_solve(TG_Y, system, second)) return 1;
  for (int i = 0; i < TG_Y; i++) moved[i] = TG_STEP * (1.5 * first[i] + 0.5 * second[i]);
  return 0;
}
