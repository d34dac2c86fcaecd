/*
 * Reading the sections of gpnn-index(5), without trusting them.
 */
#include "data/index.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "data/index_fingerprint.h"
#include "data/index_parts.h"
#include "data/sections.h"

/* ---- reading sections ---- */

/* Bytes yet to be read; once something is missing or not allowed, everything is 0. */
struct cursor {
  const unsigned char *at;
  size_t left;
  bool failed;  /* too short, or a value that cannot be */
  bool starved; /* out of memory */
};

static const unsigned char *take(struct cursor *cursor, size_t length)
{
  if (cursor->failed || length > cursor->left) {
    cursor->failed = true;
    return NULL;
  }
  const unsigned char *from = cursor->at;
  cursor->at += length;
  cursor->left -= length;
  return from;
}

static void require(struct cursor *cursor, bool condition)
{
  if (!condition) cursor->failed = true;
}

static uint32_t take_u32(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 4);
  return from == NULL ? 0 : gpnn_load_u32(from);
}

static uint64_t take_u64(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 8);
  return from == NULL ? 0 : gpnn_load_u64(from);
}

static size_t take_size(struct cursor *cursor)
{
  uint64_t value = take_u64(cursor);
  require(cursor, value <= SIZE_MAX);
  return (size_t)value;
}

static bool take_bool(struct cursor *cursor)
{
  uint32_t value = take_u32(cursor);
  require(cursor, value <= 1);
  return value == 1;
}

static double take_f64(struct cursor *cursor)
{
  const unsigned char *from = take(cursor, 8);
  double value = from == NULL ? 0 : gpnn_load_f64(from);
  require(cursor, isfinite(value));
  return value;
}

/* A zeroed block of n items for what follows, of which each takes at least 'least' bytes of
 * the section: nothing is allocated that the bytes there do not vouch for. */
static void *take_room(struct cursor *cursor, size_t n, size_t least, size_t item_bytes)
{
  require(cursor, n <= cursor->left / least);
  if (cursor->failed) return NULL;
  void *block = gpnn_alloc(n, 1, item_bytes);
  if (block == NULL) cursor->failed = cursor->starved = true;
  return block;
}

/* n by m numbers in a block of their own. */
static double *take_f64s(struct cursor *cursor, size_t n, size_t m)
{
  size_t count = 0;
  require(cursor, gpnn_multiply(n, m, &count));
  double *values = take_room(cursor, count, 8, sizeof *values);
  if (values == NULL) return NULL;
  for (size_t i = 0; i < count; i++) values[i] = take_f64(cursor);
  return values;
}

static char *take_text(struct cursor *cursor, size_t *length)
{
  *length = take_u32(cursor);
  const unsigned char *from = take(cursor, *length);
  if (from == NULL) return NULL;
  char *copy = gpnn_copy_text((const char *)from, *length);
  if (copy == NULL) cursor->failed = cursor->starved = true;
  return copy;
}

/* ---- taking sections back ---- */

static void take_info(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_index_contents *contents = &index->contents;
  contents->n = take_size(cursor);
  contents->d = take_size(cursor);
  contents->n_calibration = take_size(cursor);
  contents->n_skipped = take_size(cursor);
  contents->seed = take_u64(cursor);
  require(cursor, contents->n > 0 && contents->d > 0);
}

static void take_column(struct cursor *cursor, size_t n_columns, struct gpnn_column *column)
{
  enum { LEAST_LEVEL = 4 };
  size_t name_length;
  column->position = take_size(cursor);
  bool is_category = take_bool(cursor);
  column->kind = is_category ? GPNN_COLUMN_CATEGORY : GPNN_COLUMN_NUMBER;
  size_t n_levels = take_u32(cursor);
  column->name = take_text(cursor, &name_length);
  require(cursor, column->position < n_columns);
  require(cursor, n_levels <= (is_category ? GPNN_LEVELS_MAX : 0));
  require(cursor, column->name != NULL && strlen(column->name) == name_length);
  column->levels = take_room(cursor, n_levels, LEAST_LEVEL, sizeof *column->levels);
  column->level_lengths = take_room(cursor, n_levels, LEAST_LEVEL, sizeof *column->level_lengths);
  if (cursor->failed) return;
  column->n_levels = n_levels;
  for (size_t i = 0; i < n_levels; i++)
    column->levels[i] = take_text(cursor, &column->level_lengths[i]);
}

