/* What looped code shares: rows of sums, the functions of model.h over index tables, and the rates where there are any.
 * The kinds of operation (TG_SIGNED, ...), the places in the header (AT_name, N_name), where each table begins (tg_tables) and the laws
 * (tg_law, and tg_law_d for tangents) stand before. */
#define S(place) (c->structure[place]) /* an entry of the header */

/* Rows: targets, starts, sources. The source of a negative sign is its complement. */
static void tg_signed(int n, const int *ix, double *v) {
  const int *starts = ix + n, *sources = starts + n + 1;
  for (int r = 0, e = 0; r < n; r++) {
    double sum = 0.0;
    for (; e < starts[r + 1]; e++) { const int s = sources[e]; sum += s >= 0 ? v[s] : -v[~s]; }
    v[ix[r]] = sum;
  }
}
static void tg_weighted(int n, const int *ix, const double *k, const double *dk, const double *v, double *out) {
  const int *starts = ix + n, *sources = starts + n + 1, *gains = sources + starts[n];
  for (int r = 0, e = 0; r < n; r++) {
    double sum = 0.0;
    for (; e < starts[r + 1]; e++) {
      sum += k[gains[e]] * out[sources[e]];
      if (dk) sum += dk[gains[e]] * v[sources[e]];
    }
    out[ix[r]] = sum;
  }
}

/* Operations: a kind, how many members, where the table of indices begins, and a number of its own. */
static void tg_run(tg_context *c, const int *op, int count) {
  double *v = c->values;
  const double *k = c->constants;
  for (int j = 0; j < count; j++, op += TG_OPERATION) {
    const int n = op[1], *ix = c->structure + op[2];
    switch (op[0]) {
      case TG_SIGNED: tg_signed(n, ix, v); break;
      case TG_WEIGHTED: tg_weighted(n, ix, k, 0, v, v); break;
      case TG_TABLE: v[ix[0]] = tg_table(c->tables + tg_tables[op[3]], v[ix[1]]); break;
      case TG_SLOPE: v[ix[0]] = tg_slope(c->tables + tg_tables[op[3]], v[ix[1]]); break;
      case TG_PAST: v[ix[0]] = c->past ? c->past(c->history, op[3], v[ix[1]]) : v[ix[2]]; break;
      case TG_EXTERNAL: {
        double given[64];
        for (int i = 0; i < 64 && i < n; i++) given[i] = v[ix[1 + i]];
        v[ix[0]] = c->external(c->host, op[3], given);
        break;
      }
      default: tg_law(op[0] - TG_LAWS, n, ix, k, v);
    }
  }
}
/* The tangents of the same operations; what is read from the past or from the host has none. */
static void tg_follow(tg_context *c, const int *op, int count, const double *dk) {
  const double *v = c->values, *k = c->constants;
  double *d = c->tangents;
  for (int j = 0; j < count; j++, op += TG_OPERATION) {
    const int n = op[1], *ix = c->structure + op[2];
    switch (op[0]) {
      case TG_SIGNED: tg_signed(n, ix, d); break;
      case TG_WEIGHTED: tg_weighted(n, ix, k, dk, v, d); break;
      case TG_TABLE: d[ix[0]] = tg_slope(c->tables + tg_tables[op[3]], v[ix[1]]) * d[ix[1]]; break;
      case TG_SLOPE: case TG_PAST: case TG_EXTERNAL: d[ix[0]] = 0.0; break;
      default: tg_law_d(op[0] - TG_LAWS, n, ix, k, dk, v, d);
    }
  }
}

static void tg_load(tg_context *c, double t, const double *y, const double *yp) {
  const int n = S(AT_y), m = S(AT_inputs), k = S(AT_memory);
  double *v = c->values;
  v[0] = t;
  for (int i = 0; i < n; i++) v[1 + i] = y[i];
  for (int i = 0; i < n; i++) v[1 + n + i] = yp ? yp[i] : 0.0;
  for (int i = 0; i < m; i++) v[1 + 2 * n + i] = c->inputs[i];
  for (int i = 0; i < k; i++) v[1 + 2 * n + m + i] = c->memory[i];
}
/* The same for those of y and yp alone that powers read. */
static void tg_load_for_powers(tg_context *c, double t, const double *y, const double *yp) {
  const int n = S(AT_y), count = S(N_power_leaves), *leaves = c->structure + S(AT_power_leaves);
  if (2 * count > n) { tg_load(c, t, y, yp); return; }
  const int rest = S(AT_inputs), held = S(AT_memory);
  double *v = c->values;
  v[0] = t;
  for (int i = 0; i < count; i++) v[1 + leaves[i]] = leaves[i] < n ? y[leaves[i]] : yp[leaves[i] - n];
  for (int i = 0; i < rest; i++) v[1 + 2 * n + i] = c->inputs[i];
  for (int i = 0; i < held; i++) v[1 + 2 * n + rest + i] = c->memory[i];
}

/* Tangents of the leaves, and of the constants behind those of the variables; null where parameters stay. */
static const double *tg_load_tangents(tg_context *c, const double *dy, const double *dyp, const double *dp) {
  const int n = S(AT_y), rest = S(AT_inputs) + S(AT_memory);
  double *d = c->tangents, *dk = d + S(AT_variables);
  d[0] = 0.0;
  for (int i = 0; i < n; i++) { d[1 + i] = dy ? dy[i] : 0.0; d[1 + n + i] = dyp ? dyp[i] : 0.0; }
  for (int i = 0; i < rest; i++) d[1 + 2 * n + i] = 0.0;
  if (!dp) return 0;
  const int count = S(AT_slopes_values), constants = S(AT_constants), *rows = c->structure + S(AT_slopes), *columns = rows + count;
  for (int i = 0; i < constants; i++) dk[i] = 0.0;
  for (int e = 0; e < count; e++) dk[rows[e]] += c->constants[constants + e] * dp[columns[e]];
  return dk;
}

