/* Processes that see their inputs by value, by score or both, and models of several of them. */
#include "base/memory.h"
#include "base/rng.h"
#include "dataset/index/index.h"
#include "dataset/transformed.h"
#include "estimate/fit.h"
#include "kernel/parameters.h"
#include "kernel/sight.h"
#include "models.h"
#include "trained.h"

enum { N = 250, D = 3, C = 20 };

/* ---- rows and processes --------------------------------------------------------------------- */

static double as_it_is(double x)
{
  return x;
}

static double cube(double x)
{
  return x * x * x;
}

/* An index of two targets, y and z, and three inputs, of which the second has two values and so no
 * score; 'map' is what becomes of the first. */
static struct gpnn_index *make_index(double (*map)(double), size_t held_out)
{
  struct gpnn_rng rng;
  struct gpnn_training training = {0};
  struct gpnn_index *index = NULL;
  struct gpnn_search *search = NULL;
  const char *path = scratch_path("seen.gpi");
  struct gpnn_search_options options = GPNN_SEARCH_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "y,z"};
  size_t length = 0;
  char *text = malloc(1 << 16);
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  length += (size_t)sprintf(text, "a\tb\tc\ty\tz\n");
  for (size_t i = 0; i < N + C; i++) {
    double a = gpnn_rng_normal(&rng), c = exp(gpnn_rng_normal(&rng));
    length += (size_t)sprintf(text + length, "%.17g\t%zu\t%.17g\t%g\t%g\n", map(a), i % 2, c,
                              sin(3 * a) + log(c), c - a + (double)(i % 2));
  }
  train(&training, text, &roles, GPNN_SCALING_SCALE, held_out);
  free(text);
  options.kind = GPNN_SEARCH_TREE;
  assert_ok(gpnn_index_make(path, &training.dataset, NULL, &options, NULL, &search, &err));
  gpnn_search_free(search);
  gpnn_training_release(&training);
  assert_ok(gpnn_index_open(&index, path, false, &err));
  return index;
}

static double *numbers(size_t n, double first, double step)
{
  double *list = gpnn_alloc(n, 1, sizeof *list);
  for (size_t i = 0; i < n; i++) list[i] = first + step * (double)i;
  return list;
}

/* A process that sees inputs a and c as 'sight', with its own lengthscales, or one of all. */
static struct gpnn_parameters make_process(enum gpnn_sight sight, bool ard)
{
  size_t width = sight == GPNN_SIGHT_BOTH ? D + 2 : D;
  struct gpnn_parameters p = {.covariance.kernel = gpnn_kernel_by_name("matern32"),
                              .covariance.n_lengthscales = ard ? width : 1,
                              .covariance.lengthscale = numbers(ard ? width : 1, 0.5, 0.2),
                              .covariance.kernelscale = 0.9,
                              .covariance.noise = 0.1,
                              .neighbours = 30};
  p.target = gpnn_copy_text("y", 1);
  if (sight == GPNN_SIGHT_VALUE) return p;
  p.n_sight = D;
  p.sight = gpnn_alloc(D, 1, 1);
  for (size_t j = 0; j < D; j++) p.sight[j] = j == 1 ? GPNN_SIGHT_VALUE : (unsigned char)sight;
  return p;
}

struct prediction {
  double mean[C], variance[C];
};

/* Predicts the rows held out, or the first training rows. */
static void predict(const struct gpnn_dataset *dataset, size_t n, struct gpnn_parameters *params,
                    size_t t, struct prediction *to)
{
  struct gpnn_transformed *transformed = NULL;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  *to = (struct prediction){{0}, {0}};
  assert_ok(gpnn_sight_agree(n, params, dataset, &err));
  assert_ok(gpnn_channels_transform(dataset, n, params, NULL, &transformed, &err));
  const struct gpnn_dataset *seen =
      transformed == NULL ? dataset : gpnn_transformed_dataset(transformed);
  assert_ok(make_model(&model, seen, &params[t], 0, 1, &err));
  const struct gpnn_query query = {.n = C,
                                   .x = seen->n_calibration > 0 ? seen->calibration_x : seen->x};
  const struct gpnn_latent latent = {.mean = to->mean, .variance = to->variance};
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
  gpnn_model_free(model);
  gpnn_transformed_free(transformed);
}

static void assert_same(const struct prediction *a, const struct prediction *b, double tolerance)
{
  for (size_t i = 0; i < C; i++) {
    assert_near(a->mean[i], b->mean[i], tolerance);
    assert_near(a->variance[i], b->variance[i], tolerance);
  }
}

