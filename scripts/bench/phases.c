/*
 * phases: where the time of a prediction goes.
 *
 *   phases INDEX PARAMS M
 *
 * Prints the milliseconds that opening INDEX and its search takes, and the processor microseconds
 * per row, on one thread, of the search for M neighbours alone and of the whole prediction.  The
 * rows are those that the index holds out for calibration.  INDEX must have the search of PARAMS
 * (gpnn-index --metric), without a rotation.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/threads.h"
#include "dataset/index/index.h"
#include "kernel/parameters.h"
#include "linalg/blas_threads.h"
#include "models/model.h"
#include "search/search.h"

/* Processor seconds of this process. */
static double spent(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum gpnn_status time_open(const char *path, struct gpnn_error *err)
{
  double before = spent();
  struct gpnn_index *index;
  struct gpnn_search *search = NULL;
  enum gpnn_status status = gpnn_index_open(&index, path, false, err);
  if (status != GPNN_OK) return status;
  status = gpnn_dataset_search(gpnn_index_dataset(index), &search, err);
  if (status == GPNN_OK) printf("%.3f", 1e3 * (spent() - before));
  gpnn_search_free(search);
  gpnn_index_close(index);
  return status;
}

static enum gpnn_status time_search(const struct gpnn_index *index, size_t m,
                                    struct gpnn_error *err)
{
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  struct gpnn_search *search;
  enum gpnn_status status = gpnn_dataset_search(gpnn_index_dataset(index), &search, err);
  if (status != GPNN_OK) return status;
  int64_t *rows = gpnn_alloc(c->n_calibration, m, sizeof *rows);
  double *distances = gpnn_alloc(c->n_calibration, m, sizeof *distances), before = 0;
  if (rows == NULL || distances == NULL) status = gpnn_fail_memory(err, "neighbours");
  /* The first time brings the index into memory. */
  for (int time = 0; time < 2 && status == GPNN_OK; time++) {
    before = spent();
    status =
        gpnn_search_query(search, c->n_calibration, c->calibration_x, m, rows, distances, 1, err);
  }
  if (status == GPNN_OK) printf(" %.3f", 1e6 * (spent() - before) / (double)c->n_calibration);
  free(distances);
  free(rows);
  gpnn_search_free(search);
  return status;
}

static enum gpnn_status time_predict(const struct gpnn_index *index,
                                     const struct gpnn_parameters *params, size_t m,
                                     struct gpnn_error *err)
{
  const struct gpnn_dataset *c = gpnn_index_dataset(index);
  const struct gpnn_model_options options = {.neighbours = m, .threads = 1};
  struct gpnn_model *model = NULL;
  struct gpnn_channel channel;
  bool other_model;
  enum gpnn_status status = gpnn_channels_find(c, 1, params, &channel, &other_model, err);
  if (status == GPNN_OK) status = gpnn_model_new(&model, 1, &channel, &options, err);
  if (status != GPNN_OK) return status;
  double *mean = gpnn_alloc(c->n_calibration, 2, sizeof *mean);
  double before = spent();
  if (mean == NULL)
    status = gpnn_fail_memory(err, "predictions");
  else {
    struct gpnn_query query = {
        .n = c->n_calibration, .x = c->calibration_x, .regressors = c->calibration_regressors};
    struct gpnn_latent latent = {.mean = mean, .variance = mean + c->n_calibration};
    struct gpnn_counts counts = {0};
    status = gpnn_model_predict(model, &query, &latent, &counts, err);
  }
  if (status == GPNN_OK) printf(" %.3f\n", 1e6 * (spent() - before) / (double)c->n_calibration);
  free(mean);
  gpnn_model_free(model);
  return status;
}

int main(int argc, char **argv)
{
  if (argc != 4) {
    fprintf(stderr, "usage: phases INDEX PARAMS M\n");
    return 2;
  }
  size_t m = strtoul(argv[3], NULL, 10);
  struct gpnn_index *index = NULL;
  struct gpnn_parameters params = {0};
  struct gpnn_error err = {0};
  gpnn_blas_single_thread();
  enum gpnn_status status = time_open(argv[1], &err);
  if (status == GPNN_OK) status = gpnn_index_open(&index, argv[1], false, &err);
  if (status == GPNN_OK) status = gpnn_parameters_read_one(&params, argv[2], &err);
  if (status == GPNN_OK) status = time_search(index, m, &err);
  if (status == GPNN_OK) status = time_predict(index, &params, m, &err);
  if (status != GPNN_OK) fprintf(stderr, "phases: %s\n", err.text);
  gpnn_parameters_release(&params);
  gpnn_index_close(index);
  return status != GPNN_OK;
}
