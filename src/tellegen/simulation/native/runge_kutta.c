/* An explicit Runge-Kutta pair of high order with dense output. Its coefficients, and the code of its stages written out, are macros of
 * `dormand_prince.h`, which `tools/solver_headers.py` writes from the tableau of `solvers/coefficients.py`: sums without the zeros of the
 * tableau, in loops that a compiler can turn into vectors.
 */
#include "contents.h"
#include "job.h"

#include "dormand_prince.h"

#define RHS(j, t, y, k) (j)->rhs((j)->context, t, y, k)

/* The share of the tolerance that a single step may use, for errors of steps add up; and the share of the step that this would allow which
 * is taken. At this order a little less of a step makes much less of an error, and few steps are taken in vain. */
static const double SHARE = 0.25, CAUTION = 0.8;
/* What one estimate of the error is of the other falls by no more than this from step to step. */
static const double FADING = 0.9;
static const double LARGEST_DEFECT = 100;
static const double SMALL_ERROR = -9.210340371976182; /* the logarithm of 1e-4: below that an error says no more of the next one */

typedef struct work {
  tg_job *job;
  double *k[ALL_STAGES]; /* k[0] belongs to the start of the step, k[STAGES] to its end; there is room for powers behind the rates */
  double *arguments[STAGES]; /* of the stages: the first one begins at y */
  double *s;             /* argument of a stage of the interpolant */
  double *y1;
  double *dense[DENSE_ROWS];
  double *point, *slope; /* on the interpolant */
  double *g0, *g1, *gm;  /* event functions at both ends and in between */
  double *ga, *gx;       /* before that, and where they may turn back */
  double *bands;         /* of bends that rest */
  int *signs;
  double power[4];       /* mean power of the step, by the weights of the method */
  double t, h;
  double ratio;          /* of the two estimates of the error, in the steps before */
  int has_dense, has_powers; /* of the step: its interpolant; of all steps: powers behind the rates */
  tg_turns turns;
  tg_contents kept;
} work;

/* the rates of a stage, and the powers behind them where the model tells both at once */
static int rates(const work *w, double t, const double *y, double *k) {
  tg_job *j = w->job;
  return w->has_powers ? j->rhs_powers(j->context, t, y, k) : RHS(j, t, y, k);
}

/* mean powers grow by the weight of a stage */
static int book_stage(work *w, double weight, double t, const double *y, const double *rate) {
  double found[5];
  const double *power = w->has_powers ? rate + w->job->n : found;
  if (!w->has_powers && tg_powers_of(w->job, t, y, rate, found)) return 1;
  for (int b = 0; b < 4; b++) w->power[b] += weight * power[b];
  return 0;
}

/* the powers of a step that is accepted, at its stages */
static int book_step(work *w) {
  tg_job *j = w->job;
  memset(w->power, 0, sizeof w->power);
  BOOK_CODE(book_stage)
  return 0;
}

static int pass_stage(work *w, double weight, double t, const double *y, const double *rate) {
  return tg_contents_pass(&w->kept, w->job, weight * w->h, t, y, rate);
}

/* what storages keep, followed over the stages of a step */
static int follow_contents(work *w) {
  tg_job *j = w->job;
  if (tg_contents_begin(&w->kept, j, w->t, j->y, w->k[0])) return 1;
  BOOK_CODE(pass_stage)
  return 0;
}

/* Whether the step has flown over a steep part of a law. */
static int flies_over(work *w) {
  tg_job *j = w->job;
  return j->n_contents && !follow_contents(w) && tg_contents_hide(&w->kept, j, w->t + w->h, j->y, w->y1, w->k[STAGES - 1]);
}

/* all stages of a step from t; w->y1 is the result */
static int stages(work *w, double t, double h) {
  tg_job *j = w->job;
  const int n = j->n;
  const double *restrict y = j->y;
  double *s, **k = w->k;
  (void)n;
  STAGE_CODE
  return 0;
}

