/*
 * group_effects: estimates the effects of groups (kernel/effects.h; gpnn-methods(7), equations 6.8
 * to 6.12).
 *
 * Effects and process explain the same targets, and each is estimated given the other:
 *
 *   gpnn_group_effects_begin()   estimates the effects alone, as mixed models have them, and leaves
 *                                pseudo-targets: each target minus what the other rows say of its
 *                                effects and its fixed part;
 *   gpnn_choose()                estimates a process from these, as from any targets;
 *   gpnn_group_effects_end()     estimates the effects given that process, and one factor for its
 *                                kernel scale and noise; or leaves the process out, if rows that
 *                                were held out are predicted as well without it.
 *
 * Variances are those of the greatest restricted likelihood (vecchia/mixed.h).  The covariance of
 * the process is in Vecchia's form (vecchia/vecchia.h), with as many neighbours as leave the matrix
 * of the effects sparse enough.
 *
 * Threads: no shared state.
 */
#ifndef GPNN_ESTIMATE_GROUP_EFFECTS_H
#define GPNN_ESTIMATE_GROUP_EFFECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

struct gpnn_group_effects_options {
  uint64_t seed;
  int threads; /* no result depends on them */
};

struct gpnn_group_effects_report {
  size_t neighbours;  /* that each row was conditioned on; 0: the rows' errors are independent */
  bool has_process;   /* false: it is left out */
  size_t n_rows;      /* held out, that decided this; 0: there were too few, and it stays */
  double gain, error; /* how much lower it makes their mean negative log density, with its standard
                         error */
};

/*
 * The effects of the groups of a view's rows, as if there were no process: 'pseudo' (n) gets what
 * their targets are without them, and '*covariance', which the caller frees, the relative
 * covariances of the effects as struct gpnn_mixed has them.  GPNN_EDATA: rows have known noise
 * variances, or two effects have the same groups, or nothing tells an effect from the noise, or the
 * effects are too entangled to be estimated.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_group_effects_begin(const struct gpnn_dataset *view,
                                                          double *pseudo, double **covariance,
                                                          struct gpnn_error *err);

/*
 * Puts the effects into 'params', those of a process that were estimated from pseudo-targets, whose
 * mean is replaced by the fixed part, and multiplies kernel scale and noise by a factor.  'view'
 * has the targets themselves, and inputs as the process sees them.  'pseudo' (n) gets the targets
 * without the effects.  Outcomes as above.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_group_effects_end(const struct gpnn_dataset *view,
                       const struct gpnn_group_effects_options *options, const double *covariance,
                       struct gpnn_parameters *params, double *pseudo,
                       struct gpnn_group_effects_report *report, struct gpnn_error *err);

/* ---- group_candidates.c ---------------------------------------------------------------------- */

/*
 * Which inputs look like the names of groups of rows, so that it is worth trying whether their
 * levels have effects.
 *
 * These are categories of many levels, coded as numbers, whose levels differ, and whole numbers
 * that are no quantity: their means differ, and those of numbers next to each other differ as much
 * as those of any two (gpnn-methods(7), equations 6.15 and 6.16).
 */

/* Sets which inputs of a view's schema are candidates ('are': n_inputs), by at most 2^17 of its
 * rows; none of a target that holds classes.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_group_candidates(const struct gpnn_dataset *view, bool *are,
                                                       struct gpnn_error *err);

#endif
