/* gpnn-split: a table in, its rows over two or more tables out. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/memory.h"
#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/common/table.h"
#include "table/columns.h"
#include "table/split.h"

struct arguments {
  const char *fractions, *by, *order; /* NULL: not given */
  size_t folds;                       /* 0: not given */
  double last;                        /* the fraction of the rows that come last; 0: not given */
  struct cli_list outputs;
  size_t n_parts; /* resolve() finds them, and their weights */
  double weights[GPNN_SPLIT_PARTS];
};

struct run {
  const struct cli *cli;
  const struct arguments *a;
  struct gpnn_table *table;
  char *header; /* owned; the header line, empty without one */
  size_t header_length, by, n_rows;
  struct gpnn_split split;
  struct gpnn_order order;
  bool *is_last; /* owned; with --order: n_rows */
  struct gpnn_output *parts[GPNN_SPLIT_PARTS];
};

/* ---- options ------------------------------------------------------------------------------ */

/* -f A:B[:C...] */
static bool read_fractions(const struct cli *cli, struct arguments *a)
{
  const char *text = a->fractions;
  do {
    size_t length = strcspn(text, ":");
    double weight = 0;
    bool good = gpnn_number_read(text, length, &weight) == GPNN_NUMBER_OK && weight > 0;
    if (!good || a->n_parts == GPNN_SPLIT_PARTS)
      return cli_refuse(cli, "option --fractions: positive numbers, as in 7:2 or 0.8:0.1:0.1");
    a->weights[a->n_parts++] = weight;
    text += length;
  } while (*text++ == ':');
  return a->n_parts >= 2 || cli_refuse(cli, "option --fractions: two parts or more, as in 7:2");
}

static bool is_same_output(const char *a, const char *b)
{
  if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return strcmp(a, b) == 0;
  return gpnn_atomic_file_same(a, b);
}

/* Two parts written to one file would leave only the last. */
static bool are_distinct(const struct cli *cli, const struct cli_list *outputs)
{
  for (size_t i = 0; i < outputs->n; i++)
    for (size_t j = 0; j < i; j++)
      if (is_same_output(outputs->items[i], outputs->items[j]))
        return cli_refuse(cli, "two parts would go to the same output: \"%s\"", outputs->items[i]);
  return true;
}

/* --last F, which makes two parts */
static bool resolve_last(const struct cli *cli, struct arguments *a)
{
  if (!(a->last > 0 && a->last < 1))
    return cli_refuse(cli, "option --last: a fraction of the rows between 0 and 1, as in 0.2");
  if (a->by != NULL)
    return cli_refuse(cli, "--last cuts the rows at one point, and the rows of a group may lie on "
                           "both sides of it: give it or --by");
  if (a->outputs.n != 2)
    return cli_refuse(cli, "--last needs 2 outputs: -o FILE for the first rows, then for the last");
  a->n_parts = 2;
  a->weights[0] = 1 - a->last;
  a->weights[1] = a->last;
  return are_distinct(cli, &a->outputs);
}

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  bool is_by_time = cli_given(cli, "last");
  if ((a->fractions != NULL) + (a->folds != 0) + is_by_time != 1)
    return cli_refuse(cli, "give either --fractions, --folds or --last");
  if (a->order != NULL && !is_by_time)
    return cli_refuse(cli, "--order says which rows are the last, and needs --last");
  if (is_by_time) return resolve_last(cli, a);
  if (a->fractions != NULL) {
    if (!read_fractions(cli, a)) return false;
    if (a->outputs.n == a->n_parts) return are_distinct(cli, &a->outputs);
    return cli_refuse(cli, "%zu parts need %zu outputs: one -o FILE each", a->n_parts, a->n_parts);
  }
  a->n_parts = a->folds;
  for (size_t k = 0; k < a->n_parts; k++) a->weights[k] = 1;
  const char *place = a->outputs.n == 1 ? strstr(a->outputs.items[0], "%d") : NULL;
  if (place != NULL && strstr(place + 2, "%d") == NULL) return true;
  return cli_refuse(cli, "--folds needs one -o whose name contains one %%d, as in fold%%d.tsv");
}

