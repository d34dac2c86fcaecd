#include "cmd/fit/options.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"

static bool wrong(const struct cli *cli, const char *option, const char *allowed)
{
  cli_usage_error(cli, "option --%s: %s", option, allowed);
  return false;
}

/* --fix NAME=VALUE */
static bool fix_parameter(const struct cli *cli, const char *text, struct gpnn_fit_options *fit)
{
  const struct {
    const char *name;
    double *value;
  } names[] = {{"lengthscale", &fit->fixed_lengthscale},
               {"kernelscale", &fit->fixed_kernelscale},
               {"noise", &fit->fixed_noise}};
  const char *equals = strchr(text, '=');
  double value = 0;
  if (equals == NULL ||
      gpnn_number_read(equals + 1, strlen(equals + 1), &value) != GPNN_NUMBER_OK || !(value > 0))
    return wrong(cli, "fix", "NAME=VALUE with a positive VALUE, as in noise=0.1");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    size_t length = strlen(names[i].name);
    if (length != (size_t)(equals - text) || strncmp(text, names[i].name, length) != 0) continue;
    *names[i].value = value;
    return true;
  }
  return wrong(cli, "fix", "the parameters are lengthscale, kernelscale and noise");
}

/* The published method: one lengthscale, Adam, 10 blocks of 300, 400 neighbours. */
static bool apply_preset(const struct cli *cli, struct fit_arguments *a)
{
  enum { PAPER_NEIGHBOURS = 400 };
  if (a->preset == NULL) return true;
  if (strcmp(a->preset, "paper") != 0) return wrong(cli, "preset", "the only preset is paper");
  if (a->ard != NULL || a->optimizer != NULL || a->objective != NULL || a->rotate != NULL)
    return wrong(cli, "preset", "paper already says --ard no, --optimizer adam, --objective block");
  a->ard = "no";
  a->optimizer = "adam";
  a->objective = "block";
  a->rotate = "none";
  if (a->kernel == NULL) a->kernel = "rbf";
  if (a->neighbours == 0) a->neighbours = PAPER_NEIGHBOURS;
  return true;
}

static bool resolve_model(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->kernel = a->kernel == NULL || strcmp(a->kernel, "auto") == 0;
  choose->ard = a->ard == NULL || strcmp(a->ard, "auto") == 0;
  choose->neighbours = a->neighbours == 0;
  if (!choose->neighbours) choose->fit.neighbours = a->neighbours;
  if (!choose->kernel &&
      !gpnn_kernel_parse(a->kernel, &choose->fit.kernel, &choose->fit.smoothness))
    return wrong(cli, "kernel",
                 "auto, exp, matern32, matern52, rbf or matern:NU, as in matern:1.2, NU up to 100");
  choose->fit.ard = choose->ard || strcmp(a->ard, "yes") == 0;
  if (!choose->fit.ard && strcmp(a->ard, "no") != 0) return wrong(cli, "ard", "auto, yes or no");
  return true;
}

static bool resolve_rotation(const struct cli *cli, struct fit_arguments *a)
{
  static const char *const names[] = {"none", "whiten", "learn"};
  size_t which;
  a->choose.rotation = a->rotate == NULL || strcmp(a->rotate, "auto") == 0;
  if (a->choose.rotation) return true;
  if (!cli_find_word(a->rotate, 3, names, &which))
    return wrong(cli, "rotate", "auto, none, whiten or learn");
  a->choose.rotate = (enum gpnn_rotate)which;
  return true;
}

/* --objective NAME[,NAME] */
static bool resolve_objective(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  static const char allowed[] = "block, loo, mll-k or vecchia, or two of them, as in block,loo";
  char first[16];
  a->choose.objective = a->objective == NULL;
  if (a->objective == NULL) return true;
  const char *comma = strchr(a->objective, ',');
  size_t length = comma == NULL ? strlen(a->objective) : (size_t)(comma - a->objective);
  snprintf(first, sizeof first, "%.*s", (int)(length < 15 ? length : 15), a->objective);
  if (!gpnn_objective_by_name(first, &fit->first)) return wrong(cli, "objective", allowed);
  if (comma != NULL && !gpnn_objective_by_name(comma + 1, &fit->second))
    return wrong(cli, "objective", allowed);
  return true;
}

static bool resolve_effort(const struct cli *cli, struct fit_arguments *a)
{
  static const char *const names[] = {"fast", "normal", "thorough"};
  size_t which;
  if (!cli_find_word(a->effort, 3, names, &which))
    return wrong(cli, "effort", "fast, normal or thorough");
  a->choose.effort = (enum gpnn_effort)which;
  return true;
}

