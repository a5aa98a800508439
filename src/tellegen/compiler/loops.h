/* Newton's method for unknowns that are solved inside, driven from a loop of generated code that evaluates residuals, slopes and, where
 * asked, terms: what the residuals would be if nothing in them cancelled.
 *
 * It begins near: where the last call found its solution, with steps halved while they make the residual larger; a linear system takes
 * one step from zero. Where that fails, one unknown is enclosed between two signs of its residual, and several are led along the path
 * on which the residual of the start is taken back bit by bit (Newton homotopy): in monotone networks it never turns back, and steep
 * laws are met one at a time. Exponentials are straight beyond a limit there, which is then raised: so they have values everywhere.
 *
 * Found is only what a step moves by rounding, or leaves no more of each residual than the rounding of its terms: a saturated law has
 * the same slope at both of its ends, so that slopes which stay say nothing. All else has failed, `worst` being the equation that is
 * furthest from closing. */
typedef struct {
  int linear, phase, round, total, tries, halvings, failed, doubt, asks, worst, known;
  double before, earlier, limit;
  double good, left, share;        /* of the residual of the start: left at the last good point, at present, and between */
  double low, high, f_low, f_high; /* the ends that enclose one unknown, and its residual there */
  const double *kept;
} tg_newton;

enum { TG_NEAR, TG_ENCLOSED, TG_PATH, TG_LOST };
enum { TG_MOST_ROUNDS = 40, TG_MOST_HALVINGS = 40, TG_ROUNDS_ON_PATH = 12, TG_NEAR_TRIES = 8, TG_MOST_TRIES = 24, TG_MOST_CALLS = 50000 };
enum { TG_LEAST_LIMIT = 20 };
#define TG_FINITE(v) ((v) * 0.0 == 0.0)
/* What numbers of this precision can tell apart; whoever computes with others says so before. */
#ifndef TG_EPSILON
#define TG_EPSILON 2.220446049250313e-16
#define TG_SETTLED 1e-13
#define TG_UNMOVED 1e-11
#define TG_CLOSED 1e-16
#define TG_LEAST 1e-300
#define TG_LEAST_SHARE 1e-14
#define TG_MOST_LIMIT 640
#endif
#define TG_ROUNDING (32 * TG_EPSILON)

/* Room beside unknowns, residuals and slopes: terms, the residual of the start, the last good point, what residuals are measured by. */
#define TG_ROOM(n) (4 * (n))

static TG_UNUSED void tg_begin(tg_newton *w, int n, double *x, const double *kept, int linear) {
  w->linear = linear; w->phase = TG_NEAR; w->kept = kept; w->limit = HUGE_VAL;
  w->round = w->total = w->tries = w->halvings = w->failed = w->doubt = w->asks = w->worst = w->known = 0;
  w->before = w->earlier = HUGE_VAL;
  for (int i = 0; i < n; i++) x[i] = linear || !TG_FINITE(kept[i]) ? 0.0 : kept[i];
}

static TG_UNUSED void tg_halve(tg_newton *w, int n, double *x, double *step) {
  for (int i = 0; i < n; i++) { step[i] *= 0.5; x[i] += step[i]; }
  w->halvings++;
  w->doubt = w->asks = 0;
}

static TG_UNUSED void tg_anew(tg_newton *w) {
  w->round = w->halvings = w->doubt = w->asks = 0;
  w->before = w->earlier = HUGE_VAL;
}

/* What remains is to see whether the last point closes all the same, and which equation does not. */
static TG_UNUSED void tg_give_up(tg_newton *w) {
  tg_anew(w);
  w->phase = TG_LOST; w->failed = w->asks = 1; w->limit = HUGE_VAL;
}

static TG_UNUSED void tg_begin_path(tg_newton *w, double limit) {
  tg_anew(w);
  w->limit = limit < TG_MOST_LIMIT ? limit : HUGE_VAL;
  w->known = 0; w->good = w->share = 1.0;
}