enum { LEAST_COLUMN = 20 };

static void take_columns(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->contents.schema;
  schema->n_columns = take_size(cursor);
  schema->has_header = take_bool(cursor);
  size_t n_inputs = take_u32(cursor);
  take_column(cursor, schema->n_columns, &schema->target);
  require(cursor, n_inputs > 0 && schema->target.kind == GPNN_COLUMN_NUMBER);
  schema->inputs = take_room(cursor, n_inputs, LEAST_COLUMN, sizeof *schema->inputs);
  if (schema->inputs == NULL) return;
  schema->n_inputs = n_inputs;
  for (size_t i = 0; i < n_inputs; i++) take_column(cursor, schema->n_columns, &schema->inputs[i]);
}

/* The kind of an input, which so far is a category or a number. */
static void take_kind(struct cursor *cursor, struct gpnn_column *column)
{
  uint32_t kind = take_u32(cursor);
  column->partner = take_u32(cursor);
  column->period = take_f64(cursor);
  require(cursor, kind <= GPNN_COLUMN_LONGITUDE);
  require(cursor, (kind == GPNN_COLUMN_CATEGORY) == (column->kind == GPNN_COLUMN_CATEGORY));
  require(cursor, kind == GPNN_COLUMN_PERIODIC ? column->period > 0 : column->period == 0);
  if (!cursor->failed) column->kind = (enum gpnn_column_kind)kind;
}

/* Latitudes and longitudes come in pairs. */
static void require_pairs(struct cursor *cursor, const struct gpnn_schema *schema)
{
  for (size_t i = 0; i < schema->n_inputs && !cursor->failed; i++) {
    enum gpnn_column_kind kind = schema->inputs[i].kind, other = GPNN_COLUMN_LATITUDE;
    size_t partner = schema->inputs[i].partner;
    bool is_paired = kind == GPNN_COLUMN_LATITUDE || kind == GPNN_COLUMN_LONGITUDE;
    if (kind == GPNN_COLUMN_LATITUDE) other = GPNN_COLUMN_LONGITUDE;
    require(cursor, is_paired ? partner < schema->n_inputs : partner == 0);
    if (!is_paired || cursor->failed) continue;
    require(cursor, schema->inputs[partner].kind == other && schema->inputs[partner].partner == i);
  }
}

/* 'n' columns that are numbers; '*n_taken' tells how many there are to be released. */
static void take_numbers(struct cursor *cursor, size_t n_columns, size_t n,
                         struct gpnn_column **columns, size_t *n_taken)
{
  *columns = take_room(cursor, n, LEAST_COLUMN, sizeof **columns);
  if (*columns == NULL) return;
  *n_taken = n;
  for (size_t i = 0; i < n; i++) {
    take_column(cursor, n_columns, &(*columns)[i]);
    require(cursor, (*columns)[i].kind == GPNN_COLUMN_NUMBER);
  }
}

static void take_roles(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_schema *schema = &index->contents.schema;
  size_t n_more = take_u32(cursor), n_regressors = take_u32(cursor);
  schema->has_noise = take_bool(cursor);
  require(cursor, take_u32(cursor) == 0);
  for (size_t i = 0; i < schema->n_inputs; i++) take_kind(cursor, &schema->inputs[i]);
  require_pairs(cursor, schema);
  take_numbers(cursor, schema->n_columns, n_more, &schema->more, &schema->n_more);
  take_numbers(cursor, schema->n_columns, n_regressors, &schema->regressors, &schema->n_regressors);
  if (schema->has_noise) take_column(cursor, schema->n_columns, &schema->noise);
  require(cursor, schema->noise.kind == GPNN_COLUMN_NUMBER);
}

