#include "simulate/kriging.h"

#include "dense.h"
#include "fixture.h"
#include "models/local/localgp.h"
#include "unit.h"

enum { MOST = 70, D = 3 };

static const double nowhere[D] = {0, 0, 0};

static struct gpnn_isotropic covariance(const char *kernel, double lengthscale, double kernelscale,
                                        double noise)
{
  return (struct gpnn_isotropic){gpnn_kernel_by_name(kernel), 0, lengthscale, kernelscale, noise};
}

static struct gpnn_kriging *weights_new(size_t most, size_t d)
{
  struct gpnn_kriging *weights = NULL;
  assert_ok(gpnn_kriging_new(&weights, most, d, &err));
  return weights;
}

static void draw_offsets(double *offsets, size_t n)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < n; i++) offsets[i] = 0.6 * gpnn_rng_normal(&rng);
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
  struct gpnn_kriging *weights = weights_new(MOST, D);
  double offsets[MOST * D], y[MOST];
  draw_offsets(offsets, MOST * D);
  for (size_t i = 0; i < MOST; i++) y[i] = sin(3 * offsets[i * D]) + cos((double)i);
  for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
    for (size_t k = 0; k < 4; k++) {
      const double *w, lengthscale = 0.7;
      double latent, jitter, dense_mean, dense_latent;
      struct gpnn_isotropic c = covariance(kernels[k], lengthscale, 1.3, 0.2);
      gpnn_kriging_put(weights, orders[o], offsets);
      assert_ok(gpnn_kriging_find(weights, &c, &w, &latent, &jitter, &err));
      dense_predict(kernels[k], orders[o], D, offsets, y, nowhere, 1, &lengthscale, 1.3, 0.2,
                    &dense_mean, &dense_latent);
      assert_near(sum_product(orders[o], w, y), dense_mean, 1e-12);
      assert_near(latent, dense_latent, 1e-12);
      assert_true(jitter == 0);
    }
  gpnn_kriging_free(weights);
}

static void predictions_are_those_of_localgp(void **state)
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
  struct gpnn_localgp *gp = NULL;
  struct gpnn_localgp_counts counts = {0};
  const double x[D] = {0.1, -0.2, 0.3};
  const struct gpnn_points points = {.n = 1, .x = x};
  const struct gpnn_prediction prediction = {.mean = &mean, .latent = &latent};
  assert_ok(gpnn_localgp_new(&gp, f.data, &params, 0, 1, &err));
  assert_ok(gpnn_localgp_predict(gp, &points, &prediction, &counts, &err));

  struct gpnn_kriging *weights = weights_new(N, D);
  struct gpnn_isotropic c = covariance("matern52", 0.8, 0.9, 0.05);
  double offsets[N * D], own_latent, jitter;
  const double *w;
  for (size_t i = 0; i < N * D; i++) offsets[i] = f.x[i] - x[i % D];
  gpnn_kriging_put(weights, N, offsets);
  assert_ok(gpnn_kriging_find(weights, &c, &w, &own_latent, &jitter, &err));
  assert_near(sum_product(N, w, f.y), mean, 1e-11);
  assert_near(own_latent, latent, 1e-11);
  gpnn_kriging_free(weights);
  gpnn_localgp_free(gp);
  fixture_free(&f);
}

/* E (a'y - f)^2, term by term. */
static double dense_error(const char *kernel, const struct gpnn_isotropic *truth, size_t m,
                          const double *offsets, const double *w, double factor)
{
  long double sum = truth->kernelscale;
  for (size_t i = 0; i < m; i++) {
    long double a = (long double)factor * w[i];
    sum += a * a * truth->noise -
           2 * a * truth->kernelscale *
               dense_kernel(kernel, D, offsets + i * D, nowhere, 1, &truth->lengthscale);
    for (size_t j = 0; j < m; j++)
      sum += a * factor * w[j] * truth->kernelscale *
             dense_kernel(kernel, D, offsets + i * D, offsets + j * D, 1, &truth->lengthscale);
  }
  return (double)sum;
}

