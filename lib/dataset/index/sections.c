/*
 * The sections of gpnn-index(5): the table of all of them, and how those that describe rows, not
 * columns, are composed and decoded.
 */
#include <stdlib.h>
#include <string.h>

#include "dataset/index/index_private.h"
#include "dataset/missing.h"
#include "stats/moments.h"

/* ---- rows ---------------------------------------------------------------------------------- */

static void compose_info(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_dataset *dataset = contents->dataset;
  put_u64(blob, dataset->n);
  put_u64(blob, dataset->d);
  put_u64(blob, dataset->n_calibration);
  put_u64(blob, dataset->n_skipped);
  put_u64(blob, dataset->seed);
}

static void decode_info(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_dataset *dataset = &index->dataset;
  dataset->n = take_size(cursor);
  dataset->d = take_size(cursor);
  dataset->n_calibration = take_size(cursor);
  dataset->n_skipped = take_size(cursor);
  dataset->seed = take_u64(cursor);
  require(cursor, dataset->n > 0 && dataset->d > 0);
}

static bool has_copies(const struct gpnn_index_contents *contents)
{
  return gpnn_dataset_has_copies(contents->dataset);
}

/* The number of sets of copies, which are groups of rows as those of a column are. */
static void compose_copies(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put_u64(blob, contents->dataset->n_row_groups);
}

static void decode_copies(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_dataset *dataset = &index->dataset;
  require(cursor, !dataset->schema.has_by);
  dataset->n_row_groups = take_size(cursor);
  require(cursor, dataset->n_row_groups > 0);
  require(cursor, dataset->n_row_groups <= dataset->n);
}

static bool is_following(const struct gpnn_index_contents *contents)
{
  return contents->dataset->rows_follow_targets;
}

/* Its presence says all. */
static void compose_nothing(struct blob *blob, const struct gpnn_index_contents *contents)
{
  (void)blob;
  (void)contents;
}

static void decode_following(struct cursor *cursor, struct gpnn_index *index)
{
  (void)cursor;
  index->dataset.rows_follow_targets = true;
}

static bool has_row_groups(const struct gpnn_index_contents *contents)
{
  return contents->dataset->n_row_groups > 0;
}

static enum gpnn_status write_row_groups(struct gpnn_index_writing *writing,
                                         const struct gpnn_index_section *section,
                                         struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = writing->contents.dataset;
  return gpnn_index_write_bytes(writing, section, dataset->row_group,
                                dataset->n * sizeof *dataset->row_group, err);
}

static bool has_group_keys(const struct gpnn_index_contents *contents)
{
  const struct gpnn_dataset *dataset = contents->dataset;
  return dataset->group_keys != NULL && dataset->schema.has_by && dataset->n_row_groups > 0;
}

static enum gpnn_status write_group_keys(struct gpnn_index_writing *writing,
                                         const struct gpnn_index_section *section,
                                         struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = writing->contents.dataset;
  return gpnn_index_write_bytes(
      writing, section, dataset->group_keys,
      (dataset->n_row_groups + dataset->n_calibration) * sizeof *dataset->group_keys, err);
}

/* Where each ends, then their texts. */
static enum gpnn_status write_ids(struct gpnn_index_writing *writing,
                                  const struct gpnn_index_section *section, struct gpnn_error *err)
{
  const struct gpnn_ids *ids = writing->contents.dataset->ids;
  enum gpnn_status status = gpnn_container_begin(writing->writer, section->tag.tag, err);
  if (status == GPNN_OK)
    status = gpnn_container_write(writing->writer, ids->ends, ids->n * sizeof *ids->ends, err);
  if (status == GPNN_OK)
    status = gpnn_container_write(writing->writer, ids->text, ids->n_bytes, err);
  return status == GPNN_OK ? gpnn_container_end(writing->writer, err) : status;
}

static bool has_lacks(const struct gpnn_index_contents *contents)
{
  return contents->dataset->lacks != NULL;
}

static enum gpnn_status write_lacks(struct gpnn_index_writing *writing,
                                    const struct gpnn_index_section *section,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *dataset = writing->contents.dataset;
  return gpnn_index_write_bytes(writing, section, dataset->lacks,
                                dataset->n * gpnn_lacks_bytes(dataset->schema.n_inputs), err);
}

