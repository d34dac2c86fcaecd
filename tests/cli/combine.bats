#!/usr/bin/env bats
# gpnn-combine: predictions of several models of the same rows, combined.

load helper

# Two tables of predictions by hand, with truths, of three rows.
make_predictions() {
  printf 'id\ty\tmean\tsd\na\t1\t0.8\t0.5\nb\t-1\t-0.4\t0.6\nc\t0\t0.3\t0.9\n' >1.tsv
  printf 'id\ty\tmean\tsd\nc\t0\t-0.2\t0.4\na\t1\t1.3\t0.5\nb\t-1\t-1.2\t0.7\n' >2.tsv
}

# of ROW COLUMN FILE
of() { awk -F '\t' -v row="$1" -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } $1 == row { print $at[name] }' "$3"; }

@test "views that are independent given the target are fused exactly" {
  gpnn-simulate views -n 200000 --correlation 0.9 >all.tsv
  for view in 1 2; do
    awk -F '\t' -v k=$((view + 2)) 'NR == 1 { print "id\ty\tmean\tsd"; next } { print $1 "\t" $2 "\t" 0.9 * $k "\t" sqrt(0.19) }' \
      all.tsv >$view.tsv
  done
  gpnn-combine --id id --prior 0,1 1.tsv 2.tsv | gpnn-eval >scores
  assert_near "$(value rmse scores)" 0.3242 0.002
  assert_near "$(value cal scores)" 1 0.01
}

@test "rows are found by their ids, and predictions are those of the formula" {
  make_predictions
  gpnn-combine --id id --prior 0.1,1.2 1.tsv 2.tsv >fused.tsv
  assert_equal "$(cut -f 1,2 fused.tsv)" "$(cut -f 1,2 1.tsv)"
  local precision='1 / 0.36 + 1 / 0.49 - 1 / 1.44'
  assert_near "$(of b sd fused.tsv)" "$(awk "BEGIN { print 1 / sqrt($precision) }")" 1e-6
  assert_near "$(of b mean fused.tsv)" "$(awk "BEGIN { print (-0.4 / 0.36 - 1.2 / 0.49 - 0.1 / 1.44) / ($precision) }")" 1e-6
  gpnn-combine --id id --rule weights --weights 3,1 1.tsv 2.tsv >mixed.tsv
  assert_near "$(of a mean mixed.tsv)" 0.925 1e-12
  gpnn-combine --id id --rule gpoe --weights equal 1.tsv 2.tsv >gpoe.tsv
  assert_near "$(of c mean gpoe.tsv)" "$(awk 'BEGIN { print (0.3 / 0.81 - 0.2 / 0.16) / (1 / 0.81 + 1 / 0.16) }')" 1e-6
  gpnn-combine --id id --noise 0.1 --rule poe 1.tsv 2.tsv >noise.tsv
  assert_near "$(of a sd noise.tsv)" "$(awk 'BEGIN { print sqrt(0.075 + 0.1) }')" 1e-6
}

@test "one table is left as it is, without ids row by row, from standard input" {
  make_predictions
  gpnn-combine --prior 0,1 - <1.tsv | diff - <(cut -f 2- 1.tsv)
  cut -f 3,4 1.tsv >bare.tsv
  gpnn-combine --rule poe bare.tsv | diff - bare.tsv
  tail -n +2 1.tsv | cut -f 2- | gpnn-combine --no-header --prior 0,1 - | tail -n +2 | diff - <(tail -n +2 1.tsv | cut -f 2-)
  sed 's/\t/,/g' 1.tsv | gzip >1.csv.gz
  gpnn-combine --id id --prior 0,1 1.csv.gz 2.tsv | diff - <(gpnn-combine --id id --prior 0,1 1.tsv 2.tsv)
}

