# Numbers at the ends of what a number can be, and rows that are all alike.

load helper

# par [NAME=VALUE...]: parameters, with other values than the usual ones.
par() {
  printf '%s\n' kernel=matern32 lengthscale=0.5 kernelscale=1 noise=0.05 neighbours=20 "$@" |
    awk -F = '{ v[$1] = $2 } END { for (n in v) printf "%s\t%s\n", n, v[n] }'
}

# scaled FACTOR COLUMNS FILE: the table with these columns times a power of two, digits unchanged.
scaled() {
  awk -F '\t' -v factor="$1" -v columns="$2" '
    BEGIN { OFS = FS; n = split(columns, at, ",") }
    NR > 1 { for (i = 1; i <= n; i++) $at[i] = sprintf("%.17g", $at[i] * factor) }
    { print }' "$3"
}

# all_finite FILE: below the header there are numbers, and nothing else.
all_finite() {
  awk -F '\t' '
    NR > 1 { for (i = 1; i <= NF; i++) if ($i !~ /^-?[0-9.]+(e[-+]?[0-9]+)?$/) { print; exit 1 } }
    END { if (NR < 2) exit 1 }' "$1"
}

# no_negative NAME FILE
no_negative() {
  column "$1" "$2" | awk '$1 < 0 { exit 1 }'
}

pipeline() {
  gpnn-index -o t.gpi "$1"
  gpnn-fit --effort fast --kernel matern32 -m 20 t.gpi 2>fit.err | gpnn-calibrate t.gpi >t.par
  gpnn-predict --units standard -p t.par t.gpi "$2"
}

@test "units of inputs and targets change no digit of predictions" {
  make_table 120 2 >train.tsv
  make_table 30 2 120 >test.tsv
  pipeline train.tsv test.tsv >as.tsv
  all_finite as.tsv
  # 2^500 is about 1e150, 2^1000 about 1e301
  for factor in 3.2733906078961419e150 1.0715086071862673e301 9.332636185032189e-302; do
    scaled $factor 1,2 train.tsv >x.tsv
    scaled $factor 1,2 test.tsv >xt.tsv
    pipeline x.tsv xt.tsv | cut -f 2,3 >is.tsv
    cut -f 2,3 as.tsv | cmp - is.tsv
    scaled $factor 3 train.tsv >y.tsv
    scaled $factor 3 test.tsv >yt.tsv
    pipeline y.tsv yt.tsv | cut -f 2,3 >is.tsv
    cut -f 2,3 as.tsv | cmp - is.tsv
  done
}

@test "one lengthscale of any size, and any kernel, gives numbers" {
  make_table 60 2 >train.tsv
  make_table 5 2 60 >test.tsv
  sed -n 2,3p train.tsv >>test.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  for kernel in exp matern32 rbf matern:0.01 matern:100; do
    for lengthscale in 1e-300 1e-100 1e-12 1e12 1e100 1e300; do
      par kernel=$kernel lengthscale=$lengthscale >t.par
      gpnn-predict -p t.par t.gpi test.tsv >out.tsv
      all_finite out.tsv && no_negative sd out.tsv
    done
  done
}

@test "kernel scale and noise of any size and proportion give numbers" {
  make_table 60 2 >train.tsv
  make_table 5 2 60 >test.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  for scale in 1e-300 1 1e300; do
    for noise in 0 1e-300 1e-15 1e300; do
      par kernelscale=$scale noise=$noise >t.par
      for how in --precision=double --precision=mixed --share=8 --debias; do
        [[ $how == --debias && $scale$noise == 1e-3001e300 ]] && continue # 1e600 too much
        gpnn-predict $how -p t.par t.gpi test.tsv >out.tsv
        all_finite out.tsv && no_negative sd out.tsv
      done
    done
  done
}

