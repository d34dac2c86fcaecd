#!/usr/bin/env bats
# gpnn-eval: metrics as lines, as JSON, by group.

load helper

table() {
  printf 'g\ty\tmean\tsd\na\t1\t1.5\t0.5\nb\t2\t2\t1\na\t4\t3\t2\nb\t9\t9.25\t0.25\n'
}

@test "metrics of four rows agree with those computed by hand" {
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
  json out.json >members
  assert_equal "$(value n members)" 4
  [[ $(cat out.json) == '{"n": 4, "rmse": '*'"coverage99": 1, '*'}' ]]
}

@test "JSON escapes characters that its strings cannot contain" {
  printf 'y,mean,sd,g\n%s\n%s\n' '0,0,1,"a""\'$'\t''b"' '1,0,1,"a""\'$'\t''b"' >t.csv
  gpnn-eval --by g --json t.csv >out.json
  grep -qF '{"by": "a\"\\\u0009b", "n": 2, ' out.json
}

@test "--by gives a row for each group, or with --json a member of the object" {
  table | gpnn-eval --by g >out.tsv
  assert_equal "$(cut -f 1,2 out.tsv)" $'g\tn\na\t2\nb\t2'
  assert_near "$(column mse out.tsv | head -n 1)" 0.625 1e-12
  table | gpnn-eval --by g --json | grep -q '"groups": \[{"by": "a", "n": 2, '
}

@test "columns and levels can be chosen" {
  table | sed '1s/mean/m/;1s/sd/s/' | gpnn-eval -y y --mean m --sd s --levels 0.683 >out.txt
  assert_near "$(value coverage68.3 out.txt)" 1 0
}

@test "without sd, only metrics of means are printed" {
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
  gpnn-fit --effort fast --kernel exp --ard yes -m 30 t.gpi >t.par
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
  assert_fails 1 "target 'b' has other intervals" gpnn-eval < <(printf 'a,mean_a,sd_a,b,mean_b\n')
  assert_fails 2 "no column 'mean'" gpnn-eval < <(printf 'y\tsd\n1\t1\n')
  assert_fails 2 "no column before 'mean'" gpnn-eval < <(printf 'mean\tsd\n1\t1\n')
  assert_fails 2 'probabilities' gpnn-eval --levels 95 < <(table)
}

@test "missing values are NA, or null in JSON" {
  printf 'y\tmean\tsd\n1\t2\t1\n' >one.tsv # one row has no variance, and its r2 no value
  assert_equal "$(gpnn-eval one.tsv | value r2)" NA
  assert_equal "$(gpnn-eval --na - one.tsv | value r2)" -
  gpnn-eval --json one.tsv | grep -q '"r2": null,'
  printf 'y\tmean\tg\n1\t2\ta\n3\t3\tb\n4\t3\tb\n' | gpnn-eval --mean mean --by g >by.tsv
  assert_equal "$(column r2 by.tsv | head -n 1)" NA
  assert_near "$(column r2 by.tsv | tail -n 1)" -1 1e-12
  printf 'y,mean,g\n1,2,a\n' | gpnn-eval --by g --na '"' >by.csv # as a field of its table
  assert_equal "$(tail -n 1 by.csv)" 'a,1,1,1,1,""""'
}

@test "widths and interval scores are printed with coverages" {
  table | gpnn-eval --levels 0.5,0.95 >out.txt
  assert_equal "$(cut -f 1 out.txt | sed -n 9,14p | tr '\n' ' ')" \
    'coverage50 coverage95 width50 width95 score50 score95 '
  assert_near "$(value width95 out.txt)" 3.674932471012601 1e-12 # 2 1.96 3.75/4
  assert_near "$(value score50 out.txt)" 1.508800968970592 1e-12 # (2 h 3.75 + 4 (1-h) 0.75) / 4
}

@test "a reliability table has a row for each level" {
  table | gpnn-eval --table reliability >out.tsv
  assert_equal "$(head -n 1 out.tsv)" $'nominal\tobserved\tse\twidth'
  assert_equal "$(column nominal out.tsv | sed -n '1p;2p;19p;20p' | tr '\n' ' ')" '0.05 0.1 0.95 0.99 '
  assert_equal "$(wc -l <out.tsv)" 21
  table | gpnn-eval --table reliability --levels 0.5 >out.tsv
  assert_equal "$(sed -n 2p out.tsv | cut -f 1-3)" $'0.5\t0.5\t0.25'
  table | gpnn-eval --table reliability --levels 0.5 --json |
    grep -q '^{"reliability": \[{"nominal": 0.5, "observed": 0.5, "se": 0.25, "width": [0-9.]*}\]}$'
}

