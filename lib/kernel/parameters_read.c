#include <ctype.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "container/state.h"
#include "dataset/index/index.h"
#include "kernel/parameters_private.h"

enum { DEFAULT_NEIGHBOURS = 400, MAX_BYTES = 16 << 20 };

/* ---- text --------------------------------------------------------------------------------- */

enum gpnn_status gpnn_parameters_refuse(struct gpnn_parameters_reader *reader, const char *format,
                                        ...)
{
  char what[256];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return gpnn_fail(reader->err, GPNN_EDATA, "%s:%zu: %s", reader->name, reader->line, what);
}

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

struct gpnn_span gpnn_parameters_next_word(struct gpnn_span *rest)
{
  while (rest->length > 0 && is_blank(*rest->at)) rest->at++, rest->length--;
  struct gpnn_span word = {rest->at, 0};
  while (rest->length > 0 && !is_blank(*rest->at)) rest->at++, rest->length--, word.length++;
  return word;
}

bool gpnn_parameters_is_word(struct gpnn_span word, const char *text)
{
  return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* Appends a block to '*blocks', which has '*n', and makes it the last one. */
static enum gpnn_status append(struct gpnn_parameters_reader *reader,
                               struct gpnn_parameters **blocks, size_t *n, size_t *capacity)
{
  if (!gpnn_grow(blocks, capacity, *n + 1, sizeof **blocks))
    return gpnn_fail_memory(reader->err, "for the parameters");
  reader->params = &(*blocks)[(*n)++];
  *reader->params = (struct gpnn_parameters){.neighbours = DEFAULT_NEIGHBOURS};
  memset(reader->seen, 0, sizeof reader->seen);
  reader->n_seen = reader->n_comments = reader->n_covariance = 0;
  return GPNN_OK;
}

static enum gpnn_status begin_target(struct gpnn_parameters_reader *reader)
{
  reader->member_capacity = 0;
  return append(reader, &reader->blocks, &reader->n_blocks, &reader->capacity);
}

static enum gpnn_status complete_target(struct gpnn_parameters_reader *reader)
{
  if (reader->calibration_alone) return gpnn_parameters_complete_calibration(reader);
  enum gpnn_status status = gpnn_parameters_complete(reader);
  return status == GPNN_OK ? gpnn_parameters_complete_target(reader) : status;
}

/* Reads a line that begins a further member: its number must be the next. */
static enum gpnn_status read_member(struct gpnn_parameters_reader *reader, struct gpnn_span value)
{
  char shown[GPNN_MASK_BYTES];
  struct gpnn_parameters *target = &reader->blocks[reader->n_blocks - 1];
  size_t next = gpnn_parameters_n_members(target) + 1;
  struct gpnn_span rest = value, word = gpnn_parameters_next_word(&rest);
  uint64_t number;
  if (!gpnn_number_read_u64(word.at, word.length, &number) || number != next ||
      gpnn_parameters_next_word(&rest).length > 0)
    return gpnn_parameters_refuse(reader, "member: expected %zu, not \"%s\"", next,
                                  gpnn_mask(shown, word.at, word.length));
  if (next > GPNN_MOST_MEMBERS)
    return gpnn_parameters_refuse(reader, "member: more than %d", GPNN_MOST_MEMBERS);
  enum gpnn_status status = gpnn_parameters_complete(reader);
  if (status != GPNN_OK) return status;
  return append(reader, &target->members, &target->n_members, &reader->member_capacity);
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* Gives the last block its target, which must not be that of an earlier block. */
static enum gpnn_status name_block(struct gpnn_parameters_reader *reader, struct gpnn_span name)
{
  char shown[GPNN_MASK_BYTES], *target = gpnn_copy_text(name.at, name.length), **node;
  if (target == NULL) return gpnn_fail_memory(reader->err, "for a target");
  node = tsearch(target, &reader->targets, compare_names);
  if (node != NULL && *node == target) {
    reader->params->target = target;
    return GPNN_OK;
  }
  free(target);
  if (node == NULL) return gpnn_fail_memory(reader->err, "for a target");
  return gpnn_parameters_refuse(reader, "target: \"%s\" is given a second time",
                                gpnn_mask(shown, name.at, name.length));
}

static void forget_names(struct gpnn_parameters_reader *reader)
{
  for (size_t i = 0; i < reader->n_blocks; i++)
    if (reader->blocks[i].target != NULL)
      tdelete(reader->blocks[i].target, &reader->targets, compare_names);
}

/* Reads a line that names the target of those that follow. */
static enum gpnn_status read_target(struct gpnn_parameters_reader *reader, struct gpnn_span value)
{
  enum gpnn_status status = GPNN_OK;
  while (value.length > 0 && is_blank(*value.at)) value.at++, value.length--;
  while (value.length > 0 && is_blank(value.at[value.length - 1])) value.length--;
  if (value.length == 0) return gpnn_parameters_refuse(reader, "target: has no value");
  bool is_named = reader->blocks[reader->n_blocks - 1].target != NULL;
  if (!is_named && (reader->n_seen > 0 || gpnn_parameters_in_member(reader)))
    return gpnn_parameters_refuse(reader, "target: must come before the other names");
  if (is_named) {
    status = complete_target(reader);
    if (status == GPNN_OK) status = begin_target(reader);
  }
  return status == GPNN_OK ? name_block(reader, value) : status;
}

/* ---- lines -------------------------------------------------------------------------------- */

static enum gpnn_status unknown_name(struct gpnn_parameters_reader *reader, struct gpnn_span name)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, name.at, name.length);
  if (reader->n_seen == 0 && reader->n_blocks == 1)
    return gpnn_parameters_refuse(
        reader, "unknown name \"%s\": is this a table? expected parameters", shown);
  return gpnn_parameters_refuse(reader, "unknown name \"%s\"", shown);
}

