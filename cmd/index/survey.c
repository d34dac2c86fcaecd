#include "cmd/index/index_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/json.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/table.h"
#include "profile/profile.h"
#include "table/schema.h"

/* ---- reading twice ------------------------------------------------------------------------- */

static bool is_standard_input(const char *path)
{
  return strcmp(path, "-") == 0;
}

/* read(), started again when a signal interrupts it. */
static ssize_t read_bytes(int fd, char *bytes, size_t capacity)
{
  ssize_t n;
  do n = read(fd, bytes, capacity);
  while (n < 0 && errno == EINTR);
  return n;
}

/* write() until all is written; false with errno set. */
static bool write_bytes(int fd, const char *bytes, size_t length)
{
  while (length > 0) {
    ssize_t n = write(fd, bytes, length);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes += n;
    length -= (size_t)n;
  }
  return true;
}

static enum gpnn_status copy(int from, int to, const char *name, const char *beside,
                             struct gpnn_error *err)
{
  enum { PIECE = 64 * 1024 };
  char *bytes = gpnn_alloc(PIECE, 1, 1); /* stacks may be small */
  enum gpnn_status status = bytes == NULL ? gpnn_fail_memory(err, "for a table") : GPNN_OK;
  for (ssize_t n = 1; status == GPNN_OK && n > 0;) {
    n = read_bytes(from, bytes, PIECE);
    if (n < 0)
      status = gpnn_fail_errno(err, errno, "%s: cannot be read", name);
    else if (!write_bytes(to, bytes, (size_t)n))
      status = gpnn_fail_errno(err, errno, "%s: cannot write a temporary file beside it", beside);
  }
  free(bytes);
  return status;
}

/* Copies 'from' to an unnamed file, which becomes standard input. */
static enum gpnn_status replace_input(int from, const char *name, const char *beside,
                                      const char *volatile *watch, struct gpnn_error *err)
{
  struct gpnn_atomic_file file = GPNN_ATOMIC_FILE_INIT;
  file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&file, beside, err);
  if (status != GPNN_OK) return status;
  int to = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
  int errnum = errno;
  gpnn_atomic_file_abandon(&file); /* removes the name; our descriptor keeps the file */
  if (to < 0) return gpnn_fail_errno(err, errnum, "%s: cannot write beside it", beside);
  status = copy(from, to, name, beside, err);
  if (status == GPNN_OK && (lseek(to, 0, SEEK_SET) != 0 || dup2(to, STDIN_FILENO) < 0))
    status = gpnn_fail_errno(err, errno, "%s: cannot be read again", name);
  close(to);
  return status;
}

