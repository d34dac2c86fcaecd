#!/usr/bin/env bats
# gpnn-linear: solutions with a matrix of covariances, its trace, diagonal and determinant.

load helper

# The index of 60 rows, t.gpi with parameters t.par, and three right-hand sides in rhs.tsv.
make_system() {
  make_model 60 1 0 10
  awk 'BEGIN {
    for (i = 0; i < 4; i++)
      for (j = 0; j < 60; j++)
        printf "%s%s", i ? sin(i * j + i) : "v" j, j < 59 ? "\t" : "\n"
  }' >rhs.tsv
}

linear() { gpnn-linear "$1" -q -p t.par t.gpi "${@:2}"; }

# worst A B: the largest difference between numbers of two tables.
worst() {
  paste "$1" "$2" | awk '
    NR > 1 { for (j = 1; j <= NF / 2; j++) { d = $j - $(j + NF / 2); if (d < 0) d = -d; if (d > m) m = d } }
    END { print m + 0 }'
}

@test "solutions are those of a factorisation, one to a row" {
  make_system
  linear solve rhs.tsv >solved.tsv
  linear solve --exact rhs.tsv >exact.tsv
  linear solve --tol 1e-12 - <rhs.tsv >close.tsv
  assert_equal "$(head -n 1 solved.tsv)" "$(head -n 1 rhs.tsv)"
  assert_equal "$(wc -l <solved.tsv)" 4
  assert_near "$(worst solved.tsv exact.tsv)" 0 1e-4
  assert_near "$(worst close.tsv exact.tsv)" 0 1e-9
  run ! cmp -s solved.tsv exact.tsv
}

@test "the matrix times its solutions is what was asked for" {
  make_table 4 1 >train.tsv
  gpnn-index -q --standardise none --calibration-rows 0 -o t.gpi train.tsv
  make_parameters exp 2 3 0.5 4 >t.par
  echo $'a\tb\tc\td\n1\t-2\t0\t4' >rhs.tsv
  linear solve --tol 1e-13 rhs.tsv >solved.tsv
  awk 'NR > 1 { print $1 }' train.tsv | awk '
    NR == FNR { x[FNR] = $1; next }
    FNR == 2 { for (i = 1; i <= 4; i++) { s = 0
      for (j = 1; j <= 4; j++) { r = x[i] - x[j]; s += (3 * exp(-(r < 0 ? -r : r) / 2) + (i == j) * 0.5) * $j }
      printf "%.6f ", (s < 5e-7 && s > -5e-7 ? 0 : s) } }' - solved.tsv >back
  assert_equal "$(cat back)" '1.000000 -2.000000 0.000000 4.000000 '
}

@test "the mean of randomly truncated solutions is the solution" {
  make_system
  head -n 2 rhs.tsv >one.tsv
  awk 'NR == 1 { print } NR == 2 { for (i = 0; i < 400; i++) print }' rhs.tsv >same.tsv
  linear solve --exact one.tsv >exact.tsv
  for how in geometric quadratic; do
    linear solve --truncation "$how" --tol-head 0.1 same.tsv >many.tsv
    assert_equal "$(wc -l <many.tsv)" 401
    awk 'NR == FNR { if (FNR == 2) for (j = 1; j <= NF; j++) x[j] = $j; next }
      FNR > 1 { for (j = 1; j <= NF; j++) { s[j] += $j; q[j] += $j * $j } n++ }
      END { for (j in x) { m = s[j] / n; z = (m - x[j]) / sqrt((q[j] / n - m * m) / (n - 1))
        if (z > 4.5 || z < -4.5) bad = 1 } exit bad }' exact.tsv many.tsv
  done
  linear solve --truncation quadratic --tol-head 0.1 -s 2 same.tsv >other.tsv
  run ! cmp -s many.tsv other.tsv
}