/* True if a comment, without its "# ", is the first line of the format: "gpnn parameters 1". */
static bool is_first_line(const char *text)
{
  static const char name[] = GPNN_PARAMETERS_FIRST_LINE " ";
  const char *behind_hash = name + strlen("# ");
  size_t length = strlen(behind_hash);
  return strncmp(text, behind_hash, length) == 0 && isdigit((unsigned char)text[length]) &&
         text[length + strspn(text + length, "0123456789")] == '\0';
}

/* Keeps the first comments, cut, with blanks instead of carriage returns.  The first line of the
 * format is not kept, wherever it is found, as the writer adds it. */
static enum gpnn_status read_comment(struct gpnn_parameters_reader *reader, struct gpnn_span line)
{
  enum { MOST = 500, MOST_COMMENTS = 100 };
  char text[MOST + 1];
  line.at++;
  line.length--;
  if (line.length > 0 && *line.at == ' ') line.at++, line.length--;
  if (line.length > MOST) line.length = MOST;
  while (line.length > 0 && is_blank(line.at[line.length - 1])) line.length--;
  for (size_t i = 0; i < line.length; i++) text[i] = line.at[i] == '\r' ? ' ' : line.at[i];
  text[line.length] = '\0';
  if (is_first_line(text) || reader->n_comments == MOST_COMMENTS) return GPNN_OK;
  reader->n_comments++;
  return gpnn_parameters_comment(reader->params, reader->err, "%s", text);
}

/* A calibration alone says nothing of the process, which its model file knows better. */
static enum gpnn_status refuse_uncalibrating(struct gpnn_parameters_reader *reader,
                                             struct gpnn_span name)
{
  char shown[GPNN_MASK_BYTES];
  return gpnn_parameters_refuse(
      reader,
      "%s: is not part of a calibration; a model file has its own: give what "
      "gpnn-calibrate wrote for it",
      gpnn_mask(shown, name.at, name.length));
}

static enum gpnn_status read_line(struct gpnn_parameters_reader *reader, struct gpnn_span line)
{
  struct gpnn_span whole = line, name = gpnn_parameters_next_word(&line);
  if (name.length == 0) return GPNN_OK;
  if (*name.at == '#')
    return read_comment(reader,
                        (struct gpnn_span){name.at, whole.length - (size_t)(name.at - whole.at)});
  if (gpnn_parameters_is_word(name, "target")) return read_target(reader, line);
  if (gpnn_parameters_is_word(name, "member") && !reader->calibration_alone)
    return read_member(reader, line);
  const struct gpnn_parameters_line *entry;
  size_t i = 0;
  while ((entry = gpnn_parameters_line_at(i)) != NULL &&
         !gpnn_parameters_is_word(name, entry->name))
    i++;
  bool is_factor = memchr(name.at, '.', name.length) != NULL && !reader->calibration_alone;
  if (entry == NULL && is_factor && reader->n_seen > 0)
    return gpnn_parameters_read_factor_line(reader, name, line);
  if (entry == NULL) return unknown_name(reader, name);
  if (reader->calibration_alone && !entry->calibrates) return refuse_uncalibrating(reader, name);
  if (reader->seen[i])
    return gpnn_parameters_refuse(reader, "%s: given a second time", entry->name);
  reader->seen[i] = true;
  reader->n_seen++;
  return gpnn_parameters_line_read(entry, reader, line);
}

