/* FMI 3.0: every function of the standard, in terms of instance.h. */
#define TG_OF(c) tg_instance *x = (tg_instance *)(c); tg_values *v = &x->values; (void)v

static void tg_say(tg_instance *x, const char *text, const char *name) {
  snprintf(x->message, sizeof x->message, "'%s' %s at t = %.9g s", name, text, x->values.t);
  if (x->environment.log) x->environment.log(x->environment.environment, fmi3Error, "logStatusError", x->message);
}

static fmi3Status tg_refused(tg_instance *x, const char *what) {
  tg_say(x, "cannot be called like this", what);
  return fmi3Error;
}

TG_EXPORT const char *fmi3GetVersion(void) { return "3.0"; }

static fmi3Instance tg_instantiate(fmi3String token, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                   int co_simulation) {
  if (!token || strcmp(token, TG_TOKEN) || (!co_simulation && !TG_MODEL_EXCHANGE)) {
    if (log) log(environment, fmi3Error, "logStatusError", "this is not the unit " TG_TOKEN);
    return 0;
  }
  tg_instance *x = calloc(1, sizeof *x);
  if (!x) return 0;
  x->environment.log = log;
  x->environment.environment = environment;
  x->co_simulation = co_simulation;
  x->logging = logging;
  tg_reset(x);
  tg_open(x);
  return x;
}

TG_EXPORT fmi3Instance fmi3InstantiateModelExchange(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                    fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log) {
  (void)name, (void)resources, (void)visible;
  return tg_instantiate(token, logging, environment, log, 0);
}

TG_EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                   fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early,
                                                   const fmi3ValueReference required[], size_t n_required,
                                                   fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                                   fmi3IntermediateUpdateCallback update) {
  (void)name, (void)resources, (void)visible, (void)early, (void)required, (void)n_required, (void)update;
  if (event_mode) {
    if (log) log(environment, fmi3Error, "logStatusError", "events are handled inside of steps: there is no event mode");
    return 0;
  }
  return tg_instantiate(token, logging, environment, log, 1);
}

TG_EXPORT fmi3Instance fmi3InstantiateScheduledExecution(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                                         fmi3Boolean logging, fmi3InstanceEnvironment environment,
                                                         fmi3LogMessageCallback log, fmi3ClockUpdateCallback update,
                                                         fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock) {
  (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)update, (void)lock, (void)unlock;
  if (log) log(environment, fmi3Error, "logStatusError", "scheduled execution is not offered");
  return 0;
}

TG_EXPORT void fmi3FreeInstance(fmi3Instance c) {
  if (c) tg_close((tg_instance *)c);
  free(c);
}

TG_EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[]) {
  TG_OF(c);
  (void)n, (void)categories;
  x->logging = on;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start,
                                                 fmi3Boolean has_stop, fmi3Float64 stop) {
  TG_OF(c);
  if (v->phase != TG_INSTANTIATED) return tg_refused(x, "fmi3EnterInitializationMode");
  return tg_enter_initialization(x, start, has_stop, stop, has_tolerance ? tolerance : 0) ? fmi3Error : fmi3OK;
}

TG_EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c) {
  TG_OF(c);
  if (v->phase != TG_INITIALIZING) return tg_refused(x, "fmi3ExitInitializationMode");
  return tg_exit_initialization(x) ? fmi3Error : fmi3OK;
}

