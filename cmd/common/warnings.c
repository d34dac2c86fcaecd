#include "cmd/common/cli_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* The warning of this kind that is about targets; NULL if there is none. */
static struct warning *find(const struct warnings *warnings, const char *kind)
{
  for (size_t i = 0; i < warnings->n; i++)
    if (warnings->of[i].kind == kind && warnings->of[i].n_targets > 0) return &warnings->of[i];
  return NULL;
}

static void add_target(struct warning *warning, const char *target)
{
  if (target == NULL) return;
  if (warning->n_targets < WARNINGS_NAMES)
    gpnn_mask(warning->names[warning->n_targets], target, strlen(target));
  warning->n_targets++;
}

bool warnings_add(struct warnings *warnings, const char *kind, const char *text, const char *target)
{
  struct warning *same = target == NULL ? NULL : find(warnings, kind);
  if (same != NULL) {
    same->differs = same->differs || strcmp(same->text, text) != 0;
    add_target(same, target);
    return true;
  }
  char *copy = gpnn_copy_text(text, strlen(text));
  if (copy == NULL ||
      !gpnn_grow(&warnings->of, &warnings->capacity, warnings->n + 1, sizeof *warnings->of)) {
    free(copy);
    return false;
  }
  struct warning *added = &warnings->of[warnings->n++];
  *added = (struct warning){.kind = kind, .text = copy};
  add_target(added, target);
  return true;
}

char *warnings_text(const struct warnings *warnings, size_t i, char text[2 * WARNINGS_BYTES])
{
  const struct warning *w = &warnings->of[i];
  const size_t room = 2 * WARNINGS_BYTES;
  const char *first = w->names[0], *second = w->names[1], *note = w->differs ? first : "";
  char whose[(WARNINGS_NAMES + 1) * GPNN_MASK_BYTES] = "";
  if (w->n_targets == 1) snprintf(whose, sizeof whose, "target '%s': ", first);
  if (w->n_targets == 2) snprintf(whose, sizeof whose, "targets '%s' and '%s': ", first, second);
  if (w->n_targets == 3)
    snprintf(whose, sizeof whose, "targets '%s', '%s' and '%s': ", first, second, w->names[2]);
  if (w->n_targets > 3)
    snprintf(whose, sizeof whose, "targets '%s', '%s' and %zu more: ", first, second,
             w->n_targets - 2);
  snprintf(text, room, "%s%s%s%s%s", whose, w->text, w->differs ? " (numbers of '" : "", note,
           w->differs ? "')" : "");
  return text;
}

void warnings_release(struct warnings *warnings)
{
  for (size_t i = 0; i < warnings->n; i++) free(warnings->of[i].text);
  free(warnings->of);
  *warnings = (struct warnings){0};
}
