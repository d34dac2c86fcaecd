/* Rows of text as rows of numbers. */
#include "table/schema.h"
#include "text_table.h"

/* A schema with two categories, what it learns from its own table, and that table's cells. */
struct learnt {
  struct gpnn_schema schema;
  struct gpnn_columns_map map;
  struct gpnn_table *table;
};

static void learn_open_notation(struct learnt *learnt, const char *text, const char *one_hot,
                                const char *missing)
{
  *learnt = (struct learnt){0};
  learnt->table = open_notation(text, true, &(struct gpnn_notation){.missing = missing});
  struct gpnn_roles roles = {.one_hot = one_hot};
  assert_ok(gpnn_schema_choose(&learnt->schema, learnt->table, &roles, &err));
  assert_ok(gpnn_schema_match(&learnt->schema, learnt->table, &learnt->map, &err));
}

static void learn_open(struct learnt *learnt, const char *text, const char *one_hot)
{
  learn_open_notation(learnt, text, one_hot, NULL);
}

static enum gpnn_status learn_row(struct learnt *learnt, double *cells, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(learnt->table, &record, err);
  if (status != GPNN_OK) return status;
  return gpnn_schema_learn(&learnt->schema, &learnt->map, learnt->table, &record, cells, err);
}

static void learn_close(struct learnt *learnt)
{
  gpnn_columns_map_release(&learnt->map);
  gpnn_schema_release(&learnt->schema);
  gpnn_table_close(learnt->table);
}

static void levels_are_numbered_as_first_seen(void **state)
{
  (void)state;
  struct learnt learnt;
  learn_open(&learnt, "c,x,k,y\nred,1,b,0\nblue,2,a,0\nred,3,b,0\nRed ,4,aa,0\nblue,5,a,0\n",
             "c,k");
  static const double expected[5][3] = {{0, 1, 0}, {1, 2, 1}, {0, 3, 0}, {2, 4, 2}, {1, 5, 1}};
  double cells[3], features[7];
  for (size_t i = 0; i < 5; i++) {
    assert_ok(learn_row(&learnt, cells, &err));
    for (size_t j = 0; j < 3; j++) assert_true(cells[j] == expected[i][j]);
  }
  assert_int_equal(learnt.schema.inputs[0].n_levels, 3);
  assert_string_equal(learnt.schema.inputs[0].levels[1], "blue");
  assert_int_equal(learnt.schema.inputs[0].level_lengths[2], 3); /* no blank */
  assert_int_equal(gpnn_schema_features(&learnt.schema), 7);
  gpnn_schema_expand(&learnt.schema, cells, features);
  static const double last[] = {0, 1, 0, 5, 0, 1, 0};
  assert_memory_equal(features, last, sizeof last);
  char name[GPNN_MASK_BYTES];
  static const char *const names[] = {"c=red", "c=blue", "c=Red", "x", "k=b", "k=a", "k=aa"};
  for (size_t j = 0; j < 7; j++)
    assert_string_equal(gpnn_schema_feature_name(&learnt.schema, NULL, j, name), names[j]);
  learn_close(&learnt);
}

static void a_bad_row_adds_no_levels(void **state)
{
  (void)state;
  struct learnt learnt;
  learn_open(&learnt, "c,k,x,y\nred,a,1,0\nblue,b,oops,0\ngreen,,1,0\nNA,a,1,0\nred,z,1,0\n",
             "c,k");
  double cells[3];
  assert_ok(learn_row(&learnt, cells, &err));
  assert_fails(learn_row(&learnt, cells, &err), GPNN_EDATA, "t.csv:3: column 'x': not a number");
  assert_fails(learn_row(&learnt, cells, &err), GPNN_EDATA, "t.csv:4: column 'k': missing value");
  assert_fails(learn_row(&learnt, cells, &err), GPNN_EDATA, "t.csv:5: column 'c': missing value");
  assert_int_equal(learnt.schema.inputs[0].n_levels, 1);
  assert_int_equal(learnt.schema.inputs[1].n_levels, 1);
  assert_ok(learn_row(&learnt, cells, &err));
  assert_true(cells[0] == 0 && cells[1] == 1);
  learn_close(&learnt);
}

