/*
 * fit: gpnn-fit, from its arguments to its output.
 */
#ifndef GPNN_CMD_FIT_FIT_H
#define GPNN_CMD_FIT_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/common/cli.h"
#include "dataset/index/index.h"
#include "dataset/transformed.h"
#include "estimate/choose.h"
#include "estimate/choose_transform.h"
#include "models/conjugate/conjugate.h"

struct gpnn_state;

enum fit_preset { FIT_NO_PRESET, FIT_PAPER };
enum fit_method { FIT_LOCAL, FIT_CONJUGATE };
enum fit_ard { FIT_ARD_AUTO, FIT_ARD_YES, FIT_ARD_NO };
enum fit_omega { FIT_OMEGA_LEARNT, FIT_OMEGA_FIXED };
enum fit_row_weights { FIT_ROW_WEIGHTS_NO, FIT_ROW_WEIGHTS_AUTO, FIT_ROW_WEIGHTS_YES };
enum fit_lengthscales { FIT_SHARED, FIT_RATIO, FIT_OWN };
enum {
  FIT_ROTATE_AUTO = -1,
  FIT_LIKELIHOOD_AUTO = -1,
  FIT_TRANSFORM_AUTO = -1,
  FIT_SCORES_AUTO = -1
};

/* What to fit to in place of the rows of an index. */
struct fit_rows {
  const struct gpnn_dataset *dataset;
  size_t n_all; /* rows that they were drawn from */
};

/* Strings are those of the command line; NULL: not given. */
struct fit_arguments {
  enum fit_preset preset;
  enum fit_method method;
  const char *kernel, *like, *start;
  int likelihood; /* an enum gpnn_likelihood, or FIT_LIKELIHOOD_AUTO */
  enum fit_ard ard;
  int rotate;       /* an enum gpnn_rotate, or FIT_ROTATE_AUTO */
  int input_scores; /* an enum gpnn_sight, or FIT_SCORES_AUTO */
  const char *transform_name;
  int transform; /* fit_resolve(): an enum gpnn_transform_kind, or FIT_TRANSFORM_AUTO */
  enum fit_lengthscales lengthscales;
  size_t neighbours, k;  /* 0: auto */
  size_t batch, refresh; /* as in struct gpnn_fit_options; 0: the method's own */
  struct cli_choices objectives;
  enum gpnn_inference inference;
  enum fit_omega omega; /* this and 'kl_weight' are for Polya-Gamma variables */
  const char *kl_weight_text;
  double kl_weight; /* fit_resolve(): as in struct gpnn_polya_gamma_options */
  size_t n_folds;   /* this and 'score' are for the conjugate model */
  enum gpnn_conjugate_score score;
  enum fit_row_weights row_weights;
  double dispersion;                 /* of negative binomial counts, fixed; 0: free */
  struct gpnn_choose_options choose; /* completed by fit_resolve(), except for the threads */
  bool is_shared;                    /* fit_resolve(): one set of lengthscales for all targets */
  const struct fit_rows *rows;       /* borrowed; NULL: those of the index that is the operand */
};

#define FIT_ARGUMENTS_INIT                                                                         \
  {                                                                                                \
    .likelihood = FIT_LIKELIHOOD_AUTO, .rotate = FIT_ROTATE_AUTO, .input_scores = FIT_SCORES_AUTO, \
    .k = 32, .n_folds = 5, .choose = {                                                             \
      .fit = GPNN_FIT_OPTIONS_INIT,                                                                \
      .sample_rows = GPNN_CHOOSE_SAMPLE,                                                           \
      .last_sample_rows = GPNN_CHOOSE_LAST_SAMPLE,                                                 \
      .effort = GPNN_EFFORT_NORMAL,                                                                \
      .members = GPNN_CHOOSE_MEMBERS                                                               \
    }                                                                                              \
  }

/* The options of gpnn-fit, for arguments that begin with struct fit_arguments. */
extern const struct cli_tool fit_tool;

/* ---- fit.c --------------------------------------------------------------------------------- */

/* Fits: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status fit_run(const struct cli *cli, void *arguments,
                                         struct gpnn_error *err);

/* Fits target 't' of 'dataset', a number, choosing whatever was left open. */
GPNN_MUST_CHECK enum gpnn_status fit_numbers(const struct cli *cli, const struct fit_arguments *a,
                                             const struct gpnn_dataset *dataset, size_t t,
                                             struct gpnn_parameters *params,
                                             struct gpnn_error *err);

