/* The exponential of a stiff linear model: y' = A y + b(t) with eigenvalues near the negative real axis.
 *
 * Over a window from H/3 to H after a base, exp(t A) v is a sum of (H A - z_k)^-1 v with weights that depend on t alone: the poles z_k
 * lie on a parabola (Weideman and Trefethen 2007), and the weights are fitted to the exponential on the negative axis beside them
 * (`tools/solver_headers.py`). So a window takes one elimination and one solution with each pole, and every row or point of the books
 * inside it a sum. Windows grow by three, so that a run takes as many as its length has factors of three, not as many as it has
 * periods or time constants. Constants and ramps of b are further states, sines are answered by their steady oscillation; other inputs
 * are left to other solvers.
 *
 * Each window is checked: the end of the one before, which it computes from another base with other poles, must come out again.
 */
#include "job.h"
#include "linear.h"
#include "panels.h"

enum { LANES = 12, WIDTH = 2 * LANES, DEGREE = 24, PLACES = 13, UNSUITED = TG_UNSUITED };
static const double WIDE = 3, SMALL_SHARE = 0.02, OFF_AXIS = 1, CLOSE = 3;
static const double FINEST_RTOL = 1e-9;
/* nanoseconds, measured on networks of 10 to 10 000 states */
static const double WORK_NS = 1, ENTRY_NS = 1.5, WINDOW_NS = 300, POINT_NS = 30;
static const double BDF_STEPS = 40, BDF_TURN_STEPS = 4.6, BDF_WORK_NS = 0.09, BDF_ENTRY_NS = 2, BDF_STATE_NS = 30, BDF_STEP_NS = 1000;

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define LANES_KERNEL __attribute__((noinline, optimize("O2", "tree-vectorize"), target_clones("avx2", "default")))
#else
#define LANES_KERNEL
#endif

/* what `poles.h` holds: poles, and the coefficients of their weights as Chebyshev polynomials in t */
typedef struct tg_poles {
  double error; /* of the sum beside the exponential */
  double re[LANES], im[LANES];
  double weights[DEGREE][WIDTH]; /* real parts, then minus the imaginary ones */
} tg_poles;

#include "poles.h"

typedef struct stiff {
  tg_job *job;
  const tg_poles *poles;
  double decay, longest; /* the fastest decay; the longest window that what turns allows */
  tg_matrix matrix;
  tg_factors real; /* the pattern and the pivots for all poles */
  int *natural;
  double *shifted;
  /* Factors of H A - z_k, all poles side by side: an entry has its real parts first, then as many imaginary ones. */
  double *l, *u, *x;
  double factored; /* the H of the factors */
  double *solution, *before; /* of the window, and before digits were won back */
  double base, length; /* of the window */
  double *from, *v;    /* the state at its base; the same less the steady oscillation */
  double near_time, *near;
  double *constant, *slope; /* of the input, from `origin` on */
  double *cosine, *sine;    /* of the input, then of the steady oscillation */
  int has_sine;
  double omega, origin;
  double *point, *rate, *other, *middle, *zero;
} stiff;

/* ---- factors ---------------------------------------------------------------------------------------------------------------- */

static inline void lanes_take(double *restrict to, const double *restrict a, const double *restrict b) {
  for (int k = 0; k < LANES; k++) {
    to[k] -= a[k] * b[k] - a[LANES + k] * b[LANES + k];
    to[LANES + k] -= a[k] * b[LANES + k] + a[LANES + k] * b[k];
  }
}

static inline void lanes_divide(double *restrict to, const double *restrict by) {
  for (int k = 0; k < LANES; k++) {
    double size = 1 / (by[k] * by[k] + by[LANES + k] * by[LANES + k]), re = to[k], im = to[LANES + k];
    to[k] = (re * by[k] + im * by[LANES + k]) * size;
    to[LANES + k] = (im * by[k] - re * by[LANES + k]) * size;
  }
}

