# Counts: gpnn-fit --likelihood poisson|negbin, and what follows from its parameters.
load helper

# make_counts ROWS SEED [DISPERSION [RATE]]: rows whose counts have the mean RATE exp(2 sin(4 a) + b); Poisson,
# or negative binomial with this dispersion.
make_counts() {
  awk -v n="$1" -v seed="$2" -v r="${3:-0}" -v rate="${4:-1}" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
    function gamma(a, d, c, x, v) { # Marsaglia and Tsang, for a >= 1
      d = a - 1 / 3; c = 1 / sqrt(9 * d)
      while (1) {
        do { x = normal(); v = (1 + c * x) ^ 3 } while (v <= 0)
        if (log(1 - rand()) < 0.5 * x * x + d - d * v + d * log(v)) return d * v
      }
    }
    function poisson(mean, k, p, limit) {
      limit = exp(-mean); k = 0; p = 1
      do { k++; p *= rand() } while (p > limit)
      return k - 1
    }
    BEGIN {
      srand(seed); OFS = "\t"; print "a", "b", "n"
      for (i = 0; i < n; i++) {
        a = rand(); b = rand(); mean = rate * exp(2 * sin(4 * a) + b)
        if (r > 0) mean *= gamma(r) / r
        print a, b, poisson(mean)
      }
    }'
}

# make_counts_model ROWS SEED LIKELIHOOD [DISPERSION]: train.tsv, its index c.gpi, and parameters.
make_counts_model() {
  make_counts "$1" "$2" "${4:-0}" >train.tsv
  gpnn-index -q -o c.gpi train.tsv
  gpnn-fit -q --effort fast --kernel matern32 -m 30 --likelihood "$3" c.gpi >c.par
}

score() {
  gpnn-eval - | awk -v name="$1" '$1 == name { print $2 }'
}

@test "predictions of counts are as good as the law that drew them" {
  for r in 0 3; do
    likelihood=$([ $r = 0 ] && echo poisson || echo negbin)
    make_counts_model 1500 1 "$likelihood" $r
    make_counts 1000 2 $r >test.tsv
    gpnn-predict -q c.gpi -p c.par test.tsv >pred.tsv
    [ "$(head -n 1 pred.tsv)" = "n	mean	sd	logp	crps	pit" ]
    paste <(tail -n +2 test.tsv) <(tail -n +2 pred.tsv) | awk -v r=$r '
      function log_gamma(x, p) {
        p = 1
        while (x < 15) p *= x++
        return (x - 0.5) * log(x) - x + 0.9189385332046727 + 1 / (12 * x) - log(p)
      }
      {
        mean = exp(2 * sin(4 * $1) + $2); y = $3
        truth += r == 0 ? mean - y * log(mean) + log_gamma(y + 1) \
                        : log_gamma(y + 1) + log_gamma(r) - log_gamma(y + r) + r * log(1 + mean / r) + y * log(1 + r / mean)
        loss -= $7
        inside += $9 > 0.05 && $9 < 0.95
      }
      END {
        if (loss / NR > truth / NR + 0.03 || inside / NR < 0.86 || inside / NR > 0.96) {
          print loss / NR, truth / NR, inside / NR
          exit 1
        }
      }'
  done
}

@test "rare events are predicted as often as they happen" {
  for likelihood in poisson negbin; do
    make_counts 2000 3 0 0.005 >train.tsv
    make_counts 6000 4 0 0.005 >test.tsv
    gpnn-index -q -o c.gpi train.tsv
    gpnn-fit -q --kernel matern32 --effort fast --likelihood $likelihood c.gpi | gpnn-calibrate -q c.gpi >c.par
    gpnn-predict -q -p c.par c.gpi test.tsv >predicted.tsv
    # 59 and 166 events; of predictions that are right, the sum is off by 8 % of itself.
    awk -F '\t' '
      FNR == 1 { file++; for (j = 1; j <= NF; j++) at[$j] = j; next }
      file == 1 { events += $3; rows++; next }
      { told += $at["mean"]; seen += $at["n"]; loss -= $at["logp"]; if ($at["n"] > 1) exit 1 }
      END {
        rate = events / rows
        constant = rate * 6000 - seen * log(rate)
        if (told / seen > 1.35 || told / seen < 0.65 || loss > constant + 0.01 * 6000) { print told, seen, loss, constant; exit 1 }
      }' train.tsv predicted.tsv
  done
}

