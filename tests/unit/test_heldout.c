/* Training rows left out: alone, in clusters, and as far from the rest as other rows are. */
#include "base/compare.h"
#include "dataset/sample.h"
#include "fixture.h"
#include "models.h"
#include "models/heldout.h"

enum { N = 300, D = 2, C = 90, M = 12 };

struct setting {
  struct fixture f;
  double lengthscale[D];
  struct gpnn_parameters params;
  struct gpnn_model *gp;
};

static void set_up(struct setting *s)
{
  fixture_new(&s->f, N, D, C, 1);
  s->lengthscale[0] = 0.5;
  s->lengthscale[1] = 2;
  s->params = (struct gpnn_parameters){.covariance.kernel = gpnn_kernel_by_name("matern32"),
                                       .covariance.n_lengthscales = D,
                                       .covariance.lengthscale = s->lengthscale,
                                       .covariance.kernelscale = 0.7,
                                       .covariance.noise = 0.3,
                                       .neighbours = M};
  s->gp = NULL;
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, 2, &err));
}

static void tear_down(struct setting *s)
{
  gpnn_model_free(s->gp);
  fixture_free(&s->f);
}

static enum gpnn_status hold_out(const struct setting *s, enum gpnn_holdout how, size_t n_rows,
                                 size_t cluster_rows, const struct gpnn_query *like, uint64_t seed,
                                 struct gpnn_heldout *heldout, struct gpnn_error *error)
{
  const struct gpnn_holdout_options options = {how, n_rows, cluster_rows, like, seed};
  return gpnn_model_hold_out(s->gp, &options, heldout, error);
}

static double distance(const double *a, const double *b)
{
  return hypot((a[0] - b[0]) / 0.5, (a[1] - b[1]) / 2);
}

static double distance_to(const struct setting *s, const double *x, int64_t row)
{
  return distance(x, s->f.x + row * D);
}

static void rows_left_out_alone_are_themselves_and_a_draw_begins_with_a_smaller_one(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_heldout few = {0}, many = {0};
  assert_ok(hold_out(&s, GPNN_HOLDOUT_ALONE, 10, 0, NULL, 1, &few, &err));
  assert_ok(hold_out(&s, GPNN_HOLDOUT_ALONE, N, 0, NULL, 1, &many, &err));
  bool seen[N] = {false};
  for (size_t i = 0; i < N; i++) {
    int64_t row = many.own.self[i];
    assert_false(seen[row]);
    seen[row] = true;
    assert_memory_equal(many.own.x + i * D, s.f.x + row * D, D * sizeof(double));
    assert_true(many.own.y[i] == s.f.y[row]);
  }
  for (size_t i = 0; i < 10; i++) assert_true(few.own.self[i] == many.own.self[i]);
  gpnn_heldout_release(&few);
  gpnn_heldout_release(&many);
  tear_down(&s);
}

/* The rows of one cluster are 'size' nearest to one of them, and no row outside is nearer to it. */
static bool is_ball(const struct setting *s, const int64_t *members, size_t size)
{
  for (size_t centre = 0; centre < size; centre++) {
    const double *x = s->f.x + members[centre] * D;
    double radius = 0;
    size_t within = 0;
    for (size_t i = 0; i < size; i++) radius = fmax(radius, distance_to(s, x, members[i]));
    for (int64_t row = 0; row < N; row++) within += distance_to(s, x, row) <= radius;
    if (within == size) return true;
  }
  return false;
}

static void a_cluster_is_predicted_from_its_nearest_rows_outside(void **state)
{
  (void)state;
  enum { SIZE = 25, CLUSTERS = 6 };
  struct setting s;
  set_up(&s);
  struct gpnn_heldout heldout = {0};
  assert_ok(hold_out(&s, GPNN_HOLDOUT_CLUSTERS, CLUSTERS, SIZE, NULL, 3, &heldout, &err));
  assert_int_equal(heldout.query.n, SIZE * CLUSTERS);
  assert_int_equal(heldout.cluster_rows, SIZE);
  for (size_t i = 0; i < SIZE * CLUSTERS; i++) {
    const int64_t *members = heldout.own.self + i / SIZE * SIZE,
                  *found = heldout.own.candidates + i * M;
    bool is_member[N] = {false}, is_found[N] = {false};
    if (i % SIZE == 0) assert_true(is_ball(&s, members, SIZE));
    for (size_t k = 0; k < SIZE; k++) is_member[members[k]] = true;
    double last = 0;
    for (size_t k = 0; k < M; k++) {
      assert_false(is_member[found[k]]);
      is_found[found[k]] = true;
      double r = distance_to(&s, heldout.own.x + i * D, found[k]);
      assert_true(r >= last);
      last = r;
    }
    for (int64_t row = 0; row < N; row++)
      if (!is_member[row] && !is_found[row])
        assert_true(distance_to(&s, heldout.own.x + i * D, row) >= last);
  }
  gpnn_heldout_release(&heldout);
  tear_down(&s);
}