/* True if a version begins with a number above GPNN_PARAMETERS_VERSION. */
static bool is_later(struct gpnn_span version)
{
  uint64_t number;
  size_t n = 0;
  while (n < version.length && isdigit((unsigned char)version.at[n])) n++;
  if (n == 0) return false;
  return !gpnn_number_read_u64(version.at, n, &number) || number > GPNN_PARAMETERS_VERSION;
}

/* Refuses a first line that names a later version of the format.  One without a number means 1. */
static enum gpnn_status check_version(struct gpnn_parameters_reader *reader, struct gpnn_span line)
{
  char shown[GPNN_MASK_BYTES];
  size_t length = sizeof GPNN_PARAMETERS_FIRST_LINE - 1;
  if (line.length < length || memcmp(line.at, GPNN_PARAMETERS_FIRST_LINE, length) != 0)
    return GPNN_OK;
  struct gpnn_span rest = {line.at + length, line.length - length};
  if (rest.length > 0 && !is_blank(*rest.at)) return GPNN_OK;
  struct gpnn_span version = gpnn_parameters_next_word(&rest);
  if (!is_later(version)) return GPNN_OK;
  return gpnn_fail(reader->err, GPNN_EVERSION,
                   "%s: parameters of format version %s, this program reads up to %d", reader->name,
                   gpnn_mask(shown, version.at, version.length), GPNN_PARAMETERS_VERSION);
}

static enum gpnn_status read_lines(struct gpnn_parameters_reader *reader, struct gpnn_span text)
{
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  enum gpnn_status status = GPNN_OK;
  if (text.length >= 3 && memcmp(text.at, byte_order_mark, 3) == 0) text.at += 3, text.length -= 3;
  while (text.length > 0 && status == GPNN_OK) {
    const char *end = memchr(text.at, '\n', text.length);
    struct gpnn_span line = {text.at, end == NULL ? text.length : (size_t)(end - text.at)};
    size_t used = line.length + (end != NULL);
    text.at += used;
    text.length -= used;
    if (++reader->line == 1) status = check_version(reader, line);
    if (status == GPNN_OK && memchr(line.at, '\0', line.length) != NULL)
      status = gpnn_parameters_refuse(reader, "holds a NUL byte: expected text");
    if (status == GPNN_OK) status = read_line(reader, line);
  }
  return status == GPNN_OK ? complete_target(reader) : status;
}

static bool is_state(const char *bytes, size_t length)
{
  enum gpnn_container_kind kind;
  return gpnn_container_recognise(bytes, length, &kind) && kind == GPNN_CONTAINER_STATE;
}

/* Reads the whole stream, unless it is too long to be the text of parameters, and no state. */
static enum gpnn_status read_bytes(struct gpnn_input *input, char **bytes, size_t *length,
                                   struct gpnn_error *err)
{
  size_t capacity = 0, got;
  for (;;) {
    if (!gpnn_grow(bytes, &capacity, *length + 4096, 1))
      return gpnn_fail_memory(err, "for the parameters");
    enum gpnn_status status =
        gpnn_input_read(input, *bytes + *length, capacity - *length, &got, err);
    if (status == GPNN_END) return GPNN_OK;
    if (status != GPNN_OK) return status;
    *length += got;
    if (*length > MAX_BYTES && !is_state(*bytes, *length))
      return gpnn_fail(err, GPNN_EDATA, "%s: too long: is this a table? expected parameters",
                       gpnn_input_name(input));
  }
}

static enum gpnn_status read_text(struct gpnn_parameters_reader *reader, struct gpnn_span text)
{
  if (text.length == 0)
    return gpnn_fail(reader->err, GPNN_EDATA, "%s: is empty, not parameters", reader->name);
  enum gpnn_container_kind kind;
  if (gpnn_container_recognise(text.at, text.length, &kind))
    return gpnn_fail(reader->err, GPNN_EMISMATCH, "%s is %s, not parameters", reader->name,
                     gpnn_container_kind_name(kind));
  return read_lines(reader, text);
}

/* Reads the text of all blocks. */
static enum gpnn_status read_blocks(struct gpnn_parameters_reader *reader, struct gpnn_span text)
{
  enum gpnn_status status = begin_target(reader);
  if (status == GPNN_OK) status = read_text(reader, text);
  forget_names(reader);
  gpnn_parameters_forget_factors(reader);
  return status;
}

