/* One stretch of a simulation: what a solver is given, where it stands, and what it hands back. Every solver of this folder is a
 * function `int run(tg_job *)` that returns a status. The layout is mirrored in `solvers/jobs.py`:
 * counts have 64 bits on every system, for a `long` of Windows has 32.
 *
 * A sensitivity run has `blocks` > 1: y is then the variables followed by one block of derivatives for each parameter, and all
 * blocks share the Jacobian of the first.
 */
#ifndef TELLEGEN_JOB_H
#define TELLEGEN_JOB_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum {
  TG_FINISHED = 0,
  TG_EVENT = 1,      /* a terminal event: the caller decides how to go on */
  TG_CANCELLED = 2,
  TG_NOT_FINITE = 3, /* the model failed and smaller steps did not help */
  TG_TINY_STEP = 4,  /* steps fell below the resolution of time */
  TG_MANY_STEPS = 5,
  TG_NO_CONVERGENCE = 6,
  TG_SINGULAR = 7,
  TG_STIFF = 8,      /* an explicit method met a stiff stretch */
  TG_NO_MEMORY = 9,
  TG_LIBRARY = 10,   /* the solver library refused; `detail` holds its flag */
  TG_UNSUITED = 11,  /* another solver can go on from here better */
  TG_PAUSED = 12,    /* the motion swings, and the caller wants to look at it */
  TG_CHATTERING = 13 /* events follow each other ever faster */
};

/* A break that comes back after a delay, smoother by one order each time: `age` says how often it has. */
typedef struct tg_echo {
  double t;
  int age;
} tg_echo;

/* What delayed signals were at the ends of steps; `past` of the context reads it. */
typedef struct tg_history {
  int n_delays;
  const int *observables;
  const double *delays;
  const double *initial;
  int64_t count, room;
  double *times;
  double *values; /* one row for each time */
  char *fresh;    /* whether a time begins a new piece: there is a break just before it */
  double *scratch; /* all observables */
  double start;
  int breaks;     /* set from outside: what comes next is on the other side of a break */
  int most_echoes; /* how often a break is followed through the delays */
  tg_echo *echoes; /* breaks to come, in order of time */
  int64_t n_echoes, echo_room;
} tg_history;

/* A point of the step that was just made, with its rates; `step` is the solver's own. */
typedef int tg_point_at(void *step, double t, double *y, double *yp);

