/* Parameters: what is read, written and read again is the same. */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "kernel/parameters.h"
#include "likelihood/scale.h"

static char *write_all(const struct gpnn_parameters *params, size_t n, size_t *length)
{
  struct gpnn_error err = {0};
  struct gpnn_output *output;
  FUZZ_EXPECT(gpnn_output_open(&output, fuzz_sink(), &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_parameters_write(params, n, output, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_output_close(output, &err) == GPNN_OK);
  return fuzz_drain(length);
}

/* The largest of the numbers that a transform goes by, which rounding is relative to. */
static double largest_of(const struct gpnn_transform *transform)
{
  double largest = 1;
  for (size_t k = 0; k < transform->n_knots; k++)
    largest = fmax(largest, fmax(fabs(transform->value[k]), fabs(transform->score[k])));
  return largest;
}

/* Whatever its numbers, a transform rises, but for rounding, and stays finite. */
static void check_transform(const struct gpnn_transform *transform)
{
  static const double rising[] = {-1e308, -1e9, -1, 0, 1e-300, 1, 2, 1e9, 1e308};
  double before = -INFINITY, inverse_before = -INFINITY, slack = 1e-15 * largest_of(transform);
  if (transform->kind == GPNN_TRANSFORM_NONE) return;
  for (size_t i = 0; i < sizeof rising / sizeof rising[0]; i++) {
    double z = gpnn_transform_apply(transform, rising[i]);
    double y = gpnn_transform_invert(transform, rising[i]);
    FUZZ_EXPECT(isfinite(z) && isfinite(y));
    FUZZ_EXPECT(z >= before - slack && y >= inverse_before - slack);
    before = z;
    inverse_before = y;
  }
}

/* Classes have the whole link, and nothing else has any of it. */
static void check_link(const struct gpnn_link *link, bool has_classes)
{
  const double numbers[] = {link->slope, link->evidence, link->floor, link->spread};
  for (size_t i = 0; i < 4; i++)
    FUZZ_EXPECT(has_classes ? numbers[i] > 0 && isfinite(numbers[i]) : numbers[i] == 0);
  FUZZ_EXPECT((link->n_bias > 0) == has_classes && (link->bias != NULL) == has_classes);
  for (size_t c = 0; c < link->n_bias; c++) FUZZ_EXPECT(isfinite(link->bias[c]));
}

/* A factor has terms with positive numbers, or tasks. */
static void check_factor(const struct gpnn_factor *factor)
{
  FUZZ_EXPECT(gpnn_parameters_can_name_factor(factor->name));
  FUZZ_EXPECT((factor->n_terms > 0) != (factor->n_tasks > 0) && factor->nugget >= 0);
  FUZZ_EXPECT(factor->n_tasks == 0 || (factor->rank > 0 && factor->rank <= factor->n_tasks));
  for (size_t t = 0; t < factor->n_terms; t++) {
    const struct gpnn_factor_term *term = &factor->term[t];
    FUZZ_EXPECT(term->n_lengthscales > 0 && (term->kernel != NULL) == (term->period == 0));
    for (size_t j = 0; j < term->n_lengthscales; j++) FUZZ_EXPECT(term->lengthscale[j] > 0);
  }
  for (size_t i = 0; i < factor->n_tasks; i++) FUZZ_EXPECT(factor->own[i] > 0);
}

/* The parameters of a grid have no kernel but those of its factors. */
static void check_grid(const struct gpnn_parameters *params)
{
  const struct gpnn_grid_process *grid = &params->grid;
  FUZZ_EXPECT(grid->n_factors >= 2 && params->covariance.kernel == NULL &&
              params->neighbours == 0 && params->n_members == 0);
  FUZZ_EXPECT(grid->mean_factor <= grid->n_factors && grid->noise_factor <= grid->n_factors);
  FUZZ_EXPECT((grid->noise_factor > 0) == (grid->n_noise > 0));
  for (size_t a = 0; a < grid->n_factors; a++) check_factor(&grid->factor[a]);
  for (size_t i = 0; i < grid->n_noise; i++) FUZZ_EXPECT(grid->noise[i] > 0);
}

static void check_rows(const struct gpnn_parameters *params)
{
  FUZZ_EXPECT(params->covariance.kernel != NULL && params->covariance.n_lengthscales > 0 &&
              params->neighbours > 0);
  for (size_t j = 0; j < params->covariance.n_lengthscales; j++)
    FUZZ_EXPECT(params->covariance.lengthscale[j] > 0);
}

static void check_member(const struct gpnn_parameters *params)
{
  if (params->grid.n_factors > 0)
    check_grid(params);
  else
    check_rows(params);
  FUZZ_EXPECT(params->covariance.kernelscale > 0 && params->covariance.noise >= 0);
  FUZZ_EXPECT(params->degrees == 0 || params->degrees > 2);
  FUZZ_EXPECT(params->scale.factor == 0 || params->likelihood != GPNN_LIKELIHOOD_GAUSSIAN);
  const struct gpnn_latent_row row = {.mean = 3, .variance = 1, .misfit = 1e3, .nearest = 2};
  double factor = gpnn_scale_factor(&params->scale, &row, params->covariance.noise);
  FUZZ_EXPECT(factor > 0 && isfinite(factor));
  check_transform(&params->transform);
  for (size_t i = 0; i < params->calibration.n_conformal; i++)
    FUZZ_EXPECT(params->calibration.conformal_level[i] > 0 &&
                params->calibration.conformal_level[i] < 1);
}

static void check_values(const struct gpnn_parameters *params)
{
  size_t n = gpnn_parameters_n_members(params);
  bool has_classes = params->likelihood == GPNN_LIKELIHOOD_CATEGORICAL;
  FUZZ_EXPECT(has_classes || params->calibration.temperature == 0);
  double sum = 0;
  for (size_t k = 0; k < n; k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(params, k);
    check_member(member);
    check_link(&member->link, has_classes);
    FUZZ_EXPECT(k == 0 || (member->n_members == 0 && member->degrees == 0));
    FUZZ_EXPECT(gpnn_parameters_weight(params, k) > 0);
    sum += gpnn_parameters_weight(params, k);
  }
  FUZZ_EXPECT(sum > 0.999999 && sum < 1.000001);
}

static bool same_numbers(size_t n, const double *a, const double *b)
{
  if (a == NULL || b == NULL) return a == b;
  return n == 0 || memcmp(a, b, n * sizeof *a) == 0;
}

static void check_same_link(const struct gpnn_link *a, const struct gpnn_link *b)
{
  FUZZ_EXPECT(a->slope == b->slope && a->evidence == b->evidence && a->floor == b->floor &&
              a->spread == b->spread);
  FUZZ_EXPECT(a->n_bias == b->n_bias && same_numbers(a->n_bias, a->bias, b->bias));
}

static void check_same_factor(const struct gpnn_factor *a, const struct gpnn_factor *b)
{
  FUZZ_EXPECT(strcmp(a->name, b->name) == 0 && a->n_terms == b->n_terms &&
              a->n_tasks == b->n_tasks && a->rank == b->rank && a->inputs == b->inputs &&
              a->nugget == b->nugget);
  for (size_t t = 0; t < a->n_terms; t++) {
    const struct gpnn_factor_term *p = &a->term[t], *q = &b->term[t];
    FUZZ_EXPECT(p->kernel == q->kernel && p->smoothness == q->smoothness &&
                p->period == q->period && p->n_lengthscales == q->n_lengthscales);
    FUZZ_EXPECT(same_numbers(p->n_lengthscales, p->lengthscale, q->lengthscale));
  }
  FUZZ_EXPECT(same_numbers(a->n_tasks * a->rank, a->loadings, b->loadings));
  FUZZ_EXPECT(same_numbers(a->n_tasks, a->own, b->own));
}

static void check_same_grid(const struct gpnn_grid_process *a, const struct gpnn_grid_process *b)
{
  FUZZ_EXPECT(a->n_factors == b->n_factors && a->mean_factor == b->mean_factor &&
              a->noise_factor == b->noise_factor && a->n_noise == b->n_noise);
  for (size_t i = 0; i < a->n_factors; i++) check_same_factor(&a->factor[i], &b->factor[i]);
  FUZZ_EXPECT(same_numbers(a->n_noise, a->noise, b->noise));
}

static void check_same_member(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  FUZZ_EXPECT((a->target == NULL) == (b->target == NULL));
  if (a->target != NULL) FUZZ_EXPECT(strcmp(a->target, b->target) == 0);
  FUZZ_EXPECT(a->covariance.kernel == b->covariance.kernel &&
              a->covariance.smoothness == b->covariance.smoothness);
  FUZZ_EXPECT(a->covariance.n_rotation == b->covariance.n_rotation &&
              a->covariance.n_lengthscales == b->covariance.n_lengthscales);
  FUZZ_EXPECT(
      same_numbers(a->covariance.n_rotation, a->covariance.rotation, b->covariance.rotation));
  FUZZ_EXPECT(same_numbers(a->covariance.n_lengthscales, a->covariance.lengthscale,
                           b->covariance.lengthscale));
  FUZZ_EXPECT(a->covariance.kernelscale == b->covariance.kernelscale &&
              a->covariance.noise == b->covariance.noise);
  FUZZ_EXPECT(a->mean.kind == b->mean.kind && a->mean.n_coefficients == b->mean.n_coefficients);
  FUZZ_EXPECT(same_numbers(a->mean.n_coefficients, a->mean.coefficients, b->mean.coefficients));
  FUZZ_EXPECT(same_numbers(a->mean.n_coefficients * a->mean.n_coefficients, a->mean.covariance,
                           b->mean.covariance));
  FUZZ_EXPECT(a->likelihood == b->likelihood && a->scale.factor == b->scale.factor);
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++)
    FUZZ_EXPECT(a->scale.term[j].coefficient == 0 ||
                same_numbers(3, &a->scale.term[j].coefficient, &b->scale.term[j].coefficient));
  check_same_link(&a->link, &b->link);
  check_same_grid(&a->grid, &b->grid);
  FUZZ_EXPECT(a->calibration.temperature == b->calibration.temperature);
  FUZZ_EXPECT(a->degrees == b->degrees && a->neighbours == b->neighbours);
  FUZZ_EXPECT(memcmp(&a->transform, &b->transform, sizeof a->transform) == 0);
  FUZZ_EXPECT(a->calibration.has_factor == b->calibration.has_factor &&
              a->calibration.factor == b->calibration.factor);
  FUZZ_EXPECT(a->calibration.n_conformal == b->calibration.n_conformal);
  FUZZ_EXPECT(same_numbers(a->calibration.n_conformal, a->calibration.conformal_level,
                           b->calibration.conformal_level));
  FUZZ_EXPECT(same_numbers(a->calibration.n_conformal, a->calibration.conformal_width,
                           b->calibration.conformal_width));
  FUZZ_EXPECT(a->calibration.has_distance == b->calibration.has_distance);
  FUZZ_EXPECT(same_numbers(GPNN_N_DISTANCES, a->calibration.distance, b->calibration.distance));
  FUZZ_EXPECT(a->provenance.has_index == b->provenance.has_index &&
              a->provenance.index == b->provenance.index);
  FUZZ_EXPECT(a->weight == b->weight);
  const struct gpnn_estimation *p = &a->provenance.estimation, *q = &b->provenance.estimation;
  if (p->objective == GPNN_OBJECTIVE_NONE) return;
  FUZZ_EXPECT(p->objective == q->objective && p->seed == q->seed && p->k == q->k &&
              p->steps == q->steps && p->n_blocks == q->n_blocks && p->block_size == q->block_size);
  FUZZ_EXPECT(p->has_thin == q->has_thin && p->thin == q->thin &&
              p->fixed_noise == q->fixed_noise && p->learnt_rotation == q->learnt_rotation);
}

static void check_same(const struct gpnn_parameters *a, const struct gpnn_parameters *b)
{
  size_t n = gpnn_parameters_n_members(a);
  FUZZ_EXPECT(n == gpnn_parameters_n_members(b));
  for (size_t k = 0; k < n; k++)
    check_same_member(gpnn_parameters_member(a, k), gpnn_parameters_member(b, k));
}

static void write_and_read(const struct gpnn_parameters *params, size_t n)
{
  struct gpnn_error err = {0};
  struct gpnn_parameters *again = NULL;
  size_t n_again, length, same_length;
  char *text = write_all(params, n, &length);
  const char *path = fuzz_file(1, text, length);
  FUZZ_EXPECT(gpnn_parameters_read(&again, &n_again, path, &err) == GPNN_OK);
  FUZZ_EXPECT(n_again == n);
  for (size_t i = 0; i < n; i++) check_same(&params[i], &again[i]);
  char *same = write_all(again, n, &same_length);
  FUZZ_EXPECT(length == same_length && memcmp(text, same, length) == 0);
  gpnn_parameters_free(again, n);
  free(text);
  free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  struct gpnn_error err = {0};
  struct gpnn_parameters *params = NULL;
  size_t n = 0;
  if (length > 1 << 16) return 0;
  enum gpnn_status status = gpnn_parameters_read(&params, &n, fuzz_file(0, bytes, length), &err);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    FUZZ_EXPECT(params == NULL);
    return 0;
  }
  FUZZ_EXPECT(n > 0);
  for (size_t i = 0; i < n; i++) check_values(&params[i]);
  write_and_read(params, n);
  gpnn_parameters_free(params, n);
  return 0;
}
