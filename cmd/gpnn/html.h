/*
 * html: the parts that a page for a browser is made of.
 *
 * The page stands alone: no script, no font, no picture from elsewhere.  Text from outside reaches
 * it through these functions only, which escape it.  Running out of memory shows in the stream that
 * is written to.
 */
#ifndef GPNN_CMD_GPNN_HTML_H
#define GPNN_CMD_GPNN_HTML_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/* Begins and ends the page; 'title' is text. */
void html_begin(FILE *to, const char *title);
void html_end(FILE *to);

/* Writes text, or 'length' bytes of it that are masked and cut if they are many, as gpnn_mask()
 * does it. */
void html_text(FILE *to, const char *text);
void html_bytes(FILE *to, const char *bytes, size_t length);

/* Writes a paragraph of what printf() would print, as text. */
GPNN_PRINTF(2, 3) void html_say(FILE *to, const char *format, ...);

/* Writes a definition, of a list that the caller opens and closes. */
void html_definition(FILE *to, const char *term, const char *text);

/* ---- tables: html_table(), then for each row html_row() and its cells, html_table_end() --------
 */

/* 'heads': the texts above the columns, with a bar between them; html_head() adds one. */
void html_table(FILE *to, const char *caption, const char *heads);
void html_head(FILE *to, const char *text);
void html_row(FILE *to);
void html_cell(FILE *to, const char *bytes, size_t length);
void html_number(FILE *to, double value); /* with four digits; NaN: an empty cell */
void html_share(FILE *to, double value);  /* the same in percent */
void html_table_end(FILE *to);

/* Writes the first 'n_rows' rows and 'n_columns' columns of the table that a tool has written to
 * 'path' with this delimiter, numbers with four digits, and how many rows follow.  Outcomes as
 * gpnn_table_open() and gpnn_table_next(). */
GPNN_MUST_CHECK enum gpnn_status html_file(FILE *to, const char *caption, const char *path,
                                           char delimiter, size_t n_rows, size_t n_columns,
                                           struct gpnn_error *err);

/* Writes 'n' bytes of SVG, as gnuplot makes it, as picture 'number' of the page, from 1, with a
 * text for those who do not see it. */
void html_picture(FILE *to, size_t number, const char *svg, size_t n, const char *alternative);

#endif
