/* What generated code calls: small systems, tables, and the check for values that are not finite. It follows model.h. */
#if defined(__GNUC__)
#define TG_UNUSED __attribute__((unused))
#else
#define TG_UNUSED
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
