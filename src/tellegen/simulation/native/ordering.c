/* An order of elimination for a square pattern: reverse Cuthill-McKee on the pattern of A + A^T, from the end of a longest path in each
 * component (George and Liu 1979). `order` receives column numbers; returns the sum of the widths of its rows, or -1 without memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
  const int *x = a, *y = b;
  /* By degree, then by number: qsort does not keep the order of equal ones, and results must not depend on the library of C. */
  return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : (x[1] < y[1] ? -1 : x[1] > y[1]);
}

/* neighbours by counting: starts has n + 1 places */
static int *neighbours(int n, const int *columns, const int *rows, int *starts) {
  for (int k = 0; k < n; k++)
    for (int p = columns[k]; p < columns[k + 1]; p++)
      if (rows[p] != k) {
        starts[k + 1]++;
        starts[rows[p] + 1]++;
      }
  for (int k = 0; k < n; k++) starts[k + 1] += starts[k];
  int *list = malloc(sizeof(int) * (size_t)(starts[n] + 1)), *next = malloc(sizeof(int) * (size_t)(n + 1));
  if (list && next) {
    memcpy(next, starts, sizeof(int) * (size_t)n);
    for (int k = 0; k < n; k++)
      for (int p = columns[k]; p < columns[k + 1]; p++)
        if (rows[p] != k) {
          list[next[k]++] = rows[p];
          list[next[rows[p]]++] = k;
        }
  }
  free(next);
  return list;
}

/* breadth first from `root` over what has level -1; returns how many were met, writes them and the number of levels */
static int levels(int root, const int *starts, const int *list, int *level, int *met, int *depth) {
  int count = 1;
  met[0] = root;
  level[root] = 0;
  for (int i = 0; i < count; i++)
    for (int p = starts[met[i]]; p < starts[met[i] + 1]; p++)
      if (level[list[p]] == -1) {
        level[list[p]] = level[met[i]] + 1;
        met[count++] = list[p];
      }
  *depth = level[met[count - 1]];
  return count;
}

static int far_end(int root, const int *starts, const int *list, int *level, int *met) {
  int best = -1;
  for (;;) {
    int depth, count = levels(root, starts, list, level, met, &depth), end = met[count - 1];
    for (int i = 0; i < count; i++) {
      int v = met[i];
      /* Of the farthest the one with the fewest neighbours: from there layers are narrow. */
      if (level[v] == depth && starts[v + 1] - starts[v] < starts[end + 1] - starts[end]) end = v;
    }
    for (int i = 0; i < count; i++) level[met[i]] = -1;
    /* Once more from there, until the longest path grows no longer. */
    if (depth <= best) return root;
    best = depth;
    root = end;
  }
}

int64_t tg_order(int n, const int *columns, const int *rows, int *order) {
  int *starts = calloc((size_t)n + 2, sizeof(int)), *list = starts ? neighbours(n, columns, rows, starts) : 0;
  int *level = malloc(sizeof(int) * (size_t)(n + 1)), *met = malloc(sizeof(int) * (size_t)(n + 1));
  int *pairs = malloc(sizeof(int) * 2 * (size_t)(n + 1)), *place = malloc(sizeof(int) * (size_t)(n + 1));
  int64_t width = -1;
  if (starts && list && level && met && pairs && place) {
    int done = 0;
    for (int k = 0; k < n; k++) level[k] = -1;
    for (int k = 0; k < n; k++) {
      if (level[k] != -1) continue;
      int root = far_end(k, starts, list, level, met), first = done;
      order[done++] = root;
      level[root] = 1;
      for (int i = first; i < done; i++) {
        int found = 0;
        for (int p = starts[order[i]]; p < starts[order[i] + 1]; p++) {
          int v = list[p];
          if (level[v] != -1) continue;
          level[v] = 1;
          pairs[2 * found] = starts[v + 1] - starts[v];
          pairs[2 * found++ + 1] = v;
        }
        qsort(pairs, (size_t)found, 2 * sizeof(int), compare);
        for (int q = 0; q < found; q++) order[done++] = pairs[2 * q + 1];
      }
    }
    /* Reversed, the same band has less fill (George and Liu). */
    for (int a = 0, b = n - 1; a < b; a++, b--) {
      int keep = order[a];
      order[a] = order[b];
      order[b] = keep;
    }
    for (int k = 0; k < n; k++) place[order[k]] = k;
    width = 0;
    for (int k = 0; k < n; k++) {
      int least = place[k];
      for (int p = starts[k]; p < starts[k + 1]; p++)
        if (place[list[p]] < least) least = place[list[p]];
      width += place[k] - least + 1;
    }
  }
  free(starts);
  free(list);
  free(level);
  free(met);
  free(pairs);
  free(place);
  return width;
}
