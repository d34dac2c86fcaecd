/* The rows that candidates are fitted to, and those that they are scored on. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "dataset/sample.h"
#include "estimate/choose_private.h"

/* ---- samples ------------------------------------------------------------------------------ */

void gpnn_choice_release_rows(struct gpnn_choice_rows *sampled)
{
  gpnn_sample_free(sampled->sample);
  free(sampled->targets);
}

/* Sets the views: those of the sample, or of 'c' if there is none. */
static enum gpnn_status set_views(struct gpnn_choice_rows *rows, const struct gpnn_choice *c,
                                  struct gpnn_error *err)
{
  rows->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  if (rows->targets == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < c->n_targets; t++)
    rows->targets[t] = rows->sample == NULL
                           ? c->targets[t]
                           : gpnn_sample_target(rows->sample, c->targets[t]->target);
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_take_distinct(struct gpnn_choice_rows *distinct,
                                           const struct gpnn_choice *c, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (gpnn_dataset_has_copies(c->dataset))
    status = gpnn_sample_distinct(&distinct->sample, c->dataset, err);
  return status == GPNN_OK ? set_views(distinct, c, err) : status;
}

enum gpnn_status gpnn_choice_draw_sample(struct gpnn_choice_rows *sampled,
                                         const struct gpnn_choice *c, size_t most,
                                         struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (most > 0 && c->dataset->n > most)
    status = gpnn_sample_draw(&sampled->sample, c->dataset, most, c->options->fit.seed, err);
  return status == GPNN_OK ? set_views(sampled, c, err) : status;
}

void gpnn_choice_use_rows(struct gpnn_choice *c, const struct gpnn_dataset *const *targets)
{
  c->targets = targets;
  c->dataset = targets[0];
}

/* ---- validation rows ---------------------------------------------------------------------- */

size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted)
{
  size_t left = c->dataset->n - c->n_kept;
  return wanted < left ? wanted : left;
}

/* Takes all numbers below the number of rows, and the next larger one. */
static void set_counts(struct gpnn_choice *c)
{
  if (!c->options->neighbours) {
    c->counts[c->n_counts++] = c->options->fit.neighbours;
    return;
  }
  while (c->n_counts < c->head->n_counts) {
    c->counts[c->n_counts] = c->head->counts[c->n_counts];
    if (c->counts[c->n_counts++] >= c->dataset->n) break;
  }
}

/* Few neighbours suffice to compare candidates on rows among the training rows, but not on rows in
 * gaps. */
size_t gpnn_choice_first_counts(const struct gpnn_choice *c)
{
  bool all = c->options->like != NULL || c->n_counts < c->head->n_first;
  return all ? c->n_counts : c->head->n_first;
}

/* A fit takes the first rows of a random order of all rows, so those at its end are new to it. */
enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = c->dataset;
  struct gpnn_rng rng;
  set_counts(c);
  size_t end = c->head->count_rows(c), n = c->n, d = dataset->d;
  uint64_t *drawn = gpnn_alloc(end, 1, sizeof *drawn);
  c->x = gpnn_alloc(n, d, sizeof *c->x);
  c->self = gpnn_alloc(n, 1, sizeof *c->self);
  c->n_drawn = n;
  enum gpnn_status status = GPNN_OK;
  if (drawn == NULL || c->x == NULL || c->self == NULL)
    status = gpnn_fail_memory(err, "for a choice");
  gpnn_rng_init(&rng, c->options->fit.seed, GPNN_RNG_ESTIMATE);
  if (status == GPNN_OK) status = gpnn_rng_sample(&rng, dataset->n, end, drawn, err);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    uint64_t row = drawn[end - n + i];
    memcpy(c->x + i * d, dataset->x + row * d, d * sizeof *c->x);
    c->self[i] = (int64_t)row;
  }
  free(drawn);
  return status == GPNN_OK ? c->head->make_room(c, err) : status;
}
