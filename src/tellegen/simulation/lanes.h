/* Runs of one model, TG_WIDTH of them at a time: each lane has a time and a step of its own, and a lane whose run ends takes the next one.
 *
 * What this text is compiled with says what the model is (its straight lines), the method (TG_STAGE_CODE and others), what is kept, and
 * where it runs: as C every loop over lanes becomes vector instructions, on a graphics card there is one lane, and a thread for each. No lane
 * reads what is in another: a run has the same bits in any company.
 *
 * A run that does not go well here (steps that vanish, arguments that no function takes, many more steps than others need) ends with the
 * status TG_AGAIN, and whoever asked for it makes it again by the solvers for single runs.
 */
enum { TG_DONE = 0, TG_AGAIN = 100, TG_FAILURES = 40, TG_NODES = 6, TG_REFINEMENTS = 8 };
enum { TG_LAST, TG_AT, TG_MAX, TG_MIN, TG_TIME_OF_MAX, TG_TIME_OF_MIN, TG_INTEGRAL, TG_SQUARES };

typedef struct tg_lanes {
  TG_INT n_runs, n_rows, most_steps;
  TG_INT n_shared; /* so many stops are the same for all runs; else negative */
  const double *values, *starts, *untils;
  const double *stops; /* else those of all runs, one after the other; those of a run begin at its entry of `stops_from` */
  const TG_INT *stops_from;
  const double *row_times; /* a row of times for each run */
  const double *atol;
  double rtol, max_step;
  double *out, *rows, *reached;
  int *steps;
  signed char *status;
  TG_COUNTER *next;
  TG_FLAG cancel;
} tg_lanes;

typedef float tg_single[TG_WIDTH];
typedef int tg_marks[TG_WIDTH];

#ifdef TG_SINGLE
#define TG_NO_TIME 1e30
#define TG_EPSILON 1.1920929e-07
#else
#define TG_NO_TIME 1e300
#define TG_EPSILON 2.220446049250313e-16
#endif
/* So much more is asked of a step over a bend. */
#define TG_BENT 100.0
#define TG_SEES_INSIDE (TG_EXTREMES + TG_SUMS > 0)
#define TG_SEES_TIMES (TG_ROW_WIDTH + TG_ATS > 0)

/* Gauss and Lobatto with six points: exact to degree nine, and both ends of a step are among them. */
TG_TABLE double TG_NODE[TG_NODES] = {0.0, 0.11747233803526763, 0.35738424175967745, 0.6426157582403226, 0.8825276619647324, 1.0};
TG_TABLE double TG_WEIGHT[TG_NODES] = {1.0 / 30, 0.18923747814892347, 0.27742918851774318, 0.27742918851774318, 0.18923747814892347, 1.0 / 30};

static TG_INLINE double tg_gap(double t) { return 8.0 * TG_EPSILON * fabs(t); }

/* Logarithm and power of two for the control of steps, where three digits are plenty. */
typedef union tg_pattern {
  float value;
  int bits;
} tg_pattern;

static TG_INLINE float tg_rough_log(float x) {
  tg_pattern part;
  part.value = x;
  const float whole = (float)((part.bits >> 23) - 127);
  part.bits = (part.bits & 0x7fffff) | 0x3f800000;
  const float m = part.value;
  return whole + (-2.7868129f + m * (4.0469298f + m * (-1.6393103f + m * 0.3791934f)));
}

static TG_INLINE float tg_rough_power(float x) {
  const float low = x < -60.0f ? -60.0f : x, in = low > 60.0f ? 60.0f : low, whole = (in + 12582912.0f) - 12582912.0f, r = in - whole;
  tg_pattern part;
  part.bits = ((int)whole + 127) << 23;
  return part.value * (1.0f + r * (0.6931472f + r * (0.2402265f + r * (0.0555041f + r * 0.0096181f))));
}

