/* Quasi-random points, and shares of variance. */
#include "explain/sobol.h"

#include "fixture.h"
#include "models.h"
#include "stats/halton.h"

enum { N = 200, D = 3, M = 10, ROWS = 400, DRAWS = 40, PAIRS = D * (D - 1) / 2 };

/* ---- points ---------------------------------------------------------------------------------- */

static void points_are_stratified_in_every_base(void **state)
{
  (void)state;
  enum { POINTS = 1260, WIDTH = 3 };
  static const size_t bases[WIDTH] = {2, 3, 5};
  double points[POINTS * WIDTH], again[POINTS * WIDTH];
  assert_ok(gpnn_halton_fill(POINTS, WIDTH, 1, points, &err));
  for (size_t j = 0; j < WIDTH; j++) {
    size_t counts[25] = {0}, cells = bases[j] * bases[j];
    double mean = 0;
    for (size_t i = 0; i < POINTS; i++) {
      double u = points[i * WIDTH + j];
      assert_true(u >= 0 && u < 1);
      counts[(size_t)(u * (double)cells)]++;
      mean += u / POINTS;
    }
    for (size_t c = 0; c < cells; c++)
      assert_true(counts[c] >= POINTS / cells && counts[c] <= POINTS / cells + 1);
    assert_near(mean, 0.5, 0.003);
  }
  assert_ok(gpnn_halton_fill(POINTS, WIDTH, 1, again, &err));
  assert_memory_equal(points, again, sizeof points);
  assert_ok(gpnn_halton_fill(POINTS, WIDTH, 2, again, &err));
  assert_true(points[0] != again[0]);
}

static void many_dimensions_are_no_copies_of_each_other(void **state)
{
  (void)state;
  enum { POINTS = 500, WIDTH = 200 };
  double *points = gpnn_alloc(POINTS, WIDTH, sizeof *points), most = 0;
  assert_ok(gpnn_halton_fill(POINTS, WIDTH, 1, points, &err));
  for (size_t j = 1; j < WIDTH; j++) {
    double sum = 0;
    for (size_t i = 0; i < POINTS; i++)
      sum += (points[i * WIDTH + j] - 0.5) * (points[i * WIDTH + j - 1] - 0.5) * 12 / POINTS;
    most = fmax(most, fabs(sum));
  }
  assert_true(most < 0.25);
  free(points);
}

/* ---- indices --------------------------------------------------------------------------------- */

/* A process of next to no variance around a linear mean, whose indices are known. */
static void indices_of_a_linear_function(void **state)
{
  (void)state;
  static double slopes[1 + D] = {0.3, 0.8, -0.4, 0};
  double lengthscale = 1, squares[D], sum = 0, variance;
  struct fixture f;
  struct gpnn_coordinate coordinates[D];
  struct gpnn_explain_columns columns = {0};
  const struct gpnn_explain_column *columns_of[D];
  struct gpnn_explain_group alone[D];
  const struct gpnn_explain_group *chosen[D];
  struct gpnn_sobol_index found[2][D + PAIRS];
  fixture_new(&f, N, D, 0, 1);
  struct gpnn_dataset dataset = *f.data;
  dataset.coordinates = coordinates;
  for (size_t j = 0; j < D; j++)
    coordinates[j] = (struct gpnn_coordinate){.input = (uint32_t)j, .feature = j};
  const struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("rbf"),
                                         .covariance.n_lengthscales = 1,
                                         .covariance.lengthscale = &lengthscale,
                                         .covariance.kernelscale = 1e-10,
                                         .covariance.noise = 1,
                                         .mean = {GPNN_MEAN_LINEAR, 1 + D, slopes, NULL},
                                         .neighbours = M};
  const struct gpnn_channel channel = {&dataset, &params};
  assert_ok(gpnn_explain_columns_find(&columns, &dataset, false, &err));
  for (size_t j = 0; j < D; j++) {
    double first = 0, second = 0;
    columns_of[j] = &columns.of[j];
    alone[j] = (struct gpnn_explain_group){1, &columns_of[j]};
    chosen[j] = &alone[j];
    for (size_t i = 0; i < N; i++) {
      first += f.x[i * D + j] / N;
      second += f.x[i * D + j] * f.x[i * D + j] / N;
    }
    squares[j] = slopes[1 + j] * slopes[1 + j] * (second - first * first);
    sum += squares[j];
  }
  for (int threads = 1; threads <= 4; threads += 3) {
    const struct gpnn_model_options options = {.threads = threads};
    const struct gpnn_sobol_options how = {
        .n_rows = ROWS, .n_draws = DRAWS, .level = 0.95, .pairs = true, .seed = 1};
    struct gpnn_model *model = NULL;
    assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
    assert_ok(gpnn_sobol_find(model, &dataset, &columns, D, chosen, &how, found[threads / 4],
                              &variance, &err));
    gpnn_model_free(model);
  }
  assert_memory_equal(found[0], found[1], sizeof found[0]);
  assert_close(variance, 4 * sum, 0.05);
  for (size_t j = 0; j < D; j++) {
    const struct gpnn_sobol_index *index = &found[0][j];
    assert_near(index->first.mean, squares[j] / sum, 0.06);
    assert_near(index->total.mean, squares[j] / sum, 0.06);
    assert_true(index->total.lower <= index->total.mean + 1e-9);
    assert_true(index->total.mean <= index->total.upper + 1e-9);
  }
  for (size_t k = 0; k < PAIRS; k++) {
    size_t i, j;
    gpnn_sobol_pair(D, k, &i, &j);
    assert_true(i < j && j < D && (i == 0 ? k + 1 == j : k == 2));
    assert_near(found[0][D + k].first.mean, 0, 0.03);
    assert_near(found[0][D + k].total.mean, (squares[i] + squares[j]) / sum, 0.06);
  }
  const struct gpnn_sobol_options many = {.n_rows = GPNN_SOBOL_MOST / 4, .n_draws = 1};
  const struct gpnn_model_options one = {.threads = 1};
  struct gpnn_model *model = NULL;
  assert_ok(gpnn_model_new(&model, 1, &channel, &one, &err));
  assert_fails(
      gpnn_sobol_find(model, &dataset, &columns, D, chosen, &many, found[0], &variance, &err),
      GPNN_EDATA, "take fewer columns (-x) or rows (-c)");
  gpnn_model_free(model);
  gpnn_explain_columns_release(&columns);
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_are_stratified_in_every_base),
      cmocka_unit_test(many_dimensions_are_no_copies_of_each_other),
      cmocka_unit_test(indices_of_a_linear_function),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
