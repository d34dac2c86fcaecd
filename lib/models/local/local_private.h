/*
 * local_private: shared by the files of the local model.
 *
 * local.c makes a model; predict.c predicts many rows, chunk by chunk; groups.c finds rows that are
 * better predicted together; solve.c predicts the rows of one group, with mixed.c in single
 * precision; bound.c keeps their means near the targets of their neighbours; dense.c predicts from
 * all training rows; holdout*.c leave out training rows; joint.c has the covariances between rows;
 * weights.c has the weights of neighbours, and the probabilities of classes that follow from them.
 */
#ifndef GPNN_MODELS_LOCAL_LOCAL_PRIVATE_H
#define GPNN_MODELS_LOCAL_LOCAL_PRIVATE_H

#include <stdatomic.h>

#include "linalg/panels/panels.h"
#include "models/local/local.h"
#include "search/search.h"

/* ---- local.c ------------------------------------------------------------------------------ */

/* The metric of one or several channels, and the search for nearest rows under it. */
struct gpnn_local_metric {
  const double *x;                  /* the training rows: targets may have different ones */
  double *rotation;                 /* owned; d by d, transposed, or NULL: there is none */
  double *lengthscale, *inverse;    /* owned; d of each, the second 1 / lengthscale */
  const struct gpnn_search *search; /* NULL: queries bring their candidates */
  struct gpnn_search *own_search;   /* owned; NULL: 'search' belongs to another model */
  bool rebuilt_search;
  size_t neighbours; /* the number of neighbours that the search is for */
};

/* The least and the most that the target of any training row is above the mean function, once a
 * prediction has asked for it: all that ever changes of a model.  Threads that ask for it at once
 * find the same. */
struct gpnn_local_ends {
  atomic_bool are_known;
  _Atomic double least, most;
};

struct gpnn_local_channel {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const struct gpnn_local_metric *metric;
  size_t neighbours;
  size_t number;                  /* which channel of the model this is */
  struct gpnn_local_dense *dense; /* of its family, owned by the model; NULL: there is none */
  struct gpnn_local_ends *ends;   /* owned by the model */
  double *share; /* owned by the model; the share of each class in the training rows; NULL: the
                    target is no class */
};

/*
 * Channels are stored in the order in which they are solved.  The channels of a task, whose rows
 * have the same neighbours and correlations, are adjacent; within a task so are the channels of a
 * family, whose covariances differ only in scale, so that one factor serves them all.
 */
struct gpnn_local {
  const struct gpnn_model_options *options;
  size_t n;
  struct gpnn_local_channel *channels; /* owned; n */
  size_t n_metrics;
  struct gpnn_local_metric *metrics; /* owned; n, of which n_metrics are in use */
  struct gpnn_local_ends *ends;      /* owned; n */
};

/* True if two channels belong to the same task, and to the same family of that task. */
bool gpnn_local_same_task(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b);
bool gpnn_local_same_family(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b);

/* Row 'x' along the axes of the lengthscales: 'x' itself, or 'rotated' (d) after rotating it. */
const double *gpnn_local_rotate(const struct gpnn_local_channel *channel, const double *x,
                                double *rotated);

/* The channel of this number in the model. */
const struct gpnn_local_channel *gpnn_local_channel_of(const struct gpnn_local *local,
                                                       size_t number);

/* True if training row 'row' may not be a neighbour of row 'i' of the query. */
bool gpnn_local_excludes(const struct gpnn_query *query, const struct gpnn_dataset *data, size_t i,
                         int64_t row);

/* Number of terms of the mean that take part in the solve: those with uncertain coefficients. */
size_t gpnn_local_uncertain(const struct gpnn_local_channel *channel);