/* What a lane needs between its steps. */
typedef struct tg_work {
  tg_wide constants[TG_N_CONSTANTS + 1], y[TG_N], y1[TG_N], s[TG_N], k[TG_ROWS_OF_RATES][TG_N + TG_BENDS];
  tg_wide t, next, step, stop, halt, until, most, at;
  tg_single old, ratio, factor;
  tg_marks rejected, failures, steps, ends, good, fresh;
  TG_INT run[TG_WIDTH];
  const double *stops[TG_WIDTH];
  TG_INT n_stops[TG_WIDTH];
  tg_wide told[TG_N_TOLD + 1];
#if TG_SEES_INSIDE || TG_SEES_TIMES
  tg_wide dense[TG_DENSE_ROWS][TG_N], seen[TG_N], x;
#endif
#if TG_SEES_TIMES
  TG_INT next_row[TG_WIDTH], next_at[TG_WIDTH];
  tg_wide due;
#endif
#if TG_SEES_INSIDE
  tg_wide best[TG_KEPT], when[TG_KEPT], sum[TG_KEPT], edge[TG_N_TOLD + 1];
#endif
} tg_work;

/* ---- What is kept ----------------------------------------------------------------------------------------------------------- */

#if TG_SEES_TIMES
static TG_INLINE double tg_due(const tg_lanes *a, const tg_work *w, int l) {
  double due = TG_NO_TIME;
#if TG_ROW_WIDTH
  if (w->next_row[l] < a->n_rows) due = a->row_times[w->run[l] * a->n_rows + w->next_row[l]];
#endif
#if TG_ATS
  if (w->next_at[l] < TG_ATS && TG_AT_TIME[w->next_at[l]] < due) due = TG_AT_TIME[w->next_at[l]];
#endif
  return due;
}

/* The rows and numbers that are asked for up to a time, from what is told now. */
static TG_INLINE void tg_write(const tg_lanes *a, tg_work *w, int l, double until) {
#if TG_ROW_WIDTH
  while (w->next_row[l] < a->n_rows && a->row_times[w->run[l] * a->n_rows + w->next_row[l]] <= until) {
    double *row = a->rows + (w->run[l] * a->n_rows + w->next_row[l]++) * TG_ROW_WIDTH;
    TG_UNROLL_ALL
    for (int q = 0; q < TG_ROW_WIDTH; q++) row[q] = w->told[TG_ROW_PLACE[q]][l];
  }
#endif
#if TG_ATS
  while (w->next_at[l] < TG_ATS && TG_AT_TIME[w->next_at[l]] <= until) {
    const int q = TG_AT_NUMBER[w->next_at[l]++];
    double value = 0.0;
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N_TOLD; i++) value = TG_PLACE[q] == i ? w->told[i][l] : value;
    a->out[w->run[l] * TG_KEPT + q] = value;
  }
#endif
}
#endif

#if TG_SEES_INSIDE || TG_SEES_TIMES
/* What is told at the part x of the present step, from its interpolant. */
static TG_INLINE void tg_look(tg_work *w) {
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) TG_EACH {
    const double x = w->x[l], z = 1.0 - x;
    (void)z;
    w->seen[i][l] = w->y[i][l] + TG_DENSE_VALUE;
  }
  TG_EACH w->at[l] = w->t[l] + w->x[l] * w->step[l];
  tg_told(w->at, w->seen, w->constants, w->told);
}

static TG_INLINE void tg_make_dense(tg_work *w) {
  TG_DENSE_CODE
}
#endif

#if TG_SEES_INSIDE
static TG_INLINE int tg_is_extreme(int kind) { return kind >= TG_MAX && kind <= TG_TIME_OF_MIN; }
static TG_INLINE double tg_direction(int kind) { return kind == TG_MIN || kind == TG_TIME_OF_MIN ? -1.0 : 1.0; }

/* The highest point of a channel in a step, between the nodes beside the highest of them: parabolas lead there. Only where it may be the
 * highest of the whole run is the motion asked at all. */
