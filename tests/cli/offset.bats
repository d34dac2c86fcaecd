#!/usr/bin/env bats
# A known part of the target (gpnn-index --offset): everything is as if it had been subtracted in
# the table, and added to the predictions.

load helper

# with_offset [ROWS [FIRST]]: a table with a target y and a part of it, base, which no input shows.
with_offset() {
  make_table "${1:-400}" 2 "${2:-0}" | awk -F '\t' -v OFS='\t' '
    NR == 1 { print $0, "base"; next }
    { base = (NR * 7919 % 1000) / 8; $3 = sprintf("%.6f", $3 + base); print $0, base }'
}

# without_offset: such a table with the part subtracted by hand.
without_offset() {
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = sprintf("%.6f", $3 - $4) } { print $1, $2, $3 }'
}

@test "an index with an offset is that of the difference, and predictions get it back" {
  with_offset >train.tsv
  with_offset 60 400 >test.tsv
  without_offset <train.tsv >plain.tsv
  gpnn-index -y y --offset base -o with.gpi train.tsv
  gpnn-index -y y -o without.gpi plain.tsv
  for index in with without; do
    gpnn-fit -q --effort fast --kernel matern32 -m 20 $index.gpi >$index.par
    gpnn-calibrate -q $index.gpi <$index.par >$index.cal
  done
  for name in lengthscale kernelscale noise; do
    assert_near "$(value $name with.cal)" "$(value $name without.cal)" 1e-6
  done
  gpnn-predict with.gpi -p with.cal --interval 0.9 test.tsv >with.tsv
  without_offset <test.tsv | gpnn-predict without.gpi -p without.cal --interval 0.9 >without.tsv
  paste <(column y with.tsv) <(column y test.tsv) | awk '$1 != $2 { exit 1 }'
  for name in mean sd lower upper; do
    paste <(column $name with.tsv) <(column $name without.tsv) <(column base test.tsv) |
      awk -v o="$([[ $name == sd ]] && echo 0 || echo 1)" '
        { d = $1 - $2 - o * $3; if (d > 1e-6 || d < -1e-6) exit 1 }'
  done
  assert_near "$(gpnn-eval with.tsv | value rmse)" "$(gpnn-eval without.tsv | value rmse)" 1e-6
  assert_near "$(gpnn-eval with.tsv | value nll)" "$(gpnn-eval without.tsv | value nll)" 1e-6
  assert_below "$(gpnn-eval with.tsv | value rmse)" 0.5
}

@test "in standard units the offset is divided by the standard deviation of the difference" {
  with_offset >train.tsv
  with_offset 20 400 >test.tsv
  gpnn-index -y y --offset base -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  gpnn-predict t.gpi -p t.par test.tsv >original.tsv
  gpnn-predict t.gpi -p t.par --units standard test.tsv >standard.tsv
  gpnn-info t.gpi >info
  assert_equal "$(value offset info)" base
  for name in y mean sd; do
    paste <(column $name original.tsv) <(column $name standard.tsv) |
      awk -v centre="$([[ $name == sd ]] && echo 0 || value target-mean info)" \
        -v sd="$(value target-sd info)" '
        { d = ($1 - centre) / sd - $2; if (d > 1e-9 || d < -1e-9) exit 1 }'
  done
}

@test "each of several targets has its own offset" {
  with_offset | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "u" : 2 * $1 - $2, NR == 1 ? "zero" : 0 }' >train.tsv
  with_offset 20 400 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "zero" : 0 }' >test.tsv
  gpnn-index -y u,y -x x1,x2 --offset zero,base -o both.gpi train.tsv
  gpnn-index -y y -x x1,x2 --offset base -o one.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >one.par
  { printf 'target\tu\n' && cat one.par && printf 'target\ty\n' && cat one.par; } >both.par
  gpnn-predict both.gpi -p both.par test.tsv | cut -f 3-5 | sed 's/_y//g' |
    cmp - <(gpnn-predict one.gpi -p one.par test.tsv)
  sed 1d both.par | sed '/^target/,$d' | { printf 'target\ty\n' && cat; } |
    gpnn-predict both.gpi -p - test.tsv | cmp - <(gpnn-predict one.gpi -p one.par test.tsv)
}

