/* Classes with Polya-Gamma variables: the Gaussian formulas written out, derivatives, symmetries,
 * and fits of made-up classes. */
#include "dense.h"
#include "models/polya_gamma/polya_gamma_private.h"
#include "random.h"
#include "stats/distributions/polya_gamma.h"

/* ---- data ------------------------------------------------------------------------------- */

/* Classes of rows of normal inputs; owns what it points to. */
struct classes {
  struct gpnn_dataset data;
  double *x, *y;
  uint32_t *group;
};

/* The class is noisy where two inputs, the only ones that matter, are close to a boundary. */
static struct classes make_classes(size_t n, size_t d, size_t n_classes, uint64_t seed)
{
  struct classes c = {.x = normal_rows(n, d, seed),
                      .y = gpnn_alloc(n, 1, sizeof *c.y),
                      .group = gpnn_alloc(d, 1, sizeof *c.group)};
  struct gpnn_rng rng = seeded(seed + 1000);
  assert_true(c.y != NULL && c.group != NULL);
  for (size_t j = 0; j < d; j++) c.group[j] = (uint32_t)j;
  for (size_t i = 0; i < n; i++) {
    double angle = atan2(c.x[i * d], d > 1 ? c.x[i * d + 1] : 1) + 0.2 * gpnn_rng_normal(&rng);
    double turn = angle / (2 * M_PI) + 1.5;
    c.y[i] = floor((turn - floor(turn)) * (double)n_classes);
  }
  c.data = (struct gpnn_dataset){
      .n = n, .d = d, .n_groups = d, .group = c.group, .x = c.x, .y = c.y, .seed = 1};
  c.data.schema.target.kind = GPNN_COLUMN_CLASSES;
  c.data.schema.target.n_levels = n_classes;
  return c;
}

static void free_classes(struct classes *c)
{
  free(c->x);
  free(c->y);
  free(c->group);
}

/* ---- the objective ---------------------------------------------------------------------- */

/* An objective on all rows of some classes, each with the k rows after it as neighbours, whichever
 * are nearest. */
struct subject {
  struct classes classes;
  struct gpnn_covariance covariance;
  struct gpnn_polya_gamma_objective objective;
  struct gpnn_polya_gamma_batch batch;
  double lengthscale[8];
  int64_t *row, *neighbour;
  size_t n;  /* coordinates */
  double *u; /* n */
};

static struct subject make_subject(const char *kernel, size_t n, size_t d, size_t k,
                                   size_t n_classes, bool ard, bool learns_omega)
{
  struct subject s = {.classes = make_classes(n, d, n_classes, 7),
                      .row = gpnn_alloc(n, 1, sizeof *s.row),
                      .neighbour = gpnn_alloc(n, k, sizeof *s.neighbour)};
  s.covariance = (struct gpnn_covariance){.kernel = gpnn_kernel_by_name(kernel),
                                          .n_lengthscales = ard ? d : 1};
  for (size_t i = 0; i < n; i++) {
    s.row[i] = (int64_t)i;
    for (size_t a = 0; a < k; a++)
      s.neighbour[i * k + a] = a + 1 < n && a < k - i % 2 ? (int64_t)((i + 1 + a) % n) : -1;
  }
  s.batch = (struct gpnn_polya_gamma_batch){n, k, s.row, s.neighbour, 3, false};
  s.objective =
      (struct gpnn_polya_gamma_objective){.n_channels = gpnn_polya_gamma_channels(n_classes),
                                          .learns_omega = learns_omega,
                                          .weight = 1,
                                          .seed = 1,
                                          .threads = 1};
  gpnn_logistic_init(&s.objective.logistic);
  gpnn_hermite_init(&s.objective.divergence, 20);
  return s;
}

