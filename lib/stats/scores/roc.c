#include "stats/scores/classification.h"

#include <math.h>
#include <stdlib.h>

#include "base/compare.h"

static int compare_descending(const void *a, const void *b)
{
  return gpnn_compare_doubles(b, a);
}

/* Rows that have been passed, in descending order of their scores. */
struct passed {
  size_t n, n_positive, n_negative;
};

/* Passes all rows of the next score. */
static struct passed pass_score(size_t n, const struct gpnn_roc_row *rows, struct passed passed)
{
  double score = rows[passed.n].score;
  for (; passed.n < n && rows[passed.n].score == score; passed.n++) {
    passed.n_positive += rows[passed.n].is_positive;
    passed.n_negative += !rows[passed.n].is_positive;
  }
  return passed;
}

double gpnn_roc_area(size_t n, struct gpnn_roc_row *rows)
{
  double area = 0;
  struct passed last, passed = {0};
  if (n == 0) return NAN;
  qsort(rows, n, sizeof *rows, compare_descending);
  while (passed.n < n) {
    last = passed;
    passed = pass_score(n, rows, passed);
    double height = (double)(last.n_positive + passed.n_positive) / 2;
    area += height * (double)(passed.n_negative - last.n_negative);
  }
  if (passed.n_positive == 0 || passed.n_negative == 0) return NAN;
  return area / ((double)passed.n_positive * (double)passed.n_negative);
}

size_t gpnn_roc_curve(size_t n, const struct gpnn_roc_row *rows, size_t most,
                      struct gpnn_roc_point *points)
{
  size_t n_positive = 0, n_points = 0;
  for (size_t i = 0; i < n; i++) n_positive += rows[i].is_positive;
  if (n_positive == 0 || n_positive == n) return 0;
  /* Along the curve, which goes up and to the right, the sum of both rates goes from 0 to 2. */
  double step = n + 1 > most ? 2 / ((double)most - 2) : 0;
  points[n_points++] = (struct gpnn_roc_point){INFINITY, 0, 0};
  for (struct passed passed = {0}; passed.n < n;) {
    double threshold = rows[passed.n].score;
    passed = pass_score(n, rows, passed);
    struct gpnn_roc_point point = {threshold, (double)passed.n_negative / (double)(n - n_positive),
                                   (double)passed.n_positive / (double)n_positive};
    const struct gpnn_roc_point *before = &points[n_points - 1];
    double distance =
        point.false_positive - before->false_positive + point.true_positive - before->true_positive;
    if (distance >= step || passed.n == n) points[n_points++] = point;
  }
  return n_points;
}
