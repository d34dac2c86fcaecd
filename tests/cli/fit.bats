#!/usr/bin/env bats
# gpnn-fit: what is learnt by which objective, from which rows, and what is tried.

load helper

# One index of three inputs; few rows and steps give parameters quickly.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 500 3 >train.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
}

quick=(--rows 200 --tune steps=20 --tune batch=16 --tune refresh=10 --objective-neighbours 8)

# fit OPTION...: parameters by few steps, unless the options say otherwise.
fit() {
  gpnn-fit "${quick[@]}" "$@" "$BATS_FILE_TMPDIR/t.gpi"
}

@test "every objective, and a sequence of two, is used and reported" {
  for objective in block loo mll-k vecchia; do
    fit -v --kernel exp --ard yes -m 20 --objective $objective >t.par 2>log
    grep -q "^# fit: $objective objective [-0-9.e]* a row, " t.par
    grep -q '^gpnn-fit: objective ' log
    assert_equal "$(grep '^lengthscale' t.par | awk '{ print NF }')" 4
    assert_equal "$(value fit-rows t.par)" "$(grep -oE '[0-9]+ (of [0-9]+ of|of) 500 rows' t.par | awk '{ print /of.*of/ ? $1 * $3 : $1 }')"
  done
  fit --kernel exp --ard yes -m 20 --objective block,loo >t.par
  grep -q '^# fit: loo objective ' t.par
  fit --kernel exp --ard yes -m 20 --objective loo,block >t.par
  grep -q '^# fit: block objective ' t.par
}

@test "how parameters were estimated is recorded, except where they are Gaussian" {
  fit --kernel exp --ard yes --rotate none -m 20 -s 5 >t.par
  assert_equal "$(grep '^fit-' t.par)" "$(printf 'fit-rows\t200\nfit-seed\t5\nfit-objective\tloo\t8\t20')"
  fit --kernel exp -m 20 --objective block --tune blocks=3 --tune block-size=40 --fix noise=0.1 --fix kernelscale=1 >t.par
  grep -qx $'fit-objective\tblock\t3\t40' t.par
  grep -qx $'fit-options\tfixed-kernelscale\tfixed-noise' t.par
  fit --kernel exp --ard yes -m 20 --rotate learn --thin 0.01 >t.par
  grep -qx $'fit-thin\t0.01' t.par
  grep -qx $'fit-options\tlearnt-rotation' t.par
  # Going on from them keeps what they had learnt; a rotation by principal components is not learnt.
  gpnn-fit -q --start t.par --tune steps=5 "$BATS_FILE_TMPDIR/t.gpi" | grep -qx $'fit-options\tlearnt-rotation'
  fit --kernel exp --ard yes -m 20 --rotate whiten >t.par
  run ! grep -q '^fit-options' t.par
  for gaussian in '--likelihood gaussian' '--preset paper'; do
    # shellcheck disable=SC2086 # options
    gpnn-fit $gaussian --effort fast -m 20 "$BATS_FILE_TMPDIR/t.gpi" >t.par
    assert_equal "$(grep -c '^fit-' t.par)" 1
    value fit-rows t.par >rows
  done
}

@test "the comment reports neighbours, rows and steps as used" {
  fit --kernel exp --ard no -m 20 --rows 120 --tune steps=7 --objective-neighbours 5 >t.par
  grep -qE '^# fit: loo objective .*, 120 of 500 rows, k 5, 8 evaluations$' t.par
  fit --kernel exp --ard no -m 20 --rows 120 --objective-neighbours 5 --objective mll-k >t.par
  grep -q ' k 4, ' t.par # the row itself counts
  fit --kernel exp --ard no -m 20 --rows 1000000 --objective-neighbours 9 --tune batch=1000 --objective loo >t.par
  grep -q ', 500 of 500 rows, k 9, ' t.par
  head -n 6 "$BATS_FILE_TMPDIR/train.tsv" >small.tsv
  gpnn-index --calibration-rows 0 -o small.gpi small.tsv
  gpnn-fit --kernel exp --ard no -m 20 --tune steps=5 --objective-neighbours 32 small.gpi >t.par
  grep -q ', 5 of 5 rows, k 4, ' t.par
}

@test "batch, refresh and the seed change the steps of adam" {
  for options in '' '--tune batch=17' '--tune refresh=3' '-s 9' '--optimizer lbfgs'; do
    # shellcheck disable=SC2086 # a list of options
    fit --kernel exp --ard yes -m 20 --rotate none --input-scores none $options | grep '^noise' >>all
  done
  assert_equal "$(sort -u all | wc -l)" 5
}

