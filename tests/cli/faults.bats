#!/usr/bin/env bats
# What happens to the tools: damaged files, full disks, readers that leave, signals.
# shellcheck disable=SC2154 # 'stderr' comes from bats

load helper

setup_file() {
  cd "$BATS_FILE_TMPDIR" || return
  make_table 3000 2 >train.tsv
  make_table 20 2 3000 >test.tsv
  printf '# gpnn parameters 1\nkernel\texp\nlengthscale\t0.8\nkernelscale\t1\nnoise\t0.05\nneighbours\t30\n' >t.par
  gpnn-index --search ivf -m 30 -o t.gpi train.tsv
  gpnn-info t.gpi | awk -F '\t' '$1 == "section" { print $2, $3, $4 }' >sections.txt
}

fixture() {
  cp "$BATS_FILE_TMPDIR"/{train.tsv,test.tsv,t.par,t.gpi,sections.txt} .
}

# flip OFFSET FROM TO: a copy of a file with one bit changed.
flip() {
  cp "$2" "$3"
  local byte
  byte=$(od -An -tu1 -j "$1" -N 1 "$2")
  printf '%b' "\\x$(printf %02x $((byte ^ 1 << ($1 % 8))))" |
    dd of="$3" bs=1 seek="$1" conv=notrunc status=none
}

# No file here but those named, not even a hidden one.
assert_files() {
  assert_equal "$(find . -type f -printf '%P\n' | sort | tr '\n' ' ')" "$(printf '%s\n' "$@" | sort | tr '\n' ' ')"
}

@test "an index truncated at any section boundary is refused" {
  fixture
  local length
  length=$(stat -c %s t.gpi)
  { echo 0 0 0; echo x 8 1; echo x 63 1; echo x 1000 24; cat sections.txt; } |
    while read -r _ offset size; do
      for at in "$offset" $((offset + size)) $((offset + size / 2)); do
        ((at < length)) || continue
        head -c "$at" t.gpi >cut.gpi
        assert_fails 1 '^cut.gpi: (is empty|truncated|damaged)' gpnn-info --verify cut.gpi || return
        assert_fails 1 '^cut.gpi: (is empty|truncated|damaged)' gpnn-predict cut.gpi -p t.par test.tsv || return
      done
    done
  { cat t.gpi; echo; } >more.gpi
  assert_fails 1 '^more.gpi: damaged: [0-9]+ bytes instead of' gpnn-fit more.gpi
}

@test "one flipped bit anywhere is found by --verify and crashes nothing" {
  fixture
  local length caught=0
  length=$(stat -c %s t.gpi)
  { echo header 20 1; echo table 100 1; cat sections.txt; } >places.txt
  while read -r tag offset size; do
    ((size > 0)) || continue
    for at in "$offset" $((offset + size / 3)) $((offset + size - 1)); do
      flip "$at" t.gpi flipped.gpi
      assert_fails 1 '^flipped.gpi: (damaged|has format)' gpnn-info --verify flipped.gpi || return
      local status=0
      gpnn-predict -q flipped.gpi -p t.par test.tsv >out.tsv 2>err.txt || status=$?
      ((status <= 1)) || complain "status $status: a bit at $at in $tag" "$(cat err.txt)" || return
      if ((status == 1)); then
        [[ ! -s out.tsv && $(wc -l <err.txt) == 1 ]] || complain "$(cat err.txt)" || return
        caught=$((caught + 1))
      elif [[ $tag != ROWS && $tag != YVAL && $tag != CAL? ]]; then
        complain "a bit at $at in $tag was not noticed" || return
      fi
    done
  done <places.txt
  ((caught >= 18))
  flip 0 t.gpi flipped.gpi # the magic
  assert_fails 1 '^flipped.gpi: is not an index' gpnn-fit flipped.gpi
}

@test "an index of an unknown version is refused" {
  fixture
  python3 - <<'PY' || skip 'needs python3'
import struct, zlib
b = bytearray(open('t.gpi', 'rb').read())
for at in range(8, 64, 4):
    if struct.unpack_from('<I', b, at)[0] == zlib.crc32(b[:at]):
        crc = at
b[8:12] = struct.pack('<I', 2)
b[crc:crc + 4] = struct.pack('<I', zlib.crc32(b[:crc]))
open('new.gpi', 'wb').write(b)
PY
  assert_fails 1 '^new.gpi: has format 2\.0, this program reads 1\.x' gpnn-fit new.gpi
  assert_fails 1 '^new.gpi: has format 2\.0' gpnn-info new.gpi
}