/* To where a path begins: at the last solution, at zero, at other points near and far, and then on all sides: where laws turn back, a
 * path may, too, and another one need not. */
static TG_UNUSED void tg_set_out(tg_newton *w, int n, double *x) {
  static const double far[] = {1e-3, 1.0, 1e-6}, around[] = {1.0, 3.0, 0.3, 10.0};
  const int k = w->tries++;
  if (k >= TG_MOST_TRIES || w->total > TG_MOST_CALLS) { tg_give_up(w); return; }
  tg_begin_path(w, TG_LEAST_LIMIT);
  for (int i = 0; i < n; i++) {
    const double spread = (k % 2 ? -1.0 : 1.0) * far[k / 2 % 3] * (0.1 + fmod(0.618 * (double)((i + 1) * k), 1.0));
    const int side = k - TG_NEAR_TRIES;
    x[i] = k == 0 && TG_FINITE(w->kept[i]) ? w->kept[i] : k < 2 ? 0.0 : side < 0 ? spread : ((side >> i % 2 & 1) ? -1.0 : 1.0) * around[side / 4];
  }
}

/* A part of the path was too long. */
static TG_UNUSED void tg_retreat(tg_newton *w, int n, double *x, const double *good) {
  w->share /= 8.0;
  if (!w->known || w->share < TG_LEAST_SHARE || w->total > TG_MOST_CALLS) { tg_set_out(w, n, x); return; }
  tg_anew(w);
  w->left = w->good - w->share;
  for (int i = 0; i < n; i++) x[i] = good[i];
}

static TG_UNUSED void tg_go_on(tg_newton *w, int n, const double *x, double *good) {
  const double longer = w->round < 3 ? 4.0 : w->round < 5 ? 2.0 : 1.0;
  tg_anew(w);
  w->good = w->left;
  w->share = fmin(longer * w->share, w->good);
  w->left = w->good - w->share;
  for (int i = 0; i < n; i++) good[i] = x[i];
}

static TG_UNUSED void tg_stray(tg_newton *w, int n, double *x, const double *more) {
  if (w->phase == TG_PATH) tg_retreat(w, n, x, more + 2 * n);
  else if (w->phase != TG_NEAR) tg_give_up(w);
  else if (n > 1) { w->phase = TG_PATH; tg_set_out(w, n, x); }
  else {
    tg_anew(w);
    w->phase = TG_ENCLOSED; w->limit = TG_MOST_LIMIT;
    x[0] = TG_FINITE(w->kept[0]) ? w->kept[0] : 0.0;
    w->share = fmax(1e-15, 1e-7 * fabs(x[0]));
  }
}

/* A middle that finds any size in a few dozen rounds. */
static TG_UNUSED double tg_middle(double a, double b) {
  const double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b));
  if (a * b < 0.0 || (a < 0.0) != (b < 0.0)) return a != 0.0 && b != 0.0 ? 0.0 : 1e-3 * (a + b);
  if (least == 0.0) return 1e-3 * (a + b);
  return most > 4.0 * least ? (a < 0.0 ? -1.0 : 1.0) * sqrt(most) * sqrt(least) : a + 0.5 * (b - a);
}

