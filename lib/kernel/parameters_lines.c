/*
 * The lines of the format, in one table.  For most a row says all: where the values belong, how
 * many there are and within which range; the others have functions that read and write them.
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

/* ---- writing ------------------------------------------------------------------------------ */

/* Writes a tab and a number. */
static enum gpnn_status write_number(struct gpnn_output *output, double value,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, "\t", err);
  return status == GPNN_OK ? gpnn_output_number(output, value, err) : status;
}

static enum gpnn_status write_list(const char *name, size_t n, const double *values,
                                   struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, name, err);
  for (size_t j = 0; j < n && status == GPNN_OK; j++) status = write_number(output, values[j], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* ---- numbers ------------------------------------------------------------------------------ */

static enum gpnn_status read_number(struct gpnn_parameters_reader *reader, const char *name,
                                    struct gpnn_span word, enum gpnn_parameters_range range,
                                    double *value)
{
  static const char *const what[] = {"number", "non-negative number", "positive number"};
  char shown[GPNN_MASK_BYTES];
  double v;
  if (gpnn_number_read(word.at, word.length, &v) == GPNN_NUMBER_OK &&
      (v > 0 || range == GPNN_PARAMETERS_ANY ||
       (v == 0 && range == GPNN_PARAMETERS_NON_NEGATIVE))) {
    *value = v;
    return GPNN_OK;
  }
  return gpnn_parameters_refuse(reader, "%s: not a %s: \"%s\"", name, what[range],
                                gpnn_mask(shown, word.at, word.length));
}

/* Appends all numbers of a line to '*list', which has '*n'.  After a failure both are still valid.
 */
static enum gpnn_status read_list(struct gpnn_parameters_reader *reader, const char *name,
                                  struct gpnn_span values, enum gpnn_parameters_range range,
                                  double **list, size_t *n)
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

static enum gpnn_status read_whole(struct gpnn_parameters_reader *reader, const char *name,
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

/* ---- the model ---------------------------------------------------------------------------- */

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

static enum gpnn_status check_rotation(struct gpnn_parameters_reader *reader,
                                       const struct gpnn_parameters_line *line)
{
  const double most = 1e100; /* so that squares of sums are finite */
  const struct gpnn_covariance *covariance = &reader->params->covariance;
  double largest = 0;
  for (size_t i = 0; i < covariance->n_rotation; i++)
    largest = fmax(largest, fabs(covariance->rotation[i]));
  if (largest > most) return gpnn_parameters_refuse(reader, "%s: too large a number", line->name);
  return largest > 0 ? GPNN_OK : gpnn_parameters_refuse(reader, "%s: all zero", line->name);
}

static enum gpnn_status check_lengthscales(struct gpnn_parameters_reader *reader,
                                           const struct gpnn_parameters_line *line)
{
  const struct gpnn_covariance *covariance = &reader->params->covariance;
  for (size_t j = 0; j < covariance->n_lengthscales; j++)
    if (isinf(1 / covariance->lengthscale[j]))
      return gpnn_parameters_refuse(reader, "%s: too small to divide by", line->name);
  return GPNN_OK;
}

static enum gpnn_status read_sight(struct gpnn_parameters_reader *reader, struct gpnn_span values)
{
  struct gpnn_parameters *params = reader->params;
  char shown[GPNN_MASK_BYTES];
  size_t capacity = 0;
  for (;;) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) return GPNN_OK;
    if (!gpnn_grow(&params->sight, &capacity, params->n_sight + 1, sizeof *params->sight))
      return gpnn_fail_memory(reader->err, "for the parameters");
    if (!gpnn_sight_by_name(word.at, word.length, &params->sight[params->n_sight]))
      return gpnn_parameters_refuse(reader, "input-scores: \"%s\" is not one of none, only, both",
                                    gpnn_mask(shown, word.at, word.length));
    params->n_sight++;
  }
}

