/* Weights of rows: outliers lose theirs, and rows kept out gain by it. */
#include "estimate/row_weights.h"

#include "fixture.h"
#include "unit.h"

enum { N = 1500, D = 1 };

static struct gpnn_parameters parameters(double *lengthscale, enum gpnn_likelihood likelihood)
{
  return (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern52"),
                                                 .n_lengthscales = 1,
                                                 .lengthscale = lengthscale,
                                                 .kernelscale = 1,
                                                 .noise = 0.03},
                                  .likelihood = likelihood,
                                  .degrees = 4,
                                  .neighbours = 30};
}

/* A smooth function whose errors are small but for every tenth, which is large. */
static void set_targets(const struct fixture *f, double *y, double large)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (size_t i = 0; i < f->n; i++)
    y[i] = sin(2 * f->x[i]) + (i % 10 == 0 ? large : 0.1) * gpnn_rng_normal(&rng);
}

static void rows_that_others_contradict_lose_their_weight(void **state)
{
  (void)state;
  struct fixture f;
  double y[N], noise[N], again[N], lengthscale = 0.7;
  const struct gpnn_parameters params = parameters(&lengthscale, GPNN_LIKELIHOOD_STUDENT);
  fixture_new(&f, N, D, 0, 1);
  struct gpnn_dataset view = *f.data;
  set_targets(&f, y, 1.5);
  view.y = y;
  assert_ok(gpnn_row_weights_find(&view, &params, 1, noise, &err));
  for (size_t i = 0; i < N; i++) {
    double error = fabs(y[i] - sin(2 * f.x[i]));
    assert_true(noise[i] >= 0 && isfinite(noise[i]));
    if (error > 1) assert_true(noise[i] > 0.1);
    if (error < 0.05 && fabs(f.x[i]) < 1.5) assert_true(noise[i] < 0.03);
  }
  /* Rows whose error is no larger than usual keep all of their weight. */
  size_t n_whole = 0;
  for (size_t i = 0; i < N; i++) n_whole += noise[i] == 0;
  assert_true(n_whole > N / 2 && n_whole < N * 9 / 10);
  assert_ok(gpnn_row_weights_find(&view, &params, 3, again, &err));
  assert_memory_equal(noise, again, sizeof noise);
  fixture_free(&f);
}

static void the_gain_is_that_of_rows_kept_out(void **state)
{
  (void)state;
  const enum gpnn_likelihood likelihoods[] = {GPNN_LIKELIHOOD_STUDENT, GPNN_LIKELIHOOD_LOCAL};
  for (int l = 0; l < 2; l++) {
    struct fixture f;
    struct gpnn_row_weights_gain heavy, normal;
    double y[N], lengthscale = 0.7;
    const struct gpnn_parameters params = parameters(&lengthscale, likelihoods[l]);
    fixture_new(&f, N, D, 0, 1);
    struct gpnn_dataset view = *f.data;
    view.y = y;
    set_targets(&f, y, 1.5);
    assert_ok(gpnn_row_weights_gain(&view, &params, 1, 2, &heavy, &err));
    assert_true(heavy.n_rows == N / 5 && heavy.nll > 3 * heavy.standard_error);
    set_targets(&f, y, 0.1);
    assert_ok(gpnn_row_weights_gain(&view, &params, 1, 2, &normal, &err));
    assert_true(fabs(normal.nll) < 0.05 && normal.nll < heavy.nll);
    fixture_free(&f);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_that_others_contradict_lose_their_weight),
      cmocka_unit_test(the_gain_is_that_of_rows_kept_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