static void a_thousand_levels_are_all_found_again_and_no_more_taken(void **state)
{
  (void)state;
  char *text = malloc(100000);
  size_t n = (size_t)sprintf(text, "c,y\n");
  for (int pass = 0; pass < 2; pass++)
    for (unsigned i = 0; i < GPNN_LEVELS_MAX; i++)
      n += (size_t)sprintf(text + n, "%u,0\n", i * 7919 % GPNN_LEVELS_MAX);
  sprintf(text + n, "one more,0\n5,0\n");
  struct learnt learnt;
  learn_open(&learnt, text, "c");
  double cell;
  for (unsigned i = 0; i < 2 * GPNN_LEVELS_MAX; i++) {
    assert_ok(learn_row(&learnt, &cell, &err));
    assert_true(cell == i % GPNN_LEVELS_MAX);
  }
  assert_fails(learn_row(&learnt, &cell, &err), GPNN_EDATA,
               "t.csv:2002: column 'c': has more than 1000 levels");
  assert_ok(learn_row(&learnt, &cell, &err));
  learn_close(&learnt);
  free(text);
}

static void prediction_rows_are_coded_as_training_rows_and_unseen_levels_counted(void **state)
{
  (void)state;
  struct learnt learnt;
  learn_open(&learnt, "c,x,k,y\nred,1,b,0\nblue,2,a,0\n", "c,k");
  double cells[3], features[5];
  assert_ok(learn_row(&learnt, cells, &err));
  assert_ok(learn_row(&learnt, cells, &err));
  struct gpnn_table *table = open_text("k\tx\tc\nb\t7\tblue\nq\t8\tgreen\na\t\tred\n", true);
  struct gpnn_columns_map map = {0};
  struct gpnn_record record;
  size_t n_unseen = 10;
  assert_ok(gpnn_schema_match(&learnt.schema, table, &map, &err));
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_schema_encode(&learnt.schema, &map, table, &record, features, &n_unseen, &err));
  static const double first[] = {0, 1, 7, 1, 0};
  assert_memory_equal(features, first, sizeof first);
  assert_int_equal(n_unseen, 10);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_schema_encode(&learnt.schema, &map, table, &record, features, &n_unseen, &err));
  static const double second[] = {0, 0, 8, 0, 0};
  assert_memory_equal(features, second, sizeof second);
  assert_int_equal(n_unseen, 12);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_schema_encode(&learnt.schema, &map, table, &record, features, &n_unseen, &err),
               GPNN_EDATA, "t.csv:4: column 'x': missing value");
  assert_int_equal(n_unseen, 12);
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  learn_close(&learnt);
}

/* Squared distance of two rows of features, columns 'from' to 'to'. */
static double squared(const double *a, const double *b, size_t from, size_t to)
{
  double sum = 0;
  for (size_t j = from; j < to; j++) sum += (a[j] - b[j]) * (a[j] - b[j]);
  return sum;
}

/* The chord under the great circle by the haversine formula. */
static double haversine_chord(double lat1, double lon1, double lat2, double lon2)
{
  double degree = acos(-1) / 180;
  double a = pow(sin((lat2 - lat1) * degree / 2), 2) +
             cos(lat1 * degree) * cos(lat2 * degree) * pow(sin((lon2 - lon1) * degree / 2), 2);
  return 2 * 6371.0088 * sqrt(a);
}

/* Inputs day (period 7), x, and a place whose longitude comes first. */
static void open_points(struct learnt *learnt, const char *text)
{
  static const char *const period = "day=7", *const place = "lat,lon";
  const struct gpnn_roles roles = {.target = "y",
                                   .inputs = "day,lon,x,lat",
                                   .n_periods = 1,
                                   .periods = &period,
                                   .n_locations = 1,
                                   .locations = &place};
  memset(learnt, 0, sizeof *learnt);
  learnt->table = open_text(text, true);
  assert_ok(gpnn_schema_choose(&learnt->schema, learnt->table, &roles, &err));
  assert_ok(gpnn_schema_match(&learnt->schema, learnt->table, &learnt->map, &err));
}

