/* Synthetic tables: what rows are, that they do not depend on how they are made, and how they are
 * written. */
#include "base/rng.h"
#include "base/threads.h"
#include "covariance.h"
#include "linalg/blas_threads.h"
#include "scratch.h"
#include "simulate/synthetic.h"
#include "unit.h"

static struct gpnn_synthetic_options options_of(enum gpnn_synthetic_kind kind)
{
  return (struct gpnn_synthetic_options){
      .kind = kind,
      .inputs = {GPNN_INPUTS_NORMAL, 2, 0.7},
      .function = gpnn_function_by_name("waves"),
      .process = covariance_of("matern32", 0.8, 0.9, 0),
      .n_features = 30,
      .n = 300,
      .m = 4,
      .observation = {.noise = {GPNN_NOISE_NORMAL, 0, 0.1}},
      .seed = 5,
      .threads = 2,
  };
}

struct rows {
  size_t n, d;
  double *x, *f, *y, *exposure; /* f: what is known before the target is drawn */
};

static struct rows make(const struct gpnn_synthetic_options *options, uint64_t first, size_t items)
{
  struct gpnn_synthetic *synthetic = NULL;
  assert_ok(gpnn_synthetic_new(&synthetic, options, &err));
  struct rows rows = {items * gpnn_synthetic_rows_each(synthetic), options->inputs.d, 0, 0, 0, 0};
  rows.x = calloc(rows.n * rows.d, sizeof *rows.x);
  rows.f = calloc(rows.n * gpnn_observation_functions(&options->observation), sizeof *rows.f);
  rows.y = calloc(rows.n, sizeof *rows.y);
  rows.exposure = calloc(rows.n, sizeof *rows.exposure);
  assert_true(rows.x != NULL && rows.f != NULL && rows.y != NULL && rows.exposure != NULL);
  const struct gpnn_synthetic_rows to = {rows.x, rows.f, rows.y, rows.exposure};
  assert_ok(gpnn_synthetic_make(synthetic, first, items, &to, &err));
  gpnn_synthetic_free(synthetic);
  return rows;
}

static void release(struct rows *rows)
{
  free(rows->x);
  free(rows->f);
  free(rows->y);
  free(rows->exposure);
}

static void a_row_depends_on_seed_and_number_alone(void **state)
{
  (void)state;
  for (int kind = GPNN_SYNTHETIC_FUNCTION; kind <= GPNN_SYNTHETIC_LOCAL; kind++) {
    struct gpnn_synthetic_options options = options_of((enum gpnn_synthetic_kind)kind);
    struct rows all = make(&options, 0, 300);
    size_t each = all.n / 300;
    options.threads = 1;
    if (kind == GPNN_SYNTHETIC_EXACT) options.n = 250; /* as if fewer were wanted */
    struct rows part = make(&options, 130, 120);
    assert_memory_equal(part.x, all.x + 130 * each * 2, part.n * 2 * sizeof *part.x);
    assert_memory_equal(part.f, all.f + 130 * each, part.n * sizeof *part.f);
    assert_memory_equal(part.y, all.y + 130 * each, part.n * sizeof *part.y);
    options.seed++;
    struct rows other = make(&options, 130, 120);
    assert_memory_not_equal(part.x, other.x, sizeof *part.x);
    assert_memory_not_equal(part.f, other.f, sizeof *part.f);
    release(&all);
    release(&part);
    release(&other);
  }
}

static void a_function_is_that_of_the_inputs(void **state)
{
  (void)state;
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
  struct rows rows = make(&options, 999999999999999000u, 900);
  double inputs = 0, noise = 0;
  for (size_t i = 0; i < rows.n; i++) {
    assert_true(rows.f[i] == options.function->value(2, rows.x + 2 * i));
    inputs += rows.x[2 * i] * rows.x[2 * i] + rows.x[2 * i + 1] * rows.x[2 * i + 1];
    noise += (rows.y[i] - rows.f[i]) * (rows.y[i] - rows.f[i]);
  }
  assert_close(inputs / 1800, 0.49, 4 * sqrt(2.0 / 1800));
  assert_close(noise / 900, 0.1, 4 * sqrt(2.0 / 900));
  release(&rows);
}

