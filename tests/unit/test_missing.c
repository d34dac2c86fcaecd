/* Rows that lack inputs: what is drawn for them, and how they are predicted. */
#include "dataset/missing.h"
#include "fixture.h"
#include "models.h"
#include "models/missing.h"

enum { N = 400, D = 3, M = 20, K = GPNN_MISSING_DRAWS };

struct setting {
  struct fixture f;
  double lengthscale[D];
  struct gpnn_parameters params;
  struct gpnn_model *gp;
};

static void set_up(struct setting *s, int threads)
{
  fixture_new(&s->f, N, D, 0, 1);
  for (size_t j = 0; j < D; j++) s->lengthscale[j] = 1;
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = s->lengthscale,
                                       .covariance.kernelscale = 0.7,
                                       .covariance.noise = 0.05,
                                       .neighbours = M};
  s->gp = NULL;
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, threads, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->gp);
  fixture_free(&s->f);
}

static void predict(const struct setting *s, size_t n, const double *x, double *mean,
                    double *variance)
{
  const struct gpnn_query query = {.n = n, .x = x};
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  struct gpnn_counts counts = {0};
  assert_ok(gpnn_model_predict(s->gp, &query, &latent, &counts, &err));
}

/* ---- draws --------------------------------------------------------------------------------- */

/* Rows 0 to N - 1 in order of their distance to 'x' in the inputs that it has. */
static size_t nearest(const struct setting *s, const double *x, const bool *is_out)
{
  size_t best = N;
  double least = INFINITY;
  for (size_t i = 0; i < N; i++) {
    double sum = 0;
    for (size_t j = 0; j < D; j++)
      if (!isnan(x[j])) sum += pow(x[j] - s->f.x[i * D + j], 2);
    if (is_out[i] || sum >= least) continue;
    least = sum;
    best = i;
  }
  return best;
}

static void draws_are_of_the_nearest_rows_in_what_a_row_has(void **state)
{
  (void)state;
  struct setting s;
  const double x[D] = {0.3, NAN, -0.2};
  double draws[5 * D];
  bool is_out[N] = {false};
  set_up(&s, 1);
  gpnn_missing_draw(s.f.data, x, -1, 5, draws);
  size_t first = nearest(&s, x, is_out);
  for (size_t k = 0; k < 5; k++) {
    size_t row = nearest(&s, x, is_out);
    is_out[row] = true;
    assert_true(draws[k * D] == 0.3 && draws[k * D + 2] == -0.2);
    assert_true(draws[k * D + 1] == s.f.x[row * D + 1]);
  }
  gpnn_missing_draw(s.f.data, x, (int64_t)first, 1, draws);
  assert_true(draws[1] != s.f.x[first * D + 1]);
  tear_down(&s);
}

static void nothing_is_drawn_from_rows_that_are_left_out(void **state)
{
  (void)state;
  struct setting s;
  const double x[D] = {0.3, NAN, -0.2};
  double draws[D];
  bool is_out[N] = {false};
  uint32_t group[N] = {0};
  set_up(&s, 1);
  struct gpnn_dataset dataset = *s.f.data;
  dataset.row_group = group;
  size_t first = nearest(&s, x, is_out);
  is_out[first] = true;
  size_t second = nearest(&s, x, is_out);
  is_out[second] = true;
  size_t third = nearest(&s, x, is_out);
  group[first] = group[second] = 1;
  gpnn_missing_draw(&dataset, x, (int64_t)first, 1, draws);
  assert_true(draws[1] == s.f.x[third * D + 1]);
  gpnn_missing_draw(&dataset, x, -1, 1, draws);
  assert_true(draws[1] == s.f.x[first * D + 1]);
  tear_down(&s);
}

static void rows_that_lack_the_same_count_as_filled_in(void **state)
{
  (void)state;
  struct setting s;
  const double x[D] = {0.3, NAN, -0.2};
  double draws[D], restored[D];
  bool is_out[N] = {false};
  set_up(&s, 1);
  size_t first = nearest(&s, x, is_out);
  unsigned char lacks[N] = {0};
  struct gpnn_dataset dataset = *s.f.data;
  dataset.lacks = lacks;
  assert_int_equal(gpnn_lacks_bytes(D), 1);
  gpnn_lacks_note(&lacks[first], 1);
  gpnn_missing_draw(&dataset, x, -1, 1, draws);
  assert_true(draws[1] == s.f.x[first * D + 1]);
  gpnn_missing_restore(&dataset, first, restored);
  assert_true(isnan(restored[1]) && restored[0] == s.f.x[first * D]);
  assert_int_equal(gpnn_missing_rows(&dataset, 1), 1);
  struct gpnn_missing_count count = gpnn_missing_count(&dataset);
  assert_true(count.n_rows == 1 && count.n_cells == 1 && count.n_inputs == 1);
  assert_close(count.share, 1.0 / (N * D), 1e-12);
  tear_down(&s);
}