static TG_INLINE void tg_climb(tg_work *w, int q, tg_wide node[TG_NODES][TG_N_TOLD + 1]) {
  const double sign = tg_direction(TG_KIND[q]);
  const int place = TG_PLACE[q];
  tg_wide x0, x1, x2, v0, v1, v2, width;
  tg_marks goes;
  int any = 0;
  TG_SOME {
    int top = 0;
    goes[l] = w->good[l];
    w->x[l] = 1.0;
    if (!goes[l]) continue;
    for (int p = 0; p < TG_NODES; p++) {
      const double value = sign * node[p][place][l];
      if (value > w->best[q][l]) {
        w->best[q][l] = value;
        w->when[q][l] = w->t[l] + TG_NODE[p] * w->step[l];
      }
      if (value > sign * node[top][place][l]) top = p;
    }
    const int first = top == 0 ? 0 : top == TG_NODES - 1 ? TG_NODES - 3 : top - 1;
    x0[l] = TG_NODE[first];
    x1[l] = TG_NODE[first + 1];
    x2[l] = TG_NODE[first + 2];
    v0[l] = sign * node[first][place][l];
    v1[l] = sign * node[first + 1][place][l];
    v2[l] = sign * node[first + 2][place][l];
    width[l] = x2[l] - x0[l];
  }
  for (int round = 0; round < TG_REFINEMENTS; round++) {
    any = 0;
    TG_SOME if (goes[l]) {
      const double a = x1[l] - x0[l], b = x1[l] - x2[l], bend = a * (v1[l] - v2[l]) - b * (v1[l] - v0[l]);
      const double x = bend > 0.0 ? x1[l] - tg_over(0.5 * (a * a * (v1[l] - v2[l]) - b * b * (v1[l] - v0[l])), bend) : -1.0;
      const double high = tg_over(v0[l] * (x - x1[l]) * (x - x2[l]), (x0[l] - x1[l]) * (x0[l] - x2[l])) +
                          tg_over(v1[l] * (x - x0[l]) * (x - x2[l]), (x1[l] - x0[l]) * (x1[l] - x2[l])) +
                          tg_over(v2[l] * (x - x0[l]) * (x - x1[l]), (x2[l] - x0[l]) * (x2[l] - x1[l]));
      goes[l] = x > x0[l] && x < x2[l] && x != x1[l] && high > w->best[q][l] + 1e-14 * fabs(w->best[q][l]);
      if (goes[l]) w->x[l] = x;
      any |= goes[l];
    }
    if (!any) return;
    tg_look(w);
    TG_SOME if (goes[l]) {
      const double x = w->x[l], value = sign * w->told[place][l];
      const int right = x > x1[l], higher = value > v1[l];
      if (value > w->best[q][l]) {
        w->best[q][l] = value;
        w->when[q][l] = w->at[l];
      }
      const double out_x = higher ? x1[l] : x, out_v = higher ? v1[l] : value;
      if (higher == right) {
        x0[l] = out_x;
        v0[l] = out_v;
      } else {
        x2[l] = out_x;
        v2[l] = out_v;
      }
      x1[l] = higher ? x : x1[l];
      v1[l] = higher ? value : v1[l];
      goes[l] = x2[l] - x0[l] >= 1e-9 * width[l];
    }
  }
}

/* The nodes of a step that was accepted: sums grow, extremes are looked for. The first of them was told at the end of the step before. */
static TG_INLINE void tg_look_inside(tg_work *w) {
  /* Apart from all else: a place among the nodes is found at run time, and what is found so can stay in no register. */
  tg_wide node[TG_NODES][TG_N_TOLD + 1];
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N_TOLD; i++) TG_EACH node[0][i][l] = w->edge[i][l];
  for (int p = 1; p < TG_NODES; p++) {
    TG_EACH w->x[l] = TG_NODE[p];
    tg_look(w);
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N_TOLD; i++) TG_EACH node[p][i][l] = w->told[i][l];
  }
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N_TOLD; i++) TG_EACH w->edge[i][l] = w->good[l] ? w->told[i][l] : w->edge[i][l];
  TG_UNROLL_ALL
  for (int q = 0; q < TG_KEPT; q++) {
    if (tg_is_extreme(TG_KIND[q])) {
      tg_climb(w, q, node);
    } else if (TG_KIND[q] >= TG_INTEGRAL) {
      const int square = TG_KIND[q] == TG_SQUARES, place = TG_PLACE[q];
      TG_EACH {
        double mean = 0.0;
        for (int p = 0; p < TG_NODES; p++) {
          const double value = node[p][place][l];
          mean += TG_WEIGHT[p] * (square ? value * value : value);
        }
        w->sum[q][l] += w->good[l] ? w->step[l] * mean : 0.0;
      }
    }
  }
}
#endif

