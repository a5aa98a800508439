/* Runs through modes that are known: stretch after stretch, and from each mode to the next without Python between them.
 *
 * Python decides a change of mode when it is first met, and writes down the way that it went: which modes it tried in which order, and
 * what spoke against each. Where the same events come again the way is gone again here, every mode on it tried as it was then; as soon
 * as something else speaks against one, or nothing does any more, Python decides again.
 */
#include "job.h"

typedef int tg_run_fn(tg_job *);

struct tg_try;

/* What may speak against a mode: the events whose guards are positive at its start, and the dependent storages that would have to jump
 * where that takes an impulse; and what is tried then. */
typedef struct tg_verdict {
  uint64_t against, jumps;
} tg_verdict;

typedef struct tg_answer {
  tg_verdict is;
  struct tg_try *then;
  struct tg_answer *other;
} tg_answer;

/* A mode that is tried. What fired counts only against the mode that was left. */
typedef struct tg_try {
  int mode;
  int left; /* whether it is the mode that was left */
  tg_answer *answers;
} tg_try;

/* The first try after some events of a mode. */
typedef struct tg_way {
  uint64_t fired;
  tg_try *first;
  struct tg_way *other;
} tg_way;

typedef struct tg_mode {
  const tg_job *job; /* what is the same in all of its stretches; with the functions of the model and its context */
  tg_run_fn *run;    /* null where no solver was chosen yet */
  tg_run_fn *begin;  /* makes rates and unknowns consistent; null where rates are explicit */
  double max_step;
  double tolerance;  /* the largest absolute one */
  const int *place;    /* of each storage in y, or -1 */
  const int *observed; /* of each storage among the observables */
  const int *carried;  /* of each variable that no storage gives: its number among all such names, else -1 */
  const int *held;     /* the same of memory */
  const int *guards;   /* of each event: its number among all names of events; -1 where it changes no mode */
  int n_dependent, n_own;
  const int *dependent, *own;
  const double *relation; /* outputs of dependent storages by those of their partners */
  const double *pull;     /* how partners move where dependent ones are off */
  const double *inertia;  /* of partners and dependent storages, by rows */
  double *y, *yp, *ahead, *rates, *guard, *later, *channels;
  int *signs;
  double *out_y, *out_yp; /* room for rows of a stretch */
  tg_way *ways;
  int64_t next_stop;
} tg_mode;

/* A change from one mode to another, and how many rows were written before it. */
typedef struct tg_change {
  double t, supplied, lost;
  int64_t rows;
  int from, to;
} tg_change;

enum { TG_RECENT = 32 };

typedef struct tg_modes {
  tg_mode **modes;
  int n_storages, n_carried, n_held;
  double *outputs, *after;   /* of storages */
  double *scale, *largest;   /* the largest outputs and guards so far */
  double *carry, *hold;      /* of variables by name, and of what is held */
  char *has;                 /* whether a mode held it */
  double *room;              /* for a handover */
  double *end;               /* y and yp where the last stretch ended */
  const double *times;
  int64_t n_times, rows;     /* rows that were written so far */
  double *wide_y, *wide_yp;  /* all rows, as wide as the widest mode */
  int width;
  double until, share, resolution, brief;
  double *states; /* of each change y and yp before it and after it; null where nobody asks */
  tg_change *changes;
  int64_t n_changes, most_changes;
  double recent[TG_RECENT];
  int64_t n_recent;
  int mode;       /* where it stands, and how the last stretch ended */
  int status;
  double t, last_step;
  int64_t detail;
  double books[4];
  int64_t steps, rejected, rhs_calls, jacobians, factorisations, turns;
  int64_t n_sampled;
  volatile double progress;
  volatile int cancel;
  tg_job job; /* of the present stretch */
} tg_modes;

