/* An index with the rows of a table added to it, or without some of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/number.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/table.h"
#include "cmd/index/index_private.h"
#include "dataset/index/index.h"
#include "dataset/training/grown.h"
#include "dataset/transformed.h"

/* ---- options ------------------------------------------------------------------------------- */

bool grow_resolve(const struct cli *cli, const struct index_arguments *a)
{
  const char *name = a->add != NULL ? "add" : "forget";
  const char *of_fresh = cli_misplaced(cli, INDEX_OF_FRESH | CLI_OF_OWN);
  const char *of_table = a->add == NULL ? cli_misplaced(cli, CLI_OF_TABLE | CLI_OF_TEXT) : NULL;
  if (a->metric != NULL || a->pack != NULL)
    return cli_refuse(cli, "--%s keeps the metric and the parameters that an index has", name);
  if (of_fresh != NULL)
    return cli_refuse(cli, "--%s keeps all that an index was made with, so --%s does not apply",
                      name, of_fresh);
  if (of_table != NULL)
    return cli_refuse(cli, "--%s reads an index, but --%s applies to a table", name, of_table);
  return cli_check_overwrite(cli, a->output, a->add);
}

/* Forgets the oldest rows, N, or those with COL<VALUE. */
static enum gpnn_status forget(struct gpnn_grown *grown, const char *what, struct gpnn_error *err)
{
  const char *below = strchr(what, '<');
  char shown[GPNN_MASK_BYTES];
  uint64_t n;
  if (below == NULL && gpnn_number_read_u64(what, strlen(what), &n)) {
    gpnn_grown_forget_oldest(grown, n);
    return GPNN_OK;
  }
  if (below != NULL)
    return gpnn_grown_forget_below(grown, what, (size_t)(below - what), below + 1, err);
  return gpnn_fail(err, GPNN_EINVAL, "a number of rows, or COL<VALUE, not \"%s\"",
                   gpnn_mask(shown, what, strlen(what)));
}

/* ---- what is told -------------------------------------------------------------------------- */

static void report_rows(const struct cli *cli, const struct gpnn_grown *grown)
{
  struct json *json = cli->report;
  if (json == NULL) return;
  json_count(json, "added-rows", grown->n_added);
  json_count(json, "forgotten-rows", grown->n_forgotten);
  json_count(json, "rows", grown->dataset.n);
  json_count(json, "calibration-rows", grown->dataset.n_calibration);
  json_count(json, "new-levels", grown->n_new_levels);
  json_count(json, "unseen-level-rows", grown->n_unseen);
  json_count(json, "copied-rows", grown->copies.n_copies);
  json_number(json, "target-shift", grown->drift.target);
}

/* Says what became of the rows and, of those added, what moved, in standard deviations of the
 * training rows. */
static void describe(const struct cli *cli, const struct index_arguments *a,
                     const struct gpnn_grown *grown)
{
  const struct gpnn_dataset *rows = &grown->dataset;
  const struct gpnn_grown_shift *drift = &grown->drift;
  char name[GPNN_MASK_BYTES], target[64] = "", moved[2 * GPNN_MASK_BYTES] = "";
  if (!gpnn_schema_has_classes(&rows->schema, 0))
    snprintf(target, sizeof target, "by %+.2f sd in the target, and ", drift->target);
  if (grown->n_added > 0 && drift->coordinate != SIZE_MAX)
    snprintf(moved, sizeof moved, "; means have moved %smost, by %+.2f%s, in input '%s'", target,
             drift->input, target[0] == '\0' ? " sd" : "",
             gpnn_dataset_group_name(rows, NULL, rows->group[drift->coordinate], name));
  cli_say(cli, "%s: %zu rows added, %zu forgotten: %zu rows and %zu held out%s",
          cli_operand(cli, 0), grown->n_added, grown->n_forgotten, rows->n, rows->n_calibration,
          moved);
  if (grown->has_dropped)
    cli_say(cli, "%s: parameters are left out, as they have numbers for each row: fit the new rows",
            cli_operand(cli, 0));
  if (grown->n_new_levels > 0)
    cli_note(cli, "%s: %zu levels are new, and the index has them now", a->add,
             grown->n_new_levels);
  if (grown->n_unseen > 0)
    cli_warn(cli,
             "%s: %zu of %zu rows have levels that training has not seen, which share the place of "
             "all unknown ones: an index made anew tells them apart",
             a->add, grown->n_unseen, grown->n_added);
  if (gpnn_copies_exceed_chance(&grown->copies))
    cli_warn(cli, "%s: %zu of the first %zu rows are training rows of the index already", a->add,
             grown->copies.n_copies, grown->copies.n);
}

