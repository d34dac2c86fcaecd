/*
 * index_private: an index as it is written and as it is open, and the one table of the sections
 * that its files have, which the writer, the reader, the verifier and the fuzzer loop over.
 *
 * A new section is a row of that table (sections.c) and a paragraph of gpnn-index(5).
 */
#ifndef GPNN_DATASET_INDEX_INDEX_PRIVATE_H
#define GPNN_DATASET_INDEX_INDEX_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/peers.h"
#include "container/container.h"
#include "dataset/dataset_private.h"
#include "dataset/grid/grid.h"
#include "dataset/ids.h"
#include "dataset/index/bytes_private.h"
#include "dataset/index/index.h"
#include "dataset/stored.h"

/* Sections that files of one kind may have, for their container. */
enum { GPNN_INDEX_SECTIONS_MOST = 64 };
struct gpnn_index_format {
  struct gpnn_container_tag tags[GPNN_INDEX_SECTIONS_MOST];
  struct gpnn_container_format container;
};

struct gpnn_index {
  struct gpnn_index_format format;
  struct gpnn_container *container; /* owned */
  struct gpnn_dataset dataset;
  struct gpnn_dataset_source source;   /* dataset.source */
  unsigned char *sight;                /* owned; source.sight; NULL: the inputs are as they are */
  double *lengthscale, *rotation;      /* owned; source.metric; NULL: none */
  uint32_t *group;                     /* owned; dataset.group */
  struct gpnn_coordinate *coordinates; /* owned; dataset.coordinates */
  struct gpnn_scores scores;           /* dataset.scores points to it, if there are any */
  char *provenance;                    /* owned; dataset.provenance */
  uint64_t *held_out;                  /* owned; dataset.held_out */
  struct gpnn_ids ids;                 /* dataset.ids points to it, if there are any */
  struct gpnn_index_present *present;  /* owned; for each target; NULL: all rows have all of them */
  struct gpnn_grid grid;               /* dataset.grid points to it, if the file is a grid */
  struct gpnn_grid_factor *factor;     /* owned; those of the grid */
  char **factor_name;                  /* owned; n_factor_names texts, theirs */
  size_t n_factor_names;
  struct gpnn_state *arrays;  /* owned; of a model file; NULL: it is none */
  struct gpnn_stored *stored; /* owned; those of the views and of all rows, for a model file */
  bool is_verified;
  pthread_mutex_t *loading; /* owned; loading a search uses the container's stream, of which only
                               one may be open at a time */
};

/* ---- the fingerprint (fingerprint.c) -------------------------------------------------------- */

/* Columns with their scaling and rows have separate hashes, so that parameters can distinguish an
 * index with other columns from one with other rows.  Begins zeroed; then for each hashed section
 * in turn gpnn_fingerprint_begin() and any number of gpnn_fingerprint_add(). */
struct gpnn_fingerprint {
  bool is_earlier; /* of files in which the scaling is in the hash of rows, and their groups are in
                      that of columns */
  uint64_t columns, rest;
};

struct gpnn_index_section;

/* Begins a section: adds its tag and length. */
void gpnn_fingerprint_begin(struct gpnn_fingerprint *print,
                            const struct gpnn_index_section *section, uint64_t length);

/* Adds bytes of the section.  Each block but the last must be a multiple of 8 bytes long. */
void gpnn_fingerprint_add(struct gpnn_fingerprint *print, const struct gpnn_index_section *section,
                          const void *bytes, size_t length);

/* The fingerprint: the hash of the columns in the upper 32 bits, of the rest in the lower. */
uint64_t gpnn_fingerprint_value(const struct gpnn_fingerprint *print);

/* ---- sections ------------------------------------------------------------------------------ */

/* The dataset that a file holds or is to hold, of all rows. */
struct gpnn_index_contents {
  const struct gpnn_dataset *dataset;
  const struct gpnn_index_present *present; /* for each target; NULL: all rows have all of them */
  const struct gpnn_search *search;         /* NULL while a file is read */
  const struct gpnn_dataset *over;          /* the rows that it is over, as they are seen */
};

