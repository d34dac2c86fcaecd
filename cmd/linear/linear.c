#include "cmd/linear/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/common/open.h"
#include "linalg/blas_threads.h"
#include "linalg/cholesky.h"

static const char *const kinds[LINEAR_KINDS] = {"solve", "trace", "diagonal", "logdet"};

const char *linear_kind_name(size_t i)
{
  return i < LINEAR_KINDS ? kinds[i] : NULL;
}

/* ---- options ------------------------------------------------------------------------------ */

/* Refuses the first of the options that is given but means nothing, since 'reason'. */
static bool refuse_any(const struct cli *cli, size_t n, const char *const *names,
                       const char *reason)
{
  for (size_t i = 0; i < n; i++)
    if (cli_given(cli, names[i])) return cli_refuse(cli, "--%s: %s", names[i], reason);
  return true;
}

static bool check_solutions(const struct cli *cli, const struct linear_arguments *a)
{
  static const char *const random[] = {"tol-head", "beta", "repeat"};
  static const char *const iterative[] = {"tol",  "max-iter", "truncation", "tol-head",
                                          "beta", "repeat",   "probes"};
  if (a->exact) return refuse_any(cli, 7, iterative, "with --exact nothing is solved by steps");
  if (a->solver.truncation == GPNN_TRUNCATION_NONE)
    return refuse_any(cli, 3, random, "is for solutions that end at random: see --truncation");
  if (a->solver.tolerance <= a->solver.head) return true;
  return cli_refuse(cli, "--tol %g is larger than --tol-head %g", a->solver.tolerance,
                    a->solver.head);
}

static bool check_kind(const struct cli *cli, const struct linear_arguments *a)
{
  static const char *const of_solve[] = {"repeat"}, *const of_estimates[] = {"probes"};
  static const char *const random[] = {"truncation"};
  if (a->kind == LINEAR_SOLVE) return refuse_any(cli, 1, of_estimates, "solve estimates nothing");
  if (cli->n_operands > 2) return cli_refuse(cli, "%s reads no table", kinds[a->kind]);
  return refuse_any(cli, 1, of_solve, "is for solve") &&
         (a->kind != LINEAR_LOGDET || refuse_any(cli, 1, random, "would bias a log determinant"));
}

static bool find_kind(const struct cli *cli, struct linear_arguments *a)
{
  for (a->kind = 0; a->kind < LINEAR_KINDS; a->kind++)
    if (strcmp(cli->operands[0], kinds[a->kind]) == 0) return true;
  char shown[GPNN_MASK_BYTES];
  return cli_refuse(cli, "no such kind: \"%s\"; KIND is solve, trace, diagonal or logdet",
                    gpnn_mask(shown, cli->operands[0], strlen(cli->operands[0])));
}

/* Standard input cannot be both the parameters and the table. */
static bool check_inputs(const struct cli *cli, const struct linear_arguments *a)
{
  bool reads_table = a->kind == LINEAR_SOLVE && strcmp(cli_operand(cli, 2), "-") == 0;
  if (reads_table && a->params != NULL && strcmp(a->params, "-") == 0)
    return cli_refuse(cli, "both parameters and right-hand sides are to come from standard input: "
                           "give one of them as a file");
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 1)) &&
         cli_check_overwrite(cli, cli->output, a->params) &&
         (a->kind != LINEAR_SOLVE || cli_check_overwrite(cli, cli->output, cli_operand(cli, 2)));
}

bool linear_resolve(const struct cli *cli, void *arguments)
{
  struct linear_arguments *a = arguments;
  if (!find_kind(cli, a) || !check_kind(cli, a) || !check_solutions(cli, a)) return false;
  bool stands_alone = gpnn_index_is_model(cli_operand(cli, 1));
  return (stands_alone || open_default_params(cli, &a->params)) && check_inputs(cli, a);
}

/* ---- the matrix ----------------------------------------------------------------------------- */

