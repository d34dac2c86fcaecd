#include "cmd/fit/fit.h"

#include <string.h>
#include <unistd.h>

#include "base/number.h"

static bool wrong(const struct cli *cli, const char *option, const char *allowed)
{
  return cli_refuse(cli, "option --%s: %s", option, allowed);
}

/* The published method: one lengthscale, Adam, 10 blocks of 300, 400 neighbours. */
static bool apply_preset(const struct cli *cli, struct fit_arguments *a)
{
  enum { PAPER_NEIGHBOURS = 400 };
  if (a->preset == FIT_NO_PRESET) return true;
  if (cli_given_of(cli, "ard,optimizer,objective,rotate") != NULL)
    return wrong(cli, "preset", "paper already sets --ard no, --optimizer adam, --objective block");
  a->ard = FIT_ARD_NO;
  if (a->likelihood == FIT_LIKELIHOOD_AUTO) a->likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  a->choose.fit.optimizer = GPNN_OPTIMIZER_ADAM;
  a->objectives = (struct cli_choices){1, {GPNN_OBJECTIVE_BLOCK}};
  a->rotate = GPNN_ROTATE_NONE;
  if (a->input_scores == FIT_SCORES_AUTO) a->input_scores = GPNN_SIGHT_VALUE;
  if (a->kernel == NULL) a->kernel = "rbf";
  if (a->neighbours == 0) a->neighbours = PAPER_NEIGHBOURS;
  return true;
}

static bool resolve_model(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->kernel = a->kernel == NULL || strcmp(a->kernel, "auto") == 0;
  choose->ard = a->ard == FIT_ARD_AUTO;
  choose->fit.ard = a->ard != FIT_ARD_NO;
  if (choose->budget > 0 && (a->neighbours > 0 || a->start != NULL))
    return wrong(cli, "budget",
                 "bounds what --neighbours auto tries, without --preset and --start");
  if (choose->effort == GPNN_EFFORT_THOROUGH && !cli_given(cli, "members"))
    choose->members = GPNN_CHOOSE_MOST_MEMBERS;
  choose->neighbours = a->neighbours == 0;
  if (!choose->neighbours) choose->fit.neighbours = a->neighbours;
  choose->likelihood = a->likelihood == FIT_LIKELIHOOD_AUTO ? GPNN_LIKELIHOOD_LOCAL
                                                            : (enum gpnn_likelihood)a->likelihood;
  choose->rotation = a->rotate == FIT_ROTATE_AUTO;
  if (!choose->rotation) choose->rotate = (enum gpnn_rotate)a->rotate;
  choose->scores = a->input_scores == FIT_SCORES_AUTO;
  return choose->kernel ||
         gpnn_kernel_parse(a->kernel, &choose->fit.kernel, &choose->fit.smoothness) ||
         wrong(cli, "kernel",
               "auto, exp, matern32, matern52, rbf or matern:NU, as in matern:1.2, NU up to 100");
}

/* Adam over blocks is the published one, which has a start of its own. */
static bool check_start(const struct cli *cli, const struct fit_arguments *a)
{
  const struct gpnn_choose_options *choose = &a->choose;
  bool by_block = choose->objective ? choose->effort == GPNN_EFFORT_FAST
                                    : choose->fit.first == GPNN_OBJECTIVE_BLOCK;
  if (choose->fit.optimizer == GPNN_OPTIMIZER_ADAM && a->start != NULL && by_block)
    return wrong(cli, "start", "adam over blocks always starts where the paper does");
  return true;
}

static bool resolve_estimation(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  const struct cli_choices *objectives = &a->objectives;
  a->choose.k = a->k == 0;
  if (a->k > 0) fit->k = a->k;
  a->choose.objective = objectives->n == 0;
  if (objectives->n > 0) fit->first = (enum gpnn_objective_kind)objectives->of[0];
  if (objectives->n > 1) fit->second = (enum gpnn_objective_kind)objectives->of[1];
  if (a->batch > 0) fit->batch = a->batch;
  if (a->refresh > 0) fit->refresh = a->refresh;
  fit->seed = cli->seed;
  return check_start(cli, a);
}

