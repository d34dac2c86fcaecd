#!/usr/bin/env bats
# Several targets, some of which some rows lack.
load helper

# make_gaps ROWS [FIRST]: inputs x1 to x3, targets a, b and c, and columns for other roles.  Every row
# has a; a third lacks b, and c is where b is not, and in some more.
make_gaps() {
  awk -v rows="$1" -v first="${2:-0}" -v OFS='\t' 'BEGIN {
    print "x1", "x2", "x3", "a", "b", "c", "variance", "base", "site"
    for (i = first; i < first + rows; i++) {
      x1 = (i * 7919) % 1000 / 1000; x2 = (i * 104729) % 997 / 997; x3 = (i * 31) % 101 / 101
      wiggle = 0.05 * ((i * 2654435) % 17 - 8) / 8
      a = sin(5 * x1) + x2 + wiggle
      b = 100 + 20 * cos(4 * x2) * x1 + wiggle
      c = x1 * x2 - x3 + wiggle
      print x1, x2, x3, a, i % 3 == 0 ? "NA" : b, i % 3 == 0 || i % 5 == 0 ? c : "", \
        0.01 + i % 4 / 100, x3 / 2, "site" i % 40
    }
  }'
}

# having TARGET FILE: the rows that have it.
having() {
  awk -F '\t' -v name="$1" '
    NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i }
    NR == 1 || ($column != "" && $column != "NA")' "$2"
}

# assert_close FILE FILE: numbers that differ by no more than rounding.
assert_close() {
  paste "$1" "$2" | awk '
    { n = NF / 2; for (i = 1; i <= n; i++) { d = $i - $(n + i); s = $i < 0 ? -$i : $i
        if ($i != $(n + i) && (d > 1e-10 * (1 + s) || d < -1e-10 * (1 + s))) { print; exit 1 } } }'
}

# values TARGET FILE: what is predicted of the rows that have the target.
values() {
  awk -F '\t' -v name="$1" -v OFS='\t' '
    NR == 1 { for (i = 1; i <= NF; i++) {
      if ($i == name) truth = i
      if ($i == "mean_" name || $i == "mean") mean = i
      if ($i == "sd_" name || $i == "sd") sd = i } }
    NR > 1 && (truth == 0 || $truth != "NA") { print $mean, $sd }' "$2"
}

fit_block() {
  gpnn-fit -q --kernel matern32 --ard yes --rotate none -m 20 --objective block "$@"
}

@test "rows that lack a target serve the others" {
  make_gaps 60 | cut -f 1-5 |
    awk -F '\t' -v OFS='\t' 'NR > 31 { $5 = "" } NR > 1 && NR <= 31 { $5 = $4 + $1; $4 = "" } 1' >t.tsv
  gpnn-index -v --calibration-rows 0 -y a,b -o t.gpi t.tsv 2>err.txt
  grep -q 't.tsv: 30 of 60 rows lack target .b.' err.txt
  gpnn-index --json --calibration-rows 0 -y a,b -o t.gpi t.tsv 2>&1 | tr -d ' \n' |
    grep -qF '"rows-lacking-target":[30,30]'
  assert_equal "$(gpnn-info --verify t.gpi | grep -E '^(rows|skipped|target-rows|verified)' | xargs)" \
    'rows 60 skipped-rows 0 target-rows 30 target-rows 30 verified yes'
}

@test "a row without any target is a bad row" {
  make_gaps 50 | awk -F '\t' -v OFS='\t' 'NR == 2 || NR == 8 { $5 = $6 = "" } 1' >t.tsv
  assert_fails 1 "2 of 9 columns cannot be used" gpnn-index -y b,c -x x1,x2 -o t.gpi t.tsv
  run -1 gpnn-index -y b,c -x x1,x2 -o t.gpi t.tsv
  grep -qF 'missing in 2 rows (line 2)' <<<"$output"
  grep -qF '2 of 50 rows lack a value' <<<"$output"
  gpnn-index -q -y b,c -x x1,x2 --skip-bad -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 2
}

@test "a target that is not a number is bad, whatever other targets there are" {
  make_gaps 50 | awk -F '\t' -v OFS='\t' 'NR == 9 { $5 = "n/a" } 1' >t.tsv
  assert_fails 1 "t.tsv:9: column 'b': not a number: \"n/a\"" gpnn-index -y a,b -x x1,x2 -o t.gpi t.tsv
}