@test "few rows of a line tell of long lengthscales and a large kernel scale once the prior lets them" {
  awk 'BEGIN { srand(4); print "x\ty"; for (i = 0; i < 30; i++) printf "%.3f\t%.3f\n", i / 29, i / 29 + 0.2 * rand() }' >line.tsv
  gpnn-index -q --calibration-rows 0 -o line.gpi line.tsv
  line() { gpnn-fit --kernel rbf --ard no --objective block -m 30 "$@" line.gpi; }
  line >usual.par
  line --tune prior=3 | cmp usual.par
  line --tune prior=20 >wide.par
  awk -v a="$(value lengthscale usual.par)" -v b="$(value lengthscale wide.par)" 'BEGIN { exit !(b > 1.3 * a) }'
  awk -v a="$(value kernelscale usual.par)" -v b="$(value kernelscale wide.par)" 'BEGIN { exit !(b > 1.5 * a) }'
  assert_fails 2 'option --tune prior: not a number from 1.01 to 1e.06: "1"' gpnn-fit --tune prior=1 line.gpi
}

@test "a kernel scale far below the noise is a warning" {
  fit --kernel exp --ard no -m 20 --fix kernelscale=1e-5 --fix noise=1 >t.par 2>messages
  grep -q 'a kernel scale of 1e-05 beside a noise variance of 1: predictions are hardly more' messages
  fit --kernel exp --ard no -m 20 >t.par 2>messages
  run ! grep 'kernel scale' messages
}

@test "--mean names the terms, and their coefficients follow" {
  fit --kernel exp --ard no -m 20 --mean-function zero >t.par
  run ! grep -q coefficients t.par
  fit --kernel exp --ard no -m 20 --mean-function constant >t.par
  assert_equal "$(value mean t.par)" constant
  assert_equal "$(grep '^coefficients' t.par | awk '{ print NF }')" 2
  awk -F '\t' -v OFS='\t' 'NR > 1 { $4 += 30 * $2 } 1' "$BATS_FILE_TMPDIR/train.tsv" >steep.tsv
  gpnn-index --calibration-rows 0 -o steep.gpi steep.tsv
  gpnn-fit "${quick[@]}" --kernel exp --ard no -m 20 --mean-function linear steep.gpi >t.par
  assert_equal "$(grep '^coefficients' t.par | awk '{ print NF }')" 5
  assert_near "$(awk '/^# coefficient x2 / { print $4 }' t.par)" 30 2
  gpnn-index --calibration-rows 0 --regressors x2 -x x1,x3 -o steep.gpi steep.tsv
  gpnn-fit "${quick[@]}" --kernel exp --ard no -m 20 --mean-function regressors steep.gpi >t.par
  assert_near "$(awk '/^# coefficient x2 / { print $4 }' t.par)" 30 2
  assert_fails 1 'no regressors for the mean' gpnn-fit --mean-function regressors "$BATS_FILE_TMPDIR/t.gpi"
}

@test "a kernel of any smoothness can be chosen" {
  fit --kernel matern:0.8 --ard yes -m 20 >t.par
  assert_equal "$(value kernel t.par)" matern:0.8
  gpnn-predict "$BATS_FILE_TMPDIR/t.gpi" -p t.par "$BATS_FILE_TMPDIR/train.tsv" >out.tsv
  cp "$BATS_FILE_TMPDIR/t.gpi" .
  assert_fails 2 'option --kernel: auto, exp, .*matern:NU' gpnn-fit --kernel matern:0 t.gpi
  assert_fails 2 'option --kernel: ' gpnn-fit --kernel matern t.gpi
}

@test "--rotate whitens or learns, and predictions follow" {
  # y depends on x1 + x2 alone
  awk -F '\t' -v OFS='\t' 'NR > 1 { $4 = sin(12 * ($1 + $2)) + 0.1 * sin(NR * NR) } 1' \
    "$BATS_FILE_TMPDIR/train.tsv" >all.tsv
  head -n 401 all.tsv >train.tsv
  sed -n '1p; 402,$p' all.tsv >test.tsv
  gpnn-index --calibration-rows 0 -o m.gpi train.tsv
  for how in none whiten learn; do
    gpnn-fit --rows 300 --tune steps=200 --objective-neighbours 12 --kernel matern52 --ard yes -m 30 --rotate $how m.gpi >$how.par
    gpnn-predict m.gpi -p $how.par test.tsv | gpnn-eval | value rmse >$how
  done
  run ! grep -q rotation none.par
  for how in whiten learn; do
    assert_equal "$(grep '^rotation' $how.par | awk '{ print NF }')" 10
  done
  awk -v learnt="$(cat learn)" -v plain="$(cat none)" 'BEGIN { exit !(learnt < 0.95 * plain) }' ||
    complain "$(cat learn) with a rotation, $(cat none) without"
  assert_fails 2 'a rotation can be learnt only with ARD' \
    gpnn-fit --kernel exp --ard no --rotate learn m.gpi
  assert_fails 2 'inputs cannot be rotated under a linear mean' \
    gpnn-fit --kernel exp --ard yes --rotate whiten --mean-function linear m.gpi
}

