/* Densities of rows given their neighbours: golden values, exact limits, derivatives. */
#include "estimate/neighbourhood.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "unit.h"

/* ---- data ------------------------------------------------------------------------------- */

enum { GOLDEN_N = 8, GOLDEN_D = 2, GOLDEN_K = 3 };

/* Rows of a test: contents that own what they point to. */
struct rows {
  struct gpnn_dataset dataset;
  double *x, *y, *noise;
  uint32_t *group;
};

static struct rows rows_new(size_t n, size_t d)
{
  struct rows r = {.x = calloc(n * d, sizeof *r.x),
                   .y = calloc(n, sizeof *r.y),
                   .noise = calloc(n, sizeof *r.noise),
                   .group = calloc(d, sizeof *r.group)};
  assert_non_null(r.group);
  for (size_t j = 0; j < d; j++) r.group[j] = (uint32_t)j;
  r.dataset =
      (struct gpnn_dataset){.n = n, .d = d, .n_groups = d, .group = r.group, .x = r.x, .y = r.y};
  return r;
}

static void rows_free(struct rows *r)
{
  free(r->x);
  free(r->y);
  free(r->noise);
  free(r->group);
}

static struct rows golden_rows(void)
{
  struct rows r = rows_new(GOLDEN_N, GOLDEN_D);
  for (int i = 0; i < GOLDEN_N; i++) {
    double *x = r.x + (size_t)i * GOLDEN_D;
    x[0] = sin(1 + i);
    x[1] = cos(2 + 3 * i);
    r.y[i] = sin(2 * x[0]) + 0.5 * x[1] + 0.1 * cos(5 * i);
  }
  return r;
}

static struct rows random_rows(size_t n, size_t d, uint64_t seed)
{
  struct rows r = rows_new(n, d);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) r.x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < n; i++) r.y[i] = sin(2 * r.x[i * d]) + 0.3 * gpnn_rng_normal(&rng);
  for (size_t i = 0; i < n; i++) r.noise[i] = 0.2 * gpnn_rng_uniform(&rng);
  return r;
}

/* All rows, and for each the 'k' nearest of the others (or of those before it). */
struct lists {
  struct gpnn_neighbourhoods hoods;
  int64_t *row, *neighbour;
};

static struct lists nearest(const struct rows *r, const double *lengthscale, size_t k, bool earlier)
{
  size_t n = r->dataset.n, d = r->dataset.d;
  struct lists lists = {.row = calloc(n, sizeof *lists.row),
                        .neighbour = calloc(n * k + 1, sizeof *lists.neighbour)};
  bool *used = calloc(n, sizeof *used);
  for (size_t i = 0; i < n; i++) {
    lists.row[i] = (int64_t)i;
    memset(used, 0, n * sizeof *used);
    for (size_t a = 0; a < k; a++) {
      int64_t best = -1;
      double least = INFINITY;
      for (size_t c = 0; c < (earlier ? i : n); c++) {
        double r2 = 0;
        for (size_t j = 0; j < d; j++)
          r2 += pow((r->x[i * d + j] - r->x[c * d + j]) / lengthscale[j], 2);
        if (c == i || used[c] || !(r2 < least)) continue;
        least = r2;
        best = (int64_t)c;
      }
      if (best >= 0) used[best] = true;
      lists.neighbour[i * k + a] = best;
    }
  }
  free(used);
  lists.hoods = (struct gpnn_neighbourhoods){n, k, lists.row, lists.neighbour, NULL, NULL};
  return lists;
}

static enum gpnn_status objective(const struct gpnn_dataset *dataset,
                                  const struct gpnn_parameters *params, enum gpnn_density density,
                                  const struct gpnn_neighbourhoods *hoods, int threads,
                                  double *value, double *gradient, double *loss, double *z2)
{
  struct gpnn_neighbourhood_result result = {.gradient = gradient, .loss = loss, .z2 = z2};
  enum gpnn_status status = gpnn_neighbourhood_objective(dataset, params, NULL, density, hoods,
                                                         NULL, threads, &result, NULL);
  *value = result.value;
  return status;
}

static void lists_free(struct lists *lists)
{
  free(lists->row);
  free(lists->neighbour);
}

/* ---- golden values ---------------------------------------------------------------------- */

