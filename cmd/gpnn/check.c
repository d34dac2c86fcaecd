#include "cmd/gpnn/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/list.h"
#include "base/memory.h"
#include "cmd/common/open.h"
#include "dataset/index/index.h"
#include "dataset/reader.h"
#include "table/columns.h"
#include "table/schema.h"

bool check_can_reread(const char *path)
{
  struct stat st;
  return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

enum gpnn_status check_open(const struct cli *cli, const struct gpnn_dataset *dataset,
                            const char *path, const struct beginning *begins,
                            struct gpnn_table **table, struct gpnn_error *err)
{
  struct cli asked = *cli;
  if (begins->no_header) asked.table.has_header = false;
  if (begins->skip_lines > 0) asked.table.skip_lines = begins->skip_lines;
  return open_table(&asked, dataset, path, table, err);
}

/* Whether the table to predict has the inputs if it begins like that.  Sets '*preamble' to how many
 * lines seem to come before the table if it has not. */
static enum gpnn_status match_columns(const struct cli *cli, const struct places *places,
                                      const struct beginning *begins,
                                      const struct gpnn_dataset *dataset, size_t *preamble,
                                      struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  struct gpnn_columns_map map = {0};
  enum gpnn_status status = check_open(cli, dataset, places->test, begins, &table, err);
  if (status != GPNN_OK) return status;
  status = gpnn_schema_match(&dataset->schema, table, &map, err);
  *preamble = status == GPNN_OK ? 0 : gpnn_table_preamble(table);
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  return status;
}

/* Where the table to predict does not begin as the command line says, it may begin with a row, like
 * the table learnt from, or later. */
static enum gpnn_status find_beginning(const struct cli *cli, struct places *places,
                                       const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct beginning *begins = &places->test_begins;
  size_t preamble = 0, none;
  struct gpnn_table *table = NULL;
  enum gpnn_status status = open_table(cli, dataset, places->test, &table, err);
  if (status != GPNN_OK) return status;
  begins->no_header = !gpnn_table_has_header(table);
  gpnn_table_close(table);
  status = match_columns(cli, places, begins, dataset, &preamble, err);
  struct beginning later = {begins->no_header, preamble};
  if (status == GPNN_OK || preamble == 0 || cli->table.skip_lines > 0 ||
      match_columns(cli, places, &later, dataset, &none, NULL) != GPNN_OK)
    return status;
  *begins = later;
  return GPNN_OK;
}

/* Whether the table to predict has the columns that are to be carried along. */
static enum gpnn_status check_carried(const struct cli *cli, const struct places *places,
                                      const struct gpnn_dataset *dataset, struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  size_t *columns = NULL, n_columns;
  const char *list = cli_text_given(cli, "keep");
  if (list == NULL) return GPNN_OK;
  enum gpnn_status status =
      check_open(cli, dataset, places->test, &places->test_begins, &table, err);
  if (status == GPNN_OK) status = gpnn_columns_find_list(table, list, &columns, &n_columns, err);
  free(columns);
  gpnn_table_close(table);
  return status;
}

static enum gpnn_status check_columns(const struct cli *cli, struct places *places,
                                      struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, places->working.index, false, err);
  const struct gpnn_dataset *dataset = status == GPNN_OK ? gpnn_index_dataset(index) : NULL;
  if (status == GPNN_OK && check_can_reread(places->test))
    status = find_beginning(cli, places, dataset, err);
  else if (status == GPNN_OK)
    places->test_begins.no_header = !dataset->schema.has_header || !cli->table.has_header;
  if (status == GPNN_OK && check_can_reread(places->test))
    status = check_carried(cli, places, dataset, err);
  gpnn_index_close(index);
  return status;
}

/* Fails with the first column of a list that the training table lacks and the other has. */
static enum gpnn_status check_list(const struct gpnn_table *train, const struct gpnn_table *test,
                                   const char *list, struct gpnn_error *err)
{
  size_t column, length;
  char shown[GPNN_MASK_BYTES];
  enum gpnn_status status = GPNN_OK;
  for (const char *item; status == GPNN_OK && (item = gpnn_list_next(&list, &length)) != NULL;) {
    char *name = gpnn_copy_text(item, length);
    if (name == NULL) return gpnn_fail_memory(err, "for the columns");
    if (gpnn_columns_find(train, name, &column, NULL) == GPNN_EINVAL &&
        gpnn_columns_find(test, name, &column, NULL) == GPNN_OK)
      status =
          gpnn_fail(err, GPNN_EINVAL, "%s: no column '%s', which %s has", gpnn_table_name(train),
                    gpnn_mask(shown, name, length), gpnn_table_name(test));
    free(name);
  }
  return status;
}

/* The same of targets and inputs, where the training table can be opened: what else is wrong with
 * it, gpnn-index says. */
static enum gpnn_status check_asked(const struct cli *cli, const struct places *places,
                                    const struct gpnn_table *test, struct gpnn_error *err)
{
  static const char *const lists[] = {"target", "inputs"};
  struct gpnn_table *train = NULL;
  enum gpnn_status status = GPNN_OK;
  if (!check_can_reread(places->train) ||
      gpnn_table_open(&train, places->train, &cli->table, NULL) != GPNN_OK)
    return GPNN_OK;
  for (size_t i = 0; i < sizeof lists / sizeof *lists && status == GPNN_OK; i++) {
    const char *given = cli_text_given(cli, lists[i]);
    if (given != NULL) status = check_list(train, test, given, err);
  }
  gpnn_table_close(train);
  return status;
}

