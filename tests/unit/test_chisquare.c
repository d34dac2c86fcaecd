#include "unit.h"

#include "stats/chisquare.h"
#include "stats/normal.h"

struct reference {
  double x;
  size_t d;
  double lambda, log_below, log_above, log_density;
};

/* From 60-digit sums of the mixture of central distributions. */
static const struct reference known[] = {
    {1e-36, 1, 0, -41.672323026537549774, -7.9788456080286533268e-19, 40.5275931406881496},
    {0.7, 1, 0, -0.51547591001682565342, -0.90935559997380219337, -1.0906010612353064984},
    {1e-30, 1, 2.25, -35.889567747555412651, -2.5903519133178349957e-16, 32.494837861706012477},
    {3.5, 1, 100, -36.070709166513919231, -2.1611755751266663883e-16, -35.280180264142595065},
    {900, 1, 9, -7.3894810068850182575e-161, -368.71614246865635257, -369.51328309542677343},
    {1600, 1, 0, 0, -803.91529483319384286, -804.60781798731860904},
    {1e-17, 2, 0.5, -40.087093761458721868, -3.8940039153570246201e-18, -0.94314718055994531317},
    {60, 2, 50, -0.3172802344710340131, -1.3024190577101298404, -3.8391184365620450983},
    {1e-12, 3, 4, -44.770935315205559466, -3.5993977675462299613e-20, -16.734449091168780189},
    {2.5, 3, 4, -1.8637074914843800493, -0.1685329113998207941, -2.3947486041171339572},
    {300, 3, 40, -5.5009867016485308357e-28, -62.767455127385430435, -63.912013939788363511},
    {1e-5, 5, 0.001, -31.716658786886227392, -1.6812415108226065124e-14, -19.287444018328124941},
    {0.003, 8, 8, -33.187214663800993332, -3.8634544987396772266e-15, -25.991777387334949583},
    {0.7, 16, 16, -27.00840495758112522, -1.8637976590294126107e-12, -24.573569499878427428},
    {32, 16, 16, -0.62299624790198326991, -0.76859304573519880722, -3.2108768876128840755},
    {150, 16, 1, -2.4614352207177507164e-22, -49.756127442993801812, -50.596224272964637227},
    {0.15, 20, 20, -51.007295672663202133, -7.0438962818497187694e-23, -46.807632723966899443},
    {0.3, 20, 0, -34.211898088537532972, -1.3866327225472171989e-15, -30.719054524614346967},
    {500, 20, 2000, -260.67239012001733456, -6.1861348998264761014e-114, -261.34468291351219825},
    {2500, 20, 2000, -1.9088180070132480169e-7, -15.471611540399652703, -18.414259614552492114},
    {9, 31, 25, -19.563802372416616096, -3.1882222279097789824e-9, -19.109618079231427518},
    {20, 64, 64, -40.935451320643781619, -1.6670912698822662175e-18, -40.525610668021556084},
    {200, 64, 0, -6.5158675615721130578e-16, -34.967121122483198089, -36.025094968244423532},
    {60, 101, 9.5, -9.9469086452275532693, -0.000047876551338678708499, -10.85360835735078638},
    {4000, 200, 10000, -726.3711331129250177, 0, -727.56411686487737719},
    {400, 500, 500, -102.18538523283203545, -4.1826455452559071725e-45, -102.97396157930367274},
    {1100, 1000, 1000, -97.796979525935588141, -3.3675297806381181485e-43, -99.157678129190233625},
    {2800, 2000, 2000, -76.948231528079246923, -3.8177514884156114984e-34, -78.927678987592956268},
    {4000, 2000, 2000, -0.68669348825622164656, -0.69964279369863565292, -5.6153466656288694889},
    {5200, 2000, 2000, -2.147162040729565484e-24, -54.497895242715917902, -57.023509737986127385},
    {1400, 2001, 0.001, -60.031482786549321078, -8.4851257961800874121e-27, -61.562678328328104038},
    {9000, 4000, 10000.0, -332.61776551693171445, -3.5151175503926652624e-145,
     -334.51529404916875955},
    {40, 7, 1e-09, -1.2587911828184647362e-6, -13.585359305610228665, -14.404790096664899194},
    {1e-6, 2, 9999, -5014.007408373884466, 0, -5000.1906494910141046},
    {1e4, 10, 3, 0, -4815.5954048172661738, -4816.3063832796856096},
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
    double above = gpnn_chisquare_log_survival(r.x, r.d, r.lambda);
    double density = gpnn_chisquare_log_density(r.x, r.d, r.lambda);
    assert_near(below, r.log_below, 5e-14 * (1 + fabs(r.log_below)));
    assert_near(above, r.log_above, 5e-14 * (1 + fabs(r.log_above)));
    assert_near(density, r.log_density, 5e-14 * (1 + fabs(r.log_density)));
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
      if (above < -0.01)
        assert_near(gpnn_chisquare_log_survival(x, d, 0), above, 1e-13 * (1 - above));
      assert_near(exp(gpnn_chisquare_log_cdf(x, d, 0)), -expm1(above), 1e-14);
    }
}

