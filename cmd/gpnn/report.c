#include "cmd/gpnn/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/progress.h"
#include "cmd/gpnn/html.h"
#include "dataset/missing.h"
#include "models/labels.h"

enum { LABEL = 11, WIDTH = 100 };

/* ---- lines -------------------------------------------------------------------------------- */

/* The report as it grows; lines are written when they are complete. */
struct page {
  FILE *to;     /* where they are written */
  FILE *out;    /* the text of the line that is open, in memory */
  bool as_html; /* lines are those of a list of definitions */
  char *text;
  size_t length;
  bool failed;
};

static void open_line(struct page *page)
{
  rewind(page->out);
}

/* Writes 'text' in lines of at most WIDTH columns, broken at blanks, below each other. */
static void write_wrapped(FILE *to, const char *label, const char *text)
{
  size_t room = WIDTH - LABEL;
  while (*text != '\0') {
    size_t length = strlen(text);
    if (length > room) {
      length = room;
      while (length > 0 && text[length] != ' ') length--;
      if (length == 0) length = strcspn(text, " ");
    }
    fprintf(to, "%-*s%.*s\n", LABEL, label, (int)length, text);
    text += length + strspn(text + length, " ");
    label = "";
  }
}

/* Writes the open line, unless it is empty. */
static void close_line(struct page *page, const char *label)
{
  page->failed = fputc('\0', page->out) == EOF || fflush(page->out) != 0 || page->failed;
  if (page->failed) return;
  gpnn_mask_all(page->text, "");
  if (!page->as_html)
    write_wrapped(page->to, label, page->text);
  else if (page->text[0] != '\0')
    html_definition(page->to, label, page->text);
}

/* The name of a file, masked. */
static const char *file_name(const char *path, char shown[GPNN_MASK_BYTES])
{
  return strcmp(path, "-") == 0 ? "standard input" : gpnn_mask(shown, path, strlen(path));
}

/* A name as one of several with commas between, of which it may have some itself. */
static void put_name(FILE *out, size_t i, const char *name)
{
  char shown[GPNN_MASK_BYTES];
  const char *quote = name[0] == '\0' || strchr(name, ',') != NULL ? "'" : "";
  fprintf(out, "%s%s%s%s", i > 0 ? ", " : "", quote, gpnn_mask(shown, name, strlen(name)), quote);
}

/* ---- what was learnt from ----------------------------------------------------------------- */

static void put_rows(struct page *page, const struct places *places, const struct findings *f)
{
  const struct gpnn_dataset *dataset = f->opened.dataset;
  char shown[GPNN_MASK_BYTES];
  open_line(page);
  fprintf(page->out, "%zu of %s to learn from", dataset->n, file_name(places->train, shown));
  if (dataset->n_calibration > 0) fprintf(page->out, ", %zu held out", dataset->n_calibration);
  if (dataset->n_skipped > 0) fprintf(page->out, ", %zu bad ones left out", dataset->n_skipped);
  close_line(page, "rows");
}

/* Writes the most frequent of the classes whose 'shares' are given. */
static void put_frequent(FILE *out, const struct gpnn_dataset *view, const double *shares)
{
  enum { MOST = 8 };
  size_t n = gpnn_dataset_n_classes(view), length, rank[MOST], shown = n < MOST ? n : MOST;
  gpnn_labels_rank(n, shares, NULL, shown, rank);
  for (size_t k = 0; k < shown; k++) {
    put_name(out, k, gpnn_dataset_class(view, rank[k], &length));
    fprintf(out, " %.3g %%", 100 * shares[rank[k]]);
  }
  if (n > shown) fprintf(out, " and %zu more", n - shown);
}

/* ", 3 classes: mid 38.8 %, in 31.6 %, out 29.6 %", the most frequent first. */
static void put_classes(struct page *page, const struct gpnn_dataset *view)
{
  size_t n = gpnn_dataset_n_classes(view);
  size_t *counts = gpnn_alloc(n, 1, sizeof *counts);
  double *shares = gpnn_alloc(n, 1, sizeof *shares);
  page->failed = page->failed || counts == NULL || shares == NULL;
  fprintf(page->out, ", %zu classes: ", n);
  if (counts != NULL && shares != NULL) {
    gpnn_dataset_count_classes(view, counts);
    for (size_t c = 0; c < n; c++) shares[c] = (double)counts[c] / (double)view->n;
    put_frequent(page->out, view, shares);
  }
  free(counts);
  free(shares);
}

