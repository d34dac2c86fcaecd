#include "base/peers.h"

#include <stdlib.h>

void gpnn_messages_release(size_t n, struct gpnn_message *messages)
{
  for (size_t i = 0; messages != NULL && i < n; i++) {
    free(messages[i].bytes);
    messages[i] = (struct gpnn_message){0};
  }
}

enum gpnn_status gpnn_peers_agree(struct gpnn_peers *peers, enum gpnn_status status,
                                  struct gpnn_error *err)
{
  if (peers == NULL) return status;
  if (peers->failure.status == GPNN_OK) {
    struct gpnn_error told = {.status = status};
    if (err != NULL && status != GPNN_OK) told = *err;
    if (peers->agree(peers->context, status, &told) == GPNN_OK) return GPNN_OK;
    peers->failure = told;
  }
  if (status != GPNN_OK) return status;
  if (err != NULL) *err = peers->failure;
  return peers->failure.status;
}

enum gpnn_status gpnn_peers_share(struct gpnn_peers *peers, size_t bytes, void *all,
                                  enum gpnn_status status, struct gpnn_error *err)
{
  status = gpnn_peers_agree(peers, status, err);
  for (size_t r = 0; r < peers->size && status == GPNN_OK; r++)
    peers->broadcast(peers->context, r, (unsigned char *)all + r * bytes, bytes);
  return status;
}

uint64_t gpnn_parts_first(const struct gpnn_parts *parts)
{
  return parts == NULL ? 0 : parts->first[parts->peers->rank];
}

uint64_t gpnn_parts_end(const struct gpnn_parts *parts, uint64_t n)
{
  return parts == NULL ? n : parts->first[parts->peers->rank + 1];
}

enum gpnn_status gpnn_parts_gather(const struct gpnn_parts *parts, size_t n, const uint64_t *number,
                                   size_t bytes, void *items, enum gpnn_status status,
                                   struct gpnn_error *err)
{
  if (parts == NULL) return status;
  struct gpnn_peers *peers = parts->peers;
  status = gpnn_peers_agree(peers, status, err);
  for (size_t r = 0, from = 0, end; r < peers->size && status == GPNN_OK; r++, from = end) {
    end = from;
    while (end < n && (number == NULL ? end : number[end]) < parts->first[r + 1]) end++;
    if (end > from)
      peers->broadcast(peers->context, r, (unsigned char *)items + from * bytes,
                       (end - from) * bytes);
  }
  return status;
}