static void another_law_of_noise_leaves_the_rest(void **state)
{
  (void)state;
  for (int kind = GPNN_SYNTHETIC_FUNCTION; kind <= GPNN_SYNTHETIC_LOCAL; kind++) {
    struct gpnn_synthetic_options options = options_of((enum gpnn_synthetic_kind)kind);
    struct rows normal = make(&options, 0, 40);
    options.observation.noise = (struct gpnn_noise){GPNN_NOISE_STUDENT, 3, 2};
    struct rows student = make(&options, 0, 40);
    assert_memory_equal(normal.x, student.x, normal.n * 2 * sizeof *normal.x);
    assert_memory_equal(normal.f, student.f, normal.n * sizeof *normal.f);
    for (size_t i = 0; i < normal.n; i++) assert_true(normal.y[i] != student.y[i]);
    release(&normal);
    release(&student);
  }
}

static double matern32(const double *a, const double *b)
{
  double r = sqrt(3) * hypot(a[0] - b[0], a[1] - b[1]) / 0.8;
  return 0.9 * (1 + r) * exp(-r);
}

/* L^-1 y of the rows' own covariance matrix, by elimination row by row. */
static void whiten(const struct rows *rows, double *y)
{
  size_t n = rows->n;
  double *l = calloc(n * n, sizeof *l);
  assert_non_null(l);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j <= i; j++) {
      double sum = matern32(rows->x + 2 * i, rows->x + 2 * j) + (i == j ? 0.1 : 0);
      for (size_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? sqrt(sum) : sum / l[j * n + j];
    }
    for (size_t k = 0; k < i; k++) y[i] -= l[i * n + k] * y[k];
    y[i] /= l[i * n + i];
  }
  free(l);
}

/* Whitened, a draw is standard normal: of 20 draws of 300 rows, mean and mean square. */
static void an_exact_process_is_drawn_with_its_covariance(void **state)
{
  (void)state;
  enum { DRAWS = 20, N = 300 };
  double sum = 0, squares = 0, fourth = 0;
  for (uint64_t seed = 1; seed <= DRAWS; seed++) {
    struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_EXACT);
    options.seed = seed;
    struct rows rows = make(&options, 0, N);
    whiten(&rows, rows.y);
    for (size_t i = 0; i < N; i++) {
      double z = rows.y[i];
      sum += z;
      squares += z * z;
      fourth += z * z * z * z;
    }
    release(&rows);
  }
  double n = DRAWS * N;
  assert_near(sum / n, 0, 4 / sqrt(n));
  assert_near(squares / n, 1, 4 * sqrt(2 / n));
  assert_near(fourth / n, 3, 4 * sqrt(96 / n));
}

/* Each point and its neighbours whitened likewise; neighbours come nearest first. */
static void local_draws_have_their_covariance(void **state)
{
  (void)state;
  enum { POINTS = 3000, EACH = 5 };
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_LOCAL);
  struct rows rows = make(&options, 0, POINTS);
  assert_int_equal(rows.n, POINTS * EACH);
  double squares = 0, product = 0;
  for (size_t p = 0; p < POINTS; p++) {
    struct rows point = {EACH, 2, rows.x + p * EACH * 2, rows.f + p * EACH, rows.y + p * EACH,
                         NULL};
    double last = 0;
    for (size_t r = 1; r < EACH; r++) {
      double r1 = hypot(point.x[2 * r] - point.x[0], point.x[2 * r + 1] - point.x[1]);
      assert_true(r1 > last);
      last = r1;
    }
    whiten(&point, point.y);
    for (size_t r = 0; r < EACH; r++) squares += point.y[r] * point.y[r];
    product += point.y[0] * point.y[EACH - 1];
  }
  assert_near(squares / (POINTS * EACH), 1, 4 * sqrt(2.0 / (POINTS * EACH)));
  assert_near(product / POINTS, 0, 4 / sqrt(POINTS));
  release(&rows);
}

/* Over many seeds f f' at two rows is the kernel at their places, which differ from seed to seed:
 * so its mean less the kernel's. */
