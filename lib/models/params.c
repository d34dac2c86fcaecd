#include "models/params.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "data/sections.h"

enum { VERSION = 1, DEFAULT_NEIGHBOURS = 400, MAX_BYTES = 16 << 20 };

static const char first_line[] = "# gpnn parameters";

/* ---- reading -------------------------------------------------------------------------- */

/* A stretch of the text. */
struct span {
  const char *at;
  size_t length;
};

/* The parameters so far, and where in the text the reader is. */
struct reader {
  struct gpnn_params params;
  const char *name; /* of the stream, for messages */
  size_t line;
  unsigned seen; /* bit i: entry i of the table was read */
  size_t n_comments;
  struct gpnn_error *err;
};

GPNN_PRINTF(2, 3)
static enum gpnn_status refuse(struct reader *reader, const char *format, ...)
{
  char what[256];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  return gpnn_fail(reader->err, GPNN_EDATA, "%s:%zu: %s", reader->name, reader->line, what);
}

static bool blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

/* Takes the next field of the line off 'rest'; an empty one when there is none. */
static struct span next_field(struct span *rest)
{
  while (rest->length > 0 && blank(*rest->at)) rest->at++, rest->length--;
  struct span field = {rest->at, 0};
  while (rest->length > 0 && !blank(*rest->at)) rest->at++, rest->length--, field.length++;
  return field;
}

static enum gpnn_status read_real(struct reader *reader, const char *name, struct span field,
                                  bool zero_allowed, double *value)
{
  char shown[GPNN_MASK_BYTES];
  double v;
  if (gpnn_number_read(field.at, field.length, &v) == GPNN_NUMBER_OK &&
      (v > 0 || (v == 0 && zero_allowed))) {
    *value = v;
    return GPNN_OK;
  }
  return refuse(reader, "%s: not a %s number: \"%s\"", name,
                zero_allowed ? "non-negative" : "positive",
                gpnn_mask(shown, field.at, field.length));
}

static enum gpnn_status read_kernel(struct reader *reader, struct span field)
{
  char text[GPNN_MASK_BYTES], known[128] = "";
  gpnn_mask(text, field.at, field.length);
  reader->params.kernel = gpnn_kernel_by_name(text);
  if (reader->params.kernel != NULL) return GPNN_OK;
  for (size_t i = 0, used = 0; gpnn_kernel_at(i) != NULL; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i == 0 ? "" : ", ",
                             gpnn_kernel_at(i)->name);
  return refuse(reader, "kernel: \"%s\" is none of %s", text, known);
}

static enum gpnn_status read_lengthscales(struct reader *reader, struct span values)
{
  struct gpnn_params *params = &reader->params;
  size_t capacity = 0;
  for (;;) {
    struct span field = next_field(&values);
    if (field.length == 0) return GPNN_OK;
    if (!gpnn_grow(&params->lengthscale, &capacity, params->n_lengthscales + 1,
                   sizeof *params->lengthscale))
      return gpnn_fail_memory(reader->err, "for the lengthscales");
    enum gpnn_status status = read_real(reader, "lengthscale", field, false,
                                        &params->lengthscale[params->n_lengthscales]);
    if (status != GPNN_OK) return status;
    if (isinf(1 / params->lengthscale[params->n_lengthscales]))
      return refuse(reader, "lengthscale: too small to divide by");
    params->n_lengthscales++;
  }
}

static enum gpnn_status read_kernelscale(struct reader *reader, struct span field)
{
  return read_real(reader, "kernelscale", field, false, &reader->params.kernelscale);
}

static enum gpnn_status read_noise(struct reader *reader, struct span field)
{
  return read_real(reader, "noise", field, true, &reader->params.noise);
}

static enum gpnn_status read_neighbours(struct reader *reader, struct span field)
{
  char shown[GPNN_MASK_BYTES];
  uint64_t m;
  if (!gpnn_number_read_u64(field.at, field.length, &m) || m < 1 || m > INT_MAX)
    return refuse(reader, "neighbours: not a whole number from 1 to %d: \"%s\"", INT_MAX,
                  gpnn_mask(shown, field.at, field.length));
  reader->params.neighbours = (size_t)m;
  return GPNN_OK;
}

static enum gpnn_status read_calibration(struct reader *reader, struct span field)
{
  reader->params.has_calibration = true;
  return read_real(reader, "calibration", field, false, &reader->params.calibration);
}

static enum gpnn_status read_index(struct reader *reader, struct span field)
{
  static const char digits[] = "0123456789abcdef";
  char shown[GPNN_MASK_BYTES];
  uint64_t value = 0;
  bool good = field.length == 16;
  for (size_t i = 0; good && i < field.length; i++) {
    const char *digit = memchr(digits, tolower((unsigned char)field.at[i]), 16);
    good = digit != NULL;
    if (good) value = value << 4 | (uint64_t)(digit - digits);
  }
  if (!good)
    return refuse(reader, "index: not a fingerprint of 16 hexadecimal digits: \"%s\"",
                  gpnn_mask(shown, field.at, field.length));
  reader->params.has_index = true;
  reader->params.index = value;
  return GPNN_OK;
}

