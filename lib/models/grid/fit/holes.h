/*
 * holes: observed cells to hold out so that they resemble the cells that were not observed, which
 * are what users want predicted.  Trailing cells stay trailing ones, random ones random, and levels
 * that nothing was observed at whole levels (gpnn-methods-grid(7), equation 16.59).
 *
 * Threads: no shared state.
 */
#ifndef GPNN_MODELS_GRID_FIT_HOLES_H
#define GPNN_MODELS_GRID_FIT_HOLES_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "models/grid/fit/view.h"

/* Which pattern to follow. */
enum gpnn_grid_holdout {
  GPNN_GRID_HOLDOUT_AUTO = 0, /* that of the holes: a random hole is looked up, and a site gets the
                                 holes of the site it belongs to; of a complete grid as 'uniform' */
  GPNN_GRID_HOLDOUT_UNIFORM,  /* a random tenth of a site's cells */
  GPNN_GRID_HOLDOUT_TRAILING, /* all cells of a site from a random one on */
  GPNN_GRID_HOLDOUT_LEVELS,   /* in turn all cells of a site, and of a level of the last factor */
};

/* The most cells of one task. */
enum { GPNN_GRID_TASK_CELLS = 8 };

/* Cells of one site (level of the first factor) to predict from others.  A zeroed one may be
 * released. */
struct gpnn_grid_task {
  size_t site;
  size_t n, target[GPNN_GRID_TASK_CELLS]; /* positions of cells to predict */
  bool *is_hidden;      /* owned; of each of the site's cells: it may not be used */
  size_t hidden_factor; /* 1 + a factor of which no cell may be used at some levels; 0: none */
  size_t hidden_first, hidden_last; /* these levels */
};

/* Draws task 'number' from a view.  '*task' is zeroed before, and released by the caller; it has no
 * cells (n = 0) if none that resembles the holes was found.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_task_draw(struct gpnn_grid_task *task,
                                                     const struct gpnn_grid_view *view,
                                                     enum gpnn_grid_holdout holdout, uint64_t seed,
                                                     uint64_t number, struct gpnn_error *err);

void gpnn_grid_task_release(struct gpnn_grid_task *task);

struct gpnn_grid_tasks {
  size_t n;
  struct gpnn_grid_task *task; /* owned */
};

/* Draws up to 'n' tasks, numbered from 'first' on; those that have no cells are left out.
 * GPNN_ENOMEM: '*tasks', which must be zeroed, stays so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_grid_tasks_draw(struct gpnn_grid_tasks *tasks, size_t n,
                                                      const struct gpnn_grid_view *view,
                                                      enum gpnn_grid_holdout holdout, uint64_t seed,
                                                      uint64_t first, struct gpnn_error *err);
void gpnn_grid_tasks_release(struct gpnn_grid_tasks *tasks);

#endif
