/* rows: the training rows that each row of a table is predicted from. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/explain/explain.h"
#include "dataset/ids.h"
#include "dataset/missing.h"
#include "dataset/reader.h"
#include "explain/parts.h"
#include "linalg/arrays.h"
#include "models/labels.h"
#include "models/predict.h"
#include "table/columns.h"

enum { BATCH = 256 };

/* A member of a stack, or the only process there is. */
struct member {
  struct gpnn_parameters parameters; /* of it alone; what they own belongs to the stack's */
  struct gpnn_channel channel;
  struct gpnn_model *own; /* owned; NULL: it is that of all */
  const struct gpnn_model *model;
  double weight;
  struct gpnn_parts parts; /* owned; of the rows of a batch */
};

struct listing {
  struct explaining *e;
  struct gpnn_reader reader;
  struct gpnn_table *table; /* NULL: training rows are explained, each from the others */
  size_t n_members;
  struct member *members; /* owned; n_members */
  struct gpnn_predictor *predictor;
  struct gpnn_labels *labels; /* owned: one of the two, as the target is a number or classes */
  uint64_t *number;           /* owned; n: of each training row in its table */
  const struct gpnn_ids *ids; /* what these are known by; NULL: they have no ids */
  struct sheet sheet;
  bool is_warped;
  size_t n_read, n_incomplete, n_unseen;
  struct gpnn_skipped skipped;
  struct gpnn_counts counts;
  /* The rows of a batch. */
  struct gpnn_predict_rows rows;
  double *x, *regressors, *noise, *offsets, *exposure; /* owned, as are the following */
  int64_t *self;                                       /* the training row that each is, or -1 */
  size_t *row;                                         /* which of the table each is, from 1 */
  size_t n_kept, *kept_columns;                        /* of --keep */
  char **kept;                                         /* their texts, owned: n_kept of each row */
  double *mean, *variance, *mean_variance, *misfit, *nearest, *p;
  struct gpnn_distribution *distributions;
  struct gpnn_arrays *arrays; /* owned; what frees the arrays */
};

/* ---- what there is to be opened -------------------------------------------------------------- */

static enum gpnn_status open_members(struct listing *l, struct gpnn_error *err)
{
  const struct gpnn_parameters *all = l->e->channel->parameters;
  const struct gpnn_model_options options = {.threads = l->e->cli->threads};
  size_t n = gpnn_parameters_n_members(all);
  l->members = gpnn_alloc(n, 1, sizeof *l->members);
  if (l->members == NULL) return gpnn_fail_memory(err, "for the members of a stack");
  l->n_members = n;
  for (size_t r = 0; r < n; r++) {
    struct member *member = &l->members[r];
    member->weight = n == 1 ? 1 : gpnn_parameters_weight(all, r);
    member->model = l->e->model;
    if (n == 1) break;
    member->parameters = gpnn_parameters_alone(all, r);
    member->channel = (struct gpnn_channel){l->e->channel->dataset, &member->parameters};
    enum gpnn_status status = gpnn_model_new(&member->own, 1, &member->channel, &options, err);
    if (status != GPNN_OK) return status;
    member->model = member->own;
  }
  return GPNN_OK;
}

static enum gpnn_status open_rows(struct listing *l, struct gpnn_error *err)
{
  const struct explaining *e = l->e;
  const struct gpnn_dataset *dataset = e->channel->dataset;
  bool of_counts = gpnn_likelihood_is_of_counts(e->channel->parameters->likelihood);
  enum gpnn_status status = open_table(e->cli, dataset, cli_operand(e->cli, 1), &l->table, err);
  if (status == GPNN_OK)
    status = gpnn_reader_open(&l->reader, dataset, l->table,
                              gpnn_parameters_use_regressors(e->channel->parameters), err);
  if (status != GPNN_OK) return status;
  if (e->a->keep != NULL)
    status = gpnn_columns_find_list(l->table, e->a->keep, &l->kept_columns, &l->n_kept, err);
  if (status != GPNN_OK) return status;
  gpnn_reader_take_missing(&l->reader);
  for (size_t t = 0; t < dataset->schema.n_offsets; t++)
    if (t != dataset->target) gpnn_reader_ignore_offset(&l->reader, t);
  status = gpnn_reader_require_offsets(&l->reader, err);
  if (status == GPNN_OK && of_counts) status = gpnn_reader_require_exposure(&l->reader, err);
  return status;
}

