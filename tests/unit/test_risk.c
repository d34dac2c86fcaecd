#include "simulate/risk.h"
#include "simulate/theory.h"

#include "base/memory.h"
#include "covariance.h"
#include "dense.h"
#include "unit.h"

/* A small simulation by search of what the caller changes. */
static struct gpnn_risk_options small(size_t d, const struct gpnn_assumed_model *assumed,
                                      size_t n_assumed)
{
  return (struct gpnn_risk_options){.inputs = {GPNN_INPUTS_NORMAL, d, 0.5},
                                    .actual = {.covariance = covariance_of("exp", 1, 0.9, 0.1)},
                                    .n = 500,
                                    .m = 10,
                                    .n_points = 60,
                                    .n_draws = 1,
                                    .by_search = true,
                                    .n_assumed = n_assumed,
                                    .assumed = assumed,
                                    .seed = 1,
                                    .threads = 2};
}

static const struct gpnn_assumed_model *other_parameters(void)
{
  static struct gpnn_assumed_model assumed;
  assumed = (struct gpnn_assumed_model){covariance_of("matern32", 0.7, 1.2, 0.2), 0.3};
  return &assumed;
}

/* Test point 'i', and the offsets of its neighbours in draw 0, as the simulation has them. */
static void find_place(const struct gpnn_risk_options *o, size_t i, double *x, double *offsets)
{
  const struct gpnn_neighbours_options options = {.inputs = o->inputs,
                                                  .n = o->n,
                                                  .m = o->m,
                                                  .by_search = o->by_search,
                                                  .seed = o->seed,
                                                  .threads = 1};
  struct gpnn_neighbours *near = NULL;
  struct gpnn_rng rng;
  gpnn_rng_init_at(&rng, o->seed, GPNN_RNG_POINT, i);
  gpnn_inputs_draw(&o->inputs, &rng, x);
  assert_ok(gpnn_neighbours_new(&near, &options, &err));
  assert_ok(gpnn_neighbours_find(near, i, 1, x, offsets, &err));
  gpnn_neighbours_free(near);
}

/* ---- against independent formulas ---------------------------------------------------------- */

static void with_all_rows_and_the_right_parameters_mse_is_the_posterior_variance(void **state)
{
  (void)state;
  enum { N = 25, D = 2 };
  const double noise = 0.1, kernelscale = 0.9, lengthscale = 1, nowhere[D] = {0};
  const struct gpnn_assumed_model truth = {covariance_of("exp", 1, 0.9, 0.1), 0};
  struct gpnn_risk_options o = small(D, &truth, 1);
  o.n = o.m = N;
  o.n_points = 8;
  struct gpnn_risk_result s = {0};
  assert_ok(gpnn_risk_simulate(&s, &o, &err));
  for (size_t i = 0; i < o.n_points; i++) {
    double x[D], offsets[N * D], y[N] = {0}, mean, latent;
    find_place(&o, i, x, offsets);
    dense_predict("exp", N, D, offsets, y, nowhere, 1, &lengthscale, kernelscale, noise, &mean,
                  &latent);
    assert_near(s.risk[i], latent, 1e-12);
    assert_near(s.mse[i], latent + noise, 1e-12);
    assert_near(s.log_variance[i], log(latent + noise), 1e-11);
    assert_near(s.z2[i], 1, 1e-11);
  }
  gpnn_risk_release(&s);
}

/* One neighbour at distance r: the weight is kernelscale c(r) / (kernelscale + noise). */
struct one {
  double weight, here, there, r, c; /* c: of the truth */
};

static struct one one_neighbour(const struct gpnn_risk_options *o,
                                const struct gpnn_assumed_model *assumed, size_t i)
{
  double x[2], offset[2];
  struct one one = {0};
  find_place(o, i, x, offset);
  one.here = x[0] * x[0] + x[1] * x[1];
  one.there = pow(x[0] + offset[0], 2) + pow(x[1] + offset[1], 2);
  one.r = hypot(offset[0], offset[1]);
  one.c = exp(-one.r / o->actual.covariance.isotropic);
  const struct gpnn_covariance *a = &assumed->covariance;
  one.weight = a->kernelscale * exp(-one.r / a->isotropic) / (a->kernelscale + a->noise);
  return one;
}

