/* gpnn-answer: a model, ids and a pool of rows in, answers about these rows out. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/secret.h"
#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/common/pool.h"
#include "cotrain/answers.h"
#include "cotrain/conceal.h"
#include "cotrain/ledger.h"
#include "cotrain/release.h"
#include "cotrain/respond.h"
#include "stats/privacy.h"

struct arguments {
  const char *params, *target, *id, *ids; /* NULL: not given */
  const char *public_params;              /* --hyper-from, also in 'params'; NULL: not given */
  enum gpnn_report report;
  /* Of privacy; 0 and NULL: not given. */
  enum gpnn_mechanism mechanism;
  const char *clip, *ledger, *new_ledger, *budget;
  double epsilon, delta, noise_factor;
  uint64_t insecure_seed;
  bool status, force;
  /* What private_resolve() makes of them. */
  bool hides, is_insecure; /* there is noise; from a seed */
  double range[2];         /* the clip */
  double allowed[2];       /* the budget: epsilon and delta */
};

/* Answers that are to be hidden.  A zeroed object may be released. */
struct private_answers {
  struct gpnn_clipped clipped;
  struct gpnn_concealment concealment;
};

/* ---- options of privacy -------------------------------------------------------------------- */

static bool read_pairs(const struct cli *cli, struct arguments *a)
{
  char shown[GPNN_MASK_BYTES];
  if (a->clip != NULL && !(gpnn_list_read_pair(a->clip, a->range) && a->range[0] < a->range[1]))
    return cli_refuse(cli, "option --clip: the lowest and the highest response, LO,HI, not \"%s\"",
                      gpnn_mask(shown, a->clip, strlen(a->clip)));
  if (a->budget != NULL && !(gpnn_list_read_pair(a->budget, a->allowed) && a->allowed[0] > 0 &&
                             a->allowed[1] >= GPNN_RELEASE_LEAST_DELTA && a->allowed[1] < 1))
    return cli_refuse(cli,
                      "option --budget: an epsilon above 0 and a delta between 0 and 1, EPS,DELTA, "
                      "not \"%s\"",
                      gpnn_mask(shown, a->budget, strlen(a->budget)));
  return true;
}

static bool resolve_new(const struct cli *cli, const struct arguments *a)
{
  if (a->ledger != NULL || a->status)
    return cli_refuse(cli, "--new-ledger makes an empty ledger, and does nothing else");
  return cli->n_operands == 0 ||
         cli_refuse(cli, "--new-ledger answers nothing: leave out the index");
}

static bool resolve_status(const struct cli *cli, const struct arguments *a)
{
  if (a->ledger == NULL) return cli_refuse(cli, "--status is of a ledger: give it by --ledger");
  if (a->budget == NULL && a->delta == 0)
    return cli_refuse(cli, "--status gives epsilon at some delta: give --delta or --budget");
  return cli->n_operands == 0 || cli_refuse(cli, "--status answers nothing: leave out the index");
}

/* What has no meaning without noise. */
static bool refuse_without_noise(const struct cli *cli)
{
  const char *of_noise =
      cli_given_of(cli, "delta,clip,ledger,budget,insecure-seed,force,hyper-from");
  return of_noise == NULL ||
         cli_refuse(cli, "--%s is for answers with noise: give --epsilon as well", of_noise);
}

static bool resolve_noise(const struct cli *cli, struct arguments *a)
{
  if ((a->epsilon > 0) == (a->noise_factor > 0))
    return cli_refuse(cli, "noise is given either by --epsilon or by --noise-factor");
  if (a->delta == 0)
    return cli_refuse(cli, "what noise promises needs --delta: well below 1 / the number of rows");
  if (a->clip == NULL)
    return cli_refuse(cli, "what noise promises needs --clip LO,HI: the range of responses, which "
                           "must not be taken from the responses");
  if (a->ledger == NULL)
    return cli_refuse(cli,
                      "what noise promises is shared by all releases about the same responses: "
                      "give their ledger by --ledger, which --new-ledger makes once");
  return cli_check_overwrite(cli, cli->output, a->ledger);
}

/* Checks the options, as a resolve() does. */
static bool private_resolve(const struct cli *cli, struct arguments *a)
{
  if (!read_pairs(cli, a)) return false;
  a->is_insecure = cli_given(cli, "insecure-seed");
  if (a->new_ledger != NULL) return resolve_new(cli, a);
  if (a->status) return resolve_status(cli, a);
  if (cli->n_operands == 0)
    return cli_refuse(cli, "an operand is missing: %s %s", cli->tool->name, cli->tool->synopsis);
  a->hides = a->epsilon > 0 || a->noise_factor > 0 || cli_given(cli, "mechanism");
  return a->hides ? resolve_noise(cli, a) : refuse_without_noise(cli);
}

