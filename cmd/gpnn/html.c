#define _GNU_SOURCE /* memmem() */

#include "cmd/gpnn/html.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/gpnn/report.h"
#include "table/table.h"

/* Pictures are drawn dark on white; in the dark their lightness is turned over, which keeps hues.
 */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#202020;--paper:#fff;--faint:#666;--line:#d0d0d0}"
    "@media screen and (prefers-color-scheme:dark){:root{--ink:#e4e4e4;--paper:#161616;"
    "--faint:#a0a0a0;--line:#444}svg{filter:invert(1) hue-rotate(180deg)}}"
    "body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);"
    "max-width:70rem;margin:0 auto;padding:0 1rem 3rem;overflow-wrap:break-word}"
    "h1,h2,h3{line-height:1.2;margin:1.6em 0 .5em}h2{border-top:1px solid var(--line);"
    "padding-top:.8em}p,dl{max-width:50rem}dt{color:var(--faint)}dd{margin:0 0 .5em}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.875rem;margin:.5em 0}"
    "caption,figcaption{text-align:left;color:var(--faint);font-size:.875rem}caption{white-space:"
    "nowrap}"
    "th,td{padding:.15em .7em .15em 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid var(--line)}td.n{text-align:right;font-variant-numeric:tabular-nums;"
    "white-space:nowrap}td.from{min-width:20rem}"
    "@media(min-width:72rem){main>.wide{width:max-content;max-width:calc(50vw + 33rem)}}"
    "pre{white-space:pre-wrap;font-size:.8125rem}.why{color:var(--faint)}"
    "figure{margin:0;min-width:0}svg{display:block;width:100%;height:auto}"
    "svg>g>rect:first-child{fill:none}"
    ".pictures{display:grid;gap:1rem;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),"
    "1fr))}@media print{body{max-width:none}figure,tr{break-inside:avoid}}";

void html_begin(FILE *to, const char *title)
{
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        /* Nothing is loaded and nothing runs, whatever else might be wrong; an icon would be asked
         * for otherwise. */
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
        "style-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
        to);
  html_text(to, title);
  fprintf(to, "</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>", style);
  html_text(to, title);
  fputs("</h1>\n", to);
}

void html_end(FILE *to)
{
  fputs("</main>\n</body>\n</html>\n", to);
}

/* ---- text --------------------------------------------------------------------------------- */

static void put_byte(FILE *to, char c)
{
  switch (c) {
  case '&':
    fputs("&amp;", to);
    break;
  case '<':
    fputs("&lt;", to);
    break;
  case '>':
    fputs("&gt;", to);
    break;
  case '"':
    fputs("&quot;", to);
    break;
  case '\'':
    fputs("&#39;", to);
    break;
  default:
    fputc(c, to);
  }
}

void html_text(FILE *to, const char *text)
{
  for (; *text != '\0'; text++) put_byte(to, *text);
}

void html_bytes(FILE *to, const char *bytes, size_t length)
{
  char shown[GPNN_MASK_BYTES];
  html_text(to, gpnn_mask(shown, bytes, length));
}

void html_say(FILE *to, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fputs("<p>", to);
  html_text(to, text);
  fputs("</p>\n", to);
}

void html_definition(FILE *to, const char *term, const char *text)
{
  fputs("<dt>", to);
  html_text(to, term);
  fputs("</dt><dd>", to);
  html_text(to, text);
  fputs("</dd>\n", to);
}

/* ---- tables ------------------------------------------------------------------------------- */

static void begin_table(FILE *to, const char *caption)
{
  fputs("<div class=\"wide\" tabindex=\"0\"><table><caption>", to);
  html_text(to, caption);
  fputs("</caption>\n<tr>", to);
}

void html_head(FILE *to, const char *text)
{
  fputs("<th scope=\"col\">", to);
  html_bytes(to, text, strlen(text));
}

void html_table(FILE *to, const char *caption, const char *heads)
{
  char head[GPNN_MASK_BYTES];
  begin_table(to, caption);
  while (*heads != '\0') {
    size_t length = strcspn(heads, "|");
    snprintf(head, sizeof head, "%.*s", (int)length, heads);
    html_head(to, head);
    heads += length + (heads[length] == '|');
  }
}

void html_row(FILE *to)
{
  fputs("\n<tr>", to);
}

void html_cell(FILE *to, const char *bytes, size_t length)
{
  fputs("<td>", to);
  html_bytes(to, bytes, length);
}

static void put_number(FILE *to, double value, const char *unit)
{
  char text[WORDS_NUMBER_BYTES];
  fprintf(to, "<td class=\"n\">%s%s", isnan(value) ? "" : words_number(text, value),
          isnan(value) ? "" : unit);
}

