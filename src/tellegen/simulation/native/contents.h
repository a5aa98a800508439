/* Charge and flux are conserved: over a step, what a storage keeps grows by the integral of its slope times the rate of its output.
 *
 * A law that saturates is steep for a moment and flat far around it. A step that flies over the moment looks good to every estimate
 * that only reads rates, for these are alike on both sides; and it leaves no trace in energies, which are small there. What the law
 * itself says at both ends of the step does not agree with what the step has seen on its way: so such a step is found, at the cost
 * of the laws alone.
 */
#ifndef TELLEGEN_CONTENTS_H
#define TELLEGEN_CONTENTS_H

#include "job.h"

/* Tolerances that may hide between both ends of a step: laws that are followed leave fewer. */
static const double HIDDEN = 10;

typedef struct tg_contents {
  double *first, *now; /* content and slope of each law at the start of the step, and where it is looked at */
  double *passed;      /* what has come in, as far as the step has seen */
  double *steepest;    /* slope seen */
} tg_contents;

static int tg_contents_open(tg_contents *c, const tg_job *j) {
  size_t n = (size_t)j->n_contents;
  c->first = j->n_contents ? calloc(6 * n, sizeof(double)) : 0;
  if (!c->first) return j->n_contents ? TG_NO_MEMORY : 0;
  c->now = c->first + 2 * n;
  c->passed = c->now + 2 * n;
  c->steepest = c->passed + n;
  return 0;
}

static void tg_contents_close(tg_contents *c) { free(c->first); }

static int tg_contents_begin(tg_contents *c, tg_job *j, double t, const double *y, const double *yp) {
  if (j->contents(j->context, t, y, yp, c->first)) return 1;
  for (int k = 0; k < j->n_contents; k++) {
    c->passed[k] = 0;
    c->steepest[k] = fabs(c->first[2 * k + 1]);
  }
  return 0;
}

/* A point on the way; `weight` is its share of the time of the step. */
static int tg_contents_pass(tg_contents *c, tg_job *j, double weight, double t, const double *y, const double *yp) {
  if (j->contents(j->context, t, y, yp, c->now)) return 1;
  for (int k = 0; k < j->n_contents; k++) {
    c->passed[k] += weight * c->now[2 * k + 1] * yp[j->keepers[k]];
    c->steepest[k] = fmax(c->steepest[k], fabs(c->now[2 * k + 1]));
  }
  return 0;
}

/* Whether a law has hidden more on the way from y to y1 than tolerances and rounding explain. */
static int tg_contents_hide(tg_contents *c, tg_job *j, double t, const double *y, const double *y1, const double *yp) {
  if (j->contents(j->context, t, y1, yp, c->now)) return 0;
  for (int k = 0; k < j->n_contents; k++) {
    int i = j->keepers[k];
    double from = c->first[2 * k], to = c->now[2 * k], slope = fmax(c->steepest[k], fabs(c->now[2 * k + 1]));
    double tolerance = slope * (j->atol[i] + j->rtol * fmax(fabs(y[i]), fabs(y1[i])));
    double rounding = 16 * DBL_EPSILON * (fabs(from) + fabs(to) + fabs(c->passed[k]));
    if (fabs(to - from - c->passed[k]) > HIDDEN * tolerance + rounding) return 1;
  }
  return 0;
}

#endif
