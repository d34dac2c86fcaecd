/* Sorting, selecting and heaps of neighbours. */
#include "searches.h"

#include "search/nearest.h"

static int compare_floats(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void selection_finds_what_sorting_puts_there(void **state)
{
  (void)state;
  enum { MOST = 300 };
  float values[MOST], sorted[MOST];
  double *random = normal_rows(MOST, 1, 36);
  for (size_t n = 1; n <= MOST; n += n < 30 ? 1 : 45)
    for (size_t k = 0; k < n; k += n < 30 ? 1 : 13)
      for (int grain = 0; grain < 3; grain++) { /* many ties, few, none */
        for (size_t i = 0; i < n; i++)
          values[i] = (float)(grain == 2 ? random[i] : round(random[i] * (1 + 20 * grain)));
        memcpy(sorted, values, sizeof sorted);
        qsort(sorted, n, sizeof *sorted, compare_floats);
        assert_true(gpnn_nearest_select_float(n, values, k) == sorted[k]);
      }
  free(random);
}

/* Neighbours at random distances: with many ties, with few, or (as far as doubles go) close to 1.
 */
static void random_items(struct gpnn_rng *rng, size_t n, int grain, struct gpnn_neighbour *items)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t value = gpnn_rng_below(rng, grain == 0 ? 3 : 1000000000);
    items[i].distance = grain == 2 ? 1 + (double)value * 1e-15 : (double)value;
    items[i].row = (int64_t)(n - i);
  }
}

static void neighbours_are_sorted_by_distance_then_row(void **state)
{
  (void)state;
  enum { MOST = 5000 };
  static const size_t sizes[] = {0, 1, 7, 8, 9, 100, 127, 128, 129, 1000, MOST};
  struct gpnn_neighbour *items = gpnn_alloc(MOST, 2, sizeof *items);
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 37, GPNN_RNG_TEST);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
    for (int grain = 0; grain < 3; grain++) {
      size_t n = sizes[s];
      int64_t sum = 0;
      random_items(&rng, n, grain, items);
      for (size_t i = 0; i < n; i++) sum += items[i].row;
      gpnn_nearest_sort(n, items, items + MOST);
      for (size_t i = 0; i < n; i++) sum -= items[i].row;
      assert_int_equal(sum, 0);
      for (size_t i = 1; i < n; i++)
        assert_true(
            items[i - 1].distance < items[i].distance ||
            (items[i - 1].distance == items[i].distance && items[i - 1].row < items[i].row));
    }
  free(items);
}

static void selected_neighbours_are_those_that_sorting_puts_first(void **state)
{
  (void)state;
  enum { MOST = 700 };
  static struct gpnn_neighbour items[MOST], sorted[MOST], spare[MOST];
  struct gpnn_rng rng;
  gpnn_rng_init(&rng, 39, GPNN_RNG_TEST);
  for (size_t n = 1; n <= MOST; n += n < 20 ? 1 : 97)
    for (size_t k = 0; k <= n; k += n < 20 ? 1 : 23)
      for (int grain = 0; grain < 2; grain++) {
        random_items(&rng, n, grain, items);
        memcpy(sorted, items, n * sizeof *items);
        gpnn_nearest_sort(n, sorted, spare);
        gpnn_nearest_select(n, items, k);
        gpnn_nearest_sort(k, items, spare);
        assert_memory_equal(items, sorted, k * sizeof *items);
      }
}

/* Offered in any order, a heap keeps what sorting puts first. */
static void a_heap_keeps_the_nearest(void **state)
{
  (void)state;
  enum { N = 300 };
  struct gpnn_neighbour items[N], spare[N], heap[N + 5];
  for (size_t i = 0; i < N; i++)
    items[i] = (struct gpnn_neighbour){(double)(i * 7919 % 50), (int64_t)(i * 104729 % N)};
  for (size_t k = 1; k <= N + 5; k += 76) {
    for (size_t i = 0; i < k; i++) heap[i] = (struct gpnn_neighbour){INFINITY, GPNN_NEAREST_NONE};
    for (size_t i = 0; i < N; i++) gpnn_nearest_offer(heap, k, items[i]);
    struct gpnn_neighbour sorted[N], spare_heap[N + 5];
    memcpy(sorted, items, sizeof sorted);
    gpnn_nearest_sort(N, sorted, spare);
    gpnn_nearest_sort(k, heap, spare_heap);
    assert_memory_equal(heap, sorted, (k < N ? k : N) * sizeof *heap);
    for (size_t i = N; i < k; i++) assert_true(heap[i].row == GPNN_NEAREST_NONE);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(selection_finds_what_sorting_puts_there),
      cmocka_unit_test(neighbours_are_sorted_by_distance_then_row),
      cmocka_unit_test(selected_neighbours_are_those_that_sorting_puts_first),
      cmocka_unit_test(a_heap_keeps_the_nearest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