static enum gpnn_status write_sight(const struct gpnn_parameters *params,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  if (!gpnn_sight_is_special(params->n_sight, params->sight)) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "input-scores", err);
  for (size_t j = 0; j < params->n_sight && status == GPNN_OK; j++)
    status = gpnn_output_printf(output, err, "\t%s", gpnn_sight_name(params->sight[j]));
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* Reads the lower triangle; gpnn_parameters_complete() makes it a matrix. */
static enum gpnn_status read_covariance(struct gpnn_parameters_reader *reader,
                                        struct gpnn_span values)
{
  return read_list(reader, "covariance", values, GPNN_PARAMETERS_ANY,
                   &reader->params->mean.covariance, &reader->n_covariance);
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

/* ---- the likelihood, and calibration -------------------------------------------------------- */

static enum gpnn_status check_degrees(struct gpnn_parameters_reader *reader,
                                      const struct gpnn_parameters_line *line)
{
  if (reader->params->degrees > 2) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "%s: not above 2, so there is no variance", line->name);
}

static enum gpnn_status check_between(struct gpnn_parameters_reader *reader,
                                      const struct gpnn_parameters_line *line, double value,
                                      double least, double most)
{
  if (value >= least && value <= most) return GPNN_OK;
  return gpnn_parameters_refuse(reader, "%s: not between %g and %g", line->name, least, most);
}

/* Beyond these bounds counts lose their digits. */
static enum gpnn_status check_dispersion(struct gpnn_parameters_reader *reader,
                                         const struct gpnn_parameters_line *line)
{
  return check_between(reader, line, reader->params->dispersion, 1e-6, 1e9);
}

/* Squared scales are products of a factor and a power of e for each feature; with these bounds they
 * are finite whatever the row. */
static const double most_exponent = 100, largest_factor = 1e60;

static enum gpnn_status check_scale(struct gpnn_parameters_reader *reader,
                                    const struct gpnn_parameters_line *line)
{
  return check_between(reader, line, reader->params->scale.factor, 1 / largest_factor,
                       largest_factor);
}

/* The logit of a share is at most 14, so that with these bounds that of a probability is finite. */
static enum gpnn_status check_atom(struct gpnn_parameters_reader *reader,
                                   const struct gpnn_parameters_line *line)
{
  const struct gpnn_atom *atom = &reader->params->atom;
  if (!(atom->share > 0 && atom->share < 1))
    return gpnn_parameters_refuse(reader, "%s: a share that is not between 0 and 1", line->name);
  enum gpnn_status status =
      check_between(reader, line, atom->intercept, -most_exponent, most_exponent);
  if (status == GPNN_OK)
    status = check_between(reader, line, atom->slope, -most_exponent, most_exponent);
  return status == GPNN_OK ? check_between(reader, line, atom->power, 0, 1) : status;
}

static enum gpnn_status check_term(struct gpnn_parameters_reader *reader,
                                   const struct gpnn_parameters_line *line)
{
  const struct gpnn_scale_term *term = (const void *)((const char *)reader->params + line->value);
  if (term->low > term->high)
    return gpnn_parameters_refuse(reader, "%s: the range ends before it begins", line->name);
  if (fabs(term->coefficient * term->low) <= most_exponent &&
      fabs(term->coefficient * term->high) <= most_exponent)
    return GPNN_OK;
  return gpnn_parameters_refuse(reader, "%s: scales would be larger than any number", line->name);
}

static enum gpnn_status check_sum(struct gpnn_parameters_reader *reader,
                                  const struct gpnn_parameters_line *line)
{
  static const double most = GPNN_SCALE_FEATURES * most_exponent;
  const struct gpnn_scale *scale = &reader->params->scale;
  if (scale->low > scale->high)
    return gpnn_parameters_refuse(reader, "%s: the range ends before it begins", line->name);
  enum gpnn_status status = check_between(reader, line, scale->low, -most, most);
  return status == GPNN_OK ? check_between(reader, line, scale->high, -most, most) : status;
}

