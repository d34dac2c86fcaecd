#!/usr/bin/env bats
# Files and names made to do harm do none: nothing is run, nothing commands the terminal, and the
# tools themselves are built to withstand what is overlooked.

load helper

readonly esc=$'\033' bell=$'\a'

# assert_shown FILE: it has no byte that could command a terminal, and is UTF-8.
assert_shown() {
  LC_ALL=C run ! grep -qP '[\x00-\x08\x0b-\x1f\x7f]' "$1"
  iconv -f UTF-8 -t UTF-8 "$1" >converted.txt || complain "$(od -c "$1" | head)"
  LC_ALL=C run ! grep -qP '\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1"
}

# Names that would command a terminal, or pass for a line of their own.
terminal_names() {
  printf '%s\0' "${esc}[2J${esc}]0;title$bell%s%n" $'\x9b31m\xff\xc2\x9b2J\xe2\x80\xaetxt' $'a\nkernel\tmatern12\r'
}

# Names that would have a shell, or gnuplot, run something.
command_names() {
  printf '%s\0' "\$(touch pwned)" "\`touch pwned\`" "|touch pwned" "<touch pwned" "-touch pwned" \
    "' . system('touch pwned') . '" "\" . system(\"touch pwned\") . \"" "!touch pwned" \
    $'@pwned\nsystem "touch pwned"\n' "; touch pwned;\\"
}

parameters() {
  printf '%s\n' $'kernel\tmatern32' $'lengthscale\t1' $'kernelscale\t1' $'noise\t0.1' $'neighbours\t20'
}

# ---- messages ---------------------------------------------------------------------------------

@test "file names reach a terminal only escaped" {
  make_table 60 >t.tsv
  gpnn-index -q -y y -o t.gpi t.tsv
  while IFS= read -r -d '' name; do
    for command in gpnn-index\ -o\ o.gpi gpnn-fit gpnn-calibrate gpnn-info gpnn-eval \
      gpnn-plot\ pit gpnn-split\ -f\ 1:1\ -o\ a\ -o\ b gpnn-predict\ t.gpi\ -p gpnn-simulate\ data; do
      # shellcheck disable=SC2086 # a tool and its options
      run ! $command "./$name" 2>err.txt </dev/null
      printf '%s\n' "$output" >>err.txt
      assert_shown err.txt
    done
    cp t.gpi "$name.gpi" 2>/dev/null || continue # one that no file can have
    gpnn-calibrate -v "./$name.gpi" 2>err.txt >/dev/null < <(parameters)
    assert_shown err.txt
  done < <(terminal_names)
  [[ ! -e pwned ]]
}

@test "options reach a terminal only escaped" {
  while IFS= read -r -d '' name; do
    for option in "--$name" "-$name" "--quiet=$name" "--seed=$name" "--output" "--delimiter=$name" \
      "--kernel=$name"; do
      status=0
      gpnn-fit "$option" x.gpi >err.txt 2>&1 || status=$?
      assert_equal $status 2
      assert_shown err.txt
      [[ $(cat err.txt) == 'gpnn-fit: '*"try 'gpnn-fit --help'"* ]] || complain "$(cat err.txt)"
    done
  done < <(terminal_names)
}

@test "tools report wrong options in their own words" {
  assert_fails 2 'no such option: "--sead"' gpnn-fit --sead=1 x.gpi
  assert_fails 2 'no such option: "-Z"' gpnn-fit -qZ x.gpi
  assert_fails 2 'more than one option begins so: "--s"' gpnn-fit --s 1 x.gpi
  assert_fails 2 'option --quiet: takes no value' gpnn-fit --quiet=1 x.gpi
  assert_fails 2 'option --seed: its value is missing' gpnn-fit --seed
  assert_fails 2 'option --seed: its value is missing' gpnn-fit -s
}

