#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/container.h"
#include "base/memory.h"
#include "base/number.h"
#include "kernel/parameters.h"
#include "kernel/parameters_private.h"
#include "linalg/blas.h"

enum { DEFAULT_NEIGHBOURS = 400, MAX_BYTES = 16 << 20 };

/* A stretch of the text. */
struct span {
  const char *at;
  size_t length;
};

/* The parameters so far, and where in the text the reader is. */
struct reader {
  struct gpnn_parameters *blocks; /* owned; the last is being read */
  size_t n_blocks, capacity;
  void *targets;    /* tree of the blocks' targets, to find one given twice */
  const char *name; /* of the stream, for messages */
  size_t line;
  struct gpnn_error *err;
  /* Of the last block: */
  struct gpnn_parameters *params;
  unsigned seen; /* bit i: entry i of the table was read */
  size_t n_comments;
  size_t n_covariance; /* numbers of the lower triangle, where 'covariance' starts */
};

/* Which numbers a name takes. */
enum range { ANY, NON_NEGATIVE, POSITIVE };

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

/* ---- values --------------------------------------------------------------------------- */

static enum gpnn_status read_real(struct reader *reader, const char *name, struct span field,
                                  enum range range, double *value)
{
  static const char *const what[] = {"number", "non-negative number", "positive number"};
  char shown[GPNN_MASK_BYTES];
  double v;
  if (gpnn_number_read(field.at, field.length, &v) == GPNN_NUMBER_OK &&
      (v > 0 || range == ANY || (v == 0 && range == NON_NEGATIVE))) {
    *value = v;
    return GPNN_OK;
  }
  return refuse(reader, "%s: not a %s: \"%s\"", name, what[range],
                gpnn_mask(shown, field.at, field.length));
}

/* All numbers of a line into a new list '*list' of '*n'; both are set as far as it gets. */
static enum gpnn_status read_list(struct reader *reader, const char *name, struct span values,
                                  enum range range, double **list, size_t *n)
{
  size_t capacity = 0;
  for (;;) {
    struct span field = next_field(&values);
    if (field.length == 0) return GPNN_OK;
    if (!gpnn_grow(list, &capacity, *n + 1, sizeof **list))
      return gpnn_fail_memory(reader->err, "for the parameters");
    enum gpnn_status status = read_real(reader, name, field, range, &(*list)[*n]);
    if (status != GPNN_OK) return status;
    (*n)++;
  }
}

static enum gpnn_status read_kernel(struct reader *reader, struct span field)
{
  char text[GPNN_MASK_BYTES], known[128] = "";
  const struct gpnn_kernel *kernel;
  size_t used = 0;
  gpnn_mask(text, field.at, field.length);
  if (gpnn_kernel_parse(text, &reader->params->covariance.kernel,
                        &reader->params->covariance.smoothness))
    return GPNN_OK;
  for (size_t i = 0; (kernel = gpnn_kernel_at(i)) != NULL; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s%s", i == 0 ? "" : ", ",
                             kernel->name, gpnn_kernel_needs_smoothness(kernel) ? ":NU" : "");
  return refuse(reader, "kernel: \"%s\" is none of %s, NU above 0 and up to %d", text, known,
                GPNN_KERNEL_SMOOTHEST);
}

static enum gpnn_status read_lengthscales(struct reader *reader, struct span values)
{
  struct gpnn_parameters *params = reader->params;
  enum gpnn_status status =
      read_list(reader, "lengthscale", values, POSITIVE, &params->covariance.lengthscale,
                &params->covariance.n_lengthscales);
  for (size_t j = 0; j < params->covariance.n_lengthscales && status == GPNN_OK; j++)
    if (isinf(1 / params->covariance.lengthscale[j]))
      status = refuse(reader, "lengthscale: too small to divide by");
  return status;
}

static enum gpnn_status read_rotation(struct reader *reader, struct span values)
{
  const double most = 1e100; /* so that squares of sums are finite */
  struct gpnn_parameters *params = reader->params;
  double largest = 0;
  enum gpnn_status status = read_list(reader, "rotation", values, ANY, &params->covariance.rotation,
                                      &params->covariance.n_rotation);
  for (size_t i = 0; i < params->covariance.n_rotation; i++)
    largest = fmax(largest, fabs(params->covariance.rotation[i]));
  if (status == GPNN_OK && largest > most) status = refuse(reader, "rotation: too large a number");
  if (status == GPNN_OK && largest == 0) status = refuse(reader, "rotation: all zero");
  return status;
}

static enum gpnn_status read_kernelscale(struct reader *reader, struct span field)
{
  return read_real(reader, "kernelscale", field, POSITIVE, &reader->params->covariance.kernelscale);
}

