/* gpnn-simulate data: synthetic tables. */
#include "cmd/simulate/simulate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cmd/common/cli.h"
#include "cmd/common/progress.h"
#include "cmd/simulate/law.h"
#include "simulate/synthetic.h"

/* Rows written between reports of progress. */
enum { ROUND = 1 << 18 };

struct arguments {
  enum gpnn_synthetic_kind kind;
  enum gpnn_likelihood likelihood;
  const char *function, *noise_law; /* NULL: not given */
  struct gpnn_warp warp;
  size_t rows, first, features, test, neighbours;
  struct simulate_inputs inputs;
  struct cli_list truths;
  double exposure_range;
  bool truth, no_header;
  char delimiter;
  struct gpnn_synthetic_options synthetic; /* resolve() fills it */
};

/* ---- options ------------------------------------------------------------------------------ */

/* An option of another kind would be ignored in silence. */
static bool check_kind(const struct cli *cli, enum gpnn_synthetic_kind kind)
{
  static const struct {
    enum gpnn_synthetic_kind kind;
    const char *option, *name;
  } own[] = {{GPNN_SYNTHETIC_FUNCTION, "function", "function"},
             {GPNN_SYNTHETIC_FEATURES, "features", "features"},
             {GPNN_SYNTHETIC_LOCAL, "test", "local"},
             {GPNN_SYNTHETIC_LOCAL, "neighbours", "local"}};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (cli_given(cli, own[i].option) && own[i].kind != kind)
      return cli_refuse(cli, "option --%s goes with --kind %s", own[i].option, own[i].name);
  if (kind == GPNN_SYNTHETIC_FUNCTION && !cli_given(cli, "function"))
    return cli_refuse(cli, "--kind function needs --function");
  return true;
}

/* ---- likelihood --------------------------------------------------------------------------- */

static const struct cli_word likelihoods[] = {{"gaussian", GPNN_LIKELIHOOD_GAUSSIAN},
                                              {"categorical", GPNN_LIKELIHOOD_CATEGORICAL},
                                              {"poisson", GPNN_LIKELIHOOD_POISSON},
                                              {"negbin", GPNN_LIKELIHOOD_NEGBIN},
                                              CLI_END_OF_WORDS};

/* Bits of the likelihoods that something goes with. */
enum {
  GAUSSIAN = 1 << GPNN_LIKELIHOOD_GAUSSIAN,
  CATEGORICAL = 1 << GPNN_LIKELIHOOD_CATEGORICAL,
  POISSON = 1 << GPNN_LIKELIHOOD_POISSON,
  NEGBIN = 1 << GPNN_LIKELIHOOD_NEGBIN,
};

/* Refuses 'what' unless the likelihood is one of those that it goes with. */
static bool goes_with(const struct cli *cli, const struct arguments *a, const char *what,
                      unsigned likelihoods_of)
{
  if ((likelihoods_of >> a->likelihood & 1) != 0) return true;
  char list[64] = "";
  for (const struct cli_word *word = likelihoods; word->word != NULL; word++) {
    if ((likelihoods_of >> word->value & 1) == 0) continue;
    size_t at = strlen(list);
    snprintf(list + at, sizeof list - at, "%s%s", at > 0 ? " or " : "", word->word);
  }
  return cli_refuse(cli, "%s goes with --likelihood %s", what, list);
}

static bool check_likelihood(const struct cli *cli, const struct arguments *a)
{
  if (a->likelihood == GPNN_LIKELIHOOD_CATEGORICAL && a->kind == GPNN_SYNTHETIC_FUNCTION)
    return cli_refuse(cli, "--likelihood categorical needs a function for each class: --kind gp, "
                           "features or local");
  return (!cli_given(cli, "noise-law") || goes_with(cli, a, "option --noise-law", GAUSSIAN)) &&
         (!cli_given(cli, "exposure-range") ||
          goes_with(cli, a, "option --exposure-range", POISSON | NEGBIN));
}

/* ---- parameters --------------------------------------------------------------------------- */

/* What a likelihood has besides the parameters of the process. */
struct likelihood_parameter {
  const char *name, *option; /* the name alone, and with that of its option */
  unsigned likelihoods;
  double low, high;
  bool whole;
};

/* Reads VALUE of NAME=VALUE. */
static bool read_value(const struct cli *cli, const struct likelihood_parameter *parameter,
                       const char *text, double *to)
{
  const char *value = text + strlen(parameter->name) + 1;
  char shown[GPNN_MASK_BYTES];
  double number;
  if (gpnn_number_read(value, strlen(value), &number) == GPNN_NUMBER_OK &&
      number >= parameter->low && number <= parameter->high &&
      (!parameter->whole || number == floor(number))) {
    *to = number;
    return true;
  }
  return cli_refuse(cli, "option --true: %s is a %snumber from %g to %g, not \"%s\"",
                    parameter->name, parameter->whole ? "whole " : "", parameter->low,
                    parameter->high, gpnn_mask(shown, value, strlen(value)));
}

