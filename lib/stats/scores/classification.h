/*
 * classification: how good predictions of classes are, and how honest their probabilities
 * (gpnn-methods(7), section 9).
 *
 * Over n rows with true class y, label and probabilities p_c of the K classes:
 *   error = share of rows whose label is not y;
 *   NLL = mean of -log p_y, with p_y no less than GPNN_CLASSIFICATION_FLOOR;
 *   Brier score = mean of sum_c (p_c - [c = y])^2 (Brier 1950), from 0 to 2, also for two classes;
 *   ECE = expected calibration error of the largest probability, and its mean
 *   by chance;
 *   AUC = area below the curve of struct gpnn_roc_row: with two classes that of the second one's
 *   probability, with more the mean over classes, each against all others (classes that no row or
 *   every row belongs to are left out);
 *   counts of labels, precision and recall.
 * Rows of a class that has no probability ("unseen") count in the error and the counts alone.
 *
 * Calling sequence: gpnn_classification_init() on a zeroed object, gpnn_classification_add() row by
 * row, the results, gpnn_classification_release().  It takes 8 bytes of memory per row, and if it
 * ranks, 8 more per row and class (or per row, with two classes) and 4 per row.
 */
#ifndef GPNN_STATS_CLASSIFICATION_H
#define GPNN_STATS_CLASSIFICATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "stats/sum.h"

/* ---- counts of pairs ------------------------------------------------------------------------ */

/*
 * how often rows of each true class were given each label.
 *
 * Classes are numbers from 0; there need not be a largest one.  Only pairs that occur take memory,
 * at most 48 bytes each.
 *
 * Calling sequence: gpnn_confusion_add() row by row on a zeroed object, then the counts, in any
 * order; gpnn_confusion_release().
 */

/* A zeroed object is empty. */
struct gpnn_confusion {
  size_t n;       /* rows added */
  size_t n_right; /* those of them whose label is their class */
  size_t n_pairs; /* pairs that occur */
  struct gpnn_confusion_pair {
    uint32_t truth, label;
    size_t count; /* 0: the slot is empty */
  } * slots;      /* owned; a power of two of them */
  size_t n_slots;
};

/* Counts a row.  GPNN_ENOMEM: it is not counted. */
GPNN_MUST_CHECK enum gpnn_status gpnn_confusion_add(struct gpnn_confusion *confusion,
                                                    uint32_t truth, uint32_t label,
                                                    struct gpnn_error *err);

/* The rows of class 'truth' that were given 'label'. */
size_t gpnn_confusion_count(const struct gpnn_confusion *confusion, uint32_t truth, uint32_t label);

/* What became of one class.  Precision is the share of its class among the rows with its label,
 * recall the share of its label among the rows of the class; NaN if there are no such rows. */
struct gpnn_confusion_class {
  size_t n_true, n_labelled;
  double precision, recall;
};

/* Fills 'classes' for classes 0 to n_classes - 1; others are left out. */
void gpnn_confusion_classes(const struct gpnn_confusion *confusion, size_t n_classes,
                            struct gpnn_confusion_class *classes);

void gpnn_confusion_release(struct gpnn_confusion *confusion);

/* ---- reliability ---------------------------------------------------------------------------- */

/*
 * whether events that were predicted with some probability occur that often
 * (gpnn-methods(7), section 9).
 *
 * Each row has a probability and is right or not.  Rows are divided into bins ((b-1)/B, b/B] by
 * their probability; in a bin of n_b rows, the mean probability and the share of right rows should
 * agree.  The expected calibration error is ECE = sum over bins of n_b/n |share - mean| (Naeini,
 * Cooper and Hauskrecht 2015; Guo, Pleiss, Sun and Weinberger 2017, with the bins of the latter).
 *
 * By chance alone the two differ, the more so the fewer rows there are.  How much is found by
 * drawing: 100 times, each row is right with its probability, and the error is averaged.
 *
 * Calling sequence: gpnn_reliability_add() row by row on a zeroed object, then its results;
 * gpnn_reliability_release().  It takes 8 bytes of memory per row.  Results do not depend on the
 * order of the rows but for rounding.
 */

enum { GPNN_RELIABILITY_BINS = 15 };

/* A zeroed object is empty. */
struct gpnn_reliability {
  size_t n;
  struct gpnn_reliability_sums {
    size_t n, n_right;
    struct gpnn_sum probability, variance; /* p and p (1 - p), summed */
  } sums[GPNN_RELIABILITY_BINS];
  double *probabilities; /* owned; n */
  size_t capacity;
};

/* Adds a row; 'probability' in [0, 1].  GPNN_ENOMEM: nothing is added. */
GPNN_MUST_CHECK enum gpnn_status gpnn_reliability_add(struct gpnn_reliability *reliability,
                                                      double probability, bool is_right,
                                                      struct gpnn_error *err);

struct gpnn_reliability_bin {
  double from, to;
  size_t n;
  double predicted, observed; /* mean probability, share of right rows; NaN without rows */
  double se;                  /* the standard error of 'observed', if the probabilities are right */
};

/* Bin 'b' < GPNN_RELIABILITY_BINS. */
struct gpnn_reliability_bin gpnn_reliability_bin(const struct gpnn_reliability *reliability,
                                                 size_t b);

