/* Pseudo-targets of counts against dense algebra, and what estimates from them. */
#include "estimate/count_sites.h"

#include "dense.h"
#include "fixture.h"
#include "likelihood/count.h"
#include "unit.h"

enum { N = 40, D = 2, C = 5 };

/* A view whose targets are counts, standardised by mean 3 and sd 2, with exposures. */
struct setting {
  struct fixture f;
  struct gpnn_dataset view;
  double y[N], cy[C], count[N], exposure[N];
};

static void set_up(struct setting *s)
{
  fixture_new(&s->f, N, D, C, 1);
  s->view = *s->f.data;
  for (size_t i = 0; i < N; i++) {
    s->exposure[i] = 0.5 + (double)(i % 4);
    s->count[i] = floor(s->exposure[i] * exp(2 + 2 * s->f.y[i]) * (i % 3 == 0 ? 0.2 : 1.6));
    s->y[i] = (s->count[i] - 3) / 2;
  }
  for (size_t i = 0; i < C; i++) s->cy[i] = ((double)i - 3) / 2;
  s->view.y = s->y;
  s->view.calibration_y = s->cy;
  s->view.exposure = s->exposure;
}

static struct gpnn_parameters parameters(enum gpnn_likelihood likelihood, double *lengthscale,
                                         double *coefficient)
{
  return (struct gpnn_parameters){
      .covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                     .n_lengthscales = 1,
                     .lengthscale = lengthscale,
                     .kernelscale = 1.3,
                     .noise = 0.05},
      .mean = {.kind = GPNN_MEAN_CONSTANT, .n_coefficients = 1, .coefficients = coefficient},
      .likelihood = likelihood,
      .dispersion = likelihood == GPNN_LIKELIHOOD_NEGBIN ? 4 : 0,
      .neighbours = N};
}

/* f at row 'row', predicted from all others by dense algebra. */
static struct gpnn_count_latent leave_out(const struct setting *s,
                                          const struct gpnn_parameters *params,
                                          const double *target, const double *noise, size_t row)
{
  enum { M = N - 1 };
  static long double a[M * M], b1[M], b2[M], k[M];
  size_t rows[M] = {0};
  const struct gpnn_covariance *c = &params->covariance;
  for (size_t i = 0, m = 0; i < N; i++)
    if (i != row) rows[m++] = i;
  for (size_t i = 0; i < M; i++) {
    const double *xi = s->f.data->x + rows[i] * D;
    for (size_t j = 0; j < M; j++)
      a[i * M + j] = c->kernelscale *
                     dense_kernel("matern32", D, xi, s->f.data->x + rows[j] * D, 1, c->lengthscale);
    a[i * M + i] += c->noise + noise[rows[i]];
    k[i] = b2[i] =
        c->kernelscale * dense_kernel("matern32", D, xi, s->f.data->x + row * D, 1, c->lengthscale);
    b1[i] = target[rows[i]] - params->mean.coefficients[0];
  }
  dense_solve(M, a, b1, b2);
  long double mean = params->mean.coefficients[0], variance = c->kernelscale + c->noise;
  for (size_t i = 0; i < M; i++) mean += k[i] * b1[i], variance -= k[i] * b2[i];
  return (struct gpnn_count_latent){(double)mean, sqrt((double)variance)};
}

/* The constant rate of all rows, and a variance that makes counts vary as they do about it. */
static void first_sites_are_those_of_the_counts_alone(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites = {0};
  const struct gpnn_count_law poisson = {INFINITY};
  double counted = 0, exposed = 0, beyond = 0, squares = 0;
  set_up(&s);
  assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
  for (size_t i = 0; i < N; i++) counted += s.count[i], exposed += s.exposure[i];
  for (size_t i = 0; i < N; i++) {
    const double mean = counted * s.exposure[i] / exposed;
    beyond += pow(s.count[i] - mean, 2) - mean;
    squares += mean * mean;
  }
  assert_near(sites.spread, log(1 + beyond / squares), 1e-12);
  for (size_t i = 0; i < N; i++) {
    const struct gpnn_count_latent latent = {log(counted * s.exposure[i] / exposed),
                                             sqrt(sites.spread)};
    const struct gpnn_count_site site = gpnn_count_site(&poisson, s.count[i], &latent);
    assert_true(sites.count[i] == s.count[i]);
    assert_near(sites.target[i], site.target - log(s.exposure[i]), 1e-12);
    assert_close(sites.noise[i], site.noise, 1e-12);
  }
  gpnn_count_sites_release(&sites);
  fixture_free(&s.f);
}

