/*
 * Going on after a run that ended early: FILE.part has what is predicted, and FILE.rows, after a
 * line that says of what, a line with the rows and the bytes of FILE.part after each batch that is
 * on the disk.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "cmd/predict/predict_private.h"

bool resume_resolve(const struct cli *cli, const struct predict_arguments *a)
{
  if (!a->resumes) return true;
  const char *misplaced =
      cli_given_of(cli, "loo,samples,group,unbuffered,fail-on-na,fail-on-far,fail-on-moved");
  if (misplaced != NULL)
    return cli_refuse(cli, "--resume predicts batch by batch: give it or --%s", misplaced);
  if (strcmp(cli->output, "-") == 0 || gpnn_npy_text_is_wanted(cli->output))
    return cli_refuse(cli, "--resume needs -o FILE, of text");
  return strcmp(cli_operand(cli, 1), "-") != 0 ||
         cli_refuse(cli, "--resume needs the name of a table, whose first rows it passes over");
}

/* ---- of what predictions are ----------------------------------------------------------------- */

static void add_text(struct gpnn_sha256 *sha, const char *text)
{
  if (text != NULL) gpnn_sha256_add(sha, text, strlen(text) + 1);
}

/* Options that predictions do not depend on, or that name what is looked at itself. */
static bool is_neutral(const char *name)
{
  static const char *const names[] = {"output", "threads", "memory", "progress", "json",
                                      "quiet",  "verbose", "params", "resume"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(name, names[i]) == 0) return true;
  return false;
}

/* The first line of FILE.rows: a checksum of the index, the parameters, the table's size and time,
 * and the options. */
