/* Methods that keep their step and the structure of the energy.
 *
 * Midpoint: 0 = F(t + h/2, (y0 + y1)/2, (y1 - y0)/h). The balance of powers holds at the middle of each step, so a quadratic energy
 * is kept to rounding and symplectic models stay so.
 *
 * Discrete gradient: the rates of the states may differ from (y1 - y0)/h by s x, x the states in the middle, and s is chosen so that
 * the change of stored energy is exactly h times the power at the middle: the condition of Gonzalez (1996) that makes the midpoint
 * gradient a discrete one, for any energy. s is of second order in h.
 *
 * Algebraic unknowns belong to the middle of the step. Rows between steps are on the line between their ends for the unknowns and on
 * a cubic for the states.
 */
#include "job.h"
#include "linear.h"
#include "newton.h"

typedef struct fixed {
  tg_job *job;
  tg_newton newton;
  int n, m; /* all variables; those with a rate */
  double *y0, *f0, *y1, *f1, *middle, *rate;
  double h_of_factors, energy;
  int has_factors;
} fixed;

static int energy_at(fixed *x, double t, const double *y, const double *yp, double *energy) {
  double power[5];
  if (x->job->balance(x->job->context, t, y, yp, power)) return TG_NOT_FINITE;
  *energy = power[4];
  return 0;
}

/* y1 from the middle: y1 = y0 + 2 (middle - y0) for states, the middle itself for unknowns */
static void to_end(const fixed *x, double *y1) {
  for (int k = 0; k < x->n; k++) y1[k] = k < x->m ? 2 * x->middle[k] - x->y0[k] : x->middle[k];
}

static void set_middle(fixed *x, double h, double s) {
  for (int k = 0; k < x->m; k++) x->rate[k] = 2 * (x->middle[k] - x->y0[k]) / h;
  for (int k = 0; k < x->job->n_states; k++) x->rate[k] += s * x->middle[k];
}

static int factor_middle(fixed *x, double t, double h, double s) {
  tg_newton *w = &x->newton;
  for (int k = 0; k < x->n; k++) {
    w->on_y[k] = 1;
    w->on_yp[k] = k < x->m ? 2 / h : 0;
    if (k < x->job->n_states) w->on_yp[k] += s;
  }
  if (tg_residual_jacobian(&w->matrix, x->job, t, x->middle, x->rate, w->on_y, w->on_yp)) return TG_NOT_FINITE;
  x->job->factorisations++;
  if (tg_factor(&w->factors, &w->matrix, w->matrix.values)) {
    x->job->detail = -w->factors.ready;
    return TG_SINGULAR;
  }
  x->has_factors = 1;
  x->h_of_factors = h;
  return 0;
}

/* Newton's method with factors kept from step to step while they serve, until rounding ends the progress: what is left over in a step
 * would drift over a million of them. */
static int solve_middle(fixed *x, double t, double h, double s) {
  tg_newton *w = &x->newton;
  double last = INFINITY;
  int fresh = 0, status;
  if (!x->has_factors || x->h_of_factors != h) {
    set_middle(x, h, s);
    if ((status = factor_middle(x, t, h, s))) return status;
    fresh = 1;
  }
  for (int k = 0; k < 40; k++) {
    set_middle(x, h, s);
    x->job->rhs_calls++;
    if (x->job->residual(x->job->context, t, x->middle, x->rate, w->r)) return TG_NOT_FINITE;
    tg_back_substitute(w, x->job, w->r, w->step);
    double size = tg_size(w, x->job, w->step, x->middle, x->rate);
    if (!isfinite(size)) return TG_NO_CONVERGENCE;
    for (int i = 0; i < x->n; i++) x->middle[i] += w->step[i];
    if (size <= 4 * DBL_EPSILON || (size < 1e-11 && size > 0.3 * last)) return 0;
    if (size > 0.2 * last && size > 1e-11) {
      if (fresh > 20) return TG_NO_CONVERGENCE;
      set_middle(x, h, s);
      if ((status = factor_middle(x, t, h, s))) return status;
      fresh++;
      last = INFINITY;
    } else {
      last = size;
    }
  }
  return TG_NO_CONVERGENCE;
}

