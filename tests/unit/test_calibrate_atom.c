/* The calibration of an atom: what is estimated, and when it is used. */
#include "assess/calibrate_private.h"
#include "likelihood/atom.h"
#include "random.h"
#include "stats/distributions/student.h"

enum { N = 3000 };

/* Rows that are at 0 with a probability that the share tells, and otherwise around their mean. */
struct rows {
  double y[N], mean[N], variance[N], misfit[N], nearest[N], mean_variance[N], share[N];
  bool is_at[N];
  struct gpnn_scale_rows view;
  struct gpnn_parameters params;
  struct gpnn_atom atom;
  struct gpnn_calibrate_atom_rows all;
  double z[N];
  struct gpnn_calibrate_report report;
};

static double draw_student(struct gpnn_rng *rng, int degrees)
{
  double square = 0;
  for (int k = 0; k < degrees; k++) square += pow(gpnn_rng_normal(rng), 2);
  return gpnn_rng_normal(rng) / sqrt(square / degrees);
}

/* The probability of a row is that of 'truth'; the scale of others is sqrt(0.5), their mean the one
 * that the power of 'truth' makes of what is predicted. */
static void draw(struct rows *r, uint64_t seed, size_t n, const struct gpnn_atom *truth)
{
  struct gpnn_rng rng = seeded(seed);
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < n; i++) {
    r->share[i] = gpnn_atom_share(32, gpnn_rng_below(&rng, 33));
    r->mean[i] = 1 + gpnn_rng_normal(&rng);
    r->variance[i] = 0.3;
    r->misfit[i] = exp(gpnn_rng_normal(&rng));
    r->nearest[i] = 1;
    double p = gpnn_atom_probability(truth, r->share[i]);
    r->is_at[i] = gpnn_rng_uniform(&rng) < p;
    double location = gpnn_atom_location(truth, 0, r->mean[i], p);
    double other = location + sqrt(0.5) * draw_student(&rng, 8);
    r->y[i] = r->is_at[i] ? 0 : other;
  }
  r->view = (struct gpnn_scale_rows){.n = n,
                                     .y = r->y,
                                     .mean = r->mean,
                                     .variance = r->variance,
                                     .mean_variance = r->mean_variance,
                                     .misfit = r->misfit,
                                     .nearest = r->nearest,
                                     .noise = 0.2,
                                     .cluster_rows = 1};
  r->params.likelihood = GPNN_LIKELIHOOD_STUDENT;
  r->params.covariance.noise = 0.2;
  r->atom = (struct gpnn_atom){.value = 12, .share = 0.5, .slope = 1};
  r->all = (struct gpnn_calibrate_atom_rows){&r->view, &r->params, &r->atom, 0, r->share, r->is_at};
}

/* As gpnn_calibrate_scale() does, after the law of all rows. */
static void calibrate(struct rows *r)
{
  r->report.z = r->z;
  r->report.n_rows = r->view.n;
  for (size_t i = 0; i < r->view.n; i++) r->z[i] = -7;
  assert_ok(gpnn_scale_fit(&r->view, r->params.likelihood, true, &r->report.law, &err));
  assert_ok(gpnn_calibrate_atom(&r->all, &r->report, &err));
}

/* The z that an interval between quantiles of opposite probabilities needs, from the distribution
 * function of the law of other numbers alone. */
static double half_width(const struct rows *r, size_t i)
{
  const struct gpnn_scale_law *law = &r->report.law;
  double p = gpnn_atom_probability(&r->report.atom, r->share[i]), nu = law->degrees;
  double location = gpnn_atom_location(&r->report.atom, 0, r->mean[i], p);
  double t = (r->y[i] - location) / sqrt(law->scale.factor * 0.5), tail;
  double below = (1 - p) * gpnn_student_cdf(t, nu), above = (1 - p) * gpnn_student_cdf(-t, nu);
  if (r->is_at[i])
    tail = fmin(below, above) + p; /* the interval's ends may lie inside the step */
  else if (r->y[i] > 0)
    tail = fmin(below + p, above);
  else
    tail = fmin(below, above + p);
  return -gpnn_student_quantile(fmin(tail, 0.5), nu) * sqrt((nu - 2) / nu);
}

static void a_mixture_gets_the_numbers_it_was_drawn_from(void **state)
{
  (void)state;
  static struct rows r;
  for (size_t k = 0; k < 2; k++) {
    const struct gpnn_atom truth = {
        .share = 0.5, .intercept = 0.3, .slope = 1.4, .power = k == 0 ? 0 : 1};
    draw(&r, 4 + k, N, &truth);
    calibrate(&r);
    assert_true(r.report.atom.value == 12 && r.report.atom.share == 0.5);
    assert_near(r.report.atom.intercept, 0.3, 0.2);
    assert_near(r.report.atom.slope, 1.4, 0.2);
    assert_true(r.report.atom.power == truth.power);
    assert_near(r.report.law.scale.factor, 1, 0.12); /* of a variance of 0.5 */
    assert_true(r.report.alpha == r.report.law.scale.factor);
    assert_true(r.report.law.degrees > 5 && r.report.law.degrees < 16);
    assert_true(r.report.standard_error > 0 && r.report.standard_error < 0.1);
    for (size_t i = 0; i < N; i++) assert_near(r.z[i], half_width(&r, i), 1e-7);
  }
}