@test "a table without the offset has inputs, and neither targets nor predictions" {
  with_offset >train.tsv
  with_offset 40 400 >test.tsv
  gpnn-index -q -y y --offset base -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  cut -f 1-3 test.tsv >bare.tsv
  assert_fails 1 "^bare.tsv: lacks 1 of 1 offset column: 'base'$" gpnn-predict t.gpi -p t.par bare.tsv
  assert_fails 1 "^bare.tsv: lacks 1 of 1 offset column: 'base'$" \
    gpnn-calibrate t.gpi -p t.par --with bare.tsv
  gpnn-calibrate -q t.gpi -p t.par --like bare.tsv >like.par
  gpnn-fit -q --effort fast --kernel exp -m 10 --like bare.tsv t.gpi >like.par
  awk -F '\t' -v OFS='\t' 'NR == 5 { $4 = "NA" } 1' test.tsv >na.tsv
  assert_fails 1 "^na.tsv:5: column 'base': missing value" gpnn-predict t.gpi -p t.par na.tsv
  gpnn-predict -q t.gpi -p t.par --skip-bad na.tsv >out.tsv
  cmp <(sed 5d out.tsv) <(gpnn-predict t.gpi -p t.par test.tsv | sed 5d)
  sed -n 5p out.tsv | cut -f 2,3 | grep -qx $'NA\tNA'
}

@test "given rows are calibrated on without their offset" {
  with_offset >train.tsv
  with_offset 100 400 >with.tsv
  without_offset <train.tsv >plain.tsv
  gpnn-index -q -y y --offset base -o with.gpi train.tsv
  gpnn-index -q -y y -o without.gpi plain.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  assert_near "$(gpnn-calibrate -q with.gpi -p t.par --with with.tsv | value calibration)" \
    "$(without_offset <with.tsv | gpnn-calibrate -q without.gpi -p t.par --with - | value calibration)" 1e-6
}

@test "a rebuilt index keeps the offset, and so does one without a header" {
  with_offset >train.tsv
  with_offset 20 400 >test.tsv
  gpnn-index -q -y y --offset base -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  gpnn-index -q --metric t.par -o u.gpi t.gpi
  assert_equal "$(gpnn-info --verify u.gpi | value fingerprint)" "$(gpnn-info t.gpi | value fingerprint)"
  gpnn-predict t.gpi -p t.par test.tsv >out.tsv
  gpnn-predict u.gpi -p t.par test.tsv | cmp - out.tsv
  tail -n +2 train.tsv | gpnn-index -q --no-header -y 3 --offset 4 -o n.gpi
  tail -n +2 test.tsv >rows.tsv
  gpnn-predict --no-header n.gpi -p t.par rows.tsv | cmp - <(tail -n +2 out.tsv)
  cut -f 1,2 rows.tsv >bare.tsv
  assert_fails 1 "lacks 1 of 1 offset column: '4'" gpnn-predict --no-header n.gpi -p t.par bare.tsv
}

