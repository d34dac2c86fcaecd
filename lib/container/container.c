/*
 * Recognising and reading containers.
 */
#include "container/container.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "container/container_private.h"

const char *gpnn_container_kind_name(enum gpnn_container_kind kind)
{
  switch (kind) {
  case GPNN_CONTAINER_INDEX:
    return "an index";
  case GPNN_CONTAINER_GRID:
    return "a grid index";
  case GPNN_CONTAINER_MODEL:
    return "a model file";
  case GPNN_CONTAINER_STATE:
    return "a state file";
  case GPNN_CONTAINER_UNKNOWN:
    break;
  }
  return "a gpnn file of an unknown kind";
}

bool gpnn_container_recognise(const void *bytes, size_t length, enum gpnn_container_kind *kind)
{
  if (length < GPNN_CONTAINER_MAGIC_BYTES ||
      memcmp(bytes, GPNN_CONTAINER_MAGIC, GPNN_CONTAINER_MAGIC_BYTES) != 0)
    return false;
  uint32_t number = GPNN_CONTAINER_UNKNOWN;
  if (length >= GPNN_CONTAINER_KIND_BYTES)
    number = gpnn_load_u32((const unsigned char *)bytes + AT_KIND);
  *kind =
      number < GPNN_CONTAINER_UNKNOWN ? (enum gpnn_container_kind)number : GPNN_CONTAINER_UNKNOWN;
  return true;
}

bool gpnn_container_lists(const void *bytes, size_t length, const char tag[4])
{
  const unsigned char *front = bytes;
  size_t n = length < HEADER_BYTES ? 0 : gpnn_load_u32(front + AT_COUNT);
  for (size_t i = 0; i < n && HEADER_BYTES + (i + 1) * ENTRY_BYTES <= length; i++)
    if (memcmp(front + HEADER_BYTES + i * ENTRY_BYTES, tag, 4) == 0) return true;
  return false;
}

/* ---- opening ---- */

struct gpnn_container {
  const struct gpnn_container_format *format;
  char *path;
  const unsigned char *bytes;  /* all of the file */
  size_t length;               /* of these */
  struct gpnn_mapping mapping; /* the same, if the file is mapped */
  int fd;                      /* stays open, as the name may be given to another file; -1: none */
  size_t n_sections;
  struct gpnn_container_section sections[GPNN_CONTAINER_SECTIONS];
};

/* Checks magic bytes, length and checksum of the header. */
static enum gpnn_status check_header(const struct gpnn_container *file, struct gpnn_error *err)
{
  const unsigned char *header = file->bytes;
  const char *wanted = gpnn_container_kind_name(file->format->kind);
  size_t length = file->length;
  size_t magic = length < GPNN_CONTAINER_MAGIC_BYTES ? length : GPNN_CONTAINER_MAGIC_BYTES;
  if (magic == 0) return gpnn_fail(err, GPNN_EMISMATCH, "%s: is empty, not %s", file->path, wanted);
  if (memcmp(header, GPNN_CONTAINER_MAGIC, magic) != 0) {
    bool is_garbled = magic >= 4 && memcmp(header, GPNN_CONTAINER_MAGIC, 4) == 0;
    return is_garbled
               ? gpnn_fail(err, GPNN_EFORMAT, "%s: damaged, as if transferred as text", file->path)
               : gpnn_fail(err, GPNN_EMISMATCH, "%s: is not %s", file->path, wanted);
  }
  if (length < HEADER_BYTES)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: truncated: %zu bytes", file->path, length);
  if (gpnn_load_u32(header + AT_HEADER_CRC) != gpnn_container_checksum(0, header, AT_HEADER_CRC))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the header's checksum is wrong", file->path);
  return GPNN_OK;
}

/* The highest minor version that a file of this format may have. */
static unsigned newest_minor(const struct gpnn_container_format *format)
{
  unsigned minor = 0;
  for (size_t i = 0; i < format->n_tags; i++)
    if (format->tags[i].is_critical && format->tags[i].since > minor) minor = format->tags[i].since;
  return minor;
}