static struct gpnn_moments *take_moments(struct cursor *cursor, size_t n)
{
  struct gpnn_moments *moments = take_room(cursor, n, 16, sizeof *moments);
  for (size_t i = 0; i < n && moments != NULL; i++) {
    moments[i].mean = take_f64(cursor);
    moments[i].sd = take_f64(cursor);
    require(cursor, moments[i].sd > 0);
  }
  return moments;
}

/* Means and sds of further targets and of regressors. */
static void take_all_moments(struct cursor *cursor, struct gpnn_index *index)
{
  const struct gpnn_schema *schema = &index->contents.schema;
  struct gpnn_standard *standard = &index->contents.standard;
  standard->n_more = schema->n_more;
  standard->n_regressors = schema->n_regressors;
  standard->more = take_moments(cursor, schema->n_more);
  standard->regressors = take_moments(cursor, schema->n_regressors);
}

static void take_standard(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_standard *standard = &index->contents.standard;
  uint32_t method = take_u32(cursor), reserved = take_u32(cursor);
  require(cursor, method <= GPNN_STANDARD_WHITEN && reserved == 0);
  if (cursor->failed) return;
  standard->method = (enum gpnn_standard_method)method;
  standard->n_in = take_size(cursor);
  standard->n_out = take_size(cursor);
  standard->eps = take_f64(cursor);
  standard->y_mean = take_f64(cursor);
  standard->y_sd = take_f64(cursor);
  require(cursor, standard->y_sd > 0 && standard->eps >= 0);
  require(cursor, standard->n_in >= 1 && standard->n_out <= standard->n_in);
  standard->mean = take_f64s(cursor, standard->n_in, 1);
  size_t kept = standard->n_in;
  if (method == GPNN_STANDARD_WHITEN) {
    standard->weight = take_f64s(cursor, standard->n_out, standard->n_in);
    kept = standard->n_out;
  } else if (method == GPNN_STANDARD_SCALE) {
    standard->weight = take_f64s(cursor, standard->n_in, 1);
    kept = 0;
    for (size_t j = 0; standard->weight != NULL && j < standard->n_in; j++)
      kept += standard->weight[j] != 0;
  }
  require(cursor, kept == standard->n_out && kept == index->contents.d);
}

static void take_search(struct cursor *cursor, struct gpnn_index *index)
{
  struct gpnn_search_report *report = &index->report;
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
  if (has_lengthscale) index->lengthscale = take_f64s(cursor, index->contents.d, 1);
  for (size_t j = 0; index->lengthscale != NULL && j < index->contents.d; j++)
    require(cursor, index->lengthscale[j] > 0);
  take(cursor, take_u32(cursor)); /* the version of FAISS is for people */
}

static void take_rotation(struct cursor *cursor, struct gpnn_index *index)
{
  index->rotation = take_f64s(cursor, index->contents.d, index->contents.d);
}

static void take_provenance(struct cursor *cursor, struct gpnn_index *index)
{
  size_t length = cursor->left;
  const unsigned char *from = take(cursor, length);
  index->provenance = from == NULL ? NULL : gpnn_copy_text((const char *)from, length);
  if (index->provenance == NULL) cursor->failed = cursor->starved = true;
  index->contents.provenance = index->provenance;
}

/* ---- opening ---- */

/* Finds a section that must be there. */
static enum gpnn_status find(const struct gpnn_index *index, const char *tag,
                             const struct gpnn_section **section, struct gpnn_error *err)
{
  *section = gpnn_sections_find(index->sections, tag);
  if (*section != NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is missing",
                   gpnn_sections_path(index->sections), tag);
}

