/* What an engineer would write by hand for the problems: CVODE with native functions and analytic Jacobians, a Runge-Kutta pair for
 * the crank, and the Taylor series of the exponential for the lossless ladder. Linked with the SUNDIALS libraries of the wheel, which come without headers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct _generic_N_Vector *N_Vector;
typedef struct _generic_SUNMatrix *SUNMatrix;
typedef struct _generic_SUNLinearSolver *SUNLinearSolver;
typedef struct _generic_SUNNonlinearSolver *SUNNonlinearSolver;
typedef struct SUNContext_ *SUNContext;
typedef int rhs_fn(double, N_Vector, N_Vector, void *);
typedef int jacobian_fn(double, N_Vector, N_Vector, SUNMatrix, void *, N_Vector, N_Vector, N_Vector);

int SUNContext_Create(int, SUNContext *);
int SUNContext_Free(SUNContext *);
N_Vector N_VMake_Serial(int, double *, SUNContext);
double *N_VGetArrayPointer_Serial(N_Vector);
void N_VDestroy_Serial(N_Vector);
void *CVodeCreate(int, SUNContext);
int CVodeInit(void *, rhs_fn *, double, N_Vector);
int CVodeSStolerances(void *, double, double);
int CVodeSVtolerances(void *, double, N_Vector);
int CVodeSetUserData(void *, void *);
int CVodeSetMaxNumSteps(void *, long);
int CVodeSetLinearSolver(void *, SUNLinearSolver, SUNMatrix);
int CVodeSetNonlinearSolver(void *, SUNNonlinearSolver);
int CVodeSetJacFn(void *, jacobian_fn *);
int CVodeSetStopTime(void *, double);
int CVode(void *, double, N_Vector, double *, int);
int CVodeGetNumSteps(void *, long *);
void CVodeFree(void **);
SUNMatrix SUNBandMatrix(int, int, int, SUNContext);
double *SUNBandMatrix_Column(SUNMatrix, int);
void SUNMatDestroy(SUNMatrix);
SUNLinearSolver SUNLinSol_Band(N_Vector, SUNMatrix, SUNContext);
int SUNLinSolFree(SUNLinearSolver);
SUNNonlinearSolver SUNNonlinSol_FixedPoint(N_Vector, int, SUNContext);
int SUNNonlinSolFree(SUNNonlinearSolver);

enum { ADAMS = 1, BDF = 2, NORMAL = 1, MOST_STEPS = 10000000 };

/* P1: theta, omega. Constants: R, L, d, J_m, m_p, b_m, b_p, tau. */
static void crank(const double *c, const double *y, double *f) {
  const double s = sin(y[0]), k = cos(y[0]), u = c[0] * s - c[2], q = c[1] * c[1] - u * u;
  const double g = 1 / sqrt(q), a = c[0] * k, ug = u * g;
  const double H = -c[0] * s - a * ug, dH = -a + c[0] * s * ug - a * a * g * (1 + ug * ug);
  const double w = y[1], m = c[4] * H;
  f[0] = w;
  f[1] = (c[7] - (c[5] + c[6] * H * H + m * dH * w) * w) / (c[3] + m * H);
}

#include "order_8.h"

static int crank_rhs(double t, N_Vector y, N_Vector f, void *c) {
  (void)t;
  crank(c, N_VGetArrayPointer_Serial(y), N_VGetArrayPointer_Serial(f));
  return 0;
}

/* P2: f_1, v_1, f_2, v_2, ... Constants: m, k, d, F_c, v_c, F, f, number of masses. */
static int chain_rhs(double t, N_Vector y_, N_Vector f_, void *given) {
  const double *c = given, *y = N_VGetArrayPointer_Serial(y_);
  double *f = N_VGetArrayPointer_Serial(f_);
  const int n = (int)c[7];
  double before = 0, link, rate;
  for (int i = 0; i < n; i++) {
    rate = before - y[2 * i + 1];
    f[2 * i] = c[1] * rate;
    link = y[2 * i] + c[2] * rate;
    f[2 * i + 1] = link - c[3] * tanh(y[2 * i + 1] / c[4]);
    if (i) f[2 * i - 1] -= link;
    before = y[2 * i + 1];
  }
  f[2 * n - 1] += c[5] * sin(6.283185307179586 * c[6] * t);
  for (int i = 0; i < n; i++) f[2 * i + 1] /= c[0];
  return 0;
}

