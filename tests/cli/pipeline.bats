#!/usr/bin/env bats
# The whole workflow: split, index, fit, calibrate, predict, eval.

load helper

@test "the workflow on bike beats the published method" {
  gpnn-split -f 7:2 -o train.tsv -o test.tsv "$GPNN_ROOT/tests/data/bike.tsv.gz"
  gpnn-index -y cnt -o bike.gpi train.tsv
  gpnn-fit --effort fast --kernel matern32 --ard yes -m 64 bike.gpi >bike.par
  gpnn-calibrate bike.gpi <bike.par >bike.cal
  gpnn-predict bike.gpi -p bike.cal --units standard test.tsv >pred.tsv
  gpnn-eval pred.tsv >metrics.txt
  assert_equal "$(value n metrics.txt)" 3862
  assert_below "$(value rmse metrics.txt)" 0.26 # published best: 0.565
  assert_below "$(value nll metrics.txt)" 0.1   # published best: 0.854
  assert_near "$(value cal metrics.txt)" 1 0.2
}

@test "the published method reproduces its published figures on poletele" {
  gpnn-split -f 7:2 -o train.tsv -o test.tsv "$GPNN_ROOT/tests/data/poletele.tsv.gz"
  gpnn-index --preset paper -o p.gpi train.tsv
  gpnn-fit --preset paper --kernel exp p.gpi | gpnn-calibrate p.gpi |
    gpnn-predict --units standard p.gpi -p - test.tsv | gpnn-eval >metrics.txt
  assert_near "$(value rmse metrics.txt)" 0.169 0.0228 # 3 published standard deviations
  assert_near "$(value nll metrics.txt)" -0.397 0.084
  assert_near "$(value cal metrics.txt)" 1 0.2
}

@test "the pipe and the steps through files give identical bytes" {
  make_table 800 3 >train.tsv
  make_table 100 3 800 >test.tsv
  gpnn-index -o t.gpi train.tsv
  gpnn-fit --kernel exp --ard yes -m 60 --tune steps=30 t.gpi >t.par
  gpnn-calibrate t.gpi <t.par >t.cal 2>/dev/null
  gpnn-predict t.gpi -p t.cal test.tsv >files.tsv
  gpnn-fit --kernel exp --ard yes -m 60 --tune steps=30 t.gpi | gpnn-calibrate -q t.gpi | gpnn-predict t.gpi -p - test.tsv >pipe.tsv
  cmp files.tsv pipe.tsv
}

@test "threads and batches change no byte of any output" {
  make_table 1200 4 >train.tsv
  make_table 333 4 1200 >test.tsv
  gpnn-index -j 1 -o one.gpi train.tsv
  gpnn-index -j 2 -o two.gpi train.tsv
  cmp one.gpi two.gpi
  gpnn-fit -j 1 -m 60 --tune steps=20 one.gpi >one.par
  gpnn-fit -j 2 -m 60 --tune steps=20 one.gpi >two.par
  cmp one.par two.par
  gpnn-calibrate -q -j 1 one.gpi <one.par >one.cal
  gpnn-calibrate -q -j 3 one.gpi <one.par >two.cal
  cmp one.cal two.cal
  gpnn-predict -j 1 one.gpi -p one.cal test.tsv >one.tsv
  for options in "-j 2" "-j 3 --batch 1" "-j 1 --batch 7" "-j 2 --batch 332" "--batch 1000"; do
    # shellcheck disable=SC2086 # a list of options
    gpnn-predict $options one.gpi -p one.cal test.tsv >two.tsv
    cmp one.tsv two.tsv
  done
}

@test "threads and batches change no byte with inverted lists either" {
  make_table 3000 2 >train.tsv
  make_table 400 2 3000 >test.tsv
  gpnn-index --search ivf -j 1 -m 50 -o one.gpi train.tsv
  gpnn-index --search ivf -j 2 -m 50 -o two.gpi train.tsv
  cmp one.gpi two.gpi
  gpnn-fit --kernel rbf --ard no -m 50 --tune steps=30 one.gpi >t.par
  gpnn-predict -j 1 one.gpi -p t.par test.tsv >one.tsv
  gpnn-predict -j 2 --batch 13 one.gpi -p t.par test.tsv >two.tsv
  cmp one.tsv two.tsv
}

