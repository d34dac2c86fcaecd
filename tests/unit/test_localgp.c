#include "base/threads.h"
#include "dense.h"
#include "fixture.h"
#include "models/localgp.h"

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};

static struct gpnn_params make_params(const char *kernel, size_t n_lengthscales, size_t neighbours)
{
  struct gpnn_params params = {.kernel = gpnn_kernel_by_name(kernel),
                               .n_lengthscales = n_lengthscales,
                               .kernelscale = 0.9,
                               .noise = 0.05,
                               .neighbours = neighbours};
  params.lengthscale = calloc(n_lengthscales, sizeof *params.lengthscale);
  assert_non_null(params.lengthscale);
  for (size_t j = 0; j < n_lengthscales; j++) params.lengthscale[j] = 0.6 + 0.5 * (double)j;
  return params;
}

static void predict(const struct fixture *f, const struct gpnn_params *params, size_t n_rows,
                    const double *x, const int64_t *self, int threads, double *mean, double *latent,
                    struct gpnn_localgp_counts *counts)
{
  struct gpnn_localgp *gp = NULL;
  assert_ok(gpnn_localgp_new(&gp, f->index, params, 0, threads, &err));
  assert_ok(gpnn_localgp_predict(gp, &(struct gpnn_points){.n = n_rows, .x = x, .self = self},
                                 &(struct gpnn_prediction){.mean = mean, .latent = latent}, counts,
                                 &err));
  gpnn_localgp_free(gp);
}

/* Predicts the fixture's calibration rows and compares each with the dense formula over the
 * training rows 'chosen' says (NULL: all). */
static void compare_with_dense(const struct fixture *f, const struct gpnn_params *params)
{
  double mean[16], latent[16];
  struct gpnn_localgp_counts counts = {0};
  assert_true(f->c <= 16);
  predict(f, params, f->c, f->cx, NULL, 2, mean, latent, &counts);
  for (size_t i = 0; i < f->c; i++) {
    double m, v;
    dense_predict(params->kernel->name, f->n, f->d, f->x, f->y, f->cx + i * f->d,
                  params->n_lengthscales, params->lengthscale, params->kernelscale, params->noise,
                  &m, &v);
    assert_close(mean[i], m, 1e-10);
    assert_close(latent[i], v, 1e-10);
  }
  assert_int_equal(counts.n_jittered, 0);
}

static void all_rows_as_neighbours_give_the_dense_gp(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 60, 3, 12, 1);
  for (size_t k = 0; k < 4; k++) {
    for (size_t n_lengthscales = 1; n_lengthscales <= 3; n_lengthscales += 2) {
      struct gpnn_params params = make_params(kernels[k], n_lengthscales, 400);
      compare_with_dense(&f, &params);
      params.neighbours = 60;
      compare_with_dense(&f, &params);
      gpnn_params_release(&params);
    }
  }
  fixture_free(&f);
}

struct near {
  double distance;
  size_t row;
};

static int nearer(const void *a, const void *b)
{
  const struct near *p = a, *q = b;
  return (p->distance > q->distance) - (p->distance < q->distance);
}

static void neighbours_are_the_nearest_in_the_metric_of_the_kernel(void **state)
{
  (void)state;
  enum { M = 9, N = 80, D = 3 };
  struct fixture f;
  fixture_new(&f, N, D, 10, 1);
  for (size_t n_lengthscales = 1; n_lengthscales <= D; n_lengthscales += 2) {
    struct gpnn_params params = make_params("matern32", n_lengthscales, M);
    double mean[10], latent[10], x[M * D], y[M];
    struct gpnn_localgp_counts counts = {0};
    predict(&f, &params, 10, f.cx, NULL, 1, mean, latent, &counts);
    for (size_t i = 0; i < 10; i++) {
      struct near all[N];
      for (size_t r = 0; r < N; r++) {
        all[r] = (struct near){0, r};
        for (size_t j = 0; j < D; j++)
          all[r].distance += pow((f.x[r * D + j] - f.cx[i * D + j]) /
                                     params.lengthscale[n_lengthscales > 1 ? j : 0],
                                 2);
      }
      qsort(all, N, sizeof all[0], nearer);
      for (size_t r = 0; r < M; r++) {
        memcpy(x + r * D, f.x + all[r].row * D, D * sizeof(double));
        y[r] = f.y[all[r].row];
      }
      double m, v;
      dense_predict("matern32", M, D, x, y, f.cx + i * D, n_lengthscales, params.lengthscale,
                    params.kernelscale, params.noise, &m, &v);
      assert_close(mean[i], m, 1e-10);
      assert_close(latent[i], v, 1e-10);
    }
    gpnn_params_release(&params);
  }
  fixture_free(&f);
}

