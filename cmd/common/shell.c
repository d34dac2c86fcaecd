#include "cmd/common/shell.h"

#include <string.h>

void shell_print_word(const char *text, FILE *to)
{
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=+%@-";
  if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
    fputs(text, to);
    return;
  }
  fputc('\'', to);
  for (const char *s = text; *s != '\0'; s++) {
    if (*s == '\'')
      fputs("'\\''", to);
    else
      fputc(*s, to);
  }
  fputc('\'', to);
}
