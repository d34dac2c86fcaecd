#!/usr/bin/env bats
# gpnn-predict --precision, on real rows.

load helper

# promised DATA TARGET NOISE: means agree within 1e-8 and variances within 1e-7 of themselves, in
# units of the target's standard deviation, with NOISE in the parameters.
promised() {
  gpnn-split -q -f 20:1 -o train.tsv -o test.tsv "$GPNN_ROOT/tests/data/$1.tsv.gz"
  gpnn-index -q -y "$2" --search flat -o d.gpi train.tsv
  printf '# gpnn parameters 1\nkernel\t%s\nlengthscale\t3\nkernelscale\t1\nnoise\t%s\nneighbours\t%s\n' \
    "$4" "$3" "$5" >d.par
  for precision in double mixed; do
    sed -n '1,150p' test.tsv |
      gpnn-predict -q --latent --units standard --precision "$precision" -p d.par d.gpi >"$precision.tsv"
  done
  paste <(column mean double.tsv) <(column mean mixed.tsv) \
    <(column sd double.tsv) <(column sd mixed.tsv) | awk '
    { d = $1 - $2; v = $4 * $4 / ($3 * $3) - 1
      if (d > 1e-8 || d < -1e-8 || v > 1e-7 || v < -1e-7) { print; bad = 1 } }
    END { exit bad || NR < 100 }'
}

@test "mixed precision is as close to double as promised on real rows" {
  promised bike cnt 0.1 exp 100
  run ! cmp -s double.tsv mixed.tsv # it is another computation
  promised protein RMSD 0.3 matern32 50
  run ! cmp -s double.tsv mixed.tsv
}

@test "mixed precision is as close to double on ill-conditioned covariances" {
  promised bike cnt 1e-4 rbf 60
  promised protein RMSD 1e-6 matern52 40
  promised poletele "$(zcat "$GPNN_ROOT/tests/data/poletele.tsv.gz" | sed -n 1p | awk -F '\t' '{ print $NF }')" 1e-5 exp 80
}

@test "threads and batches change nothing in mixed precision" {
  make_table 400 >train.tsv
  make_table 50 2 400 >test.tsv
  gpnn-index -q -y y -o d.gpi train.tsv
  gpnn-fit -q --effort fast -m 30 d.gpi >d.par
  gpnn-predict -q -j 1 --precision mixed -p d.par d.gpi test.tsv >one.tsv
  gpnn-predict -q -j 3 --batch 7 --precision mixed -p d.par d.gpi test.tsv >other.tsv
  cmp one.tsv other.tsv
}

@test "an unknown precision is refused" {
  assert_fails 2 "option --precision: double or mixed" gpnn-predict --precision single -p p i t
}
