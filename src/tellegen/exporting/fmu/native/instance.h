/* One instance of an exported model: one flat struct without pointers, so that its state is a copy of it. What FMI 2 and FMI 3 call is
 * written in fmi2.c and fmi3.c; here is what both do, in model exchange and in co-simulation.
 *
 * Before this file stand the code of the model, its sizes (TG_Y, TG_U, ...) and the tables that do not change.
 */
#define TG_SIZE(n) ((n) ? (n) : 1)

enum { TG_FIRST_Y = 1, TG_FIRST_RATE = TG_FIRST_Y + TG_Y, TG_FIRST_U = TG_FIRST_RATE + TG_Y, TG_FIRST_P = TG_FIRST_U + TG_U };
enum { TG_FIRST_GIVEN = TG_FIRST_P + TG_P, TG_FIRST_OBSERVABLE = TG_FIRST_GIVEN + TG_GIVEN };
enum { TG_FIRST_EVENT = TG_FIRST_OBSERVABLE + TG_OBSERVABLES, TG_LAST = TG_FIRST_EVENT + TG_EVENTS };
enum { TG_FIRST_DELAY = 2 * TG_GROUPS + 2 * TG_BREAKS, TG_TIMES = TG_FIRST_DELAY + TG_DELAYS };

/* A change of mode: where its guard stands among the event functions, the element, the word that it changes to, whether it is an impact, and
 * the observable that is the speed of the impact. */
typedef struct tg_change {
  int event, element, to, impact, speed;
} tg_change;

/* The functions of one mode, and where its variables stand among those of all modes. A storage that follows others in the mode is none of
 * its variables: the mode tells it. */
typedef struct tg_mode {
  int n, n_states, n_events, n_following, n_changes, n_colours;
  tg_rhs_fn *rhs;
  tg_rhs_tangent_fn *rhs_tangent;
  tg_observe_fn *observe;
  tg_events_fn *events;
  tg_sample_fn *sample;
  tg_following_fn *follow;
  tg_rates_along_fn *rates_along;
  tg_outputs_along_fn *outputs_along;
  tg_constants_fn *restitutions;
  const int *places, *observables, *following, *told;
  const int *columns, *rows, *colours, *order;
  const int *directions, *terminal, *bends;
  const tg_change *changes;
  const int *words;
} tg_mode;

/* What has happened to an instance. */
enum { TG_INSTANTIATED, TG_INITIALIZING, TG_EVENT_MODE, TG_CONTINUOUS, TG_STEPPING, TG_TERMINATED };

/* Whose values they are: a state that an importer hands back may be that of an instance of the other kind. */
enum { TG_OF_MODEL_EXCHANGE = 0x74676d65, TG_OF_CO_SIMULATION = 0x74676373 };

/* All that moves or may be set. */
typedef struct tg_values {
  int phase, known, stiff, has_stop, mode, kind;
  double t, low, high; /* formulas see no time outside of the last and the next known break */
  double stop, rtol, step;
  double y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)], u[TG_SIZE(TG_U)], p[TG_SIZE(TG_P)];
  double memory[TG_SIZE(TG_MEMORY)], scratch[TG_SIZE(TG_SCRATCH)];
  double given[TG_SIZE(TG_GIVEN)], observed[TG_SIZE(TG_OBSERVABLES)], events[TG_SIZE(TG_EVENTS)];
  double times[TG_SIZE(TG_TIMES)];
  double largest[TG_SIZE(TG_ELEMENTS)][TG_WORDS][TG_WORDS]; /* value of each guard so far, to tell zero from small */
  double fastest[TG_SIZE(TG_ELEMENTS)], scale[TG_SIZE(TG_Y)];
  char was_set[TG_SIZE(TG_Y)]; /* starts that the importer gave: no formula is asked for them */
} tg_values;

/* The context first: functions of the model are handed it, and find the bounds of time behind it. */
typedef struct tg_bounded {
  tg_context context;
  tg_values *values;
} tg_bounded;

typedef struct tg_instance {
  tg_bounded model;
  tg_values values;
  int co_simulation, logging;
  tg_history history; /* of delayed signals, which co-simulation alone has */
  double first_values[TG_SIZE(TG_DELAYS)], observed_then[TG_SIZE(TG_MOST_OBSERVED)];
  tg_environment environment;
  char message[256];
} tg_instance;

