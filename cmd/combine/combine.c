#include "cmd/combine/combine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/threads.h"
#include "stats/distributions/student.h"

/* All rows at once where something is learnt from them, or else a block of rows at a time. */
struct combining {
  const struct cli *cli;
  const struct combine_arguments *a;
  size_t n, n_rows, most;         /* tables; rows of this block, and of any */
  struct combine_table *tables;   /* owned; n */
  double *means, *variances;      /* owned; n_rows by n */
  double *df;                     /* owned; n_rows by n: degrees of freedom */
  struct gpnn_combined *combined; /* owned; n_rows */
  bool *differ;                   /* owned; n by n: tables that are known not to predict the same */
  bool has_df;
  double *truth;   /* owned; n_rows, NaN: not known; NULL: none is */
  double *weights; /* owned; n */
  struct gpnn_combine_truths truths;
  struct gpnn_combine_settings settings;
  struct gpnn_output *output;
};

/* ---- arguments ------------------------------------------------------------------------------ */

static bool read_prior(const struct cli *cli, struct combine_arguments *a)
{
  double prior[2];
  char shown[GPNN_MASK_BYTES];
  if (gpnn_list_read_pair(a->prior, prior) && prior[1] > 0 &&
      fmax(fabs(prior[0]), prior[1]) <= COMBINE_MOST && prior[1] * COMBINE_MOST >= 1) {
    a->prior_mean = prior[0];
    a->prior_sd = prior[1];
    return true;
  }
  return cli_refuse(cli,
                    "option --prior: a mean and a positive sd, MEAN,SD, between 1e-100 and 1e100, "
                    "not \"%s\"",
                    gpnn_mask(shown, a->prior, strlen(a->prior)));
}

bool combine_resolve(const struct cli *cli, void *arguments)
{
  struct combine_arguments *a = arguments;
  const bool has_weights = gpnn_combine_needs_weights(a->rule) || a->rule == GPNN_COMBINE_GPOE;
  size_t n_inputs = 0;
  if (a->prior != NULL && !read_prior(cli, a)) return false;
  if (a->check != NULL && (a->learn != NULL || cli_given(cli, "rule")))
    return cli_refuse(cli, "--check scores every rule, and learns weights itself: give no --rule, "
                           "no --learn");
  if (a->check != NULL && a->intervals.n > 0)
    return cli_refuse(cli, "--check writes no predictions that could have an --interval");
  if (a->weights != NULL && !has_weights)
    return cli_refuse(cli, "--weights are for the rules weights, stack and gpoe");
  if (a->learn != NULL && !gpnn_combine_needs_weights(a->rule))
    return cli_refuse(cli, "--learn is for the rules weights and stack");
  if (a->learn != NULL && a->weights != NULL)
    return cli_refuse(cli, "weights are given (--weights) or learnt (--learn)");
  const char *const truths = a->check != NULL ? a->check : a->learn;
  n_inputs += truths != NULL && strcmp(truths, "-") == 0;
  for (size_t i = 0; i < cli->n_operands; i++) n_inputs += strcmp(cli->operands[i], "-") == 0;
  return n_inputs <= 1 || cli_refuse(cli, "only one table can come from standard input");
}

/* Weights as they were given: of sum 1, or as powers. */
static enum gpnn_status read_weights(struct combining *r, struct gpnn_error *err)
{
  const bool are_equal = strcmp(r->a->weights, "equal") == 0;
  const char *rest = r->a->weights;
  double sum = 0;
  for (size_t i = 0; i < r->n; i++) {
    size_t length = 0;
    const char *item = gpnn_list_next(&rest, &length);
    if (are_equal)
      r->weights[i] = 1;
    else if (gpnn_number_read(item, length, &r->weights[i]) != GPNN_NUMBER_OK ||
             r->weights[i] < 0 || (rest != NULL) != (i + 1 < r->n))
      return gpnn_fail(err, GPNN_EINVAL,
                       "option --weights: equal, or %zu numbers that are not negative, with commas "
                       "between them, one for each table",
                       r->n);
    sum += r->weights[i];
  }
  if (!(sum > 0)) return gpnn_fail(err, GPNN_EINVAL, "option --weights: their sum is 0");
  const bool are_powers = r->a->rule == GPNN_COMBINE_GPOE && !are_equal;
  for (size_t i = 0; i < r->n && !are_powers; i++) r->weights[i] /= sum;
  r->settings.weights = r->weights;
  return GPNN_OK;
}

