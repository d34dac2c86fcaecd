#include "cmd/gpnn/workflow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "cmd/common/output.h"
#include "cmd/common/progress.h"
#include "cmd/common/signals.h"
#include "cmd/gpnn/check.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/places.h"
#include "cmd/gpnn/report.h"
#include "cmd/gpnn/steps.h"
#include "cmd/gpnn/web.h"

/* ---- options ------------------------------------------------------------------------------ */

/* The page has a place of its own. */
static bool check_page(const struct cli *cli, const struct workflow_arguments *a)
{
  if (a->page == NULL) return true;
  if (strcmp(a->page, "-") == 0) return cli_refuse(cli, "--report needs the name of a file");
  if (gpnn_atomic_file_same(a->page, cli->output))
    return cli_refuse(cli, "--report and --output are the same file");
  for (size_t i = 0; i < cli->n_operands; i++)
    if (!cli_check_overwrite(cli, a->page, cli->operands[i])) return false;
  return true;
}

bool workflow_resolve(const struct cli *cli, void *arguments)
{
  const struct workflow_arguments *a = arguments;
  const char *train = cli_operand(cli, 0), *test = cli->n_operands > 1 ? cli->operands[1] : NULL;
  const char *misplaced = steps_misplaced(cli, test != NULL);
  if (a->update != NULL) return update_resolve(cli);
  if (a->forget != NULL) return cli_refuse(cli, "--forget is for --update");
  if (misplaced == NULL && test == NULL && strcmp(cli->output, "-") != 0) misplaced = "output";
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is for predictions: name a table to predict after \"%s\"",
                      misplaced, train);
  if (a->save != NULL && strcmp(a->save, "-") == 0)
    return cli_refuse(cli, "a model is a binary file: name it with --save FILE");
  if (test != NULL && strcmp(train, "-") == 0 && strcmp(test, "-") == 0)
    return cli_refuse(cli, "both tables cannot be standard input");
  return check_page(cli, a) && cli_check_overwrite(cli, cli->output, train) &&
         cli_check_overwrite(cli, cli->output, test);
}

/* ---- the work ----------------------------------------------------------------------------- */

/* Whether it is of use to know if the table to predict lies in gaps. */
static bool may_imitate(const struct cli *cli, const struct places *places)
{
  return cli_given_of(cli, "like,fail-on-far,max-distance") == NULL && places->test != NULL &&
         check_can_reread(places->test);
}

static enum gpnn_status run_step(const struct cli *cli, struct places *places, enum step step,
                                 struct findings *findings, struct gpnn_error *err)
{
  double started = progress_now();
  enum gpnn_status status = steps_run(cli, places, step, err);
  findings->seconds[step] += progress_now() - started;
  findings->ran[step] = true;
  return status;
}

/* Chooses again for rows like those to predict, if that is possible, and predicts them. */
static enum gpnn_status predict_gaps(const struct cli *cli, struct places *places,
                                     struct findings *findings, struct gpnn_error *err)
{
  places->looks_for_gaps = false;
  enum gpnn_status status = check_can_imitate(cli, places, &places->lies_in_gaps, err);
  enum step step = places->lies_in_gaps ? STEP_FIT : STEP_PREDICT;
  if (status == GPNN_OK && places->lies_in_gaps)
    cli_note(cli, "%s lies in gaps between training rows: choosing again, for such rows",
             places->test);
  for (; step <= STEP_PREDICT && status == GPNN_OK; step++)
    status = run_step(cli, places, step, findings, err);
  return status;
}

static enum gpnn_status run_steps(const struct cli *cli, struct places *places, bool force,
                                  struct findings *findings, struct gpnn_error *err)
{
  enum step last = places->test == NULL ? STEP_CALIBRATE : STEP_PREDICT;
  places->looks_for_gaps = may_imitate(cli, places);
  enum gpnn_status status = steps_check(cli, places, last, err);
  if (status == GPNN_OK) status = check_test(cli, places, false, err);
  for (enum step step = STEP_INDEX; step <= last && status == GPNN_OK; step++) {
    status = run_step(cli, places, step, findings, err);
    if (status == GPNN_OK && step == STEP_CALIBRATE)
      status = effects_try(cli, places, &findings->effects, err);
    if (status != GPNN_OK || step != STEP_INDEX) continue;
    if (!force) status = check_replaced(places, err);
    if (status == GPNN_OK) status = check_test(cli, places, true, err);
  }
  if (status == GPNN_ELIMIT && places->looks_for_gaps)
    status = predict_gaps(cli, places, findings, err);
  places->looks_for_gaps = false; /* the commands that are shown need not */
  return status;
}