static void the_error_under_another_process_is_the_quadratic_form(void **state)
{
  (void)state;
  struct gpnn_kriging *weights = weights_new(MOST, D);
  struct gpnn_isotropic truth = covariance("exp", 1.1, 0.7, 0.1);
  struct gpnn_isotropic assumed = covariance("matern32", 0.5, 1.3, 0.3);
  double offsets[MOST * D], latent, jitter;
  const double *w;
  draw_offsets(offsets, MOST * D);
  for (size_t m = 1; m <= MOST; m += 3) {
    gpnn_kriging_put(weights, m, offsets);
    assert_ok(gpnn_kriging_find(weights, &assumed, &w, &latent, &jitter, &err));
    assert_near(gpnn_kriging_error(weights, &truth, 1),
                dense_error("exp", &truth, m, offsets, w, 1), 1e-12);
    assert_near(gpnn_kriging_error(weights, &truth, 1.2),
                dense_error("exp", &truth, m, offsets, w, 1.2), 1e-12);
  }
  gpnn_kriging_free(weights);
}

static void with_the_right_parameters_the_error_is_the_latent_variance(void **state)
{
  (void)state;
  struct gpnn_kriging *weights = weights_new(MOST, D);
  struct gpnn_isotropic truth = covariance("rbf", 0.9, 0.8, 0.15);
  double offsets[MOST * D], latent, jitter;
  const double *w;
  draw_offsets(offsets, MOST * D);
  gpnn_kriging_put(weights, MOST, offsets);
  assert_ok(gpnn_kriging_find(weights, &truth, &w, &latent, &jitter, &err));
  assert_near(gpnn_kriging_error(weights, &truth, 1), latent, 1e-12);
  gpnn_kriging_free(weights);
}

static void noise_alone_is_multiplied_by_the_squared_weights(void **state)
{
  (void)state;
  struct gpnn_kriging *weights = weights_new(8, D);
  struct gpnn_isotropic truth = covariance("rbf", 1, 0, 0.5);
  struct gpnn_isotropic assumed = covariance("rbf", 1, 1, 0.5);
  double offsets[8 * D], latent, jitter;
  const double *w;
  draw_offsets(offsets, 8 * D);
  gpnn_kriging_put(weights, 8, offsets);
  assert_ok(gpnn_kriging_find(weights, &assumed, &w, &latent, &jitter, &err));
  assert_near(gpnn_kriging_error(weights, &truth, 2), 4 * 0.5 * sum_product(8, w, w), 1e-15);
  gpnn_kriging_free(weights);
}

/* What is kept from one call to the next must not show. */
static void the_order_of_calls_changes_nothing(void **state)
{
  (void)state;
  enum { M = 21, N = 5 };
  const struct gpnn_isotropic truth = covariance("matern32", 0.8, 0.9, 0.1);
  const struct gpnn_isotropic asked[N] = {
      covariance("exp", 0.5, 1, 0.2), covariance("exp", 0.5, 2, 0.4),
      covariance("exp", 0.5, 2, 0.5), covariance("rbf", 0.5, 2, 0.5),
      covariance("matern32", 0.8, 0.9, 0.1)};
  struct gpnn_kriging *kept = weights_new(M, D);
  double offsets[M * D], y[M], f;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 1, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_put(kept, M, offsets);
  for (size_t i = 0; i < 3 * N; i++) {
    struct gpnn_kriging *fresh = weights_new(M, D);
    const double *w, *fresh_w;
    double latent, fresh_latent, jitter;
    const struct gpnn_isotropic *c = &asked[i * 2 % N];
    if (i % 4 == 3) assert_ok(gpnn_kriging_draw(kept, &truth, &rng, y, &f, &jitter, &err));
    gpnn_kriging_put(fresh, M, offsets);
    assert_ok(gpnn_kriging_find(kept, c, &w, &latent, &jitter, &err));
    assert_ok(gpnn_kriging_find(fresh, c, &fresh_w, &fresh_latent, &jitter, &err));
    assert_memory_equal(w, fresh_w, M * sizeof *w);
    /* 2 / 0.4 and 1 / 0.2 share a solve, and the scale comes in behind it. */
    assert_true(latent == fresh_latent);
    assert_true(gpnn_kriging_error(kept, &truth, 1) == gpnn_kriging_error(fresh, &truth, 1));
    gpnn_kriging_free(fresh);
  }
  gpnn_kriging_free(kept);
}

