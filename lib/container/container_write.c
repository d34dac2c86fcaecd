/*
 * Writing containers.
 */
#define _GNU_SOURCE /* copy_file_range() */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/bytes.h"
#include "container/container_private.h"

struct gpnn_container_writer {
  const struct gpnn_container_format *format;
  struct gpnn_atomic_file file;
  FILE *stream; /* over a duplicate of the file's descriptor */
  uint64_t length;
  unsigned minor; /* the version that introduced the youngest critical section so far */
  size_t n_sections;
  bool is_open;     /* between begin and end */
  bool is_external; /* a library wrote to the stream: checksum and length must be read back */
  struct gpnn_container_section sections[GPNN_CONTAINER_SECTIONS];
};

static enum gpnn_status write_failed(const struct gpnn_container_writer *writer, int errnum,
                                     struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errnum, "%s: cannot be written", writer->file.target);
}

static enum gpnn_status append(struct gpnn_container_writer *writer, const void *bytes,
                               size_t length, struct gpnn_error *err)
{
  if (length > 0 && fwrite(bytes, 1, length, writer->stream) != length)
    return write_failed(writer, errno, err);
  writer->length += length;
  return GPNN_OK;
}

static enum gpnn_status open_stream(struct gpnn_container_writer *writer, struct gpnn_error *err)
{
  int fd = fcntl(writer->file.fd, F_DUPFD_CLOEXEC, 0);
  writer->stream = fd < 0 ? NULL : fdopen(fd, "r+b");
  if (writer->stream != NULL) return GPNN_OK;
  enum gpnn_status status = write_failed(writer, errno, err);
  if (fd >= 0) close(fd);
  return status;
}

enum gpnn_status gpnn_container_create(struct gpnn_container_writer **writer, const char *path,
                                       const struct gpnn_container_format *format,
                                       const char *volatile *watch, struct gpnn_error *err)
{
  static const unsigned char front[FRONT_BYTES];
  struct gpnn_container_writer *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for writing a file");
  made->format = format;
  made->file = (struct gpnn_atomic_file)GPNN_ATOMIC_FILE_INIT;
  made->file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&made->file, path, err);
  if (status == GPNN_OK) status = open_stream(made, err);
  if (status == GPNN_OK) status = append(made, front, sizeof front, err);
  if (status != GPNN_OK) {
    gpnn_container_abandon(made);
    return status;
  }
  *writer = made;
  return GPNN_OK;
}

/* ---- sections of another file ---- */

/* Lets the system copy the bytes [*at, end) of one file to the same place of another, and moves
 * '*at' on: not to the end where it cannot, or not between these files. */