/* --method conjugate estimates in its own way, to which these options do not apply. */
static bool check_conjugate(const struct cli *cli, const struct fit_arguments *a)
{
  if (a->method != FIT_CONJUGATE) return true;
  const char *other = cli_given_of(
      cli, "preset,objective,optimizer,rotate,like,fix,likelihood,budget,members,transform");
  if (other != NULL) return wrong(cli, other, "applies to --method local only");
  return a->ard != FIT_ARD_YES || wrong(cli, "ard", "applies to --method local only");
}

/* What the divergence of a row weighs. */
static bool resolve_kl_weight(const struct cli *cli, struct fit_arguments *a)
{
  const char *text = a->kl_weight_text;
  double weight = 1;
  bool is_printed = text != NULL && strcmp(text, "printed") == 0;
  if (text != NULL && !is_printed &&
      (gpnn_number_read(text, strlen(text), &weight) != GPNN_NUMBER_OK || weight <= 0))
    return wrong(cli, "kl-weight", "a number above 0, or printed");
  a->kl_weight = is_printed ? 0 : weight;
  return true;
}

/* So does --inference polya-gamma, as published. */
static bool check_inference(const struct cli *cli, const struct fit_arguments *a)
{
  bool is_polya_gamma = a->inference == GPNN_INFERENCE_POLYA_GAMMA;
  const char *misplaced = cli_given_of(
      cli, is_polya_gamma ? "preset,method,effort,objective,optimizer,objective-neighbours,"
                            "rotate,like,budget,members,transform,thin,rows,lengthscales"
                          : "omega,kl-weight");
  if (misplaced != NULL)
    return wrong(cli, misplaced,
                 is_polya_gamma ? "does not apply to --inference polya-gamma"
                                : "applies to --inference polya-gamma only");
  if (is_polya_gamma && a->choose.fit.mean != GPNN_MEAN_ZERO)
    return wrong(cli, "mean-function", "--inference polya-gamma has a mean of zero");
  if (is_polya_gamma && a->choose.fit.fixed_noise > 0)
    return wrong(cli, "fix", "--inference polya-gamma has no noise");
  if (is_polya_gamma && a->omega == FIT_OMEGA_LEARNT && strcmp(cli->output, "-") == 0 &&
      isatty(STDOUT_FILENO))
    return wrong(cli, "omega",
                 "what is learnt has numbers for every row, which a terminal cannot show: give -o "
                 "FILE, or a pipe");
  return true;
}

/* True if a transform may be chosen although none was asked for: with much effort, and where no
 * other option means the target as it is. */
static bool is_transform_open(const struct cli *cli, const struct fit_arguments *a)
{
  return a->choose.effort == GPNN_EFFORT_THOROUGH && a->preset == FIT_NO_PRESET &&
         a->method == FIT_LOCAL && a->inference == GPNN_INFERENCE_LINK &&
         a->choose.likelihood == GPNN_LIKELIHOOD_LOCAL &&
         cli_given_of(cli, "start,like,mean-function,fix,row-weights") == NULL;
}

static bool resolve_transform(const struct cli *cli, struct fit_arguments *a)
{
  enum gpnn_transform_kind kind = GPNN_TRANSFORM_NONE;
  const char *name = a->transform_name;
  bool is_auto = name == NULL ? is_transform_open(cli, a) : strcmp(name, "auto") == 0;
  if (name != NULL && !is_auto && !gpnn_transform_by_name(name, &kind))
    return wrong(cli, "transform", "none, log, asinh, boxcox, yeo-johnson, rank or auto");
  a->transform = is_auto ? FIT_TRANSFORM_AUTO : (int)kind;
  return true;
}