static bool drops_missing(const struct gpnn_index_contents *contents)
{
  return contents->dataset->drops_missing;
}

static void decode_dropping(struct cursor *cursor, struct gpnn_index *index)
{
  (void)cursor;
  index->dataset.drops_missing = true;
}

static bool has_held_out(const struct gpnn_index_contents *contents)
{
  return contents->dataset->held_out != NULL;
}

static void compose_held_out(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_dataset *dataset = contents->dataset;
  for (size_t i = 0; i < dataset->n_calibration; i++) put_u64(blob, dataset->held_out[i]);
}

/* The numbers of the rows that are held out. */
static void decode_held_out(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_dataset *dataset = &index->dataset;
  size_t c = dataset->n_calibration;
  index->held_out = take_array(cursor, c, sizeof *index->held_out, sizeof *index->held_out);
  require(cursor, c > 0);
  for (size_t i = 0; i < c && index->held_out != NULL; i++) {
    index->held_out[i] = take_u64(cursor);
    require(cursor, index->held_out[i] < dataset->n + c);
  }
  dataset->held_out = index->held_out;
}

static bool is_partial(const struct gpnn_index_contents *contents)
{
  return contents->present != NULL;
}

static void compose_present(struct blob *blob, const struct gpnn_index_contents *contents)
{
  for (size_t t = 0; t <= contents->dataset->n_more; t++) {
    put_u64(blob, contents->present[t].n);
    put_u64(blob, contents->present[t].n_calibration);
  }
}

/* How many rows have each target, of which some lack one. */
static void decode_present(struct cursor *cursor, struct gpnn_index *index)
{
  const struct gpnn_dataset *dataset = &index->dataset;
  size_t n_targets = 1 + dataset->schema.n_more;
  bool is_any_missing = false;
  struct gpnn_index_present *present = take_array(cursor, n_targets, 16, sizeof *present);
  index->present = present;
  for (size_t t = 0; t < n_targets && present != NULL; t++) {
    present[t].n = take_size(cursor);
    present[t].n_calibration = take_size(cursor);
    require(cursor, present[t].n > 0 && present[t].n <= dataset->n);
    require(cursor, present[t].n_calibration <= dataset->n_calibration);
    is_any_missing = is_any_missing || present[t].n < dataset->n ||
                     present[t].n_calibration < dataset->n_calibration;
  }
  require(cursor, is_any_missing && n_targets > 1);
}

static void compose_provenance(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const char *provenance = contents->dataset->provenance;
  if (provenance != NULL) put(blob, provenance, strlen(provenance));
}

static void decode_provenance(struct cursor *cursor, struct gpnn_index *index)
{
  size_t length = cursor->left;
  const unsigned char *from = take(cursor, length);
  index->provenance = from == NULL ? NULL : gpnn_copy_text((const char *)from, length);
  if (index->provenance == NULL) cursor->failed = cursor->out_of_memory = true;
  index->dataset.provenance = index->provenance;
}

/* ---- how the table was read, and what is packed -------------------------------------------- */

static bool has_reading(const struct gpnn_index_contents *contents)
{
  const struct gpnn_reading *reading = &contents->dataset->reading;
  return reading->delimiter != 0 || reading->skips_bad || reading->skip_lines > 0;
}

static void compose_reading(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_reading *reading = &contents->dataset->reading;
  put_u32(blob, (unsigned char)reading->delimiter);
  put_u32(blob, reading->skips_bad);
  if (reading->skip_lines > 0) put_u32(blob, reading->skip_lines);
}

static void decode_reading(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_reading *reading = &index->dataset.reading;
  uint32_t delimiter = take_u32(cursor);
  require(cursor, delimiter < 0x80);
  require(cursor, delimiter == 0 || gpnn_table_can_delimit((char)delimiter));
  reading->delimiter = (char)delimiter;
  reading->skips_bad = take_bool(cursor);
  if (!cursor->failed && cursor->left > 0) reading->skip_lines = take_u32(cursor);
}

static bool has_packed_parameters(const struct gpnn_index_contents *contents)
{
  return contents->dataset->packed.parameters != NULL;
}

static void compose_packed_parameters(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put(blob, contents->dataset->packed.parameters, contents->dataset->packed.parameters_length);
}

