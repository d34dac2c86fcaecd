/*
 * replay: a harness as a test: each file of the folders named goes through it once, and of a tar
 * archive there each member.  One line of TAP a folder; an input that breaks the harness ends the
 * program, and its name has been said.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* Hands the next 'length' bytes of a file on in a block of exactly that length, so that reading
 * beyond it is noticed. */
static void replay_bytes(FILE *file, size_t length)
{
  uint8_t *bytes = malloc(length);
  FUZZ_EXPECT((bytes != NULL || length == 0) && fread(bytes, 1, length, file) == length);
  LLVMFuzzerTestOneInput(bytes, length);
  free(bytes);
}

/* Replays a file. */
static size_t replay_file(FILE *file)
{
  struct stat st;
  FUZZ_EXPECT(fstat(fileno(file), &st) == 0);
  replay_bytes(file, (size_t)st.st_size);
  return 1;
}

/* Replays the members of an archive in the ustar format: each is a block with its name and, in
 * octal digits, its length, and then its bytes, filled up to whole blocks. */
static size_t replay_archive(FILE *file)
{
  enum { BLOCK = 512, LENGTH_AT = 124 };
  char header[BLOCK];
  size_t n = 0;
  while (fread(header, 1, BLOCK, file) == BLOCK && header[0] != '\0') {
    size_t length = strtoul(header + LENGTH_AT, NULL, 8);
    fprintf(stderr, "#   %.100s\n", header);
    replay_bytes(file, length);
    FUZZ_EXPECT(fseek(file, (long)((BLOCK - length % BLOCK) % BLOCK), SEEK_CUR) == 0);
    n++;
  }
  return n;
}

/* Replays the files of a folder; returns how many inputs there were. */
static size_t replay_folder(const char *folder)
{
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  size_t n_inputs = 0;
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') {
      FILE *file = fopen(path, "rb");
      FUZZ_EXPECT(file != NULL);
      fprintf(stderr, "# %s\n", path);
      n_inputs += strstr(path, ".tar") == NULL ? replay_file(file) : replay_archive(file);
      fclose(file);
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
  return n_inputs;
}

int main(int argc, char **argv)
{
  printf("1..%d\n", argc - 1);
  int n_failed = 0;
  for (int i = 1; i < argc; i++) {
    size_t n = replay_folder(argv[i]);
    n_failed += n == 0;
    printf("%sok %d - %zu inputs of %s\n", n == 0 ? "not " : "", i, n, argv[i]);
    fflush(stdout);
  }
  return n_failed > 0;
}
