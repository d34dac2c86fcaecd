/* Roles of columns, and schemas matched with later tables. */
#include "table/schema.h"
#include "text_table.h"

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
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.one_hot = "c"}, "column 'c' is not an input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.drop = "a", .one_hot = "a"},
                 "'a' is not an input");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.inputs = "a,q"}, "no column 'q'");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.one_hot = "q"}, "no column 'q'");
  assert_refuses("a,b,c\n", &(struct gpnn_roles){.target = "c,c"}, "'c' is given twice");
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
  roles.locations = &place;
  roles.n_locations = place != NULL;
  assert_refuses("a,b,c,z,y\n", &roles, sentence);
}

static void points_that_cannot_be_are_refused(void **state)
{
  (void)state;
  assert_refuses_kind("q=3", NULL, NULL, "no column 'q'");
  assert_refuses_kind("y=3", NULL, NULL, "column 'y' is not an input");
  assert_refuses_kind("z=3", NULL, NULL, "column 'z' is not an input");
  assert_refuses_kind("a=3", NULL, "a", "column 'a' is a category");
  assert_refuses_kind("a=3,a=4", NULL, NULL, "column 'a' has a period already");
  static const char *const bad[] = {"a=0", "a=-1", "a=", "a=day", "a=inf", "a=nan", "b=1,a=1 h"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_refuses_kind(bad[i], NULL, NULL, "a period is a number above 0");
  assert_refuses_kind("a", NULL, NULL, "period 'a': not of the form COL=P");
  assert_refuses_kind("a=1,", NULL, NULL, "period '': not of the form");
  assert_refuses_kind(NULL, "a", NULL, "needs two columns, latitude and longitude, not 1");
  assert_refuses_kind(NULL, "1-3", NULL, "not 3");
  assert_refuses_kind(NULL, "a,a", NULL, "column 'a' is given twice");
  assert_refuses_kind(NULL, "a,y", NULL, "column 'y' is not an input");
  assert_refuses_kind(NULL, "a,b", "b", "column 'b' is a category");
  assert_refuses_kind("b=1", "a,b", NULL, "column 'b' has a period already");
}

static void assert_refuses_dates(const char *dates, const struct gpnn_roles *others,
                                 const char *sentence)
{
  struct gpnn_roles roles = *others;
  roles.n_dates = 1;
  roles.dates = &dates;
  assert_refuses("a,b,c,z,y\n", &roles, sentence);
}

static void dates_that_cannot_be_are_refused(void **state)
{
  (void)state;
  static const char *const month = "a=month", *const twice = "a=week,a=7", *const zero = "a=0";
  const struct gpnn_roles none = {0};
  assert_refuses_dates("q", &none, "no column 'q'");
  assert_refuses_dates("a,y", &none, "column 'y' is the target, which cannot be a date");
  assert_refuses_dates("z", &(struct gpnn_roles){.drop = "z"}, "is neither input nor regressor");
  assert_refuses_dates("z", &(struct gpnn_roles){.row_noise = "z"}, "neither input nor regressor");
  assert_refuses_dates("z", &(struct gpnn_roles){.offsets = "z"}, "neither input nor regressor");
  assert_refuses_dates("z", &(struct gpnn_roles){.by = "z"}, "neither input nor regressor");
  assert_refuses_dates("a=%q", &none, "format of dates '%q': no conversion '%q'");
  assert_refuses_dates("a=", &none, "format of dates ''");
  assert_refuses_dates("a", &(struct gpnn_roles){.one_hot = "a"}, "'a' is a date, so it cannot");
  assert_refuses_dates("a=%Y", &(struct gpnn_roles){.n_periods = 1, .periods = &month},
                       "period 'a=month': a period is a number above 0 of days, or day, week");
  assert_refuses_dates("a=%Y", &(struct gpnn_roles){.n_periods = 1, .periods = &zero},
                       "period 'a=0': a period is a number above 0 of days");
  assert_refuses_dates("a=%Y", &(struct gpnn_roles){.n_periods = 1, .periods = &twice},
                       "column 'a' has that period already");
  assert_refuses_dates("b=%Y", &(struct gpnn_roles){.n_periods = 1, .periods = &month},
                       "period 'a=month': a period is a number above 0");
  static const char *const day = "c=day", *const place = "a,b", *const same[] = {"a", "b,a=%Y"};
  assert_refuses_dates("b=%Y", &(struct gpnn_roles){.n_periods = 1, .periods = &day},
                       "period 'c=day': a period is a number above 0; day, week and year are for");
  assert_refuses_dates("b=%Y", &(struct gpnn_roles){.n_locations = 1, .locations = &place},
                       "column 'b' is a date, so it cannot be a coordinate");
  assert_refuses("a,b,y\n", &(struct gpnn_roles){.n_dates = 2, .dates = same},
                 "column 'a' is a date already");
}

static void columns_that_share_a_name_are_told_apart_by_number(void **state)
{
  (void)state;
  static const char *const text = "a,b,a,,c,\n";
  struct gpnn_table *table = open_text(text, true);
  assert_chooses(table, &(struct gpnn_roles){0}, "c<a,b,a,,"); /* the last has no name */
  assert_chooses(table, &(struct gpnn_roles){.target = "3", .inputs = "2,1,4"}, "a<b,a,");
  assert_chooses(table, &(struct gpnn_roles){.target = "4", .drop = "6,1", .one_hot = "3"},
                 "<b,a*,c");
  gpnn_table_close(table);
  assert_refuses(text, &(struct gpnn_roles){.target = "a"},
                 "t.csv: 2 columns are named 'a': say which by number, 1 or 3");
  assert_refuses(text, &(struct gpnn_roles){.drop = "b,a"}, "say which by number, 1 or 3");
  assert_refuses(text, &(struct gpnn_roles){.inputs = "1,1"}, "column 1 ('a') is given twice");
  assert_refuses(text, &(struct gpnn_roles){.target = "4", .inputs = "4"},
                 "t.csv: column 4 is both");
  assert_refuses("a,b,a,a\n", &(struct gpnn_roles){.by = "a"}, "by number, 1, 3 or 4");
  assert_refuses(text, &(struct gpnn_roles){.target = "1,3"},
                 "column 3 ('a') cannot be one of several targets, which need names of their own");
  assert_refuses(text, &(struct gpnn_roles){.target = "2,4"}, "column 4 cannot be one of several");
}

static void a_name_of_several_columns_may_be_the_number_of_one(void **state)
{
  (void)state;
  struct gpnn_table *table = open_text("2,x,2,y\n", true);
  assert_chooses(table, &(struct gpnn_roles){.inputs = "2"}, "y<x");
  assert_chooses(table, &(struct gpnn_roles){.inputs = "1,3"}, "y<2,2");
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
  static const char *const locations[] = {"lat,lon"};
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
  roles.locations = locations;
  roles.n_locations = 1;
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

static void each_target_has_its_offset_or_none_has(void **state)
{
  (void)state;
  struct gpnn_roles roles = {.target = "p,q", .offsets = "u,1"};
  struct gpnn_schema schema = {0};
  struct gpnn_table *table = open_text("a,p,\"u,v\",q,u\n", true);
  assert_ok(gpnn_schema_choose(&schema, table, &roles, &err));
  assert_int_equal(schema.n_inputs, 1); /* an offset is no input */
  assert_string_equal(schema.inputs[0].name, "u,v");
  assert_int_equal(schema.n_offsets, 2);
  assert_string_equal(schema.offsets[0].name, "u");
  assert_string_equal(schema.offsets[1].name, "a");
  gpnn_schema_release(&schema);
  roles = (struct gpnn_roles){.target = "q", .offsets = "u,v"};
  assert_ok(gpnn_schema_choose(&schema, table, &roles, &err));
  assert_int_equal(schema.n_offsets, 1);
  assert_string_equal(schema.offsets[0].name, "u,v");
  gpnn_schema_release(&schema);
  gpnn_table_close(table);
  static const struct {
    struct gpnn_roles roles;
    const char *why;
  } bad[] = {
      {{.target = "p,q", .offsets = "u"}, "t.csv: 2 targets and 1 offset: each target needs one"},
      {{.target = "q", .offsets = "1-2"}, "t.csv: 1 target and 2 offsets: each target needs one"},
      {{.target = "p", .offsets = "p"}, "column 'p' is a target, a regressor or the row noise"},
      {{.offsets = "p", .regressors = "p"}, "column 'p' is a target, a regressor or the row noise"},
      {{.offsets = "p", .row_noise = "p"}, "column 'p' is a target, a regressor or the row noise"},
      {{.offsets = "p", .inputs = "a,p"}, "column 'p' is both offset and input"},
      {{.offsets = "z"}, "no column 'z'"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_refuses("a,p,q,u\n", &bad[i].roles, bad[i].why);
}

static void the_column_of_groups_is_no_input_unless_asked_for(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_table *table = open_text("a,p,q,u\n", true);
  assert_ok(gpnn_schema_choose(&schema, table, &(struct gpnn_roles){.by = "p"}, &err));
  assert_true(schema.has_by);
  assert_string_equal(schema.by.name, "p");
  assert_int_equal(schema.n_inputs, 2);
  assert_string_equal(schema.inputs[1].name, "q");
  gpnn_schema_release(&schema);
  assert_ok(
      gpnn_schema_choose(&schema, table, &(struct gpnn_roles){.by = "p", .inputs = "p,a"}, &err));
  assert_int_equal(schema.n_inputs, 2);
  gpnn_schema_release(&schema);
  gpnn_table_close(table);
  assert_refuses("a,p,q,u\n", &(struct gpnn_roles){.by = "u"}, "column 'u' is the target");
  assert_refuses("a,p,q,u\n", &(struct gpnn_roles){.by = "v"}, "no column 'v'");
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

static void columns_that_share_a_name_are_matched_in_their_order(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  char shown[100], name[GPNN_MASK_BYTES];
  choose_from(&schema, "a,b,,a,y,,a\n", true,
              &(struct gpnn_roles){.target = "4", .inputs = "7,6,2"});
  assert_string_equal(gpnn_schema_column_name(&schema.target, name), "a (column 4)");
  assert_string_equal(gpnn_schema_column_name(&schema.inputs[1], name), "column 6");
  assert_string_equal(gpnn_schema_feature_name(&schema, NULL, 0, name), "a (column 7)");
  assert_string_equal(gpnn_schema_feature_name(&schema, NULL, 2, name), "b");
  assert_ok(show_match(&schema, "a,b,,a,y,,a\n", true, shown, &err));
  assert_string_equal(shown, "3< 6 5 1");
  assert_ok(show_match(&schema, ",a,a,,z,a,b\n", true, shown, &err));
  assert_string_equal(shown, "2< 5 3 6");
  assert_fails(show_match(&schema, "a,b,,a,y,\n", true, shown, &err), GPNN_EMISMATCH,
               "lacks 1 of 3 input columns: 'a' (number 3 of 3)");
  assert_fails(show_match(&schema, "a,b,a,,a\n", true, shown, &err), GPNN_EMISMATCH,
               "lacks 1 of 3 input columns: '' (number 2 of 2)");
  assert_fails(show_match(&schema, "a,b,a,,a,,a\n", true, shown, &err), GPNN_EMISMATCH,
               "4 columns are named 'a', of which the training table had 3");
  gpnn_schema_release(&schema);
  choose_from(&schema, "a,a,y\n", true, &(struct gpnn_roles){.drop = "2"});
  assert_ok(show_match(&schema, "a\n", true, shown, &err)); /* the first of them, or of one */
  assert_string_equal(shown, "-< 0");
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
    assert_fails(gpnn_schema_require_regressors(schema, &map, table, &err), GPNN_EMISMATCH,
                 "t.csv: lacks 1 of 2 regressor columns: 's'");
  else if (map.regressors[1] != SIZE_MAX)
    assert_ok(gpnn_schema_require_regressors(schema, &map, table, &err));
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

static void a_column_is_found_in_a_period_whatever_signs_are_in_its_name(void **state)
{
  (void)state;
  static const char *const periods[] = {"a=b=24", "2=7,c=1e3"};
  struct gpnn_schema schema = {0};
  choose_from(&schema, "a=b,b,c,y\n", true,
              &(struct gpnn_roles){.n_periods = 2, .periods = periods});
  static const double expected[] = {24, 7, 1000};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(schema.inputs[i].kind, GPNN_COLUMN_PERIODIC);
    assert_true(schema.inputs[i].period == expected[i]);
  }
  assert_int_equal(gpnn_schema_features(&schema), 6);
  gpnn_schema_release(&schema);
}

static void a_date_is_an_input_with_a_circle_for_each_period(void **state)
{
  (void)state;
  static const char *const dates[] = {"b=%b %d, %Y", "a=c", "d,5=%Y"};
  static const char *const periods[] = {"b=year,a=c=week", "b=day,b=30.5,x=3"};
  static const struct {
    const char *name, *date;
    double period;
  } expected[] = {{"a=c", "iso", 0},     {"a=c", "iso", 7},
                  {"b", "%b %d, %Y", 0}, {"b", "%b %d, %Y", 365.2425},
                  {"b", "%b %d, %Y", 1}, {"b", "%b %d, %Y", 30.5},
                  {"d", "%Y", 0},        {"e", "%Y", 0},
                  {"x", NULL, 3}};
  struct gpnn_schema schema = {0};
  char name[GPNN_MASK_BYTES];
  choose_from(&schema, "a=c,x,b,d,e,y\n", true,
              &(struct gpnn_roles){.inputs = "1,3,4,5,2",
                                   .regressors = "d",
                                   .n_dates = 3,
                                   .dates = dates,
                                   .n_periods = 2,
                                   .periods = periods});
  assert_int_equal(schema.n_inputs, 9);
  for (size_t i = 0; i < 9; i++) {
    const struct gpnn_column *column = &schema.inputs[i];
    assert_string_equal(column->name, expected[i].name);
    assert_int_equal(column->kind == GPNN_COLUMN_PERIODIC, expected[i].period > 0);
    assert_true(column->period == expected[i].period);
    assert_true((column->date == NULL) == (expected[i].date == NULL));
    if (column->date != NULL) assert_string_equal(column->date, expected[i].date);
    assert_int_equal(gpnn_schema_is_repeat(&schema, i), i == 1 || (i >= 3 && i <= 5));
  }
  assert_string_equal(schema.regressors[0].date, "%Y");
  assert_int_equal(gpnn_schema_features(&schema), 14);
  assert_string_equal(gpnn_schema_feature_name(&schema, NULL, 2, name), "cos(a=c/week)");
  assert_string_equal(gpnn_schema_feature_name(&schema, NULL, 5, name), "cos(b/year)");
  assert_string_equal(gpnn_schema_group_name(&schema, NULL, 6, name), "b/day");
  assert_string_equal(gpnn_schema_group_name(&schema, NULL, 8, name), "b/30.5");
  assert_string_equal(gpnn_schema_feature_name(&schema, NULL, 12, name), "sin(x)");
  gpnn_schema_release(&schema);
}

static void one_column_of_a_table_serves_all_inputs_of_a_date(void **state)
{
  (void)state;
  static const char *const date = "2", *const period = "2=day,2=week";
  struct gpnn_schema schema = {0};
  char shown[100];
  const struct gpnn_roles roles = {
      .inputs = "3,2", .n_dates = 1, .dates = &date, .n_periods = 1, .periods = &period};
  choose_from(&schema, "u,d,x,y\n", true, &roles);
  assert_ok(show_match(&schema, "y,x,d\n", true, shown, &err));
  assert_string_equal(shown, "0< 1 2 2 2");
  assert_fails(show_match(&schema, "u,x\n", true, shown, &err), GPNN_EMISMATCH,
               "lacks 1 of 2 input columns: 'd'");
  assert_ok(show_match(&schema, "1,2\n", false, shown, &err)); /* just the inputs */
  assert_string_equal(shown, "-< 0 1 1 1");
  assert_ok(show_match(&schema, "1,2,3,4\n", false, shown, &err));
  assert_string_equal(shown, "3< 2 1 1 1");
  assert_fails(show_match(&schema, "1,2,3\n", false, shown, &err), GPNN_EMISMATCH,
               "must have the 4 of the training table or just the 2 inputs");
  gpnn_schema_release(&schema);
}

static void an_input_may_be_a_regressor_and_periodic_too(void **state)
{
  (void)state;
  static const char *const period = "a=24";
  struct gpnn_schema schema = {0};
  choose_from(
      &schema, "a,b,y\n", true,
      &(struct gpnn_roles){.inputs = "a", .regressors = "a,b", .n_periods = 1, .periods = &period});
  assert_int_equal(schema.n_inputs, 1);
  assert_int_equal(schema.n_regressors, 2);
  assert_string_equal(schema.regressors[0].name, "a");
  assert_int_equal(schema.regressors[0].kind, GPNN_COLUMN_NUMBER);
  assert_int_equal(schema.inputs[0].kind, GPNN_COLUMN_PERIODIC);
  gpnn_schema_release(&schema);
}

static void regressors_are_named_where_they_are_needed_and_missing(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_columns_map map = {0};
  choose_from(&schema, "a,r,s,t,y\n", true, &(struct gpnn_roles){.regressors = "t,r,s"});
  struct gpnn_table *table = open_text("a,s\n", true);
  assert_ok(gpnn_schema_match(&schema, table, &map, &err));
  assert_fails(gpnn_schema_require_regressors(&schema, &map, table, &err), GPNN_EMISMATCH,
               "t.csv: lacks 2 of 3 regressor columns: 't', 'r'");
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  table = open_text("t,s,r,a\n", true);
  assert_ok(gpnn_schema_match(&schema, table, &map, &err));
  assert_ok(gpnn_schema_require_regressors(&schema, &map, table, &err));
  assert_int_equal(map.regressors[0], 0);
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  gpnn_schema_release(&schema);
}

static void a_failed_match_leaves_the_map_alone(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_columns_map map, before;
  memset(&map, 0x5a, sizeof map);
  before = map;
  choose_from(&schema, "a,b,y\n", true, &(struct gpnn_roles){0});
  struct gpnn_table *table = open_text("a\n", true);
  assert_fails(gpnn_schema_match(&schema, table, &map, &err), GPNN_EMISMATCH, "'b'");
  assert_memory_equal(&map, &before, sizeof map);
  gpnn_table_close(table);
  gpnn_schema_release(&schema);
}

static void every_number_and_every_level_is_a_group_of_its_own(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_columns_map map = {0};
  struct gpnn_record record;
  struct gpnn_feature features[5];
  struct gpnn_table *table = open_text("a,c,b,y\n1,red,2,0\n1,blue,2,0\n1,green,2,0\n", true);
  double cells[3];
  assert_ok(gpnn_schema_choose(&schema, table, &(struct gpnn_roles){.one_hot = "c"}, &err));
  assert_ok(gpnn_schema_match(&schema, table, &map, &err));
  assert_int_equal(gpnn_schema_features(&schema), 2); /* no levels yet */
  while (gpnn_table_next(table, &record, NULL) == GPNN_OK)
    assert_ok(gpnn_schema_learn(&schema, &map, table, &record, cells, &err));
  assert_int_equal(gpnn_schema_features(&schema), 5);
  assert_false(gpnn_schema_groups(&schema, features));
  for (uint32_t j = 0; j < 5; j++) {
    assert_int_equal(features[j].group, j);
    assert_false(features[j].has_unit);
  }
  gpnn_columns_map_release(&map);
  gpnn_table_close(table);
  gpnn_schema_release(&schema);
}

static void an_empty_schema_may_be_released_and_has_no_features(void **state)
{
  (void)state;
  struct gpnn_schema schema = {0};
  struct gpnn_columns_map map = {0};
  assert_int_equal(gpnn_schema_features(&schema), 0);
  assert_false(gpnn_schema_groups(&schema, NULL));
  gpnn_schema_release(&schema);
  gpnn_columns_map_release(&map);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(roles_are_chosen_as_asked),
      cmocka_unit_test(all_roles_are_chosen_as_asked),
      cmocka_unit_test(each_target_has_its_offset_or_none_has),
      cmocka_unit_test(the_column_of_groups_is_no_input_unless_asked_for),
      cmocka_unit_test(points_that_cannot_be_are_refused),
      cmocka_unit_test(roles_that_contradict_each_other_are_refused),
      cmocka_unit_test(dates_that_cannot_be_are_refused),
      cmocka_unit_test(columns_that_share_a_name_are_told_apart_by_number),
      cmocka_unit_test(a_name_of_several_columns_may_be_the_number_of_one),
      cmocka_unit_test(inputs_are_matched_by_name_in_any_order),
      cmocka_unit_test(columns_that_share_a_name_are_matched_in_their_order),
      cmocka_unit_test(without_names_inputs_are_matched_by_position),
      cmocka_unit_test(columns_other_than_inputs_are_matched_where_they_are),
      cmocka_unit_test(many_missing_inputs_are_cut_short),
      cmocka_unit_test(a_column_is_found_in_a_period_whatever_signs_are_in_its_name),
      cmocka_unit_test(a_date_is_an_input_with_a_circle_for_each_period),
      cmocka_unit_test(one_column_of_a_table_serves_all_inputs_of_a_date),
      cmocka_unit_test(an_input_may_be_a_regressor_and_periodic_too),
      cmocka_unit_test(regressors_are_named_where_they_are_needed_and_missing),
      cmocka_unit_test(a_failed_match_leaves_the_map_alone),
      cmocka_unit_test(every_number_and_every_level_is_a_group_of_its_own),
      cmocka_unit_test(an_empty_schema_may_be_released_and_has_no_features),
  };
  return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
