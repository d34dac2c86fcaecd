/* Distributions of counts against closed forms, sums of many terms, and finite differences. */
#include "likelihood/count.h"
#include "stats/distributions/normal.h"
#include "unit.h"

static const struct gpnn_count_law laws[] = {{INFINITY}, {0.7}, {3}, {40}, {1e6}};
static const struct gpnn_count_latent latents[] = {{-2, 0.5},  {0, 1.5},    {1.5, 0.02}, {3, 0.4},
                                                   {5.3, 0.3}, {6.5, 0.05}, {1, 3}};
enum { N_LAWS = sizeof laws / sizeof *laws, N_LATENTS = sizeof latents / sizeof *latents };

/* An average over f by very many points. */
static double average(const struct gpnn_count_latent *l, double (*of)(double f, const void *c),
                      const void *context)
{
  enum { N = 20001 };
  double sum = 0, weights = 0;
  for (int i = 0; i < N; i++) {
    double z = 20.0 * i / (N - 1) - 10, w = exp(-0.5 * z * z);
    sum += w * of(l->mean + l->sd * z, context);
    weights += w;
  }
  return sum / weights;
}

struct of_count {
  const struct gpnn_count_law *law;
  double y;
};

static double probability(double f, const void *context)
{
  const struct of_count *c = context;
  return exp(gpnn_count_log_probability(c->law, c->y, f));
}

static void probabilities_are_those_of_the_closed_forms(void **state)
{
  (void)state;
  /* Poisson, mean 2: e^-2 2^3 / 6; negative binomial with r = 2, mean 2: (y + 1) / 2^(y + 2). */
  assert_close(gpnn_count_log_probability(&laws[0], 3, log(2)), log(exp(-2) * 8 / 6), 1e-14);
  const struct gpnn_count_law two = {2};
  for (double y = 0; y < 30; y++)
    assert_close(gpnn_count_log_probability(&two, y, log(2)), log((y + 1) / pow(2, y + 2)), 1e-13);
  for (size_t l = 0; l < N_LAWS; l++) {
    assert_true(gpnn_count_log_probability(&laws[l], -1, 0) == -INFINITY);
    assert_true(gpnn_count_log_probability(&laws[l], 1.5, 0) == -INFINITY);
    assert_true(isnan(gpnn_count_log_probability(&laws[l], NAN, 0)));
  }
}

static void probabilities_sum_to_one_with_the_right_moments(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (double f = -3; f < 5; f += 1.3) {
      double sum = 0, mean = 0, square = 0, rate = exp(f);
      for (double y = 0; y < 6000; y++) {
        double p = exp(gpnn_count_log_probability(&laws[l], y, f));
        sum += p;
        mean += y * p;
        square += y * y * p;
      }
      assert_close(sum, 1, 1e-8);
      assert_close(mean, rate, 1e-8);
      assert_close(square - mean * mean, rate + rate * rate / laws[l].dispersion, 1e-7);
    }
}

static void much_dispersion_is_poisson(void **state)
{
  (void)state;
  const struct gpnn_count_law nearly = {1e8};
  for (double y = 0; y < 60; y += 3)
    assert_close(gpnn_count_log_probability(&nearly, y, 2.5),
                 gpnn_count_log_probability(&laws[0], y, 2.5), 1e-5);
}

static void slopes_are_those_of_finite_differences(void **state)
{
  (void)state;
  const double h = 1e-4;
  for (size_t l = 0; l < N_LAWS; l++)
    for (double y = 0; y < 40; y += 7)
      for (double f = -4; f < 6; f += 1.1) {
        struct gpnn_count_slopes s = gpnn_count_slopes(&laws[l], y, f);
        double up = gpnn_count_log_probability(&laws[l], y, f + h);
        double down = gpnn_count_log_probability(&laws[l], y, f - h);
        double here = gpnn_count_log_probability(&laws[l], y, f);
        assert_near(s.gradient, (up - down) / (2 * h), 2e-6 * (1 + exp(f)));
        assert_near(s.curvature, -(up - 2 * here + down) / (h * h), 1e-4 * (1 + exp(f)));
      }
}

static void weights_are_the_expected_curvature(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++) {
    double f = 1.7, sum = 0;
    for (double y = 0; y < 3000; y++)
      sum += exp(gpnn_count_log_probability(&laws[l], y, f)) *
             gpnn_count_slopes(&laws[l], y, f).curvature;
    assert_close(gpnn_count_slopes(&laws[l], 5, f).weight, sum, 1e-8);
  }
}

