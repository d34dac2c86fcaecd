/* gpnn-linear: a matrix of covariances in, solutions with it or estimates about it out. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/open.h"
#include "cmd/common/table.h"
#include "kernel/covariance.h"
#include "linalg/blas_threads.h"
#include "linalg/dense.h"
#include "linalg/factors/cholesky.h"
#include "linalg/iterative/estimate.h"
#include "models/inducing/inducing.h"
#include "table/columns.h"

enum kind { SOLVE, TRACE, DIAGONAL, LOGDET, KINDS };

static const char *const kinds[KINDS] = {"solve", "trace", "diagonal", "logdet"};

struct arguments {
  const char *params, *target; /* NULL: not given */
  size_t rows, probes;         /* 0 rows: not given */
  bool exact;
  struct gpnn_truncated_cg_options solver;
  enum kind kind; /* resolve() finds it */
};

/* A run: the matrix, and how its solutions go. */
struct linear {
  const struct cli *cli;
  const struct arguments *a;
  const char *name; /* of the file that the matrix comes from */
  int threads;
  double *diagonal; /* owned: n: what is added to the diagonal of covariances */
  double *k;        /* owned: the matrix, n by n; below its diagonal the factor, if exact; then two
                       vectors, a right-hand side and its solution */
  struct gpnn_dense dense; /* the same as a product; has its order n */
  struct gpnn_cg_matrix matrix;
  struct gpnn_inverse inverse; /* of it */
  struct gpnn_output *output;
  char delimiter; /* of what is written */
};

/* ---- the matrix --------------------------------------------------------------------------- */

/* The points 'x', borrowed, and what the noise adds to their diagonal: those of a model or the rows
 * of an index. */
static enum gpnn_status take_points(struct linear *run, const struct gpnn_channel *channel,
                                    size_t *n, const double **x, struct gpnn_error *err)
{
  const struct gpnn_dataset *rows = channel->dataset;
  if (channel->parameters->n_members > 0)
    return gpnn_fail(err, GPNN_EINVAL, "a stack has a covariance for each of its members");
  if (channel->parameters->effects.n_variances > 0)
    return gpnn_fail(err, GPNN_EINVAL,
                     "groups of rows have effects, which are not in this covariance");
  if (rows->stored != NULL && run->a->rows > 0)
    return gpnn_fail(err, GPNN_EINVAL, "option --rows: a model file has no training rows");
  if (rows->stored != NULL) return gpnn_inducing_system(channel, n, x, &run->diagonal, err);
  *x = rows->x;
  *n = run->a->rows > 0 && run->a->rows < rows->n ? run->a->rows : rows->n;
  run->diagonal = gpnn_alloc(*n, 1, sizeof *run->diagonal);
  if (run->diagonal == NULL) return gpnn_fail_memory(err, "for the rows");
  for (size_t i = 0; i < *n; i++)
    run->diagonal[i] =
        channel->parameters->covariance.noise + (rows->noise == NULL ? 0 : rows->noise[i]);
  return GPNN_OK;
}

/* Writes the lower triangle again, from the upper one. */
static void refill(void *context, double *k)
{
  const struct linear *run = context;
  for (size_t n = run->dense.n, j = 0; j < n; j++) {
    k[j * n + j] = run->diagonal[j];
    for (size_t i = j + 1; i < n; i++) k[j * n + i] = k[i * n + j];
  }
}

/* Replaces the matrix by its Cholesky factor. */
static enum gpnn_status factor(struct linear *run, double scale, struct gpnn_error *err)
{
  size_t n = run->dense.n;
  double jitter = 0;
  for (size_t i = 0; i < n; i++) run->diagonal[i] = run->k[i * n + i];
  enum gpnn_status status = gpnn_cholesky_factor(n, run->k, NULL, scale, refill, run, &jitter, err);
  if (status == GPNN_OK && jitter > 0)
    cli_warn(run->cli, "%s: the matrix is not positive definite; %.1e was added to its diagonal",
             run->name, jitter);
  return gpnn_prefix(err, status, "%s", run->name);
}

