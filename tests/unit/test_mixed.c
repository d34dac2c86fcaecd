#include "sparse_rows.h"
#include "unit.h"

#include "linalg/blas_threads.h"
#include "vecchia/mixed.h"

/* A made-up table: a constant and inputs, and levels drawn at random or in turn. */
struct table {
  struct built_rows rows;
  double *target;
  struct gpnn_mixed_factor *factor;
  struct gpnn_mixed_data data;
};

static struct table begin(size_t n, size_t n_fixed, size_t n_factors,
                          const struct gpnn_mixed_factor *factor)
{
  struct table table = {0}, *t = &table;
  size_t q = n_fixed;
  t->factor = gpnn_alloc(n_factors, 1, sizeof *t->factor);
  assert_non_null(t->factor);
  for (size_t g = 0; g < n_factors; g++) t->factor[g] = factor[g];
  for (size_t g = 0; g < n_factors; g++) q += t->factor[g].n_levels * t->factor[g].width;
  t->rows = rows_begin(n, q, n_fixed + 2 * n_factors);
  t->target = gpnn_alloc(n, 1, sizeof *t->target);
  assert_non_null(t->target);
  t->data.n_fixed = n_fixed;
  t->data.n_factors = n_factors;
  return table;
}

static void end(struct table *t)
{
  t->data.rows = rows_view(&t->rows);
  t->data.target = t->target;
  t->data.factor = t->factor;
}

static void release(struct table *t)
{
  rows_release(&t->rows);
  free(t->target);
  free(t->factor);
}

/* Puts a level of factor g, with a slope of 'slope', into the row. */
static void put_level(struct table *t, size_t g, size_t level, double slope)
{
  size_t column = t->data.n_fixed;
  for (size_t k = 0; k < g; k++) column += t->factor[k].n_levels * t->factor[k].width;
  column += level * t->factor[g].width;
  rows_put(&t->rows, column, 1);
  if (t->factor[g].width == 2) rows_put(&t->rows, column + 1, slope);
}

/* n rows with effects of the given relative covariances (as in struct gpnn_mixed) and residuals of
 * variance 1; the second fixed effect is the slopes' input, the third a copy of it. */
static struct table drawn(size_t n, size_t n_fixed, size_t n_factors,
                          const struct gpnn_mixed_factor *factor, const double *covariance,
                          uint64_t seed)
{
  struct table t = begin(n, n_fixed, n_factors, factor);
  struct gpnn_rng rng = seeded(seed);
  double *b = normal_rows(t.rows.q, 1, seed + 1000), *level = b + n_fixed;
  for (size_t g = 0; g < n_factors; g++) {
    size_t width = factor[g].width;
    for (size_t k = 0; k < factor[g].n_levels; k++, level += width) {
      double first = level[0], sd = sqrt(covariance[0]);
      level[0] = sd * first;
      if (width == 2)
        level[1] = covariance[1] / sd * first +
                   sqrt(covariance[3] - covariance[1] * covariance[1] / covariance[0]) * level[1];
    }
    covariance += width * width;
  }
  for (size_t i = 0; i < n; i++) {
    double x = gpnn_rng_normal(&rng);
    for (size_t j = 0; j < n_fixed; j++) rows_put(&t.rows, j, j == 0 ? 1 : x);
    for (size_t g = 0; g < n_factors; g++)
      put_level(&t, g, gpnn_rng_below(&rng, factor[g].n_levels), x);
    rows_end_row(&t.rows);
    t.target[i] = gpnn_rng_normal(&rng);
    for (size_t p = t.rows.start[i]; p < t.rows.start[i + 1]; p++)
      t.target[i] += t.rows.value[p] * b[t.rows.column[p]];
  }
  free(b);
  end(&t);
  return t;
}

/* ---- the dense marginal process ---- */

/* With V = I + R D R' all that is known of b, from the rows' side. */
struct dense {
  size_t n, q;
  double *r, *d, *effects, *covariance; /* n by q; q by q; q; q by q */
  double scale, deviance;
};

