/* The columns of a table, and what predictions lose without them. */
#include "explain/importance.h"

#include "base/rng.h"
#include "fixture.h"
#include "models.h"
#include "trained.h"

enum { N = 300, D = 3, C = 60, M = 15, WAYS = 4 };

/* ---- columns --------------------------------------------------------------------------------- */

/* A category, a date with a circle, a constant, a position and a regressor that is an input too. */
static char *mixed_table(void)
{
  static const char *const colours[] = {"red", "green", "blue"};
  char *text = malloc(1 << 16);
  int n = sprintf(text, "colour,day,same,lat,z,lon,y,t\n");
  for (int i = 0; i < 200; i++)
    n += sprintf(text + n, "%s,2020-%02d-%02d,7,%d,%d,%d,%d,%d\n", colours[i % 3], 1 + i % 12,
                 1 + i % 28, i % 80, i * i % 37, i % 170, i * i % 91, i * 7 % 31);
  return text;
}

static void coordinates_belong_to_the_columns_of_the_table(void **state)
{
  (void)state;
  const char *dates[] = {"day"}, *periods[] = {"day=365.25"}, *locations[] = {"lat,lon"};
  const struct gpnn_roles roles = {.target = "y",
                                   .inputs = "colour,day,same,lat,z,lon",
                                   .one_hot = "colour",
                                   .regressors = "z,t",
                                   .n_dates = 1,
                                   .dates = dates,
                                   .n_periods = 1,
                                   .periods = periods,
                                   .n_locations = 1,
                                   .locations = locations};
  static const char *const names[] = {"colour", "day", "same", "lat,lon", "z", "t"};
  static const size_t widths[] = {3, 3, 0, 3, 1, 0};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_explain_columns columns = {0};
  char *text = mixed_table();
  train(&training, text, &roles, GPNN_SCALING_SCALE, 0);
  const struct gpnn_dataset *dataset = &training.dataset;
  assert_ok(gpnn_explain_columns_find(&columns, dataset, true, &err));
  assert_int_equal(columns.n, 6);
  size_t all = 0;
  for (size_t k = 0; k < columns.n; k++) {
    const struct gpnn_explain_column *column = &columns.of[k];
    assert_string_equal(column->name, names[k]);
    assert_int_equal(column->n, widths[k]);
    assert_true((column->regressor == SIZE_MAX) == (k < 4));
    all += column->n;
  }
  assert_int_equal(all, dataset->d);
  assert_int_equal(gpnn_explain_columns_named(&columns, dataset, "lonely", 3), 3);
  assert_int_equal(gpnn_explain_columns_named(&columns, dataset, "t", 1), 5);
  assert_true(gpnn_explain_columns_named(&columns, dataset, "y", 1) == SIZE_MAX);
  gpnn_explain_columns_release(&columns);
  assert_ok(gpnn_explain_columns_find(&columns, dataset, false, &err));
  assert_int_equal(columns.n, 5);
  gpnn_explain_columns_release(&columns);
  gpnn_training_release(&training);
  free(text);
}

static void whitened_columns_are_none(void **state)
{
  (void)state;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_explain_columns columns = {0};
  char *text = numbered_table();
  train(&training, text, &(struct gpnn_roles){.inputs = "x,a"}, GPNN_SCALING_WHITEN, 0);
  assert_fails(gpnn_explain_columns_find(&columns, &training.dataset, true, &err), GPNN_EDATA,
               "whitening has mixed the columns");
  gpnn_training_release(&training);
  free(text);
}

/* ---- importance ------------------------------------------------------------------------------ */

struct setting {
  struct fixture f;
  double lengthscale[D], truth[C];
  struct gpnn_coordinate coordinates[D];
  struct gpnn_dataset dataset; /* that of the fixture, with coordinates */
  struct gpnn_parameters params;
  struct gpnn_model *model;
  struct gpnn_importance_rows rows;
  struct gpnn_importance_job *job;
};

