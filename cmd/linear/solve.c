/* gpnn-linear solve: right-hand sides in, one to a row, and solutions out. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/progress.h"
#include "cmd/linear/linear.h"
#include "linalg/cholesky.h"
#include "table/columns.h"
#include "table/table.h"

/* Right-hand sides that are solved together. */
enum { BLOCK = 16 };

struct solving {
  struct linear *run;
  struct gpnn_table *table;
  char delimiter;
  double *row;     /* n: the right-hand side at hand */
  size_t left;     /* how often it is still to be solved for */
  size_t n_solved; /* solutions written */
  double *b, *x;   /* BLOCK by n, one after another */
};

/* ---- reading -------------------------------------------------------------------------------- */

static enum gpnn_status check_width(const struct solving *s, struct gpnn_error *err)
{
  size_t n = gpnn_table_columns(s->table);
  if (n == s->run->n) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "%s: a right-hand side is a row of %zu numbers, one for each row of the matrix "
                   "of %s, but the table has %zu columns",
                   gpnn_table_name(s->table), s->run->n, s->run->name, n);
}

static enum gpnn_status read_row(struct solving *s, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(s->table, &record, err);
  for (size_t j = 0; j < s->run->n && status == GPNN_OK; j++)
    status = gpnn_columns_number(s->table, &record, j, &s->row[j], err);
  return status;
}

/* Fills a block; '*columns' are fewer than BLOCK at the end. */
static enum gpnn_status read_block(struct solving *s, size_t *columns, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  size_t n = s->run->n, c = 0;
  for (; c < BLOCK; c++, s->left--) {
    if (s->left == 0) {
      status = read_row(s, err);
      if (status != GPNN_OK) break;
      s->left = s->run->a->repeat;
    }
    memcpy(s->b + c * n, s->row, n * sizeof *s->b);
  }
  *columns = c;
  return status == GPNN_END ? GPNN_OK : status;
}

/* ---- solving and writing -------------------------------------------------------------------- */

static enum gpnn_status solve_block(struct solving *s, size_t columns, struct gpnn_error *err)
{
  struct linear *run = s->run;
  if (!run->a->exact) {
    enum gpnn_status status = linear_choose_rate(run, columns, s->b, err);
    return status != GPNN_OK ? status
                             : gpnn_inverse_multiply(&run->inverse, columns, s->b, s->x, err);
  }
  memcpy(s->x, s->b, columns * run->n * sizeof *s->x);
  for (size_t j = 0; j < columns; j++) gpnn_cholesky_solve(run->n, run->k, s->x + j * run->n);
  return GPNN_OK;
}

/* The columns are named as those that were read, if they were, as solutions belong to the same
 * rows. */
static enum gpnn_status write_header(const struct solving *s, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct gpnn_output *output = s->run->output;
  if (!gpnn_table_has_header(s->table)) return GPNN_OK;
  for (size_t j = 0; j < s->run->n && status == GPNN_OK; j++) {
    const char *name = gpnn_table_column(s->table, j);
    status = gpnn_table_write_field(output, s->delimiter, name, strlen(name), err);
    if (status == GPNN_OK)
      status = gpnn_output_write(output, j + 1 == s->run->n ? "\n" : &s->delimiter, 1, err);
  }
  return status;
}

static enum gpnn_status write_block(struct solving *s, size_t columns, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct gpnn_output *output = s->run->output;
  size_t n = s->run->n;
  for (size_t c = 0; c < columns * n && status == GPNN_OK; c++) {
    status = gpnn_table_write_number(output, s->delimiter, s->x[c], s->run->cli->na, err);
    if (status == GPNN_OK)
      status = gpnn_output_write(output, (c + 1) % n == 0 ? "\n" : &s->delimiter, 1, err);
  }
  s->n_solved += columns;
  progress_share("right-hand sides solved", s->n_solved,
                 gpnn_input_share(gpnn_table_input(s->table)));
  return status;
}

static enum gpnn_status solve_all(struct solving *s, struct gpnn_error *err)
{
  size_t columns = BLOCK;
  enum gpnn_status status = write_header(s, err);
  while (status == GPNN_OK && columns == BLOCK) {
    status = read_block(s, &columns, err);
    if (status == GPNN_OK && columns > 0) status = solve_block(s, columns, err);
    if (status == GPNN_OK && columns > 0) status = write_block(s, columns, err);
  }
  return status;
}

static enum gpnn_status allocate(struct solving *s, struct gpnn_error *err)
{
  s->row = gpnn_alloc(s->run->n, 1, sizeof *s->row);
  s->b = gpnn_alloc(s->run->n, BLOCK, sizeof *s->b);
  s->x = gpnn_alloc(s->run->n, BLOCK, sizeof *s->x);
  bool done = s->row != NULL && s->b != NULL && s->x != NULL;
  return done ? GPNN_OK : gpnn_fail_memory(err, "for right-hand sides");
}

static enum gpnn_status solve_table(struct solving *s, struct gpnn_error *err)
{
  struct linear *run = s->run;
  s->delimiter = gpnn_npy_text_is_wanted(run->cli->output) ? '\t' : gpnn_table_delimiter(s->table);
  const struct gpnn_npy_text_format format = {.delimiter = s->delimiter,
                                              .has_header = gpnn_table_has_header(s->table),
                                              .na = run->cli->na,
                                              .n_columns = run->n};
  enum gpnn_status status = check_width(s, err);
  if (status == GPNN_OK) status = allocate(s, err);
  if (status == GPNN_OK) status = cli_open_output(run->cli->output, &run->output, err);
  if (status == GPNN_OK) status = cli_follow_name(run->output, run->cli->output, &format, err);
  if (status == GPNN_OK) status = solve_all(s, err);
  return cli_close_output(run->output, status, err);
}

enum gpnn_status linear_solve(struct linear *run, struct gpnn_error *err)
{
  struct solving s = {.run = run};
  enum gpnn_status status =
      gpnn_table_open(&s.table, cli_operand(run->cli, 2), &run->cli->table, err);
  if (status == GPNN_OK) status = solve_table(&s, err);
  if (status == GPNN_OK) warn_if_torn(run->cli, s.table);
  gpnn_table_close(s.table);
  free(s.row);
  free(s.b);
  free(s.x);
  return status;
}
