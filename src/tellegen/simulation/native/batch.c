/* Many runs of one model in one call: what differs between them stands in tables, what is kept of each is worked out as it goes.
 *
 * Every thread has a worker of its own and takes the next runs from a counter that all share. A run depends on its own row of the
 * tables alone: which thread makes it, and after which other, changes no bit.
 */
#include "job.h"

typedef int tg_run_fn(tg_job *);

enum { TG_LAST, TG_AT, TG_MAX, TG_MIN, TG_TIME_OF_MAX, TG_TIME_OF_MIN, TG_INTEGRAL, TG_SQUARES };

/* One number that is kept of a run: of the channel at `place`, which counts time, then variables, then observables. */
typedef struct tg_kept {
  int kind;
  int place;
  double at; /* of TG_AT, which come in order of time */
} tg_kept;

typedef struct tg_batch {
  const tg_job *job;         /* what is the same in every run */
  const tg_context *context; /* the same */
  tg_run_fn *begin;          /* makes rates and unknowns consistent with the states; null where rates are explicit */
  tg_run_fn *run;
  tg_run_fn *instead; /* makes a run again that `run` gave up, from its start; may be null */
  int64_t n_runs, n_parameters, n_inputs, n_memory, n_scratch, n_kept, n_row_places, n_rows;
  const double *parameters, *inputs, *starts, *memory, *untils;
  const double *stops; /* of all runs, one after the other; those of a run begin at its entry of `stops_from`. Null: those of the job */
  const int64_t *stops_from;
  const tg_kept *kept;
  const int *row_places;  /* the channels of rows */
  const double *row_times; /* one row of times for each run */
  double *out;            /* a row of what is kept for each run */
  double *rows;           /* for each run and time the channels of rows */
  double *books;
  double *reached; /* the time at which a run ended */
  int64_t *counts; /* of each run: steps, and evaluations */
  signed char *status;
  volatile int64_t *next;
  volatile int cancel;
} tg_batch;

/* What a thread works with. */
typedef struct tg_worker {
  tg_batch *batch;
  tg_job job;
} tg_worker;

/* Gauss and Lobatto with six points: exact to degree nine, and both ends of a step are among them. */
enum { NODES = 6, REFINEMENTS = 8, AT_ONCE = 16 };
static const double NODE[NODES] = {0.0, 0.11747233803526763, 0.35738424175967745, 0.6426157582403226, 0.8825276619647324, 1.0};
static const double WEIGHT[NODES] = {1.0 / 30, 0.18923747814892347, 0.27742918851774318, 0.27742918851774318, 0.18923747814892347, 1.0 / 30};

/* What is known of the present run. */
typedef struct seer {
  const tg_batch *b;
  int64_t number;
  int looks_inside; /* whether anything but last values is kept */
  int64_t next_at, next_row;
  double *y, *yp;      /* a point */
  double *channels[NODES + 1];
  double *best, *when; /* of extremes, for each number kept */
  double *sum;
} seer;

static int is_extreme(int kind) {
  return kind >= TG_MAX && kind <= TG_TIME_OF_MIN;
}

static double sign_of(int kind) {
  return kind == TG_MIN || kind == TG_TIME_OF_MIN ? -1 : 1;
}

/* All channels at a point. Outside the domain of a law an observable is not a number, which is no failure here. */
static void tell(const tg_job *j, double t, const double *y, const double *yp, double *channels) {
  channels[0] = t;
  memcpy(channels + 1, y, sizeof(double) * (size_t)j->n);
  for (int k = 0; k < j->n_observables; k++) channels[1 + j->n + k] = NAN;
  int failed = j->context->failed;
  j->observe(j->context, t, y, yp, channels + 1 + j->n);
  j->context->failed = failed;
}

static int point(seer *s, tg_job *j, tg_point_at *at, void *step, double t, double *channels) {
  int bad = at(step, t, s->y, s->yp);
  if (!bad) tell(j, t, s->y, s->yp, channels);
  return bad;
}

