#!/usr/bin/env bats
# gpnn-eval: metrics as lines, as JSON, by group.

load helper

table() {
  printf 'g\ty\tmean\tsd\na\t1\t1.5\t0.5\nb\t2\t2\t1\na\t4\t3\t2\nb\t9\t9.25\t0.25\n'
}

@test "metrics of four rows, by hand" {
  table | gpnn-eval >out.txt
  assert_equal "$(value n out.txt)" 4
  assert_near "$(value mse out.txt)" 0.328125 1e-12
  assert_near "$(value mae out.txt)" 0.4375 1e-12
  assert_near "$(value cal out.txt)" 0.5625 1e-12
  assert_near "$(value r2 out.txt)" 0.965460526315789 1e-12
  assert_near "$(value coverage50 out.txt)" 0.5 1e-12
}

@test "JSON is one object with the same values" {
  table | gpnn-eval --json >out.json
  assert_equal "$(wc -l <out.json)" 1
  [[ $(cat out.json) == '{"n": 4, "rmse": '*'"coverage99": 1, '*'}' ]]
}

@test "--by gives a row for each group, --json the groups in the object" {
  table | gpnn-eval --by g >out.tsv
  assert_equal "$(cut -f 1,2 out.tsv)" $'g\tn\na\t2\nb\t2'
  assert_near "$(column mse out.tsv | head -n 1)" 0.625 1e-12
  table | gpnn-eval --by g --json | grep -q '"groups": \[{"by": "a", "n": 2, '
}

@test "other columns, other levels" {
  table | sed '1s/mean/m/;1s/sd/s/' | gpnn-eval -y y --mean m --sd s --levels 0.683 >out.txt
  assert_near "$(value coverage68.3 out.txt)" 1 0
}

@test "without sd only what means allow" {
  table | cut -f 2,3 | gpnn-eval >out.txt
  assert_equal "$(cut -f 1 out.txt | tr '\n' ' ')" 'n rmse mse mae r2 '
}

@test "rows without prediction are left out and counted" {
  { table; printf 'a\t3\tNA\tNA\n'; printf 'a\t\t3\t1\n'; } | gpnn-eval >out.txt 2>err.txt
  assert_equal "$(value n out.txt)" 4
  grep -q '2 rows' err.txt
}

@test "--index adds the metrics in standardised units" {
  make_table 300 2 >train.tsv
  make_table 50 2 300 >test.tsv
  gpnn-index -o t.gpi train.tsv
  gpnn-fit --kernel exp --ard yes -m 30 t.gpi >t.par
  gpnn-predict t.gpi -p t.par test.tsv | gpnn-eval --index t.gpi >a.txt
  gpnn-predict --units standard t.gpi -p t.par test.tsv | gpnn-eval >b.txt
  for name in rmse mse mae nll crps; do
    assert_near "$(value ${name}_standard a.txt)" "$(value $name b.txt)" 1e-9
  done
}

@test "what cannot be scored is refused" {
  assert_fails 1 '\(stdin\):2: a standard deviation is not a positive number' \
    gpnn-eval < <(printf 'y\tmean\tsd\n1\t2\t-1\n')
  assert_fails 1 'no row with a truth' gpnn-eval < <(printf 'y\tmean\tsd\n')
  assert_fails 2 "no column 'mean'" gpnn-eval < <(printf 'y\tsd\n1\t1\n')
  assert_fails 2 "no column before 'mean'" gpnn-eval < <(printf 'mean\tsd\n1\t1\n')
  assert_fails 2 'probabilities' gpnn-eval --levels 95 < <(table)
}
