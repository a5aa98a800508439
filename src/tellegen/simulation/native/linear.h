/* Jacobians by coloured tangents, and the factors of matrices on their pattern.
 *
 * Sparse matrices: left-looking elimination column by column with threshold pivoting that prefers the diagonal (Gilbert and
 * Peierls 1988). The pattern and pivots of the first factorisation are kept and only the numbers renewed while pivots stay good.
 * Small or full matrices: elimination with partial pivoting by rows.
 */
#ifndef TELLEGEN_LINEAR_H
#define TELLEGEN_LINEAR_H

typedef struct tg_factors {
  int n, dense, ready;
  const int *order;
  /* sparse: rows in original numbering, the pivot of column k is the last entry of its column of U */
  int *lp, *li, *up, *ui, *pinv, *stack, *mark, *heads, *topological;
  double *lx, *ux, *x;
  size_t l_room, u_room;
  /* dense */
  double *a;
  int *swap;
} tg_factors;

typedef struct tg_matrix {
  int n, nnz, n_colours;
  const int *columns, *rows, *colours;
  int *members, *first; /* the columns of each colour */
  double *values;
  double *seed, *scaled, *swept;
} tg_matrix;

static void *tg_new(size_t count, size_t size) {
  /* One more than asked for: of nothing, too, there is an address, and a null pointer always means that memory is short. */
  return calloc(count + 1, size);
}

/* ---- the Jacobian -------------------------------------------------------------------------------------------------------- */

static int tg_matrix_open(tg_matrix *m, const tg_job *j) {
  int n = j->n / j->blocks;
  m->n = n;
  m->columns = j->columns;
  m->rows = j->rows;
  m->colours = j->colours;
  m->n_colours = j->n_colours;
  m->nnz = j->columns[n];
  m->values = tg_new((size_t)m->nnz, sizeof(double));
  m->seed = tg_new((size_t)n, sizeof(double));
  m->scaled = tg_new((size_t)n, sizeof(double));
  m->swept = tg_new((size_t)n, sizeof(double));
  m->members = tg_new((size_t)n, sizeof(int));
  m->first = tg_new((size_t)m->n_colours + 1, sizeof(int));
  if (!m->values || !m->seed || !m->scaled || !m->swept || !m->members || !m->first) return TG_NO_MEMORY;
  /* Columns sorted by colour, by counting: a sweep then goes through its own columns alone. */
  for (int k = 0; k < n; k++) m->first[m->colours[k] + 1]++;
  for (int c = 0; c < m->n_colours; c++) m->first[c + 1] += m->first[c];
  int *next = tg_new((size_t)m->n_colours, sizeof(int));
  if (!next) return TG_NO_MEMORY;
  for (int k = 0; k < n; k++) m->members[m->first[m->colours[k]] + next[m->colours[k]]++] = k;
  free(next);
  return 0;
}

static void tg_matrix_close(tg_matrix *m) {
  free(m->values);
  free(m->seed);
  free(m->scaled);
  free(m->swept);
  free(m->members);
  free(m->first);
}

static void tg_gather(tg_matrix *m, int colour) {
  for (int i = m->first[colour]; i < m->first[colour + 1]; i++) {
    int k = m->members[i];
    /* No two columns of a colour share a row, so each entry of the sweep belongs to one of them. */
    for (int p = m->columns[k]; p < m->columns[k + 1]; p++) m->values[p] = m->swept[m->rows[p]];
  }
}

/* values = df/dy, one sweep for each colour */
static int tg_rhs_jacobian(tg_matrix *m, tg_job *j, double t, const double *y) {
  j->jacobians++;
  for (int c = 0; c < m->n_colours; c++) {
    for (int i = m->first[c]; i < m->first[c + 1]; i++) m->seed[m->members[i]] = 1;
    int bad = j->rhs_tangent(j->context, t, y, m->seed, 0, m->swept);
    for (int i = m->first[c]; i < m->first[c + 1]; i++) m->seed[m->members[i]] = 0;
    if (bad) return bad;
    tg_gather(m, c);
  }
  return 0;
}

