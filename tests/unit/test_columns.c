/* Roles of columns, schemas matched with later tables, rows as numbers. */
#include "scratch.h"
#include "table/columns.h"
#include "table/schema.h"

static struct gpnn_table *open_text(const char *text, bool has_header)
{
  struct gpnn_table *table = NULL;
  struct gpnn_table_options options = {0, has_header};
  assert_ok(gpnn_table_open(&table, scratch_text("t.csv", text), &options, &err));
  return table;
}

static void assert_finds(const struct gpnn_table *table, const char *wanted, size_t expected)
{
  size_t column = 99;
  assert_ok(gpnn_columns_find(table, wanted, &column, &err));
  if (column != expected) fail_msg("'%s' is column %zu, not %zu", wanted, column, expected);
}

static void assert_lists(const struct gpnn_table *table, const char *list, const char *expected)
{
  size_t *columns, n;
  char shown[200] = "";
  assert_ok(gpnn_columns_find_list(table, list, &columns, &n, &err));
  for (size_t i = 0; i < n; i++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%zu ", columns[i]);
  free(columns);
  assert_string_equal(shown, expected);
}

static void a_column_is_found_by_name_before_number(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("b,2,a,1-3,\n", true);
  assert_finds(table, "a", 2);
  assert_finds(table, "2", 1);
  assert_finds(table, "1", 0);
  assert_finds(table, "5", 4);
  assert_finds(table, "1-3", 3);
  assert_finds(table, "", 4);
  gpnn_table_close(table);
}

static void an_unknown_column_is_refused_with_a_near_name(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("latitude,longitude,Price\n", true);
  size_t column = 99;
  assert_fails(gpnn_columns_find(table, "lattitude", &column, &err), GPNN_EINVAL,
               "t.csv: no column 'lattitude' (did you mean 'latitude'?)");
  assert_fails(gpnn_columns_find(table, "price", &column, &err), GPNN_EINVAL, "mean 'Price'?");
  assert_fails(gpnn_columns_find(table, "zebra", &column, &err), GPNN_EINVAL,
               "t.csv: no column 'zebra': there are 3 columns");
  assert_fails(gpnn_columns_find(table, "4", &column, &err), GPNN_EINVAL, "there are 3 columns");
  assert_fails(gpnn_columns_find(table, "0", &column, &err), GPNN_EINVAL, "no column '0'");
  assert_fails(gpnn_columns_find(table, "1-2", &column, &err), GPNN_EINVAL, "no column '1-2'");
  assert_fails(gpnn_columns_find(table, "a\033[1m", &column, &err), GPNN_EINVAL, "'a?[1m'");
  assert_int_equal(column, 99);
  gpnn_table_close(table);
  char text[1000];
  snprintf(text, sizeof text, "%0500d,b\n", 7); /* a name too long to be compared */
  table = open_text(text, true);
  text[400] = '\0';
  assert_fails(gpnn_columns_find(table, text + 1, &column, &err), GPNN_EINVAL, "0...'");
  assert_fails(gpnn_columns_find(table, "x7", &column, &err), GPNN_EINVAL, "there are 2 columns");
  gpnn_table_close(table);
  table = open_text("1,2\n", false);
  assert_fails(gpnn_columns_find(table, "x", &column, &err), GPNN_EINVAL,
               "no column 'x': there are 2 columns");
  gpnn_table_close(table);
}

static void a_name_that_occurs_twice_is_refused(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("x,y,x\n", true);
  size_t column;
  assert_fails(gpnn_columns_find(table, "x", &column, &err), GPNN_EINVAL,
               "t.csv: 2 columns are named 'x'");
  assert_finds(table, "3", 2);
  gpnn_table_close(table);
}

static void a_list_keeps_the_order_asked(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("a,b,c,d,2-3\n", true);
  assert_lists(table, "c,a", "2 0 ");
  assert_lists(table, "4,1-2,c", "3 0 1 2 ");
  assert_lists(table, "2-3", "4 ");
  assert_lists(table, "3-3", "2 ");
  assert_lists(table, "1-5", "0 1 2 3 4 ");
  gpnn_table_close(table);
}

static void a_bad_list_is_refused(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("a,b,c,d\n", true);
  static const char *const unknown[] = {"",   "a,", ",a",   "3-2", "1-9",   "0-2",
                                        "-2", "2-", "1--2", "a-c", "1-2-3", "a, b"};
  size_t *columns = NULL, n;
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
    assert_fails(gpnn_columns_find_list(table, unknown[i], &columns, &n, &err), GPNN_EINVAL,
                 "t.csv: no column '");
  assert_fails(gpnn_columns_find_list(table, "a,1", &columns, &n, &err), GPNN_EINVAL,
               "column 'a' is asked for twice");
  assert_fails(gpnn_columns_find_list(table, "1-3,b", &columns, &n, &err), GPNN_EINVAL,
               "column 'b' is asked for twice");
  assert_null(columns);
  gpnn_table_close(table);
}

/* "target<inputs", categories marked by a star. */
static void assert_chooses(const struct gpnn_table *table, const struct gpnn_roles *roles,
                           const char *expected)
{
  struct gpnn_schema schema = {0};
  char shown[200];
  assert_ok(gpnn_schema_choose(&schema, table, roles, &err));
  snprintf(shown, sizeof shown, "%s<", schema.target.name);
  for (size_t i = 0; i < schema.n_inputs; i++)
    snprintf(shown + strlen(shown), sizeof shown - strlen(shown), "%s%s%s", i == 0 ? "" : ",",
             schema.inputs[i].name, schema.inputs[i].kind == GPNN_COLUMN_CATEGORY ? "*" : "");
  assert_string_equal(shown, expected);
  for (size_t i = 0; i < schema.n_inputs; i++)
    assert_string_equal(gpnn_table_column(table, schema.inputs[i].position), schema.inputs[i].name);
  assert_string_equal(gpnn_table_column(table, schema.target.position), schema.target.name);
  assert_int_equal(schema.n_columns, gpnn_table_columns(table));
  gpnn_schema_release(&schema);
  gpnn_schema_release(&schema);
}

static void roles_are_chosen_as_asked(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("a,b,c,d\n", true);
  assert_chooses(table, &(struct gpnn_roles){0}, "d<a,b,c");
  assert_chooses(table, &(struct gpnn_roles){.target = "b"}, "b<a,c,d");
  assert_chooses(table, &(struct gpnn_roles){.target = "1", .inputs = "d,b"}, "a<d,b");
  assert_chooses(table, &(struct gpnn_roles){.drop = "2"}, "d<a,c");
  assert_chooses(table, &(struct gpnn_roles){.inputs = "1-3", .drop = "b"}, "d<a,c");
  assert_chooses(table, &(struct gpnn_roles){.one_hot = "c,a"}, "d<a*,b,c*");
  gpnn_table_close(table);
  table = open_text("1,2,3\n", false);
  assert_chooses(table, &(struct gpnn_roles){.target = "2"}, "2<1,3");
  gpnn_table_close(table);
}

static void assert_refuses(const char *text, const struct gpnn_roles *roles, const char *sentence)
{
  struct gpnn_table *table = open_text(text, true);
  struct gpnn_schema schema = {0}, empty = {0};
  assert_fails(gpnn_schema_choose(&schema, table, roles, &err), GPNN_EINVAL, sentence);
  assert_memory_equal(&schema, &empty, sizeof schema);
  gpnn_table_close(table);
}

static void roles_that_contradict_each_other_are_refused(void **state)
{
  (void)state;
  assert_refuses("a\n", &(struct gpnn_roles){0}, "t.csv: has one column, but");
  assert_refuses("a,b\n", &(struct gpnn_roles){.target = "c"}, "no column 'c'");
  assert_refuses("a,b\n", &(struct gpnn_roles){.target = "a", .inputs = "a,b"},
                 "column 'a' is both target and input");
  assert_refuses("a,b\n", &(struct gpnn_roles){.drop = "b"}, "column 'b' is the target and");
  assert_refuses("a,b\n", &(struct gpnn_roles){.drop = "a"}, "t.csv: no input is left");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.one_hot = "c"}, "column 'c' is no input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.drop = "a", .one_hot = "a"}, "'a' is no input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.inputs = "a,q"}, "no column 'q'");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.one_hot = "q"}, "no column 'q'");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.target = "c,c"}, "'c' is asked for twice");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.target = "c,b", .inputs = "a,b"},
                 "'b' is both target and input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.target = "1-3"}, "no input is left");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.regressors = "c"},
                 "'c' is both target and regressor");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.row_noise = "c"}, "'c' is the target");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.row_noise = "b", .inputs = "a,b"},
                 "'b' is both row noise and input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.row_noise = "a,b"}, "no column 'a,b'");
  assert_refuses("a,b,c\n",
                 &(struct gpnn_roles){.regressors = "a", .inputs = "a,b", .one_hot = "a"},
                 "'a' is a regressor");
}