static enum gpnn_status read_noise(struct reader *reader, struct span field)
{
  return read_real(reader, "noise", field, NON_NEGATIVE, &reader->params->covariance.noise);
}

static enum gpnn_status read_count(struct reader *reader, const char *name, struct span field,
                                   uint64_t most, size_t *count)
{
  char shown[GPNN_MASK_BYTES];
  uint64_t value;
  if (!gpnn_number_read_u64(field.at, field.length, &value) || value < 1 || value > most)
    return refuse(reader, "%s: not a whole number from 1 to %" PRIu64 ": \"%s\"", name, most,
                  gpnn_mask(shown, field.at, field.length));
  *count = (size_t)value;
  return GPNN_OK;
}

static enum gpnn_status read_neighbours(struct reader *reader, struct span field)
{
  return read_count(reader, "neighbours", field, INT_MAX, &reader->params->neighbours);
}

static enum gpnn_status read_fit_rows(struct reader *reader, struct span field)
{
  return read_count(reader, "fit-rows", field, INT64_MAX, &reader->params->provenance.fit_rows);
}

static enum gpnn_status read_calibration(struct reader *reader, struct span field)
{
  reader->params->calibration.has_factor = true;
  return read_real(reader, "calibration", field, POSITIVE, &reader->params->calibration.factor);
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
  reader->params->provenance.has_index = true;
  reader->params->provenance.index = value;
  return GPNN_OK;
}

static enum gpnn_status read_mean(struct reader *reader, struct span field)
{
  char text[GPNN_MASK_BYTES];
  gpnn_mask(text, field.at, field.length);
  if (gpnn_mean_by_name(text, &reader->params->mean.kind)) return GPNN_OK;
  return refuse(reader, "mean: \"%s\" is none of zero, constant, linear, regressors", text);
}

static enum gpnn_status read_coefficients(struct reader *reader, struct span values)
{
  struct gpnn_parameters *params = reader->params;
  return read_list(reader, "coefficients", values, ANY, &params->mean.coefficients,
                   &params->mean.n_coefficients);
}

static enum gpnn_status read_covariance(struct reader *reader, struct span values)
{
  return read_list(reader, "covariance", values, ANY, &reader->params->mean.covariance,
                   &reader->n_covariance);
}

static enum gpnn_status read_degrees(struct reader *reader, struct span field)
{
  enum gpnn_status status = read_real(reader, "degrees", field, POSITIVE, &reader->params->degrees);
  if (status == GPNN_OK && !(reader->params->degrees > 2))
    status = refuse(reader, "degrees: not above 2, where the variance ends");
  return status;
}

/* Deals level, width, level, width ... out to two lists. */
static enum gpnn_status split_conformal(struct reader *reader, size_t n, const double *pairs)
{
  struct gpnn_parameters *params = reader->params;
  params->calibration.conformal_level =
      gpnn_alloc(n, 1, sizeof *params->calibration.conformal_level);
  params->calibration.conformal_width =
      gpnn_alloc(n, 1, sizeof *params->calibration.conformal_width);
  if (params->calibration.conformal_level == NULL || params->calibration.conformal_width == NULL)
    return gpnn_fail_memory(reader->err, "for the parameters");
  params->calibration.n_conformal = n;
  for (size_t i = 0; i < n; i++) {
    params->calibration.conformal_level[i] = pairs[2 * i];
    params->calibration.conformal_width[i] = pairs[2 * i + 1];
    if (!(pairs[2 * i] > 0 && pairs[2 * i] < 1))
      return refuse(reader, "conformal: a level that is not between 0 and 1");
    if (i > 0 && pairs[2 * i] <= pairs[2 * i - 2])
      return refuse(reader, "conformal: the levels do not rise");
  }
  return GPNN_OK;
}

static enum gpnn_status read_conformal(struct reader *reader, struct span values)
{
  double *pairs = NULL;
  size_t n = 0;
  enum gpnn_status status = read_list(reader, "conformal", values, NON_NEGATIVE, &pairs, &n);
  if (status == GPNN_OK && n % 2 != 0)
    status = refuse(reader, "conformal: a level without a width: expected pairs of them");
  if (status == GPNN_OK) status = split_conformal(reader, n / 2, pairs);
  free(pairs);
  return status;
}

