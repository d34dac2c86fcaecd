#include "cmd/predict/predict.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/common/progress.h"
#include "cmd/common/report.h"
#include "cmd/predict/predict_private.h"

/* ---- options ------------------------------------------------------------------------------ */

/* Determines the number of rows per batch. */
static bool resolve_batch(const struct cli *cli, struct predict_arguments *a)
{
  if (a->unbuffered && a->batch > 0)
    return cli_refuse(cli, "--unbuffered takes rows one by one; give it or --batch");
  if (a->unbuffered && a->share > 1)
    return cli_refuse(
        cli, "--unbuffered answers each row before it reads the next, which rules out --share");
  if (a->unbuffered) a->batch = 1;
  if (a->batch == 0) a->batch = a->share > 1 ? 131072 : 8192;
  a->batch_bytes = (size_t)(a->share > 1 ? 256 : 16) << 20;
  return true;
}

/* What concerns a table is not for training rows. */
static bool resolve_loo(const struct cli *cli, const struct predict_arguments *a)
{
  const char *misplaced = cli_misplaced(cli, CLI_OF_TABLE);
  if (!a->loo && a->cross_fit) return cli_refuse(cli, "--cross-fit needs --loo");
  if (!a->loo) return true;
  if (cli->n_operands > 1)
    return cli_refuse(cli, "--loo predicts the rows of the index: give it or a table");
  return misplaced == NULL ||
         cli_refuse(cli, "--%s is for the rows of a table, not for --loo", misplaced);
}

/* Reads --max-distance: a number of lengthscales or, with a unit, a distance on the globe. */
static bool resolve_distance(const struct cli *cli, struct predict_arguments *a)
{
  static const double km_in_m = 1e-3;
  const char *text = a->max_distance;
  char shown[GPNN_MASK_BYTES];
  double value;
  if (text == NULL) return true;
  size_t length = strlen(text), number = length;
  while (number > 0 && (text[number - 1] == 'k' || text[number - 1] == 'm')) number--;
  const char *unit = text + number;
  bool is_km = strcmp(unit, "km") == 0, is_m = strcmp(unit, "m") == 0;
  if (gpnn_number_read(text, number, &value) != GPNN_NUMBER_OK || !(value > 0) ||
      !(is_km || is_m || *unit == '\0'))
    return cli_refuse(cli,
                      "option --max-distance: not a number above 0, with km, m or no unit: \"%s\"",
                      gpnn_mask(shown, text, length));
  if (is_km || is_m)
    a->plan.options.max_km = is_km ? value : km_in_m * value;
  else
    a->plan.options.max_distance = value;
  return true;
}

bool predict_resolve(const struct cli *cli, void *arguments)
{
  struct predict_arguments *a = arguments;
  const struct gpnn_predict_options *options = &a->plan.options;
  bool reads_table = !a->loo && a->complete == PREDICT_TABLE;
  if (!open_default_params(cli, &a->params) || !resolve_batch(cli, a) || !resolve_loo(cli, a) ||
      !resolve_distance(cli, a) || !joint_resolve(cli, a) || !classes_resolve(cli, a) ||
      !grid_resolve(cli, a) || !resume_resolve(cli, a))
    return false;
  if (a->append && a->keep != NULL)
    return cli_refuse(cli, "--append keeps all columns already; give it or --keep");
  if (options->mean_only && a->plan.intervals.n > 0)
    return cli_refuse(cli, "--mean-only computes no sd, which --interval needs");
  if (!a->is_of_grids && cli_given(cli, "beyond") && a->max_distance == NULL)
    return cli_refuse(cli, "--beyond needs --max-distance");
  if (reads_table && a->params != NULL && strcmp(a->params, "-") == 0 &&
      strcmp(cli_operand(cli, 1), "-") == 0)
    return cli_refuse(cli,
                      "parameters and table cannot both be standard input: name the parameters "
                      "with -p");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0)) &&
         cli_check_overwrite(cli, cli->output, a->params) &&
         (!reads_table || a->append || cli_check_overwrite(cli, cli->output, cli_operand(cli, 1)));
}

/* ---- batches ------------------------------------------------------------------------------ */

/* The names of the columns of a target that is a number. */
static enum gpnn_status write_number_names(struct run *r, size_t t, struct gpnn_error *err)
{
  enum gpnn_status status = columns_write_names(&r->columns[t], &r->sink, err);
  return status == GPNN_OK ? joint_write_draw_names(r, t, err) : status;
}

