/* Effects of groups besides a process, against the joint process of dense matrices. */
#include "estimate/group_effects.h"

#include "base/memory.h"
#include "base/rng.h"
#include "kernel/effects.h"
#include "linalg/factors/cholesky.h"
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

/* The covariance of the effects of two rows of one group. */
static double group_variance(const struct rows *r, const double *a, const double *b)
{
  const struct gpnn_effects *effects = &r->params.effects;
  double own = effects->variance[0];
  if (r->effect.has_slope)
    own += (a[0] + b[0]) * effects->variance[1] + a[0] * b[0] * effects->variance[2];
  return effects->unit * own;
}

/* The covariance of the function with effects and fixed part at two rows. */
static double covariance(const struct rows *r, const double *a, const double *b)
{
  static const double prior = 1e4; /* of the fixed part */
  const struct gpnn_effects *effects = &r->params.effects;
  const struct gpnn_covariance *c = &r->params.covariance;
  double distance = fabs(a[0] - b[0]) / r->lengthscale[0], root = sqrt(3) * distance;
  return c->kernelscale * (1 + root) * exp(-root) + effects->unit * prior +
         (a[1] == b[1] ? group_variance(r, a, b) : 0);
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
  /* What a fifth group has is known from four: t with 3 degrees of freedom. */
  if (x[1] == 0) *variance += 2 * group_variance(r, x, x);
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

/* ---- one by one ------------------------------------------------------------------------------ */

/* Mean and variance of the intercept or slope of a group, given all training rows. */
static void know_densely(const struct rows *r, size_t g, bool is_slope, double *mean,
                         double *variance)
{
  const struct gpnn_effects *effects = &r->params.effects;
  const double *own = effects->variance;
  double k[N * N], w[N], at[N], jitter;
  for (size_t i = 0; i < N; i++) {
    const double *x = r->x + i * D;
    for (size_t j = 0; j < N; j++)
      k[j * N + i] = covariance(r, x, r->x + j * D) + (i == j ? r->params.covariance.noise : 0);
    double shared =
        is_slope ? own[1] + x[0] * own[2] : own[0] + (r->effect.has_slope ? x[0] * own[1] : 0);
    at[i] = w[i] = i % G == g ? effects->unit * shared : 0;
  }
  assert_ok(gpnn_cholesky_factor(N, k, NULL, 1, NULL, NULL, &jitter, &err));
  gpnn_cholesky_solve(N, k, w);
  *mean = 0;
  *variance = effects->unit * own[is_slope ? 2 : 0];
  for (size_t i = 0; i < N; i++) {
    *mean += w[i] * r->y[i];
    *variance -= w[i] * at[i];
  }
}

static void check_list(bool has_slope)
{
  const double y_sd = 2.5, weight[] = {0.4, 1};
  struct rows r;
  struct gpnn_effect_entry *entries = NULL;
  size_t n = 0, at = 0;
  rows_init(&r, has_slope);
  estimate(&r);
  r.data.scaling.y_sd = y_sd;
  r.data.scaling.weight = (double *)(uintptr_t)weight;
  assert_ok(gpnn_effects_list(&r.data, &r.params.effects, &entries, &n, &err));
  assert_int_equal(n, has_slope ? 2 * G : G);
  for (size_t g = 0; g < G; g++)
    for (int is_slope = 0; is_slope <= has_slope; is_slope++, at++) {
      double mean, variance, unit = y_sd * (is_slope ? weight[0] : 1);
      know_densely(&r, g, is_slope, &mean, &variance);
      assert_true(entries[at].effect == 0 && entries[at].levels[0] == g);
      assert_int_equal(entries[at].is_slope, is_slope);
      assert_int_equal(entries[at].n_rows, N / G);
      assert_close(entries[at].estimate, unit * mean, 1e-6);
      assert_close(entries[at].sd, unit * sqrt(variance), 1e-6);
    }
  free(entries);
  gpnn_effects_release(&r.params.effects);
}

static void the_list_has_what_the_joint_process_knows_of_each_group(void **state)
{
  (void)state;
  check_list(false);
  check_list(true);
}

/* Keys may come from a damaged file. */
static void groups_of_levels_that_there_are_not_are_found_out(void **state)
{
  (void)state;
  static const double keys[] = {0,           5,     1.0 * 0x1p17, 0x1p17 + 5, 5 * 0x1p17 + 1,
                                -0x1p17 - 1, 0x1p51};
  struct rows r;
  rows_init(&r, false);
  r.effect = (struct gpnn_group_effect){.n_columns = 2, .columns = {1, 1}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    struct gpnn_effect_design design = {0};
    size_t levels[GPNN_EFFECT_CROSSED];
    const double key[] = {2 * 0x1p17 + 4, keys[i]};
    const uint64_t n_keys = 2;
    assert_ok(gpnn_effect_design_make(&design, &r.data, false, key, &n_keys, &err));
    assert_true(gpnn_effect_group_levels(&design, &r.data.schema, 0, 0, levels));
    assert_true(levels[0] == 1 && levels[1] == 3);
    assert_false(gpnn_effect_group_levels(&design, &r.data.schema, 0, 1, levels));
    gpnn_effect_design_release(&design);
  }
}

/* Effects of another index, or without their values, are refused. */
static void the_list_is_of_the_effects_that_the_dataset_has(void **state)
{
  (void)state;
  struct rows r;
  struct gpnn_effect_entry *entries = NULL;
  size_t n = 0;
  rows_init(&r, false);
  assert_fails(gpnn_effects_list(&r.data, &r.params.effects, &entries, &n, &err), GPNN_EMISMATCH,
               "which this text lacks");
  estimate(&r);
  r.inputs[1].n_levels = G + 1;
  assert_fails(gpnn_effects_list(&r.data, &r.params.effects, &entries, &n, &err), GPNN_EMISMATCH,
               "those of another index");
  r.data.schema.n_effects = 0;
  assert_fails(gpnn_effects_list(&r.data, &r.params.effects, &entries, &n, &err), GPNN_EMISMATCH,
               "other group effects");
  assert_null(entries);
  gpnn_effects_release(&r.params.effects);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_joint_process),
      cmocka_unit_test(predictions_are_those_of_the_joint_process_with_slopes),
      cmocka_unit_test(the_list_has_what_the_joint_process_knows_of_each_group),
      cmocka_unit_test(groups_of_levels_that_there_are_not_are_found_out),
      cmocka_unit_test(the_list_is_of_the_effects_that_the_dataset_has),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
