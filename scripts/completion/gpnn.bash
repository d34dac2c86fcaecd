# shellcheck shell=bash
# Completion of gpnn's tools in bash: their options, the words that these and the first operand may
# be, and files.  Needs nothing but bash; source it, or leave it to bash-completion.
#
# What each tool knows comes from its own table of options, when gpnn is built.  A tool, or a tool
# and its mode, has lines of fields that are separated by "|":
#   NAMES|TAKES|OFFERS|WORDS    an option: "-m --neighbours", whether a value must, may or does not
#                               follow, and what it is: files, directories, words, list, settings
#   |MOST|WORDS                 operands: at most so many, files unless the first is one of WORDS
# shellcheck disable=SC2190 # keys come with the lines
declare -gA _gpnn_tables=(
  @TABLES@
)

# Completes $1 as what $2 says, words being those in $3.  Files are left to readline, which knows how
# to quote their names.
_gpnn_offer() {
  local typed=$1 before=
  case $2 in
    files) compopt -o default ;;
    directories) compopt -o dirnames ;;
    words) mapfile -t COMPREPLY < <(compgen -W "$3" -- "$typed") ;;
    list)
      [[ $typed != *,* ]] || before=${typed%,*},
      mapfile -t COMPREPLY < <(compgen -P "$before" -W "$3" -- "${typed#"$before"}")
      ;;
    settings)
      mapfile -t COMPREPLY < <(compgen -S = -W "$3" -- "$typed")
      compopt -o nospace
      ;;
  esac
}

# Finds the line of option $1 in 'table', and sets takes, offers and words.
_gpnn_find() {
  local names
  while IFS='|' read -r names takes offers words; do
    [[ -z $names || " $names " != *" $1 "* ]] || return 0
  done <<<"$table"
  return 1
}

# Completes the name of an option.
_gpnn_offer_names() {
  local names takes offers words all=
  while IFS='|' read -r names takes offers words; do
    all+=" $names"
    [[ $takes != may ]] || for words in $words; do all+=" ${names##* }=$words"; done
  done <<<"$table"
  mapfile -t COMPREPLY < <(compgen -W "$all" -- "$1")
}

# Completes operand number $2, counted from 0, of which $1 is typed.
_gpnn_offer_operand() {
  local most words
  IFS='|' read -r _ most words <<<"${table%%$'\n'*}"
  (($2 < most)) || return 0
  if (($2 == 0)) && [[ -n $words ]]; then
    _gpnn_offer "$1" words "$words"
  else
    _gpnn_offer "$1" files
  fi
}

# The words up to the cursor, in 'line'.  Bash takes them apart at = and :, and wants in place of the
# last part only what follows the sign.
_gpnn_read_line() {
  local word
  for word in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    if ((${#line[@]} > 1)) && [[ $word == [=:]* || ${line[-1]} == *[=:] ]]; then
      line[-1]+=$word
    else
      line+=("$word")
    fi
  done
}

_gpnn() {
  local tool=${1##*/} line=() at=1 operands=0 ended='' takes offers words
  COMPREPLY=()
  _gpnn_read_line
  local last=$((${#line[@]} - 1)) table=${_gpnn_tables[$tool]-}
  local typed=${line[last]}
  if ((last > 1)) && [[ -n ${_gpnn_tables["$tool ${line[1]}"]-} ]]; then
    table=${_gpnn_tables["$tool ${line[1]}"]} at=2
  fi
  for (( ; at < last; at++)); do
    if [[ -n $ended || ${line[at]} != -?* ]]; then
      operands=$((operands + 1))
    elif [[ ${line[at]} == -- ]]; then
      ended=yes
    elif _gpnn_find "${line[at]}" && [[ $takes == must ]]; then
      at=$((at + 1))
    fi
  done
  if ((at > last)); then
    _gpnn_offer "$typed" "$offers" "$words"
  elif [[ -z $ended && $typed == --*=* ]]; then
    _gpnn_find "${typed%%=*}" || return 0
    _gpnn_offer "${typed#*=}" "$offers" "$words"
    [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${COMPREPLY[@]/#/${typed%%=*}=}")
  elif [[ -z $ended && $typed == -* ]]; then
    _gpnn_offer_names "$typed"
  else
    _gpnn_offer_operand "$typed" "$operands"
  fi
}

complete -F _gpnn @TOOLS@