@test "offsets that are no number, not one for each target, or have another role are refused" {
  with_offset 50 >t.tsv
  while IFS='|' read -r options sentence; do
    # shellcheck disable=SC2086 # several options
    assert_fails 2 "$sentence" gpnn-index $options -o t.gpi t.tsv
  done <<'CASES'
-y y --offset bas|no column 'bas'
-y y --offset y|column 'y' is a target, a regressor or the row noise
-y y --offset base --row-noise base|column 'base' is a target, a regressor or the row noise
-y y -x x1,base --offset base|column 'base' is both offset and input
-y y,x2 --offset base|2 targets and 1 offset: each target needs one
-y y --offset x2,base|1 target and 2 offsets: each target needs one
CASES
  make_parameters matern32 0.5 1 0.04 20 >p.par
  assert_fails 2 'applies to a table' gpnn-index --metric p.par --offset base -o u.gpi t.gpi
  awk -F '\t' -v OFS='\t' 'NR == 9 { $4 = "?" } 1' t.tsv >text.tsv
  assert_fails 1 "^text.tsv:9: column 'base': not a number" gpnn-index -y y --offset base -o t.gpi text.tsv
  awk -F '\t' -v OFS='\t' 'NR == 9 { $3 = "1e308"; $4 = "-1e308" } 1' t.tsv >far.tsv
  assert_fails 1 "^far.tsv:9: column 'base': the target minus this offset is too large" \
    gpnn-index -y y --offset base -o t.gpi far.tsv
  gpnn-index -q -y y --offset base --skip-bad -o t.gpi far.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $4 = $3 } 1' t.tsv >same.tsv
  assert_fails 1 '^same.tsv: .*does not vary' gpnn-index -y y --offset base -o t.gpi same.tsv
}

@test "three rows with an offset are enough" {
  printf 'x\ty\to\n1\t12\t10\n2\t4\t0\n3\t1006\t1000\n' >t.tsv
  gpnn-index -q -y y --offset o --calibration-rows 0 -o t.gpi t.tsv
  make_parameters matern32 1 1 0.000001 3 >t.par
  gpnn-predict -q t.gpi -p t.par t.tsv | awk -F '\t' 'NR > 1 && ($1 - $2) ^ 2 > 1e-4 { exit 1 }'
}

@test "leave-one-out predictions include the offset of each row" {
  with_offset 120 >train.tsv
  without_offset <train.tsv >plain.tsv
  gpnn-index -q -y y --offset base --calibration-rows 20 -o with.gpi train.tsv
  gpnn-index -q -y y --calibration-rows 20 -o without.gpi plain.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  gpnn-predict --loo with.gpi -p t.par --interval 0.9 >with.tsv
  gpnn-predict --loo without.gpi -p t.par --interval 0.9 >without.tsv
  awk -F '\t' '
    FILENAME == "train.tsv" { y[FNR - 1] = $3 + 0; base[FNR - 1] = $4; next }
    FILENAME == "without.tsv" { for (i = 1; i <= NF; i++) plain[FNR, i] = $i; next }
    FNR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; next }
    {
      if ($1 != plain[FNR, 1] || $2 + 0 != y[$1]) exit 1
      for (i = 3; i <= NF; i++) {
        d = $i - plain[FNR, i] - (name[i] ~ /^(mean|lower|upper)$/ ? base[$1] : 0)
        if (d > 1e-6 || d < -1e-6) exit 1
      }
    }' train.tsv without.tsv with.tsv
  gpnn-predict --loo --units standard with.gpi -p t.par | gpnn-eval >standard.scores
  assert_near "$(value rmse standard.scores)" \
    "$(gpnn-predict --loo --units standard without.gpi -p t.par | gpnn-eval | value rmse)" 1e-6
}

@test "leave-one-out predictions of several targets have the offsets of each" {
  with_offset 60 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "u" : 2 * $1 - $2, NR == 1 ? "zero" : 0 }' >train.tsv
  gpnn-index -q -y u,y -x x1,x2 --offset zero,base -o both.gpi train.tsv
  gpnn-index -q -y y -x x1,x2 --offset base -o one.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >one.par
  { printf 'target\tu\n' && cat one.par && printf 'target\ty\n' && cat one.par; } >both.par
  gpnn-predict --loo both.gpi -p both.par | cut -f 1,8-13 | sed '1s/_y//g' |
    cmp - <(gpnn-predict --loo one.gpi -p one.par)
}