/* Checks a small section and takes it back with 'reader', which must use all of it. */
static enum gpnn_status take_section(struct gpnn_index *index, const char *tag,
                                     void (*reader)(struct cursor *, struct gpnn_index *),
                                     struct gpnn_error *err)
{
  const struct gpnn_section *section;
  enum gpnn_status status = find(index, tag, &section, err);
  if (status == GPNN_OK) status = gpnn_sections_check(index->sections, section, err);
  if (status != GPNN_OK) return status;
  struct cursor cursor = {.at = gpnn_sections_bytes(index->sections, section),
                          .left = (size_t)section->length};
  reader(&cursor, index);
  if (cursor.starved) return gpnn_fail_memory(err, "for opening an index");
  if (cursor.failed || cursor.left > 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s makes no sense",
                     gpnn_sections_path(index->sections), tag);
  return GPNN_OK;
}

/* Points '*rows' at a section of n by d reals where it is mapped. */
static enum gpnn_status take_rows(const struct gpnn_index *index, const char *tag, size_t n,
                                  size_t d, const double **rows, struct gpnn_error *err)
{
  const struct gpnn_section *section;
  enum gpnn_status status = find(index, tag, &section, err);
  if (status != GPNN_OK) return status;
  size_t count, bytes;
  if (!gpnn_multiply(n, d, &count) || !gpnn_multiply(count, sizeof **rows, &bytes) ||
      bytes != section->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s is not of %zu by %zu numbers",
                     gpnn_sections_path(index->sections), tag, n, d);
  /* Sections are 64-byte aligned. */
  *rows = (const double *)(const void *)gpnn_sections_bytes(index->sections, section);
  return GPNN_OK;
}

static enum gpnn_status check_tags(const struct gpnn_index *index, struct gpnn_error *err)
{
  static const char known[] =
      "INFO COLS ROLE STDZ MOMS SRCH OPTS ROWS YVAL CALX CALY YMOR CALM REGR "
      "CALR NOIS CALN FAIS ROTN TREE";
  for (size_t i = 0; i < gpnn_sections_count(index->sections); i++) {
    const struct gpnn_section *section = gpnn_sections_get(index->sections, i);
    if (section->critical && strstr(known, section->tag) == NULL)
      return gpnn_fail(err, GPNN_EVERSION, "%s: needs a newer program: section %s is not known",
                       gpnn_sections_path(index->sections), section->tag);
  }
  return GPNN_OK;
}

static enum gpnn_status take_heads(struct gpnn_index *index, struct gpnn_error *err)
{
  bool extended = gpnn_sections_find(index->sections, "ROLE") != NULL;
  enum gpnn_status status = take_section(index, "INFO", take_info, err);
  if (status == GPNN_OK) status = take_section(index, "COLS", take_columns, err);
  if (status == GPNN_OK && extended) status = take_section(index, "ROLE", take_roles, err);
  if (status == GPNN_OK) status = take_section(index, "STDZ", take_standard, err);
  if (status == GPNN_OK && extended) status = take_section(index, "MOMS", take_all_moments, err);
  if (status == GPNN_OK) status = take_section(index, "SRCH", take_search, err);
  if (status == GPNN_OK && gpnn_sections_find(index->sections, "ROTN") != NULL)
    status = take_section(index, "ROTN", take_rotation, err);
  if (status == GPNN_OK && gpnn_sections_find(index->sections, "OPTS") != NULL)
    status = take_section(index, "OPTS", take_provenance, err);
  if (status == GPNN_OK &&
      gpnn_schema_features(&index->contents.schema) != index->contents.standard.n_in)
    status = gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: columns and standardisation disagree",
                       gpnn_sections_path(index->sections));
  return status;
}

