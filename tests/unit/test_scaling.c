#include <float.h>

#include "base/rng.h"
#include "dataset/scaling.h"
#include "random.h"
#include "source.h"
#include "table/schema.h"

enum { N = 500, D = 3 };

/* Correlated columns of different units, one of them far from zero; y depends on them. */
static void make_rows(double *x, double *y)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double a = gpnn_rng_normal(&rng), b = gpnn_rng_normal(&rng), c = gpnn_rng_normal(&rng);
    x[i * D] = 1e6 + a;
    x[i * D + 1] = 20 * (a + b);
    x[i * D + 2] = 1e-2 * (b - c);
    y[i] = 7 + 3 * c;
  }
}

/* Population covariance of columns j and k of z, n by d, computed plainly. */
static double covariance_of(size_t n, size_t d, const double *z, size_t j, size_t k)
{
  double mean_j = 0, mean_k = 0, sum = 0;
  for (size_t i = 0; i < n; i++) {
    mean_j += z[i * d + j] / (double)n;
    mean_k += z[i * d + k] / (double)n;
  }
  for (size_t i = 0; i < n; i++) sum += (z[i * d + j] - mean_j) * (z[i * d + k] - mean_k);
  return sum / (double)n;
}

static void scaled_columns_have_variance_one_over_d(void **state)
{
  (void)state;
  double x[N * D], y[N], z[N * D];
  struct gpnn_scaling scaling = {0};
  make_rows(x, y);
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, D);
  for (size_t i = 0; i < N; i++) gpnn_scaling_apply(&scaling, x + i * D, z + i * D);
  for (size_t j = 0; j < D; j++) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += z[i * D + j] / N;
    assert_near(mean, 0, 1e-9);
    assert_close(covariance_of(N, D, z, j, j), 1.0 / D, 1e-9);
  }
  double squares = covariance_of(N, 1, y, 0, 0);
  assert_close(scaling.y_sd, sqrt(squares), 1e-12);
  gpnn_scaling_apply(&scaling, x, x); /* in place */
  assert_memory_equal(x, z, D * sizeof *x);
  gpnn_scaling_release(&scaling);
  assert_null(scaling.mean);
}

static void whitened_columns_have_covariance_one_over_d(void **state)
{
  (void)state;
  double x[N * D], y[N], z[N * D];
  struct gpnn_scaling scaling = {0};
  make_rows(x, y);
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 0, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, D);
  for (size_t i = 0; i < N; i++) gpnn_scaling_apply(&scaling, x + i * D, z + i * D);
  for (size_t j = 0; j < D; j++)
    for (size_t k = 0; k < D; k++)
      assert_near(covariance_of(N, D, z, j, k), j == k ? 1.0 / D : 0, 1e-6);
  gpnn_scaling_release(&scaling);
}

/* Two uncorrelated columns of variance 4 and 1: W is known in closed form. */
static void whitening_damps_by_eps(void **state)
{
  (void)state;
  const double x[] = {2, 1, 2, -1, -2, 1, -2, -1}, y[] = {0, 1, 2, 3}, eps = 0.5;
  struct gpnn_scaling scaling = {0};
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, eps, 4, 2, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, 2);
  double small = 1 / sqrt(1 + eps) / sqrt(2), large = 1 / sqrt(4 + eps) / sqrt(2);
  const double expected[] = {0, small, large, 0};
  for (size_t i = 0; i < 4; i++) assert_near(scaling.weight[i], expected[i], 1e-15);
  assert_near(scaling.eps, eps, 0);
  gpnn_scaling_release(&scaling);
}

static void whitening_drops_dependent_directions(void **state)
{
  (void)state;
  double x[N * D], y[N], z[2];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D + 2] = 0.5 * x[i * D + 1];
  for (size_t i = 0; i < N; i++) x[i * D] -= 1e6;
  struct gpnn_scaling scaling = {0};
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_in, D);
  assert_int_equal(scaling.n_out, 2);
  gpnn_scaling_apply(&scaling, x, z);
  assert_true(isfinite(z[0]) && isfinite(z[1]));
  gpnn_scaling_release(&scaling);
}

