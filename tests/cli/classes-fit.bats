#!/usr/bin/env bats
# gpnn-fit of targets that hold classes: what it chooses, records and refuses.

load helper

# classes N: a table of two inputs and the text 'kind', of three classes in bands.
classes() {
  awk -v n="$1" 'BEGIN {
    srand(3)
    print "a\tb\tkind"
    for (i = 0; i < n; i++) {
      a = rand(); b = rand(); level = a + 0.3 * sin(6 * b) + 0.05 * rand()
      print a "\t" b "\t" (level < 0.35 ? "low" : level < 0.75 ? "middle" : "upper end")
    }
  }'
}

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  classes 400 >train.tsv
  gpnn-index -q --calibration-rows 0 -y kind -o k.gpi train.tsv
}

quick=(--rows 200 --tune steps=20 --tune batch=16 --tune refresh=10 --objective-neighbours 8)

# fit OPTION...: parameters by few steps, unless the options say otherwise.
fit() {
  gpnn-fit "${quick[@]}" "$@" "$BATS_FILE_TMPDIR/k.gpi"
}

@test "classes get a link, a bias each and a kernel scale of 1, without options" {
  fit -v >k.par 2>log
  assert_equal "$(value likelihood k.par)" categorical
  assert_equal "$(value kernelscale k.par)" 1
  for name in slope evidence floor spread; do
    awk -v name="link-$name" '$1 == name && $2 > 0 { found = 1 } END { exit !found }' k.par
  done
  assert_equal "$(grep '^link-bias' k.par | head -n 1 | awk '{ print NF }')" 4
  grep -q '^# fit: labels objective [-0-9.e]* a row, ' k.par
  grep -q '^# chosen: .* by labels of 8, log loss 0\.[0-9]* with' k.par
  for kernel in matern32 exp rbf; do
    grep -q "^gpnn-fit: tried $kernel ARD by labels of 8 .*: log loss .* error " log
  done
}

@test "how classes were fitted is recorded" {
  fit --kernel exp --ard yes --rotate none --members 1 -m 20 -s 5 --fix noise=0.1 --fix link-floor=0.01 >k.par
  assert_equal "$(value fit-rows k.par)" 200
  grep -qx $'fit-objective\tlabels\t8\t20' k.par
  grep -qx $'fit-options\tfixed-noise' k.par
  assert_equal "$(value noise k.par)" 0.1
  assert_equal "$(value link-floor k.par)" 0.01
  assert_equal "$(value neighbours k.par)" 20
  gpnn-info k.par | grep -q 'categorical'
}

@test "the same bytes come from any number of threads, and other ones from another seed" {
  fit -j 1 >one.par
  fit -j 4 >four.par
  cmp one.par four.par
  fit -s 2 >two.par
  ! cmp -s one.par two.par
}

@test "several members are written so that they can be read, each with its own link" {
  awk 'BEGIN {
    srand(7)
    for (j = 1; j <= 12; j++) printf "x%d\t", j
    print "kind"
    for (i = 0; i < 400; i++) {
      level = 0
      for (j = 0; j < 12; j++) {
        x[j] = rand() - 0.5
        printf "%g\t", x[j]
        level += x[j] * (j % 2 ? 1 : -1) * (1 + j / 4)
      }
      level += 2 * sin(5 * x[0]) * x[1] * x[2]
      print (level < -0.8 ? "a" : level < 0 ? "b" : level < 0.8 ? "c" : "d")
    }
  }' >many.tsv
  gpnn-index -q --calibration-rows 0 -y kind -o m.gpi many.tsv
  for seed in 2 3 1 4 5 6 7 8; do
    gpnn-fit -q -s "$seed" --tune steps=40 m.gpi >m.par
    if grep -q '^member' m.par; then break; fi
  done
  grep -qE '^# [234] members: log loss 0\.[0-9]* \(133 rows left out\)' m.par
  assert_equal "$(grep -c '^link-bias' m.par)" "$(grep -c '^weight' m.par)"
  assert_equal "$(grep -c '^likelihood' m.par)" 1
  assert_near "$(awk '$1 == "weight" { sum += $2 } END { print sum }' m.par)" 1 1e-6
  gpnn-predict -q m.gpi -p m.par many.tsv | head -n 1 | grep -q label
  gpnn-fit -q -s "$seed" --tune steps=40 --members 1 m.gpi >one.par
  ! grep -q '^weight' one.par
}

