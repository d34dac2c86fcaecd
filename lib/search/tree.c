/*
 * Building and storing a tree; gpnn-index(5) describes the layout of its bytes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/threads.h"
#include "linalg/simd.h"
#include "search/search_private.h"

enum {
  LANES = GPNN_TREE_LANES,
  LEAF = GPNN_TREE_LEAF,
  HEADER_BYTES = 64,
  HAS_MAP = 1,
  SPREAD_ROWS = 256,    /* rows looked at to choose where to cut */
  FRAME_ROWS = 1 << 18, /* rows read before they are evicted */
  ROWS_TOGETHER = 4096, /* rows that a thread takes at a time */
  TASK_ROWS = 1 << 14,  /* rows that are worth a thread of their own */
  PARTS = 8,            /* parts per thread to be sorted; a power of two */
};

static size_t divide_up(size_t a, size_t b)
{
  return a / b + (a % b != 0);
}

/* ---- layout ---- */

/* Offsets in the bytes of a tree. */
struct layout {
  size_t frame, boxes[GPNN_TREE_LEVELS], rows, ids, length;
};

/* Sets the levels and the layout of a tree of n by d; false if it is too large. */
static bool lay_out(struct gpnn_tree *tree, bool has_map, struct layout *layout)
{
  size_t d = tree->d, n_blocks = divide_up(tree->n, LANES), at = HEADER_BYTES;
  if (tree->n > UINT32_MAX - LANES) return false;
  layout->frame = at;
  if (!gpnn_search_advance(&at, d, has_map ? d + 1 : 2, sizeof(double))) return false;
  size_t n_children = divide_up(tree->n, LEAF);
  for (tree->n_levels = 0; tree->n_levels == 0 || n_children > 1; tree->n_levels++) {
    tree->n_children[tree->n_levels] = n_children;
    layout->boxes[tree->n_levels] = at;
    n_children = divide_up(n_children, LANES);
    if (!gpnn_search_advance(&at, n_children, d, 2 * LANES * sizeof(float))) return false;
  }
  layout->rows = at;
  if (!gpnn_search_advance(&at, n_blocks, d, LANES * sizeof(float))) return false;
  layout->ids = at;
  if (!gpnn_search_advance(&at, n_blocks, LANES, sizeof(uint32_t))) return false;
  layout->length = at;
  return true;
}

static void point_into(struct gpnn_tree *tree, const unsigned char *bytes,
                       const struct layout *layout)
{
  tree->bytes = bytes;
  tree->length = layout->length;
  tree->rows = (const float *)(const void *)(bytes + layout->rows);
  tree->ids = (const uint32_t *)(const void *)(bytes + layout->ids);
  for (size_t l = 0; l < tree->n_levels; l++)
    tree->boxes[l] = (const float *)(const void *)(bytes + layout->boxes[l]);
}

/* ---- sorting rows into leaves ---- */

/* Consecutive leaves whose rows are still to be sorted. */
struct part {
  size_t first, n;
};

/* The rows while they are sorted. */
struct build {
  size_t n, d;
  float *rows;                 /* n by d */
  uint32_t *ids;               /* n: their numbers */
  float *keys;                 /* n: scratch, of which each part uses its own */
  float *scratch;              /* threads by 2 d */
  struct part *parts, *halves; /* 2 PARTS threads each */
};

/*
 * The coordinate with the largest mean deviation from the mean, over some of the rows.  Unlike the
 * range, it does not favour a column for a single outlier.  'scratch' is 2 d.
 */
