#!/usr/bin/env bats
# gpnn-explain: what a model has learnt.

load helper

# Parts of each row must add up to its mean: sums PARTS-FILE PREDICTIONS.
sums() {
  column mean "$2" >means
  awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } { sum[$1] += $at["part"] }
    END { for (i = 1; i in sum; i++) printf "%.17g\n", sum[i] }' "$1" >sums
  paste means sums | awk -F '\t' '{ d = $1 - $2; if (d < 0) d = -d; if (d > 1e-12) { print; bad = 1 } }
    END { exit bad || NR == 0 }'
}

@test "the parts of a row add up to its mean" {
  make_model 300 40 30 20
  gpnn-explain rows -p t.par t.gpi test.tsv >rows.tsv
  gpnn-predict -p t.par t.gpi test.tsv >p.tsv
  sums rows.tsv p.tsv
  head -n 1 rows.tsv | diff - <(printf 'row\tsource\trank\ttraining\tdistance\tweight\ttarget\tpart\tmean\tsd\tof_noise\tof_distance\tdisagreement\n')
  # A mean function, ten rows and the others of each.
  assert_equal "$(grep -c . rows.tsv)" $((40 * 12 + 1))
  gpnn-explain rows --top 1000 -p t.par t.gpi test.tsv >all.tsv
  sums all.tsv p.tsv
  assert_equal "$(grep -c . all.tsv)" $((40 * 21 + 1))
  diff <(awk '$2 == "row" && $3 == 1' rows.tsv | cut -f 10) <(column sd p.tsv)
  gpnn-explain rows -j 1 -p t.par t.gpi test.tsv | diff - rows.tsv
  gpnn-explain rows -p t.par t.gpi <test.tsv | diff - rows.tsv
}

@test "training rows are those of the table, with their targets" {
  make_model 300 40 30 20
  gpnn-explain rows -p t.par t.gpi test.tsv | awk '$2 == "row" { print $4 "\t" $7 }' | sort -u >found
  awk 'NR > 1 { print NR - 1 "\t" $3 }' train.tsv | sort >there
  assert_equal "$(join -t $'\t' found there | awk -F '\t' '{ d = $2 - $3 } d * d > 1e-24' | wc -l)" 0
  assert_equal "$(join -t $'\t' found there | wc -l)" "$(wc -l <found)"
  # A training row is predicted from itself.
  sed -n '1p;8p' train.tsv >seventh.tsv
  gpnn-index --calibration-rows 0 -o all.gpi train.tsv
  make_parameters matern32 0.5 1 1e-6 20 >sure.par
  gpnn-explain rows --top 1 -p sure.par all.gpi seventh.tsv | awk '$2 == "row" { print $4, $5, ($6 > 0.99) }' >own
  assert_equal "$(cat own)" '7 0 1'
}

@test "training rows are explained from the others" {
  make_model 300 40 30 20
  gpnn-explain rows --loo -p t.par t.gpi >rows.tsv
  gpnn-predict --loo -p t.par t.gpi >p.tsv
  sums <(awk -F '\t' -v OFS='\t' 'NR > 1 && $1 != last { n++; last = $1 } NR > 1 { $1 = n } 1' rows.tsv) p.tsv
  diff <(awk '$2 == "row" && $3 == 1 { print $1, $10 }' rows.tsv) <(awk 'NR > 1 { print $1, $4 }' p.tsv)
  assert_equal "$(awk '$2 == "row" && $1 == $4' rows.tsv)" ''
  gpnn-explain rows --loo -j 1 -p t.par t.gpi | diff - rows.tsv
  assert_fails 2 '--loo explains the rows of the index, and no table' gpnn-explain rows --loo -p t.par t.gpi test.tsv
  assert_fails 2 '--loo does not apply to effect' gpnn-explain effect --loo -x x1 -p t.par t.gpi
}