/* Makes the matrix of a channel, and what multiplies by its inverse. */
static enum gpnn_status make_matrix(struct linear *run, const struct gpnn_channel *channel,
                                    struct gpnn_error *err)
{
  const struct gpnn_covariance *covariance = &channel->parameters->covariance;
  const struct gpnn_dataset *dataset = channel->dataset;
  const double *x;
  size_t n;
  enum gpnn_status status = take_points(run, channel, &n, &x, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", run->name);
  run->k = gpnn_alloc(n + 2, n, sizeof *run->k);
  if (run->k == NULL) return gpnn_fail_memory(err, "for the matrix: take fewer with --rows");
  run->dense = (struct gpnn_dense){n, run->k, run->threads};
  run->matrix = gpnn_dense_matrix(&run->dense);
  run->inverse = (struct gpnn_inverse){.matrix = &run->matrix, .options = run->a->solver};
  run->inverse.options.seed = run->cli->seed;
  run->inverse.options.threads = run->threads;
  status = gpnn_gram(covariance, n, dataset->d, dataset->group, x, run->diagonal, run->threads,
                     run->k, err);
  return status == GPNN_OK && run->a->exact ? factor(run, covariance->kernelscale, err) : status;
}

static enum gpnn_status write_numbers(const struct linear *run, size_t n, const double *values,
                                      struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = gpnn_table_write_number(run->output, run->delimiter, values[i], run->cli->na, err);
    if (status == GPNN_OK)
      status = gpnn_output_write(run->output, i + 1 == n ? "\n" : &run->delimiter, 1, err);
  }
  return status;
}

/* ---- estimates ---------------------------------------------------------------------------- */

static enum gpnn_status compute(struct linear *run, struct gpnn_estimate *values)
{
  size_t n = run->dense.n, step = run->a->kind == DIAGONAL;
  if (run->a->kind == LOGDET) {
    values->value = gpnn_cholesky_logdet(n, run->k);
    return GPNN_OK;
  }
  gpnn_cholesky_invert(n, run->k, NULL);
  for (size_t i = 0; i < n; i++) values[i * step].value += run->k[i * n + i];
  return GPNN_OK;
}

static enum gpnn_status estimate(struct linear *run, struct gpnn_estimate *values,
                                 struct gpnn_error *err)
{
  const struct gpnn_estimate_probes probes = {
      .n = run->a->probes, .seed = run->cli->seed, .threads = run->threads};
  struct gpnn_cg_matrix inverse = run->matrix;
  inverse.multiply = gpnn_inverse_multiply;
  inverse.context = &run->inverse;
  if (run->a->kind == TRACE) return gpnn_estimate_trace(&inverse, &probes, values, err);
  if (run->a->kind == DIAGONAL) return gpnn_estimate_diagonal(&inverse, &probes, values, err);
  return gpnn_estimate_logdet(&run->matrix, &probes, &run->inverse.options, values,
                              &run->inverse.report, err);
}

static enum gpnn_status estimate_all(struct linear *run, struct gpnn_error *err)
{
  size_t n = run->a->kind == DIAGONAL ? run->dense.n : 1;
  char c = run->delimiter = run->cli->table.delimiter == 0 ? '\t' : run->cli->table.delimiter;
  struct gpnn_estimate *values = gpnn_alloc(n, 1, sizeof *values);
  if (values == NULL) return gpnn_fail_memory(err, "for estimates");
  enum gpnn_status status = run->a->exact ? compute(run, values) : estimate(run, values, err);
  if (status == GPNN_OK) status = cli_open_output(run->cli->output, &run->output, err);
  if (status == GPNN_OK)
    status = gpnn_output_printf(run->output, err, "name%cvalue%cstandard_error\n", c, c);
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    const double both[] = {values[i].value, values[i].error};
    /* Only a diagonal is numbered: with a precision of 0 the number 0 has no digits. */
    status = gpnn_output_printf(run->output, err, "%s%.0zu%c", kinds[run->a->kind],
                                run->a->kind == DIAGONAL ? i + 1 : 0, c);
    if (status == GPNN_OK) status = write_numbers(run, 2, both, err);
  }
  free(values);
  return cli_close_output(run->output, status, err);
}

/* ---- solutions ---------------------------------------------------------------------------- */

