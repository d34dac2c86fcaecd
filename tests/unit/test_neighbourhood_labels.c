/* Probabilities of classes given neighbours: the formula by the book, derivatives, symmetries. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "estimate/neighbourhood.h"
#include "kernel/rotation.h"
#include "likelihood/categorical.h"
#include "unit.h"

/* ---- data ------------------------------------------------------------------------------- */

enum { MOST_ROWS = 60, MOST_COLUMNS = 6, MOST_CLASSES = 7, MOST_K = 12 };

/* Rows in classes, their neighbours, and parameters: a block without pointers of its own but those
 * into itself, set by point(). */
struct rows {
  struct gpnn_dataset dataset;
  struct gpnn_parameters params;
  struct gpnn_neighbourhoods hoods;
  size_t n_classes;
  double x[MOST_ROWS * MOST_COLUMNS], y[MOST_ROWS], noise[MOST_ROWS], share[MOST_CLASSES];
  double lengthscale[MOST_COLUMNS], bias[MOST_CLASSES];
  uint32_t group[MOST_COLUMNS];
  int64_t row[MOST_ROWS], neighbour[MOST_ROWS * MOST_K];
};

static void find_neighbours(struct rows *r)
{
  size_t n = r->dataset.n, d = r->dataset.d, k = r->hoods.k;
  for (size_t i = 0; i < n; i++) {
    bool used[MOST_ROWS] = {false};
    used[i] = true;
    r->row[i] = (int64_t)i;
    for (size_t a = 0; a < k; a++) {
      double least = INFINITY;
      int64_t best = -1;
      for (size_t b = 0; b < n; b++) {
        double r2 = 0;
        for (size_t j = 0; j < d; j++) r2 += pow(r->x[i * d + j] - r->x[b * d + j], 2);
        if (used[b] || r2 >= least) continue;
        least = r2;
        best = (int64_t)b;
      }
      if (best >= 0) used[best] = true;
      r->neighbour[i * k + a] = best;
    }
  }
}

static struct rows *rows_new(size_t n, size_t d, size_t n_classes, size_t k, uint64_t seed)
{
  struct rows *r = calloc(1, sizeof *r);
  struct gpnn_rng rng;
  assert_non_null(r);
  gpnn_rng_init(&rng, seed, GPNN_RNG_TEST);
  for (size_t i = 0; i < n * d; i++) r->x[i] = gpnn_rng_normal(&rng);
  for (size_t i = 0; i < n; i++) {
    double level = 1.5 + r->x[i * d] + 0.5 * gpnn_rng_normal(&rng);
    r->y[i] = fmin(fmax(floor(level), 0), (double)n_classes - 1);
    r->noise[i] = 0.2 * gpnn_rng_uniform(&rng);
  }
  for (size_t j = 0; j < d; j++) r->lengthscale[j] = 1.1 + 0.3 * (double)j;
  for (size_t j = 0; j < d; j++) r->group[j] = (uint32_t)j;
  for (size_t c = 0; c < n_classes; c++) r->bias[c] = 0.4 * cos(3 * (double)c);
  r->n_classes = n_classes;
  r->dataset =
      (struct gpnn_dataset){.n = n, .d = d, .n_groups = d, .group = r->group, .x = r->x, .y = r->y};
  r->dataset.schema.target.kind = GPNN_COLUMN_CLASSES;
  r->dataset.schema.target.n_levels = n_classes;
  r->params = (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                                      .n_lengthscales = d,
                                                      .lengthscale = r->lengthscale,
                                                      .kernelscale = 1,
                                                      .noise = 0.07},
                                       .likelihood = GPNN_LIKELIHOOD_CATEGORICAL,
                                       .link = {.slope = 3.1,
                                                .evidence = 0.6,
                                                .floor = 0.03,
                                                .spread = 0.8,
                                                .n_bias = n_classes,
                                                .bias = r->bias}};
  gpnn_categorical_shares(n_classes, n, r->y, r->share);
  r->hoods = (struct gpnn_neighbourhoods){
      .n = n, .k = k, .row = r->row, .neighbour = r->neighbour, .share = r->share};
  find_neighbours(r);
  return r;
}

