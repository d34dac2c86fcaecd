#include <math.h>
#include <string.h>

#include "base/list.h"
#include "base/number.h"
#include "cmd/tucker/tucker.h"

/* Numbers of a core, at most: each is multiplied for each row that is predicted. */
enum { MOST_CORE = 20000 };

/* ---- the command line alone --------------------------------------------------------------- */

/* Reads "N[,N]..." into 'counts'; false if it is anything else, or a number is out of range. */
static bool read_counts(const char *text, size_t least, size_t most, size_t *n,
                        size_t counts[GPNN_TUCKER_DIMENSIONS])
{
  const char *item, *rest = text;
  uint64_t value;
  size_t length;
  for (*n = 0; (item = gpnn_list_next(&rest, &length)) != NULL; counts[(*n)++] = (size_t)value)
    if (*n == GPNN_TUCKER_DIMENSIONS || !gpnn_number_read_u64(item, length, &value) ||
        value < least || value > most)
      return false;
  return true;
}

static bool resolve_shape(const struct cli *cli, struct tucker_arguments *a)
{
  struct gpnn_tucker_options *fit = &a->fit;
  if (a->sizes != NULL &&
      !read_counts(a->sizes, 2, GPNN_TUCKER_MOST_POINTS, &fit->n_sizes, fit->size))
    return cli_refuse(cli,
                      "option --grid-size: '%s' is not a number of points from 2 to %d, or one for "
                      "each of up to %d inputs, as in 10,5",
                      a->sizes, GPNN_TUCKER_MOST_POINTS, GPNN_TUCKER_DIMENSIONS);
  if (a->ranks != NULL &&
      !read_counts(a->ranks, 1, GPNN_TUCKER_MOST_POINTS, &fit->n_ranks, fit->rank))
    return cli_refuse(cli,
                      "option --rank: '%s' is not a number from 1 to %d, or one for each of up to "
                      "%d inputs, as in 2,3",
                      a->ranks, GPNN_TUCKER_MOST_POINTS, GPNN_TUCKER_DIMENSIONS);
  if (fit->is_sum && fit->n_ranks > 1)
    return cli_refuse(cli, "option --rank: of --mean kron-sum there is one, the number of terms");
  if (a->ranks != NULL) fit->most_core = 0;
  return true;
}

/* Ranks cannot be more than points, but for a sum's, which is a number of terms. */
static bool check_ranks(const struct cli *cli, const struct tucker_arguments *a)
{
  const struct gpnn_tucker_options *fit = &a->fit;
  size_t n = fit->n_ranks > fit->n_sizes ? fit->n_ranks : fit->n_sizes;
  if (a->ranks == NULL || fit->is_sum) return true;
  for (size_t l = 0; l < n; l++) {
    size_t q = fit->rank[fit->n_ranks == 1 ? 0 : l], m = fit->size[fit->n_sizes == 1 ? 0 : l];
    if ((fit->n_ranks == 1 || l < fit->n_ranks) && (fit->n_sizes == 1 || l < fit->n_sizes) && q > m)
      return cli_refuse(cli, "option --rank: %zu is more than the %zu points of --grid-size", q, m);
  }
  return true;
}

static bool resolve_kernel(const struct cli *cli, struct tucker_arguments *a)
{
  if (a->kernel == NULL) return true;
  a->fit.kernel = gpnn_kernel_by_name(a->kernel);
  if (a->fit.kernel != NULL && !gpnn_kernel_needs_smoothness(a->fit.kernel)) return true;
  return cli_refuse(cli, "option --kernel: rbf, exp, matern32 or matern52");
}

bool tucker_resolve(const struct cli *cli, void *arguments)
{
  struct tucker_arguments *a = arguments;
  if (a->output == NULL || strcmp(a->output, "-") == 0)
    return cli_refuse(cli, "a model is a binary file: name it with -o FILE");
  a->fit.at_quantiles = a->placing == TUCKER_QUANTILE;
  a->fit.is_sum = a->mean == TUCKER_KRON_SUM;
  a->fit.has_prior_covariance = a->covariance == TUCKER_PRIOR;
  for (size_t i = 0; i < a->freed.n; i++) {
    a->fit.frees_noise = a->fit.frees_noise || a->freed.of[i] == TUCKER_NOISE;
    a->fit.frees_kernelscale = a->fit.frees_kernelscale || a->freed.of[i] == TUCKER_KERNELSCALE;
  }
  a->fit.seed = cli->seed;
  return resolve_shape(cli, a) && check_ranks(cli, a) && resolve_kernel(cli, a) &&
         cli_check_overwrite(cli, a->output, cli_operand(cli, 0)) &&
         (a->trace == NULL || (cli_check_overwrite(cli, a->trace, cli_operand(cli, 0)) &&
                               cli_check_overwrite(cli, a->trace, a->output)));
}

/* ---- the inputs that there are ------------------------------------------------------------ */

static enum gpnn_status check_core(const struct gpnn_tucker_options *fit, size_t n_inputs,
                                   struct gpnn_error *err)
{
  double core = 1;
  if (fit->most_core > 0 || fit->is_sum) return GPNN_OK;
  for (size_t l = 0; l < n_inputs; l++) core *= (double)fit->rank[fit->n_ranks == 1 ? 0 : l];
  if (core <= MOST_CORE) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "option --rank: ranks of %zu inputs make a core of %.0f numbers, of which there "
                   "can be %d",
                   n_inputs, core, MOST_CORE);
}

enum gpnn_status tucker_match(const struct tucker_arguments *a, size_t n_inputs,
                              struct gpnn_error *err)
{
  const struct gpnn_tucker_options *fit = &a->fit;
  const struct {
    const char *option;
    size_t n;
  } counts[] = {{"rank", fit->n_ranks}, {"grid-size", fit->n_sizes}};
  if (n_inputs > GPNN_TUCKER_DIMENSIONS)
    return gpnn_fail(err, GPNN_EDATA,
                     "%zu inputs, each a dimension of a grid that can have %d: choose inputs with "
                     "gpnn-index -x",
                     n_inputs, GPNN_TUCKER_DIMENSIONS);
  for (size_t i = 0; i < 2; i++)
    if (counts[i].n > 1 && counts[i].n != n_inputs)
      return gpnn_fail(err, GPNN_EINVAL,
                       "option --%s: %zu numbers, but there are %zu inputs, counting what a column "
                       "becomes in the index",
                       counts[i].option, counts[i].n, n_inputs);
  return check_core(fit, n_inputs, err);
}