/* Solutions belong to the same rows as what is read, and their columns are named alike. */
static enum gpnn_status begin(struct linear *run, struct gpnn_table *table, struct gpnn_error *err)
{
  struct gpnn_field header = gpnn_table_header(table);
  bool has_header = gpnn_table_has_header(table);
  size_t n = gpnn_table_columns(table);
  if (n != run->dense.n)
    return gpnn_fail(
        err, GPNN_EMISMATCH,
        "%s: a right-hand side is a row of %zu numbers, as the matrix of %s, not of %zu",
        gpnn_table_name(table), run->dense.n, run->name, n);
  run->delimiter = gpnn_table_delimiter(table);
  const struct gpnn_npy_text_format format = {run->delimiter, has_header, run->cli->na, n};
  enum gpnn_status status = cli_open_output(run->cli->output, &run->output, err);
  if (status == GPNN_OK) status = cli_follow_name(run->output, run->cli->output, &format, err);
  if (status != GPNN_OK || !has_header) return status;
  return gpnn_output_printf(run->output, err, "%.*s\n", (int)header.length, header.text);
}

/* Reads a right-hand side and writes its solution; GPNN_END: there are no more. */
static enum gpnn_status solve_row(struct linear *run, struct gpnn_table *table,
                                  struct gpnn_error *err)
{
  struct gpnn_record record;
  size_t n = run->dense.n;
  double *b = run->k + n * n, *x = b + n;
  enum gpnn_status status = gpnn_table_next(table, &record, err);
  for (size_t j = 0; j < n && status == GPNN_OK; j++)
    status = gpnn_columns_number(table, &record, j, &b[j], err);
  if (status == GPNN_OK && !run->a->exact)
    status = gpnn_inverse_multiply(&run->inverse, 1, b, x, err);
  if (status != GPNN_OK) return status;
  if (run->a->exact) gpnn_cholesky_solve(n, run->k, memcpy(x, b, n * sizeof *x));
  return write_numbers(run, n, x, err);
}

static enum gpnn_status solve(struct linear *run, struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  const struct cli *cli = run->cli;
  enum gpnn_status status = gpnn_table_open(&table, cli_operand(cli, 2), &cli->table, err);
  if (status == GPNN_OK) status = begin(run, table, err);
  while (status == GPNN_OK) status = solve_row(run, table, err);
  status = cli_close_output(run->output, status == GPNN_END ? GPNN_OK : status, err);
  if (status == GPNN_OK) table_warn_if_torn(cli, table);
  gpnn_table_close(table);
  return status;
}

static void report(const struct cli *cli, const struct gpnn_truncated_cg_report *r, size_t limit)
{
  if (r->n == 0) return;
  double n = (double)r->n, tolerable = 0.05;
  cli_note(cli,
           "%zu solutions took %.4g iterations on average, %zu at most; the largest weight is %.4g",
           r->n, (double)r->steps / n, r->most, r->most_weight);
  if (r->n_refused > 0 || (double)r->n_capped > tolerable * n)
    cli_warn(cli,
             "%zu of %zu solutions ended after %zu iterations, and %zu where a weight would have "
             "been more than exp(50): they are biased; see --max-iter, --tol and --tol-head",
             r->n_capped, r->n, limit, r->n_refused);
}