static enum gpnn_status check_version(const struct gpnn_container *file, struct gpnn_error *err)
{
  unsigned major = gpnn_load_u32(file->bytes + AT_MAJOR);
  unsigned minor = gpnn_load_u32(file->bytes + AT_MINOR), known = newest_minor(file->format);
  enum gpnn_container_kind kind = GPNN_CONTAINER_UNKNOWN;
  const uint32_t order = ORDER;
  if (major != MAJOR)
    return gpnn_fail(err, GPNN_EVERSION, "%s: has format %u.%u, this program reads %d.x",
                     file->path, major, minor, MAJOR);
  if (memcmp(file->bytes + AT_ORDER, &order, sizeof order) != 0)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: was written on a machine with another byte order",
                     file->path);
  if (!gpnn_container_recognise(file->bytes, file->length, &kind) || kind != file->format->kind)
    return gpnn_fail(err, GPNN_EMISMATCH, "%s is %s, not %s", file->path,
                     gpnn_container_kind_name(kind), gpnn_container_kind_name(file->format->kind));
  if (minor > known)
    return gpnn_fail(err, GPNN_EVERSION, "%s: has format %u.%u, this program reads up to %d.%u",
                     file->path, major, minor, MAJOR, known);
  return GPNN_OK;
}

static enum gpnn_status check_length(const struct gpnn_container *file, struct gpnn_error *err)
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

/* Copies entry 'i' of the table; false unless its section begins where the layout says, at the
 * first aligned byte from 'end' on, and lies within the file. */
static bool read_entry(struct gpnn_container *file, size_t i, uint64_t end)
{
  const unsigned char *entry = file->bytes + HEADER_BYTES + i * ENTRY_BYTES;
  struct gpnn_container_section *section = &file->sections[i];
  uint32_t flags = gpnn_load_u32(entry + ENTRY_FLAGS);
  memcpy(section->tag, entry, 4);
  section->tag[4] = '\0';
  section->is_critical = (flags & CRITICAL) != 0;
  section->offset = gpnn_load_u64(entry + ENTRY_OFFSET);
  section->length = gpnn_load_u64(entry + ENTRY_LENGTH);
  section->crc = gpnn_load_u32(entry + ENTRY_CRC);
  return is_tag(section->tag) && (flags & ~(uint32_t)CRITICAL) == 0 &&
         gpnn_load_u32(entry + ENTRY_RESERVED) == 0 &&
         section->offset == end + gpnn_container_padding(end) && section->offset <= file->length &&
         section->length <= file->length - section->offset &&
         all_zero(file->bytes + end, gpnn_container_padding(end));
}

static enum gpnn_status check_table(struct gpnn_container *file, struct gpnn_error *err)
{
  const unsigned char *table = file->bytes + HEADER_BYTES;
  if (gpnn_load_u32(file->bytes + AT_TABLE_CRC) !=
      gpnn_container_checksum(0, table, FRONT_BYTES - HEADER_BYTES))
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the checksum of its table is wrong",
                     file->path);
  uint32_t count = gpnn_load_u32(file->bytes + AT_COUNT);
  uint64_t end = FRONT_BYTES;
  bool good = count <= GPNN_CONTAINER_SECTIONS;
  for (size_t i = 0; good && i < count; i++) {
    good = read_entry(file, i, end);
    end = file->sections[i].offset + file->sections[i].length;
    for (size_t j = 0; good && j < i; j++)
      good = strcmp(file->sections[i].tag, file->sections[j].tag) != 0;
  }
  if (!good || end != file->length)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: its sections are not in order", file->path);
  file->n_sections = count;
  return GPNN_OK;
}

/* Checks that the format has every critical section of the file. */
static enum gpnn_status check_tags(const struct gpnn_container *file, struct gpnn_error *err)
{
  for (size_t i = 0; i < file->n_sections; i++) {
    const struct gpnn_container_section *section = &file->sections[i];
    if (section->is_critical && gpnn_container_find_tag(file->format, section->tag) == NULL)
      return gpnn_fail(err, GPNN_EVERSION, "%s: needs a newer program: section %s is not known",
                       file->path, section->tag);
  }
  return GPNN_OK;
}

/* Maps the file, which must be a regular one; an empty file is left without a mapping. */
static enum gpnn_status map(struct gpnn_container *file, struct gpnn_error *err)
{
  struct stat st;
  if (fstat(file->fd, &st) != 0) return gpnn_fail_errno(err, errno, "%s", file->path);
  if (!S_ISREG(st.st_mode))
    return gpnn_fail(err, GPNN_EIO, "%s: is %s, not a regular file", file->path,
                     S_ISDIR(st.st_mode) ? "a directory" : "a device or pipe");
  if ((uint64_t)st.st_size > SIZE_MAX)
    return gpnn_fail(err, GPNN_ENOMEM, "%s: is too long for this machine", file->path);
  if (st.st_size == 0) return GPNN_OK;
  if (!gpnn_mapping_open(&file->mapping, file->fd, (size_t)st.st_size))
    return gpnn_fail_errno(err, errno, "%s: cannot be mapped", file->path);
  file->bytes = file->mapping.start;
  file->length = file->mapping.length;
  return GPNN_OK;
}