/* Sets what points into the subject itself, and the coordinates. */
static void begin(struct subject *s)
{
  struct gpnn_rng rng = seeded(5);
  s->covariance.lengthscale = s->lengthscale;
  s->objective.data = &s->classes.data;
  s->objective.covariance = &s->covariance;
  s->n = gpnn_polya_gamma_coordinates(&s->objective);
  s->u = gpnn_alloc(s->n, 1, sizeof *s->u);
  size_t n_kernel = s->covariance.n_lengthscales + 1;
  for (size_t i = 0; i < s->n; i++)
    s->u[i] = (i < n_kernel              ? 0.5
               : (i - n_kernel) % 2 == 0 ? -1.5
                                         : -0.4) +
              0.3 * gpnn_rng_normal(&rng);
}

static void end(struct subject *s)
{
  free_classes(&s->classes);
  free(s->row);
  free(s->neighbour);
  free(s->u);
}

static double value_at(const struct subject *s, const double *u)
{
  double value;
  assert_ok(gpnn_polya_gamma_evaluate(&s->objective, &s->batch, u, &value, NULL, &err));
  return value;
}

static void check_gradient(struct subject *s)
{
  const double h = 1e-5;
  double *gradient = gpnn_alloc(s->n, 1, sizeof *gradient), value;
  assert_ok(gpnn_polya_gamma_evaluate(&s->objective, &s->batch, s->u, &value, gradient, &err));
  assert_close(value_at(s, s->u), value, 1e-12);
  double most = 0;
  for (size_t i = 0; i < s->n; i++) most = fmax(most, fabs(gradient[i]));
  for (size_t i = 0; i < s->n; i++) {
    double kept = s->u[i];
    s->u[i] = kept + h;
    double up = value_at(s, s->u);
    s->u[i] = kept - h;
    double down = value_at(s, s->u);
    s->u[i] = kept;
    assert_near(gradient[i], (up - down) / (2 * h), 1e-7 * (1 + most));
  }
  free(gradient);
}

static void gradients_are_the_derivatives(void **state)
{
  (void)state;
  static const char *const kernels[] = {"exp", "matern32", "matern52", "rbf"};
  static const size_t classes[] = {2, 3, 5};
  for (size_t kernel = 0; kernel < 4; kernel++)
    for (size_t c = 0; c < 3; c++)
      for (int variant = 0; variant < 4; variant++) {
        struct subject s = make_subject(kernels[kernel], 9, variant == 3 ? 1 : 3, 5, classes[c],
                                        variant % 2 == 0, variant < 2);
        begin(&s);
        check_gradient(&s);
        s.objective.weight = 9;
        check_gradient(&s);
        end(&s);
      }
}

static void gradients_hold_for_few_neighbours_duplicates_and_groups(void **state)
{
  (void)state;
  for (size_t k = 1; k < 3; k++) {
    struct subject s = make_subject("matern52", 6, 4, k, 3, true, true);
    s.classes.data.n_groups = s.covariance.n_lengthscales = 2;
    for (uint32_t j = 0; j < 4; j++) s.classes.group[j] = j / 2;
    for (size_t j = 0; j < 4; j++) s.classes.x[4 + j] = s.classes.x[8 + j] = s.classes.x[j];
    begin(&s);
    check_gradient(&s);
    end(&s);
  }
}

/* Rows whose neighbours were all taken away are predicted by the prior, which knows nothing. */
static void rows_without_neighbours_have_equal_probabilities(void **state)
{
  (void)state;
  for (size_t n_classes = 2; n_classes < 5; n_classes++) {
    struct subject s = make_subject("matern52", 6, 2, 2, n_classes, true, false);
    for (size_t i = 0; i < 12; i++) s.neighbour[i] = -1;
    begin(&s);
    assert_close(value_at(&s, s.u), log((double)n_classes), 1e-12);
    end(&s);
  }
}

static void omega_is_the_same_draw_for_all_and_another_in_each_step(void **state)
{
  (void)state;
  struct subject s = make_subject("matern52", 9, 2, 4, 2, true, true);
  begin(&s);
  double value = value_at(&s, s.u);
  assert_true(value == value_at(&s, s.u));
  s.batch.draw++;
  assert_true(value != value_at(&s, s.u));
  s.batch.at_medians = true;
  double median = value_at(&s, s.u);
  s.batch.draw++;
  assert_true(median == value_at(&s, s.u));
  end(&s);
}