/* Where nothing was counted, or little, sites and their unit are numbers. */
static void few_events_or_none_have_sites_too(void **unused)
{
  (void)unused;
  for (int events = 0; events < 3; events++) {
    struct setting s;
    struct gpnn_count_sites sites = {0};
    struct gpnn_dataset view;
    set_up(&s);
    for (size_t i = 0; i < N; i++) s.y[i] = ((i < (size_t)events ? 1 : 0) - 3) / 2.0;
    assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
    gpnn_count_sites_standardise(&sites, true, &view);
    assert_true(sites.unit > 0 && sites.centre < -2);
    for (size_t i = 0; i < N; i++) assert_true(isfinite(view.y[i]) && view.noise[i] > 0);
    gpnn_count_sites_release(&sites);
    fixture_free(&s.f);
  }
}

/* What is known of f at all rows, each predicted from the others, with the constant moved so that
 * predictions add up to the counts; returns by how much. */
static double leave_out_each(const struct setting *s, const struct gpnn_parameters *params,
                             const double *target, const double *noise,
                             struct gpnn_count_latent *latent)
{
  double counted = 0, expected = 0;
  for (size_t i = 0; i < N; i++) {
    latent[i] = leave_out(s, params, target, noise, i);
    latent[i].mean += log(s->exposure[i]);
    counted += s->count[i];
    expected += exp(latent[i].mean + 0.5 * latent[i].sd * latent[i].sd);
  }
  const double shift = log(counted / expected);
  for (size_t i = 0; i < N; i++) latent[i].mean += shift;
  return shift;
}

static void a_sweep_takes_the_site_under_the_prediction_from_all_other_rows(void **unused)
{
  (void)unused;
  const enum gpnn_likelihood likelihoods[] = {GPNN_LIKELIHOOD_POISSON, GPNN_LIKELIHOOD_NEGBIN};
  const struct gpnn_count_law laws[] = {{INFINITY}, {4}};
  for (int l = 0; l < 2; l++) {
    struct setting s;
    struct gpnn_count_sites sites = {0}, before = {0};
    struct gpnn_count_sites_report report;
    struct gpnn_count_latent latent[N];
    double lengthscale = 0.9, coefficient = 1.1, moved = 1.1, loss = 0, target[N], noise[N];
    struct gpnn_parameters params = parameters(likelihoods[l], &lengthscale, &moved);
    const struct gpnn_count_sites_options options = {
        .sweeps = 1, .fixed_dispersion = true, .seed = 1, .threads = 2};
    set_up(&s);
    assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
    assert_ok(gpnn_count_sites_new(&before, &s.view, &err));
    assert_ok(gpnn_count_sites_sweep(&sites, &params, &options, &report, &err));
    params.mean.coefficients = &coefficient;
    coefficient += leave_out_each(&s, &params, before.target, before.noise, latent);
    for (size_t i = 0; i < N; i++) {
      const struct gpnn_count_site site = gpnn_count_site(&laws[l], s.count[i], &latent[i]);
      target[i] = site.target - log(s.exposure[i]);
      noise[i] = site.noise;
      loss -= gpnn_count_marginal(&laws[l], &latent[i], s.count[i]) / N;
    }
    const double last = leave_out_each(&s, &params, target, noise, latent);
    assert_near(moved, coefficient + last, 1e-8);
    for (size_t i = 0; i < N; i++) {
      assert_near(sites.target[i], target[i] + last, 1e-8);
      assert_close(sites.noise[i], noise[i], 1e-8);
    }
    assert_near(report.loss, loss, 1e-8);
    assert_true(report.n_rows == N && report.sweeps == 1);
    assert_true(params.dispersion == (l == 0 ? 0 : 4));
    gpnn_count_sites_release(&sites);
    gpnn_count_sites_release(&before);
    fixture_free(&s.f);
  }
}