@test "training rows with offsets, and rows that lack inputs" {
  make_table 200 2 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "base" : NR % 7 } NR % 50 == 2 { $1 = "NA"; print $0, 3 }' >train.tsv
  gpnn-index -q -y y --offset base --calibration-rows 0 -o o.gpi train.tsv
  make_parameters matern32 0.5 1 0.01 20 >o.par
  gpnn-explain rows --loo -p o.par o.gpi >rows.tsv 2>err.txt
  grep -q 'training: 4 rows lack inputs' err.txt
  gpnn-predict --loo -p o.par o.gpi >p.tsv
  join -t $'\t' <(awk -F '\t' -v OFS='\t' 'NR > 1 && $1 != last { print $1, $9; last = $1 }' rows.tsv | sort) \
    <(awk -F '\t' -v OFS='\t' 'NR > 1 { print $1, $3 }' p.tsv | sort) | awk '{ d = $2 - $3; n++ } d * d > 1e-20 { bad = 1 }
      END { exit bad || n != 200 }'
}

@test "what a member of a stack adds is told apart" {
  make_model 200 15 20 20
  {
    cat t.par
    printf 'likelihood\tlocal\nweight\t0.7\nmember\t2\n'
    make_parameters exp 0.8 1.5 0.02 30
    printf 'weight\t0.3\n'
  } >stack.par
  gpnn-explain rows -p stack.par t.gpi test.tsv >rows.tsv
  gpnn-predict -p stack.par t.gpi test.tsv >p.tsv
  sums rows.tsv p.tsv
  assert_equal "$(column member rows.tsv | sort -u | paste -sd ' ')" '1 2'
}

@test "offsets, transforms and counts" {
  make_table 200 2 | awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "base" : NR % 7 }' >train.tsv
  gpnn-index -q --offset base -y y -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  head -n 20 train.tsv >test.tsv
  gpnn-explain rows -p t.par t.gpi test.tsv >rows.tsv
  gpnn-predict -p t.par t.gpi test.tsv >p.tsv
  sums rows.tsv p.tsv
  gpnn-index -q -y y -o u.gpi <(make_table 200 2 | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = exp($3) } 1')
  gpnn-fit -q --effort fast --transform log u.gpi >u.par
  gpnn-explain rows -v -p u.par u.gpi test.tsv 2>notes >rows.tsv
  grep -q 'parts add up to the latent function' notes
  gpnn-predict -p u.par u.gpi test.tsv | column mean >means
  diff <(awk '$2 == "mean-function"' rows.tsv | cut -f 9) means
}

@test "classes have weights, a label and its probability" {
  make_table 200 2 | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $3 > 3 ? "high" : "low" } 1' >train.tsv
  head -n 20 train.tsv >test.tsv
  gpnn-index -q --classes -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-explain rows --top 2 -p t.par t.gpi test.tsv >rows.tsv
  head -n 1 rows.tsv | diff - <(printf 'row\tsource\trank\ttraining\tdistance\tweight\ttarget\tlabel\tp\n')
  diff <(awk '$3 == 1' rows.tsv | cut -f 8) <(gpnn-predict -p t.par t.gpi test.tsv | column label)
  assert_equal "$(awk '$2 == "row"' rows.tsv | cut -f 7 | sort -u | paste -sd ' ')" 'high low'
}

@test "an object of JSON nests" {
  make_model 60 3 0 5
  gpnn-explain rows --top 2 --json -p t.par t.gpi test.tsv | json >values
  assert_equal "$(grep -c 'part	' values)" 12
  gpnn-explain rows --json -p t.par t.gpi <(head -n 1 test.tsv) | diff - <(echo '{"rows": []}')
}

@test "columns of the table are carried along" {
  make_model 60 300 10 5
  awk -F '\t' -v OFS='\t' '{ print NR == 1 ? "a b" : "id " NR, $0 }' test.tsv >named.tsv
  gpnn-explain rows --top 1 -p t.par t.gpi named.tsv >plain.tsv
  gpnn-explain rows --top 1 --keep 1,x2 -p t.par t.gpi named.tsv >kept.tsv
  diff plain.tsv <(cut -f 3- kept.tsv)
  assert_equal "$(tail -n 1 kept.tsv | cut -f 1)" "id $(wc -l <named.tsv)"
  gpnn-explain rows --top 1 --keep 1 --json -p t.par t.gpi named.tsv | json >values
  assert_equal "$(grep -c 'kept.a b' values)" 300
  assert_fails 2 "no column 'z'" gpnn-explain rows --keep z -p t.par t.gpi named.tsv
  assert_fails 2 '--keep does not apply to sobol' gpnn-explain sobol --keep x1 -p t.par t.gpi
}

