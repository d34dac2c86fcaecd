/* Predictions of the family tucker: against dense matrices of the whole grid, and what holds of
 * them whatever the model. */
#include "dense.h"
#include "random.h"
#include "unit.h"

#include "dataset/stored.h"
#include "models/model.h"
#include "models/tucker/fit.h"
#include "models/tucker/tucker.h"

enum { P = 3, GRID = 4 * 5 * 3, ROWS = 77 };

static const size_t sizes[P] = {4, 5, 3}, ranks[P] = {2, 3, 2};
static const uint32_t groups[P] = {0, 1, 2};
static double lengthscales[P] = {0.9, 1.4, 0.7};
static char target[] = "y";

/* A model with numbers at random. */
struct made {
  struct gpnn_tucker tucker;
  struct gpnn_state *arrays;
  struct gpnn_stored stored;
  struct gpnn_parameters parameters;
  struct gpnn_dataset dataset;
};

static void begin(struct made *m, const char *kernel, const struct gpnn_tucker_shape *shape)
{
  struct gpnn_rng rng = seeded(3);
  memset(m, 0, sizeof *m);
  m->parameters.family = GPNN_FAMILY_TUCKER;
  m->parameters.covariance = (struct gpnn_covariance){.kernel = gpnn_kernel_by_name(kernel),
                                                      .n_lengthscales = P,
                                                      .lengthscale = lengthscales,
                                                      .kernelscale = 1.7,
                                                      .noise = 0.2};
  assert_ok(gpnn_tucker_new(&m->tucker, shape, m->parameters.covariance.kernel, &err));
  for (size_t i = 0; i < m->tucker.n_numbers; i++) m->tucker.numbers[i] = gpnn_rng_normal(&rng);
  for (size_t l = 0; l < shape->p; l++)
    for (size_t j = 0; j < shape->m[l]; j++)
      m->tucker.points[l][j] = -1.5 + 3 * (double)j / (double)(shape->m[l] - 1) + 0.02 * (double)l;
}

static const struct gpnn_tucker_shape usual = {.p = P, .m = {4, 5, 3}, .q = {2, 3, 2}};

static struct gpnn_channel channel(struct made *m)
{
  assert_ok(gpnn_state_new(&m->arrays, 1, &err));
  assert_ok(gpnn_tucker_store(&m->tucker, target, m->arrays, &err));
  m->stored.arrays = m->arrays;
  m->dataset = (struct gpnn_dataset){
      .n = 100, .d = m->tucker.shape.p, .n_groups = P, .group = groups, .stored = &m->stored};
  m->dataset.schema.target.name = target;
  return (struct gpnn_channel){&m->dataset, &m->parameters};
}

static void end(struct made *m)
{
  gpnn_tucker_release(&m->tucker);
  gpnn_state_free(m->arrays);
}

static struct gpnn_model *opened_again(struct made *m, int threads)
{
  struct gpnn_model *model = NULL;
  const struct gpnn_channel own = {&m->dataset, &m->parameters};
  const struct gpnn_model_options options = {.threads = threads};
  assert_ok(gpnn_model_new(&model, 1, &own, &options, &err));
  return model;
}

static struct gpnn_model *opened(struct made *m, int threads)
{
  channel(m);
  return opened_again(m, threads);
}

struct out {
  double mean[ROWS], variance[ROWS], nearest[ROWS];
};

static void predict_into(const struct gpnn_model *model, size_t n, const double *x, double *mean,
                         double *variance, double *nearest)
{
  const struct gpnn_query query = {.n = n, .x = x};
  const struct gpnn_latent latent = {.mean = mean, .variance = variance, .nearest = nearest};
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
}

static void predict(const struct gpnn_model *model, size_t n, const double *x, struct out *out)
{
  predict_into(model, n, x, out->mean, out->variance, out->nearest);
}

static enum gpnn_status join(const struct gpnn_model *model, size_t n, const double *x,
                             double *covariance, struct gpnn_error *err)
{
  double ones[ROWS];
  const struct gpnn_query query = {.n = n, .x = x};
  const struct gpnn_errors errors = {.process = ones, .mean = ones};
  for (size_t i = 0; i < n; i++) ones[i] = 1;
  return gpnn_model_joint(model, 0, &query, &errors, covariance, err);
}