static double *dense_prior(const struct gpnn_mixed_data *data, const double *covariance, size_t q)
{
  double *d = gpnn_alloc(q, q, sizeof *d);
  size_t at = 0;
  assert_non_null(d);
  for (; at < data->n_fixed; at++) d[at * q + at] = 1e4;
  for (size_t g = 0; g < data->n_factors; g++) {
    size_t w = data->factor[g].width;
    for (size_t k = 0; k < data->factor[g].n_levels; k++, at += w)
      for (size_t i = 0; i < w; i++)
        for (size_t j = 0; j < w; j++) d[(at + i) * q + at + j] = covariance[i * w + j];
    covariance += w * w;
  }
  return d;
}

/* c = a b, or a' b, of row-major matrices; c is n by m. */
static double *product(size_t n, size_t k, size_t m, const double *a, bool transposed,
                       const double *b)
{
  double *c = gpnn_alloc(n, m, sizeof *c);
  assert_non_null(c);
  for (size_t i = 0; i < n; i++)
    for (size_t l = 0; l < k; l++) {
      double left = transposed ? a[l * n + i] : a[i * k + l];
      for (size_t j = 0; j < m && left != 0; j++) c[i * m + j] += left * b[l * m + j];
    }
  return c;
}

static struct dense dense_of(const struct table *t, const double *covariance, double scale)
{
  const double two_pi = 6.283185307179586476925;
  size_t n = t->rows.n, q = t->rows.q, p = t->data.n_fixed;
  struct dense m = {.n = n, .q = q, .r = rows_dense(&t->rows)};
  m.d = dense_prior(&t->data, covariance, q);
  double *rd = product(n, q, q, m.r, false, m.d), *v = gpnn_alloc(n, n, sizeof *v);
  assert_non_null(v);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      v[i * n + j] = i == j;
      for (size_t k = 0; k < q; k++) v[i * n + j] += rd[i * q + k] * m.r[j * q + k];
    }
  double determinant = dense_invert(n, v);
  double *weighted = product(n, n, 1, v, false, t->target), sum = 0;
  m.effects = product(q, n, 1, rd, true, weighted);
  double *v_rd = product(n, n, q, v, false, rd);
  m.covariance = product(q, n, q, rd, true, v_rd);
  for (size_t i = 0; i < q * q; i++) m.covariance[i] = m.d[i] - m.covariance[i];
  for (size_t i = 0; i < n; i++) sum += t->target[i] * weighted[i];
  m.scale = scale > 0 ? scale : sum / (double)(n - p);
  m.deviance =
      determinant - (double)p * log(1e4) + (double)(n - p) * log(two_pi * m.scale) + sum / m.scale;
  free(rd);
  free(v);
  free(weighted);
  free(v_rd);
  return m;
}

static void dense_free(struct dense *m)
{
  free(m->r);
  free(m->d);
  free(m->effects);
  free(m->covariance);
}

static const struct gpnn_mixed_factor two[] = {{"school", 20, 1}, {"pupil", 15, 2}};
static const double two_covariances[] = {0.7, 0.6, 0.2, 0.2, 0.3};

