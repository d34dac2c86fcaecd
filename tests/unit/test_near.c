/* Lists of nearest rows that candidates share. */
#include "random.h"
#include "unit.h"

#include "estimate/near.h"

enum { N = 400, D = 3, Q = 50 };

static const double one[D] = {2, 2, 2}, other[D] = {0.7, 0.7, 0.7}, several[D] = {1, 0.2, 5},
                    others[D] = {5, 0.2, 1};

static const struct gpnn_near_lists *find(struct gpnn_near *near, const double *x, size_t n,
                                          size_t k, const double *lengthscale)
{
  struct gpnn_search_options how = GPNN_SEARCH_OPTIONS_INIT;
  const struct gpnn_near_query query = {N, D, x, n, x, k, &how};
  const struct gpnn_near_lists *lists = NULL;
  how.kind = GPNN_SEARCH_EXACT;
  how.lengthscale = lengthscale;
  assert_ok(gpnn_near_find(near, &query, &lists, &err));
  assert_true(lists->n >= n && lists->k >= k);
  return lists;
}

/* Whatever was asked before, the lists are those of a search of its own. */
static void check_anew(struct gpnn_near *near, const double *x, size_t n, size_t k,
                       const double *lengthscale)
{
  struct gpnn_near anew = {0};
  const struct gpnn_near_lists *lists = find(near, x, n, k, lengthscale);
  const struct gpnn_near_lists *expected = find(&anew, x, n, k, lengthscale);
  for (size_t i = 0; i < n; i++)
    for (size_t a = 0; a < k; a++)
      assert_int_equal(lists->row[i * lists->k + a], expected->row[i * expected->k + a]);
  gpnn_near_release(&anew);
}

static void lists_are_those_of_a_search_whatever_was_asked_before(void **state)
{
  (void)state;
  static const struct {
    size_t n, k;
    const double *lengthscale;
  } asked[] = {{20, 9, one},  {20, 9, several}, {Q, 5, other},    {10, 30, one},  {10, 30, several},
               {Q, 5, NULL},  {9, 29, other},   {Q, 30, one},     {Q, 30, NULL},  {1, N, several},
               {Q, 2, other}, {5, N, NULL},     {20, 9, several}, {19, 8, others}};
  struct gpnn_near near = {0};
  double *x = normal_rows(N, D, 1);
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    check_anew(&near, x, asked[i].n, asked[i].k, asked[i].lengthscale);
  gpnn_near_release(&near);
  free(x);
}

static void lists_under_one_lengthscale_are_kept(void **state)
{
  (void)state;
  struct gpnn_near near = {0};
  double *x = normal_rows(N, D, 2);
  const struct gpnn_near_lists *many_rows = find(&near, x, Q, 5, one);
  const struct gpnn_near_lists *many_neighbours = find(&near, x, 10, 40, NULL);
  assert_ptr_not_equal(many_rows, many_neighbours);
  const int64_t *rows = many_rows->row, *neighbours = many_neighbours->row;
  find(&near, x, Q, 6, several);
  assert_ptr_equal(find(&near, x, Q - 1, 4, other)->row, rows);
  assert_ptr_equal(find(&near, x, 9, 39, other)->row, neighbours);
  gpnn_near_release(&near);
  free(x);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_are_those_of_a_search_whatever_was_asked_before),
      cmocka_unit_test(lists_under_one_lengthscale_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
