/* The exponential of a linear model: y' = A y + b(t), exact up to rounding for any step.
 *
 * Variables are scaled until rows and columns of A are equally large (Osborne 1960); networks without loss are then skew. The
 * exponential is a series of Chebyshev polynomials on the imaginary axis with Bessel functions as coefficients (Tal-Ezer and
 * Kosloff 1984): a step of rho h radians takes little more than rho h products with A, three to five times fewer than Taylor's
 * series. Losses make the polynomials grow beyond the solution and eat up digits: a step on which they grow by more than GROWTH, or
 * by more than the tolerance has to spare, is taken again with half its length. Rows and the points of the energy books inside a
 * step share its polynomials and differ in their coefficients. Powers that are straight lines in the variables need no points: the
 * integrals of Bessel functions are sums of others.
 *
 * b(t) is constant, or a polynomial on each step, in both cases as further states of A (monomials of time).
 */
#include "job.h"
#include "linear.h"
#include "panels.h"

enum { NODES = 10, MOST_DIAGONALS = 7, MOST_POINTS = 128, MOST_LINES = 8 };
static const double GROWTH = 1e3, LONGEST = 400, RADIANS_A_ROW = 33, RADIANS_OF_BOOKS = 80, LAST_TERM = 1e-15, SHORT = 2;
typedef struct expo {
  tg_job *job;
  int n, pad;
  double *scale;         /* y[place[k]] = scale[k] z[k] */
  int *place, in_place;  /* whether variables keep their places */
  int *starts, *columns; /* rows of the scaled matrix */
  double *values;
  int n_diagonals, offsets[MOST_DIAGONALS];
  double *diagonals[MOST_DIAGONALS];
  double rho, decay, longest; /* the longest step that growth allows, as far as known */
  double trusted;              /* the longest step on which the input was a polynomial */
  /* input: on rows `support`, coefficients of x^k / k!, x in 0..1 over the step */
  int n_support, degree;
  int *support;
  double *input, *samples[NODES + 1], points[NODES], *input_most; /* the largest input of each row so far */
  long double inverse[NODES][NODES];
  double ramp[NODES], ramp_before[NODES];
  /* polynomials */
  double *before, *now, *sum, *z, *room;
  double *coefficients;
  long most_terms;
  /* points inside a step */
  int n_inner, n_rows, room_inner; /* rows of the output first, then points of the books */
  double known_tau;                /* coefficients of a step serve the next one of equal length with points at the same shares */
  int known_inner;
  long known_last;
  double loss, most_growth, least; /* a polynomial may be exp(loss) times the one before; terms below `least` count for nothing */
  double *inner_at, *known_at;
  double **inner;
  /* on which variables powers depend, and what these are in each polynomial of the step */
  int power_rows, all_powers;
  int *power_list;
  double *traces;
  /* powers that are straight lines in these variables, as long as the input is constant: their value at zero, their slopes, and
   * what they are at the point at which they were asked, which shows whether they change with time */
  int straight, by_lines; /* in this stretch, and in this step */
  double *integrals, line[MOST_LINES + 1][4], asked[5];
  /* points of the books in a step, of Gauss on 0..1 */
  int n_points;
  double book_radians, book_at[MOST_POINTS], book_weights[MOST_POINTS];
  double *zero, *y, *yp, *rates, *base;
} expo;

/* ---- the matrix ------------------------------------------------------------------------------------------------------------- */

static void balance_scales(expo *x, const int *place_of, const tg_matrix *m) {
  int n = x->n;
  double *row = tg_new((size_t)n, sizeof(double)), *column = tg_new((size_t)n, sizeof(double));
  for (int k = 0; k < n; k++) x->scale[k] = 1;
  for (int sweep = 0; row && column && sweep < 40; sweep++) {
    double change = 0;
    memset(row, 0, sizeof(double) * (size_t)n);
    memset(column, 0, sizeof(double) * (size_t)n);
    for (int k = 0; k < n; k++)
      for (int p = m->columns[k]; p < m->columns[k + 1]; p++) {
        int i = m->rows[p];
        if (i == k || m->values[p] == 0) continue;
        double v = fabs(m->values[p]) * x->scale[place_of[k]] / x->scale[place_of[i]];
        row[place_of[i]] += v;
        column[place_of[k]] += v;
      }
    for (int k = 0; k < n; k++)
      if (row[k] > 0 && column[k] > 0 && row[k] != column[k]) {
        /* the square root of Osborne's factor: all variables are rescaled at once */
        double f = pow(row[k] / column[k], 0.25);
        x->scale[k] *= f;
        change = fmax(change, fabs(log(f)));
      }
    if (change < 0.01) break;
  }
  free(row);
  free(column);
}

static int make_rows(expo *x, const tg_matrix *m) {
  int n = x->n, *place_of = tg_new((size_t)n, sizeof(int)), *next = tg_new((size_t)n + 1, sizeof(int));
  if (!place_of || !next) return TG_NO_MEMORY;
  for (int k = 0; k < n; k++) place_of[x->place[k]] = k;
  balance_scales(x, place_of, m);
  for (int p = 0; p < m->nnz; p++)
    if (m->values[p] != 0) x->starts[place_of[m->rows[p]] + 1]++;
  for (int k = 0; k < n; k++) x->starts[k + 1] += x->starts[k];
  memcpy(next, x->starts, sizeof(int) * (size_t)n);
  for (int c = 0; c < n; c++)
    for (int p = m->columns[c]; p < m->columns[c + 1]; p++)
      if (m->values[p] != 0) {
        int i = place_of[m->rows[p]], k = place_of[c];
        x->columns[next[i]] = k;
        x->values[next[i]++] = m->values[p] * x->scale[k] / x->scale[i];
      }
  free(place_of);
  free(next);
  return 0;
}

