#!/usr/bin/env bats
# gpnn: the whole workflow in one command, the same as step by step, and nothing left behind.

load helper

setup() {
  mkdir "$BATS_TEST_TMPDIR/work" "$BATS_TEST_TMPDIR/tmp" && cd "$BATS_TEST_TMPDIR/work" || return
  export TMPDIR=$BATS_TEST_TMPDIR/tmp
  make_table 150 2 >train.tsv
  make_table 40 2 300 >test.tsv
}

teardown() {
  assert_equal "$(ls -A "$TMPDIR")" ''
}

# by_hand [OPTION...]: the steps, as hand.gpi, hand.par and hand.tsv.
by_hand() {
  gpnn-index -q --auto "$@" -o hand.gpi train.tsv
  gpnn-fit -q --effort fast hand.gpi | gpnn-calibrate -q hand.gpi >hand.par
  gpnn-predict -q --skip-bad --interval 0.9 -p hand.par hand.gpi test.tsv >hand.tsv
}

# ---- the same as step by step -----------------------------------------------------------------

@test "predictions, index and parameters are those of the steps" {
  by_hand
  gpnn -q --effort fast --interval 0.9 --save kept.gpm train.tsv test.tsv >p.tsv
  cmp p.tsv hand.tsv
  gpnn-info --unpack kept.gpm | cmp - hand.par
  gpnn-index --pack hand.par --skip-bad -o hand.gpm hand.gpi
  gpnn-index --pack hand.par -o again.gpm kept.gpm
  cmp again.gpm hand.gpm
  gpnn-info kept.gpm | sed -n 's/^report\t//p' >told.txt
  gpnn --effort fast --interval 0.9 train.tsv test.tsv 2>report.txt >/dev/null
  sed '/^predicted/,$d' report.txt | cmp - told.txt
  gpnn -q --effort fast --interval 0.9 -j 1 -o one.tsv train.tsv test.tsv
  gpnn -q --effort fast --interval 0.9 -j 2 train.tsv test.tsv | cmp - one.tsv
  cmp one.tsv hand.tsv
  gpnn -q --effort fast --interval 0.9 - test.tsv <train.tsv | cmp - hand.tsv
  gpnn -q --effort fast --interval 0.9 train.tsv - <test.tsv | cmp - hand.tsv
  gpnn -q --effort fast --interval 0.9 <(cat train.tsv) <(cat test.tsv) | cmp - hand.tsv
}

# with_gap SEED: 600 rows of a rough function of two inputs, whose rows with x1 from .4 to .6 are in gap.tsv, the others in
# around.tsv.
with_gap() {
  awk -v s="$1" -v OFS='\t' 'BEGIN {
    srand(s)
    print "x1", "x2", "y" >"around.tsv"
    print "x1", "x2", "y" >"gap.tsv"
    for (i = 0; i < 600; i++) {
      a = rand(); b = rand()
      print a, b, sin(9 * a) + cos(5 * b) + sin(40 * a * b) / 3 + rand() / 9 >(a > .4 && a < .6 ? "gap.tsv" : "around.tsv")
    }
  }'
}

@test "rows in gaps are predicted by a model that is chosen for such rows" {
  with_gap 1
  gpnn --effort fast --interval 0.95 --save kept.gpm around.tsv gap.tsv >p.tsv 2>err.txt
  grep -q '^gaps .*gap.tsv lies in gaps between training rows' err.txt
  run ! grep -q '^gpnn-predict:' err.txt
  gpnn-index -q --auto -o t.gpi around.tsv
  gpnn-fit -q --effort fast --like gap.tsv t.gpi | gpnn-calibrate -q --like gap.tsv --skip-bad t.gpi >t.par
  gpnn-predict -q --interval 0.95 -p t.par t.gpi gap.tsv | cmp - p.tsv
  assert_equal "$(gpnn -q --json --effort fast around.tsv gap.tsv 2>&1 >/dev/null | grep -o '"gaps": *true' | tr -d ' ')" '"gaps":true'
  # What both runs of gpnn-predict would tell is told once.
  awk -v OFS='\t' 'NR == 1 { print; next } { for (k = 0; k < 6; k++) print $1 + k / 10000, $2 / 20, $3 }' gap.tsv >moved.tsv
  assert_equal "$(gpnn --effort fast around.tsv moved.tsv 2>&1 >/dev/null | grep -c "'x2' is distributed otherwise")" 1
  gpnn -q --effort fast --interval 0.95 --no-header <(sed 1d around.tsv) <(sed 1d gap.tsv) >plain.tsv # can be read but once
  run ! cmp -s plain.tsv <(sed 1d p.tsv)
  sed -i 1d around.tsv gap.tsv
  gpnn -q --effort fast --interval 0.95 --no-header around.tsv gap.tsv | cmp - <(sed 1d p.tsv)
}

