#include "cmd/predict/predict_private.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "models/joint.h"
#include "table/columns.h"

/* ---- options ------------------------------------------------------------------------------ */

bool joint_resolve(const struct cli *cli, struct predict_arguments *a)
{
  if (!a->is_of_grids && cli_given(cli, "aggregate") && a->group == NULL)
    return cli_refuse(cli, "--aggregate needs --group");
  a->needs_all = a->samples > 0 || a->group != NULL;
  if (!a->needs_all) return true;
  const char *name = a->group != NULL ? "--group" : "--samples";
  if (a->group != NULL && a->samples > 0)
    return cli_refuse(cli, "--samples is about rows; give it or --group");
  if (a->group != NULL && (a->flags_far || a->flags_outside))
    return cli_refuse(cli, "--group writes no rows that could lie far away or outside");
  if (a->group != NULL && (a->append || a->keep != NULL))
    return cli_refuse(cli, "--group writes no rows whose columns could be kept");
  if (a->unbuffered)
    return cli_refuse(cli, "%s needs all rows before it answers, which --unbuffered rules out",
                      name);
  if (a->plan.options.mean_only)
    return cli_refuse(cli, "--mean-only computes no sd, which %s needs", name);
  if (a->max_distance != NULL)
    return cli_refuse(cli, "%s is about predictions from training rows, without --max-distance",
                      name);
  if (a->share > 1)
    return cli_refuse(cli, "%s predicts every row from its own neighbours, without --share", name);
  return true;
}

enum gpnn_status joint_check_targets(const struct run *r, struct gpnn_error *err)
{
  for (size_t t = 0; t < r->opened.n && r->a->group != NULL; t++)
    if (!gpnn_predictor_has_sums(r->together->forecaster.numbers, t))
      return gpnn_fail(err, GPNN_EINVAL,
                       "--group cannot add up transformed targets or counts, whose sum has no "
                       "simple distribution; add up draws of --samples instead");
  return GPNN_OK;
}

/* Prepares joint predictions of a batch; 'rows' has to outlive them. */
static enum gpnn_status prepare(const struct run *r, const struct batch *batch,
                                const struct gpnn_predict_rows *rows, struct gpnn_joint **joint,
                                struct gpnn_error *err)
{
  return gpnn_joint_new(joint, r->together->forecaster.numbers, rows, batch->distributions, err);
}

/* ---- draws -------------------------------------------------------------------------------- */

enum gpnn_status joint_draw(const struct run *r, struct batch *batch, struct gpnn_error *err)
{
  const struct gpnn_predict_rows rows = source_rows(&r->source, batch);
  struct gpnn_joint *joint = NULL;
  size_t size;
  if (!gpnn_multiply(batch->n_good, r->a->samples, &size)) size = SIZE_MAX;
  free(batch->draws); /* those of the rows that were in the batch before */
  batch->draws = gpnn_alloc(r->opened.n, size, sizeof *batch->draws);
  if (batch->draws == NULL) return gpnn_fail_memory(err, "for the samples of all rows");
  enum gpnn_status status = prepare(r, batch, &rows, &joint, err);
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++)
    status = gpnn_joint_draw(joint, t, r->a->samples, r->cli->seed, batch->draws + t * size, err);
  gpnn_joint_free(joint);
  return status;
}

enum gpnn_status joint_write_draw_names(struct run *r, size_t target, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 1; k <= r->a->samples && status == GPNN_OK; k++) {
    char name[32];
    snprintf(name, sizeof name, "sample%zu", k);
    status = columns_write_name(&r->columns[target], &r->sink, name, err);
  }
  return status;
}

enum gpnn_status joint_write_draws(struct run *r, const struct batch *batch, size_t target,
                                   size_t good, struct gpnn_error *err)
{
  size_t n = r->a->samples;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < n && status == GPNN_OK; k++) {
    double value =
        good == SIZE_MAX ? nan("") : batch->draws[(target * batch->n_good + good) * n + k];
    status = sink_value(&r->sink, value, err);
  }
  return status;
}

/* ---- groups ------------------------------------------------------------------------------- */

/* A row of the table, by the text of its group. */
struct labelled {
  const char *text;
  size_t length, row;
};