/* What several targets share. */
static bool resolve_lengthscales(const struct cli *cli, struct fit_arguments *a)
{
  static const char option[] = "lengthscales";
  a->choose.fit.same_ratio = a->lengthscales == FIT_RATIO;
  if (a->choose.fit.same_ratio && a->choose.fit.fixed_noise > 0)
    return wrong(cli, option, "ratio determines the noise, so that --fix cannot");
  if (a->method == FIT_CONJUGATE && cli_given(cli, option) && a->lengthscales != FIT_OWN)
    return wrong(cli, option, "shared and ratio apply to --method local only");
  a->is_shared = a->lengthscales != FIT_OWN && a->method != FIT_CONJUGATE &&
                 a->inference != GPNN_INFERENCE_POLYA_GAMMA;
  return true;
}

bool fit_asks_for_counts(const struct fit_arguments *a)
{
  return a->likelihood != FIT_LIKELIHOOD_AUTO &&
         gpnn_likelihood_is_of_counts((enum gpnn_likelihood)a->likelihood);
}

/* Refuses to write numbers for every row to a terminal. */
static bool check_terminal(const struct cli *cli)
{
  if (strcmp(cli->output, "-") != 0 || !isatty(STDOUT_FILENO)) return true;
  return cli_refuse(cli,
                    "these parameters come with numbers for every row, which a terminal cannot "
                    "show: give -o FILE, or a pipe");
}

/* Checks the options that counts do not take, and where the result goes. */
static bool resolve_counts(const struct cli *cli, struct fit_arguments *a)
{
  if (a->dispersion > 0 && a->likelihood != GPNN_LIKELIHOOD_NEGBIN)
    return cli_refuse(cli, "option --fix: a dispersion needs --likelihood negbin");
  if (!fit_asks_for_counts(a)) return true;
  const char *other = cli_given_of(cli, "preset,method,transform,lengthscales,members");
  if (other != NULL)
    return cli_refuse(cli, "option --%s does not apply to the likelihoods of counts", other);
  a->is_shared = false;
  return check_terminal(cli);
}

/* Checks that the weights are not asked for where there are none. */
static bool resolve_row_weights(const struct cli *cli, const struct fit_arguments *a)
{
  static const char option[] = "option --row-weights:";
  if (a->row_weights == FIT_ROW_WEIGHTS_NO) return true;
  if (a->choose.likelihood != GPNN_LIKELIHOOD_LOCAL &&
      a->choose.likelihood != GPNN_LIKELIHOOD_STUDENT)
    return cli_refuse(cli, "%s only with --likelihood local or student", option);
  if (a->transform != GPNN_TRANSFORM_NONE || a->method != FIT_LOCAL)
    return cli_refuse(cli, "%s not with --transform, nor with --method conjugate", option);
  return check_terminal(cli);
}

bool fit_resolve(const struct cli *cli, void *arguments)
{
  struct fit_arguments *a = arguments;
  const char *misplaced = a->like == NULL ? cli_misplaced(cli, CLI_OF_TABLE | CLI_OF_TEXT) : NULL;
  if (misplaced != NULL)
    return wrong(cli, misplaced, "applies to the rows of a TABLE: give --like");
  return check_conjugate(cli, a) && check_inference(cli, a) && resolve_kl_weight(cli, a) &&
         apply_preset(cli, a) && resolve_model(cli, a) && resolve_estimation(cli, a) &&
         resolve_transform(cli, a) && resolve_lengthscales(cli, a) && resolve_counts(cli, a) &&
         resolve_row_weights(cli, a) &&
         cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->like);
}

enum gpnn_status fit_read_start(const struct fit_arguments *a, struct gpnn_parameters *start,
                                struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_parameters_read_one(start, a->start, err);
  if (status != GPNN_OK) return status;
  status = gpnn_parameters_check_rows(start, err);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", a->start);
}

