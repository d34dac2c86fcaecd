#!/usr/bin/env bats
# Groups of rows (gpnn-index --by): rows of one group resemble each other, and say little of others.

load helper

# grouped_table GROUPS FIRST: twelve rows at each of so many sites, which have errors of their own.
grouped_table() {
  awk -v groups="$1" -v first="$2" '
    function fraction(x) { return x - int(x) }
    BEGIN {
      print "site\tx1\tx2\ty"
      for (g = first; g < first + groups; g++) {
        own = 2 * fraction(43758.5453 * (2 + sin((g + 1) * 12.9898))) - 1
        for (i = 0; i < 12; i++) {
          x = fraction((g + 1) * sqrt(2)) + i / 1000
          z = fraction((g + 1) * sqrt(3)) + fraction(i * sqrt(5)) / 100
          noise = fraction(24634.6345 * (2 + sin(12 * g + i))) - 0.5
          printf "s%d\t%.6f\t%.6f\t%.6f\n", g, x, z, sin(5 * x) + z + own + 0.05 * noise
        }
      }
    }'
}

@test "standard deviations suit new groups, whichever rows are calibrated on" {
  grouped_table 150 0 >train.tsv
  grouped_table 60 150 >test.tsv
  gpnn-index -q --drop site -o rows.gpi train.tsv
  gpnn-index -q --by site -o groups.gpi train.tsv
  make_parameters exp 0.5 1 0.01 30 >t.par
  for rows in --loo --rows=auto; do
    for index in rows groups; do
      gpnn-calibrate -q $rows $index.gpi -p t.par >$index.cal
      gpnn-predict -q $index.gpi -p $index.cal test.tsv | gpnn-eval >$index.scores
    done
    assert_below 20 "$(value cal rows.scores)"
    assert_below "$(value cal groups.scores)" 1.6
    assert_below 0.6 "$(value cal groups.scores)"
  done
}

@test "held-out rows are whole groups, which no training row belongs to" {
  grouped_table 40 0 >train.tsv
  gpnn-index -q --by site -o t.gpi train.tsv
  gpnn-info --verify t.gpi >info
  assert_equal "$(value by info) $(value rows info) $(value calibration-rows info)" 'site 432 48'
  assert_equal "$(value by-groups info)" 36
  assert_equal "$(value input info | tr '\n' ' ')" 'x1 x2 '
  gpnn-index -q --by site -s 2 --calibration-rows 13 -o u.gpi train.tsv
  assert_equal "$(gpnn-info u.gpi | value calibration-rows)" 24
  gpnn-index -q --by site --calibration-rows 0 -o u.gpi train.tsv
  assert_equal "$(gpnn-info u.gpi | value by-groups)" 40
}

@test "predictions need no groups, and are those of an index without them" {
  grouped_table 40 0 >train.tsv
  grouped_table 10 40 >test.tsv
  gpnn-index -q --by site --calibration-rows 0 -o groups.gpi train.tsv
  gpnn-index -q --drop site --calibration-rows 0 -o rows.gpi train.tsv
  make_parameters matern32 0.5 1 0.01 30 >t.par
  gpnn-predict -q rows.gpi -p t.par test.tsv >rows.tsv
  gpnn-predict -q groups.gpi -p t.par test.tsv | cmp - rows.tsv
  cut -f 2- test.tsv | gpnn-predict -q groups.gpi -p t.par | cmp - rows.tsv
}

@test "groups of single rows change nothing" {
  make_table 300 2 | awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "id" : "r" NR, $0 }' >t.tsv
  gpnn-index -q --by id --calibration-rows 0 -o groups.gpi t.tsv
  gpnn-index -q --drop id --calibration-rows 0 -o rows.gpi t.tsv
  make_parameters matern32 0.5 1 0.01 30 >t.par
  for rows in --loo '--blocked 10' '--like t.tsv'; do
    # shellcheck disable=SC2086 # an option and its value
    cmp <(gpnn-calibrate -q $rows groups.gpi -p t.par | grep -v '^index') \
      <(gpnn-calibrate -q $rows rows.gpi -p t.par | grep -v '^index')
  done
}

@test "results with groups do not depend on the threads, and survive another metric" {
  grouped_table 60 0 >train.tsv
  gpnn-index -q --by site -o t.gpi train.tsv
  gpnn-index -q -j 3 --by site -o u.gpi train.tsv
  cmp t.gpi u.gpi
  make_parameters exp 0.5 1 0.01 30 >t.par
  gpnn-calibrate -q -j 1 --loo t.gpi -p t.par >one.cal
  gpnn-calibrate -q -j 3 --loo t.gpi -p t.par | cmp - one.cal
  gpnn-fit -q -j 1 --kernel exp -m 20 t.gpi >one.par
  gpnn-fit -q -j 3 --kernel exp -m 20 t.gpi | cmp - one.par
  gpnn-index -q --metric t.par -o v.gpi t.gpi
  assert_equal "$(gpnn-info --verify v.gpi | value by-groups)" "$(gpnn-info t.gpi | value by-groups)"
  gpnn-calibrate -q --loo v.gpi -p t.par | cmp - one.cal
}