typedef struct tg_job {
  /* the model */
  tg_context *context;
  tg_residual_fn *residual;
  tg_rhs_fn *rhs;
  tg_rhs_powers_fn *rhs_powers; /* null where both are asked for apart */
  tg_tangent_fn *tangent;
  tg_rhs_tangent_fn *rhs_tangent;
  tg_balance_fn *balance;
  tg_powers_fn *powers; /* null: the balance tells them, too */
  tg_events_fn *events;
  tg_contents_fn *contents; /* null where no law is checked */
  tg_sample_fn *sample;
  tg_observe_fn *observe;
  int n;              /* length of y, all blocks together */
  int blocks;
  int n_states;       /* of storages: the first ones */
  int n_differential; /* of the first block: the others are algebraic unknowns */
  int n_events;
  int n_contents;
  int n_memory;
  int n_groups;
  int n_observables;
  tg_history *history; /* of delayed signals; null where there are none */

  /* the Jacobian of one block: pattern by columns, colours, order of elimination (null: dense) */
  const int *columns;
  const int *rows;
  const int *colours;
  int n_colours;
  const int *order;

  /* what is asked */
  double until;
  const double *times;
  double *out_y;
  double *out_yp;
  int64_t n_times;
  const double *stops; /* sorted times at which the right-hand side jumps or bends */
  int64_t n_stops;
  const double *periods; /* of sampled groups; 0: what such a group holds changes as soon as it would, whatever the time */
  const double *offsets;
  const int *directions; /* of events: 1 rising, -1 falling, 0 both */
  const int *terminal; /* a terminal event ends the stretch, another one restarts the integration there */
  const int *bends;    /* whether formulas go on without a jump there */
  const int *keepers;  /* the places in y of the storages that `contents` tells of */
  double rtol;
  const double *atol;
  double max_step;
  double first_step; /* 0: chosen by the solver; of fixed-step methods: the step */
  int64_t max_steps;
  int keep_books;
  int watch_stiffness; /* give up where another kind of solver would do better */
  int powers_read_rates; /* 0: whatever is given to the powers for yp, they do not look at it */
  double pause_at;     /* pause after this time, if the motion has turned back so often by then */
  int64_t pause_turns;

  /* where it stands, and what comes back */
  double t;
  double *y;
  double *yp;
  int64_t next_time;
  int64_t next_stop;
  double books[4]; /* energy supplied, dissipated, generated, work of modulation */
  double *event_times;
  int *event_numbers;
  int64_t n_logged;
  int64_t log_size;
  int *event_signs; /* of the events that ended the stretch */
  int64_t steps;
  int64_t rejected;
  int64_t rhs_calls;
  int64_t jacobians;
  int64_t factorisations;
  int64_t detail;
  double last_step;
  volatile double progress;
  volatile int cancel;
  double *sample_log; /* the time of each sampling instant and the memory after it; null where nothing is sampled */
  int64_t n_sampled;
  int64_t sample_room;
  int64_t turns; /* how often the variable that swings most has turned back */
  int64_t n_instants; /* of events */
  double doubled[6]; /* when their number doubled, the latest first */
  double *bands; /* of bends that rest: they wake where their functions leave these; the solver's own */
  int64_t most_expected; /* give up early where the run would need more steps at its pace; 0: go on to max_steps */
  double halfway; /* where it stood when it had made half of its steps */

  /* who looks at every step, up to its end or its event; null where nobody does. Without a step: where a stretch of steps begins */
  int (*see)(struct tg_job *, tg_point_at *, void *step, double from, double to);
  void *seer;
} tg_job;

/* A few more steps than these show the pace of a run. */
enum { TG_FIRST_LOOK = 1 << 17, TG_SURE = 1 << 20 };

/* Whether a run has made too many steps, or will at the pace of the second half of them: who waits for a day wants to know now.
 * Where few steps are known, many more must be expected. */
static int tg_too_many_steps(tg_job *j) {
  if (j->steps >= j->max_steps) return 1;
  if (!j->most_expected || j->steps < TG_FIRST_LOOK / 2 || (j->steps & (j->steps - 1))) return 0;
  double from = j->halfway;
  j->halfway = j->t;
  if (j->steps < TG_FIRST_LOOK) return 0;
  double expected = 0.5 * (double)j->steps * (j->until - j->t) / (j->t - from);
  return expected > (double)j->most_expected * fmax(1, (double)TG_SURE / (double)j->steps);
}

static int tg_step_seen(tg_job *j, tg_point_at *point, void *step, double from, double to) {
  return j->see ? j->see(j, point, step, from, to) : 0;
}

/* The powers that books are kept from; there is room for the stored energy behind them. */
static int tg_powers_of(tg_job *j, double t, const double *y, const double *yp, double power[5]) {
  return j->powers ? j->powers(j->context, t, y, yp, power) : j->balance(j->context, t, y, yp, power);
}

/* Counts how often each variable turns back by more than rounding and errors explain: errors of steps add up over such swings. */
typedef struct tg_turns {
  int n;
  double *extreme; /* the farthest point since the last turn */
  int *count;      /* of turns, on the way up; -1 - turns on the way down */
} tg_turns;

static int tg_turns_open(tg_turns *w, const tg_job *j) {
  w->n = j->n / j->blocks;
  w->extreme = malloc(sizeof(double) * (size_t)(w->n + 1));
  w->count = calloc((size_t)w->n + 1, sizeof(int));
  if (!w->extreme || !w->count) return TG_NO_MEMORY;
  memcpy(w->extreme, j->y, sizeof(double) * (size_t)w->n);
  return 0;
}

static void tg_turns_close(tg_turns *w) {
  free(w->extreme);
  free(w->count);
}