/* ---- what comes in -------------------------------------------------------------------------- */

/* For the first block, which no other is longer than. */
static enum gpnn_status allocate(struct combining *r, struct gpnn_error *err)
{
  if (r->means != NULL) return GPNN_OK;
  r->means = gpnn_alloc(r->n_rows, r->n, sizeof *r->means);
  r->variances = gpnn_alloc(r->n_rows, r->n, sizeof *r->variances);
  r->df = gpnn_alloc(r->n_rows, r->n, sizeof *r->df);
  r->combined = gpnn_alloc(r->n_rows, 1, sizeof *r->combined);
  const bool done =
      r->means != NULL && r->variances != NULL && r->df != NULL && r->combined != NULL;
  return done ? GPNN_OK : gpnn_fail_memory(err, "for predictions");
}

/* Puts the predictions of a row side by side.  One without an sd counts under the rule stack only.
 */
static void gather(struct combining *r)
{
  const bool needs_variance = r->a->check == NULL && gpnn_combine_needs_variance(r->a->rule);
  for (size_t i = 0; i < r->n_rows; i++) {
    for (size_t k = 0; k < r->n; k++) {
      const struct combine_table *t = &r->tables[k];
      const bool is_there = !isnan(t->mean[i]) && !(needs_variance && isnan(t->sd[i]));
      r->means[i * r->n + k] = is_there ? t->mean[i] : NAN;
      r->variances[i * r->n + k] = t->sd[i] * t->sd[i];
      r->df[i * r->n + k] = t->df[i];
    }
  }
}

static bool are_same(const struct combine_table *a, const struct combine_table *b)
{
  for (size_t i = 0; i < a->n; i++)
    if (a->mean[i] != b->mean[i] || a->sd[i] != b->sd[i]) return false;
  return true;
}

static void compare(struct combining *r)
{
  for (size_t k = 1; k < r->n; k++)
    for (size_t j = 0; j < k; j++)
      r->differ[k * r->n + j] = r->differ[k * r->n + j] || !are_same(&r->tables[j], &r->tables[k]);
}

/* Rules that multiply densities take models for independent: one that is there twice counts twice.
 */
static void tell_copies(const struct combining *r)
{
  const enum gpnn_combine_rule rule = r->a->rule;
  if (!gpnn_combine_needs_variance(rule) || gpnn_combine_needs_weights(rule) ||
      rule == GPNN_COMBINE_GPOE || r->tables[0].before + r->n_rows < 2)
    return;
  for (size_t k = 1; k < r->n; k++)
    for (size_t j = 0; j < k; j++)
      if (!r->differ[k * r->n + j])
        cli_warn(r->cli, "%s and %s predict the same: the rule %s counts that twice",
                 r->tables[j].name, r->tables[k].name, gpnn_combine_name(rule));
}

/* The truths: those of a file, or of the first table that has some. */
static enum gpnn_status find_truth(struct combining *r, struct gpnn_error *err)
{
  const char *path = r->a->check != NULL ? r->a->check : r->a->learn;
  if (path != NULL) return combine_read_truth(r->cli, r->a, path, &r->tables[0], &r->truth, err);
  for (size_t k = 0; k < r->n; k++) {
    if (r->tables[k].target == NULL) continue;
    r->truth = gpnn_alloc(r->n_rows, 1, sizeof *r->truth);
    if (r->truth == NULL) return gpnn_fail_memory(err, "for truths");
    if (r->n_rows > 0) memcpy(r->truth, r->tables[k].truth, r->n_rows * sizeof *r->truth);
    return GPNN_OK;
  }
  return GPNN_OK;
}

