#include "cmd/common/facts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

/* ---- lines -------------------------------------------------------------------------------- */

static void write_text(struct facts *facts, const char *text)
{
  if (facts->status == GPNN_OK)
    facts->status = gpnn_output_text(facts->output, text, &facts->error);
}

/* What precedes and what follows a value. */
static void write_value(struct facts *facts, const char *name, const char *text)
{
  if (facts->rows == 0) write_text(facts, facts->list != NULL ? facts->list : name);
  write_text(facts, facts->at_start ? "" : "\t");
  write_text(facts, text);
  if (facts->rows == 0) write_text(facts, "\n");
  facts->at_start = false;
}

/* ---- values ------------------------------------------------------------------------------- */

void facts_text(struct facts *facts, const char *name, const char *text)
{
  if (facts->as_json)
    json_text(&facts->json, name, text);
  else
    write_value(facts, name, text);
}

void facts_name(struct facts *facts, const char *name, const char *column)
{
  char shown[GPNN_MASK_BYTES];
  facts_text(facts, name, facts->as_json ? column : gpnn_mask(shown, column, strlen(column)));
}

void facts_count(struct facts *facts, const char *name, uint64_t value)
{
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  if (facts->as_json)
    json_count(&facts->json, name, value);
  else
    write_value(facts, name, text);
}

void facts_number(struct facts *facts, const char *name, double value)
{
  char text[GPNN_NUMBER_BYTES] = "NA";
  if (isfinite(value)) gpnn_number_write(text, value);
  if (facts->as_json)
    json_number(&facts->json, name, value);
  else
    write_value(facts, name, text);
}

void facts_word(struct facts *facts, const char *name, const char *text)
{
  uint64_t count;
  double number;
  if (!facts->as_json)
    write_value(facts, name, text);
  else if (gpnn_number_read_u64(text, strlen(text), &count))
    json_count(&facts->json, name, count);
  else if (gpnn_number_read(text, strlen(text), &number) == GPNN_NUMBER_OK)
    json_number(&facts->json, name, number);
  else
    json_text(&facts->json, name, text);
}

/* ---- structure ---------------------------------------------------------------------------- */

void facts_open_row(struct facts *facts, const char *name, char bracket)
{
  const char *begin = facts->list != NULL ? facts->list : name;
  facts_open_part(facts, name, bracket);
  if (facts->rows++ > 0) return;
  facts->at_start = begin == NULL;
  if (!facts->as_json && begin != NULL) write_text(facts, begin);
}

void facts_close_row(struct facts *facts, char bracket)
{
  facts_close_part(facts, bracket);
  if (--facts->rows == 0 && !facts->as_json) write_text(facts, "\n");
}

void facts_open_list(struct facts *facts, const char *name)
{
  facts_open_part(facts, name, '[');
  facts->list = name;
}

void facts_close_list(struct facts *facts)
{
  facts->list = NULL;
  facts_close_part(facts, ']');
}

void facts_open_part(struct facts *facts, const char *name, char bracket)
{
  if (facts->as_json) json_open(&facts->json, name, bracket);
}

void facts_close_part(struct facts *facts, char bracket)
{
  if (facts->as_json) json_close(&facts->json, bracket);
}

/* ---- the whole ---------------------------------------------------------------------------- */

void facts_begin(struct facts *facts, struct gpnn_output *output, bool as_json)
{
  *facts = (struct facts){.output = output, .as_json = as_json};
  facts_open_part(facts, NULL, '{');
}

enum gpnn_status facts_end(struct facts *facts, enum gpnn_status status, struct gpnn_error *err)
{
  facts_close_part(facts, '}');
  if (facts->as_json && status == GPNN_OK && facts->status == GPNN_OK)
    facts->status = json_write(&facts->json, facts->output, &facts->error);
  if (facts->as_json && status == GPNN_OK) write_text(facts, "\n");
  if (status == GPNN_OK && facts->status != GPNN_OK) {
    status = facts->status;
    if (err != NULL) *err = facts->error;
  }
  json_release(&facts->json);
  return status;
}
