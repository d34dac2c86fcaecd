#!/usr/bin/env bats
# Many processes write what one does, and a night is added whole or not at all.

load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 600 2 >train.tsv
  make_table 500 2 600 >rows.tsv
  gpnn-index -q -o t.gpi train.tsv
  gpnn-fit -q --effort fast --kernel exp -m 20 t.gpi | gpnn-calibrate -q t.gpi >t.cal
  gpnn-index --pack t.cal -o t.gpm t.gpi
  gpnn-predict -q t.gpm rows.tsv >one.tsv
}

fixture() {
  cp "$BATS_FILE_TMPDIR"/{rows.tsv,one.tsv,t.gpm} .
}

@test "GNU parallel cuts a file into pieces whose predictions are those of one process" {
  command -v parallel >/dev/null || skip 'GNU parallel is not installed'
  fixture
  for jobs in 1 2 5; do
    parallel --will-cite -k -j $jobs --pipe-part --header : --block 1k -a rows.tsv gpnn-predict -q -j 1 t.gpm |
      awk 'NR == 1 { names = $0; print } $0 != names' | cmp - one.tsv
  done
  # through a pipe as well
  parallel --will-cite -k -j 3 --pipe --header : -N 70 gpnn-predict -q -j 1 t.gpm <rows.tsv |
    awk 'NR == 1 { names = $0; print } $0 != names' | cmp - one.tsv
}

@test "nights that are scored at once under a lock are all there" {
  fixture
  local i
  for i in 1 2 3 4 5 6 7 8; do
    flock lock gpnn-eval -q --monitor h.tsv --night "2026-12-0$i" one.tsv &
  done
  wait
  assert_equal "$(column date h.tsv | paste -sd ' ')" "$(printf '2026-12-0%d\n' 1 2 3 4 5 6 7 8 | paste -sd ' ')"
}

@test "a night whose scoring is killed leaves the history as it was, or complete" {
  fixture
  local i
  gpnn-eval -q --monitor h.tsv --night 2026-12-01 one.tsv
  cp h.tsv before.tsv
  gpnn-eval -q --monitor h.tsv --night 2026-12-02 one.tsv
  cp h.tsv after.tsv
  for i in 0 1 2 3 4 5 6 8 10 15; do
    cp before.tsv h.tsv
    timeout -s KILL "0.0$(printf %02d "$i")" gpnn-eval -q --monitor h.tsv --night 2026-12-02 one.tsv || true
    cmp -s h.tsv before.tsv || cmp h.tsv after.tsv
  done
}

@test "a history that cannot be written stays as it was" {
  fixture
  gpnn-eval -q --monitor h.tsv --night 2026-12-01 one.tsv
  cp h.tsv before.tsv
  (ulimit -f 0 && trap '' XFSZ && assert_fails 1 'h.tsv' gpnn-eval -q --monitor h.tsv --night 2026-12-02 one.tsv)
  cmp h.tsv before.tsv
}
