# Makes the table that scripts/experiments/distributed prints a table in Markdown: means over seeds,
# and what was published, if there is a column of it.
BEGIN { FS = "\t" }
/^#/ { next }
$1 == "data" {
  delete column
  for (i = 1; i <= NF; i++) column[$i] = i
  published = "published_rmse" in column
  next
}
{
  key = $column["data"] FS $column["models"] FS $column["rule"]
  if (!(key in n)) order[++keys] = key
  n[key]++
  for (name in column) if (name !~ /^(data|rule)$/) sum[key, name] += $column[name]
  known[key] = published && $column["published_rmse"] != "-"
}
function mean(name, digits) {
  return sprintf(" %.*f |", digits, sum[key, name] / n[key])
}
function beside(name, digits,    text) {
  text = mean(name, digits)
  if (!known[key]) return text
  sub(/ \|$/, "", text)
  return text sprintf(" (%.3g) |", sum[key, "published_" name] / n[key])
}
END {
  print "| data | models | rule | seeds | RMSE | NLL | CRPS | mean z² | in 95 % |" \
    " training, CPU-s | prediction |"
  print "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= keys; i++) {
    key = order[i]
    split(key, part, FS)
    printf "| %s | %d | %s | %d |", part[1], part[2], part[3], n[key]
    printf "%s%s%s%s", beside("rmse", 3), beside("nll", 3), mean("crps", 3), beside("cal", 2)
    printf " %.1f |", 100 * sum[key, "coverage95"] / n[key]
    print mean("seconds", 1) mean("predict_seconds", 1)
  }
}