/* What can be said of a table once it has been read, or has no such column. */
static enum gpnn_status check_sds(const struct combining *r, struct gpnn_error *err)
{
  if (r->a->check != NULL || !gpnn_combine_needs_variance(r->a->rule)) return GPNN_OK;
  for (size_t k = 0; k < r->n; k++) {
    const struct combine_table *t = &r->tables[k];
    const bool is_known = t->has_ended || t->reading.sd == SIZE_MAX;
    if (is_known && !t->has_sd && t->before + t->n > 0)
      return gpnn_fail(
          err, GPNN_EMISMATCH,
          "%s: has no column 'sd', which the rule %s needs; the rule stack does without", t->name,
          gpnn_combine_name(r->a->rule));
  }
  return GPNN_OK;
}

/* The prior, as it was given or of the truths. */
static enum gpnn_status find_prior(struct combining *r, struct gpnn_error *err)
{
  struct gpnn_combine_settings *s = &r->settings;
  s->prior_mean = r->a->prior_mean;
  s->prior_variance = r->a->prior_sd * r->a->prior_sd;
  if (r->a->prior != NULL) return GPNN_OK;
  if (r->truth != NULL) gpnn_combine_add_truths(&r->truths, r->n_rows, r->truth);
  if (gpnn_combine_prior(&r->truths, &s->prior_mean, &s->prior_variance)) return GPNN_OK;
  return gpnn_fail(err, GPNN_EINVAL,
                   "the rule %s needs to know what would be predicted without data: give the mean "
                   "and sd of the target by --prior MEAN,SD",
                   gpnn_combine_name(r->a->rule));
}

/* Reads the next block of all tables, which are opened as they are needed. */
static enum gpnn_status read_block(struct combining *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < r->n && status == GPNN_OK; k++) {
    struct combine_table *t = &r->tables[k];
    if (t->name == NULL) status = combine_open(r->cli, r->a, r->cli->operands[k], t, err);
    if (status == GPNN_OK) status = combine_next(t, r->most, err);
    if (status == GPNN_OK && k > 0) status = combine_follow(&r->tables[0], t, err);
    r->has_df = r->has_df || t->reading.df != SIZE_MAX;
  }
  if (status != GPNN_OK) return status;
  r->n_rows = r->tables[0].n;
  status = allocate(r, err);
  if (status == GPNN_OK) status = check_sds(r, err);
  if (status != GPNN_OK) return status;
  gather(r);
  compare(r);
  return GPNN_OK;
}

/* ---- a block at a time ---------------------------------------------------------------------- */

/* Blocks of this many rows, and so many tables open at a time, take megabytes. */
enum { BLOCK = 4096, MOST_OPEN = 256 };

/* True if nothing has to be known of all rows but the prior. */
static bool can_stream(const struct combining *r)
{
  const struct combine_arguments *a = r->a;
  return r->n <= MOST_OPEN && a->check == NULL && a->id == NULL && a->learn == NULL &&
         (!gpnn_combine_needs_weights(a->rule) || a->weights != NULL);
}

/* Adds the truths of a table, if it has some, block by block. */
static enum gpnn_status scan_truths(struct combining *r, const char *path, bool *has_truths,
                                    struct gpnn_error *err)
{
  struct combine_table table;
  enum gpnn_status status = combine_open(r->cli, r->a, path, &table, err);
  *has_truths = status == GPNN_OK && table.target != NULL;
  while (*has_truths && status == GPNN_OK && !table.has_ended) {
    status = combine_next(&table, BLOCK, err);
    if (status == GPNN_OK) gpnn_combine_add_truths(&r->truths, table.n, table.truth);
  }
  combine_table_release(&table);
  return status;
}

