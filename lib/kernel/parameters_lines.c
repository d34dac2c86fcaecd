/*
 * The lines of the format.  For most the table describes the numbers completely; the others have
 * functions that read and write them.
 */
#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "kernel/parameters_private.h"

enum kind { NUMBER, COUNT, LIST, TERM, OTHER };

/* Which numbers a line may have. */
enum range { ANY, NON_NEGATIVE, POSITIVE };

struct gpnn_parameters_line {
  const char *name;
  enum kind kind;
  bool required, shared; /* shared: only the target has it, not its further members */
  bool of_rows;          /* the parameters of a grid do not have it */
  bool calibrates;       /* a calibration alone may have it, and nothing else */
  enum range range;      /* of NUMBER and LIST */
  uint64_t most;         /* of COUNT, which is at least 1 */
  size_t value, length;  /* offsets in struct gpnn_parameters: of a double, a size_t, a
                            struct gpnn_scale_term or a pointer to doubles; LIST: of their number */
  /* Checks the values just read; NULL: nothing to check. */
  enum gpnn_status (*check)(struct gpnn_parameters_reader *reader);
  /* OTHER: reads one word or, if 'many', all of them; writes a line, or nothing. */
  bool many;
  enum gpnn_status (*read)(struct gpnn_parameters_reader *reader, struct gpnn_span values);
  enum gpnn_status (*write)(const struct gpnn_parameters *params, struct gpnn_output *output,
                            struct gpnn_error *err);
};

/* ---- writing ------------------------------------------------------------------------------ */

/* Writes a tab and a number. */
static enum gpnn_status write_number(struct gpnn_output *output, double value,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, "\t", err);
  return status == GPNN_OK ? gpnn_output_number(output, value, err) : status;
}

enum gpnn_status gpnn_parameters_write_list(const char *name, size_t n, const double *values,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, name, err);
  for (size_t j = 0; j < n && status == GPNN_OK; j++) status = write_number(output, values[j], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static enum gpnn_status read_number(struct gpnn_parameters_reader *reader, const char *name,
                                    struct gpnn_span word, enum range range, double *value)
{
  static const char *const what[] = {"number", "non-negative number", "positive number"};
  char shown[GPNN_MASK_BYTES];
  double v;
  if (gpnn_number_read(word.at, word.length, &v) == GPNN_NUMBER_OK &&
      (v > 0 || range == ANY || (v == 0 && range == NON_NEGATIVE))) {
    *value = v;
    return GPNN_OK;
  }
  return gpnn_parameters_refuse(reader, "%s: not a %s: \"%s\"", name, what[range],
                                gpnn_mask(shown, word.at, word.length));
}

/* Appends all numbers of a line to '*list', which has '*n'.  After a failure both are still valid.
 */
static enum gpnn_status read_list(struct gpnn_parameters_reader *reader, const char *name,
                                  struct gpnn_span values, enum range range, double **list,
                                  size_t *n)
{
  size_t capacity = 0;
  for (;;) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) return GPNN_OK;
    if (!gpnn_grow(list, &capacity, *n + 1, sizeof **list))
      return gpnn_fail_memory(reader->err, "for the parameters");
    enum gpnn_status status = read_number(reader, name, word, range, &(*list)[*n]);
    if (status != GPNN_OK) return status;
    (*n)++;
  }
}

enum gpnn_status gpnn_parameters_read_whole(struct gpnn_parameters_reader *reader, const char *name,
                                            struct gpnn_span word, uint64_t least, uint64_t most,
                                            uint64_t *value)
{
  char shown[GPNN_MASK_BYTES];
  uint64_t v;
  if (!gpnn_number_read_u64(word.at, word.length, &v) || v < least || v > most)
    return gpnn_parameters_refuse(reader,
                                  "%s: not a whole number from %" PRIu64 " to %" PRIu64 ": \"%s\"",
                                  name, least, most, gpnn_mask(shown, word.at, word.length));
  *value = v;
  return GPNN_OK;
}