enum gpnn_status reread_begin(struct reread *reread, const char *asked, const char *beside,
                              const char *volatile *watch, struct gpnn_error *err)
{
  struct stat st;
  bool is_input = is_standard_input(asked);
  int found = is_input ? fstat(STDIN_FILENO, &st) : stat(asked, &st);
  *reread = (struct reread){asked, 0};
  /* Whatever is wrong with the table, opening it will say. */
  if (found != 0 || S_ISDIR(st.st_mode)) return GPNN_OK;
  if (S_ISREG(st.st_mode)) {
    if (is_input) reread->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
    return GPNN_OK;
  }
  int from = is_input ? STDIN_FILENO : open(asked, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (from < 0) return GPNN_OK;
  enum gpnn_status status = replace_input(from, is_input ? "(stdin)" : asked, beside, watch, err);
  if (!is_input) close(from);
  reread->path = "-";
  return status;
}

enum gpnn_status reread_again(const struct reread *reread, struct gpnn_error *err)
{
  if (!is_standard_input(reread->path) || lseek(STDIN_FILENO, reread->start, SEEK_SET) >= 0)
    return GPNN_OK;
  return gpnn_fail_errno(err, errno, "(stdin): cannot be read again");
}

/* ---- what comes before a table ------------------------------------------------------------- */

/* True if the first lines of the table are none of it: one column where others have more, no name
 * for the last one, or records of another width. */
static bool begins_otherwise(struct gpnn_table *table, size_t preamble)
{
  struct gpnn_record record = {.line = 0};
  size_t n = gpnn_table_columns(table);
  bool is_title = n < 2 || *gpnn_table_column(table, n - 1) == '\0';
  enum gpnn_status status = is_title ? GPNN_EDATA : GPNN_OK;
  while (status == GPNN_OK && record.line <= preamble)
    status = gpnn_table_next(table, &record, NULL);
  return status == GPNN_EDATA;
}

bool survey_sees_row(const struct gpnn_table *table)
{
  bool is_fraction = false;
  for (size_t j = 0; j < gpnn_table_columns(table); j++) {
    const char *name = gpnn_table_column(table, j);
    double value;
    if (gpnn_number_read(name, strlen(name), &value) != GPNN_NUMBER_OK) return false;
    is_fraction = is_fraction || value < 0 || strchr(name, '.') != NULL;
  }
  return gpnn_table_has_header(table) && !gpnn_table_is_json(table) && is_fraction;
}

/* Finds which lines before the table, or which comments, have to be skipped. */
static enum gpnn_status find_beginning(const struct cli *cli, const char *path,
                                       struct index_changes *changes, struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  enum gpnn_status status = gpnn_table_open(&table, path, &cli->table, err);
  if (status != GPNN_OK) return status;
  char hint[GPNN_TABLE_HINT_BYTES];
  size_t preamble = gpnn_table_preamble(table);
  bool are_comments = strstr(gpnn_table_hint(table, hint), "--comment") != NULL;
  changes->no_header = survey_sees_row(table);
  if (!changes->no_header && preamble > 0 && begins_otherwise(table, preamble)) {
    if (are_comments)
      changes->comment = "#";
    else
      changes->skip_lines = preamble;
  }
  gpnn_table_close(table);
  return GPNN_OK;
}

/* ---- the pass over the rows ---------------------------------------------------------------- */

static enum gpnn_status add_rows(struct gpnn_profile *profile, struct gpnn_table *table,
                                 struct gpnn_error *err)
{
  enum { SHOWN_EVERY = 1024 };
  for (;;) {
    struct gpnn_record record;
    enum gpnn_status status = gpnn_table_next(table, &record, err);
    if (status == GPNN_END) return GPNN_OK;
    if (status == GPNN_EDATA)
      gpnn_profile_add_malformed(profile, 1, record.raw_length > 0 && *record.raw == '#',
                                 record.line);
    else if (status == GPNN_OK)
      status = gpnn_profile_add(profile, &record, err);
    if (status != GPNN_OK && status != GPNN_EDATA) return status;
    if (profile->n_rows % SHOWN_EVERY == 0) progress_update("rows looked at", profile->n_rows, 0);
  }
}

/* Profiles all rows of an open table. */
static enum gpnn_status survey_rows(struct gpnn_profile *profile, struct gpnn_table *table,
                                    const struct index_arguments *a, struct gpnn_error *err)
{
  struct gpnn_schema schema = {0};
  enum gpnn_status status = gpnn_schema_choose(&schema, table, &a->roles, err);
  if (status == GPNN_OK) status = gpnn_profile_make(profile, table, &schema, err);
  profile->takes_missing = a->roles.missing == GPNN_MISSING_AUTO;
  for (size_t j = 0; j < profile->n_columns && a->roles.inputs != NULL; j++)
    profile->columns[j].is_named = profile->columns[j].role == GPNN_PROFILE_INPUT;
  if (status == GPNN_OK) status = add_rows(profile, table, err);
  gpnn_schema_release(&schema);
  return status;
}

/* Adds the command that makes the changes to the report. */
static void put_command(const struct cli *cli, const struct index_changes *changes)
{
  char *command = NULL;
  size_t length;
  FILE *to = open_memstream(&command, &length);
  if (to == NULL) return;
  changes_print_command(cli, changes, to);
  if (fclose(to) == 0) json_text(cli->report, "command", command);
  free(command);
}

/* Tells what comes of a profile, and takes the changes from it. */
static enum gpnn_status conclude(struct index_changes *changes, const struct cli *cli,
                                 const struct index_arguments *a,
                                 const struct gpnn_profile *profile, const char *why,
                                 struct gpnn_error *err)
{
  struct diagnosis diagnosis;
  enum gpnn_status status = diagnosis_make(&diagnosis, cli, a, profile, 0, err);
  struct index_changes *made = &diagnosis.changes;
  if (changes->comment != NULL) made->comment = changes->comment;
  made->skip_lines = changes->skip_lines;
  made->no_header = changes->no_header;
  bool begins_later = made->comment != NULL || made->skip_lines > 0 || made->no_header;
  bool is_possible = status == GPNN_OK && diagnosis_is_possible(&diagnosis);
  bool is_worth = status == GPNN_OK &&
                  ((is_possible && begins_later) || diagnosis_is_worth_telling(&diagnosis)) &&
                  !(why == NULL && is_possible && changes_are_none(made));
  bool is_stuck = is_worth && !is_possible;
  if (is_worth && cli->report != NULL && why == NULL && !is_stuck)
    put_command(cli, made);
  else if (is_worth && (is_stuck || why != NULL || !cli->quiet))
    status = diagnosis_tell(&diagnosis, is_stuck && why == NULL ? "" : why, err);
  if (status == GPNN_OK && is_possible) {
    *changes = *made;
    *made = (struct index_changes){.drop = NULL};
  }
  diagnosis_release(&diagnosis);
  if (status != GPNN_OK || !is_stuck) return status;
  if (err != NULL) *err = (struct gpnn_error){.status = GPNN_EDATA};
  return GPNN_EDATA;
}

/* The survey of gpnn-index --auto, or for a report, which has 'why'. */
static enum gpnn_status survey(struct index_changes *changes, const struct cli *cli,
                               const struct index_arguments *a, const struct reread *reread,
                               const char *why, struct gpnn_error *err)
{
  struct cli skipping = *cli;
  struct index_arguments arguments = *a;
  struct gpnn_table *table = NULL;
  struct gpnn_profile profile = {.n_columns = 0};
  enum gpnn_status status = find_beginning(cli, reread->path, changes, err);
  changes_apply(changes, &skipping, &arguments);
  if (status == GPNN_OK) status = reread_again(reread, err);
  if (status == GPNN_OK) status = gpnn_table_open(&table, reread->path, &skipping.table, err);
  if (status == GPNN_OK) status = survey_rows(&profile, table, a, err);
  if (status == GPNN_OK) status = conclude(changes, cli, a, &profile, why, err);
  gpnn_profile_release(&profile);
  gpnn_table_close(table);
  return status == GPNN_OK ? reread_again(reread, err) : status;
}

enum gpnn_status survey_make(struct index_changes *changes, const struct cli *cli,
                             const struct index_arguments *a, const struct reread *reread,
                             struct gpnn_error *err)
{
  return survey(changes, cli, a, reread, NULL, err);
}

/* ---- reports ------------------------------------------------------------------------------- */

/* Makes a survey instead of going on with a table that seems to begin on a later line; false: there
 * is no such line, or the table cannot be read again. */
static bool report_from_later(const struct cli *cli, const struct index_arguments *a,
                              const char *why)
{
  struct index_changes changes = {.drop = NULL};
  const struct reread reread = {cli_operand(cli, 0), 0};
  if (!table_can_reread(reread.path)) return false;
  bool begins_later = find_beginning(cli, reread.path, &changes, NULL) == GPNN_OK &&
                      (changes.comment != NULL || changes.skip_lines > 0 || changes.no_header);
  bool told = begins_later && survey(&changes, cli, a, &reread, why, NULL) == GPNN_OK;
  changes_release(&changes);
  return told;
}

enum gpnn_status survey_report(const struct cli *cli, const struct index_arguments *a,
                               const struct gpnn_profile *profile, size_t n_before,
                               struct gpnn_error *err)
{
  const struct gpnn_error why = *err;
  bool told = report_from_later(cli, a, why.text);
  if (!told && profile->table != NULL) {
    struct diagnosis diagnosis;
    enum gpnn_status status = diagnosis_make(&diagnosis, cli, a, profile, n_before, err);
    told = status == GPNN_OK && diagnosis_is_worth_telling(&diagnosis);
    if (told) status = diagnosis_tell(&diagnosis, why.text, err);
    diagnosis_release(&diagnosis);
    if (status != GPNN_OK) return status;
  }
  *err = why;
  if (!told) return why.status;
  err->text[0] = '\0';
  return GPNN_EDATA;
}

enum gpnn_status survey_report_classes(const struct cli *cli, const struct index_arguments *a,
                                       struct gpnn_error *err)
{
  const struct gpnn_error why = *err;
  struct index_changes changes = {.drop = NULL};
  const struct reread reread = {cli_operand(cli, 0), 0};
  if (a->roles.target != NULL || !table_can_reread(reread.path)) return why.status;
  struct gpnn_error stuck = {.status = GPNN_OK};
  bool told =
      survey(&changes, cli, a, &reread, why.text, &stuck) != GPNN_OK && stuck.text[0] == '\0';
  changes_release(&changes);
  if (told) err->text[0] = '\0';
  return why.status;
}

/* ---- suggestions --------------------------------------------------------------------------- */

/* Adds the codes that warnings were about to the missing values. */
static enum gpnn_status add_codes(struct index_changes *changes, const struct cli *cli,
                                  const struct index_arguments *a,
                                  const struct gpnn_training *training)
{
  const struct gpnn_outlier_columns *outliers = &training->outlier_columns;
  const struct gpnn_schema *schema = &training->dataset.schema;
  struct gpnn_feature_cursor at = {0};
  size_t n_features = gpnn_schema_features(schema); /* then come the targets */
  const char *asked = cli->table.notation.missing;
  const char *before = asked == NULL && a->skip_bad != SKIP_NONE ? "NA" : asked;
  enum gpnn_status status = GPNN_OK;
  for (size_t f = 0; f < outliers->n && status == GPNN_OK; f++) {
    char code[GPNN_NUMBER_BYTES], *longer = NULL;
    size_t j = outliers->of[f].column;
    bool is_date = j < n_features && gpnn_schema_feature_input(schema, &at, j)->date != NULL;
    bool is_rest = j >= n_features && schema->n_offsets > 0; /* of a target without its offset */
    if (is_date || is_rest || outliers->of[f].n_equal < 2) continue;
    gpnn_number_write(code, outliers->of[f].value);
    status =
        changes_join(&longer, changes->missing == NULL ? before : changes->missing, code, NULL);
    if (status != GPNN_OK) break;
    free(changes->missing);
    changes->missing = longer;
    if (a->skip_bad == SKIP_NONE) changes->skip_bad = SKIP_SOME; /* of targets, too */
  }
  return status;
}

static void tell_suggestion(const struct cli *cli, const char *name,
                            const struct index_changes *changes)
{
  char *text = NULL;
  size_t length;
  FILE *to = open_memstream(&text, &length);
  if (to == NULL) return;
  changes_print_line(name, to);
  fputs(": if so,\n", to);
  changes_print_indented(cli, changes, "try this", to);
  if (fclose(to) == 0) cli_tell(cli, text);
  free(text);
}

void survey_suggest(const struct cli *cli, const struct index_arguments *a,
                    const struct gpnn_table *table, const struct gpnn_training *training)
{
  struct index_changes changes = {.no_header = survey_sees_row(table)};
  enum gpnn_status status = add_codes(&changes, cli, a, training);
  bool any = changes.no_header || changes.missing != NULL;
  if (status == GPNN_OK && any && !cli->quiet && cli->report == NULL)
    tell_suggestion(cli, gpnn_table_name(table), &changes);
  changes_release(&changes);
}