@test "estimates lie within their standard errors" {
  make_system
  for kind in trace logdet diagonal; do
    linear $kind --exact >exact.tsv
    linear $kind --probes 400 >estimate.tsv
    assert_equal "$(head -n 1 estimate.tsv)" $'name\tvalue\tstandard_error'
    paste exact.tsv estimate.tsv | awk '
      NR > 1 { z = ($2 - $5) / $6; if (z > 4.5 || z < -4.5 || $1 != $4 || $3 != 0) exit 1 }'
  done
  assert_equal "$(column name exact.tsv | tail -n 1)" diagonal60
  assert_equal "$(linear trace --probes 1 | column standard_error)" NA
  linear trace --probes 300 --truncation geometric --tol-head 0.1 >random.tsv
  assert_near "$(column value random.tsv)" "$(linear trace --exact | column value)" \
    "$(awk 'NR == 2 { print 4.5 * $3 }' random.tsv)"
}

@test "same seed, same bytes, for any number of threads" {
  make_system
  for j in 1 2 3; do
    { cat rhs.tsv; tail -n +2 rhs.tsv; } | linear solve -j $j --truncation quadratic - >solve.$j
    linear diagonal -j $j --probes 20 >diagonal.$j
    linear logdet -j $j >logdet.$j
  done
  for kind in solve diagonal logdet; do
    cmp $kind.1 $kind.2
    cmp $kind.1 $kind.3
  done
}

@test "the first rows of an index, with their own noise" {
  make_system
  assert_equal "$(linear diagonal --rows 7 | wc -l)" 8
  assert_equal "$(linear diagonal --rows 1000 | wc -l)" 61
  # One row: its variance and noise.
  assert_near "$(linear trace --rows 1 | column value)" "$(awk 'BEGIN { print 1 / 1.04 }')" 1e-6
  make_table 60 2 | awk -v OFS='\t' '{ print $0, NR == 1 ? "v" : 0.5 }' >noisy.tsv
  gpnn-index -q -y y --row-noise v --calibration-rows 0 -o noisy.gpi noisy.tsv
  sd=$(awk 'NR > 1 { s += $3; q += $3 * $3; n++ } END { print q / n - (s / n)^2 }' noisy.tsv)
  assert_near "$(gpnn-linear trace -q --rows 1 -p t.par noisy.gpi | column value)" \
    "$(awk -v v="$sd" 'BEGIN { print 1 / (1.04 + 0.5 / v) }')" 1e-4
}

@test "other formats of right-hand sides and solutions" {
  make_system
  linear solve rhs.tsv >solved.tsv
  tr '\t' , <rhs.tsv | linear solve - | tr , '\t' | cmp - solved.tsv
  tail -n +2 rhs.tsv | linear solve --no-header - | cmp - <(tail -n +2 solved.tsv)
  linear solve -o solved.npy rhs.tsv
  linear solve -o twice.npy solved.npy
  linear solve solved.tsv | linear solve - | tail -n +2 >thrice.tsv
  linear solve twice.npy | cmp - thrice.tsv
  head -n 1 rhs.tsv | linear solve - | cmp - <(head -n 1 rhs.tsv)
}

@test "right-hand sides that do not fit are refused" {
  make_system
  cut -f 1-59 rhs.tsv >narrow.tsv
  assert_fails 1 'narrow.tsv: a right-hand side is a row of 60 numbers' gpnn-linear solve -p t.par t.gpi narrow.tsv
  sed '3s/[^\t]*$/abc/' rhs.tsv >word.tsv
  assert_fails 1 "word.tsv:3: column 'v59': not a number: \"abc\"" gpnn-linear solve -p t.par t.gpi word.tsv
  sed '2s/[^\t]*$/NA/' rhs.tsv >missing.tsv
  assert_fails 1 "missing.tsv:2: column 'v59': missing value" gpnn-linear solve -p t.par t.gpi missing.tsv
  : >empty.tsv
  assert_fails 1 'empty.tsv' gpnn-linear solve -p t.par t.gpi empty.tsv
}

