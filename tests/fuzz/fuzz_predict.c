/*
 * Predictions by hostile parameters from an honest index: they fail, or are numbers, with variances
 * that are none below zero, or probabilities.  The input is the parameters.
 */
#define _GNU_SOURCE /* mkdtemp() */

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../unit/models.h"
#include "dataset/index/index.h"
#include "dataset/training/training.h"
#include "fuzz.h"
#include "models/labels.h"

enum { POINTS = 4, ROWS = 30, D = 2, CLASSES = 3 };

/* A table of two inputs, a regressor and three targets, the last of which holds classes; a row of
 * it comes twice. */
static size_t write_table(char *text, size_t room)
{
  size_t at = (size_t)snprintf(text, room, "a,b,r,y,z,k\n");
  for (int i = 0; i < ROWS; i++) {
    double a = (i % 29) * 0.37 - 4, b = (i % 29 * 17 % 29) * 0.21;
    at += (size_t)snprintf(text + at, room - at, "%g,%g,%g,%g,%g,%c\n", a, b, sin(5 * i),
                           sin(a) + 0.1 * b, 100 * a + cos(3 * i), "uvw"[i % CLASSES]);
  }
  return at;
}

static void make_index(const char *path)
{
  char text[80 * ROWS];
  struct gpnn_error err = {0};
  struct gpnn_table *table;
  struct gpnn_search *search = NULL;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  const struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  const struct gpnn_table_options form = GPNN_TABLE_OPTIONS_INIT;
  const struct gpnn_roles roles = {.target = "y,z,k", .regressors = "r"};
  const struct gpnn_training_reading reading = {.threads = 1};
  const char *file = fuzz_file(1, text, write_table(text, sizeof text));
  FUZZ_EXPECT(gpnn_table_open(&table, file, &form, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_training_begin(&training, table, &roles, path, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_training_read(&training, table, &reading, &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_training_finish(&training, &options, "table", &err) == GPNN_OK);
  FUZZ_EXPECT(gpnn_index_make(path, &training.dataset, NULL, &how, NULL, &search, &err) == GPNN_OK);
  gpnn_search_free(search);
  gpnn_training_release(&training);
  gpnn_table_close(table);
}

/* The index, made once; its file has no name by then. */
static const struct gpnn_index *the_index(void)
{
  static struct gpnn_index *index;
  if (index != NULL) return index;
  char directory[] = "/tmp/fuzz-XXXXXX", path[64];
  struct gpnn_error err = {0};
  FUZZ_EXPECT(mkdtemp(directory) != NULL);
  snprintf(path, sizeof path, "%s/index", directory);
  make_index(path);
  FUZZ_EXPECT(gpnn_index_open(&index, path, true, &err) == GPNN_OK);
  unlink(path);
  rmdir(directory);
  return index;
}

static void predict(const struct gpnn_index *index, const struct gpnn_parameters *params)
{
  static const double x[POINTS * D] = {0, 0, 0.3, -0.2, 5, 5, 1e6, -1e6};
  static const double regressors[POINTS] = {0, 1, -1, 2};
  const struct gpnn_query points = {.n = POINTS, .x = x, .regressors = regressors};
  double mean[POINTS] = {0}, latent[POINTS] = {0}, nearest[POINTS] = {0};
  const struct gpnn_latent prediction = {.mean = mean, .variance = latent, .nearest = nearest};
  struct gpnn_counts counts = {0};
  struct gpnn_error err = {0};
  struct gpnn_model *gp = NULL;
  enum gpnn_status status = make_model(&gp, gpnn_index_dataset(index), params, 0, 1, &err);
  if (status == GPNN_OK) status = gpnn_model_predict(gp, &points, &prediction, &counts, &err);
  gpnn_model_free(gp);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    return;
  }
  for (size_t i = 0; i < POINTS; i++)
    FUZZ_EXPECT(isfinite(mean[i]) && isfinite(latent[i]) && latent[i] >= 0 && nearest[i] >= 0);
}

static void classify(const struct gpnn_index *index, const struct gpnn_parameters *params)
{
  static const double x[POINTS * D] = {0, 0, 0.3, -0.2, 5, 5, 1e6, -1e6};
  static const double regressors[POINTS] = {0, 1, -1, 2};
  const struct gpnn_predict_rows points = {.n = POINTS, .x = x, .regressors = regressors};
  const struct gpnn_predict_options options = {.max_distance = 1e3, .beyond = GPNN_BEYOND_PRIOR};
  double p[POINTS * CLASSES];
  struct gpnn_counts counts = {0};
  struct gpnn_error err = {0};
  struct gpnn_model *gp = NULL;
  struct gpnn_labels *labels = NULL;
  enum gpnn_status status = make_model(&gp, gpnn_index_dataset(index), params, 0, 1, &err);
  if (status == GPNN_OK) status = gpnn_labels_new(&labels, gp, 0, &options, &err);
  if (status == GPNN_OK) status = gpnn_labels_predict(labels, &points, p, &counts, &err);
  gpnn_labels_free(labels);
  gpnn_model_free(gp);
  if (status != GPNN_OK) {
    fuzz_expect_failure(status, &err);
    return;
  }
  for (size_t i = 0; i < POINTS; i++) {
    double sum = 0;
    for (size_t c = 0; c < CLASSES; c++) {
      FUZZ_EXPECT(p[i * CLASSES + c] >= 0);
      sum += p[i * CLASSES + c];
    }
    FUZZ_EXPECT(fabs(sum - 1) < 1e-12);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  const struct gpnn_index *index = the_index();
  struct gpnn_error err = {0};
  struct gpnn_parameters *params = NULL;
  size_t n = 0;
  if (gpnn_parameters_read(&params, &n, fuzz_file(0, bytes, length), &err) != GPNN_OK) return 0;
  for (size_t i = 0; i < n; i++) {
    bool is_other;
    const struct gpnn_dataset *dataset = gpnn_index_dataset(index), *named = NULL;
    if (params[i].target != NULL) named = gpnn_dataset_find_target(dataset, params[i].target);
    enum gpnn_status status =
        gpnn_parameters_check(&params[i], named != NULL ? named : dataset, &is_other, &err);
    if (status != GPNN_OK)
      fuzz_expect_failure(status, &err);
    else if (params[i].likelihood == GPNN_LIKELIHOOD_CATEGORICAL)
      classify(index, &params[i]);
    else
      predict(index, &params[i]);
  }
  gpnn_parameters_free(params, n);
  return 0;
}
