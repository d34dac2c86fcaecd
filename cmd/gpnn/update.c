#include "cmd/gpnn/workflow.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/common/json.h"
#include "cmd/common/signals.h"
#include "cmd/common/table.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/forget.h"
#include "cmd/gpnn/steps.h"
#include "container/state.h"
#include "dataset/training/grown.h"
#include "kernel/effects.h"
#include "stats/scores/coverage.h"

/* ---- options ------------------------------------------------------------------------------- */

bool update_resolve(const struct cli *cli)
{
  static const char *const allowed[] = {"update",   "forget",   "threads", "memory",
                                        "seed",     "progress", "effort",  "json",
                                        "skip-bad", "quiet",    "verbose"};
  if (cli->n_operands > 1)
    return cli_refuse(cli, "--update takes one table, whose rows are added to the model");
  for (size_t i = 0; i < cli->n_as_given; i++) {
    bool is_allowed = false;
    for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++)
      is_allowed = is_allowed || strcmp(cli->as_given[i].option->name, allowed[k]) == 0;
    if (!is_allowed)
      return cli_refuse(cli,
                        "--update keeps all that the model was made with, so --%s does not "
                        "apply",
                        cli->as_given[i].option->name);
  }
  return true;
}

/* ---- the lock ------------------------------------------------------------------------------ */

/* Locks the file that 'path' names, which it may do no more once the lock is there, if another
 * update has replaced it: then the new one.  Steps inherit the lock, so that it lasts as long as
 * one of them, whatever becomes of this program. */
static enum gpnn_status lock(const char *path, int *fd, struct gpnn_error *err)
{
  struct stat locked, named;
  for (;;) {
    *fd = open(path, O_RDONLY);
    if (*fd < 0) return gpnn_fail_errno(err, errno, "%s: cannot be opened", path);
    while (flock(*fd, LOCK_EX) != 0)
      if (errno != EINTR) return gpnn_fail_errno(err, errno, "%s: cannot be locked", path);
    if (fstat(*fd, &locked) == 0 && stat(path, &named) == 0 && locked.st_dev == named.st_dev &&
        locked.st_ino == named.st_ino)
      return GPNN_OK;
    close(*fd);
  }
}

/* ---- steps --------------------------------------------------------------------------------- */

/* An update while it is made. */
struct job {
  const struct cli *cli;
  const char *model, *table, *forget; /* the last may be NULL */
  const struct places *places;        /* of what is unfinished */
  const struct files *files;
};

static enum gpnn_status finish(struct command *command, enum step step, const char *output,
                               struct gpnn_error *err)
{
  command_add(command, "-o");
  command_add_file(command, output);
  enum gpnn_status status = steps_run_command(command, step, -1, err);
  command_release(command);
  return status;
}

static enum gpnn_status predict(const struct job *job, struct gpnn_error *err)
{
  struct command command = {0};
  steps_begin(job->cli, STEP_PREDICT, &command);
  command_add(&command, "-q");
  command_add(&command, "--names");
  command_add(&command, "--skip-bad");
  command_add_file(&command, job->model);
  command_add_file(&command, job->table);
  return finish(&command, STEP_PREDICT, job->files->predictions, err);
}

static enum gpnn_status add(const struct job *job, const char *forget, struct gpnn_error *err)
{
  struct command command = {0};
  steps_begin(job->cli, STEP_INDEX, &command);
  if (job->cli->report != NULL) command_add(&command, "-q");
  if (forget != NULL) {
    command_add(&command, "--forget");
    command_add(&command, forget);
  }
  command_add(&command, "--add");
  command_add_file(&command, job->table);
  command_add_file(&command, job->model);
  return finish(&command, STEP_INDEX, job->files->index, err);
}

/* What is to become of the parameters. */
struct decision {
  bool fits, starts;               /* again, and from what they are */
  bool have_weights;               /* of rows */
  enum gpnn_likelihood likelihood; /* that they have now */
  enum gpnn_inference inference;
  size_t n_forgotten; /* old rows that are better left out */
  char why[500];
};