/* Reads 'text' if it is a parameter of the likelihood; '*found' says whether it is. */
static bool read_own(const struct cli *cli, const struct arguments *a, const char *text,
                     struct gpnn_observation *to, bool *found)
{
  static const struct likelihood_parameter own[] = {
      {"mean", "option --true: mean", GAUSSIAN | POISSON | NEGBIN, -1e100, 1e100, false},
      {"dispersion", "option --true: dispersion", NEGBIN, 1e-6, 1e12, false},
      {"classes", "option --true: classes", CATEGORICAL, 2, 1000, true}};
  double classes = (double)to->n_classes, *const places[] = {&to->mean, &to->dispersion, &classes};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
    size_t length = strlen(own[i].name);
    *found = strncmp(text, own[i].name, length) == 0 && text[length] == '=';
    if (!*found) continue;
    if (!goes_with(cli, a, own[i].option, own[i].likelihoods) ||
        !read_value(cli, &own[i], text, places[i]))
      return false;
    to->n_classes = (size_t)classes;
    return true;
  }
  return true;
}

static bool read_truth(const struct cli *cli, const struct arguments *a, const char *text,
                       struct gpnn_observation *observation, struct gpnn_assumed_model *truth)
{
  bool found, is_noise = strncmp(text, "noise=", 6) == 0;
  if (!read_own(cli, a, text, observation, &found)) return false;
  if (found) return true;
  if (is_noise && !goes_with(cli, a, "option --true: noise", GAUSSIAN)) return false;
  if (a->kind == GPNN_SYNTHETIC_FUNCTION && !is_noise)
    return cli_refuse(cli, "option --true: a function has only mean, noise or dispersion");
  return simulate_set_parameter(cli, "true", text, GPNN_RISK_COEFFICIENT, true, truth);
}

/* Reads the parameters of process, noise and likelihood. */
static bool read_truths(const struct cli *cli, const struct arguments *a,
                        struct gpnn_synthetic_options *o)
{
  struct gpnn_assumed_model truth = simulate_default_parameters();
  o->observation.likelihood = a->likelihood;
  o->observation.n_classes = 3;
  o->observation.dispersion = 5;
  for (size_t i = 0; i < a->truths.n; i++)
    if (!read_truth(cli, a, a->truths.items[i], &o->observation, &truth)) return false;
  o->process = truth.covariance;
  o->observation.noise.variance = truth.covariance.noise;
  return true;
}

static bool read_laws(const struct cli *cli, const struct arguments *a,
                      struct gpnn_synthetic_options *o)
{
  if (!gpnn_noise_parse(a->noise_law, &o->observation.noise))
    return cli_refuse(cli, "option --noise-law: normal, laplace, or student:NU with NU above 2");
  if (a->warp.law == GPNN_WARP_NONE && cli_given(cli, "gamma"))
    return cli_refuse(cli, "option --gamma goes with --warp");
  if (a->warp.law != GPNN_WARP_NONE) o->warp = a->warp;
  return true;
}

/* ---- all of them -------------------------------------------------------------------------- */

/* The number of items to make: points if local, otherwise rows. */
static size_t items_wanted(const struct arguments *a)
{
  return a->kind == GPNN_SYNTHETIC_LOCAL ? a->test : a->rows;
}

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  struct gpnn_synthetic_options *o = &a->synthetic;
  *o = (struct gpnn_synthetic_options){.kind = a->kind,
                                       .n_features = a->features,
                                       .m = a->neighbours,
                                       .exposure_range = a->exposure_range,
                                       .seed = cli->seed,
                                       .threads = cli->threads};
  if (!check_kind(cli, a->kind) || !check_likelihood(cli, a) ||
      !simulate_find_function(cli, a->function, &o->function) ||
      !simulate_set_inputs(cli, &a->inputs, o->function, 2, &o->inputs) || !read_laws(cli, a, o) ||
      !read_truths(cli, a, o) || !simulate_check_delimiter(cli, a->delimiter))
    return false;
  const uint64_t n = items_wanted(a);
  if (n > GPNN_NEIGHBOURS_MOST || a->first > GPNN_NEIGHBOURS_MOST - n)
    return cli_refuse(cli, "rows and points have numbers below 1e18");
  o->n = o->kind == GPNN_SYNTHETIC_EXACT ? (uint64_t)a->first + a->rows : a->rows;
  return true;
}

/* ---- the table ---------------------------------------------------------------------------- */

static enum gpnn_status write_table(const struct arguments *a,
                                    const struct gpnn_synthetic *synthetic,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_synthetic_format format = {a->delimiter, a->truth};
  size_t n = items_wanted(a);
  size_t round = ROUND / gpnn_synthetic_rows_each(synthetic) + 1;
  enum gpnn_status status = GPNN_OK;
  if (!a->no_header) status = gpnn_synthetic_write_header(synthetic, &format, output, err);
  for (size_t done = 0; done < n && status == GPNN_OK;) {
    size_t take = n - done < round ? n - done : round;
    status = gpnn_synthetic_write(synthetic, &format, a->first + done, take, output, err);
    done += take;
    progress_update("rows written", done, n);
  }
  return status;
}

