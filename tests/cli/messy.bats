#!/usr/bin/env bats
# Tables as people have them: each can be used after at most one message, which says how.

load helper

messy=$GPNN_ROOT/tests/data/messy

# The files, with the rows and inputs that they should give, and options that only a person can
# know: "FILE ROWS INPUTS OPTION...".
tables() {
  sed -n 's/^| `\([^`]*\)` *| \([0-9]*\) *| \([0-9]*\) *| `*\([^|`]*\)`* *|.*/\1 \2 \3 \4/p' \
    "$messy/README.md"
}

# The command that a report in the file $1 ends with, without its indentation; nothing if it has none.
printed_command() {
  sed -n 's/^    \(gpnn-index .*\)/\1/p' "$1"
}

# index_once FILE OPTION...: indexes FILE as x.gpi with at most the one corrected command that the
# first message printed, and keeps the first message in first.txt.  later.txt gets the options that
# later tools need again: those about the file rather than about how values are written.
index_once() {
  local file=$1 command status=0
  shift
  rm -f x.gpi
  : >later.txt
  gpnn-index "$@" -o x.gpi "$file" 2>first.txt || status=$?
  command=$(printed_command first.txt)
  if [[ -n $command ]]; then
    # As it would be pasted into a shell.
    bash -c "$command" 2>second.txt || complain "of: $command" "$(<second.txt)" || return
    grep -oE -- '--(skip-bad|skip-lines [0-9]+|no-header)' <<<"$command" | paste -sd ' ' >later.txt
  fi
  [[ -e x.gpi ]] || complain "$file: status $status, and no command in:" "$(<first.txt)"
}