@test "names in a table reach a terminal only escaped" {
  while IFS= read -r -d '' name; do
    { printf '"%s",y\n' "${name//\"/\"\"}"; printf '%s\n' 1,2 2,3 x,4; } >t.csv
    run -1 gpnn-index -o o.gpi t.csv
    printf '%s\n' "$output" >err.txt
    assert_shown err.txt
    { printf '"%s",y\n' "${name//\"/\"\"}"; printf '%s\n' 1,2 2,4 3,4 4,7 5,6 6,9 7,8 8,8 9,9 10,9; } >t.csv
    gpnn-index -v --calibration-rows 0 -o o.gpi t.csv 2>err.txt
    gpnn-info o.gpi >info.txt
    gpnn-fit -v --mean-function linear --ard yes --kernel exp -m 3 --effort fast o.gpi >p.par 2>>err.txt
    for file in err.txt info.txt p.par; do assert_shown $file; done
    assert_equal "$(grep -cP '^kernel\t' p.par)" 1
  done < <(terminal_names)
}

@test "JSON is UTF-8, whatever the groups are called" {
  printf 'g\ty\tmean\tsd\na\xff\xc3(\xc3\xa9"\t1\t0\t1\n' | gpnn-eval --by g --json >out.json
  iconv -f UTF-8 -t UTF-8 out.json >/dev/null
  grep -qF '"by": "a\ufffd\ufffd(é\""' out.json
  printf 'g\ty\tmean\tsd\na\x01\x7f\xc2\x9b31m\\ \xc2\xa0\t1\t0\t1\n' |
    gpnn-eval --by g --json >out.json
  assert_equal "$(json out.json | value groups.0.by)" $'a\\u0001\\u007f\\u009b31m\\\\ \xc2\xa0'
}

# ---- files --------------------------------------------------------------------------------------

# The checksum of standard input, least byte first.
crc() {
  gzip -c | tail -c 8 | head -c 4
}

