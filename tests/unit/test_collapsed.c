#include "dense.h"
#include "random.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "models/inducing/collapsed/collapsed.h"

/* Rows, inducing inputs and parameters, at random. */
struct case_of {
  size_t n, m, d;
  double *x, *y, *z;
  double lengthscale[3], kernelscale, noise;
  struct gpnn_cross_problem problem;
  struct gpnn_collapsed_data data;
};

static const uint32_t groups[] = {0, 1, 2};

static struct case_of made(size_t n, size_t m, const char *kernel)
{
  struct case_of c = {.n = n, .m = m, .d = 3, .lengthscale = {1.1, 0.8, 2}, .kernelscale = 1.3};
  struct gpnn_rng rng = seeded(7);
  c.noise = 0.2;
  c.x = normal_rows(n, c.d, 1);
  c.y = normal_rows(n, 1, 2);
  c.z = normal_rows(m, c.d, 3);
  for (size_t i = 0; i < n; i++)
    c.y[i] = sin(c.x[i * c.d]) + 0.4 * c.y[i] + 0.1 * gpnn_rng_normal(&rng);
  c.problem = (struct gpnn_cross_problem){.m = m,
                                          .d = c.d,
                                          .z = c.z,
                                          .kernel = gpnn_kernel_by_name(kernel),
                                          .n_lengthscales = 3,
                                          .group = groups};
  if (strncmp(kernel, "matern:", 7) == 0)
    assert_true(gpnn_kernel_parse(kernel, &c.problem.kernel, &c.problem.smoothness));
  c.data = (struct gpnn_collapsed_data){
      .n = n, .x = c.x, .y = c.y, .jitter = GPNN_COLLAPSED_JITTER, .threads = 1};
  return c;
}

static void release(struct case_of *c)
{
  free(c->x);
  free(c->y);
  free(c->z);
}

static struct gpnn_collapsed_parameters parameters_of(const struct case_of *c)
{
  return (struct gpnn_collapsed_parameters){c->lengthscale, c->kernelscale, c->noise};
}

/* ---- by the textbook ---------------------------------------------------------------------- */

static long double covariance(const struct case_of *c, const char *kernel, const double *a,
                              const double *b)
{
  return (long double)c->kernelscale * dense_kernel(kernel, c->d, a, b, 3, c->lengthscale);
}

/* L of A = L L', n by n, in place; returns log|A|. */
static long double factor(size_t n, long double *a)
{
  long double logdet = 0;
  for (size_t j = 0; j < n; j++) {
    for (size_t k = 0; k < j; k++) a[j * n + j] -= a[j * n + k] * a[j * n + k];
    a[j * n + j] = sqrtl(a[j * n + j]);
    logdet += 2 * logl(a[j * n + j]);
    for (size_t i = j + 1; i < n; i++) {
      for (size_t k = 0; k < j; k++) a[i * n + j] -= a[i * n + k] * a[j * n + k];
      a[i * n + j] /= a[j * n + j];
    }
  }
  return logdet;
}

static void forward(size_t n, const long double *l, long double *b)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) b[i] -= l[i * n + k] * b[k];
    b[i] /= l[i * n + i];
  }
}

struct dense {
  long double bound, evidence;      /* of the sparse and of the full process */
  long double mean[8], variance[8]; /* at the first rows of 'at' */
};

