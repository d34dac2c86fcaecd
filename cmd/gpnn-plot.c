/* gpnn-plot: a table in, a picture out, drawn by gnuplot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/child.h"
#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/plot/plot.h"

extern char **environ;

/* Kinds of picture, as bits. */
enum {
  CALIBRATION = 1,
  PIT = 2,
  PREDICTED = 4,
  RESIDUALS = 8,
  CURVE = 16,
  LANDSCAPE = 32,
  BAND = 64,
  MAP = 128,
  OF_PREDICTIONS = CALIBRATION | PIT | PREDICTED | RESIDUALS,
};

#define OF_TRUTHS "predictions with their truths, as of gpnn-predict"

static const struct kind {
  const char *name;
  unsigned bit;
  enum gpnn_status (*draw)(struct plot *plot, struct gpnn_error *err);
  double width, height; /* cm */
  const char *what;     /* it draws */
} kinds[] = {
    {"calibration", CALIBRATION, plot_calibration, 12, 11.5, OF_TRUTHS},
    {"pit", PIT, plot_pit, 17, 9, OF_TRUTHS},
    {"predicted", PREDICTED, plot_predicted, 12, 11.5, OF_TRUTHS},
    {"residuals", RESIDUALS, plot_residuals, 17, 10, OF_TRUTHS},
    {"curve", CURVE, plot_curve, 17, 11, "values against rows, as of gpnn-simulate risk"},
    {"landscape", LANDSCAPE, plot_landscape, 17, 12,
     "values against parameters, as of gpnn-simulate limits --vary"},
    {"band", BAND, plot_band, 17, 9, "predictions and their input, as of gpnn-predict --keep"},
    {"map", MAP, plot_map, 17, 8, "predictions and their two inputs, as of gpnn-predict --keep"},
};

enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- options ------------------------------------------------------------------------------ */

static const struct kind *find_kind(const struct cli *cli)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (strcmp(cli->operands[0], kinds[i].name) == 0) return &kinds[i];
  char shown[GPNN_MASK_BYTES];
  cli_usage_error(cli,
                  "no such kind: \"%s\": it is calibration, pit, predicted, residuals, curve, "
                  "landscape, band or map",
                  gpnn_mask(shown, cli->operands[0], strlen(cli->operands[0])));
  return NULL;
}

/* An option that means nothing to this kind is a mistake. */
static bool check_meaning(const struct cli *cli, const struct plot_options *o, unsigned kind)
{
  const struct {
    const char *name;
    bool given;
    unsigned kinds;
  } limited[] = {
      {"inputs", o->x != NULL, CURVE | BAND | MAP},
      {"truth", o->y != NULL, OF_PREDICTIONS | CURVE | LANDSCAPE | BAND},
      {"mean", o->mean != NULL, OF_PREDICTIONS | BAND | MAP},
      {"sd", o->sd != NULL, OF_PREDICTIONS | BAND | MAP},
      {"df", o->df != NULL, OF_PREDICTIONS | BAND},
      {"by", o->by != NULL, CURVE},
      {"se", o->se != NULL, CURVE},
      {"theory", !isnan(o->theory), CURVE},
      {"mark", o->marks.n > 0, LANDSCAPE},
      {"bins", o->bins > 0, PIT},
      {"xlabel", o->xlabel != NULL, ~(unsigned)LANDSCAPE},
      {"ylabel", o->ylabel != NULL, ~(unsigned)LANDSCAPE},
      {"unit", o->unit != NULL, PREDICTED | RESIDUALS | CURVE | BAND | MAP},
  };
  for (size_t i = 0; i < sizeof limited / sizeof limited[0]; i++)
    if (limited[i].given && (limited[i].kinds & kind) == 0) {
      cli_usage_error(cli, "--%s means nothing to %s", limited[i].name, cli->operands[0]);
      return false;
    }
  return true;
}

static bool check_marks(const struct cli *cli, const struct cli_list *marks)
{
  for (size_t i = 0; i < marks->n; i++) {
    const char *equals = strrchr(marks->items[i], '=');
    const char *number = equals == NULL ? marks->items[i] : equals + 1;
    double value;
    if (gpnn_number_read(number, strlen(number), &value) == GPNN_NUMBER_OK) continue;
    char shown[GPNN_MASK_BYTES];
    cli_usage_error(cli, "option --mark: VALUE or NAME=VALUE, as in noise=0.1: \"%s\"",
                    gpnn_mask(shown, marks->items[i], strlen(marks->items[i])));
    return false;
  }
  return true;
}

