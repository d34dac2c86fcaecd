#!/usr/bin/env bats
# gpnn-eval --monitor: a row a night, limits, and an alarm where scores lie outside chance.

load helper

# night SEED FACTOR [ROWS]: predictions whose errors are FACTOR times as large as predicted.
night() {
  awk -v seed="$1" -v factor="$2" -v n="${3:-200}" 'BEGIN {
    srand(seed)
    print "y\tmean\tsd"
    for (i = 0; i < n; i++) {
      z = sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand())
      printf "%.6f\t0\t1\n", factor * z
    }
  }'
}

# history N: one of N nights of December, numbered from 1.
history() {
  local i
  for ((i = 1; i <= $1; i++)); do
    night "$i" 1 | gpnn-eval -q --monitor h.tsv --night "2026-12-$(printf %02d "$i")"
  done
}

@test "a night is a row, and the first ones have no limits" {
  night 1 1 >p.tsv
  gpnn-eval --monitor h.tsv --night 2026-12-01 p.tsv >out.txt 2>err.txt
  [[ ! -s out.txt ]]
  grep -q '^gpnn-eval: 2026-12-01: there are no limits yet: they come from 7 nights or more' err.txt
  assert_equal "$(head -n 1 h.tsv | cut -f 1-10 | tr '\t' ' ')" \
    'date rows n rmse nll crps coverage95 pit_distance na far'
  assert_equal "$(column rmse h.tsv)" "$(gpnn-eval p.tsv | value rmse)"
  assert_equal "$(column pit_distance h.tsv)" "$(gpnn-eval p.tsv | value pit_distance)"
  assert_equal "$(column far h.tsv) $(column rmse_high h.tsv) $(column alarm h.tsv)" 'NA NA none'
}

@test "a night outside chance is added, said to be, and has status 3" {
  history 8
  night 9 2 >p.tsv
  run -3 gpnn-eval -q --monitor h.tsv --night 2026-12-09 p.tsv
  [[ ${lines[0]} == 'gpnn-eval: 2026-12-09: rmse is '*', above the limit of '* ]]
  [[ $(tail -n 1 h.tsv | cut -f 1) == 2026-12-09 && $(column alarm h.tsv | tail -n 1) == rmse* ]]
  # such nights do not move limits, and one that is as before has none of this
  night 10 1 | gpnn-eval --monitor h.tsv --night 2026-12-10 2>err.txt && [[ ! -s err.txt ]]
}

@test "a date that is there already is replaced, and nights come in the order of dates" {
  history 3
  night 7 1 | gpnn-eval -q --monitor h.tsv --night 2026-12-02
  night 8 1 | gpnn-eval -q --monitor h.tsv --night 20261130
  assert_equal "$(column date h.tsv | paste -sd ' ')" '2026-11-30 2026-12-01 2026-12-02 2026-12-03'
  assert_equal "$(column rmse h.tsv | sed -n 3p)" "$(night 7 1 | gpnn-eval | value rmse)"
}

@test "without --night a night is today's" {
  before=$(date +%F)
  night 1 1 | gpnn-eval -q --monitor h.tsv
  [[ $(column date h.tsv) == "$before" || $(column date h.tsv) == $(date +%F) ]]
}

@test "rows without prediction and rows far away are counted" {
  printf 'y\tmean\tsd\tfar\n1\t2\t1\t0\n1\tNA\tNA\tNA\n3\t2\t1\t1\nNA\t2\t1\t0\n' >p.tsv
  gpnn-eval -q --monitor h.tsv --night 2026-12-01 p.tsv
  assert_equal "$(cut -f 2,3,9 h.tsv | tail -n 1 | tr '\t' ' ')" '4 2 0.25'
  assert_near "$(column far h.tsv)" 0.3333333333333333 1e-15
}

