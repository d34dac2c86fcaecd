/* Stacks: members whose predictions are averaged. */
#include "estimate/refit.h"
#include "fixture.h"
#include "likelihood/head.h"
#include "models.h"
#include "models/heldout.h"
#include "models/mixture.h"
#include "models/predict.h"

enum { N = 120, D = 2, POINTS = 17, MEMBERS = 3 };

static const char *const kernels[MEMBERS] = {"matern32", "exp", "rbf"};
static const size_t neighbours[MEMBERS] = {20, 35, 12};
static const double weights[MEMBERS] = {0.5, 0.2, 0.3};

/* Sets all but the weight: members differ in everything that they may. */
static void make_member(struct gpnn_parameters *member, size_t k)
{
  *member = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name(kernels[k]),
                                     .covariance.n_lengthscales = D,
                                     .covariance.lengthscale = gpnn_alloc(D, 1, sizeof(double)),
                                     .covariance.kernelscale = 0.5 + 0.2 * (double)k,
                                     .covariance.noise = 0.05 + 0.1 * (double)k,
                                     .mean.kind = GPNN_MEAN_CONSTANT,
                                     .mean.n_coefficients = 1,
                                     .mean.coefficients = gpnn_alloc(1, 1, sizeof(double)),
                                     .neighbours = neighbours[k]};
  for (size_t j = 0; j < D; j++)
    member->covariance.lengthscale[j] = 0.7 + 0.4 * (double)j + 0.5 * (double)k;
  member->mean.coefficients[0] = 0.3 * (double)k - 0.2;
}

/* The first 'n' members, with their weights divided by the sum of these. */
static struct gpnn_parameters make_stack(size_t n)
{
  struct gpnn_parameters stack;
  double sum = 0;
  for (size_t k = 0; k < n; k++) sum += weights[k];
  make_member(&stack, 0);
  stack.weight = weights[0] / sum;
  stack.n_members = n - 1;
  stack.members = gpnn_alloc(n - 1, 1, sizeof *stack.members);
  for (size_t k = 1; k < n; k++) {
    make_member(&stack.members[k - 1], k);
    stack.members[k - 1].weight = weights[k] / sum;
  }
  return stack;
}

struct prediction {
  double mean[POINTS], variance[POINTS], misfit[POINTS], nearest[POINTS];
};

static struct gpnn_latent arrays(struct prediction *p)
{
  return (struct gpnn_latent){
      .mean = p->mean, .variance = p->variance, .misfit = p->misfit, .nearest = p->nearest};
}

static struct gpnn_query points_of(const struct fixture *f)
{
  return (struct gpnn_query){.n = POINTS, .x = f->cx};
}

static void predict(const struct fixture *f, const struct gpnn_parameters *params,
                    struct prediction *p)
{
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct gpnn_query query = points_of(f);
  struct gpnn_latent latent = arrays(p);
  assert_ok(make_model(&model, f->data, params, 0, 2, &err));
  assert_ok(gpnn_model_predict(model, &query, &latent, &counts, &err));
  gpnn_model_free(model);
}

/* What the formulas say of the predictions of each member alone. */
static void expect(const struct prediction *members, size_t i, struct prediction *p)
{
  p->mean[i] = p->variance[i] = p->misfit[i] = p->nearest[i] = 0;
  for (size_t k = 0; k < MEMBERS; k++) {
    const struct prediction *m = &members[k];
    p->mean[i] += weights[k] * m->mean[i];
    p->variance[i] += weights[k] * (m->variance[i] + m->mean[i] * m->mean[i]);
    p->misfit[i] += weights[k] * m->misfit[i];
    p->nearest[i] += weights[k] * m->nearest[i];
  }
  p->variance[i] -= p->mean[i] * p->mean[i];
}

