/*
 * localgp_parts: what the files of localgp share.
 *
 * Private to lib/models/localgp*.c.
 */
#ifndef GPNN_MODELS_LOCAL_LOCALGP_PRIVATE_H
#define GPNN_MODELS_LOCAL_LOCALGP_PRIVATE_H

#include "linalg/panels.h"
#include "models/local/localgp.h"
#include "search/search.h"

/* Which rows are near which: shared by objects of one index whose kernels see the same. */
struct gpnn_localgp_metric {
  size_t n_users;             /* objects; the last to go frees it */
  double *turn;               /* owned; d by d: the rotation transposed, or NULL: none */
  struct gpnn_search *search; /* owned */
  bool rebuilt_search;
  size_t neighbours;             /* for how many the search is good */
  double *lengthscale, *inverse; /* owned; d of each, the second 1 / lengthscale */
};

struct gpnn_localgp {
  const struct gpnn_dataset *data;
  const struct gpnn_parameters *params;
  struct gpnn_localgp_metric *metric;
  size_t neighbours;
  int threads;
  enum gpnn_precision precision;
  size_t share;
};

/* Row 'x' in the axes that the lengthscales are along: itself, or its rotation in 'room', which has
 * d places. */
const double *gpnn_localgp_turn(const struct gpnn_localgp *gp, const double *x, double *room);

/* One of several targets to predict together. */
struct gpnn_localgp_member {
  const struct gpnn_localgp *gp;
  const struct gpnn_prediction *prediction;
  struct gpnn_localgp_counts *counts;
};

/*
 * Targets whose rows have the same neighbours and the same correlations, and what to predict of
 * them.  Members whose covariances differ in scale alone, and so share a factor, stand together:
 * they are a family.
 */
struct gpnn_localgp_task {
  const struct gpnn_points *points;
  size_t n_members, n_families;
  const struct gpnn_localgp_member *members;
  size_t n_numbers;      /* of neighbours to predict with */
  const size_t *numbers; /* rising */
  size_t share;          /* points that may be predicted from the same neighbours; 1: each from its
                            own */
  size_t room;           /* neighbours that a solve has at most */
  int threads;           /* that solve at a time */
};

/* Points that are predicted from the same neighbours. */
struct gpnn_localgp_group {
  size_t n;                 /* points, at most task->share */
  const size_t *point;      /* n: which they are */
  const double *x;          /* n by d: where they are, as the kernel sees it */
  size_t m;                 /* neighbours, at most task->room */
  const int64_t *neighbour; /* m */
  const size_t *nearest;    /* n: place among the neighbours of the nearest of each; if m > 0 */
};

/* Whether two objects are of one task, and of one family of it. */
bool gpnn_localgp_same_task(const struct gpnn_localgp *a, const struct gpnn_localgp *b);
bool gpnn_localgp_same_family(const struct gpnn_localgp *a, const struct gpnn_localgp *b);

/* What a solve in mixed precision needs besides; n columns. */
struct gpnn_localgp_mixed {
  float *k;         /* a trapezoid */
  double *x, *rest; /* n: K^-1 k as far as known, and k - K x */
  float *step;      /* n */
};

/* What one thread needs to put points together that share neighbours: the union of these, and
 * where in it each is, by hashing. */
struct gpnn_localgp_union {
  size_t n;        /* rows so far, at most task->room */
  int64_t *row;    /* task->room */
  size_t mask;     /* slots less one: a power of two less one, and at least twice task->room */
  uint32_t *slot;  /* mask + 1: place of a row in 'row', and one; 0: empty */
  size_t *nearest; /* task->share: as in a group */
};

/*
 * What one thread needs to solve one group; m neighbours, d columns.  Trapezoids (linalg/panels.h)
 * have a column a neighbour and a row a neighbour; then one a point; then of each member of a
 * family one for its targets without their mean and, if its p coefficients are uncertain, p for
 * their terms.
 */
struct gpnn_localgp_scratch {
  const struct gpnn_panel_set *set; /* that trapezoids are laid out for */
  double
      *columns;  /* d by stride: the neighbours and then the points, scaled, column after column */
  double *point; /* d: one row, rotated */
  double
      *correlation; /* trapezoid as far as the points' rows; NULL where there is one family alone */
  double *k;        /* trapezoid of a family, then its factor and solutions */
  double *ratio;    /* m: noise variance of the neighbours by kernel scale */
  double *explained; /* of each right-hand side b and each point, b'K^-1 k, k being the point's; the
                        first of the right-hand sides is k itself */
  double *terms;     /* p: of one row, then less what the neighbours say of them */
  struct gpnn_localgp_mixed mixed;
  struct gpnn_localgp_union joint;
  struct gpnn_localgp_counts *counts; /* of each member */
};

bool gpnn_localgp_scratch_new(struct gpnn_localgp_scratch *scratch,
                              const struct gpnn_localgp_task *task);
void gpnn_localgp_scratch_release(struct gpnn_localgp_scratch *scratch);

/* Predicts the points of a group for all members; adds to scratch->counts. */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_solve(const struct gpnn_localgp_task *task,
                                                    struct gpnn_localgp_scratch *scratch,
                                                    const struct gpnn_localgp_group *group,
                                                    struct gpnn_error *err);

/* ---- localgp_share.c ---- */

/* Writes an order of 'points' in which those near one another, in the metric of 'gp', follow one
 * another.  'order' has points->n entries. */
GPNN_MUST_CHECK enum gpnn_status gpnn_localgp_order(const struct gpnn_localgp *gp,
                                                    const struct gpnn_points *points, size_t *order,
                                                    struct gpnn_error *err);

/*
 * Finds how many of 'n' points that follow one another, from the first on, are better predicted
 * together than one by one.  'candidates' (n by k) has the neighbours of each, nearest first, -1
 * after the last; 'point' and 'x' are as in a group.  '*group' is what to solve; its arrays are
 * those given and the scratch's, good until the next call.
 */
void gpnn_localgp_gather_group(const struct gpnn_localgp_task *task,
                               struct gpnn_localgp_scratch *scratch, size_t n, const size_t *point,
                               const double *x, size_t k, const int64_t *candidates,
                               struct gpnn_localgp_group *group);

/*
 * Writes b'K^-1 k to 'explained' for the right-hand sides b that are in rows n to n_rows of the
 * trapezoid 'k', the first of them k itself, from a factor of floats.  False: as accurate as
 * models/local/localgp.h promises is not assured.  'k' is left as it is.
 */
bool gpnn_localgp_solve_mixed(const struct gpnn_panel_set *set,
                              const struct gpnn_localgp_mixed *mixed, size_t n, size_t n_rows,
                              const double *k, double *explained);

#endif