/* ---- the first pass: counting ------------------------------------------------------------- */

/* Creates a file to copy standard input to, which can be read only once.  It is unlinked at once,
 * so that nobody else finds it and it vanishes with the process, however that ends. */
static enum gpnn_status spool_new(FILE **spool, struct gpnn_error *err)
{
  const char *directory = getenv("TMPDIR");
  char path[4096];
  if (directory == NULL || directory[0] == '\0') directory = "/tmp";
  snprintf(path, sizeof path, "%.4000s/gpnn-split.XXXXXX", directory);
  int fd = mkstemp(path);
  if (fd < 0) return gpnn_fail_errno(err, errno, "%s: cannot be created", path);
  unlink(path);
  *spool = fdopen(fd, "w");
  if (*spool != NULL) return GPNN_OK;
  enum gpnn_status status = gpnn_fail_errno(err, errno, "%s", path);
  close(fd);
  return status;
}

static enum gpnn_status spool_line(FILE *spool, const char *line, size_t length,
                                   struct gpnn_error *err)
{
  if (fwrite(line, 1, length, spool) == length && putc('\n', spool) != EOF) return GPNN_OK;
  return gpnn_fail_errno(err, errno, "the copy of standard input");
}

/* Reads the whole table, so that anything wrong with it is reported before any output.  The copy
 * includes the header, because a row might begin like another kind of file. */