static void everything_given_covariances_is_that_of_the_dense_process(void **state)
{
  (void)state;
  const double scales[] = {0, 1.7};
  for (size_t n_fixed = 0; n_fixed <= 3; n_fixed++) /* the third is collinear */
    for (size_t k = 0; k < 2; k++) {
      struct table t = drawn(150, n_fixed, 2, two, two_covariances, 21);
      struct dense m = dense_of(&t, two_covariances, scales[k]);
      struct gpnn_mixed mixed = {0};
      assert_ok(gpnn_mixed_solve(&t.data, two_covariances, scales[k], &mixed, &err));
      assert_int_equal(mixed.n_effects, m.q);
      assert_close(mixed.scale, m.scale, 1e-8);
      assert_close(mixed.deviance, m.deviance, 1e-8);
      double *scratch = gpnn_alloc(gpnn_sparse_factor_scratch(&mixed.factor), 1, sizeof *scratch);
      for (size_t i = 0; i < m.q; i++) {
        uint32_t columns[] = {(uint32_t)i, (uint32_t)(i * 7 % m.q)};
        double u[] = {1, -0.5};
        const double *row = m.covariance + i * m.q;
        double form = row[i] - row[columns[1]] + m.covariance[columns[1] * (m.q + 1)] / 4;
        assert_near(mixed.effects[i], m.effects[i], 1e-8 * (1 + fabs(m.effects[i])));
        /* What is left of a prior of 1e4 has lost digits. */
        double lost = 1e-10 * (m.d[i * (m.q + 1)] + m.d[columns[1] * (m.q + 1)]);
        assert_near(gpnn_sparse_factor_form(&mixed.factor, 2, columns, u, scratch), form,
                    1e-8 * (0.01 + form) + lost);
      }
      free(scratch);
      dense_free(&m);
      gpnn_mixed_release(&mixed);
      release(&t);
    }
}

static void what_is_left_out_is_what_other_rows_know(void **state)
{
  (void)state;
  enum { N = 60 };
  struct table t = drawn(N, 2, 2, two, two_covariances, 22);
  struct gpnn_mixed all = {0};
  double leverage[N], contribution[N];
  assert_ok(gpnn_mixed_solve(&t.data, two_covariances, 1, &all, &err));
  gpnn_mixed_left_out(&t.data, &all, leverage, contribution);
  for (size_t out = 0; out < N; out++) {
    struct table rest = begin(N - 1, 2, 2, two);
    struct gpnn_mixed without = {0};
    for (size_t i = 0; i < N; i++) {
      if (i == out) continue;
      for (size_t p = t.rows.start[i]; p < t.rows.start[i + 1]; p++)
        rows_put(&rest.rows, t.rows.column[p], t.rows.value[p]);
      rest.target[rest.rows.n] = t.target[i];
      rows_end_row(&rest.rows);
    }
    end(&rest);
    assert_ok(gpnn_mixed_solve(&rest.data, two_covariances, 1, &without, &err));
    size_t first = t.rows.start[out], k = t.rows.start[out + 1] - first;
    double *scratch = gpnn_alloc(gpnn_sparse_factor_scratch(&all.factor), 1, sizeof *scratch);
    double sum = 0, form = gpnn_sparse_factor_form(&without.factor, k, t.rows.column + first,
                                                   t.rows.value + first, scratch);
    for (size_t p = first; p < first + k; p++)
      sum += t.rows.value[p] * without.effects[t.rows.column[p]];
    assert_near(contribution[out], sum, 1e-8);
    assert_near(leverage[out] / (1 - leverage[out]), form, 1e-8 * (1 + form));
    free(scratch);
    gpnn_mixed_release(&without);
    release(&rest);
  }
  gpnn_mixed_release(&all);
  release(&t);
}

/* ---- estimates ---- */

/* Levels in turn, all as often. */
static struct table balanced(size_t n_levels, size_t n_each, double variance, uint64_t seed)
{
  const struct gpnn_mixed_factor factor[] = {{"group", n_levels, 1}};
  struct table t = begin(n_levels * n_each, 1, 1, factor);
  struct gpnn_rng rng = seeded(seed);
  double mean = 0;
  for (size_t k = 0; k < n_levels; k++) {
    double effect = sqrt(variance) * gpnn_rng_normal(&rng);
    for (size_t i = 0; i < n_each; i++) {
      rows_put(&t.rows, 0, 1);
      put_level(&t, 0, k, 0);
      t.target[t.rows.n] = effect + gpnn_rng_normal(&rng);
      mean += t.target[t.rows.n] / (double)(n_levels * n_each);
      rows_end_row(&t.rows);
    }
  }
  for (size_t i = 0; i < t.rows.n; i++) t.target[i] -= mean;
  end(&t);
  return t;
}

