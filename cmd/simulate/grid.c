/* gpnn-simulate grid: synthetic observations of sites at times. */
#include "cmd/simulate/simulate.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/common/progress.h"
#include "cmd/simulate/law.h"
#include "simulate/process.h"

struct arguments {
  size_t sites, times, dimension;
  double missing;
  struct cli_list truths;
  bool wide, truth;
  char delimiter;
  struct gpnn_separable_options separable; /* resolve() fills it */
};

/* ---- options ------------------------------------------------------------------------------ */

/* Where a parameter is kept: that of the site or the time by its name with a prefix; the kernel
 * scale and the noise belong to both, and are kept with the site's. */
static bool read_truth(const struct cli *cli, const char *text, struct gpnn_assumed_model *site,
                       struct gpnn_assumed_model *time)
{
  struct gpnn_assumed_model *of = strncmp(text, "site.", 5) == 0   ? site
                                  : strncmp(text, "time.", 5) == 0 ? time
                                                                   : NULL;
  const char *name = of != NULL ? text + 5 : text;
  bool is_shared = strncmp(name, "kernelscale=", 12) == 0 || strncmp(name, "noise=", 6) == 0;
  char shown[GPNN_MASK_BYTES];
  if (is_shared != (of == NULL))
    return cli_refuse(cli,
                      "option --true: site.kernel, site.lengthscale, time.kernel, "
                      "time.lengthscale, kernelscale or noise, not \"%s\"",
                      gpnn_mask(shown, text, strlen(text)));
  return simulate_set_parameter(cli, "true", name, GPNN_RISK_COEFFICIENT, true,
                                of != NULL ? of : site);
}

static bool read_truths(const struct cli *cli, const struct arguments *a,
                        struct gpnn_separable_options *o)
{
  struct gpnn_assumed_model site = simulate_default_parameters(), time = site;
  site.covariance.kernel = time.covariance.kernel = gpnn_kernel_by_name("matern32");
  time.covariance.kernelscale = 1;
  time.covariance.isotropic = 10;
  for (size_t i = 0; i < a->truths.n; i++)
    if (!read_truth(cli, a->truths.items[i], &site, &time)) return false;
  o->site = site.covariance;
  o->time = time.covariance;
  o->noise = site.covariance.noise;
  return true;
}

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  a->separable = (struct gpnn_separable_options){.sites = a->sites,
                                                 .times = a->times,
                                                 .d = a->dimension,
                                                 .missing = a->missing,
                                                 .seed = cli->seed,
                                                 .threads = cli->threads};
  if (a->wide && a->truth)
    return cli_refuse(cli,
                      "option --noiseless does not go with --wide, which has one value a cell");
  return read_truths(cli, a, &a->separable) && simulate_check_delimiter(cli, a->delimiter);
}

/* ---- the table ---------------------------------------------------------------------------- */

/* What is written, and to where. */
struct writing {
  const struct arguments *a;
  const struct gpnn_separable *made;
  struct gpnn_output *output;
  struct gpnn_error *err;
};

/* A number, NA for NaN, and the character after it. */
static enum gpnn_status put(const struct writing *w, double value, char end)
{
  char text[GPNN_NUMBER_BYTES + 1] = "NA";
  size_t length = isnan(value) ? 2 : gpnn_number_write(text, value);
  text[length] = end;
  return gpnn_output_write(w->output, text, length + 1, w->err);
}

static enum gpnn_status write_header(const struct writing *w)
{
  const struct arguments *a = w->a;
  char c = a->delimiter;
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 1; k <= a->dimension && status == GPNN_OK; k++)
    status = gpnn_output_printf(w->output, w->err, "x%zu%c", k, c);
  if (!a->wide && status == GPNN_OK)
    return gpnn_output_printf(w->output, w->err, a->truth ? "t%cf%cy\n" : "t%cy\n", c, c);
  for (size_t j = 0; j < a->times && status == GPNN_OK; j++)
    status = gpnn_output_printf(w->output, w->err, "t%zu%c", j, j + 1 < a->times ? c : '\n');
  return status;
}

