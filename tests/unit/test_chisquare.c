#include "unit.h"

#include "stats/distributions/chisquare.h"
#include "stats/distributions/normal.h"

struct reference {
  double x;
  size_t d;
  double lambda, log_below, log_above;
};

/* From 60-digit sums of the mixture of central distributions. */
static const struct reference known[] = {
    {1e-36, 1, 0, -41.672323026537549774, -7.9788456080286533268e-19},
    {0.7, 1, 0, -0.51547591001682565342, -0.90935559997380219337},
    {1e-30, 1, 2.25, -35.889567747555412651, -2.5903519133178349957e-16},
    {3.5, 1, 100, -36.070709166513919231, -2.1611755751266663883e-16},
    {900, 1, 9, -7.3894810068850182575e-161, -368.71614246865635257},
    {1600, 1, 0, 0, -803.91529483319384286},
    {1e-17, 2, 0.5, -40.087093761458721868, -3.8940039153570246201e-18},
    {60, 2, 50, -0.3172802344710340131, -1.3024190577101298404},
    {1e-12, 3, 4, -44.770935315205559466, -3.5993977675462299613e-20},
    {2.5, 3, 4, -1.8637074914843800493, -0.1685329113998207941},
    {300, 3, 40, -5.5009867016485308357e-28, -62.767455127385430435},
    {1e-5, 5, 0.001, -31.716658786886227392, -1.6812415108226065124e-14},
    {0.003, 8, 8, -33.187214663800993332, -3.8634544987396772266e-15},
    {0.7, 16, 16, -27.00840495758112522, -1.8637976590294126107e-12},
    {32, 16, 16, -0.62299624790198326991, -0.76859304573519880722},
    {150, 16, 1, -2.4614352207177507164e-22, -49.756127442993801812},
    {0.15, 20, 20, -51.007295672663202133, -7.0438962818497187694e-23},
    {0.3, 20, 0, -34.211898088537532972, -1.3866327225472171989e-15},
    {500, 20, 2000, -260.67239012001733456, -6.1861348998264761014e-114},
    {2500, 20, 2000, -1.9088180070132480169e-7, -15.471611540399652703},
    {9, 31, 25, -19.563802372416616096, -3.1882222279097789824e-9},
    {20, 64, 64, -40.935451320643781619, -1.6670912698822662175e-18},
    {200, 64, 0, -6.5158675615721130578e-16, -34.967121122483198089},
    {60, 101, 9.5, -9.9469086452275532693, -0.000047876551338678708499},
    {4000, 200, 10000, -726.3711331129250177, 0},
    {400, 500, 500, -102.18538523283203545, -4.1826455452559071725e-45},
    {1100, 1000, 1000, -97.796979525935588141, -3.3675297806381181485e-43},
    {2800, 2000, 2000, -76.948231528079246923, -3.8177514884156114984e-34},
    {4000, 2000, 2000, -0.68669348825622164656, -0.69964279369863565292},
    {5200, 2000, 2000, -2.147162040729565484e-24, -54.497895242715917902},
    {1400, 2001, 0.001, -60.031482786549321078, -8.4851257961800874121e-27},
    {9000, 4000, 10000.0, -332.61776551693171445, -3.5151175503926652624e-145},
    {40, 7, 1e-09, -1.2587911828184647362e-6, -13.585359305610228665},
    {1e-6, 2, 9999, -5014.007408373884466, 0},
    {1e4, 10, 3, 0, -4815.5954048172661738},
};

enum { N_KNOWN = sizeof known / sizeof known[0] };

static const size_t degrees[] = {1, 2, 3, 4, 7, 16, 20, 33, 128, 2000};
static const double lambdas[] = {0, 1e-8, 0.3, 4, 60, 3000};
enum { N_DEGREES = 10, N_LAMBDAS = 6 };

static void logarithms_are_those_of_sixty_digits(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_KNOWN; i++) {
    struct reference r = known[i];
    double below = gpnn_chisquare_log_cdf(r.x, r.d, r.lambda);
    assert_near(below, r.log_below, 5e-14 * (1 + fabs(r.log_below)));
  }
}

static void quantiles_are_those_of_sixty_digits(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_KNOWN; i++) {
    struct reference r = known[i];
    /* A logarithm of thousands is itself rounded to 5e-13. */
    if (r.log_below < -0.5 && r.log_below > -1000)
      assert_close(gpnn_chisquare_quantile_lower(r.log_below, r.d, r.lambda, 0), r.x, 1e-13);
    if (r.log_above < -0.5 && r.log_above > -1000)
      assert_close(gpnn_chisquare_quantile_upper(r.log_above, r.d, r.lambda, 0), r.x, 1e-13);
  }
}

/* For even degrees 1 - F is a Poisson sum: P(N < d/2) for N of mean x/2. */
static void central_distributions_of_even_degrees_are_poisson_sums(void **state)
{
  (void)state;
  for (size_t d = 2; d <= 40; d += 2)
    for (double x = 0.01; x < 300; x *= 1.7) {
      double term = 1, sum = 1;
      for (size_t k = 1; k < d / 2; k++) sum += term *= x / 2 / (double)k;
      double above = log(sum) - x / 2;
      if (above < -0.7) assert_close(gpnn_chisquare_quantile_upper(above, d, 0, 0), x, 1e-12);
      assert_near(exp(gpnn_chisquare_log_cdf(x, d, 0)), -expm1(above), 1e-14);
    }
}

