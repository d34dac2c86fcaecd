/* Rotations of the inputs: whitening, decompositions, and predictions under them. */
#include "kernel/rotation.h"

#include "base/rng.h"
#include "base/threads.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"
#include "models/model.h"

enum { N = 400, D = 3 };

/* Correlated rows of very different variances. */
static void make_rows(double x[N * D])
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 21, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double a = gpnn_rng_normal(&rng), b = gpnn_rng_normal(&rng), c = gpnn_rng_normal(&rng);
    x[i * D] = 5 + a;
    x[i * D + 1] = 0.9 * a + 0.3 * b;
    x[i * D + 2] = 40 * c - 10 * a;
  }
}

/* The population covariance of columns p and q. */
static double covariance(const double *x, size_t p, size_t q)
{
  double mean_p = 0, mean_q = 0, sum = 0;
  for (size_t i = 0; i < N; i++) {
    mean_p += x[i * D + p] / N;
    mean_q += x[i * D + q] / N;
  }
  for (size_t i = 0; i < N; i++) sum += (x[i * D + p] - mean_p) * (x[i * D + q] - mean_q) / N;
  return sum;
}

static double squared_distance(const double *a, const double *b)
{
  double sum = 0;
  for (size_t j = 0; j < D; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

static void applying_is_a_matrix_times_each_row(void **state)
{
  (void)state;
  const double rotation[] = {1, 2, 3, 0, 1, 0, -1, 0, 0.5}, x[] = {1, 10, 100, 2, 0, -2};
  const double expected[] = {321, 10, 49, -4, 0, -3};
  double z[6];
  gpnn_rotation_apply(3, rotation, 2, x, z);
  for (size_t i = 0; i < 6; i++) assert_near(z[i], expected[i], 1e-12);
}

static void whitened_rows_have_a_covariance_of_one_over_d(void **state)
{
  (void)state;
  double x[N * D], z[N * D], rotation[D * D];
  make_rows(x);
  assert_ok(gpnn_rotation_whiten(N, D, x, 1, rotation, &err));
  gpnn_rotation_apply(D, rotation, N, x, z);
  for (size_t p = 0; p < D; p++)
    for (size_t q = 0; q < D; q++) assert_near(covariance(z, p, q), p == q ? 1.0 / D : 0, 1e-9);
}

static void a_direction_without_variance_is_zero(void **state)
{
  (void)state;
  double x[N * D], z[N * D], rotation[D * D], squares[D] = {0};
  make_rows(x);
  for (size_t i = 0; i < N; i++) x[i * D + 2] = x[i * D] + x[i * D + 1];
  assert_ok(gpnn_rotation_whiten(N, D, x, 1, rotation, &err));
  gpnn_rotation_apply(D, rotation, N, x, z);
  for (size_t j = 0; j < D; j++)
    for (size_t q = 0; q < D; q++) squares[j] += rotation[j * D + q] * rotation[j * D + q];
  assert_true(squares[0] > 0 && squares[1] > 0 && squares[2] == 0);
  assert_near(covariance(z, 0, 1), 0, 1e-9);
  assert_near(covariance(z, 0, 0), covariance(z, 1, 1), 1e-9);
}

static void rows_all_alike_cannot_be_whitened(void **state)
{
  (void)state;
  double x[N * D], rotation[D * D] = {7};
  for (size_t i = 0; i < N * D; i++) x[i] = 2;
  assert_fails(gpnn_rotation_whiten(N, D, x, 1, rotation, &err), GPNN_EDATA, "");
  assert_true(rotation[0] == 7);
}

/* |diag(1/lengthscale) rotation x| = |map x| for any x; rows of the rotation are orthonormal. */
static void check_decomposition(const double map[D * D], const double *rotation,
                                const double *lengthscale, double longest)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 22, GPNN_RNG_TEST);
  for (size_t p = 0; p < D; p++) {
    for (size_t q = 0; q < D; q++) {
      double dot = 0;
      for (size_t j = 0; j < D; j++) dot += rotation[p * D + j] * rotation[q * D + j];
      assert_near(dot, p == q, 1e-12);
    }
    assert_true(lengthscale[p] > 0 && lengthscale[p] <= longest);
    assert_true(p == 0 || lengthscale[p] >= lengthscale[p - 1]);
  }
  for (int i = 0; i < 20; i++) {
    double x[D], z[D], w[D], zero[D] = {0};
    for (size_t j = 0; j < D; j++) x[j] = gpnn_rng_normal(&rng);
    gpnn_rotation_apply(D, map, 1, x, z);
    gpnn_rotation_apply(D, rotation, 1, x, w);
    for (size_t j = 0; j < D; j++) w[j] /= lengthscale[j];
    assert_near(squared_distance(w, zero), squared_distance(z, zero), 1e-9);
  }
}

