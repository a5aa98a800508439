/* CVODE and IDA driven to the end of a stretch: no Python runs inside. The library is reached through a table of addresses, because
 * its headers need not be there; `solvers/library.py` fills the table and checks the version.
 *
 * Three things replace the library's own. The norm is the maximum norm, so that a tolerance holds for every state whatever the size of
 * the model. Linear systems go to linear.h: the library sees a matrix of one row and a solver whose two operations are ours.
 * Events are looked for in job.h's way, as by every solver: the library's own search may never end where functions meet in rounding.
 */
#include "contents.h"
#include "job.h"
#include "linear.h"
#include "newton.h"

typedef void *N_Vector;
typedef void *SUNMatrix;
typedef void *SUNLinearSolver;
typedef void *SUNContext;
typedef int sunindextype; /* the wheel is built with 32-bit indices */

typedef int (*rhs_shim)(double, N_Vector, N_Vector, void *);
typedef int (*residual_shim)(double, N_Vector, N_Vector, N_Vector, void *);
typedef int (*system_shim)(double, N_Vector, N_Vector, SUNMatrix, int, int *, double, void *, N_Vector, N_Vector, N_Vector);
typedef int (*jacobian_shim)(double, double, N_Vector, N_Vector, N_Vector, SUNMatrix, void *, N_Vector, N_Vector, N_Vector);

typedef struct tg_sundials {
  int (*SUNContext_Create)(int, SUNContext *);
  int (*SUNContext_ClearErrHandlers)(SUNContext);
  int (*SUNContext_Free)(SUNContext *);
  N_Vector (*N_VNew_Serial)(sunindextype, SUNContext);
  N_Vector (*N_VMake_Serial)(sunindextype, double *, SUNContext);
  double *(*N_VGetArrayPointer)(N_Vector);
  void (*N_VDestroy)(N_Vector);
  void *N_VWrmsNorm_Serial;
  SUNMatrix (*SUNDenseMatrix)(sunindextype, sunindextype, SUNContext);
  void (*SUNMatDestroy)(SUNMatrix);
  SUNLinearSolver (*SUNLinSol_Dense)(N_Vector, SUNMatrix, SUNContext);
  int (*SUNLinSolFree)(SUNLinearSolver);
  void *SUNLinSolSetup_Dense;
  void *SUNLinSolSolve_Dense;
  void *(*CVodeCreate)(int, SUNContext);
  int (*CVodeInit)(void *, rhs_shim, double, N_Vector);
  int (*CVodeReInit)(void *, double, N_Vector);
  int (*CVodeSVtolerances)(void *, double, N_Vector);
  int (*CVodeSetUserData)(void *, void *);
  int (*CVodeSetLinearSolver)(void *, SUNLinearSolver, SUNMatrix);
  int (*CVodeSetLinSysFn)(void *, system_shim);
  int (*CVodeSetMaxStep)(void *, double);
  int (*CVodeSetInitStep)(void *, double);
  int (*CVodeSetStopTime)(void *, double);
  int (*CVodeSetMaxErrTestFails)(void *, int);
  int (*CVodeSetMaxHnilWarns)(void *, int);
  int (*CVode)(void *, double, N_Vector, double *, int);
  int (*CVodeGetDky)(void *, double, int, N_Vector);
  int (*CVodeGetCurrentTime)(void *, double *);
  int (*CVodeGetLastStep)(void *, double *);
  int (*CVodeGetNumErrTestFails)(void *, long *);
  void (*CVodeFree)(void **);
  void *(*IDACreate)(SUNContext);
  int (*IDAInit)(void *, residual_shim, double, N_Vector, N_Vector);
  int (*IDAReInit)(void *, double, N_Vector, N_Vector);
  int (*IDASVtolerances)(void *, double, N_Vector);
  int (*IDASetUserData)(void *, void *);
  int (*IDASetLinearSolver)(void *, SUNLinearSolver, SUNMatrix);
  int (*IDASetJacFn)(void *, jacobian_shim);
  int (*IDASetMaxStep)(void *, double);
  int (*IDASetInitStep)(void *, double);
  int (*IDASetStopTime)(void *, double);
  int (*IDASetMaxErrTestFails)(void *, int);
  int (*IDASolve)(void *, double, double *, N_Vector, N_Vector, int);
  int (*IDAGetDky)(void *, double, int, N_Vector);
  int (*IDAGetCurrentTime)(void *, double *);
  int (*IDAGetLastStep)(void *, double *);
  int (*IDAGetNumErrTestFails)(void *, long *);
  void (*IDAFree)(void **);
} tg_sundials;

/* The share of the tolerance that a single step may use. Errors of steps add up: with this share the error at the end of the test
 * problems of the literature stays below twenty times the tolerance, as it should. */
static const double SHARE = 0.5, BACK = 0.1, REACH = 6, APART = 0.1;
static const double GAUSS_POINTS[3] = {0.11270166537925831148, 0.5, 0.88729833462074168852}, GAUSS_WEIGHTS[3] = {5.0 / 18, 8.0 / 18, 5.0 / 18};
enum { MANY_SMALL_SWINGS = 4096 };