/* P(|Z + delta| <= r). */
static void one_degree_is_a_folded_normal(void **state)
{
  (void)state;
  for (double delta = 0; delta < 7; delta += 0.7)
    for (double r = 0.05; r < 12; r *= 1.4) {
      double x = r * r, lambda = delta * delta;
      double above = gpnn_normal_cdf(delta - r) + gpnn_normal_cdf(-delta - r);
      double below = gpnn_normal_cdf(r - delta) - gpnn_normal_cdf(-r - delta);
      if (above < 0.49)
        assert_close(gpnn_chisquare_quantile_upper(log(above), 1, lambda, 0), x, 1e-12);
      assert_near(exp(gpnn_chisquare_log_cdf(x, 1, lambda)), below, 1e-14);
    }
}

/* The two tails, computed by different sums of Poisson probabilities, add up to one. */
static void tails_are_complements(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_DEGREES; i++)
    for (size_t j = 0; j < N_LAMBDAS; j++)
      for (double z = -3; z <= 3; z += 0.5) {
        double d = (double)degrees[i], mean = d + lambdas[j];
        double x = mean + z * sqrt(2 * d + 4 * lambdas[j]);
        if (x <= 0) continue;
        double below = gpnn_chisquare_log_cdf(x, degrees[i], lambdas[j]);
        double above = log1p(-exp(below));
        if (above < -0.7)
          assert_close(gpnn_chisquare_quantile_upper(above, degrees[i], lambdas[j], 0), x, 1e-9);
        /* at the mean, where each starts to be computed from the other, F is smooth */
        double next = x * (1 + 1e-12);
        assert_true(gpnn_chisquare_log_cdf(next, degrees[i], lambdas[j]) >= below - 1e-13);
      }
}

/* d log F / d log x, by differences. */
static double slope_at(double x, size_t d, double lambda)
{
  const double h = 1e-6;
  return (gpnn_chisquare_log_cdf(x * exp(h), d, lambda) -
          gpnn_chisquare_log_cdf(x * exp(-h), d, lambda)) /
         (2 * h);
}

/* From e^-0.7 to far below a row in 1e18, and likewise above. */
static void quantiles_invert_both_tails(void **state)
{
  (void)state;
  static const double logs[] = {-0.7, -1, -5, -27.6, -41.4, -60, -250};
  for (size_t i = 0; i < N_DEGREES; i++)
    for (size_t j = 0; j < N_LAMBDAS; j++)
      for (size_t k = 0; k < sizeof logs / sizeof logs[0]; k++) {
        size_t d = degrees[i];
        double x = gpnn_chisquare_quantile_lower(logs[k], d, lambdas[j], 0);
        /* the effect of a change in the last digits of x */
        double allowed = 1e-13 * (1 - logs[k]) + 5e-16 * slope_at(x, d, lambdas[j]);
        assert_near(gpnn_chisquare_log_cdf(x, d, lambdas[j]), logs[k], allowed);
        x = gpnn_chisquare_quantile_upper(logs[k], d, lambdas[j], 0);
        allowed = 1e-13 + 5e-16 * slope_at(x, d, lambdas[j]);
        assert_near(gpnn_chisquare_log_cdf(x, d, lambdas[j]), log1p(-exp(logs[k])), allowed);
      }
}

static void the_starting_point_makes_no_difference(void **state)
{
  (void)state;
  static const double starts[] = {1e-30, 1e-3, 5, 31, 1e3, 1e8};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
    for (double log_p = -45; log_p < -0.7; log_p += 4.3) {
      assert_close(gpnn_chisquare_quantile_lower(log_p, 16, 12, starts[i]),
                   gpnn_chisquare_quantile_lower(log_p, 16, 12, 0), 1e-13);
      assert_close(gpnn_chisquare_quantile_upper(log_p, 16, 12, starts[i]),
                   gpnn_chisquare_quantile_upper(log_p, 16, 12, 0), 1e-13);
      assert_close(gpnn_chisquare_quantile_lower(log_p, 1, 30, starts[i]),
                   gpnn_chisquare_quantile_lower(log_p, 1, 30, 0), 1e-13);
      assert_close(gpnn_chisquare_quantile_upper(log_p, 1, 30, starts[i]),
                   gpnn_chisquare_quantile_upper(log_p, 1, 30, 0), 1e-13);
    }
}

static void ends_of_the_range_are_zero_and_one(void **state)
{
  (void)state;
  for (size_t i = 0; i < N_DEGREES; i++)
    for (size_t j = 0; j < N_LAMBDAS; j++) {
      size_t d = degrees[i];
      double lambda = lambdas[j];
      assert_true(gpnn_chisquare_log_cdf(0, d, lambda) == -INFINITY);
      assert_true(gpnn_chisquare_log_cdf(INFINITY, d, lambda) == 0);
      assert_true(isfinite(gpnn_chisquare_log_cdf(1e-290, d, lambda)));
      /* tiny: F is then nearly proportional to x^(d/2) */
      double low = gpnn_chisquare_log_cdf(1e-200, d, lambda);
      assert_close(gpnn_chisquare_log_cdf(1e-198, d, lambda) - low, (double)d * log(10), 1e-9);
      assert_true(fabs(gpnn_chisquare_log_cdf(2.5, d, 1e-250) - gpnn_chisquare_log_cdf(2.5, d, 0)) <
                  1e-13);
    }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(logarithms_are_those_of_sixty_digits),
      cmocka_unit_test(quantiles_are_those_of_sixty_digits),
      cmocka_unit_test(central_distributions_of_even_degrees_are_poisson_sums),
      cmocka_unit_test(one_degree_is_a_folded_normal),
      cmocka_unit_test(tails_are_complements),
      cmocka_unit_test(quantiles_invert_both_tails),
      cmocka_unit_test(the_starting_point_makes_no_difference),
      cmocka_unit_test(ends_of_the_range_are_zero_and_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
