#define _GNU_SOURCE /* memmem() */

#include "cmd/plot/plot.h"

#include <math.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/child.h"
#include "base/number.h"
#include "cmd/common/open.h"
#include "cmd/common/signals.h"
#include "cmd/common/table.h"

extern char **environ;

#define OF_TRUTHS "predictions with their truths, as of gpnn-predict"
#define OF_TRUE_CLASSES "predictions of classes with their truths, as of gpnn-predict"

static const struct plot_kind {
  const char *name;
  unsigned has;
  enum gpnn_status (*draw)(struct plot *plot, struct gpnn_error *err);
  double width, height; /* cm */
  const char *what;     /* it draws */
} kinds[] = {
    {"calibration", PLOT_MEANS | PLOT_DF | PLOT_LABELS, plot_calibration, 12, 11.5, OF_TRUTHS},
    {"pit", PLOT_MEANS | PLOT_DF | PLOT_LABELS | PLOT_BINS, plot_pit, 17, 9, OF_TRUTHS},
    {"predicted", PLOT_MEANS | PLOT_DF | PLOT_LABELS | PLOT_UNIT, plot_predicted, 12, 11.5,
     OF_TRUTHS},
    {"residuals", PLOT_INPUTS | PLOT_MEANS | PLOT_DF | PLOT_LABELS | PLOT_UNIT, plot_residuals, 17,
     10, OF_TRUTHS},
    {"curve", PLOT_INPUTS | PLOT_LINES | PLOT_LABELS | PLOT_UNIT, plot_curve, 17, 11,
     "values against rows, as of gpnn-simulate risk"},
    {"landscape", PLOT_MARKS, plot_landscape, 17, 12,
     "values against parameters, as of gpnn-simulate limits --vary"},
    {"band", PLOT_INPUTS | PLOT_MEANS | PLOT_DF | PLOT_LABELS | PLOT_UNIT, plot_band, 17, 9,
     "predictions and their input, as of gpnn-predict --keep"},
    {"map", PLOT_INPUTS | PLOT_MEANS | PLOT_LABELS | PLOT_UNIT, plot_map, 17, 8,
     "predictions and their two inputs, as of gpnn-predict --keep"},
    {"effect", PLOT_INPUTS | PLOT_LABELS | PLOT_UNIT, plot_effect, 12, 8,
     "effects of a column, as of gpnn-explain effect"},
    {"monitor", 0, plot_monitor, 17, 9, "a history of scores, as of gpnn-eval --monitor"},
    {"reliability", PLOT_LABELS, plot_reliability, 12, 11.5, OF_TRUE_CLASSES},
    {"confusion", PLOT_LABELS, plot_confusion, 13, 11.5, OF_TRUE_CLASSES},
    {"roc", PLOT_LABELS, plot_roc, 12, 11.5, OF_TRUE_CLASSES},
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- options ------------------------------------------------------------------------------ */

const char *plot_kind_name(size_t i)
{
  return i < N_KINDS ? kinds[i].name : NULL;
}

static const struct plot_kind *find_kind(const struct cli *cli)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (strcmp(cli->operands[0], kinds[i].name) == 0) return &kinds[i];
  char shown[GPNN_MASK_BYTES];
  cli_refuse(cli,
             "no such kind: \"%s\"; KIND is calibration, pit, predicted, residuals, curve, "
             "landscape, band, map, effect, monitor, reliability, confusion or roc",
             gpnn_mask(shown, cli->operands[0], strlen(cli->operands[0])));
  return NULL;
}

/* An option that does not apply to this kind is a mistake. */
static bool check_meaning(const struct cli *cli, unsigned has)
{
  const char *misplaced = cli_misplaced(cli, PLOT_ALL & ~has);
  return misplaced == NULL ||
         cli_refuse(cli, "--%s does not apply to %s", misplaced, cli->operands[0]);
}

static bool check_marks(const struct cli *cli, const struct cli_list *marks)
{
  for (size_t i = 0; i < marks->n; i++) {
    const char *equals = strrchr(marks->items[i], '=');
    const char *number = equals == NULL ? marks->items[i] : equals + 1;
    double value;
    if (gpnn_number_read(number, strlen(number), &value) == GPNN_NUMBER_OK) continue;
    char shown[GPNN_MASK_BYTES];
    return cli_refuse(cli, "option --mark: VALUE or NAME=VALUE, as in noise=0.1: \"%s\"",
                      gpnn_mask(shown, marks->items[i], strlen(marks->items[i])));
  }
  return true;
}