LANES_KERNEL static int factor(stiff *s, double h) {
  const tg_factors *f = &s->real;
  const tg_matrix *m = &s->matrix;
  double *x = s->x, *l = s->l, *u = s->u;
  const size_t w = WIDTH;
  for (int k = 0; k < f->n; k++) {
    int column = f->order[k], last = f->up[k + 1] - 1;
    for (int q = f->up[k]; q <= last; q++) memset(x + w * (size_t)f->ui[q], 0, w * sizeof(double));
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) memset(x + w * (size_t)f->li[q], 0, w * sizeof(double));
    for (int p = m->columns[column]; p < m->columns[column + 1]; p++)
      for (int i = 0; i < LANES; i++) x[w * (size_t)m->rows[p] + (size_t)i] = h * m->values[p];
    for (int i = 0; i < LANES; i++) {
      x[w * (size_t)column + (size_t)i] -= s->poles->re[i];
      x[w * (size_t)column + LANES + (size_t)i] -= s->poles->im[i];
    }
    for (int q = f->up[k]; q < last; q++) {
      const double *v = x + w * (size_t)f->ui[q];
      int step = f->pinv[f->ui[q]];
      memcpy(u + w * (size_t)q, v, w * sizeof(double));
      for (int r = f->lp[step]; r < f->lp[step + 1]; r++) lanes_take(x + w * (size_t)f->li[r], l + w * (size_t)r, v);
    }
    const double *head = x + w * (size_t)f->ui[last];
    for (int i = 0; i < LANES; i++)
      if (!(fabs(head[i]) + fabs(head[LANES + i]) > 0)) return 1;
    memcpy(u + w * (size_t)last, head, w * sizeof(double));
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) {
      memcpy(l + w * (size_t)q, x + w * (size_t)f->li[q], w * sizeof(double));
      lanes_divide(l + w * (size_t)q, head);
    }
  }
  return 0;
}

/* in place: b holds the right-hand sides, s->solution the results */
LANES_KERNEL static void solve(stiff *s, double *restrict b) {
  const tg_factors *f = &s->real;
  const double *l = s->l, *u = s->u;
  const size_t w = WIDTH;
  for (int k = 0; k < f->n; k++) {
    double v[WIDTH];
    memcpy(v, b + w * (size_t)f->ui[f->up[k + 1] - 1], w * sizeof(double));
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) lanes_take(b + w * (size_t)f->li[q], l + w * (size_t)q, v);
  }
  for (int k = f->n - 1; k >= 0; k--) {
    int last = f->up[k + 1] - 1;
    double *v = s->solution + w * (size_t)f->order[k];
    memcpy(v, b + w * (size_t)f->ui[last], w * sizeof(double));
    lanes_divide(v, u + w * (size_t)last);
    for (int q = f->up[k]; q < last; q++) lanes_take(b + w * (size_t)f->ui[q], u + w * (size_t)q, v);
  }
}

LANES_KERNEL static void weigh(int n, const double *restrict by, const double *restrict solution, double *restrict to) {
  for (int i = 0; i < n; i++) {
    double sum[8] = {0};
    for (int k = 0; k < WIDTH; k += 8)
      for (int c = 0; c < 8; c++) sum[c] += by[k + c] * solution[WIDTH * (size_t)i + (size_t)(k + c)];
    to[i] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
  }
}

/* ---- input ------------------------------------------------------------------------------------------------------------------- */

static int look(stiff *s, double t, double *to) {
  s->job->rhs_calls++;
  return s->job->rhs(s->job->context, t, s->zero, to);
}

/* the constant, ramp and oscillation of the input at t, as found */
static void input_at(const stiff *s, double t, const double *cosine, const double *sine, double *to) {
  double tau = t - s->origin, c = cos(s->omega * tau), d = sin(s->omega * tau);
  for (int i = 0; i < s->job->n; i++) {
    to[i] = s->constant[i] + tau * s->slope[i];
    if (s->has_sine) to[i] += c * cosine[i] + d * sine[i];
  }
}