/* The same of models that are sampled or delayed: they begin anew at each instant, with steps of low order whose errors have one sign. */
static const double SHARE_ANEW = 0.1;

/* Each failure takes three quarters of a step at most, and from rest the library begins with one of a thousandth of the run. */
enum { MOST_FAILURES = 40 };

enum { MOST_KEPT = 6, LEAST_ENDS = 5, HIGHEST_ORDER = 5, BDF = 2, ONE_STEP = 2, TSTOP_RETURN = 1, TOO_MUCH_ACCURACY = -2, ERROR_TESTS = -3, CONVERGENCE = -4 };

typedef struct run {
  const tg_sundials *api;
  tg_job *job;
  int implicit;
  void *memory;
  SUNContext sun;
  N_Vector y, yp, atol, value, rate;
  SUNMatrix dummy;
  N_Vector dummy_vector;
  SUNLinearSolver solver;
  tg_matrix jacobian;
  tg_factors factors;
  double *system, *ones, *slopes;
  int *signs;
  int jumps;     /* whether an event that stays in this stretch can change formulas */
  double swing;  /* the widest of the event functions that passed zero, since their number doubled */
  double *guards[6]; /* event functions at the start, in the middle and at the end of a step, and where they are looked for */
  tg_turns turns;
  /* powers at the ends of the last steps, the newest first */
  int n_kept;
  double kept_at[MOST_KEPT], kept[MOST_KEPT][4];
  tg_contents contents;
  double *rates_before; /* of the step, where laws are checked */
  tg_newton newton; /* for starts and restarts of implicit models */
} run;

static const tg_sundials *the_api;
static __thread run *the_run; /* the two linear operations get no user data from the library */

static double share(const tg_job *j) {
  return j->n_groups || j->history ? SHARE_ANEW : SHARE;
}

static double *data(const run *r, N_Vector v) {
  return r->api->N_VGetArrayPointer(v);
}

/* ---- what the library calls --------------------------------------------------------------------------------------------- */

static double larger(double most, double v) {
  return v <= most ? most : v; /* keeps what is not a number */
}

static double largest(N_Vector x, N_Vector w) {
  const run *r = the_run;
  const double *a = data(r, x), *b = data(r, w);
  double most[4] = {0, 0, 0, 0}; /* four chains at a time: the comparisons wait for each other otherwise */
  int n = r->job->n, i = 0;
  for (; i + 4 <= n; i += 4)
    for (int k = 0; k < 4; k++) most[k] = larger(most[k], fabs(a[i + k] * b[i + k]));
  for (; i < n; i++) most[0] = larger(most[0], fabs(a[i] * b[i]));
  return larger(larger(most[0], most[1]), larger(most[2], most[3]));
}

static int call_rhs(double t, N_Vector y, N_Vector yp, void *user) {
  run *r = user;
  r->job->rhs_calls++;
  return r->job->rhs(r->job->context, t, data(r, y), data(r, yp)) ? 1 : 0;
}

static int call_residual(double t, N_Vector y, N_Vector yp, N_Vector out, void *user) {
  run *r = user;
  r->job->rhs_calls++;
  return r->job->residual(r->job->context, t, data(r, y), data(r, yp), data(r, out)) ? 1 : 0;
}

/* Where slopes have no value a shorter step may help; not where somebody has stopped their making. */
static int no_slopes(const tg_job *j) { return j->cancel ? -1 : 1; }

/* I - gamma J; J is kept while the library finds it good enough */
static int make_system(double t, N_Vector y, N_Vector fy, SUNMatrix a, int keep, int *renewed, double gamma, void *user, N_Vector w1,
                       N_Vector w2, N_Vector w3) {
  run *r = user;
  tg_matrix *m = &r->jacobian;
  (void)fy, (void)a, (void)w1, (void)w2, (void)w3;
  if (!keep && tg_rhs_jacobian(m, r->job, t, data(r, y))) return no_slopes(r->job);
  *renewed = !keep;
  for (int p = 0; p < m->nnz; p++) r->system[p] = -gamma * m->values[p];
  for (int k = 0; k < m->n; k++)
    for (int p = m->columns[k]; p < m->columns[k + 1]; p++)
      if (m->rows[p] == k) r->system[p] += 1;
  return 0;
}

static int make_jacobian(double t, double cj, N_Vector y, N_Vector yp, N_Vector rr, SUNMatrix a, void *user, N_Vector w1, N_Vector w2,
                         N_Vector w3) {
  run *r = user;
  (void)rr, (void)a, (void)w1, (void)w2, (void)w3;
  for (int k = 0; k < r->jacobian.n; k++) r->slopes[k] = cj;
  if (tg_residual_jacobian(&r->jacobian, r->job, t, data(r, y), data(r, yp), r->ones, r->slopes)) return no_slopes(r->job);
  memcpy(r->system, r->jacobian.values, sizeof(double) * (size_t)r->jacobian.nnz);
  return 0;
}

