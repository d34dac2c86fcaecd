/* Which inputs have long tails, and what becomes of them. */
#include "base/rng.h"
#include "dataset/steps_private.h"
#include "stats/row_source.h"
#include "table/schema.h"
#include "unit.h"

enum { N = 4000, COLUMNS = 5 };

/* Normal, log-normal, indicator, constant, normal with heavy tails. */
enum { NORMAL, LOG_NORMAL, INDICATOR, CONSTANT, CAUCHY };

static double rows[N][COLUMNS];

static int draw_rows(void **state)
{
  struct gpnn_rng rng;
  (void)state;
  gpnn_rng_init(&rng, 7, GPNN_RNG_TEST);
  for (size_t i = 0; i < N; i++) {
    double z = gpnn_rng_normal(&rng);
    rows[i][NORMAL] = 100 + 3 * z;
    rows[i][LOG_NORMAL] = exp(2 * z);
    rows[i][INDICATOR] = i % 50 == 0;
    rows[i][CONSTANT] = 4;
    rows[i][CAUCHY] = z / (gpnn_rng_normal(&rng) + 1e-9);
  }
  return 0;
}

static enum gpnn_status read_rows(void *context, size_t from, size_t count, double *to,
                                  struct gpnn_error *error)
{
  (void)context;
  (void)error;
  memcpy(to, rows[from], count * sizeof rows[0]);
  return GPNN_OK;
}

static const struct gpnn_row_source source = {N, COLUMNS, read_rows, NULL, 2, NULL};

static void only_long_tails_are_compressed(void **state)
{
  struct gpnn_learnt tails = {0};
  (void)state;
  assert_ok(gpnn_tails_learn(&tails, &source, COLUMNS, NULL, &err));
  assert_int_equal(tails.n_features, COLUMNS);
  assert_false(gpnn_tails_has(&tails, NORMAL));
  assert_true(gpnn_tails_has(&tails, LOG_NORMAL));
  assert_false(gpnn_tails_has(&tails, INDICATOR));
  assert_false(gpnn_tails_has(&tails, CONSTANT));
  assert_true(gpnn_tails_has(&tails, CAUCHY));
  assert_true(gpnn_tails_compress(&tails, NORMAL, 1e9) == 1e9);
  free(tails.numbers);
}

/* Two columns whose kurtosis, 5.64 and 6.34, is on either side of that of Laplace's distribution:
 * uniform between -1 and 1, but for one cell in fifty at 'far'. */
static enum gpnn_status read_near_the_border(void *context, size_t from, size_t count, double *to,
                                             struct gpnn_error *error)
{
  static const double far[] = {2.7, 2.85};
  (void)context;
  (void)error;
  for (size_t i = 0; i < 2 * count; i++) {
    size_t row = from + i / 2;
    double sign = row / 50 % 2 == 0 ? -1 : 1;
    to[i] = row % 50 == 0 ? sign * far[i % 2] : 2 * ((double)row + 0.5) / N - 1;
  }
  return GPNN_OK;
}

static void a_tail_is_long_beyond_a_kurtosis_of_6(void **state)
{
  const struct gpnn_row_source border = {N, 2, read_near_the_border, NULL, 1, NULL};
  struct gpnn_learnt tails = {0};
  (void)state;
  assert_ok(gpnn_tails_learn(&tails, &border, 2, NULL, &err));
  assert_false(gpnn_tails_has(&tails, 0));
  assert_true(gpnn_tails_has(&tails, 1));
  free(tails.numbers);
}

/* As it was near the centre, the same on both sides, logarithmic far away. */
static void compression_is_the_arcsinh(void **state)
{
  struct gpnn_learnt tails = {0};
  (void)state;
  assert_ok(gpnn_tails_learn(&tails, &source, COLUMNS, NULL, &err));
  double centre = tails.numbers[LOG_NORMAL], spread = tails.numbers[COLUMNS + LOG_NORMAL];
  assert_near(centre, 1, 0.2); /* of exp(2 z) */
  assert_true(gpnn_tails_compress(&tails, LOG_NORMAL, centre) == centre);
  for (double t = 0.01; t < 1e7; t *= 7) {
    double above = gpnn_tails_compress(&tails, LOG_NORMAL, centre + t * spread) - centre;
    double below = gpnn_tails_compress(&tails, LOG_NORMAL, centre - t * spread) - centre;
    assert_close(above, spread * log(t + sqrt(t * t + 1)), 1e-9);
    assert_close(below, -above, 1e-9);
  }
  free(tails.numbers);
}

static void coordinates_of_a_point_are_left_alone(void **state)
{
  struct gpnn_learnt tails = {0};
  const struct gpnn_feature features[COLUMNS] = {
      {0, false, false}, {1, false, false}, {1, false, false}, {2, false, false}, {3, true, false}};
  (void)state;
  assert_ok(gpnn_tails_learn(&tails, &source, COLUMNS, features, &err));
  assert_int_equal(tails.n, 0);
  assert_false(gpnn_tails_has(&tails, CAUCHY));
  assert_true(gpnn_tails_compress(&tails, CAUCHY, 1e30) == 1e30);
  free(tails.numbers);
}

static void the_threads_do_not_matter(void **state)
{
  struct gpnn_learnt two = {0}, one = {0};
  struct gpnn_row_source alone = source;
  (void)state;
  alone.threads = 1;
  assert_ok(gpnn_tails_learn(&two, &source, COLUMNS, NULL, &err));
  assert_ok(gpnn_tails_learn(&one, &alone, COLUMNS, NULL, &err));
  assert_memory_equal(two.numbers, one.numbers, 2 * COLUMNS * sizeof(double));
  free(two.numbers);
  free(one.numbers);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_long_tails_are_compressed),
      cmocka_unit_test(a_tail_is_long_beyond_a_kurtosis_of_6),
      cmocka_unit_test(compression_is_the_arcsinh),
      cmocka_unit_test(coordinates_of_a_point_are_left_alone),
      cmocka_unit_test(the_threads_do_not_matter),
  };
  return cmocka_run_group_tests(tests, draw_rows, NULL);
}