/* At the mode the gradient of the count's log probability equals the pull of the prediction. */
static void sites_are_steps_from_the_most_likely_f(void **state)
{
  (void)state;
  const double counts[] = {0, 1, 7, 300, 1e5};
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < N_LATENTS; i++)
      for (size_t k = 0; k < 5; k++) {
        const struct gpnn_count_latent *at = &latents[i];
        struct gpnn_count_site site = gpnn_count_site(&laws[l], counts[k], at);
        assert_true(isfinite(site.target) && site.noise > 0 && isfinite(site.noise));
        /* Find f from the noise, which is 1 / weight. */
        double w = 1 / site.noise, r = laws[l].dispersion;
        double rate = isinf(r) ? w : w * r / (r - w), f = log(rate);
        if (!(rate > 0) || w > 0.999 * r) continue;
        double gradient = gpnn_count_slopes(&laws[l], counts[k], f).gradient;
        double pull = (f - at->mean) / (at->sd * at->sd);
        assert_near(gradient, pull, 1e-7 * (1 + fabs(pull) + rate / (at->sd * at->sd)));
        assert_near(site.target, f + gradient / w, 1e-7 * (1 + fabs(gradient / w)));
      }
}

static void the_wildest_predictions_give_finite_sites(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (double mean = -700; mean <= 700; mean += 350)
      for (double sd = 1e-6; sd < 1e4; sd *= 1e3)
        for (double y = 0; y < 1e15; y = 10 * y + 1) {
          struct gpnn_count_site site =
              gpnn_count_site(&laws[l], y, &(struct gpnn_count_latent){mean, sd});
          assert_true(isfinite(site.target) && isfinite(site.noise) && site.noise > 0);
        }
}

static void marginals_average_over_f(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < N_LATENTS; i++)
      for (double y = 0; y < 1500; y = 2 * y + 1) {
        const struct of_count c = {&laws[l], y};
        double expected = average(&latents[i], probability, &c);
        if (expected < 1e-15) continue; /* f would be beyond those that were averaged */
        assert_near(gpnn_count_marginal(&laws[l], &latents[i], y), log(expected), 1e-8);
      }
}

static void a_known_f_is_the_limit(void **state)
{
  (void)state;
  const struct gpnn_count_latent known = {1.2, 0}, nearly = {1.2, 1e-7};
  for (size_t l = 0; l < N_LAWS; l++) {
    double sum = 0;
    for (double y = 0; y < 40; y++) {
      double exact = gpnn_count_log_probability(&laws[l], y, 1.2);
      assert_close(gpnn_count_marginal(&laws[l], &known, y), exact, 1e-14);
      assert_near(gpnn_count_marginal(&laws[l], &nearly, y), exact, 1e-9);
      sum += exp(exact);
      assert_near(gpnn_count_cdf(&laws[l], &known, y), sum, 1e-9);
      assert_near(gpnn_count_cdf(&laws[l], &nearly, y), sum, 1e-7);
    }
  }
}

/* Beyond the rates that are searched, too, no probability is above 1. */
static void rates_out_of_range_have_probabilities_too(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (double far = 301; far < 1e200; far *= 1e6) {
      const struct gpnn_count_latent low = {-far, 2}, high = {far, 2};
      assert_near(gpnn_count_marginal(&laws[l], &low, 0), 0, 1e-9);
      assert_true(gpnn_count_marginal(&laws[l], &low, 1e5) < -300);
      assert_true(gpnn_count_marginal(&laws[l], &high, 0) < -20);
      assert_true(gpnn_count_marginal(&laws[l], &high, 1e5) < -20);
    }
}

static void distribution_functions_are_sums(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < N_LATENTS; i++) {
      double sum = 0;
      for (double y = 0; y < 400; y++) {
        double p = exp(gpnn_count_marginal(&laws[l], &latents[i], y));
        sum += p;
        assert_near(gpnn_count_cdf(&laws[l], &latents[i], y), sum, 2e-8);
        assert_near(gpnn_count_cdf(&laws[l], &latents[i], y + 0.5), sum, 2e-8);
        assert_near(gpnn_count_pit(&laws[l], &latents[i], y), sum - p / 2, 2e-8);
      }
      assert_true(gpnn_count_cdf(&laws[l], &latents[i], -1) == 0);
      assert_true(gpnn_count_cdf(&laws[l], &latents[i], INFINITY) == 1);
    }
}

static void moments_are_those_of_the_probabilities(void **state)
{
  (void)state;
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < 4; i++) {
      double mean, sd, first = 0, second = 0;
      if (laws[l].dispersion < 1 || latents[i].sd > 1) continue; /* their tails are too long */
      gpnn_count_moments(&laws[l], &latents[i], &mean, &sd);
      for (double y = 0; y < 2000; y++) {
        double p = exp(gpnn_count_marginal(&laws[l], &latents[i], y));
        first += y * p;
        second += (y - mean) * (y - mean) * p;
      }
      assert_close(mean, first, 1e-7);
      assert_close(sd * sd, second, 1e-6);
    }
}

