/* Distances over the surface of the Earth. */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "models/reach.h"
#include "table/schema.h"
#include "unit.h"

static const double radians = 3.14159265358979323846 / 180;

/* An index with the inputs a, lat, lon: four numbers a row, of which the last three are a position.
 */
static struct gpnn_column inputs[] = {
    {.name = (char[]){"a"}},
    {.name = (char[]){"lat"}, .kind = GPNN_COLUMN_LATITUDE, .partner = 2},
    {.name = (char[]){"lon"}, .kind = GPNN_COLUMN_LONGITUDE, .partner = 1}};
enum { D = 4 };

static void place(double lat, double lon, double *row)
{
  row[0] = lat * lon;
  row[1] = GPNN_EARTH_RADIUS * cos(radians * lat) * cos(radians * lon) - 100; /* centred */
  row[2] = GPNN_EARTH_RADIUS * cos(radians * lat) * sin(radians * lon) + 7;
  row[3] = GPNN_EARTH_RADIUS * sin(radians * lat) + 12;
}

static const struct gpnn_coordinate coordinates[] = {{0, 0, 0, false, false},
                                                     {1, 1, 1, true, false},
                                                     {1, 2, 1, true, false},
                                                     {1, 3, 1, true, false}};

static struct gpnn_dataset dataset_of(size_t n, const double *x)
{
  return (struct gpnn_dataset){.n = n,
                               .d = D,
                               .n_groups = 2,
                               .x = x,
                               .coordinates = coordinates,
                               .schema = {.n_inputs = 3, .inputs = inputs},
                               .scaling = {.method = GPNN_SCALING_NONE, .n_in = D, .n_out = D}};
}

/* By the haversine formula. */
static double haversine(double lat, double lon, double other_lat, double other_lon)
{
  double s = sin(radians * (lat - other_lat) / 2), t = sin(radians * (lon - other_lon) / 2);
  return 2 * GPNN_EARTH_RADIUS *
         asin(sqrt(s * s + cos(radians * lat) * cos(radians * other_lat) * t * t));
}

static double distance(const double places[][2], size_t n, double lat, double lon)
{
  double x[8 * D], row[D], km = NAN;
  for (size_t i = 0; i < n; i++) place(places[i][0], places[i][1], x + i * D);
  place(lat, lon, row);
  struct gpnn_dataset dataset = dataset_of(n, x);
  struct gpnn_globe *globe = NULL;
  assert_ok(gpnn_globe_new(&globe, &dataset, 1, &err));
  assert_ok(gpnn_globe_distances(globe, 1, row, NULL, &km, &err));
  gpnn_globe_free(globe);
  return km;
}

static void date_line_and_poles_are_like_any_place(void **state)
{
  static const double degree = 111.19508;
  (void)state;
  assert_near(distance((const double[][2]){{0, 179.5}, {0, 0}}, 2, 0, -179.5), degree, 1e-4);
  assert_near(distance((const double[][2]){{89.5, 0}, {80, 180}}, 2, 89.5, 180), degree, 1e-4);
  assert_near(distance((const double[][2]){{-90, 0}, {0, 0}}, 2, -90, 123), 0, 1e-3);
  assert_near(distance((const double[][2]){{0, 0}, {0, 1}}, 2, 0, 180), 179 * degree, 1e-2);
}

static void distances_are_those_of_the_haversine_formula(void **state)
{
  enum { N = 8 };
  double places[N][2];
  struct gpnn_rng rng;
  (void)state;
  gpnn_rng_init(&rng, 3, GPNN_RNG_TEST);
  for (int t = 0; t < 50; t++) {
    double lat = 180 * gpnn_rng_uniform(&rng) - 90, lon = 360 * gpnn_rng_uniform(&rng) - 180;
    double least = INFINITY;
    for (size_t i = 0; i < N; i++) {
      places[i][0] = 180 * gpnn_rng_uniform(&rng) - 90;
      places[i][1] = 360 * gpnn_rng_uniform(&rng) - 180;
      least = fmin(least, haversine(lat, lon, places[i][0], places[i][1]));
    }
    assert_near(distance((const double(*)[2])places, N, lat, lon), least, 1e-6 * least);
  }
}

static void a_training_row_is_not_its_own_nearest(void **state)
{
  (void)state;
  double x[2 * D], km[2];
  const int64_t self[] = {0, 1};
  place(10, 20, x);
  place(10, 21, x + D);
  struct gpnn_dataset dataset = dataset_of(2, x);
  struct gpnn_globe *globe = NULL;
  assert_ok(gpnn_globe_new(&globe, &dataset, 1, &err));
  assert_ok(gpnn_globe_distances(globe, 2, x, self, km, &err));
  for (size_t i = 0; i < 2; i++) assert_near(km[i], haversine(10, 20, 10, 21), 1e-6);
  assert_ok(gpnn_globe_distances(globe, 0, NULL, NULL, NULL, &err));
  gpnn_globe_free(globe);
}

static void an_index_without_positions_is_refused(void **state)
{
  (void)state;
  double x[] = {1, 2};
  struct gpnn_dataset dataset = dataset_of(2, x);
  struct gpnn_globe *globe = NULL;
  dataset.d = dataset.scaling.n_in = dataset.scaling.n_out = dataset.schema.n_inputs = 1;
  assert_fails(gpnn_globe_new(&globe, &dataset, 1, &err), GPNN_EINVAL, "no positions");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(date_line_and_poles_are_like_any_place),
      cmocka_unit_test(distances_are_those_of_the_haversine_formula),
      cmocka_unit_test(a_training_row_is_not_its_own_nearest),
      cmocka_unit_test(an_index_without_positions_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