/* Look at the variables after a step. */
static void tg_turns_see(tg_turns *w, tg_job *j, const double *y) {
  for (int i = 0; i < w->n; i++) {
    double moved = y[i] - w->extreme[i];
    int down = w->count[i] < 0;
    if (down ? moved <= 0 : moved >= 0) {
      w->extreme[i] = y[i];
    } else if (fabs(moved) > 100 * (j->atol[i] + j->rtol * fabs(y[i]))) {
      int64_t turns = down ? -w->count[i] : w->count[i] + 1;
      w->count[i] = (int)(down ? turns : -turns - 1);
      if (turns > j->turns) j->turns = turns;
      w->extreme[i] = y[i];
    }
  }
}

/* Breaks are crossed by a few units in the last place on either side, so that conditions on time, however they are rounded, are
 * seen before and after the break. */
static double tg_gap(double t) {
  return 8 * DBL_EPSILON * fabs(t);
}

/* The next instant of a sampled group strictly after t. */
static double tg_next_sample(double t, double period, double offset) {
  if (!(period > 0)) return INFINITY;
  double k = floor((t - offset + tg_gap(t)) / period) + 1;
  return offset + period * (k < 0 ? 0 : k);
}

/* The next break that comes back through a delay; those that have passed are dropped. */
static double tg_next_echo(tg_history *h, double t) {
  int64_t passed = 0;
  while (passed < h->n_echoes && h->echoes[passed].t <= t + 4 * tg_gap(t)) passed++;
  h->n_echoes -= passed;
  if (passed) memmove(h->echoes, h->echoes + passed, sizeof(tg_echo) * (size_t)h->n_echoes);
  return h->n_echoes ? h->echoes[0].t : INFINITY;
}

/* The next time at which the integration must stop: a break, a sampling instant or the end. */
static double tg_next_halt(const tg_job *j) {
  double halt = j->until;
  for (int64_t k = j->next_stop; k < j->n_stops; k++)
    if (j->stops[k] > j->t + tg_gap(j->t)) {
      if (j->stops[k] < halt) halt = j->stops[k];
      break;
    }
  for (int g = 0; g < j->n_groups; g++) {
    double s = tg_next_sample(j->t, j->periods[g], j->offsets[g]);
    if (s < halt) halt = s;
  }
  double echo = j->history ? tg_next_echo(j->history, j->t) : halt;
  return echo < halt ? echo : halt;
}

/* Whether a run is over at a halt. Samples that are due at its very end are still taken, as at any other instant. */
static int tg_ends_at(const tg_job *j, double before, double halt) {
  if (halt < j->until) return 0;
  for (int g = 0; g < j->n_groups; g++)
    if (tg_next_sample(before, j->periods[g], j->offsets[g]) <= halt + tg_gap(halt)) return 0;
  return 1;
}

/* Where to stop before a halt, and where to go on after it. */
static double tg_stop_before(const tg_job *j, double halt) {
  return tg_ends_at(j, j->t, halt) ? halt : halt - tg_gap(halt);
}

static double tg_go_on_after(const tg_job *j, double halt) {
  return halt + 2 * tg_gap(halt) < j->until ? halt + tg_gap(halt) : j->until; /* no sliver at the end */
}

enum { TG_MOST_ANSWERS = 100 };

static int tg_has_latches(const tg_job *j) {
  for (int g = 0; g < j->n_groups; g++)
    if (!(j->periods[g] > 0)) return 1;
  return 0;
}

/* Latches look ahead by these shares of the run: the second time only where an event function is zero. */
#define TG_MOMENT 1e-13
#define TG_LONG_MOMENT 1e-7

/* Where the motion will be after a share of the run. What leaves zero just now passes no zero that could be found: a condition such as
 * v > 0 becomes true where something sets a body at rest in motion. Two rates, because its place leaves zero by the rate of its rate. */
static void tg_look_ahead(tg_job *j, double share, double *y, double *yp) {
  int n = j->n / j->blocks;
  double ahead = share * fmax(fabs(j->t), isfinite(j->until) ? fabs(j->until) : 1);
  memcpy(y, j->y, sizeof(double) * (size_t)j->n);
  memcpy(yp, j->yp, sizeof(double) * (size_t)j->n);
  if (j->rhs && j->rhs(j->context, j->t, j->y, yp)) return;
  if (j->rhs) {
    for (int k = 0; k < n; k++) y[k] = j->y[k] + 0.5 * ahead * yp[k];
    if (j->rhs(j->context, j->t + 0.5 * ahead, y, yp)) ahead = 0;
  }
  for (int k = 0; k < j->n_differential; k++) y[k] = j->y[k] + ahead * yp[k];
}