/* Outwards to both sides until the residual changes its sign, then inwards between the two; 0 where slopes are asked for. */
static TG_UNUSED int tg_encloses(tg_newton *w, double *x, double f) {
  const int k = w->round++;
  const double base = TG_FINITE(w->kept[0]) ? w->kept[0] : 0.0;
  w->before = f * f;
  if (f == 0.0) return 0;
  if (w->known) {
    if (f * w->f_low > 0.0) { w->low = x[0]; w->f_low = f; }
    else if (f * w->f_high > 0.0) { w->high = x[0]; w->f_high = f; }
    else { tg_give_up(w); return 1; }
  } else if (k == 0) {
    w->low = w->high = base; w->f_low = w->f_high = f;
  } else if (k % 2) {
    if (f * w->f_high < 0.0) { w->known = 1; w->low = w->high; w->f_low = w->f_high; }
    if (f == f) { w->high = x[0]; w->f_high = f; }
  } else {
    if (f * w->f_low < 0.0) { w->known = 1; w->high = w->low; w->f_high = w->f_low; }
    if (f == f) { w->low = x[0]; w->f_low = f; }
    w->share *= 4.0;
  }
  if (!w->known) {
    x[0] = base + (k % 2 ? -w->share : w->share);
    if (!TG_FINITE(w->share * w->share)) { x[0] = base; tg_give_up(w); }
    return 1;
  }
  /* In turn Newton's step, where it stays inside, and the middle. */
  if (w->round % 2 && TG_FINITE(f)) return 0;
  const double middle = tg_middle(w->low, w->high);
  const int apart = (middle > w->low && middle < w->high);
  x[0] = apart ? middle : fabs(w->f_low) < fabs(w->f_high) ? w->low : w->high;
  if (!apart || w->round > 500) tg_give_up(w);
  return 1;
}

/* The residuals on a path less what is left there; whole steps of Newton's, for where a steep law begins no shorter one brings them
 * down: a part that is short enough meets one such place. */
static TG_UNUSED int tg_follows(tg_newton *w, int n, double *x, double *r, double *step, double *more) {
  double *from = more + n, *good = more + 2 * n, *by = more + 3 * n, norm = 0.0;
  const int begins = !w->known, last = w->left <= 0.0 && w->limit == HUGE_VAL;
  if (begins) {
    w->known = 1; w->left = 0.0;
    for (int i = 0; i < n; i++) { from[i] = r[i]; good[i] = x[i]; by[i] = 1.0; }
  }
  for (int i = 0; i < n; i++) { r[i] -= w->left * from[i]; norm += by[i] * by[i] * r[i] * r[i]; }
  if (!TG_FINITE(norm)) {
    if (begins) w->known = 0;
    if (w->round > 0 && w->halvings < TG_ROUNDS_ON_PATH) tg_halve(w, n, x, step);
    else tg_stray(w, n, x, more);
    return 1;
  }
  if (w->round > 3 && norm >= w->before && norm > 1e-3) { tg_stray(w, n, x, more); return 1; }
  if (w->round > 0 && norm <= TG_CLOSED && !last) {
    if (w->left > 0.0) tg_go_on(w, n, x, good);
    else tg_begin_path(w, 2.0 * w->limit);
    return 1;
  }
  w->asks = last && w->round > 1 && norm >= 1e-8 * w->before;
  w->before = norm;
  w->halvings = 0;
  return 0;
}

/* Takes the residuals; 1 where they are to be evaluated at another point. Slopes follow only where the last step was not too long. */
static TG_UNUSED int tg_backs_up(tg_newton *w, int n, double *x, double *r, double *step, double *more) {
  double norm = 0.0;
  w->total++;
  if (w->phase == TG_ENCLOSED) return tg_encloses(w, x, r[0]);
  if (w->phase == TG_PATH) return tg_follows(w, n, x, r, step, more);
  if (w->phase == TG_LOST || w->linear) return 0;
  for (int i = 0; i < n; i++) norm += r[i] * r[i];
  if (!TG_FINITE(norm) && (w->round == 0 || w->halvings >= TG_MOST_HALVINGS)) { tg_stray(w, n, x, more); return 1; }
  if (w->round > 0 && !(norm <= w->before)) {
    int moved = 0;
    for (int i = 0; i < n; i++) if (fabs(step[i]) > TG_UNMOVED * fabs(x[i])) moved = 1;
    /* A rise that may be rounding is in doubt until the terms are known. */
    w->doubt = TG_FINITE(norm) &&
               (!moved || w->halvings >= TG_MOST_HALVINGS || (w->round > 1 && w->halvings == 0 && norm <= 1e4 * w->before));
    w->asks = w->doubt;
    if (!w->doubt) tg_halve(w, n, x, step);
    return !w->doubt;
  }
  w->earlier = w->halvings == 0 ? w->before : HUGE_VAL;
  w->before = norm;
  w->halvings = w->doubt = 0;
  w->asks = w->round > 1 && w->before >= 1e-8 * w->earlier;
  return 0;
}

