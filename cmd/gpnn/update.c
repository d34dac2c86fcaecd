#include "cmd/gpnn/update.h"

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
#include "cmd/common/signals.h"
#include "cmd/common/table.h"
#include "cmd/gpnn/findings.h"
#include "cmd/gpnn/steps.h"

enum { FEW_HELD_OUT = 200 }; /* calibration then has to estimate anyway */

/* ---- options ------------------------------------------------------------------------------- */

bool update_resolve(const struct cli *cli)
{
  static const char *const allowed[] = {"update", "threads",  "memory", "seed",   "progress",
                                        "effort", "skip-bad", "quiet",  "verbose"};
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
  const char *model, *table;
  const struct files *files; /* unfinished */
};

/* Begins a command with the options that all of them share. */
static void begin(const struct job *job, struct command *command, const char *tool)
{
  command_add(command, tool);
  for (size_t i = 0; i < job->cli->n_as_given; i++) {
    const struct cli_given *given = &job->cli->as_given[i];
    bool is_shared = strcmp(given->option->name, "threads") == 0 ||
                     strcmp(given->option->name, "memory") == 0 ||
                     strcmp(given->option->name, "verbose") == 0;
    bool is_of_fit =
        strcmp(given->option->name, "effort") == 0 || strcmp(given->option->name, "seed") == 0;
    if (is_shared || (is_of_fit && strcmp(tool, "gpnn-fit") == 0))
      command_add_option(command, given->option, given->text);
  }
}

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
  begin(job, &command, "gpnn-predict");
  command_add(&command, "-q");
  command_add(&command, "--names");
  command_add(&command, "--skip-bad");
  command_add_file(&command, job->model);
  command_add_file(&command, job->table);
  return finish(&command, STEP_PREDICT, job->files->predictions, err);
}

static enum gpnn_status add(const struct job *job, struct gpnn_error *err)
{
  struct command command = {0};
  begin(job, &command, "gpnn-index");
  if (job->cli->quiet) command_add(&command, "-q");
  if (cli_given(job->cli, "skip-bad")) command_add(&command, "--skip-bad");
  command_add(&command, "--add");
  command_add_file(&command, job->table);
  command_add_file(&command, job->model);
  return finish(&command, STEP_INDEX, job->files->index, err);
}

static enum gpnn_status fit(const struct job *job, struct gpnn_error *err)
{
  struct command command = {0};
  begin(job, &command, "gpnn-fit");
  command_add(&command, "-q");
  command_add(&command, "--start");
  command_add_file(&command, job->model);
  command_add_file(&command, job->files->index);
  return finish(&command, STEP_FIT, job->files->fitted, err);
}

static enum gpnn_status calibrate(const struct job *job, bool is_fitted, struct gpnn_error *err)
{
  struct command command = {0};
  begin(job, &command, "gpnn-calibrate");
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
  begin(job, &command, "gpnn-index");
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
  double p = classes->error;
  return (struct score){p, sqrt(p * (1 - p) / (double)classes->n)};
}

/* Compares the predictions of one target with what its held-out rows let expect: 'worst' becomes
 * the largest excess in standard errors, and 'why' says of what. */
static void compare(const struct findings *f, size_t t, double *worst, char *why, size_t room)
{
  static const double least = 0.01; /* a difference worth an estimation */
  const struct gpnn_scored_target *scored = &f->scored.targets[t];
  const struct gpnn_expected *expected = &f->outlooks[t].expected;
  if (!f->outlooks[t].is_known || scored->n_scored < 2) return;
  struct score now = score_of(&scored->scores, &scored->classes, expected->of_classes);
  struct score was = score_of(&expected->scores, &expected->classes, expected->of_classes);
  double excess = now.value - was.value, error = hypot(now.error, was.error);
  double z = excess > least && error > 0 ? excess / error : fmin(excess, 0);
  if (t > 0 && z <= *worst) return;
  *worst = z;
  snprintf(why, room, "%s of %zu new rows %.4g, where %.4g was expected",
           expected->of_classes ? "error" : "NLL", scored->n_scored, now.value, was.value);
}

/* Whether to estimate again, and why or why not. */
static enum gpnn_status decide(const struct job *job, bool *fits, char *why, size_t room,
                               struct gpnn_error *err)
{
  static const double chance = 3; /* standard errors */
  struct findings findings = {0};
  struct places places = {.train = job->table, .test = job->table, .working = *job->files};
  char scores[160] = "no new row could be scored";
  double worst = 0;
  places.working.index = gpnn_copy_text(job->model, strlen(job->model));
  places.working.params = NULL; /* those inside */
  enum gpnn_status status = places.working.index == NULL
                                ? gpnn_fail_memory(err, "for the names of files")
                                : findings_gather(&findings, job->cli, &places, err);
  for (size_t t = 0; t < findings.opened.n && status == GPNN_OK; t++)
    compare(&findings, t, &worst, scores, sizeof scores);
  if (status == GPNN_OK) {
    size_t held_out = gpnn_index_dataset(findings.opened.index)->n_calibration;
    bool is_worse = worst > chance, are_few = held_out < FEW_HELD_OUT;
    *fits = is_worse || are_few;
    snprintf(why, room, "%s: %s", scores,
             is_worse  ? "worse than by chance, so parameters are estimated again"
             : are_few ? "parameters are estimated again, as few rows are held out to judge them by"
                       : "not worse than by chance, so parameters stay and are calibrated");
  }
  findings_release(&findings);
  free(places.working.index);
  return status;
}

/* ---- the work ------------------------------------------------------------------------------ */

static enum gpnn_status run(const struct job *job, struct gpnn_error *err)
{
  bool fits = false;
  char why[400] = "";
  enum gpnn_status status = predict(job, err);
  if (status == GPNN_OK) status = decide(job, &fits, why, sizeof why, err);
  if (status == GPNN_OK) status = add(job, err);
  if (status == GPNN_OK && fits) status = fit(job, err);
  if (status == GPNN_OK) status = calibrate(job, fits, err);
  if (status == GPNN_OK) status = replace(job, err);
  if (status == GPNN_OK) cli_say(job->cli, "%s: %s", job->model, why);
  return status;
}

enum gpnn_status update(const struct cli *cli, const char *model, const char *table,
                        struct gpnn_error *err)
{
  struct places places = {0};
  int fd = -1;
  if (!table_can_reread(table))
    return gpnn_fail(err, GPNN_EINVAL, "%s: is read twice, so it has to be a file", table);
  if (!gpnn_index_has_parameters(model) || gpnn_index_is_model(model))
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: is not a model that gpnn keeps", model);
  enum gpnn_status status = lock(model, &fd, err);
  if (status == GPNN_OK) status = places_open(&places, table, NULL, model, "-", NULL, err);
  if (status == GPNN_OK) status = run(&(struct job){cli, model, table, &places.working}, err);
  places_close(&places);
  if (fd >= 0) close(fd);
  return status;
}