static double difference(const struct prediction *a, const struct prediction *b)
{
  double largest = 0;
  for (size_t i = 0; i < C; i++) largest = fmax(largest, fabs(a->mean[i] - b->mean[i]));
  return largest;
}

/* ---- lifting -------------------------------------------------------------------------------- */

/* What a process predicts alone, it predicts beside one that sees otherwise. */
static void assert_lifted(const struct gpnn_dataset *dataset, struct gpnn_parameters process,
                          enum gpnn_sight other)
{
  struct gpnn_parameters two[] = {process, make_process(other, true)};
  struct prediction alone, beside;
  predict(dataset, 1, &two[0], 0, &alone);
  predict(dataset, 2, two, 0, &beside);
  assert_non_null(two[0].sight);
  assert_memory_equal(two[0].sight, two[1].sight, D);
  assert_same(&beside, &alone, 1e-9);
  for (size_t k = 0; k < 2; k++) gpnn_parameters_release(&two[k]);
}

static void lifted_processes_predict_the_same(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  for (int own = GPNN_SIGHT_VALUE; own <= GPNN_SIGHT_BOTH; own++)
    for (int other = GPNN_SIGHT_VALUE; other <= GPNN_SIGHT_BOTH; other++)
      for (int ard = 0; ard < 2; ard++)
        if (own != GPNN_SIGHT_VALUE || other != GPNN_SIGHT_VALUE)
          assert_lifted(gpnn_index_dataset(index), make_process((enum gpnn_sight)own, ard),
                        (enum gpnn_sight)other);
  gpnn_index_close(index);
}

static void rotations_are_lifted(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  for (int own = GPNN_SIGHT_VALUE; own <= GPNN_SIGHT_SCORE; own++) {
    struct gpnn_parameters p = make_process((enum gpnn_sight)own, true);
    p.covariance.n_rotation = (size_t)D * D;
    p.covariance.rotation = numbers((size_t)D * D, -0.6, 0.31);
    assert_lifted(gpnn_index_dataset(index), p, GPNN_SIGHT_BOTH);
  }
  gpnn_index_close(index);
}

static void linear_means_are_lifted(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  for (int known = 0; known < 2; known++) {
    struct gpnn_parameters p = make_process(GPNN_SIGHT_SCORE, true);
    p.mean.kind = GPNN_MEAN_LINEAR;
    p.mean.n_coefficients = 1 + D;
    p.mean.coefficients = numbers(1 + D, 0.2, -0.3);
    if (!known) {
      p.mean.covariance = gpnn_alloc(1 + D, 1 + D, sizeof(double));
      for (size_t i = 0; i <= D; i++)
        for (size_t j = 0; j <= D; j++)
          p.mean.covariance[i * (1 + D) + j] = i == j ? 0.5 : 0.1 / (double)(1 + i + j);
    }
    assert_lifted(gpnn_index_dataset(index), p, GPNN_SIGHT_BOTH);
  }
  gpnn_index_close(index);
}

/* ---- several together ----------------------------------------------------------------------- */

static void members_may_see_differently(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  struct prediction alone[3], all;
  struct gpnn_parameters stack = make_process(GPNN_SIGHT_VALUE, true);
  stack.weight = 0.2;
  stack.n_members = 2;
  stack.members = gpnn_alloc(2, 1, sizeof *stack.members);
  stack.members[0] = make_process(GPNN_SIGHT_BOTH, false);
  stack.members[1] = make_process(GPNN_SIGHT_SCORE, true);
  stack.members[0].weight = 0.5;
  stack.members[1].weight = 0.3;
  for (size_t k = 0; k < 3; k++) {
    struct gpnn_parameters p = make_process(k == 0   ? GPNN_SIGHT_VALUE
                                            : k == 1 ? GPNN_SIGHT_BOTH
                                                     : GPNN_SIGHT_SCORE,
                                            k != 1);
    predict(dataset, 1, &p, 0, &alone[k]);
    gpnn_parameters_release(&p);
  }
  predict(dataset, 1, &stack, 0, &all);
  for (size_t i = 0; i < C; i++)
    assert_near(all.mean[i],
                0.2 * alone[0].mean[i] + 0.5 * alone[1].mean[i] + 0.3 * alone[2].mean[i], 1e-9);
  gpnn_parameters_release(&stack);
  gpnn_index_close(index);
}

static void values_alone_need_not_be_said(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  struct prediction plain, said;
  struct gpnn_parameters two[] = {make_process(GPNN_SIGHT_VALUE, true),
                                  make_process(GPNN_SIGHT_VALUE, true)};
  predict(dataset, 1, &two[0], 0, &plain);
  two[1].n_sight = D;
  two[1].sight = gpnn_alloc(D, 1, 1);
  memset(two[1].sight, GPNN_SIGHT_VALUE, D);
  predict(dataset, 2, two, 1, &said);
  assert_null(two[1].sight);
  assert_int_equal(two[1].n_sight, 0);
  assert_memory_equal(&plain, &said, sizeof plain);
  for (size_t k = 0; k < 2; k++) gpnn_parameters_release(&two[k]);
  gpnn_index_close(index);
}