/* ---- predict.c ---------------------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_predict(const void *state,
                                                    const struct gpnn_query *query,
                                                    const struct gpnn_latent *latent,
                                                    struct gpnn_counts *counts,
                                                    struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
gpnn_local_predict_each(const void *state, const struct gpnn_query *query, size_t n_numbers,
                        const size_t *numbers, const struct gpnn_latent *latent,
                        struct gpnn_counts *counts, struct gpnn_error *err);

struct gpnn_local_task;

/* Predicts the rows for a task whose members and numbers are set. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_run(struct gpnn_local_task *task,
                                                struct gpnn_error *err);

/* ---- weights.c ---------------------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_weights(const void *state, size_t channel,
                                                    const struct gpnn_query *query,
                                                    const struct gpnn_weights *weights,
                                                    struct gpnn_counts *counts,
                                                    struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_local_classify(const void *state, size_t channel,
                                                     const struct gpnn_query *query, double *p,
                                                     double *nearest, struct gpnn_counts *counts,
                                                     struct gpnn_error *err);

/* Sets channel->share, which the caller frees. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_find_shares(struct gpnn_local_channel *channel,
                                                        struct gpnn_error *err);

/* The training rows that a row of the query is predicted from, and how. */
struct gpnn_local_weighed {
  size_t row;               /* of the query */
  size_t m;                 /* neighbours */
  const int64_t *neighbour; /* m */
  const double *weight;     /* m; NULL: not computed, as nothing wants them */
  double explained;         /* kappa'w / kernelscale */
};

/* Replaces z = L^-1 b, whose n numbers are as far apart as lanes of the set, by K^-1 b in 'solved'
 * (n, and room for a whole panel), which is not 'z'; L is the factor in the n rows of 'a'. */
void gpnn_local_backward(const struct gpnn_panel_set *set, size_t n, const double *a,
                         const double *z, double *solved);

/* Writes what the task wants of a row's weights: themselves, or the probabilities of classes. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_use_weights(const struct gpnn_local_task *task,
                                                        const struct gpnn_local_weighed *weighed,
                                                        struct gpnn_counts *counts,
                                                        struct gpnn_error *err);

/* ---- holdout.c ---------------------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_hold_out(const void *state,
                                                     const struct gpnn_holdout_options *options,
                                                     struct gpnn_heldout *heldout,
                                                     struct gpnn_error *err);

/* ---- joint.c ------------------------------------------------------------------------------ */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_joint(const void *state, size_t channel,
                                                  const struct gpnn_query *query,
                                                  const struct gpnn_errors *errors,
                                                  double *covariance, struct gpnn_error *err);

/* ---- solve.c ------------------------------------------------------------------------------ */

/* The channels of one task, and what to predict for them. */
struct gpnn_local_task {
  const struct gpnn_query *query;
  const struct gpnn_latent *latent;
  struct gpnn_counts *counts; /* of all channels of the model */
  /* What is wanted of the weights of a single member, which is then the only channel of 'latent'
   * and 'counts': themselves, or the probabilities of classes (n by as many).  NULL: nothing. */
  const struct gpnn_weights *weights;
  double *p;
  const struct gpnn_model_options *options;
  size_t n_members, n_families;
  const struct gpnn_local_channel *members;
  size_t n_numbers;       /* of neighbours to predict from */
  const size_t *numbers;  /* ascending */
  size_t neighbours;      /* the largest of them, or all rows if there are fewer */
  size_t share;           /* the most rows to predict from the same neighbours; 1: each from its
                             own */
  size_t most_neighbours; /* the most neighbours of one solve */
  int threads;
};

/* Rows that are predicted from the same neighbours. */
struct gpnn_local_group {
  size_t n;                 /* rows, at most task->share */
  const size_t *row;        /* n: their numbers in the query */
  const double *x;          /* n by d: their inputs, along the axes of the lengthscales */
  size_t m;                 /* neighbours, at most task->most_neighbours */
  const int64_t *neighbour; /* m */
  const size_t *nearest;    /* n: index, among the neighbours, of the nearest to each row (m > 0) */
};