/* at irregular places of the stretch, and at both ends, where a pulse may begin or fade: does the input equal what was found? */
static int input_fits(stiff *s, double length, double precision) {
  double size = 0;
  for (int k = 0; k < PLACES + 2; k++) {
    double t = s->origin + length * (k < PLACES ? fmod(0.61803398874989484820 * (k + 1) + 0.013, 1) : k - PLACES);
    if (look(s, t, s->point)) return 0;
    input_at(s, t, s->cosine, s->sine, s->other);
    for (int i = 0; i < s->job->n; i++) size = fmax(size, fabs(s->point[i]));
    for (int i = 0; i < s->job->n; i++)
      if (!(fabs(s->point[i] - s->other[i]) <= precision * (size + fabs(s->point[i])))) return 0;
  }
  return 1;
}

/* The frequency of a sine beside a constant, from the differences D of even samples: D_k+2 + D_k = 2 cos(omega d) D_k+1. */
static double frequency(stiff *s, int row, double d) {
  double sample[7], above = 0, below = 0;
  for (int k = 0; k < 7; k++) {
    if (look(s, s->origin + k * d, s->point)) return 0;
    sample[k] = s->point[row];
  }
  for (int k = 0; k < 4; k++) {
    double first = sample[k + 1] - sample[k], middle = sample[k + 2] - sample[k + 1], last = sample[k + 3] - sample[k + 2];
    above += (first + last) * middle;
    below += 2 * middle * middle;
  }
  double c = below > 0 ? above / below : 2;
  return fabs(c) < 1 ? acos(c) / d : 0;
}

/* constant, cosine and sine of each row from three samples a third of a period apart */
static int take_sine(stiff *s, double omega) {
  const double third = 2.0943951023931954923 / omega;
  int n = s->job->n;
  if (look(s, s->origin, s->point) || look(s, s->origin + third, s->other) || look(s, s->origin + 2 * third, s->middle)) return 1;
  s->omega = omega;
  for (int i = 0; i < n; i++) {
    s->constant[i] = (s->point[i] + s->other[i] + s->middle[i]) / 3;
    s->cosine[i] = s->point[i] - s->constant[i];
    s->sine[i] = (s->other[i] - s->middle[i]) / 1.7320508075688772935;
  }
  s->has_sine = 1;
  return 0;
}

static int find_sine(stiff *s, double length) {
  int n = s->job->n, row = 0;
  double most = 0;
  memset(s->slope, 0, sizeof(double) * (size_t)n);
  if (look(s, s->origin + 0.37 * length, s->point) || look(s, s->origin + 0.11 * length, s->other)) return 0;
  for (int i = 0; i < n; i++)
    if (fabs(s->point[i] - s->other[i]) > most) most = fabs(s->point[row = i] - s->other[i]);
  for (double d = 0.15 * length; d > 1e-7 * length; d *= 0.5) {
    double omega = frequency(s, row, d);
    if (omega > 0 && !take_sine(s, omega) && input_fits(s, length, 1e-9)) return 1;
  }
  s->has_sine = 0;
  return 0;
}

/* What is the input over a stretch? Returns 0 where it is neither constant nor a ramp nor a sine. */
static int know_input(stiff *s, double from, double length) {
  int n = s->job->n;
  s->origin = from;
  s->has_sine = 0;
  if (look(s, from + 0.25 * length, s->point) || look(s, from + 0.75 * length, s->other)) return 0;
  for (int i = 0; i < n; i++) {
    s->slope[i] = (s->other[i] - s->point[i]) / (0.5 * length);
    s->constant[i] = s->point[i] - 0.25 * length * s->slope[i];
  }
  if (input_fits(s, length, 1e-12)) return 1;
  return find_sine(s, length);
}

/* ---- windows ----------------------------------------------------------------------------------------------------------------- */

static void weights_at(const stiff *s, double t, double *to) {
  double x = ((t - 1 / WIDE) / (1 - 1 / WIDE)) * 2 - 1, before = 1, now = x;
  for (int k = 0; k < WIDTH; k++) to[k] = s->poles->weights[0][k] + x * s->poles->weights[1][k];
  for (int c = 2; c < DEGREE; c++) {
    double next = 2 * x * now - before;
    before = now;
    now = next;
    for (int k = 0; k < WIDTH; k++) to[k] += now * s->poles->weights[c][k];
  }
}