@test "no model is chosen for rows in gaps where there are few, or none that it could be chosen for" {
  with_gap 2
  gpnn --effort fast around.tsv <(head -n 90 gap.tsv) 2>err.txt >/dev/null
  run ! grep -q '^gaps' err.txt
  head -n 90 gap.tsv >few.tsv
  gpnn --effort fast around.tsv few.tsv 2>err.txt >/dev/null
  run ! grep -q '^gaps' err.txt
  grep -q 'rows lie farther from the training rows' err.txt
  assert_fails 3 'more rows lie far from the training rows than --fail-on-far allows' \
    gpnn -q --effort fast --fail-on-far 0.5 around.tsv gap.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = $1 + 3 } { print }' gap.tsv >beyond.tsv # no gap
  gpnn --effort fast around.tsv beyond.tsv 2>err.txt >/dev/null
  run ! grep -q '^gaps' err.txt
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $3 > 0 ? "a" : "b" } { print }' around.tsv >classes.tsv
  gpnn --effort fast classes.tsv gap.tsv 2>err.txt >/dev/null
  run ! grep -q '^gaps' err.txt
}

@test "options reach their steps" {
  by_hand -x x1 -s 7
  gpnn -q -x x1 -s 7 --effort fast --interval 0.9 train.tsv test.tsv >p.tsv
  run ! cmp -s p.tsv hand.tsv # the seed is for all steps
  gpnn-fit -q -s 7 --effort fast hand.gpi | gpnn-calibrate -q -s 7 hand.gpi >hand.par
  gpnn-predict -s 7 --interval 0.9 -p hand.par hand.gpi test.tsv | cmp - p.tsv
  gpnn -q --effort fast --kernel rbf --ard no -m 20 --likelihood gaussian train.tsv
  gpnn-info --unpack train.gpm >train.par
  assert_equal "$(value kernel train.par)" rbf
  assert_equal "$(value neighbours train.par)" 20
  run ! grep -q '^likelihood' train.par
  assert_equal "$(value lengthscale train.par | wc -w)" 1
  gpnn -q --effort fast --append train.tsv test.tsv | head -n 1 >names.txt
  assert_equal "$(cut -f 1-4 names.txt)" $'x1\tx2\ty\tmean'
}

@test "the commands that --save shows do the same, also for awkward names" {
  cp train.tsv -- '-a b$(x)*.tsv'
  gpnn --effort fast --save "it's \"here\".gpm" -- '-a b$(x)*.tsv' test.tsv >p.tsv 2>report.txt
  mv "it's \"here\".gpm" saved.gpm
  awk '/^steps/ { inside = 1 } /^next/ { inside = 0 } inside { print substr($0, 12) }' \
    report.txt >commands.sh
  assert_equal "$(wc -l <commands.sh)" 4
  sh commands.sh 2>/dev/null | cmp - p.tsv
  gpnn-info --unpack saved.gpm | gpnn-index --pack - -o unreported.gpm saved.gpm
  cmp unreported.gpm "it's \"here\".gpm"
  sed -n 's/^next *//p' report.txt | sed 's/TABLE$/test.tsv/' >next.sh
  sh next.sh | cmp - p.tsv
}