/* The names of the format.  'read' gets one field, or all of them where 'many'. */
static const struct entry {
  const char *name;
  bool required, many;
  enum gpnn_status (*read)(struct reader *reader, struct span value);
} entries[] = {
    {"kernel", true, false, read_kernel},
    {"lengthscale", true, true, read_lengthscales},
    {"kernelscale", true, false, read_kernelscale},
    {"noise", true, false, read_noise},
    {"neighbours", false, false, read_neighbours},
    {"calibration", false, false, read_calibration},
    {"index", false, false, read_index},
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

static enum gpnn_status unknown_name(struct reader *reader, struct span name)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, name.at, name.length);
  if (reader->seen == 0)
    return refuse(reader, "unknown name \"%s\": is this a table? expected parameters", shown);
  return refuse(reader, "unknown name \"%s\"", shown);
}

/* The first comments are kept, but for that of the format, which is written anew. */
static enum gpnn_status read_comment(struct reader *reader, struct span line)
{
  size_t length = sizeof first_line - 1;
  if (line.length >= length && memcmp(line.at, first_line, length) == 0) return GPNN_OK;
  line.at++;
  line.length--;
  if (line.length > 0 && *line.at == ' ') line.at++, line.length--;
  enum { MOST = 500, MOST_COMMENTS = 100 };
  if (reader->n_comments == MOST_COMMENTS) return GPNN_OK;
  reader->n_comments++;
  int shown = line.length < MOST ? (int)line.length : MOST;
  return gpnn_params_comment(&reader->params, reader->err, "%.*s", shown, line.at);
}

static enum gpnn_status read_line(struct reader *reader, struct span line)
{
  struct span whole = line, name = next_field(&line);
  if (name.length == 0) return GPNN_OK;
  if (*name.at == '#')
    return read_comment(reader,
                        (struct span){name.at, whole.length - (size_t)(name.at - whole.at)});
  size_t i = 0;
  while (i < N_ENTRIES && (strlen(entries[i].name) != name.length ||
                           memcmp(entries[i].name, name.at, name.length) != 0))
    i++;
  if (i == N_ENTRIES) return unknown_name(reader, name);
  const struct entry *entry = &entries[i];
  if (reader->seen & 1u << i) return refuse(reader, "%s: given a second time", entry->name);
  reader->seen |= 1u << i;
  struct span rest = line, value = next_field(&rest);
  if (value.length == 0) return refuse(reader, "%s: has no value", entry->name);
  if (entry->many) return entry->read(reader, line);
  if (next_field(&rest).length > 0) return refuse(reader, "%s: more than one value", entry->name);
  return entry->read(reader, value);
}

/* A first line that names the format also names its version, 1 if it does not. */
static enum gpnn_status check_version(struct reader *reader, struct span line)
{
  size_t length = sizeof first_line - 1;
  uint64_t version = VERSION;
  if (line.length < length || memcmp(line.at, first_line, length) != 0) return GPNN_OK;
  struct span rest = {line.at + length, line.length - length};
  if (rest.length > 0 && !blank(*rest.at)) return GPNN_OK;
  struct span number = next_field(&rest);
  if (gpnn_number_read_u64(number.at, number.length, &version) && version > VERSION)
    return gpnn_fail(reader->err, GPNN_EVERSION,
                     "%s: parameters of format version %" PRIu64 ", this program reads up to %d",
                     reader->name, version, VERSION);
  return GPNN_OK;
}

static enum gpnn_status read_lines(struct reader *reader, struct span text)
{
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  enum gpnn_status status = GPNN_OK;
  if (text.length >= 3 && memcmp(text.at, byte_order_mark, 3) == 0) text.at += 3, text.length -= 3;
  while (text.length > 0 && status == GPNN_OK) {
    const char *end = memchr(text.at, '\n', text.length);
    struct span line = {text.at, end == NULL ? text.length : (size_t)(end - text.at)};
    size_t used = line.length + (end != NULL);
    text.at += used;
    text.length -= used;
    if (++reader->line == 1) status = check_version(reader, line);
    if (status == GPNN_OK) status = read_line(reader, line);
  }
  for (size_t i = 0; i < N_ENTRIES && status == GPNN_OK; i++)
    if (entries[i].required && !(reader->seen & 1u << i))
      status =
          gpnn_fail(reader->err, GPNN_EDATA, "%s: %s is missing", reader->name, entries[i].name);
  if (status == GPNN_OK && isinf(reader->params.kernelscale + reader->params.noise))
    status = gpnn_fail(reader->err, GPNN_EDATA, "%s: kernelscale and noise are too large to add",
                       reader->name);
  return status;
}

/* Reads the stream to its end, so far as parameters can go on. */
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
    if (*length > MAX_BYTES)
      return gpnn_fail(err, GPNN_EDATA, "%s: too long: is this a table? expected parameters",
                       gpnn_input_name(input));
  }
}