static int tg_gather(tg_context *c, const double *v, int place, int count, double *out, int first) {
  const int *ix = c->structure + place;
  for (int i = 0; i < count; i++) out[i] = v[ix[i]];
  return tg_checked(c, out, count, first);
}

#define RUN(name) tg_run(c, c->structure + S(AT_##name), S(N_##name))
#define FOLLOW(name) tg_follow(c, c->structure + S(AT_##name), S(N_##name), dk)
#define GATHER(v, name, out, first) tg_gather(c, v, S(AT_##name), S(N_##name), out, first)

int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_load(c, t, y, yp);
  RUN(core); RUN(residual_steps);
  return GATHER(c->values, residuals, out, 0);
}
int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp, const double *dp,
               double *out) {
  tg_load(c, t, y, yp);
  const double *dk = tg_load_tangents(c, dy, dyp, dp);
  RUN(core);
  FOLLOW(core); FOLLOW(residual_steps);
  return GATHER(c->tangents, residuals, out, 0);
}
static void tg_all(tg_context *c, double t, const double *y, const double *yp) {
  tg_load(c, t, y, yp);
  RUN(core); RUN(observing);
}
int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  return GATHER(c->values, observables, out, S(AT_y));
}
int tg_events(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  const int *ix = c->structure + S(AT_events);
  for (int i = 0; i < S(N_events); i++) out[i] = c->values[ix[i]];
  return 0;
}
/* Sums without the rounding of many small terms (Neumaier 1974). */
static double tg_total(const double *v, const int *ix, int n) {
  double sum = 0.0, lost = 0.0;
  for (int i = 0; i < n; i++) {
    const double x = v[ix[i]], next = sum + x;
    lost += fabs(sum) >= fabs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  return sum + lost;
}
static int tg_sum_powers(tg_context *c, double *out) {
  const int *s = c->structure, *starts = s + S(AT_resistive), count = S(N_resistive), *ports = starts + count + 1;
  double lost = 0.0, made = 0.0;
  for (int i = 0; i < count; i++) {
    double power = 0.0;
    for (int e = starts[i]; e < starts[i + 1]; e++) power += c->values[ports[e]];
    if (power > 0.0) lost += power; else made -= power;
  }
  out[0] = tg_total(c->values, s + S(AT_supplied), S(N_supplied));
  out[1] = lost;
  out[2] = made;
  out[3] = tg_total(c->values, s + S(AT_modulation), S(N_modulation));
  return tg_checked(c, out, 4, S(AT_y));
}
int tg_powers(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_load_for_powers(c, t, y, yp);
  RUN(power_steps);
  return tg_sum_powers(c, out);
}
int tg_balance(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_all(c, t, y, yp);
  out[4] = tg_total(c->values, c->structure + S(AT_stored), S(N_stored));
  return tg_sum_powers(c, out) || tg_checked(c, out + 4, 1, S(AT_y));
}
/* Samples: for each signal its group, its place in memory and the variable of its next value. */
int tg_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {
  tg_all(c, t, y, yp);
  const int *ix = c->structure + S(AT_samples);
  for (int i = 0; i < S(N_samples); i++)
    if (ix[3 * i] == group) memory[ix[3 * i + 1]] = c->values[ix[3 * i + 2]];
  return 0;
}

#if defined(TG_SOLVED_RATES)
int tg_rhs(tg_context *c, double t, const double *y, double *out) {
  tg_load(c, t, y, 0);
  RUN(core); RUN(rate_steps);
  return GATHER(c->values, rates, out, 0);
}
int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *out) {
  tg_load(c, t, y, 0);
  const double *dk = tg_load_tangents(c, dy, 0, dp);
  RUN(core);
  FOLLOW(core); FOLLOW(rate_steps);
  return GATHER(c->tangents, rates, out, 0);
}

#elif defined(TG_DIVIDED_RATES)
/* F = m yp - g with a diagonal m: F at rest gives -g, the tangent along ones gives m. */
static void tg_mass(tg_context *c) {
  const int n = S(AT_y);
  const double *dk = tg_load_tangents(c, 0, 0, 0);
  for (int i = 0; i < n; i++) c->tangents[1 + n + i] = 1.0;
  FOLLOW(core); FOLLOW(residual_steps);
}
int tg_rhs(tg_context *c, double t, const double *y, double *out) {
  const int n = S(AT_y), *ix = c->structure + S(AT_residuals);
  tg_load(c, t, y, 0);
  RUN(core); RUN(residual_steps);
  tg_mass(c);
  for (int i = 0; i < n; i++) out[i] = -c->values[ix[i]] / c->tangents[ix[i]];
  return tg_checked(c, out, n, 0);
}
int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *out) {
  const int n = S(AT_y), *ix = c->structure + S(AT_residuals);
  if (tg_rhs(c, t, y, out)) return 1;
  tg_load(c, t, y, out);
  RUN(core);
  tg_mass(c);
  for (int i = 0; i < n; i++) out[i] = -1.0 / c->tangents[ix[i]];
  const double *dk = tg_load_tangents(c, dy, 0, dp);
  FOLLOW(core); FOLLOW(residual_steps);
  for (int i = 0; i < n; i++) out[i] *= c->tangents[ix[i]];
  return tg_checked(c, out, n, 0);
}
#endif
