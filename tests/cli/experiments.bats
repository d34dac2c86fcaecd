#!/usr/bin/env bats
# The experiments: both sides of a comparison stand on the same rows, options reach their tools,
# and the tables say what the figures say.

load helper

experiments=$GPNN_ROOT/scripts/experiments

# A folder of tables: t, and g-train and g-test.
make_tables() {
  mkdir tables
  make_table 300 2 | gzip >tables/t.tsv.gz
  make_table 200 2 | gzip >tables/g-train.tsv.gz
  make_table 50 2 200 | gzip >tables/g-test.tsv.gz
}

@test "rows are divided as gpnn-split divides them, and validation rows are used if asked" {
  make_tables
  "$experiments/split" tables t 7:2 4 train.tsv test.tsv
  gpnn-split -q -f 7:2 -s 4 -o a.tsv -o b.tsv tables/t.tsv.gz
  cmp train.tsv a.tsv && cmp test.tsv b.tsv
  "$experiments/split" tables t 15:3:2 4 train.tsv test.tsv
  gpnn-split -q -f 15:3:2 -s 4 -o a.tsv -o v.tsv -o b.tsv tables/t.tsv.gz
  cmp train.tsv a.tsv && cmp test.tsv b.tsv
  "$experiments/split" --use-validation tables t 15:3:2 4 train.tsv test.tsv
  cmp train.tsv <(cat a.tsv <(tail -n +2 v.tsv)) && cmp test.tsv b.tsv
}

@test "a split that is given is kept, whatever the seed" {
  make_tables
  "$experiments/split" tables g given 9 train.tsv test.tsv
  cmp train.tsv <(zcat tables/g-train.tsv.gz) && cmp test.tsv <(zcat tables/g-test.tsv.gz)
}

@test "rows alike in all inputs stay in one part of a split '-by'" {
  mkdir tables
  make_table 200 2 | awk -F '\t' '1; NR > 1 { print $1 "\t" $2 "\t" 1 + $3 }' | gzip >tables/t.tsv.gz
  "$experiments/split" tables t 8:2-by 1 train.tsv test.tsv
  assert_equal "$(tail -qn +2 train.tsv test.tsv | wc -l)" 400
  assert_equal "$(head -qn 1 train.tsv test.tsv | uniq)" "$(zcat tables/t.tsv.gz | head -n 1)"
  run -0 comm -12 <(tail -n +2 train.tsv | cut -f 1,2 | sort) <(tail -n +2 test.tsv | cut -f 1,2 | sort)
  assert_equal "$output" ''
}

# sets LINE...: a list of sets, sets.tsv; in the lines spaces stand for tabs, and _ for spaces.
sets() {
  head -n 1 "$experiments/sets.tsv"
  printf '%s\n' "$@" | tr ' _' '\t '
}

@test "a set is scored with options of its own, and each tool gets those meant for it" {
  make_tables
  sets 'g given - 1-2 index_--calibration-rows_31;_fit_--effort_fast_--like_test.tsv - - 0.94 0.4 0.2 them' \
    't 7:2 y 2 fit_--effort_fast_-m_17;_calibrate_--loo 0.5 -1 0.94 - - -' >sets.tsv
  "$experiments/accuracy" --data tables --sets sets.tsv --seeds 2-3 -- --kernel exp >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column data scores.tsv | paste -sd ' ')" 'g g t.y t.y'
  assert_equal "$(column seed scores.tsv | paste -sd ' ')" '2 3 2 3'
  assert_equal "$(column kernel scores.tsv | sort -u)" exp
  assert_equal "$(column m scores.tsv | tail -n 2 | sort -u)" 17
  assert_equal "$(column rows scores.tsv | paste -sd ' ')" '250 250 300 300'
  assert_equal "$(column options scores.tsv | tail -n 1)" 'fit --effort fast -m 17; calibrate --loo; fit --kernel exp'

  zcat tables/g-train.tsv.gz >train.tsv && zcat tables/g-test.tsv.gz >test.tsv
  gpnn-index -q -s 3 --calibration-rows 31 -o g.gpi train.tsv
  gpnn-fit -q -s 3 --effort fast --like test.tsv --kernel exp g.gpi | gpnn-calibrate -q g.gpi |
    gpnn-predict -q --units standard -p - g.gpi test.tsv | gpnn-eval >scores
  for measure in rmse nll crps pit_distance; do
    assert_near "$(column $measure scores.tsv | sed -n 2p)" "$(value $measure scores)" 1e-4
  done
}