static void tg_say(tg_instance *x, const char *text, const char *name);

static void tg_open(tg_instance *x) {
  tg_values *v = &x->values;
  x->model.values = v;
  x->model.context = (tg_context){.parameters = v->p, .inputs = v->u, .memory = v->memory, .values = v->scratch, .tables = tg_tables_of};
  if (!TG_DELAYS) return;
  x->history = (tg_history){.n_delays = TG_DELAYS, .observables = tg_delayed_of, .initial = x->first_values, .most_echoes = 4};
  x->history.delays = v->times + TG_FIRST_DELAY;
  x->history.scratch = x->observed_then;
  x->model.context.past = tg_past;
  x->model.context.history = &x->history;
}

static void tg_reset(tg_instance *x) {
  tg_values *v = &x->values;
  memset(v, 0, sizeof *v);
  v->kind = x->co_simulation ? TG_OF_CO_SIMULATION : TG_OF_MODEL_EXCHANGE;
  memcpy(v->p, tg_parameters_of, sizeof(double) * TG_P);
  memcpy(v->u, tg_inputs_of, sizeof(double) * TG_U);
  v->rtol = TG_RTOL;
  v->stiff = TG_STIFF_START;
  v->mode = TG_START_MODE;
  v->low = -INFINITY;
  v->high = INFINITY;
}

/* ---- the model, seen through the bounds of time -------------------------------------------------------------------------- */

/* What stands behind a break must not be seen from a step that ends there. */
static double tg_seen(const tg_context *c, double t) {
  const tg_values *v = ((const tg_bounded *)c)->values;
  return t < v->low ? v->low : t > v->high ? v->high : t;
}

static tg_values *tg_values_of(tg_context *c) {
  return ((tg_bounded *)c)->values;
}

static const tg_mode *tg_mode_of(tg_context *c);
static void tg_moved(tg_values *v);

static int tg_seen_rhs(tg_context *c, double t, const double *y, double *yp) {
  return tg_mode_of(c)->rhs(c, tg_seen(c, t), y, yp);
}

static int tg_seen_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *dyp) {
  return tg_mode_of(c)->rhs_tangent(c, tg_seen(c, t), y, dy, dp, dyp);
}

static int tg_seen_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
  return tg_mode_of(c)->observe(c, tg_seen(c, t), y, yp, out);
}

static int tg_seen_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {
  return tg_mode_of(c)->sample(c, tg_seen(c, t), y, yp, group, memory);
}

/* Event functions of the mode, and formulas of time that vanish where something bends. */
static int tg_seen_events(tg_context *c, double t, const double *y, const double *yp, double *g) {
  const tg_mode *m = tg_mode_of(c);
  double s = tg_seen(c, t);
  return (m->n_events > TG_CROSSINGS && m->events(c, s, y, yp, g)) || (TG_CROSSINGS && tg_crossings(c, s, g + m->n_events - TG_CROSSINGS));
}

#include "modes.h"

/* ---- values -------------------------------------------------------------------------------------------------------------- */

enum { TG_KNOWN_RATES = 1, TG_KNOWN_OBSERVED = 2, TG_KNOWN_EVENTS = 4, TG_KNOWN_GIVEN = 8, TG_KNOWN_TIMES = 16 };

static void tg_failed(tg_instance *x) {
  int k = TG_MODES > 1 ? -1 : x->model.context.failed - 1;
  tg_say(x, "is not a finite number", k >= 0 && k < (int)(sizeof tg_names_of / sizeof *tg_names_of) ? tg_names_of[k] : "a variable");
}

/* Formulas of parameters, for the start that nobody has set. */
static int tg_make_starts(tg_instance *x) {
  tg_values *v = &x->values;
  double first[TG_SIZE(TG_Y + TG_MEMORY + TG_DELAYS)];
  if (tg_initial(&x->model.context, v->t, first)) return 1;
  for (int k = 0; k < TG_Y; k++)
    if (!v->was_set[k]) v->y[k] = first[k];
  memcpy(v->memory, first + TG_Y, sizeof(double) * TG_MEMORY);
  memcpy(x->first_values, first + TG_Y + TG_MEMORY, sizeof(double) * TG_DELAYS);
  v->known = 0;
  return 0;
}