/* Passes over the first line, of which quoted names may take several. */
static void pass_over_names(FILE *from)
{
  bool is_quoted = false;
  int c;
  do {
    c = getc(from);
    if (c == '"') is_quoted = !is_quoted;
  } while (c != EOF && (is_quoted || c != '\n'));
}

static enum gpnn_status copy(FILE *from, const char *path, struct gpnn_output *output,
                             struct gpnn_error *err)
{
  enum { PIECE = 64 * 1024 };
  char *piece = gpnn_alloc(PIECE, 1, 1); /* stacks may be small */
  enum gpnn_status status = piece == NULL ? gpnn_fail_memory(err, "for the predictions") : GPNN_OK;
  size_t got;
  while (status == GPNN_OK && (got = fread(piece, 1, PIECE, from)) > 0)
    status = gpnn_output_write(output, piece, got, err);
  free(piece);
  if (status == GPNN_OK && ferror(from))
    status = gpnn_fail_errno(err, errno, "%s: cannot be read", path);
  return status;
}

/* Writes the page, if there is one. */
static enum gpnn_status write_page(const char *path, const char *page, size_t length,
                                   struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  if (page == NULL) return GPNN_OK;
  enum gpnn_status status = cli_open_output(path, &output, err);
  if (status == GPNN_OK) status = gpnn_output_write(output, page, length, err);
  return cli_close_output(output, status, err);
}

/* Copies the predictions, now that there are no more reasons to fail, to where they were asked
 * for; like gpnn-predict without names if the table to predict has none. */
static enum gpnn_status write_predictions(const struct cli *cli, const struct places *places,
                                          struct gpnn_error *err)
{
  const char *path = places->working.predictions;
  struct gpnn_output *output = NULL;
  if (places->test == NULL) return GPNN_OK;
  FILE *from = fopen(path, "rb");
  if (from == NULL) return gpnn_fail_errno(err, errno, "%s: cannot be read", path);
  enum gpnn_status status = cli_open_output(cli->output, &output, err);
  if (places->test_begins.no_header && !gpnn_npy_text_is_wanted(cli->output)) pass_over_names(from);
  if (status == GPNN_OK) status = copy(from, path, output, err);
  status = cli_close_output(output, status, err);
  fclose(from);
  return status;
}

enum gpnn_status workflow_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct workflow_arguments *a = arguments;
  const char *test = cli->n_operands > 1 ? cli->operands[1] : NULL;
  struct places places = {0};
  struct findings findings = {0};
  if (a->update != NULL) return update(cli, a->update, cli_operand(cli, 0), a->forget, err);
  char *told = NULL, *page = NULL;
  size_t length = 0;
  static const char *volatile trial;
  double started = progress_now();
  cli_guard(&trial);
  enum gpnn_status status =
      places_open(&places, cli_operand(cli, 0), test, a->save, cli->output, a->page, err);
  if (status == GPNN_OK && a->page != NULL) status = cli_try_output(a->page, &trial, err);
  if (status == GPNN_OK) status = run_steps(cli, &places, a->force, &findings, err);
  double scoring = progress_now();
  if (status == GPNN_OK) status = findings_gather(&findings, cli, &places, err);
  findings.scoring = progress_now() - scoring;
  if (status == GPNN_OK) status = report_model(&told, &places, &findings, err);
  if (status == GPNN_OK && a->page != NULL)
    status = web_compose(&page, &length, cli, &places, &findings, err);
  findings.page = progress_now() - scoring - findings.scoring;
  if (status == GPNN_OK) status = write_predictions(cli, &places, err);
  if (status == GPNN_OK) status = write_page(a->page, page, length, err);
  if (status == GPNN_OK) status = places_keep(&places, &findings.opened, told, err);
  findings.total = progress_now() - started;
  if (status == GPNN_OK) status = report(cli, &places, &findings, told, err);
  free(told);
  free(page);
  findings_release(&findings);
  places_close(&places);
  return status;
}