/* the steady oscillation, with the sign */
static void add_oscillation(const stiff *s, double t, double by, double *y) {
  if (!s->has_sine) return;
  double c = by * cos(s->omega * (t - s->origin)), d = by * sin(s->omega * (t - s->origin));
  for (int i = 0; i < s->job->n; i++) y[i] += c * s->cosine[i] + d * s->sine[i];
}

static void state_at(const stiff *s, double t, double *y) {
  double by[WIDTH];
  weights_at(s, (t - s->base) / s->length, by);
  weigh(s->job->n, by, s->solution, y);
  add_oscillation(s, t, 1, y);
}

/* the right-hand sides of a window: the state at its base, and the input as further states */
static void fill_right(const stiff *s, double h, double *b) {
  int n = s->job->n;
  double along = s->base - s->origin;
  for (int k = 0; k < LANES; k++) {
    double re = s->poles->re[k], im = s->poles->im[k], size = re * re + im * im;
    double one = h * re / size, one_i = -h * im / size;                                          /* h / z */
    double two = (one * re + one_i * im) / size * h, two_i = (one_i * re - one * im) / size * h; /* h^2 / z^2 */
    for (int i = 0; i < n; i++) {
      double level = s->constant[i] + along * s->slope[i], *to = b + WIDTH * (size_t)i;
      to[k] = s->v[i] + one * level + two * s->slope[i];
      to[LANES + k] = one_i * level + two_i * s->slope[i];
    }
  }
}

/* Take (h A - z) x from the right-hand sides, with A x from the laws of the branches: the entries of A have lost digits in their sums. */
static int take_product(stiff *s, double h, double *b) {
  tg_job *j = s->job;
  int n = j->n;
  const size_t w = WIDTH;
  for (int k = 0; k < LANES; k++) {
    double re = s->poles->re[k], im = s->poles->im[k];
    for (int i = 0; i < n; i++) {
      s->point[i] = s->solution[w * (size_t)i + (size_t)k];
      s->other[i] = s->solution[w * (size_t)i + LANES + (size_t)k];
    }
    if (j->rhs_tangent(j->context, j->t, j->y, s->point, 0, s->rate)) return TG_NOT_FINITE;
    if (j->rhs_tangent(j->context, j->t, j->y, s->other, 0, s->middle)) return TG_NOT_FINITE;
    for (int i = 0; i < n; i++) {
      double *to = b + w * (size_t)i;
      to[k] -= h * s->rate[i] - (re * s->point[i] - im * s->other[i]);
      to[LANES + k] -= h * s->middle[i] - (re * s->other[i] + im * s->point[i]);
    }
  }
  return 0;
}

/* Solutions for a window of length h from the base. */
static int open_window(stiff *s, double h) {
  size_t all = WIDTH * (size_t)s->job->n;
  if (s->factored != h) {
    s->job->factorisations++;
    if (factor(s, h)) return UNSUITED;
    s->factored = h;
  }
  fill_right(s, h, s->x);
  solve(s, s->x);
  s->length = h;
  memcpy(s->before, s->solution, sizeof(double) * all);
  fill_right(s, h, s->x);
  if (take_product(s, h, s->x)) return TG_NOT_FINITE;
  solve(s, s->x);
  for (size_t k = 0; k < all; k++) s->solution[k] += s->before[k];
  return 0;
}

/* by how many tolerances do two states differ? */
static double apart(const stiff *s, const double *a, const double *b) {
  const tg_job *j = s->job;
  double most = 0;
  for (int i = 0; i < j->n; i++) {
    double d = fabs(a[i] - b[i]) / (j->atol[i] + j->rtol * fabs(b[i]));
    if (!(d <= most)) most = d;
  }
  return most;
}

/* Has the motion died away so far that the error of the window, which is relative to its base, would show? */
static int died_away(const stiff *s, const double *now) {
  const tg_job *j = s->job;
  for (int i = 0; i < j->n; i++)
    if (!(s->poles->error * fabs(s->from[i]) <= 0.5 * (j->atol[i] + j->rtol * fabs(now[i])))) return 1;
  return 0;
}