static enum gpnn_status write_header(struct run *r, struct gpnn_error *err)
{
  bool is_npy = gpnn_npy_text_is_wanted(r->cli->output);
  bool is_further = r->a->part != NULL && !r->a->part->is_first;
  if ((!source_has_header(&r->source) && !is_npy) || r->resume.n_rows > 0 || is_further)
    return GPNN_OK;
  r->sink.at_start = true;
  enum gpnn_status status = source_write_names(&r->source, &r->sink, err);
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++)
    status = r->classes[t].n > 0
                 ? classes_write_names(&r->classes[t], &r->columns[t], &r->sink, err)
                 : write_number_names(r, t, err);
  if (status == GPNN_OK) status = gpnn_output_text(r->sink.output, "\n", err);
  /* A program that waits for every answer may wait for the header before it sends any row. */
  return status == GPNN_OK && r->a->unbuffered ? gpnn_output_flush(r->sink.output, err) : status;
}

static enum gpnn_status read_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  return source_read(&r->source, &r->batches[slot], err);
}

/* The target by which training rows are known again: one whose truths the table has, if there are
 * any, and of these the one that most training rows have. */
static size_t telling_target(const struct run *r)
{
  size_t best = 0;
  for (size_t t = 1; t < r->opened.n; t++) {
    bool has_truth = source_has_truth(&r->source, t);
    bool is_known = source_has_truth(&r->source, best);
    size_t n = r->opened.channels[t].dataset->n;
    if (has_truth != is_known ? has_truth : n > r->opened.channels[best].dataset->n) best = t;
  }
  return best;
}

/* False of a grid and of a model file. */
static bool has_training_rows(const struct run *r)
{
  return r->opened.dataset->grid == NULL && r->opened.dataset->stored == NULL;
}

/* The training rows of target 't' of the parameters: the target as the index has it, the inputs as
 * they are seen, as those of rows to predict are. */
static struct gpnn_dataset rows_of_target(const struct run *r, size_t t)
{
  const struct gpnn_dataset *seen = r->opened.channels[t].dataset;
  struct gpnn_dataset rows =
      *gpnn_dataset_target(gpnn_index_dataset(r->opened.index), seen->target);
  rows.d = seen->d;
  rows.x = seen->x;
  rows.coordinates = seen->coordinates;
  return rows;
}

/* Scores the predictions of target 't' in a batch where its rows have truths. */
static void score_target(const struct run *r, const struct gpnn_predictor *predictor, size_t t,
                         struct batch *batch)
{
  size_t first = t * batch->n_good, good = 0;
  if (!r->columns[t].has_scores) return;
  for (size_t i = 0; i < batch->n_rows; i++)
    if (batch->is_good[i])
      batch->observed[first + good++] =
          columns_truth(&r->columns[t], batch->truth[i * r->opened.n + t]);
  gpnn_predict_scores(predictor, batch->n_good, batch->distributions + first,
                      batch->observed + first, batch->scores + first);
}

static void score_batch(const struct run *r, struct batch *batch)
{
  for (size_t i = 0; i < r->n_together; i++)
    for (size_t t = 0; t < r->together[i].n; t++)
      score_target(r, r->together[i].forecaster.numbers, r->together[i].first + t, batch);
}

/* Notes the rows of a batch, for warn_of_training_rows(), with the truths of the telling target if
 * the table has it; then rows without truth are left aside. */
static enum gpnn_status note_rows(struct run *r, const struct batch *batch, struct gpnn_error *err)
{
  size_t n_offsets = batch->shape.n_offsets, good = 0, telling = telling_target(r);
  const struct gpnn_dataset dataset = rows_of_target(r, telling);
  bool has_truth = source_has_truth(&r->source, telling);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < batch->n_rows && status == GPNN_OK; i++) {
    if (!batch->is_good[i]) continue;
    double y = batch->truth[i * r->opened.n + telling];
    if (n_offsets > 0) y -= batch->offset[good * n_offsets + dataset.target];
    if (!has_truth || !isnan(y))
      status = gpnn_copies_add(&r->copies, &dataset, batch->x + good * dataset.d,
                               has_truth ? gpnn_dataset_standardise(&dataset, y) : NAN, err);
    good++;
  }
  return status;
}