static int set_up(SUNLinearSolver s, SUNMatrix a) {
  (void)s, (void)a;
  run *r = the_run;
  r->job->factorisations++;
  return tg_factor(&r->factors, &r->jacobian, r->system) ? 1 : 0;
}

static int solve(SUNLinearSolver s, SUNMatrix a, N_Vector x, N_Vector b, double tolerance) {
  (void)s, (void)a, (void)tolerance;
  run *r = the_run;
  double *to = data(r, x);
  memmove(to, data(r, b), sizeof(double) * (size_t)r->job->n);
  for (int k = 0; k < r->job->blocks; k++) tg_solve(&r->factors, to + (size_t)k * (size_t)r->factors.n);
  return 0;
}

/* ---- opening and closing ------------------------------------------------------------------------------------------------ */

/* An object of the library is a few pointers: its content, a table of operations, its context, in an order that depends on the kind of
 * object. Replace one of the operations by ours, wherever it stands; it is one of the first. */
static int replace(void *object, void *theirs, void *ours) {
  for (int place = 1; place <= 2; place++) {
    void **operations = ((void ***)object)[place];
    for (int k = 0; operations && k < 24; k++)
      if (operations[k] == theirs) {
        operations[k] = ours;
        return 0;
      }
  }
  return 1;
}

static void close_run(run *r) {
  const tg_sundials *s = r->api;
  if (r->memory) r->implicit ? s->IDAFree(&r->memory) : s->CVodeFree(&r->memory);
  N_Vector vectors[] = {r->y, r->yp, r->atol, r->value, r->rate, r->dummy_vector};
  if (r->solver) s->SUNLinSolFree(r->solver);
  if (r->dummy) s->SUNMatDestroy(r->dummy);
  for (int k = 0; k < 6; k++)
    if (vectors[k]) s->N_VDestroy(vectors[k]);
  if (r->sun) s->SUNContext_Free(&r->sun);
  tg_matrix_close(&r->jacobian);
  tg_factors_close(&r->factors);
  if (r->implicit) tg_newton_close(&r->newton);
  free(r->system);
  free(r->ones);
  free(r->slopes);
  free(r->signs);
  free(r->guards[0]);
  free(r->job->bands);
  r->job->bands = 0;
  tg_turns_close(&r->turns);
  tg_contents_close(&r->contents);
  free(r->rates_before);
}

static int open_vectors(run *r) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  if (s->SUNContext_Create(0, &r->sun)) return TG_LIBRARY;
  s->SUNContext_ClearErrHandlers(r->sun); /* findings are ours to report */
  r->y = s->N_VNew_Serial(j->n, r->sun);
  if (!r->y || replace(r->y, s->N_VWrmsNorm_Serial, (void *)largest)) return TG_LIBRARY;
  memcpy(data(r, r->y), j->y, sizeof(double) * (size_t)j->n);
  r->yp = s->N_VMake_Serial(j->n, j->yp, r->sun);
  r->atol = s->N_VNew_Serial(j->n, r->sun);
  r->value = s->N_VNew_Serial(j->n, r->sun);
  r->rate = s->N_VNew_Serial(j->n, r->sun);
  r->dummy_vector = s->N_VNew_Serial(1, r->sun);
  r->dummy = s->SUNDenseMatrix(1, 1, r->sun);
  if (!r->yp || !r->atol || !r->value || !r->rate || !r->dummy_vector || !r->dummy) return TG_NO_MEMORY;
  for (int k = 0; k < j->n; k++) data(r, r->atol)[k] = share(j) * j->atol[k];
  r->solver = s->SUNLinSol_Dense(r->dummy_vector, r->dummy, r->sun);
  if (!r->solver || replace(r->solver, s->SUNLinSolSetup_Dense, (void *)set_up)) return TG_LIBRARY;
  if (replace(r->solver, s->SUNLinSolSolve_Dense, (void *)solve)) return TG_LIBRARY;
  int bad = tg_matrix_open(&r->jacobian, j);
  if (!bad) bad = tg_factors_open(&r->factors, &r->jacobian, j->order);
  r->system = tg_new((size_t)r->jacobian.nnz, sizeof(double));
  r->ones = tg_new((size_t)j->n, sizeof(double));
  r->slopes = tg_new((size_t)j->n, sizeof(double));
  r->signs = tg_new((size_t)j->n_events, sizeof(int));
  r->guards[0] = tg_new(6 * (size_t)j->n_events, sizeof(double));
  j->bands = tg_new((size_t)j->n_events, sizeof(double));
  if (bad || !r->system || !r->ones || !r->slopes || !r->signs || !r->guards[0] || !j->bands) return TG_NO_MEMORY;
  for (int k = 1; k < 6; k++) r->guards[k] = r->guards[k - 1] + j->n_events;
  for (int e = 0; e < j->n_events; e++) r->jumps |= !j->terminal[e];
  for (int k = 0; k < j->n; k++) r->ones[k] = 1;
  r->rates_before = tg_new(j->n_contents ? (size_t)j->n : 0, sizeof(double));
  if (!r->rates_before || tg_turns_open(&r->turns, j) || tg_contents_open(&r->contents, j)) return TG_NO_MEMORY;
  return r->implicit ? tg_newton_open(&r->newton, j) : 0;
}

