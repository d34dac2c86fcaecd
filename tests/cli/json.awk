# A strict reader of JSON (RFC 8259): "path<TAB>value" for each value of the one object on its only
# line, as in "targets.0.chosen.nll"; ends with status 1 if it is anything else.  Texts stay escaped.

function refuse(what) { if (!bad) print "not JSON: " what ": " substr(text, 1, 60) >"/dev/stderr"; bad = 1 }

# Takes what matches at the beginning.
function take(pattern,   taken) {
  if (bad) return ""
  if (!match(text, "^(" pattern ")")) { refuse("no " pattern); return "" }
  taken = substr(text, 1, RLENGTH)
  text = substr(text, RLENGTH + 1)
  return taken
}

function next_is(c) { return substr(text, 1, 1) == c }

function put(path, value) {
  if (path in seen) refuse("twice: " path)
  seen[path] = 1
  lines[++n_lines] = path "\t" value
}

function read_string(   s) {
  s = take("\"([^\"\\\\\001-\037]|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-f][0-9a-f][0-9a-f][0-9a-f])*\"")
  return substr(s, 2, length(s) - 2)
}

function read_members(path,   i, name) {
  take("\\{")
  for (i = 0; !bad && !next_is("}"); i++) {
    if (i > 0) take(", ")
    name = read_string()
    take(": ")
    read_value(path == "" ? name : path "." name)
  }
  take("}")
}

function read_elements(path,   i) {
  take("\\[")
  for (i = 0; !bad && !next_is("]"); i++) {
    if (i > 0) take(", ")
    read_value(path "." i)
  }
  take("]")
}

function read_value(path) {
  if (bad) return
  if (next_is("{")) read_members(path)
  else if (next_is("[")) read_elements(path)
  else if (next_is("\"")) put(path, read_string())
  else put(path, take("null|true|false|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?"))
}

NR == 1 { text = $0; if (next_is("{")) read_value(""); else refuse("no object") }
END {
  if (NR != 1) refuse(NR " lines")
  if (text != "") refuse("more after the object")
  for (i = 1; i <= n_lines && !bad; i++) print lines[i]
  exit bad
}
