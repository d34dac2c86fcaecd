#include "dataset/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [GPNN_SIGHT_VALUE] = "none", [GPNN_SIGHT_SCORE] = "only", [GPNN_SIGHT_BOTH] = "both"};

const char *gpnn_sight_name(enum gpnn_sight sight)
{
  return names[sight];
}

bool gpnn_sight_by_name(const char *name, size_t length, unsigned char *sight)
{
  for (unsigned char s = GPNN_SIGHT_VALUE; s <= GPNN_SIGHT_BOTH; s++)
    if (strlen(names[s]) == length && memcmp(names[s], name, length) == 0) {
      *sight = s;
      return true;
    }
  return false;
}

bool gpnn_sight_is_special(size_t d, const unsigned char *sight)
{
  for (size_t j = 0; j < d && sight != NULL; j++)
    if (sight[j] != GPNN_SIGHT_VALUE) return true;
  return false;
}

size_t gpnn_scores_knots(const struct gpnn_scores *scores, size_t j)
{
  return scores->first[j + 1] - scores->first[j];
}

bool gpnn_scores_has(const struct gpnn_scores *scores, size_t j)
{
  return scores->d > 0 && gpnn_scores_knots(scores, j) > 0;
}

bool gpnn_scores_any(const struct gpnn_scores *scores)
{
  return scores->d > 0 && scores->first[scores->d] > 0;
}

/* ---- curves -------------------------------------------------------------------------------- */

bool gpnn_scores_are_valid(const struct gpnn_scores *scores)
{
  if (scores->first[0] != 0) return false;
  for (size_t j = 0; j < scores->d; j++)
    if (scores->first[j + 1] < scores->first[j]) return false;
  for (size_t j = 0; j < scores->d; j++) {
    size_t n = gpnn_scores_knots(scores, j);
    const double *knot = scores->knots + 2 * scores->first[j];
    if (n == 1 || n > GPNN_SCORES_KNOTS) return false;
    for (size_t i = 1; i < n; i++)
      if (!(knot[2 * i] > knot[2 * i - 2] && knot[2 * i + 1] > knot[2 * i - 1])) return false;
  }
  return gpnn_scores_any(scores);
}

/* ---- applying ------------------------------------------------------------------------------ */

/* The line through two knots, at 'value'; where knots are so close that it leaves all numbers
 * behind, as far out as a distance can be told. */
static double line(const double *a, const double *b, double value)
{
  const double farthest = 1e100;
  double at = a[1] + (value - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
  return fmin(fmax(at, -farthest), farthest);
}

double gpnn_scores_of(const struct gpnn_scores *scores, size_t j, double value)
{
  enum { OUTER = 10 };
  size_t n = gpnn_scores_knots(scores, j), low = 0, high = n - 1;
  size_t tenth = (n + OUTER - 1) / OUTER;
  const double *knot = scores->knots + 2 * scores->first[j], *last = knot + 2 * high;
  if (isnan(value)) return value;
  if (value <= knot[0]) return line(knot, knot + 2 * tenth, value);
  if (value >= last[0]) return line(last, last - 2 * tenth, value);
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (knot[2 * middle] <= value)
      low = middle;
    else
      high = middle;
  }
  return line(knot + 2 * low, knot + 2 * high, value);
}

size_t gpnn_scores_width(size_t d, const unsigned char *sight)
{
  size_t width = d;
  for (size_t j = 0; j < d; j++) width += sight[j] == GPNN_SIGHT_BOTH;
  return width;
}

/* From the last input to the first, so that no value is overwritten before it is read. */
void gpnn_scores_see(const struct gpnn_scores *scores, const unsigned char *sight, double *z)
{
  size_t to = gpnn_scores_width(scores->d, sight);
  for (size_t j = scores->d; j-- > 0;) {
    double value = z[j];
    if (sight[j] & GPNN_SIGHT_SCORE) z[--to] = gpnn_scores_of(scores, j, value);
    if (sight[j] & GPNN_SIGHT_VALUE) z[--to] = value;
  }
}

void gpnn_scores_release(struct gpnn_scores *scores)
{
  free(scores->first);
  free(scores->knots);
  *scores = (struct gpnn_scores){0};
}