@test "long tables go through in blocks of rows, as if they were in memory" {
  gpnn-simulate views -n 9000 >all.tsv
  awk -F '\t' 'NR == 1 { print "id\ty\tmean\tsd\tdf"; next } { print NR "\t" $2 "\t" $3 "\t0.5\t" (NR > 8990 ? 5 : "inf") }' all.tsv >1.tsv
  awk -F '\t' 'NR == 1 { print "id\ty\tmean\tsd"; next } { print NR "\t" $2 "\t" $4 "\t0.7" }' all.tsv >2.tsv
  gpnn-combine --id id 1.tsv 2.tsv | cut -f 2- >whole.tsv
  gpnn-combine 1.tsv 2.tsv | diff - whole.tsv
  gpnn-combine -j 1 <(cat 1.tsv) - <2.tsv | diff - whole.tsv
  head -n 8193 2.tsv >short.tsv
  assert_fails 1 'short.tsv: has 8192 rows, but 1.tsv has 9000' gpnn-combine --prior 0,1 1.tsv short.tsv
  assert_fails 1 '1.tsv: has 9000 rows, but short.tsv has 8192' gpnn-combine --prior 0,1 short.tsv 1.tsv
  sed '9000s/0.7$/x/' 2.tsv >bad.tsv
  assert_fails 1 "bad.tsv:9000: column 'sd': not a number" gpnn-combine --prior 0,1 -o out.tsv 1.tsv bad.tsv
  [ ! -e out.tsv ]
  gpnn-combine --prior 0,1 1.tsv bad.tsv 2>/dev/null | tail -n 1 | awk -F '\t' 'NF != 4 { exit 1 }'
  awk -F '\t' 'NR > 1 { $4 = "NA" } { print }' OFS='\t' 2.tsv >without.tsv
  assert_fails 1 "without.tsv: has no column 'sd'" gpnn-combine --prior 0,1 1.tsv without.tsv
  sed '9000s/\t[^\t]*/\t77/' 2.tsv >other.tsv
  assert_fails 1 "other.tsv: column 'y': the truth of row 8999 is 77" gpnn-combine --prior 0,1 1.tsv other.tsv
}

@test "what a model does not predict comes from the others" {
  make_predictions
  sed 's/^c.*/c\t0\tNA\tNA/' 1.tsv >gap.tsv
  gpnn-combine --id id --prior 0,1 gap.tsv 2.tsv >fused.tsv
  assert_near "$(of c mean fused.tsv)" -0.2 1e-12
  assert_near "$(of c sd fused.tsv)" 0.4 1e-12
  sed 's/^c.*/c\t0\tNA\tNA/' 2.tsv >other.tsv
  gpnn-combine --id id --prior 0,1 gap.tsv other.tsv >none.tsv
  assert_equal "$(tail -n 1 none.tsv)" "$(printf 'c\t0\tNA\tNA')"
  gpnn-eval -q none.tsv | grep -q '^n	2$'
}

@test "Student's t keeps its degrees of freedom, and intervals are of it" {
  printf 'mean\tsd\tdf\n1\t2\t5\n' >1.tsv
  printf 'mean\tsd\n2\t2\n' >2.tsv
  gpnn-combine --rule poe --interval 0.95 1.tsv >t.tsv
  assert_equal "$(head -n 1 t.tsv)" "$(printf 'mean\tsd\tdf\tlower\tupper')"
  assert_equal "$(column df t.tsv)" 5
  assert_near "$(column upper t.tsv)" "$(awk 'BEGIN { print 1 + 2 * sqrt(3 / 5) * 2.570582 }')" 1e-5
  gpnn-combine --rule poe --interval 0.5,0.9 2.tsv 2.tsv | head -n 1 | diff - <(printf 'mean\tsd\tlower50\tupper50\tlower90\tupper90\n')
}