static int open_cvode(run *r) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  r->memory = s->CVodeCreate(BDF, r->sun);
  int bad = !r->memory || s->CVodeInit(r->memory, call_rhs, j->t, r->y) || s->CVodeSVtolerances(r->memory, share(j) * j->rtol, r->atol) ||
            s->CVodeSetUserData(r->memory, r) || s->CVodeSetLinearSolver(r->memory, r->solver, r->dummy) ||
            s->CVodeSetLinSysFn(r->memory, make_system) || s->CVodeSetMaxStep(r->memory, j->max_step) ||
            s->CVodeSetInitStep(r->memory, j->first_step) || s->CVodeSetMaxErrTestFails(r->memory, MOST_FAILURES);
  if (!bad) bad = s->CVodeSetMaxHnilWarns(r->memory, -1); /* steps too short for time end the run: no need to print, too */
  return bad ? TG_LIBRARY : 0;
}

static int open_ida(run *r) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  r->memory = s->IDACreate(r->sun);
  int bad = !r->memory || s->IDAInit(r->memory, call_residual, j->t, r->y, r->yp) ||
            s->IDASVtolerances(r->memory, share(j) * j->rtol, r->atol) || s->IDASetUserData(r->memory, r) ||
            s->IDASetLinearSolver(r->memory, r->solver, r->dummy) || s->IDASetJacFn(r->memory, make_jacobian) ||
            s->IDASetMaxStep(r->memory, j->max_step) || s->IDASetInitStep(r->memory, j->first_step) ||
            s->IDASetMaxErrTestFails(r->memory, MOST_FAILURES);
  return bad ? TG_LIBRARY : 0;
}

/* ---- the loop ----------------------------------------------------------------------------------------------------------- */

static int interpolate(run *r, double t, double *y, double *yp) {
  const tg_sundials *s = r->api;
  int (*derivative)(void *, double, int, N_Vector) = r->implicit ? s->IDAGetDky : s->CVodeGetDky;
  size_t size = sizeof(double) * (size_t)r->job->n;
  if (derivative(r->memory, t, 0, r->value) || derivative(r->memory, t, 1, r->rate)) return TG_LIBRARY;
  if (y) memcpy(y, data(r, r->value), size);
  if (yp) memcpy(yp, data(r, r->rate), size);
  return 0;
}

/* rows of the output up to the present time, of explicit models with rates from the right-hand side itself; one step may have millions */
static int write_rows(run *r, double reached) {
  tg_job *j = r->job;
  size_t n = (size_t)j->n;
  while (j->next_time < j->n_times && j->times[j->next_time] <= reached) {
    double t = j->times[j->next_time], *y = j->out_y + n * (size_t)j->next_time, *yp = j->out_yp + n * (size_t)j->next_time;
    if (interpolate(r, t, y, yp)) return TG_LIBRARY;
    if (!r->implicit && j->rhs(j->context, t, y, yp)) return TG_NOT_FINITE;
    j->next_time++;
    if (j->cancel) return TG_CANCELLED;
  }
  return 0;
}

static int point_at(void *step, double t, double *y, double *yp) {
  run *r = step;
  if (interpolate(r, t, y, yp)) return TG_LIBRARY;
  return !r->implicit && r->job->rhs(r->job->context, t, y, yp) ? TG_NOT_FINITE : 0;
}

/* Keep the powers at the end of a step, or where a stretch begins. */
static int note_powers(run *r, double t, const double *y, const double *yp) {
  tg_job *j = r->job;
  double power[5];
  if (!j->keep_books) return 0;
  if (tg_powers_of(j, t, y, yp, power)) return TG_NOT_FINITE;
  int kept = r->n_kept < MOST_KEPT - 1 ? r->n_kept : MOST_KEPT - 1;
  memmove(r->kept_at + 1, r->kept_at, sizeof(double) * (size_t)kept);
  memmove(r->kept + 1, r->kept, sizeof(r->kept[0]) * (size_t)kept);
  r->kept_at[0] = t;
  memcpy(r->kept[0], power, sizeof r->kept[0]);
  r->n_kept = kept + 1;
  return 0;
}

/* The ends of the last steps that a polynomial is laid through, the newest first: not far longer ago than the last step takes, nor so close to
 * each other beside it that rounding would be magnified, as after a restart, when steps grow tenfold and more. */
static int chosen_ends(const run *r, int chosen[MOST_KEPT]) {
  double h = r->kept_at[0] - r->kept_at[1];
  int m = 2;
  chosen[0] = 0;
  chosen[1] = 1;
  for (int k = 2; k < r->n_kept && r->kept_at[1] - r->kept_at[k] <= REACH * h; k++)
    if (r->kept_at[chosen[m - 1]] - r->kept_at[k] >= APART * h) chosen[m++] = k;
  return m;
}

