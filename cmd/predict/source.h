/*
 * source: where gpnn-predict gets its rows from: a table, or under --loo the training rows of the
 * index, or under --complete the cells of a grid.  It knows what comes before the predictions in
 * each row of the output.
 */
#ifndef GPNN_CMD_PREDICT_SOURCE_H
#define GPNN_CMD_PREDICT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/common/cli.h"
#include "cmd/common/open.h"
#include "cmd/predict/batch.h"
#include "cmd/predict/columns.h"
#include "cmd/predict/predict.h"
#include "dataset/reader.h"
#include "table/skipped.h"

/* A zeroed object may be released. */
struct source {
  const struct cli *cli;
  const struct predict_arguments *a;
  const struct opened *opened;
  struct batch_shape shape; /* of its batches */

  /* A table.  While batches are processed, all this belongs to the stage that reads. */
  struct gpnn_table *table; /* NULL: training rows, or cells */
  struct gpnn_reader reader;
  struct carry carry;
  bool skips_bad;
  struct gpnn_skipped skipped, unread; /* rows without prediction; truths that are not numbers */
  size_t n_unseen;                     /* values of categories that training has not seen */
  size_t n_unseen_classes;             /* truths of such classes */

  /* Training rows. */
  bool is_apart;      /* targets have different ones (cmd/predict/together.h) */
  size_t next;        /* the row to read next */
  size_t *next_of;    /* owned; for each target, its number among the rows that have the target */
  uint64_t *held_out; /* owned; rows of the training table that are not training rows, ascending */
  size_t n_held_out_before; /* how many of these precede 'next' */

  /* Cells, of which 'next' is the number of the next. */
  size_t n_seen; /* observed ones before it */
};

/* Opens the source that the arguments name; 'opened' must outlive it.  'shape' lacks only
 * has_scores then, which batches need that get predictions with scores.  If rows are to be
 * predicted together (needs_all), there is one batch. */
GPNN_MUST_CHECK enum gpnn_status source_open(struct source *source, const struct cli *cli,
                                             const struct predict_arguments *a,
                                             const struct opened *opened, struct gpnn_error *err);

/* True if rows have a truth of target 't', if known noise variances are to be added, and if there
 * are regressors. */
bool source_has_truth(const struct source *source, size_t t);
bool source_has_noise(const struct source *source);
bool source_has_regressors(const struct source *source);

/* True if counts are predicted that are proportional to an exposure of each row. */
bool source_has_exposure(const struct source *source);

/* Fills a batch.  GPNN_END: there are no more rows; the batch may still hold some.  GPNN_EDATA: a
 * row is bad. */
GPNN_MUST_CHECK enum gpnn_status source_read(struct source *source, struct batch *batch,
                                             struct gpnn_error *err);

/* Passes over 'n' rows of a table.  GPNN_EDATA: it has fewer. */
GPNN_MUST_CHECK enum gpnn_status source_pass_over(struct source *source, uint64_t n,
                                                  struct gpnn_error *err);

/* The rows of a batch that are predicted; borrowed from it. */
struct gpnn_predict_rows source_rows(const struct source *source, const struct batch *batch);

/* The name of the table or, without one, of the index. */
const char *source_name(const struct source *source);

/* Adds the place of a batch to a message. */
GPNN_MUST_CHECK enum gpnn_status source_locate(const struct source *source,
                                               const struct batch *batch, enum gpnn_status status,
                                               struct gpnn_error *err);

/* Writes the names of the columns before the predictions, and the fields of row 'i' in them; 'at'
 * is zeroed at the beginning of a batch, whose rows come in order. */
GPNN_MUST_CHECK enum gpnn_status source_write_names(const struct source *source, struct sink *sink,
                                                    struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status source_write_row(const struct source *source,
                                                  const struct batch *batch, size_t i,
                                                  struct carry_cursor *at, struct sink *sink,
                                                  struct gpnn_error *err);

/* True if the output gets a line of names; and what is between its fields. */
bool source_has_header(const struct source *source);
char source_delimiter(const struct source *source);

/* Reports, at the end, what was out of the ordinary among 'n_rows' rows. */
void source_report(const struct source *source, size_t n_rows);

void source_release(struct source *source);

/* ---- the three kinds, for source.c -------------------------------------------------------- */

GPNN_MUST_CHECK enum gpnn_status source_table_open(struct source *source, struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status source_table_read(struct source *source, struct batch *batch,
                                                   struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status source_training_open(struct source *source,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status source_training_read(struct source *source, struct batch *batch,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status source_cells_read(struct source *source, struct batch *batch,
                                                   struct gpnn_error *err);
/* The columns of the cell in row 'i'. */
GPNN_MUST_CHECK enum gpnn_status source_cells_write(const struct source *source,
                                                    const struct batch *batch, size_t i,
                                                    struct sink *sink, struct gpnn_error *err);

#endif
