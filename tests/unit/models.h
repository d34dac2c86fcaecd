/*
 * models: models of one channel, fitted and made in one call.
 */
#ifndef GPNN_TESTS_MODELS_H
#define GPNN_TESTS_MODELS_H

#include "estimate/fit.h"
#include "models/model.h"

/* Finds the rows that 'parameters' are of, and makes their model. */
static inline enum gpnn_status make_model_with(struct gpnn_model **model,
                                               const struct gpnn_dataset *dataset,
                                               const struct gpnn_parameters *parameters,
                                               struct gpnn_model_options options,
                                               struct gpnn_error *error)
{
  struct gpnn_channel channel;
  bool other_model;
  enum gpnn_status status =
      gpnn_channels_find(dataset, 1, parameters, &channel, &other_model, error);
  return status == GPNN_OK ? gpnn_model_new(model, 1, &channel, &options, error) : status;
}

static inline enum gpnn_status make_model(struct gpnn_model **model,
                                          const struct gpnn_dataset *dataset,
                                          const struct gpnn_parameters *parameters,
                                          size_t neighbours, int threads, struct gpnn_error *error)
{
  const struct gpnn_model_options options = {.neighbours = neighbours, .threads = threads};
  return make_model_with(model, dataset, parameters, options, error);
}

static inline enum gpnn_status fit_one(const struct gpnn_dataset *dataset,
                                       const struct gpnn_fit_options *options,
                                       struct gpnn_parameters *parameters,
                                       struct gpnn_fit_report *report, struct gpnn_error *error)
{
  return gpnn_fit(1, &dataset, options, parameters, report, error);
}

#endif