static void points_lie_on_circle_and_globe(void **state)
{
  (void)state;
  static const double rows[][4] = {/* day, lon, x, lat */
                                   {0, 10, 5, 50},
                                   {3.5, 10.001, 5, 50},
                                   {7, -170, 6, -50},
                                   {-1.25, 359.5, 5, 89.9},
                                   {700001.75, 0.5, 0, -89.9},
                                   {2, 366.5, 1, 0},
                                   {16, -180, 2, 0},
                                   {5, 180, 2, 0},
                                   {5, 33, 2, 90},
                                   {5, -120, 2, 90}};
  enum { N = sizeof rows / sizeof *rows };
  char text[1000] = "lat,y,x,lon,day\n";
  for (size_t i = 0; i < N; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.17g,0,%.17g,%.17g,%.17g\n",
             rows[i][3], rows[i][2], rows[i][1], rows[i][0]);
  struct learnt learnt;
  double cells[4], features[N][6], again[6];
  size_t n_unseen = 0;
  open_points(&learnt, text);
  assert_int_equal(gpnn_schema_features(&learnt.schema), 6);
  for (size_t i = 0; i < N; i++) {
    struct gpnn_record record;
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_ok(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err));
    assert_memory_equal(cells, rows[i], sizeof cells);
    gpnn_schema_expand(&learnt.schema, cells, features[i]);
    assert_ok(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, again,
                                 &n_unseen, &err));
    assert_memory_equal(again, features[i], sizeof again);
    assert_near(squared(features[i], (double[6]){0}, 0, 2), 1, 1e-15);
    assert_true(features[i][2] == rows[i][2]);
  }
  for (size_t i = 0; i < N; i++)
    for (size_t k = 0; k < N; k++) {
      double turn = acos(-1) * (rows[i][0] - rows[k][0]) / 7;
      assert_near(sqrt(squared(features[i], features[k], 0, 2)), 2 * fabs(sin(turn)), 1e-9);
      double chord = haversine_chord(rows[i][3], rows[i][1], rows[k][3], rows[k][1]);
      assert_near(sqrt(squared(features[i], features[k], 3, 6)), chord, 1e-8);
    }
  assert_memory_equal(features[0], features[2], 2 * sizeof(double)); /* a week apart */
  assert_near(features[5][3], 6371.0088 * cos(6.5 * acos(-1) / 180), 1e-9);
  assert_near(features[8][5], 6371.0088, 1e-9);
  learn_close(&learnt);
}

static void names_and_groups_of_points_tell_their_columns(void **state)
{
  (void)state;
  static const char *const names[] = {"sin(day)",   "cos(day)",   "x",
                                      "x(lat,lon)", "y(lat,lon)", "z(lat,lon)"};
  static const char *const group_names[] = {"day", "day", "x", "lat,lon", "lat,lon", "lat,lon"};
  static const uint32_t groups[] = {0, 0, 1, 2, 2, 2};
  struct gpnn_feature features[7];
  char name[GPNN_MASK_BYTES];
  struct learnt learnt;
  double cells[2];
  open_points(&learnt, "lat,y,x,lon,day\n");
  assert_true(gpnn_schema_groups(&learnt.schema, features));
  for (size_t j = 0; j < 6; j++) {
    assert_string_equal(gpnn_schema_feature_name(&learnt.schema, NULL, j, name), names[j]);
    assert_string_equal(gpnn_schema_group_name(&learnt.schema, NULL, j, name), group_names[j]);
    assert_int_equal(features[j].group, groups[j]);
    assert_int_equal(features[j].has_unit, j >= 3);
  }
  learn_close(&learnt);
  learn_open(&learnt, "c,x,y\nred,1,0\nblue,2,0\n", "c");
  assert_ok(learn_row(&learnt, cells, &err));
  assert_ok(learn_row(&learnt, cells, &err));
  assert_false(gpnn_schema_groups(&learnt.schema, features));
  for (size_t j = 0; j < 3; j++) assert_int_equal(features[j].group, j);
  assert_string_equal(gpnn_schema_group_name(&learnt.schema, NULL, 1, name), "c=blue");
  learn_close(&learnt);
}

