/*
 * choose: the choice of a process for data on a grid: the kernel and the inputs of each factor, a
 * nugget, a mean for each level of a factor, a transform of the target.
 *
 * Candidates differ from the best one so far in one thing, are fitted to the same samples of cells
 * (models/grid/fit/fit.h), and scored on the same observed cells, held out in the pattern of the
 * holes.  One replaces the best if its score is lower by more than a
 * standard error of the difference.  With fewer than GPNN_GRID_FEW_CELLS cells held out there is no
 * choice, and the first candidate remains.  The best is fitted again to larger samples, and its
 * variances are multiplied by the factor that suits the cells held out best, and by how much
 * larger errors are beside their variances if all cells are predicted from instead of the nearest.
 *
 * Tasks have many numbers.  Their prior draws them towards each other, by a spread that is chosen
 * too, and they are scored by estimates that have not seen what they are scored on.
 *
 * Kernels are tried in the order of their smoothness, from matern32 on in either direction as long
 * as that helps.  A factor whose levels are texts is one of tasks: it has no kernel to choose.
 */
#ifndef GPNN_MODELS_GRID_FIT_CHOOSE_H
#define GPNN_MODELS_GRID_FIT_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/grid/fit/fit.h"
#include "models/grid/fit/view.h"

/* ---- holes.c --------------------------------------------------------------------------------- */

/*
 * Observed cells to hold out so that they resemble the cells that were not observed, which are what
 * users want predicted.  Trailing cells stay trailing ones, random ones random, and levels that
 * nothing was observed at whole levels (gpnn-methods-grid(7), equation 16.59).
 *
 * Threads: no shared state.
 */

/* Which pattern to follow. */
enum gpnn_grid_holdout {
  GPNN_GRID_HOLDOUT_AUTO = 0, /* that of the holes: a random hole is looked up, and a site gets the
                                 holes of the site it belongs to; of a complete grid as 'uniform' */
  GPNN_GRID_HOLDOUT_UNIFORM,  /* a random tenth of a site's cells */
  GPNN_GRID_HOLDOUT_TRAILING, /* all cells of a site from a random one on */
  GPNN_GRID_HOLDOUT_LEVELS,   /* in turn all cells of a site, and of a level of the last factor */
};

/* The most cells of one task. */
enum { GPNN_GRID_TASK_CELLS = 8 };

/* Cells of one site (level of the first factor) to predict from others.  A zeroed one may be
 * released. */
struct gpnn_grid_task {
  size_t site;
  size_t n, target[GPNN_GRID_TASK_CELLS]; /* positions of cells to predict */
  bool *is_hidden;      /* owned; of each of the site's cells: it may not be used */
  size_t hidden_factor; /* 1 + a factor of which no cell may be used at some levels; 0: none */
  size_t hidden_first, hidden_last; /* these levels */
};

/* Draws task 'number' from a view.  '*task' is zeroed before, and released by the caller; it has no
 * cells (n = 0) if none that resembles the holes was found.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_task_draw(struct gpnn_grid_task *task,
                                                     const struct gpnn_grid_view *view,
                                                     enum gpnn_grid_holdout holdout, uint64_t seed,
                                                     uint64_t number, struct gpnn_error *err);

void gpnn_grid_task_release(struct gpnn_grid_task *task);

struct gpnn_grid_tasks {
  size_t n;
  struct gpnn_grid_task *task; /* owned */
};

/* Draws up to 'n' tasks, numbered from 'first' on; those that have no cells are left out.
 * GPNN_ENOMEM: '*tasks', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_tasks_draw(struct gpnn_grid_tasks *tasks, size_t n,
                                                      const struct gpnn_grid_view *view,
                                                      enum gpnn_grid_holdout holdout, uint64_t seed,
                                                      uint64_t first, struct gpnn_error *err);
void gpnn_grid_tasks_release(struct gpnn_grid_tasks *tasks);

/* ---- choose.c -------------------------------------------------------------------------------- */

enum { GPNN_GRID_KERNEL_BYTES = 96 };

/* What to choose among. */
enum gpnn_grid_inputs_choice {
  GPNN_GRID_INPUTS_AUTO = 0, /* raw, or ranks (the first factor), or logarithms (the others) */
  GPNN_GRID_INPUTS_RAW,
  GPNN_GRID_INPUTS_RANKS,
  GPNN_GRID_INPUTS_LOG,
};