/* Additional scratch for a solve in mixed precision; n columns. */
struct gpnn_local_mixed {
  float *k;             /* a trapezoid */
  double *x, *residual; /* n: the approximation of K^-1 k so far, and k - K x */
  float *step;          /* n */
};

/* The union of the neighbours of several rows, with a hash table to find each in it; zeroed if no
 * rows share neighbours. */
struct gpnn_local_union {
  size_t n;        /* neighbours so far, at most task->most_neighbours */
  int64_t *row;    /* task->most_neighbours: their row numbers */
  size_t mask;     /* slots minus 1; slots are a power of two above twice most_neighbours */
  uint32_t *slot;  /* mask + 1: 1 + the index of a neighbour in 'row'; 0: empty */
  size_t *nearest; /* task->share: as in a group */
};

/*
 * What one thread needs to solve one group; m neighbours, d inputs.  Trapezoids
 * (linalg/panels/panels.h) have a column per neighbour.  Their rows are: one per neighbour; one per
 * row to predict; then, for each member of a family, one for its targets minus the mean function
 * and, if its p coefficients are uncertain, p for their terms.
 */
struct gpnn_local_scratch {
  const struct gpnn_panel_set *set; /* determines the layout of trapezoids */
  double *columns;     /* d by stride: the neighbours and then the rows to predict, scaled */
  double *rotated;     /* d: one row */
  double *correlation; /* trapezoid without right-hand sides of members; NULL if there is one family
                        */
  double *k;           /* trapezoid of a family, then its factor and solutions */
  double *ratio;       /* m: noise variances of the neighbours divided by the kernel scale */
  double *explained;   /* right-hand sides by rows to predict: b'K^-1 k, where k is of the row; the
                          first right-hand side b is k itself */
  double *misfit;      /* per member of a family: r'K^-1 r, where r is its first right-hand side */
  double *terms;       /* p: of one row, then minus their prediction from the neighbours */
  double *weight;      /* m, and room for a whole panel; NULL: weights are not wanted */
  struct gpnn_local_mixed mixed;
  struct gpnn_local_union joint;
  struct gpnn_counts *counts; /* one per member */
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* True if weights are wanted, or what they make of classes. */
static inline bool gpnn_local_wants_weights(const struct gpnn_local_task *task)
{
  return task->weights != NULL || task->p != NULL;
}

bool gpnn_local_scratch_new(struct gpnn_local_scratch *scratch, const struct gpnn_local_task *task);
void gpnn_local_scratch_release(struct gpnn_local_scratch *scratch);

/* Predicts the rows of a group for all members; adds to scratch->counts. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_solve(const struct gpnn_local_task *task,
                                                  struct gpnn_local_scratch *scratch,
                                                  const struct gpnn_local_group *group,
                                                  struct gpnn_error *err);

/* The least and the largest of some rows' targets minus the mean function. */
struct gpnn_local_range {
  double least, most;
};

/* What training rows tell about one row of the query, for one channel; k, r and T are their
 * covariances with it, targets minus the mean function, and terms. */
struct gpnn_local_evidence {
  size_t row;       /* of the query */
  size_t m;         /* how many training rows they are */
  double explained; /* k'K^-1 k / kernelscale */
  double mean;      /* k'K^-1 r */
  double misfit;    /* r'K^-1 r kernelscale, if that is wanted or the mean leaves the range */
  struct gpnn_local_range range; /* of the rows, as gpnn_local_range_of() has it */
  const double *terms;           /* T'K^-1 k, 'stride' apart; one for each uncertain coefficient */
  size_t stride;
};

/* Writes the prediction of 'member' from the 'k'-th number of neighbours; 'terms' is scratch for
 * one row's terms of the mean. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_write(const struct gpnn_local_task *task,
                                                  const struct gpnn_local_channel *member, size_t k,
                                                  const struct gpnn_local_evidence *evidence,
                                                  double *terms, struct gpnn_counts *counts,
                                                  struct gpnn_error *err);

/* Computes the columns, trapezoid and misfits of the scratch for a family, the members of 'task',
 * and its 'm' neighbours, without rows to predict; '*jitter' is in units of the kernel scale. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_factor(const struct gpnn_local_task *task,
                                                   struct gpnn_local_scratch *scratch, size_t m,
                                                   const int64_t *neighbour, double *jitter,
                                                   struct gpnn_error *err);

/* The distance from one of scratch->columns to the next. */
size_t gpnn_local_stride(const struct gpnn_local_task *task);

/* ---- bound.c ------------------------------------------------------------------------------ */

/* True if means of the channel are bounded. */
bool gpnn_local_is_bounded(const struct gpnn_local_channel *channel);

/* The range of 'n' training rows, 'row'; infinite if they are fewer than two or
 * means are not bounded. */
struct gpnn_local_range gpnn_local_range_of(const struct gpnn_local_channel *channel, size_t n,
                                            const int64_t *row);

/* True if 'mean', of the function minus the mean function, is a number outside the range. */
bool gpnn_local_leaves(struct gpnn_local_range range, double mean);

/* evidence->mean, or if it leaves the range too far the bound that it leaves; 'variance' is that of
 * the function. */
double gpnn_local_bound(const struct gpnn_local_channel *channel,
                        const struct gpnn_local_evidence *evidence, double variance);

/* ---- dense.c ------------------------------------------------------------------------------ */

struct gpnn_local_dense;

/* Training rows whose errors make the misfit of a row (models/model.h). */
enum { GPNN_LOCAL_NEAR = 32 };

/* Factors the covariance of all training rows for 'n_family' channels of one family, which are
 * borrowed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_dense_new(struct gpnn_local_dense **dense,
                                                      size_t n_family,
                                                      const struct gpnn_local_channel *family,
                                                      struct gpnn_error *err);

/* Predicts the rows of task->query, which has no candidates, from all training rows for the
 * channels of 'dense'; adds to task->counts. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_dense_predict(const struct gpnn_local_dense *dense,
                                                          const struct gpnn_local_task *task,
                                                          struct gpnn_error *err);

/* NULL is allowed. */
void gpnn_local_dense_free(struct gpnn_local_dense *dense);

/* ---- mixed.c ------------------------------------------------------------------------------ */

/*
 * Writes b'K^-1 k to 'explained' for the right-hand sides b in rows n to n_rows of the trapezoid
 * 'k', the first of which is k itself, using a single-precision factor.  Returns false if the
 * accuracy that models/model.h guarantees may not be reached.  Leaves 'k' unchanged.
 */
bool gpnn_local_solve_mixed(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                            size_t n, size_t n_rows, const double *k, double *explained);

/* To be called next: writes b'K^-1 b for the right-hand side b in row 'row' to '*result'; returns
 * false under the same condition. */
bool gpnn_local_mixed_square(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                             size_t n, size_t row, const double *k, double *result);

/* ---- groups.c ----------------------------------------------------------------------------- */

/* Writes to 'order' (query->n) an order of the query's rows in which rows close to each other, in
 * the metric of 'channel', are also close in the order. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_order(const struct gpnn_local_channel *channel,
                                                  const struct gpnn_query *query, size_t *order,
                                                  struct gpnn_error *err);

/*
 * Finds how many of 'n' consecutive rows, starting with the first, are cheaper to predict together
 * than one by one, and makes them a group.  'candidates' (n by k) has the neighbours of each,
 * nearest first, padded with -1; 'row' and 'x' are as in a group.  The group's arrays are those
 * passed or the scratch's, and are valid until the next call.
 */
void gpnn_local_gather_group(const struct gpnn_local_task *task, struct gpnn_local_scratch *scratch,
                             size_t n, const size_t *row, const double *x, size_t k,
                             const int64_t *candidates, struct gpnn_local_group *group);

#endif
