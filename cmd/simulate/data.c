/* gpnn-simulate data: synthetic tables. */
#include "cmd/simulate/simulate.h"

#include <string.h>

#include "cmd/common/cli.h"
#include "cmd/common/progress.h"
#include "cmd/simulate/law.h"
#include "simulate/synthetic.h"

/* Rows between two looks at progress and failure. */
enum { ROUND = 1 << 18 };

/* Of what is 0, NULL or negative here, nothing was said. */
struct arguments {
  const char *kind, *function, *noise_law, *warp;
  size_t rows, first, features, test, neighbours;
  double gamma;
  struct simulate_inputs inputs;
  struct cli_list truths;
  bool truth, no_header;
  char delimiter;
};

/* ---- options ------------------------------------------------------------------------------ */

/* A mistake on the command line; the rest of it is not looked at. */
#define REFUSE(cli, ...) (cli_usage_error(cli, __VA_ARGS__), false)

static bool read_kind(const struct cli *cli, const struct arguments *a,
                      struct gpnn_synthetic_options *o)
{
  static const char *const names[] = {[GPNN_SYNTHETIC_FUNCTION] = "function",
                                      [GPNN_SYNTHETIC_EXACT] = "gp",
                                      [GPNN_SYNTHETIC_FEATURES] = "features",
                                      [GPNN_SYNTHETIC_LOCAL] = "local"};
  size_t i;
  if (!cli_find_word(a->kind, sizeof names / sizeof names[0], names, &i))
    return REFUSE(cli, "option --kind: gp, features, local or function");
  o->kind = (enum gpnn_synthetic_kind)i;
  return true;
}

/* Options of another kind would be passed over in silence. */
static bool check_kind(const struct cli *cli, const struct arguments *a,
                       enum gpnn_synthetic_kind kind)
{
  const struct {
    bool is_given;
    enum gpnn_synthetic_kind kind;
    const char *option, *name;
  } own[] = {{a->function != NULL, GPNN_SYNTHETIC_FUNCTION, "function", "function"},
             {a->features > 0, GPNN_SYNTHETIC_FEATURES, "features", "features"},
             {a->test > 0, GPNN_SYNTHETIC_LOCAL, "test", "local"},
             {a->neighbours > 0, GPNN_SYNTHETIC_LOCAL, "neighbours", "local"}};
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (own[i].is_given && own[i].kind != kind)
      return REFUSE(cli, "option --%s goes with --kind %s", own[i].option, own[i].name);
  if (kind == GPNN_SYNTHETIC_FUNCTION && a->function == NULL)
    return REFUSE(cli, "--kind function needs --function");
  return true;
}

/* The parameters of process and noise; a function has noise alone. */
static bool read_truths(const struct cli *cli, const struct arguments *a,
                        struct gpnn_synthetic_options *o)
{
  struct gpnn_assumed truth = {.covariance = {gpnn_kernel_by_name("rbf"), 0, 1, 0.9, 0.1}};
  for (size_t i = 0; i < a->truths.n; i++) {
    const char *text = a->truths.items[i];
    if (o->kind == GPNN_SYNTHETIC_FUNCTION && strncmp(text, "noise=", 6) != 0)
      return REFUSE(cli, "option --true: a function has noise alone");
    if (!simulate_set_parameter(cli, "true", text, GPNN_SIMULATE_COEFFICIENT, true, &truth))
      return false;
  }
  const struct gpnn_isotropic *c = &truth.covariance;
  o->process = (struct gpnn_process){c->kernel, c->smoothness, c->lengthscale, c->kernelscale};
  o->noise.variance = c->noise;
  return true;
}

static bool read_laws(const struct cli *cli, const struct arguments *a,
                      struct gpnn_synthetic_options *o)
{
  if (!gpnn_noise_parse(a->noise_law, &o->noise))
    return REFUSE(cli, "option --noise-law: normal, laplace, or student:NU with NU above 2");
  if (a->warp == NULL && a->gamma >= 0) return REFUSE(cli, "option --gamma goes with --warp");
  if (a->warp == NULL) return true;
  o->warp.gamma = a->gamma >= 0 ? a->gamma : 1;
  return gpnn_warp_by_name(a->warp, &o->warp.law) ||
         REFUSE(cli, "option --warp: negative, power or cubic");
}

/* How many items to make: rows, or points. */
static size_t items_wanted(const struct arguments *a, const struct gpnn_synthetic_options *o)
{
  if (o->kind != GPNN_SYNTHETIC_LOCAL) return a->rows;
  return a->test > 0 ? a->test : 1000;
}