/* ---- the mode ----------------------------------------------------------------------------- */

static enum gpnn_status run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  const struct arguments *a = arguments;
  struct gpnn_synthetic *synthetic = NULL;
  struct gpnn_output *output = NULL;
  const struct gpnn_npy_text_format format = {
      .delimiter = a->delimiter, .has_header = !a->no_header, .na = ""};
  enum gpnn_status status = cli_open_output(cli->output, &output, err);
  if (status == GPNN_OK) status = cli_follow_name(output, cli->output, &format, err);
  if (status == GPNN_OK) status = gpnn_synthetic_new(&synthetic, &a->synthetic, err);
  if (status == GPNN_OK) status = write_table(a, synthetic, output, err);
  status = cli_close_output(output, status, err);
  gpnn_synthetic_free(synthetic);
  return status;
}

#define ARGUMENTS struct arguments

static const struct cli_word kinds[] = {{"gp", GPNN_SYNTHETIC_EXACT},
                                        {"features", GPNN_SYNTHETIC_FEATURES},
                                        {"local", GPNN_SYNTHETIC_LOCAL},
                                        {"function", GPNN_SYNTHETIC_FUNCTION},
                                        CLI_END_OF_WORDS};
static const struct cli_word warps[] = {{"none", GPNN_WARP_NONE},
                                        {"negative", GPNN_WARP_NEGATIVE},
                                        {"power", GPNN_WARP_POWER},
                                        {"cubic", GPNN_WARP_CUBIC},
                                        CLI_END_OF_WORDS};

static const struct cli_word noise_laws[] = {{"normal", 0}, {"laplace", 0}, CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_CHOICE(0, "kind", kind, "KIND", "", kinds),
    CLI_CHOICE(0, "likelihood", likelihood, "L", "", likelihoods),
    CLI_COUNT('n', "size", rows, "N", "rows; local: rows neighbours are from (1000)", 1,
              GPNN_NEIGHBOURS_MOST),
    CLI_COUNT(0, "first", first, "R", "number of the first row; local: point (0)", 0,
              GPNN_NEIGHBOURS_MOST),
    CLI_COUNT(0, "dimension", inputs.dimension, "D", "inputs (2, unless the function fixes it)", 1,
              10000),
    CLI_CHOICE(0, "input-law", inputs.law, "LAW", "of inputs", simulate_law_words),
    CLI_REAL(0, "scale", inputs.scale, "S", "sd, radius, half width (1; normal: 1/sqrt(D))", 1e-100,
             1e100),
    CLI_LIST('t', "true", truths, "NAME=VALUE",
             "of process, noise, target (rbf, 1, 0.9, 0.1, 0, 3, 5)"),
    CLI_TEXT_OF(0, "function", function, "NAME", "function: oakley, waves or zero",
                simulate_function_words),
    CLI_COUNT(0, "features", features, "F", "features: how many (2000)", 1, 1e7),
    CLI_COUNT('m', "neighbours", neighbours, "M", "local: neighbours of a point (100)", 1,
              GPNN_PROCESS_MOST - 1),
    CLI_COUNT(0, "test", test, "N", "local: points (1000)", 1, GPNN_NEIGHBOURS_MOST),
    CLI_TEXT_OF(0, "noise-law", noise_law, "LAW", "normal, laplace or student:NU (normal)",
                noise_laws),
    CLI_REAL(0, "exposure-range", exposure_range, "R", "counts: a column exposure, 1/R to R", 1,
             1e100),
    CLI_CHOICE(0, "warp", warp.law, "LAW", "of inputs", warps),
    CLI_REAL(0, "gamma", warp.gamma, "G", "strength of the warp (1)", 0, 100),
    CLI_FLAG(0, "noiseless", truth, "columns before y: what is known of it without noise"),
    CLI_FLAG(0, "no-header", no_header, "write no header"),
    CLI_DELIMITER('d', "delimiter", delimiter, "C", "field delimiter (tab)"),
};

static const struct cli_tool tool = {
    .name = "gpnn-simulate data",
    .synopsis = "[OPTION...]",
    .purpose = "Make a synthetic table, of any number of rows: inputs x1, x2 ..., target y.",
    .groups = CLI_THREADS | CLI_SEEDED | CLI_OUTPUT | CLI_PROGRESS,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = run};

int simulate_data(int argc, char **argv)
{
  struct arguments arguments = {.kind = GPNN_SYNTHETIC_EXACT,
                                .noise_law = "normal",
                                .warp = {GPNN_WARP_NONE, 1},
                                .rows = 1000,
                                .features = 2000,
                                .test = 1000,
                                .neighbours = 100,
                                .delimiter = '\t'};
  return cli_main(&tool, &arguments, argc, argv);
}
