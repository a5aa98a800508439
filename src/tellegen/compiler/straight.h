/* Functions for straight lines: without branches, tables or calls, so that compilers turn loops over them into vectors, and so that they give
 * the same bits on every processor. Each is good to about two units in the last place; polynomials are those of fdlibm (Sun Microsystems,
 * 1993) and Taylor's. Where an argument is too large to be reduced, the result is not a number: whoever made the run makes it again by the
 * library. TG_INLINE says how a function is put in.
 */
#ifdef __CUDACC__
/* A quotient of numbers would be divided anew at each place. */
#define NAN __int_as_float(0x7fffffff)
#define INFINITY __int_as_float(0x7f800000)
#endif

/* Quotients and roots. On a card those of the library branch for numbers near the ends of the range, which keeps what stands beside them from
 * being interleaved: there an estimate is refined to the last place or two, and what is nearly zero or no number leads to none. */
#if defined(__CUDACC__) && defined(TG_SINGLE)
static TG_INLINE double tg_over(double a, double b) { return __fdividef(a, b); }
static TG_INLINE double tg_root(double x) { return x == 0.0 ? 0.0 : x * rsqrtf(x); }
#elif defined(__CUDACC__)
static TG_INLINE double tg_over(double a, double b) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  const double e = fma(-b, r, 1.0), once = fma(r, fma(e, e, e), r), q = a * once;
  return fma(once, fma(-b, q, a), q);
}
static TG_INLINE double tg_root(double x) {
  double r;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
  const double e = fma(-x * r, r, 1.0), once = fma(r * e, fma(0.375, e, 0.5), r), q = x * once;
  return x == 0.0 ? 0.0 : fma(0.5 * once, fma(-q, q, x), q);
}
#else
static TG_INLINE double tg_over(double a, double b) { return a / b; }
static TG_INLINE double tg_root(double x) { return sqrt(x); }
#endif

static TG_INLINE double tg_min(double a, double b) { return a < b ? a : b; }
static TG_INLINE double tg_max(double a, double b) { return a > b ? a : b; }
static TG_INLINE double tg_sign(double x) { return (x > 0.0 ? 1.0 : 0.0) - (x < 0.0 ? 1.0 : 0.0); }
static TG_INLINE double tg_hypot(double x, double y) { return tg_root(x * x + y * y); }

#ifdef TG_SINGLE
static TG_INLINE double tg_sin(double x) { return sinf(x); }
static TG_INLINE double tg_cos(double x) { return cosf(x); }
static TG_INLINE double tg_exp(double x) { return expf(x); }
static TG_INLINE double tg_log(double x) { return logf(x); }
static TG_INLINE double tg_atan(double x) { return atanf(x); }
static TG_INLINE double tg_floor(double x) { return floorf(x); }
#else
/* Adding this leaves no digits behind the point; the last bits of the sum are the whole number. */
#define TG_MAGIC 6755399441055744.0

typedef union tg_bits {
  double value;
  long long bits;
} tg_bits;

/* x less a multiple of pi/2; the last two bits of `turned` say which. */
static TG_INLINE double tg_reduced(double x, tg_bits *turned) {
  turned->value = x * 0.63661977236758134308 + TG_MAGIC;
  const double k = turned->value - TG_MAGIC;
  const double first = x - k * 1.57079632673412561417e+00, second = k * 6.07710050630396597660e-11;
  const double rest = first - second;
  return (fabs(x) <= 1e6 ? rest : NAN) + (((first - rest) - second) - k * 2.02226624879595063154e-21);
}

static TG_INLINE double tg_turned(double x, long long back) {
  tg_bits found;
  found.value = x;
  found.bits ^= (back & 2) << 62;
  return found.value;
}

static TG_INLINE double tg_sine(double x, double z) {
  return x + x * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 +
    z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
}

static TG_INLINE double tg_cosine(double z) {
  return 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 +
    z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
}

/* The first of two numbers where a whole number is even, the second where it is odd: by their bits, for a choice may become a branch, in which
 * sines are worked out one after the other. */
static TG_INLINE double tg_either(double even, double odd, long long which) {
  tg_bits a, b;
  const long long all = -(which & 1);
  a.value = even;
  b.value = odd;
  a.bits = (a.bits & ~all) | (b.bits & all);
  return a.value;
}

static TG_INLINE double tg_sin(double x) {
  tg_bits turned;
  const double r = tg_reduced(x, &turned), z = r * r;
  return tg_turned(tg_either(tg_sine(r, z), tg_cosine(z), turned.bits), turned.bits);
}

static TG_INLINE double tg_cos(double x) {
  tg_bits turned;
  const double r = tg_reduced(x, &turned), z = r * r;
  return tg_turned(tg_either(tg_cosine(z), tg_sine(r, z), turned.bits), turned.bits + 1);
}