/* Q = Kfu Kuu^-1 Kuf, the bound, and predictions from the n by n matrices. */
static struct dense dense(const struct case_of *c, const char *kernel, size_t n_at,
                          const double *at)
{
  size_t n = c->n, m = c->m, all = n + n_at;
  struct dense result = {0};
  long double *kuu = calloc(m * m, sizeof *kuu), *a = calloc(all * m, sizeof *a);
  long double *q = calloc(n * n, sizeof *q), *k = calloc(n * n, sizeof *k);
  long double *y = calloc(n, sizeof *y), *z = calloc(n, sizeof *z), *s = calloc(n, sizeof *s);
  assert_true(kuu && a && q && k && y && z && s);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < m; j++)
      kuu[i * m + j] = covariance(c, kernel, c->z + i * c->d, c->z + j * c->d) +
                       (i == j ? (long double)c->data.jitter * c->kernelscale : 0);
  factor(m, kuu);
  for (size_t i = 0; i < all; i++) {
    const double *row = i < n ? c->x + i * c->d : at + (i - n) * c->d;
    for (size_t j = 0; j < m; j++) a[i * m + j] = covariance(c, kernel, row, c->z + j * c->d);
    forward(m, kuu, a + i * m);
  }
  long double left = 0, noise = c->noise;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      for (size_t l = 0; l < m; l++) q[i * n + j] += a[i * m + l] * a[j * m + l];
      k[i * n + j] = covariance(c, kernel, c->x + i * c->d, c->x + j * c->d) + (i == j ? noise : 0);
      if (i == j) left += c->kernelscale - q[i * n + j];
      q[i * n + j] += i == j ? noise : 0;
    }
  const long double log_2_pi = logl(2 * acosl(-1));
  long double logdet = factor(n, q), full = factor(n, k);
  for (size_t i = 0; i < n; i++) y[i] = z[i] = c->y[i];
  forward(n, q, y);
  forward(n, k, z);
  result.bound = -0.5L * ((long double)n * log_2_pi + logdet + left / noise);
  result.evidence = -0.5L * ((long double)n * log_2_pi + full);
  for (size_t i = 0; i < n; i++) {
    result.bound -= 0.5L * y[i] * y[i];
    result.evidence -= 0.5L * z[i] * z[i];
  }
  for (size_t t = 0; t < n_at; t++) {
    for (size_t i = 0; i < n; i++) {
      s[i] = 0;
      for (size_t l = 0; l < m; l++) s[i] += a[i * m + l] * a[(n + t) * m + l];
    }
    forward(n, q, s);
    result.variance[t] = c->kernelscale;
    for (size_t i = 0; i < n; i++) {
      result.mean[t] += s[i] * y[i];
      result.variance[t] -= s[i] * s[i];
    }
  }
  free(kuu), free(a), free(q), free(k), free(y), free(z), free(s);
  return result;
}

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:1.2"};
enum { N_KERNELS = sizeof kernels / sizeof *kernels };

/* ---- tests -------------------------------------------------------------------------------- */

static double bound_of(const struct case_of *c, double *gradient)
{
  struct gpnn_collapsed *collapsed = NULL;
  const struct gpnn_collapsed_parameters parameters = parameters_of(c);
  double bound = 0;
  assert_ok(gpnn_collapsed_new(&collapsed, &c->problem, &c->data, &err));
  assert_ok(gpnn_collapsed_bound(collapsed, &parameters, &bound, gradient, &err));
  gpnn_collapsed_free(collapsed);
  return bound;
}

static void check_posterior(bool rescales)
{
  double at[8 * 3], weights[20], root[20 * 20], bound;
  size_t rank;
  struct gpnn_rng rng = seeded(11);
  for (size_t i = 0; i < sizeof at / sizeof *at; i++) at[i] = 1.5 * gpnn_rng_normal(&rng);
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct case_of c = made(150, 20, kernels[k]);
    struct gpnn_collapsed *collapsed = NULL;
    struct gpnn_collapsed_parameters parameters = parameters_of(&c);
    assert_ok(gpnn_collapsed_new(&collapsed, &c.problem, &c.data, &err));
    assert_ok(gpnn_collapsed_posterior(collapsed, &parameters, rescales, &bound, weights, root,
                                       &rank, &err));
    c.kernelscale = parameters.kernelscale;
    c.noise = parameters.noise;
    struct dense expected = dense(&c, kernels[k], 8, at);
    assert_near(bound, (double)expected.bound, 1e-8 * fabs(bound));
    assert_true(bound < (double)expected.evidence);
    for (size_t t = 0; t < 8; t++) {
      double mean = 0, variance = c.kernelscale;
      for (size_t j = 0; j < c.m; j++)
        mean += weights[j] * (double)covariance(&c, kernels[k], at + t * c.d, c.z + j * c.d);
      for (size_t r = 0; r < rank; r++) {
        double sum = 0;
        for (size_t j = 0; j < c.m; j++)
          sum +=
              root[r * c.m + j] * (double)covariance(&c, kernels[k], at + t * c.d, c.z + j * c.d);
        variance -= sum * sum;
      }
      assert_near(mean, (double)expected.mean[t], 1e-8);
      assert_near(variance, (double)expected.variance[t], 1e-8);
    }
    gpnn_collapsed_free(collapsed);
    release(&c);
  }
}

static void bound_and_predictions_are_those_of_the_dense_formula(void **state)
{
  (void)state;
  check_posterior(false);
  check_posterior(true);
}

