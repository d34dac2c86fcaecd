/*
 * Rows that are copies of each other: one observation read several times, as after a bad join, or
 * repeats of which each equals the others.  Where rows were joined from files that were written
 * with different numbers of digits, copies differ in the last of them, so that inputs are rounded.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/repeats.h"
#include "dataset/training/training_private.h"

static const uint64_t SEED = 0x9e3779b97f4a7c15u;
enum { NEVER_FEWER_SETS = 5, TOGETHER = 1024 };

/* Fewer copies than this share of the rows are left alone. */
static const double least_share = 0.01;

/* Mixes a number into a hash by a bijection; -0 is 0. */
static uint64_t add_number(uint64_t hash, double number)
{
  uint64_t bits;
  double positive = number == 0 ? 0 : number;
  memcpy(&bits, &positive, sizeof bits);
  hash = (hash ^ bits) * 0xff51afd7ed558ccdu;
  return hash ^ hash >> 32;
}

uint64_t gpnn_training_hash(const struct gpnn_training *training, const double *row)
{
  uint64_t hash = SEED;
  for (size_t j = 0; j < training->width; j++) hash = add_number(hash, row[j]);
  return hash;
}

/* What numbers that count as equal have in common: each input that has a grain is rounded to whole
 * ones. */
struct grains {
  size_t n;      /* inputs */
  double *grain; /* owned; 0: not rounded */
};

double gpnn_training_grain(size_t n_rows, size_t n, double *values)
{
  static const double share = 1e-7, apart = 0.1;
  gpnn_sort_doubles(n, values);
  return n == 0 ? 0 : fmin(share, apart / (double)n_rows) * (values[3 * n / 4] - values[n / 4]);
}

/* How the rows as read are in parts; NULL: all are here. */
static const struct gpnn_parts *parts_of(const struct gpnn_training *training)
{
  return training->parts == NULL ? NULL : &training->parts->read;
}

/* Copies 'n' rows as read, evenly spaced, to 'rows', wherever they are. */
static enum gpnn_status take_rows(const struct gpnn_training *training, size_t n, double *rows,
                                  struct gpnn_error *err)
{
  enum { MOST = GPNN_TRAINING_GRAIN_ROWS };
  const struct gpnn_parts *parts = parts_of(training);
  uint64_t number[MOST];
  size_t bytes = training->width * sizeof *rows;
  uint64_t first = gpnn_parts_first(parts), end = gpnn_parts_end(parts, training->n);
  for (size_t i = 0; i < n; i++) {
    number[i] = i * (training->n / n);
    if (number[i] >= first && number[i] < end)
      memcpy(rows + i * training->width,
             training->read.numbers + (number[i] - first) * training->width, bytes);
  }
  return gpnn_parts_gather(parts, n, number, bytes, rows, GPNN_OK, err);
}

static enum gpnn_status learn_grains(const struct gpnn_training *training, struct grains *grains,
                                     struct gpnn_error *err)
{
  enum { MOST = GPNN_TRAINING_GRAIN_ROWS };
  size_t n = training->n < MOST ? training->n : MOST;
  double value[MOST], *rows = gpnn_alloc(n, training->width, sizeof *rows);
  grains->n = training->dataset.schema.n_inputs;
  grains->grain = gpnn_alloc(grains->n, 1, sizeof *grains->grain);
  enum gpnn_status status = rows == NULL || grains->grain == NULL
                                ? gpnn_fail_memory(err, "to find copies of rows")
                                : take_rows(training, n, rows, err);
  for (size_t j = 0; j < grains->n && status == GPNN_OK; j++) {
    size_t present = 0;
    for (size_t i = 0; i < n; i++) {
      value[present] = rows[i * training->width + j];
      present += isnan(value[present]) ? 0 : 1;
    }
    grains->grain[j] = gpnn_training_grain(training->n, present, value);
  }
  free(rows);
  return status;
}

/* The hash of 'width' numbers of a row from 'first' on, where the inputs are rounded. */
static uint64_t hash_rounded(const struct grains *grains, size_t first, size_t width,
                             const double *row)
{
  uint64_t hash = SEED;
  for (size_t j = first; j < first + width; j++) {
    bool is_rounded = j < grains->n && grains->grain[j] > 0;
    hash = add_number(hash, is_rounded ? floor(row[j] / grains->grain[j]) : row[j]);
  }
  return hash;
}

/* Sets of rows that have the same numbers in some columns. */
struct sets {
  size_t n;       /* of them */
  size_t n_rows;  /* that are in a set with others */
  double n_pairs; /* of rows in the same set */
};

