/*
 * container: the one format of gpnn's binary files: a header, a table of sections, and the
 * sections, with checksums (gpnn-index(5)).
 *
 * The header says which kind of file it is: an index, a grid, a model, or the state that belongs to
 * some parameters.  Only the module that reads and writes a kind knows what its sections contain;
 * it describes their tags in a struct gpnn_container_format.
 *
 * Writing: gpnn_container_create(); then for each section gpnn_container_begin(), any number of
 * gpnn_container_write() (or writing to gpnn_container_file()), and gpnn_container_end(); then
 * gpnn_container_commit().  After a failure of any but the last, call gpnn_container_abandon().
 * gpnn_container_copy() begins with sections of another file, which need not pass through memory.
 * Or gpnn_container_pour(), which writes a whole container, of sections in memory, to any stream.
 * Reading: gpnn_container_open() maps the file and checks header and table,
 * gpnn_container_of_bytes() does that with what was read from a stream; gpnn_container_find() finds
 * a section, gpnn_container_bytes() says where it is mapped, and gpnn_container_check() verifies
 * its checksum; gpnn_container_close().
 *
 * Versions.  The major version is that of header and table.  The minor version belongs to the kind:
 * it is the one that introduced the youngest critical section of the file, so that every program
 * that reads this version knows all critical sections.  The layout of a section never changes by
 * itself: a change needs a new tag, or a new critical section beside it.
 *
 * Failures: besides the outcomes named below, GPNN_EIO where the system refuses, and GPNN_ENOMEM.
 * Threads: an open container is read-only and may be shared; a writer belongs to one thread at a
 * time.
 */
#ifndef GPNN_CONTAINER_CONTAINER_H
#define GPNN_CONTAINER_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/status.h"

/* A byte outside ASCII, CR LF, ctrl-Z and NUL reveal files that were transferred as text. */
#define GPNN_CONTAINER_MAGIC "\x89GPI\r\n\x1a"

enum {
  GPNN_CONTAINER_MAGIC_BYTES = 8,
  GPNN_CONTAINER_KIND_BYTES = 24,    /* of a file's beginning, which include magic and kind */
  GPNN_CONTAINER_FRONT_BYTES = 2048, /* which include the table of sections */
  GPNN_CONTAINER_SECTIONS = 62       /* most sections of a file */
};

enum gpnn_container_kind {
  GPNN_CONTAINER_INDEX = 0,  /* training rows and a search over them */
  GPNN_CONTAINER_GRID = 1,   /* values on a grid */
  GPNN_CONTAINER_MODEL = 2,  /* a model that predicts without the training rows */
  GPNN_CONTAINER_STATE = 3,  /* a number for each training row, computed with some parameters */
  GPNN_CONTAINER_UNKNOWN = 4 /* of a later program; no format has this kind */
};

/* A section that files of some kind may have. */
struct gpnn_container_tag {
  char tag[5];      /* four capital letters and a NUL */
  bool is_critical; /* programs that do not know this section must refuse the file */
  unsigned since;   /* if critical: the minor version that introduced it */
};

/* All sections that files of one kind may have.  It must outlive the containers and writers that
 * are given it. */
struct gpnn_container_format {
  enum gpnn_container_kind kind;
  size_t n_tags;
  const struct gpnn_container_tag *tags;
};

/*
 * True if a file that begins with these bytes is a container, even if truncated.  '*kind' is then
 * its kind; with fewer than GPNN_CONTAINER_KIND_BYTES bytes that is GPNN_CONTAINER_UNKNOWN.
 */
bool gpnn_container_recognise(const void *bytes, size_t length, enum gpnn_container_kind *kind);

/* True if a container that begins with these bytes lists a section with this tag among those that
 * they tell of.  It may be damaged. */
bool gpnn_container_lists(const void *bytes, size_t length, const char tag[4]);

/* For messages: "an index", "a grid index", "a model file", "a state file" or "a gpnn file of an
 * unknown kind". */
const char *gpnn_container_kind_name(enum gpnn_container_kind kind);

/* ---- writing ---- */

struct gpnn_container;        /* an open, mapped file, or one in memory */
struct gpnn_container_writer; /* one that is being written */

/* Creates a file that appears as 'path' when it is committed.  '*watch' holds the name of the
 * unfinished file until then (base/atomic_file.h); 'watch' may be NULL.  '*writer' is set on
 * success only. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_create(struct gpnn_container_writer **writer,
                                                       const char *path,
                                                       const struct gpnn_container_format *format,
                                                       const char *volatile *watch,
                                                       struct gpnn_error *err);

/*
 * Begins a file that has no section yet with the first 'n' sections of 'container', a mapped file
 * of the same format, as they are there, with their checksums, which are not verified.  Where the
 * file system can, both files share the bytes.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_copy(struct gpnn_container_writer *writer,
                                                     const struct gpnn_container *container,
                                                     size_t n, struct gpnn_error *err);

/* Begins the section 'tag', which is one of the format's and not in the file yet.  GPNN_EDATA: the
 * file has GPNN_CONTAINER_SECTIONS already. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_begin(struct gpnn_container_writer *writer,
                                                      const char tag[4], struct gpnn_error *err);

/* Appends bytes to the section; 'length' may be 0. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_write(struct gpnn_container_writer *writer,
                                                      const void *bytes, size_t length,
                                                      struct gpnn_error *err);

/* A stdio stream at the section's end, for libraries that write for themselves.  It belongs to the
 * writer; append only. */
