#!/usr/bin/env bats
# Rows that lack some of their inputs.
load helper

# make_holes ROWS FIRST [SHARE]: y is linear in a, b and d, which go together, with noise; a share of the cells of a, b, d and c, a
# category, is missing.
make_holes() {
  awk -v n="$1" -v first="$2" -v share="${3-0}" -v OFS='\t' '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
    function cell(x) { return rand() < share ? "NA" : x }
    BEGIN {
      srand(first + 1)
      print "a", "b", "c", "d", "y"
      for (i = 0; i < n; i++) {
        a = normal(); b = 0.7 * a + 0.714 * normal(); d = normal(); c = d > 0 ? "up" : "down"
        print cell(a), cell(b), cell(c), cell(d), a + b + d + 0.3 * normal()
      }
    }'
}

# fit: an index, parameters and their calibration of train.tsv.
fit() {
  gpnn-index -q --one-hot c -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q -p - -o t.cal t.gpi
}

# holes TABLE: how many of the cells a, b and d each row lacks.
holes() {
  awk -F '\t' 'NR > 1 { print ($1 == "NA") + ($2 == "NA") + ($4 == "NA") }' "$1"
}

@test "rows that lack inputs are used, and predicted as well as what they have tells" {
  make_holes 3000 0 0.15 >train.tsv
  make_holes 3000 9000 0.15 >test.tsv
  fit
  gpnn-predict -q t.gpi -p t.cal test.tsv >out.tsv
  assert_equal "$(grep -c NA out.tsv)" 0
  # The sd of y given what a row has, from the normal distribution of a, b and d: both a and b missing, and d there.
  paste out.tsv <(echo holes && holes test.tsv) <(cut -f 1-4 test.tsv) | awk -F '\t' '
    NR > 1 {
      z = ($1 - $2) / $3; k[$5]++; within[$5] += z < 1.96 && z > -1.96
      e = ($1 - $2) ^ 2; all += e
      if ($6 == "NA" && $7 != "NA" && $9 != "NA") { n++; one += e }
    }
    END {
      for (h in k) if (k[h] > 200) { c = within[h] / k[h]; if (c < 0.92 || c > 0.975) { print h, c; exit 1 } }
      best = 0.714 ^ 2 + 0.09
      if (one / n > 1.3 * best) { print one / n, best; exit 1 }
    }'
}

@test "the less of a row is known, the wider it is predicted" {
  make_holes 2000 0 >train.tsv
  fit
  for lacking in none b ab abd; do
    awk -F '\t' -v OFS='\t' -v lacking="$lacking" 'NR > 1 && lacking != "none" {
      for (j = 1; j <= 4; j++) if (index(lacking, substr("abcd", j, 1))) $j = "" } NR < 50' train.tsv >rows.tsv
    gpnn-predict -q t.gpi -p t.cal rows.tsv | column sd | awk '{ sum += $1 } END { print sum / NR }'
  done >widths
  awk 'NR > 1 && $1 <= 1.2 * before { exit 1 } { before = $1 }' widths
}

@test "a row without any input is predicted as the targets are" {
  make_holes 2000 0 >train.tsv
  gpnn-index -q -x a,b,d -o t.gpi train.tsv
  gpnn-fit -q --effort fast --likelihood gaussian -o t.par t.gpi
  printf 'a\tb\td\nNA\tNA\tNA\n' | gpnn-predict -q t.gpi -p t.par | sed 1d >out
  paste out <(gpnn-info t.gpi | value target-mean) <(gpnn-info t.gpi | value target-sd) |
    awk '{ exit ($1 - $3) ^ 2 > 1e-12 || ($2 / $4 - 1) ^ 2 > 1e-6 }'
}

@test "more draws take other rows, and change nothing of complete rows" {
  make_holes 800 0 0.1 >train.tsv
  make_holes 60 900 0.3 >test.tsv
  fit
  for k in 1 10 1000; do gpnn-predict -q --draws "$k" t.gpi -p t.cal test.tsv | sed 1d | paste - <(holes test.tsv) >"$k.tsv"; done
  gpnn-predict -q t.gpi -p t.cal test.tsv | sed 1d | cmp - <(cut -f 1-4 10.tsv)
  paste 1.tsv 10.tsv 1000.tsv | awk -F '\t' '
    $5 == 0 && ($2 != $7 || $2 != $12 || $3 != $8) { exit 1 }
    $5 == 1 { changed += $2 != $7 && $7 != $12; n++ }
    END { exit changed < n / 2 }'
  assert_fails 2 'option --draws: not a whole number from 1 to 1000' gpnn-predict --draws 0 t.gpi -p t.cal test.tsv
}

