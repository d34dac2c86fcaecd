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
#include "data/sections.h"

/* ---- reading sections ---- */

struct gpnn_index {
  struct gpnn_sections *sections;
  struct gpnn_index_contents contents;
  struct gpnn_search_report report;
  double *lengthscale; /* owned, or NULL */
  uint32_t *group;     /* owned; contents.group */
  char *provenance;    /* owned; contents.provenance */
  bool is_verified;
};

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
  column->is_category = take_bool(cursor);
  size_t n_levels = take_u32(cursor);
  column->name = take_text(cursor, &name_length);
  require(cursor, column->position < n_columns && (column->is_category || n_levels == 0));
  require(cursor, column->name != NULL && strlen(column->name) == name_length);
  column->levels = take_room(cursor, n_levels, LEAST_LEVEL, sizeof *column->levels);
  column->level_lengths = take_room(cursor, n_levels, LEAST_LEVEL, sizeof *column->level_lengths);
  if (cursor->failed) return;
  column->n_levels = n_levels;
  for (size_t i = 0; i < n_levels; i++)
    column->levels[i] = take_text(cursor, &column->level_lengths[i]);
}

static void take_columns(struct cursor *cursor, struct gpnn_index *index)
{
  enum { LEAST_COLUMN = 20 };
  struct gpnn_schema *schema = &index->contents.schema;
  schema->n_columns = take_size(cursor);
  schema->has_header = take_bool(cursor);
  size_t n_inputs = take_u32(cursor);
  take_column(cursor, schema->n_columns, &schema->target);
  require(cursor, n_inputs > 0 && !schema->target.is_category);
  schema->inputs = take_room(cursor, n_inputs, LEAST_COLUMN, sizeof *schema->inputs);
  if (schema->inputs == NULL) return;
  schema->n_inputs = n_inputs;
  for (size_t i = 0; i < n_inputs; i++) take_column(cursor, schema->n_columns, &schema->inputs[i]);
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
  require(cursor, kind >= GPNN_SEARCH_FLAT && kind <= GPNN_SEARCH_EXACT);
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
  static const char known[] = "INFO COLS STDZ SRCH OPTS ROWS YVAL CALX CALY FAIS";
  for (size_t i = 0; i < gpnn_sections_count(index->sections); i++) {
    const struct gpnn_section *section = gpnn_sections_get(index->sections, i);
    if (section->critical && strstr(known, section->tag) == NULL)
      return gpnn_fail(err, GPNN_EVERSION, "%s: needs a newer program: section %s is not known",
                       gpnn_sections_path(index->sections), section->tag);
  }
  return GPNN_OK;
}

static enum gpnn_status take_all(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &index->contents;
  enum gpnn_status status = check_tags(index, err);
  if (status == GPNN_OK) status = take_section(index, "INFO", take_info, err);
  if (status == GPNN_OK) status = take_section(index, "COLS", take_columns, err);
  if (status == GPNN_OK) status = take_section(index, "STDZ", take_standard, err);
  if (status == GPNN_OK) status = take_section(index, "SRCH", take_search, err);
  if (status == GPNN_OK && gpnn_sections_find(index->sections, "OPTS") != NULL)
    status = take_section(index, "OPTS", take_provenance, err);
  if (status != GPNN_OK) return status;
  size_t n = contents->n, d = contents->d, c = contents->n_calibration;
  if (gpnn_schema_features(&contents->schema) != contents->standard.n_in)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: columns and standardisation disagree",
                     gpnn_sections_path(index->sections));
  status = take_rows(index, "ROWS", n, d, &contents->x, err);
  if (status == GPNN_OK) status = take_rows(index, "YVAL", n, 1, &contents->y, err);
  if (status == GPNN_OK) status = take_rows(index, "CALX", c, d, &contents->calibration_x, err);
  if (status == GPNN_OK) status = take_rows(index, "CALY", c, 1, &contents->calibration_y, err);
  return status;
}

/* Every input is a group of its own. */
static enum gpnn_status set_groups(struct gpnn_index *index, struct gpnn_error *err)
{
  struct gpnn_index_contents *contents = &index->contents;
  index->group = gpnn_alloc(contents->d, 1, sizeof *index->group);
  if (index->group == NULL) return gpnn_fail_memory(err, "for opening an index");
  for (size_t j = 0; j < contents->d; j++) index->group[j] = (uint32_t)j;
  contents->n_groups = contents->d;
  contents->group = index->group;
  return GPNN_OK;
}

