/* FMI 2.0: every function of the standard, in terms of instance.h. */
#define TG_OF(c) tg_instance *x = (tg_instance *)(c); tg_values *v = &x->values; (void)v

static void tg_say(tg_instance *x, const char *text, const char *name) {
  fmi2CallbackFunctions *f = &x->environment.callbacks;
  snprintf(x->message, sizeof x->message, "'%s' %s at t = %.9g s", name, text, x->values.t);
  if (f->logger) f->logger(f->componentEnvironment, x->environment.name, fmi2Error, "logStatusError", "%s", x->message);
}

static fmi2Status tg_refused(tg_instance *x, const char *what) {
  tg_say(x, "cannot be called like this", what);
  return fmi2Error;
}

TG_EXPORT const char *fmi2GetTypesPlatform(void) { return "default"; }
TG_EXPORT const char *fmi2GetVersion(void) { return "2.0"; }

TG_EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                                        const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging) {
  (void)resources, (void)visible;
  if (!functions || !token || strcmp(token, TG_TOKEN) || (type == fmi2ModelExchange && !TG_MODEL_EXCHANGE)) {
    if (functions && functions->logger)
      functions->logger(functions->componentEnvironment, name, fmi2Error, "logStatusError", "this is not the unit %s", TG_TOKEN);
    return 0;
  }
  tg_instance *x = functions->allocateMemory ? functions->allocateMemory(1, sizeof *x) : calloc(1, sizeof *x);
  if (!x) return 0;
  x->environment.callbacks = *functions;
  snprintf(x->environment.name, sizeof x->environment.name, "%s", name ? name : "");
  x->co_simulation = type == fmi2CoSimulation;
  x->logging = logging;
  tg_reset(x);
  tg_open(x);
  return x;
}

TG_EXPORT void fmi2FreeInstance(fmi2Component c) {
  if (!c) return;
  TG_OF(c);
  tg_close(x);
  void (*release)(void *) = x->environment.callbacks.freeMemory;
  if (release) release(x);
  else free(x);
}

TG_EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[]) {
  TG_OF(c);
  (void)n, (void)categories;
  x->logging = on;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean has_tolerance, fmi2Real tolerance, fmi2Real start,
                                         fmi2Boolean has_stop, fmi2Real stop) {
  TG_OF(c);
  if (v->phase != TG_INSTANTIATED) return tg_refused(x, "fmi2SetupExperiment");
  v->t = start;
  v->has_stop = has_stop;
  v->stop = stop;
  if (has_tolerance && tolerance > 0) v->rtol = fmin(tolerance, v->rtol);
  v->known = 0;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  TG_OF(c);
  if (v->phase != TG_INSTANTIATED) return tg_refused(x, "fmi2EnterInitializationMode");
  return tg_enter_initialization(x, v->t, v->has_stop, v->stop, 0) ? fmi2Error : fmi2OK;
}

TG_EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  TG_OF(c);
  if (v->phase != TG_INITIALIZING) return tg_refused(x, "fmi2ExitInitializationMode");
  return tg_exit_initialization(x) ? fmi2Error : fmi2OK;
}

