/*
 * parse: how fast tables are read and numbers written.
 *
 *   parse TABLE
 *
 * Reads TABLE (plain text, numbers only) field by field as the tools do, and writes its first
 * numbers, at most a million, to memory.  Prints the processor seconds of reading, the megabytes
 * (1e6) read per second, the nanoseconds per number read, and the nanoseconds per number written.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/memory.h"
#include "base/number.h"
#include "table/table.h"

enum { KEPT = 1000000 };

struct numbers {
  size_t n;     /* numbers read */
  double *kept; /* owned; the first of them, KEPT at most */
};

/* Processor seconds of this process. */
static double spent(void)
{
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static enum gpnn_status read_record(const struct gpnn_record *record, struct numbers *numbers,
                                    struct gpnn_error *err)
{
  for (size_t j = 0; j < record->n_fields; j++) {
    double value;
    const struct gpnn_field *field = &record->fields[j];
    if (gpnn_number_read(field->text, field->length, &value) != GPNN_NUMBER_OK)
      return gpnn_fail(err, GPNN_EDATA, "line %zu: not a number", record->line);
    if (numbers->n < KEPT) numbers->kept[numbers->n] = value;
    numbers->n++;
  }
  return GPNN_OK;
}

static enum gpnn_status read_all(const char *path, struct numbers *numbers, struct gpnn_error *err)
{
  struct gpnn_table *table;
  struct gpnn_table_options options = GPNN_TABLE_OPTIONS_INIT;
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_open(&table, path, &options, err);
  if (status != GPNN_OK) return status;
  while ((status = gpnn_table_next(table, &record, err)) == GPNN_OK) {
    status = read_record(&record, numbers, err);
    if (status != GPNN_OK) break;
  }
  gpnn_table_close(table);
  return status == GPNN_END ? GPNN_OK : status;
}

/* Seconds to write the numbers kept; adds up their lengths, so that none is optimised away. */
static double write_all(const struct numbers *numbers, size_t *length)
{
  char text[GPNN_NUMBER_BYTES];
  double before = spent();
  for (size_t i = 0; i < numbers->n && i < KEPT; i++)
    *length += gpnn_number_write(text, numbers->kept[i]);
  return spent() - before;
}

int main(int argc, char **argv)
{
  struct stat file;
  if (argc != 2 || stat(argv[1], &file) != 0) {
    fprintf(stderr, "usage: parse TABLE\n");
    return 2;
  }
  struct numbers numbers = {.kept = gpnn_alloc(KEPT, 1, sizeof *numbers.kept)};
  if (numbers.kept == NULL) return 1;
  struct gpnn_error err = {0};
  double before = spent();
  enum gpnn_status status = read_all(argv[1], &numbers, &err);
  double reading = spent() - before;
  size_t length = 0, n_kept = numbers.n < KEPT ? numbers.n : KEPT;
  double writing = write_all(&numbers, &length);
  free(numbers.kept);
  if (status != GPNN_OK || length == 0) {
    fprintf(stderr, "parse: %s: %s\n", argv[1], err.text);
    return 1;
  }
  printf("%.4f %.1f %.2f %.2f\n", reading, 1e-6 * (double)file.st_size / reading,
         1e9 * reading / (double)numbers.n, 1e9 * writing / (double)n_kept);
  return 0;
}