static enum gpnn_status make_room(struct listing *l, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = l->e->channel->dataset;
  l->arrays = GPNN_ARRAYS(
      GPNN_ARRAY(l->x, BATCH, dataset->d), GPNN_ARRAY(l->regressors, BATCH, dataset->n_regressors),
      GPNN_ARRAY(l->noise, BATCH, 1), GPNN_ARRAY(l->offsets, BATCH, dataset->schema.n_offsets),
      GPNN_ARRAY(l->exposure, BATCH, 1), GPNN_ARRAY(l->row, BATCH, 1),
      GPNN_ARRAY(l->self, BATCH, 1), GPNN_ARRAY(l->kept, BATCH, l->n_kept),
      GPNN_ARRAY(l->mean, BATCH, 1), GPNN_ARRAY(l->variance, BATCH, 1),
      GPNN_ARRAY(l->mean_variance, BATCH, 1), GPNN_ARRAY(l->misfit, BATCH, 1),
      GPNN_ARRAY(l->nearest, BATCH, 1), GPNN_ARRAY(l->distributions, BATCH, 1),
      GPNN_ARRAY(l->p, BATCH, l->e->n_classes));
  if (l->arrays == NULL) return gpnn_fail_memory(err, "for the rows of a table");
  bool has_regressors = gpnn_parameters_use_regressors(l->e->channel->parameters);
  bool of_counts = gpnn_likelihood_is_of_counts(l->e->channel->parameters->likelihood);
  l->rows = (struct gpnn_predict_rows){
      .x = l->x,
      .regressors = has_regressors ? l->regressors : NULL,
      .noise = (l->table == NULL ? l->e->view->noise != NULL : l->reader.map.has_noise) ? l->noise
                                                                                        : NULL,
      .offset = dataset->schema.n_offsets > 0 ? l->offsets : NULL,
      .exposure = dataset->schema.has_exposure && of_counts ? l->exposure : NULL,
      .self = l->table == NULL ? l->self : NULL};
  return GPNN_OK;
}

