/* Random numbers: fixed sequences, no bias, distinct samples. */
#include "base/compare.h"
#include "base/rng.h"
#include "random.h"
#include "unit.h"

static void the_sequence_is_splitmix64(void **state)
{
  (void)state;
  /* The reference implementation's first outputs from state 1234567. */
  static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                      9817491932198370423u, 4593380528125082431u,
                                      16408922859458223821u};
  struct gpnn_rng rng = {1234567};
  for (size_t i = 0; i < 5; i++) assert_true(gpnn_rng_next(&rng) == expected[i]);
}

static void seeds_and_purposes_give_sequences_of_their_own(void **state)
{
  (void)state;
  struct gpnn_rng rngs[4];
  gpnn_rng_init(&rngs[0], 1, GPNN_RNG_SPLIT);
  gpnn_rng_init(&rngs[1], 1, GPNN_RNG_HOLD_OUT);
  gpnn_rng_init(&rngs[2], 2, GPNN_RNG_SPLIT);
  gpnn_rng_init(&rngs[3], 1, GPNN_RNG_SPLIT);
  uint64_t words[4];
  for (size_t i = 0; i < 4; i++) words[i] = gpnn_rng_next(&rngs[i]);
  assert_true(words[0] == words[3]);
  assert_true(words[0] != words[1] && words[0] != words[2] && words[1] != words[2]);
}

/* Pearson's statistic of 'n' draws over 'k' classes of equal probability. */
static double chi_square(const size_t *counts, size_t k, size_t n)
{
  double expected = (double)n / (double)k, sum = 0;
  for (size_t i = 0; i < k; i++)
    sum += ((double)counts[i] - expected) * ((double)counts[i] - expected) / expected;
  return sum;
}

static void bounded_integers_are_uniform(void **state)
{
  (void)state;
  enum { K = 7, N = 70000 };
  struct gpnn_rng rng = seeded(1);
  size_t counts[K] = {0};
  for (int i = 0; i < N; i++) {
    uint64_t value = gpnn_rng_below(&rng, K);
    assert_true(value < K);
    counts[value]++;
  }
  assert_true(chi_square(counts, K, N) < 27.9); /* 6 degrees of freedom, 1 in 10,000 */
  assert_true(gpnn_rng_below(&rng, 1) == 0);
}

/* With a bound of 3/4 of 2^64, a plain remainder would be in the first third of the range half of
 * the time. */
static void huge_bounds_have_no_bias(void **state)
{
  (void)state;
  enum { N = 30000 };
  struct gpnn_rng rng = seeded(2);
  uint64_t third = (uint64_t)1 << 62;
  size_t counts[3] = {0};
  for (int i = 0; i < N; i++) counts[gpnn_rng_below(&rng, 3 * third) / third]++;
  assert_true(chi_square(counts, 3, N) < 18.4); /* 2 degrees of freedom, 1 in 10,000 */
}

static void uniform_reals_are_in_range_with_the_right_moments(void **state)
{
  (void)state;
  enum { N = 100000 };
  struct gpnn_rng rng = seeded(3);
  double sum = 0, squares = 0;
  for (int i = 0; i < N; i++) {
    double u = gpnn_rng_uniform(&rng);
    assert_true(u >= 0 && u < 1);
    sum += u;
    squares += u * u;
  }
  assert_near(sum / N, 0.5, 4 * sqrt(1.0 / 12 / N));
  assert_near(squares / N, 1.0 / 3, 4 * sqrt(4.0 / 45 / N));
}

static void normal_deviates_have_the_right_moments(void **state)
{
  (void)state;
  enum { N = 100000 };
  struct gpnn_rng rng = seeded(4);
  double sums[4] = {0};
  size_t within = 0;
  for (int i = 0; i < N; i++) {
    double z = gpnn_rng_normal(&rng), power = 1;
    assert_true(isfinite(z));
    for (int k = 0; k < 4; k++) sums[k] += power *= z;
    within += fabs(z) < 1;
  }
  assert_near(sums[0] / N, 0, 4 * sqrt(1.0 / N));
  assert_near(sums[1] / N, 1, 4 * sqrt(2.0 / N));
  assert_near(sums[2] / N, 0, 4 * sqrt(15.0 / N));
  assert_near(sums[3] / N, 3, 4 * sqrt(96.0 / N));
  assert_near((double)within / N, 0.682689492137086, 4 * sqrt(0.2166 / N));
}

static void assert_distinct_below(uint64_t *sample, size_t k, uint64_t n)
{
  qsort(sample, k, sizeof *sample, gpnn_compare_uint64s);
  for (size_t i = 0; i < k; i++) {
    assert_true(sample[i] < n);
    assert_true(i == 0 || sample[i] != sample[i - 1]);
  }
}