/* The third input is nearly unseen. */
static void set_up(struct setting *s, int threads)
{
  fixture_new(&s->f, N, D, C, 1);
  s->dataset = *s->f.data;
  s->dataset.coordinates = s->coordinates;
  for (size_t j = 0; j < D; j++) {
    s->coordinates[j] = (struct gpnn_coordinate){.input = (uint32_t)j, .feature = j};
    s->lengthscale[j] = j == 2 ? 1e8 : 1;
  }
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = s->lengthscale,
                                       .covariance.kernelscale = 0.5,
                                       .covariance.noise = 0.2,
                                       .neighbours = M};
  const struct gpnn_channel channel = {&s->dataset, &s->params};
  const struct gpnn_model_options options = {.threads = threads};
  s->model = NULL;
  assert_ok(gpnn_model_new(&s->model, 1, &channel, &options, &err));
  for (size_t i = 0; i < C; i++) s->truth[i] = 3 + 2 * s->f.cy[i];
  s->rows = (struct gpnn_importance_rows){.of = {.n = C, .x = s->f.cx}, .truth = s->truth};
  assert_ok(gpnn_importance_new(&s->job, s->model, &s->rows, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_importance_free(s->job);
  gpnn_model_free(s->model);
  fixture_free(&s->f);
}

#define alone(column)                                         \
  (const struct gpnn_explain_group)                           \
  {                                                           \
    .n = 1, .of = (const struct gpnn_explain_column *const[]) \
    {                                                         \
      column                                                  \
    }                                                         \
  }

/* CRPS of each row, and its squared error, from means and variances. */
static void score(const struct setting *s, const double *x, double *crps, double *square)
{
  double mean[C], variance[C];
  const struct gpnn_query query = {.n = C, .x = x};
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s->model, &query, &latent, &counts, &err));
  for (size_t i = 0; i < C; i++) {
    double error = s->truth[i] - (3 + 2 * mean[i]), sd = 2 * sqrt(variance[i] + 0.2);
    double z = error / sd, density = exp(-z * z / 2) / sqrt(8 * atan(1));
    crps[i] = sd * (z * erf(z / sqrt(2)) + 2 * density - 1 / sqrt(4 * atan(1)));
    square[i] = error * error;
  }
}

static double average(const double *values)
{
  double sum = 0;
  for (size_t i = 0; i < C; i++) sum += values[i];
  return sum / C;
}

static void permuting_gives_each_row_the_value_of_another(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_importance found;
  double crps[C], square[C], own_crps[C], own_square[C], x[C * D];
  double expected[2] = {0}, ways[WAYS], rows[C] = {0}, base[2], of_rows = 0, of_ways = 0;
  const size_t second = 1;
  const struct gpnn_explain_column column = {.n = 1, .coordinate = &second, .regressor = SIZE_MAX};
  const struct gpnn_importance_options options = {
      .n_permutations = WAYS, .n_permuted = C, .n_missing = C, .seed = 5};
  set_up(&s, 2);
  score(&s, s.f.cx, own_crps, own_square);
  gpnn_importance_base(s.job, base);
  assert_near(base[0], average(own_crps), 1e-10);
  assert_near(base[1], sqrt(average(own_square)), 1e-10);
  for (size_t way = 0; way < WAYS; way++) {
    uint64_t from[C];
    struct gpnn_rng rng;
    gpnn_rng_init_at(&rng, 5, GPNN_RNG_PERMUTE, way);
    assert_ok(gpnn_rng_sample(&rng, C, C, from, &err));
    memcpy(x, s.f.cx, sizeof x);
    for (size_t i = 0; i < C; i++) x[i * D + 1] = s.f.cx[from[i] * D + 1];
    score(&s, x, crps, square);
    ways[way] = average(crps) - average(own_crps);
    expected[0] += ways[way] / WAYS;
    expected[1] += (sqrt(average(square)) - sqrt(average(own_square))) / WAYS;
    for (size_t i = 0; i < C; i++) rows[i] += (crps[i] - own_crps[i]) / WAYS;
  }
  for (size_t i = 0; i < C; i++) of_rows += pow(rows[i] - expected[0], 2) / (C - 1) / C;
  for (size_t way = 0; way < WAYS; way++)
    of_ways += pow(ways[way] - expected[0], 2) / (WAYS - 1) / WAYS;
  assert_ok(gpnn_importance_of(s.job, &alone(&column), &options, &found, &err));
  assert_near(found.permuted[0].mean, expected[0], 1e-10);
  assert_near(found.permuted[1].mean, expected[1], 1e-10);
  assert_near(found.permuted[0].standard_error, sqrt(of_rows + of_ways), 1e-10);
  assert_true(found.permuted[0].mean > 0);
  /* Halves of the rows are two groups, the first of which has the sum of its deviations. */
  uint32_t half[C];
  double sum = 0;
  for (size_t i = 0; i < C; i++) half[i] = i % 2 == 0 ? 3 : 0;
  for (size_t i = 0; i < C; i += 2) sum += rows[i] - expected[0];
  gpnn_importance_free(s.job);
  s.rows.group = half;
  assert_ok(gpnn_importance_new(&s.job, s.model, &s.rows, &err));
  assert_ok(gpnn_importance_of(s.job, &alone(&column), &options, &found, &err));
  assert_near(found.permuted[0].mean, expected[0], 1e-10);
  assert_near(found.permuted[0].standard_error, sqrt(4 * sum * sum / C / C + of_ways), 1e-10);
  tear_down(&s);
}

