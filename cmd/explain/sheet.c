/* Tables, or JSON objects that say the same. */
#include <math.h>
#include <string.h>

#include "base/list.h"
#include "cmd/explain/explain.h"

static bool goes_on(const struct sheet *sheet)
{
  return sheet->output != NULL && sheet->status == GPNN_OK;
}

/* Hands what there is of the object to the output. */
static void flush(struct sheet *sheet)
{
  if (goes_on(sheet)) sheet->status = json_write(&sheet->json, sheet->output, &sheet->err);
}

static void put(struct sheet *sheet, const char *text)
{
  if (goes_on(sheet)) sheet->status = gpnn_output_text(sheet->output, text, &sheet->err);
}

/* The delimiter that comes before a cell. */
static void delimit(struct sheet *sheet)
{
  if (!sheet->at_start) put(sheet, "\t");
  sheet->at_start = false;
}

void sheet_open(struct sheet *sheet, const struct cli *cli, bool as_json)
{
  *sheet = (struct sheet){.na = cli->na, .at_start = true, .as_json = as_json};
  sheet->status = cli_open_output(cli->output, &sheet->output, &sheet->err);
  if (as_json) json_open(&sheet->json, NULL, '{');
}

void sheet_lines(struct sheet *sheet, const char *names, const char *array)
{
  const char *name;
  size_t length;
  if (sheet->as_json) {
    json_open(&sheet->json, array, '[');
    return;
  }
  while ((name = gpnn_list_next(&names, &length)) != NULL) sheet_bytes(sheet, NULL, name, length);
  put(sheet, "\n");
}

void sheet_begin(struct sheet *sheet)
{
  sheet->at_start = true;
  if (sheet->as_json) json_open(&sheet->json, NULL, '{');
}

void sheet_bytes(struct sheet *sheet, const char *name, const char *text, size_t length)
{
  if (sheet->as_json) {
    json_bytes(&sheet->json, name, text, length);
    return;
  }
  delimit(sheet);
  if (goes_on(sheet))
    sheet->status = gpnn_table_write_field(sheet->output, '\t', text, length, &sheet->err);
}

void sheet_text(struct sheet *sheet, const char *name, const char *text)
{
  if (text == NULL)
    sheet_number(sheet, name, NAN);
  else
    sheet_bytes(sheet, name, text, strlen(text));
}

void sheet_number(struct sheet *sheet, const char *name, double value)
{
  if (sheet->as_json) {
    json_number(&sheet->json, name, value);
    return;
  }
  delimit(sheet);
  if (goes_on(sheet))
    sheet->status = gpnn_table_write_number(sheet->output, '\t', value, sheet->na, &sheet->err);
}

void sheet_count(struct sheet *sheet, const char *name, size_t value)
{
  sheet_number(sheet, name, (double)value);
}

void sheet_end(struct sheet *sheet)
{
  if (!sheet->as_json) {
    put(sheet, "\n");
    return;
  }
  json_close(&sheet->json, '}');
  flush(sheet);
}

enum gpnn_status sheet_close(struct sheet *sheet, enum gpnn_status status, struct gpnn_error *err)
{
  if (status == GPNN_OK && sheet->as_json) {
    json_close(&sheet->json, ']');
    json_close(&sheet->json, '}');
    flush(sheet);
    put(sheet, "\n");
  }
  json_release(&sheet->json);
  if (status == GPNN_OK && sheet->status != GPNN_OK) {
    status = sheet->status;
    if (err != NULL) *err = sheet->err;
  }
  return cli_close_output(sheet->output, status, err);
}