void fit_start(const struct cli *cli, struct fit_arguments *a, const struct gpnn_parameters *start)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->fit.start = start;
  if (a->kernel == NULL) {
    choose->fit.kernel = start->covariance.kernel;
    choose->fit.smoothness = start->covariance.smoothness;
  }
  if (!cli_given(cli, "ard")) choose->fit.ard = start->covariance.n_lengthscales > 1;
  if (!cli_given(cli, "rotate") && start->covariance.rotation != NULL) {
    choose->fit.rotation = start->covariance.rotation;
    choose->rotation = false;
  }
  choose->scores = false;
  if (a->neighbours == 0) choose->fit.neighbours = start->neighbours;
  if (!cli_given(cli, "transform")) a->transform = (int)start->transform.kind;
  choose->kernel = choose->kernel && a->kernel != NULL;
  choose->ard = choose->ard && cli_given(cli, "ard");
  choose->neighbours = false;
}

/* ---- what suits the targets ---------------------------------------------------------------- */

static bool holds_classes(const struct gpnn_dataset *dataset, size_t target)
{
  return gpnn_dataset_n_classes(gpnn_dataset_target(dataset, target)) > 0;
}

bool fit_labels_any(const struct gpnn_dataset *dataset)
{
  size_t n = gpnn_dataset_n_targets(dataset);
  for (size_t t = 0; t < n; t++)
    if (holds_classes(dataset, t)) return true;
  return false;
}

static const char *target_name(const struct gpnn_dataset *view, char shown[GPNN_MASK_BYTES])
{
  const char *name = view->schema.target.name;
  return gpnn_mask(shown, name, strlen(name));
}

/* Options that say how numbers are fitted. */
static enum gpnn_status check_classes(const struct cli *cli, const struct fit_arguments *a,
                                      const struct gpnn_dataset *view, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const char *name = target_name(view, shown);
  bool by_labels =
      a->likelihood == FIT_LIKELIHOOD_AUTO || a->likelihood == (int)GPNN_LIKELIHOOD_CATEGORICAL;
  const char *other =
      cli_given_of(cli, "preset,method,objective,mean-function,transform,lengthscales");
  if (other != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --%s: does not apply to target '%s', which holds classes", other,
                     name);
  if (!by_labels)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --likelihood: target '%s' holds classes, whose likelihood is "
                     "categorical, or auto",
                     name);
  if (a->choose.like != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --like: does not apply to target '%s', which holds classes", name);
  if (a->choose.fit.fixed_kernelscale > 0 && a->inference == GPNN_INFERENCE_LINK)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --fix: the kernel scale of target '%s', which holds classes, is 1",
                     name);
  return GPNN_OK;
}

static enum gpnn_status check_number(const struct fit_arguments *a, const struct gpnn_dataset *view,
                                     bool any_classes, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_link *fixed = &a->choose.fit.fixed_link;
  bool fixes_link =
      fixed->slope > 0 || fixed->evidence > 0 || fixed->floor > 0 || fixed->spread > 0;
  if (a->likelihood == (int)GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "option --likelihood: target '%s' is a number: if it stands for classes, make "
                     "the index with gpnn-index --classes",
                     target_name(view, shown));
  if (a->inference == GPNN_INFERENCE_POLYA_GAMMA && !any_classes)
    return gpnn_fail(err, GPNN_EINVAL, "option --inference: target '%s' is a number, not a class",
                     target_name(view, shown));
  if (fixes_link && !any_classes)
    return gpnn_fail(err, GPNN_EINVAL, "option --fix: target '%s' is a number and has no link",
                     target_name(view, shown));
  return GPNN_OK;
}

enum gpnn_status fit_labels_check(const struct cli *cli, const struct fit_arguments *a,
                                  const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  size_t n = gpnn_dataset_n_targets(dataset);
  bool any_classes = fit_labels_any(dataset);
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < n && status == GPNN_OK; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
    status = holds_classes(dataset, t) ? check_classes(cli, a, view, err)
                                       : check_number(a, view, any_classes, err);
  }
  return status;
}
