/* Modes: variables of one mode among those of all, contents handed over, impacts, and the nearest mode that agrees with itself.
 *
 * All modes share one state: the outputs of all storages, displacements, states of signals. It is included in the middle of instance.h.
 */
static const tg_mode tg_modes_of[TG_MODES];

static const tg_mode *tg_mode_of(tg_context *c) {
  return tg_modes_of + tg_values_of(c)->mode;
}

/* The variables of a mode from those of all. */
static void tg_own(const tg_mode *m, const double *common, double *own) {
  for (int k = 0; k < m->n; k++) own[k] = common[m->places[k]];
}

static int tg_observe_own(tg_context *c, double t, const double *common, double *out) {
  const tg_mode *m = tg_mode_of(c);
  double y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)] = {0};
  tg_own(m, common, y);
  return tg_seen_rhs(c, t, y, yp) || tg_seen_observe(c, t, y, yp, out);
}

/* Storages that follow others get the values that the mode tells them. */
static int tg_tell_followers(tg_context *c, double t, double *common) {
  const tg_mode *m = tg_mode_of(c);
  double out[TG_SIZE(TG_MOST_OBSERVED)];
  if (!m->n_following) return 0;
  if (tg_observe_own(c, t, common, out)) return 1;
  for (int k = 0; k < m->n_following; k++) common[m->following[k]] = out[m->told[k]];
  return 0;
}

/* Rates of all: storages that follow others move with what tells them. */
static int tg_common_rates(tg_context *c, double t, const double *common, double *rates) {
  const tg_mode *m = tg_mode_of(c);
  double y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)] = {0};
  tg_own(m, common, y);
  if (tg_seen_rhs(c, t, y, yp)) return 1;
  for (int k = 0; k < TG_Y; k++) rates[k] = 0;
  for (int k = 0; k < m->n; k++) rates[m->places[k]] = yp[k];
  if (m->n_following && m->follow(c, tg_seen(c, t), y, yp)) return 1;
  for (int k = 0; k < m->n_following; k++) rates[m->following[k]] = yp[k];
  return 0;
}

static int tg_common_observe(tg_context *c, double t, const double *common, double *observed) {
  const tg_mode *m = tg_mode_of(c);
  double out[TG_SIZE(TG_MOST_OBSERVED)];
  if (tg_observe_own(c, t, common, out)) return 1;
  for (int k = 0; k < TG_OBSERVABLES; k++) observed[k] = m->observables[k] < 0 ? NAN : out[m->observables[k]];
  return 0;
}

/* The event functions of the mode; what others have more is one that never changes its sign. */
static int tg_common_events(tg_context *c, double t, const double *common, double *g) {
  const tg_mode *m = tg_mode_of(c);
  double y[TG_SIZE(TG_Y)], yp[TG_SIZE(TG_Y)] = {0};
  tg_own(m, common, y);
  for (int k = m->n_events; k < TG_EVENTS; k++) g[k] = 1;
  return m->n_events ? tg_seen_rhs(c, t, y, yp) || tg_seen_events(c, t, y, yp, g) : 0;
}

/* ---- from one mode to the next -------------------------------------------------------------------------------------------- */

static double *tg_largest_of(tg_values *v, int mode, int i) {
  const tg_change *w = tg_modes_of[mode].changes + i;
  return &v->largest[w->element][tg_modes_of[mode].words[w->element] - 1][w->to - 1];
}

/* The mode with one element changed; -1 where there is none. */
static int tg_with(int mode, int element, int word) {
  for (int k = 0; k < TG_MODES; k++) {
    int same = 1;
    for (int e = 0; e < TG_ELEMENTS; e++) same &= tg_modes_of[k].words[e] == (e == element ? word : tg_modes_of[mode].words[e]);
    if (same) return k;
  }
  return -1;
}

static int tg_distance(int a, int b) {
  int n = 0;
  for (int e = 0; e < TG_ELEMENTS; e++) n += tg_modes_of[a].words[e] != tg_modes_of[b].words[e];
  return n;
}