GPNN_SIMD static size_t widest(const struct build *build, size_t begin, size_t end, float *scratch)
{
  size_t d = build->d, step = divide_up(end - begin, SPREAD_ROWS), n = 0, at = 0;
  float *mean = scratch, *spread = scratch + d;
  for (size_t j = 0; j < d; j++) mean[j] = spread[j] = 0;
  for (size_t i = begin; i < end; i += step, n++) {
    const float *row = build->rows + i * d;
#pragma omp simd
    for (size_t j = 0; j < d; j++) mean[j] += row[j];
  }
  for (size_t j = 0; j < d; j++) mean[j] /= (float)n;
  for (size_t i = begin; i < end; i += step) {
    const float *row = build->rows + i * d;
#pragma omp simd
    for (size_t j = 0; j < d; j++) spread[j] += fabsf(row[j] - mean[j]);
  }
  for (size_t j = 1; j < d; j++)
    if (spread[j] > spread[at]) at = j;
  return at;
}

static void swap_rows(const struct build *build, size_t a, size_t b)
{
  float *x = build->rows + a * build->d, *y = build->rows + b * build->d;
  for (size_t j = 0; j < build->d; j++) {
    float kept = x[j];
    x[j] = y[j];
    y[j] = kept;
  }
  uint32_t kept = build->ids[a];
  build->ids[a] = build->ids[b];
  build->ids[b] = kept;
}

/* Moves rows below 'cut' in coordinate 'j', or for 'ties' those not above it, to the front; returns
 * where the others begin. */
static size_t partition(const struct build *build, size_t begin, size_t end, size_t j, float cut,
                        bool ties)
{
  const float *column = build->rows + j;
  size_t d = build->d;
  for (;; begin++) {
    while (begin < end && (column[begin * d] < cut || (ties && column[begin * d] == cut))) begin++;
    while (begin < end && !(column[(end - 1) * d] < cut || (ties && column[(end - 1) * d] == cut)))
      end--;
    if (begin == end) return begin;
    swap_rows(build, begin, --end);
  }
}

/* Reorders rows so that coordinate 'j' of those before 'middle' is no greater than of the others.
 */
static void halve(const struct build *build, size_t begin, size_t middle, size_t end, size_t j)
{
  float *keys = build->keys + begin;
  for (size_t i = begin; i < end; i++) keys[i - begin] = build->rows[i * build->d + j];
  float cut = gpnn_nearest_select_float(end - begin, keys, middle - begin);
  size_t ties = partition(build, begin, end, j, cut, false);
  if (ties < middle) partition(build, ties, end, j, cut, true);
}

/* Leaves on the left when 'n' are halved: whole groups of the highest level that fits. */
static size_t left_leaves(size_t n)
{
  size_t unit = 1;
  while (unit * LANES < n) unit *= LANES;
  return divide_up(n, unit) / 2 * unit;
}

/* Cuts a part of more than one leaf in two. */
static void cut(const struct build *build, size_t thread, struct part part, struct part halves[2])
{
  size_t left = left_leaves(part.n), begin = part.first * LEAF, end = begin + part.n * LEAF;
  if (end > build->n) end = build->n;
  float *scratch = build->scratch + thread * 2 * build->d;
  halve(build, begin, begin + left * LEAF, end, widest(build, begin, end, scratch));
  halves[0] = (struct part){part.first, left};
  halves[1] = (struct part){part.first + left, part.n - left};
}

static void sort_leaves(const struct build *build, size_t thread, struct part part)
{
  while (part.n > 1) {
    struct part halves[2];
    cut(build, thread, part, halves);
    sort_leaves(build, thread, halves[0]);
    part = halves[1];
  }
}

static void sort_part(void *context, size_t thread, size_t i)
{
  const struct build *build = context;
  sort_leaves(build, thread, build->parts[i]);
}

static void cut_part(void *context, size_t thread, size_t i)
{
  const struct build *build = context;
  struct part part = build->parts[i], *halves = build->halves + 2 * i;
  if (part.n > 1) {
    cut(build, thread, part, halves);
  } else {
    halves[0] = part;
    halves[1] = (struct part){part.first + part.n, 0};
  }
}

