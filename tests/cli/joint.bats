#!/usr/bin/env bats
# gpnn-predict of several rows together: --samples and --group.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

# An index with parameters, and a table to predict whose rows belong to the groups a, b, c in turn.
prepare() {
  make_model 400 30 0 25
  awk -v OFS='\t' '{ print $0, NR == 1 ? "place" : substr("abc", NR % 3 + 1, 1) }' \
    test.tsv >places.tsv
}

@test "--samples adds draws after the other columns, which stay as they are" {
  prepare
  gpnn-predict t.gpi -p t.par --keep place --interval 0.9 places.tsv >without.tsv
  gpnn-predict t.gpi -p t.par --keep place --interval 0.9 --samples 2 places.tsv >with.tsv
  assert_equal "$(head -n 1 with.tsv)" \
    $'place\ty\tmean\tsd\tlower\tupper\tsample1\tsample2'
  cut -f 1-6 with.tsv | cmp - without.tsv
}

@test "draws have the mean and sd of their row, and depend on the seed" {
  prepare
  gpnn-predict t.gpi -p t.par --samples 4000 places.tsv >a.tsv
  awk 'NR > 1 {
      m = v = 0
      for (i = 4; i <= NF; i++) { m += ($i - $2) / $3; v += ($i - $2) ^ 2 / $3 ^ 2 }
      m /= 4000; v /= 4000
      if (m * m > 16 / 4000 || (v - 1) ^ 2 > 16 * 2 / 4000) exit 1
    }' a.tsv
  gpnn-predict t.gpi -p t.par --samples 4000 --seed 1 places.tsv | cmp - a.tsv
  gpnn-predict t.gpi -p t.par --samples 2 --seed 2 places.tsv >b.tsv
  cut -f 1-3 a.tsv | cmp - <(cut -f 1-3 b.tsv)
  run ! cmp -s <(cut -f 4 a.tsv) <(cut -f 4 b.tsv)
}

@test "draws and sums depend neither on threads nor on --batch" {
  prepare
  for option in '--samples 3' '--group place' '--group place --aggregate average'; do
    # shellcheck disable=SC2086 # two words
    gpnn-predict -j 1 $option t.gpi -p t.par places.tsv >a.tsv
    # shellcheck disable=SC2086
    gpnn-predict -j 3 --batch 4 $option t.gpi -p t.par places.tsv | cmp - a.tsv
  done
}

@test "--group writes a line for each group, in the order of the table" {
  prepare
  gpnn-predict t.gpi -p t.par --group place --interval 0.95 places.tsv >sums.tsv
  assert_equal "$(head -n 1 sums.tsv)" $'place\tn\ty\tmean\tsd\tlower\tupper'
  assert_equal "$(column place sums.tsv | tr -d '\n')" cab
  gpnn-predict t.gpi -p t.par --keep place places.tsv |
    awk 'NR > 1 { n[$1]++; y[$1] += $2; m[$1] += $3 }
      END { for (g in n) print g "\t" n[g] "\t" y[g] "\t" m[g] }' | sort >expected.tsv
  while IFS=$'\t' read -r place n y mean; do
    awk -v place="$place" '$1 == place' sums.tsv >line
    assert_equal "$(cut -f 2 line)" "$n"
    assert_near "$(cut -f 3 line)" "$y" 1e-4
    assert_near "$(cut -f 4 line)" "$mean" 1e-4
  done <expected.tsv
  awk 'NR > 1 { w = ($7 - $4) / $5; if ((w - 1.959963984540054) ^ 2 > 1e-18) exit 1 }' sums.tsv
}

@test "averages are sums divided by the number of rows" {
  prepare
  gpnn-predict t.gpi -p t.par --group place places.tsv >sums.tsv
  gpnn-predict t.gpi -p t.par --group place --aggregate average places.tsv >averages.tsv
  paste sums.tsv averages.tsv | awk 'NR > 1 {
      for (i = 3; i <= 5; i++) if (($i / $2 - $(i + 5)) ^ 2 > 1e-24) exit 1
    }'
  gpnn-predict t.gpi -p t.par --group place --units standard --aggregate average places.tsv |
    gpnn-eval >scores
  assert_equal "$(value n scores)" 3
}

