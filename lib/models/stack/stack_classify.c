#include <stdlib.h>

#include "base/memory.h"
#include "models/stack/stack_private.h"

static void add(size_t n, double weight, const double *from, double *to)
{
  for (size_t i = 0; i < n; i++) to[i] += weight * from[i];
}

/* Adds what the member of a channel in rank 'r' predicts; 'own' has room for that. */
static enum gpnn_status add_member(const struct gpnn_stack *stack, size_t channel, size_t r,
                                   const struct gpnn_query *query, size_t size, double *own,
                                   double *p, double *nearest, struct gpnn_counts *counts,
                                   struct gpnn_error *err)
{
  double weight = gpnn_parameters_weight(stack->channels[channel].parameters, r);
  double *own_nearest = nearest == NULL ? NULL : own + size;
  enum gpnn_status status =
      gpnn_model_classify(stack->ranks[r].model, gpnn_stack_place(stack, channel, r), query, own,
                          own_nearest, counts, err);
  if (status != GPNN_OK) return status;
  add(size, weight, own, p);
  if (nearest != NULL) add(query->n, weight, own_nearest, nearest);
  return GPNN_OK;
}

enum gpnn_status gpnn_stack_classify(const void *state, size_t channel,
                                     const struct gpnn_query *query, double *p, double *nearest,
                                     struct gpnn_counts *counts, struct gpnn_error *err)
{
  const struct gpnn_stack *stack = state;
  const struct gpnn_parameters *parameters = stack->channels[channel].parameters;
  size_t size, n = query->n, room;
  size_t n_classes = gpnn_dataset_n_classes(stack->channels[channel].dataset);
  enum gpnn_status status = GPNN_OK;
  if (!gpnn_multiply(n, n_classes, &size) || !gpnn_multiply(n, 1 + n_classes, &room))
    return gpnn_fail_memory(err, "for predictions");
  double *own = gpnn_alloc(room, 1, sizeof *own);
  if (own == NULL) return gpnn_fail_memory(err, "for predictions");
  for (size_t i = 0; i < size; i++) p[i] = 0;
  for (size_t i = 0; i < n && nearest != NULL; i++) nearest[i] = 0;
  for (size_t r = 0; r < gpnn_parameters_n_members(parameters) && status == GPNN_OK; r++)
    status = add_member(stack, channel, r, query, size, own, p, nearest, counts, err);
  free(own);
  return status;
}
