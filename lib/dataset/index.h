/*
 * index: standardised training rows, how they were made, and a search over them, in one
 * mapped file (the format of gpnn-index(5)).
 *
 * Making one: fill a struct gpnn_index_contents, gpnn_index_make() or gpnn_index_write().  Using
 * one: gpnn_index_open(), gpnn_index_contents() and gpnn_index_search(), gpnn_index_close(). The
 * rows are used where they are mapped: opening costs nothing that grows with n, and processes share
 * the pages.
 *
 * Threads: an open index is read-only and may be shared freely.
 */
#ifndef GPNN_DATASET_INDEX_H
#define GPNN_DATASET_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/pages.h"
#include "base/status.h"
#include "dataset/scaling.h"
#include "search/search.h"
#include "table/schema.h"

struct gpnn_index;

/*
 * Everything an index says about its data and one of its targets; standardised units throughout.
 * The view of the first target has the further ones too, and is what is written; in the view of a
 * further target, that target takes the place of the first in 'y', 'calibration_y', 'noise',
 * 'calibration_noise', 'standard' and 'schema', and there are no others (n_more is 0 in all three).
 *
 * Inputs that are coordinates of one column or pair (a point on a circle, a place on the sphere)
 * form a group and take one lengthscale; every other input is a group of its own.
 */
struct gpnn_index_contents {
  size_t n;                             /* training rows */
  size_t d;                             /* standardised inputs a row */
  size_t n_groups;                      /* of inputs */
  const uint32_t *group;                /* d: of which group each input is */
  const double *x;                      /* n by d, row-major */
  const double *y;                      /* n: the target */
  size_t n_regressors;                  /* terms of the mean that are no inputs, may be 0 */
  const double *regressors;             /* n by n_regressors, row-major, centred and scaled to sd 1;
                                           NULL if there are none */
  const double *noise;                  /* n: known noise variance of each row, in addition to the
                                           parameters'; then as many for each further target, which
                                           differ in scale alone; NULL: none */
  size_t n_more;                        /* further targets, may be 0 */
  const double *more;                   /* n_more by n: one target after another; NULL: none */
  size_t n_calibration;                 /* rows held out for calibration, may be 0 */
  const double *calibration_x;          /* n_calibration by d */
  const double *calibration_y;          /* n_calibration */
  const double *calibration_regressors; /* n_calibration by n_regressors, or NULL */
  const double *calibration_noise;      /* as 'noise' for these rows, or NULL */
  const double *calibration_more;       /* n_more by n_calibration, or NULL */
  struct gpnn_schema schema;            /* columns of the table */
  struct gpnn_scaling standard;         /* table units <-> standardised units */
  size_t n_skipped;                     /* rows of the table that were left out as bad */
  uint64_t seed;                        /* of every random choice made */
  const char *provenance;               /* "name<TAB>value" lines: options used; for people */
  struct gpnn_pages pages;              /* what is mapped of a file: who goes through many rows may
                                           let those there go; zeroed: nothing */
};

/*
 * Writes an index file whole or not at all.  'search' is over the rows of 'contents'.
 * 'watch', which may be NULL, is told of the unfinished file (base/atomic_file.h).
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write(const char *path,
                                                  const struct gpnn_index_contents *contents,
                                                  const struct gpnn_search *search,
                                                  const char *volatile *watch,
                                                  struct gpnn_error *err);

/*
 * The same for a search that is built meanwhile, as gpnn_search_build() would over the rows of
 * 'contents' (and their pages, whatever 'options' says of those); at the same time if 'options' has
 * more threads than one.  '*search' is the caller's.
 */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_make(const char *path, const struct gpnn_index_contents *contents,
                const struct gpnn_search_options *options, const char *volatile *watch,
                struct gpnn_search **search, struct gpnn_error *err);

/*
 * Opens 'path'.  Header, lengths and small sections are checked at once; rows and search
 * too, byte for byte, if 'verify'.  GPNN_EFORMAT: damaged or truncated, the sentence says
 * where; GPNN_EVERSION: of a newer format; GPNN_EMISMATCH: no index at all (a table, say:
 * "train.tsv is a table, not an index: make one with gpnn-index").  The search structure
 * is not loaded before gpnn_index_search() asks for it.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_open(struct gpnn_index **index, const char *path,
                                                 bool verify, struct gpnn_error *err);

/* The mapped contents, in the view of the first target; last as long as the index. */
const struct gpnn_index_contents *gpnn_index_contents(const struct gpnn_index *index);

/* How many targets there are, and the contents in the view of target 't' of them (from 0). */
size_t gpnn_index_n_targets(const struct gpnn_index *index);
const struct gpnn_index_contents *gpnn_index_target(const struct gpnn_index *index, size_t t);

/* Finds a target by its name (without a header: its number in the training table); false if there
 * is none of that name. */
bool gpnn_index_find_target(const struct gpnn_index *index, const char *name, size_t *t);

/* Whether feature 'feature' of the schema is among the inputs: what does not vary is not. */
bool gpnn_index_keeps(const struct gpnn_index_contents *contents, size_t feature);

/* Name of group 'group' of inputs, masked: "hour", "lat,lon", "colour=red"; under whiten, where
 * inputs are mixed, "direction 1" and so on. */
const char *gpnn_index_group_name(const struct gpnn_index_contents *contents, size_t group,
                                  char name[GPNN_MASK_BYTES]);

/* 64-bit hash: of the columns in the upper half; of rows, targets, regressors, noise, calibration
 * rows and standardisation in the lower.  Equal data and options have equal fingerprints, whatever
 * the search. */
uint64_t gpnn_index_fingerprint(const struct gpnn_index *index);

/* What search the file holds, without loading it: its report, and its metric. */
const struct gpnn_search_report *gpnn_index_search_report(const struct gpnn_index *index);
struct gpnn_search_metric gpnn_index_search_metric(const struct gpnn_index *index);

/* Loads the stored search into '*search', which the caller frees before the index: a tree is used
 * where it is mapped. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_search(const struct gpnn_index *index,
                                                   struct gpnn_search **search,
                                                   struct gpnn_error *err);

/*
 * Copies 'n_rows' (at most n) random training rows into '*sample', which is like 'index' in all
 * else, and its file's, but that gpnn_index_search() builds a search over its rows.  It is for
 * gpnn_index_close(), before 'index', which must outlive it.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_sample(const struct gpnn_index *index, size_t n_rows,
                                                   uint64_t seed, struct gpnn_index **sample,
                                                   struct gpnn_error *err);

/* The same with the rows given: 'row' has the numbers of 'n_rows' training rows, which the sample
 * has in this order. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_take(const struct gpnn_index *index, size_t n_rows,
                                                 const uint64_t *row, struct gpnn_index **sample,
                                                 struct gpnn_error *err);

/* The sections of the file, for gpnn-info: four-letter tag, offset, length; returns false
 * past the last. */
bool gpnn_index_section(const struct gpnn_index *index, size_t i, char tag[5], uint64_t *offset,
                        uint64_t *length);

const char *gpnn_index_path(const struct gpnn_index *index);

/* True if 'path' begins with the magic bytes of an index. */
bool gpnn_index_recognise(const char *path);

/* What the regular file 'path' looks like: "an index", "a table", "a parameters file"; NULL: like
 * nothing we know. */
const char *gpnn_index_look(const char *path);

void gpnn_index_close(struct gpnn_index *index);

#endif