/* Move the rows of a stretch to where all rows stand; columns that this mode lacks are no numbers. */
static void keep_rows(tg_modes *w, const tg_mode *m, int64_t count) {
  size_t n = (size_t)m->job->n, width = (size_t)w->width;
  for (int64_t r = 0; r < count; r++) {
    size_t from = (size_t)r * n, to = (size_t)(w->rows + r) * width;
    memcpy(w->wide_y + to, m->out_y + from, sizeof(double) * n);
    memcpy(w->wide_yp + to, m->out_yp + from, sizeof(double) * n);
    for (size_t k = n; k < width; k++) w->wide_y[to + k] = w->wide_yp[to + k] = NAN;
  }
  w->rows += count;
}

static int advance(tg_modes *w, tg_mode *m) {
  tg_job *j = &w->job;
  int64_t sampled = w->n_sampled;
  *j = *m->job;
  if (w->cancel) j->cancel = 1;
  j->t = j->halfway = w->t;
  j->y = m->y;
  j->yp = m->yp;
  j->until = w->until;
  j->max_step = fmin(m->max_step, w->until - w->t);
  j->times = w->times + w->rows;
  j->n_times = w->n_times - w->rows;
  j->out_y = m->out_y;
  j->out_yp = m->out_yp;
  j->event_signs = m->signs;
  j->n_sampled = sampled;
  while (m->next_stop < j->n_stops && j->stops[m->next_stop] <= w->t) m->next_stop++;
  j->next_stop = m->next_stop;
  int status = m->run(j);
  keep_rows(w, m, j->next_time);
  for (int k = 0; k < 4; k++) w->books[k] += j->books[k];
  w->steps += j->steps;
  w->rejected += j->rejected;
  w->rhs_calls += j->rhs_calls;
  w->jacobians += j->jacobians;
  w->factorisations += j->factorisations;
  w->turns += j->turns;
  w->n_sampled = j->n_sampled;
  w->t = w->progress = j->t;
  w->last_step = j->last_step;
  w->detail = j->detail;
  j->steps = 0;
  return status;
}

/* What is carried on from the end of a stretch: outputs of storages, other variables by name, what is held. */
static int leave(tg_modes *w, tg_mode *m) {
  const tg_job *j = m->job;
  int seen = 0;
  for (int s = 0; s < w->n_storages; s++) {
    if (m->place[s] >= 0) {
      w->outputs[s] = m->y[m->place[s]];
    } else {
      if (!seen && j->observe(j->context, w->t, m->y, m->yp, m->channels)) return 1;
      seen = 1;
      w->outputs[s] = m->channels[m->observed[s]];
    }
    if (fabs(w->outputs[s]) > w->scale[s]) w->scale[s] = fabs(w->outputs[s]);
  }
  memset(w->carry, 0, sizeof(double) * (size_t)w->n_carried);
  for (int k = 0; k < j->n; k++)
    if (m->carried[k] >= 0) w->carry[m->carried[k]] = m->y[k];
  memset(w->has, 0, (size_t)w->n_held);
  for (int k = 0; k < j->n_memory; k++) {
    w->hold[m->held[k]] = j->context->memory[k];
    w->has[m->held[k]] = 1;
  }
  return 0;
}

static void compose(const tg_modes *w, const tg_mode *m, const double *outputs, double *y) {
  for (int k = 0; k < m->job->n; k++)
    if (m->carried[k] >= 0) y[k] = w->carry[m->carried[k]];
  for (int s = 0; s < w->n_storages; s++)
    if (m->place[s] >= 0) y[m->place[s]] = outputs[s];
}

static double weighted(const double *left, const double *matrix, const double *right, int n, int row) {
  double sum = 0;
  for (int c = 0; c < n; c++) sum += matrix[row * n + c] * right[c];
  return left ? left[row] * sum : sum;
}

/* Linear storages of constant size: contents along every motion that the mode allows stay as they are. Returns 1 where a law has no
 * value. */