static double entry(const expo *x, int i, int k) {
  for (int p = x->starts[i]; p < x->starts[i + 1]; p++)
    if (x->columns[p] == k) return x->values[p];
  return 0;
}

/* bounds of the skew and the symmetric part, and the diagonals where they are few */
static int look_at_rows(expo *x) {
  int n = x->n, fits = 1;
  double *skew = tg_new((size_t)n, sizeof(double)), *symmetric = tg_new((size_t)n, sizeof(double));
  if (!skew || !symmetric) return TG_NO_MEMORY;
  for (int i = 0; i < n; i++)
    for (int p = x->starts[i]; p < x->starts[i + 1]; p++) {
      int k = x->columns[p], known = 0;
      double other = entry(x, k, i), s = 0.5 * fabs(x->values[p] - other), r = 0.5 * fabs(x->values[p] + other);
      skew[i] += s;
      symmetric[i] += r;
      if (other == 0) { /* its mirror image stands in no list */
        skew[k] += s;
        symmetric[k] += r;
      }
      for (int d = 0; d < x->n_diagonals; d++) known |= x->offsets[d] == k - i;
      if (!known && x->n_diagonals == MOST_DIAGONALS) fits = 0;
      if (!known && x->n_diagonals < MOST_DIAGONALS) x->offsets[x->n_diagonals++] = k - i;
    }
  for (int i = 0; i < n; i++) {
    x->rho = fmax(x->rho, skew[i]);
    x->decay = fmax(x->decay, symmetric[i]);
  }
  free(skew);
  free(symmetric);
  x->rho = fmax(x->rho * (1 + 1e-12), x->decay);
  if (!fits || (long)x->n_diagonals * n > 3L * x->starts[n] + n) x->n_diagonals = 0;
  for (int d = 0; d < x->n_diagonals; d++) {
    x->diagonals[d] = tg_new((size_t)n, sizeof(double));
    if (!x->diagonals[d]) return TG_NO_MEMORY;
    x->pad = abs(x->offsets[d]) > x->pad ? abs(x->offsets[d]) : x->pad;
    for (int i = 0; i < n; i++)
      if (i + x->offsets[d] >= 0 && i + x->offsets[d] < n) x->diagonals[d][i] = entry(x, i, i + x->offsets[d]);
  }
  return 0;
}

/* ---- kernels: out = factor A now + out ------------------------------------------------------------------------------------------ */

KERNEL static void two_diagonals(int n, double f, const double *restrict a, const double *restrict b, const double *restrict u,
                                 const double *restrict v, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] += f * (a[i] * u[i] + b[i] * v[i]);
}

KERNEL static void one_diagonal(int n, double f, const double *restrict a, const double *restrict u, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] += f * a[i] * u[i];
}

/* two terms at once: half the passes over out */
KERNEL static void add(int n, double f, const double *restrict u, double g, const double *restrict v, double *restrict out) {
  for (int i = 0; i < n; i++) out[i] += f * u[i] + g * v[i];
}

/* the same for four sums, which share what is read */
KERNEL static void add_four(int n, const double *f, const double *restrict u, const double *restrict v, double *restrict a,
                            double *restrict b, double *restrict c, double *restrict d) {
  for (int i = 0; i < n; i++) {
    a[i] += f[0] * u[i] + f[1] * v[i];
    b[i] += f[2] * u[i] + f[3] * v[i];
    c[i] += f[4] * u[i] + f[5] * v[i];
    d[i] += f[6] * u[i] + f[7] * v[i];
  }
}

KERNEL static double product(long n, const double *u, const double *v) {
  double sum[8] = {0};
  long i = 0;
  for (; i + 8 <= n; i += 8)
    for (int l = 0; l < 8; l++) sum[l] += u[i + l] * v[i + l];
  for (; i < n; i++) sum[0] += u[i] * v[i];
  for (int l = 1; l < 8; l++) sum[0] += sum[l];
  return sum[0];
}

/* the largest of v, in eight lanes; what is no number counts as large */
KERNEL static double size_of(int n, const double *v) {
  double most[8] = {0};
  int i = 0;
  for (; i + 8 <= n; i += 8)
    for (int l = 0; l < 8; l++) most[l] = !(fabs(v[i + l]) <= most[l]) ? fabs(v[i + l]) : most[l];
  for (; i < n; i++) most[0] = !(fabs(v[i]) <= most[0]) ? fabs(v[i]) : most[0];
  for (int l = 1; l < 8; l++) most[0] = !(most[l] <= most[0]) ? most[l] : most[0];
  return most[0];
}

HOT static void by_rows(const expo *x, double f, const double *u, double *out) {
  for (int i = 0; i < x->n; i++) {
    double sum = 0;
    for (int p = x->starts[i]; p < x->starts[i + 1]; p++) sum += x->values[p] * u[x->columns[p]];
    out[i] += f * sum;
  }
}

static void multiply(const expo *x, double f, const double *u, double *out) {
  int d = 0;
  if (!x->n_diagonals) by_rows(x, f, u, out);
  for (; d + 1 < x->n_diagonals; d += 2)
    two_diagonals(x->n, f, x->diagonals[d], x->diagonals[d + 1], u + x->offsets[d], u + x->offsets[d + 1], out);
  if (d < x->n_diagonals) one_diagonal(x->n, f, x->diagonals[d], u + x->offsets[d], out);
}

