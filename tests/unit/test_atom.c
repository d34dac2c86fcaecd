/* Atoms: which number, its probability at a row, and where the others are. */
#include "likelihood/atom.h"

#include "random.h"
#include "unit.h"

enum { N = 1000 };

/* Targets of which 'share' are 'value' and the others are different from each other. */
static void fill(double *y, double value, double share)
{
  for (size_t i = 0; i < N; i++) y[i] = (double)(i * 7 % N) < share * N ? value : 1 + (double)i / N;
}

static struct gpnn_dataset of(const double *y, double mean, double sd)
{
  return (struct gpnn_dataset){
      .n = N, .d = 1, .y = y, .scaling = {.n_in = 1, .n_out = 1, .y_mean = mean, .y_sd = sd}};
}

static const struct gpnn_parameters local = {.likelihood = GPNN_LIKELIHOOD_LOCAL};

static struct gpnn_atom found(const struct gpnn_dataset *dataset,
                              const struct gpnn_parameters *parameters)
{
  struct gpnn_atom atom;
  assert_ok(gpnn_atom_find(dataset, parameters, &atom, &err));
  return atom;
}

static void the_most_frequent_target_is_found_in_its_units(void **state)
{
  (void)state;
  double y[N];
  fill(y, (0.3 - 2.0 / 3) / 0.7, 0.25);
  const struct gpnn_dataset dataset = of(y, 2.0 / 3, 0.7);
  const struct gpnn_atom atom = found(&dataset, &local);
  assert_true(atom.value == 0.3); /* in as few decimals as there are */
  assert_close(atom.share, 0.25, 1e-14);
  assert_true(atom.intercept == 0 && atom.slope == 1 && atom.power == 0);
  assert_true(gpnn_atom_is(gpnn_atom_standardised(&atom, &local, &dataset), y[0]));
  assert_false(gpnn_atom_is(y[0], y[0] + 3 * GPNN_ATOM_WITHIN));
  assert_false(gpnn_atom_is(y[0], NAN));
}

static void of_equally_frequent_targets_the_smallest_counts(void **state)
{
  (void)state;
  double y[N];
  for (size_t i = 0; i < N; i++) y[i] = i % 4 == 0 ? 2 : i % 4 == 1 ? -1 : 3 + (double)i / N;
  const struct gpnn_dataset dataset = of(y, 0, 1);
  assert_true(found(&dataset, &local).value == -1);
}

static void a_transformed_target_has_its_atom_in_the_units_of_the_table(void **state)
{
  (void)state;
  double y[N];
  struct gpnn_parameters params = local;
  params.transform = (struct gpnn_transform){.kind = GPNN_TRANSFORM_ASINH,
                                             .mean = 0.4,
                                             .sd = 1.3,
                                             .low = -5,
                                             .high = 90,
                                             .centre = 2,
                                             .scale = 3,
                                             .power = 1};
  fill(y, gpnn_transform_apply(&params.transform, 7.25), 0.5);
  const struct gpnn_dataset dataset = of(y, 0, 1);
  const struct gpnn_atom atom = found(&dataset, &params);
  assert_true(atom.value == 7.25);
  assert_near(gpnn_atom_standardised(&atom, &params, &dataset), y[0], 1e-12);
}

static void there_is_none_of_too_few_rows_or_where_none_can_be_predicted(void **state)
{
  (void)state;
  double y[N], offset[N] = {0};
  fill(y, 0, 0.19);
  struct gpnn_dataset dataset = of(y, 0, 1);
  assert_true(found(&dataset, &local).share == 0);
  fill(y, 0, 0.6);
  assert_true(found(&dataset, &local).share > 0);
  const struct gpnn_parameters gaussian = {.likelihood = GPNN_LIKELIHOOD_GAUSSIAN},
                               poisson = {.likelihood = GPNN_LIKELIHOOD_POISSON};
  assert_true(found(&dataset, &gaussian).share == 0);
  assert_true(found(&dataset, &poisson).share == 0);
  dataset.offset = offset;
  assert_true(found(&dataset, &local).share == 0);
  dataset.n = 0;
  dataset.offset = NULL;
  assert_true(found(&dataset, &local).share == 0);
  const struct gpnn_atom none = {0};
  assert_true(isnan(gpnn_atom_standardised(&none, &local, &dataset)));
}

static double logit(double p)
{
  return log(p / (1 - p));
}

static void probabilities_are_the_formula(void **state)
{
  (void)state;
  assert_close(gpnn_atom_share(9, 3), 0.35, 1e-15);
  assert_true(isnan(gpnn_atom_share(0, 0)));
  const struct gpnn_atom plain = {.share = 0.3, .slope = 1},
                         other = {.share = 0.3, .intercept = -0.7, .slope = 1.6};
  for (double s = 0.05; s < 1; s += 0.1) {
    assert_close(gpnn_atom_probability(&plain, s), s, 1e-14);
    assert_close(logit(gpnn_atom_probability(&other, s)), -0.7 + 1.6 * logit(s), 1e-12);
  }
  assert_true(gpnn_atom_probability(&other, NAN) == 0.3);
}

static void the_location_keeps_the_mean_or_stays_where_it_is(void **state)
{
  (void)state;
  struct gpnn_atom atom = {.share = 0.3, .power = 1};
  for (double p = 0; p < 0.95; p += 0.1)
    assert_close(p * 2 + (1 - p) * gpnn_atom_location(&atom, 2, 5, p), 5, 1e-14);
  assert_close(gpnn_atom_location(&atom, 2, 5, 0.999), 2 + 3 / 0.05, 1e-14);
  atom.power = 0.5;
  assert_close(gpnn_atom_location(&atom, 2, 5, 0.75), 2 + 3 / 0.5, 1e-14);
  atom.power = 0;
  assert_true(gpnn_atom_location(&atom, 2, 5, 0.75) == 5);
}