/* ---- by dense matrices -------------------------------------------------------------------- */

static void indices(size_t u, size_t *j)
{
  j[0] = u / (sizes[1] * sizes[2]);
  j[1] = u / sizes[2] % sizes[1];
  j[2] = u % sizes[2];
}

static long double r_of(const struct made *m, size_t l, double x, size_t j)
{
  return dense_kernel(m->parameters.covariance.kernel->name, 1, &x, &m->tucker.points[l][j], 1,
                      &lengthscales[l]);
}

static long double k_of(const struct made *m, const double *x, size_t u)
{
  size_t j[P];
  long double k = 1;
  indices(u, j);
  for (size_t l = 0; l < P; l++) k *= r_of(m, l, x[l], j[l]);
  return k;
}

/* Element a, b of R_l. */
static long double big_r(const struct made *m, size_t l, size_t a, size_t b)
{
  return r_of(m, l, m->tucker.points[l][a], b) + (a == b ? (long double)m->tucker.jitter : 0);
}

/* The grid's weights: the core times all factors. */
static long double weight(const struct made *m, size_t u)
{
  size_t j[P];
  long double sum = 0;
  const double *numbers = m->tucker.numbers, *core = numbers;
  indices(u, j);
  for (size_t a = 0; a < ranks[0]; a++)
    for (size_t b = 0; b < ranks[1]; b++)
      for (size_t c = 0; c < ranks[2]; c++)
        sum += (long double)*core++ * numbers[m->tucker.factor[0] + j[0] * ranks[0] + a] *
               numbers[m->tucker.factor[1] + j[1] * ranks[1] + b] *
               numbers[m->tucker.factor[2] + j[2] * ranks[2] + c];
  return sum;
}

/* S_l = R - R C^-1 R over the kernel scale, column by column. */
static void fill_s(const struct made *m, size_t l, long double *s)
{
  size_t n = sizes[l];
  long double c[5 * 5], column[5], again[5];
  for (size_t b = 0; b < n; b++) {
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) c[i * n + j] = big_r(m, l, i, j);
      c[i * n + i] += expl(m->tucker.numbers[m->tucker.rho[l] + i]);
      column[i] = again[i] = big_r(m, l, i, b);
    }
    dense_solve(n, c, column, again);
    for (size_t a = 0; a < n; a++) {
      s[a * n + b] = big_r(m, l, a, b);
      for (size_t i = 0; i < n; i++) s[a * n + b] -= big_r(m, l, a, i) * column[i];
    }
  }
}

/* Mean at a, and covariance of a and b, by matrices of the order of the grid. */
static void by_dense(const struct made *m, const double *a, const double *b, double *mean,
                     double *covariance)
{
  static long double k[GRID * GRID], s[P][5 * 5], u[GRID], v[GRID];
  size_t i[P], j[P];
  long double f = 0, c = 1;
  for (size_t l = 0; l < P; l++) {
    fill_s(m, l, s[l]);
    c *= dense_kernel(m->parameters.covariance.kernel->name, 1, &a[l], &b[l], 1, &lengthscales[l]);
  }
  for (size_t r = 0; r < GRID; r++) {
    indices(r, i);
    u[r] = k_of(m, a, r);
    v[r] = k_of(m, b, r);
    f += u[r] * weight(m, r);
    for (size_t q = 0; q < GRID; q++) {
      indices(q, j);
      k[r * GRID + q] = 1;
      for (size_t l = 0; l < P; l++) k[r * GRID + q] *= big_r(m, l, i[l], j[l]);
    }
  }
  dense_solve(GRID, k, u, v);
  for (size_t r = 0; r < GRID; r++) {
    indices(r, i);
    c -= k_of(m, a, r) * v[r];
    for (size_t q = 0; q < GRID; q++) {
      indices(q, j);
      c += u[r] * v[q] * s[0][i[0] * 4 + j[0]] * s[1][i[1] * 5 + j[1]] * s[2][i[2] * 3 + j[2]];
    }
  }
  *mean = (double)f;
  *covariance = (double)(1.7L * c);
}