/* The expected calibration error; NaN without rows. */
double gpnn_reliability_error(const struct gpnn_reliability *reliability);

/* Its mean if the probabilities are right, from draws that are always the same; sorts the rows. */
double gpnn_reliability_chance(struct gpnn_reliability *reliability);

void gpnn_reliability_release(struct gpnn_reliability *reliability);

/* ---- the curve of true against false alarms ------------------------------------------------- */

/*
 * how well scores tell rows of one class from all others (gpnn-methods(7), section 9).
 *
 * Rows with a score of at least some threshold are taken for the class.  The share of the class
 * that this finds (the true positive rate) against the share of all others that it takes too (the
 * false positive rate), for every threshold, is the receiver operating characteristic.  The area
 * below it is the probability that a row of the class has a higher score than another one, ties
 * counting one half (Mann and Whitney 1947; Hanley and McNeil 1982).
 *
 * Calling sequence: gpnn_roc_area() with all rows, which sorts them, then gpnn_roc_curve().
 */

struct gpnn_roc_row {
  double score; /* not NaN */
  bool is_positive;
};

/* Sorts the rows by descending score and returns the area in [0, 1]; NaN unless there are rows of
 * the class and others. */
double gpnn_roc_area(size_t n, struct gpnn_roc_row *rows);

struct gpnn_roc_point {
  double threshold; /* INFINITY at the first point: no row is taken for the class */
  double false_positive, true_positive;
};

/*
 * Writes points of the curve, from (0, 0) to (1, 1), to 'points' and returns how many: those of all
 * thresholds, but for points so near to the one before that there are more than 'most' (at least
 * 3).  The rows are sorted as above; 0 if they do not include both kinds.
 */
size_t gpnn_roc_curve(size_t n, const struct gpnn_roc_row *rows, size_t most,
                      struct gpnn_roc_point *points);

#define GPNN_CLASSIFICATION_FLOOR 1e-300

/* How far probabilities may be outside [0, 1], and their sum from 1: some have few digits. */
#define GPNN_CLASSIFICATION_EXCESS 1e-6
#define GPNN_CLASSIFICATION_SUM_TOLERANCE 0.01

/* The prediction of a row and its truth; classes are numbers from 0. */
struct gpnn_classification_row {
  uint32_t truth, label;
  const double *p; /* of classes 0 to n_classes - 1; NULL: not known */
  /* What is known without 'p': the most probable class and its probability (NaN: not known), and
   * the logarithm of the probability of the truth (NaN: not known; may be -INFINITY). */
  uint32_t top;
  double top_probability, logp;
};

struct gpnn_classification {
  size_t n_classes; /* with probabilities; 0: there are none */
  bool ranks;       /* AUC and curves are wanted */
  size_t n;         /* rows added */
  size_t n_unseen;  /* rows of a class without a probability */
  size_t n_scored;  /* rows with a 'logp', given or from probabilities */
  size_t n_floored; /* those whose truth had a probability below the floor */
  size_t n_unequal; /* rows whose probabilities do not sum to 1 */
  struct gpnn_confusion confusion;
  struct gpnn_sum nll, brier;
  struct gpnn_reliability reliability;
  /* If it ranks, of the rows with probabilities that are not unseen: */
  size_t n_ranked;
  double *scores;   /* owned; n_ranked by n_classes, or n_ranked of the second of two classes */
  uint32_t *truths; /* owned; n_ranked */
  size_t scores_capacity, truths_capacity;
};

/* Sets what is fixed: the number of classes that rows have probabilities of, at most 2^31, and
 * whether AUC and curves will be asked for. */
void gpnn_classification_init(struct gpnn_classification *classification, size_t n_classes,
                              bool ranks);

/*
 * Adds a row; with n_classes > 0 every row has probabilities.
 * GPNN_EDATA: a probability is not between 0 and 1, or a logp above 0.  GPNN_ENOMEM.  After a
 * failure, only release the object.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_classification_add(struct gpnn_classification *classification,
                                                         const struct gpnn_classification_row *row,
                                                         struct gpnn_error *err);

/* NaN: not known, for want of probabilities or of rows. */
struct gpnn_classification_result {
  size_t n, n_unseen;
  double error, nll, brier, ece, ece_chance, auc;
};

/* Computes the result; more rows may be added afterwards.  GPNN_EDATA: no row has been added.
 * GPNN_ENOMEM: no room to sort. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_result(struct gpnn_classification *classification,
                           struct gpnn_classification_result *result, struct gpnn_error *err);

/* The area of class 'c' < n_classes against all others; NaN if it has no rows, or all of them, or
 * nothing is ranked.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_area(const struct gpnn_classification *classification, size_t c, double *area,
                         struct gpnn_error *err);

/* The curve of class 'c', of two classes the second: '*n_points' <= 'most' points
 * (gpnn_roc_curve()).  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_classification_curve(const struct gpnn_classification *classification, size_t c, size_t most,
                          struct gpnn_roc_point *points, size_t *n_points, struct gpnn_error *err);

void gpnn_classification_release(struct gpnn_classification *classification);

#endif
