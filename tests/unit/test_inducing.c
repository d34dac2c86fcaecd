/* Predictions from inducing points, against formulas written out. */
#include "dense.h"
#include "random.h"
#include "unit.h"

#include "dataset/stored.h"
#include "kernel/parameters.h"
#include "linalg/blas_threads.h"
#include "linalg/panels/panels.h"
#include "models/inducing/collapsed/collapsed.h"
#include "models/inducing/cross.h"
#include "models/inducing/inducing.h"
#include "models/model.h"

enum { D = 3, M = 20, N = 150, ROWS = 200 };

static const uint32_t groups[] = {0, 1, 2};
static char target[] = "y";

/* A model of two families, from the arrays of one state. */
struct model {
  double *x, *y, *z, *at; /* N, N, M and ROWS rows */
  double rho[M], weights[M], root[M * M], lengthscale[D];
  size_t rank;
  struct gpnn_parameters parameters;
  struct gpnn_stored stored;
  struct gpnn_dataset dataset;
  struct gpnn_state *arrays;
};

static void add_array(struct model *m, const char *name, size_t n, const double *values)
{
  assert_ok(gpnn_state_add(m->arrays, target, name, n, values, &err));
}

/* The posterior of a collapsed bound, and some rho. */
static struct model *make_with(const char *kernel, size_t n_points)
{
  struct model *m = calloc(1, sizeof *m);
  assert_non_null(m);
  struct gpnn_covariance *c = &m->parameters.covariance;
  m->x = normal_rows(N, D, 1);
  m->y = normal_rows(N, 1, 2);
  m->z = normal_rows(M, D, 3);
  m->at = normal_rows(ROWS, D, 4);
  for (size_t i = 0; i < N; i++) m->y[i] = sin(m->x[i * D]) + 0.3 * m->y[i];
  for (size_t j = 0; j < M; j++) m->rho[j] = log(0.1) + 0.1 * (double)j;
  memcpy(m->lengthscale, (double[]){1.1, 0.8, 2}, sizeof m->lengthscale);
  assert_true(gpnn_kernel_parse(kernel, &c->kernel, &c->smoothness));
  c->n_lengthscales = D;
  c->lengthscale = m->lengthscale;
  c->kernelscale = 1.3;
  c->noise = 0.2;
  const struct gpnn_cross_problem problem = {n_points,      D, m->z,  c->kernel,
                                             c->smoothness, D, groups};
  const struct gpnn_collapsed_data data = {N, m->x, m->y, GPNN_COLLAPSED_JITTER, 1};
  struct gpnn_collapsed_parameters at = {m->lengthscale, c->kernelscale, c->noise};
  struct gpnn_collapsed *collapsed = NULL;
  double bound;
  assert_ok(gpnn_collapsed_new(&collapsed, &problem, &data, &err));
  assert_ok(
      gpnn_collapsed_posterior(collapsed, &at, false, &bound, m->weights, m->root, &m->rank, &err));
  gpnn_collapsed_free(collapsed);
  assert_ok(gpnn_state_new(&m->arrays, 1, &err));
  add_array(m, GPNN_INDUCING_POINTS, n_points * D, m->z);
  add_array(m, GPNN_INDUCING_WEIGHTS, n_points, m->weights);
  add_array(m, GPNN_INDUCING_ROOT, m->rank * n_points, m->root);
  add_array(m, GPNN_INDUCING_RHO, n_points, m->rho);
  m->stored.arrays = m->arrays;
  m->dataset =
      (struct gpnn_dataset){.n = N, .d = D, .n_groups = D, .group = groups, .stored = &m->stored};
  m->dataset.schema.target.name = target;
  return m;
}

static struct model *make(const char *kernel)
{
  return make_with(kernel, M);
}

static void release(struct model *m)
{
  gpnn_state_free(m->arrays);
  free(m->x);
  free(m->y);
  free(m->z);
  free(m->at);
  free(m);
}

enum { COLLAPSED, DIAG, FAMILIES };

static const enum gpnn_family families[] = {GPNN_FAMILY_COLLAPSED, GPNN_FAMILY_DIAG};