static void evaluate(struct rows *r, const double *map, struct gpnn_neighbourhood_result *result)
{
  assert_ok(gpnn_neighbourhood_objective(&r->dataset, &r->params, map, GPNN_DENSITY_LABELS,
                                         &r->hoods, NULL, 1, result, NULL));
}

/* ---- the formula ------------------------------------------------------------------------ */

static double correlation(const struct rows *r, int64_t a, int64_t b)
{
  double r2 = 0;
  for (size_t j = 0; j < r->dataset.d; j++)
    r2 += pow((r->x[(size_t)a * r->dataset.d + j] - r->x[(size_t)b * r->dataset.d + j]) /
                  r->lengthscale[j],
              2);
  return (1 + sqrt(3 * r2)) * exp(-sqrt(3 * r2));
}

/* Solves A w = b by Gauss and Jordan's elimination; A is overwritten. */
static void solve(size_t k, double a[MOST_K][MOST_K], const double *b, double *w)
{
  memcpy(w, b, k * sizeof *w);
  for (size_t p = 0; p < k; p++) {
    double pivot = a[p][p];
    for (size_t j = 0; j < k; j++) a[p][j] /= pivot;
    w[p] /= pivot;
    for (size_t i = 0; i < k; i++) {
      double factor = a[i][p];
      if (i == p) continue;
      for (size_t j = 0; j < k; j++) a[i][j] -= factor * a[p][j];
      w[i] -= factor * w[p];
    }
  }
}

/* Minus the log probability of the class of row 'i', from equations 13.1 to 13.6 as they stand. */
static double loss_by_the_book(const struct rows *r, size_t i)
{
  const int64_t *neighbour = r->neighbour + i * r->hoods.k;
  double a[MOST_K][MOST_K], kappa[MOST_K], w[MOST_K], v = 1, h[MOST_CLASSES], sum = 0, own = 0;
  size_t k = 0;
  while (k < r->hoods.k && neighbour[k] >= 0) k++;
  for (size_t p = 0; p < k; p++) {
    kappa[p] = correlation(r, neighbour[p], (int64_t)i);
    for (size_t q = 0; q < k; q++)
      a[p][q] =
          correlation(r, neighbour[p], neighbour[q]) + (p == q ? r->params.covariance.noise : 0);
  }
  solve(k, a, kappa, w);
  for (size_t p = 0; p < k; p++) v -= kappa[p] * w[p];
  for (size_t c = 0; c < r->n_classes; c++) {
    h[c] = 0;
    for (size_t p = 0; p < k; p++)
      h[c] += w[p] * ((r->y[neighbour[p]] == (double)c ? 1 : 0) - r->share[c]);
  }
  for (size_t c = 0; c < r->n_classes; c++) {
    const struct gpnn_link *link = &r->params.link;
    double q = log(1 + exp(20 * (h[c] + r->share[c]))) / 20 + link->floor;
    double usual = log(1 + exp(20 * r->share[c])) / 20 + link->floor;
    double z = link->slope * h[c] + link->evidence * log(q / usual);
    double p = exp(link->bias[c] + z / sqrt(1 + link->spread * v));
    sum += p;
    if (r->y[i] == (double)c) own = p;
  }
  return -log(own / sum);
}

/* Also with fewer neighbours than asked for, and with more than other rows. */
static void losses_are_those_of_the_formula(void **state)
{
  static const size_t sizes[][3] = {{40, 3, 9}, {9, 2, 12}, {3, 2, 5}, {17, 1, 1}};
  (void)state;
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
    for (size_t n_classes = 1; n_classes <= MOST_CLASSES; n_classes++) {
      struct rows *r = rows_new(sizes[s][0], sizes[s][1], n_classes, sizes[s][2], 3 + s);
      double loss[MOST_ROWS], mean = 0;
      struct gpnn_neighbourhood_result result = {.loss = loss};
      evaluate(r, NULL, &result);
      for (size_t i = 0; i < r->dataset.n; i++) {
        double expected = loss_by_the_book(r, i);
        assert_true(fabs(loss[i] - expected) < 1e-10 * (1 + expected));
        mean += expected / (double)r->dataset.n;
      }
      assert_true(fabs(result.value - mean) < 1e-10 * (1 + mean));
      if (n_classes == 1) assert_true(result.value == 0);
      free(r);
    }
}