static void whitening_keeps_columns_of_very_different_units(void **state)
{
  (void)state;
  double x[N * D], y[N];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D] *= 1e7;
  struct gpnn_scaling scaling = {0};
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 1e-5, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, D);
  gpnn_scaling_release(&scaling);
}

static void constant_columns_are_dropped_under_scale(void **state)
{
  (void)state;
  double x[N * D], y[N], z[2];
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) x[i * D + 1] = 0.1;
  struct gpnn_scaling scaling = {0};
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, 2);
  assert_true(scaling.weight[1] == 0);
  gpnn_scaling_apply(&scaling, x, z);
  double sd = sqrt(covariance_of(N, D, x, 2, 2));
  assert_close(scaling.weight[2], 1 / (sqrt(2) * sd), 1e-9);
  assert_close(z[1], (x[2] - scaling.mean[2]) * scaling.weight[2], 1e-15);
  gpnn_scaling_release(&scaling);
}

static void rounding_errors_are_not_variation(void **state)
{
  (void)state;
  double x[4] = {1e9, 1e9, nextafter(1e9, 2e9), 1e9}, y[4] = {1, 2, 3, 4};
  struct gpnn_scaling scaling = {0};
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 4, 1, NULL, x, y, &err),
               GPNN_EDATA, "no input varies");
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 0, 4, 1, NULL, x, y, &err),
               GPNN_EDATA, "no input varies");
  assert_null(scaling.mean);
}

static void extreme_magnitudes_survive_scaling(void **state)
{
  (void)state;
  const double y[] = {1e200, 2e200, 3e200, 4e200};
  const double x[] = {1e150, 1e-150, 2e150, 2e-150, 3e150, 3e-150, 4e150, 4e-150};
  struct gpnn_scaling scaling = {0};
  double z[2];
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 4, 2, NULL, x, y, &err));
  assert_close(scaling.y_sd, sqrt(1.25) * 1e200, 1e-14);
  gpnn_scaling_apply(&scaling, x, z);
  assert_close(z[0], -1.5 / sqrt(1.25) / sqrt(2), 1e-14);
  assert_close(z[1], -1.5 / sqrt(1.25) / sqrt(2), 1e-14);
  gpnn_scaling_release(&scaling);
  const double huge[] = {1e200, -1e200, 1e200, -1e200};
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 0, 4, 1, NULL, huge, y, &err),
               GPNN_EDATA, "too large for whitening");
}

/* N rows of two inputs that are nearly the same, and a target; 1 % of the cells of either input are
 * wild if 'wild' is not 0. */
static double *make_pairs(size_t n, double wild)
{
  double *rows = malloc(3 * n * sizeof *rows);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 8, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) {
    double *row = rows + 3 * i;
    row[0] = gpnn_rng_normal(&rng);
    row[1] = row[0] + 0.3 * gpnn_rng_normal(&rng);
    row[2] = (double)i;
    for (size_t j = 0; j < 2 && wild != 0; j++)
      if (i % 100 == 13 + j) row[j] = wild;
  }
  return rows;
}

static enum gpnn_status read_pairs(void *context, size_t from, size_t count, double *rows,
                                   struct gpnn_error *error)
{
  const double *pairs = context;
  (void)error;
  memcpy(rows, pairs + 3 * from, 3 * count * sizeof *rows);
  return GPNN_OK;
}

/* Learns from 2000 such rows. */
static void learn_pairs(struct gpnn_scaling *scaling, enum gpnn_scaling_method method, double wild,
                        bool limits)
{
  double *rows = make_pairs(2000, wild);
  struct gpnn_outlier_columns outliers = {0};
  const struct gpnn_row_source source = {2000, 3, read_pairs, rows, 1, NULL};
  const struct gpnn_scaling_columns columns = {.n_in = 2,
                                               .steps.outliers = limits ? &outliers : NULL};
  assert_ok(gpnn_scaling_learn_rows(scaling, method, 0, &columns, &source, NULL, &err));
  assert_int_equal(outliers.n, limits && wild != 0 && method != GPNN_SCALING_NONE ? 2 : 0);
  gpnn_outlier_columns_release(&outliers);
  free(rows);
}

