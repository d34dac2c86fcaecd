#include "cmd/index/report.h"

#include <stdint.h>

#include "cmd/common/json.h"

/* How many rows were left out for each reason. */
static void put_skipped(struct json *report, const struct gpnn_table *table,
                        const struct gpnn_skipped *skipped)
{
  json_open(report, "skipped", '[');
  for (size_t i = 0; i < skipped->n_kinds; i++) {
    const struct gpnn_skipped_kind *kind = &skipped->kinds[i];
    bool has_column = kind->column != SIZE_MAX;
    json_open(report, NULL, '{');
    json_text(report, "column", has_column ? gpnn_table_column(table, kind->column) : NULL);
    json_text(report, "reason", kind->what);
    json_count(report, "rows", kind->n);
    json_count(report, "line", kind->line);
    json_text(report, "example", kind->text);
    json_close(report, '}');
  }
  json_close(report, ']');
}

/* The names of the inputs that are kept or dropped. */
static void put_inputs(struct json *report, const struct gpnn_dataset *dataset, bool kept)
{
  char name[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  json_open(report, kept ? "input" : "dropped", '[');
  for (size_t j = 0; j < dataset->scaling.n_in; j++)
    if (gpnn_scaling_keeps(&dataset->scaling, j) == kept)
      json_text(report, NULL, gpnn_schema_feature_name(&dataset->schema, &at, j, name));
  json_close(report, ']');
}

/* The targets and, if any are classes, how many classes each has; if some rows lack one, how many
 * rows lack each. */
static void put_targets(struct json *report, const struct gpnn_training *training)
{
  const struct gpnn_schema *schema = &training->dataset.schema;
  size_t n_lacking = 0;
  json_open(report, "targets", '[');
  json_text(report, NULL, schema->target.name);
  for (size_t t = 0; t < schema->n_more; t++) json_text(report, NULL, schema->more[t].name);
  json_close(report, ']');
  if (training->has_classes) {
    json_open(report, "classes", '[');
    for (size_t t = 0; t <= schema->n_more; t++)
      json_count(report, NULL, gpnn_schema_target(schema, t)->n_levels);
    json_close(report, ']');
  }
  for (size_t t = 0; t <= schema->n_more; t++) n_lacking += training->n_lacking[t];
  if (n_lacking == 0) return;
  json_open(report, "rows-lacking-target", '[');
  for (size_t t = 0; t <= schema->n_more; t++) json_count(report, NULL, training->n_lacking[t]);
  json_close(report, ']');
}

void index_report_training(const struct cli *cli, const struct gpnn_table *table,
                           const struct gpnn_training *training)
{
  const struct gpnn_dataset *dataset = &training->dataset;
  struct json *report = cli->report;
  if (report == NULL) return;
  json_text(report, "table", gpnn_table_name(table));
  json_count(report, "rows", dataset->n);
  json_count(report, "calibration-rows", dataset->n_calibration);
  json_count(report, "skipped-rows", training->skipped.n);
  put_skipped(report, table, &training->skipped);
  put_targets(report, training);
  json_count(report, "inputs", dataset->d);
  put_inputs(report, dataset, true);
  put_inputs(report, dataset, false);
}

void index_report_search(const struct cli *cli, const struct gpnn_search_report *search)
{
  struct json *report = cli->report;
  if (report == NULL) return;
  json_text(report, "search", gpnn_search_name(search->kind));
  json_number(report, "search-recall-asked", search->asked);
  json_number(report, "search-recall", search->recall);
  json_count(report, "search-recall-neighbours", search->neighbours);
}
