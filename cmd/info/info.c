#include "cmd/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dataset/index.h"
#include "kernel/parameters.h"
#include "stats/moments.h"

struct run {
  const struct cli *cli;
  struct gpnn_output *output;
};

static enum gpnn_status put_text(struct run *r, const char *name, const char *text,
                                 struct gpnn_error *err)
{
  return gpnn_output_printf(r->output, err, "%s\t%s\n", name, text);
}

static enum gpnn_status put_count(struct run *r, const char *name, uint64_t value,
                                  struct gpnn_error *err)
{
  return gpnn_output_printf(r->output, err, "%s\t%" PRIu64 "\n", name, value);
}

static enum gpnn_status put_number(struct run *r, const char *name, double value,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(r->output, err, "%s\t", name);
  if (status == GPNN_OK) status = gpnn_output_number(r->output, value, err);
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* ---- an index ----------------------------------------------------------------------------- */

static enum gpnn_status put_rows(struct run *r, const struct gpnn_index *index,
                                 struct gpnn_error *err)
{
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  char fingerprint[17];
  snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, gpnn_index_dataset(index)->fingerprint);
  enum gpnn_status status = put_text(r, "file", "gpnn index", err);
  if (status == GPNN_OK) status = put_text(r, "fingerprint", fingerprint, err);
  if (status == GPNN_OK) status = put_count(r, "rows", c->n, err);
  if (status == GPNN_OK) status = put_count(r, "calibration-rows", c->n_calibration, err);
  if (status == GPNN_OK) status = put_count(r, "skipped-rows", c->n_skipped, err);
  if (status == GPNN_OK) status = put_count(r, "inputs", c->d, err);
  if (status == GPNN_OK) status = put_count(r, "seed", c->seed, err);
  return status;
}

/* A line per direction: its share of each input. */
static enum gpnn_status put_rotation(struct run *r, size_t d, const double *rotation,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < d && rotation != NULL && status == GPNN_OK; j++) {
    status = gpnn_output_text(r->output, "metric-direction", err);
    for (size_t i = 0; i < d && status == GPNN_OK; i++) {
      status = gpnn_output_text(r->output, "\t", err);
      if (status == GPNN_OK) status = gpnn_output_number(r->output, rotation[j * d + i], err);
    }
    if (status == GPNN_OK) status = gpnn_output_text(r->output, "\n", err);
  }
  return status;
}

static enum gpnn_status put_search(struct run *r, const struct gpnn_index *index,
                                   struct gpnn_error *err)
{
  const struct gpnn_search_report report = gpnn_dataset_search_report(gpnn_index_dataset(index));
  const struct gpnn_search_report *s = &report;
  struct gpnn_search_metric metric = gpnn_dataset_search_metric(gpnn_index_dataset(index));
  size_t d = gpnn_index_dataset(index)->d;
  enum gpnn_status status = put_text(r, "search", gpnn_search_name(s->kind), err);
  if (status == GPNN_OK && s->n_lists > 0) status = put_count(r, "search-lists", s->n_lists, err);
  if (status == GPNN_OK && s->effort > 0) status = put_count(r, "search-effort", s->effort, err);
  if (status == GPNN_OK) status = put_number(r, "search-recall-asked", s->asked, err);
  if (status == GPNN_OK) status = put_number(r, "search-recall", s->recall, err);
  if (status == GPNN_OK) status = put_count(r, "search-recall-queries", s->n_queries, err);
  if (status == GPNN_OK) status = put_count(r, "search-recall-neighbours", s->neighbours, err);
  if (status == GPNN_OK) status = put_number(r, "search-visited", s->visited, err);
  if (status == GPNN_OK)
    status = put_text(r, "metric", metric.lengthscale ? "lengthscales" : "euclidean", err);
  for (size_t j = 0; j < d && metric.lengthscale != NULL && status == GPNN_OK; j++)
    status = put_number(r, "metric-lengthscale", metric.lengthscale[j], err);
  return status == GPNN_OK ? put_rotation(r, d, metric.rotation, err) : status;
}

