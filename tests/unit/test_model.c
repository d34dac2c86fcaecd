/* The one interface of all models. */
#include "base/threads.h"
#include "container/state.h"
#include "dense.h"
#include "fixture.h"
#include "linalg/blas_threads.h"
#include "models.h"

enum { N = 120, D = 2, C = 20, M = 15 };

static double lengthscale[D] = {0.7, 1.4};

static struct gpnn_parameters parameters(void)
{
  return (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                  .covariance.n_lengthscales = D,
                                  .covariance.lengthscale = lengthscale,
                                  .covariance.kernelscale = 0.8,
                                  .covariance.noise = 0.15,
                                  .neighbours = M};
}

struct out {
  double mean[C], variance[C], misfit[C], nearest[C];
};

static void predict(const struct gpnn_model *model, const struct fixture *f, struct out *out)
{
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(model, &(struct gpnn_query){.n = C, .x = f->cx},
                               &(struct gpnn_latent){.mean = out->mean,
                                                     .variance = out->variance,
                                                     .misfit = out->misfit,
                                                     .nearest = out->nearest},
                               &counts, &err));
}

/* The row nearest to 'x' in the metric of the parameters, but for those that are marked. */
static size_t find_nearest(const struct fixture *f, const double *x, const bool *marked)
{
  size_t nearest = SIZE_MAX;
  double least = INFINITY;
  for (size_t i = 0; i < N; i++) {
    double r =
        hypot((x[0] - f->x[i * D]) / lengthscale[0], (x[1] - f->x[i * D + 1]) / lengthscale[1]);
    if (marked[i] || r >= least) continue;
    least = r;
    nearest = i;
  }
  return nearest;
}

/* r'K^-1 r / m from the m nearest rows of 'x', of means b. */
static double dense_misfit(const struct fixture *f, const struct gpnn_parameters *p,
                           const double *x, size_t m, double b)
{
  long double *k = calloc(m * m, sizeof *k), z[M], r[M], unused[M] = {0}, sum = 0;
  bool marked[N] = {false};
  size_t rows[M];
  assert_non_null(k);
  for (size_t a = 0; a < m; a++) {
    rows[a] = find_nearest(f, x, marked);
    marked[rows[a]] = true;
    z[a] = r[a] = (long double)f->y[rows[a]] - b;
  }
  for (size_t a = 0; a < m; a++)
    for (size_t c = 0; c < m; c++)
      k[a * m + c] = p->covariance.kernelscale * dense_kernel("matern32", D, f->x + rows[a] * D,
                                                              f->x + rows[c] * D, D, lengthscale) +
                     (a == c ? (long double)p->covariance.noise : 0);
  dense_solve(m, k, z, unused);
  for (size_t a = 0; a < m; a++) sum += r[a] * z[a];
  free(k);
  return (double)(sum / (long double)m);
}

static void the_misfit_is_the_quadratic_form_of_the_neighbours(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  double b = 0.4, uncertainty = 0.3;
  for (int mean = 0; mean < 3; mean++) { /* none; known; uncertain */
    if (mean > 0)
      p.mean = (struct gpnn_mean_function){
          .kind = GPNN_MEAN_CONSTANT, .n_coefficients = 1, .coefficients = &b};
    if (mean > 1) p.mean.covariance = &uncertainty;
    struct gpnn_model *model = NULL;
    struct gpnn_counts counts = {0};
    struct out out;
    assert_ok(make_model(&model, f.data, &p, 0, 2, &err));
    predict(model, &f, &out);
    for (size_t i = 0; i < C; i++)
      assert_close(out.misfit[i], dense_misfit(&f, &p, f.cx + i * D, M, mean > 0 ? b : 0), 1e-9);
    static const size_t numbers[] = {1, 6, M};
    double misfit[3 * C];
    assert_ok(gpnn_model_predict_each(model, &(struct gpnn_query){.n = C, .x = f.cx}, 3, numbers,
                                      &(struct gpnn_latent){.misfit = misfit}, &counts, &err));
    for (size_t k = 0; k < 3; k++)
      for (size_t i = 0; i < C; i++)
        assert_close(misfit[k * C + i],
                     dense_misfit(&f, &p, f.cx + i * D, numbers[k], mean > 0 ? b : 0), 1e-9);
    gpnn_model_free(model);
  }
  fixture_free(&f);
}

static void without_neighbours_the_misfit_is_one_and_the_distance_infinite(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  int64_t candidates[C];
  struct out out;
  for (size_t i = 0; i < C; i++) candidates[i] = -1;
  assert_ok(make_model(&model, f.data, &p, 0, 1, &err));
  assert_ok(gpnn_model_predict(
      model, &(struct gpnn_query){.n = C, .x = f.cx, .candidates = candidates, .n_candidates = 1},
      &(struct gpnn_latent){
          .mean = out.mean, .variance = out.variance, .misfit = out.misfit, .nearest = out.nearest},
      &counts, &err));
  for (size_t i = 0; i < C; i++) {
    assert_true(out.mean[i] == 0 && out.variance[i] == 0.8);
    assert_true(out.misfit[i] == 1 && isinf(out.nearest[i]));
  }
  gpnn_model_free(model);
  fixture_free(&f);
}