@test "a table without an event says so" {
  make_counts 100 1 0 1e-9 >train.tsv
  assert_fails 1 'the target does not vary: it is 0 in all rows to train on' gpnn-index -o c.gpi train.tsv
}

@test "the dispersion is found, and can be fixed" {
  make_counts_model 2000 1 negbin 3
  gpnn-info c.par | awk '$1 == "dispersion" { found = $2 } END { exit !(found >= 2 && found <= 4.5) }'
  [ "$(gpnn-info c.par | awk '$1 == "noise" { print $2 }')" = 0 ]
  gpnn-fit -q --effort fast --kernel rbf -m 30 --likelihood negbin --fix dispersion=7.5 c.gpi >f.par
  [ "$(gpnn-info f.par | awk '$1 == "dispersion" { print $2 }')" = 7.5 ]
  run -2 gpnn-fit --likelihood poisson --fix dispersion=2 c.gpi
  [[ $output == *"a dispersion needs --likelihood negbin"* ]]
}

@test "intervals of counts are between whole quantiles" {
  make_counts_model 800 1 poisson
  make_counts 300 2 >test.tsv
  gpnn-predict -q --interval 0.5,0.9 c.gpi -p c.par test.tsv >pred.tsv
  [ "$(head -n 1 pred.tsv)" = "n	mean	sd	lower50	upper50	lower90	upper90	logp	crps	pit" ]
  awk 'NR > 1 {
    for (i = 4; i <= 7; i++) if ($i !~ /^[0-9]+$/) exit 1
    if ($6 > $4 || $4 > $5 || $5 > $7) exit 1
    inside += $1 >= $6 && $1 <= $7
  } END { if (inside < 0.87 * (NR - 1)) { print inside; exit 1 } }' pred.tsv
}

@test "parameters of counts pass through pipes, and are the same bytes for any number of threads" {
  make_counts 600 1 >train.tsv
  make_counts 100 2 >test.tsv
  gpnn-index -q -o c.gpi train.tsv
  gpnn-fit -q -j 1 --effort fast --likelihood negbin c.gpi >one.par
  gpnn-fit -q -j 3 --effort fast --likelihood negbin c.gpi >three.par
  cmp one.par three.par
  gpnn-calibrate -q -j 1 c.gpi -p one.par >one.cal
  gpnn-calibrate -q -j 3 c.gpi <one.par | cmp - one.cal
  gpnn-predict -q -j 1 c.gpi -p one.cal test.tsv >pred.tsv
  gpnn-predict -q -j 3 --batch 7 c.gpi -p - test.tsv <one.cal | cmp - pred.tsv
  gzip -c one.cal | gpnn-predict -q c.gpi -p - test.tsv | cmp - pred.tsv
  gpnn-predict -q --unbuffered c.gpi -p one.cal test.tsv | cmp - pred.tsv
  gpnn-predict -q --keep a c.gpi -p one.cal test.tsv | cut -f 2- | cmp - pred.tsv
  gpnn-fit -q --effort fast --likelihood negbin c.gpi | gpnn-calibrate -q c.gpi |
    gpnn-predict -q c.gpi -p - test.tsv | cmp - pred.tsv
}