/* The steady oscillation Y e^(i omega t): (i omega - A) Y = input, with all poles moved to i. */
static int steady_oscillation(stiff *s) {
  const tg_poles *keep = s->poles;
  tg_poles moved = *keep;
  if (!s->has_sine) return 0;
  for (int k = 0; k < LANES; k++) {
    moved.re[k] = 0;
    moved.im[k] = 1;
  }
  s->poles = &moved;
  int bad = factor(s, 1 / s->omega);
  s->poles = keep;
  s->factored = 0;
  if (bad) return UNSUITED;
  for (int i = 0; i < s->job->n; i++) /* b(t) = Re((cosine - i sine) e^(i omega t)), and (A / omega - i) Y = -b / omega */
    for (int k = 0; k < LANES; k++) {
      s->x[WIDTH * (size_t)i + (size_t)k] = -s->cosine[i] / s->omega;
      s->x[WIDTH * (size_t)i + LANES + (size_t)k] = s->sine[i] / s->omega;
    }
  solve(s, s->x);
  for (int i = 0; i < s->job->n; i++) {
    s->cosine[i] = s->solution[WIDTH * (size_t)i];
    s->sine[i] = -s->solution[WIDTH * (size_t)i + LANES];
  }
  return 0;
}

/* ---- rows and books ------------------------------------------------------------------------------------------------------------ */

/* The rows of a window, as far as nobody cancels the run: there may be millions. */
static int stiff_rows(stiff *s, double upto) {
  tg_job *j = s->job;
  while (j->next_time < j->n_times && j->times[j->next_time] <= upto && !j->cancel) {
    double t = j->times[j->next_time];
    double *y = j->out_y + (size_t)j->n * (size_t)j->next_time, *yp = j->out_yp + (size_t)j->n * (size_t)j->next_time;
    state_at(s, t, y);
    j->next_time++;
    if (j->rhs(j->context, t, y, yp)) return TG_NOT_FINITE;
  }
  return 0;
}

static int book_point(stiff *s, double t, const double *y, double weight) {
  tg_job *j = s->job;
  double power[5];
  if ((j->powers_read_rates && j->rhs(j->context, t, y, s->rate)) || tg_powers_of(j, t, y, s->rate, power)) return TG_NOT_FINITE;
  for (int b = 0; b < 4; b++) j->books[b] += weight * power[b];
  return 0;
}

/* powers between two times of the window: panels that grow with time since the base, and turn no further than the tolerance allows */
static int book_window(stiff *s, double from, double to) {
  if (!s->job->keep_books) return 0;
  while (from < to) {
    double h = fmin(to - from, fmax(from - s->base, 0.25 * s->length));
    h = fmin(h, s->job->max_step);
    if (s->has_sine) h = fmin(h, panel_radians(s->job->rtol) / s->omega);
    if (to - from - h < 0.1 * h) h = to - from;
    for (int q = 0; q < PANEL; q++) {
      double t = from + h * PANEL_POINTS[q];
      state_at(s, t, s->point);
      if (book_point(s, t, s->point, h * PANEL_WEIGHTS[q])) return TG_NOT_FINITE;
    }
    if (s->job->cancel) return 0;
    from += h;
  }
  return 0;
}

/* the moment before the first window: nothing has moved far, so its middle lies on the cubic through both ends */
static int book_first(stiff *s, double from, double to) {
  tg_job *j = s->job;
  const double *start = s->from;
  double h = to - from;
  if (!j->keep_books || h <= 0) return 0;
  state_at(s, to, s->point);
  if (j->rhs(j->context, from, start, s->middle)) return TG_NOT_FINITE;
  memcpy(s->other, s->middle, sizeof(double) * (size_t)j->n);
  if (j->rhs(j->context, to, s->point, s->middle)) return TG_NOT_FINITE;
  for (int i = 0; i < j->n; i++) s->middle[i] = 0.5 * (start[i] + s->point[i]) + h / 8 * (s->other[i] - s->middle[i]);
  int bad = book_point(s, from, start, h / 6);
  if (!bad) bad = book_point(s, 0.5 * (from + to), s->middle, 4 * h / 6);
  return bad ? bad : book_point(s, to, s->point, h / 6);
}