/* The derivatives of the log likelihood with its prior. */
static void slopes_at(size_t n, const double *share, const bool *is_at, const struct gpnn_atom *a,
                      double slope[2])
{
  slope[0] = -a->intercept;
  slope[1] = 1 - a->slope;
  for (size_t i = 0; i < n; i++) {
    double x = logit(share[i]), p = 1 / (1 + exp(-a->intercept - a->slope * x));
    slope[0] += is_at[i] - p;
    slope[1] += x * (is_at[i] - p);
  }
}

static void the_fit_is_where_the_likelihood_is_level(void **state)
{
  (void)state;
  enum { MANY = 40000, FEW = 50 };
  static double share[MANY];
  static bool is_at[MANY], skip[MANY];
  struct gpnn_rng rng = seeded(2);
  const struct gpnn_atom truth = {.share = 0.4, .intercept = 0.4, .slope = 1.5};
  for (size_t i = 0; i < MANY; i++) {
    share[i] = gpnn_atom_share(32, gpnn_rng_below(&rng, 33));
    is_at[i] = gpnn_rng_uniform(&rng) < gpnn_atom_probability(&truth, share[i]);
    skip[i] = i >= FEW;
  }
  double slope[2];
  struct gpnn_atom atom = {.share = 0.4};
  gpnn_atom_fit(MANY, share, is_at, NULL, &atom);
  assert_near(atom.intercept, 0.4, 0.06);
  assert_near(atom.slope, 1.5, 0.06);
  slopes_at(MANY, share, is_at, &atom, slope);
  assert_near(slope[0], 0, 1e-2);
  assert_near(slope[1], 0, 1e-2);
  struct gpnn_atom few = {.share = 0.4}, kept = {.share = 0.4};
  gpnn_atom_fit(FEW, share, is_at, NULL, &few);
  gpnn_atom_fit(MANY, share, is_at, skip, &kept);
  assert_true(few.intercept == kept.intercept && few.slope == kept.slope);
  slopes_at(FEW, share, is_at, &few, slope);
  assert_near(slope[0], 0, 1e-4);
  assert_near(slope[1], 0, 1e-4);
}

/* However few rows there are, and whatever they are. */
static void the_fit_of_few_rows_is_there_too(void **state)
{
  (void)state;
  struct gpnn_rng rng = seeded(3);
  for (int trial = 0; trial < 2000; trial++) {
    double share[8], slope[2];
    bool is_at[8];
    size_t n = 1 + gpnn_rng_below(&rng, 8);
    for (size_t i = 0; i < n; i++) {
      share[i] = gpnn_atom_share(32, gpnn_rng_below(&rng, 33));
      is_at[i] = gpnn_rng_uniform(&rng) < 0.5;
    }
    struct gpnn_atom atom = {.share = 0.4};
    gpnn_atom_fit(n, share, is_at, NULL, &atom);
    slopes_at(n, share, is_at, &atom, slope);
    assert_near(slope[0], 0, 1e-4);
    assert_near(slope[1], 0, 1e-4);
  }
}

static void rows_without_a_share_count_as_even(void **state)
{
  (void)state;
  double share[30], even[30];
  bool is_at[30];
  struct gpnn_atom atom = {.share = 0.4}, as_even = atom;
  for (size_t i = 0; i < 30; i++) {
    share[i] = even[i] = gpnn_atom_share(32, (i * 11) % 33);
    is_at[i] = i % 3 == 0;
    if (i % 2 == 0) continue;
    share[i] = NAN;
    even[i] = 0.5;
  }
  gpnn_atom_fit(30, share, is_at, NULL, &atom);
  gpnn_atom_fit(30, even, is_at, NULL, &as_even);
  assert_true(atom.intercept == as_even.intercept && atom.slope == as_even.slope);
}

/* Rows whose share says nothing leave the slope to the prior, and those all at the atom do not take
 * the numbers beyond it. */
static void a_weak_prior_makes_any_rows_enough(void **state)
{
  (void)state;
  double share[40];
  bool is_at[40];
  struct gpnn_atom atom = {.share = 0.4};
  for (size_t i = 0; i < 40; i++) {
    share[i] = 0.5;
    is_at[i] = i % 4 == 0;
  }
  gpnn_atom_fit(40, share, is_at, NULL, &atom);
  assert_close(atom.slope, 1, 1e-9);
  assert_near(10 - 40 / (1 + exp(-atom.intercept)) - atom.intercept, 0, 1e-4);
  for (size_t i = 0; i < 40; i++) is_at[i] = true;
  gpnn_atom_fit(40, share, is_at, NULL, &atom);
  assert_true(atom.intercept > 1 && atom.intercept < 4);
  gpnn_atom_fit(0, share, is_at, NULL, &atom);
  assert_true(atom.intercept == 0 && atom.slope == 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_most_frequent_target_is_found_in_its_units),
      cmocka_unit_test(of_equally_frequent_targets_the_smallest_counts),
      cmocka_unit_test(a_transformed_target_has_its_atom_in_the_units_of_the_table),
      cmocka_unit_test(there_is_none_of_too_few_rows_or_where_none_can_be_predicted),
      cmocka_unit_test(probabilities_are_the_formula),
      cmocka_unit_test(the_location_keeps_the_mean_or_stays_where_it_is),
      cmocka_unit_test(the_fit_is_where_the_likelihood_is_level),
      cmocka_unit_test(the_fit_of_few_rows_is_there_too),
      cmocka_unit_test(rows_without_a_share_count_as_even),
      cmocka_unit_test(a_weak_prior_makes_any_rows_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