static void among_many_features_those_of_a_category_are_a_group(void **state)
{
  (void)state;
  enum { MANY = 64 };
  struct gpnn_feature features[MANY + 1];
  char table[2048] = "c,x,y\n", name[GPNN_MASK_BYTES];
  struct learnt learnt;
  double cells[2];
  for (size_t i = 0; i < MANY; i++) sprintf(table + strlen(table), "level%zu,%zu,0\n", i, i % 7);
  learn_open(&learnt, table, "c");
  for (size_t i = 0; i < MANY; i++) assert_ok(learn_row(&learnt, cells, &err));
  assert_int_equal(gpnn_schema_features(&learnt.schema), MANY + 1);
  assert_true(gpnn_schema_groups(&learnt.schema, features));
  for (size_t j = 0; j < MANY; j++) assert_int_equal(features[j].group, 0);
  assert_int_equal(features[MANY].group, 1);
  assert_string_equal(gpnn_schema_group_name(&learnt.schema, NULL, 1, name), "c");
  assert_string_equal(gpnn_schema_feature_name(&learnt.schema, NULL, 1, name), "c=level1");
  learn_close(&learnt);
}

static void names_asked_for_in_order_are_found_where_the_last_one_was(void **state)
{
  (void)state;
  static const size_t input_of[] = {0, 0, 2, 3, 3, 3}, first_of[] = {0, 0, 2, 3, 3, 3};
  static const size_t order[] = {0, 1, 2, 3, 4, 5, 5, 3, 2, 4, 0, 5};
  char name[GPNN_MASK_BYTES], alone[GPNN_MASK_BYTES];
  struct gpnn_feature_cursor at = {0};
  struct learnt learnt;
  open_points(&learnt, "lat,y,x,lon,day\n");
  assert_int_equal(gpnn_schema_features(&learnt.schema), 6);
  for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
    size_t j = order[i];
    gpnn_schema_feature_name(&learnt.schema, NULL, j, alone);
    assert_string_equal(gpnn_schema_feature_name(&learnt.schema, &at, j, name), alone);
    gpnn_schema_group_name(&learnt.schema, NULL, j, alone);
    assert_string_equal(gpnn_schema_group_name(&learnt.schema, &at, j, name), alone);
    assert_int_equal(at.input, input_of[j]);
    assert_int_equal(at.first, first_of[j]);
  }
  learn_close(&learnt);
}

static void places_off_the_globe_are_bad_values(void **state)
{
  (void)state;
  static const char *const sentences[] = {
      "t.csv:2: column 'lat': not a latitude from -90 to 90 degrees: \"90.01\"",
      "t.csv:3: column 'lat': not a latitude from -90 to 90 degrees: \"-91\"",
      "t.csv:4: column 'lon': not a longitude from -720 to 720 degrees: \"721\"",
      "t.csv:5: column 'lon': missing value", "t.csv:6: column 'lat': not a number"};
  struct learnt learnt;
  double cells[4], features[6];
  size_t n_unseen = 0;
  open_points(&learnt, "lat,y,x,lon,day\n90.01,0,1,0,1\n-91,0,1,0,1\n0,0,1,721,1\n0,0,1,,1\n"
                       "N,0,1,0,1\n-90,0,1,-720,1\n");
  struct gpnn_record record;
  for (size_t i = 0; i < 5; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_fails(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err),
                 GPNN_EDATA, sentences[i]);
    assert_fails(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, features,
                                    &n_unseen, &err),
                 GPNN_EDATA, sentences[i]);
  }
  assert_ok(learn_row(&learnt, cells, &err));
  learn_close(&learnt);
}