static enum gpnn_status read_count(struct gpnn_parameters_reader *reader, const char *name,
                                   struct gpnn_span word, uint64_t most, size_t *count)
{
  uint64_t value = 0;
  enum gpnn_status status = gpnn_parameters_read_whole(reader, name, word, 1, most, &value);
  if (status == GPNN_OK) *count = (size_t)value;
  return status;
}

enum gpnn_status gpnn_parameters_read_list(struct gpnn_parameters_reader *reader, const char *name,
                                           struct gpnn_span values, double **list, size_t *n)
{
  return read_list(reader, name, values, ANY, list, n);
}

/* ---- the model ---------------------------------------------------------------------------- */

static const char *const families[] = {[GPNN_FAMILY_NONE] = NULL,
                                       [GPNN_FAMILY_COLLAPSED] = "collapsed",
                                       [GPNN_FAMILY_DIAG] = "diag",
                                       [GPNN_FAMILY_TUCKER] = "tucker",
                                       [GPNN_FAMILY_AUGMENTED] = "augmented",
                                       [GPNN_FAMILY_SVGP] = "svgp"};

const char *gpnn_parameters_family_name(enum gpnn_family family)
{
  return families[family];
}

static enum gpnn_status read_family(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t f = 1; f < sizeof families / sizeof *families; f++)
    if (strlen(families[f]) == word.length && memcmp(families[f], word.at, word.length) == 0) {
      reader->params->family = (enum gpnn_family)f;
      return GPNN_OK;
    }
  return gpnn_parameters_refuse(reader,
                                "family: \"%s\" is not one of collapsed, diag, tucker, svgp",
                                gpnn_mask(shown, word.at, word.length));
}

static enum gpnn_status write_family(const struct gpnn_parameters *params,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  if (params->family == GPNN_FAMILY_NONE) return GPNN_OK;
  return gpnn_output_printf(output, err, "family\t%s\n", families[params->family]);
}

static enum gpnn_status read_kernel(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  char text[GPNN_MASK_BYTES], known[128] = "";
  const struct gpnn_kernel *kernel;
  size_t used = 0;
  gpnn_mask(text, word.at, word.length);
  if (gpnn_kernel_parse(text, &reader->params->covariance.kernel,
                        &reader->params->covariance.smoothness))
    return GPNN_OK;
  for (size_t i = 0; (kernel = gpnn_kernel_at(i)) != NULL; i++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s%s", i == 0 ? "" : ", ",
                             kernel->name, gpnn_kernel_needs_smoothness(kernel) ? ":NU" : "");
  return gpnn_parameters_refuse(reader, "kernel: \"%s\" is not one of %s, NU above 0 and up to %d",
                                text, known, GPNN_KERNEL_SMOOTHEST);
}

static enum gpnn_status write_kernel(const struct gpnn_parameters *params,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  char kernel[GPNN_KERNEL_BYTES];
  gpnn_kernel_write(params->covariance.kernel, params->covariance.smoothness, kernel);
  return gpnn_output_printf(output, err, "kernel\t%s\n", kernel);
}

static enum gpnn_status check_rotation(struct gpnn_parameters_reader *reader)
{
  const double most = 1e100; /* so that squares of sums are finite */
  const struct gpnn_covariance *covariance = &reader->params->covariance;
  double largest = 0;
  for (size_t i = 0; i < covariance->n_rotation; i++)
    largest = fmax(largest, fabs(covariance->rotation[i]));
  if (largest > most) return gpnn_parameters_refuse(reader, "rotation: too large a number");
  return largest > 0 ? GPNN_OK : gpnn_parameters_refuse(reader, "rotation: all zero");
}

static enum gpnn_status check_lengthscales(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_covariance *covariance = &reader->params->covariance;
  for (size_t j = 0; j < covariance->n_lengthscales; j++)
    if (isinf(1 / covariance->lengthscale[j]))
      return gpnn_parameters_refuse(reader, "lengthscale: too small to divide by");
  return GPNN_OK;
}

