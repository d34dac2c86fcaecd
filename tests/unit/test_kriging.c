#include "simulate/kriging.h"

#include "covariance.h"
#include "dense.h"
#include "fixture.h"
#include "models.h"
#include "unit.h"

enum { MOST = 70, D = 3 };

static const double origin[D] = {0, 0, 0};

static struct gpnn_kriging *kriging_new(size_t max_neighbours, size_t d)
{
  struct gpnn_kriging *kriging = NULL;
  assert_ok(gpnn_kriging_new(&kriging, max_neighbours, d, &err));
  return kriging;
}

static void draw_offsets(double *offsets, size_t n)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) offsets[i] = 0.6 * gpnn_rng_normal(&rng);
}

/* An object at a point whose 'm' neighbours draw_offsets() draws. */
static struct gpnn_kriging *kriging_among(size_t m, double *offsets)
{
  struct gpnn_kriging *kriging = kriging_new(m, D);
  draw_offsets(offsets, m * D);
  gpnn_kriging_set_neighbours(kriging, m, offsets);
  return kriging;
}

static double sum_product(size_t n, const double *a, const double *b)
{
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* Orders around whole vectors of any processor. */
static void predictions_are_those_of_the_dense_formula(void **state)
{
  (void)state;
  static const size_t orders[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 33, 64, MOST};
  static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};
  struct gpnn_kriging *kriging = kriging_new(MOST, D);
  double offsets[MOST * D], y[MOST];
  draw_offsets(offsets, MOST * D);
  for (size_t i = 0; i < MOST; i++) y[i] = sin(3 * offsets[i * D]) + cos((double)i);
  for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
    for (size_t k = 0; k < 4; k++) {
      const double *w, lengthscale = 0.7;
      double latent, jitter, dense_mean, dense_latent;
      struct gpnn_covariance c = covariance_of(kernels[k], lengthscale, 1.3, 0.2);
      gpnn_kriging_set_neighbours(kriging, orders[o], offsets);
      assert_ok(gpnn_kriging_weights(kriging, &c, &w, &latent, &jitter, &err));
      dense_predict(kernels[k], orders[o], D, offsets, y, origin, 1, &lengthscale, 1.3, 0.2,
                    &dense_mean, &dense_latent);
      assert_near(sum_product(orders[o], w, y), dense_mean, 1e-12);
      assert_near(latent, dense_latent, 1e-12);
      assert_true(jitter == 0);
    }
  gpnn_kriging_free(kriging);
}

static void predictions_are_those_of_the_local_model(void **state)
{
  (void)state;
  enum { N = 40 };
  struct fixture f;
  fixture_new(&f, N, D, 0, 0.5);
  double lengthscale = 0.8, mean, latent;
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                   .covariance.n_lengthscales = 1,
                                   .covariance.lengthscale = &lengthscale,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = 0.05,
                                   .neighbours = N};
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  const double x[D] = {0.1, -0.2, 0.3};
  const struct gpnn_query points = {.n = 1, .x = x};
  const struct gpnn_latent prediction = {.mean = &mean, .variance = &latent};
  assert_ok(make_model(&gp, f.data, &params, 0, 1, &err));
  assert_ok(gpnn_model_predict(gp, &points, &prediction, &counts, &err));

  struct gpnn_kriging *kriging = kriging_new(N, D);
  struct gpnn_covariance c = covariance_of("matern52", 0.8, 0.9, 0.05);
  double offsets[N * D], own_latent, jitter;
  const double *w;
  for (size_t i = 0; i < N * D; i++) offsets[i] = f.x[i] - x[i % D];
  gpnn_kriging_set_neighbours(kriging, N, offsets);
  assert_ok(gpnn_kriging_weights(kriging, &c, &w, &own_latent, &jitter, &err));
  assert_near(sum_product(N, w, f.y), mean, 1e-11);
  assert_near(own_latent, latent, 1e-11);
  gpnn_kriging_free(kriging);
  gpnn_model_free(gp);
  fixture_free(&f);
}