static void what_is_missing_is_integrated_out(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_importance found;
  double crps[C], square[C], own_crps[C], own_square[C], x[C * D], of_rows = 0;
  const size_t first = 0;
  const struct gpnn_explain_column column = {.n = 1, .coordinate = &first, .regressor = SIZE_MAX};
  const struct gpnn_importance_options
      every = {.n_permutations = 1, .n_permuted = C, .n_missing = C, .seed = 1},
      third = {.n_permutations = 1, .n_permuted = C, .n_missing = C / 3, .seed = 1};
  set_up(&s, 1);
  memcpy(x, s.f.cx, sizeof x);
  for (size_t i = 0; i < C; i++) x[i * D] = NAN;
  score(&s, s.f.cx, own_crps, own_square);
  score(&s, x, crps, square);
  /* Of ten draws, those of very many: a tenth of the variance between draws is taken away. */
  double base = average(own_crps), after = average(crps), share = 10. / 11;
  double whole = sqrt(base * base + share * (after * after - base * base));
  double expected = whole - base, in_after = share * after / whole;
  double in_base = (1 - share) * base / whole - 1, centre = in_after * after + in_base * base;
  for (size_t i = 0; i < C; i++)
    of_rows += pow(in_after * crps[i] + in_base * own_crps[i] - centre, 2) / (C - 1) / C;
  assert_ok(gpnn_importance_of(s.job, &alone(&column), &every, &found, &err));
  assert_near(found.missing[0].mean, expected, 1e-10);
  assert_near(found.missing[0].standard_error, sqrt(of_rows), 1e-10);
  base = average(own_square);
  assert_near(found.missing[1].mean, sqrt(base + share * (average(square) - base)) - sqrt(base),
              1e-10);
  assert_ok(gpnn_importance_of(s.job, &alone(&column), &third, &found, &err));
  struct gpnn_rng rng;
  uint64_t row[C / 3];
  gpnn_rng_init_at(&rng, 1, GPNN_RNG_PERMUTE, UINT64_MAX);
  assert_ok(gpnn_rng_sample(&rng, C, C / 3, row, &err));
  base = after = 0;
  for (size_t i = 0; i < C / 3; i++) {
    base += own_crps[row[i]] / (C / 3);
    after += crps[row[i]] / (C / 3);
  }
  whole = sqrt(base * base + share * (after * after - base * base));
  assert_near(found.missing[0].mean, whole - base, 1e-10);
  tear_down(&s);
}