@test "rows that lack inputs are left out, bad ones are told" {
  make_model 100 5 10 10
  sed '3s/^[^\t]*/NA/' test.tsv >gap.tsv
  gpnn-explain rows -p t.par t.gpi gap.tsv 2>notes | column row | sort -u >rows
  assert_equal "$(paste -sd ' ' rows)" '1 3 4 5'
  grep -q '^gpnn-explain: gap.tsv: 1 rows lack inputs' notes
  sed '3s/^[^\t]*/x/' test.tsv >bad.tsv
  assert_fails 1 "bad.tsv:3: column 'x1': not a number: \"x\"" gpnn-explain rows -o rows.tsv -p t.par t.gpi bad.tsv
  gpnn-explain rows --skip-bad -p t.par t.gpi bad.tsv 2>notes | column row | sort -u >rows
  assert_equal "$(paste -sd ' ' rows)" '1 3 4 5'
  grep -q "bad.tsv: 1 of 5 rows left out" notes
  cut -f 2 test.tsv >narrow.tsv
  assert_fails 1 "x1" gpnn-explain rows -p t.par t.gpi narrow.tsv
}

@test "what has no rows is refused by name" {
  make_model 100 5 10 10
  gpnn-sparse -q -o t.gpm t.gpi
  assert_fails 1 't.gpm is a model file, which has no training rows: explain the index that it was made from' \
    gpnn-explain rows t.gpm test.tsv
  assert_fails 2 'no such kind: "columns"; KIND is rows' gpnn-explain columns -p t.par t.gpi test.tsv
  assert_fails 1 'did you swap the operands' gpnn-explain rows -p t.par test.tsv t.gpi
  assert_fails 2 'cannot both be standard input' gpnn-explain rows t.gpi </dev/null
  assert_fails 2 '"test.tsv" is an input, which would be overwritten' gpnn-explain rows -p t.par -o test.tsv t.gpi test.tsv
}

# ---- importance --------------------------------------------------------------------------------

# y depends on x1, which is as if random, on x2 a little, and on neither of the others; same is constant.
make_columns() {
  make_table "$1" 4 "${2-0}" | awk -F '\t' -v OFS='\t' -v first="${2-0}" '
    NR > 1 { x = 43758.5453 * (2 + sin((NR + first) * 78.233)); $1 = x - int(x) }
    { print $1, $2, $3, NR == 1 ? "same" : 7, NR == 1 ? "y" : sin(6 * $1) + 0.3 * $2 + 0.05 * ($4 - 0.5) }'
}

@test "columns are ranked by what is lost without them" {
  make_columns 600 >train.tsv
  make_columns 300 600 >new.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
  gpnn-explain importance -p t.par t.gpi --with new.tsv >found.tsv 2>notes
  grep -q '^gpnn-explain: CRPS 0.* and RMSE 0.* on 300 rows with all columns$' notes
  grep -q '^gpnn-explain: each column is permuted in 300 of these rows, and missing in 100$' notes
  head -n 1 found.tsv | diff - <(printf 'column\tcrps\tcrps_se\trmse\trmse_se\tmissing_crps\tmissing_crps_se\tmissing_rmse\tmissing_rmse_se\n')
  assert_equal "$(sed -n 2,3p found.tsv | cut -f 1 | paste -sd ' ')" 'x1 x2'
  grep -qP '^same(\t0){8}$' found.tsv
  # Without x1, what is left varies as a sine and a line do.
  assert_near "$(awk '$1 == "x1" { print $8 }' found.tsv)" 0.7 0.15
  for option in '-j 1' '--seed 1' '-c 300'; do
    # shellcheck disable=SC2086
    gpnn-explain importance -q $option -p t.par t.gpi --with new.tsv | diff - found.tsv
  done
  gpnn-explain importance -q -s 2 -p t.par t.gpi --with new.tsv | cmp -s - found.tsv && complain 'seed does nothing'
  gpnn-explain importance -q -x x2,same -p t.par t.gpi --with new.tsv | cut -f 1 | diff - <(printf 'column\nx2\nsame\n')
  gpnn-explain importance -q --json -x x2 -p t.par t.gpi --with new.tsv | json >values
  assert_equal "$(value n values)" 300
  assert_equal "$(value columns.0.column values)" x2
  # Few rows are held out: training rows are left out instead, here or of a tiny table.
  gpnn-explain importance -p t.par t.gpi 2>&1 >/dev/null | grep -q 'on 540 training rows, each left out, with'
  head -n 13 train.tsv | gpnn-index -q -o few.gpi -
  gpnn-fit -q few.gpi >few.par
  gpnn-explain importance -p few.par few.gpi 2>&1 >/dev/null | grep -q 'on 11 training rows'
}