static void mean_and_variance_are_those_of_dense_matrices(void **unused)
{
  const char *const kernels[] = {"rbf", "exp", "matern32", "matern52"};
  double *x = normal_rows(ROWS, P, 5);
  struct out out;
  (void)unused;
  for (size_t k = 0; k < 4; k++) {
    struct made m;
    begin(&m, kernels[k], &usual);
    struct gpnn_model *model = opened(&m, 1);
    predict(model, ROWS, x, &out);
    for (size_t i = 0; i < ROWS; i += 19) {
      double mean, variance;
      by_dense(&m, x + i * P, x + i * P, &mean, &variance);
      assert_near(out.mean[i], mean, 1e-12 * (1 + fabs(mean)));
      assert_near(out.variance[i], variance, 1e-9);
    }
    gpnn_model_free(model);
    end(&m);
  }
  free(x);
}

static void joint_covariances_are_those_of_dense_matrices(void **unused)
{
  enum { N = 4 };
  double *x = normal_rows(N, P, 6), covariance[N * N], mean, expected;
  struct made m;
  (void)unused;
  begin(&m, "matern52", &usual);
  struct gpnn_model *model = opened(&m, 1);
  assert_ok(join(model, N, x, covariance, &err));
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      by_dense(&m, x + i * P, x + j * P, &mean, &expected);
      assert_near(covariance[i * N + j], expected, 1e-10);
      assert_true(covariance[i * N + j] == covariance[j * N + i]);
    }
  gpnn_model_free(model);
  end(&m);
  free(x);
}

static void joint_covariances_of_many_rows_have_their_variances(void **unused)
{
  double *x = normal_rows(ROWS, P, 7), *covariance = gpnn_alloc(ROWS, ROWS, sizeof(double));
  struct made m;
  struct out out;
  (void)unused;
  begin(&m, "rbf", &usual);
  struct gpnn_model *model = opened(&m, 1);
  predict(model, ROWS, x, &out);
  assert_ok(join(model, ROWS, x, covariance, &err));
  for (size_t i = 0; i < ROWS; i++) assert_near(covariance[i * ROWS + i], out.variance[i], 1e-10);
  assert_ok(join(model, 0, x, covariance, &err));
  gpnn_model_free(model);
  end(&m);
  free(x);
  free(covariance);
}

/* ---- whatever the model ------------------------------------------------------------------- */

static void variances_lie_between_zero_and_the_kernel_scale(void **unused)
{
  const double rho[] = {-14, 0, 30};
  double *x = normal_rows(ROWS, P, 8);
  struct out out;
  (void)unused;
  for (size_t k = 0; k < 3; k++) {
    struct made m;
    begin(&m, "rbf", &usual);
    for (size_t j = 0; j < m.tucker.n_grid; j++) m.tucker.numbers[m.tucker.rho[0] + j] = rho[k];
    for (size_t l = 0; l < P; l++) lengthscales[l] *= 10; /* nearly singular */
    struct gpnn_model *model = opened(&m, 1);
    predict(model, ROWS, x, &out);
    for (size_t i = 0; i < ROWS; i++)
      assert_true(out.variance[i] >= 0 && out.variance[i] <= 1.7 * (1 + 1e-12));
    if (k == 2) assert_near(out.variance[0], 1.7, 1e-4);
    for (size_t l = 0; l < P; l++) lengthscales[l] /= 10;
    gpnn_model_free(model);
    end(&m);
  }
  free(x);
}

