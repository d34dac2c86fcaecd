#include "cmd/common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

/* ---- bytes -------------------------------------------------------------------------------- */

static void append(struct json *json, const char *bytes, size_t n)
{
  if (json == NULL) return;
  size_t wanted = json->length + n;
  if (json->failed || !gpnn_grow(&json->text, &json->capacity, wanted, 1)) {
    json->failed = true;
    return;
  }
  memcpy(json->text + json->length, bytes, n);
  json->length = wanted;
}

static void append_text(struct json *json, const char *text)
{
  append(json, text, strlen(text));
}

/* The control character at the beginning of 'bytes', one of those that terminals may obey, ASCII's
 * or of the next 32; 0 if it is another character. */
static unsigned control_at(const char *bytes, size_t used)
{
  unsigned char first = (unsigned char)bytes[0], second = used > 1 ? (unsigned char)bytes[1] : 0;
  if (used == 1) return first < 0x20 || first == 0x7f ? first : 0;
  return first == 0xc2 && second < 0xa0 ? second : 0;
}

/* Appends one character of a text, or what stands for it, and returns how many bytes it has. */
static size_t append_character(struct json *json, const char *bytes, size_t n)
{
  size_t used = gpnn_utf8_length(bytes, n);
  unsigned control = control_at(bytes, used);
  char escaped[16];
  if (used == 0) {
    append_text(json, "\\ufffd");
    return 1;
  }
  snprintf(escaped, sizeof escaped, "\\u%04x", control);
  if (control != 0 || *bytes == '\0') {
    append_text(json, escaped);
    return used;
  }
  if (*bytes == '"' || *bytes == '\\') append_text(json, "\\");
  append(json, bytes, used);
  return used;
}

static void append_quoted(struct json *json, const char *bytes, size_t n)
{
  append_text(json, "\"");
  for (size_t i = 0; i < n;) i += append_character(json, bytes + i, n - i);
  append_text(json, "\"");
}

/* What precedes a value: a comma after another one, and its name. */
static void begin_value(struct json *json, const char *name)
{
  if (json == NULL) return;
  if (json->has_value) append_text(json, ", ");
  json->has_value = true;
  if (name == NULL) return;
  append_quoted(json, name, strlen(name));
  append_text(json, ": ");
}

/* ---- values ------------------------------------------------------------------------------- */

void json_open(struct json *json, const char *name, char bracket)
{
  begin_value(json, name);
  append(json, &bracket, 1);
  if (json != NULL) json->has_value = false;
}

void json_close(struct json *json, char bracket)
{
  append(json, &bracket, 1);
  if (json != NULL) json->has_value = true;
}

void json_text(struct json *json, const char *name, const char *text)
{
  if (text != NULL) {
    json_bytes(json, name, text, strlen(text));
    return;
  }
  begin_value(json, name);
  append_text(json, "null");
}

void json_bytes(struct json *json, const char *name, const char *bytes, size_t n)
{
  begin_value(json, name);
  append_quoted(json, bytes, n);
}

void json_number(struct json *json, const char *name, double value)
{
  char text[GPNN_NUMBER_BYTES] = "null";
  if (isfinite(value)) gpnn_number_write(text, value);
  begin_value(json, name);
  append_text(json, text);
}

void json_count(struct json *json, const char *name, uint64_t value)
{
  char text[24];
  snprintf(text, sizeof text, "%" PRIu64, value);
  begin_value(json, name);
  append_text(json, text);
}

void json_flag(struct json *json, const char *name, bool value)
{
  begin_value(json, name);
  append_text(json, value ? "true" : "false");
}

/* ---- the whole ---------------------------------------------------------------------------- */

enum gpnn_status json_write(struct json *json, struct gpnn_output *output, struct gpnn_error *err)
{
  size_t length = json->length;
  if (json->failed) return gpnn_fail_memory(err, "for the JSON object");
  json->length = 0;
  return length == 0 ? GPNN_OK : gpnn_output_write(output, json->text, length, err);
}

void json_release(struct json *json)
{
  free(json->text);
  *json = (struct json){0};
}