@test "levels of a category count as their column, and classes lose log probability" {
  make_columns 500 | awk -F '\t' -v OFS='\t' '
    { print $1, $2, NR == 1 ? "kind" : substr("abc", 1 + NR % 3, 1), NR == 1 ? "y" : ($1 + NR % 3 > 1.5 ? "yes" : "no") }' >train.tsv
  gpnn-index -q --one-hot kind --classes -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-explain importance -q -c 200 -p t.par t.gpi >found.tsv
  head -n 1 found.tsv | diff - <(printf 'column\tlogloss\tlogloss_se\tmissing_logloss\tmissing_logloss_se\n')
  assert_equal "$(column column found.tsv | sort | paste -sd ' ')" 'kind x1 x2'
  assert_equal "$(column column found.tsv | head -n 1)" kind
}

@test "columns that count together" {
  make_columns 400 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  make_parameters matern52 0.5 1 0.01 20 >t.par
  gpnn-explain importance -q -x x1+x2+x3,same -p t.par t.gpi >found.tsv
  assert_equal "$(column column found.tsv | paste -sd ' ')" 'x1+x2+x3 same'
  gpnn-explain importance -q -x 'x*,same' -p t.par t.gpi >all.tsv
  assert_equal "$(column column all.tsv | paste -sd ' ')" 'x* same'
  diff <(sed -n 2p found.tsv | cut -f 2-) <(sed -n 2p all.tsv | cut -f 2-)
  gpnn-explain sobol -q -c 64 --samples 40 -x 'x1+x2' -p t.par t.gpi >sobol.tsv
  assert_below 0.9 "$(awk -F '\t' 'NR == 2 { print $2 }' sobol.tsv)"
  assert_fails 2 "column 'x1' is there twice" gpnn-explain importance -x 'x1,x*' -p t.par t.gpi
  assert_fails 2 'the model has no column' gpnn-explain importance -x 'z*' -p t.par t.gpi
  assert_fails 2 "option -x: a name is empty" gpnn-explain importance -x 'x1+' -p t.par t.gpi
  assert_fails 2 'an effect is that of one column' gpnn-explain effect -x x1+x2 -p t.par t.gpi
}

@test "standard errors know that rows of a group are alike" {
  make_columns 400 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  make_parameters matern52 0.5 1 0.01 20 >t.par
  # Each row five times: as much is known as from one.
  make_columns 40 600 | awk -v OFS='\t' 'NR == 1 { print $0, "site"; next } { for (i = 0; i < 5; i++) print $0, "s" NR }' >new.tsv
  gpnn-explain importance -q -x x1 -p t.par t.gpi --with new.tsv >alone.tsv
  gpnn-explain importance -q -x x1 --by site -p t.par t.gpi --with new.tsv >by.tsv
  assert_equal "$(column missing_crps by.tsv)" "$(column missing_crps alone.tsv)"
  assert_near "$(paste <(column missing_crps_se by.tsv) <(column missing_crps_se alone.tsv) | awk '{ print $1 / $2 }')" \
    "$(awk 'BEGIN { print sqrt(5 * 40 / 39 * 199 / 200) }')" 0.001
  assert_fails 2 'by groups the rows of --with TABLE' gpnn-explain importance --by site -p t.par t.gpi
  assert_fails 2 "no column 'place'" gpnn-explain importance --by place --with new.tsv -p t.par t.gpi
}