@test "columns that a table lacks are named before anything is estimated" {
  awk -v OFS='\t' '{ print $0, (NR == 1 ? "id" : NR) }' test.tsv >named.tsv
  tr '\t' , <named.tsv >named.csv
  tr '\t' , <train.tsv >train.csv
  local kind table
  for table in train named; do
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) n[i] = $i; next }
      { for (i = 1; i <= NF; i++) printf "%s\"%s\": %s", i == 1 ? "{" : ", ", n[i], $i; print "}" }' "$table.tsv" >"$table.jsonl"
  done
  for kind in tsv csv jsonl; do
    run gpnn --save m.gpm --keep idd "train.$kind" "named.$kind"
    [[ $status == 2 && ${lines[0]} == "gpnn: named.$kind: no column 'idd' (did you mean 'id'?)" ]]
    run gpnn --save m.gpm -x x1,id -y y "train.$kind" "named.$kind"
    [[ $status == 2 && ${lines[0]} == "gpnn: train.$kind: no column 'id', which named.$kind has" ]]
    run gpnn --save m.gpm -y yy "train.$kind" "named.$kind"
    [[ $status == 2 && ${lines[0]} == "gpnn-index: train.$kind: no column 'yy': there are 3 columns" ]]
    gpnn -q --effort fast --keep id "train.$kind" "named.$kind" | sed 's/[\t,].*//' | cmp - <(awk -F '\t' '{ print $NF }' named.tsv)
  done
  [[ ! -e m.gpm ]]
}

# ---- what is kept -----------------------------------------------------------------------------

@test "without a table to predict, the model is kept in the working directory" {
  gpnn --effort fast train.tsv >out.txt 2>report.txt
  [[ ! -s out.txt ]]
  grep -qx 'kept       train.gpm' report.txt
  grep -qx 'next       gpnn-predict train.gpm TABLE' report.txt
  gpnn-info train.gpm >/dev/null
  gpnn -q --effort fast -s 2 train.tsv # an older one of the same kind is replaced
  assert_equal "$(gpnn-info train.gpm | value seed)" 2
  gzip -k test.tsv
  gpnn -q --effort fast ./test.tsv.gz
  gpnn -q --effort fast - <train.tsv
  assert_equal "$(ls -A)" "$(printf '%s\n' model.gpm out.txt report.txt test.gpm test.tsv test.tsv.gz train.gpm train.tsv)"
}

@test "no file of another kind is replaced" {
  echo mine >train.gpm
  assert_fails 1 'train\.gpm: is there already, and not an index with parameters' gpnn train.tsv
  assert_equal "$(<train.gpm)" mine
  gpnn-index -q -o train.gpm train.tsv
  assert_fails 1 'train\.gpm: is there already, and not an index with parameters' gpnn train.tsv
  gpnn -q --effort fast train.tsv test.tsv >/dev/null # which keeps nothing
  assert_fails 2 '"test.tsv" is an input' gpnn -o test.tsv train.tsv test.tsv
  assert_fails 2 '"train.tsv" is an input' gpnn -o train.tsv train.tsv test.tsv
}

@test "a model of another target or other inputs is replaced only by force" {
  gpnn -q --effort fast --save kept.gpm train.tsv
  cp kept.gpm old.gpm
  assert_fails 1 "kept.gpm is a model of 'y', this one is not" gpnn -q --effort fast --save kept.gpm -y x2 train.tsv
  assert_fails 1 "kept.gpm is a model with the input 'x2', this one is not" \
    gpnn -q --effort fast --save kept.gpm -x x1 train.tsv
  assert_fails 1 "kept.gpm is no model of 'x2', this one is one" gpnn -q --effort fast --save kept.gpm -y y,x2 train.tsv
  cmp kept.gpm old.gpm
  gpnn -q --effort fast --save kept.gpm --force -x x1 train.tsv
  assert_fails 1 "kept.gpm is a model without the input 'x2'" gpnn -q --effort fast --save kept.gpm train.tsv
  awk -v OFS='\t' '{ print $2, $1, $3 }' train.tsv >permuted.tsv
  mv permuted.tsv train.tsv
  cp old.gpm kept.gpm
  gpnn -q --effort fast --save kept.gpm train.tsv # the same columns in another order
}

@test "predictions are not lost where the model is kept" {
  assert_fails 2 '"kept.gpm" is where the model will be kept' \
    gpnn -q --effort fast --save kept.gpm -o kept.gpm train.tsv test.tsv
  mkdir kept
  assert_fails 2 'is where the model will be kept' gpnn -q --effort fast --save kept/m.gpm -o ./kept/../kept/m.gpm train.tsv test.tsv
  assert_fails 2 'a model is a binary file: name it' gpnn --save - train.tsv
  assert_fails 1 'kept: is a directory: name a file' gpnn --save kept train.tsv
  gpnn -q --effort fast --save kept/m.gpm -o kept/p.tsv train.tsv test.tsv
  assert_equal "$(ls -A kept)" $'m.gpm\np.tsv'
}

