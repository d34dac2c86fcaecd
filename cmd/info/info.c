#include "cmd/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/facts.h"
#include "container/state.h"
#include "dataset/index/index.h"
#include "dataset/missing.h"
#include "kernel/parameters.h"
#include "stats/moments.h"
#include "table/columns.h"

/* Cuts '*text' at the first 'end' and returns what precedes it; NULL after the last piece. */
static char *cut_off(char **text, char end)
{
  char *piece = *text, *at = piece == NULL ? NULL : strchr(piece, end);
  *text = at == NULL ? NULL : at + 1;
  if (at != NULL) *at = '\0';
  return piece;
}

/* ---- an index ----------------------------------------------------------------------------- */

static void put_rows(struct facts *facts, const struct gpnn_dataset *c)
{
  char fingerprint[17];
  snprintf(fingerprint, sizeof fingerprint, "%016" PRIx64, c->fingerprint);
  facts_text(facts, "file",
             c->stored != NULL              ? "gpnn model"
             : c->packed.parameters != NULL ? c->grid != NULL ? "gpnn grid index with parameters"
                                                              : "gpnn index with parameters"
             : c->grid != NULL              ? "gpnn grid index"
                                            : "gpnn index");
  facts_text(facts, "fingerprint", fingerprint);
  if (c->grid == NULL) {
    facts_count(facts, "rows", c->n);
    facts_count(facts, "calibration-rows", c->n_calibration);
  }
  facts_count(facts, "skipped-rows", c->n_skipped);
  facts_count(facts, "inputs", c->d);
  if (c->grid == NULL) facts_count(facts, "seed", c->seed);
}

/* A line per direction: its share of each input. */
static void put_rotation(struct facts *facts, size_t d, const double *rotation)
{
  facts_open_list(facts, "metric-direction");
  for (size_t j = 0; j < d && rotation != NULL; j++) {
    facts_open_row(facts, NULL, '[');
    for (size_t i = 0; i < d; i++) facts_number(facts, NULL, rotation[j * d + i]);
    facts_close_row(facts, ']');
  }
  facts_close_list(facts);
}

/* How the search sees each standardised input, unless it sees them as they are. */
static void put_sight(struct facts *facts, size_t d, const unsigned char *sight)
{
  facts_open_list(facts, "search-input-scores");
  for (size_t j = 0; j < d && sight != NULL; j++)
    facts_text(facts, NULL, gpnn_sight_name((enum gpnn_sight)sight[j]));
  facts_close_list(facts);
}

static void put_search(struct facts *facts, const struct gpnn_index *index)
{
  const struct gpnn_index_search search = gpnn_index_search(index);
  const struct gpnn_search_report s = search.report;
  const struct gpnn_search_metric metric = search.metric;
  facts_text(facts, "search", gpnn_search_name(s.kind));
  if (s.n_lists > 0) facts_count(facts, "search-lists", s.n_lists);
  if (s.effort > 0) facts_count(facts, "search-effort", s.effort);
  facts_number(facts, "search-recall-asked", s.asked);
  facts_number(facts, "search-recall", s.recall);
  facts_count(facts, "search-recall-queries", s.n_queries);
  facts_count(facts, "search-recall-neighbours", s.neighbours);
  facts_number(facts, "search-visited", s.visited);
  facts_text(facts, "metric", metric.lengthscale ? "lengthscales" : "euclidean");
  facts_open_list(facts, "metric-lengthscale");
  for (size_t j = 0; j < search.d && metric.lengthscale != NULL; j++)
    facts_number(facts, NULL, metric.lengthscale[j]);
  facts_close_list(facts);
  put_rotation(facts, search.d, metric.rotation);
  put_sight(facts, gpnn_index_dataset(index)->d, search.sight);
}