/* ---- derivatives ------------------------------------------------------------------------ */

static size_t width(const struct rows *r)
{
  return r->params.covariance.n_lengthscales + 3 + GPNN_LINK_NUMBERS + r->n_classes;
}

/* The parameter that derivative 'i' is by, and whether it is by its logarithm; NULL: it is not
 * free. */
static double *parameter(struct rows *r, size_t i, bool *logarithmic)
{
  struct gpnn_link *link = &r->params.link;
  size_t k = r->params.covariance.n_lengthscales;
  double *numbers[] = {
      NULL,         &r->params.covariance.noise, NULL, &link->slope, &link->evidence, &link->floor,
      &link->spread};
  *logarithmic = i < k + 3 + GPNN_LINK_NUMBERS;
  if (i < k) return &r->lengthscale[i];
  return *logarithmic ? numbers[i - k] : &link->bias[i - k - 3 - GPNN_LINK_NUMBERS];
}

static void check_gradient(struct rows *r)
{
  double gradient[MOST_COLUMNS + 3 + GPNN_LINK_NUMBERS + MOST_CLASSES];
  const double h = 1e-5;
  struct gpnn_neighbourhood_result at = {.gradient = gradient}, up = {0}, down = {0};
  evaluate(r, NULL, &at);
  for (size_t i = 0; i < width(r); i++) {
    bool logarithmic;
    double *p = parameter(r, i, &logarithmic), before;
    if (p == NULL) continue;
    before = *p;
    *p = logarithmic ? before * exp(h) : before + h;
    evaluate(r, NULL, &up);
    *p = logarithmic ? before * exp(-h) : before - h;
    evaluate(r, NULL, &down);
    *p = before;
    double slope = (up.value - down.value) / (2 * h);
    assert_true(fabs(slope - gradient[i]) < 1e-6 * (1 + fabs(slope)));
  }
}

/* For every kernel, in lanes and row by row, with duplicates, row noise and groups of inputs. */
static void gradients_agree_with_central_differences(void **state)
{
  static const size_t sizes[][4] = {{24, 3, 4, 7}, {5, 2, 2, 9}, {30, 6, 7, 12}, {12, 1, 3, 5}};
  (void)state;
  for (size_t kernel = 0; gpnn_kernel_at(kernel) != NULL; kernel++)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
      for (int variant = 0; variant < 4; variant++) {
        struct rows *r = rows_new(sizes[s][0], sizes[s][1], sizes[s][2], sizes[s][3], 7 + s);
        memcpy(r->x + sizes[s][1], r->x, sizes[s][1] * sizeof *r->x); /* a duplicate */
        if (variant & 1) r->params.covariance.n_lengthscales = 1;
        if (variant & 2) r->dataset.noise = r->noise;
        r->params.covariance.kernel = gpnn_kernel_at(kernel);
        r->params.covariance.smoothness = 1.3;
        find_neighbours(r);
        check_gradient(r);
        free(r);
      }
}

static void the_derivative_by_the_map_agrees_with_central_differences(void **state)
{
  enum { D = 4 };
  static const size_t rows[] = {24, 5};
  const double h = 1e-5;
  (void)state;
  for (size_t s = 0; s < 2; s++) {
    struct rows *r = rows_new(rows[s], D, 3, 8, 21);
    double map[D * D], moved[D * D], by_map[D * D], gradient[D + 3 + GPNN_LINK_NUMBERS + 3];
    struct gpnn_neighbourhood_result at = {.gradient = gradient, .by_map = by_map}, up = {0},
                                     down = {0};
    for (size_t j = 0; j < (size_t)D * D; j++)
      map[j] = (j % (D + 1) == 0) + 0.1 * cos(3 * (double)j);
    evaluate(r, map, &at);
    for (size_t p = 0; p < D; p++)
      for (size_t q = 0; q < D; q++) {
        for (int sign = -1; sign <= 1; sign += 2) { /* (I + E) map, E = sign h at (p, q) */
          memcpy(moved, map, sizeof map);
          for (size_t j = 0; j < D; j++) moved[p * D + j] += sign * h * map[q * D + j];
          evaluate(r, moved, sign > 0 ? &up : &down);
        }
        double slope = (up.value - down.value) / (2 * h);
        assert_true(fabs(slope - by_map[p * D + q]) < 1e-6 * (1 + fabs(slope)));
      }
    free(r);
  }
}

