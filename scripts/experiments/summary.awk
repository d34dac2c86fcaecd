# Makes the table of README.md here, in Markdown, from the scores of gpnn and of its rivals.
#
#   awk -f summary.awk RIVALS.tsv [ACCURACY.tsv...]
#
# RIVALS.tsv is from scripts/experiments/rivals; each ACCURACY.tsv, or standard input, is from
# scripts/experiments/accuracy.  A row of the table is a set with its split and options: mean and
# standard deviation over the seeds; rows scored: those of the first seed.
#
# aims: what is not met of the RMSE and NLL aimed at, as rounded as these are; coverage of the 95 %
# interval from least95 to 0.96, of the 50 % interval 0.46 to 0.54; distance of the PIT at most
# 0.03.  With less than 2000 rows scored chance widens these by what two standard errors are for
# all seeds together, if they are more: of a binomial share, and of the mean distance of as many
# draws from uniform (0.8687 and its standard deviation 0.2603, over the root of n; Kolmogorov).
#
# rivals: the best RMSE, NLL and CRPS of the rivals, means over the seeds that both have; whose they
# are, and of how many rows if they did not learn from all.  ahead: whether gpnn is better, on these
# seeds, than all of them and than the other figures to beat.

BEGIN {
  FS = "\t"
  measures = split("rmse nll crps", measure, " ")
}

# Mean of the first to the last seed's "name" in the row "at".
function mean(at, name,  k, sum) {
  for (k = 1; k <= count[at]; k++) sum += value[at, name, k]
  return sum / count[at]
}

# The digits of a mean that are shown: at least three, and three that are not leading zeros.
function digits(x) { return x > 0 && x < 0.1 ? 2 - floor(log(x) / log(10)) : 3 }
function floor(x) { return int(x) - (x < int(x)) }
function shown(x, n) { x = sprintf("%.*f", n, x); sub(/^-/, "−", x); return x }

# Mean and standard deviation of column "name" in row "at", times "unit", with n digits.
function figure(at, name, unit, n,  k, centre, sum, text) {
  centre = unit * mean(at, name)
  for (k = 1; k <= count[at]; k++) sum += (unit * value[at, name, k] - centre) ^ 2
  if (n == "") n = digits(centre)
  text = shown(centre, n)
  return count[at] > 1 ? text " ± " shown(sqrt(sum / (count[at] - 1)), n) : text
}

# "name" if its mean is above the aim, both with the digits of the aim.
function above(at, name, title,  aim, n) {
  aim = value[at, name "_aim", 1]
  if (aim == "" || aim == "-") return ""
  n = index(aim, ".") ? length(aim) - index(aim, ".") : 0
  return sprintf("%.*f", n, mean(at, name)) + 0 > aim + 0 ? title : ""
}

# "title" if the mean share of rows inside lies outside least to most, widened for few rows.
function outside(at, name, share, least, most, title,  x, chance) {
  x = mean(at, name)
  chance = few[at] ? 2 * sqrt(share * (1 - share) / scored[at]) : 0
  if (least > share - chance) least = share - chance
  if (most < share + chance) most = share + chance
  return x < least || x > most ? title : ""
}

function uneven(at, title,  most, chance) {
  most = 0.03
  chance = few[at] ? (0.8687 + 2 * 0.2603 / sqrt(count[at])) / sqrt(scored[at] / count[at]) : 0
  return mean(at, "pit_distance") > (chance > most ? chance : most) ? title : ""
}

function listed(list, item) { return item == "" ? list : list == "" ? item : list ", " item }

function aims(at,  missed) {
  missed = listed(above(at, "rmse", "RMSE"), above(at, "nll", "NLL"))
  missed = listed(missed, outside(at, "coverage50", 0.5, 0.46, 0.54, "50 %"))
  missed = listed(missed, outside(at, "coverage95", 0.95, value[at, "least95", 1], 0.96, "95 %"))
  missed = listed(missed, uneven(at, "PIT"))
  return missed == "" ? "met" : "missed: " missed
}

# Means over the seeds that the rival has too: sets theirs and ours; returns how many these are.
function compare(at, rival, name,  k, id, n) {
  theirs = ours = 0
  for (k = 1; k <= count[at]; k++) {
    id = data_of[at] FS split_of[at] FS value[at, "seed", k] FS rival
    if (!((id, name) in rivals)) continue
    n++
    at_rival = id
    theirs += rivals[id, name]
    ours += value[at, name, k]
  }
  if (n) { theirs /= n; ours /= n }
  return n
}