/* The dispersion is the best of the grid, and sweeps come to rest. */
static void sweeps_converge_to_the_best_dispersion(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites = {0};
  struct gpnn_count_sites_report report, other;
  double lengthscale = 0.9, coefficient = 1.1;
  struct gpnn_parameters params = parameters(GPNN_LIKELIHOOD_NEGBIN, &lengthscale, &coefficient);
  struct gpnn_count_sites_options options = {.sweeps = 100, .seed = 1, .threads = 1};
  set_up(&s);
  assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
  assert_ok(gpnn_count_sites_sweep(&sites, &params, &options, &report, &err));
  assert_true(report.sweeps < 20);
  double found = params.dispersion;
  assert_true(found > 0.5 && found < 50);
  options.fixed_dispersion = true;
  options.sweeps = 1;
  for (double factor = 0.4; factor < 3; factor += 0.35) {
    struct gpnn_count_sites copy = {0};
    assert_ok(gpnn_count_sites_new(&copy, &s.view, &err));
    memcpy(copy.target, sites.target, sizeof s.y);
    memcpy(copy.noise, sites.noise, sizeof s.y);
    params.dispersion = factor * found;
    assert_ok(gpnn_count_sites_sweep(&copy, &params, &options, &other, &err));
    assert_true(other.loss > report.loss - 1e-3);
    gpnn_count_sites_release(&copy);
  }
  gpnn_count_sites_release(&sites);
  fixture_free(&s.f);
}

static void threads_do_not_matter(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites[2] = {{0}, {0}};
  double lengthscale = 0.9;
  set_up(&s);
  for (int k = 0; k < 2; k++) {
    struct gpnn_count_sites_report report;
    double coefficient = 1.1;
    struct gpnn_parameters params = parameters(GPNN_LIKELIHOOD_NEGBIN, &lengthscale, &coefficient);
    const struct gpnn_count_sites_options options = {.sweeps = 3, .seed = 1, .threads = 1 + 3 * k};
    params.neighbours = 10;
    assert_ok(gpnn_count_sites_new(&sites[k], &s.view, &err));
    assert_ok(gpnn_count_sites_sweep(&sites[k], &params, &options, &report, &err));
  }
  assert_memory_equal(sites[0].target, sites[1].target, sizeof s.y);
  assert_memory_equal(sites[0].noise, sites[1].noise, sizeof s.y);
  gpnn_count_sites_release(&sites[0]);
  gpnn_count_sites_release(&sites[1]);
  fixture_free(&s.f);
}

/* A copy goes on as the sites themselves do, whatever becomes of these. */
static void copies_go_on_alike(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites = {0}, copy = {0};
  struct gpnn_count_sites_report report, of_copy;
  double lengthscale = 0.8, coefficient = 0.4, other = 0.4;
  const struct gpnn_count_sites_options options = {.sweeps = 1, .seed = 1, .threads = 1};
  set_up(&s);
  struct gpnn_parameters params = parameters(GPNN_LIKELIHOOD_NEGBIN, &lengthscale, &coefficient);
  assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
  assert_ok(gpnn_count_sites_sweep(&sites, &params, &options, &report, &err));
  assert_ok(gpnn_count_sites_copy(&copy, &sites, &err));
  struct gpnn_parameters own = params;
  other = coefficient;
  own.mean.coefficients = &other;
  assert_ok(gpnn_count_sites_sweep(&sites, &params, &options, &report, &err));
  assert_ok(gpnn_count_sites_sweep(&copy, &own, &options, &of_copy, &err));
  assert_true(of_copy.loss == report.loss && own.dispersion == params.dispersion);
  assert_true(other == coefficient && copy.spread == sites.spread);
  assert_memory_equal(copy.count, sites.count, N * sizeof(double));
  assert_memory_equal(copy.target, sites.target, N * sizeof(double));
  assert_memory_equal(copy.noise, sites.noise, N * sizeof(double));
  gpnn_count_sites_release(&copy);
  gpnn_count_sites_release(&sites);
  fixture_free(&s.f);
}

