/*
 * The lines that say how parameters were estimated.
 */
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "kernel/parameters_private.h"

/* As in the options of gpnn-fit, so that estimating again takes no longer than it did at first. */
enum { MOST = 1000000 };

static struct gpnn_estimation *estimation_of(const struct gpnn_parameters_reader *reader)
{
  return &reader->params->provenance.estimation;
}

static bool is_word(struct gpnn_span word, const char *text)
{
  return word.length == strlen(text) && memcmp(word.at, text, word.length) == 0;
}

/* ---- seed and thinning -------------------------------------------------------------------- */

enum gpnn_status gpnn_parameters_read_seed(struct gpnn_parameters_reader *reader,
                                           struct gpnn_span word)
{
  return gpnn_parameters_read_whole(reader, "fit-seed", word, 0, UINT64_MAX,
                                    &estimation_of(reader)->seed);
}

enum gpnn_status gpnn_parameters_write_seed(const struct gpnn_parameters *params,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  if (estimation->objective == GPNN_OBJECTIVE_NONE) return GPNN_OK;
  return gpnn_output_printf(output, err, "fit-seed\t%" PRIu64 "\n", estimation->seed);
}

enum gpnn_status gpnn_parameters_read_thin(struct gpnn_parameters_reader *reader,
                                           struct gpnn_span word)
{
  char shown[GPNN_MASK_BYTES];
  double value;
  if (gpnn_number_read(word.at, word.length, &value) != GPNN_NUMBER_OK || !(value >= 0))
    return gpnn_parameters_refuse(reader, "fit-thin: not a non-negative number: \"%s\"",
                                  gpnn_mask(shown, word.at, word.length));
  estimation_of(reader)->has_thin = true;
  estimation_of(reader)->thin = value;
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_write_thin(const struct gpnn_parameters *params,
                                            struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  if (estimation->objective == GPNN_OBJECTIVE_NONE || !estimation->has_thin) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "fit-thin\t", err);
  if (status == GPNN_OK) status = gpnn_output_number(output, estimation->thin, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* ---- the objective ------------------------------------------------------------------------ */

/* Reads the numbers that follow the name of the objective: blocks and rows of each, or neighbours
 * and steps. */
static enum gpnn_status read_sizes(struct gpnn_parameters_reader *reader, struct gpnn_span rest,
                                   uint64_t sizes[2])
{
  for (size_t i = 0; i < 2; i++) {
    enum gpnn_status status = gpnn_parameters_read_whole(
        reader, "fit-objective", gpnn_parameters_next_word(&rest), 1, MOST, &sizes[i]);
    if (status != GPNN_OK) return status;
  }
  return gpnn_parameters_next_word(&rest).length == 0
             ? GPNN_OK
             : gpnn_parameters_refuse(reader, "fit-objective: more than two numbers");
}

enum gpnn_status gpnn_parameters_read_objective(struct gpnn_parameters_reader *reader,
                                                struct gpnn_span values)
{
  char shown[GPNN_MASK_BYTES];
  struct gpnn_estimation *estimation = estimation_of(reader);
  const struct gpnn_span word = gpnn_parameters_next_word(&values);
  uint64_t sizes[2] = {0, 0};
  int kind = GPNN_OBJECTIVE_BLOCK;
  while (kind <= GPNN_OBJECTIVE_LABELS &&
         !is_word(word, gpnn_objective_name((enum gpnn_objective_kind)kind)))
    kind++;
  if (kind > GPNN_OBJECTIVE_LABELS)
    return gpnn_parameters_refuse(
        reader, "fit-objective: \"%s\" is not one of block, loo, mll-k, vecchia, labels",
        gpnn_mask(shown, word.at, word.length));
  enum gpnn_status status = read_sizes(reader, values, sizes);
  if (status != GPNN_OK) return status;
  estimation->objective = (enum gpnn_objective_kind)kind;
  bool by_block = kind == GPNN_OBJECTIVE_BLOCK;
  *(by_block ? &estimation->n_blocks : &estimation->k) = (size_t)sizes[0];
  *(by_block ? &estimation->block_size : &estimation->steps) = (size_t)sizes[1];
  return GPNN_OK;
}

enum gpnn_status gpnn_parameters_write_objective(const struct gpnn_parameters *params,
                                                 struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  bool by_block = estimation->objective == GPNN_OBJECTIVE_BLOCK;
  if (estimation->objective == GPNN_OBJECTIVE_NONE) return GPNN_OK;
  return gpnn_output_printf(output, err, "fit-objective\t%s\t%zu\t%zu\n",
                            gpnn_objective_name(estimation->objective),
                            by_block ? estimation->n_blocks : estimation->k,
                            by_block ? estimation->block_size : estimation->steps);
}

/* ---- options that are on or off ----------------------------------------------------------- */

#define OPTION(name, member)                       \
  {                                                \
    name, offsetof(struct gpnn_estimation, member) \
  }

static const struct {
  const char *name;
  size_t offset; /* of a bool */
} options[] = {
    OPTION("learnt-rotation", learnt_rotation),
    OPTION("shared-lengthscales", shared_lengthscales),
    OPTION("shared-ratio", shared_ratio),
    OPTION("fixed-lengthscale", fixed_lengthscale),
    OPTION("fixed-kernelscale", fixed_kernelscale),
    OPTION("fixed-noise", fixed_noise),
};
enum { N_OPTIONS = sizeof options / sizeof options[0] };

enum gpnn_status gpnn_parameters_read_options(struct gpnn_parameters_reader *reader,
                                              struct gpnn_span values)
{
  char shown[GPNN_MASK_BYTES], *estimation = (char *)estimation_of(reader);
  for (;;) {
    const struct gpnn_span word = gpnn_parameters_next_word(&values);
    size_t i = 0;
    if (word.length == 0) return GPNN_OK;
    while (i < N_OPTIONS && !is_word(word, options[i].name)) i++;
    if (i == N_OPTIONS)
      return gpnn_parameters_refuse(reader, "fit-options: unknown: \"%s\"",
                                    gpnn_mask(shown, word.at, word.length));
    *(bool *)(estimation + options[i].offset) = true;
  }
}

enum gpnn_status gpnn_parameters_write_options(const struct gpnn_parameters *params,
                                               struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_estimation *estimation = &params->provenance.estimation;
  enum gpnn_status status = GPNN_OK;
  bool any = false;
  if (estimation->objective == GPNN_OBJECTIVE_NONE) return GPNN_OK;
  for (size_t i = 0; i < N_OPTIONS && status == GPNN_OK; i++) {
    if (!*(const bool *)((const char *)estimation + options[i].offset)) continue;
    status = gpnn_output_printf(output, err, "%s\t%s", any ? "" : "fit-options", options[i].name);
    any = true;
  }
  return status == GPNN_OK && any ? gpnn_output_text(output, "\n", err) : status;
}