static const char *const formats[] = {[PLOT_SVG] = "svg", [PLOT_PNG] = "png", [PLOT_PDF] = "pdf"};

/* What follows the last dot of a file's name; NULL if the name has no ending. */
static const char *ending(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  const char *dot = strrchr(name, '.');
  return dot == NULL || dot == name || dot[1] == '\0' ? NULL : dot + 1;
}

/* PLOT_AUTO: no format ends like this. */
static enum plot_format format_of(const char *ending)
{
  for (enum plot_format f = PLOT_SVG; f <= PLOT_PDF; f++)
    if (ending != NULL && strcasecmp(ending, formats[f]) == 0) return f;
  return PLOT_AUTO;
}

/* --format, or what the name of the output ends with; they must not contradict each other. */
static bool choose_format(const struct cli *cli, struct plot_arguments *o)
{
  const char *end = ending(cli->output);
  enum plot_format named = format_of(end);
  char shown[GPNN_MASK_BYTES];
  gpnn_mask(shown, cli->output, strlen(cli->output));
  if (o->script && named != PLOT_AUTO)
    return cli_refuse(cli, "%s: --script writes a script, not a picture: call it .gp", shown);
  if (o->format == PLOT_AUTO && named == PLOT_AUTO && end != NULL && !o->script)
    return cli_refuse(cli, "%s: pictures end in .svg, .png or .pdf; or say --format", shown);
  if (o->format != PLOT_AUTO && named != PLOT_AUTO && o->format != named)
    return cli_refuse(cli, "%s: its ending contradicts --format %s", shown, formats[o->format]);
  if (o->format == PLOT_AUTO) o->format = named == PLOT_AUTO ? PLOT_SVG : named;
  if (o->format == PLOT_SVG || o->script || strcmp(cli->output, "-") != 0 || !isatty(STDOUT_FILENO))
    return true;
  return cli_refuse(cli, "a %s picture cannot go to a terminal: use -o FILE, or redirect it",
                    o->format == PLOT_PNG ? "PNG" : "PDF");
}

bool plot_resolve(const struct cli *cli, void *arguments)
{
  struct plot_arguments *o = arguments;
  o->kind = find_kind(cli);
  return o->kind != NULL && check_meaning(cli, o->kind->has) && check_marks(cli, &o->marks) &&
         choose_format(cli, o) && cli_check_overwrite(cli, cli->output, cli_operand(cli, 1));
}

/* ---- gnuplot ------------------------------------------------------------------------------ */

/* The terminal.  A picture has the same size and lines in every format; PNG and PDF have letters of
 * 6.75 points, since the fonts that stand in for Helvetica there are wider. */
static void write_terminal(struct script *s, const struct plot *plot)
{
  /* SVG has 96 units to the inch, also for fonts and lines: 12 units are nine points in print. */
  const double per_cm = 96 / 2.54, scale = plot->o->format == PLOT_PNG ? 300.0 / 96 : 1;
  int width = (int)lrint(plot->width * per_cm * scale);
  int height = (int)lrint(plot->height * per_cm * scale);
  if (plot->o->format == PLOT_PNG)
    script_add(s,
               "set terminal pngcairo size %d,%d noenhanced background 'white' font "
               "'Helvetica,9' fontscale %.6g linewidth %.6g pointscale %.6g\n",
               width, height, scale, scale, scale);
  else if (plot->o->format == PLOT_PDF)
    script_add(s,
               "set terminal pdfcairo size %.6gcm,%.6gcm noenhanced background 'white' font "
               "'Helvetica,9' fontscale 0.75 linewidth 1.5 pointscale 1\n",
               plot->width, plot->height);
  else
    script_add(s,
               "set terminal svg size %d,%d fixed noenhanced background 'white' font "
               "'Helvetica,Arial,sans-serif,12'\n",
               width, height);
}

/* The head of the script, common to all kinds: sizes, fonts and lines that print well. */
static void write_head(struct script *s, const struct plot *plot)
{
  script_add(s, "# drawn by gnuplot: gnuplot FILE >PICTURE\n");
  write_terminal(s, plot);
  script_add(s, "set encoding utf8\nset datafile missing 'NaN'\n"
                "set border 3 lw 0.8 lc rgb '" PLOT_BLACK "'\n"
                "set tics nomirror out scale 0.6\nset format '%%g'\nset minussign\n"
                "set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'\n"
                "set key noenhanced samplen 3 spacing 1.1\n");
}