static int chain_jacobian(double t, N_Vector y_, N_Vector f, SUNMatrix J, void *given, N_Vector a, N_Vector b, N_Vector e) {
  (void)t, (void)f, (void)a, (void)b, (void)e;
  const double *c = given, *y = N_VGetArrayPointer_Serial(y_);
  const int n = (int)c[7];
#define AT(i, j) SUNBandMatrix_Column(J, j)[(i) - (j)]
  for (int i = 0; i < n; i++) {
    const double th = tanh(y[2 * i + 1] / c[4]);
    AT(2 * i, 2 * i + 1) = -c[1];
    AT(2 * i + 1, 2 * i) = 1 / c[0];
    AT(2 * i + 1, 2 * i + 1) = (-c[2] * (i + 1 < n ? 2 : 1) - c[3] / c[4] * (1 - th * th)) / c[0];
    if (i) {
      AT(2 * i, 2 * i - 1) = c[1];
      AT(2 * i - 1, 2 * i) = -1 / c[0];
      AT(2 * i + 1, 2 * i - 1) = AT(2 * i - 1, 2 * i + 1) = c[2] / c[0];
    }
  }
  return 0;
}

/* P4: the ring modulator of the IVP test set (release 2.4), with the parasitic capacity C_s. Constants: C, C_s, C_p, L_h, L_s1, L_s2,
 * L_s3, gamma, delta, R, R_p, R_g1, R_g2, R_g3, R_i, R_c. */
static int ring_rhs(double t, N_Vector y_, N_Vector f_, void *given) {
  const double *c = given, *y = N_VGetArrayPointer_Serial(y_);
  double *f = N_VGetArrayPointer_Serial(f_), q[4];
  const double u1 = 0.5 * sin(6283.185307179586 * t), u2 = 2 * sin(62831.85307179586 * t);
  const double u[4] = {y[2] - y[4] - y[6] - u2, -y[3] + y[5] - y[6] - u2, y[3] + y[4] + y[6] + u2, -y[2] - y[5] + y[6] + u2};
  for (int k = 0; k < 4; k++) {
    if (c[8] * u[k] > 300) return 1; /* the library tries a shorter step */
    q[k] = c[7] * (exp(c[8] * u[k]) - 1);
  }
  f[0] = (y[7] - 0.5 * y[9] + 0.5 * y[10] + y[13] - y[0] / c[9]) / c[0];
  f[1] = (y[8] - 0.5 * y[11] + 0.5 * y[12] + y[14] - y[1] / c[9]) / c[0];
  f[2] = (y[9] - q[0] + q[3]) / c[1];
  f[3] = (-y[10] + q[1] - q[2]) / c[1];
  f[4] = (y[11] + q[0] - q[2]) / c[1];
  f[5] = (-y[12] - q[1] + q[3]) / c[1];
  f[6] = (-y[6] / c[10] + q[0] + q[1] - q[2] - q[3]) / c[2];
  f[7] = -y[0] / c[3];
  f[8] = -y[1] / c[3];
  f[9] = (0.5 * y[0] - y[2] - c[12] * y[9]) / c[5];
  f[10] = (-0.5 * y[0] + y[3] - c[13] * y[10]) / c[6];
  f[11] = (0.5 * y[1] - y[4] - c[12] * y[11]) / c[5];
  f[12] = (-0.5 * y[1] + y[5] - c[13] * y[12]) / c[6];
  f[13] = (-y[0] + u1 - (c[14] + c[11]) * y[13]) / c[4];
  f[14] = (-y[1] - (c[15] + c[11]) * y[14]) / c[4];
  return 0;
}

static long steps;

long steps_taken(void) {
  return steps;
}

