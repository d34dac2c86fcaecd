#!/usr/bin/env bats
# What surrounds the tools changes no byte of what they write: locale, time zone, limits, the
# current directory, open files, and how the files they are given are named and reached.

load helper

setup_file() {
  mkdir "$BATS_FILE_TMPDIR/fixture" && cd "$BATS_FILE_TMPDIR/fixture" || return
  make_table 400 3 >train.tsv
  make_table 30 3 400 >test.tsv
  # All tools; the outputs go to the directory $1, made for them.
  cat >workflow <<'SH'
set -e
mkdir "$1"
gpnn-split -q --seed 3 -f 1:1 -o "$1/a" -o "$1/b" - <train.tsv
gpnn-index -q -m 20 -o "$1/t.gpi" train.tsv
gpnn-fit -q -m 20 --kernel exp --tune steps=5 "$1/t.gpi" >"$1/fit.par"
gpnn-calibrate -q "$1/t.gpi" <"$1/fit.par" >"$1/t.par"
gpnn-predict -q -j 2 --interval 0.9 "$1/t.gpi" -p "$1/t.par" test.tsv >"$1/pred.tsv"
gpnn-eval -q "$1/pred.tsv" >"$1/scores"
gpnn-info "$1/t.gpi" >"$1/info"
gpnn-plot predicted --script "$1/pred.tsv" >"$1/plot"
gpnn-simulate data -n 50 --kind function --function oakley >"$1/data"
SH
  sh workflow want
}

fixture() {
  cp -r "$BATS_FILE_TMPDIR"/fixture/. .
}

# assert_unmoved COMMAND...: the workflow that COMMAND starts writes what it always writes.
assert_unmoved() {
  rm -rf out
  "$@" sh workflow out </dev/null || complain "failed: $*" || return
  diff -r want out >/dev/null || complain "$(diff -rq want out)" "of: $*"
}

# A library that has the program it is loaded into begin with setlocale(), as clients of ours may.
make_setlocale() {
  cat >setlocale.c <<'C'
#include <locale.h>
#include <stdlib.h>
__attribute__((constructor)) static void begin(void)
{
  if (setlocale(LC_NUMERIC, "") == NULL || setlocale(LC_CTYPE, "") == NULL) abort();
}
C
  cc -shared -fPIC -o setlocale.so setlocale.c
}

@test "locales with decimal commas or a dotless i change nothing" {
  fixture
  mkdir locales
  for locale in de_DE.ISO-8859-1 tr_TR.ISO-8859-9; do
    localedef -i "${locale%.*}" -f "${locale#*.}" "$PWD/locales/$locale" 2>/dev/null ||
      skip 'needs localedef and its sources (package locales)'
  done
  export LOCPATH=$PWD/locales
  assert_equal "$(LC_ALL=de_DE.ISO-8859-1 bash -c 'printf %.1f 0,5')" 0,5
  make_setlocale
  for locale in de_DE.ISO-8859-1 tr_TR.ISO-8859-9; do
    assert_unmoved env LC_ALL=$locale
    for test in parameters records predictions metrics table stream; do
      env -u LC_ALL LC_NUMERIC=$locale LC_CTYPE=$locale LD_PRELOAD="$PWD/setlocale.so" \
        ASAN_OPTIONS=verify_asan_link_order=0 "$GPNN_BUILD/tests/test_$test" >out.txt 2>&1 ||
        complain "$locale: $(grep -v ' OK ' out.txt)"
    done
  done
}

@test "tools work with an empty environment and a nonsensical one" {
  fixture
  assert_unmoved env -i PATH="$GPNN_BUILD/bin:/usr/bin:/bin"
  assert_unmoved env -u HOME -u LANG -u LC_ALL -u TZ -u USER -u TERM -u TMPDIR
  assert_unmoved env HOME=/nowhere LANG=xx_YY LC_ALL=$'\e[31m' LANGUAGE=: TZ=:/etc/passwd COLUMNS=-1 \
    LINES=x TERM=$'\n' SHELL=/bin/false PWD=/nowhere IFS=. CDPATH=/ POSIX_ME_HARDER=1
  # Memory that is not what it seems to be.
  assert_unmoved env MALLOC_PERTURB_=165 MALLOC_ARENA_MAX=1
  env -i PATH=/nowhere "$GPNN_BUILD/bin/gpnn-predict" want/t.gpi -p want/t.par --interval 0.9 test.tsv |
    cmp - want/pred.tsv
}