static enum gpnn_status read_distances(struct reader *reader, struct span values)
{
  struct gpnn_parameters *params = reader->params;
  double *list = NULL;
  size_t n = 0;
  enum gpnn_status status = read_list(reader, "distances", values, NON_NEGATIVE, &list, &n);
  if (status == GPNN_OK && n != GPNN_N_DISTANCES)
    status = refuse(reader, "distances: %zu numbers, not %d", n, GPNN_N_DISTANCES);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    params->calibration.distance[i] = list[i];
    if (i > 0 && list[i] < list[i - 1]) status = refuse(reader, "distances: they fall");
  }
  params->calibration.has_distance = true;
  free(list);
  return status;
}

/* The names of the format but target.  'read' gets one field, or all of them where 'many'. */
static const struct params_entry {
  const char *name;
  bool required, many;
  enum gpnn_status (*read)(struct reader *reader, struct span value);
} entries[] = {
    {"kernel", true, false, read_kernel},
    {"rotation", false, true, read_rotation},
    {"lengthscale", true, true, read_lengthscales},
    {"kernelscale", true, false, read_kernelscale},
    {"noise", true, false, read_noise},
    {"mean", false, false, read_mean},
    {"coefficients", false, true, read_coefficients},
    {"covariance", false, true, read_covariance},
    {"degrees", false, false, read_degrees},
    {"neighbours", false, false, read_neighbours},
    {"fit-rows", false, false, read_fit_rows},
    {"calibration", false, false, read_calibration},
    {"conformal", false, true, read_conformal},
    {"distances", false, true, read_distances},
    {"index", false, false, read_index},
};
enum { N_ENTRIES = sizeof entries / sizeof *entries };

/* ---- blocks --------------------------------------------------------------------------- */

/* The same as refuse(), about the last block as a whole. */
GPNN_PRINTF(2, 3)
static enum gpnn_status refuse_block(struct reader *reader, const char *format, ...)
{
  char what[256], shown[GPNN_MASK_BYTES];
  const char *target = reader->params->target;
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  if (target == NULL) return gpnn_fail(reader->err, GPNN_EDATA, "%s: %s", reader->name, what);
  return gpnn_fail(reader->err, GPNN_EDATA, "%s: target \"%s\": %s", reader->name,
                   gpnn_mask(shown, target, strlen(target)), what);
}

static enum gpnn_status begin_block(struct reader *reader)
{
  if (!gpnn_grow(&reader->blocks, &reader->capacity, reader->n_blocks + 1, sizeof *reader->blocks))
    return gpnn_fail_memory(reader->err, "for the parameters");
  reader->params = &reader->blocks[reader->n_blocks++];
  *reader->params = (struct gpnn_parameters){.neighbours = DEFAULT_NEIGHBOURS};
  reader->seen = 0;
  reader->n_comments = 0;
  reader->n_covariance = 0;
  return GPNN_OK;
}

/* Whether 'v' of order p may be a covariance: its correlations, given a little more of their own,
 * are positive definite.  'r' is scratch of its size. */
static bool is_covariance(size_t p, const double *v, double *r)
{
  const double rounding = 1e-9;
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++) {
      double scale = sqrt(v[i * p + i]) * sqrt(v[j * p + j]), value = v[i * p + j];
      r[j * p + i] = i == j ? 1 + rounding : value == 0 ? 0 : value / scale;
      if (!(fabs(r[j * p + i]) <= 1 + rounding)) return false;
    }
  return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)p, r, (lapack_int)p) == 0;
}

