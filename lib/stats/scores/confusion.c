#include "stats/scores/classification.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"

/* The slot of a pair, or the empty one that it goes to; at least one slot is empty. */
static struct gpnn_confusion_pair *find(struct gpnn_confusion_pair *slots, size_t n_slots,
                                        uint32_t truth, uint32_t label)
{
  const uint64_t golden = 0x9e3779b97f4a7c15u;
  uint64_t hash = ((uint64_t)truth << 32 | label) * golden;
  size_t at = (size_t)(hash >> 32) & (n_slots - 1);
  while (slots[at].count != 0 && (slots[at].truth != truth || slots[at].label != label))
    at = (at + 1) & (n_slots - 1);
  return &slots[at];
}

/* Keeps at least half of the slots empty. */
static enum gpnn_status grow(struct gpnn_confusion *confusion, struct gpnn_error *err)
{
  enum { LEAST = 16 };
  if (confusion->n_pairs < confusion->n_slots / 2) return GPNN_OK;
  size_t n_slots = confusion->n_slots == 0 ? LEAST : 2 * confusion->n_slots;
  struct gpnn_confusion_pair *slots = gpnn_alloc(n_slots, 1, sizeof *slots);
  if (slots == NULL) return gpnn_fail_memory(err, "for the counts of labels");
  for (size_t i = 0; i < confusion->n_slots; i++) {
    const struct gpnn_confusion_pair *pair = &confusion->slots[i];
    if (pair->count > 0) *find(slots, n_slots, pair->truth, pair->label) = *pair;
  }
  free(confusion->slots);
  confusion->slots = slots;
  confusion->n_slots = n_slots;
  return GPNN_OK;
}

enum gpnn_status gpnn_confusion_add(struct gpnn_confusion *confusion, uint32_t truth,
                                    uint32_t label, struct gpnn_error *err)
{
  enum gpnn_status status = grow(confusion, err);
  if (status != GPNN_OK) return status;
  struct gpnn_confusion_pair *pair = find(confusion->slots, confusion->n_slots, truth, label);
  confusion->n_pairs += pair->count == 0;
  pair->truth = truth;
  pair->label = label;
  pair->count++;
  confusion->n++;
  confusion->n_right += truth == label;
  return GPNN_OK;
}

size_t gpnn_confusion_count(const struct gpnn_confusion *confusion, uint32_t truth, uint32_t label)
{
  if (confusion->n_slots == 0) return 0;
  return find(confusion->slots, confusion->n_slots, truth, label)->count;
}

void gpnn_confusion_classes(const struct gpnn_confusion *confusion, size_t n_classes,
                            struct gpnn_confusion_class *classes)
{
  for (size_t c = 0; c < n_classes; c++) classes[c] = (struct gpnn_confusion_class){0};
  for (size_t i = 0; i < confusion->n_slots; i++) {
    const struct gpnn_confusion_pair *pair = &confusion->slots[i];
    if (pair->truth < n_classes) classes[pair->truth].n_true += pair->count;
    if (pair->label < n_classes) classes[pair->label].n_labelled += pair->count;
  }
  for (size_t c = 0; c < n_classes; c++) {
    struct gpnn_confusion_class *class = &classes[c];
    size_t n_right = gpnn_confusion_count(confusion, (uint32_t)c, (uint32_t)c);
    class->precision = class->n_labelled > 0 ? (double)n_right / (double)class->n_labelled : NAN;
    class->recall = class->n_true > 0 ? (double)n_right / (double)class->n_true : NAN;
  }
}

void gpnn_confusion_release(struct gpnn_confusion *confusion)
{
  free(confusion->slots);
  *confusion = (struct gpnn_confusion){0};
}