@test "POSIXLY_CORRECT requires options before operands" {
  fixture
  export POSIXLY_CORRECT=1
  assert_fails 2 '^one operand too many: .want/t.par.$' gpnn-predict want/t.gpi -p want/t.par test.tsv
  gpnn-predict --interval 0.9 -p want/t.par want/t.gpi test.tsv | cmp - want/pred.tsv
}

@test "a stack of 256 KiB is enough for every thread" {
  fixture
  small() (
    ulimit -s 256
    "$@"
  )
  assert_unmoved small
}

@test "a stack of 64 KiB is enough where a table is learnt, predicted and scored" {
  ! nm "$GPNN_BUILD/bin/gpnn-info" | grep -qE '__(asan|tsan)_init' || skip 'sanitizers take more'
  make_table 100 2 >train.tsv
  make_table 20 2 100 >test.tsv
  (
    ulimit -s 64
    gpnn -q --effort fast -o want.tsv train.tsv test.tsv
    gpnn -q --effort fast -o got.tsv - test.tsv <train.tsv
    gpnn-eval got.tsv >scores.txt
  ) || complain "status $?"
  cmp want.tsv got.tsv
}

@test "tools work with any of the standard streams closed" {
  fixture
  predict() { gpnn-predict want/t.gpi -p want/t.par --interval 0.9 test.tsv "$@"; }
  for closed in '<&-' '2>&-' '<&- 2>&-'; do
    eval "predict $closed" >out.tsv
    cmp out.tsv want/pred.tsv
  done
  for closed in '>&-' '<&- >&-' '<&- >&- 2>&-'; do
    eval "predict -o out.tsv $closed"
    cmp out.tsv want/pred.tsv
    eval "gpnn-index -q -m 20 -o out.gpi train.tsv $closed"
    cmp out.gpi want/t.gpi
  done
}

@test "a current directory may be inaccessible or deleted" {
  fixture
  work=$PWD
  mkdir gone
  here() {
    gpnn-index -q -m 20 -o "$work/out.gpi" "$work/train.tsv"
    cmp "$work/out.gpi" "$work/want/t.gpi"
    gpnn-predict --interval 0.9 "$work/want/t.gpi" -p "$work/want/t.par" "$work/test.tsv" \
      -o "$work/out.tsv"
    cmp "$work/out.tsv" "$work/want/pred.tsv"
  }
  # Nothing can be made in /proc, whoever asks.
  for place in gone /proc; do
    cd $place
    [[ $place != gone ]] || rmdir ../gone
    here
    run -1 gpnn-index -o x.gpi "$work/train.tsv"
    assert_equal "$output" 'gpnn-index: x.gpi: cannot be created: No such file or directory'
  done
  cd "$work"
}

@test "a directory may be too deep to have a name" {
  fixture
  name=$(printf 'd%.0s' {1..255})
  work=$PWD
  for _ in {1..17}; do
    mkdir "$name"
    cd -P "$name" 2>/dev/null || skip 'the shell cannot go there'
  done
  cp "$work"/{train,test}.tsv "$work/want/t.par" .
  for _ in made replaced; do
    gpnn-index -q -m 20 -o t.gpi train.tsv
    cmp t.gpi "$work/want/t.gpi"
  done
  gpnn-predict --interval 0.9 t.gpi -p t.par test.tsv -o out.tsv
  gpnn-predict --interval 0.9 t.gpi -p t.par test.tsv -o out.tsv
  cmp out.tsv "$work/want/pred.tsv"
  assert_equal "$(ls -A | tr '\n' ' ')" 'out.tsv t.gpi t.par test.tsv train.tsv '
  cd "$work"
}

@test "file modes follow umask, or the file that is replaced" {
  fixture
  (
    umask 077
    assert_unmoved env
  )
  assert_equal "$(stat -c %a out/a out/t.gpi | tr '\n' ' ')" '600 600 '
  assert_equal "$(umask 027; gpnn-index -q -o new.gpi train.tsv; stat -c %a new.gpi)" 640
  chmod 604 new.gpi
  (umask 077; gpnn-index -q -o new.gpi train.tsv)
  assert_equal "$(stat -c %a new.gpi)" 604
  # What a umask keeps from ourselves, the work does without.
  (umask 777; gpnn-index -q -m 20 -o shut.gpi train.tsv)
  assert_equal "$(stat -c %a shut.gpi)" 0
  chmod 600 shut.gpi
  cmp shut.gpi want/t.gpi
}