@test "a model that contributes little does not give its tails to all" {
  printf 'mean\tsd\tdf\n0\t30\t2.05\n' >1.tsv
  printf 'mean\tsd\n0.2\t1\n' >2.tsv
  gpnn-combine --prior 0,50 --interval 0.95 1.tsv 2.tsv >fused.tsv
  assert_below 20 "$(column df fused.tsv)"
  # What the product of the densities holds there, by sums over a fine grid.
  awk -v l="$(column lower fused.tsv)" -v u="$(column upper fused.tsv)" 'BEGIN {
    s = 30 * sqrt(0.05 / 2.05)
    for (y = -40; y < 40; y += 0.001) {
      p = exp(-1.525 * log(1 + (y / s) ^ 2 / 2.05) - (y - 0.2) ^ 2 / 2 + y * y / 5000)
      all += p
      if (y > l && y < u) within += p
    }
    exit !(within / all > 0.945 && within / all < 0.955)
  }'
}

@test "the same table twice is told of, and huge numbers are refused" {
  make_predictions
  cut -f 2- 1.tsv >a.tsv
  cp a.tsv b.tsv
  gpnn-combine --prior 0,1 a.tsv b.tsv 2>&1 >/dev/null | grep -q '^gpnn-combine: a.tsv and b.tsv predict the same: the rule fuse counts that twice$'
  gpnn-combine --rule stack a.tsv b.tsv 2>&1 >/dev/null | { ! grep -q 'counts that twice'; }
  for cell in 'mean -1e308 1' 'sd 1 1e308'; do
    read -r name mean sd <<<"$cell"
    printf 'mean\tsd\n0\t1\n%s\t%s\n' "$mean" "$sd" >huge.tsv
    assert_fails 1 "huge.tsv:3: column '$name': numbers beyond 1e100 are not combined" gpnn-combine --prior 0,1 huge.tsv huge.tsv
  done
  assert_fails 2 'between 1e-100 and 1e100' gpnn-combine --prior 0,1e308 a.tsv
}

@test "weights are learnt from truths, those of the tables or of another" {
  make_lesson
  gpnn-combine --id id --rule stack 1.tsv 2.tsv >stack.tsv
  gpnn-combine --id id --rule stack --learn truths.tsv 1.tsv 2.tsv | diff - stack.tsv
  head -n 40 truths.tsv >some.tsv
  gpnn-combine --id id --rule stack --learn some.tsv 1.tsv 2.tsv >few.tsv
  assert_equal "$(wc -l <few.tsv)" 201
  gpnn-eval -q stack.tsv >scores
  assert_below "$(value rmse scores)" "$(gpnn-eval -q 1.tsv | value rmse)"
  assert_near "$(value cal scores)" 1 1e-6
  cut -f 1-3 2.tsv >trees.tsv
  gpnn-combine --id id --rule stack 1.tsv trees.tsv | gpnn-eval -q >scores
  assert_near "$(value cal scores)" 1 1e-6
  assert_fails 1 "trees.tsv: has no column 'sd', which the rule weights needs" gpnn-combine --id id --rule weights 1.tsv trees.tsv
}

# Two models of 200 rows whose errors have sd 0.5 and 0.7.
make_lesson() {
  gpnn-simulate views -n 200 >all.tsv
  cut -f 1,2 all.tsv >truths.tsv
  awk -F '\t' 'NR == 1 { print "id\ty\tmean\tsd"; next } { print $1 "\t" $2 "\t" $2 + 1.2 * ($3 - 0.9 * $2) "\t" 0.6 }' all.tsv >1.tsv
  awk -F '\t' 'NR == 1 { print "id\ty\tmean\tsd"; next } { print $1 "\t" $2 "\t" $2 + 1.6 * ($4 - 0.9 * $2) "\t" 0.6 }' all.tsv >2.tsv
}