static enum gpnn_status count_rows(struct run *r, FILE *spool, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = GPNN_OK;
  if (spool != NULL && gpnn_table_has_header(r->table))
    status = spool_line(spool, r->header, r->header_length, err);
  while (status == GPNN_OK) {
    status = gpnn_table_next(r->table, &record, err);
    if (status != GPNN_OK) break;
    r->n_rows++;
    progress_share("rows counted", r->n_rows, gpnn_input_share(gpnn_table_input(r->table)));
    if (r->a->order != NULL) status = gpnn_order_add(&r->order, r->table, &record, err);
    if (spool != NULL && status == GPNN_OK)
      status = spool_line(spool, record.raw, record.raw_length, err);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* Replaces standard input by the copy. */
static enum gpnn_status spool_rewind(FILE *spool, struct gpnn_error *err)
{
  int fd = fileno(spool);
  if (fflush(spool) == 0 && lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0)
    return GPNN_OK;
  return gpnn_fail_errno(err, errno, "the copy of standard input");
}

/* Opens the rows again: the table itself, or the copy of it. */
static enum gpnn_status reopen(struct run *r, const char *path, bool is_copy,
                               struct gpnn_error *err)
{
  struct gpnn_table_options options = r->cli->table;
  options.delimiter = gpnn_table_delimiter(r->table);
  options.has_header = gpnn_table_has_header(r->table);
  if (is_copy) options.skip_lines = 0;
  table_warn_if_torn(r->cli, r->table);
  gpnn_table_close(r->table);
  r->table = NULL;
  return gpnn_table_open(&r->table, is_copy ? "-" : path, &options, err);
}

static enum gpnn_status find_columns(struct run *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (r->a->by != NULL) status = gpnn_columns_find(r->table, r->a->by, &r->by, err);
  if (r->a->order != NULL) status = gpnn_columns_find(r->table, r->a->order, &r->order.column, err);
  return status;
}

/* Warns if the column of --order is text that may not be in the order of time. */
static void warn_order(const struct run *r)
{
  char name[GPNN_MASK_BYTES];
  if (r->order.doubtful_line == 0) return;
  const char *column = gpnn_table_column(r->table, r->order.column);
  cli_warn(r->cli,
           "%s%s%zu: column '%s' is sorted as text, which orders dates only if they have the year "
           "first and leading zeros, as in 2024-03-01: \"%s\"",
           gpnn_table_name(r->table), gpnn_table_before_line(r->table), r->order.doubtful_line,
           gpnn_mask(name, column, strlen(column)), r->order.doubtful);
}

/* Prepares the choice of each row's part, once all rows were counted. */
static enum gpnn_status choose_parts(struct run *r, struct gpnn_error *err)
{
  const struct arguments *a = r->a;
  enum gpnn_status status =
      gpnn_split_init(&r->split, a->n_parts, a->weights, r->n_rows, r->cli->seed, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", gpnn_table_name(r->table));
  if (a->order == NULL) return GPNN_OK;
  warn_order(r);
  return gpnn_order_last(&r->order, (size_t)r->split.remaining[1], &r->is_last, err);
}

static enum gpnn_status first_pass(struct run *r, struct gpnn_error *err)
{
  const char *path = cli_operand(r->cli, 0);
  FILE *spool = NULL;
  enum gpnn_status status = gpnn_table_open(&r->table, path, &r->cli->table, err);
  if (status != GPNN_OK) return status;
  struct gpnn_field header = gpnn_table_header(r->table);
  r->header_length = header.length;
  r->header = gpnn_copy_text(header.text, header.length);
  if (r->header == NULL) return gpnn_fail_memory(err, "for the header");
  status = find_columns(r, err);
  if (status == GPNN_OK && !table_can_reread(path)) status = spool_new(&spool, err);
  if (status == GPNN_OK) status = count_rows(r, spool, err);
  if (spool != NULL && status == GPNN_OK) status = spool_rewind(spool, err);
  if (spool != NULL) fclose(spool);
  if (status == GPNN_OK) status = choose_parts(r, err);
  return status == GPNN_OK ? reopen(r, path, spool != NULL, err) : status;
}

/* ---- the second pass: writing ------------------------------------------------------------- */

/* "fold%d.tsv" -> "fold3.tsv" */
static enum gpnn_status open_part(struct run *r, size_t k, struct gpnn_error *err)
{
  if (r->a->folds == 0) return cli_open_output(r->a->outputs.items[k], &r->parts[k], err);
  const char *pattern = r->a->outputs.items[0], *place = strstr(pattern, "%d");
  size_t bytes = strlen(pattern) + 24;
  char *path = malloc(bytes);
  if (path == NULL) return gpnn_fail_memory(err, "for a file name");
  snprintf(path, bytes, "%.*s%zu%s", (int)(place - pattern), pattern, k + 1, place + 2);
  enum gpnn_status status = cli_open_output(path, &r->parts[k], err);
  free(path);
  return status;
}

static enum gpnn_status write_line(struct gpnn_output *output, const char *line, size_t length,
                                   struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_write(output, line, length, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

/* Writes a record as numbers, for a .npy file. */
static enum gpnn_status write_numbers(const struct run *r, struct gpnn_output *output,
                                      const struct gpnn_record *record, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < record->n_fields && status == GPNN_OK; j++) {
    double value = 0;
    status = gpnn_columns_copy(r->table, record, j, &value, err);
    if (status != GPNN_OK) return gpnn_prefix(err, status, "a .npy file holds only numbers");
    if (j > 0) status = gpnn_output_text(output, "\t", err);
    if (status == GPNN_OK) status = gpnn_output_number(output, value, err);
  }
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status open_parts(struct run *r, struct gpnn_error *err)
{
  const struct gpnn_npy_text_format format = {
      .delimiter = '\t', .na = "", .n_columns = gpnn_table_columns(r->table)};
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < r->a->n_parts && status == GPNN_OK; k++) {
    status = open_part(r, k, err);
    const char *name = r->a->outputs.items[r->a->folds == 0 ? k : 0];
    if (status == GPNN_OK) status = cli_follow_name(r->parts[k], name, &format, err);
    if (status == GPNN_OK && gpnn_table_has_header(r->table) && !gpnn_output_is_npy(r->parts[k]))
      status = write_line(r->parts[k], r->header, r->header_length, err);
  }
  return status;
}

/* The part of row 'row', from 0. */
static enum gpnn_status part_of(struct run *r, const struct gpnn_record *record, size_t row,
                                size_t *part, struct gpnn_error *err)
{
  const struct gpnn_field *field = r->a->by == NULL ? NULL : &record->fields[r->by];
  if (field != NULL)
    *part = gpnn_split_group(&r->split, field->text, field->length);
  else if (r->a->last == 0)
    return gpnn_split_next(&r->split, part, err);
  else if (row >= r->n_rows)
    return gpnn_fail(err, GPNN_EDATA, "there are more rows than were counted");
  else
    *part = r->is_last != NULL ? r->is_last[row] : row >= r->split.remaining[0];
  return GPNN_OK;
}

static enum gpnn_status write_rows(struct run *r, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status;
  size_t part = 0, done = 0;
  while ((status = gpnn_table_next(r->table, &record, err)) == GPNN_OK) {
    status = part_of(r, &record, done, &part, err);
    if (status == GPNN_OK && gpnn_output_is_npy(r->parts[part]))
      status = write_numbers(r, r->parts[part], &record, err);
    else if (status == GPNN_OK)
      status = write_line(r->parts[part], record.raw, record.raw_length, err);
    if (status != GPNN_OK) return status;
    progress_update("rows written", ++done, r->n_rows);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

/* All bytes are on disk before the first part gets its name: either all parts appear or none. */
static enum gpnn_status close_parts(struct run *r, enum gpnn_status status, struct gpnn_error *err)
{
  for (size_t k = 0; k < r->a->n_parts && status == GPNN_OK; k++)
    status = gpnn_output_prepare(r->parts[k], err);
  for (size_t k = 0; k < r->a->n_parts; k++) status = cli_close_output(r->parts[k], status, err);
  return status;
}

static enum gpnn_status work(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct run r = {.cli = cli, .a = arguments};
  enum gpnn_status status = first_pass(&r, err);
  if (status == GPNN_OK) status = open_parts(&r, err);
  if (status == GPNN_OK) status = write_rows(&r, err);
  status = close_parts(&r, status, err);
  free(r.header);
  free(r.is_last);
  gpnn_order_release(&r.order);
  gpnn_table_close(r.table);
  return status;
}

/* ---- options, main ------------------------------------------------------------------------- */

#define ARGUMENTS struct arguments

static const struct cli_option options[] = {
    CLI_TEXT('f', "fractions", fractions, "A:B[:...]", "parts in these proportions"),
    CLI_COUNT('k', "folds", folds, "K", "K equal parts", 2, GPNN_SPLIT_PARTS),
    CLI_REAL(0, "last", last, "F", "two parts: the first rows, and the last fraction F", 0, 1),
    CLI_TEXT(0, "order", order, "COL", "the last by COL: numbers, or dates, year first"),
    CLI_LIST('o', "output", outputs, "FILE", "one for each part; for folds one with %d"),
    CLI_TEXT(0, "by", by, "COL", "keep rows with the same value of COL together"),
};

static const struct cli_tool tool = {
    .name = "gpnn-split",
    .synopsis = "-f A:B -o FILE -o FILE [OPTION...] [TABLE]\n"
                "       gpnn-split -k K -o 'fold%d.tsv' [OPTION...] [TABLE]\n"
                "       gpnn-split --last F [--order COL] -o FILE -o FILE [OPTION...] [TABLE]",
    .purpose = "Distribute the rows of a table over two or more tables, at random or by time;\n"
               "rows keep their order and their text.",
    .groups = CLI_TABLE | CLI_SEEDED | CLI_PROGRESS,
    .max_operands = 1,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = work};

int main(int argc, char **argv)
{
  struct arguments arguments = {0};
  return cli_main(&tool, &arguments, argc, argv);
}
