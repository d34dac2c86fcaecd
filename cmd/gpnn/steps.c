#include "cmd/gpnn/steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "cmd/common/shell.h"
#include "cmd/common/signals.h"

/* ---- commands -------------------------------------------------------------------------------- */

/* Appends a word made of two parts. */
static void add(struct command *c, const char *first, const char *second)
{
  size_t length = strlen(first) + strlen(second) + 1;
  char *word = malloc(length);
  c->failed =
      c->failed || word == NULL || !gpnn_grow(&c->words, &c->capacity, c->n + 2, sizeof *c->words);
  if (c->failed) {
    free(word);
    return;
  }
  snprintf(word, length, "%s%s", first, second);
  c->words[c->n++] = word;
  c->words[c->n] = NULL;
}

void command_add(struct command *command, const char *word)
{
  add(command, word, "");
}

void command_add_words(struct command *command, const char *const *words)
{
  for (; *words != NULL; words++) command_add(command, *words);
}

void command_add_option(struct command *command, const struct cli_option *option, const char *text)
{
  const char letter[] = {'-', option->letter, '\0'};
  char name[80];
  snprintf(name, sizeof name, "--%s%s", option->name, text == NULL ? "" : "=");
  if (option->letter == 0) {
    add(command, name, text == NULL ? "" : text);
    return;
  }
  command_add(command, letter);
  if (text != NULL) command_add(command, text);
}

void command_add_file(struct command *command, const char *path)
{
  add(command, path[0] == '-' && path[1] != '\0' ? "./" : "", path);
}

enum gpnn_status command_check(const struct command *command, struct gpnn_error *err)
{
  return command->failed ? gpnn_fail_memory(err, "for a command") : GPNN_OK;
}

char *command_line(const struct command *command)
{
  char *line = NULL;
  size_t length;
  FILE *to = open_memstream(&line, &length);
  if (to == NULL) return NULL;
  for (size_t i = 0; i < command->n; i++) {
    if (i > 0) fputc(' ', to);
    shell_print_word(command->words[i], to);
  }
  if (fclose(to) == 0) return line;
  free(line);
  return NULL;
}

void command_release(struct command *command)
{
  for (size_t i = 0; i < command->n; i++) free(command->words[i]);
  free(command->words);
  *command = (struct command){0};
}

/* ---- steps ----------------------------------------------------------------------------------- */

extern char **environ;

static const char *const names[STEPS] = {"index", "fit", "calibrate", "predict"};

const char *steps_name(enum step step)
{
  return names[step];
}

/* ---- options ------------------------------------------------------------------------------ */

enum {
  INDEX = 1 << STEP_INDEX,
  FIT = 1 << STEP_FIT,
  CALIBRATE = 1 << STEP_CALIBRATE,
  PREDICT = 1 << STEP_PREDICT,
  ALL = INDEX | FIT | CALIBRATE | PREDICT
};

/* Which steps an option is handed on to, as it was given.  A new option of a step needs a row here
 * and one in the table of options. */
static const struct {
  const char *name;
  unsigned steps;
} routes[] = {
    {"target", INDEX},
    {"classes", INDEX},
    {"inputs", INDEX},
    {"drop", INDEX},
    {"one-hot", INDEX},
    {"coded", INDEX},
    {"ordered", INDEX},
    {"group-effect", INDEX},
    {"date", INDEX},
    {"period", INDEX},
    {"geo", INDEX},
    {"offset", INDEX},
    {"by", INDEX},
    {"id", INDEX},
    {"regressors", INDEX},
    {"row-noise", INDEX},
    {"exposure", INDEX},
    {"calibration-rows", INDEX},
    {"missing", INDEX},
    {"skip-bad", INDEX},
    {"unique", INDEX},
    {"neighbours", INDEX | FIT},
    {"budget", FIT},
    {"effort", FIT},
    {"kernel", FIT},
    {"ard", FIT},
    {"likelihood", FIT},
    {"transform", FIT},
    {"like", FIT | CALIBRATE},
    {"atom", CALIBRATE},
    {"interval", PREDICT},
    {"max-distance", PREDICT},
    {"beyond", PREDICT},
    {"keep", PREDICT},
    {"append", PREDICT},
    {"fail-on-na", PREDICT},
    {"fail-on-far", PREDICT},
    {"delimiter", INDEX | PREDICT},
    {"no-header", INDEX | PREDICT},
    {"skip-lines", INDEX | PREDICT},
    {"na", INDEX | PREDICT},
    {"decimal", INDEX | PREDICT},
    {"thousands", INDEX | PREDICT},
    {"strip", INDEX | PREDICT},
    {"comment", INDEX | PREDICT},
    {"seed", ALL},
    {"threads", ALL},
    {"memory", ALL},
    {"progress", INDEX | FIT | PREDICT},
    {"quiet", ALL},
    {"verbose", ALL},
};

