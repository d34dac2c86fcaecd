/*
 * choose_private: shared by the files of choose.
 *
 * choose.c decides which candidates to try, choose_exact.c for small datasets; choose_score.c
 * scores them on rows kept for that, by the scales of choose_scale.c; choose_stack.c finds out
 * whether several of them are better than one; choose_sample.c draws samples of large datasets.
 */
#ifndef GPNN_ESTIMATE_CHOOSE_PRIVATE_H
#define GPNN_ESTIMATE_CHOOSE_PRIVATE_H

#include "estimate/choose.h"
#include "likelihood/scale.h"

/* Numbers of neighbours to try.  All candidates are compared with the first few, which are cheap,
 * on many rows; the best two with all of them, on some of these rows. */
enum { GPNN_CHOOSE_COUNTS = 6, GPNN_CHOOSE_FIRST_COUNTS = 3 };

/* A fitted candidate, and its losses with each number of neighbours. */
struct gpnn_choose_trial {
  size_t n_targets;
  struct gpnn_parameters *params; /* owned; n_targets */
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate; /* with the best number of neighbours */
  size_t best;                     /* index of that number among those tried */
  double nll[GPNN_CHOOSE_COUNTS], rmse[GPNN_CHOOSE_COUNTS]; /* with each number */
  double *loss; /* owned; GPNN_CHOOSE_COUNTS by the validation rows: the mean over the targets */
  bool passed_over; /* it is not the best, but may be a member of a stack */
};

/* Trials whose predictions are averaged: the best first, and their weights. */
struct gpnn_choice_stack {
  size_t n; /* 1: the best alone, whatever the other fields are */
  struct gpnn_choose_trial *trial[GPNN_CHOOSE_MEMBERS];
  double weight[GPNN_CHOOSE_MEMBERS];
  size_t n_rows;    /* that it was scored on */
  double nll, rmse; /* of rows that its weights do not come from */
};

/* The state of a choice: the validation rows and the trials so far. */
struct gpnn_choice {
  size_t n_targets;
  const struct gpnn_dataset *const *targets; /* n_targets: the view of each */
  const struct gpnn_dataset *dataset;        /* the first view; its inputs are those of all */
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  struct gpnn_choose_report *report;
  struct gpnn_choose_trial *trials; /* owned, with all that they own */
  struct gpnn_choice_stack stack;   /* of some of them */
  size_t n_trials, capacity;
  size_t n_counts; /* numbers of neighbours to try */
  size_t counts[GPNN_CHOOSE_COUNTS];
  size_t n_kept;                  /* rows withheld from fits by neighbourhoods */
  size_t n_drawn, n;              /* validation rows, and how many of them are in use */
  double *x;                      /* n by d */
  double *y, *noise;              /* n, of one target at a time; known noise variances */
  double *regressors;             /* n by n_regressors */
  int64_t *self;                  /* n: which training rows they are */
  double *mean, *latent, *misfit; /* GPNN_CHOOSE_COUNTS by n: scratch, of one target */
  double *before;                 /* n: scratch */
  double *whitening;              /* d by d, or NULL: whitening is not tried */
};

void gpnn_choose_trial_release(struct gpnn_choose_trial *trial);
void gpnn_choice_release(struct gpnn_choice *c);

/* The rows of a choice: all of a dataset, or a sample of them. */
struct gpnn_choice_rows {
  struct gpnn_sample *sample;          /* owned, or NULL: all rows */
  const struct gpnn_dataset **targets; /* owned: the view of each */
};

/* Takes one row of each set of copies, or all rows where there are none. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_take_distinct(struct gpnn_choice_rows *distinct,
                                                           const struct gpnn_choice *c,
                                                           struct gpnn_error *err);

/* Samples at most 'most' of the rows of 'c' (0: takes all). */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_draw_sample(struct gpnn_choice_rows *sampled,
                                                         const struct gpnn_choice *c, size_t most,
                                                         struct gpnn_error *err);

/* Lets 'c' work on 'rows' from now on. */
void gpnn_choice_use_rows(struct gpnn_choice *c, const struct gpnn_choice_rows *rows);
void gpnn_choice_release_rows(struct gpnn_choice_rows *sampled);

/* Draws the validation rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c,
                                                       struct gpnn_error *err);

/* Sets the numbers of neighbours to try; gpnn_choice_first_counts() returns how many of them all
 * candidates are compared with. */
void gpnn_choice_set_counts(struct gpnn_choice *c);
size_t gpnn_choice_first_counts(const struct gpnn_choice *c);

/* Number of rows for a fit by neighbourhoods: 'wanted', or all that are not withheld. */
size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted);

