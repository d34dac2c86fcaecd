/* What a table to predict has to be like, and what is told of it. */
#include "cmd/common/json.h"
#include "cmd/common/report.h"
#include "cmd/predict/predict_private.h"

/* GPNN_EDATA: more rows than allowed have no prediction, for one target at least. */
static enum gpnn_status check_na(const struct run *r, struct gpnn_error *err)
{
  const double usual_most = 0.5;
  size_t n = 0;
  for (size_t t = 0; t < r->opened.n && r->a->plan.options.beyond == GPNN_BEYOND_NA; t++)
    if (r->counts[t].n_beyond > n) n = r->counts[t].n_beyond;
  n += r->source.skipped.n;
  /* Rows that nobody asked to skip this time are not to be most of them. */
  bool is_usual = r->source.skips_bad && !r->a->skip_bad && !r->a->is_of_grids &&
                  !cli_given(r->cli, "fail-on-na");
  double most = is_usual ? usual_most : r->a->most_na;
  if ((double)n <= most * (double)r->n_done) return GPNN_OK;
  char why[GPNN_SKIPPED_BYTES] = "they are too far from training rows";
  if (r->source.skipped.n > 0) gpnn_skipped_describe(&r->source.skipped, r->source.table, why);
  return gpnn_fail(err, GPNN_EDATA,
                   "%s: %zu of %zu rows have no prediction, and --fail-on-na allows %.3g %%: %s",
                   source_name(&r->source), n, r->n_done, 100 * most, why);
}

/* GPNN_ELIMIT: more rows than allowed lie far from the training rows, for one target at least. */
static enum gpnn_status check_far(const struct run *r, struct gpnn_error *err)
{
  size_t n = 0;
  for (size_t t = 0; t < r->opened.n; t++)
    if (r->counts[t].n_far > n) n = r->counts[t].n_far;
  if ((double)n <= r->a->most_far * (double)r->n_done) return GPNN_OK;
  enum gpnn_status status = gpnn_fail(
      err, GPNN_ELIMIT, "%s: %zu of %zu rows lie " REPORT_FAR ", and --fail-on-far allows %.3g %%",
      source_name(&r->source), n, r->n_done, 100 * r->a->most_far);
  if (r->a->names) err->text[0] = '\0'; /* what runs this tool says what it does about it */
  return status;
}

enum gpnn_status checks_rows(const struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = check_na(r, err);
  return status == GPNN_OK ? check_far(r, err) : status;
}

enum gpnn_status checks_distances(const struct run *r, struct gpnn_error *err)
{
  const char *option = r->a->flags_far ? "flag-far" : "fail-on-far";
  /* What runs this tool asks in case there are distances. */
  bool is_wanted = r->a->flags_far || (r->a->most_far < 1 && !r->a->names);
  for (size_t t = 0; t < r->opened.n && is_wanted; t++)
    if (!r->opened.parameters[t].calibration.has_distance)
      return gpnn_fail(err, GPNN_EINVAL,
                       "--%s needs the distances that gpnn-calibrate records from 100 rows or more",
                       option);
  return GPNN_OK;
}

/* Says what has happened to a column. */
static void tell_drift(const struct run *r, const struct gpnn_drift_column *column,
                       enum gpnn_drift_kind kind, double share)
{
  const char *table = source_name(&r->source);
  const char *name = r->opened.dataset->schema.inputs[column->input].name;
  json_text(r->cli->report, NULL, name);
  if (kind == GPNN_DRIFT_MOVED)
    cli_warn(r->cli,
             "%s: column '%s' is distributed otherwise than in training, by %.3g %% of the rows: "
             "is it in another unit, or swapped with another?",
             table, name, 100 * share);
  else if (kind == GPNN_DRIFT_OUTSIDE)
    cli_warn(r->cli,
             "%s: column '%s': %.3g %% of the rows are far outside the values of training: is it "
             "in another unit, or has a code for missing values?",
             table, name, 100 * share);
  else
    cli_warn(r->cli, "%s: column '%s': %.3g %% of the rows lack it, in training %.3g %% did", table,
             name, 100 * share, 100 * column->lacking);
}

enum gpnn_status checks_drift(const struct run *r, struct gpnn_error *err)
{
  size_t n_moved = 0;
  double share;
  json_open(r->cli->report, "moved", '[');
  for (size_t i = 0; i < r->drift.n && r->n_done > 0; i++) {
    enum gpnn_drift_kind kind = gpnn_drift_of(&r->drift.columns[i], &share);
    if (kind == GPNN_DRIFT_NONE) continue;
    tell_drift(r, &r->drift.columns[i], kind, share);
    n_moved++;
  }
  json_close(r->cli->report, ']');
  if (n_moved == 0 || !r->a->fails_on_moved) return GPNN_OK;
  return gpnn_fail(err, GPNN_ELIMIT, "%s: %zu column%s moved, which --fail-on-moved does not allow",
                   source_name(&r->source), n_moved, n_moved == 1 ? " has" : "s have");
}

void checks_report(const struct run *r)
{
  struct json *report = r->cli->report;
  json_count(report, "rows", r->n_done);
  json_count(report, "bad-rows", r->source.skipped.n);
  json_count(report, "bad-truths", r->source.unread.n);
  json_count(report, "new-levels", r->source.n_unseen);
  json_count(report, "new-classes", r->source.n_unseen_classes);
  json_open(report, "targets", '[');
  for (size_t t = 0; t < r->opened.n; t++) {
    json_open(report, NULL, '{');
    json_text(report, "target", r->opened.channels[t].dataset->schema.target.name);
    json_count(report, "far", r->counts[t].n_far);
    json_count(report, "beyond", r->counts[t].n_beyond);
    json_count(report, "at-training-rows", r->counts[t].n_upon);
    json_close(report, '}');
  }
  json_close(report, ']');
}