static int tg_know_rates(tg_instance *x) {
  tg_values *v = &x->values;
  if (v->phase <= TG_INITIALIZING && !(v->known & TG_KNOWN_RATES) && tg_make_starts(x)) return 1;
  if (!(v->known & TG_KNOWN_RATES) && tg_common_rates(&x->model.context, v->t, v->y, v->yp)) {
    tg_failed(x);
    return 1;
  }
  v->known |= TG_KNOWN_RATES;
  return 0;
}

static int tg_know(tg_instance *x, int what) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  if ((v->known & what) == what) return 0;
  if (what == TG_KNOWN_GIVEN) {
    if (tg_derived(c, v->t, v->given)) return 1;
  } else if (what == TG_KNOWN_TIMES) {
    if (tg_times(c, v->t, v->times)) return 1;
  } else {
    if (tg_know_rates(x)) return 1;
    if (what == TG_KNOWN_OBSERVED && tg_common_observe(c, v->t, v->y, v->observed)) {
      tg_failed(x);
      return 1;
    }
    if (what == TG_KNOWN_EVENTS && tg_common_events(c, v->t, v->y, v->events)) return 1;
  }
  v->known |= what;
  return 0;
}

/* A state, an input or the time has changed: what follows from them is not known any more. */
static void tg_moved(tg_values *v) {
  v->known &= ~(TG_KNOWN_RATES | TG_KNOWN_OBSERVED | TG_KNOWN_EVENTS);
}

/* Returns 1 for a reference that there is not, 2 where the value is not a finite number. */
static int tg_get(tg_instance *x, unsigned reference, double *value) {
  tg_values *v = &x->values;
  int r = reference < TG_LAST ? (int)reference : -1;
  if (r < 0) return 1;
  if (r == 0) {
    *value = v->t;
  } else if (r < TG_FIRST_RATE) {
    if (v->phase <= TG_INITIALIZING && tg_make_starts(x)) return 2;
    if (tg_tell_followers(&x->model.context, v->t, v->y)) return 2;
    *value = v->y[r - TG_FIRST_Y];
  } else if (r < TG_FIRST_U) {
    if (tg_know_rates(x)) return 2;
    *value = v->yp[r - TG_FIRST_RATE];
  } else if (r < TG_FIRST_P) {
    *value = v->u[r - TG_FIRST_U];
  } else if (r < TG_FIRST_GIVEN) {
    *value = v->p[r - TG_FIRST_P];
  } else if (r < TG_FIRST_OBSERVABLE) {
    if (tg_know(x, TG_KNOWN_GIVEN)) return 2;
    *value = v->given[r - TG_FIRST_GIVEN];
  } else if (r < TG_FIRST_EVENT) {
    if (tg_know(x, TG_KNOWN_OBSERVED)) return 2;
    *value = v->observed[r - TG_FIRST_OBSERVABLE];
  } else {
    if (tg_know(x, TG_KNOWN_EVENTS)) return 2;
    *value = v->events[r - TG_FIRST_EVENT];
  }
  return 0;
}

/* Returns 1 for what cannot be set, at all or any more. */
static int tg_set(tg_instance *x, unsigned reference, double value) {
  tg_values *v = &x->values;
  int r = reference < TG_LAST ? (int)reference : 0, early = v->phase <= TG_INITIALIZING;
  if (r >= TG_FIRST_Y && r < TG_FIRST_RATE && (early || !x->co_simulation)) {
    v->y[r - TG_FIRST_Y] = value;
    if (early) v->was_set[r - TG_FIRST_Y] = 1;
    tg_moved(v);
  } else if (r >= TG_FIRST_U && r < TG_FIRST_P) {
    /* What is delayed jumps with an input. */
    if (v->u[r - TG_FIRST_U] != value) x->history.breaks = 1;
    v->u[r - TG_FIRST_U] = value;
    tg_moved(v);
  } else if (r >= TG_FIRST_P && r < TG_FIRST_GIVEN && (early || !tg_fixed_of[r - TG_FIRST_P])) {
    v->p[r - TG_FIRST_P] = value;
    v->known = 0;
  } else {
    return 1;
  }
  return 0;
}

