/* The method of Kutta (1901), of order 4. */
static int tg_advance(tg_context *c, double n, const double *y, double *moved) {
  const double inside = tg_inside(n), at[4] = {inside, 0.5, 0.5, 1.0 - inside};
  static const double share[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
  double rate[TG_SIZE(TG_Y)], there[TG_SIZE(TG_Y)];
  for (int i = 0; i < TG_Y; i++) {
    rate[i] = 0.0;
    moved[i] = 0.0;
  }
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < TG_Y; i++) there[i] = y[i] + TG_STEP * share[k] * rate[i];
    if (tg_rhs(c, TG_STEP * (n + at[k]), there, rate)) return 1;
    for (int i = 0; i < TG_Y; i++) moved[i] += TG_STEP * weight[k] * rate[i];
  }
  return 0;
}
