/* P1 by a Runge-Kutta pair of order 8 (Dormand and Prince 8(5,3); Hairer, Norsett and Wanner, Solving Ordinary Differential
 * Equations I, section II.5), written out for two variables and a rate that does not depend on time. Steps end at the output times. */

#define EACH for (int i = 0; i < 2; i++)
#define STAGE(number, ...)                       \
  EACH at[i] = y[i] + h * (__VA_ARGS__);         \
  crank(c, at, k[number]);

static void step_of_order_8(const double *c, const double *y, double h, double k[12][2], double *end) {
  double at[2];
  STAGE(1, 0.05260015195876773 * k[0][i])
  STAGE(2, 0.0197250569845379 * k[0][i] + 0.0591751709536137 * k[1][i])
  STAGE(3, 0.02958758547680685 * k[0][i] + 0.08876275643042054 * k[2][i])
  STAGE(4, 0.2413651341592667 * k[0][i] - 0.8845494793282861 * k[2][i] + 0.924834003261792 * k[3][i])
  STAGE(5, 0.037037037037037035 * k[0][i] + 0.17082860872947386 * k[3][i] + 0.12546768756682242 * k[4][i])
  STAGE(6, 0.037109375 * k[0][i] + 0.17025221101954405 * k[3][i] + 0.06021653898045596 * k[4][i] - 0.017578125 * k[5][i])
  STAGE(7, 0.03709200011850479 * k[0][i] + 0.17038392571223998 * k[3][i] + 0.10726203044637328 * k[4][i] -
               0.015319437748624402 * k[5][i] + 0.008273789163814023 * k[6][i])
  STAGE(8, 0.6241109587160757 * k[0][i] - 3.3608926294469414 * k[3][i] - 0.868219346841726 * k[4][i] +
               27.59209969944671 * k[5][i] + 20.154067550477894 * k[6][i] - 43.48988418106996 * k[7][i])
  STAGE(9, 0.47766253643826434 * k[0][i] - 2.4881146199716677 * k[3][i] - 0.590290826836843 * k[4][i] +
               21.230051448181193 * k[5][i] + 15.279233632882423 * k[6][i] - 33.28821096898486 * k[7][i] -
               0.020331201708508627 * k[8][i])
  STAGE(10, -0.9371424300859873 * k[0][i] + 5.186372428844064 * k[3][i] + 1.0914373489967295 * k[4][i] -
                8.149787010746927 * k[5][i] - 18.52006565999696 * k[6][i] + 22.739487099350505 * k[7][i] +
                2.4936055526796523 * k[8][i] - 3.0467644718982196 * k[9][i])
  STAGE(11, 2.273310147516538 * k[0][i] - 10.53449546673725 * k[3][i] - 2.0008720582248625 * k[4][i] -
                17.9589318631188 * k[5][i] + 27.94888452941996 * k[6][i] - 2.8589982771350235 * k[7][i] -
                8.87285693353063 * k[8][i] + 12.360567175794303 * k[9][i] + 0.6433927460157636 * k[10][i])
  EACH end[i] = y[i] + h * (0.054293734116568765 * k[0][i] + 4.450312892752409 * k[5][i] + 1.8915178993145003 * k[6][i] -
                            5.801203960010585 * k[7][i] + 0.3111643669578199 * k[8][i] - 0.1521609496625161 * k[9][i] +
                            0.20136540080403034 * k[10][i] + 0.04471061572777259 * k[11][i]);
}

/* The error of the step by both estimates of the pair, 1 being the tolerance. */
static double error_of_order_8(const double *y, const double *end, double h, double k[12][2], double rtol, const double *atol) {
  double fine = 0, coarse = 0;
  EACH {
    const double scale = atol[i] + rtol * fmax(fabs(y[i]), fabs(end[i]));
    const double a = 0.01312004499419488 * k[0][i] - 1.2251564463762044 * k[5][i] - 0.4957589496572502 * k[6][i] +
                     1.6643771824549864 * k[7][i] - 0.35032884874997366 * k[8][i] + 0.3341791187130175 * k[9][i] +
                     0.08192320648511571 * k[10][i] - 0.022355307863886294 * k[11][i];
    const double b = -0.18980075407240762 * k[0][i] + 4.450312892752409 * k[5][i] + 1.8915178993145003 * k[6][i] -
                     5.801203960010585 * k[7][i] - 0.4226823213237919 * k[8][i] - 0.1521609496625161 * k[9][i] +
                     0.20136540080403034 * k[10][i] + 0.02265179219836082 * k[11][i];
    fine = fmax(fine, fabs(a) / scale), coarse = fmax(coarse, fabs(b) / scale);
  }
  return fine > 0 ? h * fine * fine / sqrt(fine * fine + 0.01 * coarse * coarse) : 0;
}

/* From 0 over equidistant times; out holds one row a time. */
int crank_by_order_8(double *c, double until, int samples, double rtol, double *atol, double *out) {
  double y[2] = {0, 0}, end[2], k[12][2], t = 0, next = 1e-4;
  crank(c, y, k[0]);
  EACH out[i] = y[i];
  for (int row = 1; row < samples; row++) {
    const double stop = until * row / (samples - 1);
    for (int reached = 0; !reached;) {
      const double left = stop - t;
      reached = next >= left;
      const double h = reached ? left : next > 0.5 * left ? 0.5 * left : next;
      step_of_order_8(c, y, h, k, end);
      const double error = error_of_order_8(y, end, h, k, rtol, atol), factor = 0.9 * pow(fmax(error, 1e-9), -0.125);
      if (!(error <= 1)) {
        next = h * fmax(factor, 0.2);
        reached = 0;
        continue;
      }
      if (!reached || factor < 1) next = h * fmin(factor, 6);
      t = reached ? stop : t + h;
      EACH y[i] = end[i];
      crank(c, y, k[0]);
    }
    EACH out[2 * row + i] = y[i];
  }
  return 0;
}
#undef EACH
#undef STAGE