@test "a PIT table has a row for each bin, and its shares sum to 1" {
  table | gpnn-eval --table pit >out.tsv
  assert_equal "$(head -n 2 out.tsv)" $'from\tto\tshare\n0\t0.05\t0'
  assert_equal "$(column share out.tsv | awk '{ s += $1 } END { print NR, s }')" '20 1'
  # PITs 0.159, 0.5, 0.691, 0.159; a PIT on an edge belongs to the bin above
  table | gpnn-eval --table pit --bins 4 --by g >out.tsv
  assert_equal "$(column share out.tsv | tr '\n' ' ')" '0.5 0 0.5 0 0.5 0 0.5 0 '
  assert_equal "$(cut -f 1-3 out.tsv | sed -n '1p;9p')" $'g\tfrom\tto\nb\t0.75\t1'
}

@test "intervals of the table are scored as given" {
  local header='y\tmean\tsd\tlower\tupper\n' rows='1\t2\t9\t0\t2\n5\t2\t9\t1\t3\n0\t2\t9\tNA\tNA\n'
  # shellcheck disable=SC2059 # tables with their escapes
  printf "$header$rows" >t.tsv
  gpnn-eval t.tsv >out.txt
  assert_equal "$(value interval_coverage out.txt) $(value interval_width out.txt)" '0.5 2'
  ! value interval_score out.txt || false
  gpnn-eval --interval 0.8 t.tsv >out.txt
  assert_near "$(value interval_score out.txt)" 12 1e-12 # 2 + 2/0.2 (0 + 2) / 2
  sed '1s/lower/lower80/;1s/upper/upper80/' t.tsv | gpnn-eval >out.txt
  assert_near "$(value interval80_score out.txt)" 12 1e-12
  assert_equal "$(value interval80_coverage out.txt)" 0.5
  assert_fails 1 ':2: the lower end of an interval is above the upper' \
    gpnn-eval < <(sed '2s/0\t2$/3\t2/' t.tsv)
}

@test "the intervals that gpnn-predict writes agree with those of mean and sd" {
  make_table 300 2 >train.tsv
  make_table 50 2 300 >test.tsv
  gpnn-index -o t.gpi train.tsv
  gpnn-fit --effort fast --kernel exp -m 30 t.gpi >t.par
  gpnn-predict --interval 0.5,0.95 t.gpi -p t.par test.tsv | gpnn-eval >out.txt
  for what in coverage width score; do
    assert_near "$(value interval95_$what out.txt)" "$(value ${what}95 out.txt)" 1e-9
    assert_near "$(value interval50_$what out.txt)" "$(value ${what}50 out.txt)" 1e-9
  done
}

@test "a column of degrees of freedom makes the predictions Student's t" {
  # with 4 degrees of freedom and sd sqrt(2) the scale is 1; 0.95 lies within 2.776445105197793
  printf 'y\tmean\tsd\tdf\n2.7\t0\t1.4142135623730951\t4\n2.8\t0\t1.4142135623730951\t4\n' >t.tsv
  gpnn-eval t.tsv >out.txt
  assert_equal "$(value coverage95 out.txt)" 0.5
  assert_near "$(value width95 out.txt)" 5.552890210395586 1e-9
  sed 's/4$/inf/;3s/inf/NA/' t.tsv | gpnn-eval >normal.txt
  cut -f 1-3 t.tsv | gpnn-eval | cmp - normal.txt
  sed '1s/df/nu/' t.tsv | gpnn-eval --df nu | cmp - out.txt
  assert_fails 1 '\(stdin\):2: degrees of freedom are not above 2' \
    gpnn-eval < <(printf 'y\tmean\tsd\tdf\n1\t2\t1\t2\n')
}

several() {
  printf 'g,a,mean_a,sd_a,b,mean_b,sd_b\nu,1,1.5,0.5,10,13,2\nv,2,2,1,20,20,2\nu,4,3,2,NA,30,2\n'
}

@test "several targets have one row each, and one for their mean" {
  several | gpnn-eval >out.csv 2>err.txt
  assert_equal "$(cut -d , -f 1,2,4 out.csv)" \
    $'target,n,mse\na,3,0.4166666666666667\nb,2,4.5\nmean,2.5,2.4583333333333335'
  assert_equal "$(cat err.txt)" \
    "gpnn-eval: target 'b': (stdin): 1 rows without truth or prediction left out"
  # each as if it were alone
  several | cut -d , -f 5-7 | sed '1s/_b//g' | gpnn-eval -q | cut -f 2 | paste -sd , >b.txt
  sed -n 's/^b,//p' out.csv | cmp - b.txt
}

