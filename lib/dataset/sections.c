#include "dataset/sections.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/atomic_file.h"
#include "base/bytes.h"
#include "base/magic.h"
#include "base/memory.h"

/* The layout of gpnn-index(5): offsets in the header and in an entry of the table. */
enum {
  AT_MAJOR = 8,
  AT_MINOR = 12,
  AT_ORDER = 16,
  AT_FLAGS = 20,
  AT_COUNT = 24,
  AT_TABLE_CRC = 28,
  AT_LENGTH = 32,
  AT_FINGERPRINT = 40,
  AT_HEADER_CRC = 60,
  HEADER_BYTES = 64,

  ENTRY_FLAGS = 4,
  ENTRY_OFFSET = 8,
  ENTRY_LENGTH = 16,
  ENTRY_CRC = 24,
  ENTRY_RESERVED = 28,
  ENTRY_BYTES = 32,

  FRONT_BYTES = HEADER_BYTES + GPNN_SECTIONS_MOST * ENTRY_BYTES,
  ALIGN = 64,
  CRITICAL = 1,

  MAJOR = 1,
  MINOR = 0,
};

static const uint32_t order_word = 0x01020304;

/* Bytes that bring 'length' to a multiple of ALIGN. */
static size_t padding(uint64_t length)
{
  return (size_t)(-length % ALIGN);
}

static uint32_t checksum(uint32_t crc, const void *bytes, size_t length)
{
  return (uint32_t)crc32_z(crc, bytes, length);
}

/* ---- writing ---- */

struct gpnn_sections_writer {
  struct gpnn_atomic_file file;
  FILE *stream; /* over a duplicate of the file's descriptor */
  uint64_t length;
  size_t n_sections;
  bool is_open;     /* between begin and end */
  bool is_external; /* others wrote to the stream: checksum and length are read back */
  struct gpnn_section sections[GPNN_SECTIONS_MOST];
};

static enum gpnn_status write_failed(const struct gpnn_sections_writer *writer, int errnum,
                                     struct gpnn_error *err)
{
  return gpnn_fail_errno(err, errnum, "%s: cannot be written", writer->file.target);
}

static enum gpnn_status append(struct gpnn_sections_writer *writer, const void *bytes,
                               size_t length, struct gpnn_error *err)
{
  if (length > 0 && fwrite(bytes, 1, length, writer->stream) != length)
    return write_failed(writer, errno, err);
  writer->length += length;
  return GPNN_OK;
}

static enum gpnn_status open_stream(struct gpnn_sections_writer *writer, struct gpnn_error *err)
{
  int fd = fcntl(writer->file.fd, F_DUPFD_CLOEXEC, 0);
  writer->stream = fd < 0 ? NULL : fdopen(fd, "r+b");
  if (writer->stream != NULL) return GPNN_OK;
  enum gpnn_status status = write_failed(writer, errno, err);
  if (fd >= 0) close(fd);
  return status;
}

enum gpnn_status gpnn_sections_create(struct gpnn_sections_writer **writer, const char *path,
                                      const char *volatile *watch, struct gpnn_error *err)
{
  static const unsigned char front[FRONT_BYTES];
  struct gpnn_sections_writer *made = calloc(1, sizeof *made);
  if (made == NULL) return gpnn_fail_memory(err, "for an index file");
  made->file = (struct gpnn_atomic_file)GPNN_ATOMIC_FILE_INIT;
  made->file.watch = watch;
  enum gpnn_status status = gpnn_atomic_file_create(&made->file, path, err);
  if (status == GPNN_OK) status = open_stream(made, err);
  if (status == GPNN_OK) status = append(made, front, sizeof front, err);
  if (status != GPNN_OK) {
    gpnn_sections_abandon(made);
    return status;
  }
  *writer = made;
  return GPNN_OK;
}

enum gpnn_status gpnn_sections_begin(struct gpnn_sections_writer *writer, const char tag[4],
                                     bool critical, struct gpnn_error *err)
{
  static const unsigned char zeros[ALIGN];
  assert(!writer->is_open && writer->n_sections < GPNN_SECTIONS_MOST);
  enum gpnn_status status = append(writer, zeros, padding(writer->length), err);
  if (status != GPNN_OK) return status;
  struct gpnn_section *section = &writer->sections[writer->n_sections++];
  *section = (struct gpnn_section){.critical = critical, .offset = writer->length};
  memcpy(section->tag, tag, 4);
  writer->is_open = true;
  writer->is_external = false;
  return GPNN_OK;
}

enum gpnn_status gpnn_sections_write(struct gpnn_sections_writer *writer, const void *bytes,
                                     size_t length, struct gpnn_error *err)
{
  assert(writer->is_open);
  struct gpnn_section *section = &writer->sections[writer->n_sections - 1];
  enum gpnn_status status = append(writer, bytes, length, err);
  /* zlib takes a null pointer for "give me the first value". */
  if (status == GPNN_OK && length > 0) section->crc = checksum(section->crc, bytes, length);
  return status;
}