enum gpnn_status check_test(const struct cli *cli, struct places *places, bool has_index,
                            struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  if (places->test == NULL) return GPNN_OK;
  if (has_index) return check_columns(cli, places, err);
  if (!check_can_reread(places->test)) return GPNN_OK;
  enum gpnn_status status = gpnn_table_open(&table, places->test, &cli->table, err);
  if (status == GPNN_OK) status = check_asked(cli, places, table, err);
  gpnn_table_close(table);
  return status;
}

/* ---- rows in gaps ------------------------------------------------------------------------- */

static bool are_numbers(const struct opened *opened)
{
  bool are = true;
  for (size_t t = 0; t < opened->n; t++)
    are = are && gpnn_dataset_n_classes(opened->channels[t].dataset) == 0 &&
          !gpnn_likelihood_is_of_counts(opened->parameters[t].likelihood);
  return are;
}

/* Whether there are enough rows, and most lie between training rows, not outside their range. */
static bool lie_between(const struct opened *opened, const struct gpnn_reader_rows *rows)
{
  enum { FEWEST = 100, ONE_IN = 5 };
  return rows->n >= FEWEST &&
         gpnn_dataset_count_outside(opened->dataset, rows->n, rows->x) * ONE_IN <= rows->n;
}

enum gpnn_status check_can_imitate(const struct cli *cli, const struct places *places, bool *can,
                                   struct gpnn_error *err)
{
  struct cli asked = *cli;
  struct opened opened = {0};
  struct gpnn_table *table = NULL;
  struct gpnn_reader_rows rows = {0};
  if (places->test_begins.no_header) asked.table.has_header = false;
  if (places->test_begins.skip_lines > 0) asked.table.skip_lines = places->test_begins.skip_lines;
  enum gpnn_status status =
      open_files(cli, places->working.index, places->working.params, false, &opened, err);
  *can = status == GPNN_OK && are_numbers(&opened);
  if (*can) status = open_table(&asked, opened.dataset, places->test, &table, err);
  if (*can && status == GPNN_OK)
    status = gpnn_reader_rows_read(&rows, opened.dataset, table, true, false, true, err);
  *can = *can && status == GPNN_OK && lie_between(&opened, &rows);
  gpnn_reader_rows_release(&rows);
  gpnn_table_close(table);
  open_release(&opened);
  return status;
}

/* ---- the model that is replaced ----------------------------------------------------------- */

/* The name of a column, or, where it has none, its number from 1. */
static const char *name_column(const struct gpnn_column *column, char text[GPNN_MASK_BYTES])
{
  if (column->name[0] != '\0') return gpnn_mask(text, column->name, strlen(column->name));
  snprintf(text, GPNN_MASK_BYTES, "%zu", column->position + 1);
  return text;
}

/* The first of 'n' columns that is not among 'n_others', or NULL. */
static const struct gpnn_column *find_missing(size_t n, const struct gpnn_column *columns,
                                              size_t n_others, const struct gpnn_column *others)
{
  char name[GPNN_MASK_BYTES], other[GPNN_MASK_BYTES];
  for (size_t i = 0; i < n; i++) {
    size_t k = 0;
    name_column(&columns[i], name);
    while (k < n_others && strcmp(name, name_column(&others[k], other)) != 0) k++;
    if (k == n_others) return &columns[i];
  }
  return NULL;
}

/* The first target of 'a' that 'b' has not, or NULL. */
static const struct gpnn_column *find_other_target(const struct gpnn_schema *a,
                                                   const struct gpnn_schema *b)
{
  for (size_t t = 0; t <= a->n_more; t++) {
    const struct gpnn_column *target = gpnn_schema_target(a, t);
    if (find_missing(1, target, 1, &b->target) != NULL &&
        find_missing(1, target, b->n_more, b->more) != NULL)
      return target;
  }
  return NULL;
}

static enum gpnn_status compare_roles(const char *path, const struct gpnn_schema *old,
                                      const struct gpnn_schema *new, struct gpnn_error *err)
{
  static const char advice[] = "--force replaces it, and --save FILE keeps this one elsewhere";
  char name[GPNN_MASK_BYTES];
  const struct gpnn_column *lost = find_other_target(old, new);
  const struct gpnn_column *added = find_other_target(new, old);
  if (lost != NULL || added != NULL)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s is %s model of '%s', this one is %s: %s", path,
                     lost != NULL ? "a" : "no", name_column(lost != NULL ? lost : added, name),
                     lost != NULL ? "not" : "one", advice);
  lost = find_missing(old->n_inputs, old->inputs, new->n_inputs, new->inputs);
  added = find_missing(new->n_inputs, new->inputs, old->n_inputs, old->inputs);
  if (lost == NULL && added == NULL) return GPNN_OK;
  return gpnn_fail(err, GPNN_EMISMATCH, "%s is a model %s the input '%s', this one is %s: %s", path,
                   lost != NULL ? "with" : "without",
                   name_column(lost != NULL ? lost : added, name), lost != NULL ? "not" : "with it",
                   advice);
}

enum gpnn_status check_replaced(const struct places *places, struct gpnn_error *err)
{
  struct gpnn_index *old = NULL, *new = NULL;
  if (!places->keeps || gpnn_index_open(&old, places->kept.model, false, NULL) != GPNN_OK)
    return GPNN_OK;
  enum gpnn_status status = gpnn_index_open(&new, places->working.index, false, err);
  if (status == GPNN_OK)
    status = compare_roles(places->kept.model, &gpnn_index_dataset(old)->schema,
                           &gpnn_index_dataset(new)->schema, err);
  gpnn_index_close(new);
  gpnn_index_close(old);
  return status;
}
