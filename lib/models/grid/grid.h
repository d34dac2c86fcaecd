/*
 * grid: the model of data on a grid (models/grid/posterior.h), as tools know it (models/model.h).
 *
 * Rows are predicted from all observed cells.  All equations are solved when the model is made, so
 * that batches cost little.
 */
#ifndef GPNN_MODELS_GRID_GRID_H
#define GPNN_MODELS_GRID_GRID_H

#include "models/grid/posterior.h"
#include "models/model.h"

/* The options that a model has without any: 64 draws, a tolerance of 1e-5, at most 10000
 * iterations. */
struct gpnn_grid_posterior_options gpnn_grid_default_options(void);

/* As gpnn_model_new(), for channels whose dataset has a grid, and with these options, but for their
 * threads, in place of the default ones. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_grid_model_new(struct gpnn_model **model, size_t n, const struct gpnn_channel *channels,
                    const struct gpnn_grid_posterior_options *posterior,
                    const struct gpnn_model_options *options, struct gpnn_error *err);

/* What became of the options in a channel of a model of kind "grid". */
struct gpnn_grid_posterior_report gpnn_grid_model_report(const struct gpnn_model *model,
                                                         size_t channel);

extern const struct gpnn_model_ops gpnn_grid_ops;

#endif