/* ---- Beginnings and ends ---------------------------------------------------------------------------------------------------- */

/* The next time at which a lane must stop: a break, or its end. Before a break it stops a little early, for values jump there. */
static TG_INLINE void tg_aim(tg_work *w, int l) {
  double halt = w->until[l];
  while (w->n_stops[l] > 0 && w->stops[l][0] <= w->t[l] + tg_gap(w->t[l])) {
    w->stops[l]++;
    w->n_stops[l]--;
  }
  const int breaks = w->n_stops[l] > 0 && w->stops[l][0] < halt;
  if (breaks) halt = w->stops[l][0];
  w->halt[l] = halt;
  w->stop[l] = breaks ? halt - tg_gap(halt) : halt;
  w->old[l] = -13.3f;
  w->ratio[l] = 0.0f;
  w->rejected[l] = w->failures[l] = 0;
}

static TG_INLINE void tg_take(const tg_lanes *a, tg_work *w, int l) {
  const TG_INT number = TG_NEXT(a->next);
  if (number >= a->n_runs) {
    /* An idle lane stands still: its steps have no length, and nothing is kept of them. */
    w->run[l] = -1;
    w->t[l] = 0.0;
    w->stop[l] = w->until[l] = w->halt[l] = TG_NO_TIME;
    w->next[l] = 0.0;
    w->good[l] = w->fresh[l] = 0;
    return;
  }
  w->run[l] = number;
  const double *values = a->values + number * TG_N_VALUES;
  tg_settle(values, w->constants, l);
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) w->y[i][l] = a->starts[number * TG_N + i];
  w->t[l] = 0.0;
  w->until[l] = a->untils[number];
  w->most[l] = a->max_step < w->until[l] ? a->max_step : w->until[l];
  const int shared = a->n_shared >= 0;
  w->stops[l] = a->stops + (shared ? 0 : a->stops_from[number]);
  w->n_stops[l] = shared ? a->n_shared : a->stops_from[number + 1] - a->stops_from[number];
  w->steps[l] = 0;
  w->fresh[l] = 2;
  tg_aim(w, l);
#if TG_SEES_TIMES
  w->next_row[l] = w->next_at[l] = 0;
#endif
#if TG_SEES_INSIDE
  TG_UNROLL_ALL
  for (int q = 0; q < TG_KEPT; q++) {
    w->best[q][l] = -INFINITY;
    w->when[q][l] = NAN;
    w->sum[q][l] = 0.0;
  }
#endif
}

static TG_INLINE void tg_finish(const tg_lanes *a, tg_work *w, int l, int status) {
  const TG_INT number = w->run[l];
  double *out = a->out + number * TG_KEPT;
#if TG_SEES_TIMES
  tg_write(a, w, l, TG_NO_TIME);
#endif
  TG_UNROLL_ALL
  for (int q = 0; q < TG_KEPT; q++) {
    const int kind = TG_KIND[q];
    if (kind == TG_LAST) out[q] = w->told[TG_PLACE[q]][l];
#if TG_SEES_INSIDE
    else if (kind == TG_TIME_OF_MAX || kind == TG_TIME_OF_MIN) out[q] = w->when[q][l];
    else if (kind == TG_MAX || kind == TG_MIN) out[q] = tg_direction(kind) * w->best[q][l];
    else if (kind >= TG_INTEGRAL) out[q] = w->sum[q][l];
#endif
  }
  a->reached[number] = w->t[l];
  a->steps[number] = w->steps[l];
  a->status[number] = (signed char)status;
}

/* The first step after a start or a break. */
static TG_INLINE void tg_first_steps(const tg_lanes *a, tg_work *w) {
#if TG_KEEPS_STEP
  tg_rates(w->t, w->y, w->constants, w->k[TG_STAGES]);
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) TG_EACH w->k[0][i][l] = w->fresh[l] ? w->k[TG_STAGES][i][l] : w->k[0][i][l];
  TG_EACH w->next[l] = a->max_step;