/* E (a'y - f)^2, term by term. */
static double dense_risk(const char *kernel, const struct gpnn_covariance *actual, size_t m,
                         const double *offsets, const double *w, double factor)
{
  long double sum = actual->kernelscale;
  for (size_t i = 0; i < m; i++) {
    long double a = (long double)factor * w[i];
    sum += a * a * actual->noise -
           2 * a * actual->kernelscale *
               dense_kernel(kernel, D, offsets + i * D, origin, 1, &actual->isotropic);
    for (size_t j = 0; j < m; j++)
      sum += a * factor * w[j] * actual->kernelscale *
             dense_kernel(kernel, D, offsets + i * D, offsets + j * D, 1, &actual->isotropic);
  }
  return (double)sum;
}

static void the_risk_under_another_process_is_the_quadratic_form(void **state)
{
  (void)state;
  struct gpnn_covariance actual = covariance_of("exp", 1.1, 0.7, 0.1);
  struct gpnn_covariance assumed = covariance_of("matern32", 0.5, 1.3, 0.3);
  double offsets[MOST * D], latent, jitter;
  struct gpnn_kriging *kriging = kriging_among(MOST, offsets);
  const double *w;
  for (size_t m = 1; m <= MOST; m += 3) {
    gpnn_kriging_set_neighbours(kriging, m, offsets);
    assert_ok(gpnn_kriging_weights(kriging, &assumed, &w, &latent, &jitter, &err));
    assert_near(gpnn_kriging_risk(kriging, &actual, 1),
                dense_risk("exp", &actual, m, offsets, w, 1), 1e-12);
    assert_near(gpnn_kriging_risk(kriging, &actual, 1.2),
                dense_risk("exp", &actual, m, offsets, w, 1.2), 1e-12);
  }
  gpnn_kriging_free(kriging);
}

static void with_the_right_parameters_the_risk_is_the_latent_variance(void **state)
{
  (void)state;
  struct gpnn_covariance actual = covariance_of("rbf", 0.9, 0.8, 0.15);
  double offsets[MOST * D], latent, jitter;
  struct gpnn_kriging *kriging = kriging_among(MOST, offsets);
  const double *w;
  assert_ok(gpnn_kriging_weights(kriging, &actual, &w, &latent, &jitter, &err));
  assert_near(gpnn_kriging_risk(kriging, &actual, 1), latent, 1e-12);
  gpnn_kriging_free(kriging);
}

static void noise_alone_is_multiplied_by_the_squared_weights(void **state)
{
  (void)state;
  struct gpnn_covariance actual = covariance_of("rbf", 1, 0, 0.5);
  struct gpnn_covariance assumed = covariance_of("rbf", 1, 1, 0.5);
  double offsets[8 * D], latent, jitter;
  struct gpnn_kriging *kriging = kriging_among(8, offsets);
  const double *w;
  assert_ok(gpnn_kriging_weights(kriging, &assumed, &w, &latent, &jitter, &err));
  assert_near(gpnn_kriging_risk(kriging, &actual, 2), 4 * 0.5 * sum_product(8, w, w), 1e-15);
  gpnn_kriging_free(kriging);
}

