#!/usr/bin/env bats
# What happens to the tools when calls fail: a part of scripts/faults, and of scripts/kills.

load helper

# faults LEAST ARGUMENT...: at least so many were met, and all as they should be.
faults() {
  local least=$1
  shift
  # What is loaded stands before the C library, and so does a sanitizer.
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -q __asan_init || skip 'not with sanitizers'
  "$GPNN_ROOT/scripts/faults" "$@" >report.txt || complain "$(cat report.txt)"
  # Had none of the calls been met, none could have failed.
  [[ $(tail -n 1 report.txt) =~ ^([0-9]+)' faults, 0 ' ]] && ((BASH_REMATCH[1] >= least))
}

@test "a system call that fails or is short is reported and leaves nothing behind" {
  faults 300 '(split/stdin|index/threads|index/pack|predict|info|plot|help) (read|write|copy|open|sync|rename|map|close|stat|child|poll|thread)'
}

@test "a failed allocation is reported and leaves nothing behind" {
  faults 60 -q '(split/stdin|index|predict|eval|plot) memory'
}

@test "a call that fails is reported where targets are classes or counts" {
  faults 200 -q '(index/classes|predict/classes|predict/counts) (read|write|sync|rename|map|memory)'
}

@test "a tool killed before any system call leaves the old file or the new one, complete" {
  faults 60 'split any'
}

@test "gpnn-index killed at random moments leaves the old index or the new one, complete" {
  "$GPNN_ROOT/scripts/kills" 20
}

# Were there fewer calls, a file would be named before its bytes are on disk, or never for sure.
@test "a file is synced before it is renamed, and its directory afterwards" {
  faults 24 '(index|split|predict) sync'
  for n in '6 index' '12 split' '6 predict'; do
    grep -qE "^${n#* } .* ${n% *}\$" report.txt || complain "not $n:" "$(cat report.txt)"
  done
}

@test "calls of gpnn fail, and those with which its steps start and end" {
  faults 40 -q 'gpnn (child|sync)'
}

@test "a report of gpnn for which there is no memory is a failure" {
  ! nm "$GPNN_BUILD/bin/gpnn" | grep -q __asan_init || skip 'not with sanitizers'
  make_table 60 2 >train.tsv
  local k=0 failed=0 status
  while k=$((k + 1)); rm -f met; do
    status=0
    INJECT="memstream $k ENOMEM" INJECT_REPORT=met LD_PRELOAD=$GPNN_BUILD/tests/inject.so \
      gpnn -j 1 --effort fast --kernel exp -m 10 train.tsv 2>err.txt || status=$?
    [[ -s met ]] || break
    ((status > 0)) || continue # the command of a hint, which may be left out
    [[ "$status: $(tail -n 1 err.txt)" =~ ^'1: gpnn: not enough memory for '(a command|the report)$ ]] ||
      complain "status $status" "$(cat err.txt)"
    [[ ${BASH_REMATCH[1]} != 'the report' ]] || failed=$((failed + 1))
  done
  assert_equal "$status" 0
  ((failed > 3))
}