@test "a set whose tools fail is told as failed, and the next one is scored" {
  make_tables
  sets 't 7:2 - - fit_--no-such-option - - 0.94 - - -' 'g given - - fit_--effort_fast - - 0.94 - - -' \
    >sets.tsv
  run -0 --separate-stderr "$experiments/accuracy" --data tables --sets sets.tsv
  assert_equal "$(tail -n +2 <<<"$output" | column kernel | head -n 1)" failed
  [[ $(tail -n +2 <<<"$output" | column rmse | tail -n 1) == 0.* ]]
  run -0 "$experiments/accuracy" --summary --rivals /dev/null <<<"$output"
  [[ ${lines[2]} == '| t, 300 | 7:2 | 67 | `fit --no-such-option` | failed: 1 of 1 |' ]]
}

@test "the table gives means and standard deviations over seeds, and who is ahead" {
  cat >figures.tsv <<'TSV'
# what ran
data	rows	split	seed	scored	options	kernel	m	rmse	nll	crps	coverage50	coverage95	pit_distance	seconds	predict_seconds	rmse_aim	nll_aim	least95	rmse_to_beat	nll_to_beat	whose
a	9000	7:2	1	2000	none	exp	16	0.0010	-1	0.10	0.50	0.95	0.02	1.4	0.25	0.0020	-1.6	0.94	0.3	-0.5	theirs
a	9000	7:2	2	2000	none	rbf	64	0.0030	-2	0.12	0.52	0.95	0.03	1.8	0.35	0.0020	-1.6	0.94	0.3	-0.5	theirs
a	9000	7:2	1	2000	fit --mean-function linear	exp	32	1.5	0.25	0.8	0.55	0.93	0.04	1	0.1	-	0.24	0.92	-	-	-
b	40	given	1	20	none	failed	-	-	-	-	-	-	-	-	-	-	-	-	-	-	-
TSV
  cat >rivals.tsv <<'TSV'
data	split	seed	rival	rmse	nll	crps	train_rows	of_rows
a	7:2	1	trees	0.0005	-0.5	0.3	7000	7000
a	7:2	2	trees	0.0030	-0.7	0.4	7000	7000
a	7:2	1	gp	0.5	-1.5	0.2	4000	7000
a	7:2	3	gp	0.0001	-9	0.0	4000	7000
a	8:2	1	gp	0.0001	-9	0.0	4000	7000
TSV
  run -0 "$experiments/accuracy" --summary --rivals rivals.tsv figures.tsv
  assert_equal "${lines[2]}" '| a, 9000 | 7:2 | 2000 | | 0.00200 ± 0.00141 | −1.500 ± 0.707 |'\
' 0.110 ± 0.014 | 51.0 ± 1.4 | 95.0 ± 0.0 | 0.025 ± 0.007 | 2 / 0.3 | 0.0020 / −1.6 |'\
' missed: NLL | 0.00175 / −1.500 / 0.200 (trees, gp of 4000 rows) | behind: RMSE, NLL |'\
' 0.3 / −0.5, theirs |'
  assert_equal "${lines[3]}" '| a, 9000 | 7:2 | 2000 | `fit --mean-function linear` | 1.500 | 0.250 |'\
' 0.800 | 55.0 | 93.0 | 0.040 | 1 / 0.1 | – / 0.24 | missed: NLL, 50 %, PIT |'\
' 0.000500 / −1.500 / 0.200 (trees, gp of 4000 rows) | behind: RMSE, NLL, CRPS | |'
  assert_equal "${lines[4]}" '| b, 40 | given | 20 | | failed: 1 of 1 |'
}