static void samples_are_distinct(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(5);
  uint64_t sample[1000];
  for (uint64_t n = 0; n < 200; n++) {
    for (size_t k = 0; k <= n; k += 1 + k / 3) {
      assert_ok(gpnn_rng_sample(&rng, n, k, sample, &err));
      assert_distinct_below(sample, k, n);
    }
    assert_ok(gpnn_rng_sample(&rng, n, (size_t)n, sample, &err)); /* a permutation */
    assert_distinct_below(sample, (size_t)n, n);
  }
}

/* If the cost depended on n, there would be neither the time nor the memory. */
static void a_sample_costs_the_same_however_many_it_is_drawn_from(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(6);
  uint64_t sample[1000];
  assert_ok(gpnn_rng_sample(&rng, (uint64_t)1 << 62, 1000, sample, &err));
  assert_distinct_below(sample, 1000, (uint64_t)1 << 62);
}

static void every_ordered_sample_is_equally_likely(void **state)
{
  (void)state;
  enum { N = 60000, CELLS = 20 }; /* ordered pairs of 5 */
  struct gpnn_rng rng = seeded(7);
  size_t counts[25] = {0}, used[CELLS], n_used = 0;
  for (int i = 0; i < N; i++) {
    uint64_t pair[2];
    assert_ok(gpnn_rng_sample(&rng, 5, 2, pair, &err));
    counts[pair[0] * 5 + pair[1]]++;
  }
  for (size_t c = 0; c < 25; c++) {
    if (c % 6 == 0)
      assert_int_equal(counts[c], 0);
    else
      used[n_used++] = counts[c];
  }
  assert_true(chi_square(used, CELLS, N) < 50.8); /* 19 degrees of freedom, 1 in 10,000 */
}

static void hashes_depend_on_every_byte_length_and_seed(void **state)
{
  (void)state;
  char text[] = "a group's name";
  uint64_t hash = gpnn_rng_hash(1, text, sizeof text);
  assert_true(hash == gpnn_rng_hash(1, text, sizeof text));
  assert_true(hash != gpnn_rng_hash(2, text, sizeof text));
  assert_true(hash != gpnn_rng_hash(1, text, sizeof text - 1));
  for (size_t i = 0; i < sizeof text; i++) {
    text[i] ^= 1;
    assert_true(hash != gpnn_rng_hash(1, text, sizeof text));
    text[i] ^= 1;
  }
  assert_true(gpnn_rng_hash(1, "", 0) != gpnn_rng_hash(1, "\0", 1));
}

static void exponential_deviates_have_the_right_moments_and_are_positive(void **state)
{
  (void)state;
  enum { N = 200000 };
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  double sum = 0, squares = 0, beyond = 0;
  for (int i = 0; i < N; i++) {
    double e = gpnn_rng_exponential(&rng);
    assert_true(e > 0 && isfinite(e));
    sum += e;
    squares += e * e;
    beyond += e > 3;
  }
  assert_true(fabs(sum / N - 1) < 5 / sqrt(N));
  assert_true(fabs(squares / N - 2) < 5 * sqrt(20.0 / N));
  assert_true(fabs(beyond / N - exp(-3)) < 5 * sqrt(exp(-3) / N));
}

/* Mean, variance and share below the shape itself are those of gamma distributions; the last, for
 * whole shapes, is 1 - sum of k^j e^-k / j! over j < k. */
static void gamma_deviates_have_the_right_moments(void **state)
{
  (void)state;
  enum { N = 200000 };
  static const double shapes[] = {0.3, 1, 2.5, 40}, below[] = {0, 1 - 0.36787944117144233, 0, 0};
  for (size_t s = 0; s < 4; s++) {
    struct gpnn_rng rng;
    gpnn_rng_init(&rng, 3 + s, GPNN_RNG_TEST);
    double shape = shapes[s], sum = 0, squares = 0, cubes = 0, low = 0;
    for (int i = 0; i < N; i++) {
      double g = gpnn_rng_gamma(&rng, shape);
      assert_true(g > 0 && isfinite(g));
      sum += g;
      squares += (g - shape) * (g - shape);
      cubes += pow(g - shape, 3);
      low += g < shape;
    }
    double fourth = 3 * shape * shape + 6 * shape, sixth = 15 * pow(shape, 3) * (1 + 20 / shape);
    assert_near(sum / N, shape, 5 * sqrt(shape / N));
    assert_near(squares / N, shape, 5 * sqrt(fourth / N));
    assert_near(cubes / N, 2 * shape, 5 * sqrt((sixth + 120 * shape) / N));
    if (below[s] > 0) assert_near(low / N, below[s], 5 * sqrt(0.25 / N));
  }
}