@test "draws do not depend on batches, threads or other rows" {
  make_holes 800 0 0.2 >train.tsv
  make_holes 60 900 0.3 >test.tsv
  fit
  gpnn-predict -q -j 1 t.gpi -p t.cal -o one.tsv test.tsv
  gpnn-predict -q -j 3 --batch 7 t.gpi -p t.cal test.tsv | cmp - one.tsv
  { sed -n '1p' test.tsv && sed 1d test.tsv | tac; } | gpnn-predict -q t.gpi -p t.cal | sed 1d | tac | cmp - <(sed 1d one.tsv)
}

@test "complete tables are predicted as with --missing drop" {
  make_holes 500 0 >train.tsv
  make_holes 50 900 >test.tsv
  fit
  gpnn-predict -q t.gpi -p t.cal -o auto.tsv test.tsv
  gpnn-index -q --missing drop --one-hot c -o t.gpi train.tsv
  gpnn-predict -q t.gpi -p t.cal test.tsv 2>err | cmp - auto.tsv
}

@test "--missing drop leaves such rows out, in training and in prediction" {
  make_holes 500 0 0.05 >train.tsv
  make_holes 50 900 0.05 >test.tsv
  lacking=$(grep -c NA train.tsv)
  assert_fails 1 '4 of 5 columns cannot be used' gpnn-index --missing drop --one-hot c -o t.gpi train.tsv
  gpnn-index -q --missing drop --skip-bad=all --one-hot c -o t.gpi train.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" "$lacking"
  assert_equal "$(gpnn-info t.gpi | value missing-inputs)" drop
  gpnn-fit -q --effort fast -o t.par t.gpi
  gpnn-predict -q --skip-bad --fail-on-na 1 t.gpi -p t.par test.tsv | sed 1d >out
  assert_equal "$(grep -c NA out)" "$(grep -c NA test.tsv)"
}

@test "an index tells what its rows lack" {
  make_holes 500 0 0.1 >train.tsv
  gpnn-index --one-hot c --calibration-rows 0 -o t.gpi train.tsv 2>log
  grep -q 'of the cells are missing in 3 inputs; rows are used, and predicted, with what they have' log
  assert_equal "$(gpnn-info t.gpi | awk -F '\t' '$1 == "lacking" && $2 == "b" { print $3 }')" \
    "$(awk -F '\t' '$2 == "NA"' train.tsv | wc -l)"
  assert_equal "$(gpnn-info t.gpi | value incomplete-rows)" "$(holes train.tsv | grep -vc '^0')"
  assert_equal "$(gpnn-info --verify t.gpi | value verified)" yes
  assert_equal "$(gpnn-info t.gpi | grep -c $'^input\tc=\t')" 1
}

@test "left-out rows are predicted from what they have" {
  make_holes 600 0 0.15 >train.tsv
  fit
  gpnn-predict -q t.gpi -p t.cal --loo >loo.tsv
  paste loo.tsv <(awk -F '\t' 'NR == FNR { if (FNR > 1) row[$1]; next } FNR == 1 { print "holes"; next } FNR - 1 in row {
      print ($1 == "NA") + ($2 == "NA") + ($4 == "NA") }' loo.tsv train.tsv) |
    awk -F '\t' 'NR > 1 { n[$NF]++; sd[$NF] += $4 } END { exit sd[1] / n[1] < 1.1 * sd[0] / n[0] }'
}