/* They are read by those who need them, but they are there. */
static void decode_packed_parameters(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_packed *packed = &index->dataset.packed;
  require(cursor, cursor->left > 0);
  packed->parameters_length = cursor->left;
  packed->parameters = take(cursor, cursor->left);
}

static bool has_packed_report(const struct gpnn_index_contents *contents)
{
  return contents->dataset->packed.report != NULL;
}

static void compose_packed_report(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put(blob, contents->dataset->packed.report, contents->dataset->packed.report_length);
}

static void decode_packed_report(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_packed *packed = &index->dataset.packed;
  packed->report_length = cursor->left;
  packed->report = (const char *)take(cursor, cursor->left);
}

/* ---- further rows -------------------------------------------------------------------------- */

/* The parameters of a model file. */
static void compose_text(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put(blob, contents->dataset->stored->text, contents->dataset->stored->length);
}

static bool has_more(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.n_more > 0;
}

static bool has_regressors(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.n_regressors > 0;
}

static bool has_noise(const struct gpnn_index_contents *contents)
{
  return contents->dataset->schema.has_noise;
}

/* ---- standardisation ----------------------------------------------------------------------- */

static void compose_moments(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_scaling *scaling = &contents->dataset->scaling;
  for (size_t t = 0; t < scaling->n_more; t++) {
    put_f64(blob, scaling->more[t].mean);
    put_f64(blob, scaling->more[t].sd);
  }
  for (size_t j = 0; j < scaling->n_regressors; j++) {
    put_f64(blob, scaling->regressors[j].mean);
    put_f64(blob, scaling->regressors[j].sd);
  }
}

static struct gpnn_moments *take_moments(struct cursor *cursor, size_t n)
{
  struct gpnn_moments *moments = take_array(cursor, n, 16, sizeof *moments);
  for (size_t i = 0; i < n && moments != NULL; i++) {
    moments[i].mean = take_f64(cursor);
    moments[i].sd = take_f64(cursor);
    require(cursor, moments[i].sd > 0);
  }
  return moments;
}

/* Means and standard deviations of further targets and of regressors. */
static void decode_moments(struct cursor *cursor, struct gpnn_index *index)
{
  const struct gpnn_schema *schema = &index->dataset.schema;
  struct gpnn_scaling *scaling = &index->dataset.scaling;
  scaling->n_more = schema->n_more;
  scaling->n_regressors = schema->n_regressors;
  scaling->more = take_moments(cursor, schema->n_more);
  scaling->regressors = take_moments(cursor, schema->n_regressors);
}

static size_t n_weights(const struct gpnn_scaling *scaling)
{
  switch (scaling->method) {
  case GPNN_SCALING_SCALE:
    return scaling->n_in;
  case GPNN_SCALING_WHITEN:
    return scaling->n_in * scaling->n_out;
  case GPNN_SCALING_NONE:
    break;
  }
  return 0;
}

static void compose_scaling(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_scaling *scaling = &contents->dataset->scaling;
  put_u32(blob, scaling->method);
  put_u32(blob, scaling->y_given);
  put_u64(blob, scaling->n_in);
  put_u64(blob, scaling->n_out);
  put_f64(blob, scaling->eps);
  put_f64(blob, scaling->y_mean);
  put_f64(blob, scaling->y_sd);
  put_f64s(blob, scaling->n_in, scaling->mean);
  put_f64s(blob, n_weights(scaling), scaling->weight);
}

/* True if some inputs are coordinates of one point, which whitening would mix. */
static bool has_points(const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs; i++)
    if (schema->inputs[i].kind == GPNN_COLUMN_PERIODIC ||
        schema->inputs[i].kind == GPNN_COLUMN_LATITUDE)
      return true;
  return false;
}

