/* What the scores of inputs learn from a dataset, and how its inputs are seen. */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/peers.h"
#include "base/rng.h"
#include "dataset/dataset.h"
#include "dataset/scores.h"
#include "stats/normal.h"

/* Number of the first value after 'i' that differs from it. */
static size_t end_of_equals(size_t n, const double *sorted, size_t i)
{
  size_t end = i + 1;
  while (end < n && sorted[end] == sorted[i]) end++;
  return end;
}

/* Of the values from number 'i' to 'end' of 'n', which are equal. */
static double score_of(size_t n, size_t i, size_t end)
{
  return gpnn_normal_quantile((double)(i + end) / 2 / (double)n);
}

double gpnn_scores_unit(const struct gpnn_dataset *dataset)
{
  const struct gpnn_scaling *scaling = &dataset->scaling;
  size_t added = scaling->sight == NULL
                     ? 0
                     : gpnn_scores_width(scaling->n_out, scaling->sight) - scaling->n_out;
  return scaling->method == GPNN_SCALING_SCALE ? 1 / sqrt((double)(dataset->n_groups - added)) : 1;
}

/*
 * Writes the knots of an input whose 'n' sorted values these are to 'knots', which has room for
 * GPNN_SCORES_KNOTS; returns their number.  Of more distinct values those are taken that are first
 * to reach each of as many steps, equal in scores.
 */
static size_t find_knots(size_t n, const double *sorted, double unit, double *knots)
{
  enum { FEWEST = 3 };
  const double most = 3;
  size_t found = 0, n_distinct = 0, n_kept = 0;
  for (size_t i = 0, end; i < n; i = end) {
    end = end_of_equals(n, sorted, i);
    n_distinct++;
    n_kept += fabs(score_of(n, i, end)) <= most;
  }
  if (n_distinct < FEWEST || n_kept < 2) return 0;
  double step = n_kept <= GPNN_SCORES_KNOTS ? 0 : 2 * most / (GPNN_SCORES_KNOTS - 2);
  double next = -INFINITY;
  for (size_t i = 0, end; i < n && found < GPNN_SCORES_KNOTS; i = end) {
    end = end_of_equals(n, sorted, i);
    double score = score_of(n, i, end);
    if (fabs(score) > most || score < next) continue;
    knots[2 * found] = sorted[i];
    knots[2 * found++ + 1] = unit * score;
    next = (found == 1 ? score : next) + step;
  }
  return found < 2 ? 0 : found;
}

/* Whether an input may have a score: not if groups have slopes in it, which are in its values. */
static bool may_have_score(const struct gpnn_dataset *dataset, struct gpnn_feature_cursor *at,
                           size_t j)
{
  const struct gpnn_coordinate *coordinate = &dataset->coordinates[j];
  bool has_before = j > 0 && coordinate[-1].group == coordinate->group;
  bool has_after = j + 1 < dataset->d && coordinate[1].group == coordinate->group;
  for (size_t e = 0; e < dataset->schema.n_effects; e++)
    if (dataset->schema.effects[e].has_slope &&
        dataset->schema.effects[e].slope == coordinate->input)
      return false;
  return !coordinate->has_unit && !has_before && !has_after &&
         gpnn_schema_feature_input(&dataset->schema, at, coordinate->feature)->kind ==
             GPNN_COLUMN_NUMBER;
}

/* Rows to learn from, in order; NULL: all of them. */
static enum gpnn_status draw(const struct gpnn_dataset *dataset, uint64_t seed, size_t n,
                             uint64_t **rows, struct gpnn_error *err)
{
  struct gpnn_rng rng;
  *rows = NULL;
  if (n == dataset->n) return GPNN_OK;
  *rows = gpnn_alloc(n, 1, sizeof **rows);
  if (*rows == NULL) return gpnn_fail_memory(err, "for the scores of the inputs");
  gpnn_rng_init(&rng, seed, GPNN_RNG_SCORES);
  enum gpnn_status status = gpnn_rng_sample(&rng, dataset->n, n, *rows, err);
  if (status == GPNN_OK) qsort(*rows, n, sizeof **rows, gpnn_compare_uint64s);
  return status;
}

/* Takes input 'j' of the 'n' rows given, wherever they are. */
static enum gpnn_status take_values(const struct gpnn_dataset *dataset,
                                    const struct gpnn_parts *parts, size_t j, size_t n,
                                    const uint64_t *rows, double *values, struct gpnn_error *err)
{
  size_t first = (size_t)gpnn_parts_first(parts), end = (size_t)gpnn_parts_end(parts, dataset->n);
  for (size_t i = 0; i < n; i++) {
    size_t row = rows == NULL ? i : (size_t)rows[i];
    if (row >= first && row < end) values[i] = dataset->x[(row - first) * dataset->d + j];
  }
  return gpnn_parts_gather(parts, n, rows, sizeof *values, values, GPNN_OK, err);
}

/* Finds the knots of all inputs, from the rows given of each. */
static enum gpnn_status learn_all(struct gpnn_scores *scores, const struct gpnn_dataset *dataset,
                                  const struct gpnn_parts *parts, size_t n, const uint64_t *rows,
                                  double *values, struct gpnn_error *err)
{
  struct gpnn_feature_cursor at = {0};
  size_t found = 0;
  for (size_t j = 0; j < dataset->d; j++) {
    scores->first[j] = found;
    if (!may_have_score(dataset, &at, j)) continue;
    enum gpnn_status status = take_values(dataset, parts, j, n, rows, values, err);
    if (status != GPNN_OK) return status;
    qsort(values, n, sizeof *values, gpnn_compare_doubles);
    found += find_knots(n, values, gpnn_scores_unit(dataset), scores->knots + 2 * found);
  }
  scores->first[dataset->d] = found;
  return GPNN_OK;
}

enum gpnn_status gpnn_scores_learn(struct gpnn_scores *scores, const struct gpnn_dataset *dataset,
                                   const struct gpnn_parts *parts, uint64_t seed,
                                   struct gpnn_error *err)
{
  enum { MOST_ROWS = 32768 };
  size_t n = dataset->n < MOST_ROWS ? dataset->n : MOST_ROWS;
  size_t most = n < GPNN_SCORES_KNOTS ? n : GPNN_SCORES_KNOTS;
  struct gpnn_scores learnt = {.d = dataset->d};
  uint64_t *rows = NULL;
  double *values = NULL;
  if (dataset->coordinates == NULL) return GPNN_OK;
  enum gpnn_status status = draw(dataset, seed, n, &rows, err);
  if (status == GPNN_OK) {
    learnt.first = gpnn_alloc(dataset->d + 1, 1, sizeof *learnt.first);
    learnt.knots = gpnn_alloc(dataset->d, 2 * most, sizeof *learnt.knots);
    values = gpnn_alloc(n, 1, sizeof *values);
    if (learnt.first == NULL || learnt.knots == NULL || values == NULL)
      status = gpnn_fail_memory(err, "for the scores of the inputs");
  }
  if (status == GPNN_OK) status = learn_all(&learnt, dataset, parts, n, rows, values, err);
  free(rows);
  free(values);
  if (status == GPNN_OK && gpnn_scores_any(&learnt))
    *scores = learnt;
  else
    gpnn_scores_release(&learnt);
  return status;
}

unsigned char *gpnn_scores_list_sight(const struct gpnn_dataset *dataset, enum gpnn_sight sight)
{
  unsigned char *list = gpnn_alloc(dataset->d, 1, sizeof *list);
  for (size_t j = 0; j < dataset->d && list != NULL; j++) {
    bool has_score = dataset->scores != NULL && gpnn_scores_has(dataset->scores, j);
    list[j] = has_score ? (unsigned char)sight : GPNN_SIGHT_VALUE;
  }
  return list;
}