@test "a prediction larger than any number is an error, not a number" {
  make_table 60 2 >train.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  par kernelscale=1e-300 noise=1e300 >t.par
  assert_fails 1 'the noise is too large relative to the kernel scale' \
    gpnn-predict --debias -p t.par t.gpi train.tsv
}

@test "a prediction that fails is reported with the lines of its batch" {
  awk 'BEGIN { print "a\tb\ty"; for (i = 1; i <= 60; i++) printf "%g\t%g\t%d\n", i * 1e9, -i * i * 1e8, i % 7 }' >train.tsv
  gpnn-index --standardise none --calibration-rows 0 -o t.gpi train.tsv
  par 'rotation=0.6 0.8 -0.8 0.6' 'lengthscale=1e-307 1' >t.par
  assert_fails 1 'train.tsv:2-61: .* not finite' gpnn-predict -p t.par t.gpi train.tsv
  assert_fails 1 'train.tsv:2-10: .* not finite' gpnn-predict --batch 9 -p t.par t.gpi train.tsv
  assert_fails 1 'train.tsv:2: .* not finite' gpnn-predict --unbuffered -p t.par t.gpi train.tsv
}

@test "huge noise leaves the mean of the target" {
  make_table 60 2 >train.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  par kernelscale=1e-300 noise=1e300 >t.par
  head -2 train.tsv | gpnn-predict --units standard -p t.par t.gpi >out.tsv
  assert_near "$(column mean out.tsv)" 0 1e-12
  assert_equal "$(column sd out.tsv)" 1e+150
}

@test "duplicates without noise are predicted within the targets, and jitter is reported" {
  make_table 100 2 >train.tsv
  sed -n 2,61p train.tsv >twins
  cat twins >>train.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  for kernel in exp matern52 matern:5 rbf; do
    for lengthscale in 0.05 0.3; do
      par kernel=$kernel lengthscale=$lengthscale noise=0 neighbours=15 >t.par
      gpnn-predict -p t.par t.gpi train.tsv >out.tsv 2>err.txt
      all_finite out.tsv
      grep -Eq '^gpnn-predict: 1[0-9][0-9] of the rows had a covariance that is not positive definite' err.txt
      column mean out.tsv | awk '$1 < 0 || $1 > 6 { print; exit 1 }'
    done
  done
}

@test "rows identical except for one can be indexed and predicted from" {
  { printf 'a\tb\ty\n' && awk 'BEGIN { for (i = 0; i < 3000; i++) print (i == 7) "\t1\t" i % 5 }'; } >t.tsv
  gpnn-index -o t.gpi t.tsv 2>err.txt
  grep -q '1 of 2 inputs do not vary and are dropped' err.txt
  par >t.par
  gpnn-calibrate -p t.par t.gpi >c.par
  printf 'a\tb\n0\t1\n1\t1\n' | gpnn-predict -p c.par t.gpi >out.tsv
  all_finite out.tsv
}

@test "the order of training rows and columns does not matter" {
  make_table 80 3 >train.tsv
  make_table 10 3 80 >test.tsv
  { head -1 train.tsv && sed 1d train.tsv | sort; } |
    awk -F '\t' '{ print $3 "\t" $1 "\t" $2 "\t" $4 }' >other.tsv
  gpnn-index --calibration-rows 0 -o t.gpi train.tsv
  gpnn-index --calibration-rows 0 -o o.gpi other.tsv
  par 'lengthscale=0.3 0.5 0.9' >t.par
  par 'lengthscale=0.9 0.3 0.5' >o.par
  gpnn-predict -q -p t.par t.gpi test.tsv >t.out
  gpnn-predict -q -p o.par o.gpi test.tsv >o.out
  paste t.out o.out | awk -F '\t' 'NR > 1 && (($2 - $5) ^ 2 > 1e-18 || ($3 - $6) ^ 2 > 1e-18) { exit 1 }'
}