@test "a start goes on from its parameters" {
  fit --kernel rbf --ard yes --rotate none -m 20 --members 1 >k.par
  gpnn-fit --start k.par --rotate none --tune steps=1 "$BATS_FILE_TMPDIR/k.gpi" >again.par
  assert_equal "$(value kernel again.par)" rbf
  paste <(grep '^l' k.par) <(grep '^l' again.par) | awk -F '\t' 'NF > 2 && $1 == "link-slope" {
    exit !($2 / $4 > 0.8 && $2 / $4 < 1.25) }'
}

@test "the report has the scores of classes" {
  fit --effort fast --json >k.par 2>report.json
  json report.json >values
  assert_equal "$(grep -c 'tried.*log-loss' values)" 5
  grep -q 'chosen.*error' values
  ! grep -q 'nll\|rmse' values
}

@test "options that concern numbers are refused for classes, with what they are refused for" {
  local index="$BATS_FILE_TMPDIR/k.gpi"
  for option in "--preset paper" "--method conjugate" "--objective loo" "--mean-function linear" \
    "--transform log" "--lengthscales own"; do
    # shellcheck disable=SC2086
    assert_fails 2 "does not apply to target 'kind', which holds classes" gpnn-fit $option "$index"
  done
  assert_fails 2 "whose likelihood is categorical" gpnn-fit --likelihood gaussian "$index"
  assert_fails 2 "does not apply to target 'kind'" gpnn-fit --like "$BATS_FILE_TMPDIR/train.tsv" "$index"
  assert_fails 2 "which holds classes, is 1" gpnn-fit --fix kernelscale=2 "$index"
  make_table 60 2 >numbers.tsv
  gpnn-index -q -o n.gpi numbers.tsv
  assert_fails 2 "gpnn-index --classes" gpnn-fit --likelihood categorical n.gpi
  assert_fails 2 "has no link" gpnn-fit --fix link-slope=2 n.gpi
}

@test "numbers and classes of one table are each fitted in their own way" {
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "sum" : $1 + $2 }' "$BATS_FILE_TMPDIR/train.tsv" >both.tsv
  gpnn-index -q --calibration-rows 0 -y kind,sum -o both.gpi both.tsv
  gpnn-fit -q "${quick[@]}" both.gpi >both.par
  assert_equal "$(grep '^target' both.par)" "$(printf 'target\tkind\ntarget\tsum')"
  assert_equal "$(grep -c '^likelihood' both.par)" 2
  assert_equal "$(grep '^likelihood' both.par | sort -u | cut -f 2 | paste -s -d ' ')" "categorical local"
}

@test "a class of one row is kept and pointed out" {
  cp "$BATS_FILE_TMPDIR/train.tsv" t.tsv
  printf '0.5\t0.5\tlonely one\n' >>t.tsv
  gpnn-index -q --calibration-rows 0 -y kind -o t.gpi t.tsv
  gpnn-fit "${quick[@]}" t.gpi >t.par 2>log
  grep -q "1 of the 4 classes has a single row, so that no other tells of it: 'lonely one'" log
  assert_equal "$(grep '^link-bias' t.par | head -n 1 | awk '{ print NF }')" 5
}

@test "three rows are enough" {
  printf 'a\tb\tkind\n1\t2\tx\n2\t1\ty\n3\t3\tx\n' >few.tsv
  gpnn-index -q -y kind -o few.gpi few.tsv
  gpnn-fit -q few.gpi >few.par
  assert_equal "$(value likelihood few.par)" categorical
}

@test "the few of very many inputs that tell classes apart are found" {
  awk 'BEGIN {
    srand(4)
    for (j = 1; j <= 260; j++) printf "x%d\t", j
    print "class"
    for (i = 0; i < 1000; i++) {
      for (j = 1; j <= 260; j++) printf "%.3f\t", x[j] = 2 * rand() - 1
      print (sin(3 * x[40]) + x[7] > 0 ? "a" : "b")
    }
  }' >wide.tsv
  gpnn-index -q --classes -o wide.gpi wide.tsv
  gpnn-fit -q --effort fast -o wide.par wide.gpi
  awk '$1 == "lengthscale" {
    for (j = 2; j <= NF; j++) n += $j <= $41 || $j <= $8
    exit !(NF == 261 && n == 2)
  }' wide.par || complain "$(grep lengthscale wide.par)"
}