static void a_decomposition_keeps_distances(void **state)
{
  (void)state;
  const double map[] = {1, 2, 0.5, -3, 0.1, 4, 0, 0.7, 0.2};
  double rotation[D * D], lengthscale[D], in_place[D * D];
  assert_ok(gpnn_rotation_decompose(D, map, 1e12, rotation, lengthscale, &err));
  check_decomposition(map, rotation, lengthscale, 1e12);
  memcpy(in_place, map, sizeof map);
  assert_ok(gpnn_rotation_decompose(D, in_place, 1e12, in_place, lengthscale, &err));
  assert_memory_equal(in_place, rotation, sizeof rotation);
}

static void directions_that_vanish_get_the_longest_lengthscale(void **state)
{
  (void)state;
  const double one[] = {1, 2, 3, 2, 4, 6, -1, -2, -3}, none[D * D] = {0};
  double rotation[D * D], lengthscale[D];
  assert_ok(gpnn_rotation_decompose(D, one, 1e8, rotation, lengthscale, &err));
  check_decomposition(one, rotation, lengthscale, 1e8);
  assert_near(lengthscale[0], 1 / sqrt(14 * 6), 1e-9);
  assert_true(lengthscale[1] == 1e8 && lengthscale[2] == 1e8);
  assert_ok(gpnn_rotation_decompose(D, none, 5, rotation, lengthscale, &err));
  for (size_t j = 0; j < D; j++) assert_true(lengthscale[j] == 5);
}

/* ---- predictions ---------------------------------------------------------------------------- */

static void predict(const struct fixture *f, const struct gpnn_parameters *params, const double *x,
                    double *mean, double *latent)
{
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  assert_ok(make_model(&gp, f->data, params, 0, 2, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = f->c, .x = x},
                               &(struct gpnn_latent){.mean = mean, .variance = latent}, &counts,
                               &err));
  gpnn_model_free(gp);
}

static void predictions_are_those_of_rotated_rows(void **state)
{
  (void)state;
  enum { ROWS = 150, NEW = 20 };
  const double rotation[] = {0.6, 0.8, 0, -1.6, 1.2, 0, 0.5, 0, 0.3};
  double lengthscale[] = {0.6, 1.1, 2}, rotation_copy[D * D];
  double mean[2][NEW], latent[2][NEW], new_rows[NEW * D];
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                   .covariance.n_lengthscales = D,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = 0.05,
                                   .neighbours = 25};
  struct fixture f;
  fixture_new(&f, ROWS, D, NEW, 1);
  memcpy(rotation_copy, rotation, sizeof rotation);
  params.covariance.rotation = rotation_copy;
  params.covariance.n_rotation = D * D;
  predict(&f, &params, f.cx, mean[0], latent[0]);
  /* The same rows, rotated beforehand. */
  double *rotated = gpnn_alloc(ROWS, D, sizeof *rotated);
  assert_non_null(rotated);
  gpnn_rotation_apply(D, rotation, ROWS, f.x, rotated);
  gpnn_rotation_apply(D, rotation, NEW, f.cx, new_rows);
  memcpy(f.x, rotated, ROWS * D * sizeof *rotated);
  free(rotated);
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.dataset.schema);
  gpnn_scaling_release(&f.dataset.scaling);
  fixture_write(&f);
  params.covariance.rotation = NULL;
  params.covariance.n_rotation = 0;
  predict(&f, &params, new_rows, mean[1], latent[1]);
  for (size_t i = 0; i < NEW; i++) {
    assert_close(mean[0][i], mean[1][i], 1e-10);
    assert_close(latent[0][i], latent[1][i], 1e-10);
  }
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(applying_is_a_matrix_times_each_row),
      cmocka_unit_test(whitened_rows_have_a_covariance_of_one_over_d),
      cmocka_unit_test(a_direction_without_variance_is_zero),
      cmocka_unit_test(rows_all_alike_cannot_be_whitened),
      cmocka_unit_test(a_decomposition_keeps_distances),
      cmocka_unit_test(directions_that_vanish_get_the_longest_lengthscale),
      cmocka_unit_test(predictions_are_those_of_rotated_rows),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