static enum gpnn_status open_model(struct model *m, int family, int threads,
                                   struct gpnn_model **model, struct gpnn_error *err)
{
  const struct gpnn_channel channel = {.dataset = &m->dataset, .parameters = &m->parameters};
  const struct gpnn_model_options options = {.threads = threads};
  m->parameters.family = families[family];
  return gpnn_model_new(model, 1, &channel, &options, err);
}

static void predict_rows(const struct gpnn_model *model, size_t n, const double *x,
                         const struct gpnn_latent *latent)
{
  const struct gpnn_query query = {.n = n, .x = x};
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(model, &query, latent, &counts, &err));
}

struct predictions {
  double mean[ROWS], variance[ROWS], nearest[ROWS];
};

/* Predicts rows 'from' to 'to', 'batch' at a time. */
static void predict_some(struct model *m, int family, int threads, size_t from, size_t to,
                         size_t batch, struct predictions *p)
{
  struct gpnn_model *opened = NULL;
  assert_ok(open_model(m, family, threads, &opened, &err));
  for (size_t i = from; i < to; i += batch) {
    const struct gpnn_latent latent = {
        .mean = p->mean + i, .variance = p->variance + i, .nearest = p->nearest + i};
    predict_rows(opened, to - i < batch ? to - i : batch, m->at + i * D, &latent);
  }
  gpnn_model_free(opened);
}

static struct predictions predict(struct model *m, int family)
{
  struct predictions p;
  predict_some(m, family, 2, 0, ROWS, ROWS, &p);
  return p;
}

/* ---- formulas written out ----------------------------------------------------------------- */

static long double covariance(const struct model *m, const char *kernel, const double *a,
                              const double *b)
{
  return (long double)m->parameters.covariance.kernelscale *
         dense_kernel(kernel, D, a, b, D, m->lengthscale);
}

/* a' A^-1 b for symmetric A, n by n, all kept. */
static long double form(size_t n, const long double *a, const long double *u, const long double *v)
{
  static long double copy[M * M], left[M], none[M];
  long double sum = 0;
  memcpy(copy, a, n * n * sizeof *copy);
  memcpy(left, u, n * sizeof *left);
  memset(none, 0, sizeof none);
  dense_solve(n, copy, left, none);
  for (size_t j = 0; j < n; j++) sum += left[j] * v[j];
  return sum;
}

/* Kuu with jitter. */
static void fill_inducing(const struct model *m, const char *kernel, long double jitter,
                          long double *k)
{
  for (size_t i = 0; i < M; i++)
    for (size_t j = 0; j < M; j++)
      k[i * M + j] = covariance(m, kernel, m->z + i * D, m->z + j * D) +
                     (i == j ? jitter * m->parameters.covariance.kernelscale : 0);
}

static void fill_row(const struct model *m, const char *kernel, const double *x, long double *k)
{
  for (size_t j = 0; j < M; j++) k[j] = covariance(m, kernel, x, m->z + j * D);
}

/* Titsias' predictions: mean k' S^-1 Kuf y / v, variance s - k'(Kuu^-1 - S^-1)k, with
 * S = Kuu + Kuf Kfu / v. */
struct written {
  long double kuu[M * M], s[M * M], moment[M];
};

static struct written *write_out(const struct model *m, const char *kernel)
{
  struct written *w = calloc(1, sizeof *w);
  long double k[M], v = m->parameters.covariance.noise;
  assert_non_null(w);
  fill_inducing(m, kernel, GPNN_COLLAPSED_JITTER, w->kuu);
  memcpy(w->s, w->kuu, sizeof w->s);
  for (size_t i = 0; i < N; i++) {
    fill_row(m, kernel, m->x + i * D, k);
    for (size_t j = 0; j < M; j++) {
      w->moment[j] += k[j] * m->y[i] / v;
      for (size_t l = 0; l < M; l++) w->s[j * M + l] += k[j] * k[l] / v;
    }
  }
  return w;
}