FILE *gpnn_sections_file(struct gpnn_sections_writer *writer)
{
  assert(writer->is_open);
  writer->is_external = true;
  return writer->stream;
}

/* Checksum and length of a section that others wrote, from the file itself. */
static enum gpnn_status read_back(struct gpnn_sections_writer *writer, struct gpnn_section *section,
                                  struct gpnn_error *err)
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
      section->crc = checksum(section->crc, block, (size_t)got);
      at += got;
    }
  }
  free(block);
  if (status == GPNN_OK) writer->length = (uint64_t)end;
  return status;
}

enum gpnn_status gpnn_sections_end(struct gpnn_sections_writer *writer, struct gpnn_error *err)
{
  assert(writer->is_open);
  struct gpnn_section *section = &writer->sections[writer->n_sections - 1];
  if (writer->is_external) {
    enum gpnn_status status = read_back(writer, section, err);
    if (status != GPNN_OK) return status;
  }
  section->length = writer->length - section->offset;
  writer->is_open = false;
  return GPNN_OK;
}

enum gpnn_status gpnn_sections_sync(struct gpnn_sections_writer *writer, struct gpnn_error *err)
{
  assert(!writer->is_open);
  if (fflush(writer->stream) != 0) return write_failed(writer, errno, err);
  return gpnn_atomic_file_sync(&writer->file, err);
}

static void compose_front(const struct gpnn_sections_writer *writer, uint64_t fingerprint,
                          unsigned char front[FRONT_BYTES])
{
  memset(front, 0, FRONT_BYTES);
  for (size_t i = 0; i < writer->n_sections; i++) {
    const struct gpnn_section *section = &writer->sections[i];
    unsigned char *entry = front + HEADER_BYTES + i * ENTRY_BYTES;
    memcpy(entry, section->tag, 4);
    gpnn_store_u32(entry + ENTRY_FLAGS, section->critical ? CRITICAL : 0);
    gpnn_store_u64(entry + ENTRY_OFFSET, section->offset);
    gpnn_store_u64(entry + ENTRY_LENGTH, section->length);
    gpnn_store_u32(entry + ENTRY_CRC, section->crc);
  }
  memcpy(front, GPNN_MAGIC, GPNN_MAGIC_BYTES);
  gpnn_store_u32(front + AT_MAJOR, MAJOR);
  gpnn_store_u32(front + AT_MINOR, MINOR);
  memcpy(front + AT_ORDER, &order_word, sizeof order_word);
  gpnn_store_u32(front + AT_COUNT, (uint32_t)writer->n_sections);
  gpnn_store_u32(front + AT_TABLE_CRC,
                 checksum(0, front + HEADER_BYTES, FRONT_BYTES - HEADER_BYTES));
  gpnn_store_u64(front + AT_LENGTH, writer->length);
  gpnn_store_u64(front + AT_FINGERPRINT, fingerprint);
  gpnn_store_u32(front + AT_HEADER_CRC, checksum(0, front, AT_HEADER_CRC));
}

enum gpnn_status gpnn_sections_commit(struct gpnn_sections_writer *writer, uint64_t fingerprint,
                                      struct gpnn_error *err)
{
  assert(!writer->is_open);
  unsigned char front[FRONT_BYTES];
  compose_front(writer, fingerprint, front);
  enum gpnn_status status = GPNN_OK;
  if (fseeko(writer->stream, 0, SEEK_SET) != 0 ||
      fwrite(front, 1, sizeof front, writer->stream) != sizeof front)
    status = write_failed(writer, errno, err);
  int closed = fclose(writer->stream);
  writer->stream = NULL;
  if (status == GPNN_OK && closed != 0) status = write_failed(writer, errno, err);
  if (status == GPNN_OK) status = gpnn_atomic_file_commit(&writer->file, err);
  gpnn_sections_abandon(writer); /* after a commit there is no file left to remove */
  return status;
}

void gpnn_sections_abandon(struct gpnn_sections_writer *writer)
{
  if (writer == NULL) return;
  if (writer->stream != NULL) fclose(writer->stream);
  gpnn_atomic_file_abandon(&writer->file);
  free(writer);
}

/* ---- reading ---- */

struct gpnn_sections {
  char *path;
  const unsigned char *bytes; /* the mapping */
  void *mapping;              /* the same, for munmap() */
  size_t length;
  int fd; /* the file, whatever becomes of its name; -1: none */
  size_t n_sections;
  struct gpnn_section sections[GPNN_SECTIONS_MOST];
};

