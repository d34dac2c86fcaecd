/*
 * A client of the installed library, in C and in C++: what the tools do, from a table to scored
 * predictions.
 *
 *   client TRAIN TEST INDEX PARAMETERS
 *
 * Makes INDEX and PARAMETERS from the table TRAIN, and prints the RMSE on the table TEST.
 */
#include <gpnn/gpnn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Table -> index. */
static enum gpnn_status make_index(const char *train, const char *path, struct gpnn_error *err)
{
  struct gpnn_table_options format = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_training_options options = GPNN_TRAINING_OPTIONS_INIT;
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  struct gpnn_training training = GPNN_TRAINING_INIT;
  struct gpnn_training_reading reading = {.threads = 1};
  struct gpnn_roles roles = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_search *search = NULL;
  enum gpnn_status status = gpnn_table_open(&table, train, &format, err);
  if (status == GPNN_OK) status = gpnn_training_begin(&training, table, &roles, path, err);
  if (status == GPNN_OK) status = gpnn_training_read(&training, table, &reading, err);
  if (status == GPNN_OK) status = gpnn_training_finish(&training, &options, train, err);
  if (status == GPNN_OK)
    status = gpnn_index_make(path, &training.dataset, NULL, &how, NULL, &search, err);
  gpnn_search_free(search);
  gpnn_training_release(&training);
  gpnn_table_close(table);
  return status;
}

/* The model of one target. */
static enum gpnn_status make(struct gpnn_model **model, const struct gpnn_dataset *dataset,
                             const struct gpnn_parameters *params, struct gpnn_error *err)
{
  struct gpnn_model_options options = {0};
  struct gpnn_channel channel;
  bool other_model;
  enum gpnn_status status = gpnn_channels_find(dataset, 1, params, &channel, &other_model, err);
  options.threads = 1;
  return status == GPNN_OK ? gpnn_model_new(model, 1, &channel, &options, err) : status;
}

/* Training rows -> parameters, calibrated on the rows held out. */
static enum gpnn_status estimate(const struct gpnn_dataset *dataset, struct gpnn_parameters *params,
                                 struct gpnn_error *err)
{
  struct gpnn_fit_options how = GPNN_FIT_OPTIONS_INIT;
  struct gpnn_fit_report fitted;
  struct gpnn_calibrate_options rows = {GPNN_CALIBRATE_GIVEN};
  struct gpnn_calibrate_report calibration = {0};
  struct gpnn_model *model = NULL;
  how.kernel = gpnn_kernel_by_name("matern32");
  how.neighbours = 32;
  rows.given = gpnn_heldout_of_dataset(dataset);
  rows.wanted = rows.given.query.n;
  enum gpnn_status status = gpnn_fit(1, &dataset, &how, params, &fitted, err);
  if (status == GPNN_OK) status = make(&model, dataset, params, err);
  if (status == GPNN_OK) status = gpnn_calibrate(model, &rows, &calibration, err);
  gpnn_model_free(model);
  if (status == GPNN_OK) gpnn_calibrate_apply(&calibration, params);
  gpnn_calibrate_report_release(&calibration);
  return status;
}

static enum gpnn_status save(const struct gpnn_parameters *params, const char *path,
                             struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = gpnn_output_open(&output, path, err);
  if (status != GPNN_OK) return status;
  status = gpnn_parameters_write(params, 1, output, err);
  if (status == GPNN_OK) return gpnn_output_close(output, err);
  gpnn_output_abandon(output);
  return status;
}

/* Predicts rows that have a target, and scores that. */
static enum gpnn_status score(const struct gpnn_model *model, const struct gpnn_reader_rows *test,
                              struct gpnn_metrics_result *result, struct gpnn_error *err)
{
  double *mean = (double *)calloc(2 * test->n, sizeof *mean);
  if (mean == NULL) return gpnn_fail_memory(err, "for predictions");
  double *sd = mean + test->n;
  struct gpnn_predict_rows rows = {test->n, test->x, NULL, NULL, NULL, NULL};
  struct gpnn_predict_options options = {0};
  struct gpnn_counts counts = {0};
  struct gpnn_metrics metrics = {0};
  struct gpnn_predictor *predictor = NULL;
  enum gpnn_status status = gpnn_predictor_new(&predictor, model, &options, err);
  if (status == GPNN_OK) status = gpnn_predict(predictor, &rows, mean, sd, &counts, err);
  for (size_t i = 0; i < test->n && status == GPNN_OK; i++) {
    const struct gpnn_scaling *scaling = &gpnn_model_channel(model, 0)->dataset->scaling;
    double truth = scaling->y_mean + scaling->y_sd * test->y[i];
    status = gpnn_metrics_add(&metrics, truth, mean[i], sd[i], INFINITY, err);
  }
  if (status == GPNN_OK) status = gpnn_metrics_result(&metrics, result, err);
  gpnn_metrics_release(&metrics);
  gpnn_predictor_free(predictor);
  free(mean);
  return status;
}

/* Parameters and training rows -> predictions of a table -> their scores. */
static enum gpnn_status predict(const struct gpnn_dataset *dataset,
                                const struct gpnn_parameters *params, const char *test,
                                struct gpnn_metrics_result *result, struct gpnn_error *err)
{
  struct gpnn_table_options format = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_table *table = NULL;
  struct gpnn_reader_rows rows = {0};
  struct gpnn_model *model = NULL;
  enum gpnn_status status = gpnn_table_open(&table, test, &format, err);
  if (status == GPNN_OK)
    status = gpnn_reader_rows_read(&rows, dataset, table, false, false, false, err);
  if (status == GPNN_OK) status = make(&model, dataset, params, err);
  if (status == GPNN_OK) status = score(model, &rows, result, err);
  gpnn_model_free(model);
  gpnn_reader_rows_release(&rows);
  gpnn_table_close(table);
  return status;
}

int main(int argc, char **argv)
{
  struct gpnn_error err = {GPNN_OK};
  struct gpnn_index *index = NULL;
  struct gpnn_parameters params = {0};
  struct gpnn_metrics_result result;
  if (argc != 5) return 2;
  gpnn_blas_single_thread();
  enum gpnn_status status = make_index(argv[1], argv[3], &err);
  if (status == GPNN_OK) status = gpnn_index_open(&index, argv[3], true, &err);
  if (status == GPNN_OK) status = estimate(gpnn_index_dataset(index), &params, &err);
  if (status == GPNN_OK) status = save(&params, argv[4], &err);
  if (status == GPNN_OK)
    status = predict(gpnn_index_dataset(index), &params, argv[2], &result, &err);
  if (status == GPNN_OK)
    printf("%.6g\n", result.rmse);
  else
    fprintf(stderr, "client: %s\n", err.text);
  gpnn_parameters_release(&params);
  gpnn_index_close(index);
  return status != GPNN_OK;
}