static void the_golden_case_has_the_verified_values_and_gradients(void **state)
{
  static const struct {
    const char *kernel;
    enum gpnn_density density;
    double value, gradient[5];
  } cases[] = {
      {"rbf",
       GPNN_DENSITY_CONDITIONAL,
       -0.272171696965,
       {0.2212889869, 0.0624028984, -0.1147802642, -0.2911915485, 0.0016129212}},
      {"exp",
       GPNN_DENSITY_CONDITIONAL,
       -0.869460199007,
       {0.2629684202, 0.0674620530, -0.3771951371, -0.0765131685, -0.0097818974}},
      {"matern32",
       GPNN_DENSITY_CONDITIONAL,
       -0.513048167739,
       {0.4110358721, 0.0998501025, -0.2648873385, -0.1790515376, -0.0037204410}},
      {"matern52",
       GPNN_DENSITY_CONDITIONAL,
       -0.401651712003,
       {0.3842862374, 0.0968619312, -0.2046899195, -0.2289119513, -0.0030528168}},
      {"rbf",
       GPNN_DENSITY_JOINT,
       -2.757315927835,
       {0.3745071048, 0.3149574140, -0.6827096321, -0.3351918843, 0.0539888531}},
      {"matern52",
       GPNN_DENSITY_JOINT,
       -2.950035005001,
       {0.4921370764, 0.3230481527, -0.7881657679, -0.2708700283, 0.0455318480}},
  };
  (void)state;
  double lengthscale[] = {0.8, 1.3}, constant = 0.2;
  struct rows r = golden_rows();
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    bool is_joint = cases[c].density == GPNN_DENSITY_JOINT;
    /* MLL-3 is of a row and its two nearest. */
    struct lists lists = nearest(&r, lengthscale, is_joint ? GOLDEN_K - 1 : GOLDEN_K, false);
    struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name(cases[c].kernel),
                                     .covariance.n_lengthscales = 2,
                                     .covariance.lengthscale = lengthscale,
                                     .covariance.kernelscale = 1.7,
                                     .covariance.noise = 0.09,
                                     .mean.kind = GPNN_MEAN_CONSTANT,
                                     .mean.n_coefficients = 1,
                                     .mean.coefficients = &constant};
    double value, gradient[5], loss[GOLDEN_N];
    assert_ok(objective(&r.dataset, &params, cases[c].density, &lists.hoods, 2, &value, gradient,
                        loss, NULL));
    assert_close(-value, cases[c].value, 1e-11);
    for (size_t i = 0; i < 5; i++) assert_true(fabs(-gradient[i] - cases[c].gradient[i]) < 1e-9);
    if (!is_joint && strcmp(cases[c].kernel, "matern52") == 0)
      assert_close(-loss[0], -0.240196683190, 1e-10);
    lists_free(&lists);
  }
  rows_free(&r);
}

/* ---- derivatives ------------------------------------------------------------------------ */

/* Parameter 'i' of the gradient's order, as the number its derivative is by. */
static void move(struct gpnn_parameters *params, size_t i, double by)
{
  size_t k = params->covariance.n_lengthscales;
  if (i < k)
    params->covariance.lengthscale[i] *= exp(by);
  else if (i == k)
    params->covariance.kernelscale *= exp(by);
  else if (i == k + 1)
    params->covariance.noise *= exp(by);
  else
    params->mean.coefficients[0] += by;
}

static void check_gradient(const struct rows *r, struct gpnn_parameters *params,
                           enum gpnn_density density, const struct lists *lists)
{
  size_t width = params->covariance.n_lengthscales + 3;
  double value, gradient[32];
  const double h = 1e-5;
  assert_ok(
      objective(&r->dataset, params, density, &lists->hoods, 1, &value, gradient, NULL, NULL));
  for (size_t i = 0; i < width; i++) {
    double up, down;
    move(params, i, h);
    assert_ok(objective(&r->dataset, params, density, &lists->hoods, 1, &up, NULL, NULL, NULL));
    move(params, i, -2 * h);
    assert_ok(objective(&r->dataset, params, density, &lists->hoods, 1, &down, NULL, NULL, NULL));
    move(params, i, h);
    assert_true(fabs((up - down) / (2 * h) - gradient[i]) < 1e-6 * (1 + fabs(gradient[i])));
  }
}

