/* Calls functional mock-up units of FMI 2.0 and 3.0 for the signals of a model.
 *
 * A signal is a rate, an output or an event indicator of a unit. All signals of one unit are given the same arguments, and what they
 * ask is computed once for each set of arguments. A unit of model exchange is given: time, number of events so far, states, inputs,
 * parameters. One of co-simulation: time, inputs, parameters; it steps when the time has come, with the inputs held from the step
 * before, and looking back to the start begins again.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSTANTIATE, SETUP, ENTER_INIT, EXIT_INIT, RESET, FREE, TERMINATE, SET_REAL, GET_REAL, SET_TIME, SET_STATES, GET_STATES,
       GET_RATES, GET_INDICATORS, ENTER_EVENTS, ENTER_CONTINUOUS, NEW_DISCRETE, DO_STEP, GET_STATE, SET_STATE, FREE_STATE, COMPLETED,
       FUNCTIONS };

enum { RATE, OUTPUT, INDICATOR };

typedef struct tg_unit {
  int fmi, steps; /* version; whether it is for co-simulation */
  int n_x, n_u, n_p, n_y, n_z;
  int keeps, completed; /* whether its state can be kept, and whether it wants to know of steps */
  const uint32_t *u, *p, *y;
  const char *name, *token, *resources, *resources_uri;
  void *f[FUNCTIONS];
  double every, start;
  void *instance;
  double *known, *rates, *outputs, *indicators, *held, *first;
  int is_known, epoch, restarts, room;
  void **kept;
  double *soon;    /* the time event that came next, with each state that is kept */
  long count;      /* steps of co-simulation */
  double next;     /* the time event that comes next */
  char said[160];
} tg_unit;

typedef struct { tg_unit *unit; int what, place; double (*function)(int, const double *); } tg_entry;
typedef struct { tg_entry *entries; int (*make)(void); } tg_host; /* no unit is loaded before a signal is asked for */

/* FMI 2.0 hands callbacks over by pointer, which a unit may keep. */
static void quiet2(void *environment, const char *instance, int status, const char *category, const char *message, ...) {
  (void)environment, (void)instance, (void)status, (void)category, (void)message;
}
static void quiet3(void *environment, int status, const char *category, const char *message) {
  (void)environment, (void)status, (void)category, (void)message;
}
typedef struct {
  void (*logger)(void *, const char *, int, const char *, const char *, ...);
  void *(*allocate)(size_t, size_t);
  void (*release)(void *);
  void (*finished)(void *, int);
  void *environment;
} tg_callbacks2;
static const tg_callbacks2 callbacks2 = {quiet2, calloc, free, NULL, NULL};

typedef struct { int again, terminate, nominals, states, has_next; double next; } tg_event_info2;

#define CALL(unit, which, type) ((type)(unit)->f[which])

static int failed(tg_unit *n, const char *what, int status) {
  /* Warnings (1) are no failures. */
  if (status == 0 || status == 1) return 0;
  snprintf(n->said, sizeof n->said, "the unit refused to %s (status %d)", what, status);
  return 1;
}

static int set_reals(tg_unit *n, const uint32_t *refs, int count, const double *values) {
  if (count == 0) return 0;
  if (n->fmi == 2)
    return CALL(n, SET_REAL, int (*)(void *, const uint32_t *, size_t, const double *))(n->instance, refs, (size_t)count, values);
  return CALL(n, SET_REAL, int (*)(void *, const uint32_t *, size_t, const double *, size_t))(n->instance, refs, (size_t)count,
                                                                                              values, (size_t)count);
}

static int get_reals(tg_unit *n, const uint32_t *refs, int count, double *values) {
  if (count == 0) return 0;
  if (n->fmi == 2)
    return CALL(n, GET_REAL, int (*)(void *, const uint32_t *, size_t, double *))(n->instance, refs, (size_t)count, values);
  return CALL(n, GET_REAL, int (*)(void *, const uint32_t *, size_t, double *, size_t))(n->instance, refs, (size_t)count, values,
                                                                                        (size_t)count);
}

