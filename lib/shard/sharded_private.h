/*
 * sharded_private: what a server is made of.  sharded.c has the models of rank 0 and the orders
 * that it gives; sharded_task.c what a rank keeps of a model; sharded_predict.c what it does for a
 * batch.
 */
#ifndef GPNN_SHARD_SHARDED_PRIVATE_H
#define GPNN_SHARD_SHARDED_PRIVATE_H

#include "search/search.h"
#include "shard/shard_private.h"
#include "shard/sharded.h"

/* The nearest rows of one member, and the boxes of all ranks, in the coordinates in which distances
 * are Euclidean. */
struct gpnn_shard_metric {
  struct gpnn_search *search; /* owned; over the rows of this rank, exact */
  size_t neighbours;          /* of a row to predict */
  double *boxes;              /* owned; for each rank, the least of d coordinates, then the most */
};

/* A model, as every rank has it. */
struct gpnn_shard_task {
  struct gpnn_shard *shard;             /* borrowed */
  struct gpnn_parameters *parameters;   /* owned; those of the one channel */
  struct gpnn_transformed *transformed; /* owned; NULL: the target is not */
  struct gpnn_channel channel;          /* of this rank's rows */
  struct gpnn_model_options options;
  size_t n_metrics;
  struct gpnn_shard_metric *metrics; /* owned; one for each member */
  size_t n_fixed;
  double *fixed; /* owned; packed rows that are among those of every batch */
  struct gpnn_rows fixed_rows;
  struct gpnn_model *base; /* owned; of these alone: batches have its metric, and bring candidates.
                              NULL: their rows are searched, as there are several metrics, or no
                              more rows than neighbours */
};

/* A batch: rows to predict, and what is wanted of them. */
struct gpnn_shard_batch {
  size_t n;
  const double *x, *regressors; /* as in struct gpnn_query */
  unsigned wanted;              /* bits, in the order of gpnn_shard_latent_arrays() */
  double atom;                  /* if a share is wanted */
};

enum { GPNN_SHARD_ARRAYS = 6 };

/* The arrays of 'latent' that models of nearest rows can fill. */
void gpnn_shard_latent_arrays(struct gpnn_latent *latent, double **arrays[GPNN_SHARD_ARRAYS]);

/* Makes a task by all ranks at once, from 'length' bytes of text of its parameters.  Zeroed tasks
 * may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_task_init(struct gpnn_shard_task *task,
                                                      struct gpnn_shard *shard, const char *text,
                                                      size_t length,
                                                      const struct gpnn_model_options *options,
                                                      struct gpnn_error *err);
void gpnn_shard_task_release(struct gpnn_shard_task *task);

/* Makes a dataset of the rows of every batch and those in the messages of 'n_messages' ranks, in
 * the order of all rows; the caller releases it.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_unite(const struct gpnn_shard_task *task,
                                                  size_t n_messages,
                                                  const struct gpnn_message *messages,
                                                  struct gpnn_rows *rows, struct gpnn_error *err);

/* The coordinates of 'x' in which distances of 'search' are Euclidean. */
void gpnn_shard_place(const struct gpnn_search *search, size_t d, const double *x, double *z);

/* Predicts a batch by all ranks at once; rank 0 gets 'latent', whose arrays are those wanted, and
 * adds to 'counts' and 'all'. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_shard_predict(const struct gpnn_shard_task *task, const struct gpnn_shard_batch *batch,
                   struct gpnn_latent *latent, struct gpnn_counts *counts,
                   struct gpnn_sharded_counts *all, struct gpnn_error *err);

#endif