@test "a full disk is reported and leaves nothing behind" {
  fixture
  gpnn-predict t.gpi -p t.par test.tsv >pred.tsv
  for to in stdout device; do
    full() {
      if [[ $to == stdout ]]; then "$@" >/dev/full; else "$@" -o /dev/full; fi
    }
    for command in 'gpnn-fit --effort fast --kernel exp --ard no -m 30 t.gpi' 'gpnn-calibrate -q -p t.par t.gpi' 'gpnn-info t.gpi' \
      'gpnn-info t.par' 'gpnn-predict t.gpi -p t.par test.tsv' 'gpnn-eval pred.tsv'; do
      status=0
      # shellcheck disable=SC2086 # a command
      full $command 2>err.txt || status=$?
      assert_equal "$status" 1
      grep -qxE "${command%% *}: (\(stdout\)|/dev/full): cannot be written: No space left on device" err.txt ||
        complain "$(cat err.txt)"
    done
  done
  rm err.txt
  run -1 bash -c 'gpnn-fit --help >/dev/full'
  assert_equal "$output" 'gpnn-fit: (stdout): cannot be written: No space left on device'
  assert_fails 1 '^/dev/full: .*No space' gpnn-split -f 1:1 -o a -o /dev/full train.tsv
  assert_fails 1 '^/dev/full: .*No space' gpnn-split -f 1:1 -o /dev/full -o a - <train.tsv
  assert_fails 1 '^/dev/full: is a device' gpnn-index -o /dev/full train.tsv
}

@test "a full disk, or a reader that leaves, is met alike where the target is a class" {
  gpnn-simulate data --likelihood categorical -t kernelscale=9 -n 3000 >t.tsv
  gpnn-index -q -o t.gpi t.tsv
  gpnn-fit -q --kernel exp --ard no --rotate none --tune steps=20 -m 10 -o t.par t.gpi
  gpnn-predict -q -p t.par t.gpi t.tsv >pred.tsv
  for command in 'gpnn-fit -q --kernel exp --ard no --rotate none --tune steps=5 -m 10 t.gpi' \
    'gpnn-predict -q -p t.par t.gpi t.tsv' 'gpnn-predict -q -p t.par --top 2 t.gpi t.tsv' 'gpnn-info t.gpi' \
    'gpnn-info t.par' 'gpnn-eval pred.tsv' 'gpnn-eval --table roc pred.tsv'; do
    status=0
    # shellcheck disable=SC2086 # a command
    $command >/dev/full 2>err.txt || status=$?
    assert_equal "$status" 1
    assert_equal "$(cat err.txt)" "${command%% *}: (stdout): cannot be written: No space left on device"
    bash -c "{ $command; echo \$? >status; } 2>err.txt | head -n 1 >out"
    assert_equal "$(cat err.txt)" ''
    [[ $(cat status) =~ ^(0|1|141)$ ]] || complain "status $(cat status)"
  done
  rm err.txt status out
  export TMPDIR=$PWD
  mkfifo slow
  for signal in INT TERM; do
    bash -c "set -m; gpnn-predict t.gpi -p t.par -o x slow & echo \$! >pid; exec 3>slow; cat t.tsv >&3
             sleep 0.3; kill -$signal \$(cat pid); wait \$(cat pid); echo \$? >status" 2>/dev/null
    assert_equal "$(cat status)" $((128 + $(kill -l $signal)))
    rm pid status
    assert_files t.tsv t.gpi t.par pred.tsv
  done
}

@test "a full disk ends the run before the end of the input" {
  fixture
  for threads in 1 2; do
    mkfifo slow
    exec 7<>slow # open until the tool has ended
    head -n 300 train.tsv >&7
    status=0
    timeout 60 gpnn-predict -j $threads --batch 100 -p t.par t.gpi slow >/dev/full 2>err.txt || status=$?
    exec 7>&-
    rm slow
    assert_equal "$status" 1
    assert_equal "$(cat err.txt)" 'gpnn-predict: (stdout): cannot be written: No space left on device'
  done
}

