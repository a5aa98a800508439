/* What the exponentials of linear models share: loops for the vectors of the processor at hand, and the panels of energy books. */
#ifndef TELLEGEN_PANELS_H
#define TELLEGEN_PANELS_H

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__linux__)
#define KERNEL __attribute__((noinline, optimize("O3"), target_clones("avx512f", "avx2", "default")))
#define HOT __attribute__((optimize("O2")))
/* All but kernels and what runs for every row is compiled in half the time: the first run on a machine waits for it. */
#pragma GCC optimize("O1")
#else
#define KERNEL
#define HOT
#endif

enum { PANEL = 8 };
/* of Gauss, on 0..1 */
static const double PANEL_POINTS[PANEL] = {0.019855071751231912, 0.10166676129318664, 0.2372337950418355, 0.40828267875217511,
    0.59171732124782483, 0.7627662049581645, 0.89833323870681336, 0.98014492824876809};
static const double PANEL_WEIGHTS[PANEL] = {0.050614268145188532, 0.11119051722668721, 0.15685332293894344, 0.18134189168918083,
    0.18134189168918083, 0.15685332293894344, 0.11119051722668721, 0.050614268145188532};

/* How much of a turn one panel of the books may take. A power turns twice as fast as its variables, and the rule of eight points
 * misses 1.7e-23 (2 r)^16 of it over r radians: no more than the tolerance. */
static double panel_radians(double rtol) {
  return fmin(8, 0.5 * pow(rtol / 1.7e-23, 0.0625));
}

#endif
