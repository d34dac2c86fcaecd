#!/usr/bin/env bats
# gpnn-sparse, both families, and what takes its models.

load helper

# How the families are asked for where it does not matter how good they are.
families=('--family collapsed' '--family diag --iterations 5')

# sparse OPTIONS...: a small model t.gpm of t.gpi, on one thread.
sparse() {
  gpnn-sparse -q -j 1 --kernel rbf --sample 200 --inducing 20 -o t.gpm "$@" t.gpi
}

# rmse MODEL: of the rows of test.tsv, standardised.
rmse() {
  gpnn-predict -q --units standard "$1" test.tsv | gpnn-eval | value rmse
}

# for_each_family COMMAND: with the options of a family in 'family'.
for_each_family() {
  local name
  for name in "${families[@]}"; do
    read -ra family <<<"$name"
    "$@" || complain "$name"
  done
}

# make_bike TRAIN TEST: these many rows of real data as train.tsv, with its index t.gpi, and test.tsv.
make_bike() {
  zcat "$GPNN_ROOT/tests/data/bike.tsv.gz" >bike.tsv
  awk -v train="$1" -v test="$2" 'NR == 1 { print >"train.tsv"; print >"test.tsv"; next }
    NR % 9 == 0 && m < test { m++; print >"test.tsv" }
    NR % 9 == 4 && n < train { n++; print >"train.tsv" }' bike.tsv
  gpnn-index -q --calibration-rows 300 -o t.gpi train.tsv
}

from_end_to_end() {
  sparse --inducing 60 --likelihood gaussian "${family[@]}"
  gpnn-calibrate -q t.gpm >t.cal
  gpnn-predict -q -p t.cal --interval 0.9 t.gpm test.tsv >pred.tsv
  gpnn-eval pred.tsv >scores
  assert_below "$(rmse t.gpm)" 0.8
  assert_near "$(value cal scores)" 1 0.35
  gpnn-info --verify t.gpm >info
  assert_equal "$(value family info)" "${family[1]}"
  assert_equal "$(value inducing-points info)" 60
  assert_equal "$(value held-out-rows info)" 300
}

@test "real rows are predicted better than by their mean, with honest variances" {
  make_bike 1500 500
  for_each_family from_end_to_end
}

@test "predictions of a model can be plotted" {
  command -v gnuplot >/dev/null || skip "needs gnuplot"
  make_model 300 60 60 20
  sparse
  gpnn-predict -q --interval 0.9 t.gpm test.tsv >pred.tsv
  gpnn-plot calibration -q -o picture.svg pred.tsv
  grep -q '</svg>' picture.svg
}

same_bytes() {
  sparse "${family[@]}" -j 1
  gpnn-sparse -q -j 3 --kernel rbf --sample 200 --inducing 20 "${family[@]}" -o other.gpm t.gpi
  cmp t.gpm other.gpm
  gpnn-sparse -q -j 1 -s 2 --kernel rbf --sample 200 --inducing 20 "${family[@]}" -o other.gpm t.gpi
  run ! cmp -s t.gpm other.gpm
}

@test "same seed, same bytes, for any number of threads" {
  make_model 400 20 80 20
  for_each_family same_bytes
  families=('--family diag --iterations 4 --solver cg --truncation geometric')
  for_each_family same_bytes
}

learns_most() {
  sparse "${family[@]}"
  assert_below "$(rmse t.gpm)" 0.45
}

@test "batches of rows find what one pass over all rows finds" {
  make_model 500 100 60 20
  sparse --inducing 20
  cp t.gpm once.gpm
  sparse --family svgp --inducing 20 --batch 100 --iterations 60 -j 1
  assert_equal "$(gpnn-info t.gpm | value family)" svgp
  assert_near "$(rmse t.gpm)" "$(rmse once.gpm)" 0.03
  gpnn-sparse -q -j 3 --kernel rbf --sample 200 --family svgp --inducing 20 --batch 100 --iterations 60 -o other.gpm t.gpi
  cmp t.gpm other.gpm
  # Without steps of the parameters these are as the sample has them.
  sparse --family svgp --iterations 0 --rate 0.5
  gpnn-calibrate -q t.gpm >still.cal
  sparse --family svgp --iterations 5 --rate 0.5
  gpnn-calibrate -q t.gpm | run ! cmp -s - still.cal
}