/* ---- input ------------------------------------------------------------------------------------------------------------------ */

/* Values at NODES points -> coefficients of x^k / k!. These cancel seven digits, which the longer numbers have to spare. */
static void make_inverse(expo *x) {
  long double a[NODES][2 * NODES];
  for (int i = 0; i < NODES; i++) {
    x->points[i] = 0.5 - 0.5 * cos(3.14159265358979323846 * (i + 0.5) / NODES);
    long double power = 1;
    for (int k = 0; k < NODES; k++) {
      a[i][k] = power;
      a[i][NODES + k] = i == k;
      power *= x->points[i] / (k + 1);
    }
  }
  for (int k = 0; k < NODES; k++) {
    int pivot = k;
    for (int i = k; i < NODES; i++)
      if (fabsl(a[i][k]) > fabsl(a[pivot][k])) pivot = i;
    for (int c = 0; c < 2 * NODES; c++) {
      long double keep = a[k][c];
      a[k][c] = a[pivot][c];
      a[pivot][c] = keep;
    }
    for (int i = 0; i < NODES; i++) {
      if (i == k) continue;
      long double f = a[i][k] / a[k][k];
      for (int c = k; c < 2 * NODES; c++) a[i][c] -= f * a[k][c];
    }
  }
  for (int k = 0; k < NODES; k++)
    for (int i = 0; i < NODES; i++) x->inverse[k][i] = a[k][NODES + i] / a[k][k];
}

static int sample_input(expo *x, double t, double *to) {
  x->job->rhs_calls++;
  return x->job->rhs(x->job->context, t, x->zero, to) ? TG_NOT_FINITE : 0;
}

static void keep_input(expo *x) {
  x->n_support = 0;
  for (int k = 0; k < x->n; k++) {
    int row = x->place[k], any = 0;
    for (int i = 0; i < (x->degree ? NODES : 1); i++) any |= x->samples[i][row] != 0;
    if (any) x->support[x->n_support++] = k;
  }
  for (int s = 0; s < x->n_support; s++) {
    int k = x->support[s], row = x->place[k];
    for (int c = 0; c <= x->degree; c++) {
      long double sum = x->degree ? 0 : x->samples[0][row];
      for (int i = 0; x->degree && i < NODES; i++) sum += x->inverse[c][i] * x->samples[i][row];
      x->input[c * x->n + s] = (double)sum / x->scale[k];
    }
  }
}

/* is b the same at all points asked so far? */
static int is_constant(const expo *x, int points) {
  for (int i = 1; i < points; i++)
    if (memcmp(x->samples[0], x->samples[i], sizeof(double) * (size_t)x->n)) return 0;
  return 1;
}

/* By how much the polynomial misses the input at a share of a step, in tolerances of what a step makes of that. */
static int input_is_off(expo *x, double t, double h, double at, double *worst) {
  tg_job *j = x->job;
  if (sample_input(x, t + h * at, x->samples[NODES])) return 1;
  for (int s = 0; s < x->n_support; s++) {
    int k = x->support[s], row = x->place[k];
    double sum = 0, power = 1;
    for (int c = 0; c < NODES; c++) {
      sum += x->input[c * x->n + s] * power;
      power *= at / (c + 1);
    }
    double off = h * fabs(sum * x->scale[k] - x->samples[NODES][row]);
    *worst = fmax(*worst, off / (j->atol[row] + j->rtol * fabs(x->scale[k] * x->z[k])));
  }
  return 0;
}

/* The input over a step of at most *h: constant, or the polynomial that also meets b between its nodes, in the middle and at the end,
 * where a pulse may begin; h is halved until it does. */
static int resolve_input(expo *x, double t, double *h) {
  tg_job *j = x->job;
  if (x->degree == 0 && x->samples[0]) {
    double at = t + *h * 0.61803398874989484820;
    if (sample_input(x, at, x->samples[1])) return TG_NOT_FINITE;
    if (is_constant(x, 2)) return 0;
    x->degree = NODES - 1;
  }
  if (!(x->points[0] > 0)) make_inverse(x); /* not before it is needed: many runs have constant inputs */
  for (int halving = 0; halving < 60; halving++, *h *= 0.5) {
    for (int i = 0; i < NODES; i++)
      if (sample_input(x, t + *h * x->points[i], x->samples[i])) return TG_NOT_FINITE;
    double worst = 0;
    keep_input(x);
    double checks[3] = {0.5 * (x->points[1] + x->points[2]), 0.5 * (x->points[5] + x->points[6]), 1};
    for (int i = 0; i < 3 && worst <= 0.01; i++)
      if (input_is_off(x, t, *h, checks[i], &worst)) return TG_NOT_FINITE;
    if (worst <= 0.01) return 0;
  }
  return TG_TINY_STEP;
}

static int open_input(expo *x, double t, double until) {
  static const double spread[5] = {0.003, 0.19, 0.4142135623730950488, 0.7320508075688772935, 0.98};
  for (int i = 0; i < 5; i++)
    if (sample_input(x, t + spread[i] * (until - t), x->samples[i])) return TG_NOT_FINITE;
  x->degree = is_constant(x, 5) ? 0 : NODES - 1;
  if (!x->degree) keep_input(x);
  return 0;
}

