#!/usr/bin/env bats
# gpnn-fit --inference polya-gamma, and what other tools do with its parameters.

load helper

# make_classes ROWS CLASSES [FIRST]: x1, x2 and a class, which depends on x1 alone, but for noise.
make_classes() {
  make_table "$1" 2 "${3:-0}" | awk -F '\t' -v n="$2" -v OFS='\t' '
    NR == 1 { print "x1", "x2", "class"; next }
    { c = int(n * $1 + ($3 * 1000 % 1) * 0.4 - 0.2); c = c < 0 ? 0 : c >= n ? n - 1 : c
      print $1, $2, substr("abcdefgh", c + 1, 1) }'
}

# prepare CLASSES: an index t.gpi, and rows to predict, test.tsv.
prepare() {
  make_classes 300 "$1" >train.tsv
  make_classes 100 "$1" 300 >test.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
}

fit() {
  gpnn-fit -q --inference polya-gamma -m 16 --tune steps=150 "$@"
}

@test "classes are predicted well, by learnt and by fixed variables" {
  for classes in 2 3; do
    prepare $classes
    for omega in learnt fixed; do
      fit --omega $omega -o t.par t.gpi
      gpnn-predict -q t.gpi -p t.par test.tsv >p.tsv
      assert_equal "$(head -n 1 p.tsv | cut -f 1-3 | tr '\t' ' ')" 'class label p_a'
      gpnn-eval -q p.tsv >scores
      awk -v error="$(value error scores)" -v nll="$(value nll scores)" -v n=$classes \
        'BEGIN { exit !(error < 0.15 && nll < 0.35 * log(n)) }'
      awk 'NR > 1 { sum = 0; for (i = 3; i <= NF; i++) sum += $i
        if (sum < 1 - 1e-12 || sum > 1 + 1e-12) exit 1 }' p.tsv
    done
  done
}

@test "fixed variables are a text of parameters, which other tools read" {
  prepare 3
  fit --omega fixed t.gpi >t.par
  assert_equal "$(value kernel t.par)" matern52
  assert_equal "$(value likelihood t.par)" categorical
  assert_equal "$(value inference t.par)" polya-gamma
  assert_equal "$(value omega t.par)" fixed
  assert_equal "$(value noise t.par)" 0
  assert_equal "$(value neighbours t.par)" 16
  grep -q '^# fit: polya-gamma, 150 steps of 64 of 300 rows, 16 neighbours; loss 0\.' t.par
  awk -F '\t' '$1 == "lengthscale" { exit !($3 > 3 * $2) }' t.par
  gpnn-info t.par >/dev/null
  gpnn-predict -q t.gpi -p - test.tsv <t.par >a.tsv
  gpnn-predict -q t.gpi -p t.par test.tsv | cmp - a.tsv
}

@test "learnt variables come in a file with the parameters, and text alone is not enough" {
  prepare 2
  fit -o t.par t.gpi
  gpnn-info t.par >info
  assert_equal "$(value omega info)" learnt
  fit t.gpi | cmp - t.par
  fit t.gpi | gpnn-predict -q t.gpi -p - test.tsv >piped.tsv
  gpnn-predict -q t.gpi -p t.par test.tsv | cmp - piped.tsv
  {
    make_parameters matern52 0.5 4 0 16
    printf 'likelihood\tcategorical\ninference\tpolya-gamma\nomega\tlearnt\n'
  } >text.par
  assert_fails 1 "use the file that gpnn-fit wrote" gpnn-predict t.gpi -p text.par test.tsv
  make_classes 310 2 >more.tsv
  gpnn-index -q --calibration-rows 0 -o other.gpi more.tsv
  assert_fails 1 "index of other columns, or of other scaling" \
    gpnn-predict -q other.gpi -p t.par test.tsv
  head -c 700 t.par >cut.par
  assert_fails 1 "truncated" gpnn-predict t.gpi -p cut.par test.tsv
}

