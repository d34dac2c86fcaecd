/*
 * importance: how much worse rows are predicted without what a column tells of them.
 *
 * A column, or several together, are taken away in two ways.  If a column is permuted, each row has
 * the value of another row in it: the loss says how much the model relies on the column (Breiman
 * 2001), also on what other columns would tell as well.  If it is missing, it is integrated out
 * given the others (models/missing.h): the loss says what the column adds to them.  Of two columns
 * that say the same, the first shows both, and the second neither.  Losses of what is missing are
 * those that very many draws of it would have, as far as that shows (equation
 * 22.3).
 *
 * The losses are differences: of numbers the mean CRPS, and the root of the mean squared error, in
 * the units of the target; of classes the mean negative log probability of the truth.  Standard
 * errors take account of how much rows, or groups of them, differ and, where there are several
 * permutations, of how much these differ (gpnn-methods-explain(7), equations 22.2 and 22.4).
 * Threads: those of the model; no result depends on their number.
 */
#ifndef GPNN_EXPLAIN_IMPORTANCE_H
#define GPNN_EXPLAIN_IMPORTANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "explain/columns.h"
#include "models/model.h"
#include "models/predict.h"

/* Rows with known targets, which have no offsets; all borrowed. */
struct gpnn_importance_rows {
  struct gpnn_predict_rows of;
  const double *truth;   /* of.n: in the units of the target, or numbers of classes */
  const uint32_t *group; /* of.n: rows of the same group may be alike, as to standard errors; NULL:
                            training rows have the groups of the dataset, others none */
};

/* What is lost: of numbers CRPS and RMSE, of classes the log loss alone. */
enum { GPNN_IMPORTANCE_LOSSES = 2 };

struct gpnn_importance_loss {
  double mean, standard_error;
};

struct gpnn_importance {
  struct gpnn_importance_loss permuted[GPNN_IMPORTANCE_LOSSES];
  struct gpnn_importance_loss missing[GPNN_IMPORTANCE_LOSSES]; /* NaN: it cannot be missing, as a
                                                                  regressor or where rows that lack
                                                                  inputs are bad */
};

struct gpnn_importance_options {
  size_t n_permutations; /* > 0 */
  size_t n_permuted,
      n_missing; /* > 0: columns are permuted, and taken as missing, in so many of
                    the rows, at most all, random ones; values come from all of them */
  uint64_t seed; /* rows and permutations are the same for all columns */
};

/* A scorer: predicts the rows of one object once for each column and permutation, but for those
 * that a permutation leaves as they are. */
struct gpnn_importance_job;

/*
 * Prepares the rows for a model with one channel.  Everything is borrowed and must outlive the
 * object.  GPNN_EDATA: there are no rows.  Otherwise outcomes as for gpnn_predict() or
 * gpnn_labels_predict().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_importance_new(struct gpnn_importance_job **job,
                                                     const struct gpnn_model *model,
                                                     const struct gpnn_importance_rows *rows,
                                                     struct gpnn_error *err);

/* The losses with all columns: CRPS and RMSE, or the log loss and NaN. */
void gpnn_importance_base(const struct gpnn_importance_job *job,
                          double base[GPNN_IMPORTANCE_LOSSES]);

/* Finds the importance of columns of the model's dataset, which are taken away together.  Columns
 * that the model does not see have 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_importance_of(struct gpnn_importance_job *job,
                                                    const struct gpnn_explain_group *group,
                                                    const struct gpnn_importance_options *options,
                                                    struct gpnn_importance *importance,
                                                    struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_importance_free(struct gpnn_importance_job *job);

#endif