/* ---- one row ---------------------------------------------------------------------------- */

/* Jankowiak and Pleiss (2021), equations 28 and 29: regression on y / (2 omega) with noise 1/omega.
 */
static void channels_are_regressions_on_pseudo_targets(void **state)
{
  (void)state;
  enum { N = 7, D = 2 };
  static const int64_t neighbour[] = {3, 1, 6, 0, 5};
  const double inverse[D] = {1 / 0.9, 1 / 1.4}, point[D] = {0.2, -0.1};
  double lengthscale[D] = {0.9, 1.4};
  struct classes c = make_classes(N, D, 3, 3);
  struct gpnn_covariance covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                       .n_lengthscales = D,
                                       .lengthscale = lengthscale,
                                       .kernelscale = 2.3};
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  struct gpnn_polya_gamma_row row = {.data = &c.data,
                                     .covariance = &covariance,
                                     .logistic = &logistic,
                                     .inverse = inverse,
                                     .most = 5,
                                     .n_channels = 3};
  assert_true(gpnn_polya_gamma_row_init(&row));
  gpnn_polya_gamma_place(&row, point, 5, neighbour, false);
  for (size_t i = 0; i < 15; i++) row.omega[i] = 0.05 + 0.07 * (double)i;
  assert_ok(gpnn_polya_gamma_condition(&row, &err));
  for (size_t channel = 0; channel < 3; channel++) {
    long double a[25], r[5], kappa[5], alpha[5], mean = 0, variance = 2.3L;
    for (size_t i = 0; i < 5; i++) {
      const double *x = c.x + neighbour[i] * D, omega = row.omega[channel * 5 + i];
      for (size_t j = 0; j < 5; j++)
        a[i * 5 + j] =
            2.3L * dense_kernel("matern32", D, x, c.x + neighbour[j] * D, D, lengthscale) +
            (i == j ? 1 / omega : 0);
      alpha[i] = (c.y[neighbour[i]] == (double)channel ? 1 : -1) / (2 * omega);
      r[i] = kappa[i] = 2.3L * dense_kernel("matern32", D, x, point, D, lengthscale);
    }
    dense_solve(5, a, alpha, r);
    for (size_t i = 0; i < 5; i++) {
      mean += kappa[i] * alpha[i];
      variance -= kappa[i] * r[i];
    }
    assert_close(row.mean[channel], (double)mean, 1e-12);
    assert_close(row.variance[channel], (double)variance, 1e-12);
  }
  gpnn_polya_gamma_row_release(&row);
  free_classes(&c);
}