/* Let latches take what they would hold a moment later, together and again until none changes. */
static int tg_settle_ahead(tg_job *j, double share, int *changed) {
  size_t size = sizeof(double) * (size_t)j->n_memory;
  double *next = malloc(2 * size + 2 * sizeof(double) * (size_t)j->n), *held = j->context->memory;
  if (!next) return TG_NO_MEMORY;
  double *taken = next + j->n_memory, *y = taken + j->n_memory, *yp = y + j->n;
  int bad = 0, moved = 1, round = 0;
  for (; moved && !bad && round < TG_MOST_ANSWERS; round++) {
    moved = 0;
    memcpy(next, held, size);
    tg_look_ahead(j, share, y, yp);
    for (int g = 0; g < j->n_groups && !bad; g++) {
      if (j->periods[g] > 0) continue;
      memcpy(taken, held, size);
      bad = j->sample(j->context, j->t, y, yp, g, taken) ? TG_NOT_FINITE : 0;
      for (int k = 0; k < j->n_memory; k++)
        if (taken[k] != held[k]) {
          next[k] = taken[k];
          moved = 1;
        }
    }
    if (!bad) memcpy(held, next, size);
    *changed |= moved;
  }
  free(next);
  return !bad && moved ? TG_CHATTERING : bad;
}

/* Whether one of the event functions is zero at the present instant. */
static int tg_meets_zero(tg_job *j) {
  double *g = j->n_events ? malloc(sizeof(double) * (size_t)j->n_events) : 0;
  int found = 0;
  if (g && !j->events(j->context, j->t, j->y, j->yp, g))
    for (int e = 0; e < j->n_events; e++) found |= g[e] == 0;
  free(g);
  return found;
}

/* Let latches take what they would hold now, and log it where they change. */
static int tg_settle_latches(tg_job *j, int *changed) {
  *changed = 0;
  if (!tg_has_latches(j)) return 0;
  int bad = tg_settle_ahead(j, TG_MOMENT, changed);
  if (!bad && !*changed && tg_meets_zero(j)) bad = tg_settle_ahead(j, TG_LONG_MOMENT, changed);
  if (!bad && *changed && j->sample_log) {
    if (j->n_sampled >= j->sample_room) return TG_NO_MEMORY;
    double *entry = j->sample_log + (size_t)(j->n_memory + 1) * (size_t)j->n_sampled++;
    entry[0] = j->t - 2 * tg_gap(j->t);
    memcpy(entry + 1, j->context->memory, sizeof(double) * (size_t)j->n_memory);
  }
  return bad;
}

/* Let the groups due at the present instant take their samples; all of them read the values from before it. */
static int tg_take_samples(tg_job *j, double before) {
  if (j->n_groups == 0) return 0;
  double *next = malloc(sizeof(double) * (size_t)(2 * j->n_memory + 1));
  if (!next) return TG_NO_MEMORY;
  double *taken = next + j->n_memory;
  const double *held = j->context->memory;
  memcpy(next, held, sizeof(double) * (size_t)j->n_memory);
  int bad = 0, due = 0;
  for (int g = 0; g < j->n_groups && !bad; g++)
    if (tg_next_sample(before, j->periods[g], j->offsets[g]) <= j->t + tg_gap(j->t)) {
      due = 1;
      memcpy(taken, held, sizeof(double) * (size_t)j->n_memory);
      bad = j->sample(j->context, j->t, j->y, j->yp, g, taken);
      /* A group leaves the places of the others as they were: only what it changed is its own. */
      for (int k = 0; k < j->n_memory; k++)
        if (taken[k] != held[k]) next[k] = taken[k];
    }
  if (!bad) memcpy(j->context->memory, next, sizeof(double) * (size_t)j->n_memory);
  /* At other halts nothing is taken, and the log has no room for them. */
  if (!bad && due && j->sample_log && j->n_sampled < j->sample_room) {
    double *entry = j->sample_log + (size_t)(j->n_memory + 1) * (size_t)j->n_sampled++;
    entry[0] = j->t - 2 * tg_gap(j->t); /* a row at the instant itself is written after it */
    memcpy(entry + 1, next, sizeof(double) * (size_t)j->n_memory);
  }
  free(next);
  int changed;
  return bad ? TG_NOT_FINITE : tg_settle_latches(j, &changed);
}