static void features_have_the_covariance_of_the_kernel(void **state)
{
  (void)state;
  enum { SEEDS = 4000 };
  double sum = 0, squares = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FEATURES);
    options.seed = seed;
    struct rows rows = make(&options, 0, 2);
    double difference = rows.f[0] * rows.f[1] - matern32(rows.x, rows.x + 2);
    sum += difference;
    squares += difference * difference;
    release(&rows);
  }
  assert_near(sum / SEEDS, 0, 4 * sqrt(squares) / SEEDS);
}

/* The table of items [first, first + n) with column f, delimited by commas; the caller frees it. */
static char *written(struct gpnn_synthetic *synthetic, uint64_t first, uint64_t n)
{
  const struct gpnn_synthetic_format format = {',', true};
  struct gpnn_output *output = NULL;
  const char *path = scratch_path("rows.csv");
  assert_ok(gpnn_output_open(&output, path, &err));
  if (first == 0) assert_ok(gpnn_synthetic_write_header(synthetic, &format, output, &err));
  assert_ok(gpnn_synthetic_write(synthetic, &format, first, n, output, &err));
  assert_ok(gpnn_output_close(output, &err));
  return scratch_read(path, NULL);
}

/* ---- classes and counts ------------------------------------------------------------------- */

static struct gpnn_synthetic_options classes_of(enum gpnn_synthetic_kind kind, size_t n_classes)
{
  struct gpnn_synthetic_options options = options_of(kind);
  options.observation =
      (struct gpnn_observation){.likelihood = GPNN_LIKELIHOOD_CATEGORICAL, .n_classes = n_classes};
  return options;
}

/* Each class has a function of its own, which is log p_c - log p_1 up to that of the first. */
static void further_classes_leave_the_functions_of_the_first(void **state)
{
  (void)state;
  for (int kind = GPNN_SYNTHETIC_EXACT; kind <= GPNN_SYNTHETIC_LOCAL; kind++) {
    struct gpnn_synthetic_options three = classes_of((enum gpnn_synthetic_kind)kind, 3);
    struct gpnn_synthetic_options five = classes_of((enum gpnn_synthetic_kind)kind, 5);
    struct gpnn_synthetic_options one = options_of((enum gpnn_synthetic_kind)kind);
    struct rows few = make(&three, 0, 60), many = make(&five, 0, 60), alone = make(&one, 0, 60);
    assert_memory_equal(few.x, many.x, few.n * few.d * sizeof *few.x);
    double odds = 0, products = 0;
    for (size_t i = 0; i < few.n; i++) {
      const double *p = few.f + 3 * i, *q = many.f + 5 * i;
      assert_near(p[0] + p[1] + p[2], 1, 1e-15);
      assert_near(log(p[1] / p[0]), log(q[1] / q[0]), 1e-13);
      assert_near(log(p[2] / p[0]), log(q[2] / q[0]), 1e-13);
      assert_true(few.y[i] == floor(few.y[i]) && few.y[i] >= 0 && few.y[i] < 3);
      double second = log(q[1] / q[0]) + alone.f[i], third = log(q[2] / q[0]) + alone.f[i];
      odds += second * second + third * third;
      products += second * third;
    }
    assert_true(fabs(products) < 0.45 * odds); /* they differ */
    release(&few);
    release(&many);
    release(&alone);
  }
}

/* Given the functions, the log odds of two classes are normal with twice the variance. */
static void functions_of_classes_are_independent_draws(void **state)
{
  (void)state;
  enum { SEEDS = 1500, K = 3 };
  double squares = 0, products = 0;
  for (uint64_t seed = 1; seed <= SEEDS; seed++) {
    struct gpnn_synthetic_options options = classes_of(GPNN_SYNTHETIC_FEATURES, K);
    options.seed = seed;
    struct rows row = make(&options, 0, 1);
    double first = log(row.f[1] / row.f[0]), second = log(row.f[2] / row.f[0]);
    squares += first * first + second * second;
    products += first * second;
    release(&row);
  }
  assert_near(squares / SEEDS, 4 * 0.9, 4 * sqrt(4 * 2.0 * 3.24 / SEEDS));
  assert_near(products / SEEDS, 0.9, 4 * sqrt((3.24 + 0.81) / SEEDS));
}

