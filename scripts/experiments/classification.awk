# Makes a table in Markdown of the scores of classes, beside what others reached.
#
#   awk -f classification.awk CLASSES.tsv [SCORES.tsv...]
#
# SCORES.tsv, or standard input, is from scripts/experiments/classification.  A cell is the share of
# errors in percent / the log loss, the mean over the seeds, with the standard deviation of the log
# loss if there are several; a row of the published table that no score is for comes last.

BEGIN { FS = "\t" }

# 4.3 / 0.144
function pair(error, nll) {
  return nll == "" || nll == "-" ? "" : sprintf("%.3g / %s", 100 * error, nll)
}

# The scores of a method.
function figure(name, method,  at, n, k, error, centre, sum, text) {
  at = name SUBSEP method
  n = count[at]
  if (!n) return failed[at] ? "failed" : ""
  for (k = 1; k <= n; k++) {
    error += errors[at, k] / n
    centre += nlls[at, k] / n
  }
  for (k = 1; k <= n; k++) sum += (nlls[at, k] - centre) ^ 2
  text = sprintf("%.3g / %.4f", 100 * error, centre)
  return n > 1 ? text sprintf(" ± %.4f", sqrt(sum / (n - 1))) : text
}

function seconds_of(name, method,  at) {
  at = name SUBSEP method
  return count[at] ? sprintf("%.1f", seconds[at] / count[at]) : ""
}

/^#/ { next }
$1 == "data" {
  split("", column)
  for (i = 1; i <= NF; i++) column[$i] = i
  n_files++
  next
}
n_files == 1 {
  set[++n_sets] = $1
  title[n_sets] = $2
  variational[n_sets] = pair($3, $4)
  augmented[n_sets] = pair($5, $6)
  published[n_sets] = pair($7, $8)
  boosting[n_sets] = pair($9, $10)
  reach[n_sets] = pair($11, $12)
  next
}
{
  at = $column["data"] SUBSEP $column["method"]
  scored[$column["data"]] = 1
  if ($column["error"] == "failed") { failed[at] = 1; next }
  errors[at, ++count[at]] = $column["error"]
  nlls[at, count[at]] = $column["nll"]
  seconds[at] += $column["seconds"]
}

END {
  print "| data | SVGP | PGVI | LOO-k | boosting | aim | gpnn | s | polya-gamma | s |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= n_sets; i++) {
    if (set[i] != "-" && !(set[i] in scored)) continue
    name = set[i] == "-" ? title[i] : title[i] == "-" ? set[i] : set[i] " (" title[i] ")"
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", name, variational[i], augmented[i],
      published[i], boosting[i], reach[i], figure(set[i], "link"), seconds_of(set[i], "link"),
      figure(set[i], "polya-gamma"), seconds_of(set[i], "polya-gamma")
  }
}
