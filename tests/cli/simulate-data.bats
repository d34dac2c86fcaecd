#!/usr/bin/env bats
# gpnn-simulate data: synthetic tables, the same however they are made.

load helper

data() { gpnn-simulate data "$@"; }

# moments FILE COLUMN: mean and mean square of a column.
moments() {
  column "$2" "$1" | awk '{ s += $1; q += $1 * $1 } END { print s / NR, q / NR }'
}

@test "tables have the columns that the kind and the options determine" {
  assert_equal "$(data -n 2 | head -n 1)" $'x1\tx2\ty'
  assert_equal "$(data -n 5 | wc -l)" 6
  assert_equal "$(data -n 2 --noiseless --dimension 3 -d , | head -n 1)" 'x1,x2,x3,f,y'
  assert_equal "$(data -n 2 --kind local -m 1 --test 1 | cut -f 1-2 | tr '\n\t' '  ')" 'point rank 0 0 0 1 '
  assert_equal "$(data -n 2 --kind function --function oakley | head -n 1 | wc -w)" 16
  assert_equal "$(data --no-header -n 3 --kind features --features 5 | wc -l)" 3
}

@test "same seed, same bytes, for any number of threads" {
  for kind in 'gp -n 300' 'features -n 9000 --features 20' 'local -n 1e12 --test 300 -m 9' \
    'function --function waves -n 30000'; do
    # shellcheck disable=SC2086 # words
    for j in 1 2 3; do data -j $j --kind $kind >"$j.tsv"; done
    cmp 1.tsv 2.tsv
    cmp 1.tsv 3.tsv
    # shellcheck disable=SC2086
    data -s 2 --kind $kind >other.tsv
    run ! cmp -s 1.tsv other.tsv
  done
}

@test "shards made separately make up the whole" {
  for kind in gp 'features --features 20' 'function --function oakley' 'local -m 3'; do
    count=(-n 700) part=(-n 300) rest=(-n 400)
    [[ $kind != local* ]] || count=(--test 700) part=(--test 300) rest=(--test 400)
    # shellcheck disable=SC2086
    {
      data --kind $kind "${count[@]}" >whole.tsv
      data --kind $kind "${part[@]}" >shards.tsv
      data --kind $kind "${rest[@]}" --first 300 --no-header >>shards.tsv
    }
    cmp whole.tsv shards.tsv
  done
}

@test "row numbers are exact beyond 2^53" {
  rows() { data --kind function --function zero --no-header "$@"; }
  rows -n 3 --first 9007199254740992 >three.tsv
  rows -n 1 --first 9007199254740993 | cmp - <(sed -n 2p three.tsv)
  rows -n 2 --first 999999999999999998 | wc -l | grep -qx 2
}

@test "a gp with few rows is the beginning of one with many" {
  data -n 500 >many.tsv
  data -n 77 | cmp - <(head -n 78 many.tsv)
}

@test "inputs follow their distribution and scale" {
  data --kind function --function zero --dimension 4 -n 20000 >t.tsv
  read -r mean square < <(moments t.tsv x3)
  assert_near "$mean" 0 0.014
  assert_near "$square" 0.25 0.01
  data --kind function --function zero --input-law cube --scale 2 -n 20000 >t.tsv
  read -r mean square < <(moments t.tsv x2)
  assert_near "$square" 1.3333 0.035
  column x1 t.tsv | awk '$1 > 2 || $1 < -2 { exit 1 }'
  data --kind function --function zero --input-law disk --scale 3 -n 20000 |
    awk 'NR > 1 { r = $1 * $1 + $2 * $2; if (r > 9) exit 1; n += r < 4.5 } END { exit n < 9700 || n > 10300 }'
}

@test "noise follows its distribution and variance on the same rows" {
  for law in normal laplace student:12; do
    data --kind function --function oakley --noise-law $law -t noise=0.3 --noiseless -n 20000 >$law.tsv
    awk 'NR > 1 { print $17 - $16 }' $law.tsv | awk '{ q += $1 * $1 } END { print q / NR }' >square
    assert_near "$(cat square)" 0.3 0.02
    cut -f 1-16 $law.tsv >$law.x
  done
  cmp normal.x laplace.x
  cmp normal.x student:12.x
  data --kind function --function waves -t noise=0 --noiseless -n 100 | awk '$3 != $4 && NR > 1 { exit 1 }'
}

