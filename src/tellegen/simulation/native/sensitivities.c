/* A model and its derivatives along parameters as one model: y, then one block dy/dp for each parameter. Solvers see the wrapper as the
 * context; what they call is passed on to the model with its own context.
 *
 * What sampled signals hold changes with parameters, too (`held`). The tangents of models know nothing of memory, so what the memory
 * does is found by central differences along `held`; most laws are linear in it, which makes them exact. The same holds for delayed
 * signals: the history keeps how they changed with each parameter behind what they were.
 */
#include "job.h"

typedef struct tg_wrapper {
  tg_context head; /* what solvers read: memory and `failed` */
  tg_context *model;
  tg_residual_fn *residual;
  tg_rhs_fn *rhs;
  tg_tangent_fn *tangent;
  tg_rhs_tangent_fn *rhs_tangent;
  tg_balance_fn *balance;
  tg_powers_fn *powers;
  tg_events_fn *events;
  tg_sample_fn *sample;
  tg_observe_fn *observe;
  int n, count;
  const int *parameters;
  double *direction; /* one for each parameter of the model, zero between calls */
  int n_memory;
  double *held;        /* d(memory)/dp, a row for each parameter */
  double *held_before; /* the same before the present instant, whose groups all read it */
  double *room;        /* five vectors as int64_t as y or the memory */
  double sampled_at;
  double *log; /* after each sample its time, then `held` */
  int64_t log_room, log_count;
  tg_history *history;     /* delayed signals, then their slopes, parameter by parameter; null where there are none */
  int n_delays, n_observables;
  const double *by_slopes; /* d(delay)/dp, a row for each parameter */
  double *observed;        /* two vectors of observables */
  tg_context *const *beside; /* of each parameter: the model's context with a little more of it, and with a little less */
  int along;               /* the parameter along which the past is moved by `shift`, and the delays by `delay_shift` */
  double shift, delay_shift;
} tg_wrapper;

static const double NUDGE = 6e-6; /* of central differences: the cube root of the rounding unit */

static int passed(tg_wrapper *w, int bad) {
  w->head.failed = w->model->failed;
  return bad;
}

static double largest(int n, const double *v) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(v[i]));
  return most;
}

static void move(int n, double by, const double *along, const double *from, double *to) {
  for (int i = 0; i < n; i++) to[i] = from[i] + by * along[i];
}

/* out += what the memory of parameter k does to the rates, or to the residual where rates are given */
static int add_held(tg_wrapper *w, int k, double t, const double *y, const double *yp, double *out) {
  const double *held = w->held + (size_t)k * (size_t)w->n_memory;
  double size = largest(w->n_memory, held);
  if (w->n_memory == 0 || size == 0) return 0;
  size_t room = (size_t)(w->n > w->n_memory ? w->n : w->n_memory);
  double *memory = w->model->memory, *kept = w->room, *above = kept + room, *below = above + room;
  double step = NUDGE * (largest(w->n_memory, memory) + 1e-3) / size;
  int bad = 0;
  memcpy(kept, memory, sizeof(double) * (size_t)w->n_memory);
  move(w->n_memory, step, held, kept, memory);
  bad = yp ? w->residual(w->model, t, y, yp, above) : w->rhs(w->model, t, y, above);
  move(w->n_memory, -step, held, kept, memory);
  if (!bad) bad = yp ? w->residual(w->model, t, y, yp, below) : w->rhs(w->model, t, y, below);
  memcpy(memory, kept, sizeof(double) * (size_t)w->n_memory);
  for (int i = 0; i < w->n && !bad; i++) out[i] += (above[i] - below[i]) / (2 * step);
  return bad;
}

static double step_of(const tg_wrapper *w, int k) {
  double value = fabs(w->model->parameters[w->parameters[k]]);
  return NUDGE * (value > 0 ? value : 1);
}

static void move_past(tg_wrapper *w, int k, double by, int with_delays) {
  w->along = k;
  w->shift = by;
  w->delay_shift = with_delays ? by : 0;
}

/* What delayed signals were, for the model: moved along a parameter where that is asked for. */
double tg_moved_past(void *wrapper, int i, double time) {
  const tg_wrapper *w = wrapper;
  if (w->shift == 0) return tg_past(w->history, i, time);
  double later = time - w->delay_shift * w->by_slopes[w->along * w->n_delays + i];
  return tg_past(w->history, i, later) + w->shift * tg_past(w->history, w->n_delays * (1 + w->along) + i, time);
}

/* out += what the past does to the rates of parameter k, or to the residual where rates are given */
static int add_past(tg_wrapper *w, int k, double t, const double *y, const double *yp, double *out) {
  if (!w->history) return 0;
  size_t room = (size_t)(w->n > w->n_memory ? w->n : w->n_memory);
  double *above = w->room + room, *below = above + room, step = step_of(w, k);
  move_past(w, k, step, 1);
  int bad = yp ? w->residual(w->model, t, y, yp, above) : w->rhs(w->model, t, y, above);
  move_past(w, k, -step, 1);
  if (!bad) bad = yp ? w->residual(w->model, t, y, yp, below) : w->rhs(w->model, t, y, below);
  move_past(w, k, 0, 0);
  for (int i = 0; i < w->n && !bad; i++) out[i] += (above[i] - below[i]) / (2 * step);
  return bad;
}

