#include <string.h>

#include "container/state.h"
#include "kernel/parameters_private.h"

/* All lines of a block except its comments and its target; or of these, only its calibration. */
static enum gpnn_status write_values(struct gpnn_output *output,
                                     const struct gpnn_parameters *params, bool calibration_alone,
                                     struct gpnn_error *err)
{
  const struct gpnn_parameters_line *line;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; (line = gpnn_parameters_line_at(i)) != NULL && status == GPNN_OK; i++)
    if (!calibration_alone || line->calibrates)
      status = gpnn_parameters_line_write(line, params, output, err);
  return status;
}

static enum gpnn_status write_comments(struct gpnn_output *output,
                                       const struct gpnn_parameters *params, struct gpnn_error *err)
{
  const char *comments = params->provenance.comments;
  return comments == NULL ? GPNN_OK : gpnn_output_text(output, comments, err);
}

static enum gpnn_status write_members(struct gpnn_output *output,
                                      const struct gpnn_parameters *params, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < params->n_members && status == GPNN_OK; k++) {
    status = gpnn_output_printf(output, err, "member\t%zu\n", k + 2);
    if (status == GPNN_OK) status = write_comments(output, &params->members[k], err);
    if (status == GPNN_OK) status = write_values(output, &params->members[k], false, err);
  }
  return status;
}

static enum gpnn_status write_target(struct gpnn_output *output, const char *target,
                                     struct gpnn_error *err)
{
  if (target == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_output_text(output, "target\t", err);
  if (status == GPNN_OK) status = gpnn_output_text(output, target, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status gpnn_parameters_check_target(const char *name, struct gpnn_error *err)
{
  static const char blanks[] = " \t\r";
  char shown[GPNN_MASK_BYTES];
  size_t length = strlen(name);
  if (length > 0 && strchr(name, '\n') == NULL && strchr(blanks, name[0]) == NULL &&
      strchr(blanks, name[length - 1]) == NULL)
    return GPNN_OK;
  return gpnn_fail(
      err, GPNN_EDATA,
      "target \"%s\": parameters cannot hold a name that is empty, has a line end, or a "
      "blank at either end",
      gpnn_mask(shown, name, length));
}

static enum gpnn_status check_targets(const struct gpnn_parameters *params, size_t n,
                                      struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t i = 0; i < n; i++) {
    const char *target = params[i].target;
    if (target == NULL && n == 1) return GPNN_OK;
    if (target == NULL)
      return gpnn_fail(err, GPNN_EINVAL, "parameters of several targets need their names");
    enum gpnn_status status = gpnn_parameters_check_target(target, err);
    if (status != GPNN_OK) return status;
    for (size_t k = 0; k < i; k++)
      if (strcmp(params[k].target, target) == 0)
        return gpnn_fail(err, GPNN_EINVAL, "target \"%s\": has parameters twice",
                         gpnn_mask(shown, target, strlen(target)));
  }
  return GPNN_OK;
}

/* Names of factors that the text could not be read with. */
static enum gpnn_status check_factors(const struct gpnn_parameters *params, size_t n,
                                      struct gpnn_error *err)
{
  char shown[GPNN_MASK_BYTES];
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < params[i].grid.n_factors; a++) {
      const char *name = params[i].grid.factor[a].name;
      if (name == NULL || !gpnn_parameters_can_name_factor(name))
        return gpnn_fail(err, GPNN_EDATA, "factor \"%s\": " GPNN_FACTOR_NAME_RULE,
                         name == NULL ? "" : gpnn_mask(shown, name, strlen(name)));
    }
  return GPNN_OK;
}

static enum gpnn_status write_blocks(const struct gpnn_parameters *params, size_t n,
                                     bool calibration_alone, struct gpnn_output *output,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = check_targets(params, n, err);
  if (status == GPNN_OK) status = check_factors(params, n, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(output, err, "%s %d\n", GPNN_PARAMETERS_FIRST_LINE,
                                GPNN_PARAMETERS_VERSION);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    /* Comments above the first target are read as those of the first block. */
    if (i > 0) status = write_target(output, params[i].target, err);
    if (status == GPNN_OK) status = write_comments(output, &params[i], err);
    if (status == GPNN_OK && i == 0) status = write_target(output, params[i].target, err);
    if (status == GPNN_OK) status = write_values(output, &params[i], calibration_alone, err);
    if (status == GPNN_OK) status = write_members(output, &params[i], err);
  }
  return status;
}

enum gpnn_status gpnn_parameters_write(const struct gpnn_parameters *params, size_t n,
                                       struct gpnn_output *output, struct gpnn_error *err)
{
  return write_blocks(params, n, false, output, err);
}

enum gpnn_status gpnn_parameters_write_calibration(const struct gpnn_parameters *params, size_t n,
                                                   struct gpnn_output *output,
                                                   struct gpnn_error *err)
{
  return write_blocks(params, n, true, output, err);
}

static enum gpnn_status pour(void *output, const void *bytes, size_t length, struct gpnn_error *err)
{
  return gpnn_output_write(output, bytes, length, err);
}

enum gpnn_status gpnn_parameters_write_with_state(const struct gpnn_parameters *params, size_t n,
                                                  const struct gpnn_state *state,
                                                  struct gpnn_output *output,
                                                  struct gpnn_error *err)
{
  struct gpnn_output *memory = NULL;
  if (state == NULL) return gpnn_parameters_write(params, n, output, err);
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK) status = gpnn_parameters_write(params, n, memory, err);
  if (status == GPNN_OK) {
    size_t length;
    const char *text = gpnn_output_memory(memory, &length);
    status = text == NULL ? gpnn_fail_memory(err, "for the parameters")
                          : gpnn_state_pour(state, text, length, pour, output, err);
  }
  gpnn_output_abandon(memory);
  return status;
}