@test "where few rows are scored, chance widens what counts as met" {
  # 100 rows: two standard errors are 0.1 of 0.5 and 0.0436 of 0.95; of the distance 0.1389.
  # Two seeds: 0.0707, 0.0308, and 0.1237.
  head=$'data\trows\tsplit\tseed\tscored\toptions\trmse\tnll\tcrps\tcoverage50\tcoverage95\tpit_distance\tleast95'
  aims() { printf '%s\n' "$head" "$@" | tr ' ' '\t' | "$experiments/accuracy" --summary --rivals /dev/null |
    sed -n '3,$p' | cut -d '|' -f 14; }
  assert_equal "$(aims 'a 400 7:2 1 100 none 1 1 1 0.59 0.99 0.138 0.94')" ' met '
  assert_equal "$(aims 'a 400 7:2 1 100 none 1 1 1 0.61 0.90 0.140 0.94')" ' missed: 50 %, 95 %, PIT '
  assert_equal "$(aims 'a 400 7:2 1 100 none 1 1 1 0.56 0.98 0.123 0.94' \
    'a 400 7:2 2 100 none 1 1 1 0.58 0.98 0.124 0.94')" ' met '
  assert_equal "$(aims 'a 400 7:2 1 100 none 1 1 1 0.58 0.99 0.124 0.94' \
    'a 400 7:2 2 100 none 1 1 1 0.58 0.98 0.124 0.94')" ' missed: 50 %, 95 %, PIT '
}

@test "the tables of figures are those of the figures kept" {
  "$experiments/accuracy" --summary "$experiments/accuracy.tsv" >table
  sed -n '/^| data, rows | split |/,/^$/p' "$experiments/README.md" | sed '/^$/d' >shown
  diff table shown
  "$experiments/mixed" --summary "$experiments/mixed.tsv" >table
  sed -n '/^| data | seeds | RMSE, or error/,/^$/p' "$experiments/README.md" | sed '/^$/d' >shown
  diff table shown
  "$experiments/missing" --summary "$experiments/missing.tsv" >table
  sed -n '/^| data | share |/,/^$/p' "$experiments/README.md" | sed '/^$/d' >shown
  diff table shown
  awk -f "$experiments/short.awk" "$experiments/README.md" >table
  sed -n '/^| data, rows |/,/^$/p' "$GPNN_ROOT/README.md" | sed '/^$/d' >shown
  diff table shown
}

# A folder of tables of classes: c; and a list of sets, classes.tsv.
make_class_tables() {
  mkdir tables
  make_table 240 2 | awk -F '\t' -v OFS='\t' '
    { print $1, $2, (NR == 1 ? "class" : $1 > 0.6 ? 7 : $1 > 0.3 ? 5 : 2) }' | gzip >tables/c.tsv.gz
  {
    head -n 1 "$experiments/classes.tsv"
    printf 'c\tThis\t.2\t.5\t-\t-\t.1\t.3\t-\t-\t.05\t.1\nd\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\n'
    printf -- '-\tThat\t.3\t.6\t.3\t.7\t.2\t.4\t-\t-\t-\t-\n'
  } >classes.tsv
}

@test "classes are scored by both methods, on the same rows, and shown beside what was published" {
  make_class_tables
  "$experiments/classification" --data tables --sets classes.tsv --split 15:3:2 --seeds 1-2 \
    --neighbours 8,16 --kl-weight 1,0.1 -- --tune steps=60 >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column method scores.tsv | paste -sd ' ')" 'link polya-gamma link polya-gamma'
  assert_equal "$(column seed scores.tsv | paste -sd ' ')" '1 1 2 2'
  assert_equal "$(column rows scores.tsv | sort -u)" 216
  column neighbours scores.tsv | awk 'NR % 2 == 0 && $1 != 8 && $1 != 16 { exit 1 }'

  gpnn-split -q -s 2 -f 15:3:2 -o train.tsv -o test.tsv -o rest.tsv tables/c.tsv.gz
  gpnn-index -q -s 2 --classes -o c.gpi train.tsv
  gpnn-fit -q -s 2 --tune steps=60 c.gpi | gpnn-calibrate -q c.gpi |
    gpnn-predict -q -p - c.gpi test.tsv | gpnn-eval -q >scores
  assert_near "$(column nll scores.tsv | sed -n 3p)" "$(value nll scores)" 1e-4
  gpnn-index -q -s 2 --classes --calibration-rows 0 -o c.gpi train.tsv
  gpnn-fit -q -s 2 --inference polya-gamma -m "$(column neighbours scores.tsv | sed -n 4p)" \
    --kl-weight "$(column kl_weight scores.tsv | sed -n 4p)" --tune steps=60 c.gpi |
    gpnn-predict -q -p - c.gpi test.tsv | gpnn-eval -q >scores
  assert_near "$(column nll scores.tsv | sed -n 4p)" "$(value nll scores)" 1e-4

  sed -i '1i # with what it was measured' scores.tsv
  "$experiments/classification" --summary --sets classes.tsv scores.tsv >table.md
  grep -qE '^\| c \(This\) \| 20 / \.5 \|  \| 10 / \.3 \|  \| 5 / \.1 \| [0-9.]+ / [0-9.]+ ± [0-9.]+ \|' table.md
  grep -qE '^\| That \| 30 / \.6 \| 30 / \.7 \| 20 / \.4 \|' table.md
  assert_equal "$(grep -c '^| d |' table.md)" 0
}