static void predictions_of_a_cluster_use_no_row_of_it(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_heldout heldout = {0};
  double mean[40], nearest[40];
  struct gpnn_counts counts = {0};
  assert_ok(hold_out(&s, GPNN_HOLDOUT_CLUSTERS, 1, 40, NULL, 3, &heldout, &err));
  assert_ok(gpnn_model_predict(s.gp, &heldout.query,
                               &(struct gpnn_latent){.mean = mean, .nearest = nearest}, &counts,
                               &err));
  for (size_t i = 0; i < 40; i++)
    assert_close(nearest[i], distance_to(&s, heldout.own.x + i * D, heldout.own.candidates[i * M]),
                 1e-12);
  gpnn_heldout_release(&heldout);
  tear_down(&s);
}

/* ---- groups of rows ---- */

/* The setting's rows in groups: two large ones, a row alone, and small ones. */
struct grouped {
  uint32_t group[N];
  struct gpnn_dataset data;
  struct gpnn_model *gp;
};

static void set_groups(struct setting *s, struct grouped *g)
{
  set_up(s);
  for (uint32_t i = 0; i < N; i++)
    g->group[i] = i < 110 ? 0 : i < 200 ? 1 : i == 200 ? 2 : 3 + i % 17;
  g->data = *s->f.data;
  g->data.row_group = g->group;
  g->data.n_row_groups = 20;
  g->gp = NULL;
  assert_ok(make_model(&g->gp, &g->data, &s->params, 0, 2, &err));
}

/* Mean, variance and distance to the nearest neighbour of 'x', predicted from all rows outside a
 * group. */
static void predict_without_group(const struct setting *s, const struct grouped *g, uint32_t group,
                                  const double *x, double found[3])
{
  uint64_t rows[N];
  size_t n = 0;
  struct gpnn_sample *sample = NULL;
  struct gpnn_model *gp = NULL;
  struct gpnn_counts counts = {0};
  for (size_t i = 0; i < N; i++)
    if (g->group[i] != group) rows[n++] = i;
  assert_ok(gpnn_sample_take(&sample, s->f.data, n, rows, &err));
  assert_ok(make_model(&gp, gpnn_sample_target(sample, 0), &s->params, 0, 1, &err));
  assert_ok(gpnn_model_predict(
      gp, &(struct gpnn_query){.n = 1, .x = x},
      &(struct gpnn_latent){.mean = found, .variance = found + 1, .nearest = found + 2}, &counts,
      &err));
  gpnn_model_free(gp);
  gpnn_sample_free(sample);
}

static void a_row_left_out_is_predicted_without_its_group(void **state)
{
  (void)state;
  enum { DRAWN = 60 };
  struct setting s;
  struct grouped g;
  struct gpnn_heldout heldout = {0};
  struct gpnn_counts counts = {0};
  double mean[DRAWN], variance[DRAWN], nearest[DRAWN], wanted[3];
  const struct gpnn_holdout_options options = {GPNN_HOLDOUT_ALONE, DRAWN, 0, NULL, 1};
  set_groups(&s, &g);
  assert_ok(gpnn_model_hold_out(g.gp, &options, &heldout, &err));
  assert_ok(gpnn_model_predict(
      g.gp, &heldout.query,
      &(struct gpnn_latent){.mean = mean, .variance = variance, .nearest = nearest}, &counts,
      &err));
  for (size_t i = 0; i < DRAWN; i++) {
    uint32_t group = g.group[heldout.own.self[i]];
    predict_without_group(&s, &g, group, heldout.own.x + i * D, wanted);
    assert_near(mean[i], wanted[0], 1e-12);
    assert_near(variance[i], wanted[1], 1e-12);
    assert_near(nearest[i], wanted[2], 1e-12);
  }
  gpnn_heldout_release(&heldout);
  gpnn_model_free(g.gp);
  tear_down(&s);
}

