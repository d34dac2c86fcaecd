# Makes the completion for zsh, _gpnn, from what the program 'options' prints.
#
#   awk -f zsh.awk TABLE
BEGIN { FS = "\t" }

function quoted(text) {
  gsub(/\047/, "\047\\\047\047", text)
  return "\047" text "\047"
}

# What _arguments is told of a value.
function message(name) {
  gsub(/:/, "\\:", name)
  return ":" name ":"
}
function action(offers, words) {
  if (offers == "files") return "_files"
  if (offers == "directories") return "_files -/"
  if (offers == "words") return "(" words ")"
  if (offers == "list") return "_sequence compadd - " words
  if (offers == "settings") return "{compadd -S = - " words "}"
  return ""
}

# An option is offered once, by either name, unless each time adds to what was said before.
function specification(names, takes, value, help, repeats,  word, n, i, all) {
  gsub(/[\[\]:\\]/, "\\\\&", help)
  n = split(names, word, " ")
  for (i = 1; i <= n; i++)
    all = all " \\\n      " quoted((repeats ? "*" : "(" names ")") word[i] \
                                   sign(word[i], takes) "[" help "]" value)
  return all
}
function sign(name, takes) {
  if (takes == "no") return ""
  return name !~ /^--/ ? "+" : takes == "may" ? "=-" : "="
}

$2 == "operands" {
  command[++n] = $1
  most[$1] = $3
  first[$1] = $4
  if ($1 !~ / /) tools = tools " " $1
  else has_modes[substr($1, 1, index($1, " ") - 1)]
}
$2 == "option" {
  value = $4 == "no" ? "" : ($4 == "may" ? ":" : "") message($7) action($5, $6)
  options[$1] = options[$1] specification($3, $4, value, $8, $9 == "many")
}

END {
  print "#compdef" tools
  print "# Completion of gpnn\047s tools in zsh, made from their tables of options."
  print "local command=$service"
  for (tool in has_modes) pattern = pattern (pattern == "" ? "" : "|") tool
  print "if [[ $service == (" pattern ") ]] && ((CURRENT > 2)); then"
  print "  command+=\" $words[2]\""
  print "  shift words"
  print "  ((CURRENT--))"
  print "fi"
  print "case $command in"
  for (i = 1; i <= n; i++) {
    name = command[i]
    print "  " quoted(name) ")"
    printf "    _arguments -s -S :%s", options[name]
    if (first[name] != "")
      printf " \\\n      %s", quoted("1:" (name in has_modes ? "mode" : "kind") ":(" first[name] ")")
    else if (most[name] > 0)
      printf " \\\n      %s", quoted("1:file:_files")
    for (j = 2; j <= most[name]; j++) printf " \\\n      %s", quoted(j ":file:_files")
    print "\n    ;;"
  }
  print "esac"
}