static void gradients_agree_with_central_differences(void **state)
{
  static const size_t columns[] = {1, 3, 20}, sizes[] = {0, 1, 7, 29};
  (void)state;
  for (size_t c = 0; c < 3; c++)
    for (size_t s = 0; s < 4; s++)
      for (size_t kernel = 0; kernel < 4; kernel++)
        for (int variant = 0; variant < 8; variant++) {
          struct rows r = random_rows(30, columns[c], 5 + c);
          double lengthscale[20], coefficients[] = {0.3};
          /* A duplicate among the neighbours. */
          memcpy(r.x + columns[c], r.x, columns[c] * sizeof *r.x);
          if (variant & 2) r.dataset.noise = r.noise;
          if (variant & 4)
            for (size_t j = 0; j < columns[c]; j++) r.group[j] = (uint32_t)(j / 2);
          size_t n_groups = variant & 4 ? (columns[c] + 1) / 2 : columns[c];
          for (size_t j = 0; j < 20; j++) lengthscale[j] = 1.3 + 0.2 * (double)j;
          struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_at(kernel),
                                           .covariance.n_lengthscales = s % 2 ? n_groups : 1,
                                           .covariance.lengthscale = lengthscale,
                                           .covariance.kernelscale = 0.8,
                                           .covariance.noise = 0.05,
                                           .mean.kind = GPNN_MEAN_CONSTANT,
                                           .mean.n_coefficients = 1,
                                           .mean.coefficients = coefficients};
          double each[20];
          gpnn_covariance_expand(&params.covariance, columns[c], r.group, each);
          struct lists lists = nearest(&r, each, sizes[s], variant & 1);
          check_gradient(&r, &params, GPNN_DENSITY_CONDITIONAL, &lists);
          check_gradient(&r, &params, GPNN_DENSITY_JOINT, &lists);
          lists_free(&lists);
          rows_free(&r);
        }
}

static void the_derivative_by_the_map_agrees_with_central_differences(void **state)
{
  enum { D = 4, N_ROWS = 30, K = 9 };
  (void)state;
  struct rows r = random_rows(N_ROWS, D, 6);
  double ones[D] = {1, 1, 1, 1}, map[D * D], moved[D * D], by_map[D * D], gradient[D + 3];
  for (size_t j = 0; j < (size_t)D * D; j++) map[j] = (j % (D + 1) == 0) + 0.1 * cos(3 * (double)j);
  struct lists lists = nearest(&r, ones, K, false);
  for (int density = 0; density < 2; density++) {
    struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                     .covariance.n_lengthscales = D,
                                     .covariance.lengthscale = ones,
                                     .covariance.kernelscale = 0.8,
                                     .covariance.noise = 0.05};
    struct gpnn_neighbourhood_result at = {.gradient = gradient, .by_map = by_map}, up = {0},
                                     down = {0};
    assert_ok(gpnn_neighbourhood_objective(&r.dataset, &params, map, (enum gpnn_density)density,
                                           &lists.hoods, NULL, 2, &at, NULL));
    for (size_t p = 0; p < D; p++)
      for (size_t q = 0; q < D; q++) {
        const double h = 1e-5;
        for (int sign = -1; sign <= 1; sign += 2) { /* (I + E) map, E = sign h at (p, q) */
          memcpy(moved, map, sizeof map);
          for (size_t j = 0; j < D; j++) moved[p * D + j] += sign * h * map[q * D + j];
          assert_ok(gpnn_neighbourhood_objective(&r.dataset, &params, moved,
                                                 (enum gpnn_density)density, &lists.hoods, NULL, 1,
                                                 sign > 0 ? &up : &down, NULL));
        }
        double slope = (up.value - down.value) / (2 * h);
        assert_true(fabs(slope - by_map[p * D + q]) < 1e-6 * (1 + fabs(slope)));
      }
  }
  lists_free(&lists);
  rows_free(&r);
}

/* ---- exact limits ----------------------------------------------------------------------- */

enum { N = 25, D = 2 };

/* K of all rows, and its factorless inverse and log determinant, by the book. */
static double covariance_inverse(const struct rows *r, const struct gpnn_parameters *params,
                                 double inverse[N][N])
{
  double k[N][N], logdet = 0;
  for (size_t a = 0; a < N; a++)
    for (size_t b = 0; b < N; b++) {
      double r2 = 0;
      for (size_t j = 0; j < D; j++)
        r2 += pow((r->x[a * D + j] - r->x[b * D + j]) / params->covariance.lengthscale[0], 2);
      k[a][b] = params->covariance.kernelscale * (1 + sqrt(3 * r2)) * exp(-sqrt(3 * r2)) +
                (a == b ? params->covariance.noise : 0);
      inverse[a][b] = a == b;
    }
  for (size_t p = 0; p < N; p++) { /* Gauss and Jordan; K needs no pivoting */
    double pivot = k[p][p];
    logdet += log(pivot);
    for (size_t j = 0; j < N; j++) k[p][j] /= pivot, inverse[p][j] /= pivot;
    for (size_t i = 0; i < N; i++) {
      double factor = k[i][p];
      for (size_t j = 0; i != p && j < N; j++) {
        k[i][j] -= factor * k[p][j];
        inverse[i][j] -= factor * inverse[p][j];
      }
    }
  }
  return logdet;
}

