/* What delayed signals were: written by every solver (job.h), read here for the model. */
#include "job.h"

/* The value of delayed expression k at an earlier time: a polynomial through points around it on this side of any break, of an order that
 * does not fall behind that of the solvers. Points closer to each other than half the step that is read are passed over: after a restart
 * steps are tiny, and a polynomial through such points means nothing beside them. */
static int64_t tg_point_before(const tg_history *h, int64_t from, double least) {
  for (int64_t i = from; i > 0 && !h->fresh[i];)
    if (h->times[from] - h->times[--i] >= least) return i;
  return -1;
}

static int64_t tg_point_after(const tg_history *h, int64_t from, double least) {
  for (int64_t i = from; i + 1 < h->count && !h->fresh[i + 1];)
    if (h->times[++i] - h->times[from] >= least) return i;
  return -1;
}

double tg_past(void *history, int k, double time) {
  const tg_history *h = history;
  if (time < h->start || h->count == 0) return h->initial[k];
  int64_t low = 0, high = h->count - 1, d = h->n_delays;
  /* A step is never longer than the shortest delay, so that this is the last instant, up to rounding. */
  if (time >= h->times[high]) return h->values[high * d + k];
  while (high - low > 1) {
    int64_t middle = (low + high) / 2;
    if (h->times[middle] <= time) low = middle; else high = middle;
  }
  /* Between the two lies a break: a polynomial across it would mean nothing, and the nearer side is taken. */
  if (h->fresh[high]) return h->values[(time - h->times[low] < h->times[high] - time ? low : high) * d + k];
  double least = 0.5 * (h->times[high] - h->times[low]);
  int64_t points[TG_PAST_POINTS] = {low, high}, before = low, after = high;
  int n = 2;
  for (int left = 0, right = 0; n < TG_PAST_POINTS && (before >= 0 || after >= 0);) {
    /* In turn from both sides, so that the point that is read stays in the middle. */
    int back = before >= 0 && (after < 0 || left <= right);
    int64_t *from = back ? &before : &after, next = back ? tg_point_before(h, before, least) : tg_point_after(h, after, least);
    if (next >= 0) {
      points[n++] = next;
      ++*(back ? &left : &right);
    }
    *from = next;
  }
  double sum = 0;
  for (int i = 0; i < n; i++) {
    double weight = 1;
    for (int m = 0; m < n; m++)
      if (m != i) weight *= (time - h->times[points[m]]) / (h->times[points[i]] - h->times[points[m]]);
    sum += weight * h->values[points[i] * d + k];
  }
  return sum;
}

/* Take a past that was kept elsewhere; returns whether there is memory for it. The struct must not hold another one. */
int tg_recall(tg_history *h, int64_t count, const double *times, const double *values, const char *fresh) {
  while (h->room < count)
    if (tg_more_past(h)) return 0;
  if (count) {
    memcpy(h->times, times, sizeof(double) * (size_t)count);
    memcpy(h->values, values, sizeof(double) * (size_t)(count * h->n_delays));
    memcpy(h->fresh, fresh, (size_t)count);
  }
  h->count = count;
  return 1;
}

void tg_forget(tg_history *h) {
  free(h->times);
  free(h->values);
  free(h->fresh);
  free(h->echoes);
  memset(h, 0, sizeof *h);
}
