/*
 * fit: estimation of everything in the bound of models/inducing/diag/diag.h: kernel, noise,
 * mu and rho (gpnn-methods-sparse(7), equations 17.19, 17.24, 17.26 and 17.27).
 *
 * As published (Thomas 2017, chapter 3) it is Adagrad from a fixed start, on estimated derivatives;
 * by default it starts from the kernel that the collapsed bound of a sample prefers, and ends with
 * the optimal mean and a better rho, both of which do without a step size.
 *
 * Threads: results do not depend on their number.
 */
#ifndef GPNN_MODELS_INDUCING_DIAG_FIT_H
#define GPNN_MODELS_INDUCING_DIAG_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "container/state.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"
#include "models/inducing/collapsed/fit.h"
#include "models/inducing/diag/diag.h"
#include "models/inducing/inducing.h"

enum gpnn_diag_solver_kind {
  GPNN_DIAG_SOLVER_AUTO = 0,     /* Cholesky up to m = 2048 or 4 probes times steps of a solution */
  GPNN_DIAG_SOLVER_CG = 1,       /* estimates by probes and conjugate gradients */
  GPNN_DIAG_SOLVER_CHOLESKY = 2, /* exact but for the batch */
};

enum gpnn_diag_optimizer { GPNN_DIAG_ADAM = 0, GPNN_DIAG_ADAGRAD = 1 };

/* One iteration, for people; not valid after the call that it is passed to. */
struct gpnn_diag_record {
  size_t iteration;   /* from 1 */
  double steps_mean;  /* of conjugate gradients, a solution; 0 without them */
  size_t steps_most;  /* those of the longest solution since the last record */
  size_t extra;       /* random steps since the last record */
  double most_weight; /* of a random step since the last record; 0: there was none */
  double rmse_batch;  /* standardised */
  double bound;       /* estimated from the batch, for all rows */
  size_t n_lengthscales;
  const double *lengthscale;
  double kernelscale, noise;
  double least_s; /* of exp(rho) */
};

struct gpnn_diag_options {
  const struct gpnn_kernel *kernel; /* NULL: that of the sample */
  double smoothness;
  bool ard;                   /* a lengthscale for each group of inputs */
  size_t m;                   /* inducing inputs; fewer if the rows are */
  enum gpnn_inducing_how how; /* inducing inputs are chosen */
  const double *z;            /* or m by d: the inducing inputs; NULL */
  uint64_t seed;
  int threads;
  bool from_sample; /* start from the kernel of a sample; otherwise from lengthscales sqrt(d),
                       kernel scale 1 and noise 0.1 */
  struct gpnn_collapsed_start_options start; /* of the sample; kernel, ARD, seed and threads are
                                                those above */
  size_t batch;                              /* rows of an iteration; all if there are fewer */
  size_t probes;                             /* of an iteration, with two solutions each */
  enum gpnn_diag_solver_kind solver;
  double head, tolerance; /* relative residuals: where truncation begins, and where solutions end */
  enum gpnn_truncation truncation;
  double beta; /* the rate of random truncation; 0: from the steps of pilot solutions, which are
                  made again every 500 iterations */
  enum gpnn_diag_optimizer optimizer;
  double rate;         /* of its steps */
  size_t iterations;   /* after those of 'warmup' */
  size_t warmup;       /* first iterations, in which the kernel scale stays as it is */
  bool polish;         /* end with the optimal mean and fifty steps of rho */
  size_t record_every; /* iterations between records; 0: none */
  void (*record)(void *context, const struct gpnn_diag_record *record);
  void *record_context;
};

/* What users get without options: rbf with ARD, m = 1024, batches of 256, 8 probes, head 1e-2,
 * tolerance 1e-6, no random truncation, Adam, all polished; kernel and the like can be replaced. */
struct gpnn_diag_options gpnn_diag_default_options(void);

/* The published settings: Adagrad, 500 and 25000 iterations, quadratic truncation, conjugate
 * gradients, no polish, and the rest as gpnn_diag_default_options().  The publication states
 * neither rate nor start.  Of the rates tried, 0.03 to 3, 0.3 comes nearest to its errors, which
 * remain above them (gpnn-methods-sparse(7), section 17). */
struct gpnn_diag_options gpnn_diag_published_options(void);

struct gpnn_diag_report {
  size_t m;                 /* inducing inputs used */
  double bound;             /* at the end, of all rows; NaN where it would take too long */
  size_t start_evaluations; /* of the sample's bound */
  bool cholesky;            /* the solver used */
  double beta;              /* the last rate of random truncation */
  double mean_residual;     /* relative, of the equations of the mean */
  struct gpnn_diag_solutions solutions; /* all of them, of conjugate gradients */
};

/* Solutions that may end at most_steps before users should be warned, as a share of all. */
#define GPNN_DIAG_MANY_CAPPED 0.05

/* Arrays in which those who write a model keep how many solutions there were, and how many of them
 * ended at most_steps (a number each). */
#define GPNN_DIAG_SOLUTIONS "solutions"
#define GPNN_DIAG_SOLUTIONS_CAPPED "solutions-capped"

/*
 * Estimates parameters of one target from the rows of its view (dataset/dataset.h), whose known
 * noise variances count.  'params', zeroed, get kernel, covariance, family,
 * GPNN_LIKELIHOOD_LOCAL and provenance, with a comment that counts solutions that did not end, if
 * there were any; 'arrays' gets "inducing" (m by d), "weights" (mu, m) and "rho" (m) under the
 * view's target.
 *
 *   GPNN_EINVAL  fewer than two rows, m = 0, or options out of range
 *   GPNN_ENUMERIC, GPNN_ENOMEM  as gpnn_diag_bound() and gpnn_diag_estimate()
 *
 * After a failure 'params' may be released, and nothing has been added to 'arrays' or only part.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_diag_fit(const struct gpnn_dataset *view, const struct gpnn_diag_options *options,
              struct gpnn_parameters *params, struct gpnn_state *arrays,
              struct gpnn_diag_report *report, struct gpnn_error *err);

#endif