@test "what the rows to predict are like is told to fit and calibration" {
  gpnn --effort fast --save kept.gpm --like test.tsv train.tsv 2>report.txt
  grep -q 'gpnn-fit .*--like=test.tsv.* | gpnn-calibrate .*--like=test.tsv' report.txt
  gpnn-calibrate -q --like test.tsv -p <(gpnn-fit -q --effort fast --like test.tsv kept.gpm) kept.gpm |
    cmp - <(gpnn-info --unpack kept.gpm)
}

@test "a directory that cannot be written is told at once" {
  ((EUID != 0)) || skip 'root may write anywhere'
  mkdir ro
  chmod 555 ro
  cd ro
  assert_fails 1 'choose a place with --save FILE' gpnn ../train.tsv
  gpnn -q --effort fast ../train.tsv ../test.tsv >/dev/null
}

@test "directories on the way to --save must be there" {
  assert_fails 1 'the model cannot be kept here; .*no/such: ' gpnn --save no/such/m.gpm train.tsv
  assert_fails 1 'train\.tsv: is there already' gpnn --save train.tsv train.tsv
}

# ---- failures ---------------------------------------------------------------------------------

@test "a failing step ends the run with its own message and status" {
  for arguments in '-y nope train.tsv' '--kernel cubic train.tsv' '--drop nope train.tsv test.tsv' \
    '--interval 2 train.tsv test.tsv'; do
    status=0
    # shellcheck disable=SC2086
    gpnn --effort fast --save kept.gpm $arguments >out.txt 2>err.txt || status=$?
    assert_equal "$status" 2
    [[ ! -e kept.gpm && ! -s out.txt ]]
    assert_equal "$(wc -l <err.txt)" 2
  done
  printf 'a,b\nx,y\nz,w\n' >bad.csv
  status=0
  gpnn --save kept.gpm bad.csv 2>err.txt || status=$?
  assert_equal "$status" 1
  assert_equal "$(wc -l <err.txt)" 1
  [[ ! -e kept.gpm ]]
}

@test "a table to predict that is mostly unreadable is a failure" {
  sed 2,24s/[.]/,/g test.tsv >comma.tsv
  gpnn -q --effort fast -o p.tsv train.tsv comma.tsv 2>err.txt && complain 'no failure'
  grep -q "comma.tsv: 23 of 40 rows have no prediction, and --fail-on-na allows 50 %: column 'x1': not a number" err.txt
  assert_equal "$(wc -l <err.txt)" 1
  [[ ! -e p.tsv ]]
  gpnn -q --effort fast --fail-on-na 0.6 train.tsv comma.tsv >p.tsv
  assert_equal "$(grep -c NA p.tsv)" 23
}

@test "rows without names are all predicted and scored" {
  tail -n +2 train.tsv >bare.tsv
  tail -n +2 test.tsv >bare_test.tsv
  gpnn-split -q --last 0.5 -o half.npy -o test.npy test.tsv
  tail -n +22 test.tsv >half.tsv
  for tables in 'bare.tsv bare_test.tsv' 'bare.tsv test.tsv' '--no-header bare.tsv bare_test.tsv'; do
    # shellcheck disable=SC2086
    gpnn --effort fast $tables >p.tsv 2>report.txt
    grep -qE '^predicted  40 rows of (bare_)?test.tsv: RMSE 0' report.txt
    assert_equal "$(grep -vc mean p.tsv)" 40
  done
  gpnn -q --effort fast train.tsv half.tsv | cut -f 2- | tail -n +2 >expected.tsv
  for train in train.tsv bare.tsv; do
    gpnn --effort fast $train test.npy >p.tsv 2>report.txt
    grep -q '^predicted  20 rows of test.npy: RMSE 0' report.txt
    cut -f 2- p.tsv | cmp - <(gpnn -q --effort fast train.tsv <(tail -n 20 test.tsv | cat <(head -n 1 test.tsv) -) | cut -f 2- | tail -n +2)
  done
}