static int discrete(tg_unit *n, int *states_changed) {
  *states_changed = 0;
  n->next = INFINITY;
  for (int turns = 0; turns < 1000; turns++) {
    int again = 0, terminate = 0, changed = 0, has_next = 0;
    double next = 0.0;
    if (n->fmi == 2) {
      tg_event_info2 info = {0, 0, 0, 0, 0, 0.0};
      if (failed(n, "go through an event", CALL(n, NEW_DISCRETE, int (*)(void *, tg_event_info2 *))(n->instance, &info))) return 1;
      again = info.again, terminate = info.terminate, changed = info.states, has_next = info.has_next, next = info.next;
    } else {
      _Bool flags[5] = {0, 0, 0, 0, 0};
      if (failed(n, "go through an event",
                 CALL(n, NEW_DISCRETE, int (*)(void *, _Bool *, _Bool *, _Bool *, _Bool *, _Bool *, double *))(
                     n->instance, &flags[0], &flags[1], &flags[2], &flags[3], &flags[4], &next)))
        return 1;
      again = flags[0], terminate = flags[1], changed = flags[3], has_next = flags[4];
    }
    *states_changed |= changed;
    if (has_next) n->next = next;
    if (terminate) { snprintf(n->said, sizeof n->said, "the unit ends the run"); return 1; }
    if (!again) return 0;
  }
  snprintf(n->said, sizeof n->said, "the unit comes to no end in an event");
  return 1;
}

static int keep(tg_unit *n, int epoch) {
  if (!n->keeps) return 0;
  if (epoch >= n->room) {
    const int room = 2 * epoch + 8;
    void **more = realloc(n->kept, sizeof(void *) * (size_t)room);
    double *times = realloc(n->soon, sizeof(double) * (size_t)room);
    if (more) n->kept = more;
    if (times) n->soon = times;
    if (!more || !times) return 1;
    memset(more + n->room, 0, sizeof(void *) * (size_t)(room - n->room));
    n->room = room;
  }
  n->soon[epoch] = n->next;
  return failed(n, "keep its state", CALL(n, GET_STATE, int (*)(void *, void **))(n->instance, &n->kept[epoch]));
}

static void forget(tg_unit *n) {
  for (int k = 0; k < n->room; k++)
    if (n->kept[k]) CALL(n, FREE_STATE, int (*)(void *, void **))(n->instance, &n->kept[k]);
  if (n->room) memset(n->kept, 0, sizeof(void *) * (size_t)n->room);
}

/* From nothing to where a run begins, with these inputs and parameters. */
static int begin(tg_unit *n, double t, const double *u, const double *p) {
  if (!n->instance) {
    if (n->fmi == 2)
      n->instance = CALL(n, INSTANTIATE, void *(*)(const char *, int, const char *, const char *, const tg_callbacks2 *, int, int))(
          n->name, n->steps ? 1 : 0, n->token, n->resources_uri, &callbacks2, 0, 0);
    else if (n->steps)
      n->instance = CALL(n, INSTANTIATE, void *(*)(const char *, const char *, const char *, _Bool, _Bool, _Bool, _Bool,
                                                   const uint32_t *, size_t, void *, void (*)(void *, int, const char *, const char *),
                                                   void *))(n->name, n->token, n->resources, 0, 0, 0, 0, NULL, 0, NULL, quiet3, NULL);
    else
      n->instance = CALL(n, INSTANTIATE, void *(*)(const char *, const char *, const char *, _Bool, _Bool, void *,
                                                   void (*)(void *, int, const char *, const char *)))(n->name, n->token, n->resources,
                                                                                                       0, 0, NULL, quiet3);
    if (!n->instance) { snprintf(n->said, sizeof n->said, "the unit made no instance"); return 1; }
  } else {
    forget(n);
    if (failed(n, "begin again", CALL(n, RESET, int (*)(void *))(n->instance))) return 1;
  }
  /* First numbers that are no finite ones come from models that are looked at before they have a start. */
  n->is_known = 0, n->epoch = 0, n->count = 0, n->restarts = 0, n->start = t;
  if (failed(n, "take its parameters", set_reals(n, n->p, n->n_p, p))) return 1;
  if (n->fmi == 2) {
    if (failed(n, "set up", CALL(n, SETUP, int (*)(void *, int, double, double, int, double))(n->instance, 0, 0.0, t, 0, 0.0))) return 1;
    if (failed(n, "initialise", CALL(n, ENTER_INIT, int (*)(void *))(n->instance))) return 1;
  } else if (failed(n, "initialise", CALL(n, ENTER_INIT, int (*)(void *, _Bool, double, double, _Bool, double))(n->instance, 0, 0.0, t, 0, 0.0)))
    return 1;
  if (failed(n, "take its inputs", set_reals(n, n->u, n->n_u, u))) return 1;
  if (failed(n, "initialise", CALL(n, EXIT_INIT, int (*)(void *))(n->instance))) return 1;
  if (n->steps) return failed(n, "give its outputs", get_reals(n, n->y, n->n_y, n->outputs));
  int changed;
  if (discrete(n, &changed)) return 1;
  if (failed(n, "go on", CALL(n, ENTER_CONTINUOUS, int (*)(void *))(n->instance))) return 1;
  if (n->n_x && failed(n, "give its states", CALL(n, GET_STATES, int (*)(void *, double *, size_t))(n->instance, n->first, (size_t)n->n_x)))
    return 1;
  return keep(n, 0);
}