TG_EXPORT fmi3Status fmi3EnterEventMode(fmi3Instance c) {
  TG_OF(c);
  if (v->phase != TG_CONTINUOUS && v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi3EnterEventMode");
  v->phase = TG_EVENT_MODE;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3Terminate(fmi3Instance c) {
  TG_OF(c);
  v->phase = TG_TERMINATED;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3Reset(fmi3Instance c) {
  TG_OF(c);
  tg_close(x);
  tg_reset(x);
  tg_open(x);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Float64 value[], size_t n_values) {
  TG_OF(c);
  if (n != n_values) return tg_refused(x, "fmi3GetFloat64");
  for (size_t i = 0; i < n; i++) {
    int bad = tg_get(x, r[i], value + i);
    if (bad) return bad == 2 ? fmi3Discard : tg_refused(x, "fmi3GetFloat64");
  }
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Float64 value[], size_t n_values) {
  TG_OF(c);
  if (n != n_values) return tg_refused(x, "fmi3SetFloat64");
  for (size_t i = 0; i < n; i++)
    if (tg_set(x, r[i], value[i])) return tg_refused(x, "fmi3SetFloat64");
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetInt32(fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Int32 value[], size_t n_values) {
  TG_OF(c);
  (void)n_values;
  for (size_t i = 0; i < n; i++)
    if (tg_get_integer(x, r[i], value + i)) return tg_refused(x, "fmi3GetInt32");
  return fmi3OK;
}

/* There are no variables of other types. */
#define TG_NONE(name, type) \
  TG_EXPORT fmi3Status name(fmi3Instance c, const fmi3ValueReference r[], size_t n, type value[], size_t n_values) { \
    (void)r, (void)value, (void)n_values; \
    return n ? tg_refused((tg_instance *)c, #name) : fmi3OK; \
  }
#define TG_NEITHER(word, type) TG_NONE(fmi3Get##word, type) TG_NONE(fmi3Set##word, const type)
TG_NEITHER(Float32, fmi3Float32)
TG_NEITHER(Int8, fmi3Int8)
TG_NEITHER(UInt8, fmi3UInt8)
TG_NEITHER(Int16, fmi3Int16)
TG_NEITHER(UInt16, fmi3UInt16)
TG_NONE(fmi3SetInt32, const fmi3Int32)
TG_NEITHER(UInt32, fmi3UInt32)
TG_NEITHER(Int64, fmi3Int64)
TG_NEITHER(UInt64, fmi3UInt64)
TG_NEITHER(Boolean, fmi3Boolean)
TG_NONE(fmi3GetString, fmi3String)
TG_NONE(fmi3SetString, const fmi3String)

#define TG_REFUSE(name, arguments) \
  TG_EXPORT fmi3Status name arguments { return tg_refused((tg_instance *)c, #name); }
TG_REFUSE(fmi3GetBinary, (fmi3Instance c, const fmi3ValueReference r[], size_t n, size_t sizes[], fmi3Binary value[], size_t n_values))
TG_REFUSE(fmi3SetBinary,
          (fmi3Instance c, const fmi3ValueReference r[], size_t n, const size_t sizes[], const fmi3Binary value[], size_t n_values))
TG_REFUSE(fmi3GetClock, (fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Clock value[]))
TG_REFUSE(fmi3SetClock, (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Clock value[]))
TG_REFUSE(fmi3GetNumberOfVariableDependencies, (fmi3Instance c, fmi3ValueReference r, size_t *n))
TG_REFUSE(fmi3GetVariableDependencies,
          (fmi3Instance c, fmi3ValueReference r, size_t of[], fmi3ValueReference on[], size_t at[], fmi3DependencyKind kinds[], size_t n))
TG_REFUSE(fmi3GetAdjointDerivative,
          (fmi3Instance c, const fmi3ValueReference u[], size_t n_u, const fmi3ValueReference k[], size_t n_k, const fmi3Float64 seed[],
           size_t n_seed, fmi3Float64 slope[], size_t n_slope))
TG_REFUSE(fmi3EnterConfigurationMode, (fmi3Instance c))
TG_REFUSE(fmi3ExitConfigurationMode, (fmi3Instance c))
TG_REFUSE(fmi3GetIntervalDecimal,
          (fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Float64 interval[], fmi3IntervalQualifier qualifier[]))
TG_REFUSE(fmi3GetIntervalFraction, (fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3UInt64 counter[], fmi3UInt64 resolution[],
                                    fmi3IntervalQualifier qualifier[]))
TG_REFUSE(fmi3GetShiftDecimal, (fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3Float64 shift[]))
TG_REFUSE(fmi3GetShiftFraction,
          (fmi3Instance c, const fmi3ValueReference r[], size_t n, fmi3UInt64 counter[], fmi3UInt64 resolution[]))
TG_REFUSE(fmi3SetIntervalDecimal, (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Float64 interval[]))
TG_REFUSE(fmi3SetIntervalFraction,
          (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3UInt64 counter[], const fmi3UInt64 resolution[]))
TG_REFUSE(fmi3SetShiftDecimal, (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Float64 shift[]))
TG_REFUSE(fmi3SetShiftFraction,
          (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3UInt64 counter[], const fmi3UInt64 resolution[]))
TG_REFUSE(fmi3EnterStepMode, (fmi3Instance c))
TG_REFUSE(fmi3GetOutputDerivatives, (fmi3Instance c, const fmi3ValueReference r[], size_t n, const fmi3Int32 orders[], fmi3Float64 value[],
                                     size_t n_values))
TG_REFUSE(fmi3ActivateModelPartition, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 time))

TG_EXPORT fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c) {
  (void)c;
  return fmi3OK;
}

/* ---- the state of the unit ------------------------------------------------------------------------------------------------ */

TG_EXPORT fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state) {
  TG_OF(c);
  if (!TG_MODEL_EXCHANGE) return tg_refused(x, "fmi3GetFMUState");
  if (!*state) *state = malloc(sizeof *v);
  if (!*state) return fmi3Error;
  memcpy(*state, v, sizeof *v);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state) {
  TG_OF(c);
  if (!state || ((const tg_values *)state)->kind != v->kind) return tg_refused(x, "fmi3SetFMUState");
  memcpy(v, state, sizeof *v);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state) {
  (void)c;
  if (state) free(*state), *state = 0;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size) {
  (void)c, (void)state;
  *size = TG_BYTES;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size) {
  if (!state || size < TG_BYTES) return tg_refused((tg_instance *)c, "fmi3SerializeFMUState");
  tg_put_state((const tg_values *)state, (unsigned char *)bytes);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state) {
  tg_values *found = tg_state_from((const tg_instance *)c, (const unsigned char *)bytes, size);
  if (!found) return tg_refused((tg_instance *)c, "fmi3DeserializeFMUState");
  if (*state) memcpy(*state, found, sizeof *found), free(found);
  else *state = found;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknown[], size_t n_unknown,
                                                  const fmi3ValueReference known[], size_t n_known, const fmi3Float64 seed[],
                                                  size_t n_seed, fmi3Float64 slope[], size_t n_slope) {
  TG_OF(c);
  if (n_seed != n_known || n_slope != n_unknown) return tg_refused(x, "fmi3GetDirectionalDerivative");
  int bad = tg_along(x, unknown, n_unknown, known, n_known, seed, slope);
  return bad == 1 ? tg_refused(x, "fmi3GetDirectionalDerivative") : bad ? fmi3Discard : fmi3OK;
}

/* ---- model exchange ------------------------------------------------------------------------------------------------------- */

TG_EXPORT fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate, fmi3Boolean *nominals,
                                              fmi3Boolean *states, fmi3Boolean *has_next, fmi3Float64 *next_time) {
  TG_OF(c);
  double next = INFINITY;
  int moved = 0;
  if (v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi3UpdateDiscreteStates");
  if (tg_update_discrete(x, &next, &moved)) return fmi3Error;
  *again = *terminate = *nominals = false;
  *states = moved != 0;
  *has_next = isfinite(next);
  *next_time = isfinite(next) ? next : 0;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c) {
  TG_OF(c);
  if (v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi3EnterContinuousTimeMode");
  v->phase = TG_CONTINUOUS;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean keeps, fmi3Boolean *enter, fmi3Boolean *terminate) {
  (void)c, (void)keeps;
  *enter = *terminate = false;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t) {
  TG_OF(c);
  if (t != v->t) v->t = t, tg_moved(v);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 y[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi3SetContinuousStates");
  memcpy(v->y, y, sizeof(double) * TG_Y);
  tg_moved(v);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 yp[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi3GetContinuousStateDerivatives");
  if (tg_know_rates(x)) return fmi3Discard;
  memcpy(yp, v->yp, sizeof(double) * TG_Y);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 g[], size_t n) {
  TG_OF(c);
  if (n != TG_EVENTS) return tg_refused(x, "fmi3GetEventIndicators");
  if (tg_know(x, TG_KNOWN_EVENTS)) return fmi3Discard;
  memcpy(g, v->events, sizeof(double) * TG_EVENTS);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 y[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi3GetContinuousStates");
  memcpy(y, v->y, sizeof(double) * TG_Y);
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominal[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi3GetNominalsOfContinuousStates");
  for (int k = 0; k < TG_Y; k++) nominal[k] = tg_nominal_of[k] > 0 ? tg_nominal_of[k] : 1;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *n) {
  (void)c;
  *n = TG_EVENTS;
  return fmi3OK;
}

TG_EXPORT fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *n) {
  (void)c;
  *n = TG_Y;
  return fmi3OK;
}

/* ---- co-simulation -------------------------------------------------------------------------------------------------------- */

TG_EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 from, fmi3Float64 step, fmi3Boolean keeps, fmi3Boolean *event,
                                fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *last) {
  TG_OF(c);
  (void)keeps;
  if (v->phase != TG_STEPPING || !(step >= 0)) return tg_refused(x, "fmi3DoStep");
  int status = tg_step_to(x, from + step);
  *event = *terminate = *early = false;
  *last = status ? v->t : from + step;
  if (!status) return fmi3OK;
  if (status == TG_NOT_FINITE) tg_failed(x);
  else tg_say(x, "takes steps that become too small", TG_NAME);
  return fmi3Discard;
}