/* ---- predictions --------------------------------------------------------------------------- */

static void a_prediction_is_that_of_the_mixture_of_its_draws(void **state)
{
  (void)state;
  struct setting s;
  const double x[D] = {0.3, NAN, -0.2};
  double draws[K * D], mean[K], variance[K], all, between = 0, within = 0, of, spread;
  set_up(&s, 1);
  gpnn_missing_draw(s.f.data, x, -1, K, draws);
  predict(&s, K, draws, mean, variance);
  all = 0;
  for (size_t k = 0; k < K; k++) all += mean[k] / K;
  for (size_t k = 0; k < K; k++) {
    between += (mean[k] - all) * (mean[k] - all) / K;
    within += variance[k] / K;
  }
  predict(&s, 1, x, &of, &spread);
  assert_close(of, all, 1e-12);
  assert_close(spread, within + between * (K + 1) / (K - 1), 1e-12);
  assert_true(between > 0.01);
  tear_down(&s);
}

/* No local scale multiplies what the draws differ by, so it is the mean's too. */
static void what_draws_differ_by_counts_as_the_means(void **state)
{
  (void)state;
  struct setting s;
  const double x[2 * D] = {0.3, NAN, -0.2, 0.3, 0.1, -0.2};
  const struct gpnn_query query = {.n = 2, .x = x};
  double variance[2], of_mean[2], draws[K * D], mean[K], own[K], within = 0;
  const struct gpnn_latent latent = {.variance = variance, .mean_variance = of_mean};
  struct gpnn_counts counts = {0};
  set_up(&s, 1);
  assert_ok(gpnn_model_predict(s.gp, &query, &latent, &counts, &err));
  gpnn_missing_draw(s.f.data, x, -1, K, draws);
  predict(&s, K, draws, mean, own);
  for (size_t k = 0; k < K; k++) within += own[k] / K;
  assert_close(of_mean[0], variance[0] - within, 1e-10);
  assert_true(of_mean[0] > 0.01 && of_mean[1] == 0);
  tear_down(&s);
}

/* Whatever is asked of them. */
static void several_targets_are_predicted_as_each_alone(void **state)
{
  (void)state;
  enum { C = 2, ROWS = 3 };
  struct setting s;
  const double x[ROWS * D] = {0.3, NAN, -0.2, 0.1, 0.2, 0.3, NAN, NAN, 0.4};
  const double atoms[C] = {1, -1};
  double y[C][N], all[C * ROWS], share[C * ROWS], alone[ROWS], part[ROWS];
  struct gpnn_dataset views[C];
  struct gpnn_channel channels[C];
  struct gpnn_counts counts[C] = {{0}};
  struct gpnn_model *model = NULL, *one = NULL;
  const struct gpnn_model_options options = {.threads = 1};
  const struct gpnn_query query = {.n = ROWS, .x = x};
  const struct gpnn_latent latent = {.mean = all, .atom = atoms, .share = share};
  set_up(&s, 1);
  for (size_t c = 0; c < C; c++) {
    for (size_t i = 0; i < N; i++) y[c][i] = s.f.x[i * D + c] > 0.3 ? atoms[c] : s.f.y[i];
    views[c] = *s.f.data;
    views[c].y = y[c];
    channels[c] = (struct gpnn_channel){&views[c], &s.params};
  }
  assert_ok(gpnn_model_new(&model, C, channels, &options, &err));
  assert_ok(gpnn_model_predict(model, &query, &latent, counts, &err));
  for (size_t c = 0; c < C; c++) {
    const struct gpnn_latent own = {.mean = alone, .atom = &atoms[c], .share = part};
    assert_ok(gpnn_model_new(&one, 1, &channels[c], &options, &err));
    assert_ok(gpnn_model_predict(one, &query, &own, counts, &err));
    for (size_t i = 0; i < ROWS; i++) {
      assert_close(all[c * ROWS + i], alone[i], 1e-10);
      assert_close(share[c * ROWS + i], part[i], 1e-12);
    }
    gpnn_model_free(one);
  }
  assert_true(fabs(share[0] - share[ROWS]) > 0.01);
  gpnn_model_free(model);
  tear_down(&s);
}