/* The powers of the last step integrated on the polynomial through m ends, by three points of Gauss, which is exact for it. */
static void add_energies(run *r, const int *chosen, int m) {
  double h = r->kept_at[0] - r->kept_at[1];
  double at[3][MOST_KEPT];
  for (int q = 0; q < 3; q++)
    for (int k = 0; k < m; k++) at[q][k] = (r->kept_at[1] - r->kept_at[chosen[k]]) / h + GAUSS_POINTS[q];
  for (int i = 0; i < m; i++) {
    double weight[3] = {GAUSS_WEIGHTS[0], GAUSS_WEIGHTS[1], GAUSS_WEIGHTS[2]}, below = 1;
    for (int k = 0; k < m; k++)
      if (k != i) {
        below *= at[0][k] - at[0][i];
        for (int q = 0; q < 3; q++) weight[q] *= at[q][k];
      }
    double whole = h * (weight[0] + weight[1] + weight[2]) / below;
    for (int b = 0; b < 4; b++) r->job->books[b] += whole * r->kept[chosen[i]][b];
  }
}

/* The powers of the last step at three points of Gauss inside it. */
static int book_inside(run *r, double from, double to) {
  tg_job *j = r->job;
  for (int q = 0; q < 3; q++) {
    double t = from + GAUSS_POINTS[q] * (to - from), power[5];
    if (interpolate(r, t, 0, 0)) return TG_LIBRARY;
    if (tg_powers_of(j, t, data(r, r->value), data(r, r->rate), power)) return TG_NOT_FINITE;
    for (int b = 0; b < 4; b++) j->books[b] += (to - from) * GAUSS_WEIGHTS[q] * power[b];
  }
  return 0;
}

/* The energies of a step that has just ended. At an event powers jump, and which side they are on at the event itself is a matter of rounding:
 * they are taken inside the step. So they are where the ends of few steps are known, or of steps that grew fast: a solver that follows a
 * polynomial exactly takes steps of any length, and powers are of a higher degree. */
static int book(run *r, double from, double to) {
  if (!r->job->keep_books || to <= from) return 0;
  if (r->jumps) return book_inside(r, from, to);
  int chosen[MOST_KEPT], m;
  const tg_sundials *s = r->api;
  if (!r->implicit && r->job->powers_read_rates && s->CVodeGetDky(r->memory, to, 1, r->rate)) return TG_LIBRARY;
  if (note_powers(r, to, data(r, r->y), r->implicit ? data(r, r->yp) : data(r, r->rate))) return TG_NOT_FINITE;
  m = chosen_ends(r, chosen);
  if (m < LEAST_ENDS) return book_inside(r, from, to);
  add_energies(r, chosen, m);
  return 0;
}

static int status_of(const run *r, int flag) {
  r->job->detail = flag;
  if (r->job->context->failed) return TG_NOT_FINITE;
  if (flag == TOO_MUCH_ACCURACY || flag == ERROR_TESTS) return TG_TINY_STEP;
  if (flag == CONVERGENCE || flag == -5 || flag == -6) return TG_NO_CONVERGENCE;
  if (flag <= -8 && flag >= -11) return TG_NOT_FINITE;
  return TG_LIBRARY;
}

/* rates at the present point; IDA keeps them itself */
static int rates(run *r) {
  tg_job *j = r->job;
  return r->implicit ? 0 : j->rhs(j->context, j->t, j->y, j->yp);
}

/* A point inside the last step, for delayed signals. */
static int remember_point(run *r, double t) {
  tg_job *j = r->job;
  if (interpolate(r, t, 0, 0)) return TG_LIBRARY;
  if (!r->implicit && j->rhs(j->context, t, data(r, r->value), data(r, r->rate))) return TG_NOT_FINITE;
  return tg_remember_at(j, t, data(r, r->value), data(r, r->rate));
}

/* The last step, for delayed signals: as many points as the polynomial of the solver needs, for steps before and after it may be of
 * quite another length; and both sides of an event after which the run goes on. */
static int remember(run *r, double start, int event) {
  tg_job *j = r->job;
  int status = 0;
  for (int q = 1; q < HIGHEST_ORDER && !status; q++) status = remember_point(r, start + q * (j->t - start) / HIGHEST_ORDER);
  if (event && !status) status = remember_point(r, tg_before_event(start, j->t));
  if (!status && rates(r)) status = TG_NOT_FINITE;
  return status ? status : event ? tg_remember_break(j) : tg_remember(j);
}

static int restart(run *r) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  if (r->implicit) {
    int status = tg_make_consistent(&r->newton, j, j->t, j->y, j->yp);
    if (status) return status;
  }
  memcpy(data(r, r->y), j->y, sizeof(double) * (size_t)j->n);
  int bad = r->implicit ? s->IDAReInit(r->memory, j->t, r->y, r->yp) || s->IDASetInitStep(r->memory, j->first_step)
                        : s->CVodeReInit(r->memory, j->t, r->y) || s->CVodeSetInitStep(r->memory, j->first_step);
  return bad ? TG_LIBRARY : 0;
}