/* Pearson's statistic of Poisson deviates over single counts around the mean and both tails, the
 * probabilities being products; beyond where that is practical, moments alone. */
static void poisson_deviates_have_their_distribution(void **state)
{
  (void)state;
  enum { N = 100000, MOST = 80 };
  static const double means[] = {0.05, 1, 7, 10, 13.5, 40};
  for (size_t m = 0; m < 6; m++) {
    struct gpnn_rng rng = seeded(20 + m);
    size_t counts[MOST + 1] = {0};
    for (int i = 0; i < N; i++) {
      uint64_t k = gpnn_rng_poisson(&rng, means[m]);
      counts[k < MOST ? k : MOST]++;
    }
    double statistic = 0, classes = 0, expected = 0, p = exp(-means[m]), left = 1;
    size_t seen = 0;
    for (size_t k = 0; k < MOST; left -= p, k++, p *= means[m] / (double)k) {
      expected += N * p;
      seen += counts[k];
      if (expected < 20 || N * (left - p) < 20) continue; /* into the next */
      statistic += pow((double)seen - expected, 2) / expected;
      classes++;
      expected = 0;
      seen = 0;
    }
    assert_true(statistic < classes + 4 * sqrt(2 * classes) + 8);
  }
}

static void poisson_deviates_have_the_right_moments(void **state)
{
  (void)state;
  enum { N = 100000 };
  static const double means[] = {3, 10, 1234.5, 1e6, 1e15};
  for (size_t m = 0; m < 5; m++) {
    struct gpnn_rng rng = seeded(30 + m);
    double sum = 0, squares = 0, cubes = 0, mean = means[m];
    for (int i = 0; i < N; i++) {
      uint64_t k = gpnn_rng_poisson(&rng, mean);
      double z = ((double)k - mean) / sqrt(mean);
      sum += z;
      squares += z * z;
      cubes += z * z * z;
    }
    assert_near(sum / N, 0, 4 / sqrt(N));
    assert_near(squares / N, 1, 4 * sqrt((2 + 1 / mean) / N));
    assert_near(cubes / N, 1 / sqrt(mean), 4 * sqrt((15 + 130 / mean) / N));
  }
  struct gpnn_rng rng = seeded(40);
  assert_true(gpnn_rng_poisson(&rng, 0) == 0);
}

static void items_of_a_purpose_have_generators_of_their_own(void **state)
{
  (void)state;
  struct gpnn_rng a, b;
  double correlation = 0;
  for (uint64_t i = 0; i < 20000; i++) {
    gpnn_rng_init_at(&a, 1, GPNN_RNG_TEST, i);
    gpnn_rng_init_at(&b, 1, GPNN_RNG_TEST, i + 1);
    gpnn_rng_next(&a); /* so that counters that merely follow one another would now agree */
    uint64_t word = gpnn_rng_next(&a);
    assert_true(word != gpnn_rng_next(&b));
    correlation += gpnn_rng_normal(&a) * gpnn_rng_normal(&b);
  }
  assert_true(fabs(correlation / 20000) < 5 / sqrt(20000));
  gpnn_rng_init_at(&b, 1, GPNN_RNG_TEST, 20000 - 1);
  gpnn_rng_init_at(&a, 2, GPNN_RNG_TEST, 20000 - 1);
  assert_true(gpnn_rng_next(&a) != gpnn_rng_next(&b));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_sequence_is_splitmix64),
      cmocka_unit_test(seeds_and_purposes_give_sequences_of_their_own),
      cmocka_unit_test(bounded_integers_are_uniform),
      cmocka_unit_test(huge_bounds_have_no_bias),
      cmocka_unit_test(uniform_reals_are_in_range_with_the_right_moments),
      cmocka_unit_test(normal_deviates_have_the_right_moments),
      cmocka_unit_test(exponential_deviates_have_the_right_moments_and_are_positive),
      cmocka_unit_test(gamma_deviates_have_the_right_moments),
      cmocka_unit_test(poisson_deviates_have_their_distribution),
      cmocka_unit_test(poisson_deviates_have_the_right_moments),
      cmocka_unit_test(items_of_a_purpose_have_generators_of_their_own),
      cmocka_unit_test(samples_are_distinct),
      cmocka_unit_test(a_sample_costs_the_same_however_many_it_is_drawn_from),
      cmocka_unit_test(every_ordered_sample_is_equally_likely),
      cmocka_unit_test(hashes_depend_on_every_byte_length_and_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
