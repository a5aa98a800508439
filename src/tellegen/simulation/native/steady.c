/* Starts: consistent rates and unknowns, and equilibria. The job gives t, y, yp and gets the answer back in y, yp. */
#include "job.h"
#include "linear.h"
#include "newton.h"

int tg_consistent(tg_job *j) {
  tg_newton w;
  int status = tg_newton_open(&w, j);
  if (!status) status = tg_make_consistent(&w, j, j->t, j->y, j->yp);
  tg_newton_close(&w);
  return status;
}

/* Whether a step has changed nothing. */
static int is_still(const tg_newton *w, int n, const double *y, const double *before) {
  for (int k = 0; k < n; k++)
    if (!(fabs(y[k] - before[k]) <= w->precision * (fabs(y[k]) + w->floor[k]))) return 0;
  return 1;
}

/* F(t, y, 0) = 0 by Newton's method; where that fails, by implicit steps in time that grow as the motion dies away (Kelley and Keyes
 * 1998). They keep what the motion keeps, so that a position beside the force of its spring, which no equation of the rest decides, is
 * where the motion leads. `first_step` is the first step, `max_steps` how many of them. */
int tg_equilibrium(tg_job *j) {
  tg_newton w;
  size_t n = (size_t)j->n, size = sizeof(double) * n;
  int status = tg_newton_open(&w, j);
  double *y = tg_new(n, sizeof(double)), *rest = tg_new(n, sizeof(double));
  if (!y || !rest) status = TG_NO_MEMORY;
  if (!status) {
    for (size_t k = 0; k < n; k++) w.on_y[k] = 1;
    memcpy(y, j->y, size);
    status = tg_newton_solve(&w, j, j->t, y, rest, 60);
    if (!status) memcpy(j->y, y, size);
  }
  double step = j->first_step;
  int quiet = 0; /* long steps that changed nothing */
  for (int64_t k = 0; status && status != TG_NO_MEMORY && k < j->max_steps && !j->cancel; k++) {
    int failed = 0;
    /* An implicit step of Euler: yp is the change of y over the step. */
    for (size_t i = 0; i < n; i++) w.on_yp[i] = (int)i < j->n_differential ? 1 / step : 0;
    memcpy(y, j->y, size);
    memset(j->yp, 0, size);
    failed = tg_newton_solve(&w, j, j->t, y, j->yp, 12);
    if (failed) {
      /* Back by more than a step gains, else it would try the same one again at once. */
      step /= 8;
      if (step < 1e-12 * j->first_step) {
        status = failed;
        break;
      }
      continue;
    }
    /* Stillness counts only over long steps: over short ones everything stands still. */
    quiet = step > 1e6 * j->first_step && is_still(&w, j->n, y, j->y) ? quiet + 1 : 0;
    memcpy(j->y, y, size);
    j->steps++;
    step *= 4;
    if (quiet == 3) {
      status = 0;
      break;
    }
    /* Now and then straight to the rest again, from a point that lies nearer to it. */
    if (step > 1e9 * j->first_step || k % 6 == 5) {
      memset(rest, 0, size);
      memset(w.on_yp, 0, size);
      int still = tg_newton_solve(&w, j, j->t, y, rest, 25);
      if (!still) {
        memcpy(j->y, y, size);
        status = 0;
      } else if (step > 1e15 * j->first_step) {
        break;
      }
    }
  }
  if (!status) memset(j->yp, 0, size);
  free(y);
  free(rest);
  tg_newton_close(&w);
  return status;
}
