/* Heads: from a latent function to the distribution of an observation. */
#include "likelihood/conformal.h"
#include "likelihood/head.h"
#include "stats/distributions/normal.h"
#include "stats/distributions/student.h"
#include "unit.h"

static void an_observation_has_the_noise_of_the_parameters_and_its_own(void **state)
{
  (void)state;
  for (int degrees = 0; degrees <= 5; degrees += 5) {
    struct gpnn_parameters params = {.covariance.noise = 0.25, .degrees = degrees};
    const struct gpnn_head head = gpnn_head_of(&params);
    struct gpnn_predictive value =
        gpnn_head_observe(&head, &(struct gpnn_latent_row){.mean = -3, .variance = 0.5}, 0.125);
    assert_true(value.mean == -3 && value.variance == 0.875);
    assert_true(gpnn_head_degrees(&head) == degrees);
  }
}

static double density(const struct gpnn_head *head, double y, double variance)
{
  return exp(-gpnn_head_nll(head, y, variance));
}

/* By Simpson's rule: the density integrates to one and has the variance it is given, and the
 * interval of a level holds that share of it. */
static void densities_agree_with_their_variance_and_intervals(void **state)
{
  (void)state;
  enum { STEPS = 200000 };
  const double variance = 2.25, level = 0.8, far = 3000;
  for (int degrees = 0; degrees <= 7; degrees += 7) {
    struct gpnn_parameters params = {.degrees = degrees};
    const struct gpnn_head head = gpnn_head_of(&params);
    const char *source;
    double width = sqrt(variance) * gpnn_head_half_width(&head, level, false, &source);
    double all = 0, squares = 0, inside = 0;
    for (int i = 0; i <= STEPS; i++) {
      double weight = (i == 0 || i == STEPS ? 1 : i % 2 == 1 ? 4 : 2) / (3.0 * STEPS);
      double y = far * pow((double)i / STEPS, 3), dy = 3 * far * pow((double)i / STEPS, 2);
      all += 2 * weight * dy * density(&head, y, variance);
      squares += 2 * weight * dy * y * y * density(&head, y, variance);
      inside += 2 * weight * width * density(&head, width * (double)i / STEPS, variance);
    }
    assert_close(all, 1, 1e-9);
    assert_close(squares, variance, 1e-7);
    assert_close(inside, level, 1e-9);
    assert_string_equal(source, degrees == 0 ? "Gaussian" : "Student's t");
  }
}

static void log_densities_agree_with_those_of_stats(void **state)
{
  (void)state;
  struct gpnn_parameters gaussian = {.degrees = 0}, student = {.degrees = 4};
  const struct gpnn_head a = gpnn_head_of(&gaussian), b = gpnn_head_of(&student);
  for (double error = -4; error <= 4; error += 0.5) {
    assert_close(gpnn_head_nll(&a, error, 0.49), gpnn_normal_nll(error, 0.7), 1e-14);
    assert_close(gpnn_head_nll(&b, error, 0.98), gpnn_student_nll(error, 0.7, 4), 1e-14);
  }
}

static void half_widths_are_conformal_then_those_of_the_distribution(void **state)
{
  (void)state;
  struct gpnn_parameters params = {0};
  const char *source;
  double z[9] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, level = 0.9;
  struct gpnn_head head = gpnn_head_of(&params);
  assert_close(gpnn_head_half_width(&head, 0.95, false, &source), 1.9599639845400545, 1e-12);
  assert_string_equal(source, "Gaussian");
  params.degrees = 4; /* the 97.5 % quantile is 2.7764 (tables), its variance 4 / 2 */
  head = gpnn_head_of(&params);
  assert_close(gpnn_head_half_width(&head, 0.95, false, &source), 2.776445105 / sqrt(2), 1e-9);
  assert_string_equal(source, "Student's t");
  assert_ok(gpnn_conformal_record(&params, 9, z, 1, &level, &err));
  assert_true(gpnn_head_half_width(&head, 0.9, false, &source) == 9);
  assert_string_equal(source, "conformal");
  gpnn_head_half_width(&head, 0.95, false, &source);
  assert_string_equal(source, "Student's t");
  gpnn_head_half_width(&head, 0.9, true, &source);
  assert_string_equal(source, "Student's t");
  gpnn_parameters_release(&params);
}

/* Under every head, of observations and of the function, near training rows and far away. */
static void parts_of_an_error_add_up_to_its_variance(void **state)
{
  (void)state;
  const struct gpnn_latent_row row = {
      .mean = -3, .variance = 0.5, .mean_variance = 0.125, .misfit = 3, .nearest = 0.4};
  struct gpnn_parameters params[5] = {
      {.degrees = 0}, {.degrees = 5}, {.degrees = 0}, {.degrees = 4}, {.degrees = 4}};
  for (size_t p = 0; p < 5; p++) {
    params[p].covariance.noise = 0.25;
    params[p].likelihood = p < 2 ? GPNN_LIKELIHOOD_GAUSSIAN : GPNN_LIKELIHOOD_LOCAL;
    params[p].scale.factor = p < 4 ? 0.7 : 0.1;
    params[p].calibration.has_distance = p == 4; /* and the row is farther than any of it */
    params[p].calibration.distance[GPNN_N_DISTANCES - 1] = 0.2;
    params[p].scale.term[GPNN_SCALE_MISFIT] = (struct gpnn_scale_term){1.1, -4, 4};
    const struct gpnn_head head = gpnn_head_of(&params[p]);
    for (int of_function = 0; of_function < 2; of_function++) {
      const struct gpnn_head_parts parts = gpnn_head_parts(&head, &row, 0.2, of_function);
      struct gpnn_predictive whole =
          of_function ? gpnn_head_latent(&head, &row) : gpnn_head_observe(&head, &row, 0.2);
      double sum = parts.process * parts.process * 0.375 + parts.mean * parts.mean * 0.125;
      assert_close(sum + parts.own, whole.variance, 1e-14);
      assert_true(of_function ? parts.own == 0 : parts.own > 0.2);
    }
  }
}

/* A factor of 1/4, twice as far from training rows as any row that calibration saw, counts as its
 * square root; one above 1 counts in full. */
static void a_narrow_scale_is_trusted_less_far_away(void **state)
{
  (void)state;
  struct gpnn_parameters params = {.likelihood = GPNN_LIKELIHOOD_LOCAL, .covariance.noise = 0.25};
  struct gpnn_latent_row row = {.variance = 0.5, .nearest = 0.1};
  params.scale.factor = 0.25;
  params.calibration.has_distance = true;
  params.calibration.distance[GPNN_N_DISTANCES - 1] = 0.2;
  const struct gpnn_head head = gpnn_head_of(&params);
  assert_close(gpnn_head_observe(&head, &row, 0.125).variance, 0.25 * 0.75 + 0.125, 1e-15);
  row.nearest = 0.4;
  assert_close(gpnn_head_observe(&head, &row, 0.125).variance, 0.5 * 0.75 + 0.125, 1e-15);
  params.scale.factor = 4;
  assert_close(gpnn_head_observe(&head, &row, 0.125).variance, 4 * 0.75 + 0.125, 1e-15);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_observation_has_the_noise_of_the_parameters_and_its_own),
      cmocka_unit_test(densities_agree_with_their_variance_and_intervals),
      cmocka_unit_test(log_densities_agree_with_those_of_stats),
      cmocka_unit_test(half_widths_are_conformal_then_those_of_the_distribution),
      cmocka_unit_test(parts_of_an_error_add_up_to_its_variance),
      cmocka_unit_test(a_narrow_scale_is_trusted_less_far_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
