/*
 * Grids: whatever table a grid is made from, it is refused, or its index opens, is found whole, and
 * says of each cell which levels it has.
 * The first byte: bit 0, the table is wide; bit 1, bad rows are left out; bit 2, there is no
 * header. The rest of the first line has lists of columns, with tabs between: target, the columns
 * of two or three factors, names, dates, times, columns to drop; the rest is the table.
 */
#define _GNU_SOURCE /* mkdtemp() */

#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "dataset/grid/grid.h"
#include "dataset/grid/reading.h"
#include "dataset/index/index.h"
#include "fuzz.h"

enum { LISTS = 8, MOST = 1 << 14 };

static char folder[64];

static void remove_folder(void)
{
  rmdir(folder);
}

/* A name for the index in a folder of our own, in memory where there is such a place. */
static const char *index_path(void)
{
  static char path[80];
  if (path[0] != '\0') return path;
  const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  snprintf(folder, sizeof folder, "%s/fuzz-XXXXXX", parent);
  FUZZ_EXPECT(mkdtemp(folder) != NULL && atexit(remove_folder) == 0);
  snprintf(path, sizeof path, "%s/index", folder);
  return path;
}

/* The factors are those that were written, level by level. */
static void compare_factors(const struct gpnn_grid *grid, const struct gpnn_grid *made)
{
  FUZZ_EXPECT(grid->n_factors == made->n_factors);
  for (size_t a = 0; a < grid->n_factors; a++) {
    const struct gpnn_grid_factor *factor = &grid->factor[a], *own = &made->factor[a];
    FUZZ_EXPECT(factor->n == own->n && factor->d == own->d && factor->n >= 2 && factor->d >= 1);
    FUZZ_EXPECT(strcmp(factor->name, own->name) == 0);
    FUZZ_EXPECT((factor->labels == NULL) == (own->labels == NULL));
    for (size_t i = 0; i < factor->n * factor->d; i++)
      FUZZ_EXPECT(factor->x[i] == own->x[i] && isfinite(own->x[i]));
    for (size_t l = 1; l < factor->n && factor->labels == NULL && factor->n_columns == 1; l++)
      FUZZ_EXPECT(factor->x[l] >= factor->x[l - 1]);
  }
}

static void check_cells(const struct gpnn_grid *grid)
{
  size_t level[GPNN_GRID_MOST_FACTORS], n = 0;
  for (size_t c = 0; c < grid->n_cells; c++) {
    gpnn_grid_levels(grid, grid->cell[c], level);
    for (size_t a = 0; a < grid->n_factors; a++) FUZZ_EXPECT(level[a] < grid->factor[a].n);
    FUZZ_EXPECT(c == 0 || grid->cell[c] > grid->cell[c - 1]);
    FUZZ_EXPECT(isfinite(grid->y[c]));
    n += grid->counts == NULL ? 1 : grid->counts[c];
  }
  FUZZ_EXPECT(n == grid->n_observations && grid->within >= 0);
  FUZZ_EXPECT(gpnn_grid_cost(grid).missing_memory < 1);
}

/* What was written is whole, and like what it was made from. */
static void reopen(const char *path, const struct gpnn_grid *made)
{
  struct gpnn_error err = {0};
  struct gpnn_index *index = NULL;
  enum gpnn_status status = gpnn_index_open(&index, path, true, &err);
  if (status != GPNN_OK) dprintf(2, "%s\n", err.text);
  FUZZ_EXPECT(status == GPNN_OK);
  const struct gpnn_dataset *dataset = gpnn_index_dataset(index);
  FUZZ_EXPECT(dataset->grid != NULL && dataset->x == NULL);
  FUZZ_EXPECT(dataset->n == made->n_cells && dataset->grid->n_cells == made->n_cells);
  compare_factors(dataset->grid, made);
  check_cells(dataset->grid);
  gpnn_index_close(index);
}

static void make_grid(struct gpnn_table *table, const struct gpnn_grid_roles *roles, bool skip_bad)
{
  struct gpnn_error err = {0};
  struct gpnn_grid_reading reading = {.n = 0};
  enum gpnn_status status = gpnn_grid_reading_begin(&reading, table, roles, &err);
  if (status == GPNN_OK) status = gpnn_grid_reading_read(&reading, table, skip_bad, NULL, &err);
  if (status == GPNN_OK) status = gpnn_grid_reading_finish(&reading, "table", &err);
  if (status == GPNN_OK) status = gpnn_index_write_grid(index_path(), &reading.dataset, NULL, &err);
  if (status == GPNN_OK)
    reopen(index_path(), &reading.grid);
  else
    fuzz_expect_failure(status, &err);
  unlink(index_path());
  gpnn_grid_reading_release(&reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
  static const char *const names[] = {"site", "time", "third"};
  char *lists[LISTS];
  if (length > MOST) return 0;
  uint8_t choice = fuzz_byte(&bytes, &length);
  char *line = fuzz_line(&bytes, &length);
  fuzz_split(line, '\t', LISTS, lists);
  const char *date = lists[5];
  bool is_wide = choice & 1;
  struct gpnn_grid_roles roles = {.target = lists[0],
                                  .names = lists[4],
                                  .n_dates = date != NULL && !is_wide,
                                  .dates = &date,
                                  .is_wide = is_wide,
                                  .times = is_wide ? lists[6] : NULL,
                                  .drop = is_wide ? lists[7] : NULL};
  for (size_t a = 0; a < (is_wide ? 2 : 3); a++)
    if (lists[1 + a] != NULL)
      roles.factor[roles.n_factors++] = (struct gpnn_grid_factor_roles){names[a], lists[1 + a]};
  struct gpnn_table *table = fuzz_table(bytes, length, (choice & 4) == 0);
  if (table != NULL && roles.n_factors >= GPNN_GRID_LEAST_FACTORS)
    make_grid(table, &roles, (choice & 2) != 0);
  gpnn_table_close(table);
  free(line);
  return 0;
}