static int hand_over(tg_modes *w, const tg_mode *m, double rtol, uint64_t *jumps, double *supplied, double *lost) {
  int d = m->n_dependent, o = m->n_own, n = d + o, smooth = 1;
  const tg_job *j = m->job;
  memcpy(w->after, w->outputs, sizeof(double) * (size_t)w->n_storages);
  *supplied = *lost = 0;
  *jumps = 0;
  if (!d) return 0;
  double *off = w->room, *rest = off + n, *before = rest + n, *after = before + n, *change = after + n;
  memset(m->rates, 0, sizeof(double) * (size_t)j->n);
  compose(w, m, w->outputs, m->ahead);
  if (j->observe(j->context, w->t, m->ahead, m->rates, m->channels)) return 1;
  for (int i = 0; i < d; i++) {
    int s = m->dependent[i];
    double told = m->channels[m->observed[s]];
    off[i] = told - w->outputs[s];
    rest[i] = told;
    for (int k = 0; k < o; k++) rest[i] -= m->relation[i * o + k] * w->outputs[m->own[k]];
    if (!(fabs(off[i]) <= 10 * (rtol * w->scale[s] + m->tolerance))) smooth = 0;
    if (off[i] != 0) *jumps |= (uint64_t)1 << i;
  }
  for (int k = 0; k < o; k++)
    for (int i = 0; i < d; i++) w->after[m->own[k]] -= m->pull[k * d + i] * off[i];
  for (int i = 0; i < d; i++) {
    double told = rest[i];
    for (int k = 0; k < o; k++) told += m->relation[i * o + k] * w->after[m->own[k]];
    w->after[m->dependent[i]] = told;
  }
  for (int k = 0; k < n; k++) {
    int s = k < o ? m->own[k] : m->dependent[k - o];
    before[k] = w->outputs[s];
    after[k] = w->after[s];
    change[k] = after[k] - before[k];
  }
  double gained = 0, at_stake = 0;
  for (int k = 0; k < n; k++) {
    if (k >= o) *supplied += rest[k - o] * weighted(NULL, m->inertia, change, n, k);
    at_stake += 0.5 * weighted(before, m->inertia, before, n, k);
    gained += 0.5 * weighted(after, m->inertia, after, n, k);
  }
  *lost = *supplied - (gained - at_stake);
  if (fabs(*lost) <= 1e-13 * (fabs(at_stake) + fabs(*supplied))) *lost = 0;
  if (smooth) *jumps = 0;
  return 0;
}

/* Rates, and unknowns, at a time; 1 where there are none. */
static int rates_at(tg_modes *w, const tg_mode *m, double t, double *y, double *yp) {
  const tg_job *j = m->job;
  if (!m->begin) return j->rhs(j->context, t, y, yp);
  w->job = *j;
  w->job.t = t;
  w->job.until = INFINITY;
  w->job.y = y;
  w->job.yp = yp;
  return m->begin(&w->job) != TG_FINISHED;
}

/* A mode at the present instant, with its guards there and a moment later. Returns -1 where Python has to look at it. */
static int try_mode(tg_modes *w, tg_mode *m, double rtol, double probe, uint64_t fired, tg_verdict *is, double energies[2]) {
  const tg_job *j = m->job;
  for (int k = 0; k < j->n_memory; k++)
    if (w->has[m->held[k]]) j->context->memory[k] = w->hold[m->held[k]];
  int open = 0;
  if (hand_over(w, m, rtol, &is->jumps, &energies[0], &energies[1])) return -1;
  compose(w, m, w->after, m->y);
  memset(m->yp, 0, sizeof(double) * (size_t)j->n);
  if (rates_at(w, m, w->t, m->y, m->yp) || j->events(j->context, w->t, m->y, m->yp, m->guard)) return -1;
  for (int k = 0; k < j->n; k++) m->ahead[k] = m->y[k] + (k < j->n_differential ? probe * m->yp[k] : 0);
  memcpy(m->rates, m->yp, sizeof(double) * (size_t)j->n);
  if (rates_at(w, m, w->t + probe, m->ahead, m->rates) || j->events(j->context, w->t + probe, m->ahead, m->rates, m->later)) return -1;
  is->against = 0;
  for (int e = 0; e < j->n_events; e++) {
    if (m->guards[e] < 0) continue;
    double *largest = &w->largest[m->guards[e]], low = m->guard[e], high = m->later[e];
    *largest = fmax(*largest, fmax(fabs(low), fabs(high)));
    if (high > 1e-11 * *largest || ((fired >> e & 1) && high > low)) is->against |= (uint64_t)1 << e;
    open |= fabs(high) <= 1e-11 * *largest;
  }
  return !is->against && open ? -1 : 0;
}