#else
  tg_wide span, h;
  TG_EACH {
    span[l] = w->until[l] - w->t[l];
    h[l] = 0.0;
  }
  /* Twice the same, at the start and a little later: a loop, so that the rates stand in the program once. */
  TG_ROLLED
  for (int later = 0; later < 2; later++) {
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N; i++) TG_EACH w->s[i][l] = w->y[i][l] + h[l] * w->k[0][i][l];
    TG_EACH w->at[l] = w->t[l] + h[l];
    tg_rates(w->at, w->s, w->constants, w->k[TG_STAGES]);
    if (later) break;
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N + TG_BENDS; i++) TG_EACH w->k[0][i][l] = w->fresh[l] ? w->k[TG_STAGES][i][l] : w->k[0][i][l];
    TG_EACH {
      double size = 0.0, slope = 0.0;
      TG_UNROLL_ALL
      for (int i = 0; i < TG_N; i++) {
        const double scale = tg_over(1.0, a->atol[i] + a->rtol * fabs(w->y[i][l])), y = fabs(w->y[i][l]) * scale, f = fabs(w->k[0][i][l]) * scale;
        size = y > size ? y : size;
        slope = f > slope ? f : slope;
      }
      const double found = size < 1e-5 || slope < 1e-5 ? 1e-6 * span[l] : tg_over(0.01 * size, slope);
      const double least = 1e3 * tg_gap(w->t[l]), more = found > least ? found : least;
      h[l] = more < span[l] ? more : span[l];
    }
  }
  TG_EACH {
    double most = 0.0, sum = 0.0;
    const double back = tg_over(1.0, h[l]);
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N; i++) {
      const double scale = tg_over(1.0, a->atol[i] + a->rtol * fabs(w->y[i][l])), f = fabs(w->k[0][i][l]) * scale;
      const double bend = fabs(w->k[TG_STAGES][i][l] - w->k[0][i][l]) * scale * back, larger = bend > f ? bend : f;
      most = larger > most ? larger : most;
      sum += w->k[TG_STAGES][i][l] * 0.0;
    }
    const float share = (float)tg_over(0.01, most > 1e-30 ? most : 1e-30);
    const double by = most <= 1e-15 ? (1e-6 * span[l] > 1e-3 * h[l] ? 1e-6 * span[l] : 1e-3 * h[l]) :
      (double)tg_rough_power(tg_rough_log(share) * (1.0f / TG_ORDER));
    const double longest = 100.0 * h[l] < by ? 100.0 * h[l] : by, in = longest < span[l] ? longest : span[l];
    const double found = sum == 0.0 ? in : 0.01 * h[l];
    /* After a break the step before it is a guide, too. */
    const double near = w->next[l] < found ? w->next[l] : found, after = near > 0.01 * w->next[l] ? near : 0.01 * w->next[l];
    w->next[l] = w->fresh[l] == 2 ? found : w->fresh[l] == 1 ? after : w->next[l];
  }
#endif
}

/* Lanes that stand at a halt go on, or take the next run; gives 0 when all of them are idle. */
static TG_INLINE int tg_change(const tg_lanes *a, tg_work *w) {
  int any = 0, active = 0;
  tg_told(w->t, w->y, w->constants, w->told);
  TG_SOME {
    w->fresh[l] = 0;
    const int failed = w->failures[l] > TG_FAILURES, stands = !(w->t[l] < w->stop[l]);
    if (stands || failed) {
      const double after = w->halt[l] + tg_gap(w->halt[l]);
      if (!failed && w->halt[l] < w->until[l] && w->halt[l] + 2.0 * tg_gap(w->halt[l]) < w->until[l]) {
        w->t[l] = after;
        w->fresh[l] = 1;
        tg_aim(w, l);
      } else {
        if (w->run[l] >= 0) tg_finish(a, w, l, failed ? TG_AGAIN : TG_DONE);
        tg_take(a, w, l);
      }
    }
    any |= w->fresh[l];
    active |= w->run[l] >= 0;
  }
  if (!any) return active;
  tg_first_steps(a, w);
#if TG_SEES_INSIDE || TG_SEES_TIMES
  tg_told(w->t, w->y, w->constants, w->told);
  TG_SOME if (w->fresh[l]) {
#if TG_SEES_TIMES
    tg_write(a, w, l, w->t[l]);
    w->due[l] = tg_due(a, w, l);
#endif
#if TG_SEES_INSIDE
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N_TOLD; i++) w->edge[i][l] = w->told[i][l];
    TG_UNROLL_ALL
    for (int q = 0; q < TG_KEPT; q++) {
      const double value = tg_direction(TG_KIND[q]) * w->told[TG_PLACE[q]][l];
      if (tg_is_extreme(TG_KIND[q]) && value > w->best[q][l]) {
        w->best[q][l] = value;
        w->when[q][l] = w->t[l];
      }
    }
#endif
  }
