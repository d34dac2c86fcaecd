/*
 * choose_private: shared by the files of choose.
 *
 * choose.c lets candidates race, whatever is predicted, and choose_rows.c has the rows that they
 * are fitted to and scored on.  What depends on the kind of target is a head: choose_numbers.c and
 * choose_labels.c have each a table of candidates and what becomes of the winners;
 * choose_numbers_score.c and choose_labels_score.c score them; choose_numbers_stack.c and the
 * latter average them.
 */
#ifndef GPNN_ESTIMATE_CHOOSE_PRIVATE_H
#define GPNN_ESTIMATE_CHOOSE_PRIVATE_H

#include "estimate/choose.h"
#include "estimate/near.h"
#include "likelihood/scale.h"

struct gpnn_choice;

/* The most numbers of neighbours to try, and lists of predictions that there is room for: one for
 * each of these, or for each member of a stack and for all of them together. */
enum { GPNN_CHOOSE_COUNTS = 6, GPNN_CHOOSE_LISTS = GPNN_CHOOSE_MOST_MEMBERS + 1 };

/* A fitted candidate, and its losses with each number of neighbours. */
struct gpnn_choose_trial {
  size_t n_targets;
  struct gpnn_parameters *params; /* owned; n_targets */
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate; /* with the best number of neighbours */
  size_t best;                     /* index of that number among those tried */
  /* with each number; 'error' is that of labels */
  double score[GPNN_CHOOSE_COUNTS], nll[GPNN_CHOOSE_COUNTS], crps[GPNN_CHOOSE_COUNTS],
      rmse[GPNN_CHOOSE_COUNTS], error[GPNN_CHOOSE_COUNTS];
  double *loss; /* owned; GPNN_CHOOSE_COUNTS by the validation rows: what the score is the mean of,
                   averaged over the targets */
  bool passed_over;                       /* it is not the best, but may be a member of a stack */
  const struct gpnn_choose_trial *before; /* that it went on from; NULL: it started anew */
  struct gpnn_fit_options how; /* it was fitted; what this points to may have changed since */
};

/* Trials whose predictions are averaged: the best first, and their weights. */
struct gpnn_choice_stack {
  size_t n; /* 1: the best alone, whatever the other fields are */
  struct gpnn_choose_trial *trial[GPNN_CHOOSE_MOST_MEMBERS];
  double weight[GPNN_CHOOSE_MOST_MEMBERS];
  size_t n_rows;          /* that it was scored on */
  double crps, nll, rmse; /* of rows that its weights do not come from */
};

/* ---- candidates --------------------------------------------------------------------------- */

/* What a candidate goes on from.  Leader and rival are the two best of when their table began, or
 * what became of them since. */
enum gpnn_choose_from {
  GPNN_FROM_START = 0, /* what all have in common, with the kernel of the best so far, if any */
  GPNN_FROM_BEST = 1,
  GPNN_FROM_LAST = 2, /* of this table; the first starts anew */
  GPNN_FROM_LEADER = 3,
  GPNN_FROM_RIVAL = 4,
  GPNN_FROM_BEST_HERE = 5, /* of this table */
};

/* How the inputs are rotated. */
enum gpnn_choose_turn {
  GPNN_TURN_AS_ALL = 0, /* as in what all have in common */
  GPNN_TURN_WHITEN = 1,
  GPNN_TURN_LEARN = 2,  /* the rotation is learnt, */
  GPNN_TURN_RETAIN = 3, /* learnt on, if it had been learnt, */
  GPNN_TURN_HOLD = 4,   /* or remains what it is */
};

/*
 * A candidate to try: by how much it differs from what it goes on from.  The candidates of a table
 * are tried one after another; a new kind of candidate is a row of a table.
 */
struct gpnn_choose_row {
  bool (*is_open)(const struct gpnn_choice *c); /* the options and the rows allow it; NULL: true */
  bool (*is_worthwhile)(const struct gpnn_choice *c); /* so do the scores so far; NULL: true */
  enum gpnn_choose_from from;
  enum gpnn_choose_turn turn;
  const char *kernel;    /* NULL: no other */
  const char *after;     /* only if the best has this kernel, unless all are to be compared */
  int rougher;           /* than the kernel of the best, by so many steps; negative: smoother */
  enum gpnn_sight sight; /* of inputs that have scores; 0: that of what it goes on from */
  bool isotropic;        /* one lengthscale for all inputs */
  bool ard;              /* one for each, where others have one for all; it must be far better */
  bool is_simpler;       /* it must be better than the best by more than chance explains */
  bool is_early;         /* 'steps' and 'part' are of the first descents, which may be shorter */
  size_t part;           /* of the steps; 0: 1 */
  size_t k;              /* neighbours in the objective; 0: as usual */
  size_t times_k, times_rows; /* 0: 1 */
  bool advances;              /* the leader, or the rival, becomes this candidate if it is better */
};