static void the_risk_from_one_neighbour_is_its_formula(void **state)
{
  (void)state;
  const struct gpnn_assumed_model assumed = {covariance_of("exp", 0.6, 1.5, 0.2), 0.5};
  struct gpnn_risk_options o = small(2, &assumed, 1);
  const struct gpnn_covariance *t = &o.actual.covariance;
  o.m = 1;
  o.actual.coefficient = 2;
  for (int debias = 0; debias < 2; debias++) {
    struct gpnn_risk_result s = {0};
    o.debias = debias == 1;
    assert_ok(gpnn_risk_simulate(&s, &o, &err));
    for (size_t i = 0; i < o.n_points; i++) {
      struct one one = one_neighbour(&o, &assumed, i);
      double w = one.weight * (o.debias ? 1 + 0.2 / 1.5 : 1);
      double trend = 1.5 * (one.here - w * one.there);
      double risk = t->kernelscale * (1 - 2 * w * one.c + w * w) + t->noise * w * w + trend * trend;
      assert_near(s.risk[i], risk, 1e-13);
      assert_near(s.mse[i], risk + t->noise, 1e-13);
    }
    gpnn_risk_release(&s);
  }
}

/* d risk / d weight times d weight / d parameter, and for the coefficient the trend alone. */
static void derivatives_are_those_of_the_formula_for_one_neighbour(void **state)
{
  (void)state;
  const double step = 0.01, kernelscale = 1.5, noise = 0.2, lengthscale = 0.6;
  const struct gpnn_assumed_model at = {covariance_of("exp", 0.6, 1.5, 0.2), 0.5};
  struct gpnn_assumed_model assumed[GPNN_RISK_N_PARAMETERS * GPNN_STENCIL];
  for (size_t p = 0; p < GPNN_RISK_N_PARAMETERS; p++)
    assert_true(
        gpnn_risk_stencil(&at, (enum gpnn_risk_parameter)p, step, assumed + p * GPNN_STENCIL));
  struct gpnn_risk_options o = small(2, assumed, sizeof assumed / sizeof assumed[0]);
  const struct gpnn_covariance *t = &o.actual.covariance;
  o.m = 1;
  o.actual.coefficient = 2;
  double expected[GPNN_RISK_N_PARAMETERS] = {0};
  for (size_t i = 0; i < o.n_points; i++) {
    struct one one = one_neighbour(&o, &at, i);
    double w = one.weight, rest = one.here - w * one.there, all = kernelscale + noise;
    double by_weight =
        2 * t->kernelscale * (w - one.c) + 2 * t->noise * w - 2 * 1.5 * 1.5 * rest * one.there;
    expected[GPNN_RISK_LENGTHSCALE] += by_weight * w * one.r / (lengthscale * lengthscale);
    expected[GPNN_RISK_KERNELSCALE] += by_weight * w * noise / (kernelscale * all);
    expected[GPNN_RISK_NOISE] -= by_weight * w / all;
    expected[GPNN_RISK_COEFFICIENT] -= 2 * 1.5 * rest * rest;
  }
  struct gpnn_risk_result s = {0};
  assert_ok(gpnn_risk_simulate(&s, &o, &err));
  for (size_t p = 0; p < GPNN_RISK_N_PARAMETERS; p++) {
    struct gpnn_estimate found = gpnn_risk_derivative(&s, p * GPNN_STENCIL, step);
    assert_near(found.value, expected[p] / (double)o.n_points, 1e-6);
    assert_true(found.se > 0);
  }
  gpnn_risk_release(&s);
}

/* ---- averaged and drawn -------------------------------------------------------------------- */