/* ---- grouped.c ----------------------------------------------------------------------------- */

/* Fits target 't' of 'dataset', whose groups have effects, and adds these and the pseudo-targets
 * without them to 'state'. */
GPNN_MUST_CHECK enum gpnn_status fit_grouped(const struct cli *cli, const struct fit_arguments *a,
                                             const struct gpnn_dataset *dataset, size_t t,
                                             struct gpnn_state *state,
                                             struct gpnn_parameters *params,
                                             struct gpnn_error *err);

/* ---- options.c ----------------------------------------------------------------------------- */

/* Checks and completes the arguments: a struct cli_tool's 'resolve'. */
bool fit_resolve(const struct cli *cli, void *arguments);

/* Reads the parameters of --start into a zeroed structure.  Outcomes of gpnn_parameters_read_one();
 * GPNN_EMISMATCH: they are of a grid. */
GPNN_MUST_CHECK enum gpnn_status fit_read_start(const struct fit_arguments *a,
                                                struct gpnn_parameters *start,
                                                struct gpnn_error *err);

/* Fits the model of 'start', unless another was asked for.  'start' is borrowed as long as
 * a->choose is in use. */
void fit_start(const struct cli *cli, struct fit_arguments *a, const struct gpnn_parameters *start);

/* True if the likelihood asked for is one of counts. */
bool fit_asks_for_counts(const struct fit_arguments *a);

/* True if any target of 'dataset' holds classes. */
bool fit_labels_any(const struct gpnn_dataset *dataset);

/* GPNN_EINVAL, with what to do instead, if the options ask for what cannot be done with one of the
 * targets: a likelihood of numbers for classes, or the reverse, or options of the one for the
 * other.
 */
GPNN_MUST_CHECK enum gpnn_status fit_labels_check(const struct cli *cli,
                                                  const struct fit_arguments *a,
                                                  const struct gpnn_dataset *dataset,
                                                  struct gpnn_error *err);

/* ---- report.c ------------------------------------------------------------------------------ */

/* The context of fit_report_try(); 'cli' is borrowed. */
struct fit_report_tries {
  const struct cli *cli;
  size_t n, most; /* candidates tried so far, and at most in all */
};

/* With --verbose, prints a line per candidate: a gpnn_choose_listener. */
void fit_report_try(void *context, const struct gpnn_candidate *candidate);

/* How many rows there are that 'dataset' stands for. */
size_t fit_n_rows(const struct fit_arguments *a, const struct gpnn_dataset *dataset);

/*
 * Records in parameters which index they belong to, and adds comments for readers; 'view' is that
 * of the target that they were fitted to, to rows of 'n' in all.  Errors: GPNN_ENOMEM, with some of
 * this done.
 */
GPNN_MUST_CHECK enum gpnn_status fit_report_annotate(struct gpnn_parameters *params,
                                                     const struct gpnn_dataset *view, size_t n,
                                                     const struct gpnn_choose_report *report,
                                                     struct gpnn_error *err);

/* Warns about what makes params[n], of 'n' targets, doubtful; with --verbose, also reports how they
 * were found.  'thin' is as in struct gpnn_fit_options. */
void fit_report_found(const struct cli *cli, size_t n, const struct gpnn_parameters *params,
                      double thin, const struct gpnn_fit_report *fit);

/* With --verbose, says what several members gain and cost, if there are several. */
void fit_report_stack(const struct cli *cli, const struct gpnn_choose_stack *stack);

/* ---- the report as JSON, if there is one ----------------------------------------------------- */

/* Around what is reported of all targets; there are 'n' rows. */
void fit_report_open(const struct cli *cli, const struct gpnn_dataset *dataset, size_t n);
void fit_report_close(const struct cli *cli);

/* Begins with the names of the 'n' targets from 'first' on and the list of what was tried, which
 * candidates and transforms are then added to; then comes the result; then the end. */
void fit_report_begin(const struct cli *cli, const struct gpnn_dataset *dataset, size_t first,
                      size_t n);
void fit_report_tried_transform(const struct cli *cli,
                                const struct gpnn_transform_candidate *candidate);
void fit_report_end_tried(const struct cli *cli);
/* 'params' are those of the first target. */
void fit_report_result(const struct cli *cli, const struct gpnn_parameters *params,
                       const struct gpnn_choose_report *result);