/* The number of the mode of an element. */
static int tg_get_integer(tg_instance *x, unsigned reference, int *value) {
  if (reference < TG_LAST || reference >= TG_LAST + TG_ELEMENTS) return 1;
  *value = tg_modes_of[x->values.mode].words[reference - TG_LAST];
  return 0;
}

static void tg_close(tg_instance *x) {
  if (TG_DELAYS) tg_forget(&x->history);
}

/* ---- slopes -------------------------------------------------------------------------------------------------------------- */

/* The place of a reference among the outputs that have slopes; -1 where it has none. */
static TG_UNUSED int tg_place_of_output(unsigned reference) {
  for (int k = 0; k < TG_OUTPUTS; k++)
    if (tg_outputs_of[k] == (int)reference) return k;
  return -1;
}

/* Slopes of states, and of the rates and outputs that are asked for, along a direction, in the present mode. A storage that follows
 * others is what the mode tells it, and moves with them. */
static TG_UNUSED int tg_slopes(tg_instance *x, const double *dy, const double *du, const double *dp, double *states, double *rates,
                               double *outputs) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  const tg_mode *m = tg_mode_of(c);
  int along_p = 0, shown = 0;
  double t = tg_seen(c, v->t), y[TG_SIZE(TG_Y)], own[TG_SIZE(TG_Y)], found[TG_SIZE(TG_OUTPUTS + TG_Y)];
  tg_own(m, v->y, y);
  tg_own(m, dy, own);
  memcpy(states, dy, sizeof(double) * TG_SIZE(TG_Y));
  for (int k = 0; k < TG_P; k++) along_p |= dp[k] != 0;
  if (!along_p) dp = 0;
  if (rates) {
    if (m->rates_along(c, t, y, own, du, dp, found)) return 1;
    for (int k = 0; k < TG_Y; k++) rates[k] = 0;
    for (int k = 0; k < m->n; k++) rates[m->places[k]] = found[k];
    for (int k = 0; k < m->n_following; k++) rates[m->following[k]] = found[m->n + k];
  }
  if (!m->n_following && !(TG_OUTPUTS && outputs)) return 0;
  if (m->outputs_along(c, t, y, own, du, dp, found)) return 1;
  for (int k = 0; k < TG_OUTPUTS; k++) {
    double slope = m->observables[tg_outputs_of[k] - TG_FIRST_OBSERVABLE] < 0 ? NAN : found[shown++];
    if (outputs) outputs[k] = slope;
  }
  for (int k = 0; k < m->n_following; k++) states[m->following[k]] = found[shown + k];
  return 0;
}

/* Slopes of unknowns along a direction of knowns. Returns 1 for references that have none, 2 where a value is not finite. */
static int tg_along(tg_instance *x, const unsigned *unknown, size_t n_unknown, const unsigned *known, size_t n_known, const double *seed,
                    double *slope) {
  double dy[TG_SIZE(TG_Y)] = {0}, du[TG_SIZE(TG_U)] = {0}, dp[TG_SIZE(TG_P)] = {0};
  double states[TG_SIZE(TG_Y)], rates[TG_SIZE(TG_Y)], outputs[TG_SIZE(TG_OUTPUTS)];
  int ask_rates = 0, ask_outputs = 0;
  for (size_t i = 0; i < n_known; i++) {
    int r = known[i] < TG_LAST ? (int)known[i] : 0;
    if (r >= TG_FIRST_Y && r < TG_FIRST_RATE) dy[r - TG_FIRST_Y] = seed[i];
    else if (r >= TG_FIRST_U && r < TG_FIRST_P) du[r - TG_FIRST_U] = seed[i];
    else if (r >= TG_FIRST_P && r < TG_FIRST_GIVEN) dp[r - TG_FIRST_P] = seed[i];
    else return 1;
  }
  for (size_t i = 0; i < n_unknown; i++) {
    int r = unknown[i] < TG_LAST ? (int)unknown[i] : 0;
    if (tg_place_of_output(unknown[i]) >= 0) ask_outputs = 1;
    else if (r >= TG_FIRST_RATE && r < TG_FIRST_U) ask_rates = 1;
    else if (r < TG_FIRST_Y || r >= TG_FIRST_RATE) return 1;
  }
  if (tg_know_rates(x) || tg_slopes(x, dy, du, dp, states, ask_rates ? rates : 0, ask_outputs ? outputs : 0)) return 2;
  for (size_t i = 0; i < n_unknown; i++) {
    int r = (int)unknown[i];
    slope[i] = r < TG_FIRST_RATE ? states[r - TG_FIRST_Y] : r < TG_FIRST_U ? rates[r - TG_FIRST_RATE] : outputs[tg_place_of_output(unknown[i])];
    if (!isfinite(slope[i])) return 2;
  }
  return 0;
}