#endif
  return active;
}

/* ---- Steps ------------------------------------------------------------------------------------------------------------------ */

/* The error of the step, 1 being the tolerance; what was no number anywhere counts as one. */
#if TG_KEEPS_STEP
/* Every step is good whose values are numbers; a run with others is given up. */
static TG_INLINE void tg_judge(const tg_lanes *a, tg_work *w) {
  tg_wide none;
  TG_EACH none[l] = 0.0;
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) TG_EACH none[l] += (w->y1[i][l] + w->k[TG_STAGES][i][l]) * 0.0;
  TG_EACH {
    const int known = none[l] == 0.0;
    w->failures[l] = known ? 0 : TG_FAILURES + 1;
    w->good[l] = known && w->run[l] >= 0;
  }
}
#else
static TG_INLINE void tg_judge(const tg_lanes *a, tg_work *w) {
  tg_wide fine, coarse, none;
  tg_marks bent;
  TG_EACH bent[l] = 0;
  TG_UNROLL_ALL
  for (int i = TG_N; i < TG_N + TG_BENDS; i++) TG_EACH bent[l] |= w->k[0][i][l] != w->k[TG_STAGES][i][l];
  TG_EACH fine[l] = coarse[l] = none[l] = 0.0;
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) {
    const double atol = a->atol[i], rtol = a->rtol;
    TG_EACH {
      const double before = fabs(w->y[i][l]), after = fabs(w->y1[i][l]);
      const double scale = tg_over(1.0, atol + rtol * (before > after ? before : after));
      const double e = fabs(TG_ERROR) * scale, c = fabs(TG_COARSE) * scale;
      fine[l] = e > fine[l] ? e : fine[l];
      coarse[l] = c > coarse[l] ? c : coarse[l];
      none[l] += (w->y1[i][l] + w->k[TG_STAGES][i][l]) * 0.0;
    }
  }
  TG_EACH {
#if TG_HAS_COARSE
    /* Of two estimates the finer one is too large and falls more slowly with the step than the error does (Hairer, Norsett and
     * Wanner, Solving Ordinary Differential Equations I, section II.10). One that happens to pass through zero would count twice. */
    const float now = (float)tg_over(fine[l], coarse[l] + 1e-300), larger = now > w->ratio[l] ? now : w->ratio[l];
    const float seen = fine[l] > 0.0 ? larger : w->ratio[l], bound = seen < 1.0f ? seen : 1.0f;
    w->ratio[l] = 0.9f * bound;
    const double smooth = fine[l] * (double)(seen / sqrt(seen * seen + 0.01f)), rough = fine[l] > coarse[l] ? fine[l] : coarse[l];
#else
    const double smooth = fine[l], rough = fine[l];
#endif
    /* In a step over a bend errors of all orders are of a like size, fall with its square, and may be small by chance in any estimate. */
    const double error = (bent[l] ? TG_BENT * rough : smooth) * w->step[l] / TG_SHARE;
    const int known = none[l] == 0.0 && error < 1e30;
    const float e = tg_rough_log((float)(error > 1e-10 ? (error < 1e30 ? error : 1e30) : 1e-10));
    const float shrunk = TG_CAUTION * tg_rough_power(-e * (bent[l] ? 0.5f : 1.0f / TG_ORDER)), less = known ? (shrunk > 0.2f ? shrunk : 0.2f) : 0.25f;
    const float grown = TG_CAUTION * tg_rough_power(TG_PI_SHARE * w->old[l] - (1.0f / TG_ORDER - TG_PI_PART * TG_PI_SHARE) * e);
    const float most = w->rejected[l] ? 1.0f : 6.0f, kept = grown > 0.333f ? grown : 0.333f, more = kept < most ? kept : most;
    const int good = known && error <= 1.0;
    w->factor[l] = good ? more : less;
    w->old[l] = good ? (e > -13.3f ? e : -13.3f) : w->old[l];
    w->rejected[l] = !good;
    w->failures[l] = known ? 0 : w->failures[l] + 1;
    w->good[l] = good && w->run[l] >= 0;
  }
}
#endif

