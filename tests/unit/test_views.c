/* Objects in two views: moments, what can be predicted from them, and what they depend on. */
#include "simulate/views.h"

#include "unit.h"

enum { ROWS = 200000 };

static struct gpnn_views_options usual(double r, bool dependent)
{
  return (struct gpnn_views_options){.correlation = r, .dependent = dependent, .seed = 1};
}

/* Sums over ROWS objects, divided by their number. */
struct moments {
  double y, yy, x[2], xx[2], xy[2], x12;
};

static struct moments moments_of(const struct gpnn_views_options *o)
{
  struct moments m = {0};
  for (uint64_t i = 0; i < ROWS; i++) {
    struct gpnn_views_object it = gpnn_views_draw(o, i);
    m.y += it.y / ROWS;
    m.yy += it.y * it.y / ROWS;
    m.x12 += it.x[0] * it.x[1] / ROWS;
    for (int v = 0; v < 2; v++) {
      m.x[v] += it.x[v] / ROWS;
      m.xx[v] += it.x[v] * it.x[v] / ROWS;
      m.xy[v] += it.x[v] * it.y / ROWS;
    }
  }
  return m;
}

static void columns_are_standard_and_correlate_as_asked(void **state)
{
  (void)state;
  const double correlations[] = {-0.3, 0, 0.5, 0.75, 0.9, 0.99, 1};
  for (size_t i = 0; i < sizeof correlations / sizeof correlations[0]; i++)
    for (int dependent = 0; dependent < 2; dependent++) {
      const double r = correlations[i];
      struct gpnn_views_options o = usual(r, dependent);
      struct moments m = moments_of(&o);
      const double se = 4.5 / sqrt(ROWS);
      assert_near(m.y, 0, se);
      assert_near(m.yy, 1, sqrt(2) * se);
      assert_near(m.x12, dependent ? 1 : r * r, sqrt(2) * se);
      for (int v = 0; v < 2; v++) {
        assert_near(m.x[v], 0, se);
        assert_near(m.xx[v], 1, sqrt(2) * se);
        assert_near(m.xy[v], r, sqrt(1 + r * r) * se);
      }
    }
}

/* Root mean square of y minus the prediction from one view (r x_1) and from both, (x_1 + x_2) r /
 * (1 + r^2), where the precisions of conditionally independent views add up. */
static void residuals(double r, double *one, double *both)
{
  struct gpnn_views_options o = usual(r, false);
  double single = 0, joint = 0;
  for (uint64_t i = 0; i < ROWS; i++) {
    struct gpnn_views_object it = gpnn_views_draw(&o, i);
    const double e1 = it.y - r * it.x[0], e2 = it.y - (it.x[0] + it.x[1]) * r / (1 + r * r);
    single += e1 * e1 / ROWS;
    joint += e2 * e2 / ROWS;
  }
  *one = sqrt(single);
  *both = sqrt(joint);
}

/* Tables 4.1 and 4.2 of Thomas (2017). */
static void what_can_be_explained_is_as_published(void **state)
{
  (void)state;
  const struct {
    double r, one, both;
  } published[] = {
      {0.5, 0.866, 0.775}, {0.75, 0.661, 0.529}, {0.9, 0.436, 0.324}, {0.99, 0.141, 0.1}};
  for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
    double one, both;
    residuals(published[i].r, &one, &both);
    assert_near(one, published[i].one, 0.005 * published[i].one + 0.0006);
    assert_near(both, published[i].both, 0.005 * published[i].both + 0.0006);
  }
}

static void an_object_depends_on_seed_and_number_alone(void **state)
{
  (void)state;
  struct gpnn_views_options a = usual(0.5, false), b = usual(0.99, true);
  for (uint64_t i = 0; i < 50; i++) {
    struct gpnn_views_object one = gpnn_views_draw(&a, i * 1000003),
                             two = gpnn_views_draw(&b, i * 1000003);
    assert_true(one.y == two.y);
    assert_true(two.x[0] == two.x[1]);
  }
  b = a;
  b.dependent = true;
  assert_true(gpnn_views_draw(&a, 7).x[0] == gpnn_views_draw(&b, 7).x[0]);
  assert_true(gpnn_views_draw(&a, 7).y != gpnn_views_draw(&a, 8).y);
  b.seed = 2;
  assert_true(gpnn_views_draw(&a, 7).y != gpnn_views_draw(&b, 7).y);
}

static void a_view_may_be_the_response_or_its_opposite(void **state)
{
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    struct gpnn_views_options o = usual(sign, false);
    struct gpnn_views_object it = gpnn_views_draw(&o, 3);
    assert_true(it.x[0] == sign * it.y && it.x[1] == sign * it.y);
  }
}

static void masks_are_opposite_halves(void **state)
{
  (void)state;
  const struct gpnn_views_object here = {0, {0.1, 0.1}}, there = {0, {-0.1, -0.1}}, edge = {0};
  assert_true(gpnn_views_seen(GPNN_VIEWS_FIRST, &here) &&
              !gpnn_views_seen(GPNN_VIEWS_SECOND, &here));
  assert_true(!gpnn_views_seen(GPNN_VIEWS_FIRST, &there) &&
              gpnn_views_seen(GPNN_VIEWS_SECOND, &there));
  assert_true(!gpnn_views_seen(GPNN_VIEWS_FIRST, &edge) &&
              !gpnn_views_seen(GPNN_VIEWS_SECOND, &edge));
  assert_true(gpnn_views_seen(GPNN_VIEWS_ALL, &edge));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_are_standard_and_correlate_as_asked),
      cmocka_unit_test(what_can_be_explained_is_as_published),
      cmocka_unit_test(an_object_depends_on_seed_and_number_alone),
      cmocka_unit_test(a_view_may_be_the_response_or_its_opposite),
      cmocka_unit_test(masks_are_opposite_halves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
