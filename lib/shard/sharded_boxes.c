/*
 * The boxes of all ranks as a tree, so that few of them are looked at for a row.
 */
#include <math.h>

#include "shard/sharded_private.h"

/* A node has the boxes of ranks from 'first' to before 'end' in its own, number 'at' of the tree.
 * Its sides follow it: the left, then the right. */
struct node {
  size_t first, end, at;
};

static bool is_rank(struct node node)
{
  return node.end - node.first == 1;
}

static struct node side(struct node node, bool is_right)
{
  size_t middle = node.first + (node.end - node.first) / 2;
  if (!is_right) return (struct node){node.first, middle, node.at + 1};
  return (struct node){middle, node.end, node.at + 2 * (middle - node.first)};
}

static void build(size_t d, const double *boxes, struct node node, double *tree)
{
  double *box = tree + node.at * 2 * d;
  for (size_t j = 0; j < d; j++) {
    box[j] = INFINITY;
    box[d + j] = -INFINITY;
  }
  for (size_t r = node.first; r < node.end; r++)
    for (size_t j = 0; j < d; j++) {
      box[j] = fmin(box[j], boxes[r * 2 * d + j]);
      box[d + j] = fmax(box[d + j], boxes[r * 2 * d + d + j]);
    }
  for (int right = 0; right < 2 && !is_rank(node); right++)
    build(d, boxes, side(node, right), tree);
}

void gpnn_shard_boxes_build(size_t size, size_t d, const double *boxes, double *tree)
{
  build(d, boxes, (struct node){0, size, 0}, tree);
}

static double box_distance(size_t d, const double *z, const double *box)
{
  double sum = 0;
  for (size_t j = 0; j < d; j++) {
    double outside = fmax(fmax(box[j] - z[j], z[j] - box[d + j]), 0);
    sum += outside * outside;
  }
  return sum;
}

/* What is looked for. */
struct look {
  size_t d;
  const double *tree, *z;
  double within; /* of what is found, from here on */
  size_t *ranks, n;
};

static void look_nearest(struct look *look, struct node node, double distance)
{
  if (look->n > 0 && distance >= look->within) return;
  if (is_rank(node)) {
    look->within = distance;
    look->ranks[0] = node.first;
    look->n = 1;
    return;
  }
  double far[2];
  for (int right = 0; right < 2; right++)
    far[right] = box_distance(look->d, look->z, look->tree + side(node, right).at * 2 * look->d);
  bool first = far[1] < far[0];
  look_nearest(look, side(node, first), far[first]);
  look_nearest(look, side(node, !first), far[!first]);
}

size_t gpnn_shard_boxes_nearest(size_t size, size_t d, const double *tree, const double *z)
{
  size_t rank = 0;
  struct look look = {.d = d, .tree = tree, .z = z, .ranks = &rank};
  look_nearest(&look, (struct node){0, size, 0}, 0);
  return rank;
}

static void look_within(struct look *look, struct node node)
{
  if (box_distance(look->d, look->z, look->tree + node.at * 2 * look->d) > look->within) return;
  if (is_rank(node)) {
    look->ranks[look->n++] = node.first;
    return;
  }
  look_within(look, side(node, false));
  look_within(look, side(node, true));
}

/* How far rounding may have moved the coordinates of a row and a box, squared. */
static double slack(size_t d, const double *z)
{
  const double rounding = 1e-12;
  double sum = 0;
  for (size_t j = 0; j < d; j++) sum += z[j] * z[j];
  return rounding * rounding * sum;
}

size_t gpnn_shard_boxes_within(size_t size, size_t d, const double *tree, const double *z,
                               double within, size_t *ranks)
{
  const double rounding = 1e-9;
  struct look look = {.d = d,
                      .tree = tree,
                      .z = z,
                      .within = within * (1 + rounding) + slack(d, z),
                      .ranks = ranks};
  look_within(&look, (struct node){0, size, 0});
  return look.n;
}