/* ---- one step ----------------------------------------------------------------------------------------------------------------- */

/* Bessel functions J_0 .. J_last of tau by Miller's backward recurrence; returns where they fall below what counts */
HOT static long bessel(const expo *x, double tau, double *to) {
  long room = x->most_terms;
  long start = (long)(tau + 9 * cbrt(tau) + 22) & ~1L; /* well below rounding for all tau up to LONGEST */
  double after = 0, now = 1e-300, sum = 0, twice = 2 / fmax(tau, 1e-100);
  if (start >= room) start = (room - 2) & ~1L;
  for (long k = start; k >= 0; k--) {
    double before = (double)k * twice * now - after;
    to[k] = now;
    if (k % 2 == 0) sum += (k ? 2 : 1) * now;
    after = now;
    now = before;
    if (fabs(now) > 1e250) {
      for (long i = k; i <= start; i++) to[i] *= 1e-250;
      after *= 1e-250;
      now *= 1e-250;
      sum *= 1e-250;
    }
  }
  long last = start;
  sum = 1 / sum;
  for (long k = 0; k <= start; k++) to[k] *= sum;
  while (last > 0 && fabs(to[last]) * fmin(exp(x->loss * last), x->most_growth) <= x->least) last--;
  memset(to + last + 1, 0, sizeof(double) * (size_t)(room - last - 1));
  return last;
}

static void apply_matrix(const expo *x, double f, double tau, double *out, double *ramp_out) {
  multiply(x, f / x->rho, x->now, out);
  for (int c = 0; c <= x->degree; c++) {
    double e = f / x->rho * x->ramp[c];
    if (e != 0)
      for (int s = 0; s < x->n_support; s++) out[x->support[s]] += e * x->input[c * x->n + s];
  }
  for (int c = x->degree; c > 0; c--) ramp_out[c] += f / tau * x->ramp[c - 1];
}

/* The monomials of an input grow by 2 / tau from one polynomial to the next: in a short step, coefficients count that are small. */
static double least_coefficient(const expo *x, double tau) {
  return x->degree ? LAST_TERM * pow(fmin(1, tau / SHORT), x->degree) : LAST_TERM;
}

/* Do the coefficients at hand serve this step, too? Even rows are even up to the rounding of time. */
static int is_known(const expo *x, double tau) {
  const double close = 8 * DBL_EPSILON * (1 + x->rho * fabs(x->job->t) / tau);
  if (x->known_tau == 0 || !(fabs(tau - x->known_tau) <= close * tau) || x->n_inner != x->known_inner) return 0;
  if (x->least != least_coefficient(x, x->known_tau)) return 0;
  for (int q = 0; q < x->n_inner; q++)
    if (fabs(x->inner_at[q] - x->known_at[q]) > close) return 0;
  return 1;
}

static long make_coefficients(expo *x, double tau) {
  double *inner = x->coefficients + x->most_terms;
  if (!is_known(x, tau)) {
    x->least = least_coefficient(x, tau);
    x->most_growth = tau > SHORT ? GROWTH : INFINITY;
    x->known_last = bessel(x, tau, x->coefficients);
    for (int q = 0; q < x->n_inner; q++) bessel(x, tau * x->inner_at[q], inner + q * x->most_terms);
    x->known_tau = tau;
    x->known_inner = x->n_inner;
    memcpy(x->known_at, x->inner_at, sizeof(double) * (size_t)x->n_inner);
  }
  return x->known_last;
}

/* the next polynomial: P_1 = X P_0, P_k+1 = 2 X P_k + P_k-1 with X = A / rho */
static void next_polynomial(expo *x, long k, double tau) {
  double *keep = x->now, ramp[NODES];
  apply_matrix(x, k == 1 ? 1 : 2, tau, x->before, x->ramp_before);
  x->now = x->before;
  x->before = keep;
  memcpy(ramp, x->ramp, sizeof ramp);
  memcpy(x->ramp, x->ramp_before, sizeof ramp);
  memcpy(x->ramp_before, ramp, sizeof ramp);
}

/* The terms of polynomials k - 1 and k, of which k is odd, or of the last one alone, to the sum and to the points inside. */
HOT static void add_terms(expo *x, long k) {
  const double *c = x->coefficients + k;
  const int alone = k % 2 == 0, whole = x->all_powers ? x->n_inner : x->n_rows;
  double *to[4], by[8];
  int waiting = 0;
  for (int q = -1; q < whole; q++, c += x->most_terms) {
    by[2 * waiting] = k ? 2 * c[0] : c[0];
    by[2 * waiting + 1] = alone ? 0 : k > 1 ? 2 * c[-1] : c[-1];
    if (q >= 0 && by[2 * waiting] == 0 && by[2 * waiting + 1] == 0) continue;
    to[waiting++] = q < 0 ? x->sum : x->inner[q];
    if (waiting < 4) continue;
    add_four(x->n, by, x->now, x->before, to[0], to[1], to[2], to[3]);
    waiting = 0;
  }
  for (int w = 0; w < waiting; w++) add(x->n, by[2 * w], x->now, by[2 * w + 1], x->before, to[w]);
}

/* What powers read, in polynomial k: points of the books are sums of these alone. */
static void note_traces(expo *x, long k) {
  for (int i = 0; i < x->power_rows; i++) x->traces[i * x->most_terms + k] = (k ? 2 : 1) * x->now[x->power_list[i]];
}