/* A matrix that is no covariance would take variances below zero. */
static enum gpnn_status check_covariance(struct reader *reader, size_t p, const double *v)
{
  double *r = gpnn_alloc(p, p, sizeof *r);
  if (r == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  bool good = is_covariance(p, v, r);
  free(r);
  return good ? GPNN_OK
              : refuse_block(reader, "covariance: of some sum of the coefficients it is negative");
}

/* Puts the full matrix in place of its lower triangle. */
static enum gpnn_status fill_covariance(struct reader *reader)
{
  struct gpnn_parameters *params = reader->params;
  size_t p = params->mean.n_coefficients, wanted = 0, k = 0;
  if (reader->n_covariance == 0) return GPNN_OK;
  if (!gpnn_multiply(p, p + 1, &wanted) || wanted / 2 != reader->n_covariance)
    return refuse_block(reader,
                        "covariance: %zu numbers, the lower triangle of %zu coefficients has %zu",
                        reader->n_covariance, p, wanted / 2);
  double *full = gpnn_alloc(p, p, sizeof *full);
  if (full == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++)
      full[i * p + j] = full[j * p + i] = params->mean.covariance[k++];
  free(params->mean.covariance);
  params->mean.covariance = full;
  for (size_t i = 0; i < p; i++)
    if (full[i * p + i] < 0) return refuse_block(reader, "covariance: a variance is negative");
  return check_covariance(reader, p, full);
}

static enum gpnn_status check_mean(struct reader *reader)
{
  const struct gpnn_parameters *params = reader->params;
  size_t p = params->mean.n_coefficients;
  const char *mean = gpnn_mean_name(params->mean.kind);
  if (params->mean.kind == GPNN_MEAN_ZERO && p > 0)
    return refuse_block(reader, "coefficients: a mean of zero has none");
  if (params->mean.kind == GPNN_MEAN_ZERO && reader->n_covariance > 0)
    return refuse_block(reader, "covariance: there are no coefficients it could be of");
  if (params->mean.kind != GPNN_MEAN_ZERO && p == 0)
    return refuse_block(reader, "mean: %s without coefficients", mean);
  if (params->mean.kind == GPNN_MEAN_CONSTANT && p != 1)
    return refuse_block(reader, "coefficients: %zu of them, a constant mean has one", p);
  return GPNN_OK;
}

/* What can only be said once all lines of the block are read. */
static enum gpnn_status end_block(struct reader *reader)
{
  for (size_t i = 0; i < N_ENTRIES; i++)
    if (entries[i].required && !(reader->seen & 1u << i))
      return refuse_block(reader, "%s is missing", entries[i].name);
  if (!gpnn_parameters_can_have(reader->params->covariance.kernelscale,
                                reader->params->covariance.noise))
    return refuse_block(reader, "kernelscale and noise are too large to add");
  enum gpnn_status status = check_mean(reader);
  return status == GPNN_OK ? fill_covariance(reader) : status;
}

static int compare_names(const void *a, const void *b)
{
  return strcmp(a, b);
}

/* Names the last block, unless one before it has this name. */
static enum gpnn_status name_block(struct reader *reader, struct span name)
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
  return refuse(reader, "target: \"%s\" a second time", gpnn_mask(shown, name.at, name.length));
}

static void forget_names(struct reader *reader)
{
  for (size_t i = 0; i < reader->n_blocks; i++)
    if (reader->blocks[i].target != NULL)
      tdelete(reader->blocks[i].target, &reader->targets, compare_names);
}

/* "target" and the rest of its line: what follows is about that one. */
static enum gpnn_status read_target(struct reader *reader, struct span value)
{
  enum gpnn_status status = GPNN_OK;
  while (value.length > 0 && blank(*value.at)) value.at++, value.length--;
  while (value.length > 0 && blank(value.at[value.length - 1])) value.length--;
  if (value.length == 0) return refuse(reader, "target: has no value");
  if (reader->seen != 0 && reader->params->target == NULL)
    return refuse(reader, "target: has to come before the other names");
  if (reader->params->target != NULL) {
    status = end_block(reader);
    if (status == GPNN_OK) status = begin_block(reader);
  }
  return status == GPNN_OK ? name_block(reader, value) : status;
}

/* ---- lines ---------------------------------------------------------------------------- */

static enum gpnn_status unknown_name(struct reader *reader, struct span name)
{
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, name.at, name.length);
  if (reader->seen == 0 && reader->n_blocks == 1)
    return refuse(reader, "unknown name \"%s\": is this a table? expected parameters", shown);
  return refuse(reader, "unknown name \"%s\"", shown);
}

/* Whether a comment, without its sign, is the line of the format: "gpnn parameters 1". */
static bool is_first_line(const char *text)
{
  static const char name[] = GPNN_PARAMETERS_FIRST_LINE " ";
  const char *behind_sign = name + strlen("# ");
  size_t length = strlen(behind_sign);
  return strncmp(text, behind_sign, length) == 0 && isdigit((unsigned char)text[length]) &&
         text[length + strspn(text + length, "0123456789")] == '\0';
}

/* The first comments are kept, but for that of the format, which is written anew: looked at as they
 * will be written, cut and with blanks for carriage returns. */
static enum gpnn_status read_comment(struct reader *reader, struct span line)
{
  enum { MOST = 500, MOST_COMMENTS = 100 };
  char text[MOST + 1];
  line.at++;
  line.length--;
  if (line.length > 0 && *line.at == ' ') line.at++, line.length--;
  if (line.length > MOST) line.length = MOST;
  while (line.length > 0 && blank(line.at[line.length - 1])) line.length--;
  for (size_t i = 0; i < line.length; i++) text[i] = line.at[i] == '\r' ? ' ' : line.at[i];
  text[line.length] = '\0';
  if (is_first_line(text) || reader->n_comments == MOST_COMMENTS) return GPNN_OK;
  reader->n_comments++;
  return gpnn_parameters_comment(reader->params, reader->err, "%s", text);
}

static bool is_name(struct span field, const char *name)
{
  return strlen(name) == field.length && memcmp(name, field.at, field.length) == 0;
}

