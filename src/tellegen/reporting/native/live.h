/* What the C of a model needs of a library, for a page in a browser, where there is none: functions of mathematics come from the browser,
 * memory from here. No function of the system is called. */
#ifndef TELLEGEN_LIVE_H
#define TELLEGEN_LIVE_H

#include <float.h>
#include <stddef.h>
#include <stdint.h>

#define TG_EXPORT __attribute__((visibility("default")))
#define INFINITY __builtin_inf()
#define HUGE_VAL __builtin_inf()
#define NAN __builtin_nan("")
#define M_PI 3.14159265358979323846
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define signbit(x) __builtin_signbit(x)

#define TG_OF_BROWSER(name) __attribute__((import_module("Math"), import_name(#name))) double name
TG_OF_BROWSER(sin)(double);
TG_OF_BROWSER(cos)(double);
TG_OF_BROWSER(tan)(double);
TG_OF_BROWSER(asin)(double);
TG_OF_BROWSER(acos)(double);
TG_OF_BROWSER(atan)(double);
TG_OF_BROWSER(atan2)(double, double);
TG_OF_BROWSER(sinh)(double);
TG_OF_BROWSER(cosh)(double);
TG_OF_BROWSER(tanh)(double);
TG_OF_BROWSER(exp)(double);
TG_OF_BROWSER(log)(double);
TG_OF_BROWSER(log2)(double);
TG_OF_BROWSER(log1p)(double);
TG_OF_BROWSER(expm1)(double);
TG_OF_BROWSER(cbrt)(double);
TG_OF_BROWSER(hypot)(double, double);
__attribute__((import_module("Math"), import_name("pow"))) double tg_power_of_browser(double, double);

/* The browser has no number for a power of one with an exponent that is none; C has one. */
static inline double pow(double x, double y) { return x == 1 ? 1 : tg_power_of_browser(x, y); }
static inline double sqrt(double x) { return __builtin_sqrt(x); }
static inline double fabs(double x) { return __builtin_fabs(x); }
static inline double floor(double x) { return __builtin_floor(x); }
static inline double ceil(double x) { return __builtin_ceil(x); }
static inline double trunc(double x) { return __builtin_trunc(x); }
static inline double copysign(double x, double y) { return __builtin_copysign(x, y); }
static inline double round(double x) { return copysign(floor(fabs(x) + 0.5), x); }
/* Of a number and none, the number. */
static inline double fmin(double x, double y) { return isnan(x) ? y : y < x ? y : x; }
static inline double fmax(double x, double y) { return isnan(x) ? y : y > x ? y : x; }
static inline double fmod(double x, double y) { return x - y * trunc(x / y); }
static inline int abs(int x) { return x < 0 ? -x : x; }

/* The neighbour of a number in a direction: numbers of one sign are in the order of their bits. */
static inline double nextafter(double x, double to) {
  union { double value; uint64_t bits; } at = {x};
  if (isnan(x) || isnan(to) || x == to) return x == to ? to : x + to;
  if (x == 0) {
    at.bits = 1;
    return copysign(at.value, to);
  }
  at.bits += (to > x) == (x > 0) ? 1 : (uint64_t)-1;
  return at.value;
}

/* Written as loops that the compiler does not turn into calls of themselves. */
#define TG_PLAIN __attribute__((no_builtin, noinline)) __attribute__((unused))
TG_PLAIN void *memcpy(void *to, const void *from, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = ((const char *)from)[i];
  return to;
}
TG_PLAIN void *memmove(void *to, const void *from, size_t n) {
  if ((char *)to <= (const char *)from) return memcpy(to, from, n);
  while (n--) ((char *)to)[n] = ((const char *)from)[n];
  return to;
}
TG_PLAIN void *memset(void *to, int value, size_t n) {
  for (size_t i = 0; i < n; i++) ((char *)to)[i] = (char)value;
  return to;
}
TG_PLAIN int memcmp(const void *a, const void *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (((const unsigned char *)a)[i] != ((const unsigned char *)b)[i]) return ((const unsigned char *)a)[i] < ((const unsigned char *)b)[i] ? -1 : 1;
  return 0;
}

/* Blocks of sizes that are powers of two, each behind a head that says which; what is given back waits in a list of its size. */
typedef struct tg_block {
  struct tg_block *next;
  size_t size;
} tg_block;

enum { TG_PAGE = 65536, TG_HEAD = 16 };
extern unsigned char __heap_base;
static tg_block *tg_waiting[32];
static uintptr_t tg_top;

static void *malloc(size_t n) {
  int power = 4;
  while (((size_t)1 << power) < n) power++;
  tg_block *found = tg_waiting[power];
  if (found) {
    tg_waiting[power] = found->next;
    return (char *)found + TG_HEAD;
  }
  if (!tg_top) tg_top = ((uintptr_t)&__heap_base + 15) & ~(uintptr_t)15;
  uintptr_t end = tg_top + TG_HEAD + ((uintptr_t)1 << power);
  size_t there = __builtin_wasm_memory_size(0) * TG_PAGE;
  if (end > there && __builtin_wasm_memory_grow(0, (end - there + TG_PAGE - 1) / TG_PAGE) == (size_t)-1) return 0;
  found = (tg_block *)tg_top;
  found->size = (size_t)power;
  tg_top = end;
  return (char *)found + TG_HEAD;
}

static void free(void *p) {
  if (!p) return;
  tg_block *block = (tg_block *)((char *)p - TG_HEAD);
  block->next = tg_waiting[block->size];
  tg_waiting[block->size] = block;
}

static void *calloc(size_t count, size_t size) {
  void *p = malloc(count * size);
  return p ? memset(p, 0, count * size) : 0;
}

static TG_PLAIN void *realloc(void *p, size_t n) {
  size_t had = p ? (size_t)1 << ((tg_block *)((char *)p - TG_HEAD))->size : 0;
  if (n <= had) return p;
  void *more = malloc(n);
  if (!more) return 0;
  memcpy(more, p, had);
  free(p);
  return more;
}

#endif
