/* The state of gpnn-grid fit: solutions that gpnn-grid predict can begin with. */
#include <stdlib.h>
#include <string.h>

#include "cmd/common/progress.h"
#include "cmd/grid/fit.h"
#include "dataset/transformed.h"
#include "models/grid/grid.h"
#include "models/grid/posterior.h"
#include "models/model.h"

bool grid_fit_keeps_state(const char *path)
{
  static const char suffix[] = ".gps";
  size_t length = path == NULL ? 0 : strlen(path);
  return length >= sizeof suffix - 1 && strcmp(path + length - (sizeof suffix - 1), suffix) == 0;
}

static void tell_progress(void *context, size_t solved, size_t columns, size_t iteration,
                          double residual)
{
  (void)context;
  (void)iteration;
  (void)residual;
  progress_update("solutions for the state", solved, columns);
}

/* Solves with what gpnn-grid predict uses unless it is told otherwise, so that this is what it
 * looks for. */
static enum gpnn_status solve(const struct cli *cli, const struct gpnn_channel *channel,
                              struct gpnn_state *state, struct gpnn_error *err)
{
  struct gpnn_grid_posterior_options options = gpnn_grid_default_options();
  struct gpnn_grid_posterior *posterior = NULL;
  options.system.threads = cli->threads;
  options.seed = cli->seed;
  options.progress = tell_progress;
  enum gpnn_status status = gpnn_grid_posterior_new(
      &posterior, channel->dataset->grid, channel->dataset->y, channel->parameters, &options, err);
  progress_erase();
  if (status == GPNN_OK)
    status = gpnn_grid_state_store(posterior, channel->dataset->schema.target.name, state, err);
  gpnn_grid_posterior_free(posterior);
  return status;
}

enum gpnn_status grid_fit_solve(const struct cli *cli, const struct gpnn_dataset *dataset,
                                const struct gpnn_parameters *params, struct gpnn_state **state,
                                struct gpnn_error *err)
{
  struct gpnn_transformed *transformed = NULL;
  struct gpnn_channel channel;
  bool other_index;
  enum gpnn_status status = gpnn_state_new(state, dataset->fingerprint, err);
  if (status == GPNN_OK)
    status = gpnn_channels_transform(dataset, 1, params, NULL, &transformed, err);
  if (status == GPNN_OK && transformed != NULL) dataset = gpnn_transformed_dataset(transformed);
  if (status == GPNN_OK)
    status = gpnn_channels_find(dataset, 1, params, &channel, &other_index, err);
  if (status == GPNN_OK) status = solve(cli, &channel, *state, err);
  gpnn_transformed_free(transformed);
  return status;
}