@test "results depend neither on threads nor on batches" {
  prepare 3
  fit -j 1 -o one.par t.gpi
  fit -j 3 -o three.par t.gpi
  cmp one.par three.par
  gpnn-predict -q -j 1 t.gpi -p one.par test.tsv >one
  gpnn-predict -q -j 3 --batch 7 t.gpi -p one.par test.tsv | cmp - one
}

@test "a divergence as printed gives other parameters, and so does another seed" {
  prepare 2
  fit -o one.par t.gpi
  fit --kl-weight printed -o printed.par t.gpi
  fit --kl-weight 300 t.gpi | cmp - printed.par
  fit -s 2 -o two.par t.gpi
  run ! cmp one.par printed.par
  run ! cmp one.par two.par
}

@test "parameters can be fixed and started from" {
  prepare 2
  fit --omega fixed --fix lengthscale=0.3 --fix kernelscale=5 t.gpi >t.par
  awk -F '\t' '$1 == "lengthscale" { exit !(NF == 3 && $2 > 0.2999 && $2 < 0.3001 && $3 == $2) }' t.par
  assert_near "$(value kernelscale t.par)" 5 1e-9
  gpnn-fit -q --inference polya-gamma --omega fixed --ard no -m 8 --tune steps=1 t.gpi >start.par
  awk -F '\t' '$1 == "lengthscale" { exit !(NF == 2 && $2 > 1.3 && $2 < 1.5) }' start.par
  fit --omega fixed --start t.par --tune steps=1 t.gpi >again.par
  awk -F '\t' '$1 == "lengthscale" { exit !($2 > 0.28 && $2 < 0.32) }' again.par
}

@test "options of other methods, and numbers, are refused" {
  prepare 2
  for option in '--preset paper' '--method local' '--effort fast' '--objective loo' '--rotate none' \
    '--like test.tsv' '--members 2' '--transform log' '--thin 0' '--rows 100'; do
    read -ra words <<<"$option"
    assert_fails 2 "option ${words[0]}: does not apply to --inference polya-gamma" \
      gpnn-fit --inference polya-gamma "${words[@]}" t.gpi
  done
  assert_fails 2 "option --fix: --inference polya-gamma has no noise" \
    gpnn-fit --inference polya-gamma --fix noise=1 t.gpi
  assert_fails 2 "option --omega: applies to --inference polya-gamma only" \
    gpnn-fit --omega fixed t.gpi
  assert_fails 2 "option --kl-weight: applies" gpnn-fit --kl-weight 1 t.gpi
  assert_fails 2 "option --inference" gpnn-fit --inference bayes t.gpi
  for weight in 0 -1 nan much; do
    assert_fails 2 "option --kl-weight: a number above 0, or printed" \
      gpnn-fit --inference polya-gamma --kl-weight $weight t.gpi
  done
  make_table 50 >numbers.tsv
  gpnn-index -q -o n.gpi numbers.tsv
  assert_fails 2 "target 'y' is a number" gpnn-fit --inference polya-gamma n.gpi
}

@test "a handful of rows, a rare class and copies of rows have finite probabilities" {
  for rows in 3 20; do
    { make_classes $rows 2 && printf '0.5\t0.5\trare\n0.5\t0.5\ta\n0.5\t0.5\ta\n'; } >train.tsv
    gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
    fit -o t.par t.gpi
    gpnn-predict -q t.gpi -p t.par train.tsv >p.tsv
    assert_equal "$(grep -ci 'nan\|inf\|NA' p.tsv)" 0
  done
}

@test "advice for models by Polya-Gamma variables is what they can do" {
  awk 'BEGIN { srand(3); print "a\ty"; for (i = 0; i < 80; i++) { a = rand(); print a "\t" (a + rand() > 1) } }' >b.tsv
  gpnn-index -q --classes -y y --calibration-rows 0 -o b.gpi b.tsv
  gpnn-fit -q --inference polya-gamma --kernel exp b.gpi >b.par
  run ! gpnn-calibrate b.gpi -p b.par
  [[ $output == *'or use --with TABLE' && $output != *--loo* ]]
  run ! gpnn-predict --loo --cross-fit b.gpi -p b.par
  [[ $output == *'or classes are inferred by polya-gamma' ]]
}