/* A line per input: name, mean, and the factor it is multiplied by. */
static enum gpnn_status put_feature(struct run *r, const struct gpnn_dataset *c,
                                    struct gpnn_feature_cursor *at, size_t j,
                                    struct gpnn_error *err)
{
  const struct gpnn_scaling *s = &c->scaling;
  char name[GPNN_MASK_BYTES];
  enum gpnn_status status = gpnn_output_printf(r->output, err, "input\t%s\t",
                                               gpnn_schema_feature_name(&c->schema, at, j, name));
  if (status == GPNN_OK && s->method == GPNN_SCALING_NONE)
    status = gpnn_output_text(r->output, "0\t1", err);
  if (status == GPNN_OK && s->method != GPNN_SCALING_NONE)
    status = gpnn_output_number(r->output, s->mean[j], err);
  if (status == GPNN_OK && s->method == GPNN_SCALING_SCALE) {
    status = gpnn_output_text(r->output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(r->output, s->weight[j], err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* A line per input with limits: name, and the values to which smaller and larger ones are moved. */
static enum gpnn_status put_limits(struct run *r, const struct gpnn_dataset *c,
                                   struct gpnn_error *err)
{
  const struct gpnn_limits *limits = &c->scaling.limits;
  struct gpnn_feature_cursor at = {0};
  char name[GPNN_MASK_BYTES];
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < limits->n && status == GPNN_OK; j++) {
    if (!gpnn_limits_has(limits, j)) continue;
    status = gpnn_output_printf(r->output, err, "limits\t%s\t",
                                gpnn_schema_feature_name(&c->schema, &at, j, name));
    if (status == GPNN_OK) status = gpnn_output_number(r->output, limits->lower[j], err);
    if (status == GPNN_OK) status = gpnn_output_text(r->output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(r->output, limits->upper[j], err);
    if (status == GPNN_OK) status = gpnn_output_text(r->output, "\n", err);
  }
  return status;
}

/* "WHAT", a name, a mean and an sd. */
static enum gpnn_status put_moments(struct run *r, const char *what, const char *name,
                                    struct gpnn_moments of, struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  enum gpnn_status status =
      gpnn_output_printf(r->output, err, "%s\t%s\t", what, gpnn_mask(shown, name, strlen(name)));
  if (status == GPNN_OK) status = gpnn_output_number(r->output, of.mean, err);
  if (status == GPNN_OK) status = gpnn_output_text(r->output, "\t", err);
  if (status == GPNN_OK) status = gpnn_output_number(r->output, of.sd, err);
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

static enum gpnn_status put_target(struct run *r, const struct gpnn_dataset *c,
                                   struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  gpnn_mask(name, c->schema.target.name, strlen(c->schema.target.name));
  enum gpnn_status status = put_text(r, "target", name, err);
  if (status == GPNN_OK) status = put_number(r, "target-mean", c->scaling.y_mean, err);
  if (status == GPNN_OK) status = put_number(r, "target-sd", c->scaling.y_sd, err);
  return status;
}

/* Groups, if some have several inputs. */
static enum gpnn_status put_groups(struct run *r, const struct gpnn_dataset *c,
                                   struct gpnn_error *err)
{
  char name[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  enum gpnn_status status = GPNN_OK;
  size_t kept = 0, next = 0;
  if (c->n_groups == c->d) return GPNN_OK;
  for (size_t j = 0; next < c->n_groups && status == GPNN_OK; j++) {
    if (!gpnn_dataset_keeps(c, j) || c->group[kept++] != next) continue;
    status = put_text(r, "group", gpnn_schema_group_name(&c->schema, &at, j, name), err);
    next++;
  }
  return status;
}

/* Groups, periodic inputs, and columns that are neither input nor target. */
static enum gpnn_status put_roles(struct run *r, const struct gpnn_dataset *c,
                                  struct gpnn_error *err)
{
  const struct gpnn_schema *schema = &c->schema;
  char name[GPNN_MASK_BYTES];
  enum gpnn_status status = put_groups(r, c, err);
  for (size_t i = 0; i < schema->n_inputs && status == GPNN_OK; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    if (column->kind != GPNN_COLUMN_PERIODIC) continue;
    gpnn_mask(name, column->name, strlen(column->name));
    status = gpnn_output_printf(r->output, err, "period\t");
    if (status == GPNN_OK) status = put_number(r, name, column->period, err);
  }
  for (size_t j = 0; j < schema->n_regressors && status == GPNN_OK; j++)
    status = put_moments(r, "regressor", schema->regressors[j].name, c->scaling.regressors[j], err);
  if (status == GPNN_OK && schema->has_noise)
    status = put_text(r, "row-noise",
                      gpnn_mask(name, schema->noise.name, strlen(schema->noise.name)), err);
  if (status == GPNN_OK && schema->has_by)
    status = put_text(r, "by", gpnn_mask(name, schema->by.name, strlen(schema->by.name)), err);
  if (status == GPNN_OK && schema->has_by) status = put_count(r, "by-groups", c->n_row_groups, err);
  for (size_t t = 0; t < schema->n_offsets && status == GPNN_OK; t++) {
    const char *offset = schema->offsets[t].name;
    status = put_text(r, "offset", gpnn_mask(name, offset, strlen(offset)), err);
  }
  return status;
}

static enum gpnn_status put_setting(struct run *r, const char *name, const char *value,
                                    struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  return value == NULL ? GPNN_OK : put_text(r, name, gpnn_mask(shown, value, strlen(value)), err);
}

/* How values are written in the table, where that is not as usual; under the names of options. */
static enum gpnn_status put_notation(struct run *r, const struct gpnn_notation *notation,
                                     struct gpnn_error *err)
{
  if (gpnn_notation_is_usual(notation)) return GPNN_OK;
  enum gpnn_status status = put_setting(r, "na", notation->missing, err);
  if (status == GPNN_OK)
    status = put_setting(r, "decimal", notation->decimal == ',' ? "," : ".", err);
  if (status == GPNN_OK)
    status = put_setting(r, "thousands", notation->thousands ? "yes" : "no", err);
  if (status == GPNN_OK) status = put_setting(r, "strip", notation->strip, err);
  return status == GPNN_OK ? put_setting(r, "comment", notation->comment, err) : status;
}

static enum gpnn_status put_columns(struct run *r, const struct gpnn_index *index,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  struct gpnn_feature_cursor at = {0};
  enum gpnn_status status = GPNN_OK;
  for (size_t t = 0; t < gpnn_dataset_n_targets(gpnn_index_dataset(index)) && status == GPNN_OK;
       t++)
    status = put_target(r, gpnn_dataset_target(gpnn_index_dataset(index), t), err);
  if (status == GPNN_OK)
    status = put_text(r, "standardise", gpnn_scaling_name(c->scaling.method), err);
  for (size_t j = 0; j < c->scaling.n_in && status == GPNN_OK; j++)
    status = put_feature(r, c, &at, j, err);
  if (status == GPNN_OK) status = put_limits(r, c, err);
  if (status == GPNN_OK) status = put_roles(r, c, err);
  return status == GPNN_OK ? put_notation(r, &c->schema.notation, err) : status;
}

static enum gpnn_status put_sections(struct run *r, const struct gpnn_index *index,
                                     struct gpnn_error *err)
{
  char tag[5];
  uint64_t offset, length;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; gpnn_index_section(index, i, tag, &offset, &length) && status == GPNN_OK; i++)
    status = gpnn_output_printf(r->output, err, "section\t%s\t%" PRIu64 "\t%" PRIu64 "\n", tag,
                                offset, length);
  return status;
}

static enum gpnn_status describe_index(struct run *r, bool verify, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, cli_operand(r->cli, 0), verify, err);
  if (status != GPNN_OK) return status;
  const char *provenance = gpnn_index_dataset(index)->provenance;
  char *shown = provenance == NULL ? NULL : gpnn_copy_text(provenance, strlen(provenance));
  if (shown != NULL) gpnn_mask_all(shown, "\t\n");
  if (shown == NULL && provenance != NULL) status = gpnn_fail_memory(err, "for the options");
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK) status = put_rows(r, index, err);
  if (status == GPNN_OK) status = put_columns(r, index, err);
  if (status == GPNN_OK) status = put_search(r, index, err);
  if (status == GPNN_OK && shown != NULL) status = gpnn_output_text(r->output, shown, err);
  if (status == GPNN_OK) status = put_sections(r, index, err);
  if (status == GPNN_OK && verify) status = put_text(r, "verified", "yes", err);
  status = cli_close_output(r->output, status, err);
  free(shown);
  gpnn_index_close(index);
  return status;
}

/* ---- parameters --------------------------------------------------------------------------- */

static enum gpnn_status describe_params(struct run *r, struct gpnn_error *err)
{
  struct gpnn_parameters params = {0};
  enum gpnn_status status = gpnn_parameters_read_one(&params, cli_operand(r->cli, 0), err);
  if (params.target != NULL) gpnn_mask_all(params.target, "");
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK) status = gpnn_parameters_write(&params, 1, r->output, err);
  status = cli_close_output(r->output, status, err);
  gpnn_parameters_release(&params);
  return status;
}

/* ---- the tool ----------------------------------------------------------------------------- */

bool info_resolve(const struct cli *cli, void *arguments)
{
  struct info_arguments *a = arguments;
  const char *path = cli_operand(cli, 0);
  a->is_index = gpnn_index_recognise(path);
  return !a->is_index || cli_check_overwrite(cli, cli->output, path);
}

enum gpnn_status info_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct info_arguments *a = arguments;
  struct run r = {.cli = cli};
  if (a->is_index || a->verify) return describe_index(&r, a->verify, err);
  return describe_params(&r, err);
}