static void one_outlier_in_a_hundred_cells_hardly_changes_the_scale(void **state)
{
  (void)state;
  static const double wild[] = {1e5, -99999, -1e20, 1e300, -1.7e308};
  for (size_t i = 0; i < sizeof wild / sizeof *wild; i++)
    for (int m = GPNN_SCALING_SCALE; m <= GPNN_SCALING_WHITEN; m++) {
      enum gpnn_scaling_method method = (enum gpnn_scaling_method)m;
      struct gpnn_scaling clean = {0}, spoilt = {0};
      learn_pairs(&clean, method, 0, true);
      learn_pairs(&spoilt, method, wild[i], true);
      assert_null(clean.steps[GPNN_STEP_LIMITS].numbers);
      assert_int_equal(spoilt.n_out, 2);
      for (size_t j = 0; j < 2; j++) assert_near(spoilt.mean[j], clean.mean[j], 0.02);
      for (size_t k = 0; k < (m == GPNN_SCALING_SCALE ? 2 : 4); k++)
        assert_near(spoilt.weight[k], clean.weight[k], 0.15 * fabs(clean.weight[0]));
      const double x[] = {wild[i], 0.1};
      double z[2];
      gpnn_scaling_apply(&spoilt, x, z);
      assert_true(fabs(z[0]) > 3 && fabs(z[0]) + fabs(z[1]) < 50);
      gpnn_scaling_release(&clean);
      gpnn_scaling_release(&spoilt);
    }
}

static void there_are_no_limits_unless_wanted_and_none_under_none(void **state)
{
  (void)state;
  struct gpnn_scaling plain = {0}, none = {0};
  learn_pairs(&plain, GPNN_SCALING_SCALE, 1e5, false);
  assert_null(plain.steps[GPNN_STEP_LIMITS].numbers);
  assert_true(plain.weight[0] < 1e-3);
  learn_pairs(&none, GPNN_SCALING_NONE, 1e5, true);
  assert_null(none.steps[GPNN_STEP_LIMITS].numbers);
  gpnn_scaling_release(&plain);
  gpnn_scaling_release(&none);
}

static void values_too_far_apart_are_refused_with_their_column(void **state)
{
  (void)state;
  const double rows[] = {1, 1, 1, 2, -1.7e308, 2, 3, 1.7e308, 4};
  struct source_rows given = {3, 3, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  const struct gpnn_scaling_columns inputs = {.n_in = 2}, targets = {.n_in = 1, .n_more = 1};
  struct gpnn_scaling scaling = {0};
  size_t at = 9;
  assert_fails(gpnn_scaling_learn_rows(&scaling, GPNN_SCALING_NONE, 0, &inputs, &source, &at, &err),
               GPNN_EDATA, "too far apart");
  assert_int_equal(at, 1);
  given.next = 0;
  assert_fails(
      gpnn_scaling_learn_rows(&scaling, GPNN_SCALING_SCALE, 0, &targets, &source, &at, &err),
      GPNN_EDATA, "too far apart");
  assert_int_equal(at, 1);
}

static void none_leaves_inputs_and_standardises_the_target(void **state)
{
  (void)state;
  double x[N * D], y[N], z[D];
  make_rows(x, y);
  struct gpnn_scaling scaling = {0};
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_NONE, 0, N, D, NULL, x, y, &err));
  assert_int_equal(scaling.n_out, D);
  assert_null(scaling.weight);
  gpnn_scaling_apply(&scaling, x, z);
  assert_memory_equal(z, x, sizeof z);
  assert_true(scaling.y_sd > 2 && scaling.y_sd < 4);
  gpnn_scaling_release(&scaling);
}

static void tables_without_variation_are_refused(void **state)
{
  (void)state;
  const double x[] = {1, 2, 3}, same[] = {4, 4, 4};
  struct gpnn_scaling scaling = {0};
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 1, 1, NULL, x, x, &err),
               GPNN_EDATA, "at least 2");
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 3, 1, NULL, x, same, &err),
               GPNN_EDATA, "the target does not vary");
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 3, 1, NULL, same, x, &err),
               GPNN_EDATA, "no input varies");
}

/* Features: a number, three coordinates of a place in km, a number that does not vary, two
 * coordinates on a circle of which one does not vary, and two that do not vary. */