# put FILE OFFSET: standard input into the file.
put() {
  dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# part FILE OFFSET LENGTH
part() {
  tail -c +"$(($2 + 1))" "$1" | head -c "$3"
}

# reseal FILE SECTION: sets right the checksums that a change of the section made wrong.
reseal() {
  local entry offset length
  entry=$(LC_ALL=C grep -obUa "$2" "$1" | head -n 1 | cut -d : -f 1)
  read -r offset length < <(gpnn-info "$3" | awk -v tag="$2" '$1 == "section" && $2 == tag { print $3, $4 }')
  part "$1" "$offset" "$length" | crc | put "$1" $((entry + 24))
  part "$1" 64 1984 | crc | put "$1" 28
  part "$1" 0 60 | crc | put "$1" 60
}

@test "gpnn-info escapes the text of indexes and parameters" {
  make_table 60 >t.tsv
  gpnn-index -q -y y -o t.gpi t.tsv
  cp t.gpi bad.gpi
  offset=$(gpnn-info t.gpi | awk '$1 == "section" && $2 == "OPTS" { print $3 }')
  printf '\033[2J\rx\xff' | put bad.gpi "$offset"
  reseal bad.gpi OPTS t.gpi
  gpnn-info --verify bad.gpi >info.txt
  assert_shown info.txt
  grep -qF '?[2J?x?' info.txt
  printf '# a\033[2J\vb\ntarget\tx\033[2J\nkernel\tmatern32\nlengthscale\t1\nkernelscale\t1\nnoise\t1\n' >p.par
  gpnn-info p.par >info.txt
  assert_shown info.txt
  grep -qF '# a?[2J?b' info.txt
}

@test "an index truncated while in use is reported" {
  make_table 4000 >t.tsv
  gpnn-index -q -y y -o t.gpi t.tsv
  parameters >t.par
  mkfifo rows
  gpnn-predict t.gpi -p t.par rows >out.tsv 2>err.txt &
  local tool=$!
  exec 5>rows
  head -n 1 t.tsv >&5
  until grep -q t.gpi /proc/$tool/maps; do kill -0 "$tool"; done
  : >t.gpi
  tail -n +2 t.tsv >&5 2>/dev/null || :
  exec 5>&-
  local ended=0
  wait $tool || ended=$?
  assert_equal $ended 1
  grep -qx 'gpnn-predict: an index was cut short while it was in use, or cannot be read' err.txt ||
    complain "$(cat err.txt)"
}

@test "the copy of standard input has no name" {
  mkdir tmp
  mkfifo rows
  TMPDIR=$PWD/tmp gpnn-split -f 1:1 -o a.tsv -o b.tsv <rows &
  local tool=$!
  exec 5>rows
  make_table 5000 >&5
  until find /proc/$tool/fd -lname '*/tmp/gpnn-split.*deleted*' 2>/dev/null | grep -q .; do kill -0 "$tool"; done
  [[ -z $(ls tmp) ]]
  exec 5>&-
  wait $tool
  assert_equal "$(cat a.tsv b.tsv | wc -l)" 5002
}

# ---- gnuplot --------------------------------------------------------------------------------------

@test "a plot script executes nothing, whatever names it contains" {
  while IFS= read -r -d '' name; do
    local quoted=${name//\"/\"\"}
    { printf '"%s",mean,sd\n' "$quoted"; printf '%s\n' 1,2,1 2,2,1 3,1,2; } >p.csv
    { printf 'rows,value,by\n'; printf '%s\n' "1,2,\"$quoted\"" 2,1,b; } >c.csv
    gpnn-plot predicted --title "$name" --unit "$name" --script p.csv >p.gp
    gpnn-plot band -x 1 --xlabel "$name" --ylabel "$name" --script p.csv >b.gp
    gpnn-plot curve --by by --script c.csv >c.gp
    for script in p.gp b.gp c.gp; do
      assert_shown $script
      gnuplot $script >out.svg 2>/dev/null
      grep -q '^</svg>' out.svg || complain "$script $name"
    done
    # A name may stand where a user pastes it into a script of his own: as one string.
    run ! grep -nE "^[^']*(touch|pwned)" p.gp b.gp c.gp
  done < <(command_names)
  [[ ! -e pwned ]]
}

# ---- how the tools are built ----------------------------------------------------------------------

@test "every tool is hardened" {
  for tool in "$GPNN_BUILD"/bin/*; do
    readelf -hldW "$tool" >elf.txt
    grep -q 'Type: *DYN' elf.txt || complain "$tool: at a fixed address"
    grep -q 'GNU_RELRO' elf.txt || complain "$tool: tables stay writable"
    grep -qE 'BIND_NOW|FLAGS_1.* NOW' elf.txt || complain "$tool: links late"
    grep -qE 'GNU_STACK .* RW ' elf.txt || complain "$tool: its stack can be run"
    run ! grep -qE 'LOAD .* RWE ' elf.txt
    run ! grep -q 'TEXTREL' elf.txt
    readelf -sW --dyn-syms "$tool" | grep -q '__stack_chk_fail' || complain "$tool: no guard on the stack"
  done
}

@test "the user's compiler flags do not remove hardening" {
  for flags in '-O3 -march=native' -O0 '-g -O1'; do
    make -n -B -C "$GPNN_ROOT" V=1 SANITIZE= BUILD="$PWD/b" CFLAGS="$flags" LDFLAGS=-L/none \
      "$PWD/b/bin/gpnn-info" >make.txt
    grep -- '-c cmd/gpnn-info.c' make.txt | grep -- -fPIE | grep -q -- -fstack-protector-strong
    grep -- '-o .*bin/gpnn-info' make.txt | grep -- -pie | grep -q -- -z,now
    if [[ $flags == *-O0* ]]; then
      # it needs a compiler that optimises, and warns
      [[ -z $(grep -- '-c cmd/gpnn-info.c' make.txt | grep _FORTIFY_SOURCE=) ]]
    else
      grep -- '-c cmd/gpnn-info.c' make.txt | grep -q _FORTIFY_SOURCE=
    fi
  done
}