static void put_targets(struct page *page, const struct findings *f)
{
  for (size_t t = 0; t < f->opened.n; t++) {
    const struct gpnn_dataset *view = f->opened.channels[t].dataset;
    const char *name = view->schema.target.name;
    char shown[GPNN_MASK_BYTES], mean[WORDS_NUMBER_BYTES], sd[WORDS_NUMBER_BYTES];
    open_line(page);
    fputs(gpnn_mask(shown, name, strlen(name)), page->out);
    if (gpnn_dataset_n_classes(view) > 0)
      put_classes(page, view);
    else
      fprintf(page->out, ", of mean %s and sd %s", words_number(mean, view->scaling.y_mean),
              words_number(sd, view->scaling.y_sd));
    close_line(page, "target");
  }
}

static void put_inputs(struct page *page, const struct findings *f)
{
  enum { MOST = 40 };
  const struct gpnn_schema *schema = &f->opened.dataset->schema;
  open_line(page);
  fprintf(page->out, "%zu: ", schema->n_inputs);
  for (size_t i = 0; i < schema->n_inputs && i < MOST; i++) {
    put_name(page->out, i, schema->inputs[i].name);
    words_kind(page->out, &schema->inputs[i]);
  }
  if (schema->n_inputs > MOST) fprintf(page->out, " and %zu more", schema->n_inputs - MOST);
  close_line(page, "inputs");
}

/* Names the features that standardisation dropped. */
static void put_constant(FILE *out, const struct gpnn_dataset *dataset)
{
  struct gpnn_feature_cursor at = {0};
  char shown[GPNN_MASK_BYTES];
  size_t n = 0;
  for (size_t j = 0; j < dataset->scaling.n_in; j++)
    if (!gpnn_scaling_keeps(&dataset->scaling, j))
      fprintf(out, "%s%s", n++ > 0 ? ", " : "",
              gpnn_schema_feature_name(&dataset->schema, &at, j, shown));
  if (n > 0) fprintf(out, n == 1 ? " (it does not vary)" : " (they do not vary)");
}

/* What rows lack of their inputs, and what becomes of it. */
static void put_missing(struct page *page, const struct findings *f)
{
  const struct gpnn_dataset *dataset = f->opened.dataset;
  struct gpnn_missing_count count = gpnn_missing_count(dataset);
  if (count.n_cells == 0) return;
  open_line(page);
  fprintf(page->out,
          "%.3g %% of the cells, in %zu input%s and %.3g %% of the rows, which are used, and "
          "predicted, with what they have",
          100 * count.share, count.n_inputs, count.n_inputs == 1 ? "" : "s",
          100 * (double)count.n_rows / (double)dataset->n);
  close_line(page, "missing");
}

/* Whether groups have effects, if that was tried. */
static void put_effects(struct page *page, const struct effects_trial *trial)
{
  if (trial->list == NULL) return;
  open_line(page);
  fprintf(page->out, "%s ", trial->list);
  if (!trial->is_possible)
    fputs("may have effects, but no model with them could be made", page->out);
  else
    fprintf(page->out, "%s effects of their own (--group-effect): NLL %.3f with them, %.3f without",
            trial->is_better ? "have" : "need no", trial->with, trial->without);
  close_line(page, "groups");
}

static void put_unused(struct page *page, const struct findings *f)
{
  const struct gpnn_dataset *dataset = f->opened.dataset;
  bool any_constant = dataset->scaling.n_out < dataset->scaling.n_in &&
                      dataset->scaling.method == GPNN_SCALING_SCALE;
  open_line(page);
  for (size_t i = 0; i < f->n_unused && f->unused != NULL; i++)
    put_name(page->out, i, f->unused[i]);
  if (f->n_unused > 0 && f->unused == NULL) fprintf(page->out, "%zu columns", f->n_unused);
  if (f->n_unused > 0 && any_constant) fputs("; ", page->out);
  if (any_constant) put_constant(page->out, dataset);
  close_line(page, "not used");
}

/* ---- how good it is ----------------------------------------------------------------------- */