#if TG_MODES > 1
/* Contents handed over to a mode: T' L T dz = -T' L (what followers are told less what they have). Returns 1 where that fails. */
static int tg_hand_over(tg_instance *x, int mode, double t, double *common, double *mismatch) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  const tg_mode *m = tg_modes_of + mode;
  int before = v->mode, n = TG_STORAGES, follows[TG_SIZE(TG_STORAGES)] = {0}, own[TG_SIZE(TG_STORAGES)], n_own = 0, bad = 0;
  double L[TG_SIZE(TG_STORAGES * TG_STORAGES)], rows[TG_SIZE(TG_STORAGES)][TG_SIZE(TG_STORAGES)], base[TG_SIZE(TG_Y)];
  memset(mismatch, 0, sizeof(double) * TG_SIZE(TG_STORAGES));
  if (!m->n_following) return 0;
  v->mode = mode;
  for (int k = 0; k < m->n_following; k++) follows[m->following[k]] = 1;
  for (int k = 0; k < n; k++)
    if (!follows[k]) own[n_own++] = k;
  memcpy(base, common, sizeof base);
  bad = tg_tell_followers(c, t, base) || tg_inertia(c, t, L);
  double size = 0;
  for (int k = 0; k < n; k++) size = fmax(size, fabs(common[k]));
  double step = size > 0 ? 1e-3 * size : 1;
  memset(rows, 0, sizeof rows);
  for (int i = 0; i < n_own && !bad; i++) {
    double moved[TG_SIZE(TG_Y)];
    memcpy(moved, common, sizeof moved);
    moved[own[i]] += step;
    bad = tg_tell_followers(c, t, moved);
    rows[own[i]][i] = 1;
    for (int k = 0; k < m->n_following; k++) rows[m->following[k]][i] = (moved[m->following[k]] - base[m->following[k]]) / step;
  }
  for (int k = 0; k < m->n_following; k++) mismatch[m->following[k]] = base[m->following[k]] - common[m->following[k]];
  if (!bad && n_own) {
    double a[TG_SIZE(TG_STORAGES * TG_STORAGES)] = {0}, b[TG_SIZE(TG_STORAGES)] = {0};
    for (int i = 0; i < n_own; i++)
      for (int r = 0; r < n; r++)
        for (int s = 0; s < n; s++) {
          double weight = rows[r][i] * L[r * n + s];
          if (weight == 0) continue;
          b[i] -= weight * mismatch[s];
          for (int k = 0; k < n_own; k++) a[i * n_own + k] += weight * rows[s][k];
        }
    bad = tg_solve_small(n_own, a, b);
    for (int r = 0; r < n && !bad; r++) {
      common[r] = follows[r] ? base[r] : common[r];
      for (int i = 0; i < n_own; i++) common[r] += rows[r][i] * b[i];
    }
  } else if (!bad) {
    for (int k = 0; k < m->n_following; k++) common[m->following[k]] = base[m->following[k]];
  }
  v->mode = before;
  return bad;
}

typedef struct tg_trial {
  int mode, possible, violated, smooth, broken;
  double common[TG_SIZE(TG_Y)];
} tg_trial;

enum { TG_NO_MARGIN, TG_CLOSING_ONLY };
static const double TG_NOISE = 1e-11;
static const double TG_SLOW_BOUNCE = 1e-7; /* of the fastest impact */

/* A mode with its start, and the guards that are positive there or a moment later. */
static void tg_try(tg_instance *x, int mode, double t, double ahead, int fired, tg_trial *trial) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  const tg_mode *m = tg_modes_of + mode;
  double mismatch[TG_SIZE(TG_STORAGES)], low[TG_SIZE(TG_EVENTS)], high[TG_SIZE(TG_EVENTS)], rates[TG_SIZE(TG_Y)];
  double later[TG_SIZE(TG_Y)];
  memset(trial, 0, sizeof *trial);
  trial->mode = mode;
  memcpy(trial->common, v->y, sizeof trial->common);
  if (!m->rhs || tg_hand_over(x, mode, t, trial->common, mismatch)) return;
  int before = v->mode;
  v->mode = mode;
  int bad = tg_common_rates(c, t, trial->common, rates) || tg_common_events(c, t, trial->common, low);
  for (int k = 0; k < TG_Y && !bad; k++) later[k] = trial->common[k] + ahead * rates[k];
  bad = bad || tg_common_events(c, t + ahead, later, high);
  v->mode = before;
  if (bad) return;
  trial->possible = 1;
  for (int i = 0; i < m->n_changes; i++) {
    int e = m->changes[i].event;
    double *largest = tg_largest_of(v, mode, i);
    *largest = fmax(*largest, fmax(fabs(low[e]), fabs(high[e])));
    double noise = TG_NOISE * *largest;
    /* After an impact the guard still stands where it was: only one that closes counts. */
    int rises = high[e] > low[e], counts = high[e] > noise && (rises || !m->changes[i].impact);
    if (counts || (fired >> i & 1 && rises)) trial->violated |= 1 << i;
    if (low[e] > noise && (rises || !m->changes[i].impact)) trial->broken = 1;
  }
  trial->smooth = 1;
  for (int k = 0; k < TG_STORAGES; k++)
    if (fabs(mismatch[k]) > 10 * (v->rtol * v->scale[k] + 1e-3 * v->rtol)) trial->smooth = 0;
}