@test "a duplicated row has one prediction, whatever surrounds it" {
  make_table 80 2 >train.tsv
  make_table 10 2 80 >test.tsv
  gpnn-index -o t.gpi train.tsv
  par >t.par
  gpnn-predict -p t.par t.gpi test.tsv | sed 1d >once.tsv
  { cat test.tsv && sed 1d test.tsv; } | gpnn-predict --batch 7 -p t.par t.gpi | sed 1d >twice.tsv
  cat once.tsv once.tsv | cmp - twice.tsv
}

@test "longitudes agree at a pole, and across the date line" {
  awk 'BEGIN { print "lat\tlon\ty"; for (i = 0; i < 200; i++)
    printf "%.4f\t%.4f\t%.4f\n", (i * 37) % 181 - 90, (i * 53) % 361 - 180, sin(i) }' >train.tsv
  gpnn-index --geo lat,lon -o t.gpi train.tsv
  par >t.par
  printf 'lat\tlon\n90\t0\n90\t123\n90\t-180\n-90\t5\n-90\t180\n10\t180\n10\t-180\n' |
    gpnn-predict -p t.par t.gpi | sed 1d | cut -f 1 >out
  assert_near "$(sed -n 2p out)" "$(sed -n 1p out)" 1e-12
  assert_near "$(sed -n 3p out)" "$(sed -n 1p out)" 1e-12
  assert_near "$(sed -n 5p out)" "$(sed -n 4p out)" 1e-12
  assert_near "$(sed -n 7p out)" "$(sed -n 6p out)" 1e-12
}

@test "columns that do not vary by more than rounding are reported" {
  printf 'x\ty\n1\t5\n2\t5\n3\t5\n' >t.tsv
  assert_fails 1 't.tsv: the target does not vary' gpnn-index -o t.gpi t.tsv
  printf 'x\ty\n9007199254740992\t1\n9007199254740993\t2\n9007199254740994\t3\n' >t.tsv
  assert_fails 1 't.tsv: no input varies' gpnn-index -o t.gpi t.tsv
  printf 'x\ty\n1\t1\n' >t.tsv
  assert_fails 1 't.tsv: 1 rows are too few' gpnn-index -o t.gpi t.tsv
}

@test "two rows are enough, and more neighbours than rows means all rows" {
  printf 'x\ty\n0\t1\n1\t3\n' >t.tsv
  gpnn-index -q -o t.gpi t.tsv
  for kernel in exp rbf; do
    gpnn-fit -q --kernel $kernel --effort fast -m 2000 t.gpi | gpnn-calibrate -q --loo t.gpi >t.par
    gpnn-predict -p t.par t.gpi t.tsv >out.tsv
    all_finite out.tsv
  done
}

@test "scores of errors of 1e200 and 1e-200 are scaled scores of errors of 1" {
  printf 'y\tmean\tsd\n1\t1.5\t0.5\n2\t2\t1\n4\t3\t2\n9\t9.25\t0.25\n' >t.tsv
  gpnn-eval t.tsv >as.txt
  for power in 200 -200; do
    sed "1!s/[0-9.]*/&e$power/g" t.tsv | gpnn-eval >is.txt
    for name in rmse mae crps width95 score50; do
      value $name is.txt | awk -v was="$(value $name as.txt)" -v unit=1e$power '
        { off = $1 / unit - was; exit !(off ^ 2 < 1e-24) }'
    done
    for name in r2 cal coverage50 pit_distance; do
      assert_near "$(value $name is.txt)" "$(value $name as.txt)" 1e-12
    done
    run ! grep -qi 'nan\|inf' is.txt
  done
}

@test "scores out of the range of numbers are missing" {
  printf 'y\tmean\tsd\n3e200\t1e200\t1e200\n' | gpnn-eval >out.txt
  assert_equal "$(value mse out.txt)" NA
  assert_equal "$(value r2 out.txt)" NA
  printf 'y\tmean\tsd\n3\t1\t1e-320\n' | gpnn-eval --na - >out.txt
  assert_equal "$(value nll out.txt)" -
  assert_near "$(value crps out.txt)" 2 1e-12
  assert_near "$(value coverage99 out.txt)" 0 0
}