static void decode_scaling(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_scaling *scaling = &index->dataset.scaling;
  uint32_t method = take_u32(cursor);
  scaling->y_given = take_bool(cursor);
  require(cursor, method <= GPNN_SCALING_WHITEN);
  if (cursor->failed) return;
  scaling->method = (enum gpnn_scaling_method)method;
  scaling->n_in = take_size(cursor);
  scaling->n_out = take_size(cursor);
  scaling->eps = take_f64(cursor);
  scaling->y_mean = take_f64(cursor);
  scaling->y_sd = take_f64(cursor);
  require(cursor, scaling->y_sd > 0 && scaling->eps >= 0);
  require(cursor, scaling->n_in >= 1 && scaling->n_out <= scaling->n_in);
  require(cursor, scaling->n_in == gpnn_schema_features(&index->dataset.schema));
  require(cursor, method != GPNN_SCALING_WHITEN || !has_points(&index->dataset.schema));
  scaling->mean = take_f64s(cursor, scaling->n_in, 1);
  size_t kept = scaling->n_in;
  if (method == GPNN_SCALING_WHITEN) {
    scaling->weight = take_f64s(cursor, scaling->n_out, scaling->n_in);
    kept = scaling->n_out;
  } else if (method == GPNN_SCALING_SCALE) {
    scaling->weight = take_f64s(cursor, scaling->n_in, 1);
    kept = 0;
    for (size_t j = 0; scaling->weight != NULL && j < scaling->n_in; j++)
      kept += scaling->weight[j] != 0;
  }
  require(cursor, kept == scaling->n_out && kept == index->dataset.d);
}

/* A step before the standardisation. */
static bool has_step(enum gpnn_step_number step, const struct gpnn_index_contents *contents)
{
  return contents->dataset->scaling.steps[step].numbers != NULL;
}

static void compose_step(struct blob *blob, enum gpnn_step_number step,
                         const struct gpnn_index_contents *contents)
{
  const struct gpnn_learnt *learnt = &contents->dataset->scaling.steps[step];
  put_f64s(blob, learnt->n, learnt->numbers);
}

static void decode_step(struct cursor *cursor, enum gpnn_step_number step, struct gpnn_index *index)
{
  struct gpnn_learnt *learnt = &index->dataset.scaling.steps[step];
  size_t n = cursor->left / sizeof(double);
  learnt->numbers = take_f64s(cursor, n, 1);
  if (learnt->numbers == NULL) return;
  learnt->n = n;
  learnt->n_features = index->dataset.scaling.n_in;
  require(cursor, gpnn_step(step)->is_valid(learnt));
}

/* ---- scores of the inputs ------------------------------------------------------------------ */

static bool has_scores(const struct gpnn_index_contents *contents)
{
  return contents->dataset->scores != NULL;
}

static void compose_scores(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_scores *scores = contents->dataset->scores;
  for (size_t j = 0; j <= scores->d; j++) put_u64(blob, scores->first[j]);
  put_f64s(blob, 2 * scores->first[scores->d], scores->knots);
}

static void decode_scores(struct cursor *cursor, struct gpnn_index *index)
{
  size_t d = index->dataset.d;
  struct gpnn_scores *scores = &index->scores;
  scores->first = take_array(cursor, d + 1, sizeof(uint64_t), sizeof *scores->first);
  if (scores->first == NULL) return;
  scores->d = d;
  for (size_t j = 0; j <= d; j++) scores->first[j] = take_size(cursor);
  scores->knots = take_f64s(cursor, scores->first[d], 2);
  if (cursor->failed) return;
  require(cursor, gpnn_scores_are_valid(scores));
  index->dataset.scores = scores;
}

/* ---- search -------------------------------------------------------------------------------- */

static bool is_over_scores(const struct gpnn_index_contents *contents)
{
  return contents->search != NULL && contents->over->scaling.sight != NULL;
}

static void compose_sight(struct blob *blob, const struct gpnn_index_contents *contents)
{
  put(blob, contents->over->scaling.sight, contents->over->scaling.n_out);
}

/* How the search sees each input. */
static void decode_sight(struct cursor *cursor, struct gpnn_index *index)
{
  size_t d = index->dataset.d;
  const unsigned char *sight = take(cursor, d);
  if (sight == NULL) return;
  for (size_t j = 0; j < d; j++) {
    bool has_score = index->dataset.scores != NULL && gpnn_scores_has(index->dataset.scores, j);
    require(cursor, sight[j] == GPNN_SIGHT_VALUE ||
                        (has_score && sight[j] >= GPNN_SIGHT_VALUE && sight[j] <= GPNN_SIGHT_BOTH));
  }
  if (cursor->failed) return;
  index->sight = gpnn_alloc(d, 1, sizeof *index->sight);
  if (index->sight == NULL) cursor->failed = cursor->out_of_memory = true;
  if (index->sight != NULL) memcpy(index->sight, sight, d);
}