static void assert_refuses_kind(const char *period, const char *place, const char *one_hot,
                                const char *sentence)
{
  struct gpnn_roles roles = {.one_hot = one_hot, .drop = "z"};
  roles.periods = &period;
  roles.n_periods = period != NULL;
  roles.places = &place;
  roles.n_places = place != NULL;
  assert_refuses("a,b,c,z,y\n", &roles, sentence);
}

static void points_that_cannot_be_are_refused(void **state)
{
  (void)state;
  assert_refuses_kind("q=3", NULL, NULL, "no column 'q'");
  assert_refuses_kind("y=3", NULL, NULL, "column 'y' is no input");
  assert_refuses_kind("z=3", NULL, NULL, "column 'z' is no input");
  assert_refuses_kind("a=3", NULL, "a", "column 'a' is a category");
  assert_refuses_kind("a=3,a=4", NULL, NULL, "column 'a' has a period already");
  static const char *const bad[] = {"a=0", "a=-1", "a=", "a=day", "a=inf", "a=nan", "b=1,a=1 h"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_refuses_kind(bad[i], NULL, NULL, "a period is a number above 0");
  assert_refuses_kind("a", NULL, NULL, "period 'a': not of the form COL=P");
  assert_refuses_kind("a=1,", NULL, NULL, "period '': not of the form");
  assert_refuses_kind(NULL, "a", NULL, "needs two columns, latitude and longitude, not 1");
  assert_refuses_kind(NULL, "1-3", NULL, "not 3");
  assert_refuses_kind(NULL, "a,a", NULL, "column 'a' is asked for twice");
  assert_refuses_kind(NULL, "a,y", NULL, "column 'y' is no input");
  assert_refuses_kind(NULL, "a,b", "b", "column 'b' is a category");
  assert_refuses_kind("b=1", "a,b", NULL, "column 'b' has a period already");
}

static void a_repeated_name_may_have_no_role(void **state)
{
  (void)state;
  assert_refuses("a,b,a,c\n", &(struct gpnn_roles){0}, "2 columns are named 'a'");
  assert_refuses("a,b,a,c\n", &(struct gpnn_roles){.drop = "1"}, "2 columns are named 'a'");
  assert_refuses("a,b,a,a\n", &(struct gpnn_roles){.inputs = "b"}, "3 columns are named 'a'");
  struct gpnn_table *table = open_text("a,b,a,c\n", true);
  assert_chooses(table, &(struct gpnn_roles){.drop = "1,3"}, "c<b");
  gpnn_table_close(table);
}

/* Inputs with their kinds: '*' category, '~' periodic, '^' latitude, '>' longitude. */
static void show_roles(const struct gpnn_schema *schema, char shown[200])
{
  static const char mark[] = " *~^>";
  int n = snprintf(shown, 200, "%s", schema->target.name);
  for (size_t t = 0; t < schema->n_more; t++)
    n += snprintf(shown + n, 200 - (size_t)n, ",%s", schema->more[t].name);
  n += snprintf(shown + n, 200 - (size_t)n, "<");
  for (size_t i = 0; i < schema->n_inputs; i++)
    n += snprintf(shown + n, 200 - (size_t)n, "%s%c", schema->inputs[i].name,
                  mark[schema->inputs[i].kind]);
  n += snprintf(shown + n, 200 - (size_t)n, "|");
  for (size_t j = 0; j < schema->n_regressors; j++)
    n += snprintf(shown + n, 200 - (size_t)n, "%s ", schema->regressors[j].name);
  snprintf(shown + n, 200 - (size_t)n, "|%s", schema->has_noise ? schema->noise.name : "");
}

static void all_roles_are_chosen_as_asked(void **state)
{
  (void)state;
  static const char *const periods[] = {"hour=24,doy=365.25", "a=b=1e2"};
  static const char *const places[] = {"lat,lon"};
  static const char text[] = "lon,hour,p,doy,q,a=b,lat,var\n";
  struct gpnn_roles roles = {.target = "p,q", .regressors = "lat,var", .row_noise = "8"};
  struct gpnn_schema schema = {0};
  char shown[200];
  struct gpnn_table *table = open_text(text, true);
  assert_fails(gpnn_schema_choose(&schema, table, &roles, &err), GPNN_EINVAL,
               "column 'var' is both regressor and row noise");
  roles.regressors = "lat";
  assert_ok(gpnn_schema_choose(&schema, table, &roles, &err));
  show_roles(&schema, shown);
  assert_string_equal(shown, "p,q<lon hour doy a=b |lat |var");
  gpnn_schema_release(&schema);
  roles.inputs = "doy,lon,hour,lat,a=b";
  roles.periods = periods;
  roles.n_periods = 2;
  roles.places = places;
  roles.n_places = 1;
  assert_ok(gpnn_schema_choose(&schema, table, &roles, &err));
  show_roles(&schema, shown);
  assert_string_equal(shown, "p,q<doy~lon>hour~lat^a=b~|lat |var");
  assert_true(schema.inputs[0].period == 365.25 && schema.inputs[2].period == 24 &&
              schema.inputs[4].period == 100);
  assert_int_equal(schema.inputs[1].partner, 3);
  assert_int_equal(schema.inputs[3].partner, 1);
  gpnn_schema_release(&schema);
  gpnn_table_close(table);
}

/* "target<inputs" as columns of the table, '-' for no target. */
static enum gpnn_status show_match(const struct gpnn_schema *schema, const char *text,
                                   bool has_header, char shown[100], struct gpnn_error *err)
{
  struct gpnn_table *table = open_text(text, has_header);
  struct gpnn_columns_map map = {0};
  enum gpnn_status status = gpnn_schema_match(schema, table, &map, err);
  if (status == GPNN_OK) {
    int n = map.has_target ? snprintf(shown, 100, "%zu<", map.target) : snprintf(shown, 100, "-<");
    for (size_t i = 0; i < schema->n_inputs; i++)
      n += snprintf(shown + n, 100 - (size_t)n, " %zu", map.inputs[i]);
  }
  gpnn_columns_map_release(&map);
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  return status;
}

static void choose_from(struct gpnn_schema *schema, const char *text, bool has_header,
                        const struct gpnn_roles *roles)
{
  struct gpnn_table *table = open_text(text, has_header);
  assert_ok(gpnn_schema_choose(schema, table, roles, &err));
  gpnn_table_close(table);
}

static void inputs_are_matched_by_name_in_any_order(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  char shown[100];
  choose_from(&schema, "a,b,c,y\n", true, &(struct gpnn_roles){.inputs = "c,a"});
  assert_ok(show_match(&schema, "a,b,c,y\n", true, shown, &err));
  assert_string_equal(shown, "3< 2 0");
  assert_ok(show_match(&schema, "z,y,a,z,c\n", true, shown, &err));
  assert_string_equal(shown, "1< 4 2");
  assert_ok(show_match(&schema, "a;c\n", true, shown, &err));
  assert_string_equal(shown, "-< 1 0");
  assert_fails(show_match(&schema, "b,y\n", true, shown, &err), GPNN_EMISMATCH,
               "t.csv: lacks 2 of 2 input columns: 'c', 'a'");
  assert_fails(show_match(&schema, "c,y\n", true, shown, &err), GPNN_EMISMATCH,
               "t.csv: lacks 1 of 2 input columns: 'a'");
  assert_fails(show_match(&schema, "a,c,a\n", true, shown, &err), GPNN_EMISMATCH,
               "2 columns are named 'a'");
  gpnn_schema_release(&schema);
}

static void without_names_inputs_are_matched_by_position(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  char shown[100];
  choose_from(&schema, "a,b,c,y\n", true, &(struct gpnn_roles){.target = "b", .inputs = "4,1"});
  assert_ok(show_match(&schema, "1,2,3,4\n", false, shown, &err));
  assert_string_equal(shown, "1< 3 0");
  assert_ok(show_match(&schema, "1,2\n", false, shown, &err));
  assert_string_equal(shown, "-< 0 1");
  assert_fails(show_match(&schema, "1,2,3\n", false, shown, &err), GPNN_EMISMATCH,
               "t.csv: has 3 columns; without names it must have the 4 of the training table");
  gpnn_schema_release(&schema);
  choose_from(&schema, "1,2,3\n", false, &(struct gpnn_roles){0});
  assert_ok(show_match(&schema, "q,r,s\n", true, shown, &err));
  assert_string_equal(shown, "2< 0 1");
  gpnn_schema_release(&schema);
}

/* "targets|regressors|noise" as columns, '-' where there is none. */
static void show_others(const struct gpnn_schema *schema, const char *text, bool has_header,
                        bool needs_regressors, const char *expected)
{
  struct gpnn_table *table = open_text(text, has_header);
  struct gpnn_columns_map map = {0};
  char shown[100] = "";
  assert_ok(gpnn_schema_match(schema, table, &map, &err));
  size_t columns[] = {map.target, map.more[0], map.regressors[0], map.regressors[1], map.noise};
  for (size_t i = 0; i < 5; i++)
    strcat(shown, columns[i] == SIZE_MAX ? "-" : (char[]){(char)('0' + columns[i]), '\0'});
  assert_string_equal(shown, expected);
  assert_int_equal(map.has_target, map.target != SIZE_MAX);
  assert_int_equal(map.has_noise, map.noise != SIZE_MAX);
  if (needs_regressors)
    assert_fails(gpnn_schema_need_regressors(schema, &map, table, &err), GPNN_EMISMATCH,
                 "t.csv: lacks 1 of 2 regressor columns: 's'");
  else if (map.regressors[1] != SIZE_MAX)
    assert_ok(gpnn_schema_need_regressors(schema, &map, table, &err));
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
}

static void columns_other_than_inputs_are_matched_where_they_are(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_roles roles = {
      .target = "y,z", .inputs = "a,r", .regressors = "r,s", .row_noise = "v"};
  char shown[100];
  choose_from(&schema, "a,r,s,v,y,z\n", true, &roles);
  show_others(&schema, "a,r,s,v,y,z\n", true, false, "45123");
  show_others(&schema, "z,v,r,a,s\n", true, false, "-0241");
  show_others(&schema, "a,r\n", true, true, "--1--");
  show_others(&schema, "a,r,y\n", true, true, "2-1--");
  show_others(&schema, "1,2,3,4,5,6\n", false, false, "45123");
  show_others(&schema, "1,2\n", false, false, "-----");
  assert_fails(show_match(&schema, "a,r,s,s\n", true, shown, &err), GPNN_EMISMATCH,
               "2 columns are named 's'");
  assert_fails(show_match(&schema, "s,z\n", true, shown, &err), GPNN_EMISMATCH,
               "lacks 2 of 2 input columns: 'a', 'r'");
  gpnn_schema_release(&schema);
}

static void many_missing_inputs_are_cut_short(void **state)
{
  (void)state;
  char text[4000] = "";
  for (int i = 0; i < 100; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "a_rather_long_name_%d,", i);
  strcat(text, "y\n");
  struct gpnn_schema schema = {0};
  char shown[100];
  choose_from(&schema, text, true, &(struct gpnn_roles){0});
  assert_fails(show_match(&schema, "b,y\n", true, shown, &err), GPNN_EMISMATCH,
               "lacks 100 of 100 input columns: 'a_rather_long_name_0', 'a_rather_long_name_1', ");
  assert_fails(show_match(&schema, "b,y\n", true, shown, &err), GPNN_EMISMATCH, "', ...");
  gpnn_schema_release(&schema);
}

static void missing_values_are_empty_or_as_named(void **state)
{
  (void)state;
  static const struct {
    const char *text, *na;
    bool missing;
  } cases[] = {{"", "NA", true},
               {"NA", "NA", true},
               {"na", "NA", false},
               {"NAN", "NA", false},
               {"N", "NA", false},
               {" NA\t", "NA", true},
               {"  ", "NA", true},
               {"NA", NULL, false},
               {"", NULL, true},
               {"-99999", "-99999", true},
               {"-99999.0", "-99999", true},
               {" -9.9999e4 ", "-99999", true},
               {"-99998", "-99999", false},
               {"+5", "5", true},
               {".5", "0.5", true},
               {"0.50", ".5", true},
               {"05", "5", true},
               {"100000", "1e+05", true},
               {"5x", "5", false},
               {"5", "5x", false},
               {"0", "NA", false},
               {"nan", "nan", true},
               {"-", "-", true},
               {"-0", "0", true},
               {"-1", "-", false},
               {"-999", "-999", true},
               {"0", "", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct gpnn_field field = {cases[i].text, strlen(cases[i].text)};
    if (gpnn_field_is_missing(&field, cases[i].na) != cases[i].missing)
      fail_msg("\"%s\" is taken wrongly", cases[i].text);
  }
}

static void a_bad_number_is_named_with_its_place(void **state)
{
  (void)state;
  struct gpnn_table *table =
      open_text("lat,b,c,d,e\n\nabc,,inf, 2.5 ,-999\n\"a\"\"\nb\",NA,1e999,nan,1\n", true);
  struct gpnn_record record;
  double value = 99;
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 0, "-999", &value, &err), GPNN_EDATA,
               "t.csv:3: column 'lat': not a number: \"abc\"");
  assert_fails(gpnn_columns_number(table, &record, 1, "-999", &value, &err), GPNN_EDATA,
               "t.csv:3: column 'b': missing value");
  assert_fails(gpnn_columns_number(table, &record, 2, "-999", &value, &err), GPNN_EDATA,
               "t.csv:3: column 'c': not a finite number: \"inf\"");
  assert_fails(gpnn_columns_number(table, &record, 4, "-999", &value, &err), GPNN_EDATA,
               "t.csv:3: column 'e': missing value");
  assert_true(value == 99);
  assert_ok(gpnn_columns_number(table, &record, 3, "-999", &value, &err));
  assert_true(value == 2.5);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(gpnn_columns_number(table, &record, 0, NULL, &value, &err), GPNN_EDATA,
               "t.csv:4: column 'lat': not a number: \"a\"?b\"");
  assert_fails(gpnn_columns_number(table, &record, 1, NULL, &value, &err), GPNN_EDATA,
               "t.csv:4: column 'b': not a number: \"NA\"");
  assert_fails(gpnn_columns_number(table, &record, 2, NULL, &value, &err), GPNN_EDATA,
               "not a finite number: \"1e999\"");
  gpnn_table_close(table);
}