@test "options without a meaning are refused" {
  make_system
  assert_fails 2 'no such kind: "inverse"' gpnn-linear inverse t.gpi
  assert_fails 2 'no such kind: "inverse"' gpnn-linear inverse
  assert_fails 2 'an operand is missing: gpnn-linear KIND' gpnn-linear solve
  assert_fails 2 'trace reads no table' gpnn-linear trace -p t.par t.gpi rhs.tsv
  assert_fails 2 '--probes: solve' gpnn-linear solve --probes 3 -p t.par t.gpi rhs.tsv
  assert_fails 2 '--tol-head is for --truncation' gpnn-linear solve --tol-head 0.1 -p t.par t.gpi rhs.tsv
  assert_fails 2 '--truncation: would bias' gpnn-linear logdet --truncation geometric -p t.par t.gpi
  assert_fails 2 '--tol: with --exact' gpnn-linear trace --exact --tol 0.1 -p t.par t.gpi
  assert_fails 2 'larger than --tol-head' gpnn-linear trace --truncation geometric --tol 0.1 -p t.par t.gpi
  assert_fails 2 'both parameters and right-hand sides' gpnn-linear solve -p - t.gpi
  assert_fails 1 'not an index' gpnn-linear trace -p t.par train.tsv
}

@test "solutions that did not get there, and weights that are too large, are told" {
  make_system
  run -0 gpnn-linear trace --max-iter 3 -p t.par t.gpi
  [[ $output == *'8 of 8 solutions ended after 3 iterations'* ]]
  # The first takes no step, from which follows that weights rise fast; the others take many.
  sed '2s/[^\t]*/0/g' rhs.tsv >zero.tsv
  run -0 gpnn-linear solve --truncation geometric --tol 1e-14 --tol-head 1 -p t.par t.gpi zero.tsv
  [[ $output == *'0 of 3 solutions ended'*' and 2 where a weight would have been more than exp(50)'* ]]
  run -0 gpnn-linear trace -v --truncation quadratic -p t.par t.gpi
  [[ $output == *'8 solutions took'* ]]
}

@test "of several targets one has to be chosen" {
  make_table 40 2 | awk -v OFS='\t' '{ print $0, NR == 1 ? "z" : $3 * 2 + NR % 3 }' >train.tsv
  gpnn-index -q -y y,z -o t.gpi train.tsv
  { echo $'target\ty'; make_parameters exp 1 1 0.1 10; echo $'target\tz'; make_parameters exp 1 1 0.4 10; } >t.par
  assert_fails 2 'choose one of them by --targets' gpnn-linear trace -p t.par t.gpi
  assert_near "$(linear trace --targets z --rows 1 | column value)" "$(awk 'BEGIN { print 1 / 1.4 }')" 1e-6
  assert_fails 2 "'w' is not one of the targets" gpnn-linear trace --targets w -p t.par t.gpi
}

@test "the inducing points of a model file" {
  make_table 300 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-sparse -q --inducing 20 -o t.gpm t.gpi
  assert_equal "$(gpnn-linear diagonal t.gpm | wc -l)" 21
  assert_fails 2 'option --rows: a model file' gpnn-linear trace --rows 3 t.gpm
  gpnn-linear trace -q --exact t.gpm >exact.tsv
  gpnn-linear trace -q --probes 200 --truncation quadratic t.gpm >estimate.tsv
  assert_near "$(column value estimate.tsv)" "$(column value exact.tsv)" \
    "$(awk 'NR == 2 { print 4.5 * $3 }' estimate.tsv)"
  awk 'BEGIN { for (i = 0; i < 20; i++) for (j = 0; j < 20; j++)
    printf "%d%s", i == j, j < 19 ? "\t" : "\n" }' >unit.tsv
  gpnn-linear solve --no-header --exact t.gpm unit.tsv >inverse.tsv
  assert_near "$(awk '{ s += $NR } END { print s }' inverse.tsv)" "$(column value exact.tsv)" 1e-3
}
