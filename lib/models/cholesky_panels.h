/*
 * cholesky_panels: gpnn_cholesky_factor() of trapezoids in panels.
 *
 * Private to lib/models.
 */
#ifndef GPNN_MODELS_CHOLESKY_PANELS_H
#define GPNN_MODELS_CHOLESKY_PANELS_H

#include "base/status.h"
#include "models/panels.h"

/* As gpnn_cholesky_factor(), of a trapezoid of n columns and n_rows rows that is laid out for
 * 'set'.  'refill' writes all of it again, right-hand sides included. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_cholesky_factor_panels(const struct gpnn_panel_set *set, size_t n, size_t n_rows, double *a,
                            double scale, void (*refill)(void *context, double *a), void *context,
                            double *jitter, struct gpnn_error *err);

#endif
