/* What predictions are made of. */
#include "explain/parts.h"

#include "fixture.h"
#include "models.h"

enum { N = 90, D = 2, C = 40, M = 12 };

static struct gpnn_parameters make_parameters(enum gpnn_likelihood likelihood)
{
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                   .covariance.n_lengthscales = D,
                                   .covariance.kernelscale = 0.8,
                                   .covariance.noise = 0.05,
                                   .mean.kind = GPNN_MEAN_LINEAR,
                                   .mean.n_coefficients = 1 + D,
                                   .likelihood = likelihood,
                                   .neighbours = M};
  params.covariance.lengthscale = gpnn_alloc(D, 1, sizeof(double));
  params.mean.coefficients = gpnn_alloc(1 + D, 1, sizeof(double));
  for (size_t j = 0; j < D; j++) params.covariance.lengthscale[j] = 0.6 + 0.9 * (double)j;
  for (size_t j = 0; j <= D; j++) params.mean.coefficients[j] = 0.4 - 0.3 * (double)j;
  return params;
}

/* A fixture, its model and the parts of its calibration rows. */
struct taken {
  struct fixture f;
  struct gpnn_parameters params;
  struct gpnn_model *model;
  struct gpnn_parts parts;
  double mean[C];
};

static void take(struct taken *t, enum gpnn_likelihood likelihood, double lengthscale, double noise,
                 int threads)
{
  struct gpnn_counts counts = {0};
  fixture_new(&t->f, N, D, C, 1);
  t->params = make_parameters(likelihood);
  t->params.covariance.noise = noise;
  t->parts = (struct gpnn_parts){0};
  for (size_t j = 0; j < D; j++) t->params.covariance.lengthscale[j] *= lengthscale;
  const struct gpnn_query query = {.n = C, .x = t->f.cx};
  const struct gpnn_latent latent = {.mean = t->mean};
  assert_ok(make_model(&t->model, t->f.data, &t->params, 0, threads, &err));
  assert_ok(gpnn_model_predict(t->model, &query, &latent, &counts, &err));
  assert_ok(gpnn_parts_find(&t->parts, t->model, &query, &counts, &err));
  assert_int_equal(t->parts.n, C);
  assert_int_equal(t->parts.m, M);
}

static void give(struct taken *t)
{
  gpnn_parts_release(&t->parts);
  gpnn_model_free(t->model);
  gpnn_parameters_release(&t->params);
  fixture_free(&t->f);
}

static void parts_add_up_to_the_mean(void **state)
{
  (void)state;
  struct taken t;
  take(&t, GPNN_LIKELIHOOD_GAUSSIAN, 1, 0.05, 2);
  for (size_t i = 0; i < C; i++) {
    const double *b = t.params.mean.coefficients, *x = t.f.cx + i * D;
    double sum = t.parts.trend[i];
    assert_near(sum, b[0] + b[1] * x[0] + b[2] * x[1], 1e-14);
    assert_true(t.parts.bound[i] == 0);
    for (size_t k = 0; k < M; k++) {
      const struct gpnn_part *part = &t.parts.parts[i * M + k];
      const double *near = t.f.data->x + part->row * D;
      double residual = t.f.data->y[part->row] - (b[0] + b[1] * near[0] + b[2] * near[1]);
      assert_near(part->part, part->weight * residual, 1e-14);
      assert_near(part->distance, hypot((x[0] - near[0]) / 0.6, (x[1] - near[1]) / 1.5), 1e-13);
      assert_true(k == 0 || fabs(part->weight) <= fabs(part[-1].weight));
      sum += part->part;
    }
    assert_near(sum, t.mean[i], 1e-12);
  }
  give(&t);
}

/* A smooth kernel with hardly any noise follows neighbours wherever they lead. */
static void what_bounding_adds_is_a_part_too(void **state)
{
  (void)state;
  struct taken t;
  size_t n_bounded = 0;
  take(&t, GPNN_LIKELIHOOD_LOCAL, 40, 1e-6, 1);
  for (size_t i = 0; i < C; i++) {
    double sum = t.parts.trend[i] + t.parts.bound[i];
    for (size_t k = 0; k < M; k++) sum += t.parts.parts[i * M + k].part;
    assert_near(sum, t.mean[i], 1e-8);
    n_bounded += t.parts.bound[i] != 0;
  }
  assert_true(n_bounded > 0 && n_bounded < C);
  give(&t);
}

static void threads_change_nothing(void **state)
{
  (void)state;
  struct taken one, four;
  take(&one, GPNN_LIKELIHOOD_LOCAL, 1, 0.05, 1);
  take(&four, GPNN_LIKELIHOOD_LOCAL, 1, 0.05, 4);
  for (size_t k = 0; k < (size_t)C * M; k++) {
    assert_true(one.parts.parts[k].row == four.parts.parts[k].row);
    assert_true(one.parts.parts[k].part == four.parts.parts[k].part);
  }
  give(&one);
  give(&four);
}

static void the_variance_is_noise_and_distance_times_disagreement(void **state)
{
  (void)state;
  struct gpnn_parameters params = {.covariance.noise = 0.3};
  const struct gpnn_latent_row latent = {.variance = 0.5, .mean_variance = 0.1, .misfit = 4};
  struct gpnn_head head = gpnn_head_of(&params);
  struct gpnn_variance_sources found = gpnn_variance_sources(&head, &latent, 0.2);
  assert_near(found.noise, 0.5, 1e-15);
  assert_near(found.distance, 0.5, 1e-15);
  assert_near(found.disagreement, 1, 1e-15);
  params.likelihood = GPNN_LIKELIHOOD_LOCAL;
  params.scale.factor = 1.5;
  params.scale.term[GPNN_SCALE_MISFIT] = (struct gpnn_scale_term){0.5, -5, 5};
  params.degrees = 6;
  head = gpnn_head_of(&params);
  found = gpnn_variance_sources(&head, &latent, 0.2);
  /* S g^c = 3 where neighbours disagree, 1.5 where they do not. */
  double noise = 3 * 0.3 + 0.2, process = 3 * 0.4 + 0.1;
  assert_near(found.noise, noise / (noise + process), 1e-14);
  assert_near(found.distance, process / (noise + process), 1e-14);
  assert_near(found.disagreement, sqrt((3 * 0.7 + 0.3) / (1.5 * 0.7 + 0.3)), 1e-14);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(parts_add_up_to_the_mean),
      cmocka_unit_test(what_bounding_adds_is_a_part_too),
      cmocka_unit_test(threads_change_nothing),
      cmocka_unit_test(the_variance_is_noise_and_distance_times_disagreement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