/* ---- answers -------------------------------------------------------------------------------- */

static double promised_epsilon(const struct arguments *a, double mu)
{
  return a->epsilon > 0 ? a->epsilon : gpnn_privacy_epsilon(a->delta, mu);
}

/* What is promised, and what is not, in lines of comments. */
static enum gpnn_status write_notes(const struct arguments *a, double mu,
                                    struct gpnn_output *output, struct gpnn_error *err)
{
  const double numbers[] = {a->range[0], a->range[1], promised_epsilon(a, mu), a->delta, mu};
  const char *const before[] = {"# clip: ", " ", "\n# epsilon: ", "\n# delta: ", "\n# mu: "};
  enum gpnn_status status =
      gpnn_output_printf(output, err, "# mechanism: %s\n", gpnn_mechanism_name(a->mechanism));
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && status == GPNN_OK; i++) {
    status = gpnn_output_text(output, before[i], err);
    if (status == GPNN_OK) status = gpnn_output_number(output, numbers[i], err);
  }
  if (status != GPNN_OK) return status;
  return gpnn_output_printf(
      output, err,
      "\n# protected: each single response of the answering rows, which only column 'mean' depends "
      "on\n# not protected: inputs and number of the rows; %s\n%s",
      a->public_params != NULL ? "parameters, which are of public rows"
                               : "parameters, and whatever responses were used for them",
      a->is_insecure ? "# insecure: the noise is that of a seed, and protects nothing\n" : "");
}

static enum gpnn_status add_notes(const struct arguments *a, double mu,
                                  struct gpnn_answers *answers, struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  size_t length;
  enum gpnn_status status = gpnn_output_open_memory(&output, err);
  if (status != GPNN_OK) return status;
  status = write_notes(a, mu, output, err);
  if (status == GPNN_OK) {
    const char *text = gpnn_output_memory(output, &length);
    answers->notes = gpnn_copy_text(text, length);
    if (answers->notes == NULL) status = gpnn_fail_memory(err, "for answers");
  }
  gpnn_output_abandon(output);
  return status;
}

/* A promise that may fail for as much as one row of all protects nobody: giving one row away as it
 * is would keep it. */
static enum gpnn_status check_delta(const struct arguments *a, size_t n, struct gpnn_error *err)
{
  const double delta = fmax(a->delta, a->allowed[1]);
  if (a->force || delta * (double)n < 1) return GPNN_OK;
  return gpnn_fail(
      err, GPNN_EINVAL,
      "a delta of %g is kept by giving away one of %zu rows: take one well below %.2g, "
      "or --force it",
      delta, n, 1 / (double)n);
}

/* Clips the responses of the model that answers about the rows 'x', and finds the noise: answers
 * are to come from '->clipped.model' then.  Says in the notes of 'answers' what is promised. */
static enum gpnn_status private_prepare(const struct cli *cli, const struct arguments *a,
                                        const struct gpnn_model *model, const double *x,
                                        struct gpnn_answers *answers, struct private_answers *p,
                                        struct gpnn_error *err)
{
  const struct gpnn_concealment_options options = {
      .mechanism = a->mechanism,
      .width = a->range[1] - a->range[0],
      .mu = a->epsilon > 0 ? gpnn_privacy_mu(a->epsilon, a->delta) : 0,
      .factor = a->noise_factor};
  enum gpnn_status status = check_delta(a, gpnn_model_channel(model, 0)->dataset->n, err);
  if (status == GPNN_OK && answers->n > 0)
    status = gpnn_concealment_find(model, x, answers, &options, &p->concealment, err);
  if (status == GPNN_OK)
    status = gpnn_clipped_new(model, a->range[0], a->range[1], &p->clipped, err);
  if (status == GPNN_OK) status = add_notes(a, p->concealment.mu, answers, err);
  if (status == GPNN_OK && a->public_params == NULL)
    cli_warn(cli, "what answers tell follows from the parameters as well: if responses that are "
                  "to be hidden were used for these, give parameters of public rows, by "
                  "--hyper-from");
  return status;
}

/* ---- charges -------------------------------------------------------------------------------- */

/* What the releases of a ledger promise together; those of a seed nothing. */
static double epsilon_of(const struct gpnn_ledger_total *total, double delta)
{
  return gpnn_privacy_epsilon(delta, total->insecure > 0 ? INFINITY : total->mu);
}

