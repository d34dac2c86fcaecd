/*
 * kernel_panels: the correlations of a block of points, in panels.
 *
 * Private to lib/models.
 */
#ifndef GPNN_MODELS_KERNEL_PANELS_H
#define GPNN_MODELS_KERNEL_PANELS_H

#include "models/kernel.h"
#include "models/panels.h"

/*
 * Fills a trapezoid, laid out for 'set', with the correlations of points i and j, i < n_rows and
 * j < n; 'columns' as gpnn_panel_set.fill() says.  'smoothness' is what struct gpnn_kernel says.
 */
void gpnn_kernel_fill_panels(const struct gpnn_kernel *kernel, double smoothness,
                             const struct gpnn_panel_set *set, size_t n, size_t n_rows, size_t d,
                             size_t stride, const double *columns, double *a);

#endif