@test "the collection is described, file by file, and small" {
  assert_equal "$(tables | cut -d ' ' -f 1 | sort)" \
    "$(find "$messy" -type f ! -name README.md -printf '%f\n' | sort)"
  (($(tables | wc -l) >= 15)) || complain "only $(tables | wc -l) tables"
  (($(cat "$messy"/* | wc -c) < 1000000)) || complain "too large"
}

@test "each messy table is indexed after at most one message, with the rows and columns it has" {
  local file rows inputs options
  cp "$messy"/* .
  while read -r file rows inputs options; do
    # shellcheck disable=SC2086 # options are words
    index_once "$file" $options || return
    gpnn-info x.gpi >info
    assert_equal "$file: $(($(value rows info) + $(value calibration-rows info))) rows" \
      "$file: $rows rows" || return
    assert_equal "$file: $(value inputs info) inputs" "$file: $inputs inputs" || return
  done < <(tables)
}

@test "--auto makes the same index of each as the command that it prints" {
  local file rows inputs options
  cp "$messy"/* .
  while read -r file rows inputs options; do
    # shellcheck disable=SC2086
    index_once "$file" $options || return
    # shellcheck disable=SC2086
    gpnn-index --auto $options -o auto.gpi "$file" 2>auto.txt || return
    cmp x.gpi auto.gpi || complain "$file:" "$(<auto.txt)" || return
    assert_equal "$(printed_command auto.txt)" \
      "$(printed_command first.txt | sed 's/x\.gpi/auto.gpi/')" || return
  done < <(tables)
}

@test "rows of the messy tables are predicted without telling again how they are written" {
  local file rows inputs options later
  cp "$messy"/* .
  while read -r file rows inputs options; do
    # shellcheck disable=SC2086
    index_once "$file" $options || return
    # Classes are not predicted from parameters of numbers.
    ! gpnn-info x.gpi | grep -q '^class' || continue
    make_parameters matern32 1 1 0.1 20 >x.par
    read -r later <later.txt || :
    # shellcheck disable=SC2086
    gpnn-predict -q $later x.gpi -p x.par "$file" >out.txt || return
    (($(grep -cv 'mean\|NA' out.txt) >= rows)) ||
      complain "$file: fewer than $rows predictions" || return
  done < <(tables)
}

@test "a messy table from a pipe gets the same advice, and --auto the same index" {
  gpnn-index -o x.gpi "$messy/housing.csv" 2>file.txt || :
  gpnn-index -o x.gpi 2>pipe.txt < <(cat "$messy/housing.csv") || :
  assert_equal "$(printed_command pipe.txt)" \
    "$(printed_command file.txt | sed 's, [^ ]*/housing.csv$,,')"
  cat "$messy/housing.csv" | bash -c "$(printed_command pipe.txt)" 2>/dev/null
  cat "$messy/housing.csv" | gpnn-index -q --auto -o auto.gpi
  cmp x.gpi auto.gpi
  gpnn-index -q --auto -o auto.gpi <"$messy/housing.csv"
  cmp x.gpi auto.gpi
  gpnn-index -q --auto -o auto.gpi <(gzip <"$messy/housing.csv")
  cmp x.gpi auto.gpi
  assert_equal "$(ls)" "$(printf '%s\n' auto.gpi file.txt pipe.txt x.gpi)"
}

@test "--auto leaves a clean table as it is, and says nothing more" {
  make_table 300 3 >t.tsv
  gpnn-index -o plain.gpi t.tsv 2>plain.txt
  gpnn-index --auto -o auto.gpi t.tsv 2>auto.txt
  cmp plain.gpi auto.gpi
  cmp plain.txt auto.txt
}

@test "-q silences what --auto does, and --json has it as a command" {
  gpnn-index -q --auto -o x.gpi "$messy/plant.csv" 2>err.txt
  assert_equal "$(<err.txt)" ''
  gpnn-index --json --auto -o x.gpi "$messy/plant.csv" 2>err.txt
  python3 -c 'import json, sys; print(json.load(sys.stdin)["command"])' <err.txt |
    grep -qx 'gpnn-index --json -o x.gpi --decimal , .*/plant.csv'
}

@test "a column that the notation makes numbers is no column with another decimal mark" {
  printf 'u;price;y\n' >t.csv
  for i in {10..29}; do printf '1,5%s;$0,25%s;2,%s\n' "$i" "$i" "$i"; done >>t.csv
  printf '1,5;$0,3;-\n' >>t.csv
  run gpnn-index -y y --decimal , --strip '$' --na=- -o x.gpi t.csv
  [ "$status" -eq 1 ]
  [[ $output == "gpnn-index: t.csv:22: column 'y': missing value"* ]]
  [[ $output != *--drop* ]]
}

# ---- a header that is one name short ----------------------------------------------------------

# rows N: two inputs and a target that depends on them.
rows() {
  awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print i / n, i * i % 7, i / n + i * i % 7 / 10 }'
}

@test "R leaves out the name of the column of row names" {
  { echo '"x" "z" "y"' && rows 60 | awk '{ print "\"" NR "\" " $0 }'; } >r.txt
  { echo 'x z y' && rows 60; } >plain.txt
  gpnn-index --auto -o r.gpi r.txt
  gpnn-index -o plain.gpi plain.txt
  assert_equal "$(gpnn-info r.gpi | grep -E '^(input|target|rows)')" \
    "$(gpnn-info plain.gpi | grep -E '^(input|target|rows)')"
  gpnn-fit -q --effort fast plain.gpi >p.par
  gpnn-fit -q --effort fast r.gpi | gpnn-predict -q r.gpi r.txt |
    cmp - <(gpnn-predict -q plain.gpi -p p.par plain.txt)
  # Names of rows that are texts, with tabs, where the blanks are no delimiter.
  { printf 'x\tz\ty\n' && rows 60 | awk '{ print "car " NR, $1, $2, $3 }' OFS='\t'; } >r.tsv
  gpnn-index --auto -o r.gpi r.tsv
  assert_equal "$(value inputs <(gpnn-info r.gpi))" 2
}

@test "rows may end with a delimiter that the header lacks" {
  { echo 'x,z,y' && rows 60 | sed 's/ /,/g; s/$/,/'; } >ends.csv
  index_once ends.csv
  gpnn-info x.gpi >info
  assert_equal "$(value inputs info) $(value target info)" '2 y'
}

@test "a header that lacks another name is an error" {
  # The first column holds measurements: the name that is missing may be any.
  { echo 'x z' && rows 60; } >short.txt
  assert_fails 1 '^short.txt:2: has 3 fields, the header has 2' gpnn-index -o x.gpi short.txt
}

@test "inputs that were named are not dropped, and advice that was followed is not given again" {
  for i in {1..60}; do echo "k$i,$i,$((i % 7)),$((i % 13 == 5 ? 0 : i % 11)),$((i * i % 17))"; done |
    sed '1i name,id,a,b,y' | awk -F, -v OFS=, 'NR % 9 == 3 { $5 = "." } { print }' >t.csv
  assert_fails_all() { gpnn-index --auto "$@" -o t.gpi t.csv 2>err && complain 'no failure'; [[ ! -e t.gpi ]]; }
  assert_fails_all --na . -x name,a,b
  grep -q "'name' is named by -x, but cannot be an input as it is: leave it out of -x" err
  gpnn-index --auto --na . -x id,a,b -y y -o t.gpi t.csv 2>err
  assert_equal "$(gpnn-info t.gpi | value inputs)" 3
  sed -n 's/^    //p' err >again.sh
  grep -q 'skip-bad' again.sh
  sed 's/gpnn-index/gpnn-index --auto/' again.sh | bash 2>err
  run ! grep -q 'the same, spelled out' err
}

@test "dates whose month stands between numbers are known for dates" {
  printf 'when\tb\ty\n' >t.tsv
  for day in 26MAY2020 27MAY2020 28MAY2020 29MAY2020 01JUN2020; do printf '%s\t%s\t3\n' $day "${day:0:1}"; done >>t.tsv
  run ! gpnn-index -o t.gpi t.tsv
  [[ $output == *"--date 'when=%d %b %Y'"* ]]
}

@test "titles that fill few of a row's cells, as sheets have them, are no names" {
  for title in 'Sales of 2020,,' $'"Sales, all",,\r' $'Sales,,\n,,' $'Sales,,\n\nmade by,me,'; do
    { printf '%s\n' "$title" && make_table 60 2 | tr '\t' ,; } >t.csv
    n=$(($(wc -l <t.csv) - 61))
    gpnn-index --auto -o t.gpi t.csv 2>err.txt
    grep -q -- "--skip-lines $n t.csv" err.txt || complain "of $title:" "$(<err.txt)"
    assert_equal "$(warnings err.txt | wc -l)" 3
    gpnn-index -q -o want.gpi <(make_table 60 2)
    assert_equal "$(gpnn-info t.gpi | value fingerprint)" "$(gpnn-info want.gpi | value fingerprint)"
  done
  # Names may be missing all the same.
  printf 'a,b,y,\n1,2,3,4\n2,3,4,5\n5,7,6,6\n' >t.csv
  run -0 --separate-stderr gpnn-index -o t.gpi -y y t.csv
  # shellcheck disable=SC2154 # comes from bats
  [[ $stderr != *skip-lines* ]]
}

@test "what may repeat in dates depends on what they say" {
  says() {
    awk -v OFS=, -v cell="$1" 'BEGIN {
      print "when,b,y"
      for (i = 1; i <= 60; i++) {
        text = cell
        gsub("DD", sprintf("%02d", i % 28 + 1), text)
        gsub("MM", sprintf("%02d", i % 12 + 1), text)
        print text, i % 7, i * i
      }
    }' >t.csv
    gpnn-index --auto -o t.gpi t.csv 2>&1 | sed -n "s/.*said by, say, --period //p"
  }
  assert_equal "$(says 2020-MM-DD)" when=year,when=week
  assert_equal "$(says '2020-MM-DD MM:DD')" when=year,when=day
  assert_equal "$(says MM:DD)" when=day
}