TG_EXPORT fmi2Status fmi2Terminate(fmi2Component c) {
  TG_OF(c);
  v->phase = TG_TERMINATED;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2Reset(fmi2Component c) {
  TG_OF(c);
  tg_close(x);
  tg_reset(x);
  tg_open(x);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Real value[]) {
  TG_OF(c);
  for (size_t i = 0; i < n; i++) {
    int bad = tg_get(x, r[i], value + i);
    if (bad) return bad == 2 ? fmi2Discard : tg_refused(x, "fmi2GetReal");
  }
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Real value[]) {
  TG_OF(c);
  for (size_t i = 0; i < n; i++)
    if (tg_set(x, r[i], value[i])) return tg_refused(x, "fmi2SetReal");
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference r[], size_t n, fmi2Integer value[]) {
  TG_OF(c);
  for (size_t i = 0; i < n; i++)
    if (tg_get_integer(x, r[i], value + i)) return tg_refused(x, "fmi2GetInteger");
  return fmi2OK;
}

/* There are no variables of other types, and none of these can be set. */
#define TG_NONE(name, type) \
  TG_EXPORT fmi2Status name(fmi2Component c, const fmi2ValueReference r[], size_t n, type value[]) { \
    (void)r, (void)value; \
    return n ? tg_refused((tg_instance *)c, #name) : fmi2OK; \
  }
TG_NONE(fmi2GetBoolean, fmi2Boolean)
TG_NONE(fmi2GetString, fmi2String)
TG_NONE(fmi2SetInteger, const fmi2Integer)
TG_NONE(fmi2SetBoolean, const fmi2Boolean)
TG_NONE(fmi2SetString, const fmi2String)

/* ---- the state of the unit ------------------------------------------------------------------------------------------------ */

TG_EXPORT fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state) {
  TG_OF(c);
  if (!TG_MODEL_EXCHANGE) return tg_refused(x, "fmi2GetFMUstate");
  if (!*state) *state = malloc(sizeof *v);
  if (!*state) return fmi2Error;
  memcpy(*state, v, sizeof *v);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state) {
  TG_OF(c);
  if (!state || ((const tg_values *)state)->kind != v->kind) return tg_refused(x, "fmi2SetFMUstate");
  memcpy(v, state, sizeof *v);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state) {
  (void)c;
  if (state) free(*state), *state = 0;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size) {
  (void)c, (void)state;
  *size = TG_BYTES;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size) {
  if (!state || size < TG_BYTES) return tg_refused((tg_instance *)c, "fmi2SerializeFMUstate");
  tg_put_state((const tg_values *)state, (unsigned char *)bytes);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state) {
  tg_values *found = tg_state_from((const tg_instance *)c, (const unsigned char *)bytes, size);
  if (!found) return tg_refused((tg_instance *)c, "fmi2DeSerializeFMUstate");
  if (*state) memcpy(*state, found, sizeof *found), free(found);
  else *state = found;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknown[], size_t n_unknown,
                                                  const fmi2ValueReference known[], size_t n_known, const fmi2Real seed[],
                                                  fmi2Real slope[]) {
  TG_OF(c);
  int bad = tg_along(x, unknown, n_unknown, known, n_known, seed, slope);
  return bad == 1 ? tg_refused(x, "fmi2GetDirectionalDerivative") : bad ? fmi2Discard : fmi2OK;
}

/* ---- model exchange ------------------------------------------------------------------------------------------------------- */

TG_EXPORT fmi2Status fmi2EnterEventMode(fmi2Component c) {
  TG_OF(c);
  if (v->phase != TG_CONTINUOUS && v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi2EnterEventMode");
  v->phase = TG_EVENT_MODE;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info) {
  TG_OF(c);
  double next = INFINITY;
  int moved = 0;
  if (v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi2NewDiscreteStates");
  if (tg_update_discrete(x, &next, &moved)) return fmi2Error;
  memset(info, 0, sizeof *info);
  info->valuesOfContinuousStatesChanged = moved;
  info->nextEventTimeDefined = isfinite(next) ? fmi2True : fmi2False;
  info->nextEventTime = isfinite(next) ? next : 0;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c) {
  TG_OF(c);
  if (v->phase != TG_EVENT_MODE) return tg_refused(x, "fmi2EnterContinuousTimeMode");
  v->phase = TG_CONTINUOUS;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean keeps, fmi2Boolean *enter, fmi2Boolean *terminate) {
  (void)c, (void)keeps;
  *enter = *terminate = fmi2False;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t) {
  TG_OF(c);
  if (t != v->t) v->t = t, tg_moved(v);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real y[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi2SetContinuousStates");
  memcpy(v->y, y, sizeof(double) * TG_Y);
  tg_moved(v);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real yp[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi2GetDerivatives");
  if (tg_know_rates(x)) return fmi2Discard;
  memcpy(yp, v->yp, sizeof(double) * TG_Y);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real g[], size_t n) {
  TG_OF(c);
  if (n != TG_EVENTS) return tg_refused(x, "fmi2GetEventIndicators");
  if (tg_know(x, TG_KNOWN_EVENTS)) return fmi2Discard;
  memcpy(g, v->events, sizeof(double) * TG_EVENTS);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real y[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi2GetContinuousStates");
  memcpy(y, v->y, sizeof(double) * TG_Y);
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominal[], size_t n) {
  TG_OF(c);
  if (n != TG_Y) return tg_refused(x, "fmi2GetNominalsOfContinuousStates");
  for (int k = 0; k < TG_Y; k++) nominal[k] = tg_nominal_of[k] > 0 ? tg_nominal_of[k] : 1;
  return fmi2OK;
}

/* ---- co-simulation -------------------------------------------------------------------------------------------------------- */

TG_EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real from, fmi2Real step, fmi2Boolean keeps) {
  TG_OF(c);
  (void)keeps;
  if (v->phase != TG_STEPPING || !(step >= 0)) return tg_refused(x, "fmi2DoStep");
  int status = tg_step_to(x, from + step);
  if (!status) return fmi2OK;
  if (status == TG_NOT_FINITE) tg_failed(x);
  else tg_say(x, "takes steps that become too small", TG_NAME);
  return fmi2Discard;
}

TG_EXPORT fmi2Status fmi2CancelStep(fmi2Component c) { return tg_refused((tg_instance *)c, "fmi2CancelStep"); }

TG_EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[],
                                                 const fmi2Real value[]) {
  (void)r, (void)order, (void)value;
  return n ? tg_refused((tg_instance *)c, "fmi2SetRealInputDerivatives") : fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference r[], size_t n, const fmi2Integer order[],
                                                  fmi2Real value[]) {
  (void)r, (void)order, (void)value;
  return n ? tg_refused((tg_instance *)c, "fmi2GetRealOutputDerivatives") : fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetRealStatus(fmi2Component c, fmi2StatusKind kind, fmi2Real *value) {
  TG_OF(c);
  if (kind != fmi2LastSuccessfulTime) return fmi2Discard;
  *value = v->t;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetBooleanStatus(fmi2Component c, fmi2StatusKind kind, fmi2Boolean *value) {
  TG_OF(c);
  if (kind != fmi2Terminated) return fmi2Discard;
  *value = v->phase == TG_TERMINATED;
  return fmi2OK;
}

TG_EXPORT fmi2Status fmi2GetStatus(fmi2Component c, fmi2StatusKind kind, fmi2Status *value) {
  (void)c, (void)kind, (void)value;
  return fmi2Discard;
}

TG_EXPORT fmi2Status fmi2GetIntegerStatus(fmi2Component c, fmi2StatusKind kind, fmi2Integer *value) {
  (void)c, (void)kind, (void)value;
  return fmi2Discard;
}

TG_EXPORT fmi2Status fmi2GetStringStatus(fmi2Component c, fmi2StatusKind kind, fmi2String *value) {
  (void)c, (void)kind, (void)value;
  return fmi2Discard;
}