static void a_row_that_is_no_training_row_may_name_its_group(void **state)
{
  (void)state;
  enum { ASKED = 3 };
  struct setting s;
  struct grouped g;
  struct gpnn_counts counts = {0};
  const uint32_t group[ASKED] = {0, 1, 5};
  double mean[ASKED], nearest[ASKED], wanted[3];
  set_groups(&s, &g);
  const struct gpnn_query query = {.n = ASKED, .x = s.f.cx, .group = group};
  assert_ok(gpnn_model_predict(
      g.gp, &query, &(struct gpnn_latent){.mean = mean, .nearest = nearest}, &counts, &err));
  for (size_t i = 0; i < ASKED; i++) {
    predict_without_group(&s, &g, group[i], s.f.cx + i * D, wanted);
    assert_near(mean[i], wanted[0], 1e-12);
    assert_near(nearest[i], wanted[2], 1e-12);
  }
  gpnn_model_free(g.gp);
  tear_down(&s);
}

static void a_group_of_all_rows_leaves_the_prior(void **state)
{
  (void)state;
  struct setting s;
  struct grouped g;
  struct gpnn_heldout heldout = {0};
  struct gpnn_counts counts = {0};
  double mean[5], variance[5], misfit[5], nearest[5];
  const struct gpnn_holdout_options options = {GPNN_HOLDOUT_ALONE, 5, 0, NULL, 1};
  set_groups(&s, &g);
  memset(g.group, 0, sizeof g.group);
  assert_ok(gpnn_model_hold_out(g.gp, &options, &heldout, &err));
  assert_ok(gpnn_model_predict(
      g.gp, &heldout.query,
      &(struct gpnn_latent){
          .mean = mean, .variance = variance, .misfit = misfit, .nearest = nearest},
      &counts, &err));
  for (size_t i = 0; i < 5; i++)
    assert_true(mean[i] == 0 && variance[i] == 0.7 && misfit[i] == 1 && isinf(nearest[i]));
  gpnn_heldout_release(&heldout);
  struct gpnn_holdout_options like = {GPNN_HOLDOUT_LIKE, C, 0, NULL, 1};
  like.like = &(struct gpnn_query){.n = C, .x = s.f.cx};
  assert_fails(gpnn_model_hold_out(g.gp, &like, &heldout, &err), GPNN_EDATA,
               "in the same group as all training rows");
  gpnn_heldout_release(&heldout);
  gpnn_model_free(g.gp);
  tear_down(&s);
}

/* Clusters, and rows that represent others: the nearest that may be used, none of the same group.
 */
static void candidates_are_of_other_groups(void **state)
{
  (void)state;
  struct setting s;
  struct grouped g;
  set_groups(&s, &g);
  const struct gpnn_query like = {.n = C, .x = s.f.cx};
  const struct gpnn_holdout_options ways[] = {{GPNN_HOLDOUT_CLUSTERS, 4, 20, NULL, 3},
                                              {GPNN_HOLDOUT_LIKE, C, 0, &like, 3}};
  for (size_t way = 0; way < 2; way++) {
    struct gpnn_heldout heldout = {0};
    size_t n_shared = 0;
    assert_ok(gpnn_model_hold_out(g.gp, &ways[way], &heldout, &err));
    for (size_t i = 0; i < heldout.query.n; i++)
      for (size_t k = 0; k < M; k++) {
        int64_t row = heldout.own.candidates[i * M + k];
        assert_in_range(row, 0, N - 1);
        assert_true(g.group[row] != g.group[heldout.own.self[i]]);
        n_shared += g.group[row] == 0;
      }
    assert_true(n_shared > 0);
    gpnn_heldout_release(&heldout);
  }
  gpnn_model_free(g.gp);
  tear_down(&s);
}