static void tell_total(const struct cli *cli, const struct gpnn_ledger_total *total, double delta)
{
  if (total->insecure > 0)
    cli_warn(cli, "%zu of %zu releases have noise of a seed, and are not private", total->insecure,
             total->releases);
  else
    cli_say(cli, "releases so far: %zu, together epsilon = %.6g at delta = %g", total->releases,
            epsilon_of(total, delta), delta);
}

/* Adds to the notes which line of the ledger the answers were charged to. */
static enum gpnn_status note_charge(const struct gpnn_ledger_total *total,
                                    struct gpnn_answers *answers, struct gpnn_error *err)
{
  const size_t before = strlen(answers->notes), most = before + 80;
  char *notes = gpnn_alloc(most, 1, 1);
  if (notes == NULL) return gpnn_fail_memory(err, "for answers");
  snprintf(notes, most, "%s# ledger: release %zu %s\n", answers->notes, total->releases,
           total->check);
  free(answers->notes);
  answers->notes = notes;
  return GPNN_OK;
}

static enum gpnn_status charge(const struct cli *cli, const struct arguments *a,
                               const struct gpnn_concealment *c, struct gpnn_answers *answers,
                               struct gpnn_error *err)
{
  const struct gpnn_ledger_line line = {.answers = answers->n,
                                        .mechanism = a->mechanism,
                                        .sensitivity = c->release.sensitivity,
                                        .tau = c->tau,
                                        .mu = c->mu,
                                        .epsilon = promised_epsilon(a, c->mu),
                                        .delta = a->delta,
                                        .is_insecure = a->is_insecure};
  const double most = a->budget == NULL ? INFINITY : gpnn_privacy_mu(a->allowed[0], a->allowed[1]);
  const double delta = a->budget == NULL ? a->delta : a->allowed[1];
  struct gpnn_ledger_total total;
  enum gpnn_status status = gpnn_ledger_charge(a->ledger, &line, most, &total, err);
  if (status != GPNN_OK) return status;
  tell_total(cli, &total, delta);
  return note_charge(&total, answers, err);
}

/* Charges the ledger, says in the notes which line did it, and adds the noise: afterwards the
 * answers may be told. */
static enum gpnn_status private_hide(const struct cli *cli, const struct arguments *a,
                                     struct gpnn_answers *answers, const struct private_answers *p,
                                     struct gpnn_error *err)
{
  struct gpnn_secret secret;
  enum gpnn_status status = GPNN_OK;
  if (answers->n == 0) return GPNN_OK;
  if (a->is_insecure)
    gpnn_secret_insecure(&secret, a->insecure_seed);
  else
    status = gpnn_secret_start(&secret, err);
  if (status != GPNN_OK) return status;
  if (a->noise_factor > 0)
    cli_warn(cli, "noise of factor %g promises epsilon = %.6g at delta = %g", a->noise_factor,
             promised_epsilon(a, p->concealment.mu), a->delta);
  status = charge(cli, a, &p->concealment, answers, err);
  if (status == GPNN_OK) status = gpnn_concealment_apply(&p->concealment, &secret, answers, err);
  gpnn_secret_end(&secret);
  return status;
}

static void private_release(struct private_answers *p)
{
  gpnn_concealment_free(&p->concealment);
  gpnn_clipped_free(&p->clipped);
}

/* ---- status --------------------------------------------------------------------------------- */

/* Six digits: what rounding leaves of a promise of 1 is not 0.9999999999999988. */
static enum gpnn_status write_line(struct gpnn_output *output, const char *name, double value,
                                   struct gpnn_error *err)
{
  return gpnn_output_printf(output, err, "%s\t%.6g\n", name, value);
}

/* Makes an empty ledger. */
static enum gpnn_status private_new_ledger(const struct arguments *a, struct gpnn_error *err)
{
  return gpnn_ledger_new(a->new_ledger, err);
}