/* Solve the step for a given s; `off` is the energy at its end too much, `work` what the step adds to the energy due. */
static int solve_and_measure(fixed *x, double t, double h, double s, double *off, double *work) {
  double power[5], energy;
  int status = solve_middle(x, t + 0.5 * h, h, s);
  if (status) return status;
  set_middle(x, h, s);
  to_end(x, x->y1);
  if (tg_powers_of(x->job, t + 0.5 * h, x->middle, x->rate, power)) return TG_NOT_FINITE;
  if (energy_at(x, t + h, x->y1, x->rate, &energy)) return TG_NOT_FINITE;
  *work = h * (power[0] - power[1] + power[2] + power[3]);
  *off = energy - x->energy - *work;
  return 0;
}

/* How much the energy grows when the states in the middle grow by their own size. */
static int energy_of_growth(fixed *x, double t, double *growth) {
  double here, there, by = 1e-4;
  memcpy(x->f1, x->middle, sizeof(double) * (size_t)x->n);
  for (int k = 0; k < x->job->n_states; k++) x->f1[k] *= 1 + by;
  if (energy_at(x, t, x->middle, x->rate, &here) || energy_at(x, t, x->f1, x->rate, &there)) return TG_NOT_FINITE;
  *growth = (there - here) / by;
  return 0;
}

/* s such that the energy at the end is the energy due. Where the states carry next to no energy (a turning point) the correction
 * would be large: what is off is then left to the next step, because the energy due does not depend on what was reached. */
static int balance_step(fixed *x, double t, double h) {
  double off, work, growth, s = 0, size = fabs(x->energy) + DBL_MIN, last = INFINITY;
  int status = solve_and_measure(x, t, h, s, &off, &work);
  if (!status) status = energy_of_growth(x, t + 0.5 * h, &growth);
  for (int k = 0; !status && k < 12 && fabs(off) > DBL_EPSILON * size && fabs(off) < 0.5 * last; k++) {
    double change = off / (h * growth);
    if (!isfinite(change) || fabs(s + change) * h > 0.1) break;
    s += change;
    last = fabs(off);
    status = solve_and_measure(x, t, h, s, &off, &work);
  }
  if (!status) x->energy += work;
  return status;
}

/* rates at a point, from the states there: unknowns keep their values as a guess */
static int rates_at(fixed *x, double t, double *y, double *yp) {
  tg_job *j = x->job;
  if (j->rhs) return j->rhs(j->context, t, y, yp) ? TG_NOT_FINITE : 0;
  x->has_factors = 0;
  return tg_make_consistent(&x->newton, j, t, y, yp);
}

/* The rows of a step, as far as nobody cancels the run: there may be millions. */
static int fixed_rows(fixed *x, double t0, double h, double reached) {
  tg_job *j = x->job;
  size_t n = (size_t)x->n;
  for (; j->next_time < j->n_times && j->times[j->next_time] <= reached && !j->cancel; j->next_time++) {
    double t = j->times[j->next_time], u = (t - t0) / h, *y = j->out_y + n * (size_t)j->next_time;
    for (int k = 0; k < x->n; k++) {
      double d = x->y1[k] - x->y0[k];
      y[k] = x->y0[k] + u * d;
      if (k < x->m && u < 1) y[k] += u * (1 - u) * ((1 - u) * (h * x->f0[k] - d) - u * (h * x->f1[k] - d));
    }
    memcpy(j->out_yp + n * (size_t)j->next_time, x->f0, sizeof(double) * n); /* where the search starts */
    int status = rates_at(x, t, y, j->out_yp + n * (size_t)j->next_time);
    if (status) return status;
  }
  return 0;
}

