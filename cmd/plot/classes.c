/* reliability, confusion and roc: predictions of classes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/common/table.h"
#include "cmd/plot/plot.h"
#include "stats/distributions/binomial.h"
#include "stats/scores/classification.h"

enum { NAME_BYTES = 48 };

/* What was read. */
struct counted {
  struct gpnn_predictions found;
  const struct gpnn_predictions_classes *names;
  struct gpnn_classification counts;
  size_t n_left_out;
};

/* ---- rows --------------------------------------------------------------------------------- */

static enum gpnn_status find(const struct plot *plot, struct counted *c, struct gpnn_error *err)
{
  const struct gpnn_predictions_wanted wanted = {.truth = plot->o->y};
  const char *table = gpnn_table_name(plot->table);
  enum gpnn_status status = gpnn_predictions_find(&c->found, plot->table, &wanted, err);
  if (status != GPNN_OK) return status;
  if (c->found.n_targets > 1 || c->found.targets[0].name != NULL)
    return gpnn_fail(
        err, GPNN_EINVAL,
        "%s: predictions of several targets: one is drawn, from a table of its columns", table);
  c->names = c->found.targets[0].classes;
  if (c->names == NULL)
    return gpnn_fail(err, GPNN_EINVAL, "%s: no column 'label': the predictions are numbers", table);
  return GPNN_OK;
}

static enum gpnn_status read_row(struct plot *plot, struct counted *c, struct gpnn_error *err)
{
  struct gpnn_record record;
  struct gpnn_predictions_class_row row;
  enum gpnn_status status = gpnn_table_next(plot->table, &record, err);
  if (status != GPNN_OK) return status;
  status = gpnn_predictions_read_class(&c->found.targets[0], plot->table, &record, &row, err);
  if (status == GPNN_END) {
    c->n_left_out++;
    return GPNN_OK;
  }
  if (status != GPNN_OK) return status;
  const struct gpnn_classification_row counted = {.truth = row.truth,
                                                  .label = row.label,
                                                  .p = row.p,
                                                  .top = row.top,
                                                  .top_probability = row.top_probability,
                                                  .logp = row.logp};
  status = gpnn_classification_add(&c->counts, &counted, err);
  if (status != GPNN_EDATA) return status;
  return gpnn_prefix(err, status, "%s%s%zu", gpnn_table_name(plot->table),
                     gpnn_table_before_line(plot->table), record.line);
}

/* Reads all rows; 'ranks' as in stats/scores/classification.h. */
static enum gpnn_status count(struct plot *plot, bool ranks, struct counted *c,
                              struct gpnn_error *err)
{
  enum gpnn_status status = find(plot, c, err);
  if (status != GPNN_OK) return status;
  gpnn_classification_init(&c->counts, gpnn_predictions_n_probabilities(c->names), ranks);
  while (status == GPNN_OK) {
    progress_rows_read(c->counts.n, gpnn_input_share(gpnn_table_input(plot->table)));
    status = read_row(plot, c, err);
  }
  if (status != GPNN_END) return status;
  table_warn_left_out(plot->cli, plot->table, c->n_left_out, "truth or prediction");
  if (c->counts.n > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: no row with a truth and a prediction",
                   gpnn_table_name(plot->table));
}

/* Rows of a class without a probability have no place where probabilities are drawn. */
static enum gpnn_status check_seen(const struct plot *plot, const struct counted *c,
                                   struct gpnn_error *err)
{
  const char *table = gpnn_table_name(plot->table);
  if (c->counts.n_unseen == c->counts.n)
    return gpnn_fail(err, GPNN_EDATA, "%s: no row is of a class that has a column p_NAME", table);
  if (c->counts.n_unseen > 0)
    cli_warn(plot->cli, "%s: %zu rows of a class without a column p_NAME left out", table,
             c->counts.n_unseen);
  return GPNN_OK;
}

static void release(struct counted *c)
{
  gpnn_classification_release(&c->counts);
  gpnn_predictions_release(&c->found);
}