static enum gpnn_status read_mean(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  char text[GPNN_MASK_BYTES];
  gpnn_mask(text, word.at, word.length);
  if (gpnn_mean_by_name(text, &reader->params->mean.kind)) return GPNN_OK;
  return gpnn_parameters_refuse(
      reader, "mean: \"%s\" is not one of zero, constant, linear, regressors", text);
}

static enum gpnn_status write_mean(const struct gpnn_parameters *params, struct gpnn_output *output,
                                   struct gpnn_error *err)
{
  if (params->mean.kind == GPNN_MEAN_ZERO) return GPNN_OK;
  return gpnn_output_printf(output, err, "mean\t%s\n", gpnn_mean_name(params->mean.kind));
}

/* Reads the lower triangle; gpnn_parameters_complete() makes it a matrix. */
static enum gpnn_status read_covariance(struct gpnn_parameters_reader *reader,
                                        struct gpnn_span values)
{
  return read_list(reader, "covariance", values, ANY, &reader->params->mean.covariance,
                   &reader->n_covariance);
}

/* Writes the lower triangle row by row. */
static enum gpnn_status write_covariance(const struct gpnn_parameters *params,
                                         struct gpnn_output *output, struct gpnn_error *err)
{
  size_t p = params->mean.n_coefficients;
  if (p == 0 || params->mean.covariance == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "covariance", err);
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i && status == GPNN_OK; j++)
      status = write_number(output, params->mean.covariance[i * p + j], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status check_degrees(struct gpnn_parameters_reader *reader)
{
  if (reader->params->degrees > 2) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "degrees: not above 2, so there is no variance");
}

static enum gpnn_status check_dispersion(struct gpnn_parameters_reader *reader)
{
  const double least = 1e-6, most = 1e9; /* beyond which counts lose their digits */
  double r = reader->params->dispersion;
  if (r >= least && r <= most) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "dispersion: not between %g and %g", least, most);
}

/* ---- calibration -------------------------------------------------------------------------- */

static enum gpnn_status read_factor(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  reader->params->calibration.has_factor = true;
  return read_number(reader, "calibration", word, POSITIVE, &reader->params->calibration.factor);
}

static enum gpnn_status write_factor(const struct gpnn_parameters *params,
                                     struct gpnn_output *output, struct gpnn_error *err)
{
  if (!params->calibration.has_factor) return GPNN_OK;
  return gpnn_parameters_write_list("calibration", 1, &params->calibration.factor, output, err);
}

/* Splits level, width, level, width ... into two lists. */
static enum gpnn_status split_conformal(struct gpnn_parameters_reader *reader, size_t n,
                                        const double *pairs)
{
  struct gpnn_calibration *calibration = &reader->params->calibration;
  calibration->conformal_level = gpnn_alloc(n, 1, sizeof *calibration->conformal_level);
  calibration->conformal_width = gpnn_alloc(n, 1, sizeof *calibration->conformal_width);
  if (calibration->conformal_level == NULL || calibration->conformal_width == NULL)
    return gpnn_fail_memory(reader->err, "for the parameters");
  calibration->n_conformal = n;
  for (size_t i = 0; i < n; i++) {
    calibration->conformal_level[i] = pairs[2 * i];
    calibration->conformal_width[i] = pairs[2 * i + 1];
    if (!(pairs[2 * i] > 0 && pairs[2 * i] < 1))
      return gpnn_parameters_refuse(reader, "conformal: a level that is not between 0 and 1");
    if (i > 0 && pairs[2 * i] <= pairs[2 * i - 2])
      return gpnn_parameters_refuse(reader, "conformal: the levels are not in ascending order");
  }
  return GPNN_OK;
}

