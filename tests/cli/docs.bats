#!/usr/bin/env bats
# The documentation: examples run and do what they show, options and defaults are those of
# --help, nothing is missing.

load helper

# examples_of PAGE: runs the examples of a page of this project where they expect to be: beside
# the data sets and two small tables.
examples_of() {
  cp "$GPNN_ROOT"/tests/data/*.tsv.gz .
  zcat bike.tsv.gz | awk 'NR == 1 || NR % 30 == 0' >train.tsv
  zcat bike.tsv.gz | awk 'NR == 1 || NR % 55 == 3' >test.tsv
  "$GPNN_ROOT/tests/docs/examples" "$GPNN_ROOT/$1"
}

# The names of all tools, and of their modes that have options of their own: a page each.
tools() {
  basename -s .1 "$GPNN_ROOT"/man/*.1
}

# command_of NAME: what runs the tool, or the mode of a tool, that has the page NAME.
command_of() {
  if [[ -e $GPNN_ROOT/cmd/$1.c ]]; then echo "$1"; else echo "${1%-*} ${1##*-}"; fi
}

# call NAME OPTION: runs a tool, or one in a mode.
call() {
  local words
  read -ra words <<<"$(command_of "$1")"
  "${words[@]}" "$2"
}

# Pages of the manual, without their folder.
pages() {
  basename -a "$GPNN_ROOT"/man/*.[1-9]
}

# for_tools FUNCTION: calls it with the name of each tool; every failure is told.
for_tools() {
  local tool failed=0
  for tool in $(tools); do
    "$1" "$tool" || { echo "($1 $tool)" >&2; failed=1; }
  done
  return $failed
}

# The options that --help lists, a line each: name, tab, default ("" if it names none).
help_options() {
  call "$1" --help | awk '
    /^  (-.,|   ) --[a-z]/ {
      match($0, /--[a-z-]+/)
      name = substr($0, RSTART, RLENGTH)
      default = match($0, /\(.*\)$/) ? substr($0, RSTART + 1, RLENGTH - 2) : ""
      print name "\t" default
    }'
}

# The options that the manual's OPTIONS describes, a line each: name, tab, text.
manual_options() {
  awk -v sq="'" '
    function flush() { if (name != "") print name "\t" text; name = text = "" }
    /^\.SH/ { flush(); inside = /^\.SH OPTIONS/; next }
    !inside { next }
    /^\.SS/ { flush(); next }
    { gsub(/\\-/, "-"); gsub(/\\\(aq/, sq); gsub(/\\f./, "") }
    tag { tag = 0; if (match($0, /--[a-z-]+/)) { flush(); name = substr($0, RSTART, RLENGTH) }; next }
    /^\.TP/ { tag = 1; next }
    { sub(/^\.(B|I|BR|IR|BI) /, ""); text = text (text == "" ? "" : " ") $0 }
    END { flush() }' "$GPNN_ROOT/man/$1.1"
}

same_options() {
  diff <(help_options "$1" | cut -f 1 | sort) <(manual_options "$1" | cut -f 1 | sort) >&2
}

same_defaults() {
  manual_options "$1" >manual.txt
  help_options "$1" | awk -F '\t' '
    FILENAME == "manual.txt" { text[$1] = text[$1] $2; next }
    $2 != "" && !index(text[$1], "Default: " $2) { print $1 ": no Default: " $2; bad = 1 }
    END { exit bad }' manual.txt - >&2
}

short_help() {
  local status=0
  call "$1" --help >help.txt 2>err.txt || status=$?
  assert_equal "$status" 0 || return
  [[ ! -s err.txt ]] || complain 'help on standard error' || return
  awk 'length > 80 { print "over 80 columns: " $0; bad = 1 }
    END { if (NR > 56) { print "over 56 lines"; bad = 1 } exit bad }' help.txt >&2
}

version() {
  call "$1" --version >version.txt 2>err.txt || complain "status $?" || return
  [[ ! -s err.txt ]] || complain 'on standard error' || return
  grep -qE "^$(command_of "$1") .*[0-9]+\.[0-9]+\.[0-9]+$" version.txt
}

sections() {
  local section failed=0
  for section in NAME SYNOPSIS DESCRIPTION OPTIONS 'INPUT AND OUTPUT' 'EXIT STATUS' EXAMPLES \
    LIMITATIONS 'SEE ALSO'; do
    grep -qx "\.SH $section" "$GPNN_ROOT/man/$1.1" || complain "no $section" || failed=1
  done
  return $failed
}

# ---- what is there ----------------------------------------------------------------------------

@test "every tool has a page with all sections" {
  for tool in "$GPNN_ROOT"/cmd/*.c; do
    [[ -e $GPNN_ROOT/man/$(basename "$tool" .c).1 ]] || complain "no page of $tool"
  done
  for_tools sections
}

@test "the overview names every page under SEE ALSO" {
  for page in $(pages); do
    name=${page%.*} section=${page##*.}
    [[ $page == gpnn.7 ]] || sed '1,/^\.SH SEE ALSO/d;s/\\-/-/g' "$GPNN_ROOT/man/gpnn.7" |
      grep -qE "^\.BR $name \($section\),?$" || complain "no $page"
  done
}

@test "pages refer to pages that exist" {
  grep -hE '^\.BR gpnn[a-z\\-]* \([0-9]\)' "$GPNN_ROOT"/man/*.[1-9] | sed 's/\\-/-/g' |
    sed -E 's/^\.BR ([a-z-]+) \(([0-9])\).*/\1.\2/' | sort -u >named
  pages | sort >there
  assert_equal "$(comm -23 named there)" ''
}