static void a_model_with_other_parameters_leaves_the_first_unchanged(void **state)
{
  (void)state;
  struct fixture f;
  struct out before, after, with, own;
  struct gpnn_model *first = NULL, *other = NULL, *alone = NULL;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters(), q = parameters();
  double longer[D] = {2 * lengthscale[0], 2 * lengthscale[1]};
  q.covariance.kernel = gpnn_kernel_by_name("exp");
  q.covariance.lengthscale = longer;
  q.covariance.noise = 0.02;
  const struct gpnn_channel channel = {f.data, &q};
  assert_ok(make_model(&first, f.data, &p, 0, 1, &err));
  predict(first, &f, &before);
  assert_ok(gpnn_model_with(first, &channel, &other, &err));
  predict(other, &f, &with);
  predict(first, &f, &after);
  assert_memory_equal(&before, &after, sizeof before);
  assert_false(gpnn_model_rebuilt_search(other));
  assert_ok(make_model(&alone, f.data, &q, 0, 1, &err));
  predict(alone, &f, &own);
  assert_memory_equal(&with, &own, sizeof with);
  gpnn_model_free(other);
  predict(first, &f, &after);
  assert_memory_equal(&before, &after, sizeof before);
  gpnn_model_free(alone);
  gpnn_model_free(first);
  fixture_free(&f);
}

static void a_model_reports_what_it_was_made_from(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  assert_ok(make_model(&model, f.data, &p, 2 * N, 3, &err));
  assert_int_equal(gpnn_model_n_channels(model), 1);
  assert_ptr_equal(gpnn_model_channel(model, 0)->parameters, &p);
  assert_ptr_equal(gpnn_model_channel(model, 0)->dataset, f.data);
  assert_int_equal(gpnn_model_neighbours(model, 0), N);
  assert_int_equal(gpnn_model_options(model)->threads, 3);
  gpnn_model_free(model);
  p.degrees = 7;
  assert_ok(make_model(&model, f.data, &p, 0, 1, &err));
  assert_int_equal(gpnn_model_neighbours(model, 0), M);
  gpnn_model_free(model);
  gpnn_model_free(NULL);
  fixture_free(&f);
}

static void parameters_of_an_unknown_target_or_another_model_are_reported(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_channel channel;
  bool other_model;
  char nobody[] = "nobody";
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  p.target = nobody;
  assert_fails(gpnn_channels_find(f.data, 1, &p, &channel, &other_model, &err), GPNN_EMISMATCH,
               "no target 'nobody'");
  p.target = NULL;
  assert_ok(gpnn_channels_find(f.data, 1, &p, &channel, &other_model, &err));
  assert_false(other_model);
  p.provenance.has_index = true;
  p.provenance.index = f.data->fingerprint ^ 1; /* other rows that are scaled alike */
  assert_ok(gpnn_channels_find(f.data, 1, &p, &channel, &other_model, &err));
  assert_false(other_model);
  p.provenance.index = f.data->fingerprint ^ (uint64_t)1 << 32;
  assert_fails(gpnn_channels_find(f.data, 1, &p, &channel, &other_model, &err), GPNN_EMISMATCH,
               "other columns, or of other scaling");
  fixture_free(&f);
}

static void states_with_senseless_numbers_are_refused(void **state)
{
  (void)state;
  static const double wild[] = {NAN, INFINITY, 1e200, -1};
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  const char *target = f.data->schema.target.name;
  for (size_t k = 0; k < sizeof wild / sizeof *wild; k++) {
    struct gpnn_state *weights;
    struct gpnn_transformed *transformed;
    double noise[N] = {0};
    noise[N / 2] = wild[k];
    assert_ok(gpnn_state_new(&weights, f.data->fingerprint, &err));
    assert_ok(gpnn_state_add(weights, target, GPNN_STATE_NOISE, N, noise, &err));
    assert_fails(gpnn_channels_transform(f.data, 1, &p, weights, &transformed, &err), GPNN_EFORMAT,
                 "no valid pseudo-noise");
    gpnn_state_free(weights);
  }
  fixture_free(&f);
}

static void no_rows_give_no_predictions(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  double mean = 5;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_parameters p = parameters();
  assert_ok(make_model(&model, f.data, &p, 0, 2, &err));
  assert_ok(gpnn_model_predict(model, &(struct gpnn_query){.n = 0, .x = f.cx},
                               &(struct gpnn_latent){.mean = &mean}, &counts, &err));
  assert_true(mean == 5 && counts.n_clamped == 0 && counts.jitter.n == 0);
  gpnn_model_free(model);
  fixture_free(&f);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_misfit_is_the_quadratic_form_of_the_neighbours),
      cmocka_unit_test(without_neighbours_the_misfit_is_one_and_the_distance_infinite),
      cmocka_unit_test(a_model_with_other_parameters_leaves_the_first_unchanged),
      cmocka_unit_test(a_model_reports_what_it_was_made_from),
      cmocka_unit_test(parameters_of_an_unknown_target_or_another_model_are_reported),
      cmocka_unit_test(states_with_senseless_numbers_are_refused),
      cmocka_unit_test(no_rows_give_no_predictions),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