/* ---- the state as bytes -------------------------------------------------------------------------------------------------- */

/* Bytes come from files, and maybe from those of another unit: before the values stand the token of the unit and a sum over them. */
enum { TG_FIRST_BYTE = sizeof TG_TOKEN + sizeof(uint64_t), TG_BYTES = TG_FIRST_BYTE + sizeof(tg_values) };

static uint64_t tg_sum_of(const unsigned char *bytes) {
  uint64_t sum = 14695981039346656037u; /* FNV-1a */
  for (size_t k = 0; k < sizeof(tg_values); k++) sum = (sum ^ bytes[k]) * 1099511628211u;
  return sum;
}

static TG_UNUSED void tg_put_state(const tg_values *v, unsigned char *bytes) {
  memcpy(bytes + TG_FIRST_BYTE, v, sizeof *v);
  uint64_t sum = tg_sum_of(bytes + TG_FIRST_BYTE);
  memcpy(bytes, TG_TOKEN, sizeof TG_TOKEN);
  memcpy(bytes + sizeof TG_TOKEN, &sum, sizeof sum);
}

/* Values that the instance can go on from; null where the bytes are none of this unit, or what they say would lead astray. */
static TG_UNUSED tg_values *tg_state_from(const tg_instance *x, const unsigned char *bytes, size_t size) {
  if (!bytes || size != TG_BYTES || memcmp(bytes, TG_TOKEN, sizeof TG_TOKEN)) return 0;
  uint64_t sum = tg_sum_of(bytes + TG_FIRST_BYTE);
  tg_values *v = memcmp(bytes + sizeof TG_TOKEN, &sum, sizeof sum) ? 0 : malloc(sizeof *v);
  if (!v) return 0;
  memcpy(v, bytes + TG_FIRST_BYTE, sizeof *v);
  if (v->kind != x->values.kind || v->phase < TG_INSTANTIATED || v->phase > TG_TERMINATED || v->mode < 0 || v->mode >= TG_MODES || !tg_modes_of[v->mode].rhs) {
    free(v);
    return 0;
  }
  v->known &= ~TG_KNOWN_TIMES; /* they follow from parameters, and bound what is looped over */
  return v;
}

/* ---- known times --------------------------------------------------------------------------------------------------------- */

/* The first of at, at + period, ... strictly behind t. */
static double tg_next_of(double t, double at, double period) {
  double gap = 4 * tg_gap(t);
  if (at > t + gap) return at;
  if (!(period > 0)) return INFINITY;
  return at + period * (floor((t - at + gap) / period) + 1);
}

/* The next time at which a sample is taken or a course breaks. */
static double tg_next_time(tg_instance *x, double t) {
  tg_values *v = &x->values;
  double next = INFINITY;
  if (tg_know(x, TG_KNOWN_TIMES)) return next;
  for (int k = 0; k < TG_GROUPS; k++) next = fmin(next, tg_next_of(t, v->times[2 * k + 1], v->times[2 * k]));
  for (int k = 0; k < TG_BREAKS; k++) {
    double at = v->times[2 * TG_GROUPS + 2 * k], period = v->times[2 * TG_GROUPS + 2 * k + 1];
    /* A course that repeats itself did so before, too. */
    next = fmin(next, tg_next_of(t, period > 0 ? fmod(at, period) : at, period));
  }
  return next;
}