static enum gpnn_status check_header(const struct gpnn_sections *file, struct gpnn_error *err)
{
  const unsigned char *header = file->bytes;
  const char *path = file->path;
  size_t magic = file->length < GPNN_MAGIC_BYTES ? file->length : GPNN_MAGIC_BYTES;
  if (magic == 0 ||
      (memcmp(header, GPNN_MAGIC, magic) != 0 && (magic < 4 || memcmp(header, GPNN_MAGIC, 4) != 0)))
    return gpnn_fail(err, GPNN_EMISMATCH, "%s: %s", path,
                     magic == 0 ? "is empty, not an index" : "is not an index");
  if (memcmp(header, GPNN_MAGIC, magic) != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged, as by a transfer as text", path);
  if (file->length < HEADER_BYTES)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: truncated: %zu bytes", path, file->length);
  if (gpnn_load_u32(header + AT_HEADER_CRC) != checksum(0, header, AT_HEADER_CRC))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the header's checksum is wrong", path);
  unsigned major = gpnn_load_u32(header + AT_MAJOR), minor = gpnn_load_u32(header + AT_MINOR);
  if (major != MAJOR)
    return gpnn_fail(err, GPNN_EVERSION, "%s: has format %u.%u, this program reads %d.x", path,
                     major, minor, MAJOR);
  if (memcmp(header + AT_ORDER, &order_word, sizeof order_word) != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: was written on a machine of the other byte order",
                     path);
  if (gpnn_load_u32(header + AT_FLAGS) != 0)
    return gpnn_fail(err, GPNN_EVERSION, "%s: uses a feature this program does not know", path);
  return GPNN_OK;
}

static enum gpnn_status check_length(const struct gpnn_sections *file, struct gpnn_error *err)
{
  uint64_t length = gpnn_load_u64(file->bytes + AT_LENGTH);
  if (file->length < length || file->length < FRONT_BYTES)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: truncated: %zu of %llu bytes", file->path,
                     file->length, (unsigned long long)length);
  if (file->length > length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: %zu bytes instead of %llu", file->path,
                     file->length, (unsigned long long)length);
  return GPNN_OK;
}

