/* Parameters as an optimiser moves them: values, and derivatives against differences. */
#include "estimate/fit_private.h"
#include "unit.h"

enum { T = 3, D = 2, WIDTH = D + 3 };

struct setting {
  double lengthscale[T][D], coefficient[T];
  struct gpnn_parameters params[T];
  struct gpnn_fit_targets targets;
};

static void set_up(struct setting *s)
{
  *s = (struct setting){.targets = {.n = T}};
  for (size_t t = 0; t < T; t++) {
    for (size_t j = 0; j < D; j++) s->lengthscale[t][j] = 0.5 + 2 * (double)j;
    s->coefficient[t] = 0.3 * (double)t - 0.2;
    s->params[t] = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("exp"),
                                            .covariance.n_lengthscales = D,
                                            .covariance.lengthscale = s->lengthscale[t],
                                            .covariance.kernelscale = 0.4 + (double)t,
                                            .covariance.noise = 0.1 + 0.2 * (double)t,
                                            .mean.coefficients = &s->coefficient[t]};
  }
  s->targets.params = s->params;
}

/* How much parameter 'i' of target 't' weighs in its objective, a sum of squares. */
static double weight(size_t t, size_t i)
{
  return 1 + (double)((3 * t + 2 * i) % 7);
}

/* A parameter as it is moved. */
static double moved(struct gpnn_parameters *params, size_t i)
{
  double value = *gpnn_fit_parameter(params, i);
  return i < D + 2 ? log(value) : value;
}

/* The mean over the targets of their objectives. */
static double objective(struct setting *s)
{
  double sum = 0;
  for (size_t t = 0; t < T; t++)
    for (size_t i = 0; i < WIDTH; i++) sum += weight(t, i) * pow(moved(&s->params[t], i), 2) / 2;
  return sum / T;
}

static void check_derivatives(bool same_ratio, size_t n_free)
{
  const double step = 1e-5;
  struct setting s;
  struct gpnn_fit_coordinates c = {0};
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  double gradient[T * WIDTH];
  set_up(&s);
  options.same_ratio = same_ratio;
  assert_ok(gpnn_fit_coordinates_init(&c, &options, &s.targets, 1, true, &err));
  assert_int_equal(c.n, n_free);
  gpnn_fit_coordinates_set(&c, c.u);
  for (size_t t = 0; t < T; t++)
    for (size_t i = 0; i < WIDTH; i++)
      c.gradient[t * WIDTH + i] = weight(t, i) * moved(&s.params[t], i);
  gpnn_fit_coordinates_gradient(&c, gradient);
  for (size_t i = 0; i < c.n; i++) {
    double u = c.u[i];
    c.u[i] = u + step;
    gpnn_fit_coordinates_set(&c, c.u);
    double above = objective(&s);
    c.u[i] = u - step;
    gpnn_fit_coordinates_set(&c, c.u);
    assert_near(gradient[i], (above - objective(&s)) / (2 * step), 1e-8);
    c.u[i] = u;
  }
  gpnn_fit_coordinates_release(&c);
}

static void derivatives_agree_with_differences(void **state)
{
  (void)state;
  check_derivatives(false, D + 3 * T);
}

static void derivatives_agree_with_differences_under_same_ratio(void **state)
{
  (void)state;
  check_derivatives(true, D + 2 * T + 1);
}

static void noises_keep_the_ratio_of_the_first(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_fit_coordinates c = {0};
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  set_up(&s);
  options.same_ratio = true;
  assert_ok(gpnn_fit_coordinates_init(&c, &options, &s.targets, 1, false, &err));
  gpnn_fit_coordinates_set(&c, c.u);
  for (size_t t = 0; t < T; t++) {
    assert_close(s.params[t].covariance.noise / s.params[t].covariance.kernelscale, 0.1 / 0.4,
                 1e-14);
    assert_close(s.params[t].covariance.kernelscale, 0.4 + (double)t, 1e-14);
    assert_near(s.coefficient[t], 0.3 * (double)t - 0.2, 0);
  }
  gpnn_fit_coordinates_release(&c);
}

static void fixed_parameters_are_not_coordinates(void **state)
{
  (void)state;
  struct setting s;
  struct gpnn_fit_coordinates c = {0};
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  set_up(&s);
  options.fixed_lengthscale = options.fixed_noise = 1;
  options.same_ratio = true;
  assert_ok(gpnn_fit_coordinates_init(&c, &options, &s.targets, 1, false, &err));
  assert_int_equal(c.n, T);
  for (size_t i = 0; i < c.n; i++) {
    assert_int_equal(c.parameter[i], D);
    assert_int_equal(c.target[i], i);
    assert_close(c.u[i], log(0.4 + (double)i), 1e-15);
  }
  gpnn_fit_coordinates_release(&c);
}

/* That of a target: (log of a lengthscale / scale, of a kernel scale / 1, of a noise / 0.1) / log
 * 3, squares by halves, for 50 rows; of several targets the mean, and of several lengthscales: else
 * those of dozens of inputs that do not matter would outweigh the rows. */
static void the_prior_is_weak_and_has_its_derivatives(void **state)
{
  (void)state;
  const double scale = 1.7, rows = 50, step = 1e-5;
  struct setting s;
  struct gpnn_fit_coordinates c = {0};
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  double expected = 0, gradient[T * WIDTH] = {0};
  set_up(&s);
  assert_ok(gpnn_fit_coordinates_init(&c, &options, &s.targets, scale, true, &err));
  for (size_t t = 0; t < T; t++) {
    for (size_t j = 0; j < D; j++) expected += pow(log(s.lengthscale[t][j] / scale), 2) / D;
    expected += pow(log(s.params[t].covariance.kernelscale), 2) +
                pow(log(s.params[t].covariance.noise / 0.1), 2);
  }
  expected /= 2 * pow(log(3), 2) * rows * T;
  assert_close(gpnn_fit_coordinates_prior(&c, rows, c.u, gradient), expected, 1e-12);
  assert_close(gpnn_fit_coordinates_prior(&c, 2 * rows, c.u, NULL), expected / 2, 1e-12);
  for (size_t i = 0; i < c.n; i++) {
    double u = c.u[i];
    c.u[i] = u + step;
    double above = gpnn_fit_coordinates_prior(&c, rows, c.u, NULL);
    c.u[i] = u - step;
    assert_near(gradient[i], (above - gpnn_fit_coordinates_prior(&c, rows, c.u, NULL)) / (2 * step),
                1e-9);
    c.u[i] = u;
  }
  gpnn_fit_coordinates_release(&c);

  options.prior_factor = 9;
  assert_ok(gpnn_fit_coordinates_init(&c, &options, &s.targets, scale, true, &err));
  assert_close(gpnn_fit_coordinates_prior(&c, rows, c.u, NULL), expected / 4, 1e-12);
  gpnn_fit_coordinates_release(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_differences),
      cmocka_unit_test(derivatives_agree_with_differences_under_same_ratio),
      cmocka_unit_test(noises_keep_the_ratio_of_the_first),
      cmocka_unit_test(fixed_parameters_are_not_coordinates),
      cmocka_unit_test(the_prior_is_weak_and_has_its_derivatives),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