/* How much is tried: samples, cells held out, candidates. */
enum gpnn_grid_effort {
  GPNN_GRID_EFFORT_FAST = 0, /* nothing is chosen that was left open */
  GPNN_GRID_EFFORT_NORMAL = 1,
  GPNN_GRID_EFFORT_THOROUGH = 2,
};

/* How observations are distributed around their predictions. */
enum gpnn_grid_likelihood {
  GPNN_GRID_LIKELIHOOD_AUTO = 0, /* one of the others if that predicts the errors of cells held out
                                    better by more than a standard error than those before it, and
                                    there are at least 100 */
  GPNN_GRID_LIKELIHOOD_GAUSSIAN,
  GPNN_GRID_LIKELIHOOD_STUDENT,
  GPNN_GRID_LIKELIHOOD_LOCAL, /* Student's t, its scale depending on the predicted mean */
};

/* A number to begin with, or to keep (gpnn_parameters_grid_set()). */
struct gpnn_grid_setting {
  const char *name, *value;
  bool is_held;
};

struct gpnn_grid_choose_options {
  enum gpnn_grid_effort effort;
  const char *kernel[GPNN_GRID_FACTORS]; /* NULL: choose */
  enum gpnn_grid_inputs_choice inputs[GPNN_GRID_FACTORS];
  bool chooses_nugget, nugget;
  bool chooses_transform;
  enum gpnn_transform_kind transform; /* unless it is chosen */
  bool chooses_mean;
  size_t mean_factor;  /* unless it is chosen: 1 + a factor, or 0 */
  size_t noise_factor; /* 1 + the factor whose levels have their own noise, or 0 */
  enum gpnn_grid_holdout holdout;
  enum gpnn_grid_likelihood likelihood;
  size_t n_settings;
  const struct gpnn_grid_setting *settings; /* of the first candidate */
  const struct gpnn_parameters
      *start; /* what to begin with, where that is left open; NULL: nothing */
  struct gpnn_grid_adam_options adam; /* steps on all cells at the end */
  bool published; /* nothing else: rbf, levels as they are, from where the published method starts;
                     what is chosen otherwise is as given, or left out */
  uint64_t seed;
  int threads;
};

/* A candidate and its score. */
struct gpnn_grid_candidate {
  size_t n_factors;
  char kernel[GPNN_GRID_FACTORS][GPNN_GRID_KERNEL_BYTES];
  enum gpnn_factor_inputs inputs[GPNN_GRID_FACTORS];
  bool has_nugget;
  size_t mean_factor;
  enum gpnn_transform_kind transform;
  double degrees;        /* of Student's t, once it is chosen; 0: Gaussian */
  double nll;            /* per cell held out, of the standardised target; NaN: failed */
  double rmse;           /* of medians */
  double factor;         /* of its variances */
  double log_likelihood; /* per cell of the samples, of the transformed target */
};

/* Called for each candidate once it is scored. */
typedef void gpnn_grid_choose_listener(void *context, const struct gpnn_grid_candidate *candidate);

struct gpnn_grid_choose_report {
  struct gpnn_grid_candidate chosen;
  size_t n_candidates, n_held_out; /* cells that they were scored on */
  struct gpnn_grid_fit_report fit; /* of the chosen one */
  struct gpnn_grid_adam_report adam;
};

/*
 * Chooses and estimates parameters for a view of a grid (dataset->grid), which is not transformed.
 * 'params' must be zeroed; the caller releases it.  'listener' may be NULL.
 *
 * GPNN_EDATA: the target does not vary; a logarithm that was asked for does not exist.
 * GPNN_EINVAL: an unknown kernel, or one that a factor cannot have.  GPNN_ENUMERIC: not even the
 * first candidate can be fitted.  GPNN_ENOMEM.  'params' is then as it was.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_choose(const struct gpnn_dataset *dataset, const struct gpnn_grid_choose_options *options,
                 gpnn_grid_choose_listener *listener, void *context, struct gpnn_parameters *params,
                 struct gpnn_grid_choose_report *report, struct gpnn_error *err);

#endif
