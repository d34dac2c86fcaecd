/* Effects of groups besides a process, against the joint process of dense matrices. */
#include "estimate/group_effects.h"

#include "base/memory.h"
#include "base/rng.h"
#include "kernel/effects.h"
#include "linalg/cholesky.h"
#include "models.h"
#include "models/heldout.h"
#include "table/schema.h"
#include "unit.h"

enum { N = 16, G = 4, D = 2 };

/* Rows with one input and one of four groups; a fifth is unseen. */
struct rows {
  double x[N * D], y[N];
  uint32_t group[D];
  struct gpnn_coordinate coordinates[D];
  struct gpnn_column inputs[D];
  struct gpnn_group_effect effect;
  struct gpnn_dataset data;
  double lengthscale[D];
  struct gpnn_parameters params;
  double pseudo[N];
};

static void rows_init(struct rows *r, bool has_slope)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  *r = (struct rows){.group = {0, 1}, .lengthscale = {0.8, 0.8}};
  for (size_t i = 0; i < N; i++) {
    size_t g = i % G;
    r->x[i * D] = gpnn_rng_normal(&rng);
    r->x[i * D + 1] = (double)(g + 1) * GPNN_EFFECT_UNIT;
    r->y[i] = 1.5 * (double)g - 2 + (has_slope ? (double)(g % 2) * r->x[i * D] : 0) +
              0.3 * sin(2 * r->x[i * D]) + 0.2 * gpnn_rng_normal(&rng);
  }
  r->coordinates[1] = (struct gpnn_coordinate){.input = 1, .feature = 1, .group = 1};
  r->inputs[0] = (struct gpnn_column){.name = (char *)(uintptr_t) "x"};
  r->inputs[1] = (struct gpnn_column){
      .name = (char *)(uintptr_t) "g", .kind = GPNN_COLUMN_EFFECT, .n_levels = G, .position = 1};
  r->effect = (struct gpnn_group_effect){.n_columns = 1, .columns = {1}, .has_slope = has_slope};
  r->data = (struct gpnn_dataset){.n = N,
                                  .d = D,
                                  .n_groups = D,
                                  .group = r->group,
                                  .coordinates = r->coordinates,
                                  .x = r->x,
                                  .y = r->y};
  r->data.schema = (struct gpnn_schema){.n_inputs = D,
                                        .inputs = r->inputs,
                                        .target.name = (char *)(uintptr_t) "y",
                                        .n_effects = 1,
                                        .effects = &r->effect};
  r->data.scaling = (struct gpnn_scaling){.n_in = D, .n_out = D, .y_sd = 1};
  r->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = 1,
                                       .covariance.lengthscale = r->lengthscale,
                                       .covariance.kernelscale = 0.4,
                                       .covariance.noise = 0.1,
                                       .neighbours = N};
}

/* Estimates the effects under the process, given all rows before each. */
static void estimate(struct rows *r)
{
  const struct gpnn_group_effects_options options = {1, 1};
  struct gpnn_group_effects_report report;
  double *covariance = NULL;
  assert_ok(gpnn_group_effects_begin(&r->data, r->pseudo, &covariance, &err));
  assert_ok(
      gpnn_group_effects_end(&r->data, &options, covariance, &r->params, r->pseudo, &report, &err));
  free(covariance);
  assert_true(report.has_process && report.neighbours == N - 1);
}

/* The covariance of the function with effects and fixed part at two rows. */
static double covariance(const struct rows *r, const double *a, const double *b)
{
  static const double prior = 1e4; /* of the fixed part */
  const struct gpnn_effects *effects = &r->params.effects;
  const struct gpnn_covariance *c = &r->params.covariance;
  double distance = fabs(a[0] - b[0]) / r->lengthscale[0], root = sqrt(3) * distance;
  double own = effects->variance[0];
  if (r->effect.has_slope)
    own += (a[0] + b[0]) * effects->variance[1] + a[0] * b[0] * effects->variance[2];
  return c->kernelscale * (1 + root) * exp(-root) +
         effects->unit * (prior + (a[1] == b[1] ? own : 0));
}