static enum gpnn_status work(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct arguments *a = arguments;
  struct opened opened = {.targets = a->target};
  struct linear run = {.cli = cli, .a = a, .name = cli_operand(cli, 1)};
  run.threads = gpnn_blas_claim(cli->threads);
  if (run.threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = open_files(cli, run.name, a->params, false, &opened, err);
  if (status == GPNN_OK)
    status = open_refuse_grid(opened.index, "gpnn-grid solves with its matrix", err);
  if (status == GPNN_OK && opened.n > 1)
    status = gpnn_fail(err, GPNN_EINVAL, "%s has %zu targets: choose one of them by --targets",
                       run.name, opened.n);
  if (status == GPNN_OK) status = make_matrix(&run, opened.channels, err);
  if (status == GPNN_OK) status = a->kind == SOLVE ? solve(&run, err) : estimate_all(&run, err);
  if (status == GPNN_OK) report(cli, &run.inverse.report, a->solver.most_steps);
  open_release(&opened);
  free(run.k);
  free(run.diagonal);
  return status;
}

/* ---- options ------------------------------------------------------------------------------ */

#define ARGUMENTS struct arguments

enum { STEPS = CLI_OF_OWN }; /* what an option is for: solutions by steps */

static const struct cli_word ends[] = {{"none", GPNN_TRUNCATION_NONE},
                                       {"geometric", GPNN_TRUNCATION_GEOMETRIC},
                                       {"quadratic", GPNN_TRUNCATION_QUADRATIC},
                                       CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters, if it is an index (standard input)"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_COUNT(0, "rows", rows, "N", "the first N rows of an index (all)", 1, 1e6),
    CLI_REAL(0, "tol", solver.tolerance, "R", "relative residual (1e-6)", 1e-14, 0.5, .of = STEPS),
    CLI_COUNT(0, "max-iter", solver.most_steps, "N", "steps at most (1000)", 1, 1e9, .of = STEPS),
    CLI_CHOICE(0, "truncation", solver.truncation, "HOW", "end at random", ends, .of = STEPS),
    CLI_REAL(0, "tol-head", solver.head, "R", "but not before (0.01)", 1e-14, 1, .of = STEPS),
    CLI_COUNT(0, "probes", probes, "N", "random vectors (8)", 1, 1e9, .of = STEPS),
    CLI_FLAG(0, "exact", exact, "by a Cholesky factorisation, in time n^3"),
};

static const char *kind_name(size_t i)
{
  return i < KINDS ? kinds[i] : NULL;
}

/* Refuses options that mean nothing beside the others. */
static bool check_meaning(const struct cli *cli, const struct arguments *a)
{
  const struct gpnn_truncated_cg_options *s = &a->solver;
  const char *by_steps = a->exact ? cli_misplaced(cli, STEPS) : NULL;
  if (a->kind != SOLVE && cli->n_operands > 2)
    return cli_refuse(cli, "%s reads no table", kinds[a->kind]);
  if (a->kind == SOLVE && cli_given(cli, "probes"))
    return cli_refuse(cli, "--probes: solve estimates nothing");
  if (a->kind == LOGDET && cli_given(cli, "truncation"))
    return cli_refuse(cli, "--truncation: would bias a log determinant");
  if (by_steps != NULL)
    return cli_refuse(cli, "--%s: with --exact nothing is solved by steps", by_steps);
  if (s->truncation == GPNN_TRUNCATION_NONE)
    return !cli_given(cli, "tol-head") || cli_refuse(cli, "--tol-head is for --truncation");
  return s->tolerance <= s->head ||
         cli_refuse(cli, "--tol %g is larger than --tol-head %g", s->tolerance, s->head);
}

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  const char *kind = cli->operands[0];
  char shown[GPNN_MASK_BYTES];
  for (a->kind = 0; a->kind < KINDS && strcmp(kind, kinds[a->kind]) != 0;) a->kind++;
  if (a->kind == KINDS)
    return cli_refuse(cli, "no such kind: \"%s\"; KIND is solve, trace, diagonal or logdet",
                      gpnn_mask(shown, kind, strlen(kind)));
  if (cli->n_operands < 2)
    return cli_refuse(cli, "an operand is missing: %s %s", cli->tool->name, cli->tool->synopsis);
  const char *model = cli->operands[1];
  if (!check_meaning(cli, a)) return false;
  const char *table = a->kind == SOLVE ? cli_operand(cli, 2) : NULL;
  if (!gpnn_index_has_parameters(model) && !open_default_params(cli, &a->params)) return false;
  if (table != NULL && strcmp(table, "-") == 0 && a->params != NULL && strcmp(a->params, "-") == 0)
    return cli_refuse(cli, "both parameters and right-hand sides would come from standard input");
  return cli_check_overwrite(cli, cli->output, model) &&
         cli_check_overwrite(cli, cli->output, a->params) &&
         cli_check_overwrite(cli, cli->output, table);
}

static const struct cli_tool tool = {
    .name = "gpnn-linear",
    .synopsis = "KIND [OPTION...] MODEL [TABLE]",
    .purpose = "Solve with a matrix of covariances, or estimate what there is to know of it.  It\n"
               "is that of the inducing points of a model, or of the rows of an index.  KIND is\n"
               "  solve             solutions for the rows of TABLE\n"
               "  trace, diagonal   those of its inverse\n"
               "  logdet            its log determinant",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS | CLI_SEEDED,
    .min_operands = 1,
    .max_operands = 3,
    .first_operand = kind_name,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = work};

int main(int argc, char **argv)
{
  struct arguments arguments = {.probes = 8,
                                .solver = {.head = 1e-2, .tolerance = 1e-6, .most_steps = 1000}};
  return cli_main(&tool, &arguments, argc, argv);
}