@test "every page has examples, and a test of them here" {
  for page in $(pages); do
    grep -q '^\.SH EXAMPLES' "$GPNN_ROOT/man/$page" || complain "$page: no EXAMPLES"
    grep -qx "  examples_of man/$page" "$BATS_TEST_FILENAME" || complain "$page: no test"
  done
}

# ---- the page of the mathematics --------------------------------------------------------------

# Text without line breaks, marks of comments and what manual pages are set with.
in_one_line() {
  sed -E 's/^ *(\*|#|\/\*) ?//; s/\\-/-/g; s/^\.BR? //; s/ \(7\)/(7)/' "$@" | tr -s '\n ' '  '
}

# The pages and numbers of sections and equations that files cite the mathematics for, a line each.
cited_numbers() {
  local list='[0-9]+(\.[0-9]+)?((, | and | to |, and )[0-9]+(\.[0-9]+)?)*'
  local page='gpnn-methods(-[a-z]+)?\(7\)'
  in_one_line "$@" | grep -oE "$page, (([Ss]ection|[Ee]quation)s? )?$list|\
([Ss]ection|[Ee]quation)s? $list of $page" | awk '{
    match($0, /gpnn-methods(-[a-z]+)?/)
    name = substr($0, RSTART, RLENGTH)
    sub(/gpnn-methods(-[a-z]+)?\(7\)/, "")
    while (match($0, /[0-9]+(\.[0-9]+)?/)) {
      print name, substr($0, RSTART, RLENGTH)
      $0 = substr($0, RSTART + RLENGTH)
    }
  }' | sort -u
}

sources() {
  find "$GPNN_ROOT"/lib "$GPNN_ROOT"/cmd "$GPNN_ROOT"/tests/unit -name '*.[ch]'
}

# The words that --help of tool $1 lists for option $2.
words_of() {
  "$1" --help | sed -nE "s/^.* --$2 [A-Z\[],[^ ]* +|^.* --$2 [^ ]+ +//p" |
    sed -E 's/ \(.*//; s/^.*: //; s/, | or /\n/g' | sed 's/:.*//' | grep -vx auto
}

