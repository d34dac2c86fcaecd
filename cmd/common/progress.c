#include "cmd/common/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

/* There is only one standard error, and so only one progress line. */
static struct {
  bool decided, wanted, shown, is_terminal;
  double started, drawn;
} line;

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_mode(bool always, bool never)
{
  line.is_terminal = isatty(STDERR_FILENO) == 1;
  line.wanted = !never && (always || line.is_terminal);
  line.started = always ? now() - 1 : now();
  line.decided = true;
}

void progress_update(const char *what, size_t done, size_t total)
{
  if (!line.decided || !line.wanted) return;
  double t = now();
  if (t - line.started < 1 || t - line.drawn < 0.25) return;
  line.drawn = t;
  fputs(line.is_terminal ? "\r" : "", stderr);
  if (total > 0)
    fprintf(stderr, "%zu of %zu %s (%.0f %%)", done, total, what,
            100.0 * (double)done / (double)total);
  else
    fprintf(stderr, "%zu %s", done, what);
  if (t > line.started + 1) fprintf(stderr, ", %.3g a second", (double)done / (t - line.started));
  fputs(line.is_terminal ? "\033[K" : "\n", stderr);
  fflush(stderr);
  line.shown = line.is_terminal;
}

void progress_erase(void)
{
  if (!line.shown) return;
  fputs("\r\033[K", stderr);
  line.shown = false;
}