static void assert_moments(const struct prediction *members, const struct prediction *stacked)
{
  struct prediction expected;
  for (size_t i = 0; i < POINTS; i++) {
    expect(members, i, &expected);
    assert_near(stacked->mean[i], expected.mean[i], 1e-12);
    assert_near(stacked->variance[i], expected.variance[i], 1e-12);
    assert_close(stacked->misfit[i], expected.misfit[i], 1e-12);
    assert_close(stacked->nearest[i], expected.nearest[i], 1e-12);
  }
}

static void predict_members(const struct fixture *f, const struct gpnn_parameters *stack,
                            struct prediction *members)
{
  for (size_t k = 0; k < MEMBERS; k++) {
    struct gpnn_parameters alone = *gpnn_parameters_member(stack, k);
    alone.n_members = 0;
    alone.members = NULL;
    predict(f, &alone, &members[k]);
  }
}

static void moments_are_those_of_the_mixture(void **state)
{
  (void)state;
  struct fixture f;
  struct prediction stacked, members[MEMBERS];
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  predict(&f, &stack, &stacked);
  predict_members(&f, &stack, members);
  assert_moments(members, &stacked);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

static void weight_one_changes_nothing(void **state)
{
  (void)state;
  struct fixture f;
  struct prediction weighted, plain;
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(1);
  predict(&f, &stack, &weighted);
  stack.weight = 0;
  predict(&f, &stack, &plain);
  assert_memory_equal(&weighted, &plain, sizeof plain);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

static void equal_members_predict_what_each_does(void **state)
{
  (void)state;
  struct fixture f;
  struct prediction stacked, alone;
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(1);
  predict(&f, &stack, &alone);
  stack.weight = 0.25;
  stack.n_members = 1;
  free(stack.members);
  stack.members = gpnn_alloc(1, 1, sizeof *stack.members);
  make_member(&stack.members[0], 0);
  stack.members[0].weight = 0.75;
  predict(&f, &stack, &stacked);
  assert_memory_equal(&stacked, &alone, sizeof alone);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* Each number of neighbours is used by all members. */
static void several_numbers_of_neighbours_are_those_of_every_member(void **state)
{
  (void)state;
  static const size_t numbers[] = {5, 9};
  struct fixture f;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct prediction once;
  double mean[2 * POINTS], variance[2 * POINTS], misfit[2 * POINTS], nearest[POINTS];
  const struct gpnn_latent latent = {mean, variance, .misfit = misfit, .nearest = nearest};
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  struct gpnn_query query = points_of(&f);
  assert_ok(make_model(&model, f.data, &stack, 0, 1, &err));
  assert_int_equal(gpnn_model_neighbours(model, 0), 35);
  assert_ok(gpnn_model_predict_each(model, &query, 2, numbers, &latent, &counts, &err));
  gpnn_model_free(model);
  for (size_t k = 0; k < 2; k++) {
    struct gpnn_latent own = arrays(&once);
    assert_ok(make_model(&model, f.data, &stack, numbers[k], 1, &err));
    assert_int_equal(gpnn_model_neighbours(model, 0), numbers[k]);
    assert_ok(gpnn_model_predict(model, &query, &own, &counts, &err));
    gpnn_model_free(model);
    for (size_t i = 0; i < POINTS; i++) {
      assert_near(mean[k * POINTS + i], once.mean[i], 1e-12);
      assert_near(variance[k * POINTS + i], once.variance[i], 1e-12);
      assert_close(misfit[k * POINTS + i], once.misfit[i], 1e-9);
      assert_true(nearest[i] == once.nearest[i]);
    }
  }
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* Mean functions are 0 here. */
static void means_are_the_weighted_targets(void **state)
{
  (void)state;
  enum { WIDTH = 20 + 35 + 12 };
  struct fixture f;
  fixture_new(&f, N, D, POINTS, 4);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct prediction stacked, members[MEMBERS];
  int64_t neighbour[POINTS * WIDTH];
  double weight[POINTS * WIDTH], variance[POINTS];
  const struct gpnn_query query = points_of(&f);
  const struct gpnn_weights to = {.neighbour = neighbour, .weight = weight, .variance = variance};
  for (size_t k = 0; k < MEMBERS; k++)
    (k == 0 ? &stack : &stack.members[k - 1])->mean.coefficients[0] = 0;
  predict(&f, &stack, &stacked);
  predict_members(&f, &stack, members);
  assert_ok(make_model(&model, f.data, &stack, 0, 1, &err));
  assert_int_equal(gpnn_model_n_weights(model, 0), WIDTH);
  assert_ok(gpnn_model_weights(model, 0, &query, &to, &counts, &err));
  for (size_t i = 0; i < POINTS; i++) {
    double mean = 0, within = 0;
    for (size_t k = i * WIDTH; k < (i + 1) * WIDTH; k++)
      mean += neighbour[k] < 0 ? 0 : weight[k] * f.data->y[neighbour[k]];
    for (size_t k = 0; k < MEMBERS; k++) within += weights[k] * members[k].variance[i];
    assert_near(mean, stacked.mean[i], 1e-12);
    assert_near(variance[i], within, 1e-12);
  }
  gpnn_model_free(model);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* Channels of one target with three members, one and two: in any order, and what is shared between
 * them, makes no difference. */
static void channels_may_have_different_numbers_of_members(void **state)
{
  (void)state;
  enum { CHANNELS = 3 };
  static const size_t n_members[CHANNELS] = {3, 1, 2};
  struct fixture f;
  struct gpnn_parameters params[CHANNELS];
  struct gpnn_channel channels[CHANNELS];
  struct gpnn_counts counts[CHANNELS] = {{0}};
  struct gpnn_model *model = NULL, *other = NULL;
  struct prediction alone;
  double mean[CHANNELS * POINTS], variance[CHANNELS * POINTS], again[CHANNELS * POINTS];
  bool other_model;
  const struct gpnn_model_options options = {.threads = 1};
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_query query = points_of(&f);
  for (size_t c = 0; c < CHANNELS; c++) params[c] = make_stack(n_members[c]);
  assert_ok(gpnn_channels_find(f.data, CHANNELS, params, channels, &other_model, &err));
  assert_ok(gpnn_model_new(&model, CHANNELS, channels, &options, &err));
  assert_ok(gpnn_model_with(model, channels, &other, &err));
  const struct gpnn_latent latent = {.mean = mean, .variance = variance};
  const struct gpnn_latent mean_only = {.mean = again};
  assert_ok(gpnn_model_predict(model, &query, &latent, counts, &err));
  assert_ok(gpnn_model_predict(other, &query, &mean_only, counts, &err));
  assert_memory_equal(mean, again, sizeof mean);
  for (size_t c = 0; c < CHANNELS; c++) {
    predict(&f, &params[c], &alone);
    for (size_t i = 0; i < POINTS; i++) {
      assert_near(mean[c * POINTS + i], alone.mean[i], 1e-12);
      assert_near(variance[c * POINTS + i], alone.variance[i], 1e-12);
    }
  }
  gpnn_model_free(other);
  gpnn_model_free(model);
  for (size_t c = 0; c < CHANNELS; c++) gpnn_parameters_release(&params[c]);
  fixture_free(&f);
}

static void a_stack_does_not_become_one_of_another_size(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL, *other = NULL;
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters two = make_stack(2), three = make_stack(3);
  const struct gpnn_channel channel = {f.data, &three};
  assert_ok(make_model(&model, f.data, &two, 0, 1, &err));
  assert_fails(gpnn_model_with(model, &channel, &other, &err), GPNN_EINVAL, "2 members");
  gpnn_model_free(model);
  gpnn_parameters_release(&two);
  gpnn_parameters_release(&three);
  fixture_free(&f);
}

/* Rows are left out of the predictions of every member. */
static void rows_left_out_are_left_out_of_all_members(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct gpnn_heldout heldout = {0};
  double nearest[N];
  const struct gpnn_latent latent = {.nearest = nearest};
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  assert_ok(make_model(&model, f.data, &stack, 0, 1, &err));
  for (int how = GPNN_HOLDOUT_ALONE; how <= GPNN_HOLDOUT_CLUSTERS; how++) {
    const struct gpnn_holdout_options options = {
        .how = (enum gpnn_holdout)how, .n_rows = 4, .cluster_rows = 6, .seed = 3};
    assert_ok(gpnn_model_hold_out(model, &options, &heldout, &err));
    assert_ok(gpnn_model_predict(model, &heldout.query, &latent, &counts, &err));
    for (size_t i = 0; i < heldout.query.n; i++) assert_true(nearest[i] > 0);
    gpnn_heldout_release(&heldout);
  }
  gpnn_model_free(model);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

static void members_too_far_apart_have_no_variance(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL;
  struct gpnn_counts counts = {0};
  struct prediction p;
  struct gpnn_latent latent = arrays(&p);
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(2);
  stack.mean.coefficients[0] = 1e200;
  stack.covariance.kernelscale = 1e-3;
  stack.covariance.noise = 1e3;
  struct gpnn_query query = points_of(&f);
  assert_ok(make_model(&model, f.data, &stack, 0, 1, &err));
  assert_fails(gpnn_model_predict(model, &query, &latent, &counts, &err), GPNN_ENUMERIC,
               "members of a stack");
  gpnn_model_free(model);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* As gpnn_fit() records it. */
static void set_estimation(struct gpnn_parameters *member)
{
  member->provenance.fit_rows = N;
  member->provenance.estimation = (struct gpnn_estimation){
      .objective = GPNN_OBJECTIVE_BLOCK, .n_blocks = 1, .block_size = 60, .seed = 3};
}

/* Without some rows, every member becomes what it would alone, and keeps its weight. */
static void members_are_estimated_again_one_by_one(void **state)
{
  (void)state;
  static const uint64_t excluded[] = {3, 50, 51};
  struct fixture f;
  struct gpnn_parameters again = {0}, alone = {0};
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  const struct gpnn_channel channel = {f.data, &stack};
  set_estimation(&stack);
  set_estimation(&stack.members[0]);
  assert_false(gpnn_channels_can_refit(1, &channel));
  set_estimation(&stack.members[1]);
  assert_true(gpnn_channels_can_refit(1, &channel));
  assert_ok(gpnn_channels_refit(1, &channel, 1, 3, excluded, &again, &err));
  assert_int_equal(gpnn_parameters_n_members(&again), MEMBERS);
  for (size_t k = 0; k < MEMBERS; k++) {
    struct gpnn_parameters member = *gpnn_parameters_member(&stack, k);
    const struct gpnn_parameters *found = gpnn_parameters_member(&again, k);
    const struct gpnn_channel own = {f.data, &member};
    member.n_members = 0;
    assert_ok(gpnn_channels_refit(1, &own, 1, 3, excluded, &alone, &err));
    assert_true(found->weight == member.weight);
    assert_int_equal(found->neighbours, neighbours[k]);
    assert_ptr_equal(found->covariance.kernel, member.covariance.kernel);
    assert_true(found->covariance.noise == alone.covariance.noise);
    assert_memory_equal(found->covariance.lengthscale, alone.covariance.lengthscale,
                        D * sizeof(double));
    gpnn_parameters_release(&alone);
  }
  gpnn_parameters_release(&again);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* A row far from all others: the noise and the prior are those of the mixture as well. */
static void noise_and_prior_are_those_of_the_mixture(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_model *model = NULL;
  struct gpnn_predictor *predictor = NULL;
  struct gpnn_counts counts = {0};
  const double far[D] = {1e4, -1e4};
  const struct gpnn_predict_rows rows = {.n = 1, .x = far};
  double mean, sd, m = 0, v = 0;
  fixture_new(&f, N, D, POINTS, 1);
  struct gpnn_parameters stack = make_stack(MEMBERS);
  struct gpnn_predict_options options = {
      .units = GPNN_UNITS_STANDARD, .max_distance = 10, .beyond = GPNN_BEYOND_PRIOR};
  assert_ok(make_model(&model, f.data, &stack, 0, 1, &err));
  assert_ok(gpnn_predictor_new(&predictor, model, &options, &err));
  assert_ok(gpnn_predict(predictor, &rows, &mean, &sd, &counts, &err));
  for (size_t k = 0; k < MEMBERS; k++) {
    const struct gpnn_parameters *member = gpnn_parameters_member(&stack, k);
    double b = member->mean.coefficients[0];
    m += weights[k] * b;
    v += weights[k] * (b * b + member->covariance.kernelscale + member->covariance.noise);
  }
  assert_close(mean, m, 1e-12);
  assert_close(sd, sqrt(v - m * m), 1e-12);
  gpnn_predictor_free(predictor);
  options.debias = true;
  assert_fails(gpnn_predictor_new(&predictor, model, &options, &err), GPNN_EINVAL, "bias");
  gpnn_model_free(model);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

/* Each member's covariances, and those of its difference from the mean of all. */
static void covariances_are_those_of_the_mixture(void **state)
{
  (void)state;
  static double expected[POINTS * POINTS], found[POINTS * POINTS];
  struct prediction whole, member;
  struct gpnn_parameters stack = make_stack(MEMBERS);
  struct gpnn_model *model = NULL;
  struct fixture f;
  double process[POINTS], ones[POINTS], total = 0, sum = 0;
  fixture_new(&f, N, D, POINTS, 1);
  const struct gpnn_query query = points_of(&f);
  for (size_t i = 0; i < POINTS; i++) {
    ones[i] = 1;
    process[i] = 0.5 + 0.1 * (double)i;
  }
  const struct gpnn_errors each = {process, ones, false}, all = {process, ones, true};
  memset(expected, 0, sizeof expected);
  predict(&f, &stack, &whole);
  for (size_t k = 0; k < MEMBERS; k++) {
    struct gpnn_parameters own;
    make_member(&own, k);
    predict(&f, &own, &member);
    assert_ok(make_model(&model, f.data, &own, 0, 2, &err));
    assert_ok(gpnn_model_joint(model, 0, &query, &each, found, &err));
    for (size_t i = 0; i < POINTS; i++)
      for (size_t j = 0; j < POINTS; j++) {
        double off = (member.mean[i] - whole.mean[i]) * (member.mean[j] - whole.mean[j]);
        expected[i * POINTS + j] +=
            weights[k] * (found[i * POINTS + j] + process[i] * process[j] * off);
      }
    gpnn_model_free(model);
    gpnn_parameters_release(&own);
  }
  assert_ok(make_model(&model, f.data, &stack, 0, 2, &err));
  assert_ok(gpnn_model_joint(model, 0, &query, &each, found, &err));
  assert_ok(gpnn_model_joint(model, 0, &query, &all, &total, &err));
  for (size_t i = 0; i < POINTS * POINTS; i++) {
    assert_near(found[i], expected[i], 1e-12);
    sum += expected[i];
  }
  assert_close(total, sum, 1e-11);
  for (size_t i = 0; i < POINTS; i++)
    assert_close(found[i * (POINTS + 1)], process[i] * process[i] * whole.variance[i], 1e-10);
  gpnn_model_free(model);
  gpnn_parameters_release(&stack);
  fixture_free(&f);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moments_are_those_of_the_mixture),
      cmocka_unit_test(weight_one_changes_nothing),
      cmocka_unit_test(equal_members_predict_what_each_does),
      cmocka_unit_test(several_numbers_of_neighbours_are_those_of_every_member),
      cmocka_unit_test(means_are_the_weighted_targets),
      cmocka_unit_test(channels_may_have_different_numbers_of_members),
      cmocka_unit_test(a_stack_does_not_become_one_of_another_size),
      cmocka_unit_test(rows_left_out_are_left_out_of_all_members),
      cmocka_unit_test(members_too_far_apart_have_no_variance),
      cmocka_unit_test(members_are_estimated_again_one_by_one),
      cmocka_unit_test(noise_and_prior_are_those_of_the_mixture),
      cmocka_unit_test(covariances_are_those_of_the_mixture),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