static void a_long_feature_name_is_cut_and_masked(void **state)
{
  (void)state;
  char text[400], name[GPNN_MASK_BYTES];
  struct learnt learnt;
  double cells[2];
  snprintf(text, sizeof text, "%0200d,\"b\tc\",y\n\"\n\",\"\n\",2\n", 7);
  learn_open(&learnt, text, "1,2");
  assert_ok(learn_row(&learnt, cells, &err));
  assert_int_equal(strlen(gpnn_schema_feature_name(&learnt.schema, NULL, 0, name)),
                   GPNN_MASK_BYTES - 1);
  assert_string_equal(name + GPNN_MASK_BYTES - 5, "0...");
  assert_string_equal(gpnn_schema_feature_name(&learnt.schema, NULL, 1, name), "b?c=?");
  learn_close(&learnt);
}

/* Reads the next row both as training does and as prediction does: the same features, bit for bit.
 */
static void assert_coded_alike(struct learnt *learnt, double *features)
{
  struct gpnn_record record;
  double cells[8], encoded[16];
  size_t n = gpnn_schema_features(&learnt->schema), n_unseen = 0;
  assert_ok(gpnn_table_next(learnt->table, &record, &err));
  assert_ok(gpnn_schema_learn(&learnt->schema, &learnt->map, learnt->table, &record, cells, &err));
  gpnn_schema_expand(&learnt->schema, cells, features);
  assert_ok(gpnn_schema_encode(&learnt->schema, &learnt->map, learnt->table, &record, encoded,
                               &n_unseen, &err));
  assert_int_equal(n_unseen, 0);
  assert_memory_equal(features, encoded, n * sizeof *features);
}

static void whole_periods_and_turns_change_nothing(void **state)
{
  (void)state;
  struct learnt learnt;
  double first[6], features[6];
  open_points(&learnt, "lat,y,x,lon,day\n10,0,1,20,1\n10,0,1,380,8\n10,0,1,-340,-6\n"
                       "10,0,1,20,7000000000000001\n");
  assert_coded_alike(&learnt, first);
  for (size_t i = 0; i < 3; i++) {
    assert_coded_alike(&learnt, features);
    assert_memory_equal(features, first, sizeof first);
  }
  learn_close(&learnt);
}

/* Learns a table of one category, whose rows are levels 'expected'. */
static void assert_levels(const char *text, const struct gpnn_notation *notation, size_t n,
                          const double *expected, const char *levels)
{
  struct gpnn_record record;
  struct learnt learnt = {.table = open_notation(text, true, notation)};
  struct gpnn_columns_map again = {0};
  double cells[1];
  char shown[200] = "";
  assert_ok(
      gpnn_schema_choose(&learnt.schema, learnt.table, &(struct gpnn_roles){.one_hot = "c"}, &err));
  assert_ok(gpnn_schema_match(&learnt.schema, learnt.table, &learnt.map, &err));
  for (size_t i = 0; i < n; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_ok(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err));
    if (cells[0] != expected[i]) fail_msg("row %zu is level %g", i, cells[0]);
  }
  struct gpnn_column *column = &learnt.schema.inputs[0];
  for (size_t l = 0; l < column->n_levels; l++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s;", column->levels[l]);
  assert_string_equal(shown, levels);
  /* Levels as an index stores them are those of the training pass. */
  assert_ok(gpnn_schema_match(&learnt.schema, learnt.table, &again, &err));
  gpnn_table_close(learnt.table);
  learnt.table = open_notation(text, true, notation);
  for (size_t i = 0; i < n; i++) {
    double features[20];
    size_t n_unseen = 0;
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_ok(gpnn_schema_encode(&learnt.schema, &again, learnt.table, &record, features, &n_unseen,
                                 &err));
    for (size_t l = 0; l < column->n_levels; l++)
      assert_true(features[l] == ((double)l == expected[i]));
    assert_int_equal(n_unseen, 0);
  }
  gpnn_columns_map_release(&again);
  learn_close(&learnt);
}

static void texts_are_told_by_their_bytes_without_blanks(void **state)
{
  (void)state;
  static const double expected[] = {0, 1, 2, 3, 4, 0, 1, 0, 5};
  assert_levels("c,y\nab,1\na,1\nabc,1\n\"\xc3\xa4\",1\nAB,1\n ab,1\na\t,1\n\"ab  \",1\n"
                "a b,1\n",
                &(struct gpnn_notation){0}, 9, expected, "ab;a;abc;\xc3\xa4;AB;a b;");
}