static enum gpnn_status predict_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  struct batch *batch = &r->batches[slot];
  const struct gpnn_predict_rows rows = source_rows(&r->source, batch);
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < r->n_together && status == GPNN_OK; i++)
    status = together_predict(&r->together[i], &rows, batch, r->counts, err);
  for (size_t i = 0; i < r->n_together && status == GPNN_OK; i++) {
    const struct gpnn_predictor *predictor = r->together[i].forecaster.numbers;
    size_t first = r->together[i].first * batch->n_good;
    if (predictor == NULL) continue;
    status = gpnn_predict_moments(predictor, r->together[i].n * batch->n_good,
                                  batch->distributions + first, batch->mean + first,
                                  batch->sd + first, err);
  }
  if (status == GPNN_OK && r->a->samples > 0) status = joint_draw(r, batch, err);
  if (status == GPNN_OK && !r->a->loo && has_training_rows(r)) status = note_rows(r, batch, err);
  for (size_t i = 0; i < batch->n_good && status == GPNN_OK && r->source.table != NULL; i++)
    gpnn_drift_add(&r->drift, batch->x + i * batch->shape.d);
  if (status == GPNN_ENUMERIC) return source_locate(&r->source, batch, status, err);
  if (status == GPNN_OK) score_batch(r, batch);
  r->n_done += batch->n_rows;
  progress_share("rows predicted", r->n_done, batch->share);
  return status;
}

/* Writes what is predicted of target 't', a number, in row 'i'. */
static enum gpnn_status write_number(struct run *r, const struct batch *batch, size_t t, size_t i,
                                     size_t good, struct gpnn_error *err)
{
  size_t from = t * batch->n_good + good;
  struct prediction prediction = PREDICTION_MISSING;
  if (good != SIZE_MAX)
    prediction = (struct prediction){.mean = batch->mean[from],
                                     .sd = batch->sd[from],
                                     .distribution = batch->distributions[from],
                                     .far = batch->distributions[from].is_far};
  if (good != SIZE_MAX && r->columns[t].has_scores) prediction.score = batch->scores[from];
  if (good != SIZE_MAX && r->columns[t].flags_outside)
    prediction.outside =
        gpnn_tucker_box_excludes(&r->columns[t].box, batch->x + good * batch->shape.d);
  double truth = columns_truth(&r->columns[t], batch->truth[i * r->opened.n + t]);
  enum gpnn_status status = columns_write_row(&r->columns[t], &r->sink, truth, &prediction, err);
  return status == GPNN_OK ? joint_write_draws(r, batch, t, good, err) : status;
}

/* Writes row 'i', whose prediction is entry 'good' (SIZE_MAX: none). */
static enum gpnn_status write_row(struct run *r, const struct batch *batch, size_t i, size_t good,
                                  struct carry_cursor *at, struct gpnn_error *err)
{
  r->sink.at_start = true;
  enum gpnn_status status = source_write_row(&r->source, batch, i, at, &r->sink, err);
  for (size_t t = 0; t < r->opened.n && status == GPNN_OK; t++)
    status = r->classes[t].n > 0 ? classes_write_row(&r->classes[t], &r->columns[t], &r->sink,
                                                     batch, t, i, good, err)
                                 : write_number(r, batch, t, i, good, err);
  return status == GPNN_OK ? gpnn_output_text(r->sink.output, "\n", err) : status;
}

static enum gpnn_status write_batch(void *run, size_t slot, struct gpnn_error *err)
{
  struct run *r = run;
  const struct batch *batch = &r->batches[slot];
  struct carry_cursor at = {0};
  enum gpnn_status status = GPNN_OK;
  size_t good = 0;
  if (r->a->group != NULL) return joint_write_groups(r, batch, err);
  for (size_t i = 0; i < batch->n_rows && status == GPNN_OK; i++)
    status = write_row(r, batch, i, batch->is_good[i] ? good++ : SIZE_MAX, &at, err);
  if (status == GPNN_OK && r->a->resumes) return resume_note(r, batch->n_rows, err);
  return status == GPNN_OK ? gpnn_output_flush(r->sink.output, err) : status;
}

static void interrupt_reading(void *run)
{
  struct run *r = run;
  if (r->source.table != NULL) gpnn_input_interrupt(gpnn_table_input(r->source.table));
}

/* With one thread the stages run in turn.  So they do for small batches, because handing those from
 * thread to thread would take longer than reading them, while somebody waits for each answer. */
static enum gpnn_status predict_batches(struct run *r, struct gpnn_error *err)
{
  enum { SMALL_BATCH = 64 };
  const struct gpnn_pipeline pipeline = {
      {read_batch, predict_batch, write_batch}, interrupt_reading, r};
  bool overlap = r->cli->threads > 1 && r->a->batch >= SMALL_BATCH && !r->a->needs_all;
  enum gpnn_status status = GPNN_OK;
  if (overlap && r->source.table != NULL)
    status = gpnn_input_allow_interrupt(gpnn_table_input(r->source.table), err);
  return status == GPNN_OK ? gpnn_pipeline_run(&pipeline, overlap, err) : status;
}