void fit_report_end(const struct cli *cli);

/* ---- transforms.c -------------------------------------------------------------------------- */

/* A zeroed object may be released. */
struct fit_transforms {
  const struct gpnn_dataset *dataset;   /* borrowed: the targets as they are */
  struct gpnn_transformed *transformed; /* owned; NULL: no target is */
  size_t first, n;                      /* the targets concerned */
  struct gpnn_transform *of;            /* owned; of all targets; the kind none: not transformed */
};

/* Fits and applies transforms of the kind that the arguments say to the 'n' targets from 'first'
 * on. 'transforms' must be zeroed; the caller releases it, also after a failure. */
GPNN_MUST_CHECK enum gpnn_status fit_transforms_set(struct fit_transforms *transforms,
                                                    const struct fit_arguments *a,
                                                    const struct gpnn_dataset *dataset,
                                                    size_t first, size_t n, struct gpnn_error *err);

/* Lets '*dataset' see its inputs as parameters (n) of it do, which then see them alike; '*seen'
 * owns what it is then, to be freed after its last use, and stays NULL where nothing changes. */
GPNN_MUST_CHECK enum gpnn_status fit_see_as(size_t n, struct gpnn_parameters *params,
                                            const struct gpnn_dataset **dataset,
                                            struct gpnn_transformed **seen, struct gpnn_error *err);

/* The same with kinds that are chosen, given the parameters of these targets as they are. */
GPNN_MUST_CHECK enum gpnn_status
fit_transforms_choose(struct fit_transforms *transforms, const struct cli *cli,
                      const struct fit_arguments *a, const struct gpnn_dataset *dataset,
                      size_t first, size_t n, const struct gpnn_parameters *params,
                      struct gpnn_error *err);

/* Decides whether the parameters of transformed targets ('with') predict better than those of the
 * targets as they are ('without'), on the average over the targets that are transformed, and says
 * so in a comment of either. */
GPNN_MUST_CHECK enum gpnn_status
fit_transforms_compare(const struct fit_transforms *transforms, const struct cli *cli,
                       const struct fit_arguments *a, struct gpnn_parameters *without,
                       struct gpnn_parameters *with, bool *pays, struct gpnn_error *err);

/* Records the transforms in the parameters of the targets. */
void fit_transforms_record(const struct fit_transforms *transforms, struct gpnn_parameters *params);

void fit_transforms_release(struct fit_transforms *transforms);

/* ---- labels.c ------------------------------------------------------------------------------ */

/* Fits target 'target' of 'dataset', which holds classes, choosing whatever was left open. */
GPNN_MUST_CHECK enum gpnn_status fit_labels(const struct cli *cli, const struct fit_arguments *a,
                                            const struct gpnn_dataset *dataset, size_t target,
                                            struct gpnn_parameters *params, struct gpnn_error *err);

/* ---- counts.c: regression on pseudo-targets ------------------------------------------------ */

/*
 * Fits the parameters of target 't' of 'dataset', and adds its pseudo-targets to 'state'.
 * GPNN_EDATA: its values are not counts; then '*is_counts' is false, and otherwise true.
 */
GPNN_MUST_CHECK enum gpnn_status fit_counts(const struct cli *cli, const struct fit_arguments *a,
                                            const struct gpnn_dataset *dataset, size_t t,
                                            struct gpnn_state *state,
                                            struct gpnn_parameters *params, bool *is_counts,
                                            struct gpnn_error *err);

/* ---- methods.c: those with an estimation of their own -------------------------------------- */

/* Fits target 'target' of an index, 'rows'.  Of a->choose only the kernel, the neighbours, the mean
 * and the start are used, if they were given. */
GPNN_MUST_CHECK enum gpnn_status fit_conjugate(const struct cli *cli, const struct fit_arguments *a,
                                               const struct gpnn_dataset *rows, size_t target,
                                               struct gpnn_parameters *params,
                                               struct gpnn_error *err);

/* Fits the classes of target 'target' of the index, reports how, and adds omega to 'state' if it is
 * learnt.  'params' is zeroed. */
GPNN_MUST_CHECK enum gpnn_status
fit_polya_gamma(const struct cli *cli, const struct fit_arguments *a,
                const struct gpnn_dataset *rows, size_t target, struct gpnn_state *state,
                struct gpnn_parameters *params, struct gpnn_error *err);

#endif