@test "classes have a history of their own" {
  printf 'k\tlabel\tp_a\tp_b\na\ta\t0.9\t0.1\nb\ta\t0.6\t0.4\n' >p.tsv
  gpnn-eval -q --monitor c.tsv --night 2026-12-01 p.tsv
  assert_equal "$(cut -f 1-8 c.tsv | head -n 1 | tr '\t' ' ')" 'date rows n error nll brier na far'
  history 1
  assert_fails 1 "not such a history as is to be continued: h.tsv: no column 'error'" \
    gpnn-eval --monitor h.tsv --night 2026-12-02 p.tsv
}

@test "a model says what to expect of the first nights" {
  make_table 1200 2 >train.tsv
  make_table 300 2 1200 >test.tsv
  gpnn-index --calibration-rows 200 -o t.gpi train.tsv
  gpnn-fit --effort fast --kernel exp -m 30 t.gpi | gpnn-calibrate t.gpi >t.cal
  gpnn-index --pack t.cal -o t.gpm t.gpi
  gpnn-predict t.gpm test.tsv >p.tsv
  gpnn-eval --monitor h.tsv --index t.gpm --night 2026-12-01 p.tsv
  [[ $(column rmse_high h.tsv) != NA && $(column alarm h.tsv) == none ]]
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 += 30 } 1' p.tsv >bad.tsv
  run -3 gpnn-eval --monitor h.tsv --index t.gpm --night 2026-12-02 bad.tsv
  assert_fails 1 'parameters' gpnn-eval --monitor h.tsv --index t.gpi --night 2026-12-03 p.tsv
}

@test "what makes no sense is refused, and the history stays" {
  history 1
  cp h.tsv before.tsv
  night 1 1 >p.tsv
  assert_fails 2 '--night is for --monitor' gpnn-eval --night 2026-12-02 p.tsv
  assert_fails 2 'option --night: not a date' gpnn-eval --monitor h.tsv --night yesterday p.tsv
  assert_fails 2 '--by is for what is printed' gpnn-eval --monitor h.tsv --by y p.tsv
  assert_fails 2 '--json is for what is printed' gpnn-eval --monitor h.tsv --json p.tsv
  assert_fails 2 '--output is for what is printed' gpnn-eval --monitor h.tsv -o x p.tsv
  assert_fails 1 "not such a history: p.tsv: no column 'date'" gpnn-eval --monitor p.tsv p.tsv
  echo 'one line of something else' >note
  assert_fails 1 "not such a history: note: no column 'date'" gpnn-eval --monitor note p.tsv
  assert_equal "$(<note)" 'one line of something else'
  printf 'a,mean_a,b,mean_b\n1,2,5,5\n' >two.csv
  assert_fails 2 'predictions of several targets' gpnn-eval --monitor h.tsv two.csv
  assert_fails 1 'no row with a truth' gpnn-eval --monitor h.tsv < <(head -n 1 p.tsv)
  { cat h.tsv; tail -n 1 h.tsv; } >bad.tsv
  assert_fails 1 'bad.tsv:3: the date is not after' gpnn-eval --monitor bad.tsv p.tsv
  cmp h.tsv before.tsv
}

@test "gpnn-plot monitor draws a panel for each figure, with limits and alarms" {
  history 9
  night 10 2 | { gpnn-eval -q --monitor h.tsv --night 2026-12-10 || true; } 2>/dev/null
  gpnn-plot monitor --script --title Nights h.tsv >script
  assert_equal "$(grep -c '^plot \$figure' script)" 6 # no column far
  assert_equal "$(grep -c '^20797 ' script)" 6
  grep -q '^20797 \([0-9.]*\) NaN [0-9.]* \1$' script # an alarm
  gpnn-plot monitor -o h.svg h.tsv
  grep -q '<svg' h.svg
  head -n 2 h.tsv | gpnn-plot monitor -o one.svg
  assert_fails 1 'no nights' gpnn-plot monitor --script < <(head -n 1 h.tsv)
  night 1 1 >p.tsv
  assert_fails 2 "no column 'date': .*; monitor draws a history of scores" gpnn-plot monitor --script p.tsv
  assert_fails 2 '--unit does not apply to monitor' gpnn-plot monitor --unit K h.tsv
}