static void classes_come_with_their_probabilities(void **state)
{
  (void)state;
  enum { N = 20000, K = 4 };
  struct gpnn_synthetic_options options = classes_of(GPNN_SYNTHETIC_FEATURES, K);
  struct rows rows = make(&options, 0, N);
  double wanted[K] = {0}, variance[K] = {0}, seen[K] = {0}, agreed = 0, agreement = 0;
  for (size_t i = 0; i < N; i++) {
    const double *p = rows.f + K * i;
    for (size_t c = 0; c < K; c++) {
      wanted[c] += p[c];
      variance[c] += p[c] * (1 - p[c]);
      agreement += p[c] * p[c];
    }
    seen[(size_t)rows.y[i]]++;
    agreed += p[(size_t)rows.y[i]];
  }
  for (size_t c = 0; c < K; c++) assert_near(seen[c], wanted[c], 4 * sqrt(variance[c]));
  assert_near(agreed / N, agreement / N, 4 * sqrt(0.1 / N)); /* not only the shares are right */
  release(&rows);
}

/* Where the function is 0, counts have one distribution: its mean and variance. */
static void counts_have_their_mean_and_variance(void **state)
{
  (void)state;
  enum { N = 40000 };
  static const struct gpnn_observation observations[] = {
      {.likelihood = GPNN_LIKELIHOOD_POISSON, .mean = 1.2},
      {.likelihood = GPNN_LIKELIHOOD_POISSON, .mean = 5},
      {.likelihood = GPNN_LIKELIHOOD_NEGBIN, .mean = 1.2, .dispersion = 0.7},
      {.likelihood = GPNN_LIKELIHOOD_NEGBIN, .mean = 4, .dispersion = 30}};
  for (size_t k = 0; k < 4; k++) {
    struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
    options.function = gpnn_function_by_name("zero");
    options.observation = observations[k];
    struct rows rows = make(&options, 0, N);
    double mean = exp(observations[k].mean), r = observations[k].dispersion, sum = 0, squares = 0;
    double variance = mean + (r > 0 ? mean * mean / r : 0);
    /* the kurtosis in excess of a normal variable's */
    double excess = 1 / variance + (r > 0 ? 6 / r : 0), zeros = 0;
    for (size_t i = 0; i < N; i++) {
      assert_close(rows.f[i], mean, 1e-15);
      assert_true(rows.exposure[i] == 1);
      sum += rows.y[i] - mean;
      squares += pow(rows.y[i] - mean, 2);
      zeros += rows.y[i] == 0;
    }
    assert_near(sum / N, 0, 4 * sqrt(variance / N));
    assert_near(squares / N, variance, 4 * variance * sqrt((2 + excess) / N));
    double none = r > 0 ? pow(r / (r + mean), r) : exp(-mean);
    assert_near(zeros / N, none, 4 * sqrt(none * (1 - none) / N));
    release(&rows);
  }
}

static void exposures_multiply_the_expectation(void **state)
{
  (void)state;
  enum { N = 20000 };
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
  options.observation = (struct gpnn_observation){.likelihood = GPNN_LIKELIHOOD_POISSON, .mean = 2};
  struct rows plain = make(&options, 0, N);
  options.exposure_range = 10;
  struct rows exposed = make(&options, 0, N);
  double logs = 0, squares = 0, errors = 0;
  for (size_t i = 0; i < N; i++) {
    double e = exposed.exposure[i];
    assert_true(e >= 0.1 && e <= 10);
    assert_close(exposed.f[i], e * plain.f[i], 1e-14);
    logs += log(e);
    squares += log(e) * log(e);
    errors += pow(exposed.y[i] - exposed.f[i], 2) / exposed.f[i];
  }
  assert_memory_equal(plain.x, exposed.x, 2 * N * sizeof *plain.x);
  double third = log(10) * log(10) / 3;
  assert_near(logs / N, 0, 4 * sqrt(third / N));
  assert_near(squares / N, third, 4 * third * sqrt(0.8 / N));
  assert_near(errors / N, 1, 4 * sqrt(3.5 / N));
  release(&plain);
  release(&exposed);
}