/* How many points the past is read through: an order that does not fall behind that of the solvers. */
enum { TG_PAST_POINTS = 8 };

double tg_past(void *history, int k, double time);

static int tg_more_past(tg_history *h) {
  int64_t room = 2 * h->room + 64;
  double *times = realloc(h->times, sizeof(double) * (size_t)room);
  if (times) h->times = times;
  double *values = realloc(h->values, sizeof(double) * (size_t)(room * h->n_delays));
  if (values) h->values = values;
  char *fresh = realloc(h->fresh, (size_t)room);
  if (fresh) h->fresh = fresh;
  if (!times || !values || !fresh) return TG_NO_MEMORY;
  h->room = room;
  return 0;
}

/* Keep what delayed signals will need of an instant. */
static int tg_remember_at(tg_job *j, double t, const double *y, const double *yp) {
  tg_history *h = j->history;
  if (!h) return 0;
  if (h->count && h->times[h->count - 1] >= t && !(h->breaks && h->times[h->count - 1] == t)) return 0;
  if (h->count == h->room && tg_more_past(h)) return TG_NO_MEMORY;
  if (!h->count) h->start = t;
  if (j->observe(j->context, t, y, yp, h->scratch)) return TG_NOT_FINITE;
  h->times[h->count] = t;
  h->fresh[h->count] = 0;
  for (int k = 0; k < h->n_delays; k++) h->values[h->count * h->n_delays + k] = h->scratch[h->observables[k]];
  h->count++;
  return 0;
}

static int tg_remember(tg_job *j) {
  return tg_remember_at(j, j->t, j->y, j->yp);
}

/* A break to come; one that is there already, but for rounding, counts as the younger of both. */
static int tg_expect_echo(tg_history *h, double t, int age) {
  int64_t at = h->n_echoes;
  while (at > 0 && h->echoes[at - 1].t > t + 4 * tg_gap(t)) at--;
  if (at > 0 && h->echoes[at - 1].t >= t - 4 * tg_gap(t)) {
    if (age < h->echoes[at - 1].age) h->echoes[at - 1].age = age;
    return 0;
  }
  if (h->n_echoes == h->echo_room) {
    tg_echo *more = realloc(h->echoes, sizeof(tg_echo) * (size_t)(2 * h->echo_room + 16));
    if (!more) return TG_NO_MEMORY;
    h->echoes = more;
    h->echo_room = 2 * h->echo_room + 16;
  }
  memmove(h->echoes + at + 1, h->echoes + at, sizeof(tg_echo) * (size_t)(h->n_echoes - at));
  h->echoes[at] = (tg_echo){t, age};
  h->n_echoes++;
  return 0;
}

/* How often the break at a time has come back already: not at all where an input or a sample makes it anew. */
static int tg_age_of_break(const tg_job *j, double t) {
  double gap = 4 * tg_gap(t);
  for (int64_t k = j->next_stop; k > 0 && j->stops[k - 1] >= t - gap; k--)
    if (j->stops[k - 1] <= t + gap) return 0;
  for (int g = 0; g < j->n_groups; g++)
    if (tg_next_sample(t - gap, j->periods[g], j->offsets[g]) <= t + gap) return 0;
  for (int64_t k = 0; k < j->history->n_echoes && j->history->echoes[k].t <= t + gap; k++)
    if (j->history->echoes[k].t >= t - gap) return j->history->echoes[k].age;
  return 0;
}