@test "-v prints a line for every candidate, and the parameters record the choice" {
  for effort in fast normal thorough; do
    fit -v --effort $effort >t.par 2>log
    grep -qE '^# chosen: [a-z0-9]+ (ARD|isotropic)( with scores| of scores)?( whitened| rotated)? by (block|loo of [0-9]+), NLL [-0-9.]+, CRPS [0-9.]+ with [0-9]+ neighbours' t.par
    grep -qE '^# runner-up: .* NLL [-0-9.]+, CRPS [0-9.]+ with [0-9]+ neighbours$' t.par
    grep -q "^# neighbours: $(value neighbours t.par), NLL " t.par
    grep -cE '^gpnn-fit: tried [a-z0-9]+ (ARD|isotropic).* neighbours: NLL [-0-9.]+,' log >n.$effort
    run ! grep -q nan log
    chosen=$(sed -n 's/^# chosen: \([^,]*\), NLL .*/\1/p' t.par)
    grep -q "tried $chosen " log
    assert_equal "$(value kernel t.par)" "${chosen%% *}"
  done
  (($(cat n.normal) < $(cat n.thorough)))
  fit --kernel exp --ard no -m 20 >t.par 2>log
  [[ ! -s log ]]
  run ! grep -q 'runner-up' t.par
}

@test "fast tries only blocks, normal only neighbourhoods" {
  fit -v --effort fast -m 20 >t.par 2>log
  assert_equal "$(grep -c 'tried .* by block ' log)" 8
  assert_equal "$(grep -c 'tried' log)" 8
  fit -v -m 20 >t.par 2>log
  run ! grep -q 'by block' log
  grep -q 'tried .* by loo of 8' log
}

@test "--objective-neighbours auto tries several numbers" {
  fit -v --kernel exp --ard yes --rotate none -m 20 --objective-neighbours auto >t.par 2>log
  assert_below 2 "$(grep -o 'by loo of [0-9]*' log | sort -u | wc -l)"
}

@test "--budget is not exceeded, by neighbours or by members" {
  gpnn-simulate data --dimension 3 -n 4000 -o t.tsv
  gpnn-index -q -o t.gpi t.tsv
  for budget in 1 45 60 100; do
    gpnn-fit -v --budget $budget -o t.par t.gpi 2>tried
    # Equation 5.13 of gpnn-methods(7); the fewest neighbours are always tried.
    awk -v budget=$budget '
      $1 == "neighbours" && !m { m = $2 }
      $1 == "member" { members++ }
      END {
        cost = (1 + members) * (12 + 1.2 * 3 + 0.65 * m + 3 * m ^ 2 / 65000 + m ^ 3 / 350000)
        exit !(cost <= budget || m == 16 && !members)
      }' t.par
    ! grep -E "tried .* (128|256|400) neighbours" tried || return
  done
  for option in '-m 30' '--preset paper' '--start t.par'; do
    # shellcheck disable=SC2086 # some are two words
    assert_fails 2 'budget: bounds what --neighbours auto tries' gpnn-fit --budget 60 $option t.gpi
  done
}

@test "threads change no byte of what is chosen" {
  fit -j 1 >one.par
  fit -j 4 >four.par
  cmp one.par four.par
}

@test "near duplicates cause a warning, and --thin ignores them" {
  awk -F '\t' -v OFS='\t' 'NR == 1 { print; next }
    { print; print $1 + 1e-5, $2 - 1e-5, $3, $4 + 1e-4 }' "$BATS_FILE_TMPDIR/train.tsv" >twice.tsv
  gpnn-index --calibration-rows 0 -o twice.gpi twice.tsv
  options=(--kernel matern32 --ard no -m 20 --rows 500 --objective-neighbours 8 --optimizer lbfgs)
  gpnn-fit "${options[@]}" twice.gpi >twice.par 2>err
  grep -q '^gpnn-fit: .*most rows have near duplicates .*--thin' err
  gpnn-fit "${options[@]}" --thin 0.001 twice.gpi >thin.par 2>err
  [[ ! -s err ]]
  awk -v bad="$(value noise twice.par)" -v good="$(value noise thin.par)" \
    'BEGIN { exit !(2 * bad < good) }' || complain "$(cat twice.par thin.par)"
  fit --kernel exp --ard no -m 20 2>err >/dev/null
  [[ ! -s err ]]
  for objective in block vecchia; do
    gpnn-fit "${options[@]}" --objective $objective twice.gpi 2>err >/dev/null
    grep -q '^gpnn-fit: .*most rows have near duplicates' err
  done
}