/* A line per input: name, mean, and the factor it is multiplied by. */
static void put_features(struct facts *facts, const struct gpnn_dataset *c)
{
  const struct gpnn_scaling *s = &c->scaling;
  struct gpnn_feature_cursor at = {0};
  char name[GPNN_MASK_BYTES];
  bool has_mean = s->method != GPNN_SCALING_NONE;
  facts_open_list(facts, "input");
  for (size_t j = 0; j < s->n_in; j++) {
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", gpnn_schema_feature_name(&c->schema, &at, j, name));
    facts_number(facts, "mean", has_mean ? s->mean[j] : 0);
    if (s->method != GPNN_SCALING_WHITEN)
      facts_number(facts, "factor", has_mean ? s->weight[j] : 1);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* A line per input that has a score: its name, and the number of knots. */
static void put_scores(struct facts *facts, const struct gpnn_dataset *c)
{
  struct gpnn_feature_cursor at = {0};
  char name[GPNN_MASK_BYTES];
  facts_open_list(facts, "score");
  for (size_t j = 0; j < c->d && c->scores != NULL; j++) {
    if (!gpnn_scores_has(c->scores, j)) continue;
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", gpnn_dataset_group_name(c, &at, c->group[j], name));
    facts_count(facts, "knots", gpnn_scores_knots(c->scores, j));
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* What becomes of rows that lack inputs, and a line per input that training rows lacked. */
static void put_missing(struct facts *facts, const struct gpnn_dataset *c)
{
  char name[GPNN_MASK_BYTES];
  if (c->drops_missing) facts_word(facts, "missing-inputs", "drop");
  if (c->lacks == NULL) return;
  facts_count(facts, "incomplete-rows", gpnn_missing_count(c).n_rows);
  facts_open_list(facts, "lacking");
  for (size_t i = 0; i < c->schema.n_inputs; i++) {
    size_t n = gpnn_missing_rows(c, i);
    if (n == 0 || gpnn_schema_is_repeat(&c->schema, i)) continue;
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", gpnn_schema_column_name(&c->schema.inputs[i], name));
    facts_count(facts, "rows", n);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* A line per input that a step changes: its name, and the numbers of the step. */
static void put_step(struct facts *facts, const struct gpnn_dataset *c, enum gpnn_step_number s)
{
  const struct gpnn_step *step = gpnn_step(s);
  const struct gpnn_learnt *learnt = &c->scaling.steps[s];
  struct gpnn_feature_cursor at = {0};
  char name[GPNN_MASK_BYTES];
  facts_open_list(facts, step->name);
  for (size_t j = 0; j < learnt->n_features; j++) {
    if (!step->has(learnt, j)) continue;
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "name", gpnn_schema_feature_name(&c->schema, &at, j, name));
    for (size_t k = 0; k < GPNN_STEP_SHOWN; k++)
      facts_number(facts, step->shown[k], step->show(learnt, j, k));
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_name(struct facts *facts, const char *name, const struct gpnn_column *column)
{
  char shown[GPNN_COLUMN_BYTES];
  facts_text(facts, name, gpnn_schema_column_name(column, shown));
}

static size_t count_class(size_t n, const double *y, size_t c)
{
  size_t count = 0;
  for (size_t i = 0; i < n; i++) count += y[i] == (double)c;
  return count;
}

/* A line per class: name, training rows, calibration rows. */
static void put_classes(struct facts *facts, const struct gpnn_dataset *view)
{
  size_t k = gpnn_dataset_n_classes(view), length;
  size_t *counts = gpnn_alloc(k, 1, sizeof *counts);
  if (counts == NULL) {
    facts->status = gpnn_fail_memory(&facts->error, "for the classes");
    return;
  }
  gpnn_dataset_count_classes(view, counts);
  facts_open_list(facts, "class");
  for (size_t c = 0; c < k; c++) {
    facts_open_row(facts, NULL, '{');
    facts_name(facts, "name", gpnn_dataset_class(view, c, &length));
    facts_count(facts, "rows", counts[c]);
    facts_count(facts, "calibration-rows",
                count_class(view->n_calibration, view->calibration_y, c));
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
  free(counts);
}

static void put_targets(struct facts *facts, const struct gpnn_dataset *c)
{
  facts_open_part(facts, "targets", '[');
  for (size_t t = 0; t < gpnn_dataset_n_targets(c); t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(c, t);
    facts_open_part(facts, NULL, '{');
    put_name(facts, "target", &view->schema.target);
    if (gpnn_dataset_n_classes(view) > 0 && view->stored == NULL) {
      put_classes(facts, view);
    } else {
      facts_number(facts, "target-mean", view->scaling.y_mean);
      facts_number(facts, "target-sd", view->scaling.y_sd);
    }
    if (view->n < c->n || view->n_calibration < c->n_calibration) {
      facts_count(facts, "target-rows", view->n);
      facts_count(facts, "target-calibration-rows", view->n_calibration);
    }
    facts_close_part(facts, '}');
  }
  facts_close_part(facts, ']');
}

/* Groups, if some have several inputs. */
static void put_groups(struct facts *facts, const struct gpnn_dataset *c)
{
  char name[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  size_t n = c->n_groups == c->d ? 0 : c->n_groups;
  facts_open_list(facts, "group");
  for (size_t g = 0; g < n; g++) facts_text(facts, NULL, gpnn_dataset_group_name(c, &at, g, name));
  facts_close_list(facts);
}

static void put_date(struct facts *facts, const struct gpnn_column *column)
{
  facts_open_row(facts, NULL, '{');
  put_name(facts, "name", column);
  facts_name(facts, "format", column->date);
  facts_close_row(facts, '}');
}

static bool is_input(const struct gpnn_schema *schema, const struct gpnn_column *column)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].position == column->position) return true;
  return false;
}

/* The columns that are dates, inputs first, each once. */
static void put_dates(struct facts *facts, const struct gpnn_schema *schema)
{
  facts_open_list(facts, "date");
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].date != NULL && !gpnn_schema_is_repeat(schema, i))
      put_date(facts, &schema->inputs[i]);
  for (size_t j = 0; j < schema->n_regressors; j++)
    if (schema->regressors[j].date != NULL && !is_input(schema, &schema->regressors[j]))
      put_date(facts, &schema->regressors[j]);
  facts_close_list(facts);
}

static void put_periods(struct facts *facts, const struct gpnn_schema *schema)
{
  facts_open_list(facts, "period");
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    if (column->kind != GPNN_COLUMN_PERIODIC) continue;
    facts_open_row(facts, NULL, '{');
    put_name(facts, "name", column);
    facts_number(facts, "period", column->period);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_codes(struct facts *facts, const struct gpnn_schema *schema)
{
  facts_open_list(facts, "coded");
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    if (column->kind != GPNN_COLUMN_CODED || gpnn_schema_is_ordered(column)) continue;
    facts_open_row(facts, NULL, '{');
    put_name(facts, "name", column);
    facts_count(facts, "levels", column->n_levels);
    facts_number(facts, "lambda", column->shrinkage);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_orders(struct facts *facts, const struct gpnn_schema *schema)
{
  facts_open_list(facts, "ordered");
  for (size_t i = 0; i < schema->n_inputs; i++) {
    const struct gpnn_column *column = &schema->inputs[i];
    if (!gpnn_schema_is_ordered(column)) continue;
    facts_open_row(facts, NULL, '{');
    put_name(facts, "name", column);
    facts_open_row(facts, "levels", '[');
    for (size_t l = 0; l < column->n_levels; l++) facts_name(facts, NULL, column->levels[l]);
    facts_close_row(facts, ']');
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

static void put_regressors(struct facts *facts, const struct gpnn_dataset *c)
{
  facts_open_list(facts, "regressor");
  for (size_t j = 0; j < c->schema.n_regressors; j++) {
    facts_open_row(facts, NULL, '{');
    put_name(facts, "name", &c->schema.regressors[j]);
    facts_number(facts, "mean", c->scaling.regressors[j].mean);
    facts_number(facts, "sd", c->scaling.regressors[j].sd);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* Columns that are neither input nor target. */
static void put_others(struct facts *facts, const struct gpnn_dataset *c)
{
  const struct gpnn_schema *schema = &c->schema;
  if (schema->has_noise) put_name(facts, "row-noise", &schema->noise);
  if (schema->has_exposure) put_name(facts, "exposure", &schema->exposure);
  if (schema->has_by) put_name(facts, "by", &schema->by);
  if (schema->has_by) facts_count(facts, "by-groups", c->n_row_groups);
  if (schema->has_id) put_name(facts, "id", &schema->id);
  if (gpnn_dataset_has_copies(c)) facts_count(facts, "distinct-rows", c->n_row_groups);
  facts_open_list(facts, "offset");
  for (size_t t = 0; t < schema->n_offsets; t++) put_name(facts, NULL, &schema->offsets[t]);
  facts_close_list(facts);
}

static void put_setting(struct facts *facts, const char *name, const char *value)
{
  if (value != NULL) facts_name(facts, name, value);
}

/* How values are written in the table, where that is not as usual; under the names of options. */
static void put_notation(struct facts *facts, const struct gpnn_notation *notation)
{
  if (gpnn_notation_is_usual(notation)) return;
  put_setting(facts, "na", notation->missing);
  put_setting(facts, "decimal", notation->decimal == ',' ? "," : ".");
  put_setting(facts, "thousands", notation->thousands ? "yes" : "no");
  put_setting(facts, "strip", notation->strip);
  put_setting(facts, "comment", notation->comment);
}

static void put_columns(struct facts *facts, const struct gpnn_dataset *c)
{
  put_targets(facts, c);
  facts_text(facts, "standardise", gpnn_scaling_name(c->scaling.method));
  put_features(facts, c);
  for (int s = 0; s < GPNN_STEPS; s++) put_step(facts, c, (enum gpnn_step_number)s);
  put_scores(facts, c);
  put_missing(facts, c);
  put_groups(facts, c);
  put_dates(facts, &c->schema);
  put_periods(facts, &c->schema);
  put_codes(facts, &c->schema);
  put_orders(facts, &c->schema);
  info_put_effects(facts, c);
  put_regressors(facts, c);
  put_others(facts, c);
  put_notation(facts, &c->schema.notation);
}

/* The lines of 'shown', which is cut up: the options that the index was made with. */
static void put_provenance(struct facts *facts, char *shown)
{
  char *rest = shown;
  for (char *line; (line = cut_off(&rest, '\n')) != NULL;) {
    char *value = strchr(line, '\t');
    if (value == NULL) continue;
    *value = '\0';
    facts_word(facts, line, value + 1);
  }
}

static void put_sections(struct facts *facts, const struct gpnn_index *index)
{
  char tag[5];
  uint64_t offset, length;
  facts_open_list(facts, "section");
  for (size_t i = 0; gpnn_index_section(index, i, tag, &offset, &length); i++) {
    facts_open_row(facts, NULL, '{');
    facts_text(facts, "tag", tag);
    facts_count(facts, "offset", offset);
    facts_count(facts, "length", length);
    facts_close_row(facts, '}');
  }
  facts_close_list(facts);
}

/* ---- parameters --------------------------------------------------------------------------- */

/* True of a line that may have several values, which are an array even where it has one. */
static bool is_list(const char *name)
{
  static const char *const lists[] = {"rotation",  "lengthscale", "coefficients", "covariance",
                                      "link-bias", "conformal",   "distances"};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
    if (strcmp(name, lists[i]) == 0) return true;
  return false;
}

/* A line of parameters as a fact.  Names and fingerprints are no numbers, whatever they look like.
 */
static void put_line(struct facts *facts, const char *name, char *values)
{
  bool many = is_list(name) || strchr(values, '\t') != NULL;
  if (strcmp(name, "target") == 0 || strcmp(name, "index") == 0) {
    facts_text(facts, name, values);
    return;
  }
  if (many) facts_open_part(facts, name, '[');
  for (char *word; (word = cut_off(&values, '\t')) != NULL;)
    facts_word(facts, many ? NULL : name, word);
  if (many) facts_close_part(facts, ']');
}

/* The lines of parameters, in 'text', which is cut up: those of further members are objects of
 * their own. */
static void put_parameters(struct facts *facts, char *text)
{
  bool in_members = false;
  for (char *line; (line = cut_off(&text, '\n')) != NULL;) {
    char *values = line + strcspn(line, "\t");
    if (*line == '#' || *values == '\0') continue;
    *values++ = '\0';
    if (strcmp(line, "member") == 0) {
      if (in_members) facts_close_part(facts, '}');
      if (!in_members) facts_open_part(facts, "members", '[');
      in_members = true;
      facts_open_part(facts, NULL, '{');
    }
    put_line(facts, line, values);
  }
  if (!in_members) return;
  facts_close_part(facts, '}');
  facts_close_part(facts, ']');
}

/* Parameters, of all targets or of a calibration alone. */
struct read_params {
  struct gpnn_parameters *of;
  size_t n;
  bool are_calibration;
};

static enum gpnn_status write_params(const struct read_params *params, struct gpnn_output *output,
                                     struct gpnn_error *err)
{
  return params->are_calibration
             ? gpnn_parameters_write_calibration(params->of, params->n, output, err)
             : gpnn_parameters_write(params->of, params->n, output, err);
}

/* The parameters of one target after the other, in 'text', which is cut up: those of several begin
 * with the target's name, and are objects of an array. */
static void put_all_parameters(struct facts *facts, char *text, size_t n)
{
  if (n > 1) facts_open_part(facts, "targets", '[');
  for (char *next; text != NULL; text = next) {
    next = strstr(text, "\ntarget\t");
    if (next != NULL) *next++ = '\0';
    if (strncmp(text, "target\t", strlen("target\t")) != 0 && n > 1) continue; /* the first line */
    if (n > 1) facts_open_part(facts, NULL, '{');
    put_parameters(facts, text);
    if (n > 1) facts_close_part(facts, '}');
  }
  if (n > 1) facts_close_part(facts, ']');
}

/* Parameters as JSON: what their text says. */
static enum gpnn_status convert_params(struct facts *facts, const struct read_params *params,
                                       struct gpnn_error *err)
{
  struct gpnn_output *memory = NULL;
  size_t length = 0;
  char *text = NULL;
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK) status = write_params(params, memory, err);
  if (status == GPNN_OK) {
    const char *written = gpnn_output_memory(memory, &length);
    if (written != NULL) text = gpnn_copy_text(written, length);
    if (text == NULL) status = gpnn_fail_memory(err, "for the parameters");
  }
  if (status == GPNN_OK) put_all_parameters(facts, text, params->n);
  free(text);
  gpnn_output_abandon(memory);
  return status;
}

static enum gpnn_status describe_params(struct facts *facts, const struct read_params *params,
                                        struct gpnn_error *err)
{
  for (size_t t = 0; t < params->n; t++)
    if (params->of[t].target != NULL) gpnn_mask_all(params->of[t].target, "");
  if (facts->as_json) return convert_params(facts, params, err);
  return write_params(params, facts->output, err);
}

static enum gpnn_status read_params(struct read_params *params, const char *path,
                                    struct gpnn_error *err)
{
  struct gpnn_error why;
  enum gpnn_status status = gpnn_parameters_read(&params->of, &params->n, path, err);
  if (status == GPNN_OK || strcmp(path, "-") == 0) return status;
  params->are_calibration =
      gpnn_parameters_read_calibration_alone(&params->of, &params->n, path, &why) == GPNN_OK;
  return params->are_calibration ? GPNN_OK : status;
}

/* ---- a model that is one file -------------------------------------------------------------- */

/* A line per line of the report, masked. */
static enum gpnn_status put_packed_report(struct facts *facts, const struct gpnn_packed *packed,
                                          struct gpnn_error *err)
{
  char *text = gpnn_copy_text(packed->report, packed->report_length), *rest = text;
  if (text == NULL) return gpnn_fail_memory(err, "for the report");
  gpnn_mask_all(text, "\n");
  facts_open_list(facts, "report");
  for (char *line; (line = cut_off(&rest, '\n')) != NULL;)
    if (*line != '\0') facts_text(facts, NULL, line);
  facts_close_list(facts);
  free(text);
  return GPNN_OK;
}

/* What was packed with an index, the parameters as those in a file of their own. */
static enum gpnn_status describe_packed(struct facts *facts, const struct gpnn_index *index,
                                        struct gpnn_error *err)
{
  const struct gpnn_packed *packed = &gpnn_index_dataset(index)->packed;
  struct read_params params = {0};
  struct gpnn_state *state = NULL;
  enum gpnn_status status = GPNN_OK;
  if (packed->report != NULL) status = put_packed_report(facts, packed, err);
  if (status != GPNN_OK || packed->parameters == NULL) return status;
  status = gpnn_parameters_read_bytes(&params.of, &params.n, &state, gpnn_index_path(index),
                                      packed->parameters, packed->parameters_length, err);
  facts_open_part(facts, "parameters", '{');
  if (status == GPNN_OK) status = describe_params(facts, &params, err);
  facts_close_part(facts, '}');
  gpnn_parameters_free(params.of, params.n);
  gpnn_state_free(state);
  return status;
}

static enum gpnn_status unpack(const struct gpnn_index *index, struct gpnn_output *output,
                               struct gpnn_error *err)
{
  const struct gpnn_packed *packed = &gpnn_index_dataset(index)->packed;
  if (packed->parameters == NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: has no parameters that were packed with it",
                     gpnn_index_path(index));
  return gpnn_output_write(output, packed->parameters, packed->parameters_length, err);
}

static enum gpnn_status describe_index(struct facts *facts, const struct gpnn_index *index,
                                       bool verify, struct gpnn_error *err)
{
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  const char *provenance = c->provenance == NULL ? "" : c->provenance;
  char *shown = gpnn_copy_text(provenance, strlen(provenance));
  if (shown == NULL) return gpnn_fail_memory(err, "for the options");
  gpnn_mask_all(shown, "\t\n");
  put_rows(facts, c);
  if (c->grid != NULL) info_put_grid(facts, c);
  enum gpnn_status status = GPNN_OK;
  if (c->stored != NULL) status = info_put_model(facts, gpnn_index_path(index), c, err);
  put_columns(facts, c);
  if (c->grid == NULL && c->stored == NULL) put_search(facts, index);
  put_provenance(facts, shown);
  put_sections(facts, index);
  if (verify) facts_text(facts, "verified", "yes");
  free(shown);
  return status == GPNN_OK ? describe_packed(facts, index, err) : status;
}

/* ---- the tool ----------------------------------------------------------------------------- */

bool info_resolve(const struct cli *cli, void *arguments)
{
  struct info_arguments *a = arguments;
  const char *path = cli_operand(cli, 0);
  if (a->unpack && (a->verify || a->json))
    return cli_refuse(cli, "--unpack prints parameters as they are: give it alone");
  if (a->effects != NULL && (a->json || a->unpack))
    return cli_refuse(cli, "--effects writes a table: give it alone");
  if (a->effects != NULL && cli->n_operands == 0 && !gpnn_index_recognise(a->effects))
    return cli_refuse(cli, "--effects is about an index: give that as well");
  if (a->effects != NULL && !cli_check_overwrite(cli, cli->output, a->effects)) return false;
  a->is_index = gpnn_index_recognise(path) || a->verify || a->unpack;
  return !a->is_index || cli_check_overwrite(cli, cli->output, path);
}

enum gpnn_status info_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct info_arguments *a = arguments;
  const char *path = cli_operand(cli, 0);
  struct gpnn_index *index = NULL;
  struct read_params params = {0};
  struct gpnn_output *output = NULL;
  struct facts facts;
  if (a->effects != NULL) return info_write_effects(cli, a, err);
  enum gpnn_status status =
      a->is_index ? gpnn_index_open(&index, path, a->verify, err) : read_params(&params, path, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK && a->unpack) {
    status = unpack(index, output, err);
  } else if (status == GPNN_OK) {
    facts_begin(&facts, output, a->json);
    if (!a->is_index && a->json) facts_text(&facts, "file", "gpnn parameters");
    status = a->is_index ? describe_index(&facts, index, a->verify, err)
                         : describe_params(&facts, &params, err);
    status = facts_end(&facts, status, err);
  }
  status = cli_close_output(output, status, err);
  gpnn_parameters_free(params.of, params.n);
  gpnn_index_close(index);
  return status;
}