# compare_alone [OPTION...]: predicts each target of an index with these options, and by an index of
# only the rows that have it; NAME:COLUMN among the options gives target NAME the offset COLUMN.
compare_alone() {
  local target option offsets="" options=()
  declare -A offset=()
  for option in "$@"; do
    if [[ $option == *:* ]]; then
      offset[${option%:*}]=${option#*:} offsets+=${offsets:+,}${option#*:}
    else
      options+=("$option")
    fi
  done
  local index=(gpnn-index -q --standardise none --calibration-rows 0 -x "x1,x2" "${options[@]}")
  "${index[@]}" -y a,b,c ${offsets:+--offset "$offsets"} -o all.gpi train.tsv
  fit_block --lengthscales own all.gpi >all.par
  gpnn-predict -q -p all.par all.gpi test.tsv >all.tsv
  gpnn-predict -q -p all.par all.gpi --loo >all.loo
  for target in a b c; do
    having "$target" train.tsv >own.tsv
    "${index[@]}" -y "$target" ${offset[$target]:+--offset "${offset[$target]}"} -o own.gpi own.tsv
    fit_block own.gpi >own.par
    awk -v want="$target" '$1 == "target" { on = $2 == want } on && $1 !~ /target|index|^#/' all.par >one.par
    grep -vE '^(#|index)' own.par >alone.par
    assert_close one.par alone.par
    gpnn-predict -q -p own.par own.gpi test.tsv >own.tsv
    assert_close <(column "mean_$target" all.tsv) <(column mean own.tsv)
    assert_close <(column "sd_$target" all.tsv) <(column sd own.tsv)
    gpnn-predict -q -p own.par own.gpi --loo >own.loo
    assert_close <(values "$target" all.loo) <(values "$target" own.loo)
  done
}

@test "a target is predicted as by an index of only the rows that have it" {
  make_gaps 400 >train.tsv
  make_gaps 60 400 >test.tsv
  compare_alone
  compare_alone --row-noise variance
  compare_alone --regressors base
  compare_alone --by site
  compare_alone a:x3 b:base c:variance
}

@test "filling in what another target lacks changes no prediction" {
  make_gaps 300 >gaps.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 && $5 == "NA" { $5 = 77 } 1' gaps.tsv >full.tsv
  local table
  for table in gaps full; do
    gpnn-index -q -x x1,x2 -y a,b -o $table.gpi $table.tsv
    fit_block --lengthscales own $table.gpi | gpnn-calibrate -q $table.gpi |
      awk '$1 == "target" { on = $2 == "a" } on && $1 != "index"' >$table.par
    gpnn-predict -q -p $table.par $table.gpi gaps.tsv >$table.out
    gpnn-predict -q -p $table.par --loo $table.gpi >$table.loo
  done
  cmp gaps.par full.par
  cmp gaps.out full.out
  cmp gaps.loo full.loo
}

@test "held-out rows, left-out rows and those of a table calibrate the targets that they have" {
  make_gaps 600 >train.tsv
  make_gaps 200 600 >more.tsv
  gpnn-index -q -x x1,x2,x3 -y a,b,c --calibration-rows 120 -o t.gpi train.tsv
  fit_block --likelihood gaussian t.gpi >t.par
  gpnn-calibrate -q t.gpi -p t.par >held.par
  gpnn-info t.gpi | awk '/^target-calibration-rows/ { print $2 }' >held.txt
  diff <(sed -n 's/^# calibration: .*from \([0-9]*\) held-out rows/\1/p' held.par) <(echo 120; cat held.txt)
  gpnn-calibrate -q --with more.tsv t.gpi -p t.par >with.par
  local target
  for target in a b c; do having $target more.tsv | tail -n +2 | wc -l; done >given.txt
  diff <(sed -n 's/^# calibration: .*from \([0-9]*\) given rows/\1/p' with.par) given.txt
  fit_block t.gpi >t.par
  local how
  for how in --loo "--blocked 5" "--like more.tsv"; do
    # shellcheck disable=SC2086
    gpnn-calibrate -q $how t.gpi -p t.par >out.par
    assert_equal "$(grep -cE '^# (not calibrated|calibration): ' out.par)" 3
  done
  gpnn-predict -q t.gpi -p out.par more.tsv | gpnn-eval -q >scores.tsv
  diff <(awk '$1 ~ /^[abc]$/ { print $2 }' scores.tsv) given.txt
}

@test "targets of different rows are fitted one by one unless they are to share lengthscales" {
  make_gaps 300 >t.tsv
  gpnn-index -q -x x1,x2 -y a,b -o t.gpi t.tsv
  fit_block t.gpi >default.par
  fit_block --lengthscales own t.gpi | cmp - default.par
  gpnn-fit -v --effort fast --kernel exp --lengthscales shared t.gpi 2>err.txt >shared.par
  grep -q 'all targets: fitted to the 179 of 270 training rows that have all of them' err.txt
  assert_equal "$(grep '^lengthscale' shared.par | sort -u | wc -l)" 1
  gpnn-calibrate -q --loo t.gpi -p shared.par >loo.par
  awk -F '\t' 'NR == 1 || ($5 == "NA") != ($6 == "")' t.tsv >either.tsv
  gpnn-index -q -x x1 -y b,c -o bc.gpi either.tsv
  assert_fails 1 'no training row has all targets' gpnn-fit --lengthscales shared bc.gpi
}

@test "under --loo a row that lacks a target has NA for it" {
  make_gaps 300 >t.tsv
  gpnn-index -q --calibration-rows 0 -x x1,x2 -y a,b -o t.gpi t.tsv
  fit_block t.gpi >t.par
  gpnn-predict -q --loo -p t.par t.gpi >both.tsv
  assert_equal "$(wc -l <both.tsv)" 301
  diff <(column b both.tsv) <(cut -f 5 t.tsv | tail -n +2)
  assert_equal "$(awk -F '\t' 'NR > 1 && $2 != "NA" && ($(NF - 5) == "NA") != ($(NF) == "NA")' both.tsv | wc -l)" 0
  gpnn-predict -q --loo --targets b -p t.par t.gpi >b.tsv
  assert_equal "$(wc -l <b.tsv)" 201
  diff <(column row b.tsv) <(awk -F '\t' 'NR > 1 && $5 != "NA" { print NR - 1 }' t.tsv)
  cmp <(values b both.tsv) <(values b b.tsv)
  gpnn-predict -q --loo --batch 7 -j 3 -p t.par t.gpi | cmp - both.tsv
  gpnn-predict -q --loo --cross-fit --targets b -p t.par t.gpi >fold.tsv
  gpnn-predict -q --loo --cross-fit -p t.par t.gpi >folds.tsv
  cmp <(values b fold.tsv) <(values b folds.tsv)
}

@test "draws, sums and transforms know the rows of each target" {
  make_gaps 300 >train.tsv
  make_gaps 20 300 >test.tsv
  gpnn-index -q --standardise none --calibration-rows 0 -x x1,x2 -y a,b -o t.gpi train.tsv
  having b train.tsv >own.tsv
  gpnn-index -q --standardise none --calibration-rows 0 -x x1,x2 -y b -o own.gpi own.tsv
  local options transform
  for transform in log none; do
    fit_block --transform $transform own.gpi >own.par
    { printf 'target\tb\n'; grep -v '^index' own.par; } >t.par
    for options in "" "--samples 3" "--group site"; do
      [[ $transform$options == log--group* ]] && continue
      # shellcheck disable=SC2086
      gpnn-predict -q $options -p t.par t.gpi test.tsv >all.tsv
      # shellcheck disable=SC2086
      gpnn-predict -q $options -p own.par own.gpi test.tsv >own.tsv
      assert_close <(cut -f 3- all.tsv | tail -n +2) <(cut -f 3- own.tsv | tail -n +2)
    done
  done
  assert_fails 1 "needs positive targets" gpnn-fit --transform log t.gpi
  gpnn-fit -q --effort fast --transform yeo-johnson t.gpi >yj.par
  gpnn-predict -q -p yj.par t.gpi test.tsv | gpnn-eval -q >/dev/null
}

@test "an offset may be missing where its target is" {
  make_gaps 60 | awk -F '\t' -v OFS='\t' '$5 == "NA" { $8 = "" } 1' >t.tsv
  gpnn-index -q -x x1,x2 -y a,b --offset x3,base -o t.gpi t.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 0
  gpnn-info --verify t.gpi | grep -q '^verified'
  awk -F '\t' -v OFS='\t' 'NR == 3 { $8 = "" } 1' t.tsv >bad.tsv
  assert_fails 1 "bad.tsv:3: column 'base': missing value" gpnn-index -x x1,x2 -y a,b --offset x3,base -o t.gpi bad.tsv
  fit_block t.gpi >t.par
  cut -f 1-3 t.tsv >inputs.tsv
  gpnn-predict -q -p t.par --targets a t.gpi inputs.tsv >a.tsv
  assert_fails 1 "lacks 1 of 2 offset columns: 'base'" gpnn-predict -p t.par --targets b t.gpi inputs.tsv
}

@test "a target that nearly all rows lack is refused" {
  make_gaps 40 | awk -F '\t' -v OFS='\t' 'NR > 1 && NR != 6 { $5 = "" } 1' >once.tsv
  assert_fails 1 "once.tsv: column 'b': does not vary" \
    gpnn-index --calibration-rows 0 -x x1,x2 -y a,b -o t.gpi once.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $5 = "" } 1' once.tsv >never.tsv
  assert_fails 1 "never.tsv: column 'b': is missing in all training rows" \
    gpnn-index --calibration-rows 0 -x x1,x2 -y a,b -o t.gpi never.tsv
  assert_fails 1 "never.tsv: column 'b': is missing in all training rows" \
    gpnn-index --calibration-rows 0 -x x1,x2 -y b,a -o t.gpi never.tsv
}