static void rows_outside_the_box_are_told_and_fall_back_to_the_prior(void **unused)
{
  const double x[] = {
      0, 0,     0,      -1.5, 1.52, 1.54, 1.5 + 2 * 0.9, 0, -1.46 - 3 * 0.7, 500, 0, -500,
      0, 1e300, -1e300, 0,    0,    0};
  struct made m;
  struct out out;
  (void)unused;
  begin(&m, "matern32", &usual);
  struct gpnn_model *model = opened(&m, 1);
  predict(model, 6, x, &out);
  assert_true(out.nearest[0] == 0 && out.nearest[1] == 0 && out.nearest[5] == 0);
  assert_near(out.nearest[2], sqrt(2 * 2 + 3 * 3), 1e-12);
  assert_true(out.nearest[4] > 1e50 && isfinite(out.nearest[4]));
  for (size_t i = 3; i < 5; i++) {
    assert_near(out.mean[i], 0, 1e-12);
    assert_near(out.variance[i], 1.7, 1e-12);
  }
  gpnn_model_free(model);
  end(&m);
}

static void the_box_is_where_the_distance_is_zero(void **unused)
{
  double *x = normal_rows(ROWS, P, 14);
  struct gpnn_tucker_box box;
  struct made m;
  struct out out;
  size_t n_outside = 0;
  (void)unused;
  begin(&m, "rbf", &usual);
  struct gpnn_model *model = opened(&m, 1);
  const struct gpnn_channel own = {&m.dataset, &m.parameters};
  predict(model, ROWS, x, &out);
  assert_ok(gpnn_tucker_box_of(&box, &own, &err));
  for (size_t i = 0; i < ROWS; i++) {
    assert_int_equal(gpnn_tucker_box_excludes(&box, x + i * P), out.nearest[i] > 0);
    n_outside += out.nearest[i] > 0;
  }
  assert_true(n_outside > 5 && n_outside < ROWS - 5);
  gpnn_model_free(model);
  m.parameters.family = GPNN_FAMILY_DIAG;
  assert_fails(gpnn_tucker_box_of(&box, &own, &err), GPNN_EMISMATCH, "grid");
  end(&m);
  free(x);
}

static void bytes_depend_neither_on_threads_nor_on_neighbouring_rows(void **unused)
{
  enum { MANY = 9 * ROWS };
  double *x = normal_rows(MANY, P, 9), *mean = gpnn_alloc(3, MANY, sizeof *mean);
  struct made m;
  struct out out;
  (void)unused;
  begin(&m, "matern52", &usual);
  struct gpnn_model *one = opened(&m, 1), *three = opened_again(&m, 3);
  predict_into(three, MANY, x, mean, mean + MANY, mean + 2 * MANY);
  for (size_t first = 0; first < MANY; first += 7) {
    size_t n = MANY - first < 7 ? MANY - first : 7;
    predict(one, n, x + first * P, &out);
    assert_memory_equal(out.mean, mean + first, n * sizeof *mean);
    assert_memory_equal(out.variance, mean + MANY + first, n * sizeof *mean);
    assert_memory_equal(out.nearest, mean + 2 * MANY + first, n * sizeof *mean);
  }
  predict(one, 0, x, &out);
  gpnn_model_free(one);
  gpnn_model_free(three);
  end(&m);
  free(x);
  free(mean);
}

static void a_sum_of_products_is_a_core_that_is_zero_off_its_diagonal(void **unused)
{
  const struct gpnn_tucker_shape full = {.p = P, .m = {4, 5, 3}, .q = {2, 2, 2}};
  struct gpnn_tucker_shape diagonal = full;
  double *x = normal_rows(ROWS, P, 10);
  struct made a, b;
  struct out out, sum;
  (void)unused;
  diagonal.is_diagonal = true;
  begin(&a, "rbf", &full);
  begin(&b, "rbf", &diagonal);
  for (size_t i = 1; i < 7; i++) a.tucker.numbers[i] = 0;
  b.tucker.numbers[0] = a.tucker.numbers[0];
  b.tucker.numbers[1] = a.tucker.numbers[7];
  memcpy(b.tucker.numbers + 2, a.tucker.numbers + 8,
         (a.tucker.n_numbers - 8) * sizeof *a.tucker.numbers);
  struct gpnn_model *one = opened(&a, 1), *other = opened(&b, 1);
  predict(one, ROWS, x, &out);
  predict(other, ROWS, x, &sum);
  for (size_t i = 0; i < ROWS; i++) assert_near(sum.mean[i], out.mean[i], 1e-13);
  assert_memory_equal(sum.variance, out.variance, sizeof out.variance);
  gpnn_model_free(one);
  gpnn_model_free(other);
  end(&a);
  end(&b);
  free(x);
}