/* Turns what gnuplot printed into one line. */
static void flatten(const struct gpnn_child *gnuplot, char *line, size_t bytes)
{
  size_t n = 0;
  for (size_t i = 0; i < gnuplot->n_message && n + 1 < bytes; i++) {
    char c = gnuplot->message[i];
    bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank)
      line[n++] = c;
    else if (n > 0 && line[n - 1] != ' ')
      line[n++] = ' ';
  }
  while (n > 0 && line[n - 1] == ' ') n--;
  line[n] = '\0';
}

static enum gpnn_status run_gnuplot(const struct script *script, struct gpnn_child *gnuplot,
                                    struct gpnn_error *err)
{
  char program[] = "gnuplot", no_settings[] = "-d", standard_input[] = "-";
  char *arguments[] = {program, no_settings, standard_input, NULL};
  enum gpnn_status status =
      gpnn_child_run(gnuplot, arguments, environ, script->text, script->length, cli_helper(), err);
  if (status == GPNN_EEXTERNAL)
    return gpnn_fail(err, status,
                     "gnuplot is not installed: its Debian package is gnuplot-nox (--script needs "
                     "none)");
  if (status != GPNN_OK) return status;
  if (gnuplot->exit_status == 0 && gnuplot->n_output > 0) return GPNN_OK;
  char message[GPNN_CHILD_MESSAGE_BYTES + 1];
  flatten(gnuplot, message, sizeof message);
  if (gnuplot->exit_status < 0)
    return gpnn_fail(err, GPNN_EEXTERNAL, "gnuplot was ended by a signal%s%s",
                     message[0] == '\0' ? "" : ": ", message);
  return gpnn_fail(err, GPNN_EEXTERNAL, "gnuplot failed with status %d: %s", gnuplot->exit_status,
                   message[0] == '\0' ? "no picture, no message" : message);
}

/* ---- the tool ----------------------------------------------------------------------------- */

static enum gpnn_status write_output(const char *path, const char *bytes, size_t n,
                                     struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = cli_open_output(path, &output, err);
  if (status == GPNN_OK) status = gpnn_output_write(output, bytes, n, err);
  return cli_close_output(output, status, err);
}

/* Draws, and to a table that lacks a column answers what this kind draws. */
static enum gpnn_status draw_kind(struct plot *plot, const struct plot_kind *kind,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = kind->draw(plot, err);
  if (status != GPNN_EINVAL && status != GPNN_EMISMATCH) return status;
  const struct gpnn_error cause = *err;
  return gpnn_fail(err, status, "%s; %s draws %s", cause.text, kind->name, kind->what);
}

/* Blanks out the time at which a PDF was made: the same table gives the same bytes. */
static void forget_time(char *pdf, size_t n)
{
  static const char key[] = "/CreationDate (D:";
  char *found = NULL;
  for (char *at = pdf; (at = memmem(at, n - (size_t)(at - pdf), key, sizeof key - 1)) != NULL; at++)
    found = at;
  char *end = found == NULL ? NULL : memchr(found, ')', n - (size_t)(found - pdf));
  if (end != NULL) memset(found, ' ', (size_t)(end + 1 - found));
}

static enum gpnn_status draw(struct plot *plot, const struct plot_kind *kind,
                             struct gpnn_error *err)
{
  const struct cli *cli = plot->cli;
  struct script script = {0};
  struct gpnn_child gnuplot = {0};
  enum gpnn_status status = gpnn_table_open(&plot->table, cli_operand(cli, 1), &cli->table, err);
  if (status == GPNN_OK) status = draw_kind(plot, kind, err);
  if (status != GPNN_OK) goto out;
  write_head(&script, plot);
  script_append(&script, &plot->body);
  status = script_status(&script, err);
  if (status == GPNN_OK && plot->o->script)
    status = write_output(cli->output, script.text, script.length, err);
  if (status != GPNN_OK || plot->o->script) goto out;
  status = run_gnuplot(&script, &gnuplot, err);
  if (plot->o->format == PLOT_PDF && status == GPNN_OK)
    forget_time(gnuplot.output, gnuplot.n_output);
  if (status == GPNN_OK) status = write_output(cli->output, gnuplot.output, gnuplot.n_output, err);
out:
  script_release(&plot->body);
  script_release(&script);
  gpnn_child_release(&gnuplot);
  if (status == GPNN_OK) table_warn_if_torn(plot->cli, plot->table);
  gpnn_table_close(plot->table);
  return status;
}

enum gpnn_status plot_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct plot_arguments *o = arguments;
  struct plot plot = {.cli = cli,
                      .o = o,
                      .width = o->width > 0 ? o->width : o->kind->width,
                      .height = o->height > 0 ? o->height : o->kind->height};
  return draw(&plot, o->kind, err);
}
