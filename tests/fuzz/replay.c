/*
 * replay: a harness as a test: each file of the folders named goes through it once.  One line of
 * TAP a folder; a file that breaks the harness ends the program, and its name has been said.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"

/* Hands the file on in a block of exactly its length, so that reading beyond it is noticed. */
static void replay_file(const char *path)
{
  struct stat st;
  FILE *file = fopen(path, "rb");
  FUZZ_EXPECT(file != NULL && stat(path, &st) == 0);
  size_t length = (size_t)st.st_size;
  uint8_t *bytes = malloc(length);
  FUZZ_EXPECT((bytes != NULL || length == 0) && fread(bytes, 1, length, file) == length);
  fclose(file);
  LLVMFuzzerTestOneInput(bytes, length);
  free(bytes);
}

/* Replays the files of a folder; returns how many there were. */
static size_t replay_folder(const char *folder)
{
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, alphasort);
  size_t n_files = 0;
  for (int i = 0; i < n; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') {
      fprintf(stderr, "# %s\n", path);
      replay_file(path);
      n_files++;
    }
    free(entries[i]);
  }
  if (n >= 0) free(entries);
  return n_files;
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