@test "a group of very many rows is refused, and one that will last is told of" {
  prepare
  awk 'NR == 1 { print; next } { row = $0 } END { for (i = 0; i <= 20000; i++) print row }' places.tsv >many.tsv
  run -1 --separate-stderr gpnn-predict t.gpi -p t.par --group place many.tsv
  assert_equal "$output" ''
  [[ $stderr == *'the group "'*'has 20001 rows, and the errors of more than 20000 are too many to add up'* ]] || complain "$stderr"
  make_table 15000 >train.tsv
  gpnn-index -q -o large.gpi train.tsv
  awk 'NR == 1 { print $0 "\tg" } NR > 1 && NR < 122 { for (i = 0; i < 150; i++) print $0 "\t" NR }' train.tsv >copies.tsv
  grep -v ^index t.par >free.par
  gpnn-predict large.gpi -p free.par -m 100 --group g copies.tsv 2>said >sums.tsv
  grep -q 'covariances of errors, which may last some 2 processor minutes' said
}

@test "a group of one row has the prediction of that row" {
  prepare
  awk -v OFS='\t' '{ $4 = NR == 1 ? "row" : NR; print }' places.tsv >rows.tsv
  gpnn-predict t.gpi -p t.par --interval 0.5 rows.tsv >rows
  gpnn-predict t.gpi -p t.par --interval 0.5 --group row rows.tsv | cut -f 3- | cmp - rows
}

@test "rows of one place are summed as one value that is the less certain" {
  prepare
  awk -v OFS='\t' 'NR == 1 || NR == 2 { print } NR == 2 { print }' places.tsv >twice.tsv
  gpnn-predict t.gpi -p t.par --latent places.tsv >one.tsv
  gpnn-predict t.gpi -p t.par --latent --group place twice.tsv >two.tsv
  one=$(column sd one.tsv | head -n 1) two=$(column sd two.tsv)
  assert_near "$(awk "BEGIN { print $two / $one }")" 2 1e-6
}

@test "degrees of freedom are those of the rows" {
  prepare
  printf 'likelihood\tstudent\nscale\t1\ndegrees\t5\n' >>t.par
  gpnn-predict t.gpi -p t.par --samples 1 places.tsv >a.tsv
  assert_equal "$(head -n 1 a.tsv)" $'y\tmean\tsd\tdf\tsample1'
  gpnn-predict t.gpi -p t.par --group place places.tsv >b.tsv
  assert_equal "$(column df b.tsv | sort -u)" 5
}

@test "rows that cannot be predicted have NA and no part in sums" {
  prepare
  awk -v OFS='\t' 'NR == 3 { $1 = "NA" } { print }' places.tsv >bad.tsv
  gpnn-predict -q --skip-bad t.gpi -p t.par --samples 2 bad.tsv >a.tsv
  assert_equal "$(sed -n 3p a.tsv | cut -f 2-)" $'NA\tNA\tNA\tNA'
  run --separate-stderr gpnn-predict --skip-bad t.gpi -p t.par --group place bad.tsv
  assert_equal "$status" 0
  [[ $stderr == *"1 of 30 rows have no prediction and no part in their group"* ]]
  assert_equal "$(column n <<<"$output" | tr '\n' ' ')" '10 9 10 '
}

@test "a group without rows that can be predicted has NA" {
  prepare
  awk -v OFS='\t' 'NR == 3 { $1 = "NA"; $4 = "lonely" } { print }' places.tsv >bad.tsv
  run --separate-stderr gpnn-predict --skip-bad t.gpi -p t.par --group place bad.tsv
  assert_equal "$status" 0
  [[ $stderr == *"1 group without a row that can be predicted"* ]]
  assert_equal "$(grep lonely <<<"$output")" $'lonely\t0\tNA\tNA\tNA'
}

@test "a row without a group is bad" {
  prepare
  awk -v OFS='\t' 'NR == 3 { $4 = "" } { print }' places.tsv >bad.tsv
  assert_fails 1 "bad.tsv:3: column 'place': missing value" \
    gpnn-predict t.gpi -p t.par --group place bad.tsv
  gpnn-predict -q --skip-bad t.gpi -p t.par --group place bad.tsv >out.tsv
  assert_equal "$(column n out.tsv | tr '\n' ' ')" '10 10 9 '
}

@test "a table without rows gives a header" {
  prepare
  head -n 1 places.tsv >none.tsv
  assert_equal "$(gpnn-predict t.gpi -p t.par --group place none.tsv)" $'place\tn\ty\tmean\tsd'
  assert_equal "$(gpnn-predict t.gpi -p t.par --samples 1 none.tsv)" $'y\tmean\tsd\tsample1'
}

