#!/usr/bin/env bats
# Many threads, many processes: neither changes a byte.  scripts/threads and scripts/load do this, and
# more, at any length.

load helper

@test "neither threads nor the settings of OpenMP, the BLAS and malloc change a byte" {
  "$GPNN_ROOT/scripts/threads" 0
}

@test "readers of an index that is replaced over and over see the old one or the new" {
  READERS=3 REPLACEMENTS=12 "$GPNN_ROOT/scripts/load" replace
}

@test "where no thread can be had, a tool ends and leaves nothing" {
  gpnn-simulate data -j 1 --kind function --function waves --dimension 2 -n 300 >train.tsv
  gpnn-index -j 1 -m 20 -o t.gpi train.tsv
  printf 'kernel\texp\nlengthscale\t1\nkernelscale\t1\nnoise\t0.1\nneighbours\t20\n' >t.par
  export OMP_STACKSIZE=100000G # more than two of them have addresses
  gpnn-predict -j 4 -o out.tsv t.gpi -p t.par train.tsv 2>"$BATS_TEST_TMPDIR/err" && skip 'there are threads'
  assert_equal "$(find . -type f -printf '%P\n' | sort | tr '\n' ' ')" 't.gpi t.par train.tsv '
}