/* Adam over blocks is the published one, which has a start of its own. */
static bool resolve_optimizer(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  if (a->optimizer == NULL) return true;
  bool adam = strcmp(a->optimizer, "adam") == 0;
  if (!adam && strcmp(a->optimizer, "lbfgs") != 0) return wrong(cli, "optimizer", "lbfgs or adam");
  fit->optimizer = adam ? GPNN_OPTIMIZER_ADAM : GPNN_OPTIMIZER_LBFGS;
  bool by_block = a->choose.objective ? a->choose.effort == GPNN_EFFORT_FAST
                                      : fit->first == GPNN_OBJECTIVE_BLOCK;
  if (adam && a->start != NULL && by_block)
    return wrong(cli, "start", "adam over blocks always starts where the paper does");
  return true;
}

static bool resolve_method(const struct cli *cli, struct fit_arguments *a)
{
  struct gpnn_fit_options *fit = &a->choose.fit;
  a->choose.k = a->k == 0;
  if (a->k > 0) fit->k = a->k;
  fit->thin = a->thin;
  if (!resolve_rotation(cli, a) || !resolve_objective(cli, a) || !resolve_effort(cli, a) ||
      !resolve_optimizer(cli, a))
    return false;
  if (!gpnn_mean_by_name(a->mean, &fit->mean))
    return wrong(cli, "mean", "zero, constant, linear or regressors");
  for (size_t i = 0; i < a->fix.n; i++)
    if (!fix_parameter(cli, a->fix.items[i], fit)) return false;
  fit->seed = cli->seed;
  return true;
}

/* --method conjugate has an estimation of its own. */
static bool resolve_conjugate(const struct cli *cli, struct fit_arguments *a)
{
  const struct {
    const char *name;
    bool is_given;
  } others[] = {{"preset", a->preset != NULL},
                {"objective", a->objective != NULL},
                {"optimizer", a->optimizer != NULL},
                {"rotate", a->rotate != NULL},
                {"like", a->like != NULL},
                {"ard", a->ard != NULL && strcmp(a->ard, "yes") == 0},
                {"fix", a->fix.n > 0}};
  bool ok;
  a->is_conjugate = conjugate_is_asked(cli, &a->conjugate, &ok);
  for (size_t i = 0; ok && a->is_conjugate && i < sizeof others / sizeof others[0]; i++)
    if (others[i].is_given) return wrong(cli, others[i].name, "is of --method local");
  return ok;
}

/* --metric shared|ratio|own */
static bool resolve_metric(const struct cli *cli, struct fit_arguments *a)
{
  bool own = a->metric != NULL && strcmp(a->metric, "own") == 0;
  a->choose.fit.same_ratio = a->metric != NULL && strcmp(a->metric, "ratio") == 0;
  if (a->metric != NULL && !own && !a->choose.fit.same_ratio && strcmp(a->metric, "shared") != 0)
    return wrong(cli, "metric", "shared, ratio or own");
  if (a->choose.fit.same_ratio && a->choose.fit.fixed_noise > 0)
    return wrong(cli, "metric", "ratio leaves no noise to --fix");
  if (a->is_conjugate && a->metric != NULL && !own)
    return wrong(cli, "metric", "shared and ratio are of --method local");
  a->is_shared = !own && !a->is_conjugate;
  return true;
}

bool fit_options_resolve(const struct cli *cli, struct fit_arguments *a)
{
  return resolve_conjugate(cli, a) && apply_preset(cli, a) && resolve_model(cli, a) &&
         resolve_method(cli, a) && resolve_metric(cli, a) &&
         cli_spares(cli, cli->output, cli_operand(cli, 0)) && cli_spares(cli, cli->output, a->like);
}

void fit_options_start(struct fit_arguments *a, const struct gpnn_parameters *start)
{
  struct gpnn_choose_options *choose = &a->choose;
  choose->fit.start = start;
  if (a->kernel == NULL) {
    choose->fit.kernel = start->covariance.kernel;
    choose->fit.smoothness = start->covariance.smoothness;
  }
  if (a->ard == NULL) choose->fit.ard = start->covariance.n_lengthscales > 1;
  if (a->rotate == NULL && start->covariance.rotation != NULL) {
    choose->fit.rotation = start->covariance.rotation;
    choose->rotation = false;
  }
  if (a->neighbours == 0) choose->fit.neighbours = start->neighbours;
  choose->kernel = choose->kernel && a->kernel != NULL;
  choose->ard = choose->ard && a->ard != NULL;
  choose->neighbours = false;
}