static void numbers_are_told_by_their_values(void **state)
{
  (void)state;
  static const double same[] = {0, 1, 0, 0, 0, 2, 2, 3, 4, 1, 5, 5, 0};
  assert_levels("c,y\n01,1\n2,1\n1.0,1\n+1,1\n 1,1\n0,1\n-0.0,1\n1x,1\n-1,1\n20e-1,1\n"
                "nan,1\nnan,1\n1,1\n",
                &(struct gpnn_notation){0}, 13, same, "01;2;0;1x;-1;nan;");
}

static void numbers_of_another_notation_are_levels_in_the_usual_one(void **state)
{
  (void)state;
  static const double expected[] = {0, 1, 0, 1};
  const struct gpnn_notation notation = {.decimal = ',', .thousands = true, .strip = "kg"};
  assert_levels("c;y\n1,5;1\n1.000;1\n1,50 kg;1\n1000;1\n", &notation, 4, expected, "1.5;1000;");
  /* What is a number only as usual, is that number. */
  static const double mixed[] = {0, 1, 2, 2, 1};
  assert_levels("c;y\n1,5;1\n1.000;1\nx;1\nx;1\n1000,0;1\n", &notation, 5, mixed, "1.5;1000;x;");
  static const double usual[] = {0, 0, 1};
  assert_levels("c;y\n1,5;1\n1.5;1\nx;1\n", &(struct gpnn_notation){.decimal = ','}, 3, usual,
                "1.5;x;");
}

/* Such indexes were written when levels were told by their bytes. */
static void levels_that_are_one_number_are_found_by_their_bytes_first(void **state)
{
  (void)state;
  static char one[] = "1", decimal[] = "1.0", padded[] = " a", plain[] = "a";
  char *levels[] = {one, decimal, padded, plain};
  size_t lengths[] = {1, 3, 2, 1};
  struct gpnn_column input = {.name = one,
                              .kind = GPNN_COLUMN_CATEGORY,
                              .n_levels = 4,
                              .levels = levels,
                              .level_lengths = lengths};
  struct gpnn_schema schema = {.n_inputs = 1, .inputs = &input, .target = {.name = plain}};
  struct gpnn_columns_map map = {0};
  struct gpnn_record record;
  schema.n_columns = 2;
  struct gpnn_table *table = open_text("1\n1\n1.0\n01\n a\na\n\"a \"\n", false);
  static const size_t expected[] = {0, 0, 1, 0, 2, 3, 2};
  assert_ok(gpnn_schema_match(&schema, table, &map, &err));
  for (size_t i = 0; i < 7; i++) {
    double features[4];
    size_t n_unseen = 0;
    assert_ok(gpnn_table_next(table, &record, &err));
    assert_ok(gpnn_schema_encode(&schema, &map, table, &record, features, &n_unseen, &err));
    for (size_t l = 0; l < 4; l++) assert_true(features[l] == (l == expected[i]));
  }
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
}

static void a_level_is_missing_as_a_number_is(void **state)
{
  (void)state;
  struct learnt learnt;
  struct gpnn_record record;
  double cells[2];
  learn_open_notation(&learnt, "c,x,y\nNA,1,0\n-999,1,0\n-999.0,1,0\n,1,0\n", "c", "-999");
  assert_ok(gpnn_table_next(learnt.table, &record, &err));
  assert_ok(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells,
                              &err)); /* "NA" is a level where something else means missing */
  for (size_t i = 3; i < 6; i++) {
    char sentence[60];
    snprintf(sentence, sizeof sentence, "t.csv:%zu: column 'c': missing value", i);
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_fails(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err),
                 GPNN_EDATA, sentence);
  }
  assert_int_equal(learnt.schema.inputs[0].n_levels, 1);
  learn_close(&learnt);
}

