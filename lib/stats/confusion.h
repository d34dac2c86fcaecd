/*
 * confusion: how often rows of each true class were given each label.
 *
 * Classes are numbers from 0; there need not be a largest one.  Only pairs that occur take memory,
 * at most 48 bytes each.
 *
 * Calling sequence: gpnn_confusion_add() row by row on a zeroed object, then the counts, in any
 * order; gpnn_confusion_release().
 */
#ifndef GPNN_STATS_CONFUSION_H
#define GPNN_STATS_CONFUSION_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif
