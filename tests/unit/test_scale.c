/* The scale of every row: its features, its likelihood, its estimation. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "likelihood/head.h"
#include "likelihood/scale.h"
#include "stats/distributions/student.h"
#include "unit.h"

enum { N = 3000 };

/* Rows whose errors follow a law with known numbers. */
struct rows {
  double y[N], mean[N], variance[N], mean_variance[N], misfit[N], nearest[N], known[N];
  struct gpnn_scale_rows view;
};

/* Student's t with a whole number of degrees of freedom. */
static double draw_student(struct gpnn_rng *rng, int degrees)
{
  double square = 0;
  for (int k = 0; k < degrees; k++) square += pow(gpnn_rng_normal(rng), 2);
  return gpnn_rng_normal(rng) / sqrt(square / degrees);
}

/* Draws rows with scale^2 = factor * misfit^power * (variance + noise) + known noise. */
static void draw(struct rows *r, uint64_t seed, double factor, double power, int degrees)
{
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, seed, GPNN_RNG_POINT);
  memset(r, 0, sizeof *r);
  for (size_t i = 0; i < N; i++) {
    r->mean[i] = gpnn_rng_normal(&rng);
    r->variance[i] = 0.1 + 0.4 * gpnn_rng_uniform(&rng);
    r->misfit[i] = exp(gpnn_rng_normal(&rng));
    r->nearest[i] = exp(gpnn_rng_normal(&rng));
    double square = factor * pow(r->misfit[i], power) * (r->variance[i] + 0.2);
    r->y[i] = r->mean[i] + sqrt(square) * draw_student(&rng, degrees);
  }
  r->view = (struct gpnn_scale_rows){.n = N,
                                     .y = r->y,
                                     .mean = r->mean,
                                     .variance = r->variance,
                                     .misfit = r->misfit,
                                     .nearest = r->nearest,
                                     .noise = 0.2,
                                     .cluster_rows = 1};
}

static void the_scale_of_a_row_is_the_formula(void **state)
{
  (void)state;
  struct gpnn_parameters params = {.likelihood = GPNN_LIKELIHOOD_LOCAL,
                                   .covariance.noise = 0.2,
                                   .degrees = 5,
                                   .scale.factor = 0.7};
  params.scale.term[GPNN_SCALE_MISFIT] = (struct gpnn_scale_term){0.9, -2, 2};
  params.scale.term[GPNN_SCALE_NEAREST] = (struct gpnn_scale_term){0.3, -2, 1};
  params.scale.term[GPNN_SCALE_SHARE] = (struct gpnn_scale_term){-0.4, -9, 0};
  params.scale.term[GPNN_SCALE_MEAN] = (struct gpnn_scale_term){0.2, -1, 1};
  params.scale.term[GPNN_SCALE_MEAN_SQUARE] = (struct gpnn_scale_term){0.1, 0, 4};
  const struct gpnn_latent_row row = {
      .mean = -1.5, .variance = 0.5, .mean_variance = 0.1, .misfit = 3, .nearest = 20};
  const struct gpnn_head head = gpnn_head_of(&params);
  double exponent = 0.9 * log(3) + 0.3 * 1 - 0.4 * log(0.4 / 0.6) + 0.2 * -1 + 0.1 * 2.25;
  double factor = 0.7 * exp(exponent), spread = 5.0 / 3;
  assert_close(gpnn_head_observe(&head, &row, 0.05).variance, spread * (factor * 0.6 + 0.1 + 0.05),
               1e-14);
  assert_close(gpnn_head_latent(&head, &row).variance, spread * (factor * 0.4 + 0.1), 1e-14);
  assert_true(gpnn_head_observe(&head, &row, 0).mean == -1.5);
  assert_true(gpnn_head_needs_row(&head));
}

static void a_factor_below_one_is_not_trusted_far_away(void **state)
{
  (void)state;
  struct gpnn_parameters params = {.likelihood = GPNN_LIKELIHOOD_STUDENT,
                                   .calibration = {.has_distance = true, .distance[3] = 0.5}};
  const struct gpnn_head head = gpnn_head_of(&params);
  struct gpnn_latent_row row = {.variance = 2, .misfit = 1, .nearest = 0.5};
  for (int k = 0; k < 2; k++) {
    double factor = params.scale.factor = k == 0 ? 0.09 : 4;
    row.nearest = 0.5;
    assert_close(gpnn_head_observe(&head, &row, 0).variance, 2 * factor, 1e-14);
    row.nearest = 1;
    assert_close(gpnn_head_observe(&head, &row, 0).variance, k == 0 ? 2 * 0.3 : 8, 1e-14);
    row.nearest = INFINITY;
    assert_close(gpnn_head_observe(&head, &row, 0).variance, k == 0 ? 2 : 8, 1e-14);
  }
}

