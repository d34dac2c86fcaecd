/* Writing answers. */
#include <string.h>

#include "cotrain/answers_private.h"

/* A field that would be taken for a comment at the beginning of a line is put in quotes. */
static enum gpnn_status write_id(struct gpnn_output *output, const char *text,
                                 struct gpnn_error *err)
{
  if (text[0] != '#') return gpnn_table_write_field(output, '\t', text, strlen(text), err);
  enum gpnn_status status = gpnn_output_text(output, "\"", err);
  for (; *text != '\0' && status == GPNN_OK; text++)
    status = gpnn_output_write(output, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\"", err) : status;
}

/* A text of any bytes in one line. */
static enum gpnn_status write_comment(struct gpnn_output *output, const char *name,
                                      const char *text, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "# %s: ", name);
  for (; *text != '\0' && status == GPNN_OK; text++) {
    bool ends = *text == '\n' || *text == '\r';
    status = gpnn_output_write(output, ends ? " " : text, 1, err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_number_comment(struct gpnn_output *output, const char *name,
                                             double value, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_printf(output, err, "# %s: ", name);
  if (status == GPNN_OK) status = gpnn_output_number(output, value, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_comments(const struct gpnn_answers *answers,
                                       struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(output, ANSWERS_MAGIC ANSWERS_VERSION "\n", err);
  if (status == GPNN_OK) status = write_comment(output, "target", answers->target, err);
  if (status == GPNN_OK) status = write_number_comment(output, "centre", answers->centre, err);
  if (status == GPNN_OK) status = write_number_comment(output, "scale", answers->scale, err);
  if (status == GPNN_OK)
    status = write_comment(output, "report", gpnn_report_name(answers->report), err);
  if (status == GPNN_OK && answers->notes != NULL)
    status = gpnn_output_text(output, answers->notes, err);
  return status;
}

/* The array of a field, or NULL if it is not told. */
static const double *find_array(const struct gpnn_answers *answers,
                                const struct answers_field *field)
{
  struct gpnn_answers pointers = *answers;
  return gpnn_answers_tells(answers->report, field) ? *gpnn_answers_array(&pointers, field) : NULL;
}

static enum gpnn_status write_header(const struct gpnn_answers *answers, struct gpnn_output *output,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = write_id(output, answers->id_name, err);
  for (size_t f = 0; f < ANSWERS_FIELDS; f++) {
    const struct answers_field *field = &gpnn_answers_fields[f];
    if (find_array(answers, field) == NULL) continue;
    if (!field->is_matrix && status == GPNN_OK)
      status = gpnn_output_printf(output, err, "\t%s", field->name);
    for (size_t j = 0; field->is_matrix && j < answers->n && status == GPNN_OK; j++)
      status = gpnn_output_printf(output, err, "\t%s%zu", field->name, j + 1);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_row(const struct gpnn_answers *answers, size_t i,
                                  struct gpnn_output *output, struct gpnn_error *err)
{
  enum gpnn_status status = write_id(output, answers->ids[i], err);
  for (size_t f = 0; f < ANSWERS_FIELDS; f++) {
    const struct answers_field *field = &gpnn_answers_fields[f];
    const double *array = find_array(answers, field);
    size_t width = field->is_matrix ? answers->n : 1;
    for (size_t j = 0; array != NULL && j < width && status == GPNN_OK; j++) {
      status = gpnn_output_text(output, "\t", err);
      if (status == GPNN_OK) status = gpnn_output_number(output, array[i * width + j], err);
    }
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

enum gpnn_status gpnn_answers_write(const struct gpnn_answers *answers, struct gpnn_output *output,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = write_comments(answers, output, err);
  if (status == GPNN_OK) status = write_header(answers, output, err);
  for (size_t i = 0; i < answers->n && status == GPNN_OK; i++)
    status = write_row(answers, i, output, err);
  return status;
}