@test "classes, counts and several targets may be of rows that lack inputs" {
  make_holes 600 0 0.1 | awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "class", "count"; next } {
    print $0, ($5 > 0 ? "high" : "low"), int(exp($5 / 3) + 0.5) }' >train.tsv
  sed -n '1,60p' train.tsv >test.tsv
  for target in class count y,count; do
    gpnn-index -q --one-hot c -y "$target" -x a,b,c,d -o t.gpi train.tsv
    likelihood=local
    [[ $target != count ]] || likelihood=poisson
    [[ $target != class ]] || likelihood=
    gpnn-fit -q --effort fast ${likelihood:+--likelihood "$likelihood"} -o t.par t.gpi
    gpnn-calibrate -q -p t.par -o t.cal t.gpi
    gpnn-predict -q t.gpi -p t.cal test.tsv >out.tsv
    assert_equal "$(grep -c NA out.tsv)" 0 || return
  done
}

@test "a category that is missing is a level for whatever reads rows" {
  awk 'BEGIN { srand(2); print "kind\tgroup\tx\ty"
    for (i = 0; i < 300; i++) { k = i % 3; g = i % 7; x = rand()
      print (k ? "k" k : "NA") "\t" (g ? "g" g : "") "\t" x "\t" k + g / 3 + x + rand() / 9 } }' >levels.tsv
  gpnn-index -q --one-hot kind --drop group -o kinds.gpi levels.tsv
  gpnn-index -q --one-hot kind --group-effect group -o groups.gpi levels.tsv
  for name in kinds groups; do
    gpnn-fit -q --effort fast -m 20 $name.gpi >$name.par
    gpnn-calibrate -q --with levels.tsv -p $name.par $name.gpi >$name.cal
    gpnn-predict -q -p $name.cal $name.gpi levels.tsv | gpnn-eval - | awk '$1 == "rmse" { exit !($2 < 0.8) }'
    gpnn-explain importance -q --with levels.tsv -p $name.cal $name.gpi >/dev/null
  done
  gpnn-predict -q --samples 2 -p kinds.par kinds.gpi levels.tsv >draws
  assert_equal "$(wc -l <draws)" 301
  gpnn-index -q --missing drop --skip-bad=all --one-hot kind --drop group -o drop.gpi levels.tsv
  gpnn-fit -q --effort fast -m 20 drop.gpi >drop.par
  assert_fails 1 "levels.tsv:2: column 'kind': missing value" gpnn-calibrate --with levels.tsv -p drop.par drop.gpi
}

@test "whatever predicts rows only together, or without training rows, says what is missing" {
  make_holes 300 0 >train.tsv
  printf 'a\tb\tc\td\n1\tNA\tup\t1\n' >rows.tsv
  fit
  assert_fails 1 "rows.tsv:2: column 'b': missing value" gpnn-predict t.gpi -p t.cal --samples 3 rows.tsv
  gpnn-index -q --one-hot c --standardise whiten -o white.gpi train.tsv
  gpnn-fit -q --effort fast -o white.par white.gpi
  assert_fails 1 "rows.tsv:2: column 'b': missing value" gpnn-predict white.gpi -p white.par rows.tsv
  make_holes 300 0 0.1 >holes.tsv
  gpnn-index --one-hot c --standardise whiten -o white.gpi holes.tsv 2>log
  grep -q "holes.tsv: $(holes holes.tsv | grep -vc '^0') of 300 rows lack inputs, which are filled in; after whitening" log
  gpnn-sparse -q --inducing 20 -o t.gpm t.gpi
  assert_fails 1 "rows.tsv:2: column 'b': missing value" gpnn-predict t.gpm rows.tsv
  gpnn-predict -q --skip-bad --fail-on-na 1 t.gpm rows.tsv | grep -q NA
}

@test "a wild cell does not decide what others are filled in with" {
  make_holes 500 0 0.1 >train.tsv
  awk -F '\t' -v OFS='\t' 'NR == 5 { $1 = 1e200 } 1' train.tsv >wild.tsv
  make_holes 300 9000 >test.tsv
  for table in train wild; do
    gpnn-index -q --one-hot c -o t.gpi "$table.tsv"
    gpnn-fit -q --effort fast --kernel matern32 t.gpi | gpnn-predict -q t.gpi test.tsv | gpnn-eval -q | value rmse
  done >rmses
  awk 'NR == 1 { r = $1 } NR == 2 && $1 > 1.2 * r { exit 1 }' rmses
}

