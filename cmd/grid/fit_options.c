/* Options of gpnn-grid fit: their checks, and the factors that they name. */
#include <string.h>

#include "cmd/grid/grid.h"
#include "dataset/grid/grid.h"

/* ---- without the index ----------------------------------------------------------------------- */

/* Takes items NAME=VALUE of --guess or --fix. */
static bool take_settings(const struct cli *cli, struct grid_fit_arguments *a,
                          const struct cli_list *list, bool is_held)
{
  for (size_t i = 0; i < list->n; i++) {
    const char *item = list->items[i], *sign = strchr(item, '=');
    char shown[GPNN_MASK_BYTES];
    size_t n = a->choose.n_settings;
    if (sign == NULL || sign == item || sign[1] == '\0' ||
        (size_t)(sign - item) >= sizeof a->names[n])
      return cli_refuse(cli, "--%s '%s': not of the form NAME=VALUE, as in time.period=365",
                        is_held ? "fix" : "guess", gpnn_mask(shown, item, strlen(item)));
    memcpy(a->names[n], item, (size_t)(sign - item));
    a->names[n][sign - item] = '\0';
    a->settings[n] = (struct gpnn_grid_setting){a->names[n], sign + 1, is_held};
    a->choose.n_settings++;
  }
  a->choose.settings = a->settings;
  return true;
}

static bool take_transform(const struct cli *cli, struct grid_fit_arguments *a)
{
  char shown[GPNN_MASK_BYTES];
  a->choose.chooses_transform = a->transform == NULL || strcmp(a->transform, "auto") == 0;
  if (a->choose.chooses_transform || gpnn_transform_by_name(a->transform, &a->choose.transform))
    return true;
  return cli_refuse(cli,
                    "--transform '%s': not auto, none, log, asinh, boxcox, yeo-johnson or rank",
                    gpnn_mask(shown, a->transform, strlen(a->transform)));
}

/* Sets all that the user has left open. */
static void apply_preset(struct grid_fit_arguments *a)
{
  if (a->preset != GRID_FIT_PAPER) return;
  a->choose.published = true;
  if (a->estimator == GRID_FIT_ESTIMATOR_OPEN) a->estimator = GRID_FIT_HUTCHINSON;
  if (a->precond == GPNN_GRID_PRECONDITION_AUTO) a->precond = GPNN_GRID_PRECONDITION_PIVOTED;
  if (a->rank == 0) a->rank = 100;
}

/* A nugget cannot be left out and have a value. */
static bool check_nugget(const struct cli *cli, const struct grid_fit_arguments *a)
{
  static const char suffix[] = ".nugget";
  for (size_t i = 0; i < a->choose.n_settings && a->nugget == GRID_FIT_NUGGET_NO; i++) {
    const char *dot = strrchr(a->settings[i].name, '.');
    if (dot != NULL && strcmp(dot, suffix) == 0)
      return cli_refuse(cli, "--nugget no: --%s gives %s a value",
                        a->settings[i].is_held ? "fix" : "guess", a->settings[i].name);
  }
  return true;
}

bool grid_fit_resolve(const struct cli *cli, void *arguments)
{
  struct grid_fit_arguments *a = arguments;
  apply_preset(a);
  a->choose.effort = a->effort;
  a->choose.holdout = a->holdout;
  a->choose.likelihood = a->likelihood;
  a->choose.chooses_nugget = a->nugget == GRID_FIT_NUGGET_AUTO;
  a->choose.nugget = a->nugget == GRID_FIT_NUGGET_YES;
  return take_transform(cli, a) && take_settings(cli, a, &a->guesses, false) &&
         take_settings(cli, a, &a->fixed, true) && check_nugget(cli, a) &&
         cli_check_overwrite(cli, cli->output, cli_operand(cli, 0));
}

/* ---- with it --------------------------------------------------------------------------------- */

/* The factor of that name: 'length' bytes. */
static enum gpnn_status find_factor(const struct gpnn_grid *grid, const char *option,
                                    const char *name, size_t length, size_t *a,
                                    struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (*a = 0; *a < grid->n_factors; ++*a)
    if (strlen(grid->factor[*a].name) == length && memcmp(grid->factor[*a].name, name, length) == 0)
      return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "--%s: the grid has no factor '%s'", option,
                   gpnn_mask(shown, name, length));
}

static enum gpnn_status set_kernel(struct grid_fit_arguments *arguments,
                                   const struct gpnn_grid *grid, const char *option,
                                   const char *name, size_t length, const char *kernel,
                                   struct gpnn_error *err)
{
  size_t a;
  if (kernel == NULL || strcmp(kernel, "auto") == 0) return GPNN_OK;
  enum gpnn_status status = find_factor(grid, option, name, length, &a, err);
  if (status != GPNN_OK) return status;
  if (arguments->choose.kernel[a] != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "--%s: the kernel of factor '%s' is given twice", option,
                     grid->factor[a].name);
  arguments->choose.kernel[a] = kernel;
  return GPNN_OK;
}