@test "CSV, gzip, CRLF, a byte order mark and shuffled columns change nothing" {
  make_table 500 3 >train.tsv
  make_table 50 3 500 >test.tsv
  tr '\t' ',' <train.tsv | sed 's/$/\r/' | sed '1s/^/\xef\xbb\xbf/' | gzip >train.csv.gz
  gpnn-index -o a.gpi train.tsv
  gpnn-index -o b.gpi train.csv.gz
  cmp a.gpi b.gpi
  gpnn-fit --kernel exp --ard yes -m 40 --tune steps=30 a.gpi >t.par
  gpnn-predict a.gpi -p t.par test.tsv >a.tsv
  awk -F '\t' -v OFS='\t' '{ print $4, "extra" NR, $3, $1, $2 }' test.tsv >shuffled.tsv
  gpnn-predict a.gpi -p t.par shuffled.tsv >b.tsv
  cmp a.tsv b.tsv
  gpnn-predict a.gpi -p t.par <test.tsv >c.tsv
  cmp a.tsv c.tsv
}

@test "the same seed gives the same bytes, another seed another index" {
  make_table 600 2 >train.tsv
  gpnn-index -s 5 -o a.gpi train.tsv
  gpnn-index -s 5 -o b.gpi train.tsv
  gpnn-index -s 6 -o c.gpi train.tsv
  cmp a.gpi b.gpi
  run ! cmp -s a.gpi c.gpi
}

@test "shifting and scaling columns changes predictions only as it must" {
  make_table 700 2 >train.tsv
  make_table 60 2 700 >test.tsv
  for f in train test; do
    awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = 1000 + 8 * $1; $3 = 4 * $3 - 16 } 1' \
      OFMT=%.17g CONVFMT=%.17g $f.tsv >$f.moved.tsv
  done
  gpnn-index -o a.gpi train.tsv
  gpnn-index -o b.gpi train.moved.tsv
  printf 'kernel\tmatern52\nlengthscale\t0.5\t0.8\nkernelscale\t1\nnoise\t0.05\nneighbours\t40\n' >t.par
  gpnn-predict a.gpi -p t.par test.tsv | column mean >a.txt
  gpnn-predict b.gpi -p t.par test.moved.tsv | column mean >b.txt
  paste a.txt b.txt | awk '{ d = 4 * $1 - 16 - $2; if (d > 1e-8 || d < -1e-8) exit 1 }'
}

@test "a search under the metric of ARD parameters gives the same predictions without a rebuild" {
  make_table 900 3 >train.tsv
  make_table 80 3 900 >test.tsv
  printf 'kernel\texp\nlengthscale\t0.3\t2\t9\nkernelscale\t1\nnoise\t0.05\nneighbours\t40\n' >t.par
  for kind in ivf flat tree; do
    gpnn-index --search $kind --recall 0.9 -o a.gpi train.tsv
    gpnn-predict a.gpi -p t.par test.tsv >a.tsv 2>a.err
    [[ ! -s a.err ]] # so few rows are built in no time
    gpnn-index --metric t.par -o b.gpi a.gpi
    gpnn-predict b.gpi -p t.par test.tsv >b.tsv 2>b.err
    [[ ! -s b.err ]]
    cmp a.tsv b.tsv
    assert_equal "$(gpnn-info a.gpi | value fingerprint)" "$(gpnn-info b.gpi | value fingerprint)"
  done
}

@test "rebuilding the search over many numbers is worth a warning that says how to save it" {
  awk 'BEGIN { print "c\tx\ty"; for (i = 0; i < 2100; i++) print "c" i % 1000 "\t" i % 11 "\t" i % 7 }' >train.tsv
  gpnn-index --calibration-rows 0 --one-hot c -o a.gpi train.tsv
  printf 'kernel\texp\nlengthscale\t1\t2\nkernelscale\t1\nnoise\t0.05\nneighbours\t4\n' >t.par
  head -n 2 train.tsv >test.tsv
  gpnn-predict a.gpi -p t.par test.tsv 2>&1 >a.tsv | grep 'gpnn-index --metric t.par -o NEW.gpi a.gpi'
  gpnn-index --metric t.par -o b.gpi a.gpi
  gpnn-predict b.gpi -p t.par test.tsv >b.tsv 2>b.err
  [[ ! -s b.err ]]
  cmp a.tsv b.tsv
}