static void with_all_other_rows_as_neighbours_results_are_exact(void **state)
{
  (void)state;
  struct rows r = random_rows(N, D, 3);
  double lengthscale = 0.9, inverse[N][N], weighted[N], fit = 0, metric[D] = {0.9, 0.9};
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                   .covariance.n_lengthscales = 1,
                                   .covariance.lengthscale = &lengthscale,
                                   .covariance.kernelscale = 1.1,
                                   .covariance.noise = 0.07};
  double logdet = covariance_inverse(&r, &params, inverse);
  for (size_t i = 0; i < N; i++) {
    weighted[i] = 0;
    for (size_t j = 0; j < N; j++) weighted[i] += inverse[i][j] * r.y[j];
    fit += weighted[i] * r.y[i];
  }
  double evidence = 0.5 * (fit + logdet + N * log(2 * acos(-1.0)));
  double value, loss[N];
  struct lists all = nearest(&r, metric, N - 1, false), before = nearest(&r, metric, N - 1, true);
  assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &all.hoods, 1, &value, NULL,
                      loss, NULL));
  for (size_t i = 0; i < N; i++) { /* leave-one-out from one inverse */
    double v = 1 / inverse[i][i], e = weighted[i] * v;
    assert_close(loss[i], 0.5 * (log(v) + e * e / v + log(2 * acos(-1.0))), 1e-9);
  }
  assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &before.hoods, 1, &value, NULL,
                      NULL, NULL));
  assert_close(value * N, evidence, 1e-9); /* Vecchia's is the likelihood */
  assert_ok(
      objective(&r.dataset, &params, GPNN_DENSITY_JOINT, &all.hoods, 1, &value, NULL, NULL, NULL));
  assert_close(value, evidence, 1e-9);
  lists_free(&all);
  lists_free(&before);
  rows_free(&r);
}

/* ---- properties ------------------------------------------------------------------------- */

static void kernel_scale_and_noise_together_only_rescale_the_variance(void **state)
{
  (void)state;
  struct rows r = random_rows(40, 3, 8);
  double lengthscale[] = {1, 2, 0.7}, value, gradient[6], z2;
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                   .covariance.n_lengthscales = 3,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = 0.1};
  struct lists lists = nearest(&r, lengthscale, 10, false);
  for (size_t i = 0; i < 40; i++) {
    struct gpnn_neighbourhoods one = {1, 10, lists.row + i, lists.neighbour + i * 10, NULL, NULL};
    assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &one, 1, &value, gradient,
                        NULL, &z2));
    assert_true(fabs(-(gradient[3] + gradient[4]) - 0.5 * (z2 - 1)) < 1e-10 * (1 + z2));
  }
  lists_free(&lists);
  rows_free(&r);
}

static void threads_change_no_bit(void **state)
{
  (void)state;
  struct rows r = random_rows(100, 3, 9);
  double lengthscale[] = {1, 2, 0.7}, one[7], many[7];
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("exp"),
                                   .covariance.n_lengthscales = 3,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = 0.1};
  struct lists lists = nearest(&r, lengthscale, 12, false);
  assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &lists.hoods, 1, &one[0],
                      one + 1, NULL, NULL));
  assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &lists.hoods, 4, &many[0],
                      many + 1, NULL, NULL));
  assert_memory_equal(one, many, sizeof one);
  lists_free(&lists);
  rows_free(&r);
}