static const char *const kernels[] = {"rbf", "exp", "matern32", "matern52", "matern:1.2"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- tests -------------------------------------------------------------------------------- */

static void collapsed_predictions_are_those_of_the_formula(void **state)
{
  (void)state;
  for (size_t k = 0; k < KERNELS; k++) {
    struct model *m = make(kernels[k]);
    struct written *w = write_out(m, kernels[k]);
    struct predictions p = predict(m, COLLAPSED);
    for (size_t i = 0; i < 60; i++) {
      long double row[M];
      fill_row(m, kernels[k], m->at + i * D, row);
      assert_near(p.mean[i], (double)form(M, w->s, w->moment, row), 1e-8);
      /* of which 5e-7 s may be lost to single precision */
      assert_near(p.variance[i],
                  (double)(1.3L - form(M, w->kuu, row, row) + form(M, w->s, row, row)), 2e-6);
    }
    free(w);
    release(m);
  }
}

/* The dense form with Kuu^-1: S = (Kuu^-1 + Sigma^-1)^-1, variance s - k'(Kuu^-1 - Kuu^-1 S
 * Kuu^-1)k, which is s - k'Kuu^-1 k + (Kuu^-1 k)'(Kuu^-1 + Sigma^-1)^-1 (Kuu^-1 k). */
static void diagonal_variances_are_those_with_the_inverse_of_kuu(void **state)
{
  (void)state;
  for (size_t k = 0; k < KERNELS; k++) {
    struct model *m = make(kernels[k]);
    struct predictions p = predict(m, DIAG);
    static long double kuu[M * M], copy[M * M], inverse[M * M], unit[M], none[M];
    fill_inducing(m, kernels[k], 0, kuu);
    for (size_t j = 0; j < M; j++) {
      memcpy(copy, kuu, sizeof copy);
      memset(unit, 0, sizeof unit);
      memset(none, 0, sizeof none);
      unit[j] = 1;
      dense_solve(M, copy, unit, none);
      memcpy(inverse + j * M, unit, sizeof unit);
    }
    for (size_t i = 0; i < 60; i++) {
      long double row[M], u[M] = {0}, sum[M * M];
      fill_row(m, kernels[k], m->at + i * D, row);
      for (size_t j = 0; j < M; j++)
        for (size_t l = 0; l < M; l++) u[j] += inverse[j * M + l] * row[l];
      memcpy(sum, inverse, sizeof sum);
      for (size_t j = 0; j < M; j++) sum[j * M + j] += expl(-(long double)m->rho[j]);
      long double variance = 1.3L + form(M, sum, u, u), mean = 0;
      for (size_t j = 0; j < M; j++) {
        variance -= row[j] * u[j];
        mean += row[j] * m->weights[j];
      }
      assert_near(p.variance[i], (double)variance, 2e-6);
      assert_near(p.mean[i], (double)mean, 1e-10);
    }
    release(m);
  }
}

static void nearest_points_are_measured_in_lengthscales(void **state)
{
  (void)state;
  struct model *m = make("matern52");
  for (int f = 0; f < FAMILIES; f++) {
    struct predictions p = predict(m, f);
    for (size_t i = 0; i < ROWS; i++) {
      double least = INFINITY;
      for (size_t j = 0; j < M; j++) {
        double r2 = 0;
        for (size_t l = 0; l < D; l++)
          r2 += pow((m->at[i * D + l] - m->z[j * D + l]) / m->lengthscale[l], 2);
        least = fmin(least, r2);
      }
      assert_near(p.nearest[i], sqrt(least), 1e-12);
    }
  }
  release(m);
}

/* A root of rows with zeros in front, and a tile of correlations. */
struct tile {
  double root[M * M], *panels;
  long double squares[GPNN_INDUCING_TILE];
};

static void make_tile(struct tile *t, double scale)
{
  struct gpnn_rng rng = seeded(5);
  size_t lanes = gpnn_panels_best()->lanes;
  t->panels = gpnn_alloc(gpnn_inducing_tile_size(M), 1, sizeof *t->panels);
  assert_non_null(t->panels);
  for (size_t i = 0; i < M; i++)
    for (size_t j = 0; j < M; j++) t->root[i * M + j] = j < i ? 0 : scale * gpnn_rng_normal(&rng);
  for (size_t r = 0; r < GPNN_INDUCING_TILE; r++) {
    t->squares[r] = 0;
    for (size_t j = 0; j < M; j++)
      t->panels[gpnn_panel_at(M, lanes, r, j)] = gpnn_rng_uniform(&rng);
    for (size_t i = 0; i < M; i++) {
      long double sum = 0;
      for (size_t j = 0; j < M; j++)
        sum += (long double)t->root[i * M + j] * t->panels[gpnn_panel_at(M, lanes, r, j)];
      t->squares[r] += sum * sum;
    }
  }
}

/* The largest error of the squares of a tile, whose rows are the trial rows too. */
static double error_of(double scale, size_t n_tiles, size_t *n_precise)
{
  static struct tile t;
  _Alignas(64) double squares[GPNN_INDUCING_TILE];
  struct gpnn_inducing_root root;
  double worst = 0;
  make_tile(&t, scale);
  float *rounded = gpnn_alloc(gpnn_inducing_tile_size(M), 1, sizeof *rounded);
  assert_non_null(rounded);
  const struct gpnn_inducing_trial trial = {n_tiles, t.panels, 1};
  assert_ok(gpnn_inducing_root_new(&root, M, M, t.root, &trial, &err));
  gpnn_inducing_squares(&root, t.panels, rounded, squares);
  for (size_t i = 0; i < GPNN_INDUCING_TILE; i++)
    worst = fmax(worst, fabs(squares[i] - (double)t.squares[i]));
  *n_precise = 0;
  for (size_t s = 0; s < root.n_strips; s++) *n_precise += root.strips[s].precise != NULL;
  gpnn_inducing_root_release(&root);
  free(rounded);
  free(t.panels);
  return worst;
}

static void single_precision_is_taken_where_it_is_harmless(void **state)
{
  (void)state;
  size_t n_precise;
  assert_true(error_of(1, 0, &n_precise) < 1e-12);
  assert_int_equal(n_precise, 3);
  assert_true(error_of(0.1, 1, &n_precise) < GPNN_INDUCING_ERROR);
  assert_int_equal(n_precise, 0);
  assert_true(error_of(1e3, 1, &n_precise) < 1e-6);
  assert_int_equal(n_precise, 3);
  assert_true(isfinite(error_of(1e150, 1, &n_precise)));
}

static void neither_batches_nor_threads_change_a_byte(void **state)
{
  (void)state;
  for (int f = 0; f < FAMILIES; f++) {
    struct model *m = make("matern32");
    struct predictions all, parts, ones;
    predict_some(m, f, 1, 0, ROWS, ROWS, &all);
    predict_some(m, f, 4, 0, ROWS, 37, &parts);
    predict_some(m, f, 1, 0, ROWS, 1, &ones);
    assert_memory_equal(&all, &parts, sizeof all);
    assert_memory_equal(&all, &ones, sizeof all);
    release(m);
  }
}

static void the_mean_is_the_same_without_the_rest(void **state)
{
  (void)state;
  struct model *m = make("matern:1.2");
  struct predictions p = predict(m, COLLAPSED);
  double mean[ROWS];
  const struct gpnn_latent only = {.mean = mean}, nothing = {0};
  struct gpnn_model *opened = NULL;
  assert_ok(open_model(m, COLLAPSED, 1, &opened, &err));
  predict_rows(opened, ROWS, m->at, &only);
  predict_rows(opened, ROWS, m->at, &nothing);
  predict_rows(opened, 0, NULL, &only);
  assert_memory_equal(mean, p.mean, sizeof mean);
  gpnn_model_free(opened);
  release(m);
}

static void far_from_all_points_the_process_is_as_before_any_data(void **state)
{
  (void)state;
  struct model *m = make("rbf");
  for (size_t i = 0; i < D; i++) m->at[i] = 1e300 * (i == 1 ? -1 : 1);
  for (int f = 0; f < FAMILIES; f++) {
    struct predictions p = predict(m, f);
    assert_near(p.mean[0], 0, 0);
    assert_near(p.variance[0], 1.3, 0);
    assert_true(p.nearest[0] > 1e100);
  }
  release(m);
}

static void variances_are_never_negative(void **state)
{
  (void)state;
  struct model *m = make("rbf");
  memcpy(m->at, m->z, (size_t)M * D * sizeof *m->at);
  for (size_t j = 0; j < M; j++) m->rho[j] = -49;
  gpnn_state_free(m->arrays);
  assert_ok(gpnn_state_new(&m->arrays, 1, &err));
  m->stored.arrays = m->arrays;
  for (size_t i = 0; i < m->rank * M; i++) m->root[i] *= 3;
  add_array(m, GPNN_INDUCING_POINTS, M * D, m->z);
  add_array(m, GPNN_INDUCING_WEIGHTS, M, m->weights);
  add_array(m, GPNN_INDUCING_ROOT, m->rank * M, m->root);
  add_array(m, GPNN_INDUCING_RHO, M, m->rho);
  for (int f = 0; f < FAMILIES; f++) {
    struct predictions p = predict(m, f);
    for (size_t i = 0; i < ROWS; i++) assert_true(p.variance[i] >= 0);
    for (size_t i = 0; i < M; i++) assert_near(p.variance[i], 0, 1e-5);
  }
  release(m);
}

static void joint_covariances_have_the_variances_on_their_diagonal(void **state)
{
  (void)state;
  enum { TOGETHER = 70 };
  static double joint[TOGETHER * TOGETHER], sum[4], ones[TOGETHER];
  const struct gpnn_errors errors = {.process = ones, .mean = ones};
  for (size_t i = 0; i < TOGETHER; i++) ones[i] = 1;
  struct model *m = make("matern52");
  struct written *w = write_out(m, "matern52");
  for (int f = 0; f < FAMILIES; f++) {
    struct predictions p = predict(m, f);
    struct gpnn_model *opened = NULL;
    assert_ok(open_model(m, f, 1, &opened, &err));
    const struct gpnn_query query = {.n = TOGETHER, .x = m->at}, none = {0};
    assert_ok(gpnn_model_joint(opened, 0, &query, &errors, joint, &err));
    assert_ok(gpnn_model_joint(opened, 0, &none, &errors, sum, &err));
    for (size_t i = 0; i < TOGETHER; i++) {
      assert_near(joint[i * TOGETHER + i], p.variance[i], 2e-6);
      for (size_t j = 0; j < i; j++)
        assert_near(joint[i * TOGETHER + j], joint[j * TOGETHER + i], 1e-14);
    }
    for (size_t i = 0; f == COLLAPSED && i < 5; i++) {
      long double a[M], b[M];
      fill_row(m, "matern52", m->at + i * D, a);
      fill_row(m, "matern52", m->at + 9 * D, b);
      long double expected = covariance(m, "matern52", m->at + i * D, m->at + 9 * D) -
                             form(M, w->kuu, a, b) + form(M, w->s, a, b);
      assert_near(joint[i * TOGETHER + 9], (double)expected, 1e-8);
    }
    gpnn_model_free(opened);
  }
  free(w);
  release(m);
}

static void one_point_and_a_root_without_rows_are_enough(void **state)
{
  (void)state;
  struct model *m = make_with("exp", 1);
  struct predictions p = predict(m, COLLAPSED);
  for (size_t i = 0; i < ROWS; i++) assert_true(p.variance[i] > 0 && p.variance[i] <= 1.3);
  gpnn_state_free(m->arrays);
  assert_ok(gpnn_state_new(&m->arrays, 1, &err));
  m->stored.arrays = m->arrays;
  add_array(m, GPNN_INDUCING_POINTS, D, m->z);
  add_array(m, GPNN_INDUCING_WEIGHTS, 1, m->weights);
  add_array(m, GPNN_INDUCING_ROOT, 0, m->root);
  p = predict(m, COLLAPSED);
  for (size_t i = 0; i < ROWS; i++) assert_near(p.variance[i], 1.3, 0);
  release(m);
}

static void nothing_in_the_arrays_is_trusted(void **state)
{
  (void)state;
  static const struct {
    int family;
    size_t n[4]; /* of points, weights, root, rho */
    const char *message;
  } cases[] = {{COLLAPSED, {M * D - 1, M, M * M, M}, "no valid array 'inducing'"},
               {COLLAPSED, {0, M, M * M, M}, "no inducing points"},
               {COLLAPSED, {M * D, M - 1, M * M, M}, "no valid array 'weights'"},
               {COLLAPSED, {M * D, 2 * M, M * M, M}, "has 40 numbers, not 20"},
               {COLLAPSED, {M * D, M, M * M - 1, M}, "no valid array 'root'"},
               {COLLAPSED, {M * D, M, M * M + M, M}, "more than 20 rows"},
               {DIAG, {M * D, M, M * M, M - 1}, "no valid array 'rho'"},
               {DIAG, {M * D, M, M * M, 2 * M}, "has 40 numbers, not 20"}};
  static double zeros[M * M + M];
  struct gpnn_model *opened = NULL;
  struct model *m = make("rbf");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    gpnn_state_free(m->arrays);
    assert_ok(gpnn_state_new(&m->arrays, 1, &err));
    m->stored.arrays = m->arrays;
    add_array(m, GPNN_INDUCING_POINTS, cases[i].n[0], zeros);
    add_array(m, GPNN_INDUCING_WEIGHTS, cases[i].n[1], zeros);
    add_array(m, GPNN_INDUCING_ROOT, cases[i].n[2], zeros);
    add_array(m, GPNN_INDUCING_RHO, cases[i].n[3], zeros);
    assert_fails(open_model(m, cases[i].family, 1, &opened, &err), GPNN_EFORMAT, cases[i].message);
  }
  release(m);
  m = make("rbf");
  m->arrays->arrays[3].values[7] = 700;
  assert_fails(open_model(m, DIAG, 1, &opened, &err), GPNN_EFORMAT, "out of range");
  gpnn_state_free(m->arrays);
  assert_ok(gpnn_state_new(&m->arrays, 1, &err));
  m->stored.arrays = m->arrays;
  assert_fails(open_model(m, DIAG, 1, &opened, &err), GPNN_EFORMAT, "no valid array 'inducing'");
  assert_null(opened);
  release(m);
}