static int fixed_step(fixed *x, double h, int exact) {
  tg_job *j = x->job;
  size_t size = sizeof(double) * (size_t)x->n;
  double power[5], middle = j->t + 0.5 * h;
  memcpy(x->y0, j->y, size);
  memcpy(x->f0, j->yp, size);
  for (int k = 0; k < x->n; k++) x->middle[k] = x->y0[k] + (k < x->m ? 0.5 * h * x->f0[k] : 0);
  int status = exact ? balance_step(x, j->t, h) : solve_middle(x, middle, h, 0);
  if (status) return status;
  if (!exact) {
    set_middle(x, h, 0);
    to_end(x, x->y1);
  }
  if (j->keep_books) {
    if (tg_powers_of(j, middle, x->middle, x->rate, power)) return TG_NOT_FINITE;
    for (int b = 0; b < 4; b++) j->books[b] += h * power[b];
  }
  memcpy(j->y, x->y1, size);
  double reached = j->t + h;
  int rows = j->next_time < j->n_times && j->times[j->next_time] <= reached;
  if (rows || j->rhs) { /* else the rates of the middle are guess enough */
    status = rates_at(x, reached, j->y, j->yp);
    if (status) return status;
    memcpy(x->y1, j->y, size);
    memcpy(x->f1, j->yp, size);
    if (rows) status = fixed_rows(x, j->t, h, reached);
  } else {
    memcpy(j->yp, x->rate, size);
  }
  return status;
}

static int fixed_go(fixed *x, int exact) {
  tg_job *j = x->job;
  for (;;) {
    double before = j->t, halt = tg_next_halt(j), stop = tg_stop_before(j, halt), start = j->t;
    int status = rates_at(x, j->t, j->y, j->yp);
    for (; !status && j->next_time < j->n_times && j->times[j->next_time] <= j->t; j->next_time++) {
      memcpy(j->out_y + (size_t)x->n * (size_t)j->next_time, j->y, sizeof(double) * (size_t)x->n);
      memcpy(j->out_yp + (size_t)x->n * (size_t)j->next_time, j->yp, sizeof(double) * (size_t)x->n);
    }
    if (!status) status = tg_remember_break(j);
    if (!status && exact) status = energy_at(x, j->t, j->y, j->yp, &x->energy);
    if (status || before >= j->until) return status;
    /* whole steps as near as possible to the one asked for */
    int64_t count = (int64_t)ceil((stop - start) / j->first_step * (1 - 1e-12));
    double h = (stop - start) / (double)count;
    for (int64_t k = 0; k < count; k++) {
      status = fixed_step(x, h, exact);
      if (status) return status;
      j->t = k + 1 == count ? stop : start + (double)(k + 1) * h;
      j->steps++;
      j->last_step = h;
      j->progress = j->t;
      if (j->history && tg_remember(j)) return TG_NOT_FINITE;
      int changed;
      status = tg_settle_latches(j, &changed);
      if (status) return status;
      if (j->cancel) return TG_CANCELLED;
      if (j->steps >= j->max_steps) return TG_MANY_STEPS;
    }
    status = fixed_rows(x, j->t - h, h, j->t);
    if (status) return status;
    while (j->next_stop < j->n_stops && j->stops[j->next_stop] <= halt) j->next_stop++;
    if (tg_ends_at(j, before, halt)) return TG_FINISHED;
    j->t = tg_go_on_after(j, halt);
    status = tg_take_samples(j, before);
    if (status) return status;
  }
}

static int run_fixed(tg_job *j, int exact) {
  fixed x = {.job = j, .n = j->n, .m = j->n_differential};
  size_t n = (size_t)j->n;
  double *room = tg_new(6 * n, sizeof(double));
  int status = tg_newton_open(&x.newton, j);
  if (!room) status = TG_NO_MEMORY;
  if (!status) {
    x.y0 = room;
    x.f0 = room + n;
    x.y1 = room + 2 * n;
    x.f1 = room + 3 * n;
    x.middle = room + 4 * n;
    x.rate = room + 5 * n;
    status = fixed_go(&x, exact);
  }
  free(room);
  tg_newton_close(&x.newton);
  return status;
}

int tg_midpoint(tg_job *j) {
  return run_fixed(j, 0);
}

int tg_discrete_gradient(tg_job *j) {
  return run_fixed(j, 1);
}
