/* The lines of the inference of classes. */
#include <string.h>

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
