/*
 * pit: probability integral transforms of rows, randomised where truths are tied
 * (gpnn-methods(7), equations 9.5, 9.8, 9.15 and 9.16).
 *
 * The PIT of a row, F(y), is uniform if F is the distribution of y and is continuous.  But truths
 * are often rounded, to whole minutes for instance, and then a right F of the exact value gives
 * PITs that lie in clumps.  Where several rows have the same truth, each therefore gets a uniform
 * draw from between the values of its F at the middles between this truth and the next ones below
 * and above it; beyond the least and the greatest truth of all rows, F is 0 and 1.  Other rows keep
 * F(y), as do all rows if they have only one truth between them.
 *
 * Where F itself has a step at the truth, which therefore has a probability of its own, the PIT is
 * a uniform draw from between its ends, tied or not.
 *
 * Calling sequence: gpnn_pit_add() row by row on a zeroed object, then gpnn_pit_values(), after
 * which no row can be added; gpnn_pit_release().  It takes 32 bytes of memory per row.  The values
 * depend neither on the order of the rows nor on anything else that is random.
 */
#ifndef GPNN_STATS_PIT_H
#define GPNN_STATS_PIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed object is empty. */
struct gpnn_pit {
  size_t n;        /* rows added */
  double *numbers; /* owned; four for each row or, once 'is_final', one for each: its PIT */
  size_t capacity;
  bool is_final;
};

/* Adds a row whose prediction was Student's t with this scale > 0; 'df' as in
 * stats/distributions/student.h. 'error' is the truth minus the location.  GPNN_ENOMEM: nothing is
 * added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_pit_add(struct gpnn_pit *pit, double truth, double error,
                                              double scale, double df, struct gpnn_error *err);

/*
 * Adds a row of which only the PIT and the density at the truth are known.  Between two truths it
 * is as the normal distribution that has both in common with the prediction, which is exact if that
 * is normal.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_pit_add_value(struct gpnn_pit *pit, double truth,
                                                    double value, double density,
                                                    struct gpnn_error *err);

/* Adds a row where the distribution function has a step at the truth, of height 'step' in (0, 1],
 * with its middle at 'value'. */
GPNN_MUST_CHECK enum gpnn_status gpnn_pit_add_step(struct gpnn_pit *pit, double truth, double value,
                                                   double step, struct gpnn_error *err);

/* The PITs of the 'n' rows, ascending; valid until the object is released. */
const double *gpnn_pit_values(struct gpnn_pit *pit);

void gpnn_pit_release(struct gpnn_pit *pit);

#ifdef __cplusplus
}
#endif

#endif