/* The law of the rows that are not at the atom is what these alone give. */
static void the_law_is_that_of_the_other_rows(void **state)
{
  (void)state;
  static struct rows r, others;
  const struct gpnn_atom truth = {.share = 0.5, .slope = 1};
  draw(&r, 6, N, &truth);
  calibrate(&r);
  draw(&others, 6, N, &truth);
  size_t n = 0;
  for (size_t i = 0; i < N; i++) {
    if (others.is_at[i]) continue;
    double p = gpnn_atom_probability(&r.report.atom, others.share[i]);
    others.mean[n] = gpnn_atom_location(&r.report.atom, 0, others.mean[i], p);
    others.y[n] = others.y[i];
    others.misfit[n++] = others.misfit[i];
  }
  struct gpnn_scale_law law;
  others.view.n = n;
  assert_ok(gpnn_scale_fit(&others.view, GPNN_LIKELIHOOD_STUDENT, true, &law, &err));
  assert_true(law.scale.factor == r.report.law.scale.factor);
  assert_true(law.degrees == r.report.law.degrees);
}

static void assert_unchanged(struct rows *r)
{
  struct gpnn_scale_law law;
  calibrate(r);
  assert_ok(gpnn_scale_fit(&r->view, r->params.likelihood, true, &law, &err));
  assert_true(r->report.atom.share == 0 && r->z[0] == -7);
  assert_true(r->report.law.scale.factor == law.scale.factor);
}

/* Moves all rows to the atom but 'n' of them, from 'begin' on, 'apart' from each other. */
static void leave(struct rows *r, size_t n, size_t begin, size_t apart)
{
  for (size_t i = 0; i < N; i++) {
    size_t k = i < begin ? n : (i - begin) / apart;
    r->is_at[i] = !(k < n && (i - begin) % apart == 0);
    r->mean[i] = r->is_at[i] ? 0.02 : 0.1;
    r->y[i] = r->is_at[i] ? 0 : 1 + 0.1 * (double)k;
  }
}

static void too_few_rows_on_either_side_have_none(void **state)
{
  (void)state;
  static struct rows r;
  const struct gpnn_atom rare = {.share = 0.5, .intercept = -6, .slope = 0};
  draw(&r, 7, N, &rare);
  assert_unchanged(&r);
  leave(&r, 1, 100, 1);
  assert_unchanged(&r);
  leave(&r, 3, 100, 1); /* all in one fold, without which there is no law of others */
  assert_unchanged(&r);
}

/* Without the atom a law of all errors either misses the events or is too wide everywhere else. */
static void events_may_be_as_rare_as_two(void **state)
{
  (void)state;
  static struct rows r;
  const struct gpnn_atom truth = {.share = 0.5, .slope = 0};
  for (size_t n = 2; n <= 6; n += 2) {
    draw(&r, 8, N, &truth);
    leave(&r, n, 100, 700 / n + 300);
    calibrate(&r);
    double p = gpnn_atom_probability(&r.report.atom, 0.5);
    assert_true(r.report.atom.share == 0.5 && p > 0.98 && p < 1);
    assert_true(r.report.law.scale.factor > 0.05 && r.report.law.scale.factor < 20);
    assert_true(r.report.law.degrees > 3 && r.report.law.degrees < 30);
  }
}

/* Predictions that know which rows are at it need no atom whose share says nothing. */
static void an_atom_that_is_predicted_anyway_does_not_pay(void **state)
{
  (void)state;
  static struct rows r;
  const struct gpnn_atom truth = {.share = 0.5};
  draw(&r, 9, N, &truth);
  r.params.likelihood = GPNN_LIKELIHOOD_LOCAL;
  struct gpnn_rng rng = seeded(10);
  for (size_t i = 0; i < N; i++) {
    r.share[i] = 0.5;
    r.mean[i] = r.is_at[i] ? 0 : 20;
    r.misfit[i] = 1;
    r.y[i] = r.is_at[i] ? 0 : 20 + 1e-4 * gpnn_rng_normal(&rng);
  }
  assert_unchanged(&r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_mixture_gets_the_numbers_it_was_drawn_from),
      cmocka_unit_test(the_law_is_that_of_the_other_rows),
      cmocka_unit_test(too_few_rows_on_either_side_have_none),
      cmocka_unit_test(events_may_be_as_rare_as_two),
      cmocka_unit_test(an_atom_that_is_predicted_anyway_does_not_pay),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