static void write_row(seer *s, const double *channels) {
  const tg_batch *b = s->b;
  double *row = b->rows + (size_t)(s->number * b->n_rows + s->next_row++) * (size_t)b->n_row_places;
  for (int64_t k = 0; k < b->n_row_places; k++) row[k] = channels[b->row_places[k]];
}

static void write_at(seer *s, const double *channels) {
  const tg_batch *b = s->b;
  b->out[s->number * b->n_kept + s->next_at] = channels[b->kept[s->next_at].place];
  s->next_at++;
}

/* The next number that is asked for at a time; the entries of others are passed. */
static double next_at(seer *s) {
  const tg_batch *b = s->b;
  while (s->next_at < b->n_kept && b->kept[s->next_at].kind != TG_AT) s->next_at++;
  return s->next_at < b->n_kept ? b->kept[s->next_at].at : INFINITY;
}

static double next_row(const seer *s) {
  const tg_batch *b = s->b;
  return s->next_row < b->n_rows ? b->row_times[s->number * b->n_rows + s->next_row] : INFINITY;
}

static void better(seer *s, int64_t k, double value, double t) {
  if (value > s->best[k]) {
    s->best[k] = value;
    s->when[k] = t;
  }
}

/* Where a parabola through three points is highest; not a number where it is not bent downwards. */
static double vertex(const double x[3], const double v[3]) {
  double a = x[1] - x[0], b = x[1] - x[2], bend = a * (v[1] - v[2]) - b * (v[1] - v[0]);
  return bend > 0 ? x[1] - 0.5 * (a * a * (v[1] - v[2]) - b * b * (v[1] - v[0])) / bend : NAN;
}

static double parabola(const double x[3], const double v[3], double at) {
  return v[0] * (at - x[1]) * (at - x[2]) / ((x[0] - x[1]) * (x[0] - x[2])) + v[1] * (at - x[0]) * (at - x[2]) / ((x[1] - x[0]) * (x[1] - x[2])) +
         v[2] * (at - x[0]) * (at - x[1]) / ((x[2] - x[0]) * (x[2] - x[1]));
}

/* The highest point of a channel in a step, between the nodes beside the highest of them: parabolas lead there. Only where it may be the
 * highest of the whole run is the motion asked at all. */
static int climb(seer *s, tg_job *j, tg_point_at *at, void *step, int64_t k, const double *times) {
  const tg_kept *asked = &s->b->kept[k];
  double sign = sign_of(asked->kind), x[3], v[3];
  int top = 0;
  for (int q = 0; q < NODES; q++) {
    double value = sign * s->channels[q][asked->place];
    better(s, k, value, times[q]);
    if (value > sign * s->channels[top][asked->place]) top = q;
  }
  int first = top == 0 ? 0 : top == NODES - 1 ? NODES - 3 : top - 1;
  for (int q = 0; q < 3; q++) {
    x[q] = times[first + q];
    v[q] = sign * s->channels[first + q][asked->place];
  }
  for (int round = 0; round < REFINEMENTS; round++) {
    double t = vertex(x, v), width = x[2] - x[0];
    if (!(t > x[0] && t < x[2]) || t == x[1]) break;
    double expected = parabola(x, v, t);
    /* what is left to gain is rounding, or stays below what another part of the run has reached */
    if (!(expected > s->best[k] + 1e-14 * fabs(s->best[k]))) break;
    if (point(s, j, at, step, t, s->channels[NODES])) return TG_NOT_FINITE;
    double value = sign * s->channels[NODES][asked->place];
    better(s, k, value, t);
    int right = t > x[1];
    if (value > v[1]) {
      x[right ? 0 : 2] = x[1];
      v[right ? 0 : 2] = v[1];
      x[1] = t;
      v[1] = value;
    } else {
      x[right ? 2 : 0] = t;
      v[right ? 2 : 0] = value;
    }
    if (x[2] - x[0] < 1e-9 * width) break;
  }
  return 0;
}

