/*
 * sections: our binary container: a header, a table of sections, checksums.
 *
 * Knows nothing of what sections hold.  The layout and the reasons for it are in
 * gpnn-index(5).  Writing: gpnn_sections_create(), then for each section
 * gpnn_sections_begin(), gpnn_sections_write() as often as needed (or writing to
 * gpnn_sections_file() directly), gpnn_sections_end(); then gpnn_sections_commit().
 * Reading: gpnn_sections_open() maps the file and checks header and table;
 * gpnn_sections_find() gives a section's bytes where they are mapped;
 * gpnn_sections_check() compares its checksum.
 */
#ifndef GPNN_DATASET_SECTIONS_H
#define GPNN_DATASET_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/mapping.h"
#include "base/status.h"

enum { GPNN_SECTIONS_MOST = 30 };

struct gpnn_sections_writer;
struct gpnn_sections; /* an open, mapped file */

struct gpnn_section {
  char tag[5];     /* four letters and a NUL */
  bool critical;   /* a reader that does not know it must refuse the file */
  uint64_t offset; /* from the start of the file, a multiple of 64 */
  uint64_t length; /* bytes */
  uint32_t crc;    /* CRC-32 of those bytes */
};

/* Starts a file that will appear as 'path'; 'watch', which may be NULL, is told of it
 * (base/atomic_file.h). */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_create(struct gpnn_sections_writer **writer,
                                                      const char *path, const char *volatile *watch,
                                                      struct gpnn_error *err);

GPNN_MUST_CHECK enum gpnn_status gpnn_sections_begin(struct gpnn_sections_writer *writer,
                                                     const char tag[4], bool critical,
                                                     struct gpnn_error *err);
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_write(struct gpnn_sections_writer *writer,
                                                     const void *bytes, size_t length,
                                                     struct gpnn_error *err);
/* A stdio stream at the current end of the section, for libraries that write themselves; it
 * belongs to the writer. */
FILE *gpnn_sections_file(struct gpnn_sections_writer *writer);
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_end(struct gpnn_sections_writer *writer,
                                                   struct gpnn_error *err);

/* Writes header and table with 'fingerprint', makes the file appear, and frees 'writer'
 * whatever the outcome. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_commit(struct gpnn_sections_writer *writer,
                                                      uint64_t fingerprint, struct gpnn_error *err);

/* Has the disk keep what was written so far, so that a commit has less to wait for.  Between
 * sections. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_sync(struct gpnn_sections_writer *writer,
                                                    struct gpnn_error *err);

/* Frees 'writer' and leaves no file behind; NULL is allowed. */
void gpnn_sections_abandon(struct gpnn_sections_writer *writer);

/*
 * Maps 'path' and checks, in this order: that it is long enough, magic, header checksum,
 * version, byte order, total length, table checksum, bounds and order of sections.  Each
 * has its own sentence: GPNN_EMISMATCH for a file of another kind, GPNN_EVERSION for a newer
 * one, GPNN_EFORMAT for one that is damaged, truncated or of the other byte order, GPNN_EIO
 * where the system refuses.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_open(struct gpnn_sections **sections,
                                                    const char *path, struct gpnn_error *err);

uint64_t gpnn_sections_fingerprint(const struct gpnn_sections *sections);
size_t gpnn_sections_count(const struct gpnn_sections *sections);
const struct gpnn_section *gpnn_sections_get(const struct gpnn_sections *sections, size_t i);

/* The section with 'tag', or NULL. */
const struct gpnn_section *gpnn_sections_find(const struct gpnn_sections *sections,
                                              const char tag[4]);

/* Its bytes, mapped read-only. */
const unsigned char *gpnn_sections_bytes(const struct gpnn_sections *sections,
                                         const struct gpnn_section *section);

/* Reads the section and compares its checksum: GPNN_EFORMAT names the section. */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_check(const struct gpnn_sections *sections,
                                                     const struct gpnn_section *section,
                                                     struct gpnn_error *err);

/*
 * A stream over the same file, at the start of the section, for libraries that read themselves; the
 * caller closes it.  It is the file that was opened, though its name may be another's by now.  All
 * streams of one object share their place in it: one is open at a time.
 */
GPNN_MUST_CHECK enum gpnn_status gpnn_sections_stream(const struct gpnn_sections *sections,
                                                      const struct gpnn_section *section,
                                                      FILE **stream, struct gpnn_error *err);

/* The whole mapping, parts of which may be let go. */
struct gpnn_mapping gpnn_sections_mapping(const struct gpnn_sections *sections);

const char *gpnn_sections_path(const struct gpnn_sections *sections);

void gpnn_sections_close(struct gpnn_sections *sections);

#endif