/* Sorts all rows: cuts them into enough parts for all threads, then sorts each. */
static void sort_all(struct build *build, int threads)
{
  size_t n_parts = 1;
  threads = gpnn_threads_for(threads, build->n / TASK_ROWS);
  build->parts[0] = (struct part){0, divide_up(build->n, LEAF)};
  for (; threads > 1 && n_parts < PARTS * (size_t)threads; n_parts *= 2) {
    gpnn_threads_each(threads, n_parts, 1, cut_part, build);
    struct part *halves = build->halves;
    build->halves = build->parts;
    build->parts = halves;
  }
  gpnn_threads_each(threads, n_parts, 1, sort_part, build);
}

/* ---- writing blocks and boxes ---- */

/* Writes a block of up to 16 rows; missing ones are infinitely far away. */
static void write_block(const struct build *build, size_t block, float *to, uint32_t *ids)
{
  size_t d = build->d, first = block * LANES;
  for (size_t i = 0; i < LANES; i++) {
    bool is_row = first + i < build->n;
    for (size_t j = 0; j < d; j++)
      to[j * LANES + i] = is_row ? build->rows[(first + i) * d + j] : INFINITY;
    ids[i] = is_row ? build->ids[first + i] : UINT32_MAX;
  }
}

/* Widens the box, d least and d greatest coordinates, to hold 'n' rows. */
GPNN_SIMD static void widen(size_t n, size_t d, const float *rows, float *least, float *greatest)
{
  for (size_t i = 0; i < n; i++) {
    const float *row = rows + i * d;
#pragma omp simd
    for (size_t j = 0; j < d; j++) {
      least[j] = row[j] < least[j] ? row[j] : least[j];
      greatest[j] = row[j] > greatest[j] ? row[j] : greatest[j];
    }
  }
}

/* Writes the box of leaf 'leaf' into its group. */
static void write_leaf_box(const struct build *build, size_t leaf, float *group, float *box)
{
  size_t d = build->d, begin = leaf * LEAF, end = build->n - begin < LEAF ? build->n : begin + LEAF;
  memcpy(box, build->rows + begin * d, d * sizeof *box);
  memcpy(box + d, box, d * sizeof *box);
  widen(end - begin, d, build->rows + begin * d, box, box + d);
  for (size_t j = 0; j < d; j++) {
    group[2 * j * LANES + leaf % LANES] = box[j];
    group[(2 * j + 1) * LANES + leaf % LANES] = box[d + j];
  }
}

/* Writes the box around the children of group 'child' of the level below into its group. */
static void write_group_box(size_t d, const float *children, size_t child, float *group)
{
  for (size_t j = 0; j < d; j++) {
    const float *least = children + 2 * j * LANES, *greatest = least + LANES;
    float low = least[0], high = greatest[0];
    for (size_t i = 1; i < LANES; i++) {
      low = fminf(low, least[i]);
      high = fmaxf(high, greatest[i]);
    }
    group[2 * j * LANES + child % LANES] = low;
    group[(2 * j + 1) * LANES + child % LANES] = high;
  }
}

/* Boxes of missing children are infinitely far from everything. */
static void clear_boxes(size_t n_groups, size_t d, float *boxes)
{
  for (size_t i = 0; i < n_groups * d * 2 * LANES; i++)
    boxes[i] = i / LANES % 2 == 0 ? INFINITY : -INFINITY;
}

static void write_boxes(const struct build *build, const struct gpnn_tree *tree,
                        const struct layout *layout, unsigned char *bytes)
{
  size_t d = tree->d, group_floats = 2 * d * LANES;
  for (size_t l = 0; l < tree->n_levels; l++) {
    float *boxes = (float *)(void *)(bytes + layout->boxes[l]);
    clear_boxes(divide_up(tree->n_children[l], LANES), d, boxes);
    for (size_t i = 0; i < tree->n_children[l]; i++) {
      float *group = boxes + i / LANES * group_floats;
      if (l == 0)
        write_leaf_box(build, i, group, build->scratch);
      else
        write_group_box(d, tree->boxes[l - 1] + i * group_floats, i, group);
    }
  }
}