# The cells for the rivals and for who is ahead.
function beside(at,  j, r, best, whose, who, text, late, behind, known) {
  for (j = 1; j <= measures; j++) {
    best = whose = late = ""
    for (r = 1; r <= names; r++) {
      if (!compare(at, rival_name[r], measure[j])) continue
      if (best == "" || theirs < best) { best = theirs; whose = rival_name[r] part_of[at_rival] }
      if (ours > theirs) late = toupper(measure[j])
    }
    if (best != "") {
      text = text (text == "" ? "" : " / ") shown(best, j == 2 ? 3 : digits(best))
      if (index(", " who ",", ", " whose ",") == 0) who = listed(who, whose)
      known = 1
    }
    best = value[at, measure[j] "_to_beat", 1]
    if (best != "" && best != "-") {
      known = 1
      if (mean(at, measure[j]) > best + 0) late = toupper(measure[j])
    }
    behind = listed(behind, late)
  }
  return (text == "" ? "" : " " text " (" who ")") " |" \
    (!known ? "" : behind == "" ? " ahead" : " behind: " behind)
}

function printed(x) { return x == "" || x == "-" ? "–" : x ~ /^-/ ? "−" substr(x, 2) : x }

# Columns x and y as "x / y", or nothing.
function pair(at, x, y) {
  x = printed(value[at, x, 1])
  y = printed(value[at, y, 1])
  return x == "–" && y == "–" ? "" : " " x " / " y
}

/^#/ { next }
$1 == "data" {
  delete column
  for (i = 1; i <= NF; i++) column[$i] = i
  next
}
"rival" in column {
  name = $column["rival"]
  if (!(name in seen)) { seen[name] = 1; rival_name[++names] = name }
  id = $column["data"] FS $column["split"] FS $column["seed"] FS name
  for (j = 1; j <= measures; j++) rivals[id, measure[j]] = $column[measure[j]]
  if ($column["train_rows"] < $column["of_rows"]) part_of[id] = " of " $column["train_rows"] " rows"
  next
}
{
  key = $column["data"] FS $column["split"] FS $column["options"]
  if (!(key in row)) {
    row[key] = at = ++rows
    data_of[at] = $column["data"]
    split_of[at] = $column["split"]
    options_of[at] = $column["options"] == "none" ? "" : " `" $column["options"] "`"
    rows_of[at] = $column["rows"]
    scored_of[at] = $column["scored"]
  }
  at = row[key]
  if ($column["kernel"] == "failed") { failed[at]++; next }
  count[at]++
  scored[at] += $column["scored"]
  if ($column["scored"] < 2000) few[at] = 1
  for (name in column) value[at, name, count[at]] = $column[name]
}
END {
  print "| data, rows | split | scored | options | RMSE | NLL | CRPS | in 50 % | in 95 % | PIT |" \
    " CPU-s | aim: RMSE / NLL | aims | rivals: RMSE / NLL / CRPS | ahead | other figures: RMSE / NLL |"
  print "|---|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|--:|---|---|"
  for (at = 1; at <= rows; at++) {
    printf "| %s, %s | %s | %s |%s |", data_of[at], rows_of[at], split_of[at], scored_of[at],
      options_of[at]
    if (failed[at]) {
      printf " failed: %d of %d |\n", failed[at], failed[at] + count[at]
      continue
    }
    printf " %s | %s | %s | %s | %s | %s | %s / %s |", figure(at, "rmse", 1),
      figure(at, "nll", 1, 3), figure(at, "crps", 1), figure(at, "coverage50", 100, 1),
      figure(at, "coverage95", 100, 1), figure(at, "pit_distance", 1, 3),
      shown(mean(at, "seconds"), mean(at, "seconds") < 1), shown(mean(at, "predict_seconds"), 1)
    others = pair(at, "rmse_to_beat", "nll_to_beat")
    if (others != "") others = others ", " value[at, "whose", 1]
    printf "%s | %s |%s |%s |\n", pair(at, "rmse_aim", "nll_aim"), aims(at), beside(at), others
  }
}
