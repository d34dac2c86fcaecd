#!/usr/bin/env bats
# Several targets of one index, with one metric or one each.

load helper

# two_targets ROWS [FIRST]: a table with a second target, a function of the second input alone.
two_targets() {
  make_table "$1" 2 "${2:-0}" | awk -F '\t' -v OFS='\t' '
    NR == 1 { print $0, "z"; next }
    { print $0, sin(7 * $2) + 0.01 * ((NR * 7919) % 10) }'
}

prepare() {
  two_targets 600 >train.tsv
  two_targets 50 600 >test.tsv
  gpnn-index -q -y y,z -o t.gpi train.tsv
}

fit() {
  gpnn-fit -q --kernel matern32 --ard yes --rotate none -m 30 --objective block "$@" t.gpi
}

@test "targets share a metric unless each gets its own" {
  prepare
  fit >default.par
  fit --lengthscales shared >shared.par
  fit --lengthscales own >own.par
  cmp default.par shared.par
  [ "$(grep -c '^target' shared.par)" -eq 2 ]
  [ "$(grep '^lengthscale' shared.par | sort -u | wc -l)" -eq 1 ]
  [ "$(grep '^noise' shared.par | sort -u | wc -l)" -eq 2 ]
  [ "$(grep '^lengthscale' own.par | sort -u | wc -l)" -eq 2 ]
}

@test "warnings say which targets they are about, once" {
  two_targets 60 >once.tsv
  awk -v OFS='\t' '{ print } NR > 1 { print $1, $2, -$3, -$4 }' once.tsv >train.tsv
  gpnn-index -q --calibration-rows 0 -y y,z -o t.gpi train.tsv
  local model=(--objective block --kernel exp --ard no --rotate none -m 20 --fix noise=1e-17)
  gpnn-fit "${model[@]}" --lengthscales own t.gpi 2>err.txt >t.par
  assert_equal "$(cut -d ';' -f 1 err.txt)" \
    "gpnn-fit: targets 'y' and 'z': 1 of the blocks had a covariance that is not positive definite"
  gpnn-fit "${model[@]}" t.gpi 2>&1 >t.par | grep -q '^gpnn-fit: all targets: 2 of the blocks had a covariance'
  gpnn-predict -p t.par t.gpi train.tsv 2>err.txt >/dev/null
  assert_equal "$(grep 'positive definite' err.txt | cut -d ';' -f 1)" \
    "gpnn-predict: targets 'y' and 'z': 120 of the rows had a covariance that is not positive definite"
  gpnn-calibrate -v --loo -p t.par t.gpi 2>err.txt >/dev/null
  grep -q "^gpnn-calibrate: target 'z': scale " err.txt
  assert_equal "$(grep -c 'not positive definite' err.txt)" 1
  [ "$(gpnn-calibrate -q --loo -p t.par t.gpi 2>&1 >/dev/null | wc -l)" -eq 0 ]
}

# warned N: what gpnn-calibrate says of N targets that differ, without the numbers of the first.
warned() {
  make_table 60 2 | awk -v n="$1" -v OFS='\t' '{
    printf "%s\t%s", $1, $2
    for (t = 1; t <= n; t++) printf "\t%s", NR == 1 ? "t" t : sin(3 * t * $1 + $2) + t
    print ""
  }' >many.tsv
  gpnn-index -q --calibration-rows 20 -y "3-$(($1 + 2))" -o many.gpi many.tsv
  { for t in $(seq "$1"); do printf 'target\tt%d\n' "$t"; make_parameters exp 1 1 0.1 10; done; } |
    gpnn-calibrate many.gpi 2>&1 >/dev/null | sed -E 's/[0-9.]+, from|of [0-9.]+ /X/'
}

@test "what differs between targets is said of the first" {
  assert_equal "$(warned 1 | cut -d ' ' -f 1-3)" 'gpnn-calibrate: the factor'
  warned 2 | grep -q "^gpnn-calibrate: targets 't1' and 't2': the factor .*(numbers of 't1')$"
  warned 3 | grep -q "^gpnn-calibrate: targets 't1', 't2' and 't3': the factor "
  warned 14 | grep -q "^gpnn-calibrate: targets 't1', 't2' and 12 more: the factor "
  assert_equal "$(warned 14 | wc -l)" 1
}

@test "several targets need names that parameters can hold" {
  printf 'a\tb\t z\n1\t2\t3\n4\t5\t7\n2\t2\t2\n' >t.tsv
  gpnn-index -q -y 'b, z' -o t.gpi t.tsv
  assert_fails 1 'target " z": parameters cannot hold a name' gpnn-fit t.gpi
}

@test "an outlier in a further target is reported with the target's name" {
  two_targets 200 >train.tsv
  sed '7s/[^\t]*$/-1e5/' train.tsv >slip.tsv
  gpnn-index --calibration-rows 0 -y y,z -o t.gpi slip.tsv 2>err.txt
  grep -q "target 'z': one cell is -100000, far outside the rest" err.txt
}

@test "ratio keeps noise and kernel scale in proportion, also after calibration" {
  prepare
  fit --lengthscales ratio >ratio.par
  gpnn-calibrate -q -p ratio.par t.gpi >calibrated.par
  for file in ratio.par calibrated.par; do
    awk '$1 == "kernelscale" { scale = $2 } $1 == "noise" { printf "%.10g\n", $2 / scale }' "$file"
  done | sort -u >ratios.txt
  [ "$(wc -l <ratios.txt)" -eq 1 ]
  [ "$(grep '^kernelscale' ratio.par | sort -u | wc -l)" -eq 2 ]
}

