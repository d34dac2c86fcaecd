/*
 * parameters: the parameters of a model, and the text that carries them from tool to tool, in the
 * format of gpnn-parameters(5).
 *
 * All values are in standardised units: lengthscales in units of the standardised inputs, kernel
 * scale and noise variance in units of the standardised target squared.  If there is a transform,
 * the standardised target is what that makes of the target (dataset/transformed.h).
 *
 * Reading:
 *
 *   struct gpnn_parameters *params = NULL;
 *   size_t n = 0; // targets
 *   struct gpnn_error err;
 *   bool other_model = false;
 *   enum gpnn_status status = gpnn_parameters_read(&params, &n, path, &err);
 *   if (status == GPNN_OK)
 *     status = gpnn_parameters_check(&params[0], dataset, &other_model, &err);
 *   ... use params[0] ...
 *   gpnn_parameters_free(params, n);
 *
 * Writing: gpnn_output_open() of table/stream.h, gpnn_parameters_write(), gpnn_output_close().
 *
 * Failures: besides the outcomes named below, those of reading and writing streams
 * (table/stream.h), and GPNN_ENOMEM. Threads: functions that take parameters as const may share
 * them.
 */
#ifndef GPNN_KERNEL_PARAMETERS_H
#define GPNN_KERNEL_PARAMETERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/covariance.h"
#include "kernel/effects.h"
#include "kernel/factor.h"
#include "kernel/mean.h"
#include "stats/transform.h"
#include "table/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how parameters were estimated ---------------------------------------------------------- */

/* Recorded with parameters, so that they can be estimated again in the same way from other rows
 * (estimate/refit.h). */

/* estimate/fit.h has the formulas. */
enum gpnn_objective_kind {
  GPNN_OBJECTIVE_NONE = 0,
  GPNN_OBJECTIVE_BLOCK,
  GPNN_OBJECTIVE_LOO,
  GPNN_OBJECTIVE_MLL_K,
  GPNN_OBJECTIVE_VECCHIA,
  GPNN_OBJECTIVE_LABELS,
};

/* The options that parameters were estimated under; zeroed: not known. */
struct gpnn_estimation {
  enum gpnn_objective_kind objective; /* the last one minimised; NONE: not known */
  size_t n_blocks, block_size;        /* of the objective of blocks */
  size_t k, steps;                    /* of the others: neighbours of a row, steps of adam */
  uint64_t seed;
  bool has_thin;
  double thin;                            /* rows within this distance were no neighbours */
  bool learnt_rotation;                   /* false: there is none, or it was given */
  bool shared_lengthscales, shared_ratio; /* with the other targets */
  bool fixed_lengthscale, fixed_kernelscale, fixed_noise; /* given, not estimated */
};

/* "none", "block", "loo", "mll-k", "vecchia" or "labels". */
const char *gpnn_objective_name(enum gpnn_objective_kind kind);

struct gpnn_state; /* container/state.h */

/* Levels of gpnn_calibration.distance; the most members of a stack. */
enum { GPNN_N_DISTANCES = 4, GPNN_MOST_MEMBERS = 64 };

/* The result of calibration; zeroed: not calibrated. */
struct gpnn_calibration {
  bool has_factor;
  double factor; /* > 0: kernelscale and noise have been multiplied by it */
  size_t n_conformal;
  double *conformal_level; /* owned; n_conformal of them, in (0, 1), rising */
  double *conformal_width; /* owned; half the width of the interval of each level, in sd */
  bool has_distance;
  /* Quantiles .5 .9 .99 .999 of the distance, in the kernel's metric, from a calibration row to its
   * nearest training row. */
  double distance[GPNN_N_DISTANCES];
  double temperature; /* > 0: of the classes' logits (likelihood/categorical.h); 0: not recorded, so
                         1 */
};