static void a_cluster_of_all_rows_is_refused(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_heldout heldout = {0};
  assert_fails(hold_out(&s, GPNN_HOLDOUT_CLUSTERS, 1, N, NULL, 3, &heldout, &err), GPNN_EDATA,
               "leaves none");
  gpnn_heldout_release(&heldout);
  assert_ok(hold_out(&s, GPNN_HOLDOUT_CLUSTERS, 1, N - 1, NULL, 3, &heldout, &err));
  for (size_t i = 0; i < N - 1; i++) assert_true(heldout.own.candidates[i] >= 0);
  gpnn_heldout_release(&heldout);
  tear_down(&s);
}

/* Distances of the rows of 'like' to their nearest training rows, and of what stands for them to
 * the nearest rows left, both rising. */
static void compare_distances(const struct setting *s, const double *like, size_t n, double *wanted,
                              double *got)
{
  struct gpnn_heldout heldout = {0};
  assert_ok(hold_out(s, GPNN_HOLDOUT_LIKE, n, 0, &(struct gpnn_query){.n = n, .x = like}, 1,
                     &heldout, &err));
  size_t k = heldout.query.n_candidates;
  for (size_t i = 0; i < n; i++) {
    wanted[i] = INFINITY;
    for (int64_t row = 0; row < N; row++)
      wanted[i] = fmin(wanted[i], distance_to(s, like + i * D, row));
    assert_true(heldout.own.candidates[i * k] != heldout.own.self[i]);
    got[i] = distance_to(s, heldout.own.x + i * D, heldout.own.candidates[i * k]);
  }
  qsort(wanted, n, sizeof *wanted, gpnn_compare_doubles);
  qsort(got, n, sizeof *got, gpnn_compare_doubles);
  gpnn_heldout_release(&heldout);
}

static void far_rows_are_represented_by_rows_as_far_from_the_rest(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  double like[C * D], wanted[C], got[C];
  for (size_t i = 0; i < C; i++) { /* beyond the rows, on one side */
    like[i * D] = 2.5 + 0.01 * (double)i;
    like[i * D + 1] = s.f.cx[i * D + 1];
  }
  compare_distances(&s, like, C, wanted, got);
  for (size_t i = 0; i < C; i++) assert_true(got[i] >= wanted[i] / 1.2500001);
  assert_true(got[C / 2] < 2 * wanted[C / 2]);
  tear_down(&s);
}

static void rows_like_the_training_rows_leave_out_hardly_any_others(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  double wanted[C], got[C];
  compare_distances(&s, s.f.cx, C, wanted, got);
  assert_near(got[C / 4] / wanted[C / 4], 1, 0.5);
  assert_near(got[C / 2] / wanted[C / 2], 1, 0.3);
  assert_near(got[3 * C / 4] / wanted[3 * C / 4], 1, 0.3);
  tear_down(&s);
}

/* Distance of a place to its nearest training row, but for 'self'. */
static double nearest_but(const struct setting *s, const double *x, int64_t self)
{
  double nearest = INFINITY;
  for (int64_t row = 0; row < N; row++)
    if (row != self) nearest = fmin(nearest, distance_to(s, x, row));
  return nearest;
}

/* Whether no neighbour of stand-in 'i' lies in a ball of radius 'ball' that has it within, 'radius'
 * from the edge, and its centre towards another stand-in. */
static bool lies_in_a_ball_left_out(const struct setting *s, const struct gpnn_heldout *heldout,
                                    size_t i, double radius, double ball)
{
  const double *x = heldout->own.x + i * D;
  for (size_t other = 0; other < C; other++) {
    const double *y = heldout->own.x + other * D;
    double shift = (ball - radius) / distance(x, y), nearest = INFINITY;
    double centre[D] = {x[0] + shift * (y[0] - x[0]), x[1] + shift * (y[1] - x[1])};
    for (size_t k = 0; k < M; k++)
      nearest = fmin(nearest, distance_to(s, centre, heldout->own.candidates[i * M + k]));
    if (isfinite(shift) && nearest >= ball * (1 - 1e-8)) return true;
  }
  return false;
}

/* Puts the training rows on a grid, hardly disturbed, whose lines are one lengthscale apart, and in
 * 'like' rows beside it, up to five lengthscales away. */