HOT static void add_traces(expo *x, long last) {
  for (int q = x->n_rows; q < x->n_inner; q++)
    for (int i = 0; i < x->power_rows; i++)
      x->inner[q][x->power_list[i]] =
          product(last + 1, x->coefficients + (q + 1) * x->most_terms, x->traces + i * x->most_terms);
}

/* sum = z(t + h), and the inner points; returns 1 when the polynomials grew too much */
HOT static int step(expo *x, double h) {
  double tau = x->rho * h, start = size_of(x->n, x->z), input = 0;
  long last = make_coefficients(x, tau);
  size_t size = sizeof(double) * (size_t)x->n;
  for (int s = 0; s < x->n_support; s++)
    for (int c = 0; c <= x->degree; c++) input = fmax(input, fabs(x->input[c * x->n + s]));
  double growth = fmin(GROWTH, 0.01 * x->job->rtol / LAST_TERM), allowed = growth * (start + (last + 1) * input / x->rho);
  memcpy(x->now, x->z, size);
  memset(x->before, 0, size);
  memset(x->sum, 0, size);
  memset(x->ramp, 0, sizeof x->ramp);
  memset(x->ramp_before, 0, sizeof x->ramp_before);
  x->ramp[0] = 1;
  long looked = tau > SHORT ? last : -1; /* how far growth counts: a short step loses no digits, nor do the last terms */
  while (looked > 0 && fabs(x->coefficients[looked]) <= LAST_TERM) looked--;
  const int traced = !x->all_powers && x->job->keep_books;
  for (int q = 0; q < (traced ? x->n_rows : x->n_inner); q++) memset(x->inner[q], 0, size);
  for (long k = 0; k <= last; k++) {
    if (k) next_polynomial(x, k, tau);
    if (traced) note_traces(x, k);
    if (k % 2 || k == last) add_terms(x, k);
    if (k <= looked && (k % 16 == 15 || k == looked) && !(size_of(x->n, x->now) <= allowed)) return 1;
  }
  if (traced) add_traces(x, last);
  return 0;
}

KERNEL static void scaled(int n, const double *restrict scale, const double *restrict z, double *restrict y) {
  for (int k = 0; k < n; k++) y[k] = scale[k] * z[k];
}

HOT static void to_variables(const expo *x, const double *z, double *y) {
  if (x->in_place) scaled(x->n, x->scale, z, y);
  else
    for (int k = 0; k < x->n; k++) y[x->place[k]] = x->scale[k] * z[k];
}

/* ---- the books ------------------------------------------------------------------------------------------------------------------ */

/* by way of an array of its own: the balance, where it stands for the powers, writes a fifth number behind them */
static int powers(expo *x, double t, const double *y, const double *yp, double *p) {
  double found[5];
  int bad = tg_powers_of(x->job, t, y, yp, found);
  memcpy(p, found, 4 * sizeof(double));
  return bad;
}

static void add_power_row(expo *x, int k) {
  for (int i = 0; i < x->power_rows; i++)
    if (x->power_list[i] == k) return;
  x->power_list[x->power_rows++] = k;
  if (x->power_rows > x->n / 8) x->all_powers = 1;
}

/* Straight lines through zero and one far point along each variable that powers read, which hold at another point, near and far, but
 * for rounding: products of two variables would show there, however small they are nearby. So it is in networks without loss under
 * constant sources. */
static void draw_lines(expo *x, double t) {
  const double far = 1099511627776.0;
  double p[5], *y = x->y;
  x->straight = 0;
  if (x->all_powers || x->power_rows > MOST_LINES || x->degree) return;
  memset(y, 0, sizeof(double) * (size_t)x->n);
  if (powers(x, t, x->base, x->zero, x->asked) || powers(x, t, y, x->zero, x->line[0])) return;
  for (int i = 0; i < x->power_rows; i++) {
    double *at = y + x->place[x->power_list[i]], length = far * x->scale[x->power_list[i]];
    *at = length;
    if (powers(x, t, y, x->zero, p)) return;
    for (int b = 0; b < 4; b++) x->line[i + 1][b] = (p[b] - x->line[0][b]) / length;
    *at = 0;
  }
  for (double share = 1; share <= far; share *= far) {
    for (int i = 0; i < x->power_rows; i++) y[x->place[x->power_list[i]]] = share * x->base[x->place[x->power_list[i]]];
    if (powers(x, t, y, x->zero, p)) return;
    for (int b = 0; b < 4; b++) {
      double expected = x->line[0][b], size = fabs(expected);
      for (int i = 0; i < x->power_rows; i++) {
        double part = x->line[i + 1][b] * y[x->place[x->power_list[i]]];
        expected += part;
        size += fabs(part);
      }
      if (!(fabs(p[b] - expected) <= 64 * DBL_EPSILON * size)) return;
    }
  }
  x->straight = 1;
}

/* Which variables do the powers read, in a stretch without breaks? Changing a group of variables that they do not read changes
 * nothing; groups that matter are halved. All of them count when they are many, or when rates are read too. */
