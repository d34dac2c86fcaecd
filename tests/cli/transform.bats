#!/usr/bin/env bats
# Transforms of the target, from gpnn-fit to gpnn-eval.

load helper

# A positive target whose noise is a percentage of it, and one of any sign.
setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  awk 'BEGIN {
    srand(4)
    print "a\tb\tprice\tgain"
    for (i = 0; i < 700; i++) {
      a = rand(); b = rand(); e = rand() + rand() + rand() - 1.5
      printf "%.4f\t%.4f\t%.6g\t%.6g\n", a, b, 5000 * exp(3 * sin(4 * a) * b + 0.3 * e), b - a + 0.1 * e
    }
  }' >all.tsv
  cut -f 1-3 all.tsv | head -n 501 >train.tsv
  cut -f 1-3 all.tsv | sed -n '1p;502,$p' >test.tsv
  gpnn-index -y price --calibration-rows 0 -o t.gpi train.tsv
  gpnn-index -y price,gain --calibration-rows 0 -o two.gpi all.tsv
}

quick=(--kernel matern32 --ard no --rotate none -m 30 --tune steps=60 --rows 300)

# fit OPTION... : parameters of the first target, by few steps.
fit() {
  gpnn-fit -q "${quick[@]}" "$@" "$BATS_FILE_TMPDIR/t.gpi"
}

@test "every transform goes from the fit to the scores" {
  for transform in log asinh boxcox yeo-johnson rank; do
    fit --transform $transform >t.par
    assert_equal "$(value transform t.par)" $transform
    gpnn-calibrate -q --with "$BATS_FILE_TMPDIR/test.tsv" "$BATS_FILE_TMPDIR/t.gpi" <t.par >t.cal
    assert_equal "$(grep '^transform' t.cal)" "$(grep '^transform' t.par)"
    gpnn-predict -q -p t.cal --interval 0.9 "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv" >pred
    assert_equal "$(head -n 1 pred)" $'price\tmean\tsd\tlower\tupper\tlogp\tcrps\tpit'
    awk -F '\t' 'NR > 1 && !($4 < $2 && $2 < $5) { exit 1 }' pred
    assert_near "$(awk -F '\t' 'NR > 1 { n++; inside += $1 > $4 && $1 < $5 } END { print inside / n }' pred)" 0.9 0.08
    assert_near "$(gpnn-eval pred | value nll)" "$(awk -F '\t' 'NR > 1 { sum -= $6; n++ } END { print sum / n }' pred)" 1e-4
  done
}

@test "quantiles come back exactly: those of log are the exponentials of those of the logarithm" {
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = sprintf("%.17g", log($3)) } { print }' "$BATS_FILE_TMPDIR/train.tsv" >logs.tsv
  gpnn-index -y price --calibration-rows 0 -o logs.gpi logs.tsv
  fit --transform log | grep -v '^\(index\|#\)' >log.par
  grep -v '^transform' log.par >plain.par
  cut -f 1-2 "$BATS_FILE_TMPDIR/test.tsv" >inputs.tsv
  gpnn-predict -p log.par --interval 0.5,0.99 "$BATS_FILE_TMPDIR/t.gpi" inputs.tsv | cut -f 3- >a
  gpnn-predict -p plain.par --interval 0.5,0.99 logs.gpi inputs.tsv | cut -f 3- >b
  assert_equal "$(wc -l <a)" 201
  paste a b | awk 'NR > 1 { for (i = 1; i <= 4; i++) { r = log($i) - $(i + 4); if (r > 1e-8 || r < -1e-8) exit 1 } }'
}

@test "none is what a fit without the option does" {
  fit >a
  fit --transform none >b
  cmp a b
}

@test "auto chooses a transform that predicts better, and says so" {
  fit --transform auto >t.par
  read -r with none < <(sed -nE "s/^# transform: $(value transform t.par), NLL ([0-9.]+) in units of the target; none, /\1 /p" t.par)
  assert_below "$with" "$none"
  fit --transform none >none.par
  for way in none t; do
    gpnn-calibrate -q --with "$BATS_FILE_TMPDIR/test.tsv" "$BATS_FILE_TMPDIR/t.gpi" <$way.par |
      gpnn-predict -q -p - "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv" | gpnn-eval | value nll >$way.nll
  done
  assert_below "$(cat t.nll)" "$(cat none.nll)"
}

