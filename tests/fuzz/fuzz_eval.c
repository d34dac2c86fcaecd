/*
 * Scores: gpnn-eval, whole, on a table of the fuzzer's: what it writes is numbers or NA, and JSON
 * where that is asked for.  The first byte chooses options; the rest is the table.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "table/stream.h"

int main_eval(int argc, char **argv);

/* In place of the tool's, which watches its unfinished files; as in tools.c. */
enum gpnn_status __wrap_cli_open_output(const char *path, struct gpnn_output **output,
                                        struct gpnn_error *err);

enum gpnn_status __wrap_cli_open_output(const char *path, struct gpnn_output **output,
                                        struct gpnn_error *err)
{
  return gpnn_output_open(output, path, err);
}

enum { ARGUMENTS = 16, MOST = 1 << 14 };

/* Passes over a text of JSON that begins behind its quote; NULL if it is none. */
static const char *json_text(const char *at)
{
  for (; *at != '"'; at += gpnn_utf8_length(at, strlen(at))) {
    if ((unsigned char)*at < 0x20 || gpnn_utf8_length(at, strlen(at)) == 0) return NULL;
    if (*at != '\\') continue;
    at++;
    if (strchr("\"\\/bfnrtu", *at) == NULL || *at == '\0') return NULL;
    for (int i = 0; *at == 'u' && i < 4; i++)
      if (!isxdigit((unsigned char)at[1 + i])) return NULL;
  }
  return at + 1;
}

/* Whether texts, braces and words are as JSON has them; how they are nested is left alone. */
static bool looks_like_json(const char *at)
{
  int depth = 0;
  while (at != NULL && *at != '\0') {
    size_t word = strspn(at, "0123456789+-.eE");
    if (strncmp(at, "null", 4) == 0)
      at += 4;
    else if (word > 0)
      at += word;
    else if (*at == '"')
      at = json_text(at + 1);
    else if (strchr("{}[]:, \n", *at) == NULL)
      return false;
    else
      depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']'), at++;
  }
  return at != NULL && depth == 0;
}

/* The end of a field, which may be quoted. */
static const char *field_end(const char *at)
{
  if (*at == '"')
    for (at++; *at != '\0' && (at[0] != '"' || at[1] == '"');) at += at[0] == '"' ? 2 : 1;
  return at + strcspn(at, "\t\n");
}

/* Whether every field behind the first of a line, but for the first line, is a number or NA. */
static bool are_numbers(const char *text)
{
  size_t line = 0, field = 0;
  for (const char *at = text, *end; *at != '\0'; at = end + (*end != '\0')) {
    end = field_end(at);
    size_t n = (size_t)(end - at);
    bool is_missing = n == 2 && memcmp(at, "NA", 2) == 0;
    if (line > 0 && field > 0 && !is_missing && strspn(at, "0123456789+-.e") < n) return false;
    field = *end == '\t' ? field + 1 : 0;
    line += *end == '\n';
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  static char name[] = "gpnn-eval", quiet[] = "-q", output[] = "-o", json[] = "--json",
              by[] = "--by", column[] = "1", table[] = "--table", headless[] = "--no-header";
  static char tables[][12] = {"reliability", "pit", "confusion", "roc", "classes"};
  uint8_t choice = fuzz_byte(&bytes, &length);
  size_t which = ((choice >> 3 & 1u) + 2 * (choice >> 5 & 3u)) % (sizeof tables / sizeof tables[0]);
  bool is_confusion = (choice & 4) && which == 2; /* which has texts */
  char *argv[ARGUMENTS], sink[64], path[64];
  int argc = 0;
  if (length > MOST) return 0;
  snprintf(sink, sizeof sink, "%s", fuzz_sink());
  snprintf(path, sizeof path, "%s", fuzz_file(0, bytes, length));
  argv[argc++] = name;
  argv[argc++] = quiet;
  argv[argc++] = output;
  argv[argc++] = sink;
  if (choice & 1) argv[argc++] = json;
  if (choice & 2) argv[argc++] = by, argv[argc++] = column;
  if (choice & 4) argv[argc++] = table, argv[argc++] = tables[which];
  if (choice & 16) argv[argc++] = headless;
  argv[argc++] = path;
  argv[argc] = NULL;
  int status = fuzz_tool(main_eval, argc, argv);
  FUZZ_EXPECT(status >= 0 && status <= 2);
  size_t written;
  char *text = fuzz_drain(&written);
  FUZZ_EXPECT(strlen(text) == written && (status == 0) == (written > 0));
  if (choice & 1)
    FUZZ_EXPECT(looks_like_json(text));
  else if ((choice & 2) == 0 && !is_confusion)
    FUZZ_EXPECT(are_numbers(text));
  free(text);
  return 0;
}