static void agree(struct gpnn_risk_options *o)
{
  struct gpnn_risk_result averaged = {0}, drawn = {0};
  o->drawn = false;
  assert_ok(gpnn_risk_simulate(&averaged, o, &err));
  o->drawn = true;
  assert_ok(gpnn_risk_simulate(&drawn, o, &err));
  struct gpnn_estimate a = gpnn_risk_of_mean(&averaged, 0), d = gpnn_risk_of_mean(&drawn, 0);
  assert_near(d.value, a.value, 4 * hypot(a.se, d.se));
  a = gpnn_risk_mse(&averaged, 0);
  d = gpnn_risk_mse(&drawn, 0);
  assert_near(d.value, a.value, 4 * hypot(a.se, d.se));
  a = gpnn_risk_nll(&averaged, 0, 1);
  d = gpnn_risk_nll(&drawn, 0, 1);
  assert_near(d.value, a.value, 4 * hypot(a.se, d.se));
  assert_memory_equal(averaged.log_variance, drawn.log_variance,
                      o->n_points * sizeof *drawn.log_variance);
  gpnn_risk_release(&averaged);
  gpnn_risk_release(&drawn);
}

static void averages_are_the_means_of_draws(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(2, other_parameters(), 1);
  o.n_points = 200;
  o.n_draws = 40;
  agree(&o);
  o.debias = true;
  o.actual.coefficient = 1;
  agree(&o);
}

static void averages_are_the_means_of_draws_about_a_known_function(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(2, other_parameters(), 1);
  o.n_points = 200;
  o.n_draws = 40;
  o.actual.function = gpnn_function_by_name("waves");
  o.actual.covariance.kernelscale = 0;
  assert_non_null(o.actual.function);
  agree(&o);
}

/* Averaging is to remove what responses add to the error. */
static void averages_are_surer_than_draws(void **state)
{
  (void)state;
  const struct gpnn_assumed_model assumed = {covariance_of("matern32", 0.7, 1.2, 0.2), 0};
  struct gpnn_risk_options o = small(2, &assumed, 1);
  struct gpnn_risk_result averaged = {0}, drawn = {0};
  assert_ok(gpnn_risk_simulate(&averaged, &o, &err));
  o.drawn = true;
  assert_ok(gpnn_risk_simulate(&drawn, &o, &err));
  assert_true(gpnn_risk_mse(&averaged, 0).se < gpnn_risk_mse(&drawn, 0).se / 3);
  gpnn_risk_release(&averaged);
  gpnn_risk_release(&drawn);
}

static void a_known_function_is_predicted_by_hand(void **state)
{
  (void)state;
  const struct gpnn_assumed_model assumed = {covariance_of("exp", 0.6, 1.5, 0.2), 0};
  struct gpnn_risk_options o = small(2, &assumed, 1);
  struct gpnn_risk_result s = {0};
  o.m = 1;
  o.actual.function = gpnn_function_by_name("waves");
  o.actual.covariance.kernelscale = 0;
  assert_non_null(o.actual.function);
  assert_ok(gpnn_risk_simulate(&s, &o, &err));
  for (size_t i = 0; i < o.n_points; i++) {
    double x[2], offset[2], w = one_neighbour(&o, &assumed, i).weight;
    find_place(&o, i, x, offset);
    double here = o.actual.function->value(2, x);
    x[0] += offset[0];
    x[1] += offset[1];
    double miss = w * o.actual.function->value(2, x) - here;
    assert_near(s.risk[i], miss * miss + 0.1 * w * w, 1e-13);
  }
  gpnn_risk_release(&s);
}

/* ---- theory -------------------------------------------------------------------------------- */