/* P(|Z + delta| <= r), and its density (phi(r - delta) + phi(r + delta)) / (2 r) in r^2. */
static void one_degree_is_a_folded_normal(void **state)
{
  (void)state;
  for (double delta = 0; delta < 7; delta += 0.7)
    for (double r = 0.05; r < 12; r *= 1.4) {
      double x = r * r, lambda = delta * delta;
      double above = gpnn_normal_cdf(delta - r) + gpnn_normal_cdf(-delta - r);
      double below = gpnn_normal_cdf(r - delta) - gpnn_normal_cdf(-r - delta);
      double density = (gpnn_normal_density(r - delta) + gpnn_normal_density(r + delta)) / (2 * r);
      assert_close(exp(gpnn_chisquare_log_survival(x, 1, lambda)), above, 1e-12);
      assert_near(exp(gpnn_chisquare_log_cdf(x, 1, lambda)), below, 1e-14);
      assert_close(exp(gpnn_chisquare_log_density(x, 1, lambda)), density, 1e-12);
    }
}

/* For three degrees the density is sinh(r delta) / (r delta) times the central one. */
static void three_degrees_have_an_elementary_density(void **state)
{
  (void)state;
  for (double delta = 0.1; delta < 20; delta *= 1.5)
    for (double r = 0.001; r < 30; r *= 1.6) {
      double t = r * delta, log_ratio = t + log(-expm1(-2 * t) / (2 * t)) - delta * delta / 2;
      double expected = log(r) - r * r / 2 - 0.5 * log(2 * M_PI) + log_ratio;
      assert_near(gpnn_chisquare_log_density(r * r, 3, delta * delta), expected,
                  1e-13 * (1 + fabs(expected)));
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
        double above = gpnn_chisquare_log_survival(x, degrees[i], lambdas[j]);
        assert_near(exp(below) + exp(above), 1, 1e-13);
        /* at the mean, where each starts to be computed from the other, both are smooth */
        double next = x * (1 + 1e-12);
        assert_true(gpnn_chisquare_log_cdf(next, degrees[i], lambdas[j]) >= below - 1e-13);
        assert_true(gpnn_chisquare_log_survival(next, degrees[i], lambdas[j]) <= above + 1e-13);
      }
}

/* d log F / d log x by differences. */
static void density_is_the_derivative(void **state)
{
  (void)state;
  const double h = 1e-4;
  for (size_t i = 0; i < N_DEGREES; i++)
    for (size_t j = 0; j < N_LAMBDAS; j++)
      for (double share = 0.01; share < 1.3; share *= 1.5) {
        double x = share * ((double)degrees[i] + lambdas[j]);
        double left = gpnn_chisquare_log_cdf(x * exp(-h), degrees[i], lambdas[j]);
        double right = gpnn_chisquare_log_cdf(x * exp(h), degrees[i], lambdas[j]);
        double slope = exp(gpnn_chisquare_log_density(x, degrees[i], lambdas[j]) + log(x) -
                           gpnn_chisquare_log_cdf(x, degrees[i], lambdas[j]));
        assert_near((right - left) / (2 * h), slope, 1e-4 * slope + 1e-8);
      }
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
        double slope = exp(gpnn_chisquare_log_density(x, d, lambdas[j]) + log(x) - logs[k]);
        double allowed = 1e-13 * (1 - logs[k]) + 5e-16 * slope;
        assert_near(gpnn_chisquare_log_cdf(x, d, lambdas[j]), logs[k], allowed);
        x = gpnn_chisquare_quantile_upper(logs[k], d, lambdas[j], 0);
        slope = exp(gpnn_chisquare_log_density(x, d, lambdas[j]) + log(x) - logs[k]);
        allowed = 1e-13 * (1 - logs[k]) + 5e-16 * slope;
        assert_near(gpnn_chisquare_log_survival(x, d, lambdas[j]), logs[k], allowed);
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
      assert_true(gpnn_chisquare_log_survival(0, d, lambda) == 0);
      assert_true(gpnn_chisquare_log_cdf(INFINITY, d, lambda) == 0);
      assert_true(gpnn_chisquare_log_survival(INFINITY, d, lambda) == -INFINITY);
      assert_true(gpnn_chisquare_log_density(INFINITY, d, lambda) == -INFINITY);
      assert_true(isfinite(gpnn_chisquare_log_cdf(1e-290, d, lambda)));
      assert_true(isfinite(gpnn_chisquare_log_survival(1e6, d, lambda)));
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
      cmocka_unit_test(three_degrees_have_an_elementary_density),
      cmocka_unit_test(tails_are_complements),
      cmocka_unit_test(density_is_the_derivative),
      cmocka_unit_test(quantiles_invert_both_tails),
      cmocka_unit_test(the_starting_point_makes_no_difference),
      cmocka_unit_test(ends_of_the_range_are_zero_and_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
