/*
 * report: messages about what was out of the ordinary in a run.  The library counts it; printing it
 * here makes all tools word it alike.  Nothing is printed for counts of zero.
 */
#ifndef GPNN_CMD_COMMON_REPORT_H
#define GPNN_CMD_COMMON_REPORT_H

#include "cmd/common/cli.h"
#include "kernel/parameters.h"
#include "models/model.h"

/* Warns of covariances, of 'what' (plural), that needed jitter. */
void report_jitter(const struct cli *cli, const char *what, const struct gpnn_jitter *jitter);

/* Warns of a fit that found next to nothing: a kernel scale below a thousandth of the noise
 * variance, where searches end that took everything for noise. */
void report_no_signal(const struct cli *cli, const struct gpnn_covariance *covariance);

/* Reports what the model counted while it predicted. */
void report_counts(const struct cli *cli, const struct gpnn_counts *counts);

/* Where rows lie that are counted as far. */
#define REPORT_FAR "farther from the training rows than 99.9 %% of the rows seen in calibration did"

/* Reports how far predicted rows lay from the training rows, compared with the rows that
 * calibration saw. */
void report_distances(const struct cli *cli, const struct gpnn_counts *counts,
                      const struct gpnn_calibration *calibration);

#endif