static void a_row_left_out_is_predicted_from_the_others(void **state)
{
  (void)state;
  enum { N = 40, D = 2 };
  struct fixture f;
  fixture_new(&f, N, D, 0, 1);
  memcpy(f.x + D, f.x, D * sizeof(double)); /* rows 0 and 1 have the same inputs */
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.contents.schema);
  gpnn_standard_release(&f.contents.standard);
  fixture_write(&f);
  struct gpnn_params params = make_params("exp", 1, N);
  int64_t self[N];
  double mean[N], latent[N], x[N * D], y[N];
  struct gpnn_localgp_counts counts = {0};
  for (size_t i = 0; i < N; i++) self[i] = (int64_t)i;
  predict(&f, &params, N, f.x, self, 2, mean, latent, &counts);
  for (size_t i = 0; i < N; i++) {
    size_t kept = 0;
    for (size_t r = 0; r < N; r++) {
      if (r == i) continue;
      memcpy(x + kept * D, f.x + r * D, D * sizeof(double));
      y[kept++] = f.y[r];
    }
    double m, v;
    dense_predict("exp", kept, D, x, y, f.x + i * D, 1, params.lengthscale, params.kernelscale,
                  params.noise, &m, &v);
    assert_close(mean[i], m, 1e-10);
    assert_close(latent[i], v, 1e-10);
  }
  gpnn_params_release(&params);
  fixture_free(&f);
}

static void threads_and_batches_change_no_bit(void **state)
{
  (void)state;
  enum { ROWS = 300 };
  struct fixture f;
  fixture_new(&f, 500, 4, ROWS, 1);
  struct gpnn_params params = make_params("matern52", 4, 30);
  double mean[3][ROWS], latent[3][ROWS];
  struct gpnn_localgp_counts counts = {0};
  predict(&f, &params, ROWS, f.cx, NULL, 1, mean[0], latent[0], &counts);
  predict(&f, &params, ROWS, f.cx, NULL, 3, mean[1], latent[1], &counts);
  for (size_t i = 0; i < ROWS; i += 7) {
    size_t n = ROWS - i < 7 ? ROWS - i : 7;
    predict(&f, &params, n, f.cx + i * f.d, NULL, 2, mean[2] + i, latent[2] + i, &counts);
  }
  for (int k = 1; k < 3; k++) {
    assert_memory_equal(mean[0], mean[k], sizeof mean[0]);
    assert_memory_equal(latent[0], latent[k], sizeof latent[0]);
  }
  gpnn_params_release(&params);
  fixture_free(&f);
}

static void duplicates_without_noise_need_jitter_and_stay_finite(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 50, 2, 5, 1);
  for (size_t i = 1; i < 50; i++) memcpy(f.x + 2 * i, f.x + 2 * (i % 5), 2 * sizeof(double));
  gpnn_index_close(f.index);
  gpnn_schema_release(&f.contents.schema);
  gpnn_standard_release(&f.contents.standard);
  fixture_write(&f);
  struct gpnn_params params = make_params("rbf", 1, 50);
  params.noise = 0;
  double mean[5], latent[5];
  struct gpnn_localgp_counts counts = {0};
  predict(&f, &params, 5, f.cx, NULL, 1, mean, latent, &counts);
  assert_int_equal(counts.n_jittered, 5);
  assert_true(counts.max_jitter > 0);
  for (size_t i = 0; i < 5; i++) {
    assert_true(isfinite(mean[i]));
    assert_true(latent[i] >= 0 && latent[i] <= params.kernelscale);
  }
  gpnn_params_release(&params);
  fixture_free(&f);
}

static void lengthscales_for_other_inputs_are_refused(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, 30, 4, 0, 1);
  struct gpnn_params params = make_params("rbf", 3, 10);
  struct gpnn_localgp *gp = NULL;
  assert_fails(gpnn_localgp_new(&gp, f.index, &params, 0, 1, &err), GPNN_EMISMATCH, "lengthscale");
  assert_null(gp);
  gpnn_params_release(&params);
  fixture_free(&f);
}

int main(void)
{
  gpnn_threads_single_blas();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_rows_as_neighbours_give_the_dense_gp),
      cmocka_unit_test(neighbours_are_the_nearest_in_the_metric_of_the_kernel),
      cmocka_unit_test(a_row_left_out_is_predicted_from_the_others),
      cmocka_unit_test(threads_and_batches_change_no_bit),
      cmocka_unit_test(duplicates_without_noise_need_jitter_and_stay_finite),
      cmocka_unit_test(lengthscales_for_other_inputs_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