/* Numbers of a row as the search sees it. */
static size_t width_of_search(const struct gpnn_index *index)
{
  size_t d = index->dataset.d;
  return index->sight == NULL ? d : gpnn_scores_width(d, index->sight);
}

static void compose_search(struct blob *blob, const struct gpnn_index_contents *contents)
{
  const struct gpnn_search *search = contents->search;
  const struct gpnn_search_report *report = gpnn_search_describe(search);
  const double *lengthscale = gpnn_search_metric(search).lengthscale;
  const char *version = gpnn_search_engine_version();
  put_u32(blob, report->kind);
  put_u32(blob, lengthscale != NULL);
  put_u64(blob, report->n_lists);
  put_u64(blob, report->effort);
  put_f64(blob, report->asked);
  put_f64(blob, report->recall);
  put_u64(blob, report->n_queries);
  put_u64(blob, report->neighbours);
  put_f64(blob, report->visited);
  if (lengthscale != NULL) put_f64s(blob, contents->over->d, lengthscale);
  put_text(blob, version, strlen(version));
}

static void decode_search(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_search_report *report = &index->source.report;
  uint32_t kind = take_u32(cursor);
  bool has_lengthscale = take_bool(cursor);
  require(cursor, kind >= GPNN_SEARCH_FLAT && kind <= GPNN_SEARCH_TREE);
  if (cursor->failed) return;
  report->kind = (enum gpnn_search_kind)kind;
  report->n_lists = take_size(cursor);
  report->effort = take_size(cursor);
  report->asked = take_f64(cursor);
  report->recall = take_f64(cursor);
  require(cursor, report->asked > 0 && report->asked <= 1);
  report->n_queries = take_size(cursor);
  report->neighbours = take_size(cursor);
  report->visited = take_f64(cursor);
  size_t d = width_of_search(index);
  if (has_lengthscale) index->lengthscale = take_f64s(cursor, d, 1);
  for (size_t j = 0; index->lengthscale != NULL && j < d; j++)
    require(cursor, index->lengthscale[j] > 0);
  take(cursor, take_u32(cursor)); /* skips the version of FAISS, which is there for people */
}

static bool has_rotation(const struct gpnn_index_contents *contents)
{
  return contents->search != NULL && gpnn_search_metric(contents->search).rotation != NULL;
}

static void compose_rotation(struct blob *blob, const struct gpnn_index_contents *contents)
{
  size_t d = contents->over->d;
  put_f64s(blob, d * d, gpnn_search_metric(contents->search).rotation);
}

static void decode_rotation(struct cursor *cursor, struct gpnn_index *index)
{
  size_t d = width_of_search(index);
  index->rotation = take_f64s(cursor, d, d);
}

static bool has_duplicates(const struct gpnn_index_contents *contents)
{
  size_t length;
  return contents->search != NULL && gpnn_search_duplicates(contents->search, &length) != NULL;
}

static enum gpnn_status write_duplicates(struct gpnn_index_writing *writing,
                                         const struct gpnn_index_section *section,
                                         struct gpnn_error *err)
{
  size_t length;
  const uint32_t *duplicates = gpnn_search_duplicates(writing->contents.search, &length);
  return gpnn_index_write_bytes(writing, section, duplicates, length, err);
}

static bool has_tree(const struct gpnn_index_contents *contents)
{
  return contents->search != NULL &&
         gpnn_search_describe(contents->search)->kind == GPNN_SEARCH_TREE;
}

static bool has_no_tree(const struct gpnn_index_contents *contents)
{
  return contents->search != NULL && !has_tree(contents);
}

/* The search writes its structure straight into the file; it does not know the path. */
static enum gpnn_status write_structure(struct gpnn_index_writing *writing,
                                        const struct gpnn_index_section *section,
                                        struct gpnn_error *err)
{
  struct gpnn_error reason = {0};
  enum gpnn_status status = gpnn_container_begin(writing->writer, section->tag.tag, err);
  if (status != GPNN_OK) return status;
  status =
      gpnn_search_save(writing->contents.search, gpnn_container_file(writing->writer), &reason);
  if (status != GPNN_OK) return gpnn_fail(err, status, "%s: %s", writing->path, reason.text);
  return gpnn_container_end(writing->writer, err);
}