@test "a limit on file size is reported and leaves nothing behind" {
  fixture
  export TMPDIR=$PWD
  limited() (
    ulimit -f 8 # units of 1024 bytes
    assert_fails "$@"
  )
  limited 1 '^x.gpi: cannot be written: File too large' gpnn-index -o x.gpi train.tsv
  limited 1 '^x.gpi: cannot be written: File too large' gpnn-index --metric t.par -o x.gpi t.gpi
  limited 1 '^x: cannot be written: File too large' gpnn-predict -o x t.gpi -p t.par train.tsv
  limited 1 '^[ab]: cannot be written: File too large' gpnn-split -f 1:1 -o a -o b train.tsv
  limited 1 'copy of standard input.*File too large' gpnn-split -f 1:1 -o a -o b - <train.tsv
}

@test "a small file system that fills up is reported" {
  fixture
  mkdir small
  mount -t tmpfs -o size=64k none small 2>/dev/null || skip 'cannot mount'
  status=0
  gpnn-index -o small/x.gpi train.tsv 2>err.txt || status=$?
  left=$(ls -A small)
  umount small
  assert_equal "$status" 1
  assert_equal "$(cat err.txt)" 'gpnn-index: small/x.gpi: cannot be written: No space left on device'
  assert_equal "$left" ''
}

@test "a directory that is not writable is reported" {
  fixture
  mkdir closed
  chmod 555 closed
  if ((EUID == 0)); then
    mount --bind closed closed 2>/dev/null || skip 'cannot mount'
    mount -o remount,bind,ro closed || { umount closed; skip 'cannot mount'; }
  fi
  status=0
  gpnn-index -o closed/x.gpi train.tsv 2>err.txt || status=$?
  gpnn-fit --effort fast -m 30 -o closed/x.par t.gpi 2>>err.txt || status+=$?
  ((EUID != 0)) || umount closed
  assert_equal "$status" 11
  grep -qE '^gpnn-index: closed/x.gpi: cannot be created: (Read-only|Permission)' err.txt
  grep -qE '^gpnn-fit: closed/x.par: cannot be created: (Read-only|Permission)' err.txt
  assert_fails 1 '^none/x.gpi: cannot be created: No such file' gpnn-index -o none/x.gpi train.tsv
  assert_fails 1 '^closed: is a directory' gpnn-index -o closed train.tsv
}

@test "the directory of an index is checked before the work, and no other" {
  fixture
  mkdir -- - # which a tool might take for its output
  gpnn-index -o x.gpi train.tsv
  printf 'x\ty\n1\tnone\n' >bad.tsv
  assert_fails 1 '^none/x.gpi: cannot be created: No such file' gpnn-index -o none/x.gpi bad.tsv
}

@test "a reader that closes the pipe causes no message and leaves nothing behind" {
  fixture
  export TMPDIR=$PWD
  awk 'NR == 1 { print; next } { for (i = 0; i < 10; i++) print }' train.tsv >big.tsv
  cp big.tsv in.tsv
  for command in 'gpnn-predict -q t.gpi -p t.par big.tsv' 'gpnn-split -f 1:1 -o - -o b big.tsv' \
    'gpnn-split -f 1:1 -o - -o b - <in.tsv'; do
    for ignore in : "trap '' PIPE"; do
      bash -c "$ignore; { $command; echo \$? >status; } 2>err | head -n 1 >out"
      assert_equal "$(cat err)" ''
      assert_equal "$(wc -l <out)" 1
      [[ $(cat status) == 1 || $(cat status) == 141 ]] || complain "status $(cat status)"
    done
  done
  rm err out status
  assert_files train.tsv test.tsv t.par t.gpi sections.txt big.tsv in.tsv
}

@test "closed standard streams are reported, and never confused with files" {
  fixture
  run -1 bash -c 'gpnn-info t.par >&-'
  assert_equal "$output" 'gpnn-info: (stdout): cannot be written: Bad file descriptor'
  run -1 bash -c 'gpnn-predict t.gpi -p - test.tsv <&-'
  [[ $output == 'gpnn-predict: (stdin): cannot be '*': Bad file descriptor' ]]
  # A warning must not end up in the index.
  awk -F '\t' -v OFS='\t' 'NR > 1 { $1 = 1 } 1' train.tsv >flat.tsv
  bash -c 'gpnn-index -o x.gpi flat.tsv <&- >&- 2>&-'
  gpnn-info --verify x.gpi | grep -qx $'verified\tyes'
}