@test "what importance cannot tell is refused" {
  make_model 100 5 10 10
  assert_fails 2 "option -x: the model has no column 'x9'" gpnn-explain importance -x x9 -p t.par t.gpi
  assert_fails 2 "option -x: column 'x1' is there twice" gpnn-explain importance -x x1,x1 -p t.par t.gpi
  assert_fails 2 '--top does not apply to importance' gpnn-explain importance --top 3 -p t.par t.gpi
  assert_fails 2 'importance reads an index and no table but that of --with' gpnn-explain importance -p t.par t.gpi test.tsv
  assert_fails 2 '--skip-bad applies to the rows of a TABLE' gpnn-explain importance --skip-bad -p t.par t.gpi
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = "NA" } 1' test.tsv >gap.tsv
  assert_fails 1 "gap.tsv:2: column 'x1': missing value" gpnn-explain importance --with gap.tsv -p t.par t.gpi
  cut -f 1,2 test.tsv >blind.tsv
  assert_fails 1 "blind.tsv: no column 'y', the target" gpnn-explain importance --with blind.tsv -p t.par t.gpi
  gpnn-index -q --standardise whiten -o w.gpi train.tsv
  assert_fails 1 'whitening has mixed the columns' gpnn-explain importance -q -p t.par w.gpi
  gpnn-index -q --missing drop -o d.gpi train.tsv
  gpnn-explain importance -q -p t.par d.gpi 2>/dev/null | tail -n 1 | grep -qP '(\tNA){4}$'
}

# ---- effect ------------------------------------------------------------------------------------

@test "an effect is that of the function, within its interval" {
  make_columns 600 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
  gpnn-explain effect -x x1 -p t.par t.gpi >ale.tsv
  head -n 1 ale.tsv | diff - <(printf 'x1\trows\teffect\tlower\tupper\n')
  assert_equal "$(wc -l <ale.tsv)" 31
  # sin(6 x) less its mean.
  awk -F '\t' 'NR > 1 { d = $3 - (sin(6 * $1) - (1 - cos(6)) / 6); if (d * d > 0.01 || $4 > $3 || $3 > $5) bad = 1 } END { exit bad }' ale.tsv
  gpnn-explain effect -j 1 -x x1 -p t.par t.gpi | diff - ale.tsv
  gpnn-explain effect -s 2 -x x1 -p t.par t.gpi | cmp -s - ale.tsv && complain 'seed does nothing'
  gpnn-explain effect -x x2 --kind pdp --points 5 -c 60 --interval 0.5 -p t.par t.gpi >pdp.tsv
  assert_equal "$(wc -l <pdp.tsv)" 6
  assert_near "$(awk -F '\t' 'NR == 2 { a = $1; b = $3 } END { print ($3 - b) / ($1 - a) }' pdp.tsv)" 0.3 0.1
  gpnn-explain effect -x x2 --kind ice --points 4 -c 10 -p t.par t.gpi >ice.tsv
  assert_equal "$(cut -f 1,2 ice.tsv | head -n 1)" "$(printf 'x2\trow')"
  assert_equal "$(column row ice.tsv | uniq | wc -l)" 10
  gpnn-explain effect -x x1 --points 3 --json -p t.par t.gpi | json >values
  assert_equal "$(value column values)" x1
  assert_equal "$(grep -c '	' <(grep lower values))" 3
  for table in ale pdp ice; do gpnn-plot effect --script $table.tsv | grep -q '^plot $effect'; done
}

