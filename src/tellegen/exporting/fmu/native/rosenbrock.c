/* A linearly implicit method for stiff models: six stages, order 4 with an estimate of order 3, stiffly accurate (Hairer and Wanner,
 * Solving Ordinary Differential Equations II, section IV.7, RODAS). Each step solves six systems with one matrix, and no search may fail.
 *
 * An event is looked for on the cubic through both ends of a step; the step is then made again up to there. What is still short of the event
 * is a step that ends just before it, so that the next one finds it closer.
 */

typedef struct stiff_work {
  tg_job *job;
  tg_matrix matrix;
  tg_factors factors;
  double *room, *k[6], *f0, *ft, *point, *rate, *y1, *f1, *g0, *g1, *gm;
  int *signs, *diagonal;
  double *values;
} stiff_work;

static const double ROS_GAMMA = 0.25;
static const double ROS_A[6][5] = {{0},
                                   {1.544},
                                   {0.9466785280815826, 0.2557011698983284},
                                   {3.314825187068521, 2.896124015972201, 0.9986419139977817},
                                   {1.221224509226641, 6.019134481288629, 12.53708332932087, -0.6878860361058950}};
static const double ROS_C[6][5] = {{0},
                                   {-5.6688},
                                   {-2.430093356833875, -0.2063599157091915},
                                   {-0.1073529058151375, -9.594562251023355, -20.47028614809616},
                                   {7.496443313967647, -10.24680431464352, -33.99990352819905, 11.70890893206160},
                                   {8.083246795921522, -7.981132988064893, -31.52159432874371, 16.31930543123136, -6.058818238834054}};
static const double ROS_AT[6] = {0, 0.386, 0.21, 0.63, 1, 1};
static const double ROS_D[6] = {0.25, -0.1043, 0.1035, -0.0362, 0, 0};

/* The slope by time, by differences within the step: where no formula reads the time it is zero, and one look shows it. */
static int ros_slope_by_time(stiff_work *w, double h) {
  tg_job *j = w->job;
  int n = j->n, still = 1;
  double d = 1e-3 * h;
  if (j->rhs(j->context, j->t + d, j->y, w->rate)) return 1;
  for (int i = 0; i < n; i++) still &= w->rate[i] == w->f0[i];
  memset(w->ft, 0, sizeof(double) * (size_t)n);
  if (still) return 0;
  if (j->rhs(j->context, j->t + 2 * d, j->y, w->f1)) return 1;
  for (int i = 0; i < n; i++) w->ft[i] = (4 * w->rate[i] - 3 * w->f0[i] - w->f1[i]) / (2 * d);
  return 0;
}

/* A step from the present point; w->y1 is the result. Returns its error, 1 being the tolerance; negative where it cannot be made. */
static double ros_step(stiff_work *w, double h) {
  tg_job *j = w->job;
  int n = j->n;
  if (ros_slope_by_time(w, h)) return -1;
  for (int p = 0; p < w->matrix.nnz; p++) w->values[p] = -w->matrix.values[p];
  for (int i = 0; i < n; i++) w->values[w->diagonal[i]] += 1 / (h * ROS_GAMMA);
  j->factorisations++;
  if (tg_factor(&w->factors, &w->matrix, w->values)) return -1;
  for (int s = 0; s < 6; s++) {
    const double *f = w->f0;
    if (s) {
      const double *from = s < 5 ? j->y : w->y1; /* the last stage continues from the one before it */
      for (int i = 0; i < n; i++) {
        double sum = from[i];
        if (s < 5)
          for (int r = 0; r < s; r++) sum += ROS_A[s][r] * w->k[r][i];
        else
          sum += w->k[4][i];
        w->point[i] = sum;
      }
      if (s >= 4) memcpy(w->y1, w->point, sizeof(double) * (size_t)n);
      j->rhs_calls++;
      if (j->rhs(j->context, j->t + ROS_AT[s] * h, w->point, w->rate)) return -1;
      f = w->rate;
    }
    for (int i = 0; i < n; i++) {
      double sum = f[i] + h * ROS_D[s] * w->ft[i];
      for (int r = 0; r < s; r++) sum += ROS_C[s][r] / h * w->k[r][i];
      w->k[s][i] = sum;
    }
    tg_solve(&w->factors, w->k[s]);
  }
  double error = 0;
  for (int i = 0; i < n; i++) {
    w->y1[i] += w->k[5][i];
    double e = fabs(w->k[5][i]) / (j->atol[i] + j->rtol * fmax(fabs(j->y[i]), fabs(w->y1[i])));
    if (!(e <= error)) error = e;
  }
  return isfinite(error) ? error : -1;
}

/* Where on the cubic of a step the first event function passes zero; 1 where none does. */
static double ros_event_share(stiff_work *w, double h) {
  tg_job *j = w->job;
  double low = 0, high = 1;
  if (!tg_any_crossing(j, w->g0, w->g1)) return 2;
  for (int round = 0; round < 60 && high - low > 1e-12; round++) {
    double x = 0.5 * (low + high);
    for (int i = 0; i < j->n; i++) {
      double d = w->y1[i] - j->y[i];
      w->point[i] = j->y[i] + x * d + x * (1 - x) * ((1 - x) * (h * w->f0[i] - d) - x * (h * w->f1[i] - d));
    }
    double t = j->t + x * h;
    if (j->rhs(j->context, t, w->point, w->rate) || j->events(j->context, t, w->point, w->rate, w->gm)) return -1;
    if (tg_any_crossing(j, w->g0, w->gm)) high = x;
    else low = x;
  }
  return high;
}