/* The sums of squares between and within the levels of a balanced table of mean 0. */
static void sums_of_squares(const struct table *t, double *between, double *within)
{
  size_t n_levels = t->factor[0].n_levels, n_each = t->rows.n / n_levels;
  *between = *within = 0;
  for (size_t k = 0; k < n_levels; k++) {
    const double *y = t->target + k * n_each;
    double mean = 0;
    for (size_t i = 0; i < n_each; i++) mean += y[i] / (double)n_each;
    *between += (double)n_each * mean * mean;
    for (size_t i = 0; i < n_each; i++) *within += (y[i] - mean) * (y[i] - mean);
  }
}

static void balanced_tables_have_the_estimates_of_analysis_of_variance(void **state)
{
  (void)state;
  const double variances[] = {0.3, 2, 50};
  for (size_t k = 0; k < 3; k++) {
    struct table t = balanced(30, 6, variances[k], 31 + k);
    struct gpnn_mixed mixed = {0};
    double between, within;
    sums_of_squares(&t, &between, &within);
    double s = within / (30 * 5), variance = (between / 29 - s) / 6;
    assert_ok(gpnn_mixed_estimate(&t.data, NULL, &mixed, &err));
    assert_close(mixed.scale, s, 1e-5);
    assert_close(mixed.covariance[0] * mixed.scale, variance, 1e-5);
    gpnn_mixed_release(&mixed);
    release(&t);
  }
}

static void a_factor_without_effect_gets_next_to_no_variance(void **state)
{
  (void)state;
  struct table t;
  double between, within;
  for (uint64_t seed = 41;; seed++) { /* a table whose levels differ less than chance has it */
    t = balanced(20, 5, 0, seed);
    sums_of_squares(&t, &between, &within);
    if (between / 19 < within / 80) break;
    release(&t);
  }
  struct gpnn_mixed mixed = {0};
  assert_ok(gpnn_mixed_estimate(&t.data, NULL, &mixed, &err));
  assert_true(mixed.covariance[0] >= 1e-8 && mixed.covariance[0] < 1e-4);
  assert_close(mixed.scale, (between + within) / 99, 1e-3);
  gpnn_mixed_release(&mixed);
  release(&t);
}

/* The means of 'n' numbers over seeds are within 2.6 of their standard errors of 'truth'. */
enum { SEEDS = 20 };
static void check_means(size_t n, double estimates[][SEEDS], const double *truth)
{
  for (size_t k = 0; k < n; k++) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < SEEDS; i++) mean += estimates[k][i] / SEEDS;
    for (size_t i = 0; i < SEEDS; i++) square += pow(estimates[k][i] - mean, 2);
    assert_near(mean, truth[k], 2.6 * sqrt(square / (SEEDS - 1) / SEEDS));
  }
}

static void variances_of_crossed_factors_are_found(void **state)
{
  (void)state;
  const struct gpnn_mixed_factor factor[] = {{"a", 40, 1}, {"b", 30, 1}, {"c", 12, 1}};
  const double truth[] = {0.5, 0.2, 1.5, 1};
  double estimates[4][SEEDS];
  for (size_t i = 0; i < SEEDS; i++) {
    struct table t = drawn(900, 2, 3, factor, truth, 50 + i);
    struct gpnn_mixed mixed = {0};
    assert_ok(gpnn_mixed_estimate(&t.data, NULL, &mixed, &err));
    for (size_t g = 0; g < 3; g++) estimates[g][i] = mixed.covariance[g] * mixed.scale;
    estimates[3][i] = mixed.scale;
    gpnn_mixed_release(&mixed);
    release(&t);
  }
  check_means(4, estimates, truth);
}

