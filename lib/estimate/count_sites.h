/*
 * count_sites: what stands for the counts of the training rows in regression: a pseudo-target of
 * the latent function, and its noise, for each (likelihood/count.h; gpnn-methods-classes(7),
 * equations 14.12 to 14.15).
 *
 * A count with exposure E has the mean E e^f.  Pseudo-targets are of f.  The first come from the
 * counts alone: they are the sites under the constant rate of all rows, and the variance of f with
 * which this rate would make counts vary as they do.  Then come sweeps.  Each predicts every
 * training row from its neighbours without itself, and takes the site of its count under that
 * prediction; all rows at once, so that results depend neither on their order nor on the number of
 * threads.  The dispersion, unless it is fixed, is the one of a grid under which the same
 * predictions make the counts of some rows most likely.  The constant of the mean function moves so
 * that the predictions add up to what was counted, before each sweep and, with the sites, after the
 * last.
 *
 * Calling sequence: gpnn_count_sites_new(); gpnn_count_sites_standardise(), to estimate parameters
 * by regression, and gpnn_parameters_change_units() to bring these to the units of f;
 * gpnn_count_sites_sweep() any number of times, each with the parameters that are current then;
 * gpnn_count_sites_release().  Threads: one call at a time for each object.
 */
#ifndef GPNN_ESTIMATE_COUNT_SITES_H
#define GPNN_ESTIMATE_COUNT_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "dataset/dataset.h"
#include "kernel/parameters.h"

/* The grid of dispersions: 10^(k/10). */
enum { GPNN_COUNT_SITES_LEAST = -13, GPNN_COUNT_SITES_MOST = 30 };

/* Rows are left out and predicted from no more than so many neighbours, whatever the parameters
 * say: many cost much, and change little in a site. */
enum { GPNN_COUNT_SITES_NEIGHBOURS = 64 };

/* How far from a whole number a count may be, relative to itself or to the sd of all: what
 * standardising and its inverse do to it. */
#define GPNN_COUNT_SITES_ROUNDING 1e-9

struct gpnn_count_sites {
  const struct gpnn_dataset *dataset; /* borrowed; the view of the counts */
  double *count;                      /* owned; n */
  double *target, *noise;             /* owned; n of each */
  double spread;                      /* about the variance of f, > 0 */
  double centre, unit;                /* of the targets, by gpnn_count_sites_standardise() */
  double *z, *z_noise;                /* owned; n of each: standardised by these */
};

struct gpnn_count_sites_options {
  size_t sweeps;         /* at most; fewer if the loss no longer changes by 1e-4 */
  bool fixed_dispersion; /* that of the parameters stays */
  uint64_t seed;
  int threads;
};

/* Of the last sweep. */
struct gpnn_count_sites_report {
  double loss;   /* mean of minus the log probability of rows' counts, left out */
  size_t n_rows; /* over which it is the mean */
  size_t sweeps; /* done */
};

/* The counts of the training rows of a view, and of its calibration rows, and the first sites.
 * GPNN_EDATA names the target and a row of the index that has no count; or says that rows have
 * known noise or offsets, which are for numbers.  GPNN_ENOMEM. 'sites' is then untouched. */
GPNN_MUST_CHECK enum gpnn_status gpnn_count_sites_new(struct gpnn_count_sites *sites,
                                                      const struct gpnn_dataset *dataset,
                                                      struct gpnn_error *err);

/*
 * Sweeps with the parameters of the counts (likelihood Poisson or negative binomial, in units of
 * f), whose dispersion changes unless it is fixed or there is none, and so does the constant of the
 * mean function, if it has one.  The cost of each sweep is that of predicting all rows.  Outcomes
 * as for gpnn_model_predict(), and GPNN_ENUMERIC if rates leave the range of numbers; 'sites' may
 * then be partly changed.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_count_sites_sweep(struct gpnn_count_sites *sites, struct gpnn_parameters *params,
                       const struct gpnn_count_sites_options *options,
                       struct gpnn_count_sites_report *report, struct gpnn_error *err);

/*
 * Makes 'view' a view of regression on the current sites, standardised by their weighted mean
 * ('centre'; 0 unless 'has_mean') and about the standard deviation of f ('unit'), and without
 * calibration rows.  It borrows from 'sites', and is valid until the next call of a function that
 * changes these.
 */
void gpnn_count_sites_standardise(struct gpnn_count_sites *sites, bool has_mean,
                                  struct gpnn_dataset *view);

/* Copies the current sites, of the same dataset.  GPNN_ENOMEM: 'to' is untouched. */
GPNN_MUST_CHECK enum gpnn_status gpnn_count_sites_copy(struct gpnn_count_sites *to,
                                                       const struct gpnn_count_sites *from,
                                                       struct gpnn_error *err);

void gpnn_count_sites_release(struct gpnn_count_sites *sites);

/* The count that a standardised target of a view stands for; NaN if it is none. */
double gpnn_count_sites_restore(const struct gpnn_dataset *dataset, double standardised);

#endif
