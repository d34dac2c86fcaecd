/*
 * shell: text that a user can paste into a shell.
 */
#ifndef GPNN_CMD_COMMON_SHELL_H
#define GPNN_CMD_COMMON_SHELL_H

#include <stdio.h>

/* Prints 'text' as one word of a POSIX shell: in single quotes if it is empty or has a character
 * that could mean something to the shell.  Control characters stay as they are. */
void shell_print_word(const char *text, FILE *to);

#endif