/* 0 for an option of gpnn's own. */
static unsigned steps_of(const char *name)
{
  for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++)
    if (strcmp(routes[i].name, name) == 0) return routes[i].steps;
  return 0;
}

const char *steps_misplaced(const struct cli *cli, bool predicts)
{
  for (size_t i = 0; i < cli->n_as_given && !predicts; i++)
    if (steps_of(cli->as_given[i].option->name) == PREDICT) return cli->as_given[i].option->name;
  return NULL;
}

/* Whether a step reads the table to predict to choose for rows like its. */
static bool imitates(const struct places *places, enum step step)
{
  return places->lies_in_gaps && (step == STEP_FIT || step == STEP_CALIBRATE);
}

static void add_tool(struct command *command, enum step step)
{
  add(command, "gpnn-", names[step]);
}

/* What both tables are written in goes to all steps that read one of them. */
static void hand_on(const struct cli *cli, enum step step, bool reads_both, struct command *command)
{
  for (size_t i = 0; i < cli->n_as_given; i++) {
    const struct cli_option *option = cli->as_given[i].option;
    unsigned steps = steps_of(option->name);
    if ((steps >> step & 1) != 0 || (reads_both && steps == (INDEX | PREDICT)))
      command_add_option(command, option, cli->as_given[i].text);
  }
}

/* ---- commands ----------------------------------------------------------------------------- */

static void add_file_option(struct command *command, const char *option, const char *path)
{
  if (path == NULL) return;
  command_add(command, option);
  command_add(command, path);
}

/* Tells where the table to predict begins. */
static void add_beginning(struct command *command, const struct cli *cli,
                          const struct beginning *begins)
{
  char lines[24];
  if (begins->no_header && cli->table.has_header) command_add(command, "--no-header");
  snprintf(lines, sizeof lines, "%zu", begins->skip_lines);
  add_file_option(command, "--skip-lines", begins->skip_lines > 0 ? lines : NULL);
}

void steps_begin(const struct cli *cli, enum step step, struct command *command)
{
  add_tool(command, step);
  hand_on(cli, step, false, command);
}

void steps_command(const struct cli *cli, const struct places *places, const struct files *files,
                   enum step step, struct command *command)
{
  add_tool(command, step);
  if (step == STEP_INDEX) command_add(command, "--auto");
  hand_on(cli, step, imitates(places, step), command);
  if (step == STEP_INDEX) add_file_option(command, "--group-effect", places->effects);
  if (step == STEP_PREDICT || imitates(places, step))
    add_beginning(command, cli, &places->test_begins);
  if (imitates(places, step)) add_file_option(command, "--like", places->test);
  if (imitates(places, step) && step == STEP_CALIBRATE) command_add(command, "--skip-bad");
  if (step == STEP_PREDICT && places->looks_for_gaps) command_add(command, "--fail-on-far=0.2");
  if (step == STEP_CALIBRATE) add_file_option(command, "-p", files->fitted);
  bool is_packed = step == STEP_PREDICT && files->model != NULL;
  if (step == STEP_PREDICT && !is_packed) {
    command_add(command, "--skip-bad");
    if (!cli_given(cli, "fail-on-na")) command_add(command, "--fail-on-na=0.5");
    add_file_option(command, "-p", files->params);
  }
  const char *const outputs[STEPS] = {files->index, files->fitted, files->params,
                                      files->predictions};
  add_file_option(command, "-o", outputs[step]);
  if (step != STEP_INDEX) command_add_file(command, is_packed ? files->model : files->index);
  if (step == STEP_INDEX) command_add_file(command, places->train);
  if (step == STEP_PREDICT) command_add_file(command, places->test);
}

