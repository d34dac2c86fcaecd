/*
 * plot: what the kinds of picture that gpnn-plot draws have in common.
 *
 * A kind reads the table, which is open, and writes the part of the script that is its own.
 */
#ifndef GPNN_CMD_PLOT_PLOT_H
#define GPNN_CMD_PLOT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cmd/common/cli.h"
#include "table/predictions.h"
#include "table/table.h"

/* ---- a gnuplot script under construction (script.c) ------------------------------------------ */

/*
 * Whatever comes from outside enters as numbers, or as text in single quotes, in which gnuplot
 * neither runs nor replaces anything.  Running out of memory is reported once, by script_status(),
 * at the end.  A zeroed object is empty and may be released.
 */
struct script {
  char *text; /* owned; not NUL-terminated */
  size_t length, capacity;
  bool out_of_memory;
};

/* Appends what printf would print, of the tool's own words and numbers only; at most 1023 bytes. */
GPNN_PRINTF(2, 3) void script_add(struct script *script, const char *format, ...);

/* Appends another script. */
void script_append(struct script *script, const struct script *other);

/* Appends text from outside as a quoted string: control characters and malformed UTF-8 become
 * '?'; a straight quote becomes a curved one, since gnuplot takes a doubled one at the beginning
 * for the end of the string; so does the end of ]]>, which gnuplot leaves as it is where XML must
 * not have it. */
void script_quote(struct script *script, const char *text);

/* Appends "set WHAT 'TEXTMORE (UNIT)' noenhanced" and a line end; 'unit' may be NULL. */
void script_label(struct script *script, const char *what, const char *text, const char *more,
                  const char *unit);

/* A block of data: script_data(), rows of 'n' numbers each (infinite ones and NaN are missing),
 * script_data_end().  A blank row separates lines. */
void script_data(struct script *script, const char *name);
void script_row(struct script *script, size_t n, const double *values);
void script_data_end(struct script *script);

enum { SCRIPT_TENS_BYTES = 48 };

/* Writes 'value' as people do: 10⁶, 2×10⁷ or 0.05; returns 'out'. */
const char *script_tens(char out[SCRIPT_TENS_BYTES], double value);

/* Lets 'axis' ("x", "y", "cb") go from 'low' to 'high' > 'low', to the last digit, and gives its
 * labels enough digits to differ. */
void script_range(struct script *script, const char *axis, double low, double high);

/* Makes 'axis' logarithmic from 'low' to 'high' > 0, with some room at either end
 * where 'room' is true, and labels it. */
void script_log_axis(struct script *script, const char *axis, double low, double high, bool room);

/* Labels 'axis', over a range, at as many round numbers, two to eight, as 'width' cm have room for.
 */
void script_tics_within(struct script *script, const char *axis, double low, double high,
                        double width);

/* Labels 'axis', over a range, at no more than 'labels' round numbers. */
void script_tics(struct script *script, const char *axis, double range, int labels);

/* Makes 'axis' linear from 'low' to 'high' with a little room at either end and no more than about
 * 'labels' labels, at round numbers. */
void script_linear_axis(struct script *script, const char *axis, double low, double high,
                        int labels);

GPNN_MUST_CHECK enum gpnn_status script_status(const struct script *script, struct gpnn_error *err);

void script_release(struct script *script);

/* ---- pictures -------------------------------------------------------------------------------- */

/* What a kind of picture may lack, for cli_misplaced(). */
enum {
  PLOT_INPUTS = CLI_OF_OWN,
  PLOT_MEANS = 2 * PLOT_INPUTS,
  PLOT_DF = 2 * PLOT_MEANS,
  PLOT_LINES = 2 * PLOT_DF,    /* through points with errors */
  PLOT_MARKS = 2 * PLOT_LINES, /* at values of parameters */
  PLOT_BINS = 2 * PLOT_MARKS,
  PLOT_LABELS = 2 * PLOT_BINS, /* of axes that a user may choose */
  PLOT_UNIT = 2 * PLOT_LABELS,
  PLOT_ALL = 2 * PLOT_UNIT - PLOT_INPUTS,
};

enum plot_format { PLOT_AUTO, PLOT_SVG, PLOT_PNG, PLOT_PDF };

struct plot_arguments {
  const char *x, *y, *mean, *sd, *df, *by, *se; /* columns; NULL: not given */
  const char *title, *xlabel, *ylabel, *unit;
  struct cli_list marks;
  double theory; /* NaN: not given */
  size_t bins;
  double width, height; /* cm; 0: not given */
  bool script;
  enum plot_format format;      /* plot_resolve() decides what PLOT_AUTO is */
  const struct plot_kind *kind; /* plot_resolve() finds it */
};