/* The probabilities at a point where omega is the same for all. */
static void probabilities(const struct classes *c, size_t n_classes, double omega, double *p)
{
  static const int64_t neighbour[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const double inverse[2] = {1, 0.7}, point[2] = {0.3, 0.4};
  struct gpnn_covariance covariance =
      gpnn_covariance_isotropic(gpnn_kernel_by_name("matern52"), 0, 1, 6, 0);
  struct gpnn_logistic logistic;
  gpnn_logistic_init(&logistic);
  struct gpnn_polya_gamma_row row = {.data = &c->data,
                                     .covariance = &covariance,
                                     .logistic = &logistic,
                                     .inverse = inverse,
                                     .most = 8,
                                     .n_channels = gpnn_polya_gamma_channels(n_classes),
                                     .is_common = true};
  assert_true(gpnn_polya_gamma_row_init(&row));
  gpnn_polya_gamma_place(&row, point, 8, neighbour, false);
  for (size_t i = 0; i < 8 * row.n_channels; i++) row.omega[i] = omega;
  assert_ok(gpnn_polya_gamma_condition(&row, &err));
  gpnn_polya_gamma_classes(&row, p);
  double sum = 0;
  for (size_t i = 0; i < n_classes; i++) sum += p[i];
  assert_near(sum, 1, 1e-14);
  gpnn_polya_gamma_row_release(&row);
}

static void permuted_labels_have_permuted_probabilities(void **state)
{
  (void)state;
  for (size_t n_classes = 2; n_classes < 6; n_classes++) {
    struct classes c = make_classes(8, 2, n_classes, 11);
    double p[6], q[6];
    probabilities(&c, n_classes, 0.2, p);
    for (size_t i = 0; i < 8; i++) c.y[i] = (double)(((size_t)c.y[i] + 1) % n_classes);
    probabilities(&c, n_classes, 0.2, q);
    for (size_t i = 0; i < n_classes; i++) assert_near(q[(i + 1) % n_classes], p[i], 1e-14);
    free_classes(&c);
  }
}

/* ---- fits ------------------------------------------------------------------------------- */

static const struct gpnn_polya_gamma_options usual = {.ard = true,
                                                      .neighbours = 16,
                                                      .steps = 300,
                                                      .refresh = 50,
                                                      .divergence_weight = 1,
                                                      .seed = 1,
                                                      .threads = 1};

static struct gpnn_polya_gamma_options options_of(bool learns_omega)
{
  struct gpnn_polya_gamma_options options = usual;
  options.kernel = gpnn_kernel_by_name("matern52");
  options.learns_omega = learns_omega;
  return options;
}

static void fits_find_the_inputs_that_matter(void **state)
{
  (void)state;
  for (size_t n_classes = 2; n_classes < 4; n_classes++) {
    struct classes c = make_classes(400, 4, n_classes, 21);
    struct gpnn_polya_gamma_options options = options_of(false);
    struct gpnn_polya_gamma_report report;
    struct gpnn_parameters params = {0};
    assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
    const double *l = params.covariance.lengthscale;
    assert_true(report.loss < 0.6 * log((double)n_classes));
    assert_true(fmin(l[2], l[3]) > 2 * l[0]);
    assert_int_equal(params.likelihood, GPNN_LIKELIHOOD_CATEGORICAL);
    assert_int_equal(params.neighbours, 16);
    assert_int_equal(report.n_rows, 400);
    assert_true(params.covariance.noise == 0);
    gpnn_parameters_release(&params);
    free_classes(&c);
  }
}

/* Where the classes are clear the latent function is large, which PG(1, f) answers with a smaller
 * omega; what the fit learns has to see the same. */
static void learnt_omega_is_smaller_far_from_boundaries(void **state)
{
  (void)state;
  enum { N = 400 };
  struct classes c = make_classes(N, 2, 2, 23);
  struct gpnn_polya_gamma_options options = options_of(true);
  struct gpnn_polya_gamma_report report;
  struct gpnn_parameters params = {0};
  double near_sum = 0, far_sum = 0, n_near = 0;
  options.steps = 600;
  assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
  for (size_t i = 0; i < N; i++) {
    bool is_near = fabs(c.x[2 * i]) < 0.5; /* the boundary is where the first input is zero */
    *(is_near ? &near_sum : &far_sum) += params.omega.log_median[i];
    n_near += is_near;
  }
  assert_true(far_sum / (N - n_near) < near_sum / n_near - 0.05);
  gpnn_parameters_release(&params);
  free_classes(&c);
}

/* A divergence that weighs as much as all rows together keeps omega where it was. */
static void summed_divergence_keeps_omega_at_its_start(void **state)
{
  (void)state;
  enum { N = 300 };
  struct classes c = make_classes(N, 2, 2, 25);
  double spread[2];
  for (int is_summed = 0; is_summed < 2; is_summed++) {
    struct gpnn_polya_gamma_options options = options_of(true);
    struct gpnn_polya_gamma_report report;
    struct gpnn_parameters params = {0};
    if (is_summed) options.divergence_weight = 0;
    assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
    spread[is_summed] = 0;
    for (size_t i = 0; i < N; i++)
      spread[is_summed] =
          fmax(spread[is_summed], fabs(params.omega.log_median[i] - gpnn_polya_gamma_nearest().m));
    gpnn_parameters_release(&params);
  }
  assert_true(spread[1] < 0.1);
  assert_true(spread[0] > 3 * spread[1]);
  free_classes(&c);
}

static void fits_do_not_depend_on_the_threads(void **state)
{
  (void)state;
  enum { N = 300, CHANNELS = 3 };
  struct classes c = make_classes(N, 3, 3, 27);
  double first[N * CHANNELS], kernelscale = 0;
  for (int threads = 1; threads < 4; threads += 2) {
    struct gpnn_polya_gamma_options options = options_of(true);
    struct gpnn_polya_gamma_report report;
    struct gpnn_parameters params = {0};
    options.threads = threads;
    options.steps = 60;
    options.neighbours = 40; /* enough work for several threads */
    assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
    if (threads == 1) memcpy(first, params.omega.log_median, sizeof first);
    if (threads == 1) kernelscale = params.covariance.kernelscale;
    assert_memory_equal(first, params.omega.log_median, sizeof first);
    assert_true(kernelscale == params.covariance.kernelscale);
    gpnn_parameters_release(&params);
  }
  free_classes(&c);
}

static void fixed_and_starting_values_are_kept(void **state)
{
  (void)state;
  struct classes c = make_classes(40, 2, 2, 29);
  struct gpnn_polya_gamma_options options = options_of(false);
  struct gpnn_polya_gamma_report report;
  struct gpnn_parameters params = {0}, start = {0};
  options.fixed_lengthscale = 0.7;
  options.fixed_kernelscale = 3;
  assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
  assert_close(params.covariance.lengthscale[1], 0.7, 1e-14);
  assert_close(params.covariance.kernelscale, 3, 1e-14);
  options = options_of(false);
  options.start = &params;
  options.steps = 1;
  assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &start, &report, &err));
  assert_near(log(start.covariance.lengthscale[0] / 0.7), 0, 0.031);
  assert_near(log(start.covariance.kernelscale / 3), 0, 0.031);
  gpnn_parameters_release(&params);
  gpnn_parameters_release(&start);
  free_classes(&c);
}