static void rescaling_makes_derivatives_vanish(void **state)
{
  (void)state;
  double weights[20], root[20 * 20], before = 0, after = 0, gradient[5];
  size_t rank;
  struct case_of c = made(150, 20, "matern32");
  struct gpnn_collapsed *collapsed = NULL;
  struct gpnn_collapsed_parameters parameters = parameters_of(&c);
  assert_ok(gpnn_collapsed_new(&collapsed, &c.problem, &c.data, &err));
  assert_ok(gpnn_collapsed_bound(collapsed, &parameters, &before, NULL, &err));
  assert_ok(
      gpnn_collapsed_posterior(collapsed, &parameters, true, &after, weights, root, &rank, &err));
  assert_true(after > before + 0.1);
  assert_ok(gpnn_collapsed_bound(collapsed, &parameters, &before, gradient, &err));
  assert_near(before, after, 1e-7 * fabs(after));
  assert_near(gradient[3], 0, 0.02);
  assert_near(gradient[4], 0, 0.02);
  gpnn_collapsed_free(collapsed);
  release(&c);
}

static void inducing_points_at_all_rows_give_the_marginal_likelihood(void **state)
{
  (void)state;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct case_of c = made(60, 60, kernels[k]);
    memcpy(c.z, c.x, 60 * c.d * sizeof *c.z);
    c.data.jitter = 1e-10;
    struct dense expected = dense(&c, kernels[k], 0, c.x);
    assert_near(bound_of(&c, NULL), (double)expected.evidence, 1e-6);
    release(&c);
  }
}

static void derivatives_are_those_of_central_differences(void **state)
{
  (void)state;
  const double h = 1e-5;
  for (size_t k = 0; k < N_KERNELS; k++) {
    struct case_of c = made(150, 20, kernels[k]);
    double *const number[] = {&c.lengthscale[0], &c.lengthscale[1], &c.lengthscale[2],
                              &c.kernelscale, &c.noise};
    double gradient[5];
    bound_of(&c, gradient);
    for (size_t j = 0; j < 5; j++) {
      double kept = *number[j];
      *number[j] = kept * exp(h);
      double above = bound_of(&c, NULL);
      *number[j] = kept * exp(-h);
      double below = bound_of(&c, NULL);
      *number[j] = kept;
      assert_near(gradient[j], (above - below) / (2 * h), 1e-5 * (1 + fabs(gradient[j])));
    }
    release(&c);
  }
}

static void one_lengthscale_moves_as_all_together(void **state)
{
  (void)state;
  struct case_of c = made(80, 10, "matern52");
  double gradient[5], single[3];
  c.lengthscale[1] = c.lengthscale[2] = c.lengthscale[0];
  double bound = bound_of(&c, gradient);
  c.problem.n_lengthscales = 1;
  assert_near(bound_of(&c, single), bound, 1e-9);
  assert_near(single[0], gradient[0] + gradient[1] + gradient[2], 1e-8);
  assert_near(single[1], gradient[3], 1e-8);
  assert_near(single[2], gradient[4], 1e-8);
  release(&c);
}

static void neither_threads_nor_blocks_change_anything(void **state)
{
  (void)state;
  struct case_of c = made(2500, 300, "matern32");
  double one[5], four[5];
  double bound = bound_of(&c, one);
  c.data.threads = 4;
  double other = bound_of(&c, four);
  assert_memory_equal(&bound, &other, sizeof bound);
  assert_memory_equal(one, four, sizeof one);
  release(&c);
}

static void duplicates_among_inducing_points_do_no_harm(void **state)
{
  (void)state;
  struct case_of c = made(100, 20, "rbf");
  memcpy(c.z + 10 * c.d, c.z, 10 * c.d * sizeof *c.z);
  struct case_of half = made(100, 10, "rbf");
  double twice = bound_of(&c, NULL), once = bound_of(&half, NULL);
  assert_near(twice, once, 1e-2);
  assert_true(twice >= once - 1e-9);
  release(&c);
  release(&half);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bound_and_predictions_are_those_of_the_dense_formula),
      cmocka_unit_test(rescaling_makes_derivatives_vanish),
      cmocka_unit_test(inducing_points_at_all_rows_give_the_marginal_likelihood),
      cmocka_unit_test(derivatives_are_those_of_central_differences),
      cmocka_unit_test(one_lengthscale_moves_as_all_together),
      cmocka_unit_test(neither_threads_nor_blocks_change_anything),
      cmocka_unit_test(duplicates_among_inducing_points_do_no_harm),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