@test "samples of counts are counts, and have the means and variances of the predictions" {
  make_counts_model 800 1 negbin 4
  make_counts 3 2 >test.tsv
  gpnn-predict -q --samples 4000 c.gpi -p c.par test.tsv >pred.tsv
  awk 'NR > 1 {
    sum = squares = 0
    for (i = 7; i <= NF; i++) { if ($i !~ /^[0-9]+$/) exit 1; sum += $i; squares += $i * $i }
    n = NF - 6; mean = sum / n; sd = sqrt(squares / n - mean * mean)
    if ((mean / $2 - 1) ^ 2 > 0.01 || (sd / $3 - 1) ^ 2 > 0.02) { print mean, $2, sd, $3; exit 1 }
  }' pred.tsv
  gpnn-predict -q --samples 10 c.gpi -p c.par test.tsv | cut -f 1-16 | cmp - <(gpnn-predict -q -j 3 --samples 10 c.gpi -p c.par test.tsv)
}

@test "--latent predicts the logarithm of the mean" {
  make_counts_model 800 1 poisson
  make_counts 50 2 >test.tsv
  gpnn-predict -q --latent c.gpi -p c.par test.tsv >latent.tsv
  [ "$(head -n 1 latent.tsv)" = "n	mean	sd" ]
  paste <(tail -n +2 test.tsv) <(tail -n +2 latent.tsv) | awk '{
    off = ($5 - 2 * sin(4 * $1) - $2) / $6; sum += off * off
  } END { if (sum / NR > 3) { print sum / NR; exit 1 } }'
  run -2 gpnn-predict --units standard c.gpi -p c.par test.tsv
  [[ $output == *"counts have no other units than their own"* ]]
}

@test "training rows are predicted from the others" {
  make_counts_model 300 1 poisson
  gpnn-predict -q --loo c.gpi -p c.par >loo.tsv
  [ "$(head -n 1 loo.tsv)" = "row	n	mean	sd	logp	crps	pit" ]
  awk 'NR == FNR { truth[FNR - 1] = $3; next }
    FNR > 1 { n++; if ($2 != truth[$1]) exit 1; sum += ($6 > -20) }
    END { exit !(n == 270 && sum == n) }' train.tsv loo.tsv
}

@test "one row of neighbours, no rows and three rows are enough" {
  printf 'a\tn\n0\t1\n1\t5\n2\t0\n' >train.tsv
  gpnn-index -q --calibration-rows 0 -o c.gpi train.tsv
  for likelihood in poisson negbin; do
    gpnn-fit -q --likelihood $likelihood c.gpi >c.par
    printf 'a\n1\n1e6\n' | gpnn-predict -q c.gpi -p c.par >pred.tsv
    awk 'NR > 1 && !($1 > 0 && $1 < 1e3 && $2 > 0) { print; exit 1 } END { exit NR != 3 }' pred.tsv
    printf 'a\n' | gpnn-predict -q c.gpi -p c.par - | cmp - <(printf 'mean\tsd\n')
  done
}

@test "several targets: those that are no counts are fitted otherwise" {
  make_counts 400 1 | awk 'BEGIN { OFS = "\t" } NR == 1 { print $0, "x" } NR > 1 { print $0, $1 + 0.01 * (NR % 7) }' >train.tsv
  gpnn-index -q -y n,x -o c.gpi train.tsv
  run -0 gpnn-fit --effort fast --likelihood poisson c.gpi -o c.par
  [[ $output == *"target 'x': training row "*"but counts are whole numbers from 0 on; fitted with --likelihood local"* ]]
  gpnn-calibrate -q c.gpi -p c.par >c.cal
  gpnn-predict -q c.gpi -p c.cal train.tsv >pred.tsv
  [ "$(head -n 1 pred.tsv)" = "n	mean_n	sd_n	logp_n	crps_n	pit_n	x	mean_x	sd_x	df_x" ]
  gpnn-predict -q --targets x c.gpi -p c.cal train.tsv | cmp - <(cut -f 7-10 pred.tsv | sed '1s/_x//g')
  gpnn-predict -q --targets n c.gpi -p c.cal train.tsv | cmp - <(cut -f 1-6 pred.tsv | sed '1s/_n//g')
}

