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

static enum gpnn_status check_columns(const struct cli *cli, const struct places *places,
                                      struct gpnn_error *err)
{
  struct gpnn_index *index = NULL;
  struct gpnn_table *table = NULL;
  struct gpnn_columns_map map = {0};
  enum gpnn_status status = gpnn_index_open(&index, places->working.index, false, err);
  const struct gpnn_dataset *dataset = status == GPNN_OK ? gpnn_index_dataset(index) : NULL;
  if (status == GPNN_OK) status = open_table(cli, dataset, places->test, &table, err);
  if (status == GPNN_OK) status = gpnn_schema_match(&dataset->schema, table, &map, err);
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  gpnn_index_close(index);
  return status;
}

enum gpnn_status check_test(const struct cli *cli, const struct places *places, bool has_index,
                            struct gpnn_error *err)
{
  struct gpnn_table *table = NULL;
  if (places->test == NULL || !check_can_reread(places->test)) return GPNN_OK;
  if (has_index) return check_columns(cli, places, err);
  enum gpnn_status status = gpnn_table_open(&table, places->test, &cli->table, err);
  gpnn_table_close(table);
  return status;
}