static void slopes_and_their_correlations_are_found(void **state)
{
  (void)state;
  const struct gpnn_mixed_factor factor[] = {{"a", 60, 2}};
  const double covariance[] = {0.5, -0.2, -0.2, 0.3}, truth[] = {0.5, -0.2, 0.3, 1};
  double estimates[4][SEEDS];
  for (size_t i = 0; i < SEEDS; i++) {
    struct table t = drawn(600, 2, 1, factor, covariance, 80 + i);
    struct gpnn_mixed mixed = {0};
    assert_ok(gpnn_mixed_estimate(&t.data, NULL, &mixed, &err));
    assert_true(mixed.covariance[1] == mixed.covariance[2]);
    estimates[0][i] = mixed.covariance[0] * mixed.scale;
    estimates[1][i] = mixed.covariance[1] * mixed.scale;
    estimates[2][i] = mixed.covariance[3] * mixed.scale;
    estimates[3][i] = mixed.scale;
    gpnn_mixed_release(&mixed);
    release(&t);
  }
  check_means(4, estimates, truth);
}

static void a_search_that_begins_close_to_its_end_is_short(void **state)
{
  (void)state;
  struct table t = drawn(400, 2, 2, two, two_covariances, 23);
  struct gpnn_mixed far = {0}, near = {0};
  double start[5];
  assert_ok(gpnn_mixed_estimate(&t.data, NULL, &far, &err));
  for (size_t k = 0; k < 5; k++) start[k] = 1.1 * far.covariance[k];
  assert_ok(gpnn_mixed_estimate(&t.data, start, &near, &err));
  assert_true(near.n_evaluations < far.n_evaluations);
  assert_near(near.deviance, far.deviance, 1e-4 * 400);
  assert_true(near.factor.inverse != NULL);
  gpnn_mixed_release(&near);
  /* Where hardly anything varies the likelihood is flat, and the search begins farther in. */
  for (size_t k = 0; k < 5; k++) start[k] = 1e-12 * far.covariance[k];
  assert_ok(gpnn_mixed_estimate(&t.data, start, &near, &err));
  assert_near(near.deviance, far.deviance, 1e-2 * 400);
  gpnn_mixed_release(&near);
  gpnn_mixed_release(&far);
  release(&t);
}

static void no_other_covariance_is_more_likely(void **state)
{
  (void)state;
  struct table t = drawn(400, 2, 2, two, two_covariances, 23);
  struct gpnn_mixed best = {0};
  assert_ok(gpnn_mixed_estimate(&t.data, NULL, &best, &err));
  assert_true(best.n_evaluations > 3 && best.n_evaluations < 60);
  const size_t moved[] = {0, 1, 4}; /* variances, and the covariance of intercept and slope */
  for (size_t k = 0; k < 4; k++)
    for (int sign = -1; sign <= 1; sign += 2) {
      struct gpnn_mixed other = {0};
      double covariance[5];
      memcpy(covariance, best.covariance, sizeof covariance);
      if (k < 3) covariance[moved[k]] *= 1 + sign * 0.01;
      if (k == 3) covariance[2] = covariance[3] += sign * 0.01;
      assert_ok(gpnn_mixed_solve(&t.data, covariance, 0, &other, &err));
      assert_true(other.deviance > best.deviance);
      gpnn_mixed_release(&other);
    }
  gpnn_mixed_release(&best);
  release(&t);
}

static void twice_the_same_factor_divides_its_variance(void **state)
{
  (void)state;
  const struct gpnn_mixed_factor factor[] = {{"group", 30, 1}, {"again", 30, 1}};
  struct table t = balanced(30, 6, 2, 33), twice = begin(180, 1, 2, factor);
  struct gpnn_mixed one = {0}, both = {0};
  for (size_t i = 0; i < 180; i++) {
    rows_put(&twice.rows, 0, 1);
    put_level(&twice, 0, i / 6, 0);
    put_level(&twice, 1, i / 6, 0);
    rows_end_row(&twice.rows);
    twice.target[i] = t.target[i];
  }
  end(&twice);
  assert_ok(gpnn_mixed_estimate(&t.data, NULL, &one, &err));
  assert_ok(gpnn_mixed_estimate(&twice.data, NULL, &both, &err));
  assert_close(both.covariance[0] + both.covariance[1], one.covariance[0], 1e-4);
  assert_near(both.deviance, one.deviance, 1e-5);
  gpnn_mixed_release(&one);
  gpnn_mixed_release(&both);
  release(&t);
  release(&twice);
}

