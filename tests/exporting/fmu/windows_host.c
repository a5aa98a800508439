/* Loads a unit of FMI 2.0 on Windows, steps it, and prints what it tells: a third importer.
 *
 * host LIBRARY TOKEN STEP COUNT REFERENCE... : a line for each step, time and values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

typedef void *unit;

static void quiet(void *environment, const char *name, int status, const char *category, const char *message, ...) {
  (void)environment, (void)name, (void)status, (void)category, (void)message;
}
static const struct {
  void *log, *allocate, *release, *finished, *environment;
} callbacks = {(void *)quiet, (void *)calloc, (void *)free, NULL, NULL};

#define FUNCTION(type, name, arguments) \
  type(*name) arguments = (type(*) arguments)(void *)GetProcAddress(library, "fmi2" #name); \
  if (!name) return printf("no " #name "\n"), 2

int main(int count, char **words) {
  HMODULE library = LoadLibraryA(words[1]);
  if (!library) return printf("not loaded: %lu\n", GetLastError()), 2;
  FUNCTION(unit, Instantiate, (const char *, int, const char *, const char *, const void *, int, int));
  FUNCTION(int, SetupExperiment, (unit, int, double, double, int, double));
  FUNCTION(int, EnterInitializationMode, (unit));
  FUNCTION(int, ExitInitializationMode, (unit));
  FUNCTION(int, GetReal, (unit, const unsigned *, size_t, double *));
  FUNCTION(int, DoStep, (unit, double, double, int));
  FUNCTION(int, Terminate, (unit));
  FUNCTION(void, FreeInstance, (unit));
  unit u = Instantiate("unit", 1, words[2], "file:///c:/", &callbacks, 0, 0);
  if (!u) return printf("no instance\n"), 2;
  const double step = atof(words[3]);
  const int steps = atoi(words[4]), n = count - 5;
  unsigned references[64];
  double values[64];
  for (int k = 0; k < n; k++) references[k] = (unsigned)atol(words[5 + k]);
  if (SetupExperiment(u, 0, 0.0, 0.0, 0, 0.0) || EnterInitializationMode(u) || ExitInitializationMode(u)) return 3;
  for (int k = 0; k <= steps; k++) {
    if (k && DoStep(u, (k - 1) * step, step, 1)) return 4;
    if (GetReal(u, references, (size_t)n, values)) return 5;
    printf("%.17g", k * step);
    for (int i = 0; i < n; i++) printf(" %.17g", values[i]);
    printf("\n");
  }
  Terminate(u);
  FreeInstance(u);
  return 0;
}