static int guards_at(void *solver, double t, double *g) {
  run *r = solver;
  tg_job *j = r->job;
  if (interpolate(r, t, 0, 0)) return 1;
  const double *y = data(r, r->value);
  double *rate = data(r, r->rate);
  if (!r->implicit && j->rhs(j->context, t, y, rate)) return 1;
  return j->events(j->context, t, y, rate, g);
}

/* Where to look next for a crossing between two times: a little beyond where a straight line leads, so that it is closed in from both
 * sides; every third time in the middle. */
static double look_at(const tg_job *j, double low, double high, const double *low_g, const double *high_g, int round) {
  double middle = 0.5 * (low + high), width = high - low;
  for (int e = 0; round % 3 != 2 && e < j->n_events; e++)
    if (tg_crosses(j, e, low_g[e], high_g[e])) {
      double x = low + width * (low_g[e] / (low_g[e] - high_g[e]));
      x += x < middle ? 0.02 * width : -0.02 * width;
      return x > low && x < high ? x : middle;
    }
  return middle;
}

/* The first event within the last step; one whose function came back before the end of the step counts, too. Moves the end of the step
 * there. Returns whether there was one, or -1. */
static int find_event(run *r, double *reached) {
  tg_job *j = r->job;
  size_t size = sizeof(double) * (size_t)j->n_events;
  double times[3] = {j->t, 0.5 * (j->t + *reached), *reached}, low, high;
  double *low_g = r->guards[3], *high_g = r->guards[4], *g = r->guards[5];
  if (guards_at(r, times[1], r->guards[1]) || guards_at(r, times[2], r->guards[2])) return -1;
  int half = tg_any_crossing(j, r->guards[0], r->guards[1]) ? 0 : tg_any_crossing(j, r->guards[1], r->guards[2]) ? 1 : 2;
  if (half < 2) {
    high = times[half + 1];
    memcpy(high_g, r->guards[half + 1], size);
  } else {
    int hidden = tg_hidden_event(j, guards_at, r, times, r->guards, high_g, &high);
    if (hidden == 0) {
      memcpy(r->guards[0], r->guards[2], size);
      tg_wake_bends(j, r->guards[0]);
    }
    if (hidden <= 0) return hidden;
    half = high < times[1] ? 0 : 1;
  }
  low = times[half];
  memcpy(low_g, r->guards[half], size);
  for (int round = 0; high - low > tg_gap(high); round++) {
    double at = look_at(j, low, high, low_g, high_g, round);
    if (at <= low || at >= high) break;
    if (guards_at(r, at, g)) return -1;
    int after = tg_any_crossing(j, low_g, g);
    *(after ? &high : &low) = at;
    memcpy(after ? high_g : low_g, g, size);
  }
  high = fmin(high + 4 * tg_gap(high), times[2]); /* where a function is zero, a condition may not be on its other side yet */
  if (guards_at(r, high, high_g)) return -1;
  for (int e = 0; e < j->n_events; e++) r->signs[e] = tg_crosses(j, e, low_g[e], high_g[e]) ? (low_g[e] < 0 ? 1 : -1) : 0;
  memcpy(data(r, r->y), data(r, r->value), sizeof(double) * (size_t)j->n);
  if (r->implicit) memcpy(data(r, r->yp), data(r, r->rate), sizeof(double) * (size_t)j->n);
  *reached = high;
  return 1;
}

/* The event functions where every variable is off by its tolerance; gives null where they have no value. */
static const double *guards_off(run *r, int alike) {
  tg_job *j = r->job;
  double *y = data(r, r->value), *rate = data(r, r->rate), *g = r->guards[5];
  tg_move_by_tolerances(j, alike, y);
  if (r->implicit) memcpy(rate, j->yp, sizeof(double) * (size_t)j->n);
  int bad = (!r->implicit && j->rhs(j->context, j->t, y, rate)) || j->events(j->context, j->t, y, rate, g);
  return bad ? 0 : g;
}

/* Bends rest that were found on the last step, where the run goes on now: what they differ by is what that step did not know of rates. */
static void let_bends_rest(run *r) {
  tg_job *j = r->job;
  if (!tg_any_bend(j, r->signs)) return;
  tg_rest_bends(j, r->signs, r->guards[0], r->guards[4]);
  for (int alike = 0; alike < 2; alike++) {
    const double *off = guards_off(r, alike);
    if (off) tg_rest_bends(j, r->signs, r->guards[0], off);
  }
}

/* Whether the event functions that pass zero now differ by more than they swing where every variable is off by its tolerance. */
static int below_tolerance(run *r) {
  tg_job *j = r->job;
  const double *g = guards_off(r, 1);
  if (!g) return 0;
  for (int e = 0; e < j->n_events; e++)
    if (r->signs[e] && fabs(g[e]) > r->swing) return 1;
  return 0;
}

