/* Values of columns, and what they do. */
#include "explain/effect.h"

#include "explain/surrogate.h"
#include "fixture.h"
#include "models.h"
#include "trained.h"

enum { N = 120, D = 2, M = 15, DRAWS = 300 };

/* ---- axes ------------------------------------------------------------------------------------ */

/* A category, a date with a circle, a period, a number with a long tail and a regressor. */
static char *mixed_table(void)
{
  static const char *const colours[] = {"10", "green", "9", "blue"};
  char *text = malloc(1 << 16);
  int n = sprintf(text, "colour,day,hour,size,y\n");
  for (int i = 0; i < 200; i++)
    n += sprintf(text + n, "%s,2020-%02d-%02d,%d,%d,%d\n", colours[i % 4], 1 + i % 12, 1 + i % 28,
                 i * 5 % 24, 1 << i % 17, i * i % 91);
  return text;
}

static const char *find_axis(struct gpnn_axis *axis, const struct gpnn_dataset *dataset,
                             const struct gpnn_explain_columns *columns, const char *name)
{
  size_t k = gpnn_explain_columns_named(columns, dataset, name, strlen(name));
  assert_ok(gpnn_axis_init(axis, dataset, dataset, &columns->of[k], &err));
  return name;
}

/* A row that gets the value that it has stays as it is; with that of another, it has what that has.
 */
static void assert_gives_values(struct gpnn_axis *axis, const struct gpnn_dataset *dataset)
{
  for (size_t row = 0; row < dataset->n; row++) {
    const double *from = dataset->x + row * dataset->d;
    size_t other = (row * 37 + 11) % dataset->n;
    double *x = gpnn_alloc(dataset->d, 1, sizeof *x);
    memcpy(x, dataset->x + other * dataset->d, dataset->d * sizeof *x);
    gpnn_axis_set(axis, gpnn_axis_value(axis, row), x, NULL);
    for (size_t c = 0; c < axis->column->n; c++)
      assert_near(x[axis->column->coordinate[c]], from[axis->column->coordinate[c]], 1e-9);
    gpnn_axis_set(axis, gpnn_axis_value(axis, other), x, NULL);
    for (size_t j = 0; j < dataset->d; j++)
      assert_near(x[j], dataset->x[other * dataset->d + j], 1e-9);
    free(x);
  }
}

static void rows_are_given_values_as_the_table_has_them(void **state)
{
  (void)state;
  const char *dates[] = {"day"}, *periods[] = {"hour=24", "day=365.25"};
  const struct gpnn_roles roles = {.target = "y",
                                   .one_hot = "colour",
                                   .n_dates = 1,
                                   .dates = dates,
                                   .n_periods = 2,
                                   .periods = periods};
  static const char *const ranked[] = {"9", "10", "blue", "green"};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_explain_columns columns = {0};
  struct gpnn_axis axis = {0};
  char *text = mixed_table();
  options.default_calibration = false;
  options.tails = GPNN_TAILS_COMPRESS;
  assert_ok(try_to_train(&training, text, &roles, &options, &err));
  const struct gpnn_dataset *dataset = &training.dataset;
  assert_ok(gpnn_explain_columns_find(&columns, dataset, false, &err));
  find_axis(&axis, dataset, &columns, "colour");
  assert_int_equal(axis.n_levels, 4);
  for (size_t rank = 0; rank < 4; rank++) {
    size_t length;
    assert_string_equal(gpnn_axis_level(&axis, rank, &length), ranked[rank]);
  }
  assert_true(gpnn_axis_value(&axis, 0) == 1 && gpnn_axis_value(&axis, 3) == 2);
  assert_gives_values(&axis, dataset);
  gpnn_axis_release(&axis);
  find_axis(&axis, dataset, &columns, "day");
  assert_true(axis.kind == GPNN_AXIS_DATE && gpnn_axis_value(&axis, 0) == 18262);
  assert_gives_values(&axis, dataset);
  gpnn_axis_release(&axis);
  find_axis(&axis, dataset, &columns, "hour");
  assert_int_equal(axis.kind, GPNN_AXIS_CIRCLE);
  for (size_t row = 1; row < 24; row++)
    assert_near(gpnn_axis_value(&axis, row), (double)(row * 5 % 24), 1e-9);
  assert_gives_values(&axis, dataset);
  gpnn_axis_release(&axis);
  find_axis(&axis, dataset, &columns, "size");
  assert_near(gpnn_axis_shown(&axis, gpnn_axis_value(&axis, 16)), 65536, 1e-6);
  assert_near(gpnn_axis_shown(&axis, gpnn_axis_value(&axis, 3)), 8, 1e-9);
  assert_gives_values(&axis, dataset);
  gpnn_axis_release(&axis);
  gpnn_explain_columns_release(&columns);
  gpnn_training_release(&training);
  free(text);
}