/* What is reused from one call to the next must not show. */
static void the_order_of_calls_changes_nothing(void **state)
{
  (void)state;
  enum { M = 21, N = 5 };
  const struct gpnn_covariance actual = covariance_of("matern32", 0.8, 0.9, 0.1);
  const struct gpnn_covariance asked[N] = {
      covariance_of("exp", 0.5, 1, 0.2), covariance_of("exp", 0.5, 2, 0.4),
      covariance_of("exp", 0.5, 2, 0.5), covariance_of("rbf", 0.5, 2, 0.5),
      covariance_of("matern32", 0.8, 0.9, 0.1)};
  struct gpnn_kriging *kept = kriging_new(M, D);
  double offsets[M * D], y[M], f;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_set_neighbours(kept, M, offsets);
  for (size_t i = 0; i < 3 * N; i++) {
    struct gpnn_kriging *fresh = kriging_new(M, D);
    const double *w, *fresh_w;
    double latent, fresh_latent, jitter;
    const struct gpnn_covariance *c = &asked[i * 2 % N];
    if (i % 4 == 3) assert_ok(gpnn_kriging_draw(kept, &actual, &rng, y, &f, &jitter, &err));
    gpnn_kriging_set_neighbours(fresh, M, offsets);
    assert_ok(gpnn_kriging_weights(kept, c, &w, &latent, &jitter, &err));
    assert_ok(gpnn_kriging_weights(fresh, c, &fresh_w, &fresh_latent, &jitter, &err));
    assert_memory_equal(w, fresh_w, M * sizeof *w);
    /* 2 / 0.4 and 1 / 0.2 share a solve; the scale is applied after it. */
    assert_true(latent == fresh_latent);
    assert_true(gpnn_kriging_risk(kept, &actual, 1) == gpnn_kriging_risk(fresh, &actual, 1));
    gpnn_kriging_free(fresh);
  }
  gpnn_kriging_free(kept);
}

/* Second moments of the draws are the covariances of the process, noise on the diagonal. */
static void draws_have_the_covariance_of_the_actual_process(void **state)
{
  (void)state;
  enum { M = 10, DRAWS = 20000 };
  const struct gpnn_covariance actual = covariance_of("exp", 1, 2, 0.5);
  struct gpnn_kriging *kriging = kriging_new(M, D);
  double offsets[M * D], y[M], f, jitter, sums[M + 1] = {0}, ff = 0;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_set_neighbours(kriging, M, offsets);
  for (size_t i = 0; i < DRAWS; i++) {
    assert_ok(gpnn_kriging_draw(kriging, &actual, &rng, y, &f, &jitter, &err));
    ff += f * f;
    for (size_t j = 0; j < M; j++) sums[j] += y[j] * f;
    sums[M] += y[1] * y[1];
  }
  double tolerance = 4 * 2.5 * sqrt(2.0 / DRAWS);
  assert_near(ff / DRAWS, 2, tolerance);
  assert_near(sums[M] / DRAWS, 2.5, tolerance);
  for (size_t j = 0; j < M; j++)
    assert_near(sums[j] / DRAWS,
                2 * (double)dense_kernel("exp", D, offsets + j * D, origin, 1, &actual.isotropic),
                tolerance);
  gpnn_kriging_free(kriging);
}

/* The closed form is the mean of what would be drawn. */
static void the_risk_is_the_mean_over_draws(void **state)
{
  (void)state;
  enum { M = 12, DRAWS = 20000 };
  const struct gpnn_covariance actual = covariance_of("matern32", 0.8, 0.9, 0.1);
  const struct gpnn_covariance assumed = covariance_of("exp", 1.2, 0.5, 0.3);
  struct gpnn_kriging *kriging = kriging_new(M, D);
  double offsets[M * D], kept[M], y[M], f, latent, jitter, sum = 0, squares = 0;
  const double *w;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_set_neighbours(kriging, M, offsets);
  assert_ok(gpnn_kriging_weights(kriging, &assumed, &w, &latent, &jitter, &err));
  memcpy(kept, w, sizeof kept);
  double risk = gpnn_kriging_risk(kriging, &actual, 1);
  for (size_t i = 0; i < DRAWS; i++) {
    assert_ok(gpnn_kriging_draw(kriging, &actual, &rng, y, &f, &jitter, &err));
    double error = sum_product(M, kept, y) - f;
    sum += error * error;
    squares += error * error * error * error;
  }
  double mean = sum / DRAWS, se = sqrt((squares / DRAWS - mean * mean) / DRAWS);
  assert_near(mean, risk, 4 * se);
  gpnn_kriging_free(kriging);
}

