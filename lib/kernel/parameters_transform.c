/*
 * The line of the transform: its kind, then the numbers of gpnn_transform_numbers().
 */
#include "base/number.h"
#include "kernel/parameters_private.h"

/* Reads the numbers, up to one more than there may be. */
static enum gpnn_status read_numbers(struct gpnn_parameters_reader *reader, struct gpnn_span values,
                                     double numbers[GPNN_TRANSFORM_NUMBERS + 1], size_t *n)
{
  char shown[GPNN_MASK_BYTES];
  for (*n = 0; *n <= GPNN_TRANSFORM_NUMBERS; (*n)++) {
    struct gpnn_span word = gpnn_parameters_next_word(&values);
    if (word.length == 0) return GPNN_OK;
    if (gpnn_number_read(word.at, word.length, &numbers[*n]) != GPNN_NUMBER_OK)
      return gpnn_parameters_refuse(reader, "transform: not a number: \"%s\"",
                                    gpnn_mask(shown, word.at, word.length));
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_read_transform(struct gpnn_parameters_reader *reader,
                                                struct gpnn_span values)
{
  char name[GPNN_MASK_BYTES];
  double numbers[GPNN_TRANSFORM_NUMBERS + 1];
  size_t n;
  const char *why = NULL;
  enum gpnn_transform_kind kind = GPNN_TRANSFORM_NONE;
  struct gpnn_span word = gpnn_parameters_next_word(&values);
  gpnn_mask(name, word.at, word.length);
  if (!gpnn_transform_by_name(name, &kind) || kind == GPNN_TRANSFORM_NONE)
    return gpnn_parameters_refuse(
        reader, "transform: \"%s\" is not one of log, asinh, boxcox, yeo-johnson, rank", name);
  enum gpnn_status status = read_numbers(reader, values, numbers, &n);
  if (status == GPNN_OK && !gpnn_transform_set(&reader->params->transform, kind, n, numbers, &why))
    return gpnn_parameters_refuse(reader, "transform: %s: %s", name, why);
  return status;
}

enum gpnn_status gpnn_parameters_write_transform(const struct gpnn_parameters *params,
                                                 struct gpnn_output *output, struct gpnn_error *err)
{
  double numbers[GPNN_TRANSFORM_NUMBERS];
  const struct gpnn_transform *transform = &params->transform;
  if (transform->kind == GPNN_TRANSFORM_NONE) return GPNN_OK;
  size_t n = gpnn_transform_numbers(transform, numbers);
  enum gpnn_status status =
      gpnn_output_printf(output, err, "transform\t%s", gpnn_transform_name(transform->kind));
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_output_text(output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(output, numbers[i], err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}