/* The error by two estimates, of which the finer one is too large and falls more slowly with the step than the error does. Their ratio tells
 * by how much (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section II.10). An estimate that happens to pass through
 * zero would count twice then, and let a step pass that is far too long: so the ratio fades slowly. */
static double combined(work *w, double fine, double coarse) {
  if (fine == 0 || coarse == 0) return fine;
  double now = fine / coarse, ratio = now > w->ratio ? now : w->ratio;
  w->ratio = FADING * fmin(ratio, 1);
  return fine * ratio / sqrt(ratio * ratio + 0.01);
}

/* the error of the step in the maximum norm, 1 being the tolerance */
static double error_of(work *w, double h) {
  tg_job *j = w->job;
  const int n = j->n;
  double **k = w->k;
  double e0 = 0, e1 = 0;
  for (int i = 0; i < n; i++) {
    double scale = 1 / (j->atol[i] + j->rtol * fmax(fabs(j->y[i]), fabs(w->y1[i])));
    double a = fabs(ERROR_0) * scale, b = fabs(ERROR_1) * scale;
    if (!(a <= e0)) e0 = a;
    if (!(b <= e1)) e1 = b;
  }
  return combined(w, e0, e1) * fabs(h) / SHARE;
}

/* the further stages and the polynomial of the step; only where a row or an event asks for it */
static int make_dense(work *w) {
  if (w->has_dense) return 0;
  tg_job *j = w->job;
  const int n = j->n;
  const double *restrict y = j->y;
  const double t = w->t, h = w->h;
  double *restrict s = w->s;
  double **k = w->k;
  DENSE_CODE
  w->has_dense = 1;
  return 0;
}

static void evaluate(const work *w, double t, double *out) {
  const tg_job *j = w->job;
  const int n = j->n;
  double x = (t - w->t) / w->h, z = 1 - x;
  for (int i = 0; i < n; i++) out[i] = j->y[i] + DENSE_VALUE;
}

static double first_step(work *w, double span) {
  tg_job *j = w->job;
  const int n = j->n;
  double size = 0, slope = 0, bend = 0;
  for (int i = 0; i < n; i++) {
    double scale = j->atol[i] + j->rtol * fabs(j->y[i]);
    size = fmax(size, fabs(j->y[i]) / scale);
    slope = fmax(slope, fabs(w->k[0][i]) / scale);
  }
  double h = size < 1e-5 || slope < 1e-5 ? 1e-6 * span : 0.01 * size / slope;
  h = fmin(fmax(h, 1e3 * tg_gap(j->t)), span); /* a state that begins at rounding errors must not set the pace */
  for (int i = 0; i < n; i++) w->s[i] = j->y[i] + h * w->k[0][i];
  j->rhs_calls++;
  if (RHS(j, j->t + h, w->s, w->k[1])) return h / 100;
  for (int i = 0; i < n; i++) {
    double scale = j->atol[i] + j->rtol * fabs(j->y[i]);
    bend = fmax(bend, fabs(w->k[1][i] - w->k[0][i]) / scale / h);
  }
  double most = fmax(slope, bend), next = most <= 1e-15 ? fmax(1e-6 * span, h * 1e-3) : pow(0.01 / most, 1.0 / ORDER);
  return fmin(fmin(100 * h, next), span);
}

/* ---- events --------------------------------------------------------------------------------------------------------------- */

static int events_at(work *w, double t, const double *y, double *g) {
  tg_job *j = w->job;
  j->rhs_calls++;
  return RHS(j, t, y, w->slope) || j->events(j->context, t, y, w->slope, g);
}

static int guards_at(void *solver, double t, double *g) {
  work *w = solver;
  evaluate(w, t, w->point);
  return events_at(w, t, w->point, g);
}

/* Bends rest that were found where the run stands now. */
static void let_bends_rest(work *w) {
  tg_job *j = w->job;
  if (!tg_any_bend(j, w->signs)) return;
  for (int alike = 0; alike < 2; alike++) {
    tg_move_by_tolerances(j, alike, w->point);
    if (!events_at(w, j->t, w->point, w->gx)) tg_rest_bends(j, w->signs, w->g0, w->gx);
  }
}