/* A candidate as it is fitted. */
struct gpnn_choose_plan {
  struct gpnn_fit_options fit;
  enum gpnn_rotate rotate;
  enum gpnn_sight sight;
  const struct gpnn_choose_trial *before;
  bool is_simpler, must_be_far_better;
};

/* The rows as candidates see them that see inputs by their scores. */
struct gpnn_choice_view {
  struct gpnn_transformed *transformed; /* owned; NULL: there are no scores in it */
  const struct gpnn_dataset **targets;  /* owned; NULL: not made yet */
  double *x;                            /* owned; of the validation rows, once they are drawn */
  struct gpnn_near fitted, validated;   /* lists of the rows of fits and of the validation rows */
};

/* What depends on the kind of target. */
struct gpnn_choose_head {
  bool of_numbers; /* targets have a likelihood and rows that may be copies of others */
  size_t n_counts; /* numbers of neighbours to try, at most GPNN_CHOOSE_COUNTS, */
  size_t n_first;  /* of which all candidates are compared with the first, which are cheap */
  const size_t *counts;
  /* Sets what all candidates of 'c' have in common. */
  void (*begin)(struct gpnn_choice *c);
  bool (*is_open)(const struct gpnn_choice *c);     /* there is something to choose */
  size_t (*wide_rows)(const struct gpnn_choice *c); /* the most rows of a fit; 0: any number */
  /* Sets c->n and c->n_kept.  Returns how many of the rows in a random order there are up to the
   * last of these. */
  size_t (*count_rows)(struct gpnn_choice *c);
  GPNN_MUST_CHECK enum gpnn_status (*make_room)(struct gpnn_choice *c, struct gpnn_error *err);
  /* The rate of a descent; NULL: the usual one. */
  double (*rate)(const struct gpnn_choice *c, const struct gpnn_choose_plan *plan);
  /* Scores a trial with the first 'n_counts' numbers of neighbours. */
  GPNN_MUST_CHECK enum gpnn_status (*score)(struct gpnn_choice *c, struct gpnn_choose_trial *trial,
                                            size_t n_counts, struct gpnn_error *err);
  /* True if 'a' is better than 'best', where 'lowest' has the lowest NLL; NULL: that is best. */
  bool (*is_better)(const struct gpnn_choice *c, const struct gpnn_choose_trial *a,
                    const struct gpnn_choose_trial *best, const struct gpnn_choose_trial *lowest);
  /* What the best is compared with in a table of candidates, and in the report, or NULL. */
  struct gpnn_choose_trial *(*rival)(const struct gpnn_choice *c);
  struct gpnn_choose_trial *(*runner_up)(const struct gpnn_choice *c);
  /* Lets all candidates race. */
  GPNN_MUST_CHECK enum gpnn_status (*race)(struct gpnn_choice *c, struct gpnn_error *err);
  size_t (*most)(const struct gpnn_choice *c, bool is_sampled); /* how many these are at most */
  /* Chooses members and numbers of neighbours, and fits them to all rows of 'rows'; 'is_sample':
   * the race took place in a sample of these. */
  GPNN_MUST_CHECK enum gpnn_status (*finish)(struct gpnn_choice *c,
                                             const struct gpnn_dataset *const *targets,
                                             bool is_sample, struct gpnn_error *err);
};

extern const struct gpnn_choose_head gpnn_choose_numbers, gpnn_choose_labels;

/* The state of a choice: the validation rows and the trials so far. */
struct gpnn_choice {
  const struct gpnn_choose_head *head;
  size_t n_targets;
  const struct gpnn_dataset *const *targets; /* n_targets: the view of each */
  const struct gpnn_dataset *dataset;        /* the first view; its inputs are those of all */
  const struct gpnn_dataset *whole;          /* the same of all rows there are, with their copies */
  struct gpnn_choice_view views[GPNN_SIGHT_BOTH + 1]; /* by sight */
  enum gpnn_sight sight;                              /* that of 'targets' */
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  struct gpnn_choose_report *report;

