#!/usr/bin/env bats
# gpnn-calibrate of targets that hold classes.

load helper
# shellcheck source=tests/cli/classes.bash
source "$GPNN_ROOT/tests/cli/classes.bash"

@test "a temperature is recorded, and nothing else changes" {
  prepare_classes
  gpnn-calibrate c.gpi <c.par >c.cal
  value temperature c.cal | awk '{ exit !($1 > 0.5 && $1 < 2) }'
  diff <(grep -v '^#' c.par) <(grep -v '^#' c.cal) | grep '^[<>]' | cut -f 1 >changed.txt
  assert_equal "$(cat changed.txt)" "> temperature"
  grep -Eq '^# calibration: temperature [0-9.]+, standard error [0-9.]+, log loss [0-9.]+ -\+ [0-9.]+ before and [0-9.]+ -\+ [0-9.]+ after, from 50 held-out rows$' c.cal
  gpnn-calibrate c.gpi <c.cal >again.cal
  cmp <(grep -v '^#' c.cal) <(grep -v '^#' again.cal)
  gpnn-calibrate -j 3 c.gpi <c.par | cmp - c.cal
}

@test "probabilities that are too sure are made less so" {
  prepare_classes
  class_table 400 2000 >more.csv
  sed 's/^link-slope.*/link-slope\t12/; s/^link-evidence.*/link-evidence\t2/' c.par >sure.par
  gpnn-calibrate --with more.csv -p sure.par c.gpi --json >sure.cal 2>report.json
  value temperature sure.cal | awk '{ exit !($1 < 0.9) }'
  json report.json >flat.txt
  grep -Pq 'adjusted\ttemperature' flat.txt
  awk -F '\t' '$1 ~ /log-loss-before$/ { before = $2 } $1 ~ /log-loss-after$/ { after = $2 }
    END { exit !(after < before && after > 0) }' flat.txt
  gpnn-predict -q -p sure.par c.gpi test.csv >sure.csv
  gpnn-predict -q -p sure.cal c.gpi test.csv >calm.csv
  cmp <(cut -d , -f 1,2 sure.csv) <(cut -d , -f 1,2 calm.csv)
}

@test "all kinds of rows calibrate classes" {
  prepare_classes
  gpnn-calibrate -q --loo -p c.par c.gpi | grep -q '^# calibration: temperature .* from 450 left-out training rows$'
  gpnn-calibrate -q --loo -c 40 -s 2 -p c.par c.gpi | grep -q ' from 40 left-out training rows$'
  gpnn-calibrate -q --blocked 10 -c 50 -p c.par c.gpi | grep -q ' from 50 clustered training rows$'
  gpnn-calibrate -q --like test.csv -p c.par c.gpi | grep -q ' from 60 distant training rows$'
  gpnn-calibrate -q --with test.csv -p c.par c.gpi >with.cal
  grep -q ' from 60 given rows$' with.cal
  { cat test.csv && echo 0,0,elsewhere; } | gpnn-calibrate --with - -p c.par c.gpi 2>err.txt | cmp - with.cal
  grep -q '1 row of classes that no training row is of is left out' err.txt
  gpnn-calibrate -q --loo -p c.par c.gpi | grep -c '^distances' | grep -qx 1
}

@test "rows of the fit tell at most that a temperature is too high" {
  prepare_classes
  gpnn-index -q --calibration-rows 0 -y where -o none.gpi train.csv
  { cat c.par && printf 'fit-rows\t500\n'; } >fitted.par
  gpnn-calibrate --blocked 20 -p fitted.par none.gpi 2>err.txt >bound.cal
  grep -q '^gpnn-calibrate: not calibrated: the fit used 500 of the 500 training rows' err.txt
  grep -q '^# not calibrated: temperature ' bound.cal
  sed 's/^link-slope.*/link-slope\t12/; s/^link-evidence.*/link-evidence\t2/' fitted.par >sure.par
  gpnn-calibrate -q --blocked 20 -p sure.par none.gpi >bound.cal
  grep -q '^# not calibrated: temperature .*, or less, standard error not known' bound.cal
  grep -q '^temperature' bound.cal
}

@test "what is about numbers is refused" {
  prepare_classes
  assert_fails 2 "--conformal is about numbers, and target 'where' holds classes" \
    gpnn-calibrate --conformal 0.9 -p c.par c.gpi
  assert_fails 2 "--adjust is about numbers, and target 'where' holds classes" \
    gpnn-calibrate --adjust noise -p c.par c.gpi
  make_parameters matern32 1 1 0.01 20 >number.par
  assert_fails 1 "the parameters are of numbers, but target 'where' of the index holds classes" \
    gpnn-calibrate -p number.par c.gpi
  make_model 50 5 0 20
  assert_fails 1 "the parameters are of classes, but target 'y' of the index is a number" \
    gpnn-calibrate --loo -p c.par t.gpi
}