/* Changes that come so fast are looked at by Python, one by one. */
static int comes_fast(tg_modes *w) {
  double *oldest = &w->recent[w->n_recent++ % TG_RECENT], before = *oldest;
  *oldest = w->t;
  return w->n_recent > TG_RECENT && w->t - before <= w->brief;
}

/* Write down a change, and the points on both sides of it where somebody asks. */
static void note(tg_modes *w, int from, int to, const double energies[2]) {
  w->changes[w->n_changes] = (tg_change){w->t, energies[0], energies[1], w->rows, from, to};
  if (w->states) {
    size_t width = (size_t)w->width, n = sizeof(double) * (size_t)w->modes[to]->job->n;
    double *at = w->states + 4 * width * (size_t)w->n_changes;
    memcpy(at, w->end, 2 * sizeof(double) * width);
    memcpy(at + 2 * width, w->modes[to]->y, n);
    memcpy(at + 3 * width, w->modes[to]->yp, n);
  }
  w->n_changes++;
}

/* Go from the mode that ended to the next one; 1 where Python has to decide. */
static int change(tg_modes *w) {
  tg_mode *m = w->modes[w->mode];
  const tg_job *j = m->job;
  uint64_t fired = 0;
  double energies[2];
  for (int e = 0; e < j->n_events; e++)
    if (m->signs[e] && m->guards[e] >= 0) fired |= (uint64_t)1 << e;
  tg_way *way = m->ways;
  while (way && way->fired != fired) way = way->other;
  if (!way || w->n_changes == w->most_changes || comes_fast(w)) return 1;
  double last = fmax(fabs(w->t), w->resolution);
  double probe = fmax(w->share * w->last_step, 16384 * (nextafter(last, INFINITY) - last));
  if (leave(w, m)) return 1;
  /* trying the mode again writes over where it ended */
  size_t size = sizeof(double) * (size_t)j->n;
  memcpy(w->end, m->y, size);
  memcpy(w->end + w->width, m->yp, size);
  for (tg_try *next = way->first; next;) {
    tg_verdict is;
    tg_mode *to = w->modes[next->mode];
    if (try_mode(w, to, j->rtol, probe, next->left ? fired : 0, &is, energies)) break;
    if (!is.against && !is.jumps) {
      if (!to->run) break;
      note(w, w->mode, next->mode, energies);
      w->mode = next->mode;
      return 0;
    }
    tg_answer *answer = next->answers;
    while (answer && (answer->is.against != is.against || answer->is.jumps != is.jumps)) answer = answer->other;
    next = answer ? answer->then : NULL;
  }
  memcpy(m->y, w->end, size);
  memcpy(m->yp, w->end + w->width, size);
  for (int k = 0; k < j->n_memory; k++) j->context->memory[k] = w->hold[m->held[k]];
  return 1;
}

/* Advance from where it stands until a change of mode that Python has to decide, or an end; gives how the last stretch ended. */
int tg_run_modes(tg_modes *w) {
  do w->status = advance(w, w->modes[w->mode]);
  while (w->status == TG_EVENT && w->t < w->until && !w->cancel && !change(w));
  return w->status;
}