/* The rows of a group, [begin, end) of the labelled rows, the first of which is 'row'. */
struct group {
  size_t begin, end, row;
};

/* All rows whose group is known, and their groups. */
struct groups {
  struct labelled *rows; /* owned; sorted by group */
  size_t *prediction;    /* owned; by row: the entry of its prediction, SIZE_MAX: none */
  struct group *groups;  /* owned; in the order of the table */
  size_t *members;       /* owned; entries of predictions of one group */
  size_t n_rows, n;
};

static int compare_labelled(const void *a, const void *b)
{
  const struct labelled *p = a, *q = b;
  size_t n = p->length < q->length ? p->length : q->length;
  int order = n == 0 ? 0 : memcmp(p->text, q->text, n);
  if (order != 0) return order;
  if (p->length != q->length) return p->length < q->length ? -1 : 1;
  return p->row < q->row ? -1 : p->row > q->row;
}

static int compare_groups(const void *a, const void *b)
{
  const struct group *p = a, *q = b;
  return p->row < q->row ? -1 : p->row > q->row;
}

static bool is_same_group(const struct labelled *a, const struct labelled *b)
{
  return a->length == b->length && (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

static void groups_release(struct groups *groups)
{
  free(groups->rows);
  free(groups->prediction);
  free(groups->groups);
  free(groups->members);
}

static bool groups_alloc(struct groups *groups, size_t n)
{
  *groups = (struct groups){.rows = gpnn_alloc(n, 1, sizeof *groups->rows),
                            .prediction = gpnn_alloc(n, 1, sizeof *groups->prediction),
                            .groups = gpnn_alloc(n, 1, sizeof *groups->groups),
                            .members = gpnn_alloc(n, 1, sizeof *groups->members)};
  return groups->rows && groups->prediction && groups->groups && groups->members;
}

/* Finds the groups of a batch, whose only carried field is theirs. */
static void find_groups(const struct run *r, const struct batch *batch, struct groups *groups)
{
  size_t at = 0, good = 0;
  for (size_t i = 0; i < batch->n_rows; i++) {
    struct gpnn_field field = {batch->carried.text + at, batch->carried.lengths[i]};
    at += field.length;
    groups->prediction[i] = batch->is_good[i] ? good++ : SIZE_MAX;
    if (!gpnn_field_is_missing(r->source.table, &field))
      groups->rows[groups->n_rows++] = (struct labelled){field.text, field.length, i};
  }
  qsort(groups->rows, groups->n_rows, sizeof *groups->rows, compare_labelled);
  for (size_t i = 0; i < groups->n_rows; i++) {
    const struct labelled *row = &groups->rows[i];
    if (i == 0 || !is_same_group(&row[-1], row))
      groups->groups[groups->n++] = (struct group){i, i, row->row};
    groups->groups[groups->n - 1].end = i + 1;
  }
  qsort(groups->groups, groups->n, sizeof *groups->groups, compare_groups);
}

/* Refuses groups so large that nobody would wait for them, and tells of those that will take
 * minutes: covariances between all rows of a group and all their neighbours. */
static enum gpnn_status check_sizes(const struct run *r, const struct groups *groups,
                                    struct gpnn_error *err)
{
  enum { MOST_ROWS = 20000 };
  const double soon = 1e10, per_minute = 1e10;
  const struct gpnn_model *model = r->together->model;
  size_t m = gpnn_model_neighbours(model, 0);
  double n_training = (double)gpnn_model_channel(model, 0)->dataset->n, most = 0;
  for (size_t g = 0; g < groups->n; g++) {
    const struct group *group = &groups->groups[g];
    const struct labelled *label = &groups->rows[group->begin];
    char shown[GPNN_MASK_BYTES];
    size_t n = group->end - group->begin;
    double points = (double)n * (double)m;
    if (n > MOST_ROWS)
      return gpnn_fail(err, GPNN_EDATA,
                       "%s: the group \"%s\" has %zu rows, and the errors of more than %d are too "
                       "many to add up: divide it, or add up draws of its rows (--samples)",
                       gpnn_table_name(r->source.table),
                       gpnn_mask(shown, label->text, label->length), n, MOST_ROWS);
    points = (double)n + (points < n_training ? points : n_training);
    most += (double)r->opened.n * points * points / 2;
  }
  if (most > soon)
    cli_warn(r->cli,
             "the groups' sums take up to %.2g covariances of errors, which may last some %.0f "
             "processor minutes: smaller groups or fewer neighbours (-m) take fewer",
             most, 1 + most / per_minute);
  return GPNN_OK;
}

/* Lists the group's rows that are predicted; returns their number. */
static size_t list_members(const struct groups *groups, const struct group *group)
{
  size_t n = 0;
  for (size_t i = group->begin; i < group->end; i++) {
    size_t prediction = groups->prediction[groups->rows[i].row];
    if (prediction != SIZE_MAX) groups->members[n++] = prediction;
  }
  return n;
}

/* The sum of the targets of the group's rows that are predicted; NaN: some are missing. */
static double sum_truth(const struct run *r, const struct batch *batch, const struct groups *groups,
                        const struct group *group, size_t target)
{
  double sum = 0;
  for (size_t i = group->begin; i < group->end; i++) {
    size_t row = groups->rows[i].row;
    if (groups->prediction[row] == SIZE_MAX) continue;
    sum += columns_truth(&r->columns[target], batch->truth[row * r->opened.n + target]);
  }
  return sum;
}

/* Writes the line of a group, of which 'n' rows are predicted. */
static enum gpnn_status write_group(struct run *r, const struct batch *batch,
                                    const struct gpnn_joint *joint, const struct groups *groups,
                                    const struct group *group, size_t n, struct gpnn_error *err)
{
  const struct labelled *label = &groups->rows[group->begin];
  double weight = r->a->aggregate == PREDICT_AVERAGE ? 1 / (double)n : 1;
  enum gpnn_status status =
      gpnn_table_write_field(r->sink.output, r->sink.delimiter, label->text, label->length, err);
  r->sink.at_start = false;
  if (status == GPNN_OK) status = sink_value(&r->sink, (double)n, err);
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++) {
    struct prediction sum = PREDICTION_MISSING;
    double truth = nan("");
    if (n > 0) truth = weight * sum_truth(r, batch, groups, group, t);
    if (n > 0)
      status = gpnn_joint_sum(joint, t, n, groups->members, weight, &sum.mean, &sum.sd, err);
    sum.distribution.location = sum.mean;
    sum.distribution.sd = sum.sd;
    if (status == GPNN_OK) status = columns_write_row(&r->columns[t], &r->sink, truth, &sum, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->sink.output, "\n", err) : status;
}

static enum gpnn_status write_all(struct run *r, const struct batch *batch,
                                  const struct gpnn_joint *joint, const struct groups *groups,
                                  struct gpnn_error *err)
{
  size_t n_empty = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t g = 0; g < groups->n && status == GPNN_OK; g++) {
    size_t n = list_members(groups, &groups->groups[g]);
    n_empty += n == 0;
    status = write_group(r, batch, joint, groups, &groups->groups[g], n, err);
  }
  if (n_empty > 0)
    cli_warn(r->cli, "%s: %zu group%s without a row that can be predicted",
             gpnn_table_name(r->source.table), n_empty, n_empty == 1 ? "" : "s");
  return status;
}

enum gpnn_status joint_write_groups(struct run *r, const struct batch *batch,
                                    struct gpnn_error *err)
{
  const struct gpnn_predict_rows rows = source_rows(&r->source, batch);
  struct gpnn_joint *joint = NULL;
  struct groups groups = {0};
  enum gpnn_status status = GPNN_OK;
  if (groups_alloc(&groups, batch->n_rows)) {
    find_groups(r, batch, &groups);
    status = check_sizes(r, &groups, err);
  } else {
    status = gpnn_fail_memory(err, BATCH_ALL_ROWS);
  }
  if (status == GPNN_OK) status = prepare(r, batch, &rows, &joint, err);
  if (status == GPNN_OK) status = write_all(r, batch, joint, &groups, err);
  groups_release(&groups);
  gpnn_joint_free(joint);
  return status;
}