/* Note how far event functions swung before an event; returns whether thousands of swings were too small for the tolerance to see. */
static int swings_in_vain(run *r) {
  tg_job *j = r->job;
  for (int e = 0; e < j->n_events; e++)
    if (r->signs[e]) r->swing = fmax(r->swing, fmax(fabs(r->guards[0][e]), fabs(r->guards[2][e])));
  int64_t n = j->n_instants;
  if (n & (n - 1)) return 0;
  if (n >= MANY_SMALL_SWINGS && below_tolerance(r)) return 1;
  r->swing = 0;
  return 0;
}

/* rows of the start itself, where there is no step to interpolate on */
static int write_start(run *r) {
  tg_job *j = r->job;
  size_t size = sizeof(double) * (size_t)j->n;
  if (rates(r)) return TG_NOT_FINITE;
  if (tg_remember_break(j)) return TG_NOT_FINITE;
  r->n_kept = 0;
  if (note_powers(r, j->t, j->y, j->yp)) return TG_NOT_FINITE;
  int bad = tg_step_seen(j, 0, 0, j->t, j->t);
  if (bad) return bad;
  for (; j->next_time < j->n_times && j->times[j->next_time] <= j->t; j->next_time++) {
    memcpy(j->out_y + (size_t)j->n * (size_t)j->next_time, j->y, size);
    memcpy(j->out_yp + (size_t)j->n * (size_t)j->next_time, j->yp, size);
  }
  return 0;
}

/* Whether no more than rounding of time is left, in which the library makes no step: then the run stands at `stop`, rows included. */
static int arrives(run *r, double stop, int *bad) {
  tg_job *j = r->job;
  if (stop - j->t > tg_gap(stop)) return 0;
  j->t = j->progress = fmax(j->t, stop);
  *bad = write_start(r);
  return 1;
}

/* Begin anew where latches have settled: unknowns follow from what these hold, and these may follow from unknowns. */
static int restart_settled(run *r) {
  tg_job *j = r->job;
  int bad = restart(r);
  for (int round = 0, changed = 1; !bad && changed; round++) {
    if (round == TG_MOST_ANSWERS) return TG_CHATTERING;
    bad = rates(r) ? TG_NOT_FINITE : tg_settle_latches(j, &changed);
    if (!bad && changed) bad = restart(r);
    if (!bad && changed) bad = rates(r) ? TG_NOT_FINITE : tg_guard_jumped(j);
  }
  return bad;
}

/* Whether the last step has flown over a steep part of a law: what storages keep, by three points of Gauss on its polynomial. */
static int flies_over(run *r, double to) {
  tg_job *j = r->job;
  double h = to - j->t;
  if (!j->n_contents || h <= 1024 * tg_gap(to) || tg_contents_begin(&r->contents, j, j->t, j->y, r->rates_before)) return 0;
  for (int q = 0; q < 3; q++) {
    double t = j->t + GAUSS_POINTS[q] * h;
    if (interpolate(r, t, 0, 0) || tg_contents_pass(&r->contents, j, GAUSS_WEIGHTS[q] * h, t, data(r, r->value), data(r, r->rate))) return 0;
  }
  return tg_contents_hide(&r->contents, j, to, j->y, data(r, r->y), data(r, r->rate));
}

/* Back to where the last step began, to go on with a shorter one. */
static int take_back(run *r, double h, double stop) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  size_t size = sizeof(double) * (size_t)j->n;
  j->rejected++;
  memcpy(data(r, r->y), j->y, size);
  memcpy(j->yp, r->rates_before, size);
  int bad = r->implicit ? s->IDAReInit(r->memory, j->t, r->y, r->yp) || s->IDASetInitStep(r->memory, h) || s->IDASetStopTime(r->memory, stop)
                        : s->CVodeReInit(r->memory, j->t, r->y) || s->CVodeSetInitStep(r->memory, h) || s->CVodeSetStopTime(r->memory, stop);
  return bad ? TG_LIBRARY : 0;
}

