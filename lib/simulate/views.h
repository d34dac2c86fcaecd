/*
 * views: objects with a response that two parties predict from different columns, each a noisy view
 * of it: y standard normal, x_v = r y + sqrt(1 - r^2) e_v, e_v standard normal
 * (gpnn-methods-simulate(7), equation 11.31).
 *
 * An object depends on the seed and its number alone, so that its number identifies it in tables
 * made with different options.  Its response is the same for any correlation, and its first view
 * for dependent views as for independent ones.  Functions are pure: any thread may call them.
 */
#ifndef GPNN_SIMULATE_VIEWS_H
#define GPNN_SIMULATE_VIEWS_H

#include <stdbool.h>
#include <stdint.h>

/* The objects that a party with a region of its own has seen. */
enum gpnn_views_mask {
  GPNN_VIEWS_ALL,    /* every one */
  GPNN_VIEWS_FIRST,  /* those with x_1 > 0 */
  GPNN_VIEWS_SECOND, /* those with x_2 < 0 */
};

struct gpnn_views_options {
  double correlation; /* r, of each view with the response, from -1 to 1 */
  bool dependent;     /* e_2 = e_1: both views are the same; otherwise they are independent given
                         the response */
  uint64_t seed;
};

struct gpnn_views_object {
  double y, x[2];
};

/* The object of this number. */
struct gpnn_views_object gpnn_views_draw(const struct gpnn_views_options *options, uint64_t number);

/* True if the party of 'mask' has seen the object. */
bool gpnn_views_seen(enum gpnn_views_mask mask, const struct gpnn_views_object *object);

#endif