TG_ENTRY void tg_run_lanes(TG_LANES *shared) {
  tg_work work, *w = &work;
  const tg_lanes copy = *shared, *a = &copy;
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N; i++) TG_EACH w->y[i][l] = w->y1[i][l] = 0.0;
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N + TG_BENDS; i++) TG_EACH w->k[0][i][l] = 0.0;
  TG_UNROLL_ALL
  for (int i = 0; i < TG_N_CONSTANTS; i++) TG_EACH w->constants[i][l] = 1.0;
  TG_SOME {
    w->run[l] = -1; /* it stands at an end, and takes its first run there */
    w->t[l] = w->stop[l] = w->until[l] = w->halt[l] = w->next[l] = w->step[l] = w->most[l] = 0.0;
    w->fresh[l] = w->good[l] = w->failures[l] = w->steps[l] = w->rejected[l] = 0;
    w->ratio[l] = w->old[l] = 0.0f;
#if TG_SEES_TIMES
    w->due[l] = TG_NO_TIME;
#endif
  }
  int changes = 1;
  for (;;) {
    if (changes && !tg_change(a, w)) break;
    if (TG_CANCELLED(shared)) break;
    TG_EACH {
      const double left = w->stop[l] - w->t[l], h = w->next[l] < w->most[l] ? w->next[l] : w->most[l];
      const int ends = h >= left * (1.0 - 1e-12);
      w->ends[l] = ends;
      w->step[l] = ends ? left : !TG_KEEPS_STEP && h > 0.5 * left ? 0.5 * left : h;
    }
    TG_STAGE_CODE
    tg_judge(a, w);
#if TG_SEES_INSIDE
    tg_make_dense(w);
    tg_look_inside(w);
#endif
#if TG_SEES_TIMES
    int have_dense = TG_SEES_INSIDE;
    for (;;) {
      int any = 0;
      TG_SOME {
        const double reached = w->ends[l] ? w->stop[l] : w->t[l] + w->step[l];
        const int wants = w->good[l] && w->due[l] <= reached;
        w->x[l] = wants ? tg_over(w->due[l] - w->t[l], w->step[l]) : 1.0;
        any |= wants;
      }
      if (!any) break;
      if (!have_dense) tg_make_dense(w);
      have_dense = 1;
      tg_look(w);
      TG_SOME {
        const double reached = w->ends[l] ? w->stop[l] : w->t[l] + w->step[l];
        if (w->good[l] && w->due[l] <= reached) {
          tg_write(a, w, l, w->due[l]);
          w->due[l] = tg_due(a, w, l);
        }
      }
    }
#endif
    changes = 0;
    TG_EACH {
      const int good = w->good[l], idle = w->run[l] < 0, tiny = !idle && w->step[l] <= tg_gap(w->t[l]) && w->step[l] < w->stop[l] - w->t[l];
      w->t[l] = good ? (w->ends[l] ? w->stop[l] : w->t[l] + w->step[l]) : w->t[l];
      w->next[l] = idle ? 0.0 : TG_KEEPS_STEP ? a->max_step : w->step[l] * (double)w->factor[l];
      w->steps[l] += idle ? 0 : 1;
      w->failures[l] = tiny || w->steps[l] > (int)a->most_steps ? TG_FAILURES + 1 : w->failures[l];
      w->ends[l] = !idle && (!(w->t[l] < w->stop[l]) || w->failures[l] > TG_FAILURES);
    }
    TG_SOME changes |= w->ends[l];
    /* Where steps are given none is made again: what stood before it need not be kept. */
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N; i++) TG_EACH w->y[i][l] = TG_KEEPS_STEP || w->good[l] ? w->y1[i][l] : w->y[i][l];
    TG_UNROLL_ALL
    for (int i = 0; i < TG_N + TG_BENDS; i++) TG_EACH w->k[0][i][l] = TG_KEEPS_STEP || w->good[l] ? w->k[TG_STAGES][i][l] : w->k[0][i][l];
  }
}