@test "both families learn what there is to know" {
  make_model 500 100 60 20
  for_each_family learns_most
  families=('--family diag --solver cg --iterations 20'
    '--family diag --solver cholesky --iterations 5 --batch 40'
    '--inducing-points greedy' '--inducing-points subset' '--kernel matern32' '--kernel matern:1.2'
    '--ard no' '--steps 3' '--likelihood student')
  for_each_family learns_most
}

@test "the published settings run, with a table of their steps" {
  make_model 300 60 60 20
  sparse --family diag --optimizer adagrad --truncation quadratic --tune polish=0 --iterations 400 --trace trace.tsv
  assert_equal "$(head -n 1 trace.tsv | cut -f 1-8)" "$(printf '%s\t' iteration seconds cg_steps_mean \
    cg_steps_max extra_steps max_weight rmse_batch | sed 's/$/bound/')"
  assert_equal "$(sed 1d trace.tsv | wc -l)" 900
  assert_equal "$(head -n 1 trace.tsv | tr '\t' ' ' | cut -d ' ' -f 9-)" \
    'lengthscale_1 lengthscale_2 kernelscale noise min_s'
  assert_below "$(rmse t.gpm)" 0.9
  gpnn-info t.gpm >info
  assert_equal "$(value kernel info)" rbf
  # Two solutions for each of 8 probes in each step, and those of the pilots.
  assert_near "$(value solutions info)" $((900 * 16)) 200
  # Only s is fixed in the first steps.
  assert_equal "$(column kernelscale trace.tsv | head -n 500 | sort -u)" 1
  [[ $(column kernelscale trace.tsv | tail -n 1) != 1 ]]
}

@test "inducing points come from a table, whatever else it has" {
  make_model 200 30 20 20
  awk -F '\t' -v OFS='\t' '{ print "other" NR, $2, $1 }' train.tsv | head -n 16 |
    sed "1s/.*/other\tx2\tx1/" >points.tsv
  gpnn-sparse -q --kernel rbf --inducing-points points.tsv -o t.gpm t.gpi
  gpnn-info t.gpm >info
  assert_equal "$(value inducing-points info)" 15
  assert_below "$(rmse t.gpm)" 0.9
  cut -f 1,2 points.tsv >lacking.tsv
  assert_fails 1 "lacking.tsv: lacks 1 of 2 input columns: 'x1'" \
    gpnn-sparse --inducing-points lacking.tsv -o x.gpm t.gpi
  sed '4s/[^\t]*$/abc/' points.tsv >bad.tsv
  assert_fails 1 "bad.tsv:4: column 'x1': not a number" gpnn-sparse --inducing-points bad.tsv -o x.gpm t.gpi
  head -n 1 points.tsv >none.tsv
  assert_fails 1 'none.tsv: no inducing points' gpnn-sparse --inducing-points none.tsv -o x.gpm t.gpi
  assert_fails 1 'nowhere.tsv' gpnn-sparse --inducing-points nowhere.tsv -o x.gpm t.gpi
  assert_fails 2 'says how many there are' gpnn-sparse --inducing-points points.tsv --inducing 3 -o x.gpm t.gpi
  [[ ! -e x.gpm ]]
}

takes_points_once() {
  gpnn-sparse --kernel rbf "${family[@]}" --inducing-points twice.tsv -o t.gpm t.gpi 2>messages
  grep -q '12 of the 36 inducing points were copies of others' messages
  assert_equal "$(gpnn-info t.gpm | value inducing-points)" 24
}

