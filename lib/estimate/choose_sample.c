/*
 * Samples of large datasets, in which candidates are compared.
 */
#include <stdlib.h>

#include "base/memory.h"
#include "dataset/sample.h"
#include "estimate/choose_private.h"

void gpnn_choice_release_rows(struct gpnn_choice_rows *sampled)
{
  gpnn_sample_free(sampled->sample);
  free(sampled->targets);
}

enum gpnn_status gpnn_choice_take_distinct(struct gpnn_choice_rows *distinct,
                                           const struct gpnn_choice *c, struct gpnn_error *err)
{
  if (!gpnn_dataset_has_copies(c->dataset)) return gpnn_choice_draw_sample(distinct, c, 0, err);
  enum gpnn_status status = gpnn_sample_distinct(&distinct->sample, c->dataset, err);
  if (status != GPNN_OK) return status;
  distinct->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  if (distinct->targets == NULL) return gpnn_fail_memory(err, "for a choice");
  for (size_t t = 0; t < c->n_targets; t++)
    distinct->targets[t] = gpnn_sample_target(distinct->sample, c->targets[t]->target);
  return GPNN_OK;
}

enum gpnn_status gpnn_choice_draw_sample(struct gpnn_choice_rows *sampled,
                                         const struct gpnn_choice *c, size_t most,
                                         struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  sampled->targets = gpnn_alloc(c->n_targets, 1, sizeof(const struct gpnn_dataset *));
  if (sampled->targets == NULL) return gpnn_fail_memory(err, "for a choice");
  if (most > 0 && c->dataset->n > most)
    status = gpnn_sample_draw(&sampled->sample, c->dataset, most, c->options->fit.seed, err);
  if (status != GPNN_OK) return status;
  for (size_t t = 0; t < c->n_targets; t++)
    sampled->targets[t] = sampled->sample == NULL
                              ? c->targets[t]
                              : gpnn_sample_target(sampled->sample, c->targets[t]->target);
  return GPNN_OK;
}

void gpnn_choice_use_rows(struct gpnn_choice *c, const struct gpnn_choice_rows *rows)
{
  c->targets = rows->targets;
  c->dataset = rows->targets[0];
}