@test "options are checked before the work begins, and so is the table to predict" {
  gpnn -v --interval 2 train.tsv test.tsv 2>err.txt && complain 'no failure'
  run ! grep -q 'training rows' err.txt
  assert_fails 1 'nothere\.tsv: cannot be opened' gpnn train.tsv nothere.tsv
  cut -f 1 test.tsv >lacks.tsv
  gpnn -v train.tsv lacks.tsv 2>err.txt && complain 'no failure'
  grep -q "^gpnn: lacks.tsv: lacks 1 of 2 input columns: 'x2'" err.txt
  run ! grep -q gpnn-fit err.txt
}

@test "command lines that make no sense" {
  assert_fails 2 'both tables cannot be standard input' gpnn - -
  assert_fails 2 '--output is for predictions' gpnn -o x.tsv train.tsv
  assert_fails 2 '--interval is for predictions' gpnn --interval 0.9 train.tsv
  assert_fails 2 'an operand is missing' gpnn
  assert_fails 2 'one operand too many' gpnn a b c
}

@test "a table that is not all numbers is used at once, and a command shows how" {
  awk -v OFS=, '{ print (NR == 1 ? "city" : NR % 3 ? "Oslo" : "Rome"), (NR == 1 ? "id" : "it\047s " NR), $1, $2, $3 }' \
    train.tsv >'my table.csv'
  awk -v OFS=, '{ print (NR == 1 ? "city" : NR % 2 ? "Oslo" : "Rome"), $1, $2 }' test.tsv >test.csv
  gpnn --effort fast --interval 0.9 'my table.csv' test.csv >out.txt 2>report.txt
  assert_equal "$(head -n 1 out.txt)" "$(printf 'mean,sd,df,lower,upper')"
  grep -q '^inputs     3: city (2 levels), x1, x2' report.txt
  grep -qx 'not used   id' report.txt
  command=$(sed -n 's/^    gpnn /gpnn /p' report.txt)
  [[ $command == "gpnn --effort=fast --interval=0.9 "*"'my table.csv' test.csv" ]]
  bash -c "$command" 2>/dev/null | cmp - out.txt
}

@test "tables as people have them are used at once" {
  for table in "$GPNN_ROOT"/tests/data/messy/*; do
    [[ $table != *.md ]] || continue
    target=()
    [[ $table != */air.csv ]] || target=(-y WSPM) # its last column holds classes
    gpnn -q "${target[@]}" --effort fast --kernel matern32 --ard no -m 10 --save kept.gpm --force "$table" || complain "$table"
  done
}

@test "a table without a header, and one that begins later, are predicted as they were learnt" {
  # Fractions in the first row give it away as no header.
  { echo '0.5	0.25	1.5' && tail -n +2 train.tsv; } >bare.tsv
  tail -n +2 test.tsv >rows.tsv
  gpnn --effort fast bare.tsv rows.tsv >p.tsv 2>report.txt
  grep -q '^predicted  40 rows of rows.tsv' report.txt || complain "$(<report.txt)"
  gpnn --effort fast --no-header bare.tsv rows.tsv | cmp p.tsv -
  gpnn --effort fast bare.tsv - <rows.tsv | cmp p.tsv -
  gpnn --effort fast --save kept.gpm bare.tsv rows.tsv 2>report.txt | cmp p.tsv -
  grep -q 'gpnn-predict .*--no-header' report.txt
  gpnn-predict kept.gpm rows.tsv | cmp p.tsv -
  gpnn-predict kept.gpm - <rows.tsv | cmp p.tsv -
  gpnn-predict kept.gpm test.tsv | tail -n +2 | cmp p.tsv -
  # The two tables need not begin on the same line.
  { printf 'A logger\nof 2020\n' && cat train.tsv; } >late.tsv
  { printf 'A logger\n' && cat test.tsv; } >later.tsv
  gpnn --effort fast train.tsv test.tsv >p.tsv
  gpnn --effort fast late.tsv later.tsv | cmp p.tsv -
  gpnn --effort fast late.tsv test.tsv | cmp p.tsv -
}