/* Second moments of the draws are the covariances of the process, noise on the diagonal. */
static void draws_have_the_covariance_of_the_truth(void **state)
{
  (void)state;
  enum { M = 10, DRAWS = 20000 };
  const struct gpnn_isotropic truth = covariance("exp", 1, 2, 0.5);
  struct gpnn_kriging *weights = weights_new(M, D);
  double offsets[M * D], y[M], f, jitter, sums[M + 1] = {0}, ff = 0;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 11, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_put(weights, M, offsets);
  for (size_t i = 0; i < DRAWS; i++) {
    assert_ok(gpnn_kriging_draw(weights, &truth, &rng, y, &f, &jitter, &err));
    ff += f * f;
    for (size_t j = 0; j < M; j++) sums[j] += y[j] * f;
    sums[M] += y[1] * y[1];
  }
  double tolerance = 4 * 2.5 * sqrt(2.0 / DRAWS);
  assert_near(ff / DRAWS, 2, tolerance);
  assert_near(sums[M] / DRAWS, 2.5, tolerance);
  for (size_t j = 0; j < M; j++)
    assert_near(sums[j] / DRAWS,
                2 * (double)dense_kernel("exp", D, offsets + j * D, nowhere, 1, &truth.lengthscale),
                tolerance);
  gpnn_kriging_free(weights);
}

/* The closed form is the mean of what would be drawn. */
static void the_error_is_the_mean_over_draws(void **state)
{
  (void)state;
  enum { M = 12, DRAWS = 20000 };
  const struct gpnn_isotropic truth = covariance("matern32", 0.8, 0.9, 0.1);
  const struct gpnn_isotropic assumed = covariance("exp", 1.2, 0.5, 0.3);
  struct gpnn_kriging *weights = weights_new(M, D);
  double offsets[M * D], kept[M], y[M], f, latent, jitter, sum = 0, squares = 0;
  const double *w;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 5, GPNN_RNG_TEST);
  draw_offsets(offsets, M * D);
  gpnn_kriging_put(weights, M, offsets);
  assert_ok(gpnn_kriging_find(weights, &assumed, &w, &latent, &jitter, &err));
  memcpy(kept, w, sizeof kept);
  double error = gpnn_kriging_error(weights, &truth, 1);
  for (size_t i = 0; i < DRAWS; i++) {
    assert_ok(gpnn_kriging_draw(weights, &truth, &rng, y, &f, &jitter, &err));
    double miss = sum_product(M, kept, y) - f;
    sum += miss * miss;
    squares += miss * miss * miss * miss;
  }
  double mean = sum / DRAWS, se = sqrt((squares / DRAWS - mean * mean) / DRAWS);
  assert_near(mean, error, 4 * se);
  gpnn_kriging_free(weights);
}