@test "several targets can be scored by group, as tables and as JSON" {
  several >t.csv
  gpnn-eval -q --by g t.csv >out.csv
  assert_equal "$(cut -d , -f 1-3 out.csv | paste -sd ' ')" \
    'target,g,n a,u,2 a,v,1 b,u,1 b,v,1'
  gpnn-eval -q --table reliability --levels 0.5 t.csv >out.csv
  assert_equal "$(cut -d , -f 1-3 out.csv | paste -sd ' ')" \
    'target,nominal,observed a,0.5,0.6666666666666666 b,0.5,0.5'
  gpnn-eval -q --json --by g t.csv |
    grep -q '^{"targets": \[{"target": "a", "n": 3, .*"groups": \[{"by": "u", "n": 2, .*{"target": "b", '
  gpnn-eval -q --json t.csv | grep -q ', "mean": {"n": 2.5, '
}

@test "options that do not go together are refused" {
  table >t.tsv
  several >s.csv
  assert_fails 2 'option --table: metrics, reliability, pit, confusion, roc or classes' gpnn-eval --table x t.tsv
  assert_fails 2 '--bins is for --table pit' gpnn-eval --bins 5 t.tsv
  assert_fails 2 'option --bins' gpnn-eval --table pit --bins 0 t.tsv
  assert_fails 2 'one probability' gpnn-eval --interval 0.5,0.9 t.tsv
  assert_fails 2 "^t.tsv: no columns 'lower' and 'upper'" gpnn-eval --interval 0.9 t.tsv
  cut -f 2,3 t.tsv >means.tsv
  assert_fails 2 '^means.tsv: --table needs standard' gpnn-eval --table pit means.tsv
  assert_fails 2 "no column 'h'" gpnn-eval --by h s.csv
  assert_fails 2 "no column 'mean'" gpnn-eval -y a s.csv
}

@test "log densities, crps and pit of the table replace those of mean and sd" {
  printf 'y,mean,sd,logp,crps,pit\n1,2,1,-2,0.5,0.2\n3,2,1,-1,0.25,0.96\n' >scored.csv
  gpnn-eval scored.csv >out.txt
  assert_equal "$(value nll out.txt) $(value crps out.txt)" "1.5 0.375"
  assert_equal "$(value rmse out.txt) $(value cal out.txt)" "1 1"
  assert_equal "$(value coverage50 out.txt) $(value coverage80 out.txt)" "0 0.5"
  assert_equal "$(value coverage95 out.txt) $(value width95 out.txt)" "1 NA"
  assert_near "$(value pit_distance out.txt)" 0.46 1e-12
  gpnn-eval --json scored.csv | grep -q '"nll": 1.5, .*"width95": null'
  gpnn-eval --table reliability --levels 0.5,0.95 scored.csv | cut -d , -f 1,2,4 |
    diff - <(printf 'nominal,observed,width\n0.5,0,NA\n0.95,1,NA\n')
  gpnn-eval --table pit --bins 2 scored.csv | diff - <(printf 'from,to,share\n0,0.5,0.5\n0.5,1,0.5\n')
}

@test "scores of the table that cannot be are refused" {
  printf 'y,mean,sd,pit\n1,2,1,0.5\n3,2,1,1.5\n' >t.csv
  assert_fails 1 't.csv:3: pit is not between 0 and 1 but 1.5$' gpnn-eval t.csv
  printf 'y,mean,sd,crps\n1,2,1,-3\n' >t.csv
  assert_fails 1 't.csv:2: crps is negative: -3$' gpnn-eval t.csv
}

@test "the PIT of rounded truths is randomised, whatever their order" {
  awk 'BEGIN {
    srand(4); print "y\tmean\tsd"
    for (i = 0; i < 4000; i++) {
      z = sqrt(-2 * log(1 - rand())) * cos(6.283185307 * rand()); m = 30 * rand()
      printf "%d\t%.6f\t0.4\n", m + 0.4 * z + 1000.5, m + 1000
    }
  }' >t.tsv
  gpnn-eval t.tsv >out.txt
  assert_below "$(value pit_distance out.txt)" 0.03
  { head -n 1 t.tsv; tail -n +2 t.tsv | sort; } | gpnn-eval >sorted.txt
  assert_equal "$(grep pit sorted.txt)" "$(grep pit out.txt)"
}
