/*
 * pack: an index as the harness of indexes takes it (fuzz_index.c): no padding, no checksums.
 * Usage: pack INDEX >INPUT
 */
#include <string.h>

#include "dataset/index/index_private.h"
#include "fuzz.h"

int main(int argc, char **argv)
{
  enum { VERIFY = 1, GRID = 4, MODEL = 8, MOST = 0xffff };
  struct gpnn_error err = {0};
  struct gpnn_container *container;
  const char *look = argc == 2 ? gpnn_index_look(argv[1]) : NULL;
  bool is_grid = look != NULL && strcmp(look, "a grid index") == 0;
  bool is_model = argc == 2 && gpnn_index_is_model(argv[1]);
  enum gpnn_container_kind kind = is_grid    ? GPNN_CONTAINER_GRID
                                  : is_model ? GPNN_CONTAINER_MODEL
                                             : GPNN_CONTAINER_INDEX;
  struct gpnn_index_format format;
  if (argc != 2 ||
      gpnn_container_open(&container, argv[1], gpnn_index_format(kind, &format), &err) != GPNN_OK) {
    fprintf(stderr, "pack: %s\n", argc == 2 ? err.text : "one index is wanted");
    return EXIT_FAILURE;
  }
  putchar(VERIFY | (is_grid ? GRID : 0) | (is_model ? MODEL : 0));
  for (size_t i = 0; i < gpnn_container_count(container); i++) {
    const struct gpnn_container_section *section = gpnn_container_get(container, i);
    FUZZ_EXPECT(section->length <= MOST);
    printf("%s%c%c%c", section->tag, section->is_critical ? 1 : 0, (int)(section->length & 0xff),
           (int)(section->length >> 8));
    fwrite(gpnn_container_bytes(container, section), 1, section->length, stdout);
  }
  gpnn_container_close(container);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