static void the_covariance_of_the_prior_leaves_its_variance(void **unused)
{
  double *x = normal_rows(ROWS, P, 11), covariance[2 * 2];
  struct made m;
  struct out out;
  (void)unused;
  begin(&m, "rbf", &usual);
  m.tucker.has_covariance = false;
  struct gpnn_model *model = opened(&m, 1);
  predict(model, ROWS, x, &out);
  for (size_t i = 0; i < ROWS; i++) assert_true(out.variance[i] == 1.7);
  assert_ok(join(model, 2, x, covariance, &err));
  assert_near(covariance[0], 1.7, 1e-15);
  assert_near(covariance[1], 1.7 * (double)dense_kernel("rbf", P, x, x + P, P, lengthscales),
              1e-14);
  gpnn_model_free(model);
  end(&m);
  free(x);
}

static void the_variance_of_residuals_is_that_of_an_observation(void **unused)
{
  const double residuals[] = {0.5, 0.1};
  double *x = normal_rows(ROWS, P, 12), covariance[4];
  struct out out;
  (void)unused;
  for (size_t k = 0; k < 2; k++) {
    struct made m;
    begin(&m, "rbf", &usual);
    channel(&m);
    assert_ok(
        gpnn_state_add(m.arrays, target, GPNN_TUCKER_RESIDUAL_VARIANCE, 1, &residuals[k], &err));
    struct gpnn_model *model = opened_again(&m, 1);
    predict(model, ROWS, x, &out);
    for (size_t i = 0; i < ROWS; i++) assert_near(out.variance[i], k == 0 ? 0.3 : 0, 1e-15);
    assert_fails(join(model, 2, x, covariance, &err), GPNN_EINVAL, "residuals");
    gpnn_model_free(model);
    end(&m);
  }
  free(x);
}

static void a_factor_of_all_variances_is_one_of_residuals_too(void **unused)
{
  const double residual = 0.5, own_scale = 1.7, x[P] = {0};
  const struct gpnn_model_options options = {.threads = 1};
  const struct gpnn_query query = {.n = 1, .x = x};
  struct gpnn_counts counts = {0};
  struct gpnn_model *model = NULL;
  double variance;
  struct made m;
  (void)unused;
  begin(&m, "rbf", &usual);
  const struct gpnn_channel own = channel(&m);
  assert_ok(gpnn_state_add(m.arrays, target, GPNN_TUCKER_RESIDUAL_VARIANCE, 1, &residual, &err));
  assert_ok(gpnn_state_add(m.arrays, target, GPNN_STORED_KERNELSCALE, 1, &own_scale, &err));
  m.parameters.covariance.kernelscale *= 3;
  m.parameters.covariance.noise *= 3;
  assert_ok(gpnn_model_new(&model, 1, &own, &options, &err));
  assert_ok(gpnn_model_predict(model, &query, &(struct gpnn_latent){.variance = &variance}, &counts,
                               &err));
  assert_close(variance, 3 * (0.5 - 0.2), 1e-14);
  gpnn_model_free(model);
  end(&m);
}

static void one_lengthscale_serves_all_dimensions(void **unused)
{
  double *x = normal_rows(ROWS, P, 13), one = 1.1, three[P] = {1.1, 1.1, 1.1};
  struct out out, again;
  struct made m;
  (void)unused;
  begin(&m, "rbf", &usual);
  m.parameters.covariance.lengthscale = three;
  struct gpnn_model *model = opened(&m, 1);
  predict(model, ROWS, x, &out);
  gpnn_model_free(model);
  gpnn_state_free(m.arrays);
  m.parameters.covariance.lengthscale = &one;
  m.parameters.covariance.n_lengthscales = 1;
  model = opened(&m, 1);
  predict(model, ROWS, x, &again);
  assert_memory_equal(&out, &again, sizeof out);
  gpnn_model_free(model);
  end(&m);
  free(x);
}