static void points_keep_their_shape_when_scaled(void **state)
{
  (void)state;
  enum { W = 9, KEPT = 6 };
  static const struct gpnn_feature features[W] = {
      {0, false, false}, {1, true, false},  {1, true, false},  {1, true, false}, {2, false, false},
      {3, false, false}, {3, false, false}, {4, false, false}, {4, false, false}};
  static double x[N * W], y[N], z[N * KEPT];
  struct gpnn_rng rng;
  struct gpnn_scaling scaling = {0};
  gpnn_rng_init(&rng, 8, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double *row = x + i * W;
    row[0] = 30 * gpnn_rng_normal(&rng);
    for (size_t j = 1; j < 4; j++) row[j] = 6000 + 100 * gpnn_rng_normal(&rng);
    row[4] = 5;
    row[5] = i % 2 == 0 ? 1 : -1;
    row[6] = 0;
    row[7] = row[8] = 0.5;
    y[i] = row[0];
  }
  assert_ok(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, N, W, features, x, y, &err));
  assert_int_equal(scaling.n_out, KEPT);
  for (size_t i = 0; i < N; i++) gpnn_scaling_apply(&scaling, x + i * W, z + i * KEPT);
  /* Three groups remain: the number, the place, the circle. */
  assert_close(covariance_of(N, KEPT, z, 0, 0), 1.0 / 3, 1e-9);
  assert_close(covariance_of(N, KEPT, z, 4, 4), 1.0 / 3, 1e-9);
  for (size_t i = 1; i < N; i++) {
    for (size_t j = 1; j < 4; j++) assert_near(z[i * KEPT + j] - z[j], x[i * W + j] - x[j], 1e-9);
    assert_near(z[i * KEPT + 5], 0, 0);
  }
  assert_true(scaling.weight[5] == scaling.weight[6] && scaling.weight[5] > 0);
  assert_true(scaling.weight[4] == 0 && scaling.weight[7] == 0 && scaling.weight[8] == 0);
  double mean = 0;
  for (size_t i = 0; i < N; i++) mean += z[i * KEPT + 1] / N;
  assert_near(mean, 0, 1e-9);
  gpnn_scaling_release(&scaling);
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_WHITEN, 0, N, W, features, x, y, &err),
               GPNN_EINVAL, "whitening mixes inputs");
}

static void a_point_that_does_not_vary_is_dropped_whole(void **state)
{
  (void)state;
  static const struct gpnn_feature features[] = {
      {0, true, false}, {0, true, false}, {0, true, false}};
  static const double x[] = {1, 2, 3, 1, 2, 3}, y[] = {1, 2};
  struct gpnn_scaling scaling = {0};
  assert_fails(gpnn_scaling_learn(&scaling, GPNN_SCALING_SCALE, 0, 2, 3, features, x, y, &err),
               GPNN_EDATA, "no input varies");
}

/* Learns from rows of one input (the row's number), the target (the same) and 'n_others' columns
 * of 'others', n by n_others. */
static enum gpnn_status learn_others(struct gpnn_scaling *scaling, size_t n, size_t n_more,
                                     size_t n_regressors, const double *others, size_t *at,
                                     struct gpnn_error *error)
{
  size_t n_others = n_more + n_regressors, width = 2 + n_others;
  double *rows = malloc(n * width * sizeof *rows);
  for (size_t i = 0; i < n; i++) {
    rows[i * width] = rows[i * width + 1] = (double)i;
    memcpy(rows + i * width + 2, others + i * n_others, n_others * sizeof *rows);
  }
  struct source_rows given = {n, width, 0, rows};
  const struct gpnn_row_source source = source_of(&given);
  const struct gpnn_scaling_columns columns = {
      .n_in = 1, .n_more = n_more, .n_regressors = n_regressors};
  enum gpnn_status status =
      gpnn_scaling_learn_rows(scaling, GPNN_SCALING_SCALE, 0, &columns, &source, at, error);
  free(rows);
  return status;
}

