/*
 * ask: which rows of a pool the owner of a model should ask another about.
 *
 * Threads: the model's; results do not depend on their number.
 *
 * Source: Thomas (2017), section 4.2.1, for the choice by variance; gpnn-methods-share(7),
 * equations 20.1 and 20.2, for the greedy one.
 */
#ifndef GPNN_COTRAIN_ASK_H
#define GPNN_COTRAIN_ASK_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/model.h"

enum gpnn_ask_strategy {
  GPNN_ASK_VARIANCE, /* those of which the model is least certain */
  GPNN_ASK_GREEDY, /* one after another, as if each were answered before the next is chosen; of the
                      answers only where they are matters for that */
  GPNN_ASK_RANDOM
};

/* Rows that the greedy strategy can choose from: it takes the covariances among all of them. */
enum { GPNN_ASK_MOST = 5000 };

/*
 * Chooses 'count' different rows of 'n' for a model with one channel, or all if there are fewer;
 * 'x' (n by d) is standardised.  Writes their numbers to 'chosen', the one to ask about first,
 * first, and how many there are to '*n_chosen'.  Of rows alike, the earlier one is chosen first.
 *
 * GPNN_EINVAL: the greedy strategy has more than GPNN_ASK_MOST rows to choose from, or a model that
 * has no covariances; the model predicts classes.  Otherwise outcomes as for gpnn_model_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_ask_choose(const struct gpnn_model *model,
                                                 enum gpnn_ask_strategy strategy, size_t n,
                                                 const double *x, size_t count, uint64_t seed,
                                                 size_t *chosen, size_t *n_chosen,
                                                 struct gpnn_error *err);

#endif