@test "what classification cannot do is refused" {
  make_class_tables
  assert_fails 2 "--data DIR" "$experiments/classification"
  assert_fails 2 "no method other" "$experiments/classification" --data tables --methods other
  assert_fails 2 "no set e" "$experiments/classification" --data tables --sets classes.tsv e
  assert_fails 2 "several neighbours or weights need validation rows" \
    "$experiments/classification" --data tables --kl-weight 1,2
}

# ---- grids ------------------------------------------------------------------------------------

# divide PATTERN SHARE [SEED]: divides wide.tsv, of two coordinates.
divide() {
  awk -v seed="${3:-1}" -v sites=2 -v pattern="$1" -v share="$2" -v train=train.tsv -v test=test.tsv \
    -v units=units -f "$experiments/grid-split.awk" wide.tsv
}

@test "cells are held out at random, by times, at the end, or after a random time of a site" {
  gpnn-simulate grid --sites 40 --times 50 --missing 0.1 --wide >wide.tsv
  gpnn-simulate grid --sites 40 --times 50 --missing 0.1 | sed 1d | sort >cells.tsv
  for pattern in 'random 0.3' 'times 0.3' 'trailing 7' 'cut 0.9'; do
    # shellcheck disable=SC2086
    divide $pattern
    tail -qn +2 train.tsv test.tsv | sort | cmp - cells.tsv
    column y test.tsv | wc -l >"${pattern%% *}.n"
    column time test.tsv | sort -n | uniq | wc -l >"${pattern%% *}.times"
  done
  awk -v n="$(cat random.n)" 'BEGIN { exit !(n > 450 && n < 630) }'
  assert_equal "$(cat times.times)" 15
  assert_equal "$(cat trailing.times)" 7
  # Of a site that was cut, no cell after the first that is held out was observed.
  divide cut 0.9
  awk 'FNR == 1 { next } FILENAME == "test.tsv" { if (!($1 in first) || $3 < first[$1]) first[$1] = $3; next }
    $1 in first && $3 > first[$1] { exit 1 }' test.tsv train.tsv
  [[ $(awk '$3 == 49' train.tsv | wc -l) == [1-4] ]]
  awk '$3 == 49 { n++; s += $4; q += $4 * $4 } END { printf "%.9f %.9f\n", s / n, sqrt((q - s * s / n) / (n - 1)) }' \
    train.tsv | cmp - <(awk '{ printf "%.9f %.9f\n", $1, $2 }' units)
}

@test "another seed holds out other cells, the same seed the same" {
  gpnn-simulate grid --sites 20 --times 30 --wide >wide.tsv
  divide random 0.3 && cp test.tsv one.tsv
  divide random 0.3 2
  run ! cmp -s test.tsv one.tsv
  divide random 0.3
  cmp test.tsv one.tsv
}