/* Run CVODE over equidistant times; out holds one row a time. Returns a SUNDIALS flag. */
static int march(int method, rhs_fn *rhs, jacobian_fn *jacobian, int band, void *c, int n, double until, int samples, double rtol,
                 double *atol, double *out) {
  SUNContext context;
  SUNContext_Create(0, &context);
  double *state = calloc((size_t)n, sizeof *state);
  N_Vector y = N_VMake_Serial(n, state, context), weights = N_VMake_Serial(n, atol, context);
  void *solver = CVodeCreate(method, context);
  SUNMatrix J = 0;
  SUNLinearSolver linear = 0;
  SUNNonlinearSolver fixed = 0;
  CVodeInit(solver, rhs, 0, y);
  CVodeSVtolerances(solver, rtol, weights);
  CVodeSetUserData(solver, c);
  CVodeSetMaxNumSteps(solver, MOST_STEPS);
  if (method == BDF) {
    J = SUNBandMatrix(n, band, band, context);
    linear = SUNLinSol_Band(y, J, context);
    CVodeSetLinearSolver(solver, linear, J);
    CVodeSetJacFn(solver, jacobian);
  } else {
    fixed = SUNNonlinSol_FixedPoint(y, 0, context);
    CVodeSetNonlinearSolver(solver, fixed);
  }
  double t = 0;
  int flag = 0;
  memcpy(out, state, (size_t)n * sizeof *out);
  for (int k = 1; k < samples && flag >= 0; k++) {
    flag = CVode(solver, until * k / (samples - 1), y, &t, NORMAL);
    memcpy(out + (size_t)k * n, state, (size_t)n * sizeof *out);
  }
  CVodeGetNumSteps(solver, &steps);
  CVodeFree(&solver);
  if (J) SUNLinSolFree(linear), SUNMatDestroy(J);
  if (fixed) SUNNonlinSolFree(fixed);
  N_VDestroy_Serial(y), N_VDestroy_Serial(weights);
  SUNContext_Free(&context);
  free(state);
  return flag;
}

int crank_by_cvode(double *c, double until, int samples, double rtol, double *atol, double *out) {
  return march(ADAMS, crank_rhs, 0, 0, c, 2, until, samples, rtol, atol, out);
}

int chain_by_cvode(double *c, double until, int samples, double rtol, double *atol, double *out) {
  return march(BDF, chain_rhs, chain_jacobian, 2, c, 2 * (int)c[7], until, samples, rtol, atol, out);
}

/* The Jacobian by differences, a full matrix. */
int ring_by_cvode(double *c, double until, int samples, double rtol, double *atol, double *out) {
  return march(BDF, ring_rhs, 0, 14, c, 15, until, samples, rtol, atol, out);
}

/* P3: the exponential of the ladder by its Taylor series, step by step; i and v interleaved by loops over both arrays. */
static void ladder_rate(int n, const double *i, const double *v, double source, double *di, double *dv) {
  di[0] = source - v[0];
  for (int k = 1; k < n; k++) di[k] = v[k - 1] - v[k];
  for (int k = 0; k < n - 1; k++) dv[k] = i[k] - i[k + 1];
  dv[n - 1] = i[n - 1];
}

int ladder_by_taylor(int n, double until, int samples, double tolerance, double *out) {
  double *y = calloc((size_t)n * 6, sizeof *y), *term = y + 2 * n, *next = y + 4 * n;
  const double interval = until / (samples - 1);
  const int parts = (int)ceil(interval / 4); /* the spectral radius is 2: eight per step is near the least work */
  const double h = interval / parts;
  for (int k = 0; k < samples; k++) {
    for (int part = 0; k && part < parts; part++) {
      memcpy(term, y, 2 * (size_t)n * sizeof *y);
      for (int order = 1; order < 100; order++) {
        ladder_rate(n, term, term + n, order == 1 ? 1.0 : 0.0, next, next + n);
        double largest = 0;
        for (int j = 0; j < 2 * n; j++) {
          next[j] *= h / order;
          y[j] += next[j];
          if (fabs(next[j]) > largest) largest = fabs(next[j]);
        }
        double *swap = term;
        term = next, next = swap;
        if (largest < tolerance) break;
      }
    }
    memcpy(out + (size_t)k * 2 * n, y, 2 * (size_t)n * sizeof *y);
  }
  free(y);
  return 0;
}