/* ---- a stretch ----------------------------------------------------------------------------------------------------------------- */

/* The next window starts from this state. */
static void set_base(stiff *s, double t, const double *y) {
  size_t size = sizeof(double) * (size_t)s->job->n;
  s->base = t;
  memcpy(s->from, y, size);
  memcpy(s->v, y, size);
  add_oscillation(s, t, -1, s->v);
}

/* The length of the first window: it begins at the first row, or where the fastest motion has hardly begun for the books' sake. */
static double first_length(const stiff *s, double stop) {
  const tg_job *j = s->job;
  double need = (stop - j->t) / WIDE;
  if (j->next_time < j->n_times) need = fmin(need, j->times[j->next_time] - j->t);
  if (j->keep_books) need = fmin(need, SMALL_SHARE / s->decay);
  return fmin(WIDE * need, s->longest);
}

/* Rows, books and the state up to the end of the window, which begins at `begin` or before. */
static int take_window(stiff *s, double begin, double stop) {
  tg_job *j = s->job;
  double end = s->base + s->length;
  if (end >= stop - tg_gap(stop)) end = stop;
  int bad = stiff_rows(s, end);
  if (!bad) bad = book_window(s, begin, end);
  if (bad) return bad;
  /* where the next window can start from, should this base be too far away by then */
  s->near_time = fmax(s->base + s->length / WIDE, end - s->longest / WIDE);
  state_at(s, s->near_time, s->near);
  state_at(s, end, j->y);
  j->t = end;
  j->steps++;
  j->last_step = end - begin;
  j->progress = end;
  return j->cancel ? TG_CANCELLED : 0;
}

/* The first window, shortened until its end is not small beside its base. */
static int first_window(stiff *s, double stop) {
  tg_job *j = s->job;
  double h = first_length(s, stop), start = j->t;
  set_base(s, start, j->y);
  for (;; h /= WIDE * WIDE) {
    int bad = open_window(s, h);
    if (bad) return bad;
    state_at(s, fmin(start + h, stop), s->point);
    if (!died_away(s, s->point) || h <= SMALL_SHARE / s->decay) break;
    j->rejected++;
  }
  int bad = book_first(s, start, start + h / WIDE);
  return bad ? bad : take_window(s, start + h / WIDE, stop);
}

/* A window from the present base or a nearer one; the state where it begins must come out as it did before. */
static int next_window(stiff *s, double stop) {
  tg_job *j = s->job;
  for (int moved = WIDE * s->length > s->longest || died_away(s, j->y);; moved++) {
    if (moved) set_base(s, s->near_time, s->near);
    double h = WIDE * (j->t - s->base);
    int bad = open_window(s, fabs(h - s->factored) <= 1e-9 * h ? s->factored : h);
    if (bad) return bad;
    state_at(s, j->t, s->other);
    state_at(s, fmin(s->base + h, stop), s->point);
    if (apart(s, s->other, j->y) <= CLOSE && !died_away(s, s->point)) return take_window(s, j->t, stop);
    j->rejected++;
    if (moved) return UNSUITED;
  }
}

/* One stretch without breaks, up to `halt`; -1 when it is reached. */
static int stiff_advance(stiff *s, double halt) {
  tg_job *j = s->job;
  double stop = tg_stop_before(j, halt);
  if (!(stop > j->t)) return -1;
  if (!know_input(s, j->t, stop - j->t)) return UNSUITED;
  int bad = steady_oscillation(s);
  if (!bad) bad = first_window(s, stop);
  while (!bad && j->t < stop) bad = tg_too_many_steps(j) ? TG_MANY_STEPS : next_window(s, stop);
  return bad ? bad : -1;
}

static int stiff_start(stiff *s) {
  tg_job *j = s->job;
  size_t size = sizeof(double) * (size_t)j->n;
  if (j->rhs(j->context, j->t, j->y, j->yp)) return TG_NOT_FINITE;
  for (; j->next_time < j->n_times && j->times[j->next_time] <= j->t; j->next_time++) {
    memcpy(j->out_y + (size_t)j->n * (size_t)j->next_time, j->y, size);
    memcpy(j->out_yp + (size_t)j->n * (size_t)j->next_time, j->yp, size);
  }
  return 0;
}