@test "copies of inducing points are left out, and said" {
  make_model 200 30 20 20
  { head -n 25 train.tsv && sed -n 2,13p train.tsv; } >twice.tsv
  for_each_family takes_points_once
  # Rows that are there many times are as many points as there are different ones.
  { head -n 8 train.tsv && for _ in 1 2 3 4 5 6; do sed -n 2,8p train.tsv; done; } >rows.tsv
  gpnn-index -q --calibration-rows 0 -o few.gpi rows.tsv
  gpnn-sparse -q --kernel rbf -o few.gpm few.gpi
  assert_equal "$(gpnn-info few.gpm | value inducing-points)" 7
}

@test "rows that belong together are no hindrance" {
  make_model 60 30 0 20
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "site" : int(NR / 3) }' train.tsv >sites.tsv
  gpnn-index -q --by site -y y -o sites.gpi sites.tsv
  gpnn-sparse -q --kernel rbf -o sites.gpm sites.gpi
  assert_below "$(rmse sites.gpm)" 0.6
}

@test "there cannot be more inducing points than rows" {
  make_model 60 30 0 20
  for family in collapsed diag; do
    assert_fails 1 't.gpi: 900 inducing points of 60 training rows' \
      gpnn-sparse --family $family --inducing 900 -o x.gpm t.gpi
  done
  head -n 10 train.tsv >nine.tsv
  gpnn-index -q --calibration-rows 0 -o nine.gpi nine.tsv
  assert_fails 1 'train.tsv: 60 inducing points, but 9 training rows' \
    gpnn-sparse --inducing-points train.tsv -o x.gpm nine.gpi
  [[ ! -e x.gpm ]]
  # Unless a number is asked for, there are as many as rows.
  gpnn-sparse -q --kernel rbf -o t.gpm t.gpi
  assert_equal "$(gpnn-info t.gpm | value inducing-points)" 60
}

keeps_targets_apart() {
  gpnn-sparse -q -j 1 --kernel rbf --inducing 12 "${family[@]}" -o two.gpm two.gpi
  gpnn-predict -q two.gpm two.tsv >pred.tsv
  assert_equal "$(head -n 1 pred.tsv | tr '\t' ' ')" 'y mean_y sd_y z mean_z sd_z'
  gpnn-info two.gpm | awk -F '\t' '$1 == "model-of" { print $2 }' | tr '\n' ' ' >names
  assert_equal "$(<names)" 'y z '
}

@test "several targets have a model each, and one table of steps" {
  make_table 200 2 | awk -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, 3 * $1 - $2 }' >two.tsv
  gpnn-index -q -y y,z --calibration-rows 40 -o two.gpi two.tsv
  for_each_family keeps_targets_apart
  gpnn-sparse -q --kernel rbf --inducing 12 --family diag --iterations 3 --trace trace.tsv -o two.gpm two.gpi
  assert_equal "$(head -n 1 trace.tsv | cut -f 1-2)" $'target\titeration'
  assert_equal "$(cut -f 1 trace.tsv | sed 1d | tr '\n' ' ')" 'y y y z z z '
  gpnn-sparse -q -j 1 --kernel rbf --inducing 12 -o two.gpm two.gpi
  gpnn-sparse -q -j 1 --kernel rbf --inducing 12 --targets z -o z.gpm two.gpi
  gpnn-predict -q --targets z two.gpm two.tsv >z.tsv
  gpnn-predict -q z.gpm two.tsv | cmp - z.tsv
  assert_fails 2 "'x' is not one of the targets" gpnn-sparse --targets x -o x.gpm two.gpi
}

@test "positions on the globe are no reason to find nothing" {
  local seed
  for seed in 3 4 6; do
    awk -v seed=$seed 'function uniform(i) { i = sin(seed * 7.31 + i * 78.233) * 43758.5453; return i - int(i) + (i < 0) }
      BEGIN {
        print "lat\tlon\th\ty"
        for (i = 0; i < 480; i++) {
          lat = 40 + 15 * uniform(3 * i); lon = 20 * uniform(3 * i + 1); h = uniform(3 * i + 2)
          print lat "\t" lon "\t" h "\t" sin(lat / 3) + cos(lon / 4) + h / 2 + 0.3 * (uniform(5000 + i) - 0.5)
        }
      }' >all.tsv
    head -n 181 all.tsv >train.tsv
    sed '2,181d' all.tsv >test.tsv
    gpnn-index -q --geo lat,lon -o t.gpi train.tsv
    gpnn-sparse -j 1 --sample 150 --inducing 50 -o t.gpm t.gpi
    assert_below 0.9 "$(gpnn-predict -q t.gpm test.tsv | gpnn-eval | value r2)"
  done
}