# interrupt SIGNAL: stops gpnn-index at some moment; the old index is there, or a whole new one.
interrupt() {
  local signal=$1 delay=$2 pid
  # In the background of a script SIGINT is ignored, unless somebody says otherwise.
  env --default-signal=INT gpnn-index -m 30 -o t.gpi big.tsv 2>/dev/null &
  pid=$!
  sleep "$delay"
  kill "-$signal" $pid 2>/dev/null || :
  wait $pid 2>/dev/null || :
  if cmp -s t.gpi old.gpi; then
    n_old=$((n_old + 1))
    return
  fi
  cmp -s t.gpi new.gpi || complain "$signal after $delay s: neither old nor new"
}

@test "gpnn-index stopped while writing leaves the old index or the new one, complete" {
  fixture
  for ((i = 0; i < 12; i++)); do tail -n +2 train.tsv; done | cat <(head -n 1 train.tsv) - >big.tsv
  gpnn-index -m 30 -o new.gpi big.tsv
  mv t.gpi old.gpi
  local i round started took n_old=0
  started=$EPOCHREALTIME
  gpnn-index -m 30 -o t.gpi big.tsv
  took=$(awk -v a="$started" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
  # On a machine that was busy a moment ago all may be done in less.
  for ((round = 0; round < 6 && n_old == 0; round++)); do
    for i in {1..9}; do
      cp old.gpi t.gpi
      delay=$(awk -v t="$took" -v r="$round" -v i="$i" \
        'BEGIN { print t / 2 ^ r * (i < 4 ? i / 4 : 0.8 + (i - 4) * 0.05) }')
      interrupt INT "$delay"
      interrupt TERM "$delay"
      assert_files train.tsv test.tsv t.par t.gpi sections.txt big.tsv old.gpi new.gpi
      interrupt KILL "$delay" # may leave a temporary file, but never half an index
      rm -f .t.gpi.*
    done
  done
  ((n_old > 0)) # some were stopped
}

@test "tools stopped while waiting for input remove unfinished files" {
  fixture
  export TMPDIR=$PWD
  mkfifo slow
  ulimit -c 0
  for signal in INT TERM HUP QUIT USR1 XCPU; do
    for command in 'gpnn-predict t.gpi -p t.par -o x slow' 'gpnn-split -f 1:1 -o a -o b slow'; do
      # Job control gives the tool its own group and the default action of SIGINT.
      bash -c "set -m; $command & echo \$! >pid; exec 3>slow; cat test.tsv >&3; sleep 0.3
               kill -$signal \$(cat pid); wait \$(cat pid); echo \$? >status" 2>/dev/null
      assert_equal "$(cat status)" $((128 + $(kill -l $signal)))
      rm pid status
      assert_files train.tsv test.tsv t.par t.gpi sections.txt
    done
  done
}

@test "an output may be the input it was made from" {
  fixture
  sed 's/0\.8/1\t2/' t.par >ard.par
  gpnn-index --metric ard.par -o new.gpi t.gpi
  gpnn-index --metric ard.par -o t.gpi t.gpi
  cmp new.gpi t.gpi
  gpnn-calibrate -p ard.par t.gpi >new.par
  gpnn-calibrate -p ard.par -o ard.par t.gpi
  cmp new.par ard.par
  cp train.tsv in.tsv
  gpnn-split -f 1:1 -o a -o b in.tsv
  gpnn-split -f 1:1 -o in.tsv -o c in.tsv
  cmp a in.tsv
  cmp b c
  gpnn-predict --append t.gpi -p ard.par test.tsv >new.tsv
  gpnn-predict --append t.gpi -p ard.par test.tsv -o test.tsv
  cmp new.tsv test.tsv
}

@test "no output replaces an input of another kind" {
  fixture
  gpnn-predict t.gpi -p t.par -o pred.tsv test.tsv
  cp t.gpi ./-
  sha256sum -- * >before.sum
  ln -s train.tsv link
  ln train.tsv hard
  for command in 'gpnn-index -o train.tsv train.tsv' 'gpnn-index -o link train.tsv' \
    'gpnn-index -o hard train.tsv' 'gpnn-index -o train.tsv' 'gpnn-fit --effort fast -o ./- -' 'gpnn-index --metric t.par -o t.par t.gpi' \
    'gpnn-fit --effort fast -o t.gpi t.gpi' 'gpnn-fit --effort fast --like test.tsv -o test.tsv t.gpi' \
    'gpnn-calibrate -p t.par -o t.gpi t.gpi' 'gpnn-calibrate -p t.par --with test.tsv -o test.tsv t.gpi' \
    'gpnn-predict -p t.par -o test.tsv t.gpi test.tsv' 'gpnn-predict --keep x1 -p t.par -o train.tsv t.gpi' \
    'gpnn-predict -p t.par -o t.par t.gpi test.tsv' 'gpnn-predict -p t.par -o t.gpi t.gpi test.tsv' \
    'gpnn-eval -o pred.tsv pred.tsv' 'gpnn-plot pit -o pred.tsv --script pred.tsv' 'gpnn-info -o t.gpi t.gpi' \
    'gpnn-ask -p t.par -o test.tsv t.gpi test.tsv' 'gpnn-answer -p t.par --report full -o test.tsv t.gpi test.tsv' \
    'gpnn-simulate advise -p t.par -o t.gpi t.gpi'; do
    # shellcheck disable=SC2086 # words of a command
    assert_fails 2 'is an input, which would be overwritten' $command <train.tsv
  done
  rm link hard
  sha256sum --check --quiet before.sum
  # What is not a file, or not there, is told as always.
  assert_fails 1 'nothing.gpi: .*No such file or directory' gpnn-info -o nothing.gpi nothing.gpi
  gpnn-eval -o /dev/fd/1 /dev/fd/0 <pred.tsv | cmp - <(gpnn-eval pred.tsv)
}

@test "an index replaced while another tool reads it stays readable for that tool" {
  fixture
  mkfifo slow
  gpnn-predict t.gpi -p t.par test.tsv >before.tsv
  gpnn-predict t.gpi -p t.par slow >during.tsv 2>err.txt &
  exec 9>slow
  head -n 1 test.tsv >&9
  sleep 0.3
  gpnn-index -m 30 -o t.gpi test.tsv
  tail -n +2 test.tsv >&9
  exec 9>&-
  wait $! || complain "$(cat err.txt)"
  cmp before.tsv during.tsv
}

@test "an index replaced before its search is loaded stays readable too" {
  fixture
  mkfifo slow
  gpnn-predict t.gpi -p t.par test.tsv >before.tsv
  gpnn-predict t.gpi -p slow test.tsv >during.tsv 2>err.txt & # opens the index, then waits
  exec 9>slow
  sleep 0.3
  gpnn-index -m 30 -o t.gpi test.tsv
  cat t.par >&9
  exec 9>&-
  wait $! || complain "$(cat err.txt)"
  cmp before.tsv during.tsv || cmp during.tsv <(gpnn-predict -q t.gpi -p t.par test.tsv) # too slow to open the old
}

@test "running out of file descriptors is reported" {
  fixture
  limited() (
    ulimit -n 30
    assert_fails "$@"
  )
  limited 1 'cannot be created: Too many open files' gpnn-split -k 100 -o fold%d train.tsv
  gpnn-split -k 100 -o fold%d train.tsv
  assert_equal "$(cat fold* | wc -l)" 3100
}

@test "an output that is already open is written in place, never replaced" {
  fixture
  gpnn-predict t.gpi -p t.par test.tsv >pred.tsv
  gpnn-eval pred.tsv >want
  ln -s /dev/stdout link
  for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1 link; do
    printf 'before\n' >log
    (gpnn-eval -o $name pred.tsv && echo after) >>log
    cmp log <(echo before && cat want && echo after)
    (echo first && gpnn-eval -o $name pred.tsv && echo after) >log
    cmp log <(echo first && cat want && echo after)
    gpnn-eval -o $name pred.tsv | cmp - want
  done
  printf 'before\n' >log
  gpnn-eval -o /dev/fd/7 pred.tsv 7>>log
  cmp log <(echo before && cat want)
  gpnn-split -f 1:1 -o /dev/fd/7 -o /dev/null train.tsv 7>half >/dev/null
  assert_equal "$(head -n 1 half)" "$(head -n 1 train.tsv)"
  # Another program's file; and an index, which cannot be a stream.
  printf 'before\n' >other
  exec 8<other
  gpnn-eval -o /proc/$BASHPID/fd/8 pred.tsv 8>&-
  exec 8<&-
  cmp other <(echo before && cat want)
  printf 'before\n' >log
  run -1 --separate-stderr gpnn-index -o /dev/fd/7 train.tsv 7>>log
  [[ $stderr == 'gpnn-index: /dev/fd/7: is an open stream, not a name for a file' ]]
  assert_equal "$(<log)" before
  assert_fails 1 'cannot be created' gpnn-eval -o /dev/fd/77 pred.tsv
}