/* Whether each residual is rounding of its terms. */
static TG_UNUSED int tg_closes(tg_newton *w, int n, const double *r, const double *terms) {
  double most = 0.0;
  for (int i = 0; i < n; i++) {
    const double share = fabs(r[i]) / (TG_ROUNDING * terms[i]);
    if (!(r[i] == 0.0 || share <= most)) { most = share; w->worst = i; }
    if (!(most * 0.0 == 0.0)) break;
  }
  return most <= 1.0;
}

/* What each residual is measured by along a path: its terms by the unknowns. */
static TG_UNUSED void tg_measure(int n, const double *x, const double *r, const double *j, double *by) {
  for (int i = 0; i < n; i++) {
    double size = fabs(r[i]);
    for (int k = 0; k < n; k++) size = fmax(size, fabs(j[i * n + k] * x[k]));
    by[i] = size > 0.0 && TG_FINITE(1.0 / size) ? 1.0 / size : 1.0;
  }
}

/* Rows as large as each other: pivots and rounding then do not depend on units. */
static TG_UNUSED int tg_solve_rows(int n, double *j, double *r) {
  for (int i = 0; i < n && n > 1; i++) {
    double size = 0.0;
    for (int k = 0; k < n; k++) size = fmax(size, fabs(j[i * n + k]));
    if (!(size > 0.0 && TG_FINITE(1.0 / size))) return 1;
    for (int k = 0; k < n; k++) j[i * n + k] /= size;
    r[i] /= size;
  }
  if (tg_solve(n, j, r)) return 1;
  for (int i = 0; i < n; i++) if (!TG_FINITE(r[i])) return 1;
  return 0;
}

/* Takes the slopes, and makes a step; 1 where it was the last. */
static TG_UNUSED int tg_steps(tg_newton *w, int n, double *x, double *r, double *j, double *step, double *more) {
  int small = 1;
  const int last = w->phase != TG_PATH || (w->left <= 0.0 && w->limit == HUGE_VAL);
  if (w->linear) {
    w->failed = tg_solve(n, j, r);
    for (int i = 0; i < n; i++) x[i] -= r[i];
    return 1;
  }
  if (w->asks && tg_closes(w, n, r, more)) { w->failed = 0; return 1; }
  if (w->phase == TG_LOST) return 1;
  if (w->doubt) {
    if (w->halvings >= TG_MOST_HALVINGS) tg_stray(w, n, x, more);
    else tg_halve(w, n, x, step);
    return 0;
  }
  if (w->before == 0.0 && last) return 1;
  if (w->phase == TG_PATH) tg_measure(n, x, r, j, more + 3 * n);
  if (w->phase == TG_ENCLOSED) {
    const double there = x[0] - r[0] / j[0];
    if (!(there > w->low && there < w->high)) { x[0] = tg_middle(w->low, w->high); return 0; }
  }
  if (tg_solve_rows(n, j, r)) { tg_stray(w, n, x, more); return 0; }
  for (int i = 0; i < n; i++) {
    step[i] = r[i];
    x[i] -= r[i];
    if (!(fabs(r[i]) <= TG_SETTLED * fabs(x[i]) || fabs(r[i]) <= TG_LEAST)) small = 0;
  }
  if (w->phase == TG_ENCLOSED) return small;
  w->round++;
  if (small && last) return 1;
  if (w->round >= (w->phase == TG_PATH ? TG_ROUNDS_ON_PATH : TG_MOST_ROUNDS)) tg_stray(w, n, x, more);
  return 0;
}

static TG_UNUSED int tg_end(const tg_newton *w, int n, const double *x, double *kept) {
  for (int i = 0; i < n; i++) if (!TG_FINITE(x[i])) return 1;
  if (!w->failed) for (int i = 0; i < n; i++) kept[i] = x[i];
  return w->failed;
}