/* ---- effects --------------------------------------------------------------------------------- */

struct setting {
  struct fixture f;
  double lengthscale[D];
  struct gpnn_coordinate coordinates[D];
  struct gpnn_dataset dataset; /* that of the fixture, with coordinates */
  struct gpnn_parameters params;
  struct gpnn_model *model;
  struct gpnn_explain_columns columns;
  struct gpnn_axis axis;
};

static void set_up(struct setting *s, int threads)
{
  *s = (struct setting){.lengthscale = {1.5, 1.5}};
  fixture_new(&s->f, N, D, 0, 1);
  s->dataset = *s->f.data;
  s->dataset.coordinates = s->coordinates;
  for (size_t j = 0; j < D; j++)
    s->coordinates[j] = (struct gpnn_coordinate){.input = (uint32_t)j, .feature = j};
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern52"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = s->lengthscale,
                                       .covariance.kernelscale = 0.8,
                                       .covariance.noise = 0.02,
                                       .neighbours = M};
  const struct gpnn_channel channel = {&s->dataset, &s->params};
  const struct gpnn_model_options options = {.threads = threads};
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
  assert_ok(gpnn_explain_columns_find(&s->columns, &s->dataset, false, &err));
  assert_ok(gpnn_axis_init(&s->axis, &s->dataset, &s->dataset, &s->columns.of[0], &err));
}

static void tear_down(struct setting *s)
{
  gpnn_axis_release(&s->axis);
  gpnn_explain_columns_release(&s->columns);
  gpnn_model_free(s->model);
  fixture_free(&s->f);
}

/* The predicted mean where the first input of row 'i' is 'value', in units of the target. */
static double predict(const struct setting *s, size_t i, double value)
{
  double mean, x[D] = {value, s->f.x[i * D + 1]};
  const struct gpnn_query query = {.n = 1, .x = x};
  const struct gpnn_latent latent = {.mean = &mean};
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s->model, &query, &latent, &counts, &err));
  return 3 + 2 * mean;
}

static void find(struct setting *s, enum gpnn_effect_kind kind, struct gpnn_effect *effect)
{
  const struct gpnn_effect_options options = {
      .kind = kind, .n_values = 6, .n_rows = N, .n_draws = DRAWS, .level = 0.95, .seed = 3};
  *effect = (struct gpnn_effect){0};
  assert_ok(gpnn_effect_find(effect, s->model, &s->axis, NULL, &options, &err));
}

/* Of two inputs that are all there are, the surface is the function. */
static void surfaces_are_averages_over_rows_that_have_both_values(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_axis second = {0};
  struct gpnn_effect effect = {0};
  const struct gpnn_effect_options options = {.kind = GPNN_EFFECT_PDP,
                                              .n_values = 4,
                                              .n_rows = 20,
                                              .n_draws = DRAWS,
                                              .level = 0.95,
                                              .seed = 3};
  set_up(&s, 2);
  assert_ok(gpnn_axis_init(&second, &s.dataset, &s.dataset, &s.columns.of[1], &err));
  assert_ok(gpnn_effect_find(&effect, s.model, &s.axis, &second, &options, &err));
  assert_int_equal(effect.n, 16);
  for (size_t v = 0; v < effect.n; v++) {
    const struct gpnn_effect_point *point = &effect.points[v];
    double mean, x[D] = {point->value, point->second};
    const struct gpnn_query query = {.n = 1, .x = x};
    const struct gpnn_latent latent = {.mean = &mean};
    struct gpnn_counts counts = {0};
    assert_ok(gpnn_model_predict(s.model, &query, &latent, &counts, &err));
    assert_near(point->effect, 3 + 2 * mean, 1e-9);
    assert_true(point->lower < point->effect && point->effect < point->upper);
    assert_true(v < 4 || point->value > effect.points[v - 4].value);
    assert_true(v % 4 == 0 || point->second > effect.points[v - 1].second);
  }
  free(effect.points);
  gpnn_axis_release(&second);
  tear_down(&s);
}

/* 8 by 8 places of 64 rows are four times as many points as draws are exact of. */
static void a_surface_has_as_many_rows_as_its_places_leave(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_axis second = {0};
  struct gpnn_effect effect = {0};
  const struct gpnn_effect_options options = {
      .kind = GPNN_EFFECT_PDP, .n_values = 8, .n_draws = 2, .level = 0.95, .seed = 3};
  set_up(&s, 2);
  assert_ok(gpnn_axis_init(&second, &s.dataset, &s.dataset, &s.columns.of[1], &err));
  assert_ok(gpnn_effect_find(&effect, s.model, &s.axis, &second, &options, &err));
  assert_int_equal(effect.n, 64);
  for (size_t v = 0; v < effect.n; v++) assert_int_equal(effect.points[v].row, 64);
  free(effect.points);
  gpnn_axis_release(&second);
  tear_down(&s);
}