static void fits_take_few_rows_constant_inputs_and_rare_classes(void **state)
{
  (void)state;
  for (size_t n = 2; n < 21; n += 6) {
    struct classes c = make_classes(n, 2, 4, 31);
    struct gpnn_polya_gamma_options options = options_of(true);
    struct gpnn_polya_gamma_report report;
    struct gpnn_parameters params = {0};
    options.steps = 20;
    for (size_t i = 0; i < n; i++) c.x[2 * i + 1] = 1;
    assert_ok(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err));
    assert_int_equal(params.neighbours, n - 1 < 16 ? n - 1 : 16);
    assert_true(isfinite(report.loss));
    gpnn_parameters_release(&params);
    free_classes(&c);
  }
}

static void fits_refuse_what_cannot_be_learnt(void **state)
{
  (void)state;
  struct gpnn_polya_gamma_options options = options_of(false);
  struct gpnn_polya_gamma_report report;
  struct gpnn_parameters params = {0};
  struct classes one = make_classes(10, 2, 1, 33), few = make_classes(1, 2, 2, 33);
  assert_fails(gpnn_polya_gamma_fit(&one.data, &options, &params, &report, &err), GPNN_EDATA,
               "two classes");
  assert_fails(gpnn_polya_gamma_fit(&few.data, &options, &params, &report, &err), GPNN_EDATA,
               "two training rows");
  struct gpnn_parameters start = {.covariance.n_lengthscales = 5};
  struct classes c = make_classes(10, 2, 2, 33);
  options.start = &start;
  assert_fails(gpnn_polya_gamma_fit(&c.data, &options, &params, &report, &err), GPNN_EMISMATCH,
               "5 lengthscales");
  free_classes(&one);
  free_classes(&few);
  free_classes(&c);
}

/* ---- the model -------------------------------------------------------------------------- */

/* The probabilities of one row, training row 'self' or -1, from a model of 'params'. */
static void classify(const struct classes *c, const struct gpnn_parameters *params, const double *x,
                     int64_t self, double *p, double *nearest)
{
  const struct gpnn_channel channel = {&c->data, params};
  const struct gpnn_model_options options = {.threads = 1};
  const struct gpnn_query query = {.n = 1, .x = x, .self = &self};
  struct gpnn_counts counts = {0};
  struct gpnn_model *model = NULL;
  assert_ok(gpnn_model_new(&model, 1, &channel, &options, &err));
  assert_ok(gpnn_model_classify(model, 0, &query, p, nearest, &counts, &err));
  gpnn_model_free(model);
}