@test "grids are scored in units of the observed cells, and stand beside the published figures" {
  mkdir tables
  gpnn-simulate grid --sites 30 --times 20 --wide |
    awk -v OFS='\t' 'NR == 1 { for (j = 3; j <= NF; j++) $j = "t" j - 2 } 1' | gzip >tables/g.tsv.gz
  {
    head -n 1 "$experiments/grids.tsv"
    printf 'g\tall\tg\t2\tcut\t0.9\t0.5\t0.6\t0.7\t0.8\t1\t2\t3\t4\t1\n'
    printf 'g\tclimate\tg\t2\trandom\t0.2%s\n' "$(printf '\t-%.0s' {1..9})"
  } >grids.tsv
  "$experiments/grid" --data tables --sets grids.tsv --methods neighbours,grid g -- --effort fast >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column pattern scores.tsv | paste -sd ' ')" 'cut cut random random'
  column rmse scores.tsv | awk '$1 < 0.2 || $1 > 3 { exit 1 }'
  "$experiments/grid" --summary --sets grids.tsv scores.tsv >table.md
  pair='[0-9.]* / [-0-9.]*' seconds='[0-9]*'
  grep -q "^| g | 0.500 / 1.00 | 0.600 / 2.00 | 0.700 / 3.00 | 0.800 / 4.00 | $pair | $seconds | $pair | $seconds |\$" table.md
  grep -q "^| g | random | $pair / $pair | $seconds | $pair / $pair | $seconds |\$" table.md
  grep -q '^| lowest NLL | | | | | [01] of 1 | | [01] of 1 | |$' table.md
}

@test "a large grid is filled within its intervals, by parameters found or given" {
  for options in '' --given; do
    # shellcheck disable=SC2086 # none or one
    "$experiments/grid-large" --sites 60 --times 12 --missing 0.3 $options >costs.tsv 2>err.txt
    assert_equal "$(wc -l <costs.tsv)" 2
    column rmse costs.tsv | awk '!($1 > 0.05 && $1 < 0.8) { exit 1 }'
    # Of the function: what is left of the variance of an observation without the noise is little, and known badly.
    column coverage95 costs.tsv | awk '!($1 > 0.65) { exit 1 }'
  done
}

@test "tasks are predicted by structure as they are in full" {
  mkdir tables
  awk 'BEGIN { srand(3); OFS = "\t"
    for (j = 1; j <= 28; j++) printf "%s%s", (j > 21 ? "torque" j - 21 : "x" j), (j < 28 ? OFS : "\n")
    for (i = 0; i < 60; i++) {
      for (j = 1; j <= 21; j++) { x[j] = sin(7 * i * j); printf "%s\t", x[j] }
      for (j = 1; j <= 7; j++) printf "%s%s", sin(x[1] + x[2] + j / 4), (j < 7 ? OFS : "\n")
    } }' | gzip >tables/sarcos-test.tsv.gz
  "$experiments/grid-tasks" --data tables --rows 40 --missing 0.3,0.6 >tasks.tsv
  column difference_tight tasks.tsv | awk '!($1 < 1e-6) { exit 1 } END { exit NR != 2 }'
  column difference_default tasks.tsv | awk '!($1 < 0.2) { exit 1 }'
}

@test "variational models are scored beside neighbours on the same rows, and summed up" {
  make_tables
  printf 'set\tsplit\ttarget\tinputs\tinducing\tranks\tsizes\tpublished_rmse\tpublished_nll\twhose\n' >sets.tsv
  printf 't\t7:2\ty\t-\t20\t2\t5\t0.5\t-\tsomeone\n' >>sets.tsv
  "$experiments/variational" --data tables --sets sets.tsv >scores.tsv 2>said
  assert_equal "$(awk -F '\t' 'NR > 2 { print $4 }' scores.tsv | tr '\n' ' ')" \
    'neighbours collapsed diag tucker '
  assert_equal "$(awk -F '\t' 'NR > 2 && !($6 > 0 && $6 < 2 && $17 > 0)' scores.tsv)" ''
  assert_equal "$("$experiments/variational" --summary scores.tsv | grep -c '^| t.y | 7:2 |')" 4
  assert_fails 2 'no method x' "$experiments/variational" --data tables --sets sets.tsv --methods x
}

