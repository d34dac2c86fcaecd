/* Rows made of answers, after the owner's own. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/absorb/absorb.h"
#include "cmd/common/table.h"
#include "dataset/reader.h"

#define ROW_NOISE "row_noise"

/* The table that is written: the columns of the own rows, or of the pool, in their order, and after
 * them target and noise where they have none. */
struct writing {
  const struct absorbing *r;
  struct gpnn_table *own; /* NULL: there is none */
  size_t n;               /* columns */
  const char **names;     /* owned; n, borrowed names */
  size_t *at, *in_pool;   /* owned; n: where they are in the own table, and in the pool; SIZE_MAX:
                             nowhere */
  size_t target, noise;   /* which of them these are */
  struct gpnn_output *output;
};

/* ---- columns -------------------------------------------------------------------------------- */

static size_t find_in_pool(const struct pool *pool, const char *name)
{
  for (size_t j = 0; j < pool->n_columns; j++)
    if (strcmp(pool->columns[j], name) == 0) return j;
  return SIZE_MAX;
}

static void add_column(struct writing *w, const char *name, size_t at)
{
  if (strcmp(name, w->r->view->schema.target.name) == 0) w->target = w->n;
  if (strcmp(name, ROW_NOISE) == 0) w->noise = w->n;
  w->names[w->n] = name;
  w->at[w->n] = at;
  w->in_pool[w->n++] = find_in_pool(&w->r->pool, name);
}

static enum gpnn_status find_columns(struct writing *w, struct gpnn_error *err)
{
  const struct pool *pool = &w->r->pool;
  const char *target = w->r->view->schema.target.name;
  const size_t n = w->own == NULL ? pool->n_columns : gpnn_table_columns(w->own);
  w->names = gpnn_alloc(n + 2, 1, sizeof *w->names);
  w->at = gpnn_alloc(n + 2, 1, sizeof *w->at);
  w->in_pool = gpnn_alloc(n + 2, 1, sizeof *w->in_pool);
  if (w->names == NULL || w->at == NULL || w->in_pool == NULL)
    return gpnn_fail_memory(err, "for rows made of answers");
  w->target = w->noise = SIZE_MAX;
  for (size_t j = 0; j < n; j++)
    add_column(w, w->own == NULL ? pool->columns[j] : gpnn_table_column(w->own, j), j);
  if (w->own != NULL && w->target == SIZE_MAX)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: has no column '%s', the target",
                     gpnn_table_name(w->own), target);
  if (w->target == SIZE_MAX) add_column(w, target, SIZE_MAX);
  if (w->noise == SIZE_MAX) add_column(w, ROW_NOISE, SIZE_MAX);
  return GPNN_OK;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* What follows a field. */
static const char *end_of(const struct writing *w, size_t j)
{
  return j + 1 == w->n ? "\n" : "\t";
}

static enum gpnn_status write_text(const struct writing *w, size_t j, const char *text,
                                   size_t length, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_table_write_field(w->output, '\t', text, length, err);
  return status == GPNN_OK ? gpnn_output_text(w->output, end_of(w, j), err) : status;
}

static enum gpnn_status write_number(const struct writing *w, size_t j, double value,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_number(w->output, value, err);
  return status == GPNN_OK ? gpnn_output_text(w->output, end_of(w, j), err) : status;
}

static enum gpnn_status write_names(const struct writing *w, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < w->n && status == GPNN_OK; j++)
    status = write_text(w, j, w->names[j], strlen(w->names[j]), err);
  return status;
}

/* An own row has the noise of the model alone, unless its table says otherwise. */
static enum gpnn_status write_own(const struct writing *w, const struct gpnn_field *fields,
                                  struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < w->n && status == GPNN_OK; j++)
    status = w->at[j] == SIZE_MAX
                 ? write_number(w, j, 0, err)
                 : write_text(w, j, fields[w->at[j]].text, fields[w->at[j]].length, err);
  return status;
}

static enum gpnn_status write_own_rows(const struct writing *w, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = w->own == NULL ? GPNN_END : GPNN_OK;
  while (status == GPNN_OK) {
    status = gpnn_table_next(w->own, &record, err);
    if (status == GPNN_OK) status = write_own(w, record.fields, err);
  }
  return status == GPNN_END ? GPNN_OK : status;
}

static enum gpnn_status write_answer(const struct writing *w, const struct gpnn_field *fields,
                                     const struct gpnn_absorbed *row, struct gpnn_error *err)
{
  const char *na = w->r->cli->na;
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < w->n && status == GPNN_OK; j++) {
    const size_t at = w->in_pool[j];
    if (j == w->target || j == w->noise)
      status = write_number(w, j, j == w->target ? row->target : row->noise, err);
    else
      status = at == SIZE_MAX ? write_text(w, j, na, strlen(na), err)
                              : write_text(w, j, fields[at].text, fields[at].length, err);
  }
  return status;
}

static enum gpnn_status write_answers(const struct writing *w, struct absorbing *r,
                                      const struct gpnn_absorbed *rows, struct gpnn_error *err)
{
  size_t n_dropped = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < r->answers.n && status == GPNN_OK; i++) {
    n_dropped += rows[i].is_dropped ? 1 : 0;
    if (rows[i].is_dropped) continue;
    const struct gpnn_record record = gpnn_records_get(&r->pool.records, i);
    status = write_answer(w, record.fields, &rows[i], err);
  }
  if (status == GPNN_OK && n_dropped > 0)
    cli_warn(
        r->cli,
        "%zu of %zu answers are as uncertain as if the other owner had no data there, and left "
        "out",
        n_dropped, r->answers.n);
  return status;
}

static enum gpnn_status make_rows(struct absorbing *r, struct gpnn_absorbed *rows,
                                  struct gpnn_error *err)
{
  if (rows == NULL) return gpnn_fail_memory(err, "for rows made of answers");
  return gpnn_prefix(
      err, gpnn_absorb_rows(&r->answers, r->a->how.rule, r->a->how.ignores_privacy, rows, err),
      "%s", r->a->answers);
}

/* Opens the own rows, which need the inputs of the index too. */
static enum gpnn_status open_own(struct writing *w, struct gpnn_error *err)
{
  const struct absorbing *r = w->r;
  struct gpnn_reader reader = {0};
  enum gpnn_status status = open_table(r->cli, r->view, r->a->own, &w->own, err);
  if (status == GPNN_OK) status = gpnn_reader_open(&reader, r->view, w->own, false, err);
  gpnn_reader_release(&reader);
  return status;
}

enum gpnn_status absorb_write_rows(struct absorbing *r, struct gpnn_error *err)
{
  struct writing w = {.r = r};
  struct gpnn_absorbed *rows = gpnn_alloc(r->answers.n, 1, sizeof *rows);
  enum gpnn_status status = make_rows(r, rows, err);
  if (status == GPNN_OK && r->a->own != NULL) status = open_own(&w, err);
  if (status == GPNN_OK) status = find_columns(&w, err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &w.output, err);
  if (status == GPNN_OK) status = write_names(&w, err);
  if (status == GPNN_OK) status = write_own_rows(&w, err);
  if (status == GPNN_OK) status = write_answers(&w, r, rows, err);
  status = cli_close_output(w.output, status, err);
  if (status == GPNN_OK) table_warn_if_torn(r->cli, w.own);
  gpnn_table_close(w.own);
  free(w.names);
  free(w.at);
  free(w.in_pool);
  free(rows);
  return status;
}