@test "comments and pages cite sections and equations that the pages of mathematics have" {
  mapfile -t files < <(sources)
  cited_numbers "${files[@]}" "$GPNN_ROOT"/man/*.[1-9] >numbers
  [[ $(wc -l <numbers) -ge 150 ]] || complain "only $(wc -l <numbers) numbers are cited"
  while read -r name number; do
    page=$GPNN_ROOT/man/$name.7
    if [[ $number == *.* ]]; then
      grep -q " ($number)\$" "$page" || complain "no equation $number in $name(7)"
    else
      grep -q "^\.SH $number\. " "$page" || complain "no section $number in $name(7)"
    fi
  done <numbers
}

@test "the equations of the mathematics are numbered in order, section by section" {
  awk '
    FNR == 1 || /^\.SH [A-Z]/ { section = 0 }
    /^\.SH [0-9]+\. / {
      section = $2 + 0
      last = 0
      if (seen[section]++) { print "section " section " twice"; bad = 1 }
      if (section > most) most = section
    }
    /^\.EX/ { inside = 1 }
    /^\.EE/ { inside = 0 }
    section && inside && match($0, / \([0-9]+\.[0-9]+\)$/) {
      number = substr($0, RSTART + 2, RLENGTH - 3)
      if (number != section "." ++last) { print number ", not " section "." last; bad = 1 }
    }
    END {
      for (i = 1; i <= most; i++) if (!seen[i]) { print "no section " i; bad = 1 }
      exit bad || most < 21
    }' "$GPNN_ROOT"/man/gpnn-methods*.7 >&2
}

@test "gpnn-methods(7) says which page has which sections" {
  for page in "$GPNN_ROOT"/man/gpnn-methods*.7; do
    numbers=$(sed -nE 's/^\.SH ([0-9]+)\. .*/\1/p' "$page")
    name=$(basename "$page" .7)
    sed 's/\\-/-/g' "$GPNN_ROOT/man/gpnn-methods.7" | awk -F '\t' -v name="$name(7)" \
      -v first="$(head -n 1 <<<"$numbers")" -v last="$(tail -n 1 <<<"$numbers")" '
      $2 == name { n = split($1, part, /[^0-9]+/); found = part[1] == first && part[n] == last }
      END { exit !found }' || complain "$name: not its sections"
  done
}

@test "the pages of mathematics refer to equations and publications that they have" {
  cd "$GPNN_ROOT/man"
  local work=$OLDPWD
  grep -ohE ' \([0-9]+\.[0-9]+\)$' gpnn-methods*.7 | tr -d ' ' | sort -u >"$work/defined"
  grep -ohE '\([0-9]+\.[0-9]+\)' gpnn-methods*.7 | sort -u >"$work/used"
  assert_equal "$(comm -13 "$work/defined" "$work/used")" ''
  for page in gpnn-methods*.7; do
    sed '1,/^\.SH REFERENCES/d; /^\.SH SEE/,$d' "$page" >"$work/references"
    sed '/^\.SH REFERENCES/,$d' "$page" | tr '\n' ' ' |
      grep -oE "[A-Z][A-Za-z'’]+( et al\.)? \(?(19|20)[0-9]{2}" | sed -E 's/ et al\.//; s/\(//' |
      sort -u >"$work/cited"
    cat "$work/cited" >>"$work/all"
    while read -r name year; do
      grep -q "$name.*($year)\.$" "$work/references" || complain "$page: no $name $year"
    done <"$work/cited"
  done
  [[ $(sort -u "$work/all" | wc -l) -ge 20 ]] || complain 'hardly any publication is cited'
}

@test "no comment cites what its reader does not have" {
  mapfile -t files < <(sources)
  run grep -nE '[Ss]pecification|\((A|T)( [0-9A]|\)|; | eq)|[;(] ?T (eq|[0-9])|\(A, E' "${files[@]}"
  assert_equal "$output" ''
}

@test "gpnn-methods(7) has every kernel, objective, mean, rotation, scaling and search" {
  for option in gpnn-fit:kernel gpnn-fit:objective gpnn-fit:mean-function gpnn-fit:rotate \
    gpnn-index:standardise gpnn-index:search; do
    words_of "${option%:*}" "${option#*:}" >words
    [[ $(wc -l <words) -ge 3 ]] || complain "$option: no words"
    while read -r word; do
      sed 's/\\-/-/g' "$GPNN_ROOT/man/gpnn-methods.7" | grep -qwF -- "$word" ||
        complain "$option: no $word"
    done <words
  done
}

# ---- --help, --version and the manual ---------------------------------------------------------

@test "--help fits 56 lines of 80 columns, on standard output" {
  for_tools short_help
}

@test "--version prints the version" {
  for_tools version
}

@test "the manual describes the options of --help and no others" {
  for_tools same_options
}