static void quantiles_are_the_least_counts_that_suffice(void **state)
{
  (void)state;
  const double probabilities[] = {1e-6, 0.025, 0.1, 0.5, 0.84, 0.975, 1 - 1e-6};
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < N_LATENTS; i++)
      for (size_t k = 0; k < 7; k++) {
        double p = probabilities[k], q = gpnn_count_quantile(&laws[l], &latents[i], p);
        assert_true(gpnn_count_is_count(q));
        assert_true(gpnn_count_cdf(&laws[l], &latents[i], q) >= p);
        assert_true(q == 0 || gpnn_count_cdf(&laws[l], &latents[i], q - 1) < p);
      }
  assert_true(isnan(gpnn_count_quantile(&laws[0], &(struct gpnn_count_latent){NAN, 1}, 0.5)));
  double large = gpnn_count_quantile(&laws[0], &(struct gpnn_count_latent){60, 0.5}, 0.975);
  assert_near(log(large), 60 + 0.5 * gpnn_normal_quantile(0.975), 1e-6);
}

static void the_crps_is_the_sum_of_its_definition(void **state)
{
  (void)state;
  const double truths[] = {0, 1, 5, 33, 180, 900};
  for (size_t l = 0; l < N_LAWS; l++)
    for (size_t i = 0; i < N_LATENTS; i++)
      for (size_t k = 0; k < 6; k++) {
        double below = 0, sum = 0, y = truths[k];
        for (double x = 0; x < 4000; x++) {
          below += exp(gpnn_count_marginal(&laws[l], &latents[i], x));
          double off = x < y ? below : 1 - below;
          sum += off * off;
        }
        if (below < 1 - 1e-9) continue;
        assert_near(gpnn_count_crps(&laws[l], &latents[i], y), sum, 1e-6 * (1 + sum));
      }
}

/* A large count, of which the logarithm is nearly normal. */
static double large_crps(double mean, double sd, double y)
{
  double sum = 0, x = 0;
  for (double z = -8; z < 8; z += 1e-4) {
    double next = exp(mean + sd * (z + 1e-4)), middle = exp(mean + sd * (z + 0.5e-4));
    double f = gpnn_normal_cdf(z + 0.5e-4), off = middle < y ? f : 1 - f;
    if (x > 0) sum += off * off * (next - x);
    x = next;
  }
  return sum;
}

static void the_crps_of_large_counts_is_an_integral(void **state)
{
  (void)state;
  for (double y = 2e6; y < 2e7; y *= 2) {
    double expected = large_crps(15.5, 0.3, y);
    double crps = gpnn_count_crps(&laws[0], &(struct gpnn_count_latent){15.5, 0.3}, y);
    assert_close(crps, expected, 1e-3);
  }
}

/* Tails that reach far beyond what a sum could.  The CRPS is at most the expected error, and that
 * at most the sum of the mean and the truth. */
static void the_crps_of_long_tails_is_finite(void **state)
{
  (void)state;
  const struct gpnn_count_law law = {0.5};
  for (double mean = -2; mean < 8; mean += 2)
    for (double sd = 0.5; sd < 4; sd *= 2)
      for (double y = 0; y < 5000; y = 8 * y + 3) {
        const struct gpnn_count_latent latent = {mean, sd};
        double expected, spread, crps = gpnn_count_crps(&law, &latent, y);
        gpnn_count_moments(&law, &latent, &expected, &spread);
        assert_true(crps >= 0 && crps <= 1.001 * (expected + y));
      }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(probabilities_are_those_of_the_closed_forms),
      cmocka_unit_test(probabilities_sum_to_one_with_the_right_moments),
      cmocka_unit_test(much_dispersion_is_poisson),
      cmocka_unit_test(slopes_are_those_of_finite_differences),
      cmocka_unit_test(weights_are_the_expected_curvature),
      cmocka_unit_test(sites_are_steps_from_the_most_likely_f),
      cmocka_unit_test(the_wildest_predictions_give_finite_sites),
      cmocka_unit_test(marginals_average_over_f),
      cmocka_unit_test(a_known_f_is_the_limit),
      cmocka_unit_test(rates_out_of_range_have_probabilities_too),
      cmocka_unit_test(distribution_functions_are_sums),
      cmocka_unit_test(moments_are_those_of_the_probabilities),
      cmocka_unit_test(quantiles_are_the_least_counts_that_suffice),
      cmocka_unit_test(the_crps_is_the_sum_of_its_definition),
      cmocka_unit_test(the_crps_of_large_counts_is_an_integral),
      cmocka_unit_test(the_crps_of_long_tails_is_finite),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