/* Columns that are neither inputs nor the first target. */
static enum gpnn_status take_others(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &index->contents;
  size_t n = contents->n, c = contents->n_calibration;
  size_t n_more = contents->n_more = contents->schema.n_more;
  size_t r = contents->n_regressors = contents->schema.n_regressors;
  enum gpnn_status status = GPNN_OK;
  if (n_more > 0) {
    status = take_rows(index, "YMOR", n_more, n, &contents->more, err);
    if (status == GPNN_OK)
      status = take_rows(index, "CALM", n_more, c, &contents->calibration_more, err);
  }
  if (r > 0 && status == GPNN_OK) {
    status = take_rows(index, "REGR", n, r, &contents->regressors, err);
    if (status == GPNN_OK)
      status = take_rows(index, "CALR", c, r, &contents->calibration_regressors, err);
  }
  if (contents->schema.has_noise && status == GPNN_OK) {
    status = take_rows(index, "NOIS", n_more + 1, n, &contents->noise, err);
    if (status == GPNN_OK)
      status = take_rows(index, "CALN", n_more + 1, c, &contents->calibration_noise, err);
  }
  return status;
}

static enum gpnn_status take_all(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &index->contents;
  enum gpnn_status status = check_tags(index, err);
  if (status == GPNN_OK) status = take_heads(index, err);
  if (status != GPNN_OK) return status;
  size_t n = contents->n, d = contents->d, c = contents->n_calibration;
  contents->pages = gpnn_sections_pages(index->sections);
  status = take_rows(index, "ROWS", n, d, &contents->x, err);
  if (status == GPNN_OK) status = take_rows(index, "YVAL", n, 1, &contents->y, err);
  if (status == GPNN_OK) status = take_rows(index, "CALX", c, d, &contents->calibration_x, err);
  if (status == GPNN_OK) status = take_rows(index, "CALY", c, 1, &contents->calibration_y, err);
  if (status == GPNN_OK) status = take_others(index, err);
  return status;
}

static bool is_kept(const struct gpnn_standard *standard, size_t feature)
{
  return standard->method != GPNN_STANDARD_SCALE || standard->weight[feature] != 0;
}

/* The groups of the features that remain, numbered anew; every direction of whitening is one. */
static enum gpnn_status set_groups(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &index->contents;
  const struct gpnn_standard *standard = &contents->standard;
  bool is_mixed = standard->method == GPNN_STANDARD_WHITEN;
  size_t n_in = standard->n_in, kept = 0, last = SIZE_MAX;
  struct gpnn_feature *features = gpnn_alloc(n_in, 1, sizeof *features);
  index->group = gpnn_alloc(contents->d, 1, sizeof *index->group);
  if (features == NULL || index->group == NULL) {
    free(features);
    return gpnn_fail_memory(err, "for opening an index");
  }
  if (gpnn_schema_groups(&contents->schema, features) && is_mixed) {
    free(features);
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: columns and standardisation disagree",
                     gpnn_sections_path(index->sections));
  }
  for (size_t j = 0; j < n_in && kept < contents->d; j++) {
    if (!is_kept(standard, j)) continue;
    contents->n_groups += is_mixed || features[j].group != last;
    last = features[j].group;
    index->group[kept++] = (uint32_t)contents->n_groups - 1;
  }
  contents->group = index->group;
  free(features);
  return GPNN_OK;
}

/* Views of the further targets: all that is not the target's is shared. */
enum gpnn_status gpnn_index_set_views(struct gpnn_index *index, struct gpnn_error *err)
{
  const struct gpnn_index_contents *first = &index->contents;
  size_t n = first->n, c = first->n_calibration;
  index->views = gpnn_alloc(first->n_more, 1, sizeof *index->views);
  if (index->views == NULL) return gpnn_fail_memory(err, "for opening an index");
  for (size_t t = 0; t < first->n_more; t++) {
    struct gpnn_index_contents *view = &index->views[t];
    *view = *first;
    view->y = first->more + t * n;
    view->calibration_y = first->calibration_more + t * c;
    if (first->noise != NULL) {
      view->noise = first->noise + (t + 1) * n;
      view->calibration_noise = first->calibration_noise + (t + 1) * c;
    }
    view->schema.target = first->schema.more[t];
    view->standard.y_mean = first->standard.more[t].mean;
    view->standard.y_sd = first->standard.more[t].sd;
    view->n_more = view->schema.n_more = view->standard.n_more = 0;
    view->more = view->calibration_more = NULL;
    view->schema.more = NULL;
    view->standard.more = NULL;
  }
  return GPNN_OK;
}