/* The distribution of an observation, given the latent function (likelihood/head.h). */
enum gpnn_likelihood {
  GPNN_LIKELIHOOD_GAUSSIAN = 0,    /* or Student's t, if there are degrees of freedom, with the
                                      variance predicted */
  GPNN_LIKELIHOOD_STUDENT = 1,     /* Student's t, its scale multiplied by one number */
  GPNN_LIKELIHOOD_LOCAL = 2,       /* Student's t, its scale depending on the row */
  GPNN_LIKELIHOOD_CATEGORICAL = 3, /* classes (likelihood/categorical.h) */
  GPNN_LIKELIHOOD_POISSON = 4,     /* counts */
  GPNN_LIKELIHOOD_NEGBIN = 5,      /* counts that vary more than Poisson's */
};

/* True if the observations are counts. */
static inline bool gpnn_likelihood_is_of_counts(enum gpnn_likelihood likelihood)
{
  return likelihood == GPNN_LIKELIHOOD_POISSON || likelihood == GPNN_LIKELIHOOD_NEGBIN;
}

/* How the classes of a row are inferred from those of its neighbours. */
enum gpnn_inference {
  GPNN_INFERENCE_LINK = 0,        /* by regression on labels, and a link */
  GPNN_INFERENCE_POLYA_GAMMA = 1, /* by Polya-Gamma variables (models/polya_gamma/polya_gamma.h) */
};

/* What a model is made of. */
enum gpnn_family {
  GPNN_FAMILY_NONE = 0,      /* training rows, or a grid: no approximation of the process */
  GPNN_FAMILY_COLLAPSED = 1, /* inducing points, with the optimal posterior of their values */
  GPNN_FAMILY_DIAG = 2,      /* inducing points, with as many numbers for their covariance */
  GPNN_FAMILY_TUCKER = 3,    /* inducing points on a grid, their mean a Tucker tensor */
  GPNN_FAMILY_AUGMENTED = 4, /* training rows, and rows that another's model was asked about */
  GPNN_FAMILY_SVGP = 5,      /* inducing points, with a posterior found by batches of rows */
};

/* The Polya-Gamma variables, omega, of the training rows; zeroed: all are at the median of the
 * log-normal distribution nearest to theirs. */
struct gpnn_omega {
  bool is_learnt;     /* each has a median of its own */
  size_t n;           /* learnt: of these, rows times channels; 0: not known, as text does not carry
                         them */
  double *log_median; /* owned; n: a row's channels are next to each other */
};

/* What the scale of a row may depend on under GPNN_LIKELIHOOD_LOCAL (likelihood/scale.h). */
enum gpnn_scale_feature {
  GPNN_SCALE_MISFIT,      /* log of how badly its neighbours fit the model */
  GPNN_SCALE_NEAREST,     /* log of the distance to its nearest neighbour, in lengthscales */
  GPNN_SCALE_SHARE,       /* log of the share of the latent function in its variance */
  GPNN_SCALE_MEAN,        /* its predicted mean */
  GPNN_SCALE_MEAN_SQUARE, /* the square of that */
  GPNN_SCALE_FEATURES
};

/* The scale of the predictive distribution; zeroed: that of the model. */
struct gpnn_scale {
  double factor; /* > 0: multiplies the squared scale of every row; 0: not recorded, so 1 */
  struct gpnn_scale_term {
    double coefficient; /* of the feature in the log of the squared scale; 0: not used */
    double low, high;   /* range that the feature is clipped to */
  } term[GPNN_SCALE_FEATURES];
  double low, high; /* range that the sum of the terms is clipped to; equal: any */
};

/* A number that many targets are exactly (likelihood/atom.h); zeroed: there is none. */
struct gpnn_atom {
  double value;            /* in the units of the table */
  double share;            /* > 0: of the training targets that are this number; 0: there is none */
  double intercept, slope; /* of the logit of its probability at a row, in the logit of its share
                              among the row's neighbours */
  double power; /* from 0 to 1: of one over the probability of other numbers, by which the
                   difference of the predicted mean from the atom is multiplied for them */
};