/* values = dF/dy diag(on_y) + dF/dyp diag(on_yp) */
static int tg_residual_jacobian(tg_matrix *m, tg_job *j, double t, const double *y, const double *yp, const double *on_y,
                                const double *on_yp) {
  j->jacobians++;
  for (int c = 0; c < m->n_colours; c++) {
    for (int i = m->first[c]; i < m->first[c + 1]; i++) {
      int k = m->members[i];
      m->seed[k] = on_y[k];
      m->scaled[k] = on_yp[k];
    }
    int bad = j->tangent(j->context, t, y, yp, m->seed, m->scaled, 0, m->swept);
    for (int i = m->first[c]; i < m->first[c + 1]; i++) m->seed[m->members[i]] = m->scaled[m->members[i]] = 0;
    if (bad) return bad;
    tg_gather(m, c);
  }
  return 0;
}

/* ---- factors ------------------------------------------------------------------------------------------------------------- */

static int tg_factors_open(tg_factors *f, const tg_matrix *m, const int *order) {
  int n = m->n;
  memset(f, 0, sizeof *f);
  f->n = n;
  f->order = order;
  f->dense = order == 0;
  if (f->dense) {
    f->a = tg_new((size_t)n * (size_t)n, sizeof(double));
    f->swap = tg_new((size_t)n, sizeof(int));
    f->x = tg_new((size_t)n, sizeof(double));
    return f->a && f->swap && f->x ? 0 : TG_NO_MEMORY;
  }
  /* A guess at the fill, which grows where it is wrong: networks in a good order have little. */
  f->l_room = f->u_room = 4 * (size_t)m->nnz + (size_t)n;
  f->lp = tg_new((size_t)n + 1, sizeof(int));
  f->up = tg_new((size_t)n + 1, sizeof(int));
  f->li = tg_new(f->l_room, sizeof(int));
  f->ui = tg_new(f->u_room, sizeof(int));
  f->lx = tg_new(f->l_room, sizeof(double));
  f->ux = tg_new(f->u_room, sizeof(double));
  f->pinv = tg_new((size_t)n, sizeof(int));
  f->stack = tg_new((size_t)n, sizeof(int));
  f->heads = tg_new((size_t)n, sizeof(int));
  f->topological = tg_new((size_t)n, sizeof(int));
  f->mark = tg_new((size_t)n, sizeof(int));
  f->x = tg_new((size_t)n, sizeof(double));
  int made = f->lp && f->up && f->li && f->ui && f->lx && f->ux && f->pinv && f->stack && f->heads && f->topological && f->mark;
  return made && f->x ? 0 : TG_NO_MEMORY;
}

static void tg_factors_close(tg_factors *f) {
  free(f->lp);
  free(f->up);
  free(f->li);
  free(f->ui);
  free(f->lx);
  free(f->ux);
  free(f->pinv);
  free(f->stack);
  free(f->heads);
  free(f->topological);
  free(f->mark);
  free(f->x);
  free(f->a);
  free(f->swap);
}

static int tg_room(int **index, double **value, size_t *room, size_t wanted) {
  if (wanted <= *room) return 0;
  size_t grown = 2 * *room > wanted ? 2 * *room : wanted;
  int *i = realloc(*index, grown * sizeof(int));
  if (i) *index = i;
  double *x = realloc(*value, grown * sizeof(double));
  if (x) *value = x;
  if (!i || !x) return TG_NO_MEMORY;
  *room = grown;
  return 0;
}

/* The rows that column k of the matrix reaches through the columns of L made so far, in topological order from the returned
 * place to n. A row r has its own column of L when pinv[r] >= 0. */