@test "levels, dates and periods have axes of their own, and are drawn" {
  make_table 300 1 | awk -F '\t' -v OFS='\t' 'NR == 1 { print "x", "kind", "day", "hour", "y"; next }
    { k = NR % 3; print $1, substr("cab", 1 + k, 1), sprintf("2020-%02d-%02d", 1 + NR % 12, 1 + NR % 28), NR * 5 % 24, 10 * k + NR % 12 }' >train.tsv
  gpnn-index -q --one-hot kind --date day --period hour=24 -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-explain effect -x kind -p t.par t.gpi >kind.tsv
  # c is 0, a is 10, b is 20; the order is that of the alphabet.
  assert_equal "$(column kind kind.tsv | paste -sd ' ')" 'a b c'
  assert_near "$(awk -F '\t' '$1 == "b" { b = $3 } $1 == "c" { print b - $3 }' kind.tsv)" 20 3
  gpnn-plot effect --script kind.tsv >script
  grep -q "^set xtics ('a' 0, 'b' 1, 'c' 2)$" script
  grep -q yerrorbars script
  gpnn-explain effect -x day --points 6 -p t.par t.gpi >day.tsv
  column day day.tsv | grep -vqE '^2020-[0-9]{2}-[0-9]{2}$' && complain 'no date'
  gpnn-plot effect --script day.tsv | grep -q "^set xtics ('2020-"
  # A step has changed what the model sees of dates with a long tail, and not what a user sees.
  awk 'BEGIN { for (i = 1; i <= 300; i++) print "@" int(exp(i / 30)) * 86400 }' | date -u -f - +%F >days
  { echo day; cat days; } | paste train.tsv - | awk -F '\t' -v OFS='\t' '{ print $1, $2, $6, $4, $5 }' >tail.tsv
  gpnn-index -q --tails compress --one-hot kind --date day --period hour=24 -o tail.gpi tail.tsv
  gpnn-fit -q --effort fast tail.gpi >tail.par
  gpnn-explain effect -x day --points 6 -p tail.par tail.gpi >tail.tsv
  assert_equal "$(column day tail.tsv | sort | sed -n '1p; $p' | paste -sd ' ')" "$(sed -n '1p; $p' days | paste -sd ' ')"
  gpnn-explain effect -x hour --points 24 -p t.par t.gpi >hour.tsv
  assert_equal "$(column hour hour.tsv | head -n 3 | paste -sd ' ')" '0 1 2'
}

@test "two columns have a surface" {
  # What x does turns with the kind: 3 x where it is a, -3 x where it is b.
  make_table 400 2 | awk -F '\t' -v OFS='\t' 'NR == 1 { print "x", "kind", "z", "y"; next }
    { a = NR % 2; print $1, a ? "a" : "b", $2, (a ? 3 : -3) * $1 + $2 }' >train.tsv
  gpnn-index -q --one-hot kind -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi >t.par
  gpnn-explain effect -x x,kind --samples 60 -p t.par t.gpi >surface.tsv
  head -n 1 surface.tsv | diff - <(printf 'x\tkind\trows\teffect\tlower\tupper\n')
  assert_equal "$(wc -l <surface.tsv)" 21
  assert_near "$(awk -F '\t' '$2 == "a" && !n++ { x = $1; e = $4 } $2 == "a" { print ($4 - e) / ($1 - x + 1e-9) }' surface.tsv | tail -n 1)" 3 0.4
  assert_near "$(awk -F '\t' '$2 == "b" && !n++ { x = $1; e = $4 } $2 == "b" { print ($4 - e) / ($1 - x + 1e-9) }' surface.tsv | tail -n 1)" -3 0.4
  gpnn-explain effect -x x,kind --samples 60 -j 1 --kind pdp -p t.par t.gpi | diff - surface.tsv
  gpnn-explain effect -x kind,z --points 3 --samples 20 --json -p t.par t.gpi | json >values
  assert_equal "$(value second_column values)" z
  gpnn-plot effect --script surface.tsv >script
  grep -q "^set ytics ('a' 0, 'b' 1)$" script
  grep -q 'boxxyerror lc palette' script
}