@test "candidates are scored, and advice is given, on rows predicted without their groups" {
  grouped_table 60 0 >train.tsv
  gpnn-index -q --by site --calibration-rows 0 -o groups.gpi train.tsv
  gpnn-index -q --drop site --calibration-rows 0 -o rows.gpi train.tsv
  make_parameters exp 0.5 1 0.01 30 >t.par
  for index in groups rows; do
    gpnn-simulate advise -q --test 200 -p t.par $index.gpi | value rmse >$index.rmse
    gpnn-fit -q --effort fast --ard no -m 30 $index.gpi |
      sed -n 's/^# chosen: .* NLL \([-0-9.e]*\),* .*/\1/p' >$index.nll
  done
  assert_below "$(cat rows.nll)" -0.5
  assert_below 0.5 "$(cat groups.nll)"
  assert_below "$(cat rows.rmse)" 0.1
  assert_below 0.4 "$(cat groups.rmse)"
}

@test "rows without a group, one group, and groups by the target are refused" {
  grouped_table 20 0 >t.tsv
  awk -F '\t' -v OFS='\t' 'NR == 9 { $1 = "NA" } 1' t.tsv >na.tsv
  assert_fails 1 "^na.tsv:9: column 'site': missing value" gpnn-index --by site -o t.gpi na.tsv
  gpnn-index -q --by site --skip-bad -o t.gpi na.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 1
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "all" } 1' t.tsv >one.tsv
  assert_fails 1 "^one.tsv: column 'site' has the same value in all rows" \
    gpnn-index --by site -o t.gpi one.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = NR > 100 } 1' t.tsv >two.tsv
  assert_fails 1 '^two.tsv: 2 groups of rows are too few to hold one out' \
    gpnn-index --by site -o t.gpi two.tsv
  gpnn-index -q --by site --calibration-rows 0 -o t.gpi two.tsv
  make_parameters exp 0.5 1 0.01 30 >t.par
  gpnn-calibrate -q --loo t.gpi -p t.par >t.cal
  assert_fails 2 "column 'y' is the target" gpnn-index --by y -o t.gpi t.tsv
  assert_fails 2 "no column 'sites'" gpnn-index --by sites -o t.gpi t.tsv
  assert_fails 2 'applies to a table' gpnn-index --metric t.par --by site -o u.gpi t.gpi
}

@test "leave-one-out predictions are made without the group, and number the rows of the table" {
  grouped_table 60 0 >train.tsv
  gpnn-index -q --by site --calibration-rows 0 -o groups.gpi train.tsv
  gpnn-index -q --drop site --calibration-rows 0 -o rows.gpi train.tsv
  make_parameters exp 0.5 1 0.01 30 >t.par
  for index in groups rows; do
    gpnn-predict --loo -p t.par $index.gpi >$index.tsv
    assert_equal "$(head -n 1 $index.tsv | cut -f 1,2)" $'row\ty'
    paste <(column y $index.tsv) <(column y train.tsv) | awk '$1 != $2 { exit 1 }'
    gpnn-eval $index.tsv | value rmse >$index.rmse
  done
  assert_below "$(cat rows.rmse)" 0.1
  assert_below 0.4 "$(cat groups.rmse)"
  # So they are where whole groups were held out.
  gpnn-index -q --by site -o part.gpi train.tsv
  gpnn-predict --loo -p t.par part.gpi >part.tsv
  assert_equal "$(head -n 1 part.tsv | cut -f 1,2)" $'row\ty'
  column y train.tsv | awk -F '\t' 'NR == FNR { y[NR] = $1; next } FNR > 1 && $2 != y[$1] { exit 1 }' - part.tsv
}

@test "rows of a few groups are not enough to calibrate on, however many they are" {
  grouped_table 200 0 >many.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "s" int(NR / 150) } 1' many.tsv >few.tsv
  for table in few many; do
    gpnn-index -q --by site --calibration-rows 480 -y y -o $table.gpi $table.tsv
    gpnn-fit -q --effort fast --kernel exp --ard no -m 30 $table.gpi | gpnn-calibrate -q -o $table.cal $table.gpi
  done
  grep -q '^# calibration: .* left-out training rows' few.cal
  grep -q '^# calibration: .* held-out rows' many.cal
}

@test "groups count where they have the target" {
  grouped_table 200 0 | awk -F '\t' -v OFS='\t' '
    { print $0, NR == 1 ? "z" : substr($1, 2) % 3 ? "NA" : $4 }' >scarce.tsv
  gpnn-index -q --by site --calibration-rows 720 -y y,z -o scarce.gpi scarce.tsv
  gpnn-fit -q --effort fast --kernel exp --ard no -m 30 scarce.gpi | gpnn-calibrate -q -o scarce.cal scarce.gpi
  grep '^# calibration: ' scarce.cal >said
  (($(grep -c 'held-out rows' said) == 1 && $(grep -c 'left-out training rows' said) == 1))
}