static void tg_enter(tg_values *v, const tg_trial *trial) {
  if (v->mode != trial->mode) v->step *= 0.1;
  v->mode = trial->mode;
  memcpy(v->y, trial->common, sizeof trial->common);
  tg_moved(v);
}

/* The nearest mode that agrees with itself, going on from `now`; `fired` are its changes that have just come. */
static int tg_next_mode(tg_instance *x, int now, double t, double ahead, int fired) {
  tg_values *v = &x->values;
  const tg_mode *m = tg_modes_of + now;
  tg_trial trial, impulsive = {0}, brief = {0};
  int seen[TG_MODES] = {0}, waiting[TG_MODES], order[TG_MODES], n = 0, count = 2, asked = now;
  for (int k = 0; k < TG_STORAGES; k++) v->scale[k] = fmax(v->scale[k], fabs(v->y[k]));
  for (int i = 0; i < m->n_changes; i++)
    if (fired >> i & 1 && asked >= 0) asked = tg_with(asked, m->changes[i].element, m->changes[i].to);
  if (asked >= 0 && asked != now) waiting[n] = asked, order[n++] = 0, seen[asked] = 1;
  waiting[n] = now, order[n++] = 1, seen[now] = 1;
  for (;;) {
    int here = -1, at = -1;
    for (int k = 0; k < n; k++) {
      if (waiting[k] < 0) continue;
      double rank = order[k] ? tg_distance(waiting[k], now) + 1e-6 * order[k] : -1;
      double best = at < 0 ? INFINITY : order[at] ? tg_distance(waiting[at], now) + 1e-6 * order[at] : -1;
      if (rank < best) at = k;
    }
    if (at >= 0) {
      here = waiting[at];
      waiting[at] = -1;
    } else { /* what no other mode led to comes last */
      for (int k = 0; k < TG_MODES && here < 0; k++)
        if (!seen[k]) here = k;
      if (here < 0) break;
      seen[here] = 1;
    }
    const tg_mode *h = tg_modes_of + here;
    int others[2 + 32 + TG_MODES], n_others = 0;
    tg_try(x, here, t, ahead, here == now ? fired : 0, &trial);
    if (trial.possible && !trial.violated && trial.smooth) {
      tg_enter(v, &trial);
      return 0;
    }
    if (trial.possible && !trial.violated && !impulsive.possible) impulsive = trial;
    if (trial.possible && trial.violated && trial.smooth && !trial.broken && here != now && !brief.possible) brief = trial;
    if (trial.possible) {
      int all = here;
      for (int i = 0; i < h->n_changes; i++)
        if (trial.violated >> i & 1 && all >= 0) all = tg_with(all, h->changes[i].element, h->changes[i].to);
      if (all >= 0) others[n_others++] = all;
      for (int i = 0; i < h->n_changes && n_others < 32; i++)
        if (trial.violated >> i & 1) others[n_others++] = tg_with(here, h->changes[i].element, h->changes[i].to);
    }
    if (!trial.possible || !trial.smooth)
      for (int k = 0; k < TG_MODES; k++)
        if (tg_distance(k, here) == 1) others[n_others++] = k;
    for (int k = 0; k < n_others; k++)
      if (others[k] >= 0 && !seen[others[k]]) {
        seen[others[k]] = 1;
        int place = 0;
        while (place < n && waiting[place] >= 0) place++;
        waiting[place] = others[k];
        order[place] = ++count;
        if (place == n) n++;
      }
  }
  if (impulsive.possible) {
    tg_enter(v, &impulsive);
    return 0;
  }
  if (fired) {
    tg_try(x, now, t, ahead, 0, &trial);
    if (trial.possible && !trial.violated) {
      tg_enter(v, &trial);
      return 0;
    }
  }
  if (!brief.possible) return 1;
  tg_enter(v, &brief);
  return 0;
}