static void make_grid_and_rows_next_to_it(struct setting *s, double *like)
{
  enum { SIDE = 20 };
  gpnn_model_free(s->gp);
  gpnn_index_close(s->f.index);
  gpnn_schema_release(&s->f.dataset.schema);
  gpnn_scaling_release(&s->f.dataset.scaling);
  for (size_t i = 0; i < N; i++) {
    s->f.x[i * D] = s->lengthscale[0] * ((double)(i % SIDE) + 0.05 * s->f.x[i * D]);
    s->f.x[i * D + 1] = s->lengthscale[1] * ((double)(i / SIDE) + 0.05 * s->f.x[i * D + 1]);
  }
  for (size_t i = 0; i < C; i++) {
    like[i * D] = s->lengthscale[0] * (SIDE - 1 + 5 * (double)(i + 1) / C);
    like[i * D + 1] = s->lengthscale[1] * (double)(i * 7 % C) / C * (N / SIDE - 1);
  }
  fixture_write(&s->f);
  s->gp = NULL;
  assert_ok(make_model(&s->gp, s->f.data, &s->params, 0, 2, &err));
}

/* Of rows that are farther than any training row from its nearest, the stand-ins get balls as large
 * as those of the farthest. */
static void rows_in_gaps_are_represented_by_rows_in_balls_as_large_as_the_gaps(void **state)
{
  (void)state;
  enum { HIGH = 99 * (C - 1) / 100 }; /* of C values, this one is nearly the largest */
  struct setting s;
  struct gpnn_heldout heldout = {0};
  double like[C * D], wanted[C], own[C];
  size_t n_far = 0, n_within = 0;
  set_up(&s);
  make_grid_and_rows_next_to_it(&s, like);
  assert_ok(hold_out(&s, GPNN_HOLDOUT_LIKE, C, 0, &(struct gpnn_query){.n = C, .x = like}, 1,
                     &heldout, &err));
  for (size_t i = 0; i < C; i++) {
    wanted[i] = nearest_but(&s, like + i * D, -1);
    own[i] = nearest_but(&s, heldout.own.x + i * D, heldout.own.self[i]);
  }
  qsort(wanted, C, sizeof *wanted, gpnn_compare_doubles);
  for (size_t i = 0; i < C; i++) {
    size_t rank = 0;
    for (size_t k = 0; k < C; k++) rank += own[k] < own[i] || (k < i && own[k] == own[i]);
    if (wanted[rank] < 1.5 || wanted[rank] > 0.8 * wanted[HIGH]) continue;
    n_far++;
    n_within += lies_in_a_ball_left_out(&s, &heldout, i, wanted[rank], wanted[HIGH]);
  }
  assert_true(n_far >= C / 3);
  if (n_within < n_far)
    fail_msg("%zu of %zu stand-ins have neighbours all around: the ball was not shifted",
             n_far - n_within, n_far);
  gpnn_heldout_release(&heldout);
  tear_down(&s);
}

static void a_ball_around_all_rows_leaves_some(void **state)
{
  (void)state;
  struct setting s;
  set_up(&s);
  struct gpnn_heldout heldout = {0};
  double like[] = {1000, 0, -1000, 0};
  assert_ok(hold_out(&s, GPNN_HOLDOUT_LIKE, 2, 0, &(struct gpnn_query){.n = 2, .x = like}, 1,
                     &heldout, &err));
  for (size_t i = 0; i < 2; i++) assert_true(heldout.own.candidates[i * M] >= 0);
  gpnn_heldout_release(&heldout);
  tear_down(&s);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_left_out_alone_are_themselves_and_a_draw_begins_with_a_smaller_one),
      cmocka_unit_test(a_cluster_is_predicted_from_its_nearest_rows_outside),
      cmocka_unit_test(predictions_of_a_cluster_use_no_row_of_it),
      cmocka_unit_test(a_row_left_out_is_predicted_without_its_group),
      cmocka_unit_test(a_row_that_is_no_training_row_may_name_its_group),
      cmocka_unit_test(a_group_of_all_rows_leaves_the_prior),
      cmocka_unit_test(candidates_are_of_other_groups),
      cmocka_unit_test(a_cluster_of_all_rows_is_refused),
      cmocka_unit_test(far_rows_are_represented_by_rows_as_far_from_the_rest),
      cmocka_unit_test(rows_like_the_training_rows_leave_out_hardly_any_others),
      cmocka_unit_test(rows_in_gaps_are_represented_by_rows_in_balls_as_large_as_the_gaps),
      cmocka_unit_test(a_ball_around_all_rows_leaves_some),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