/* Behind the interface of models. */
static void the_model_has_a_channel_for_each_family(void **state)
{
  (void)state;
  struct model *m = make("matern32");
  struct gpnn_parameters parameters[FAMILIES] = {m->parameters, m->parameters};
  struct gpnn_channel channels[FAMILIES];
  for (int f = 0; f < FAMILIES; f++) {
    parameters[f].family = families[f];
    channels[f] = (struct gpnn_channel){.dataset = &m->dataset, .parameters = &parameters[f]};
  }
  struct gpnn_model *model = NULL;
  const struct gpnn_model_options options = {.threads = 2};
  double mean[2 * ROWS], variance[2 * ROWS], extra[2 * ROWS], misfit[2 * ROWS], nearest[2 * ROWS];
  struct gpnn_counts counts[FAMILIES] = {{0}};
  const struct gpnn_query query = {.n = ROWS, .x = m->at};
  const struct gpnn_latent latent = {.mean = mean,
                                     .variance = variance,
                                     .mean_variance = extra,
                                     .misfit = misfit,
                                     .nearest = nearest};
  assert_ok(gpnn_model_new(&model, FAMILIES, channels, &options, &err));
  assert_ok(gpnn_model_predict(model, &query, &latent, counts, &err));
  for (int f = 0; f < FAMILIES; f++) {
    struct predictions p = predict(m, f);
    assert_memory_equal(p.mean, mean + f * ROWS, sizeof p.mean);
    assert_memory_equal(p.variance, variance + f * ROWS, sizeof p.variance);
    assert_memory_equal(p.nearest, nearest + f * ROWS, sizeof p.nearest);
  }
  for (size_t i = 0; i < (size_t)2 * ROWS; i++) {
    assert_near(extra[i], 0, 0);
    assert_near(misfit[i], 1, 0);
  }
  gpnn_model_free(model);
  release(m);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(collapsed_predictions_are_those_of_the_formula),
      cmocka_unit_test(diagonal_variances_are_those_with_the_inverse_of_kuu),
      cmocka_unit_test(nearest_points_are_measured_in_lengthscales),
      cmocka_unit_test(single_precision_is_taken_where_it_is_harmless),
      cmocka_unit_test(neither_batches_nor_threads_change_a_byte),
      cmocka_unit_test(the_mean_is_the_same_without_the_rest),
      cmocka_unit_test(far_from_all_points_the_process_is_as_before_any_data),
      cmocka_unit_test(variances_are_never_negative),
      cmocka_unit_test(joint_covariances_have_the_variances_on_their_diagonal),
      cmocka_unit_test(one_point_and_a_root_without_rows_are_enough),
      cmocka_unit_test(nothing_in_the_arrays_is_trusted),
      cmocka_unit_test(the_model_has_a_channel_for_each_family),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