static void accumulated_effects_are_sums_of_mean_differences(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_effect effect;
  double sum[6] = {0}, centre = 0;
  set_up(&s, 2);
  find(&s, GPNN_EFFECT_ALE, &effect);
  assert_int_equal(effect.n, 6);
  for (size_t v = 1; v < 6; v++) {
    double low = effect.points[v - 1].value, high = effect.points[v].value;
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
      double x = s.f.x[i * D];
      if (x > high || (x <= low && v > 1)) continue;
      sum[v] += predict(&s, i, high) - predict(&s, i, low);
      n++;
    }
    assert_int_equal(effect.points[v].row, n);
    sum[v] = sum[v - 1] + sum[v] / (double)n;
    centre += (double)n / N * (sum[v - 1] + sum[v]) / 2;
  }
  for (size_t v = 0; v < 6; v++) {
    const struct gpnn_effect_point *point = &effect.points[v];
    assert_near(point->effect, sum[v] - centre, 1e-9);
    assert_true(point->lower < point->effect && point->effect < point->upper);
  }
  free(effect.points);
  tear_down(&s);
}

static int compare(const void *a, const void *b)
{
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

/* Of 120 rows the 1st, the 120th, and those nearest to equal distances between. */
static void values_are_quantiles_of_the_rows(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_effect effect;
  double sorted[N];
  set_up(&s, 1);
  find(&s, GPNN_EFFECT_PDP, &effect);
  for (size_t i = 0; i < N; i++) sorted[i] = s.f.x[i * D];
  qsort(sorted, N, sizeof *sorted, compare);
  for (size_t v = 0; v < 6; v++)
    assert_true(effect.points[v].value == sorted[(2 * v * (N - 1) + 5) / 10]);
  free(effect.points);
  tear_down(&s);
}

static void intervals_are_between_quantiles_of_draws(void **state)
{
  (void)state;
  double four[] = {3, 1, 4, 2}, five[] = {50, 10, 30, 20, 40}, one[] = {7}, lower, upper;
  gpnn_surrogate_interval(4, four, 0.5, &lower, &upper);
  assert_near(lower, 1.75, 1e-12);
  assert_near(upper, 3.25, 1e-12);
  gpnn_surrogate_interval(5, five, 0.5, &lower, &upper);
  assert_near(lower, 20, 1e-12);
  assert_near(upper, 40, 1e-12);
  gpnn_surrogate_interval(5, five, 0.9, &lower, &upper);
  assert_near(lower, 12, 1e-12);
  assert_near(upper, 48, 1e-12);
  gpnn_surrogate_interval(1, one, 0.9, &lower, &upper);
  assert_true(lower == 7 && upper == 7);
}

static void partial_dependence_averages_over_rows(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_effect effect, single;
  set_up(&s, 1);
  find(&s, GPNN_EFFECT_PDP, &effect);
  find(&s, GPNN_EFFECT_ICE, &single);
  assert_int_equal(single.n, 6 * N);
  for (size_t v = 0; v < 6; v++) {
    double mean = 0, of_single = 0;
    for (size_t i = 0; i < N; i++) {
      const struct gpnn_effect_point *point = &single.points[i * 6 + v];
      mean += predict(&s, i, effect.points[v].value) / N;
      of_single += point->effect / N;
      assert_near(point->effect, predict(&s, point->row, point->value), 1e-9);
      assert_true(point->lower < point->effect && point->effect < point->upper);
    }
    assert_near(effect.points[v].effect, mean, 1e-9);
    assert_near(of_single, mean, 1e-9);
  }
  free(effect.points);
  free(single.points);
  tear_down(&s);
}

static void threads_and_seeds(void **state)
{
  (void)state;
  struct setting one, four;
  struct gpnn_effect of_one, of_four;
  set_up(&one, 1);
  set_up(&four, 4);
  find(&one, GPNN_EFFECT_ALE, &of_one);
  find(&four, GPNN_EFFECT_ALE, &of_four);
  assert_memory_equal(of_one.points, of_four.points, of_one.n * sizeof *of_one.points);
  free(of_one.points);
  free(of_four.points);
  tear_down(&one);
  tear_down(&four);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_given_values_as_the_table_has_them),
      cmocka_unit_test(accumulated_effects_are_sums_of_mean_differences),
      cmocka_unit_test(surfaces_are_averages_over_rows_that_have_both_values),
      cmocka_unit_test(a_surface_has_as_many_rows_as_its_places_leave),
      cmocka_unit_test(values_are_quantiles_of_the_rows),
      cmocka_unit_test(intervals_are_between_quantiles_of_draws),
      cmocka_unit_test(partial_dependence_averages_over_rows),
      cmocka_unit_test(threads_and_seeds),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
