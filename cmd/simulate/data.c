/* gpnn-simulate data: synthetic tables. */
#include "cmd/simulate/simulate.h"

#include <string.h>

#include "cmd/common/cli.h"
#include "cmd/common/progress.h"
#include "cmd/simulate/law.h"
#include "simulate/synthetic.h"

/* Rows written between reports of progress. */
enum { ROUND = 1 << 18 };

struct arguments {
  enum gpnn_synthetic_kind kind;
  const char *function, *noise_law; /* NULL: not given */
  struct gpnn_warp warp;
  size_t rows, first, features, test, neighbours;
  struct simulate_inputs inputs;
  struct cli_list truths;
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

/* Reads the parameters of process and noise; with a known function only the noise. */
static bool read_truths(const struct cli *cli, const struct arguments *a,
                        struct gpnn_synthetic_options *o)
{
  struct gpnn_assumed_model truth = simulate_default_parameters();
  for (size_t i = 0; i < a->truths.n; i++) {
    const char *text = a->truths.items[i];
    if (o->kind == GPNN_SYNTHETIC_FUNCTION && strncmp(text, "noise=", 6) != 0)
      return cli_refuse(cli, "option --true: a function has only noise");
    if (!simulate_set_parameter(cli, "true", text, GPNN_RISK_COEFFICIENT, true, &truth))
      return false;
  }
  o->process = truth.covariance;
  o->noise.variance = truth.covariance.noise;
  return true;
}

static bool read_laws(const struct cli *cli, const struct arguments *a,
                      struct gpnn_synthetic_options *o)
{
  if (!gpnn_noise_parse(a->noise_law, &o->noise))
    return cli_refuse(cli, "option --noise-law: normal, laplace, or student:NU with NU above 2");
  if (a->warp.law == GPNN_WARP_NONE && cli_given(cli, "gamma"))
    return cli_refuse(cli, "option --gamma goes with --warp");
  if (a->warp.law != GPNN_WARP_NONE) o->warp = a->warp;
  return true;
}

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
                                       .seed = cli->seed,
                                       .threads = cli->threads};
  if (!check_kind(cli, a->kind) || !simulate_find_function(cli, a->function, &o->function) ||
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
             "parameter of process and noise (rbf, 1, 0.9, 0.1)"),
    CLI_TEXT_OF(0, "function", function, "NAME", "function: oakley, waves or zero",
                simulate_function_words),
    CLI_COUNT(0, "features", features, "F", "features: how many (2000)", 1, 1e7),
    CLI_COUNT('m', "neighbours", neighbours, "M", "local: neighbours of a point (100)", 1,
              GPNN_PROCESS_MOST - 1),
    CLI_COUNT(0, "test", test, "N", "local: points (1000)", 1, GPNN_NEIGHBOURS_MOST),
    CLI_TEXT_OF(0, "noise-law", noise_law, "LAW", "normal, laplace or student:NU (normal)",
                noise_laws),
    CLI_CHOICE(0, "warp", warp.law, "LAW", "of inputs", warps),
    CLI_REAL(0, "gamma", warp.gamma, "G", "strength of the warp (1)", 0, 100),
    CLI_FLAG(0, "noiseless", truth, "a column f before y: y without noise"),
    CLI_FLAG(0, "no-header", no_header, "write no header"),
    CLI_DELIMITER('d', "delimiter", delimiter, "C", "field delimiter (tab)"),
    CLI_OLD_NAME(0, "rows", "size"),
    CLI_OLD_NAME(0, "inputs", "input-law"),
    CLI_OLD_NAME(0, "truth", "noiseless"),
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
