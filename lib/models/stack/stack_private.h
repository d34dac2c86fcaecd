/*
 * stack_private: shared by the files of the stack: stack.c, and stack_classify.c with the
 * probabilities of classes.
 */
#ifndef GPNN_MODELS_STACK_STACK_PRIVATE_H
#define GPNN_MODELS_STACK_STACK_PRIVATE_H

#include "models/model.h"

/* The members of one rank: the first of all channels, the second, and so on.  Channels with fewer
 * members than the rank have none in it. */
struct gpnn_stack_rank {
  struct gpnn_model *model;           /* owned; made from an earlier rank's if 'shares' */
  size_t n;                           /* channels of the stack that have a member in it */
  struct gpnn_channel *channels;      /* owned; of these, in the order of the stack's */
  struct gpnn_parameters *parameters; /* owned: theirs, without further members; what they own
                                         belongs to the channels' */
};

struct gpnn_stack {
  size_t n;                            /* channels */
  const struct gpnn_channel *channels; /* n; borrowed, as are the options */
  const struct gpnn_model_options *options;
  size_t n_ranks;
  struct gpnn_stack_rank *ranks; /* owned; n_ranks */
};

/* Which of the channels of rank 'r' is channel 'c' of the stack, which has a member in it. */
size_t gpnn_stack_place(const struct gpnn_stack *stack, size_t c, size_t r);

/* Averages the probabilities of the members of a channel by weight (gpnn-methods(7), equation
 * 13.15), as struct gpnn_model_ops has it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_stack_classify(const void *state, size_t channel,
                                                     const struct gpnn_query *query, double *p,
                                                     double *nearest, struct gpnn_counts *counts,
                                                     struct gpnn_error *err);

#endif