static void features_are_finite_where_neighbours_agree_exactly_or_are_missing(void **state)
{
  (void)state;
  struct gpnn_scale scale = {.factor = 1};
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++)
    scale.term[j] = (struct gpnn_scale_term){1, -20, 20};
  const struct gpnn_latent_row rows[] = {{.misfit = 0, .nearest = 0},
                                         {.misfit = INFINITY, .nearest = INFINITY},
                                         {.mean = 1e300, .variance = 1, .misfit = 1e300}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    assert_true(gpnn_scale_factor(&scale, &rows[i], 0) > 0 &&
                isfinite(gpnn_scale_factor(&scale, &rows[i], 0)));
}

static void an_estimate_recovers_the_law_that_errors_follow(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  assert_non_null(r);
  for (uint64_t seed = 1; seed <= 3; seed++) {
    draw(r, seed, 0.5, 0.8, 4);
    assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
    assert_near(log(law.scale.factor), log(0.5), 0.15);
    assert_near(law.scale.term[GPNN_SCALE_MISFIT].coefficient, 0.8, 0.1);
    assert_near(law.degrees, 4, 0.8);
    double se;
    assert_ok(gpnn_scale_standard_error(&r->view, &law, &se, &err));
    assert_true(se > 0.02 && se < 0.1); /* about sqrt(2 / N) times what tails cost */
  }
  free(r);
}

/* What the estimate minimises, of 'n' rows: -log density, and -log prior (gpnn-methods(7), equation
 * 8.14).  'u' has log S, log(nu - 2) and the power of the misfit. */
static double penalised_nll(const struct rows *r, size_t n, const double *u)
{
  double degrees = 2 + exp(u[1]), off = (u[1] - log(6)) / 1.5;
  double sum = 0.5 * (u[0] * u[0] + off * off + u[2] * u[2]);
  for (size_t i = 0; i < n; i++) {
    double model = r->variance[i] - r->mean_variance[i] + 0.2;
    double square = exp(u[0]) * pow(r->misfit[i], u[2]) * model + r->mean_variance[i] + r->known[i];
    sum += gpnn_student_nll(r->y[i] - r->mean[i], sqrt(square), degrees);
  }
  return sum;
}

/* By finite differences of that formula. */
static void an_estimate_is_where_the_posterior_is_stationary(void **state)
{
  (void)state;
  enum { FEW = 150, COORDINATES = 3 }; /* too few rows for a correction of coverage */
  const double h = 1e-3;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  assert_non_null(r);
  for (int degrees = 3; degrees <= 30; degrees += 9) {
    draw(r, 11, 0.5, 0.7, degrees);
    for (size_t i = 0; i < FEW; i++) r->mean_variance[i] = 0.3 * r->variance[i];
    for (size_t i = 0; i < FEW; i++) r->known[i] = i % 3 == 0 ? 0.2 : 0;
    r->view.n = FEW;
    r->view.mean_variance = r->mean_variance;
    r->view.known_noise = r->known;
    assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, false, &law, &err));
    const double u[COORDINATES] = {log(law.scale.factor), log(law.degrees - 2),
                                   law.scale.term[GPNN_SCALE_MISFIT].coefficient};
    for (int j = 0; j < COORDINATES; j++) {
      double more[COORDINATES], less[COORDINATES];
      memcpy(more, u, sizeof u);
      memcpy(less, u, sizeof u);
      more[j] += h;
      less[j] -= h;
      double up = penalised_nll(r, FEW, more), down = penalised_nll(r, FEW, less);
      double slope = (up - down) / (2 * h);
      double curvature = (up + down - 2 * penalised_nll(r, FEW, u)) / (h * h);
      assert_true(curvature > 0);
      assert_near(slope / curvature, 0, 0.01); /* how far away the minimum is */
    }
  }
  free(r);
}

/* The features that say nothing about the errors are left out, and those that do are used. */
static void other_features_are_used_only_if_they_pay(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  assert_non_null(r);
  draw(r, 1, 1, 1, 6);
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
  for (int j = GPNN_SCALE_MISFIT + 1; j < GPNN_SCALE_FEATURES; j++)
    assert_true(law.scale.term[j].coefficient == 0);
  for (size_t i = 0; i < N; i++) /* scale^2 gets a factor nearest */
    r->y[i] = r->mean[i] + (r->y[i] - r->mean[i]) * sqrt(r->nearest[i]);
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
  assert_near(law.scale.term[GPNN_SCALE_NEAREST].coefficient, 1, 0.1);
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_STUDENT, true, &law, &err));
  for (int j = 0; j < GPNN_SCALE_FEATURES; j++) assert_true(law.scale.term[j].coefficient == 0);
  free(r);
}