/* ---- the tool ----------------------------------------------------------------------------- */

/* Completes the columns of target 't', which is number 'channel' of 'together'. */
static void set_columns(struct run *r, size_t t, const struct together *together, size_t channel)
{
  r->columns[t] = (struct columns){.plan = &r->a->plan,
                                   .channel = &r->opened.channels[t],
                                   .has_truth = source_has_truth(&r->source, t),
                                   .is_in_sample = r->a->complete == PREDICT_ALL_CELLS,
                                   .always_scored = r->a->loo,
                                   .is_of_sums = r->a->group != NULL,
                                   .is_one_of_several = r->opened.n > 1,
                                   .flags_far = r->a->flags_far};
  if (r->classes[t].n > 0) return;
  columns_complete(&r->columns[t], together->forecaster.numbers, channel, r->cli);
  r->source.shape.has_scores = r->source.shape.has_scores || r->columns[t].has_scores;
}

/* Finds the boxes of the grids that --flag-outside is about. */
static enum gpnn_status find_boxes(struct run *r, struct gpnn_error *err)
{
  for (size_t t = 0; t < r->opened.n && r->a->flags_outside; t++) {
    enum gpnn_status status = gpnn_tucker_box_of(&r->columns[t].box, &r->opened.channels[t], err);
    if (status == GPNN_EMISMATCH)
      return gpnn_fail(err, GPNN_EINVAL,
                       "--flag-outside is for a model of gpnn-tucker, which has a grid to lie "
                       "outside of; %s is none",
                       gpnn_index_path(r->opened.index));
    if (status != GPNN_OK) return status;
    r->columns[t].flags_outside = true;
  }
  return GPNN_OK;
}

/* GPNN_EINVAL: an option is given that is about training rows, and there are none. */
static enum gpnn_status check_file(const struct run *r, struct gpnn_error *err)
{
  bool is_model = r->opened.dataset->stored != NULL;
  const char *misplaced = is_model ? cli_misplaced(r->cli, CLI_OF_INDEX) : NULL;
  if (misplaced == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL, "--%s is for an index: %s has no neighbours to predict from",
                   misplaced, gpnn_index_path(r->opened.index));
}

/* Makes the models, the predictors and the columns. */
static enum gpnn_status open_predictors(struct run *r, struct gpnn_error *err)
{
  size_t n = r->opened.n;
  r->columns = calloc(n, sizeof *r->columns);
  r->classes = calloc(n, sizeof *r->classes);
  r->counts = calloc(n, sizeof *r->counts);
  if (r->columns == NULL || r->classes == NULL || r->counts == NULL)
    return gpnn_fail_memory(err, "for the targets");
  enum gpnn_status status = classes_init(r->classes, r->cli, r->a, &r->opened, err);
  if (status == GPNN_OK)
    status = together_new(&r->together, &r->n_together, r->cli, r->a, &r->opened, err);
  if (status == GPNN_OK) status = joint_check_targets(r, err);
  for (size_t i = 0; i < r->n_together && status == GPNN_OK; i++)
    for (size_t c = 0; c < r->together[i].n; c++)
      set_columns(r, r->together[i].first + c, &r->together[i], c);
  return status == GPNN_OK ? find_boxes(r, err) : status;
}

static enum gpnn_status prepare(struct run *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status = GPNN_OK;
  r->opened.targets = r->a->targets;
  r->opened.maker = r->a->maker;
  if (!r->a->loo && r->a->complete == PREDICT_TABLE)
    status = open_check_order(cli_operand(cli, 0), cli_operand(cli, 1), err);
  if (status == GPNN_OK)
    status = open_files(cli, cli_operand(cli, 0), r->a->params, false, &r->opened, err);
  if (status == GPNN_OK && r->a->loo)
    status = open_refuse_grid(r->opened.index, "--loo is for an index of rows", err);
  if (status == GPNN_OK && r->a->loo)
    status = open_refuse_model(r->opened.index, "--loo is for an index", err);
  if (status == GPNN_OK) status = check_file(r, err);
  if (status == GPNN_OK) status = checks_distances(r, err);
  if (status == GPNN_OK) status = grid_check(r, err);
  if (status == GPNN_OK) status = source_open(&r->source, cli, r->a, &r->opened, err);
  if (status == GPNN_OK) status = gpnn_drift_init(&r->drift, r->opened.dataset, err);
  if (status == GPNN_OK) status = open_predictors(r, err);
  if (status != GPNN_OK) return status;
  r->sink.delimiter = source_delimiter(&r->source);
  r->sink.na = cli->na;
  if (gpnn_npy_text_is_wanted(cli->output)) r->sink.delimiter = '\t'; /* is part of no number */
  const struct gpnn_npy_text_format format = {
      .delimiter = r->sink.delimiter, .has_header = true, .na = r->sink.na};
  if (r->a->resumes) return resume_open(r, err);
  status = cli_open_output(cli->output, &r->sink.output, err);
  return status == GPNN_OK ? cli_follow_name(r->sink.output, cli->output, &format, err) : status;
}

