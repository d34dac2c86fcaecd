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

# without K COMMAND...: where the k-th thread and further ones cannot be had; libgomp's count too.
without() {
  INJECT="thread $1+ EAGAIN" INJECT_REPORT=refused LD_PRELOAD=$GPNN_BUILD/tests/inject.so "${@:2}"
}

@test "if threads cannot be created, the existing ones do all the work" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_init || skip 'not with sanitizers'
  gpnn-simulate data -j 1 --kind function --function waves --dimension 2 -n 20000 >train.tsv
  gpnn-index -j 1 -m 20 -o tree.gpi train.tsv
  make_parameters exp 1 1 0.1 20 >t.par
  local command k
  for command in 'gpnn-simulate data -j 4 --kind function --function waves --dimension 2 -n 50000' \
    'gpnn-index -j 4 --search ivf -o x.gpi train.tsv' 'gpnn-index -j 4 -o x.gpi train.tsv' \
    'gpnn-fit -j 4 --kernel exp -m 20 --objective block --tune block-size=60 tree.gpi' \
    'gpnn-fit -j 4 --kernel exp -m 20 --objective-neighbours 32 --objective loo --tune steps=20 tree.gpi' \
    'gpnn-calibrate -j 4 -p t.par tree.gpi' 'gpnn-predict -j 4 -p t.par tree.gpi train.tsv'; do
    ${command/-j 4/-j 1} >expected
    [[ ! -e x.gpi ]] || mv x.gpi expected
    for k in 1 2; do
      rm -f refused
      without $k $command >got || complain "$command: status $?"
      [[ ! -e x.gpi ]] || mv x.gpi got
      [[ -s refused ]] || complain "$command: wanted no thread"
      cmp expected got || complain "$command"
    done
  done
}

@test "a fit starts its threads only once" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_init || skip 'not with sanitizers'
  gpnn-simulate data -j 1 --kind function --function waves --dimension 2 -n 300 >train.tsv
  gpnn-index -j 1 -m 20 -o t.gpi train.tsv
  local fit
  for fit in '--method conjugate -m 15' '--objective loo --kernel exp -m 20' \
    '--objective block --kernel exp --tune blocks=4 --tune block-size=60'; do
    without 100 gpnn-fit -j 2 $fit t.gpi >/dev/null
    [[ ! -s refused ]] || complain "$fit: more than a few are started"
  done
}

@test "threads have large enough stacks even if the program has a small one" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_init || skip 'not with sanitizers'
  gpnn-simulate data -j 1 --kind function --function waves --dimension 2 -n 300 >train.tsv
  gpnn-index -j 1 -m 20 -o t.gpi train.tsv
  gpnn-fit -j 1 --method conjugate -m 15 t.gpi >expected
  (ulimit -s 96 && gpnn-fit -j 3 --method conjugate -m 15 t.gpi >got) || complain "status $?"
  cmp expected got
}

@test "no loop of the library uses OpenMP, whose threads spin while waiting" {
  ! nm -u "$GPNN_BUILD/libgpnn.a" | grep -E 'GOMP_|__kmpc_fork' || complain 'a team is started'
}

@test "binding of OpenMP threads does not restrict the processors used" {
  make_table 50 >train.tsv
  local setting
  gpnn-index -v -o t.gpi train.tsv 2>&1 | grep -o 'threads .*' >expected
  for setting in OMP_PROC_BIND=true OMP_PLACES=cores; do
    env $setting gpnn-index -v -o t.gpi train.tsv 2>&1 | grep -o 'threads .*' >got
    cmp expected got || complain "$setting: $(<got), not $(<expected)"
  done
}