static void what_the_index_does_not_have_is_refused(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  struct gpnn_parameters p = make_process(GPNN_SIGHT_BOTH, false);
  p.sight[1] = GPNN_SIGHT_SCORE;
  assert_fails(gpnn_sight_agree(1, &p, dataset, &err), GPNN_EMISMATCH, "no scores of 'b'");
  p.sight[1] = GPNN_SIGHT_VALUE;
  p.n_sight = 2;
  assert_fails(gpnn_sight_agree(1, &p, dataset, &err), GPNN_EMISMATCH,
               "the parameters have 2 inputs, the index has 3");
  p.n_sight = D;
  struct gpnn_dataset without = *dataset;
  without.scores = NULL;
  assert_fails(gpnn_sight_agree(1, &p, &without, &err), GPNN_EMISMATCH, "no scores of 'a'");
  gpnn_parameters_release(&p);
  gpnn_index_close(index);
}

/* ---- invariance ----------------------------------------------------------------------------- */

static double (*const maps[])(double) = {as_it_is, exp, cube};

/* What is seen by scores alone does not depend on the units or the scale of an input. */
static void scores_alone_do_not_know_of_rising_maps(void **state)
{
  (void)state;
  for (int sight = GPNN_SIGHT_SCORE; sight <= GPNN_SIGHT_BOTH; sight++) {
    struct prediction predicted[3];
    for (size_t m = 0; m < 3; m++) {
      struct gpnn_index *index = make_index(maps[m], 0);
      struct gpnn_parameters p = make_process((enum gpnn_sight)sight, true);
      predict(gpnn_index_dataset(index), 1, &p, 0, &predicted[m]);
      gpnn_parameters_release(&p);
      gpnn_index_close(index);
    }
    for (size_t m = 1; m < 3; m++)
      if (sight == GPNN_SIGHT_SCORE)
        assert_same(&predicted[m], &predicted[0], 1e-12);
      else
        assert_true(difference(&predicted[m], &predicted[0]) > 1e-3);
  }
}

/* A process estimated again, where others see more, learns no lengthscales of what it does not see.
 */
static void estimations_leave_what_is_not_seen(void **state)
{
  (void)state;
  struct gpnn_index *index = make_index(as_it_is, C);
  struct gpnn_transformed *transformed = NULL;
  struct gpnn_parameters two[] = {make_process(GPNN_SIGHT_VALUE, true),
                                  make_process(GPNN_SIGHT_BOTH, true)};
  struct gpnn_parameters fitted = {0};
  struct gpnn_fit_report report;
  struct gpnn_fit_options options = GPNN_FIT_OPTIONS_INIT;
  assert_ok(gpnn_sight_agree(2, two, gpnn_index_dataset(index), &err));
  assert_ok(gpnn_channels_transform(gpnn_index_dataset(index), 2, two, NULL, &transformed, &err));
  const struct gpnn_dataset *seen = gpnn_transformed_target(transformed, 0);
  options.kernel = gpnn_kernel_by_name("matern32");
  options.first = GPNN_OBJECTIVE_LOO;
  options.steps = 50;
  options.unseen = two[0].covariance.lengthscale;
  assert_ok(gpnn_fit(1, &seen, &options, &fitted, &report, &err));
  assert_int_equal(fitted.covariance.n_lengthscales, D + 2);
  for (size_t g = 0; g < D + 2; g++)
    assert_int_equal(fitted.covariance.lengthscale[g] < GPNN_SIGHT_UNSEEN,
                     two[0].covariance.lengthscale[g] < GPNN_SIGHT_UNSEEN);
  gpnn_parameters_release(&fitted);
  for (size_t k = 0; k < 2; k++) gpnn_parameters_release(&two[k]);
  gpnn_transformed_free(transformed);
  gpnn_index_close(index);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lifted_processes_predict_the_same),
      cmocka_unit_test(rotations_are_lifted),
      cmocka_unit_test(linear_means_are_lifted),
      cmocka_unit_test(members_may_see_differently),
      cmocka_unit_test(values_alone_need_not_be_said),
      cmocka_unit_test(what_the_index_does_not_have_is_refused),
      cmocka_unit_test(scores_alone_do_not_know_of_rising_maps),
      cmocka_unit_test(estimations_leave_what_is_not_seen),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