@test "a model that has found nothing says so" {
  awk 'BEGIN { print "x\ty"; for (i = 0; i < 150; i++) { u = sin(i * 78.233) * 43758.5453; print i "\t" u - int(u) } }' >noise.tsv
  gpnn-index -q -o noise.gpi noise.tsv
  gpnn-sparse --inducing 20 --kernel rbf -o noise.gpm noise.gpi 2>messages
  grep -q '^gpnn-sparse: a kernel scale of [^ ]* beside a noise variance of .*hardly more than the mean' messages
  make_model 150 10 20 20
  [[ $(gpnn-sparse --inducing 20 --kernel rbf -o t.gpm t.gpi 2>&1) == "" ]]
}

@test "parameters to start from are those of the target" {
  make_table 200 2 | awk -v OFS='\t' 'NR == 1 { print $0, "z"; next } { print $0, 3 * $1 - $2 }' >two.tsv
  gpnn-index -q -y y,z --calibration-rows 40 -o two.gpi two.tsv
  gpnn-index -q -y y -x x1,x2 --calibration-rows 40 -o t.gpi two.tsv
  make_parameters matern52 0.7 1 0.1 20 >any.par
  { echo $'target\ty' && make_parameters matern52 0.7 1 0.1 20; } >y.par
  { cat y.par && echo $'target\tz' && make_parameters rbf 0.9 1 0.1 20; } >both.par
  gpnn-sparse -q --inducing 9 --start both.par -o two.gpm two.gpi
  assert_equal "$(gpnn-info two.gpm | awk -F '\t' '$1 == "kernel" { print $2 }' | tr '\n' ' ')" 'matern52 rbf '
  gpnn-sparse -q --inducing 9 --start any.par -o two.gpm two.gpi
  gpnn-sparse -q --inducing 9 --start both.par -o t.gpm t.gpi
  gpnn-info t.gpm | grep -qx $'kernel\tmatern52'
  assert_fails 1 "y.par: no parameters of target 'z'" gpnn-sparse --start y.par -o x.gpm two.gpi
  sed 's/^target\ty/target\tw/' y.par >w.par
  assert_fails 1 "w.par: no parameters of target 'y'" gpnn-sparse --start w.par -o x.gpm t.gpi
  make_parameters rbf $'1\t2\t3' 1 0.1 20 >three.par
  assert_fails 1 'three.par: 3 lengthscales, where the model has 2' gpnn-sparse --start three.par -o x.gpm t.gpi
  gpnn-sparse -q --inducing 9 --kernel rbf --fix noise=0.25 --fix lengthscale=0.5 -o t.gpm t.gpi
  assert_equal "$(gpnn-info t.gpm | value noise)" 0.25
  assert_fails 2 '--start is not for --family diag' gpnn-sparse --family diag --start any.par -o x.gpm t.gpi
}

@test "a wild cell leaves a model that opens, with finite predictions" {
  for at in 7 150; do
    for value in 1e300 -1e308; do
      for standardise in scale none; do
        make_table 160 2 | awk -v OFS='\t' -v n=$at -v v=$value 'NR >= n && NR % 3 == n % 3 { $1 = v } { print }' >wild.tsv
        gpnn-index -q --standardise $standardise --calibration-rows 40 -o t.gpi wild.tsv || continue
        for_each_family opens_again || complain "$at $value $standardise"
      done
    done
  done
}