@test "what has no effect is refused by name" {
  make_columns 100 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  make_parameters matern32 0.5 1 0.04 20 >t.par
  assert_fails 2 'an effect is that of one column: name it by -x COL' gpnn-explain effect -p t.par t.gpi
  assert_fails 2 'an effect is that of one column' gpnn-explain effect -x x1,x2,x3 -p t.par t.gpi
  assert_fails 2 'of two columns is of --kind pdp alone' gpnn-explain effect -x x1,x2 --kind ale -p t.par t.gpi
  assert_fails 1 "column 'same' does not vary" gpnn-explain effect -x same -p t.par t.gpi
  assert_fails 2 "the model has no column 'z'" gpnn-explain effect -x z -p t.par t.gpi
  assert_fails 2 'option --interval: one probability' gpnn-explain effect -x x1 --interval 0.5,0.9 -p t.par t.gpi
  assert_fails 2 '--with does not apply to effect' gpnn-explain effect -x x1 --with train.tsv -p t.par t.gpi
  awk -F '\t' -v OFS='\t' 'NR > 1 { $5 = $5 > 0 ? "yes" : "no" } 1' train.tsv | gpnn-index -q --classes -o c.gpi -
  gpnn-fit -q --effort fast c.gpi >c.par
  assert_fails 1 "target 'y' holds classes" gpnn-explain effect -x x1 -p c.par c.gpi
  gpnn-index -q --geo x1,x2 -o g.gpi train.tsv
  assert_fails 1 "column 'x1,x2' is a position" gpnn-explain effect -x x1 -p t.par g.gpi
  printf 'a\teffect\n1\tNA\n' >none.tsv
  assert_fails 1 'none.tsv: no row with an effect' gpnn-plot effect -q --script none.tsv
  printf 'a\tb\n1\t2\n' >other.tsv
  assert_fails 2 "no column 'effect': .*; effect draws effects of a column" gpnn-plot effect --script other.tsv
}

# ---- sobol -------------------------------------------------------------------------------------

# Rows of two functions whose indices are known: simulated NAME SEED.
simulated() {
  awk -v f="$1" -v seed="$2" 'BEGIN {
    srand(seed); pi = atan2(0, -1); split("0 1 4.5 9", a, " ")
    print f == "g" ? "x1\tx2\tx3\tx4\ty" : "x1\tx2\tx3\ty"
    for (i = 0; i < 500; i++) {
      for (j = 1; j <= 4; j++) u[j] = rand()
      if (f == "g") {
        y = 1
        for (j = 1; j <= 4; j++) { v = 4 * u[j] - 2; y *= ((v < 0 ? -v : v) + a[j]) / (1 + a[j]); printf "%.7f\t", u[j] }
        print y
      } else {
        for (j = 1; j <= 3; j++) { u[j] = pi * (2 * u[j] - 1); printf "%.7f\t", u[j] }
        print sin(u[1]) + 7 * sin(u[2]) ^ 2 + 0.1 * u[3] ^ 4 * sin(u[1])
      }
    }
  }'
}

@test "known indices are inside their intervals, four times in five or more" {
  for seed in 1 2; do
    for f in g ishigami; do
      simulated $f $seed >t.tsv
      gpnn-index -q -o t.gpi t.tsv
      gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
      gpnn-explain sobol -q --distribution uniform -c 128 --samples 100 -p t.par t.gpi |
        awk -F '\t' -v f=$f '
          BEGIN {
            split(f == "g" ? ".7165 .1791 .0237 .0072" : ".3139 .4424 0", s, " ")
            split(f == "g" ? ".7874 .2423 .0343 .0105" : ".5576 .4424 .2437", t, " ")
          }
          NR > 1 { j = substr($1, 2); print (s[j] >= $3 && s[j] <= $4); print (t[j] >= $6 && t[j] <= $7) }' >>inside
    done
  done
  assert_equal "$(wc -l <inside)" 28
  assert_below 22 "$(grep -c 1 inside)"
}

@test "indices of a function of 15 inputs, computed from its coefficients, and of pairs" {
  gpnn-simulate data -q --kind function --function oakley --size 1000 --scale 1 -t noise=0.001 -o t.tsv
  gpnn-index -q -o t.gpi t.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi >t.par
  gpnn-explain sobol -q -c 64 --samples 60 -p t.par t.gpi | awk -F '\t' '
    BEGIN {
      split(".0016 .0002 .0013 .0030 .0029 .0230 .0242 .0265 .0460 .0149 .1018 .1357 .1020 .1052 .1228", s, " ")
      split(".0590 .0629 .0359 .0546 .0237 .0413 .0580 .0822 .0974 .0357 .1514 .1482 .1423 .1413 .1549", t, " ")
    }
    NR > 1 { j = substr($1, 2); print (s[j] >= $3 && s[j] <= $4); print (t[j] >= $6 && t[j] <= $7) }' >inside
  assert_equal "$(wc -l <inside)" 30
  assert_below 23 "$(grep -c 1 inside)"
  simulated ishigami 1 >i.tsv
  gpnn-index -q -o i.gpi i.tsv
  gpnn-fit -q --effort fast i.gpi >i.par
  gpnn-explain sobol -q --pairs --distribution uniform -c 128 --samples 60 -p i.par i.gpi >pairs.tsv
  assert_equal "$(sed -n 5,7p pairs.tsv | cut -f 1 | head -n 1)" 'x1:x3'
  assert_equal "$(awk -F '\t' '$1 == "x1:x3" { print ($3 <= 0.2437 && $4 >= 0.2437) }' pairs.tsv)" 1
  assert_fails 2 '--pairs does not apply to effect' gpnn-explain effect --pairs -x x1 -p i.par i.gpi
}