static void further_targets_have_their_own_mean_and_sd(void **state)
{
  (void)state;
  static const double three[] = {1, 1e9, 4, 2, 1e9 + 1, 4, 3, 1e9, 4, 6, 1e9 + 1, 4};
  static const double two[] = {1, 1e9, 2, 1e9 + 1, 3, 1e9, 6, 1e9 + 1};
  struct gpnn_scaling scaling = {0};
  size_t at = 9;
  assert_fails(learn_others(&scaling, 4, 3, 0, three, &at, &err), GPNN_EDATA, "does not vary");
  assert_int_equal(at, 4);
  assert_int_equal(scaling.n_more, 0);
  assert_ok(learn_others(&scaling, 4, 2, 0, two, &at, &err));
  assert_true(at == SIZE_MAX);
  assert_int_equal(scaling.n_more, 2);
  assert_near(scaling.more[0].mean, 3, 1e-15);
  assert_close(scaling.more[0].sd, sqrt(3.5), 1e-15);
  assert_near(scaling.more[1].mean, 1e9 + 0.5, 0);
  assert_close(scaling.more[1].sd, 0.5, 1e-12);
  assert_close(gpnn_scaling_noise(&scaling, 8), 8 / 1.25, 1e-15);
  gpnn_scaling_release(&scaling);
}

static void regressors_have_mean_zero_and_variance_one(void **state)
{
  (void)state;
  double x[N * D], y[N], raw[D];
  struct gpnn_scaling scaling = {0};
  size_t at = 0;
  make_rows(x, y);
  memcpy(raw, x + 7 * D, sizeof raw);
  assert_ok(learn_others(&scaling, N, 0, D, x, &at, &err));
  assert_int_equal(scaling.n_regressors, D);
  for (size_t i = 0; i < N; i++) gpnn_scaling_apply_regressors(&scaling, x + i * D);
  for (size_t j = 0; j < D; j++) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += x[i * D + j] / N;
    assert_near(mean, 0, 1e-9);
    assert_close(covariance_of(N, D, x, j, j), 1, 1e-9);
    assert_near(x[7 * D + j] * scaling.regressors[j].sd + scaling.regressors[j].mean, raw[j], 1e-9);
  }
  gpnn_scaling_release(&scaling);
}

/* The third regressor is a combination of the first two and 'extra' of something else. */
static enum gpnn_status learn_nearly_collinear(double extra, size_t *at, struct gpnn_error *error)
{
  double x[N * D], y[N], values[N * D];
  struct gpnn_scaling scaling = {0};
  make_rows(x, y);
  for (size_t i = 0; i < N; i++) {
    values[i * D] = x[i * D];
    values[i * D + 1] = x[i * D + 1];
    values[i * D + 2] = 3 * x[i * D] - 2 * x[i * D + 1] + 5 + extra * x[i * D + 2];
  }
  enum gpnn_status status = learn_others(&scaling, N, 0, D, values, at, error);
  gpnn_scaling_release(&scaling);
  return status;
}

static void collinear_regressors_are_distinguished_from_nearly_collinear_ones(void **state)
{
  (void)state;
  double values[N * 2];
  size_t at = 9;
  assert_fails(learn_nearly_collinear(0, &at, &err), GPNN_EDATA,
               "is a linear combination of a constant and the regressors before it");
  assert_int_equal(at, 4);
  /* Shares of the variance: (1e-7)^2 is rounding in any table, (1e-5)^2 may be meant. */
  assert_fails(learn_nearly_collinear(4e-4, &at, &err), GPNN_EDATA, "linear combination");
  assert_ok(learn_nearly_collinear(0.1, &at, &err));
  for (size_t i = 0; i < N; i++) values[i * 2] = (double)i;
  for (size_t i = 0; i < N; i++) values[i * 2 + 1] = 7;
  struct gpnn_scaling scaling = {0};
  assert_fails(learn_others(&scaling, N, 0, 2, values, &at, &err), GPNN_EDATA, "does not vary");
  assert_int_equal(at, 3);
}

static void a_noise_variance_is_finite_in_any_unit(void **state)
{
  (void)state;
  const struct gpnn_scaling small = {.y_sd = 1e-3}, two = {.y_sd = 2};
  assert_true(gpnn_scaling_noise(&small, 1e308) == DBL_MAX);
  assert_true(gpnn_scaling_noise(&small, 0) == 0);
  assert_true(gpnn_scaling_noise(&two, 8) == 2);
}