/* Keep an instant on the other side of a break, which will come back after each delay. A stretch that only goes on makes none. */
static int tg_remember_break(tg_job *j) {
  tg_history *h = j->history;
  if (!h) return 0;
  int64_t known = h->count;
  int status = tg_remember(j), bad = 0;
  h->breaks = 0;
  if (status || h->count == known) return status;
  double t = known ? 0.5 * (h->times[known - 1] + j->t) : j->t;
  h->fresh[known] = known > 0;
  int age = tg_age_of_break(j, t) + 1;
  for (int k = 0; k < h->n_delays && age <= h->most_echoes && !bad; k++) bad = tg_expect_echo(h, t + h->delays[k], age);
  return bad;
}

/* A time in the step from `start` that surely lies before the event found at `t`: solvers find one to a hundred units in the last place. */
static double tg_before_event(double start, double t) {
  return fmax(start, t - 16 * tg_gap(t));
}

/* Note the events of this instant in the log; returns whether one of them is terminal. */
static int tg_log_events(tg_job *j, double t, const int *signs) {
  int stop = 0;
  for (int e = 0; e < j->n_events; e++) {
    if (!signs[e]) continue;
    if (j->n_logged < j->log_size) {
      j->event_times[j->n_logged] = t;
      j->event_numbers[j->n_logged++] = e;
    }
    if (j->terminal[e]) stop = 1;
  }
  if (stop) memcpy(j->event_signs, signs, sizeof(int) * (size_t)j->n_events);
  return stop;
}

/* Where the number of events doubles again and again in equal times, and would pass all bounds before the end, the motion stays on the
 * border between two formulas: steps of a relay on a plant of second order need not fall to the resolution of time. A pulse width
 * modulator that starts late makes one time shorter, and the next ones longer again. */
enum { TG_MANY_INSTANTS = 16384, TG_DOUBLINGS = 6 };
#define TG_MOST_INSTANTS 1e9
#define TG_LONGER 1.1
#define TG_SHORTER 0.5

/* Count an instant of events; returns whether they follow each other ever faster. */
static int tg_chatters(tg_job *j, double t) {
  double *at = j->doubled;
  int64_t n = ++j->n_instants;
  if (n & (n - 1)) return 0;
  memmove(at + 1, at, (TG_DOUBLINGS - 1) * sizeof *at);
  at[0] = t;
  if (n < TG_MANY_INSTANTS) return 0;
  for (int k = 0; k + 2 < TG_DOUBLINGS; k++) {
    double share = (at[k] - at[k + 1]) / (at[k + 1] - at[k + 2]);
    if (!(share <= TG_LONGER && share >= TG_SHORTER)) return 0;
  }
  return j->until - t > (at[0] - at[1]) * log2(TG_MOST_INSTANTS / (double)n);
}

/* Whether formulas jump at one of the events that happen together. At a bend nothing can stay: the motion is the same on both sides. */
static int tg_jumps(const tg_job *j, const int *signs) {
  for (int e = 0; e < j->n_events; e++)
    if (signs[e] && !j->bends[e]) return 1;
  return 0;
}

/* Whether one of the events that happen together is terminal. */
static int tg_ends_stretch(const tg_job *j, const int *signs) {
  for (int e = 0; e < j->n_events; e++)
    if (signs[e] && j->terminal[e]) return 1;
  return 0;
}

/* A bend is looked for again only after its function has left the band in which tolerances alone would move it to and fro: within it the
 * motion is the same on both sides but for less than that, and steps keep their error whether they end there or not. */
static int tg_rests(const tg_job *j, int e) {
  return j->bands[e] > 0;
}

static void tg_wake_bends(tg_job *j, const double *g) {
  for (int e = 0; e < j->n_events; e++)
    if (fabs(g[e]) > j->bands[e]) j->bands[e] = 0;
}

static int tg_any_bend(const tg_job *j, const int *signs) {
  for (int e = 0; e < j->n_events; e++)
    if (signs[e] && j->bends[e]) return 1;
  return 0;
}

/* The variables moved by their tolerances; all the same way, or not, for what they have in common may cancel. */
static void tg_move_by_tolerances(const tg_job *j, int alike, double *y) {
  for (int i = 0; i < j->n; i++) y[i] = j->y[i] + (alike ? 1 : 2 * fmod(0.618 * (i + 1), 1) - 1) * (j->atol[i] + j->rtol * fabs(j->y[i]));
}

