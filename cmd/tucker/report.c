#include "cmd/tucker/report.h"

#include <stdio.h>

#include "cmd/common/json.h"

/* The largest grid whose bound is known to less than 1 nat. */
static const double most_exact = 1e15;

enum { SHAPE_BYTES = 80 };

/* "10 x 10 x 5"; returns 'text'. */
static const char *write_shape(size_t p, const size_t *counts, char text[SHAPE_BYTES])
{
  size_t length = 0;
  text[0] = '\0';
  for (size_t l = 0; l < p && length < SHAPE_BYTES; l++)
    length += (size_t)snprintf(text + length, SHAPE_BYTES - length, "%s%zu", l == 0 ? "" : " x ",
                               counts[l]);
  return text;
}

static const char *variance_name(enum gpnn_tucker_variance variance)
{
  return variance == GPNN_TUCKER_RESIDUAL ? "residual" : "variational";
}

static void note(const struct cli *cli, const struct tucker_arguments *a,
                 const struct gpnn_tucker_report *report)
{
  char points[SHAPE_BYTES], ranks[SHAPE_BYTES];
  const struct gpnn_tucker_shape *shape = &report->shape;
  write_shape(shape->p, shape->m, points);
  if (shape->is_diagonal)
    cli_note(cli, "a grid of %s points; the mean is a sum of %zu products", points, shape->q[0]);
  else
    cli_note(cli, "a grid of %s points; the mean is of rank %s", points,
             write_shape(shape->p, shape->q, ranks));
  if (a->fit.kernel != gpnn_kernel_by_name("rbf"))
    cli_note(cli,
             "kernel %s: a product of one for each input, which differs from that of distances",
             a->fit.kernel->name);
  cli_note(cli, "bound %.6g, RMSE %.4g (standardised) after %zu sweeps%s", report->bound,
           report->rmse, report->n_sweeps, report->converged ? ": converged" : "");
  cli_note(cli, "covariance shrinkage %.3g, variance of residuals %.4g: variances are %s",
           report->shrinkage, report->residual, variance_name(report->variance));
}

static void warn(const struct cli *cli, const struct tucker_arguments *a,
                 const struct gpnn_tucker_report *report)
{
  if (report->variance == GPNN_TUCKER_VARIATIONAL && report->shrinkage > 0.1 &&
      !a->fit.has_prior_covariance)
    cli_warn(cli,
             "the grid has so many points that its covariance is %.0f%% the prior's: variances "
             "say little (see --variance)",
             100 * report->shrinkage);
  if (report->jitter > a->fit.jitter * (1 + 1e-9))
    cli_warn(cli,
             "a jitter of %.3g was needed, as points of the grid are close to each other in "
             "lengthscales",
             report->jitter);
  if (report->n_points > most_exact)
    cli_warn(cli, "of a grid of %.2g points the bound is not known to less than 1",
             report->n_points);
}

static void put_counts(struct json *json, const char *name, size_t p, const size_t *counts)
{
  json_open(json, name, '[');
  for (size_t l = 0; l < p; l++) json_count(json, NULL, counts[l]);
  json_close(json, ']');
}

static void put(struct json *json, const struct gpnn_dataset *view,
                const struct gpnn_tucker_report *report)
{
  if (json == NULL) return;
  json_open(json, NULL, '{');
  json_text(json, "target", view->schema.target.name);
  json_count(json, "rows", view->n);
  put_counts(json, "grid-size", report->shape.p, report->shape.m);
  put_counts(json, "rank", report->shape.p, report->shape.q);
  json_count(json, "steps", report->n_sweeps);
  json_flag(json, "converged", report->converged);
  json_number(json, "bound", report->bound);
  json_number(json, "rmse", report->rmse);
  json_number(json, "covariance-shrinkage", report->shrinkage);
  json_number(json, "residual-variance", report->residual);
  json_text(json, "variance", variance_name(report->variance));
  json_number(json, "jitter", report->jitter);
  json_close(json, '}');
}

void tucker_report(const struct cli *cli, const struct tucker_arguments *a,
                   const struct gpnn_dataset *view, const struct gpnn_tucker_report *report)
{
  note(cli, a, report);
  warn(cli, a, report);
  put(cli->report, view, report);
}