/* Impacts first, then the mode that follows. */
static int tg_settle_modes(tg_instance *x, double t, double ahead, int fired, int *moved) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  const tg_mode *m = tg_modes_of + v->mode;
  int mode = v->mode, known = v->mode, impacts = 0;
  double before[TG_SIZE(TG_Y)], out[TG_SIZE(TG_MOST_OBSERVED)], kept[TG_SIZE(TG_MOST_CHANGES)];
  memcpy(before, v->y, sizeof before);
  if (tg_tell_followers(c, t, v->y)) return 1;
  for (int i = 0; i < m->n_changes; i++) {
    const tg_change *w = m->changes + i;
    if (!(fired >> i & 1) || !w->impact) continue;
    double plastic[TG_SIZE(TG_Y)], mismatch[TG_SIZE(TG_STORAGES)];
    int contact = tg_with(mode, w->element, w->to);
    if (tg_observe_own(c, t, before, out) || m->restitutions(c, t, kept)) return 1;
    memcpy(plastic, v->y, sizeof plastic);
    if (contact < 0 || !tg_modes_of[contact].rhs || tg_hand_over(x, contact, t, plastic, mismatch)) return 1;
    double speed = out[w->speed];
    v->fastest[w->element] = fmax(v->fastest[w->element], speed);
    /* Importers do not resolve as much as we do: of bounces that pile up they would miss one and go through the floor. */
    double slow = moved ? fmax(v->rtol, TG_SLOW_BOUNCE) : v->rtol;
    if (kept[i] * speed <= fmax(slow * v->fastest[w->element], 1e-3 * v->rtol)) {
      memcpy(v->y, plastic, sizeof plastic);
      mode = contact;
    } else {
      for (int k = 0; k < TG_STORAGES; k++) v->y[k] += (1 + kept[i]) * (plastic[k] - v->y[k]);
    }
    impacts = 1;
  }
  if (tg_next_mode(x, mode, t, ahead, impacts ? 0 : fired)) return 1;
  if (moved) *moved |= v->mode != known || memcmp(before, v->y, sizeof before) != 0;
  tg_moved(v);
  return 0;
}

static double tg_ahead(const tg_values *v) {
  return fmax(1e-6 * v->step, 16384 * 2.3e-16 * fmax(fabs(v->t), 1e-6 * (v->has_stop ? v->stop : 1)));
}

static int tg_change_mode(tg_instance *x, int fired) {
  return tg_settle_modes(x, x->values.t, tg_ahead(&x->values), fired, 0);
}

/* At an event of an importer, which stops on either side of a zero: a guard that is near zero and rises has fired. */
static int tg_change_in_event_mode(tg_instance *x, int *moved) {
  tg_values *v = &x->values;
  tg_context *c = &x->model.context;
  const tg_mode *m = tg_modes_of + v->mode;
  double low[TG_SIZE(TG_EVENTS)], high[TG_SIZE(TG_EVENTS)], rates[TG_SIZE(TG_Y)], later[TG_SIZE(TG_Y)];
  double ahead = tg_ahead(v);
  if (tg_common_rates(c, v->t, v->y, rates) || tg_common_events(c, v->t, v->y, low)) return 1;
  /* What closes slowly does not move by a digit within a short moment: then the moment gets longer. */
  double moment = ahead;
  for (int round = 0, still = 1; still && round < 6; round++, moment *= 16) {
    for (int k = 0; k < TG_Y; k++) later[k] = v->y[k] + moment * rates[k];
    if (tg_common_events(c, v->t + moment, later, high)) return 1;
    still = 0;
    for (int i = 0; i < m->n_changes; i++) {
      int e = m->changes[i].event;
      still |= m->changes[i].impact && high[e] == low[e] && fabs(low[e]) <= 1e-6 * *tg_largest_of(v, v->mode, i);
    }
  }
  int fired = 0;
  for (int i = 0; i < m->n_changes; i++) {
    int e = m->changes[i].event, rises = high[e] > low[e];
    double *largest = tg_largest_of(v, v->mode, i);
    *largest = fmax(*largest, fmax(fabs(low[e]), fabs(high[e])));
    if (rises ? low[e] >= -1e-6 * *largest : low[e] > TG_NOISE * *largest && !m->changes[i].impact) fired |= 1 << i;
  }
  return tg_settle_modes(x, v->t, ahead, fired, moved);
}
#else
static int tg_settle_modes(tg_instance *x, double t, double ahead, int fired, int *moved) {
  (void)x, (void)t, (void)ahead, (void)fired, (void)moved;
  return 0;
}

static int tg_change_mode(tg_instance *x, int fired) {
  (void)x, (void)fired;
  return 0;
}

static int tg_change_in_event_mode(tg_instance *x, int *moved) {
  (void)x, (void)moved;
  return 0;
}
#endif