/* Let the groups due at a time take their samples; all of them read the values from before it. */
static int tg_sample_at(tg_instance *x, double t, int first) {
  tg_values *v = &x->values;
  double next[TG_SIZE(TG_MEMORY)], taken[TG_SIZE(TG_MEMORY)], y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)];
  const tg_mode *m = tg_modes_of + v->mode;
  if (!TG_GROUPS) return 0;
  if (tg_know(x, TG_KNOWN_TIMES) || tg_know_rates(x)) return 1;
  memcpy(next, v->memory, sizeof next);
  tg_own(m, v->y, y);
  tg_own(m, v->yp, yp);
  for (int g = 0; g < TG_GROUPS; g++) {
    double period = v->times[2 * g], offset = v->times[2 * g + 1], gap = 4 * tg_gap(t);
    if (!(period > 0)) continue; /* a latch, which no clock moves */
    double nearest = offset + period * floor((t - offset) / period + 0.5);
    if (!(fabs(nearest - t) <= gap && nearest >= offset - gap) && !(first && offset == t)) continue;
    memcpy(taken, v->memory, sizeof taken);
    if (m->sample(&x->model.context, tg_seen(&x->model.context, v->t), y, yp, g, taken)) return 1;
    for (int k = 0; k < TG_MEMORY; k++)
      if (taken[k] != v->memory[k]) next[k] = taken[k];
  }
  memcpy(v->memory, next, sizeof next);
  tg_moved(v);
  return 0;
}

/* Let latches take what they would hold a moment later, together and again until none changes; tells whether any did. */
static int tg_settle_held_ahead(tg_instance *x, double ahead, int *changed) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  for (int round = 0; round < TG_MOST_ANSWERS; round++) {
    double next[TG_SIZE(TG_MEMORY)], taken[TG_SIZE(TG_MEMORY)], y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)], later[TG_SIZE(TG_Y)], rates[TG_SIZE(TG_Y)];
    const tg_mode *m = tg_modes_of + v->mode;
    if (tg_know_rates(x)) return 1;
    for (int k = 0; k < TG_Y; k++) later[k] = v->y[k] + 0.5 * ahead * v->yp[k];
    if (tg_common_rates(c, v->t + 0.5 * ahead, later, rates)) return 1;
    for (int k = 0; k < TG_Y; k++) later[k] = v->y[k] + ahead * rates[k];
    memcpy(next, v->memory, sizeof next);
    tg_own(m, later, y);
    tg_own(m, rates, yp);
    for (int g = 0; g < TG_GROUPS; g++) {
      if (v->times[2 * g] > 0) continue;
      memcpy(taken, v->memory, sizeof taken);
      if (m->sample(c, tg_seen(c, v->t), y, yp, g, taken)) return 1;
      for (int k = 0; k < TG_MEMORY; k++)
        if (taken[k] != v->memory[k]) next[k] = taken[k];
    }
    if (!memcmp(next, v->memory, sizeof next)) return 0;
    memcpy(v->memory, next, sizeof next);
    tg_moved(v);
    *changed = 1;
  }
  return 1;
}

/* How far latches look ahead: a moment; or until an event function that is about to be zero has passed it, for importers stop on either
 * side; or longer where one is zero, as of a body that is set in motion just now. */
static int tg_moments(tg_instance *x, double *moment, double *longer) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  double run = fmax(fabs(v->t), v->has_stop ? fabs(v->stop) : 1), g[TG_SIZE(TG_EVENTS)], h[TG_SIZE(TG_EVENTS)], later[TG_SIZE(TG_Y)];
  *moment = TG_MOMENT * run;
  *longer = 0;
  if (!TG_EVENTS) return 0;
  if (tg_know_rates(x) || tg_common_events(c, v->t, v->y, g)) return 1;
  double probe = 1e-3 * TG_LONG_MOMENT * run;
  for (int k = 0; k < TG_Y; k++) later[k] = v->y[k] + probe * v->yp[k];
  if (tg_common_events(c, v->t + probe, later, h)) return 1;
  for (int e = 0; e < TG_EVENTS; e++) {
    double left = g[e] * (h[e] - g[e]) < 0 ? probe * fabs(g[e] / (h[e] - g[e])) : 0;
    if (left < TG_LONG_MOMENT * run) *moment = fmax(*moment, 2 * left);
    if (g[e] == 0) *longer = TG_LONG_MOMENT * run;
  }
  return 0;
}