static bool resolve(const struct cli *cli, const struct arguments *a,
                    struct gpnn_synthetic_options *o)
{
  *o = (struct gpnn_synthetic_options){
      .n_features = a->features > 0 ? a->features : 2000,
      .m = a->neighbours > 0 ? a->neighbours : 100,
      .seed = cli->seed,
      .threads = cli->threads,
  };
  if (!read_kind(cli, a, o) || !check_kind(cli, a, o->kind) ||
      !simulate_find_function(cli, a->function, &o->function) ||
      !simulate_set_inputs(cli, &a->inputs, o->function, 2, &o->inputs) || !read_laws(cli, a, o) ||
      !read_truths(cli, a, o) || !simulate_check_delimiter(cli, a->delimiter))
    return false;
  const uint64_t n = items_wanted(a, o);
  if (n > GPNN_NEIGHBOURS_MOST || a->first > GPNN_NEIGHBOURS_MOST - n)
    return REFUSE(cli, "rows and points have numbers below 1e18");
  o->n = o->kind == GPNN_SYNTHETIC_EXACT ? (uint64_t)a->first + a->rows : a->rows;
  return true;
}

/* ---- the table ---------------------------------------------------------------------------- */

static enum gpnn_status write_table(const struct arguments *a,
                                    const struct gpnn_synthetic *synthetic,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  const struct gpnn_synthetic_format format = {a->delimiter, a->truth};
  size_t n = items_wanted(a, gpnn_synthetic_given(synthetic));
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

static int run(const struct cli *cli, const struct arguments *a,
               const struct gpnn_synthetic_options *options)
{
  struct gpnn_synthetic *synthetic = NULL;
  struct gpnn_output *output = NULL;
  struct gpnn_error err = {0};
  enum gpnn_status status = cli_open_output(cli->output, &output, &err);
  if (status == GPNN_OK) status = gpnn_synthetic_new(&synthetic, options, &err);
  if (status == GPNN_OK) status = write_table(a, synthetic, output, &err);
  status = cli_close_output(output, status, &err);
  gpnn_synthetic_free(synthetic);
  return cli_end(cli, status, &err);
}

int simulate_data(int argc, char **argv)
{
  struct arguments a = {.kind = "gp",
                        .inputs = {.law = "normal"},
                        .noise_law = "normal",
                        .rows = 1000,
                        .gamma = -1,
                        .delimiter = '\t'};
  const struct cli_option options[] = {
      {"kind", 0, CLI_TEXT, &a.kind, "KIND", "gp, features, local or function (gp)", 0, 0},
      {"rows", 'n', CLI_COUNT, &a.rows, "N", "rows; local: rows neighbours are from (1000)", 1,
       GPNN_NEIGHBOURS_MOST},
      {"first", 0, CLI_COUNT, &a.first, "R", "number of the first row; local: point (0)", 0,
       GPNN_NEIGHBOURS_MOST},
      {"dimension", 0, CLI_COUNT, &a.inputs.dimension, "D", "inputs (as the function has, else 2)",
       1, 10000},
      {"inputs", 0, CLI_TEXT, &a.inputs.law, "LAW", "normal, disk or cube (normal)", 0, 0},
      {"scale", 0, CLI_REAL, &a.inputs.scale, "S", "sd, radius, half width (1; normal: 1/sqrt(D))",
       1e-100, 1e100},
      {"true", 't', CLI_LIST, &a.truths, "NAME=VALUE",
       "parameter of process and noise (rbf, 1, 0.9, 0.1)", 0, 0},
      {"function", 0, CLI_TEXT, &a.function, "NAME", "function: oakley, waves or zero", 0, 0},
      {"features", 0, CLI_COUNT, &a.features, "F", "features: how many (2000)", 1, 1e7},
      {"neighbours", 'm', CLI_COUNT, &a.neighbours, "M", "local: neighbours of a point (100)", 1,
       GPNN_PROCESS_MOST - 1},
      {"test", 0, CLI_COUNT, &a.test, "N", "local: points (1000)", 1, GPNN_NEIGHBOURS_MOST},
      {"noise-law", 0, CLI_TEXT, &a.noise_law, "LAW", "normal, laplace or student:NU (normal)", 0,
       0},
      {"warp", 0, CLI_TEXT, &a.warp, "LAW", "of inputs: negative, power or cubic (none)", 0, 0},
      {"gamma", 0, CLI_REAL, &a.gamma, "G", "strength of the warp (1)", 0, 100},
      {"truth", 0, CLI_FLAG, &a.truth, NULL, "a column f before y: y without noise", 0, 0},
      {"no-header", 0, CLI_FLAG, &a.no_header, NULL, "no line of names", 0, 0},
      {"delimiter", 'd', CLI_DELIMITER, &a.delimiter, "C", "field delimiter (tab)", 0, 0},
  };
  const struct cli_tool tool = {
      "gpnn-simulate data",
      "[OPTION...]",
      "Make a synthetic table, of any number of rows: inputs x1, x2 ..., target y.",
      CLI_THREADS | CLI_SEEDED | CLI_OUTPUT | CLI_PROGRESS,
      0,
      0};
  struct cli cli;
  struct gpnn_synthetic_options synthetic;
  int exit_status;
  if (!cli_begin(&cli, &tool, options, sizeof options / sizeof options[0], argc, argv,
                 &exit_status))
    return exit_status;
  return resolve(&cli, &a, &synthetic) ? run(&cli, &a, &synthetic) : 2;
}
