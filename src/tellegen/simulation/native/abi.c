/* What the library was made from. */
#include <stdio.h>

#include "digest.h"
#include "job.h"

/* The sizes of what Python and C share, and the digest of all texts of this folder: a library that was left over from other texts, or
 * whose compiler lays out a struct in another way, is told before it is called. */
const char *tg_abi(void) {
  static char text[128];
  snprintf(text, sizeof text, "%d %d %d %s", (int)sizeof(tg_context), (int)sizeof(tg_history), (int)sizeof(tg_job), TG_SOURCES);
  return text;
}
