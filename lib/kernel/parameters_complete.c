/*
 * Checks of a whole block of parameters.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "kernel/parameters_private.h"
#include "linalg/blas.h"

static const struct gpnn_parameters *last_target(const struct gpnn_parameters_reader *reader)
{
  return &reader->blocks[reader->n_blocks - 1];
}

bool gpnn_parameters_in_member(const struct gpnn_parameters_reader *reader)
{
  return reader->params != last_target(reader);
}

/* "target "x", member 2: " or less, as far as it is needed to say which block is meant. */
static void name_block(const struct gpnn_parameters_reader *reader, size_t size, char *name)
{
  char shown[GPNN_MASK_BYTES];
  const struct gpnn_parameters *target = last_target(reader);
  bool named = target->target != NULL, member = gpnn_parameters_in_member(reader);
  int used = 0;
  name[0] = '\0';
  if (named)
    used = snprintf(name, size, "target \"%s\"%s",
                    gpnn_mask(shown, target->target, strlen(target->target)), member ? ", " : ": ");
  if (member) snprintf(name + used, size - (size_t)used, "member %zu: ", target->n_members + 1);
}

enum gpnn_status gpnn_parameters_refuse_block(struct gpnn_parameters_reader *reader,
                                              const char *format, ...)
{
  char what[256], block[GPNN_MASK_BYTES + 64];
  va_list args;
  va_start(args, format);
  vsnprintf(what, sizeof what, format, args);
  va_end(args);
  name_block(reader, sizeof block, block);
  return gpnn_fail(reader->err, GPNN_EDATA, "%s: %s%s", reader->name, block, what);
}

/* True if 'v' of order p can be a covariance matrix: its correlations are positive definite once
 * the diagonal is raised a little.  'r' is scratch of the same size. */
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

/* With an invalid covariance matrix, predictions could have negative variances. */
static enum gpnn_status check_covariance(struct gpnn_parameters_reader *reader, size_t p,
                                         const double *v)
{
  double *r = gpnn_alloc(p, p, sizeof *r);
  if (r == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  bool good = is_covariance(p, v, r);
  free(r);
  return good ? GPNN_OK
              : gpnn_parameters_refuse_block(
                    reader,
                    "covariance: some combination of the coefficients has a negative variance");
}

/* Replaces the lower triangle by the full matrix. */
static enum gpnn_status fill_covariance(struct gpnn_parameters_reader *reader)
{
  struct gpnn_parameters *params = reader->params;
  size_t p = params->mean.n_coefficients, wanted = 0, k = 0;
  if (reader->n_covariance == 0) return GPNN_OK;
  if (!gpnn_multiply(p, p + 1, &wanted) || wanted / 2 != reader->n_covariance)
    return gpnn_parameters_refuse_block(
        reader, "covariance: %zu numbers, the lower triangle of %zu coefficients has %zu",
        reader->n_covariance, p, wanted / 2);
  double *full = gpnn_alloc(p, p, sizeof *full);
  if (full == NULL) return gpnn_fail_memory(reader->err, "for the parameters");
  for (size_t i = 0; i < p; i++)
    for (size_t j = 0; j <= i; j++)
      full[i * p + j] = full[j * p + i] = params->mean.covariance[k++];
  free(params->mean.covariance);
  params->mean.covariance = full;
  for (size_t i = 0; i < p; i++)
    if (full[i * p + i] < 0)
      return gpnn_parameters_refuse_block(reader, "covariance: a variance is negative");
  return check_covariance(reader, p, full);
}

static enum gpnn_status check_mean(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters *params = reader->params;
  size_t p = params->mean.n_coefficients;
  const char *mean = gpnn_mean_names[params->mean.kind];
  if (params->mean.kind == GPNN_MEAN_ZERO && p > 0)
    return gpnn_parameters_refuse_block(reader, "coefficients: a mean of zero has none");
  if (params->mean.kind == GPNN_MEAN_ZERO && reader->n_covariance > 0)
    return gpnn_parameters_refuse_block(reader, "covariance: given without coefficients");
  if (params->mean.kind != GPNN_MEAN_ZERO && p == 0)
    return gpnn_parameters_refuse_block(reader, "mean: %s without coefficients", mean);
  if (params->mean.kind == GPNN_MEAN_CONSTANT && p != 1)
    return gpnn_parameters_refuse_block(reader,
                                        "coefficients: %zu of them, a constant mean has one", p);
  return GPNN_OK;
}

static enum gpnn_status check_effects(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_effects *effects = &reader->params->effects;
  if ((effects->unit > 0) == (effects->n_variances > 0)) return GPNN_OK;
  return gpnn_parameters_refuse_block(reader, effects->unit > 0 ? "effects-unit: without effects"
                                                                : "effects: without effects-unit");
}

/* A line that the likelihood would ignore is a mistake. */
static enum gpnn_status check_scale(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters *params = reader->params;
  bool has_term = params->scale.low != params->scale.high;
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++)
    has_term = has_term || params->scale.term[j].coefficient != 0;
  if (has_term && params->likelihood != GPNN_LIKELIHOOD_LOCAL)
    return gpnn_parameters_refuse_block(
        reader, "the scale depends on the row, which needs likelihood local");
  if (params->scale.factor > 0 && params->likelihood == GPNN_LIKELIHOOD_GAUSSIAN)
    return gpnn_parameters_refuse_block(reader, "scale: needs likelihood student or local");
  if (params->atom.share > 0 && params->likelihood != GPNN_LIKELIHOOD_STUDENT &&
      params->likelihood != GPNN_LIKELIHOOD_LOCAL)
    return gpnn_parameters_refuse_block(reader, "atom: needs likelihood student or local");
  if (params->atom.share > 0 && (params->family != GPNN_FAMILY_NONE || params->grid.n_factors > 0))
    return gpnn_parameters_refuse_block(reader, "atom: needs training rows to predict from");
  return GPNN_OK;
}