@test "classes and counts have their columns, and leave the inputs alone" {
  data -n 40 >plain.tsv
  for likelihood in categorical poisson negbin; do
    data -n 40 --likelihood $likelihood >t.tsv
    assert_equal "$(head -n 1 t.tsv)" $'x1\tx2\ty'
    cmp <(cut -f 1-2 plain.tsv) <(cut -f 1-2 t.tsv)
  done
  header() { data -n 2 --noiseless -d , "$@" | head -n 1; }
  assert_equal "$(header --likelihood categorical)" x1,x2,p_c1,p_c2,p_c3,y
  assert_equal "$(header --likelihood poisson)" x1,x2,mean,y
  assert_equal "$(header --likelihood negbin --exposure-range 9)" x1,x2,exposure,mean,y
  assert_equal "$(data -n 500 --likelihood categorical -t classes=10 | column y - | sort -u | paste -sd ' ')" \
    'c01 c02 c03 c04 c05 c06 c07 c08 c09 c10'
  data -n 500 --likelihood categorical -t classes=1000 -t kernelscale=1e9 --kind features --features 9 |
    column y - | grep -vqxE 'c(0[0-9]{3}|1000)' && false
  data -n 500 --likelihood poisson -t mean=3 | column y - | grep -vqE '^[0-9]+$' && false
  true
}

@test "classes and counts are the same bytes for any number of threads, and in shards" {
  for kind in 'gp -n 300' 'features -n 9000 --features 20' 'local -n 1e12 --test 300 -m 9'; do
    for likelihood in 'categorical -t classes=7' 'negbin -t mean=2 --exposure-range 4'; do
      # shellcheck disable=SC2086 # words
      for j in 1 3; do data -j $j --noiseless --kind $kind --likelihood $likelihood >"$j.tsv"; done
      cmp 1.tsv 3.tsv
    done
  done
  for likelihood in 'categorical -t classes=12' 'poisson -t mean=3 --exposure-range 4'; do
    # shellcheck disable=SC2086
    {
      data --likelihood $likelihood -n 700 >whole.tsv
      data --likelihood $likelihood -n 300 >shards.tsv
      data --likelihood $likelihood -n 400 --first 300 --no-header >>shards.tsv
    }
    cmp whole.tsv shards.tsv
  done
}

@test "defaults are those that --help shows" {
  data | cmp - <(data -n 1000 --kind gp --likelihood gaussian -t kernel=rbf -t lengthscale=1 -t kernelscale=0.9 -t noise=0.1 -t mean=0)
  data --likelihood categorical | cmp - <(data --likelihood categorical -t classes=3)
  data --likelihood negbin | cmp - <(data --likelihood negbin -t mean=0 -t dispersion=5)
}

# The loss of the true probabilities is their entropy; so is the share of agreements.
@test "classes are drawn from the probabilities that are printed" {
  data --likelihood categorical -t kernelscale=4 --kind features --features 50 -n 20000 --noiseless >t.tsv
  awk -F '\t' 'NR > 1 { c = substr($6, 2) + 2; e -= log($c); q += log($c)^2
    for (j = 3; j < 6; j++) h -= $j * log($j); s += $3 + $4 + $5 - 1 }
    END { n = NR - 1; print e / n, h / n, 4 * sqrt(q) / n, s / n }' t.tsv >loss
  read -r loss entropy tolerance sum <loss
  assert_near "$loss" "$entropy" "$tolerance"
  assert_near "$sum" 0 1e-15
}

@test "counts vary around the means that are printed" {
  for dispersion in inf 4; do
    likelihood=(--likelihood poisson)
    [[ $dispersion == inf ]] || likelihood=(--likelihood negbin -t dispersion=4)
    data "${likelihood[@]}" -t mean=2 --exposure-range 3 --kind features --features 50 -n 20000 --noiseless |
      awk -v r=$dispersion 'NR > 1 { v = $4 + (r == "inf" ? 0 : $4^2 / r); e += ($5 - $4) / sqrt(v); s += ($5 - $4)^2 / v }
        END { print e / (NR - 1), s / (NR - 1) }' >moments
    read -r mean square <moments
    assert_near "$mean" 0 0.03
    assert_near "$square" 1 0.06
  done
}