/* The link from the latent function to the probabilities of classes (likelihood/categorical.h);
 * zeroed: there is none. */
struct gpnn_link {
  double slope;    /* > 0: of the logits in the share of a class among the neighbours */
  double evidence; /* > 0: of the logits in the logarithm of that share */
  double floor;    /* > 0: the share that counts where no neighbour is of the class */
  double spread;   /* > 0: how far uncertainty of the latent function draws logits to the biases */
  size_t n_bias;   /* classes */
  double *bias;    /* owned; n_bias: the logits far from all training rows */
};

/* The process of data on a grid (kernel/factor.h), whose kernel scale and noise are those of the
 * covariance, which has nothing else; zeroed: the data are rows. */
struct gpnn_grid_process {
  size_t n_factors;           /* of the grid; 0: it is none */
  struct gpnn_factor *factor; /* owned; n_factors, in the order of the grid's */
  size_t mean_factor;  /* 1 + the factor whose levels have means of their own, which are removed
                          before and put back; 0: none has */
  size_t noise_factor; /* 1 + the factor whose levels have noise variances of their own; 0: none,
                          and 'noise' of the covariance is that of every cell */
  size_t n_noise;
  double *noise; /* owned; n_noise, > 0: of each level, in place of that of the covariance */
};

/* Where parameters come from; zeroed: not known. */
struct gpnn_provenance {
  size_t fit_rows; /* how many training rows they were estimated from; 0: not known */
  struct gpnn_estimation estimation;
  bool has_index;
  uint64_t index; /* fingerprint of the index they were made from */
  char *comments; /* owned; "# ..." lines to write below the first, or NULL */
};

/*
 * A model's parameters: the model itself, its calibration, its provenance.  A zeroed object is
 * empty and may be released.
 *
 * The parameters of a stack have several members, whose predictions are averaged by weight
 * (models/stack/stack.h).  The structure itself is the first member; 'members' are the others, each
 * with its own covariance, mean, neighbours, weight and provenance.  What concerns the stack as a
 * whole is in the first: the target, the degrees of freedom and the calibration.
 */
struct gpnn_parameters {
  char *target; /* owned; the name of the target that they belong to; NULL: the only one */
  enum gpnn_family family;
  size_t n_sight;       /* 0, or the inputs of the index: */
  unsigned char *sight; /* owned; n_sight: how the process sees them (enum gpnn_sight), and so what
                           everything below is about; NULL: as they are */
  struct gpnn_covariance covariance;
  struct gpnn_grid_process grid;
  struct gpnn_mean_function mean;
  struct gpnn_effects effects; /* of groups, besides the process */
  enum gpnn_likelihood likelihood;
  struct gpnn_scale scale;       /* unless the likelihood is Gaussian; of counts only its factor */
  struct gpnn_atom atom;         /* under a scale that is not of counts; it is then the law of the
                                    rows that are not at the atom */
  enum gpnn_inference inference; /* if the likelihood is categorical */
  struct gpnn_link link;         /* under GPNN_INFERENCE_LINK */
  struct gpnn_omega omega;       /* under GPNN_INFERENCE_POLYA_GAMMA */
  double dispersion; /* > 0: of negative binomial counts (likelihood/count.h); 0: none */
  double degrees;    /* > 2: degrees of freedom of the predictive distribution, a Student t; 0:
                        it is Gaussian */
  size_t neighbours; /* m >= 1; 0 of a grid, and of a family that has none */
  struct gpnn_transform transform; /* of the target, to which everything above belongs */
  struct gpnn_calibration calibration;
  struct gpnn_provenance provenance;
  double weight;                   /* of this member of a stack, > 0; 0: it is the only one */
  size_t n_members;                /* besides the first; 0: there is no other */
  struct gpnn_parameters *members; /* owned; n_members of them, which have no members themselves */
};