/* Features that no row had together, each within its range, do not add up to a scale that no row
 * had. */
static void the_sum_of_terms_stays_in_its_range(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  double least = INFINITY, most = 0;
  assert_non_null(r);
  draw(r, 3, 1, 1, 6);
  for (size_t i = 0; i < N; i++) { /* rows far from others have small means */
    r->y[i] -= r->mean[i];
    r->mean[i] = -log(r->nearest[i]) + 0.5 * r->mean[i];
    r->y[i] = r->mean[i] + r->y[i] * exp(0.6 * r->mean[i]) * r->nearest[i];
  }
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
  assert_near(law.scale.term[GPNN_SCALE_MEAN].coefficient, 1.2, 0.2);
  assert_near(law.scale.term[GPNN_SCALE_NEAREST].coefficient, 2, 0.2);
  for (size_t i = 0; i < N; i++) {
    const struct gpnn_latent_row row = {.mean = r->mean[i],
                                        .variance = r->variance[i],
                                        .misfit = r->misfit[i],
                                        .nearest = r->nearest[i]};
    least = fmin(least, gpnn_scale_factor(&law.scale, &row, 0.2));
    most = fmax(most, gpnn_scale_factor(&law.scale, &row, 0.2));
  }
  for (int sign = -1; sign <= 1; sign += 2) {
    const struct gpnn_latent_row beyond = {
        .mean = 4 * sign, .variance = 0.3, .misfit = exp(4 * sign), .nearest = exp(4 * sign)};
    double factor = gpnn_scale_factor(&law.scale, &beyond, 0.2);
    assert_close(factor, sign < 0 ? least : most, 1e-9);
  }
  free(r);
}

/* Held in the middle of their ranges, terms leave the scale as it is where they are there. */
static void holding_responses_keeps_the_range_of_the_sum(void **state)
{
  (void)state;
  struct gpnn_scale scale = {.factor = 2, .low = -1, .high = 1.5};
  scale.term[GPNN_SCALE_MISFIT] = (struct gpnn_scale_term){1, -1, 3};
  scale.term[GPNN_SCALE_NEAREST] = (struct gpnn_scale_term){1, -5, 5};
  struct gpnn_scale held = scale;
  gpnn_scale_hold_responses(&held);
  for (double nearest = -4; nearest <= 4; nearest++) {
    const struct gpnn_latent_row row = {.misfit = exp(1), .nearest = exp(nearest), .variance = 1};
    assert_close(gpnn_scale_factor(&held, &row, 0), gpnn_scale_factor(&scale, &row, 0), 1e-12);
  }
}

/* Known noise stays what it is, whatever the misfit: with much of it the factor is found all the
 * same. */
static void known_noise_is_outside_the_factor(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_rng rng;
  struct gpnn_scale_law law;
  assert_non_null(r);
  draw(r, 4, 1, 1, 200);
  gpnn_rng_init(&rng, 9, GPNN_RNG_POINT);
  for (size_t i = 0; i < N; i++) {
    r->known[i] = 0.3;
    r->y[i] += sqrt(0.3) * gpnn_rng_normal(&rng);
  }
  r->view.known_noise = r->known;
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, false, &law, &err));
  assert_near(log(law.scale.factor), 0, 0.15);
  assert_near(law.scale.term[GPNN_SCALE_MISFIT].coefficient, 1, 0.15);
  free(r);
}

/* A fifth of the errors are nothing: intervals still cover what they promise. */
static void intervals_cover_their_share_where_many_errors_are_nothing(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  size_t inside[2] = {0, 0};
  assert_non_null(r);
  draw(r, 5, 1, 0, 3);
  for (size_t i = 0; i < N; i += 5) r->y[i] = r->mean[i] + 1e-9 * (r->y[i] - r->mean[i]);
  assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_STUDENT, false, &law, &err));
  for (size_t i = 0; i < N; i++) {
    double scale = sqrt(law.scale.factor * (r->variance[i] + 0.2));
    for (int k = 0; k < 2; k++)
      inside[k] += fabs(r->y[i] - r->mean[i]) <=
                   scale * gpnn_student_half_width(k == 0 ? 0.5 : 0.95, law.degrees);
  }
  assert_near((double)inside[0] / N, 0.5, 0.03);
  assert_near((double)inside[1] / N, 0.95, 0.015);
  free(r);
}

/* One error in fifty is ten times as large as the others, and the 95 % interval sees none of them:
 * tails are heavy all the same, so that other rows of the kind are no surprise. */