@test "calibrating twice finds a factor of one" {
  make_table 2000 2 >train.tsv
  gpnn-index -o t.gpi train.tsv
  gpnn-fit --likelihood gaussian --kernel matern32 --ard yes -m 50 --tune steps=100 t.gpi |
    gpnn-calibrate t.gpi >once.par
  gpnn-calibrate t.gpi <once.par >twice.par
  for name in kernelscale noise calibration; do
    assert_near "$(value $name twice.par)" "$(value $name once.par)" 1e-9
  done
}

@test "calibrating a scale leaves kernel scale and noise alone, and twice is as once" {
  make_table 2000 2 >train.tsv
  gpnn-index -o t.gpi train.tsv
  gpnn-fit --kernel matern32 --ard yes -m 50 --tune steps=100 t.gpi >t.par
  gpnn-calibrate t.gpi <t.par >once.par
  gpnn-calibrate t.gpi <once.par | grep -v '^#' >twice.par
  grep -v '^#' once.par | cmp - twice.par
  for name in kernelscale noise; do
    assert_equal "$(value $name once.par)" "$(value $name t.par)"
  done
  run ! value calibration once.par
  grep -q '^# calibration: scale .* degrees of freedom, misfit .* held-out rows$' once.par
  assert_fails 1 'is for Gaussian parameters' gpnn-calibrate --adjust noise -p t.par t.gpi
}

@test "calibration works by leaving one out and with a table of the user's" {
  make_table 1500 2 >train.tsv
  make_table 300 2 1500 >own.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  gpnn-fit --likelihood gaussian --kernel matern32 --ard yes -m 50 --tune steps=100 t.gpi >t.par
  assert_fails 1 'holds no calibration rows; hold some out' gpnn-calibrate t.gpi -p t.par
  gpnn-calibrate --loo t.gpi <t.par >loo.par
  gpnn-calibrate --loo -c auto t.gpi <t.par >auto.par
  gpnn-calibrate --with own.tsv t.gpi -p t.par >own.par
  assert_near "$(value calibration loo.par)" "$(value calibration auto.par)" 0.15
  assert_near "$(value calibration own.par)" "$(value calibration auto.par)" 0.25
  grep -q '# calibration: factor .* from 1000 left-out training rows' loo.par
}

@test "progress is shown if asked for, and otherwise only on terminals" {
  make_table 300 >t.tsv
  gzip -k t.tsv
  make_parameters exp 0.5 1 0.1 10 >t.par
  gpnn-index -q -o t.gpi t.tsv
  gpnn-predict -q -p t.par -o p.tsv t.gpi t.tsv
  while IFS=: read -r told command; do
    $command --progress always 2>err.txt >out.txt
    grep -qE "^[0-9]+ $told" err.txt || complain "$command:" "$(cat err.txt)"
    for when in auto never; do
      $command --progress $when 2>err.txt >out.txt
      run ! grep -E " $told" err.txt
    done
  done <<'END'
rows read \(100 %\):gpnn-index -o x.gpi t.tsv
rows read \(100 %\):gpnn-index -o x.gpi t.tsv.gz
rows read \([0-9]+ %\):gpnn-eval p.tsv
rows counted \([0-9]+ %\):gpnn-split -f 1:1 -o a -o b t.tsv
rows predicted \(100 %\):gpnn-predict -p t.par t.gpi t.tsv
rows predicted \(100 %\):gpnn-predict -p t.par --loo t.gpi
of at most [0-9]+ models tried:gpnn-fit --effort fast --kernel exp -m 10 t.gpi
of 100 rows written \(100 %\):gpnn-simulate data -n 100
of 30 points simulated \([0-9]+ %\):gpnn-simulate limits -m 5 --test 30 -n 100
of 30 points simulated \([0-9]+ %\):gpnn-simulate risk -m 5 --test 30 -n 100
of 20 of all predictions done:gpnn-simulate advise --test 50 -p t.par t.gpi
END
  # The end of a pipe is not known.
  gpnn-index --progress always -o x.gpi < <(cat t.tsv) 2>err.txt
  grep -qE '^[0-9]+ rows read(, [^%]*)?$' err.txt || complain "$(cat err.txt)"
}