struct gpnn_index_writing {
  struct gpnn_container_writer *writer; /* NULL: only the fingerprint is wanted, and then */
  const struct gpnn_parts *parts;       /* which training rows are here; NULL: all */
  enum gpnn_container_kind kind;
  const char *path;
  struct gpnn_index_contents contents;
  struct gpnn_index_present *present; /* owned; contents.present */
  struct gpnn_index_format format;
  struct gpnn_fingerprint fingerprint;
};

/* The hash of the fingerprint that a section goes into. */
enum gpnn_index_hash {
  GPNN_INDEX_UNHASHED,
  GPNN_INDEX_COLUMNS,
  GPNN_INDEX_SCALING, /* that of the columns */
  GPNN_INDEX_GROUPS,  /* of rows, which the columns' hash once had */
  GPNN_INDEX_REST
};

/* What the numbers of a section of rows are besides finite; targets may be missing. */
enum gpnn_index_numbers {
  GPNN_INDEX_NO_NUMBERS, /* the section holds something else */
  GPNN_INDEX_ANY,
  GPNN_INDEX_MISSING, /* or NaN, in calibration rows that lack inputs */
  GPNN_INDEX_TARGETS,
  GPNN_INDEX_VARIANCES, /* not negative */
  GPNN_INDEX_EXPOSURES, /* above 0 */
};

/* How many numbers a section of rows has: so many for each training or calibration row. */
enum gpnn_index_width {
  GPNN_INDEX_ONE,
  GPNN_INDEX_INPUTS,
  GPNN_INDEX_REGRESSORS,
  GPNN_INDEX_FURTHER_TARGETS, /* all rows for one target, then for the next */
  GPNN_INDEX_ALL_TARGETS,     /* in the same order */
};

/* An array of a struct gpnn_dataset that is stored as it is and used where it is mapped. */
struct gpnn_index_rows {
  size_t at; /* offset of the pointer in the dataset */
  bool is_calibration;
  enum gpnn_index_width width;
};

/*
 * A section.  Its contents are composed and decoded as a whole, or are an array of rows (numbers,
 * and width above), or are written by a function of their own and then read by whoever needs them.
 */
struct gpnn_index_section {
  struct gpnn_container_tag tag;
  unsigned kinds; /* of files that may have it: bits 1 << enum gpnn_container_kind */
  enum gpnn_index_hash hash;
  bool is_step; /* the numbers of 'step' (dataset/steps.h), which needs nothing of the following */
  enum gpnn_step_number step;
  bool is_search; /* written once the search is there */
  bool is_packed; /* about predictions, not rows: the last of a file, replaced by packing */
  enum gpnn_index_numbers numbers;
  /* True if a file of these contents has the section; NULL: every file of these kinds has it. */
  bool (*has)(const struct gpnn_index_contents *contents);
  void (*compose)(struct blob *blob, const struct gpnn_index_contents *contents);
  /* Nothing is trusted: a value that is not allowed sets 'failed' of the cursor. */
  void (*decode)(struct cursor *cursor, struct gpnn_index *index);
  struct gpnn_index_rows rows; /* without functions: the array */
  enum gpnn_status (*write)(struct gpnn_index_writing *writing,
                            const struct gpnn_index_section *section, struct gpnn_error *err);
};

/* Section 'i' of those that files may have, in the order in which they are written and hashed; NULL
 * after the last. */
const struct gpnn_index_section *gpnn_index_section_at(size_t i);

/* True if files of this kind may have the section. */
bool gpnn_index_may_have(enum gpnn_container_kind kind, const struct gpnn_index_section *section);

/* True if a file of these contents has the section. */
bool gpnn_index_has(const struct gpnn_index_section *section,
                    const struct gpnn_index_contents *contents);

/* Composes a section; false if it is not one of those that are. */
bool gpnn_index_compose(const struct gpnn_index_section *section, struct blob *blob,
                        const struct gpnn_index_contents *contents);

/* Decodes one that is composed. */
void gpnn_index_decode(const struct gpnn_index_section *section, struct cursor *cursor,
                       struct gpnn_index *index);

