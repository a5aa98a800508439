/* A model on a page: the script sets values, begins, and asks for the variables that it shows, time after time. Terms of instance.h. */
static tg_instance tg_live;

static void tg_say(tg_instance *x, const char *text, const char *name) {
  (void)x, (void)text, (void)name;
}

/* As the model was written: every value that was set is forgotten. */
TG_EXPORT void tg_page_restore(void) {
  tg_close(&tg_live);
  memset(&tg_live, 0, sizeof tg_live);
  tg_live.co_simulation = 1;
  tg_reset(&tg_live);
  tg_open(&tg_live);
}

TG_EXPORT int tg_page_set(unsigned reference, double value) { return tg_set(&tg_live, reference, value); }

TG_EXPORT int tg_page_begin(double until) {
  return tg_enter_initialization(&tg_live, 0, 1, until, 0) || tg_exit_initialization(&tg_live);
}

/* Returns 0, or why no further step is to be had. */
TG_EXPORT int tg_page_reach(double until) { return until > tg_live.values.t ? tg_step_to(&tg_live, until) : 0; }

TG_EXPORT double tg_page_value(unsigned reference) {
  double value = 0;
  return tg_get(&tg_live, reference, &value) ? NAN : value;
}