# A tool may refuse what it cannot work with, but must not write what cannot be read.
opens_again() {
  rm -f t.gpm
  if ! sparse --inducing 8 "${family[@]}" 2>messages; then
    [[ ! -e t.gpm ]] && grep -q 'not finite' messages
    return
  fi
  gpnn-info --verify t.gpm >info
  gpnn-predict -q t.gpm wild.tsv >pred.tsv
  run ! grep -iE 'nan|inf' pred.tsv
  gpnn-calibrate -q t.gpm | run ! grep -iE 'nan|inf'
}

@test "a column that does not vary, and rows that are alike, are no obstacle" {
  make_table 120 2 | awk -v OFS='\t' 'NR == 1 { print "c", $0; next } { print 7, $0 }' >c.tsv
  gpnn-index -q --calibration-rows 20 -o t.gpi c.tsv
  cp c.tsv test.tsv
  for_each_family learns_most
  for n in 2 3; do
    make_table $n 2 >few.tsv
    gpnn-index -q --calibration-rows 0 -o few.gpi few.tsv
    for family in collapsed diag; do
      gpnn-sparse -q --family $family -o few.gpm few.gpi
      assert_equal "$(gpnn-predict -q few.gpm few.tsv | wc -l)" $((n + 1))
    done
  done
}

@test "rows far from all others have the variance of the process" {
  make_model 200 30 20 20
  printf 'x1\tx2\n1e9\t-1e9\n1e300\t0\n' >far.tsv
  for_each_family falls_back
}

falls_back() {
  sparse "${family[@]}" --likelihood gaussian --fix noise=0.1 || sparse "${family[@]}" --likelihood gaussian
  gpnn-info t.gpm >info
  gpnn-predict -q --units standard t.gpm far.tsv >pred.tsv
  for sd in $(column sd pred.tsv); do
    assert_near "$sd" "$(awk -v a="$(value kernelscale info)" -v b="$(value noise info)" 'BEGIN { print sqrt(a + b) }')" 1e-6
  done
  for mean in $(column mean pred.tsv); do assert_near "$mean" 0 1e-9; done
}

@test "solutions that end too early are counted, and warned of" {
  make_model 200 30 20 20
  gpnn-sparse --family diag --kernel rbf --inducing 60 --solver cg --tune tol=1e-15 --iterations 3 -o t.gpm t.gpi 2>messages
  gpnn-info t.gpm >info
  n=$(value solutions info)
  capped=$(value solutions-capped info)
  awk -v n="$n" -v c="$capped" 'BEGIN { exit !(c > 0.05 * n && c <= n) }'
  grep -q "$capped of $n solutions by conjugate gradients (.* %) ended before" messages
  gpnn-sparse --family diag --kernel rbf --inducing 20 --solver cg --tune polish=0 --iterations 3 -o t.gpm t.gpi 2>messages
  run ! grep solutions messages
  assert_equal "$(gpnn-info t.gpm | value solutions-capped)" 0
}

@test "outputs that cannot be written are refused before the work" {
  make_model 100 30 20 20
  mkdir folder
  assert_fails 2 'name it with -o FILE' gpnn-sparse t.gpi
  assert_fails 2 'name it with -o FILE' gpnn-sparse -o - t.gpi
  assert_fails 1 'nowhere/x.gpm: cannot be created' gpnn-sparse --steps 1000000 -o nowhere/x.gpm t.gpi
  assert_fails 1 'folder: is a directory' gpnn-sparse --steps 1000000 -o folder t.gpi
  assert_fails 2 't.gpi" is an input' gpnn-sparse -o t.gpi t.gpi
  assert_fails 2 't.par" is an input' gpnn-sparse --start t.par -o t.par t.gpi
  assert_fails 2 'test.tsv" is an input' gpnn-sparse --inducing-points test.tsv -o test.tsv t.gpi
  assert_fails 2 't.gpi" is an input' gpnn-sparse --family diag --trace t.gpi -o x.gpm t.gpi
  assert_fails 2 '"x.gpm" cannot be both' gpnn-sparse --family diag --trace x.gpm -o x.gpm t.gpi
  assert_fails 1 'nowhere/x.tsv: cannot be created' \
    gpnn-sparse --family diag --iterations 1000000 --trace nowhere/x.tsv -o x.gpm t.gpi
  [[ ! -e x.gpm ]]
  assert_equal "$(find . -name '*.tmp*' -o -name '.*gp*')" ''
}