static int find_power_rows(expo *x, double t) {
  int n = x->n, *stack = tg_new(2 * (size_t)n + 64, sizeof(int)), depth = 0;
  double p[5], q[5], *base = x->base, *moved = tg_new((size_t)n, sizeof(double)), *rates = tg_new((size_t)n, sizeof(double));
  if (!stack || !moved || !rates) return TG_NO_MEMORY;
  uint64_t seed = 88172645463325252ULL;
  for (int k = 0; k < 2 * n; k++) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    double v = (double)(seed >> 11) / 9007199254740992.0 + 0.5;
    if (k < n) base[k] = v * x->scale[k]; /* any point will do, in the units of the variables */
    else rates[k - n] = v * x->scale[k - n];
  }
  if (powers(x, t, base, x->zero, p) || powers(x, t, base, rates, q) || memcmp(p, q, 4 * sizeof(double))) x->all_powers = 1;
  stack[depth++] = 0;
  stack[depth++] = n;
  while (depth && !x->all_powers) {
    int to = stack[--depth], from = stack[--depth];
    memcpy(moved, base, sizeof(double) * (size_t)n);
    for (int k = from; k < to; k++) moved[x->place[k]] *= 1.5 + 0.01 * (k % 7);
    if (powers(x, t, moved, x->zero, q)) x->all_powers = 1;
    else if (memcmp(p, q, 4 * sizeof(double))) {
      if (to - from == 1) {
        add_power_row(x, from);
      } else {
        int middle = (from + to) / 2;
        stack[depth++] = from;
        stack[depth++] = middle;
        stack[depth++] = middle;
        stack[depth++] = to;
      }
    }
  }
  free(stack);
  free(moved);
  free(rates);
  free(x->traces);
  x->traces = tg_new((size_t)(x->power_rows * x->most_terms), sizeof(double));
  if (!x->traces) return TG_NO_MEMORY;
  draw_lines(x, t);
  return 0;
}

/* Points and weights of Gauss on 0..1: the zeros of Legendre's polynomial, by Newton's method. */
HOT static void place_book_points(expo *x, int n) {
  x->n_points = n;
  for (int i = 0; i < (n + 1) / 2; i++) {
    double z = cos(3.14159265358979323846 * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int again = 0; again < 4; again++) {
      double p = z, before = 1;
      for (int k = 2; k <= n; k++) {
        double share = 1.0 / k, next = (2 - share) * z * p - (1 - share) * before;
        before = p;
        p = next;
      }
      slope = n * (z * p - before) / (z * z - 1);
      z -= p / slope;
    }
    x->book_at[i] = 0.5 - 0.5 * z;
    x->book_at[n - 1 - i] = 0.5 + 0.5 * z;
    x->book_weights[i] = x->book_weights[n - 1 - i] = 1 / ((1 - z * z) * slope * slope);
  }
}

/* By how many radians the input turns in a step: the derivatives of a sine over r radians are r, r^2, ... of its largest value. */
static double radians_of_input(expo *x) {
  double found = 0;
  for (int s = 0; x->degree && s < x->n_support; s++) {
    const int k = x->support[s], row = x->place[k];
    for (int i = 0; i < NODES; i++) x->input_most[k] = fmax(x->input_most[k], fabs(x->samples[i][row]) / x->scale[k]);
    for (int c = 1; c <= x->degree; c++) {
      double size = fabs(x->input[c * x->n + s]);
      if (size > x->input_most[k] * pow(found, c)) found = pow(size / x->input_most[k], 1.0 / c);
    }
  }
  return found;
}

/* As many points as the books of a step need: a power turns twice as fast as the variables and the input, and n points miss
 * n!^4 / ((2n + 1) (2n)!^3) (2 r)^2n of it over r radians, no more than the tolerance. */
static void choose_book_points(expo *x, double radians) {
  if (fabs(radians - x->book_radians) <= 1e-6 * radians) return;
  double allowed = log(x->job->rtol), missed = 0;
  int n = 3;
  do {
    n++;
    missed = 4 * lgamma(n + 1) - 3 * lgamma(2 * n + 1) - log(2 * n + 1) + 2 * n * log(2 * radians);
  } while (missed > allowed && n < MOST_POINTS);
  if (n != x->n_points) place_book_points(x, n);
  x->book_radians = radians;
}

/* Are powers straight lines over the whole of a step? The input is constant there, and so must be what no state feels of it. */
static int are_straight(expo *x, double t, double h) {
  double p[5];
  if (!x->straight || x->degree) return 0;
  return !powers(x, t + h * 0.61803398874989484820, x->base, x->zero, p) && !memcmp(p, x->asked, 4 * sizeof(double));
}

/* The books of a step whose powers are straight lines, term by term: the integral of J_k from 0 to tau is 2 (J_k+1 + J_k+3 + ...). */
static void book_lines(expo *x, double h) {
  double *sums = x->integrals, *books = x->job->books;
  const long last = x->known_last;
  sums[last + 1] = sums[last] = 0;
  for (long k = last - 1; k >= 0; k--) sums[k] = sums[k + 2] + 2 * x->coefficients[k + 1];
  for (int b = 0; b < 4; b++) books[b] += h * x->line[0][b];
  for (int i = 0; i < x->power_rows; i++) {
    double sum = x->scale[x->power_list[i]] / x->rho * product(last + 1, sums, x->traces + i * x->most_terms);
    for (int b = 0; b < 4; b++) books[b] += x->line[i + 1][b] * sum;
  }
}

static int book_points(expo *x, double t, double h, int first) {
  tg_job *j = x->job;
  double power[5];
  for (int q = 0; q < x->n_points; q++) {
    double at = t + h * x->book_at[q];
    const double *z = x->inner[first + q];
    if (x->all_powers) {
      to_variables(x, z, x->y);
      if (j->powers_read_rates && j->rhs(j->context, at, x->y, x->yp)) return TG_NOT_FINITE;
    } else {
      for (int i = 0; i < x->power_rows; i++) {
        int k = x->power_list[i];
        x->y[x->place[k]] = x->scale[k] * z[k];
      }
    }
    if (powers(x, at, x->y, x->all_powers ? x->yp : x->zero, power)) return TG_NOT_FINITE;
    for (int b = 0; b < 4; b++) j->books[b] += h * x->book_weights[q] * power[b];
  }
  return 0;
}

