#include "cmd/predict/predict_private.h"

#include <stdio.h>

#include "cmd/common/progress.h"

/* ---- options ------------------------------------------------------------------------------ */

static void tell_progress(void *context, size_t solved, size_t columns, size_t iteration,
                          double residual)
{
  char what[64];
  (void)context;
  if (columns > 0)
    snprintf(what, sizeof what, "iterations, %zu of %zu solved, residual %.1e", solved, columns,
             residual);
  else
    snprintf(what, sizeof what, "iterations for exact variances, residual %.1e", residual);
  progress_update(what, iteration, 0);
}

static bool resolve_complete(const struct cli *cli, const struct predict_arguments *a)
{
  const char *misplaced = cli_misplaced(cli, CLI_OF_TABLE);
  if (a->complete == PREDICT_TABLE) return true;
  if (cli->n_operands > 1)
    return cli_refuse(cli, "--complete predicts the cells of the grid: give it or a table");
  return misplaced == NULL ||
         cli_refuse(cli, "--%s is for the rows of a table, not for --complete", misplaced);
}

bool grid_resolve(const struct cli *cli, struct predict_arguments *a)
{
  struct gpnn_grid_posterior_options *grid = &a->grid;
  if (!resolve_complete(cli, a)) return false;
  if (grid->variance == GPNN_GRID_VARIANCE_NONE) {
    if (a->plan.intervals.n > 0 || a->samples > 0)
      return cli_refuse(cli, "--variance none computes no sd, which --interval and --samples need");
    a->plan.options.mean_only = true;
  }
  if (a->plan.options.mean_only) grid->variance = GPNN_GRID_VARIANCE_NONE;
  if (grid->draws < a->samples) grid->draws = a->samples;
  grid->seed = cli->seed;
  /* Only the grid's own cells: nothing has to be kept for new ones. */
  bool may_be_new = a->complete == PREDICT_TABLE && !a->plan.options.mean_only;
  grid->keep_draws = a->samples > 0 || (may_be_new && grid->variance != GPNN_GRID_VARIANCE_EXACT);
  grid->progress = tell_progress;
  return true;
}

/* Levels that hardly any observations share make cells without number. */
static enum gpnn_status check_cells(const struct run *r, struct gpnn_error *err)
{
  const struct gpnn_grid *grid = r->opened.dataset->grid;
  const size_t size = gpnn_grid_size(grid), usual = 1000000, each = 100;
  size_t most = grid->n_cells > usual / each ? each * grid->n_cells : usual;
  if (r->a->most_cells > 0) most = r->a->most_cells;
  if (r->a->complete == PREDICT_TABLE || size <= most) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "%s: the grid has %zu cells, and %zu observed: to predict so many, say "
                   "--max-cells %zu, or give a table of those that are wanted",
                   gpnn_index_path(r->opened.index), size, grid->n_cells, size);
}

/* ---- files -------------------------------------------------------------------------------- */

enum gpnn_status grid_check(const struct run *r, struct gpnn_error *err)
{
  bool is_grid = r->opened.dataset->grid != NULL;
  const char *path = gpnn_index_path(r->opened.index);
  if (r->a->is_of_grids && !is_grid)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not of a grid: use gpnn-predict", path,
                     r->opened.dataset->stored != NULL ? "a model file of rows"
                                                       : "an index of rows");
  if (is_grid && r->a->max_distance != NULL)
    return gpnn_fail(err, GPNN_EINVAL, "--max-distance is for an index of rows, and %s is a grid",
                     path);
  if (is_grid && r->a->group != NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "--group is for an index of rows: of a grid, add up draws of --samples");
  return is_grid ? check_cells(r, err) : GPNN_OK;
}

/* ---- messages ----------------------------------------------------------------------------- */

void grid_report(const struct run *r)
{
  struct gpnn_grid_posterior_report report = gpnn_grid_model_report(r->together->model, 0);
  cli_note(r->cli, "%zu rows from %zu observed cells, engine %s", r->n_done,
           r->opened.dataset->grid->n_cells, report.engine);
  if (report.iterations > 0)
    cli_note(r->cli, "%zu iterations, worst residual %.2g, preconditioner %s, rank %zu",
             report.iterations, report.residual, report.preconditioner, report.rank);
  if (report.jitter > 0)
    cli_note(r->cli, "%.2g added to the diagonal of a covariance", report.jitter);
  if (!report.converged)
    cli_warn(r->cli,
             "accepted without convergence after %zu iterations: the worst residual is %.2g",
             report.iterations, report.residual);
}