/* Appends what the parameters were estimated under, where somebody chose it. */
static void add_choices(struct command *command, const struct decision *decision)
{
  static const char *const likelihood[] = {[GPNN_LIKELIHOOD_GAUSSIAN] = "--likelihood=gaussian",
                                           [GPNN_LIKELIHOOD_STUDENT] = "--likelihood=student",
                                           [GPNN_LIKELIHOOD_LOCAL] = NULL,
                                           [GPNN_LIKELIHOOD_CATEGORICAL] = NULL,
                                           [GPNN_LIKELIHOOD_POISSON] = "--likelihood=poisson",
                                           [GPNN_LIKELIHOOD_NEGBIN] = "--likelihood=negbin"};
  const char *chosen = likelihood[decision->likelihood];
  if (chosen != NULL) command_add(command, chosen);
  if (decision->inference == GPNN_INFERENCE_POLYA_GAMMA)
    command_add(command, "--inference=polya-gamma");
  if (decision->have_weights) command_add(command, "--row-weights=yes");
}

static enum gpnn_status fit(const struct job *job, const struct decision *decision,
                            struct gpnn_error *err)
{
  struct command command = {0};
  steps_begin(job->cli, STEP_FIT, &command);
  command_add(&command, "-q");
  add_choices(&command, decision);
  if (decision->starts) {
    command_add(&command, "--start");
    command_add_file(&command, job->model);
  }
  command_add_file(&command, job->files->index);
  return finish(&command, STEP_FIT, job->files->fitted, err);
}

static enum gpnn_status calibrate(const struct job *job, bool is_fitted, struct gpnn_error *err)
{
  struct command command = {0};
  steps_begin(job->cli, STEP_CALIBRATE, &command);
  command_add(&command, "-q");
  if (is_fitted) {
    command_add(&command, "-p");
    command_add_file(&command, job->files->fitted);
  }
  command_add_file(&command, job->files->index);
  return finish(&command, STEP_CALIBRATE, job->files->params, err);
}

static enum gpnn_status replace(const struct job *job, struct gpnn_error *err)
{
  struct command command = {0};
  command_add(&command, "gpnn-index");
  command_add(&command, "--pack");
  command_add_file(&command, job->files->params);
  command_add_file(&command, job->files->index);
  return finish(&command, STEP_INDEX, job->model, err);
}

/* ---- the decision -------------------------------------------------------------------------- */

/* Scores of some rows and their standard error. */
struct score {
  double value, error;
};

static struct score score_of(const struct gpnn_metrics_result *numbers,
                             const struct gpnn_classification_result *classes, bool of_classes)
{
  if (!of_classes) return (struct score){numbers->nll, numbers->nll_error};
  return (struct score){classes->error, gpnn_coverage_se(classes->error, classes->n)};
}

/* The target whose new rows were predicted worst, by what held-out rows let expect. */
struct worst {
  size_t n; /* rows that could be scored; 0: none, of no target */
  size_t target;
  bool of_classes;
  double now, was, z; /* scores, and how much worse in standard errors */
  double rank;        /* the same, or 0 if the difference is not worth an estimation */
};

/* Compares the predictions of one target. */
static void compare(const struct findings *f, size_t t, struct worst *worst)
{
  static const double least = 0.01; /* a difference worth an estimation */
  const struct gpnn_scored_target *scored = &f->scored.targets[t];
  const struct gpnn_expected *expected = &f->outlooks[t].expected;
  if (!f->outlooks[t].is_known || scored->n_scored < 2) return;
  struct score now = score_of(&scored->scores, &scored->classes, expected->of_classes);
  struct score was = score_of(&expected->scores, &expected->classes, expected->of_classes);
  double excess = now.value - was.value, error = hypot(now.error, was.error);
  double z = error > 0 ? excess / error : 0, rank = excess > least ? z : fmin(z, 0);
  if (worst->n > 0 && rank <= worst->rank) return;
  *worst = (struct worst){scored->n_scored, t, expected->of_classes, now.value, was.value, z, rank};
}

/* True if it is to be found out how many old rows to forget. */
static bool is_automatic(const struct job *job)
{
  return job->forget != NULL && strcmp(job->forget, "auto") == 0;
}