/* More classes than 9 have names of two digits. */
static void tables_of_classes_have_names_and_probabilities(void **state)
{
  (void)state;
  struct gpnn_synthetic_options options = classes_of(GPNN_SYNTHETIC_FEATURES, 10);
  struct gpnn_synthetic *synthetic = NULL;
  assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
  struct rows rows = make(&options, 0, 50);
  char *table = written(synthetic, 0, 50), *at = table;
  static const char header[] =
      "x1,x2,p_c01,p_c02,p_c03,p_c04,p_c05,p_c06,p_c07,p_c08,p_c09,p_c10,y\n";
  assert_memory_equal(at, header, sizeof header - 1);
  at += sizeof header - 1;
  for (size_t i = 0; i < rows.n; i++) {
    for (size_t j = 0; j < 2; j++)
      assert_true(strtod(at, &at) == rows.x[2 * i + j] && *at++ == ',');
    for (size_t c = 0; c < 10; c++)
      assert_true(strtod(at, &at) == rows.f[10 * i + c] && *at++ == ',');
    assert_int_equal(*at, 'c');
    assert_int_equal(strtoul(at + 1, &at, 10), rows.y[i] + 1);
    assert_int_equal(*at++, '\n');
  }
  assert_int_equal(*at, '\0');
  release(&rows);
  free(table);
  gpnn_synthetic_free(synthetic);
}

static void warps_change_the_inputs_written_alone(void **state)
{
  (void)state;
  static const enum gpnn_warp_law laws[] = {GPNN_WARP_NEGATIVE, GPNN_WARP_POWER, GPNN_WARP_CUBIC};
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
  struct rows plain = make(&options, 0, 100);
  for (size_t k = 0; k < 3; k++) {
    options.warp.law = laws[k];
    options.warp.gamma = 0.5;
    struct rows warped = make(&options, 0, 100);
    assert_memory_equal(plain.y, warped.y, 100 * sizeof *plain.y);
    for (size_t i = 0; i < 200; i++) {
      double x = plain.x[i];
      const double wanted[] = {fmin(x, 1.5 * x), x > 0 ? x * sqrt(x) : x, x + 0.5 * x * x * x};
      assert_near(warped.x[i], wanted[k], 1e-14);
    }
    release(&warped);
  }
  release(&plain);
}

static void tables_hold_the_rows_to_the_last_digit(void **state)
{
  (void)state;
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_LOCAL);
  struct gpnn_synthetic *synthetic = NULL;
  assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
  struct rows rows = make(&options, 0, 7);
  char *table = written(synthetic, 0, 7), *at = table;
  assert_memory_equal(at, "point,rank,x1,x2,f,y\n", 21);
  at = strchr(at, '\n') + 1;
  for (size_t i = 0; i < rows.n; i++) {
    assert_int_equal(strtoul(at, &at, 10), i / 5);
    assert_int_equal(strtoul(at + 1, &at, 10), i % 5);
    const double wanted[] = {rows.x[2 * i], rows.x[2 * i + 1], rows.f[i], rows.y[i]};
    for (size_t j = 0; j < 4; j++) assert_true(strtod(at + 1, &at) == wanted[j]);
    assert_int_equal(*at++, '\n');
  }
  assert_int_equal(*at, '\0');
  release(&rows);
  free(table);
  gpnn_synthetic_free(synthetic);
}

/* Several blocks of rows, on one thread or more, in one piece or two. */
static void tables_do_not_depend_on_threads_or_pieces(void **state)
{
  (void)state;
  enum { N = 30000, CUT = 12345 };
  char *whole = NULL;
  for (int threads = 1; threads <= 3; threads++) {
    struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
    struct gpnn_synthetic *synthetic = NULL;
    options.threads = threads;
    assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
    char *all = written(synthetic, 0, N), *begin = written(synthetic, 0, CUT);
    char *end = written(synthetic, CUT, N - CUT);
    assert_int_equal(strlen(all), strlen(begin) + strlen(end));
    assert_memory_equal(all, begin, strlen(begin));
    assert_string_equal(all + strlen(begin), end);
    if (whole != NULL) assert_string_equal(all, whole);
    free(whole);
    free(begin);
    free(end);
    whole = all;
    gpnn_synthetic_free(synthetic);
  }
  free(whole);
}