@test "warps change only the inputs" {
  base=(--kind features --features 30 -n 200)
  data "${base[@]}" >plain.tsv
  data "${base[@]}" --warp negative >w.tsv
  paste plain.tsv w.tsv | awk 'NR > 1 {
    wanted = $1 < 0 ? 2 * $1 : $1; if ($4 != wanted || $3 != $6) exit 1 }'
  data "${base[@]}" --warp power --gamma 0.3 >w.tsv
  paste plain.tsv w.tsv | awk 'NR > 1 {
    d = $4 - ($1 > 0 ? $1 ^ 1.3 : $1); if (d * d > 1e-20 || $3 != $6) exit 1 }'
  data "${base[@]}" --warp cubic --gamma 0.3 >w.tsv
  paste plain.tsv w.tsv | awk 'NR > 1 {
    d = $5 - $2 - 0.3 * $2 ^ 3; if (d * d > 1e-20 || $3 != $6) exit 1 }'
}

@test "the parameters written are those of the process" {
  data -n 400 -t kernel=matern:0.7 -t kernelscale=4 -t lengthscale=0.01 -t noise=0 >t.tsv
  read -r mean square < <(moments t.tsv y)
  assert_near "$square" 4 1.2 # hardly correlated
  data -n 400 -t kernelscale=4 -t lengthscale=1000 -t noise=0 >t.tsv
  column y t.tsv | awk 'NR == 1 { y = $1 } ($1 - y) ^ 2 > 0.01 { exit 1 }' # all alike
}

@test "other tools read the table, and a fit finds the noise" {
  data -n 4000 -t kernel=matern52 -t noise=0.2 --noiseless >t.tsv
  gpnn-index --drop f -o t.gpi t.tsv
  gpnn-fit --effort fast --kernel matern52 --ard no -m 50 t.gpi >t.par
  # which is in units of the target's variance
  column y t.tsv | awk '{ s += $1; q += $1 * $1 } END { print q / NR - (s / NR) ^ 2 }' >variance
  assert_near "$(awk "{ print \$1 * $(value noise t.par) }" variance)" 0.2 0.02
}

@test "mistakes on the command line are reported" {
  assert_fails 2 'option --kind: gp, features, local or function' gpnn-simulate data --kind gauss
  assert_fails 2 'needs --function' gpnn-simulate data --kind function
  assert_fails 2 'option --function: none of oakley, waves, zero: "f"' gpnn-simulate data --kind function --function f
  assert_fails 2 'option --function goes with --kind function' gpnn-simulate data --function oakley
  assert_fails 2 'the function oakley has 15 inputs, not 3' gpnn-simulate data --kind function --function oakley --dimension 3
  assert_fails 2 'the function waves has a multiple of 2 inputs, not 3' gpnn-simulate data --kind function --function waves --dimension 3
  assert_fails 2 'option --features goes with' gpnn-simulate data --features 9
  assert_fails 2 'option --neighbours goes with' gpnn-simulate data -m 9
  assert_fails 2 'option --test goes with' gpnn-simulate data --kind features --test 9
  assert_fails 2 'option --input-law: normal, disk or cube' gpnn-simulate data --input-law ball
  assert_fails 2 'disk has 2 dimensions, not 3' gpnn-simulate data --input-law disk --dimension 3
  assert_fails 2 'option --noise-law' gpnn-simulate data --noise-law student:2
  assert_fails 2 'option --warp: none, negative, power or cubic, not "round"' gpnn-simulate data --warp round
  assert_fails 2 'option --gamma goes with --warp' gpnn-simulate data --gamma 1
  assert_fails 2 'option --gamma: not a number from 0' gpnn-simulate data --warp cubic --gamma -1
  assert_fails 2 'at most 32768 rows .*: draw it by features' gpnn-simulate data -n 32769
  assert_fails 2 'at most 32768 rows' gpnn-simulate data -n 1 --first 32768
  assert_fails 2 'more than the|neighbours' gpnn-simulate data --kind local -n 5 -m 6
  assert_fails 2 'search' gpnn-simulate data --kind local --input-law cube
  assert_fails 2 'below 1e18' gpnn-simulate data --kind features --first 1e18
  assert_fails 2 'part of numbers' gpnn-simulate data -d 5
  assert_fails 2 'part of numbers or names' gpnn-simulate data -d x
  assert_fails 2 'not a whole number' gpnn-simulate data -n 1.5
  assert_fails 2 'not a whole number' gpnn-simulate data -n 0
  assert_fails 2 'option --likelihood: gaussian, categorical, poisson or negbin, not "student"' \
    gpnn-simulate data --likelihood student
  assert_fails 2 'categorical needs a function for each class: --kind gp, features or local' \
    gpnn-simulate data --likelihood categorical --kind function --function zero
  assert_fails 2 'option --noise-law goes with --likelihood gaussian' gpnn-simulate data --likelihood poisson --noise-law laplace
  assert_fails 2 'option --exposure-range goes with --likelihood poisson or negbin' gpnn-simulate data --exposure-range 2
  assert_fails 2 'option --exposure-range: not a number from 1' gpnn-simulate data --likelihood poisson --exposure-range 0.5
  assert_fails 2 'one operand too many' gpnn-simulate data t.tsv
}