/* Mean and variance of the function at a row given all training rows but one (N: none). */
static void predict_densely(const struct rows *r, const double *x, size_t but, double *mean,
                            double *variance)
{
  double k[N * N], w[N], at[N], y[N];
  size_t n = 0, row[N];
  for (size_t i = 0; i < N; i++)
    if (i != but) row[n++] = i;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      k[j * n + i] = covariance(r, r->x + row[i] * D, r->x + row[j] * D) +
                     (i == j ? r->params.covariance.noise : 0);
    at[i] = w[i] = covariance(r, r->x + row[i] * D, x);
    y[i] = r->y[row[i]];
  }
  double jitter;
  assert_ok(gpnn_cholesky_factor(n, k, NULL, 1, NULL, NULL, &jitter, &err));
  gpnn_cholesky_solve(n, k, w);
  *mean = 0;
  *variance = covariance(r, x, x);
  for (size_t i = 0; i < n; i++) {
    *mean += w[i] * y[i];
    *variance -= w[i] * at[i];
  }
}

/* Compares the model's predictions of a row with those of dense matrices. */
static void compare(const struct rows *r, const struct gpnn_model *model, const double *x,
                    int64_t self)
{
  double mean, variance, wanted, wanted_variance;
  struct gpnn_counts counts = {0};
  const struct gpnn_query query = {.n = 1, .x = x, .self = &self};
  const struct gpnn_latent latent = {.mean = &mean, .variance = &variance};
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
  predict_densely(r, x, self < 0 ? N : (size_t)self, &wanted, &wanted_variance);
  assert_close(mean, wanted, 1e-6);
  assert_close(variance, wanted_variance, 1e-6);
}

static void check(bool has_slope)
{
  struct rows r;
  struct gpnn_model *model = NULL;
  rows_init(&r, has_slope);
  estimate(&r);
  struct gpnn_dataset view = r.data;
  view.observed = r.y;
  view.y = r.pseudo;
  assert_ok(make_model(&model, &view, &r.params, 0, 1, &err));
  const double rows[][D] = {{0.3, GPNN_EFFECT_UNIT}, {-1.2, 3 * GPNN_EFFECT_UNIT}, {0.7, 0}};
  for (size_t i = 0; i < 3; i++) compare(&r, model, rows[i], -1);
  for (size_t i = 0; i < N; i++) compare(&r, model, r.x + i * D, (int64_t)i);
  gpnn_model_free(model);
  gpnn_effects_release(&r.params.effects);
}

static void predictions_are_those_of_the_joint_process(void **state)
{
  (void)state;
  check(false);
}

static void predictions_are_those_of_the_joint_process_with_slopes(void **state)
{
  (void)state;
  check(true);
}

/* Lists the effects, and compares them with the posterior that is stored. */
static void effects_are_listed_with_their_uncertainty(void **state)
{
  (void)state;
  struct rows r;
  struct gpnn_effect_entry *entries = NULL;
  size_t n = 0;
  rows_init(&r, true);
  r.data.scaling.y_sd = 3;
  estimate(&r);
  const struct gpnn_effect_posterior *posterior = r.params.effects.posterior;
  double *scratch = gpnn_alloc(gpnn_sparse_factor_scratch(&posterior->factor), 1, sizeof *scratch);
  assert_non_null(scratch);
  assert_ok(gpnn_effects_list(&r.data, &r.params.effects, &entries, &n, &err));
  assert_int_equal(n, 2 * G);
  for (size_t i = 0; i < n; i++) {
    const uint32_t column = (uint32_t)(1 + i);
    const double one = 1;
    double variance = r.params.effects.unit *
                      gpnn_sparse_factor_form(&posterior->factor, 1, &column, &one, scratch);
    assert_int_equal(entries[i].levels[0], i / 2);
    assert_int_equal(entries[i].is_slope, i % 2);
    assert_int_equal(entries[i].n_rows, N / G);
    assert_close(entries[i].estimate, 3 * posterior->mean[column], 1e-12);
    assert_close(entries[i].sd, 3 * sqrt(variance), 1e-9);
  }
  free(scratch);
  free(entries);
  gpnn_effects_release(&r.params.effects);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_joint_process),
      cmocka_unit_test(predictions_are_those_of_the_joint_process_with_slopes),
      cmocka_unit_test(effects_are_listed_with_their_uncertainty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
