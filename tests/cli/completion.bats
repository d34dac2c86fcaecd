#!/usr/bin/env bats
# What bash and zsh offer where TAB is typed: every option of every tool, as --help has them, words
# that the tools take, and files where they are expected.

load helper

# offered LINE: what bash offers at the end of LINE, sorted, a line each; "<default>" if it is left to
# readline to complete files.  A line is cut as bash does it: at blanks, and at each = and :.
offered() {
  bash --norc -c '
    source "$1"
    compopt() { echo "<$2>"; }
    parts=$2
    for sign in = :; do parts=${parts//$sign/ $sign }; done
    read -ra COMP_WORDS <<<"$parts"
    [[ $2 != *" " ]] || COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    typed=${COMP_WORDS[COMP_CWORD]#[=:]}
    _gpnn "${COMP_WORDS[0]}" "$typed" "${COMP_WORDS[COMP_CWORD - 1]}"
    ((${#COMPREPLY[@]} == 0)) || printf "%s\n" "${COMPREPLY[@]}"
  ' - "$GPNN_BUILD/completion/gpnn" "$1" | sort
}

# offered_by_zsh LINE: the same of zsh.
offered_by_zsh() {
  timeout -s KILL 60 zsh -f "$GPNN_ROOT/tests/cli/complete.zsh" "$GPNN_BUILD/completion" "$1" | sort -u
}

in_one_line() {
  "$@" | paste -sd ' '
}

# Every tool, and every mode that has a page of its own: what is typed before the options.
commands() {
  local page
  basename -s .c "$GPNN_ROOT"/cmd/*.c
  for page in $(basename -s .1 "$GPNN_ROOT"/man/*.1); do
    [[ -e $GPNN_ROOT/cmd/$page.c ]] || echo "${page%-*} ${page##*-}"
  done
}

# The names, short and long, of the options that --help of command $1 lists.
names_in_help() {
  $1 --help | sed -nE 's/^  (-.,|   ) (--[a-z-]+).*/\1 \2/p' | tr -d , | tr -s ' ' '\n' |
    grep . | sort
}

# What 'options', which reads the tables, says of the options that offer words: command, option
# and a word, separated by tabs.
words() {
  awk -F '\t' '
    $2 == "option" && ($5 == "words" || $5 == "list") {
      n = split($3, name, " ")
      count = split($6, word, " ")
      for (i = 1; i <= count; i++) print $1 "\t" name[n] "\t" word[i]
    }' "$GPNN_BUILD/completion/table"
}

@test "bash offers every option of every tool" {
  [[ $(commands | wc -l) -gt $(find "$GPNN_ROOT"/cmd -maxdepth 1 -name '*.c' | wc -l) ]]
  while read -r command; do
    assert_equal "$(offered "$command -" | grep -v =)" "$(names_in_help "$command")" ||
      complain "of $command"
  done < <(commands)
}

@test "zsh is told of every option of every tool" {
  while read -r command; do
    awk -v name="  '$command')" '$0 == name { inside = 1; next } /^    ;;/ { inside = 0 } inside' \
      "$GPNN_BUILD/completion/_gpnn" >told
    grep -oE '^ +.(\*|\([^)]*\))--?[A-Za-z-]+' told | sed -E 's/.*[*)]//; s/[+=-]*$//' | sort >names
    assert_equal "$(cat names)" "$(names_in_help "$command")" || complain "of $command"
  done < <(commands)
}

@test "zsh offers every option of every tool" {
  [[ -n $(command -v zsh) ]] || skip 'no zsh'
  while read -r command; do
    assert_equal "$(offered_by_zsh "$command -")" "$(names_in_help "$command")" ||
      complain "of $command"
  done < <(commands)
}

@test "zsh offers words, modes, kinds and files" {
  [[ -n $(command -v zsh) ]] || skip 'no zsh'
  touch table.tsv
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-fit --effort ')" 'fast normal thorough'
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-fit --effort=f')" fast
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-fit --objective block,l')" loo
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-fit --fix n')" noise
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-index --skip-bad=')" all
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-simulate ')" 'advise data grid limits risk views'
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-plot -o x.svg p')" 'pit predicted'
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-plot pit ta')" table.tsv
  assert_equal "$(in_one_line offered_by_zsh 'gpnn-index -o ta')" table.tsv
}

@test "bash completes every command by the same function" {
  for tool in "$GPNN_ROOT"/cmd/*.c; do
    bash --norc -c 'source "$1" && complete -p "$2"' - "$GPNN_BUILD/completion/gpnn" \
      "$(basename "$tool" .c)" | grep -q -- '-F _gpnn '
  done
}

@test "every word that is offered is one that the tool takes" {
  [[ $(words | wc -l) -gt 50 ]]
  while IFS=$'\t' read -r command option word; do
    $command "$option" "$word" --help >help.txt || complain "$command $option $word"
  done < <(words)
}

# Options whose words are looked at only when all are read.
@test "kernels, transforms, functions and laws that are offered are known" {
  for word in $(offered 'gpnn-fit --kernel '); do
    run -1 gpnn-fit --kernel "$word" none.gpi
  done
  for word in $(offered 'gpnn-fit --transform '); do
    run -1 gpnn-fit --transform "$word" none.gpi
  done
  for word in $(offered 'gpnn-simulate data --function '); do
    run -0 gpnn-simulate data -q --kind function --function "$word" -n 1
  done
  for word in $(offered 'gpnn-simulate data --noise-law '); do
    run -0 gpnn-simulate data -q --noise-law "$word" -n 1
  done
}

@test "the kinds of picture and the modes are offered first" {
  run gpnn-plot none
  kinds=$(sed -nE 's/.*KIND is //p' <<<"$output" | sed 's/, /\n/g; s/ or /\n/' | sort)
  assert_equal "$(offered 'gpnn-plot ')" "$kinds"
  assert_equal "$(in_one_line offered 'gpnn-plot -o a.svg --mark noise=0.1 p')" 'pit predicted'
  assert_equal "$(in_one_line offered 'gpnn-plot pit ')" '<default>'
  assert_equal "$(in_one_line offered 'gpnn-simulate ')" 'advise data grid limits risk views'
  assert_equal "$(in_one_line offered 'gpnn-simulate --v')" '--verbose --version'
}

@test "an option of one mode is not offered in another" {
  assert_equal "$(in_one_line offered 'gpnn-simulate data --wa')" --warp
  assert_equal "$(in_one_line offered 'gpnn-simulate risk --wa')" ''
}

@test "files are offered where a tool takes them, and nowhere else" {
  for line in 'gpnn-index ' 'gpnn-index -o ' 'gpnn-index --output=' 'gpnn-index -q tr' \
    'gpnn-fit --start=a' 'gpnn-split -f 7:2 -o a -o ' 'gpnn-predict -p t.par t.gpi ' \
    'gpnn-eval --index ' './gpnn-fit -m 5 ' 'gpnn-fit -- -'; do
    assert_equal "$(in_one_line offered "$line")" '<default>' || complain "after '$line'"
  done
  for line in 'gpnn-fit a.gpi ' 'gpnn-index -y ' 'gpnn-eval --by ' 'gpnn-fit --seed=' \
    'gpnn-simulate data '; do
    assert_equal "$(in_one_line offered "$line")" '' || complain "after '$line'"
  done
}

@test "words are offered after a blank, an equals sign and a comma" {
  assert_equal "$(in_one_line offered 'gpnn-fit --effort ')" 'fast normal thorough'
  assert_equal "$(in_one_line offered 'gpnn-fit --effort=')" 'fast normal thorough'
  assert_equal "$(in_one_line offered 'gpnn-fit --effort=t')" thorough
  assert_equal "$(in_one_line offered 'gpnn-fit -q -m a')" auto
  assert_equal "$(in_one_line offered 'gpnn-fit --objective block,l')" block,loo
  assert_equal "$(in_one_line offered 'gpnn-fit --fix n')" '<nospace> noise='
  assert_equal "$(in_one_line offered 'gpnn-index --skip-b')" '--skip-bad --skip-bad=all'
  assert_equal "$(in_one_line offered 'gpnn-index --skip-bad=')" all
  assert_equal "$(in_one_line offered 'gpnn-index --skip-bad ')" '<default>'
}