static void numbers_at_their_limits_are_kept_and_beyond_are_refused(void **state)
{
  (void)state;
  struct learnt learnt;
  double cells[2];
  learn_open(&learnt, "a,b,y\n1.7976931348623157e308,-4.9e-324,0\n-0,1e309,0\n", NULL);
  assert_ok(learn_row(&learnt, cells, &err));
  assert_true(cells[0] == 1.7976931348623157e308 && cells[1] == -4.9e-324);
  assert_fails(learn_row(&learnt, cells, &err), GPNN_EDATA,
               "t.csv:3: column 'b': not a finite number: \"1e309\"");
  learn_close(&learnt);
}

static void noise_is_a_variance_or_none(void **state)
{
  (void)state;
  struct learnt learnt = {0};
  struct gpnn_record record;
  double variance = 7;
  learnt.table = open_text("a,v,y\n1,0.25,0\n1,0,0\n1,-1e-9,0\n1,,0\n1,x,0\n", true);
  assert_ok(gpnn_schema_choose(&learnt.schema, learnt.table, &(struct gpnn_roles){.row_noise = "v"},
                               &err));
  assert_ok(gpnn_schema_match(&learnt.schema, learnt.table, &learnt.map, &err));
  assert_int_equal(learnt.schema.n_inputs, 1);
  static const double expected[] = {0.25, 0};
  for (size_t i = 0; i < 2; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_ok(gpnn_schema_noise(&learnt.map, learnt.table, &record, &variance, &err));
    assert_true(variance == expected[i]);
  }
  static const char *const sentences[] = {"t.csv:4: column 'v': a negative variance: \"-1e-9\"",
                                          "t.csv:5: column 'v': missing value",
                                          "t.csv:6: column 'v': not a number: \"x\""};
  variance = 7;
  for (size_t i = 0; i < 3; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_fails(gpnn_schema_noise(&learnt.map, learnt.table, &record, &variance, &err), GPNN_EDATA,
                 sentences[i]);
    assert_true(variance == 7);
  }
  learn_close(&learnt);
}

static void a_table_without_the_noise_column_has_no_noise(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_columns_map map = {0};
  struct gpnn_record record;
  double variance = 7;
  struct gpnn_table *table = open_text("a,v,y\n", true);
  assert_ok(gpnn_schema_choose(&schema, table, &(struct gpnn_roles){.row_noise = "v"}, &err));
  gpnn_table_close(table);
  table = open_text("a\n1\n", true);
  assert_ok(gpnn_schema_match(&schema, table, &map, &err));
  assert_false(map.has_noise);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(gpnn_schema_noise(&map, table, &record, &variance, &err));
  assert_true(variance == 0);
  gpnn_columns_map_release(&map);
  gpnn_schema_release(&schema);
  gpnn_table_close(table);
}

static void dates_are_days_and_go_round_in_their_periods(void **state)
{
  (void)state;
  static const char *const date = "d=%d/%m/%Y %H:%M", *const period = "d=day,d=week";
  const struct gpnn_roles roles = {.target = "y",
                                   .inputs = "d,x",
                                   .regressors = "d",
                                   .n_dates = 1,
                                   .dates = &date,
                                   .n_periods = 1,
                                   .periods = &period};
  struct learnt learnt = {0};
  struct gpnn_record record;
  double cells[4], features[6], again[6], trend;
  size_t n_unseen = 0;
  learnt.table = open_text("x,d,y\n5,02/01/1970 18:00,1\n6,31/12/1969 00:00,2\n", true);
  assert_ok(gpnn_schema_choose(&learnt.schema, learnt.table, &roles, &err));
  assert_ok(gpnn_schema_match(&learnt.schema, learnt.table, &learnt.map, &err));
  assert_int_equal(gpnn_schema_features(&learnt.schema), 6);
  static const double days[] = {1.75, -1};
  for (size_t i = 0; i < 2; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_ok(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err));
    for (size_t k = 0; k < 3; k++) assert_true(cells[k] == days[i]);
    gpnn_schema_expand(&learnt.schema, cells, features);
    assert_ok(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, again,
                                 &n_unseen, &err));
    assert_memory_equal(again, features, sizeof again);
    assert_true(features[0] == days[i] && features[5] == 5 + (double)i);
    double day = 2 * acos(-1) * days[i], week = day / 7;
    const double expected[] = {sin(day), cos(day), sin(week), cos(week)};
    for (size_t j = 0; j < 4; j++) assert_near(features[1 + j], expected[j], 1e-15);
    assert_ok(gpnn_schema_read_regressors(&learnt.schema, &learnt.map, learnt.table, &record,
                                          &trend, &err));
    assert_true(trend == days[i]);
  }
  learn_close(&learnt);
}