void html_number(FILE *to, double value)
{
  put_number(to, value, "");
}

void html_share(FILE *to, double value)
{
  put_number(to, 100 * value, " %");
}

void html_table_end(FILE *to)
{
  fputs("\n</table></div>\n", to);
}

static void put_field(FILE *to, const struct gpnn_field *field)
{
  double value;
  if (gpnn_number_read(field->text, field->length, &value) == GPNN_NUMBER_OK)
    html_number(to, value);
  else
    html_cell(to, field->text, field->length);
}

enum gpnn_status html_file(FILE *to, const char *caption, const char *path, char delimiter,
                           size_t n_rows, size_t n_columns, struct gpnn_error *err)
{
  const struct gpnn_table_options options = {.delimiter = delimiter, .has_header = true};
  struct gpnn_table *table = NULL;
  struct gpnn_record record;
  size_t n = 0;
  enum gpnn_status status = gpnn_table_open(&table, path, &options, err);
  if (status != GPNN_OK) return status;
  if (n_columns > gpnn_table_columns(table)) n_columns = gpnn_table_columns(table);
  begin_table(to, caption);
  for (size_t j = 0; j < n_columns; j++) html_head(to, gpnn_table_column(table, j));
  for (; (status = gpnn_table_next(table, &record, err)) == GPNN_OK; n++) {
    if (n < n_rows) html_row(to);
    for (size_t j = 0; j < n_columns && n < n_rows; j++) put_field(to, &record.fields[j]);
  }
  html_table_end(to);
  if (n > n_rows) html_say(to, "%zu further lines are not shown.", n - n_rows);
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

/* ---- pictures ----------------------------------------------------------------------------- */

/* What begins with 'from' in pictures: what follows names something, and so gets a prefix that no
 * other picture has. */
static const char *const references[] = {" id='",    " id=\"",  "href='#",
                                         "href=\"#", "\"url(#", "'url(#"};

/* The end of something that begins at 'at' with 'begin' and ends with 'end'; NULL: it does not. */
static const char *pass(const char *at, size_t left, const char *begin, const char *end)
{
  size_t length = strlen(begin);
  const char *found = left < length || memcmp(at, begin, length) != 0
                          ? NULL
                          : memmem(at + length, left - length, end, strlen(end));
  return found == NULL ? NULL : found + strlen(end);
}

/* Copies [at, end), with names of its own, and without the names and titles that gnuplot gives to
 * parts, the same to several. */
static void copy_picture(FILE *to, size_t number, const char *at, const char *end)
{
  enum { N = sizeof references / sizeof references[0] };
  while (at < end) {
    size_t left = (size_t)(end - at), r = 0;
    const char *behind = pass(at, left, "<title>", "</title>");
    if (behind == NULL) behind = pass(at, left, " id=\"gnuplot", "\"");
    if (behind != NULL) {
      at = behind;
      continue;
    }
    while (r < N &&
           (left <= strlen(references[r]) || memcmp(at, references[r], strlen(references[r])) != 0))
      r++;
    if (r == N) {
      fputc(*at++, to);
      continue;
    }
    fprintf(to, "%sp%zu", references[r], number);
    at += strlen(references[r]);
  }
}

void html_picture(FILE *to, size_t number, const char *svg, size_t n, const char *alternative)
{
  static const char box[] = "viewBox=\"", begin[] = "</desc>", end[] = "</svg>";
  enum { TAIL = 16 }; /* bytes that hold the end */
  size_t tail = n < TAIL ? n : TAIL;
  const char *view = memmem(svg, n, box, sizeof box - 1);
  const char *from = memmem(svg, n, begin, sizeof begin - 1);
  const char *last = memmem(svg + n - tail, tail, end, sizeof end - 1);
  double size[2];
  if (view == NULL || from == NULL || last == NULL ||
      sscanf(view + sizeof box - 1, "%*f %*f %lf %lf", &size[0], &size[1]) != 2) {
    html_say(to, "The picture is not as gnuplot draws it.");
    return;
  }
  fprintf(to,
          "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
          "style=\"max-width:%gpx\" role=\"img\" aria-labelledby=\"p%zu\"><title id=\"p%zu\">",
          size[0], size[1], size[0], number, number);
  html_text(to, alternative);
  fputs("</title>", to);
  copy_picture(to, number, from + sizeof begin - 1, last);
  fputs("</svg><figcaption>", to);
  html_text(to, alternative);
  fputs("</figcaption></figure>\n", to);
}