/* A schema with two categories, what it learns from its own table, and that table's cells. */
struct learnt {
  struct gpnn_schema schema;
  struct gpnn_columns_map map;
  struct gpnn_table *table;
};

static void learn_open(struct learnt *learnt, const char *text, const char *one_hot)
{
  *learnt = (struct learnt){0};
  learnt->table = open_text(text, true);
  struct gpnn_roles roles = {.one_hot = one_hot};
  assert_ok(gpnn_schema_choose(&learnt->schema, learnt->table, &roles, &err));
  assert_ok(gpnn_schema_match(&learnt->schema, learnt->table, &learnt->map, &err));
}

static enum gpnn_status learn_row(struct learnt *learnt, double *cells, struct gpnn_error *err)
{
  struct gpnn_record record;
  enum gpnn_status status = gpnn_table_next(learnt->table, &record, err);
  if (status != GPNN_OK) return status;
  return gpnn_schema_learn(&learnt->schema, &learnt->map, learnt->table, &record, "NA", cells, err);
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
  learn_open(&learnt, "c,x,k,y\nred,1,b,0\nblue,2,a,0\nred,3,b,0\nred ,4,aa,0\nblue,5,a,0\n",
             "c,k");
  static const double expected[5][3] = {{0, 1, 0}, {1, 2, 1}, {0, 3, 0}, {2, 4, 2}, {1, 5, 1}};
  double cells[3], features[7];
  for (size_t i = 0; i < 5; i++) {
    assert_ok(learn_row(&learnt, cells, &err));
    for (size_t j = 0; j < 3; j++) assert_true(cells[j] == expected[i][j]);
  }
  assert_int_equal(learnt.schema.inputs[0].n_levels, 3);
  assert_string_equal(learnt.schema.inputs[0].levels[1], "blue");
  assert_int_equal(learnt.schema.inputs[0].level_lengths[2], 4);
  assert_int_equal(gpnn_schema_features(&learnt.schema), 7);
  gpnn_schema_expand(&learnt.schema, cells, features);
  static const double last[] = {0, 1, 0, 5, 0, 1, 0};
  assert_memory_equal(features, last, sizeof last);
  char name[GPNN_MASK_BYTES];
  static const char *const names[] = {"c=red", "c=blue", "c=red ", "x", "k=b", "k=a", "k=aa"};
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
  assert_ok(
      gpnn_schema_encode(&learnt.schema, &map, table, &record, "NA", features, &n_unseen, &err));
  static const double first[] = {0, 1, 7, 1, 0};
  assert_memory_equal(features, first, sizeof first);
  assert_int_equal(n_unseen, 10);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_ok(
      gpnn_schema_encode(&learnt.schema, &map, table, &record, "NA", features, &n_unseen, &err));
  static const double second[] = {0, 0, 8, 0, 0};
  assert_memory_equal(features, second, sizeof second);
  assert_int_equal(n_unseen, 12);
  assert_ok(gpnn_table_next(table, &record, &err));
  assert_fails(
      gpnn_schema_encode(&learnt.schema, &map, table, &record, "NA", features, &n_unseen, &err),
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
                                   .n_places = 1,
                                   .places = &place};
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
    assert_ok(
        gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, "NA", cells, &err));
    assert_memory_equal(cells, rows[i], sizeof cells);
    gpnn_schema_expand(&learnt.schema, cells, features[i]);
    assert_ok(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, "NA", again,
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
      "t.csv:2: column 'lat': a latitude is from -90 to 90 degrees: \"90.01\"",
      "t.csv:3: column 'lat': a latitude is from -90 to 90 degrees: \"-91\"",
      "t.csv:4: column 'lon': a longitude is from -720 to 720 degrees: \"721\"",
      "t.csv:5: column 'lon': missing value", "t.csv:6: column 'lat': not a number"};
  struct learnt learnt;
  double cells[4], features[6];
  size_t n_unseen = 0;
  open_points(&learnt, "lat,y,x,lon,day\n90.01,0,1,0,1\n-91,0,1,0,1\n0,0,1,721,1\n0,0,1,,1\n"
                       "N,0,1,0,1\n-90,0,1,-720,1\n");
  struct gpnn_record record;
  for (size_t i = 0; i < 5; i++) {
    assert_ok(gpnn_table_next(learnt.table, &record, &err));
    assert_fails(
        gpnn_schema_learn(&learnt.schema, &learnt.map, learnt.table, &record, "NA", cells, &err),
        GPNN_EDATA, sentences[i]);
    assert_fails(gpnn_schema_encode(&learnt.schema, &learnt.map, learnt.table, &record, "NA",
                                    features, &n_unseen, &err),
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

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_column_is_found_by_name_before_number),
      cmocka_unit_test(an_unknown_column_is_refused_with_a_near_name),
      cmocka_unit_test(a_name_that_occurs_twice_is_refused),
      cmocka_unit_test(a_list_keeps_the_order_asked),
      cmocka_unit_test(a_bad_list_is_refused),
      cmocka_unit_test(roles_are_chosen_as_asked),
      cmocka_unit_test(all_roles_are_chosen_as_asked),
      cmocka_unit_test(points_that_cannot_be_are_refused),
      cmocka_unit_test(roles_that_contradict_each_other_are_refused),
      cmocka_unit_test(a_repeated_name_may_have_no_role),
      cmocka_unit_test(inputs_are_matched_by_name_in_any_order),
      cmocka_unit_test(without_names_inputs_are_matched_by_position),
      cmocka_unit_test(columns_other_than_inputs_are_matched_where_they_are),
      cmocka_unit_test(many_missing_inputs_are_cut_short),
      cmocka_unit_test(missing_values_are_empty_or_as_named),
      cmocka_unit_test(a_bad_number_is_named_with_its_place),
      cmocka_unit_test(levels_are_numbered_as_first_seen),
      cmocka_unit_test(a_bad_row_adds_no_levels),
      cmocka_unit_test(a_thousand_levels_are_all_found_again_and_no_more_taken),
      cmocka_unit_test(prediction_rows_are_coded_as_training_rows_and_unseen_levels_counted),
      cmocka_unit_test(points_lie_on_circle_and_globe),
      cmocka_unit_test(names_and_groups_of_points_tell_their_columns),
      cmocka_unit_test(names_asked_for_in_order_are_found_where_the_last_one_was),
      cmocka_unit_test(places_off_the_globe_are_bad_values),
      cmocka_unit_test(a_long_feature_name_is_cut_and_masked),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