/* ---- the table ----------------------------------------------------------------------------- */

enum {
  INDEX = 1 << GPNN_CONTAINER_INDEX,
  GRID = 1 << GPNN_CONTAINER_GRID,
  MODEL = 1 << GPNN_CONTAINER_MODEL,
};

/* Parts of rows of the table.  Critical sections have the minor version that introduced them;
 * others are not hashed. */
#define CRITICAL(TAG, SINCE, KINDS, HASH) \
  .tag = {TAG, true, SINCE}, .kinds = (KINDS), .hash = GPNN_INDEX_##HASH
#define STEP(NAME) .is_step = true, .step = GPNN_STEP_##NAME
#define SEARCH .is_search = true
#define PACKED .is_search = true, .is_packed = true
#define SPARE(TAG, KINDS) .tag = {TAG, false, 0}, .kinds = (KINDS)
#define CODED(NAME) .compose = compose_##NAME, .decode = decode_##NAME
#define CODED_ELSEWHERE(NAME) \
  .compose = gpnn_index_compose_##NAME, .decode = gpnn_index_decode_##NAME
#define ARRAY(FIELD, CALIBRATION, WIDTH, NUMBERS) \
  .numbers = GPNN_INDEX_##NUMBERS,                \
  .rows = {offsetof(struct gpnn_dataset, FIELD), CALIBRATION, GPNN_INDEX_##WIDTH}

/*
 * A file has at most GPNN_CONTAINER_SECTIONS of them: neither classes nor an exposure go together
 * with offsets or noise variances.
 *
 * Programs that know only an older minor version must refuse what they cannot read: a change of the
 * format takes a new section, critical since a new version, and a paragraph of gpnn-index(5).
 */
static const struct gpnn_index_section sections[] = {
    {CRITICAL("INFO", 0, INDEX | GRID | MODEL, REST), CODED(info)},
    {CRITICAL("COLS", 0, INDEX | GRID | MODEL, COLUMNS), CODED_ELSEWHERE(columns)},
    {CRITICAL("ROLE", 0, INDEX | MODEL, COLUMNS), CODED_ELSEWHERE(roles),
     .has = gpnn_index_has_roles},
    {CRITICAL("OCOL", 0, INDEX | MODEL, COLUMNS), CODED_ELSEWHERE(offsets),
     .has = gpnn_index_has_offsets},
    {CRITICAL("GCOL", 0, INDEX, GROUPS), CODED_ELSEWHERE(groups), .has = gpnn_index_has_groups},
    {CRITICAL("COPY", 0, INDEX, REST), CODED(copies), .has = has_copies},
    {CRITICAL("FOLO", 0, INDEX, REST), .has = is_following, .compose = compose_nothing,
     .decode = decode_following},
    {CRITICAL("CLAS", 0, INDEX | MODEL, COLUMNS), CODED_ELSEWHERE(classes),
     .has = gpnn_index_has_classes},
    {CRITICAL("ECOL", 0, INDEX | MODEL, COLUMNS), CODED_ELSEWHERE(exposure),
     .has = gpnn_index_has_exposure},
    {CRITICAL("COLX", 0, INDEX | GRID | MODEL, COLUMNS), CODED_ELSEWHERE(names_and_dates),
     .has = gpnn_index_has_names_or_dates},
    {CRITICAL("NAME", 0, GRID, COLUMNS), CODED_ELSEWHERE(names), .has = gpnn_index_has_names},
    {CRITICAL("CODE", 0, INDEX | MODEL, COLUMNS), CODED_ELSEWHERE(codes),
     .has = gpnn_index_has_codes},
    {CRITICAL("EFFE", 0, INDEX, COLUMNS), CODED_ELSEWHERE(effects), .has = gpnn_index_has_effects},
    {CRITICAL("LATE", 0, INDEX | MODEL, REST), CODED_ELSEWHERE(later), .has = gpnn_index_has_later},
    {CRITICAL("NOTA", 0, INDEX | GRID | MODEL, UNHASHED), CODED_ELSEWHERE(notation),
     .has = gpnn_index_has_notation},
    {CRITICAL("STDZ", 0, INDEX | GRID | MODEL, SCALING), CODED(scaling)},
    {CRITICAL("LIMS", 0, INDEX | MODEL, SCALING), STEP(LIMITS)},
    {CRITICAL("TAIL", 0, INDEX | MODEL, SCALING), STEP(TAILS)},
    {CRITICAL("MOMS", 0, INDEX | MODEL, SCALING), CODED(moments), .has = gpnn_index_has_roles},
    {CRITICAL("DROP", 0, INDEX, REST), .has = drops_missing, .compose = compose_nothing,
     .decode = decode_dropping},
    {CRITICAL("HELD", 0, INDEX, REST), CODED(held_out), .has = has_held_out},
    {CRITICAL("HAVE", 0, INDEX, REST), CODED(present), .has = is_partial},
    {CRITICAL("FACT", 0, GRID, COLUMNS), CODED_ELSEWHERE(factors)},
    {CRITICAL("GRID", 0, GRID, REST), CODED_ELSEWHERE(grid)},
    {SPARE("SCOR", INDEX), CODED(scores), .has = has_scores},
    {SPARE("ICOL", INDEX), CODED_ELSEWHERE(ids), .has = gpnn_index_has_ids},
    {SPARE("IDEN", INDEX), .write = write_ids, .has = gpnn_index_has_ids},
    {SPARE("OPTS", INDEX | GRID | MODEL), CODED(provenance)},
    {CRITICAL("CELL", 0, GRID, REST), .write = gpnn_index_write_cells},
    {CRITICAL("LEVL", 0, GRID, REST), .numbers = GPNN_INDEX_ANY,
     .compose = gpnn_index_compose_levels},
    {CRITICAL("ROWS", 0, INDEX, REST), ARRAY(x, false, INPUTS, ANY)},
    {CRITICAL("YVAL", 0, INDEX | GRID, REST), ARRAY(y, false, ONE, TARGETS)},
    {CRITICAL("CALX", 0, INDEX, REST), ARRAY(calibration_x, true, INPUTS, MISSING)},
    {CRITICAL("CALY", 0, INDEX, REST), ARRAY(calibration_y, true, ONE, TARGETS)},
    {CRITICAL("YMOR", 0, INDEX, REST), ARRAY(more, false, FURTHER_TARGETS, TARGETS),
     .has = has_more},
    {CRITICAL("CALM", 0, INDEX, REST), ARRAY(calibration_more, true, FURTHER_TARGETS, TARGETS),
     .has = has_more},
    {CRITICAL("REGR", 0, INDEX, REST), ARRAY(regressors, false, REGRESSORS, ANY),
     .has = has_regressors},
    {CRITICAL("CALR", 0, INDEX, REST), ARRAY(calibration_regressors, true, REGRESSORS, ANY),
     .has = has_regressors},
    {CRITICAL("NOIS", 0, INDEX, REST), ARRAY(noise, false, ALL_TARGETS, VARIANCES),
     .has = has_noise},
    {CRITICAL("CALN", 0, INDEX, REST), ARRAY(calibration_noise, true, ALL_TARGETS, VARIANCES),
     .has = has_noise},
    {CRITICAL("OFFS", 0, INDEX, REST), ARRAY(offset, false, ALL_TARGETS, ANY),
     .has = gpnn_index_has_offsets},
    {CRITICAL("CALO", 0, INDEX, REST), ARRAY(calibration_offset, true, ALL_TARGETS, ANY),
     .has = gpnn_index_has_offsets},
    {CRITICAL("EXPO", 0, INDEX, REST), ARRAY(exposure, false, ONE, EXPOSURES),
     .has = gpnn_index_has_exposure},
    {CRITICAL("CALE", 0, INDEX, REST), ARRAY(calibration_exposure, true, ONE, EXPOSURES),
     .has = gpnn_index_has_exposure},
    {CRITICAL("GRPS", 0, INDEX, REST), .write = write_row_groups, .has = has_row_groups},
    {SPARE("GKEY", INDEX), .write = write_group_keys, .has = has_group_keys},
    {CRITICAL("LACK", 0, INDEX, REST), .write = write_lacks, .has = has_lacks},
    {CRITICAL("PART", 0, INDEX, REST), .write = gpnn_index_write_parts, .has = is_partial},
    {CRITICAL("CNTS", 0, GRID, REST), .write = gpnn_index_write_counts,
     .has = gpnn_index_has_counts},
    {CRITICAL("TEXT", 0, MODEL, REST), .compose = compose_text},
    {CRITICAL("LIST", 0, MODEL, REST), .write = gpnn_index_write_list},
    {CRITICAL("DATA", 0, MODEL, REST), .write = gpnn_index_write_data},
    {CRITICAL("SEES", 0, INDEX, UNHASHED), CODED(sight), .has = is_over_scores, SEARCH},
    {CRITICAL("SRCH", 0, INDEX, UNHASHED), CODED(search), SEARCH},
    {CRITICAL("ROTN", 0, INDEX, UNHASHED), CODED(rotation), .has = has_rotation, SEARCH},
    {CRITICAL("SAME", 0, INDEX, UNHASHED), .write = write_duplicates, .has = has_duplicates,
     SEARCH},
    {SPARE("FAIS", INDEX), .write = write_structure, .has = has_no_tree, SEARCH},
    {CRITICAL("TREE", 0, INDEX, UNHASHED), .write = write_structure, .has = has_tree, SEARCH},
    {SPARE("READ", INDEX | GRID | MODEL), CODED(reading), .has = has_reading, PACKED},
    {SPARE("PARA", INDEX | GRID), CODED(packed_parameters), .has = has_packed_parameters, PACKED},
    {SPARE("RPRT", INDEX | GRID), CODED(packed_report), .has = has_packed_report, PACKED},
};

enum { SECTIONS = sizeof sections / sizeof *sections };
_Static_assert(sizeof sections / sizeof *sections <= GPNN_INDEX_SECTIONS_MOST, "all have room");

const struct gpnn_index_section *gpnn_index_section_at(size_t i)
{
  return i < SECTIONS ? &sections[i] : NULL;
}

bool gpnn_index_may_have(enum gpnn_container_kind kind, const struct gpnn_index_section *section)
{
  return (section->kinds >> kind & 1) != 0;
}

bool gpnn_index_has(const struct gpnn_index_section *section,
                    const struct gpnn_index_contents *contents)
{
  if (section->is_step) return has_step(section->step, contents);
  return section->has == NULL || section->has(contents);
}

bool gpnn_index_compose(const struct gpnn_index_section *section, struct blob *blob,
                        const struct gpnn_index_contents *contents)
{
  if (section->is_step)
    compose_step(blob, section->step, contents);
  else if (section->compose != NULL)
    section->compose(blob, contents);
  return section->is_step || section->compose != NULL;
}

void gpnn_index_decode(const struct gpnn_index_section *section, struct cursor *cursor,
                       struct gpnn_index *index)
{
  if (section->is_step)
    decode_step(cursor, section->step, index);
  else
    section->decode(cursor, index);
}

const struct gpnn_container_format *gpnn_index_format(enum gpnn_container_kind kind,
                                                      struct gpnn_index_format *format)
{
  size_t n = 0;
  for (size_t i = 0; i < SECTIONS; i++)
    if (gpnn_index_may_have(kind, &sections[i])) format->tags[n++] = sections[i].tag;
  format->container = (struct gpnn_container_format){kind, n, format->tags};
  return &format->container;
}

void gpnn_index_shape(const struct gpnn_index_section *section, const struct gpnn_dataset *dataset,
                      size_t *n, size_t *d)
{
  const struct gpnn_schema *schema = &dataset->schema;
  size_t rows = section->rows.is_calibration ? dataset->n_calibration : dataset->n;
  bool by_target = section->rows.width >= GPNN_INDEX_FURTHER_TARGETS;
  const size_t width[] = {[GPNN_INDEX_ONE] = 1,
                          [GPNN_INDEX_INPUTS] = dataset->d,
                          [GPNN_INDEX_REGRESSORS] = schema->n_regressors,
                          [GPNN_INDEX_FURTHER_TARGETS] = schema->n_more,
                          [GPNN_INDEX_ALL_TARGETS] = 1 + schema->n_more};
  *n = by_target ? width[section->rows.width] : rows;
  *d = by_target ? rows : width[section->rows.width];
}