/* Whether a name ends as that of another kind of file than is written. */
static bool is_misnamed(const char *path, const char *dot, bool png)
{
  return dot != NULL && strchr(dot, '/') == NULL && dot[1] != '\0' && dot != path &&
         strcasecmp(dot, png ? ".png" : ".svg") != 0;
}

/* --format, or what the name of the output ends with. */
static bool choose_format(const struct cli *cli, const char *format, bool script, bool *png)
{
  const char *dot = strrchr(cli->output, '.');
  if (format == NULL) format = dot != NULL && strcmp(dot, ".png") == 0 ? "png" : "svg";
  *png = strcmp(format, "png") == 0;
  if (!*png && strcmp(format, "svg") != 0) {
    cli_usage_error(cli, "option --format: svg or png");
    return false;
  }
  if (!script && is_misnamed(cli->output, dot, *png)) {
    char shown[GPNN_MASK_BYTES];
    cli_warn(cli, "%s: written as %s, whatever its name ends in",
             gpnn_mask(shown, cli->output, strlen(cli->output)), *png ? "PNG" : "SVG");
  }
  if (!*png || script || strcmp(cli->output, "-") != 0 || !isatty(STDOUT_FILENO)) return true;
  cli_usage_error(cli, "a picture of bytes is not for a terminal: give -o FILE, or redirect it");
  return false;
}

/* ---- gnuplot ------------------------------------------------------------------------------ */

/* What comes before the kind's own part: sizes, fonts and lines that print well. */
static void write_head(struct script *s, const struct plot *plot, bool png)
{
  /* SVG counts 96 to the inch, and so do sizes of fonts and lines: 12 is nine points in print. */
  const double per_cm = 96 / 2.54, scale = png ? 300.0 / 96 : 1;
  int width = (int)lrint(plot->width * per_cm * scale);
  int height = (int)lrint(plot->height * per_cm * scale);
  script_add(s, "# drawn by gnuplot: gnuplot FILE >PICTURE\n");
  if (png)
    script_add(s,
               "set terminal pngcairo size %d,%d noenhanced background 'white' font "
               "'Helvetica,9' fontscale %.6g linewidth %.6g pointscale %.6g\n",
               width, height, scale, scale, scale);
  else
    script_add(s,
               "set terminal svg size %d,%d fixed noenhanced background 'white' font "
               "'Helvetica,Arial,sans-serif,12'\n",
               width, height);
  script_add(s, "set encoding utf8\nset datafile missing 'NaN'\n"
                "set border 3 lw 0.8 lc rgb '" PLOT_BLACK "'\n"
                "set tics nomirror out scale 0.6\nset format '%%g'\nset minussign\n"
                "set grid back lw 0.5 lt 1 lc rgb '#E4E4E4'\n"
                "set key noenhanced samplen 3 spacing 1.1\n");
}