/* "cnt: " if there are several targets. */
static void put_target_name(FILE *out, const struct findings *f, size_t t)
{
  const char *name = f->opened.channels[t].dataset->schema.target.name;
  char shown[GPNN_MASK_BYTES];
  if (f->opened.n > 1) fprintf(out, "%s: ", gpnn_mask(shown, name, strlen(name)));
}

static void put_model(struct page *page, const struct findings *f, size_t t)
{
  const struct gpnn_channel *channel = &f->opened.channels[t];
  open_line(page);
  put_target_name(page->out, f, t);
  words_model(page->out, channel->parameters);
  close_line(page, "model");
  open_line(page);
  words_leading_inputs(page->out, channel->parameters, channel->dataset);
  fflush(page->out);
  if (page->length > 0) fputs(", beginning with the fastest", page->out);
  close_line(page, "changes by");
}

/* "RMSE 34.3 (18.9 % of the sd, R^2 0.964), NLL -0.747, 95.4 % of targets in 95 % intervals" */
static void put_scores(FILE *out, const struct gpnn_metrics_result *scores, double unit,
                       bool of_counts)
{
  const struct gpnn_metrics_result standard = gpnn_metrics_in_units(scores, unit, of_counts);
  char rmse[WORDS_NUMBER_BYTES];
  fprintf(out, "RMSE %s (%.1f %% of the sd", words_number(rmse, scores->rmse), 100 * standard.rmse);
  if (!isnan(scores->r2)) fprintf(out, ", R^2 %.3f", scores->r2);
  fputc(')', out);
  if (scores->has_sd)
    fprintf(out, ", NLL %.3f, %.1f %% of targets in 95 %% intervals", standard.nll,
            100 * scores->coverage[0]);
}

/* "error 6.4 %, log loss 0.177, calibration error 0.012" */
static void put_class_scores(FILE *out, const struct gpnn_classification_result *scores)
{
  fprintf(out, "error %.3g %%, log loss %.3g", 100 * scores->error, scores->nll);
  if (!isnan(scores->ece)) fprintf(out, ", calibration error %.2g", scores->ece);
  if (scores->n_unseen > 0)
    fprintf(out, "; %zu of classes never seen in training", scores->n_unseen);
}

/* How well rows are predicted that have copies among the training rows. */
static void put_with_copies(FILE *out, const struct gpnn_expected *expected)
{
  fprintf(out,
          ", without copies of them (%zu training rows are copies of others); of rows that have "
          "as many copies: ",
          expected->n_copies);
  if (expected->of_classes)
    put_class_scores(out, &expected->classes_with_copies);
  else
    put_scores(out, &expected->scores_with_copies, expected->unit, expected->of_counts);
}

/* What is expected, if that is known, and whether it is worth anything. */
static void put_expected(FILE *out, const struct gpnn_expected *expected, const char *rows)
{
  static const double tiny = 1e-4;   /* of the target's variance left, or a log loss */
  static const double little = 0.05; /* of the target's variance explained, or of its log loss */
  if (expected->of_classes)
    put_class_scores(out, &expected->classes);
  else
    put_scores(out, &expected->scores, expected->unit, expected->of_counts);
  fprintf(out, "; from %zu %s", expected->scores.n, rows);
  if (expected->n_copies > 0) put_with_copies(out, expected);
  if (expected->of_classes ? expected->classes.nll < tiny : expected->scores.r2 > 1 - tiny)
    fputs("; hardly any error: does an input tell the target, or the row?", out);
  if (expected->of_classes ? expected->classes.nll > (1 - little) * expected->nll_of_shares
                           : expected->scores.r2 < little)
    fprintf(out, "; hardly better than the %s: is it the column to predict (-y)?",
            expected->of_classes ? "shares of the classes" : "target's mean");
}

/* What the model was chosen for, if not for rows like the training rows. */
static void put_gaps(struct page *page, const struct places *places)
{
  char shown[GPNN_MASK_BYTES];
  if (!places->lies_in_gaps) return;
  open_line(page);
  fprintf(page->out,
          "%s lies in gaps between training rows: the model was chosen, and calibrated, for rows "
          "as far from these; the rows held out lie nearer",
          file_name(places->test, shown));
  close_line(page, "gaps");
}