static int tg_settle_held(tg_instance *x, int *changed) {
  double moment, longer;
  *changed = 0;
  int latches = 0;
  if (!TG_GROUPS) return 0;
  if (tg_know(x, TG_KNOWN_TIMES)) return 1;
  for (int g = 0; g < TG_GROUPS; g++) latches |= !(x->values.times[2 * g] > 0);
  if (!latches) return 0;
  if (tg_moments(x, &moment, &longer) || tg_settle_held_ahead(x, moment, changed)) return 1;
  return !*changed && longer > 0 && tg_settle_held_ahead(x, longer, changed);
}

/* From now on formulas see what is behind a known time. */
static void tg_pass(tg_instance *x, double t) {
  tg_values *v = &x->values;
  double next = tg_next_time(x, t);
  v->low = t + tg_gap(t);
  v->high = isfinite(next) ? next - tg_gap(next) : INFINITY;
  tg_moved(v);
}

/* ---- the life of an instance ---------------------------------------------------------------------------------------------- */

static int tg_enter_initialization(tg_instance *x, double start, int has_stop, double stop, double rtol) {
  tg_values *v = &x->values;
  v->phase = TG_INITIALIZING;
  v->t = start;
  v->has_stop = has_stop;
  v->stop = stop;
  if (rtol > 0) v->rtol = fmin(rtol, TG_RTOL);
  v->known = 0;
  return tg_make_starts(x);
}

static int tg_exit_initialization(tg_instance *x) {
  tg_values *v = &x->values;
  if (tg_make_starts(x)) return 1;
  v->phase = x->co_simulation ? TG_STEPPING : TG_EVENT_MODE;
  double next = tg_next_time(x, v->t);
  v->low = v->t; /* what a course is at its start, it is from its start on */
  v->high = isfinite(next) ? next - tg_gap(next) : INFINITY;
  tg_moved(v);
  if (TG_MODES > 1 && tg_settle_modes(x, v->t, 1e-6 * (v->has_stop ? v->stop - v->t : 1), 0, 0)) return 1;
  int changed;
  if (tg_sample_at(x, v->t, 1) || tg_settle_held(x, &changed)) return 1;
  if (TG_MODES > 1 && TG_GROUPS && tg_settle_modes(x, v->t, 1e-6 * (v->has_stop ? v->stop - v->t : 1), 0, 0)) return 1;
  return tg_know_rates(x);
}

/* Everything that happens at the present time in model exchange; tells when the next known event is. */
static int tg_update_discrete(tg_instance *x, double *next, int *moved) {
  tg_values *v = &x->values;
  *moved = 0;
  if (v->t >= v->high - 4 * tg_gap(v->t)) {
    double at = tg_next_time(x, v->low);
    if (tg_sample_at(x, at, 0)) return 1;
    tg_pass(x, at);
  }
  int changed;
  if (tg_settle_held(x, &changed)) return 1;
  if (TG_MODES > 1 && tg_change_in_event_mode(x, moved)) return 1;
  if (TG_MODES > 1 && tg_settle_held(x, &changed)) return 1;
  *next = tg_next_time(x, fmax(v->low, v->t));
  return tg_know_rates(x);
}

/* ---- co-simulation -------------------------------------------------------------------------------------------------------- */