@test "distributed models are those of whitened rows, exact, and one alone is what it was" {
  make_tables
  printf 'set\trule\tpublished_rmse\tpublished_nll\tpublished_cal\nt\tbcm\t0.1\t0.2\t0.9\n' >sets.tsv
  "$experiments/distributed" table3 --data tables --sets sets.tsv --seeds 2-2 >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column rule scores.tsv | paste -sd ' ')" 'poe gpoe bcm rbcm grbcm'
  assert_equal "$(column published_cal scores.tsv | paste -sd ' ')" '- - 0.9 - -'

  "$experiments/split" tables t 7:2 2 train.tsv test.tsv
  gpnn-index -q --standardise whiten --tails keep --calibration-rows 0 -o t.gpi train.tsv
  gpnn-fit -q -s 2 --objective block --tune blocks=1 --tune block-size=233 --kernel rbf --ard no \
    --rotate none --likelihood gaussian -m 1000 t.gpi |
    gpnn-predict -q --units standard -p - t.gpi test.tsv | gpnn-eval >one
  for measure in rmse nll crps cal; do
    for rule in 1 2 3 5; do # all but rbcm, which takes a power of it
      assert_near "$(column $measure scores.tsv | sed -n ${rule}p)" "$(value $measure one)" 2e-4
    done
  done

  "$experiments/distributed" table3 --data tables --sets sets.tsv --expert-rows 50 --test-rows 40 >few.tsv
  assert_equal "$(tail -n +2 few.tsv | column models | sort -u)" 5
  assert_equal "$("$experiments/distributed" --summary few.tsv | grep -c '^| t | 5 | .* ([01].[0-9]*) |')" 1
  assert_fails 2 'not figures' "$experiments/distributed" figures
}

@test "models of parts of the rows are combined by every rule, and scored beside that of all rows" {
  make_tables
  "$experiments/distributed" shards --data tables --models 3 --check-rows 30 t -- --effort fast >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column rule scores.tsv | paste -sd ' ')" \
    'pool one poe gpoe gpoe-equal gpoe-joined bcm rbcm grbcm weights stack'
  assert_equal "$(awk -F '\t' 'NR > 1 && !($5 > 0 && $5 < 1.5 && $10 > 0)' scores.tsv)" ''

  # That of all rows, by hand.
  "$experiments/split" tables t 7:2 1 train.tsv test.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-calibrate -q t.gpi |
    gpnn-predict -q -p - t.gpi test.tsv | gpnn-eval >pool
  sd=$(awk -F '\t' 'NR > 1 { s += $NF; t += $NF ^ 2; n++ } END { print sqrt(t / n - (s / n) ^ 2) }' train.tsv)
  assert_near "$(column rmse scores.tsv | head -n 1)" \
    "$(awk -v sd="$sd" '$1 == "rmse" { print $2 / sd }' pool)" 0.02
  assert_equal "$("$experiments/distributed" --summary scores.tsv | grep -c '^| t | [13] | ')" 11
}

@test "rows that lack inputs are scored by how many they lack, on tables with so many holes" {
  make_tables
  "$experiments/missing" --data tables --seeds 2-3 --share 0,0.3 t >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(column share scores.tsv | paste -sd ' ')" '0 0.3 0 0.3'
  assert_equal "$(column seed scores.tsv | paste -sd ' ')" '2 2 3 3'
  assert_equal "$(awk -F '\t' 'NR > 1 && $4 + $5 != 300' scores.tsv)" ''
  assert_equal "$(awk -F '\t' 'NR > 1 && $10 + $12 + $14 + $16 != $5' scores.tsv)" ''
  assert_equal "$(column rows0 scores.tsv | sed -n 1p)" "$(column test_rows scores.tsv | sed -n 1p)"
  # 0.49 of the rows lack none of two, and 0.42 one.
  column rows1 scores.tsv | awk 'NR % 2 == 0 && !($1 > 12 && $1 < 45) { exit 1 }'
  awk -F '\t' 'NR > 1 { rmse[$2] += $6 } END { exit !(rmse[0] < rmse[0.3]) }' scores.tsv
  column coverage0 scores.tsv | awk '!($1 > 0.7 && $1 <= 1) { exit 1 }'
  assert_equal "$(column hgb_rmse scores.tsv | sort -u)" -
  assert_fails 2 '--share wants' "$experiments/missing" --data tables --share 1.5
  assert_fails 2 '--data DIR' "$experiments/missing"
}

