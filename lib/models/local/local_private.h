/*
 * local_private: what the files of the local model share.
 *
 * local.c makes a model; local_predict.c goes through many rows, chunk by chunk; local_groups.c
 * finds rows that are better predicted together; local_solve.c predicts the rows of one group, and
 * local_mixed.c does the same in single precision; holdout*.c find training rows to leave out.
 */
#ifndef GPNN_MODELS_LOCAL_LOCAL_PRIVATE_H
#define GPNN_MODELS_LOCAL_LOCAL_PRIVATE_H

#include "linalg/panels.h"
#include "models/local/local.h"
#include "search/search.h"

/* ---- local.c ------------------------------------------------------------------------------ */

/* What the kernel sees of rows, and which of them are near: of one or several channels. */
struct gpnn_local_metric {
  double *rotation;              /* owned; d by d, transposed, or NULL: there is none */
  double *lengthscale, *inverse; /* owned; d of each, the second 1 / lengthscale */
  const struct gpnn_search *search;
  struct gpnn_search *own_search; /* owned; NULL: the search is of another model */
  bool rebuilt_search;
  size_t neighbours; /* for how many the search is good */
};

struct gpnn_local_channel {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  const struct gpnn_local_metric *metric;
  size_t neighbours;
  size_t number; /* which channel of the model this is */
};

/*
 * Channels are kept in the order in which they are solved: those of a task, whose rows have the
 * same neighbours and the same correlations, follow one another, and within it those of a family,
 * whose covariances differ in scale alone, so that one factor serves them all.
 */
struct gpnn_local {
  const struct gpnn_model_options *options;
  size_t n;
  struct gpnn_local_channel *channels; /* owned; n */
  size_t n_metrics;
  struct gpnn_local_metric *metrics; /* owned; n, of which n_metrics are in use */
};

/* True if two channels are of one task, and of one family of it. */
bool gpnn_local_same_task(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b);
bool gpnn_local_same_family(const struct gpnn_local_channel *a, const struct gpnn_local_channel *b);

/* Row 'x' in the axes that the lengthscales are along: itself, or its rotation, which is written to
 * 'rotated' (d). */
const double *gpnn_local_rotate(const struct gpnn_local_channel *channel, const double *x,
                                double *rotated);

/* Target of a training row less the mean function, and its noise variance with that of the
 * parameters. */
double gpnn_local_residual(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                           size_t row);
double gpnn_local_noise(const struct gpnn_dataset *data, const struct gpnn_parameters *params,
                        size_t row);

/* ---- local_predict.c ---------------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_predict(const void *state,
                                                    const struct gpnn_query *query,
                                                    const struct gpnn_latent *latent,
                                                    struct gpnn_counts *counts,
                                                    struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status
gpnn_local_predict_each(const void *state, const struct gpnn_query *query, size_t n_numbers,
                        const size_t *numbers, const struct gpnn_latent *latent,
                        struct gpnn_counts *counts, struct gpnn_error *err);

/* ---- holdout.c ---------------------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_local_hold_out(const void *state,
                                                     const struct gpnn_holdout_options *options,
                                                     struct gpnn_heldout *heldout,
                                                     struct gpnn_error *err);

/* ---- local_solve.c ------------------------------------------------------------------------ */

/* Channels of one task, and what to predict of them. */
struct gpnn_local_task {
  const struct gpnn_query *query;
  const struct gpnn_latent *latent;
  struct gpnn_counts *counts; /* of all channels of the model */
  const struct gpnn_model_options *options;
  size_t n_members, n_families;
  const struct gpnn_local_channel *members;
  size_t n_numbers;       /* of neighbours to predict from */
  const size_t *numbers;  /* ascending */
  size_t neighbours;      /* the largest of them, but never more than there are rows */
  size_t share;           /* rows that may be predicted from the same neighbours; 1: each from its
                             own */
  size_t most_neighbours; /* that a solve has at most */
  int threads;            /* that solve at a time */
};

/* Rows that are predicted from the same neighbours. */
struct gpnn_local_group {
  size_t n;                 /* rows, at most task->share */
  const size_t *row;        /* n: which of the query's they are */
  const double *x;          /* n by d: where they are, in the axes of the lengthscales */
  size_t m;                 /* neighbours, at most task->most_neighbours */
  const int64_t *neighbour; /* m */
  const size_t *nearest;    /* n: index, among the neighbours, of the nearest to each; if m > 0 */
};

