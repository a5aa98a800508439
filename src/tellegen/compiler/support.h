/* What generated code calls: small systems, tables, and the check for values that are not finite. It follows model.h. */
#if defined(__GNUC__)
#define TG_UNUSED __attribute__((unused))
#else
#define TG_UNUSED
#endif

/* How much work long functions are to a compiler: less than short ones, and next to none where a run hardly calls them. */
#if defined(__GNUC__) && !defined(__clang__)
#define TG_LONG __attribute__((optimize("O1")))
#define TG_RARE __attribute__((optimize("O0")))
#else
#define TG_LONG
#define TG_RARE
#endif

/* Not a finite number times zero is not zero. */
static TG_UNUSED int tg_checked(tg_context *c, const double *out, int n, int first) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += out[i] * 0.0;
  if (sum == 0.0) return 0;
  for (int i = 0; i < n; i++)
    if (!(out[i] * 0.0 == 0.0)) { c->failed = first + i + 1; break; }
  return 1;
}

/* Gaussian elimination with partial pivoting; b becomes the solution. Returns 1 for a singular matrix. */
static TG_UNUSED int tg_solve(int n, double *a, double *b) {
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int i = k + 1; i < n; i++)
      if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
    if (!(fabs(a[pivot * n + k]) > 0.0)) return 1;
    if (pivot != k) {
      for (int j = k; j < n; j++) { const double x = a[k * n + j]; a[k * n + j] = a[pivot * n + j]; a[pivot * n + j] = x; }
      const double x = b[k]; b[k] = b[pivot]; b[pivot] = x;
    }
    for (int i = k + 1; i < n; i++) {
      const double factor = a[i * n + k] / a[k * n + k];
      if (factor == 0.0) continue;
      for (int j = k + 1; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
      b[i] -= factor * b[k];
    }
  }
  for (int k = n - 1; k >= 0; k--) {
    double sum = b[k];
    for (int j = k + 1; j < n; j++) sum -= a[k * n + j] * b[j];
    b[k] = sum / a[k * n + k];
  }
  return 0;
}

/* Newton's method. A step that makes the residual larger is halved; a linear system takes one step from zero. Where the
   slopes stay as they are, a whole step should leave nothing: what it leaves is rounding, and nothing better can be found.
   So a step that makes the residual a little larger is in doubt until the slopes behind it are known. */
typedef struct { int linear, round, halvings, failed, doubt; double before, earlier, slope; } tg_newton;

static TG_UNUSED void tg_begin(tg_newton *w, int n, double *x, const double *kept, int linear) {
  w->linear = linear; w->round = 0; w->halvings = 0; w->failed = 0; w->doubt = 0;
  w->before = w->earlier = HUGE_VAL; w->slope = 0.0;
  for (int i = 0; i < n; i++) x[i] = linear || !(kept[i] * 0.0 == 0.0) ? 0.0 : kept[i];
}

static TG_UNUSED int tg_halve(tg_newton *w, int n, double *x, double *step) {
  for (int i = 0; i < n; i++) { step[i] *= 0.5; x[i] += step[i]; }
  w->halvings++;
  w->doubt = 0;
  return 1;
}

static TG_UNUSED int tg_backs_up(tg_newton *w, int n, double *x, const double *r, double *step) {
  double norm = 0.0;
  for (int i = 0; i < n; i++) norm += r[i] * r[i];
  if (w->round > 0 && !(norm <= w->before) && w->halvings < 40) {
    double moved = 0.0;
    for (int i = 0; i < n; i++) if (fabs(step[i]) > 1e-11 * fabs(x[i])) moved = 1.0;
    if (moved > 0.0 || !(norm * 0.0 == 0.0)) {
      w->doubt = w->round > 1 && w->halvings == 0 && norm <= 1e4 * w->before;
      return w->doubt ? 0 : tg_halve(w, n, x, step);
    }
  }
  w->earlier = w->halvings == 0 ? w->before : HUGE_VAL;
  w->before = norm;
  w->halvings = 0;
  return 0;
}

static TG_UNUSED int tg_is_rounding(tg_newton *w, int n, const double *j) {
  double slope = 0.0, size = 0.0;
  for (int i = 0; i < n * n; i++) { const double e = (1.0 + 0.17 * (i % 7)) * j[i]; slope += e; size += fabs(e); }
  const int same = w->round > 1 && fabs(slope - w->slope) <= 1e-9 * size;
  if (!w->doubt) w->slope = slope;
  return same && (w->doubt || w->before >= 1e-8 * w->earlier);
}

static TG_UNUSED int tg_steps(tg_newton *w, int n, double *x, double *r, double *j, double *step) {
  int small = 1;
  if (!w->linear && tg_is_rounding(w, n, j)) return 1;
  if (w->doubt) return !tg_halve(w, n, x, step);
  if (tg_solve(n, j, r)) { w->failed = 1; return 1; }
  for (int i = 0; i < n; i++) {
    step[i] = r[i];
    x[i] -= r[i];
    if (!(fabs(r[i]) <= 1e-13 * fabs(x[i]) || fabs(r[i]) <= 1e-300)) small = 0;
  }
  w->round++;
  if (w->linear || small || w->before == 0.0) return 1;
  if (w->round < 60) return 0;
  for (int i = 0; i < n; i++)
    if (!(fabs(step[i]) <= 1e-9 * fabs(x[i]))) w->failed = 1;
  return 1;
}

static TG_UNUSED int tg_end(const tg_newton *w, int n, const double *x, double *kept) {
  for (int i = 0; i < n; i++) if (!(x[i] * 0.0 == 0.0)) return 1;
  if (!w->failed) for (int i = 0; i < n; i++) kept[i] = x[i];
  return w->failed;
}

/* A table: kind (0 linear, 1 previous, 2 cubic), count, points, values, and for cubic ones the slopes at the points. */
static TG_UNUSED int tg_interval(const double *points, int n, double x) {
  int low = 0, high = n - 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (points[middle] <= x) low = middle; else high = middle;
  }
  return low;
}

static TG_UNUSED double tg_table(const double *table, double x) {
  const int kind = (int)table[0], n = (int)table[1];
  const double *points = table + 2, *values = table + 2 + n, *slopes = table + 2 + 2 * n;
  if (!(x > points[0])) return values[0];
  if (x >= points[n - 1]) return values[n - 1];
  const int k = tg_interval(points, n, x);
  if (kind == 1) return values[k];
  const double h = points[k + 1] - points[k], s = (x - points[k]) / h;
  if (kind == 0) return values[k] + s * (values[k + 1] - values[k]);
  return values[k] * (1.0 + 2.0 * s) * (1.0 - s) * (1.0 - s) + values[k + 1] * s * s * (3.0 - 2.0 * s)
       + h * slopes[k] * s * (1.0 - s) * (1.0 - s) - h * slopes[k + 1] * s * s * (1.0 - s);
}

static TG_UNUSED double tg_slope(const double *table, double x) {
  const int kind = (int)table[0], n = (int)table[1];
  const double *points = table + 2, *values = table + 2 + n, *slopes = table + 2 + 2 * n;
  if (kind == 1 || !(x > points[0]) || x >= points[n - 1]) return 0.0;
  const int k = tg_interval(points, n, x);
  const double h = points[k + 1] - points[k], s = (x - points[k]) / h;
  if (kind == 0) return (values[k + 1] - values[k]) / h;
  return 6.0 * s * (1.0 - s) * (values[k + 1] - values[k]) / h
       + slopes[k] * (1.0 - s) * (1.0 - 3.0 * s) - slopes[k + 1] * s * (2.0 - 3.0 * s);
}