static int stiff_go(stiff *s) {
  tg_job *j = s->job;
  for (;;) {
    double before = j->t, halt = tg_next_halt(j);
    int status = stiff_start(s);
    if (!status && before >= j->until) return TG_FINISHED;
    if (!status) status = stiff_advance(s, halt);
    if (j->rhs(j->context, j->t, j->y, j->yp)) return TG_NOT_FINITE;
    if (status >= 0) return status;
    while (j->next_stop < j->n_stops && j->stops[j->next_stop] <= halt) j->next_stop++;
    if (tg_ends_at(j, before, halt)) return TG_FINISHED;
    j->t = tg_go_on_after(j, halt);
    status = tg_take_samples(j, before);
    if (status) return status;
  }
}

/* ---- the model ------------------------------------------------------------------------------------------------------------------- */

static double value_at(const tg_matrix *m, int row, int column) {
  for (int p = m->columns[column]; p < m->columns[column + 1]; p++)
    if (m->rows[p] == row) return m->values[p];
  return 0;
}

/* Scales from one variable to the next that make mirrored entries equally large; of networks they are those of energy. */
static int energy_scales(const tg_matrix *m, double *scale) {
  int n = m->n, *queue = tg_new((size_t)n, sizeof(int));
  if (!queue) return TG_NO_MEMORY;
  for (int root = 0; root < n; root++) {
    if (scale[root] != 0) continue;
    int head = 0, tail = 0;
    scale[root] = 1;
    queue[tail++] = root;
    while (head < tail) {
      int k = queue[head++];
      for (int p = m->columns[k]; p < m->columns[k + 1]; p++) {
        int i = m->rows[p];
        double there = m->values[p], back = scale[i] == 0 ? value_at(m, k, i) : 0;
        if (there == 0 || back == 0) continue;
        scale[i] = scale[k] * sqrt(fabs(there / back));
        queue[tail++] = i;
      }
    }
  }
  free(queue);
  return 0;
}

/* bounds of what turns and of what decays, in the scales of energy */
static int find_speeds(stiff *s) {
  const tg_matrix *m = &s->matrix;
  double *scale = tg_new((size_t)m->n, sizeof(double)), *skew = tg_new((size_t)m->n, sizeof(double));
  double *symmetric = tg_new((size_t)m->n, sizeof(double)), turning = 0;
  int bad = !scale || !skew || !symmetric || energy_scales(m, scale) ? TG_NO_MEMORY : 0;
  for (int k = 0; !bad && k < m->n; k++)
    for (int p = m->columns[k]; p < m->columns[k + 1]; p++) {
      int i = m->rows[p];
      double a = m->values[p] * scale[k] / scale[i], b = value_at(m, k, i) * scale[i] / scale[k];
      double share = b == 0 ? 1 : 0.5; /* an entry without a mirror image counts for it too */
      skew[i] += share * 0.5 * fabs(a - b);
      skew[k] += share * 0.5 * fabs(a - b);
      symmetric[i] += share * 0.5 * fabs(a + b);
      symmetric[k] += share * 0.5 * fabs(a + b);
    }
  for (int k = 0; !bad && k < m->n; k++) {
    turning = fmax(turning, skew[k]);
    s->decay = fmax(s->decay, symmetric[k]);
  }
  free(scale);
  free(skew);
  free(symmetric);
  s->longest = turning > 1e-9 * s->decay ? OFF_AXIS / turning : INFINITY;
  return bad;
}

/* the multiplications of an elimination */
static double elimination_work(const tg_factors *f) {
  double work = 0;
  for (int k = 0; k < f->n; k++)
    for (int q = f->up[k]; q < f->up[k + 1] - 1; q++) {
      int step = f->pinv[f->ui[q]];
      work += f->lp[step + 1] - f->lp[step];
    }
  return work;
}