FILE *gpnn_container_file(struct gpnn_container_writer *writer);

/* Ends the section, which may be empty. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_end(struct gpnn_container_writer *writer,
                                                    struct gpnn_error *err);

/* Writes header and table with 'fingerprint', makes the file appear under its name, and frees
 * 'writer' whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_commit(struct gpnn_container_writer *writer,
                                                       uint64_t fingerprint,
                                                       struct gpnn_error *err);

/* Between sections: brings what was written so far to disk, so that a commit has less to wait for.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_sync(struct gpnn_container_writer *writer,
                                                     struct gpnn_error *err);

/* Frees 'writer' and leaves no new file behind; NULL is allowed. */
void gpnn_container_abandon(struct gpnn_container_writer *writer);

/* A section that is in memory; borrowed. */
struct gpnn_container_part {
  const char *tag; /* one of the format's, and of no other part */
  const void *bytes;
  size_t length;
};

/* Where a container goes, one piece of bytes after another. */
typedef enum gpnn_status gpnn_container_sink(void *context, const void *bytes, size_t length,
                                             struct gpnn_error *err);

/* Writes a whole container with 'n' sections through 'sink', which need not be able to go back; its
 * failures are passed on. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_pour(const struct gpnn_container_format *format,
                                                     uint64_t fingerprint, size_t n,
                                                     const struct gpnn_container_part *parts,
                                                     gpnn_container_sink *sink, void *context,
                                                     struct gpnn_error *err);

/* ---- reading ---- */

struct gpnn_container_section {
  char tag[5];      /* four capital letters and a NUL */
  bool is_critical; /* according to the file */
  uint64_t offset;  /* from the start of the file; a multiple of 64 */
  uint64_t length;  /* bytes */
  uint32_t crc;     /* CRC-32 of those bytes */
};

/*
 * Maps 'path' and checks, in this order: the magic bytes, the header's checksum, major version,
 * byte order, kind, minor version, the file's length, the table's checksum, bounds and order of the
 * sections, and that 'format' has every critical one.  Each failure has its own message.  The
 * sections themselves are not read.  '*container' is set on success only.
 *
 *   GPNN_EMISMATCH  the file is not a container (an empty file is not one), or of another kind
 *   GPNN_EVERSION   this program does not know its version or one of its critical sections
 *   GPNN_EFORMAT    it is damaged, truncated, or from a machine with another byte order
 *   GPNN_EIO        the system refuses, or 'path' is not a regular file
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_open(struct gpnn_container **container,
                                                     const char *path,
                                                     const struct gpnn_container_format *format,
                                                     struct gpnn_error *err);

/* The same for a container of 'length' bytes at 'bytes', which are borrowed and aligned as by
 * malloc(); messages call it 'name'.  It has no mapping and no stream. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_of_bytes(struct gpnn_container **container,
                                                         const char *name, const void *bytes,
                                                         size_t length,
                                                         const struct gpnn_container_format *format,
                                                         struct gpnn_error *err);

/* What gpnn_container_commit() was given. */
uint64_t gpnn_container_fingerprint(const struct gpnn_container *container);

/* How many sections there are, which may be 0, and section 'i' of them in the order of the file. */
size_t gpnn_container_count(const struct gpnn_container *container);
const struct gpnn_container_section *gpnn_container_get(const struct gpnn_container *container,
                                                        size_t i);

/* The section with this tag, or NULL.  Sections belong to the container. */
const struct gpnn_container_section *gpnn_container_find(const struct gpnn_container *container,
                                                         const char tag[4]);

/* The descriptor of a mapped file, which belongs to the container. */
int gpnn_container_descriptor(const struct gpnn_container *container);

/* The bytes of a section, mapped read-only until the container is closed; not yet verified. */
const unsigned char *gpnn_container_bytes(const struct gpnn_container *container,
                                          const struct gpnn_container_section *section);

/* Reads a whole section and verifies its checksum.  GPNN_EFORMAT: it is damaged; the message names
 * it. */
GPNN_MUST_CHECK enum gpnn_status gpnn_container_check(const struct gpnn_container *container,
                                                      const struct gpnn_container_section *section,
                                                      struct gpnn_error *err);

/* The mapping of the whole file, so that callers can release pages that they no longer need
 * (base/mapping.h). */
struct gpnn_mapping gpnn_container_mapping(const struct gpnn_container *container);

/* The path it was opened with; belongs to the container. */
const char *gpnn_container_path(const struct gpnn_container *container);

/* Unmaps, closes and frees; NULL is allowed. */
void gpnn_container_close(struct gpnn_container *container);

#endif
