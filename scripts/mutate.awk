# Draws small faults for scripts/mutate from C sources formatted by clang-format.
#
#   awk -v mutants=N -v seed=S -f scripts/mutate.awk FILE...
#
# The lines that can be broken, of all files in order, are cut into N parts of equal length, so that
# every module gets its share; in each part TRIES faults are drawn, to be tried one after another,
# because one may not compile or may mean the same.  Prints PART, FILE, the line where the statement
# begins, LINE, KIND and the line as it then reads, separated by tabs.
#
# Left alone are comments, strings, messages, assertions and the preprocessor; code that allocates
# and releases memory, closes and removes, which the sanitizers watch or which would not be safe;
# and checks that only a failing allocation can fail.

BEGIN {
  TRIES = 4
  releases = "(free|close|release|unlink|munmap|remove|destroy)[(]"
  untouched = "(gpnn_fail[a-z_]*|gpnn_columns_fail[a-z_]*|fail_[a-z]+|write_failed|" \
             "cli_usage_error|cli_warn|cli_note|assert|_Static_assert|static_assert|" \
             "gpnn_alloc|[mc]alloc|realloc)[(]"
  commutative = "(fmax|fmin)[(]$"
  keywords = "^(const|static|struct|enum|union|typedef|unsigned|double|float|int|long|size_t|bool|" \
             "char|void|return|goto|else|if|for|while|do|case|default|switch|[a-z_0-9]+_t) "
  # Its own generator (Park and Miller), since every awk has a different one.
  state = seed * 7919 % 2147483646 + 1
  for (i = 0; i < 10; i++) uniform()
}

function uniform() {
  state = state * 16807 % 2147483647
  return (state - 1) / 2147483646
}

# 'length' times the character that stands for text that must not be touched.
function veil(length_, text) {
  while (length(text) < length_) text = text "~"
  return text
}

