/*
 * choose_private: what the files of choose share.
 *
 * choose_score.c scores candidates on rows kept for that; choose.c says which are tried.
 */
#ifndef GPNN_MODELS_LOCAL_CHOOSE_PRIVATE_H
#define GPNN_MODELS_LOCAL_CHOOSE_PRIVATE_H

#include "models/local/choose.h"

/* Numbers of neighbours to try.  Candidates are compared by the first few, which are cheap, on many
 * rows; the best two by all of them, on some of these rows. */
enum { GPNN_CHOOSE_COUNTS = 6, GPNN_CHOOSE_FIRST_COUNTS = 3 };

/* One candidate: its fit, and its losses for each number of neighbours. */
struct gpnn_choose_trial {
  size_t n_targets;
  struct gpnn_parameters *params; /* owned; n_targets */
  struct gpnn_fit_report fit;
  struct gpnn_candidate candidate; /* with the best number of neighbours */
  size_t best;                     /* place of that number among those tried */
  double nll[GPNN_CHOOSE_COUNTS];
  double *loss; /* owned; GPNN_CHOOSE_COUNTS by the validation rows: the mean over the targets */
};

/* A choice under way: the validation rows, and what was tried on them. */
struct gpnn_choice {
  size_t n_targets;
  const struct gpnn_dataset *const *targets; /* n_targets: the view of each */
  const struct gpnn_dataset *dataset;        /* the first of them, for the rows */
  const struct gpnn_choose_options *options;
  gpnn_choose_listener *listener;
  void *context;
  struct gpnn_choose_report *report;
  struct gpnn_choose_trial *trials; /* owned, with all that they own */
  size_t n_trials, capacity;
  size_t n_counts; /* numbers of neighbours to try, and which */
  size_t counts[GPNN_CHOOSE_COUNTS];
  size_t n_kept;         /* rows that no fit by neighbourhoods sees */
  size_t n;              /* validation rows in use */
  double *x;             /* n by d */
  double *y, *noise;     /* n, of one target at a time; known noise variances */
  double *regressors;    /* n by n_regressors */
  int64_t *self;         /* n: which training rows they are */
  double *mean, *latent; /* GPNN_CHOOSE_COUNTS by n: scratch, of one target */
  double *before;        /* n: scratch */
  double *whitening;     /* d by d, or NULL: whitening is not tried */
};

void gpnn_choose_trial_release(struct gpnn_choose_trial *trial);
void gpnn_choice_release(struct gpnn_choice *c);

/* Draws the validation rows. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_draw_rows(struct gpnn_choice *c,
                                                       struct gpnn_error *err);

/* Sets which numbers of neighbours to try, and returns how many of them candidates are compared
 * by. */
void gpnn_choice_set_counts(struct gpnn_choice *c);
size_t gpnn_choice_first_counts(const struct gpnn_choice *c);

/* Rows for fits by neighbourhoods: as many as asked for, but none that is kept from them. */
size_t gpnn_choice_rows_left(const struct gpnn_choice *c, size_t wanted);

/* Scores a trial with the first 'n_counts' numbers of neighbours and tells the listener. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_score(struct gpnn_choice *c,
                                                   struct gpnn_choose_trial *trial, size_t n_counts,
                                                   struct gpnn_error *err);

/* Takes over 'trial' and empties it. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_choice_keep(struct gpnn_choice *c, struct gpnn_choose_trial *trial, struct gpnn_error *err);

/*
 * The best trial, and the best of the others; NULL: there is none.  Valid until another is kept.
 * Of those whose NLL is no worse than the lowest of all by more than a standard error of the
 * difference on the same rows, it is the one whose means have the smallest error: the order in
 * which they were tried does not matter.
 */
struct gpnn_choose_trial *gpnn_choice_best(const struct gpnn_choice *c);
struct gpnn_choose_trial *gpnn_choice_second(const struct gpnn_choice *c);

/* Scores the best two with all numbers of neighbours, if candidates were compared by fewer; the
 * others are forgotten then. */
GPNN_MUST_CHECK enum gpnn_status gpnn_choice_compare_best(struct gpnn_choice *c,
                                                          struct gpnn_error *err);

/* Gives the best the fewest neighbours that are as good as the best number of them. */
void gpnn_choice_choose_neighbours(struct gpnn_choice *c);

#endif