/* Fills in the format of a kind of file, which must outlive its container. */
const struct gpnn_container_format *gpnn_index_format(enum gpnn_container_kind kind,
                                                      struct gpnn_index_format *format);

/* Numbers of an array of rows: how many lines of how many, as it is stored. */
void gpnn_index_shape(const struct gpnn_index_section *section, const struct gpnn_dataset *dataset,
                      size_t *n, size_t *d);

/* ---- what compose and decode (columns.c) --------------------------------------------- */

/* The inputs and the first target; then further targets, regressors, known noise and kinds of
 * inputs. */
void gpnn_index_compose_columns(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_columns(struct cursor *cursor, struct gpnn_index *index);
bool gpnn_index_has_roles(const struct gpnn_index_contents *contents);
void gpnn_index_compose_roles(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_roles(struct cursor *cursor, struct gpnn_index *index);

/* The columns of offsets, of groups of rows, of their ids, and of the exposure. */
bool gpnn_index_has_offsets(const struct gpnn_index_contents *contents);
void gpnn_index_compose_offsets(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_offsets(struct cursor *cursor, struct gpnn_index *index);
bool gpnn_index_has_groups(const struct gpnn_index_contents *contents);
void gpnn_index_compose_groups(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_groups(struct cursor *cursor, struct gpnn_index *index);
bool gpnn_index_has_ids(const struct gpnn_index_contents *contents);
void gpnn_index_compose_ids(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_ids(struct cursor *cursor, struct gpnn_index *index);
bool gpnn_index_has_exposure(const struct gpnn_index_contents *contents);
void gpnn_index_compose_exposure(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_exposure(struct cursor *cursor, struct gpnn_index *index);

/* The names of the classes of each target; the levels of inputs that are names. */
bool gpnn_index_has_classes(const struct gpnn_index_contents *contents);
void gpnn_index_compose_classes(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_classes(struct cursor *cursor, struct gpnn_index *index);
bool gpnn_index_has_names(const struct gpnn_index_contents *contents);
void gpnn_index_compose_names(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_names(struct cursor *cursor, struct gpnn_index *index);

/* The levels of coded inputs, each with its code. */
bool gpnn_index_has_codes(const struct gpnn_index_contents *contents);
void gpnn_index_compose_codes(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_codes(struct cursor *cursor, struct gpnn_index *index);

/* Levels of both that an index got with rows that were added. */
bool gpnn_index_has_later(const struct gpnn_index_contents *contents);
void gpnn_index_compose_later(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_later(struct cursor *cursor, struct gpnn_index *index);

/* The effects of groups, with the levels of their columns. */
bool gpnn_index_has_effects(const struct gpnn_index_contents *contents);
void gpnn_index_compose_effects(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_effects(struct cursor *cursor, struct gpnn_index *index);

/* How values are written in the training table. */
bool gpnn_index_has_notation(const struct gpnn_index_contents *contents);
void gpnn_index_compose_notation(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_notation(struct cursor *cursor, struct gpnn_index *index);

/* Which of the columns of the same name they are, and which are dates. */
bool gpnn_index_has_names_or_dates(const struct gpnn_index_contents *contents);
void gpnn_index_compose_names_and_dates(struct blob *blob,
                                        const struct gpnn_index_contents *contents);
void gpnn_index_decode_names_and_dates(struct cursor *cursor, struct gpnn_index *index);

/* The factors of a grid, their numbers of levels, and the levels (grid.c). */
void gpnn_index_compose_factors(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_factors(struct cursor *cursor, struct gpnn_index *index);
void gpnn_index_compose_grid(struct blob *blob, const struct gpnn_index_contents *contents);
void gpnn_index_decode_grid(struct cursor *cursor, struct gpnn_index *index);
void gpnn_index_compose_levels(struct blob *blob, const struct gpnn_index_contents *contents);
bool gpnn_index_has_counts(const struct gpnn_index_contents *contents);

/* ---- writing ------------------------------------------------------------------------------- */

/* Writes and hashes a section that is in memory, block by block while each is in the cache,
 * evicting pages of the dataset's mapping behind it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_write_bytes(struct gpnn_index_writing *writing,
                                                        const struct gpnn_index_section *section,
                                                        const void *bytes, size_t length,
                                                        struct gpnn_error *err);

/* Sections that are written by a function of their own: those of a grid, of a model file, and the
 * rows of targets that some rows lack. */
typedef enum gpnn_status gpnn_index_writer(struct gpnn_index_writing *writing,
                                           const struct gpnn_index_section *section,
                                           struct gpnn_error *err);
gpnn_index_writer gpnn_index_write_cells, gpnn_index_write_counts;
gpnn_index_writer gpnn_index_write_list, gpnn_index_write_data;
gpnn_index_writer gpnn_index_write_parts;

/* ---- reading ------------------------------------------------------------------------------- */

/* Reads everything but the search from the open container: small sections are checked and copied;
 * rows stay where they are mapped, unchecked. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_read(struct gpnn_index *index, enum gpnn_container_kind kind, struct gpnn_error *err);

/* Then, for a grid, its cells; and for a model file its arrays, and once the inputs have their
 * groups, its views. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_grid(struct gpnn_index *index,
                                                      struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_index_read_model(struct gpnn_index *index,
                                                       struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_index_set_model(struct gpnn_index *index,
                                                      struct gpnn_error *err);

/* Checks all checksums and the fingerprint, that numbers of rows are finite, that variances are
 * not negative, and that targets are missing where the counts say so. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify(const struct gpnn_index *index,
                                                   enum gpnn_container_kind kind,
                                                   struct gpnn_error *err);

/* Finds a section that every index must have.  GPNN_EFORMAT: it is missing. */
GPNN_MUST_CHECK enum gpnn_status
gpnn_index_find_section(const struct gpnn_index *index, const char *tag,
                        const struct gpnn_container_section **section, struct gpnn_error *err);

/* Points '*items' to a section of n by d items of 'width' bytes where it is mapped. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_find_items(const struct gpnn_index *index,
                                                       const char *tag, size_t n, size_t d,
                                                       size_t width, const void **items,
                                                       struct gpnn_error *err);

/* ---- rows of targets that some rows lack --------------------------------------------------- */

/* An index stores those that have the target once more (section PART of gpnn-index(5)).  'rows' is
 * the dataset of all rows, whose targets are NaN where they are missing, and 'present' has an entry
 * for each target. */

/* How many training and calibration rows have a target. */
struct gpnn_index_present {
  size_t n, n_calibration;
};

/* Counts the rows that have each target, in '*present', which the caller frees; NULL: every row has
 * all of them.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_count_present(const struct gpnn_dataset *rows,
                                                          struct gpnn_index_present **present,
                                                          struct gpnn_error *err);

/* The length of the section; false if it is more than memory can hold. */
bool gpnn_index_parts_bytes(const struct gpnn_dataset *rows,
                            const struct gpnn_index_present *present, size_t *bytes);

/* Takes the next bytes of the section, a multiple of 8. */
typedef enum gpnn_status gpnn_index_taker(void *context, const unsigned char *bytes, size_t length,
                                          struct gpnn_error *err);

/* Bytes that are taken at most at a time. */
enum { GPNN_INDEX_PART_BLOCK = 1 << 18 };

/* Gathers the section from all rows.  GPNN_ENOMEM, or what 'taker' fails with. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_gather_parts(const struct gpnn_dataset *rows,
                                                         const struct gpnn_index_present *present,
                                                         gpnn_index_taker *taker, void *context,
                                                         struct gpnn_error *err);

/* Points the views of all targets to their rows in the section, whose length must be right. */
void gpnn_index_set_parts(const struct gpnn_dataset *rows, const struct gpnn_index_present *present,
                          const unsigned char *bytes, struct gpnn_dataset *views);

/* '*agree' tells whether counts and section are what all rows say.  GPNN_ENOMEM. */
GPNN_MUST_CHECK enum gpnn_status gpnn_index_verify_parts(const struct gpnn_dataset *rows,
                                                         const struct gpnn_index_present *present,
                                                         const unsigned char *bytes, bool *agree,
                                                         struct gpnn_error *err);

#endif