static int tg_advance(tg_instance *x, double until) {
  tg_values *v = &x->values;
  const tg_mode *m = tg_modes_of + v->mode;
  double atol[TG_SIZE(TG_Y)], y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)] = {0}, times[16];
  int numbers[16], signs[TG_SIZE(TG_EVENTS)] = {0};
  tg_own(m, v->y, y);
  for (int k = 0; k < m->n; k++) {
    double nominal = tg_nominal_of[m->places[k]];
    atol[k] = 1e-3 * v->rtol * (nominal > 0 ? fmin(nominal, 1.0) : 1.0);
  }
  tg_job j = {.context = &x->model.context, .rhs = tg_seen_rhs, .rhs_tangent = tg_seen_tangent, .events = tg_seen_events};
  j.observe = tg_seen_observe;
  double periods[TG_SIZE(TG_GROUPS)], offsets[TG_SIZE(TG_GROUPS)];
  if (TG_GROUPS && tg_know(x, TG_KNOWN_TIMES)) return TG_NOT_FINITE;
  /* Latches change on the way; what a clock moves is sampled between two advances. */
  for (int g = 0; g < TG_GROUPS; g++) {
    int timed = v->times[2 * g] > 0;
    periods[g] = timed ? DBL_MAX : 0;
    offsets[g] = timed ? DBL_MAX : 0;
    if (!timed) j.n_groups = TG_GROUPS;
  }
  j.sample = tg_seen_sample;
  j.periods = periods;
  j.offsets = offsets;
  j.n_memory = TG_MEMORY;
  j.n = m->n;
  j.blocks = 1;
  j.n_states = m->n_states;
  j.n_differential = m->n;
  j.n_events = m->n_events;
  j.columns = m->columns;
  j.rows = m->rows;
  j.colours = m->colours;
  j.n_colours = m->n_colours;
  j.order = m->order;
  j.until = until;
  j.directions = m->directions;
  j.terminal = m->terminal;
  j.bends = m->bends;
  j.rtol = v->rtol;
  j.atol = atol;
  j.max_step = TG_LONGEST_STEP;
  j.first_step = v->step;
  j.max_steps = 100000000;
  j.watch_stiffness = !TG_DELAYS;
  if (TG_DELAYS) {
    if (tg_know(x, TG_KNOWN_TIMES)) return TG_NOT_FINITE;
    j.history = &x->history;
    /* No step may reach beyond what the past already tells. */
    for (int k = 0; k < TG_DELAYS; k++) j.max_step = fmin(j.max_step, x->history.delays[k]);
  }
  j.pause_at = INFINITY;
  j.t = v->t;
  j.y = y;
  j.yp = yp;
  j.event_times = times;
  j.event_numbers = numbers;
  j.log_size = 16;
  j.event_signs = signs;
  int status = TG_STIFF;
  if (!v->stiff || TG_DELAYS) status = tg_runge_kutta(&j);
  if (status == TG_STIFF) {
    v->stiff = 1;
    /* What fast storages take hangs on rates, which magnify the error of states. */
    j.rtol *= 0.01;
    for (int k = 0; k < m->n; k++) atol[k] *= 0.01;
    status = tg_rosenbrock(&j);
  }
  v->t = j.t;
  for (int k = 0; k < m->n; k++) v->y[m->places[k]] = y[k];
  if (j.last_step > 0) v->step = j.last_step;
  tg_moved(v);
  if (status != TG_EVENT) return status;
  int fired = 0;
  for (int i = 0; i < m->n_changes; i++)
    if (signs[m->changes[i].event]) fired |= 1 << i;
  v->step *= 0.1;
  return tg_change_mode(x, fired) ? TG_NO_CONVERGENCE : 0;
}

/* From the present time to a communication point, over all that is known to happen on the way. */
static int tg_step_to(tg_instance *x, double end) {
  tg_values *v = &x->values;
  if (TG_Y == 0) { /* nothing to integrate: samples alone */
    for (double next = tg_next_time(x, v->t); next <= end + 4 * tg_gap(end); next = tg_next_time(x, next)) {
      v->t = next;
      tg_moved(v);
      int changed;
      if (tg_sample_at(x, next, 0)) return TG_NOT_FINITE;
      tg_pass(x, next);
      if (tg_settle_held(x, &changed)) return TG_NOT_FINITE;
    }
    v->t = end;
    tg_moved(v);
    return 0;
  }
  while (v->t < end) {
    double next = tg_next_time(x, fmax(v->t, v->low));
    int meets = next <= end + 4 * tg_gap(end);
    double until = meets ? next - tg_gap(next) : end;
    int status = until > v->t ? tg_advance(x, until) : 0;
    if (status) return status;
    if (v->t < until) continue; /* a mode has ended on the way */
    if (meets) {
      v->t = next;
      tg_moved(v);
      int changed;
      if (tg_sample_at(x, next, 0)) return TG_NOT_FINITE;
      tg_pass(x, next);
      if (tg_settle_held(x, &changed)) return TG_NOT_FINITE;
      v->t = v->low;
      v->step *= 0.1;
      /* What a course or a sample makes jump may end a mode. */
      if (TG_MODES > 1 && tg_settle_modes(x, v->t, fmax(1e-6 * v->step, 4096 * tg_gap(v->t)), 0, 0)) return TG_NO_CONVERGENCE;
    }
  }
  return tg_know_rates(x) ? TG_NOT_FINITE : 0;
}