/* Whether formulas bend in the whole of the step and none jumps: a jump that no step gets across is one that holds the motion. */
static int passes_bend(work *w) {
  tg_job *j = w->job;
  int bends = 0;
  if (!j->n_events || events_at(w, w->t + w->h, w->y1, w->g1)) return 0;
  for (int e = 0; e < j->n_events; e++) {
    if (!tg_crosses(j, e, w->g0[e], w->g1[e])) continue;
    if (!j->bends[e]) return 0;
    bends = 1;
  }
  return bends;
}

/* The crossing between two times closed in by bisection on all event functions at once, which needs no more than 52 halvings and cannot
 * be led astray; w->gm and w->g1 hold them at both ends. Gives the time just after the crossing. */
static int close_in(work *w, double low, double high, double *at) {
  tg_job *j = w->job;
  size_t size = sizeof(double) * (size_t)j->n_events;
  double *middle = w->g0; /* of use no more */
  while (high - low > tg_gap(high)) {
    double half = 0.5 * (low + high);
    if (half <= low || half >= high) break;
    if (guards_at(w, half, middle)) return -1;
    if (tg_any_crossing(j, w->gm, middle)) {
      high = half;
      memcpy(w->g1, middle, size);
    } else {
      low = half;
      memcpy(w->gm, middle, size);
    }
  }
  if (tg_has_latches(j)) { /* where a function is zero, a condition may not be on its other side yet */
    high = fmin(high + 4 * tg_gap(high), w->t + w->h);
    if (guards_at(w, high, w->g1)) return -1;
  }
  for (int e = 0; e < j->n_events; e++)
    w->signs[e] = tg_crosses(j, e, w->gm[e], w->g1[e]) ? (w->g1[e] > w->gm[e] || w->gm[e] < 0 ? 1 : -1) : 0;
  *at = high;
  return 1;
}

/* The first crossing in the step, looked for at quarters of it and where an event function turns back between them. Returns 1 with the
 * time just after the crossing, 0 without one. */
static int find_event(work *w, double *at) {
  tg_job *j = w->job;
  size_t size = sizeof(double) * (size_t)j->n_events;
  double low = w->t, quarter = 0.25 * w->h;
  memcpy(w->gm, w->g0, size);
  for (int q = 1; q <= 4; q++) {
    double high = w->t + q * quarter;
    if (q < 4 ? guards_at(w, high, w->g1) : events_at(w, high, w->y1, w->g1)) return -1;
    if (tg_any_crossing(j, w->gm, w->g1)) return close_in(w, low, high, at);
    if (q > 1) {
      double times[3] = {low - quarter, low, high}, *known[3] = {w->ga, w->gm, w->g1}, found;
      int hidden = tg_hidden_event(j, guards_at, w, times, known, w->gx, &found);
      if (hidden < 0) return -1;
      if (hidden) {
        if (found < low) memcpy(w->gm, w->ga, size);
        memcpy(w->g1, w->gx, size);
        return close_in(w, found < low ? low - quarter : low, found, at);
      }
    }
    memcpy(w->ga, w->gm, size);
    memcpy(w->gm, w->g1, size);
    low = high;
  }
  return 0;
}

/* ---- the loop ------------------------------------------------------------------------------------------------------------- */

/* room for a step: all that `work` points to, in one piece */
static double *take_room(work *w, size_t n, size_t e) {
  double *room = calloc((ALL_STAGES + STAGES + DENSE_ROWS + 5) * n + 4 * (ALL_STAGES + 1) + 6 * e + 1, sizeof(double)), *next = room;
  if (!room) return 0;
  for (int k = 0; k < ALL_STAGES; k++, next += n + 4) w->k[k] = next;
  for (int k = 0; k < STAGES; k++, next += n) w->arguments[k] = next;
  for (int k = 0; k < DENSE_ROWS; k++, next += n) w->dense[k] = next;
  w->s = next;
  w->y1 = next += n;
  w->point = next += n;
  w->slope = next += n;
  w->g0 = next += n + 4;
  w->g1 = next += e;
  w->gm = next += e;
  w->ga = next += e;
  w->gx = next += e;
  w->bands = next += e;
  return room;
}