static enum gpnn_status read_text(struct reader *reader, struct span text)
{
  if (text.length == 0)
    return gpnn_fail(reader->err, GPNN_EDATA, "%s: no parameters: empty input", reader->name);
  if (text.length >= GPNN_SECTIONS_MAGIC_BYTES &&
      memcmp(text.at, GPNN_SECTIONS_MAGIC, GPNN_SECTIONS_MAGIC_BYTES) == 0)
    return gpnn_fail(reader->err, GPNN_EMISMATCH,
                     "%s is an index, not parameters: did you swap the operands?", reader->name);
  return read_lines(reader, text);
}

enum gpnn_status gpnn_params_read(struct gpnn_params *params, const char *path,
                                  struct gpnn_error *err)
{
  struct gpnn_input *input = NULL;
  struct reader reader = {.params = {.neighbours = DEFAULT_NEIGHBOURS}, .err = err};
  char *bytes = NULL;
  size_t length = 0;
  enum gpnn_status status = gpnn_input_open(&input, path, err);
  if (status != GPNN_OK) return status;
  reader.name = gpnn_input_name(input);
  status = read_bytes(input, &bytes, &length, err);
  if (status == GPNN_OK) status = read_text(&reader, (struct span){bytes, length});
  if (status == GPNN_OK)
    *params = reader.params;
  else
    gpnn_params_release(&reader.params);
  free(bytes);
  gpnn_input_close(input);
  return status;
}

/* ---- writing -------------------------------------------------------------------------- */

static enum gpnn_status write_real(struct gpnn_output *output, const char *name, double value,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "%s\t", name);
  if (status == GPNN_OK) status = gpnn_output_number(output, value, err);
  if (status == GPNN_OK) status = gpnn_output_text(output, "\n", err);
  return status;
}

static enum gpnn_status write_lengthscales(struct gpnn_output *output,
                                           const struct gpnn_params *params, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, "lengthscale", err);
  for (size_t j = 0; j < params->n_lengthscales && status == GPNN_OK; j++) {
    status = gpnn_output_text(output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(output, params->lengthscale[j], err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status gpnn_params_write(const struct gpnn_params *params, struct gpnn_output *output,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "%s %d\n", first_line, VERSION);
  if (status == GPNN_OK && params->comments != NULL)
    status = gpnn_output_text(output, params->comments, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(output, err, "kernel\t%s\n", params->kernel->name);
  if (status == GPNN_OK) status = write_lengthscales(output, params, err);
  if (status == GPNN_OK) status = write_real(output, "kernelscale", params->kernelscale, err);
  if (status == GPNN_OK) status = write_real(output, "noise", params->noise, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(output, err, "neighbours\t%zu\n", params->neighbours);
  if (status == GPNN_OK && params->has_calibration)
    status = write_real(output, "calibration", params->calibration, err);
  if (status == GPNN_OK && params->has_index)
    status = gpnn_output_printf(output, err, "index\t%016" PRIx64 "\n", params->index);
  return status;
}

enum gpnn_status gpnn_params_comment(struct gpnn_params *params, struct gpnn_error *err,
                                     const char *format, ...)
{
  char line[512] = "# ";
  va_list args;
  va_start(args, format);
  int printed = vsnprintf(line + 2, sizeof line - 3, format, args);
  va_end(args);
  size_t length = printed < 0 ? 2 : strlen(line);
  for (size_t i = 0; i < length; i++)
    if (line[i] == '\n' || line[i] == '\r') line[i] = ' '; /* a comment stays one line */
  line[length++] = '\n';
  size_t old = params->comments == NULL ? 0 : strlen(params->comments);
  char *comments = realloc(params->comments, old + length + 1);
  if (comments == NULL) return gpnn_fail_memory(err, "for a comment");
  memcpy(comments + old, line, length);
  comments[old + length] = '\0';
  params->comments = comments;
  return GPNN_OK;
}

/* ---- use ------------------------------------------------------------------------------ */

enum gpnn_status gpnn_params_check(const struct gpnn_params *params, size_t n_groups,
                                   uint64_t fingerprint, bool *other_index, struct gpnn_error *err)
{
  if (params->n_lengthscales != 1 && params->n_lengthscales != n_groups)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters have %zu lengthscales, the index has %zu inputs",
                     params->n_lengthscales, n_groups);
  /* The upper half is of the columns (data/index.h). */
  if (params->has_index && params->index >> 32 != fingerprint >> 32)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "the parameters were made from an index of other columns");
  *other_index = params->has_index && params->index != fingerprint;
  return GPNN_OK;
}

void gpnn_params_expand(const struct gpnn_params *params, size_t d, const uint32_t *group,
                        double *lengthscale)
{
  for (size_t j = 0; j < d; j++)
    lengthscale[j] = params->lengthscale[params->n_lengthscales == 1 ? 0 : group[j]];
}

void gpnn_params_release(struct gpnn_params *params)
{
  free(params->target);
  free(params->lengthscale);
  free(params->coefficients);
  free(params->covariance);
  free(params->conformal_level);
  free(params->conformal_width);
  free(params->comments);
  *params = (struct gpnn_params){0};
}
