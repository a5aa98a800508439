/* Before the first step. */
void tg_start(tg_state *state) {
  for (int k = 0; k < TG_Y; k++) {
    state->y[k] = tg_first_y[k];
    state->rest[k] = 0.0;
  }
  for (int k = 0; k < TG_MEMORY; k++) state->memory[k] = tg_first_memory[k];
  for (int k = 0; k < TG_SCRATCH; k++) state->values[k] = 0.0;
  for (int g = 0; g < TG_GROUPS; g++) state->wait[g] = tg_first_wait[g];
  state->steps = 0;
}

/* Signals that are due take their samples; all of them read the values from before. */
static int tg_take_samples(tg_context *c, tg_state *state, double n) {
  double before[TG_SIZE(TG_MEMORY)], taken[TG_SIZE(TG_MEMORY)], rate[TG_SIZE(TG_Y)];
  const double t = state->steps ? TG_STEP * (n - tg_inside(n)) : 0.0;
  if (TG_SAMPLES_READ_RATES && tg_rhs(c, t, state->y, rate)) return 1;
  for (int k = 0; k < TG_MEMORY; k++) before[k] = state->memory[k];
  for (int g = 0; g < TG_GROUPS; g++) {
    if (state->wait[g]) {
      state->wait[g]--;
      continue;
    }
    state->wait[g] = tg_periods[g] - 1;
    c->memory = before;
    for (int k = 0; k < TG_MEMORY; k++) taken[k] = before[k];
    if (tg_sample(c, t, state->y, rate, g, taken)) return 1;
    c->memory = state->memory;
    for (int k = 0; k < TG_MEMORY; k++)
      if (tg_group_of[k] == g) state->memory[k] = taken[k];
  }
  return 0;
}

/* One step: samples that are due are taken, the outputs shown, and the state goes on while the inputs are held. */
int tg_step(tg_state *state, const tg_input *input, tg_output *output) {
  double u[TG_SIZE(TG_U)], rate[TG_SIZE(TG_Y)], out[TG_SIZE(TG_OUTPUTS)], moved[TG_SIZE(TG_Y)];
  tg_state next = *state;
  tg_context c = {tg_parameters, u, next.memory, next.values, tg_tables, 0};
  const double n = (double)state->steps, now = TG_STEP * (n + tg_inside(n));
  tg_take(input, u);
  if (TG_GROUPS && tg_take_samples(&c, &next, n)) return 1;
  if (TG_OUTPUTS_READ_RATES && tg_rhs(&c, now, next.y, rate)) return 1;
  if (tg_observe(&c, now, next.y, rate, out)) return 1;
  if (tg_advance(&c, n, state->y, moved)) return 1;
  for (int k = 0; k < TG_Y; k++) {
    /* What rounding keeps from the sum goes into the next one (Kahan 1965): thousands of small steps add up otherwise. */
    moved[k] += state->rest[k];
    next.y[k] = state->y[k] + moved[k];
    next.rest[k] = moved[k] - (next.y[k] - state->y[k]);
  }
  if (tg_checked(&c, next.y, TG_Y, 0)) return 1;
  next.steps++;
  *state = next;
  tg_give(out, output);
  return 0;
}