/* Without O_NONBLOCK, opening a named pipe would wait for a writer. */
static int open_read(const char *path)
{
  int fd;
  do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (fd < 0 && errno == EINTR);
  return fd;
}

/* An object without bytes; NULL: not enough memory. */
static struct gpnn_container *new_container(const char *path,
                                            const struct gpnn_container_format *format)
{
  struct gpnn_container *file = calloc(1, sizeof *file);
  if (file == NULL) return NULL;
  file->fd = -1;
  file->format = format;
  file->path = gpnn_copy_text(path, strlen(path));
  if (file->path != NULL) return file;
  free(file);
  return NULL;
}

/* Hands the container to the caller if 'status' and the checks say so, and closes it otherwise. */
static enum gpnn_status finish(struct gpnn_container *file, enum gpnn_status status,
                               struct gpnn_container **container, struct gpnn_error *err)
{
  if (status == GPNN_OK) status = check_header(file, err);
  if (status == GPNN_OK) status = check_version(file, err);
  if (status == GPNN_OK) status = check_length(file, err);
  if (status == GPNN_OK) status = check_table(file, err);
  if (status == GPNN_OK) status = check_tags(file, err);
  if (status == GPNN_OK)
    *container = file;
  else
    gpnn_container_close(file);
  return status;
}

enum gpnn_status gpnn_container_open(struct gpnn_container **container, const char *path,
                                     const struct gpnn_container_format *format,
                                     struct gpnn_error *err)
{
  enum gpnn_status status = GPNN_OK;
  struct gpnn_container *file = new_container(path, format);
  if (file == NULL) return gpnn_fail_memory(err, "for opening a file");
  file->fd = open_read(path);
  if (file->fd < 0) status = gpnn_fail_errno(err, errno, "%s: cannot be opened", path);
  if (status == GPNN_OK) status = map(file, err);
  return finish(file, status, container, err);
}

enum gpnn_status gpnn_container_of_bytes(struct gpnn_container **container, const char *name,
                                         const void *bytes, size_t length,
                                         const struct gpnn_container_format *format,
                                         struct gpnn_error *err)
{
  struct gpnn_container *file = new_container(name, format);
  if (file == NULL) return gpnn_fail_memory(err, "for opening a file");
  file->bytes = bytes;
  file->length = length;
  return finish(file, GPNN_OK, container, err);
}

uint64_t gpnn_container_fingerprint(const struct gpnn_container *container)
{
  return gpnn_load_u64(container->bytes + AT_FINGERPRINT);
}

size_t gpnn_container_count(const struct gpnn_container *container)
{
  return container->n_sections;
}

const struct gpnn_container_section *gpnn_container_get(const struct gpnn_container *container,
                                                        size_t i)
{
  assert(i < container->n_sections);
  return &container->sections[i];
}

const struct gpnn_container_section *gpnn_container_find(const struct gpnn_container *container,
                                                         const char tag[4])
{
  for (size_t i = 0; i < container->n_sections; i++)
    if (memcmp(container->sections[i].tag, tag, 4) == 0) return &container->sections[i];
  return NULL;
}

int gpnn_container_descriptor(const struct gpnn_container *container)
{
  return container->fd;
}

const unsigned char *gpnn_container_bytes(const struct gpnn_container *container,
                                          const struct gpnn_container_section *section)
{
  return container->bytes + section->offset;
}

enum gpnn_status gpnn_container_check(const struct gpnn_container *container,
                                      const struct gpnn_container_section *section,
                                      struct gpnn_error *err)
{
  const unsigned char *bytes = gpnn_container_bytes(container, section);
  size_t length = (size_t)section->length;
  uint32_t crc = 0;
  for (size_t at = 0; at < length; at += GPNN_MAPPING_STRIDE) {
    size_t block = length - at < GPNN_MAPPING_STRIDE ? length - at : GPNN_MAPPING_STRIDE;
    crc = gpnn_container_checksum(crc, bytes + at, block);
    gpnn_mapping_evict(gpnn_container_mapping(container), bytes + at, block);
  }
  if (crc != section->crc)
    return gpnn_fail(err, GPNN_EFORMAT, "%s: damaged: the checksum of section %s is wrong",
                     container->path, section->tag);
  return GPNN_OK;
}

struct gpnn_mapping gpnn_container_mapping(const struct gpnn_container *container)
{
  return container->mapping;
}

const char *gpnn_container_path(const struct gpnn_container *container)
{
  return container->path;
}

void gpnn_container_close(struct gpnn_container *container)
{
  if (container == NULL) return;
  gpnn_mapping_close(&container->mapping);
  if (container->fd >= 0) close(container->fd);
  free(container->path);
  free(container);
}