@test "options that answer each row on its own are refused" {
  prepare
  predict=(gpnn-predict t.gpi -p t.par places.tsv)
  assert_fails 2 "--samples is about rows" "${predict[@]}" --samples 2 --group place
  assert_fails 2 "--aggregate needs --group" "${predict[@]}" --aggregate sum
  assert_fails 2 "could be kept" "${predict[@]}" --group place --append
  assert_fails 2 "--unbuffered" "${predict[@]}" --samples 2 --unbuffered
  assert_fails 2 "no sd, which --group needs" "${predict[@]}" --group place --mean-only
  assert_fails 2 "without --max-distance" "${predict[@]}" --samples 2 --max-distance 3
  assert_fails 2 "without --share" "${predict[@]}" --samples 2 --share 8
  assert_fails 2 "no column 'where'" "${predict[@]}" --group where
  for option in '--samples 2' '--group place'; do
    # shellcheck disable=SC2086 # two words
    assert_fails 2 "is for the rows of a table, not for --loo" gpnn-predict --loo t.gpi -p t.par $option
  done
}

@test "several targets have draws and sums of their own" {
  make_table 300 3 >three.tsv
  sed 's/x3/z/' three.tsv >train.tsv
  gpnn-index --calibration-rows 0 -y y,z -o t.gpi train.tsv
  { printf 'target\ty\n'; make_parameters exp 0.5 1 0.04 20
    printf 'target\tz\n'; make_parameters matern32 0.7 1 0.3 20; } >t.par
  head -n 20 train.tsv | awk -v OFS='\t' '{ print $0, NR == 1 ? "g" : NR % 2 }' >test.tsv
  gpnn-predict t.gpi -p t.par --samples 2 test.tsv >a.tsv
  assert_equal "$(head -n 1 a.tsv)" "$(tr ' ' '\t' <<<"y mean_y sd_y sample1_y sample2_y \
z mean_z sd_z sample1_z sample2_z" | tr -s '\t')"
  run ! cmp -s <(cut -f 4 a.tsv) <(cut -f 9 a.tsv)
  gpnn-predict t.gpi -p t.par --group g test.tsv >b.tsv
  assert_equal "$(head -n 1 b.tsv)" $'g\tn\ty\tmean_y\tsd_y\tz\tmean_z\tsd_z'
}

@test "draws and sums include the offsets of rows" {
  make_table 300 2 | awk -F '\t' -v OFS='\t' '
    { print $0, NR == 1 ? "base" : NR % 17 }' >plain.tsv
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = sprintf("%.6f", $3 + $4) } 1' plain.tsv >with.tsv
  gpnn-index -q --calibration-rows 0 -y y --drop base -o without.gpi plain.tsv
  gpnn-index -q --calibration-rows 0 -y y --offset base -o with.gpi with.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  for file in plain with; do
    awk -F '\t' -v OFS='\t' 'NR < 40 { print $0, NR == 1 ? "place" : substr("abc", NR % 3 + 1, 1) }' \
      $file.tsv >$file.test
  done
  gpnn-predict without.gpi -p t.par --samples 2 --keep base plain.test >a.tsv
  gpnn-predict with.gpi -p t.par --samples 2 --keep base with.test >b.tsv
  paste a.tsv b.tsv | awk -F '\t' 'NR > 1 {
      for (i = 2; i <= 6; i++) {
        d = $(i + 6) - $i - (i == 4 ? 0 : $1)
        if (d * d > 1e-12) exit 1
      }
    }'
  gpnn-predict without.gpi -p t.par --group place --interval 0.9 plain.test >a.tsv
  gpnn-predict with.gpi -p t.par --group place --interval 0.9 with.test >b.tsv
  awk -F '\t' 'NR > 1 { sum[$5] += $4 } END { for (g in sum) print g, sum[g] }' with.test >sums
  awk -F '\t' '
    FILENAME == "sums" { split($0, part, " "); sum[part[1]] = part[2]; next }
    FILENAME == "a.tsv" { for (i = 3; i <= NF; i++) without[FNR, i] = $i; next }
    FNR > 1 {
      for (i = 3; i <= NF; i++) {
        d = $i - without[FNR, i] - (i == 5 ? 0 : sum[$1])
        if (d * d > 1e-10) exit 1
      }
    }' sums a.tsv b.tsv
}