/* Reads the truths of the first table that has some, which then is read once more.  That is not
 * possible if it, or one before it, is no file: then rows are not taken block by block. */
static enum gpnn_status scan(struct combining *r, struct gpnn_error *err)
{
  struct stat st;
  bool has_truths = r->a->prior != NULL || !gpnn_combine_needs_prior(r->a->rule);
  enum gpnn_status status = GPNN_OK;
  for (size_t k = 0; k < r->n && !has_truths && status == GPNN_OK; k++) {
    const char *path = r->cli->operands[k];
    if (strcmp(path, "-") == 0 || (stat(path, &st) == 0 && !S_ISREG(st.st_mode))) return GPNN_OK;
    status = scan_truths(r, path, &has_truths, err);
  }
  if (has_truths) r->most = BLOCK;
  return status;
}

static enum gpnn_status begin(struct combining *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  r->n = r->cli->n_operands;
  r->most = SIZE_MAX;
  r->tables = gpnn_alloc(r->n, 1, sizeof *r->tables);
  r->weights = gpnn_alloc(r->n, 1, sizeof *r->weights);
  r->differ = gpnn_alloc(r->n, r->n, sizeof *r->differ);
  if (r->tables == NULL || r->weights == NULL || r->differ == NULL)
    return gpnn_fail_memory(err, "for predictions");
  r->settings = (struct gpnn_combine_settings){
      .rule = r->a->rule, .n = r->n, .noise = r->a->noise, .spread = 1};
  if (r->a->weights != NULL) status = read_weights(r, err);
  if (status == GPNN_OK && can_stream(r)) status = scan(r, err);
  if (status == GPNN_OK) status = read_block(r, err);
  return status == GPNN_OK && r->most == SIZE_MAX ? find_truth(r, err) : status;
}

/* ---- predictions ---------------------------------------------------------------------------- */

static enum gpnn_status learn(struct combining *r, struct gpnn_error *err)
{
  struct gpnn_combine_settings *s = &r->settings;
  if (!gpnn_combine_needs_weights(s->rule) || s->weights != NULL) return GPNN_OK;
  if (r->truth == NULL)
    return gpnn_fail(err, GPNN_EINVAL,
                     "the rule %s learns weights from truths, which the tables have not: name a "
                     "table of some by --learn, or give --weights",
                     gpnn_combine_name(s->rule));
  s->weights = r->weights;
  return gpnn_combine_learn(s->rule, r->n, r->n_rows, r->means, r->variances, r->df, r->truth,
                            r->weights, &s->spread, &s->spare_variance, err);
}

static enum gpnn_status write_number(const struct combining *r, double value,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_output_text(r->output, "\t", err);
  if (status != GPNN_OK) return status;
  if (isinf(value) && value > 0) return gpnn_output_text(r->output, "inf", err);
  return gpnn_table_write_number(r->output, '\t', value, r->cli->na, err);
}

