/* The lines of the inference of classes, and what it has in a state. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "container/state.h"
#include "kernel/parameters_private.h"

static bool is_word(struct gpnn_span word, const char *text)
{
  return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

enum gpnn_status gpnn_parameters_read_inference(struct gpnn_parameters_reader *reader,
                                                struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  bool is_link = is_word(word, "link");
  if (!is_link && !is_word(word, "polya-gamma"))
    return gpnn_parameters_refuse(reader, "inference: \"%s\" is not one of link, polya-gamma",
                                  gpnn_mask(shown, word.at, word.length));
  reader->params->inference = is_link ? GPNN_INFERENCE_LINK : GPNN_INFERENCE_POLYA_GAMMA;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_write_inference(const struct gpnn_parameters *params,
                                                 struct gpnn_output *output, struct gpnn_error *err)
{
  if (params->inference == GPNN_INFERENCE_LINK) return GPNN_OK;
  return gpnn_output_text(output, "inference\tpolya-gamma\n", err);
}

enum gpnn_status gpnn_parameters_read_omega(struct gpnn_parameters_reader *reader,
                                            struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  bool is_learnt = is_word(word, "learnt");
  if (!is_learnt && !is_word(word, "fixed"))
    return gpnn_parameters_refuse(reader, "omega: \"%s\" is not one of fixed, learnt",
                                  gpnn_mask(shown, word.at, word.length));
  reader->params->omega.is_learnt = is_learnt;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_write_omega(const struct gpnn_parameters *params,
                                             struct gpnn_output *output, struct gpnn_error *err)
{
  if (params->inference != GPNN_INFERENCE_POLYA_GAMMA) return GPNN_OK;
  return gpnn_output_text(output, params->omega.is_learnt ? "omega\tlearnt\n" : "omega\tfixed\n",
                          err);
}

/* ---- in a state ------------------------------------------------------------------------- */

/* The name of the array, which belongs to the target that the parameters name, or to "". */
static const char array_name[] = "log-omega";

static const char *array_target(const struct gpnn_parameters *params)
{
  return params->target == NULL ? "" : params->target;
}

enum gpnn_status gpnn_parameters_store_omega(const struct gpnn_parameters *params,
                                             struct gpnn_state *state, struct gpnn_error *err)
{
  if (!params->omega.is_learnt) return GPNN_OK;
  return gpnn_state_add(state, array_target(params), array_name, params->omega.n,
                        params->omega.log_median, err);
}

enum gpnn_status gpnn_parameters_take_omega(struct gpnn_parameters *params,
                                            const struct gpnn_state *state, const char *name,
                                            struct gpnn_error *err)
{
  const double most = 100; /* beyond which nothing is learnt, and powers of e overflow */
  struct gpnn_omega *omega = &params->omega;
  if (!omega->is_learnt || state == NULL) return GPNN_OK;
  const struct gpnn_state_array *array = gpnn_state_find(state, array_target(params), array_name);
  bool is_good = array != NULL && array->n > 0;
  for (size_t i = 0; is_good && i < array->n; i++) is_good = fabs(array->values[i]) <= most;
  if (!is_good)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: omega was learnt, but the file has no valid values",
                     name);
  omega->log_median = gpnn_alloc(array->n, 1, sizeof *omega->log_median);
  if (omega->log_median == NULL) return gpnn_fail_memory(err, "for the parameters");
  memcpy(omega->log_median, array->values, array->n * sizeof *omega->log_median);
  omega->n = array->n;
  return GPNN_OK;
}