@test "bad rows of the table to predict become NA and are counted" {
  awk 'NR == 3 { $1 = "?" } NR == 5 { $2 = "inf" } { print }' OFS='\t' test.tsv >holes.tsv
  gpnn --effort fast train.tsv holes.tsv >p.tsv 2>report.txt
  assert_equal "$(wc -l <p.tsv)" 41
  assert_equal "$(column mean p.tsv | grep -c NA)" 2
  grep -q '^predicted  40 rows of holes.tsv, 2 of them NA: RMSE' report.txt
}

@test "a full disk, and a reader that goes away" {
  [[ -c /dev/full ]] || skip 'no /dev/full'
  status=0
  gpnn -q --effort fast --save kept.gpm train.tsv test.tsv >/dev/full 2>err.txt || status=$?
  assert_equal "$status" 1
  assert_equal "$(<err.txt)" 'gpnn: (stdout): cannot be written: No space left on device'
  [[ ! -e kept.gpm ]]
  make_table 20000 2 300 >many.tsv
  gpnn -q --effort fast -m 10 train.tsv many.tsv 2>err.txt | head -n 1 >line.txt || :
  assert_equal "$(<line.txt)" "$(printf 'y\tmean\tsd\tdf')"
  [[ ! -s err.txt ]]
}

@test "a signal leaves neither files nor processes" {
  make_table 5000 4 >long.tsv
  for signal in TERM HUP; do
    for pause in 0.05 0.5; do
      gpnn -q --effort thorough -j 1 --save "$PWD/kept.gpm" long.tsv &
      main=$!
      sleep "$pause"
      kill -s $signal $main
      status=0
      wait $main || status=$?
      assert_equal "$status" $((128 + $(kill -l $signal)))
      [[ ! -e kept.gpm ]]
      assert_equal "$(ls -A "$TMPDIR")" ''
      assert_equal "$(pgrep -f "$PWD/[.]gpnn-" || :)" ''
    done
  done
}

@test "not even a kill leaves a step at work" {
  make_table 20000 6 >long.tsv
  gpnn -q --effort thorough -j 1 --save kept.gpm long.tsv &
  main=$!
  until pgrep -P $main -f 'gpnn-fit .*[.]gpi$' >steps; do sleep 0.02; done
  kill -KILL $main
  wait $main || :
  for ((i = 0; i < 40; i++)); do
    [[ $(ps -o stat= -p "$(<steps)") == [RSDT]* ]] || return 0 # nobody may have waited for it
    sleep 0.05
  done
  return 1
}

@test "the report counts what its steps have used" {
  gpnn --json --effort fast train.tsv 2>report.json >/dev/null
  all=$(sed -n 's/.*"processor-seconds": *\([0-9.e-]*\).*/\1/p' report.json | tail -n 1)
  awk -v all="$all" 'BEGIN { exit !(all > 0.02) }'
}

@test "a step that is killed is told of" {
  make_table 5000 4 >long.tsv
  mkdir bin
  for tool in gpnn gpnn-index gpnn-calibrate gpnn-predict; do cp "$GPNN_BUILD/bin/$tool" bin; done
  # shellcheck disable=SC2016
  printf '#!/bin/sh\nfor last; do :; done\n[ "$last" = --help ] || kill -KILL $$\n' >bin/gpnn-fit
  chmod +x bin/gpnn-fit
  assert_fails 1 'gpnn-fit was ended by a signal: Killed' bin/gpnn -q long.tsv
}

@test "tools come from the directory of gpnn, or else from PATH" {
  mkdir bin
  ln "$GPNN_BUILD/bin/gpnn" bin/gpnn 2>/dev/null || cp "$GPNN_BUILD/bin/gpnn" bin/gpnn
  bin/gpnn -q --effort fast train.tsv test.tsv >p.tsv
  env PATH=/nowhere "$GPNN_BUILD/bin/gpnn" -q --effort fast train.tsv test.tsv | cmp - p.tsv
  status=0
  env PATH=/nowhere bin/gpnn -q train.tsv test.tsv 2>err.txt || status=$?
  assert_equal "$status" 1
  assert_equal "$(<err.txt)" 'gpnn: gpnn-index: there is no such program'
}

# ---- the report -------------------------------------------------------------------------------