/* The name of a class as it is drawn: a long one is cut, between characters. */
static const char *short_name(const struct counted *c, size_t class, char name[NAME_BYTES])
{
  enum { CHARACTERS = 14 };
  static const char dots[] = "…";
  struct gpnn_field whole = gpnn_predictions_class_name(c->names, class);
  size_t used = 0;
  for (size_t n = 0; used < whole.length; n++) {
    size_t bytes = gpnn_utf8_length(whole.text + used, whole.length - used);
    if (bytes == 0) bytes = 1;
    if (n == CHARACTERS || used + bytes + sizeof dots > NAME_BYTES) break;
    used += bytes;
  }
  snprintf(name, NAME_BYTES, "%.*s%s", (int)used, whole.text, used < whole.length ? dots : "");
  return name;
}

/* ---- reliability -------------------------------------------------------------------------- */

/* The bins that have rows; returns the lower end of the first. */
static double write_bins(struct plot *plot, const struct gpnn_reliability *reliability)
{
  struct script *s = &plot->body;
  double lowest = 1;
  script_add(s, "# from, to, predicted, observed, 95 %% of observed if the probabilities are right,"
                " share of rows\n");
  script_data(s, "bins");
  for (size_t b = 0; b < GPNN_RELIABILITY_BINS; b++) {
    struct gpnn_reliability_bin bin = gpnn_reliability_bin(reliability, b);
    if (bin.n == 0) continue;
    double n = (double)bin.n, p = fmin(bin.predicted, 1);
    size_t least = gpnn_binomial_quantile(bin.n, p, 0.025);
    size_t most = gpnn_binomial_quantile(bin.n, p, 0.975);
    const double row[] = {bin.from,
                          bin.to,
                          bin.predicted,
                          bin.observed,
                          (double)least / n,
                          (double)most / n,
                          n / (double)reliability->n};
    script_row(s, sizeof row / sizeof row[0], row);
    lowest = fmin(lowest, bin.from);
  }
  script_data_end(s);
  return lowest;
}

static void draw_reliability(struct plot *plot, struct counted *c)
{
  struct script *s = &plot->body;
  struct gpnn_reliability *reliability = &c->counts.reliability;
  double lowest = write_bins(plot, reliability);
  plot_title(plot);
  plot_x_label(plot, "largest probability predicted", "", NULL);
  plot_y_label(plot, "share of rows that are of this class", "", NULL);
  plot_caption(plot, "n = %zu, ECE = %.2g, by chance %.2g", reliability->n,
               gpnn_reliability_error(reliability), gpnn_reliability_chance(reliability));
  script_add(s,
             "set xrange [%.10g:1]\nset yrange [0:1]\nset ytics 0.2\nset xtics %s\n"
             "set key outside below center horizontal height 1 Left reverse\n",
             floor(10 * lowest) / 10, lowest < 0.5 ? "0.2" : "0.1");
  script_add(s, "plot $bins using (($1+$2)/2):($5+$6)/2:(($2-$1)/2):(($6-$5)/2) with boxxyerror "
                "fs solid noborder fc rgb '#D0D0D0' title 'chance, 95 %%', \\\n"
                "  $bins using (($1+$2)/2):7:($2-$1) with boxes fs transparent solid 0.25 border "
                "rgb '" PLOT_GREEN "' fc rgb '" PLOT_GREEN "' lw 1 title 'share of all rows', \\\n"
                "  x with lines lw 1 dt 2 lc rgb '" PLOT_BLACK "' title 'calibrated', \\\n"
                "  $bins using 3:4 with linespoints lw 1.5 pt 7 ps 0.6 lc rgb '" PLOT_BLUE
                "' title 'predictions'\n");
}

enum gpnn_status plot_reliability(struct plot *plot, struct gpnn_error *err)
{
  struct counted c = {0};
  enum gpnn_status status = count(plot, false, &c, err);
  if (status == GPNN_OK && !gpnn_predictions_has_top(c.names))
    status = gpnn_fail(err, GPNN_EINVAL, "%s: no columns p_NAME with probabilities",
                       gpnn_table_name(plot->table));
  if (status == GPNN_OK) status = check_seen(plot, &c, err);
  if (status == GPNN_OK && c.counts.reliability.n == 0)
    status =
        gpnn_fail(err, GPNN_EDATA, "%s: no row with a probability", gpnn_table_name(plot->table));
  if (status == GPNN_OK) draw_reliability(plot, &c);
  release(&c);
  return status;
}