static enum gpnn_status write_site(const struct writing *w, size_t i)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < w->a->dimension && status == GPNN_OK; k++)
    status = put(w, w->made->x[i * w->a->dimension + k], w->a->delimiter);
  return status;
}

/* A line for each cell of a site; of those that were not observed, only if the truth is wanted. */
static enum gpnn_status write_cells(const struct writing *w, size_t i)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t j = 0; j < w->a->times && status == GPNN_OK; j++) {
    size_t c = i * w->a->times + j;
    if (isnan(w->made->y[c]) && !w->a->truth) continue;
    status = write_site(w, i);
    if (status == GPNN_OK) status = put(w, (double)j, w->a->delimiter);
    if (status == GPNN_OK && w->a->truth) status = put(w, w->made->f[c], w->a->delimiter);
    if (status == GPNN_OK) status = put(w, w->made->y[c], '\n');
  }
  return status;
}

/* One line for a site, with a field for each time. */
static enum gpnn_status write_line(const struct writing *w, size_t i)
{
  size_t q = w->a->times;
  enum gpnn_status status = write_site(w, i);
  for (size_t j = 0; j < q && status == GPNN_OK; j++)
    status = put(w, w->made->y[i * q + j], j + 1 < q ? w->a->delimiter : '\n');
  return status;
}

static enum gpnn_status write_table(const struct writing *w)
{
  enum gpnn_status status = write_header(w);
  for (size_t i = 0; i < w->a->sites && status == GPNN_OK; i++) {
    status = w->a->wide ? write_line(w, i) : write_cells(w, i);
    progress_update("sites written", i + 1, w->a->sites);
  }
  return status;
}

/* ---- the mode ----------------------------------------------------------------------------- */

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct arguments *a = arguments;
  struct gpnn_separable made = {0};
  struct writing w = {.a = a, .made = &made, .err = err};
  const struct gpnn_npy_text_format format = {
      .delimiter = a->delimiter, .has_header = true, .na = "NA"};
  enum gpnn_status status = cli_open_output(cli->output, &w.output, err);
  if (status == GPNN_OK) status = cli_follow_name(w.output, cli->output, &format, err);
  if (status == GPNN_OK) status = gpnn_separable_draw(&made, &a->separable, err);
  if (status == GPNN_OK) status = write_table(&w);
  status = cli_close_output(w.output, status, err);
  gpnn_separable_release(&made);
  return status;
}

#define ARGUMENTS struct arguments

static const struct cli_option options[] = {
    CLI_COUNT(0, "sites", sites, "P", "sites (100)", 1, GPNN_PROCESS_MOST),
    CLI_COUNT(0, "times", times, "Q", "times, 0 to Q-1 (50)", 1, GPNN_PROCESS_MOST),
    CLI_COUNT(0, "dimension", dimension, "D", "coordinates of a site (2)", 1, 10000),
    CLI_REAL(0, "missing", missing, "SHARE", "probability that a cell is not observed (0.2)", 0, 1),
    CLI_LIST('t', "true", truths, "NAME=VALUE", "of the process and its noise"),
    CLI_FLAG(0, "wide", wide, "a row for each site, with a column for each time"),
    CLI_FLAG(0, "noiseless", truth, "all cells, and f before y: the process itself"),
    CLI_DELIMITER('d', "delimiter", delimiter, "C", "field delimiter (tab)"),
};

static const struct cli_tool tool = {
    .name = "gpnn-simulate grid",
    .synopsis = "[OPTION...]",
    .purpose = "Make synthetic observations of sites at times: columns x1, x2 ..., t, y.",
    .groups = CLI_THREADS | CLI_SEEDED | CLI_OUTPUT | CLI_PROGRESS,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_grid(int argc, char **argv)
{
  struct arguments arguments = {
      .sites = 100, .times = 50, .dimension = 2, .missing = 0.2, .delimiter = '\t'};
  return cli_main(&tool, &arguments, argc, argv);
}