/* The band of each bend that was just found is at least as wide as its function is off. */
static void tg_rest_bends(tg_job *j, const int *signs, const double *g, const double *off) {
  for (int e = 0; e < j->n_events; e++)
    if (signs[e] && j->bends[e]) j->bands[e] = fmax(j->bands[e], fabs(off[e] - g[e]));
}

/* Whether event function e passes zero, in the direction that counts. */
static int tg_crosses(const tg_job *j, int e, double from, double to) {
  if (tg_rests(j, e)) return 0;
  int rising = from < 0 && to >= 0, falling = from > 0 && to <= 0;
  return j->directions[e] > 0 ? rising : j->directions[e] < 0 ? falling : rising || falling;
}

static int tg_any_crossing(const tg_job *j, const double *from, const double *to) {
  for (int e = 0; e < j->n_events; e++)
    if (tg_crosses(j, e, from[e], to[e])) return 1;
  return 0;
}

/* The event functions at a time of the present step. */
typedef int tg_guards_at(void *solver, double t, double *g);

enum { TG_PEAK_ROUNDS = 6 };

/* An event function may pass zero and come back between three times at which it has not passed it: the voltage across a diode near the
 * peak of its source. Parabolas lead to where it comes nearest. Returns 1 with a time at which one has passed zero, and all of them in
 * `g`; 0 where there is none, -1 where they cannot be evaluated. */
static int tg_hidden_event(const tg_job *j, tg_guards_at *guards, void *solver, const double at[3], double *const known[3], double *g,
                           double *found) {
  for (int e = 0; e < j->n_events; e++) {
    int side = known[1][e] < 0 ? 1 : -1;
    if (known[1][e] == 0 || j->directions[e] * side < 0 || tg_rests(j, e)) continue;
    double low = at[0], middle = at[1], high = at[2], u = side * known[0][e], v = side * known[1][e], w = side * known[2][e];
    for (int round = 0; round < TG_PEAK_ROUNDS; round++) {
      double a = middle - low, b = middle - high, bend = a * (v - w) - b * (v - u);
      if (!(bend > 0)) break;
      double x = middle - 0.5 * (a * a * (v - w) - b * b * (v - u)) / bend;
      if (!(x > low && x < high) || fabs(x - middle) <= 1e-6 * (high - low)) break;
      double peak = u * (x - middle) * (x - high) / (a * (high - low)) + v * (x - low) * (x - high) / (a * b) +
                    w * (x - low) * (x - middle) / ((high - low) * -b);
      if (!(peak > -0.25 * (fmax(v, fmax(u, w)) - fmin(v, fmin(u, w))))) break;
      if (guards(solver, x, g)) return -1;
      double y = side * g[e];
      if (y >= 0) {
        *found = x;
        return 1;
      }
      int right = x > middle, better = y > v;
      if (right == better) {
        low = better ? middle : x;
        u = better ? v : y;
      } else {
        high = better ? middle : x;
        w = better ? v : y;
      }
      if (better) {
        middle = x;
        v = y;
      }
    }
  }
  return 0;
}

/* After a break or a sample the guard of a mode may have jumped above zero without a crossing to be found: the mode ends there.
 * Rates must be those of the present point. */
static int tg_guard_jumped(tg_job *j) {
  if (!j->n_events) return 0;
  double *g = malloc(sizeof(double) * (size_t)j->n_events);
  int *signs = malloc(sizeof(int) * (size_t)j->n_events);
  int status = !g || !signs ? TG_NO_MEMORY : j->events(j->context, j->t, j->y, j->yp, g) ? TG_NOT_FINITE : 0;
  if (!status) {
    int any = 0;
    for (int e = 0; e < j->n_events; e++) any |= signs[e] = j->terminal[e] && j->directions[e] > 0 && g[e] > 0;
    if (any && tg_log_events(j, j->t, signs)) status = TG_EVENT;
  }
  free(g);
  free(signs);
  return status;
}

#endif