/* Polya-Gamma variables are those of classes, with a mean of zero and without a link. */
static enum gpnn_status check_inference(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters *params = reader->params;
  if (params->inference == GPNN_INFERENCE_LINK)
    return params->omega.is_learnt
               ? gpnn_parameters_refuse_block(reader, "omega: needs inference polya-gamma")
               : GPNN_OK;
  if (last_target(reader)->likelihood != GPNN_LIKELIHOOD_CATEGORICAL)
    return gpnn_parameters_refuse_block(reader,
                                        "inference polya-gamma needs likelihood categorical");
  if (params->link.slope > 0 || params->link.evidence > 0 || params->link.floor > 0 ||
      params->link.spread > 0 || params->link.n_bias > 0)
    return gpnn_parameters_refuse_block(reader, "inference polya-gamma has no link");
  if (params->mean.kind != GPNN_MEAN_ZERO)
    return gpnn_parameters_refuse_block(reader, "inference polya-gamma has a mean of zero");
  if (params->covariance.rotation != NULL)
    return gpnn_parameters_refuse_block(reader, "inference polya-gamma has no rotation");
  return GPNN_OK;
}

/* Classes need the whole link, and nothing else has one. */
static enum gpnn_status check_link(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_link *link = &reader->params->link;
  bool some = link->slope > 0 || link->evidence > 0 || link->floor > 0 || link->spread > 0 ||
              link->n_bias > 0;
  bool all = link->slope > 0 && link->evidence > 0 && link->floor > 0 && link->spread > 0 &&
             link->n_bias > 0;
  bool is_categorical = last_target(reader)->likelihood == GPNN_LIKELIHOOD_CATEGORICAL;
  if (is_categorical && reader->params->inference == GPNN_INFERENCE_LINK && !all)
    return gpnn_parameters_refuse_block(
        reader, "likelihood categorical needs link-slope, link-evidence, link-floor, "
                "link-spread and link-bias");
  if (!is_categorical && some)
    return gpnn_parameters_refuse_block(reader, "the lines of a link need likelihood categorical");
  if (!is_categorical && reader->params->calibration.temperature > 0)
    return gpnn_parameters_refuse_block(reader, "temperature: needs likelihood categorical");
  return GPNN_OK;
}

/* Counts have a dispersion where their likelihood does, and nothing that is for numbers. */
static enum gpnn_status check_counts(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters *params = reader->params, *target = last_target(reader);
  bool is_negbin = target->likelihood == GPNN_LIKELIHOOD_NEGBIN;
  if (params->dispersion > 0 && !is_negbin)
    return gpnn_parameters_refuse_block(reader, "dispersion: needs likelihood negbin");
  if (!gpnn_likelihood_is_of_counts(target->likelihood)) return GPNN_OK;
  if (is_negbin && target->dispersion == 0)
    return gpnn_parameters_refuse_block(reader, "likelihood negbin needs dispersion");
  if (params != target)
    return gpnn_parameters_refuse_block(reader, "counts are not predicted by several members");
  if (params->transform.kind != GPNN_TRANSFORM_NONE)
    return gpnn_parameters_refuse_block(reader, "transform: counts have none");
  if (params->degrees > 0) return gpnn_parameters_refuse_block(reader, "degrees: counts have none");
  return GPNN_OK;
}

/* Predictions of members that know different training rows must not be averaged. */
static enum gpnn_status check_index(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_provenance *first = &last_target(reader)->provenance;
  const struct gpnn_provenance *own = &reader->params->provenance;
  if (!own->has_index || (first->has_index && own->index == first->index)) return GPNN_OK;
  if (!first->has_index)
    return gpnn_parameters_refuse_block(reader, "has an index, but member 1 has none");
  return gpnn_parameters_refuse_block(reader,
                                      "made from index %016" PRIx64
                                      ", but member 1 from %016" PRIx64
                                      ": members must come from one index",
                                      own->index, first->index);
}