static void standardised_sites_have_a_weighted_mean_of_zero(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites = {0};
  struct gpnn_dataset view;
  double sum = 0;
  set_up(&s);
  assert_ok(gpnn_count_sites_new(&sites, &s.view, &err));
  gpnn_count_sites_standardise(&sites, true, &view);
  for (size_t i = 0; i < N; i++) {
    sum += view.y[i] / (1 + view.noise[i]);
    assert_near(sites.centre + sites.unit * view.y[i], sites.target[i], 1e-12);
    assert_near(sites.unit * sites.unit * view.noise[i], sites.noise[i], 1e-12);
  }
  assert_near(sum, 0, 1e-11);
  assert_near(sites.unit * sites.unit, sites.spread, 1e-12);
  assert_true(view.n_calibration == 0 && view.x == s.view.x);
  gpnn_count_sites_standardise(&sites, false, &view);
  assert_true(sites.centre == 0);
  gpnn_count_sites_release(&sites);
  fixture_free(&s.f);
}

static void targets_that_are_no_counts_are_named(void **unused)
{
  (void)unused;
  struct setting s;
  struct gpnn_count_sites sites = {0};
  set_up(&s);
  s.y[6] = (2.5 - 3) / 2;
  assert_fails(gpnn_count_sites_new(&sites, &s.view, &err), GPNN_EDATA,
               "target 'y': training row 7 of the index has 2.5");
  s.y[6] = (-4.0 - 3) / 2;
  assert_fails(gpnn_count_sites_new(&sites, &s.view, &err), GPNN_EDATA,
               "row 7 of the index has -4");
  s.y[6] = 0;
  s.cy[1] = 0.3;
  assert_fails(gpnn_count_sites_new(&sites, &s.view, &err), GPNN_EDATA, "calibration row 2");
  s.cy[1] = 0;
  s.view.noise = s.exposure;
  assert_fails(gpnn_count_sites_new(&sites, &s.view, &err), GPNN_EDATA, "known noise variances");
  s.view.noise = NULL;
  s.view.offset = s.exposure;
  assert_fails(gpnn_count_sites_new(&sites, &s.view, &err), GPNN_EDATA, "--exposure");
  fixture_free(&s.f);
}

static void standardising_and_back_keeps_counts_of_any_size(void **unused)
{
  (void)unused;
  struct gpnn_dataset dataset = {0};
  const double means[] = {0.02, 3.7, 188.9, 1e6 / 3}, sds[] = {0.1, 4.9, 181.3, 1e7 / 7};
  for (size_t k = 0; k < 4; k++)
    for (double y = 0; y < 1e12; y = 3 * y + 1) {
      dataset.scaling = (struct gpnn_scaling){.y_mean = means[k], .y_sd = sds[k]};
      assert_true(gpnn_count_sites_restore(&dataset, (y - means[k]) / sds[k]) == y);
      if (y < 1e5)
        assert_true(isnan(gpnn_count_sites_restore(&dataset, (y + 0.01 - means[k]) / sds[k])));
    }
  assert_true(isnan(gpnn_count_sites_restore(&dataset, NAN)));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(first_sites_are_those_of_the_counts_alone),
      cmocka_unit_test(a_sweep_takes_the_site_under_the_prediction_from_all_other_rows),
      cmocka_unit_test(sweeps_converge_to_the_best_dispersion),
      cmocka_unit_test(threads_do_not_matter),
      cmocka_unit_test(copies_go_on_alike),
      cmocka_unit_test(standardised_sites_have_a_weighted_mean_of_zero),
      cmocka_unit_test(few_events_or_none_have_sites_too),
      cmocka_unit_test(targets_that_are_no_counts_are_named),
      cmocka_unit_test(standardising_and_back_keeps_counts_of_any_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