@test "a standard deviation of zero is refused with its line" {
  printf 'y\tmean\tsd\n1\t1\t1\n1\t1\t0\n' >t.tsv
  assert_fails 1 't.tsv:3: .*not a positive number but 0, which has no likelihood' gpnn-eval t.tsv
}

@test "noise fixed so low that rounding loses it causes a warning from the fit" {
  make_table 60 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit --effort fast --kernel exp -m 20 --fix noise=1e-16 t.gpi 2>err.txt >t.par
  grep -q '^gpnn-fit: a noise of 1e-16 is lost in rounding' err.txt
  gpnn-fit --effort fast --kernel exp -m 20 --fix noise=1e-9 t.gpi 2>err.txt >t.par
  run ! grep -q 'lost' err.txt
}

@test "jitter added to covariances of duplicates is reported by the fit" {
  make_table 60 2 >once.tsv
  awk -v OFS='\t' '{ print } NR > 1 { print $1, $2, -$3 }' once.tsv >train.tsv
  gpnn-index -q --calibration-rows 0 -o t.gpi train.tsv
  local model=(--kernel exp --ard no --rotate none -m 20 --objective-neighbours 19)
  gpnn-fit "${model[@]}" --objective block --fix noise=1e-17 t.gpi 2>err.txt >t.par
  grep -q '^gpnn-fit: 1 of the blocks had a covariance that is not positive definite; up to ' err.txt
  local o
  for o in adam lbfgs; do
    gpnn-fit "${model[@]}" --objective loo --optimizer $o --tune steps=20 --fix noise=1e-17 t.gpi 2>err.txt >t.par
    grep -q '^gpnn-fit: 120 of the neighbourhoods had a covariance that is not positive definite; up to ' err.txt
    gpnn-fit "${model[@]}" --objective loo --optimizer $o --tune steps=20 t.gpi 2>err.txt >t.par
    run ! grep -q 'positive definite' err.txt
  done
  gpnn-fit "${model[@]}" --objective loo --mean-function linear --fix noise=1e-17 t.gpi 2>err.txt >t.par
  grep -Eq '^gpnn-fit: [1-9][0-9]* of the rows that the mean was estimated from had a covariance' err.txt
}

@test "parameters out of range are refused with the range" {
  make_table 60 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  assert_fails 2 'NU up to 100' gpnn-fit --kernel matern:1000 t.gpi
  par kernel=matern:1000 >t.par
  assert_fails 1 't.par:[0-9]: kernel: .*up to 100' gpnn-predict -p t.par t.gpi train.tsv
  par mean=linear 'coefficients=1 2 3' 'covariance=1 2 1 0 0 1' >t.par
  assert_fails 1 't.par: covariance: some combination' gpnn-predict -p t.par t.gpi train.tsv
  assert_fails 2 'excludes every neighbour of every row' gpnn-fit --objective loo --kernel exp --thin 1e6 t.gpi
}

@test "advice on a model without noise says that the NLL has no limit" {
  make_table 300 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  par noise=0 >t.par
  gpnn-simulate advise -q -p t.par t.gpi >out.tsv
  assert_equal "$(value nll-limit out.tsv)" NA
  run ! grep -Eqi '(nan|inf)$' out.tsv
}

@test "simulated errors have a standard error whatever their unit" {
  gpnn-simulate limits -n 1000 -m 5 --test 9 --true kernelscale=1e250 --true noise=1e250 >out.tsv
  column mse_se out.tsv | grep -q 'e+24[0-9]$'
  gpnn-simulate limits -n 1000 -m 5 --test 9 --true kernelscale=1e-250 --true noise=1e-250 >out.tsv
  column mse_se out.tsv | grep -q 'e-25[0-9]$'
}