/* As JSON, if it is asked for. */
static void report_decision(const struct job *job, const struct findings *f,
                            const struct worst *worst, const struct decision *decision)
{
  struct json *json = job->cli->report;
  const struct gpnn_dataset *rows = gpnn_index_dataset(f->opened.index);
  if (json == NULL) return;
  json_text(json, "model", job->model);
  json_count(json, "rows-before", rows->n);
  json_count(json, "calibration-rows-before", rows->n_calibration);
  json_count(json, "scored-rows", worst->n);
  json_text(json, "score", worst->of_classes ? "error" : "nll");
  json_number(json, "value", worst->now);
  json_number(json, "expected", worst->was);
  json_number(json, "standard-errors", worst->z);
  json_flag(json, "estimated-again", decision->fits);
  json_text(json, "reason", decision->why);
  if (is_automatic(job)) json_count(json, "forgotten-rows", decision->n_forgotten);
}

/* What follows from the scores, in words.  Parameters of several targets are no start to estimate
 * from; those with numbers for each row are of no use for others. */
static const char *consequence(bool is_worse, bool are_few, bool is_single, bool of_rows)
{
  if (of_rows)
    return is_worse ? "worse than by chance; parameters are estimated again, as they have numbers "
                      "for each row"
                    : "parameters are estimated again, as they have numbers for each row";
  if (is_worse && !is_single)
    return "worse than by chance, but parameters of several targets stay and are calibrated: make "
           "the model anew";
  if (is_worse) return "worse than by chance, so parameters are estimated again";
  if (are_few && is_single)
    return "parameters are estimated again, as few rows are held out to judge them by";
  return "not worse than by chance, so parameters stay and are calibrated";
}

/* How the parameters were estimated, which is that of counts if some target has them, and whether
 * they can be where the next estimation starts: neither those of several targets nor effects of
 * groups can. */
static void look_at(const struct opened *opened, struct decision *decision)
{
  const struct gpnn_parameters *first = opened->parameters;
  bool have_effects = gpnn_dataset_has_effects(opened->dataset);
  decision->starts = opened->n == 1 && !have_effects;
  decision->likelihood = first->likelihood;
  decision->inference = first->inference;
  for (size_t t = 0; t < opened->n; t++) {
    const struct gpnn_parameters *own = &opened->parameters[t];
    const char *target = opened->channels[t].dataset->schema.target.name;
    if (gpnn_likelihood_is_of_counts(own->likelihood))
      decision->likelihood = own->likelihood;
    else if (opened->state != NULL &&
             gpnn_state_find(opened->state, target, GPNN_STATE_NOISE) != NULL)
      decision->have_weights = true;
  }
}

/* Finds out whether old rows are better forgotten. */
static enum gpnn_status look_back(const struct job *job, const struct findings *findings,
                                  const struct worst *worst, const char *scores,
                                  struct decision *decision, struct gpnn_error *err)
{
  const struct opened *opened = &findings->opened;
  const struct gpnn_dataset *rows = gpnn_index_dataset(opened->index);
  size_t n = rows->n + rows->n_calibration, kept = n;
  const char **names = gpnn_alloc(opened->n, 1, sizeof *names);
  if (names == NULL) return gpnn_fail_memory(err, "for the targets");
  for (size_t t = 0; t < opened->n; t++) names[t] = opened->channels[t].dataset->schema.target.name;
  const struct forget_trial trial = {.cli = job->cli,
                                     .model = job->model,
                                     .table = job->table,
                                     .before = job->files->predictions,
                                     .index = job->places->other.index,
                                     .predictions = job->places->page.predicted,
                                     .n_rows = n,
                                     .n_targets = opened->n,
                                     .target = worst->target,
                                     .names = names};
  enum gpnn_status status = forget_find(&trial, &kept, err);
  decision->n_forgotten = n - kept;
  free(names);
  if (status != GPNN_OK || kept == n) return status;
  decision->fits = decision->starts;
  snprintf(decision->why, sizeof decision->why,
           "%s: the newest %zu of %zu rows predict better, so the others are forgotten, and "
           "parameters are %s",
           scores, kept, n, decision->fits ? "estimated again" : "calibrated");
  return status;
}