/* What must hold for every number of a section of rows: it is finite, and a variance is not
 * negative. */
static bool are_good(size_t n, const double *values, bool are_variances)
{
  for (size_t j = 0; j < n; j++)
    if (!isfinite(values[j]) || (are_variances && values[j] < 0)) return false;
  return true;
}

/* Adds a section to the fingerprint, and looks at its numbers if it is one of rows; what has been
 * looked at is let go. */
static enum gpnn_status verify_section(const struct gpnn_index *index, const char *tag,
                                       bool has_rows, struct gpnn_fingerprint *fingerprint,
                                       struct gpnn_error *err)
{
  const struct gpnn_section *section = gpnn_sections_find(index->sections, tag);
  if (section == NULL) return GPNN_OK;
  bool are_variances = strcmp(tag, "NOIS") == 0 || strcmp(tag, "CALN") == 0, good = true;
  const unsigned char *bytes = gpnn_sections_bytes(index->sections, section);
  size_t length = (size_t)section->length;
  gpnn_fingerprint_begin(fingerprint, tag, length);
  for (size_t at = 0; at < length && good; at += GPNN_PAGES_STRIDE) {
    size_t block = length - at < GPNN_PAGES_STRIDE ? length - at : GPNN_PAGES_STRIDE;
    gpnn_fingerprint_add(fingerprint, tag, bytes + at, block);
    if (has_rows)
      good = are_good(block / sizeof(double), (const double *)(const void *)(bytes + at),
                      are_variances);
    gpnn_pages_release(index->contents.pages, bytes + at, block);
  }
  if (!good)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s holds what is no %s",
                     gpnn_sections_path(index->sections), tag,
                     are_variances ? "variance" : "number");
  return GPNN_OK;
}

/* All checksums, the fingerprint, and that rows are finite. */
static enum gpnn_status verify_all(const struct gpnn_index *index, struct gpnn_error *err)
{
  static const char *const hashed[] = {"INFO", "COLS", "ROLE", "STDZ", "MOMS",
                                       "ROWS", "YVAL", "CALX", "CALY", "YMOR",
                                       "CALM", "REGR", "CALR", "NOIS", "CALN"};
  enum { FIRST_ROWS = 5 };
  struct gpnn_fingerprint fingerprint = {0};
  const struct gpnn_sections *sections = index->sections;
  for (size_t i = 0; i < gpnn_sections_count(sections); i++) {
    enum gpnn_status status = gpnn_sections_check(sections, gpnn_sections_get(sections, i), err);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < sizeof hashed / sizeof *hashed; i++) {
    enum gpnn_status status = verify_section(index, hashed[i], i >= FIRST_ROWS, &fingerprint, err);
    if (status != GPNN_OK) return status;
  }
  if (gpnn_fingerprint_value(&fingerprint) != gpnn_sections_fingerprint(sections))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the fingerprint is wrong",
                     gpnn_sections_path(sections));
  return GPNN_OK;
}

/* Reads the first bytes of a regular file; a pipe would lose them. */
static size_t read_start(const char *path, void *bytes, size_t room)
{
  struct stat st;
  FILE *file = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
  if (file == NULL) return 0;
  size_t got = fread(bytes, 1, room, file);
  fclose(file);
  return got;
}

