/* Newton's method on F(t, y + on_y z, yp + on_yp z) = 0 for z, with steps shortened until they help.
 *
 * The two vectors say what may move: rates and unknowns for a consistent start, all variables for an equilibrium, both ends of a step
 * for a method of fixed step. The monotonicity test is the natural one (Deuflhard, Newton Methods for Nonlinear Problems, section
 * 3.1): it does not depend on the units of equations.
 */
#ifndef TELLEGEN_NEWTON_H
#define TELLEGEN_NEWTON_H

typedef struct tg_newton {
  tg_matrix matrix;
  tg_factors factors;
  double *on_y, *on_yp;  /* of one block */
  double *r, *step, *y, *yp;
  double precision;      /* relative to |z| + floor */
  double *floor;
  int fresh;             /* factors belong to the present on_y, on_yp and may be used again */
} tg_newton;

static void tg_newton_close(tg_newton *w) {
  tg_matrix_close(&w->matrix);
  tg_factors_close(&w->factors);
  free(w->on_y);
  free(w->on_yp);
  free(w->r);
  free(w->step);
  free(w->y);
  free(w->yp);
  free(w->floor);
}

static int tg_newton_open(tg_newton *w, const tg_job *j) {
  size_t n = (size_t)j->n;
  memset(w, 0, sizeof *w);
  int bad = tg_matrix_open(&w->matrix, j);
  if (!bad) bad = tg_factors_open(&w->factors, &w->matrix, j->order);
  w->on_y = tg_new(n, sizeof(double));
  w->on_yp = tg_new(n, sizeof(double));
  w->r = tg_new(n, sizeof(double));
  w->step = tg_new(n, sizeof(double));
  w->y = tg_new(n, sizeof(double));
  w->yp = tg_new(n, sizeof(double));
  w->floor = tg_new(n, sizeof(double));
  /* Far below any tolerance that is asked for, far above rounding. */
  w->precision = 1e-10;
  if (bad || !w->on_y || !w->on_yp || !w->r || !w->step || !w->y || !w->yp || !w->floor) return TG_NO_MEMORY;
  /* Where relative and absolute tolerance meet: below this size a variable counts by its absolute one. */
  for (int k = 0; k < j->n; k++) w->floor[k] = j->rtol > 0 ? j->atol[k] / j->rtol : j->atol[k];
  return 0;
}

/* The largest relative change that a step makes. Rates have no tolerance of their own: those far below the largest count little. */
static double tg_size(const tg_newton *w, const tg_job *j, const double *step, const double *y, const double *yp) {
  int n = j->n, m = w->matrix.n;
  double rates = 0, most = 0;
  for (int k = 0; k < n; k++)
    if (w->on_yp[k % m] != 0) rates = fmax(rates, fabs(yp[k]) + fabs(w->on_yp[k % m] * step[k]));
  for (int k = 0; k < n; k++) {
    double a = w->on_y[k % m], b = w->on_yp[k % m], v;
    if (a != 0)
      v = fabs(a * step[k]) / (fabs(y[k]) + w->floor[k]);
    else
      v = rates > 0 ? fabs(b * step[k]) / (fabs(yp[k]) + 1e-6 * rates) : 0;
    /* Written so that what is not a number wins. */
    if (!(v <= most)) most = v;
  }
  return most;
}

static void tg_back_substitute(tg_newton *w, const tg_job *j, const double *r, double *step) {
  memcpy(step, r, sizeof(double) * (size_t)j->n);
  /* Slopes by parameters have the same matrix in every block: one factorisation serves all. */
  for (int k = 0; k < j->blocks; k++) tg_solve(&w->factors, step + (size_t)k * (size_t)w->factors.n);
  for (int k = 0; k < j->n; k++) step[k] = -step[k];
}

static void tg_move(const tg_newton *w, const tg_job *j, double by, const double *step, const double *y, const double *yp, double *to_y,
                    double *to_yp) {
  int m = w->matrix.n;
  for (int k = 0; k < j->n; k++) {
    to_y[k] = y[k] + by * w->on_y[k % m] * step[k];
    to_yp[k] = yp[k] + by * w->on_yp[k % m] * step[k];
  }
}