static int ros_go(stiff_work *w) {
  tg_job *j = w->job;
  size_t size = sizeof(double) * (size_t)j->n, events = sizeof(double) * (size_t)j->n_events;
  double span = j->until - j->t, next = j->first_step > 0 ? j->first_step : 1e-4 * span;
  int failures = 0, landed = 0, fresh = 1;
  if (j->rhs(j->context, j->t, j->y, w->f0)) return TG_NOT_FINITE;
  if (j->n_events && j->events(j->context, j->t, j->y, w->f0, w->g0)) return TG_NOT_FINITE;
  while (j->t < j->until) {
    double left = j->until - j->t, h = fmin(fmin(next, j->max_step), left);
    int last = h >= left * (1 - 1e-12);
    if (last) h = left;
    else if (h > 0.5 * left) h = 0.5 * left;
    if (!(h > tg_gap(j->t) || last)) return TG_TINY_STEP;
    if (fresh && tg_rhs_jacobian(&w->matrix, j, j->t, j->y)) return TG_NOT_FINITE;
    fresh = 0;
    double error = ros_step(w, h);
    double reached = last ? j->until : j->t + h;
    if (error >= 0 && error <= 1 && j->rhs(j->context, reached, w->y1, w->f1)) error = -1;
    if (!(error >= 0 && error <= 1)) {
      j->rejected++;
      if (error < 0 && ++failures > 60) return TG_NOT_FINITE;
      next = error < 0 ? 0.25 * h : h * fmax(0.2, 0.9 * pow(error, -0.25));
      landed = 0;
      continue;
    }
    failures = 0;
    if (j->n_events) {
      if (j->events(j->context, reached, w->y1, w->f1, w->g1)) return TG_NOT_FINITE;
      double share = ros_event_share(w, h);
      if (share < 0) return TG_NOT_FINITE;
      if (share < 1 - 1e-9 && share * h > 16 * tg_gap(reached) && landed++ < 8) {
        next = share * h;
        continue;
      }
      if (share <= 1) {
        for (int e = 0; e < j->n_events; e++) w->signs[e] = tg_crosses(j, e, w->g0[e], w->g1[e]) ? (w->g1[e] > w->g0[e] ? 1 : -1) : 0;
        j->t = reached;
        memcpy(j->y, w->y1, size);
        memcpy(j->yp, w->f1, size);
        j->steps++;
        if (tg_log_events(j, reached, w->signs)) return TG_EVENT;
        int changed, bad = tg_settle_latches(j, &changed);
        if (!bad && changed) {
          bad = j->rhs(j->context, j->t, j->y, w->f1) || j->events(j->context, j->t, j->y, w->f1, w->g1) ? TG_NOT_FINITE : 0;
          memcpy(j->yp, w->f1, size);
          if (!bad) bad = tg_guard_jumped(j);
        }
        if (bad) return bad;
        next = 0.1 * h;
        landed = 0;
      }
      memcpy(w->g0, w->g1, events);
    }
    j->steps++;
    j->t = reached;
    memcpy(j->y, w->y1, size);
    double *swap = w->f0;
    w->f0 = w->f1;
    w->f1 = swap;
    double grown = h * fmin(5, fmax(0.2, 0.9 * pow(fmax(error, 1e-8), -0.25)));
    next = last ? fmax(next, grown) : grown;
    j->last_step = next;
    fresh = 1;
    if (j->steps >= j->max_steps) return TG_MANY_STEPS;
  }
  memcpy(j->yp, w->f0, size);
  return 0;
}

static int tg_rosenbrock(tg_job *j) {
  stiff_work w = {.job = j};
  size_t n = (size_t)j->n, e = (size_t)j->n_events, nnz = (size_t)j->columns[j->n];
  int status = tg_matrix_open(&w.matrix, j);
  if (!status) status = tg_factors_open(&w.factors, &w.matrix, j->order);
  double *bands = tg_new(e, sizeof(double)), *room = tg_new(12 * n + 3 * e + nnz, sizeof(double)), *next = room;
  w.signs = tg_new(e, sizeof(int));
  w.diagonal = tg_new(n, sizeof(int));
  if (!room || !bands || !w.signs || !w.diagonal) status = TG_NO_MEMORY;
  if (!status) {
    for (int s = 0; s < 6; s++, next += n) w.k[s] = next;
    double **rows[] = {&w.f0, &w.ft, &w.point, &w.rate, &w.y1, &w.f1};
    for (int r = 0; r < 6; r++, next += n) *rows[r] = next;
    w.g0 = next, w.g1 = next + e, w.gm = next + 2 * e, w.values = next + 3 * e;
    for (int k = 0; k < j->n; k++)
      for (int p = j->columns[k]; p < j->columns[k + 1]; p++)
        if (j->rows[p] == k) w.diagonal[k] = p;
    j->bands = bands;
    status = ros_go(&w);
    j->bands = 0;
  }
  tg_matrix_close(&w.matrix);
  tg_factors_close(&w.factors);
  free(room);
  free(bands);
  free(w.signs);
  free(w.diagonal);
  return status;
}