static void limits_are_met_at_ten_to_the_fifteen(void **state)
{
  (void)state;
  static const char *const kernels[] = {"rbf", "matern32"};
  for (size_t k = 0; k < 2; k++) {
    const struct gpnn_assumed_model assumed = {covariance_of(kernels[k], 0.8, 0.8, 0.2), 0};
    struct gpnn_risk_options o = small(2, &assumed, 1);
    o.actual.covariance = covariance_of(kernels[k], 1, 0.9, 0.1);
    o.by_search = false;
    o.n = 1000000000000000;
    o.m = 100;
    o.n_points = 400;
    struct gpnn_theory_limits limits = gpnn_theory_limits(0.1, 0.2, o.m);
    struct gpnn_risk_result s = {0};
    assert_ok(gpnn_risk_simulate(&s, &o, &err));
    double order = 1 / (double)(o.m * o.m);
    assert_near(gpnn_risk_mse(&s, 0).value, limits.mse, order);
    assert_near(gpnn_risk_nll(&s, 0, 1).value, limits.nll, order);
    assert_near(gpnn_risk_cal(&s, 0, 1).value, limits.cal, order);
    gpnn_risk_release(&s);

    o.drawn = true;
    o.n_points = 2000;
    assert_ok(gpnn_risk_simulate(&s, &o, &err));
    struct gpnn_estimate mse = gpnn_risk_mse(&s, 0), nll = gpnn_risk_nll(&s, 0, 1);
    struct gpnn_estimate cal = gpnn_risk_cal(&s, 0, 1);
    assert_near(mse.value, limits.mse, 3.3 * mse.se);
    assert_near(nll.value, limits.nll, 3.3 * nll.se);
    assert_near(cal.value, limits.cal, 3.3 * cal.se);
    gpnn_risk_release(&s);
  }
}

/* Where all neighbours are at the point, means are m kernelscale / (noise + m kernelscale) of what
 * they should be, but for the factor. */
static void without_bias_the_limit_of_mse_is_exact(void **state)
{
  (void)state;
  const struct gpnn_assumed_model assumed = {covariance_of("matern32", 1, 0.5, 2), 0};
  struct gpnn_risk_options o = small(2, &assumed, 1);
  o.actual.covariance = covariance_of("matern32", 1, 0.9, 0.1);
  o.by_search = false;
  o.n = 1000000000000000;
  o.m = 4;
  o.debias = true;
  struct gpnn_risk_result s = {0};
  assert_ok(gpnn_risk_simulate(&s, &o, &err));
  assert_near(gpnn_risk_mse(&s, 0).value, 0.1 * (1 + 1.0 / 4), 1e-9);
  gpnn_risk_release(&s);
}

/* ---- scores -------------------------------------------------------------------------------- */

static void estimates_are_means_over_points(void **state)
{
  (void)state;
  double risk[] = {0, 0, 0, 0, 1, 2, 3, 6}, held[] = {1, 1, 2, 4}, log_variance[8], z2[8];
  for (size_t i = 0; i < 8; i++) {
    log_variance[i] = log(0.5);
    z2[i] = 0.5 * risk[i];
  }
  const struct gpnn_risk_result s = {.n_assumed = 2,
                                     .n_points = 4,
                                     .n_heldout = 2,
                                     .risk = risk,
                                     .mse = risk,
                                     .log_variance = log_variance,
                                     .z2 = z2,
                                     .heldout_z2 = held};
  struct gpnn_estimate e = gpnn_risk_of_mean(&s, 1);
  assert_close(e.value, 3, 1e-15);
  assert_close(e.se, sqrt(14.0 / 3 / 4), 1e-14);
  e = gpnn_risk_factor(&s, 1);
  assert_close(e.value, 3, 1e-15);
  assert_close(e.se, 1, 1e-15);
  assert_close(gpnn_risk_cal(&s, 1, 3).value, 0.5, 1e-15);
  double best = gpnn_risk_nll(&s, 1, 1.5).value;
  assert_close(best, 0.5 * (log(0.5 * 1.5) + 1 + log(8 * atan(1))), 1e-14);
  assert_true(best < gpnn_risk_nll(&s, 1, 1.4).value);
  assert_true(best < gpnn_risk_nll(&s, 1, 1.6).value);
}