static void bad_dates_are_refused_with_their_format(void **state)
{
  (void)state;
  static const char *const dates[] = {"d=%d/%m/%Y", "iso"};
  static const char *const text = "d,iso,y\n"
                                  "30/02/2014,2014-05-02,1\n"
                                  "2014-05-02,2014-05-02,1\n"
                                  "NA,2014-05-02,1\n"
                                  "01/02/2014,01/02/2014,1\n";
  static const char *const sentences[] = {
      "t.csv:2: column 'd': no such date or time: \"30/02/2014\"",
      "t.csv:3: column 'd': not a date: \"2014-05-02\" (expected %d/%m/%Y)",
      "t.csv:4: column 'd': missing value",
      "t.csv:5: column 'iso': not a date: \"01/02/2014\" (expected ISO 8601, as in 2014-05-02)"};
  struct learnt learnt = {0};
  struct gpnn_record record;
  struct gpnn_error why = {0};
  double cells[2];
  size_t n_unseen = 0;
  learnt.table = open_text(text, true);
  assert_ok(gpnn_schema_choose(&learnt.schema, learnt.table,
                               &(struct gpnn_roles){.n_dates = 2, .dates = dates}, &err));
  assert_ok(gpnn_schema_match(&learnt.schema, learnt.table, &learnt.map, &err));
  for (size_t i = 0; i < 4; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_fails(gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, cells, &err),
                 GPNN_EDATA, sentences[i]);
    assert_fails(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, cells,
                                    &n_unseen, &err),
                 GPNN_EDATA, sentences[i]);
    assert_int_equal(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, cells,
                                        &n_unseen, &why),
                     GPNN_EDATA);
    assert_non_null(why.what); /* for the report of rows left out */
    assert_int_equal(why.column, i == 3);
  }
  learn_close(&learnt);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_are_numbered_as_first_seen),
      cmocka_unit_test(a_bad_row_adds_no_levels),
      cmocka_unit_test(a_thousand_levels_are_all_found_again_and_no_more_taken),
      cmocka_unit_test(prediction_rows_are_coded_as_training_rows_and_unseen_levels_counted),
      cmocka_unit_test(points_lie_on_circle_and_globe),
      cmocka_unit_test(names_and_groups_of_points_tell_their_columns),
      cmocka_unit_test(among_many_features_those_of_a_category_are_a_group),
      cmocka_unit_test(names_asked_for_in_order_are_found_where_the_last_one_was),
      cmocka_unit_test(places_off_the_globe_are_bad_values),
      cmocka_unit_test(a_long_feature_name_is_cut_and_masked),
      cmocka_unit_test(whole_periods_and_turns_change_nothing),
      cmocka_unit_test(texts_are_told_by_their_bytes_without_blanks),
      cmocka_unit_test(numbers_are_told_by_their_values),
      cmocka_unit_test(numbers_of_another_notation_are_levels_in_the_usual_one),
      cmocka_unit_test(levels_that_are_one_number_are_found_by_their_bytes_first),
      cmocka_unit_test(a_level_is_missing_as_a_number_is),
      cmocka_unit_test(numbers_at_their_limits_are_kept_and_beyond_are_refused),
      cmocka_unit_test(noise_is_a_variance_or_none),
      cmocka_unit_test(a_table_without_the_noise_column_has_no_noise),
      cmocka_unit_test(dates_are_days_and_go_round_in_their_periods),
      cmocka_unit_test(bad_dates_are_refused_with_their_format),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