/* What a solve in mixed precision needs besides; n columns. */
struct gpnn_local_mixed {
  float *k;         /* a trapezoid */
  double *x, *rest; /* n: K^-1 k as far as known, and k - K x */
  float *step;      /* n */
};

/* The union of the neighbours of several rows, with a hash table of where in it each is; zeroed
 * where no rows share neighbours. */
struct gpnn_local_union {
  size_t n;        /* neighbours so far, at most task->most_neighbours */
  int64_t *row;    /* task->most_neighbours: which they are */
  size_t mask;     /* slots less one: a power of two less one, and at least twice most_neighbours */
  uint32_t *slot;  /* mask + 1: one more than the index of a neighbour in 'row'; 0: empty */
  size_t *nearest; /* task->share: as in a group */
};

/*
 * What one thread needs to solve one group; m neighbours, d columns.  Trapezoids (linalg/panels.h)
 * have a column a neighbour and a row a neighbour; then one a row to predict; then of each member
 * of a family one for its targets less their mean function and, if its p coefficients are
 * uncertain, p for their terms.
 */
struct gpnn_local_scratch {
  const struct gpnn_panel_set *set; /* that trapezoids are laid out for */
  double *columns; /* d by stride: the neighbours and then the rows, scaled, column after column */
  double *rotated; /* d: one row */
  double *correlation; /* trapezoid as far as the rows to predict; NULL where there is one family */
  double *k;           /* trapezoid of a family, then its factor and solutions */
  double *ratio;       /* m: noise variance of the neighbours by kernel scale */
  double *explained;   /* of each right-hand side b and each row, b'K^-1 k, k being the row's; the
                          first of the right-hand sides is k itself */
  double *misfit;      /* of each member of a family: r'K^-1 r, r being its first right-hand side */
  double *terms;       /* p: of one row, then less what the neighbours say of them */
  struct gpnn_local_mixed mixed;
  struct gpnn_local_union joint;
  struct gpnn_counts *counts; /* of each member */
};

bool gpnn_local_scratch_new(struct gpnn_local_scratch *scratch, const struct gpnn_local_task *task);
void gpnn_local_scratch_release(struct gpnn_local_scratch *scratch);

/* Predicts the rows of a group for all members; adds to scratch->counts. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_solve(const struct gpnn_local_task *task,
                                                  struct gpnn_local_scratch *scratch,
                                                  const struct gpnn_local_group *group,
                                                  struct gpnn_error *err);

/* ---- local_mixed.c ------------------------------------------------------------------------ */

/*
 * Writes b'K^-1 k to 'explained' for the right-hand sides b that are in rows n to n_rows of the
 * trapezoid 'k', the first of them k itself, from a factor of floats.  False: as accurate as
 * models/model.h promises is not assured.  'k' is left as it is.
 */
bool gpnn_local_solve_mixed(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                            size_t n, size_t n_rows, const double *k, double *explained);

/* After that: writes b'K^-1 b of the right-hand side in row 'row' to '*result', or returns false
 * likewise. */
bool gpnn_local_mixed_square(const struct gpnn_panel_set *set, const struct gpnn_local_mixed *mixed,
                             size_t n, size_t row, const double *k, double *result);

/* ---- local_groups.c ----------------------------------------------------------------------- */

/* Writes an order of the query's rows in which those near one another, in the metric of 'channel',
 * follow one another.  'order' has query->n entries. */
GPNN_MUST_CHECK enum gpnn_status gpnn_local_order(const struct gpnn_local_channel *channel,
                                                  const struct gpnn_query *query, size_t *order,
                                                  struct gpnn_error *err);

/*
 * Finds how many of 'n' rows that follow one another, from the first on, are better predicted
 * together than one by one.  'candidates' (n by k) has the neighbours of each, nearest first, -1
 * after the last; 'row' and 'x' are as in a group.  '*group' is what to solve; its arrays are
 * those given and the scratch's, good until the next call.
 */
void gpnn_local_gather_group(const struct gpnn_local_task *task, struct gpnn_local_scratch *scratch,
                             size_t n, const size_t *row, const double *x, size_t k,
                             const int64_t *candidates, struct gpnn_local_group *group);

#endif
