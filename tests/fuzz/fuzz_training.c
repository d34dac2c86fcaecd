/*
 * Training: whatever table an index is made from, it is refused, or the index opens, is found
 * whole, and predicts.
 * The first byte chooses standardisation, search and classes; the rest of the first line has lists
 * of columns, with tabs between: target, inputs, categories, regressors, noise, a period, a place,
 * dates, exposure; the rest is the table.
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

enum { LISTS = 9, K = 7, MOST = 1 << 14 };

static char folder[64];

static void remove_folder(void)
{
  rmdir(folder);
}

/* A name for the index in a folder of our own, in memory where there is such a place. */
static const char *index_path(void)
{
  static char path[80];
  if (path[0] != '\0') return path;
  const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", parent);
  FUZZ_EXPECT(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
  snprintf(path, sizeof path, "%s/index", folder);
  return path;
}

static void predict(const struct gpnn_index *index)
{
  const struct gpnn_dataset *dataset = gpnn_dataset_target(gpnn_index_dataset(index), 0);
  struct gpnn_error err = {0};
  double lengthscale = 1, mean = 0, latent = 0;
  const struct gpnn_parameters params = {.covariance.kernel = gpnn_kernel_by_name("exp"),
                                         .covariance.n_lengthscales = 1,
                                         .covariance.lengthscale = &lengthscale,
                                         .covariance.kernelscale = 1,
                                         .covariance.noise = 0.01,
                                         .neighbours = K};
  const struct gpnn_query points = {.n = 1, .x = dataset->x, .regressors = dataset->regressors};
  const struct gpnn_latent prediction = {.mean = &mean, .variance = &latent};
  struct gpnn_counts counts = {0};
  struct gpnn_model *gp = NULL;
  enum gpnn_status status = make_model(&gp, dataset, &params, 0, 1, &err);
  if (status == GPNN_OK) status = gpnn_model_predict(gp, &points, &prediction, &counts, &err);
  if (status == GPNN_OK)
    FUZZ_EXPECT(isfinite(mean) && latent >= 0 && latent <= 1);
  else
    fuzz_expect_failure(status, &err);
  gpnn_model_free(gp);
}

/* Every row of a target of classes is of one of them. */
static void count_classes(const struct gpnn_dataset *view)
{
  size_t counts[GPNN_LEVELS_MAX], k = gpnn_dataset_n_classes(view), n = 0;
  if (k == 0) return;
  gpnn_dataset_count_classes(view, counts);
  for (size_t c = 0; c < k; c++) n += counts[c];
  FUZZ_EXPECT(k > 1 && n == view->n);
}

/* What was written is whole, and like what it was made from. */
static void reopen(const char *path, const struct gpnn_dataset *made)
{
  struct gpnn_error err = {0};
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, path, true, &err);
  if (status != GPNN_OK) dprintf(2, "%s\n", err.text);
  FUZZ_EXPECT(status == GPNN_OK);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  FUZZ_EXPECT(dataset->n == made->n && dataset->d == made->d);
  FUZZ_EXPECT(dataset->n_regressors == made->n_regressors && dataset->n_more == made->n_more);
  FUZZ_EXPECT(dataset->schema.n_inputs == made->schema.n_inputs);
  FUZZ_EXPECT((dataset->exposure != NULL) == (made->exposure != NULL));
  for (size_t t = 0; t <= made->n_more; t++) count_classes(gpnn_dataset_target(dataset, t));
  predict(index);
  gpnn_index_close(index);
}

static void make_index(struct gpnn_training *training, struct gpnn_table *table, uint8_t choice)
{
  struct gpnn_error err = {0};
  struct gpnn_search *search = NULL;
  const struct gpnn_training_reading reading = {.skip_bad = true, .threads = 1};
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  options.standardise = (enum gpnn_scaling_method)(choice % 3);
  how.kind = (choice & 8) ? GPNN_SEARCH_FLAT : GPNN_SEARCH_TREE;
  enum gpnn_status status = gpnn_training_read(training, table, &reading, &err);
  if (status == GPNN_OK) status = gpnn_training_finish(training, &options, "table", &err);
  if (status == GPNN_OK)
    status = gpnn_index_make(index_path(), &training->dataset, NULL, &how, NULL, &search, &err);
  if (status == GPNN_OK)
    reopen(index_path(), &training->dataset);
  else
    fuzz_expect_failure(status, &err);
  unlink(index_path());
  gpnn_search_free(search);
}

static void train(struct gpnn_table *table, uint8_t choice, char *lists[LISTS])
{
  struct gpnn_error err = {0};
  struct gpnn_training training = GPNN_TRAINING_INIT;
  const char *period = lists[5], *place = lists[6], *date = lists[7];
  const struct gpnn_roles roles = {.target = lists[0],
                                   .inputs = lists[1],
                                   .one_hot = lists[2],
                                   .regressors = lists[3],
                                   .row_noise = lists[4],
                                   .exposure = lists[8],
                                   .classes = (choice & 32) != 0,
                                   .n_dates = date != NULL,
                                   .dates = &date,
                                   .n_periods = period != NULL,
                                   .periods = &period,
                                   .n_locations = place != NULL,
                                   .locations = &place};
  enum gpnn_status status = gpnn_training_begin(&training, table, &roles, index_path(), &err);
  if (status == GPNN_OK)
    make_index(&training, table, choice);
  else
    fuzz_expect_failure(status, &err);
  gpnn_training_release(&training);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  char *lists[LISTS];
  if (length > MOST) return 0;
  uint8_t choice = fuzz_byte(&bytes, &length);
  char *line = fuzz_line(&bytes, &length);
  fuzz_split(line, '\t', LISTS, lists);
  struct gpnn_table *table = fuzz_table(bytes, length, (choice & 16) == 0);
  if (table != NULL) train(table, choice, lists);
  gpnn_table_close(table);
  free(line);
  return 0;
}
