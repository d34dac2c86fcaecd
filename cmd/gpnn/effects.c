#include "cmd/gpnn/workflow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assess/expected.h"
#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/gpnn/check.h"
#include "cmd/gpnn/steps.h"
#include "estimate/group_effects.h"

/* False: the user said what rows have instead, or of what there can be no effects; or few rows are
 * held out, so that scores would come from models that are fitted again; or the table is gone. */
static bool may_try(const struct cli *cli, const struct places *places,
                    const struct gpnn_dataset *dataset)
{
  static const char others[] =
      "group-effect,classes,exposure,row-noise,regressors,transform,likelihood";
  return cli_given_of(cli, others) == NULL && gpnn_dataset_holds_out_enough(dataset) &&
         check_can_reread(places->train);
}

/* Prints a column as an item of --group-effect: its name, or its number where the name will not do.
 */
static void print_item(const struct gpnn_column *column, FILE *to)
{
  if (column->n_namesakes > 0 || column->name[0] == '\0' || strpbrk(column->name, ",:()") != NULL)
    fprintf(to, "%zu", column->position + 1);
  else
    fputs(column->name, to);
}

/* '*list' becomes the candidates as a value of --group-effect, for the caller to free, or NULL. */
static enum gpnn_status list_candidates(const struct cli *cli, const struct places *places,
                                        char **list, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  size_t length, n = 0;
  enum gpnn_status status = gpnn_index_open(&index, places->working.index, false, err);
  if (status != GPNN_OK) return status;
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  const struct gpnn_schema *schema = &dataset->schema;
  bool *are = gpnn_alloc(schema->n_inputs, 1, sizeof *are), may = may_try(cli, places, dataset);
  FILE *to = may && are != NULL ? open_memstream(list, &length) : NULL;
  if (may && to == NULL) status = gpnn_fail_memory(err, "for the groups");
  if (to != NULL) status = gpnn_group_candidates(gpnn_dataset_target(dataset, 0), are, err);
  for (size_t i = 0; i < schema->n_inputs && to != NULL && status == GPNN_OK; i++) {
    if (!are[i] || (schema->inputs[i].kind == GPNN_COLUMN_CODED && cli_given(cli, "coded")))
      continue;
    if (n++ > 0) fputc(',', to);
    print_item(&schema->inputs[i], to);
  }
  if (to != NULL && fclose(to) != 0 && status == GPNN_OK)
    status = gpnn_fail_memory(err, "for the groups");
  if (n == 0) {
    free(*list);
    *list = NULL;
  }
  free(are);
  gpnn_index_close(index);
  return status;
}

/* What the working files come to, in rows held out: the mean over targets of NLL, in units of their
 * sd, and of that and CRPS. */
static enum gpnn_status score(const struct cli *cli, const struct places *places, double *nll,
                              double *score, struct gpnn_error *err)
{
  const struct gpnn_expected_options options = {.seed = cli->seed, .threads = cli->threads};
  struct opened opened = {0};
  enum gpnn_status status =
      open_files(cli, places->working.index, places->working.params, false, &opened, err);
  *nll = *score = 0;
  for (size_t t = 0; t < opened.n && status == GPNN_OK; t++) {
    struct gpnn_expected expected;
    const struct gpnn_dataset *truths =
        gpnn_dataset_target(gpnn_index_dataset(opened.index), opened.channels[t].dataset->target);
    status = gpnn_expected_scores(opened.n, opened.channels, t, truths, &options, &expected, err);
    if (status != GPNN_OK) break;
    const struct gpnn_metrics_result standard =
        gpnn_metrics_in_units(&expected.scores, expected.unit, false);
    *nll += standard.nll / (double)opened.n;
    *score += (standard.nll + standard.crps) / (double)opened.n;
  }
  open_release(&opened);
  return status;
}

static void swap_files(struct places *places)
{
  struct files before = places->working;
  places->working = places->other;
  places->working.predictions = before.predictions;
  places->other = before;
  places->other.predictions = NULL;
}

enum gpnn_status effects_try(const struct cli *cli, struct places *places,
                             struct effects_trial *trial, struct gpnn_error *err)
{
  double started = progress_now(), before = 0, after = 0;
  struct gpnn_error failure;
  enum gpnn_status status = list_candidates(cli, places, &trial->list, err);
  if (status != GPNN_OK || trial->list == NULL) return status;
  status = score(cli, places, &trial->without, &before, err);
  if (status != GPNN_OK) return status;
  swap_files(places);
  places->effects = trial->list;
  places->is_trial = true;
  for (enum step step = STEP_INDEX; step <= STEP_CALIBRATE && status == GPNN_OK; step++)
    status = steps_run(cli, places, step, &failure);
  if (status == GPNN_OK) status = score(cli, places, &trial->with, &after, &failure);
  places->is_trial = false;
  trial->is_possible = status == GPNN_OK;
  trial->is_better = trial->is_possible && after < before;
  if (!trial->is_better) {
    swap_files(places);
    places->effects = NULL;
  }
  trial->seconds = progress_now() - started;
  return status == GPNN_ENOMEM ? gpnn_fail(err, status, "%s", failure.text) : GPNN_OK;
}
