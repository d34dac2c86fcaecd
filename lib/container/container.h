/*
 * container: the toolkit's binary files: a header, a table of sections, and the sections, with
 * checksums (gpnn-index(5)).
 *
 * Every binary file that we write is a container, and its header says of which kind: an index, a
 * grid, a model, or the state that belongs to some parameters.  What a kind's sections hold is for
 * the module that reads and writes that kind to know; it hands over their tags as a struct
 * gpnn_container_format.
 *
 * Writing: gpnn_container_create(), then for each section gpnn_container_begin(),
 * gpnn_container_write() as often as needed (or writing to gpnn_container_file() directly),
 * gpnn_container_end(); then gpnn_container_commit().
 * Reading: gpnn_container_open() maps the file and checks header and table;
 * gpnn_container_find() finds a section, gpnn_container_bytes() says where it is mapped,
 * gpnn_container_check() compares its checksum; gpnn_container_close().
 *
 * Versions.  The major version is that of header and table.  The minor version belongs to the kind:
 * each critical section has the one that introduced it, and a file gets the highest of its
 * sections', which is the lowest whose readers know them all.  What a section holds changes only
 * where a new critical section goes with the change; otherwise it becomes a section of another tag.
 *
 * Threads: an open container is read-only and may be shared, but for gpnn_container_stream(); a
 * writer belongs to one thread at a time.
 */
#ifndef GPNN_CONTAINER_CONTAINER_H
#define GPNN_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/status.h"

/* Outside ASCII, then CR LF, ctrl-Z and NUL, so that a transfer as text is noticed. */
#define GPNN_CONTAINER_MAGIC "\x89GPI\r\n\x1a"

enum {
  GPNN_CONTAINER_MAGIC_BYTES = 8,
  GPNN_CONTAINER_KIND_BYTES = 24, /* from the start of the file: they include magic and kind */
  GPNN_CONTAINER_SECTIONS = 30    /* at most in one file */
};

enum gpnn_container_kind {
  GPNN_CONTAINER_INDEX = 0,  /* training rows and a search over them */
  GPNN_CONTAINER_GRID = 1,   /* values on a grid */
  GPNN_CONTAINER_MODEL = 2,  /* a model that needs no training rows */
  GPNN_CONTAINER_STATE = 3,  /* numbers for each training row that belong to parameters */
  GPNN_CONTAINER_UNKNOWN = 4 /* a kind of a later program; in no format */
};

/* A section that files of some kind may have. */
struct gpnn_container_tag {
  char tag[5];      /* four capital letters and a NUL */
  bool is_critical; /* a reader that does not know it must refuse the file */
  unsigned since;   /* critical: the minor version that introduced it */
};

/* What files of one kind consist of.  It outlives the writers that are given it. */
struct gpnn_container_format {
  enum gpnn_container_kind kind;
  size_t n_tags;
  const struct gpnn_container_tag *tags;
};

/*
 * True if a file that begins with these bytes is a container, or the beginning of one; '*kind' is
 * then what it holds, GPNN_CONTAINER_UNKNOWN also if there are fewer than
 * GPNN_CONTAINER_KIND_BYTES.
 */
bool gpnn_container_recognise(const void *bytes, size_t length, enum gpnn_container_kind *kind);

/* For messages: "an index", "a grid index", "a model file", "a state file", "a gpnn file of an
 * unknown kind". */
const char *gpnn_container_kind_name(enum gpnn_container_kind kind);

/* ---- writing ---- */

struct gpnn_container_writer;

/* Starts a file that will appear as 'path'; 'watch', which may be NULL, is told of it
 * (base/atomic_file.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_create(struct gpnn_container_writer **writer,
                                                       const char *path,
                                                       const struct gpnn_container_format *format,
                                                       const char *volatile *watch,
                                                       struct gpnn_error *err);

/* Begins the section 'tag', one of the format's; each at most once. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_begin(struct gpnn_container_writer *writer,
                                                      const char tag[4], struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_container_write(struct gpnn_container_writer *writer,
                                                      const void *bytes, size_t length,
                                                      struct gpnn_error *err);
/* A stdio stream at the current end of the section, for libraries that write themselves; it
 * belongs to the writer. */
FILE *gpnn_container_file(struct gpnn_container_writer *writer);
GPNN_MUST_CHECK enum gpnn_status gpnn_container_end(struct gpnn_container_writer *writer,
                                                    struct gpnn_error *err);

/* Writes header and table with 'fingerprint', makes the file appear, and frees 'writer'
 * whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_commit(struct gpnn_container_writer *writer,
                                                       uint64_t fingerprint,
                                                       struct gpnn_error *err);

/* Between sections: makes the disk keep what was written so far, so that a commit has less to
 * wait for. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_sync(struct gpnn_container_writer *writer,
                                                     struct gpnn_error *err);

/* Frees 'writer' and leaves no file behind; NULL is allowed. */
void gpnn_container_abandon(struct gpnn_container_writer *writer);

/* ---- reading ---- */

struct gpnn_container; /* an open, mapped file */

struct gpnn_container_section {
  char tag[5];      /* four letters and a NUL */
  bool is_critical; /* as the file says */
  uint64_t offset;  /* from the start of the file, a multiple of 64 */
  uint64_t length;  /* bytes */
  uint32_t crc;     /* CRC-32 of those bytes */
};

/*
 * Maps 'path' and checks, in this order: that it is long enough, magic, header checksum, major
 * version, byte order, kind, minor version, total length, table checksum, bounds and order of
 * sections, and that 'format' has every critical one.  Each has its own message.
 *
 *   GPNN_EMISMATCH  no container, or one of another kind
 *   GPNN_EVERSION   a version, or a critical section, that this program does not know
 *   GPNN_EFORMAT    damaged, truncated, or written on a machine of the other byte order
 *   GPNN_EIO        the system refuses; or 'path' is not a regular file
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_open(struct gpnn_container **container,
                                                     const char *path,
                                                     const struct gpnn_container_format *format,
                                                     struct gpnn_error *err);

uint64_t gpnn_container_fingerprint(const struct gpnn_container *container);
size_t gpnn_container_count(const struct gpnn_container *container);
const struct gpnn_container_section *gpnn_container_get(const struct gpnn_container *container,
                                                        size_t i);

/* The section with 'tag', or NULL. */
const struct gpnn_container_section *gpnn_container_find(const struct gpnn_container *container,
                                                         const char tag[4]);

/* Its bytes, mapped read-only. */
const unsigned char *gpnn_container_bytes(const struct gpnn_container *container,
                                          const struct gpnn_container_section *section);

/* Reads the section and compares its checksum: GPNN_EFORMAT names the section. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_check(const struct gpnn_container *container,
                                                      const struct gpnn_container_section *section,
                                                      struct gpnn_error *err);

/*
 * A stream over the same file, at the start of the section, for libraries that read themselves; the
 * caller closes it.  It is the file that was opened, even if its name belongs to another by now.
 * All streams of one container share one position: only one may be open at a time.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_stream(const struct gpnn_container *container,
                                                       const struct gpnn_container_section *section,
                                                       FILE **stream, struct gpnn_error *err);

/* The whole mapping, parts of which may be released. */
struct gpnn_mapping gpnn_container_mapping(const struct gpnn_container *container);

const char *gpnn_container_path(const struct gpnn_container *container);

void gpnn_container_close(struct gpnn_container *container);

#endif
