#include "cmd/gpnn/check.h"

#include <string.h>
#include <sys/stat.h>

#include "cmd/common/open.h"
#include "dataset/index.h"
#include "table/schema.h"

bool check_can_reread(const char *path)
{
  struct stat st;
  return strcmp(path, "-") != 0 && (stat(path, &st) != 0 || S_ISREG(st.st_mode));
}

/* Whether the table to predict has the inputs if it begins like that.  Sets '*preamble' to how many
 * lines seem to come before the table if it has not. */
static enum gpnn_status match_columns(const struct cli *cli, const struct places *places,
                                      const struct beginning *begins,
                                      const struct gpnn_dataset *dataset, size_t *preamble,
                                      struct gpnn_error *err)
{
  struct cli asked = *cli;
  struct gpnn_table *table = NULL;
  struct gpnn_columns_map map = {0};
  if (begins->no_header) asked.table.has_header = false;
  if (begins->skip_lines > 0) asked.table.skip_lines = begins->skip_lines;
  enum gpnn_status status = open_table(&asked, dataset, places->test, &table, err);
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
  begins->no_header = !dataset->schema.has_header && open_sees_row(table);
  gpnn_table_close(table);
  status = match_columns(cli, places, begins, dataset, &preamble, err);
  struct beginning later = {begins->no_header, preamble};
  if (status == GPNN_OK || preamble == 0 || cli->table.skip_lines > 0 ||
      match_columns(cli, places, &later, dataset, &none, NULL) != GPNN_OK)
    return status;
  *begins = later;
  return GPNN_OK;
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
    places->test_begins.no_header = !dataset->schema.has_header && cli->table.has_header;
  gpnn_index_close(index);
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
  gpnn_table_close(table);
  return status;
}