static int same(const double *a, const double *b, int n) { return n == 0 || memcmp(a, b, sizeof(double) * (size_t)n) == 0; }

static int finite(const double *a, int n) {
  for (int k = 0; k < n; k++)
    if (!(a[k] - a[k] == 0.0)) return 0;
  return 1;
}

/* Model exchange: everything at these arguments. */
static int evaluated(tg_unit *n, const double *a) {
  const int count = 2 + n->n_x + n->n_u + n->n_p;
  const double *x = a + 2, *u = x + n->n_x, *p = u + n->n_u;
  if (n->is_known && !n->restarts && same(a, n->known, count)) return 0;
  if (!finite(a, count)) { snprintf(n->said, sizeof n->said, "the unit is given what is not a number"); return 1; }
  const int epoch = (int)a[1];
  const int other = n->instance && !same(p, n->known + 2 + n->n_x + n->n_u, n->n_p);
  if (!n->instance || other || n->restarts || (epoch == 0 && n->epoch > 0 && !n->keeps)) {
    memcpy(n->known, a, sizeof(double) * (size_t)count);
    if (begin(n, a[0], u, p)) return 1;
  }
  if (epoch != n->epoch) {
    if (!n->keeps || epoch >= n->room || !n->kept[epoch]) {
      snprintf(n->said, sizeof n->said, "the unit cannot go back behind an event");
      return 1;
    }
    if (failed(n, "go back", CALL(n, SET_STATE, int (*)(void *, void *))(n->instance, n->kept[epoch]))) return 1;
    n->epoch = epoch, n->next = n->soon[epoch];
  }
  memcpy(n->known, a, sizeof(double) * (size_t)count);
  n->is_known = 0;
  if (failed(n, "take the time", CALL(n, SET_TIME, int (*)(void *, double))(n->instance, a[0]))) return 1;
  if (n->n_x && failed(n, "take its states", CALL(n, SET_STATES, int (*)(void *, const double *, size_t))(n->instance, x, (size_t)n->n_x)))
    return 1;
  if (failed(n, "take its inputs", set_reals(n, n->u, n->n_u, u))) return 1;
  if (n->n_x && failed(n, "give its rates", CALL(n, GET_RATES, int (*)(void *, double *, size_t))(n->instance, n->rates, (size_t)n->n_x)))
    return 1;
  if (failed(n, "give its outputs", get_reals(n, n->y, n->n_y, n->outputs))) return 1;
  if (n->n_z && failed(n, "give its indicators",
                       CALL(n, GET_INDICATORS, int (*)(void *, double *, size_t))(n->instance, n->indicators, (size_t)n->n_z)))
    return 1;
  n->is_known = 1;
  return 0;
}