static void write_frame(const struct gpnn_tree *tree, unsigned char *bytes)
{
  const struct gpnn_float_frame *frame = &tree->frame;
  size_t d = tree->d;
  unsigned char *at = bytes + HEADER_BYTES;
  gpnn_store_u64(bytes, tree->n);
  gpnn_store_u64(bytes + 8, d);
  gpnn_store_u32(bytes + 16, LEAF);
  gpnn_store_u32(bytes + 20, frame->map == NULL ? 0 : HAS_MAP);
  gpnn_store_f64(bytes + 24, frame->scale);
  for (size_t j = 0; j < d; j++, at += 8) gpnn_store_f64(at, frame->origin[j]);
  const double *metric = frame->map == NULL ? frame->factor : frame->map;
  size_t n_metric = frame->map == NULL ? d : d * d;
  for (size_t j = 0; j < n_metric; j++, at += 8) gpnn_store_f64(at, metric[j]);
}

/* ---- building ---- */

/* calloc() zeroes large blocks where they are first touched, so by all threads.  Sizes that fit the
 * layout do not overflow. */
static bool build_alloc(struct build *build, size_t n, size_t d, int threads)
{
  *build = (struct build){.n = n, .d = d};
  build->rows = calloc(n, d * sizeof *build->rows);
  build->ids = calloc(n, sizeof *build->ids);
  build->keys = calloc(n, sizeof *build->keys);
  build->scratch = gpnn_alloc((size_t)threads, d, 2 * sizeof *build->scratch);
  build->parts = gpnn_alloc((size_t)threads, 2 * PARTS, sizeof *build->parts);
  build->halves = gpnn_alloc((size_t)threads, 2 * PARTS, sizeof *build->halves);
  return build->rows != NULL && build->ids != NULL && build->keys != NULL &&
         build->scratch != NULL && build->parts != NULL && build->halves != NULL;
}

/* Nearly all that it takes. */
static double build_bytes(const struct gpnn_tree *tree)
{
  const struct build *build = NULL;
  size_t row = tree->d * sizeof *build->rows + sizeof *build->ids + sizeof *build->keys;
  return (double)tree->n * (double)row;
}

static void build_release(struct build *build)
{
  free(build->rows);
  free(build->ids);
  free(build->keys);
  free(build->scratch);
  free(build->parts);
  free(build->halves);
}

/* What loops over all rows share. */
struct filling {
  const struct gpnn_tree *tree;
  const struct build *build;
  const struct gpnn_search_points *points;
  size_t first; /* distinct row that the loop starts at */
  float *rows;
  uint32_t *ids;
};

static void frame_row(void *context, size_t thread, size_t piece)
{
  const struct filling *f = context;
  size_t i = f->first + piece, d = f->tree->d;
  (void)thread;
  gpnn_float_frame_apply(&f->tree->frame, f->points->x + gpnn_duplicates_first(f->points, i) * d,
                         f->build->rows + i * d);
  f->build->ids[i] = (uint32_t)i;
}

static void fill_block(void *context, size_t thread, size_t block)
{
  const struct filling *f = context;
  (void)thread;
  write_block(f->build, block, f->rows + block * f->tree->d * LANES, f->ids + block * LANES);
}

static void fill(struct gpnn_tree *tree, struct build *build,
                 const struct gpnn_search_points *points, const struct layout *layout, int threads)
{
  size_t n = tree->n;
  struct filling f = {.tree = tree, .build = build, .points = points};
  f.rows = (float *)(void *)(tree->owned + layout->rows);
  f.ids = (uint32_t *)(void *)(tree->owned + layout->ids);
  for (; f.first < n; f.first += FRAME_ROWS) {
    size_t count = n - f.first < FRAME_ROWS ? n - f.first : FRAME_ROWS;
    gpnn_threads_each(threads, count, ROWS_TOGETHER, frame_row, &f);
    gpnn_search_points_evict(points, f.first, f.first + count);
  }
  sort_all(build, threads);
  gpnn_threads_each(threads, divide_up(n, LANES), ROWS_TOGETHER / LANES, fill_block, &f);
  write_frame(tree, tree->owned);
  write_boxes(build, tree, layout, tree->owned);
}

