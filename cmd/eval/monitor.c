#include "cmd/eval/monitor.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "assess/expected.h"
#include "assess/monitor.h"
#include "cmd/common/open.h"
#include "table/columns.h"

/* ---- options ------------------------------------------------------------------------------ */

/* The date of today, in the time zone of the system. */
static double today(void)
{
  char text[GPNN_DATE_BYTES];
  double days = 0;
  time_t now = time(NULL);
  struct tm parts;
  size_t length = strftime(text, sizeof text, "%Y-%m-%d", localtime_r(&now, &parts));
  (void)gpnn_date_read(GPNN_DATE_ISO, text, length, &days);
  return days;
}

bool monitor_resolve(const struct cli *cli, struct eval_arguments *a)
{
  const char *misplaced = cli_misplaced(cli, EVAL_PRINTS);
  char shown[GPNN_MASK_BYTES];
  if (a->monitor == NULL) return a->night == NULL || cli_refuse(cli, "--night is for --monitor");
  if (misplaced != NULL)
    return cli_refuse(cli, "--%s is for what is printed: --monitor prints nothing", misplaced);
  if (strcmp(cli->output, "-") != 0)
    return cli_refuse(cli, "--output is for what is printed: --monitor prints nothing");
  a->days = today();
  if (a->night != NULL &&
      gpnn_date_read(GPNN_DATE_ISO, a->night, strlen(a->night), &a->days) != GPNN_DATE_OK)
    return cli_refuse(cli, "option --night: not a date such as 2014-05-02: \"%s\"",
                      gpnn_mask(shown, a->night, strlen(a->night)));
  a->levels = (struct cli_probabilities){1, {GPNN_MONITOR_LEVEL}};
  return true;
}

/* ---- rows --------------------------------------------------------------------------------- */

enum gpnn_status monitor_find(struct monitor *m, const struct gpnn_predictions *predictions,
                              const struct gpnn_table *table, struct gpnn_error *err)
{
  m->far = SIZE_MAX;
  if (predictions->n_targets > 1)
    return gpnn_fail(err, GPNN_EINVAL,
                     "%s: predictions of several targets: name the columns of one with --truth, "
                     "--mean and --sd",
                     gpnn_table_name(table));
  for (size_t j = predictions->targets[0].truth + 1; j < gpnn_table_columns(table); j++)
    if (gpnn_table_has_header(table) && strcmp(gpnn_table_column(table, j), "far") == 0) m->far = j;
  return GPNN_OK;
}

