/*
 * sharded_private: what a server is made of.  sharded.c has the models and the orders that ranks
 * give or agree on; sharded_task.c what a rank keeps of a model; sharded_boxes.c where ranks have
 * rows; sharded_predict.c who does what of a batch, and sharded_solve.c what a rank solves.
 */
#ifndef GPNN_SHARD_SHARDED_PRIVATE_H
#define GPNN_SHARD_SHARDED_PRIVATE_H

#include "search/nearest.h"
#include "search/search.h"
#include "shard/shard_private.h"
#include "shard/sharded.h"

/* The nearest rows of one member, and the boxes of all ranks, in the coordinates in which distances
 * are Euclidean. */
struct gpnn_shard_metric {
  struct gpnn_search *search; /* owned; over the rows of this rank, exact */
  size_t neighbours;          /* of a row to predict */
  double *boxes;              /* owned; the tree of gpnn_shard_boxes_build() */
};

/* A model, as every rank has it. */
struct gpnn_shard_task {
  struct gpnn_shard *shard;             /* borrowed */
  struct gpnn_parameters *parameters;   /* owned; those of the one channel */
  struct gpnn_transformed *transformed; /* owned; NULL: the target is not */
  struct gpnn_dataset seen;             /* this rank's rows, with what is known of all */
  double *class_share;                  /* owned; NULL: there are no classes */
  struct gpnn_channel channel;          /* of those */
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

/* A batch: the rows to predict that this rank reads, and what is wanted of those of all ranks. */
struct gpnn_shard_batch {
  size_t n;
  const double *x, *regressors; /* as in struct gpnn_query */
  size_t n_regressors;          /* 0: they are not used */
  unsigned wanted;              /* bits, in the order of gpnn_shard_latent_arrays(), or
                                   GPNN_SHARD_CLASSES */
  double *p;                    /* n by classes: where their probabilities go */
  double atom;                  /* if a share is wanted */
};

enum { GPNN_SHARD_ARRAYS = 6, GPNN_SHARD_CLASSES = 1 << GPNN_SHARD_ARRAYS };

/* The arrays of 'latent' that models of nearest rows can fill. */
void gpnn_shard_latent_arrays(struct gpnn_latent *latent, double **arrays[GPNN_SHARD_ARRAYS]);

/* How many of these are wanted, and how many numbers of a row after them: probabilities. */
size_t gpnn_shard_n_arrays(unsigned wanted);
size_t gpnn_shard_n_classes(const struct gpnn_shard_task *task, unsigned wanted);

/* Makes a task by all ranks at once, from 'length' bytes of text of its parameters.  Zeroed tasks
 * may be released. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_task_init(struct gpnn_shard_task *task,
                                                      struct gpnn_shard *shard, const char *text,
                                                      size_t length,
                                                      const struct gpnn_model_options *options,
                                                      struct gpnn_error *err);
void gpnn_shard_task_release(struct gpnn_shard_task *task);

/* The coordinates of 'x' in which distances of 'search' are Euclidean. */
void gpnn_shard_place(const struct gpnn_search *search, size_t d, const double *x, double *z);

/* Predicts a batch by all ranks at once, each of which brings rows, or none; 'latent' has the
 * arrays that are wanted of its own.  Rank 0 adds to 'counts' and 'all' what all of them did. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_shard_predict(const struct gpnn_shard_task *task, const struct gpnn_shard_batch *batch,
                   struct gpnn_latent *latent, struct gpnn_counts *counts,
                   struct gpnn_sharded_counts *all, struct gpnn_error *err);

/* ---- sharded_boxes.c ------------------------------------------------------------------------- */

/* Makes a tree (2 size - 1 by 2 d numbers) of the 'boxes' of ranks (size by 2 d): the least of d
 * coordinates, then the most. */
void gpnn_shard_boxes_build(size_t size, size_t d, const double *boxes, double *tree);

/* The rank whose box is nearest to 'z' (d). */
size_t gpnn_shard_boxes_nearest(size_t size, size_t d, const double *tree, const double *z);

/* Stores in 'ranks' (size) those whose boxes are within a squared distance, or hardly farther, and
 * returns how many they are. */
size_t gpnn_shard_boxes_within(size_t size, size_t d, const double *tree, const double *z,
                               double within, size_t *ranks);

/* ---- sharded_solve.c ------------------------------------------------------------------------- */

/* A neighbour, by its number among all rows.  The row to predict is 'of': the rank that owns it
 * times 2^32, plus its number among those of that rank that one rank solves. */
struct gpnn_shard_link {
  uint64_t of;
  struct gpnn_neighbour neighbour;
};

/* What this rank has for one that solves; owned. */
struct gpnn_shard_needed {
  size_t n, capacity, links_capacity;
  uint64_t *rows;                /* n: of its shard, in the order in which they were found */
  struct gpnn_shard_link *links; /* n; NULL: the one that solves searches itself */
  size_t n_queries, queries_length, queries_capacity;
  double *queries; /* queries_length: of rows to predict that it owns, the rank that is their home,
                      their number there, inputs and regressors */
};

/* Makes a message of that, with each row once; it stays empty if there is nothing.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_pack(const struct gpnn_shard_task *task,
                                                 const struct gpnn_shard_needed *needed,
                                                 struct gpnn_message *message,
                                                 struct gpnn_error *err);

/* Makes a dataset of the rows of every batch and those in the messages of 'n_messages' ranks, in
 * the order of all rows; the caller releases it.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_unite(const struct gpnn_shard_task *task,
                                                  size_t n_messages,
                                                  const struct gpnn_message *messages,
                                                  struct gpnn_rows *rows, struct gpnn_error *err);

/* As gpnn_model_classify(), of a query whose rows have no candidates. */
GPNN_MUST_CHECK enum gpnn_status gpnn_shard_classify_none(const struct gpnn_shard_task *task,
                                                          const struct gpnn_query *query, double *p,
                                                          double *nearest,
                                                          struct gpnn_counts *counts,
                                                          struct gpnn_error *err);

/* What comes of the rows that a rank solves. */
struct gpnn_shard_solved {
  size_t n;
  size_t *home, *index;       /* n: the rank that is their home, their number there */
  double *values;             /* of each array that is wanted n; then n by classes */
  struct gpnn_arrays *arrays; /* owned: those above */
};

/* Solves the rows in the messages of 'n_messages' ranks; the caller frees the arrays of 'solved',
 * which is zeroed before, after a failure too. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_shard_solve(const struct gpnn_shard_task *task, const struct gpnn_shard_batch *batch,
                 size_t n_messages, const struct gpnn_message *messages,
                 struct gpnn_shard_solved *solved, struct gpnn_counts *counts,
                 struct gpnn_error *err);

#endif