@test "the manual gives the defaults of --help, word for word" {
  for_tools same_defaults
}

# ---- examples ---------------------------------------------------------------------------------

@test "a page whose example fails or shows different output is detected" {
  run_page() { "$GPNN_ROOT/tests/docs/examples" "$1"; }
  printf '.EX\n$ printf \\(aqa\\et%%s\\en\\(aq \\-b |\n>   cat\na\t-b\n\n$ true\n.EE\n' >page.1
  run_page page.1
  printf '.EX\n$ yes | head -n 1\ny\n.EE\n' >page.1
  run_page page.1
  printf '.EX\n$ echo a\nb\n.EE\n' >page.1
  run ! run_page page.1
  printf '.EX\n$ echo a\na\n$ false | cat\n.EE\n' >page.1
  run ! run_page page.1
  printf '.EX\nshown\n.EE\n' >page.1
  run ! run_page page.1
  printf '# T\n```text\n$ false\n```\n```sh\n$ echo a\na\n```\n' >page.md
  run_page page.md
  printf '# T\n```sh\n$ mkdir -p there && cd there\n```\n```sh\n$ basename "$PWD"\nthere\n```\n' >page.md
  run_page page.md
  printf '# T\n```sh\n$ echo a\nb\n```\n' >page.md
  run ! run_page page.md
}

@test "the examples of gpnn(7)" {
  examples_of man/gpnn.7
}

@test "the examples of gpnn-methods(7)" {
  examples_of man/gpnn-methods.7
}

@test "the examples of gpnn-methods-classes(7)" {
  examples_of man/gpnn-methods-classes.7
}

@test "the examples of gpnn-methods-grid(7)" {
  examples_of man/gpnn-methods-grid.7
}

@test "the examples of gpnn-methods-explain(7)" {
  examples_of man/gpnn-methods-explain.7
}

@test "the examples of gpnn-methods-share(7)" {
  examples_of man/gpnn-methods-share.7
}

@test "the examples of gpnn-methods-simulate(7)" {
  examples_of man/gpnn-methods-simulate.7
}

@test "the examples of gpnn-methods-sparse(7)" {
  examples_of man/gpnn-methods-sparse.7
}

@test "the examples of gpnn-nightly(7)" {
  examples_of man/gpnn-nightly.7
}

@test "the examples of gpnn-scale(7)" {
  need_ranks
  examples_of man/gpnn-scale.7
}

@test "the table of gpnn-scale(7) is what its program predicts" {
  "$GPNN_ROOT/scripts/experiments/scale" predict | sed 1d >predicted.tsv
  (($(wc -l <predicted.tsv) == 15))
  grep '^1e[0-9]*' "$GPNN_ROOT/man/gpnn-scale.7" | cmp predicted.tsv -
}

@test "the examples of gpnn-speed(7)" {
  examples_of man/gpnn-speed.7
}

@test "the examples of gpnn-split(1)" {
  examples_of man/gpnn-split.1
}

@test "the examples of gpnn-mpi(1)" {
  need_ranks
  examples_of man/gpnn-mpi.1
}

@test "the examples of gpnn-tucker(1)" {
  examples_of man/gpnn-tucker.1
}

@test "the examples of gpnn-index(1)" {
  examples_of man/gpnn-index.1
}

@test "the examples of gpnn-fit(1)" {
  examples_of man/gpnn-fit.1
}

@test "the examples of gpnn-calibrate(1)" {
  examples_of man/gpnn-calibrate.1
}

@test "the examples of gpnn-predict(1)" {
  examples_of man/gpnn-predict.1
}

@test "the examples of gpnn-sparse(1)" {
  examples_of man/gpnn-sparse.1
}

@test "the examples of gpnn-eval(1)" {
  examples_of man/gpnn-eval.1
}

@test "the examples of gpnn(1)" {
  examples_of man/gpnn.1
}

@test "the examples of gpnn-plot(1)" {
  examples_of man/gpnn-plot.1
}

@test "the examples of gpnn-absorb(1)" {
  examples_of man/gpnn-absorb.1
}

@test "the examples of gpnn-answer(1)" {
  examples_of man/gpnn-answer.1
}

@test "the examples of gpnn-combine(1)" {
  examples_of man/gpnn-combine.1
}

