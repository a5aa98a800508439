/* A chain of n equal links on pins, under gravity, as an engineer would write it: velocities and accelerations outwards,
 * forces inwards, the mass matrix from what hangs behind each pin, and its Cholesky factors.
 * y holds n angular velocities, then n angles; both are absolute. */

#include <math.h>

enum { MOST = 64 };

typedef struct {
  int n;
  double m, J, l, h, g; /* mass, inertia, length, distance of the centre, gravity */
} chain;

int chain_rhs(void *data, double t, const double *y, double *out) {
  const chain *c = data;
  const int n = c->n;
  const double m = c->m, l = c->l, h = c->h;
  double C[MOST], S[MOST], M[MOST][MOST], q[MOST];
  (void)t;
  double ax = 0.0, ay = 0.0; /* of the pin, without angular accelerations */
  double fx[MOST], fy[MOST];
  for (int i = 0; i < n; ++i) {
    C[i] = cos(y[n + i]);
    S[i] = sin(y[n + i]);
    const double w2 = y[i] * y[i];
    fx[i] = m * (ax - h * C[i] * w2);
    fy[i] = m * (ay - h * S[i] * w2 + c->g);
    ax -= l * C[i] * w2;
    ay -= l * S[i] * w2;
  }
  double Fx = 0.0, Fy = 0.0;
  for (int i = n - 1; i >= 0; --i) {
    q[i] = l * (S[i] * Fx - C[i] * Fy) + h * (S[i] * fx[i] - C[i] * fy[i]);
    Fx += fx[i];
    Fy += fy[i];
    const double behind = (n - 1 - i) * m;
    M[i][i] = c->J + m * h * h + behind * l * l;
    const double coupled = m * h * l + behind * l * l;
    for (int j = 0; j < i; ++j) M[i][j] = coupled * (C[i] * C[j] + S[i] * S[j]);
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = M[i][j];
      for (int k = 0; k < j; ++k) sum -= M[i][k] * M[j][k];
      M[i][j] = i == j ? sqrt(sum) : sum / M[j][j];
    }
    double sum = q[i];
    for (int k = 0; k < i; ++k) sum -= M[i][k] * q[k];
    q[i] = sum / M[i][i];
  }
  for (int i = n - 1; i >= 0; --i) {
    double sum = q[i];
    for (int k = i + 1; k < n; ++k) sum -= M[k][i] * q[k];
    q[i] = sum / M[i][i];
    out[i] = q[i];
    out[n + i] = y[i];
  }
  return 0;
}

/* Call a right-hand side many times, each at another point, so that no call can be left out. */
double called(int (*rhs)(void *, double, const double *, double *), void *data, double *y, double *out, int size, long calls) {
  double sum = 0.0;
  for (long k = 0; k < calls; ++k) {
    y[size - 1] += 1e-9;
    rhs(data, 0.0, y, out);
    sum += out[0];
  }
  return sum;
}
