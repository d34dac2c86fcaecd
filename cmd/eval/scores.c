#include "cmd/eval/scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void release_cells(struct scores_cell *cells, size_t n)
{
  for (size_t t = 0; t < n && cells != NULL; t++) {
    gpnn_metrics_release(&cells[t].metrics);
    free(cells[t].given);
    if (cells[t].classes != NULL) gpnn_classification_release(cells[t].classes);
    free(cells[t].classes);
  }
  free(cells);
}

/* False: there is not enough memory. */
static bool make_cell(const struct scores *s, size_t t, struct scores_cell *cell)
{
  const struct gpnn_predictions_target *target = &s->predictions->targets[t];
  if (target->classes == NULL) {
    gpnn_metrics_levels(&cell->metrics, s->levels.n, s->levels.p);
    cell->given = gpnn_alloc(target->n_intervals, 1, sizeof *cell->given);
    return cell->given != NULL;
  }
  cell->classes = gpnn_alloc(1, 1, sizeof *cell->classes);
  if (cell->classes == NULL) return false;
  gpnn_classification_init(cell->classes, gpnn_predictions_n_probabilities(target->classes),
                           s->ranks);
  return true;
}

static struct scores_cell *new_cells(const struct scores *s)
{
  size_t n = s->predictions->n_targets;
  struct scores_cell *cells = gpnn_alloc(n, 1, sizeof *cells);
  bool enough = cells != NULL;
  for (size_t t = 0; t < n && enough; t++) enough = make_cell(s, t, &cells[t]);
  if (enough) return cells;
  release_cells(cells, n);
  return NULL;
}

enum gpnn_status scores_init(struct scores *scores, const struct gpnn_predictions *predictions,
                             const struct cli_probabilities *levels, enum scores_table table,
                             struct gpnn_error *err)
{
  scores->predictions = predictions;
  scores->ranks = table == SCORES_METRICS || table == SCORES_ROC || table == SCORES_CLASSES;
  scores->levels = *levels;
  scores->all.cells = new_cells(scores);
  return scores->all.cells != NULL ? GPNN_OK : gpnn_fail_memory(err, "for the scores");
}

/* ---- groups ------------------------------------------------------------------------------- */

static int compare_names(const struct scores_group *group, const struct gpnn_field *name)
{
  size_t n = group->name_length < name->length ? group->name_length : name->length;
  int order = n == 0 ? 0 : memcmp(group->name, name->text, n);
  return order != 0 ? order
                    : (group->name_length > name->length) - (group->name_length < name->length);
}

/* Inserts an empty group at index 'at'; NULL if memory runs out. */
static struct scores_group *insert_group(struct scores *s, size_t at, const struct gpnn_field *name)
{
  if (!gpnn_grow(&s->groups, &s->groups_capacity, s->n_groups + 1, sizeof *s->groups)) return NULL;
  char *copy = gpnn_copy_text(name->text, name->length);
  struct scores_cell *cells = new_cells(s);
  if (copy == NULL || cells == NULL) {
    free(copy);
    release_cells(cells, s->predictions->n_targets);
    return NULL;
  }
  memmove(s->groups + at + 1, s->groups + at, (s->n_groups - at) * sizeof *s->groups);
  s->n_groups++;
  s->groups[at] = (struct scores_group){copy, name->length, cells};
  return &s->groups[at];
}

/* Finds the group called 'name', adding it if it is new. */
static struct scores_group *find_group(struct scores *s, const struct gpnn_field *name)
{
  size_t low = 0, high = s->n_groups;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = compare_names(&s->groups[middle], name);
    if (order == 0) return &s->groups[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return insert_group(s, low, name);
}

/* ---- counting ----------------------------------------------------------------------------- */

static enum gpnn_status add_to_cell(struct scores_cell *cell, size_t n_intervals,
                                    const struct gpnn_predictions_row *p, struct gpnn_error *err)
{
  const struct gpnn_metrics_given given = {.logp = p->score[GPNN_PREDICTIONS_LOGP],
                                           .crps = p->score[GPNN_PREDICTIONS_CRPS],
                                           .pit = p->score[GPNN_PREDICTIONS_PIT],
                                           .step = p->score[GPNN_PREDICTIONS_PITSTEP]};
  enum gpnn_status status =
      gpnn_metrics_add_given(&cell->metrics, p->truth, p->mean, p->sd, p->df, &given, err);
  for (size_t i = 0; i < n_intervals && status == GPNN_OK; i++)
    if (!isnan(p->lower[i]) && !isnan(p->upper[i]))
      status = gpnn_coverage_add(&cell->given[i], p->truth, p->lower[i], p->upper[i], err);
  return status;
}

enum gpnn_status scores_add(struct scores *scores, size_t t, const struct gpnn_field *name,
                            const struct gpnn_predictions_row *prediction, struct gpnn_error *err)
{
  size_t n = scores->predictions->targets[t].n_intervals;
  enum gpnn_status status = add_to_cell(&scores->all.cells[t], n, prediction, err);
  if (status != GPNN_OK || name == NULL) return status;
  struct scores_group *group = find_group(scores, name);
  if (group == NULL) return gpnn_fail_memory(err, "for the groups");
  return add_to_cell(&group->cells[t], n, prediction, err);
}

enum gpnn_status scores_add_class(struct scores *scores, size_t t, const struct gpnn_field *name,
                                  const struct gpnn_predictions_class_row *prediction,
                                  struct gpnn_error *err)
{
  const struct gpnn_classification_row row = {.truth = prediction->truth,
                                              .label = prediction->label,
                                              .p = prediction->p,
                                              .top = prediction->top,
                                              .top_probability = prediction->top_probability,
                                              .logp = prediction->logp};
  enum gpnn_status status = gpnn_classification_add(scores->all.cells[t].classes, &row, err);
  if (status != GPNN_OK || name == NULL) return status;
  struct scores_group *group = find_group(scores, name);
  if (group == NULL) return gpnn_fail_memory(err, "for the groups");
  return gpnn_classification_add(group->cells[t].classes, &row, err);
}

size_t scores_count(const struct scores_cell *cell)
{
  return cell->classes != NULL ? cell->classes->n : cell->metrics.n;
}

void scores_release(struct scores *scores)
{
  size_t n_targets = scores->predictions == NULL ? 0 : scores->predictions->n_targets;
  for (size_t i = 0; i < scores->n_groups; i++) {
    free(scores->groups[i].name);
    release_cells(scores->groups[i].cells, n_targets);
  }
  free(scores->groups);
  release_cells(scores->all.cells, n_targets);
}