/* ---- the loop ------------------------------------------------------------------------------------------------------------------- */

static int grow_inner(expo *x, int wanted) {
  if (wanted <= x->room_inner) return 0;
  x->inner_at = realloc(x->inner_at, sizeof(double) * (size_t)wanted);
  x->known_at = realloc(x->known_at, sizeof(double) * (size_t)wanted);
  x->inner = realloc(x->inner, sizeof(double *) * (size_t)wanted);
  x->coefficients = realloc(x->coefficients, sizeof(double) * (size_t)(x->most_terms * (wanted + 1)));
  if (!x->inner_at || !x->known_at || !x->inner || !x->coefficients) return TG_NO_MEMORY;
  for (; x->room_inner < wanted; x->room_inner++) {
    double *made = tg_new((size_t)(x->n + 2 * x->pad), sizeof(double));
    if (!made) return TG_NO_MEMORY;
    x->inner[x->room_inner] = made + x->pad;
  }
  return 0;
}

/* A row; `z` has `pad` zeros on both sides. Under a constant input its rates are A z + b, as precise as z itself. */
HOT static int put_row(expo *x, double t, const double *z, int constant) {
  tg_job *j = x->job;
  double *y = j->out_y + (size_t)x->n * (size_t)j->next_time, *yp = j->out_yp + (size_t)x->n * (size_t)j->next_time;
  to_variables(x, z, y);
  j->next_time++;
  if (!constant) return j->rhs(j->context, t, y, yp) ? TG_NOT_FINITE : 0;
  memset(x->rates, 0, sizeof(double) * (size_t)x->n);
  multiply(x, 1, z, x->rates);
  for (int s = 0; s < x->n_support; s++) x->rates[x->support[s]] += x->input[s];
  to_variables(x, x->rates, yp);
  return 0;
}

/* The length of the next step: rows inside a step cost as much as short steps, so it ends at a row, a few rows ahead. */
static double plan(const expo *x, double stop) {
  const tg_job *j = x->job;
  double h = fmin(fmin(x->longest, x->trusted), fmin(j->max_step, stop - j->t));
  if (j->keep_books) h = fmin(h, (x->all_powers ? RADIANS_A_ROW : RADIANS_OF_BOOKS) / x->rho); /* points of long steps are dear */
  int64_t row = j->next_time, last = -1;
  while (row < j->n_times && j->times[row] <= j->t) row++;
  for (int64_t k = row; k < j->n_times && k < row + 8 && j->times[k] < j->t + h; k++) {
    if (last >= 0 && x->rho * (j->times[k] - j->t) > RADIANS_A_ROW) break;
    last = k;
  }
  return last >= 0 ? j->times[last] - j->t : h;
}

/* the points inside a step: rows of the output, then those of the books */
static int place_inner(expo *x, double h, double reached) {
  tg_job *j = x->job;
  x->by_lines = j->keep_books && are_straight(x, j->t, h);
  if (j->keep_books && !x->by_lines) choose_book_points(x, fmax(x->rho * h, radians_of_input(x)));
  const int points = x->by_lines ? 0 : x->n_points;
  x->n_rows = 0;
  while (j->next_time + x->n_rows < j->n_times && j->times[j->next_time + x->n_rows] < reached) x->n_rows++;
  x->n_inner = x->n_rows + points;
  if (grow_inner(x, x->n_inner)) return TG_NO_MEMORY;
  for (int q = 0; q < x->n_rows; q++) x->inner_at[q] = fmax(0, (j->times[j->next_time + q] - j->t) / h);
  memcpy(x->inner_at + x->n_rows, x->book_at, sizeof(double) * (size_t)points);
  return 0;
}

static int expo_advance(expo *x, double halt) {
  tg_job *j = x->job;
  double stop = tg_stop_before(j, halt);
  if (open_input(x, j->t, stop)) return TG_NOT_FINITE;
  if (j->keep_books && find_power_rows(x, j->t + 0.3819660112501051518 * (stop - j->t))) return TG_NO_MEMORY;
  x->trusted = stop - j->t;
  while (j->t < stop) {
    double planned = plan(x, stop), h = planned;
    int bad = resolve_input(x, j->t, &h);
    if (!bad && h < planned && h <= tg_gap(j->t)) bad = TG_TINY_STEP; /* an input without bound */
    double reached = stop - (j->t + h) <= tg_gap(stop) ? stop : j->t + h;
    if (!bad) bad = place_inner(x, h, reached);
    if (bad) return bad;
    if (x->degree) x->trusted = h < planned ? h : 2 * fmax(h, x->trusted);
    if (step(x, h)) {
      j->rejected++;
      x->longest = 0.5 * h;
      if (x->longest <= tg_gap(j->t)) return TG_TINY_STEP;
      continue;
    }
    for (int q = 0; q < x->n_rows && !bad; q++) bad = put_row(x, j->times[j->next_time], x->inner[q], !x->degree);
    if (!bad && x->by_lines) book_lines(x, h);
    else if (!bad && j->keep_books) bad = book_points(x, j->t, h, x->n_rows);
    if (bad) return bad;
    memcpy(x->z, x->sum, sizeof(double) * (size_t)x->n);
    to_variables(x, x->z, j->y);
    j->t = reached;
    j->steps++;
    j->last_step = h;
    j->progress = j->t;
    while (!bad && j->next_time < j->n_times && j->times[j->next_time] <= reached) bad = put_row(x, j->times[j->next_time], x->z, !x->degree);
    if (bad) return bad;
    if (h == x->longest) x->longest = fmin(1.25 * h, LONGEST / x->rho);
    if (j->cancel) return TG_CANCELLED;
    if (tg_too_many_steps(j)) return TG_MANY_STEPS;
  }
  return -1;
}

static int expo_start(expo *x) {
  tg_job *j = x->job;
  for (int k = 0; k < x->n; k++) x->z[k] = j->y[x->place[k]] / x->scale[k];
  while (j->next_time < j->n_times && j->times[j->next_time] <= j->t)
    if (put_row(x, j->t, x->z, 0)) return TG_NOT_FINITE;
  return j->rhs(j->context, j->t, j->y, j->yp) ? TG_NOT_FINITE : 0;
}

static int expo_go(expo *x) {
  tg_job *j = x->job;
  for (;;) {
    double before = j->t, halt = tg_next_halt(j);
    int status = expo_start(x);
    if (!status && before >= j->until) return TG_FINISHED;
    if (!status) status = expo_advance(x, halt);
    if (status >= 0) return status;
    while (j->next_stop < j->n_stops && j->stops[j->next_stop] <= halt) j->next_stop++;
    if (j->rhs(j->context, j->t, j->y, j->yp)) return TG_NOT_FINITE;
    if (tg_ends_at(j, before, halt)) return TG_FINISHED;
    j->t = tg_go_on_after(j, halt);
    status = tg_take_samples(j, before);
    if (status) return status;
  }
}

static int expo_open(expo *x, tg_job *j) {
  size_t n = (size_t)j->n;
  tg_matrix m = {0};
  x->job = j;
  x->n = j->n;
  int bad = tg_matrix_open(&m, j);
  if (!bad && tg_rhs_jacobian(&m, j, j->t, j->y)) bad = TG_NOT_FINITE;
  x->scale = tg_new(n, sizeof(double));
  x->place = tg_new(n, sizeof(int));
  x->starts = tg_new(n + 1, sizeof(int));
  x->columns = tg_new((size_t)m.nnz, sizeof(int));
  x->values = tg_new((size_t)m.nnz, sizeof(double));
  x->support = tg_new(n, sizeof(int));
  x->input = tg_new(n * NODES, sizeof(double));
  x->input_most = tg_new(n, sizeof(double));
  x->power_list = tg_new(n, sizeof(int));
  x->zero = tg_new(n, sizeof(double));
  x->y = tg_new(n, sizeof(double));
  x->yp = tg_new(n, sizeof(double));
  x->rates = tg_new(n, sizeof(double));
  x->base = tg_new(n, sizeof(double));
  if (!x->scale || !x->place || !x->starts || !x->columns || !x->values || !x->support || !x->input || !x->input_most || !x->power_list) bad = TG_NO_MEMORY;
  if (!x->zero || !x->y || !x->yp || !x->rates || !x->base) bad = TG_NO_MEMORY;
  for (int i = 0; i <= NODES; i++)
    if (!(x->samples[i] = tg_new(n, sizeof(double)))) bad = TG_NO_MEMORY;
  x->in_place = 1;
  for (int k = 0; !bad && k < x->n; k++) x->in_place &= (x->place[k] = j->order ? j->order[k] : k) == k;
  if (!bad) bad = make_rows(x, &m);
  if (!bad) bad = look_at_rows(x);
  tg_matrix_close(&m);
  if (bad) return bad;
  if (!(x->rho > 0)) x->rho = 1 / (j->until - j->t);
  x->loss = asinh(x->decay / x->rho);
  if (!(x->decay > 0)) x->decay = 1e-300;
  size_t padded = n + 2 * (size_t)x->pad;
  x->room = tg_new(4 * padded, sizeof(double));
  x->most_terms = (long)(LONGEST + 14 * cbrt(LONGEST) + 48);
  x->coefficients = tg_new((size_t)x->most_terms, sizeof(double));
  x->integrals = tg_new((size_t)x->most_terms, sizeof(double));
  if (!x->room || !x->coefficients || !x->integrals) return TG_NO_MEMORY;
  x->before = x->room + x->pad;
  x->now = x->before + padded;
  x->sum = x->now + padded;
  x->z = x->sum + padded;
  x->longest = fmin(LONGEST / x->rho, 8 / x->decay);
  return 0;
}

static void expo_close(expo *x) {
  for (int d = 0; d < x->n_diagonals; d++) free(x->diagonals[d]);
  for (int i = 0; i <= NODES; i++) free(x->samples[i]);
  for (int q = 0; q < x->room_inner; q++) free(x->inner[q] - x->pad);
  void *all[] = {x->scale, x->place, x->starts, x->columns, x->values, x->support, x->input, x->input_most, x->room, x->coefficients,
                 x->inner_at, x->known_at, x->inner, x->power_list, x->traces, x->zero, x->y, x->yp, x->rates, x->base, x->integrals};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) free(all[k]);
}

int tg_exponential(tg_job *j) {
  expo x = {0};
  int status = expo_open(&x, j);
  if (!status) status = expo_go(&x);
  expo_close(&x);
  return status;
}