/* Finds the ids of training rows, if they have any. */
static enum gpnn_status open_ids(struct listing *l, struct gpnn_error *err)
{
  l->ids = gpnn_index_dataset(l->e->opened.index)->ids;
  if (l->ids == NULL || gpnn_ids_are_good(l->ids)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: " GPNN_IDS_DAMAGED, cli_operand(l->e->cli, 0));
}

static enum gpnn_status open_all(struct listing *l, struct gpnn_error *err)
{
  const struct gpnn_predict_options usual = {.units = GPNN_UNITS_ORIGINAL};
  enum gpnn_status status = open_members(l, err);
  if (status == GPNN_OK) status = explain_number_rows(l->e, &l->number, err);
  if (status == GPNN_OK) status = open_ids(l, err);
  if (status == GPNN_OK && !l->e->a->loo) status = open_rows(l, err);
  if (status == GPNN_OK) status = make_room(l, err);
  if (status == GPNN_OK && l->e->n_classes > 0)
    status = gpnn_labels_new(&l->labels, l->e->model, 0, &usual, err);
  else if (status == GPNN_OK)
    status = gpnn_predictor_new(&l->predictor, l->e->model, &usual, err);
  return status;
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* Takes the training rows that come next.  GPNN_END: there are no more. */
static enum gpnn_status take_batch(struct listing *l)
{
  const struct gpnn_dataset *dataset = l->e->channel->dataset, *view = l->e->view;
  size_t d = dataset->d, p = dataset->n_regressors, q = dataset->schema.n_offsets;
  double unit = view->scaling.y_sd * view->scaling.y_sd;
  for (l->rows.n = 0; l->rows.n < BATCH && l->n_read < dataset->n; l->n_read++) {
    size_t i = l->rows.n, row = l->n_read;
    gpnn_missing_restore(dataset, row, l->x + i * d);
    if (p > 0) memcpy(l->regressors + i * p, dataset->regressors + row * p, p * sizeof(double));
    l->noise[i] = view->noise == NULL ? 0 : view->noise[row] * unit;
    for (size_t t = 0; t < q; t++)
      l->offsets[i * q + t] = t == view->target ? view->offset[row] : 0;
    l->exposure[i] = dataset->exposure == NULL ? 1 : dataset->exposure[row];
    l->self[i] = (int64_t)row;
    l->row[i] = (size_t)l->number[row];
    bool lacks = gpnn_row_is_incomplete(d, l->x + i * d);
    l->n_incomplete += lacks;
    l->rows.n += !lacks;
  }
  return l->n_read < dataset->n ? GPNN_OK : GPNN_END;
}

/* Keeps the texts of row 'i' that are carried along, in place of those of an earlier one. */
static enum gpnn_status keep_texts(struct listing *l, size_t i, const struct gpnn_record *record,
                                   struct gpnn_error *err)
{
  for (size_t k = 0; k < l->n_kept; k++) {
    const struct gpnn_field *field = &record->fields[l->kept_columns[k]];
    char **kept = &l->kept[i * l->n_kept + k];
    free(*kept);
    *kept = gpnn_copy_text(field->text, field->length);
    if (*kept == NULL) return gpnn_fail_memory(err, "for the rows of a table");
  }
  return GPNN_OK;
}

static void write_kept(struct listing *l, size_t i)
{
  for (size_t k = 0; k < l->n_kept; k++)
    sheet_text(&l->sheet, gpnn_table_column(l->table, l->kept_columns[k]),
               l->kept[i * l->n_kept + k]);
}

/* Reads rows until there are enough; those that lack inputs are counted and left out.  GPNN_END:
 * there are no more. */
static enum gpnn_status read_batch(struct listing *l, struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = l->e->channel->dataset;
  size_t d = dataset->d, p = dataset->n_regressors, q = dataset->schema.n_offsets;
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  l->rows.n = 0;
  while (l->rows.n < BATCH && status == GPNN_OK) {
    size_t i = l->rows.n;
    status = gpnn_table_next(l->table, &record, err);
    if (status == GPNN_OK)
      status = gpnn_reader_read(&l->reader, &record, l->x + i * d, l->regressors + i * p,
                                &l->noise[i], &l->n_unseen, err);
    if (status == GPNN_OK)
      status = gpnn_reader_offsets(&l->reader, &record, l->offsets + i * q, err);
    if (status == GPNN_OK && l->rows.exposure != NULL)
      status = gpnn_reader_exposure(&l->reader, &record, &l->exposure[i], err);
    if (status == GPNN_OK) status = keep_texts(l, i, &record, err);
    if (status == GPNN_END) break;
    l->row[i] = ++l->n_read;
    if (status == GPNN_EDATA && l->e->a->skip_bad != SKIP_NONE) {
      gpnn_skipped_add(&l->skipped, &record, err);
      status = GPNN_OK;
      continue;
    }
    if (status != GPNN_OK) break;
    bool lacks = gpnn_row_is_incomplete(d, l->x + i * d);
    l->n_incomplete += lacks;
    l->rows.n += !lacks;
  }
  return status;
}

/* Finds what the rows are predicted as, and from what. */
static enum gpnn_status explain_batch(struct listing *l, struct gpnn_error *err)
{
  const struct gpnn_query query = {
      .n = l->rows.n, .x = l->rows.x, .regressors = l->rows.regressors, .self = l->rows.self};
  const struct gpnn_latent latent = {.mean = l->mean,
                                     .variance = l->variance,
                                     .mean_variance = l->mean_variance,
                                     .misfit = l->misfit,
                                     .nearest = l->nearest};
  struct gpnn_counts again = {0};
  enum gpnn_status status = GPNN_OK;
  if (l->labels != NULL)
    status = gpnn_labels_predict(l->labels, &l->rows, l->p, &l->counts, err);
  else
    status = gpnn_predict_distributions(l->predictor, &l->rows, l->distributions, &l->counts, err);
  if (status == GPNN_OK && l->labels == NULL)
    status = gpnn_model_predict(l->e->model, &query, &latent, &again, err);
  for (size_t r = 0; r < l->n_members && status == GPNN_OK; r++) {
    gpnn_parts_release(&l->members[r].parts);
    status = gpnn_parts_find(&l->members[r].parts, l->members[r].model, &query, &again, err);
  }
  return status;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Something that a prediction is made of.  NaN, and a rank of 0: there is none. */
struct line {
  const char *source;
  size_t member, rank;
  uint64_t training;
  double distance, weight, part;
  int64_t row; /* of training; -1: it is none */
};

/* What is predicted of row 'i'. */
static void write_prediction(struct listing *l, size_t i)
{
  struct sheet *sheet = &l->sheet;
  if (l->labels != NULL) {
    size_t n = l->e->n_classes, label, length;
    gpnn_labels_rank(n, l->p + i * n, NULL, 1, &label);
    const char *name = gpnn_dataset_class(l->e->view, label, &length);
    sheet_bytes(sheet, "label", name, length);
    sheet_number(sheet, "p", l->p[i * n + label]);
    return;
  }
  const struct gpnn_head head = gpnn_head_of(l->e->channel->parameters);
  const struct gpnn_latent_row latent = {.mean = l->mean[i],
                                         .variance = l->variance[i],
                                         .mean_variance = l->mean_variance[i],
                                         .misfit = l->misfit[i],
                                         .nearest = l->nearest[i]};
  double known =
      l->rows.noise == NULL ? 0 : gpnn_scaling_noise(&l->e->view->scaling, l->rows.noise[i]);
  const struct gpnn_variance_sources sources = gpnn_variance_sources(&head, &latent, known);
  double mean, sd;
  gpnn_distribution_moments(&l->distributions[i], &mean, &sd);
  sheet_number(sheet, "mean", mean);
  sheet_number(sheet, "sd", sd);
  sheet_number(sheet, "of_noise", sources.noise);
  sheet_number(sheet, "of_distance", sources.distance);
  sheet_number(sheet, "disagreement", sources.disagreement);
}

/* The target of a training row, as its table has it but for an offset. */
static void write_target(struct listing *l, int64_t row)
{
  const struct gpnn_dataset *view = l->e->view;
  if (row < 0) {
    sheet_number(&l->sheet, "target", NAN);
  } else if (l->labels != NULL) {
    size_t length;
    const char *name = gpnn_dataset_class(view, (size_t)view->y[row], &length);
    sheet_bytes(&l->sheet, "target", name, length);
  } else {
    sheet_number(&l->sheet, "target", gpnn_scaling_restore(&view->scaling, view->y[row], 0));
  }
}

/* Writes what users know training row 'row' by; -1: it is none. */
static void write_id(struct listing *l, int64_t row)
{
  size_t length;
  if (row < 0) {
    sheet_text(&l->sheet, "id", NULL);
    return;
  }
  const char *id = gpnn_ids_get(l->ids, (size_t)l->number[row] - 1, &length);
  sheet_bytes(&l->sheet, "id", id, length);
}

static void write_line(struct listing *l, size_t i, const struct line *line)
{
  struct sheet *sheet = &l->sheet;
  sheet_begin(sheet);
  if (!sheet->as_json) {
    write_kept(l, i);
    sheet_count(sheet, "row", l->row[i]);
  }
  if (l->n_members > 1) sheet_count(sheet, "member", line->member);
  sheet_text(sheet, "source", line->source);
  sheet_number(sheet, "rank", line->rank > 0 ? (double)line->rank : NAN);
  sheet_number(sheet, "training", line->row < 0 ? NAN : (double)l->number[line->row]);
  if (l->ids != NULL) write_id(l, line->row);
  sheet_number(sheet, "distance", line->distance);
  sheet_number(sheet, "weight", line->weight);
  write_target(l, line->row);
  if (l->labels == NULL) sheet_number(sheet, "part", line->part);
  if (!sheet->as_json) write_prediction(l, i);
  sheet_end(sheet);
}

/* The neighbours of row 'i' that have most weight, and the others together. */
static void write_neighbours(struct listing *l, size_t i, size_t r, double unit)
{
  const struct member *member = &l->members[r];
  const struct gpnn_part *parts = member->parts.parts + i * member->parts.m;
  struct line others = {.source = "others", .member = r + 1, .distance = NAN, .row = -1};
  size_t n = 0;
  for (size_t k = 0; k < member->parts.m && parts[k].row >= 0; k++) {
    double weight = member->weight * parts[k].weight;
    double part = member->weight * unit * parts[k].part;
    if (k < l->e->a->top) {
      const struct line line = {"row",  r + 1, k + 1,       0, parts[k].distance,
                                weight, part,  parts[k].row};
      write_line(l, i, &line);
    } else {
      others.weight += weight;
      others.part += part;
      n++;
    }
  }
  if (n > 0) write_line(l, i, &others);
}

/* What a member contributes to the prediction of row 'i'. */
static void write_member(struct listing *l, size_t i, size_t r)
{
  const struct member *member = &l->members[r];
  const struct gpnn_scaling *scaling = &l->e->view->scaling;
  const struct gpnn_dataset *dataset = l->e->channel->dataset;
  size_t q = dataset->schema.n_offsets;
  double unit = l->is_warped ? 1 : scaling->y_sd, centre = l->is_warped ? 0 : scaling->y_mean;
  if (l->rows.offset != NULL) centre += l->offsets[i * q + dataset->target];
  struct line line = {.source = "mean-function",
                      .member = r + 1,
                      .distance = NAN,
                      .weight = NAN,
                      .part = member->weight * (centre + unit * member->parts.trend[i]),
                      .row = -1};
  if (l->labels == NULL) write_line(l, i, &line);
  write_neighbours(l, i, r, unit);
  line.source = "bound";
  line.part = member->weight * unit * member->parts.bound[i];
  if (member->parts.bound[i] != 0) write_line(l, i, &line);
}

static void write_row(struct listing *l, size_t i)
{
  struct sheet *sheet = &l->sheet;
  if (sheet->as_json) {
    sheet_begin(sheet);
    sheet_count(sheet, "row", l->row[i]);
    if (l->n_kept > 0) {
      json_open(&sheet->json, "kept", '{');
      write_kept(l, i);
      json_close(&sheet->json, '}');
    }
    write_prediction(l, i);
    json_open(&sheet->json, "parts", '[');
  }
  for (size_t r = 0; r < l->n_members; r++) write_member(l, i, r);
  if (sheet->as_json) {
    json_close(&sheet->json, ']');
    sheet_end(sheet);
  }
}

static void begin_sheet(struct listing *l)
{
  static const char of_numbers[] = "part,mean,sd,of_noise,of_distance,disagreement";
  char names[256];
  snprintf(names, sizeof names, "row%s,source,rank,training%s,distance,weight,target,%s",
           l->n_members > 1 ? ",member" : "", l->ids != NULL ? ",id" : "",
           l->labels != NULL ? "label,p" : of_numbers);
  sheet_open(&l->sheet, l->e->cli, l->e->a->json);
  for (size_t k = 0; k < l->n_kept && !l->e->a->json; k++)
    sheet_text(&l->sheet, NULL, gpnn_table_column(l->table, l->kept_columns[k]));
  sheet_lines(&l->sheet, names, "rows");
}

/* ---- the kind -------------------------------------------------------------------------------- */

static void report(const struct listing *l)
{
  const struct cli *cli = l->e->cli;
  if (l->n_incomplete > 0)
    cli_warn(cli,
             "%s: %zu rows lack inputs, which are averaged over: they are predicted from no rows "
             "in particular, and left out",
             l->table == NULL ? "training" : gpnn_table_name(l->table), l->n_incomplete);
  if (l->is_warped)
    cli_note(cli, "parts add up to the latent function, of which the mean is another function");
  report_counts(cli, &l->counts);
  table_warn_if_torn(cli, l->table);
}

static void release(struct listing *l)
{
  for (size_t r = 0; r < l->n_members; r++) {
    gpnn_parts_release(&l->members[r].parts);
    gpnn_model_free(l->members[r].own);
  }
  free(l->members);
  free(l->number);
  for (size_t k = 0; k < BATCH * l->n_kept && l->kept != NULL; k++) free(l->kept[k]);
  free(l->kept_columns);
  gpnn_predictor_free(l->predictor);
  gpnn_labels_free(l->labels);
  gpnn_arrays_free(l->arrays);
  gpnn_reader_release(&l->reader);
  gpnn_table_close(l->table);
}

enum gpnn_status explain_rows(struct explaining *e, struct gpnn_error *err)
{
  struct listing l = {.e = e, .is_warped = explain_is_warped(e)};
  enum gpnn_status status = open_all(&l, err), read = GPNN_OK;
  if (status == GPNN_OK) begin_sheet(&l);
  while (status == GPNN_OK && read == GPNN_OK && l.sheet.status == GPNN_OK) {
    read = l.table == NULL ? take_batch(&l) : read_batch(&l, err);
    if (read != GPNN_OK && read != GPNN_END) status = read;
    if (status == GPNN_OK && l.rows.n > 0) status = explain_batch(&l, err);
    for (size_t i = 0; i < l.rows.n && status == GPNN_OK; i++) write_row(&l, i);
  }
  if (status == GPNN_OK && l.table != NULL)
    status = skip_check(e->cli, e->a->skip_bad, l.table, &l.skipped, l.n_read - l.skipped.n, err);
  status = sheet_close(&l.sheet, status, err);
  if (status == GPNN_OK) report(&l);
  release(&l);
  return status;
}