void steps_pack_command(const struct files *files, struct command *command)
{
  command_add(command, "gpnn-index");
  add_file_option(command, "--pack", files->params);
  command_add(command, "--skip-bad");
  add_file_option(command, "-o", files->model);
  command_add_file(command, files->index);
}

void steps_given(const struct cli *cli, unsigned but, bool with_files, struct command *command)
{
  command_add(command, "gpnn");
  for (size_t i = 0; i < cli->n_as_given; i++)
    if ((steps_of(cli->as_given[i].option->name) & but) == 0)
      command_add_option(command, cli->as_given[i].option, cli->as_given[i].text);
  for (size_t i = 0; i < cli->n_operands && with_files; i++)
    command_add_file(command, cli->operands[i]);
}

void steps_hand_on(const struct cli *cli, const char *name, struct command *command)
{
  for (size_t i = 0; i < cli->n_as_given; i++)
    if (strcmp(cli->as_given[i].option->name, name) == 0)
      command_add_option(command, cli->as_given[i].option, cli->as_given[i].text);
}

/* Tells gpnn-index which command to show where it says what to change: that of gpnn, with its
 * options in the place of "{}". */
static void show_as(const struct cli *cli, const struct places *places, struct command *command)
{
  struct command ours = {0}, operands = {0};
  steps_given(cli, INDEX, false, &ours);
  command_add_file(&operands, places->train);
  if (places->test != NULL) command_add_file(&operands, places->test);
  char *before = command_line(&ours), *behind = command_line(&operands);
  size_t length = before == NULL || behind == NULL ? 0 : strlen(before) + strlen(behind) + 8;
  char *all = malloc(length + 1);
  command->failed = command->failed || ours.failed || operands.failed || length == 0 || all == NULL;
  if (!command->failed) {
    snprintf(all, length, "%s {} %s", before, behind);
    command_add(command, "--shown-as");
    command_add(command, all);
  }
  free(all);
  free(before);
  free(behind);
  command_release(&ours);
  command_release(&operands);
}

/* ---- running ------------------------------------------------------------------------------ */

/* Replaces the name of the tool in 'command' by its path, if it stands beside ours; otherwise the
 * shell's PATH will find it. */
static void find_tool(struct command *command)
{
  enum { ROOM = 4096 };
  char path[ROOM];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (command->failed || length <= 0 || length == ROOM) return;
  while (length > 0 && path[length - 1] != '/') length--;
  size_t room = ROOM - (size_t)length;
  if ((size_t)snprintf(path + length, room, "%s", command->words[0]) >= room ||
      access(path, X_OK) != 0)
    return;
  char *word = gpnn_copy_text(path, strlen(path));
  command->failed = word == NULL;
  if (word == NULL) return;
  free(command->words[0]);
  command->words[0] = word;
}

/* What the end of a step comes to. */
static enum gpnn_status judge(enum step step, const struct gpnn_child_end *end,
                              struct gpnn_error *err)
{
  enum { USAGE = 2, LIMIT = 3 };
  if (end->signal_number != 0)
    return gpnn_fail(err, GPNN_EEXTERNAL, "gpnn-%s was ended by a signal: %s", names[step],
                     strsignal(end->signal_number));
  if (end->exit_status == 0) return GPNN_OK;
  err->text[0] = '\0';
  if (end->exit_status == LIMIT)
    return gpnn_fail(err, GPNN_ELIMIT,
                     "more rows lie far from the training rows than --fail-on-far allows");
  return end->exit_status == USAGE ? GPNN_EINVAL : GPNN_EIO;
}