static void tails_are_those_of_the_few_errors_beyond_the_intervals(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  assert_non_null(r);
  for (uint64_t seed = 1; seed <= 5; seed++) {
    double loss = 0;
    size_t inside = 0;
    draw(r, seed, 1, 0, 200);
    for (size_t i = 0; i < N; i += 50) r->y[i] = r->mean[i] + 10 * (r->y[i] - r->mean[i]);
    r->view.n = 1000;
    assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
    assert_true(law.degrees < 6);
    for (size_t i = r->view.n; i < N; i++) {
      const struct gpnn_latent_row row = {.mean = r->mean[i],
                                          .variance = r->variance[i],
                                          .misfit = r->misfit[i],
                                          .nearest = r->nearest[i]};
      double factor = gpnn_scale_factor(&law.scale, &row, 0.2);
      double error = r->y[i] - r->mean[i], scale = sqrt(factor * (r->variance[i] + 0.2));
      loss += (gpnn_student_nll(error, scale, law.degrees) -
               gpnn_student_nll(error, sqrt(r->variance[i] + 0.2), 1000)) /
              (double)(N - r->view.n);
      inside += fabs(error) <= scale * gpnn_student_half_width(0.95, law.degrees);
    }
    assert_true(loss < -0.4);
    assert_near((double)inside / (double)(N - r->view.n), 0.95, 0.03);
  }
  free(r);
}

/* Losses of rows kept out are those of laws estimated from the other fold. */
static void losses_come_from_other_rows(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  double *loss = malloc(N * sizeof *loss);
  assert_non_null(r);
  assert_non_null(loss);
  draw(r, 6, 2, 0.5, 5);
  assert_ok(
      gpnn_scale_cross_losses(&r->view, GPNN_LIKELIHOOD_STUDENT, false, 2, 0, loss, NULL, &err));
  struct gpnn_scale_rows second = r->view; /* the law of the first half's losses */
  second.n = N - N / 2;
  second.y += N / 2, second.mean += N / 2, second.variance += N / 2, second.misfit += N / 2;
  second.nearest = NULL;
  assert_ok(gpnn_scale_fit(&second, GPNN_LIKELIHOOD_STUDENT, false, &law, &err));
  for (size_t i = 0; i < N / 2; i += 100) {
    double scale = sqrt(law.scale.factor * (r->variance[i] + 0.2));
    assert_near(loss[i], gpnn_student_nll(r->y[i] - r->mean[i], scale, law.degrees), 1e-6);
  }
  free(loss);
  free(r);
}

/* A few rows are drawn to the usual values, and one row is no failure. */
static void few_rows_give_a_law_near_the_usual_one(void **state)
{
  (void)state;
  struct rows *r = malloc(sizeof *r);
  struct gpnn_scale_law law;
  double loss[3], se;
  assert_non_null(r);
  draw(r, 7, 1, 1, 5);
  for (size_t n = 1; n <= 3; n++) {
    r->view.n = n;
    assert_ok(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err));
    assert_true(law.scale.factor > 0.05 && law.scale.factor < 20);
    assert_true(law.degrees > 2.05 && law.degrees < 100);
    assert_ok(
        gpnn_scale_cross_losses(&r->view, GPNN_LIKELIHOOD_LOCAL, false, 5, 0, loss, NULL, &err));
    for (size_t i = 0; i < n; i++) assert_true(isfinite(loss[i]));
    assert_ok(gpnn_scale_standard_error(&r->view, &law, &se, &err));
    assert_true(n > 1 ? isfinite(se) : isinf(se));
  }
  r->y[0] = INFINITY;
  assert_fails(gpnn_scale_fit(&r->view, GPNN_LIKELIHOOD_LOCAL, true, &law, &err), GPNN_ENUMERIC,
               "the error of a row is not finite");
  free(r);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_scale_of_a_row_is_the_formula),
      cmocka_unit_test(a_factor_below_one_is_not_trusted_far_away),
      cmocka_unit_test(features_are_finite_where_neighbours_agree_exactly_or_are_missing),
      cmocka_unit_test(an_estimate_recovers_the_law_that_errors_follow),
      cmocka_unit_test(an_estimate_is_where_the_posterior_is_stationary),
      cmocka_unit_test(other_features_are_used_only_if_they_pay),
      cmocka_unit_test(the_sum_of_terms_stays_in_its_range),
      cmocka_unit_test(holding_responses_keeps_the_range_of_the_sum),
      cmocka_unit_test(known_noise_is_outside_the_factor),
      cmocka_unit_test(intervals_cover_their_share_where_many_errors_are_nothing),
      cmocka_unit_test(tails_are_those_of_the_few_errors_beyond_the_intervals),
      cmocka_unit_test(losses_come_from_other_rows),
      cmocka_unit_test(few_rows_give_a_law_near_the_usual_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