static void put_outlook(struct page *page, const struct findings *f, size_t t)
{
  static const char *const rows[] = {
      [GPNN_EXPECTED_HELD_OUT] = "rows held out",
      [GPNN_EXPECTED_LEFT_OUT] = "training rows, each predicted from the others",
      [GPNN_EXPECTED_CROSS_FITTED] =
          "training rows, each predicted from the others by parameters that have not seen it"};
  const struct outlook *outlook = &f->outlooks[t];
  open_line(page);
  put_target_name(page->out, f, t);
  if (outlook->is_known)
    put_expected(page->out, &outlook->expected, rows[outlook->expected.on]);
  else
    fprintf(page->out, "not known: %s", outlook->why_not);
  close_line(page, "expected");
}

static void put_scored(struct page *page, const struct places *places, const struct findings *f,
                       size_t t)
{
  const struct gpnn_scored_target *target = &f->scored.targets[t];
  const struct gpnn_channel *channel = &f->opened.channels[t];
  char shown[GPNN_MASK_BYTES];
  if (places->test == NULL) return;
  open_line(page);
  put_target_name(page->out, f, t);
  fprintf(page->out, "%zu rows of %s", f->scored.n_rows, file_name(places->test, shown));
  if (target->has_mean && target->n_predicted < f->scored.n_rows)
    fprintf(page->out, ", %zu of them NA", f->scored.n_rows - target->n_predicted);
  if (target->n_scored > 0) {
    fputs(": ", page->out);
    if (target->of_classes)
      put_class_scores(page->out, &target->classes);
    else
      put_scores(page->out, &target->scores, channel->dataset->scaling.y_sd,
                 gpnn_likelihood_is_of_counts(channel->parameters->likelihood));
    if (target->n_scored < target->n_predicted)
      fprintf(page->out, "; from the %zu that have a target", target->n_scored);
  }
  close_line(page, "predicted");
}

/* ---- what it took, and what comes next ---------------------------------------------------- */

static void put_time(struct page *page, const struct findings *f, bool has_page)
{
  open_line(page);
  fprintf(page->out, "%.1f s: ", f->total);
  for (enum step step = STEP_INDEX; step < STEPS; step++)
    if (f->ran[step]) fprintf(page->out, "%s %.1f, ", steps_name(step), f->seconds[step]);
  if (f->effects.list != NULL) fprintf(page->out, "effects %.1f, ", f->effects.seconds);
  fprintf(page->out, "scores %.1f", f->scoring);
  if (has_page) fprintf(page->out, ", page %.1f", f->page);
  close_line(page, "time");
}

/* Writes a command as a line of its own, which can be pasted. */
static void put_command(struct page *page, const char *label, struct command *command,
                        struct command *reader)
{
  char *line = command->failed ? NULL : command_line(command);
  char *rest = reader == NULL || reader->failed ? NULL : command_line(reader);
  page->failed = page->failed || line == NULL || (reader != NULL && rest == NULL);
  if (!page->failed) gpnn_mask_all(line, "");
  if (rest != NULL) gpnn_mask_all(rest, "");
  if (!page->failed && page->as_html) {
    html_text(page->to, line);
    html_text(page->to, rest == NULL ? "" : " | ");
    html_text(page->to, rest == NULL ? "" : rest);
    html_text(page->to, "\n");
  } else if (!page->failed) {
    fprintf(page->to, "%-*s%s%s%s\n", LABEL, label, line, rest == NULL ? "" : " | ",
            rest == NULL ? "" : rest);
  }
  free(line);
  free(rest);
  command_release(command);
  if (reader != NULL) command_release(reader);
}

/* The commands that would come to the same, step by step. */
static void put_steps(struct page *page, const struct cli *cli, const struct places *places)
{
  const struct files *files = &places->kept;
  struct command index = {0}, fit = {0}, calibrate = {0}, pack = {0}, predict = {0};
  steps_command(cli, places, files, STEP_INDEX, &index);
  put_command(page, "steps", &index, NULL);
  steps_command(cli, places, files, STEP_FIT, &fit);
  steps_command(cli, places, files, STEP_CALIBRATE, &calibrate);
  put_command(page, "", &fit, &calibrate);
  steps_pack_command(files, &pack);
  put_command(page, "", &pack, NULL);
  if (places->test == NULL) return;
  steps_command(cli, places, files, STEP_PREDICT, &predict);
  if (strcmp(cli->output, "-") != 0) {
    command_add(&predict, "-o");
    command_add(&predict, cli->output);
  }
  put_command(page, "", &predict, NULL);
}