static void copy_within_system(int from, int to, uint64_t *at, uint64_t end)
{
#ifdef __linux__
  while (*at < end) {
    off_t read_at = (off_t)*at, write_at = (off_t)*at;
    size_t wanted = end - *at < SSIZE_MAX ? (size_t)(end - *at) : SSIZE_MAX;
    ssize_t got = copy_file_range(from, &read_at, to, &write_at, wanted, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return;
    *at += (uint64_t)got;
  }
#else
  (void)from, (void)to, (void)at, (void)end;
#endif
}

/* Does the same, whatever the system can, from where the file is mapped. */
static enum gpnn_status copy_mapped(struct gpnn_container_writer *writer,
                                    const struct gpnn_mapping *mapping, uint64_t at, uint64_t end,
                                    struct gpnn_error *err)
{
  const unsigned char *bytes = mapping->start;
  while (at < end) {
    size_t wanted = end - at < GPNN_MAPPING_STRIDE ? (size_t)(end - at) : GPNN_MAPPING_STRIDE;
    ssize_t got = pwrite(writer->file.fd, bytes + at, wanted, (off_t)at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return write_failed(writer, got < 0 ? errno : EIO, err);
    gpnn_mapping_evict(*mapping, bytes + at, (size_t)got);
    at += (uint64_t)got;
  }
  return GPNN_OK;
}

enum gpnn_status gpnn_container_copy(struct gpnn_container_writer *writer,
                                     const struct gpnn_container *container, size_t n,
                                     struct gpnn_error *err)
{
  enum { BLOCK = 1 << 16 }; /* file systems share whole blocks alone, none of which is longer */
  const struct gpnn_mapping mapping = gpnn_container_mapping(container);
  uint64_t at = 0, end = FRONT_BYTES;
  assert(writer->n_sections == 0 && mapping.start != NULL && n <= gpnn_container_count(container));
  for (size_t i = 0; i < n; i++) {
    const struct gpnn_container_section *from = gpnn_container_get(container, i);
    const struct gpnn_container_tag *known = gpnn_container_find_tag(writer->format, from->tag);
    writer->sections[writer->n_sections++] = *from;
    if (known != NULL && known->is_critical && known->since > writer->minor)
      writer->minor = known->since;
    end = from->offset + from->length;
  }
  if (fflush(writer->stream) != 0) return write_failed(writer, errno, err);
  int source = gpnn_container_descriptor(container);
  copy_within_system(source, writer->file.fd, &at, end / BLOCK * BLOCK);
  copy_within_system(source, writer->file.fd, &at, end);
  enum gpnn_status status = copy_mapped(writer, &mapping, at, end, err);
  if (status != GPNN_OK) return status;
  if (fseeko(writer->stream, (off_t)end, SEEK_SET) != 0) return write_failed(writer, errno, err);
  writer->length = end;
  return GPNN_OK;
}

/* ---- sections ---- */

/* An empty section at 'offset', which raises the minor version if it has to. */
static struct gpnn_container_section new_section(const struct gpnn_container_format *format,
                                                 const char *tag, uint64_t offset, unsigned *minor)
{
  const struct gpnn_container_tag *known = gpnn_container_find_tag(format, tag);
  assert(known != NULL);
  struct gpnn_container_section section = {.is_critical = known->is_critical, .offset = offset};
  memcpy(section.tag, tag, 4);
  if (known->is_critical && known->since > *minor) *minor = known->since;
  return section;
}

enum gpnn_status gpnn_container_begin(struct gpnn_container_writer *writer, const char tag[4],
                                      struct gpnn_error *err)
{
  static const unsigned char zeros[ALIGN];
  assert(!writer->is_open);
  if (writer->n_sections == GPNN_CONTAINER_SECTIONS)
    return gpnn_fail(err, GPNN_EDATA, "a file can hold at most %d kinds of columns and settings",
                     GPNN_CONTAINER_SECTIONS);
  enum gpnn_status status = append(writer, zeros, gpnn_container_padding(writer->length), err);
  if (status != GPNN_OK) return status;
  writer->sections[writer->n_sections++] =
      new_section(writer->format, tag, writer->length, &writer->minor);
  writer->is_open = true;
  writer->is_external = false;
  return GPNN_OK;
}

enum gpnn_status gpnn_container_write(struct gpnn_container_writer *writer, const void *bytes,
                                      size_t length, struct gpnn_error *err)
{
  assert(writer->is_open);
  struct gpnn_container_section *section = &writer->sections[writer->n_sections - 1];
  /* Given a null pointer, as an empty block may have, zlib would return the initial value.  First,
   * as this maps the pages of a mapped file, without which the system writes much more slowly. */
  if (length > 0) section->crc = gpnn_container_checksum(section->crc, bytes, length);
  return append(writer, bytes, length, err);
}

FILE *gpnn_container_file(struct gpnn_container_writer *writer)
{
  assert(writer->is_open);
  writer->is_external = true;
  return writer->stream;
}

/* Finds checksum and length of a section that a library wrote, from the file itself. */
static enum gpnn_status read_back(struct gpnn_container_writer *writer,
                                  struct gpnn_container_section *section, struct gpnn_error *err)
{
  enum { BLOCK = 1 << 16 };
  off_t end = fflush(writer->stream) == 0 ? ftello(writer->stream) : -1;
  if (end < 0 || ferror(writer->stream)) return write_failed(writer, errno, err);
  unsigned char *block = malloc(BLOCK);
  if (block == NULL) return gpnn_fail_memory(err, "for reading back a section");
  enum gpnn_status status = GPNN_OK;
  section->crc = 0;
  for (off_t at = (off_t)section->offset; at < end && status == GPNN_OK;) {
    size_t wanted = end - at < BLOCK ? (size_t)(end - at) : BLOCK;
    ssize_t got = pread(writer->file.fd, block, wanted, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      status = write_failed(writer, got < 0 ? errno : EIO, err);
    } else {
      section->crc = gpnn_container_checksum(section->crc, block, (size_t)got);
      at += got;
    }
  }
  free(block);
  if (status == GPNN_OK) writer->length = (uint64_t)end;
  return status;
}

enum gpnn_status gpnn_container_end(struct gpnn_container_writer *writer, struct gpnn_error *err)
{
  assert(writer->is_open);
  struct gpnn_container_section *section = &writer->sections[writer->n_sections - 1];
  if (writer->is_external) {
    enum gpnn_status status = read_back(writer, section, err);
    if (status != GPNN_OK) return status;
  }
  section->length = writer->length - section->offset;
  writer->is_open = false;
  return GPNN_OK;
}

enum gpnn_status gpnn_container_sync(struct gpnn_container_writer *writer, struct gpnn_error *err)
{
  assert(!writer->is_open);
  if (fflush(writer->stream) != 0) return write_failed(writer, errno, err);
  return gpnn_atomic_file_sync(&writer->file, err);
}

/* Header and table of a file of 'length' bytes with 'n' sections, of which the youngest critical
 * one came with 'minor'. */
static void compose_front(const struct gpnn_container_format *format, size_t n,
                          const struct gpnn_container_section *sections, unsigned minor,
                          uint64_t length, uint64_t fingerprint, unsigned char front[FRONT_BYTES])
{
  const uint32_t order = ORDER;
  memset(front, 0, FRONT_BYTES);
  for (size_t i = 0; i < n; i++) {
    const struct gpnn_container_section *section = &sections[i];
    unsigned char *entry = front + HEADER_BYTES + i * ENTRY_BYTES;
    memcpy(entry, section->tag, 4);
    gpnn_store_u32(entry + ENTRY_FLAGS, section->is_critical ? CRITICAL : 0);
    gpnn_store_u64(entry + ENTRY_OFFSET, section->offset);
    gpnn_store_u64(entry + ENTRY_LENGTH, section->length);
    gpnn_store_u32(entry + ENTRY_CRC, section->crc);
  }
  memcpy(front, GPNN_CONTAINER_MAGIC, GPNN_CONTAINER_MAGIC_BYTES);
  gpnn_store_u32(front + AT_MAJOR, MAJOR);
  gpnn_store_u32(front + AT_MINOR, minor);
  memcpy(front + AT_ORDER, &order, sizeof order);
  gpnn_store_u32(front + AT_KIND, (uint32_t)format->kind);
  gpnn_store_u32(front + AT_COUNT, (uint32_t)n);
  gpnn_store_u32(front + AT_TABLE_CRC,
                 gpnn_container_checksum(0, front + HEADER_BYTES, FRONT_BYTES - HEADER_BYTES));
  gpnn_store_u64(front + AT_LENGTH, length);
  gpnn_store_u64(front + AT_FINGERPRINT, fingerprint);
  gpnn_store_u32(front + AT_HEADER_CRC, gpnn_container_checksum(0, front, AT_HEADER_CRC));
}

enum gpnn_status gpnn_container_commit(struct gpnn_container_writer *writer, uint64_t fingerprint,
                                       struct gpnn_error *err)
{
  assert(!writer->is_open);
  unsigned char front[FRONT_BYTES];
  compose_front(writer->format, writer->n_sections, writer->sections, writer->minor, writer->length,
                fingerprint, front);
  enum gpnn_status status = GPNN_OK;
  if (fseeko(writer->stream, 0, SEEK_SET) != 0 ||
      fwrite(front, 1, sizeof front, writer->stream) != sizeof front)
    status = write_failed(writer, errno, err);
  int closed = fclose(writer->stream);
  writer->stream = NULL;
  if (status == GPNN_OK && closed != 0) status = write_failed(writer, errno, err);
  if (status == GPNN_OK) status = gpnn_atomic_file_commit(&writer->file, err);
  gpnn_container_abandon(writer); /* removes the file only if it was not committed */
  return status;
}

void gpnn_container_abandon(struct gpnn_container_writer *writer)
{
  if (writer == NULL) return;
  if (writer->stream != NULL) fclose(writer->stream);
  gpnn_atomic_file_abandon(&writer->file);
  free(writer);
}

enum gpnn_status gpnn_container_pour(const struct gpnn_container_format *format,
                                     uint64_t fingerprint, size_t n,
                                     const struct gpnn_container_part *parts,
                                     gpnn_container_sink *sink, void *context,
                                     struct gpnn_error *err)
{
  static const unsigned char zeros[ALIGN];
  struct gpnn_container_section sections[GPNN_CONTAINER_SECTIONS] = {{.offset = 0}};
  unsigned char front[FRONT_BYTES];
  uint64_t end = FRONT_BYTES;
  unsigned minor = 0;
  assert(n <= GPNN_CONTAINER_SECTIONS);
  for (size_t i = 0; i < n; i++) {
    const struct gpnn_container_part *part = &parts[i];
    sections[i] = new_section(format, part->tag, end + gpnn_container_padding(end), &minor);
    sections[i].length = part->length;
    if (part->length > 0) sections[i].crc = gpnn_container_checksum(0, part->bytes, part->length);
    end = sections[i].offset + part->length;
  }
  compose_front(format, n, sections, minor, end, fingerprint, front);
  enum gpnn_status status = sink(context, front, sizeof front, err);
  end = FRONT_BYTES;
  for (size_t i = 0; i < n && status == GPNN_OK; i++) {
    status = sink(context, zeros, (size_t)(sections[i].offset - end), err);
    if (status == GPNN_OK) status = sink(context, parts[i].bytes, parts[i].length, err);
    end = sections[i].offset + parts[i].length;
  }
  return status;
}
