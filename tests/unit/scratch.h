/*
 * scratch: a folder of one test program's own, and files in it.
 *
 * scratch_make() and scratch_remove() are the group's fixtures.
 */
#ifndef GPNN_TESTS_SCRATCH_H
#define GPNN_TESTS_SCRATCH_H

#include <dirent.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "unit.h"

static char scratch_folder[200];

static inline int scratch_make(void **state)
{
  (void)state;
  return unit_make_folder(scratch_folder, sizeof scratch_folder);
}

/* The path of 'name' in the folder; the next four calls leave it alone. */
static inline const char *scratch_path(const char *name)
{
  static char paths[4][512];
  static unsigned next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
  return path;
}

/* How many entries the folder has; those that are no folders are removed if 'empty_it'. */
static inline int scratch_count(int empty_it)
{
  DIR *dir = opendir(scratch_folder);
  int n = 0;
  for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    n++;
    if (empty_it) unlink(scratch_path(entry->d_name));
  }
  if (dir != NULL) closedir(dir);
  return n;
}

static inline int scratch_remove(void **state)
{
  (void)state;
  scratch_count(1);
  return rmdir(scratch_folder);
}

static inline const char *scratch_write(const char *name, const void *bytes, size_t length)
{
  const char *path = scratch_path(name);
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
    fail_msg("cannot write %s", path);
  return path;
}

static inline const char *scratch_text(const char *name, const char *text)
{
  return scratch_write(name, text, strlen(text));
}

/* Appends a gzip member to a file. */
static inline const char *scratch_gzip(const char *name, const void *bytes, size_t length)
{
  const char *path = scratch_path(name);
  gzFile file = gzopen(path, "ab");
  if (file == NULL || (length > 0 && gzwrite(file, bytes, (unsigned)length) != (int)length) ||
      gzclose(file) != Z_OK)
    fail_msg("cannot write %s", path);
  return path;
}

/* All of a file, NUL-terminated; the caller frees it. */
static inline char *scratch_read(const char *path, size_t *length)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL) fail_msg("cannot open %s", path);
  fseek(file, 0, SEEK_END);
  size_t n = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(n + 1);
  if (bytes == NULL || fread(bytes, 1, n, file) != n) fail_msg("cannot read %s", path);
  fclose(file);
  bytes[n] = '\0';
  if (length != NULL) *length = n;
  return bytes;
}

static inline void scratch_pause(void)
{
  nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

/*
 * Makes standard input a pipe that another process fills with 'bytes', 'piece' of them at a
 * time.  Returns the old standard input for scratch_unfeed().
 */
static inline int scratch_feed(const char *bytes, size_t length, size_t piece)
{
  int ends[2], old = dup(STDIN_FILENO);
  assert_int_equal(pipe(ends), 0);
  if (fork() == 0) {
    close(ends[0]);
    for (size_t i = 0; i < length; i += piece) {
      size_t n = length - i < piece ? length - i : piece;
      if (write(ends[1], bytes + i, n) != (ssize_t)n) _exit(1);
      if (length < 4096) scratch_pause(); /* lets the reader see the piece by itself */
    }
    _exit(0);
  }
  close(ends[1]);
  dup2(ends[0], STDIN_FILENO);
  close(ends[0]);
  return old;
}

/* Puts the old standard input back and waits for the other process. */
static inline void scratch_unfeed(int old)
{
  dup2(old, STDIN_FILENO);
  close(old);
  wait(NULL);
}

#endif