@test "what is no count is named" {
  printf 'a\tn\n0\t1\n1\t5.5\n2\t0\n3\t2\n' >train.tsv
  gpnn-index -q --calibration-rows 0 -o c.gpi train.tsv
  run -1 gpnn-fit --likelihood poisson c.gpi
  [[ $output == *"target 'n': training row 2 of the index has 5.5, but counts are whole numbers from 0 on"* ]]
  printf 'a\tn\n0\t1\n1\t5\n2\t1e300\n3\t2\n' >train.tsv
  gpnn-index -q --calibration-rows 0 -o c.gpi train.tsv
  run -1 gpnn-fit --likelihood poisson c.gpi
  [[ $output == *"target 'n': training row 3 of the index has 1e+300, too large for a count"* ]]
  printf 'a\tn\n0\t1\n1\t5\n2\t-3\n3\t2\n' >train.tsv
  gpnn-index -q --calibration-rows 0 -o c.gpi train.tsv
  run -1 gpnn-fit --likelihood negbin c.gpi
  [[ $output == *"training row 3 of the index has -3"* ]]
}

@test "options that counts do not take are refused" {
  make_counts 100 1 >train.tsv
  gpnn-index -q -o c.gpi train.tsv
  for option in "--transform log" "--preset paper" "--method conjugate" "--members 2" "--lengthscales own"; do
    # shellcheck disable=SC2086
    run -2 gpnn-fit --likelihood poisson $option c.gpi
  done
  run -2 gpnn-calibrate --adjust noise c.gpi -p train.tsv --loo --with x
  gpnn-fit -q --effort fast --likelihood poisson c.gpi >c.par
  run -1 gpnn-calibrate --adjust noise c.gpi -p c.par
  run -2 gpnn-predict --group a c.gpi -p c.par train.tsv
  [[ $output == *"--group cannot add up transformed targets or counts"* ]]
  run -1 gpnn-simulate advise c.gpi -p c.par
  [[ $output == *"counts"* ]]
}

@test "parameters of counts without their state, or with that of another index, are refused" {
  make_counts_model 200 1 negbin
  gpnn-info c.par >text.par
  run -1 gpnn-predict c.gpi -p text.par train.tsv
  [[ $output == *"text.par: target 'n': parameters of counts need the pseudo-targets"* ]]
  make_counts 200 5 >other.tsv
  gpnn-index -q -o other.gpi other.tsv
  run -1 gpnn-predict other.gpi -p c.par train.tsv
  [[ $output == *"c.par: target 'n': the pseudo-targets are those of another index"* ]]
}

@test "damaged states are refused" {
  make_counts_model 200 1 poisson
  size=$(stat -c %s c.par)
  for n in 10 30 900 1100 $((size / 2)) $((size - 1)); do
    head -c "$n" c.par >cut.par
    run -1 gpnn-predict c.gpi -p cut.par train.tsv
    [[ $output == *"cut.par"* ]]
    run -1 gpnn-info cut.par
  done
  { head -c 3000 c.par; printf x; tail -c +3002 c.par; } >bad.par
  cmp -s bad.par c.par || {
    run -1 gpnn-calibrate c.gpi -p bad.par
    [[ $output == *"checksum"* ]]
  }
  run -1 gpnn-predict c.gpi -p c.gpi train.tsv
  [[ $output == *"is an index, not parameters"* ]]
  run -1 gpnn-predict c.par -p c.par train.tsv
}

@test "a fit of counts can start from another" {
  make_counts_model 400 1 negbin 5
  gpnn-fit -q --effort fast --likelihood negbin --start c.par c.gpi >again.par
  awk 'NR == FNR { value[$1] = $2; next } $1 == "lengthscale" || $1 == "kernelscale" {
    if ($2 / value[$1] > 2 || $2 / value[$1] < 0.5) { print; exit 1 } }' \
    <(gpnn-info c.par) <(gpnn-info again.par)
}