static enum gpnn_status read_conformal(struct gpnn_parameters_reader *reader,
                                       struct gpnn_span values)
{
  double *pairs = NULL;
  size_t n = 0;
  enum gpnn_status status = read_list(reader, "conformal", values, NON_NEGATIVE, &pairs, &n);
  if (status == GPNN_OK && n % 2 != 0)
    status = gpnn_parameters_refuse(reader, "conformal: a level without a width: expected pairs");
  if (status == GPNN_OK) status = split_conformal(reader, n / 2, pairs);
  free(pairs);
  return status;
}

static enum gpnn_status write_conformal(const struct gpnn_parameters *params,
                                        struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_calibration *calibration = &params->calibration;
  if (calibration->n_conformal == 0) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "conformal", err);
  for (size_t i = 0; i < calibration->n_conformal && status == GPNN_OK; i++) {
    status = write_number(output, calibration->conformal_level[i], err);
    if (status == GPNN_OK) status = write_number(output, calibration->conformal_width[i], err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status read_distances(struct gpnn_parameters_reader *reader,
                                       struct gpnn_span values)
{
  struct gpnn_parameters *params = reader->params;
  double *list = NULL;
  size_t n = 0;
  enum gpnn_status status = read_list(reader, "distances", values, NON_NEGATIVE, &list, &n);
  if (status == GPNN_OK && n != GPNN_N_DISTANCES)
    status = gpnn_parameters_refuse(reader, "distances: %zu numbers, not %d", n, GPNN_N_DISTANCES);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    params->calibration.distance[i] = list[i];
    if (i > 0 && list[i] < list[i - 1])
      status = gpnn_parameters_refuse(reader, "distances: not in ascending order");
  }
  params->calibration.has_distance = true;
  free(list);
  return status;
}

static enum gpnn_status write_distances(const struct gpnn_parameters *params,
                                        struct gpnn_output *output, struct gpnn_error *err)
{
  if (!params->calibration.has_distance) return GPNN_OK;
  return gpnn_parameters_write_list("distances", GPNN_N_DISTANCES, params->calibration.distance,
                                    output, err);
}

/* ---- provenance --------------------------------------------------------------------------- */

static enum gpnn_status read_index(struct gpnn_parameters_reader *reader, struct gpnn_span word)
{
  static const char digits[] = "0123456789abcdef";
  char shown[GPNN_MASK_BYTES];
  uint64_t value = 0;
  bool good = word.length == 16;
  for (size_t i = 0; good && i < word.length; i++) {
    const char *digit = memchr(digits, tolower((unsigned char)word.at[i]), 16);
    good = digit != NULL;
    if (good) value = value << 4 | (uint64_t)(digit - digits);
  }
  if (!good)
    return gpnn_parameters_refuse(reader,
                                  "index: not a fingerprint of 16 hexadecimal digits: \"%s\"",
                                  gpnn_mask(shown, word.at, word.length));
  reader->params->provenance.has_index = true;
  reader->params->provenance.index = value;
  return GPNN_OK;
}

static enum gpnn_status write_index(const struct gpnn_parameters *params,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  if (!params->provenance.has_index) return GPNN_OK;
  return gpnn_output_printf(output, err, "index\t%016" PRIx64 "\n", params->provenance.index);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* The members that hold a value, or a list and its length. */
#define AT(member) .value = offsetof(struct gpnn_parameters, member)
#define LENGTH(member) .length = offsetof(struct gpnn_parameters, member)

static const struct gpnn_parameters_line lines[] = {
    {"factors", OTHER, .shared = true, .many = true, .read = gpnn_parameters_read_factors,
     .write = gpnn_parameters_write_factors},
    {"factor-mean", OTHER, .shared = true, .read = gpnn_parameters_read_factor_mean,
     .write = gpnn_parameters_write_factor_mean},
    {"family", OTHER, .of_rows = true, .shared = true, .read = read_family, .write = write_family},
    {"kernel", OTHER, .of_rows = true, .required = true, .read = read_kernel,
     .write = write_kernel},
    {"rotation", LIST, .of_rows = true, AT(covariance.rotation), LENGTH(covariance.n_rotation),
     .check = check_rotation},
    {"lengthscale", LIST, .of_rows = true, .required = true, .range = POSITIVE,
     AT(covariance.lengthscale), LENGTH(covariance.n_lengthscales), .check = check_lengthscales},
    {"kernelscale", NUMBER, .required = true, .range = POSITIVE, AT(covariance.kernelscale)},
    {"noise", NUMBER, .required = true, .range = NON_NEGATIVE, AT(covariance.noise)},
    {"mean", OTHER, .of_rows = true, .read = read_mean, .write = write_mean},
    {"coefficients", LIST, .of_rows = true, AT(mean.coefficients), LENGTH(mean.n_coefficients)},
    {"covariance", OTHER, .of_rows = true, .many = true, .read = read_covariance,
     .write = write_covariance},
    {"likelihood", OTHER, .calibrates = true, .shared = true,
     .read = gpnn_parameters_read_likelihood, .write = gpnn_parameters_write_likelihood},
    {"scale", NUMBER, .calibrates = true, .shared = true, .range = POSITIVE, AT(scale.factor),
     .check = gpnn_parameters_check_scale},
    {"scale-misfit", TERM, .calibrates = true, .of_rows = true, .shared = true,
     AT(scale.term[GPNN_SCALE_MISFIT])},
    {"scale-nearest", TERM, .calibrates = true, .of_rows = true, .shared = true,
     AT(scale.term[GPNN_SCALE_NEAREST])},
    {"scale-share", TERM, .calibrates = true, .of_rows = true, .shared = true,
     AT(scale.term[GPNN_SCALE_SHARE])},
    {"scale-mean", TERM, .calibrates = true, .of_rows = true, .shared = true,
     AT(scale.term[GPNN_SCALE_MEAN])},
    {"scale-mean-square", TERM, .calibrates = true, .of_rows = true, .shared = true,
     AT(scale.term[GPNN_SCALE_MEAN_SQUARE])},
    {"inference", OTHER, .of_rows = true, .read = gpnn_parameters_read_inference,
     .write = gpnn_parameters_write_inference},
    {"omega", OTHER, .of_rows = true, .read = gpnn_parameters_read_omega,
     .write = gpnn_parameters_write_omega},
    {"link-slope", NUMBER, .of_rows = true, .range = POSITIVE, AT(link.slope)},
    {"link-evidence", NUMBER, .of_rows = true, .range = POSITIVE, AT(link.evidence)},
    {"link-floor", NUMBER, .of_rows = true, .range = POSITIVE, AT(link.floor)},
    {"link-spread", NUMBER, .of_rows = true, .range = POSITIVE, AT(link.spread)},
    {"link-bias", LIST, .of_rows = true, AT(link.bias), LENGTH(link.n_bias)},
    {"dispersion", NUMBER, .of_rows = true, .shared = true, .range = POSITIVE, AT(dispersion),
     .check = check_dispersion},
    {"degrees", NUMBER, .calibrates = true, .shared = true, .range = POSITIVE, AT(degrees),
     .check = check_degrees},
    {"transform", OTHER, .shared = true, .many = true, .read = gpnn_parameters_read_transform,
     .write = gpnn_parameters_write_transform},
    {"neighbours", COUNT, .of_rows = true, .most = INT_MAX, AT(neighbours)},
    {"weight", NUMBER, .of_rows = true, .range = POSITIVE, AT(weight)},
    {"fit-rows", COUNT, .most = INT64_MAX, AT(provenance.fit_rows)},
    {"fit-seed", OTHER, .read = gpnn_parameters_read_seed, .write = gpnn_parameters_write_seed},
    {"fit-objective", OTHER, .many = true, .read = gpnn_parameters_read_objective,
     .write = gpnn_parameters_write_objective},
    {"fit-thin", OTHER, .read = gpnn_parameters_read_thin, .write = gpnn_parameters_write_thin},
    {"fit-options", OTHER, .many = true, .read = gpnn_parameters_read_options,
     .write = gpnn_parameters_write_options},
    {"calibration", OTHER, .calibrates = true, .shared = true, .read = read_factor,
     .write = write_factor},
    {"temperature", NUMBER, .shared = true, .range = POSITIVE, AT(calibration.temperature)},
    {"conformal", OTHER, .calibrates = true, .shared = true, .many = true, .read = read_conformal,
     .write = write_conformal},
    {"distances", OTHER, .calibrates = true, .of_rows = true, .shared = true, .many = true,
     .read = read_distances, .write = write_distances},
    {"index", OTHER, .calibrates = true, .read = read_index, .write = write_index},
};
#define N_LINES (sizeof lines / sizeof *lines)

_Static_assert(N_LINES <= GPNN_PARAMETERS_MAX_LINES, "a reader notes which lines it has seen");

const struct gpnn_parameters_line *gpnn_parameters_line_at(size_t i)
{
  return i < N_LINES ? &lines[i] : NULL;
}

const char *gpnn_parameters_line_name(const struct gpnn_parameters_line *line)
{
  return line->name;
}

bool gpnn_parameters_line_is_required(const struct gpnn_parameters_line *line)
{
  return line->required;
}

bool gpnn_parameters_line_is_of_rows(const struct gpnn_parameters_line *line)
{
  return line->of_rows;
}

bool gpnn_parameters_line_calibrates(const struct gpnn_parameters_line *line)
{
  return line->calibrates;
}

static enum gpnn_status read_values(const struct gpnn_parameters_line *line,
                                    struct gpnn_parameters_reader *reader, struct gpnn_span values)
{
  char *params = (char *)reader->params;
  void *value = params + line->value, *length = params + line->length;
  switch (line->kind) {
  case NUMBER:
    return read_number(reader, line->name, values, line->range, value);
  case COUNT:
    return read_count(reader, line->name, values, line->most, value);
  case LIST:
    return read_list(reader, line->name, values, line->range, value, length);
  case TERM:
    return gpnn_parameters_read_term(reader, line->name, values, value);
  case OTHER:
    break;
  }
  return line->read(reader, values);
}

enum gpnn_status gpnn_parameters_line_read(const struct gpnn_parameters_line *line,
                                           struct gpnn_parameters_reader *reader,
                                           struct gpnn_span values)
{
  struct gpnn_span rest = values, word = gpnn_parameters_next_word(&rest);
  bool many = line->many || line->kind == LIST || line->kind == TERM;
  if (line->shared && gpnn_parameters_in_member(reader))
    return gpnn_parameters_refuse(reader, "%s: belongs to the target, above its further members",
                                  line->name);
  if (word.length == 0) return gpnn_parameters_refuse(reader, "%s: has no value", line->name);
  if (!many && gpnn_parameters_next_word(&rest).length > 0)
    return gpnn_parameters_refuse(reader, "%s: more than one value", line->name);
  enum gpnn_status status = read_values(line, reader, many ? values : word);
  return status == GPNN_OK && line->check != NULL ? line->check(reader) : status;
}

enum gpnn_status gpnn_parameters_line_write(const struct gpnn_parameters_line *line,
                                            const struct gpnn_parameters *params,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  const void *value = (const char *)params + line->value;
  const void *length = (const char *)params + line->length;
  const size_t *count = value, *n = length;
  const double *number = value;
  double *const *list = value;
  if (line->of_rows && params->grid.n_factors > 0) return GPNN_OK;
  switch (line->kind) {
  case NUMBER:
    return line->required || *number != 0
               ? gpnn_parameters_write_list(line->name, 1, number, output, err)
               : GPNN_OK;
  case COUNT:
    return *count > 0 ? gpnn_output_printf(output, err, "%s\t%zu\n", line->name, *count) : GPNN_OK;
  case LIST:
    return *n > 0 ? gpnn_parameters_write_list(line->name, *n, *list, output, err) : GPNN_OK;
  case TERM:
    return gpnn_parameters_write_term(line->name, value, output, err);
  case OTHER:
    break;
  }
  return line->write(params, output, err);
}
