/* What there is to write of predictions of classes. */
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/eval/scores_private.h"

enum { POINTS = 200 }; /* of a curve, at most */

enum gpnn_status scores_list_classes(struct scores_cell *cell,
                                     const struct gpnn_predictions_classes *names,
                                     struct scores_row *row, struct gpnn_error *err)
{
  struct gpnn_classification_result *r = &cell->result;
  enum gpnn_status status =
      cell->has_result ? GPNN_OK : gpnn_classification_result(cell->classes, r, err);
  if (status != GPNN_OK) return status;
  cell->has_result = true;
  bool has_all = gpnn_predictions_n_probabilities(names) > 0;
  scores_put(row, "n", (double)r->n);
  scores_put(row, "error", r->error);
  if (!gpnn_predictions_has_top(names)) return GPNN_OK;
  scores_put(row, "nll", r->nll);
  if (has_all) scores_put(row, "brier", r->brier);
  scores_put(row, "ece", r->ece);
  scores_put(row, "ece_chance", r->ece_chance);
  if (has_all) scores_put(row, "auc", r->auc);
  if (has_all) scores_put(row, "unseen", (double)r->n_unseen);
  return GPNN_OK;
}

/* ---- tables ------------------------------------------------------------------------------- */

/* The curves of all classes or, of two, that of the second. */
static enum gpnn_status prepare_points(struct scores_parts *parts, const struct scores_cell *cell,
                                       size_t n_classes, struct gpnn_error *err)
{
  struct gpnn_roc_point points[POINTS];
  size_t capacity = 0, n;
  for (size_t c = n_classes == 2 ? 1 : 0; c < n_classes; c++) {
    enum gpnn_status status = gpnn_classification_curve(cell->classes, c, POINTS, points, &n, err);
    if (status != GPNN_OK) return status;
    if (!gpnn_grow(&parts->points, &capacity, parts->n + n + 1, sizeof *parts->points))
      return gpnn_fail_memory(err, "for the points of the curves");
    for (size_t i = 0; i < n; i++) parts->points[parts->n++] = (struct scores_point){c, points[i]};
  }
  return GPNN_OK;
}

enum gpnn_status scores_prepare_classes(struct scores_parts *parts, const struct scores_form *form,
                                        struct scores_cell *cell,
                                        const struct gpnn_predictions_classes *names,
                                        struct gpnn_error *err)
{
  size_t n = gpnn_predictions_n_classes(names);
  if (form->table == SCORES_ROC)
    return prepare_points(parts, cell, gpnn_predictions_n_probabilities(names), err);
  parts->n = form->table == SCORES_RELIABILITY ? GPNN_RELIABILITY_BINS
             : form->table == SCORES_CONFUSION ? n * n
                                               : n;
  if (form->table == SCORES_RELIABILITY || form->table == SCORES_CONFUSION) return GPNN_OK;
  parts->classes = gpnn_alloc(n, 1, sizeof *parts->classes);
  if (parts->classes == NULL) return gpnn_fail_memory(err, "for the classes");
  gpnn_confusion_classes(&cell->classes->confusion, n, parts->classes);
  return GPNN_OK;
}

static void list_bin(const struct gpnn_reliability *reliability, size_t i, struct scores_row *row)
{
  struct gpnn_reliability_bin bin = gpnn_reliability_bin(reliability, i);
  scores_put(row, "from", bin.from);
  scores_put(row, "to", bin.to);
  scores_put(row, "n", (double)bin.n);
  scores_put(row, "predicted", bin.predicted);
  scores_put(row, "observed", bin.observed);
  scores_put(row, "se", bin.se);
}

static void list_pair(const struct gpnn_confusion *confusion,
                      const struct gpnn_predictions_classes *names, size_t i,
                      struct scores_row *row)
{
  size_t n = gpnn_predictions_n_classes(names);
  size_t truth = gpnn_predictions_class_at(names, i / n);
  size_t label = gpnn_predictions_class_at(names, i % n);
  size_t count = gpnn_confusion_count(confusion, (uint32_t)truth, (uint32_t)label);
  scores_put_text(row, "truth", gpnn_predictions_class_name(names, truth));
  scores_put_text(row, "label", gpnn_predictions_class_name(names, label));
  scores_put(row, "n", (double)count);
}

static void list_point(const struct scores_point *at, const struct gpnn_predictions_classes *names,
                       struct scores_row *row)
{
  scores_put_text(row, "class", gpnn_predictions_class_name(names, at->class));
  scores_put(row, "threshold", at->point.threshold);
  scores_put(row, "fpr", at->point.false_positive);
  scores_put(row, "tpr", at->point.true_positive);
}

static enum gpnn_status list_class(const struct scores_parts *parts, const struct scores_cell *cell,
                                   const struct gpnn_predictions_classes *names, size_t i,
                                   struct scores_row *row, struct gpnn_error *err)
{
  size_t c = gpnn_predictions_class_at(names, i);
  double area = NAN;
  enum gpnn_status status = GPNN_OK;
  if (c < gpnn_predictions_n_probabilities(names))
    status = gpnn_classification_area(cell->classes, c, &area, err);
  scores_put_text(row, "class", gpnn_predictions_class_name(names, c));
  scores_put(row, "n", (double)parts->classes[c].n_true);
  scores_put(row, "labelled", (double)parts->classes[c].n_labelled);
  scores_put(row, "precision", parts->classes[c].precision);
  scores_put(row, "recall", parts->classes[c].recall);
  scores_put(row, "auc", area);
  return status;
}

enum gpnn_status scores_row_of_classes(const struct scores_parts *parts,
                                       const struct scores_form *form,
                                       const struct scores_cell *cell,
                                       const struct gpnn_predictions_classes *names, size_t i,
                                       struct scores_row *row, struct gpnn_error *err)
{
  const struct scores_point none = {0};
  if (form->table == SCORES_CLASSES) return list_class(parts, cell, names, i, row, err);
  if (form->table == SCORES_RELIABILITY)
    list_bin(&cell->classes->reliability, i, row);
  else if (form->table == SCORES_CONFUSION)
    list_pair(&cell->classes->confusion, names, i, row);
  else
    list_point(i < parts->n ? &parts->points[i] : &none, names, row);
  return GPNN_OK;
}

void scores_parts_release(struct scores_parts *parts)
{
  free(parts->shares);
  free(parts->classes);
  free(parts->points);
  *parts = (struct scores_parts){0};
}
