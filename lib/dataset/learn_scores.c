/* What the scores of inputs learn from a dataset, and how its inputs are seen. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/peers.h"
#include "base/rng.h"
#include "dataset/dataset.h"
#include "dataset/scores.h"
#include "stats/distributions/normal.h"

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

/* Somewhat below the share of values at which scores of at least 'score' begin. */
static double share_before(double score)
{
  return gpnn_normal_cdf(score) - 1e-9;
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
  for (size_t i = 0, end; i < n && n_kept <= GPNN_SCORES_KNOTS; i = end) {
    end = end_of_equals(n, sorted, i);
    n_distinct++;
    n_kept += fabs(score_of(n, i, end)) <= most;
  }
  if (n_distinct < FEWEST || n_kept < 2) return 0;
  double step = n_kept <= GPNN_SCORES_KNOTS ? 0 : 2 * most / (GPNN_SCORES_KNOTS - 2);
  double next = -INFINITY, least = share_before(-most);
  for (size_t i = 0, end; i < n && found < GPNN_SCORES_KNOTS; i = end) {
    end = end_of_equals(n, sorted, i);
    if ((double)end < least * (double)n) continue;
    double score = score_of(n, i, end);
    if (fabs(score) > most || score < next) continue;
    knots[2 * found] = sorted[i];
    knots[2 * found++ + 1] = unit * score;
    next = (found == 1 ? score : next) + step;
    least = share_before(next);
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

struct learning {
  const struct gpnn_dataset *dataset;
  const struct gpnn_parts *parts;
  size_t n;             /* rows to learn from */
  const uint64_t *rows; /* their numbers; NULL: all */
  double *values;       /* n: of an input in all of them */
  size_t most;          /* knots of an input */
  size_t *count;        /* d: how many each input has of: */
  double *knots;        /* d by 2 most */
};

/* Takes input 'j' of those rows that are here; returns how many they are. */
static size_t take_values(const struct learning *l, size_t j, double *values)
{
  const struct gpnn_dataset *dataset = l->dataset;
  size_t first = (size_t)gpnn_parts_first(l->parts), n = 0;
  size_t end = (size_t)gpnn_parts_end(l->parts, dataset->n);
  for (size_t i = 0; i < l->n; i++) {
    size_t row = l->rows == NULL ? i : (size_t)l->rows[i];
    if (row >= first && row < end) values[n++] = dataset->x[(row - first) * dataset->d + j];
  }
  return n;
}

/* Finds the knots of input 'j' from its values. */
static void learn_input(struct learning *l, size_t j)
{
  gpnn_sort_doubles(l->n, l->values);
  l->count[j] =
      find_knots(l->n, l->values, gpnn_scores_unit(l->dataset), l->knots + 2 * l->most * j);
}

/* Finds the knots of the inputs from 'begin' on, each on another rank, to which all send the values
 * they have. */
static enum gpnn_status learn_some(struct learning *l, struct gpnn_feature_cursor *at, size_t begin,
                                   struct gpnn_message *messages, struct gpnn_error *err)
{
  struct gpnn_peers *peers = l->parts->peers;
  struct gpnn_message *send = messages, *received = messages + peers->size;
  bool is_here = false;
  enum gpnn_status status = GPNN_OK;
  for (size_t r = 0; r < peers->size && begin + r < l->dataset->d && status == GPNN_OK; r++) {
    if (!may_have_score(l->dataset, at, begin + r)) continue;
    is_here = is_here || r == peers->rank;
    send[r].length = take_values(l, begin + r, l->values) * sizeof *l->values;
    send[r].bytes = malloc(send[r].length + 1);
    if (send[r].bytes == NULL) status = gpnn_fail_memory(err, "for the scores of the inputs");
    if (status == GPNN_OK) memcpy(send[r].bytes, l->values, send[r].length);
  }
  status = gpnn_peers_agree(peers, status, err);
  if (status == GPNN_OK) status = peers->exchange(peers->context, send, received, err);
  unsigned char *to = (unsigned char *)l->values;
  for (size_t r = 0; r < peers->size && status == GPNN_OK; to += received[r++].length)
    if (received[r].length > 0) memcpy(to, received[r].bytes, received[r].length);
  if (is_here && status == GPNN_OK) learn_input(l, begin + peers->rank);
  gpnn_messages_release(2 * peers->size, messages);
  return status;
}

/* Lets all ranks learn all inputs. */
static enum gpnn_status learn_in_parts(struct learning *l, struct gpnn_error *err)
{
  struct gpnn_peers *peers = l->parts->peers;
  struct gpnn_feature_cursor at = {0};
  size_t size = peers->size;
  struct gpnn_message *messages = gpnn_alloc(2 * size, 1, sizeof *messages);
  enum gpnn_status status =
      messages == NULL ? gpnn_fail_memory(err, "for the scores of the inputs") : GPNN_OK;
  for (size_t j = 0; j < l->dataset->d && status == GPNN_OK; j += size)
    status = learn_some(l, &at, j, messages, err);
  free(messages);
  status = gpnn_peers_agree(peers, status, err);
  for (size_t j = 0; j < l->dataset->d && status == GPNN_OK; j++) {
    double *knots = l->knots + 2 * l->most * j;
    peers->broadcast(peers->context, j % size, &l->count[j], sizeof *l->count);
    peers->broadcast(peers->context, j % size, knots, 2 * l->count[j] * sizeof *knots);
  }
  return status;
}

/* Finds the knots of all inputs. */
static enum gpnn_status learn_all(struct learning *l, struct gpnn_error *err)
{
  struct gpnn_feature_cursor at = {0};
  if (l->parts != NULL) return learn_in_parts(l, err);
  for (size_t j = 0; j < l->dataset->d; j++) {
    if (!may_have_score(l->dataset, &at, j)) continue;
    take_values(l, j, l->values);
    learn_input(l, j);
  }
  return GPNN_OK;
}

/* Puts the knots side by side, and makes of their counts where those of each input begin. */
static void pack(struct gpnn_scores *scores, size_t most)
{
  size_t found = 0;
  for (size_t j = 0; j < scores->d; j++) {
    size_t n = scores->first[j];
    memmove(scores->knots + 2 * found, scores->knots + 2 * most * j, 2 * n * sizeof *scores->knots);
    scores->first[j] = found;
    found += n;
  }
  scores->first[scores->d] = found;
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
  if (status == GPNN_OK) {
    struct learning l = {dataset, parts, n, rows, values, most, learnt.first, learnt.knots};
    status = learn_all(&l, err);
  }
  if (status == GPNN_OK) pack(&learnt, most);
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