enum gpnn_status monitor_count(struct monitor *m, const struct gpnn_predictions *predictions,
                               const struct gpnn_table *table, const struct gpnn_record *record,
                               struct gpnn_error *err)
{
  double far;
  m->n_na += gpnn_predictions_is_missing(&predictions->targets[0], table, record);
  enum gpnn_status status = gpnn_columns_optional(table, record, m->far, &far, err);
  if (status != GPNN_OK || isnan(far)) return status;
  m->n_flagged++;
  m->n_far += far != 0;
  return GPNN_OK;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* The target called 'name'; where there is only one, that. */
static size_t find_target(const struct opened *opened, const char *name)
{
  for (size_t t = 0; t < opened->n; t++)
    if (strcmp(opened->channels[t].dataset->schema.target.name, name) == 0) return t;
  return opened->n == 1 ? 0 : SIZE_MAX;
}

/* The nights that the model at 'path' expects, GPNN_EXPECTED_PARTS of them; none of an index
 * without parameters, nor of too few rows. */
static enum gpnn_status expect(const struct cli *cli, const char *path, const char *target,
                               struct gpnn_night *nights, size_t *n, struct gpnn_error *err)
{
  struct opened opened = {0};
  struct gpnn_metrics_result parts[GPNN_EXPECTED_PARTS];
  const struct gpnn_expected_options options = {
      .seed = cli->seed, .threads = cli->threads, .parts = parts};
  struct gpnn_expected expected = {0};
  enum gpnn_status status = open_files(cli, path, NULL, false, &opened, err);
  size_t t = status == GPNN_OK ? find_target(&opened, target) : SIZE_MAX;
  if (status == GPNN_OK && t == SIZE_MAX)
    status = gpnn_fail(err, GPNN_EMISMATCH, "%s: a model of other targets than '%s'", path, target);
  if (status == GPNN_OK) {
    const struct gpnn_dataset *truths =
        gpnn_dataset_target(gpnn_index_dataset(opened.index), opened.channels[t].dataset->target);
    status = gpnn_expected_scores(opened.n, opened.channels, t, truths, &options, &expected, err);
  }
  *n = 0;
  for (size_t i = 0; expected.has_parts && i < GPNN_EXPECTED_PARTS; i++)
    nights[(*n)++] = gpnn_night_of_numbers(parts[i].n, &parts[i]);
  open_release(&opened);
  return status;
}

/* ---- the night ---------------------------------------------------------------------------- */

static enum gpnn_status make_night(const struct monitor *m, size_t n_read, struct scores_cell *cell,
                                   struct gpnn_night *night, struct gpnn_error *err)
{
  struct gpnn_metrics_result numbers;
  bool of_classes = cell->classes != NULL;
  enum gpnn_status status = of_classes
                                ? gpnn_classification_result(cell->classes, &cell->result, err)
                                : gpnn_metrics_result(&cell->metrics, &numbers, err);
  if (status != GPNN_OK) return status;
  *night = of_classes ? gpnn_night_of_classes(n_read, &cell->result)
                      : gpnn_night_of_numbers(n_read, &numbers);
  gpnn_night_set(night, of_classes, "na", (double)m->n_na / (double)n_read);
  if (m->n_flagged > 0)
    gpnn_night_set(night, of_classes, "far", (double)m->n_far / (double)m->n_flagged);
  return GPNN_OK;
}

/* Says of each figure outside its limits so, and whether there are limits at all.  GPNN_ELIMIT,
 * without a text: there are such figures. */
static enum gpnn_status tell(const struct cli *cli, const struct gpnn_monitor *history,
                             const struct gpnn_night *night, struct gpnn_error *err)
{
  const char *figure;
  enum gpnn_status status = GPNN_OK;
  bool has_limits = false;
  for (size_t i = 0; (figure = gpnn_monitor_figure(history->of_classes, i)) != NULL; i++) {
    bool is_low = night->value[i] < night->low[i];
    has_limits = has_limits || !isnan(night->high[i]);
    if (!night->is_outside[i]) continue;
    cli_fail(cli, "%s: %s is %.4g, %s the limit of %.4g", night->date, figure, night->value[i],
             is_low ? "below" : "above", is_low ? night->low[i] : night->high[i]);
    status = gpnn_fail(err, GPNN_ELIMIT, "%s", "");
  }
  if (!has_limits)
    cli_warn(cli,
             "%s: there are no limits yet: they come from %d nights or more, or until then from "
             "what the model of --index expects",
             night->date, GPNN_MONITOR_FEWEST);
  return status;
}

static enum gpnn_status write_history(const struct gpnn_monitor *history, const char *path,
                                      struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = cli_open_output(path, &output, err);
  if (status == GPNN_OK) status = gpnn_monitor_write(history, output, err);
  return cli_close_output(output, status, err);
}

enum gpnn_status monitor_finish(const struct monitor *m, const struct cli *cli,
                                const struct eval_arguments *a, const char *target, size_t n_read,
                                struct scores_cell *cell, struct gpnn_error *err)
{
  struct gpnn_monitor history = {.of_classes = cell->classes != NULL};
  struct gpnn_night night, expected[GPNN_EXPECTED_PARTS];
  size_t at = 0, n_expected = 0;
  enum gpnn_status status = make_night(m, n_read, cell, &night, err);
  if (status == GPNN_OK) gpnn_date_write(night.date, a->days);
  if (status == GPNN_OK) status = gpnn_monitor_read(&history, a->monitor, err);
  if (status == GPNN_OK && a->index != NULL && gpnn_monitor_needs_expected(&history, night.date))
    status = expect(cli, a->index, target, expected, &n_expected, err);
  if (status == GPNN_OK)
    status = gpnn_monitor_add(&history, &night, n_expected, expected, &at, err);
  if (status == GPNN_OK) status = write_history(&history, a->monitor, err);
  if (status == GPNN_OK) status = tell(cli, &history, &history.nights[at], err);
  gpnn_monitor_release(&history);
  return status;
}