/* Whether to estimate again, and why or why not. */
static enum gpnn_status decide(const struct job *job, struct decision *decision,
                               struct gpnn_error *err)
{
  static const double chance = 3; /* standard errors */
  struct findings findings = {0};
  struct places places = {.train = job->table, .test = job->table, .working = *job->files};
  char scores[160] = "fewer than two new rows could be scored";
  struct worst worst = {.now = NAN, .was = NAN};
  places.working.index = gpnn_copy_text(job->model, strlen(job->model));
  places.working.params = NULL; /* those inside */
  enum gpnn_status status = places.working.index == NULL
                                ? gpnn_fail_memory(err, "for the names of files")
                                : findings_gather(&findings, job->cli, &places, err);
  for (size_t t = 0; t < findings.opened.n && status == GPNN_OK; t++) compare(&findings, t, &worst);
  if (worst.n > 0)
    snprintf(scores, sizeof scores, "%s of %zu new rows %.4g, where %.4g was expected",
             worst.of_classes ? "error" : "NLL", worst.n, worst.now, worst.was);
  if (status == GPNN_OK) {
    /* Where few are held out, calibration has to estimate anyway. */
    bool are_few = !gpnn_dataset_holds_out_enough(gpnn_index_dataset(findings.opened.index));
    bool is_worse = worst.rank > chance;
    bool is_single = findings.opened.n == 1, of_rows = findings.opened.state != NULL;
    look_at(&findings.opened, decision);
    decision->fits = of_rows || (is_single && (is_worse || are_few));
    snprintf(decision->why, sizeof decision->why, "%s: %s", scores,
             consequence(is_worse, are_few, is_single, of_rows));
    if (is_automatic(job) && worst.n > 0 && !of_rows)
      status = look_back(job, &findings, &worst, scores, decision, err);
  }
  if (status == GPNN_OK) report_decision(job, &findings, &worst, decision);
  findings_release(&findings);
  free(places.working.index);
  return status;
}

/* ---- the work ------------------------------------------------------------------------------ */

/* Refuses a model whose rows cannot be added to. */
static enum gpnn_status check(const char *model, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, model, false, err);
  if (status != GPNN_OK) return status;
  status = gpnn_grown_check(gpnn_index_dataset(index), err);
  gpnn_index_close(index);
  return status == GPNN_OK ? GPNN_OK : gpnn_prefix(err, status, "%s", model);
}

/* As JSON, if it is asked for: how many rows there are now. */
static enum gpnn_status report_rows(const struct job *job, struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  if (job->cli->report == NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_index_open(&index, job->files->index, false, err);
  if (status != GPNN_OK) return status;
  json_count(job->cli->report, "rows", gpnn_index_dataset(index)->n);
  json_count(job->cli->report, "calibration-rows", gpnn_index_dataset(index)->n_calibration);
  gpnn_index_close(index);
  return GPNN_OK;
}

static enum gpnn_status run(const struct job *job, struct gpnn_error *err)
{
  struct decision decision = {0};
  char found[24];
  enum gpnn_status status = predict(job, err);
  if (status == GPNN_OK) status = decide(job, &decision, err);
  snprintf(found, sizeof found, "%zu", decision.n_forgotten);
  const char *forget = !is_automatic(job) ? job->forget : decision.n_forgotten > 0 ? found : NULL;
  if (status == GPNN_OK) status = add(job, forget, err);
  if (status == GPNN_OK && decision.fits) status = fit(job, &decision, err);
  if (status == GPNN_OK) status = calibrate(job, decision.fits, err);
  if (status == GPNN_OK) status = report_rows(job, err);
  if (status == GPNN_OK) status = replace(job, err);
  if (status == GPNN_OK) cli_say(job->cli, "%s: %s", job->model, decision.why);
  return status;
}

enum gpnn_status update(const struct cli *cli, const char *model, const char *table,
                        const char *forget, struct gpnn_error *err)
{
  struct places places = {0};
  int fd = -1;
  if (!table_can_reread(table))
    return gpnn_fail(err, GPNN_EINVAL, "%s: is read twice, so it has to be a file", table);
  if (access(model, R_OK) != 0) return gpnn_fail_errno(err, errno, "%s: cannot be opened", model);
  if (!gpnn_index_has_parameters(model) || gpnn_index_is_model(model))
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: is not a model that gpnn keeps", model);
  enum gpnn_status status = lock(model, &fd, err);
  if (status == GPNN_OK) status = check(model, err);
  if (status == GPNN_OK) status = places_open(&places, table, NULL, model, "-", NULL, err);
  if (status == GPNN_OK)
    status = run(&(struct job){cli, model, table, forget, &places, &places.working}, err);
  places_close(&places);
  if (fd >= 0) close(fd);
  return status;
}