@test "options without a meaning are refused" {
  make_model 60 30 10 20
  assert_fails 2 '--tune is for --family diag' gpnn-sparse --tune probes=3 -o x.gpm t.gpi
  assert_fails 2 '--steps is not for --family diag' gpnn-sparse --family diag --steps 3 -o x.gpm t.gpi
  assert_fails 2 'tol must be below tol-head' gpnn-sparse --family diag --tune tol=0.1 -o x.gpm t.gpi
  assert_fails 2 'matern:NU' gpnn-sparse --kernel cubic -o x.gpm t.gpi
  assert_fails 2 '--inducing' gpnn-sparse --inducing 0 -o x.gpm t.gpi
  assert_fails 2 '--fix' gpnn-sparse --fix colour=1 -o x.gpm t.gpi
}

@test "what is no index of plain numbers is refused" {
  make_model 120 30 20 20
  sparse
  assert_fails 1 't.gpm is a model file' gpnn-sparse -o x.gpm t.gpm
  assert_fails 1 'train.tsv' gpnn-sparse -o x.gpm train.tsv
  awk -v OFS='\t' 'NR > 1 { $NF = NR % 3 ? "a" : "b" } { print }' train.tsv >classes.tsv
  gpnn-index -q -y y -o classes.gpi classes.tsv
  assert_fails 1 "target 'y' holds classes" gpnn-sparse -o x.gpm classes.gpi
  awk -v OFS='\t' 'NR == 1 { print $0, "extra"; next } { $NF = NR % 5; print $0, 1 + NR % 3 }' train.tsv >more.tsv
  gpnn-index -q -y y --exposure extra -o counts.gpi more.tsv
  assert_fails 1 'a count with an exposure' gpnn-sparse -o x.gpm counts.gpi
  gpnn-index -q -y y --offset extra -o offset.gpi more.tsv
  gpnn-index -q -y y --row-noise extra -o noisy.gpi more.tsv
  gpnn-index -q -y y --regressors extra -o lines.gpi more.tsv
  for tool in gpnn-sparse gpnn-tucker; do
    assert_fails 1 'rows have offsets' $tool -o x.gpm offset.gpi
    assert_fails 1 'noise variances of their own' $tool -o x.gpm noisy.gpi
    assert_fails 1 'lines.gpi: there are regressors' $tool -o x.gpm lines.gpi
  done
  gpnn-simulate grid -q --sites 6 --times 10 -o grid.tsv
  gpnn-grid index -q --site x1,x2 --time t -o grid.gpi grid.tsv
  assert_fails 1 'gpnn-grid' gpnn-sparse -o x.gpm grid.gpi
  head -c 3000 t.gpi >cut.gpi
  assert_fails 1 'cut.gpi' gpnn-sparse -o x.gpm cut.gpi
  [[ ! -e x.gpm ]]
}

@test "memory that runs out is said" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_ || skip 'not with sanitizers'
  make_table 1500 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  for kilobytes in 300000 340000 380000; do
    for name in "${families[@]}"; do
      read -ra family <<<"$name"
      rm -f t.gpm
      run bash -c 'ulimit -v $0 && exec "$@"' $kilobytes \
        gpnn-sparse -q -j 1 --kernel rbf --sample 200 --inducing 1300 "${family[@]}" -o t.gpm t.gpi
      [[ $status == 0 && -s t.gpm ]] || [[ $status == 1 && $output == *memory* && ! -e t.gpm ]] ||
        complain "$name with $kilobytes kB: $status $output"
    done
  done
}

@test "the report of JSON has what was found" {
  make_model 100 20 20 10
  gpnn-sparse --json --kernel rbf --inducing 9 -o t.gpm t.gpi 2>report
  json report >values
  for name in target kernel inducing rank kernelscale noise bound; do
    grep -q "$name" values || complain "no $name"
  done
}