/* ---- confusion ---------------------------------------------------------------------------- */

/* How long, in cm, the longest name of a class is. */
static double longest_name(const struct counted *c)
{
  static const double letter = 0.18;
  char name[NAME_BYTES];
  size_t longest = 0;
  for (size_t i = 0; i < gpnn_predictions_n_classes(c->names); i++) {
    size_t characters = 0, bytes;
    for (const char *at = short_name(c, i, name); *at != '\0'; at += bytes > 0 ? bytes : 1) {
      bytes = gpnn_utf8_length(at, strlen(at));
      characters++;
    }
    if (characters > longest) longest = characters;
  }
  return letter * (double)longest;
}

/* Where the classes stand, named: all of few, or every so many. */
static void write_class_tics(struct plot *plot, const struct counted *c, const char *axis,
                             const char *style)
{
  enum { MOST = 40 };
  struct script *s = &plot->body;
  size_t n = gpnn_predictions_n_classes(c->names), every = (n + MOST - 1) / MOST;
  char name[NAME_BYTES];
  script_add(s, "set %stics %s noenhanced (", axis, style);
  for (size_t i = 0; i < n; i += every) {
    if (i > 0) script_add(s, ", ");
    script_quote(s, short_name(c, gpnn_predictions_class_at(c->names, i), name));
    script_add(s, " %zu", i);
  }
  script_add(s, ")\n");
}

/* Names the classes beside the cells, and below them, where they are turned if they do not fit.
 * Margins have room for the names, and the picture grows by them where its size is left open. */
static void name_classes(struct plot *plot, const struct counted *c)
{
  static const double cells = 8.6, labels = 1.5, colours = 2.6, line = 0.4, gap = 0.3,
                      top = 0.6; /* cm */
  size_t n = gpnn_predictions_n_classes(c->names);
  double length = longest_name(c), left = labels + length;
  bool are_turned = (double)n * (length + gap) > cells;
  double bottom = labels + (are_turned ? length : line);
  if (plot->o->width == 0) plot->width = left + cells + colours;
  if (plot->o->height == 0) plot->height = bottom + cells + top + plot_top_room(plot);
  script_add(&plot->body, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n",
             fmin(left / plot->width, 0.5), 1 - fmin(colours / plot->width, 0.3));
  script_add(&plot->body, "set bmargin at screen %.5f\n", fmin(bottom / plot->height, 0.5));
  write_class_tics(plot, c, "x", are_turned ? "rotate by 90 right" : "norotate");
  write_class_tics(plot, c, "y", "");
}

/* Cells that are not empty; returns the largest count. */
static size_t write_cells(struct plot *plot, const struct counted *c,
                          const struct gpnn_confusion_class *classes)
{
  struct script *s = &plot->body;
  size_t n = gpnn_predictions_n_classes(c->names), most = 0;
  script_add(s, "# label, truth, rows, their share of those with this truth\n");
  script_data(s, "cells");
  for (size_t i = 0; i < n * n; i++) {
    size_t truth = gpnn_predictions_class_at(c->names, i / n);
    size_t label = gpnn_predictions_class_at(c->names, i % n);
    size_t rows = gpnn_confusion_count(&c->counts.confusion, (uint32_t)truth, (uint32_t)label);
    if (rows == 0) continue;
    const double row[] = {(double)(i % n), (double)(i / n), (double)rows,
                          (double)rows / (double)classes[truth].n_true};
    script_row(s, 4, row);
    if (rows > most) most = rows;
  }
  script_data_end(s);
  return most;
}

/* Counts, or where these are long shares, in the cells if there are few. */
static void write_counts(struct script *s, size_t n, size_t most)
{
  enum { CELLS = 12, LONGEST = 100000 };
  const char *text = most < LONGEST ? "sprintf('%.0f',$3)" : "sprintf('%.3f',$4)";
  if (n > CELLS) return;
  for (int dark = 0; dark <= 1; dark++)
    script_add(
        s, ", \\\n  $cells using 1:2:($4%s0.5?%s:'') with labels font ',%d' tc rgb '%s' notitle",
        dark ? ">=" : "<", text, n > 7 ? 9 : 12, dark ? "white" : PLOT_BLACK);
}

