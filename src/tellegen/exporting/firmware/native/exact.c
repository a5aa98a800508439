/* The model is linear: while inputs are held, this is no approximation. What time alone decides is a parabola through its values at both
 * ends of the step and in its middle, and each of the three has its matrix. */
static int tg_advance(tg_context *c, double n, const double *y, double *moved) {
  const double inside = tg_inside(n), at[TG_COURSES] = TG_AT;
  (void)inside;
  double rate[TG_SIZE(TG_Y)];
  for (int i = 0; i < TG_Y; i++) moved[i] = 0.0;
  for (int k = 0; k < TG_COURSES; k++) {
    const double *gain = tg_held + k * TG_Y * TG_Y;
    if (tg_rhs(c, TG_STEP * (n + at[k]), y, rate)) return 1;
    for (int i = 0; i < TG_Y; i++)
      for (int j = 0; j < TG_Y; j++) moved[i] += gain[i * TG_Y + j] * rate[j];
  }
  return 0;
}
