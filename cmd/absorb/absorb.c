#include "cmd/absorb/absorb.h"

#include <string.h>

static bool makes_model(const struct absorb_arguments *a)
{
  return gpnn_absorb_makes_model(a->how.rule);
}

static bool check_options(const struct cli *cli, const struct absorb_arguments *a)
{
  const char *of_models = makes_model(a) ? NULL : cli_given_of(cli, "params,uncertainty,gate");
  if (of_models != NULL)
    return cli_refuse(
        cli, "option --%s: is for the rules that make a model: full, hybrid and blocky", of_models);
  if (makes_model(a) && a->own != NULL)
    return cli_refuse(cli, "option --own: is for the rules that make rows: deflated, marginal and "
                           "none; a model has the rows of the index");
  if (makes_model(a) && strcmp(cli->output, "-") == 0)
    return cli_refuse(cli, "give the file to write the model to: -o FILE");
  return true;
}

bool absorb_resolve(const struct cli *cli, void *arguments)
{
  struct absorb_arguments *a = arguments;
  size_t n = 0;
  if (a->answers == NULL) return cli_refuse(cli, "give the answers: --answers FILE");
  if (a->id == NULL) a->id = "id";
  if (!check_options(cli, a)) return false;
  if (makes_model(a) && !open_default_params(cli, &a->params)) return false;
  const char *const paths[] = {a->params, a->answers, a->own, cli_operand(cli, 1)};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    n += paths[i] != NULL && strcmp(paths[i], "-") == 0;
  if (n > 1)
    return cli_refuse(cli, "only one of parameters, answers, --own and pool can come from standard "
                           "input");
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
    if (!cli_check_overwrite(cli, cli->output, paths[i])) return false;
  return cli_check_overwrite(cli, cli->output, cli_operand(cli, 0));
}

/* The view of the target that the answers are about. */
static enum gpnn_status find_view(struct absorbing *r, const struct gpnn_dataset *dataset,
                                  struct gpnn_error *err)
{
  const char *wanted = r->a->target == NULL ? r->answers.target : r->a->target;
  const size_t n = gpnn_dataset_n_targets(dataset);
  r->view = gpnn_dataset_target(dataset, 0);
  for (size_t t = 0; t < n; t++) {
    const struct gpnn_dataset *view = gpnn_dataset_target(dataset, t);
    if (strcmp(view->schema.target.name, wanted) != 0) continue;
    r->view = view;
    return GPNN_OK;
  }
  char shown[GPNN_MASK_BYTES], own[GPNN_MASK_BYTES];
  const char *name = r->view->schema.target.name;
  if (n == 1 && r->a->target == NULL) {
    cli_warn(r->cli, "the answers are about \"%s\", which is taken for the target \"%s\"",
             gpnn_mask(shown, wanted, strlen(wanted)), gpnn_mask(own, name, strlen(name)));
    return GPNN_OK;
  }
  return gpnn_fail(err, GPNN_EMISMATCH,
                   "%s: none of its targets is called \"%s\": name one by --targets",
                   cli_operand(r->cli, 0), gpnn_mask(shown, wanted, strlen(wanted)));
}

static enum gpnn_status open_index(struct absorbing *r, struct gpnn_error *err)
{
  const char *path = cli_operand(r->cli, 0);
  const char *advice = "owners ask about rows, not about cells";
  enum gpnn_status status = open_check_order(path, cli_operand(r->cli, 1), err);
  if (status == GPNN_OK && makes_model(r->a)) {
    r->opened.targets = r->a->target;
    r->opened.without_model = "answers are absorbed along with the rows of an index";
    status = open_files(r->cli, path, r->a->params, false, &r->opened, err);
    if (status == GPNN_OK) status = open_refuse_grid(r->opened.index, advice, err);
    return status == GPNN_OK ? find_view(r, r->opened.dataset, err) : status;
  }
  if (status == GPNN_OK) status = gpnn_index_open(&r->index, path, false, err);
  if (status == GPNN_OK) status = open_refuse_grid(r->index, advice, err);
  return status == GPNN_OK ? find_view(r, gpnn_index_dataset(r->index), err) : status;
}

static enum gpnn_status read_answers(struct absorbing *r, struct gpnn_error *err)
{
  enum gpnn_status status = gpnn_answers_read(r->a->answers, &r->answers, err);
  for (size_t i = 0; i < r->answers.n && status == GPNN_OK; i++) {
    const struct gpnn_field id = {r->answers.ids[i], strlen(r->answers.ids[i])};
    status = ids_add(&r->ids, &id, err);
  }
  return status == GPNN_OK ? ids_order(&r->ids, r->a->answers, r->answers.id_name, err) : status;
}

/* Single answers may be far from all else; but units are the same for all. */
static void warn_of_units(const struct absorbing *r)
{
  size_t n_far = gpnn_absorb_n_far(&r->answers);
  if (2 * n_far <= r->answers.n) return;
  cli_warn(r->cli,
           "%s: %zu of %zu answers are more than %d standard deviations from the mean that both "
           "owners agreed on: are they in other units?",
           r->a->answers, n_far, r->answers.n, GPNN_ABSORB_FAR);
}

static enum gpnn_status prepare(struct absorbing *r, struct gpnn_error *err)
{
  enum gpnn_status status = read_answers(r, err);
  if (status == GPNN_OK) status = open_index(r, err);
  if (status == GPNN_OK)
    status =
        gpnn_prefix(err, gpnn_absorb_check_units(&r->answers, r->view, err), "%s", r->a->answers);
  if (status != GPNN_OK) return status;
  warn_of_units(r);
  return pool_read(r->cli, r->view, cli_operand(r->cli, 1), r->a->id, &r->ids, !makes_model(r->a),
                   &r->pool, err);
}

static void release(struct absorbing *r)
{
  gpnn_answers_release(&r->answers);
  ids_release(&r->ids);
  pool_release(&r->pool);
  gpnn_index_close(r->index);
  open_release(&r->opened);
}

enum gpnn_status absorb_run(const struct cli *cli, void *arguments, struct gpnn_error *err)
{
  struct absorbing r = {.cli = cli, .a = arguments};
  enum gpnn_status status = prepare(&r, err);
  if (status == GPNN_OK)
    status = makes_model(r.a) ? absorb_write_model(&r, err) : absorb_write_rows(&r, err);
  release(&r);
  return status;
}