/* What a file that is no index looks like; NULL: like nothing we know. */
static const char *look_of(const char *path)
{
  static const char params[] = "# gpnn parameters";
  unsigned char bytes[512];
  size_t got = read_start(path, bytes, sizeof bytes);
  if (got >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) return "a table";
  if (got >= strlen(params) && memcmp(bytes, params, strlen(params)) == 0)
    return "a parameters file";
  /* Text: no control bytes but blanks and line ends. */
  for (size_t i = 0; i < got; i++)
    if (bytes[i] < 0x20 && memchr("\t\r\n", bytes[i], 3) == NULL) return NULL;
  return got > 0 ? "a table" : NULL;
}

enum gpnn_status gpnn_index_open(struct gpnn_index **index, const char *path, bool verify,
                                 struct gpnn_error *err)
{
  struct gpnn_index *opened = calloc(1, sizeof *opened);
  if (opened == NULL) return gpnn_fail_memory(err, "for opening an index");
  enum gpnn_status status = gpnn_sections_open(&opened->sections, path, err);
  const char *look = status == GPNN_EMISMATCH ? look_of(path) : NULL;
  if (look != NULL)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not an index: did you swap the operands?",
                       path, look);
  if (status == GPNN_OK) status = take_all(opened, err);
  if (status == GPNN_OK) status = set_groups(opened, err);
  if (status == GPNN_OK) status = gpnn_index_set_views(opened, err);
  if (status == GPNN_OK && verify) status = verify_all(opened, err);
  opened->is_verified = verify;
  if (status == GPNN_OK)
    *index = opened;
  else
    gpnn_index_close(opened);
  return status;
}

const struct gpnn_index_contents *gpnn_index_contents(const struct gpnn_index *index)
{
  return &index->contents;
}

size_t gpnn_index_n_targets(const struct gpnn_index *index)
{
  return 1 + index->contents.n_more;
}

const struct gpnn_index_contents *gpnn_index_target(const struct gpnn_index *index, size_t t)
{
  return t == 0 ? &index->contents : &index->views[t - 1];
}

bool gpnn_index_find_target(const struct gpnn_index *index, const char *name, size_t *t)
{
  for (size_t i = 0; i < gpnn_index_n_targets(index); i++) {
    if (strcmp(gpnn_index_target(index, i)->schema.target.name, name) != 0) continue;
    *t = i;
    return true;
  }
  return false;
}

const char *gpnn_index_group_name(const struct gpnn_index_contents *contents, size_t group,
                                  char name[GPNN_MASK_BYTES])
{
  const struct gpnn_standard *standard = &contents->standard;
  if (standard->method == GPNN_STANDARD_WHITEN) {
    snprintf(name, GPNN_MASK_BYTES, "direction %zu", group + 1);
    return name;
  }
  size_t feature = 0, kept = 0;
  while (!is_kept(standard, feature) || contents->group[kept++] != group) feature++;
  return gpnn_schema_group_name(&contents->schema, feature, name);
}

uint64_t gpnn_index_fingerprint(const struct gpnn_index *index)
{
  return gpnn_sections_fingerprint(index->sections);
}

const struct gpnn_search_report *gpnn_index_search_report(const struct gpnn_index *index)
{
  return &index->report;
}

struct gpnn_search_metric gpnn_index_search_metric(const struct gpnn_index *index)
{
  return (struct gpnn_search_metric){index->lengthscale, index->rotation};
}

/* The section that holds a search of this kind, or NULL if none is needed. */
static const char *stored_tag(enum gpnn_search_kind kind)
{
  if (kind == GPNN_SEARCH_TREE) return "TREE";
  return kind == GPNN_SEARCH_IVF || kind == GPNN_SEARCH_HNSW ? "FAIS" : NULL;
}

/* Finds the stored search.  Its checksum is compared first where that costs no more than loading
 * it: a graph is read whole, large lists and trees are only mapped. */