/* One line of what gnuplot had to say. */
static void flatten(const struct gpnn_child *gnuplot, char *line, size_t bytes)
{
  size_t n = 0;
  for (size_t i = 0; i < gnuplot->n_said && n + 1 < bytes; i++) {
    char c = gnuplot->said[i];
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
  char said[GPNN_CHILD_SAID_BYTES + 1];
  flatten(gnuplot, said, sizeof said);
  if (gnuplot->exit_status < 0)
    return gpnn_fail(err, GPNN_EEXTERNAL, "gnuplot was ended by a signal%s%s",
                     said[0] == '\0' ? "" : ": ", said);
  return gpnn_fail(err, GPNN_EEXTERNAL, "gnuplot failed with status %d: %s", gnuplot->exit_status,
                   said[0] == '\0' ? "no picture, no message" : said);
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

static enum gpnn_status draw(struct plot *plot, const struct kind *kind, bool png,
                             struct gpnn_error *err)
{
  const struct cli *cli = plot->cli;
  struct script script = {0};
  struct gpnn_child gnuplot = {0};
  const char *path = cli->n_operands > 1 ? cli->operands[1] : "-";
  enum gpnn_status status = gpnn_table_open(&plot->table, path, &cli->table, err);
  if (status == GPNN_OK) status = kind->draw(plot, err);
  if (status == GPNN_EINVAL) {
    const struct gpnn_error cause = *err;
    status = gpnn_fail(err, status, "%s; %s draws %s", cause.text, kind->name, kind->what);
  }
  if (status != GPNN_OK) goto out;
  write_head(&script, plot, png);
  script_append(&script, &plot->body);
  status = script_status(&script, err);
  if (status == GPNN_OK && plot->o->script)
    status = write_output(cli->output, script.text, script.length, err);
  if (status != GPNN_OK || plot->o->script) goto out;
  status = run_gnuplot(&script, &gnuplot, err);
  if (status == GPNN_OK) status = write_output(cli->output, gnuplot.output, gnuplot.n_output, err);
out:
  script_release(&plot->body);
  script_release(&script);
  gpnn_child_release(&gnuplot);
  gpnn_table_close(plot->table);
  return status;
}

int main(int argc, char **argv)
{
  struct plot_options o = {.theory = NAN};
  const struct cli_option options[] = {
      {"inputs", 'x', CLI_TEXT, &o.x, "LIST", "what lies across (rows, or the first columns)", 0,
       0},
      {"truth", 'y', CLI_TEXT, &o.y, "LIST", "truths; elsewhere what to draw (column before mean)",
       0, 0},
      {"mean", 0, CLI_TEXT, &o.mean, "COL", "predicted means (mean)", 0, 0},
      {"sd", 0, CLI_TEXT, &o.sd, "COL", "standard deviations (sd, if there is one)", 0, 0},
      {"df", 0, CLI_TEXT, &o.df, "COL", "degrees of freedom (df, if there is one)", 0, 0},
      {"by", 0, CLI_TEXT, &o.by, "COL", "curve: a line for each value (quantity, if there)", 0, 0},
      {"se", 0, CLI_TEXT, &o.se, "COL", "curve: standard errors (Y_se, or se)", 0, 0},
      {"theory", 0, CLI_REAL, &o.theory, "SLOPE", "curve: dotted guide (column stone)", -1e3, 1e3},
      {"mark", 0, CLI_LIST, &o.marks, "[NAME=]VALUE", "landscape: dashed line at a true value", 0,
       0},
      {"bins", 0, CLI_COUNT, &o.bins, "N", "pit: bins (20)", 1, 1000},
      {"title", 0, CLI_TEXT, &o.title, "TEXT", "above the picture", 0, 0},
      {"xlabel", 0, CLI_TEXT, &o.xlabel, "TEXT", "below it (the column's name)", 0, 0},
      {"ylabel", 0, CLI_TEXT, &o.ylabel, "TEXT", "beside it (the column's name)", 0, 0},
      {"unit", 0, CLI_TEXT, &o.unit, "TEXT", "unit of the target, for labels", 0, 0},
      {"width", 0, CLI_REAL, &o.width, "CM", "width (17; where square 12)", 3, 100},
      {"height", 0, CLI_REAL, &o.height, "CM", "height (what the kind needs)", 3, 100},
      {"format", 0, CLI_TEXT, &o.format, "FORMAT", "svg or png (as FILE ends, else svg)", 0, 0},
      {"script", 0, CLI_FLAG, &o.script, NULL, "write the gnuplot script instead", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-plot",
      "KIND [OPTION...] [TABLE]",
      "Draw a table, through gnuplot.  KIND is\n"
      "  calibration, pit, predicted, residuals   predictions with their truths\n"
      "  curve        values against rows, log-log, with slopes\n"
      "  landscape    values against parameters, of gpnn-simulate\n"
      "  band, map    predictions of one input, or of two",
      CLI_OUTPUT | CLI_TABLE | CLI_PROGRESS,
      1,
      2};
  struct cli cli;
  struct gpnn_error err = {0};
  int exit_status;
  bool png;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv,
                 &exit_status))
    return exit_status;
  const struct kind *kind = find_kind(&cli);
  if (kind == NULL || !check_meaning(&cli, &o, kind->bit) || !check_marks(&cli, &o.marks) ||
      !choose_format(&cli, o.format, o.script, &png) ||
      !cli_spares(&cli, cli.output, cli_operand(&cli, 1)))
    return 2;
  struct plot plot = {.cli = &cli,
                      .o = &o,
                      .width = o.width > 0 ? o.width : kind->width,
                      .height = o.height > 0 ? o.height : kind->height};
  return cli_end(&cli, draw(&plot, kind, png, &err), &err);
}