/* Parameters of polya-gamma, with a lengthscale for each of 2 inputs. */
static struct gpnn_parameters parameters_of(double lengthscale[2], size_t neighbours)
{
  return (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern52"),
                                                 .n_lengthscales = 2,
                                                 .lengthscale = lengthscale,
                                                 .kernelscale = 6},
                                  .likelihood = GPNN_LIKELIHOOD_CATEGORICAL,
                                  .inference = GPNN_INFERENCE_POLYA_GAMMA,
                                  .neighbours = neighbours};
}

static void model_predicts_from_the_nearest_rows_at_the_median_of_omega(void **state)
{
  (void)state;
  for (size_t n_classes = 2; n_classes < 5; n_classes++) {
    struct classes c = make_classes(8, 2, n_classes, 41);
    double lengthscale[2] = {1, 1 / 0.7}, p[4], expected[4], nearest;
    const double point[2] = {0.3, 0.4};
    struct gpnn_parameters params = parameters_of(lengthscale, 8);
    probabilities(&c, n_classes, exp(gpnn_polya_gamma_nearest().m), expected);
    classify(&c, &params, point, -1, p, &nearest);
    for (size_t i = 0; i < n_classes; i++) assert_near(p[i], expected[i], 1e-13);
    double least = INFINITY;
    for (size_t i = 0; i < 8; i++)
      least = fmin(least, hypot(c.x[2 * i] - 0.3, 0.7 * (c.x[2 * i + 1] - 0.4)));
    assert_close(nearest, least, 1e-12);
    free_classes(&c);
  }
}

static void learnt_omega_is_that_of_each_row_and_channel(void **state)
{
  (void)state;
  struct classes c = make_classes(8, 2, 3, 43);
  double lengthscale[2] = {1, 1 / 0.7}, p[3], expected[3], log_median[24], nearest;
  const double point[2] = {0.3, 0.4};
  struct gpnn_parameters params = parameters_of(lengthscale, 8);
  params.omega = (struct gpnn_omega){.is_learnt = true, .n = 24, .log_median = log_median};
  for (size_t i = 0; i < 24; i++) log_median[i] = log(0.4);
  probabilities(&c, 3, 0.4, expected);
  classify(&c, &params, point, -1, p, &nearest);
  for (size_t i = 0; i < 3; i++) assert_near(p[i], expected[i], 1e-13);
  /* Another row order and other names of classes, both with their variables, change nothing. */
  for (size_t i = 0; i < 24; i++) log_median[i] = log(0.05 + 0.02 * (double)i);
  classify(&c, &params, point, -1, expected, &nearest);
  struct classes other = make_classes(8, 2, 3, 43);
  double moved[24];
  for (size_t i = 0; i < 8; i++) {
    size_t to = (i + 3) % 8;
    memcpy(other.x + 2 * to, c.x + 2 * i, 2 * sizeof *c.x);
    other.y[to] = (double)(((size_t)c.y[i] + 1) % 3);
    for (size_t k = 0; k < 3; k++) moved[3 * to + (k + 1) % 3] = log_median[3 * i + k];
  }
  params.omega.log_median = moved;
  classify(&other, &params, point, -1, p, &nearest);
  for (size_t i = 0; i < 3; i++) assert_near(p[(i + 1) % 3], expected[i], 1e-12);
  free_classes(&c);
  free_classes(&other);
}

static void training_rows_are_left_out_of_their_own_predictions(void **state)
{
  (void)state;
  struct classes c = make_classes(9, 2, 2, 45);
  double lengthscale[2] = {1, 1 / 0.7}, p[2], q[2], nearest;
  struct gpnn_parameters params = parameters_of(lengthscale, 8);
  classify(&c, &params, c.x + 16, 8, p, &nearest);
  assert_true(nearest > 0);
  c.data.n = 8;
  classify(&c, &params, c.x + 16, -1, q, &nearest);
  assert_near(p[0], q[0], 1e-14);
  free_classes(&c);
}

