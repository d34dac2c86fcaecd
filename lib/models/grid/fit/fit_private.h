/*
 * fit_private: shared by the files of the estimation of grids: factors of likelihoods, the
 * objective of fits, a choice in the making with its candidates and their scores.
 */
#ifndef GPNN_MODELS_GRID_FIT_FIT_PRIVATE_H
#define GPNN_MODELS_GRID_FIT_FIT_PRIVATE_H

#include <stddef.h>

#include "base/status.h"
#include "dataset/grid/grid.h"
#include "dataset/transformed.h"
#include "kernel/parameters.h"
#include "models/grid/fit/choose.h"
#include "models/grid/fit/fit.h"
#include "models/grid/fit/view.h"

/* ---- likelihood.c ---------------------------------------------------------------------------- */

/* Matrices of the factors of some cells, and what the derivatives in their elements are. */
struct gpnn_grid_factors {
  size_t n_factors;
  double *k[GPNN_GRID_FACTORS];     /* owned; n by n: the first times the kernel scale */
  double *gamma[GPNN_GRID_FACTORS]; /* owned; n by n; NULL unless wanted */
};

/* Computes the matrices for the levels of 'cells', and zeroes the others if 'derivatives'.
 * GPNN_ENUMERIC: one is not finite.  GPNN_ENOMEM.  'factors' must be zeroed, and is released by the
 * caller whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_factors_make(struct gpnn_grid_factors *factors,
                                                        const struct gpnn_grid_subset *cells,
                                                        const struct gpnn_parameters *parameters,
                                                        bool derivatives, int threads,
                                                        struct gpnn_error *err);

/* Writes the derivatives in the coordinates of factors and kernel scale, from those in the elements
 * of the matrices: all of 'gradient' but the noise variances. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_factors_contract(const struct gpnn_grid_factors *factors,
                           const struct gpnn_grid_subset *cells,
                           const struct gpnn_parameters *parameters, int threads, double *gradient,
                           struct gpnn_error *err);

void gpnn_grid_factors_release(struct gpnn_grid_factors *factors);

/* Noise variance 'number', of one observation. */
double gpnn_grid_noise_value(const struct gpnn_parameters *parameters, size_t number);

/* ---- fit.c ----------------------------------------------------------------------------------- */

/* What a coordinate of models/grid/fit/likelihood.h is. */
enum gpnn_grid_role {
  GPNN_GRID_LENGTHSCALE,
  GPNN_GRID_PERIOD,
  GPNN_GRID_NUGGET,
  GPNN_GRID_TASK, /* loadings, and variances of their own */
  GPNN_GRID_KERNELSCALE,
  GPNN_GRID_NOISE,
};

struct gpnn_grid_coordinate {
  enum gpnn_grid_role role;
  size_t factor;         /* that it belongs to */
  bool is_logarithm;     /* of a positive number; a loading is not */
  double lower, upper;   /* bounds */
  double centre, spread; /* of its prior, normal; spread 0: none */
};

/* Coordinates whose prior is normal about their own mean: 'n' of them, 'step' apart. */
struct gpnn_grid_pool {
  size_t first, step, n;
  double spread;
};

