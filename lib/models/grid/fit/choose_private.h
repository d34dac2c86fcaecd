/*
 * choose_private: a choice in the making, and its candidates.
 */
#ifndef GPNN_MODELS_GRID_FIT_CHOOSE_PRIVATE_H
#define GPNN_MODELS_GRID_FIT_CHOOSE_PRIVATE_H

#include "base/status.h"
#include "dataset/grid.h"
#include "dataset/transformed.h"
#include "models/grid/fit/choose.h"
#include "models/grid/fit/score.h"

/* A candidate: parameters, and how they fared.  A zeroed one may be released. */
struct gpnn_grid_trial {
  struct gpnn_parameters parameters; /* of tasks: those to start from, until all is chosen */
  double task_spread;                /* struct gpnn_grid_fit_options */
  struct gpnn_grid_fit_report fit;
  struct gpnn_grid_score score;
};

struct gpnn_grid_choice {
  const struct gpnn_dataset *dataset;
  const struct gpnn_grid_choose_options *options;
  gpnn_grid_choose_listener *listener;
  void *context;
  struct gpnn_grid_samples blocks;
  struct gpnn_grid_tasks tasks;
  struct gpnn_grid_trial best;
  size_t n_candidates;
  size_t evaluations; /* of the objective of a candidate, at most */
  size_t n_parts;     /* that cells held out are in (gpnn_grid_choice_crossfit()), at most 8 */
  struct gpnn_grid_held held;
  bool keeps_inputs[GPNN_GRID_FACTORS]; /* lengthscales that are held are those of given inputs */
  struct gpnn_transformed *transformed; /* owned; the dataset under 'transform'; NULL: none yet */
  struct gpnn_transform transform;
};

/* Makes the first candidate: kernels as given, or the start's, or matern32 and tasks; lengthscales
 * of the levels' spread, or the start's values where its kernels are the same. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_start(struct gpnn_grid_choice *choice,
                                                        struct gpnn_error *err);

/* Lets the tasks of 'trial' start from the second moments of their observations: loadings are the
 * leading eigenvectors.  GPNN_ENOMEM, GPNN_ENUMERIC. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_start_tasks(const struct gpnn_grid_choice *choice,
                                                              struct gpnn_grid_trial *trial,
                                                              struct gpnn_error *err);

/* True if the process has tasks, whose numbers are many. */
bool gpnn_grid_choice_has_tasks(const struct gpnn_grid_choice *choice);

/* Makes the view of the cells that a trial sees, with its transform in 'grid', which it refers to.
 * The caller releases it. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_choice_view(struct gpnn_grid_choice *choice, struct gpnn_grid_trial *trial,
                      struct gpnn_grid *grid, struct gpnn_grid_view *view, struct gpnn_error *err);

/* Of the cells of a view drawn to be held out, leaves out tasks that share cells with others, and
 * cells that would make levels of few cells poorer than they are. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_part_tasks(struct gpnn_grid_choice *choice,
                                                             const struct gpnn_grid_view *view,
                                                             struct gpnn_error *err);

/* Scores a trial on cells that its estimates have not seen: in turn a part of the cells held out is
 * taken from the samples, and predicted by what is estimated from the rest, from the trial's values
 * on.  Outcomes as gpnn_grid_fit() and gpnn_grid_score(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_crossfit(struct gpnn_grid_choice *choice,
                                                           struct gpnn_grid_trial *trial,
                                                           size_t evaluations,
                                                           struct gpnn_error *err);

/* Sets the numbers that the user gave.  GPNN_EINVAL: one does not exist, or is out of range. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_set(struct gpnn_grid_choice *choice,
                                                      struct gpnn_error *err);
void gpnn_grid_choice_release(struct gpnn_grid_choice *choice);

/* How errors are distributed: what variances are multiplied by, and its standard error. */
struct gpnn_grid_law {
  double factor, factor_error;
  double degrees; /* of Student's t, whose squared scales these are; 0: Gaussian */
  double gain;    /* its mean log density of a cell held out, above the Gaussian's */
};

/* Chooses the law that suits the errors of the best candidate's score, as the options want.
 * GPNN_ENUMERIC: an error is not finite.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_law(struct gpnn_grid_choice *choice,
                                                      struct gpnn_grid_law *law,
                                                      struct gpnn_error *err);

/* Gives the best candidate this law.  Its variances are multiplied by a factor that is larger by
 * the standard error: a mean of squares is more often too small than too large, and variances that
 * are too small cost more.  A kernel scale or noise that is held keeps its value: then the factor
 * becomes the scale of Student's t, or none.  Failures are those of gpnn_parameters_grid_set(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_calibrate(struct gpnn_grid_choice *choice,
                                                            const struct gpnn_grid_law *law,
                                                            struct gpnn_error *err);

/* Copies the parameters of a candidate. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_trial_copy(struct gpnn_grid_trial *to,
                                                      const struct gpnn_grid_trial *from,
                                                      struct gpnn_error *err);
void gpnn_grid_trial_release(struct gpnn_grid_trial *trial);

/* What listeners and reports are told of a trial. */
void gpnn_grid_trial_describe(const struct gpnn_grid_trial *trial,
                              struct gpnn_grid_candidate *candidate);

/* Gives factor 'a' other inputs, and lengthscales in proportion to their spread. */
void gpnn_grid_choice_set_inputs(const struct gpnn_grid_choice *choice,
                                 struct gpnn_grid_trial *trial, size_t a,
                                 enum gpnn_factor_inputs inputs);

/* True if all coordinates of the levels are positive, and their logarithms tell more than they do:
 * the greatest is at least ten times the least. */
bool gpnn_grid_choice_has_logarithms(const struct gpnn_grid_factor *factor);

/* True if all targets can be transformed so. */
bool gpnn_grid_choice_can_transform(const struct gpnn_grid_choice *choice,
                                    enum gpnn_transform_kind kind);

/* Writes to 'grid' the dataset's with the trial's transform, which is fitted if that is not done.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_transform(struct gpnn_grid_choice *choice,
                                                            struct gpnn_grid_trial *trial,
                                                            struct gpnn_grid *grid,
                                                            struct gpnn_error *err);

#endif