/*
 * Reads parameters from 'path' ("-": standard input): those of one target, or of several one after
 * another, each beginning with a line that names its target.  Further members of a target follow
 * it, each beginning with a line that numbers it.  '*params' is an array of '*n' >= 1, in the order
 * of the text, to be freed with gpnn_parameters_free(); after a failure neither is set.
 *
 * Lines may come in any order.  Kernel, lengthscale, kernelscale and noise are required; neighbours
 * are 400 if the line is missing.  Blank lines are ignored.  The first 100 lines of a target that
 * begin with # are kept as comments, cut to 500 bytes and without blanks at their ends; but a first
 * line that names a later version of the format is refused (GPNN_EVERSION).
 *
 * GPNN_EDATA, with "path:line: ..." or, if it concerns no single line, "path: ...": empty input, a
 * table instead of parameters, a NUL byte, an unknown or repeated name, a missing line, a target
 * that comes twice, a value out of range, values that contradict each other, more than
 * GPNN_MOST_MEMBERS members, weights that do not sum to 1 (but for the rounding of three digits),
 * members made from different indexes, more than 16 MiB.
 * GPNN_EMISMATCH: an index or another binary file of gpnn's instead of parameters or a state.
 *
 * 'path' may also be an index that parameters were packed with (dataset/index/index.h), which are
 * then those; further outcomes: those of gpnn_index_open().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read(struct gpnn_parameters **params, size_t *n,
                                                      const char *path, struct gpnn_error *err);

/*
 * The same, where 'path' may also hold a state (container/state.h), with which the text comes in
 * one file: then '*state' is that, to be freed with gpnn_state_free(), and otherwise NULL.  Further
 * outcomes: those of gpnn_state_read().  gpnn_parameters_read() itself also reads such files, but
 * forgets the state.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_with_state(struct gpnn_parameters **params,
                                                                 size_t *n,
                                                                 struct gpnn_state **state,
                                                                 const char *path,
                                                                 struct gpnn_error *err);

/* The same of 'length' bytes in memory, aligned as by malloc(), which messages call 'name'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_bytes(struct gpnn_parameters **params,
                                                            size_t *n, struct gpnn_state **state,
                                                            const char *name, const void *bytes,
                                                            size_t length, struct gpnn_error *err);

/* The same for parameters of one target, into a structure that must be zeroed and stays so after a
 * failure.  GPNN_EMISMATCH: there are several targets.  Release it with gpnn_parameters_release().
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_one(struct gpnn_parameters *params,
                                                          const char *path, struct gpnn_error *err);

/* GPNN_EDATA if a target of this name could not be read back: the name is empty, contains a line
 * end, or has a blank at either end. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check_target(const char *name,
                                                              struct gpnn_error *err);

/*
 * Writes the parameters of 'n' >= 1 targets so that reading them gives exactly the same values.
 *
 *   GPNN_EINVAL  one of several has no target's name, or that of another; nothing is written
 *   GPNN_EDATA   as gpnn_parameters_check_target(), or a factor of a grid has no name that
 *                gpnn_parameters_can_name_factor(); nothing is written
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_write(const struct gpnn_parameters *params,
                                                       size_t n, struct gpnn_output *output,
                                                       struct gpnn_error *err);

/* The same together with a state, as one file; NULL: there is none, and text is written. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_with_state(const struct gpnn_parameters *params, size_t n,
                                 const struct gpnn_state *state, struct gpnn_output *output,
                                 struct gpnn_error *err);

/* ---- of a model file ---------------------------------------------------------------------- */