@test "the report has the figures of gpnn-info, gpnn-eval and the parameters" {
  gpnn --effort fast --save kept.gpm train.tsv test.tsv >p.tsv 2>report.txt
  grep -q "^rows       $(gpnn-info kept.gpm | value rows) of train.tsv to learn from, \
$(gpnn-info kept.gpm | value calibration-rows) held out" report.txt
  sed -n '/^predicted/,/^time/p' report.txt | tr -s '\n ' ' ' >predicted.txt
  gpnn-eval --index kept.gpm p.tsv >scores.tsv
  assert_near "$(sed 's/.*RMSE \([^ ]*\) .*/\1/' predicted.txt)" "$(value rmse scores.tsv)" 1e-3
  assert_near "$(sed 's/.*NLL \([^,]*\),.*/\1/' predicted.txt)" "$(value nll_standard scores.tsv)" 1e-3
  assert_near "$(sed 's/.*R^2 \([^)]*\)).*/\1/' predicted.txt)" "$(value r2 scores.tsv)" 1e-3
  gpnn -q --effort fast --save kept.gpm train.tsv test.tsv 2>quiet.txt >/dev/null
  [[ ! -s quiet.txt ]]
}

@test "--json reports the same as one object, and nothing else" {
  command -v python3 >/dev/null || skip 'no python3'
  gpnn --effort fast --json --save kept.gpm -x x1 train.tsv test.tsv >p.tsv 2>report.json
  assert_equal "$(wc -l <report.json)" 1
  gpnn-eval --index kept.gpm p.tsv >scores.tsv
  python3 - "$(value rmse scores.tsv)" "$(value nll_standard scores.tsv)" \
    "$(gpnn-info kept.gpm | value rows)" <<'END'
import json, sys
report = json.load(open('report.json'))
target, = report['targets']
assert target['predicted']['rmse'] == float(sys.argv[1])
assert abs(target['predicted']['nll_standard'] - float(sys.argv[2])) < 1e-12
assert report['rows'] == int(sys.argv[3])
assert report['unused'] == ['x2'] and report['input'] == ['x1']
assert report['kept'] == 'kept.gpm' and report['test'] == 'test.tsv'
assert target['expected']['rows'] >= 135 and target['expected']['on'] == 'cross-fitted'
assert sorted(report['step-seconds']) == ['calibrate', 'fit', 'index', 'predict']
END
}

@test "what is expected of few rows is what each of them tells of the others" {
  make_table 60 2 >few.tsv
  gpnn --effort fast --json few.tsv 2>report.json
  gpnn-predict --loo --cross-fit few.gpm 2>/dev/null | gpnn-eval >scores.tsv
  rmse=$(sed 's/.*"rmse": *\([^,]*\),.*/\1/' report.json)
  assert_near "$rmse" "$(value rmse scores.tsv)" 1e-9
}

@test "a few rows are enough" {
  for n in 3 20; do
    make_table "$n" 2 >few.tsv
    gpnn -q --effort fast few.tsv test.tsv >p.tsv
    assert_equal "$(wc -l <p.tsv)" 41
  done
  head -n 2 train.tsv >one.tsv
  head -n 1 train.tsv >none.tsv
  : >empty.tsv
  for table in one none empty; do
    status=0
    gpnn -q $table.tsv 2>err.txt || status=$?
    assert_equal "$status" 1
    [[ $(<err.txt) == "gpnn-index: $table.tsv: "* ]]
  done
}

@test "several targets, each with its lines" {
  awk -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, $1 + $3 / 2 }' train.tsv >two.tsv
  gpnn --effort fast -y y,z two.tsv test.tsv >p.tsv 2>report.txt
  assert_equal "$(grep -c '^expected   [yz]: RMSE' report.txt)" 2
  grep -q '^predicted  y: 40 rows of test.tsv' report.txt
}

@test "a target that the inputs do not tell is pointed out" {
  awk 'BEGIN { srand(1); print "x,noise"; for (i = 0; i < 200; i++) print i "," rand() }' >t.csv
  gpnn --effort fast t.csv 2>report.txt
  tr -s ' \n' ' ' <report.txt | grep -q "hardly better than the target's mean"
  awk 'BEGIN { print "x,y"; for (i = 0; i < 200; i++) print i "," sin(i / 20) }' >t.csv
  gpnn --force --effort fast t.csv 2>report.txt
  run ! grep -q 'hardly better' report.txt
}