# The line with comments and the insides of strings veiled, character by character.
function mask(line, text, end) {
  while (line != "") {
    if (in_comment) {
      end = index(line, "*/")
      if (end) in_comment = 0
      end = end ? end + 1 : length(line)
    } else if (match(line, /^("([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/\/.*)/)) {
      end = RLENGTH
    } else if (line ~ /^\/\*/) {
      in_comment = 1
      end = 2
    } else {
      text = text substr(line, 1, 1); line = substr(line, 2)
      continue
    }
    text = text veil(end); line = substr(line, end + 1)
  }
  return text
}

# Veils a message or an allocation from its name to the end of the statement.
function mask_calls(code, from) {
  if (in_message) {
    from = 1
  } else {
    if (!match(code, untouched)) return code
    from = RSTART
  }
  in_message = code !~ /[;{]$/
  return substr(code, 1, from - 1) veil(length(code) - from + 1)
}

# A fault: the line with 'length_' letters from 'from' on replaced.
function add(kind, from, length_, new) {
  n_faults[lines, kind]++
  fault[lines, kind, n_faults[lines, kind]] = \
    substr(text, 1, from - 1) new substr(text, from + length_)
  if (n_faults[lines, kind] == 1) kinds[lines, ++n_kinds[lines]] = kind
}

# Replaces each 'old' by 'new'.
function replace(kind, old, new, from, at) {
  for (from = 1; (at = index(substr(code, from), old)) > 0; from += at + length(old) - 1)
    add(kind, from + at - 1, length(old), new)
}

# The end of the bracket that opens at 'from', 0 if it is not on this line.
function closing(from, depth, i, letter) {
  for (i = from; i <= length(code); i++) {
    letter = substr(code, i, 1)
    if (letter == "(") depth++
    if (letter == ")" && --depth == 0) return i
  }
  return 0
}

function operators() {
  replace("bound", " < ", " <= "); replace("bound", " <= ", " < ")
  replace("bound", " > ", " >= "); replace("bound", " >= ", " > ")
  # Changed, these fail every run.
  if (code !~ /[!=]= (GPNN_OK|NULL)/) {
    replace("relation", " == ", " != "); replace("relation", " != ", " == ")
  }
  replace("sign", " + ", " - "); replace("sign", " - ", " + ")
  replace("sign", " += ", " -= "); replace("sign", " -= ", " += ")
  replace("sign", "(-", "("); replace("sign", " = -", " = "); replace("sign", "return -", "return ")
  replace("operator", " * ", " / "); replace("operator", " / ", " * ")
  replace("operator", " *= ", " /= "); replace("operator", " /= ", " *= ")
  replace("operator", " % ", " / "); replace("operator", " & ", " | ")
  replace("operator", " | ", " & "); replace("operator", " << ", " >> ")
  replace("operator", " >> ", " << ")
  replace("logic", " && ", " || "); replace("logic", " || ", " && ")
  replace("function", "fmax(", "fmin("); replace("function", "fmin(", "fmax(")
  replace("function", "floor(", "ceil("); replace("function", "ceil(", "floor(")
  replace("function", " sqrt(", " ("); replace("function", " fabs(", " (")
  replace("value", "true", "false"); replace("value", "false", "true")
}

function negations(from, at) {
  for (from = 1; match(substr(code, from), /![A-Za-z_(]/); from += RSTART)
    add("negation", from + RSTART - 1, 1, "")
}

# if (...) and while (...) whose condition ends on the same line.
function conditions(start, open, end, inside) {
  if (!match(code, /(^| )(if|while) \(/)) return
  open = RSTART + RLENGTH - 1
  end = closing(open)
  if (!end) return
  inside = substr(text, open + 1, end - open - 1)
  add("condition", open + 1, length(inside), "!(" inside ")")
  if (code ~ /(^| )while /) return
  add("condition", open + 1, length(inside), "1")
  # Only a failing allocation, or a failing call inside, would show it.
  if (text !~ /gpnn_fail_memory|== NULL\) (return|goto)|!= GPNN_OK\)|status == GPNN_OK/)
    add("condition", open + 1, length(inside), "0")
}

function constants(from, number, before, after) {
  for (from = 1; match(substr(code, from), /[0-9][0-9.]*(e[-+]?[0-9]+)?/); from += RSTART + RLENGTH - 1) {
    number = substr(code, from + RSTART - 1, RLENGTH)
    before = substr(code, from + RSTART - 2, 1)
    after = substr(code, from + RSTART + RLENGTH - 1, 1)
    if (from + RSTART > 2 && before ~ /[A-Za-z0-9_.~]/ || after ~ /[A-Za-z0-9_~]/) continue
    if (number ~ /[.e]/) {
      add("constant", from + RSTART - 1, RLENGTH, "(1.1 * " number ")")
    } else {
      add("constant", from + RSTART - 1, RLENGTH, number + 1)
      if (number > 1) add("constant", from + RSTART - 1, RLENGTH, number - 1)
    }
  }
}

# Two plain arguments of a call that change places.
function arguments(from, call, name, both, first, second) {
  for (from = 1; match(substr(code, from), /[a-z_0-9]+\([^(),~]+, [^(),~]+[,)]/); from += RSTART + RLENGTH - 1) {
    call = substr(text, from + RSTART - 1, RLENGTH)
    name = substr(call, 1, index(call, "("))
    both = substr(call, length(name) + 1, length(call) - length(name) - 1)
    first = substr(both, 1, index(both, ", ") - 1)
    second = substr(both, length(first) + 3)
    if (code ~ /^[A-Za-z]/ || first == second || both ~ /(^|, )err$/ || name ~ commutative) continue
    add("arguments", from + RSTART - 1, RLENGTH, name second ", " first substr(call, length(call)))
  }
}

# a ? b : c with plain b and c.
function choices(from, all, first, second) {
  for (from = 1; match(substr(code, from), / \? [^?:(),;~]+ : [^?:(),;~]+/); from += RSTART + RLENGTH - 1) {
    if (substr(code, from + RSTART + RLENGTH - 1, 1) !~ /^[;,)]?$/) continue
    all = substr(text, from + RSTART - 1, RLENGTH)
    first = substr(all, 4, index(all, " : ") - 4)
    second = substr(all, index(all, " : ") + 3)
    add("choice", from + RSTART - 1, RLENGTH, " ? " second " : " first)
  }
}

# A whole statement that is left out: an assignment, a call, a jump.
function statements(bare, opened, closed, copy) {
  bare = code
  sub(/^ +/, "", bare)
  copy = bare
  opened = gsub(/\(/, "", copy); closed = gsub(/\)/, "", copy)
  if (opened != closed || bare !~ /;$/ || bare ~ /~/ && bare !~ /\(/ || bare ~ keywords) return
  if (previous !~ /([;{}:)]|else)$/ || bare ~ /^\(void\)/) return
  if (bare ~ /^[*(]*[a-z_][A-Za-z0-9_]*([.\[(]|->| [-+*\/|&^%]*= |\+\+;|--;)/ || bare ~ /^(break|continue);/)
    add("statement", length(code) - length(bare) + 1, length(bare), ";")
}

FNR == 1 { in_comment = in_message = depth = 0; previous = "" }
{
  text = $0
  code = mask_calls(mask($0))
  if (code ~ /^[ ~]*$/ || code ~ /^#/ || continued) {
    continued = (code ~ /^#/ || continued) && code ~ /\\$/
    next
  }
  sub(/[ ~]+$/, "", code)
  if (previous ~ /([;{}:)]|else)$/ || previous == "") begin = FNR
  released = code ~ releases
  if (!released && code !~ /^(static )?(enum|struct|const|void|bool|size_t|double|int|char|uint)[^=]*[(,]/) {
    lines++
    where[lines] = FILENAME "\t" begin "\t" FNR
    operators(); negations(); conditions(); constants(); arguments(); choices(); statements()
    if (!n_kinds[lines]) lines--
  }
  previous = code
}

END {
  for (part = 0; part < mutants; part++)
    for (try = 0; try < TRIES; try++) {
      line = int((part + uniform()) * lines / mutants) + 1
      kind = kinds[line, int(uniform() * n_kinds[line]) + 1]
      drawn = fault[line, kind, int(uniform() * n_faults[line, kind]) + 1]
      print part + 1 "\t" where[line] "\t" kind "\t" drawn
    }
}