  /* What all candidates have in common: the fit; how inputs are rotated in it; steps and neighbours
   * of the first descents.  Set by head->begin(). */
  struct gpnn_fit_options start;
  enum gpnn_rotate rotate;
  size_t early_steps, early_k;
  bool tries_isotropic, tries_rotations; /* these may be tried */
  bool compares_all;                     /* kernels, wherever the best so far is */
  double *whitening;                     /* owned; d by d, or NULL: whitening is not tried */

  struct gpnn_choose_trial **trials; /* owned, with all that they own */
  size_t n_trials, capacity;
  const struct gpnn_choose_trial *line[2]; /* leader and rival of the table being tried */
  bool falls[2];                           /* whether their last advance was worth its time */
  size_t first_trial;                      /* of that table */
  struct gpnn_choice_stack stack;          /* of some of the trials */

  size_t n_counts; /* numbers of neighbours to try */
  size_t counts[GPNN_CHOOSE_COUNTS];
  size_t n_kept;     /* rows withheld from fits by neighbourhoods */
  size_t n_drawn, n; /* validation rows, and how many of them are in use */
  double *x;         /* n by d; that of the view */
  int64_t *self;     /* n: which training rows they are */
  double *share;     /* labels: of each class */
  /* numbers: */
  double *y, *noise;              /* n, of one target at a time; known noise variances */
  double *regressors;             /* n by n_regressors */
  double *mean, *latent, *misfit; /* GPNN_CHOOSE_LISTS by n: scratch, of one target */
  double *loss, *crps;            /* n of each: scratch */
  double *unit; /* of the CRPS of each target: that of the first candidate; 0: none is scored */
  struct gpnn_arrays *arrays; /* owned; 'share', or what numbers have */
};

/* ---- choose.c ----------------------------------------------------------------------------- */

void gpnn_choose_trial_release(struct gpnn_choose_trial *trial);
void gpnn_choice_release(struct gpnn_choice *c);

/* True if all candidates have a single lengthscale only because there are too many inputs to learn
 * one for each, unless few of them matter: which fewer than a hundred rows, that are scored on rows
 * of their fit, would only seem to show. */
bool gpnn_choice_may_be_sparse(const struct gpnn_choice *c);

/* Fits, scores and keeps one candidate; skips it if its covariances are not positive definite. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_try(struct gpnn_choice *c, const struct gpnn_choose_plan *plan, struct gpnn_error *err);

/* Tries the candidates of a table that are open and worthwhile. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_race(struct gpnn_choice *c, size_t n,
                                                  const struct gpnn_choose_row *rows,
                                                  struct gpnn_error *err);

/* How many candidates of a table are open. */
size_t gpnn_choice_count_open(const struct gpnn_choice *c, size_t n,
                              const struct gpnn_choose_row *rows);

/* Options 'fit' made to go on from a trial, with the last objective only. */
struct gpnn_fit_options gpnn_choice_go_on(const struct gpnn_choose_trial *trial,
                                          struct gpnn_fit_options fit);

/* Fits parameters (n_targets, zeroed) that see inputs as 'sight', from those of 'before', which may
 * see them otherwise (gpnn_choice_lift()); NULL: from where 'options' say. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_descend(struct gpnn_choice *c, enum gpnn_sight sight,
                                                     const struct gpnn_choose_trial *before,
                                                     const struct gpnn_fit_options *options,
                                                     struct gpnn_parameters *params,
                                                     struct gpnn_fit_report *report,
                                                     struct gpnn_error *err);

/* The same for a trial, as its candidate sees inputs, recording which the targets are. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_fit(struct gpnn_choice *c,
                                                 const struct gpnn_choose_trial *before,
                                                 const struct gpnn_fit_options *options,
                                                 struct gpnn_choose_trial *trial,
                                                 struct gpnn_error *err);

/* Moves a trial to the others. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_keep(struct gpnn_choice *c, struct gpnn_choose_trial *trial, struct gpnn_error *err);

/* The best trial and the second, among those not passed over; NULL: there is none.  They do not
 * depend on the order in which they were tried. */
struct gpnn_choose_trial *gpnn_choice_best(const struct gpnn_choice *c);
struct gpnn_choose_trial *gpnn_choice_second(const struct gpnn_choice *c);

