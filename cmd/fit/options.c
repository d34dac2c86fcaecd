#include <string.h>

#include "base/number.h"
#include "cmd/fit/fit.h"

static bool wrong(const struct cli *cli, const char *option, const char *allowed)
{
  return cli_refuse(cli, "option --%s: %s", option, allowed);
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
  if (a->preset == FIT_NO_PRESET) return true;
  if (cli_given(cli, "ard") || cli_given(cli, "optimizer") || cli_given(cli, "objective") ||
      cli_given(cli, "rotate"))
    return wrong(cli, "preset", "paper already says --ard no, --optimizer adam, --objective block");
  a->ard = FIT_ARD_NO;
  a->choose.fit.optimizer = GPNN_OPTIMIZER_ADAM;
  a->objectives = (struct cli_choices){1, {GPNN_OBJECTIVE_BLOCK}};
  a->rotate = GPNN_ROTATE_NONE;
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
  choose->neighbours = a->neighbours == 0;
  if (!choose->neighbours) choose->fit.neighbours = a->neighbours;
  choose->rotation = a->rotate == FIT_ROTATE_AUTO;
  if (!choose->rotation) choose->rotate = (enum gpnn_rotate)a->rotate;
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
  for (size_t i = 0; i < a->fix.n; i++)
    if (!fix_parameter(cli, a->fix.items[i], fit)) return false;
  fit->seed = cli->seed;
  return check_start(cli, a);
}

/* --method conjugate has an estimation of its own. */
static bool check_conjugate(const struct cli *cli, const struct fit_arguments *a)
{
  static const char *const others[] = {"preset", "objective", "optimizer", "rotate", "like", "fix"};
  if (a->method != FIT_CONJUGATE) return true;
  for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
    if (cli_given(cli, others[i])) return wrong(cli, others[i], "is of --method local");
  return a->ard != FIT_ARD_YES || wrong(cli, "ard", "is of --method local");
}

/* --metric shared|ratio|own */
static bool resolve_metric(const struct cli *cli, struct fit_arguments *a)
{
  a->choose.fit.same_ratio = a->metric == FIT_RATIO;
  if (a->choose.fit.same_ratio && a->choose.fit.fixed_noise > 0)
    return wrong(cli, "metric", "ratio leaves no noise to --fix");
  if (a->method == FIT_CONJUGATE && cli_given(cli, "metric") && a->metric != FIT_OWN)
    return wrong(cli, "metric", "shared and ratio are of --method local");
  a->is_shared = a->metric != FIT_OWN && a->method != FIT_CONJUGATE;
  return true;
}

bool fit_resolve(const struct cli *cli, void *arguments)
{
  struct fit_arguments *a = arguments;
  return check_conjugate(cli, a) && apply_preset(cli, a) && resolve_model(cli, a) &&
         resolve_estimation(cli, a) && resolve_metric(cli, a) &&
         cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->like);
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
  if (a->neighbours == 0) choose->fit.neighbours = start->neighbours;
  choose->kernel = choose->kernel && a->kernel != NULL;
  choose->ard = choose->ard && cli_given(cli, "ard");
  choose->neighbours = false;
}
