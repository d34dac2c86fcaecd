/*
 * group_candidates: which inputs look like the names of groups of rows, so that it is worth trying
 * whether their levels have effects (estimate/group_effects.h).
 *
 * These are categories of many levels, coded as numbers, whose levels differ, and whole numbers
 * that are no quantity: their means differ, and those of numbers next to each other differ as much
 * as those of any two (gpnn-methods(7), equations 6.15 and 6.16).
 *
 * Threads: no shared state.
 */
#ifndef GPNN_ESTIMATE_GROUP_CANDIDATES_H
#define GPNN_ESTIMATE_GROUP_CANDIDATES_H

#include <stdbool.h>

#include "base/status.h"
#include "dataset/dataset.h"

/* Sets which inputs of a view's schema are candidates ('are': n_inputs), by at most 2^17 of its
 * rows; none of a target that holds classes.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_group_candidates(const struct gpnn_dataset *view, bool *are,
                                                       struct gpnn_error *err);

#endif