static void columns_are_taken_away_together(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_importance found;
  double crps[C], square[C], own_crps[C], own_square[C], x[C * D];
  const size_t both[] = {0, 1};
  const struct gpnn_explain_column first = {.n = 1, .coordinate = both, .regressor = SIZE_MAX},
                                   second = {.n = 1, .coordinate = both + 1, .regressor = SIZE_MAX};
  const struct gpnn_explain_column *const of[] = {&first, &second};
  const struct gpnn_importance_options options = {
      .n_permutations = 1, .n_permuted = C, .n_missing = C, .seed = 5};
  uint64_t from[C];
  struct gpnn_rng rng;
  set_up(&s, 2);
  score(&s, s.f.cx, own_crps, own_square);
  gpnn_rng_init_at(&rng, 5, GPNN_RNG_PERMUTE, 0);
  assert_ok(gpnn_rng_sample(&rng, C, C, from, &err));
  memcpy(x, s.f.cx, sizeof x);
  for (size_t i = 0; i < C; i++) memcpy(x + i * D, s.f.cx + from[i] * D, 2 * sizeof *x);
  score(&s, x, crps, square);
  assert_ok(
      gpnn_importance_of(s.job, &(const struct gpnn_explain_group){2, of}, &options, &found, &err));
  assert_near(found.permuted[0].mean, average(crps) - average(own_crps), 1e-10);
  tear_down(&s);
}

static void what_the_model_does_not_see_is_worth_nothing(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_importance found;
  const size_t third = 2;
  const struct gpnn_explain_column unseen = {.n = 1, .coordinate = &third, .regressor = SIZE_MAX},
                                   constant = {.n = 0, .regressor = SIZE_MAX};
  const struct gpnn_importance_options options = {
      .n_permutations = 3, .n_permuted = C, .n_missing = C, .seed = 1};
  set_up(&s, 2);
  assert_ok(gpnn_importance_of(s.job, &alone(&unseen), &options, &found, &err));
  assert_near(found.permuted[0].mean, 0, 1e-6);
  assert_near(found.missing[1].mean, 0, 1e-6);
  assert_ok(gpnn_importance_of(s.job, &alone(&constant), &options, &found, &err));
  assert_true(found.permuted[0].mean == 0 && found.missing[1].mean == 0);
  s.dataset.drops_missing = true;
  assert_ok(gpnn_importance_of(s.job, &alone(&unseen), &options, &found, &err));
  assert_true(isnan(found.missing[0].mean) && !isnan(found.permuted[0].mean));
  tear_down(&s);
}

/* ---- what goes along with the target --------------------------------------------------------- */

static void find_shares(const char *text, const struct gpnn_roles *roles, double share[2])
{
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_explain_columns columns = {0};
  train(&training, text, roles, GPNN_SCALING_SCALE, 0);
  assert_ok(gpnn_explain_columns_find(&columns, &training.dataset, false, &err));
  assert_int_equal(columns.n, 2);
  assert_ok(gpnn_explain_columns_share(&columns, &training.dataset, share, &err));
  gpnn_explain_columns_release(&columns);
  gpnn_training_release(&training);
}

static void shares_are_squared_correlations_or_correlation_ratios(void **state)
{
  (void)state;
  double share[2];
  /* Of x about its mean 2: -2 -1 0 3; of y about 3: -2 -1 1 2. */
  const struct gpnn_roles of_number = {.target = "y"}, of_class = {.target = "k"};
  find_shares("x,same,y\n0,7,1\n1,7,2\n2,7,4\n5,7,5\n", &of_number, share);
  assert_near(share[0], 11. * 11 / (14 * 10), 1e-12);
  assert_near(share[1], 0, 0);
  /* Means of the classes: -1.5 and 1.5; the other column is a category that tells the class. */
  find_shares("x,c,k\n0,u,a\n1,u,a\n2,v,b\n5,v,b\n",
              &(struct gpnn_roles){.target = of_class.target, .one_hot = "c"}, share);
  assert_near(share[0], 4 * 1.5 * 1.5 / 14, 1e-12);
  assert_near(share[1], 1, 1e-12);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coordinates_belong_to_the_columns_of_the_table),
      cmocka_unit_test(shares_are_squared_correlations_or_correlation_ratios),
      cmocka_unit_test(whitened_columns_are_none),
      cmocka_unit_test(permuting_gives_each_row_the_value_of_another),
      cmocka_unit_test(what_is_missing_is_integrated_out),
      cmocka_unit_test(columns_are_taken_away_together),
      cmocka_unit_test(what_the_model_does_not_see_is_worth_nothing),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