/* The same as gpnn_parameters_read() of 'length' bytes of text in memory, which messages call
 * 'name'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_text(struct gpnn_parameters **params,
                                                           size_t *n, const char *name,
                                                           const char *text, size_t length,
                                                           struct gpnn_error *err);

/*
 * Reads a calibration alone from 'path': a text of parameters with nothing but the lines that
 * calibration writes, and 'index', for each target of a model file.  It replaces that of 'params'
 * ('n', with families), whose kernel scale and noise variance its factor multiplies.
 *
 * Outcomes as for gpnn_parameters_read(), and GPNN_EDATA: it has another line; GPNN_EMISMATCH: it
 * is of other targets.  After a failure 'params' may have the calibration of some targets.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_read_calibration(struct gpnn_parameters *params,
                                                                  size_t n, const char *path,
                                                                  struct gpnn_error *err);

/* Reads the same without a model to give it to, as gpnn_parameters_read(): what
 * gpnn_parameters_write_calibration() can write. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_read_calibration_alone(struct gpnn_parameters **params, size_t *n, const char *path,
                                       struct gpnn_error *err);

/* Forgets how parameters were calibrated, for a model that is made from them but predicts
 * otherwise: its variances are as they are, and its likelihood is that of parameters not calibrated
 * yet. */
void gpnn_parameters_forget_calibration(struct gpnn_parameters *params);

/* Writes the calibration alone of 'n' >= 1 targets, with their comments; outcomes as for
 * gpnn_parameters_write(). */
GPNN_MUST_CHECK enum gpnn_status
gpnn_parameters_write_calibration(const struct gpnn_parameters *params, size_t n,
                                  struct gpnn_output *output, struct gpnn_error *err);

/* ---- what belongs to parameters ------------------------------------------------------------ */

/* Adds the omega of parameters to a state, if they were learnt, so that they are read again with
 * them.  GPNN_ENOMEM: nothing is added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_store_omega(const struct gpnn_parameters *params,
                                                             struct gpnn_state *state,
                                                             struct gpnn_error *err);

/* Likewise where effects lie. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_store_effects(const struct gpnn_parameters *params,
                                                               struct gpnn_state *state,
                                                               struct gpnn_error *err);

/* Adds one comment, which gpnn_parameters_write() writes as a line: its text without "# " and line
 * end, formatted as by printf() and cut to 508 bytes.  GPNN_ENOMEM: nothing is added. */
GPNN_PRINTF(3, 4)
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_comment(struct gpnn_parameters *params,
                                                         struct gpnn_error *err, const char *format,
                                                         ...);

/*
 * Checks that parameters, with all their members, fit a dataset.  GPNN_EMISMATCH: they have the
 * wrong number of lengthscales or coefficients, a rotation of the wrong size, were made from an
 * index of other columns or scaling, are of classes where the target is a number, of others than
 * the target has, or of a number where it holds classes; or they are of a grid where the dataset is
 * rows, of rows where it is a grid, or of a grid with other factors; or they have a family where it
 * is no model file's, or none where it is.  An index of other rows that are scaled alike is as good
 * as their own.  On success '*other_model' says whether they calibrate another model file, which
 * deserves a warning.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check(const struct gpnn_parameters *params,
                                                       const struct gpnn_dataset *dataset,
                                                       bool *other_model, struct gpnn_error *err);

/* "collapsed", "svgp", "diag", "tucker", "augmented": as the line of the text has it; NULL of none.
 */
const char *gpnn_parameters_family_name(enum gpnn_family family);

/* GPNN_EMISMATCH: the parameters are of a grid, where those of rows are needed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_check_rows(const struct gpnn_parameters *params,
                                                            struct gpnn_error *err);

/* True if parameters with these values can be read back: the kernel scale is positive, the noise
 * not negative, and their sum finite. */
bool gpnn_parameters_can_have(double kernelscale, double noise);

/* ---- grids -------------------------------------------------------------------------------- */

/* Bytes of a factor's name, without its NUL; the rule as messages state it. */
enum { GPNN_FACTOR_NAME_BYTES = 32 };
#define GPNN_FACTOR_NAME_RULE \
  "the name of a factor is 1 to 32 letters, digits, - and _, and not that of a line of parameters"

