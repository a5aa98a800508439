/* What a model tells at the rows of a run, row after row. */
#include "job.h"

/* Observables at `places`, all of them at each of `rows` rows; a place below zero is left as it is. `memory` holds what was sampled
 * at each row, or is null. Outside the domain of a law an observable is not a number, which is no failure here. */
void tg_observe_rows(tg_observe_fn *observe, tg_context *c, int64_t rows, const double *t, const double *y, const double *yp, int n,
                     const double *memory, int n_memory, double *all, int n_all, const int64_t *places, int n_places, double *out) {
  for (int64_t r = 0; r < rows; r++) {
    for (int k = 0; k < n_memory; k++) c->memory[k] = memory[(size_t)r * (size_t)n_memory + (size_t)k];
    for (int k = 0; k < n_all; k++) all[k] = NAN; /* as long as it is not told */
    observe(c, t[r], y + (size_t)r * (size_t)n, yp + (size_t)r * (size_t)n, all);
    for (int k = 0; k < n_places; k++)
      if (places[k] >= 0) out[(size_t)r * (size_t)n_places + (size_t)k] = all[places[k]];
  }
}