@test "a check scores every model and every rule" {
  make_lesson
  gpnn-combine --id id --check truths.tsv 1.tsv 2.tsv >rules.tsv
  assert_equal "$(cut -f 1 rules.tsv | paste -sd ' ')" 'rule 1.tsv 2.tsv fuse poe gpoe gpoe-equal rbcm grbcm weights stack'
  assert_near "$(of 1.tsv rmse rules.tsv)" "$(gpnn-eval -q 1.tsv | value rmse)" 1e-12
  gpnn-combine --id id --rule poe 1.tsv 2.tsv | gpnn-eval -q >scores
  for name in rmse nll cal crps; do
    assert_near "$(of poe $name rules.tsv)" "$(value $name scores)" 1e-12
  done
  assert_equal "$(of stack n rules.tsv)" 200
  gpnn-combine --check truths.tsv 1.tsv 2.tsv | diff - rules.tsv
  diff <(gpnn-combine --prior 0,1 --rule bcm 1.tsv 2.tsv) <(gpnn-combine --prior 0,1 1.tsv 2.tsv)
}

@test "what does not belong together is refused" {
  make_predictions
  assert_fails 2 'give the mean and sd of the target by --prior' gpnn-combine <(cut -f 3,4 1.tsv) <(cut -f 3,4 1.tsv)
  assert_fails 1 "2.tsv: column 'y': the truth of row 1 is 0, but 1 in 1.tsv: are these the same rows, in the same order" \
    gpnn-combine --prior 0,1 1.tsv 2.tsv
  head -n 3 2.tsv >short.tsv
  assert_fails 1 'short.tsv: has 2 rows, but 1.tsv has 3' gpnn-combine --id id --prior 0,1 1.tsv short.tsv
  sed 's/^b/d/' 2.tsv >other.tsv
  assert_fails 1 "other.tsv: has no row with the id \"b\", which 1.tsv has" gpnn-combine --id id --prior 0,1 1.tsv other.tsv
  sed 's/^b/a/' 2.tsv >twice.tsv
  assert_fails 1 "twice.tsv: column 'id': two rows have the id \"a\"" gpnn-combine --id id --prior 0,1 1.tsv twice.tsv
  sed 's/0.7$/-0.7/' 2.tsv >negative.tsv
  assert_fails 1 "negative.tsv:4: column 'sd': a standard deviation below 0: \"-0.7\"" gpnn-combine --id id --prior 0,1 1.tsv negative.tsv
  sed 's/1.3/x/' 2.tsv >word.tsv
  assert_fails 1 "word.tsv:3: column 'mean': not a number: \"x\"" gpnn-combine --id id --prior 0,1 1.tsv word.tsv
  printf 'id\ta\nx\t1\n' >table.tsv
  assert_fails 2 "table.tsv: has no column 'mean'" gpnn-combine --prior 0,1 table.tsv
  printf 'mean\tsd\tsample1\n1\t1\t0.5\n' >draws.tsv
  assert_fails 1 'draws.tsv: has draws' gpnn-combine --prior 0,1 draws.tsv
  printf 'label\tp_a\tp_b\na\t0.9\t0.1\n' >classes.tsv
  assert_fails 1 'classes.tsv: has predictions of classes' gpnn-combine --prior 0,1 classes.tsv
  assert_fails 2 "no column 'key'" gpnn-combine --id key --prior 0,1 1.tsv 2.tsv
  assert_fails 2 'option --prior' gpnn-combine --prior 0,-1 1.tsv
  assert_fails 2 'option --weights: equal, or 2 numbers' gpnn-combine --rule stack --weights 1,2,3 1.tsv 2.tsv
  assert_fails 2 'are for the rules' gpnn-combine --weights 1,2 1.tsv 2.tsv
  assert_fails 2 'only one table' gpnn-combine --prior 0,1 - -
  assert_fails 2 'scores every rule' gpnn-combine --check 1.tsv --rule poe 1.tsv
  assert_fails 1 'cannot be learnt from 3 rows' gpnn-combine --rule stack 1.tsv 1.tsv 1.tsv
  head -n 1 1.tsv >none.tsv
  assert_equal "$(gpnn-combine --prior 0,1 none.tsv none.tsv)" "$(printf 'y\tmean\tsd')"
  run bash -c 'gpnn-combine --prior 0,1 1.tsv >/dev/full'
  assert_equal "$status" 1
}