static int tg_reach(tg_factors *f, const tg_matrix *m, int column, int stamp) {
  int top = f->n;
  for (int p = m->columns[column]; p < m->columns[column + 1]; p++) {
    int start = m->rows[p];
    if (f->mark[start] == stamp) continue;
    int depth = 0;
    f->stack[0] = start;
    /* The number of the column marks what was met: nothing has to be cleared between columns. */
    f->mark[start] = stamp;
    f->heads[0] = f->pinv[start] < 0 ? 0 : f->lp[f->pinv[start]];
    while (depth >= 0) {
      int row = f->stack[depth], k = f->pinv[row], end = k < 0 ? 0 : f->lp[k + 1], deeper = 0;
      for (int q = f->heads[depth]; q < end; q++) {
        int next = f->li[q];
        if (f->mark[next] == stamp) continue;
        f->mark[next] = stamp;
        f->heads[depth] = q + 1;
        f->stack[++depth] = next;
        f->heads[depth] = f->pinv[next] < 0 ? 0 : f->lp[f->pinv[next]];
        deeper = 1;
        break;
      }
      if (!deeper) {
        f->topological[--top] = row;
        depth--;
      }
    }
  }
  return top;
}

/* Column k of U holds the steps of elimination in topological order and the inverse of its pivot last; L holds multipliers without its unit. */
static int tg_factor_anew(tg_factors *f, const tg_matrix *m, const double *values) {
  int n = f->n, l = 0, u = 0;
  for (int r = 0; r < n; r++) f->pinv[r] = f->mark[r] = -1;
  memset(f->x, 0, sizeof(double) * (size_t)n);
  for (int k = 0; k < n; k++) {
    int column = f->order[k];
    f->lp[k] = l;
    f->up[k] = u;
    if (tg_room(&f->li, &f->lx, &f->l_room, (size_t)l + (size_t)n + 1)) return TG_NO_MEMORY;
    if (tg_room(&f->ui, &f->ux, &f->u_room, (size_t)u + (size_t)n + 1)) return TG_NO_MEMORY;
    /* Only rows that the column reaches can become anything but zero: the work follows the fill and not the size. */
    int top = tg_reach(f, m, column, k);
    for (int p = m->columns[column]; p < m->columns[column + 1]; p++) f->x[m->rows[p]] = values[p];
    for (int i = top; i < n; i++) {
      int row = f->topological[i], step = f->pinv[row];
      if (step < 0) continue;
      double v = f->x[row];
      f->ui[u] = row;
      f->ux[u++] = v;
      for (int q = f->lp[step]; q < f->lp[step + 1]; q++) f->x[f->li[q]] -= f->lx[q] * v;
    }
    double largest = 0;
    int pivot = -1;
    for (int i = top; i < n; i++) {
      int row = f->topological[i];
      if (f->pinv[row] < 0 && fabs(f->x[row]) > largest) {
        largest = fabs(f->x[row]);
        pivot = row;
      }
    }
    if (pivot < 0 || !(largest > 0)) {
      for (int i = top; i < n; i++) f->x[f->topological[i]] = 0;
      f->ready = -(column + 1);
      return TG_SINGULAR;
    }
    /* The diagonal, where it is not a thousand times smaller: the order was chosen for it, and another pivot brings fill. */
    if (f->mark[column] == k && f->pinv[column] < 0 && fabs(f->x[column]) >= 1e-3 * largest) pivot = column;
    double head = f->x[pivot];
    f->pinv[pivot] = k;
    f->ui[u] = pivot;
    /* As an inverse: it is multiplied by in every solution, and divided by once. */
    f->ux[u++] = 1 / head;
    for (int i = top; i < n; i++) {
      int row = f->topological[i];
      if (f->pinv[row] < 0) {
        f->li[l] = row;
        f->lx[l++] = f->x[row] / head;
      }
      f->x[row] = 0;
    }
  }
  f->lp[n] = l;
  f->up[n] = u;
  f->ready = 1;
  return 0;
}