/* ---- properties ------------------------------------------------------------------------- */

/* Renaming classes renames their shares and biases, and changes nothing else. */
static void a_permutation_of_classes_permutes_the_derivatives_by_biases(void **state)
{
  enum { K = 5, WIDTH = 3 + 3 + GPNN_LINK_NUMBERS + K };
  static const size_t to[K] = {3, 0, 4, 1, 2};
  (void)state;
  struct rows *r = rows_new(50, 3, K, 11, 5), *other = rows_new(50, 3, K, 11, 5);
  double gradient[WIDTH] = {0}, renamed[WIDTH] = {0};
  struct gpnn_neighbourhood_result a = {.gradient = gradient}, b = {.gradient = renamed};
  for (size_t i = 0; i < 50; i++) other->y[i] = (double)to[(size_t)r->y[i]];
  for (size_t c = 0; c < K; c++) other->bias[to[c]] = r->bias[c];
  gpnn_categorical_shares(K, 50, other->y, other->share);
  evaluate(r, NULL, &a);
  evaluate(other, NULL, &b);
  assert_true(fabs(a.value - b.value) < 1e-12);
  for (size_t i = 0; i < WIDTH - K; i++)
    assert_true(fabs(gradient[i] - renamed[i]) < 1e-12 * (1 + fabs(gradient[i])));
  for (size_t c = 0; c < K; c++)
    assert_true(fabs(gradient[WIDTH - K + c] - renamed[WIDTH - K + to[c]]) < 1e-12);
  free(r);
  free(other);
}

/* Eight rows are evaluated together, and rows that are alone one by one. */
static void rows_evaluated_together_are_as_rows_alone(void **state)
{
  enum { D = 5, WIDTH = D + 3 + GPNN_LINK_NUMBERS + 4 };
  (void)state;
  for (int rotated = 0; rotated < 2; rotated++) {
    struct rows *r = rows_new(MOST_ROWS, D, 4, MOST_K, 9);
    double map[D * D] = {0}, loss[MOST_ROWS] = {0}, error[MOST_ROWS] = {0}, sum[WIDTH] = {0},
                   all[WIDTH] = {0}, own[WIDTH] = {0}, by_map[D * D] = {0}, own_map[D * D] = {0},
                   sum_map[D * D] = {0};
    for (size_t j = 0; j < (size_t)D * D; j++) map[j] = cos(2 * (double)j);
    struct gpnn_neighbourhood_result together = {
        .gradient = all, .by_map = rotated ? by_map : NULL, .loss = loss, .z2 = error};
    evaluate(r, rotated ? map : NULL, &together);
    struct gpnn_neighbourhoods hoods = r->hoods;
    for (size_t i = 0; i < hoods.n; i++) {
      double own_loss = 0, own_error = 0;
      struct gpnn_neighbourhood_result alone = {
          .gradient = own, .by_map = rotated ? own_map : NULL, .loss = &own_loss, .z2 = &own_error};
      r->hoods.n = 1;
      r->hoods.row = hoods.row + i;
      r->hoods.neighbour = hoods.neighbour + i * hoods.k;
      evaluate(r, rotated ? map : NULL, &alone);
      assert_true(fabs(own_loss - loss[i]) < 1e-11 * (1 + own_loss));
      assert_true(own_error == error[i]);
      for (size_t j = 0; j < WIDTH; j++) sum[j] += own[j] / MOST_ROWS;
      for (size_t j = 0; rotated && j < (size_t)D * D; j++) sum_map[j] += own_map[j] / MOST_ROWS;
    }
    for (size_t j = 0; j < WIDTH; j++) assert_true(fabs(sum[j] - all[j]) < 1e-11);
    for (size_t j = 0; rotated && j < (size_t)D * D; j++)
      assert_true(fabs(sum_map[j] - by_map[j]) < 1e-11);
    free(r);
  }
}