static void a_stencil_is_centred_and_stays_where_parameters_may_be(void **state)
{
  (void)state;
  const struct gpnn_assumed_model at = {covariance_of("exp", 1, 0.9, 0.02), 0};
  struct gpnn_assumed_model stencil[GPNN_STENCIL];
  assert_true(gpnn_risk_stencil(&at, GPNN_RISK_KERNELSCALE, 0.1, stencil));
  assert_close(stencil[0].covariance.kernelscale, 0.7, 1e-15);
  assert_close(stencil[3].covariance.kernelscale, 1.1, 1e-15);
  assert_true(stencil[1].covariance.noise == 0.02);
  stencil[0].covariance.noise = 7;
  assert_false(gpnn_risk_stencil(&at, GPNN_RISK_NOISE, 0.01, stencil));
  assert_true(stencil[0].covariance.noise == 7);
  assert_true(gpnn_risk_stencil(&at, GPNN_RISK_COEFFICIENT, 0.01, stencil));
  assert_close(stencil[0].coefficient, -0.02, 1e-15);
}

/* ---- what must not matter ------------------------------------------------------------------ */

static void equal(const struct gpnn_risk_result *a, const struct gpnn_risk_result *b)
{
  size_t n = a->n_assumed * a->n_points * sizeof *a->risk;
  assert_memory_equal(a->risk, b->risk, n);
  assert_memory_equal(a->mse, b->mse, n);
  assert_memory_equal(a->log_variance, b->log_variance, n);
  assert_memory_equal(a->z2, b->z2, n);
  assert_memory_equal(a->heldout_z2, b->heldout_z2,
                      a->n_assumed * a->n_heldout * sizeof *a->heldout_z2);
}

static void any_number_of_threads_gives_the_same_bytes(void **state)
{
  (void)state;
  struct gpnn_assumed_model assumed[3];
  for (size_t a = 0; a < 3; a++) {
    assumed[a] = *other_parameters();
    assumed[a].covariance.noise += 0.1 * (double)a;
  }
  struct gpnn_risk_options o = small(3, assumed, 3);
  o.n_draws = 2;
  o.n_heldout = 17;
  for (int drawn = 0; drawn < 2; drawn++)
    for (int by_search = 0; by_search < 2; by_search++) {
      struct gpnn_risk_result one = {0}, more = {0};
      o.drawn = drawn == 1;
      o.by_search = by_search == 1;
      o.threads = 1;
      assert_ok(gpnn_risk_simulate(&one, &o, &err));
      for (o.threads = 2; o.threads <= 3; o.threads++) {
        assert_ok(gpnn_risk_simulate(&more, &o, &err));
        equal(&one, &more);
        gpnn_risk_release(&more);
      }
      gpnn_risk_release(&one);
    }
}

/* Nor does it matter how many other points there are. */
static void a_point_is_the_same_among_more(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(3, other_parameters(), 1);
  struct gpnn_risk_result few = {0}, many = {0};
  o.drawn = true;
  o.n_heldout = 5;
  assert_ok(gpnn_risk_simulate(&few, &o, &err));
  o.n_points *= 2;
  o.n_heldout = 9;
  assert_ok(gpnn_risk_simulate(&many, &o, &err));
  assert_memory_equal(few.risk, many.risk, few.n_points * sizeof *few.risk);
  assert_memory_equal(few.heldout_z2, many.heldout_z2, few.n_heldout * sizeof *few.heldout_z2);
  assert_true(few.heldout_z2[0] != few.z2[0]);
  gpnn_risk_release(&few);
  gpnn_risk_release(&many);
}

/* More than are held in memory at once. */
static void many_points_are_all_simulated(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(1, other_parameters(), 1);
  struct gpnn_risk_result few = {0}, many = {0};
  o.by_search = false;
  o.m = 2;
  o.n_points = 500;
  assert_ok(gpnn_risk_simulate(&few, &o, &err));
  o.n_points = 4500;
  assert_ok(gpnn_risk_simulate(&many, &o, &err));
  assert_memory_equal(few.risk, many.risk, few.n_points * sizeof *few.risk);
  for (size_t i = 0; i < o.n_points; i++) assert_true(many.risk[i] > 0 && many.z2[i] > 0);
  struct gpnn_estimate a = gpnn_risk_mse(&few, 0), b = gpnn_risk_mse(&many, 0);
  assert_near(a.value, b.value, 5 * a.se);
  gpnn_risk_release(&few);
  gpnn_risk_release(&many);
}