/* Writes the lower triangle again, from the upper one. */
static void refill(void *context, double *k)
{
  const struct linear *run = context;
  for (size_t j = 0; j < run->n; j++) {
    k[j * run->n + j] = run->diagonal[j];
    for (size_t i = j + 1; i < run->n; i++) k[j * run->n + i] = k[i * run->n + j];
  }
}

enum gpnn_status linear_factor(struct linear *run, struct gpnn_error *err)
{
  double jitter = 0;
  enum gpnn_status status =
      gpnn_cholesky_factor(run->n, run->k, NULL, run->kernelscale, refill, run, &jitter, err);
  if (status != GPNN_OK) return gpnn_prefix(err, status, "%s", run->name);
  if (jitter > 0)
    cli_warn(run->cli, "%s: the matrix is not positive definite; %.1e was added to its diagonal",
             run->name, jitter);
  return GPNN_OK;
}

static void set_solver(struct linear *run, int threads)
{
  run->dense = (struct gpnn_dense){run->n, run->k, threads};
  run->matrix = gpnn_dense_matrix(&run->dense);
  run->inverse = (struct gpnn_inverse){.matrix = &run->matrix, .options = run->a->solver};
  run->inverse.options.seed = run->cli->seed;
  run->inverse.options.threads = threads;
}

enum gpnn_status linear_choose_rate(struct linear *run, size_t columns, const double *b,
                                    struct gpnn_error *err)
{
  struct gpnn_truncated_cg_options *options = &run->inverse.options;
  struct gpnn_truncated_cg_report pilot = {0};
  if (options->truncation == GPNN_TRUNCATION_NONE || options->rate > 0) return GPNN_OK;
  enum gpnn_status status = gpnn_truncated_cg_pilot(&run->matrix, columns, b, options, &pilot, err);
  if (status == GPNN_OK)
    cli_note(run->cli,
             "--beta %.4g, from solutions with %.4g steps on average, %.4g of them below "
             "--tol-head",
             options->rate, (double)pilot.steps / (double)pilot.n,
             (double)pilot.tail / (double)pilot.n);
  return status;
}

/* ---- what there is to say of it ---------------------------------------------------------------
 */

static void report(const struct linear *run)
{
  static const double tolerable = 0.05;
  const struct gpnn_truncated_cg_report *r = &run->inverse.report;
  if (r->n == 0) return;
  cli_note(run->cli,
           "%zu solutions took %.4g iterations on average, %zu at most, %.4g of them below "
           "--tol-head; the largest weight of one is %.4g",
           r->n, (double)r->steps / (double)r->n, r->most, (double)r->tail / (double)r->n,
           r->most_weight);
  if ((double)r->n_capped > tolerable * (double)r->n)
    cli_warn(run->cli,
             "%zu of %zu solutions ended after %zu iterations, before their residual was below %g: "
             "they are biased; see --max-iter and --tol",
             r->n_capped, r->n, run->inverse.options.most_steps, run->inverse.options.tolerance);
  if (r->n_refused > 0)
    cli_warn(run->cli,
             "%zu of %zu solutions ended where a weight would have been more than exp(50): they "
             "are biased; a smaller --beta prevents that",
             r->n_refused, r->n);
}

static enum gpnn_status work(struct linear *run, struct gpnn_error *err)
{
  enum gpnn_status status = run->a->exact ? linear_factor(run, err) : GPNN_OK;
  if (status != GPNN_OK) return status;
  return run->a->kind == LINEAR_SOLVE ? linear_solve(run, err) : linear_estimate(run, err);
}

enum gpnn_status linear_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct linear run = {.cli = cli, .a = arguments, .name = cli_operand(cli, 1)};
  int threads = gpnn_blas_claim(cli->threads);
  if (threads == 0) return gpnn_fail_memory(err, GPNN_BLAS_ROOM);
  enum gpnn_status status = linear_make_matrix(&run, err);
  if (status == GPNN_OK) {
    set_solver(&run, threads);
    status = work(&run, err);
  }
  if (status == GPNN_OK) report(&run);
  free(run.k);
  free(run.diagonal);
  return status;
}
