#include "cmd/common/table.h"

#include <string.h>
#include <sys/stat.h>

bool table_can_reread(const char *path)
{
  struct stat st;
  return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void table_warn_if_torn(const struct cli *cli, const struct gpnn_table *table)
{
  if (table != NULL && gpnn_table_is_torn(table))
    cli_warn(cli, "%s: the last line has no end: was the file cut off?", gpnn_table_name(table));
}

void table_warn_left_out(const struct cli *cli, const struct gpnn_table *table, size_t n,
                         const char *what)
{
  if (n > 0) cli_warn(cli, "%s: %zu rows without %s left out", gpnn_table_name(table), n, what);
}