@test "indices are ranked, chosen, repeatable, and nothing for a constant column" {
  make_columns 300 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  make_parameters matern52 0.5 1 0.001 20 >t.par
  sobol=(gpnn-explain sobol -c 64 --samples 40 -p t.par t.gpi)
  "${sobol[@]}" >found.tsv 2>notes
  grep -q '^gpnn-explain: variance of the function 0\.[0-9]* if the columns were independent$' notes
  head -n 1 found.tsv | diff - <(printf 'column\tfirst\tfirst_lower\tfirst_upper\ttotal\ttotal_lower\ttotal_upper\n')
  assert_equal "$(sed -n 2p found.tsv | cut -f 1)" x1
  grep -qP '^same(\t0){6}$' found.tsv
  "${sobol[@]}" -q -j 1 | diff - found.tsv
  "${sobol[@]}" -q -x x2 | cut -f 1 | diff - <(printf 'column\nx2\n')
  "${sobol[@]}" -q --json -x x1 | json >values
  assert_equal "$(value columns.0.column values)" x1
  assert_below 0.1 "$(value variance values)"
  assert_fails 1 'need .* points, and 65536 are the most' gpnn-explain sobol -c 65000 -p t.par t.gpi
  assert_fails 2 'sobol needs more rows than one' gpnn-explain sobol -c 1 -p t.par t.gpi
  assert_fails 2 '--points does not apply to sobol' gpnn-explain sobol --points 3 -p t.par t.gpi
  make_table 200 1 | awk -F '\t' -v OFS='\t' 'NR == 1 { print "x", "kind", "y"; next }
    { k = NR % 3; print $1, substr("cab", 1 + k, 1), 10 * k + $1 }' | gpnn-index -q --one-hot kind -o k.gpi -
  make_parameters matern52 0.5 1 0.001 20 >k.par
  for how in own uniform; do
    gpnn-explain sobol -q --distribution $how -c 64 --samples 40 -p k.par k.gpi >kinds.tsv
    assert_below 0.9 "$(awk -F '\t' '$1 == "kind" { print $2 }' kinds.tsv)"
  done
}

@test "a grid is refused, and hundreds of columns are no obstacle" {
  make_table 40 200 | gpnn-index -q -o wide.gpi -
  make_parameters matern32 2 1 0.1 10 >wide.par
  gpnn-explain rows -p wide.par wide.gpi <(make_table 3 200 50) | cut -f 1 | sort -u | wc -l | grep -qx 4
  gpnn-explain importance -q --repeats 1 -p wide.par wide.gpi | wc -l | grep -qx 201
  gpnn-explain effect -x x77 -c 10 --samples 20 -p wide.par wide.gpi | wc -l | grep -qx 11
  gpnn-explain sobol -q -x x1,x200 -c 20 --samples 20 -p wide.par wide.gpi | wc -l | grep -qx 3
  printf 'site\ttime\ty\n' >grid.tsv
  for s in a b c d; do for t in 1 2 3 4 5; do printf '%s\t%s\t%s\n' $s $t "$((${#s} * t + t % 2))"; done; done >>grid.tsv
  gpnn-grid index -q --site site --time time -o g.gpi grid.tsv
  gpnn-grid fit -q g.gpi >g.par 2>/dev/null
  assert_fails 1 'g.gpi is a grid index: its cells have levels, not columns' gpnn-explain importance -p g.par g.gpi
}