/* Are the residuals rounding errors of their terms? Then no step can make them smaller. */
static int tg_rounding_only(const tg_newton *w, const tg_job *j, const double *y, const double *yp, const double *r) {
  const tg_matrix *m = &w->matrix;
  memset(m->swept, 0, sizeof(double) * (size_t)m->n);
  for (int k = 0; k < m->n; k++) {
    double a = w->on_y[k], z = a != 0 ? fabs(y[k] / a) : w->on_yp[k] != 0 ? fabs(yp[k] / w->on_yp[k]) : 0;
    for (int p = m->columns[k]; p < m->columns[k + 1]; p++) m->swept[m->rows[p]] += fabs(m->values[p]) * z;
  }
  for (int k = 0; k < j->n; k++)
    if (!(fabs(r[k]) <= 64 * DBL_EPSILON * m->swept[k % m->n])) return 0;
  return 1;
}

/* The same with the terms of what is held, too: loads that cancel in an equilibrium leave rates that are rounding errors. */
static int tg_loads_cancel(tg_newton *w, tg_job *j, double t, const double *y, const double *yp) {
  const tg_matrix *m = &w->matrix;
  double *on = w->y, *off = w->yp, *terms = w->step;
  memset(terms, 0, sizeof(double) * (size_t)j->n);
  for (int side = 0; side < 2; side++) {
    const double *z = side ? yp : y;
    for (int k = 0; k < m->n; k++) {
      on[k] = side == 0;
      off[k] = side == 1;
    }
    if (tg_residual_jacobian(&w->matrix, j, t, y, yp, on, off)) return 0;
    for (int k = 0; k < m->n; k++)
      for (int p = m->columns[k]; p < m->columns[k + 1]; p++) terms[m->rows[p]] += fabs(m->values[p] * z[k]);
  }
  if (j->residual(j->context, t, y, yp, w->r)) return 0;
  for (int k = 0; k < j->n; k++)
    if (!(fabs(w->r[k]) <= 64 * DBL_EPSILON * terms[k % m->n])) return 0;
  return 1;
}

/* Solve from y, yp, which hold the solution afterwards. */
static int tg_newton_solve(tg_newton *w, tg_job *j, double t, double *y, double *yp, int most_steps) {
  size_t size = sizeof(double) * (size_t)j->n;
  double *trial = tg_new((size_t)j->n, sizeof(double));
  int status = TG_NO_CONVERGENCE;
  if (!trial) return TG_NO_MEMORY;
  j->rhs_calls++;
  if (j->residual(j->context, t, y, yp, w->r)) status = TG_NOT_FINITE;
  for (int k = 0; k < most_steps && status == TG_NO_CONVERGENCE; k++) {
    if (tg_residual_jacobian(&w->matrix, j, t, y, yp, w->on_y, w->on_yp)) {
      status = TG_NOT_FINITE;
      break;
    }
    j->factorisations++;
    if (tg_factor(&w->factors, &w->matrix, w->matrix.values)) {
      j->detail = -w->factors.ready;
      status = TG_SINGULAR;
      break;
    }
    tg_back_substitute(w, j, w->r, w->step);
    double norm = tg_size(w, j, w->step, y, yp), by = 1;
    int exact = tg_rounding_only(w, j, y, yp, w->r);
    for (;; by /= 2) {
      if (by < 1e-8) {
        if (exact || tg_loads_cancel(w, j, t, y, yp)) status = TG_FINISHED;
        break;
      }
      tg_move(w, j, by, w->step, y, yp, w->y, w->yp);
      j->rhs_calls++;
      if (j->residual(j->context, t, w->y, w->yp, w->r)) continue;
      /* The natural test: the step that the old factors would make next must be shorter than this one. */
      tg_back_substitute(w, j, w->r, trial);
      double next = tg_size(w, j, trial, w->y, w->yp);
      /* A whole step within the precision is taken whatever the test says: rounding may make the next one longer. */
      if (next <= (1 - by / 4) * norm || (by == 1 && norm <= w->precision) || exact) break;
    }
    if (by < 1e-8) break;
    memcpy(y, w->y, size);
    memcpy(yp, w->yp, size);
    if (by == 1 && (norm <= w->precision || exact)) status = TG_FINISHED;
  }
  free(trial);
  return status;
}

/* Rates and algebraic unknowns that agree with the given states. */
static int tg_make_consistent(tg_newton *w, tg_job *j, double t, double *y, double *yp) {
  for (int k = 0; k < w->matrix.n; k++) {
    w->on_y[k] = k >= j->n_differential;
    w->on_yp[k] = k < j->n_differential;
  }
  return tg_newton_solve(w, j, t, y, yp, 60);
}

#endif
