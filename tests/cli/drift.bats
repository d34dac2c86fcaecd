#!/usr/bin/env bats
# gpnn-predict: tables that are not as the training table was.

load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 1200 2 >train.tsv
  make_table 300 2 1200 >test.tsv
  gpnn-index -q --calibration-rows 200 -o t.gpi train.tsv
  gpnn-fit -q --effort fast --kernel exp -m 30 t.gpi | gpnn-calibrate -q t.gpi >t.cal
}

fixture() {
  cp "$BATS_FILE_TMPDIR"/{train.tsv,test.tsv,t.gpi,t.cal} .
}

# edit PROGRAM: the rows of test.tsv, changed by awk.
edit() {
  awk -F '\t' -v OFS='\t' "NR > 1 { $1 } 1" test.tsv
}

@test "an ordinary table has no warning" {
  fixture
  gpnn-predict -p t.cal t.gpi test.tsv 2>err.txt >/dev/null
  [[ ! -s err.txt ]]
}

@test "columns in another unit, with a code, or missing are named" {
  fixture
  edit '$1 = 1.8 * $1 + 32' >unit.tsv
  gpnn-predict -p t.cal t.gpi unit.tsv 2>err.txt >/dev/null
  grep -q "^gpnn-predict: unit.tsv: column 'x1': 100 % of the rows are far outside the values of training: is it" err.txt
  edit 'if (NR % 20 == 0) $2 = -999' >code.tsv
  gpnn-predict -p t.cal t.gpi code.tsv 2>err.txt >/dev/null
  grep -q "column 'x2': 5 % of the rows are far outside" err.txt
  edit '$2 = "NA"' >none.tsv
  gpnn-predict -p t.cal t.gpi none.tsv 2>err.txt >/dev/null
  grep -q "column 'x2': 100 % of the rows lack it, in training 0 % did" err.txt
  edit '$1 = 0.9' >moved.tsv
  gpnn-predict -p t.cal t.gpi moved.tsv 2>err.txt >/dev/null
  grep -q "column 'x1' is distributed otherwise than in training, by .* % of the rows: is it in another unit" err.txt
}

@test "--fail-on-moved refuses them, and leaves no file" {
  fixture
  edit '$1 = 1.8 * $1 + 32' >unit.tsv
  assert_fails 3 'unit.tsv: 1 column has moved, which --fail-on-moved does not allow' \
    gpnn-predict -q --fail-on-moved -p t.cal -o p.tsv t.gpi unit.tsv
  [[ ! -e p.tsv ]]
  gpnn-predict -q --fail-on-moved -p t.cal -o p.tsv t.gpi test.tsv
  ! gpnn-predict -q --fail-on-moved --json -p t.cal -o q.tsv t.gpi unit.tsv 2>report || false
  tail -n 1 report | grep -q '^{"tool": "gpnn-predict".*"moved": \["x1"\].*}$'
}

@test "rows that are far are flagged, and limited" {
  fixture
  edit 'if (NR % 3 == 0) $1 += 50' >far.tsv
  gpnn-predict -q --flag-far -p t.cal t.gpi far.tsv >p.tsv
  assert_equal "$(column far p.tsv | awk '{ n += $1 } END { print (n >= 100 && n < 110) }')" 1
  gpnn-predict -q --fail-on-far 0.4 -p t.cal -o p.tsv t.gpi far.tsv
  rm p.tsv
  assert_fails 3 'far.tsv: 10[0-9] of 300 rows lie farther from the training rows than .* --fail-on-far allows 20 %' \
    gpnn-predict -q --fail-on-far 0.2 -p t.cal -o p.tsv t.gpi far.tsv
  [[ ! -e p.tsv ]]
  grep -v '^distance' t.cal >none.cal
  assert_fails 2 '--fail-on-far needs the distances that gpnn-calibrate records' \
    gpnn-predict --fail-on-far 0.2 -p none.cal t.gpi far.tsv
  assert_fails 2 '--group writes no rows that could lie far' gpnn-predict --group x1 --flag-far -p t.cal t.gpi far.tsv
}

@test "--json counts what was out of the ordinary" {
  fixture
  edit 'if (NR % 3 == 0) $1 += 50; if (NR == 2) $2 = "?"' >far.tsv
  head -n 3 train.tsv | tail -n 2 >>far.tsv
  gpnn-predict --json --skip-bad -p t.cal t.gpi far.tsv 2>err.txt >/dev/null
  tail -n 1 err.txt | json /dev/stdin >members
  assert_equal "$(value rows members) $(value bad-rows members)" '302 1'
  grep -q '"moved": \["x1"\], "rows"' err.txt
  grep -q '"targets": \[{"target": "y", "far": 10[0-9], "beyond": 0, "at-training-rows": 2}\]' err.txt
}