/* Evicts the rows before 'end' that have been read, whenever those from 'begin' on complete a
 * stretch. */
static void evict_read(const struct gpnn_training *training, size_t begin, size_t end)
{
  size_t bytes = training->width * sizeof(double);
  size_t stretch = GPNN_MAPPING_STRIDE / bytes + 1, at = end / stretch * stretch;
  if (begin / stretch == end / stretch) return;
  size_t first = begin / stretch * stretch;
  gpnn_mapping_evict(gpnn_spool_mapping(&training->read),
                     training->read.numbers + first * training->width, (at - first) * bytes);
}

/* Hashes rows, up to TOGETHER, from number 'from' on by 'width' columns from 'first' on; returns
 * how many. */
static size_t hash_rows(const struct gpnn_training *training, const struct grains *grains,
                        size_t first, size_t width, size_t from, uint64_t *hash)
{
  const double *rows = training->read.numbers + from * training->width;
  size_t n = training->n - from < TOGETHER ? training->n - from : TOGETHER;
  for (size_t i = 0; i < n; i++)
    hash[i] = hash_rounded(grains, first, width, rows + i * training->width);
  evict_read(training, from, from + n);
  return n;
}

/* Whether so many rows may be equal in 'width' columns from the first on that it is worth a closer
 * look, where all rows are here. */
static enum gpnn_status may_repeat(const struct gpnn_training *training,
                                   const struct grains *grains, size_t width, bool *may,
                                   struct gpnn_error *err)
{
  struct gpnn_repeats repeats = {0};
  uint64_t hash[TOGETHER];
  size_t n_again = 0, n;
  if (!gpnn_repeats_init(&repeats, training->n))
    return gpnn_fail_memory(err, "to find copies of rows");
  *may = false;
  for (size_t from = 0; from < training->n && !*may; from += n) {
    n = hash_rows(training, grains, 0, width, from, hash);
    n_again += gpnn_repeats_add(&repeats, n, hash, NULL);
    /* Each of them may be the copy of a row that has no other. */
    *may = 2 * (double)n_again >= least_share * (double)training->n;
  }
  gpnn_repeats_release(&repeats);
  return GPNN_OK;
}

/* Finds the sets of rows that are equal in 'width' columns from 'first' on, and their numbers
 * 'set', where all rows are here. */