/* How far the slope of the interpolant is from the right-hand side, over the step and in tolerances. */
static double defect(const work *w, double t, const double *y, const double *yp) {
  const tg_job *j = w->job;
  const int n = j->n;
  double x = (t - w->t) / w->h, most = 0;
  for (int i = 0; i < n; i++) {
    double value = w->dense[DENSE_ROWS - 1][i], slope = 0;
    for (int r = DENSE_ROWS - 2; r >= 0; r--) {
      double by = r % 2 ? x : 1 - x;
      slope = (r % 2 ? value : -value) + by * slope;
      value = w->dense[r][i] + by * value;
    }
    most = fmax(most, fabs(value + x * slope - w->h * yp[i]) / (j->atol[i] + j->rtol * fabs(y[i])));
  }
  return most;
}

/* A row by a step of its own from the start of the present one. */
static int step_to_row(work *w, double t, double *y) {
  tg_job *j = w->job;
  size_t n = (size_t)j->n;
  work side = {.job = j};
  double *room = take_room(&side, n, 0);
  if (!room) return TG_NO_MEMORY;
  memcpy(side.k[0], w->k[0], sizeof(double) * n);
  j->rhs_calls += STAGES - 1;
  int bad = stages(&side, w->t, t - w->t);
  if (!bad) memcpy(y, side.y1, sizeof(double) * n);
  free(room);
  return bad ? TG_NOT_FINITE : 0;
}

/* Fast motions that have died away limit the step by stability and come back in the interpolant, large: such rows are stepped to. */
static int interpolate_row(work *w, double t, double *y, double *yp) {
  tg_job *j = w->job;
  if (make_dense(w)) return TG_NOT_FINITE;
  evaluate(w, t, y);
  if (RHS(j, t, y, yp)) return TG_NOT_FINITE;
  if (defect(w, t, y, yp) <= LARGEST_DEFECT) return 0;
  int status = step_to_row(w, t, y);
  return status ? status : RHS(j, t, y, yp) ? TG_NOT_FINITE : 0;
}

static int rk_point(void *step, double t, double *y, double *yp) {
  return interpolate_row(step, t, y, yp);
}

/* The rows of a step, as far as nobody cancels the run: there may be millions. The step itself is finished then, too. */
static int rk_write_rows(work *w, double reached) {
  tg_job *j = w->job;
  const int n = j->n;
  while (j->next_time < j->n_times && j->times[j->next_time] <= reached && !j->cancel) {
    double t = j->times[j->next_time], *y = j->out_y + (size_t)n * (size_t)j->next_time;
    double *yp = j->out_yp + (size_t)n * (size_t)j->next_time;
    if (t == w->t + w->h) {
      memcpy(y, w->y1, sizeof(double) * (size_t)n);
      memcpy(yp, w->k[STAGES], sizeof(double) * (size_t)n);
    } else {
      int status = interpolate_row(w, t, y, yp);
      if (status) return status;
    }
    j->next_time++;
  }
  return 0;
}

static int rk_write_start(work *w) {
  tg_job *j = w->job;
  const int n = j->n;
  size_t size = sizeof(double) * (size_t)n;
  j->rhs_calls++;
  if (rates(w, j->t, j->y, w->k[0])) return TG_NOT_FINITE;
  memcpy(j->yp, w->k[0], size);
  for (; j->next_time < j->n_times && j->times[j->next_time] <= j->t; j->next_time++) {
    memcpy(j->out_y + (size_t)n * (size_t)j->next_time, j->y, size);
    memcpy(j->out_yp + (size_t)n * (size_t)j->next_time, j->yp, size);
  }
  if (j->n_events && events_at(w, j->t, j->y, w->g0)) return TG_NOT_FINITE;
  tg_wake_bends(j, w->g0);
  int bad = tg_step_seen(j, 0, 0, j->t, j->t);
  return bad ? bad : tg_remember_break(j);
}

