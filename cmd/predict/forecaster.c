#include "cmd/predict/forecaster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum gpnn_status forecaster_new(struct forecaster *forecaster, const struct gpnn_model *model,
                                const struct gpnn_predict_options *options, struct gpnn_error *err)
{
  size_t n_classes = gpnn_dataset_n_classes(gpnn_model_channel(model, 0)->dataset);
  forecaster->width = n_classes > 0 ? n_classes : gpnn_model_n_channels(model);
  return n_classes > 0 ? gpnn_labels_new(&forecaster->classes, model, 0, options, err)
                       : gpnn_predictor_new(&forecaster->numbers, model, options, err);
}

void forecaster_release(struct forecaster *forecaster)
{
  gpnn_predictor_free(forecaster->numbers);
  gpnn_labels_free(forecaster->classes);
  *forecaster = (struct forecaster){0};
}

enum gpnn_status forecaster_predict(const struct forecaster *forecaster,
                                    const struct gpnn_predict_rows *rows, const struct forecast *to,
                                    struct gpnn_counts *counts, struct gpnn_error *err)
{
  return forecaster->classes != NULL
             ? gpnn_labels_predict(forecaster->classes, rows, to->classes, counts, err)
             : gpnn_predict_distributions(forecaster->numbers, rows, to->numbers, counts, err);
}

enum gpnn_status forecast_new(struct forecast *forecast, const struct forecaster *forecaster,
                              size_t n, struct gpnn_error *err)
{
  if (forecaster->classes != NULL)
    forecast->classes = gpnn_alloc(n, forecaster->width, sizeof *forecast->classes);
  else
    forecast->numbers = gpnn_alloc(n, forecaster->width, sizeof *forecast->numbers);
  return forecast->classes != NULL || forecast->numbers != NULL
             ? GPNN_OK
             : gpnn_fail_memory(err, "for predictions");
}

void forecast_release(struct forecast *forecast)
{
  free(forecast->numbers);
  free(forecast->classes);
  *forecast = (struct forecast){0};
}

void forecast_clear(const struct forecast *forecast, const struct forecaster *forecaster, size_t n)
{
  const struct gpnn_distribution missing = {.location = NAN, .sd = NAN, .degrees = INFINITY};
  for (size_t i = 0; i < n * forecaster->width; i++)
    if (forecaster->classes != NULL)
      forecast->classes[i] = NAN;
    else
      forecast->numbers[i] = missing;
}

void forecast_scatter(const struct forecast *forecast, const struct forecaster *forecaster,
                      size_t n, const size_t *at, size_t n_all, const struct forecast *to)
{
  size_t width = forecaster->width;
  for (size_t i = 0; i < n && forecaster->classes != NULL; i++)
    memcpy(to->classes + at[i] * width, forecast->classes + i * width, width * sizeof *to->classes);
  for (size_t c = 0; c < width && forecaster->classes == NULL; c++)
    for (size_t i = 0; i < n; i++) to->numbers[c * n_all + at[i]] = forecast->numbers[c * n + i];
}
