/* Where the matrix comes from. */
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/linear/linear.h"
#include "dataset/index.h"
#include "kernel/covariance.h"
#include "models/inducing/inducing.h"

/* Points, and what is added to the diagonal of their covariances. */
struct points {
  size_t n;
  const double *x;  /* borrowed */
  double *diagonal; /* owned */
};

/* The rows of an index, seen through the noise. */
static enum gpnn_status take_rows(const struct linear *run, const struct gpnn_channel *channel,
                                  struct points *points, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = channel->dataset;
  size_t n = dataset->n;
  if (run->a->rows > 0 && run->a->rows < n) n = run->a->rows;
  points->diagonal = gpnn_alloc(n, 1, sizeof *points->diagonal);
  if (points->diagonal == NULL) return gpnn_fail_memory(err, "for the rows");
  points->n = n;
  points->x = dataset->x;
  for (size_t i = 0; i < n; i++)
    points->diagonal[i] =
        channel->parameters->covariance.noise + (dataset->noise == NULL ? 0 : dataset->noise[i]);
  return GPNN_OK;
}

static enum gpnn_status take_points(const struct linear *run, const struct gpnn_channel *channel,
                                    struct points *points, struct gpnn_error *err)
{
  if (channel->dataset->stored == NULL) return take_rows(run, channel, points, err);
  if (run->a->rows > 0)
    return gpnn_fail(err, GPNN_EINVAL, "option --rows: a model file has no training rows");
  return gpnn_prefix(err,
                     gpnn_inducing_system(channel, &points->n, &points->x, &points->diagonal, err),
                     "%s", run->name);
}

static enum gpnn_status check_channel(const struct linear *run, const struct opened *opened,
                                      struct gpnn_error *err)
{
  if (opened->n > 1)
    return gpnn_fail(err, GPNN_EINVAL, "%s has %zu targets: choose one of them by --targets",
                     run->name, opened->n);
  if (opened->channels[0].parameters->n_members > 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the parameters are those of a stack, whose members have a covariance each");
  return GPNN_OK;
}

static enum gpnn_status fill(struct linear *run, const struct gpnn_channel *channel,
                             struct points *points, struct gpnn_error *err)
{
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  run->n = points->n;
  run->diagonal = points->diagonal;
  run->kernelscale = covariance->kernelscale;
  run->k = gpnn_alloc(run->n, run->n, sizeof *run->k);
  if (run->k == NULL)
    return gpnn_fail(err, GPNN_ENOMEM, "not enough memory for the covariances of %zu rows%s",
                     run->n, channel->dataset->stored == NULL ? ": take fewer with --rows" : "");
  enum gpnn_status status =
      gpnn_gram(covariance, run->n, channel->dataset->d, channel->dataset->group, points->x,
                points->diagonal, run->cli->threads, run->k, err);
  for (size_t i = 0; i < run->n && status == GPNN_OK; i++)
    run->diagonal[i] = run->k[i * run->n + i];
  return status;
}

enum gpnn_status linear_make_matrix(struct linear *run, struct gpnn_error *err)
{
  struct opened opened = {.targets = run->a->target};
  struct points points = {0};
  enum gpnn_status status = open_files(run->cli, run->name, run->a->params, false, &opened, err);
  if (status == GPNN_OK)
    status = open_refuse_grid(opened.index, "gpnn-grid solves with its matrix", err);
  if (status == GPNN_OK) status = check_channel(run, &opened, err);
  if (status == GPNN_OK) status = take_points(run, &opened.channels[0], &points, err);
  if (status == GPNN_OK) status = fill(run, &opened.channels[0], &points, err);
  open_release(&opened);
  return status;
}