/* Is the step limited by stability? The ratio of slopes to arguments of two stages at the end of the step estimates the fastest
 * eigenvalue (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.2). */
static int looks_stiff(work *w, double h, int *suspicions, int *clear) {
  const int n = w->job->n;
  double above = 0, below = 0;
  for (int i = 0; i < n; i++) {
    double scale = 1 / (w->job->atol[i] + w->job->rtol * fabs(w->y1[i]));
    double a = (w->k[STAGES][i] - w->k[STAGES - 1][i]) * scale, b = (w->y1[i] - w->arguments[STAGES - 1][i]) * scale;
    above += a * a;
    below += b * b;
  }
  if (below > 0 && h * sqrt(above / below) > STABILITY) {
    *clear = 0;
    return ++*suspicions >= 15;
  }
  if (++*clear >= 6) *suspicions = 0;
  return 0;
}

/* Continue from a point inside the last step, or from its end. */
static int settle(work *w, double t) {
  tg_job *j = w->job;
  size_t size = sizeof(double) * (size_t)j->n;
  if (t < w->t + w->h) {
    evaluate(w, t, w->point);
    memcpy(w->y1, w->point, size);
  }
  j->t = t;
  memcpy(j->y, w->y1, size);
  j->rhs_calls++;
  if (rates(w, t, j->y, w->k[0])) return TG_NOT_FINITE;
  memcpy(j->yp, w->k[0], size);
  return 0;
}

static int rk_rates_here(work *w) {
  tg_job *j = w->job;
  j->rhs_calls++;
  if (rates(w, j->t, j->y, w->k[0])) return TG_NOT_FINITE;
  memcpy(j->yp, w->k[0], sizeof(double) * (size_t)j->n);
  return 0;
}

/* Latches change, with them the rates and perhaps the mode. */
static int settle_latches(work *w) {
  int changed, bad = tg_settle_latches(w->job, &changed);
  if (!bad && changed) bad = rk_rates_here(w);
  return bad || !changed ? bad : tg_guard_jumped(w->job);
}

/* A point of the interpolant, for delayed signals. */
static int remember_point(work *w, double t) {
  evaluate(w, t, w->point);
  return RHS(w->job, t, w->point, w->slope) || tg_remember_at(w->job, t, w->point, w->slope) ? TG_NOT_FINITE : 0;
}

/* Points inside a step: steps of high order are long, and what is read between their ends should be as good. There may be a break at both
 * ends, so a step has all the points that a polynomial is laid through. */
static int remember_between(work *w, double at) {
  if (make_dense(w)) return TG_NOT_FINITE;
  for (int q = 1; q < TG_PAST_POINTS - 1; q++)
    if (remember_point(w, w->t + q * (at - w->t) / (TG_PAST_POINTS - 1))) return TG_NOT_FINITE;
  return 0;
}

/* Beyond a place where a formula bends or jumps, stages of a step mislead its interpolant before that place, too. So the step is made
 * again up to there, if only a restart follows; where that fails some times, as at a jump, what was found serves. */
enum { LANDINGS = 5 };

/* Where rates jump by orders at a bend, no step across it can be short enough: so many gaps of time before it, one is let pass. */
static const double AT_A_BEND = 256;