static void draw_confusion(struct plot *plot, const struct counted *c,
                           const struct gpnn_confusion_class *classes)
{
  struct script *s = &plot->body;
  size_t n = gpnn_predictions_n_classes(c->names),
         n_wrong = c->counts.n - c->counts.confusion.n_right;
  size_t most = write_cells(plot, c, classes);
  name_classes(plot, c);
  plot_title(plot);
  const char *truth = gpnn_table_column(plot->table, c->found.targets[0].truth);
  plot_x_label(plot, truth, ", predicted", NULL);
  plot_y_label(plot, truth, ", true", NULL);
  plot_caption(plot, "n = %zu, error = %.3g %%", c->counts.n,
               100 * (double)n_wrong / (double)c->counts.n);
  script_add(s, "set border 15\nunset grid\n");
  script_add(s, "set xrange [-0.5:%zu.5]\nset yrange [%zu.5:-0.5]\n", n - 1, n - 1);
  plot_palette(plot, PLOT_WHITE_BLUES);
  script_add(
      s, "set cbrange [0:1]\nset cbtics 0.2\nset cblabel 'share of the true class' offset 0.7\n");
  script_add(s, "plot $cells using 1:2:(0.5):(0.5):4 with boxxyerror fs solid noborder lc palette "
                "notitle");
  write_counts(s, n, most);
  script_add(s, "\n");
}

enum gpnn_status plot_confusion(struct plot *plot, struct gpnn_error *err)
{
  struct counted c = {0};
  struct gpnn_confusion_class *classes = NULL;
  enum gpnn_status status = count(plot, false, &c, err);
  if (status != GPNN_OK) goto out;
  size_t n = gpnn_predictions_n_classes(c.names);
  classes = gpnn_alloc(n, 1, sizeof *classes);
  if (classes == NULL) {
    status = gpnn_fail_memory(err, "for the classes");
    goto out;
  }
  gpnn_confusion_classes(&c.counts.confusion, n, classes);
  draw_confusion(plot, &c, classes);
out:
  free(classes);
  release(&c);
  return status;
}

/* ---- roc ---------------------------------------------------------------------------------- */

enum { NAMED = 7 }; /* lines with colours and names of their own, at most */

/* The curve of a class. */
struct curve {
  size_t class;
  double area; /* NaN: it has no curve */
};

static enum gpnn_status write_curve(struct plot *plot, const struct counted *c, size_t class,
                                    size_t most, struct gpnn_error *err)
{
  enum { POINTS = 200 };
  struct gpnn_roc_point points[POINTS];
  char name[32];
  size_t n = 0;
  enum gpnn_status status = gpnn_classification_curve(&c->counts, class, most, points, &n, err);
  if (status != GPNN_OK) return status;
  snprintf(name, sizeof name, "class%zu", class + 1);
  script_data(&plot->body, name);
  for (size_t i = 0; i < n; i++) {
    const double row[] = {points[i].false_positive, points[i].true_positive};
    script_row(&plot->body, 2, row);
  }
  script_data_end(&plot->body);
  return status;
}

/* Finds the classes that have a curve, of two the second, in the order of their names, and writes
 * their data.  GPNN_EDATA: none has. */
static enum gpnn_status write_curves(struct plot *plot, const struct counted *c,
                                     struct curve *curves, size_t *n_curves, struct gpnn_error *err)
{
  enum { MOST = 200, MOST_OF_MANY = 60 };
  size_t n = c->counts.n_classes;
  script_add(&plot->body, "# false positive rate, true positive rate\n");
  for (size_t i = 0; i < gpnn_predictions_n_classes(c->names); i++) {
    struct curve curve = {.class = gpnn_predictions_class_at(c->names, i)};
    if (curve.class >= n || (n == 2 && curve.class == 0)) continue;
    enum gpnn_status status = gpnn_classification_area(&c->counts, curve.class, &curve.area, err);
    if (status != GPNN_OK) return status;
    if (isnan(curve.area)) continue;
    curves[(*n_curves)++] = curve;
    status = write_curve(plot, c, curve.class, n > NAMED ? MOST_OF_MANY : MOST, err);
    if (status != GPNN_OK) return status;
  }
  if (*n_curves > 0) return GPNN_OK;
  return gpnn_fail(err, GPNN_EDATA, "%s: all rows are of one class: there is no curve",
                   gpnn_table_name(plot->table));
}