static enum gpnn_status describe(const struct run *r, char line[RESUME_LINE],
                                 struct gpnn_error *err)
{
  const char *table = cli_operand(r->cli, 1);
  struct gpnn_output *memory = NULL;
  struct gpnn_sha256 sha;
  struct stat st;
  uint32_t value[8];
  size_t length = 0;
  gpnn_sha256_begin(&sha);
  if (stat(table, &st) != 0) return gpnn_fail_errno(err, errno, "%s", table);
  const uint64_t numbers[] = {r->opened.dataset->fingerprint, (uint64_t)st.st_size,
                              (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
  gpnn_sha256_add(&sha, numbers, sizeof numbers);
  for (size_t i = 0; i < r->cli->n_as_given; i++)
    if (!is_neutral(r->cli->as_given[i].option->name)) {
      add_text(&sha, r->cli->as_given[i].option->name);
      add_text(&sha, r->cli->as_given[i].text);
    }
  enum gpnn_status status = gpnn_output_open_memory(&memory, err);
  if (status == GPNN_OK)
    status = gpnn_parameters_write(r->opened.parameters, r->opened.n, memory, err);
  const char *text = status == GPNN_OK ? gpnn_output_memory(memory, &length) : NULL;
  if (status == GPNN_OK && text == NULL) status = gpnn_fail_memory(err, "for the parameters");
  if (text != NULL) gpnn_sha256_add(&sha, text, length);
  gpnn_output_abandon(memory);
  gpnn_sha256_value(&sha, value);
  snprintf(line, RESUME_LINE, "gpnn-rows 1 %08" PRIx32 "%08" PRIx32 "\n", value[0], value[1]);
  return status;
}

/* ---- the files ------------------------------------------------------------------------------- */

/* FILE with something behind it, for the caller to free; NULL: not enough memory. */
static char *name_of(const struct run *r, const char *behind)
{
  size_t length = strlen(r->cli->output);
  char *name = malloc(length + strlen(behind) + 1);
  if (name == NULL) return NULL;
  memcpy(name, r->cli->output, length);
  strcpy(name + length, behind);
  return name;
}

/* Reads how far an earlier run came, from 'file', of which '*length' bytes are whole lines; what
 * says more bytes than there are did not reach the disk. */
static enum gpnn_status read_rows(struct resume *resume, FILE *file, const char *own,
                                  uint64_t *length, struct gpnn_error *err)
{
  char line[RESUME_LINE] = "";
  struct stat st;
  uint64_t rows, bytes;
  if (fgets(line, sizeof line, file) == NULL) return GPNN_OK; /* it came nowhere */
  if (strcmp(line, own) != 0)
    return gpnn_fail(err, GPNN_EMISMATCH,
                     "%s: of other predictions: index, parameters, table or options differ; remove "
                     "it to begin anew",
                     resume->log_name);
  if (stat(resume->part_name, &st) != 0) st.st_size = 0;
  *length = strlen(line);
  while (fgets(line, sizeof line, file) != NULL && strchr(line, '\n') != NULL &&
         sscanf(line, "%" SCNu64 " %" SCNu64, &rows, &bytes) == 2 &&
         bytes <= (uint64_t)st.st_size) {
    resume->n_rows = rows;
    resume->n_bytes = bytes;
    *length += strlen(line);
  }
  return GPNN_OK;
}

/* Opens FILE.rows where an earlier run ended, or begins it. */
static enum gpnn_status open_log(struct resume *resume, const char *own, struct gpnn_error *err)
{
  uint64_t length = 0;
  enum gpnn_status status = GPNN_OK;
  FILE *file = fopen(resume->log_name, "r");
  if (file != NULL) {
    status = read_rows(resume, file, own, &length, err);
    fclose(file);
  }
  if (status == GPNN_OK && length == 0 && access(resume->part_name, F_OK) == 0)
    status = gpnn_fail(err, GPNN_EIO, "%s: exists, but %s does not say what it is of: remove it",
                       resume->part_name, resume->log_name);
  if (status == GPNN_OK) status = gpnn_output_open_at(&resume->log, resume->log_name, length, err);
  if (status == GPNN_OK && length == 0) status = gpnn_output_text(resume->log, own, err);
  return status == GPNN_OK ? gpnn_output_flush(resume->log, err) : status;
}

enum gpnn_status resume_open(struct run *r, struct gpnn_error *err)
{
  struct resume *resume = &r->resume;
  char own[RESUME_LINE];
  struct stat st;
  if (lstat(r->cli->output, &st) == 0 && !S_ISREG(st.st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is no regular file, which --resume could replace",
                     r->cli->output);
  enum gpnn_status status = describe(r, own, err);
  resume->part_name = name_of(r, ".part");
  resume->log_name = name_of(r, ".rows");
  if (status != GPNN_OK) return status;
  if (resume->part_name == NULL || resume->log_name == NULL)
    return gpnn_fail_memory(err, "for the names of files");
  status = open_log(resume, own, err);
  if (status == GPNN_OK)
    status = gpnn_output_open_at(&r->sink.output, resume->part_name, resume->n_bytes, err);
  if (status != GPNN_OK || resume->n_rows == 0) return status;
  cli_note(r->cli, "goes on after %" PRIu64 " rows of %s", resume->n_rows, resume->part_name);
  return source_pass_over(&r->source, resume->n_rows, err);
}

enum gpnn_status resume_note(struct run *r, size_t n_rows, struct gpnn_error *err)
{
  struct resume *resume = &r->resume;
  enum gpnn_status status = gpnn_output_sync(r->sink.output, &resume->n_bytes, err);
  resume->n_rows += n_rows;
  if (status == GPNN_OK)
    status = gpnn_output_printf(resume->log, err, "%" PRIu64 " %" PRIu64 "\n", resume->n_rows,
                                resume->n_bytes);
  return status == GPNN_OK ? gpnn_output_flush(resume->log, err) : status;
}

enum gpnn_status resume_finish(struct run *r, enum gpnn_status status, struct gpnn_error *err)
{
  struct resume *resume = &r->resume;
  if (status == GPNN_OK) status = gpnn_output_sync(r->sink.output, &resume->n_bytes, err);
  status = cli_close_output(r->sink.output, status, err);
  status = cli_close_output(resume->log, status, err);
  if (status == GPNN_OK && rename(resume->part_name, r->cli->output) != 0)
    status = gpnn_fail_errno(err, errno, "%s", r->cli->output);
  if (status == GPNN_OK) (void)unlink(resume->log_name);
  free(resume->part_name);
  free(resume->log_name);
  return status;
}