/* up to `halt`; -1 when it is reached */
static int rk_advance(work *w, double halt, double *next) {
  tg_job *j = w->job;
  double stop = tg_stop_before(j, halt), old = SMALL_ERROR, whole = 0;
  int failures = 0, suspicions = 0, clear = 0, rejected = 0, landings = 0;
  while (j->t < stop) {
    double h = fmin(*next, j->max_step), left = stop - j->t;
    int last = h >= left * (1 - 1e-12);
    if (last) h = left;
    else if (h > 0.5 * left && !whole) h = 0.5 * left; /* no sliver at the end */
    if (h <= tg_gap(j->t)) return failures ? TG_NOT_FINITE : TG_TINY_STEP;
    w->t = j->t;
    w->h = h;
    w->has_dense = 0;
    j->rhs_calls += STAGES - 1;
    int bad = stages(w, j->t, h);
    double error = bad ? INFINITY : error_of(w, h);
    if (!(error <= 1) && !(isfinite(error) && h < AT_A_BEND * tg_gap(j->t) && passes_bend(w))) {
      j->rejected++;
      rejected = 1;
      whole = 0;
      if (bad || !isfinite(error)) {
        if (++failures > 60) return TG_NOT_FINITE;
        *next = 0.25 * h;
      } else {
        *next = h * fmax(0.2, CAUTION * exp(-log(error) / ORDER));
      }
      continue;
    }
    double reached = last ? stop : j->t + h;
    w->h = reached - w->t;
    j->rhs_calls++;
    if (rates(w, reached, w->y1, w->k[STAGES])) {
      whole = 0;
      if (++failures > 60) return TG_NOT_FINITE;
      *next = 0.25 * h;
      continue;
    }
    failures = 0;
    double share = 1, at = reached;
    int event = 0;
    if (j->n_events) {
      if (make_dense(w)) return TG_NOT_FINITE;
      event = find_event(w, &at);
      if (event < 0) return TG_NOT_FINITE;
      share = (at - w->t) / w->h;
      if (event && !whole && share < 1 && at - w->t > 16 * tg_gap(at) && !tg_ends_stretch(j, w->signs) && landings++ < LANDINGS) {
        if (events_at(w, j->t, j->y, w->g0)) return TG_NOT_FINITE;
        whole = h;
        *next = at - w->t;
        continue;
      }
      if (event) landings = 0;
    }
    /* A bend is an event, and up to there the law is followed. */
    if (share == 1 && h > 1024 * tg_gap(j->t) && flies_over(w)) {
      j->rejected++;
      rejected = 1;
      whole = 0;
      *next = 0.25 * h;
      if (j->n_events && events_at(w, j->t, j->y, w->g0)) return TG_NOT_FINITE;
      continue;
    }
    if (whole) h = whole;
    whole = 0;
    j->steps++;
    if (j->watch_stiffness && looks_stiff(w, h, &suspicions, &clear) && (stop - j->t) / h > 1000) return TG_STIFF;
    /* proportional and integral part of the error, as for steps limited now by accuracy, now by stability */
    error = log(fmax(error, 1e-10));
    double factor = CAUTION * exp(PI_SHARE * old - (1.0 / ORDER - 0.2 * PI_SHARE) * error);
    factor = fmin(fmax(factor, 0.333), rejected ? 1 : 6);
    old = fmax(error, SMALL_ERROR);
    rejected = 0;
    if (j->keep_books) {
      if (share < 1) {
        /* only a part of the step counts: its powers on the interpolant, by three points of Gauss */
        static const double points[3] = {0.11270166537925831148, 0.5, 0.88729833462074168852};
        static const double weights[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
        memset(w->power, 0, sizeof w->power);
        for (int p = 0; p < 3; p++) {
          double t = w->t + share * points[p] * w->h;
          evaluate(w, t, w->point);
          if (rates(w, t, w->point, w->slope) || book_stage(w, weights[p], t, w->point, w->slope)) return TG_NOT_FINITE;
        }
      } else if (book_step(w)) {
        return TG_NOT_FINITE;
      }
      for (int b = 0; b < 4; b++) j->books[b] += share * w->h * w->power[b];
    }
    bad = rk_write_rows(w, at);
    if (!bad) bad = tg_step_seen(j, rk_point, w, w->t, at);
    if (!bad && j->history) bad = remember_between(w, at);
    if (bad) return bad;
    *next = h * factor;
    j->last_step = h;
    if (event) {
      int stays = j->history && !tg_ends_stretch(j, w->signs);
      if (stays && remember_point(w, tg_before_event(w->t, at))) return TG_NOT_FINITE;
      bad = settle(w, at);
      if (!bad) bad = stays ? tg_remember_break(j) : tg_remember(j);
      if (bad) return bad;
      if (tg_log_events(j, at, w->signs)) return TG_EVENT;
      if (tg_jumps(j, w->signs) && tg_chatters(j, at)) return TG_CHATTERING;
      bad = settle_latches(w);
      if (bad) return bad;
      if (events_at(w, j->t, j->y, w->g0)) return TG_NOT_FINITE;
      tg_wake_bends(j, w->g0);
      let_bends_rest(w);
      *next = fmin(*next, 0.1 * h);
      /* Where rates jump at a bend, a step that comes down to it tells nothing of the next one. */
      if (*next < 1024 * tg_gap(j->t) && !tg_jumps(j, w->signs)) *next = first_step(w, j->until - j->t);
    } else {
      double *first = w->k[0], *y = j->y;
      w->k[0] = w->k[STAGES];
      w->k[STAGES] = first;
      memcpy(y, w->y1, sizeof(double) * (size_t)j->n);
      j->t = reached;
      if (j->n_events) {
        memcpy(w->g0, w->g1, sizeof(double) * (size_t)j->n_events);
        tg_wake_bends(j, w->g0);
      }
      if (j->history) {
        memcpy(j->yp, w->k[0], sizeof(double) * (size_t)j->n);
        bad = tg_remember(j);
        if (bad) return bad;
      }
    }
    tg_turns_see(&w->turns, j, j->y);
    j->progress = j->t;
    if (j->cancel) return TG_CANCELLED;
    if (j->t >= j->pause_at && j->turns >= j->pause_turns && j->t < stop) {
      memcpy(j->yp, w->k[0], sizeof(double) * (size_t)j->n);
      return TG_PAUSED;
    }
    if (j->t >= j->pause_at) j->pause_at = INFINITY; /* looked at once */
    if (tg_too_many_steps(j)) return TG_MANY_STEPS;
  }
  memcpy(j->yp, w->k[0], sizeof(double) * (size_t)j->n);
  return -1;
}

static int rk_go(work *w) {
  tg_job *j = w->job;
  /* Where a mode has just begun, what latches read may have jumped. */
  int latched = tg_has_latches(j), status = latched ? rk_rates_here(w) : 0;
  if (!status && latched) status = settle_latches(w);
  if (!status) status = rk_write_start(w);
  if (status) return status;
  double next = j->first_step > 0 ? j->first_step : first_step(w, j->until - j->t);
  for (;;) {
    double before = j->t, halt = tg_next_halt(j);
    status = rk_advance(w, halt, &next);
    if (status > TG_EVENT) memcpy(j->yp, w->k[0], sizeof(double) * (size_t)j->n); /* whoever asks why reads the rates, too */
    if (status >= 0) return status;
    while (j->next_stop < j->n_stops && j->stops[j->next_stop] <= halt) j->next_stop++;
    if (tg_ends_at(j, before, halt)) return TG_FINISHED;
    j->t = tg_go_on_after(j, halt);
    status = tg_take_samples(j, before);
    if (!status) status = rk_write_start(w);
    if (!status && j->t >= j->until) return TG_FINISHED;
    if (!status) status = tg_guard_jumped(j);
    if (status) return status;
    double fresh = first_step(w, j->until - j->t);
    next = fmax(fmin(next, fresh), 0.01 * next);
  }
}

int tg_runge_kutta(tg_job *j) {
  work w = {.job = j, .has_powers = j->keep_books && j->rhs_powers};
  double *room = take_room(&w, (size_t)j->n, (size_t)j->n_events);
  w.signs = calloc((size_t)j->n_events + 1, sizeof(int));
  j->bands = w.bands;
  int bad = !room || !w.signs || tg_turns_open(&w.turns, j) || tg_contents_open(&w.kept, j), status = bad ? TG_NO_MEMORY : rk_go(&w);
  free(room);
  free(w.signs);
  tg_turns_close(&w.turns);
  tg_contents_close(&w.kept);
  j->bands = 0;
  return status;
}
