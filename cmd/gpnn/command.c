#include "cmd/gpnn/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cmd/common/shell.h"

/* Appends a word made of two parts. */
static void add(struct command *c, const char *first, const char *second)
{
  size_t length = strlen(first) + strlen(second) + 1;
  char *word = malloc(length);
  c->failed =
      c->failed || word == NULL || !gpnn_grow(&c->words, &c->capacity, c->n + 2, sizeof *c->words);
  if (c->failed) {
    free(word);
    return;
  }
  snprintf(word, length, "%s%s", first, second);
  c->words[c->n++] = word;
  c->words[c->n] = NULL;
}

void command_add(struct command *command, const char *word)
{
  add(command, word, "");
}

void command_add_option(struct command *command, const struct cli_option *option, const char *text)
{
  const char letter[] = {'-', option->letter, '\0'};
  char name[80];
  snprintf(name, sizeof name, "--%s%s", option->name, text == NULL ? "" : "=");
  if (option->letter == 0) {
    add(command, name, text == NULL ? "" : text);
    return;
  }
  command_add(command, letter);
  if (text != NULL) command_add(command, text);
}

void command_add_file(struct command *command, const char *path)
{
  add(command, path[0] == '-' && path[1] != '\0' ? "./" : "", path);
}

enum gpnn_status command_check(const struct command *command, struct gpnn_error *err)
{
  return command->failed ? gpnn_fail_memory(err, "for a command") : GPNN_OK;
}

char *command_line(const struct command *command)
{
  char *line = NULL;
  size_t length;
  FILE *to = open_memstream(&line, &length);
  if (to == NULL) return NULL;
  for (size_t i = 0; i < command->n; i++) {
    if (i > 0) fputc(' ', to);
    shell_print_word(command->words[i], to);
  }
  if (fclose(to) == 0) return line;
  free(line);
  return NULL;
}

void command_release(struct command *command)
{
  for (size_t i = 0; i < command->n; i++) free(command->words[i]);
  free(command->words);
  *command = (struct command){0};
}
