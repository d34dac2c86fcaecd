/* Datasets that no file holds: filled in by hand, and sampled. */
#include "dataset/dataset.h"

#include "dataset/sample.h"
#include "fixture.h"
#include "models.h"
#include "models/model.h"

enum { N = 60, D = 2, C = 7 };

static struct gpnn_parameters parameters(double *lengthscale)
{
  return (struct gpnn_parameters){.covariance = {.kernel = gpnn_kernel_by_name("matern32"),
                                                 .n_lengthscales = 1,
                                                 .lengthscale = lengthscale,
                                                 .kernelscale = 0.9,
                                                 .noise = 0.1},
                                  .neighbours = 10};
}

static void predict(const struct fixture *f, const struct gpnn_dataset *dataset, double mean[C])
{
  struct gpnn_model *gp = NULL;
  double lengthscale = 0.8;
  struct gpnn_parameters params = parameters(&lengthscale);
  struct gpnn_counts counts = {0};
  assert_ok(make_model(&gp, dataset, &params, 0, 1, &err));
  assert_ok(gpnn_model_predict(gp, &(struct gpnn_query){.n = C, .x = f->cx},
                               &(struct gpnn_latent){.mean = mean}, &counts, &err));
  gpnn_model_free(gp);
}

/* The fixture's own rows, never written to a file. */
static struct gpnn_dataset by_hand(const struct fixture *f)
{
  static const uint32_t group[D] = {0, 1};
  struct gpnn_dataset dataset = f->dataset;
  dataset.n_groups = D;
  dataset.group = group;
  dataset.source = NULL;
  return dataset;
}

static void a_dataset_filled_in_by_hand_predicts_as_its_index_does(void **state)
{
  (void)state;
  struct fixture f;
  double from_index[C], from_memory[C];
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = by_hand(&f);
  predict(&f, f.data, from_index);
  predict(&f, &dataset, from_memory);
  assert_memory_equal(from_memory, from_index, sizeof from_index);
  fixture_free(&f);
}

static void without_a_source_there_is_one_target_and_no_metric(void **state)
{
  (void)state;
  struct fixture f;
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = by_hand(&f);
  assert_int_equal(gpnn_dataset_n_targets(&dataset), 1);
  assert_ptr_equal(gpnn_dataset_target(&dataset, 0), &dataset);
  assert_ptr_equal(gpnn_dataset_find_target(&dataset, "y"), &dataset);
  assert_null(gpnn_dataset_find_target(&dataset, "x1"));
  assert_null(gpnn_dataset_search_metric(&dataset).lengthscale);
  assert_null(gpnn_dataset_search_metric(&dataset).rotation);
  fixture_free(&f);
}

static void a_sample_of_all_rows_predicts_alike(void **state)
{
  (void)state;
  struct fixture f;
  struct gpnn_sample *sample = NULL;
  double whole[C], sampled[C];
  fixture_new(&f, N, D, C, 1);
  struct gpnn_dataset dataset = by_hand(&f);
  assert_ok(gpnn_sample_draw(&sample, &dataset, N, 3, &err));
  predict(&f, &dataset, whole);
  predict(&f, gpnn_sample_target(sample, 0), sampled);
  assert_memory_equal(sampled, whole, sizeof whole);
  gpnn_sample_free(sample);
  fixture_free(&f);
}

static void rows_outside_the_range_of_any_input_are_counted(void **state)
{
  (void)state;
  double x[] = {1, 5, 3, 9, 2, 7};
  const struct gpnn_dataset dataset = {.n = 3, .d = D, .x = x};
  const double asked[] = {1, 5, 2, 9, 3.1, 6, 2, 4.9, 0, 10, 3, 5};
  assert_int_equal(gpnn_dataset_count_outside(&dataset, 6, asked), 3);
  assert_int_equal(gpnn_dataset_count_outside(&dataset, 0, NULL), 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_dataset_filled_in_by_hand_predicts_as_its_index_does),
      cmocka_unit_test(without_a_source_there_is_one_target_and_no_metric),
      cmocka_unit_test(a_sample_of_all_rows_predicts_alike),
      cmocka_unit_test(rows_outside_the_range_of_any_input_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