@test "coverage of rows that lack inputs is summed up over rows, other scores over seeds" {
  {
    printf '# what ran\ndata\tshare\tseed\t...\n'
    printf 'a\t0.1\t1\t700\t200\t0.4\t-0.5\t0.2\t0.9\t100\t1.0\t100\t-\t0\t-\t0\t1\t4\t0.2\t0.5\t-0.1\t0.3\n'
    printf 'a\t0.1\t2\t700\t200\t0.2\t0.1\t0.1\t1.0\t100\t0.5\t20\t0.96\t50\t-\t0\t1\t6\t0.4\t-\t-\t-\n'
  } >scores.tsv
  run -0 "$experiments/missing" --summary scores.tsv
  assert_equal "${lines[2]}" '| a | 0.1 | 2 | 0.300 | −0.200 | 0.150 | 95.0 of 200 | 91.7 of 120 | 96.0 of 50 | |'\
' 6 / 0.3 | 0.500 / −0.100 / 0.300 |'
}

@test "tables as they are are scored by gpnn alone, numbers and classes" {
  mkdir tables
  awk 'BEGIN { srand(1); OFS = "\t"; print "kind", "x", "y"
    for (i = 0; i < 240; i++) { x = rand(); print i % 3 ? "a" : "b", i % 9 ? x : "NA", x + i % 3 } }' |
    gzip >tables/n.tsv.gz
  zcat tables/n.tsv.gz | awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = $3 > 1.4 ? "high" : "low" } 1' | gzip >tables/c.tsv.gz
  "$experiments/mixed" --data tables --seeds 2-3 >scores.tsv
  sed -i 1d scores.tsv
  assert_equal "$(wc -l <scores.tsv)" 5
  awk -F '\t' 'NR > 1 && ($8 != 0 || !($5 < 0.6) || ($1 == "c") != ($7 == "-")) { exit 1 }' scores.tsv ||
    complain "$(cat scores.tsv)"
  "$experiments/mixed" --summary scores.tsv | grep -q '^| c | 2 | 0'
  assert_equal "$(column hgb_rmse scores.tsv | sort -u)" -
  assert_fails 2 '--seeds wants' "$experiments/mixed" --data tables --seeds x
  assert_fails 2 '--data DIR' "$experiments/mixed"
}

@test "indices of known functions are looked for in their intervals" {
  "$experiments/sensitivity" --seeds 2 --rows 60 --points 32 --jobs 2 g ishigami >found.tsv
  assert_equal "$(column function found.tsv | sort | uniq -c | awk '{ print $2 $1 }' | paste -sd ' ')" 'g9 ishigami7'
  assert_equal "$(awk -F '\t' '$1 == "ishigami" && $3 == "total" { print $4 }' found.tsv | paste -sd ' ')" '0.5576 0.4424 0.2437'
  awk -F '\t' 'NR > 1 && !($8 >= 0 && $8 <= 1) { exit 1 }' found.tsv
  run -2 "$experiments/sensitivity" --sheep 3
  grep -q -- '--seeds N' <<<"$output"
  assert_fails 2 'no function h: g, ishigami or oakley' "$experiments/sensitivity" h
}

@test "what ranks take is measured, and predicted from that" {
  need_ranks
  [[ -x /usr/bin/time ]] || skip 'no GNU time'
  "$experiments/scale" measure --rows 2000,6000 --inputs 2 --neighbours 5 --queries 500 >scale.tsv
  # Each has all columns, and four ranks have a quarter of the rows each.
  assert_equal "$(awk -F '\t' 'NF == 17' scale.tsv | wc -l)" 7
  awk -F '\t' '$1 == 6000 { bytes[$4] = $10; asked[$4] = $16 }
    END { exit !(bytes[4] < 0.4 * bytes[1] && asked[1] == 1 && asked[4] > 1 && asked[4] < 2) }' scale.tsv
  assert_equal "$("$experiments/scale" check scale.tsv | wc -l)" 7
  assert_equal "$("$experiments/scale" predict --inputs 2 scale.tsv | wc -l)" 16
  assert_fails 2 'no such option' "$experiments/scale" measure --what 3
  assert_fails 2 'are needed' "$experiments/scale" predict --inputs 3 scale.tsv
}