/* The densities of 'lists' together are those of each row alone, and the gradients their mean. */
static void compare_with_rows_alone(const struct rows *r, const struct gpnn_parameters *params,
                                    const double *map, const struct lists *lists, double tolerance)
{
  enum { MOST = 64 };
  const struct gpnn_neighbourhoods *hoods = &lists->hoods;
  size_t d = r->dataset.d, k = hoods->k;
  double loss[MOST], z2[MOST], gradient[MOST], by_map[MOST] = {0}, own[MOST], own_map[MOST] = {0};
  double mean[MOST] = {0}, mean_map[MOST] = {0};
  struct gpnn_neighbourhood_result all = {
      .gradient = gradient, .by_map = map == NULL ? NULL : by_map, .loss = loss, .z2 = z2};
  assert_ok(gpnn_neighbourhood_objective(&r->dataset, params, map, GPNN_DENSITY_CONDITIONAL, hoods,
                                         NULL, 1, &all, NULL));
  for (size_t i = 0; i < hoods->n; i++) {
    struct gpnn_neighbourhoods one = {1, k, hoods->row + i, hoods->neighbour + i * k, NULL, NULL};
    double own_loss, own_z2;
    struct gpnn_neighbourhood_result alone = {
        .gradient = own, .by_map = map == NULL ? NULL : own_map, .loss = &own_loss, .z2 = &own_z2};
    assert_ok(gpnn_neighbourhood_objective(&r->dataset, params, map, GPNN_DENSITY_CONDITIONAL, &one,
                                           NULL, 1, &alone, NULL));
    assert_true(fabs(own_loss - loss[i]) <= tolerance * (1 + fabs(own_loss)));
    assert_true(fabs(own_z2 - z2[i]) <= tolerance * (1 + own_z2));
    for (size_t j = 0; j < d + 3; j++) mean[j] += own[j] / (double)hoods->n;
    for (size_t j = 0; map != NULL && j < d * d; j++) mean_map[j] += own_map[j] / (double)hoods->n;
  }
  for (size_t j = 0; j < d + 3; j++)
    assert_true(fabs(mean[j] - gradient[j]) <= tolerance * (1 + fabs(mean[j])));
  for (size_t j = 0; map != NULL && j < d * d; j++)
    assert_true(fabs(mean_map[j] - by_map[j]) <= tolerance * (1 + fabs(mean_map[j])));
}

/* Rows are evaluated side by side where enough of them come, a single one by itself. */
static void rows_evaluated_together_are_as_rows_alone(void **state)
{
  static const char *const kernels[] = {"exp", "matern32", "matern52", "rbf"};
  static const size_t ks[] = {1, 2, 3, 4, 5, 7, 12};
  (void)state;
  for (size_t d = 1; d <= 5; d += 2)
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
      struct rows r = random_rows(21, d, 30 + i);
      double lengthscale[] = {1, 2, 0.7, 1.3, 0.9}, map[25];
      struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name(kernels[i % 4]),
                                       .covariance.n_lengthscales = d,
                                       .covariance.lengthscale = lengthscale,
                                       .covariance.kernelscale = 0.9,
                                       .covariance.noise = 0.1};
      struct lists lists = nearest(&r, lengthscale, ks[i], false);
      if (i % 2 == 0) r.dataset.noise = r.noise;
      for (size_t j = 0; j < d * d; j++) map[j] = (j % (d + 1) == 0) + 0.1 * sin((double)j);
      compare_with_rows_alone(&r, &params, NULL, &lists, 1e-10);
      compare_with_rows_alone(&r, &params, map, &lists, 1e-10);
      /* One that lacks a neighbour is evaluated alone, and so are those beside it. */
      lists.neighbour[ks[i] * 3] = -1;
      compare_with_rows_alone(&r, &params, NULL, &lists, 1e-10);
      lists_free(&lists);
      rows_free(&r);
    }
}

/* Distances computed once serve for every lengthscale that all inputs have. */
static void stored_distances_give_the_same_results_as_inputs(void **state)
{
  enum { ROWS = 37, INPUTS = 9, K = 7 };
  (void)state;
  struct rows r = random_rows(ROWS, INPUTS, 44);
  double lengthscale[INPUTS], squares[ROWS * GPNN_HOOD_SQUARES(K)], gradient[2][4], value[2];
  for (size_t j = 0; j < INPUTS; j++) lengthscale[j] = 1;
  struct lists lists = nearest(&r, lengthscale, K, false);
  lists.neighbour[20 * K + K - 1] = -1; /* it and those beside it are evaluated from their inputs */
  struct gpnn_neighbourhoods known = lists.hoods;
  known.squares = squares;
  gpnn_neighbourhood_squares(&r.dataset, &known, 2, squares);
  for (double one = 0.3; one < 10; one *= 3) {
    struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                     .covariance.n_lengthscales = 1,
                                     .covariance.lengthscale = &one,
                                     .covariance.kernelscale = 0.9,
                                     .covariance.noise = 0.1};
    assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &lists.hoods, 1, &value[0],
                        gradient[0], NULL, NULL));
    assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &known, 2, &value[1],
                        gradient[1], NULL, NULL));
    assert_close(value[1], value[0], 1e-12);
    for (size_t j = 0; j < 4; j++) assert_near(gradient[1][j], gradient[0][j], 1e-11);
  }
  lists_free(&lists);
  rows_free(&r);
}