static enum gpnn_status write_names(const struct combining *r, struct gpnn_error *err)
{
  const struct combine_table *first = &r->tables[0];
  enum gpnn_status status = GPNN_OK;
  if (r->a->id != NULL)
    status = gpnn_table_write_field(r->output, '\t', r->a->id, strlen(r->a->id), err);
  if (status == GPNN_OK && first->target != NULL) {
    if (r->a->id != NULL) status = gpnn_output_text(r->output, "\t", err);
    if (status == GPNN_OK)
      status = gpnn_table_write_field(r->output, '\t', first->target, strlen(first->target), err);
  }
  const bool begins = r->a->id == NULL && first->target == NULL;
  if (status == GPNN_OK)
    status = gpnn_output_printf(r->output, err, "%smean\tsd%s", begins ? "" : "\t",
                                r->has_df ? "\tdf" : "");
  for (size_t k = 0; k < r->a->intervals.n && status == GPNN_OK; k++) {
    char percent[GPNN_NUMBER_BYTES] = "";
    if (r->a->intervals.n > 1) gpnn_number_write(percent, 100 * r->a->intervals.p[k]);
    status = gpnn_output_printf(r->output, err, "\tlower%s\tupper%s", percent, percent);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* Writes id and truth, and whatever comes before the mean's delimiter. */
static enum gpnn_status write_before(const struct combining *r, size_t i, struct gpnn_error *err)
{
  const struct combine_table *first = &r->tables[0];
  enum gpnn_status status = GPNN_OK;
  if (r->a->id != NULL)
    status = gpnn_table_write_field(r->output, '\t', first->ids.text[i], strlen(first->ids.text[i]),
                                    err);
  if (status != GPNN_OK || first->target == NULL) return status;
  if (r->a->id != NULL) return write_number(r, first->truth[i], err);
  return gpnn_table_write_number(r->output, '\t', first->truth[i], r->cli->na, err);
}

static void combine_row(void *context, size_t thread, size_t i)
{
  const struct combining *r = context;
  (void)thread;
  r->combined[i] = gpnn_combine(&r->settings, r->means + i * r->n, r->variances + i * r->n,
                                r->df + i * r->n, NULL);
}

static enum gpnn_status write_row(const struct combining *r, size_t i, struct gpnn_error *err)
{
  const struct gpnn_combined p = r->combined[i];
  const double sd = sqrt(p.variance), scale = sd * gpnn_student_unit_scale(p.df);
  const bool begins = r->a->id == NULL && r->tables[0].target == NULL;
  enum gpnn_status status = write_before(r, i, err);
  if (status == GPNN_OK)
    status = begins ? gpnn_table_write_number(r->output, '\t', p.mean, r->cli->na, err)
                    : write_number(r, p.mean, err);
  if (status == GPNN_OK) status = write_number(r, sd, err);
  if (status == GPNN_OK && r->has_df) status = write_number(r, p.df, err);
  for (size_t k = 0; k < r->a->intervals.n && status == GPNN_OK; k++) {
    const double half = scale * gpnn_student_half_width(r->a->intervals.p[k], p.df);
    status = write_number(r, p.mean - half, err);
    if (status == GPNN_OK) status = write_number(r, p.mean + half, err);
  }
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* Whole lines stand in the output whatever is wrong with the rows that follow. */
static enum gpnn_status write_block(struct combining *r, struct gpnn_error *err)
{
  enum { CHUNK = 8 };
  /* Normal densities take no time worth sharing; Student's t take a hundred microseconds. */
  const int threads = r->has_df ? r->cli->threads : 1;
  enum gpnn_status status = GPNN_OK;
  gpnn_threads_each(threads, r->n_rows, CHUNK, combine_row, r);
  for (size_t i = 0; i < r->n_rows && status == GPNN_OK; i++) status = write_row(r, i, err);
  return status == GPNN_OK ? gpnn_output_flush(r->output, err) : status;
}

static enum gpnn_status write_predictions(struct combining *r, struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  if (gpnn_combine_needs_prior(r->a->rule)) status = find_prior(r, err);
  if (status == GPNN_OK) status = learn(r, err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK) status = write_names(r, err);
  if (status == GPNN_OK) status = write_block(r, err);
  while (status == GPNN_OK && !r->tables[0].has_ended) {
    status = read_block(r, err);
    if (status == GPNN_OK) status = write_block(r, err);
  }
  if (status == GPNN_OK) tell_copies(r);
  return status;
}

/* ---- scores -------------------------------------------------------------------------------- */

static enum gpnn_status write_score(const struct combining *r, const char *name,
                                    const struct gpnn_combine_score *score, const double *weights,
                                    struct gpnn_error *err)
{
  const double numbers[] = {score->rmse, score->nll, score->cal, score->crps};
  enum gpnn_status status = gpnn_table_write_field(r->output, '\t', name, strlen(name), err);
  if (status == GPNN_OK) status = gpnn_output_printf(r->output, err, "\t%zu", score->n);
  for (size_t k = 0; k < 4 && status == GPNN_OK; k++)
    status = write_number(r, score->n > 0 ? numbers[k] : NAN, err);
  if (status == GPNN_OK && weights == NULL)
    status = gpnn_output_printf(r->output, err, "\t%s", r->cli->na);
  for (size_t k = 0; k < r->n && weights != NULL && status == GPNN_OK; k++)
    status = gpnn_output_printf(r->output, err, "%s%.4g", k == 0 ? "\t" : ",", weights[k]);
  return status == GPNN_OK ? gpnn_output_text(r->output, "\n", err) : status;
}

/* Scores a rule, and tells the weights that all rows teach. */
static enum gpnn_status check_rule(struct combining *r, enum gpnn_combine_rule rule,
                                   const char *name, const double *weights, struct gpnn_error *err)
{
  struct gpnn_combine_settings s = r->settings;
  struct gpnn_combine_score score;
  double spread, spare;
  s.rule = rule;
  s.weights = weights;
  enum gpnn_status status =
      gpnn_combine_check(&s, r->n_rows, r->means, r->variances, r->df, r->truth, &score, err);
  if (status == GPNN_OK && weights == NULL && gpnn_combine_needs_weights(rule)) {
    status = gpnn_combine_learn(rule, r->n, r->n_rows, r->means, r->variances, r->df, r->truth,
                                r->weights, &spread, &spare, err);
    weights = r->weights;
  }
  return status == GPNN_OK ? write_score(r, name, &score, weights, err) : status;
}

static enum gpnn_status check_model(struct combining *r, size_t k, struct gpnn_error *err)
{
  memset(r->weights, 0, r->n * sizeof *r->weights);
  r->weights[k] = 1;
  return check_rule(r, GPNN_COMBINE_STACK, r->tables[k].name, r->weights, err);
}

static bool all_have_sds(const struct combining *r)
{
  for (size_t i = 0; i < r->n_rows * r->n; i++)
    if (isnan(r->variances[i]) && !isnan(r->means[i])) return false;
  return true;
}

static enum gpnn_status write_scores(struct combining *r, struct gpnn_error *err)
{
  const bool has_sds = all_have_sds(r);
  enum gpnn_status status = find_prior(r, err);
  if (status == GPNN_OK) status = cli_open_output(r->cli->output, &r->output, err);
  if (status == GPNN_OK)
    status = gpnn_output_text(r->output, "rule\tn\trmse\tnll\tcal\tcrps\tweights\n", err);
  for (size_t k = 0; k < r->n && status == GPNN_OK; k++) status = check_model(r, k, err);
  for (enum gpnn_combine_rule rule = 0; rule < GPNN_COMBINE_RULES && status == GPNN_OK; rule++) {
    if (gpnn_combine_needs_variance(rule) && !has_sds) continue;
    status = check_rule(r, rule, gpnn_combine_name(rule), NULL, err);
    if (status != GPNN_OK || rule != GPNN_COMBINE_GPOE) continue;
    for (size_t k = 0; k < r->n; k++) r->weights[k] = 1 / (double)r->n;
    status = check_rule(r, rule, "gpoe-equal", r->weights, err);
  }
  return status;
}

static void release(struct combining *r)
{
  for (size_t k = 0; r->tables != NULL && k < r->n; k++) combine_table_release(&r->tables[k]);
  free(r->tables);
  free(r->means);
  free(r->variances);
  free(r->df);
  free(r->combined);
  free(r->differ);
  free(r->truth);
  free(r->weights);
}

enum gpnn_status combine_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct combining r = {.cli = cli, .a = arguments};
  enum gpnn_status status = begin(&r, err);
  if (status == GPNN_OK)
    status = r.a->check != NULL ? write_scores(&r, err) : write_predictions(&r, err);
  status = cli_close_output(r.output, status, err);
  release(&r);
  return status;
}