/* ---- what is refused ---------------------------------------------------------------------- */

static void refuse(struct made *m, enum gpnn_status status, const char *text)
{
  struct gpnn_model *model = NULL;
  const struct gpnn_channel own = {&m->dataset, &m->parameters};
  const struct gpnn_model_options options = {.threads = 1};
  assert_fails(gpnn_model_new(&model, 1, &own, &options, &err), status, text);
  assert_null(model);
}

static struct gpnn_state_array *array(struct made *m, const char *name)
{
  for (size_t i = 0; i < m->arrays->n; i++)
    if (strcmp(m->arrays->arrays[i].name, name) == 0) return &m->arrays->arrays[i];
  fail_msg("no array '%s'", name);
  return NULL;
}

static void arrays_of_a_file_are_not_trusted(void **unused)
{
  const char *const names[] = {GPNN_TUCKER_GRID_SIZE,  GPNN_TUCKER_RANK,   GPNN_TUCKER_GRID,
                               GPNN_TUCKER_RHO,        GPNN_TUCKER_FACTOR, GPNN_TUCKER_CORE,
                               GPNN_TUCKER_JITTER_USED};
  struct made m;
  (void)unused;
  begin(&m, "rbf", &usual);
  (void)channel(&m);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    array(&m, names[k])->n--;
    refuse(&m, GPNN_EFORMAT, "target 'y'");
    array(&m, names[k])->n++;
  }
  array(&m, GPNN_TUCKER_GRID_SIZE)->values[0] = 1e9;
  refuse(&m, GPNN_EFORMAT, GPNN_TUCKER_GRID_SIZE);
  array(&m, GPNN_TUCKER_GRID_SIZE)->values[0] = 4;
  array(&m, GPNN_TUCKER_GRID)->values[1] = -7;
  refuse(&m, GPNN_EFORMAT, "ascend");
  end(&m);
}

static void matrices_that_cannot_be_factored_name_their_dimension(void **unused)
{
  struct made m;
  (void)unused;
  begin(&m, "rbf", &usual);
  (void)channel(&m);
  array(&m, GPNN_TUCKER_JITTER_USED)->values[0] = 1e-30;
  lengthscales[1] = 1e9;
  refuse(&m, GPNN_ENUMERIC, "dimension 2");
  lengthscales[1] = 1.4;
  end(&m);
}

static void kernels_of_any_smoothness_are_refused(void **unused)
{
  struct made m;
  (void)unused;
  begin(&m, "rbf", &usual);
  (void)channel(&m);
  m.parameters.covariance.kernel = gpnn_kernel_by_name("matern");
  m.parameters.covariance.smoothness = 1.2;
  refuse(&m, GPNN_EFORMAT, "kernel");
  end(&m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_and_variance_are_those_of_dense_matrices),
      cmocka_unit_test(joint_covariances_are_those_of_dense_matrices),
      cmocka_unit_test(joint_covariances_of_many_rows_have_their_variances),
      cmocka_unit_test(variances_lie_between_zero_and_the_kernel_scale),
      cmocka_unit_test(rows_outside_the_box_are_told_and_fall_back_to_the_prior),
      cmocka_unit_test(the_box_is_where_the_distance_is_zero),
      cmocka_unit_test(bytes_depend_neither_on_threads_nor_on_neighbouring_rows),
      cmocka_unit_test(a_sum_of_products_is_a_core_that_is_zero_off_its_diagonal),
      cmocka_unit_test(the_covariance_of_the_prior_leaves_its_variance),
      cmocka_unit_test(the_variance_of_residuals_is_that_of_an_observation),
      cmocka_unit_test(a_factor_of_all_variances_is_one_of_residuals_too),
      cmocka_unit_test(one_lengthscale_serves_all_dimensions),
      cmocka_unit_test(arrays_of_a_file_are_not_trusted),
      cmocka_unit_test(matrices_that_cannot_be_factored_name_their_dimension),
      cmocka_unit_test(kernels_of_any_smoothness_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