@test "random inputs of one dimension have no near duplicates, nor have rounded ones" {
  for digits in 12 2; do
    awk -v digits=$digits 'BEGIN {
      srand(1); print "x\ty"
      for (i = 0; i < 1500; i++) { x = rand(); printf "%.*f\t%.6f\n", digits, x, sin(6 * x) + rand() }
    }' >line.tsv
    gpnn-index --calibration-rows 0 -o line.gpi line.tsv
    gpnn-fit --kernel exp -m 20 --rows 500 --tune steps=20 line.gpi 2>err >/dev/null
    [[ ! -s err ]] || complain "$(cat err)"
  done
}

@test "several targets have one set of parameters each, by name" {
  awk -F '\t' -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, $1 * $1 }' \
    "$BATS_FILE_TMPDIR/train.tsv" >two.tsv
  gpnn-index --calibration-rows 0 -y y,z -o two.gpi two.tsv
  gpnn-fit "${quick[@]}" two.gpi >two.par
  assert_equal "$(grep '^target' two.par | cut -f 2 | paste -sd ,)" y,z
  assert_equal "$(grep -c '^# chosen: ' two.par)" 2
  gpnn-predict two.gpi -p two.par two.tsv >out.tsv
}

@test "--start and --fix are obeyed" {
  printf 'kernel\texp\nlengthscale\t0.7\t0.8\t0.9\nkernelscale\t1\nnoise\t0.05\nneighbours\t33\n' >s.par
  fit --start s.par --rotate none --tune steps=1 >t.par
  assert_equal "$(value kernel t.par)" exp
  assert_equal "$(value neighbours t.par)" 33
  assert_near "$(value lengthscale t.par)" 0.7 0.08
  fit --start s.par --rotate none --optimizer adam >t.par
  fit --kernel exp --ard yes -m 20 --fix noise=0.2 --fix lengthscale=1.5 >t.par
  assert_equal "$(value noise t.par)" 0.2
  assert_equal "$(grep '^lengthscale' t.par)" $'lengthscale\t1.5\t1.5\t1.5'
}

@test "wrong values are refused with the ones allowed" {
  cp "$BATS_FILE_TMPDIR/t.gpi" .
  printf 'kernel\texp\nlengthscale\t1\nkernelscale\t1\nnoise\t0.1\n' >s.par
  assert_fails 2 '^option --effort: fast, normal or thorough' gpnn-fit --effort slow t.gpi
  assert_fails 2 '^option --mean-function: zero, constant, linear or regressors' gpnn-fit --mean-function cubic t.gpi
  assert_fails 2 '^option --rotate: auto, none, whiten or learn' gpnn-fit --rotate yes t.gpi
  for o in x none 'loo,' ',loo' loo,x loo,loo,loo 'loo loo' verylongobjectivename LOO; do
    assert_fails 2 '^option --objective: block, loo, mll-k or vecchia, or 2 of them with a comma between' \
      gpnn-fit --objective "$o" t.gpi
  done
  for o in '--objective-neighbours 0' '--objective-neighbours -1' '--objective-neighbours x' \
    '--objective-neighbours 1e9' '--rows 0' '--rows x' '--tune steps=0' '--tune steps=-5' \
    '--tune batch=0' '--tune refresh=0' '--thin -1' '--thin nan' '--thin x'; do
    # shellcheck disable=SC2086 # an option and its value
    assert_fails 2 "^option ${o% *}" gpnn-fit $o t.gpi
  done
  for o in '--objective loo' '--rotate learn' '--ard yes' '--optimizer lbfgs'; do
    # shellcheck disable=SC2086
    assert_fails 2 '^option --preset: ' gpnn-fit --preset paper $o t.gpi
  done
  for o in '--objective block' '--effort fast'; do
    # shellcheck disable=SC2086
    assert_fails 2 '^option --start: adam over blocks' gpnn-fit $o --optimizer adam --start s.par t.gpi
  done
  assert_fails 2 '^option --rotate: applies to --method local only' \
    gpnn-fit --method conjugate --rotate whiten t.gpi
}