static void draw_named(struct plot *plot, const struct counted *c, const struct curve *curve,
                       const char *style)
{
  char name[NAME_BYTES], title[NAME_BYTES + 32];
  script_add(&plot->body, ", \\\n  $class%zu using 1:2 with lines lw 1.8 %s title ",
             curve->class + 1, style);
  snprintf(title, sizeof title, "%s, AUC %.3f", short_name(c, curve->class, name), curve->area);
  script_quote(&plot->body, title);
}

/* A line for each class; of many, only the worst has a name. */
static void draw_curves(struct plot *plot, const struct counted *c, const struct curve *curves,
                        size_t n)
{
  static const char *const styles[NAMED] = {
      "lc rgb '" PLOT_BLUE "'",      "dt 2 lc rgb '" PLOT_RED "'", "dt 4 lc rgb '" PLOT_GREEN "'",
      "dt 5 lc rgb '#CC79A7'",       "dt 3 lc rgb '#E69F00'",      "lc rgb '#56B4E9'",
      "dt 2 lc rgb '" PLOT_BLACK "'"};
  size_t worst = 0;
  for (size_t i = 0; i < n; i++) {
    if (curves[i].area < curves[worst].area) worst = i;
    if (n <= NAMED)
      draw_named(plot, c, &curves[i], styles[i]);
    else
      script_add(&plot->body, ", \\\n  $class%zu using 1:2 with lines lw 0.8 lc rgb '#900072B2' %s",
                 curves[i].class + 1, i == 0 ? "title 'each class'" : "notitle");
  }
  if (n > NAMED) draw_named(plot, c, &curves[worst], "lc rgb '" PLOT_RED "'");
  script_add(&plot->body, "\n");
}

static enum gpnn_status draw_roc(struct plot *plot, struct counted *c, struct gpnn_error *err)
{
  struct gpnn_classification_result result;
  size_t n = 0;
  struct curve *curves = gpnn_alloc(c->counts.n_classes, 1, sizeof *curves);
  if (curves == NULL) return gpnn_fail_memory(err, "for the classes");
  enum gpnn_status status = write_curves(plot, c, curves, &n, err);
  if (status == GPNN_OK) status = gpnn_classification_result(&c->counts, &result, err);
  if (status == GPNN_OK) {
    plot_title(plot);
    plot_x_label(plot, "false positive rate", "", NULL);
    plot_y_label(plot, "true positive rate", "", NULL);
    plot_caption(plot, "n = %zu, %sAUC = %.4f", c->counts.n_ranked, n > 1 ? "mean " : "",
                 result.auc);
    script_add(&plot->body,
               "set size ratio 1\nset xrange [0:1]\nset yrange [0:1]\n"
               "set xtics 0.2\nset ytics 0.2\nset key bottom right Left reverse opaque\n"
               "plot [0:1] x with lines lw 1 dt 2 lc rgb '" PLOT_GREY "' title 'chance'");
    draw_curves(plot, c, curves, n);
  }
  free(curves);
  return status;
}

enum gpnn_status plot_roc(struct plot *plot, struct gpnn_error *err)
{
  struct counted c = {0};
  enum gpnn_status status = count(plot, true, &c, err);
  if (status == GPNN_OK && c.counts.n_classes == 0)
    status = gpnn_fail(err, GPNN_EINVAL, "%s: no columns p_NAME with probabilities",
                       gpnn_table_name(plot->table));
  if (status == GPNN_OK) status = check_seen(plot, &c, err);
  if (status == GPNN_OK) status = draw_roc(plot, &c, err);
  release(&c);
  return status;
}