static int see_step(seer *s, tg_job *j, tg_point_at *at, void *step, double from, double to) {
  double times[NODES];
  if (!(to > from)) return 0;
  for (int q = 0; q < NODES; q++) {
    times[q] = q == NODES - 1 ? to : from + NODE[q] * (to - from);
    if (point(s, j, at, step, times[q], s->channels[q])) return TG_NOT_FINITE;
  }
  for (int64_t k = 0; k < s->b->n_kept; k++) {
    const tg_kept *asked = &s->b->kept[k];
    if (is_extreme(asked->kind)) {
      if (climb(s, j, at, step, k, times)) return TG_NOT_FINITE;
    } else if (asked->kind >= TG_INTEGRAL) {
      double mean = 0;
      for (int q = 0; q < NODES; q++) {
        double value = s->channels[q][asked->place];
        mean += WEIGHT[q] * (asked->kind == TG_SQUARES ? value * value : value);
      }
      s->sum[k] += (to - from) * mean;
    }
  }
  return 0;
}

static int see(tg_job *j, tg_point_at *at, void *step, double from, double to) {
  seer *s = j->seer;
  double *last = s->channels[NODES];
  if (!at) { /* a stretch of steps begins, after a break or a sample perhaps: values may have jumped */
    if (next_row(s) > to && next_at(s) > to && !s->looks_inside) return 0;
    tell(j, to, j->y, j->yp, last);
    while (next_row(s) <= to) write_row(s, last);
    while (next_at(s) <= to) write_at(s, last);
    for (int64_t k = 0; k < s->b->n_kept; k++)
      if (is_extreme(s->b->kept[k].kind)) better(s, k, sign_of(s->b->kept[k].kind) * last[s->b->kept[k].place], to);
    return 0;
  }
  if (s->looks_inside && see_step(s, j, at, step, from, to)) return TG_NOT_FINITE;
  for (double t; (t = next_row(s)) <= to && !j->cancel;) {
    if (point(s, j, at, step, t, last)) return TG_NOT_FINITE;
    write_row(s, last);
  }
  for (double t; (t = next_at(s)) <= to;) {
    if (point(s, j, at, step, t, last)) return TG_NOT_FINITE;
    write_at(s, last);
  }
  return 0;
}

/* The values at the end of a run, and what else was waiting for it. */
static int finish(seer *s, tg_job *j) {
  const tg_batch *b = s->b;
  double *last = s->channels[NODES], *out = b->out + s->number * b->n_kept;
  if (j->rhs && j->rhs(j->context, j->t, j->y, j->yp)) return TG_NOT_FINITE;
  tell(j, j->t, j->y, j->yp, last);
  while (s->next_row < b->n_rows) write_row(s, last);
  while (next_at(s) < INFINITY) write_at(s, last);
  for (int64_t k = 0; k < b->n_kept; k++) {
    const tg_kept *asked = &b->kept[k];
    if (asked->kind == TG_LAST) out[k] = last[asked->place];
    else if (asked->kind == TG_TIME_OF_MAX || asked->kind == TG_TIME_OF_MIN) out[k] = s->when[k];
    else if (is_extreme(asked->kind)) out[k] = sign_of(asked->kind) * s->best[k];
    else if (asked->kind >= TG_INTEGRAL) out[k] = s->sum[k];
  }
  return 0;
}

static void make_ready(seer *s, const tg_batch *b, tg_context *c, tg_job *j, int64_t number, double *memory, double *values, double *y,
                       double *yp) {
  size_t k = (size_t)number, n = (size_t)b->job->n;
  c->parameters = b->parameters + k * (size_t)b->n_parameters;
  c->inputs = b->inputs + k * (size_t)b->n_inputs;
  c->memory = memory;
  c->failed = 0;
  memcpy(memory, b->memory + k * (size_t)b->n_memory, sizeof(double) * (size_t)b->n_memory);
  memset(values, 0, sizeof(double) * (size_t)b->n_scratch);
  memcpy(y, b->starts + k * n, sizeof(double) * n);
  memset(yp, 0, sizeof(double) * n);
  *j = *b->job;
  j->context = c;
  j->y = y;
  j->yp = yp;
  j->until = b->untils[k];
  if (j->max_step > j->until - j->t) j->max_step = j->until - j->t;
  if (b->stops) {
    j->stops = b->stops + b->stops_from[k];
    j->n_stops = b->stops_from[k + 1] - b->stops_from[k];
  }
  j->see = see;
  j->seer = s;
  s->number = number;
  s->next_at = s->next_row = 0;
  for (int64_t i = 0; i < b->n_kept; i++) {
    s->best[i] = -INFINITY;
    s->when[i] = NAN;
    s->sum[i] = 0;
    b->out[number * b->n_kept + i] = NAN;
  }
  size_t width = (size_t)(b->n_rows * b->n_row_places);
  for (size_t i = 0; i < width; i++) b->rows[k * width + i] = NAN;
}