/* Lines that a block about rows needs are not allowed in one about a grid. */
static enum gpnn_status check_lines(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters_line *line;
  bool is_grid = reader->n_factors > 0;
  for (size_t i = 0; (line = gpnn_parameters_line_at(i)) != NULL; i++) {
    bool absent = is_grid && line->of_rows;
    if (absent && reader->seen[i])
      return gpnn_parameters_refuse_block(reader,
                                          "%s: belongs to parameters of rows, but the line factors "
                                          "makes these those of a grid",
                                          line->name);
    if (!absent && line->required && !reader->seen[i])
      return gpnn_parameters_refuse_block(reader, "%s is missing", line->name);
  }
  return GPNN_OK;
}

/* A grid has one process, and what is observed there is a number. */
static enum gpnn_status check_grid(struct gpnn_parameters_reader *reader)
{
  const struct gpnn_parameters *target = last_target(reader);
  if (target->grid.n_factors == 0) return GPNN_OK;
  if (gpnn_parameters_in_member(reader))
    return gpnn_parameters_refuse_block(reader, "a grid is not predicted by several members");
  if (target->likelihood == GPNN_LIKELIHOOD_GAUSSIAN ||
      target->likelihood == GPNN_LIKELIHOOD_STUDENT || target->likelihood == GPNN_LIKELIHOOD_LOCAL)
    return GPNN_OK;
  return gpnn_parameters_refuse_block(reader,
                                      "the likelihood of a grid is gaussian, student or local");
}

/* Families predict numbers, each by one model, and from no neighbours. */
static enum gpnn_status check_family(struct gpnn_parameters_reader *reader)
{
  struct gpnn_parameters *target = &reader->blocks[reader->n_blocks - 1];
  if (target->family == GPNN_FAMILY_NONE) return GPNN_OK;
  if (gpnn_parameters_in_member(reader))
    return gpnn_parameters_refuse_block(reader, "a family is not one of several members");
  if (target->likelihood == GPNN_LIKELIHOOD_CATEGORICAL ||
      gpnn_likelihood_is_of_counts(target->likelihood))
    return gpnn_parameters_refuse_block(reader,
                                        "the likelihood of a family is gaussian, student or local");
  if (target->transform.kind != GPNN_TRANSFORM_NONE)
    return gpnn_parameters_refuse_block(reader, "transform: a family has none");
  if (target->covariance.n_rotation > 0)
    return gpnn_parameters_refuse_block(reader, "rotation: a family has none");
  if (target->mean.kind != GPNN_MEAN_ZERO)
    return gpnn_parameters_refuse_block(reader, "mean: that of a family is zero");
  target->neighbours = 0;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_complete_calibration(struct gpnn_parameters_reader *reader)
{
  if (reader->n_seen == 0) return gpnn_parameters_refuse_block(reader, "no calibration");
  return check_scale(reader);
}

enum gpnn_status gpnn_parameters_complete(struct gpnn_parameters_reader *reader)
{
  enum gpnn_status status = check_lines(reader);
  if (status == GPNN_OK) status = gpnn_parameters_complete_factors(reader);
  if (status == GPNN_OK) status = check_grid(reader);
  if (status == GPNN_OK) status = check_family(reader);
  if (status != GPNN_OK) return status;
  if (!gpnn_parameters_can_have(reader->params->covariance.kernelscale,
                                reader->params->covariance.noise))
    return gpnn_parameters_refuse_block(reader, "kernelscale and noise are too large to add");
  if (gpnn_parameters_in_member(reader) && reader->params->weight == 0)
    return gpnn_parameters_refuse_block(reader, "weight is missing");
  status = check_mean(reader);
  if (status == GPNN_OK) status = check_effects(reader);
  if (status == GPNN_OK) status = check_scale(reader);
  if (status == GPNN_OK) status = check_inference(reader);
  if (status == GPNN_OK) status = check_link(reader);
  if (status == GPNN_OK) status = check_counts(reader);
  if (status == GPNN_OK) status = fill_covariance(reader);
  return status == GPNN_OK ? check_index(reader) : status;
}

enum gpnn_status gpnn_parameters_complete_target(struct gpnn_parameters_reader *reader)
{
  const double rounding = 1e-3;
  const struct gpnn_parameters *target = last_target(reader);
  size_t n = gpnn_parameters_n_members(target);
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += gpnn_parameters_member(target, k)->weight;
  reader->params = &reader->blocks[reader->n_blocks - 1]; /* the messages concern all members */
  if (n > 1 && target->weight == 0)
    return gpnn_parameters_refuse_block(reader, "weight of member 1 is missing");
  if ((n == 1 && target->weight == 0) || fabs(sum - 1) <= rounding) return GPNN_OK;
  if (n == 1) return gpnn_parameters_refuse_block(reader, "weight: %g, the only member has 1", sum);
  return gpnn_parameters_refuse_block(reader, "the weights of %zu members sum to %g, not to 1", n,
                                      sum);
}