/* What the model is good for, or how to have it. */
static void put_next(struct page *page, const struct cli *cli, const struct places *places)
{
  struct places of_another = *places;
  struct command predict = {0};
  if (!places->keeps) {
    fprintf(page->to, "%-*s%s\n", LABEL, "next",
            "--save FILE keeps the model, to predict more tables");
    return;
  }
  of_another.test = "TABLE";
  steps_command(cli, &of_another, &places->kept, STEP_PREDICT, &predict);
  put_command(page, "next", &predict, NULL);
}

static void put_kept(struct page *page, const struct cli *cli, const struct places *places)
{
  if (!places->keeps) return;
  open_line(page);
  fputs(places->kept.model, page->out);
  close_line(page, "kept");
  put_steps(page, cli, places);
}

/* Begins a page whose lines go to 'to'. */
static enum gpnn_status begin_page(struct page *page, FILE *to, struct gpnn_error *err)
{
  *page = (struct page){.to = to};
  page->out = open_memstream(&page->text, &page->length);
  return page->out == NULL ? gpnn_fail_memory(err, "for the report") : GPNN_OK;
}

static enum gpnn_status end_page(struct page *page, struct gpnn_error *err)
{
  page->failed = fclose(page->out) != 0 || page->failed;
  free(page->text);
  return page->failed ? gpnn_fail_memory(err, "for the report") : GPNN_OK;
}

enum gpnn_status report_model(char **told, const struct places *places,
                              const struct findings *findings, struct gpnn_error *err)
{
  struct page page;
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (to == NULL) return gpnn_fail_memory(err, "for the report");
  enum gpnn_status status = begin_page(&page, to, err);
  if (status == GPNN_OK) {
    put_rows(&page, places, findings);
    put_targets(&page, findings);
    put_inputs(&page, findings);
    put_missing(&page, findings);
    put_effects(&page, &findings->effects);
    put_unused(&page, findings);
    for (size_t t = 0; t < findings->opened.n; t++) put_model(&page, findings, t);
    put_gaps(&page, places);
    for (size_t t = 0; t < findings->opened.n; t++) put_outlook(&page, findings, t);
    status = end_page(&page, err);
  }
  if (fclose(to) != 0 && status == GPNN_OK) status = gpnn_fail_memory(err, "for the report");
  if (status == GPNN_OK)
    *told = text;
  else
    free(text);
  return status;
}

enum gpnn_status report_html(FILE *to, enum report_part part, const struct cli *cli,
                             const struct places *places, const struct findings *f, size_t t,
                             struct gpnn_error *err)
{
  struct page page;
  enum gpnn_status status = begin_page(&page, to, err);
  if (status != GPNN_OK) return status;
  page.as_html = true;
  switch (part) {
  case REPORT_TABLE:
    put_rows(&page, places, f);
    put_targets(&page, f);
    put_missing(&page, f);
    put_unused(&page, f);
    break;
  case REPORT_MODEL:
    put_model(&page, f, t);
    break;
  case REPORT_SCORES:
    put_outlook(&page, f, t);
    put_scored(&page, places, f, t);
    break;
  case REPORT_STEPS:
    put_steps(&page, cli, places);
    break;
  }
  return end_page(&page, err);
}

enum gpnn_status report(const struct cli *cli, const struct places *places,
                        const struct findings *findings, const char *told, struct gpnn_error *err)
{
  struct page page;
  if (cli->report != NULL) report_json(cli->report, places, findings);
  if (cli->report != NULL || cli->quiet) return GPNN_OK;
  enum gpnn_status status = begin_page(&page, stderr, err);
  if (status != GPNN_OK) return status;
  progress_erase();
  fputs(told, stderr);
  for (size_t t = 0; t < findings->opened.n; t++) put_scored(&page, places, findings, t);
  put_time(&page, findings, cli_given(cli, "report"));
  put_kept(&page, cli, places);
  put_next(&page, cli, places);
  return end_page(&page, err);
}