/* ---- the work ------------------------------------------------------------------------------ */

static enum gpnn_status add(const struct cli *cli, const struct index_arguments *a,
                            struct gpnn_grown *grown, struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = open_table(cli, grown->old, a->add, &table, err);
  if (status == GPNN_OK) status = gpnn_grown_read(grown, table, a->skip_bad != SKIP_NONE, err);
  if (status == GPNN_OK)
    status = skip_check(cli, a->skip_bad, table, &grown->skipped, grown->n_added, err);
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  return status;
}

/* A model that is replaced would no longer be one, if its parameters do not go on. */
static enum gpnn_status check_packed(const struct index_arguments *a, const char *path,
                                     const struct gpnn_grown *grown, struct gpnn_error *err)
{
  if (!grown->has_dropped || !gpnn_atomic_file_same(a->output, path)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "its parameters have numbers for each of its rows, which others lack: write "
                   "another file and fit that, or use gpnn --update");
}

/* Writes the rows with a search of the kind and the metric that the index has. */
static enum gpnn_status write(const struct cli *cli, const struct index_arguments *a,
                              const struct gpnn_index *index, const struct gpnn_dataset *rows,
                              struct gpnn_error *err)
{
  const struct gpnn_index_search was = gpnn_index_search(index);
  struct gpnn_search_options options = a->search;
  struct gpnn_transformed *seen = NULL;
  options.kind = was.report.kind;
  options.recall = gpnn_search_recall_again(&was.report);
  if (was.report.neighbours > 0) options.neighbours = was.report.neighbours;
  options.effort = was.report.effort;
  options.seed = rows->seed;
  options.lengthscale = was.metric.lengthscale;
  options.rotation = was.metric.rotation;
  enum gpnn_status status = GPNN_OK;
  if (was.sight != NULL)
    status = gpnn_transformed_new(&seen, rows, &(struct gpnn_changes){.sight = was.sight}, err);
  if (status == GPNN_OK)
    status = index_write(cli, a->output, rows, seen == NULL ? NULL : gpnn_transformed_dataset(seen),
                         &options, err);
  gpnn_transformed_free(seen);
  return status;
}

enum gpnn_status grow(const struct cli *cli, const struct index_arguments *a,
                      struct gpnn_error *err)
{
  const char *path = cli_operand(cli, 0);
  struct gpnn_index *index = NULL;
  struct gpnn_grown grown = GPNN_GROWN_INIT;
  enum gpnn_status status = GPNN_OK;
  if (a->add != NULL) status = open_check_order(path, a->add, err);
  if (status == GPNN_OK) status = gpnn_index_open(&index, path, false, err);
  if (status != GPNN_OK) return status;
  status = gpnn_grown_begin(&grown, gpnn_index_dataset(index), a->output, &index_unfinished, err);
  if (status == GPNN_OK) status = check_packed(a, path, &grown, err);
  if (status != GPNN_OK) status = gpnn_prefix(err, status, "%s", path);
  if (status == GPNN_OK && a->forget != NULL) {
    status = forget(&grown, a->forget, err);
    if (status != GPNN_OK) status = gpnn_prefix(err, status, "option --forget");
  }
  if (status == GPNN_OK && a->add != NULL) status = add(cli, a, &grown, err);
  if (status == GPNN_OK) status = gpnn_grown_finish(&grown, err);
  if (status == GPNN_OK) {
    describe(cli, a, &grown);
    report_rows(cli, &grown);
    status = write(cli, a, index, &grown.dataset, err);
  }
  gpnn_grown_release(&grown);
  gpnn_index_close(index);
  return status;
}