/* Warns if many rows of the table are training rows.  The distances to the nearest say whether that
 * is worth a look at all of these. */
static enum gpnn_status warn_of_training_rows(const struct run *r, struct gpnn_error *err)
{
  const double suspicious = 0.1;
  size_t telling = telling_target(r);
  bool has_truth = source_has_truth(&r->source, telling);
  const struct gpnn_dataset rows = rows_of_target(r, telling);
  struct gpnn_copies_report report;
  const struct gpnn_counts *counts = &r->counts[telling];
  if (r->a->loo || !has_training_rows(r) ||
      (double)counts->n_upon <= suspicious * (double)counts->n_rows)
    return GPNN_OK;
  enum gpnn_status status = gpnn_copies_count(&r->copies, &rows, has_truth, &report, err);
  if (status != GPNN_OK || !gpnn_copies_exceed_chance(&report)) return status;
  cli_warn(r->cli,
           "%s: %zu of %s%zu rows %s training rows: their scores say nothing about new rows; use "
           "--loo, or set rows aside with gpnn-split",
           gpnn_table_name(r->source.table), report.n_copies,
           report.n == GPNN_COPIES_ROWS || r->a->part != NULL ? "the first " : "", report.n,
           has_truth ? "are" : "have the inputs of");
  return GPNN_OK;
}

/* Reports anything unusual about the predictions of a target. */
static void report_target(const struct run *r, size_t t)
{
  const struct gpnn_parameters *parameters = &r->opened.parameters[t];
  struct cli about = *r->cli;
  if (r->opened.n > 1) about.target = parameters->target;
  report_counts(&about, &r->counts[t]);
  report_distances(&about, &r->counts[t], &parameters->calibration);
}

static enum gpnn_status report(const struct run *r, struct gpnn_error *err)
{
  source_report(&r->source, r->n_done);
  checks_report(r);
  for (size_t t = 0; t < r->opened.n; t++) report_target(r, t);
  if (r->opened.dataset->grid != NULL)
    grid_report(r);
  else if (r->opened.dataset->stored != NULL)
    cli_note(r->cli, "%zu rows", r->n_done);
  else
    cli_note(r->cli, "%zu rows, %zu neighbours each", r->n_done,
             gpnn_model_neighbours(r->together->model, 0));
  return warn_of_training_rows(r, err);
}

static void release(struct run *r)
{
  together_free(r->together, r->n_together);
  gpnn_copies_release(&r->copies);
  gpnn_drift_release(&r->drift);
  free(r->columns);
  for (size_t t = 0; r->classes != NULL && t < r->opened.n; t++) classes_release(&r->classes[t]);
  free(r->classes);
  free(r->counts);
  for (size_t i = 0; i < GPNN_PIPELINE_SLOTS; i++) batch_release(&r->batches[i]);
  source_release(&r->source);
  free(r->told);
  open_release(&r->opened);
}

enum gpnn_status predict_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct run r = {.cli = cli, .a = arguments};
  enum gpnn_status status = prepare(&r, err);
  if (status == GPNN_OK) status = write_header(&r, err);
  if (status == GPNN_OK) status = predict_batches(&r, err);
  if (status == GPNN_OK && r.a->part != NULL) status = parts_join(&r, err);
  /* What runs this tool may run it again for rows that are far, which then tells of drift. */
  if (status == GPNN_OK && r.a->names) status = checks_rows(&r, err);
  if (status == GPNN_OK) status = checks_drift(&r, err);
  if (status == GPNN_OK && !r.a->names) status = checks_rows(&r, err);
  if (status == GPNN_OK) status = report(&r, err);
  status =
      r.a->resumes ? resume_finish(&r, status, err) : cli_close_output(r.sink.output, status, err);
  release(&r);
  return status;
}
