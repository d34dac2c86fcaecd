# Prints what zsh offers where TAB is typed at the end of a command line, a line each.
#
#   zsh -f complete.zsh DIRECTORY 'COMMAND LINE'
#
# DIRECTORY has _gpnn.  A second, interactive zsh runs in a terminal of its own; there compadd,
# through which every completion goes, says what it is given, between two lines of "=".
zmodload zsh/zpty
export ZDOTDIR=$(mktemp -d)
trap 'rm -r $ZDOTDIR' EXIT
cat >$ZDOTDIR/.zshrc <<END
fpath=(${(q)1} \$fpath)
END
cat >>$ZDOTDIR/.zshrc <<'END'
PROMPT=
autoload -Uz compinit && compinit -u -D
bindkey '^I' complete-word
mark() { print; print = }
finish() { mark; exit }
compprefuncs=(mark) comppostfuncs=(finish)
compadd() {
  local -a hits
  if [[ ${@[1,(i)(-|--)]} != *-[AOD]* ]]; then
    builtin compadd -A hits "$@"
    print -l -- $hits
  fi
  builtin compadd "$@"
}
END
zpty inner 'TERM=dumb exec zsh -d -i'
zpty -w -n inner "$2"$'\t'
inside=
while zpty -r inner line; do
  line=${line%%$'\r'*}
  if [[ $line == '=' ]]; then
    [[ -z $inside ]] || break
    inside=yes
  elif [[ -n $inside && -n $line ]]; then
    print -r -- $line
  fi
done