struct plot {
  const struct cli *cli;
  const struct plot_arguments *o;
  struct gpnn_table *table;
  struct script body;
  double width, height; /* cm; the kind may change what the user has not asked for */
};

/* The names of the kinds: a struct cli_tool's 'first_operand'. */
const char *plot_kind_name(size_t i);

/* Checks and completes the arguments, a struct plot_arguments: a struct cli_tool's 'resolve'. */
bool plot_resolve(const struct cli *cli, void *arguments);

/* Draws: a struct cli_tool's 'run'. */
GPNN_MUST_CHECK enum gpnn_status plot_run(const struct cli *cli, void *arguments,
                                          struct gpnn_error *err);

/* One of each kind. */
enum gpnn_status plot_calibration(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_pit(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_predicted(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_residuals(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_curve(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_landscape(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_band(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_map(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_effect(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_monitor(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_reliability(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_confusion(struct plot *plot, struct gpnn_error *err);
enum gpnn_status plot_roc(struct plot *plot, struct gpnn_error *err);

/* ---- rows --------------------------------------------------------------------------------- */

/* Reads one number of a record; NaN where it is missing, or there is no such column (SIZE_MAX). */
GPNN_MUST_CHECK enum gpnn_status plot_number(const struct plot *plot,
                                             const struct gpnn_record *record, size_t column,
                                             double *value, struct gpnn_error *err);

/* True if the table has a column of exactly this name; '*column' is which. */
bool plot_has_column(const struct plot *plot, const char *name, size_t *column);

/* Finds the one target, a number, whose predictions are drawn; 'truth' as in gpnn-eval. */
GPNN_MUST_CHECK enum gpnn_status plot_find(const struct plot *plot, const char *truth,
                                           bool needs_sd, struct gpnn_predictions *found,
                                           struct gpnn_error *err);

/*
 * Reads all predictions and passes each that has a truth and a mean to 'take', with the number in
 * column 'x' (SIZE_MAX: NaN), which it must then have, too.  Warns about the others.  GPNN_EDATA:
 * there is none, or one is bad.
 */
GPNN_MUST_CHECK enum gpnn_status plot_predictions(
    struct plot *plot, const struct gpnn_predictions *found, size_t x,
    enum gpnn_status (*take)(void *into, double x, const struct gpnn_predictions_row *row,
                             struct gpnn_error *err),
    void *into, struct gpnn_error *err);

/* A growing array of numbers; a zeroed object is empty, free() of 'values' releases it. */
struct plot_numbers {
  double *values; /* owned */
  size_t n, capacity;
};

GPNN_MUST_CHECK enum gpnn_status plot_push(struct plot_numbers *numbers, double value,
                                           struct gpnn_error *err);

/* The smallest and the largest number; NaN is ignored. */
struct plot_range {
  double low, high;
};

struct plot_range plot_range_none(void);
void plot_range_add(struct plot_range *range, double value);

/* Adds 'share' of the range at both ends, and some more if it would be empty. */
struct plot_range plot_range_widen(struct plot_range range, double share);

/* ---- parts of scripts --------------------------------------------------------------------- */

/* Colours that colour-blind readers can distinguish (Okabe and Ito), and, where lines have an
 * order, shades from light to dark. */
#define PLOT_BLUE "#0072B2"
#define PLOT_RED "#D55E00"
#define PLOT_GREEN "#009E73"
#define PLOT_BLACK "#202020"
#define PLOT_GREY "#808080"

/* Sets the label of an axis: the user's, or 'text' and 'more', with the 'unit' (NULL: none). */
void plot_x_label(struct plot *plot, const char *text, const char *more, const char *unit);
void plot_y_label(struct plot *plot, const char *text, const char *more, const char *unit);

/* Leaves space for the title and for the caption, if any, a line above the left end of the picture.
 */
GPNN_PRINTF(2, 3) void plot_caption(struct plot *plot, const char *format, ...);
void plot_no_caption(struct plot *plot);

/* The space above the panels of a picture that has several, in cm. */
double plot_top_room(const struct plot *plot);

/* Writes the title, if there is one, as a label of the next panel, across all of them. */
void plot_title(struct plot *plot);

/* Defines the palette: 'viridis' or 'cividis' (van der Walt and Smith; Nunez, Anderton and Renslow
 * 2018), or blues from white or from light to dark; perceptually uniform, also to colour-blind
 * readers. */
enum plot_palette { PLOT_VIRIDIS, PLOT_CIVIDIS, PLOT_WHITE_BLUES, PLOT_BLUES };

void plot_palette(struct plot *plot, enum plot_palette palette);

#endif