static enum gpnn_status match_kernels(struct grid_fit_arguments *a, const struct gpnn_grid *grid,
                                      struct gpnn_error *err)
{
  enum gpnn_status status =
      set_kernel(a, grid, "site-kernel", "site", strlen("site"), a->site_kernel, err);
  if (status == GPNN_OK)
    status = set_kernel(a, grid, "time-kernel", "time", strlen("time"), a->time_kernel, err);
  for (size_t i = 0; i < a->kernels.n && status == GPNN_OK; i++) {
    const char *item = a->kernels.items[i], *sign = strchr(item, '=');
    char shown[GPNN_MASK_BYTES];
    if (sign == NULL || sign[1] == '\0')
      return gpnn_fail(err, GPNN_EINVAL, "--kernel '%s': not of the form NAME=KERNEL",
                       gpnn_mask(shown, item, strlen(item)));
    status = set_kernel(a, grid, "kernel", item, (size_t)(sign - item), sign + 1, err);
  }
  return status;
}

static bool parse_inputs(const char *word, enum gpnn_grid_inputs_choice *inputs)
{
  static const struct {
    const char *word;
    enum gpnn_grid_inputs_choice inputs;
  } words[] = {{"auto", GPNN_GRID_INPUTS_AUTO},
               {"raw", GPNN_GRID_INPUTS_RAW},
               {"ranks", GPNN_GRID_INPUTS_RANKS},
               {"log", GPNN_GRID_INPUTS_LOG}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (strcmp(word, words[i].word) == 0) {
      *inputs = words[i].inputs;
      return true;
    }
  return false;
}

static enum gpnn_status match_inputs(struct grid_fit_arguments *arguments,
                                     const struct gpnn_grid *grid, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t a;
  if (arguments->time_scale != GRID_FIT_TIME_AUTO) {
    status = find_factor(grid, "time-scale", "time", strlen("time"), &a, err);
    if (status != GPNN_OK) return status;
    arguments->choose.inputs[a] =
        arguments->time_scale == GRID_FIT_TIME_LOG ? GPNN_GRID_INPUTS_LOG : GPNN_GRID_INPUTS_RAW;
  }
  for (size_t i = 0; i < arguments->inputs.n && status == GPNN_OK; i++) {
    const char *item = arguments->inputs.items[i], *sign = strchr(item, '=');
    char shown[GPNN_MASK_BYTES];
    enum gpnn_grid_inputs_choice inputs;
    if (sign == NULL || !parse_inputs(sign + 1, &inputs))
      return gpnn_fail(err, GPNN_EINVAL,
                       "--inputs '%s': not NAME=raw, NAME=ranks, NAME=log or NAME=auto",
                       gpnn_mask(shown, item, strlen(item)));
    status = find_factor(grid, "inputs", item, (size_t)(sign - item), &a, err);
    if (status == GPNN_OK) arguments->choose.inputs[a] = inputs;
  }
  return status;
}

/* Levels whose logarithms were asked for must have them. */
static enum gpnn_status check_logarithms(const struct grid_fit_arguments *a,
                                         const struct gpnn_grid *grid, struct gpnn_error *err)
{
  for (size_t f = 0; f < grid->n_factors; f++) {
    const struct gpnn_grid_factor *factor = &grid->factor[f];
    for (size_t i = 0; i < factor->n * factor->d; i++)
      if (a->choose.inputs[f] == GPNN_GRID_INPUTS_LOG && !(factor->x[i] > 0))
        return gpnn_fail(err, GPNN_EDATA,
                         "factor '%s' has a level at %g, of which there is no logarithm: leave out "
                         "--inputs %s=log or --time-scale log",
                         factor->name, factor->x[i], factor->name);
  }
  return GPNN_OK;
}

enum gpnn_status grid_fit_match(struct grid_fit_arguments *a, const struct gpnn_grid *grid,
                                struct gpnn_error *err)
{
  size_t factor = 0;
  enum gpnn_status status = match_kernels(a, grid, err);
  if (status == GPNN_OK) status = match_inputs(a, grid, err);
  if (status == GPNN_OK) status = check_logarithms(a, grid, err);
  a->choose.chooses_mean = a->mean == NULL || strcmp(a->mean, "auto") == 0;
  if (status == GPNN_OK && !a->choose.chooses_mean && strcmp(a->mean, "none") != 0) {
    status = find_factor(grid, "mean", a->mean, strlen(a->mean), &factor, err);
    a->choose.mean_factor = factor + 1;
  }
  if (status == GPNN_OK && a->noise_per != NULL) {
    status = find_factor(grid, "noise-per", a->noise_per, strlen(a->noise_per), &factor, err);
    a->choose.noise_factor = factor + 1;
  }
  return status;
}
