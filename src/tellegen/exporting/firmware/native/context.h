/* What the functions of the model are handed. */
typedef struct tg_context {
  const double *parameters, *inputs;
  double *memory, *values;
  const double *tables;
  int failed;
} tg_context;

#define TG_SIZE(n) ((n) ? (n) : 1)

/* How far inside of step n its ends are looked at, as a share of it: what jumps at an end belongs to one step alone, and rounding of the
 * time must not lead to the other one. */
static double tg_inside(double n) {
  return 1e-6 + 4.0 * TG_EPSILON * n;
}