/* The same of text that may be in a state. */
static enum gpnn_status read_either(struct gpnn_parameters_reader *reader, struct gpnn_span bytes,
                                    struct gpnn_state **state)
{
  struct gpnn_span text = bytes;
  enum gpnn_status status = GPNN_OK;
  if (is_state(bytes.at, bytes.length))
    status = gpnn_state_read(state, &text.at, &text.length, reader->name, bytes.at, bytes.length,
                             reader->err);
  if (status == GPNN_OK) status = read_blocks(reader, text);
  for (size_t i = 0; i < reader->n_blocks && status == GPNN_OK; i++) {
    status = gpnn_parameters_take_omega(&reader->blocks[i], *state, reader->name, reader->err);
    if (status == GPNN_OK)
      status = gpnn_parameters_take_effects(&reader->blocks[i], *state, reader->name, reader->err);
  }
  return status;
}

/* The same of those that an index has inside. */
static enum gpnn_status read_packed(struct gpnn_parameters_reader *reader, const char *path,
                                    struct gpnn_state **state)
{
  struct gpnn_index *index = NULL;
  reader->name = path;
  enum gpnn_status status = gpnn_index_open(&index, path, false, reader->err);
  if (status != GPNN_OK) return status;
  const struct gpnn_packed *packed = &gpnn_index_dataset(index)->packed;
  struct gpnn_span bytes = {packed->parameters, packed->parameters_length};
  status = read_either(reader, bytes, state);
  gpnn_index_close(index);
  return status;
}

static enum gpnn_status read_stream(struct gpnn_parameters_reader *reader, const char *path,
                                    struct gpnn_state **state)
{
  struct gpnn_input *input = NULL;
  char *bytes = NULL;
  size_t length = 0;
  if (gpnn_index_has_parameters(path) && !gpnn_index_is_model(path))
    return read_packed(reader, path, state);
  enum gpnn_status status = gpnn_input_open(&input, path, reader->err);
  if (status != GPNN_OK) return status;
  reader->name = gpnn_input_name(input);
  status = read_bytes(input, &bytes, &length, reader->err);
  if (status == GPNN_OK) status = read_either(reader, (struct gpnn_span){bytes, length}, state);
  free(bytes);
  gpnn_input_close(input);
  return status;
}

/* Hands the blocks to the caller, or after a failure frees them. */
static enum gpnn_status finish(struct gpnn_parameters_reader *reader, enum gpnn_status status,
                               struct gpnn_parameters **params, size_t *n)
{
  if (status != GPNN_OK) {
    gpnn_parameters_free(reader->blocks, reader->n_blocks);
    return status;
  }
  *params = reader->blocks;
  *n = reader->n_blocks;
  return GPNN_OK;
}

static enum gpnn_status finish_with_state(struct gpnn_parameters_reader *reader,
                                          enum gpnn_status status, struct gpnn_state *found,
                                          struct gpnn_parameters **params, size_t *n,
                                          struct gpnn_state **state)
{
  if (status == GPNN_OK)
    *state = found;
  else
    gpnn_state_free(found);
  return finish(reader, status, params, n);
}

enum gpnn_status gpnn_parameters_read_with_state(struct gpnn_parameters **params, size_t *n,
                                                 struct gpnn_state **state, const char *path,
                                                 struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err};
  struct gpnn_state *found = NULL;
  enum gpnn_status status = read_stream(&reader, path, &found);
  return finish_with_state(&reader, status, found, params, n, state);
}

enum gpnn_status gpnn_parameters_read_bytes(struct gpnn_parameters **params, size_t *n,
                                            struct gpnn_state **state, const char *name,
                                            const void *bytes, size_t length,
                                            struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .name = name};
  struct gpnn_state *found = NULL;
  enum gpnn_status status = read_either(&reader, (struct gpnn_span){bytes, length}, &found);
  return finish_with_state(&reader, status, found, params, n, state);
}

enum gpnn_status gpnn_parameters_read_text(struct gpnn_parameters **params, size_t *n,
                                           const char *name, const char *text, size_t length,
                                           struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .name = name};
  return finish(&reader, read_blocks(&reader, (struct gpnn_span){text, length}), params, n);
}

enum gpnn_status gpnn_parameters_read(struct gpnn_parameters **params, size_t *n, const char *path,
                                      struct gpnn_error *err)
{
  struct gpnn_state *state = NULL;
  enum gpnn_status status = gpnn_parameters_read_with_state(params, n, &state, path, err);
  if (status == GPNN_OK) gpnn_state_free(state);
  return status;
}