/* All checksums, the fingerprint, and that rows are finite. */
static enum gpnn_status verify_all(const struct gpnn_index *index, struct gpnn_error *err)
{
  static const char *const hashed[] = {"INFO", "COLS", "STDZ", "ROWS", "YVAL", "CALX", "CALY"};
  struct gpnn_fingerprint fingerprint = {0};
  const struct gpnn_sections *sections = index->sections;
  for (size_t i = 0; i < gpnn_sections_count(sections); i++) {
    enum gpnn_status status = gpnn_sections_check(sections, gpnn_sections_get(sections, i), err);
    if (status != GPNN_OK) return status;
  }
  for (size_t i = 0; i < sizeof hashed / sizeof *hashed; i++) {
    const struct gpnn_section *section = gpnn_sections_find(sections, hashed[i]);
    const unsigned char *bytes = gpnn_sections_bytes(sections, section);
    size_t length = (size_t)section->length;
    gpnn_fingerprint_add(&fingerprint, hashed[i], bytes, length);
    const double *values = (const double *)(const void *)bytes;
    for (size_t j = 0; i >= 3 && j < length / sizeof *values; j++)
      if (!isfinite(values[j]))
        return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section %s holds what is no number",
                         gpnn_sections_path(sections), hashed[i]);
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

uint64_t gpnn_index_fingerprint(const struct gpnn_index *index)
{
  return gpnn_sections_fingerprint(index->sections);
}

const struct gpnn_search_report *gpnn_index_search_report(const struct gpnn_index *index)
{
  return &index->report;
}

const double *gpnn_index_search_lengthscale(const struct gpnn_index *index)
{
  return index->lengthscale;
}

/* A stream at the stored search.  Its checksum is compared first where that costs no more
 * than loading it: a graph is read whole, large lists are only mapped. */
static enum gpnn_status open_stored(const struct gpnn_index *index,
                                    const struct gpnn_section **section, FILE **stream,
                                    struct gpnn_error *err)
{
  const uint64_t quick = 64 << 20;
  enum gpnn_status status = find(index, "FAIS", section, err);
  if (status != GPNN_OK) return status;
  bool is_mapped = index->report.kind == GPNN_SEARCH_IVF && (*section)->length > quick;
  if (!index->is_verified && !is_mapped)
    status = gpnn_sections_check(index->sections, *section, err);
  if (status == GPNN_OK) status = gpnn_sections_stream(index->sections, *section, stream, err);
  return status;
}

enum gpnn_status gpnn_index_search(const struct gpnn_index *index, struct gpnn_search **search,
                                   struct gpnn_error *err)
{
  enum gpnn_search_kind kind = index->report.kind;
  const struct gpnn_index_contents *contents = &index->contents;
  const struct gpnn_section *section = NULL;
  const char *path = gpnn_sections_path(index->sections);
  struct gpnn_search *loaded = NULL;
  FILE *stream = NULL;
  enum gpnn_status status = GPNN_OK;
  if (kind == GPNN_SEARCH_IVF || kind == GPNN_SEARCH_HNSW)
    status = open_stored(index, &section, &stream, err);
  if (status != GPNN_OK) return status;
  struct gpnn_error reason = {0};
  status = gpnn_search_load(&loaded, stream, contents->n, contents->d, contents->x, &index->report,
                            index->lengthscale, &reason);
  if (status != GPNN_OK) status = gpnn_fail(err, status, "%s: %s", path, reason.text);
  /* What FAISS mapped or read must be the section, no more and no less. */
  if (status == GPNN_OK && stream != NULL &&
      (uint64_t)ftello(stream) != section->offset + section->length)
    status = gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: section FAIS is not of its length", path);
  if (stream != NULL) fclose(stream);
  if (status == GPNN_OK)
    *search = loaded;
  else
    gpnn_search_free(loaded);
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
  gpnn_schema_release(&index->contents.schema);
  gpnn_standard_release(&index->contents.standard);
  free(index->lengthscale);
  free(index->group);
  free(index->provenance);
  gpnn_sections_close(index->sections);
  free(index);
}