static void without_factors_it_is_least_squares(void **state)
{
  (void)state;
  struct table t = drawn(50, 2, 0, NULL, NULL, 24);
  struct dense m = dense_of(&t, NULL, 0);
  struct gpnn_mixed mixed = {0};
  assert_ok(gpnn_mixed_estimate(&t.data, NULL, &mixed, &err));
  assert_int_equal(mixed.n_evaluations, 1);
  assert_near(mixed.effects[1], m.effects[1], 1e-10);
  assert_close(mixed.scale, m.scale, 1e-10);
  dense_free(&m);
  gpnn_mixed_release(&mixed);
  release(&t);
}

/* ---- refusals ---- */

static void check_refused(struct table *t, enum gpnn_status status, const char *text)
{
  struct gpnn_mixed mixed = {0}, none = {0};
  assert_fails(gpnn_mixed_estimate(&t->data, NULL, &mixed, &err), status, text);
  assert_memory_equal(&mixed, &none, sizeof none);
  release(t);
}

static void what_cannot_be_told_apart_is_refused(void **state)
{
  (void)state;
  struct table t = balanced(1, 20, 0, 1);
  check_refused(&t, GPNN_EDATA,
                "group effect 'group' has one level only, which the constant stands");
  t = balanced(20, 1, 0, 1);
  check_refused(&t, GPNN_EDATA,
                "group effect 'group' has 20 effects in 20 rows, which cannot be told");
  t = drawn(2, 2, 0, NULL, NULL, 1);
  check_refused(&t, GPNN_EDATA, "2 rows are too few for 2 fixed effects");
  t = balanced(4, 5, 0, 1);
  memset(t.target, 0, 20 * sizeof *t.target);
  check_refused(&t, GPNN_EDATA, "the target does not vary");
  t = balanced(4, 5, 0, 1);
  t.target[3] = NAN;
  check_refused(&t, GPNN_ENUMERIC, "not finite");
  t = balanced(4, 5, 0, 1);
  t.rows.value[3] = NAN;
  check_refused(&t, GPNN_ENUMERIC, "not ");
}

static void wrong_covariances_are_refused(void **state)
{
  (void)state;
  const double wrong[][5] = {{0, 1, 0, 0, 1},
                             {-1, 1, 0, 0, 1},
                             {1, 1, 2, 2, 1},
                             {1, 1, 0, 0, NAN},
                             {INFINITY, 1, 0, 0, 1}};
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    struct table t = drawn(50, 1, 2, two, two_covariances, 25);
    struct gpnn_mixed mixed = {0};
    assert_fails(gpnn_mixed_solve(&t.data, wrong[k], 0, &mixed, &err), GPNN_ENUMERIC,
                 "its covariance is not positive definite");
    assert_null(mixed.effects);
    release(&t);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_given_covariances_is_that_of_the_dense_process),
      cmocka_unit_test(what_is_left_out_is_what_other_rows_know),
      cmocka_unit_test(balanced_tables_have_the_estimates_of_analysis_of_variance),
      cmocka_unit_test(a_factor_without_effect_gets_next_to_no_variance),
      cmocka_unit_test(variances_of_crossed_factors_are_found),
      cmocka_unit_test(slopes_and_their_correlations_are_found),
      cmocka_unit_test(a_search_that_begins_close_to_its_end_is_short),
      cmocka_unit_test(no_other_covariance_is_more_likely),
      cmocka_unit_test(twice_the_same_factor_divides_its_variance),
      cmocka_unit_test(without_factors_it_is_least_squares),
      cmocka_unit_test(what_cannot_be_told_apart_is_refused),
      cmocka_unit_test(wrong_covariances_are_refused),
  };
  gpnn_blas_single_thread();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