@test "another metric serves the targets that all rows have" {
  make_gaps 300 >t.tsv
  gpnn-index -q --calibration-rows 0 -x x1,x2 -y a,b -o t.gpi t.tsv
  fit_block t.gpi >t.par
  gpnn-index -q --metric t.par -o new.gpi t.gpi
  gpnn-info --verify new.gpi | grep -q '^metric.lengthscales'
  assert_equal "$(gpnn-info new.gpi | value fingerprint)" "$(gpnn-info t.gpi | value fingerprint)"
  cmp <(gpnn-predict -q -p t.par t.gpi t.tsv) <(gpnn-predict -q -p t.par new.gpi t.tsv)
  awk '$1 == "target" { on = $2 == "b" } on' t.par >b.par
  assert_fails 1 "some rows lack its targets" gpnn-index --metric b.par -o new.gpi t.gpi
}

@test "the index of a table does not depend on threads" {
  make_gaps 3000 >t.tsv
  gpnn-index -q -j 1 -x x1,x2 -y b,a,c -o one.gpi t.tsv
  gpnn-index -q -j 4 -x x1,x2 -y b,a,c -o four.gpi t.tsv
  cmp one.gpi four.gpi
}

@test "some of the targets are predicted, in the order asked for" {
  make_gaps 200 >t.tsv
  gpnn-index -q -x x1,x2 -y a,b,c -o t.gpi t.tsv
  fit_block t.gpi >t.par
  gpnn-predict -q -p t.par t.gpi t.tsv >all.tsv
  gpnn-predict -q -p t.par t.gpi --targets c,a t.tsv >two.tsv
  assert_equal "$(head -n 1 two.tsv | xargs)" "c mean_c sd_c a mean_a sd_a"
  cmp <(column mean_c all.tsv) <(column mean_c two.tsv)
  gpnn-predict -q -p t.par t.gpi --targets b t.tsv >one.tsv
  assert_equal "$(head -n 1 one.tsv | xargs)" "b mean sd"
  cmp <(column mean_b all.tsv) <(column mean one.tsv)
  gpnn-predict -q -p t.par t.gpi --targets b --append t.tsv | head -n 1 | grep -q '^x1.*a.*c.*site'
  assert_fails 2 "option --targets: 'd' is not one of the targets; there are parameters of 'a', 'b', 'c'" \
    gpnn-predict -p t.par t.gpi --targets a,d t.tsv
  assert_fails 2 "option --targets: 'a' is there twice" gpnn-predict -p t.par t.gpi --targets a,a t.tsv
  assert_fails 2 "option --targets: '' is not one of the targets" gpnn-predict -p t.par t.gpi --targets a, t.tsv
  gpnn-index -q -x x1,x2 -y a -o one.gpi t.tsv
  fit_block one.gpi >one.par
  cmp <(gpnn-predict -q -p one.par one.gpi --targets a t.tsv) <(gpnn-predict -q -p one.par one.gpi t.tsv)
  assert_fails 2 "'b' is not one of the targets; there are parameters of 'a'" \
    gpnn-predict -p one.par one.gpi --targets b t.tsv
}