/* An error is a row whose own class is not the most probable one. */
static void errors_are_counted_where_another_class_is_more_probable(void **state)
{
  (void)state;
  struct rows *r = rows_new(40, 2, 2, 6, 2);
  double loss[40] = {0}, error[40] = {0};
  struct gpnn_neighbourhood_result result = {.loss = loss, .z2 = error};
  size_t n = 0;
  evaluate(r, NULL, &result);
  for (size_t i = 0; i < 40; i++) {
    assert_true(error[i] == (loss[i] > log(2) ? 1 : 0));
    n += error[i] > 0;
  }
  assert_true(n > 0 && n < 20);
  free(r);
}

/* Where no neighbour is of the class of a row the floor decides; nothing is infinite. */
static void a_class_without_neighbours_costs_what_the_floor_says(void **state)
{
  enum { N_ROWS = 30 };
  (void)state;
  struct rows *r = rows_new(N_ROWS, 2, 3, 8, 4);
  double loss[N_ROWS], before;
  struct gpnn_neighbourhood_result result = {.loss = loss};
  for (size_t i = 0; i < N_ROWS; i++) r->y[i] = i == 7 ? 2 : (double)(i % 2);
  gpnn_categorical_shares(3, N_ROWS, r->y, r->share);
  r->params.link.evidence = 3;
  evaluate(r, NULL, &result);
  before = loss[7];
  assert_true(isfinite(before) && before > 1);
  r->params.link.floor = 1e-7;
  evaluate(r, NULL, &result);
  assert_true(isfinite(loss[7]) && loss[7] > before + 0.5);
  free(r);
}

/* Copies of a row whose classes differ are told apart by chance only. */
static void copies_of_one_row_share_its_classes(void **state)
{
  enum { N_ROWS = 16 };
  (void)state;
  struct rows *r = rows_new(N_ROWS, 2, 2, 12, 4);
  double loss[N_ROWS], gradient[2 + 3 + GPNN_LINK_NUMBERS + 2];
  struct gpnn_neighbourhood_result result = {.loss = loss, .gradient = gradient};
  memset(r->x, 0, sizeof r->x);
  for (size_t i = 0; i < N_ROWS; i++) r->y[i] = (double)(i % 2);
  gpnn_categorical_shares(2, N_ROWS, r->y, r->share);
  evaluate(r, NULL, &result);
  for (size_t i = 0; i < N_ROWS; i++) assert_true(loss[i] > 0.2 && loss[i] < 2);
  for (size_t j = 0; j < 2 + 3 + GPNN_LINK_NUMBERS + 2; j++) assert_true(isfinite(gradient[j]));
  assert_true(gradient[0] == 0 && gradient[1] == 0);
  free(r);
}

static void threads_change_no_bit(void **state)
{
  enum { WIDTH = 3 + 3 + GPNN_LINK_NUMBERS + 4 };
  (void)state;
  struct rows *r = rows_new(MOST_ROWS, 3, 4, 10, 6);
  double one[WIDTH], many[WIDTH];
  struct gpnn_neighbourhood_result a = {.gradient = one}, b = {.gradient = many};
  evaluate(r, NULL, &a);
  assert_ok(gpnn_neighbourhood_objective(&r->dataset, &r->params, NULL, GPNN_DENSITY_LABELS,
                                         &r->hoods, NULL, 5, &b, NULL));
  assert_true(a.value == b.value);
  assert_memory_equal(one, many, sizeof one);
  free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(losses_are_those_of_the_formula),
      cmocka_unit_test(gradients_agree_with_central_differences),
      cmocka_unit_test(the_derivative_by_the_map_agrees_with_central_differences),
      cmocka_unit_test(a_permutation_of_classes_permutes_the_derivatives_by_biases),
      cmocka_unit_test(rows_evaluated_together_are_as_rows_alone),
      cmocka_unit_test(errors_are_counted_where_another_class_is_more_probable),
      cmocka_unit_test(a_class_without_neighbours_costs_what_the_floor_says),
      cmocka_unit_test(copies_of_one_row_share_its_classes),
      cmocka_unit_test(threads_change_no_bit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