@test "calibration widens predictions that are too sure" {
  make_counts_model 1500 1 poisson 4 # dispersed counts, taken for Poisson without noise
  gpnn-fit -q --effort fast --kernel matern32 -m 30 --likelihood poisson --fix noise=1e-6 c.gpi >c.par
  make_counts 800 2 4 >test.tsv
  gpnn-calibrate -q c.gpi -p c.par >c.cal
  gpnn-info c.cal | awk '$1 == "scale" { scale = $2 } END { exit !(scale > 1.2) }'
  before=$(gpnn-predict -q c.gpi -p c.par test.tsv | score nll)
  after=$(gpnn-predict -q c.gpi -p c.cal test.tsv | score nll)
  awk -v a="$after" -v b="$before" 'BEGIN { exit !(a < b) }'
  gpnn-calibrate -q --conformal 0.8 c.gpi -p c.par | gpnn-predict -q --interval 0.8 c.gpi -p - test.tsv |
    awk 'NR > 1 { inside += $1 >= $4 && $1 <= $5 } END { if (inside < 0.75 * (NR - 1)) { print inside; exit 1 } }'
}

@test "counts are proportional to their exposure" {
  make_counts 1200 1 | awk 'BEGIN { OFS = "\t"; srand(9) }
    NR == 1 { print "hours", $0; next }
    { hours = 1 + int(4 * rand()); n = 0; for (k = 0; k < $3; k++) n += rand() < hours / 4; print hours / 4, $1, $2, n }' >all.tsv
  gpnn-split -q -f 3:1 -o train.tsv -o test.tsv all.tsv
  gpnn-index -q -y n --exposure hours -o c.gpi train.tsv
  gpnn-fit -q --effort fast --kernel matern32 -m 30 --likelihood poisson c.gpi >c.par
  gpnn-calibrate -q c.gpi <c.par >c.cal
  gpnn-predict -q c.gpi -p c.cal test.tsv >pred.tsv
  paste <(tail -n +2 test.tsv) <(tail -n +2 pred.tsv) | awk '
    { mean = $1 * exp(2 * sin(4 * $2) + $3); off += (log($6) - log(mean)) ^ 2; loss -= $8 }
    END { if (sqrt(off / NR) > 0.2) { print sqrt(off / NR); exit 1 } }'
  # Twice the exposure is twice the mean, and log 2 more of f.
  awk 'BEGIN { FS = OFS = "\t" } NR > 1 { $1 *= 2 } 1' test.tsv >twice.tsv
  gpnn-predict -q c.gpi -p c.cal twice.tsv | cut -f 2 | paste - <(cut -f 2 pred.tsv) |
    awk 'NR > 1 && ($1 / $2 / 2 - 1) ^ 2 > 1e-20 { print; exit 1 }'
  gpnn-predict -q --latent c.gpi -p c.cal twice.tsv | cut -f 2 |
    paste - <(gpnn-predict -q --latent c.gpi -p c.cal test.tsv | cut -f 2) |
    awk 'NR > 1 && ($1 - $2 - log(2)) ^ 2 > 1e-20 { print; exit 1 }'
  gpnn-predict -q --loo c.gpi -p c.cal | awk 'NR > 1 { loss -= $5 } END { exit !(loss / (NR - 1) < 3) }'
  gpnn-calibrate -q --with test.tsv c.gpi -p c.par >with.cal
  cut -f 2- test.tsv >without.tsv
  run -1 gpnn-predict c.gpi -p c.cal without.tsv
  [[ $output == *hours* ]]
}

@test "the NLL of counts that gpnn expects is that of probabilities" {
  awk 'BEGIN { srand(3); print "x\ty"; for (i = 0; i < 300; i++) print rand() "\t" (rand() < .1) }' >c.tsv
  gpnn --effort fast --likelihood poisson c.tsv 2>report.txt
  grep -qE 'NLL 0\.[1-4]' report.txt
}

@test "a fit of counts that vary wildly is not judged by probabilities above 1" {
  awk 'BEGIN { srand(6); print "a\tn"; for (i = 0; i < 60; i++) print rand() "\t" (rand() < .25 ? 100000 : 0) }' >wild.tsv
  gpnn-index -q -o wild.gpi wild.tsv
  gpnn-fit -q -j 1 --effort fast --likelihood negbin wild.gpi >wild.par
  grep -qaE '^# counts: NLL [0-9]' wild.par
}