/* True if a factor may be called 'name' in the text of parameters. */
bool gpnn_parameters_can_name_factor(const char *name);

/* The numbers that gpnn_parameters_grid_set() has set. */
struct gpnn_grid_numbers {
  size_t factor;    /* whose they are, from 0; GPNN_GRID_FACTORS: "kernelscale" or "noise" of all */
  const char *name; /* "lengthscale", "period" and so on, as gpnn_factor_coordinate_name() says;
                       static text */
  size_t first, n;  /* among the numbers of that name, in the order of the factor's coordinates */
};

/*
 * Sets numbers of the parameters of a grid, as --guess and --fix name them: 'name' is that of a
 * line ("time.period", "kernelscale"), which means all its numbers, or with ":K" the K-th of them,
 * from 1 ("site.lengthscale:2"); 'value' is one number for all that are meant, or one for each,
 * separated by commas.  '*set' says which they are; it may be NULL.
 *
 * GPNN_EINVAL: the process has no such number, the wrong number of values, or a value out of range,
 * as a negative period; nothing has been set.  GPNN_ENOMEM.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_grid_set(struct gpnn_parameters *params,
                                                          const char *name, const char *value,
                                                          struct gpnn_grid_numbers *set,
                                                          struct gpnn_error *err);

/* Deep copy into 'to', which must be zeroed and stays so after GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_grid_copy(struct gpnn_grid_process *to,
                                                           const struct gpnn_grid_process *from,
                                                           struct gpnn_error *err);
void gpnn_parameters_grid_release(struct gpnn_grid_process *grid);

/* ---- members ------------------------------------------------------------------------------ */

/* How many members there are, the first included. */
size_t gpnn_parameters_n_members(const struct gpnn_parameters *params);

/* Member 'k', counted from 0: the first is 'params' itself. */
const struct gpnn_parameters *gpnn_parameters_member(const struct gpnn_parameters *params,
                                                     size_t k);

/* Member 'k' as the only one there is, under the likelihood of all.  What it points to belongs to
 * 'params'. */
struct gpnn_parameters gpnn_parameters_alone(const struct gpnn_parameters *params, size_t k);

/* The weight of member 'k' divided by the sum of all weights, which rounding or an editor may have
 * left a little off 1; exactly 1 for an only member. */
double gpnn_parameters_weight(const struct gpnn_parameters *params, size_t k);

/* The noise variance of an observation: the weighted mean of the members' noise variances
 * (gpnn-methods(7), equation 5.8). */
double gpnn_parameters_noise(const struct gpnn_parameters *params);

/* Changes the units of a target: what was z in 'params', which have no further members, becomes
 * centre
 * + unit z.  A mean of zero becomes a constant one, unless it is still zero.  GPNN_ENOMEM: nothing
 * has changed. */
GPNN_MUST_CHECK enum gpnn_status gpnn_parameters_change_units(struct gpnn_parameters *params,
                                                              double centre, double unit,
                                                              struct gpnn_error *err);

/* Lets every member predict from 'neighbours' rows. */
void gpnn_parameters_set_neighbours(struct gpnn_parameters *params, size_t neighbours);

/* Keeps the first member only. */
void gpnn_parameters_drop_members(struct gpnn_parameters *params);

/* True if there are effects of groups and a process that is next to nothing beside the noise. */
bool gpnn_parameters_lack_process(const struct gpnn_parameters *params);

/* True if the mean function of any member depends on regressors. */
bool gpnn_parameters_use_regressors(const struct gpnn_parameters *params);

/* ---- release ------------------------------------------------------------------------------ */

/* Frees what one structure owns and zeroes it. */
void gpnn_parameters_release(struct gpnn_parameters *params);

/* Releases each of an array of 'n' and frees the array; NULL is allowed. */
void gpnn_parameters_free(struct gpnn_parameters *params, size_t n);

#ifdef __cplusplus
}
#endif

#endif