/* True if the best sees inputs by their values alone, and not rotated. */
bool gpnn_choice_is_plain(const struct gpnn_choice *c);

/* The one with the best score of the table that is being tried; NULL: there is none yet. */
const struct gpnn_choose_trial *gpnn_choice_best_here(const struct gpnn_choice *c);

/* The best of those whose inputs are rotated in another way than those of the best, or that have
 * another kernel, or one lengthscale where that has many, or many for one; NULL: there is none. */
struct gpnn_choose_trial *gpnn_choice_otherwise_rotated(const struct gpnn_choice *c);
struct gpnn_choose_trial *gpnn_choice_otherwise_scaled(const struct gpnn_choice *c);
struct gpnn_choose_trial *gpnn_choice_of_other_kernel(const struct gpnn_choice *c);

/*
 * Sets '*view' to the parameters of the stack for target 't'.  They borrow everything from the
 * trials except the array of members, which the caller frees.  False: not enough memory.
 */
bool gpnn_choice_stack_view(const struct gpnn_choice *c, size_t t, struct gpnn_parameters *view);

/* What rows of both tables ask. */
static inline bool kernel_is_open(const struct gpnn_choice *c)
{
  return c->options->kernel;
}

static inline bool kernel_is_given(const struct gpnn_choice *c)
{
  return !c->options->kernel;
}

static inline bool isotropic_is_open(const struct gpnn_choice *c)
{
  return c->tries_isotropic;
}

static inline bool is_thorough(const struct gpnn_choice *c)
{
  return c->options->effort == GPNN_EFFORT_THOROUGH;
}

static inline bool has_best(const struct gpnn_choice *c)
{
  return gpnn_choice_best(c) != NULL;
}

/* ---- choose_rows.c ------------------------------------------------------------------------ */

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

/* Lets 'c' work on the rows of these views from now on. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_use_rows(struct gpnn_choice *c,
                                                      const struct gpnn_dataset *const *targets,
                                                      struct gpnn_error *err);

/* Sets 'targets', 'dataset' and 'x' to the rows in use as 'sight' sees them.  Once it has
 * succeeded for a sight it cannot fail for that sight. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_see(struct gpnn_choice *c, enum gpnn_sight sight,
                                                 struct gpnn_error *err);

/* Finds the nearest rows of the first 'n' validation rows, themselves among them, under the metric
 * of 'params': 'wanted' of them or all rows there are, as gpnn_near_find() returns them. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_find_near(struct gpnn_choice *c, size_t n,
                                                       const struct gpnn_parameters *params,
                                                       size_t wanted, double recall,
                                                       const struct gpnn_near_lists **lists,
                                                       struct gpnn_error *err);

/* True if candidates share the rows that are nearest under the metric of 'params', of which 'm' are
 * wanted: that is, under one lengthscale. */
bool gpnn_choice_brings_near(const struct gpnn_choice *c, const struct gpnn_parameters *params,
                             size_t m);

/* Lets 'query', about the first validation rows, bring the candidates for 'm' neighbours under the
 * metric of 'params', if gpnn_choice_brings_near(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_bring_near(struct gpnn_choice *c,
                                                        const struct gpnn_parameters *params,
                                                        size_t m, struct gpnn_query *query,
                                                        struct gpnn_error *err);

/* True if the budget allows predictions from 'm' neighbours by so many members. */
bool gpnn_choice_affords(const struct gpnn_choice *c, size_t m, size_t n_members);

/* True if candidates may see inputs by their scores as well. */
bool gpnn_choice_has_scores(const struct gpnn_choice *c);

/*
 * What a fit that sees inputs as 'sight' may start from: the lengthscales of 'trial', which sees
 * them by value and is not rotated, and of which scores take half the distance, or all of it.
 * 'starts' has n_targets entries, zeroed; each borrows everything else from the trial, and its
 * lengthscales are to be freed.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_lift(const struct gpnn_choice *c, const struct gpnn_choose_trial *trial,
                 enum gpnn_sight sight, struct gpnn_parameters *starts, struct gpnn_error *err);
void gpnn_choice_release_views(struct gpnn_choice *c);
void gpnn_choice_release_rows(struct gpnn_choice_rows *sampled);

/* Draws the validation rows, and sets the numbers of neighbours to try. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c,
                                                       struct gpnn_error *err);

/* How many of these numbers all candidates are compared with. */
size_t gpnn_choice_first_counts(const struct gpnn_choice *c);

