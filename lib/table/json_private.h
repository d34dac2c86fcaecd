/*
 * json: what one line of JSON says, as events.
 *
 * The reader is RapidJSON, which is strict, keeps numbers as they are written, decodes texts where
 * they stand, and so allocates nothing; json.cc hands its events on.
 */
#ifndef GPNN_TABLE_JSON_PRIVATE_H
#define GPNN_TABLE_JSON_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum gpnn_json_event {
  GPNN_JSON_OBJECT, /* begins, and ends */
  GPNN_JSON_END,
  GPNN_JSON_ARRAY,  /* begins */
  GPNN_JSON_NAME,   /* of a member, whose value follows */
  GPNN_JSON_TEXT,   /* a string, decoded */
  GPNN_JSON_NUMBER, /* as it is written; of true 1, and of false 0 */
  GPNN_JSON_NULL    /* or NaN, which Python's json.dumps() writes */
};

/*
 * Is told of each event in turn; false stops the reading.  'text' has 'length' bytes of UTF-8
 * without a NUL, and is valid for as long as the line is; of an event without one it is empty.
 */
typedef bool gpnn_json_listener(void *context, enum gpnn_json_event event, const char *text,
                                size_t length);

/* A longer line cannot be read. */
#define GPNN_JSON_MOST_BYTES INT32_MAX

/*
 * Reads a line, which a NUL ends and no other is in, and which its texts then overwrite.  Returns
 * NULL if it was one value, whole and well-formed; otherwise what is wrong, a sentence that is
 * static text, or an empty text if the listener stopped it.  '*at' is then the byte of the line,
 * from 0, at which it was found.
 */
const char *gpnn_json_read(char *line, gpnn_json_listener *listener, void *context, size_t *at);

#ifdef __cplusplus
}
#endif

#endif
