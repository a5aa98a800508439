/* One stretch of a simulation: what a solver is given, where it stands, and what it hands back. Every solver of this folder is a
 * function `int run(tg_job *)` that returns a status. The layout is mirrored in `simulation/jobs.py`.
 *
 * A sensitivity run has `blocks` > 1: y is then the variables followed by one block of derivatives for each parameter, and all
 * blocks share the Jacobian of the first.
 */
#ifndef TELLEGEN_JOB_H
#define TELLEGEN_JOB_H

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  TG_PAUSED = 12     /* the motion swings, and the caller wants to look at it */
};

/* What delayed signals were at the ends of steps; `past` of the context reads it. */
typedef struct tg_history {
  int n_delays;
  const int *observables;
  const double *delays;
  const double *initial;
  long count, room;
  double *times;
  double *values; /* one row for each time */
  double *scratch; /* all observables */
  double start;
} tg_history;

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
  tg_sample_fn *sample;
  tg_observe_fn *observe;
  int n;              /* length of y, all blocks together */
  int blocks;
  int n_states;       /* of storages: the first ones */
  int n_differential; /* of the first block: the others are algebraic unknowns */
  int n_events;
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
  long n_times;
  const double *stops; /* sorted times at which the right-hand side jumps or bends */
  long n_stops;
  const double *periods; /* of sampled groups */
  const double *offsets;
  const int *directions; /* of events: 1 rising, -1 falling, 0 both */
  const int *terminal; /* a terminal event ends the stretch, another one restarts the integration there */
  double rtol;
  const double *atol;
  double max_step;
  double first_step; /* 0: chosen by the solver; of fixed-step methods: the step */
  long max_steps;
  int keep_books;
  int watch_stiffness; /* give up where another kind of solver would do better */
  int powers_read_rates; /* 0: whatever is given to the powers for yp, they do not look at it */
  double pause_at;     /* pause after this time, if the motion has turned back so often by then */
  long pause_turns;

  /* where it stands, and what comes back */
  double t;
  double *y;
  double *yp;
  long next_time;
  long next_stop;
  double books[4]; /* energy supplied, dissipated, generated, work of modulation */
  double *event_times;
  int *event_numbers;
  long n_logged;
  long log_size;
  int *event_signs; /* of the events that ended the stretch */
  long steps;
  long rejected;
  long rhs_calls;
  long jacobians;
  long factorisations;
  long detail;
  double last_step;
  volatile double progress;
  volatile int cancel;
  double *sample_log; /* the time of each sampling instant and the memory after it; null where nothing is sampled */
  long n_sampled;
  long sample_room;
  long turns; /* how often the variable that swings most has turned back */
} tg_job;

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
      long turns = down ? -w->count[i] : w->count[i] + 1;
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
  double k = floor((t - offset + tg_gap(t)) / period) + 1;
  return offset + period * (k < 0 ? 0 : k);
}

/* The next time at which the integration must stop: a break, a sampling instant or the end. */
static double tg_next_halt(const tg_job *j) {
  double halt = j->until;
  for (long k = j->next_stop; k < j->n_stops; k++)
    if (j->stops[k] > j->t + tg_gap(j->t)) {
      if (j->stops[k] < halt) halt = j->stops[k];
      break;
    }
  for (int g = 0; g < j->n_groups; g++) {
    double s = tg_next_sample(j->t, j->periods[g], j->offsets[g]);
    if (s < halt) halt = s;
  }
  return halt;
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
  return bad ? TG_NOT_FINITE : 0;
}

/* Do two neighbouring points stand on either side of a break? */
static int tg_is_break(const tg_history *h, long low) {
  return h->times[low + 1] - h->times[low] <= 4 * tg_gap(h->times[low + 1]);
}

/* The value of delayed expression k at an earlier time: a polynomial through the nearest points on this side of any break, of an order
 * that does not fall behind that of the solvers. */
enum { TG_PAST_POINTS = 8 };

double tg_past(void *history, int k, double time) {
  const tg_history *h = history;
  if (time < h->start || h->count == 0) return h->initial[k];
  long low = 0, high = h->count - 1, d = h->n_delays;
  if (time >= h->times[high]) return h->values[high * d + k];
  while (high - low > 1) {
    long middle = (low + high) / 2;
    if (h->times[middle] <= time) low = middle; else high = middle;
  }
  long first = low, last = high;
  if (tg_is_break(h, low)) return h->values[high * d + k];
  while (last - first < TG_PAST_POINTS - 1) {
    int more = last + 1 < h->count && !tg_is_break(h, last), less = first > 0 && !tg_is_break(h, first - 1);
    if (!more && !less) break;
    if (less && (!more || low - first <= last - high)) first--; else last++;
  }
  double sum = 0;
  for (long i = first; i <= last; i++) {
    double weight = 1;
    for (long m = first; m <= last; m++)
      if (m != i) weight *= (time - h->times[m]) / (h->times[i] - h->times[m]);
    sum += weight * h->values[i * d + k];
  }
  return sum;
}

void tg_forget(tg_history *h) {
  free(h->times);
  free(h->values);
  h->times = h->values = 0;
  h->count = h->room = 0;
}

/* Keep what delayed signals will need of an instant; a break has a point on either side. */
static int tg_remember_at(tg_job *j, double t, const double *y, const double *yp) {
  tg_history *h = j->history;
  if (!h) return 0;
  if (h->count && h->times[h->count - 1] >= t) return 0;
  if (h->count == h->room) {
    long room = 2 * h->room + 64;
    double *times = realloc(h->times, sizeof(double) * (size_t)room);
    if (times) h->times = times;
    double *values = realloc(h->values, sizeof(double) * (size_t)(room * h->n_delays));
    if (values) h->values = values;
    if (!times || !values) return TG_NO_MEMORY;
    h->room = room;
  }
  if (!h->count) h->start = t;
  if (j->observe(j->context, t, y, yp, h->scratch)) return TG_NOT_FINITE;
  h->times[h->count] = t;
  for (int k = 0; k < h->n_delays; k++) h->values[h->count * h->n_delays + k] = h->scratch[h->observables[k]];
  h->count++;
  return 0;
}

static int tg_remember(tg_job *j) {
  return tg_remember_at(j, j->t, j->y, j->yp);
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

/* Whether one of the events that happen together is terminal. */
static int tg_ends_stretch(const tg_job *j, const int *signs) {
  for (int e = 0; e < j->n_events; e++)
    if (signs[e] && j->terminal[e]) return 1;
  return 0;
}

/* Whether event function e passes zero, in the direction that counts. */
static int tg_crosses(const tg_job *j, int e, double from, double to) {
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
    if (known[1][e] == 0 || j->directions[e] * side < 0) continue;
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