/* A map of so many inputs would take 160 GB, on each thread. */
static void without_a_map_memory_grows_no_faster_than_inputs(void **state)
{
  (void)state;
  enum { ROWS = 8, INPUTS = 50000, HOOD = 2 };
  struct rows r = random_rows(ROWS, INPUTS, 3);
  int64_t row[ROWS], neighbour[ROWS * HOOD];
  double lengthscale = 300, gradient[4], value;
  for (size_t i = 0; i < ROWS; i++) {
    row[i] = (int64_t)i;
    for (size_t a = 0; a < HOOD; a++) neighbour[i * HOOD + a] = (int64_t)((i + a + 1) % ROWS);
  }
  const struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("rbf"),
                                         .covariance.n_lengthscales = 1,
                                         .covariance.lengthscale = &lengthscale,
                                         .covariance.kernelscale = 1,
                                         .covariance.noise = 0.1};
  const struct gpnn_neighbourhoods hoods = {ROWS, HOOD, row, neighbour, NULL, NULL};
  assert_ok(objective(&r.dataset, &params, GPNN_DENSITY_CONDITIONAL, &hoods, 1, &value, gradient,
                      NULL, NULL));
  assert_true(isfinite(value));
  rows_free(&r);
}

/* How many of the rows have both training rows 0 and 1 for neighbours. */
static size_t count_with_twins(const struct gpnn_neighbourhoods *hoods)
{
  size_t count = 0;
  for (size_t i = 0; i < hoods->n; i++) {
    int twins = 0;
    for (size_t a = 0; a < hoods->k; a++) {
      int64_t row = hoods->neighbour[i * hoods->k + a];
      twins += row == 0 || row == 1;
    }
    count += twins == 2;
  }
  return count;
}

/* Rows that are alike make a covariance that needs jitter, while those beside it need none; a
 * noise just under zero leaves no doubt about it. */
static void jitter_of_one_row_does_not_affect_others(void **state)
{
  (void)state;
  struct rows r = random_rows(16, 2, 5);
  double lengthscale[] = {1, 2};
  struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("rbf"),
                                   .covariance.n_lengthscales = 2,
                                   .covariance.lengthscale = lengthscale,
                                   .covariance.kernelscale = 0.9,
                                   .covariance.noise = -1e-6};
  struct lists lists = nearest(&r, lengthscale, 3, false);
  memcpy(r.x + 2, r.x, 2 * sizeof *r.x);
  lists.neighbour[8 * 3] = 0;
  lists.neighbour[8 * 3 + 1] = 1;
  lists.hoods.n = 8;
  lists.hoods.row += 8;
  lists.hoods.neighbour += 8 * 3;
  compare_with_rows_alone(&r, &params, NULL, &lists, 1e-8);
  for (int density = 0; density < 2; density++) {
    struct gpnn_neighbourhood_result result = {.jitter = {7, 7}};
    assert_ok(gpnn_neighbourhood_objective(&r.dataset, &params, NULL, (enum gpnn_density)density,
                                           &lists.hoods, NULL, 2, &result, NULL));
    assert_int_equal(result.jitter.n, count_with_twins(&lists.hoods));
    assert_true(result.jitter.n > 0 && result.jitter.most > 1e-6 && result.jitter.most < 1e-4);
  }
  lists_free(&lists);
  rows_free(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_evaluated_together_are_as_rows_alone),
      cmocka_unit_test(without_a_map_memory_grows_no_faster_than_inputs),
      cmocka_unit_test(jitter_of_one_row_does_not_affect_others),
      cmocka_unit_test(the_golden_case_has_the_verified_values_and_gradients),
      cmocka_unit_test(gradients_agree_with_central_differences),
      cmocka_unit_test(the_derivative_by_the_map_agrees_with_central_differences),
      cmocka_unit_test(with_all_other_rows_as_neighbours_results_are_exact),
      cmocka_unit_test(kernel_scale_and_noise_together_only_rescale_the_variance),
      cmocka_unit_test(stored_distances_give_the_same_results_as_inputs),
      cmocka_unit_test(threads_change_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
