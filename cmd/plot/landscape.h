/*
 * plot_landscape: what is read of a table of metrics against parameters, to be drawn.
 */
#ifndef GPNN_CMD_PLOT_LANDSCAPE_H
#define GPNN_CMD_PLOT_LANDSCAPE_H

#include <stddef.h>

#include "cmd/plot/plot.h"

enum { LANDSCAPE_NAMES_MAX = 32 };

struct landscape_names {
  size_t n;
  char *items[LANDSCAPE_NAMES_MAX]; /* owned */
};

/* A value of a metric, for a value 'at' of a parameter. */
struct landscape_value {
  size_t parameter, metric;                   /* by number in the names */
  double rows, at, value, se, limit, matched; /* NaN: missing; not the first three */
};

/* A zeroed object is empty and may be released. */
struct landscape {
  struct landscape_names parameters, metrics;
  struct landscape_value *values; /* owned; by metric, parameter, rows and at */
  size_t n, capacity;
};

/* Reads the whole table.  GPNN_EINVAL: a column is missing; GPNN_EDATA: there is nothing to draw,
 * or a value is bad. */
GPNN_MUST_CHECK enum gpnn_status landscape_read(struct landscape *l, struct plot *plot,
                                                struct gpnn_error *err);

void landscape_release(struct landscape *l);

#endif