/* Prints what a ledger comes to. */
static enum gpnn_status private_status(const struct cli *cli, const struct arguments *a,
                                       struct gpnn_error *err)
{
  struct gpnn_ledger_total total;
  struct gpnn_output *output = NULL;
  const double delta = a->delta > 0 ? a->delta : a->allowed[1];
  enum gpnn_status status = gpnn_ledger_read(a->ledger, &total, err);
  if (status == GPNN_OK) status = cli_open_output(cli->output, &output, err);
  if (status != GPNN_OK) return status;
  status = write_line(output, "releases", (double)total.releases, err);
  if (status == GPNN_OK && total.insecure > 0)
    status = write_line(output, "insecure", (double)total.insecure, err);
  if (status == GPNN_OK) status = write_line(output, "mu_total", total.mu, err);
  if (status == GPNN_OK) status = write_line(output, "delta", delta, err);
  if (status == GPNN_OK) status = write_line(output, "epsilon", epsilon_of(&total, delta), err);
  if (status == GPNN_OK && a->budget != NULL) {
    const double most = gpnn_privacy_mu(a->allowed[0], a->allowed[1]);
    const double left = total.insecure > 0 ? 0 : sqrt(fmax(0, most * most - total.mu * total.mu));
    status = write_line(output, "mu_left", left, err);
    if (status == GPNN_OK)
      status = write_line(output, "epsilon_left", gpnn_privacy_epsilon(delta, left), err);
  }
  if (status == GPNN_OK && total.insecure > 0) tell_total(cli, &total, delta);
  return cli_close_output(output, status, err);
}

struct answering {
  const struct cli *cli;
  const struct arguments *a;
  struct opened opened;
  struct gpnn_model *model;
  struct ids asked;
  struct pool pool; /* the rows that are asked about */
  struct gpnn_answers answers;
  struct private_answers hidden;
};

static bool resolve(const struct cli *cli, void *arguments)
{
  struct arguments *a = arguments;
  if (a->id == NULL) a->id = "id";
  if (!private_resolve(cli, a)) return false;
  if (a->status || a->new_ledger != NULL) return true;
  if (a->params != NULL && a->public_params != NULL)
    return cli_refuse(cli, "--params and --hyper-from both name parameters: give one of them");
  if (a->public_params != NULL) a->params = a->public_params;
  if (!open_default_params(cli, &a->params)) return false;
  const char *const paths[] = {a->params, a->ids, cli_operand(cli, 1)};
  size_t n = 0;
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    n += paths[i] != NULL && strcmp(paths[i], "-") == 0;
  if (n > 1)
    return cli_refuse(cli, "only one of parameters, pool and --ids can come from standard input");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (!cli_check_overwrite(cli, cli->output, paths[i])) return false;
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0));
}

static enum gpnn_status open_all(struct answering *r, struct gpnn_error *err)
{
  const struct cli *cli = r->cli;
  enum gpnn_status status =
      open_single(cli, r->a->params, r->a->target, "owners answer about rows, not about cells",
                  &r->opened, &r->model, err);
  if (status == GPNN_OK) status = gpnn_respond_check(r->model, err);
  if (status == GPNN_OK && r->a->ids != NULL)
    status = ids_read(cli, r->a->ids, r->a->id, &r->asked, err);
  if (status != GPNN_OK) return status;
  return pool_read(cli, r->opened.dataset, cli_operand(cli, 1), r->a->id,
                   r->a->ids == NULL ? NULL : &r->asked, false, &r->pool, err);
}

/* Says who answers, about what. */
static enum gpnn_status begin_answers(struct answering *r, struct gpnn_error *err)
{
  struct gpnn_answers *answers = &r->answers;
  const struct gpnn_dataset *view = gpnn_model_channel(r->model, 0)->dataset;
  const char *target = view->schema.target.name;
  answers->report = r->a->report;
  answers->n = r->pool.ids.n;
  answers->centre = view->scaling.y_mean;
  answers->scale = view->scaling.y_sd;
  answers->id_name = gpnn_copy_text(r->a->id, strlen(r->a->id));
  answers->target = gpnn_copy_text(target, strlen(target));
  enum gpnn_status status = gpnn_answers_allocate(answers, r->a->hides, err);
  for (size_t i = 0; i < answers->n && status == GPNN_OK; i++) {
    const char *id = r->pool.ids.text[i];
    answers->ids[i] = gpnn_copy_text(id, strlen(id));
    if (answers->ids[i] == NULL) status = gpnn_fail_memory(err, "for answers");
  }
  if (status == GPNN_OK && (answers->id_name == NULL || answers->target == NULL))
    status = gpnn_fail_memory(err, "for answers");
  return status;
}

static enum gpnn_status find_answers(struct answering *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (!r->a->hides) return gpnn_respond(r->model, r->model, r->pool.x, &r->answers, err);
  status = private_prepare(r->cli, r->a, r->model, r->pool.x, &r->answers, &r->hidden, err);
  if (status != GPNN_OK) return status;
  return gpnn_respond(r->hidden.clipped.model, r->hidden.clipped.blank, r->pool.x, &r->answers,
                      err);
}

