/*
 * scores: the normal scores of standardised inputs (gpnn-methods(7), equations 1.16 to 1.18).
 *
 * A kernel sees distances.  Where an input is skewed, or its rows crowd at some values, differences
 * in rank may tell more than differences in value; which of them does is chosen when parameters are
 * estimated.  The score of a value is the normal quantile of the share of training rows below it,
 * half of those equal to it included; divided, like a standardised input, by the root of the number
 * of inputs.
 *
 * A score is kept as a curve: knots at distinct values, at most GPNN_SCORES_KNOTS of an input and
 * none with a score beyond 3; linear between them, and beyond them with the slope of the outermost
 * tenth of the knots, so that far rows stay far.
 *
 * An input that has a unit, is one of several coordinates of a point, comes from a category, or has
 * slopes of groups has no score.  Nor has an input with fewer than three different values, whose
 * score would be a linear function of it.
 *
 * Threads: curves that are learnt are read-only and may be shared.
 */
#ifndef GPNN_DATASET_SCORES_H
#define GPNN_DATASET_SCORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gpnn_dataset; /* dataset/dataset.h */
struct gpnn_parts;   /* base/peers.h */

enum { GPNN_SCORES_KNOTS = 512 };

/* What a model sees of an input. */
enum gpnn_sight {
  GPNN_SIGHT_VALUE = 1,
  GPNN_SIGHT_SCORE = 2,
  GPNN_SIGHT_BOTH = 3, /* the value, then the score, each with a lengthscale of its own */
};

/* "none", "only" or "both": what part scores have in it. */
const char *gpnn_sight_name(enum gpnn_sight sight);

/* Reads such a name, of 'length' bytes; false: it is another. */
bool gpnn_sight_by_name(const char *name, size_t length, unsigned char *sight);

/* True if inputs are seen otherwise than by their value alone; 'sight' may be NULL. */
bool gpnn_sight_is_special(size_t d, const unsigned char *sight);

/* The curves of 'd' inputs.  A zeroed object has none and may be released. */
struct gpnn_scores {
  size_t d;
  size_t *first; /* owned; d + 1: number of the first knot of each input, then of all knots */
  double *knots; /* owned; value and score of each knot, both rising along an input; an input
                    without a score has no knots, any other at least 2 */
};

bool gpnn_scores_has(const struct gpnn_scores *scores, size_t j);

/* The number of knots of input 'j'; 0: it has no score. */
size_t gpnn_scores_knots(const struct gpnn_scores *scores, size_t j);

/* True if any input has a score. */
bool gpnn_scores_any(const struct gpnn_scores *scores);

/* Learns the curves from the training rows of 'dataset', whose inputs are those of its index, or
 * from 32768 random ones.  Its arrays have those rows that are here by 'parts'; NULL: all.
 * 'scores' must be zeroed; it stays so if no input has a score.  GPNN_ENOMEM, and failures of the
 * peers that have the others. */
GPNN_MUST_CHECK enum gpnn_status gpnn_scores_learn(struct gpnn_scores *scores,
                                                   const struct gpnn_dataset *dataset,
                                                   const struct gpnn_parts *parts, uint64_t seed,
                                                   struct gpnn_error *err);

/* What normal scores are multiplied by, so that their variance is that of the standardised inputs
 * of 'dataset'. */
double gpnn_scores_unit(const struct gpnn_dataset *dataset);

/* True if curves that were read from a file, of finite numbers, could have been learnt. */
bool gpnn_scores_are_valid(const struct gpnn_scores *scores);

/* The score of a standardised value of input 'j', which has one. */
double gpnn_scores_of(const struct gpnn_scores *scores, size_t j, double value);

/* How many numbers 'd' inputs become if they are seen as 'sight' says. */
size_t gpnn_scores_width(size_t d, const unsigned char *sight);

/* Replaces the d values in 'z', which has room for gpnn_scores_width(), by what is seen of them. */
void gpnn_scores_see(const struct gpnn_scores *scores, const unsigned char *sight, double *z);

/* How the inputs of 'dataset' are seen if those that have scores are seen as 'sight': d of them,
 * for the caller to free; NULL: not enough memory. */
unsigned char *gpnn_scores_list_sight(const struct gpnn_dataset *dataset, enum gpnn_sight sight);

void gpnn_scores_release(struct gpnn_scores *scores);

#ifdef __cplusplus
}
#endif

#endif