static bool is_tag(const char tag[5])
{
  return strspn(tag, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 4;
}

static bool all_zero(const unsigned char *bytes, size_t length)
{
  for (size_t i = 0; i < length; i++)
    if (bytes[i] != 0) return false;
  return true;
}

/* Takes entry 'i' over if it is where the layout wants it: right after 'end' and inside. */
static bool take_entry(struct gpnn_sections *file, size_t i, uint64_t end)
{
  const unsigned char *entry = file->bytes + HEADER_BYTES + i * ENTRY_BYTES;
  struct gpnn_section *section = &file->sections[i];
  uint32_t flags = gpnn_load_u32(entry + ENTRY_FLAGS);
  memcpy(section->tag, entry, 4);
  section->tag[4] = '\0';
  section->critical = (flags & CRITICAL) != 0;
  section->offset = gpnn_load_u64(entry + ENTRY_OFFSET);
  section->length = gpnn_load_u64(entry + ENTRY_LENGTH);
  section->crc = gpnn_load_u32(entry + ENTRY_CRC);
  return is_tag(section->tag) && (flags & ~(uint32_t)CRITICAL) == 0 &&
         gpnn_load_u32(entry + ENTRY_RESERVED) == 0 && section->offset == end + padding(end) &&
         section->offset <= file->length && section->length <= file->length - section->offset &&
         all_zero(file->bytes + end, padding(end));
}

static enum gpnn_status check_table(struct gpnn_sections *file, struct gpnn_error *err)
{
  const unsigned char *table = file->bytes + HEADER_BYTES;
  if (gpnn_load_u32(file->bytes + AT_TABLE_CRC) != checksum(0, table, FRONT_BYTES - HEADER_BYTES))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the checksum of its table is wrong",
                     file->path);
  uint32_t count = gpnn_load_u32(file->bytes + AT_COUNT);
  uint64_t end = FRONT_BYTES;
  bool good = count <= GPNN_SECTIONS_MOST;
  for (size_t i = 0; good && i < count; i++) {
    good = take_entry(file, i, end);
    end = file->sections[i].offset + file->sections[i].length;
    for (size_t j = 0; good && j < i; j++)
      good = strcmp(file->sections[i].tag, file->sections[j].tag) != 0;
  }
  if (!good || end != file->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: its sections are not in order", file->path);
  file->n_sections = count;
  return GPNN_OK;
}

/* Maps the file, which has to be a regular one; an empty one has no mapping. */
static enum gpnn_status map(struct gpnn_sections *file, struct gpnn_error *err)
{
  struct stat st;
  if (fstat(file->fd, &st) != 0) return gpnn_fail_errno(err, errno, "%s", file->path);
  if (!S_ISREG(st.st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is %s, not a regular file", file->path,
                     S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
  if ((uint64_t)st.st_size > SIZE_MAX)
    return gpnn_fail(err, GPNN_ENOMEM, "%s: is too long for this machine", file->path);
  file->length = (size_t)st.st_size;
  if (file->length == 0) return GPNN_OK;
  void *mapping = mmap(NULL, file->length, PROT_READ, MAP_SHARED, file->fd, 0);
  if (mapping == MAP_FAILED) return gpnn_fail_errno(err, errno, "%s: cannot be mapped", file->path);
  file->bytes = file->mapping = mapping;
  return GPNN_OK;
}

/* Without O_NONBLOCK a pipe without a writer would keep us waiting. */
static int open_read(const char *path)
{
  int fd;
  do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (fd < 0 && errno == EINTR);
  return fd;
}

enum gpnn_status gpnn_sections_open(struct gpnn_sections **sections, const char *path,
                                    struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct gpnn_sections *file = calloc(1, sizeof *file);
  if (file == NULL) return gpnn_fail_memory(err, "for opening an index");
  file->fd = -1;
  file->path = gpnn_copy_text(path, strlen(path));
  if (file->path == NULL) {
    gpnn_sections_close(file);
    return gpnn_fail_memory(err, "for opening an index");
  }
  file->fd = open_read(path);
  if (file->fd < 0) status = gpnn_fail_errno(err, errno, "%s", path);
  if (status == GPNN_OK) status = map(file, err);
  if (status == GPNN_OK) status = check_header(file, err);
  if (status == GPNN_OK) status = check_length(file, err);
  if (status == GPNN_OK) status = check_table(file, err);
  if (status != GPNN_OK) {
    gpnn_sections_close(file);
    return status;
  }
  *sections = file;
  return GPNN_OK;
}

uint64_t gpnn_sections_fingerprint(const struct gpnn_sections *sections)
{
  return gpnn_load_u64(sections->bytes + AT_FINGERPRINT);
}

size_t gpnn_sections_count(const struct gpnn_sections *sections)
{
  return sections->n_sections;
}

const struct gpnn_section *gpnn_sections_get(const struct gpnn_sections *sections, size_t i)
{
  assert(i < sections->n_sections);
  return &sections->sections[i];
}

const struct gpnn_section *gpnn_sections_find(const struct gpnn_sections *sections,
                                              const char tag[4])
{
  for (size_t i = 0; i < sections->n_sections; i++)
    if (memcmp(sections->sections[i].tag, tag, 4) == 0) return &sections->sections[i];
  return NULL;
}

const unsigned char *gpnn_sections_bytes(const struct gpnn_sections *sections,
                                         const struct gpnn_section *section)
{
  return sections->bytes + section->offset;
}

enum gpnn_status gpnn_sections_check(const struct gpnn_sections *sections,
                                     const struct gpnn_section *section, struct gpnn_error *err)
{
  const unsigned char *bytes = gpnn_sections_bytes(sections, section);
  size_t length = (size_t)section->length;
  uint32_t crc = 0;
  for (size_t at = 0; at < length; at += GPNN_MAPPING_STRIDE) {
    size_t block = length - at < GPNN_MAPPING_STRIDE ? length - at : GPNN_MAPPING_STRIDE;
    crc = checksum(crc, bytes + at, block);
    gpnn_mapping_evict(gpnn_sections_mapping(sections), bytes + at, block);
  }
  if (crc != section->crc)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the checksum of section %s is wrong",
                     sections->path, section->tag);
  return GPNN_OK;
}

enum gpnn_status gpnn_sections_stream(const struct gpnn_sections *sections,
                                      const struct gpnn_section *section, FILE **stream,
                                      struct gpnn_error *err)
{
  int fd = fcntl(sections->fd, F_DUPFD_CLOEXEC, 0);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "rb");
  if (file != NULL && fseeko(file, (off_t)section->offset, SEEK_SET) == 0) {
    *stream = file;
    return GPNN_OK;
  }
  enum gpnn_status status = gpnn_fail_errno(err, errno, "%s", sections->path);
  if (file != NULL)
    fclose(file);
  else if (fd >= 0)
    close(fd);
  return status;
}

struct gpnn_mapping gpnn_sections_mapping(const struct gpnn_sections *sections)
{
  return (struct gpnn_mapping){sections->mapping, sections->length};
}

const char *gpnn_sections_path(const struct gpnn_sections *sections)
{
  return sections->path;
}

void gpnn_sections_close(struct gpnn_sections *sections)
{
  if (sections == NULL) return;
  if (sections->mapping != NULL) munmap(sections->mapping, sections->length);
  if (sections->fd >= 0) close(sections->fd);
  free(sections->path);
  free(sections);
}