/* Would the whole run take less time with BDF? */
static int is_dear(const stiff *s) {
  const tg_job *j = s->job;
  const tg_factors *f = &s->real;
  double work = elimination_work(f), entries = f->lp[f->n] + f->up[f->n], span = j->until - j->t;
  double rows = (double)(j->n_times - j->next_time), stretches = 1 + (double)j->n_stops;
  for (int g = 0; g < j->n_groups; g++) stretches += span / j->periods[g];
  double shortest = j->keep_books ? SMALL_SHARE / s->decay : span / stretches / fmax(1, rows);
  double growing = 1 + log(fmax(WIDE, fmin(span / stretches, s->longest) / shortest)) / log(WIDE);
  double windows = growing * stretches + 1.5 * span / s->longest, points = rows + (j->keep_books ? PANEL * windows : 0);
  double turns = s->has_sine ? span * s->omega / 6.283185307179586 : 0;
  double ours = windows * (LANES * (WORK_NS * work + ENTRY_NS * entries) + WINDOW_NS * f->n) + points * POINT_NS * f->n;
  double steps = (BDF_STEPS * stretches + BDF_TURN_STEPS * turns) * -log10(j->rtol);
  return ours > steps * (BDF_WORK_NS * work + BDF_ENTRY_NS * entries + BDF_STATE_NS * f->n + BDF_STEP_NS);
}

static int stiff_open(stiff *s, tg_job *j) {
  size_t n = (size_t)j->n, w = WIDTH;
  s->job = j;
  int bad = tg_matrix_open(&s->matrix, j);
  if (bad || tg_rhs_jacobian(&s->matrix, j, j->t, j->y)) return bad ? bad : TG_NOT_FINITE;
  double **vectors[] = {&s->v, &s->from, &s->near, &s->constant, &s->slope, &s->cosine, &s->sine, &s->point, &s->rate, &s->other,
                        &s->middle, &s->zero};
  for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
    if (!(*vectors[k] = tg_new(n, sizeof(double)))) return TG_NO_MEMORY;
  s->natural = tg_new(n, sizeof(int));
  s->shifted = tg_new((size_t)s->matrix.nnz, sizeof(double));
  if (!s->natural || !s->shifted) return TG_NO_MEMORY;
  for (int k = 0; k < j->n; k++) s->natural[k] = k;
  bad = find_speeds(s);
  if (!bad) bad = tg_factors_open(&s->real, &s->matrix, j->order ? j->order : s->natural);
  if (bad) return bad;
  if (!(s->decay > 0)) return UNSUITED;
  for (int k = 0; k < j->n; k++)
    for (int p = s->matrix.columns[k]; p < s->matrix.columns[k + 1]; p++)
      s->shifted[p] = s->matrix.values[p] / s->decay - (s->matrix.rows[p] == k ? 1 : 0);
  if (tg_factor(&s->real, &s->matrix, s->shifted) || !know_input(s, j->t, tg_stop_before(j, tg_next_halt(j)) - j->t)) return UNSUITED;
  if (j->watch_stiffness && is_dear(s)) return UNSUITED;
  s->l = malloc(sizeof(double) * w * ((size_t)s->real.lp[j->n] + 1));
  s->u = malloc(sizeof(double) * w * ((size_t)s->real.up[j->n] + 1));
  s->x = malloc(sizeof(double) * w * (n + 1));
  s->solution = malloc(sizeof(double) * w * (n + 1));
  s->before = malloc(sizeof(double) * w * (n + 1));
  return s->l && s->u && s->x && s->solution && s->before ? 0 : TG_NO_MEMORY;
}

static void stiff_close(stiff *s) {
  void *all[] = {s->v,     s->from, s->near,   s->constant, s->slope, s->cosine, s->sine, s->point, s->rate,
                 s->other, s->middle, s->zero, s->natural,  s->shifted, s->l,    s->u,    s->x,     s->solution, s->before};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
  tg_matrix_close(&s->matrix);
  tg_factors_close(&s->real);
}

int tg_stiff_exponential(tg_job *j) {
  stiff s = {.poles = &POLES};
  int status = j->rtol < FINEST_RTOL ? UNSUITED : stiff_open(&s, j);
  if (!status) status = stiff_go(&s);
  stiff_close(&s);
  return status;
}