/* Scores a trial with the first 'n_counts' numbers of neighbours and calls the listener. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_score(struct gpnn_choice *c,
                                                   struct gpnn_choose_trial *trial, size_t n_counts,
                                                   struct gpnn_error *err);

/* Fits, scores and keeps one candidate; skips it if its covariances are not positive definite. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_try(struct gpnn_choice *c,
                                                 const struct gpnn_fit_options *options,
                                                 struct gpnn_error *err);

/* True if options are those of an exact candidate, as gpnn_choice_try_exact() makes them. */
bool gpnn_choice_is_exact(const struct gpnn_choice *c, const struct gpnn_fit_options *options);

/* Tries kernels by the exact marginal likelihood, if the rows are few enough and the options leave
 * that open; 'fit' has what all candidates share. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_try_exact(struct gpnn_choice *c, struct gpnn_fit_options fit, struct gpnn_error *err);

/* Takes over 'trial' and empties it. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_keep(struct gpnn_choice *c, struct gpnn_choose_trial *trial, struct gpnn_error *err);

/*
 * The best trial, and the best of the others; NULL if there is none.  Valid until another is kept.
 * Among the trials whose NLL exceeds the lowest by at most one standard error of the difference on
 * the same rows, the best is the one whose means have the smallest error, regardless of the order
 * in which they were tried.
 */
struct gpnn_choose_trial *gpnn_choice_best(const struct gpnn_choice *c);
struct gpnn_choose_trial *gpnn_choice_second(const struct gpnn_choice *c);

/* The best of those whose inputs are rotated in another way than those of the best, or NULL. */
struct gpnn_choose_trial *gpnn_choice_otherwise_rotated(const struct gpnn_choice *c);

/* Mean of a[i] - b[i] (b NULL: zero) and its standard error (gpnn-methods(7), equations 5.3 and
 * 5.4). */
double gpnn_choice_mean_difference(size_t n, const double *a, const double *b,
                                   double *standard_error);

/* ---- choose_scale.c ----------------------------------------------------------------------- */

/* Loads the validation rows' values of the target of 'model' into 'c', and their inputs into
 * 'heldout', which must be zeroed and is released by the caller even after a failure.  Rows that
 * resemble options->like depend on the metric of 'model'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_load(struct gpnn_choice *c,
                                                  const struct gpnn_model *model,
                                                  struct gpnn_heldout *heldout,
                                                  struct gpnn_error *err);

/* Adds to 'loss' the negative log densities of a target, divided by the number of targets, under
 * the scaled likelihood of 'params', which for each row is estimated from others.  The predictions
 * start at entry 'at' of the scratch.  Returns false if one is not finite. */
bool gpnn_choice_add_scaled_losses(struct gpnn_choice *c, const struct gpnn_parameters *params,
                                   size_t at, double *loss);

/* Writes to 'loss' the negative log density of each row under a law that comes from others
 * (gpnn_scale_cross_losses()). */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_scaled_losses(const struct gpnn_scale_rows *rows,
                                                           enum gpnn_likelihood likelihood,
                                                           bool all_features, double *loss,
                                                           struct gpnn_error *err);

/* Estimates the scale that goes with the stack, for each target, from rows that its fits have not
 * seen.  The best trial gets it.  Does nothing if the likelihood is Gaussian. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_estimate_scales(struct gpnn_choice *c,
                                                             struct gpnn_error *err);

/* ---- the best two at more neighbours ------------------------------------------------------ */

/* If candidates were compared with only some of the numbers of neighbours, passes over all but the
 * best two and scores those with all numbers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_compare_best(struct gpnn_choice *c,
                                                          struct gpnn_error *err);

/* Gives the best trial the fewest neighbours that score about as well as its best number. */
void gpnn_choice_choose_neighbours(struct gpnn_choice *c);

/* ---- choose_stack.c ----------------------------------------------------------------------- */

/*
 * Sets c->stack: the best trial alone, or with others if together they predict the validation rows
 * better (gpnn-methods(7), equations 5.9 to 5.11).  All get the number of neighbours of the best.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_stack(struct gpnn_choice *c, struct gpnn_error *err);

/*
 * Sets '*view' to the parameters of the stack for target 't'.  They borrow everything from the
 * trials except the array of members, which the caller frees.  False: not enough memory.
 */
bool gpnn_choice_stack_view(const struct gpnn_choice *c, size_t t, struct gpnn_parameters *view);

/* Completes the report, and moves the parameters of the best trial, and of those stacked upon it,
 * to 'params' (n_targets, zeroed). */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_hand_over(struct gpnn_choice *c,
                                                       struct gpnn_parameters *params,
                                                       struct gpnn_error *err);

#endif