/* Distances whose squares are beyond the range of numbers, with each kind of kernel. */
static void neighbours_out_of_reach_say_nothing(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "exp", "matern52", "matern:0.3", "matern:7"};
  for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
    for (size_t m = 1; m <= 17; m++) {
      struct gpnn_isotropic c = covariance("rbf", 1e-100, 0.9, 0.1);
      assert_true(gpnn_kernel_parse(kernels[k], &c.kernel, &c.smoothness));
      struct gpnn_kriging *weights = weights_new(m, 1);
      double offsets[17], latent, jitter;
      const double *w;
      for (size_t i = 0; i < m; i++) offsets[i] = (double)(i + 1) * 1e100;
      gpnn_kriging_put(weights, m, offsets);
      assert_ok(gpnn_kriging_find(weights, &c, &w, &latent, &jitter, &err));
      assert_true(latent == 0.9);
      assert_true(gpnn_kriging_error(weights, &c, 1) == 0.9);
      gpnn_kriging_free(weights);
    }
}

/* One place seen many times, without noise, cannot be drawn as it is. */
static void a_draw_tells_its_jitter(void **state)
{
  (void)state;
  enum { M = 9 };
  const struct gpnn_isotropic truth = covariance("rbf", 1, 4, 0);
  struct gpnn_kriging *weights = weights_new(M, 1);
  double offsets[M] = {0}, y[M], f, jitter = 0;
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 2, GPNN_RNG_TEST);
  gpnn_kriging_put(weights, M, offsets);
  assert_ok(gpnn_kriging_draw(weights, &truth, &rng, y, &f, &jitter, &err));
  assert_true(jitter > 0 && jitter < 1e-8);
  gpnn_kriging_free(weights);
}

/* As the limit of section 7 has them: neighbours no farther than rounding shows. */
static void neighbours_at_the_place_itself_share_the_weight(void **state)
{
  (void)state;
  enum { M = 50 };
  struct gpnn_kriging *weights = weights_new(M, D);
  const struct gpnn_isotropic c = covariance("rbf", 1, 0.9, 0.1);
  double offsets[M * D], latent, jitter;
  const double *w;
  draw_offsets(offsets, M * D);
  for (size_t i = 0; i < M * D; i++) offsets[i] *= 1e-12;
  gpnn_kriging_put(weights, M, offsets);
  assert_ok(gpnn_kriging_find(weights, &c, &w, &latent, &jitter, &err));
  for (size_t i = 0; i < M; i++) assert_close(w[i], 0.9 / (0.1 + M * 0.9), 1e-12);
  assert_close(gpnn_kriging_error(weights, &c, 1), 0.9 * 0.1 / (0.1 + M * 0.9), 1e-11);
  gpnn_kriging_free(weights);
}

static void a_singular_covariance_is_given_jitter_and_tells_it(void **state)
{
  (void)state;
  struct gpnn_kriging *weights = weights_new(4, D);
  const struct gpnn_isotropic c = covariance("rbf", 1, 2, 0);
  const double offsets[4 * D] = {1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  double latent, jitter;
  const double *w;
  gpnn_kriging_put(weights, 4, offsets);
  assert_ok(gpnn_kriging_find(weights, &c, &w, &latent, &jitter, &err));
  assert_true(jitter >= 2e-10 && jitter <= 2.1e-4);
  assert_near(w[0] + w[1] + w[2] + w[3], exp(-0.5), 1e-3);
  gpnn_kriging_free(weights);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_those_of_the_dense_formula),
      cmocka_unit_test(predictions_are_those_of_localgp),
      cmocka_unit_test(the_error_under_another_process_is_the_quadratic_form),
      cmocka_unit_test(with_the_right_parameters_the_error_is_the_latent_variance),
      cmocka_unit_test(noise_alone_is_multiplied_by_the_squared_weights),
      cmocka_unit_test(the_order_of_calls_changes_nothing),
      cmocka_unit_test(draws_have_the_covariance_of_the_truth),
      cmocka_unit_test(the_error_is_the_mean_over_draws),
      cmocka_unit_test(neighbours_out_of_reach_say_nothing),
      cmocka_unit_test(a_draw_tells_its_jitter),
      cmocka_unit_test(neighbours_at_the_place_itself_share_the_weight),
      cmocka_unit_test(a_singular_covariance_is_given_jitter_and_tells_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
