#include "cmd/calibrate/calibrate_private.h"

/* The targets that are estimated together with 'target', which have the same rows. */
static struct across group_of(const struct opened *opened, size_t target)
{
  bool shared = opened->parameters[target].provenance.estimation.shared_lengthscales;
  for (size_t t = 1; t < opened->n; t++)
    shared = shared && opened->channels[t].dataset->x == opened->channels[0].dataset->x;
  return (struct across){.first = shared ? 0 : target, .n = shared ? opened->n : 1};
}

bool across_is_possible(const struct opened *opened, size_t target)
{
  enum { FEWEST = 3 }; /* of which each is left out in turn */
  const struct across group = group_of(opened, target);
  return opened->parameters[target].likelihood != GPNN_LIKELIHOOD_GAUSSIAN &&
         opened->channels[target].dataset->n >= FEWEST &&
         gpnn_channels_can_refit(group.n, opened->channels + group.first);
}

/* How many rows to divide into folds. */
static size_t wanted_rows(const struct cli *cli, const struct calibrate_arguments *a)
{
  enum { USUAL = 1000, AUTO = 4000 };
  if (!cli_given(cli, "rows")) return USUAL;
  return a->rows == GPNN_CALIBRATE_AUTO ? AUTO : a->rows;
}

enum gpnn_status across_make(struct across *across, const struct cli *cli,
                             const struct calibrate_arguments *a, const struct opened *opened,
                             size_t target, struct gpnn_error *err)
{
  const struct gpnn_model_options options = {.neighbours = a->neighbours, .threads = cli->threads};
  struct across made = group_of(opened, target);
  size_t n = opened->channels[target].dataset->n, wanted = wanted_rows(cli, a);
  if (across->crossfit != NULL && across->first == made.first && across->n == made.n)
    return GPNN_OK;
  enum gpnn_status status = gpnn_crossfit_new(&made.crossfit, made.n, opened->channels + made.first,
                                              &options, wanted < n ? wanted : n, cli->seed, err);
  if (status != GPNN_OK) return status;
  across_release(across);
  *across = made;
  return GPNN_OK;
}

void across_release(struct across *across)
{
  gpnn_crossfit_free(across->crossfit);
  *across = (struct across){0};
}
