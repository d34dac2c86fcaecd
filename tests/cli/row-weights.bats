# gpnn-fit --row-weights: rows that the others contradict count for less.
load helper

# make_outliers ROWS SEED: a smooth function with small errors, but for one row in ten.
make_outliers() {
  awk -v n="$1" -v seed="$2" '
    function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
    BEGIN {
      srand(seed); OFS = "\t"; print "a", "b", "y"
      for (i = 0; i < n; i++) {
        a = rand(); b = rand()
        print a, b, sin(6 * a) + b * b + (rand() < 0.1 ? 2 : 0.1) * normal()
      }
    }'
}

# truth_error PARAMETERS: root mean squared difference of predicted means from the function.
truth_error() {
  gpnn-predict -q t.gpi -p "$1" test.tsv | tail -n +2 | paste <(tail -n +2 test.tsv) - |
    awk '{ off = $5 - sin(6 * $1) - $2 * $2; sum += off * off } END { print sqrt(sum / NR) }'
}

@test "weights bring predictions nearer to the function where errors have outliers" {
  make_outliers 1200 1 >train.tsv
  make_outliers 400 2 >test.tsv
  gpnn-index -q -o t.gpi train.tsv
  fit=(gpnn-fit --effort fast --kernel matern32 -m 40 t.gpi)
  "${fit[@]}" -q >no.par
  "${fit[@]}" -q --row-weights no | cmp - no.par
  "${fit[@]}" -q --row-weights yes >yes.par
  run -0 "${fit[@]}" -v --row-weights auto -o auto.par
  [[ $output == *"weights of rows: NLL lower by "*": used"* ]]
  gpnn-predict -q t.gpi -p auto.par test.tsv | cmp - <(gpnn-predict -q t.gpi -p yes.par test.tsv)
  awk -v with="$(truth_error yes.par)" -v without="$(truth_error no.par)" 'BEGIN {
    if (!(with < 0.9 * without)) { print with, without; exit 1 } }'
  gpnn-calibrate -q t.gpi <yes.par >yes.cal
  gpnn-calibrate -q t.gpi <no.par >no.cal
  nll() { gpnn-predict -q t.gpi -p "$1" test.tsv | gpnn-eval - | awk '$1 == "nll" { print $2 }'; }
  awk -v with="$(nll yes.cal)" -v without="$(nll no.cal)" 'BEGIN { exit !(with < without) }'
  gpnn-predict -q --loo t.gpi -p yes.cal >/dev/null
  gpnn-fit -q -j 3 --effort fast --kernel matern32 -m 40 --row-weights yes t.gpi | cmp - yes.par
}

@test "weights that gain nothing are not used" {
  make_table 400 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast t.gpi | gpnn-info - >no.par || true
  gpnn-fit -q --effort fast --row-weights auto t.gpi >auto.par
  if head -c 4 auto.par | grep -q GPI; then grep -aq ': used' auto.par; else grep -q ': not used' auto.par; fi
}

@test "weights are refused where there are none" {
  make_table 100 2 >train.tsv
  gpnn-index -q -o t.gpi train.tsv
  for option in "--likelihood gaussian" "--likelihood poisson" "--transform log" "--method conjugate" "--preset paper"; do
    # shellcheck disable=SC2086
    run -2 gpnn-fit --row-weights yes $option t.gpi
  done
  gpnn-fit -q --effort fast --row-weights yes t.gpi >t.par
  make_table 100 2 7 >other.tsv
  gpnn-index -q -o other.gpi other.tsv
  run -1 gpnn-predict other.gpi -p t.par train.tsv
  [[ $output == *"weights of the training rows are those of another index"* ]]
}