/* Samples that are due at the start see the consistent start, and what they then hold may change rates and unknowns. */
static int begin(const tg_batch *b, tg_job *j) {
  int status = b->begin ? b->begin(j) : j->rhs(j->context, j->t, j->y, j->yp) ? TG_NOT_FINITE : 0;
  if (status || !j->n_groups) return status;
  int due = 0;
  for (int g = 0; g < j->n_groups; g++) {
    double periods = (j->t - j->offsets[g]) / j->periods[g];
    due |= periods > -1e-9 && fabs(periods - round(periods)) < 1e-9;
  }
  if (!due) return 0;
  status = tg_take_samples(j, j->t - 2 * tg_gap(j->t) - 1e-9 * j->periods[0]);
  if (status) return status;
  return b->begin ? b->begin(j) : j->rhs(j->context, j->t, j->y, j->yp) ? TG_NOT_FINITE : 0;
}

/* Make runs until there are none left, or somebody cancels them. */
int tg_run_batch(tg_worker *w) {
  tg_batch *b = w->batch;
  size_t n = (size_t)b->job->n, wide = 1 + n + (size_t)b->job->n_observables, kept = (size_t)b->n_kept;
  size_t numbers = 2 * (size_t)b->n_scratch + (size_t)b->n_memory + 4 * n + (NODES + 1) * wide + 3 * kept + 8;
  double *room = calloc(numbers, sizeof(double)), *next = room;
  if (!room) return TG_NO_MEMORY;
  tg_context c = *b->context;
  seer s = {.b = b};
  double *values = c.values = next, *memory, *y, *yp;
  c.tangents = next += b->n_scratch;
  memory = next += b->n_scratch;
  y = next += b->n_memory;
  yp = next += n;
  s.y = next += n;
  s.yp = next += n;
  s.best = next += n;
  s.when = next += kept;
  s.sum = next += kept;
  next += kept;
  for (int q = 0; q <= NODES; q++, next += wide) s.channels[q] = next;
  for (int64_t k = 0; k < b->n_kept; k++) s.looks_inside |= b->kept[k].kind >= TG_MAX;
  while (!b->cancel) {
    int64_t first = __atomic_fetch_add(b->next, AT_ONCE, __ATOMIC_RELAXED), last = first + AT_ONCE;
    if (first >= b->n_runs) break;
    if (last > b->n_runs) last = b->n_runs;
    for (int64_t k = first; k < last && !b->cancel; k++) {
      tg_job *j = &w->job;
      int64_t steps = 0, calls = 0;
      int status = 0;
      for (int again = 0; again < 2; again++) {
        make_ready(&s, b, &c, j, k, memory, values, y, yp);
        if (b->cancel) j->cancel = 1;
        status = begin(b, j);
        if (!status) status = (again ? b->instead : b->run)(j);
        steps += j->steps;
        calls += j->rhs_calls;
        if (!b->instead || (status != TG_STIFF && status != TG_UNSUITED)) break;
      }
      if (status == TG_FINISHED) status = finish(&s, j);
      if (b->cancel) break; /* what is stopped may fail in any way, and is made again */
      b->reached[k] = j->t;
      memcpy(b->books + 4 * k, j->books, sizeof j->books);
      b->counts[2 * k] = steps;
      b->counts[2 * k + 1] = calls;
      b->status[k] = (signed char)status;
    }
  }
  free(room);
  return 0;
}