static enum gpnn_status check_distances(struct gpnn_parameters_reader *reader,
                                        const struct gpnn_parameters_line *line)
{
  const double *distance = reader->params->calibration.distance;
  for (size_t i = 1; i < GPNN_N_DISTANCES; i++)
    if (distance[i] < distance[i - 1])
      return gpnn_parameters_refuse(reader, "%s: not in ascending order", line->name);
  return GPNN_OK;
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
  enum gpnn_status status =
      read_list(reader, "conformal", values, GPNN_PARAMETERS_NON_NEGATIVE, &pairs, &n);
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

/* ---- the transform: its kind, then the numbers of gpnn_transform_numbers() ------------------- */

/* Reads the numbers, up to one more than there may be. */
static enum gpnn_status read_transform_numbers(struct gpnn_parameters_reader *reader,
                                               struct gpnn_span values,
                                               double numbers[GPNN_TRANSFORM_NUMBERS + 1],
                                               size_t *n)
{
  char shown[GPNN_MASK_BYTES];
  for (*n = 0; *n <= GPNN_TRANSFORM_NUMBERS; (*n)++) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) return GPNN_OK;
    if (gpnn_number_read(word.at, word.length, &numbers[*n]) != GPNN_NUMBER_OK)
      return gpnn_parameters_refuse(reader, "transform: not a number: \"%s\"",
                                    gpnn_mask(shown, word.at, word.length));
  }
  return GPNN_OK;
}

static enum gpnn_status read_transform(struct gpnn_parameters_reader *reader,
                                       struct gpnn_span values)
{
  char name[GPNN_MASK_BYTES];
  double numbers[GPNN_TRANSFORM_NUMBERS + 1];
  size_t n;
  const char *why = NULL;
  enum gpnn_transform_kind kind = GPNN_TRANSFORM_NONE;
  struct gpnn_span word = gpnn_parameters_next_word(&values);
  gpnn_mask(name, word.at, word.length);
  if (!gpnn_transform_by_name(name, &kind) || kind == GPNN_TRANSFORM_NONE)
    return gpnn_parameters_refuse(
        reader, "transform: \"%s\" is not one of log, asinh, boxcox, yeo-johnson, rank", name);
  enum gpnn_status status = read_transform_numbers(reader, values, numbers, &n);
  if (status == GPNN_OK && !gpnn_transform_set(&reader->params->transform, kind, n, numbers, &why))
    return gpnn_parameters_refuse(reader, "transform: %s: %s", name, why);
  return status;
}