/* Number of rows for a fit by neighbourhoods: 'wanted', or all that are not withheld. */
size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted);

/* ---- choose_numbers_score.c, choose_numbers_stack.c ----------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_make_room(struct gpnn_choice *c,
                                                        struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_score(struct gpnn_choice *c,
                                                    struct gpnn_choose_trial *trial,
                                                    size_t n_counts, struct gpnn_error *err);
bool gpnn_numbers_is_better(const struct gpnn_choice *c, const struct gpnn_choose_trial *a,
                            const struct gpnn_choose_trial *best,
                            const struct gpnn_choose_trial *lowest);

/* Writes to 'loss' the negative log density of each row, and to 'crps' its CRPS, under a law that
 * comes from others (gpnn_scale_cross_losses()). */
GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_scaled_losses(const struct gpnn_scale_rows *rows,
                                                            enum gpnn_likelihood likelihood,
                                                            bool all_features, double *loss,
                                                            double *crps, struct gpnn_error *err);

/* If candidates were compared with only some of the numbers of neighbours, passes over all but the
 * best two and scores those with all numbers. */
GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_compare_best(struct gpnn_choice *c,
                                                           struct gpnn_error *err);

/* Gives the best trial the fewest neighbours that score about as well as its best number. */
void gpnn_numbers_choose_neighbours(struct gpnn_choice *c);

/*
 * Sets c->stack: the best trial alone, or with others if together they predict the validation rows
 * better (gpnn-methods(7), equations 5.9 to 5.11).  All get the number of neighbours of the best.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_stack(struct gpnn_choice *c, struct gpnn_error *err);

/* The most candidates, and the smallest weight: a member that counts for less is not worth its
 * time. */
enum { GPNN_WEIGHTS_CANDIDATES = 16 };
#define GPNN_WEIGHTS_LEAST 0.05

/*
 * Weights of the members of a stack, from the errors of candidates on the same rows.
 * The error of an average with weights w that sum to 1 is the average of the errors, so that its
 * importance-weighted sum of squares is w'Ew, with E_kl = sum_i q_i e_ik e_il over rows i of
 * importance q_i.  The weights minimise
 *   1/2 w'Ew + 1/2 (|w - 1/s|/sd)^2,  sum_k w_k = 1,  w_k >= GPNN_WEIGHTS_LEAST,
 * over the subsets of s candidates: the second term is a normal prior around equal weights, which
 * matters only where rows are few (gpnn-methods(7), equations 5.9 to 5.11).  Within a subset the
 * minimum without the bound is w ~ (E + I/sd^2)^-1 1; a subset where it breaks the bound loses to a
 * smaller one.
 *
 * Finds the best subset of 'size' >= 1 of 'n' <= GPNN_WEIGHTS_CANDIDATES candidates that contains
 * the first.  'moments' (n by n) is E.  Writes the weights to 'weight' (n), 0 for candidates
 * outside the subset, and returns true; or returns false and writes nothing, if there is no such
 * subset.
 */
bool gpnn_weights_find(size_t n, const double *moments, size_t size, double *weight);

/* Estimates the scale that goes with the stack, for each target, from rows that its fits have not
 * seen.  The best trial gets it.  Does nothing if the likelihood is Gaussian. */
GPNN_MUST_CHECK enum gpnn_status gpnn_numbers_estimate_scales(struct gpnn_choice *c,
                                                              struct gpnn_error *err);

/* ---- choose_labels_score.c ---------------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status gpnn_labels_make_room(struct gpnn_choice *c,
                                                       struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_labels_score(struct gpnn_choice *c,
                                                   struct gpnn_choose_trial *trial, size_t n_counts,
                                                   struct gpnn_error *err);

/* Finds the trials that together predict the rows best: the best alone, unless others lower the
 * score enough (gpnn-methods-classes(7), equations 13.13 and 13.14). */
GPNN_MUST_CHECK enum gpnn_status gpnn_labels_stack(struct gpnn_choice *c, struct gpnn_error *err);

/* Gives the members the fewest neighbours that score about as well as the best number, and their
 * weights, and reports how they score. */
GPNN_MUST_CHECK enum gpnn_status gpnn_labels_choose_neighbours(struct gpnn_choice *c,
                                                               struct gpnn_error *err);

#endif
