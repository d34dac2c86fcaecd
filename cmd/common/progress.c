#include "cmd/common/progress.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* There is only one standard error, and so only one progress line. */
static struct {
  bool decided, wanted, shown, is_terminal;
  double started, drawn;
  char what[64]; /* is being done since 'began' */
  double began;
} line;

double progress_now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void progress_mode(bool always, bool never)
{
  line.is_terminal = isatty(STDERR_FILENO) == 1;
  line.wanted = !never && (always || line.is_terminal);
  line.began = progress_now();
  line.started = always ? line.began - 1 : line.began;
  line.decided = true;
}

const char *progress_time_left(double seconds, char text[PROGRESS_TIME_BYTES])
{
  const double minute = 60, hour = 60 * minute, day = 24 * hour;
  if (seconds < 9.5)
    snprintf(text, PROGRESS_TIME_BYTES, ", a few seconds left");
  else if (seconds < 55)
    snprintf(text, PROGRESS_TIME_BYTES, ", about %.0f s left", 10 * round(seconds / 10));
  else if (seconds < 59.5 * minute)
    snprintf(text, PROGRESS_TIME_BYTES, ", about %.0f min left", round(seconds / minute));
  else if (seconds < 47.5 * hour)
    snprintf(text, PROGRESS_TIME_BYTES, ", about %.0f h left", round(seconds / hour));
  else
    snprintf(text, PROGRESS_TIME_BYTES, ", about %.3g days left", round(seconds / day));
  return text;
}

/* Notes what is being done.  True if it is time to draw the line again; '*elapsed' is how long it
 * has been done. */
static bool is_due(const char *what, double *elapsed)
{
  if (!line.decided || !line.wanted) return false;
  double t = progress_now();
  if (strcmp(line.what, what) != 0) {
    if (line.what[0] != '\0') line.began = t;
    snprintf(line.what, sizeof line.what, "%s", what);
  }
  *elapsed = t - line.began;
  if (t - line.started < 1 || t - line.drawn < 0.25) return false;
  line.drawn = t;
  return true;
}

/* 'share' is NaN if it is not known. */
static void draw(const char *done, double n_done, double share, double elapsed)
{
  char left[PROGRESS_TIME_BYTES] = "";
  const double least_time = 2, least_share = 0.01; /* what an estimate needs */
  fputs(line.is_terminal ? "\r" : "", stderr);
  fputs(done, stderr);
  if (!isnan(share)) fprintf(stderr, " (%.0f %%)", 100 * share);
  if (elapsed > 0.5) fprintf(stderr, ", %.3g a second", n_done / elapsed);
  if (elapsed > least_time && share > least_share && share < 1)
    fputs(progress_time_left(elapsed * (1 - share) / share, left), stderr);
  fputs(line.is_terminal ? "\033[K" : "\n", stderr);
  fflush(stderr);
  line.shown = line.is_terminal;
}

void progress_update(const char *what, size_t done, size_t total)
{
  char text[128];
  double elapsed;
  if (!is_due(what, &elapsed)) return;
  if (total > 0)
    snprintf(text, sizeof text, "%zu of %zu %s", done, total, what);
  else
    snprintf(text, sizeof text, "%zu %s", done, what);
  draw(text, (double)done, total > 0 ? (double)done / (double)total : NAN, elapsed);
}

void progress_share(const char *what, size_t done, double share)
{
  char text[128];
  double elapsed;
  if (!is_due(what, &elapsed)) return;
  snprintf(text, sizeof text, "%zu %s", done, what);
  draw(text, (double)done, share, elapsed);
}

void progress_rows_read(size_t n_rows, double share)
{
  progress_share("rows read", n_rows, share);
}

void progress_at_most(const char *what, size_t done, size_t most)
{
  char text[128];
  double elapsed;
  if (!is_due(what, &elapsed)) return;
  snprintf(text, sizeof text, "%zu of at most %zu %s", done, most, what);
  draw(text, (double)done, NAN, elapsed);
}

void progress_erase(void)
{
  if (!line.shown) return;
  fputs("\r\033[K", stderr);
  line.shown = false;
}