@test "a target's own metric equals that of an index with only this target" {
  prepare
  fit --lengthscales own | awk '$1 == "target" { on = $2 == "z" } on && $1 ~ /scale|noise/' >own.txt
  gpnn-index -q -y z -x x1,x2 -o t.gpi train.tsv
  fit | grep -E '^[a-z]*(scale|noise)' >alone.txt
  cmp own.txt alone.txt
}

@test "targets are predicted together as they are one by one" {
  prepare
  for metric in shared ratio own; do
    fit --lengthscales "$metric" >both.par
    gpnn-predict -p both.par t.gpi test.tsv >both.tsv
    gpnn-predict -j 3 -p both.par t.gpi test.tsv | cmp - both.tsv
    for target in y z; do
      awk -v want="$target" '$1 == "target" { on = $2 == want } on || /^# gpnn/' both.par >one.par
      gpnn-predict -p one.par t.gpi test.tsv >one.tsv
      for name in mean sd; do
        column "${name}_$target" both.tsv >together.txt
        column "$name" one.tsv | paste together.txt - |
          awk '{ d = $1 - $2; if (d > 1e-10 || d < -1e-10) exit 1 }'
      done
    done
  done
}

@test "unknown values of --lengthscales, and shared ones with the conjugate method, are refused" {
  prepare
  assert_fails 2 "option --lengthscales: shared, ratio or own" gpnn-fit --lengthscales all t.gpi
  assert_fails 2 "apply to --method local only" gpnn-fit --method conjugate --lengthscales shared t.gpi
}

@test "the conjugate method fits each target as if it were the only one" {
  prepare
  gpnn-fit -q --method conjugate t.gpi >both.par
  [ "$(grep '^target' both.par | cut -f 2 | paste -sd ' ')" = "y z" ]
  awk '$1 == "target" { on = $2 == "z" } on && $1 ~ /scale|noise/' both.par >own.txt
  gpnn-predict -q -p both.par t.gpi test.tsv | head -n 1 | grep -q sd_z
  gpnn-index -q -y z -x x1,x2 -o t.gpi train.tsv
  gpnn-fit -q --method conjugate t.gpi | grep -E '^[a-z]*(scale|noise)' >alone.txt
  cmp own.txt alone.txt
}

@test "a target that does not vary is named, whichever it is" {
  awk -v OFS='\t' 'BEGIN { print "x", "y", "z"; for (i = 0; i < 30; i++) print i, i * i, i % 2 ? 3 : "NA" }' >t.tsv
  assert_fails 1 "t.tsv: column 'z': does not vary" gpnn-index -y z,y -o t.gpi t.tsv
  assert_fails 1 "t.tsv: column 'z': does not vary" gpnn-index -y y,z -o t.gpi t.tsv
}

@test "training rows are known again by the target that most of them have" {
  two_targets 200 | awk -F '\t' -v OFS='\t' 'NR > 9 { $3 = "NA" } 1' >train.tsv
  gpnn-index -q -y y,z --calibration-rows 0 -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-predict -p t.par t.gpi train.tsv 2>err.txt >/dev/null
  grep -q '200 of 200 rows are training rows' err.txt
}

@test "training rows are known again where scores of inputs are seen, and where they lack inputs" {
  make_table 200 2 | awk -F '\t' -v OFS='\t' 'NR > 1 && NR % 2 { $1 = "NA" } 1' >train.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  for scores in none only both; do
    gpnn-fit -q --effort fast --kernel exp --input-scores "$scores" t.gpi >t.par
    gpnn-predict -p t.par t.gpi train.tsv 2>err.txt >/dev/null
    grep -q '200 of 200 rows are training rows' err.txt
  done
  assert_fails 1 'train.tsv: 200 of the first 200 rows are training rows of the index already' \
    gpnn-index --add train.tsv -o more.gpi t.gpi
}

@test "a count beside a number is scored, and its parameters are shown" {
  make_table 120 2 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "n" : NR % 4 }' >count.tsv
  gpnn-index -q -y y,n -o count.gpi count.tsv
  gpnn-fit -q --effort fast --likelihood poisson --transform none count.gpi >count.par 2>/dev/null ||
    gpnn-fit -q --effort fast --likelihood poisson count.gpi >count.par
  gpnn-info count.par | awk -F '\t' '$1 == "target" { printf "%s ", $2 }' >names
  assert_equal "$(<names)" 'y n '
  gpnn-info --json count.par | grep -o '"target": "[a-z]*"' | tr '\n' ' ' >names
  assert_equal "$(<names)" '"target": "y" "target": "n" '
  gpnn-predict -q -p count.par --interval 0.9 count.gpi count.tsv | gpnn-eval >scores
  assert_equal "$(cut -f 1 scores | tr '\n' ' ')" 'target y n mean '
}

@test "the calibration of a model is shown" {
  make_table 120 2 >one.tsv
  gpnn-index -q -o one.gpi one.tsv
  gpnn-sparse -q --inducing 20 -o one.gpm one.gpi
  gpnn-calibrate -q one.gpm >one.cal
  assert_equal "$(gpnn-info one.cal | value scale)" "$(value scale one.cal)"
  assert_equal "$(gpnn-info --json one.cal | grep -o '"index": "[^"]*"')" "\"index\": \"$(value index one.cal)\""
}
