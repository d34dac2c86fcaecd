/*
 * What is told of a table whose parts several processes predict: the first tells it of all.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/predict/predict_private.h"

enum { WHAT_BYTES = 96 };

/* What a process knows of its part; columns of the drift follow. */
struct told {
  size_t n_done, n_unseen, n_unseen_classes;
  struct gpnn_counts counts; /* of one target, as tables in parts have */
  struct gpnn_skipped skipped, unread;
  char what[2][GPNN_SKIPPED_KINDS][WHAT_BYTES]; /* of those: their texts are of one process */
};

static void put_kinds(const struct gpnn_skipped *skipped, char what[][WHAT_BYTES])
{
  for (size_t i = 0; i < skipped->n_kinds; i++)
    strncpy(what[i], skipped->kinds[i].what, WHAT_BYTES - 1);
}

static void add_kinds(struct gpnn_skipped *skipped, struct gpnn_skipped *more,
                      char what[][WHAT_BYTES])
{
  for (size_t i = 0; i < more->n_kinds; i++) more->kinds[i].what = what[i];
  (void)gpnn_skipped_join(skipped, more); /* kinds beyond those that there is room for are lost */
}

/* Moves what this process knows to 'told', which is zeroed. */
static void take(struct run *r, struct told *told)
{
  struct source *s = &r->source;
  told->n_done = r->n_done;
  told->n_unseen = s->n_unseen;
  told->n_unseen_classes = s->n_unseen_classes;
  told->counts = r->counts[0];
  told->skipped = s->skipped;
  told->unread = s->unread;
  put_kinds(&s->skipped, told->what[0]);
  put_kinds(&s->unread, told->what[1]);
  if (r->drift.n > 0) memcpy(told + 1, r->drift.columns, r->drift.n * sizeof *r->drift.columns);
  r->n_done = s->n_unseen = s->n_unseen_classes = 0;
  r->counts[0] = (struct gpnn_counts){.n_rows = 0};
  s->skipped = s->unread = (struct gpnn_skipped){.n = 0};
  r->drift.n = 0;
}

static void add_column(struct gpnn_drift_column *column, const struct gpnn_drift_column *more)
{
  column->n += more->n;
  column->n_missing += more->n_missing;
  column->n_outside += more->n_outside;
  for (size_t i = 0; i < sizeof more->n_at / sizeof more->n_at[0]; i++)
    column->n_at[i] += more->n_at[i];
}

/* Adds what is told of a part with 'n_columns'; the texts of 'told' are borrowed. */
static void add(struct run *r, struct told *told, size_t n_columns)
{
  struct source *s = &r->source;
  const struct gpnn_drift_column *columns =
      (const struct gpnn_drift_column *)(const void *)(told + 1);
  r->n_done += told->n_done;
  s->n_unseen += told->n_unseen;
  s->n_unseen_classes += told->n_unseen_classes;
  r->counts[0].n_clamped += told->counts.n_clamped;
  gpnn_jitter_note(&r->counts[0].jitter, told->counts.jitter.n, told->counts.jitter.most);
  r->counts[0].n_rows += told->counts.n_rows;
  r->counts[0].n_far += told->counts.n_far;
  r->counts[0].n_beyond += told->counts.n_beyond;
  r->counts[0].n_upon += told->counts.n_upon;
  add_kinds(&s->skipped, &told->skipped, told->what[0]);
  add_kinds(&s->unread, &told->unread, told->what[1]);
  for (size_t i = 0; i < n_columns; i++)
    if (r->drift.n == n_columns)
      add_column(&r->drift.columns[i], &columns[i]);
    else
      r->drift.columns[i] = columns[i];
  r->drift.n = n_columns;
}

enum gpnn_status parts_join(struct run *r, struct gpnn_error *err)
{
  size_t n_columns = r->drift.n, n_parts = 0;
  size_t length = sizeof(struct told) + n_columns * sizeof *r->drift.columns;
  struct told *told = calloc(1, length);
  enum gpnn_status status =
      told == NULL ? gpnn_fail_memory(err, "for what is told of a part") : GPNN_OK;
  if (status == GPNN_OK) {
    take(r, told);
    status = r->a->part->gather(r->a->part, length, told, &r->told, &n_parts, err);
  }
  for (size_t i = 0; i < n_parts && status == GPNN_OK; i++)
    add(r, (struct told *)(void *)(r->told + i * length), n_columns);
  free(told);
  return status;
}