/* Makes a command ready to be run. */
static enum gpnn_status prepare(struct command *command, struct gpnn_error *err)
{
  char own[24];
  snprintf(own, sizeof own, "%ld", (long)getpid());
  setenv(CLI_PARENT, own, 1);
  find_tool(command);
  return command_check(command, err);
}

static enum gpnn_status run(struct command *command, enum step step, int standard_output,
                            int standard_error, struct gpnn_error *err)
{
  const int streams[] = {-1, standard_output, standard_error};
  struct gpnn_child_end end;
  enum gpnn_status status = prepare(command, err);
  if (status == GPNN_OK)
    status = gpnn_child_run_attached(command->words, environ, streams, cli_step(), &end, err);
  return status == GPNN_OK ? judge(step, &end, err) : status;
}

enum gpnn_status steps_run_command(struct command *command, enum step step, int standard_output,
                                   struct gpnn_error *err)
{
  return run(command, step, standard_output, -1, err);
}

static enum gpnn_status open_nowhere(int *nowhere, struct gpnn_error *err)
{
  do *nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  while (*nowhere < 0 && errno == EINTR);
  return *nowhere >= 0 ? GPNN_OK : gpnn_fail_errno(err, errno, "/dev/null: cannot be opened");
}

enum gpnn_status steps_check(const struct cli *cli, const struct places *places, enum step last,
                             struct gpnn_error *err)
{
  int nowhere;
  enum gpnn_status status = open_nowhere(&nowhere, err);
  if (status != GPNN_OK) return status;
  for (enum step step = STEP_INDEX; step <= last && status == GPNN_OK; step++) {
    struct command command = {0};
    steps_command(cli, places, &places->working, step, &command);
    command_add(&command, "--quiet");
    command_add(&command, "--help");
    status = run(&command, step, nowhere, -1, err);
    command_release(&command);
  }
  close(nowhere);
  return status;
}

static void announce(const struct cli *cli, const struct command *command, enum step step,
                     enum step last)
{
  char *line = command->failed ? NULL : command_line(command);
  if (line != NULL) cli_note(cli, "step %d of %d: %s", step + 1, last + 1, line);
  free(line);
}

enum gpnn_status steps_run(const struct cli *cli, const struct places *places, enum step step,
                           struct gpnn_error *err)
{
  struct command command = {0};
  int nowhere = -1;
  steps_command(cli, places, &places->working, step, &command);
  announce(cli, &command, step, places->test == NULL ? STEP_CALIBRATE : STEP_PREDICT);
  if (cli->report != NULL) command_add(&command, "--quiet"); /* the report stands alone */
  if (step == STEP_INDEX) show_as(cli, places, &command);
  if (step == STEP_CALIBRATE) add_file_option(&command, "--folds", places->working.folds);
  if (step == STEP_PREDICT) command_add(&command, "--names"); /* by which they are scored */
  /* A model that is only tried may be impossible, which is nothing to tell. */
  enum gpnn_status status =
      places->is_trial && !cli->verbose ? open_nowhere(&nowhere, err) : GPNN_OK;
  if (status == GPNN_OK) status = run(&command, step, -1, nowhere, err);
  if (nowhere >= 0) close(nowhere);
  command_release(&command);
  return status;
}

struct gpnn_table_options steps_predictions_table(const struct cli *cli)
{
  return (struct gpnn_table_options){
      .delimiter = cli->table.delimiter, .has_header = true, .notation.missing = cli->na};
}

enum gpnn_status steps_run_tool(struct command *command, struct gpnn_child *child,
                                struct gpnn_error *err)
{
  enum gpnn_status status = prepare(command, err);
  if (status == GPNN_OK)
    status = gpnn_child_run(child, command->words, environ, "", 0, cli_step(), err);
  if (status != GPNN_OK || child->exit_status == 0) return status;
  size_t length = 0;
  while (length < child->n_message && child->message[length] != '\n') length++;
  return gpnn_fail(err, GPNN_EIO, "%.*s", (int)length, child->message);
}
