/* gpnn-linear trace, diagonal, logdet: estimates from random vectors, or exact values. */
#include "linalg/estimate.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "cmd/linear/linear.h"
#include "linalg/cholesky.h"
#include "table/table.h"

/* ---- values ------------------------------------------------------------------------------- */

static void exactly(struct linear *run, struct gpnn_estimate *values)
{
  if (run->a->kind == LINEAR_LOGDET) {
    values[0].value = gpnn_cholesky_logdet(run->n, run->k);
    return;
  }
  gpnn_cholesky_invert(run->n, run->k, NULL);
  for (size_t i = 0; i < run->n; i++)
    values[run->a->kind == LINEAR_TRACE ? 0 : i].value += run->k[i * run->n + i];
}

/* The rate of truncation from the first vectors. */
static enum gpnn_status prepare(struct linear *run, const struct gpnn_estimate_probes *probes,
                                struct gpnn_error *err)
{
  enum { PILOTS = 8 };
  size_t n = probes->n < PILOTS ? probes->n : PILOTS;
  double *b = gpnn_alloc(run->n, n, sizeof *b);
  if (b == NULL) return gpnn_fail_memory(err, "for random vectors");
  gpnn_probes_draw(probes->kind, probes->seed, 0, 1, n, run->n, NULL, probes->threads, b);
  enum gpnn_status status = linear_choose_rate(run, n, b, err);
  free(b);
  return status;
}

static enum gpnn_status estimate(struct linear *run, struct gpnn_estimate *values,
                                 struct gpnn_error *err)
{
  const struct gpnn_estimate_probes probes = {
      .n = run->a->probes, .seed = run->cli->seed, .threads = run->cli->threads};
  struct gpnn_cg_matrix inverse = run->matrix;
  inverse.multiply = gpnn_inverse_multiply;
  inverse.context = &run->inverse;
  enum gpnn_status status = prepare(run, &probes, err);
  if (status != GPNN_OK) return status;
  switch (run->a->kind) {
  case LINEAR_TRACE:
    return gpnn_estimate_trace(&inverse, &probes, values, err);
  case LINEAR_DIAGONAL:
    return gpnn_estimate_diagonal(&inverse, &probes, values, err);
  default:
    return gpnn_estimate_logdet(&run->matrix, &probes, &run->inverse.options, values,
                                &run->inverse.report, err);
  }
}

/* ---- writing ------------------------------------------------------------------------------ */

static enum gpnn_status write_line(struct linear *run, const char *name,
                                   const struct gpnn_estimate *e, char delimiter,
                                   struct gpnn_error *err)
{
  struct gpnn_output *output = run->output;
  const char *na = run->cli->na;
  enum gpnn_status status = gpnn_output_printf(output, err, "%s%c", name, delimiter);
  if (status == GPNN_OK) status = gpnn_table_write_number(output, delimiter, e->value, na, err);
  if (status == GPNN_OK) status = gpnn_output_write(output, &delimiter, 1, err);
  if (status == GPNN_OK) status = gpnn_table_write_number(output, delimiter, e->error, na, err);
  return status == GPNN_OK ? gpnn_output_text(output, "\n", err) : status;
}

static enum gpnn_status write_all(struct linear *run, size_t n, const struct gpnn_estimate *values,
                                  struct gpnn_error *err)
{
  char name[40], delimiter = run->cli->table.delimiter == 0 ? '\t' : run->cli->table.delimiter;
  enum gpnn_status status = cli_open_output(run->cli->output, &run->output, err);
  if (status == GPNN_OK)
    status =
        gpnn_output_printf(run->output, err, "name%cvalue%cstandard_error\n", delimiter, delimiter);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    snprintf(name, sizeof name, "diagonal%zu", i + 1);
    status =
        write_line(run, run->a->kind == LINEAR_DIAGONAL ? name : linear_kind_name(run->a->kind),
                   &values[i], delimiter, err);
  }
  return cli_close_output(run->output, status, err);
}

enum gpnn_status linear_estimate(struct linear *run, struct gpnn_error *err)
{
  size_t n = run->a->kind == LINEAR_DIAGONAL ? run->n : 1;
  struct gpnn_estimate *values = gpnn_alloc(n, 1, sizeof *values);
  if (values == NULL) return gpnn_fail_memory(err, "for estimates");
  enum gpnn_status status = GPNN_OK;
  if (run->a->exact)
    exactly(run, values);
  else
    status = estimate(run, values, err);
  if (status == GPNN_OK) status = write_all(run, n, values, err);
  free(values);
  return status;
}
