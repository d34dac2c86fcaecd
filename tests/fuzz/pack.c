/*
 * pack: an index as the harness of indexes takes it (fuzz_index.c): no padding, no checksums.
 * Usage: pack INDEX >INPUT
 */
#include "dataset/sections.h"
#include "fuzz.h"

int main(int argc, char **argv)
{
  enum { VERIFY = 1, MOST = 0xffff };
  struct gpnn_error err = {0};
  struct gpnn_sections *sections;
  if (argc != 2 || gpnn_sections_open(&sections, argv[1], &err) != GPNN_OK) {
    fprintf(stderr, "pack: %s\n", argc == 2 ? err.text : "one index is wanted");
    return EXIT_FAILURE;
  }
  putchar(VERIFY);
  for (size_t i = 0; i < gpnn_sections_count(sections); i++) {
    const struct gpnn_section *section = gpnn_sections_get(sections, i);
    FUZZ_EXPECT(section->length <= MOST);
    printf("%s%c%c%c", section->tag, section->critical ? 1 : 0, (int)(section->length & 0xff),
           (int)(section->length >> 8));
    fwrite(gpnn_sections_bytes(sections, section), 1, section->length, stdout);
  }
  gpnn_sections_close(sections);
  return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