/* An exact tree over 'points', still empty; NULL without memory. */
static struct gpnn_tree *tree_new(const struct gpnn_search_points *points)
{
  struct gpnn_tree *made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  made->n = points->n_distinct;
  made->d = points->d;
  made->reach = 1;
  made->filter = calloc(1, sizeof *made->filter);
  if (made->filter != NULL) return made;
  free(made);
  return NULL;
}

enum gpnn_status gpnn_tree_build(struct gpnn_tree **tree, const struct gpnn_search_points *points,
                                 int threads, struct gpnn_error *err)
{
  struct build build = {0};
  struct layout layout;
  enum gpnn_status status = GPNN_OK;
  struct gpnn_tree *made = tree_new(points);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  if (!lay_out(made, points->map != NULL, &layout)) {
    status = gpnn_fail(err, GPNN_EDATA, "%zu rows are too many for a tree", made->n);
    goto out;
  }
  status = gpnn_memory_check("the search", (double)layout.length + build_bytes(made), err);
  if (status != GPNN_OK) goto out;
  made->owned = gpnn_alloc(layout.length, 1, 1);
  if (made->owned == NULL || !gpnn_float_frame_init(&made->frame, points) ||
      !build_alloc(&build, made->n, made->d, threads)) {
    status = gpnn_fail_memory(err, "for a search");
    goto out;
  }
  point_into(made, made->owned, &layout);
  fill(made, &build, points, &layout, threads);
out:
  build_release(&build);
  if (status == GPNN_OK)
    *tree = made;
  else
    gpnn_tree_free(made);
  return status;
}

void gpnn_tree_free(struct gpnn_tree *tree)
{
  if (tree == NULL) return;
  gpnn_float_frame_release(&tree->frame);
  gpnn_tree_filter_free(tree->filter);
  free(tree->owned);
  free(tree);
}

/* ---- mapping ---- */

/* Reads the frame behind the header; false without memory. */
static bool read_frame(struct gpnn_tree *tree, const unsigned char *bytes)
{
  struct gpnn_float_frame *frame = &tree->frame;
  const unsigned char *at = bytes + HEADER_BYTES;
  bool has_map = gpnn_load_u32(bytes + 20) == HAS_MAP;
  if (!gpnn_float_frame_alloc(frame, tree->d, has_map)) return false;
  frame->scale = gpnn_load_f64(bytes + 24);
  for (size_t j = 0; j < tree->d; j++, at += 8) frame->origin[j] = gpnn_load_f64(at);
  double *metric = has_map ? frame->map : frame->factor;
  size_t n_metric = has_map ? tree->d * tree->d : tree->d;
  for (size_t j = 0; j < n_metric; j++, at += 8) metric[j] = gpnn_load_f64(at);
  return true;
}

enum gpnn_status gpnn_tree_map(struct gpnn_tree **tree, const void *bytes, size_t length,
                               const struct gpnn_search_points *points, struct gpnn_error *err)
{
  struct layout layout;
  const unsigned char *header = bytes;
  struct gpnn_tree *made = tree_new(points);
  if (made == NULL) return gpnn_fail_memory(err, "for a search");
  enum gpnn_status status = GPNN_OK;
  if (length < HEADER_BYTES || gpnn_load_u64(header) != made->n ||
      gpnn_load_u64(header + 8) != points->d || gpnn_load_u32(header + 16) != LEAF ||
      gpnn_load_u32(header + 20) != (points->map == NULL ? 0 : HAS_MAP) ||
      !lay_out(made, points->map != NULL, &layout) || layout.length != length)
    status = gpnn_fail(err, GPNN_EFORMAT, "the stored search does not fit the rows");
  else if (!read_frame(made, header))
    status = gpnn_fail_memory(err, "for a search");
  if (status == GPNN_OK) {
    point_into(made, header, &layout);
    *tree = made;
  } else {
    gpnn_tree_free(made);
  }
  return status;
}