static void a_row_depends_on_no_other_and_on_no_thread(void **state)
{
  (void)state;
  struct setting one, three;
  const double x[4 * D] = {0.3, NAN, -0.2, 0.1, 0.2, 0.3, NAN, NAN, NAN, NAN, 0.5, NAN};
  double mean[4], variance[4], again[4], spread[4];
  set_up(&one, 1);
  set_up(&three, 3);
  predict(&one, 4, x, mean, variance);
  predict(&three, 4, x, again, spread);
  for (size_t i = 0; i < 4; i++) {
    double alone, width;
    assert_true(mean[i] == again[i] && variance[i] == spread[i]);
    predict(&one, 1, x + i * D, &alone, &width);
    assert_true(mean[i] == alone && variance[i] == width);
  }
  tear_down(&one);
  tear_down(&three);
}

static void a_row_without_any_input_is_predicted_as_the_targets_are(void **state)
{
  (void)state;
  struct setting s;
  const double x[D] = {NAN, NAN, NAN};
  double mean, variance, centre = 0, squares = 0;
  set_up(&s, 1);
  for (size_t i = 0; i < N; i++) centre += s.f.y[i] / N;
  for (size_t i = 0; i < N; i++) squares += (s.f.y[i] - centre) * (s.f.y[i] - centre) / N;
  predict(&s, 1, x, &mean, &variance);
  assert_close(mean, centre, 1e-10);
  assert_close(variance, squares - 0.05, 1e-10);
  tear_down(&s);
}

static void the_less_is_known_the_wider(void **state)
{
  (void)state;
  struct setting s;
  const double x[3 * D] = {0.3, 0.4, -0.2, 0.3, NAN, -0.2, 0.3, NAN, NAN};
  double mean[3], variance[3];
  set_up(&s, 2);
  predict(&s, 3, x, mean, variance);
  assert_true(variance[0] < variance[1] && variance[1] < variance[2]);
  tear_down(&s);
}

/* With so many draws only 700 rows are predicted at a time. */
static void many_rows_are_predicted_as_each_alone(void **state)
{
  (void)state;
  enum { ROWS = 720 };
  static const size_t incomplete[] = {5, 699, 700, 719};
  const struct gpnn_model_options options = {.draws = 1000, .threads = 2};
  struct setting s;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  double x[ROWS * D], mean[ROWS], variance[ROWS], alone, width;
  set_up(&s, 1);
  assert_ok(make_model_with(&model, s.f.data, &s.params, options, &err));
  for (size_t i = 0; i < ROWS * D; i++) x[i] = s.f.x[i % (N * D)] + 0.01;
  for (size_t k = 0; k < 4; k++) x[incomplete[k] * D + k % D] = NAN;
  const struct gpnn_query all = {.n = ROWS, .x = x};
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  assert_ok(gpnn_model_predict(model, &all, &latent, &counts, &err));
  for (size_t i = 0; i < ROWS; i += i < 690 ? 5 : 1) {
    const struct gpnn_query one = {.n = 1, .x = x + i * D};
    const struct gpnn_latent of = {.mean = &alone, .variance = &width};
    assert_ok(gpnn_model_predict(model, &one, &of, &counts, &err));
    assert_true(mean[i] == alone && variance[i] == width);
  }
  gpnn_model_free(model);
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_are_of_the_nearest_rows_in_what_a_row_has),
      cmocka_unit_test(nothing_is_drawn_from_rows_that_are_left_out),
      cmocka_unit_test(rows_that_lack_the_same_count_as_filled_in),
      cmocka_unit_test(a_prediction_is_that_of_the_mixture_of_its_draws),
      cmocka_unit_test(what_draws_differ_by_counts_as_the_means),
      cmocka_unit_test(several_targets_are_predicted_as_each_alone),
      cmocka_unit_test(a_row_depends_on_no_other_and_on_no_thread),
      cmocka_unit_test(a_row_without_any_input_is_predicted_as_the_targets_are),
      cmocka_unit_test(the_less_is_known_the_wider),
      cmocka_unit_test(many_rows_are_predicted_as_each_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