/* New numbers on the old pattern and pivots; asks for a new choice of pivots when one became small beside its column. */
static int tg_factor_again(tg_factors *f, const tg_matrix *m, const double *values) {
  double *x = f->x;
  for (int k = 0; k < f->n; k++) {
    int column = f->order[k], last = f->up[k + 1] - 1;
    for (int q = f->up[k]; q <= last; q++) x[f->ui[q]] = 0;
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) x[f->li[q]] = 0;
    for (int p = m->columns[column]; p < m->columns[column + 1]; p++) x[m->rows[p]] = values[p];
    for (int q = f->up[k]; q < last; q++) {
      int step = f->pinv[f->ui[q]];
      double v = x[f->ui[q]];
      f->ux[q] = v;
      for (int s = f->lp[step]; s < f->lp[step + 1]; s++) x[f->li[s]] -= f->lx[s] * v;
    }
    double head = x[f->ui[last]], largest = 0, inverse = 1 / head;
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) {
      double v = x[f->li[q]];
      largest = fmax(largest, fabs(v));
      f->lx[q] = v * inverse;
    }
    f->ux[last] = inverse;
    /* Written so that what is not a number asks for new pivots too. */
    if (!(fabs(head) > 1e-6 * largest) || head == 0) return 1;
  }
  return 0;
}

static int tg_factor_dense(tg_factors *f, const tg_matrix *m, const double *values) {
  int n = f->n;
  double *a = f->a;
  memset(a, 0, sizeof(double) * (size_t)n * (size_t)n);
  for (int k = 0; k < n; k++)
    for (int p = m->columns[k]; p < m->columns[k + 1]; p++) a[(size_t)m->rows[p] * (size_t)n + (size_t)k] = values[p];
  for (int k = 0; k < n; k++) {
    int pivot = k;
    for (int r = k + 1; r < n; r++)
      if (fabs(a[(size_t)r * n + k]) > fabs(a[(size_t)pivot * n + k])) pivot = r;
    f->swap[k] = pivot;
    if (!(fabs(a[(size_t)pivot * n + k]) > 0)) {
      f->ready = -(k + 1);
      return TG_SINGULAR;
    }
    double *top = a + (size_t)k * n;
    if (pivot != k)
      for (int c = 0; c < n; c++) {
        double keep = top[c];
        top[c] = a[(size_t)pivot * n + c];
        a[(size_t)pivot * n + c] = keep;
      }
    double inverse = 1 / top[k];
    for (int r = k + 1; r < n; r++) {
      double *row = a + (size_t)r * n, v = row[k] * inverse;
      row[k] = v;
      /* Treated as full it may still hold many zeros: such a row costs nothing. */
      if (v != 0)
        for (int c = k + 1; c < n; c++) row[c] -= v * top[c];
    }
  }
  f->ready = 1;
  return 0;
}

static int tg_factor(tg_factors *f, const tg_matrix *m, const double *values) {
  if (f->dense) return tg_factor_dense(f, m, values);
  if (f->ready > 0 && !tg_factor_again(f, m, values)) return 0;
  return tg_factor_anew(f, m, values);
}

/* Solve in place. */
static void tg_solve(tg_factors *f, double *b) {
  int n = f->n;
  if (f->dense) {
    for (int k = 0; k < n; k++) {
      int pivot = f->swap[k];
      double v = b[pivot];
      b[pivot] = b[k];
      b[k] = v;
    }
    for (int r = 1; r < n; r++) {
      const double *row = f->a + (size_t)r * n;
      double sum = b[r];
      for (int c = 0; c < r; c++) sum -= row[c] * b[c];
      b[r] = sum;
    }
    for (int r = n - 1; r >= 0; r--) {
      const double *row = f->a + (size_t)r * n;
      double sum = b[r];
      for (int c = r + 1; c < n; c++) sum -= row[c] * b[c];
      b[r] = sum / row[r];
    }
    return;
  }
  double *x = f->x;
  for (int k = 0; k < n; k++) {
    double v = b[f->ui[f->up[k + 1] - 1]];
    for (int q = f->lp[k]; q < f->lp[k + 1]; q++) b[f->li[q]] -= f->lx[q] * v;
  }
  for (int k = n - 1; k >= 0; k--) {
    int last = f->up[k + 1] - 1;
    double v = b[f->ui[last]] * f->ux[last];
    x[f->order[k]] = v;
    for (int q = f->up[k]; q < last; q++) b[f->ui[q]] -= f->ux[q] * v;
  }
  memcpy(b, x, sizeof(double) * (size_t)n);
}

#endif