static void seeds_and_draws_differ(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(2, other_parameters(), 1);
  struct gpnn_risk_result one = {0}, two = {0}, other = {0};
  assert_ok(gpnn_risk_simulate(&one, &o, &err));
  o.n_draws = 2;
  assert_ok(gpnn_risk_simulate(&two, &o, &err));
  o.n_draws = 1;
  o.seed = 2;
  assert_ok(gpnn_risk_simulate(&other, &o, &err));
  for (size_t i = 0; i < o.n_points; i++) {
    assert_true(one.risk[i] != two.risk[i]);
    assert_true(one.risk[i] != other.risk[i]);
  }
  gpnn_risk_release(&one);
  gpnn_risk_release(&two);
  gpnn_risk_release(&other);
}

/* ---- progress and mistakes ----------------------------------------------------------------- */

static void count(void *context, size_t n)
{
  *(size_t *)context += n;
}

static void every_point_is_told(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(2, other_parameters(), 1);
  struct gpnn_risk_result s = {0};
  size_t n_told = 0;
  o.n_draws = 3;
  o.n_heldout = 11;
  o.progress = count;
  o.context = &n_told;
  assert_ok(gpnn_risk_simulate(&s, &o, &err));
  assert_int_equal(n_told, 3 * (o.n_points + 11));
  gpnn_risk_release(&s);
}

static void what_cannot_be_simulated_is_refused(void **state)
{
  (void)state;
  struct gpnn_risk_options o = small(3, other_parameters(), 1);
  struct gpnn_risk_result s = {0};
  o.actual.function = gpnn_function_by_name("waves");
  assert_fails(gpnn_risk_simulate(&s, &o, &err), GPNN_EINVAL,
               "waves has a multiple of 2 inputs, not 3");
  o = small(3, other_parameters(), 1);
  o.inputs.law = GPNN_INPUTS_DISK;
  assert_fails(gpnn_risk_simulate(&s, &o, &err), GPNN_EINVAL, "");
  o = small(3, other_parameters(), 1);
  o.inputs.law = GPNN_INPUTS_CUBE;
  o.by_search = false;
  assert_fails(gpnn_risk_simulate(&s, &o, &err), GPNN_EINVAL, "");
  o = small(3, other_parameters(), 1);
  o.m = 501;
  assert_fails(gpnn_risk_simulate(&s, &o, &err), GPNN_EINVAL, "");
  assert_null(s.risk);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(with_all_rows_and_the_right_parameters_mse_is_the_posterior_variance),
      cmocka_unit_test(the_risk_from_one_neighbour_is_its_formula),
      cmocka_unit_test(derivatives_are_those_of_the_formula_for_one_neighbour),
      cmocka_unit_test(averages_are_the_means_of_draws),
      cmocka_unit_test(averages_are_the_means_of_draws_about_a_known_function),
      cmocka_unit_test(averages_are_surer_than_draws),
      cmocka_unit_test(a_known_function_is_predicted_by_hand),
      cmocka_unit_test(limits_are_met_at_ten_to_the_fifteen),
      cmocka_unit_test(without_bias_the_limit_of_mse_is_exact),
      cmocka_unit_test(estimates_are_means_over_points),
      cmocka_unit_test(a_stencil_is_centred_and_stays_where_parameters_may_be),
      cmocka_unit_test(any_number_of_threads_gives_the_same_bytes),
      cmocka_unit_test(a_point_is_the_same_among_more),
      cmocka_unit_test(many_points_are_all_simulated),
      cmocka_unit_test(seeds_and_draws_differ),
      cmocka_unit_test(every_point_is_told),
      cmocka_unit_test(what_cannot_be_simulated_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