@test "invalid parameters are reported" {
  for parameter in noise kernel=cubic kernel=matern:0 lengthscale=0 kernelscale=inf noise=-1 scale=1 \
    coefficient=1; do
    assert_fails 2 "option --true: kernel=rbf, .*, kernelscale or noise = a number it can have, not \"$parameter\"" \
      gpnn-simulate data -t "$parameter"
  done
  assert_fails 2 'classes goes with --likelihood categorical' gpnn-simulate data -t classes=3
  assert_fails 2 'dispersion goes with --likelihood negbin' gpnn-simulate data --likelihood poisson -t dispersion=3
  assert_fails 2 'noise goes with --likelihood gaussian' gpnn-simulate data --likelihood poisson -t noise=1
  assert_fails 2 'mean goes with --likelihood gaussian or poisson or negbin' gpnn-simulate data --likelihood categorical -t mean=1
  for classes in 1 1001 2.5 x ''; do
    assert_fails 2 "option --true: classes is a whole number from 2 to 1000, not \"$classes\"" \
      gpnn-simulate data --likelihood categorical -t "classes=$classes"
  done
  assert_fails 2 'dispersion is a number from 1e-06 to' gpnn-simulate data --likelihood negbin -t dispersion=0
  assert_fails 1 'expectation of a count is above 1e15' gpnn-simulate data --likelihood poisson -t mean=40
  assert_fails 1 'a .npy file holds only numbers' gpnn-simulate data --likelihood categorical -o t.npy
  assert_fails 2 'function has only mean, noise or dispersion' gpnn-simulate data --kind function --function zero -t lengthscale=2
  for kind in 'gp' 'features' 'local -m 5'; do
    # shellcheck disable=SC2086 # words
    assert_fails 1 'not finite' gpnn-simulate data --kind $kind -t lengthscale=1e-300 --scale 1e100
  done
}

@test "a file is complete or absent" {
  data -n 100 -o t.tsv
  data -n 100 | cmp - t.tsv
  printf old >t.tsv
  assert_fails 1 'not finite' gpnn-simulate data --kind features -t lengthscale=1e-300 --scale 1e100 -o t.tsv
  assert_equal "$(cat t.tsv)" old
  assert_fails 1 'no/t.tsv: ' gpnn-simulate data -o no/t.tsv
}

@test "a full disk is reported, a closed pipe is not" {
  status=0
  data --kind function --function oakley -n 100000 >/dev/full 2>err.txt || status=$?
  assert_equal "$status" 1
  grep -qx 'gpnn-simulate: (stdout): cannot be written: No space left on device' err.txt
  data --kind function --function oakley -n 1e18 2>err.txt | head -n 3 >t.tsv
  assert_equal "$(wc -l <t.tsv)" 3
  [[ ! -s err.txt ]]
}