@test "parameters of a grid are not those of rows to start from" {
  printf 'factors a b\na.kernel exp\na.lengthscale 1\nb.kernel exp\nb.lengthscale 1\n' >g.par
  printf 'kernelscale 1\nnoise 1\n' >>g.par
  assert_fails 1 'g.par: the parameters are of a grid, expected those of rows' \
    gpnn-fit --start g.par "$BATS_FILE_TMPDIR/t.gpi"
}

@test "a rotation to start from is kept, or refused if the inputs differ" {
  cp "$BATS_FILE_TMPDIR/t.gpi" .
  printf '%s\n' $'kernel\texp' $'rotation\t1\t2' $'lengthscale\t1' $'kernelscale\t1' \
    $'noise\t0.1' >s.par
  assert_fails 1 'rotation to start from has 2 numbers, which does not match the 3 inputs' \
    gpnn-fit --effort fast --start s.par t.gpi
  sed -i $'s/^rotation.*/rotation\t0\t1\t0\t1\t0\t0\t0\t0\t1/' s.par
  gpnn-fit --effort fast --tune block-size=50 --start s.par t.gpi >t.par
  assert_equal "$(grep '^rotation' t.par)" "$(grep '^rotation' s.par)"
}

@test "two rows are enough, whatever the likelihood" {
  printf '%s\t%s\n' x y 0 1 1 3 >two.tsv
  gpnn-index -q -o two.gpi two.tsv
  for likelihood in auto local student gaussian; do
    gpnn-fit -q --likelihood "$likelihood" -o two.par two.gpi
    run -0 gpnn-predict -q -p two.par two.gpi two.tsv
    [[ $output != *nan* && $output != *inf* ]]
  done
}

@test "a rotation is learnt where nothing else is asked for" {
  awk 'BEGIN { srand(5); print "a\tb\ty"
    for (i = 0; i < 80; i++) {
      a = rand(); b = rand(); printf "%.6f\t%.6f\t%.6f\n", a, b, sin(6 * (a + b)) + 0.1 * rand()
    } }' >t.tsv
  gpnn-index -q -o t.gpi t.tsv
  gpnn-fit -q --rotate learn --kernel rbf -o t.par t.gpi
  assert_equal "$(grep -c 'learnt-rotation' t.par)" 1
  assert_fails 2 'only with ARD' gpnn-fit --rotate learn --ard no t.gpi
}

@test "a linear mean goes with categories, of each of which one level is dropped" {
  awk 'BEGIN { print "c,k,x,y"; for (i = 0; i < 240; i++) { c = i % 3; k = int(i / 7) % 2; x = i % 17 / 4
         print substr("abc", c + 1, 1) "," substr("uv", k + 1, 1) "," x "," 2 * x + c * c - k + 0.1 * sin(9 * i) } }' >levels.csv
  gpnn-index -q --one-hot c,k -y y -o l.gpi levels.csv
  gpnn-fit -q --effort fast --mean-function linear l.gpi >l.par
  sed -n 's/^coefficients//p' l.par | awk '{ if ($4 != 0 || $6 != 0 || $3 == 0) exit 1 }'
  gpnn-predict -q --loo -p l.par l.gpi | gpnn-eval | value rmse >rmse
  assert_below "$(<rmse)" 0.15
}

@test "the few of many inputs that matter are found, by the exact likelihood and by neighbourhoods" {
  for rows in 240 1600; do
    awk -v rows=$rows 'BEGIN {
      srand(3)
      for (j = 1; j <= 100; j++) printf "x%d\t", j
      print "y"
      for (i = 0; i < rows; i++) {
        for (j = 1; j <= 100; j++) printf "%.4f\t", x[j] = 2 * rand() - 1
        print sin(3 * x[40]) + x[7] + rand() / 5
      }
    }' >wide.tsv
    head -n $((rows * 3 / 4)) wide.tsv | gpnn-index -q -o wide.gpi
    sed "2,$((rows * 3 / 4))d" wide.tsv >new.tsv
    gpnn-fit -q --tune steps=200 -o wide.par wide.gpi
    awk '$1 == "lengthscale" { exit !(NF == 101 && $41 < 5 && $8 < 20 && $2 > 5 * $41) }' wide.par || complain "$rows rows: $(grep lengthscale wide.par)"
    gpnn-predict -q --units standard -p wide.par wide.gpi new.tsv | gpnn-eval | awk '$1 == "rmse" { exit !($2 < 0.25) }' || complain "$rows rows"
  done
  awk -v OFS='\t' 'NR > 1 { $NF = rand() } 1' wide.tsv | gpnn-index -q -o wide.gpi
  gpnn-fit -q --tune steps=200 wide.gpi | awk '$1 == "lengthscale" { exit NF != 2 }'
}
