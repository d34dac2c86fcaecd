/*
 * facts: names with their values, as lines (name, tab, value) or as one JSON object.
 *
 * Calling sequence: facts_begin(), a call for each fact, facts_end().  What is a line of several
 * values is an object or an array; lines that may occur any number of times are an array.  Both
 * forms have the same names and numbers; JSON has names for the values of a line, too.
 *
 * A failure shows only in facts_end(): until then nothing needs to be checked.
 * Threads: an object belongs to one thread at a time.
 */
#ifndef GPNN_CMD_COMMON_FACTS_H
#define GPNN_CMD_COMMON_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cmd/common/json.h"
#include "table/stream.h"

struct facts {
  struct gpnn_output *output; /* borrowed */
  bool as_json;
  struct json json;        /* owned */
  const char *list;        /* what the lines of the open list are called; NULL: none is open */
  size_t rows;             /* lines of several values that are open, one within another */
  bool at_start;           /* the next value begins a line */
  enum gpnn_status status; /* the first failure */
  struct gpnn_error error;
};

void facts_begin(struct facts *facts, struct gpnn_output *output, bool as_json);

/* Releases 'facts' and returns what writing them came to, or 'status' if that is a failure. */
GPNN_MUST_CHECK enum gpnn_status facts_end(struct facts *facts, enum gpnn_status status,
                                           struct gpnn_error *err);

/* ---- values: of a line of their own or, in an open row, of that ---------------------------------
 * In a list 'name' is NULL, as it is in a row that is an array. */

void facts_text(struct facts *facts, const char *name, const char *text);

/* The name of a column: masked and cut in lines, whole in JSON. */
void facts_name(struct facts *facts, const char *name, const char *column);

void facts_count(struct facts *facts, const char *name, uint64_t value);

/* NA, or null, if it is not finite. */
void facts_number(struct facts *facts, const char *name, double value);

/* A text; in JSON a number if it reads as one. */
void facts_word(struct facts *facts, const char *name, const char *text);

/* ---- structure ------------------------------------------------------------------------------- */

/* A line of several values: with 'bracket' '{' an object, whose values have names, or '[' an array.
 * In a list 'name' is NULL; elsewhere the line of one without a name, a row of a table, begins with
 * the first value.  Within a line it is some of its values. */
void facts_open_row(struct facts *facts, const char *name, char bracket);
void facts_close_row(struct facts *facts, char bracket);

/* Lines that are all called 'name'. */
void facts_open_list(struct facts *facts, const char *name);
void facts_close_list(struct facts *facts);

/* An object or array that lines do not show. */
void facts_open_part(struct facts *facts, const char *name, char bracket);
void facts_close_part(struct facts *facts, char bracket);

#endif