static enum gpnn_status divide_here(const struct gpnn_training *training,
                                    const struct grains *grains, size_t first, size_t width,
                                    uint32_t *set, struct sets *sets, struct gpnn_error *err)
{
  struct gpnn_groups groups = {0};
  enum gpnn_status status = GPNN_OK;
  uint64_t hash[TOGETHER];
  for (size_t from = 0, n; from < training->n && status == GPNN_OK; from += n) {
    n = hash_rows(training, grains, first, width, from, hash);
    status = gpnn_groups_number_all(&groups, training->n, n, hash, &set[from], err);
  }
  size_t n = groups.n;
  gpnn_groups_release(&groups);
  if (status != GPNN_OK) return status;
  size_t *count = gpnn_alloc(n, 1, sizeof *count);
  if (count == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  *sets = (struct sets){.n = n};
  for (size_t i = 0; i < training->n; i++) sets->n_pairs += (double)count[set[i]]++;
  for (size_t g = 0; g < n; g++) sets->n_rows += count[g] > 1 ? count[g] : 0;
  free(count);
  return GPNN_OK;
}

/* Rows in parts: each set is counted by one of the peers, to whom all send the hashes of its rows.
 */
struct counting {
  const struct gpnn_parts *parts;
  struct gpnn_groups groups; /* sets that are counted here */
  size_t *count;             /* owned; rows of each */
  size_t capacity;
  struct gpnn_message *messages; /* owned; sent to each of the peers, then received from each */
  double n_pairs;
};

/* Who counts a set. */
static size_t counter_of(uint64_t hash, size_t n_peers)
{
  return (size_t)((hash >> 32) % n_peers);
}

/* Packs 'n' hashes for those who count them; 'hash' is then sorted by these. */
static enum gpnn_status pack_hashes(struct counting *counting, size_t n, const uint64_t *hash,
                                    struct gpnn_error *err)
{
  size_t size = counting->parts->peers->size;
  struct gpnn_message *send = counting->messages;
  for (size_t i = 0; i < n; i++) send[counter_of(hash[i], size)].length += sizeof *hash;
  for (size_t r = 0; r < size; r++) {
    if (send[r].length == 0) continue;
    send[r].bytes = malloc(send[r].length);
    if (send[r].bytes == NULL) return gpnn_fail_memory(err, "to find copies of rows");
    send[r].length = 0;
  }
  for (size_t i = 0; i < n; i++) {
    struct gpnn_message *to = &send[counter_of(hash[i], size)];
    memcpy(to->bytes + to->length, &hash[i], sizeof *hash);
    to->length += sizeof *hash;
  }
  return GPNN_OK;
}

/* Counts what one of the peers has sent. */
static enum gpnn_status count_hashes(struct counting *counting, size_t room,
                                     const struct gpnn_message *received, struct gpnn_error *err)
{
  size_t n = received->length / sizeof(uint64_t);
  const uint64_t *hash = (const uint64_t *)(const void *)received->bytes;
  uint32_t set[TOGETHER];
  enum gpnn_status status = GPNN_OK;
  for (size_t from = 0, some; from < n && status == GPNN_OK; from += some) {
    some = n - from < TOGETHER ? n - from : TOGETHER;
    size_t before = counting->groups.n;
    status = gpnn_groups_number_all(&counting->groups, room, some, hash + from, set, err);
    size_t after = counting->groups.n;
    if (status == GPNN_OK &&
        !gpnn_grow(&counting->count, &counting->capacity, after, sizeof *counting->count))
      status = gpnn_fail_memory(err, "to find copies of rows");
    for (size_t g = before; g < after && status == GPNN_OK; g++) counting->count[g] = 0;
    for (size_t i = 0; i < some && status == GPNN_OK; i++)
      counting->n_pairs += (double)counting->count[set[i]]++;
  }
  return status;
}

/* Counts the rows of all sets, 'most' rows of each of the peers at a time, whose hashes 'hash' has
 * room for. */
static enum gpnn_status count_sets(struct counting *counting, const struct gpnn_training *training,
                                   const struct grains *grains, size_t first, size_t width,
                                   size_t most, uint64_t *hash, struct gpnn_error *err)
{
  const struct gpnn_parts *parts = counting->parts;
  struct gpnn_peers *peers = parts->peers;
  struct gpnn_message *send = counting->messages, *received = send + peers->size;
  size_t n = (size_t)(parts->first[peers->rank + 1] - parts->first[peers->rank]), longest = 0;
  enum gpnn_status status = GPNN_OK;
  for (size_t r = 0; r < peers->size; r++)
    if (parts->first[r + 1] - parts->first[r] > longest)
      longest = (size_t)(parts->first[r + 1] - parts->first[r]);
  for (size_t from = 0; from < longest && status == GPNN_OK; from += most) {
    size_t begin = from < n ? from : n, some = n - begin < most ? n - begin : most;
    const double *rows = training->read.numbers + begin * training->width;
    for (size_t i = 0; i < some; i++)
      hash[i] = hash_rounded(grains, first, width, rows + i * training->width);
    evict_read(training, begin, begin + some);
    status = pack_hashes(counting, some, hash, err);
    status = gpnn_peers_agree(peers, status, err);
    if (status == GPNN_OK) status = peers->exchange(peers->context, send, received, err);
    for (size_t r = 0; r < peers->size && status == GPNN_OK; r++)
      status = count_hashes(counting, training->n / peers->size, &received[r], err);
    gpnn_messages_release(2 * peers->size, send);
  }
  return status;
}

/* Adds up what the peers have counted. */
static enum gpnn_status add_sets(const struct counting *counting, struct sets *sets,
                                 enum gpnn_status status, struct gpnn_error *err)
{
  struct gpnn_peers *peers = counting->parts->peers;
  struct sets *all = gpnn_alloc(peers->size, 1, sizeof *all);
  if (all == NULL) status = gpnn_fail_memory(err, "to find copies of rows");
  if (status == GPNN_OK) {
    struct sets *own = &all[peers->rank];
    *own = (struct sets){.n = counting->groups.n, .n_pairs = counting->n_pairs};
    for (size_t g = 0; g < own->n; g++)
      own->n_rows += counting->count[g] > 1 ? counting->count[g] : 0;
  }
  status = gpnn_peers_share(peers, sizeof *all, all, status, err);
  *sets = (struct sets){0};
  for (size_t r = 0; r < peers->size && status == GPNN_OK; r++) {
    sets->n += all[r].n;
    sets->n_rows += all[r].n_rows;
    sets->n_pairs += all[r].n_pairs;
  }
  free(all);
  return status;
}

static enum gpnn_status divide_parts(const struct gpnn_training *training,
                                     const struct grains *grains, size_t first, size_t width,
                                     struct sets *sets, struct gpnn_error *err)
{
  enum { MOST = 1 << 16 };
  struct counting counting = {.parts = parts_of(training)};
  uint64_t *hash = gpnn_alloc(MOST, 1, sizeof *hash);
  counting.messages = gpnn_alloc(2 * counting.parts->peers->size, 1, sizeof *counting.messages);
  enum gpnn_status status =
      hash == NULL || counting.messages == NULL
          ? gpnn_fail_memory(err, "to find copies of rows")
          : count_sets(&counting, training, grains, first, width, MOST, hash, err);
  status = add_sets(&counting, sets, status, err);
  gpnn_groups_release(&counting.groups);
  free(counting.count);
  free(counting.messages);
  free(hash);
  return status;
}

/* Finds the sets of rows that are equal in 'width' columns from 'first' on and, where all rows are
 * here, their numbers 'set'. */
static enum gpnn_status divide(const struct gpnn_training *training, const struct grains *grains,
                               size_t first, size_t width, uint32_t *set, struct sets *sets,
                               struct gpnn_error *err)
{
  return training->parts == NULL ? divide_here(training, grains, first, width, set, sets, err)
                                 : divide_parts(training, grains, first, width, sets, err);
}

/* The smallest step between targets of up to MOST rows; DBL_MAX if all are equal. */
static enum gpnn_status find_step(const struct gpnn_training *training, double *step,
                                  struct gpnn_error *err)
{
  enum { MOST = 1 << 16 };
  size_t n = training->n < MOST ? training->n : MOST, present = 0;
  const double *y = training->read.numbers + training->dataset.schema.n_inputs;
  double *value = gpnn_alloc(n, 1, sizeof *value);
  if (value == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  for (size_t i = 0; i < n; i++) {
    value[present] = y[i * (training->n / n) * training->width];
    present += isnan(value[present]) ? 0 : 1;
  }
  gpnn_sort_doubles(present, value);
  *step = DBL_MAX;
  for (size_t i = 1; i < present; i++)
    if (value[i] > value[i - 1]) *step = fmin(*step, value[i] - value[i - 1]);
  free(value);
  return GPNN_OK;
}

/* A row of a set, by its target. */
struct member {
  uint32_t set;
  double y;
};

static int compare_members(const void *a, const void *b)
{
  const struct member *x = a, *y = b;
  int order = (x->set > y->set) - (x->set < y->set);
  return order != 0 ? order : gpnn_compare_doubles(&x->y, &y->y);
}

/* How many pairs of rows of the same set have targets at most 'apart' from each other; the 'n'
 * members are sorted. */
static double count_pairs(size_t n, const struct member *members, double apart)
{
  double n_pairs = 0;
  for (size_t i = 0, first = 0; i < n; i++) {
    while (members[first].set != members[i].set || members[i].y - members[first].y > apart) first++;
    n_pairs += (double)(i - first);
  }
  return n_pairs;
}

/* Whether pairs of rows of the same set differ by one or two steps of the target as often as they
 * agree: what a small noise does that is rounded, but a copy never.  Of many rows, some sets tell.
 */
static enum gpnn_status agree_by_noise(const struct gpnn_training *training, const uint32_t *set,
                                       bool *do_they, struct gpnn_error *err)
{
  enum { MOST = 1 << 20 };
  static const double two_steps = 2.5;
  const double *y = training->read.numbers + training->dataset.schema.n_inputs;
  size_t one_in = training->n / MOST + 1, n = 0;
  double step = 0;
  enum gpnn_status status = find_step(training, &step, err);
  if (status != GPNN_OK) return status;
  for (size_t i = 0; i < training->n; i++) n += set[i] % one_in == 0;
  struct member *members = gpnn_alloc(n, 1, sizeof *members);
  if (members == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  n = 0;
  for (size_t i = 0; i < training->n; i++, y += training->width)
    if (set[i] % one_in == 0 && !isnan(*y)) members[n++] = (struct member){set[i], *y};
  qsort(members, n, sizeof *members, compare_members);
  double n_equal = count_pairs(n, members, 0);
  double n_near = count_pairs(n, members, two_steps * step) - n_equal;
  free(members);
  *do_they = n_near > 0 && n_near >= n_equal;
  return GPNN_OK;
}

/*
 * Whether rows equal in inputs agree in their targets because they are copies.  Repeated
 * observations agree by themselves where a target has few values, at most about as often as the
 * noise lets them, but hardly ever always, unless nearly all rows have the same value, as where an
 * event is rare; where it has many values, so that rows with different inputs hardly ever agree,
 * they do not either, unless they are copies, their noise is a few steps of the target, or, once or
 * twice, by chance.
 *
 * If they agree nearly always, all rows that are equal in inputs become a set.  Otherwise the few
 * that do not agree would be the only rows that are predicted from others with the same inputs when
 * errors are estimated, and errors at such rows, which are small, would seem to be great.
 */
static enum gpnn_status are_copies(const struct gpnn_training *training,
                                   const struct grains *grains, uint32_t *set, struct sets *sets,
                                   bool *are, struct gpnn_error *err)
{
  static const double always = 0.99, times = 20, rarely = 1e-3;
  const struct gpnn_schema *schema = &training->dataset.schema;
  double all = 0.5 * (double)training->n * ((double)training->n - 1), n_pairs = sets->n_pairs;
  struct sets same = {0}, alike = {0};
  uint32_t *work = set == NULL ? NULL : set + training->n;
  enum gpnn_status status =
      divide(training, grains, schema->n_inputs, 1 + schema->n_more, work, &alike, err);
  if (status == GPNN_OK) status = divide(training, grains, 0, schema->n_inputs, work, &same, err);
  double share = n_pairs / same.n_pairs;
  double chance = (alike.n_pairs - n_pairs) / fmax(all - same.n_pairs, 1);
  bool agree = share >= always && times * (1 - share) <= 1 - chance;
  *are = agree || (chance < rarely && share > times * alike.n_pairs / all);
  /* Rows in parts are read again, all in one place, if they are copies. */
  if (set != NULL && !agree && *are && status == GPNN_OK) {
    bool is_noise = false;
    status = agree_by_noise(training, work, &is_noise, err);
    *are = !is_noise;
  }
  if (!agree) return status;
  if (set != NULL) memcpy(set, work, training->n * sizeof *set);
  *sets = same;
  return status;
}

/* Finds the sets of rows that are equal in 'width' columns from the first on: there are none in
 * 'sets' if they are fewer than the least share of the rows.  Where all rows are here, '*set' then
 * has the numbers of theirs, 'n_sets' arrays of as many numbers as there are rows, of which the
 * first is filled, for the caller to free; it is NULL if there are no sets. */
static enum gpnn_status find_sets(const struct gpnn_training *training, const struct grains *grains,
                                  size_t width, size_t n_arrays, uint32_t **set, struct sets *sets,
                                  struct gpnn_error *err)
{
  bool all_are_here = training->parts == NULL, may = true;
  enum gpnn_status status = GPNN_OK;
  *sets = (struct sets){0};
  *set = NULL;
  if (all_are_here) status = may_repeat(training, grains, width, &may, err);
  if (status != GPNN_OK || !may) return status;
  if (all_are_here) *set = gpnn_alloc(training->n, n_arrays, sizeof **set);
  if (all_are_here && *set == NULL) return gpnn_fail_memory(err, "to find copies of rows");
  status = divide(training, grains, 0, width, *set, sets, err);
  if ((double)sets->n_rows < least_share * (double)training->n) *sets = (struct sets){0};
  return status;
}

enum gpnn_status gpnn_training_find_copies(struct gpnn_training *training, struct gpnn_error *err)
{
  struct sets sets = {0};
  struct grains grains = {0};
  uint32_t *set = NULL;
  bool are = false;
  if (training->dataset.schema.has_by || training->n < 2) return GPNN_OK;
  enum gpnn_status status = learn_grains(training, &grains, err);
  if (status == GPNN_OK)
    status = find_sets(training, &grains, training->width, 2, &set, &sets, err);
  if (status == GPNN_OK && sets.n >= NEVER_FEWER_SETS && sets.n_rows > 0)
    status = are_copies(training, &grains, set, &sets, &are, err);
  free(grains.grain);
  if (status != GPNN_OK || !are) {
    free(set);
    return status;
  }
  training->set = set;
  training->n_sets = sets.n;
  training->n_copied = sets.n_rows;
  return GPNN_OK;
}

enum gpnn_status gpnn_training_may_have_copies(const struct gpnn_training *training, bool *may,
                                               struct gpnn_error *err)
{
  struct sets sets = {0};
  struct grains grains = {0};
  uint32_t *set = NULL;
  *may = false;
  if (training->dataset.schema.has_by) return GPNN_OK;
  enum gpnn_status status = learn_grains(training, &grains, err);
  if (status == GPNN_OK)
    status = find_sets(training, &grains, training->dataset.schema.n_inputs, 1, &set, &sets, err);
  free(grains.grain);
  free(set);
  *may = sets.n_rows > 0;
  return status;
}