static TG_INLINE double tg_exp(double x) {
  const double low = x < -750.0 ? -750.0 : x, inside = low > 720.0 ? 720.0 : low;
  const double shifted = inside * 1.44269504088896338700 + TG_MAGIC, k = shifted - TG_MAGIC;
  const double r = (inside - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  double p = 1.6059043836821613e-10;
  p = p * r + 2.08767569878681e-09;
  p = p * r + 2.505210838544172e-08;
  p = p * r + 2.755731922398589e-07;
  p = p * r + 2.7557319223985893e-06;
  p = p * r + 2.48015873015873e-05;
  p = p * r + 0.0001984126984126984;
  p = p * r + 0.001388888888888889;
  p = p * r + 0.008333333333333333;
  p = p * r + 0.041666666666666664;
  p = p * r + 0.16666666666666666;
  p = p * r + 0.5;
  p = 1.0 + (r + r * r * p);
  /* the power of two in two parts, for it may be larger or smaller than any number of full precision */
  tg_bits whole, half, rest;
  whole.value = shifted;
  const long long power = (whole.bits & 0xfffff) - ((whole.bits & 0x80000) << 1), first = power >> 1;
  half.bits = (first + 1023) << 52;
  rest.bits = (power - first + 1023) << 52;
  return p * half.value * rest.value;
}

static TG_INLINE double tg_log(double x) {
  tg_bits whole, part;
  whole.value = x;
  /* the part between the roots of 1/2 and of 2 */
  const long long from = whole.bits - 0x3fe6a09e667f3bcdLL;
  part.bits = whole.bits - (from & (long long)0xfff0000000000000LL);
  whole.bits = ((from >> 52) & 0xfff) ^ 0x4330000000000800LL;
  const double k = whole.value - 4503599627372544.0;
  const double f = part.value - 1.0, s = tg_over(f, 2.0 + f), z = s * s, half = 0.5 * f * f;
  const double r = z * (6.666666666666735130e-01 + z * (3.999999999940941908e-01 + z * (2.857142874366239149e-01 +
    z * (2.222219843214978396e-01 + z * (1.818357216161805012e-01 + z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
  const double found = k * 6.93147180369123816490e-01 - ((half - (s * (half + r) + k * 1.90821492927058770002e-10)) - f);
  return x >= 2.2250738585072014e-308 ? (x < INFINITY ? found : x) : x >= 0.0 ? -INFINITY : NAN;
}

static TG_INLINE double tg_atan(double x) {
  const double a = fabs(x);
  const double up = a < 0.4375 ? a : a < 0.6875 ? 2.0 * a - 1.0 : a < 1.1875 ? a - 1.0 : a < 2.4375 ? a - 1.5 : -1.0;
  const double down = a < 0.4375 ? 1.0 : a < 0.6875 ? 2.0 + a : a < 1.1875 ? a + 1.0 : a < 2.4375 ? 1.0 + 1.5 * a : a;
  const double from = a < 0.4375 ? 0.0 : a < 0.6875 ? 4.63647609000806093515e-01 : a < 1.1875 ? 7.85398163397448278999e-01 :
    a < 2.4375 ? 9.82793723247329054082e-01 : 1.57079632679489655800e+00;
  const double rest = a < 0.4375 ? 0.0 : a < 0.6875 ? 2.26987774529616870924e-17 : a < 1.1875 ? 3.06161699786838301793e-17 :
    a < 2.4375 ? 1.39033110312309984516e-17 : 6.12323399573676603587e-17;
  const double t = tg_over(up, down), z = t * t;
  const double p = z * (3.33333333333329318027e-01 + z * (-1.99999999998764832476e-01 + z * (1.42857142725034663711e-01 +
    z * (-1.11111104054623557880e-01 + z * (9.09088713343650656196e-02 + z * (-7.69187620504482999495e-02 +
    z * (6.66107313738753120669e-02 + z * (-5.83357013379057348645e-02 + z * (4.97687799461593236017e-02 +
    z * (-3.65315727442169155270e-02 + z * 1.62858201153657823623e-02))))))))));
  const double found = from - ((t * p - rest) - t);
  return x < 0.0 ? -found : found;
}

static TG_INLINE double tg_floor(double x) {
  const double near = (x + TG_MAGIC) - TG_MAGIC, below = near > x ? near - 1.0 : near;
  return fabs(x) < 2251799813685248.0 ? below : x;
}
#endif

static TG_INLINE double tg_ceil(double x) { return -tg_floor(-x); }
static TG_INLINE double tg_tan(double x) { return tg_over(tg_sin(x), tg_cos(x)); }
static TG_INLINE double tg_pow(double x, double e) { return tg_exp(e * tg_log(x)); }
static TG_INLINE double tg_asin(double x) { return tg_atan(tg_over(x, tg_root((1.0 - x) * (1.0 + x)))); }
static TG_INLINE double tg_acos(double x) { return 2.0 * tg_atan(tg_root(tg_over(1.0 - x, 1.0 + x))); }

static TG_INLINE double tg_atan2(double y, double x) {
  const double right = tg_atan(tg_over(y, x)), half = y < 0.0 ? -3.14159265358979323846 : 3.14159265358979323846;
  const double upright = y == 0.0 ? 0.0 : 0.5 * half;
  return x > 0.0 ? right : x < 0.0 ? right + half : upright;
}

static TG_INLINE double tg_sinh(double x) {
  const double z = x * x, e = tg_exp(fabs(x));
  const double small = x + x * z * (0.16666666666666666 + z * (0.008333333333333333 + z * (0.0001984126984126984 +
    z * (2.7557319223985893e-06 + z * (2.505210838544172e-08 + z * 1.6059043836821613e-10)))));
  const double large = 0.5 * (e - tg_over(1.0, e));
  return z < 0.25 ? small : x < 0.0 ? -large : large;
}

static TG_INLINE double tg_cosh(double x) {
  const double e = tg_exp(fabs(x));
  return 0.5 * (e + tg_over(1.0, e));
}

static TG_INLINE double tg_tanh(double x) {
  const double z = x * x, e = tg_exp(-2.0 * fabs(x));
  const double small = tg_over(x * (135135.0 + z * (17325.0 + z * (378.0 + z))), 135135.0 + z * (62370.0 + z * (3150.0 + z * 28.0)));
  const double large = tg_over(1.0 - e, 1.0 + e);
  return z < 0.0625 ? small : x < 0.0 ? -large : large;
}