@test "draws and sums from all training rows are those of a process with few rows" {
  make_model 60 30 0 60
  printf 'likelihood\tstudent\nscale\t1\ndegrees\t50\n' >>t.par
  awk -v OFS='\t' '{ print $0, NR == 1 ? "place" : "a" }' test.tsv >places.tsv
  gpnn-predict t.gpi -p t.par --group place places.tsv >all.tsv
  gpnn-predict -m 59 t.gpi -p t.par --group place places.tsv >most.tsv
  assert_near "$(column sd all.tsv)" "$(column sd most.tsv)" 0.05
  gpnn-predict t.gpi -p t.par --samples 3000 places.tsv | awk 'NR == 1 { next }
    { for (i = 5; i <= NF; i++) sum[i] += $i; mean += $2 }
    END { for (i in sum) v += (sum[i] - mean) ^ 2 / 3000; print sqrt(v) }' >sd
  assert_near "$(cat sd)" "$(column sd all.tsv)" "$(awk '{ print 0.06 * $1 }' sd)"
}

@test "draws of a transformed target have its distribution, and cannot be summed beforehand" {
  make_table 400 2 | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = sprintf("%.6g", exp($3)) } 1' >train.tsv
  head -n 40 train.tsv >test.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  transform=$(awk -F '\t' 'NR > 1 {
      z = log($3); n++; sum += z; square += z * z
      if (n == 1 || $3 < least) least = $3
      if (n == 1 || $3 > most) most = $3
    }
    END { printf "log %.9g %.9g %s %s", sum / n, sqrt(square / n - (sum / n) ^ 2), least, most }' train.tsv)
  { make_parameters matern32 0.5 1 0.04 25; printf 'transform\t%s\n' "$transform"; } >t.par
  gpnn-predict t.gpi -p t.par --interval 0.8 --samples 3000 test.tsv >draws.tsv
  assert_equal "$(head -n 1 draws.tsv | cut -f 1-9)" \
    $'y\tmean\tsd\tlower\tupper\tlogp\tcrps\tpit\tsample1'
  # Within 5 standard errors, the interval is that of the draws, whose mean is the row's.
  awk -F '\t' 'NR > 1 {
      below = above = mean = 0
      for (i = 9; i <= NF; i++) { below += $i < $4; above += $i > $5; mean += $i / 3000 }
      if ((below - 300) ^ 2 > 25 * 270 || (above - 300) ^ 2 > 25 * 270) exit 1
      if ((mean - $2) ^ 2 > 25 * $3 ^ 2 / 3000) exit 1
    }' draws.tsv
  awk -v OFS='\t' '{ print $0, NR == 1 ? "place" : "a" }' test.tsv >places.tsv
  assert_fails 2 'group cannot add up transformed targets' \
    gpnn-predict t.gpi -p t.par --group place places.tsv
}

@test "several members are drawn and summed together" {
  prepare
  { cat t.par; printf 'weight\t0.7\nmember\t2\n'; make_parameters exp 0.8 1.5 0.02 20
    printf 'weight\t0.3\n'; } >two.par
  gpnn-predict t.gpi -p two.par --samples 4000 places.tsv >a.tsv
  awk 'NR > 1 {
      m = v = 0
      for (i = 4; i <= NF; i++) { m += ($i - $2) / $3; v += ($i - $2) ^ 2 / $3 ^ 2 }
      m /= 4000; v /= 4000
      if (m * m > 16 / 4000 || (v - 1) ^ 2 > 16 * 2 / 4000) exit 1
    }' a.tsv
  gpnn-predict t.gpi -p two.par --group place places.tsv >sums.tsv
  paste places.tsv a.tsv | awk -F '\t' '
    NR > 1 { for (k = 8; k <= NF; k++) sum[$4, k] += $k; mean[$4] += $6; last = NF }
    END {
      for (g in mean) {
        v = 0
        for (k = 8; k <= last; k++) v += (sum[g, k] - mean[g]) ^ 2
        print g "\t" sqrt(v / 4000)
      }
    }' | sort >expected.tsv
  cut -f 1,5 sums.tsv | tail -n +2 | sort | paste expected.tsv - |
    awk -F '\t' '($2 / $4 - 1) ^ 2 > 0.05 ^ 2 { exit 1 }'
}