static void model_wants_the_variables_that_were_learnt(void **state)
{
  (void)state;
  struct classes c = make_classes(8, 2, 3, 47);
  double lengthscale[2] = {1, 1}, log_median[8] = {0};
  struct gpnn_parameters params = parameters_of(lengthscale, 8);
  const struct gpnn_channel channel = {&c.data, &params};
  const struct gpnn_model_options options = {.threads = 1};
  struct gpnn_model *model = NULL;
  params.omega.is_learnt = true;
  assert_fails(gpnn_model_new(&model, 1, &channel, &options, &err), GPNN_EMISMATCH,
               "not in these parameters");
  params.omega.n = 8;
  params.omega.log_median = log_median;
  assert_fails(gpnn_model_new(&model, 1, &channel, &options, &err), GPNN_EMISMATCH,
               "there are 8, not 24");
  free_classes(&c);
}

/* In batches, with more threads, or with the parameters put in later: the same bytes. */
static void predictions_depend_on_rows_alone(void **state)
{
  (void)state;
  enum { N = 200, K = 3 };
  struct classes c = make_classes(N, 2, K, 49);
  double lengthscale[2] = {0.8, 2}, other_lengthscale[2] = {0.8, 2}, p[N * K], q[N * K];
  struct gpnn_parameters params = parameters_of(lengthscale, 20),
                         other = parameters_of(other_lengthscale, 20);
  const struct gpnn_channel channel = {&c.data, &params}, first = {&c.data, &other};
  struct gpnn_query query = {.n = N, .x = c.x};
  struct gpnn_counts counts = {0};
  struct gpnn_model *model = NULL, *from = NULL;
  const struct gpnn_model_options one = {.threads = 1}, three = {.threads = 3};
  other.covariance.kernelscale = 1;
  assert_ok(gpnn_model_new(&from, 1, &first, &three, &err));
  assert_ok(gpnn_model_with(from, &channel, &model, &err));
  assert_ok(gpnn_model_classify(model, 0, &query, p, NULL, &counts, &err));
  gpnn_model_free(model);
  gpnn_model_free(from);
  assert_ok(gpnn_model_new(&model, 1, &channel, &one, &err));
  query.n = 7;
  for (size_t i = 0; i < N; i += 7) {
    if (N - i < 7) query.n = N - i;
    query.x = c.x + 2 * i;
    assert_ok(gpnn_model_classify(model, 0, &query, q + K * i, NULL, &counts, &err));
  }
  assert_memory_equal(p, q, sizeof p);
  gpnn_model_free(model);
  free_classes(&c);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_the_derivatives),
      cmocka_unit_test(gradients_hold_for_few_neighbours_duplicates_and_groups),
      cmocka_unit_test(rows_without_neighbours_have_equal_probabilities),
      cmocka_unit_test(omega_is_the_same_draw_for_all_and_another_in_each_step),
      cmocka_unit_test(channels_are_regressions_on_pseudo_targets),
      cmocka_unit_test(permuted_labels_have_permuted_probabilities),
      cmocka_unit_test(fits_find_the_inputs_that_matter),
      cmocka_unit_test(learnt_omega_is_smaller_far_from_boundaries),
      cmocka_unit_test(summed_divergence_keeps_omega_at_its_start),
      cmocka_unit_test(fits_do_not_depend_on_the_threads),
      cmocka_unit_test(fixed_and_starting_values_are_kept),
      cmocka_unit_test(fits_take_few_rows_constant_inputs_and_rare_classes),
      cmocka_unit_test(fits_refuse_what_cannot_be_learnt),
      cmocka_unit_test(model_predicts_from_the_nearest_rows_at_the_median_of_omega),
      cmocka_unit_test(learnt_omega_is_that_of_each_row_and_channel),
      cmocka_unit_test(training_rows_are_left_out_of_their_own_predictions),
      cmocka_unit_test(model_wants_the_variables_that_were_learnt),
      cmocka_unit_test(predictions_depend_on_rows_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