@test "much effort chooses a transform too, unless an option stands against it" {
  fit --effort thorough >t.par
  assert_equal "$(value transform t.par)" "$(fit --transform auto | value transform -)"
  for against in '--transform none' '--mean-function constant' '--fix noise=0.1' '--likelihood student'; do
    # shellcheck disable=SC2086 # options and their values
    fit --effort thorough $against >none.par
    assert_equal "$(grep -c '^transform' none.par)" 0
  done
}

@test "threads and batches change no byte" {
  fit -j 1 --transform auto >a
  fit -j 4 --transform auto >b
  cmp a b
  gpnn-predict -q -j 1 --batch 7 -p a "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv" >one
  gpnn-predict -q -j 4 -p a "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv" >four
  cmp one four
}

@test "of several targets each has its own transform, or none" {
  gpnn-fit -q "${quick[@]}" --transform asinh "$BATS_FILE_TMPDIR/two.gpi" >two.par
  assert_equal "$(grep -c '^transform' two.par)" 2
  sed '/^transform/{x;s/^/x/;/^xx$/{x;d;};x;}' two.par >one.par
  assert_equal "$(grep -c '^transform' one.par)" 1
  head -n 5 "$BATS_FILE_TMPDIR/all.tsv" >few.tsv
  gpnn-predict -q -p one.par "$BATS_FILE_TMPDIR/two.gpi" few.tsv >pred
  head -n 1 pred | grep -q 'logp_price'
  run ! grep -q 'logp_gain' pred
  gpnn-predict -q -p two.par "$BATS_FILE_TMPDIR/two.gpi" few.tsv >both
  assert_equal "$(column mean_price pred)" "$(column mean_price both)"
  assert_fails 1 "target 'gain': training row [0-9]+ of the index has -[0-9.]+, but a log transform needs positive targets" \
    gpnn-fit --transform log "$BATS_FILE_TMPDIR/two.gpi"
}

@test "units, latent, means only and training rows" {
  fit --transform log >t.par
  set -- -q -p t.par "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv"
  gpnn-predict "$@" >plain
  gpnn-predict --mean-only "$@" >mean
  assert_equal "$(column mean plain)" "$(column mean mean)"
  gpnn-predict --units standard "$@" >standard
  sd=$(gpnn-info "$BATS_FILE_TMPDIR/t.gpi" | value target-sd)
  paste <(column sd plain) <(column sd standard) |
    awk -v sd="$sd" '{ r = $1 / ($2 * sd) - 1; if (r > 1e-6 || r < -1e-6) exit 1 }'
  gpnn-predict --latent "$@" >latent
  paste <(column sd plain) <(column sd latent) | awk '!($2 < $1) { exit 1 }'
  gpnn-predict -q -p t.par --loo "$BATS_FILE_TMPDIR/t.gpi" >loo
  assert_equal "$(column price loo)" "$(column price "$BATS_FILE_TMPDIR/train.tsv")"
}

@test "an index with the search of such parameters keeps its targets" {
  cd "$BATS_FILE_TMPDIR"
  fit --transform log --ard yes >log.par
  gpnn-index -q --metric log.par -o metric.gpi t.gpi
  for what in fingerprint target-mean; do
    assert_equal "$(gpnn-info metric.gpi | grep "^$what")" "$(gpnn-info t.gpi | grep "^$what")"
  done
  gpnn-predict -p log.par metric.gpi test.tsv 2>err.txt | cmp - <(gpnn-predict -q -p log.par t.gpi test.tsv)
  [[ ! -s err.txt ]]
}

@test "a target that log does not take has no density, and cannot be calibrated on" {
  fit --transform log >t.par
  printf 'a\tb\tprice\n0.5\t0.5\t0\n0.5\t0.5\t9000\n' >zero.tsv
  gpnn-predict -q -p t.par "$BATS_FILE_TMPDIR/t.gpi" zero.tsv >pred
  assert_equal "$(column logp pred | head -n 1)" -inf
  assert_fails 1 "zero.tsv:2: column 'price': not positive, as the transform of the parameters needs: \"0\"" \
    gpnn-calibrate --with zero.tsv "$BATS_FILE_TMPDIR/t.gpi" <t.par
}

