/* Targets of simulated rows given the latent functions there, at the edges: that their distribution
 * is right, test_synthetic.c shows on whole tables. */
#include "random.h"
#include "simulate/observation.h"
#include "unit.h"

static const struct gpnn_observation classes = {.likelihood = GPNN_LIKELIHOOD_CATEGORICAL,
                                                .n_classes = 3};

/* Counts 1000 draws of classes. */
static void count_classes(const double *truth, struct gpnn_rng *rng, size_t *seen)
{
  for (int i = 0; i < 1000; i++) {
    double drawn = gpnn_observation_draw(&classes, truth, rng);
    seen[(size_t)drawn]++;
  }
}

static void classes_have_the_softmax_of_their_functions(void **state)
{
  (void)state;
  double f[] = {1, 0, -2}, sum = exp(1) + 1 + exp(-2);
  assert_int_equal(gpnn_observation_functions(&classes), 3);
  gpnn_observation_truth(&classes, 1, f);
  assert_close(f[0], exp(1) / sum, 1e-15);
  assert_close(f[1], 1 / sum, 1e-15);
  assert_close(f[2], exp(-2) / sum, 1e-15);
}

static void functions_of_any_size_have_probabilities(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(1);
  double huge[] = {1e308, -1e308, 1e308}, equal[] = {-700, -700, -700};
  gpnn_observation_truth(&classes, 1, huge);
  assert_true(huge[0] == 0.5 && huge[1] == 0 && huge[2] == 0.5);
  gpnn_observation_truth(&classes, 1, equal);
  for (int c = 0; c < 3; c++) assert_close(equal[c], 1.0 / 3, 1e-15);
  size_t seen[3] = {0};
  count_classes(huge, &rng, seen);
  assert_true(seen[1] == 0 && seen[0] > 400 && seen[2] > 400);
}

/* Rounding may leave their sum below 1: what is left is the last class that can be, so never one
 * without probability. */
static void a_class_is_drawn_where_probabilities_do_not_add_up(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(2);
  const double few[] = {0.25, 0.25, 0};
  size_t seen[3] = {0};
  count_classes(few, &rng, seen);
  assert_true(seen[0] > 150 && seen[1] > 600 && seen[2] == 0);
  const struct gpnn_observation one = {.likelihood = GPNN_LIKELIHOOD_CATEGORICAL, .n_classes = 1};
  double f[] = {-3};
  gpnn_observation_truth(&one, 1, f);
  assert_true(f[0] == 1 && gpnn_observation_draw(&one, f, &rng) == 0);
}

static void counts_have_the_exponential_times_the_exposure(void **state)
{
  (void)state;
  struct gpnn_observation counts = {.likelihood = GPNN_LIKELIHOOD_POISSON, .mean = 1};
  double f[] = {-0.5}, gaussian[] = {-0.5};
  assert_true(gpnn_observation_counts(&counts) && !gpnn_observation_counts(&classes));
  assert_int_equal(gpnn_observation_functions(&counts), 1);
  gpnn_observation_truth(&counts, 3, f);
  assert_close(f[0], 3 * exp(0.5), 1e-15);
  counts.likelihood = GPNN_LIKELIHOOD_GAUSSIAN;
  gpnn_observation_truth(&counts, 3, gaussian);
  assert_true(gaussian[0] == 0.5 && !gpnn_observation_counts(&counts));
}

static void what_cannot_be_drawn_is_not_a_number(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(3);
  struct gpnn_observation counts = {.likelihood = GPNN_LIKELIHOOD_POISSON, .dispersion = 1e12};
  const double most = GPNN_RNG_MOST_MEAN, more = 1.01e15, never = 0, none = NAN;
  const double nothing[] = {NAN, NAN, NAN};
  for (int i = 0; i < 2; i++) {
    assert_true(isnan(gpnn_observation_draw(&counts, &more, &rng)));
    assert_true(isnan(gpnn_observation_draw(&counts, &none, &rng)));
    assert_true(gpnn_observation_draw(&counts, &never, &rng) == 0);
    if (i == 0) assert_close(gpnn_observation_draw(&counts, &most, &rng), most, 1e-6);
    counts.likelihood = GPNN_LIKELIHOOD_NEGBIN;
  }
  assert_true(isnan(gpnn_observation_draw(&classes, nothing, &rng)));
}

/* So small that the gamma variable is hardly ever more than 0. */
static void tiny_dispersions_give_zeros(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(4);
  const struct gpnn_observation counts = {.likelihood = GPNN_LIKELIHOOD_NEGBIN, .dispersion = 1e-6};
  const double mean = 1;
  for (int i = 0; i < 1000; i++) assert_true(gpnn_observation_draw(&counts, &mean, &rng) == 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_have_the_softmax_of_their_functions),
      cmocka_unit_test(functions_of_any_size_have_probabilities),
      cmocka_unit_test(a_class_is_drawn_where_probabilities_do_not_add_up),
      cmocka_unit_test(counts_have_the_exponential_times_the_exposure),
      cmocka_unit_test(what_cannot_be_drawn_is_not_a_number),
      cmocka_unit_test(tiny_dispersions_give_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