static enum gpnn_status read_line(struct reader *reader, struct span line)
{
  struct span whole = line, name = next_field(&line);
  if (name.length == 0) return GPNN_OK;
  if (*name.at == '#')
    return read_comment(reader,
                        (struct span){name.at, whole.length - (size_t)(name.at - whole.at)});
  if (is_name(name, "target")) return read_target(reader, line);
  size_t i = 0;
  while (i < N_ENTRIES && !is_name(name, entries[i].name)) i++;
  if (i == N_ENTRIES) return unknown_name(reader, name);
  const struct params_entry *entry = &entries[i];
  if (reader->seen & 1u << i) return refuse(reader, "%s: given a second time", entry->name);
  reader->seen |= 1u << i;
  struct span rest = line, value = next_field(&rest);
  if (value.length == 0) return refuse(reader, "%s: has no value", entry->name);
  if (entry->many) return entry->read(reader, line);
  if (next_field(&rest).length > 0) return refuse(reader, "%s: more than one value", entry->name);
  return entry->read(reader, value);
}

/* Whether a version begins with digits that are of a later one. */
static bool is_later(struct span version)
{
  uint64_t number;
  size_t n = 0;
  while (n < version.length && isdigit((unsigned char)version.at[n])) n++;
  if (n == 0) return false;
  return !gpnn_number_read_u64(version.at, n, &number) || number > GPNN_PARAMETERS_VERSION;
}

/* A first line that names the format also names its version, 1 if it does not. */
static enum gpnn_status check_version(struct reader *reader, struct span line)
{
  char shown[GPNN_MASK_BYTES];
  size_t length = sizeof GPNN_PARAMETERS_FIRST_LINE - 1;
  if (line.length < length || memcmp(line.at, GPNN_PARAMETERS_FIRST_LINE, length) != 0)
    return GPNN_OK;
  struct span rest = {line.at + length, line.length - length};
  if (rest.length > 0 && !blank(*rest.at)) return GPNN_OK;
  struct span version = next_field(&rest);
  if (!is_later(version)) return GPNN_OK;
  return gpnn_fail(reader->err, GPNN_EVERSION,
                   "%s: parameters of format version %s, this program reads up to %d", reader->name,
                   gpnn_mask(shown, version.at, version.length), GPNN_PARAMETERS_VERSION);
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
    if (status == GPNN_OK && memchr(line.at, '\0', line.length) != NULL)
      status = refuse(reader, "holds a NUL byte: expected text");
    if (status == GPNN_OK) status = read_line(reader, line);
  }
  return status == GPNN_OK ? end_block(reader) : status;
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
  enum gpnn_container_kind kind;
  if (gpnn_container_recognise(text.at, text.length, &kind))
    return gpnn_fail(reader->err, GPNN_EMISMATCH, "%s is %s, not parameters", reader->name,
                     gpnn_container_kind_name(kind));
  return read_lines(reader, text);
}

enum gpnn_status gpnn_parameters_read_all(struct gpnn_parameters **params, size_t *n,
                                          const char *path, struct gpnn_error *err)
{
  struct gpnn_input *input = NULL;
  struct reader reader = {.err = err};
  char *bytes = NULL;
  size_t length = 0;
  enum gpnn_status status = gpnn_input_open(&input, path, err);
  if (status != GPNN_OK) return status;
  reader.name = gpnn_input_name(input);
  status = read_bytes(input, &bytes, &length, err);
  if (status == GPNN_OK) status = begin_block(&reader);
  if (status == GPNN_OK) status = read_text(&reader, (struct span){bytes, length});
  forget_names(&reader);
  if (status == GPNN_OK) {
    *params = reader.blocks;
    *n = reader.n_blocks;
  } else {
    gpnn_parameters_release_all(reader.blocks, reader.n_blocks);
  }
  free(bytes);
  gpnn_input_close(input);
  return status;
}

enum gpnn_status gpnn_parameters_read(struct gpnn_parameters *params, const char *path,
                                      struct gpnn_error *err)
{
  struct gpnn_parameters *blocks = NULL;
  size_t n = 0;
  enum gpnn_status status = gpnn_parameters_read_all(&blocks, &n, path, err);
  if (status != GPNN_OK) return status;
  if (n == 1) {
    *params = blocks[0];
    free(blocks);
    return GPNN_OK;
  }
  gpnn_parameters_release_all(blocks, n);
  return gpnn_fail(err, GPNN_EMISMATCH, "%s: parameters of %zu targets: expected one",
                   strcmp(path, "-") == 0 ? "(stdin)" : path, n);
}