@test "tables can be read from named and unnamed pipes and from /dev/stdin" {
  fixture
  mkfifo pipe
  cat train.tsv >pipe &
  gpnn-index -q -m 20 -o out.gpi pipe
  cmp out.gpi want/t.gpi
  gpnn-index -q -m 20 -o out.gpi /dev/stdin <train.tsv
  cmp out.gpi want/t.gpi
  cat test.tsv >pipe &
  gpnn-predict --interval 0.9 want/t.gpi -p <(cat want/t.par) pipe | cmp - want/pred.tsv
  gpnn-predict --interval 0.9 want/t.gpi -p /dev/fd/7 /dev/stdin 7<want/t.par <test.tsv |
    cmp - want/pred.tsv
  gpnn-eval <(gzip -c want/pred.tsv) | cmp - want/scores
  gpnn-split -q --seed 3 -f 1:1 -o a -o b <(cat train.tsv)
  cmp a want/a
  assert_fails 1 '^pipe: is a device or pipe, not a regular file' gpnn-index -o pipe train.tsv
  assert_fails 1 '^pipe: is a device or pipe, not a regular file' gpnn-fit pipe
  assert_fails 1 'is a device or pipe, not a regular file' gpnn-fit <(cat want/t.gpi)
}

@test "symbolic links are followed and remain, but must not dangle" {
  fixture
  mkdir elsewhere
  : >elsewhere/real.gpi
  ln -s elsewhere/real.gpi link.gpi
  ln -s ../link.gpi elsewhere/chain.gpi
  for output in link.gpi elsewhere/chain.gpi; do
    : >elsewhere/real.gpi
    gpnn-index -q -m 20 -o $output train.tsv
    [[ -L link.gpi && -L elsewhere/chain.gpi && ! -L elsewhere/real.gpi ]]
    cmp elsewhere/real.gpi want/t.gpi
    cmp $output want/t.gpi
  done
  ln -s circle circle
  ln -s ../nowhere/x dangling
  assert_fails 1 '^circle: cannot be created: Too many levels of symb' gpnn-index -o circle train.tsv
  assert_fails 1 '^circle: cannot be opened: Too many levels of symbolic links' gpnn-index -o x.gpi circle
  assert_fails 1 '^dangling: is a symbolic link that leads nowhere' gpnn-index -o dangling train.tsv
  assert_fails 1 '^dangling: is a symbolic link that leads nowhere' \
    gpnn-predict want/t.gpi -p want/t.par -o dangling test.tsv
  [[ -L dangling && -L circle ]]
  assert_equal "$(ls -A elsewhere | tr '\n' ' ')" 'chain.gpi real.gpi '
}

@test "file names may have any bytes, up to 255 of them, or only punctuation" {
  fixture
  longest=$(printf 'x%.0s' {1..255})
  for name in $'\xff\xfe\x80' $'new\nline' ' ' '-' '--help' '*' '%s%n' $'\e[2J' "'\"\$(id)" "$longest"; do
    cp train.tsv "./$name"
    gpnn-index -q -m 20 -o out.gpi "./$name"
    cmp out.gpi want/t.gpi
    gpnn-index -q -m 20 -o "./$name" train.tsv
    cmp "./$name" want/t.gpi
    gpnn-predict --interval 0.9 "./$name" -p want/t.par test.tsv | cmp - want/pred.tsv
    gpnn-predict --interval 0.9 want/t.gpi -p want/t.par test.tsv -o "./$name"
    cmp "./$name" want/pred.tsv
    rm "./$name" out.gpi
  done
  assert_equal "$(ls -A | tr '\n' ' ')" 'test.tsv train.tsv want workflow '
  # A path as long as can be.
  path=$PWD
  while ((${#path} < 3800)); do path+=/./././././././././.; done
  gpnn-index -q -m 20 -o "$path/out.gpi" "$path/train.tsv"
  cmp out.gpi want/t.gpi
}
