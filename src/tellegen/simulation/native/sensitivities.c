/* A model and its derivatives along parameters as one model: y, then one block dy/dp for each parameter. Solvers see the wrapper as the
 * context; what they call is passed on to the model with its own context.
 */
typedef struct tg_wrapper {
  tg_context head; /* what solvers read: memory and `failed` */
  tg_context *model;
  tg_residual_fn *residual;
  tg_rhs_fn *rhs;
  tg_tangent_fn *tangent;
  tg_rhs_tangent_fn *rhs_tangent;
  tg_balance_fn *balance;
  tg_events_fn *events;
  tg_sample_fn *sample;
  tg_observe_fn *observe;
  int n, count;
  const int *parameters;
  double *direction; /* one for each parameter of the model, zero between calls */
} tg_wrapper;

static int passed(tg_wrapper *w, int bad) {
  w->head.failed = w->model->failed;
  return bad;
}

int tg_rhs(tg_context *c, double t, const double *y, double *yp) {
  tg_wrapper *w = (tg_wrapper *)c;
  int bad = w->rhs(w->model, t, y, yp);
  for (int k = 0; k < w->count && !bad; k++) {
    size_t at = (size_t)w->n * (size_t)(k + 1);
    w->direction[w->parameters[k]] = 1;
    bad = w->rhs_tangent(w->model, t, y, y + at, w->direction, yp + at);
    w->direction[w->parameters[k]] = 0;
  }
  return passed(w, bad);
}

int tg_residual(tg_context *c, double t, const double *y, const double *yp, double *r) {
  tg_wrapper *w = (tg_wrapper *)c;
  int bad = w->residual(w->model, t, y, yp, r);
  for (int k = 0; k < w->count && !bad; k++) {
    size_t at = (size_t)w->n * (size_t)(k + 1);
    w->direction[w->parameters[k]] = 1;
    bad = w->tangent(w->model, t, y, yp, y + at, yp + at, w->direction, r + at);
    w->direction[w->parameters[k]] = 0;
  }
  return passed(w, bad);
}

int tg_tangent(tg_context *c, double t, const double *y, const double *yp, const double *dy, const double *dyp, const double *dp,
               double *dr) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->tangent(w->model, t, y, yp, dy, dyp, dp, dr));
}

int tg_rhs_tangent(tg_context *c, double t, const double *y, const double *dy, const double *dp, double *dyp) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->rhs_tangent(w->model, t, y, dy, dp, dyp));
}

int tg_balance(tg_context *c, double t, const double *y, const double *yp, double power[5]) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->balance(w->model, t, y, yp, power));
}

int tg_events(tg_context *c, double t, const double *y, const double *yp, double *g) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->events(w->model, t, y, yp, g));
}

int tg_sample(tg_context *c, double t, const double *y, const double *yp, int group, double *memory) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->sample(w->model, t, y, yp, group, memory));
}

int tg_observe(tg_context *c, double t, const double *y, const double *yp, double *out) {
  tg_wrapper *w = (tg_wrapper *)c;
  return passed(w, w->observe(w->model, t, y, yp, out));
}