@test "the examples of gpnn-explain(1)" {
  examples_of man/gpnn-explain.1
}

@test "the examples of gpnn-ask(1)" {
  examples_of man/gpnn-ask.1
}

@test "the examples of gpnn-linear(1)" {
  examples_of man/gpnn-linear.1
}

@test "the examples of gpnn-info(1)" {
  examples_of man/gpnn-info.1
}

@test "the examples of gpnn-grid(1)" {
  examples_of man/gpnn-grid.1
}

@test "the examples of gpnn-grid-fit(1)" {
  examples_of man/gpnn-grid-fit.1
}

@test "the examples of gpnn-grid-index(1)" {
  examples_of man/gpnn-grid-index.1
}

@test "the examples of gpnn-grid-predict(1)" {
  examples_of man/gpnn-grid-predict.1
}

@test "the examples of gpnn-simulate(1)" {
  examples_of man/gpnn-simulate.1
}

@test "the examples of gpnn-simulate-advise(1)" {
  examples_of man/gpnn-simulate-advise.1
}

@test "the examples of gpnn-simulate-data(1)" {
  examples_of man/gpnn-simulate-data.1
}

@test "the examples of gpnn-simulate-grid(1)" {
  examples_of man/gpnn-simulate-grid.1
}

@test "the examples of gpnn-simulate-limits(1)" {
  examples_of man/gpnn-simulate-limits.1
}

@test "the examples of gpnn-simulate-risk(1)" {
  examples_of man/gpnn-simulate-risk.1
}

@test "the examples of gpnn-simulate-views(1)" {
  examples_of man/gpnn-simulate-views.1
}

@test "the examples of gpnn-table(5)" {
  examples_of man/gpnn-table.5
}

@test "the examples of gpnn-parameters(5)" {
  examples_of man/gpnn-parameters.5
}

@test "the examples of gpnn-answers(5)" {
  examples_of man/gpnn-answers.5
}

@test "the examples of gpnn-share(7)" {
  examples_of man/gpnn-share.7
}

@test "the examples of gpnn-ledger(5)" {
  examples_of man/gpnn-ledger.5
}

@test "the examples of gpnn-state(5)" {
  examples_of man/gpnn-state.5
}

@test "the examples of gpnn-model(5)" {
  command -v gpnn-sparse >/dev/null || skip "needs gpnn-sparse"
  examples_of man/gpnn-model.5
}

@test "the examples of gpnn-index(5)" {
  examples_of man/gpnn-index.5
}

# A copy of what a clone has, with what make builds, in the folder clone.
make_clone() {
  mkdir clone
  for entry in "$GPNN_ROOT"/*; do
    [[ ${entry##*/} == build ]] || cp -r "$entry" clone/
  done
  ln -s "$GPNN_BUILD" clone/build
}

@test "the examples of README.md run in order, as they are typed in a clone after make" {
  make_clone && cd clone
  env -i HOME="$PWD" PATH="$(getconf PATH)" tests/docs/examples README.md
}

@test "every block of commands in README.md is run" {
  awk '/^```sh/ { getline; if ($0 !~ /^\$ /) { print FNR ": not run: " $0; bad = 1 } n++ }
    END { exit bad || n < 2 }' "$GPNN_ROOT/README.md" >&2
}

@test "the options that README.md and that of the experiments name beside a tool are options of that tool" {
  grep -ohE '`gpnn(-[a-z]+)?( [a-z]+)? [^`]*`' "$GPNN_ROOT/README.md" "$GPNN_ROOT/scripts/experiments/README.md" |
    tr -d '`' >named
  [[ $(grep -c -- ' -' named) -ge 1 ]] || complain 'hardly any'
  while read -r tool mode rest; do
    [[ $tool != gpnn-simulate ]] || tool+=" $mode"
    for option in $(grep -oE -- ' --?[a-z][a-z-]*' <<<" $mode $rest"); do
      awk -F '\t' -v tool="$tool" -v option="$option" '
        $1 == tool && $2 == "option" && " " $3 " " ~ " " option " " { found = 1 }
        END { exit !found }' "$GPNN_BUILD/completion/table" || complain "$tool: no $option"
    done
  done <named
}
