/* Many runs of crank_rod by hand: the model's own equations, Tsitouras's pair of order 5 (Computers & Mathematics with Applications 62,
 * 2011), and loops over WIDTH runs that the compiler turns into vectors. Each lane has a time and a step of its own; a group of runs
 * ends with its slowest one. It is compiled with -ffast-math, and so with the vector library of the C library for powers.
 */
#include <math.h>

#define WIDTH 16
#define EACH _Pragma("omp simd") for (int l = 0; l < WIDTH; l++)
#define BOTH _Pragma("GCC unroll 2") for (int i = 0; i < 2; i++)

typedef double lane[WIDTH];

enum { OMEGA, THETA };
static const double R = 0.05, L = 0.15, OFF = 0.01, INERTIA = 0.01, TORQUE = 2.0;

/* Taylor's series behind a reduction to half a turn, which angles of some thousand turns need no more of. */
static inline void sine_and_cosine(double x, double *s, double *c) {
  const double n = rint(x * 0.31830988618379067), r = (x - n * 3.141592653589793) - n * 1.2246467991473532e-16, z = r * r;
  const double sign = 1.0 - 2.0 * (n - 2.0 * floor(0.5 * n));
  double a = -8.22063524662433e-18, b = 4.110317623312165e-19;
  a = a * z + 2.8114572543455206e-15;
  a = a * z - 7.647163731819816e-13;
  a = a * z + 1.6059043836821613e-10;
  a = a * z - 2.505210838544172e-08;
  a = a * z + 2.7557319223985893e-06;
  a = a * z - 1.984126984126984e-04;
  a = a * z + 8.333333333333333e-03;
  a = a * z - 1.6666666666666666e-01;
  b = b * z - 1.5619206968586225e-16;
  b = b * z + 4.779477332387385e-14;
  b = b * z - 1.1470745597729725e-11;
  b = b * z + 2.08767569878681e-09;
  b = b * z - 2.755731922398589e-07;
  b = b * z + 2.48015873015873e-05;
  b = b * z - 1.388888888888889e-03;
  b = b * z + 4.1666666666666664e-02;
  b = b * z - 0.5;
  *s = sign * (r + r * z * a);
  *c = sign * (1.0 + z * b);
}

/* `p` are friction of the motor, mass of the piston and damping of the piston. */
static void rates(lane p[3], lane y[2], lane f[2]) {
  EACH {
    double s, c;
    sine_and_cosine(y[THETA][l], &s, &c);
    const double a = R * s - OFF, square = 1.0 / (L * L - a * a), part = sqrt(square);
    const double H = -R * (s + c * a * part), slope = R * (s * a * part - c - R * c * c * part * (1.0 + a * a * square));
    const double speed = y[OMEGA][l], load = p[0][l] + H * H * p[2][l] + H * slope * p[1][l] * speed;
    f[OMEGA][l] = (TORQUE - load * speed) / (INERTIA + H * H * p[1][l]);
    f[THETA][l] = speed;
  }
}

#define STAGE(number, ...)                                 \
  BOTH EACH at[i][l] = y[i][l] + h[l] * (__VA_ARGS__);     \
  rates(p, at, k[number]);

static void group(const double *values, int runs, double until, double rtol, const double *atol, double *out) {
  lane p[3], y[2], at[2], k[7][2], t, h;
  EACH {
    const int run = l < runs ? l : runs - 1;
    for (int i = 0; i < 3; i++) p[i][l] = values[3 * run + i];
    y[OMEGA][l] = 0.0;
    y[THETA][l] = 1.5707963267948966;
    t[l] = 0.0;
    h[l] = 1e-4;
  }
  rates(p, y, k[0]);
  for (int left = 1; left;) {
    EACH h[l] = fmin(h[l], until - t[l]);
    STAGE(1, 0.161 * k[0][i][l])
    STAGE(2, -0.008480655492356989 * k[0][i][l] + 0.335480655492357 * k[1][i][l])
    STAGE(3, 2.8971530571054935 * k[0][i][l] - 6.359448489975075 * k[1][i][l] + 4.3622954328695815 * k[2][i][l])
    STAGE(4, 5.325864828439257 * k[0][i][l] - 11.748883564062828 * k[1][i][l] + 7.4955393428898365 * k[2][i][l] -
                 0.09249506636175525 * k[3][i][l])
    STAGE(5, 5.86145544294642 * k[0][i][l] - 12.92096931784711 * k[1][i][l] + 8.159367898576159 * k[2][i][l] -
                 0.071584973281401 * k[3][i][l] - 0.028269050394068383 * k[4][i][l])
    STAGE(6, 0.09646076681806523 * k[0][i][l] + 0.01 * k[1][i][l] + 0.4798896504144996 * k[2][i][l] + 1.379008574103742 * k[3][i][l] -
                 3.290069515436081 * k[4][i][l] + 2.324710524099774 * k[5][i][l])
    left = 0;
    lane error;
    EACH error[l] = 0.0;
    BOTH EACH {
      const double e = 0.0017800110522257773 * k[0][i][l] + 0.0008164344596567463 * k[1][i][l] - 0.007880878010261994 * k[2][i][l] +
                       0.1447110071732629 * k[3][i][l] - 0.5823571654525552 * k[4][i][l] + 0.45808210592918686 * k[5][i][l] -
                       0.015151515151515152 * k[6][i][l];
      error[l] = fmax(error[l], fabs(h[l] * e) / (atol[i] + rtol * fmax(fabs(y[i][l]), fabs(at[i][l]))));
    }
    EACH {
      const int good = error[l] <= 1.0;
      t[l] += good ? h[l] : 0.0;
      BOTH y[i][l] = good ? at[i][l] : y[i][l];
      BOTH k[0][i][l] = good ? k[6][i][l] : k[0][i][l];
      const float factor = 0.9f * powf((float)error[l] + 1e-10f, -0.2f);
      h[l] *= fminf(fmaxf(factor, 0.2f), 5.0f);
    }
    for (int l = 0; l < WIDTH; l++) left |= t[l] < until;
  }
  for (int l = 0; l < runs; l++) BOTH out[2 * l + i] = y[i][l];
}

void crank_rods_in_vectors(int count, const double *values, double until, double rtol, const double *atol, double *out) {
  for (int first = 0; first < count; first += WIDTH)
    group(values + 3 * first, count - first < WIDTH ? count - first : WIDTH, until, rtol, atol, out + 2 * first);
}