/* One stretch without breaks, up to `halt`; returns -1 when the halt is reached. */
static int advance(run *r, double halt) {
  const tg_sundials *s = r->api;
  tg_job *j = r->job;
  double stop = tg_stop_before(j, halt);
  int bad = 0, stuck = 0;
  if (arrives(r, stop, &bad)) return bad ? bad : -1;
  if (r->implicit ? s->IDASetStopTime(r->memory, stop) : s->CVodeSetStopTime(r->memory, stop)) return TG_LIBRARY;
  if (j->n_events && j->events(j->context, j->t, j->y, j->yp, r->guards[0])) return TG_NOT_FINITE;
  tg_wake_bends(j, r->guards[0]);
  for (;;) {
    double reached = j->t;
    j->context->failed = 0;
    if (j->n_contents) memcpy(r->rates_before, j->yp, sizeof(double) * (size_t)j->n);
    int flag = r->implicit ? s->IDASolve(r->memory, stop, &reached, r->y, r->yp, ONE_STEP)
                           : s->CVode(r->memory, stop, r->y, &reached, ONE_STEP);
    if (flag < 0) return status_of(r, flag);
    j->steps++;
    stuck = reached - j->t <= tg_gap(reached) ? stuck + 1 : 0;
    if (stuck > 100) return TG_TINY_STEP; /* the library itself goes on until steps vanish */
    int event = j->n_events ? find_event(r, &reached) : 0;
    if (event < 0) return TG_NOT_FINITE;
    /* A bend is an event, and up to there the law is followed. */
    if (flies_over(r, reached)) {
      j->steps--;
      bad = take_back(r, BACK * (reached - j->t), stop);
      if (bad || (j->n_events && j->events(j->context, j->t, j->y, j->yp, r->guards[0]))) return bad ? bad : TG_NOT_FINITE;
      continue;
    }
    bad = book(r, j->t, reached);
    if (!bad) bad = write_rows(r, reached);
    if (!bad) bad = tg_step_seen(j, point_at, r, j->t, reached);
    double start = j->t;
    j->t = reached;
    j->progress = reached;
    memcpy(j->y, data(r, r->y), sizeof(double) * (size_t)j->n);
    tg_turns_see(&r->turns, j, j->y);
    if (!bad && j->history) bad = remember(r, start, event && !tg_ends_stretch(j, r->signs));
    if (bad) return bad;
    if (event) {
      if (tg_log_events(j, reached, r->signs)) {
        return rates(r) ? TG_NOT_FINITE : TG_EVENT;
      }
      if (rates(r)) return TG_NOT_FINITE;
      if (tg_jumps(j, r->signs) && (tg_chatters(j, reached) || (j->detail = swings_in_vain(r)))) return TG_CHATTERING;
      bad = restart_settled(r);
      r->n_kept = 0;
      if (!bad) bad = note_powers(r, j->t, j->y, j->yp);
      if (bad) return bad;
      if (j->events(j->context, j->t, j->y, j->yp, r->guards[0])) return TG_NOT_FINITE;
      tg_wake_bends(j, r->guards[0]);
      let_bends_rest(r);
      if (arrives(r, stop, &bad)) return bad ? bad : -1;
      bad = r->implicit ? s->IDASetStopTime(r->memory, stop) : s->CVodeSetStopTime(r->memory, stop);
      if (bad) return TG_LIBRARY;
    }
    if ((flag == TSTOP_RETURN && !event) || reached >= stop) return -1;
    if (j->cancel) return TG_CANCELLED;
    if (tg_too_many_steps(j)) return TG_MANY_STEPS;
  }
}

static int go(run *r) {
  tg_job *j = r->job;
  /* Where a mode has just begun, what latches read may have jumped. */
  int bad = tg_has_latches(j) ? restart_settled(r) : 0;
  if (!bad) bad = write_start(r);
  if (bad) return bad;
  for (;;) {
    double before = j->t, halt = tg_next_halt(j);
    int status = advance(r, halt);
    if (status > TG_EVENT && !r->implicit) {
      /* whoever asks why reads the rates, too, and what failed last */
      int failed = j->context->failed;
      if (j->rhs(j->context, j->t, j->y, data(r, r->rate)) == 0) memcpy(j->yp, data(r, r->rate), sizeof(double) * (size_t)j->n);
      if (failed) j->context->failed = failed;
    }
    if (status >= 0) return status;
    while (j->next_stop < j->n_stops && j->stops[j->next_stop] <= halt) j->next_stop++;
    if (rates(r)) return TG_NOT_FINITE;
    if (tg_ends_at(j, before, halt)) return TG_FINISHED;
    j->t = tg_go_on_after(j, halt);
    status = tg_take_samples(j, before);
    if (!status) status = restart_settled(r);
    if (!status) status = write_start(r);
    if (!status && j->t >= j->until) return TG_FINISHED;
    if (!status) status = tg_guard_jumped(j);
    if (status) return status;
  }
}

static int run_job(tg_job *j, int implicit) {
  run r = {.api = the_api, .job = j, .implicit = implicit};
  run *outer = the_run;
  the_run = &r;
  int status = open_vectors(&r);
  if (!status) status = implicit ? open_ida(&r) : open_cvode(&r);
  if (!status) status = go(&r);
  if (r.memory) {
    long failures = 0;
    implicit ? r.api->IDAGetNumErrTestFails(r.memory, &failures) : r.api->CVodeGetNumErrTestFails(r.memory, &failures);
    implicit ? r.api->IDAGetLastStep(r.memory, &j->last_step) : r.api->CVodeGetLastStep(r.memory, &j->last_step);
    j->rejected += failures;
  }
  close_run(&r);
  the_run = outer;
  return status;
}

void tg_use_sundials(const tg_sundials *table) {
  the_api = table;
}

int tg_cvode(tg_job *j) {
  return run_job(j, 0);
}

int tg_ida(tg_job *j) {
  return run_job(j, 1);
}