@test "advice is about the transformed target, and says so" {
  fit --transform log >t.par
  gpnn-simulate advise -p t.par "$BATS_FILE_TMPDIR/t.gpi" >original 2>err
  grep -q 'errors are those of the transformed target' err
  gpnn-simulate advise -p t.par --units standard "$BATS_FILE_TMPDIR/t.gpi" >standard 2>err
  run ! grep -q transformed err
  cmp original standard
}

@test "rows with known noise are not transformed" {
  awk -F '\t' -v OFS='\t' '{ print $0, NR == 1 ? "v" : 1 }' "$BATS_FILE_TMPDIR/train.tsv" >noisy.tsv
  gpnn-index -y price --row-noise v -o noisy.gpi noisy.tsv
  assert_fails 1 "target 'price': the rows have known noise variances" \
    gpnn-fit "${quick[@]}" --transform asinh noisy.gpi
  gpnn-fit -q "${quick[@]}" --transform auto noisy.gpi >t.par
  run ! grep -q '^transform' t.par
}

@test "a target with an offset is not transformed" {
  gpnn-index -y price --offset b -o offset.gpi "$BATS_FILE_TMPDIR/train.tsv"
  assert_fails 1 "target 'price': an offset adds to the target" \
    gpnn-fit "${quick[@]}" --transform asinh offset.gpi
  gpnn-fit -q "${quick[@]}" --transform auto offset.gpi >t.par
  run ! grep -q '^transform' t.par
}

@test "rows of the fit are calibrated on by fits of the same transform" {
  fit --transform log >t.par
  gpnn-calibrate -q --loo "$BATS_FILE_TMPDIR/t.gpi" <t.par >t.cal
  assert_equal "$(grep '^transform' t.cal)" "$(grep '^transform' t.par)"
  gpnn-predict -q -p t.cal --interval 0.9 "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv" >pred
  assert_near "$(awk -F '\t' 'NR > 1 { n++; inside += $1 > $4 && $1 < $5 } END { print inside / n }' pred)" 0.9 0.08
}

@test "a start brings its transform, unless another is asked for" {
  fit --transform log >t.par
  assert_equal "$(fit --start t.par | value transform)" log
  assert_equal "$(fit --start t.par --transform rank | value transform)" rank
  run ! grep -q '^transform' <(fit --start t.par --transform none)
}

@test "few, equal and wild targets are no reason to fail" {
  for n in 3 20; do
    head -n $((n + 1)) "$BATS_FILE_TMPDIR/train.tsv" >few.tsv
    gpnn-index -q -y price -o few.gpi few.tsv
    for transform in log asinh boxcox yeo-johnson rank auto; do
      gpnn-fit -q --transform $transform few.gpi >t.par
      gpnn-predict -q -p t.par few.gpi "$BATS_FILE_TMPDIR/test.tsv" >pred
      awk -F '\t' 'NR > 1 && !($2 + 0 > -1e6 && $2 + 0 < 1e6 && $3 + 0 < 1e6) { exit 1 }' pred
    done
  done
  awk -F '\t' -v OFS='\t' 'NR > 1 { $3 = NR == 9 ? 1e150 : NR % 2 } { print }' "$BATS_FILE_TMPDIR/train.tsv" >wild.tsv
  gpnn-index -q -y price -o wild.gpi wild.tsv
  for transform in asinh yeo-johnson rank auto; do
    gpnn-fit -q "${quick[@]}" --transform $transform wild.gpi >t.par
    gpnn-predict -q -p t.par wild.gpi "$BATS_FILE_TMPDIR/test.tsv" >pred
    run ! grep -qi 'nan\|inf' pred
  done
}

@test "wrong transforms are refused" {
  assert_fails 2 'option --transform: none, log, asinh, boxcox, yeo-johnson, rank or auto' \
    gpnn-fit --transform sqrt "$BATS_FILE_TMPDIR/t.gpi"
  assert_fails 2 'option --transform: applies to --method local only' \
    gpnn-fit --method conjugate --transform log "$BATS_FILE_TMPDIR/t.gpi"
  fit --transform log >t.par
  sed 's/^transform.*/transform log 1 0 1 2/' t.par >bad.par
  assert_fails 1 'bad.par:[0-9]+: transform: log: its sd is not positive' \
    gpnn-predict -p bad.par "$BATS_FILE_TMPDIR/t.gpi" "$BATS_FILE_TMPDIR/test.tsv"
}