static enum gpnn_status open_stored(const struct gpnn_index *index,
                                    const struct gpnn_section **section,
                                    struct gpnn_search_stored *stored, struct gpnn_error *err)
{
  const uint64_t quick = 64 << 20;
  enum gpnn_search_kind kind = index->report.kind;
  enum gpnn_status status = find(index, stored_tag(kind), section, err);
  if (status != GPNN_OK) return status;
  bool is_mapped = kind != GPNN_SEARCH_HNSW && (*section)->length > quick;
  if (!index->is_verified && !is_mapped)
    status = gpnn_sections_check(index->sections, *section, err);
  if (status != GPNN_OK) return status;
  stored->bytes = gpnn_sections_bytes(index->sections, *section);
  stored->length = (size_t)(*section)->length;
  return kind == GPNN_SEARCH_TREE
             ? GPNN_OK
             : gpnn_sections_stream(index->sections, *section, &stored->file, err);
}

static enum gpnn_status load_search(const struct gpnn_index *index, struct gpnn_search **search,
                                    struct gpnn_error *err)
{
  const struct gpnn_index_contents *contents = &index->contents;
  const struct gpnn_section *section = NULL;
  const char *path = gpnn_sections_path(index->sections);
  struct gpnn_search *loaded = NULL;
  struct gpnn_search_stored stored = {0};
  enum gpnn_status status = GPNN_OK;
  if (stored_tag(index->report.kind) != NULL) status = open_stored(index, &section, &stored, err);
  if (status != GPNN_OK) return status;
  struct gpnn_error reason = {0};
  status = gpnn_search_load(&loaded, stored, contents->n, contents->d, contents->x, &index->report,
                            gpnn_index_search_metric(index), &reason);
  if (status != GPNN_OK) status = gpnn_fail(err, status, "%s: %s", path, reason.text);
  /* What FAISS mapped or read must be the section, no more and no less. */
  if (status == GPNN_OK && stored.file != NULL &&
      (uint64_t)ftello(stored.file) != section->offset + section->length)
    status = gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section FAIS is not of its length", path);
  if (stored.file != NULL) fclose(stored.file);
  if (status == GPNN_OK)
    *search = loaded;
  else
    gpnn_search_free(loaded);
  return status;
}

enum gpnn_status gpnn_index_search(const struct gpnn_index *index, struct gpnn_search **search,
                                   struct gpnn_error *err)
{
  enum gpnn_status status;
  if (index->rows != NULL) return gpnn_index_search_sample(index, search, err);
    /* Streams of one index share their place in it (data/sections.h). */
#pragma omp critical(gpnn_index_search)
  status = load_search(index, search, err);
  return status;
}

bool gpnn_index_section(const struct gpnn_index *index, size_t i, char tag[5], uint64_t *offset,
                        uint64_t *length)
{
  if (i >= gpnn_sections_count(index->sections)) return false;
  const struct gpnn_section *section = gpnn_sections_get(index->sections, i);
  memcpy(tag, section->tag, 5);
  *offset = section->offset;
  *length = section->length;
  return true;
}

const char *gpnn_index_path(const struct gpnn_index *index)
{
  return gpnn_sections_path(index->sections);
}

bool gpnn_index_recognise(const char *path)
{
  char bytes[GPNN_SECTIONS_MAGIC_BYTES];
  return read_start(path, bytes, sizeof bytes) == sizeof bytes &&
         memcmp(bytes, GPNN_SECTIONS_MAGIC, sizeof bytes) == 0;
}

void gpnn_index_close(struct gpnn_index *index)
{
  if (index == NULL) return;
  free(index->views);
  if (index->rows != NULL) {
    free(index->rows);
    free(index);
    return;
  }
  gpnn_schema_release(&index->contents.schema);
  gpnn_standard_release(&index->contents.standard);
  free(index->lengthscale);
  free(index->rotation);
  free(index->group);
  free(index->provenance);
  gpnn_sections_close(index->sections);
  free(index);
}
