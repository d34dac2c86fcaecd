/*
 * fuzz: what the harnesses share.
 *
 * A harness is one function, LLVMFuzzerTestOneInput(), which hands the bytes it is given to one
 * reader of the library and demands what must hold of whatever that makes of them.  A fuzzer calls
 * it with bytes of its own making ('make fuzz'), replay.c with those of tests/fuzz/corpus.
 */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "table/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length);

/* Ends the program, which every fuzzer takes for a find, unless 'condition' holds. */
#define FUZZ_EXPECT(condition)                                            \
  do {                                                                    \
    if (!(condition)) {                                                   \
      dprintf(2, "%s:%d: expected %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                            \
    }                                                                     \
  } while (0)

/* A line that a terminal can be shown: printable characters in well-formed UTF-8. */
void fuzz_expect_shown(const char *line);

/* A failure is told, in one such line. */
void fuzz_expect_failure(enum gpnn_status status, const struct gpnn_error *err);

/* A file in memory that holds 'bytes', and its path, which lasts until the next call for the same
 * 'slot' (0 or 1). */
const char *fuzz_file(int slot, const void *bytes, size_t length);

/* A table of 'bytes'; NULL if it does not open. */
struct gpnn_table *fuzz_table(const uint8_t *bytes, size_t length, bool has_header);

/* A path that can be written without being replaced: a pipe with room for 1 MiB; and what was
 * written there since, NUL-terminated, for free(). */
const char *fuzz_sink(void);
char *fuzz_drain(size_t *length);

/* The next byte of an input, 0 past its end. */
uint8_t fuzz_byte(const uint8_t **bytes, size_t *length);

/* A NUL-terminated copy of 'bytes' for free(). */
char *fuzz_text(const uint8_t *bytes, size_t length);

/* The first line of an input, without its end, as a text for free(); it is taken off the input. */
char *fuzz_line(const uint8_t **bytes, size_t *length);

/* Cuts 'text' at 'delimiter' into at most 'n' fields; those that are empty or missing are NULL. */
void fuzz_split(char *text, char delimiter, size_t n, char **fields);

/* Runs a tool's main function (tools.c): what a process does but once is left out. */
int fuzz_tool(int (*tool)(int argc, char **argv), int argc, char **argv);

#endif