static void a_full_disk_is_told(void **state)
{
  (void)state;
  const struct gpnn_synthetic_format format = {'\t', false};
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
  struct gpnn_synthetic *synthetic = NULL;
  struct gpnn_output *output = NULL;
  assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
  assert_ok(gpnn_output_open(&output, "/dev/full", &err));
  assert_fails(gpnn_synthetic_write(synthetic, &format, 0, 50000, output, &err), GPNN_EIO,
               "/dev/full: cannot be written: No space");
  gpnn_output_abandon(output);
  gpnn_synthetic_free(synthetic);
}

static void what_cannot_be_made_is_refused(void **state)
{
  (void)state;
  struct gpnn_synthetic *synthetic = NULL;
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_EXACT);
  options.n = GPNN_PROCESS_MOST + 1;
  assert_fails(gpnn_synthetic_new(&synthetic, &options, &err), GPNN_EINVAL,
               "at most 32768 rows (which take 4 GiB), not 32769");
  options = options_of(GPNN_SYNTHETIC_LOCAL);
  options.m = 301;
  assert_fails(gpnn_synthetic_new(&synthetic, &options, &err), GPNN_EINVAL, "301");
  options = options_of(GPNN_SYNTHETIC_LOCAL);
  options.inputs.law = GPNN_INPUTS_CUBE;
  assert_fails(gpnn_synthetic_new(&synthetic, &options, &err), GPNN_EINVAL, "");
  options = options_of(GPNN_SYNTHETIC_FEATURES);
  options.inputs = (struct gpnn_inputs){GPNN_INPUTS_DISK, 3, 1};
  assert_fails(gpnn_synthetic_new(&synthetic, &options, &err), GPNN_EINVAL, "2 dimensions, not 3");
  assert_null(synthetic);
  gpnn_synthetic_free(NULL);
}

static void values_that_are_not_finite_are_told(void **state)
{
  (void)state;
  struct gpnn_synthetic_options options = options_of(GPNN_SYNTHETIC_FUNCTION);
  struct gpnn_synthetic *synthetic = NULL;
  double x[2], f[1], y[1], exposure[1];
  const struct gpnn_synthetic_rows rows = {x, f, y, exposure};
  options.inputs.scale = 1e200;
  options.warp = (struct gpnn_warp){GPNN_WARP_CUBIC, 1};
  assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
  assert_fails(gpnn_synthetic_make(synthetic, 0, 1, &rows, &err), GPNN_ENUMERIC, "not finite");
  gpnn_synthetic_free(synthetic);
  options = options_of(GPNN_SYNTHETIC_FUNCTION);
  options.observation =
      (struct gpnn_observation){.likelihood = GPNN_LIKELIHOOD_POISSON, .mean = 36};
  assert_ok(gpnn_synthetic_new(&synthetic, &options, &err));
  assert_fails(gpnn_synthetic_make(synthetic, 0, 1, &rows, &err), GPNN_ENUMERIC,
               "the expectation of a count is above 1e15");
  gpnn_synthetic_free(synthetic);
}

int main(void)
{
  gpnn_blas_single_thread();
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_row_depends_on_seed_and_number_alone),
      cmocka_unit_test(a_function_is_that_of_the_inputs),
      cmocka_unit_test(another_law_of_noise_leaves_the_rest),
      cmocka_unit_test(an_exact_process_is_drawn_with_its_covariance),
      cmocka_unit_test(local_draws_have_their_covariance),
      cmocka_unit_test(features_have_the_covariance_of_the_kernel),
      cmocka_unit_test(further_classes_leave_the_functions_of_the_first),
      cmocka_unit_test(functions_of_classes_are_independent_draws),
      cmocka_unit_test(classes_come_with_their_probabilities),
      cmocka_unit_test(counts_have_their_mean_and_variance),
      cmocka_unit_test(exposures_multiply_the_expectation),
      cmocka_unit_test(tables_of_classes_have_names_and_probabilities),
      cmocka_unit_test(warps_change_the_inputs_written_alone),
      cmocka_unit_test(tables_hold_the_rows_to_the_last_digit),
      cmocka_unit_test(tables_do_not_depend_on_threads_or_pieces),
      cmocka_unit_test(a_full_disk_is_told),
      cmocka_unit_test(what_cannot_be_made_is_refused),
      cmocka_unit_test(values_that_are_not_finite_are_told),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