/* To the last digit if they have few, whatever the mean. */
static void targets_are_restored(void **state)
{
  (void)state;
  static const double units[] = {1e-9, 0.001, 0.01, 0.5, 1, 1000, 1e25};
  struct gpnn_rng rng = seeded(8);
  for (size_t u = 0; u < sizeof units / sizeof units[0]; u++)
    for (int i = -200; i < 200; i++) {
      char text[32];
      const struct gpnn_scaling scaling = {.y_mean = units[u] * 300 * gpnn_rng_uniform(&rng),
                                           .y_sd = units[u] * (1 + 90 * gpnn_rng_uniform(&rng))};
      snprintf(text, sizeof text, "%.12g", i * units[u]); /* as a table has it */
      double y = strtod(text, NULL), z = (y - scaling.y_mean) / scaling.y_sd;
      assert_near(gpnn_scaling_restore(&scaling, z, 0), y, units[u] > 1e20 ? 1e-14 * fabs(y) : 0);
      snprintf(text, sizeof text, "%.12g", 7 * i * units[u] / 4);
      double offset = strtod(text, NULL);
      z = (y - offset - scaling.y_mean) / scaling.y_sd;
      assert_near(gpnn_scaling_restore(&scaling, z, offset), y,
                  units[u] > 1e20 ? 1e-14 * fabs(y) : 0);
      /* Others change by no more than rounding does. */
      y = units[u] * gpnn_rng_normal(&rng);
      z = (y - scaling.y_mean) / scaling.y_sd;
      assert_near(gpnn_scaling_restore(&scaling, z, 0), y, 1e-11 * units[u]);
    }
  const struct gpnn_scaling tiny = {.y_mean = 0, .y_sd = 1e-310},
                            huge = {.y_mean = 0, .y_sd = 1e300};
  assert_close(gpnn_scaling_restore(&tiny, 2, 0), 2e-310, 1e-12);
  assert_close(gpnn_scaling_restore(&huge, -2, 0), -2e300, 1e-12);
  assert_true(gpnn_scaling_restore(&tiny, 0, 0) == 0);
}

/* Even where steps would clip it to a limit. */
static void what_is_missing_stays_so(void **state)
{
  (void)state;
  double mean[] = {0.5}, weight[] = {2}, limits[] = {-1, 1}, z;
  const struct gpnn_scaling scaling = {
      .method = GPNN_SCALING_SCALE,
      .n_in = 1,
      .n_out = 1,
      .mean = mean,
      .weight = weight,
      .steps[GPNN_STEP_LIMITS] = {.n = 2, .n_features = 1, .numbers = limits}};
  gpnn_scaling_apply(&scaling, (const double[]){5}, &z);
  assert_true(z == 1);
  gpnn_scaling_apply(&scaling, (const double[]){NAN}, &z);
  assert_true(isnan(z));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_missing_stays_so),
      cmocka_unit_test(scaled_columns_have_variance_one_over_d),
      cmocka_unit_test(whitened_columns_have_covariance_one_over_d),
      cmocka_unit_test(whitening_damps_by_eps),
      cmocka_unit_test(whitening_drops_dependent_directions),
      cmocka_unit_test(whitening_keeps_columns_of_very_different_units),
      cmocka_unit_test(constant_columns_are_dropped_under_scale),
      cmocka_unit_test(rounding_errors_are_not_variation),
      cmocka_unit_test(extreme_magnitudes_survive_scaling),
      cmocka_unit_test(one_outlier_in_a_hundred_cells_hardly_changes_the_scale),
      cmocka_unit_test(there_are_no_limits_unless_wanted_and_none_under_none),
      cmocka_unit_test(values_too_far_apart_are_refused_with_their_column),
      cmocka_unit_test(none_leaves_inputs_and_standardises_the_target),
      cmocka_unit_test(tables_without_variation_are_refused),
      cmocka_unit_test(points_keep_their_shape_when_scaled),
      cmocka_unit_test(a_point_that_does_not_vary_is_dropped_whole),
      cmocka_unit_test(further_targets_have_their_own_mean_and_sd),
      cmocka_unit_test(regressors_have_mean_zero_and_variance_one),
      cmocka_unit_test(collinear_regressors_are_distinguished_from_nearly_collinear_ones),
      cmocka_unit_test(a_noise_variance_is_finite_in_any_unit),
      cmocka_unit_test(targets_are_restored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