/* Distances whose squares overflow, with each kind of kernel. */
static void neighbours_out_of_reach_do_not_count(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "exp", "matern52", "matern:0.3", "matern:7"};
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
    for (size_t m = 1; m <= 17; m++) {
      struct gpnn_covariance c = covariance_of(kernels[k], 1e-100, 0.9, 0.1);
      struct gpnn_kriging *kriging = kriging_new(m, 1);
      double offsets[17], latent, jitter;
      const double *w;
      for (size_t i = 0; i < m; i++) offsets[i] = (double)(i + 1) * 1e100;
      gpnn_kriging_set_neighbours(kriging, m, offsets);
      assert_ok(gpnn_kriging_weights(kriging, &c, &w, &latent, &jitter, &err));
      assert_true(latent == 0.9);
      assert_true(gpnn_kriging_risk(kriging, &c, 1) == 0.9);
      gpnn_kriging_free(kriging);
    }
}

/* One point observed many times without noise has a singular covariance matrix. */
static void a_draw_reports_its_jitter(void **state)
{
  (void)state;
  enum { M = 9 };
  const struct gpnn_covariance actual = covariance_of("rbf", 1, 4, 0);
  struct gpnn_kriging *kriging = kriging_new(M, 1);
  double offsets[M] = {0}, y[M], f, jitter = 0;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  gpnn_kriging_set_neighbours(kriging, M, offsets);
  assert_ok(gpnn_kriging_draw(kriging, &actual, &rng, y, &f, &jitter, &err));
  assert_true(jitter > 0 && jitter < 1e-8);
  gpnn_kriging_free(kriging);
}

/* The limit of section 7: neighbours at distances lost in rounding. */
static void neighbours_at_the_point_itself_share_the_weight(void **state)
{
  (void)state;
  enum { M = 50 };
  struct gpnn_kriging *kriging = kriging_new(M, D);
  const struct gpnn_covariance c = covariance_of("rbf", 1, 0.9, 0.1);
  double offsets[M * D], latent, jitter;
  const double *w;
  draw_offsets(offsets, M * D);
  for (size_t i = 0; i < M * D; i++) offsets[i] *= 1e-12;
  gpnn_kriging_set_neighbours(kriging, M, offsets);
  assert_ok(gpnn_kriging_weights(kriging, &c, &w, &latent, &jitter, &err));
  for (size_t i = 0; i < M; i++) assert_close(w[i], 0.9 / (0.1 + M * 0.9), 1e-12);
  assert_close(gpnn_kriging_risk(kriging, &c, 1), 0.9 * 0.1 / (0.1 + M * 0.9), 1e-11);
  gpnn_kriging_free(kriging);
}

static void a_singular_covariance_is_given_jitter_and_reports_it(void **state)
{
  (void)state;
  struct gpnn_kriging *kriging = kriging_new(4, D);
  const struct gpnn_covariance c = covariance_of("rbf", 1, 2, 0);
  const double offsets[4 * D] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  double latent, jitter;
  const double *w;
  gpnn_kriging_set_neighbours(kriging, 4, offsets);
  assert_ok(gpnn_kriging_weights(kriging, &c, &w, &latent, &jitter, &err));
  assert_true(jitter >= 2e-10 && jitter <= 2.1e-4);
  assert_near(w[0] + w[1] + w[2] + w[3], exp(-0.5), 1e-3);
  gpnn_kriging_free(kriging);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_dense_formula),
      cmocka_unit_test(predictions_are_those_of_the_local_model),
      cmocka_unit_test(the_risk_under_another_process_is_the_quadratic_form),
      cmocka_unit_test(with_the_right_parameters_the_risk_is_the_latent_variance),
      cmocka_unit_test(noise_alone_is_multiplied_by_the_squared_weights),
      cmocka_unit_test(the_order_of_calls_changes_nothing),
      cmocka_unit_test(draws_have_the_covariance_of_the_actual_process),
      cmocka_unit_test(the_risk_is_the_mean_over_draws),
      cmocka_unit_test(neighbours_out_of_reach_do_not_count),
      cmocka_unit_test(a_draw_reports_its_jitter),
      cmocka_unit_test(neighbours_at_the_point_itself_share_the_weight),
      cmocka_unit_test(a_singular_covariance_is_given_jitter_and_reports_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