int tg_wrapped_rhs(tg_context *c, double t, const double *y, double *yp) {
  tg_wrapper *w = (tg_wrapper *)c;
  int bad = w->rhs(w->model, t, y, yp);
  for (int k = 0; k < w->count && !bad; k++) {
    size_t at = (size_t)w->n * (size_t)(k + 1);
    w->direction[w->parameters[k]] = 1;
    bad = w->rhs_tangent(w->model, t, y, y + at, w->direction, yp + at);
    w->direction[w->parameters[k]] = 0;
    if (!bad) bad = add_held(w, k, t, y, 0, yp + at);
    if (!bad) bad = add_past(w, k, t, y, 0, yp + at);
  }
  return passed(w, bad);
}

int tg_wrapped_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  tg_wrapper *w = (tg_wrapper *)c;
  int bad = w->residual(w->model, t, y, yp, r);
  for (int k = 0; k < w->count && !bad; k++) {
    size_t at = (size_t)w->n * (size_t)(k + 1);
    w->direction[w->parameters[k]] = 1;
    bad = w->tangent(w->model, t, y, yp, y + at, yp + at, w->direction, r + at);
    w->direction[w->parameters[k]] = 0;
    if (!bad) bad = add_held(w, k, t, y, yp, r + at);
    if (!bad) bad = add_past(w, k, t, y, yp, r + at);
  }
  return passed(w, bad);
}

int tg_wrapped_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp,
                       const double *dp, double *dr) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->tangent(w->model, t, y, yp, dy, dyp, dp, dr));
}

int tg_wrapped_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *dyp) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->rhs_tangent(w->model, t, y, dy, dp, dyp));
}

int tg_wrapped_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->balance(w->model, t, y, yp, power));
}

int tg_wrapped_powers(tg_context *c, double t, const double *y, const double *yp, double power[4]) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->powers(w->model, t, y, yp, power));
}

int tg_wrapped_events(tg_context *c, double t, const double *y, const double *yp, double *g) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->events(w->model, t, y, yp, g));
}

/* One side of a difference along parameter k: the memory that a group would take from values moved by `by`, or with `held` given all
 * that can be observed there. */
static int moved_side(tg_wrapper *w, int k, double by, double t, const double *y, const double *yp, const double *held, int group,
                      double *to) {
  size_t room = (size_t)(w->n > w->n_memory ? w->n : w->n_memory), at = (size_t)w->n * (size_t)(k + 1);
  double *state = w->room + 2 * room, *rate = state + room;
  tg_context *c = w->beside[2 * k + (by < 0)];
  move(w->n, by, y + at, y, state);
  move(w->n, by, yp + at, yp, rate);
  move(w->n_memory, by, (held ? held : w->held_before) + (size_t)k * (size_t)w->n_memory, w->model->memory, c->memory);
  move_past(w, k, by, 0);
  if (!held) memcpy(to, c->memory, sizeof(double) * (size_t)w->n_memory);
  int bad = held ? w->observe(c, t, state, rate, to) : w->sample(c, t, state, rate, group, to);
  move_past(w, k, 0, 0);
  return bad;
}

/* The memory after the instant, and how it changes with each parameter: entries that the group does not write stay as they were. */
int tg_wrapped_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {
  tg_wrapper *w = (tg_wrapper *)c;
  size_t room = (size_t)(w->n > w->n_memory ? w->n : w->n_memory), all = sizeof(double) * (size_t)w->n_memory * (size_t)w->count;
  double *above = w->room, *below = above + room;
  int bad = 0;
  if (t != w->sampled_at) memcpy(w->held_before, w->held, all);
  w->sampled_at = t;
  for (int k = 0; k < w->count && !bad; k++) {
    double step = step_of(w, k);
    bad = moved_side(w, k, step, t, y, yp, 0, group, above) || moved_side(w, k, -step, t, y, yp, 0, group, below);
    const double *before = w->held_before + (size_t)k * (size_t)w->n_memory;
    double *held = w->held + (size_t)k * (size_t)w->n_memory;
    for (int i = 0; i < w->n_memory && !bad; i++) {
      double slope = (above[i] - below[i]) / (2 * step);
      if (fabs(slope - before[i]) > 1e-9 * (fabs(slope) + fabs(before[i]))) held[i] = slope;
    }
  }
  if (!bad && w->log_count < w->log_room) {
    double *entry = w->log + (size_t)(w->n_memory * w->count + 1) * (size_t)w->log_count++;
    entry[0] = t - 2 * tg_gap(t); /* as in the log of what is held: a row at the instant itself is written after it */
    memcpy(entry + 1, w->held, all);
  }
  return passed(w, bad ? bad : w->sample(w->model, t, y, yp, group, memory));
}

int tg_wrapped_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_wrapper *w = (tg_wrapper *)c;
  int bad = w->observe(w->model, t, y, yp, out);
  double *above = w->observed, *below = above + w->n_observables;
  for (int k = 0; k < w->count && !bad && w->history; k++) {
    double step = step_of(w, k), *slopes = out + w->n_observables + k * w->n_delays;
    bad = moved_side(w, k, step, t, y, yp, w->held, 0, above) || moved_side(w, k, -step, t, y, yp, w->held, 0, below);
    for (int i = 0; i < w->n_delays && !bad; i++) {
      int place = w->history->observables[i];
      slopes[i] = (above[place] - below[place]) / (2 * step);
    }
  }
  return passed(w, bad);
}