struct gpnn_grid_objective {
  struct gpnn_parameters *parameters; /* moved by every evaluation */
  int threads;
  size_t n_coordinates;
  struct gpnn_grid_coordinate *coordinate; /* n_coordinates */
  double task_spread; /* of loadings and, in proportion, of tasks' own variances */
  size_t n_pools;
  struct gpnn_grid_pool pool[2 * GPNN_GRID_FACTORS];
  double *at;  /* n_coordinates: where the objective was evaluated */
  double *sum; /* n_coordinates: scratch */
  size_t n_free;
  size_t *free; /* n_free: coordinates that move */
  size_t n_blocks, n_cells, n_evaluations;
  struct gpnn_grid_subset *cells; /* of each block */
  double *value, *gradient;       /* of each block */
  const struct gpnn_grid_view
      *complete; /* whose cells are the only block; NULL: there are blocks */
  bool wants_gradient;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* Describes all coordinates, and finds those that move. */
void gpnn_grid_objective_describe(struct gpnn_grid_objective *objective,
                                  const struct gpnn_grid_view *view,
                                  const struct gpnn_grid_held *held);

/* Minus the logarithm of the prior at 'at'; its derivatives are added to 'gradient' (all
 * coordinates) unless that is NULL. */
double gpnn_grid_objective_prior(const struct gpnn_grid_objective *objective, double *gradient);

/* ---- choose_score.c -------------------------------------------------------------------------- */

/* Cells held out are predicted from the observed cells most correlated with them, which costs
 * milliseconds where predictions from all cells take seconds (gpnn-methods-grid(7), equations 16.60
 * and 16.63).  Candidates are scored, and variances calibrated, by these. */

/* What was predicted of a task's cells, and what was observed: means of their observations, in the
 * units of the view, and the variance of these. */
struct gpnn_grid_nearby {
  double mean[GPNN_GRID_TASK_CELLS], variance[GPNN_GRID_TASK_CELLS], y[GPNN_GRID_TASK_CELLS];
};

/* How much a prediction uses: other sites, cells of each of them, and of the site itself. */
struct gpnn_grid_nearby_size {
  size_t sites, cells, own_cells;
};

/* What predictions are made from, and what parameters are estimated with. */
static const struct gpnn_grid_nearby_size gpnn_grid_nearby_usual = {24, 14, 64};
static const struct gpnn_grid_nearby_size gpnn_grid_nearby_small = {12, 8, 24};

/* Collects what a task's cells are predicted from, and these, last: cells of other sites
 * that the process correlates with this one most, and of the site itself, those at the levels
 * nearest to the ones to predict first.  A level mean that nothing may be known of is 0.
 * GPNN_ENOMEM: 'cells', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_nearby_collect(struct gpnn_grid_subset *cells,
                                                          const struct gpnn_grid_view *view,
                                                          const struct gpnn_parameters *parameters,
                                                          const struct gpnn_grid_task *task,
                                                          struct gpnn_grid_nearby_size size,
                                                          struct gpnn_error *err);

/* Predicts a task's cells from these.  GPNN_ENUMERIC: their covariance matrix is not positive
 * definite.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_nearby_predict(struct gpnn_grid_nearby *prediction,
                                                          const struct gpnn_grid_view *view,
                                                          const struct gpnn_parameters *parameters,
                                                          const struct gpnn_grid_task *task,
                                                          struct gpnn_grid_nearby_size size,
                                                          struct gpnn_error *err);

/* Fewer cells than these say little of how large errors are. */
enum { GPNN_GRID_FEW_CELLS = 20 };

/* A zeroed one may be released. */
struct gpnn_grid_score {
  size_t n_cells;      /* that were predicted */
  size_t n_distinct;   /* of them, without those that several tasks share */
  double factor;       /* that variances are best multiplied by: the mean of squared errors, each
                          divided by its variance; nearer to 1, by the power n_distinct /
                          GPNN_GRID_FEW_CELLS, where there are fewer */
  double factor_error; /* its standard error, over tasks */
  double nll;  /* mean negative log density with that factor, of the target standardised without
                  a transform */
  double rmse; /* of medians, in the same units */
  double *error, *mean, *variance; /* owned; n_cells: of the tasks' cells, in units of the grid;
                                      variances without that factor */
  size_t n_tasks;
  double *loss; /* owned; n_tasks: the sum of the negative log densities of each */
};

/*
 * Predicts all tasks' cells from the view's others, and scores them: task i by parameters i modulo
 * 'n_parts', which differ only in what was estimated from different cells.  The view is that of
 * 'dataset' or of what the parameters' transform makes of it.  GPNN_ENUMERIC: a covariance matrix
 * is not positive definite, or a score is not finite.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_score(struct gpnn_grid_score *score,
                                                 const struct gpnn_dataset *dataset,
                                                 const struct gpnn_grid_view *view, size_t n_parts,
                                                 const struct gpnn_parameters *parameters,
                                                 const struct gpnn_grid_tasks *tasks, int threads,
                                                 struct gpnn_error *err);

/* How much lower the mean loss per cell of 'a' is than that of 'b', over the same tasks, and the
 * standard error of the difference. */
double gpnn_grid_score_gain(const struct gpnn_grid_score *a, const struct gpnn_grid_score *b,
                            double *standard_error);

/* The geometric mean of the variances of all cells. */
double gpnn_grid_score_variance(const struct gpnn_grid_score *score);

void gpnn_grid_score_release(struct gpnn_grid_score *score);

/* ---- choose_trial.c -------------------------------------------------------------------------- */

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
  enum gpnn_likelihood likelihood;
  double factor, factor_error;
  struct gpnn_scale scale; /* what else the scale depends on; its own factor is not used */
  double degrees;          /* of Student's t, whose squared scales these are; 0: Gaussian */
  double gain;             /* its mean log density of a cell held out, above the Gaussian's */
};

/* Chooses the law that suits the errors of the best candidate's score, as the options want.
 * GPNN_ENUMERIC: an error is not finite.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_law(struct gpnn_grid_choice *choice,
                                                      struct gpnn_grid_law *law,
                                                      struct gpnn_error *err);

/* What the law multiplies the variance of a cell by, apart from what it does to all, where 'mean'
 * is predicted: 1 unless its scale depends on that. */
double gpnn_grid_law_relative(const struct gpnn_grid_law *law, double mean);

/*
 * How large 'n' > 0 squared errors are, each divided by its variance and by what the law multiplies
 * that by: under a Gaussian law their mean, under Student's t the factor of variances that makes
 * them most likely given the degrees of freedom, as outliers are not to count for more than they do
 * in the law.
 */
double gpnn_grid_law_size(const struct gpnn_grid_law *law, size_t n, const double *square);

/* Writes that of a score's errors to '*size': under a Gaussian law the score's factor. GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_score_size(const struct gpnn_grid_score *score,
                                                      const struct gpnn_grid_law *law, double *size,
                                                      struct gpnn_error *err);

/* Gives the best candidate this law.  Its variances are multiplied by a factor that is larger by
 * the standard error: a mean of squares is more often too small than too large, and variances that
 * are too small cost more.  A kernel scale or noise that is held keeps its value: then the factor
 * becomes the scale of Student's t, or none.  Failures are those of gpnn_parameters_grid_set(). */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_calibrate(struct gpnn_grid_choice *choice,
                                                            const struct gpnn_grid_law *law,
                                                            struct gpnn_error *err);

/* ---- choose_all.c ---------------------------------------------------------------------------- */

/* How large errors are at single cells (gpnn_grid_law_size()). */
struct gpnn_grid_comparison {
  double ratio;    /* how many times as large, where all cells are predicted from, as where those
                      nearby    are */
  double nearby;   /* how large in the latter case; 0: not known, and the ratio 1 */
  double variance; /* geometric mean of the variances of the same predictions */
};

/* Finds that out of single cells, which the best candidate predicts from all others.  It stays
 * unknown where there are few cells, and where it cannot be computed.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_choice_compare_all(struct gpnn_grid_choice *choice,
                                                              const struct gpnn_grid_law *law,
                                                              struct gpnn_grid_comparison *found,
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