@test "columns without a value, in training or later, are no matter" {
  make_holes 300 0 | awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "e" : "", NR == 1 ? "f" : NR % 20 ? "" : $1, $0 }' >train.tsv
  gpnn-index --one-hot c -o t.gpi train.tsv 2>log
  grep -q '1 of 7 inputs do not vary and are dropped' log
  gpnn-fit -q --effort fast -o t.par t.gpi
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = "" } NR < 30' train.tsv >dead.tsv
  gpnn-predict -q t.gpi -p t.par dead.tsv >out.tsv
  assert_equal "$(grep -c NA out.tsv)" 0
}

@test "parameters may be chosen for rows like others, and a grid of inducing points fitted, whatever rows lack" {
  make_holes 400 0 0.2 >train.tsv
  make_holes 100 900 >like.tsv
  gpnn-index -q -x a,b,d -o t.gpi train.tsv
  gpnn-fit -q --effort fast --like like.tsv -o t.par t.gpi
  gpnn-predict -q t.gpi -p t.par like.tsv >out.tsv
  assert_equal "$(grep -c NA out.tsv)" 0
  gpnn-tucker -q --variance residual -o t.gpm t.gpi
  gpnn-predict -q t.gpm like.tsv | paste - like.tsv | awk -F '\t' 'NR > 1 { e += ($1 - $2) ^ 2; v += $3 ^ 2 } END { exit e > 4 * v || v > 4 * e }'
}

@test "what is filled in is learnt from all of a table" {
  awk -v OFS='\t' 'BEGIN {
    srand(2); print "a", "b", "y"
    for (i = 0; i < 30000; i++) { a = rand(); print a, i < 20000 ? "NA" : 100 + a, rand() }
  }' >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-info t.gpi | awk -F '\t' '$1 == "input" && $2 == "b" { exit ($3 - 100.5) ^ 2 > 1e-3 }'
}

@test "an input that may be missing does not count against a row that is bad for another reason" {
  printf 'day\tkind\tlat\tlon\to\ty\n' >train.tsv
  awk -v OFS='\t' 'BEGIN {
    srand(3)
    for (i = 0; i < 200; i++) print i % 3 ? "2020-01-" sprintf("%02d", 1 + i % 28) : "NA", i % 4 ? "a" i % 2 : "NA", i % 5 ? 40 + rand() : "NA", 10 + rand(), i == 7 ? "NA" : i, rand()
  }' >>train.tsv
  options=(--date day --one-hot kind --geo 'lat,lon' --offset o)
  run -1 gpnn-index "${options[@]}" -o t.gpi train.tsv
  assert_equal "${lines[0]}" "gpnn-index: train.tsv:9: column 'o': missing value"
  [[ $output != *skip-bad=all* && $output == *--skip-bad* ]]
  gpnn-index -q "${options[@]}" --skip-bad -o t.gpi train.tsv
  assert_equal "$(gpnn-info t.gpi | value skipped-rows)" 1
}

@test "rows held out without any input have no distance, and do not keep a scale from being found" {
  make_holes 1500 0 0.5 >train.tsv
  gpnn-index -q -x a,b -o t.gpi train.tsv
  for likelihood in local gaussian; do
    gpnn-fit -q --effort fast --likelihood "$likelihood" -o t.par t.gpi
    for rows in '' --loo; do
      gpnn-calibrate -q ${rows:+"$rows"} -p t.par -o t.cal t.gpi
      ! grep -q '^distance.*inf' t.cal || return
    done
  done
  gpnn-predict -q t.gpi -p t.cal train.tsv >out.tsv
  assert_equal "$(grep -c NA out.tsv)" 0
}

@test "gpnn reports what is missing, and predicts it" {
  make_holes 400 0 0.1 >train.tsv
  make_holes 40 900 0.1 >test.tsv
  gpnn --effort fast train.tsv test.tsv >out.tsv 2>report
  grep -Eq '^missing +[0-9.]+ % of the cells, in 3 inputs and [0-9.]+ % of the rows' report
  assert_equal "$(cut -f 2 out.tsv | grep -c NA)" 0
  gpnn --missing drop --effort fast train.tsv test.tsv >out.tsv 2>report
  assert_equal "$(grep -c '^missing' report)" 0
}
