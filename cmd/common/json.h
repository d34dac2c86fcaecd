/*
 * json: one JSON object (RFC 8259), put together in memory and written as a line.
 *
 * Calling sequence: json_open(), a call for each member or element, json_close(), json_write(),
 * json_release().  A zeroed object is empty and may be released.  Within an object every value has
 * a name; within an array none has, and 'name' is NULL, as it is for the outermost object.  Where
 * there is no object to put a value into (NULL), nothing happens.
 *
 * Running out of memory shows only in json_write(): until then nothing needs to be checked.
 * Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_CMD_COMMON_JSON_H
#define GPNN_CMD_COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "table/stream.h"

struct json {
  char *text; /* owned: 'length' bytes, without a NUL */
  size_t length, capacity;
  bool has_value; /* the object or array that is open has one already */
  bool failed;    /* there was not enough memory */
};

/* Begins an object ('{') or an array ('['), and ends it ('}' or ']'). */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);

/* A text of any bytes: control characters are escaped, and malformed UTF-8 becomes U+FFFD.  NULL is
 * null. */
void json_text(struct json *json, const char *name, const char *text);
void json_bytes(struct json *json, const char *name, const char *bytes, size_t n);

/* A number, as the shortest text that reads back the same; null if it is not finite. */
void json_number(struct json *json, const char *name, double value);
void json_count(struct json *json, const char *name, uint64_t value);

void json_flag(struct json *json, const char *name, bool value);

/* Writes what there is so far and forgets it; more may follow.  GPNN_ENOMEM: there was not enough
 * memory for some of it. */
GPNN_MUST_CHECK enum gpnn_status json_write(struct json *json, struct gpnn_output *output,
                                            struct gpnn_error *err);

void json_release(struct json *json);

#endif