/* What is charged to a ledger may be told; so the output is opened before. */
static enum gpnn_status write_answers(struct answering *r, struct gpnn_error *err)
{
  struct gpnn_output *output = NULL;
  enum gpnn_status status = cli_open_output(r->cli->output, &output, err);
  if (status == GPNN_OK && r->a->hides)
    status = private_hide(r->cli, r->a, &r->answers, &r->hidden, err);
  if (status == GPNN_OK) status = gpnn_answers_write(&r->answers, output, err);
  return cli_close_output(output, status, err);
}

static void release(struct answering *r)
{
  private_release(&r->hidden);
  gpnn_answers_release(&r->answers);
  pool_release(&r->pool);
  ids_release(&r->asked);
  gpnn_model_free(r->model);
  open_release(&r->opened);
}

static enum gpnn_status work(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct answering r = {.cli = cli, .a = arguments};
  if (r.a->new_ledger != NULL) return private_new_ledger(r.a, err);
  if (r.a->status) return private_status(cli, r.a, err);
  enum gpnn_status status = open_all(&r, err);
  if (status == GPNN_OK) status = begin_answers(&r, err);
  if (status == GPNN_OK) status = find_answers(&r, err);
  if (status == GPNN_OK) status = write_answers(&r, err);
  release(&r);
  return status;
}

/* ---- options, main ------------------------------------------------------------------------- */

#define ARGUMENTS struct arguments

static const struct cli_word reports[] = {{"none", GPNN_REPORT_NONE},
                                          {"marginal", GPNN_REPORT_MARGINAL},
                                          {"full", GPNN_REPORT_FULL},
                                          CLI_END_OF_WORDS};

static const struct cli_word mechanisms[] = {{"shaped", GPNN_MECHANISM_SHAPED},
                                             {"isotropic", GPNN_MECHANISM_ISOTROPIC},
                                             {"path", GPNN_MECHANISM_PATH},
                                             CLI_END_OF_WORDS};

static const struct cli_option options[] = {
    CLI_TEXT('p', "params", params, "FILE", "parameters (standard input)"),
    CLI_TEXT(0, "hyper-from", public_params, "FILE", "in place of -p: parameters of public rows"),
    CLI_TEXT(0, "targets", target, "NAME", "the target, if there are several"),
    CLI_TEXT(0, "id", id, "COL", "the column that both owners know rows by (id)"),
    CLI_TEXT(0, "ids", ids, "FILE", "what is asked: a table of ids (all rows of the pool)"),
    CLI_CHOICE(0, "report", report, "WHAT", "tell besides means", reports),
    CLI_REAL(0, "epsilon", epsilon, "E", "hide responses: add noise that promises E", 1e-6, 1e6),
    CLI_REAL(0, "delta", delta, "D", "but for a chance of D", GPNN_RELEASE_LEAST_DELTA, 0.999999),
    CLI_TEXT(0, "clip", clip, "LO,HI", "what responses can be, for all to know"),
    CLI_CHOICE(0, "mechanism", mechanism, "HOW", "(shaped, with --epsilon)", mechanisms),
    CLI_REAL(0, "noise-factor", noise_factor, "F", "noise of F scales; tells its epsilon", 1e-9,
             1e9),
    CLI_TEXT(0, "ledger", ledger, "FILE", "charge the release to this ledger"),
    CLI_TEXT(0, "new-ledger", new_ledger, "FILE", "make an empty ledger; no INDEX"),
    CLI_TEXT(0, "budget", budget, "EPS,DELTA", "refuse what brings the ledger above it"),
    CLI_FLAG(0, "status", status, "print what --ledger comes to at --delta; no INDEX"),
    CLI_FLAG(0, "force", force, "take a delta of 1 / rows or more"),
    CLI_SEED(0, "insecure-seed", insecure_seed, "N", "noise for tests, which protects nothing"),
};

static const struct cli_tool tool = {
    .name = "gpnn-answer",
    .synopsis = "[OPTION...] -p PARAMS INDEX [POOL]",
    .purpose = "Answer what another owner of data asks about rows of a pool: predictions, and\n"
               "how certain they are.",
    .groups = CLI_OUTPUT | CLI_TABLE | CLI_THREADS,
    .min_operands = 0, /* of --status and --new-ledger; resolve() looks for the index */
    .max_operands = 2,
    CLI_OPTIONS(options),
    .resolve = resolve,
    .run = work};

int main(int argc, char **argv)
{
  struct arguments arguments = {.report = GPNN_REPORT_MARGINAL, .mechanism = GPNN_MECHANISM_SHAPED};
  return cli_main(&tool, &arguments, argc, argv);
}
