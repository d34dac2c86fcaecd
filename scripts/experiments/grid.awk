# Makes tables in Markdown of the scores of scripts/experiments/grid.
#
#   awk -f grid.awk GRIDS.tsv [SCORES.tsv...]
#
# First the learning curves beside the published figures, RMSE / NLL, means over the seeds; a row for
# the mean of the tables that are scored, and for how many of them NLL is the lowest of all columns
# published.  Then the other grids: RMSE / NLL / CRPS / coverage of the 95 % interval, in percent.
# Seconds are those of training and of prediction together.

BEGIN { FS = "\t" }

/^#/ { next }
$1 == "data" {
  split("", column)
  for (i = 1; i <= NF; i++) column[$i] = i
  n_files++
  next
}
n_files == 1 {
  set[++n_sets] = $1 FS $5
  name[n_sets] = $1
  pattern[n_sets] = $5
  for (i = 1; i <= 4; i++) {
    published[n_sets, i] = $(6 + i)
    published_nll[n_sets, i] = $(10 + i)
  }
  next
}
{
  at = $column["data"] FS $column["pattern"] FS $column["method"]
  if (!($column["method"] in known)) {
    known[$column["method"]] = 1
    method[++n_methods] = $column["method"]
  }
  if ($column["rmse"] == "failed") { failed[at] = 1; next }
  count[at]++
  rmse[at] += $column["rmse"]
  nll[at] += $column["nll"]
  crps[at] += $column["crps"]
  coverage[at] += 100 * $column["coverage95"]
  seconds[at] += $column["seconds"] + $column["predict_seconds"]
}

function dashes(n,  text) {
  text = "|---"
  while (n-- > 0) text = text "|--:"
  return text "|"
}

function scored(i,  m) {
  for (m = 1; m <= n_methods; m++)
    if (count[set[i] FS method[m]] || failed[set[i] FS method[m]]) return 1
  return 0
}

# The cells of a method: "rmse / nll", "seconds".
function figures(at) {
  if (!count[at]) return failed[at] ? " failed | |" : " | |"
  return sprintf(" %.3f / %.2f | %.0f |", rmse[at] / count[at], nll[at] / count[at],
                 seconds[at] / count[at])
}

function curves_row(i,  k, m) {
  printf "| %s |", name[i]
  for (k = 1; k <= 4; k++) printf " %.3f / %.2f |", published[i, k], published_nll[i, k]
  for (m = 1; m <= n_methods; m++) printf "%s", figures(set[i] FS method[m])
  print ""
}

# The mean over tables, and how many of them a method has the lowest NLL of.
function curves_means(  i, k, m, at, n, sum, sum_nll, took, lowest, best) {
  printf "| mean |"
  for (k = 1; k <= 4; k++) {
    n = sum = sum_nll = 0
    for (i = 1; i <= n_sets; i++)
      if (pattern[i] == "cut" && scored(i)) { n++; sum += published[i, k]; sum_nll += published_nll[i, k] }
    printf " %.3f / %.2f |", sum / n, sum_nll / n
  }
  for (m = 1; m <= n_methods; m++) {
    n = sum = sum_nll = took = 0
    for (i = 1; i <= n_sets; i++) {
      at = set[i] FS method[m]
      if (pattern[i] != "cut" || !count[at]) continue
      n++
      sum += rmse[at] / count[at]
      sum_nll += nll[at] / count[at]
      took += seconds[at] / count[at]
      best = nll[at] / count[at]
      for (k = 1; k <= 4; k++) if (published_nll[i, k] < best) best = published_nll[i, k]
      lowest[m] += best == nll[at] / count[at]
    }
    if (n) printf " %.3f / %.2f | %.0f |", sum / n, sum_nll / n, took / n
    else printf " | |"
    tables[m] = n
  }
  printf "\n| lowest NLL | | | | |"
  for (m = 1; m <= n_methods; m++) printf " %d of %d | |", lowest[m], tables[m]
  print ""
}

function curves(  i, m, any) {
  for (i = 1; i <= n_sets; i++) any += pattern[i] == "cut" && scored(i)
  if (!any) return
  printf "| data | LKGP | SVGP | VNNGP | CaGP |"
  for (m = 1; m <= n_methods; m++) printf " %s | s |", method[m]
  print "\n" dashes(4 + 2 * n_methods)
  for (i = 1; i <= n_sets; i++) if (pattern[i] == "cut" && scored(i)) curves_row(i)
  curves_means()
  print ""
}

function others(  i, m, at, any) {
  for (i = 1; i <= n_sets; i++) any += pattern[i] != "cut" && scored(i)
  if (!any) return
  printf "| data | held out |"
  for (m = 1; m <= n_methods; m++) printf " %s | s |", method[m]
  print "\n|---" dashes(2 * n_methods)
  for (i = 1; i <= n_sets; i++) {
    if (pattern[i] == "cut" || !scored(i)) continue
    printf "| %s | %s |", name[i], pattern[i]
    for (m = 1; m <= n_methods; m++) {
      at = set[i] FS method[m]
      if (!count[at]) printf failed[at] ? " failed | |" : " | |"
      else
        printf " %.3f / %.2f / %.3f / %.1f | %.0f |", rmse[at] / count[at], nll[at] / count[at],
          crps[at] / count[at], coverage[at] / count[at], seconds[at] / count[at]
    }
    print ""
  }
}

END {
  curves()
  others()
}