/* Co-simulation: steps until the time of the arguments. */
static int stepped(tg_unit *n, const double *a) {
  const double t = a[0], *u = a + 1, *p = u + n->n_u;
  if (!finite(a, 1 + n->n_u + n->n_p)) { snprintf(n->said, sizeof n->said, "the unit is given what is not a number"); return 1; }
  const int other = n->instance && !same(p, n->known, n->n_p);
  if (!n->instance || other || (t <= n->start && n->count > 0)) {
    memcpy(n->known, p, sizeof(double) * (size_t)n->n_p);
    memcpy(n->held, u, sizeof(double) * (size_t)n->n_u);
    if (begin(n, t, u, p)) return 1;
  }
  if (t <= n->start) memcpy(n->held, u, sizeof(double) * (size_t)n->n_u);
  int moved = 0;
  while (t >= n->start + ((double)n->count + 1.0) * n->every - 1e-9 * n->every) {
    const double now = n->start + (double)n->count * n->every;
    if (failed(n, "take its inputs", set_reals(n, n->u, n->n_u, n->held))) return 1;
    int status;
    if (n->fmi == 2)
      status = CALL(n, DO_STEP, int (*)(void *, double, double, int))(n->instance, now, n->every, 1);
    else {
      _Bool event = 0, end = 0, early = 0;
      double last = 0.0;
      status = CALL(n, DO_STEP, int (*)(void *, double, double, _Bool, _Bool *, _Bool *, _Bool *, double *))(
          n->instance, now, n->every, 1, &event, &end, &early, &last);
      if (end) { snprintf(n->said, sizeof n->said, "the unit ends the run"); return 1; }
    }
    if (failed(n, "make a step", status)) return 1;
    n->count++, moved = 1;
  }
  if (moved) {
    memcpy(n->held, u, sizeof(double) * (size_t)n->n_u);
    return failed(n, "give its outputs", get_reals(n, n->y, n->n_y, n->outputs));
  }
  return 0;
}

double tg_external(void *host, int k, const double *arguments) {
  tg_host *h = (tg_host *)host;
  if (!h->entries && h->make()) return NAN;
  const tg_entry *e = h->entries + k;
  if (!e->unit) return e->function(k, arguments);
  if (e->unit->steps ? stepped(e->unit, arguments) : evaluated(e->unit, arguments)) return NAN;
  return (e->what == RATE ? e->unit->rates : e->what == OUTPUT ? e->unit->outputs : e->unit->indicators)[e->place];
}

/* The event at the last arguments: new states in x. Returns 1 where it failed. */
int tg_unit_event(tg_unit *n, double *x, double *next) {
  int changed;
  if (!n->is_known) return 1;
  if (n->completed) {
    if (n->fmi == 2) {
      int enter = 0, end = 0;
      CALL(n, COMPLETED, int (*)(void *, int, int *, int *))(n->instance, 1, &enter, &end);
    } else {
      _Bool enter = 0, end = 0;
      CALL(n, COMPLETED, int (*)(void *, _Bool, _Bool *, _Bool *))(n->instance, 1, &enter, &end);
    }
  }
  if (failed(n, "enter an event", CALL(n, ENTER_EVENTS, int (*)(void *))(n->instance))) return 1;
  if (failed(n, "take its inputs", set_reals(n, n->u, n->n_u, n->known + 2 + n->n_x))) return 1;
  if (discrete(n, &changed)) return 1;
  if (n->n_x) {
    if (changed) {
      if (failed(n, "give its states", CALL(n, GET_STATES, int (*)(void *, double *, size_t))(n->instance, x, (size_t)n->n_x))) return 1;
    } else
      memcpy(x, n->known + 2, sizeof(double) * (size_t)n->n_x);
  }
  if (failed(n, "go on", CALL(n, ENTER_CONTINUOUS, int (*)(void *))(n->instance))) return 1;
  *next = n->next;
  n->is_known = 0;
  n->epoch++;
  return keep(n, n->epoch);
}

void tg_unit_end(tg_unit *n) {
  if (!n->instance) return;
  forget(n);
  CALL(n, TERMINATE, int (*)(void *))(n->instance);
  CALL(n, FREE, void (*)(void *))(n->instance);
  n->instance = NULL;
}