enum gpnn_status gpnn_parameters_read_one(struct gpnn_parameters *params, const char *path,
                                          struct gpnn_error *err)
{
  struct gpnn_parameters *blocks = NULL;
  size_t n = 0;
  enum gpnn_status status = gpnn_parameters_read(&blocks, &n, path, err);
  if (status != GPNN_OK) return status;
  if (n == 1) {
    *params = blocks[0];
    free(blocks);
    return GPNN_OK;
  }
  gpnn_parameters_free(blocks, n);
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: parameters of %zu targets: expected one",
                   strcmp(path, "-") == 0 ? "(stdin)" : path, n);
}

/* ---- a calibration alone, which a model file is given from outside ------------------------- */

/* The calibration of the target of 'params', or NULL. */
static struct gpnn_parameters *find(const struct gpnn_parameters_reader *reader,
                                    const struct gpnn_parameters *params)
{
  for (size_t i = 0; i < reader->n_blocks; i++) {
    const char *name = reader->blocks[i].target;
    bool is_same = name == NULL || params->target == NULL ? name == params->target
                                                          : strcmp(name, params->target) == 0;
    if (is_same) return &reader->blocks[i];
  }
  return NULL;
}

/* A factor takes the place of one that the variances have been multiplied by already. */
static enum gpnn_status multiply(struct gpnn_parameters *params,
                                 const struct gpnn_calibration *calibration, const char *name,
                                 struct gpnn_error *err)
{
  double before = params->calibration.has_factor ? params->calibration.factor : 1;
  double factor = (calibration->has_factor ? calibration->factor : 1) / before;
  params->covariance.kernelscale *= factor;
  params->covariance.noise *= factor;
  if (gpnn_parameters_can_have(params->covariance.kernelscale, params->covariance.noise))
    return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA,
                   "%s: calibration: a factor that leaves the variances outside the range of "
                   "numbers",
                   name);
}

/* Replaces the calibration of a target; what it owned is in 'from' afterwards. */
static enum gpnn_status apply(struct gpnn_parameters *params, struct gpnn_parameters *from,
                              const char *name, struct gpnn_error *err)
{
  enum gpnn_status status = multiply(params, &from->calibration, name, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_calibration before = params->calibration;
  params->calibration = from->calibration;
  from->calibration = before;
  params->likelihood = from->likelihood;
  params->scale = from->scale;
  params->atom = from->atom;
  params->degrees = from->degrees;
  if (from->provenance.has_index) {
    params->provenance.has_index = true;
    params->provenance.index = from->provenance.index;
  }
  return GPNN_OK;
}

static enum gpnn_status apply_all(const struct gpnn_parameters_reader *reader,
                                  struct gpnn_parameters *params, size_t n, const char *name,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    char shown[GPNN_MASK_BYTES] = "";
    const char *target = params[i].target == NULL ? "" : params[i].target;
    struct gpnn_parameters *own = find(reader, &params[i]);
    gpnn_mask(shown, target, strlen(target));
    status = own != NULL ? apply(&params[i], own, name, err)
                         : gpnn_fail(err, GPNN_EMISMATCH,
                                     "%s: no calibration of target '%s' of the model", name, shown);
  }
  return status;
}

enum gpnn_status gpnn_parameters_read_calibration_alone(struct gpnn_parameters **params, size_t *n,
                                                        const char *path, struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .calibration_alone = true};
  struct gpnn_state *state = NULL;
  enum gpnn_status status = read_stream(&reader, path, &state);
  gpnn_state_free(state);
  if (status != GPNN_OK) {
    gpnn_parameters_free(reader.blocks, reader.n_blocks);
    return status;
  }
  *params = reader.blocks;
  *n = reader.n_blocks;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_read_calibration(struct gpnn_parameters *params, size_t n,
                                                  const char *path, struct gpnn_error *err)
{
  struct gpnn_parameters_reader reader = {.err = err, .calibration_alone = true};
  struct gpnn_state *state = NULL;
  const char *name = strcmp(path, "-") == 0 ? "(stdin)" : path;
  enum gpnn_status status = read_stream(&reader, path, &state);
  if (status == GPNN_OK) status = apply_all(&reader, params, n, name, err);
  gpnn_state_free(state);
  gpnn_parameters_free(reader.blocks, reader.n_blocks);
  return status;
}