static enum gpnn_status write_transform(const struct gpnn_parameters *params,
                                        struct gpnn_output *output, struct gpnn_error *err)
{
  double numbers[GPNN_TRANSFORM_NUMBERS];
  const struct gpnn_transform *transform = &params->transform;
  if (transform->kind == GPNN_TRANSFORM_NONE) return GPNN_OK;
  size_t n = gpnn_transform_numbers(transform, numbers);
  enum gpnn_status status =
      gpnn_output_printf(output, err, "transform\t%s", gpnn_transform_name(transform->kind));
  for (size_t i = 0; i < n && status == GPNN_OK; i++)
    status = write_number(output, numbers[i], err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
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

/* As in the options of gpnn-fit, so that estimating again takes no longer than it did at first. */
enum { MOST_STEPS = 1000000 };

static struct gpnn_estimation *estimation_of(const struct gpnn_parameters_reader *reader)
{
  return &reader->params->provenance.estimation;
}

/* Reads the numbers that follow the name of the objective: blocks and rows of each, or neighbours
 * and steps. */
static enum gpnn_status read_sizes(struct gpnn_parameters_reader *reader, struct gpnn_span rest,
                                   uint64_t sizes[2])
{
  for (size_t i = 0; i < 2; i++) {
    enum gpnn_status status = read_whole(reader, "fit-objective", gpnn_parameters_next_word(&rest),
                                         1, MOST_STEPS, &sizes[i]);
    if (status != GPNN_OK) return status;
  }
  return gpnn_parameters_next_word(&rest).length == 0
             ? GPNN_OK
             : gpnn_parameters_refuse(reader, "fit-objective: more than two numbers");
}

static enum gpnn_status read_objective(struct gpnn_parameters_reader *reader,
                                       struct gpnn_span values)
{
  char shown[GPNN_MASK_BYTES];
  struct gpnn_estimation *estimation = estimation_of(reader);
  const struct gpnn_span word = gpnn_parameters_next_word(&values);
  uint64_t sizes[2] = {0, 0};
  int kind = GPNN_OBJECTIVE_BLOCK;
  while (kind <= GPNN_OBJECTIVE_LABELS &&
         !gpnn_parameters_is_word(word, gpnn_objective_name((enum gpnn_objective_kind)kind)))
    kind++;
  if (kind > GPNN_OBJECTIVE_LABELS)
    return gpnn_parameters_refuse(
        reader, "fit-objective: \"%s\" is not one of block, loo, mll-k, vecchia, labels",
        gpnn_mask(shown, word.at, word.length));
  enum gpnn_status status = read_sizes(reader, values, sizes);
  if (status != GPNN_OK) return status;
  estimation->objective = (enum gpnn_objective_kind)kind;
  bool by_block = kind == GPNN_OBJECTIVE_BLOCK;
  *(by_block ? &estimation->n_blocks : &estimation->k) = (size_t)sizes[0];
  *(by_block ? &estimation->block_size : &estimation->steps) = (size_t)sizes[1];
  return GPNN_OK;
}

static enum gpnn_status write_objective(const struct gpnn_parameters *params,
                                        struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  bool by_block = estimation->objective == GPNN_OBJECTIVE_BLOCK;
  return gpnn_output_printf(output, err, "fit-objective\t%s\t%zu\t%zu\n",
                            gpnn_objective_name(estimation->objective),
                            by_block ? estimation->n_blocks : estimation->k,
                            by_block ? estimation->block_size : estimation->steps);
}

#define OPTION(name, member)                       \
  {                                                \
    name, offsetof(struct gpnn_estimation, member) \
  }

static const struct {
  const char *name;
  size_t offset; /* of a bool */
} options[] = {
    OPTION("learnt-rotation", learnt_rotation),
    OPTION("shared-lengthscales", shared_lengthscales),
    OPTION("shared-ratio", shared_ratio),
    OPTION("fixed-lengthscale", fixed_lengthscale),
    OPTION("fixed-kernelscale", fixed_kernelscale),
    OPTION("fixed-noise", fixed_noise),
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

static enum gpnn_status read_options(struct gpnn_parameters_reader *reader, struct gpnn_span values)
{
  char shown[GPNN_MASK_BYTES], *estimation = (char *)estimation_of(reader);
  for (;;) {
    const struct gpnn_span word = gpnn_parameters_next_word(&values);
    size_t i = 0;
    if (word.length == 0) return GPNN_OK;
    while (i < N_OPTIONS && !gpnn_parameters_is_word(word, options[i].name)) i++;
    if (i == N_OPTIONS)
      return gpnn_parameters_refuse(reader, "fit-options: unknown: \"%s\"",
                                    gpnn_mask(shown, word.at, word.length));
    *(bool *)(estimation + options[i].offset) = true;
  }
}

static enum gpnn_status write_options(const struct gpnn_parameters *params,
                                      struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  enum gpnn_status status = GPNN_OK;
  bool any = false;
  for (size_t i = 0; i < N_OPTIONS && status == GPNN_OK; i++) {
    if (!*(const bool *)((const char *)estimation + options[i].offset)) continue;
    status = gpnn_output_printf(output, err, "%s\t%s", any ? "" : "fit-options", options[i].name);
    any = true;
  }
  return status == GPNN_OK && any ? gpnn_output_text(output, "\n", err) : status;
}

/* ---- the table ---------------------------------------------------------------------------- */

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

static const char *const likelihoods[] = {"gaussian",    "student", "local",
                                          "categorical", "poisson", "negbin"};
static const char *const inferences[] = {"link", "polya-gamma"};
static const char *const omegas[] = {"fixed", "learnt"};

static bool is_estimated(const struct gpnn_parameters *params)
{
  return params->provenance.estimation.objective != GPNN_OBJECTIVE_NONE;
}

static bool has_atom(const struct gpnn_parameters *params)
{
  return params->atom.share > 0;
}

static bool has_effects(const struct gpnn_parameters *params)
{
  return params->effects.n_variances > 0;
}

static bool has_omega(const struct gpnn_parameters *params)
{
  return params->inference == GPNN_INFERENCE_POLYA_GAMMA;
}

/* Where a value is, a list and its length, the flag that says that there is one, and words. */
#define MEMBER(member) offsetof(struct gpnn_parameters, member)
#define SIZE(member) sizeof(((struct gpnn_parameters *)NULL)->member)
#define NUMBER(member) .kind = GPNN_PARAMETERS_NUMBERS, .value = MEMBER(member), .count = 1
#define NUMBERS(member, n) .kind = GPNN_PARAMETERS_NUMBERS, .value = MEMBER(member), .count = (n)
#define LIST(member, n) .kind = GPNN_PARAMETERS_LIST, .value = MEMBER(member), .length = MEMBER(n)
#define COUNT(member, low, high) \
  .kind = GPNN_PARAMETERS_COUNT, .value = MEMBER(member), .least = (low), .most = (high)
#define WORD(member, list)                                                                      \
  .kind = GPNN_PARAMETERS_WORD, .value = MEMBER(member), .size = SIZE(member), .words = (list), \
  .count = sizeof(list) / sizeof *(list)
#define TERM(feature)                                                                    \
  NUMBERS(scale.term[feature], 3), .calibrates = true, .shared = true,                   \
                                   .of = ": a coefficient and the range of its feature", \
                                   .check = check_term
#define OTHER(reading, writing) .read = (reading), .write = (writing)
#define POSITIVE .range = GPNN_PARAMETERS_POSITIVE
#define NON_NEGATIVE .range = GPNN_PARAMETERS_NON_NEGATIVE
#define OF_ROWS .of_rows = true
#define SHARED .shared = true
#define MANY .many = true
#define REQUIRED .required = true
#define CALIBRATES .calibrates = true

_Static_assert(sizeof(struct gpnn_scale_term) == 3 * sizeof(double), "a term is three numbers");
_Static_assert(sizeof(struct gpnn_atom) == 5 * sizeof(double), "an atom is five numbers");
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts and seeds are of one size");

static const struct gpnn_parameters_line lines[] = {
    {"factors", SHARED, MANY, OTHER(gpnn_parameters_read_factors, gpnn_parameters_write_factors)},
    {"factor-mean", SHARED,
     OTHER(gpnn_parameters_read_factor_mean, gpnn_parameters_write_factor_mean)},
    {"family", OF_ROWS, SHARED, WORD(family, families)},
    {"kernel", OF_ROWS, REQUIRED, OTHER(read_kernel, write_kernel)},
    {"input-scores", OF_ROWS, MANY, OTHER(read_sight, write_sight)},
    {"rotation", OF_ROWS, LIST(covariance.rotation, covariance.n_rotation),
     .check = check_rotation},
    {"lengthscale", OF_ROWS, REQUIRED, POSITIVE,
     LIST(covariance.lengthscale, covariance.n_lengthscales), .check = check_lengthscales},
    {"kernelscale", REQUIRED, POSITIVE, NUMBER(covariance.kernelscale)},
    {"noise", REQUIRED, NON_NEGATIVE, NUMBER(covariance.noise)},
    {"effects-unit", OF_ROWS, SHARED, POSITIVE, NUMBER(effects.unit), .is_written = has_effects},
    {"effects", OF_ROWS, SHARED, LIST(effects.variance, effects.n_variances)},
    {"mean", OF_ROWS, WORD(mean.kind, gpnn_mean_names)},
    {"coefficients", OF_ROWS, LIST(mean.coefficients, mean.n_coefficients)},
    {"covariance", OF_ROWS, MANY, OTHER(read_covariance, write_covariance)},
    {"likelihood", CALIBRATES, SHARED, WORD(likelihood, likelihoods)},
    {"scale", CALIBRATES, SHARED, POSITIVE, NUMBER(scale.factor), .check = check_scale},
    {"scale-misfit", TERM(GPNN_SCALE_MISFIT), OF_ROWS},
    {"scale-nearest", TERM(GPNN_SCALE_NEAREST), OF_ROWS},
    {"scale-share", TERM(GPNN_SCALE_SHARE), OF_ROWS},
    {"scale-mean", TERM(GPNN_SCALE_MEAN)},
    {"scale-mean-square", TERM(GPNN_SCALE_MEAN_SQUARE)},
    {"scale-sum", CALIBRATES, SHARED, NUMBERS(scale.low, 2), .check = check_sum,
     .of = ": the range of the sum of these"},
    {"atom", CALIBRATES, OF_ROWS, SHARED, NUMBERS(atom.value, 5), .is_written = has_atom,
     .of = ": the number, its share, an intercept, a slope and a power", .check = check_atom},
    {"inference", OF_ROWS, WORD(inference, inferences)},
    {"omega", OF_ROWS, WORD(omega.is_learnt, omegas), .is_written = has_omega},
    {"link-slope", OF_ROWS, POSITIVE, NUMBER(link.slope)},
    {"link-evidence", OF_ROWS, POSITIVE, NUMBER(link.evidence)},
    {"link-floor", OF_ROWS, POSITIVE, NUMBER(link.floor)},
    {"link-spread", OF_ROWS, POSITIVE, NUMBER(link.spread)},
    {"link-bias", OF_ROWS, LIST(link.bias, link.n_bias)},
    {"dispersion", OF_ROWS, SHARED, POSITIVE, NUMBER(dispersion), .check = check_dispersion},
    {"degrees", CALIBRATES, SHARED, POSITIVE, NUMBER(degrees), .check = check_degrees},
    {"transform", SHARED, MANY, OTHER(read_transform, write_transform)},
    {"neighbours", OF_ROWS, COUNT(neighbours, 1, INT_MAX)},
    {"weight", OF_ROWS, POSITIVE, NUMBER(weight)},
    {"fit-rows", COUNT(provenance.fit_rows, 1, INT64_MAX)},
    {"fit-seed", COUNT(provenance.estimation.seed, 0, UINT64_MAX), .is_written = is_estimated},
    {"fit-objective", MANY, OTHER(read_objective, write_objective), .is_written = is_estimated},
    {"fit-thin", NON_NEGATIVE, NUMBER(provenance.estimation.thin), .is_written = is_estimated,
     .flag = MEMBER(provenance.estimation.has_thin)},
    {"fit-options", MANY, OTHER(read_options, write_options), .is_written = is_estimated},
    {"calibration", CALIBRATES, SHARED, POSITIVE, NUMBER(calibration.factor),
     .flag = MEMBER(calibration.has_factor)},
    {"temperature", SHARED, POSITIVE, NUMBER(calibration.temperature)},
    {"conformal", CALIBRATES, SHARED, MANY, OTHER(read_conformal, write_conformal)},
    {"distances", CALIBRATES, OF_ROWS, SHARED, NON_NEGATIVE,
     NUMBERS(calibration.distance, GPNN_N_DISTANCES), .flag = MEMBER(calibration.has_distance),
     .check = check_distances},
    {"index", CALIBRATES, OTHER(read_index, write_index)},
};
#define N_LINES (sizeof lines / sizeof *lines)

_Static_assert(N_LINES <= GPNN_PARAMETERS_MAX_LINES, "a reader notes which lines it has seen");

const struct gpnn_parameters_line *gpnn_parameters_line_at(size_t i)
{
  return i < N_LINES ? &lines[i] : NULL;
}

/* ---- reading and writing a row of the table -------------------------------------------------- */

/* Reads one number, or exactly as many as there have to be. */
static enum gpnn_status read_numbers(const struct gpnn_parameters_line *line,
                                     struct gpnn_parameters_reader *reader, struct gpnn_span values,
                                     double *to)
{
  double *list = NULL;
  size_t n = 0;
  if (line->count == 1) return read_number(reader, line->name, values, line->range, to);
  enum gpnn_status status = read_list(reader, line->name, values, line->range, &list, &n);
  if (status == GPNN_OK && n != line->count)
    status = gpnn_parameters_refuse(reader, "%s: %zu numbers, not %zu%s", line->name, n,
                                    line->count, line->of == NULL ? "" : line->of);
  if (status == GPNN_OK) memcpy(to, list, n * sizeof *to);
  free(list);
  return status;
}

/* An enumeration, or a bool. */
static enum gpnn_status read_word(const struct gpnn_parameters_line *line,
                                  struct gpnn_parameters_reader *reader, struct gpnn_span word,
                                  void *to)
{
  char shown[GPNN_MASK_BYTES], known[128] = "";
  size_t used = 0;
  for (size_t i = 0; i < line->count; i++) {
    if (line->words[i] == NULL) continue;
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used == 0 ? "" : ", ",
                             line->words[i]);
    if (!gpnn_parameters_is_word(word, line->words[i])) continue;
    if (line->size == sizeof(bool))
      *(bool *)to = i > 0;
    else
      *(unsigned *)to = (unsigned)i;
    return GPNN_OK;
  }
  return gpnn_parameters_refuse(reader, "%s: \"%s\" is not one of %s", line->name,
                                gpnn_mask(shown, word.at, word.length), known);
}

static enum gpnn_status read_values(const struct gpnn_parameters_line *line,
                                    struct gpnn_parameters_reader *reader, struct gpnn_span values)
{
  char *params = (char *)reader->params;
  void *value = params + line->value, *length = params + line->length;
  if (line->flag > 0) *(bool *)(params + line->flag) = true;
  switch (line->kind) {
  case GPNN_PARAMETERS_NUMBERS:
    return read_numbers(line, reader, values, value);
  case GPNN_PARAMETERS_COUNT:
    return read_whole(reader, line->name, values, line->least, line->most, value);
  case GPNN_PARAMETERS_LIST:
    return read_list(reader, line->name, values, line->range, value, length);
  case GPNN_PARAMETERS_WORD:
    return read_word(line, reader, values, value);
  case GPNN_PARAMETERS_OTHER:
    break;
  }
  return line->read(reader, values);
}

enum gpnn_status gpnn_parameters_line_read(const struct gpnn_parameters_line *line,
                                           struct gpnn_parameters_reader *reader,
                                           struct gpnn_span values)
{
  struct gpnn_span rest = values, word = gpnn_parameters_next_word(&rest);
  bool many = line->many || line->kind == GPNN_PARAMETERS_LIST ||
              (line->kind == GPNN_PARAMETERS_NUMBERS && line->count > 1);
  if (line->shared && gpnn_parameters_in_member(reader))
    return gpnn_parameters_refuse(reader, "%s: belongs to the target, above its further members",
                                  line->name);
  if (word.length == 0) return gpnn_parameters_refuse(reader, "%s: has no value", line->name);
  if (!many && gpnn_parameters_next_word(&rest).length > 0)
    return gpnn_parameters_refuse(reader, "%s: more than one value", line->name);
  enum gpnn_status status = read_values(line, reader, many ? values : word);
  return status == GPNN_OK && line->check != NULL ? line->check(reader, line) : status;
}

static unsigned word_at(const struct gpnn_parameters_line *line, const void *value)
{
  return line->size == sizeof(bool) ? *(const bool *)value : *(const unsigned *)value;
}

/* True if parameters have a value for the line that a reader would not assume anyway. */
static bool has_value(const struct gpnn_parameters_line *line, const struct gpnn_parameters *params)
{
  const char *at = (const char *)params;
  const void *value = at + line->value, *length = at + line->length;
  if (line->of_rows && params->grid.n_factors > 0) return false;
  if (line->is_written != NULL && !line->is_written(params)) return false;
  if (line->flag > 0) return *(const bool *)(at + line->flag);
  if (line->required || line->is_written != NULL) return true;
  switch (line->kind) {
  case GPNN_PARAMETERS_NUMBERS:
    return *(const double *)value != 0;
  case GPNN_PARAMETERS_COUNT:
    return *(const uint64_t *)value > 0;
  case GPNN_PARAMETERS_LIST:
    return *(const size_t *)length > 0;
  case GPNN_PARAMETERS_WORD:
    return word_at(line, value) > 0;
  case GPNN_PARAMETERS_OTHER:
    break;
  }
  return true;
}

enum gpnn_status gpnn_parameters_line_write(const struct gpnn_parameters_line *line,
                                            const struct gpnn_parameters *params,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  const void *value = (const char *)params + line->value;
  const void *length = (const char *)params + line->length;
  double *const *list = value;
  if (!has_value(line, params)) return GPNN_OK;
  switch (line->kind) {
  case GPNN_PARAMETERS_NUMBERS:
    return write_list(line->name, line->count, value, output, err);
  case GPNN_PARAMETERS_COUNT:
    return gpnn_output_printf(output, err, "%s\t%" PRIu64 "\n", line->name,
                              *(const uint64_t *)value);
  case GPNN_PARAMETERS_LIST:
    return *(const size_t *)length > 0
               ? write_list(line->name, *(const size_t *)length, *list, output, err)
               : GPNN_OK;
  case GPNN_PARAMETERS_WORD:
    return gpnn_output_printf(output, err, "%s\t%s\n", line->name,
                              line->words[word_at(line, value)]);
  case GPNN_PARAMETERS_OTHER:
    break;
  }
  return line->write(params, output, err);
}
